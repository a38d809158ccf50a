"""The ball prover: true claims certified, false ones refuted, mutants never certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    Expression,
    Variable,
    at,
    derivative,
    expression,
    integer,
    integral,
    real,
    total,
)
from dpverify.formulas.logic import And, Compare, Eq, Formula, Ge, Gt, Le, Lt, Or
from dpverify.formulas.operators import absolute, exp, floor, log, maximum, minimum, normal_cdf, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.provers.balls import BallProver, simplest_between
from dpverify.proving.reasoning.evaluation import evaluate, text
from dpverify.proving.reasoning.symbolic import symbol, symbolic, tree

EPS = real("eps", gt=0)
LOG = real("l", gt=0)  # ln(1/delta)
X = real("x")
Y = real("y")
UNIT = real("u", ge=0, le=1)
N = integer("n", ge=1)
K = integer("k", ge=0)


def attempt(
    claim: Formula,
    over: tuple[Variable, ...],
    box: dict[str, tuple[object, object]] | None = None,
    assuming: tuple[Formula, ...] = (),
    budget: Budget | None = None,
) -> Proof | None:
    obligation = Obligation("claim", "here", claim, over, assuming=assuming, box=box or {})
    return BallProver().attempt(obligation.problem, budget or Budget(boxes=20_000))


def verdict(*arguments: object, **named: object) -> Verdict:
    proof = attempt(*arguments, **named)  # type: ignore[arg-type]
    assert proof is not None
    return proof.verdict


def hockey_stick(eps: object, stddev: object) -> object:
    """Hockey-stick divergence of Gaussians at distance one (Balle and Wang 2018, Theorem 8)."""
    e, s = expression(eps), expression(stddev)
    return normal_cdf(-e / s + s / 2) - exp(e) * normal_cdf(-e / s - s / 2)


def gaussian_mechanism(constant: str, factor: object = 1) -> Formula:
    noise = expression(factor) * sqrt(2 * (log(Fraction(constant)) + LOG)) / EPS
    return Le(hockey_stick(EPS, 1 / noise), exp(-LOG))


SMALL = {"eps": ("1/20", "1"), "l": ("3", "14")}


def test_gaussian_mechanism_on_small_epsilon() -> None:
    proof = attempt(gaussian_mechanism("5/4"), (EPS, LOG), SMALL)
    assert proof is not None
    assert proof.verdict is Verdict.CERTIFIED
    assert proof.boxes is not None
    assert proof.boxes < 3000
    assert proof.certificate["proof"]["method"] == "boxes"
    assert dict(proof.box or {}) == {"eps": ("1/20", "1"), "l": ("3", "14")}


def _mp_sides(point: dict[str, str], constant: str, factor: float = 1.0) -> tuple[object, object]:
    """Both sides of the Gaussian mechanism's claim, by mpmath at 50 digits."""
    with mpmath.workdps(50):
        eps, log = (
            mpmath.mpf(Fraction(point[k]).numerator) / Fraction(point[k]).denominator for k in ("eps", "l")
        )
        s = eps / (factor * mpmath.sqrt(2 * (mpmath.log(mpmath.mpf(constant)) + log)))

        def cdf(x: object) -> object:
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2  # type: ignore[operator]

        left = cdf(-eps / s + s / 2) - mpmath.exp(eps) * cdf(-eps / s - s / 2)
        return left, mpmath.exp(-log)


@pytest.mark.parametrize(
    ("constant", "factor", "box"),
    [
        ("5/4", 1, {"eps": ("1/20", "12"), "l": ("3", "14")}),
        ("5/4", sqrt(2) / 2, SMALL),  # off by sqrt 2
        ("1/15", 1, SMALL),
        ("1", 1, {"eps": ("1/20", "4"), "l": ("1/2", "14")}),
    ],
)
def test_false_gaussian_mechanisms_are_refuted(
    constant: str, factor: object, box: dict[str, tuple[object, object]]
) -> None:
    proof = attempt(gaussian_mechanism(constant, factor), (EPS, LOG), box)
    assert proof is not None
    assert proof.verdict is Verdict.REFUTED
    assert proof.counterexample is not None
    number = float(Fraction(constant))
    left, right = _mp_sides(dict(proof.counterexample), str(number), float(symbolic(expression(factor))))
    assert left > right  # type: ignore[operator]
    assert float(proof.left or "nan") == pytest.approx(float(left), rel=1e-9)  # type: ignore[arg-type]
    assert float(proof.right or "nan") == pytest.approx(float(right), rel=1e-9)  # type: ignore[arg-type]
    assert proof.certificate["proof"] == {"method": "counterexample", "point": dict(proof.counterexample)}
    assert proof.boxes is None  # its certificate has none: what is shown can be found again from the point
    point = {name: Fraction(value) for name, value in proof.counterexample.items()}
    claim = gaussian_mechanism(constant, factor)
    assert isinstance(claim, Compare)
    assert (proof.left, proof.right) == (text(claim.left, point), text(claim.right, point))


