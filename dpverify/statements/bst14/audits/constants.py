"""Constants in bst14's formulas: those it hides in O( ), and printed ones beside what is proved."""

from __future__ import annotations

import math

import scipy
from flint import arb

from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation
from dpverify.algorithms.samplers.constraint_nets import cover_radius
from dpverify.auditing.accountants.references import gaussian_excess
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Box, ConstraintSet, Logistic, Problem, Simplex
from dpverify.statements.audit_parts import mean_problem, real_problem, sign_change
from dpverify.statements.audit_rows import Computed, largest
from dpverify.statements.bst14.audits import rates

DELTA = 1e-5
SAMPLING_EPSILON = 2.0


def noise_variance(size: str) -> Computed:
    """The constant hidden in Algorithm 1's noise variance."""
    n, epsilon = int(size), 1.0
    problem, _ = real_problem("breast-cancer", n=32, d=5)
    return Computed(
        NoisyGradientDescent(problem, epsilon, DELTA).provable_constant(n),
        {"n": size, "epsilon": epsilon, "delta": DELTA, "steps": "n^2 - 1"},
    )


def sampling_risk() -> Computed:
    """Theorem 3.2's constant: mean excess over p L ||C|| / epsilon of a distance to the corner of a cube."""
    (*_, last) = rates.sampling_risk()
    assert last.attained is not None
    return Computed(last.attained / last.rate, dict(last.at))


def ball_zeta() -> Computed:
    """From which zeta on the printed tail of the noise's norm is true, in the worst dimension."""
    smallest = float(
        scipy.optimize.brentq(
            lambda zeta: scipy.special.gammaincc(2, 2 * zeta) - math.exp(-zeta), 1.1, 2.0, xtol=1e-12
        )
    )
    return Computed(sign_change(smallest, lambda z: (1 + 2 * z) * (-2 * z).exp() - (-z).exp()), {"p": "2"})


def gaussian_noise() -> Computed:
    """The constant in the noise of Gaussian output perturbation, against the printed 4."""
    epsilon = 1.0
    smallest = GaussianOutputPerturbation(mean_problem(2, 1.0), epsilon, DELTA).provable_constant()

    def excess(c: arb) -> arb:
        noise = (c / 4 * (arb(10) ** 5).log()).sqrt()
        return gaussian_excess(epsilon / noise, epsilon, 1e-5)

    return Computed(sign_change(smallest, excess), {"epsilon": epsilon, "delta": DELTA})


def printed_epsilon() -> Computed:
    """What the printed Gamma noise and the printed condition on Delta spend in one dimension."""
    spent = 1 + 10 * (arb(6) / 5).log()
    return Computed(
        Interval(
            lower=math.nextafter(float(spent.lower()), -math.inf),
            upper=math.nextafter(float(spent.upper()), math.inf),
            rigorous=True,
        ),
        {"epsilon": "0.1", "dimension": "1"},
    )


def walk_steps(p: str) -> Computed:
    """The constant hidden in Lemma 6.1's running time, in this dimension."""
    return largest(one for one in rates.walk_steps() if one.at["p"] == int(p))


def net_size(shape: str) -> Computed:
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
    return Computed(
        smallest,
        {"n": "50, 100, 200", "p": p, "epsilon": epsilon, "set": shape},
        requires={"each net covers the set with the stated radius": covers},
        words={"radii": "; ".join(radii)},
    )
