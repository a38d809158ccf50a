"""What is false in print, statement by statement, with its corrections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpverify.grouping import grouped
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.rows import CLAIMS, FalsePart, gravest, marks
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Variant, Verdict
from dpverify.views.formula import BrokenFormula, where_it_holds


@dataclass(frozen=True)
class FaultyStatement:
    """A statement with printed formulas that are false or do not follow, their corrections, and why."""

    statement: str
    title: str
    where: str
    findings: tuple[BrokenFormula, ...]
    repairs: tuple[tuple[ProofEvidence, str], ...]
    """The corrected formulas of all findings, each once, and where they hold if the correction changed that."""
    reasons: tuple[str, ...]
    marks: tuple[FalsePart, ...]
    """What else is false besides the statement itself, such as `a step of its proof is false`."""
    consequence: Consequence | None = None
    """The worst of its findings'; None if none is false."""
    standing: Standing | None = None
    """How the statement itself stands."""

    @property
    def unfollowed(self) -> bool:
        """Whether none of it is false: all that was found does not follow from what is declared."""
        return all(each.formula.verdict is Verdict.DOES_NOT_FOLLOW for each in self.findings)


def corrections(ledger: Ledger) -> dict[str, FaultyStatement]:
    """Id to correction, for every statement with a printed formula that is false or does not follow, gravest first."""
    proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
    rows = {row.id: row for row in ledger.statements}
    broken = [proof for proof in proofs if proof.variant is Variant.PRINTED and proof.verdict in BROKEN]
    found = grouped((proof.statement, BrokenFormula(proof, repairs_of(proof, proofs))) for proof in broken)
    made = {name: _faulty(name, rows.get(name), findings, proofs) for name, findings in found.items()}
    return dict(sorted(made.items(), key=lambda named: gravity(named[1].consequence)))


def _faulty(
    name: str, row: StatementEntry | None, findings: list[BrokenFormula], proofs: Iterable[ProofEvidence]
) -> FaultyStatement:
    findings.sort(key=lambda finding: gravity(finding.formula.consequence))
    unique: dict[int, tuple[ProofEvidence, str]] = {}
    for finding in findings:
        for repair in finding.repairs:  # several findings may have it; one of them, its name
            narrowed = where_it_holds(finding, repair) or unique.get(id(repair), (repair, ""))[1]
            unique[id(repair)] = (repair, narrowed)
    broken = [finding.formula for finding in findings]
    return FaultyStatement(
        statement=name,
        title=row.title if row else "",
        where=row.where if row else broken[0].where,
        findings=tuple(findings),
        repairs=tuple(unique.values()),
        reasons=_reasons(repair for repair, _ in unique.values())
        or _reasons(p for p in proofs if p.statement == name and p.variant is Variant.CORRECTED),
        marks=marks(broken),
        consequence=row.printed.consequence if row and row.printed.consequence else _worst(broken),
        standing=row.printed.standing if row and row.printed.standing else _standing(row, broken),
    )


def _reasons(corrected: Iterable[ProofEvidence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(proof.because for proof in corrected if proof.because))


def _worst(broken: Sequence[ProofEvidence]) -> Consequence | None:
    """The worst consequence among the conclusions and instances if there are any, else among all."""
    claims = [p.consequence for p in broken if p.coverage in CLAIMS and p.verdict is Verdict.REFUTED]
    return gravest(claims or [p.consequence for p in broken])


def _standing(row: StatementEntry | None, broken: Iterable[ProofEvidence]) -> Standing | None:
    """How a statement stands by its verdict, or by its formulas that are false or do not follow."""
    verdicts = {proof.verdict for proof in broken if proof.coverage in CLAIMS}
    if row is not None and row.printed.verdict is not None:
        verdicts = {row.printed.verdict}
    if Verdict.REFUTED in verdicts:
        return Standing.REFUTED
    return Standing.DOES_NOT_FOLLOW if Verdict.DOES_NOT_FOLLOW in verdicts else None


def gravity(consequence: Consequence | None) -> int:
    """Its place in the order of findings; last where none is known."""
    known = list(Consequence)
    return len(known) if consequence is None else known.index(consequence)


def repairs_of(refuted: ProofEvidence, proofs: Iterable[ProofEvidence]) -> tuple[ProofEvidence, ...]:
    """The corrections of a refuted formula: those with its name, else of the whole statement, else all."""
    corrected = [p for p in proofs if p.statement == refuted.statement and p.variant is Variant.CORRECTED]
    same_name = [proof for proof in corrected if proof.obligation == refuted.obligation]
    whole = [proof for proof in corrected if proof.coverage in CLAIMS]
    return tuple(same_name or whole or corrected)
