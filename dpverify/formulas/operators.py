"""The operators, one record each with all that is known of it; what has no entry for something is refused there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Apply, Expression, expression


@dataclass(frozen=True)
class Operator:
    """An operator.

    Attributes:
        name: as in trees; also the head in certificates, unless it is written there with other operators.
        least: number of arguments at least.
        most: at most; None: any number.
    """

    name: str
    least: int
    most: int | None


def _operators(*records: Operator) -> Mapping[str, Operator]:
    return MappingProxyType({record.name: record for record in records})


OPERATORS = _operators(
    Operator("add", 2, None),
    Operator("sub", 2, 2),
    Operator("neg", 1, 1),
    Operator("mul", 2, None),
    Operator("div", 2, 2),
    Operator("pow", 2, 2),
    Operator("root", 2, 2),  # of an argument, of an order: sqrt is of order 2
    Operator("exp", 1, 1),
    Operator("log", 1, 1),
    Operator("log_base", 2, 2),  # of an argument, to a base
    Operator("phi", 1, 1),
    Operator("phi_inverse", 1, 1),
    Operator("erfc", 1, 1),
    Operator("gamma", 1, 1),
    Operator("factorial", 1, 1),
    Operator("binomial", 2, 2),
    Operator("max", 1, None),
    Operator("min", 1, None),
    Operator("abs", 1, 1),
    Operator("floor", 1, 1),
    Operator("ceiling", 1, 1),
)


def apply(name: str, *arguments: object) -> Expression:
    """An operator on arguments.

    Raises:
        InvalidArgumentError: for an unknown operator, or arguments that do not fit in kind or number.
    """
    record = OPERATORS.get(name)
    if record is None:
        raise InvalidArgumentError("operator", name, f"one of {', '.join(OPERATORS)}")
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


def sqrt(x: object) -> Expression:
    """The square root."""
    return apply("root", x, Fraction(2))


def normal_cdf(x: object) -> Expression:
    """Phi(x), the standard Gaussian distribution function."""
    return apply("phi", x)


def normal_quantile(x: object) -> Expression:
    """The inverse of Phi, on (0, 1)."""
    return apply("phi_inverse", x)


def erfc(x: object) -> Expression:
    """The complementary error function."""
    return apply("erfc", x)


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


def binomial(n: object, k: object) -> Expression:
    """The binomial coefficient."""
    return apply("binomial", n, k)
