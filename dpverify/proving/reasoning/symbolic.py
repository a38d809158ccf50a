"""From trees to SymPy's expressions and back, for the provers that work with those.

SymPy simplifies whatever it is given, by laws that hold where both sides have values: x/x becomes 1. So the form that
it makes of an expression has the expression's value wherever the expression has one, and may have values elsewhere.

- A claim whose form is shown counts as shown only with every condition of `definedness.defined_where` of the claim as
  it was written.
- An assumption's form is weaker than the assumption or the same: where the assumption is true, each of its comparisons
  that has a truth value keeps it, and Kleene's connectives never change a truth value when an undefined part is given
  one. So whatever follows from the form follows from the assumption.

Formulas in SymPy's form are those of `dpverify.formulas.logic` with SymPy's expressions as sides (`Symbolic`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp

from dpverify.formulas.calculus import map_sides, substituted, worked_out
from dpverify.formulas.expressions import (
    PI,
    Apply,
    Binder,
    Constant,
    Expression,
    Number,
    OutOfScopeError,
    TooLargeError,
    Variable,
    constant,
    free_variables,
    product,
    total,
)
from dpverify.formulas.expressions import integral as tree_integral
from dpverify.formulas.logic import Compare, Formula
from dpverify.formulas.operators import apply, exp, log, maximum, possible_signs
from dpverify.formulas.records import POSITIVE, Signs
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.proving.reasoning.evaluation import evaluate

SymPy = Any
"""A SymPy expression; SymPy ships no types."""
Symbolic = Any
"""A formula with SymPy's expressions as sides."""
MAX_BITS = 100_000
"""Bits of the longest power of a number that is worked out."""


def fraction(value: SymPy) -> Fraction:
    """An exact SymPy rational as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def rational(value: Fraction) -> SymPy:
    """A Fraction as a SymPy rational."""
    return sp.Rational(value.numerator, value.denominator)


def raised(base: SymPy, exponent: SymPy) -> SymPy:
    """A power; SymPy works out that of a number at once, so `TooLargeError` where it is too long."""
    number, _ = base.as_coeff_Mul(rational=True)
    if exponent.is_Rational:
        bits = max(int(number.p).bit_length(), int(number.q).bit_length()) if abs(number) != 1 else 0
        if bits * abs(int(exponent.p)) > MAX_BITS * int(exponent.q):
            raise TooLargeError("a power of a number is too long")
    return base**exponent


class _Kept(sp.Function):  # type: ignore[misc]
    """A function of one number that SymPy never rewrites: its `slope`, and its `form` in SymPy's functions."""

    slope: Callable[[SymPy], SymPy]
    form: Callable[[SymPy], SymPy]

    def fdiff(self, argindex: int = 1) -> SymPy:
        """Derivative."""
        return type(self).slope(self.args[0])

    def _eval_evalf(self, prec: int) -> SymPy:
        return type(self).form(self.args[0])._eval_evalf(prec)


class Phi(_Kept):
    """The standard Gaussian distribution function; Phi(-10) is not evaluated as one minus something close to one."""

    nargs = 1
    slope = staticmethod(lambda x: sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi))
    form = staticmethod(lambda x: sp.erfc(-x / sp.sqrt(2)) / 2)


class Sine(_Kept):
    """The sine."""

    nargs = 1
    slope = staticmethod(lambda x: Cosine(x))
    form = staticmethod(sp.sin)


class Cosine(_Kept):
    """The cosine."""

    nargs = 1
    slope = staticmethod(lambda x: -Sine(x))
    form = staticmethod(sp.cos)


class Arctangent(_Kept):
    """The arctangent."""

    nargs = 1
    slope = staticmethod(lambda x: 1 / (1 + x**2))
    form = staticmethod(sp.atan)


TRANSCENDENTAL = (sp.exp, sp.log, Phi, sp.erfc, Sine, Cosine, Arctangent)


