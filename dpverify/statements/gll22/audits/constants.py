"""Constants that gll22 hides in O( ) and Theta( )."""

from __future__ import annotations

import math
from dataclasses import replace

from dpverify.algorithms.gll22.alternating_sampler import schedule
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import largest_spread
from dpverify.problems import Ball, Logistic, Problem
from dpverify.statements.audit_rows import Computed


def sampler_steps() -> Computed:
    """Theorem 5.6's T against G^2 / mu log^2(G^2 (d/mu + D^2) / delta), for a unit ball; mu and G as printed."""
    worst = 0.0
    for d in (1, 10, 1000):
        for temperature in (1.0, 10.0, 1000.0):
            for regularization in (0.01, 0.1, 1.0):
                density = RegularizedDensity(Problem(Logistic(), Ball(d, 1.0)), temperature, regularization)
                slope, curvature = density.lipschitz_constant, density.strong_convexity
                for accuracy in (1e-2, 1e-6):
                    size = slope**2 * (d / curvature + density.mode_distance**2) / accuracy
                    printed = slope**2 / curvature * math.log(size) ** 2
                    if slope**2 >= curvature:
                        worst = max(worst, schedule(density, accuracy).steps / printed)
    return Computed(worst, {"d": "1 to 1000", "G^2/mu": "1 to 1e5", "delta": "1e-6 to 1e-2"})


def inner_step_size() -> Computed:
    """The largest C in Lemma 5.5's eta <= C / (G^2 ln(1/delta)) that the explicit bound proves."""
    deltas = [0.49, *(10.0**-e for e in range(1, 13))]
    return Computed(
        min(largest_spread(delta) ** 2 / 2 * math.log(1 / delta) for delta in deltas),
        {"delta_inner": "1e-12 to 0.49", "G": "any", "d": "any"},
    )


def mechanism_queries() -> Computed:
    """Theorem 6.4's queries against eps^2 n^2 / ln(1/delta) ln^2(n d eps / delta), eps <= ln(1/delta)."""
    worst = 0.0
    for d in (3, 100):
        problem = Problem(Logistic(), Ball(d, 1.0))
        for epsilon in (0.1, 1.0):
            for delta in (1e-3, 1e-6):
                for n in (100, 10_000):
                    mechanism = RegularizedExponentialMechanism(
                        problem, epsilon, delta, sampler="alternating"
                    )
                    # as the theorem has it, without the expansion of the losses
                    printed = replace(mechanism.alternating_sampler(n), expanded=False)
                    (stated,) = printed.queries(n)
                    logarithms = math.log(n * d * epsilon / delta) ** 2 / math.log(1 / delta)
                    worst = max(worst, stated.count / ((epsilon * n) ** 2 * logarithms))
    return Computed(worst, {"d": "3, 100", "n": "100, 10000", "epsilon": "0.1, 1", "delta": "1e-6, 1e-3"})
