"""What is wrong in print, as letters in Markdown and in the report: each fault once, and nothing lost."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.ledger.besides.thresholds import Threshold, ThresholdEnd, Variation, Varied
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.facts import FailureMargin, LetterDomain, PracticalSize
from dpverify.ledger.headlines.words import Standing, VariantOutcome
from dpverify.ledger.in_print import Provenance, named_letter
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Variant, Verdict
from dpverify.ledger.written_numbers import few_digits
from dpverify.reports import findings_markdown, load_ledger, render_html, write_ledger
from dpverify.views.letters.faults import Letter, letters
from dpverify.views.letters.told import PartLabel, entry_parts, point
from dpverify.views.run import Summary

from .html_check import Page
from .ledger_example import PROOFS, STATEMENTS, example_ledger


def refuted(statement: str, consequence: Consequence | None, **changes: object) -> ProofEvidence:
    """A formula of its own, unless it is told otherwise."""
    fields = {
        "statement": statement,
        "consequence": consequence,
        "latex": f"x\\le {sum(map(ord, statement))}",
    }
    return PROOFS[0].model_copy(update={"certificate": None, **fields, **changes})


def corrected(proof: ProofEvidence, **changes: object) -> ProofEvidence:
    return proof.model_copy(update={"variant": Variant.CORRECTED, "verdict": Verdict.PROVED, **changes})


def statement(name: str, standing: Standing | None = Standing.REFUTED, **changes: object) -> StatementEntry:
    verdict = Verdict.REFUTED if standing is Standing.REFUTED else None
    fields = {
        "id": name,
        "paper": "a",
        "where": name,
        "uses": (),
        "used_by": (),
        "latex": "",
        "errata": (),
        "instances": (),
    }
    printed = VariantOutcome(standing=standing, verdict=verdict)
    return STATEMENTS[0].model_copy(update={**fields, "printed": printed, **changes})


def letter_of(*entries: ProofEvidence, statements: tuple[StatementEntry, ...] = ()) -> Letter:
    (found,) = [
        each for each in letters(example_ledger(entries=entries, statements=statements)) if not each.empty
    ]
    return found


def told(found: Letter) -> list[list[str]]:
    """The statements of each entry."""
    return [[row.id for row in entry.statements] for entry in found.entries]


# ------------------------------------------------------------------------------------------- each fault once


def test_the_gravest_come_first_and_the_rest_in_tables() -> None:
    found = letter_of(
        refuted("a.edge", Consequence.EDGE, reading="for n at least 2"),
        refuted("a.old", None),
        refuted("a.step", Consequence.STEP, coverage=Coverage.STEP),
        refuted("a.constant", Consequence.CONSTANT),
        refuted("a.claim", Consequence.CLAIM),
        refuted("a.condition", Consequence.CONDITION),
    )
    assert told(found) == [["a.claim"], ["a.constant"], ["a.condition"], ["a.old"]]
    assert [fault.shown.statement for fault in found.steps] == ["a.step"]
    assert [fault.shown.statement for fault in found.meant] == ["a.edge"]


def test_every_row_is_told_once() -> None:
    """Whatever the rows share: names, formulas, corrections, uses, units; of ledgers drawn with a fixed seed."""
    draw = random.Random(7)
    for _ in range(20):
        rows = []
        for number in range(40):
            name, coverage = f"a.s{draw.randrange(8)}", draw.choice(list(Coverage)[:-1])
            verdict = draw.choice(BROKEN)
            consequence = draw.choice([*Consequence, None]) if verdict is Verdict.REFUTED else None
            uses = tuple(
                f"a.s{draw.randrange(8)}" + draw.choice(["", f"/o{draw.randrange(40)}"]) for _ in range(2)
            )
            row = refuted(
                name, consequence, obligation=f"o{number}", coverage=coverage, verdict=verdict, uses=uses,
                latex=f"x\\le {draw.randrange(30)}", units_of=f"o{number - 1}" if coverage is Coverage.UNIT else "",
            )  # fmt: skip
            rows += [row, *([corrected(row, latex="y")] if draw.random() < 0.2 else [])]
        standings = [*Standing, None]
        statements = tuple(
            statement(f"a.s{n}", draw.choice(standings), uses=(f"a.s{draw.randrange(8)}",)) for n in range(6)
        )
        broken = [row for row in rows if row.variant is Variant.PRINTED]
        made = letters(example_ledger(entries=tuple(rows), statements=statements))
        assert sorted(id(row) for each in made for row in each.rows) == sorted(map(id, broken))


def test_what_rests_on_a_fault_is_told_with_it() -> None:
    rows = (refuted("a.thm", Consequence.CONDITION), refuted("a.lem", Consequence.CONDITION))
    both = (
        statement("a.lem", used_by=("a.thm", "a.far")),
        statement("a.thm", uses=("a.lem/x",)),
        statement("a.far"),
    )
    found = letter_of(*rows, statements=both)
    assert told(found) == [["a.lem", "a.thm"]]
    assert [row.id for row in found.entries[0].rest] == ["a.far"]
    # not where its consequence is another, or where it does not rest on it
    other = refuted("a.thm", Consequence.CLAIM)
    assert told(letter_of(other, rows[1], statements=both)) == [["a.thm"], ["a.lem"]]
    apart = (statement("a.lem"), statement("a.thm"))
    assert told(letter_of(*rows, statements=apart)) == [["a.lem"], ["a.thm"]]


def test_rows_of_one_fault() -> None:
    """The same formula, its units, the same correction in a statement, and what uses it; nothing else."""
    first = refuted("a.b", Consequence.STEP, obligation="o", coverage=Coverage.STEP, latex="x")
    second = first.model_copy(update={"obligation": "p", "latex": "y", "expression": "y"})
    for other in (
        refuted("a.c", Consequence.STEP, obligation="q", coverage=Coverage.STEP, latex="x"),
        first.model_copy(
            update={"obligation": "o: units", "units_of": "o", "coverage": Coverage.UNIT, "latex": "z"}
        ),
        second.model_copy(update={"uses": ("a.b/o",)}),
    ):
        (fault,) = letter_of(first, other).steps
        assert fault.rows == (first, other)
        (fault,) = letter_of(other, first).steps
        assert fault.shown is (other if other.statement == "a.c" else first)
    same = (corrected(first, latex="w"), corrected(second, latex="w"))
    assert len(letter_of(first, second, *same).steps) == 1
    assert len(letter_of(first, second, same[0], corrected(second, latex="v")).steps) == 2
    assert len(letter_of(first, second).steps) == 2


def test_a_constant_of_a_proof_whose_statement_holds_is_a_step() -> None:
    row = refuted("a.b", Consequence.CONSTANT, coverage=Coverage.STEP)
    assert told(letter_of(row, statements=(statement("a.b", Standing.UNDECIDED),))) == [["a.b"]]
    found = letter_of(row, statements=(statement("a.b", Standing.HOLDS),))
    assert (told(found), len(found.steps)) == ([], 1)


def test_steps_stand_with_the_entry_about_their_statement() -> None:
    rows = (
        refuted("a.b", Consequence.CLAIM),
        refuted("a.b", Consequence.STEP, obligation="s", coverage=Coverage.STEP, latex="s"),
    )
    found = letter_of(*rows)
    assert [fault.shown.obligation for fault in found.entries[0].steps] == ["s"]
    assert found.steps == ()
    text = findings_markdown(example_ledger(entries=rows, statements=()))
    assert text.index("In the proof, false or not following:") > text.index("**Fails:**")


def test_what_does_not_follow_is_not_called_false() -> None:
    does_not = Verdict.DOES_NOT_FOLLOW
    step = refuted("a.b", None, coverage=Coverage.STEP, verdict=does_not)
    whole = refuted("a.c", None, coverage=Coverage.CONCLUSION, verdict=does_not)
    ledger = example_ledger(entries=(step, whole), statements=())
    found = letter_of(step, whole)
    assert (told(found), [fault.shown.statement for fault in found.steps]) == ([["a.c"]], ["a.b"])
    text = findings_markdown(ledger)
    assert "## 1. Theorem 1 \\(informal\\): does not follow" in text.replace("(informal)", "\\(informal\\)")
    assert "**Does not follow:** at T = 1" in text
    assert "| does not follow: at T = 1" in text
    assert "is false" not in text
    # of a statement that is refuted, it has the consequence; of one that holds where it is meant, it is there
    refuted_one = statement(
        "a.c", printed=VariantOutcome(standing=Standing.REFUTED, consequence=Consequence.CLAIM)
    )
    assert letter_of(whole, statements=(refuted_one,)).entries[0].consequence is Consequence.CLAIM
    assert len(letter_of(whole, statements=(statement("a.c", Standing.WHERE_MEANT),)).meant) == 1
    summary = Summary(ledger)
    assert [each.statement for each in summary.unfollowed] == ["a.c"]
    assert [each.statement for each in summary.unfollowed_parts] == ["a.b"]
    assert not summary.false_statements
    assert not summary.false_parts
    assert 'class="badge does-not-follow"' in render_html(ledger)


# ------------------------------------------------------------------------------------------- what an entry says


def test_an_entry_has_formula_counterexample_truth_and_command() -> None:
    text = findings_markdown(example_ledger())
    part = text[text.index("## 1. Theorem 1") :].split("\n## ")[0]
    assert "**Printed:**\n\n$$\n" in part
    assert (
        "at T = 1, distance = 2, order = 2, sigma = 1: $4$ instead of at most $2$, more by a factor of $2$"
        in part
    )
    assert "**True:**\n\n$$\n" in part
    assert "true with the square of the distance" in part
    assert "Again: `dpverify prove fmtt18.thm1`" in part
    page = render_html(example_ledger())
    assert Page(page).problems == []
    assert 'id="letter--fmtt18--1"' in page
    assert 'href="#letter--fmtt18--1"' in page


def test_the_papers_own_line_comes_first() -> None:
    entry = refuted("a.b", None, latex="x^2\\le 1", provenance=Provenance.OURS, prints=(r"|x|\le 1",))
    ledger = example_ledger(entries=(entry,), statements=())
    text = findings_markdown(ledger)
    own = text.index("$$\n|x|\\le 1\n$$")
    assert (
        text.index("**Printed:**")
        < own
        < text.index("**What follows from it:**")
        < text.index("$$\nx^2\\le 1\n$$")
    )
    page = render_html(ledger)
    assert page.index(">Printed<") < page.index(">What follows from it<")
    # where it prints no relation, the statement is what is printed
    of = statement("a.b", latex=r"\text{it is private}")
    pieces = entry.model_copy(update={"prints": (r"(\varepsilon,\delta)",)})
    assert r"\text{it is private}" in findings_markdown(example_ledger(entries=(pieces,), statements=(of,)))


def test_a_point_is_in_the_papers_letters_without_those_that_are_not_shown() -> None:
    fields = {
        "latex": r"\frac{\alpha d}{T}\le 1",
        "letters": {"T": "T", "order": r"\alpha", "sigma": r"\sigma", "distance": "d"},
        "counterexample": {"T": "1000", "order": "2", "sigma": "1", "distance": "1/3"},
    }
    entry = refuted("a.b", Consequence.CLAIM, **fields)
    assert [piece.text for piece in point(entry, entry.counterexample)] == [
        "T=1{,}000",
        ",",
        r"\alpha=2",
        ",",
        r"d=\frac{1}{3}",
    ]
    text = findings_markdown(example_ledger(entries=(entry,), statements=()))
    assert r"at $T=1{,}000$, $\alpha=2$, $d=\frac{1}{3}$:" in text
    assert "sigma" not in text.split("**At a realistic size:**")[0].split("**Fails:**")[1]
    seen = entry.model_copy(update={"notation": (r"T=\sigma^2", named_letter(r"\alpha", "order"))})
    assert seen.definitions == (r"T=\sigma^2",)
    assert r"\sigma=1" in [piece.text for piece in point(seen, seen.counterexample)]


def test_printed_and_true_are_never_the_same_line() -> None:
    """The same formula under a condition is said so, also where the condition is about another finding."""
    printed = refuted("a.b", Consequence.CLAIM, latex="x\\le 1", coverage=Coverage.CONCLUSION)
    repair = corrected(printed, added=("x in (0, 1]",), added_latex=(r"x\in(0,1]",))
    other = printed.model_copy(update={"obligation": "without-a-correction", "latex": "x"})
    for entries in ((printed, other, repair), (other, printed, repair)):
        text = findings_markdown(example_ledger(entries=entries, statements=()))
        assert r"the same for $x\in(0,1]$" in text
    (entry,) = letter_of(printed, corrected(printed)).entries
    assert PartLabel.TRUE not in {part.label for part in entry_parts(entry, letter_of(printed))}


def test_what_an_order_means_is_said() -> None:
    meant = "there is C in (0, oo): (for all n in integers in [1, oo): ((2 <= n) implies (n <= C*n)))"
    printed = refuted(
        "a.b", None, latex="n=O(n)", expression="there is C in (0, oo): (n <= C)", written_in_full=True
    )
    repair = corrected(printed, expression=meant, definitions=(), notation=("C=2",))
    text = findings_markdown(example_ledger(entries=(printed, repair), statements=()))
    assert "that is, `there is C in (0, oo): (n <= C)`" in text


def test_what_survives_is_said_once_for_statements_that_stand_alike() -> None:
    true = VariantOutcome(verdict=Verdict.PROVED, standing=Standing.HOLDS, where=("epsilon in (0, 1]",))
    rows = tuple(refuted(name, Consequence.CONDITION) for name in ("a.lem", "a.thm"))
    repair = corrected(rows[0], added=("epsilon in (0, 1]",), added_latex=(r"\varepsilon\in(0,1]",))
    both = (statement("a.lem", corrected=true), statement("a.thm", corrected=true, uses=("a.lem",)))
    text = findings_markdown(example_ledger(entries=(*rows, repair), statements=both))
    assert r"a.lem; a.thm: false as printed; true as corrected for $\varepsilon\in(0,1]$." in text


def test_a_realistic_size_is_said() -> None:
    entry = refuted("a.b", None)
    said = "sigma = 0.5, distance = 3: $0.036$ instead of at most $0.012$, more by a factor of $3$"
    ledger = example_ledger(entries=(entry,), statements=())
    assert said in findings_markdown(ledger)
    assert "**At a realistic size:** T = 1,000, order = 2, sigma = 0.5" in findings_markdown(ledger)
    older = example_ledger(entries=(entry.model_copy(update={"realistic": None}),), statements=())
    assert "At a realistic size" not in findings_markdown(older)


def test_what_no_number_is_stands_as_it_is() -> None:
    """A ledger may be damaged, and numbers may be beyond floats."""
    odd = {"T": "1/0", "order": "1e999999999", "sigma": "(1, 2)", "<b>": "9" * 5000}
    assert PROOFS[0].realistic is not None
    sizes = {
        name: PracticalSize(what=what, low="1", high="2", log_of=of)
        for name, what, of in (("T", "log T", ("T",)), ("<b>", "<i>", ()))
    }
    fields = {"point": odd, "left": "1e-350", "right": "-1.23456789e350", "excess": None, "sizes": sizes}
    realistic = PROOFS[0].realistic.model_copy(update=fields)
    ledger = example_ledger(entries=(PROOFS[0].model_copy(update={"realistic": realistic}),), statements=())
    text = findings_markdown(ledger).replace("\\<", "<").replace("\\>", ">")
    assert "T = 1/0, order = 1e999999999, sigma = (1, 2), <b> = 99" in text
    assert r"the sides are $10^{-350}$ and $-1.2346\cdot10^{350}$" in text
    assert "<b> =" not in render_html(ledger).replace("\u00a0", " ")


def test_no_sentence_of_the_ledger_is_read_back() -> None:
    """What is printed is a field: `at least` in LaTeX, in a claim that it has inside, turns nothing around."""
    latex = r"\Pr[x\geq 1]\leq 2"
    entry = refuted("a.b", None, latex=latex, left="3", right="2", excess=FailureMargin.of("<=", "3", "2"))
    text = findings_markdown(example_ledger(entries=(entry,), statements=()))
    assert "$3$ instead of at most $2$, more by a factor of $1.5$" in text


def test_a_table_has_no_bar_in_a_formula() -> None:
    entry = refuted("a.b", Consequence.EDGE, latex=r"\|x\|\le|y|", where="(1) (read as $2^{-r}$)")
    text = findings_markdown(example_ledger(entries=(entry,), statements=()))
    assert r"$\Vert x\Vert \le\vert y\vert $" in text
    (row,) = [line for line in text.splitlines() if "Vert" in line]
    assert row.count("|") == 5
    assert "(read as $2^{-r}$) `a.b` |" in row


def test_a_table_says_what_is_printed_and_what_is_not() -> None:
    """A special case is none of the paper's lines, and nor is what follows from one of them."""
    fields = {"latex": "x\\le 1", "coverage": Coverage.STEP}
    for provenance, prints, said in (
        (Provenance.VERBATIM, (), "| $x\\le 1$ |"),
        (Provenance.PIECED, (), "| pieced together: $x\\le 1$ |"),
        (Provenance.SPECIAL, (), "| a special case: $x\\le 1$ |"),
        (Provenance.OURS, ("x<y",), "| printed: $x<y$; what follows: $x\\le 1$ |"),
        (Provenance.PIECED, ("(x,y)", "x=z"), "| printed: $x=z$; that is: $x\\le 1$ |"),
        (Provenance.OURS, ("x<" + "y" * 200,), "| what follows: $x\\le 1$ |"),
    ):
        row = refuted("a.b", Consequence.STEP, provenance=provenance, prints=prints, **fields)
        assert said in findings_markdown(example_ledger(entries=(row,), statements=()))


