"""Inner products and norms: proved in every dimension, refuted by vectors; what was tampered with is not confirmed."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Expression, Variable, integer, real
from dpverify.formulas.logic import Formula, Le, Not, Or, free_in
from dpverify.formulas.notation import read_display, read_formula
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.formulas.vectors import inner, norm, vector
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import coordinates_of, coordinates_text
from dpverify.proving import homogeneity, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.provers.balls import BallProver
from dpverify.proving.provers.exact import Exact
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.evaluation import evaluate, plain_truth

VECTORS = tuple(map(vector, ("x", "y", "z", "p", "q", "g", "u")))
eta, beta = real("eta", gt=0, latex=r"\eta"), real("beta", gt=0, latex=r"\beta")
weak = real("lambda", gt=0, latex=r"\lambda")
LETTERS = (
    *VECTORS,
    eta,
    beta,
    weak,
    real("L", ge=0),
    real("D", ge=0),
    real("t", ge=0, le=1),
    real("f_x"),
    real("f_y"),
)
NEAREST = r"\langle x-p,q-p\rangle\le 0, \langle y-q,p-q\rangle\le 0"
COCOERCIVE = r"\frac{1}{\beta}\|p-q\|^2\le\langle p-q,x-y\rangle"
ABOVE = (
    r"f_x\ge f_y+\langle q,x-y\rangle+\frac{1}{2\beta}\|p-q\|^2, "
    r"f_y\ge f_x+\langle p,y-x\rangle+\frac{1}{2\beta}\|p-q\|^2"
)
TRUE = {
    "parallelogram": r"\|x+y\|^2+\|x-y\|^2=2\|x\|^2+2\|y\|^2",
    "polarisation": r"\langle x,y\rangle=\frac{\|x+y\|^2-\|x-y\|^2}{4}",
    "three points": r"2\langle x-y,z-x\rangle=\|z-y\|^2-\|x-y\|^2-\|z-x\|^2",
    "a scale": r"\|\eta x\|^2=\eta^2\|x\|_2^2",
    "vectors": r"x-\eta(y-z)=x-\eta y+\eta z",
    "Young": r"2\langle x,y\rangle\le\eta\|x\|^2+\frac{1}{\eta}\|y\|^2",
    "convex": r"\|tx+(1-t)y\|^2\le t\|x\|^2+(1-t)\|y\|^2",
    "Cauchy": r"\langle x,y\rangle\le\|x\|\|y\|",
    "Cauchy squared": r"\langle x,y\rangle^2\le\|x\|^2\|y\|^2",
    "triangle": r"\|x-z\|\le\|x-y\|+\|y-z\|",
    "reverse triangle": r"\|x\|-\|y\|\le\|x-y\|",
    "strict": r"\|x\|^2<\|x\|^2+1",
    "a chain": r"0\le\|x\|^2\le\|x\|^2+\|y\|^2",
    "projection": rf"\|p-q\|\le\|x-y\| \text{{ for }} {NEAREST}",
    "gradient step": rf"\|x-y-\eta(p-q)\|\le\|x-y\| \text{{ for }} {COCOERCIVE}, \eta\le\frac{{2}}{{\beta}}",
    "cocoercive": rf"{COCOERCIVE} \text{{ for }} {ABOVE}",
    "Lipschitz": r"\langle g,x-y\rangle\le LD \text{ for } \|g\|\le L, \|x-y\|\le D",
    "regret": r"\langle g,x-u\rangle\le\frac{\|x-u\|^2-\|y-u\|^2}{2\eta}+\frac{\eta}{2}L^2"
    r" \text{ for } \|y-u\|\le\|x-\eta g-u\|, \|g\|\le L",
    "the zero vector": r"x-\frac{1}{2}(x+x)=0",
    "strongly convex": r"\lambda\|x-y\|\le\|g\| \text{ for } \langle g,x-y\rangle\ge\lambda\|x-y\|^2",
}  # fmt: skip
FALSE = {
    "parallelogram": r"\|x+y\|^2+\|x-y\|^2=2\|x\|^2+\|y\|^2",
    "no cross term": r"\|x+y\|^2\le\|x\|^2+\|y\|^2",
    "Young": r"2\langle x,y\rangle\le\eta\|x\|^2+\eta\|y\|^2",
    "Cauchy the other way": r"\|x\|\|y\|\le\langle x,y\rangle",
    "true on a line": r"\langle x,y\rangle^2=\|x\|^2\|y\|^2",
    "triangle": r"\|x\|+\|y\|\le\|x+y\|",
    "strict": r"0<\|x\|^2",
    "vectors": r"x-\eta(y-z)=x-\eta y-\eta z",
    "the zero vector": r"0=x+y",
    "hardly a contraction": rf"\|p-q\|\le\frac{{99}}{{100}}\|x-y\| \text{{ for }} {NEAREST}, 1\le\|p-q\|^2",
    "a step hardly too long": r"\|x-y-\frac{201}{100}(p-q)\|^2\le\|x-y\|^2"
    r" \text{ for } 1001\|p-q\|^2\le 1000\langle p-q,x-y\rangle",
    "projection by half": rf"\|p-q\|\le\frac{{1}}{{2}}\|x-y\| \text{{ for }} {NEAREST}",
    "long gradient step": rf"\|x-y-\eta(p-q)\|\le\|x-y\| \text{{ for }} {COCOERCIVE}, \eta\le\frac{{3}}{{\beta}}",
}


def obligation(latex: str) -> Obligation:
    display = read_display(latex, LETTERS)
    free = free_in(display.claim).union(*map(free_in, display.given))
    return Obligation("o", "", display.claim, tuple(v for v in LETTERS if v in free), assuming=display.given)


@cache
def proved(name: str) -> Proof:
    return prove(obligation(TRUE[name]))


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_proved_and_confirmed(name: str) -> None:
    found = proved(name)
    assert found.verdict is Verdict.PROVED, found.reason
    confirmation = check(found.certificate)
    assert confirmation.confirmed, confirmation.says
    assert confirmation.says.endswith(
        "by closed" if found.certificate["proof"]["method"] == "conjunction" else "by gram"
    )


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_refuted_by_vectors(name: str) -> None:
    o = obligation(FALSE[name])
    found = prove(o)
    assert found.verdict is Verdict.REFUTED, found.reason
    assert found.counterexample is not None
    point = {name: coordinates_of(value) for name, value in found.counterexample.items()}
    assert all(isinstance(point[v.name], tuple) == (v.kind == "vector") for v in o.over)
    assert plain_truth(o.claim, point) is False
    assert all(plain_truth(a, point) is True for a in o.assuming)
    assert check(found.certificate).says == "refuted, by points"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "latex",
    [
        r"\forall t: \|tx\|\le\|x\|", r"\forall x: \|x\|\ge\eta", r"\sum_{i=1}^{3}\|x\|^2\ge\|x\|^2",
        r"\frac{\partial}{\partial\eta}(\|x-\eta y\|^2)\le 1", r"\neg(\|x\|\le 1)", r"\|x\|\le 1\implies\|x\|\le 2",
        r"\|x\|\ne 1", r"e^{\|x\|}\ge 1", r"\max(\|x\|,\|y\|)\ge\|x\|", r"\|x\|^\eta\ge 0", r"\|x\|^{-1}\ge 0",
    ],
)  # fmt: skip
def test_nothing_crashes(latex: str) -> None:
    """What is beyond it may be refuted, and must not be claimed."""
    index = integer("i", ge=1)
    claim = read_formula(latex, (*LETTERS, index))
    over = tuple(v for v in LETTERS if v in free_in(claim))
    found = prove(Obligation("o", "", claim, over), budget=Budget(boxes=1_000, operations=50_000))
    assert found.verdict in (Verdict.UNDECIDED, Verdict.REFUTED)
    homogeneity(Obligation("o", "", claim, over))
    if found.certificate is not None:
        check(found.certificate)


def test_one_dimension_is_not_all() -> None:
    """What holds for numbers alone is refuted in the plane."""
    found = prove(obligation(FALSE["true on a line"]))
    assert found.counterexample is not None
    assert all(len(coordinates_of(value)) > 1 for value in found.counterexample.values())


@pytest.mark.parametrize(
    ("latex", "gap"),
    [
        (r"\sqrt{\eta}\|x\|\ge 0", Gap.UNSUPPORTED_FUNCTION),
        (r"\|\|x\|y\|\le\|x\|\|y\|", Gap.UNSUPPORTED_FUNCTION),
        (r"\|x\|\le 1 \text{ for } \|x\|^2+1\le 0", Gap.NO_WITNESS),
        (r"\frac{\|x\|^2}{\beta-\eta}\ge 0 \text{ for } \eta\le\beta", Gap.MISSING_HYPOTHESIS),
    ],
)  # fmt: skip
def test_what_is_beyond_it_is_undecided(latex: str, gap: Gap) -> None:
    found = prove(obligation(latex))
    assert found.verdict is Verdict.UNDECIDED
    assert found.gap is gap, found.reason


def test_conditions_that_no_tried_point_meets_are_no_crash() -> None:
    w, a = vector("w"), vector("a")
    B, L = real("B", gt=0), real("L", gt=0)
    read = read_display(r"\|a+2\lambda w\|\le 2L", (a, w, L, B, weak)).claim
    given = read_formula(r"\|a\|\le L, \|w\|\le 72B, 144\lambda B\le L", (a, w, L, B, weak))
    proof = prove(Obligation("steep", "", read, (a, w, L, B, weak), assuming=given.parts))  # type: ignore[attr-defined]
    assert proof.verdict in (Verdict.PROVED, Verdict.UNDECIDED)


def test_other_provers_refuse_vectors() -> None:
    x = VECTORS[0]
    o = Obligation("o", "", Le(0, norm(x)), (x,))
    for prover in (Search(), Exact(), RealArithmetic(), BallProver(), Search(thorough=True)):
        found = prove(o, provers=[prover])
        assert found.verdict is Verdict.UNDECIDED, prover.name
    either = Or((Le(norm(x), 1), Not(Le(norm(x), 1))))
    assert prove(Obligation("o", "", either, (x,))).verdict is Verdict.UNDECIDED


# ---------------------------------------------------------------------------------------------- planted damage


def numbers_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the numbers of a proof are."""
    if isinstance(value, list) and value[:1] == ["num"]:
        return [(*path, 1)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in items for place in numbers_in(part, (*path, key))]


