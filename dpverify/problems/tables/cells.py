"""The cells of a CSV file, as text."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.quoting import quoted

MISSING = frozenset({"", "na", "n/a", "nan", "null"})
"""In lower case, what says that something is missing."""


def number_in(cell: str) -> float | None:
    """The number that a cell holds, not finite ones included; None if it holds none."""
    # float() also takes "1_000", which no data file means as a number.
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def rows_of(path: Path, allowed: str) -> list[tuple[int, list[str]]]:
    """All of `rows_in`.

    Raises:
        InvalidDataError: as there.
    """
    return list(rows_in(path, allowed))


def rows_in(path: Path, allowed: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, with their line numbers, all of one length; `allowed` says what the file may be.

    Raises:
        InvalidDataError: for a file that cannot be read, holds nothing, or has rows of several lengths.
    """
    width = 0
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            for cells in reader:
                if not any(cell.strip() for cell in cells):
                    continue
                width = width or len(cells)
                if len(cells) != width:
                    raise InvalidDataError(
                        f"{path}, line {reader.line_num}, has {len(cells)} cells; allowed: {width}, as in the first "
                        "record."
                    )
                yield reader.line_num, cells
    except FileNotFoundError:
        raise InvalidDataError(f"{path} does not exist; allowed: {allowed}.") from None
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise InvalidDataError(f"{path} is not comma-separated text in UTF-8.") from None
    except InvalidDataError:
        raise
    except ValueError as error:
        raise InvalidDataError(f"{str(path)!r} cannot be read: {error}.") from None
    if not width:
        raise InvalidDataError(f"{path} has no records; allowed: one record per row.")


def numbers_of(
    path: Path, rows: Sequence[tuple[int, Sequence[str]]], names: Sequence[str] = ()
) -> FloatArray:
    """The numbers in rows of a file with their lines, shape (rows, columns); columns may have names for messages.

    Raises:
        InvalidDataError: if a cell is no finite number.
    """
    table = np.empty((len(rows), len(rows[0][1])))
    for i, (line, cells) in enumerate(rows):
        for j, cell in enumerate(cells):
            number = number_in(cell)
            if number is None or not math.isfinite(number):
                column = f", column {quoted(names[j])}" if names else ""
                raise InvalidDataError(
                    f"{path}, line {line}{column}, has {quoted(cell)!r}; allowed: finite numbers."
                )
            table[i, j] = number
    return table