def test_wrong_sign_is_refuted() -> None:
    s = EPS / sqrt(2 * (log(Fraction(5, 4)) + LOG))
    wrong = normal_cdf(-EPS / s + s / 2) + exp(EPS) * normal_cdf(-EPS / s - s / 2)
    assert verdict(Le(exp(-LOG), wrong), (EPS, LOG), SMALL) is Verdict.REFUTED


# Claims whose two sides touch on a face of the box.
T = X
U = UNIT
TOUCHING = {
    "exp below a parabola": (Le(exp(T), 1 + T + T**2), {"x": (0, 1)}),
    "Gaussian tail": (Le(normal_cdf(-T), exp(-(T**2) / 2) / 2), {"x": (0, 10)}),
    "Gaussian tail, cancelling": (Le(1 - normal_cdf(T), exp(-(T**2) / 2) / 2), {"x": (0, 10)}),
    "exp above its tangent": (Le(1 + T, exp(T)), {"x": (0, 1)}),
    "exp above its tangent, from the left": (Le(1 + T, exp(T)), {"x": (-1, 0)}),
    "a square": (Le(0, T**2), {"x": (0, 1)}),
}


@pytest.mark.parametrize("name", TOUCHING)
def test_touching_claims_are_certified_on_the_closed_box(name: str) -> None:
    claim, box = TOUCHING[name]
    proof = attempt(claim, (X,), box)
    assert proof is not None
    assert proof.verdict is Verdict.CERTIFIED
    assert "['0']" in str(proof.certificate["proof"]["tree"])


@pytest.mark.parametrize("function", [exp, lambda x: -log(x), lambda x: -normal_cdf(x), lambda x: 2**x])
def test_a_chord_touches_at_both_ends_and_the_checker_confirms_that(
    function: Callable[[Expression], Expression],
) -> None:
    """Convex from 1 to 2; the ends are numbers that no ball has exactly. A chord that is lower by little is refuted."""
    low, high = (function(expression(end)) for end in (1, 2))
    chord = low + (X - 1) * (high - low)
    claim = Obligation("claim", "here", Le(function(X), chord), (X,), box={"x": (1, 2)})
    proof = prove(claim, provers=(BallProver(),))
    assert proof.verdict is Verdict.CERTIFIED
    assert "['=']" in str(proof.certificate["proof"]["tree"])
    assert check(proof.certificate).confirmed
    assert verdict(Le(function(X) + Fraction(1, 10**9), chord), (X,), {"x": (1, 2)}) is Verdict.REFUTED


def test_amplification_by_sampling_touches_on_two_faces() -> None:
    claim = Le(log(1 + U * (exp(T) - 1)), 2 * U * T)
    assert verdict(claim, (UNIT, X), {"x": (0, 1)}) is Verdict.CERTIFIED
    # with the constant 3/2 it fails at small u and x = 1, as exp(1) - 1 > 3/2 there
    assert verdict(Le(log(1 + U * (exp(T) - 1)), 3 * U * T / 2), (UNIT, X), {"x": (0, 1)}) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "box"),
    [
        (Le(exp(T), 1 + T + T**2 / 2), {"x": (0, 1)}),
        (Le(normal_cdf(-T), exp(-(T**2) / 2) * Fraction(49, 100)), {"x": (0, 10)}),
        (Lt(1 + T, exp(T)), {"x": (0, 1)}),  # strict, and equal at the end
        (Lt(0, T**2), {"x": (-1, 1)}),
        (Le(T, sqrt(2)), {"x": (0, "1414213562373095049/1000000000000000000")}),
    ],
)
def test_near_misses_are_refuted(claim: Formula, box: dict[str, tuple[object, object]]) -> None:
    assert verdict(claim, (X,), box) is Verdict.REFUTED


