"""What O( ), Omega( ) and Theta( ) hide in the papers' statements: the constant that is proved, and the one exhibited.

A paper's package may have a module `audits.rates` with a table `RATES` from a statement's id and the place of a display
to what evaluates it: sizes, each with the printed rate, what is proved there with every constant, and what an instance
attains. The rest is computed from these: no constant and no reason is written down. What is printed comes from the
paper's inventory, which has every display; one that nothing evaluates stays in the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import Any

from dpverify.ledger.written_numbers import at_least, at_most
from dpverify.statements.inventory import DEFINITION, RESTATED, ListedDisplay
from dpverify.statements.paper import Paper

_HIDES = re.compile(r"(?:\\(?:Omega|Theta)|\\tilde\{?O\}?|(?<![A-Za-z\\{])O)(?:\\left|\\[bB]ig)?\{?\(")
_CONCLUDES = re.compile("statement|table|Algorithm|Theorem")
"""How places begin that are no part of a proof."""

LEVEL = 1e-6
"""With at most this probability a mean of runs is outside of its interval, each of them."""
CLOSE = 1.05
GROWTH = 1.25
"""From which factor on the ratio at the last size over that at the first is said to grow."""


class Between(Enum):
    """Why the constants are as far apart as they are."""

    COUNTED = "one number, which is counted or chosen"
    CLOSE = "within 5 %"
    GROWS = "the ratio grows from the first size to the last"
    FALLS = "the ratio falls from the first size to the last"
    STEADY = "the ratio is much the same at the first and the last size"
    NOT_PROVED = "the proof names no constant"
    NO_INSTANCE = "no instance is evaluated"
    NOT_EVALUATED = "nothing is evaluated"


@dataclass(frozen=True)
class RateAt:
    """One evaluation, everything in the unit of the rate.

    Attributes:
        rate: what is printed within O( ), with the constant 1.
        proved: the bound with every constant; None where the proof's own has constants that it does not name.
        attained: by an instance, from below for O( ) and from above for Omega( ); None where none is evaluated.
        at: the parameters.
    """

    rate: float
    proved: float | None
    attained: float | None
    at: Mapping[str, float]
    counted: bool = False
    """Whether the two are one number: of calls that are made, of a parameter that is chosen."""

    @property
    def ratio(self) -> float | None:
        """Proved over attained, or the other way where that is above 1."""
        if not self.attained or not self.proved:
            return None
        return max(self.proved / self.attained, self.attained / self.proved)


def size(rate: float, proved: float | None, attained: float | None = None, **at: float) -> RateAt:
    """A `RateAt` with its parameters by name."""
    return RateAt(rate, proved, attained, at)


def counted(rate: float, number: float, **at: float) -> RateAt:
    """A `RateAt` of calls that are made, or of a parameter that is chosen."""
    return RateAt(rate, number, number, at, counted=True)


def bound_of(stated: Any) -> float:
    """The bound of a risk that a mechanism states, in the units of its losses; there has to be one."""
    assert stated is not None
    return float(stated.bound)


Rates = Mapping[tuple[str, str], Callable[[], Iterator[RateAt]]]
"""From a statement and a place to its sizes, from small to large."""


def ranges(sizes: Sequence[RateAt]) -> dict[str, str]:
    """The smallest and the largest value of each parameter, in words."""
    names = dict.fromkeys(name for one in sizes for name in one.at)
    values = {name: [one.at[name] for one in sizes if name in one.at] for name in names}
    return {
        name: " to ".join(sorted({f"{min(found):g}", f"{max(found):g}"}, key=float))
        for name, found in values.items()
    }


@dataclass(frozen=True)
class HiddenConstant:
    """A printed rate and the constants at its sizes; without sizes nothing evaluates it."""

    display: ListedDisplay
    sizes: tuple[RateAt, ...]

    @property
    def below(self) -> bool:
        """Whether the rate is a lower bound."""
        return r"\Omega" in self.display.latex

    @property
    def proved(self) -> float | None:
        """The constant that is proved at all sizes, dimensionless."""
        found = [one.proved / one.rate for one in self.sizes if one.proved is not None]
        return None if not found else min(found) if self.below else max(found)

    @property
    def exhibited(self) -> float | None:
        """The constant that no better one is beyond, as an instance attains it."""
        found = [one.attained / one.rate for one in self.sizes if one.attained is not None]
        return None if not found else min(found) if self.below else max(found)

    @property
    def ratio(self) -> float | None:
        """Of the two, at least 1 where both are right."""
        if not self.proved or not self.exhibited:
            return None
        return self.exhibited / self.proved if self.below else self.proved / self.exhibited

    @cached_property
    def why(self) -> Between:
        """What lies between the two."""
        if not self.sizes:
            return Between.NOT_EVALUATED
        if all(one.counted for one in self.sizes):
            return Between.COUNTED
        if self.proved is None:
            return Between.NOT_PROVED
        if self.ratio is None:
            return Between.NO_INSTANCE
        if self.ratio <= CLOSE:
            return Between.CLOSE
        ratios = [one.ratio for one in self.sizes if one.ratio is not None]
        if ratios[-1] > GROWTH * ratios[0]:
            return Between.GROWS
        return Between.FALLS if ratios[0] > GROWTH * ratios[-1] else Between.STEADY

    @property
    def range(self) -> str:
        """Where the constants hold."""
        count = f", {len(self.sizes)} sizes" if len(self.sizes) > 1 else ""
        return ", ".join(f"{name} = {ends}" for name, ends in ranges(self.sizes).items()) + count

    @property
    def row(self) -> tuple[str, str, str, str, str]:
        """The constant that is proved, the one exhibited, their ratio, where, and why; each bound to its safe side."""
        proved, exhibited, ratio = self.proved, self.exhibited, self.ratio
        up, down = (at_least, at_most) if self.below else (at_most, at_least)
        return (
            "" if proved is None else up(proved),
            "" if exhibited is None else down(exhibited),
            "" if ratio is None else f"{ratio:.3g}",
            self.range,
            self.why.value if self.sizes or not self.display.reason else f"it {self.display.reason}",
        )


def hides(display: ListedDisplay) -> bool:
    """Whether a display of a statement has a rate whose constant is left open."""
    told = display.reason not in (DEFINITION, RESTATED)
    return told and bool(_CONCLUDES.match(display.place) and _HIDES.search(display.latex))


def hidden_constants(paper: Paper, statement: str | None = None) -> tuple[HiddenConstant, ...]:
    """What a paper's statements, or one of them, leave open, in its order; all that is known of each is computed."""
    hiding = [one for one in paper.displays if statement in (None, one.statement) and hides(one)]
    known = _known(paper) if hiding else {}
    return tuple(
        HiddenConstant(one, tuple(made()) if (made := known.get((one.statement, one.place))) else ())
        for one in hiding
    )


def _known(paper: Paper) -> Rates:
    place = f"dpverify.statements.{paper.key}.audits.rates"
    try:
        found: Rates = import_module(place).RATES
    except ModuleNotFoundError as error:  # a paper of one's own, or one without algorithms
        if not place.startswith(error.name or place):
            raise
        return {}
    return found
