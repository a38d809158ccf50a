"""The operators, one record each with all that is known of it; what has no entry for something is refused there.

Provers keep one table each, by an operator's name, for the terms of their own libraries (SymPy, programs of balls).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Apply, Expression, expression
from dpverify.formulas.logic import Compare
from dpverify.formulas.units import Unit
from dpverify.formulas.values import Ball, Value

Json = Any
Arguments = tuple[Expression, ...]
Signs = frozenset[int]

SUM, PRODUCT, POWER, CLOSED = range(4)
"""How tightly an operator binds; `CLOSED` needs no brackets anywhere."""


@dataclass(frozen=True)
class Need:
    """What must hold for an operator to have a value, once its arguments have theirs."""

    formula: Compare
    exact: bool = True
    """Whether it is necessary, too; of a power with a symbolic exponent it only suffices."""


@dataclass(frozen=True)
class Written:
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
        needs: the arguments, and whether the function must be smooth around the point because a derivative is taken,
            to what must hold for a value; raises `OutOfScopeError` where that can't be said.
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
    text: Written
    latex: Written
    unit: Callable[[Arguments, Sequence[Unit | None]], Unit | None]
    value: Callable[..., Value]
    number: Callable[..., float]
    slopes: Callable[..., tuple[Expression | None, ...]]
    needs: Callable[[Arguments, bool], Iterator[Need]] = lambda arguments, inside: iter(())
    ball: Callable[..., Ball] | None = None
    monotone: int = 0
    signs: Callable[[Arguments, Sequence[Signs]], Signs] = lambda arguments, signs: frozenset({-1, 0, 1})
    neutral: Callable[..., Json] | None = None
    heads: tuple[str, ...] = ()
    based: tuple[str, ...] = ()
    powered: bool = False
    bare: bool = False


def operator(name: str) -> Operator:
    """The record of an operator.

    Raises:
        InvalidArgumentError: for an unknown name.
    """
    record = operators().get(name)
    if record is None:
        raise InvalidArgumentError("operator", name, f"one of {', '.join(operators())}")
    return record


def operators() -> Mapping[str, Operator]:
    """All operators by name."""
    # the records build expressions themselves, with the constructors below
    from dpverify.formulas.records import OPERATORS

    return OPERATORS


def apply(name: str, *arguments: object) -> Expression:
    """An operator on arguments.

    Raises:
        InvalidArgumentError: for an unknown operator, or arguments that do not fit in kind or number.
    """
    record = operator(name)
    if len(arguments) < record.least or (record.most is not None and len(arguments) > record.most):
        allowed = f"{record.least}" if record.most == record.least else f"at least {record.least}"
        raise InvalidArgumentError(f"number of arguments of {name}", len(arguments), allowed)
    return Apply(name, tuple(map(expression, arguments)))


def exp(x: object) -> Expression:
    """The exponential function."""
    return apply("exp", x)


def log(x: object) -> Expression:
    """The natural logarithm."""
    return apply("log", x)


def log_to_base(x: object, base: object) -> Expression:
    """The logarithm to a base."""
    return apply("log_base", x, base)


def sqrt(x: object) -> Expression:
    """The square root."""
    return root(x, 2)


def root(x: object, order: object) -> Expression:
    """The root of an order: x^(1/order), by values as powers are."""
    return apply("root", x, order)


def normal_cdf(x: object) -> Expression:
    """Phi(x), the standard Gaussian distribution function."""
    return apply("phi", x)


def normal_quantile(x: object) -> Expression:
    """The inverse of Phi, on (0, 1)."""
    return apply("phi_inverse", x)


def erfc(x: object) -> Expression:
    """The complementary error function."""
    return apply("erfc", x)


def gamma(x: object) -> Expression:
    """Euler's Gamma function, on the positive numbers."""
    return apply("gamma", x)


def factorial(n: object) -> Expression:
    """The factorial of an integer from 0 on."""
    return apply("factorial", n)


def binomial(n: object, k: object) -> Expression:
    """The binomial coefficient of integers from 0 on; 0 for k > n."""
    return apply("binomial", n, k)


def maximum(*arguments: object) -> Expression:
    """The largest of the arguments."""
    return apply("max", *arguments)


def minimum(*arguments: object) -> Expression:
    """The smallest of the arguments."""
    return apply("min", *arguments)


def absolute(x: object) -> Expression:
    """The absolute value."""
    return apply("abs", x)


def floor(x: object) -> Expression:
    """The largest integer that is not above."""
    return apply("floor", x)


def ceiling(x: object) -> Expression:
    """The smallest integer that is not below."""
    return apply("ceiling", x)
