"""Products of a batch of points with records, and checks of arguments, for every array library.

A batch has shape (runs, d): the leading axis counts independent runs. Whatever is done to a batch follows the
Python array API standard, so NumPy, PyTorch and array-api-strict arrays all work; a result lives where its
input lives.

A batch in column-major memory (in NumPy, the transpose of a (d, runs) array) is worked on two to five times
faster than one in row-major memory when d is small, because the long axis is then the contiguous one. Both
layouts give the same numbers up to rounding, and no function here changes the layout of a point that it
returns.
"""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
import numpy.typing as npt

from dpverify.checks import require, with_attribute
from dpverify.errors import InvalidArgumentError

Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""


_FEW = 4096  # coordinates


def namespace(*arrays: Array) -> Any:
    """The array library that `arrays` belong to, made to follow the standard."""
    for array in arrays:
        if type(array) is not np.ndarray:
            return array_api_compat.array_namespace(*arrays)
    return numpy_namespace  # what is found above, at a tenth of the cost


def like(values: Any, example: Array) -> Array:
    """Return `values` as an array of the library, the dtype and the device of `example`."""
    xp = namespace(example)
    if not array_api_compat.is_numpy_array(example) and isinstance(values, np.ndarray):
        values = (
            values.copy()
        )  # other libraries would share the memory of an array that must not be written to
    return xp.asarray(values, dtype=example.dtype, device=array_api_compat.device(example))


def dot(w: Array, x: Array) -> Array:
    """Inner products, shape (runs,), of points (runs, d) with one record (d,) or one for each run (runs, d)."""
    check_record_shape(w, x)
    return w @ x if x.ndim == 1 else row_sums(w * x)


def row_sums(terms: Array) -> Array:
    """Sums over the last axis of a (runs, d) array, shape (runs,)."""
    # A product with ones is several times faster than a sum over a short contiguous axis.
    if type(terms) is np.ndarray and terms.dtype == np.float64 and terms.shape[-1] <= _FEW:
        return terms @ _ones(terms.shape[-1])
    xp = namespace(terms)
    return terms @ xp.ones(terms.shape[-1], dtype=terms.dtype, device=array_api_compat.device(terms))


@functools.lru_cache(maxsize=64)
def _ones(count: int) -> npt.NDArray[np.float64]:
    """For batches of few points, where to make them takes longer than to multiply by them; not to be written to."""
    found = np.ones(count)
    found.flags.writeable = False
    return found


def row_norms(terms: Array) -> Array:
    """Euclidean norms over the last axis of a (runs, d) array, shape (runs,), at any magnitude.

    Squares that leave the range of the dtype are avoided by dividing by the largest coordinate first.
    """
    xp = namespace(terms)
    if terms.shape[0] == 0:
        return row_sums(terms)
    with quiet():
        squared = row_sums(terms * terms)
        low, high = safe_squares(terms.dtype, xp)
        safe = (squared >= low) & (squared <= high)
        if bool(xp.all(safe)):
            return xp.sqrt(squared)
        unit = xp.max(xp.abs(terms), axis=-1)
        divisor = xp.where(unit > 0.0, unit, xp.ones_like(unit))
        relative = terms / divisor[:, None]
        return xp.where(safe, xp.sqrt(squared), unit * xp.sqrt(row_sums(relative * relative)))


def unit_rows(terms: Array) -> Array:
    """Rows of a (runs, d) array divided by their norms, at any magnitude; a row of zeros stays one. May overwrite."""
    xp = namespace(terms)
    if terms.shape[0] == 0:
        return terms
    with quiet():
        squared = row_sums(terms * terms)
        low, high = safe_squares(terms.dtype, xp)
        if not bool(xp.all((squared >= low) & (squared <= high))):
            # the largest coordinate becomes 1 where squares or reciprocals would leave the range
            unit = xp.max(xp.abs(terms), axis=-1)
            far = ((squared < low) | (squared > high)) & (unit > 0.0)
            terms = terms / xp.where(far, unit, xp.ones_like(unit))[:, None]
            squared = row_sums(terms * terms)
        norms = xp.sqrt(squared)
        terms *= (1.0 / xp.where(norms > 0.0, norms, xp.ones_like(norms)))[:, None]
    return terms


def safe_squares(dtype: Any, xp: Any) -> tuple[float, float]:
    """Between these, a sum of squares has lost nothing that matters to underflow, and nothing to overflow."""
    limits = xp.finfo(dtype)
    return float(limits.smallest_normal) / float(limits.eps) ** 3, float(limits.max) / 4.0


def quiet() -> Any:
    """Arithmetic that may leave the range of the dtype on purpose; only NumPy would warn."""
    return np.errstate(all="ignore")


def at_least(values: Array, bound: float) -> Array:
    """Elementwise maximum of an array and a number."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return np.maximum(values, bound)  # what is found below, at a fifth of the cost
    return namespace(values).maximum(values, like(bound, values))


def at_most(values: Array, bound: float) -> Array:
    """Elementwise minimum of an array and a number."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return np.minimum(values, bound)
    return namespace(values).minimum(values, like(bound, values))


def outer(slopes: Array, x: Array) -> Array:
    """Each run's record, (d,) or (runs, d), times its slope, (runs,): a new array of shape (runs, d)."""
    xp = namespace(slopes, x)
    if x.ndim == 1:
        # Built with the long axis contiguous: about seven times faster at d = 10 than slopes[:, None] * x.
        return xp.matrix_transpose(x[:, None] * slopes[None, :])
    return slopes[:, None] * x


def add_outer(w: Array, slopes: Array, x: Array) -> Array:
    """Add slopes[:, None] * x to `w` in place, and return `w`.

    The quickest way to take gradient steps of a generalized linear loss, `slopes` being minus the step size
    times the loss's slopes: a third of the time of subtracting gradients, for NumPy batches in column-major
    memory.

    Args:
        w: points, shape (runs, d); written to.
        slopes: shape (runs,).
        x: one record for all runs, shape (d,), or one for each, shape (runs, d).
    """
    check_record_shape(w, x)
    if (
        isinstance(w, np.ndarray)
        and x.ndim == 1
        and w.flags.f_contiguous
        and w.flags.writeable
        and w.dtype == slopes.dtype == x.dtype == np.float64
        and w.size
    ):
        from scipy.linalg.blas import dger

        dger(1.0, slopes, x, a=w, overwrite_a=True)
        return w
    w += outer(slopes, x)
    return w


def check_record_shape(w: Array, x: Array) -> None:
    """Refuse all but points (runs, d) and records (d,) or (runs, d)."""
    with_attribute("w", w, "ndim")
    with_attribute("x", x, "ndim")
    require(w.ndim == 2, "w", tuple(w.shape), "points of shape (runs, d)")
    if x.shape != w.shape and x.shape != w.shape[1:]:
        raise InvalidArgumentError(
            "x",
            tuple(x.shape),
            f"one record, shape {tuple(w.shape[1:])}, or one per run, shape {tuple(w.shape)}",
        )
