"""The sandwich: for each algorithm what is claimed, proved, true and seen of its privacy, from the ledger alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.views import number_text


@dataclass(frozen=True)
class SandwichRow:
    """One algorithm on the pair of data sets on which most of what is proved was seen; epsilons in nats."""

    subject: str
    title: str
    audit: PrivacyEvidence | None
    """The audit on that pair; None if there is none."""
    audits: int
    """Privacy audits of the algorithm."""
    others: tuple[str, ...]
    """Kinds of its other audits."""

    @property
    def ratio(self) -> float | None:
        """The part of what is proved that was seen."""
        return None if self.audit is None else _seen(self.audit)

    @property
    def reach(self) -> float | None:
        """The part of what is proved that the pair's true epsilon is at most; None where that is not known.

        No audit of this pair can see more: the rest is lost in the pair, or in the proof.
        """
        exact = None if self.audit is None else self.audit.epsilon_exact
        proved = None if self.audit is None else _proved(self.audit)
        return None if exact is None or proved is None else exact.upper / proved


@dataclass(frozen=True)
class Sandwich:
    """The table, and the audits that saw nothing."""

    rows: tuple[SandwichRow, ...]
    audits: int
    """Privacy audits in all."""
    zeros: tuple[tuple[PrivacyEvidence, str], ...]
    """Those whose lower bound is 0, and why."""

    def summary(self) -> str:
        """How many there are, in one sentence."""
        audited = sum(row.audit is not None for row in self.rows)
        noun = "algorithm is" if len(self.rows) == 1 else "algorithms are"
        audits = f"{self.audits} audit{'' if self.audits == 1 else 's'}"
        have = "has" if len(self.zeros) == 1 else "have"
        text = (
            f"{audited} of {len(self.rows)} {noun} audited for privacy, in {audits}; "
            f"{len(self.zeros)} of these {have} a lower bound of 0"
        )
        ratios = [row.ratio for row in self.rows if row.ratio is not None]
        if not ratios:
            return text
        half, most = (sum(ratio >= part for ratio in ratios) for part in (0.5, 0.9))
        without = audited - len(ratios)
        unproved = (
            f"; {without} of them {'has' if without == 1 else 'have'} no finite proved epsilon"
            if without
            else ""
        )
        known = [row.audit for row in self.rows if row.audit is not None and row.audit.white_box]
        laws = sum(audit.stated_law for audit in known)
        rests = (
            f"; of the rows, {laws} rest on a stated law of the outputs and {len(known) - laws} on stated steps"
            if known
            else ""
        )
        less = ", ".join(_allowed(row) for row in self.rows if row.ratio is not None and row.ratio < 0.5)
        return (
            f"{text}; at least half of what is proved is seen for {half} of the {audited} audited, "
            f"nine tenths for {most}{unproved}{rests}{'; less than half of ' if less else ''}{less}"
        )


def _allowed(row: SandwichRow) -> str:
    """An algorithm, and how much of what is proved its pair allows at most, where that is known."""
    if row.reach is None:
        return row.subject
    return f"{row.subject}, whose pair allows at most {number_text.at_most(row.reach, 3)} of it"


def sandwich(ledger: Ledger) -> Sandwich:
    """A row for each implemented algorithm, and for each other subject of a privacy audit, in the ledger's order."""
    audits: dict[str, list[PrivacyEvidence]] = {}
    others: dict[str, list[str]] = {}
    for entry in ledger.entries:
        if isinstance(entry, PrivacyEvidence):
            audits.setdefault(entry.subject, []).append(entry)
        elif isinstance(entry, AuditEvidence):
            others.setdefault(entry.subject, []).append(entry.kind)
    titles = {row.id: row.title for row in ledger.statements if row.kind == "algorithm" and row.algorithm}
    audited = {*audits, *others}
    names = [name for name in titles if name in audited] + [name for name in audits if name not in titles]
    every = [audit for found in audits.values() for audit in found]
    rows = []
    for name in names:
        of, kinds = audits.get(name, []), tuple(dict.fromkeys(others.get(name, ())))
        most = max(of, key=_seen_most, default=None)
        rows.append(SandwichRow(name, titles.get(name, ""), most, len(of), kinds))
    zeros = ((audit, why_zero(audit)) for audit in every if audit.epsilon_lower == 0)
    return Sandwich(tuple(rows), len(every), tuple(zeros))


def _proved(audit: PrivacyEvidence) -> float | None:
    proved = audit.epsilon_proved
    return proved if proved is not None and math.isfinite(proved) and proved > 0 else None


