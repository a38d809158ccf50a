"""The data sets of a request: as they are given, as arrays of records, and in a line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.neighbors import load_pair
from dpverify.auditing.requests.request import Request
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import Unit
from dpverify.problems.datasets import read_table
from dpverify.problems.neighbors import check_neighbors
from dpverify.quoting import quoted
from dpverify.running.subjects.user_mechanisms import plain_array

Sides = tuple[Any, Any]
"""Both data sets."""
_SHOWN = 160
"""Characters of a data set in a message."""


def neighbors_of(request: Request) -> tuple[Sides, Unit, str]:
    """Both data sets, which have to be neighbors, by which relation, and what they are in words."""
    if request.pair is not None:
        pair = load_pair(Path(request.pair))
        return (pair.data, pair.neighbor), pair.unit or Unit(pair.adjacency), f"both of {request.pair}"
    given, arrays = (request.data, request.neighbor), arrays_of(request)
    names, said, sides = [], [], []
    for name, side, array in zip(("data", "neighbor"), given, arrays, strict=True):
        names.append(str(side) if _is_file(side) else name)
        said.append(str(side) if _is_file(side) else shown(array))
        sides.append(array if _is_file(side) else side)
    unit = request.unit or Unit(Adjacency.REPLACE_ONE)
    by = unit.adjacency
    check_neighbors(arrays[0], arrays[1], by, index=request.index, names=(names[0], names[1]), unit=unit)
    return (sides[0], sides[1]), unit, " and ".join(said)


def arrays_of(request: Request) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both data sets as arrays of records, or those that a search found."""
    if (file := request.pair or request.search_neighbors) is not None:
        pair = load_pair(Path(file))
        return pair.data, pair.neighbor
    return records_of("data", request.data), records_of("neighbor", request.neighbor)


def example_of(request: Request) -> FloatArray:
    """The data set that a search begins with, (n, columns)."""
    records = np.asarray(records_of("data", request.data), dtype=np.float64)
    return records.reshape(len(records), -1)


def records_of(name: str, data: Any) -> NDArray[Any]:
    """A data set, or what a CSV file holds, as an array of records; None is refused."""
    if data is None:
        raise InvalidDataError(f"{name} is None; allowed: a data set with records along the first axis.")
    return read_table(data) if _is_file(data) else plain_array(data)


def _is_file(data: Any) -> bool:
    return isinstance(data, str | os.PathLike)


def shown(records: Any) -> str:
    """A data set in one line, shortened: how large it is, and the first and last of its numbers."""
    array = np.asarray(records)
    text = np.array2string(array, threshold=8, edgeitems=2, separator=", ", precision=6)
    size = " x ".join(str(count) for count in array.shape)
    return quoted(f"{size} {text}" if array.size > 8 else text, _SHOWN)
