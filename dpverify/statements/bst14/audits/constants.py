"""Constants in bst14's formulas: those it hides in O( ), and printed ones beside what is proved."""

from __future__ import annotations

import math

import scipy
from flint import arb

from dpverify.algorithms.bst14.gaussian_output_perturbation import (
    PRINTED_CONSTANT,
    GaussianOutputPerturbation,
)
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.samplers.constraint_nets import cover_radius
from dpverify.auditing import ConstantQuestion
from dpverify.ledger.origins import AsPrinted
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Box, ConstraintSet, Logistic, Problem, Simplex
from dpverify.statements.audit_parts import gaussian_delta, mean_problem, real_problem, sign_change
from dpverify.statements.audit_rows import constant, hidden

DELTA = 1e-5
SAMPLING_EPSILON = 2.0


def noise_variance(size: str) -> ConstantQuestion:
    """The constant hidden in Algorithm 1's noise variance."""
    n, epsilon = int(size), 1.0
    problem, _ = real_problem("breast-cancer", n=32, d=5)
    return hidden(
        "bst14.alg1",
        "sigma^2 = O( ), no constant",
        NoisyGradientDescent(problem, epsilon, DELTA).provable_constant(n),
        holds_for="this n, epsilon and delta",
        formula="sigma^2 = c L^2 n^2 ln(n/delta) ln(1/delta) / epsilon^2",
        latex=r"\sigma^2=c\,\frac{L^2n^2\ln(n/\delta)\ln(1/\delta)}{\varepsilon^2}",
        parameters={"n": size, "epsilon": f"{epsilon:g}", "delta": f"{DELTA:g}", "steps": "n^2 - 1"},
        range_fixed_by=f"accounting at n = {n}, epsilon = {epsilon:g} and delta = {DELTA:g}",
        method="accounting for one of n records per step, replace-one neighbors, n^2 - 1 steps",
    )


def sampling_risk() -> ConstantQuestion:
    """Theorem 3.2's constant: mean excess over p L ||C|| / epsilon for a linear loss in the corner of a cube."""
    n, p, epsilon = 10_000, 4, SAMPLING_EPSILON
    # the loss <w, 1> / sqrt(p) on [0, side]^p, with L = 1 and ||C|| = side sqrt(p)
    rate = epsilon * n / (2 * p)
    # coordinates are independent truncated exponentials with this rate, for side 1
    mean = 1 / rate - 1 / math.expm1(min(rate, 700.0))
    excess = n * math.sqrt(p) * mean
    return hidden(
        "bst14.thm3.2",
        "O( ), no constant",
        excess / (p * math.sqrt(p) / epsilon),
        holds_for="a linear loss on a cube",
        formula="E[L(theta) - L(theta*)] <= c p L ||C|| / epsilon",
        latex=r"\mathbb E[\mathcal L(\theta)-\mathcal L(\theta^*)]\le c\,\frac{pL\|C\|_2}{\varepsilon}",
        parameters={"n": str(n), "p": str(p), "epsilon": f"{epsilon:g}"},
        range_fixed_by="closed form at these n and p",
        method="closed form for a linear loss on a cube, where c is smallest possible; c = 2 is proved for every loss",
    )


def ball_zeta() -> ConstantQuestion:
    """From which zeta on the printed tail of the noise's norm is true, in the worst dimension."""
    smallest = float(
        scipy.optimize.brentq(
            lambda zeta: scipy.special.gammaincc(2, 2 * zeta) - math.exp(-zeta), 1.1, 2.0, xtol=1e-12
        )
    )
    return constant(
        sign_change(smallest, lambda z: (1 + 2 * z) * (-2 * z).exp() - (-z).exp()),
        1.0,
        AsPrinted("bst14.lem4.2", "zeta > 1", "every p"),
        formula="P[Gamma(p) <= zeta p] >= 1 - exp(-zeta) for zeta >= c",
        latex=r"\Pr[\Gamma(p)\le\zeta p]\ge1-e^{-\zeta}\text{ for }\zeta\ge c",
        parameters={"p": "2"},
        range_fixed_by="closed form for p = 2; larger dimensions were compared on a grid and need less",
        method="root of (1 + 2 zeta) exp(-2 zeta) = exp(-zeta)",
        decisive=True,
    )


def gaussian_noise() -> ConstantQuestion:
    """The constant in the noise of Gaussian output perturbation, against the printed 4."""
    epsilon = 1.0
    smallest = GaussianOutputPerturbation(mean_problem(2, 1.0), epsilon, DELTA).provable_constant()

    def excess(c: arb) -> arb:
        noise = (c / 4 * (arb(10) ** 5).log()).sqrt()
        return gaussian_delta(epsilon, epsilon / noise) - arb(10) ** -5

    return constant(
        sign_change(smallest, excess),
        PRINTED_CONSTANT,
        AsPrinted("bst14.thmC.1", "c = 4", "every epsilon and delta"),
        formula="sigma_0^2 = c L^2 ln(1/delta) / (Delta n epsilon)^2",
        latex=r"\sigma_0^2=c\,\frac{L^2\ln(1/\delta)}{\Delta^2n^2\varepsilon^2}",
        parameters={"epsilon": f"{epsilon:g}", "delta": f"{DELTA:g}"},
        range_fixed_by=f"closed form at epsilon = {epsilon:g} and delta = {DELTA:g}",
        method="exact Gaussian profile at L2 sensitivity 2 L / (n Delta), which is attained in the limit",
        decisive=True,
    )


