"""Logistic regression by Newton's method: a few dense products, and nothing to import."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

_STEPS = 25
_ENOUGH = 1e-6
_MOST_PRODUCTS = 2_000_000_000
"""Multiplications for a matrix of second derivatives; beyond, it is taken from some of the rows and kept."""


def fit_logistic(left: Array, right: Array, *, penalty: float = 1.0) -> Array | None:
    """Weights (k,) of features (rows, k), without the intercept, of the log-odds of the left side.

    `penalty` times half the squared weights is added to the negative log-likelihood. None if there is no solution in
    floats. The features should be of order 1. Where the Newton step does not descend, it is halved.
    """
    x = np.ones((left.shape[0] + right.shape[0], left.shape[1] + 1))
    x[: left.shape[0], :-1], x[left.shape[0] :, :-1] = left, right
    y = np.repeat([1.0, 0.0], [left.shape[0], right.shape[0]])
    ridge = np.full(x.shape[1], penalty)
    ridge[-1] = 1e-9
    every = max(1, -(-x.shape[0] * x.shape[1] ** 2 // _MOST_PRODUCTS))
    weights = np.zeros(x.shape[1])
    loss, inverse = np.inf, None
    for _ in range(_STEPS):
        share = expit(x @ weights)
        gradient = x.T @ (share - y) + ridge * weights
        if inverse is None or every == 1:
            some = slice(None, None, every)
            rows = x[some]
            curvature = every * (rows * (share[some] * (1 - share[some]))[:, None]).T @ rows + np.diag(ridge)
            try:
                inverse = np.linalg.inv(curvature)
            except np.linalg.LinAlgError:
                return None
        step = inverse @ gradient
        length = 1.0
        while length > 1e-4:
            tried = weights - length * step
            at = x @ tried
            found = float(np.logaddexp(0.0, at).sum() - at @ y + (ridge * tried**2).sum() / 2)
            if found <= loss:
                break
            length /= 2
        else:
            break
        gained, loss, weights = loss - found, found, tried
        if gained < _ENOUGH * max(1.0, abs(loss)):
            break
    return weights[:-1] if np.all(np.isfinite(weights)) else None
