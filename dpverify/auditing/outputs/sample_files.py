"""Files of a mechanism's outputs, one a run, in any form."""

from __future__ import annotations

import csv
import io
import math
import re
import tokenize
import zipfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.outputs.samples import MINIMUM_RUNS
from dpverify.checks import require
from dpverify.errors import InvalidDataError, reason_of
from dpverify.quoting import quoted
from dpverify.running.subjects.texts import FormlessError, of_batch, of_runs

_EXACT = 2.0**53
"""Integers up to here are floats."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|nan|[+-]?inf(inity)?", re.IGNORECASE
)
_LARGEST_MEMBER = 2**33

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

Outputs = NDArray[Any]
"""Real numbers (runs, ...), or texts (runs,) as `dpverify.running.subjects.texts` has them."""


def read_samples(path: str | PathLike[str]) -> Outputs:
    """Read one sample set, one output per run.

    - `.npy`: an array with a run each along the first axis, of any type but objects. Nothing is ever unpickled.
    - `.npz`: several such arrays; an output is a dictionary of their rows.
    - `.csv`: one run per line, with commas between its cells. A cell is a number or, where it is none, text. A first
      line is a header if one of its cells is above numbers only, or if none of its cells occurs in its column again.
      Numbers that something else than commas separates are refused: as text, no two lines of them would be alike.
    - `.parquet`, where pyarrow is installed: an output is a row as a dictionary, or the value of the only column.

    Decimals are read as the nearest doubles, integers exactly. Raises `InvalidDataError` with one sentence, for
    anything else: a missing, empty or damaged file, other file types, rows of different lengths, fewer than
    `MINIMUM_RUNS` runs.
    """
    require(isinstance(path, (str, PathLike)), "path", path, f"the path of a file of samples: {_ALLOWED}")
    file = Path(path)
    try:
        file.stat()
    except FileNotFoundError as error:
        raise InvalidDataError(f"{file} does not exist; allowed: a file of samples, {_ALLOWED}.") from error
    except (OSError, ValueError) as error:
        raise InvalidDataError(
            f"{str(file)!r} cannot be read ({reason_of(error)}); allowed: a readable file, {_ALLOWED}."
        ) from error
    if not file.is_file():
        raise InvalidDataError(f"{file} is not a file; allowed: a file of samples, {_ALLOWED}.")
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise InvalidDataError(f"{file} ends in {file.suffix.lower() or 'nothing'}; allowed: {_ALLOWED}.")
    try:
        if file.stat().st_size == 0:
            raise InvalidDataError(f"{file} is empty; allowed: at least {MINIMUM_RUNS} runs.")
        found = reader(file)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidDataError(f"{file} cannot be read ({reason}); allowed: a readable file.") from error
    except FormlessError as error:
        raise InvalidDataError(f"{file} {error}.".replace(" returned ", " holds ")) from error
    if found.ndim == 0 or 0 in found.shape[1:]:
        raise InvalidDataError(f"{file} has shape {found.shape}; allowed: at least one number per run.")
    if len(found) < MINIMUM_RUNS:
        runs = "1 run" if len(found) == 1 else f"{len(found)} runs"
        raise InvalidDataError(f"{file} has {runs}; allowed: at least {MINIMUM_RUNS}.")
    return found


# ------------------------------------------------------------------------------------------- .npy, .npz


def _read_npy(file: Path) -> Outputs:
    with file.open("rb") as stream:
        return of_batch(_array(stream, file.stat().st_size, str(file)))


def _array(stream: IO[bytes], size: int, name: str) -> NDArray[Any]:
    not_npy = f"{name} is not a .npy file with one plain array; allowed: what numpy.save writes for numbers or text."
    try:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran_order, dtype = readers[version](stream)
    except (KeyError, *_HEADER_ERRORS) as error:
        raise InvalidDataError(not_npy) from error
    if dtype.hasobject:
        raise InvalidDataError(
            f"{name} holds Python objects, which are never unpickled; allowed: numbers and text."
        )
    if dtype.subdtype is not None or dtype.itemsize == 0:
        raise InvalidDataError(f"{name} has elements of type {dtype}; allowed: numbers and text.")
    # The header is compared with the file before anything of its size is allocated.
    count, held = math.prod(shape), size - stream.tell()
    if held != count * dtype.itemsize or any(length < 0 for length in shape):
        raise InvalidDataError(
            f"{name} holds {held} bytes of data where its header announces {count * dtype.itemsize}; "
            "allowed: a complete file."
        )
    flat = np.frombuffer(stream.read(), dtype=dtype, count=count)
    return flat.reshape(shape, order="F" if fortran_order else "C")


def _read_npz(file: Path) -> Outputs:
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                name = f"{member.filename} in {file}"
                if member.file_size > _LARGEST_MEMBER:
                    raise InvalidDataError(f"{name} has {member.file_size} bytes; allowed: at most 8 GiB.")
                content = io.BytesIO(archive.read(member))
                arrays[member.filename.removesuffix(".npy")] = _array(content, member.file_size, name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        if isinstance(error, InvalidDataError):
            raise
        raise InvalidDataError(
            f"{file} is not a .npz file; allowed: what numpy.savez writes for arrays of numbers or text."
        ) from error
    lengths = {array.shape[0] if array.ndim else None for array in arrays.values()}
    if len(lengths) != 1 or None in lengths:
        raise InvalidDataError(
            f"{file} has arrays of shapes {', '.join(str(a.shape) for a in arrays.values()) or 'none'}; allowed: at "
            "least one, each with a run each along its first axis."
        )
    if len(arrays) == 1:
        return of_batch(next(iter(arrays.values())))
    return of_runs([dict(zip(arrays, rows, strict=True)) for rows in zip(*arrays.values(), strict=True)])


# ------------------------------------------------------------------------------------------- .csv


def _read_csv(file: Path) -> Outputs:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            lines = stream.readlines()
    except UnicodeDecodeError as error:
        raise InvalidDataError(
            f"{file} is not text in UTF-8; allowed: numbers and text separated by commas."
        ) from error
    body = lines[0 if _is_numeric(lines[0]) else 1 :]
    if not any(line.strip() for line in body):
        raise InvalidDataError(f"{file} has no runs; allowed: at least {MINIMUM_RUNS}.")
    try:
        table = np.loadtxt(body, delimiter=",", comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return _cells_of(file, lines)
    # what floats may have rounded is read again, exactly
    if np.any(np.abs(table) >= _EXACT):
        return _cells_of(file, lines)
    return table[:, 0] if table.shape[1] == 1 else table


def _cells_of(file: Path, lines: list[str]) -> Outputs:
    """The runs of a table whose cells are text, or integers that a float would round."""
    try:
        rows = [[_cell(cell) for cell in row] for row in csv.reader(lines, strict=True) if row]
    except csv.Error as error:
        raise InvalidDataError(
            f"{file} does not read as a table ({quoted(error)}); allowed: one run per line, numbers and text "
            "separated by commas."
        ) from error
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise InvalidDataError(
            f"{file} has lines of {min(widths)} and of {max(widths)} cells, so that it does not read as a table; "
            "allowed: one run per line, the same count of cells on each, and at most one header line."
        )
    if widths == {1} and len(rows) > 1 and all(_is_split_otherwise(row[0]) for row in rows[1:]):
        raise InvalidDataError(
            f"{file}, line {len(lines)}, has {quoted(lines[-1], 40)!r}, which commas do not divide into numbers, as "
            "on all other lines; allowed: numbers and text separated by commas (numpy.savetxt(..., delimiter=','))."
        )
    if any("\0" in cell for row in rows for cell in row if isinstance(cell, str)):
        raise InvalidDataError(f"{file} has a NUL in a cell; allowed: numbers and text.")
    outputs = rows[1:] if _is_heading(rows) else rows
    return of_runs([row[0] if len(row) == 1 else row for row in outputs])


def _cell(text: str) -> int | float | str:
    plain = text.strip()
    if _INTEGER.fullmatch(plain):
        return int(plain)
    if _DECIMAL.fullmatch(plain):
        value = float(plain)
        # infinity is a number where it is meant
        if math.isfinite(value) or not any(digit.isdigit() for digit in plain):
            return value
    return text


def _is_split_otherwise(cell: int | float | str) -> bool:
    """Whether a cell is several numbers with semicolons, tabs or spaces between them."""
    parts = re.split(r"\s*[;\t ]\s*", cell.strip()) if isinstance(cell, str) else []
    return len(parts) > 1 and all(_DECIMAL.fullmatch(part) for part in parts)


def _is_heading(rows: list[list[int | float | str]]) -> bool:
    columns = [(column[0], column[1:]) for column in zip(*rows, strict=True)]
    above_numbers = any(
        isinstance(head, str) and not any(isinstance(cell, str) for cell in rest) for head, rest in columns
    )
    return above_numbers or all(isinstance(head, str) and head not in rest for head, rest in columns)


def _is_numeric(line: str) -> bool:
    try:
        for cell in line.strip().split(","):
            float(cell)
    except ValueError:
        return False
    return True


# ------------------------------------------------------------------------------------------- .parquet


def _read_parquet(file: Path) -> Outputs:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InvalidDataError(
            f"{file} needs pyarrow, which is not installed; allowed: .npy, .npz or .csv without it."
        ) from error
    try:
        rows = pyarrow.parquet.read_table(file).to_pylist()
    except (pyarrow.ArrowException, ValueError) as error:
        raise InvalidDataError(f"{file} is not a Parquet file; allowed: one run per row.") from error
    return of_runs([next(iter(row.values())) if len(row) == 1 else row for row in rows])


_READERS: dict[str, Callable[[Path], Outputs]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
_ALLOWED = ".npy, .npz, .csv or .parquet"
