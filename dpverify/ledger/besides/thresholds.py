"""How far a formula holds: the bound, constant or exponent with which it is proved, and the nearest where it fails."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction

from pydantic import Field

from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import number_text, short_number


class Varied(StrEnum):
    """What of a formula is varied: a bound that is added to its assumptions, or numbers that stand in its claim."""

    AT_MOST = "x <= c"
    AT_LEAST = "x >= c"
    AT_MOST_MULTIPLE = "x <= c y"
    AT_LEAST_MULTIPLE = "x >= c y"
    AT_MOST_INVERSE = "x <= c/y"
    AT_LEAST_INVERSE = "x >= c/y"
    FACTOR = "factor of the right side"
    CONSTANT = "constant"
    EXPONENT = "exponent"


class Variation(Record):
    """What is varied in one formula; with a value, the formula that it makes can be built again."""

    varied: Varied
    letter: str = ""
    """For a bound, the letter x that it is on."""
    other: str = ""
    """The letter y, if it has one."""
    places: tuple[int, ...] = ()
    """Where the number stands: positions of the nodes that it replaces, counted through all sides of the claim."""
    within: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """Further bounds on letters, lower and upper, for provers that need a box."""


class ThresholdEnd(Record):
    """A value at which the formula is proved, or refuted, as the checker confirms."""

    value: str
    """An exact number."""
    says: str
    """The bound, or the whole claim, with it, in plain characters."""
    latex: str = ""
    """The bound in LaTeX, in the letters that are printed."""
    strict: bool = False
    """Whether the bound leaves out its end."""
    verdict: Verdict
    certificate: str
    """`sha256:` and the hash of the certificate."""
    counterexample: dict[str, str] | None = None
    """Where it fails: symbol to exact value; None at the end that holds."""

    def number(self) -> str:
        """The value with a few digits beside it where it is a fraction."""
        value = Fraction(self.value)
        return number_text(value) if value.denominator <= 1000 else short_number(value)


class Threshold(Record):
    """How far a formula holds as one thing is varied; nothing is said of what lies between the ends."""

    change: Variation
    now: str = ""
    """For a number, what is printed."""
    inside: str = ""
    """For a number, the least part of the claim that it stands in; for a factor, the right side."""
    inside_latex: str = ""
    """The same in LaTeX."""
    holds: ThresholdEnd
    fails: ThresholdEnd | None = None
    correction: str = ""
    """The formula at the end that holds, as it may stand on a page."""

    def of(self) -> str:
        """What is varied, in a few words."""
        change = self.change
        if change.letter:
            return f"bound on {change.letter}{f' by {change.other}' if change.other else ''}"
        return (
            f"{change.varied} {self.now} in {self.inside}" if self.now else f"{change.varied}, {self.inside}"
        )

    def numbers(self) -> tuple[str, ...]:
        """All that are in it, with those of its counterexample."""
        ends = (self.holds, *([] if self.fails is None else [self.fails]))
        return tuple(x for end in ends for x in (end.value, *(end.counterexample or {}).values()))

    def shown(self, end: ThresholdEnd) -> str:
        """What an end is: the bound, or the number."""
        return end.says if self.change.letter else end.number()

    def condition(self) -> str:
        """Bounds under which both ends are, beside the one that is varied."""
        return ", ".join(
            f"{number_text(low)} <= {name} <= {number_text(high)}"
            for name, (low, high) in self.change.within.items()
        )

    def text(self) -> str:
        """Such as `bound on x: proved with x <= 3, refuted with x <= 4 (at x = 4)`."""
        fails = "none found where it fails"
        if self.fails is not None:
            at = ", ".join(
                f"{x} = {number_text(value)}" for x, value in (self.fails.counterexample or {}).items()
            )
            fails = f"{self.fails.verdict} with {self.shown(self.fails)}{f' (at {at})' if at else ''}"
        given = f", given {self.condition()}" if self.change.within else ""
        return f"{self.of()}: {self.holds.verdict} with {self.shown(self.holds)}, {fails}{given}"


def nearest(found: Iterable[Threshold]) -> Threshold | None:
    """The one whose ends are nearest to one another, bounds on letters first; None where none has both."""

    def order(t: Threshold) -> tuple[bool, Fraction]:
        low, high = sorted(abs(Fraction(end.value)) for end in (t.holds, t.fails) if end is not None)
        return not t.change.letter, (high - low) / high if high else Fraction(0)

    return min((t for t in found if t.fails is not None), key=order, default=None)


def telling(found: Iterable[Threshold]) -> tuple[Threshold, ...]:
    """The nearest ends of a bound on a letter, and of a number; else the first of which one end is known."""
    every = tuple(found)
    sides = ([t for t in every if bool(t.change.letter) is bound] for bound in (True, False))
    best = tuple(t for side in sides if (t := nearest(side)) is not None)
    return best or every[:1]
