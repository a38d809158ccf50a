"""Operators: each record's entries held against one another, and the tables of the provers."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas import operators as operators_module
from dpverify.formulas.calculus import differentiated
from dpverify.formulas.definedness import defined_where
from dpverify.formulas.expressions import (
    PI,
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    expression,
    integer,
    product,
    real,
    total,
)
from dpverify.formulas.functions import brackets
from dpverify.formulas.homogeneity import MixedUnitsError, unit_of
from dpverify.formulas.logic import Eq, Le, Ne
from dpverify.formulas.notation import letters, read_expression
from dpverify.formulas.notation.letters import Letters
from dpverify.formulas.operators import (
    binomial,
    ceiling,
    exp,
    factorial,
    gamma,
    log,
    log_to_base,
    normal_cdf,
    normal_quantile,
    operators,
    root,
)
from dpverify.formulas.printing import expression_text
from dpverify.formulas.records import Writing
from dpverify.formulas.rendering.latex import expression_latex
from dpverify.formulas.rendering.neutral import expression_to_json
from dpverify.formulas.units import LENGTH
from dpverify.formulas.values import UnclearError, UndefinedError, ball
from dpverify.formulas.vectors import OF_VECTORS
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.proving.provers import ball_programs
from dpverify.proving.reasoning import symbolic
from dpverify.proving.reasoning.evaluation import evaluate, plain_truth, text

x, y, n, k = real("x"), real("y"), integer("n", ge=0), integer("k", ge=0)

# functions at arguments at which they are defined, and mpmath's word for each
DEFINED: dict[str, tuple[tuple[str, ...], Any]] = {
    "add": (("1/3", "-2"), lambda a, b: a + b),
    "sub": (("1/3", "-2"), lambda a, b: a - b),
    "neg": (("1/3",), lambda a: -a),
    "mul": (("1/3", "-2"), lambda a, b: a * b),
    "div": (("1/3", "-2"), lambda a, b: a / b),
    "pow": (("7/3", "5/4"), lambda a, b: a**b),
    "root": (("7/3", "5"), lambda a, b: a ** (1 / b)),
    "exp": (("7/3",), mpmath.exp),
    "log": (("7/3",), mpmath.log),
    "log_base": (("7/3", "5"), mpmath.log),
    "phi": (("-7/3",), mpmath.ncdf),
    "phi_inverse": (("1/7",), lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)),
    "erfc": (("7/3",), mpmath.erfc),
    "sin": (("7/3",), mpmath.sin),
    "cos": (("7/3",), mpmath.cos),
    "arctan": (("7/3",), mpmath.atan),
    "gamma": (("7/3",), mpmath.gamma),
    "factorial": (("5",), mpmath.factorial),
    "binomial": (("7", "3"), mpmath.binomial),
    "max": (("1/3", "-2"), max),
    "min": (("1/3", "-2"), min),
    "abs": (("-1/3",), abs),
    "floor": (("-1/3",), mpmath.floor),
    "ceiling": (("-1/3",), mpmath.ceil),
}


def arguments(name: str) -> tuple[Expression, ...]:
    return tuple(Number(Fraction(q)) for q in DEFINED[name][0])


def inside(value: Any, found: mpmath.mpf) -> bool:
    """Whether mpmath's number, good to 25 digits, lies in a ball."""
    slack = flint.arb(0, flint.arb(10) ** -24) * (1 + abs(ball(value)))
    return bool((ball(value) + slack).overlaps(flint.arb(mpmath.nstr(found, 40))))


@pytest.mark.parametrize("name", DEFINED)
def test_values_agree_with_mpmath_and_with_floats(name: str) -> None:
    record = operators()[name]
    numbers = [Fraction(q) for q in DEFINED[name][0]]
    with flint.ctx.workprec(128), mpmath.workdps(50):
        value = evaluate(Apply(name, arguments(name)), {})
        expected = DEFINED[name][1](*(mpmath.mpf(q.numerator) / q.denominator for q in numbers))
        assert inside(value, expected)
        assert math.isclose(record.number(*map(float, numbers)), float(expected), rel_tol=1e-9)
        if record.ball is not None:
            assert inside(record.ball(*map(ball, numbers)), expected)
            # a wide ball holds the values of what is in it
            wide = [ball(q).union(ball(q * Fraction(101, 100))) for q in numbers]
            enclosure = record.ball(*wide)
            assert not enclosure.is_finite() or enclosure.contains(ball(value).mid())


def test_every_operator_is_tried() -> None:
    assert set(DEFINED) == set(operators()) - OF_VECTORS


@pytest.mark.parametrize("name", DEFINED)
def test_writing_units_and_needs(name: str) -> None:
    e = Apply(name, arguments(name))
    assert expression_text(e)
    latex = expression_latex(e)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")
    assert unit_of(e) is not None
    assert all(plain_truth(c.formula, {}) is True for c in defined_where(Eq(e, 0)))
    assert expression_to_json(e)


