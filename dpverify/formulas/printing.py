"""Formulas in plain characters, in the order in which they are written; `rendering.latex` is for LaTeX."""

from __future__ import annotations

from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or
from dpverify.formulas.operators import operator
from dpverify.formulas.records import CLOSED, PRODUCT, SUM


class Quoted(str):
    """An expression that an error message quotes, in plain characters."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def quoted(e: Expression) -> Quoted:
    """An expression as the value of an `InvalidArgumentError`."""
    return Quoted(expression_text(e))


def expression_text(e: Expression) -> str:
    """An expression in plain characters, for instance `[d^2/dz^2 (z^2/(4*h)) at z = h]`."""
    return _written(e)[0]


def _written(e: Expression) -> tuple[str, int]:
    """An expression and how tightly it binds."""
    match e:
        case Number(value):
            return str(value), SUM if value < 0 else CLOSED if value.denominator == 1 else PRODUCT
        case Constant(name):
            return name, CLOSED
        case Variable():
            return e.name, CLOSED
        case Apply(name, arguments):
            way = operator(name).text
            wants = [*way.wants, *way.wants[-1:] * len(arguments)]
            return way.join(*(_within(a, w) for a, w in zip(arguments, wants, strict=False))), way.binds
        case Binder():
            return _bound_text(e), CLOSED
        case Derivative():
            return f"({_derivative(e)})", CLOSED
        case At(body, variable, value):
            inner = _derivative(body) if isinstance(body, Derivative) else expression_text(body)
            return f"[{inner} at {variable.name} = {expression_text(value)}]", CLOSED
        case _:
            raise TypeError(f"{type(e).__name__} is not a node")


def _within(e: Expression, wants: int) -> str:
    written, binds = _written(e)
    return written if binds >= wants else f"({written})"


def _bound_text(e: Binder) -> str:
    name, body = e.variable.name, _within(e.body, PRODUCT)
    if e.kind == "integral":
        ends = f"{name} from {expression_text(e.first)} to {expression_text(e.last)}"
    else:
        ends = f"{name} = {_within(e.first, PRODUCT)}..{_within(e.last, PRODUCT)}"
    return f"({e.kind} over {ends} of {body})"


def _derivative(e: Derivative) -> str:
    power = "" if e.order == 1 else f"^{e.order}"
    return f"d{power}/d{e.variable.name}{power} ({expression_text(e.body)})"


# ---------------------------------------------------------------------------------------------- formulas


def formula_text(formula: Formula) -> str:
    """A formula in plain characters."""
    match formula:
        case Compare(relation, left, right):
            return f"{expression_text(left)} {relation} {expression_text(right)}"
        case And(parts):
            return " and ".join(f"({formula_text(p)})" for p in parts)
        case Or(parts):
            return " or ".join(f"({formula_text(p)})" for p in parts)
        case Not(part):
            return f"not ({formula_text(part)})"
        case Implies(premise, conclusion):
            return f"({formula_text(premise)}) implies ({formula_text(conclusion)})"
        case ForAll(variable, body):
            return f"for all {variable.name} in {variable.domain_text()}: ({formula_text(body)})"
        case Exists(variable, body):
            return f"there is {variable.name} in {variable.domain_text()}: ({formula_text(body)})"
