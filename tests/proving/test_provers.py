"""Each prover on true and false formulas; planted faults; what must never be proved."""

from __future__ import annotations

import json
import math
from fractions import Fraction

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
    real,
    total,
)
from dpverify.formulas.logic import And, Eq, ForAll, Formula, Ge, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.operators import absolute, erfc, exp, log, maximum, minimum, normal_cdf, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Budget, Proof, canonical, digest, load, prove, store
from dpverify.proving.language import Obligation
from dpverify.proving.provers.exact import Exact, closed_form
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.evaluation import evaluate
from dpverify.proving.reasoning.normal_form import is_identity
from dpverify.proving.reasoning.symbolic import symbol, symbolic, symbolic_formula, tree
from dpverify.proving.reasoning.truth import shift_that_shows

x, y = real("x", gt=0), real("y", gt=0)
z, w = real("z"), real("w")
u = real("u", ge=0, le=1)
n, i, j = integer("n", ge=1), integer("i", ge=1), integer("j")
X, Y, Z, W, U = (v for v in (x, y, z, w, u))


def obligation(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Obligation:
    return Obligation("test", "nowhere", claim, over, assuming=assuming)


def attempt(
    prover: Exact | RealArithmetic | Search,
    claim: Formula,
    *over: Variable,
    assuming: tuple[Formula, ...] = (),
) -> Proof:
    proof = prover.attempt(obligation(claim, *over, assuming=assuming).problem, Budget())
    assert proof is not None
    return proof


# ------------------------------------------------------------------- identities

IDENTITIES = [
    ((X + Y) ** 2, X**2 + 2 * X * Y + Y**2),
    (1 / (X + Y) - 1 / (X + 2 * Y), Y / ((X + Y) * (X + 2 * Y))),
    (sqrt(X) * sqrt(X + Y) * sqrt(X**2 + X * Y), X * (X + Y)),
    (1 / (1 + sqrt(2)), sqrt(2) - 1),
    (log(12 * X / Y), log(12) + log(X) - log(Y)),
    (exp(-((Z - W) ** 2) / 2), exp(-(Z**2) / 2) * exp(-(W**2) / 2) * exp(Z * W)),
    (normal_cdf(Z) + normal_cdf(-Z), expression(1)),
    (normal_cdf(Z), erfc(-Z / sqrt(2)) / 2),
    (X**Z * X ** (2 - Z), X**2),
    ((X * Y) ** Z, X**Z * Y**Z),
    (exp(Z * log(X)), X**Z),
    (log(sqrt(X) * exp(Z)), Z + log(X) / 2),
]


@pytest.mark.parametrize(("left", "right"), IDENTITIES)
def test_identities(left: Expression, right: Expression) -> None:
    assert attempt(Exact(), Eq(left, right), x, y, z, w).verdict is Verdict.PROVED


@pytest.mark.parametrize(("left", "right"), IDENTITIES)
@pytest.mark.parametrize("fault", ["constant", "sign", "factor", "exponent"])
def test_faulty_identities_are_refuted_and_never_proved(
    left: Expression, right: Expression, fault: str
) -> None:
    small = Fraction(1, 1000)
    faulty = {
        "constant": right + small,
        "sign": -right,
        "factor": right * (1 + small),
        "exponent": right + right * X**small,
    }[fault]
    claim = Eq(left, faulty)
    assert attempt(Exact(), claim, x, y, z, w).verdict is Verdict.UNDECIDED
    assert attempt(RealArithmetic(), claim, x, y, z, w).verdict is not Verdict.PROVED
    assert attempt(Search(), claim, x, y, z, w).verdict is Verdict.REFUTED


def test_the_square_root_of_a_square_is_not_the_number() -> None:
    # SymPy itself turns sqrt(z^2) into |z|; the same root of a product must not become z either
    assert not is_identity(sp.sqrt(sp.Mul(symbol(z) ** 2, symbol(x), evaluate=False)), symbolic(Z * sqrt(X)))
    assert attempt(Exact(), Eq(sqrt(Z**2 * X + Z**2), Z * sqrt(X + 1)), x, z).verdict is Verdict.UNDECIDED


def test_the_logarithm_of_a_product_of_negatives_is_not_split() -> None:
    assert not is_identity(symbolic(log(Z**2 - 1)), symbolic(log(Z - 1) + log(Z + 1)))


# ------------------------------------------------------------------- where expressions are undefined


@pytest.mark.parametrize("prover", [Exact(), RealArithmetic()])
@pytest.mark.parametrize(
    "claim",
    [
        Le(0, 1 / Z**2),
        Le(0, sqrt(Z)),
        Le(0, Z / (Z + 1) + 1 / (Z + 1)),
        Eq(exp(log(Z) * W), Z**W),
        Eq((Z**2 - 1) / (Z - 1), Z + 1),
        Le(0, sqrt(Z + X) ** 3),
        Eq(derivative(log(Z), z), 1 / Z),
        Implies(Lt(0, w), Le(0, 1 / Z**2)),
    ],
)
def test_nothing_is_proved_where_a_side_may_be_undefined(
    prover: Exact | RealArithmetic, claim: Formula
) -> None:
    proof = prover.attempt(obligation(claim, x, z, w).problem, Budget())
    assert proof is None or proof.verdict is Verdict.UNDECIDED


def test_a_premise_may_make_a_side_defined() -> None:
    claim = Implies(Lt(0, z), Le(0, 1 / Z))
    assert attempt(RealArithmetic(), claim, z).verdict is Verdict.PROVED
    assert (
        attempt(Exact(), Eq((Z**2 - 1) / (Z - 1), Z + 1), z, assuming=(Lt(1, z),)).verdict is Verdict.PROVED
    )


def test_a_derivative_is_refused_where_its_function_is_undefined() -> None:
    # 1/z is defined at -1, the logarithm whose derivative it is is not
    claim = Eq(at(derivative(log(Z), z), z, -x), -1 / X)
    assert prove(obligation(claim, x)).verdict is Verdict.UNDECIDED
    claim = Eq(at(derivative(log(Z), z), z, x), 1 / X)
    assert prove(obligation(claim, x)).verdict is Verdict.PROVED


def test_a_derivative_of_a_kink_is_refused() -> None:
    claim = Le(derivative(maximum(Z, 0), z), 1)
    assert prove(obligation(claim, z)).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("claim", [Le(1 / Z, 0), Eq(log(Z), 0), Le(sqrt(Z), -1)])
def test_a_counterexample_is_never_a_point_where_the_claim_is_undefined(claim: Formula) -> None:
    # where defined these claims hold, given the assumption, and elsewhere they say nothing
    assuming = (Le(z, -1),) if claim.left == 1 / Z else (Lt(z, 0),)  # type: ignore[union-attr]
    for thorough in (False, True):
        assert attempt(Search(thorough=thorough), claim, z, assuming=assuming).verdict is Verdict.UNDECIDED


def test_open_and_closed_ends_differ() -> None:
    closed, opened = real("a", ge=0), real("b", gt=0)
    assert prove(obligation(Lt(0, closed), closed)).counterexample == {"a": "0"}
    assert prove(obligation(Lt(0, opened), opened)).verdict is Verdict.PROVED


def test_integers_and_reals_differ() -> None:
    whole, part = integer("k", ge=0), real("r", ge=0)
    assert prove(obligation(Or((Le(whole, 0), Ge(whole, 1))), whole)).verdict is Verdict.PROVED
    assert prove(obligation(Or((Le(part, 0), Ge(part, 1))), part)).verdict is Verdict.REFUTED
    assert prove(obligation(Ne(2 * whole, 5), whole)).verdict is Verdict.PROVED
    assert prove(obligation(Ne(2 * part, 5), part)).counterexample == {"r": "5/2"}


# ------------------------------------------------------------------- inequalities

INEQUALITIES: list[tuple[Formula, tuple[Formula, ...]]] = [
    (Le(2 * X * Y, X**2 + Y**2), ()),
    (Le(X / (1 + X), X), ()),
    (Lt(X / (X + Y), 1), ()),
    (Le(sqrt(X * Y), (X + Y) / 2), ()),
    (Le(U * (1 - U), Fraction(1, 4)), ()),
    (Le(absolute(Z + W), absolute(Z) + absolute(W)), ()),
    (Eq(maximum(Z, W) + minimum(Z, W), Z + W), ()),
    (Le(X, Y + 1), (Le(x, y),)),
    (Le(1 / Y, 1 / X), (Le(x, y),)),
    (Implies(Lt(Z, W), Not(Le(W, Z))), ()),
    (Implies(ForAll(u, Le(U * Z, U * W)), Le(Z, W)), ()),
]
OVER = (x, y, z, w)


@pytest.mark.parametrize(("claim", "assuming"), INEQUALITIES)
def test_inequalities(claim: Formula, assuming: tuple[Formula, ...]) -> None:
    over = (*OVER, u) if "u" in str(claim) and not isinstance(claim, Implies) else OVER
    assert attempt(RealArithmetic(), claim, *over, assuming=assuming).verdict is Verdict.PROVED


def test_tight_inequalities_break_when_their_constant_moves() -> None:
    less = 1 - Fraction(1, 10**6)
    for claim in (
        Le(2 * X * Y, less * (X**2 + Y**2)),
        Le(X / (1 + X), less * X),
        Lt(X / (X + Y), less),
        Le(sqrt(X * Y), less * (X + Y) / 2),
        Le(U * (1 - U), less / 4),
        Le(absolute(Z + W), less * (absolute(Z) + absolute(W))),
        Eq(maximum(Z, W) + minimum(Z, W), less * (Z + W)),
    ):
        proof = prove(obligation(claim, *OVER, u))
        assert proof.verdict is Verdict.REFUTED, claim


def test_signs_certificates_name_their_shifts() -> None:
    proof = attempt(Exact(), Le(i, n + 1), n, i, assuming=(Le(i, n),))
    assert proof.certificate is not None
    assert proof.certificate["proof"] == {
        "method": "signs",
        "shift": {"i": ["lower"], "n": ["lower", {"plus": ["i"]}]},
    }
    assert shift_that_shows(symbolic_formula(Le(i, n - 1)), (n, i), (Le(i, n),)) is None
    assert shift_that_shows(symbolic_formula(Lt(i, n)), (n, i), (Le(i, n),)) is None


# ------------------------------------------------------------------- sums and integrals


@pytest.mark.parametrize(
    ("body", "right"),
    [
        (j, n * (n + 1) / 2),
        (j**2, n * (n + 1) * (2 * n + 1) / 6),
        (1 / (j * (j + 1)), n / (n + 1)),
        (expression(Fraction(1, 2)) ** j, 1 - expression(Fraction(1, 2)) ** n),
        (j + expression(3) ** j, n * (n + 1) / 2 + (expression(3) ** (n + 1) - 3) / 2),
    ],
)
def test_sums(body: Expression, right: Expression) -> None:
    index = j
    if body == 1 / (j * (j + 1)):
        body, index = 1 / (i * (i + 1)), i
    assert attempt(Exact(), Eq(total(body, index, 1, n), right), n).verdict is Verdict.PROVED
    for wrong in (total(body, index, 1, n + 1), total(body, index, 2, n + 1), total(2 * body, index, 1, n)):
        proof = prove(obligation(Eq(wrong, right), n))
        assert proof.verdict is Verdict.REFUTED


def test_a_geometric_sum_needs_a_ratio_other_than_one() -> None:
    right = (1 - x ** (n + 1)) / (1 - x)
    claim = Eq(total(x**j, j, 0, n), right)
    assert attempt(Exact(), claim, n, x, assuming=(Ne(x, 1),)).verdict is Verdict.PROVED
    assert attempt(Exact(), claim, n, x).verdict is Verdict.UNDECIDED


def test_closed_forms_agree_with_summing() -> None:
    form = closed_form(symbolic(total(j**3 - 2 * j, j, 2, n)))
    assert form is not None
    for last in range(2, 9):
        assert form.subs(symbol(j), last) == sum(k**3 - 2 * k for k in range(2, last + 1))


# ------------------------------------------------------------------- search


def test_transcendental_counterexamples_are_decided_by_balls() -> None:
    proof = attempt(Search(), Le(exp(Z), 1 + Z + Z**2), z)
    assert proof.verdict is Verdict.REFUTED
    assert proof.counterexample is not None
    assert math.exp(Fraction(proof.counterexample["z"])) > float(proof.right or "nan")


def test_the_thorough_search_finds_what_the_simple_one_cannot() -> None:
    # fails only for x within 0.0005 of sqrt(2)
    claim = Le(Fraction(1, 10**6), (X**2 - 2) ** 2 + Fraction(1, 10**12))
    assert attempt(Search(), claim, x).verdict is Verdict.UNDECIDED
    proof = attempt(Search(thorough=True), claim, x)
    assert proof.verdict is Verdict.REFUTED
    assert proof.counterexample is not None
    value = Fraction(proof.counterexample["x"])
    assert (value**2 - 2) ** 2 + Fraction(1, 10**12) < Fraction(1, 10**6)


def test_the_search_keeps_to_domain_and_assumptions() -> None:
    claim = Le(x, 3)
    assert attempt(Search(thorough=True), claim, x, assuming=(Le(x, 3),)).verdict is Verdict.UNDECIDED
    proof = attempt(Search(), claim, x, y, assuming=(Le(x, y), Le(y, 4)))
    assert proof.counterexample is not None
    p = {name: Fraction(value) for name, value in proof.counterexample.items()}
    assert 3 < p["x"] <= p["y"] <= 4


def test_the_search_is_reproducible() -> None:
    claim = Le(exp(X) * Y, 10 + X**3)
    first, second = (attempt(Search(thorough=True), claim, x, y) for _ in range(2))
    assert first == second


# ------------------------------------------------------------------- conjunctions, names, certificates


def test_conjunctions_may_be_proved_by_several_provers() -> None:
    proof = prove(obligation(And((Eq(exp(Z) * exp(-Z) * X, X), Le(2 * X * Y, X**2 + Y**2))), x, y, z))
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate is not None
    assert proof.certificate["proof"]["method"] == "conjunction"
    assert len(proof.certificate["proof"]["parts"]) == 2


def test_transcendental_claims_go_to_boxes() -> None:
    a = real("a", ge=0, le=1)
    claim = Le(exp(a), 1 + a + a**2)
    assert prove(Obligation("test", "nowhere", claim, (a,), box={"a": (0, 1)})).verdict is Verdict.PROVED
    half = prove(Obligation("test", "nowhere", claim, (a,), box={"a": (0, "1/2")}))
    assert half.verdict is Verdict.CERTIFIED
    both = prove(Obligation("test", "nowhere", And((claim, Le(a, 1))), (a,), box={"a": (0, "1/2")}))
    assert both.verdict is Verdict.CERTIFIED
    assert both.box == {"a": ("0", "1/2")}


def test_a_conjunction_with_one_false_part_shows_that_part() -> None:
    proof = prove(obligation(And((Le(X, X + 1), Le(X, 1))), x))
    assert (proof.verdict, proof.counterexample, proof.left, proof.right) == (
        Verdict.REFUTED,
        {"x": "2"},
        "2",
        "1",
    )


def test_two_symbols_of_one_name_are_refused() -> None:
    other = real("x")
    with pytest.raises(InvalidArgumentError, match="different names"):
        prove(obligation(Le(x, other + 1), x, other))
    with pytest.raises(InvalidArgumentError, match="one domain and unit for each name"):
        prove(obligation(Le(x, total(integer("x", ge=0), integer("x", ge=0), 0, 3)), x))


def test_certificates_survive_json_and_storing(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for claim in (Le(2 * X * Y, X**2 + Y**2), Le(X, Y), Eq((X + Y) ** 2, X**2 + 2 * X * Y + Y**2)):
        proof = prove(obligation(claim, x, y))
        assert json.loads(canonical(proof.certificate)) == proof.certificate
        name = store(proof.certificate, tmp_path)
        assert name == digest(proof.certificate)
        assert load(name, tmp_path) == proof.certificate
    assert len(list(tmp_path.iterdir())) == 3


def test_undecided_says_what_was_tried() -> None:
    proof = prove(obligation(Le(0, 1 / Z**2), z))
    assert proof.verdict is Verdict.UNDECIDED
    assert proof.certificate is None
    assert "exact" in proof.reason
    assert "z3" in proof.reason


@pytest.mark.parametrize("name", ["boxes", "operations", "steps"])
def test_budgets_are_positive(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=name):
        Budget(**{name: 0})  # type: ignore[arg-type]


# ------------------------------------------------------------------- random formulas of known truth

coefficients = st.integers(-5, 5)
monomials = st.tuples(st.integers(0, 3), st.integers(0, 3))
polynomials = st.dictionaries(monomials, coefficients, min_size=1, max_size=4)


def written(p: dict[tuple[int, int], int]) -> Expression:
    return sum((c * Z**a * W**b for (a, b), c in p.items()), expression(0))


@settings(max_examples=500, derandomize=True, deadline=None)
@given(polynomials, polynomials, coefficients, monomials)
def test_random_identities(
    p: dict[tuple[int, int], int], q: dict[tuple[int, int], int], c: int, m: tuple[int, int]
) -> None:
    left = symbolic(written(p) * written(q))
    right = sp.expand(left)
    assert is_identity(left, right)
    assert is_identity(left, right + symbolic(c * Z ** m[0] * W ** m[1])) is (c == 0)


# of faults that show in every 40th example, one in 160 is missed
@settings(max_examples=200, derandomize=True, deadline=None)
@given(polynomials, st.integers(-3, 3), st.integers(-3, 3), st.integers(-2, 2))
def test_random_inequalities_are_never_proved_falsely(
    p: dict[tuple[int, int], int], a: int, b: int, gap: int
) -> None:
    # p^2 - p(a, b)^2 >= gap is false at (a, b) for gap > 0; p^2 >= gap is true for gap <= 0
    square = tree(sp.expand(symbolic(written(p) ** 2)))
    value = evaluate(square, {"z": Fraction(a), "w": Fraction(b)})
    true, false = Le(min(gap, 0), square), Le(value + abs(gap) + 1, square)
    assert attempt(RealArithmetic(), false, z, w).verdict is not Verdict.PROVED
    assert attempt(Exact(), false, z, w).verdict is Verdict.UNDECIDED
    proof = attempt(RealArithmetic(), true, z, w)
    assert proof.verdict is not Verdict.REFUTED