def test_double_root_inside_is_left_undecided() -> None:
    proof = attempt(Le(0, (T**2 - 2) ** 2), (X,), {"x": (1, 2)}, budget=Budget(boxes=3000))
    assert proof is not None
    assert proof.verdict in (Verdict.UNDECIDED, Verdict.CERTIFIED)
    squared = T**4 - 4 * T**2 + 4
    proof = attempt(Le(0, squared), (X,), {"x": (1, 2)}, budget=Budget(boxes=3000))
    assert proof is not None
    assert proof.verdict is Verdict.UNDECIDED
    assert "x in [" in proof.reason


def test_strict_claims_need_more_than_touching() -> None:
    for distance in ((T - Fraction(1, 3)) ** 2, absolute(T - Fraction(1, 3))):
        claim = Lt(0, distance)
        assert verdict(claim, (X,), {"x": (0, 1)}, budget=Budget(boxes=2000)) is not Verdict.CERTIFIED


def test_a_face_that_vanishes_at_its_middle_only() -> None:
    # on the face x = 0 this is 0 at y = 1/2 and negative nearby, but positive at the ends
    bump = (Y - Fraction(1, 2)) ** 2
    claim = Ge(T + bump * (bump - Fraction(1, 100)), 0)
    assert verdict(claim, (X, Y), {"x": (0, 1), "y": (0, 1)}) is Verdict.REFUTED


def test_open_end_is_no_counterexample() -> None:
    positive = real("p", gt=0, le=1)
    # strict and true on (0, 1], but not at the excluded 0: neither refuted nor certified
    proof = attempt(Lt(1 + positive, exp(positive)), (positive,), budget=Budget(boxes=2000))
    assert proof is not None
    assert proof.verdict is Verdict.UNDECIDED
    closed = real("p", ge=0, le=1)
    assert verdict(Lt(1 + closed, exp(closed)), (closed,)) is Verdict.REFUTED


def test_proved_where_the_box_is_the_whole_domain() -> None:
    claim = Le(exp(U), 1 + U + U**2)
    assert verdict(claim, (UNIT,)) is Verdict.PROVED
    assert verdict(claim, (UNIT,), {"u": (0, "1/2")}) is Verdict.CERTIFIED
    assert verdict(claim, (UNIT,), {"u": ("1/2", 1)}) is Verdict.CERTIFIED
    assert verdict(claim, (UNIT,), {"u": (-5, 7)}) is Verdict.PROVED  # cut to the domain
    half_open = real("u", gt=0, le=1)
    assert verdict(Le(exp(half_open), 1 + half_open + half_open**2), (half_open,)) is Verdict.PROVED


# ------------------------------------------------------------------------------- what is not defined


@pytest.mark.parametrize(
    "claim",
    [
        Le(log(T), 5),
        Le(0, sqrt(T)),
        Le(-1, 1 / T**2),
        Le(0, T * log(T) + 1),
        Le(0, at(Y * log(Y), Y, T - T)),
    ],
)
def test_undefined_is_never_accepted(claim: Formula) -> None:
    assert verdict(claim, (X,), {"x": (0, 1)}, budget=Budget(boxes=1500)) is Verdict.UNDECIDED


def test_logarithms_and_roots_of_negative_numbers() -> None:
    for claim in (
        Le(log(T), 5),
        Le(sqrt(T), 5),
        Le(sqrt(2) ** (1 / sqrt(T)), 5),
        Le(T**Y, 99),
    ):
        assert (
            verdict(claim, (X, Y), {"x": (-2, -1), "y": (1, 2)}, budget=Budget(boxes=500))
            is Verdict.UNDECIDED
        )


def test_defined_at_the_boxs_own_end() -> None:
    assert verdict(Le(0, T * log(T) + 1), (X,), {"x": ("1/1000", 1)}) is Verdict.CERTIFIED


# ------------------------------------------------------------------------------- integers and sums


