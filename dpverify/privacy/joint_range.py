"""What one bound on a Renyi divergence implies for delta and for tests, exactly.

Delta at an epsilon, and the type II error at a level, depend on one event only, and what an event makes of a pair of
laws is a pair of two-point laws with no larger divergences. So both optima are attained by two-point laws (p, 1 - p)
and (q, 1 - q) whose Renyi divergence of the order is at most the bound, in both directions (the joint range of
Renyi and hockey-stick divergences: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, for one direction).

With c = order - 1 and r the bound, the constraint reads

    p (p/q)^c + (1 - p) ((1 - p)/(1 - q))^c <= e^(c r),

and the same with p and q exchanged. It describes a convex set. Each tangent of its boundary is a valid bound, also
where it was found in floats that are a little off; the optimum is the lowest of them. At order 1, everything is
divided by c, of which the limit is the Kullback-Leibler divergence. Both results err on the safe side, by an allowance
for rounding that is shown where it is made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.checks import FloatArray

_UNIT = 2.0**-52
FEW = 14  # halvings that are enough to compare orders
MANY = 34
_NEWTON = 7
_RAISES = 6
_NEGLIGIBLE = 40.0  # e^-this is below the spacing of floats
_LARGEST_EXPONENT = 1e4  # e^-this is below the floats


def _exponential_over(c: FloatArray, x: FloatArray) -> FloatArray:
    """(e^(c x) - 1) / c, and x where c is 0."""
    safe = np.where(c > 0, c, 1.0)
    found: FloatArray = np.where(c > 0, np.expm1(np.where(c > 0, c * x, 0.0)) / safe, x)
    return found


def _falling_over(c: FloatArray, x: FloatArray) -> FloatArray:
    """(1 - e^(-c x)) / c, and x where c is 0."""
    return -_exponential_over(c, -x)


def _log_sinh_over(c: FloatArray, x: FloatArray) -> FloatArray:
    """log(sinh(c x) / c), and log x where c is 0."""
    found: FloatArray = c * x - np.log(2.0) + np.log(_falling_over(c, 2 * x))
    return found


def _excess(c: FloatArray, r: FloatArray, terms: tuple[tuple[FloatArray, FloatArray], ...]) -> FloatArray:
    """A sum of weights (1 in all) times e^(c x), less e^(c r), divided by the larger one of c and e^(c r)."""
    k = c * r
    large = k > 1
    near: FloatArray = np.zeros_like(k)
    far: FloatArray = near
    if not large.all():
        near = sum((w * _exponential_over(c, x) for w, x in terms), start=-_exponential_over(c, r))
    if large.any():
        far = sum((w * np.exp(np.where(w > 0, c * x - k, -np.inf)) for w, x in terms), start=np.array(-1.0))
    chosen: FloatArray = np.where(large, far, near)
    return chosen


def _searched(
    low: FloatArray, high: FloatArray, below: Callable[[FloatArray], NDArray[np.bool_]], halvings: int
) -> tuple[FloatArray, FloatArray]:
    """Halve brackets; `below(x)` tells whether the answer is above x."""
    for _ in range(halvings):
        middle = low + (high - low) / 2
        above = below(middle)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low, high


def log_delta(
    epsilon: ArrayLike, order: ArrayLike, divergence: ArrayLike, *, halvings: int = MANY
) -> FloatArray:
    """Logarithm of the largest delta at a finite epsilon (nats), where Renyi divergences of an order are bounded.

    Orders are at least 1; the bound on both directions is in nats, infinite where nothing is known; the three
    broadcast. Fewer halvings of the bracket in which the tangent is looked for give a bound that is higher.
    """
    eps, orders, bounds = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (epsilon, order, divergence))
    )
    usable = (bounds > 0) & (bounds < np.inf)
    with np.errstate(all="ignore"):
        bounded = np.where(usable, bounds, 1.0).ravel()
        found = _log_delta(eps.ravel(), orders.ravel(), bounded, halvings).reshape(eps.shape)
    found = np.where(np.isnan(found), 0.0, np.minimum(found, 0.0))
    return np.where(bounds == 0, -np.inf, np.where(usable, found, 0.0))


def _log_delta(eps: FloatArray, order: FloatArray, r: FloatArray, halvings: int) -> FloatArray:
    c = order - 1
    # at most that: x tanh(x / 2) <= r, since the divergence is at least that of order 1, where tanh(x / 2) is at least
    # x / (x + 2); and p e^(c x) <= e^(c r), where p is at least 1/2
    corner = np.minimum((r + np.hypot(r, np.sqrt(8 * r))) / 2, r + np.log(2.0) / c) * (1 + 1e-9)
    near = eps < corner
    if near.any():
        corner[near] = _corner(order[near], c[near], r[near], corner[near])
    # at the corner both directions meet, and up to this epsilon it is the optimum
    turn = _log_sinh_over(np.ones_like(c), order * corner) - np.log(order) - _log_sinh_over(c, corner)
    noise = 32 * _UNIT * (1 + order * corner + np.abs(np.log(corner)))
    at_corner = near & ((eps == 0) | (eps < turn * (1 - 1e-9) - noise))
    # with the whole of e^(c r) left to the event, which is within rounding where that is large
    found = c * r - np.log(order) - c * (eps + np.log1p(1 / c))
    found += _UNIT * (32 + 4 * c * r + 8 * c * (4 + eps) + 4 * np.abs(found))
    small = (c * r <= _NEGLIGIBLE) & ~at_corner
    if small.any():
        found[small] = _along_the_boundary(eps[small], order[small], r[small], corner[small], halvings)
    return np.where(at_corner, _at_the_corner(eps, corner), found)


def _corner(order: FloatArray, c: FloatArray, r: FloatArray, most: FloatArray) -> FloatArray:
    """x, from above, with p = 1 - q = e^x / (1 + e^x): 2 sinh(order x / 2) sinh(c x / 2) / cosh(x / 2) = e^(c r) - 1.

    It is at least r, since the divergence is at most x, and at most `most`. Newton's method in log x, in which the
    logarithm of the left side rises with a slope of at least 1; what it finds is raised until it is above.
    """
    log_target = _log_exponential_over(c, r)
    raised = log_target + _UNIT * (16 + 8 * np.abs(log_target) + 8 * c * r)

    def excess(x: FloatArray) -> FloatArray:
        left = _log_sinh_over(np.ones_like(x), order * x / 2) + _log_sinh_over(c, x / 2)
        found: FloatArray = left + 2 * np.log(2.0) - x / 2 - np.log1p(np.exp(-x)) - raised
        return found

    x = most
    for _ in range(_NEWTON):
        slope = _over_tanh(order * x / 2) + _over_tanh(c * x / 2) - x / 2 * np.tanh(x / 2)
        x = np.clip(x * np.exp(-excess(x) / np.maximum(slope, 1.0)), r, most)
    for k in range(_RAISES):
        x = np.where(excess(x) >= 0, x, np.minimum(x * (1 + 2.0 ** (4 * k - 50)), most))
    return np.where(excess(x) >= 0, x, most)


def _over_tanh(x: FloatArray) -> FloatArray:
    """The number x / tanh x, and 1 at 0."""
    return np.where(x > 0, x / np.tanh(x), 1.0)


def _log_exponential_over(c: FloatArray, x: FloatArray) -> FloatArray:
    """log((e^(c x) - 1) / c)."""
    return np.where(c * x > 1, c * x - np.log(c) + np.log1p(-np.exp(-c * x)), np.log(_exponential_over(c, x)))


def _at_the_corner(eps: FloatArray, x: FloatArray) -> FloatArray:
    """log((e^x - e^eps) / (e^x + 1)), as of x-DP."""
    found: FloatArray = np.log(-np.expm1(eps - x)) - np.log1p(np.exp(-x))
    return found + 8 * _UNIT * (1 + np.abs(found))


def _along_the_boundary(
    eps: FloatArray, order: FloatArray, r: FloatArray, corner: FloatArray, halvings: int
) -> FloatArray:
    """The tangent of slope e^eps, by the likelihood ratios p/q = e^upper and (1 - p)/(1 - q) = e^lower on it.

    For any two ratios p (e^(c upper) - e^(c lower)) order - q (..) <= e^(c r) - order e^(c lower) + c e^(order lower)
    by convexity; the slope gives one from x = upper - lower, and x is searched for. `upper` is at least epsilon, and
    above it by at most log(1 + 1/c) and x/2, and `lower` is at least -corner.
    """
    c = order - 1
    log_order = np.log(order)

    def ratios(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        upper = eps + log_order + np.log(_falling_over(c, x)) - np.log(-np.expm1(-order * x))
        return upper, upper - x

    def below(x: FloatArray) -> NDArray[np.bool_]:
        upper, lower = ratios(x)
        p = np.minimum(np.expm1(lower) / np.expm1(-x), 1.0)
        return np.asarray((lower >= 0) | (_excess(c, r, ((p, upper), (1 - p, lower))) < 0))

    start = np.maximum(eps, corner)
    rise = np.minimum(np.log1p(1 / c), eps + corner)
    x, _ = _searched(start * (1 - 1e-9), (eps + corner + rise) * (1 + 1e-9), below, halvings)
    upper, lower = ratios(x)
    lower = np.minimum(lower, 0.0)
    h = -np.expm1(lower)
    # what the other outcome takes from e^(c r): 1 - order e^(c lower) + c e^(order lower) = 1 - e^(c bend)
    bend = np.minimum(np.where(c > 0, np.log1p(c * h) / c, h) + lower, 0.0)
    k = c * r
    near = np.log(_exponential_over(c, r) - _exponential_over(c, bend) + 4 * _UNIT * h)
    far = k - np.log(c) + np.log1p(-np.exp(c * bend - k))
    found = np.where(k > 1, far, near) - log_order - c * upper - np.log(_falling_over(c, x))
    # a few units of every term, and the slope is off by a few, of which c times as much remains
    raised: FloatArray = found + _UNIT * (32 + 4 * k + 8 * c * (4 + np.abs(upper)) + 4 * np.abs(found))
    return raised


def divergence(level: ArrayLike, error: ArrayLike, order: ArrayLike) -> FloatArray:
    """The larger Renyi divergence (nats) of the two-point laws of a test with these errors, in floats, not rounded."""
    a, b, orders = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (level, error, order)))
    c = orders - 1
    with np.errstate(all="ignore"):
        gap = np.maximum(1 - a - b, 0.0)
        u, v = -np.log1p(gap / a), np.log1p(gap / b)
        found = np.zeros_like(a)
        for p, x, q, y in ((a, u, 1 - a, v), (a + gap, -u, b, -v)):
            log_sum = np.logaddexp(np.log(p) + c * x, np.log(q) + c * y)
            near = np.log1p(c * (p * _exponential_over(c, x) + q * _exponential_over(c, y)))
            both = np.where(c > 0, np.where(log_sum < 0.5, near, log_sum) / c, p * x + q * y)
            found = np.fmax(found, both)
    return found


def type_two_error(level: ArrayLike, order: ArrayLike, divergence: ArrayLike) -> FloatArray:
    """Smallest type II error at a type I error in [0, 1], rounded down; the bound as for `log_delta`."""
    a, orders, bounds = (
        np.array(part)
        for part in np.broadcast_arrays(*(np.asarray(x, float) for x in (level, order, divergence)))
    )
    with np.errstate(all="ignore"):
        c = orders - 1
        r = np.where((bounds > 0) & np.isfinite(bounds), bounds, 1.0)
        errors = np.maximum(_one_direction(a, c, r, forward=True), _one_direction(a, c, r, forward=False))
    # what has no probability on one side has none on the other
    errors = np.where((a == 0) | (a == 1), 1 - a, errors)
    return np.where(bounds == 0, 1 - a, np.where(np.isinf(bounds), 0.0, errors))


def _one_direction(a: FloatArray, c: FloatArray, r: FloatArray, *, forward: bool) -> FloatArray:
    """B = (1 - a) e^-v at the largest v that the constraint allows; 0 where it allows all."""
    k = c * r

    def allowed(log_v: FloatArray) -> NDArray[np.bool_]:
        v = np.exp(log_v)
        gap = (1 - a) * -np.expm1(-v)
        u = -np.log1p(gap / a)
        if forward:
            terms, size = ((a, u), (1 - a, v)), a * np.abs(u) + (1 - a) * v
        else:
            b = (1 - a) * np.exp(-v)
            terms, size = ((a + gap, -u), (b, -v)), (a + gap) * np.abs(u) + b * v
        # a few units of each term; where c r is large, of the exponents
        near = 8 * (size * (1 + c * (np.abs(u) + v)) + _exponential_over(c, r))
        slack = np.where(k > 1, 8 * (2 + k + c * (np.abs(u) + v)), near)
        return np.asarray(~(_excess(c, r, terms) > _UNIT * slack))

    last = np.log(_LARGEST_EXPONENT)
    _, high = _searched(np.full_like(a, -46.0), np.full_like(a, last), allowed, MANY)
    error: FloatArray = np.where(
        high >= last - 1e-9, 0.0, (1 - a) * np.exp(-np.exp(high)) * (1 - 16 * _UNIT * (1 + np.exp(high)))
    )
    return error
