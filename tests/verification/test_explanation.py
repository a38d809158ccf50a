"""What `dpverify explain` says."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dpverify.cli import main
from dpverify.formulas import notation
from dpverify.ledger.verdicts import Coverage, Verdict
from dpverify.statements.paper import papers
from dpverify.statements.selection import find_statement
from dpverify.verification import explanation
from dpverify.verification.catalog.entries import catalog_entries
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.explanation import explanation_lines, parameter_meanings
from dpverify.verification.remembering import shipped
from dpverify.verification.remembering.remembered import recall, remember_all


@pytest.fixture(autouse=True)
def _nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "none")


def main_returns(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0


def test_docstrings_are_without_the_indentation_that_older_pythons_keep() -> None:
    entries = [entry for entry in catalog_entries([], ("bst14.alg1", "fmtt18.alg1")) if entry.docstring]
    assert len(entries) == 2
    assert all(re.search(r"\n\w", entry.docstring) for entry in entries)


# ---------------------------------------------------------------------------------------------- statements


def test_a_conjunction_has_a_line_for_each_part() -> None:
    lines = list(explanation_lines("bst14.huber-smooth"))
    assert "    [d²/dz² (z²/(4·h) + z/2 + h/4) at z = h] = [d²/dz² (z) at z = h]" in lines
    assert sum(line.endswith(" and") for line in lines) >= 5
    assert not any("Subs" in line or "Derivative" in line for line in lines)


def test_a_rate_has_the_constants_that_are_proved_and_exhibited() -> None:
    lines = list(explanation_lines("bst14.lem2.5"))
    first = lines.index("What its O( ), Omega( ) or Theta( ) hides:")
    said = " ".join(line.strip() for line in lines[first + 1 : first + 4])
    assert "proved at most 2.041; exhibited at least 2.04, a ratio of 1; T = 2 to 1e+06" in said
    assert not any("hides" in line for line in explanation_lines("bst14.lem2.2"))


def test_what_is_remembered_shows_the_same_formulas_and_reads_none(
    proofs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "fmtt18.thm26"

    def formulas() -> set[str]:
        lines = list(explanation_lines(name))
        shown = lines[lines.index("Symbols of the formulas below:") : lines.index("The statement rests on:")]
        lines = [line for line in shown if not line.startswith("  ") or line.startswith("    ")]
        return {
            line for line in lines if not line.startswith("    is there to catch: ")
        }  # what was tried says more

    before = formulas()
    remember_all(record.evidence for record in proofs.of(name))
    monkeypatch.setattr(notation, "read_display", lambda *_, **__: pytest.fail("a formula was read"))
    assert before <= formulas()
    assert "    would have caught: 1 + ln n without the 1" in explanation_lines(name)
    assert any(line.startswith("    its conditions hold together at ") for line in explanation_lines(name))


def test_the_formula_is_readable_and_repair_and_reason_follow_it() -> None:
    text = "\n".join(explanation_lines("fmtt18.thm1"))
    order = [
        text.index(part)
        for part in (
            "Theorem 1 (informal) of Privacy Amplification by Iteration",
            "As printed:\n  D_α(X_T‖X′_T) ≤ α‖x₀ − x′₀‖/(2Tσ²) for every α ≥ 1",
            "Corrected:\n  D_α(X_T‖X′_T) ≤ α‖x₀ − x′₀‖²/(2Tσ²)\n  Why: the two sides",
            "Formulas to prove, as printed:\n  bound",
            "order·distance²/(2·(sqrt(T)·sigma)²) ≤ order·distance/(2·T·sigma²)",
            "Formulas to prove, corrected:",
        )
    ]
    assert order == sorted(order)


def test_a_symbol_is_explained_once() -> None:
    lines = list(explanation_lines("fmtt18.thm1"))
    assert sum("in (0, ∞), length" in line for line in lines) == 1
    # one that is in a single formula too
    assert "  t: a step; integers in [1, ∞)" in lines
    # and again where its domain is another
    assert "    here epsilon: in (0, 1], nats" in explanation_lines("fmtt18.lem27")


def test_verdicts_are_shown_once_they_are_known() -> None:
    before = "\n".join(explanation_lines("fmtt18.thm1"))
    assert "No verdicts are stored yet; to compute them: dpverify prove fmtt18.thm1" in before
    assert "attained-by-identity-maps: verdict not known" in before
    assert "(dpverify prove fmtt18.thm23)" in "\n".join(explanation_lines("fmtt18.alg1"))
    main_returns(["prove", "fmtt18.thm1"])
    after = "\n".join(explanation_lines("fmtt18.thm1"))
    assert "As printed, refuted: the claim fails; units differ:" in after
    assert "    by how much: 2 instead of at most 1, 2 times as much" in after
    assert "    consequence: the claim fails" in after
    assert "    would be true with the square of the distance" in after
    assert "exactly, on the whole domain" not in after
    (heading,) = [line for line in after.splitlines() if line.startswith("Corrected")]
    given = "fmtt18.def10, fmtt18.thm22"
    assert heading.startswith(f"Corrected, proved, given {given}; assumes ")
    assert "(not proved here)" in " ".join(after.split())  # nothing is remembered of what it rests on
    assert "But units differ: " in after
    assert "attained-by-identity-maps: refuted (prover search, confirmed by the checker)" in after
    assert "counterexample: T = 1, distance = 2, order = 1, sigma = 1; left side 2, right side 1" in after
    assert after.count(": proved (prover exact, confirmed by the checker)") == 4
    assert "left side dimensionless, right side length^-1" in after
    agreeing = re.search(r"Units: the two sides agree in (\d+) of (\d+) formulas", after)
    assert agreeing
    assert 4 <= int(agreeing[1]) < int(agreeing[2])
    assert "not known" not in after
    # what is shown is what was found
    statement = find_statement("fmtt18.thm1")
    assert statement is not None
    records = recall(statement) or []
    planted = {"verdict": Verdict.UNDECIDED, "reason": "planted", "left": None, "right": None}
    remember_all(r.model_copy(update=planted) for r in records)
    lines = list(explanation_lines("fmtt18.thm1"))
    assert lines.count("    note: planted") == len(records) >= 10
    assert any(re.match(r"Units: the two sides agree in 0 of \d+ formulas", line) for line in lines)


def test_a_false_step_is_named_though_the_statement_holds(proofs: Any) -> None:
    remember_all(r.evidence for r in proofs.of("fmtt18.thm23"))
    text = "\n".join(explanation_lines("fmtt18.thm23"))
    assert "As printed, holds, given fmtt18.def10, " in text
    assert "a step of its proof is\n  false:" in text or "a step of its proof is false:" in text
    assert "  But a step of its proof is false: last-display." in text
    of_algorithm = "\n".join(explanation_lines("fmtt18.alg1"))
    assert "; a step of its proof is false; rests on " in of_algorithm
    assert "(not proved here). corrected: proved, given" in of_algorithm


def test_an_instance_does_not_prove_a_statement(proofs: Any) -> None:
    name = "fmtt18.lem15"
    remember_all(r.evidence for r in proofs.of(name))
    (heading,) = [line for line in explanation_lines(name) if line.startswith("As printed")]
    assert heading == "As printed, instances hold:"
    (entry,) = catalog_entries([ProofRecord(e) for e in recall(find_statement(name)) or []], (name,))
    assert entry.printed.verdict is None
    assert entry.printed.headline == "instances hold"


@pytest.mark.parametrize("name", ["fmtt18.lem25", "bst14.lem2.3", "gll22.eq9", "gll22.eq10", "fmtt18.thm22"])
def test_statements_of_which_parts_are_encoded_say_so(name: str) -> None:
    statement = find_statement(name)
    assert statement is not None
    corrected = statement.corrected.obligations if statement.corrected else ()
    assert any(obligation.coverage is Coverage.INSTANCE for obligation in (*statement.printed, *corrected))


def test_a_statement_names_what_it_rests_on_and_what_rests_on_it() -> None:
    text = "\n".join(explanation_lines("fmtt18.thm26"))
    above, below = text.index("The statement rests on:"), text.index("Related:")
    assert "  fmtt18.lem25: Lemma 25, weak convexity of Renyi divergence" in text[above:below]
    assert (
        "  harmonic-sum: 1 + 1/2 + ... + 1/m is at most 1 + ln m (textbooks on analysis)" in text[above:below]
    )
    assert "fmtt18.def10" not in text[above:below]  # only an instance uses it
    text = "\n".join(explanation_lines("fmtt18.thm22"))
    assert "  fmtt18.lem20: Lemma 20, shift reduction" in text
    assert "Statements that rest on it:\n  fmtt18.thm1: " in text
    assert "    uses: fmtt18.def10" in text
    assert "    is there to catch: a hundredth of the sum is lost" in text


def test_a_statement_names_what_rests_on_it_and_its_audits() -> None:
    text = "\n".join(explanation_lines("fmtt18.thm23"))
    assert "Algorithms that rest on it:\n  fmtt18.alg1: PNSGD (dpverify explain fmtt18.alg1)" in text
    assert "  dpverify verify --paper fmtt18.alg1    10 audits" in text
    text = "\n".join(explanation_lines("bst14.thm2.4.1"))
    assert "  dpverify verify --paper bst14.alg1    15 audits" in text


# ---------------------------------------------------------------------------------------------- algorithms


def test_an_algorithm_says_what_it_guarantees_and_rests_on() -> None:
    text = "\n".join(explanation_lines("fmtt18.alg1"))
    order = [
        text.index(part)
        for part in (
            "Code: dpverify.algorithms.fmtt18.projected_noisy_sgd:PNSGD\n",
            "  from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD\n",
            "  PNSGD(problem, rate, noise_stddev, start=None, claim='per-index', withdraw_guarantee=False)",
            "Guarantee (replace-one at index t, both directions): Theorem 23,",
            "Assumptions: ",
            "Parameters of PNSGD:\n  problem: a convex loss on a constraint set.",
            "What it does not state:\n  parameters: its noise is the smallest that the accounting proves; ",
            "Rests on:\n  fmtt18.thm22: Theorem 22, ",
            "Audits (all of them: dpverify verify --paper fmtt18.alg1; with --profile full also those marked *):",
            "  dpverify verify --only fmtt18.alg1/worst-case-6-of-6    PNSGD, worst case",
        )
    ]
    assert order == sorted(order)
    assert "Attributes:" not in text


def test_parameters_have_meanings() -> None:
    nameless = set()
    for paper in papers().values():
        for id_, path in paper.algorithms.items():
            module, _, name = path.partition(":")
            found = getattr(import_module(module), name)
            missing = inspect.signature(found).parameters.keys() - parameter_meanings(found).keys()
            nameless |= {(id_, parameter) for parameter in missing}
    assert nameless == set()


def test_a_meaning_is_one_sentence_and_may_be_inherited() -> None:
    class Base:
        """One.

        Attributes:
            width: of it, a length; e.g. 0.5 or
                more. Not of its lid.
            start: w_0. `None` is the center.

        Attributes end where the next paragraph begins: not here.
        """

        def __init__(self, width: float, start: float, lid: bool) -> None: ...

    class Derived(Base):
        """Two. With `lid`, it has one. Or not.

        Attributes:
            start: another one.
        """

    assert parameter_meanings(Derived) == {
        "width": "of it, a length; e.g. 0.5 or more.",
        "start": "another one.",
        "lid": "With `lid`, it has one.",
    }


# ---------------------------------------------------------------------------------------------- everything


def test_a_paper_lists_its_ids() -> None:
    lines = list(explanation_lines("mn25"))
    assert lines[0].startswith("mn25: On the Gradient Complexity")
    ids = {line.split(":")[0].strip() for line in lines if line.startswith("  mn25.")}
    assert ids == {row.id for row in papers()["mn25"].catalog}


def test_a_bound_that_nothing_could_break_is_explained_as_vacuous() -> None:
    lines = list(explanation_lines("mn25.alg3"))
    first = lines.index("Bounds on expectations, where they are audited:")
    assert lines[first + 1].startswith("  expected excess risk (mean over records); breast-cancer")
    assert re.fullmatch(
        r"    alpha = 0.4: at most 0.65: vacuous, as nothing above 0.43\d* is possible", lines[first + 2]
    )
    assert lines[first + 3] == "    alpha = 0.2: at most 0.325"
    assert list(explanation_lines("mn25.alg3")) == lines  # the second time from what was kept


def test_every_id_can_be_explained_without_latex(monkeypatch: pytest.MonkeyPatch, thorough: bool) -> None:
    monkeypatch.setattr(explanation, "bound_lines", lambda plan: [])  # minimizes; another test shows them
    for paper in papers().values():
        for row in paper.catalog[:: 1 if thorough else 3]:
            lines = list(explanation_lines(row.id))
            assert lines[0] == f"{row.id}: {row.title}"
            assert row.where in lines[1]
            assert not any("\\" in line or "$" in line for line in lines), row.id
            assert all(line == line.rstrip() for line in lines), row.id