def damaged(certificate: Any, path: tuple[Any, ...], new: Any) -> Any:
    result = copy.deepcopy(certificate)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return result


@pytest.mark.parametrize("name", ["projection", "gradient step", "triangle", "Cauchy squared"])
def test_every_changed_number_of_a_proof_is_seen(name: str) -> None:
    certificate = proved(name).certificate
    assert certificate is not None
    places = numbers_in(certificate["proof"], ("proof",))
    assert places
    for path in places:
        was = certificate
        for key in path:
            was = was[key]
        changed = str(Fraction(was) * 3)
        # in the vector of a square, or of a norm, each number stands once only, so that no change cancels
        assert not check(damaged(certificate, path, changed)).confirmed, path


def test_other_damage_is_seen() -> None:
    certificate = proved("gradient step").certificate
    assert certificate is not None
    assert check(certificate).confirmed
    terms = certificate["proof"]["sum"]
    zero = {"x": "(0)", "y": "(0)", "p": "(1)", "q": "(0)", "eta": "1", "beta": "1"}
    cases = {
        "a term is left out": (("proof", "sum"), terms[1:]),
        "a term twice": (("proof", "sum"), [*terms, terms[0]]),
        "no base": (("proof", "base"), []),
        "a claim that is false": (("problem", "claim"), ["<=", ["norm", ["sym", "x"]], ["num", "1"]]),
        "no bound of the step": (("problem", "assuming"), certificate["problem"]["assuming"][:1]),
        "another assumption": (("proof", "sum", 0, 1), ["assumption", 1]),
        "no witness": (("witness",), zero),
        "a witness of two dimensions": (("witness", "x"), "(0, 0)"),
        "a number for a vector": (("witness", "x"), "0"),
        "another verdict": (("verdict",), "certified"),
        "another kind": (("problem", "variables", 0, "kind"), "real"),
    }
    for what, (path, new) in cases.items():
        assert not check(damaged(certificate, path, new)).confirmed, what


