"""A formula is proved as it is written: what an algebra system would simplify away still has to be defined."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpverify.formulas.definedness import defined_where
from dpverify.formulas.expressions import (
    Expression,
    OutOfScopeError,
    Variable,
    at,
    derivative,
    expression,
    integer,
    integral,
    real,
    total,
)
from dpverify.formulas.logic import And, Eq, Formula, Ge, Gt, Implies, Le, Ne, Not, Or
from dpverify.formulas.operators import absolute, exp, log, maximum, sqrt
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Budget, Proof, Prover, homogeneity, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.provers import exact, real_arithmetic
from dpverify.proving.provers.balls import BallProver
from dpverify.proving.provers.exact import Exact
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.evaluation import plain_truth
from dpverify.statements.paper import papers

x, a, s = real("x"), real("a"), real("s", gt=0)
u = real("u", gt=0)
k, n = integer("k"), integer("n", ge=0)
unit = real("v", ge=0, le=1)


def settle(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Proof:
    return prove(Obligation("as written", "nowhere", claim, over, assuming=assuming))


HOLDS_WHERE_DEFINED: dict[str, tuple[Formula, tuple[Variable, ...]]] = {
    "x/x": (Eq(x / x, 1), (x,)),
    "exp log x": (Eq(exp(log(x)), x), (x,)),
    "sqrt x sqrt x": (Eq(sqrt(x) * sqrt(x), x), (x,)),
    "0 log x": (Eq(0 * log(x), 0), (x,)),
    "at a pole": (Eq(at(log(exp(a * (a - 1) * s**2 / 2)) / (a - 1), a, 1), s**2 / 2), (a, s)),
    "x - x": (Eq(1 / x - 1 / x, 0), (x,)),
    "(1/x)^0": (Eq((1 / x) ** 0, 1), (x,)),
    "x^2/x": (Le(x**2 / x, x), (x,)),
    "1/(1/x)": (Eq(1 / (1 / x), x), (x,)),
    "sqrt of a square of a root": (Ge(sqrt(x) ** 2, x), (x,)),
    "0/x": (Le(0 / x, 0), (x,)),
    "max of what cancels": (Le(maximum(log(x) - log(x), 0), 0), (x,)),
    "a sum without terms": (Eq(total(0 * k, k, 1, n), 0), (n,)),
    "a sum of terms that cancel": (Eq(total(x / x, k, 0, 2), 3), (x,)),
    "an integral of what cancels": (Eq(integral(x / x, x, -1, 1), 2), ()),
    "a slope of what cancels": (Eq(derivative(x * a / x, a), 1), (x, a)),
    "a slope of a kink": (Eq(derivative(absolute(x) - absolute(x), x), 0), (x,)),
    "a slope of a root": (Eq(derivative(sqrt(x) ** 4, x), 2 * x), (x,)),
    "at inside at": (Eq(at(at(a / (x - s), x, s), a, 0), 0), (x, a, s)),
    "at at a place without a value": (Eq(at(0 * x + 1, x, 1 / a), 1), (x, a)),
    "on the unit interval": (Le(unit / unit, 1), (unit,)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", HOLDS_WHERE_DEFINED)
def test_what_is_undefined_somewhere_is_not_proved(name: str) -> None:
    claim, over = HOLDS_WHERE_DEFINED[name]
    # no part of a larger formula either
    for whole in (claim, Or((claim, Ne(x, x))), Implies(Le(0, 1), claim)):
        stated = Obligation("as written", "nowhere", whole, tuple(dict.fromkeys((*over, x))))
        for prover in (Search(), Exact(), RealArithmetic(), BallProver()):
            assert verdict(prover, stated) is Verdict.UNDECIDED, (prover.name, whole)


def verdict(prover: Prover, stated: Obligation) -> Verdict:
    try:
        found = prover.attempt(stated.problem, Budget())
    except OutOfScopeError:
        found = None
    return Verdict.UNDECIDED if found is None else found.verdict


@pytest.mark.parametrize("name", ["x/x", "exp log x", "sqrt x sqrt x", "0 log x", "at a pole"])
def test_nothing_proves_them_together_either(name: str) -> None:
    claim, over = HOLDS_WHERE_DEFINED[name]
    assert settle(claim, *over).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    "claim",
    [
        Eq(u / u, 1),
        Eq(exp(log(u)), u),
        Eq(sqrt(u) * sqrt(u), u),
        Eq(0 * log(u), 0),
        Eq(at(x / (x - 1), x, 1 + u), (1 + u) / u),
    ],
)
def test_what_is_defined_everywhere_still_is(claim: Formula) -> None:
    assert settle(claim, u, x).verdict is Verdict.PROVED


def test_a_length_may_not_be_taken_away_from_itself_before_a_loss_is_added() -> None:
    d, loss = real("d", unit=LENGTH), real("l", unit=LOSS)
    for left in (d - d + loss, d / d * loss + (d - d), 0 * d + loss, (d + loss) ** 0):
        found = homogeneity(Obligation("units", "nowhere", Le(left, loss), (d, loss)))
        if left == 0 * d + loss:
            continue  # nothing is known of the unit of zero
        assert found.verdict is Verdict.REFUTED, left
        assert check(found.certificate).confirmed, left


def test_assumptions_are_taken_no_stronger_than_they_are_written() -> None:
    # true for every x but 0, where it says nothing: 0 is no counterexample, and no witness either
    assert settle(Ne(x, 0), x, assuming=(Eq(x / x, 1),)).verdict is Verdict.PROVED
    found = settle(Le(x**2, 0), x, assuming=(Eq(x / x, 1),))
    assert found.verdict is Verdict.REFUTED
    assert Fraction((found.counterexample or {})["x"]) != 0
    assert settle(Ge(x, 0), x, assuming=(Eq(sqrt(x) * sqrt(x), x),)).verdict is Verdict.PROVED
    # where it is not defined, `not` does not make it true
    assert settle(Ge(x, 0), x, assuming=(Not(Ne(0 * log(x), 0)),)).verdict is Verdict.PROVED
    nothing = settle(Le(x, 5), x, assuming=(Ne(x / x, 1),))
    assert nothing.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("name", HOLDS_WHERE_DEFINED)
def test_a_point_without_a_value_is_neither(name: str) -> None:
    claim, over = HOLDS_WHERE_DEFINED[name]
    point = {v.name: Fraction(1) if v is s else Fraction(-1 if "sqrt" in name else 0) for v in over}
    assert plain_truth(claim, point) is None
    assert any(True for _ in defined_where(claim))


@pytest.mark.parametrize(
    "expression_",
    [log(x) - log(x), x / x, sqrt(x) ** 0, at(1 / a, a, x) - at(1 / a, a, x)],
)
def test_a_prover_that_forgets_definedness_is_caught(
    expression_: Expression, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = Gt(expression_ + 10, 0) if expression_ == x / x else Ge(expression_ - expression_, 0)
    stated = Obligation("planted", "", claim, (x, a))
    assert {verdict(p, stated) for p in (Exact(), RealArithmetic())} == {Verdict.UNDECIDED}
    monkeypatch.setattr(exact, "require", lambda *_: None)
    monkeypatch.setattr(real_arithmetic, "missing", lambda *_: "")
    assert Verdict.PROVED in {verdict(p, stated) for p in (Exact(), RealArithmetic())}


def test_no_printed_equality_has_equal_sides_before_a_prover_sees_it() -> None:
    def mirrored(o: Obligation) -> bool:
        claims = o.claim.parts if isinstance(o.claim, And) else (o.claim,)
        return any(getattr(c, "left", 0) == getattr(c, "right", 1) for c in claims)

    for paper in papers().values():
        for statement in paper.statements:
            corrected = statement.corrected.obligations if statement.corrected else ()
            for o in (*statement.printed, *corrected):
                assert not mirrored(o), (statement.id, o.name)
    assert mirrored(Obligation("planted", "", Eq(x + 1, x + expression(1)), (x,)))


def test_the_domain_of_an_index_is_no_fact_where_its_sum_leaves_it() -> None:
    # sqrt(j^2) is j for what j is declared to be, and not for what the sum runs through
    j, y = integer("j", ge=0), real("y")
    gap = total(sqrt(j**2) - j, j, -1, 1)
    assert plain_truth(Eq(gap, 2), {}) is True
    assert settle(Eq(gap, 0)).verdict is Verdict.REFUTED
    assert settle(Le(x, y), x, y, assuming=(Le(x, y + gap),)).verdict is Verdict.REFUTED
    assert settle(Ge(y * gap, 0), y).verdict is Verdict.REFUTED
    inside = real("y", ge=-1, le=1)
    assert prove(Obligation("boxed", "", Ge(inside * gap, 0), (inside,))).verdict is Verdict.REFUTED
    below = total(j + 5, j, -1, 1)
    assert settle(Ge(below, 18)).verdict is Verdict.REFUTED
