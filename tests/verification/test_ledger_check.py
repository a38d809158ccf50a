"""`dpverify check`: a real ledger is accepted, and whatever is done to it by hand is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify import __version__
from dpverify.auditing import ErrorShare
from dpverify.cli import main
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.besides.kernels import KernelReason
from dpverify.ledger.document import Ledger
from dpverify.ledger.facts import FailureMargin
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Variant
from dpverify.proving import canonical, digest, store
from dpverify.proving.checker import Confirmation, check
from dpverify.proving.rocq.kernel import Kernel, KernelRow, digest_of
from dpverify.reports import write_report
from dpverify.running import Executor
from dpverify.statements.paper import papers
from dpverify.statements.plans import Profile
from dpverify.statements.selection import find_statement
from dpverify.verification import VerificationSettings, kernel_rows
from dpverify.verification.audits import AuditSettings, carry_out_all
from dpverify.verification.catalog.entries import catalog_entries, results_of
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.catalog.source_rows import SourceRow, obligations_of
from dpverify.verification.checking import audit_check, ledger_check
from dpverify.verification.checking.audit_check import RowCheck
from dpverify.verification.checking.ledger_check import LedgerCheck, Status, check_ledger
from dpverify.verification.display_counts import displays_of_ledger
from dpverify.verification.kernel_rows import kernel_row
from dpverify.versions import library_versions

STATEMENTS = ("fmtt18.thm1", "fmtt18.thm23", "fmtt18.lem25", "fmtt18.thm32", "gll22.eq9", "gll22.eq10")
"""With every verdict and coverage, units that differ, boxes, and one row that the checker does not confirm."""

SETTINGS = VerificationSettings(papers=STATEMENTS)

KERNEL = Kernel(("coqc",), ("coqtop",), "8.16.1")

Tree = dict[str, Any]
NEVER = ["<", ["num", "1"], ["num", "0"]]
ALWAYS = ["<=", ["num", "0"], ["num", "1"]]


@pytest.fixture(scope="module")
def original(proofs: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ledger of a few statements, as `verify` writes it."""
    records = proofs.of(*STATEMENTS)
    entries = catalog_entries(records)
    plans, budget = SETTINGS.plans(), ErrorShare(SETTINGS.failure_probability)
    assert plans
    assert not SETTINGS.shares(plans)  # no audit of them draws anything
    around = AuditSettings(Profile(SETTINGS.profile), SETTINGS.seed, Executor())
    granted = [(plan, 0.0) for plan in plans]
    audits = [
        entry for found in carry_out_all(granted, around, jobs=1, watch=lambda _: None) for entry in found
    ]
    ledger = Ledger(
        program_version=__version__,
        created="2026-01-01T00:00:00+00:00",
        command=SETTINGS.command(),
        seed=SETTINGS.seed,
        profile=SETTINGS.profile,
        versions=library_versions(),
        statements=entries,
        results=results_of(entries, [record.evidence for record in records]),
        entries=(*(record.evidence for record in records), *audits),
        displays=displays_of_ledger(record.evidence for record in records),
        budget=budget.record(),
        seconds=1.0,
    )
    certificates = {
        record.evidence.certificate: record.certificate
        for record in records
        if record.evidence.certificate is not None
    }
    folder = tmp_path_factory.mktemp("ledger")
    write_report(ledger, folder, certificates)
    return folder


@pytest.fixture(scope="module")
def remembering() -> Callable[[Any], Confirmation]:
    """The checker, which looks at equal certificates once."""
    known: dict[str, Confirmation] = {}

    def checker(certificate: Any) -> Confirmation:
        name = digest(certificate)
        if name not in known:
            known[name] = check(certificate)
        return known[name]

    return checker


def _once(ask: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, tuple[Any, Any]] = {}

    def answer(*of: Any, **how: Any) -> Any:
        name = key(*of, **how)
        if name not in known:
            known[name] = of, ask(*of, **how)  # what was asked stays there, so that nothing else gets its id
        return known[name][1]

    return answer


def _fault(found: Any, obligation: Any, refuted: Any, _: Any, **how: Any) -> tuple[Any, ...]:
    return repr(found), id(obligation), digest(refuted), *how.items()


def _row(row: SourceRow) -> tuple[Any, ...]:
    return row.statement.id, row.name, row.variant


