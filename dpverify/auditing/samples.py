"""Sample sets of a mechanism's outputs: reading them from files, and checking them."""

from __future__ import annotations

import math
import tokenize
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.errors import InvalidArgumentError, InvalidDataError

MINIMUM_RUNS = 100
"""Fewer runs than this cannot be divided into learning and judging parts that say anything."""

Samples = NDArray[np.float64]

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
    headings. Booleans and integers become floats.

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
    """Return samples as floats, (runs,) or (runs, d), not copied if they are; errors as in `read_samples`."""
    try:
        raw = np.asarray(samples)
    except ValueError as error:
        raise InvalidDataError(f"{name} is not an array; allowed: shape (runs,) or (runs, d).") from error
    if raw.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"{name} has elements of type {raw.dtype}; allowed: booleans, integers and real floats."
        )
    if raw.ndim not in (1, 2):
        raise InvalidDataError(f"{name} has shape {raw.shape}; allowed: (runs,) or (runs, d), one row a run.")
    if raw.shape[0] < MINIMUM_RUNS:
        raise InvalidDataError(f"{name} has {raw.shape[0]} runs; allowed: at least {MINIMUM_RUNS}.")
    if raw.ndim == 2 and raw.shape[1] == 0:
        raise InvalidDataError(f"{name} has shape {raw.shape}; allowed: at least one number a run.")
    with np.errstate(over="ignore"):  # a long double may not fit; the next check finds it
        converted = raw.astype(np.float64, copy=False)
    if not np.all(np.isfinite(converted)):
        row = int(np.argmin(np.isfinite(converted).reshape(raw.shape[0], -1).all(axis=1)))
        raise InvalidDataError(f"{name} has NaN or infinity in run {row + 1}; allowed: finite numbers.")
    return converted


def check_pair(left: ArrayLike, right: ArrayLike) -> tuple[Samples, Samples]:
    """Return both sample sets as (runs, d) floats; raise `InvalidDataError` if their shapes differ."""
    p, q = check_samples(left, "left"), check_samples(right, "right")
    if p.shape != q.shape:
        raise InvalidDataError(
            f"left has shape {p.shape} and right has shape {q.shape}; allowed: equal shapes, "
            "the same number of runs on both data sets."
        )
    return p.reshape(p.shape[0], -1), q.reshape(q.shape[0], -1)


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
                f"{file} holds {held} bytes of data where its header promises {count * dtype.itemsize}; "
                "allowed: a complete file."
            )
        flat = np.frombuffer(stream.read(), dtype=dtype, count=count)
    return flat.reshape(shape, order="F" if fortran_order else "C")


def _read_csv(file: Path) -> NDArray[np.float64]:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            first = stream.readline()
        skip = 0 if _is_numeric(first) else 1
        with file.open(encoding="utf-8-sig") as stream:
            lines = stream.readlines()[skip:]
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"{file} is not text in UTF-8; allowed: numbers between commas.") from error
    if not any(line.strip() for line in lines):
        raise InvalidDataError(f"{file} has no runs; allowed: at least {MINIMUM_RUNS}.")
    try:
        table = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2, dtype=np.float64)
    except ValueError as error:
        raise InvalidDataError(
            f"{file} does not read as a table of numbers; allowed: one run a line, the same count of numbers "
            "between commas on each, and at most one line of headings."
        ) from error
    return table[:, 0] if table.shape[1] == 1 else table


def _is_numeric(line: str) -> bool:
    try:
        for cell in line.strip().split(","):
            float(cell)
    except ValueError:
        return False
    return True
