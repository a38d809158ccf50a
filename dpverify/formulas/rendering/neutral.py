"""Trees as nested lists, the neutral form in which certificates keep them; docs/certificates.md names the heads."""

from __future__ import annotations

from typing import Any

from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
    constant,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or, formula_parts
from dpverify.formulas.operators import operators

Json = Any

_HEADS = {And: "and", Or: "or", Not: "not", Implies: "implies", ForAll: "forall", Exists: "exists"}


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
            parts = [expression_to_json(a) for a in arguments]
            if operator in ("pow", "root") and (number := constant(arguments[1])) is not None:
                parts[1] = ["num", str(number)]  # the exponent 1 - 2 is the number -1
            write = operators()[operator].neutral
            return [operator, *parts] if write is None else write(*parts)
        case Binder(kind, body, variable, first, last):
            return [kind, expression_to_json(body), variable.name, *map(expression_to_json, (first, last))]
        case Derivative(body, variable, order):
            return ["diff", expression_to_json(body), variable.name, order]
        case At(body, variable, value):
            return ["at", expression_to_json(body), variable.name, expression_to_json(value)]
        case _:
            raise TypeError(f"{type(e).__name__} is not a node")


def formula_to_json(f: Formula) -> Json:
    """A formula as nested lists."""
    if isinstance(f, Compare):
        return [f.relation, expression_to_json(f.left), expression_to_json(f.right)]
    bound = [variable_to_json(f.variable)] if isinstance(f, ForAll | Exists) else []
    return [_HEADS[type(f)], *bound, *map(formula_to_json, formula_parts(f))]


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
