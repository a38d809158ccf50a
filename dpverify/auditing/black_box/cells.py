"""A score that counts runs in small cells of the plane, or of a few more dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from dpverify.auditing.black_box.scores import Samples, ScorerOf
from dpverify.checks import FloatArray

_PARTITIONS = 20
_FEWEST, _MOST = 8, 128
"""Runs in the smallest cells, and in the largest that are counted."""
_LEVELS, _CUTTING = 10, 4096
"""Times that cells are cut, and runs that say where: for many runs, cells hold more."""
_PRIOR = 6.0
"""Runs that the cell around counts for."""
_LEAST_SHARE = 0.35
"""Of a cell's runs, on either side of its cut."""


@dataclass(frozen=True)
class _Partition:
    """Cells within cells: each of a level is cut in two along one coordinate."""

    axes: tuple[NDArray[np.int64], ...]
    cuts: tuple[FloatArray, ...]
    shares: FloatArray
    """Of the left side in each of the smallest cells, (cells,)."""

    def places(self, samples: Samples) -> NDArray[np.int64]:
        """The smallest cell of each row, (runs,)."""
        rows, cell = np.arange(samples.shape[0]), np.zeros(samples.shape[0], dtype=np.int64)
        for axes, cuts in zip(self.axes, self.cuts, strict=True):
            cell = 2 * cell + (samples[rows, axes[cell]] > cuts[cell])
        return cell


@dataclass(frozen=True)
class CountedCells:
    """The log-odds of the left side, a mean over partitions of the share of the left in a row's cell."""

    partitions: tuple[_Partition, ...]
    held_out: tuple[FloatArray, FloatArray]
    """Scores of the runs that were counted, each as if it had not been, (runs,) a side."""

    def __call__(self, samples: Samples) -> FloatArray:
        """Shape (runs,)."""
        total = np.zeros(samples.shape[0])
        for partition in self.partitions:
            total += partition.shares[partition.places(samples)]
        return np.asarray(logit(total / len(self.partitions)))


class RatiosInCells(ScorerOf):
    """Log-ratio of how often the two sides fall into small cells around an output; for 2 to 4 coordinates.

    Cells are cut at random places that both sides together choose, so that they are small where outputs are many, and
    counts are drawn towards those of the larger cells around. A run is scored without its own count: all that learn
    both fit and choose. A region that holds a few hundredths of the outputs is found by this where trees that are grown
    one on top of the other, or functions of single coordinates, miss it.
    """

    name = "ratios in cells"
    dimensions = (2, 4)
    holds_out = True

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> CountedCells | None:
        both = np.concatenate([left, right])
        is_left = np.arange(both.shape[0]) < left.shape[0]
        parts = [_partition(both, is_left, rng) for _ in range(_PARTITIONS)]
        without = np.asarray(logit(sum(own for _, own in parts) / _PARTITIONS))
        held_out = without[: left.shape[0]], without[left.shape[0] :]
        return CountedCells(tuple(part for part, _ in parts), held_out)


def _partition(
    both: Samples, is_left: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[_Partition, FloatArray]:
    """Cells of one partition, and the share of the left around each run without that run, (runs,)."""
    runs, d = both.shape
    axes: list[NDArray[np.int64]] = []
    cuts: list[FloatArray] = []
    # some of the runs say where cells are cut
    some = rng.permutation(runs)[:_CUTTING]
    cell, rows = np.zeros(runs, dtype=np.int64), np.arange(runs)
    shares, without = np.full(1, 0.5), np.full(runs, 0.5)
    for level in range(max(1, min(_LEVELS, int(np.log2(runs / _FEWEST))))):
        cells = 2**level
        axis, share = rng.integers(0, d, cells), rng.uniform(_LEAST_SHARE, 1 - _LEAST_SHARE, cells)
        key = both[rows, axis[cell]]
        order, size = np.lexsort((key[some], cell[some])), np.bincount(cell[some], minlength=cells)
        place = np.cumsum(size) - size + (size * share).astype(np.int64)
        cut = key[some[order[np.minimum(place, some.size - 1)]]]
        cell = 2 * cell + (key > cut[cell])
        axes.append(axis)
        cuts.append(cut)
        shares = np.repeat(shares, 2)
        if runs / (2 * cells) <= _MOST:
            seen, on_left = (np.bincount(which, minlength=2 * cells) for which in (cell, cell[is_left]))
            shares = (on_left + _PRIOR * shares) / (seen + _PRIOR)
            without = (on_left[cell] - is_left + _PRIOR * without) / (seen[cell] - 1 + _PRIOR)
    return _Partition(tuple(axes), tuple(cuts), shares), without
