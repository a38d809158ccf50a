"""Two ledgers side by side: what was lost, what is newly violated, what else changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Verdict

_DECIDED = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.REFUTED, Verdict.DOES_NOT_FOLLOW}


class Change(StrEnum):
    """What became of a row, worst first."""

    NEW_VIOLATION = "new violation"
    LOST_PROOF = "lost proof"
    """A formula that was proved, certified, refuted or not following is so no longer, or less: proved became certified,
    or the checker no longer confirms it."""
    LOST_SUPPORT = "lost support"
    """An audit that supported its claim decides nothing, or is not there."""
    OTHER = "changed"
    GAINED = "gained"
    NEW = "new"

    @property
    def fails(self) -> bool:
        """Whether a comparison with such a row fails."""
        return self in (Change.NEW_VIOLATION, Change.LOST_PROOF)


@dataclass(frozen=True)
class ChangedRow:
    """A row of one ledger or of both that is not the same in both.

    Attributes:
        change: what became of it.
        row: its name.
        before: verdict in the old ledger, `none` where it is not there.
        after: in the new one.
        why: what the new ledger says of it, or the old one where it is gone.
    """

    change: Change
    row: str
    before: str
    after: str
    why: str = ""

    def line(self) -> str:
        """For a terminal."""
        return f"{self.change}: {self.row}: {self.before}, now {self.after}" + (
            f". {self.why}" if self.why else ""
        )


@dataclass(frozen=True)
class Comparison:
    """What changed from one ledger to another.

    Attributes:
        changed: rows, the worst changes first, then in the ledgers' order.
        same: how many rows have the same verdict.
        notes: what else differs that a reader should know: profile, seed, a failure probability.
    """

    changed: tuple[ChangedRow, ...]
    same: int
    notes: tuple[str, ...]

    @property
    def failed(self) -> tuple[ChangedRow, ...]:
        """Lost proofs and new violations."""
        return tuple(row for row in self.changed if row.change.fails)

    def summary(self) -> str:
        """In one line."""
        counts = Counter(row.change for row in self.changed)
        more = (Change.NEW_VIOLATION, Change.LOST_PROOF)
        said = [
            f"{counts[change]} {change}{'s' if change in more and counts[change] > 1 else ''}"
            for change in Change
            if counts[change]
        ]
        return f"{', '.join(said) or 'nothing changed'}; rows with the same verdict: {self.same}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        rows = [
            {"change": str(r.change), "row": r.row, "before": r.before, "after": r.after, "why": r.why}
            for r in self.changed
        ]
        return {"schema_version": 1, "failed": bool(self.failed), "same": self.same, "rows": rows,
                "notes": list(self.notes)}  # fmt: skip


def compare_ledgers(old: Ledger, new: Ledger) -> Comparison:
    """Compare rows by their names: formulas by statement, obligation and variant; audits by kind, subject and title."""
    before, after = _named(old.entries), _named(new.entries)
    changed, same = [], 0
    for name in dict.fromkeys([*before, *after]):
        row = _changed(name, before.get(name), after.get(name))
        if row is None:
            same += 1
        else:
            changed.append(row)
    order = list(Change)
    changed.sort(key=lambda row: order.index(row.change))
    return Comparison(tuple(changed), same, tuple(_notes(old, new)))


def _named(entries: Iterable[ProofEvidence | AuditEvidence]) -> dict[str, ProofEvidence | AuditEvidence]:
    found: dict[str, ProofEvidence | AuditEvidence] = {}
    seen: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry, ProofEvidence):
            name = f"{entry.statement}/{entry.obligation} ({entry.variant})"
        else:
            name = f"{entry.kind}: {' | '.join(part for part in (entry.subject, entry.title) if part)}"
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} (number {seen[name]})"] = entry
    return found


def _changed(
    name: str, old: ProofEvidence | AuditEvidence | None, new: ProofEvidence | AuditEvidence | None
) -> ChangedRow | None:
    """What became of one row; None if nothing."""
    before, after = _verdict(old), _verdict(new)
    if before == after:
        says = _another(old, new)
        return ChangedRow(Change.OTHER, name, before, after, f"It is about {says}") if says else None
    shown = new if new is not None else old
    why = shown.reason if shown is not None else ""
    if (
        new is not None
        and new.verdict is Verdict.VIOLATED
        and (old is None or old.verdict is not Verdict.VIOLATED)
    ):
        return ChangedRow(Change.NEW_VIOLATION, name, before, after, why)
    if old is None:
        return ChangedRow(Change.NEW, name, before, after)
    if old.verdict in _DECIDED and not _as_good(old, new):
        return ChangedRow(Change.LOST_PROOF, name, before, after, why)
    if old.verdict is Verdict.SUPPORTED and (new is None or new.verdict is Verdict.UNDECIDED):
        return ChangedRow(Change.LOST_SUPPORT, name, before, after, why)
    better = new is not None and new.verdict in _DECIDED | {Verdict.SUPPORTED}
    return ChangedRow(Change.GAINED if better else Change.OTHER, name, before, after, why)


def _as_good(old: ProofEvidence | AuditEvidence, new: ProofEvidence | AuditEvidence | None) -> bool:
    """Whether what was decided still is: the same way or better, and confirmed if it was."""
    if new is None:
        return False
    better = {(Verdict.CERTIFIED, Verdict.PROVED), (Verdict.DOES_NOT_FOLLOW, Verdict.REFUTED)}
    better |= {(Verdict.DOES_NOT_FOLLOW, verdict) for verdict in (Verdict.PROVED, Verdict.CERTIFIED)}
    if new.verdict != old.verdict and (old.verdict, new.verdict) not in better:
        return False
    return not (_confirmed(old) and not _confirmed(new))


def _another(old: ProofEvidence | AuditEvidence | None, new: ProofEvidence | AuditEvidence | None) -> str:
    """What a row with the same name and verdict is about, where that is something else; empty if it is the same."""
    if isinstance(old, ProofEvidence) and isinstance(new, ProofEvidence):
        told: tuple[str, ...] = ("expression", "domain", "assuming", "box", "coverage")
        words: tuple[str, ...] = (
            "another formula", "another domain", "other assumptions", "another box", "another coverage",
        )  # fmt: skip
    else:
        told, words = ("claim", "adjacency"), ("another claim", "another adjacency")
    return " and ".join(
        word
        for name, word in zip(told, words, strict=True)
        if getattr(old, name, None) != getattr(new, name, None)
    )


def _confirmed(entry: ProofEvidence | AuditEvidence) -> bool:
    return isinstance(entry, ProofEvidence) and entry.confirmed_by_checker


def _verdict(entry: ProofEvidence | AuditEvidence | None) -> str:
    if entry is None:
        return "none"
    unconfirmed = (
        isinstance(entry, ProofEvidence) and entry.verdict in _DECIDED and not entry.confirmed_by_checker
    )
    return str(entry.verdict) + (" (not confirmed)" if unconfirmed else "")


def _notes(old: Ledger, new: Ledger) -> Iterable[str]:
    for what, before, after in (
        ("program version", old.program_version, new.program_version),
        ("profile", old.profile, new.profile),
        ("seed", old.seed, new.seed),
        ("failure probability", old.budget.failure_probability, new.budget.failure_probability),
    ):
        if before != after:
            yield f"{what}: {before}, now {after}"