class DomainSymbol(sp.Symbol):  # type: ignore[misc]
    """The symbol of a variable, equal to another only if both variables are."""

    __slots__ = ("variable",)

    variable: Variable

    def __new__(cls, variable: Variable) -> DomainSymbol:
        """Make a symbol; SymPy simplifies by the assumptions alone."""
        symbol = sp.Symbol.__xnew__(cls, variable.name, **_assumptions(variable))
        symbol.variable = variable
        found: DomainSymbol = symbol
        return found

    def __getnewargs_ex__(self) -> tuple[tuple[Variable], dict[str, bool]]:
        return (self.variable,), {}

    def _hashable_content(self) -> tuple[object, ...]:
        v = self.variable
        return (*super()._hashable_content(), f"{v.domain_text()}, {v.unit!r}")

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        """Where SymPy sorts it: among its own symbols."""
        key: tuple[int, int, str] = sp.Symbol.class_key()
        return key


def _assumptions(v: Variable) -> dict[str, bool]:
    found: dict[str, bool] = {"integer": True} if v.kind == "integer" else {"real": True}
    if v.lower is not None and (v.lower > 0 or (v.lower == 0 and v.lower_open)):
        found["positive"] = True
    elif v.lower is not None and v.lower >= 0:
        found["nonnegative"] = True
    elif v.upper is not None and (v.upper < 0 or (v.upper == 0 and v.upper_open)):
        found["negative"] = True
    elif v.upper is not None and v.upper <= 0:
        found["nonpositive"] = True
    return found


@lru_cache(10_000)
def symbol(variable: Variable) -> DomainSymbol:
    """The symbol of a variable."""
    return DomainSymbol(variable)


_TO_SYMPY: Mapping[str, Callable[..., SymPy]] = MappingProxyType({
    "add": sp.Add, "sub": lambda a, b: a - b, "neg": lambda a: -a, "mul": sp.Mul, "div": lambda a, b: a / b,
    "pow": raised, "root": lambda a, order: raised(a, 1 / order), "exp": sp.exp, "log": sp.log,
    "log_base": lambda x, base: sp.log(x) / sp.log(base), "phi": Phi, "erfc": sp.erfc, "max": sp.Max, "min": sp.Min,
    "abs": sp.Abs, "floor": sp.floor, "ceiling": lambda x: -sp.floor(-x),
    "sin": Sine, "cos": Cosine, "arctan": Arctangent,
})  # fmt: skip
"""SymPy's term for each operator; what is not here is beyond the provers that work with SymPy."""


def operators_known() -> frozenset[str]:
    """Names of the operators that have a SymPy term."""
    return frozenset(_TO_SYMPY)


def symbolic(e: Expression) -> SymPy:
    """What SymPy makes of an expression, derivatives taken and `at` carried out; `OutOfScopeError` for nothing."""
    result = _symbolic(worked_out(e))
    if result.has(sp.zoo, sp.nan):
        raise OutOfScopeError("an expression has no value anywhere")
    if result.has(sp.I):
        raise OutOfScopeError("SymPy needs complex numbers for an expression")
    return result


@lru_cache(20_000)
def _symbolic(e: Expression) -> SymPy:
    match e:
        case Number(value):
            return rational(value)
        case Variable(kind="vector"):
            raise OutOfScopeError("function not supported: inner products of vectors")
        case Variable():
            return symbol(e)
        case Constant(name):
            return {"pi": sp.pi, "oo": sp.oo, "-oo": -sp.oo}[name]
        case Apply(name, arguments):
            make = _TO_SYMPY.get(name)
            if make is None:
                raise OutOfScopeError(f"function not supported: {name}")
            _check_number(e)
            return make(*map(_symbolic, arguments))
        case Binder("product"):
            raise OutOfScopeError("function not supported: product")
        case Binder(kind, body, variable, first, last):
            make = sp.Sum if kind == "sum" else sp.Integral
            running = variable
            if not (_reaches(variable, first, 1) and _reaches(variable, last, -1)):
                # SymPy may use of it only what holds from end to end
                running = replace(variable, lower=None, lower_open=False, upper=None, upper_open=False)
                body = substituted(body, {variable: running})
            return make(_symbolic(body), (symbol(running), _symbolic(first), _symbolic(last)))
        case _:
            raise AssertionError(e)


