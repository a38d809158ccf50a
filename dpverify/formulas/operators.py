"""All operators by name, expressions made of them, and the signs that expressions have by their operators.

Provers keep one table each, by an operator's name, for the terms of their own libraries (SymPy, programs of balls).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.arithmetic import ARITHMETIC, VECTOR_OPERATORS
from dpverify.formulas.expressions import Apply, Binder, Constant, Expression, Number, Variable, expression
from dpverify.formulas.functions import FUNCTIONS
from dpverify.formulas.records import ANY_SIGN, POSITIVE, Operator, Signs

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {record.name: record for record in (*ARITHMETIC, *FUNCTIONS, *VECTOR_OPERATORS)}
)


def operator(name: str) -> Operator:
    """The record of an operator."""
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


exp = partial(apply, "exp")
log = partial(apply, "log")
log_to_base = partial(apply, "log_base")
"""Of a number and the base."""
root = partial(apply, "root")
"""Of a number and an order: x^(1/order), by values as powers are."""
normal_cdf = partial(apply, "phi")
"""Phi(x), the standard Gaussian distribution function."""
normal_quantile = partial(apply, "phi_inverse")
"""The inverse of Phi, on (0, 1)."""
erfc = partial(apply, "erfc")
"""The complementary error function."""
gamma = partial(apply, "gamma")
"""Euler's Gamma function, on the positive numbers."""
factorial = partial(apply, "factorial")
binomial = partial(apply, "binomial")
"""The binomial coefficient of integers from 0 on; 0 for k > n."""
maximum = partial(apply, "max")
minimum = partial(apply, "min")
absolute = partial(apply, "abs")
floor = partial(apply, "floor")
ceiling = partial(apply, "ceiling")


def sqrt(x: object) -> Expression:
    """The square root."""
    return root(x, 2)


def signs_of_variable(v: Variable) -> Signs:
    """The signs that a variable takes on its domain."""
    result = set(ANY_SIGN)
    if v.lower is not None and v.lower >= 0:
        result.discard(-1)
        if v.lower > 0 or v.lower_open:
            result.discard(0)
    if v.upper is not None and v.upper <= 0:
        result.discard(1)
        if v.upper < 0 or v.upper_open:
            result.discard(0)
    return frozenset(result)


def possible_signs(e: Expression) -> Signs:
    """A set that contains the sign of the expression at every point of the domain where it is defined.

    A bound name keeps to its domain wherever its sum or integral is defined (`definedness`).
    """
    match e:
        case Number(value):
            return frozenset({(value > 0) - (value < 0)})
        case Variable():
            return signs_of_variable(e)
        case Constant("pi"):
            return POSITIVE
        case Apply(name, arguments):
            return operator(name).signs(arguments, tuple(map(possible_signs, arguments)))
        case Binder("sum" | "product", body, _, _, _):
            found = possible_signs(body)
            return found if found in ({1}, {0}, {0, 1}) or (e.kind == "sum" and 1 not in found) else ANY_SIGN
        case _:
            return ANY_SIGN
