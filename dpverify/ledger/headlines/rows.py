"""What the rule for headlines looks at in one formula, and what each formula says for or against its statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import BROKEN, HOLDS, Consequence, Coverage, Variant, Verdict, overall

CLAIMS = (Coverage.CONCLUSION, Coverage.INSTANCE)
"""Coverages whose refutation refutes the statement."""


class Cut(Record):
    """The part of a letter's domain to which a box confines a formula."""

    letter: str
    low: str
    high: str

    def __str__(self) -> str:
        return f"{self.letter} in [{self.low}, {self.high}]"


class FalsePart(Record):
    """What is false, or does not follow, in a statement besides its conclusion."""

    verdict: Verdict
    coverage: Coverage

    def __str__(self) -> str:
        if self.coverage is Coverage.UNIT:
            return "units differ"
        said = "is false" if self.verdict is Verdict.REFUTED else "does not follow"
        return f"{_PARTS[self.coverage]} {said}"


@dataclass(frozen=True)
class FormulaRow:
    """What the rule looks at in one formula."""

    name: str
    coverage: Coverage
    verdict: Verdict
    uses: tuple[str, ...]
    cut: tuple[Cut, ...]
    """Parts of the domain to which a box confines it."""
    consequence: Consequence | None = None
    corrected: bool = False
    """Whether it is no printed formula, but stands in place of one or was added to the proof."""
    added: tuple[str, ...] = ()
    """For a correction of a conclusion or a condition, what the printed formula lacks. What a step needs besides is a
    matter of the proof."""
    says_nothing: bool = False
    """Whether it claims what it assumes, word for word."""
    assumed: tuple[str, ...] = ()
    """Its premises that nothing it uses concludes, and what is open of the others."""

    @property
    def broken_step(self) -> bool:
        """Whether a display of the proof is false or does not follow, or a special case of one is false."""
        if self.coverage is Coverage.STEP:
            return self.verdict in BROKEN
        special = self.coverage is Coverage.INSTANCE and self.consequence is Consequence.STEP
        return special and self.verdict is Verdict.REFUTED

    @property
    def refutes(self) -> bool:
        """Whether it refutes the statement."""
        return self.verdict is Verdict.REFUTED and self.coverage in CLAIMS and not self.broken_step


def row_of(proof: ProofEvidence) -> FormulaRow:
    """A ledger's row as the rule sees it."""
    said = proof.coverage in (Coverage.CONCLUSION, Coverage.CONDITION)
    return FormulaRow(
        proof.obligation, proof.coverage, proof.verdict, proof.uses, cut(proof), proof.consequence,
        proof.variant is Variant.CORRECTED, proof.added if said else (), proof.says_nothing,
        tuple(dict.fromkeys(text for premise in proof.premises for text in premise.assumed)),
    )  # fmt: skip


def cut(proof: ProofEvidence) -> tuple[Cut, ...]:
    """The variables that a box keeps from a part of their domain, with the part that is left."""
    if proof.verdict is not Verdict.CERTIFIED or proof.box is None:
        return ()
    return tuple(
        Cut(letter=name, low=low, high=high)
        for name, (low, high) in proof.box.items()
        if name not in proof.domain or not proof.domain[name].is_within(low, high)
    )


def marks(proofs: Iterable[ProofEvidence]) -> tuple[FalsePart, ...]:
    """What is false as printed, or does not follow, in a statement besides its conclusion, each kind once."""
    return marks_of(row_of(p) for p in proofs if p.variant is Variant.PRINTED)


_PARTS: Mapping[Coverage, str] = {
    Coverage.STEP: "a step of its proof",
    Coverage.CONDITION: "a condition",
    Coverage.REFERENCE: "a reference",
    Coverage.INSTANCE: "a special case",
}


def marks_of(rows: Iterable[FormulaRow]) -> tuple[FalsePart, ...]:
    """The same for rows."""
    found = {
        (row.verdict, Coverage.STEP if row.broken_step else row.coverage)
        for row in rows
        if row.verdict in BROKEN and not row.refutes
    }
    order = [(Verdict.REFUTED, coverage) for coverage in (*_PARTS, Coverage.UNIT)]
    order += [(Verdict.DOES_NOT_FOLLOW, coverage) for coverage in _PARTS]
    return tuple(FalsePart(verdict=v, coverage=c) for v, c in order if (v, c) in found)


def variant_rows(
    proofs: Sequence[ProofEvidence], variant: Variant, replaced: Iterable[str] = ()
) -> tuple[FormulaRow, ...]:
    """A statement's rows in one variant. The corrected one is the printed one except for what its correction replaces.

    `replaced` are printed formulas without a successor of the same name that the correction makes void.
    """
    mine = [p for p in proofs if p.variant is variant]
    if variant is Variant.CORRECTED:
        gone = {p.obligation for p in mine} | {name + tail for name in replaced for tail in ("", ": units")}
        mine += [p for p in proofs if p.variant is Variant.PRINTED and p.obligation not in gone]
    return tuple(map(row_of, mine))


def conclusions_of(rows: Iterable[FormulaRow]) -> list[FormulaRow]:
    """Those that give the conclusion: not by assuming it."""
    return [row for row in rows if row.coverage is Coverage.CONCLUSION and not row.says_nothing]


def needed(statement: str, rows: Sequence[FormulaRow]) -> list[FormulaRow]:
    """The conclusions, all conditions, and those of the statement's own formulas that these use."""
    by_name = {f"{statement}/{row.name}": row for row in rows}
    waiting = [*conclusions_of(rows), *(row for row in rows if row.coverage is Coverage.CONDITION)]
    found: dict[str, FormulaRow] = {}
    while waiting:
        row = waiting.pop(0)
        if row.name not in found:
            found[row.name] = row
            waiting += [by_name[name] for name in row.uses if name in by_name]
    return list(found.values())


def conclusion(statement: str, rows: Sequence[FormulaRow]) -> Verdict | None:
    """The weakest verdict of what the conclusion needs; None if no formula gives it.

    If something that the conclusions need is false or does not follow, they prove nothing.
    """
    conclusions = conclusions_of(rows)
    if not conclusions:
        return None
    if any(row.verdict is Verdict.DOES_NOT_FOLLOW for row in conclusions):
        return Verdict.DOES_NOT_FOLLOW
    verdict = overall([row.verdict for row in needed(statement, rows)])
    return Verdict.UNDECIDED if verdict in BROKEN else verdict


def only_the_proof_changes(
    statement: str, printed: Sequence[FormulaRow], corrected: Sequence[FormulaRow]
) -> bool:
    """Whether a correction leaves a statement as it is printed and gives it another proof.

    Its conclusions and conditions stand in both; what the printed proof needs and is not proved is a step only.
    """
    conclusions = conclusions_of(printed)
    kept = {row.name for row in corrected if not row.corrected}
    said = [*conclusions, *(row for row in printed if row.coverage is Coverage.CONDITION)]
    if not conclusions or not all(row.name in kept and row.verdict in HOLDS for row in said):
        return False
    gaps = [row for row in needed(statement, printed) if row.verdict not in HOLDS]
    return bool(gaps) and all(_is_of_the_proof_only(row) for row in gaps)


def _is_of_the_proof_only(row: FormulaRow) -> bool:
    if row.verdict is Verdict.REFUTED:
        return row.broken_step and row.consequence is Consequence.STEP
    return row.coverage is Coverage.STEP


def gravest(consequences: Iterable[Consequence | None]) -> Consequence | None:
    """The worst of them; None if none is known."""
    return min((c for c in consequences if c is not None), key=list(Consequence).index, default=None)
