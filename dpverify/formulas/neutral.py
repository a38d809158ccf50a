"""Trees as nested lists, the neutral form in which certificates keep them; docs/certificates.md names the heads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

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

Json = Any

_MINUS_ONE = ["num", "-1"]


def expression_to_json(e: Expression) -> Json:
    """An expression as nested lists: differences, quotients and roots in terms of sums, products and powers."""
    match e:
        case Number(value):
            return ["num", str(value)]
        case Variable():
            return ["sym", e.name]
        case Constant("pi"):
            return ["pi"]
        case Constant(name):
            return ["inf", "+" if name == "oo" else "-"]
        case Apply(operator, arguments):
            return _applied(operator, [expression_to_json(a) for a in arguments])
        case Bound(kind, body, variable, first, last):
            return [kind, expression_to_json(body), variable.name, *map(expression_to_json, (first, last))]
        case Derivative(body, variable, order):
            return ["diff", expression_to_json(body), variable.name, order]
        case At(body, variable, value):
            return ["at", expression_to_json(body), variable.name, expression_to_json(value)]
        case _:
            raise TypeError(f"{type(e).__name__} is no node")


def _applied(operator: str, parts: list[Json]) -> Json:
    match operator, parts:
        case "neg", [["num", value]]:
            return ["num", str(-Fraction(value))]
        case "neg", [part]:
            return ["mul", _MINUS_ONE, part]
        case "sub", [left, right]:
            return ["add", left, ["mul", _MINUS_ONE, right]]
        case "div", [left, right]:
            return ["mul", left, ["pow", right, _MINUS_ONE]]
        case "root", [part, ["num", order]]:
            return ["pow", part, ["num", str(1 / Fraction(order))]]
        case "root", [part, order]:
            return ["pow", part, ["pow", order, _MINUS_ONE]]
        case "log_base", [part, base]:
            return ["mul", ["log", part], ["pow", ["log", base], _MINUS_ONE]]
        case _:
            return [operator, *parts]


def formula_to_json(f: Formula) -> Json:
    """A formula as nested lists."""
    match f:
        case Compare(relation, left, right):
            return [relation, expression_to_json(left), expression_to_json(right)]
        case And(parts):
            return ["and", *map(formula_to_json, parts)]
        case Or(parts):
            return ["or", *map(formula_to_json, parts)]
        case Not(part):
            return ["not", formula_to_json(part)]
        case Implies(premise, conclusion):
            return ["implies", formula_to_json(premise), formula_to_json(conclusion)]
        case ForAll(variable, body):
            return ["forall", variable_to_json(variable), formula_to_json(body)]


def variable_to_json(v: Variable) -> Json:
    """A variable with its domain and unit."""
    return {
        "name": v.name,
        "kind": v.kind,
        "lower": None if v.lower is None else str(v.lower),
        "lower_open": v.lower_open,
        "upper": None if v.upper is None else str(v.upper),
        "upper_open": v.upper_open,
        "unit": {"loss": str(v.unit.loss), "length": str(v.unit.length)},
    }