def test_a_claim_that_is_printed_in_part_is_told_by_its_statement() -> None:
    """Of Lemma 27 the noise is a relation and `(epsilon, delta)` is none: neither alone is what it claims."""
    fields = {"provenance": Provenance.PIECED, "prints": (r"\sigma=1", r"(\varepsilon,\delta)")}
    of = (statement("a.b", latex=r"\text{it is private}"),)
    for coverage, shown in (
        (Coverage.CONCLUSION, r"\text{it is private}"),
        (Coverage.CONDITION, r"\sigma=1"),
    ):
        row = refuted("a.b", Consequence.CLAIM, coverage=coverage, **fields)
        text = findings_markdown(example_ledger(entries=(row,), statements=of))
        assert f"**Printed:**\n\n$$\n{shown}\n$$\n\n**That is:**" in text


def test_what_letters_are_is_said_in_words() -> None:
    true = VariantOutcome(verdict=Verdict.PROVED, standing=Standing.HOLDS, where=("x <= R (R is radius)",))
    printed = refuted("a.b", Consequence.CLAIM, latex="x\\le 1", coverage=Coverage.CONCLUSION)
    added = {
        "added": ("x <= R (R is radius)",),
        "added_latex": (r"x\le R",),
        "added_letters": {"R": "radius"},
    }
    of = (statement("a.b", corrected=true),)
    text = findings_markdown(example_ledger(entries=(printed, corrected(printed, **added)), statements=of))
    assert r"**True:** the same for $x\le R$ ($R$: radius)" in text
    assert r"true as corrected for $x\le R$ ($R$: radius)." in text


