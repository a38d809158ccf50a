"""All operators by name, and expressions made of them.

Provers keep one table each, by an operator's name, for the terms of their own libraries (SymPy, programs of balls).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.arithmetic import ARITHMETIC, VECTOR_OPERATORS
from dpverify.formulas.expressions import Apply, Expression, expression
from dpverify.formulas.functions import FUNCTIONS
from dpverify.formulas.records import Operator

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {record.name: record for record in (*ARITHMETIC, *FUNCTIONS, *VECTOR_OPERATORS)}
)


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
