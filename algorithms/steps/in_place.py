"""A batch of points for NumPy, with the parts of a noisy projected gradient step in place; for speed alone.

Everything here that runs over a whole array lets other threads go on meanwhile: NumPy does, and SciPy's BLAS does
when called through its table of C functions, while `scipy.linalg.blas` would hold the interpreter's lock. That
decides how well threads share the blocks of a run. Tests hold each part to what it stands in for.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import require
from dpverify.problems import Logistic, Loss

Array = NDArray[np.float64]

_LARGEST_EXPONENT = 700.0  # exp stays finite, and the slope there is 1e-304 at most

RADII = (1e-150, 1e150)
"""Radii of balls whose squares neither vanish nor overflow."""

_LARGEST_COUNT = 2**31 - 1

# 64 bits serve a BLAS that reads 32 of them too, where the low half comes first
_integer = ctypes.c_int64 if sys.byteorder == "little" else ctypes.c_int32


@cache
def _blas(name: str, arguments: int) -> Callable[..., None]:
    """A BLAS routine, called with addresses only, as in Fortran; the lock is released during the call."""
    from scipy.linalg import cython_blas  # half a second that whoever only reads the catalog need not wait

    capsule = cython_blas.__pyx_capi__[name]
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address_of(capsule, name_of(capsule)))


def _address(array: Array) -> ctypes.c_void_p:
    """For BLAS; looked up once where possible, as that takes longer than a short call."""
    return ctypes.c_void_p(array.ctypes.data)


def has_fast_slope(loss: Loss) -> bool:
    """Whether `Columns.slope` may be used for the loss; a subclass may have changed what its slope is."""
    return type(loss) is Logistic


class Columns:
    """The current points of a batch of runs, column by column, and room for what a step needs.

    BLAS reads and writes at fixed addresses, so the arrays may be filled, but never replaced.

    Attributes:
        points: shape (d, runs).
        noise: room for a step's noise, of the same shape.
        numbers: room for one number a run, shape (runs,).
    """

    def __init__(self, d: int, runs: int) -> None:
        """Make room, with nothing in it yet."""
        allowed = f"at most {_LARGEST_COUNT // d} in {d} dimensions; choose a smaller block size"
        require(d * runs <= _LARGEST_COUNT, "runs", runs, allowed)
        self.points: Array = np.empty((d, runs))
        self.noise: Array = np.empty((d, runs))
        self.numbers: Array = np.empty(runs)
        one, short, long, size = map(_integer, (1, d, runs, d * runs))
        self._one, self._short, self._long, self._size = map(ctypes.byref, (one, short, long, size))
        self._factor = ctypes.c_double()
        self._at_factor = ctypes.byref(self._factor)
        self._at_points, self._at_noise, self._at_numbers = map(
            _address, (self.points, self.noise, self.numbers)
        )

    def slope(self, x: Array, y: Array, largest_norm: float = math.inf) -> None:
        """Let the numbers be -y / (1 + exp(y <w, x>)) at each point w: `Logistic.slope`, in place.

        No point is longer than `largest_norm`, rounding aside: spares a look at every exponent where none can be large.
        """
        numbers = np.matmul(x * y, self.points, out=self.numbers)
        if not 1.01 * largest_norm * math.sqrt(x @ x) * abs(float(y)) <= _LARGEST_EXPONENT:
            np.minimum(numbers, _LARGEST_EXPONENT, out=numbers)
        np.exp(numbers, out=numbers)
        numbers += 1.0
        np.divide(-y, numbers, out=numbers)

    def add_outer(self, factor: float, x: Array) -> None:
        """Add factor * x * number to each point; x has shape (d,)."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        if x.shape != self.points.shape[:1]:
            raise ValueError(f"shape {x.shape} does not fit points of {self.points.shape[0]} coordinates")
        if not self.numbers.size:
            return
        self._factor.value = factor
        # BLAS takes the points for their transpose, of leading dimension runs
        _blas("dger", 9)(
            self._long, self._short, self._at_factor,
            self._at_numbers, self._one, _address(x), self._one, self._at_points, self._long,
        )  # fmt: skip

    def add_noise(self, factor: float) -> None:
        """Add factor * noise to the points."""
        self._factor.value = factor
        _blas("daxpy", 6)(self._size, self._at_factor, self._at_noise, self._one, self._at_points, self._one)


def shorten(points: Array, radius: float, room: Array) -> None:
    """Project points (d, runs) onto the ball about the origin, in place, with room for one number a run.

    It is `Ball.project` with half the passes over memory, for a radius in `RADII`.
    """
    norms = np.einsum("ij,ij->j", points, points, out=room)
    if not norms.max(initial=0.0) < math.inf:
        # squares that overflow: such points are brought near first
        far = np.flatnonzero(~(norms < math.inf))
        near = points[:, far] / np.max(np.abs(points[:, far]), axis=0)
        points[:, far] = near * (radius / np.sqrt(np.einsum("ij,ij->j", near, near)))
        norms[far] = radius * radius
    np.maximum(norms, radius * radius, out=norms)
    np.sqrt(norms, out=norms)
    np.divide(radius, norms, out=norms)
    points *= norms
