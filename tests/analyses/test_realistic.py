"""A counterexample at sizes met in practice: found where there is one, and not found where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from dpverify.analyses import realistic as search
from dpverify.analyses.realistic import asks_for_sizes, is_realistic, realistic
from dpverify.formulas.expressions import Expression, Variable, integer, real, total
from dpverify.formulas.logic import And, Eq, ForAll, Formula, Le, Lt
from dpverify.formulas.operators import ceiling, exp, log, sqrt
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.formulas.vectors import norm, vector
from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.verdicts import Coverage, Verdict
from dpverify.proving import prove
from dpverify.proving.certificates import certificate
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.provers.points import confirmed
from dpverify.proving.reasoning.evaluation import evaluate

F = Fraction
N = integer("n", ge=1, unit=RECORDS, size="number of records")
D = integer("d", ge=1, size="dimension")
EPSILON = real("epsilon", gt=0, unit=NATS, size="epsilon")
DELTA = real("delta", gt=0, lt=1, size="delta")
L = real("l", gt=0, unit=NATS, size="log(1/delta)")
L_N = real("l_n", gt=0, size="log n")
X, Y = real("x", ge=0), real("y", ge=0)
TINY = real("epsilon", gt=0, lt=F(1, 10), unit=NATS, size="epsilon")
LIPSCHITZ = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant")


def obligation(
    claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = (), **more: Any
) -> Obligation:
    return Obligation("bound", "page 1", claim, over, assuming=assuming, **more)


def found(o: Obligation, **known: str) -> RealisticPoint:
    """What is found, the same again, and sure to be a counterexample."""

    def confirms(point: Mapping[str, str]) -> bool:
        proof = {"method": "counterexample", "point": dict(point)}
        return check(certificate(o.problem, Verdict.REFUTED, proof)).confirmed

    result = realistic(o, known, confirms)
    assert result == realistic(o, known, confirms)
    if result.point is not None:
        assert confirms(result.point)
        exact = {name: F(value) for name, value in result.point.items()}
        assert confirmed(o.problem, exact)
        assert is_realistic(o, exact)
    return result


def test_a_formula_that_is_false_for_large_numbers_is_false_there() -> None:
    result = found(obligation(Le(sqrt(N), 2 * EPSILON), N, EPSILON), n="4", epsilon="1/2")
    assert result.point == {"n": "2000", "epsilon": "1"}
    assert (float(result.left or ""), result.right) == (pytest.approx(2000**0.5), "2")
    texts = {name: size.text() for name, size in result.sizes.items()}
    assert texts == {"n": "number of records, 100 to 1,000,000", "epsilon": "epsilon, 0.1 to 10"}


@pytest.mark.parametrize(
    ("claim", "letters", "known"),
    [(Lt(0, N - 1), (N,), {"n": "1"}), (Le(2, N), (N,), {"n": "1"}),
     (Le(0, log(1 / (1000 * DELTA))), (DELTA,), {"delta": "1/2"}), (Le(exp(-L), F(1, 1000)), (L,), {"l": "1"}),
     (Le(EPSILON, 11 * D), (EPSILON, D), {"epsilon": "12", "d": "1"})],
)  # fmt: skip
def test_a_formula_that_is_false_at_the_edge_only_says_so(
    claim: Formula, letters: tuple[Variable, ...], known: dict[str, str]
) -> None:
    o = obligation(claim, *letters)
    assert confirmed(o.problem, {name: F(value) for name, value in known.items()})
    result = found(o, **known)
    assert (result.point, result.left, result.right, result.because) == (None, None, None, "")
    assert result.tried > 20


@pytest.mark.parametrize(
    ("o", "known", "because"),
    [(obligation(Le(N, 0), N, assuming=(Eq(N, 1),)), {"n": "1"},
      "n is 1 by assumption, and 100 to 1,000,000 in practice"),
     (obligation(Le(1, TINY), TINY),
      {"epsilon": "1/20"}, "epsilon lies in (0, 1/10), and is 0.1 to 10 in practice")],
)  # fmt: skip
def test_what_is_never_of_its_size_is_said_without_a_search(
    o: Obligation, known: dict[str, str], because: str
) -> None:
    result = found(o, **known)
    assert (result.point, result.tried, result.because) == (None, 0, because)


def value_of(result: RealisticPoint, e: Expression, over: tuple[Variable, ...]) -> Fraction:
    assert result.point is not None
    value = evaluate(e, {v.name: F(result.point[v.name]) for v in over})
    assert isinstance(value, Fraction)
    return value


def test_letters_follow_from_equations_and_exactly_so() -> None:
    tau = real("tau", ge=0)
    rho = real("rho", gt=0, unit=NATS, size="zCDP parameter")
    over = (D, L, tau, rho)
    o = obligation(Le(tau, D * rho), *over, assuming=(And((Eq(tau, sqrt(3 * D * L)), Eq(rho, 1 / L))),))
    result = found(o, d="3", l="1", tau="3", rho="1")
    assert value_of(result, tau**2 - 3 * D * L, over) == 0
    assert value_of(result, rho * L, over) == 1


def test_an_affine_equation_is_solved() -> None:
    over = (N, EPSILON, X)
    o = obligation(Le(X, 1), *over, assuming=(Eq(X / N + 2 * X - 3 * EPSILON, 7),))
    result = found(o, n="1", epsilon="1", x="10/3")
    assert value_of(result, X / N + 2 * X - 3 * EPSILON, over) == 7


def test_a_letter_may_follow_by_what_has_no_arrays() -> None:
    half = integer("m", ge=1)
    o = obligation(Le(half, 10 * EPSILON), N, EPSILON, half, assuming=(Eq(half, ceiling(N / 2)),))
    point = realistic(o, {"n": "30", "m": "15", "epsilon": "1"}).point
    assert point is not None
    assert int(point["m"]) == math.ceil(int(point["n"]) / 2)


def test_a_letter_that_is_never_of_its_size_follows_from_no_other() -> None:
    few = integer("n", ge=1, le=50, size="number of records")
    result = found(obligation(Le(X, 40), few, X, assuming=(Eq(few, X + 1),)), n="50", x="49")
    assert result.point is None


def test_equations_that_go_round_in_a_circle_are_no_trouble() -> None:
    o = obligation(Le(X, EPSILON), EPSILON, X, Y, assuming=(Eq(X, Y + 1), Eq(Y, X - 1)))
    assert found(o, epsilon="1", x="2", y="1").point is not None


def test_bounds_among_the_assumptions_are_gone_up_to() -> None:
    e, f = real("e", ge=0), real("f", ge=0)
    assuming = (Le(X, 2 * EPSILON), Le(Y, X + sqrt(1 / N)), Le(e, Y + sqrt(1 / N)), Le(f, e + sqrt(1 / N)))
    o = obligation(Le(f, F(199, 100) * EPSILON), N, EPSILON, X, Y, e, f, assuming=assuming)
    result = found(o, n="1", epsilon="1", x="2", y="3", e="4", f="5")
    assert result.point is not None
    assert result.sizes["x"].text() == "of no known size, as the assumptions bound it"


def test_an_equation_that_no_side_and_no_affine_letter_solves() -> None:
    x, y = real("x", gt=0), real("y", gt=0)
    over = (D, DELTA, x, y)
    inside = y**2 * (D / x + x**2) / DELTA
    o = obligation(Le(1, DELTA), *over, assuming=(Eq(x * log(inside) ** 2, 0),))
    assert value_of(found(o, d="1", delta="1/2", x="1", y="1/2"), inside, over) == 1


def test_integers_of_no_known_size_may_be_small() -> None:
    k = integer("k", ge=1)
    result = found(obligation(Le(EPSILON, 2 * k), EPSILON, k), epsilon="3", k="1")
    assert result.point is not None
    assert int(result.point["k"]) < 5


def test_a_bound_is_gone_up_to_exactly() -> None:
    o = obligation(Le(X, F(309, 1000) * EPSILON), EPSILON, X, assuming=(Le(X, F(31, 100) * EPSILON),))
    assert found(o, epsilon="1/100", x="31/10000").point == {"epsilon": "1", "x": "31/100"}
    small = real("epsilon", gt=0, le=F(1, 10), unit=NATS, size="epsilon")
    strict = obligation(Le(X, F(98, 100) * small), small, X, assuming=(Lt(X, small),))
    assert found(strict, epsilon="1/100", x="99/10000").point == {"epsilon": "1/10", "x": "99/1000"}


def test_a_bound_lets_a_letter_leave_its_range_as_far_as_the_bound_only() -> None:
    o = obligation(Le(X, 1), N, X, assuming=(Le(1, X),))
    far = obligation(Le(X, 1), N, X, assuming=(Le(10**5 * N, X),))
    below = obligation(Le(X, 1), N, X, assuming=(Le(X, 10**4 * N),))
    for case, x, inside in ((o, 1000, True), (o, 1001, False), (far, 10**8, True), (far, 10**8 + 1, False),
                            (below, 10**7, True), (below, F(1, 1000), True), (below, F(1, 1001), False)):  # fmt: skip
        assert is_realistic(case, {"n": F(1000), "x": F(x)}) == inside
    result = found(obligation(Le(X, 2 * 10**6), N, X, assuming=(Le(0, X),)), n="1", x="3000000")
    assert result.point is None


def test_where_no_assumption_holds_nothing_was_shown() -> None:
    many = obligation(Le(EPSILON, 1), D, EPSILON, assuming=(Le(10**6, D),))
    result = found(many, d="1000000", epsilon="2")
    assert (result.point, result.because) == (None, "at none of them all assumptions were seen to hold")
    edge = obligation(Le(EPSILON, 11), D, EPSILON, assuming=(Le(D, 4000),))
    assert found(edge, d="1", epsilon="12").because == ""


@pytest.mark.parametrize("quantified", ["assumption", "claim"])
def test_what_no_floats_evaluate_is_looked_at_all_the_same(quantified: str) -> None:
    every, some = ForAll(X, Le(0, X + EPSILON)), ForAll(X, Le(N, 1000 + X))
    o = (
        obligation(Le(N, 1000), N, EPSILON, assuming=(every,))
        if quantified == "assumption"
        else obligation(some, N)
    )
    result = found(o, n="1001", epsilon="1") if quantified == "assumption" else found(o, n="1001")
    assert result.point is not None
    assert int(result.point["n"]) > 1000
    assert 1 <= result.tried <= 200


def test_rounding_decides_nothing_between_points_that_fail_by_as_much() -> None:
    """Three times as much is half of the sum, in floats a little more or less: the first such point is taken."""
    o = obligation(Le(EPSILON * 9 / (2 * N), EPSILON * 3 / (2 * N)), N, EPSILON)
    assert found(o, n="1", epsilon="1").point == {"n": "1000", "epsilon": "1"}


def test_a_logarithm_of_other_letters_agrees_with_them() -> None:
    result = found(obligation(Le(L_N, 1), N, L_N), n="8", l_n="2")
    assert result.point == {"n": "10000", "l_n": "921/100"}
    assert not is_realistic(obligation(Le(L_N, 1), N, L_N), {"n": F(1000), "l_n": F(7)})


def test_vectors_are_scaled() -> None:
    v = vector("v", unit=LENGTH)
    o = obligation(Le(norm(v), LIPSCHITZ / (2 * N)), N, LIPSCHITZ, v, assuming=(Le(norm(v), LIPSCHITZ / N),))
    point = realistic(o, {"n": "2", "L": "2", "v": "(1, 0)"}).point
    assert point == {"n": "1000", "L": "1", "v": "(1/1000, 0)"}


def test_vectors_too_may_be_at_an_edge_only() -> None:
    v = vector("v", unit=LENGTH)
    o = obligation(Le(norm(v) / N, LIPSCHITZ), N, LIPSCHITZ, v, assuming=(Le(norm(v), 99 * LIPSCHITZ),))
    result = realistic(o, {"n": "2", "L": "1", "v": "(3, 0)"})
    assert result.point is None
    assert result.tried > 100


def test_vectors_in_equations() -> None:
    v, q = vector("v"), real("q", gt=0, lt=1)
    o = obligation(Le(norm(v), q / 2), EPSILON, q, v, assuming=(Eq(norm(v), q * EPSILON),))
    point = realistic(o, {"epsilon": "2", "q": "1/2", "v": "(1)"}).point
    assert point is not None
    assert confirmed(
        o.problem, {"epsilon": F(point["epsilon"]), "q": F(point["q"]), "v": (F(point["v"].strip("()")),)}
    )


def test_one_vector_and_no_number_that_is_free() -> None:
    v = vector("v")
    result = realistic(
        obligation(Le(norm(v), 11), EPSILON, v, assuming=(Eq(EPSILON, norm(v)),)),
        {"epsilon": "12", "v": "(12)"},
    )
    assert result.point is None
    assert result.tried > 1


def test_a_logarithm_of_what_stands_nowhere_else_beside_vectors() -> None:
    v = vector("v")
    point = realistic(obligation(Le(norm(v), L_N), L_N, v), {"l_n": "1", "v": "(2)"}).point
    assert point is not None


def test_vectors_are_brought_closer() -> None:
    v, w = vector("v"), vector("w")
    alpha = real("alpha", gt=0, size="accuracy")
    o = obligation(Le(norm(w), 1), alpha, v, w, assuming=(Eq(norm(v), 1), Le(norm(v - w), alpha)))
    point = realistic(o, {"alpha": "1", "v": "(0, 1)", "w": "(1, 1)"}).point
    assert point == {"alpha": "1/10", "v": "(0, 1)", "w": "(1/10, 1)"}


def test_sums_of_many_terms_are_counted_work() -> None:
    k = integer("k", ge=1)
    o = obligation(Le(total(1 / k, k, 1, N), 1), N)
    result = found(o, n="2")
    assert result.point is not None
    assert len(result.left or "") < 25


def test_numbers_beyond_floats_are_not_found() -> None:
    huge = real("x", ge=10**400)
    result = realistic(obligation(Le(huge, EPSILON), huge, EPSILON), {"x": str(10**400), "epsilon": "1"})
    assert (result.point, result.tried) == (None, 0)
    assert result.because == "the formula has numbers beyond the search"


def test_sides_beyond_comparison_are_not_taken() -> None:
    assert realistic(obligation(Le(exp(-(N**2)), 0), N), {"n": "1"}).point is None


def test_a_point_that_nobody_else_confirms_is_the_last_resort() -> None:
    asked: list[Mapping[str, str]] = []

    def never(point: Mapping[str, str]) -> bool:
        asked.append(point)
        return False

    o = obligation(Le(N, 10), N)
    assert realistic(o, {"n": "11"}, never).point == asked[0]
    assert len(asked) > 1
    assert realistic(o, {"n": "11"}, lambda point: point["n"] == "500").point == {"n": "500"}


@pytest.mark.parametrize(
    ("o", "asked"),
    [(obligation(Le(X, Y), X, Y), False), (obligation(Le(LIPSCHITZ, 1), LIPSCHITZ), False),
     (obligation(Le(1, 0)), False),
     (obligation(Le(X, EPSILON), X, EPSILON), True),
     (obligation(Le(X, EPSILON), X, EPSILON, coverage=Coverage.INSTANCE, scope="n = 2", own_sizes=True), False),
     (obligation(Le(X, EPSILON), X, EPSILON, coverage=Coverage.INSTANCE, scope="one step, n = 2"), True)],
)  # fmt: skip
def test_nothing_is_looked_for_where_no_letter_has_a_size(o: Obligation, asked: bool) -> None:
    assert asks_for_sizes(o) == asked


def test_a_refuted_formula_of_the_provers_goes_on_to_such_sizes() -> None:
    o = obligation(Le(1 / N, DELTA), N, DELTA, assuming=(Le(DELTA, 1 / N),))
    proof = prove(o)
    assert proof.counterexample is not None
    assert found(o, **proof.counterexample).point is not None


def test_a_point_that_was_found_is_kept_where_the_search_for_an_easier_one_goes_too_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def beyond(*_: object) -> None:
        raise OverflowError

    monkeypatch.setattr(search, "BLOCKS", (1,))  # so that it is found among numbers that are spread
    monkeypatch.setattr(search._Places, "simplified", beyond)
    result = found(obligation(Le(N, 5000), N), n="6000")
    assert result.point is not None
    assert result.confirmed_by_checker
