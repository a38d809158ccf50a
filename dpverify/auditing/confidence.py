"""Confidence bounds that hold at every sample size.

Probabilities of events get exact binomial bounds (Clopper and Pearson 1934). Means of bounded variables get the
hedged-capital bound of Waudby-Smith and Ramdas (2024), Theorem 3, which is sharper in practice than Hoeffding's and
than the empirical Bernstein bound of Maurer and Pontil (2009).
Distribution functions get the band of Dvoretzky, Kiefer and Wolfowitz (1956) in Massart's form (1990), and with it the
Wasserstein distance of two laws on an interval gets both ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

from dpverify import checks
from dpverify.errors import InvalidDataError
from dpverify.ledger.records import Interval

Array = NDArray[np.float64]

_TRUNCATION = 0.75
"""Largest part of the capital put at stake in one bet; any constant below 1 gives a valid bound."""
_BISECTIONS = 60
WASSERSTEIN_CELLS = 4096
"""Cells of an interval on which two distribution functions are compared, besides those between numbers seen."""
_ALLOWANCE = 1e-9
"""For rounding, relative to the distance from 0 and from 1: hundreds of times the errors of SciPy's inverses."""


def clopper_pearson_lower(successes: ArrayLike, trials: ArrayLike, failure_probability: float) -> Array:
    """Lower confidence bound of a success probability, one-sided and exact.

    `successes` and `trials` are integers and broadcast; the shape of the result is theirs. The bound is above
    the true probability with at most `failure_probability`, for each entry on its own. It is rounded down.
    """
    k, n, level = _checked_counts(successes, trials, failure_probability)
    bound = betaincinv(np.maximum(k, 1), n - k + 1, level)
    bound = bound - _ALLOWANCE * np.minimum(bound, 1 - bound) - np.spacing(bound)
    return np.where(k == 0, 0.0, np.maximum(bound, 0.0))


def clopper_pearson_upper(successes: ArrayLike, trials: ArrayLike, failure_probability: float) -> Array:
    """Upper confidence bound of a success probability, rounded up; see `clopper_pearson_lower`."""
    k, n, level = _checked_counts(successes, trials, failure_probability)
    bound = betainccinv(k + 1, np.maximum(n - k, 1), level)
    bound = bound + _ALLOWANCE * np.minimum(bound, 1 - bound) + np.spacing(bound)
    return np.where(k == n, 1.0, np.minimum(bound, 1.0))


def _checked_counts(
    successes: ArrayLike, trials: ArrayLike, failure_probability: float
) -> tuple[Array, Array, float]:
    level = checks.probability("failure_probability", failure_probability)
    k_raw, n_raw = np.asarray(successes), np.asarray(trials)
    for name, counts in (("successes", k_raw), ("trials", n_raw)):
        checks.require(counts.dtype.kind in "iu", name, counts.dtype, "integers")
    k, n = np.broadcast_arrays(k_raw.astype(np.float64), n_raw.astype(np.float64))
    checks.require(np.all(n >= 1), "trials", trials, "at least 1")
    checks.require(np.all((k >= 0) & (k <= n)), "successes", successes, "between 0 and the number of trials")
    return k, n, level


def band_width(runs: int, level: float) -> float:
    """Half the width of the band around a distribution function."""
    return math.sqrt(math.log(2 / level) / (2 * runs))


def betting_interval(values: ArrayLike, lower: float, upper: float, failure_probability: float) -> Interval:
    """Two-sided confidence interval of a mean by betting (Waudby-Smith and Ramdas 2024, Theorem 3).

    `values` is (runs,), independent with one mean, each in [lower, upper]. Against a supposed mean m one
    bets, run after run, that values are larger; the capital is a nonnegative martingale if m is the mean, so
    it ever reaches 1/level with probability at most `level` (Ville). The bets follow the predictable plug-in
    for a known number of runs. The other end comes from the mirrored values; each side gets half of
    `failure_probability`.
    """
    x, span, level = check_values(values, lower, upper, failure_probability)
    below = _betting_lower(x, level / 2)
    above = 1.0 - _betting_lower(1.0 - x, level / 2)
    start = float(lower)
    return Interval(lower=start + span * max(below, 0.0), upper=start + span * min(above, 1.0))