def test_integers_in_the_ends_of_a_sum() -> None:
    geometric = total(T**K, K, 0, N)
    bound = 1 / (1 - T)
    assert verdict(Le(geometric, bound), (X, N), {"x": ("1/10", "1/2"), "n": (1, 9)}) is Verdict.CERTIFIED
    proof = attempt(Le(geometric, bound - Fraction(1, 100)), (X, N), {"x": ("1/10", "1/2"), "n": (1, 9)})
    assert proof is not None
    assert proof.verdict is Verdict.REFUTED
    point = {k: Fraction(v) for k, v in (proof.counterexample or {}).items()}
    assert point["n"].denominator == 1
    x = point["x"]
    assert sum(x**k for k in range(int(point["n"]) + 1)) > 1 / (1 - x) - Fraction(1, 100)


def test_integer_counterexamples_are_integers() -> None:
    n = N
    # false for reals strictly between 3 and 4 only
    claim = Ge((n - 3) * (n - 4), 0)
    assert verdict(claim, (N,), {"n": (1, 1000)}) is Verdict.CERTIFIED
    proof = attempt(Ge((n - 3) * (n - 5), 0), (N,), {"n": (1, 1000)})
    assert proof is not None
    assert dict(proof.counterexample or {}) == {"n": "4"}


@pytest.mark.parametrize("hole", range(1, 17))
def test_no_integer_is_skipped(hole: int) -> None:
    for claim in (Ge((N - hole) ** 2, 1), Ge((total(1, K, 1, N) - hole) ** 2, 1)):
        proof = attempt(claim, (N,), {"n": (1, 16)})
        assert proof is not None
        assert dict(proof.counterexample or {}) == {"n": str(hole)}


def test_too_many_sums_are_left_undecided() -> None:
    claim = Le(total(1 / (K + 1), K, 0, N), N + 1)
    proof = attempt(claim, (N,), {"n": (1, 100_000)})
    assert proof is not None
    assert proof.verdict is Verdict.UNDECIDED
    assert "too many values" in proof.reason


def test_empty_sum_is_undefined() -> None:
    claim = Le(total(K, K, 5, N), 1000)
    assert verdict(claim, (N,), {"n": (1, 8)}, budget=Budget(boxes=500)) is Verdict.UNDECIDED
    assert verdict(claim, (N,), {"n": (5, 8)}) is Verdict.CERTIFIED


def test_randomized_response_under_composition() -> None:
    x, l = T, LOG  # noqa: E741
    rounds = 3
    loss = sqrt(2 * rounds * l) * x + rounds * x * (exp(x) - 1)
    weight = (1 + exp(x)) ** rounds

    def delta(at_loss: Expression) -> Expression:
        excess = [exp((rounds - k) * x) - exp(at_loss + k * x) for k in range(rounds + 1)]
        return sum(math.comb(rounds, k) * maximum(0, excess[k] / weight) for k in range(rounds + 1))

    box = {"x": ("1/100", 2), "l": ("1/10", 20)}
    assert verdict(Le(delta(loss), exp(-l)), (X, LOG), box) is Verdict.CERTIFIED
    assert verdict(Le(delta(loss / 3), exp(-l)), (X, LOG), box) is Verdict.REFUTED


# ------------------------------------------------------------------------------- derivatives and pieces


def test_derivatives_and_substitutions() -> None:
    softplus = log(1 + exp(T))
    assert verdict(Le(derivative(softplus, X, 2), Fraction(1, 4) + Fraction(1, 10**6)), (X,), {"x": (-5, 5)})
    assert verdict(Le(derivative(softplus, X, 2), Fraction(24, 100)), (X,), {"x": (-5, 5)}) is Verdict.REFUTED
    tangent = at(exp(T), X, 0) + at(derivative(exp(T), X), X, 0) * (T - 0)
    assert verdict(Le(tangent, exp(T)), (X,), {"x": ("1/8", 1)}) is Verdict.CERTIFIED


