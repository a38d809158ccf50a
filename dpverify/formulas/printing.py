"""Formulas for reading, printed from the tree in the order in which they are written: plain characters, and LaTeX."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from dpverify.formulas.expressions import (
    Apply,
    At,
    Bound,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
)
from dpverify.formulas.logic import And, Compare, ForAll, Formula, Implies, Not, Or
from dpverify.formulas.operators import CLOSED, POWER, PRODUCT, SUM, operator

_Style = Literal["text", "latex"]


def expression_text(e: Expression) -> str:
    """An expression in plain characters, for instance `[d^2/dz^2 (z^2/(4*h)) at z = h]`."""
    return _written(e, "text")[0]


def expression_latex(e: Expression) -> str:
    """An expression in LaTeX, with the variables' own letters."""
    return _written(e, "latex")[0]


def _written(e: Expression, style: _Style) -> tuple[str, int]:
    """An expression and how tightly it binds."""
    plain = style == "text"
    match e:
        case Number(value):
            return _number(value, plain)
        case Constant(name):
            return (name if plain else name.replace("pi", r"\pi").replace("oo", r"\infty")), CLOSED
        case Variable():
            return (e.name if plain else e.latex), CLOSED
        case Apply(name, arguments):
            way = operator(name).text if plain else operator(name).latex
            wants = [*way.wants, *way.wants[-1:] * len(arguments)]
            return way.join(
                *(_within(a, style, w) for a, w in zip(arguments, wants, strict=False))
            ), way.binds
        case Bound():
            return (_bound_text(e), CLOSED) if plain else (_bound_latex(e), PRODUCT)
        case Derivative():
            return (f"({_derivative(e)})", CLOSED) if plain else (_derivative_latex(e), PRODUCT)
        case At(body, variable, value):
            if plain:
                inner = _derivative(body) if isinstance(body, Derivative) else expression_text(body)
                return f"[{inner} at {variable.name} = {expression_text(value)}]", CLOSED
            place = f"{variable.latex}={expression_latex(value)}"
            return rf"\left.{_within(body, style, PRODUCT)}\right|_{{{place}}}", POWER
        case _:
            raise TypeError(f"{type(e).__name__} is no node")


def _number(value: Fraction, plain: bool) -> tuple[str, int]:
    if value.denominator == 1:
        return str(value), SUM if value < 0 else CLOSED
    if plain:
        return str(value), SUM if value < 0 else PRODUCT
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", SUM if value < 0 else POWER


def _within(e: Expression, style: _Style, wants: int) -> str:
    written, binds = _written(e, style)
    if binds >= wants:
        return written
    return f"({written})" if style == "text" else rf"\left({written}\right)"


def _bound_text(e: Bound) -> str:
    name, body = e.variable.name, _within(e.body, "text", PRODUCT)
    if e.kind == "integral":
        ends = f"{name} from {expression_text(e.first)} to {expression_text(e.last)}"
    else:
        ends = f"{name} = {_within(e.first, 'text', PRODUCT)}..{_within(e.last, 'text', PRODUCT)}"
    return f"({e.kind} over {ends} of {body})"


def _bound_latex(e: Bound) -> str:
    letter, body = e.variable.latex, _within(e.body, "latex", PRODUCT)
    first, last = expression_latex(e.first), expression_latex(e.last)
    if e.kind == "integral":
        return rf"\int_{{{first}}}^{{{last}}} {body}\, d{letter}"
    sign = r"\sum" if e.kind == "sum" else r"\prod"
    return rf"{sign}_{{{letter}={first}}}^{{{last}}} {body}"


def _derivative(e: Derivative) -> str:
    power = "" if e.order == 1 else f"^{e.order}"
    return f"d{power}/d{e.variable.name}{power} ({expression_text(e.body)})"


def _derivative_latex(e: Derivative) -> str:
    power = "" if e.order == 1 else f"^{{{e.order}}}"
    body = expression_latex(e.body)
    return rf"\frac{{d{power}}}{{d{e.variable.latex}{power}}}\left({body}\right)"


# ---------------------------------------------------------------------------------------------- formulas

_RELATION_LATEX = {"<=": r"\le", "<": "<", "==": "=", "!=": r"\ne"}


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


def formula_latex(formula: Formula) -> str:
    """A formula in LaTeX."""
    match formula:
        case Compare(relation, left, right):
            return f"{expression_latex(left)} {_RELATION_LATEX[relation]} {expression_latex(right)}"
        case And(parts):
            return r"\;\wedge\;".join(map(_part_latex, parts))
        case Or(parts):
            return r"\;\vee\;".join(map(_part_latex, parts))
        case Not(part):
            return rf"\neg\left({formula_latex(part)}\right)"
        case Implies(premise, conclusion):
            return rf"{_part_latex(premise)}\implies {_part_latex(conclusion)}"
        case ForAll(variable, body):
            return rf"\forall {variable.latex}:\ {formula_latex(body)}"


def _part_latex(formula: Formula) -> str:
    """A part of a formula, in brackets where the whole could be read in another way without them."""
    latex = formula_latex(formula)
    return latex if isinstance(formula, Compare | Not) else rf"\left({latex}\right)"
