"""Rates: is the exponent of a measured quantity in a size the one that is claimed?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.contract import Origin, Question, Relation
from dpverify.auditing.error_share import ErrorShare
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import ExpectationEvidence, RateEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict

_TOLD_APART = 0.5
"""Exponents this far from a claimed one must be excluded before it is called supported."""


@dataclass(frozen=True)
class RateQuestion(Question):
    """Do the expectations along a curve grow, or fall, with this exponent at most?"""

    exponent: float
    """Of the claimed bound, constants and logarithms aside."""
    origin: Origin | None = None


@dataclass(frozen=True)
class RateAuditor:
    """Fits the exponent of expectations that were measured before: its subject is their evidence.

    It runs nothing and spends nothing, as it is wrong only where one of their intervals is.
    """

    spends: ClassVar[bool] = False

    def audit(self, question: RateQuestion, subject: ExpectationEvidence, error: ErrorShare) -> RateEvidence:
        """Fit and compare; raises `InvalidArgumentError` for a curve with fewer than two sizes."""
        fit = fit_rate(
            [size for size, *_ in subject.curve],
            [Interval(lower=low, upper=high) for _, low, high, _ in subject.curve],
            question.exponent,
            asymptotic=True,
        )
        return question.entry(
            RateEvidence,
            fit,
            over=subject.curve_over,
            exponent_claimed=fit.claimed,
            runs=subject.runs,
            failure_probability=subject.failure_probability,
            seed=subject.seed,
        )


@dataclass(frozen=True)
class RateFit:
    """The exponent of a power law, as far as intervals determine it."""

    verdict: Verdict
    reason: str
    exponent: Interval
    """Contains the least-squares slope of ln(value) on ln(size) whenever every interval holds its value."""
    claimed: float
    relation: Relation
    points: tuple[tuple[float, float, float], ...]
    """(size, lower, upper)."""
    gap: Gap | None = None
    """Where it is undecided: which of the known reasons it is."""


def fit_rate(
    sizes: ArrayLike,
    intervals: Sequence[Interval],
    claimed: float,
    *,
    relation: Relation = Relation.AT_MOST,
    asymptotic: bool = False,
) -> RateFit:
    """Compare the exponent of value = constant * size**exponent with a claimed one.

    The exponent is the least-squares slope of ln(value) on ln(size); over all values within `intervals` it
    takes its extremes at their ends, because it is linear in ln(value). It is as certain as the intervals are
    together: give each a share of the failure probability. A rate is about all sizes and this is about those
    given, so `violated` says that the values at these sizes do not follow the power law claimed; with `asymptotic`,
    for an O( ) that hides constants and logarithms, no finite set of sizes can do that, and it is `undecided`.
    `supported` is said only if the interval also excludes the exponents that are half a unit away on a wrong side.

    Raises `InvalidArgumentError` unless there are at least two different sizes, all positive, and one
    interval each with a positive upper end. A lower end that is not positive leaves the exponent unbounded on
    one side.
    """
    n = np.asarray(sizes)
    if (
        n.dtype.kind not in "iuf"
        or n.ndim != 1
        or not np.all((n > 0) & np.isfinite(n))
        or np.unique(n).size < 2
    ):
        raise InvalidArgumentError("sizes", sizes, "at least two different positive numbers, (k,)")
    if len(intervals) != n.size:
        raise InvalidArgumentError("intervals", len(intervals), f"one for each of the {n.size} sizes")
    for interval in intervals:
        if not (interval.lower <= interval.upper and 0 < interval.upper < math.inf):
            raise InvalidArgumentError(
                "intervals", interval, "ends in order, the upper one positive and finite"
            )
    claimed = checks.number("claimed", claimed)
    checks.of_kind("relation", relation, Relation, "Relation.AT_MOST or Relation.EQUAL")

    x = np.log(n.astype(np.float64))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    low = [math.log(i.lower) if i.lower > 0 else -math.inf for i in intervals]
    high = [math.log(i.upper) for i in intervals]
    smallest = sum(w * (a if w > 0 else b) for w, a, b in zip(weights, low, high, strict=True) if w != 0)
    largest = sum(w * (b if w > 0 else a) for w, a, b in zip(weights, low, high, strict=True) if w != 0)
    exponent = Interval(lower=float(smallest), upper=float(largest))

    too_large = exponent.lower > claimed
    too_small = relation is Relation.EQUAL and exponent.upper < claimed
    # with a lower end at minus infinity no exponent could have been called too large
    telling = exponent.upper < claimed + _TOLD_APART and (
        exponent.lower > (-math.inf if relation is Relation.AT_MOST else claimed - _TOLD_APART)
    )
    gap: Gap | None = None
    found = f"[{exponent.lower:.4g}, {exponent.upper:.4g}]"
    said = f"the exponent is in {found}, and the claim is {relation} {claimed:.4g}"
    if (too_large or too_small) and asymptotic:
        verdict, gap = Verdict.UNDECIDED, Gap.HIDDEN_CONSTANT
        reason = f"{said}. Constants and logarithms hidden by O( ) can cause that at these sizes."
    elif too_large or too_small:
        verdict, reason = Verdict.VIOLATED, said
    elif not telling:
        verdict, gap = Verdict.UNDECIDED, Gap.TOO_FEW_RUNS
        reason = f"{said}; the interval does not exclude exponents that are {_TOLD_APART:g} away"
    else:
        width = exponent.upper - exponent.lower
        verdict = Verdict.SUPPORTED
        reason = f"{said}; one above {claimed + width:.4g} would have been found"
        if math.isfinite(exponent.lower):
            reason += f", and the claim is at most {max(claimed - exponent.lower, 0):.3g} too large"
    points = tuple((float(size), i.lower, i.upper) for size, i in zip(n, intervals, strict=True))
    return RateFit(verdict, reason, exponent, claimed, relation, points, gap)
