"""A hash of what determines a result: mechanisms, data sets, parameters."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import types
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np

from dpverify.errors import InvalidArgumentError


def fingerprint(value: object) -> str:
    """Hash a value by its content, the same in every process and on every machine.

    Dataclasses count by their type and fields, arrays by type, shape and bytes, functions by their name and
    code, and objects with a `fingerprint` attribute by that. Other objects have no content that could be
    read, so they are refused rather than hashed by their address.

    Returns:
        64 hexadecimal digits.

    Raises:
        InvalidArgumentError: if some part has no content that could be read.
    """
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: object) -> None:
    """Add one value; every part is preceded by its kind and length, so that no two values read alike."""
    if value is None or isinstance(value, (bool, int, str, bytes, PurePath)):
        _part(digest, type(value).__name__, value if isinstance(value, bytes) else str(value).encode())
    elif isinstance(value, float):
        _part(digest, "float", value.hex().encode())
    elif isinstance(value, Enum):
        _part(digest, "enum", f"{_name(type(value))}.{value.name}".encode())
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.hasobject:
            raise InvalidArgumentError("fingerprint of an array", array.dtype, "arrays of numbers")
        _part(digest, "array", f"{array.dtype.str}{array.shape}".encode())
        _part(digest, "bytes", array.tobytes())
    elif isinstance(value, (tuple, list)):
        _part(digest, "sequence", str(len(value)).encode())
        for item in value:
            _feed(digest, item)
    elif isinstance(value, Mapping):
        _part(digest, "mapping", str(len(value)).encode())
        for key, item in sorted(value.items(), key=lambda pair: str(pair[0])):
            _feed(digest, key)
            _feed(digest, item)
    elif isinstance(value, types.ModuleType):
        _part(digest, "module", value.__name__.encode())
    elif isinstance(value, type):
        _part(digest, "type", _name(value).encode())
    elif isinstance(value, functools.partial):
        _feed(digest, (value.func, value.args, value.keywords))
    elif isinstance(value, types.CodeType):
        _part(digest, "code", value.co_code)
        _feed(digest, (value.co_names, value.co_varnames, value.co_consts))
    elif isinstance(value, types.FunctionType):
        _part(digest, "function", _name(value).encode())
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        _feed(digest, (value.__code__, value.__defaults__, value.__kwdefaults__, cells))
    elif isinstance(value, (types.BuiltinFunctionType, np.ufunc)):
        _part(digest, "builtin", f"{getattr(value, '__module__', '')}.{value.__name__}".encode())
    elif isinstance(value, types.MethodType):
        _feed(digest, (value.__func__, value.__self__))
    elif isinstance(getattr(value, "fingerprint", None), str):
        _part(digest, _name(type(value)), str(getattr(value, "fingerprint")).encode())  # noqa: B009
    elif dataclasses.is_dataclass(value):
        _part(digest, "dataclass", _name(type(value)).encode())
        for field in dataclasses.fields(value):
            _part(digest, "field", field.name.encode())
            _feed(digest, getattr(value, field.name))
    elif hasattr(value, "__array_namespace__"):
        _feed(digest, np.asarray(value))
    else:
        raise InvalidArgumentError(
            "fingerprint",
            value,
            "numbers, text, arrays, functions, dataclasses, and objects with a text attribute `fingerprint`",
        )


def _part(digest: Any, kind: str, content: bytes) -> None:
    digest.update(f"{kind}:{len(content)}:".encode())
    digest.update(content)


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