def _check_number(e: Apply) -> None:
    """Refuse exponentials and powers of numbers of which SymPy would look for the digits before the point."""
    if e.operator not in ("exp", "pow") or free_variables(e):
        return
    exponent = e.arguments[0] if e.operator == "exp" else e.arguments[1] * log(e.arguments[0])
    try:
        far = evaluate(maximum(exponent, -exponent) - MAX_BITS, {})
    except (UndefinedError, UnclearError, OutOfScopeError):
        return
    if not (far.is_finite() if isinstance(far, flint.arb) else True) or far > 0:
        raise TooLargeError("a number is too large, or too near to 0")


def _reaches(v: Variable, end: Expression, side: int) -> bool:
    """Whether the end of a sum or an integral surely keeps to the lower (1) or upper (-1) bound of its variable."""
    bound, is_open = (v.lower, v.lower_open) if side > 0 else (v.upper, v.upper_open)
    if bound is None:
        return True
    value, strict = constant(end), False
    if value is None and isinstance(end, Variable):
        value, strict = (end.lower, end.lower_open) if side > 0 else (end.upper, end.upper_open)
    gap = None if value is None else side * (value - bound)
    return gap is not None and (gap > 0 or (gap == 0 and (strict or not is_open)))


def symbolic_formula(formula: Formula) -> Symbolic:
    """`symbolic` on every side."""
    change: Callable[[Expression], SymPy] = symbolic
    return map_sides(formula, change)


def bound_parts(e: SymPy) -> tuple[SymPy, SymPy, SymPy, SymPy]:
    """Body, bound symbol, lower and upper end of a sum or an integral.

    SymPy writes a sum of sums as one with several limits; the outermost comes last and is the one given here.
    """
    *inner, (index, first, last) = e.limits
    return (e.func(e.function, *inner) if inner else e.function), index, first, last


_FROM_SYMPY: tuple[tuple[Any, str], ...] = (
    (sp.exp, "exp"), (sp.log, "log"), (sp.erfc, "erfc"), (Phi, "phi"), (sp.Max, "max"), (sp.Min, "min"),
    (sp.Abs, "abs"), (sp.floor, "floor"), (sp.Pow, "pow"), (Sine, "sin"), (Cosine, "cos"), (Arctangent, "arctan"),
)  # fmt: skip


def tree(e: SymPy) -> Expression:
    """The tree of a SymPy expression over variables' symbols; `OutOfScopeError` for what has none."""
    if e.is_Rational:
        return Number(fraction(e))
    if isinstance(e, DomainSymbol):
        return e.variable
    if e is sp.pi:
        return PI
    if e is sp.E:
        return exp(1)
    if e in (sp.oo, -sp.oo):
        return Constant("oo" if e is sp.oo else "-oo")
    if e.is_Mul and e.args[0] is sp.S.NegativeOne:
        return -tree(sp.Mul(*e.args[1:]))
    if e.is_Add or e.is_Mul:
        return Apply("add" if e.is_Add else "mul", tuple(map(tree, e.args)))
    if isinstance(e, sp.Sum | sp.Integral | sp.Product):
        body, index, first, last = bound_parts(e)
        make = {sp.Sum: total, sp.Product: product, sp.Integral: tree_integral}[type(e)]
        return make(tree(body), tree(index), tree(first), tree(last))  # type: ignore[arg-type]
    for function, name in _FROM_SYMPY:
        if isinstance(e, function):
            return apply(name, *map(tree, e.args))
    raise OutOfScopeError(f"{type(e).__name__} in {e}")


def symbolic_to_json(e: SymPy) -> Json:
    """A SymPy expression as certificates write it."""
    return expression_to_json(tree(e))


def holds_by_signs(claim: Formula) -> bool:
    """Whether a comparison follows from the signs of the parts of its sides' difference, where both are defined."""
    if not isinstance(claim, Compare):
        return False
    difference = claim.right - claim.left
    if _fits(claim.relation, possible_signs(difference)):
        return True
    try:
        return _fits(claim.relation, possible_signs(tree(symbolic(difference))))
    except OutOfScopeError:
        return False


def _fits(relation: str, signs: Signs) -> bool:
    fitting = {"<=": -1 not in signs, "<": signs == POSITIVE, "!=": 0 not in signs, "==": signs == {0}}
    return fitting[relation]
