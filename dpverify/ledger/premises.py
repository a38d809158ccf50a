"""Where the premises of a formula come from, as fields: which formula concludes them, for which values of letters."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from dpverify.ledger.records import Record


class PremiseOrigin(StrEnum):
    """Where a premise comes from, best first."""

    INSTANTIATED = "instantiated"
    """It is what a used formula concludes, all of whose hypotheses are shown; or it is proved outright."""
    IDENTIFIED = "identified"
    """The same, where a functional of the used formula is printed otherwise than what it is read as."""
    OPEN = "open"
    """A used formula concludes it, and something that this asks is not shown."""
    ASSUMED = "assumed"
    """No used formula concludes it: an assumption of its page."""


class Identification(Record):
    """A functional of a used formula and the letter that it is read as, both in LaTeX."""

    used: str
    read_as: str


class PremiseEntry(Record):
    """One premise of a formula, or a condition that a used formula concludes; formulas in plain characters."""

    premise: str
    by: tuple[str, ...] = ()
    """The formulas that conclude it, `STATEMENT/OBLIGATION`; none where it is assumed, or proved outright."""
    outright: bool = False
    """Whether it is proved from what its letters stand for alone."""
    by_algebra: bool = False
    """Whether it follows from these by algebra, and is not one of them letter by letter."""
    letters: dict[str, str] = Field(default_factory=dict)
    """Letters of the used formula that are something else here."""
    identified: tuple[Identification, ...] = ()
    shown: tuple[str, ...] = ()
    """What the used formula asks of these values, as far as it is shown."""
    open: tuple[str, ...] = ()
    """The rest of it."""
    beyond_box: tuple[str, ...] = ()
    """What is to hold, and is not shown, where the used formula is proved on its box only."""

    @property
    def origin(self) -> PremiseOrigin:
        """Where it comes from."""
        if not self.by and not self.outright:
            return PremiseOrigin.ASSUMED
        if self.open:
            return PremiseOrigin.OPEN
        return PremiseOrigin.IDENTIFIED if self.identified else PremiseOrigin.INSTANTIATED

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed with it: itself, or what is open of it."""
        return (self.premise,) if self.origin is PremiseOrigin.ASSUMED else self.open


class AssumedPremise(Record):
    """An assumption of a page, on which a formula rests."""

    formula: str
    """`STATEMENT/OBLIGATION`."""
    premise: str
    """In plain characters."""