def wasserstein_interval(
    values: ArrayLike,
    reference: Callable[[Any], Any],
    lower: float,
    upper: float,
    failure_probability: float,
    *,
    reference_error: float = 0.0,
) -> Interval:
    """Two-sided confidence interval of the Wasserstein distance W_1 between two laws on [lower, upper], in their unit.

    W_1 is the area between the distribution functions. That of the values, (runs,), independent, is within a band about
    the empirical one; between places of a grid that has all jumps, that of the other law is between its values there.
    So both ends hold at every sample size, for all laws on the interval, whatever the grid. `reference` is the other
    law's distribution function, vectorized, 0 before `lower` and 1 at `upper`, to within `reference_error`.
    """
    x, span, level = check_values(values, lower, upper, failure_probability)
    error = checks.number("reference_error", reference_error, at_least=0)
    jumps, counts = np.unique(x, return_counts=True)
    edges = np.union1d(jumps, np.linspace(0.0, 1.0, WASSERSTEIN_CELLS + 1))
    seen = np.concatenate([[0.0], np.cumsum(counts) / x.size])[
        np.searchsorted(jumps, edges[:-1], side="right")
    ]
    width = band_width(x.size, level)
    low, high = np.maximum(seen - width, 0.0), np.minimum(seen + width, 1.0)
    places = float(lower) + span * edges
    right = np.asarray(reference(places), dtype=np.float64)
    before = float(np.asarray(reference(np.array([np.nextafter(float(lower), -np.inf)])))[0])
    allowed = error + 1e-9
    if right.shape != places.shape or not (
        np.all(np.diff(right) >= -2 * allowed) and abs(before) <= allowed and abs(right[-1] - 1) <= allowed
    ):
        raise InvalidDataError(
            f"The reference is not a distribution function of a law on [{lower:g}, {upper:g}]; allowed: one that does "
            "not decrease, from 0 before the interval to 1 at its end."
        )
    least, most = (np.clip(np.maximum.accumulate(right)[:-1] - error, 0, 1), np.clip(right[1:] + error, 0, 1))
    lengths = np.diff(edges)
    nearest = np.maximum(np.maximum(low - most, least - high), 0.0)
    farthest = np.maximum(high - least, most - low)
    return Interval(
        lower=span * max(float(lengths @ nearest) - _ALLOWANCE, 0.0),
        upper=span * min(float(lengths @ farthest) + _ALLOWANCE, 1.0),
    )


def rules_out(values: ArrayLike, mean: float, lower: float, upper: float, level: float) -> bool:
    """Whether the bets of `betting_interval` rule out every mean up to `mean`, at `level` for this one side."""
    x, span, level = check_values(values, lower, upper, level)
    at = (mean - lower) / span
    if at < 0:
        return True
    return at < 1 and _betting(x, level)(max(at, 1e-300))


def _betting_lower(x: Array, level: float) -> float:
    """Lower bound of the mean of values in [0, 1]: the largest m against which the bets won."""
    return last_ruled_out(_betting(x, level), 1.0, _BISECTIONS)


def last_ruled_out(ruled_out: Callable[[float], bool], high: float, steps: int) -> float:
    """Lower end of a bisection: up to there means are ruled out, from 0 on; `high` is not."""
    low = 0.0
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if ruled_out(middle) else (low, middle)
    return low


def _betting(x: Array, level: float) -> Callable[[float], bool]:
    """Whether the bets against a supposed mean in (0, 1) won, for values in [0, 1]."""
    counts = np.arange(1, x.size + 1)
    means = (0.5 + np.cumsum(x)) / (counts + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (counts + 1)
    known = np.concatenate([[0.25], variances[:-1]])  # a bet uses earlier values only
    bets = np.sqrt(2 * math.log(1 / level) / (x.size * known))
    goal = math.log(1 / level)

    def wins(mean: float) -> bool:
        # Each factor falls as the supposed mean grows, so the means ruled out are an interval from 0.
        stakes = np.minimum(bets, _TRUNCATION / mean)
        return bool(np.cumsum(np.log1p(stakes * (x - mean))).max() >= goal)

    return wins


def check_values(
    values: ArrayLike, lower: float, upper: float, failure_probability: float
) -> tuple[Array, float, float]:
    """Values (runs,) moved to [0, 1], the length of the range, and the level, all of them checked."""
    level = checks.probability("failure_probability", failure_probability)
    start, end = checks.number("lower", lower), checks.number("upper", upper)
    checks.require(start < end, "upper", upper, f"above lower, which is {start:g}")
    try:
        raw = np.asarray(values)
    except ValueError as error:
        raise InvalidDataError("The values are not an array; allowed: shape (runs,).") from error
    if raw.dtype.kind not in "biuf":
        raise InvalidDataError(f"The values have type {raw.dtype}; allowed: real numbers.")
    if raw.ndim != 1 or raw.size == 0:
        raise InvalidDataError(f"The values have shape {raw.shape}; allowed: (runs,) with at least one run.")
    x = raw.astype(np.float64)
    if not np.all(np.isfinite(x)):
        raise InvalidDataError("The values contain NaN or infinity; allowed: finite numbers.")
    if not np.all((x >= start) & (x <= end)):
        raise InvalidDataError(
            f"The values range from {x.min():g} to {x.max():g}; allowed: within [{start:g}, {end:g}], "
            "the range that the confidence interval assumes."
        )
    span = end - start
    checks.require(math.isfinite(span), "upper", upper, "within a finite distance of lower")
    return np.clip((x - start) / span, 0.0, 1.0), span, level
