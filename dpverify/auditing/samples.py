"""Sample sets of a mechanism's outputs: reading them from files, and checking them."""

from __future__ import annotations

import math
import re
import tokenize
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.errors import InvalidArgumentError, InvalidDataError

MINIMUM_RUNS = 100
"""Fewer runs than this cannot be divided into learning and judging parts that say anything."""

Samples = NDArray[Any]
"""Floats, or integers where floats would not be exact."""

_EXACT = 2.0**53
"""Integers up to here are floats."""

_HEADER_ERRORS = (
    ValueError,
    EOFError,
    SyntaxError,
    TypeError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)
"""What numpy's header reader raises on headers that are not its own."""


def read_samples(path: str | PathLike[str]) -> Samples:
    """Read one sample set, (runs,) or (runs, d), from a `.npy` or `.csv` file.

    Nothing is ever unpickled. A CSV file has one run a line, numbers between commas, and at most one line of
    headings. Booleans and integers become floats, unless an integer is beyond 2^53 and a float would not be exact.

    Raises `InvalidDataError` with one sentence for anything else: a missing or empty file, other file types,
    objects, text, complex numbers, NaN, infinity, more than two axes, fewer than `MINIMUM_RUNS` runs.
    """
    if not isinstance(path, (str, PathLike)):
        raise InvalidArgumentError("path", path, "the path of a .npy or .csv file of samples")
    file = Path(path)
    try:
        file.stat()
    except FileNotFoundError:
        pass  # said below
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidDataError(
            f"{str(file)!r} cannot be read ({reason}); allowed: a readable .npy or .csv file."
        ) from error
    kind = file.suffix.lower()
    if not file.exists():
        raise InvalidDataError(f"{file} does not exist; allowed: a .npy or .csv file of samples.")
    if not file.is_file():
        raise InvalidDataError(f"{file} is not a file; allowed: a .npy or .csv file of samples.")
    if kind not in (".npy", ".csv"):
        raise InvalidDataError(f"{file} ends in {kind or 'nothing'}; allowed: .npy (one array) or .csv.")
    try:
        if file.stat().st_size == 0:
            raise InvalidDataError(f"{file} is empty; allowed: at least {MINIMUM_RUNS} runs.")
        raw = _read_npy(file) if kind == ".npy" else _read_csv(file)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidDataError(
            f"{file} cannot be read ({reason}); allowed: a readable .npy or .csv file."
        ) from error
    return check_samples(raw, str(file))


def check_samples(samples: ArrayLike, name: str) -> Samples:
    """Return samples as exact numbers, (runs,) or (runs, d), not copied if they are; errors as in `read_samples`.

    They become floats, except for integers and long floats of which a float would lose a digit.
    """
    raw = _checked(samples, name)
    with np.errstate(over="ignore"):
        converted = raw.astype(np.float64, copy=False)
    return converted if not _remainder(raw, converted).any() else raw


def check_pair(left: ArrayLike, right: ArrayLike) -> tuple[Samples, Samples]:
    """Return both sample sets as (runs, d) floats; raise `InvalidDataError` if their shapes differ.

    Different outputs stay different. Where a column would lose digits, the digits lost follow in a column of their
    own: the map from outputs to rows of floats is the same for all runs, and one to one.
    """
    p, q = _checked(left, "left"), _checked(right, "right")
    if p.shape != q.shape:
        raise InvalidDataError(
            f"left has shape {p.shape} and right has shape {q.shape}; allowed: equal shapes, "
            "the same number of runs on both data sets."
        )
    raw = [part.reshape(part.shape[0], -1) for part in (p, q)]
    floats = [part.astype(np.float64, copy=False) for part in raw]
    lost = [_remainder(part, rounded) for part, rounded in zip(raw, floats, strict=True)]
    columns = np.any(lost[0] != 0, axis=0) | np.any(lost[1] != 0, axis=0)
    if columns.any():
        floats = [
            np.concatenate([rounded, rest[:, columns]], axis=1)
            for rounded, rest in zip(floats, lost, strict=True)
        ]
    return floats[0], floats[1]


