"""The data sets of a request: as they are given, as arrays of records, and in a line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from dpverify.auditing.neighbors import load_pair
from dpverify.auditing.requests.request import Request
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.neighbors import check_neighbors
from dpverify.problems.tables.codes import CodedTable
from dpverify.problems.tables.files import read_tables
from dpverify.problems.tables.frames import as_records, of_array
from dpverify.problems.tables.neighbors import check_tables, unified
from dpverify.problems.tables.records import Records, written
from dpverify.quoting import quoted
from dpverify.running.subjects.user_mechanisms import plain_array

Sides = tuple[Any, Any]
"""Both data sets."""
_SHOWN = 160
"""Characters of a data set in a message."""


def neighbors_of(request: Request) -> tuple[Sides, PrivacyUnit, str]:
    """Both data sets, which have to be neighbors, by which relation, and what they are in words."""
    if request.pair is not None:
        pair = load_pair(Path(request.pair))
        unit = pair.unit or PrivacyUnit(pair.adjacency)
        return _in_form(request, pair.data, pair.neighbor), unit, f"both of {request.pair}"
    given, (read, columns) = (request.data, request.neighbor), _read(request)
    files = [_is_file(side) for side in given]
    names = [str(side) if file else name for name, side, file in zip(_NAMES, given, files, strict=True)]
    said = [str(side) if file else shown(made) for side, made, file in zip(given, read, files, strict=True)]
    unit, both = request.unit or PrivacyUnit(Adjacency.REPLACE_ONE), (names[0], names[1])
    if isinstance(read[0], Records) and isinstance(read[1], Records):
        check_tables(read[0], read[1], unit, index=request.index, names=both)
        read = unified(read[0], read[1])
    else:
        for name, side in zip(both, read, strict=True):
            if isinstance(side, Records):
                raise InvalidDataError(
                    f"{name} is a table, and the other data set is not; allowed: both of one form."
                )
        check_neighbors(*read, unit.adjacency, index=request.index, names=both, unit=unit.numbered(columns))
        left, right = (made if file else side for side, made, file in zip(given, read, files, strict=True))
        read = left, right
    return _in_form(request, *read), unit, " and ".join(said)


_NAMES = ("data", "neighbor")


def _read(request: Request) -> tuple[Sides, tuple[str, ...]]:
    """Both data sets, tables of numbers from files as arrays, and the names of such a file's columns.

    Columns of two files are of the kinds that they have in both.
    """
    given = (request.data, request.neighbor)
    if all(map(_is_file, given)):
        read = list[Any](read_tables([Path(side) for side in given]))
    else:
        read = [records_of(name, side) for name, side in zip(_NAMES, given, strict=True)]
    columns = next((side.names for side in read if isinstance(side, Records)), ())
    left, right = (
        side.numbers if isinstance(side, Records) and side.form == "array" else side for side in read
    )
    return (left, right), columns


def _in_form(request: Request, left: Any, right: Any) -> Sides:
    """Both data sets as the function gets them: as it is asked for, as they are given, or numbers as an array."""
    sides = [_formed(request, left), _formed(request, right)]
    for side in sides:
        if isinstance(side, Records):
            side.copy()  # a library that is missing is missed before the first run
    return sides[0], sides[1]


def _formed(request: Request, side: Any) -> Any:
    if not isinstance(side, Records):
        if request.data_form in (None, "array"):
            return side
        side = of_array(plain_array(side))
    form = request.data_form or side.form
    if side.original is not None and form == side.form and request.command is None:
        return side
    if request.command is not None and request.data_form is None:
        form = "array" if side.numeric else "records"
    found = Records(side.names, side.kinds, side.rows, form)
    return found.numbers if form == "array" else found


def arrays_of(request: Request) -> Sides:
    """Both data sets as arrays of records, or those that a search found; tables that hold more than numbers as such."""
    if (file := request.pair or request.search_neighbors) is not None:
        pair = load_pair(Path(file))
        return pair.data, pair.neighbor
    return _read(request)[0]


def example_of(request: Request) -> tuple[FloatArray, PrivacyUnit | None, CodedTable | None]:
    """The data set that a search begins with, (n, columns), the relation with columns by number, and the table.

    None in place of a table of which the function gets an array of numbers.
    """
    found = records_of("data", request.data)
    columns = found.names if isinstance(found, Records) else ()
    unit = request.unit and request.unit.numbered(columns)
    if isinstance(found, Records) and found.form == "array" and request.data_form is None:
        found = found.numbers
    formed = _formed(request, found)
    if isinstance(formed, Records):
        # made from rows, as all that a search tries
        table = CodedTable(Records(formed.names, formed.kinds, formed.rows, formed.form))
        table.table.copy()  # a library that is missing is missed before the first run
        return table.example, unit, table
    records = np.asarray(formed, dtype=np.float64)
    return records.reshape(len(records), -1), unit, None


def records_of(name: str, data: Any) -> Any:
    """A data set, or what a file holds, as an array of records or a table; None is refused."""
    if data is None:
        raise InvalidDataError(f"{name} is None; allowed: a data set with records along the first axis.")
    if _is_file(data):
        return read_tables([Path(data)])[0]
    found = as_records(name, data)
    return plain_array(data) if found is None else found


def _is_file(data: Any) -> bool:
    return isinstance(data, str | os.PathLike)


def shown(records: Any) -> str:
    """A data set in one line, shortened: how large it is, and the first and last of its numbers."""
    if isinstance(records, Records):
        size = f"{len(records)} records of {', '.join(records.names)}: "
        return quoted(size + ", ".join(map(shown, records.rows[:3])), _SHOWN)
    if isinstance(records, tuple):
        return f"({', '.join(map(str, map(written, records)))})"
    array = np.asarray(records)
    text = np.array2string(array, threshold=8, edgeitems=2, separator=", ", precision=6)
    size = " x ".join(str(count) for count in array.shape)
    return quoted(f"{size} {text}" if array.size > 8 else text, _SHOWN)