@pytest.fixture(scope="module")
def asked_once() -> Iterator[None]:
    """What provers and audits say of the source, which nobody tampers with, is asked once for all tampered ledgers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("homogeneity", "prove", "disagreement"):
            patch.setattr(ledger_check, name, _once(getattr(ledger_check, name), id))
        patch.setattr(ledger_check, "fault_of", _once(ledger_check.fault_of, _fault))
        patch.setattr(ledger_check, "premises_of_row", _once(ledger_check.premises_of_row, _row))
        patch.setattr(audit_check, "carry_out", cache(audit_check.carry_out))
        yield


class Tampered:
    """A copy of the ledger in which things can be changed."""

    def __init__(self, original: Path, folder: Path) -> None:
        shutil.copytree(original, folder)
        self.folder = folder
        self.tree: Tree = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))

    @property
    def rows(self) -> list[Tree]:
        """All rows, of proofs and audits."""
        rows: list[Tree] = self.tree["entries"]
        return rows

    def row(self, statement: str, obligation: str, variant: str = "printed") -> Tree:
        """One row."""
        wanted = (statement, obligation, variant)
        proofs = [r for r in self.rows if r["kind"] == "proof"]
        (row,) = (r for r in proofs if (r["statement"], r["obligation"], r["variant"]) == wanted)
        return row

    def entry(self, statement: str) -> Tree:
        """One statement of the catalog."""
        (entry,) = (e for e in self.tree["statements"] if e["id"] == statement)
        found: Tree = entry
        return found

    def file(self, row: Tree) -> Path:
        """The file of a row's certificate."""
        return self.folder / "certificates" / f"{row['certificate'].removeprefix('sha256:')}.json"

    def certificate(self, row: Tree) -> Tree:
        """A row's certificate."""
        found: Tree = json.loads(self.file(row).read_text(encoding="utf-8"))
        return found

    def certify(self, row: Tree, certificate: Tree, **fields: Any) -> None:
        """Give a row another certificate, with its right hash, and other fields."""
        row.update(certificate=store(certificate, self.folder / "certificates"), **fields)

    def problem(self, row: Tree, **parts: Any) -> None:
        """Give a row a certificate of another problem."""
        certificate = self.certificate(row)
        certificate["problem"].update(parts)
        self.certify(row, certificate)

    def proof(self, row: Tree, verdict: str, proof: Tree, **fields: Any) -> None:
        """Give a row another proof of the same problem."""
        self.certify(
            row, {**self.certificate(row), "verdict": verdict, "proof": proof}, verdict=verdict, **fields
        )

    def variable(self, row: Tree, name: str, **parts: Any) -> None:
        """Change a variable of a row's problem."""
        certificate = self.certificate(row)
        (variable,) = (v for v in certificate["problem"]["variables"] if v["name"] == name)
        variable.update(parts)
        self.certify(row, certificate)

    def write(self) -> Path:
        """Put the ledger where it is read."""
        path = self.folder / "ledger.json"
        path.write_text(json.dumps(self.tree), encoding="utf-8")
        return path


def proved(t: Tampered) -> Tree:
    return t.row("fmtt18.thm23", "schedule-is-admissible")


def equality(t: Tampered) -> Tree:
    return t.row("fmtt18.thm23", "schedule-ends-at-zero")


def refuted(t: Tampered) -> Tree:
    return t.row("fmtt18.thm1", "attained-by-identity-maps")


def corrected(t: Tampered) -> Tree:
    return t.row("fmtt18.thm1", "attained-by-identity-maps", "corrected")


def with_premises(t: Tampered) -> Tree:
    return t.row("fmtt18.thm23", "by-theorem-22")


def boxed(t: Tampered) -> Tree:
    return t.row("gll22.eq9", "not-negative", "corrected")


def clash(t: Tampered) -> Tree:
    return t.row("fmtt18.thm1", "attained-by-identity-maps: units")


def agreeing(t: Tampered) -> Tree:
    return t.row("fmtt18.thm23", "last-display: units")


def claim_of(t: Tampered, row: Tree) -> list[Any]:
    found: list[Any] = t.certificate(row)["problem"]["claim"]
    return found


def variables_of(t: Tampered, row: Tree) -> list[Tree]:
    found: list[Tree] = t.certificate(row)["problem"]["variables"]
    return found


def swap(one: Tree, other: Tree) -> None:
    one["certificate"], other["certificate"] = other["certificate"], one["certificate"]


def mark(t: Tampered, row: Tree, of: Tree | None = None, **edited: Any) -> None:
    """A row with what a kernel would say of its theorem, or of another row's, edited."""
    own = row if of is None else of
    statement = find_statement(own["statement"])
    assert statement is not None
    (obligation,) = (
        o for o in obligations_of(statement, Variant(own["variant"])) if o.name == own["obligation"]
    )
    asked = kernel_row(obligation, ProofEvidence.model_validate(own), t.certificate(own))
    assert isinstance(asked, KernelRow)
    row["kernel"] = {
        "kernel": KERNEL.name,
        "said": "accepted",
        "reason": None,
        "theorem": digest_of(asked),
        **edited,
    }


def remove(t: Tampered, row: Tree) -> None:
    t.rows.remove(row)


def undecide(row: Tree) -> None:
    gone = ("certificate", "counterexample", "left", "right", "box", "boxes")
    row.update(
        dict.fromkeys(gone), verdict="undecided", prover="none", confirmed_by_checker=False, checker_says=""
    )
    row["reason"] = "no counterexample found"


