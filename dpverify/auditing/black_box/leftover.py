"""Whether a linear score leaves a difference between the two sides unseen, so that others are worth their time.

Where the likelihood ratio is a function of the linear score, the sides mix in the same proportion among all outputs of
about one score. So each run gets what its side differs from the proportion in its bin of scores, and this is summed: at
both ends of each coordinate, in cells of one coordinate or of a pair, in smaller cells cut out of those that show most,
and with the signs of three coordinates. A sum too large for chance says that something is left. Only runs that learn
are looked at: a false alarm costs time, a miss what a better score would have found, and no bound depends on either.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpverify.auditing.black_box.scores import LinearDiscriminant, Samples

_DIMENSIONS = (5, 200)
"""Fewest and most; otherwise everything that applies is fitted."""
_FEWEST_BINS, _MOST_BINS, _MOST_CELLS = 3, 8, 200
"""Of one coordinate, and of all together where that leaves the fewest."""
_SCORE_BINS = 32
_ALL_ROWS = 4096
"""So many of a side are looked at, or half of them if these are more, within so many multiplications."""
_MOST_PRODUCTS, _MOST_OF_SIGNS = 1_000_000_000, 100_000_000
_ROWS_AT_ONCE, _EDGE_ROWS = 8192, 512
_END, _FARTHEST = 0.005, 8
"""The part of the outputs that are searched at each end, and the fewest that are summed there."""
_FINE, _WIDE, _MOST_TOGETHER = 6, 12, 5
"""Cells of two coordinates, and of two bins each, from which smaller ones are cut, and coordinates of these."""
_LEAST_VARIANCE = 0.1
_CHANCE = 0.02
"""About that of a false alarm by each of the tests."""
_SPREADS = 4.0
"""Standard deviations of a sum of squares, whose terms may depend on one another."""

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
"""The bin of each run and coordinate, (runs, d)."""
Weights = NDArray[np.float32]
Sides = tuple[Samples, Samples]


def leaves_something(left: Samples, right: Samples) -> bool:
    """Whether ends, cells or signs of a few coordinates differ beyond what a linear discriminant sees.

    `left` and `right` are (runs, d), in random order. True where this can't be said: d below 5 or above 200, or no
    discriminant.
    """
    d = left.shape[1]
    if not _DIMENSIONS[0] <= d <= _DIMENSIONS[1]:
        return True
    bins = max(_FEWEST_BINS, min(_MOST_BINS, _MOST_CELLS // d))
    rows = min(max(_ALL_ROWS, left.shape[0] // 2), _MOST_PRODUCTS // (d * bins) ** 2)
    score = LinearDiscriminant().fit(left[:rows], right[:rows], np.random.default_rng(0))
    if score is None:
        return True
    weights = _residuals(score(left), score(right))
    some = np.concatenate([left[:_EDGE_ROWS], right[:_EDGE_ROWS]])
    if _ends_differ((left, right), weights, np.quantile(some, [1 - _END, _END], axis=0)):
        return True
    edges = np.quantile(some, np.arange(1, bins) / bins, axis=0)
    codes = [
        sum((side[:rows] > edge for edge in edges), start=np.zeros(side[:rows].shape, np.uint8))
        for side in (left, right)
    ]
    weights = weights[0][:rows], weights[1][:rows]
    return _cells_differ(codes, weights, bins) or _signs_differ(codes, weights, bins)


def _residuals(left: Array, right: Array) -> tuple[Weights, Weights]:
    """How far each run's side is from the share of that side in its bin of scores, (runs,) a side."""
    both = np.concatenate([left, right])
    inner = np.unique(np.quantile(both, np.arange(1, _SCORE_BINS) / _SCORE_BINS))
    places = [np.searchsorted(inner, side) for side in (left, right)]
    counts = [np.bincount(place, minlength=inner.size + 1) for place in places]
    share = (counts[0] / np.maximum(counts[0] + counts[1], 1)).astype(np.float32)
    return 1 - share[places[0]], share[places[1]]


def _standardized(left: Array, right: Array) -> Array:
    """Summed weights of both sides, by the standard deviation of what they differ by.

    If p is the share of the left in its bin, a run of the left weighs 1 - p and one of the right p: together p (1 - p)
    on either side is to be expected, which is the variance.
    """
    return np.asarray((left - right) / np.sqrt(np.maximum((left + right) / 2, _LEAST_VARIANCE)))


def _ends_differ(sides: Sides, weights: tuple[Weights, Weights], ends: Array) -> bool:
    """Whether the farthest outputs of a coordinate differ: the 8 farthest at an end, the 16 farthest, and so on."""
    d = ends.shape[1]
    found = []
    for sign, end in zip((1, -1), ends, strict=True):
        far = [np.nonzero(sign * side > sign * end) for side in sides]
        column = np.concatenate([columns for _, columns in far])
        value = np.concatenate([side[at] for side, at in zip(sides, far, strict=True)])
        weight = np.zeros((2, column.size))
        weight[0, : far[0][0].size] = weights[0][far[0][0]]
        weight[1, far[0][0].size :] = weights[1][far[1][0]]
        sums = np.cumsum(weight[:, np.lexsort((-sign * value, column))], axis=1)
        sums = np.concatenate([np.zeros((2, 1)), sums], axis=1)
        count = np.bincount(column, minlength=d)
        first, size = np.cumsum(count) - count, _FARTHEST
        while np.any(count >= size):
            at = first[count >= size]
            found.append(_standardized(*(sums[:, at + size] - sums[:, at])))
            size *= 2
    return bool(found) and _too_large(np.concatenate(found))


