"""Outputs that are categories and numbers together, scored as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def varying(left: Array, right: Array) -> NDArray[np.bool_]:
    """Which columns of two sample sets (runs, d) have more than one value; the first, if none has."""
    first = left[:1]
    found: NDArray[np.bool_] = np.any(left != first, axis=0) | np.any(right != first, axis=0)
    if not found.any():
        found[0] = True
    return found


@dataclass(frozen=True)
class WithinCategories:
    """Log-ratio of how often a category occurs, plus those of histograms of the numbers within it.

    Columns that take few values are categories, several together one; others are numbers, taken as independent given
    the category. Only where there are both.
    """

    name: str = "ratios within categories"
    most_values: int = 32
    """A column with more is no category."""
    least_count: int = 10
    """Runs of both sides that a category needs; rarer ones are one category together."""
    most_bins: int = 32
    most_dimensions: int = 200

    def fit(self, left: Array, right: Array, rng: np.random.Generator) -> Callable[[Array], Array] | None:
        """Learn categories, edges and counts."""
        d = left.shape[1]
        if not 1 < d <= self.most_dimensions:
            return None
        both = np.concatenate([left, right])
        few = np.array([self._is_category(both[:, column]) for column in range(d)])
        numbers = np.flatnonzero(varying(left, right) & ~few)
        categories = np.flatnonzero(varying(left, right) & few)
        if not numbers.size or not categories.size:
            return None
        known = self._common(both[:, categories])
        cells = [_cells(side[:, categories], known) for side in (left, right)]
        count = len(known) + 1
        hits = [np.bincount(places, minlength=count) + 0.5 for places in cells]
        of_category = np.log(hits[0]) - np.log(hits[1])
        within = {
            (cell, int(column)): ratios
            for cell in range(count)
            for column in numbers
            if (ratios := self._ratios(left[cells[0] == cell, column], right[cells[1] == cell, column]))
        }

        def score(x: Array) -> Array:
            places = _cells(x[:, categories], known)
            total: Array = of_category[places]
            for (cell, column), (edges, ratios) in within.items():
                there = places == cell
                total[there] += ratios[np.searchsorted(edges, x[there, column])]
            return total

        return score

    def _is_category(self, column: Array) -> bool:
        most = min(self.most_values, column.size // 4)
        # most columns of numbers show it by a few
        return np.unique(column[: 4 * most]).size <= most and np.unique(column).size <= most

    def _common(self, rows: Array) -> Array:
        """The categories that occur often enough, sorted by rows, the most common ones only."""
        seen, counts = np.unique(rows, axis=0, return_counts=True)
        often = np.argsort(-counts, kind="stable")[: self.most_values]
        return seen[np.sort(often[counts[often] >= self.least_count])]

    def _ratios(self, left: Array, right: Array) -> tuple[Array, Array] | None:
        """Edges and log-ratios of two histograms; None where there is too little of either side."""
        fewest = min(left.size, right.size)
        if fewest < self.least_count:
            return None
        bins = max(4, min(self.most_bins, 2 * fewest // 25))
        inner, one, other = two_histograms(left, right, bins)
        ratios = np.log(one / one.sum()) - np.log(other / other.sum())
        return inner, ratios


def _cells(rows: Array, known: Array) -> NDArray[Any]:
    """The place of each row among the known ones; their number for any other."""
    found = np.full(len(rows), len(known))
    for place, row in enumerate(known):
        found[(rows == row).all(axis=1)] = place
    return found


def two_histograms(left: Array, right: Array, bins: int) -> tuple[Array, Array, Array]:
    """Inner edges of at least `bins` cells, about as full, and the counts of both sides' numbers (runs,), each plus 1.

    Cells hold their upper end. A value that fills a cell alone gets one of its own.
    """
    pooled = np.concatenate([left, right])
    inner: Array = np.unique(np.quantile(pooled, np.arange(1, bins) / bins, method="inverted_cdf"))
    inner = np.unique(np.concatenate([inner, np.nextafter(inner, -np.inf)]))
    one, other = (
        np.bincount(np.searchsorted(inner, side), minlength=inner.size + 1) + np.float64(1.0)
        for side in (left, right)
    )
    return inner, one, other