def printed_epsilon() -> ConstantQuestion:
    """What the printed Gamma noise and the printed condition on Delta spend in one dimension."""
    spent = 1 + 10 * (arb(6) / 5).log()
    return constant(
        Interval(
            lower=math.nextafter(float(spent.lower()), -math.inf),
            upper=math.nextafter(float(spent.upper()), math.inf),
            rigorous=True,
        ),
        1.0,
        AsPrinted("bst14.objpert-privacy", "epsilon-DP, c = 1", "every epsilon, Delta >= beta / (2 epsilon)"),
        formula="c epsilon-DP for noise exp(-epsilon ||b|| / (2 L)) and Delta = beta / (2 epsilon)",
        latex=r"c\,\varepsilon\text{-DP for }\nu(b)\propto e^{-\varepsilon\|b\|_2/(2L)},\ "
        r"\Delta=\frac{\beta}{2\varepsilon}",
        parameters={"epsilon": "0.1", "dimension": "1"},
        range_fixed_by="closed form from the density of the minimizer, at epsilon = 0.1 in one dimension",
        method="1 + ln(1 + 2 epsilon) / epsilon, attained by a huberized hinge where a record begins to bend",
        decisive=True,
    )


def walk_steps(p: str) -> ConstantQuestion:
    """The constant hidden in Lemma 6.1's running time: the largest over n of proved steps over the printed rate."""
    dimension, worst, worst_n = int(p), 0.0, 0
    for n in (10, 100, 1000, 10_000):
        walk = GridWalk.for_privacy(Problem(Logistic(), Box.cube(dimension, 1.0)), epsilon=1.0)
        plan = walk.plan(n)
        eta_tau = plan.lipschitz * plan.edge
        rate = (eta_tau / plan.distance) ** 2 * dimension**3
        # the paper has eta tau for the logarithm of F's range; the Euclidean norm needs sqrt(p) times that
        rate *= max(dimension * math.log(eta_tau * dimension / plan.distance), eta_tau * math.sqrt(dimension))
        if plan.steps / rate > worst:
            worst, worst_n = plan.steps / rate, n
    return hidden(
        "bst14.lem6.1",
        "O( ) steps",
        worst,
        holds_for="these n, dimension and epsilon",
        formula="T = c (eta tau / epsilon~)^2 p^3 max(p ln(eta tau p / epsilon~), eta tau sqrt(p))",
        latex=r"T=c\,\frac{\eta^2\tau^2}{\tilde\varepsilon^2}\,p^3\max\left(p\ln\frac{\eta\tau p}"
        r"{\tilde\varepsilon},\,\eta\tau\sqrt p\right)",
        parameters={"p": p, "epsilon": "1", "n": f"10 to 10,000, worst at {worst_n}"},
        range_fixed_by="floating-point evaluation of the bound",
        method="the proved number of steps, from a bound on the conductance",
    )


def net_size(shape: str) -> ConstantQuestion:
    """How many points the nets have, in the form of Algorithm 8, with their radius computed and not assumed."""
    p, epsilon = 2, SAMPLING_EPSILON
    sets: dict[str, ConstraintSet] = {
        "ball": Ball(p, 1.0),
        "cube": Box.cube(p, 0.5),
        "simplex": Simplex(p + 1, 1.0),
    }
    constraint = sets[shape]
    mechanism = NetMechanism(Problem(Logistic(), constraint), epsilon)
    smallest, radii, covers = 0.0, [], True
    for n in (50, 100, 200):
        net = mechanism.net_for(n)
        radius = mechanism.theorem_radius(n)
        measured = cover_radius(net.points, constraint, cells=200_000)
        radii.append(
            f"n = {n}: {len(net.points)} points, {measured.lower / radius:.3f} of the radius allowed"
        )
        covers = covers and measured.lower <= radius * (1 + 1e-9)
        smallest = max(smallest, len(net.points) ** (1 / p) * constraint.dimension / (epsilon * n))
    return hidden(
        "bst14.alg8",
        "O((epsilon n / p)^p), no constant",
        smallest,
        holds_for="these n",
        formula="|M| <= (c epsilon n / p)^p",
        latex=r"|M|\le\left(c\,\frac{\varepsilon n}{p}\right)^{p}",
        parameters={"n": "50, 100, 200", "p": str(p), "epsilon": f"{epsilon:g}", "set": shape},
        range_fixed_by="floating-point arithmetic" if covers else "a net does not cover the set as claimed",
        method="grid of cubes; covering radius from below by a search: " + "; ".join(radii),
        requires={"each net covers the set with the stated radius": covers},
    )
