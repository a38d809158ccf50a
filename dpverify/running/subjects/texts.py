"""Outputs of any form as text: one line of JSON an output, the same for equal outputs.

Numbers are written by their value, the same for 1 and 1.0; -0.0 keeps its sign. NaN and infinities are the words that
Python's json knows; NaN with other bits than the usual one is `{"$nan": "fff8000000000000"}`. Lists, tuples and arrays
are written alike, and dictionaries in the order of their keys. What JSON has no form for is an object with one key
that begins with `$`, such as `{"$bytes": "00ff"}`.

Where all outputs are real numbers in arrays of one shape, they stay the array that they are.

This runs in users' worker processes too, so it needs NumPy and the standard library only.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import math
import pathlib
import uuid
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.quoting import quoted

ALLOWED = "numbers, text, bytes, None, lists, tuples, dictionaries, sets, arrays and data frames, nested as you like"

DEEPEST = 40  # levels of lists and dictionaries inside one another
_EXACT = 2.0**53
_LARGEST_INTEGER = 10**4000  # Python reads no longer ones from text
_PRINTED_WHOLE = (
    decimal.Decimal,
    fractions.Fraction,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    uuid.UUID,
    pathlib.PurePath,
)
"""Types whose text says all."""


class FormlessError(ValueError):
    """What a function returned has no form as text; the message begins with what it did."""


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception as an output: its type, and nothing of its message."""

    kind: str


def is_texts(points: NDArray[Any]) -> bool:
    """Whether these are outputs as text, not an array of numbers."""
    return bool(points.dtype.kind == "T")


def size_of(points: NDArray[Any]) -> int:
    """Bytes of outputs in memory."""
    return points.nbytes + (int(np.strings.str_len(points).sum()) if is_texts(points) else 0)


def packed(texts: NDArray[Any]) -> NDArray[np.uint8]:
    """Texts as bytes, a line each."""
    return np.frombuffer("".join(f"{text}\n" for text in texts).encode("ascii"), dtype=np.uint8)


def unpacked(content: NDArray[Any]) -> NDArray[Any]:
    """The same backwards."""
    if content.dtype != np.uint8 or content.ndim != 1:
        raise ValueError("no bytes")
    lines = content.tobytes().decode("ascii").split("\n")
    if lines.pop() != "":
        raise ValueError("the last line has no end")
    return _texts(lines)


def _texts(lines: Sequence[str]) -> NDArray[Any]:
    return np.array(lines, dtype=np.dtypes.StringDType())


def as_texts(points: NDArray[Any]) -> NDArray[Any]:
    """Outputs as text, a run each along the first axis, whatever they were."""
    return points if is_texts(points) else _texts([text_of(point) for point in points])


