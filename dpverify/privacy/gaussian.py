"""The Gaussian pair N(0, 1) against N(mu, 1): hockey-stick divergence and trade-off function.

The hockey-stick divergence is evaluated in Arb balls (python-flint) whose precision grows until the ball
is narrower than a float, because in floats the two terms of gll22 (9) cancel to nothing in the tail.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import quantities

if TYPE_CHECKING:
    from flint import arb

_WANTED_BITS = 60  # a float has 53
_FIRST_PRECISION = 96
# Phi(-39) is about 1e-333, less than half of the smallest float
_UNDERFLOW_QUANTILE = 39.0
# Phi(-9) is about 1e-19, less than half of the spacing of floats below 1
_SATURATION_QUANTILE = 9.0
# from here on the tail's asymptotic series is good to more than 60 bits within its first terms
_FAR_TAIL = 1000.0
_TAIL_TERMS = 10
_SLACK = 1e-12  # relative, for rounding in floats
_FARTHEST = 1e300  # stands for an infinite epsilon where two infinities would meet


def _mills_ratio(t: arb) -> arb:
    """Gaussian tail over density at t >= 1000, as a ball: 1/t - 1/t^3 + 3/t^5 - .., each term of which overshoots."""
    from flint import arb

    term = total = 1 / t
    for k in range(1, _TAIL_TERMS):
        term = -term * (2 * k - 1) / t**2
        total += term
    error = abs(term * (2 * _TAIL_TERMS - 1) / t**2)
    return total + arb(0, 1) * error


@lru_cache(maxsize=8)
def _constants(precision: int) -> tuple[arb, arb]:
    """1 / sqrt(2) and 1 / sqrt(2 pi), as balls of about this many bits."""
    from flint import arb, ctx

    with ctx.workprec(precision):
        return 1 / arb(2).sqrt(), 1 / (2 * arb.pi()).sqrt()


# a curve is asked for at the same places again and again
@lru_cache(maxsize=1 << 16)
def _hockey_stick(epsilon: float, mu: float) -> float:
    """One value, rounded once from a ball that is narrower than a float's spacing."""
    if mu == 0 or epsilon == math.inf:
        # at mu = infinity the pair is disjoint, whatever epsilon
        return 1.0 if mu == math.inf else 0.0
    if mu == math.inf:
        return 1.0
    from flint import arb, ctx  # needed for Gaussian claims only

    precision = _FIRST_PRECISION
    while True:
        inverse_root2, density_at_0 = _constants(precision)
        with ctx.workprec(precision):
            epsilon_ball, mu_ball = arb(epsilon), arb(mu)
            half, ratio = mu_ball / 2, epsilon_ball / mu_ball
            near = ratio - half
            # delta <= Phi(-near), so far out the answer is the float 0
            if near > _UNDERFLOW_QUANTILE:
                return 0.0
            # 1 - delta is less than twice Phi(near)
            if near < -_SATURATION_QUANTILE:
                return 1.0
            if near.rad() > 1:
                # the ratio is not yet known well enough to be worth the functions of it
                precision *= 2
                continue
            far = ratio + half
            upper = (near * inverse_root2).erfc()
            if far > _FAR_TAIL:
                # exp(epsilon) times the density at `far` is the density at `near`
                lower = 2 * (-(near**2) / 2).exp() * density_at_0 * _mills_ratio(far)
            else:
                lower = epsilon_ball.exp() * (far * inverse_root2).erfc()
            value = (upper - lower) / 2
            # judged on the ball itself: another thread may have changed the precision meanwhile
            if value.rel_accuracy_bits() >= _WANTED_BITS:
                return min(max(float(value), 0.0), 1.0)
        precision *= 2