def test_what_is_given_of_a_corrections_own_letters_is_said() -> None:
    """A correction in letters of its own says nothing without it; what was given before is not said again."""
    domain = {"x": LetterDomain(kind="real")}
    printed = refuted("a.b", Consequence.CLAIM, latex="x\\le 1", coverage=Coverage.CONCLUSION, domain=domain)
    fields = {
        "latex": "E<2x",
        "domain": {**domain, "E": LetterDomain(kind="real")},
        "assuming": ("E <= x", "0 <= x"),
        "assuming_latex": (r"E\le x", r"0\le x"),
    }
    text = findings_markdown(example_ledger(entries=(printed, corrected(printed, **fields)), statements=()))
    assert "**True:**\n\n$$\nE<2x\n$$\n\ngiven $E\\le x$\n" in text


def test_definitions_that_are_plain_arithmetic_are_left_out() -> None:
    lines = (r"4^{r}=(2^r)^2", r"2^{-r}=\frac{1}{2^r}", r"4^{r}=2^r", r"s=\frac{r}{2}", r"s=\sigma r")
    row = refuted("a.b", Consequence.CLAIM, notation=lines)
    text = findings_markdown(example_ledger(entries=(row,), statements=()))
    assert r"where $4^{r}=2^r$, $s=\frac{r}{2}$, $s=\sigma r$" in text


