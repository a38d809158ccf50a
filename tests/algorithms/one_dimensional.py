"""Objective perturbation in one dimension, exactly: the law of the minimizer on an interval, and its profile.

The objective's derivative F'(theta) + b is increasing, so the minimizer is at most u < R exactly if F'(u) + b >= 0:
P[theta <= u] = P[b >= -F'(u)]. No Hessian and no determinant is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpverify.problems import Dataset, Problem

Array = NDArray[np.float64]


def noise_law(scale: float, delta: float) -> stats.rv_frozen:
    """Gamma norm with shape 1 and a random sign is Laplace; else Gaussian."""
    return stats.norm(0, scale) if delta > 0 else stats.laplace(0, scale)


def survival(
    problem: Problem, data: Dataset, regularization: float, noise: stats.rv_frozen, at: Array
) -> Array:
    """P[theta <= u] at each u inside the interval."""
    slopes = data.n * problem.mean_gradient(at[:, None], data)[:, 0] + regularization * at
    return np.asarray(noise.sf(-slopes))


def masses(
    problem: Problem, data: Dataset, regularization: float, noise: stats.rv_frozen, inner: Array
) -> Array:
    """Probabilities of the cells that inner points cut all reals into; the end cells hold what is on the boundary."""
    below = np.concatenate([[0.0], survival(problem, data, regularization, noise, inner), [1.0]])
    above = 1 - below
    # differences of whichever tail is smaller keep their digits
    return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))


def profile(left: Array, right: Array, epsilon: float) -> float:
    """Hockey-stick divergence of two laws on cells: never above that of the laws themselves."""
    return float(
        max(np.sum(np.maximum(p - np.exp(epsilon) * q, 0)) for p, q in ((left, right), (right, left)))
    )