def test_slopes_across_a_kink() -> None:
    # a narrow tent: its slope is 1 just left of 1/3, and 0 at both ends and in the middle of the box
    tent = maximum(0, Fraction(1, 100) - absolute(T - Fraction(1, 3)))
    assert verdict(Le(derivative(tent, X), Fraction(1, 2)), (X,), {"x": (0, 1)}) is Verdict.REFUTED
    # at the kinks there is no slope
    claim = Le(derivative(tent, X), Fraction(3, 2))
    assert verdict(claim, (X,), {"x": (0, 1)}, budget=Budget(boxes=500)) is Verdict.UNDECIDED
    assert verdict(claim, (X,), {"x": ("34/100", 1)}, budget=Budget(boxes=500)) is Verdict.UNDECIDED
    assert verdict(claim, (X,), {"x": ("35/100", 1)}) is Verdict.CERTIFIED


def test_kinks() -> None:
    assert verdict(Le(absolute(T), sqrt(1 + T**2)), (X,), {"x": (-3, 3)}) is Verdict.CERTIFIED
    assert (
        verdict(Le(maximum(T, -2 * T), 2 * absolute(T) + Fraction(1, 100)), (X,), {"x": (-1, 1)})
        is Verdict.CERTIFIED
    )
    assert verdict(Le(minimum(T, 1 - T), Fraction(49, 100)), (X,), {"x": (0, 1)}) is Verdict.REFUTED
    # a floor is followed where it is constant; across a jump nothing is claimed
    assert verdict(Le(floor(T) + 2, T**2), (X,), {"x": ("21/10", "29/10")}) is Verdict.CERTIFIED
    assert verdict(Le(floor(T), 1), (X,), {"x": (0, 3)}) is Verdict.REFUTED


# ------------------------------------------------------------------------------- assumptions


def test_assumptions_drop_boxes_and_bind_counterexamples() -> None:
    y = Y
    box = {"x": (0, 1), "y": (0, 1)}
    claim = Le(y, T + Fraction(1, 100))
    assert verdict(claim, (X, Y), box) is Verdict.REFUTED
    assert verdict(claim, (X, Y), box, (Le(y, T),)) is Verdict.CERTIFIED
    proof = attempt(Le(y, T), (X, Y), box, (Ge(y, T + Fraction(1, 2)),))
    assert proof is not None
    point = {k: Fraction(v) for k, v in (proof.counterexample or {}).items()}
    assert point["y"] >= point["x"] + Fraction(1, 2)
    either = Or((Le(T, Fraction(1, 4)), Ge(T, Fraction(3, 4))))
    assert verdict(Le(Fraction(1, 17), (T - Fraction(1, 2)) ** 2), (X,), {"x": (0, 1)}, (either,)) is (
        Verdict.CERTIFIED
    )


def test_edge_rule_does_not_walk_through_dropped_boxes() -> None:
    # f = y - x grows in y and is negative at y = 0, where the assumption fails: the edge must not be asked
    y = Y
    box = {"x": (0, 1), "y": (0, 2)}
    assert verdict(Le(T, y + Fraction(1, 100)), (X, Y), box, (Ge(y, T),)) is Verdict.CERTIFIED
    # 2x - y >= 0 holds on the edge y = 0 but not under the assumption; nothing may be concluded from the edge
    assert verdict(Le(y, 2 * T), (X, Y), box, (Ge(y, T),)) is Verdict.REFUTED


# ------------------------------------------------------------------------------- shape of the answer


def proved_by_balls(claim: Formula) -> Proof:
    return prove(Obligation("claim", "here", claim, (UNIT,)), provers=(BallProver(),))


