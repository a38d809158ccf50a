"""Letters for vectors of any dimension, and what may be made of them.

A vector expression is a vector letter, a sum or difference of vector expressions, or one times a number. It stands
only inside of an inner product or a norm (the Euclidean one), which are numbers; nothing is known of the dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Derivative,
    Expression,
    Variable,
    all_variables,
    children,
    subexpressions,
)
from dpverify.formulas.logic import Formula, comparisons
from dpverify.formulas.operators import apply
from dpverify.formulas.printing import quoted
from dpverify.formulas.units import DIMENSIONLESS, Unit

Coordinates = tuple[Fraction, ...]
"""A vector's value at a point; all vectors of a point have the same number of coordinates."""
OF_VECTORS = frozenset(("inner", "norm"))
"""The operators that are applied to vectors."""


def vector(
    name: str, *, unit: Unit = DIMENSIONLESS, meaning: str = "", latex: str = "", stands_for: str = ""
) -> Variable:
    """A letter for a vector of a real space of any finite dimension, the same for all vectors of a formula.

    Raises:
        InvalidArgumentError: for an empty name.
    """
    require(isinstance(name, str) and name.strip(), "name", name, "a nonempty string")
    return Variable(name, "vector", None, False, None, False, unit, meaning, latex or name, stands_for)


def inner(left: object, right: object) -> Expression:
    """The inner product of two vector expressions."""
    return apply("inner", left, right)


def norm(of: object) -> Expression:
    """The Euclidean norm of a vector expression."""
    return apply("norm", of)


def is_vector(e: Expression) -> bool:
    """Whether an expression is a vector, as it is written."""
    match e:
        case Variable():
            return e.kind == "vector"
        case Apply("add" | "sub" | "neg" | "mul" | "div", arguments):
            return any(map(is_vector, arguments))
        case _:
            return False


def check_vectors(e: Expression) -> None:
    """Refuse an expression that uses vectors as numbers, or numbers as vectors."""
    if not any(v.kind == "vector" for v in all_variables(e)):
        if any(isinstance(part, Apply) and part.operator in OF_VECTORS for part in subexpressions(e)):
            allowed = "vectors in inner products and norms of vectors"
            raise InvalidArgumentError("expression", quoted(e), allowed)
        return
    for part in subexpressions(e):
        allowed = _wanted(part)
        if allowed:
            raise InvalidArgumentError("expression", quoted(part), allowed)


def _wanted(e: Expression) -> str:
    """What should stand in the place of an expression, where its parts do not fit in kind; else nothing."""
    found = [is_vector(part) for part in children(e)]
    match e:
        case Apply("inner" | "norm", _):
            return "" if all(found) else "vectors in inner products and norms of vectors"
        case Apply("add" | "sub" | "neg", _):
            return "" if all(found) or not any(found) else "sums of vectors, or of numbers, not of both"
        case Apply("mul", _):
            return "" if sum(found) < 2 else r"`\langle x,y\rangle` as the product of two vectors"
        case Apply("div", _):
            return "" if not found[1] else "a number under a vector"
        case Binder(_, _, variable, _, _) | Derivative(_, variable, _) | At(_, variable, _):
            vectors = any(found) or variable.kind == "vector"
            return "a number, not a vector, in sums, integrals and derivatives" if vectors else ""
        case _:
            return "" if not any(found) else "a number, not a vector, in this place"


def check_formula(formula: Formula) -> None:
    """Refuse a formula that uses vectors as numbers, or compares them; raises as `check_vectors`."""
    for compare in comparisons(formula):
        for side in (compare.left, compare.right):
            check_vectors(side)
            if is_vector(side):
                allowed = "numbers, such as norms, on both sides of a relation"
                raise InvalidArgumentError("formula", quoted(side), allowed)


def same_dimension(point: Mapping[str, object]) -> bool:
    """Whether all vectors of a point have the same number of coordinates, from 1 on."""
    lengths = {len(value) for value in point.values() if isinstance(value, tuple)}
    return len(lengths) < 2 and 0 not in lengths