@pytest.mark.parametrize("name", DEFINED)
def test_slopes_agree_with_differences(name: str) -> None:
    letters = (x, y)[: len(DEFINED[name][0])]
    e = Apply(name, letters)
    numbers = [Fraction(q) for q in DEFINED[name][0]]
    here = dict(zip((v.name for v in letters), numbers, strict=True))
    step = Fraction(1, 10**20)
    for v in letters:
        try:
            slope = differentiated(e, v)
        except OutOfScopeError:
            assert name in ("gamma", "factorial", "binomial", "floor", "ceiling")
            continue
        with flint.ctx.workprec(400):
            up, down = (ball(evaluate(e, {**here, v.name: here[v.name] + s})) for s in (step, -step))
            found, near = ball(evaluate(slope, here)), (up - down) / ball(2 * step)
            assert abs(found - near) < flint.arb(10) ** -15, (name, v)


@pytest.mark.parametrize("name", DEFINED)
def test_signs_and_growth_are_what_values_have(name: str) -> None:
    record = operators()[name]
    rng = random.Random(name)
    last: tuple[Fraction, Any] | None = None
    tried = sorted(Fraction(rng.randint(-40, 40), rng.choice((1, 1, 2, 7))) for _ in range(200))
    for q in tried:
        numbers = [q, *(Fraction(rng.randint(-3, 9)) for _ in DEFINED[name][0][1:])]
        parts = tuple(map(Number, numbers))
        try:
            value = evaluate(Apply(name, parts), {})
        except (UndefinedError, UnclearError):
            last = None
            continue
        signs = record.signs(parts, [frozenset({(p > 0) - (p < 0)}) for p in numbers])
        found = 0 if ball(value).is_zero() else 1 if value > 0 else -1 if value < 0 else None
        assert found is None or found in signs, (name, numbers)
        if record.monotone and last is not None and last[0] < q:
            assert not record.monotone * (ball(value) - ball(last[1])) < 0
        last = q, value


# ------------------------------------------------------------------- the less common ones


@pytest.mark.parametrize(
    ("e", "value"),
    [
        (gamma(5), "24"),
        (factorial(0), "1"),
        (binomial(5, 2), "10"),
        (binomial(2, 5), "0"),
        (normal_quantile(Fraction(1, 2)), "0"),
        (ceiling(Fraction(-1, 2)), "0"),
        (log_to_base(8, 2), "3"),
        (log_to_base(Fraction(1, 9), 3), "-2"),
        (root(27, 3), "3"),
        (root(0, 3), "0"),
        (product(k, k, 1, 5), "120"),
        (product(expression(2), k, 1, 3), "8"),
        (gamma(Fraction(1, 2)), "1.7724538509055160"),
        (normal_quantile(Fraction(1, 10)), "-1.2815515655446005"),
        (ceiling(exp(1)), "3"),
        (root(2, 3), "1.2599210498948732"),
    ],
)
def test_values(e: Expression, value: str) -> None:
    assert text(e, {}) == value


@pytest.mark.parametrize(
    "e",
    [
        gamma(0), gamma(Fraction(-1, 2)), factorial(-1), factorial(Fraction(1, 2)), binomial(3, -1),
        binomial(Fraction(1, 2), 1), normal_quantile(0), normal_quantile(1), log_to_base(2, 1), log_to_base(-2, 2),
        log_to_base(2, 0), root(-8, 3), root(2, 0), product(k, k, 3, 2),
    ],
)  # fmt: skip
def test_what_has_no_value(e: Expression) -> None:
    assert plain_truth(Eq(e, e), {}) is None
    try:
        conditions = list(defined_where(Eq(e, 0)))
    except OutOfScopeError:
        return
    assert any(plain_truth(c.formula, {}) is False for c in conditions)


def test_what_depends_on_a_length_has_no_gamma() -> None:
    d = real("d", unit=LENGTH, gt=0)
    for e in (
        gamma(d),
        factorial(d),
        binomial(d, 1),
        normal_quantile(d),
        ceiling(d),
        log_to_base(d, 2),
        d**x,
    ):
        with pytest.raises(MixedUnitsError):
            unit_of(e)
    assert unit_of(root(d, 3) ** 3) == LENGTH
    assert unit_of(product(d, k, 1, 3)) == LENGTH**3
    with pytest.raises(MixedUnitsError):
        unit_of(product(d, k, 1, n))