def joined(blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Blocks of outputs as one array, of numbers if that loses nothing."""
    if len({(block.dtype, block.shape[1:]) for block in blocks}) > 1:
        blocks = [as_texts(block) for block in blocks]
    return np.concatenate(blocks)


def kept(output: Any) -> Any:
    """An output as it is now: a function may write to the same object in its next run."""
    if isinstance(output, (bool, int, float, str, bytes, np.generic)):
        return output
    try:
        return copy.deepcopy(output)
    except Exception:
        # what cannot be copied (a lock, a generator) has no form as text either
        return output


def of_runs(outputs: Sequence[Any]) -> NDArray[Any]:
    """One output a run, as an array of numbers if that loses nothing, else as texts."""
    arrays: list[NDArray[Any]] = []
    for output in outputs:
        array = _numbers(output)
        if array is None or (arrays and array.shape != arrays[0].shape):
            break
        arrays.append(array)
    if arrays and len(arrays) == len(outputs):
        stacked = np.stack(arrays)
        kinds = {array.dtype.kind for array in arrays}
        if stacked.dtype.kind in "biuf" and not (
            len(kinds) > 1 and stacked.dtype.kind == "f" and _may_be_rounded(stacked)
        ):
            return stacked
    return _texts([text_of(output) for output in outputs])


def of_batch(outputs: Any) -> NDArray[Any]:
    """What a batched function returned: an entry a run along the first axis."""
    if _of_pandas(outputs):
        return of_runs(_rows_of_frame(outputs))
    array = _numbers(outputs)
    if array is not None:
        return array.copy()
    if not isinstance(outputs, (list, tuple, np.ndarray)) or getattr(outputs, "ndim", 1) == 0:
        raise _without_entries(outputs)
    return of_runs(list(outputs))


def _numbers(output: Any) -> NDArray[Any] | None:
    """An array of real numbers; None for what is none, or would lose a digit as one."""
    if isinstance(output, (str, bytes, bytearray, Mapping, Set, enum.Enum)) or _of_pandas(output):
        return None
    try:
        array = np.asarray(output)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind not in "biuf":
        return None
    # integers beside decimals were made floats
    given = isinstance(output, (np.ndarray, np.generic, float)) or hasattr(output, "__array__")
    if not given and array.dtype.kind == "f" and _may_be_rounded(array):
        return None
    return array


def _may_be_rounded(array: NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.any(np.isfinite(array) & (np.abs(array) >= _EXACT)))


def text_of(output: Any) -> str:
    """An output as one line of JSON in ASCII."""
    return json.dumps(_tree(output, 0), sort_keys=True, separators=(",", ":"))


def _tree(value: Any, depth: int) -> Any:
    """A value as JSON knows it."""
    if depth > DEEPEST:
        raise FormlessError(
            f"returned more than {DEEPEST} levels of lists or dictionaries inside one another"
        )
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return _integer(int(value))
    if isinstance(value, (float, np.floating)):
        return _float(value)
    if isinstance(value, (complex, np.complexfloating)):
        return {"$complex": [_float(value.real), _float(value.imag)]}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$bytes": bytes(value).hex()}
    return _compound(value, depth)


def _integer(value: int) -> int:
    if abs(value) >= _LARGEST_INTEGER:
        raise FormlessError("returned an integer of more than 4000 digits")
    return value


def _float(value: Any) -> Any:
    """A double; a longer float as its parts, an integer as one: 1 and 1.0 are the same, 0.0 and -0.0 are not."""
    double = float(value)
    if isinstance(value, np.longdouble) and math.isfinite(double) and value != double:
        return {"$sum": [double, float(value - np.longdouble(double))]}
    if double != double and (bits := np.float64(double).tobytes()) != np.float64(math.nan).tobytes():
        return {"$nan": np.frombuffer(bits, dtype=np.uint64)[0].item().to_bytes(8).hex()}
    if double.is_integer() and (double or math.copysign(1.0, double) > 0):
        return int(double)
    return double


def _compound(value: Any, depth: int) -> Any:
    below = depth + 1
    if isinstance(value, Raised):
        return {"$raised": value.kind}
    if isinstance(value, enum.Enum):
        return {"$text": [type(value).__name__, value.name]}
    if isinstance(value, np.ndarray):
        return _tree(value[()], below) if value.ndim == 0 else [_tree(item, below) for item in value]
    if isinstance(value, np.void) and value.dtype.names:
        return _mapping({name: value[name] for name in value.dtype.names}, below)
    if isinstance(value, Mapping):
        return _mapping(value, below)
    if isinstance(value, (list, tuple)):
        return [_tree(item, below) for item in value]
    if isinstance(value, Set):
        return {"$set": sorted((_tree(item, below) for item in value), key=_sorting)}
    if isinstance(value, (*_PRINTED_WHOLE, np.generic)):
        return {"$text": [type(value).__name__, str(value)]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _mapping({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, below)
    if _of_pandas(value):
        return _of_frame(value, below)
    if hasattr(value, "__array__") and not isinstance(array := np.asarray(value)[()], type(value)):
        return _tree(array, below)
    raise FormlessError(f"returned {_a(value)}; allowed: {ALLOWED}")


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {str(key): _tree(item, depth) for key, item in value.items()}
    pairs = [[_tree(key, depth), _tree(item, depth)] for key, item in value.items()]
    return {"$dict": sorted(pairs, key=lambda pair: _sorting(pair[0]))}


def _sorting(tree: Any) -> str:
    return json.dumps(tree, sort_keys=True)


def _a(value: Any) -> str:
    return f"an object of type {quoted(type(value).__name__)}"


def _of_pandas(value: Any) -> bool:
    """Whether it is one of pandas' own, which is not imported for that."""
    return type(value).__module__.partition(".")[0] == "pandas"


def _rows_of_frame(value: Any) -> list[Any]:
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        rows = value.itertuples(index=False, name=None)
        return [_by_name(list(zip(value.columns, map(_missing, row), strict=True))) for row in rows]
    if hasattr(value, "tolist"):
        return [_missing(item) for item in value.tolist()]
    raise _without_entries(value)


def _without_entries(value: Any) -> FormlessError:
    return FormlessError(
        f"returned {_a(value)} for all runs together; allowed: a list or an array with one output per run"
    )


def _by_name(pairs: list[tuple[Any, Any]]) -> Any:
    """A dictionary, or the pairs themselves where two have one name."""
    named = dict(pairs)
    return named if len(named) == len(pairs) else pairs


def _of_frame(value: Any, depth: int) -> Any:
    """A frame or series by its index and columns; a single value, such as a time, by its text."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "columns") and hasattr(value, "items"):
        columns = _by_name(
            [(name, [_missing(item) for item in column.tolist()]) for name, column in value.items()]
        )
        return _mapping({"index": value.index.tolist(), "columns": columns}, depth)
    if hasattr(value, "index") and hasattr(value, "tolist"):
        items = [_missing(item) for item in value.tolist()]
        return _mapping({"index": value.index.tolist(), "values": items}, depth)
    if hasattr(value, "tolist"):
        return [_tree(_missing(item), depth) for item in value.tolist()]
    return {"$text": [type(value).__name__, str(value)]}


def _missing(item: Any) -> Any:
    return None if type(item).__name__ in ("NAType", "NaTType") else item