def test_thresholds_are_in_the_papers_letters_and_in_numbers_that_people_write() -> None:
    def end(value: str, verdict: Verdict, at: dict[str, str] | None, latex: str = "") -> ThresholdEnd:
        return ThresholdEnd(
            value=value, says=f"x <= {value}", latex=latex, verdict=verdict, certificate="", counterexample=at
        )

    bound = Threshold(
        change=Variation(varied=Varied.AT_MOST, letter="x", within={"y": ("1", "2")}),
        holds=end("5", Verdict.CERTIFIED, None, r"\chi\le 5"),
        fails=end("6", Verdict.REFUTED, {"x": "6"}, r"\chi\le 6"),
    )
    number = Threshold(
        change=Variation(varied=Varied.CONSTANT, places=(1,)),
        now="2",
        inside="2*x",
        inside_latex=r"2\chi",
        holds=end("3", Verdict.PROVED, None),
        fails=end("5/2", Verdict.REFUTED, {"x": "1"}),
    )
    long = bound.but(fails=end("6", Verdict.REFUTED, {"x": "123456789012"}, r"\chi\le 6"))
    fields = {"latex": r"\chi\le 1", "letters": {"x": r"\chi"}}
    row = refuted("a.b", Consequence.CLAIM, thresholds=(bound, number), **fields)
    text = findings_markdown(example_ledger(entries=(row,), statements=()))
    assert (
        r"**How far it holds:** Certified for $\chi\le 5$; refuted for $\chi\le 6$, at $\chi=6$; both within "
        r"`1 <= y <= 2`. With $3$ in place of the constant $2$ in $2\chi$ it is proved; "
        r"with $2.5$ it is refuted, at $\chi=1$." in text
    )
    row = row.but(thresholds=(long,))
    assert "How far it holds" not in findings_markdown(example_ledger(entries=(row,), statements=()))


