"""Records of several kinds of values, and the forms in which a function gets them."""

from __future__ import annotations

import copy
import hashlib
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.extras import missing
from dpverify.quoting import quoted

Cell = bool | int | float | str | date | None
"""A date may be a `datetime`; NaN is a missing number, None anything missing."""
Kind = Literal["boolean", "integer", "number", "text", "date", "time"]
"""What a column holds; `time` is a date with a time of day."""
Form = Literal["array", "records", "pandas", "polars", "sparse"]
FORMS: tuple[str, ...] = get_args(Form)


@dataclass(frozen=True, eq=False)
class Records:
    """A data set with one record a row, in columns with names.

    Attributes:
        names: of the columns, different from one another.
        kinds: of the columns.
        rows: the records, a cell for each column.
        form: how a function gets them: an `array` of floats, `records` (a list of dictionaries by column), a data frame
            of `pandas` or `polars`, or a `sparse` array of SciPy.
        original: a data frame or matrix of which a function gets copies, whatever the form; rows and names say what is
            in it. None: what a function gets is made from the rows.

    Raises:
        InvalidDataError: for names that are no texts or not different, and for rows that do not fit them.
        InvalidArgumentError: for a form that these records cannot have.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: tuple[tuple[Cell, ...], ...]
    form: str = "records"
    original: Any = None

    def __post_init__(self) -> None:
        if not all(isinstance(name, str) for name in self.names) or len(set(self.names)) != len(self.names):
            shown = quoted(list(self.names), 80)
            raise InvalidDataError(
                f"The data has columns {shown}; allowed: columns whose names are different texts."
            )
        if any(len(row) != len(self.names) for row in self.rows):
            raise InvalidDataError(
                f"The data has records without all of its {len(self.names)} columns; allowed: as many cells in each."
            )
        require(self.form in FORMS, "data_form", self.form, ", ".join(FORMS))
        if self.form in ("array", "sparse") and self.original is None and not self.numeric:
            column = next(
                name for name, kind in zip(self.names, self.kinds, strict=True) if kind not in _NUMERIC
            )
            raise InvalidArgumentError(
                "data_form",
                self.form,
                f"records, pandas or polars where a column, {quoted(column)}, holds no numbers",
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> tuple[Cell, ...]:
        return self.rows[place]

    @property
    def shape(self) -> tuple[int, int]:
        """(records, columns)."""
        return len(self.rows), len(self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return Records, (self.names, self.kinds, self.rows, self.form, self.original)

    @property
    def numeric(self) -> bool:
        """Whether all columns hold numbers."""
        return all(kind in _NUMERIC for kind in self.kinds)

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The records as floats, (n, columns), with NaN where a number is missing."""
        cells = [[math.nan if cell is None else cell for cell in row] for row in self.rows]
        return np.array(cells, dtype=np.float64).reshape(len(self.rows), len(self.names))

    @property
    def plain(self) -> list[dict[str, Cell]]:
        """The records as dictionaries by column."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    @cached_property
    def _made(self) -> Any:
        if self.original is not None:
            return self.original
        return _MAKERS[self.form](self)

    def copy(self) -> Any:
        """What a function gets, of its own.

        Raises:
            MissingExtraError: if the library of its form is not installed.
        """
        if isinstance(self._made, list):
            return [dict(record) for record in self._made]
        if (found := getattr(self._made, "clone", None)) is not None:
            return found()
        return self._made.copy() if hasattr(self._made, "copy") else copy.deepcopy(self._made)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of names, kinds, cells and form."""
        # what Python writes of a cell says all of it, floats included
        content = repr((self.names, self.kinds, self.rows, self.form, layout(self.original)))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def packed(self) -> NDArray[np.uint8]:
        """Bytes for a worker process."""
        return np.frombuffer(pickle.dumps(self), dtype=np.uint8)

    def like(self, rows: Sequence[tuple[Cell, ...]]) -> Records:
        """Other records in the same columns and form, made from rows."""
        return Records(self.names, self.kinds, tuple(rows), self.form)


_NUMERIC = ("boolean", "integer", "number")