def as_floats(samples: ArrayLike, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return any number of runs as (runs, d) floats, and what they lost by rounding, likewise.

    Raises `InvalidDataError` for what cannot be used.
    """
    raw = _checked(samples, name, least=1)
    flat = raw.reshape(raw.shape[0], -1)
    rounded = flat.astype(np.float64, copy=False)
    return rounded, _remainder(flat, rounded)


def _checked(samples: ArrayLike, name: str, *, least: int = MINIMUM_RUNS) -> NDArray[Any]:
    """Samples as they are, if they can be used."""
    try:
        raw = np.asarray(samples)
    except ValueError as error:
        raise InvalidDataError(f"{name} is not an array; allowed: shape (runs,) or (runs, d).") from error
    if raw.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"{name} has elements of type {raw.dtype}; allowed: booleans, integers and real floats."
        )
    if raw.ndim not in (1, 2):
        raise InvalidDataError(
            f"{name} has shape {raw.shape}; allowed: (runs,) or (runs, d), one row per run."
        )
    if raw.shape[0] < least:
        raise InvalidDataError(f"{name} has {raw.shape[0]} runs; allowed: at least {least}.")
    if raw.ndim == 2 and raw.shape[1] == 0:
        raise InvalidDataError(f"{name} has shape {raw.shape}; allowed: at least one number per run.")
    with np.errstate(over="ignore"):  # a long double may not fit; the next check finds it
        finite = np.isfinite(raw.astype(np.float64, copy=False))
    if not np.all(finite):
        row = int(np.argmin(finite.reshape(raw.shape[0], -1).all(axis=1)))
        raise InvalidDataError(f"{name} has NaN or infinity in run {row + 1}; allowed: finite numbers.")
    return raw


def _remainder(raw: NDArray[Any], rounded: NDArray[np.float64]) -> NDArray[np.float64]:
    """What rounding to float64 took away, which a float holds exactly."""
    if raw.dtype.kind == "b" or raw.dtype.itemsize < 8 or raw.dtype == np.float64:
        return np.zeros(raw.shape)
    if raw.dtype.kind == "f":
        return (raw - rounded).astype(np.float64)
    # the float next to the largest integers is beyond their type; one below is as good
    largest = np.nextafter(float(2 ** (64 if raw.dtype.kind == "u" else 63)), 0.0)
    back = np.minimum(rounded, largest).astype(raw.dtype)
    up = np.where(raw >= back, raw - back, 0).astype(np.float64)
    down = np.where(raw < back, back - raw, 0).astype(np.float64)
    return up - down


def _read_npy(file: Path) -> NDArray[np.generic]:
    not_npy = f"{file} is not a .npy file with one plain array; allowed: what numpy.save writes for numbers."
    with file.open("rb") as stream:
        try:
            version = np.lib.format.read_magic(stream)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            if read_header is None:
                raise InvalidDataError(not_npy)
            shape, fortran_order, dtype = read_header(stream)
        except _HEADER_ERRORS as error:
            if isinstance(error, InvalidDataError):
                raise
            raise InvalidDataError(not_npy) from error
        if dtype.hasobject:
            raise InvalidDataError(
                f"{file} holds Python objects, which are never unpickled; allowed: numbers."
            )
        if dtype.kind not in "biuf" or dtype.subdtype is not None:
            raise InvalidDataError(
                f"{file} has elements of type {dtype}; allowed: booleans, integers and real floats."
            )
        # The header is compared with the file before anything of its size is allocated.
        count, held = math.prod(shape), file.stat().st_size - stream.tell()
        if held != count * dtype.itemsize or any(length < 0 for length in shape):
            raise InvalidDataError(
                f"{file} holds {held} bytes of data where its header announces {count * dtype.itemsize}; "
                "allowed: a complete file."
            )
        flat = np.frombuffer(stream.read(), dtype=dtype, count=count)
    return flat.reshape(shape, order="F" if fortran_order else "C")


def _read_csv(file: Path) -> NDArray[Any]:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            first = stream.readline()
        skip = 0 if _is_numeric(first) else 1
        with file.open(encoding="utf-8-sig") as stream:
            lines = stream.readlines()[skip:]
    except UnicodeDecodeError as error:
        raise InvalidDataError(
            f"{file} is not text in UTF-8; allowed: numbers separated by commas."
        ) from error
    if not any(line.strip() for line in lines):
        raise InvalidDataError(f"{file} has no runs; allowed: at least {MINIMUM_RUNS}.")
    try:
        table = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2, dtype=np.float64)
    except ValueError as error:
        raise InvalidDataError(
            f"{file} cannot be read as a table of numbers; allowed: one run per line, the same count of numbers on "
            "each, separated by commas, and at most one header line."
        ) from error
    # what a float turns into infinity is refused by whoever checks the samples
    if np.all(np.isfinite(table)) and np.any(np.abs(table) >= _EXACT):
        return _without_rounding(file, lines, table)
    return table[:, 0] if table.shape[1] == 1 else table


def _without_rounding(file: Path, lines: list[str], table: NDArray[np.float64]) -> NDArray[Any]:
    """The table as integers where its large numbers are; a table of floats if none of them was rounded."""
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    exact = True
    try:
        numbers = [[int(cell) for cell in row] for row in cells]
    except ValueError:
        for row, floats in zip(cells, table, strict=True):
            for cell, value in zip(row, floats, strict=True):
                if abs(value) >= _EXACT and re.fullmatch(r"[+-]?\d+", cell):
                    exact = exact and int(cell) == int(value)
        if not exact:
            raise InvalidDataError(
                f"{file} has decimals, and integers that a float cannot hold; allowed: integers up to 2^53 along "
                "with decimals, or integers alone."
            ) from None
        whole: NDArray[Any] = table
    else:
        if all(int(value) == number for row, floats in zip(numbers, table, strict=True)
               for number, value in zip(row, floats, strict=True)):  # fmt: skip
            whole = table
        else:
            smallest, largest = min(map(min, numbers)), max(map(max, numbers))
            if smallest >= -(2**63) and largest < 2**63:
                whole = np.array(numbers, dtype=np.int64)
            elif smallest >= 0 and largest < 2**64:
                whole = np.array(numbers, dtype=np.uint64)
            else:
                raise InvalidDataError(
                    f"{file} has integers from {smallest} to {largest} that a float cannot hold; allowed: 64-bit "
                    "integers, or integers with at most 53 significant bits."
                )
    return whole[:, 0] if whole.shape[1] == 1 else whole


def _is_numeric(line: str) -> bool:
    try:
        for cell in line.strip().split(","):
            float(cell)
    except ValueError:
        return False
    return True
