"""Histograms of one number under two laws, over common cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def two_histograms(left: Array, right: Array, bins: int) -> tuple[Array, Array, Array]:
    """Inner edges of at least `bins` cells, about as full, and the counts of both sides' numbers (runs,), each plus 1.

    Cells hold their upper end. A value that fills a cell alone gets one of its own.
    """
    pooled = np.concatenate([left, right])
    inner: Array = np.unique(np.quantile(pooled, np.arange(1, bins) / bins, method="inverted_cdf"))
    inner = np.unique(np.concatenate([inner, np.nextafter(inner, -np.inf)]))
    return inner, _counts(left, inner), _counts(right, inner)


def _counts(side: Array, inner: Array) -> Array:
    counts: Array = np.bincount(np.searchsorted(inner, side), minlength=inner.size + 1) + np.float64(1.0)
    return counts
