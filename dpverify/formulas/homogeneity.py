"""Whether every sum and comparison is homogeneous in loss and length."""

from __future__ import annotations

from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Variable,
    children,
    constant,
)
from dpverify.formulas.logic import Formula, comparisons
from dpverify.formulas.operators import operator
from dpverify.formulas.printing import expression_text, formula_text
from dpverify.formulas.units import DIMENSIONLESS, ClashError, Unit, alike, pure


class MixedUnitsError(Exception):
    """Two quantities of different units meet; what they are, and where."""

    def __init__(self, left: Unit, right: Unit, where: str) -> None:
        self.left, self.right, self.where = left, right, where
        super().__init__(f"{left} meets {right} in {where}")


def unit_of(e: Expression) -> Unit | None:
    """The unit of an expression, None for what is zero or infinite as it is written; raises `MixedUnitsError`.

    Sums, max and min need one unit; the arguments of exp, log, Phi and the like and all exponents are pure
    numbers, and only a pure number has an exponent that is not a constant.
    """
    parts = tuple(map(unit_of, children(e)))
    try:
        return _unit(e, parts)
    except ClashError as clash:
        raise MixedUnitsError(clash.left, clash.right, expression_text(e)) from None


def _unit(e: Expression, parts: tuple[Unit | None, ...]) -> Unit | None:
    match e:
        case Variable():
            return e.unit
        case Constant(name):
            return DIMENSIONLESS if name == "pi" else None
        case Apply(name, arguments):
            return operator(name).unit(arguments, parts)
        case Binder("integral", _, variable, _, _):
            inner, first, last = parts
            alike(variable.unit, first, last)
            return None if inner is None else inner * variable.unit
        case Binder(kind, _, variable, first_end, last_end):
            inner, first, last = parts
            pure(variable.unit, first, last)
            if kind == "sum" or inner is None:
                return inner
            # of a product the number of factors must be known, unless they are pure numbers
            low, high = constant(first_end), constant(last_end)
            return pure(inner) if low is None or high is None else inner ** (high - low + 1)
        case Derivative(_, variable, order):
            (inner,) = parts
            return None if inner is None else inner / variable.unit**order
        case At(_, variable, _):
            inner, value = parts
            alike(variable.unit, value)
            return inner
        case _:
            return DIMENSIONLESS if constant(e) else None


def check(formula: Formula) -> None:
    """Raise `MixedUnitsError` unless every sum and comparison of the formula is homogeneous."""
    for compare in comparisons(formula):
        units = unit_of(compare.left), unit_of(compare.right)
        try:
            alike(*units)
        except ClashError as clash:
            raise MixedUnitsError(clash.left, clash.right, formula_text(compare)) from None
