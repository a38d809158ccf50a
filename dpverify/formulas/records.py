"""What is known of an operator: one record each; what a record has no entry for is refused there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpverify.formulas.expressions import Expression, OutOfScopeError
from dpverify.formulas.logic import Compare
from dpverify.formulas.units import Unit, alike, pure
from dpverify.formulas.values import Ball, Value

Json = Any
Arguments = tuple[Expression, ...]
Signs = frozenset[int]

POSITIVE: Signs = frozenset({1})
NOT_NEGATIVE: Signs = frozenset({0, 1})
ANY_SIGN: Signs = frozenset({-1, 0, 1})

SUM, PRODUCT, POWER, CLOSED = range(4)
"""How tightly an operator binds; `CLOSED` needs no brackets anywhere."""


@dataclass(frozen=True)
class Need:
    """What must hold for an operator to have a value, once its arguments have theirs."""

    formula: Compare
    exact: bool = True
    """Whether it is necessary, too; of a power with a symbolic exponent it only suffices."""


Needs = Callable[[Arguments, bool], Iterator[Need]]
"""The arguments, and whether the function must be smooth around the point because a derivative is taken, to what must
hold for a value; raises `OutOfScopeError` where that can't be said.
"""


def needing(*formulas: Callable[..., Compare]) -> Needs:
    """What must hold of the arguments, smooth or not."""
    return lambda arguments, _: (Need(of(*arguments)) for of in formulas)


NO_NEEDS = needing()


def not_smooth(what: str, needs: Needs = NO_NEEDS) -> Needs:
    """The needs of a function that is not differentiated."""

    def checked(arguments: Arguments, inside: bool) -> Iterator[Need]:
        if inside:
            raise OutOfScopeError(f"a derivative of {what}")
        return needs(arguments, inside)

    return checked


def shared_unit(_: Arguments, units: Sequence[Unit | None]) -> Unit | None:
    """The unit of what is one of its arguments, or a sum of them."""
    return alike(*units)


def pure_unit(_: Arguments, units: Sequence[Unit | None]) -> Unit:
    """The unit of a number made of numbers."""
    return pure(*units)


@dataclass(frozen=True)
class Writing:
    """How an operator is written.

    Attributes:
        join: the written arguments to the written whole.
        binds: how tightly the whole binds.
        wants: how tightly each argument must bind to stand without brackets; the last is for all that follow.
    """

    join: Callable[..., str]
    binds: int = CLOSED
    wants: tuple[int, ...] = (SUM,)


@dataclass(frozen=True)
class Operator:
    """An operator.

    Attributes:
        name: as in trees; also the head in certificates, unless `neutral` says otherwise.
        least: number of arguments at least.
        most: at most; None: any number.
        text: in plain characters.
        latex: in LaTeX; a function's encloses its arguments, by brackets or bars.
        unit: the arguments and their units (None for that of zero, which is any) to the unit; raises `ClashError`.
        value: the values of the arguments, exact or balls, and `inside` as in `needs`, to the value, exact where the
            arithmetic is rational; raises `UndefinedError` or `UnclearError`.
        ball: an enclosure over balls of any width, not a number where perhaps undefined; None where there is no such.
        monotone: 1 where a function of one argument grows, -1 where it falls, else 0; for wide balls.
        number: in floats; raises ValueError, ZeroDivisionError or OverflowError.
        slopes: the partial derivatives; None for one that is not to be had.
        signs: the arguments' expressions and possible signs to the possible signs of the whole, where defined.
        heads: what is read as it in LaTeX where arguments follow, `\\ln`; signs that stand elsewhere have their rule in
            the grammar.
        based: what is read as it with a subscript, its last argument: `\\log_2`.
        powered: whether a power above the head is one of the value: `\\ln^2 x`.
        bare: whether its argument may stand without brackets: `\\ln x`.
        neutral: what certificates write for the written arguments; None for name and arguments as they are.
    """

    name: str
    least: int
    most: int | None
    text: Writing
    latex: Writing
    unit: Callable[[Arguments, Sequence[Unit | None]], Unit | None]
    value: Callable[..., Value]
    number: Callable[..., float]
    slopes: Callable[..., tuple[Expression | None, ...]]
    needs: Needs = NO_NEEDS
    ball: Callable[..., Ball] | None = None
    monotone: int = 0
    signs: Callable[[Arguments, Sequence[Signs]], Signs] = lambda arguments, signs: ANY_SIGN
    neutral: Callable[..., Json] | None = None
    heads: tuple[str, ...] = ()
    based: tuple[str, ...] = ()
    powered: bool = False
    bare: bool = False