def _seen(audit: PrivacyEvidence) -> float | None:
    proved = _proved(audit)
    return None if proved is None else audit.epsilon_lower / proved


def _seen_most(audit: PrivacyEvidence) -> tuple[float, float]:
    ratio = _seen(audit)
    return (-1.0 if ratio is None else ratio), audit.epsilon_lower


def why_zero(audit: PrivacyEvidence) -> str:
    """Why an audit has no lower bound: what so many runs can show, beside what is proved of every event."""
    if audit.white_box:
        return audit.reason
    least = _least_difference(audit.runs, audit.failure_probability)
    text = (
        f"{number_text.count(audit.runs)} runs on each data set show no difference in an event's probability below "
        f"{number_text.nearest(least, 2)}"
    )
    at_zero = [point for point in audit.profile if point.epsilon == 0]
    bounds = [b for point in at_zero for b in (point.delta_upper, point.delta_claimed) if b is not None]
    if bounds:
        what = "the claim" if audit.epsilon_proved is None else "what is proved"
        text += f"; {what} allows up to {number_text.nearest(min(bounds), 2)}, on the worst pair"
    return f"{text}; {audit.reason}" if audit.reason else text


@cache
def _least_difference(runs: int, failure_probability: float) -> float:
    """The smallest frequency at which an event that never occurs on one side is seen to be likelier on the other.

    No test of an event shows a smaller difference from so many runs.
    """
    never = clopper_pearson_upper(0, runs, failure_probability / 2)
    low, high = 0, runs
    while high - low > 1:
        middle = (low + high) // 2
        if clopper_pearson_lower(middle, runs, failure_probability / 2) > never:
            high = middle
        else:
            low = middle
    return high / runs


COLUMNS = (
    "algorithm", "δ", "claimed ε", "proved ε", "exact ε", "audited ε", "audited / proved", "exact / proved",
    "audits", "claimed if", "pair",
)  # fmt: skip


def cells(rows: Iterable[SandwichRow]) -> tuple[tuple[str, ...], ...]:
    """The rows as text, rounded to the safe side."""
    return tuple(map(_cells, rows))


def _cells(row: SandwichRow) -> tuple[str, ...]:
    audit = row.audit
    audits = str(row.audits) if row.audits else f"none; {', '.join(row.others)}"
    if audit is None:
        return (row.subject, *[""] * 7, audits, "", "")
    exact = audit.epsilon_exact
    return (
        row.subject,
        number_text.nearest(audit.delta),
        _shown(audit.epsilon_claimed),
        _shown(audit.epsilon_proved),
        "" if exact is None else number_text.span(exact.lower, exact.upper),
        number_text.at_least(audit.epsilon_lower, 3),
        "" if row.ratio is None else number_text.at_least(row.ratio, 2),
        "" if row.reach is None else f"at most {number_text.at_most(row.reach, 3)}",
        audits,
        "; ".join(audit.conditions),
        audit.title,
    )


def as_json(found: Sandwich) -> dict[str, Any]:
    """The same in numbers; an epsilon that is infinite, or not known, is null."""
    zeros = [{"subject": audit.subject, "audit": audit.title, "why": why} for audit, why in found.zeros]
    return {
        "schema_version": 1,
        "rows": list(map(_row_as_json, found.rows)),
        "audits": found.audits,
        "without_a_lower_bound": zeros,
    }


def _row_as_json(row: SandwichRow) -> dict[str, Any]:
    audit, exact = row.audit, row.audit and row.audit.epsilon_exact
    return {
        "subject": row.subject,
        "title": row.title,
        "audit": audit and audit.title,
        "delta": audit and audit.delta,
        "claim": audit and audit.claim,
        "conditions": list(audit.conditions) if audit else [],
        "epsilon_claimed": audit and _finite(audit.epsilon_claimed),
        "epsilon_proved": audit and _finite(audit.epsilon_proved),
        "epsilon_exact": exact and [exact.lower, exact.upper],
        "epsilon_audited": audit and audit.epsilon_lower,
        "ratio": row.ratio,
        "most_possible_ratio": row.reach,
        "audits": row.audits,
        "other_audits": list(row.others),
    }


def _finite(epsilon: float | None) -> float | None:
    return epsilon if epsilon is not None and math.isfinite(epsilon) else None


def _shown(epsilon: float | None) -> str:
    if epsilon is None:
        return ""
    return number_text.at_most(epsilon) if math.isfinite(epsilon) else "any"
