"""Arrays of NumPy, PyTorch and JAX: into NumPy, and back into the library that they came from."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError

Array = Any
"""An array of NumPy, PyTorch or JAX; the array API standard names no type for it."""


def namespace(argument: str, array: Array) -> ModuleType | Any:
    """The array API namespace of an array; raises `InvalidArgumentError` for what is no array."""
    from array_api_compat import array_namespace, is_array_api_obj

    require(is_array_api_obj(array), argument, array, "an array of NumPy, PyTorch or JAX")
    return array_namespace(array)


def as_numpy(argument: str, array: Array) -> NDArray[Any]:
    """The numbers of an array, or of anything that NumPy reads, without a library's gradients or devices."""
    if callable(detach := getattr(array, "detach", None)):  # a tensor of PyTorch
        array = detach().cpu()
        array = array.double() if array.is_floating_point() else array  # NumPy has no bfloat16
    try:
        found = np.asarray(array)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(argument, array, "an array of numbers") from error
    return found.astype(np.float64) if "bfloat16" in found.dtype.name else found  # JAX's, a type of its own


def like(reference: Array, array: NDArray[Any], *, dtype: Any = None) -> Array:
    """A NumPy array as one of the library and on the device of `reference`; of its type unless another is given."""
    from array_api_compat import device

    xp = namespace("reference", reference)
    return xp.asarray(array, dtype=reference.dtype if dtype is None else dtype, device=device(reference))


def put_together(first: Array, second: Array, order: NDArray[np.int64]) -> Array:
    """The records of two arrays of one library, one after the other and then in the given order."""
    xp = namespace("features", first)
    return xp.take(xp.concat([first, second], axis=0), like(first, order, dtype=xp.int32), axis=0)


def flattened(argument: str, update: Any) -> NDArray[np.float64]:
    """One array, or arrays of parameters in their order (a list, or the values of a dict), as one vector, (d,)."""
    parts = list(update.values()) if isinstance(update, dict) else update
    if not isinstance(parts, (list, tuple)):
        parts = [parts]
    vectors = [as_numpy(argument, part) for part in parts]
    if not vectors or any(vector.dtype.kind not in "iuf" for vector in vectors):
        raise InvalidArgumentError(argument, update, "an array of numbers, or a list of such arrays")
    return np.concatenate([vector.astype(np.float64).ravel() for vector in vectors])
