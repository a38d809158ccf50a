"""Closed forms that several papers' statements are about.

Each is itself a printed statement with obligations of its own, named in its docstring.
"""

from __future__ import annotations

import sympy as sp

from dpverify.proving.language import Expression, normal_cdf


def renyi_divergence(order: object, distance: object, variance: object) -> Expression:
    """Renyi divergence of two Gaussians with equal variance, means `distance` apart (fmtt18.def10), in nats."""
    return sp.sympify(order) * sp.sympify(distance) ** 2 / (2 * sp.sympify(variance))


def hockey_stick(epsilon: object, shift: object) -> Expression:
    """Hockey-stick divergence of N(0, 1) and N(shift, 1) at epsilon, as printed (gll22.eq9)."""
    e, s = sp.sympify(epsilon), sp.sympify(shift)
    return normal_cdf(-e / s + s / 2) - sp.exp(e) * normal_cdf(-e / s - s / 2)


def density(x: object) -> Expression:
    """Density of N(0, 1)."""
    return sp.exp(-(sp.sympify(x) ** 2) / 2) / sp.sqrt(2 * sp.pi)
