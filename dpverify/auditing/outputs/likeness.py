"""Outputs that are equal where independent runs are not: nothing varies, or one sample stands on both sides.

An audit of such outputs tests nothing, though no event ever speaks against the claim. Runs drawn apart look like that
with probability 1e-12 at most, whatever the two laws are: of the outputs that came m times on both sides together, each
is as likely as not, or less, to be on the left, so that it comes m / 2 times on either with probability
C(m, m / 2) / 2^m at most; and given which outputs came, a side has all of their orders with the same probability.
Outputs that take few values have few orders and are left alone.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dpverify.auditing.outputs.samples import remainder
from dpverify.running.subjects.texts import as_texts, is_texts

Hashes = NDArray[np.uint64]

_CHANCE = 12 * math.log(10)
_TILTS = 2.0 ** np.arange(-2, 8)
"""Of the exponential bound on how many outputs are balanced; the least of them is taken."""
_ODD = 0x9E3779B97F4A7C15


class Likeness:
    """Compares the outputs of two sides by their bits, all at once or round by round."""

    def __init__(self) -> None:
        self.runs = 0
        self._sides: tuple[list[Hashes], list[Hashes]] = ([], [])

    def add(self, left: NDArray[Any], right: NDArray[Any]) -> None:
        """Take outputs of as many runs on both sides: real numbers (runs, ...), or texts (runs,)."""
        sides = (left, right)
        if is_texts(left) != is_texts(right):
            sides = (as_texts(left), as_texts(right))
        for known, side in zip(self._sides, sides, strict=True):
            known.append(_of_texts(side) if is_texts(side) else _of_numbers(side))
        self.runs += len(left)

    @property
    def always_the_same(self) -> bool:
        """Whether all outputs of several runs, on both sides, were one and the same."""
        if self.runs < 2:
            return False
        first = self._sides[0][0][:1]
        return all(bool(np.all(part == first)) for side in self._sides for part in side)

    def summary(self) -> str:
        """What is equal where it should not be; empty where independent runs may look so."""
        if self.runs < 2:
            return ""
        if self.always_the_same:
            return "all outputs were one and the same, as of a constant or a forgotten return"
        left, right = (np.concatenate(side) for side in self._sides)
        if left.size != right.size:
            return ""
        values, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        on_left, on_right = (np.bincount(part, minlength=values.size) for part in np.split(places, 2))
        equal = int(np.count_nonzero(left == right))
        if _log_probability_in_order(equal, on_right) < -_CHANCE:
            return (
                f"{equal} of {self.runs} runs gave the same output on both sides, run by run, as of one sample used "
                "twice"
            )
        if _log_probability_of_balance(on_left, on_right) < -_CHANCE:
            shared = int(np.minimum(on_left, on_right).sum())
            return f"{shared} of {self.runs} outputs are on both sides, as of one sample used twice"
        return ""


def _log_probability_in_order(equal: int, counts: NDArray[Any]) -> float:
    """Of so many places that agree or more, at most, if one side's outputs come in any order."""
    runs = int(counts.sum())
    apart = runs - equal
    repeated = counts[counts > 1]
    orders = math.lgamma(runs + 1) - float(gammaln(repeated + 1).sum())
    chosen = math.lgamma(runs + 1) - math.lgamma(apart + 1) - math.lgamma(runs - apart + 1)
    changed = min(math.lgamma(apart + 1), apart * math.log(max(int(np.count_nonzero(counts)), 1)))
    return min(0.0, math.log(apart + 1) + chosen + changed - orders)


def _log_probability_of_balance(left: NDArray[Any], right: NDArray[Any]) -> float:
    """Of so many outputs that come equally often on both sides, at most.

    Counts of one side are fixed by their sum, which costs the factor of sqrt(pi runs).
    """
    runs, both = int(left.sum()), left + right
    even = both % 2 == 0
    sizes, seen = np.unique(both[even], return_counts=True)
    chance = gammaln(sizes + 1) - 2 * gammaln(sizes / 2 + 1) - sizes * math.log(2)
    balanced = np.bincount(np.searchsorted(sizes, both[even & (left == right)]), minlength=sizes.size)
    weight = float(-(chance * balanced).sum())
    fixed = math.log(1.2 * math.sqrt(math.pi * runs))
    tilted = [
        float((seen * np.logaddexp(np.log1p(-np.exp(chance)), (1 - tilt) * chance)).sum()) - tilt * weight
        for tilt in _TILTS
    ]
    return min(0.0, fixed + min(tilted, default=0.0))


def _of_texts(texts: NDArray[Any]) -> Hashes:
    return np.array(
        [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts.tolist()],
        dtype=np.uint64,
    )


def _of_numbers(points: NDArray[Any]) -> Hashes:
    flat = points.reshape(len(points), math.prod(points.shape[1:]))
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.array(flat, dtype=np.float64)
        lost = np.where(np.isfinite(rounded), remainder(flat, np.where(np.isfinite(rounded), rounded, 0)), 0)
    found = np.full(len(points), flat.shape[1], dtype=np.uint64)
    parts = (rounded, lost) if lost.any() else (rounded,)
    for words in (np.ascontiguousarray(part).view(np.uint64) for part in parts):
        for column in words.T:
            found = _mixed(found * np.uint64(_ODD) + column)
    return found


def _mixed(words: Hashes) -> Hashes:
    """A permutation of 64 bits in which each bit changes half of the others (Stafford's variant 13)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