def test_a_curve_is_in_the_papers_letters() -> None:
    row = refuted("a.b", Consequence.CLAIM, counterexample=None, excess=None, left=None, right=None)
    row = row.but(along=(r"\nu=t", r"C\le\frac{1}{3}t", r"1\le t"), reason="false along n = t for C <= 1/3*t")
    text = findings_markdown(example_ledger(entries=(row,), statements=()))
    assert r"**Fails:** false along $\nu=t$, $C\le\frac{1}{3}t$, $1\le t$" in text
    assert "1/3*t" not in text


def test_long_numbers_are_short_in_a_letter() -> None:
    for number, short in (
        ("2251799813685249", "2.2518e+15"), ("9007199245733793/9007199254740992", "0.999999999"),
        ("1/36893488147419103232", "2.7105e-20"), ("1/131072", "1/131072"), ("1e-300", "1e-300"), ("(1, 2)", "(1, 2)"),
    ):  # fmt: skip
        assert few_digits(number) == short
    fields = {
        "latex": "n=d",
        "letters": {"n": "n", "d": "d"},
        "counterexample": {"n": "123456789012", "d": "3"},
    }
    row = refuted("a.b", Consequence.CLAIM, **fields)
    shown = r"at $n\approx 1.2346\cdot10^{11}$, $d=3$:"
    assert shown in findings_markdown(example_ledger(entries=(row,), statements=()))


