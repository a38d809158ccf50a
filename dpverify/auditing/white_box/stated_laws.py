"""Lower bounds of a profile where the law of a number that is read off the outputs is stated on both data sets.

Reading off a number is post-processing, and so is asking in which of some cells it lies. So for every set E of cells
delta(epsilon) >= P(E) - e^epsilon Q(E), and the sets that matter are those of the cells whose ratio P / Q is largest.
Probabilities of cells are differences of a distribution function, so those of E are as far off as the function is at
the ends of its intervals. Nothing is estimated from runs: no choice among the sets costs anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError

_ROUNDING = 2.0**-42
"""Of a distribution function in floats, and of sums of some thousand of its differences; relative."""


@dataclass(frozen=True, eq=False)
class StatedLaw:
    """The law of one number of an output.

    Attributes:
        statistic: from outputs (runs, d) to numbers (runs,).
        distribution: from numbers x, (k,), to P[number <= x], (k,).
        cuts: places at which an event may begin and end, (k,); good ones show more. None is where a number has a
            probability of its own: outputs are rounded, and which side of the cut it is on would not be known.
        error: at most how far the distribution function is from the true one, absolutely. What floats lose is relative
            to its values, so that rare outputs are best put at the left end.
        relative: on top of that, by which part the probabilities of events between cuts may be off.

    Raises:
        InvalidArgumentError: for anything else.
    """

    statistic: Callable[[Any], Any]
    distribution: Callable[[FloatArray], Any]
    cuts: ArrayLike
    error: float = 0.0
    relative: float = 0.0

    def __post_init__(self) -> None:
        for name in ("statistic", "distribution"):
            if not callable(getattr(self, name)):
                raise InvalidArgumentError(name, getattr(self, name), "a function")
        cuts = checks.numbers("cuts", self.cuts, allowed="finite numbers, shape (k,)")
        checks.require(cuts.ndim == 1 and cuts.size, "cuts", self.cuts, "finite numbers, shape (k,)")
        for name in ("error", "relative"):
            checks.number(name, getattr(self, name), at_least=0, below=1)

    @property
    def distance(self) -> float:
        """How far the distribution function may be from the true one, all in all."""
        return self.error + self.relative

    def at(self, places: FloatArray) -> FloatArray:
        """The distribution function at rising places, (k,).

        Raises:
            InvalidArgumentError: if it falls, leaves [0, 1] or has another shape.
        """
        found = np.asarray(self.distribution(places), dtype=np.float64)
        allowed = self.distance + 1e-9
        fits = found.shape == places.shape and np.all((found >= -allowed) & (found <= 1 + allowed))
        if not (fits and np.all(np.diff(found) >= -2 * allowed)):
            raise InvalidArgumentError("distribution", found, "a distribution function, which does not fall")
        return np.clip(found, 0.0, 1.0)


@dataclass(frozen=True)
class KnownBound:
    """Sets of cells by their probabilities: at least `more` on one data set, at most `less` on the other, (k,) both."""

    more: FloatArray
    less: FloatArray

    def epsilon(self, delta: float) -> float:
        """Lower bound of the smallest epsilon at a delta, nats."""
        left = self.more - delta
        useful = (left > 0) & (self.less > 0)
        return max(0.0, float(np.max(np.log(left[useful] / self.less[useful]), initial=0.0)))

    def delta(self, epsilons: FloatArray) -> FloatArray:
        """Lower bound of the profile at epsilons, same shape."""
        growth = np.exp(np.minimum(epsilons, 700.0))
        found = np.zeros(np.shape(epsilons))
        for more, less in zip(self.more, self.less, strict=True):
            found = np.maximum(found, more - growth * less)
        return found


def known_bound(left: StatedLaw, right: StatedLaw) -> KnownBound:
    """What two stated laws of one number show, in both directions."""
    places = np.union1d(np.asarray(left.cuts, dtype=np.float64), np.asarray(right.cuts, dtype=np.float64))
    below = tuple(np.maximum.accumulate(law.at(places)) for law in (left, right))
    p, q = (np.diff(np.concatenate([[0.0], found, [1.0]])) for found in below)
    # what is small is known well
    of_p, of_q = (law.error + _ROUNDING * found for law, found in zip((left, right), below, strict=True))
    one = _nested(p * (1 - left.relative), q * (1 + right.relative), of_p, of_q)
    other = _nested(q * (1 - right.relative), p * (1 + left.relative), of_q, of_p)
    more, less = (np.concatenate(both) for both in zip(one, other, strict=True))
    kept = _corners(more, less)
    return KnownBound(more[kept], less[kept])


def _nested(
    p: FloatArray, q: FloatArray, p_error: FloatArray, q_error: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of the sets of the cells with the largest ratios, one cell more each: P from below and Q from above.

    The errors are those of the distribution functions at the places between two cells.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(q > 0, p / q, np.where(p > 0, np.inf, 0.0))
    order = np.argsort(-ratios, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    # a place is an end of the set as long as one of its two cells is in it
    first, last = np.minimum(rank[1:], rank[:-1]), np.maximum(rank[1:], rank[:-1])

    def lost(errors: FloatArray) -> FloatArray:
        begun, over = np.zeros(order.size), np.zeros(order.size)
        np.add.at(begun, first, errors)
        np.add.at(over, last, errors)
        begun = np.cumsum(begun)
        return np.asarray(begun * (1 + _ROUNDING) - np.cumsum(over))

    return np.cumsum(p[order]) - lost(p_error), np.cumsum(q[order]) + lost(q_error)


def _corners(more: FloatArray, less: FloatArray) -> NDArray[np.int64]:
    """Places of the sets that no other one beats with more on one side and less on the other."""
    order = np.lexsort((-more, less))
    best = np.concatenate([[-np.inf], np.maximum.accumulate(more[order])[:-1]])
    return np.asarray(order[more[order] > np.maximum(best, 0.0)])