def test_conjunctions() -> None:
    good, bad = Le(exp(U), 1 + U + U**2), Le(exp(U), 1 + U)
    proof = proved_by_balls(And((good, Lt(0, exp(U)))))
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate["proof"]["method"] == "conjunction"
    assert len(proof.certificate["proof"]["parts"]) == 2
    assert proved_by_balls(And((good, bad))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("claim", [Eq(U, U), And((Le(U, 2), Eq(U, U))), Or((Le(U, 0), Ge(U, 0)))])
def test_other_claims_are_none_of_its_business(claim: Formula) -> None:
    assert attempt(claim, (UNIT,)) is None


def test_unbounded_variables_and_unknown_functions_have_a_reason() -> None:
    proof = attempt(Le(0, T**2 + 1), (X,))
    assert proof is not None
    assert proof.verdict is Verdict.UNDECIDED
    assert "no bounds for x" in proof.reason
    proof = attempt(Le(0, integral(exp(-Y), Y, 0, T)), (X,), {"x": (0, 1)})
    assert proof is not None
    assert "no rule for Binder (integral)" in proof.reason


def test_limits_give_a_reason_with_the_box() -> None:
    claim = Le(hockey_stick(EPS, sqrt(2 * LOG + 2 * EPS) - sqrt(2 * LOG)), exp(-LOG) / 2)
    proof = attempt(claim, (EPS, LOG), {"eps": ("1/100", 10), "l": ("1/100", 30)}, budget=Budget(boxes=50))
    assert proof is not None
    assert proof.verdict is Verdict.UNDECIDED
    assert "limit" in proof.reason
    assert "eps in [" in proof.reason


def test_empty_box_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="box of u"):
        attempt(Le(U, 1), (UNIT,), {"u": (2, 3)})
    with pytest.raises(InvalidArgumentError, match="box"):
        attempt(Le(U, 1), (UNIT,), {"v": (2, 3)})
    for end in ("nan", "oo", "inf", "one", None, "1/0"):
        with pytest.raises(InvalidArgumentError, match="box of u"):
            attempt(Le(U, 1), (UNIT,), {"u": (0, end)})


def test_same_claim_same_certificate() -> None:
    first, second = (attempt(gaussian_mechanism("5/4"), (EPS, LOG), SMALL) for _ in range(2))
    assert first == second


# ------------------------------------------------------------------------------- exact ground truth

COEFFICIENTS = st.lists(st.integers(-6, 6), min_size=2, max_size=5)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(COEFFICIENTS)
def test_polynomials_against_exact_roots(coefficients: list[int]) -> None:
    """Sturm's theorem says whether a polynomial is positive on [-1, 2]; the prover must agree."""
    polynomial = sp.Poly(coefficients, symbol(T))
    proof = attempt(Gt(tree(polynomial.as_expr()), 0), (X,), {"x": (-1, 2)}, budget=Budget(boxes=4000))
    assert proof is not None
    rooted = polynomial.is_zero or (polynomial.degree() > 0 and polynomial.count_roots(-1, 2) > 0)
    positive = not rooted and polynomial.eval(0) > 0
    if positive:
        assert proof.verdict is Verdict.CERTIFIED
    else:
        assert proof.verdict is not Verdict.CERTIFIED
    if proof.verdict is Verdict.REFUTED:
        value = Fraction((proof.counterexample or {})["x"])
        assert -1 <= value <= 2
        assert polynomial.eval(sp.Rational(str(value))) <= 0
    if any(polynomial.eval(sp.Rational(k, 16)) < 0 for k in range(-16, 33)):
        assert proof.verdict is Verdict.REFUTED


@settings(derandomize=True, max_examples=40, deadline=None)
@given(*[st.integers(-4, 4)] * 5, st.sampled_from([-1, 1]))
def test_sums_of_squares_against_their_minimum(a: int, b: int, c: int, d: int, e: int, sign: int) -> None:
    """(x - a/5)^2 + (b x + c y + d)^2 + small is positive; less the value at a rational point, it is not."""
    y = Y
    squares = tree(sp.expand(symbolic((T - Fraction(a, 5)) ** 2 + (b * T + c * y + d) ** 2)))
    box = {"x": (-1, 1), "y": (-1, 1)}
    if sign > 0:
        assert verdict(Gt(squares + Fraction(1, 50), 0), (X, Y), box) is Verdict.CERTIFIED
    else:
        corner = evaluate(squares, {"x": Fraction(e, 4), "y": Fraction(a, 4)})
        assert verdict(Ge(squares, corner + Fraction(1, 50)), (X, Y), box) in (Verdict.REFUTED,)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.fractions(max_denominator=300), st.fractions(min_value=0, max_denominator=300))
def test_simplest_fraction(low: Fraction, width: Fraction) -> None:
    from flint import fmpq

    high = low + width
    found = simplest_between(fmpq(low.numerator, low.denominator), fmpq(high.numerator, high.denominator))
    value = Fraction(str(found))
    assert low <= value <= high
    # by definition: no smaller denominator has a multiple in the interval
    assert all((-(-low.numerator * q // low.denominator)) > high * q for q in range(1, value.denominator))