def test_a_negative_multiplier_is_seen() -> None:
    """0 <= -<x, x> is -1 times a square: the sum is right, the sign is not."""
    x = ["sym", "x"]
    variable = {"name": "x", "kind": "vector", "lower": None, "lower_open": False, "upper": None,
                "upper_open": False, "unit": {"loss": "0", "length": "0"}}  # fmt: skip
    square = ["inner", x, x]
    for number, confirmed in (("1", True), ("-1", False)):
        claim = ["<=", ["num", "0"], ["mul", ["num", number], square]]
        certificate = {
            "version": 1, "verdict": "proved", "witness": {"x": "(0)"},
            "problem": {"variables": [variable], "assuming": [], "claim": claim},
            "proof": {"method": "gram", "sum": [[["num", number], square]]},
        }  # fmt: skip
        assert check(certificate).confirmed is confirmed


def test_a_division_by_what_may_be_0_is_seen() -> None:
    """||x||^2 eta / eta >= 0 holds where eta is not 0."""
    for domain, verdict in (({"gt": 0}, Verdict.PROVED), ({"ge": 0}, Verdict.UNDECIDED)):
        e = real("eta", **domain)
        x = VECTORS[0]
        found = prove(Obligation("o", "", Le(0, inner(x, x) * e / e), (x, e)))
        assert found.verdict is verdict
        if found.certificate is not None:
            assert check(found.certificate).confirmed
            path = ("problem", "variables", 1, "lower_open")
            assert not check(damaged(found.certificate, path, False)).confirmed


