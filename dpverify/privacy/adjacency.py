"""Which pairs of data sets count as neighbors, and which of their records a guarantee protects."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError


class Adjacency(StrEnum):
    """The neighboring relation of a guarantee; all of them are symmetric.

    Examples:
        >>> from dpverify.privacy import Adjacency
        >>> Adjacency("replace-one") is Adjacency.REPLACE_ONE
        True
    """

    REPLACE_ONE = "replace-one"
    """Same number of records, one of them replaced."""
    ADD_REMOVE_ONE = "add-or-remove-one"
    """One record more, or one less."""
    INDEX = "index"
    """Same number of records, the one at a given index replaced."""
    ZERO_OUT = "zero-out"
    """Same number of records, one of them replaced by zeros."""
    ANSWERS = "answers-within-1"
    """The records are answers to equally many queries, and each of them changes by at most 1."""
    USER = "user"
    """All records of one user differ, are missing or are new; the others agree, in the same order."""
    GROUP = "group"
    """As many records, a stated number of them replaced at most; or so many more or less at most."""
    LABEL = "label"
    """Same number of records, the label of one of them replaced."""
    LOCAL = "local"
    """One record on each side, any two: each record is released by itself."""
    METRIC = "metric"
    """Same number of records, one of them replaced by one within a stated distance."""
    PRIVATE_COLUMNS = "private-columns"
    """Same number of records, stated columns of one of them replaced."""
    UNCHECKED = "unchecked"
    """The caller declares that the two data sets are neighbors."""


def checked_adjacency(adjacency: object) -> Adjacency:
    """Read an adjacency, also from its value or its name: `add-or-remove-one`, `add-remove-one`."""
    for known in Adjacency:
        if isinstance(adjacency, str) and adjacency in (
            known,
            known.value,
            known.name.lower().replace("_", "-"),
        ):
            return known
    raise InvalidArgumentError("adjacency", adjacency, ", ".join(known.value for known in Adjacency))


@dataclass(frozen=True)
class ProtectedRecords:
    """The indices, from 1, of the records that a guarantee protects; neighbors differ in one of these.

    Without arguments all records are protected.

    Attributes:
        public_first: that many records at the beginning are not protected.
        public_last: that many records at the end are not protected.
        only: the one place that is protected; None: all that are not public.
    """

    public_first: int = 0
    public_last: int = 0
    only: int | None = None

    def __post_init__(self) -> None:
        whole_number("public_first", self.public_first, at_least=0)
        whole_number("public_last", self.public_last, at_least=0)
        if self.only is not None:
            whole_number("only", self.only)
            if self.public_first or self.public_last:
                raise InvalidArgumentError("only", self.only, "None, where records are said to be public")

    @property
    def is_everyone(self) -> bool:
        """Whether all records are protected, whatever their number."""
        return self == ALL_RECORDS

    def includes(self, index: int, n: int) -> bool:
        """Whether the record at an index from 1 to n, of n records, is protected.

        Raises:
            InvalidArgumentError: if there is no such place.
        """
        index = whole_number("index", index, at_most=whole_number("n", n))
        if self.only is not None:
            return index == self.only
        return self.public_first < index <= n - self.public_last

    def __str__(self) -> str:
        if self.only is not None:
            return f"record {self.only}"
        counted = (("first", self.public_first), ("last", self.public_last))
        left_out = [f"the {which} {count}" for which, count in counted if count]
        return f"all records but {' and '.join(left_out)}" if left_out else "all records"


ALL_RECORDS = ProtectedRecords()
"""Every record is protected."""
