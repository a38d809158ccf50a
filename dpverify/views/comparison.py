"""Two ledgers side by side: what was lost, what is newly violated, what else changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger, UnauditedClaim
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Record
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.ledger.verdicts import Verdict

Entry = ProofEvidence | AuditEvidence | TheoremEvidence | UnauditedClaim
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
    """A row, by its name, that is not the same in both ledgers: its verdicts there, `none` where it is missing."""

    change: Change
    row: str
    before: str
    after: str
    why: str = ""
    """What the new ledger says of it, or the old one where it is gone."""

    def line(self) -> str:
        """For a terminal."""
        why = f". {self.why}" if self.why else ""
        return f"{self.change}: {self.row}: {self.before}, now {self.after}{why}"


@dataclass(frozen=True)
class Comparison:
    """What changed from one ledger to another."""

    changed: tuple[ChangedRow, ...]
    """The worst changes first, then in the ledgers' order."""
    same: int
    """How many rows have the same verdict."""
    notes: tuple[str, ...]
    """What else differs that a reader should know: profile, seed, a failure probability."""
    exact: tuple[str, ...] | None = None
    """Where fields differ that two runs of one seed have in common, a line each; None if that was not asked."""

    @property
    def failed(self) -> tuple[ChangedRow, ...]:
        """Lost proofs and new violations."""
        return tuple(row for row in self.changed if row.change.fails)

    @property
    def fails(self) -> bool:
        """Whether a proof was lost, a claim is newly violated, or anything differs that was asked to be the same."""
        return bool(self.failed) or (self.exact is not None and bool(self.changed or self.exact))

    def summary(self) -> str:
        """In one line."""
        counts = Counter(row.change for row in self.changed)
        more = (Change.NEW_VIOLATION, Change.LOST_PROOF)
        said = [
            f"{counts[change]} {change}{'s' if change in more and counts[change] > 1 else ''}"
            for change in Change
            if counts[change]
        ]
        told = "" if self.exact is None else f"; differences in other fields: {len(self.exact)}"
        return f"{', '.join(said) or 'nothing changed'}; rows with the same verdict: {self.same}{told}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        rows = [{**asdict(row), "change": str(row.change)} for row in self.changed]
        notes = list(self.notes)
        return {
            "schema_version": 1,
            "failed": self.fails,
            "same": self.same,
            "rows": rows,
            "notes": notes,
            "exact": None if self.exact is None else list(self.exact),
        }


def compare_ledgers(old: Ledger, new: Ledger, *, exact: bool = False) -> Comparison:
    """Compare rows by their names: formulas by statement, obligation and variant; audits by kind, subject and title.

    With `exact`, all other fields as well, but for times, versions, and what a store gave.
    """
    before, after = (
        {
            **_named(one.entries),
            **{f"{row.kind} {row.id}": row for row in one.theorems},
            **{f"claim {claim.called}": claim for claim in one.not_audited},
        }
        for one in (old, new)
    )
    names, both = dict.fromkeys([*before, *after]), before.keys() & after.keys()
    changed = [row for name in names if (row := _changed(name, before.get(name), after.get(name)))]
    changed.sort(key=lambda row: list(Change).index(row.change))
    differences = None
    if exact:
        whole = _fields_that_differ("the ledger", old, new, but=_SPENT | _ROWS)
        rows = (
            _fields_that_differ(name, before[name], after[name], but=_SPENT) for name in names if name in both
        )
        differences = (*whole, *(line for row in rows for line in row))
    return Comparison(tuple(changed), len(names) - len(changed), tuple(_notes(old, new)), differences)


_SPENT = frozenset({"seconds", "created", "program_version", "versions", "command", "reuse"})
"""Fields in which two runs of one seed may differ."""
_ROWS = frozenset({"entries", "theorems", "not_audited"})


def _fields_that_differ(name: str, old: Record, new: Record, *, but: frozenset[str]) -> Iterable[str]:
    before, after = (one.model_dump(mode="json", exclude=set(but)) for one in (old, new))
    fields = [key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)]
    if fields:
        yield f"{name}: not the same: {', '.join(fields)}"