# ---------------------------------------------------------------------------------------------- random claims


def random_vector(rng: random.Random, letters: tuple[Variable, ...]) -> Expression:
    e: Expression = rng.choice(letters)
    for _ in range(rng.randint(0, 2)):
        other: Expression = rng.choice(letters) * Fraction(rng.randint(-3, 3), rng.choice((1, 2)))
        e = e + other if rng.random() < 0.5 else e - other
    return e


def random_claim(rng: random.Random, letters: tuple[Variable, ...]) -> Formula:
    """A quadratic form and a number of squares, about as often true as not."""
    parts = [
        inner(random_vector(rng, letters), random_vector(rng, letters)) for _ in range(rng.randint(0, 2))
    ]
    parts += [norm(random_vector(rng, letters)) ** 2 * rng.randint(0, 3) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.5:
        # long enough on the right that some are true
        parts += [norm(letters[0]) * 0] * (len(parts) % 2)
        for v in letters:
            parts += [norm(v) * 0, norm(v) ** 2 * 12]
    left, right = (sum(parts[k::2], start=Fraction(0) * inner(letters[0], letters[0])) for k in (0, 1))
    return Le(left, right)


def test_random_quadratic_forms_agree_with_their_values() -> None:
    """What is proved holds at random vectors, what is refuted does not at its own; nothing is left out of reach.

    Deterministic: the seed is fixed, and proofs and refutations are exact.
    """
    rng = random.Random(0)
    letters = VECTORS[:3]
    counts = dict.fromkeys(Verdict, 0)
    for _ in range(16):
        claim = random_claim(rng, letters)
        found = prove(Obligation("o", "", claim, letters))
        counts[found.verdict] += 1
        assert found.certificate is None or check(found.certificate).confirmed
        if found.verdict is Verdict.PROVED:
            for _ in range(30):
                point = {v.name: tuple(Fraction(rng.randint(-9, 9)) for _ in range(3)) for v in letters}
                assert plain_truth(claim, point) is True
    assert counts[Verdict.PROVED] >= 2
    assert counts[Verdict.REFUTED] >= 4
    assert counts[Verdict.UNDECIDED] <= 2


# ---------------------------------------------------------------------------------------------- the language


def test_values_at_a_point() -> None:
    x, y = VECTORS[:2]
    point = {"x": (Fraction(3), Fraction(4)), "y": (Fraction(1), Fraction(0)), "eta": Fraction(2)}
    assert evaluate(norm(x), point) == 5
    assert evaluate(inner(x - eta * y, y / eta), point) == Fraction(1, 2)
    assert evaluate(inner(-x, inner(x, y) * y), point) == -9
    assert coordinates_text(point["x"]) == "(3, 4)"
    assert coordinates_of("(3, -1/2)") == (3, Fraction(-1, 2))
    assert coordinates_of("-1/2") == Fraction(-1, 2)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_printed_is_read_as_the_same(name: str) -> None:
    claim = obligation(TRUE[name]).claim
    assert read_formula(formula_latex(claim), LETTERS) == claim


@pytest.mark.parametrize(
    "latex",
    [
        r"\|x\|_1\le 1", r"\|x\|_\infty\le 1", r"|x|\le 1", r"x\le y", r"xy\le 1", r"x+1\le 2", r"\frac{1}{x}\le 1",
        r"\langle\eta,x\rangle\le 1", r"\sqrt{x}\le 1", r"x=1", r"\langle x\rangle\le 1", r"x^2\le 1", r"\|x\|=x",
    ],
)  # fmt: skip
def test_vectors_are_no_numbers(latex: str) -> None:
    with pytest.raises(InvalidArgumentError):
        read_formula(latex, LETTERS)


def test_vectors_in_hand_made_trees_are_refused() -> None:
    x, y = VECTORS[:2]
    for claim in (
        Le(x, y),
        Le(0, x),
        Le(0, inner(x, eta)),
        Le(0, norm(eta)),
        Le(0, x * y),
        Le(0, norm(x + 1)),
    ):
        with pytest.raises(InvalidArgumentError):
            Obligation("o", "", claim, (x, y, eta))
    with pytest.raises(InvalidArgumentError, match="box of x"):
        Obligation("o", "", Le(0, norm(x)), (x,), box={"x": (0, 1)})
    with pytest.raises(InvalidArgumentError, match="name"):
        vector("")
