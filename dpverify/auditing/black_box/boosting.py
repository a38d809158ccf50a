"""Boosted trees: a score that is a sum of small decision trees, for samples of several coordinates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpverify.auditing.black_box.scores import Samples, Score, ScorerOf, some_rows
from dpverify.checks import FloatArray

_TREES, _LEAVES, _RATE = 60, 15, 0.1
_BINS = 256
_MOST_ORDERED = 20_000
"""Rows of a side that say where bins end."""
_RIDGE = 1.0
"""Added to the sum of weights of a leaf, and the least such sum: a leaf of few runs says little."""

_Split = tuple[int, int, float]
"""The leaf that is split, the column, and the largest number of it that stays; what is larger is a new leaf."""


class GradientBoosting(ScorerOf):
    """Boosted trees on the coordinates; for d > 4, below which small cells find more.

    Newton boosting of the logistic loss, with trees grown by the best leaf first from histograms.

    References: Friedman 2001, Greedy function approximation; Chen and Guestrin 2016, XGBoost, equations (5) to (7).
    """

    name = "gradient boosting"
    beyond_linear = True
    dimensions = (5, 200)

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        p, q = some_rows(left, right, left.shape[1])
        samples = np.concatenate([p, q])
        some = np.concatenate([p[:_MOST_ORDERED], q[:_MOST_ORDERED]])
        edges = [np.unique(column) for column in np.quantile(some, np.arange(1, _BINS) / _BINS, axis=0).T]
        codes = np.stack(
            [
                np.searchsorted(ends, column).astype(np.uint8)
                for ends, column in zip(edges, samples.T, strict=True)
            ]
        )
        target = np.repeat([1.0, 0.0], [len(p), len(q)])
        found, trees = np.zeros(len(samples)), []
        for _ in range(_TREES):
            share = expit(found)
            splits, leaves, values = _tree(codes, target - share, share * (1 - share))
            if not splits:
                break
            found += values[leaves]
            trees.append(([(leaf, j, float(edges[j][code])) for leaf, j, code in splits], values))
        if not trees:
            return None

        def score(x: Samples) -> FloatArray:
            columns, total = np.ascontiguousarray(x.T), np.zeros(len(x))
            for splits, values in trees:
                leaves = np.zeros(len(x), dtype=np.uint8)
                for new, (leaf, column, most) in enumerate(splits, 1):
                    leaves[(leaves == leaf) & (columns[column] > most)] = new
                total += values[leaves]
            return total

        return score


def _tree(
    codes: NDArray[np.uint8], slope: FloatArray, weight: FloatArray
) -> tuple[list[tuple[int, int, int]], NDArray[np.uint8], FloatArray]:
    """Splits of a tree by codes (d, rows), the leaf of each row, and the leaves' values.

    The slope of the log-likelihood and its negative second derivative are (rows,) each.
    """
    rows = [np.arange(slope.size)]
    sums = [_histograms(codes, slope, weight)]
    best = [_best_split(sums[0])]
    splits: list[tuple[int, int, int]] = []
    while len(rows) < _LEAVES:
        leaf = max(range(len(best)), key=lambda i: best[i][0])
        gain, column, code = best[leaf]
        if not gain > 0:
            break
        stays = codes[column, rows[leaf]] <= code
        parts = rows[leaf][stays], rows[leaf][~stays]
        fewer = int(parts[1].size < parts[0].size)
        of_fewer = _histograms(codes[:, parts[fewer]], slope[parts[fewer]], weight[parts[fewer]])
        pair = (of_fewer, sums[leaf] - of_fewer)
        one, other = pair[fewer], pair[1 - fewer]
        rows[leaf], sums[leaf], best[leaf] = parts[0], one, _best_split(one)
        rows.append(parts[1])
        sums.append(other)
        best.append(_best_split(other))
        splits.append((leaf, column, code))
    leaves = np.zeros(slope.size, dtype=np.uint8)
    for i, some in enumerate(rows):
        leaves[some] = i
    slopes, weights = (np.array([total[k, 0].sum() for total in sums]) for k in (0, 1))
    return splits, leaves, _RATE * slopes / (weights + _RIDGE)


def _histograms(codes: NDArray[np.uint8], slope: FloatArray, weight: FloatArray) -> FloatArray:
    """Sums of slopes and weights by column and code, (2, d, bins)."""
    places = codes.astype(np.intp)
    return np.array([[np.bincount(column, values, _BINS) for column in places] for values in (slope, weight)])


def _best_split(sums: FloatArray) -> tuple[float, int, int]:
    """What the best split gains, its column, and the largest code that stays."""
    (slope, weight), (all_slopes, all_weights) = sums.cumsum(axis=2), sums[:, 0].sum(axis=1)
    rest, rest_weight = all_slopes - slope, all_weights - weight
    gains = slope**2 / (weight + _RIDGE) + rest**2 / (rest_weight + _RIDGE)
    gains = np.where(np.minimum(weight, rest_weight) >= _RIDGE, gains, -math.inf)
    place = int(gains.argmax())
    column, code = divmod(place, _BINS)
    return float(gains[column, code] - all_slopes**2 / (all_weights + _RIDGE)), column, code
