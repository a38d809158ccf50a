"""What an algorithm states: a guarantee, for which neighbors it holds, and under which conditions.

All of it is data that wrappers and audits compare. A wrapper that does not know a condition must not build on the
guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from dpverify.checks import items, of_kind, whole_field
from dpverify.errors import InvalidArgumentError
from dpverify.privacy.adjacency import ALL_RECORDS, Adjacency, ProtectedRecords
from dpverify.privacy.guarantees import Guarantee

if TYPE_CHECKING:
    from dpverify.ledger.origins import Origin


class ConditionKind(StrEnum):
    """What a guarantee may depend on besides its neighbors."""

    NEVER_REFUSED = "no run is refused"
    """It covers pairs of data sets on which no run ends in a refusal (an exception) instead of an output, except with
    a probability below 1e-300. A refusal is visible and depends on the records. A mechanism that runs this one
    inherits the condition: its own runs are refused together with these."""
    GIVEN_INPUT = "a further input is fixed"
    """It holds for each fixed value of an input besides the records, the same on both data sets. An input made from
    what is released anyway meets the condition, by adaptive composition."""
    OTHER_DATA = "the records are those drawn inside"
    """It is about a data set that the mechanism draws itself, not the one that it is called on."""
    AS_DECLARED = "what it is built on is as declared"
    """It rests on a declaration that this project has not checked: the constants of a loss, the projection of a set,
    the guarantee of an algorithm or of a message, how an optimizer treats its runs. What builds on the guarantee
    inherits the condition."""


def _check_kinds(checked: object, *fields: tuple[str, type, str]) -> None:
    for name, kind, allowed in fields:
        value = getattr(checked, name)
        of_kind(name, value, kind, allowed)


@dataclass(frozen=True)
class Condition:
    """A condition of a guarantee.

    Attributes:
        kind: for code to decide by.
        detail: in words, for readers.
    """

    kind: ConditionKind
    detail: str = ""

    def __post_init__(self) -> None:
        _check_kinds(self, ("kind", ConditionKind, "a member of ConditionKind"), ("detail", str, "a text"))

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.detail}" if self.detail else self.kind.value


@dataclass(frozen=True)
class StatedGuarantee:
    """A guarantee as an algorithm states it.

    Attributes:
        guarantee: bounds the profile of every pair of neighbors, in both directions.
        adjacency: which pairs are neighbors.
        index: the paper's t, from 1; goes with `Adjacency.INDEX`.
        local: True if it holds for each record's own report only, not for the algorithm's output.
        sources: statement ids.
        conditions: under which it holds; all of them.
        protected: the records that it protects; the one at `index` where there is one.
        origin: what the paper prints, and what was corrected; None if unknown.
    """

    guarantee: Guarantee
    adjacency: Adjacency
    index: int | None = None
    local: bool = False
    sources: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    protected: ProtectedRecords = ALL_RECORDS
    origin: Origin | None = field(default=None, compare=False, repr=False, metadata={"words": True})

    def __post_init__(self) -> None:
        _check_kinds(
            self,
            ("guarantee", Guarantee, "a Guarantee such as PureDP(1)"),
            ("adjacency", Adjacency, "a member of Adjacency"),
            ("local", bool, "True or False"),
            ("sources", tuple, "a tuple of statement ids"),
            ("conditions", tuple, "a tuple of Condition"),
            ("protected", ProtectedRecords, "ProtectedRecords"),
        )
        if self.index is not None:
            whole_field(self, "index")
        if (self.index is not None) != (self.adjacency is Adjacency.INDEX):
            raise InvalidArgumentError("index", self.index, "an index with Adjacency.INDEX, None otherwise")
        items("sources", self.sources, str, "a tuple of statement ids", least=0)
        items("conditions", self.conditions, Condition, "a tuple of Condition", least=0)
        if self.index is not None and self.protected.is_everyone:
            object.__setattr__(self, "protected", ProtectedRecords(only=self.index))
        if self.protected.only != self.index:
            raise InvalidArgumentError("protected", self.protected, "the record at the index, and no other")
        if self.adjacency is Adjacency.ADD_REMOVE_ONE and not self.protected.is_everyone:
            allowed = "all records, where adding or removing one is what neighbors differ in"
            raise InvalidArgumentError("protected", self.protected, allowed)

    def protects(self, index: int, n: int) -> bool:
        """Whether it covers data sets of n records that differ in the one at an index from 1.

        Raises:
            InvalidArgumentError: if there is no such index.
        """
        return self.adjacency is not Adjacency.ADD_REMOVE_ONE and self.protected.includes(index, n)

    def at(self, index: int, n: int) -> Self | None:
        """The same guarantee for one record of n, with its conditions; None if that record is not protected.

        Raises:
            InvalidArgumentError: if there is no such index.
        """
        if not self.protects(index, n):
            return None
        return replace(self, adjacency=Adjacency.INDEX, index=index, protected=ProtectedRecords(only=index))

    def __str__(self) -> str:
        parts = [f"record {self.index}" if self.index is not None else self.adjacency.value]
        if self.index is None and not self.protected.is_everyone:
            parts.append(str(self.protected))
        parts += ["local"] if self.local else []
        parts += dict.fromkeys(f"if {condition.kind.value}" for condition in self.conditions)
        return f"{self.guarantee} ({', '.join(parts)})"