def unpacked(content: NDArray[np.uint8]) -> Records:
    """What `Records.packed` packed; for what the program itself sent only."""
    found = pickle.loads(content.tobytes())
    assert isinstance(found, Records)
    return found


def kind_of(cells: Sequence[Cell], what: str) -> Kind:
    """What a column holds; one without any value holds numbers.

    Raises:
        InvalidDataError: for cells of other types, or of several kinds; `what` names the column.
    """
    found: set[Kind] = set()
    for cell in cells:
        if cell is None:
            continue
        if type(cell) is int and not -(2**63) <= cell < 2**63:
            raise InvalidDataError(f"{what} holds {cell}; allowed: integers of 64 bits with a sign.")
        kind = _KINDS.get(type(cell))
        if kind is None:
            raise InvalidDataError(
                f"{what} holds {quoted(type(cell).__name__)}; allowed: numbers, text, truth values, dates and None."
            )
        found.add(kind)
    if len(found) == 1:
        return found.pop()
    if found <= {"integer", "number"}:
        return "number"
    raise InvalidDataError(
        f"{what} holds {' and '.join(sorted(found))}; allowed: values of one kind, or None, in a column."
    )


_KINDS: Mapping[type, Kind] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    date: "date",
    datetime: "time",
}


def written(cell: Cell) -> Any:
    """A cell as JSON has it: null for what is missing, dates as ISO 8601 writes them."""
    if isinstance(cell, date):
        return cell.isoformat()
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def layout(original: Any) -> str:
    """What a data frame or matrix has besides its cells: its type, and those of its columns; empty for None."""
    if original is None:
        return ""
    types = getattr(original, "dtypes", getattr(original, "dtype", ""))
    listed = [str(one) for one in types] if hasattr(types, "__iter__") else [str(types)]
    return f"{type(original).__module__}.{type(original).__qualname__} of {', '.join(listed)}"


# ---------------------------------------------------------------------------------------- forms


def library(name: str, what: str) -> Any:
    """A library of data frames.

    Raises:
        MissingExtraError: if it is not installed.
    """
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing(what, {"frames": [name.partition(".")[0]]}) from error


def _columns(records: Records) -> list[tuple[str, Kind, list[Cell]]]:
    cells = [[row[place] for row in records.rows] for place in range(len(records.names))]
    return list(zip(records.names, records.kinds, cells, strict=True))


def _pandas(records: Records) -> Any:
    pandas = library("pandas", "The data form pandas")
    made = {}
    for name, kind, cells in _columns(records):
        if kind == "date" or kind == "time":
            # in seconds or microseconds, in which every date of Python has a place
            made[name] = pandas.Series(
                np.array(cells, "datetime64[s]" if kind == "date" else "datetime64[us]")
            )
        elif kind == "text":
            made[name] = pandas.Series(cells, dtype="str" if pandas.__version__ >= "3" else object)
        elif None in cells:
            floats = kind != "boolean"
            made[name] = pandas.Series(cells, dtype="float64" if floats else object)
        else:
            made[name] = pandas.Series(
                cells, dtype={"boolean": "bool", "integer": "int64"}.get(kind, "float64")
            )
    return pandas.DataFrame(made, index=range(len(records)), columns=list(records.names))


def _polars(records: Records) -> Any:
    polars = library("polars", "The data form polars")
    types = {
        "boolean": polars.Boolean, "integer": polars.Int64, "number": polars.Float64, "text": polars.String,
        "date": polars.Date, "time": polars.Datetime("us"),
    }  # fmt: skip
    made = {
        name: polars.Series(name, cells, dtype=types[kind], strict=False)
        for name, kind, cells in _columns(records)
    }
    return polars.DataFrame(made)


def _sparse(records: Records) -> Any:
    from scipy.sparse import csr_array

    return csr_array(records.numbers)


_MAKERS: Mapping[str, Callable[[Records], Any]] = {
    "array": lambda records: records.numbers,
    "records": lambda records: records.plain,
    "pandas": _pandas,
    "polars": _polars,
    "sparse": _sparse,
}
