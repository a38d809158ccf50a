"""What is proved of the last of T points of projected stochastic gradient descent, with every constant.

With unbiased gradients g_t at w_t of E ||g_t||^2 <= G^2, convex risks F and rates eta_1 >= ... >= eta_T > 0 (the last
of them is not used), every point w of the set has, for each s,

    sum over t = s, ..., T of 2 eta_t E (F(w_t) - F(w)) <= E ||w_s - w||^2 + G^2 (eta_s^2 + ... + eta_T^2).

Let f_t = F(w_t) - F*. The mean of eta_t f_t over the last k points is at most that over the last k + 1, and the mean of
eta_t (F(w_t) - F(w_s)) over these, divided by k, where w_s is the first of them. So, adding up (Shamir and Zhang 2013;
for all rates: Lin, Rosasco and Zhou 2016),

    eta_T f_T <= ||w_1 - w*||^2 / (2 T) + G^2 / 2 (eta_T^2 + sum over t < T of eta_t^2 / (T - t)).

Below are the sums for two rules, where sum over t < T of 1 / (t (T - t)) = 2 H_(T - 1) / T, with the harmonic number H.
"""

from __future__ import annotations

import math

from scipy.special import digamma


def falling_rates_risk(points: int, *, distance: float, norm: float, factor: float) -> float:
    """Excess risk of the last of T points, in units of the loss, for eta_t = factor / (norm sqrt(t)).

    Args:
        points: T, at least 1.
        distance: no point of the set is farther from the first one, a length.
        norm: G, loss over length.
        factor: a length; 0 only for a set of one point.
    """
    if factor == 0:
        return 0.0  # a set of one point
    growth = 1 + 2 * _harmonic(points - 1)
    return norm * (distance**2 / factor + factor * growth) / (2 * math.sqrt(points))


def best_factor(points: int, distance: float) -> float:
    """The `factor` for which that is smallest, a length."""
    return distance / math.sqrt(1 + 2 * _harmonic(points - 1))


def strongly_convex_risk(points: int, *, norm: float, strong_convexity: float) -> float:
    """Excess risk of the last of T points, in units of the loss, for eta_t = 1 / (Delta t).

    For Delta-strongly convex risks the sums without eta_t are bounded in the same way, and nothing is left of the
    distance to the first point:

        f_T <= G^2 / (2 Delta) (1 / T + sum over t < T of 1 / (t (T - t))).

    Args:
        points: T, at least 1.
        norm: G, loss over length.
        strong_convexity: Delta, loss over length^2.
    """
    return norm**2 * (1 + 2 * _harmonic(points - 1)) / (2 * strong_convexity * points)


def _harmonic(k: int) -> float:
    return float(digamma(k + 1)) + 0.5772156649015329
