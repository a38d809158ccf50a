"""Sine, cosine and arctangent: the checker's intervals and facts, what is proved with them, and how they are read."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import mpmath
import pytest

from dpverify.formulas.expressions import PI, Expression, real
from dpverify.formulas.logic import Compare, Le
from dpverify.formulas.notation import read_expression
from dpverify.formulas.operators import apply
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.facts import instance
from dpverify.proving.checker.terms import Term, number, slope, symbol, term
from dpverify.proving.checker.values import PRECISIONS, ValueRange, Values
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import prove

FUNCTIONS = {"sin": mpmath.sin, "cos": mpmath.cos, "arctan": mpmath.atan}
X = real("x")


def sin(u: object) -> Expression:
    return apply("sin", u)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_intervals_have_all_values(function: str) -> None:
    """At narrow and wide intervals, across several extrema and none."""
    random, precision = Random(7), PRECISIONS[0]
    for _ in range(400):
        low = Fraction(random.randint(-4000, 4000), random.choice([1, 7, 100, 1000]))
        width = Fraction(random.choice([0, 1, 10, 31, 32, 62, 63, 70]), random.choice([10, 1000]))
        found = Values({"x": ValueRange(low, low + width)}, precision).interval(term(function, symbol("x")))
        with mpmath.workprec(2 * precision):
            for k in range(9):
                at = low + width * k / 8
                value = (
                    FUNCTIONS[function](mpmath.mpf(at.numerator) / at.denominator)
                    * mpmath.mpf(2) ** precision
                )
                assert found.low <= value <= found.high
        assert width or found.high - found.low < 16


@pytest.mark.parametrize("function", FUNCTIONS)
def test_slopes_are_those_of_differences(function: str) -> None:
    rate = slope(term(function, term("mul", number(2), symbol("x"))), "x")
    for at in (Fraction(-3, 2), Fraction(0), Fraction(1, 3), Fraction(5)):
        found = Values({"x": ValueRange(at, at)}, PRECISIONS[0]).interval(rate)
        wanted = mpmath.diff(lambda x: FUNCTIONS[function](2 * x), float(at))
        assert float(Fraction(found.low, 1 << PRECISIONS[0])) == pytest.approx(float(wanted), abs=1e-9)


def test_facts_are_true_and_no_others_are_known() -> None:
    """Instances of each law are true at numbers; a law of another function is refused."""
    values = Values({}, PRECISIONS[0])
    for at in map(Fraction, ("-7/2", "-1", "-1/5", "1/2", "2", "22/7")):
        for law, function in (("range", "sin"), ("range", "cos"), ("range", "arctan"), ("arc", "sin")):
            assert holds(instance(law, function, number(at)), values)
    for law, function in (("arc", "cos"), ("range", "exp"), ("order", "sin"), ("value", "sin")):
        with pytest.raises(ValueError, match="no law"):
            instance(law, function, *(number(1),) * (1 if law in ("arc", "range") else 2 + (law == "value")))


def holds(f: Term, values: Values) -> bool:
    """A formula at numbers, by intervals; equal sides count as ordered."""
    if f.head == "and":
        return all(holds(part, values) for part in f.parts)
    if f.head == "implies":
        return not holds(f.parts[0], values) or holds(f.parts[1], values)
    left, right = map(values.interval, f.parts)
    return right.high >= left.low


QUARTER, UNIT = PI / 4, real("x", ge=0, le=1)


@pytest.mark.parametrize(("claim", "over"), [
    (Le(0, sin(PI * UNIT)), UNIT),
    (Le(sin(PI * UNIT), 1), UNIT),
    (Le(-1, apply("cos", X)), X),
    (Le(apply("arctan", UNIT), QUARTER), UNIT),
    (Le(sin(UNIT), Fraction(85, 100)), UNIT),
], ids=str)  # fmt: skip
def test_what_is_proved_is_confirmed(claim: Compare, over: Expression) -> None:
    """And the same of a smaller bound is refuted, and no certificate of it is confirmed."""
    proof = prove(Obligation("it", "a test", claim, (over,)))
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate is not None
    assert check(proof.certificate).confirmed
    less = Le(claim.left + Fraction(1, 50), claim.right - Fraction(1, 50))
    refuted = prove(Obligation("it", "a test", less, (over,)))
    assert refuted.verdict is Verdict.REFUTED
    wrong = {**proof.certificate, "problem": refuted.certificate["problem"]}
    assert not check(wrong).confirmed


@pytest.mark.parametrize(("latex", "wanted"), [
    (r"\sin(\pi x)", "sin(mul(pi, x))"), (r"\cos x", "cos(x)"), (r"\tan^{-1}(x)", "arctan(x)"),
])  # fmt: skip
def test_they_are_read(latex: str, wanted: str) -> None:
    assert str(read_expression(latex, [X])) == wanted


@pytest.mark.parametrize("latex", [r"\tan(x)", r"\sin^{-1}(x)", r"\sin^2 x"])
def test_what_has_two_readings_is_refused(latex: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        read_expression(latex, [X])