def _cells_differ(codes: list[Codes], weights: tuple[Weights, Weights], bins: int) -> bool:
    """Whether cells of one or two coordinates differ, or smaller ones cut out of these."""
    d = codes[0].shape[1]
    first, second = np.triu_indices(d, 1)
    hits = [_hits(code, weight, bins) for code, weight in zip(codes, weights, strict=True)]
    alike = np.einsum("jaka->a", (hits[0] + hits[1]).reshape(d, bins, d, bins)) / 2
    difference = np.diag(hits[0] - hits[1]).reshape(d, bins).sum(axis=0)
    shared = difference / np.sqrt(np.maximum(alike, _LEAST_VARIANCE))
    one = _standardized(*(np.diag(side) for side in hits))
    parts = [side.reshape(d, bins, d, bins) for side in hits]
    two = _standardized(*parts)[first, :, second, :]
    if _too_large(one) or _too_large(two) or _too_large(shared) or _too_many(one) or _too_many(two):
        return True
    parts = [part[:, 1:] + part[:, :-1] for part in parts]
    wide = _standardized(*(part[..., 1:] + part[..., :-1] for part in parts))[first, :, second, :]
    for found, width, most in ((two, 1, _FINE), (wide, 2, _WIDE)):
        for place in np.argsort(-np.abs(found), axis=None, kind="stable")[:most]:
            pair, a, b = (int(part) for part in np.unravel_index(place, found.shape))
            inside = {int(first[pair]): (a, a + width), int(second[pair]): (b, b + width)}
            if _smaller_differ(inside, codes, weights, bins):
                return True
    return False


def _hits(codes: Codes, weights: Weights, bins: int) -> Array:
    """Summed weights in each cell of two coordinates, (cells, cells); cells of one are on the diagonal."""
    d = codes.shape[1]
    total = np.zeros((d * bins, d * bins))
    for start in range(0, len(codes), _ROWS_AT_ONCE):
        block, weight = codes[start : start + _ROWS_AT_ONCE], weights[start : start + _ROWS_AT_ONCE]
        inside = np.zeros((len(block), d * bins), dtype=np.float32)
        np.put_along_axis(inside, block + bins * np.arange(d), np.sqrt(weight[:, None]), axis=1)
        total += inside.T @ inside
    return total


def _smaller_differ(
    inside: dict[int, tuple[int, int]], codes: list[Codes], weights: tuple[Weights, Weights], bins: int
) -> bool:
    """Whether a cell differs that is cut out of this one, by one coordinate after the other where it shows most.

    `inside` has the first bin of each coordinate, and the one after the last.
    """
    d = codes[0].shape[1]
    rows = [
        np.flatnonzero(np.all([(code[:, j] >= a) & (code[:, j] < b) for j, (a, b) in inside.items()], axis=0))
        for code in codes
    ]
    while len(inside) < min(_MOST_TOGETHER, d):
        sums = []
        for code, weight, some in zip(codes, weights, rows, strict=True):
            cells = (code[some] + bins * np.arange(d)).ravel()
            fine = np.bincount(cells, np.repeat(weight[some], d), d * bins).reshape(d, bins)
            sums.append(np.hstack([fine, fine[:, 1:] + fine[:, :-1]]))
        z = np.abs(_standardized(*sums))
        z[list(inside)] = 0
        if _too_large(z, of=math.comb(d, len(inside) + 1) * (2 * bins) ** (len(inside) + 1)):
            return True
        column, place = (int(part) for part in np.unravel_index(z.argmax(), z.shape))
        a, b = inside[column] = (place, place + 1) if place < bins else (place - bins, place - bins + 2)
        rows = [
            some[(code[some, column] >= a) & (code[some, column] < b)]
            for code, some in zip(codes, rows, strict=True)
        ]
    return False


def _signs_differ(codes: list[Codes], weights: tuple[Weights, Weights], bins: int) -> bool:
    """Whether a product of the signs of three coordinates, counted from their middles, differs."""
    d = codes[0].shape[1]
    pairs = np.array(list(itertools.combinations(range(d), 2)))
    rows = _MOST_OF_SIGNS // (2 * d * len(pairs))
    if rows < _EDGE_ROWS:
        return False
    total, variance = np.zeros((len(pairs), d)), _LEAST_VARIANCE
    for side, code, weight in zip((1.0, -1.0), codes, weights, strict=True):
        for start in range(0, min(rows, len(code)), _ROWS_AT_ONCE):
            some = slice(start, min(start + _ROWS_AT_ONCE, rows))
            above = np.greater_equal(code[some].T, bins // 2)
            signs = np.where(above, np.float32(1), np.float32(-1))
            total += side * (signs[pairs[:, 0]] * (signs[pairs[:, 1]] * weight[some])) @ signs.T
            variance += float(weight[some].sum()) / 2
    return _too_large(total[np.arange(d) > pairs[:, 1:]] / math.sqrt(variance))


def _too_large(z: Array, *, of: int = 0) -> bool:
    """Whether the largest of so many normal numbers, or of `of`, is too large."""
    return bool(np.abs(z).max() > -ndtri(_CHANCE / (2 * (of or z.size))))


def _too_many(z: Array) -> bool:
    return bool((z**2).sum() > z.size + _SPREADS * math.sqrt(2 * z.size))
