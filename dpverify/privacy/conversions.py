"""Privacy profile and trade-off function, each from the other by convex duality.

For a pair (P, Q) write H(eps) for sup over events S of P(S) - exp(eps) Q(S), and f(alpha) for the smallest
type II error of a test of P against Q whose type I error is alpha. Then (Dong, Roth and Su 2022,
Proposition 2.12)

    H_QP(eps) = sup over alpha of 1 - f(alpha) - exp(eps) alpha,
    f(alpha)  = sup over eps >= 0 of
                max(0, 1 - H_QP(eps) - exp(eps) alpha, exp(-eps) (1 - H_PQ(eps) - alpha)).

A guarantee bounds both directions by one curve; where they differ, `reverse` names the other one.
Both conversions err on the safe side: profiles from above, with an allowance for rounding of 1.6e-14;
trade-off functions from below, up to a few units in the last place of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import quantities

Profile = Callable[[FloatArray], ArrayLike]
"""Epsilon in nats, any shape, to delta of the same shape."""
Tradeoff = Callable[[FloatArray], ArrayLike]
"""Type I error alpha, any shape, to the type II error of the same shape."""

_LARGEST_EXPONENT = 700.0  # exp overflows at 709.8
_EPSILON_GRID = np.concatenate([[0.0], np.geomspace(1e-9, _LARGEST_EXPONENT, 255)])
_TAIL = np.geomspace(1e-290, 0.1, 300)  # far enough from the smallest floats for 1 / alpha
_ALPHA_GRID = np.concatenate(
    [[0.0], _TAIL, np.linspace(0.12, 0.88, 39), 1 - np.geomspace(0.1, 1e-15, 29), [1.0]]
)
_ZOOM_POINTS = 9
_ZOOM_ROUNDS = 16
# Allowance on delta for rounding in `tradeoff_to_profile`, as a multiple of u = 2^-52. With weights fixed, each
# computed value v of the concave 1 - w2 f - w1 alpha is off by at most 3u: u for f, two units in the last place
# below 1, and 2u for the products and the sums, none of which exceeds 1 where the value is not negative.
# - Each round of the search may prefer a point to a better one that seems to be lower: 2 * 3u. If the maximum is
#   thereby lost, it lies in a cell of which concavity says that the value rises by at most 2 * 3u times the ratio
#   of neighboring cells, at most 10. The best point is kept in later rounds, so this is lost only once; the
#   value found is itself off by 3u. Together 69u.
# - Otherwise a secant is wrong by 3u and 2 * 3u times the ratio of cells, here at most 2: 15u.
# - The weight exp(eps) is off by u, and what it multiplies by no more than 1: u.
_ROUNDING = 70 * 2.0**-52
_LAST_EXPONENT = 20  # of the powers of two at which an epsilon is looked for


def evaluate(curve: Callable[[FloatArray], ArrayLike], at: FloatArray, *, name: str) -> FloatArray:
    """Call a user's curve on an array and refuse wrong shapes, NaN and values outside [0, 1]."""
    values = np.asarray(curve(at))
    if values.shape != at.shape or values.dtype.kind not in "iuf":
        raise InvalidDataError(f"The {name} must return real numbers of the shape it was given.")
    values = values.astype(np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise InvalidDataError(f"The {name} must return values in [0, 1]; it returned something else.")
    return values


def _zoom(objective: Callable[[FloatArray], FloatArray], grid: FloatArray, values: FloatArray) -> FloatArray:
    """Points around the maximum of unimodal functions, one function per row of `values`.

    `objective` maps points of shape (rows, k) to values of that shape, `values` is (rows, len(grid)). What
    comes back, (rows, _ZOOM_POINTS), brackets each maximum.
    """
    best = np.argmax(values, axis=1)
    low = grid[np.maximum(best - 1, 0)]
    high = grid[np.minimum(best + 1, grid.size - 1)]
    steps = np.linspace(0, 1, _ZOOM_POINTS)
    for _ in range(_ZOOM_ROUNDS):
        points: FloatArray = low[:, None] + (high - low)[:, None] * steps
        best = np.argmax(objective(points), axis=1)
        rows = np.arange(best.size)
        low = points[rows, np.maximum(best - 1, 0)]
        high = points[rows, np.minimum(best + 1, _ZOOM_POINTS - 1)]
    last: FloatArray = low[:, None] + (high - low)[:, None] * steps
    return last


def profile_to_tradeoff(
    profile: Profile, *, reverse: Profile | None = None
) -> Callable[[ArrayLike], FloatArray]:
    """Trade-off function that a privacy profile implies.

    Args:
        profile: upper bound on the hockey-stick divergence H_QP at epsilon >= 0 (nats), vectorized.
        reverse: the same for H_PQ; by default `profile` bounds both directions.

    Returns:
        A function of type I errors in [0, 1], any shape, giving a lower bound on the type II error: a
        supremum over finitely many epsilons, so never above the exact dual.

    Raises:
        InvalidArgumentError: if `profile` is not callable, and from the returned function for bad levels.
        InvalidDataError: from the returned function, if the profile's values are not in [0, 1].
    """
    for argument, curve in (("profile", profile), ("reverse", reverse)):
        if not callable(curve) and not (argument == "reverse" and curve is None):
            raise InvalidArgumentError(argument, curve, "a function of epsilon")
    other = profile if reverse is None else reverse

    def tradeoff(alpha: ArrayLike) -> FloatArray:
        return quantities.in_blocks(block, quantities.levels(alpha))

    def block(levels: FloatArray) -> FloatArray:
        flat = levels[:, None]

        def by_type_one(eps: FloatArray) -> FloatArray:
            return 1 - evaluate(profile, eps, name="privacy profile") - np.exp(eps) * flat

        def by_type_two(eps: FloatArray) -> FloatArray:
            return np.exp(-eps) * (1 - evaluate(other, eps, name="privacy profile") - flat)

        # on the coarse grid the profile is evaluated once, for all levels
        coarse = evaluate(profile, _EPSILON_GRID, name="privacy profile")
        coarse_other = coarse if other is profile else evaluate(other, _EPSILON_GRID, name="privacy profile")
        first = 1 - coarse - np.exp(_EPSILON_GRID) * flat
        second = np.exp(-_EPSILON_GRID) * (1 - coarse_other - flat)
        result = np.maximum(first.max(axis=1), second.max(axis=1))
        for objective, values in ((by_type_one, first), (by_type_two, second)):
            fine = objective(_zoom(objective, _EPSILON_GRID, values))
            result = np.maximum(result, fine.max(axis=1))
        lowered: FloatArray = np.clip(result, 0.0, 1.0 - levels)
        return lowered

    return tradeoff


def tradeoff_to_profile(tradeoff: Tradeoff, *, reverse: bool = False) -> Callable[[ArrayLike], FloatArray]:
    """Privacy profile that a trade-off function implies.

    The supremum is bounded from above, not only searched: a convex curve lies above the continuation of its
    neighboring secants, and a non-increasing one above its value at the right end of a cell. In floats the
    terms cancel to nothing in the tail, so 70 * 2^-52 = 1.6e-14 is added, and no smaller delta is ever proved.

    Args:
        tradeoff: f = T(P, Q), vectorized on [0, 1], convex and non-increasing, correct to two units in the last
            place.
        reverse: False for H_QP, True for H_PQ; equal for a symmetric curve.

    Returns:
        A function of epsilon >= 0 (nats), any shape, giving delta.

    Raises:
        InvalidArgumentError: if `tradeoff` is not callable, and from the returned function for bad epsilons.
        InvalidDataError: from the returned function, if the curve's values are not in [0, 1] or increase.
    """
    checks.require(callable(tradeoff), "tradeoff", tradeoff, "a function of the type I error")
    checks.of_kind("reverse", reverse, bool)

    def profile(epsilon: ArrayLike) -> FloatArray:
        return quantities.in_blocks(block, quantities.epsilons(epsilon))

    def block(eps: FloatArray) -> FloatArray:
        # a profile does not increase, so its value at 700 bounds what lies beyond
        factor = np.exp(np.minimum(eps, _LARGEST_EXPONENT))[:, None]
        type_one_weight, type_two_weight = (1.0, factor) if reverse else (factor, 1.0)

        def errors_at(alpha: FloatArray) -> FloatArray:
            return evaluate(tradeoff, alpha, name="trade-off function")

        def worth(errors: FloatArray, alpha: FloatArray) -> FloatArray:
            return 1 - type_two_weight * errors - type_one_weight * alpha

        coarse = errors_at(_ALPHA_GRID)
        if not np.all(np.diff(coarse) <= 1e-12):
            raise InvalidDataError("The trade-off function must not increase with the type I error.")
        alpha = _zoom(lambda alpha: worth(errors_at(alpha), alpha), _ALPHA_GRID, worth(coarse, _ALPHA_GRID))
        errors = errors_at(alpha)
        value = worth(errors, alpha)
        width = np.diff(alpha, axis=1)
        rise = np.diff(value, axis=1)
        slope = np.divide(rise, width, out=np.zeros_like(rise), where=width > 0)
        usable = width > 0
        # cell k lies between points k and k + 1; its secants are those of cells k - 1 and k + 1
        bound = worth(errors[:, 1:], alpha[:, :-1])
        from_left = value[:, 1:-1] + np.maximum(slope[:, :-1], 0) * width[:, 1:]
        bound[:, 1:] = np.where(usable[:, :-1], np.minimum(bound[:, 1:], from_left), bound[:, 1:])
        from_right = value[:, 1:-1] + np.maximum(-slope[:, 1:], 0) * width[:, :-1]
        bound[:, :-1] = np.where(usable[:, 1:], np.minimum(bound[:, :-1], from_right), bound[:, :-1])
        # the secants are computed in floats, so never below a value that is attained
        result = np.maximum(bound.max(axis=1), value.max(axis=1))
        raised: FloatArray = np.clip(np.maximum(result, 0.0) + _ROUNDING, 0.0, 1.0)
        return raised

    return profile


def smallest_epsilon(profile: Profile, delta: float) -> float:
    """Smallest epsilon >= 0 (nats) at which a non-increasing profile is at most delta, to the last float.

    The upper end of the last bracket comes back, so the profile there is at most `delta`; infinity if the
    profile is still above `delta` at 2^20.

    Raises:
        InvalidArgumentError: if `profile` is not callable or `delta` is outside [0, 1).
        InvalidDataError: if the profile's values are not in [0, 1].
    """
    checks.require(callable(profile), "profile", profile, "a function of epsilon")
    target = quantities.delta(delta)

    def at(eps: FloatArray) -> FloatArray:
        return evaluate(profile, eps, name="privacy profile")

    start = float(at(np.zeros(1))[0])
    if start <= target:
        return 0.0
    ends = 2.0 ** np.arange(-60, _LAST_EXPONENT + 1, dtype=np.float64)
    bracket = _Bracket(0.0, start, math.inf, 0.0)
    bracket.narrow(ends[_APART - 1 :: _APART], at, target)
    bracket.narrow(ends[(bracket.low < ends) & (ends < bracket.high)], at, target)
    if bracket.high == math.inf:
        return math.inf
    slow = False
    # to the last float, so that epsilons fall with delta
    while bracket.high > math.nextafter(bracket.low, math.inf):
        width = bracket.high - bracket.low
        # where it is nearly a straight line in logarithms, few points are enough; else it may have a jump
        guessed = not slow and bracket.at_high > 0
        fractions = np.clip(bracket.crossing(target) + _NEAR, 0.0, 1.0) if guessed else _EVEN
        bracket.narrow(bracket.low + width * fractions, at, target)
        slow = bracket.high - bracket.low > width / 16
    return bracket.high


_APART = 9  # exponents of the powers of two that are tried first; they are as many times that
_EVEN = np.linspace(0, 1, 34)[1:-1]
_NEAR = np.array([-(2.0**-4), -(2.0**-8), -(2.0**-14), 0.0, 2.0**-14, 2.0**-8, 2.0**-4])


@dataclass
class _Bracket:
    """Two epsilons with a profile's values there: above what is wanted at the lower, not above it at the upper one."""

    low: float
    at_low: float
    high: float
    at_high: float

    def narrow(self, points: FloatArray, at: Profile, target: float) -> None:
        """Evaluate the profile at rising points, and keep the part in which it falls to the target first."""
        if not points.size:
            return
        values = np.asarray(at(points))
        below = np.flatnonzero(values <= target)
        first = int(below[0]) if below.size else points.size
        if first < points.size:
            self.high, self.at_high = float(points[first]), float(values[first])
        if first > 0:
            self.low, self.at_low = float(points[first - 1]), float(values[first - 1])

    def crossing(self, target: float) -> float:
        """Where, as a part of the way from low to high, the logarithm of a profile would be that of the target."""
        fall = math.log(self.at_low) - math.log(self.at_high)
        return (math.log(self.at_low) - math.log(target)) / fall if fall > 0 else 0.5


def hockey_stick_divergence(p: ArrayLike, q: ArrayLike, *, epsilon: float) -> float:
    """Sum of max(0, p - exp(epsilon) q) over the outcomes of two finite distributions.

    Args:
        p: probabilities, shape (outcomes,), summing to 1 up to 1e-9.
        q: the same for the other distribution, same shape.
        epsilon: nats, at least 0.

    Returns:
        The divergence in [0, 1], up to a few units in the last place of 1.

    Raises:
        InvalidArgumentError: for anything else.
    """
    eps = quantities.epsilon(epsilon)
    masses = []
    for argument, value in (("p", p), ("q", q)):
        mass = checks.numbers(argument, value, at_least=0, at_most=1, allowed="probabilities that sum to 1")
        if mass.ndim != 1 or not abs(math.fsum(mass.tolist()) - 1) <= 1e-9:
            raise InvalidArgumentError(argument, value, "probabilities that sum to 1")
        masses.append(mass)
    first, second = masses
    checks.require(first.shape == second.shape, "q", q, "as many probabilities as p")
    # in two steps, because exp(epsilon) may overflow where its product with a small q does not; from 800 on the
    # product with every positive float exceeds 1
    half = math.exp(min(eps, 800.0) / 2)
    with np.errstate(over="ignore"):
        scaled = half * (half * second)
    return min(1.0, math.fsum(np.maximum(first - scaled, 0.0).tolist()))
