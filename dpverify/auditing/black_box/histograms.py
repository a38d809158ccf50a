"""Histograms of one number under two laws, over common cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def two_histograms(left: Array, right: Array, bins: int) -> tuple[Array, Array, Array]:
    """Inner edges of at least `bins` cells, about as full, and the counts of both sides in them, each plus 1.

    Cells hold their upper end. A value that fills a cell alone gets one of its own.

    Args:
        left: numbers, shape (runs,).
        right: the same for the other side.
        bins: at least 2.
    """
    pooled = np.concatenate([left, right])
    inner: Array = np.unique(np.quantile(pooled, np.arange(1, bins) / bins, method="inverted_cdf"))
    inner = np.unique(np.concatenate([inner, np.nextafter(inner, -np.inf)]))
    return inner, _counts(left, inner), _counts(right, inner)


def _counts(side: Array, inner: Array) -> Array:
    return np.bincount(np.searchsorted(inner, side), minlength=inner.size + 1) + 1.0
