"""Tables as arrays of numbers and back: what changes numbers at random makes other tables of the same columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

import numpy as np

from dpverify.checks import FloatArray
from dpverify.problems.tables.records import Cell, Kind, Records

_WHOLE = 2**53
"""Integers up to here are floats without loss."""
_LAST = datetime(9998, 12, 31)
"""With a day left for time zones."""
_FAR = 1e15
_NEW = "another value"


@dataclass(frozen=True)
class ColumnCodes:
    """Numbers for the cells of one column: dates by days, times by seconds, texts by their place among some.

    Every number stands for a cell: one that is beyond the last stands for the last, NaN for what is missing.

    Attributes:
        kind: of the column.
        texts: those that the column holds, the most frequent first, and some that it does not.
        missing: what stands where nothing does: None, or NaN.
        zone: a time of the column, whose time zone all have.
    """

    kind: Kind
    texts: tuple[str, ...] = ()
    missing: Cell = None
    zone: datetime | None = None

    @classmethod
    def of(cls, kind: Kind, cells: Sequence[Cell]) -> ColumnCodes:
        """For the cells of a column."""
        known = [cell for cell in cells if cell is not None and cell == cell]
        gone = next(
            (cell for cell in cells if cell is None or cell != cell), math.nan if kind == "number" else None
        )
        texts = [text for text, _ in Counter(cell for cell in known if isinstance(cell, str)).most_common()]
        more = ["", *(text.swapcase() for text in texts[:1]), _NEW]
        times = [cell for cell in known if isinstance(cell, datetime)]
        return cls(
            kind,
            tuple(dict.fromkeys([*texts, *more])) if kind == "text" else (),
            gone,
            times[0] if times else None,
        )

    def code(self, cell: Cell) -> float:
        """The number of a cell of this column."""
        if cell is None or cell != cell:
            return math.nan
        if isinstance(cell, str):
            return float(self.texts.index(cell))
        if isinstance(cell, datetime):
            return (cell - self._epoch).total_seconds()
        if isinstance(cell, date):
            return float(cell.toordinal())
        return float(cell)

    def cell(self, code: float) -> Cell:
        """The cell that a number stands for."""
        if math.isnan(code):
            return self.missing
        if self.kind == "number":
            return code
        whole = int(min(max(round(code), -_WHOLE), _WHOLE))
        if self.kind == "text":
            return self.texts[min(max(whole, 0), len(self.texts) - 1)]
        if self.kind == "boolean":
            return whole > 0
        if self.kind == "date":
            return date.fromordinal(min(max(whole, 1), date.max.toordinal()))
        if self.kind == "time":
            first, last = (
                (end.replace(tzinfo=self._epoch.tzinfo) - self._epoch).total_seconds()
                for end in (datetime(2, 1, 1), _LAST)
            )
            return self._epoch + timedelta(seconds=min(max(code, first), last))
        return whole

    @property
    def _epoch(self) -> datetime:
        start = datetime(1970, 1, 1)
        if self.zone is None or self.zone.tzinfo is None:
            return start
        return start.replace(tzinfo=UTC).astimezone(self.zone.tzinfo)

    @property
    def special(self) -> tuple[float, ...]:
        """Codes of cells that a function may not expect: texts that are not there, and the ends of the calendar."""
        if self.kind == "text":
            return tuple(map(float, range(len(self.texts))))[-3:]
        if self.kind in ("date", "time"):
            start = self.code(date(1970, 1, 1)) if self.kind == "date" else 0.0
            return tuple(self.code(self.cell(end)) for end in (-_FAR, start, _FAR))
        return ()


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table, and arrays of numbers (n, columns) for all tables of its columns."""

    table: Records

    @cached_property
    def columns(self) -> tuple[ColumnCodes, ...]:
        """How the cells of each column are numbered."""
        cells = zip(*self.table.rows, strict=True) if self.table.rows else [()] * len(self.table.names)
        return tuple(map(ColumnCodes.of, self.table.kinds, cells))

    @property
    def example(self) -> FloatArray:
        """The table itself, (n, columns)."""
        return self.array(self.table)

    def array(self, table: Records) -> FloatArray:
        """A table of these columns as numbers, (n, columns)."""
        codes = [
            [column.code(cell) for column, cell in zip(self.columns, row, strict=True)] for row in table.rows
        ]
        return np.array(codes, dtype=np.float64).reshape(table.shape)

    def records(self, array: FloatArray) -> Records:
        """The table that numbers (n, columns) stand for."""
        rows = [
            tuple(column.cell(code) for column, code in zip(self.columns, row, strict=True))
            for row in array.tolist()
        ]
        return self.table.like(rows)
