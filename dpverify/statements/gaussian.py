"""Closed forms that several papers' statements are about.

Each is itself a printed statement with obligations of its own, named in its docstring.
"""

from __future__ import annotations

from dpverify.formulas.expressions import PI, Expression, expression
from dpverify.formulas.operators import exp, normal_cdf, sqrt


def renyi_divergence(order: object, distance: object, variance: object) -> Expression:
    """Renyi divergence of two Gaussians with equal variance, means `distance` apart (fmtt18.def10), in nats."""
    return expression(order) * expression(distance) ** 2 / (2 * expression(variance))


def hockey_stick(epsilon: object, shift: object) -> Expression:
    """Hockey-stick divergence of N(0, 1) and N(shift, 1) at epsilon, as printed (gll22.eq9)."""
    e, s = expression(epsilon), expression(shift)
    return normal_cdf(-e / s + s / 2) - exp(e) * normal_cdf(-e / s - s / 2)


def density(x: object) -> Expression:
    """Density of N(0, 1)."""
    return exp(-(expression(x) ** 2) / 2) / sqrt(2 * PI)
