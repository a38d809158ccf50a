"""Trees stay as they were written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    INFINITY,
    Apply,
    Expression,
    Number,
    at,
    derivative,
    free_variables,
    integer,
    integral,
    real,
    total,
)
from dpverify.formulas.logic import Eq, ForAll, Implies, Le, free_in
from dpverify.formulas.operators import apply, exp, log, operators, sqrt
from dpverify.formulas.rendering.neutral import expression_to_json, formula_to_json
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.formulas.vectors import check_vectors, vector

x, y = real("x"), real("y", gt=0)
k, n = integer("k", ge=1), integer("n", ge=1)


@pytest.mark.parametrize(
    ("written", "nodes"),
    [
        (x / x, ("div", x, x)),
        (x - x, ("sub", x, x)),
        (0 * log(x), ("mul", Number(Fraction(0)), log(x))),
        (x + 1, ("add", x, Number(Fraction(1)))),
        (1 + x, ("add", Number(Fraction(1)), x)),
        (-x, ("neg", x)),
        (2**x, ("pow", Number(Fraction(2)), x)),
        (sqrt(x) * sqrt(x), ("mul", sqrt(x), sqrt(x))),
        (exp(log(x)), ("exp", log(x))),
    ],
)
def test_nothing_is_simplified(written: Expression, nodes: tuple[object, ...]) -> None:
    operator, *arguments = nodes
    assert written == Apply(operator, tuple(arguments))  # type: ignore[arg-type]


def test_neutral_form_keeps_every_part() -> None:
    assert expression_to_json(x / x) == ["mul", ["sym", "x"], ["pow", ["sym", "x"], ["num", "-1"]]]
    assert formula_to_json(Le(x - x, -3)) == [
        "<=",
        ["add", ["sym", "x"], ["mul", ["num", "-1"], ["sym", "x"]]],
        ["num", "-3"],
    ]
    assert expression_to_json(sqrt(x)) == ["pow", ["sym", "x"], ["num", "1/2"]]
    assert expression_to_json(total(k * x, k, 1, n)) == [
        "sum", ["mul", ["sym", "k"], ["sym", "x"]], "k", ["num", "1"], ["sym", "n"],
    ]  # fmt: skip
    assert expression_to_json(integral(y, y, -INFINITY, INFINITY)) == [
        "integral", ["sym", "y"], "y", ["inf", "-"], ["inf", "+"],
    ]  # fmt: skip
    assert expression_to_json(at(derivative(x * x, x, 2), x, 3)) == [
        "at", ["diff", ["mul", ["sym", "x"], ["sym", "x"]], "x", 2], "x", ["num", "3"],
    ]  # fmt: skip


def test_what_is_bound_is_not_free() -> None:
    assert free_variables(total(k * x, k, 1, n)) == {x, n}
    assert free_variables(total(k, k, 1, k)) == {k}
    assert free_variables(at(x * y, x, n)) == {y, n}
    assert free_variables(derivative(x * y, x)) == {x, y}
    assert free_in(ForAll(x, Implies(Eq(x, y), Le(x, n)))) == {y, n}


def test_variables_are_told_apart_by_name_domain_and_unit() -> None:
    assert real("x", latex=r"\xi", meaning="a number") == x
    assert (
        len({x, real("x"), real("x", ge=0), real("x", unit=LOSS), real("x", unit=LENGTH), integer("x")}) == 5
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: x + 0.1,
        lambda: x * True,
        lambda: x + None,
        lambda: "x" * x,
        lambda: apply("sine", x),
        lambda: apply("div", x),
        lambda: apply("add", x),
        lambda: derivative(x, x, 0),
        lambda: real("", gt=0),
        lambda: real("w", gt=0, lt=0),
        lambda: real("w", ge=0.5),
        lambda: integer("w", ge="1/3", le="2/3"),
        lambda: real("w", gt=0, ge=0),
    ],
)
def test_what_has_no_meaning_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError):
        wrong()  # type: ignore[operator]


def test_a_tree_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x + 1)


def test_operators_have_their_own_names() -> None:
    assert all(name == record.name for name, record in operators().items())


def test_an_expression_in_a_message_is_written_in_plain_characters() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^expression was log\(x\) \+ 1 \+ v; allowed: sums of vectors"
    ):
        check_vectors(log(real("x")) + 1 + vector("v"))
