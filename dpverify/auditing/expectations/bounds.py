"""The question about expectations, and what its auditors have in common: each case is audited, the worst one shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import ArrayLike

from dpverify.auditing.contract import Origin, Question, recorded
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.means import MeanAudit, audit_mean, most_telling
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval

_FEW_SAMPLES = 20
"""Where no sample can break the bound."""


@dataclass(frozen=True)
class Bound:
    """A bound on one expectation."""

    bound: float
    """In units of the quantity; infinite (minus infinity from below) where none is stated: then it is a measurement."""
    claim: str
    data: str
    runs: int
    at_least: bool = False
    """True where the claim is that the expectation is at least the bound."""
    size: float = 0.0
    """Where it stands on the axis of a curve."""
    origin: Origin | None = None


@dataclass(frozen=True)
class BoundsQuestion(Question):
    """Is each of these expectations within its bound?"""

    bounds: tuple[Bound, ...]
    """One, or several along a curve; all must be kept."""
    over: str = ""
    """What the axis of the curve is; empty where there is none."""
    measured: bool = False
    """Whether the intervals are wanted for themselves, so that all runs are made even if no output breaks a bound."""


class Numbers(Protocol):
    """Something whose expectation is asked for: each number within [lower, upper] by proof, not by luck."""

    @property
    def quantity(self) -> str:
        """What the number is, with its unit."""

    @property
    def lower(self) -> float:
        """No number is below it."""

    @property
    def upper(self) -> float:
        """No number is above it."""

    @property
    def minimum(self) -> Interval | None:
        """Encloses what is to be subtracted; None: nothing."""

    @property
    def extreme(self) -> Interval | None:
        """Around the worst expectation that anything could have: exhibited, and certified; None: the range's end."""

    @property
    def runs_a_number(self) -> int:
        """How many runs one number takes."""

    def draw(self, count: int) -> ArrayLike:
        """Independent numbers from `count` runs."""


def worst_possible(subject: Numbers, *, at_least: bool = False) -> float:
    """The certified largest, with `at_least` smallest, value that the expectation could have for any output."""
    if subject.extreme is not None:
        return subject.extreme.lower if at_least else subject.extreme.upper
    least = subject.minimum or Interval(lower=0.0, upper=0.0)
    return subject.lower - least.upper if at_least else subject.upper - least.lower


Audited = tuple[MeanAudit, int]
"""What was found of one case, and how many runs it took."""


@dataclass(frozen=True)
class BoundsAnswer:
    """What was found of all cases, with the one that stands for them."""

    audit: MeanAudit
    fields: dict[str, Any]
    """Of the ledger entry."""


def all_at_once(subject: Numbers, bound: Bound, runs: int, level: float, *, to_the_end: bool) -> Audited:
    """One case, by the interval that all runs give."""
    audit = audit_mean(
        subject.draw(runs),
        bound=bound.bound,
        lower=subject.lower,
        upper=subject.upper,
        failure_probability=level,
        minimum=subject.minimum,
        at_least=bound.at_least,
        extreme=subject.extreme,
    )
    return audit, runs


def answer(
    question: BoundsQuestion,
    subjects: Sequence[Any],
    error: ErrorShare,
    audit_one: Callable[..., Audited] = all_at_once,
) -> BoundsAnswer:
    """Audit every case with an equal part of the share; their intervals hold all at once.

    `audit_one` audits one of them like `all_at_once`; `to_the_end` says that the interval is wanted for itself.

    Raises:
        InvalidArgumentError: unless there is one subject for each bound.
    """
    bounds = question.bounds
    if len(subjects) != len(bounds):
        raise InvalidArgumentError("subject", len(subjects), f"one for each of the {len(bounds)} bounds")
    parts = error.split(*(f"case {number}" for number in range(1, len(bounds) + 1)))
    runs = [
        bound.runs if question.measured else _runs(bound, subject)
        for bound, subject in zip(bounds, subjects, strict=True)
    ]
    cases = [
        audit_one(subject, bound, count, part.spend("the interval of one case"), to_the_end=question.measured)
        for bound, subject, part, count in zip(bounds, subjects, parts, runs, strict=True)
    ]
    audits = [audit for audit, _ in cases]
    shown = most_telling([audit.verdict for audit in audits])
    bound, audit = bounds[shown], audits[shown]
    curve = tuple(
        (bound.size, audit.measured.lower, audit.measured.upper, bound.bound)
        for bound, audit in zip(bounds, audits, strict=True)
        if question.over
    )
    return BoundsAnswer(
        audit,
        {
            **question.over_entry(),
            **recorded(bound.origin),
            "verdict": audit.verdict,
            "reason": audit.reason,
            "gap": audit.gap,
            "detects_nothing": audit.detects_nothing,
            "data": bound.data,
            "quantity": subjects[shown].quantity,
            "claim": bound.claim,
            "bound": audit.bound,
            "measured": audit.measured,
            "extreme": audit.extreme,
            "detectable": audit.detectable,
            "curve": curve,
            "curve_over": question.over,
            "curve_extremes": tuple(
                audit.extreme.lower if audit.at_least else audit.extreme.upper
                for audit in audits
                if question.over
            ),
            "runs": cases[shown][1],
            "failure_probability": error.failure_probability,
            "shares": error.spent(),
            "seed": question.label.seed,
        },
    )


def _runs(bound: Bound, subject: Numbers) -> int:
    """Few where it is certified that nothing can break the bound: more could change the plot, and not the verdict."""
    if subject.extreme is None or not math.isfinite(bound.bound) or subject.extreme.upper > bound.bound:
        return bound.runs
    samples = max(_FEW_SAMPLES, bound.runs // (20 * subject.runs_a_number))
    return min(bound.runs, samples * subject.runs_a_number)
