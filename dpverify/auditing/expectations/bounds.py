"""The question about expectations, and what its auditors have in common: each case is audited, the worst one shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import ArrayLike

from dpverify.auditing.contract import KindT, Origin, Question
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.means import MeanAudit, most_telling
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


def answer(
    kind: type[KindT],
    question: BoundsQuestion,
    subjects: Sequence[Any],
    error: ErrorShare,
    audit_one: Callable[..., Audited],
) -> KindT:
    """Audit every case with an equal part of the share; their intervals hold all at once, and one stands for all.

    `audit_one` takes a subject, a number of runs, what is asked of their mean, and whether the interval is wanted for
    itself. Raises `InvalidArgumentError` unless there is one subject for each bound.
    """
    bounds = question.bounds
    if len(subjects) != len(bounds):
        raise InvalidArgumentError("subject", len(subjects), f"one for each of the {len(bounds)} bounds")
    parts = error.split(*(f"case {number}" for number in range(1, len(bounds) + 1)))
    cases = []
    for bound, subject, part in zip(bounds, subjects, parts, strict=True):
        runs = bound.runs if question.measured else _runs(bound, subject)
        asked = {
            "bound": bound.bound,
            "lower": subject.lower,
            "upper": subject.upper,
            "failure_probability": part.spend("the interval of one case"),
            "minimum": subject.minimum,
            "at_least": bound.at_least,
            "extreme": subject.extreme,
        }
        cases.append(audit_one(subject, runs, asked, to_the_end=question.measured))
    audits = [audit for audit, _ in cases]
    shown = most_telling([audit.verdict for audit in audits])
    curve = list(zip(bounds, audits, strict=True)) if question.over else []
    return question.entry(
        kind,
        audits[shown],
        origin=bounds[shown].origin,
        data=bounds[shown].data,
        claim=bounds[shown].claim,
        quantity=subjects[shown].quantity,
        curve=tuple((b.size, a.measured.lower, a.measured.upper, b.bound) for b, a in curve),
        curve_over=question.over,
        curve_extremes=tuple(a.extreme.lower if a.at_least else a.extreme.upper for _, a in curve),
        runs=cases[shown][1],
        failure_probability=error.failure_probability,
        shares=error.spent(),
    )


def _runs(bound: Bound, subject: Numbers) -> int:
    """Few where it is certified that nothing can break the bound: more could change the plot, and not the verdict."""
    if subject.extreme is None or not math.isfinite(bound.bound) or subject.extreme.upper > bound.bound:
        return bound.runs
    samples = max(_FEW_SAMPLES, bound.runs // (20 * subject.runs_a_number))
    return min(bound.runs, samples * subject.runs_a_number)