def test_the_case_of_an_instance_is_said() -> None:
    ledger = example_ledger(
        entries=(refuted("a.b", None, scope="two records, one of them twice"),), statements=()
    )
    assert "(two records, one of them twice)" in findings_markdown(ledger)
    assert "(two records, one of them twice)" in render_html(ledger)


def test_what_is_true_is_no_fault() -> None:
    others = tuple(proof for proof in PROOFS if proof.verdict != "refuted")
    ledger = example_ledger(entries=others, statements=())
    assert all(each.empty for each in letters(ledger))
    assert findings_markdown(ledger) == "No printed formula was refuted.\n"
    assert 'id="letter--' not in render_html(ledger)


def test_errata_of_tests_and_audits_are_entries() -> None:
    grave = ErratumEntry(
        where="Algorithm 1",
        printed="a constant 4 is printed",
        corrected="5",
        consequence=Consequence.CONSTANT,
        evidence=("test tests/test_it.py::test_it",),
    )
    row = statement(
        "a.alg",
        None,
        where="Algorithm 1",
        errata=(grave, grave.model_copy(update={"consequence": Consequence.STEP})),
    )
    text = findings_markdown(example_ledger(entries=(), statements=(row,)))
    assert "## 1. Algorithm 1: a constant changes" in text
    said = "Algorithm 1: a constant 4 is printed; instead: 5; by `test tests/test_it.py::test_it`"
    assert text.count(said) == 2
    assert f"- a.alg, {said} (a step of the proof only)" in text
    # with the entry on a statement that belongs with the algorithm
    entry = refuted("a.thm", Consequence.CLAIM)
    pair = (statement("a.thm"), row.model_copy(update={"pairs": ("a.thm",)}))
    (found,) = letter_of(entry, statements=pair).entries
    assert (found.consequence, [each.id for each, _ in found.errata]) == (Consequence.CLAIM, ["a.alg"])


