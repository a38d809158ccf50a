"""What came of one row of a ledger that is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import Variant


class Status(StrEnum):
    """What came of one row."""

    CONFIRMED = "confirmed"
    """By the checker; of an audit, worked out again and the same in every field."""
    UNCONFIRMED = "unconfirmed"
    """As the ledger says: the checker does not see it; the provers said the same again."""
    UNDECIDED = "undecided"
    """As the ledger says; the provers said the same again."""
    PLANNED = "planned"
    """An audit of the source's plan, with its share, seed and sizes; what was drawn was not drawn again."""
    REFUSED = "refused"
    """It contradicts its source, its certificate or the checker."""
    MISSING = "missing"
    """The source has it, the ledger does not."""


@dataclass(frozen=True)
class RowCheck:
    """One row, and what is wrong with it.

    `obligation` and `variant` are those of a proof. For a statement of the catalog, an audit (then `statement` is its
    plan) and the ledger's own fields they are empty.
    """

    statement: str
    status: Status
    says: str
    obligation: str = ""
    variant: Variant | None = None

    def line(self) -> str:
        """The row in one line."""
        row = f"/{self.obligation} ({self.variant})" if self.obligation else ""
        return f"{self.status}: {self.statement}{row}: {self.says}"


class RowRefusedError(Exception):
    """What is wrong with a row, in a sentence."""


def short(value: object) -> str:
    """A value as a sentence quotes it."""
    plain = str(value) if isinstance(value, StrEnum) else value
    said = str(dict(value)) if isinstance(value, Mapping) else repr(plain)
    return said if len(said) <= 120 else said[:117] + "..."


def compare(entry: Record, expected: Mapping[str, Any], by: str) -> None:
    """Refuse an entry one of whose fields is not what it should be; bit by bit, and NaN is itself."""
    for name, value in expected.items():
        what = name.replace("_", " ")
        if not hasattr(entry, name):
            raise RowRefusedError(f"it has no {what}, by {by} it is {short(value)}")
        shown = getattr(entry, name)
        if shown != value and repr(shown) != repr(value):
            raise RowRefusedError(f"its {what} is {short(shown)}, by {by} it is {short(value)}")
