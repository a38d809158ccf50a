"""In-place NumPy forms of the commonest loss and the commonest set, for speed alone.

Points are columns of a C-contiguous (d, runs) array. Tests hold these functions to the methods that they stand in for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpverify.problems import Logistic, Loss

Array = NDArray[np.float64]

_LARGEST_EXPONENT = 700.0  # exp stays finite, and the slope there is 1e-304 at most


def has_fast_slope(loss: Loss) -> bool:
    """Whether `slope` may be used for the loss; a subclass may have changed what its slope is."""
    return type(loss) is Logistic


def slope(columns: Array, x: Array, y: Array) -> Array:
    """-y / (1 + exp(y <w, x>)) for one record, shape (runs,): `Logistic.slope` with one new array."""
    numbers = columns.T @ x
    numbers *= y
    np.minimum(numbers, _LARGEST_EXPONENT, out=numbers)
    np.exp(numbers, out=numbers)
    numbers += 1.0
    return np.divide(-y, numbers, out=numbers)


def shorten(columns: Array, radius: float) -> None:
    """Project onto the ball about the origin: `Ball.project` with half the passes over memory."""
    norms = np.einsum("ij,ij->j", columns, columns)
    np.maximum(norms, radius * radius, out=norms)
    np.sqrt(norms, out=norms)
    np.divide(radius, norms, out=norms)
    columns *= norms
