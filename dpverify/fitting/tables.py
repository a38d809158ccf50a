"""A file of records, and one of ranges, as `dpverify fit` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from sys import intern

import numpy as np

from dpverify.checks import FloatArray, require
from dpverify.errors import InvalidDataError
from dpverify.problems.tables.cells import number_in, numbers_of, rows_in, rows_of
from dpverify.problems.tables.mapped import by_rows, gathered, read_npy
from dpverify.quoting import quoted

LARGE = 2**28
"""Bytes of a CSV file from which on its features are kept on disk."""
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class LabeledTable:
    """Features (n, d) with their names, and labels as they are written, (n,)."""

    features: FloatArray
    names: tuple[str, ...]
    labels: tuple[str, ...]


def read_labeled(path: Path, label: str) -> LabeledTable:
    """A record a row; the label's column by its name in the first row, or by its number from 1. The rest are features.

    Of a .npy file and of a CSV file that is `LARGE` the features stay on disk.

    Raises:
        InvalidDataError: if the file cannot be read, or a feature is no finite number, with its line.
        InvalidArgumentError: if there is no such column.
    """
    if path.suffix == ".npy":
        return _labeled_npy(path, label)
    rows = rows_in(path, "a CSV file, a record per row")
    begin = next(rows)
    first = [cell.strip() for cell in begin[1]]
    numbers = sum(number_in(cell) is not None for cell in first)
    named = not numbers or (label in first and numbers < len(first))  # a row of numbers is a record
    header = first if named else _numbered(len(first))
    column = header.index(label) if label in header else _place(label, header)
    names = tuple(name for place, name in enumerate(header) if place != column)
    labels: list[str] = []

    def features() -> Iterator[FloatArray]:
        left = rows if named else chain([begin], rows)
        while some := list(islice(left, _ROWS_AT_ONCE)):
            labels.extend(intern(cells[column].strip()) for _, cells in some)
            others = [(line, cells[:column] + cells[column + 1 :]) for line, cells in some]
            yield numbers_of(path, others, names)

    found = features()
    one = next(found, None) if names else None
    if one is None:
        raise InvalidDataError(f"{path} has no record with a feature and a label.")
    table = gathered(chain([one], found), on_disk=path.stat().st_size >= LARGE)
    return LabeledTable(table, names, tuple(labels))


def _labeled_npy(path: Path, label: str) -> LabeledTable:
    table = read_npy(path)
    header = _numbered(table.shape[1])
    column = _place(label, header)
    names = tuple(header[:column] + header[column + 1 :])
    if not names:
        raise InvalidDataError(f"{path} has no record with a feature and a label.")
    last = column == len(names)
    features = table[:, :column] if last else by_rows(lambda rows: np.delete(rows, column, axis=1), table)
    return LabeledTable(features, names, tuple(intern(repr(one)) for one in table[:, column].tolist()))


def _numbered(width: int) -> list[str]:
    return [str(place) for place in range(1, width + 1)]


def _place(label: str, header: Sequence[str]) -> int:
    places = _numbered(len(header))
    allowed = f"a column, by its name or by its number from 1 to {len(header)}"
    require(label in places, "label", label, allowed)
    return places.index(label)


def read_ranges(path: Path, names: Sequence[str]) -> list[tuple[float, float]]:
    """A row for each feature: its name, its smallest and its largest value. In the order of `names`.

    Raises:
        InvalidDataError: if the file cannot be read, or a feature is missing or unknown.
    """
    found: dict[str, tuple[float, float]] = {}
    for line, cells in rows_of(path, "a CSV file of name, smallest, largest"):
        ends = [number_in(cell) for cell in cells[1:]]
        name = cells[0].strip()
        if name not in names and not found and None in ends:
            continue  # a header
        if len(cells) != 3 or name not in names or name in found or None in ends:
            raise InvalidDataError(
                f"{path}, line {line}, is {quoted(','.join(cells))!r}; allowed: the name of a feature, once, its "
                "smallest and its largest value."
            )
        low, high = (end or 0.0 for end in ends)
        found[name] = (low, high)
    lacking = [name for name in names if name not in found]
    if lacking:
        raise InvalidDataError(
            f"{path} has no range for {quoted(lacking[0])}; allowed: a row for every feature."
        )
    return [found[name] for name in names]
