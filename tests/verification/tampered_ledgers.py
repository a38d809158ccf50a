"""What is done by hand to a ledger, its certificates and its catalog: each has to be refused by `dpverify check`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.ledger.besides.kernels import KernelReason
from dpverify.ledger.facts import FailureMargin
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Variant
from dpverify.proving import store
from dpverify.proving.checker import check
from dpverify.proving.rocq.kernel import Kernel, KernelRow, digest_of
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.source_rows import obligations_of
from dpverify.verification.kernel_rows import kernel_row

KERNEL = Kernel(("coqc",), ("coqtop",), "8.16.1")

Tree = dict[str, Any]
NEVER = ["<", ["num", "1"], ["num", "0"]]
ALWAYS = ["<=", ["num", "0"], ["num", "1"]]


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
