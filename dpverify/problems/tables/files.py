"""Tables in CSV and Parquet files, with the kinds of their columns; those of two neighbors are read together."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from dpverify.errors import InvalidDataError
from dpverify.problems.tables.cells import MISSING, number_in, rows_of
from dpverify.problems.tables.frames import as_records
from dpverify.problems.tables.records import Cell, Kind, Records, library
from dpverify.quoting import quoted

_ALLOWED = "a CSV file of numbers, or one with a header, or a Parquet file"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?")


def read_tables(paths: Sequence[Path]) -> list[Records]:
    """The tables in one or two files, CSV or Parquet, with the same columns of the same kinds.

    In a CSV file a column holds integers, numbers, truth values (true, false), dates (2024-01-31), times
    (2024-01-31T12:30) or else text, by all of its cells in both files. Cells that are empty are missing; so are NA,
    N/A, NaN and null where the others are no text. A missing number is NaN, anything else None. A first row without
    any number, date or truth value is a header. A file that holds more than numbers needs one, with different names;
    columns without names are column 1, column 2 and so on.

    Raises:
        InvalidDataError: for files that cannot be read, and for columns that differ.
        MissingExtraError: for a Parquet file without pyarrow.
    """
    parquet = [path.suffix.lower() == ".parquet" for path in paths]
    if all(parquet):
        found = [_of_parquet(path) for path in paths]
    elif any(parquet):
        raise InvalidDataError(
            f"{paths[0]} and {paths[1]} are of two formats; allowed: CSV or Parquet for both."
        )
    else:
        found = _of_csv(paths)
    return found


def _of_parquet(path: Path) -> Records:
    parquet, arrow = library("pyarrow.parquet", f"{path}"), library("pyarrow", f"{path}")
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise InvalidDataError(f"{path} cannot be read as a Parquet file: {quoted(error, 80)}.") from error
    found = as_records(str(path), table)
    assert found is not None
    kinds: list[Kind] = []
    for field, kind in zip(table.schema, found.kinds, strict=True):
        # a column without values says what it would hold
        known = next((one for test, one in _ARROW if getattr(arrow.types, test)(field.type)), kind)
        kinds.append(known)
    return _file_form(Records(found.names, tuple(kinds), found.rows))


def _file_form(records: Records) -> Records:
    """Numbers alone are an array."""
    return replace(records, form="array") if records.numeric else records


_ARROW: tuple[tuple[str, Kind], ...] = (
    ("is_boolean", "boolean"), ("is_integer", "integer"), ("is_floating", "number"), ("is_date", "date"),
    ("is_timestamp", "time"), ("is_string", "text"), ("is_large_string", "text"), ("is_dictionary", "text"),
)  # fmt: skip


def _of_csv(paths: Sequence[Path]) -> list[Records]:
    files = [rows_of(path, _ALLOWED) for path in paths]
    headers = [_header(rows) for rows in files]
    header, width = headers[0], len(files[0][0][1])
    if any(len(rows[0][1]) != width for rows in files):
        return [_of_csv([path])[0] for path in paths]
    bodies = [rows if top is None else rows[1:] for rows, top in zip(files, headers, strict=True)]
    for path, body in zip(paths, bodies, strict=True):
        if not body:
            raise InvalidDataError(f"{path} has no records; allowed: one record per row.")
    kinds = [_kind([cells[j].strip() for body in bodies for _, cells in body]) for j in range(width)]
    if not set(kinds) <= {"integer", "number"}:
        if None in headers or not all(_names(top) for top in headers if top is not None):
            _refuse_unnamed(paths, bodies, kinds)
        if header != headers[-1]:
            raise InvalidDataError(
                f"{paths[0]} and {paths[-1]} have different headers; allowed: the same in both."
            )
    numbered = [f"column {place + 1}" for place in range(width)]
    named = header if header is not None and _names(header) else tuple(numbered)
    readers = [_READERS[kind] for kind in kinds]
    found = []
    for body in bodies:
        rows = (tuple(read(cell) for read, cell in zip(readers, cells, strict=True)) for _, cells in body)
        found.append(_file_form(Records(named, tuple(kinds), tuple(rows))))
    return found


def _refuse_unnamed(
    paths: Sequence[Path], bodies: Sequence[list[tuple[int, list[str]]]], kinds: Sequence[Kind]
) -> None:
    for path, body in zip(paths, bodies, strict=True):
        for line, cells in body:
            for cell, kind in zip(cells, kinds, strict=True):
                number = number_in(cell)
                wrong = cell.strip().lower() not in MISSING and (number is None or not math.isfinite(number))
                if kind not in ("integer", "number") and wrong:
                    raise InvalidDataError(
                        f"{path}, line {line}, has {quoted(cell)!r}; allowed: finite numbers, and nothing, NA, NaN "
                        "or null for what is missing; more than numbers with a first row of different names."
                    )


def _header(rows: list[tuple[int, list[str]]]) -> tuple[str, ...] | None:
    """The first row if it holds no value, such as a number or a date, and is not empty."""
    first = tuple(cell.strip() for cell in rows[0][1])
    values = any(
        number_in(cell) is not None or (cell and _kind([cell]) in ("boolean", "date", "time"))
        for cell in first
    )
    return None if values or all(cell.lower() in MISSING for cell in first) else first


def _names(header: Sequence[str]) -> bool:
    """Whether each column has a name of its own."""
    return len(set(header)) == len(header) and "" not in header


def _kind(cells: Sequence[str]) -> Kind:
    """What all cells that are not missing can be read as; numbers where all are missing."""
    there = [cell for cell in cells if cell.lower() not in MISSING]
    tests: list[tuple[Kind, Callable[[str], bool]]] = [
        ("integer", lambda cell: re.fullmatch(r"[+-]?\d{1,18}", cell) is not None),
        ("number", lambda cell: (found := number_in(cell)) is not None and math.isfinite(found)),
        ("boolean", lambda cell: cell.lower() in ("true", "false")),
        ("date", lambda cell: _DATE.fullmatch(cell) is not None and _is(date, cell)),
        ("time", lambda cell: _TIME.fullmatch(cell) is not None and _is(datetime, cell)),
    ]
    found: Kind = next((kind for kind, test in tests if all(map(test, there))), "text")
    # a column of integers in which some are missing holds floats, as in NumPy and pandas
    return "number" if found == "integer" and len(there) < len(cells) else found


def _is(kind: Any, cell: str) -> bool:
    try:
        kind.fromisoformat(cell)
    except ValueError:
        return False
    return True


def _unless_missing(read: Callable[[str], Cell]) -> Callable[[str], Cell]:
    return lambda cell: None if cell.strip().lower() in MISSING else read(cell.strip())


_READERS: dict[Kind, Callable[[str], Cell]] = {
    "integer": lambda cell: int(cell.strip()),
    "number": lambda cell: math.nan if cell.strip().lower() in MISSING else float(cell),
    "boolean": _unless_missing(lambda cell: cell.lower() == "true"),
    "date": _unless_missing(date.fromisoformat),
    "time": _unless_missing(datetime.fromisoformat),
    "text": lambda cell: cell or None,
}
