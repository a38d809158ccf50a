"""Random trees, seeded, over letters of every shape that papers use."""

from __future__ import annotations

import random
from fractions import Fraction

from dpverify.formulas.expressions import (
    INFINITY,
    PI,
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
    integer,
    real,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or

REALS = (
    real("x"),
    real("y"),
    real("eta", latex=r"\eta"),
    real("d", latex="d"),
    real("distance", latex=r"\|x_0-x_0'\|"),
    real("l", latex=r"\ln(1/\delta)"),
    real("divergence", latex=r"\mathrm{D}_\alpha(X_T\|X'_T)"),
    real("moment", latex=r"\mathbb{E}\|b_t\|_2^2"),
    real("theta", latex=r"\hat\theta^*"),
    real("z_t", latex="z_{t}"),
    real("primed", latex="x_0'"),
)
INTEGERS = (integer("i"), integer("n", ge=1), integer("k_1", latex="k_1"))
LETTERS = REALS + INTEGERS
BINDABLE = tuple(v for v in LETTERS if v.name != "primed")  # the distance shows that it depends on that one
ONE = ("neg", "exp", "log", "phi", "phi_inverse", "erfc", "gamma", "factorial", "abs", "floor", "ceiling")
TWO = ("add", "sub", "mul", "div", "pow", "root", "log_base", "binomial", "max", "min")


def random_expression(rng: random.Random, depth: int) -> Expression:
    """A tree of at most this many levels."""
    if depth <= 1 or rng.random() < 0.1:
        kind = rng.random()
        if kind < 0.6:
            return rng.choice(LETTERS)
        if kind < 0.95:
            return Number(Fraction(rng.randint(-12, 12), rng.choice((1, 1, 1, 2, 4, 7))))
        return PI
    kind = rng.random()
    if kind < 0.65:
        operator = rng.choice(TWO[:5] if rng.random() < 0.7 else TWO)
        return Apply(operator, (random_expression(rng, depth - 1), random_expression(rng, depth - 1)))
    if kind < 0.82:
        return Apply(rng.choice(ONE), (random_expression(rng, depth - 1),))
    if kind < 0.92:
        first, last = (random_expression(rng, 2) for _ in range(2))
        body = random_expression(rng, depth - 1)
        which = rng.choice(("sum", "product", "integral"))
        if which == "integral":
            low = Constant("-oo") if rng.random() < 0.3 else first
            high = INFINITY if rng.random() < 0.3 else last
            return Binder("integral", body, rng.choice(BINDABLE[: len(REALS) - 1]), low, high)
        return Binder(which, body, rng.choice(INTEGERS), first, last)
    if kind < 0.96:
        return Derivative(
            random_expression(rng, depth - 1), rng.choice(BINDABLE[: len(REALS) - 1]), rng.randint(1, 3)
        )
    return At(random_expression(rng, depth - 1), rng.choice(BINDABLE), random_expression(rng, 2))


def random_formula(rng: random.Random, depth: int) -> Formula:
    """A formula of at most this many levels of words, of small expressions."""
    if depth <= 1:
        sides = (random_expression(rng, 3), random_expression(rng, 3))
        return Compare(rng.choice(("<=", "<", "==", "!=")), *sides)
    part = random_formula(rng, depth - 1)
    match rng.randrange(5):
        case 0:
            return And(
                (part, *(random_formula(rng, rng.randint(1, depth - 1)) for _ in range(rng.randint(1, 2))))
            )
        case 1:
            return Or((part, random_formula(rng, rng.randint(1, depth - 1))))
        case 2:
            return Not(part)
        case 3:
            return Implies(part, random_formula(rng, depth - 1))
        case _:
            return rng.choice((ForAll, Exists))(rng.choice(BINDABLE), part)


def letters() -> tuple[Variable, ...]:
    """What the trees are made of."""
    return LETTERS
