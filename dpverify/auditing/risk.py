"""Audits of expected risks against bounds, and of rates as exponents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from dpverify.auditing.arguments import check_failure_probability, check_number
from dpverify.auditing.confidence import betting_interval
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Interval, Verdict


@dataclass(frozen=True)
class MeanAudit:
    """What an audit of an expected (excess) risk found; all in units of the loss."""

    verdict: Verdict
    reason: str
    bound: float
    measured: Interval
    """Confidence interval of the expectation, the minimum's interval already subtracted."""
    sample_mean: float
    """Mean of the values as they came, without the minimum subtracted."""
    minimum: Interval
    margin: float
    """Bound minus the upper end of `measured`: positive where the bound is confirmed with confidence."""
    detectable: float
    """An expectation of this size, at the spread that was seen, would have been found half the time."""
    runs: int
    failure_probability: float


def audit_mean(
    values: ArrayLike,
    *,
    bound: float,
    lower: float,
    upper: float,
    failure_probability: float,
    minimum: Interval | None = None,
) -> MeanAudit:
    """Test the claim E[value] - minimum <= bound.

    `values` is (runs,), independent, each within [lower, upper], which has to hold for the mechanism and not
    only for these values. `minimum` is the interval around what is to be subtracted, for instance the
    certified minimum of the empirical risk; by default nothing is. `violated` is said if the lower end of the
    interval exceeds the bound, which happens to a correct claim with at most half of `failure_probability`,
    in [1e-15, 1) (the interval is two-sided).

    Raises `InvalidDataError` for values that are not finite or outside [lower, upper], and
    `InvalidArgumentError` for the other arguments.
    """
    bound = check_number("bound", bound)
    level = check_failure_probability("failure_probability", failure_probability)
    subtract = minimum if minimum is not None else Interval(lower=0.0, upper=0.0, rigorous=True)
    if not -math.inf < subtract.lower <= subtract.upper < math.inf:
        raise InvalidArgumentError("minimum", subtract, "an interval with finite ends in order")
    mean = betting_interval(values, lower, upper, level)
    x = np.asarray(values, dtype=np.float64)
    measured = Interval(lower=mean.lower - subtract.upper, upper=mean.upper - subtract.lower)
    sample_mean = float(x.mean())
    if measured.lower > bound:
        verdict = Verdict.VIOLATED
        reason = f"the expectation is at least {measured.lower:.6g}, and the claim allows {bound:.6g}"
    else:
        verdict = Verdict.SUPPORTED
        how = (
            "confirmed: the whole interval keeps"
            if measured.upper <= bound
            else "not contradicted: the interval meets"
        )
        reason = f"{how} the bound {bound:.6g}"
    return MeanAudit(
        verdict=verdict,
        reason=reason,
        bound=bound,
        measured=measured,
        sample_mean=sample_mean,
        minimum=subtract,
        margin=bound - measured.upper,
        # Its sample mean is above its expectation half the time, roughly; the lower end is this much below.
        detectable=bound + (sample_mean - mean.lower) + (subtract.upper - subtract.lower),
        runs=x.size,
        failure_probability=level,
    )


class RateRelation(StrEnum):
    """How a measured exponent must stand to the claimed one."""

    AT_MOST = "<="
    """For an upper bound on a risk: it must fall at least as fast."""
    EQUAL = "="


@dataclass(frozen=True)
class RateFit:
    """The exponent of a power law, as far as intervals determine it."""

    verdict: Verdict
    reason: str
    exponent: Interval
    """Contains the least-squares slope of ln(value) on ln(size) whenever every interval holds its value."""
    claimed: float
    relation: RateRelation
    points: tuple[tuple[float, float, float], ...]
    """(size, lower, upper)."""


def fit_rate(
    sizes: ArrayLike,
    intervals: Sequence[Interval],
    claimed: float,
    *,
    relation: RateRelation = RateRelation.AT_MOST,
) -> RateFit:
    """Compare the exponent of value = constant * size**exponent with a claimed one.

    The exponent is the least-squares slope of ln(value) on ln(size); over all values within `intervals` it
    takes its extremes at their ends, because it is linear in ln(value). It is as certain as the intervals are
    together: give each a share of the failure probability. A rate is about all sizes and this is about those
    given, so `violated` says that the values at these sizes do not follow the power law claimed.

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
    claimed = check_number("claimed", claimed)
    if not isinstance(relation, RateRelation):
        raise InvalidArgumentError("relation", relation, "RateRelation.AT_MOST or RateRelation.EQUAL")

    x = np.log(n.astype(np.float64))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    low = [math.log(i.lower) if i.lower > 0 else -math.inf for i in intervals]
    high = [math.log(i.upper) for i in intervals]
    smallest = sum(w * (a if w > 0 else b) for w, a, b in zip(weights, low, high, strict=True) if w != 0)
    largest = sum(w * (b if w > 0 else a) for w, a, b in zip(weights, low, high, strict=True) if w != 0)
    exponent = Interval(lower=float(smallest), upper=float(largest))

    too_large = exponent.lower > claimed
    too_small = relation is RateRelation.EQUAL and exponent.upper < claimed
    informative = math.isfinite(exponent.lower) or (
        relation is RateRelation.EQUAL and math.isfinite(exponent.upper)
    )
    found = f"[{exponent.lower:.4g}, {exponent.upper:.4g}]"
    said = f"the exponent is in {found}, and the claim is {relation} {claimed:.4g}"
    if too_large or too_small:
        verdict, reason = Verdict.VIOLATED, said
    elif not informative:
        verdict = Verdict.UNDECIDED
        reason = f"{said}; an interval reaches zero, so that no exponent could be ruled out"
    else:
        verdict, reason = Verdict.SUPPORTED, said
    points = tuple((float(size), i.lower, i.upper) for size, i in zip(n, intervals, strict=True))
    return RateFit(verdict, reason, exponent, claimed, relation, points)
