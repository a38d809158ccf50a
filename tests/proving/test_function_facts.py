"""Facts about functions: true at every point, enough for some claims, and confirmed one by one."""

from __future__ import annotations

import random
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest

from dpverify.formulas.expressions import Number, Variable, integer, real
from dpverify.formulas.notation import read_formula
from dpverify.formulas.rendering.neutral import formula_to_json
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Budget, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.provers.real_arithmetic import Fact, FunctionFacts, facts

from ..fuzz import pointwise

x, y, z = real("x"), real("y"), real("z")
a, b, c = real("a", gt=0), real("b", gt=0), real("c", gt=0)
n, p = integer("n", ge=1), integer("p", ge=1)
LETTERS = (x, y, z, a, b, c, n, p)


def obligation(claim: str, given: str = "") -> Obligation:
    formulas = [read_formula(text, LETTERS) for text in (claim, *filter(None, given.split(";")))]
    used = {v for f in formulas for v in LETTERS if f"'{v.name}'" in str(formula_to_json(f))}
    return Obligation(
        "o", "nowhere", formulas[0], tuple(sorted(used, key=LETTERS.index)), assuming=tuple(formulas[1:])
    )


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (r"a^p\le b^p", r"a\le b"),
        (r"\frac{a^p}{b^p}\le n^p", r"a\le nb"),
        (r"\log(a)\ge 1", r"\frac{1}{a}\le\frac{1}{3}"),
        (r"x\le y", r"e^{-y}\le e^{-x}"),
        (r"\Phi(x-a)=\Phi(-y-a)", r"\Phi(x)=1-z;\Phi(y)=z"),
        (r"\Phi(-\frac{a}{b}+\frac{b}{2})\le z", r"\frac{a}{b}-\frac{b}{2}\ge c;\Phi(-c)\le z"),
        (r"n\log(2)\ge\frac{69n}{100}", ""),
    ],
)
def test_what_follows_from_facts_is_proved_and_confirmed(claim: str, given: str) -> None:
    stated = obligation(claim, given)
    found = prove(stated, provers=(FunctionFacts(),))
    assert found.verdict is Verdict.PROVED
    assert found.certificate is not None
    assert found.certificate["proof"]["method"] == "facts"
    assert check(found.certificate).confirmed


@pytest.mark.parametrize(
    ("claim", "given"),
    [
        (r"x^p\le y^p", r"x\le y"),  # of negative numbers
        (r"\log(a)\ge\frac{11}{10}", r"a\ge 3"),  # just above log 3
        (r"e^x\le e^y", r"y\le x"),
        (r"\Phi(x)+\Phi(y)\le 1", r"x+y\le\frac{1}{100}"),
        (r"e^x\ge 1+2x", ""),
        (r"\frac{1}{x}\le e^{1/x}", ""),  # true wherever it is defined
    ],
)
def test_nothing_else_follows(claim: str, given: str) -> None:
    found = FunctionFacts().attempt(obligation(claim, given).problem, Budget())
    assert found is None or found.verdict is Verdict.UNDECIDED


def test_laws_hold_at_points() -> None:
    """No random verdict: every instance is true, so that there is no false alarm, whatever the points are."""
    rng = random.Random(5)
    numbers = [Number(Fraction(k, 3)) for k in (-7, -3, -1, 0, 1, 2, 3, 8)]
    laws: list[Fact] = []
    for _ in range(60):
        u, v, q = (rng.choice(numbers) for _ in range(3))
        laws += [Fact("order", f, (u, v)) for f in ("exp", "log", "phi")]
        laws += [Fact("order", "pow", (u, v, q)), Fact("reflection", "phi", (u, v))]
        laws += [Fact("tangent", f, (u,)) for f in ("exp", "log")]
    known = 0
    for law in dict.fromkeys(laws):
        found = pointwise.holds_at(formula_to_json(law.formula), {})
        assert pointwise.FALSE not in found or pointwise.TRUE in found, law
        known += found == {pointwise.TRUE}
    assert known > 50


def forged(change: Any) -> bool:
    """Whether a certificate is confirmed whose facts have been changed."""
    found = prove(obligation(r"\log(a)\ge 1", r"a\ge 3"), provers=(FunctionFacts(),))
    certificate = deepcopy(found.certificate)
    assert certificate is not None
    change(certificate)
    return check(certificate).confirmed


def test_false_facts_are_refused() -> None:
    def bound(low: str, high: str) -> Any:
        return lambda forgery: forgery["proof"]["facts"].append(
            ["value", "exp", ["num", "1"], ["num", low], ["num", high]]
        )

    assert forged(lambda _: None)
    assert forged(bound("2", "3"))
    assert not forged(bound("2", "5/2"))
    for law in (
        ["order", "sin", ["sym", "a"], ["num", "1"]],
        ["growth", "exp", ["sym", "a"]],
        ["value", "exp"],
    ):
        assert not forged(lambda forgery, law=law: forgery["proof"]["facts"].append(law))
    assert not forged(lambda forgery: forgery.update(witness={"a": "1"}))


def test_arguments_come_from_what_must_be_defined() -> None:
    def functions(claim: str, given: str = "") -> set[str]:
        stated = obligation(claim, given)
        return {f.function for f in facts(stated.claim, stated.assuming)}

    assert functions(r"e^x\le 1", r"\log(a)\le z") == {"exp", "log"}
    # of a disjunction one part may be undefined
    assert functions(r"x\le 1", r"(x\le 0\text{ or }\log(x)\le 0)") == set()


def test_a_letter_may_be_any_number() -> None:
    letter: Variable = real("t", ge=1)
    stated = Obligation("o", "nowhere", read_formula(r"\exp(t)\ge 2t", (letter,)), (letter,))
    assert prove(stated).verdict is Verdict.PROVED
