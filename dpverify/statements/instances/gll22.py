"""Instances that refute statements of gll22. Losses are averaged over the records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpverify.proving.instances.instance import Evaluation, Premise
from dpverify.proving.instances.laws import (
    DensityLaw,
    FiniteLaw,
    Gaussian,
    ball,
    hockey_stick,
    integral,
    kullback_leibler_from_below,
    least_mass,
)
from dpverify.proving.instances.losses import PiecewiseQuadratic
from dpverify.statements.instances import refutes

_FAR = 60
"""A standard normal beyond this has less mass than the precision shows."""

# ------------------------------------------------------------------------------- (9), (10), Definition 3.7


_SHIFTED = "the densities of N(0, 1) and N(-1, 1)"


@refutes(
    "gll22.eq9/not-negative", says=f"{_SHIFTED}, epsilon = 1: the empty event, against the printed expression"
)
def _curve_of_a_negative_shift() -> Evaluation:
    s, epsilon = Fraction(-1), Fraction(1)
    normal = Gaussian(0, 1)
    first, second = normal.above(-(-epsilon / s + s / 2)), normal.above(-(-epsilon / s - s / 2))
    return Evaluation(0, first - ball(epsilon).exp() * second, {"s": s, "epsilon": epsilon})


@refutes(
    "gll22.eq10/not-above-the-other-half-line",
    says=f"{_SHIFTED}, z = 1/2: the printed expression, against the mass of the half line above 0",
)
def _trade_off_of_a_negative_shift() -> Evaluation:
    s, c = Fraction(-1), Fraction(0)
    P, Q = Gaussian(0, 1), Gaussian(s, 1)
    printed = P.above(-(c - s))  # Phi(Phi^-1(1 - z) - s) at z = 1/2
    return Evaluation(
        printed,
        Q.above(-c),
        {"s": s, "c": c, "z": Fraction(1, 2)},
        (Premise("the event has mass 1 - z", bool(P.above(-c).overlaps(ball(Fraction(1, 2))))),),
    )


@refutes(
    "gll22.def3.7/limit-at-one",
    says="N(0, 1) and N(1, 1): the printed expression at order 1, against the Kullback-Leibler divergence",
)
def _order_one() -> Evaluation:
    s, order = Fraction(1), 1
    P, Q = Gaussian(0, 1), Gaussian(s, 1)
    printed = (
        integral(P.density, -_FAR, _FAR).log() / order
    )  # the integral of (P/Q)^order Q, which is that of P
    return Evaluation(printed, kullback_leibler_from_below(P, Q, -_FAR, _FAR), {"s": s})


# ------------------------------------------------------------------------------- Proposition 3.3


@refutes(
    "gll22.prop3.3/only-if",
    says="P = P' uniform on [0, 1], Q and Q' with constant densities on [0, 1/4], [1/4, 1/2], [1/2, 1] and "
    "masses 1/3, 7/24, 3/8 and 3/8, 5/24, 5/12: the largest mass of an event with P(S) = 1/2",
)
def _curves_that_do_not_cross() -> Evaluation:
    P = FiniteLaw(
        {1: Fraction(1, 4), 2: Fraction(1, 4), 3: Fraction(1, 2)}
    )  # uniform on [0, 1], in three parts
    G1, G2, H1, H2 = Fraction(1, 3), Fraction(5, 8), Fraction(3, 8), Fraction(7, 12)
    Q = FiniteLaw({1: G1, 2: G2 - G1, 3: 1 - G2})
    Q2 = FiniteLaw({1: H1, 2: H2 - H1, 3: 1 - H2})
    ratios = {Fraction(law.masses[i]) / Fraction(P.masses[i]) for law in (Q, Q2) for i in P.masses}
    corners = sorted(
        {Fraction(1), *(r for r in ratios if r > 1)}
    )  # both curves are linear in e^epsilon in between
    gaps = [hockey_stick(Q2, P, E) - hockey_stick(Q, P, E) for E in corners]
    size = Fraction(1, 2)
    return Evaluation(
        1 - least_mass(P, Q, size),
        1 - least_mass(P, Q2, size),
        {"G1": G1, "G2": G2, "H1": H1, "H2": H2},
        (
            Premise("the first curve is nowhere above the second, and less at a corner",
                      all(gap >= 0 for gap in gaps) and any(gaps)),
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------- Corollary 3.12


@refutes("gll22.cor3.12/at-the-level", says="N(0, 1), alpha(x) = max(x, 0), z = 1/2, m(z) = 0 and r = 0")
def _at_the_level() -> Evaluation:
    pi, z, G, mu, r = Gaussian(0, 1), Fraction(1, 2), Fraction(1), Fraction(1), Fraction(0)
    alpha = PiecewiseQuadratic(
        (Fraction(-1), Fraction(0), Fraction(1)),
        ((Fraction(0),) * 3, (Fraction(0), Fraction(1), Fraction(0))),
    )
    level = pi.between(-_FAR, 0)  # of alpha <= 0
    above = pi.above(-_FAR)  # alpha is at least 0 everywhere
    return Evaluation(
        above,
        pi.above(r * G),
        {"r": r, "mu": mu, "G": G, "above": Fraction(1)},
        (
            Premise("alpha = max(x, 0) is G-Lipschitz", alpha.lipschitz_constant <= G),
            Premise("alpha <= 0 has mass z", bool(level.overlaps(ball(z)))),
        ),
    )


# ------------------------------------------------------------------------------- Theorems 5.6 and 6.2


@refutes(
    "gll22.thm5.6/a-step-is-made",
    says="psi(x) = x^2/2 on a line, G = 1/2, D = 0, delta = 1/4: no step is made whatever the constant, and "
    "the output is the start; the event of the start",
)
def _no_step() -> Evaluation:
    mu, G, d, D, delta, C = Fraction(1), Fraction(1, 2), 1, Fraction(0), Fraction(1, 4), 10**6
    steps = C * ball(G**2 / mu) * (ball(G**2 * (d / mu + D**2)) / ball(delta)).log() ** 2
    target = DensityLaw(-_FAR, _FAR, lambda x: (-x * x / 2).exp())
    return Evaluation(
        1 - target.probability(0, 0),  # of the event {x_0}, which has all of the output's mass
        delta,
        {"mu": mu, "G": G, "d": d, "D": D, "delta": delta, "C": C},
        (
            Premise("the number of steps is 0", bool(steps.overlaps(ball(0)) and steps < 1)),
            Premise("delta is below 1/2", delta < Fraction(1, 2)),
        ),
    )


@refutes(
    "gll22.thm6.2/set-far-away",
    says="F(x) = -6 x on [3, 4], mu = k = 2: the mean by an integral of the density",
)
def _far_from_the_origin() -> Evaluation:
    d, k, mu, D, R = 1, Fraction(2), Fraction(2), Fraction(1), Fraction(3)
    F = PiecewiseQuadratic.linear(R, R + D, -mu * R)
    law = DensityLaw(R, R + D, lambda x: (-ball(k) * (-ball(mu * R) * x + ball(mu / 2) * x * x)).exp())
    mean = law.mean(lambda x: x)
    excess = ball(-mu * R) * mean - ball(F.minimum)
    return Evaluation(
        excess,
        ball(d / k + mu * D**2 / 2),
        {"d": d, "k": k, "mu": mu, "D": D, "R": R, "m": mean},
        (Premise("F is convex; one loss, so differences are 0-Lipschitz", F.convex),),
    )


# ------------------------------------------------------------------------------- Theorem 6.8


def _one_biased_record(own_square: bool) -> Evaluation:
    """One record, +1 with probability 2/3 and else -1; losses (G/2) s x on [0, 1], plus mu x^2/2 if `own_square`."""
    n, d, k, mu, G, D = 1, 1, Fraction(1), Fraction(100), Fraction(2000), Fraction(1)
    likely = FiniteLaw({1: Fraction(2, 3), -1: Fraction(1, 3)})
    square = PiecewiseQuadratic((Fraction(0), D), ((Fraction(1, 2), Fraction(0), Fraction(0)),))
    losses = {s: PiecewiseQuadratic.linear(0, D, s * G / 2) for s in likely.masses}
    if own_square:
        losses = {s: loss.plus(square, mu) for s, loss in losses.items()}
    mean_slope = sum(Fraction(m) * s * G / 2 for s, m in likely.masses.items())
    population = PiecewiseQuadratic.linear(0, D, mean_slope)
    population = population.plus(square, mu) if own_square else population

    def of_population(x: Any) -> Any:
        return ball(mean_slope) * x + (ball(mu / 2) * x * x if own_square else 0)

    def output(s: Any) -> DensityLaw:  # either way with the regularizer mu x^2/2
        return DensityLaw(0, D, lambda x: (-ball(k) * (ball(s * G / 2) * x + ball(mu / 2) * x * x)).exp())

    outputs = {s: output(s) for s in losses}
    risk = sum((likely.mass(s) * law.mean(of_population) for s, law in outputs.items()), ball(0))
    norm2 = sum((likely.mass(s) * law.mean(lambda x: x * x) for s, law in outputs.items()), ball(0))
    best = population.minimum
    right = G / (n * mu) + d / k + (0 if own_square else mu * D**2 / 2)
    difference = losses[1].plus(losses[-1], -1)
    return Evaluation(
        risk - ball(best),
        right,
        {"n": n, "d": d, "k": k, "mu": mu, "G": G, "D": D, "F_x": risk, "F_best": best, "F_min": best,
         "norm2": norm2, "x_star": 0},
        (
            Premise("the losses are convex", all(loss.convex for loss in losses.values())),
            Premise("their difference is G-Lipschitz", difference.lipschitz_constant <= G),
            Premise("the set's diameter is D", square.breaks[-1] - square.breaks[0] == D),
            Premise("the losses are mu-strongly convex",
                      not own_square or all(loss.strong_convexity >= mu for loss in losses.values())),
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------- Claim 7.2


@refutes(
    "gll22.claim7.2/anywhere",
    says="d = 100, delta = 1 and the point -v for a v of both signs, outside the unit ball, all of whose "
    "signs are right",
)
def _far_point() -> Evaluation:
    d, delta, R = 100, Fraction(1), Fraction(1)
    v = [1 if j % 2 else -1 for j in range(d)]
    x = [-R * sign for sign in v]
    risk = delta * sum(a * b for a, b in zip(x, v, strict=True))
    least = -ball(delta) * ball(sum(sign**2 for sign in v)).sqrt()  # at -v/sqrt(d), in the unit ball
    wrong = sum((a > 0) != (-b > 0) for a, b in zip(x, v, strict=True))
    return Evaluation(
        wrong * ball(delta) / (2 * ball(d).sqrt()),
        ball(risk) - least,
        {"d": d, "delta": delta, "R": R},
        (Premise("all coordinates have a sign", all(x)),),
    )


refutes(
    "gll22.thm6.8/risk",
    says="one record, +1 with probability 2/3 and else -1, with the losses 1000 s x on [0, 1], G = 2000, mu "
    "= 100, k = 1: the mean excess loss by integrals of the densities",
)(lambda: _one_biased_record(False))
refutes(
    "gll22.thm6.8/risk-of-strongly-convex-losses",
    says="one record, +1 with probability 2/3 and else -1, with the losses 1000 s x + 50 x^2 on [0, 1], G = "
    "2000, mu = 100, k = 1: the mean excess loss by integrals of the densities",
)(lambda: _one_biased_record(True))
