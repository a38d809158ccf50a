"""One exact test of P(E) <= exp(epsilon) Q(E) + delta, instead of a bound for each of the two probabilities.

Run i on one data set and run i on the other are taken as a pair; pairs are independent and alike, while the two runs of
a pair may depend on one another in any way, as they do if both sides ran with one seed. A pair falls into one of four
cells: in the event on both sides, on the one side only, on the other only, on neither. Two steps of the audit's own
randomness bring the claim into a form that has an exact test whatever else is unknown:

- delta: each pair outside of the event on the other side is put into it, with probability delta / (e^eps - 1 + delta).
  If P(E) <= e^eps Q(E) + delta then P(E) <= e^eps Q'(E): at the largest Q(E) for which the claim says anything,
  (1 - delta) / e^eps, the probability added is delta / e^eps, and it is larger below. Where Q(E) is known to be at most
  q, delta / (e^eps (1 - q)) is enough, up to a quarter less at moderate epsilons. More added only makes the p-value
  larger, run by run, so q may be an upper confidence bound from the same pairs, at a share of the level.
- pairs on both sides: each is counted as being on the one side only with probability 1 / (1 + e^eps), else as being on
  the other only. The difference P(E) - e^eps Q'(E) stays what it was.

Now the cells "one side only" and "other side only" have probabilities a and b with a <= e^eps b, so that given their
total m the first is at most Binomial(m, e^eps / (1 + e^eps)): the sign test. Its level is exact at every sample size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik, betainc, expit

Array = NDArray[np.float64]

_ALLOWANCE = 1e-9
"""For rounding, relative to a p-value: a hundred times the errors of SciPy's function."""
_LARGEST = 700.0
"""Epsilons are cut off here, where exp still is a float; no number of runs rejects such a one."""


@dataclass(frozen=True)
class PairCounts:
    """How many pairs have the event where; its probability P is that of the first side, Q that of the second."""

    both: int
    first: int
    """On the first side only."""
    second: int
    """On the second side only."""
    neither: int

    @classmethod
    def of(cls, on_first: NDArray[np.bool_], on_second: NDArray[np.bool_]) -> PairCounts:
        """Count pairs, from where the event is on each side, (pairs,) each."""
        both = int(np.count_nonzero(on_first & on_second))
        first, second = (int(np.count_nonzero(side)) - both for side in (on_first, on_second))
        return cls(both, first, second, on_first.size - both - first - second)

    def swapped(self) -> PairCounts:
        """The same event with the sides exchanged."""
        return PairCounts(self.both, self.second, self.first, self.neither)

    def complement(self) -> PairCounts:
        """The complement of the event."""
        return PairCounts(self.neither, self.second, self.first, self.both)


def p_values(
    counts: PairCounts,
    epsilons: ArrayLike,
    deltas: ArrayLike,
    uniforms: Sequence[ArrayLike],
    *,
    at_most: ArrayLike = 1.0,
) -> Array:
    """P-value of P(E) <= exp(epsilon) Q(E) + delta, for epsilons >= 0 and deltas in [0, 1); all broadcast, counts too.

    `uniforms` are three numbers from (0, 1), drawn by the audit and by nothing that the outputs depend on. For each
    epsilon and delta the p-value is at most u with probability at most u, if the claim is true and Q(E) is no more than
    `at_most`. It is rounded up, and falls with `at_most`.
    """
    cells = (counts.both, counts.first, counts.second, counts.neither)
    arrays = np.broadcast_arrays(*cells, *uniforms, epsilons, deltas, at_most)
    both, first, second, neither, u_moved, u_filled, u_kept, eps, delta, most = (
        a.astype(np.float64) for a in arrays
    )
    eps = np.minimum(eps, _LARGEST)
    added = _added(eps, delta, most)
    moved = _binomial(u_moved, first, added)
    filled = _binomial(u_filled, neither, added)
    both = both + moved
    kept = _binomial(u_kept, both, expit(-eps))
    more = first - moved + kept
    less = second + filled + both - kept
    # P(Binomial(more + less, share) >= more)
    values = betainc(np.maximum(more, 1.0), less + 1.0, expit(eps)) * (1 + _ALLOWANCE)
    return np.where(more > 0, np.minimum(values, 1.0), 1.0)


def typical_bound(
    more: Array, less: Array, pairs: int, delta: float, log_level: float, at_most: ArrayLike = 1.0
) -> Array:
    """About the epsilon up to which an event of these probabilities is rejected at `delta`, for choosing events.

    `more` and `less` have one shape. The sides are taken as independent, the counts as their expectations, and the
    binomial tail as what its large-deviation rate gives at `log_level`; 0 where nothing is rejected.
    """
    low = np.zeros(more.shape)
    high = np.log(np.maximum(more - delta, 1e-300) / np.maximum(less, 1e-300)).clip(0.0, 40.0)
    for _ in range(18):
        middle = (low + high) / 2
        found = typical_rate(more, less, pairs, middle, delta, at_most) >= log_level
        low, high = np.where(found, middle, low), np.where(found, high, middle)
    return low


def typical_rate(
    more: Array, less: Array, pairs: int, epsilon: ArrayLike, delta: ArrayLike, at_most: ArrayLike = 1.0
) -> Array:
    """About how strongly an event speaks against a claim: minus the logarithm of a tail, 0 if it does not at all."""
    eps = np.minimum(np.asarray(epsilon, dtype=np.float64), _LARGEST)
    most = np.asarray(at_most, dtype=np.float64)
    other = less + (1 - less) * _added(eps, np.asarray(delta, dtype=np.float64), most)
    share, both = expit(eps), more * other
    first = pairs * (more - both * share)
    second = pairs * (other - both * (1 - share))
    total = first + second
    seen = first / np.maximum(total, 1e-300)
    with np.errstate(all="ignore"):
        divergence = first * np.log(seen / share) + second * np.nan_to_num(np.log((1 - seen) / (1 - share)))
    return np.where((seen > share) & (total > 0), divergence, 0.0)


def _added(eps: Array, delta: Array, at_most: Array) -> Array:
    """The least x with e^eps (q + (1 - q) x) >= e^eps q + delta for all q up to `at_most` that are of any interest."""
    room = np.maximum(np.expm1(eps) + delta, np.exp(eps) * (1 - at_most))
    return np.where(delta > 0, delta / np.where(room > 0, room, 1.0), 0.0)


def _binomial(uniform: Array | float, trials: Array, probability: Array) -> Array:
    """The quantiles of binomial distributions at uniform numbers: at one number, they move together."""
    uniform, trials, probability = np.broadcast_arrays(uniform, trials, probability)
    some = (trials > 0) & (probability > 0)
    inside = some & (probability < 1)
    found = np.where(some, trials, 0.0).astype(np.float64)
    # SciPy's function takes long, and nothing is moved where delta is 0
    u, of, at = (a[inside].astype(np.float64) for a in (uniform, trials, probability))
    drawn = np.ceil(np.maximum(bdtrik(u, of, at), 0.0))
    none = u <= np.exp(of * np.log1p(-at))
    found[inside] = np.where(none, 0.0, np.minimum(drawn, of))
    return found