@pytest.mark.parametrize(
    "field", ["statement", "obligation", "latex", "expression", "where", "reading", "left"]
)
@pytest.mark.parametrize("consequence", [Consequence.CLAIM, Consequence.EDGE])
def test_text_is_escaped(field: str, consequence: Consequence) -> None:
    hostile = "a|b\n# c <script> $$ [x](http://y) `@team` #12 *s*"
    changed = PROOFS[0].model_copy(update={field: hostile, "consequence": consequence})
    text = findings_markdown(example_ledger(entries=(changed,)))
    assert "\n# c" not in text
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in outside.replace(r"\<script\>", "")
    assert "http://" not in outside


def test_the_command_prints_letters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ledger.json"
    write_ledger(example_ledger(), file)
    said = []
    for more in ([], ["--paper", "fmtt18"]):
        with pytest.raises(SystemExit) as ended:
            main(["findings", str(file), *more])
        assert ended.value.code in (None, 0)
        said.append(capsys.readouterr().out)
    title = "Privacy Amplification by Iteration (Feldman, Mironov, Talwar, Thakurta)"
    assert said[1] == findings_markdown(load_ledger(file), {"fmtt18": title}, "fmtt18")
    assert said[1] in said[0]
    with pytest.raises(SystemExit) as ended:
        main(["findings", str(file), "--paper", "x"])
    assert ended.value.code == 2
    assert "--paper" in capsys.readouterr().err
