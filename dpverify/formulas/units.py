"""Units of measure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Unit:
    """A unit of measure: powers of loss and of length, with a name for those that are pure numbers.

    Loss and length can be rescaled at will, so every formula must be homogeneous in them. Record counts and
    nats cannot (ln n and exp(eps) fix their scale): they are declared and shown, and count as pure numbers.
    """

    loss: Fraction = Fraction(0)
    length: Fraction = Fraction(0)
    name: str = ""

    def __mul__(self, other: Unit) -> Unit:
        return Unit(self.loss + other.loss, self.length + other.length)

    def __truediv__(self, other: Unit) -> Unit:
        return Unit(self.loss - other.loss, self.length - other.length)

    def __pow__(self, exponent: int | Fraction) -> Unit:
        return Unit(self.loss * exponent, self.length * exponent)

    def same_as(self, other: Unit) -> bool:
        """Whether a quantity in this unit may be compared with, or added to, one in the other."""
        return (self.loss, self.length) == (other.loss, other.length)

    def __str__(self) -> str:
        if self.name:
            return self.name
        powers = ((base, power) for base, power in (("loss", self.loss), ("length", self.length)) if power)
        parts = [base if power == 1 else f"{base}^{power}" for base, power in powers]
        return " ".join(parts) or "dimensionless"


DIMENSIONLESS = Unit(name="dimensionless")
NATS = Unit(name="nats")
RECORDS = Unit(name="record count")
UNKNOWN = Unit(name="unknown")
"""Of a letter of whose unit nothing is known: no formula with it is compared in units."""
LOSS = Unit(loss=Fraction(1))
LENGTH = Unit(length=Fraction(1))


class ClashError(Exception):
    """Two quantities of different units meet; what they are."""

    def __init__(self, left: Unit, right: Unit) -> None:
        self.left, self.right = left, right
        super().__init__(f"{left} meets {right}")


def alike(*units: Unit | None) -> Unit | None:
    """The unit that all share, None being the unit of zero and infinity, which fits any; raises `ClashError`."""
    found: Unit | None = None
    for unit in units:
        if unit is None:
            continue
        if found is not None and not found.same_as(unit):
            raise ClashError(found, unit)
        found = unit if found is None else found
    return found


def pure(*units: Unit | None) -> Unit:
    """The unit of a pure number, made from pure numbers; raises `ClashError`."""
    alike(*units, DIMENSIONLESS)
    return DIMENSIONLESS
