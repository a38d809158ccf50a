"""Neighboring data sets that are tables: both in the same columns, and in which records they differ."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import InvalidDataError
from dpverify.privacy.adjacency import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.neighbors import check_neighbors
from dpverify.problems.tables.records import Cell, Kind, Records, layout

NUMBERS_ONLY = (Adjacency.METRIC, Adjacency.ANSWERS, Adjacency.ZERO_OUT)
"""Relations that calculate with all columns."""


def unified(
    left: Records, right: Records, names: tuple[str, str] = ("left", "right")
) -> tuple[Records, Records]:
    """Both tables with the kinds of columns that both can have.

    Raises:
        InvalidDataError: for tables with other columns, or columns of other kinds.
    """
    both = f"{names[0]} and {names[1]}"
    if left.names != right.names:
        raise InvalidDataError(f"{both} have different columns; allowed: the same names, in the same order.")
    if left.form != right.form:
        raise InvalidDataError(
            f"{both} are of the forms {left.form} and {right.form}; allowed: the same form."
        )
    types = layout(left.original), layout(right.original)
    if types[0] != types[1]:
        raise InvalidDataError(f"{both} are {types[0]} and {types[1]}; allowed: the same types of columns.")
    kinds: list[Kind] = []
    for place, (one, other) in enumerate(zip(left.kinds, right.kinds, strict=True)):
        empty = [all(row[place] is None for row in side.rows) for side in (left, right)]
        if one == other or any(empty):
            kinds.append(other if empty[0] else one)
        elif {one, other} == {"integer", "number"}:
            kinds.append("number")
        else:
            raise InvalidDataError(
                f"{both} have in column {left.names[place]} {one} and {other}; allowed: values of one kind."
            )
    return replace(left, kinds=tuple(kinds)), replace(right, kinds=tuple(kinds))


def check_tables(
    left: Records,
    right: Records,
    unit: PrivacyUnit,
    *,
    index: int | None = None,
    names: tuple[str, str] = ("left", "right"),
) -> None:
    """Refuse tables that are no neighbors, as `check_neighbors` does; NaN equals NaN, and None equals None.

    Raises:
        InvalidDataError: for tables that are no neighbors, or for which the relation has no meaning.
    """
    left, right = unified(left, right, names)
    unit = unit.numbered(left.names)
    if unit.adjacency in NUMBERS_ONLY:
        if not left.numeric:
            raise InvalidDataError(
                f"{names[0]} and {names[1]} hold more than numbers; allowed with adjacency {unit.adjacency}: numbers "
                "in all columns."
            )
        check_neighbors(left.numbers, right.numbers, unit.adjacency, names=names, index=index, unit=unit)
        return
    if unit.adjacency is Adjacency.USER:
        _check_one_user(left, right, int(unit.key or 1) - 1, names)
    ours, theirs = coded(left, right)
    check_neighbors(ours, theirs, unit.adjacency, names=names, index=index, unit=unit)


def coded(left: Records, right: Records) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both tables, (n, columns) each, with the same whole number where cells are the same."""
    known: dict[object, int] = {}
    sides = []
    for side in (left, right):
        codes = [[known.setdefault(_key(cell), len(known)) for cell in row] for row in side.rows]
        sides.append(np.array(codes, dtype=np.int64).reshape(side.shape))
    return sides[0], sides[1]


def same_record(one: Any, other: Any) -> bool:
    """Whether two records hold the same, also where a number is missing; rows of tables, or of arrays."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return list(map(_key, one)) == list(map(_key, other))
    floats = all(getattr(side, "dtype", np.dtype(object)).kind in "fc" for side in (one, other))
    return bool(np.array_equal(one, other, equal_nan=floats))


def _key(cell: Cell) -> object:
    """Equal for cells that are the same: 1 and 1.0, NaN and NaN, but not 1 and True."""
    if isinstance(cell, float) and math.isnan(cell):
        return "number", "missing"
    kind = "number" if isinstance(cell, int | float) and not isinstance(cell, bool) else type(cell).__name__
    return kind, (cell,)


def _check_one_user(left: Records, right: Records, column: int, names: tuple[str, str]) -> None:
    """Name users whose records differ, where there are several, and refuse records without one."""
    both, column_name = f"{names[0]} and {names[1]}", left.names[column]
    sides: list[dict[object, list[object]]] = []
    shown: dict[object, Cell] = {}
    for side in (left, right):
        of_users: dict[object, list[object]] = {}
        for row in side.rows:
            if row[column] is None or row[column] != row[column]:
                raise InvalidDataError(
                    f"{both} have records without a user in column {column_name}; allowed: a value in each."
                )
            shown.setdefault(_key(row[column]), row[column])
            of_users.setdefault(_key(row[column]), []).append(list(map(_key, row)))
        sides.append(of_users)
    changed = [user for user in shown if sides[0].get(user) != sides[1].get(user)]
    if len(changed) > 1:
        raise InvalidDataError(
            f"{both} differ in the records of {len(changed)} users, such as {shown[changed[0]]!r} and "
            f"{shown[changed[1]]!r}; allowed: in those of one."
        )
