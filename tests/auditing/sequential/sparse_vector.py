"""The Sparse Vector variants of Lyu, Su and Li 2017 (Algorithms 3 to 6), and pairs of query answers that tell.

Each query has sensitivity 1, and the threshold is 0. Algorithms 3 and 4 stop at the first answer above it. As Lyu, Su
and Li show, 3, 5 and 6 are private for no epsilon, and 4 at best for 7/4 times its epsilon (stopping at the first).
Outputs are rows of numbers: 1 for above (in Algorithm 3 the noisy answer itself), 0 for below, -9 after the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import laplace

Array = NDArray[np.float64]

BELOW, ENDED = 0.0, -9.0
_NODES = 40_001
_REACH = 60.0
_THRESHOLD_SCALES = {3: 2.0, 4: 4.0, 5: 2.0, 6: 2.0}
"""Of the noise on the threshold, over 1/epsilon."""
_QUERY_SCALES = {3: 2.0, 4: 4 / 3, 5: 0.0, 6: 2.0}


@dataclass(frozen=True)
class SparseVector:
    """One variant on fixed answers, (queries,), claimed epsilon-DP."""

    variant: int
    answers: tuple[float, ...]
    epsilon: float = 1.0

    def draw(self, rng: np.random.Generator, runs: int) -> Array:
        """Outputs, (runs, queries)."""
        answers = np.array(self.answers)
        threshold = rng.laplace(scale=_THRESHOLD_SCALES[self.variant] / self.epsilon, size=(runs, 1))
        noise = rng.laplace(size=(runs, answers.size)) * _QUERY_SCALES[self.variant] / self.epsilon
        over = answers + noise >= threshold
        said = np.where(over, answers + noise if self.variant == 3 else 1.0, BELOW)
        if self.variant in (3, 4):
            said[np.cumsum(over, axis=1) - over > 0] = ENDED
        return said

    def law(self) -> Array:
        """Probabilities of all outputs, in an order that depends on variant and number of queries only.

        By quadrature over the threshold; in Algorithm 3, of the answer's values within cells of width 0.02.
        """
        nodes = np.linspace(-_REACH, _REACH, _NODES)
        weights = laplace.pdf(nodes, scale=_THRESHOLD_SCALES[self.variant] / self.epsilon) * (
            nodes[1] - nodes[0]
        )
        below = np.array([self._below(nodes - answer) for answer in self.answers])
        if self.variant in (5, 6):
            first = np.stack([below[0], 1 - below[0]])
            for one in below[1:]:
                first = np.concatenate([first * one, first * (1 - one)])
            return np.asarray(first @ weights)
        before = np.cumprod(np.concatenate([np.ones((1, nodes.size)), below]), axis=0)
        if self.variant == 4:
            ends = np.concatenate([before[:-1] * (1 - below), before[-1:]])
            return np.asarray(ends @ weights)
        edges = np.linspace(-20, 20, 2001)
        middle = (edges[1:] + edges[:-1]) / 2
        parts = []
        for place, answer in enumerate(self.answers):
            reached = np.interp(middle, nodes, np.cumsum(before[place] * weights))
            parts.append(reached * np.diff(laplace.cdf(edges - answer, scale=2 / self.epsilon)))
        return np.concatenate([*parts, [before[-1] @ weights]])

    def _below(self, distance: Array) -> Array:
        scale = _QUERY_SCALES[self.variant] / self.epsilon
        if scale == 0:
            return np.where(distance == 0, 0.0, (distance > 0).astype(np.float64))
        return np.asarray(laplace.cdf(distance, scale=scale))


def telling_pair(variant: int) -> tuple[SparseVector, SparseVector]:
    """Two neighbors whose answers all move by 1, some up and some down."""
    low, high = {
        3: ((0.0,) * 6 + (1.0,), (1.0,) * 6 + (0.0,)),
        4: ((0.0,) * 4 + (1.0,), (1.0,) * 4 + (0.0,)),
        5: ((0.0, 1.0), (1.0, 0.0)),
        6: ((0.0,) * 5 + (1.0,) * 5, (1.0,) * 5 + (0.0,) * 5),
    }[variant]
    return SparseVector(variant, low), SparseVector(variant, high)


def best_events(left: Array, right: Array) -> tuple[Array, Array]:
    """Probabilities on both sides of all events that a threshold of the likelihood ratio cuts out."""
    order = np.argsort(-np.log(np.maximum(left, 1e-300)) + np.log(np.maximum(right, 1e-300)), kind="stable")
    return np.cumsum(left[order]), np.cumsum(right[order])


def laplace_pair_event(noise: float) -> tuple[float, float]:
    """P[x <= 0] for Laplace noise of this scale around 0 and around 1."""
    return 0.5, 0.5 * math.exp(-1 / noise)
