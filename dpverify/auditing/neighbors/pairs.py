"""Pairs of neighboring data sets, kept in files so that what was found on one is found again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from dpverify.checks import FloatArray, of_kind
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.files import write_whole
from dpverify.privacy import Adjacency
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.neighbors import check_neighbors
from dpverify.problems.tables.neighbors import check_tables
from dpverify.problems.tables.records import Cell, Records, written

_KEYS = {"adjacency", "columns", "data", "neighbor"}
_TABLE_KEYS = {*_KEYS, "kinds", "form"}
Data = TypeVar("Data", FloatArray, Records)


@dataclass(frozen=True, eq=False)
class _Neighbors(Generic[Data]):
    data: Data
    neighbor: Data
    adjacency: Adjacency
    about: str = ""
    unit: PrivacyUnit | None = None

    @property
    def records(self) -> int:
        """Of the larger of the two."""
        return max(len(self.data), len(self.neighbor))


@dataclass(frozen=True, eq=False)
class Pair(_Neighbors[FloatArray]):
    """Two neighboring data sets with one record a row; the one or the other may be empty.

    Attributes:
        data: (n, columns).
        neighbor: (n', columns).
        adjacency: by which they are neighbors.
        about: how it came about, in words.
        unit: the adjacency with its parameters, where it has any.

    Raises `InvalidDataError` if they are no neighbors.
    """

    def __post_init__(self) -> None:
        check_neighbors(self.data, self.neighbor, self.adjacency, names=("data", "neighbor"), unit=self.unit)

    def save(self, path: Path) -> None:
        """Write a JSON file, whole or not at all; numbers are read back as the same numbers.

        Raises `InvalidDataError` if the place cannot be written to.
        """
        found = {
            "adjacency": self.adjacency.value,
            "columns": self.data.shape[1],
            "data": _written(self.data),
            "neighbor": _written(self.neighbor),
        }
        _save(path, found, self.unit)


@dataclass(frozen=True, eq=False)
class TablePair(_Neighbors[Records]):
    """Two neighboring tables of the same columns, otherwise as a `Pair`.

    Raises `InvalidDataError` if they are no neighbors.
    """

    def __post_init__(self) -> None:
        unit = self.unit or PrivacyUnit(self.adjacency)
        check_tables(self.data, self.neighbor, unit, names=("data", "neighbor"))

    def save(self, path: Path) -> None:
        """Write a JSON file, whole or not at all; cells are read back as the same cells.

        Raises `InvalidDataError` if the place cannot be written to.
        """
        found = {
            "adjacency": self.adjacency.value,
            "columns": self.data.names,
            "kinds": self.data.kinds,
            "form": self.data.form,
            "data": [list(map(_of_cell, row)) for row in self.data.rows],
            "neighbor": [list(map(_of_cell, row)) for row in self.neighbor.rows],
        }
        _save(path, found, self.unit)


_NO_NUMBER = "NaN"
"""A missing number that is NaN, in a column of numbers; null is None."""
_READ: dict[str, Callable[[str], Cell]] = {"date": date.fromisoformat, "time": datetime.fromisoformat}
_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "text": (str,),
}


def _of_cell(cell: Cell) -> Any:
    return _NO_NUMBER if isinstance(cell, float) and np.isnan(cell) else written(cell)


def _cell(kind: str, said: Any) -> Cell:
    """The cell of a column that a file says; ValueError or TypeError for what is none."""
    if said is None:
        return None
    if kind == "number" and said == _NO_NUMBER:
        return float("nan")
    if kind in _READ:
        return _READ[kind](said)
    if type(said) not in _TYPES[kind]:
        raise TypeError
    return float(said) if kind == "number" else said


def _tables(path: Path, found: dict[str, Any]) -> TablePair:
    """The pair of tables that a file says."""
    sides = []
    for name in ("data", "neighbor"):
        try:
            kinds = tuple(found["kinds"])
            rows = tuple(
                tuple(_cell(kind, said) for kind, said in zip(kinds, row, strict=True)) for row in found[name]
            )
            sides.append(Records(tuple(found["columns"]), kinds, rows, found["form"]))
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise InvalidDataError(f"{path} holds a {name}that is not a table of its columns.") from error
    by = checked_adjacency(found["adjacency"])
    return TablePair(sides[0], sides[1], by, str(path), PrivacyUnit(by, **found.get("unit", {})))


def _save(path: Path, found: dict[str, Any], unit: PrivacyUnit | None) -> None:
    if unit is not None and unit.fields():
        found["unit"] = unit.fields()
    try:
        write_whole(path, (json.dumps(found, allow_nan=False) + "\n").encode())
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be written: {error.strerror}.") from error


def _written(records: FloatArray) -> list[list[float | None]]:
    """With null for what is missing."""
    return [[None if np.isnan(number) else number for number in record] for record in records.tolist()]


def load_pair(path: Path) -> Pair | TablePair:
    """The pair in a file that `Pair.save` or `TablePair.save` wrote.

    Raises `InvalidDataError` for a file that is missing, or holds anything else.
    """
    of_kind("path", path, Path)
    allowed = f"an object with {', '.join(sorted(_KEYS))}, as --search-neighbors writes it"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidDataError(f"{path} is not JSON; allowed: {allowed}.") from error
    if isinstance(found, dict) and set(found) - {"unit"} == _TABLE_KEYS:
        try:
            return _tables(path, found)
        except (InvalidArgumentError, TypeError) as error:
            raise InvalidDataError(f"{path}: {error}") from error
    if not isinstance(found, dict) or set(found) - {"unit"} != _KEYS or not isinstance(found["columns"], int):
        raise InvalidDataError(f"{path} is not a pair of data sets; allowed: {allowed}.")
    sides = []
    for name in ("data", "neighbor"):
        try:
            side = np.array(found[name], dtype=np.float64).reshape(-1, found["columns"])
        except (TypeError, ValueError) as error:
            raise InvalidDataError(
                f"{path} holds a {name} that is not a list of records of {found['columns']} numbers each."
            ) from error
        if np.any(np.isinf(side)):
            raise InvalidDataError(
                f"{path} holds a {name} with infinity; allowed: finite numbers, null or NaN."
            )
        sides.append(side)
    try:
        by = checked_adjacency(found["adjacency"])
        return Pair(sides[0], sides[1], by, str(path), PrivacyUnit(by, **found.get("unit", {})))
    except (InvalidArgumentError, TypeError) as error:
        raise InvalidDataError(f"{path}: {error}") from error
