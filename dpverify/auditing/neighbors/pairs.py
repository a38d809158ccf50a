"""Pairs of neighboring data sets, kept in files so that what was found on one is found again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.files import write_whole
from dpverify.privacy import Adjacency
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.neighbors import check_neighbors

_KEYS = {"adjacency", "columns", "data", "neighbor"}


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighboring data sets with one record a row; the one or the other may be empty.

    Attributes:
        data: (n, columns).
        neighbor: (n', columns).
        adjacency: by which they are neighbors.
        about: how it came about, in words.
        unit: the adjacency with its parameters, where it has any.

    Raises `InvalidDataError` if they are no neighbors.
    """

    data: FloatArray
    neighbor: FloatArray
    adjacency: Adjacency
    about: str = ""
    unit: PrivacyUnit | None = None

    def __post_init__(self) -> None:
        check_neighbors(self.data, self.neighbor, self.adjacency, names=("data", "neighbor"), unit=self.unit)

    @property
    def records(self) -> int:
        """Of the larger of the two."""
        return max(len(self.data), len(self.neighbor))

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
        if self.unit is not None and self.unit.fields():
            found["unit"] = self.unit.fields()
        try:
            write_whole(path, (json.dumps(found, allow_nan=False) + "\n").encode())
        except OSError as error:
            raise InvalidDataError(f"{path} cannot be written: {error.strerror}.") from error


def _written(records: FloatArray) -> list[list[float | None]]:
    """With null for what is missing."""
    return [[None if np.isnan(number) else number for number in record] for record in records.tolist()]


def load_pair(path: Path) -> Pair:
    """The pair in a file that `Pair.save` wrote.

    Raises `InvalidDataError` for a file that is missing, or holds anything else.
    """
    allowed = f"an object with {', '.join(sorted(_KEYS))}, as --search-neighbors writes it"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidDataError(f"{path} is no JSON; allowed: {allowed}.") from error
    if not isinstance(found, dict) or set(found) - {"unit"} != _KEYS or not isinstance(found["columns"], int):
        raise InvalidDataError(f"{path} is no pair of data sets; allowed: {allowed}.")
    sides = []
    for name in ("data", "neighbor"):
        try:
            side = np.array(found[name], dtype=np.float64).reshape(-1, found["columns"])
        except (TypeError, ValueError) as error:
            raise InvalidDataError(
                f"{path} holds a {name} that is no list of records of {found['columns']} numbers each."
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
