"""Data frames, sparse matrices and lists of dictionaries as records; what is given is handed on as it is."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpverify.errors import InvalidDataError
from dpverify.problems.tables.records import Cell, Form, Kind, Records, kind_of

_MOST_CELLS = 2**24
"""Of a sparse matrix whose cells are listed."""


def as_records(name: str, data: Any) -> Records | None:
    """A data frame of pandas, polars or Arrow, a sparse matrix of SciPy, or a list of dictionaries; None for others.

    Raises:
        InvalidDataError: for cells of other types than numbers, text, truth values, dates and None.
    """
    if isinstance(data, Records):
        return data
    if isinstance(data, list | tuple) and data and all(isinstance(record, Mapping) for record in data):
        return _of_dictionaries(name, data)
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library == "pandas" and kind == "DataFrame":
        if data.index.tolist() != list(range(len(data))):
            # what it says belongs to no record, and would differ where neighbors do not
            raise InvalidDataError(
                f"{name} is a data frame with an index of its own; allowed: 0, 1, 2 and so on, as "
                "reset_index(drop=True) or reset_index() gives it."
            )
        columns = {str(column): _of_pandas(data.iloc[:, k]) for k, column in enumerate(data.columns)}
        if len(columns) == data.shape[1]:
            return _of_columns(name, columns, len(data), "pandas", data)
        raise InvalidDataError(f"{name} has several columns of one name; allowed: different names.")
    if library == "polars" and kind == "DataFrame":
        columns = {column: data[column].to_list() for column in data.columns}
        return _of_columns(name, columns, data.height, "polars", data)
    if library == "pyarrow" and kind == "Table":
        columns = {column: data[column].to_pylist() for column in data.column_names}
        return _of_columns(name, columns, data.num_rows, "records", None)
    if library == "scipy" and hasattr(data, "tocsr"):
        return _of_sparse(name, data)
    return None


def of_array(array: Any) -> Records:
    """An array of numbers as records, in columns called column 1, column 2 and so on.

    Raises:
        InvalidDataError: for an array of anything else, or of more than two axes.
    """
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"The data is an array of {array.ndim} axes of {array.dtype}; allowed with a data form: numbers, one "
            "record a row."
        )
    table = array.reshape(len(array), -1)
    kinds: dict[str, Kind] = {"b": "boolean", "f": "number"}
    kind = kinds.get(array.dtype.kind, "integer")
    names = tuple(f"column {place + 1}" for place in range(table.shape[1]))
    return Records(names, (kind,) * len(names), tuple(map(tuple, table.tolist())), "array")


def _of_columns(
    name: str, columns: Mapping[Any, list[Any]], count: int, form: Form, original: Any
) -> Records:
    cells = {column: [plain_cell(cell) for cell in column_cells] for column, column_cells in columns.items()}
    kinds = tuple(kind_of(values, f"Column {column} of {name}") for column, values in cells.items())
    rows = tuple(zip(*cells.values(), strict=True)) if cells else ((),) * count
    return Records(tuple(cells), kinds, rows, form, original)


def _of_dictionaries(name: str, data: Any) -> Records:
    names = tuple(data[0])
    for place, record in enumerate(data):
        if set(record) != set(names):
            raise InvalidDataError(
                f"{name} has record {place + 1} with other columns than record 1; allowed: the same in all, None for "
                "what is missing."
            )
    columns = {column: [record[column] for record in data] for column in names}
    return _of_columns(name, columns, len(data), "records", None)


def _of_pandas(column: Any) -> list[Any]:
    missing = column.isna().to_numpy()
    floats = column.dtype.kind == "f" if hasattr(column.dtype, "kind") else False
    cells = column.tolist()
    return cells if floats else [None if gone else cell for gone, cell in zip(missing, cells, strict=True)]


def _of_sparse(name: str, data: Any) -> Records:
    if data.ndim != 2 or data.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"{name} is a sparse matrix of {data.dtype}; allowed: numbers, one record a row."
        )
    if data.shape[0] * data.shape[1] > _MOST_CELLS:
        raise InvalidDataError(
            f"{name} is a sparse matrix of {data.shape[0]} x {data.shape[1]} cells; allowed: 2^24 cells at most."
        )
    return replace(of_array(np.asarray(data.todense())), form="sparse", original=data)


def plain_cell(cell: Any) -> Cell:
    """A cell as one of Python's own types; what cannot be one is passed on, for `kind_of` to refuse."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    # a time stamp of pandas may have nanoseconds, which a date of Python lacks
    made = getattr(cell, "to_pydatetime", None)
    if isinstance(cell, datetime.datetime) and made is not None and not getattr(cell, "nanosecond", 0):
        return made()  # type: ignore[no-any-return]
    if isinstance(cell, str) and type(cell) is not str:
        return str(cell)
    return cell  # type: ignore[no-any-return]
