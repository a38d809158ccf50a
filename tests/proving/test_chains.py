"""Inequalities with exponentials, logarithms and Phi on unbounded domains, shown by derivatives."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import factorial
from typing import Any

import pytest

from dpverify.formulas.expressions import PI, Expression, Variable, integer, real
from dpverify.formulas.logic import Compare, Le, Lt
from dpverify.formulas.operators import exp, log, normal_cdf, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.provers.chains import Chains
from dpverify.proving.reasoning import places

x, any_x, above = real("x", ge=0), real("x"), real("x", gt=-1)
p, a, rate, eps = (real(name, gt=0) for name in ("p", "a", "l", "epsilon"))
half = real("h", ge=0, le="1/2")
c, s = real("c"), real("s", ge=0)
n = integer("n", ge=1)
Json = Any


def bell(t: Expression) -> Expression:
    return exp(-(t**2) / 2) / sqrt(2 * PI)


def tail(t: Expression) -> Expression:
    return 1 - normal_cdf(t)


TRUE: dict[str, tuple[Compare, tuple[Variable, ...]]] = {
    "contact inside": (Le(log(1 + above), above), (above,)),
    "strictly, from an open end": (Lt(log(1 + p), p), (p,)),
    "two derivatives": (Le(x**2 / 2 / (1 + x / 3), (1 + x) * log(1 + x) - x), (x,)),
    "logarithm on a compact domain": (Le(-log(1 - half), half + half**2), (half,)),
    "symbolic power": (Le(log(p), p**a / a), (p, a)),
    "order of exponentials": (Le(1 + any_x, exp(any_x)), (any_x,)),
    "Gaussian tail": (Le(tail(s), exp(-(s**2) / 2) / 2), (s,)),
    "Mills ratio": (Le(bell(s) * s / (1 + s**2), tail(s)), (s,)),
    "a letter for a root": (
        Le(normal_cdf(-sqrt(2 * rate)) - exp(eps) * normal_cdf(-sqrt(2 * rate + 2 * eps)), exp(-rate) / 2),
        (rate, eps),
    ),
    "order of logarithms": (Le(2 * log(1 + p), log(1 + 3 * p + p**2)), (p,)),
    "order of Phi": (Le(normal_cdf(c - s), normal_cdf(c + s)), (c, s)),
    "integers as reals": (Le(1 / (n + 1), log(1 + 1 / n)), (n,)),
}
NEAR: dict[str, tuple[Compare, tuple[Variable, ...]]] = {
    "a smaller factor": (Le(log(1 + x), Fraction(999, 1000) * x), (x,)),
    "contact left out": (Lt(log(1 + x), x), (x,)),
    "one more beyond the end": (Le(exp(any_x), 1 + any_x + any_x**2), (any_x,)),
    "a larger exponent": (Le((exp(any_x) + exp(-any_x)) / 2, exp(Fraction(499, 1000) * any_x**2)), (any_x,)),
    "half of the tail": (Le(tail(s), Fraction(499, 1000) * exp(-(s**2) / 2)), (s,)),
    "a faster tail": (Le(tail(s), exp(-Fraction(501, 1000) * s**2)), (s,)),
    "Mills ratio from the wrong side": (Le(bell(p) / p, tail(p)), (p,)),
    "Mills ratio with too large a factor": (Le(bell(p) / p * Fraction(101, 100), tail(p)), (p,)),
    "sides exchanged": (Le(normal_cdf(c + s), normal_cdf(c - s)), (c, s)),
    "a third in place of a half": (Le(x**2 / 2 / (1 + x / 4), (1 + x) * log(1 + x) - x), (x,)),
    "logarithms that are alike at common points": (Le(log(1 + x / 10**29), log(1 + x / 10**30)), (x,)),
    "undefined at the end": (Le(x - x**2, x * log(1 + 1 / x) + 1), (x,)),
}


def attempt(claim: Compare, over: tuple[Variable, ...]) -> Proof | None:
    return Chains().attempt(ProofProblem("test", claim, over), Budget())


@cache
def proved(name: str) -> Json:
    claim, over = TRUE[name]
    found = prove(Obligation("test", "nowhere", claim, over), provers=(Chains(),))
    assert found.verdict is Verdict.PROVED, found.reason
    return found.certificate


@pytest.mark.parametrize("name", TRUE)
def test_true_on_the_whole_domain(name: str) -> None:
    certificate = proved(name)
    assert certificate["proof"]["method"] == "chains"
    confirmation = check(certificate)
    assert confirmation.confirmed, confirmation.says


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_are_never_proved(name: str) -> None:
    found = attempt(*NEAR[name])
    assert found is None or found.verdict is Verdict.UNDECIDED


def test_letters_are_one_symbol_only_if_they_are_the_same() -> None:
    """SymPy keeps what it has worked out by its symbols: a letter of another problem stood in this one."""
    other = replace(x, unit=replace(x.unit, name="" if x.unit.name else "dimensionless"))
    assert str(other.unit) == str(x.unit)
    for y in (other, x):
        found = attempt(Le(y**2 / 2 / (1 + y / 3), (1 + y) * log(1 + y) - y), (y,))
        assert found is not None
        assert found.verdict is Verdict.PROVED


def test_steps_for_another_claim_are_refused() -> None:
    """Steps of a true claim under a claim that is false."""
    certificate = deepcopy(proved("two derivatives"))
    certificate["problem"]["claim"] = ["<=", ["num", "0"], ["mul", ["num", "-1"], ["sym", "x"]]]
    assert not check(certificate).confirmed


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("contact inside", '"upper": null', '"upper": "-2"'),  # no witness is left
        ("strictly, from an open end", '"lower_open": true', '"lower_open": false'),
        ("Gaussian tail", '["num", "1/2"], ["exp"', '["num", "1/3"], ["exp"'),
        ("Mills ratio", '"+"', '"-"'),
        ("order of Phi", '"lower": "0"', '"lower": "-1"'),
        ("a letter for a root", '"root_l"', '"epsilon"'),
    ],
)
def test_damaged_certificates_are_refused(name: str, old: str, new: str) -> None:
    text = json.dumps(proved(name))
    assert old in text
    assert not check(json.loads(text.replace(old, new))).confirmed


def test_steps_of_others_are_refused() -> None:
    """Damage at random: a part of the steps put in another's place, with seed 1; each is refused or changes nothing."""
    rng = random.Random(1)
    certificate = proved("logarithm on a compact domain")
    wrong = deepcopy(certificate)
    wrong["problem"]["claim"][2] = ["mul", ["num", "99/100"], wrong["problem"]["claim"][2]]
    steps = json.dumps(wrong["proof"]["steps"])
    for _ in range(20):
        damaged = deepcopy(wrong)
        place = rng.randrange(len(steps))
        text = steps[:place] + rng.choice(["0", "1", "2", "-"]) + steps[place + 1 :]
        try:
            damaged["proof"]["steps"] = json.loads(text)
        except ValueError:
            continue
        assert not check(damaged).confirmed


