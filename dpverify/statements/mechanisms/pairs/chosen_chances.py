"""Chances of what is chosen by comparisons of noisy numbers, in floating point: integrals over the noise they share.

Given that noise, comparisons are independent. What is integrated is, between ends, a sum of multiples of exponentials.
Nothing here is believed: what is found is put to the checker, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from dpverify.checks import FloatArray
from dpverify.proving.theorems.noises import FloatLine

PIECES = 8
"""Parts of what is between two ends."""


@lru_cache(2)
def _rule(between: bool) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [-1, 1], and from 0 on beside exp(-x)."""
    found = np.polynomial.legendre.leggauss(12) if between else np.polynomial.laguerre.laggauss(20)
    return np.asarray(found[0]), np.asarray(found[1])


def known(noise: FloatLine) -> FloatLine:
    """Noise of a family that is known; refused (ValueError) for others."""
    if noise.family not in ("laplace", "exponential"):
        raise ValueError("noise of which no such means are known")
    return noise


def density(noise: FloatLine, x: FloatArray) -> FloatArray:
    """The density of Laplace or exponential noise around 0."""
    z = x / noise.scale
    if noise.family == "laplace":
        return np.asarray(np.exp(-np.abs(z)) / (2 * noise.scale))
    return np.where(z >= 0, np.exp(-np.abs(z)) / noise.scale, 0.0)


def above(noise: FloatLine, x: FloatArray) -> FloatArray:
    """The chance of what is above numbers; precise far out, too."""
    z = x / noise.scale
    far = np.exp(-np.abs(z))
    if noise.family == "exponential":
        return np.where(z > 0, far, 1.0)
    return np.where(z > 0, far / 2, 1 - far / 2)


def below(noise: FloatLine, x: FloatArray) -> FloatArray:
    """The chance of what is below numbers."""
    if noise.family == "exponential":
        return np.where(x > 0, -np.expm1(-np.abs(x) / noise.scale), 0.0)
    return above(noise, -x)


def nodes(noise: FloatLine, ends: Iterable[float]) -> tuple[FloatArray, FloatArray]:
    """Numbers, and their weights, for means of functions that are sums of exponentials between ends.

    Raises:
        ValueError: for noise of another family.
    """
    whole = known(noise).family == "laplace"
    kept = sorted({0.0, *(float(end) for end in ends if whole or end > 0)})
    (x, w), (far, of_far) = _rule(True), _rule(False)
    places, weights = list[FloatArray](), list[FloatArray]()
    for low, high in pairwise(kept):
        count = min(PIECES, 1 + int((high - low) / (4 * noise.scale)))
        for k in range(count):
            half = (high - low) / (2 * count)
            places.append(low + half * (2 * k + 1 + x))
            weights.append(half * w * density(noise, places[-1]))
    for end, side in ((kept[-1], 1.0), *([(kept[0], -1.0)] if whole else [])):
        places.append(end + side * noise.scale * far)
        weights.append(of_far * noise.scale * density(noise, np.array(end)))
    return np.concatenate(places), np.concatenate(weights)


def largest(scores: Sequence[float], noise: FloatLine | None) -> dict[Any, float]:
    """The chance of each to be the largest, of numbers with independent noise; without, of the first that is."""
    if noise is None:
        return {r: float(r == scores.index(max(scores))) for r in range(len(scores))}
    found = dict[Any, float]()
    for r, score in enumerate(scores):
        x, weights = nodes(noise, [other - score for other in scores])
        for k, other in enumerate(scores):
            weights = weights if k == r else weights * below(noise, score + x - other)
        found[r] = float(weights.sum())
    return found


Side: TypeAlias = "tuple[FloatLine, bool] | None"
"""Noise, and whether each number has its own."""


def reached(
    gaps: Sequence[float], low: Side, high: Side, cut: tuple[int, bool, float] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The chances, by number and node, that numbers are above a threshold and below it, and weights of the nodes.

    Gaps are how far numbers are above without noise. The threshold's noise, and that of numbers, is the same for all,
    or independent. Of one number the first chance may be that its own noise is, too, at most some number, or at least.

    Raises:
        ValueError: where both are the same for all, or of families that are not known.
    """
    shared = [(noise, side) for noise, side in ((low, -1), (high, 1)) if noise and not noise[1]]
    each_low, each_high = (noise[0] if noise and noise[1] else None for noise in (low, high))
    x, weights = np.zeros(1), np.ones(1)
    if shared:
        ((noise, _), side), *others = shared
        if others:
            raise ValueError("two noises that are the same for all")
        more = [] if cut is None else [-(gaps[cut[0]] + cut[2]) * side]
        x, weights = nodes(noise, [*(-gap * side for gap in gaps), *more])
        x = x * side
    gap = np.asarray(gaps)[:, None] + x
    if each_low is None or each_high is None:
        one = each_low or each_high
        if one is None:
            return (gap >= 0).astype(np.float64), (gap < 0).astype(np.float64), weights
        known(one)
        up, down = (below(one, gap), above(one, gap)) if each_low else (above(one, -gap), below(one, -gap))
        if cut is not None:
            first, at_most, end = cut
            rest = above(one, np.maximum(-gap[first], end))
            up[first] = np.maximum(up[first] - rest, 0) if at_most else rest
        return up, down, weights
    up, down = np.empty_like(gap), np.empty_like(gap)
    for place, value in np.ndenumerate(gap):
        at, of_each = nodes(each_low, [float(value)])
        up[place] = (of_each * above(known(each_high), at - value)).sum()
        down[place] = (of_each * below(each_high, at - value)).sum()
    return up, down, weights


def answers(
    up: FloatArray, down: FloatArray, weights: FloatArray, count: int, anew: bool = False
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Which are above until so many are, by 0 and 1, with the chance of each answer.

    What is shared is drawn once, or anew after each that is above.
    """

    def behind(row: tuple[int, ...], chance: FloatArray) -> Iterator[tuple[tuple[int, ...], float]]:
        k = len(row)
        if k == len(up) or sum(row) == count:
            yield (*row, *(0,) * (len(up) - k)), float(chance.sum())
            return
        yield from behind((*row, 0), chance * down[k])
        yield from behind((*row, 1), (chance * up[k]).sum() * weights if anew else chance * up[k])

    return behind((), weights)
