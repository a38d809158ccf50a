"""How close a chain is to the same chain with rounded states: two divergences, for any maps and sets.

Given the state x, a step of the chain is u + Z with u = g(x) and Z standard normal, in units of the noise. A step of
the rounded chain is u + V + Z, where V comes from rounding x before the map and its image after it. The density of the
second over the first, at u + z, is rho(z) = E exp(<V, z> - |V|^2 / 2). With |V| <= r, |E V| <= b, E V V^T <= v I and
E |V|^2 <= m, and k = |z|,

    |rho - 1| <= D(k) = b k + e^(r k) max(v ((k + r)^2 - 1)_+, m) / 2     for k <= (1 - r^2) / r,
    rho >= exp(-b k - m / 2),

the first by Taylor's formula along V, the second by Jensen. As E rho = 1, powers of rho have expectations within the
second order of D: with t = rho - 1, E rho^p = 1 + E ((1 + t)^p - 1 - p t), whatever the sign of p. So the logarithm of
the ratio is of the order of the grid's spacing squared, with mean 0 up to its square, and the steps' moments multiply,
since the bounds hold at every state (and for every map that a step may draw). Noise longer than `REACH` is left
out of the moments and counted in full. Chernoff's bound turns them into hockey-stick divergences.

A release is the last state on the grid, drawn anew around each grid point with the density that falls linearly to 0 at
its neighbors. Given the point y that comes out, the state before rounding was y - W with E W = 0, so that rho has the
same form with V + W for V: the bounds of both add up.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from dpverify.checks import FloatArray

REACH = 8.5
"""Standard deviations beyond which noise is not followed; what lies there is counted against the bounds."""
_ORDERS = np.geomspace(1.0, 1e12, 289)
"""The powers of rho, less 1, at which moments are bounded."""
_CELLS = 512
"""Parts of [0, REACH] on which the moments' integrands are bounded by their larger end."""
DELTAS: FloatArray = 10.0 ** np.arange(-2, -16, -0.5)
"""Divergences at which closeness is said."""
_FINEST = 1.02
"""Factor between the roundings of a step to which bounds are computed, so that many steps share them."""
_ALLOWANCE = 1e-9
"""Relative, on moments less 1: far above their rounding."""


@dataclass(frozen=True)
class Rounding:
    """What is known of V in a step, in units of the noise's standard deviation: r, b, v, m and d of the module."""

    longest: float
    bias: float
    along: float
    total: float
    dimension: int

    @classmethod
    def of_step(
        cls,
        spacing: float,
        lipschitz: float,
        deviation: float,
        dimension: int,
        *,
        turn: float = 0.0,
        pulled: float = 0.0,
    ) -> Rounding:
        """A state and a map's image, both rounded to a grid; lengths in units of the noise, rounded up.

        Args:
            spacing: the longest edge of a cell.
            lipschitz: of the map.
            deviation: |E V|.
            dimension: d.
            turn: on rings, the angle of a cell, at most 2/3: directions turn within it, so that the variance along one
                is larger by that, relatively: with A the angle's rounding error and R the rounded distance, by
                E A^4 / 4 along the distance and by |E R^2 sin A cos A| and |E sin A| between the two directions.
            pulled: on rings, how far the mean of a rounded point is from the point: both roundings' errors then have
                a mean of their product, of at most that times the first one's length.
        """
        h, deviation = _up(spacing), _up(deviation)
        lipschitz = math.ceil(lipschitz * 128) / 128
        spread, d = lipschitz**2, dimension
        turn, both = _up(turn), math.sqrt(d) * h * lipschitz * _up(pulled)
        return cls(
            math.sqrt(d) * h * (1 + lipschitz),
            deviation,
            h**2 * (1 + turn + d * spread) / 4 + both,
            d * h**2 * (1 + spread) / 4 + both,
            d,
        )

    def released(self, spacing: float) -> Rounding:
        """With W for the release after the step; the spacing in units of the step's noise."""
        h, d = _up(spacing), self.dimension
        # a state in its cell has variance h^2 / 4 at most, a density that falls linearly on both sides h^2 / 6
        square = 5 * h**2 / 12
        return Rounding(
            self.longest + 2 * math.sqrt(d) * h, self.bias, self.along + square, self.total + d * square, d
        )