def believed(t: Tampered, row: Tree) -> None:
    """What the checker would say, put beside the row."""
    said = check(t.certificate(row))
    row.update(confirmed_by_checker=said.confirmed, checker_says=said.says)


def pretend(t: Tampered, row: Tree, verdict: str, proof: Tree) -> None:
    """A verdict with a certificate of its own and the checker's own words about it."""
    t.proof(row, verdict, proof, counterexample=None, left=None, right=None, box=None, boxes=None)
    believed(t, row)


def move_point(t: Tampered, row: Tree, **point: str) -> None:
    """A counterexample somewhere else, in row and certificate."""
    moved = {**row["counterexample"], **point}
    t.proof(row, "refuted", {"method": "counterexample", "point": moved}, counterexample=moved)


def printed(t: Tampered, name: str) -> Tree:
    """What is said of a statement as printed."""
    found: Tree = t.entry(name)["printed"]
    return found


def realistic(t: Tampered) -> Tree:
    """The counterexample at a realistic size."""
    found: Tree = refuted(t)["realistic"]
    return found


def move_realistic(t: Tampered, **point: str) -> None:
    """A counterexample at another size, with the sides there."""
    moved = {**realistic(t)["point"], **point}
    steps, order, sigma, distance = (Fraction(moved[name]) for name in ("T", "order", "sigma", "distance"))
    left, right = (order * distance**power / (2 * steps * sigma**2) for power in (2, 1))
    by = FailureMargin.of("<=", str(left), str(right))
    realistic(t).update(
        point=moved, left=str(left), right=str(right), excess=by.model_dump() if by is not None else None
    )


def rewitness(t: Tampered, row: Tree, /, **point: str) -> None:
    """A witness somewhere else, in row and certificate."""
    moved = {**row["witness"], **point}
    t.certify(row, {**t.certificate(row), "witness": moved}, witness=moved)


def rebox(t: Tampered, row: Tree, **ends: list[str]) -> None:
    """Another box, in row and certificate."""
    proof = t.certificate(row)["proof"]
    proof["box"] = {**proof["box"], **ends}
    t.proof(row, row["verdict"], proof, box=proof["box"])