def test_functions_that_provers_lack_are_refused_or_refuted_at_points() -> None:
    lacking = {
        "SymPy": set(operators()) - OF_VECTORS - symbolic.operators_known(),
        "balls": set(operators()) - OF_VECTORS - ball_programs.operators_known(),
    }
    assert lacking == {
        "SymPy": {"phi_inverse", "gamma", "factorial", "binomial"},
        "balls": {"factorial", "binomial"},
    }
    v = real("v", gt=0)
    for claim in (Le(gamma(v), gamma(v) + 1), Le(gamma(v) * 0, 1)):
        found = prove(Obligation("gamma", "", claim, (v,)))
        assert found.verdict is Verdict.UNDECIDED
        assert "function not supported: gamma" in found.reason
    false = {
        "gamma": (Le(gamma(v), 2), (v,)),
        "binomial": (Le(binomial(n, 2), n), (n,)),
        "factorial": (Le(factorial(n), n**3 + 1), (n,)),
        "product": (Le(product(k + 1, k, 1, n), 2 * n), (n,)),
        "quantile": (Le(normal_quantile(real("p", gt=0, lt=1)), 1), (real("p", gt=0, lt=1),)),
        "ceiling": (Le(ceiling(v), v), (v,)),
        "base": (Le(log_to_base(v, 2), log(v)), (v,)),
        "root": (Ne(root(v, 3), 2), (v,)),
    }
    for name, (claim, over) in false.items():
        found = prove(Obligation(name, "", claim, over))
        assert found.verdict is Verdict.REFUTED, (name, found.reason)


def test_balls_know_gamma_and_the_quantile() -> None:
    p = real("p", ge="1/10", le="9/10")
    for claim in (Le(normal_quantile(p), 2), Le(normal_cdf(normal_quantile(p)), 1), Le(gamma(1 + p), 2)):
        assert prove(Obligation("balls", "", claim, (p,))).verdict is Verdict.PROVED


def test_brackets_say_what_belongs_together() -> None:
    written = {
        x - (y - x): "x - (y - x)",
        (x - y) - x: "x - y - x",
        x * (y + 1): "x*(y + 1)",
        x / (y * x): "x/(y*x)",
        (x / y) * x: "x/y*x",
        -(x + y): "-(x + y)",
        x + (-y): "x + (-y)",
        (-x) ** 2: "(-x)^2",
        -(x**2): "-x^2",
        (x**y) ** 2: "(x^y)^2",
        x ** (y**2): "x^(y^2)",
        expression(Fraction(1, 2)) ** x: "(1/2)^x",
        expression(-3) ** x: "(-3)^x",
        total(x + k, k, 1, n) * y: "(sum over k = 1..n of (x + k))*y",
        factorial(factorial(n)): "(n!)!",
    }
    assert {expression_text(e): t for e, t in written.items() if expression_text(e) != t} == {}


def test_unknown_operators_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="operator was 'sine'"):
        expression_text(Apply("sine", (x,)))


def heads() -> list[tuple[str, str]]:
    return [(name, head) for name, record in operators().items() for head in record.heads]


@pytest.mark.parametrize(("name", "head"), heads())
def test_what_a_function_is_read_by_stands_in_its_record(name: str, head: str) -> None:
    assert read_expression(rf"{head}(x)", Letters((x,))) == Apply(name, (x,))
    for based in operators()["log_base"].based:
        assert read_expression(rf"{based}_{{3}}(x)", Letters((x,))) == log_to_base(x, 3)


def test_a_new_function_needs_its_record_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read, printed, given a unit, evaluated and differentiated; what has no entry for it refuses it."""
    known = operators()["erfc"]
    new = replace(
        known, name="erf", text=brackets("erf"), latex=Writing(lambda u: rf"\operatorname{{erf}}\left({u}\right)"),
        heads=(r"\operatorname{erf}",), value=lambda u, *, inside=False: ball(u).erf(), number=math.erf,
        slopes=lambda u: (2 * exp(-(u**2)) / root(PI, 2),),
    )  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(operators_module, "OPERATORS", {**operators(), "erf": new})
        letters._heads.cache_clear()
        read = read_expression(r"\operatorname{erf}(2x)", Letters((x,)))
        assert expression_text(read) == "erf(2*x)"
        assert read_expression(expression_latex(read), Letters((x,))) == read
        assert math.isclose(float(ball(evaluate(read, {"x": Fraction(1, 2)})).mid()), math.erf(1))
        slope = differentiated(read, x)
        assert math.isclose(float(ball(evaluate(slope, {"x": Fraction(0)})).mid()), 4 / math.sqrt(math.pi))
        claim = Obligation("at most 1", "", Le(read, 1), (x,))
        assert prove(claim).verdict is Verdict.UNDECIDED
        wrong = Obligation("at most 1/2", "", Le(read, Fraction(1, 2)), (x,))
        assert prove(wrong).verdict is Verdict.REFUTED
    letters._heads.cache_clear()
    with pytest.raises(InvalidArgumentError, match="erf"):
        read_expression(r"\operatorname{erf}(2x)", Letters((x,)))
