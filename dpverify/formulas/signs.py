"""Signs of expressions from the signs of their parts."""

from __future__ import annotations

from dpverify.formulas.expressions import Apply, Binder, Constant, Expression, Number, Variable
from dpverify.formulas.operators import operator
from dpverify.formulas.records import ANY_SIGN, POSITIVE, Signs


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