def overwrite(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


SIGNS = {"method": "signs", "shift": {}}
SMT = {"method": "smt"}
TAMPERINGS: dict[str, Callable[[Tampered], object]] = {
    # claims
    "claim 0 <= 1": lambda t: t.problem(proved(t), claim=ALWAYS),
    "claim 0 <= 1 proved anew": lambda t: (t.problem(proved(t), claim=ALWAYS), t.proof(proved(t), "proved", SMT)),
    "claim 0 <= 1 in place of a refuted one": lambda t: (
        t.problem(refuted(t), claim=ALWAYS), pretend(t, refuted(t), "proved", SMT)),
    "weaker relation": lambda t: t.problem(equality(t), claim=["<=", *claim_of(t, equality(t))[1:]]),
    "claim or something true": lambda t: t.problem(
        refuted(t), claim=["or", claim_of(t, refuted(t)), ALWAYS]),
    "claim negated": lambda t: t.problem(corrected(t), claim=["not", claim_of(t, corrected(t))]),
    "sides exchanged": lambda t: t.problem(equality(t), claim=["==", *claim_of(t, equality(t))[:0:-1]]),
    "claim of units 0 <= 1": lambda t: t.problem(clash(t), claim=ALWAYS),
    # assumptions
    "assumed what never holds": lambda t: t.problem(proved(t), assuming=[NEVER]),
    "refuted under what never holds": lambda t: (
        t.problem(refuted(t), assuming=[NEVER]), pretend(t, refuted(t), "proved", SMT)),
    "assumption added": lambda t: t.problem(corrected(t), assuming=[ALWAYS]),
    "assumption dropped": lambda t: t.problem(proved(t), assuming=[]),
    "assumption dropped in the text": lambda t: proved(t).update(assuming=[]),
    "assumed premise called an instance": lambda t: with_premises(t)["premises"][0].update(
        by=["fmtt18.thm22/bound"]),
    "premise left out": lambda t: with_premises(t).update(premises=[]),
    "assumption edited in the text": lambda t: proved(t).update(assuming=["t <= i", "i <= 2*n"]),
    # domains
    "domain narrowed": lambda t: t.variable(refuted(t), "T", lower="2"),
    "domain emptied": lambda t: t.variable(corrected(t), "sigma", upper="0"),
    "end opened": lambda t: t.variable(corrected(t), "distance", lower_open=True),
    "end opened, as a number": lambda t: t.variable(corrected(t), "distance", lower_open=0),
    "integer made real": lambda t: t.variable(corrected(t), "T", kind="real"),
    "unit of a variable edited": lambda t: t.variable(clash(t), "distance", unit={"loss": "0", "length": "0"}),
    "variable renamed": lambda t: t.problem(corrected(t), variables=[
        {**v, "name": v["name"].lower()} for v in variables_of(t, corrected(t))]),
    "variable removed": lambda t: t.problem(corrected(t), variables=variables_of(t, corrected(t))[1:]),
    "domain edited in the text": lambda t: refuted(t)["domain"]["T"].update(lower="2"),
    "symbol removed from the text": lambda t: refuted(t)["domain"].pop("T"),
    "symbol added to the text": lambda t: refuted(t)["domain"].update(p=refuted(t)["domain"]["sigma"]),
    "unit edited in the text": lambda t: clash(t)["units"].update(distance="dimensionless"),
    # certificates that belong to others
    "certificates exchanged": lambda t: swap(proved(t), equality(t)),
    "certificate of the repair": lambda t: refuted(t).update(
        {k: corrected(t)[k] for k in ("certificate", "verdict", "prover", "counterexample", "left", "right",
                                     "checker_says")}),
    "certificate of the units": lambda t: proved(t).update(certificate=agreeing(t)["certificate"]),
    "certificate of another statement": lambda t: proved(t).update(certificate=corrected(t)["certificate"]),
    # verdicts
    "refuted called proved": lambda t: refuted(t).update(verdict="proved"),
    "refuted called proved, without a point": lambda t: refuted(t).update(
        verdict="proved", counterexample=None, left=None, right=None),
    "refuted called proved in both": lambda t: t.proof(
        refuted(t), "proved", t.certificate(refuted(t))["proof"], counterexample=None, left=None, right=None),
    "refuted called proved by a solver": lambda t: t.proof(
        refuted(t), "proved", SMT, counterexample=None, left=None, right=None),
    "refuted called proved by signs": lambda t: t.proof(
        refuted(t), "proved", SIGNS, counterexample=None, left=None, right=None),
    "refuted called proved, unconfirmed": lambda t: pretend(t, refuted(t), "proved", SMT),
    "refuted called proved beyond the checker": lambda t: pretend(
        t, refuted(t), "proved", {"method": "antiderivative", "then": SMT}),
    "refuted called undecided": lambda t: undecide(refuted(t)),
    "refuted called undecided, certificate kept": lambda t: refuted(t).update(verdict="undecided"),
    "proved called undecided": lambda t: undecide(proved(t)),
    "proved called refuted": lambda t: t.proof(
        corrected(t), "refuted", t.certificate(refuted(t))["proof"],
        counterexample=refuted(t)["counterexample"], left=refuted(t)["left"], right=refuted(t)["right"]),
    "proved called certified": lambda t: proved(t).update(verdict="certified"),
    "proved called certified in both": lambda t: t.proof(proved(t), "certified", t.certificate(proved(t))["proof"]),
    "proved called supported": lambda t: proved(t).update(verdict="supported"),
    "certified called proved": lambda t: boxed(t).update(verdict="proved"),
    "certified called proved in both": lambda t: t.proof(boxed(t), "proved", t.certificate(boxed(t))["proof"]),
    "proved without a certificate": lambda t: proved(t).update(certificate=None),
    "proved called undecided by the clock": lambda t: (
        undecide(proved(t)), proved(t).update(stopped_by_the_clock=True)),
    "proved called ended by a fault": lambda t: (undecide(proved(t)), proved(t).update(fault="Traceback")),
    "a guess called certified": lambda t: t.proof(proved(t), "certified", {"method": "guess"}),
    # texts
    "formula in LaTeX": lambda t: refuted(t).update(latex=corrected(t)["latex"]),
    "formula in plain characters": lambda t: refuted(t).update(expression=corrected(t)["expression"]),
    "scope removed": lambda t: refuted(t).update(scope=""),
    "scope edited": lambda t: t.row("fmtt18.lem25", "tried-on-two-laws").update(scope="all laws"),
    "coverage edited": lambda t: t.row("fmtt18.thm23", "last-display").update(coverage="condition"),
    "instance called the whole": lambda t: t.row("fmtt18.lem25", "tried-on-two-laws").update(
        coverage="conclusion", scope=""),
    "step called the whole": lambda t: proved(t).update(coverage="conclusion"),
    "what it uses removed": lambda t: t.row("fmtt18.thm23", "schedule-gives-the-bound").update(uses=[]),
    "consequence made milder": lambda t: refuted(t).update(consequence="an edge case that no reader means"),
    "mistake made another": lambda t: refuted(t).update(mistake="a condition is missing"),
    "provenance edited": lambda t: refuted(t).update(provenance="torn"),
    "what is printed removed": lambda t: t.row("fmtt18.thm1", "attained-by-identity-maps").update(prints=["x"]),
    "relation turned": lambda t: refuted(t).update(relation=">="),
    "added condition invented": lambda t: corrected(t).update(added=["1 <= T"]),
    "roots removed": lambda t: printed(t, "fmtt18.thm23")["below"]["roots"].update(own=[], literature=[], unproved=[]),
    "standing made better": lambda t: printed(t, "fmtt18.thm1").update(standing="holds"),
    "statement's consequence made milder": lambda t: printed(t, "fmtt18.thm1").update(consequence="a constant changes"),
    "missing conclusion invented": lambda t: t.entry("fmtt18.thm1").update(missing=["the rest"]),
    "consequence removed": lambda t: refuted(t).update(consequence=None),
    "by how much edited": lambda t: refuted(t)["excess"].update(factor="1.05"),
    "parts of a conjunction invented": lambda t: refuted(t).update(conjuncts=["1 <= T", "T <= 2"]),
    "an order called written out": lambda t: refuted(t).update(written_in_full=True),
    "units said of another formula": lambda t: clash(t).update(units_of="last-display"),
    "an open end closed": lambda t: refuted(t)["domain"]["sigma"].update(lower_open=False),
    "reading invented": lambda t: proved(t).update(reading="with another sign"),
    "fault invented": lambda t: corrected(t).update(catches="everything"),
    "headline made better": lambda t: printed(t, "fmtt18.lem25").update(standing="holds", by_corrected_proof=True),
    "headline without its step": lambda t: printed(t, "fmtt18.thm23").update(marks=[]),
    "what is given removed": lambda t: printed(t, "fmtt18.thm23").update(given=[]),
    "what rests on it removed": lambda t: t.entry("fmtt18.thm23").update(used_by=[]),
    "named result edited": lambda t: t.tree["results"][0].update(title="everything is private"),
    "more displays decided": lambda t: t.tree["displays"][0].update(decided=99),
    "named result removed": lambda t: t.tree.update(results=[]),
    "erratum invented": lambda t: t.entry("fmtt18.thm23").update(errata=[{
        "where": "Theorem 23", "printed": "1", "corrected": "2", "consequence": "a constant changes",
        "evidence": ["tests/none.py::test_none"]}]),
    "place edited": lambda t: refuted(t).update(where="Theorem 2"),
    "reason of a repair edited": lambda t: corrected(t).update(because="a matter of taste"),
    "remark added": lambda t: proved(t).update(reason="proved in a stronger form"),
    # rows
    "row removed": lambda t: remove(t, refuted(t)),
    "row of units removed": lambda t: remove(t, clash(t)),
    "row of the repair removed": lambda t: remove(t, corrected(t)),
    "statement's rows removed": lambda t: t.tree.update(
        entries=[r for r in t.rows if r.get("statement") != "fmtt18.thm1"]),
    "all rows removed": lambda t: t.tree.update(entries=[]),
    "row doubled": lambda t: t.rows.append(dict(proved(t))),
    "row doubled with another verdict": lambda t: t.rows.append({**refuted(t), "verdict": "proved"}),
    "row invented": lambda t: t.rows.append({**proved(t), "obligation": "privacy"}),
    "row of a statement invented": lambda t: t.rows.append({**proved(t), "statement": "fmtt18.thm99"}),
    "row renamed": lambda t: refuted(t).update(obligation="attained"),
    "printed called corrected": lambda t: equality(t).update(variant="corrected"),
    # hashes and files
    "hash edited": lambda t: proved(t).update(certificate=proved(t)["certificate"][:-1] + "z"),
    "hash of nothing": lambda t: proved(t).update(certificate="sha256:" + "0" * 64),
    "hash that leads elsewhere": lambda t: proved(t).update(certificate="../ledger"),
    "file edited": lambda t: overwrite(t.file(proved(t)), t.file(proved(t)).read_text().replace("proved", "Proved")),
    "file of another": lambda t: overwrite(t.file(proved(t)), t.file(equality(t)).read_text()),
    "file emptied": lambda t: overwrite(t.file(proved(t)), ""),
    "file no object": lambda t: t.certify(proved(t), [1, 2]),  # type: ignore[arg-type]
    "file without a problem": lambda t: t.certify(proved(t), {"proof": SMT, "verdict": "proved", "version": 1}),
    "file nested deeply": lambda t: overwrite(t.file(proved(t)), "[" * 100_000),
    "file removed": lambda t: t.file(proved(t)).unlink(),
    "version edited": lambda t: t.certify(proved(t), {**t.certificate(proved(t)), "version": 99}),
    # counterexamples
    "point moved in the row": lambda t: refuted(t)["counterexample"].update(distance="3"),
    "point moved to where the claim holds": lambda t: move_point(t, refuted(t), distance="1"),
    "point moved off the domain": lambda t: move_point(t, refuted(t), T="1/2"),
    "point moved off the assumptions": lambda t: move_point(t, t.row("fmtt18.thm23", "last-display"), n="1"),
    "point moved, sides kept": lambda t: move_point(t, refuted(t), distance="5"),
    "point without a variable": lambda t: t.proof(refuted(t), "refuted", {"method": "counterexample", "point": {}}),
    "point removed from the row": lambda t: refuted(t).update(counterexample=None),
    "left side edited": lambda t: refuted(t).update(left="3"),
    "right side edited": lambda t: t.row("gll22.eq10", "not-above-the-other-half-line").update(right="0.2"),
    # counterexamples at realistic sizes
    "realistic point moved to where the claim holds": lambda t: realistic(t)["point"].update(distance="1"),
    "realistic point moved, sides kept": lambda t: realistic(t)["point"].update(distance="7"),
    "realistic point of no realistic size": lambda t: move_realistic(t, T="2"),
    "realistic point off the domain": lambda t: move_realistic(t, T="2001/2"),
    "realistic point off the assumptions": lambda t: t.row("fmtt18.thm23", "last-display")["realistic"]["point"].update(
        t="1000000"),
    "realistic point without a letter": lambda t: realistic(t)["point"].pop("T"),
    "realistic point with another letter": lambda t: realistic(t)["point"].update(n="1000"),
    "realistic point no number": lambda t: realistic(t)["point"].update(T="many"),
    "realistic left side edited": lambda t: realistic(t).update(left="1"),
    "realistic excess edited": lambda t: realistic(t)["excess"].update(found="9"),
    "realistic sizes edited": lambda t: realistic(t)["sizes"]["T"].update(high="10"),
    "realistic point not tried": lambda t: realistic(t).update(tried=0),
    "realistic point unconfirmed": lambda t: realistic(t).update(confirmed_by_checker=False),
    "realistic point removed": lambda t: refuted(t).update(realistic=None),
    "realistic point called not found": lambda t: realistic(t).update(
        point=None, left=None, right=None, excess=None, confirmed_by_checker=False),
    "realistic point where no letter has a size": lambda t: t.row(
        "gll22.eq10", "not-above-the-other-half-line").update(realistic=realistic(t)),
    "realistic point of what is proved": lambda t: proved(t).update(realistic=realistic(t)),
    "realistic point of a unit": lambda t: clash(t).update(realistic=realistic(t)),
    # witnesses
    "witness moved off the assumptions in the row": lambda t: proved(t)["witness"].update(t="100", i="1"),
    "witness moved elsewhere in the row": lambda t: corrected(t)["witness"].update(order="7"),
    "witness removed from the row": lambda t: proved(t).update(witness=None),
    "witness removed from the certificate": lambda t: t.certify(
        proved(t), {k: v for k, v in t.certificate(proved(t)).items() if k != "witness"}),
    "witness removed from both": lambda t: t.certify(
        proved(t), {k: v for k, v in t.certificate(proved(t)).items() if k != "witness"}, witness=None),
    "witness moved off the assumptions in both": lambda t: rewitness(t, proved(t), t="100", i="1"),
    "witness moved off the domain in both": lambda t: rewitness(t, corrected(t), sigma="0"),
    "witness moved off the box in both": lambda t: rewitness(t, boxed(t), s="1000"),
    "witness between integers in both": lambda t: rewitness(t, corrected(t), T="3/2"),
    "witness of a refuted one moved": lambda t: refuted(t)["witness"].update(sigma="-1"),
    "witness of a refuted one removed": lambda t: refuted(t).update(witness=None),
    # what the checker said
    "confirmed set by hand": lambda t: t.proof(proved(t), "proved", {"method": "guess"}),
    "confirmed set by hand, with words": lambda t: t.proof(
        proved(t), "proved", {"method": "guess"}, checker_says="proved, by guessing"),
    "confirmed taken away": lambda t: proved(t).update(confirmed_by_checker=False),
    "words of the checker edited": lambda t: proved(t).update(checker_says="proved, by all who looked"),
    # what a kernel said
    "mark of another's theorem": lambda t: mark(t, proved(t), corrected(t)),
    "mark of an earlier statement": lambda t: mark(t, proved(t), theorem="sha256:" + "0" * 64),
    "mark without a theorem": lambda t: mark(t, proved(t), said="refused", reason=KernelReason.OPERATOR, theorem=None),
    "mark of an acceptance with a reason": lambda t: mark(t, proved(t), reason=KernelReason.SCRIPT),
    "mark of a unit": lambda t: mark(t, agreeing(t), proved(t)),
    "mark of what is refused": lambda t: (mark(t, refuted(t)), move_point(t, refuted(t), distance="1")),
    # units
    "units turned": lambda t: clash(t).update(verdict="proved", left=None, right=None),
    "units turned in both": lambda t: t.proof(clash(t), "proved", {"method": "units"}, left=None, right=None),
    "units turned against": lambda t: t.proof(
        agreeing(t), "refuted", t.certificate(clash(t))["proof"], left=clash(t)["left"], right=clash(t)["right"]),
    "unit of a side edited": lambda t: clash(t).update(right="length"),
    "units undecided": lambda t: undecide(clash(t)),
    # boxes
    "box widened in the row": lambda t: boxed(t).update(box={"s": ["0", "100"]}),
    "box widened in both": lambda t: rebox(t, boxed(t), s=["0", "100"]),
    "box emptied": lambda t: rebox(t, boxed(t), s=["4", "0"]),
    "box dropped": lambda t: boxed(t).update(box=None),
    "number of boxes edited": lambda t: boxed(t).update(boxes=999),
    "tree cut": lambda t: t.proof(
        t.row("fmtt18.lem25", "tried-on-two-laws"), "certified",
        {**t.certificate(t.row("fmtt18.lem25", "tried-on-two-laws"))["proof"], "tree": ["+"]}),
    # the catalog
    "verdict of a statement edited": lambda t: printed(t, "fmtt18.thm1").update(verdict="proved"),
    "verdict of a repair edited": lambda t: t.entry("fmtt18.lem25").update(verdict_corrected="refuted"),
    "statement in LaTeX edited": lambda t: t.entry("fmtt18.thm1").update(latex="0 = 0"),
    "title edited": lambda t: t.entry("fmtt18.thm1").update(title="Everything is private"),
    "implementation edited": lambda t: t.entry("fmtt18.alg1").update(algorithm="other:Thing"),
    "statement removed": lambda t: t.tree["statements"].remove(t.entry("fmtt18.thm1")),
    "statement doubled": lambda t: t.tree["statements"].append(t.entry("fmtt18.thm1")),
    "statement invented": lambda t: t.tree["statements"].append({**t.entry("fmtt18.thm1"), "id": "fmtt18.thm99"}),
    # the whole
    "other schema": lambda t: t.tree.update(schema_version=99),
    "command line that asks for more": lambda t: t.tree.update(command="dpverify verify"),
    "command line that is none": lambda t: t.tree.update(command="dpverify verify --paper nothing"),
}  # fmt: skip


@pytest.mark.usefixtures("asked_once")
def test_a_row_of_its_own(original: Path, remembering: Callable[[Any], Confirmation]) -> None:
    def only(*names: str) -> LedgerCheck:
        return check_ledger(original / "ledger.json", only=names, checker=remembering)

    one = only("fmtt18.thm1/attained-by-identity-maps")
    assert [(row.variant, row.status) for row in one.rows] == [
        ("printed", "confirmed"),
        ("corrected", "confirmed"),
    ]
    rows = only("fmtt18.thm1/attained-by-identity-maps: units", "gll22.eq10").rows
    assert [row.variant for row in rows if row.statement == "fmtt18.thm1"] == ["printed", "corrected"]
    assert len({row.obligation for row in rows if row.statement == "gll22.eq10"}) > 2
    assert only("fmtt18.alg1").rows == ()  # an algorithm has no proofs
    for name in ("fmtt18.thm1/none", "nothing", ""):
        with pytest.raises(InvalidArgumentError, match="--only"):
            only(name)


def test_there_are_enough_ways_to_tamper() -> None:
    assert len(TAMPERINGS) >= 60


@pytest.mark.usefixtures("asked_once")
def test_the_ledger_as_it_is_is_accepted(original: Path, remembering: Callable[[Any], Confirmation]) -> None:
    found = check_ledger(original / "ledger.json", checker=remembering)
    assert [row.line() for row in found.failed] == []
    statuses = [row.status for row in found.rows]
    assert statuses.count(Status.CONFIRMED) == len(statuses) > 30
    named = {id_.partition(".")[0] for id_ in STATEMENTS}
    left = {s.id for p in papers().values() for s in p.statements if p.key in named} - set(STATEMENTS)
    assert set(found.outside) == left | {f"all of {key}" for key in papers() if key not in named}


@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize(
    ("version", "reason", "failed"),
    [
        ("8.16.1", None, 0),
        ("8.16.1", KernelReason.SCRIPT, 4),
        ("8.16.1", KernelReason.TIME, 0),
        ("9.0.0", KernelReason.SCRIPT, 0),
    ],
)
def test_marks_of_a_kernel_are_held_against_it(
    version: str,
    reason: KernelReason | None,
    failed: int,
    original: Path,
    tmp_path: Path,
    remembering: Callable[[Any], Confirmation],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four accepted rows, printed, corrected, refuted and in a box; another version's answer contradicts none."""
    marked = Tampered(original, tmp_path / "ledger")
    for of in (proved, refuted, corrected, boxed):
        mark(marked, of(marked))
    mark(marked, equality(marked), theorem="sha256:" + "0" * 64)  # of an earlier statement
    ledger = marked.write()
    no = KernelReason.METHOD
    monkeypatch.setattr(
        kernel_rows,
        "ask",
        lambda _, rows, **__: [None if digest_of(row) and reason is None else reason or no for row in rows],
    )
    kernel = replace(KERNEL, version=version)
    found = check_ledger(ledger, only=STATEMENTS, checker=remembering, kernel=kernel)
    assert (
        sum(
            row.says.endswith("accepts it, but of a theorem that is not its source's") for row in found.failed
        )
        == 1
    )
    assert (
        sum(
            row.says.endswith(f"but asked again: {kernel.name} does not accept it: {reason}")
            for row in found.failed
        )
        == failed
    )
    assert len(found.failed) == 1 + failed
    asked = [row for row in found.as_json()["rows"] if row["kernel"]]
    assert {(row["kernel"]["kernel"], row["kernel"]["said"]) for row in asked} >= {
        (kernel.name, "refused" if reason else "accepted")
    }


@pytest.mark.one_in(8)
@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize("how", TAMPERINGS)
def test_tampering_is_refused(
    how: str, original: Path, tmp_path: Path, remembering: Callable[[Any], Confirmation]
) -> None:
    tampered = Tampered(original, tmp_path / "ledger")
    before = (
        canonical(tampered.tree),
        {f.name: f.read_bytes() for f in (tampered.folder / "certificates").iterdir()},
    )
    TAMPERINGS[how](tampered)
    after = (
        canonical(tampered.tree),
        {f.name: f.read_bytes() for f in (tampered.folder / "certificates").iterdir()},
    )
    assert after != before
    try:
        found = check_ledger(tampered.write(), checker=remembering)
    except InvalidDataError:
        return
    assert found.failed, found.summary()
    assert all(row.says for row in found.failed)


# ------------------------------------------------------------------------------------------- the command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_accepts(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (str(original / "ledger.json"), "--only", "fmtt18.thm1")
    code, out, _ = run(capsys, *arguments)
    rows = int(out.split()[0])
    assert (code, out) == (0, f"{rows} rows: {rows} confirmed, 0 refused, 0 missing.\n")
    assert rows >= 10
    code, out, _ = run(capsys, *arguments, "--json", "-")
    found = json.loads(out)
    assert (code, found["confirmed"], len(found["rows"])) == (0, True, rows)
    assert {row["status"] for row in found["rows"]} == {"confirmed"}


def test_the_command_refuses(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered = Tampered(original, tmp_path / "ledger")
    refuted(tampered).update(verdict="proved")
    remove(tampered, corrected(tampered))
    code, out, err = run(capsys, str(tampered.write()), "--only", "fmtt18.thm1/attained-by-identity-maps")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith(
        "refused: fmtt18.thm1/attained-by-identity-maps (printed): it is proved, but its certificate"
    )
    assert lines[1].startswith("missing: fmtt18.thm1/attained-by-identity-maps (corrected): ")
    assert " rows: 0 confirmed, " in lines[-1]
    assert ", 1 missing." in lines[-1]


@pytest.mark.parametrize(
    "how", ["nothing there", "a folder", "no JSON", "no ledger", "no certificates", "not UTF-8"]
)
def test_bad_input_is_one_sentence(
    how: str, original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ledger.json"
    match how:
        case "a folder":
            path.mkdir()
        case "no JSON":
            path.write_text("{")
        case "no ledger":
            path.write_text('{"schema_version": 0}')
        case "no certificates":
            shutil.copy(original / "ledger.json", path)
        case "not UTF-8":
            path.write_bytes(b"\xff\xfe\x00")
    code, out, err = run(capsys, str(path))
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_audits_are_said_not_to_be_drawn_again() -> None:
    rows = [RowCheck(f"fmtt18.alg1/{i}", Status.PLANNED, "") for i in range(2)]
    for count, said in ((0, "drawn"), (1, "1 audit is as planned"), (2, "2 audits are as planned")):
        summary = LedgerCheck(tuple(rows[:count]), ()).summary()
        assert (said in summary) == (count > 0), summary
        assert ("was not drawn again" in summary) == (count > 0)


def test_a_planned_audit_must_be_there(original: Path, tmp_path: Path) -> None:
    tampered = Tampered(original, tmp_path / "ledger")
    tampered.tree["entries"] = [row for row in tampered.rows if row["kind"] == "proof"]
    (row,) = check_ledger(tampered.write(), only=("fmtt18.thm32",)).failed
    assert (row.statement, row.status) == ("fmtt18.multitask/constant", Status.MISSING)


def test_every_row_shows_the_witness_of_its_certificate(all_proofs: list[ProofRecord]) -> None:
    """Of all rows: a refuted one without a counterexample once showed a witness that its certificate does not have."""
    for record in all_proofs:
        row, certificate = record.evidence, record.certificate
        if certificate is not None and row.counterexample is None:
            assert row.witness == certificate.get("witness"), f"{row.statement}/{row.obligation}"


@pytest.mark.parametrize("command", ["dpverify run", "pytest test_claims.py --dpverify-report=claims.json"])
def test_a_ledger_of_audits_alone_has_nothing_to_check(original: Path, tmp_path: Path, command: str) -> None:
    tree = json.loads((original / "ledger.json").read_text())
    tree |= {"command": command, "statements": [], "results": [], "entries": [], "displays": []}
    place = tmp_path / "ledger.json"
    place.write_text(json.dumps(tree))
    with pytest.raises(InvalidDataError, match="has no proofs, only audits of"):
        check_ledger(place)
    place.write_text(json.dumps(tree | {"command": "dpverify verify --paper fmtt18.thm1"}))
    assert check_ledger(place).failed
