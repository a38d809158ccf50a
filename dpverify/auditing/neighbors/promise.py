"""How much a few runs on a pair speak against a claim: a number that a search makes larger, and nothing else.

It is the largest standardized violation of P(E) <= e^epsilon Q(E) + delta over many events E: half-lines of each
number and of the direction in which means differ, and single values. As the largest of many it is biased, and bounds
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.claims import Claim, claimed_deltas, stated_corner
from dpverify.checks import FloatArray

_QUANTILES = np.linspace(0.0, 1.0, 33)
_MOST_COLUMNS = 16
_MOST_VALUES = 8
_EPSILONS = np.array([0.0, 0.1, 0.3, 1.0, 2.0, 4.0])
"""Where a claim without a corner is compared; nats."""


def promise(left: FloatArray, right: FloatArray, claim: Claim) -> float:
    """The largest standardized violation, for outputs (runs, d) on both sides; about 3 where the claim holds."""
    corner = stated_corner(claim)
    epsilons = _EPSILONS if corner is None else np.array([corner[0]])
    deltas = claimed_deltas(claim, epsilons) if corner is None else np.array([corner[1]])
    growth = np.exp(np.minimum(epsilons, 50.0))
    best = 0.0
    for a, b in _counts(left, right):
        for p, q in ((a / len(left), b / len(right)), (b / len(right), a / len(left))):
            for more, less in ((p, q), (1 - p, 1 - q)):
                best = max(best, _standardized(more, less, min(len(left), len(right)), growth, deltas))
    return best


def _standardized(
    p: NDArray[np.float64], q: NDArray[np.float64], runs: int, growth: FloatArray, deltas: FloatArray
) -> float:
    """One run more on each side, inside and outside, keeps variances from 0."""
    excess = p[:, None] - growth * q[:, None] - deltas
    smooth = [(x * runs + 1) / (runs + 2) for x in (p, q)]
    variance = smooth[0] * (1 - smooth[0])
    variance = variance[:, None] + growth**2 * (smooth[1] * (1 - smooth[1]))[:, None]
    return float(np.max(excess / np.sqrt(variance / runs)))


def _counts(left: FloatArray, right: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """How many outputs are in each of some events, on both sides."""
    columns = [(left[:, j], right[:, j]) for j in range(min(left.shape[1], _MOST_COLUMNS))]
    if left.shape[1] > 1:
        with np.errstate(over="ignore", invalid="ignore"):
            weight = (left.mean(axis=0) - right.mean(axis=0)) / (left.var(axis=0) + right.var(axis=0) + 1e-12)
            along = left @ weight, right @ weight
        if all(np.all(np.isfinite(side)) for side in along):
            columns.append(along)
    for one, other in columns:
        both = np.concatenate([one, other])
        places = np.unique(np.quantile(both, _QUANTILES, method="inverted_cdf"))
        sides = [np.sort(side) for side in (one, other)]
        yield _below(sides[0], places), _below(sides[1], places)
        values, counts = np.unique(both, return_counts=True)
        repeated = values[np.argsort(-counts, kind="stable")][:_MOST_VALUES]
        if counts.max() > 1:
            yield (
                np.array([np.sum(one == value) for value in repeated], dtype=np.float64),
                np.array([np.sum(other == value) for value in repeated], dtype=np.float64),
            )


def _below(side: FloatArray, places: FloatArray) -> FloatArray:
    return np.searchsorted(side, places, side="right").astype(np.float64)
