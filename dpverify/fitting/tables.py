"""A CSV file of records, and one of ranges, as `dpverify fit` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems.tables.cells import number_in, numbers_of, rows_of
from dpverify.quoting import quoted


@dataclass(frozen=True)
class LabeledTable:
    """Features (n, d) with their names, and labels as they are written, (n,)."""

    features: FloatArray
    names: tuple[str, ...]
    labels: tuple[str, ...]


def read_labeled(path: Path, label: str) -> LabeledTable:
    """A record a row; the label's column by its name in the first row, or by its number from 1. The rest are features.

    Raises:
        InvalidDataError: if the file cannot be read, or a feature is no finite number, with its line.
        InvalidArgumentError: if there is no such column.
    """
    rows = rows_of(path, "a CSV file, a record per row")
    first = [cell.strip() for cell in rows[0][1]]
    named = label in first or all(number_in(cell) is None for cell in first)
    header = first if named else [str(place) for place in range(1, len(first) + 1)]
    rows = rows[1:] if named else rows
    column = header.index(label) if label in header else _place(label, header)
    names = tuple(name for place, name in enumerate(header) if place != column)
    if not rows or not names:
        raise InvalidDataError(f"{path} has no record with a feature and a label.")
    others = [(line, cells[:column] + cells[column + 1 :]) for line, cells in rows]
    features = numbers_of(path, others, names)
    return LabeledTable(features, names, tuple(cells[column].strip() for _, cells in rows))


def _place(label: str, header: Sequence[str]) -> int:
    places = [str(place) for place in range(1, len(header) + 1)]
    if label not in places:
        allowed = f"a column, by its name or by its number from 1 to {len(header)}"
        raise InvalidArgumentError("label", label, allowed)
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