def _named(entries: Iterable[ProofEvidence | AuditEvidence]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    seen: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry, ProofEvidence):
            name = f"{entry.statement}/{entry.obligation} ({entry.variant})"
        else:
            name = f"{entry.kind}: {' | '.join(part for part in (entry.subject, entry.title) if part)}"
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} (number {seen[name]})"] = entry
    return found


def _changed(name: str, old: Entry | None, new: Entry | None) -> ChangedRow | None:
    """What became of one row; None if nothing."""
    before, after = _verdict(old), _verdict(new)
    if before == after:
        says = _another(old, new)
        return ChangedRow(Change.OTHER, name, before, after, f"It is about {says}") if says else None
    change, last = _what_became(old, new), new or old
    if isinstance(last, UnauditedClaim):
        return ChangedRow(change, name, before, after, last.error)
    return ChangedRow(change, name, before, after, last.reason if last and change is not Change.NEW else "")


def _what_became(old: Entry | None, new: Entry | None) -> Change:
    """Of a row with another verdict."""
    was, now = (
        None if entry is None or isinstance(entry, UnauditedClaim) else entry.verdict for entry in (old, new)
    )
    if now is Verdict.VIOLATED and was is not Verdict.VIOLATED:
        return Change.NEW_VIOLATION
    if old is None:
        return Change.NEW
    if was in _DECIDED and not _as_good(old, new):
        return Change.LOST_PROOF
    if was is Verdict.SUPPORTED and now in (None, Verdict.UNDECIDED):
        return Change.LOST_SUPPORT
    return Change.GAINED if now in _DECIDED | {Verdict.SUPPORTED} else Change.OTHER


def _as_good(old: Entry, new: Entry | None) -> bool:
    """Whether what was decided still is: the same way or better, and confirmed if it was."""
    if new is None or isinstance(old, UnauditedClaim) or isinstance(new, UnauditedClaim):
        return False
    better = {(Verdict.CERTIFIED, Verdict.PROVED), (Verdict.DOES_NOT_FOLLOW, Verdict.REFUTED)}
    better |= {(Verdict.DOES_NOT_FOLLOW, verdict) for verdict in (Verdict.PROVED, Verdict.CERTIFIED)}
    if new.verdict != old.verdict and (old.verdict, new.verdict) not in better:
        return False
    return not (_confirmed(old) and not _confirmed(new))


_OF_PROOFS = {
    "expression": "another formula",
    "domain": "another domain",
    "assuming": "other assumptions",
    "premises": "other premises",
    "box": "another box",
    "coverage": "another coverage",
}
_OF_AUDITS = {"claim": "another claim", "adjacency": "another adjacency"}


def _another(old: Entry | None, new: Entry | None) -> str:
    """What a row with the same name and verdict is about, where that is something else; empty if it is the same."""
    told = _OF_PROOFS if isinstance(old, ProofEvidence) and isinstance(new, ProofEvidence) else _OF_AUDITS
    return " and ".join(
        word for name, word in told.items() if getattr(old, name, None) != getattr(new, name, None)
    )


def _confirmed(entry: Entry) -> bool:
    return isinstance(entry, ProofEvidence | TheoremEvidence) and entry.confirmed_by_checker


def _verdict(entry: Entry | None) -> str:
    if entry is None or isinstance(entry, UnauditedClaim):
        return "none" if entry is None else "not audited"
    doubtful = isinstance(entry, ProofEvidence) and entry.verdict in _DECIDED and not _confirmed(entry)
    return str(entry.verdict) + (" (not confirmed)" if doubtful else "")


def _notes(old: Ledger, new: Ledger) -> Iterable[str]:
    for what, before, after in (
        ("program version", old.program_version, new.program_version),
        ("profile", old.profile, new.profile),
        ("seed", old.seed, new.seed),
        ("failure probability", old.budget.failure_probability, new.budget.failure_probability),
    ):
        if before != after:
            yield f"{what}: {before}, now {after}"