def _up(value: float) -> float:
    """The next power of `_FINEST`; 0 stays."""
    return 0.0 if value == 0 else _FINEST ** math.ceil(math.log(value) / math.log(_FINEST) - 1e-9)


@dataclass(frozen=True)
class Closeness:
    """Hockey-stick divergences between a chain and its rounded twin, the same for all data sets.

    At the epsilons `forward`, shape (k,), nats, that of the chain from its twin is at most `deltas`, which fall; at
    `backward` that of the twin from the chain. Infinite where nothing is known.
    """

    deltas: FloatArray
    forward: FloatArray
    backward: FloatArray

    def total(self, delta: float) -> float:
        """Sum of both epsilons at a delta; nats."""
        usable = self.deltas <= delta
        return float(self.forward[usable].min(initial=math.inf) + self.backward[usable].min(initial=math.inf))


def closeness(steps: Counter[Rounding]) -> Closeness:
    """For a chain with so many steps of each kind, or fewer."""
    forward, backward = np.zeros(_ORDERS.size), np.zeros(_ORDERS.size)
    lost_forward = lost_backward = 0.0
    for rounding, count in steps.items():
        (one, two), (lost, lost_twin) = _moments(rounding)
        forward += count * one
        backward += count * two
        lost_forward += count * lost
        lost_backward += count * lost_twin
    return Closeness(DELTAS, _epsilons(forward, lost_forward), _epsilons(backward, lost_backward))


def _epsilons(log_moments: FloatArray, lost: float) -> FloatArray:
    """Smallest epsilon at each delta: divergence <= lost + max_z (1 - e^-z) e^(-order z) E e^(order (loss - eps))."""
    # max over z of (1 - e^-z) e^(-order z)
    gain = -_ORDERS * np.log1p(1 / _ORDERS) - np.log1p(_ORDERS)
    left = DELTAS - lost
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = (gain + log_moments - np.log(np.maximum(left, 0.0))[:, None]) / _ORDERS
    return np.where(left > 0, np.maximum(needed.min(axis=1), 0.0), math.inf)


@lru_cache(maxsize=256)
def _moments(rounding: Rounding) -> tuple[tuple[FloatArray, FloatArray], tuple[float, float]]:
    """Logarithms of E rho^-order under the chain and of E rho^order under its twin; what both leave out."""
    r, d = rounding.longest, rounding.dimension
    ends = np.linspace(0.0, REACH, _CELLS + 1)
    survival = special.gammaincc(d / 2, ends**2 / 2)
    masses, k = survival[:-1] - survival[1:], ends[1:]
    lost, lost_twin = float(survival[-1]), float(special.gammaincc(d / 2, max(REACH - r, 0.0) ** 2 / 2))
    if not r * REACH <= 1 - r**2:
        nothing = np.full(_ORDERS.size, math.inf)
        return (nothing, nothing), (lost, lost_twin)
    # both grow with k: the right end of a part bounds all of it
    up = rounding.bias * k + np.exp(r * k) / 2 * np.maximum(
        rounding.along * np.maximum((k + r) ** 2 - 1, 0.0), rounding.total
    )
    down = np.minimum(up, -np.expm1(-rounding.bias * k - rounding.total / 2))
    with np.errstate(over="ignore", invalid="ignore"):
        chain = np.maximum(_remainder(up, -_ORDERS), _remainder(-down, -_ORDERS)) @ masses
        # under the twin one power more
        twin = _remainder(up, _ORDERS + 1) @ masses
        chain = np.log1p(chain * (1 + _ALLOWANCE) + _ORDERS * lost_twin)
        twin = np.log1p(twin * (1 + _ALLOWANCE) + (_ORDERS + 1) * lost)
    return (_known(chain), _known(twin)), (lost, lost_twin)


def _remainder(t: FloatArray, powers: FloatArray) -> FloatArray:
    """(1 + t)^p - 1 - p t, shape (powers, t), with what is lost in rounding added."""
    p = powers[:, None]
    exponents = p * np.log1p(t)
    return np.asarray(np.expm1(exponents) - p * t + 8 * 2.0**-53 * np.abs(p * t))


def _known(values: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), math.inf, values)