LEAF, ZERO = ["leaf"], ["num", "0"]
X, Y = ["sym", "x"], ["sym", "y"]
MINUS_X, BELOW_X = ["mul", ["num", "-1"], X], ["add", X, ["num", "-1"]]
TWICE_EXP = ["add", ["exp", Y], ["mul", ["num", "-2"], ["exp", X]]]
WRONG: dict[str, tuple[Any, Any]] = {
    "an end on neither side": (["<=", ZERO, MINUS_X], ["slope", "x", ZERO, LEAF, LEAF]),
    "an end far out that moves with x": (["<=", ZERO, X], ["slope", "x", ["-", "t", BELOW_X], LEAF, LEAF]),
    "strictly, from a limit that is 0": (
        ["<", ZERO, ["mul", ZERO, X]],
        ["slope", "x", ["-", "t", ZERO], LEAF, LEAF],
    ),
    "a small letter that is another": (
        ["<=", ZERO, ["add", ["mul", ["num", "-1/2"], Y], ["mul", ZERO, X]]],
        ["slope", "x", ["-", "y", ZERO], LEAF, LEAF],
    ),
    "another multiple of a function": (
        ["<=", ["mul", ["num", "2"], ["exp", X]], ["exp", Y]],
        ["as", [], [], TWICE_EXP, ["order", LEAF]],
    ),
    "cases that leave out where they are undefined": (
        ["<", ZERO, ["pow", X, ["num", "2"]]],
        ["cases", ["pow", X, ["num", "-1"]], LEAF, LEAF],
    ),
    "an end far out that is undefined for what is small": (
        ["<=", ZERO, ["add", ["num", "-1"], ["mul", ZERO, X]]],
        ["slope", "x", ["-", "t", ["pow", ["add", ["sym", "t"], ["num", "-1"]], ["num", "1/2"]]], LEAF, LEAF],
    ),
    "an equality": (["==", X, Y], ["leaf"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_steps_that_break_a_rule_are_refused(name: str) -> None:
    """Each claim is false, and would be shown if it were not for one condition of one rule."""
    claim, steps = WRONG[name]
    free = {"kind": "real", "lower": None, "lower_open": True, "upper": None, "upper_open": True}
    variables = [{"name": x, "unit": {"loss": "0", "length": "0"}, **free} for x in ("x", "y")]
    variables[1] |= {"lower": "0"}
    certificate = {
        "version": 1,
        "problem": {
            "variables": variables,
            "assuming": [["<=", X, Y]] * ("exp" in str(claim)),
            "claim": claim,
        },
        "verdict": "proved",
        "proof": {"method": "chains", "steps": steps},
        "witness": {"x": "1", "y": "1"},
    }
    assert not check(certificate).confirmed


def test_names_of_the_checker_are_no_letters() -> None:
    """A letter that is named as the checker names exp(x) would be known to be positive."""
    variable = dict(proved("contact inside")["problem"]["variables"][0], name="exp!0")
    claim = ["<=", ["num", "0"], ["add", ["mul", ["num", "0"], ["exp", ["sym", "exp!0"]]], ["sym", "exp!0"]]]
    problem = {"variables": [{**variable, "lower": None}], "assuming": [], "claim": claim}
    certificate = {
        "version": 1,
        "problem": problem,
        "verdict": "proved",
        "witness": {"exp!0": "1"},
        "proof": {"method": "chains", "steps": ["leaf"]},
    }
    assert not check(certificate).confirmed


def test_a_search_that_leads_nowhere_ends_after_a_number_of_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    question = places.unsatisfiable

    def counting(*args: Any, **options: Any) -> Any:
        asked.append(1)
        return question(*args, **options)

    monkeypatch.setattr(places, "unsatisfiable", counting)
    time = real("t", ge=5)
    y = 3 * (20 * log(3) + 2 * time)
    terms = [y**j / factorial(j) for j in range(9)]
    long = Obligation("o", "where", Le(exp(-y) * sum(terms[1:], terms[0]), exp(-time)), (time,))
    assert prove(long, provers=(Chains(),)).verdict is Verdict.UNDECIDED
    short = Obligation("o", "where", Le(exp(-y) * sum(terms[1:5], terms[0]), exp(-time)), (time,))
    assert prove(short, provers=(Chains(),)).verdict in Verdict
    assert 0 < len(asked) < 100
