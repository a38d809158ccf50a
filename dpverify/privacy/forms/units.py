"""Units of privacy that have parameters: which column names a user, how large a group is, how far a record moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.privacy.adjacency import Adjacency, checked_adjacency
from dpverify.privacy.forms.numbers import shown
from dpverify.quoting import quoted

NORMS = ("l1", "l2", "linf")
CHANGES = ("replaced", "added-or-removed")
PARAMETERS: dict[Adjacency, tuple[str, ...]] = {
    Adjacency.USER: ("key", "change"),
    Adjacency.GROUP: ("size", "change"),
    Adjacency.METRIC: ("distance", "norm"),
    Adjacency.PRIVATE_COLUMNS: ("columns",),
    Adjacency.LABEL: ("columns",),
}
"""What each of these adjacencies may be told; `change`, `norm`, and the label's column, need not be."""
_OPTIONAL = {
    (Adjacency.USER, "change"),
    (Adjacency.GROUP, "change"),
    (Adjacency.METRIC, "norm"),
    (Adjacency.LABEL, "columns"),
}


@dataclass(frozen=True)
class PrivacyUnit:
    """An adjacency with its parameters.

    Attributes:
        adjacency: which data sets are neighbors.
        key: user: the column, from 1 or by name, whose value says whose record it is.
        size: group: the largest number of records that differ.
        change: user, group: whether records are `replaced` only (the user is in both data sets; there are as many
            records) or `added-or-removed` only; both are allowed if None.
        distance: metric: the largest norm of the difference of two records.
        norm: metric: `l1`, `l2` (the default) or `linf`.
        columns: private-columns: the columns, from 1 or by name, that may differ; label: the one of the label, the last
            if empty.

    Raises:
        InvalidArgumentError: for a parameter that is missing, has no place or cannot be used.

    Examples:
        >>> from dpverify.privacy.forms.units import PrivacyUnit
        >>> print(PrivacyUnit("user", key=1))
        user (all records with one value in column 1)
    """

    adjacency: Adjacency
    key: int | str | None = None
    size: int | None = None
    change: str | None = None
    distance: float | None = None
    norm: str | None = None
    columns: Sequence[int | str] | str = ()

    def __post_init__(self) -> None:
        by = checked_adjacency(self.adjacency)
        object.__setattr__(self, "adjacency", by)
        object.__setattr__(self, "columns", _columns(self.columns))
        if isinstance(self.key, str):
            object.__setattr__(self, "key", _column(self.key))
        for name in ("key", "size", "change", "distance", "norm", "columns"):
            value = getattr(self, name)
            has, takes = value is not None and value != (), name in PARAMETERS.get(by, ())
            if has and not takes:
                users = " or ".join(known.value for known, names in PARAMETERS.items() if name in names)
                raise InvalidArgumentError(name, value, f"no value but with adjacency {users}")
            if takes and not has and (by, name) not in _OPTIONAL:
                raise InvalidArgumentError(name, None, f"a value, with adjacency {by.value}")
        if self.key is not None and not (isinstance(self.key, str) and self.key):
            checks.whole_number("key", self.key)
        if self.size is not None:
            checks.whole_number("size", self.size)
        if self.distance is not None:
            checks.number_field(self, "distance", above=0, allowed="a finite real number above 0")
        if self.norm is not None and self.norm not in NORMS:
            raise InvalidArgumentError("norm", self.norm, ", ".join(NORMS))
        if self.change is not None and self.change not in CHANGES:
            raise InvalidArgumentError("change", self.change, ", ".join(CHANGES))
        if by is Adjacency.LABEL and len(self.columns) > 1:
            raise InvalidArgumentError("columns", self.columns, "one column, that of the label")

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.columns))
        change = "" if self.change is None else f", {self.change}"
        said = {
            Adjacency.USER: f"all records with one value in column {self.key}{change}",
            Adjacency.GROUP: f"at most {self.size} records{change}",
            Adjacency.METRIC: (
                f"one record, by at most {shown(self.distance or 0.0)} in the {self.norm or 'l2'} norm"
            ),
            Adjacency.PRIVATE_COLUMNS: f"one record, in columns {listed} only",
            Adjacency.LABEL: f"one record, in column {listed or 'the last'} only".replace(
                "column the last", "the last column"
            ),
            Adjacency.LOCAL: "data sets of one record",
        }.get(self.adjacency)
        return self.adjacency.value if said is None else f"{self.adjacency.value} ({said})"

    def private(self, width: int) -> list[int]:
        """The columns, from 0, that may differ, of so many.

        Raises:
            InvalidArgumentError: if there is no such column.
        """
        columns = [int(column) for column in self.numbered().columns]
        if not columns:
            columns = [width] if self.adjacency is Adjacency.LABEL else list(range(1, width + 1))
        if max(columns) > width:
            raise InvalidArgumentError("columns", self.columns, f"columns of records, which have {width}")
        return [column - 1 for column in columns]

    def numbered(self, names: Sequence[str] = ()) -> PrivacyUnit:
        """The same with the numbers of columns instead of names.

        Raises:
            InvalidArgumentError: for a name that no column has, and for any where columns have none.
        """

        def number(field: str, column: int | str) -> int:
            if not isinstance(column, str):
                return column
            if column not in names:
                some = "numbers of columns where they have no names"
                raise InvalidArgumentError(
                    field, column, f"one of {quoted(', '.join(names), 120)}" if names else some
                )
            return names.index(column) + 1

        key = None if self.key is None else number("key", self.key)
        return replace(self, key=key, columns=tuple(number("columns", column) for column in self.columns))

    def fields(self) -> dict[str, Any]:
        """The parameters that have values, as JSON takes them."""
        found = {name: getattr(self, name) for name in ("key", "size", "change", "distance", "norm")}
        kept = {name: value for name, value in found.items() if value is not None}
        return kept | ({"columns": list(self.columns)} if self.columns else {})


def _column(text: str) -> int | str:
    """A column's number, also as text, or its name."""
    return int(text) if text.strip().isdecimal() and text.isascii() else text.strip()


def _columns(value: object) -> tuple[int | str, ...]:
    """Column numbers or names, also as text with commas."""
    allowed = "different columns, by number from 1 or by name, such as 1,3"
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence):
        raise InvalidArgumentError("columns", value, allowed)
    found: list[int | str] = []
    for part in parts:
        column = _column(part) if isinstance(part, str) else part
        named = isinstance(column, str) and column
        number = isinstance(column, int) and not isinstance(column, bool) and column >= 1
        if not (named or number) or column in found:
            raise InvalidArgumentError("columns", value, allowed)
        found.append(column)
    return tuple(found)
