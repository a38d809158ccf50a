"""Conditions of classes of losses hold for losses of the class, and not for those of another."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import real
from dpverify.formulas.logic import free_in
from dpverify.formulas.notation import read_display, read_formula
from dpverify.formulas.vectors import vector
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.evaluation import truth
from dpverify.statements.interpolation import Sample, convex, lipschitz, smooth_convex, strongly_convex

LETTERS = (
    *(vector(name) for name in ("x", "y", "z", "g", "h")),
    *(vector(f"u{k}", latex=f"u_{k}") for k in (0, 1, 2)),
    *(real(f"f{k}", latex=f"f_{k}") for k in (0, 1, 2)),
    real("eta", gt=0, latex=r"\eta"), real("beta", gt=0, latex=r"\beta"),
    real("lambda", gt=0, latex=r"\lambda"), real("L", ge=0),
)  # fmt: skip
SAMPLES = [Sample("x", "f_0", "u_0"), Sample("y", "f_1", "u_1"), Sample("z", "f_2", "u_2")]
Function = Callable[[Fraction], tuple[Fraction, Fraction]]
"""From a coordinate to value and slope; a loss is the sum over coordinates."""


def quadratic(c: Fraction) -> Function:
    return lambda x: (c * x * x / 2, c * x)


def huber(c: Fraction) -> Function:
    """C x^2 / 2 up to 1, c (|x| - 1/2) from there on."""
    return lambda x: (
        (c * x * x / 2, c * x) if abs(x) <= 1 else (c * (abs(x) - Fraction(1, 2)), c if x > 0 else -c)
    )


def modulus(c: Fraction) -> Function:
    return lambda x: (c * abs(x), c if x >= 0 else -c)


def holds(condition: str, f: Function, rng: random.Random, **constants: Fraction) -> bool:
    """Whether a condition is true at three random points of the plane."""
    point: dict[str, object] = dict(constants)
    for k, name in enumerate("xyz"):
        place = [Fraction(rng.randint(-12, 12), 4) for _ in range(2)]
        values = [f(c) for c in place]
        point |= {
            name: tuple(place), f"f{k}": sum(value for value, _ in values), f"u{k}": tuple(slope for _, slope in values)
        }  # fmt: skip
    found = truth(read_formula(condition, LETTERS), point)
    assert found is not None
    return found


TWO = Fraction(2)
CASES = [
    (convex(SAMPLES), {}, [quadratic(TWO), huber(TWO), modulus(TWO)], [quadratic(-TWO)]),
    (
        smooth_convex(SAMPLES, r"\beta"),
        {"beta": TWO},
        [quadratic(TWO), huber(TWO)],
        [quadratic(TWO * 2), modulus(TWO)],
    ),
    (
        strongly_convex(SAMPLES, r"\lambda"),
        {"lambda": TWO},
        [quadratic(TWO), quadratic(TWO * 2)],
        [huber(TWO)],
    ),
    # the sum over two coordinates
    (lipschitz(SAMPLES, "L"), {"L": TWO * 2}, [huber(TWO), modulus(TWO)], [quadratic(TWO * 2)]),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_conditions_hold_of_the_class_and_not_of_others(case: int) -> None:
    """Deterministic: the seed is fixed, and all values are fractions."""
    condition, constants, members, others = CASES[case]
    rng = random.Random(case)
    for f in members:
        assert all(holds(condition, f, rng, **constants) for _ in range(40))
    for f in others:
        assert not all(holds(condition, f, rng, **constants) for _ in range(40))


BETA = r"\beta"
# the second point is a gradient step from the first
STEP = [Sample("x", "f_0", "g"), Sample(r"x-\eta g", "f_1", "h")]
CONSEQUENCES = {
    "a gradient step brings the value down": (
        r"f_1\le f_0-\frac{\eta}{2}\|g\|^2 \text{ for }"
        rf"{smooth_convex(STEP, BETA)}, \eta\le\frac{{1}}{{\beta}}"
    ),
    "distance to the minimizer": (
        # x is the minimizer, g the gradient at y
        r"\lambda\|x-y\|\le\|g\| \text{ for } "
        r"f_0\ge f_1+\langle g,x-y\rangle+\frac{\lambda}{2}\|x-y\|^2, f_1\ge f_0+\frac{\lambda}{2}\|x-y\|^2"
    ),
    "a Lipschitz loss": (
        rf"f_1-f_0\le L\|x-y\| \text{{ for }} {convex(SAMPLES[:2])}, {lipschitz(SAMPLES[:2], 'L')}"
    ),
}  # fmt: skip


def obligation(latex: str) -> Obligation:
    display = read_display(latex, LETTERS)
    free = free_in(display.claim).union(*map(free_in, display.given))
    return Obligation("o", "", display.claim, tuple(v for v in LETTERS if v in free), assuming=display.given)


@pytest.mark.parametrize("name", CONSEQUENCES)
def test_what_follows_is_proved(name: str) -> None:
    found = prove(obligation(CONSEQUENCES[name]))
    assert found.verdict is Verdict.PROVED, found.reason
    assert check(found.certificate).confirmed


def test_what_does_not_follow_is_refuted() -> None:
    claim = CONSEQUENCES["a Lipschitz loss"].replace(r"\le L\|x-y\|", r"\le\frac{L}{2}\|x-y\|")
    found = prove(obligation(claim))
    assert found.verdict is Verdict.REFUTED, found.reason
    assert check(found.certificate).confirmed


def test_one_point_is_not_enough() -> None:
    with pytest.raises(InvalidArgumentError, match="samples"):
        convex(SAMPLES[:1])
