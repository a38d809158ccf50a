"""What must not be proved: powers of negative bases, facts from inside assumptions, undefined sides."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import INFINITY, PI, Variable, at, derivative, integer, integral, real
from dpverify.formulas.logic import Eq, ForAll, Formula, Ge, Gt, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.operators import exp, log, maximum, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Budget, Proof, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.provers.balls import BallProver

k, t = integer("k", ge=0), integer("t", ge=1)
x, y = real("x"), real("y")
u = real("u", ge=0)
w = real("w", gt=1, lt="1.0000000000000000000000001")
c = Fraction(-1, 7)


def proof_of(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Proof:
    return prove(Obligation("test", "nowhere", claim, over, assuming=assuming))


# ---------------------------------------------------------------------------------------------- powers


@pytest.mark.parametrize(
    ("claim", "over"),
    [
        (Ge((-2) ** k, -(10**30)), (k,)),
        (Ge((1 - w) ** t, -Fraction(1, 10**30)), (w, t)),
        (Or((Gt((-1) ** k, 0), Ne(k, 999))), (k,)),
        (Ge((-3) ** k * 2**k, -(10**30)), (k,)),
        (Ge((x - y) ** (2 * k + 1), -(10**30)), (x, y, k)),
    ],
)
def test_powers_of_negative_bases_are_not_positive(claim: Formula, over: tuple[Variable, ...]) -> None:
    assert proof_of(claim, *over).verdict in (Verdict.REFUTED, Verdict.UNDECIDED)


def test_powers_of_negative_bases_in_assumptions_are_not_positive() -> None:
    claim = Ne(k, 999)
    assuming = (Le((-1) ** k, 0),)
    assert proof_of(claim, k, assuming=assuming).verdict in (Verdict.REFUTED, Verdict.UNDECIDED)
    # by values: (-1)^2 is 1 though the exponent is real
    e = real("e")
    assuming = (Le((-1) ** e, 1),)
    found = proof_of(Ne(e, 2), e, assuming=assuming)
    assert found.verdict in (Verdict.REFUTED, Verdict.UNDECIDED)


def test_powers_with_whole_exponents_still_have_their_laws() -> None:
    claim = Eq((x - y) * (x - y) ** t, (x - y) ** (t + 1))
    apart = (Ne(x, y),)
    assert proof_of(claim, x, y, t, assuming=apart).verdict is Verdict.PROVED
    assert proof_of(Ge((-2) ** (2 * k), 0), k).verdict is Verdict.PROVED
    q = real("q", gt=0, lt=1)
    assert proof_of(Gt((1 - q) ** t, 0), q, t).verdict is Verdict.PROVED


# ---------------------------------------------------------------------------------------------- assumptions


@pytest.mark.parametrize(
    ("claim", "over", "assuming"),
    [
        (Or((Gt(x, 0), Ne(x, c))), (x,), (Implies(Ge(x, 0), Le(sqrt(x), 2)),)),
        (Gt(u, 0), (u,), (Le(sqrt(u), 1),)),
        (Ne(x, c), (x,), (Or((Lt(x, 0), Le(log(x), 5))),)),
        (Ne(x, c), (x,), (Implies(Gt(x, 0), Le(sqrt(x) + 1 / x, 7)), Lt(x, 1))),
        (Ne(x, 0), (x,), (Or((Le(1 / x, 2), Eq(x, 0))),)),
        (Ge(x, 0), (x,), (Not(Implies(Eq(x, c), Gt(sqrt(x**2), 1))),)),
    ],
)
def test_parts_of_assumptions_say_nothing_where_they_are_undefined(
    claim: Formula, over: tuple[Variable, ...], assuming: tuple[Formula, ...]
) -> None:
    found = proof_of(claim, *over, assuming=assuming)
    assert found.verdict in (Verdict.REFUTED, Verdict.UNDECIDED)


def test_an_assumption_that_is_true_is_defined() -> None:
    found = proof_of(Ge(x, 0), x, assuming=(Le(sqrt(x), 2),))
    assert found.verdict is Verdict.PROVED
    assert found.certificate is not None
    assert check(found.certificate).confirmed
    found = proof_of(Le(x, 4), x, assuming=(Le(sqrt(x), 2),))
    assert found.verdict is Verdict.PROVED


# ---------------------------------------------------------------------------------------------- meaning


def test_a_root_of_zero_is_zero() -> None:
    assert proof_of(Ge(sqrt(u), 0), u).verdict is Verdict.PROVED
    found = proof_of(Gt(sqrt(u), 0), u)
    assert (found.verdict, dict(found.counterexample or {})) == (Verdict.REFUTED, {"u": "0"})
    assert proof_of(Eq(sqrt(u) ** 3, u * sqrt(u)), u).verdict is Verdict.PROVED
    assert proof_of(Gt(u ** Fraction(-1, 2), 0), u).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    "claim",
    [
        Le(sqrt(x), 1 + x**2),
        Eq(derivative(log(y) + x, x), 1),
        Eq(derivative(sqrt(u) ** 3, u), Fraction(3, 2) * sqrt(u)),
        Or((Lt(x, 0), Gt(1 / x, 0))),
        Ne(x * 0 + 1 / y, 0),
    ],
)
def test_what_is_undefined_somewhere_is_not_proved(claim: Formula) -> None:
    assert proof_of(claim, x, y, u).verdict is not Verdict.PROVED


@pytest.mark.parametrize("end", ["0", "-1"])
def test_balls_see_that_a_derivative_is_undefined(end: str) -> None:
    a, b = real("a", ge=end, le=1), real("b", ge=0, le=1)
    claims = {
        "log": Le(derivative(log(a) + b, b), 1),
        "max": Le(derivative(maximum(a, b), a), 1),
        "root": Le(derivative(sqrt(a + 1) ** 3, a), 5),
    }
    for name, claim in claims.items():
        found = BallProver().attempt(ProofProblem(name, claim, (a, b)), Budget(boxes=200))
        assert found is not None
        assert (found.verdict is Verdict.PROVED) is (name == "root" and end == "0"), name


def test_integrals_have_their_ends_in_order_and_converge() -> None:
    s = real("s")
    backwards = Not(Le(integral(2 * x, s, 0, x) ** 2 + 1, 0))
    assert proof_of(backwards, x).verdict is not Verdict.PROVED
    assert proof_of(Not(Le(integral(2 * u, s, 0, u) ** 2 + 1, 0)), u).verdict is Verdict.PROVED
    endless = integral(exp(s), s, 0, INFINITY)
    assert proof_of(Or((Eq(endless, endless + 0 * x), Lt(x, x))), x).verdict is not Verdict.PROVED
    bell = integral(exp(-(s**2)), s, -INFINITY, INFINITY)
    assert proof_of(Eq(bell, sqrt(PI))).verdict is Verdict.PROVED


def test_claims_are_true_where_another_part_decides() -> None:
    assert proof_of(Or((Le(x, 0), Gt(1 / x, 0))), x).verdict is Verdict.PROVED
    assert proof_of(Implies(Gt(x, 0), Ge(sqrt(x), 0)), x).verdict is Verdict.PROVED


def test_a_quantified_part_may_not_be_undefined() -> None:
    s = real("s", ge=0, le=1)
    claim = ForAll(s, Le(s / x, 1 / x))
    assert proof_of(claim, x).verdict is not Verdict.PROVED
    v = real("v", gt=0)
    assert proof_of(ForAll(s, Le(s / v, 1 / v)), v).verdict is Verdict.PROVED


def test_counterexamples_make_the_claim_false_not_undefined() -> None:
    found = proof_of(Le(1 / x, 1 / x + 1), x)
    assert found.verdict is Verdict.UNDECIDED
    found = proof_of(Gt(1 / x, 0), x)
    assert found.verdict is Verdict.REFUTED
    assert Fraction((found.counterexample or {})["x"]) < 0


# ---------------------------------------------------------------------------------------------- names


def test_one_name_has_one_domain() -> None:
    wide, small = real("epsilon", gt=0), real("epsilon", gt=0, le=1)
    with pytest.raises(InvalidArgumentError, match=r"epsilon.*\(0, 1\].*\(0, oo\)"):
        Obligation("test", "nowhere", Le(wide**2, wide), (small,))
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        Obligation("test", "nowhere", Le(small**2, small), (small,), assuming=(Le(wide, 1),))
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        Obligation("test", "nowhere", ForAll(wide, Le(small, 1)), (small,))
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        Obligation("test", "nowhere", Le(at(wide**2, wide, small), small), (small,))
    again = real("epsilon", gt=0, le=1)
    assert proof_of(Le(again**2, again), small).verdict is Verdict.PROVED