@overload
def gaussian_hockey_stick(epsilon: float, mu: float) -> float: ...
@overload
def gaussian_hockey_stick(epsilon: ArrayLike, mu: ArrayLike) -> float | FloatArray: ...
def gaussian_hockey_stick(epsilon: ArrayLike, mu: ArrayLike) -> float | FloatArray:
    """Hockey-stick divergence of N(mu, 1) from N(0, 1), the same in both directions.

    Equal to Phi(-epsilon/mu + mu/2) - exp(epsilon) Phi(-epsilon/mu - mu/2): gll22 (9); Balle and Wang 2018,
    Theorem 8. Rounded once to a float; the value is 0 only where the true one is below the floats.

    Args:
        epsilon: nats, at least 0, any shape.
        mu: distance of the means over the standard deviation, dimensionless, at least 0; broadcast
            against `epsilon`. Infinity stands for disjoint outputs.

    Returns:
        delta in [0, 1], a float for scalar arguments, otherwise the broadcast shape.

    Raises:
        InvalidArgumentError: for anything outside these ranges, NaN, bools or shapes that do not broadcast.
    """
    eps, mus = _with_mu(quantities.epsilons(epsilon), mu, "epsilon")
    if eps.ndim == 0:
        return _hockey_stick(float(eps), float(mus))
    values = [_hockey_stick(e, m) for e, m in zip(eps.ravel().tolist(), mus.ravel().tolist(), strict=True)]
    return np.array(values, dtype=np.float64).reshape(eps.shape)


def _with_mu(values: FloatArray, mu: ArrayLike, name: str) -> tuple[FloatArray, FloatArray]:
    """The values of an argument and those of mu, broadcast."""
    mus = checks.numbers("mu", mu, at_least=0, finite=False, allowed="real numbers of at least 0")
    try:
        values, mus = np.broadcast_arrays(values, mus)
    except ValueError:
        raise InvalidArgumentError("mu", mu, f"a shape that broadcasts against {name}") from None
    return values, mus


def gaussian_hockey_stick_from_above(epsilon: FloatArray, mu: float) -> FloatArray:
    """`gaussian_hockey_stick` in plain floats, a hundred times faster, plus more than its rounding.

    The second term's relative error is that of its logarithm, a difference of two numbers that are each a few
    units in the last place off; the first term's is below that or some 1e-14. Many times as much is added, as a
    part of the larger term, which is itself an upper bound. For mu in [0, 40).
    """
    from scipy import special

    if mu == 0:
        return np.zeros_like(epsilon)
    finite = np.minimum(epsilon, _FARTHEST)
    with np.errstate(over="ignore"):
        first = special.ndtr(mu / 2 - finite / mu)
        logarithm = special.log_ndtr(-mu / 2 - finite / mu)
        second = np.exp(np.minimum(finite + logarithm, 0.0))
        part = np.clip(2.0**-49 * (finite - logarithm), _SLACK, 1.0)
    raised = np.maximum(first - second, 0.0) + part * first
    above: FloatArray = np.minimum(raised, (1 + _SLACK) * first)
    return above


@overload
def gaussian_tradeoff(alpha: float, mu: float) -> float: ...
@overload
def gaussian_tradeoff(alpha: ArrayLike, mu: ArrayLike) -> float | FloatArray: ...
def gaussian_tradeoff(alpha: ArrayLike, mu: ArrayLike) -> float | FloatArray:
    """Trade-off function of N(0, 1) against N(mu, 1): Phi(Phi^-1(1 - alpha) - mu), gll22 (10).

    Args:
        alpha: type I error in [0, 1], any shape.
        mu: dimensionless, at least 0, broadcast against `alpha`; infinity stands for disjoint outputs.

    Returns:
        The smallest type II error, a float for scalar arguments.

    Raises:
        InvalidArgumentError: for anything outside these ranges, NaN, bools or shapes that do not broadcast.
    """
    from scipy import special

    level, mus = _with_mu(quantities.levels(alpha), mu, "alpha")
    # -ndtri(alpha) is ndtri(1 - alpha) without the rounding of 1 - alpha
    quantile = -special.ndtri(level)
    with np.errstate(invalid="ignore"):
        errors = np.where(np.isinf(mus), 0.0, special.ndtr(quantile - np.where(np.isinf(mus), 0.0, mus)))
    return float(errors) if errors.ndim == 0 else errors
