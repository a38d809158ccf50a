"""Renyi curves, and what they imply about epsilon and delta.

Every order gives a valid bound, so orders are chosen by a search in floats and the bound itself is
dp-accounting's, evaluated at the chosen order.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.privacy import quantities, rounding

RenyiCurve = Callable[[float], float]
"""Order above 1 to an upper bound on the Renyi divergence of that order, in nats."""

_FIRST_USEFUL_ORDER = 1.0101  # dp-accounting uses an order only above 1.01
_LARGEST_ORDER = 1e14
_GRID = 1 + np.geomspace(_FIRST_USEFUL_ORDER - 1, _LARGEST_ORDER, 320)
_ZOOM_ROUNDS = 9
_ZOOM_POINTS = 9
# log1p(-exp(-r)) needs exp(-r) below 1; rounding a divergence up keeps the bound valid
_SMALLEST_DIVERGENCE = 2.0**-52
_ROUNDING = 2.0**-49


@dataclass(frozen=True)
class LinearCurve:
    """epsilon(order) = slope * order up to a highest order, infinite beyond: Gaussian noise, zCDP, tCDP."""

    slope: float
    highest_order: float = math.inf

    def __post_init__(self) -> None:
        allowed = "a finite real number of at least 0"
        object.__setattr__(self, "slope", checks.number("slope", self.slope, at_least=0, allowed=allowed))
        allowed = "a real number above 1"
        highest = checks.number("highest_order", self.highest_order, above=1, finite=False, allowed=allowed)
        object.__setattr__(self, "highest_order", highest)

    def __call__(self, order: float) -> float:
        return rounding.product(self.slope, order) if order <= self.highest_order else math.inf


@dataclass(frozen=True)
class PointCurve:
    """One known point: epsilon(order') = rdp for every order' up to `order`, infinite beyond."""

    order: float
    rdp: float

    def __post_init__(self) -> None:
        order = checks.number("order", self.order, above=1, allowed="a finite real number above 1")
        rdp = checks.number("rdp", self.rdp, at_least=0, allowed="a finite real number of at least 0")
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "rdp", rdp)

    def __call__(self, order: float) -> float:
        return self.rdp if order <= self.order else math.inf


@dataclass(frozen=True)
class SumCurve:
    """Pointwise sum: adaptive composition (Mironov 2017, Proposition 1)."""

    parts: tuple[RenyiCurve, ...]

    def __call__(self, order: float) -> float:
        values = [part(order) for part in self.parts]
        return math.inf if math.inf in values else rounding.total(values)


def evaluate(curve: RenyiCurve, orders: Iterable[float]) -> FloatArray:
    """Values of a curve at many orders.

    Raises:
        InvalidDataError: if the curve returns NaN, a negative number or something that is not a number.
    """
    if isinstance(curve, LinearCurve):
        asked = np.asarray(orders, dtype=np.float64)
        with np.errstate(over="ignore"):
            values = curve.slope * asked
            raised = np.where(
                values > 0, np.nextafter(values, np.inf), math.ulp(0.0) if curve.slope > 0 else 0.0
            )
            return np.where(asked <= curve.highest_order, raised, np.inf)
    found = []
    for order in orders:
        value = curve(float(order))
        usual = type(value) is float  # asking NumPy takes long
        if (not usual and (isinstance(value, (bool, str)) or np.ndim(value) != 0)) or not value >= 0:
            raise InvalidDataError(
                "The Renyi curve must return one real number of at least 0 for each order."
            )
        found.append(float(value))
    return np.array(found)


def _highest_order(curve: RenyiCurve) -> float:
    """The last order at which a curve is known to be finite, for curves that say so."""
    if isinstance(curve, LinearCurve):
        return curve.highest_order
    if isinstance(curve, PointCurve):
        return curve.order
    if isinstance(curve, SumCurve):
        return min((_highest_order(part) for part in curve.parts), default=math.inf)
    return math.inf


def _candidates(curve: RenyiCurve, orders: tuple[float, ...] | None) -> FloatArray:
    """Orders to try first: the user's, or a fine geometric grid up to where the curve ends."""
    if orders is not None:
        return np.array(orders, dtype=np.float64)
    highest = _highest_order(curve)
    if highest == math.inf:
        return _GRID
    return np.append(_GRID[highest > _GRID], highest)


def _best_orders(
    curve: RenyiCurve,
    orders: tuple[float, ...] | None,
    log_bound: Callable[[FloatArray, FloatArray], FloatArray],
    rows: int,
) -> tuple[FloatArray, FloatArray]:
    """The order that minimizes a bound, and the curve there, for each of `rows` rows.

    `log_bound(orders, divergences)` maps arrays that broadcast to (rows, k) to that shape.
    """
    grid = _candidates(curve, orders)
    on_grid = evaluate(curve, grid)
    best = np.argmin(
        np.nan_to_num(log_bound(grid[None, :], on_grid[None, :]), nan=np.inf, posinf=np.inf), axis=1
    )
    if orders is not None:
        return grid[best], on_grid[best]
    low = np.log(grid[np.maximum(best - 1, 0)] - 1)
    high = np.log(grid[np.minimum(best + 1, grid.size - 1)] - 1)
    found, found_at = grid[best], on_grid[best]
    found_bound = log_bound(found[:, None], found_at[:, None])[:, 0]
    everywhere = np.arange(rows)
    for _ in range(_ZOOM_ROUNDS):
        points = 1 + np.exp(low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _ZOOM_POINTS))
        divergences = evaluate(curve, points.ravel()).reshape(points.shape)
        bounds = np.nan_to_num(log_bound(points, divergences), nan=np.inf, posinf=np.inf)
        k = np.argmin(bounds, axis=1)
        better = bounds[everywhere, k] < found_bound
        found = np.where(better, points[everywhere, k], found)
        found_at = np.where(better, divergences[everywhere, k], found_at)
        found_bound = np.where(better, bounds[everywhere, k], found_bound)
        low = np.log(points[everywhere, np.maximum(k - 1, 0)] - 1)
        high = np.log(points[everywhere, np.minimum(k + 1, _ZOOM_POINTS - 1)] - 1)
    return found, found_at


def _rounded_up(divergence: float) -> float:
    return divergence if divergence == 0 else max(divergence, _SMALLEST_DIVERGENCE)


def delta_from_renyi(
    curve: RenyiCurve, epsilon: ArrayLike, *, orders: tuple[float, ...] | None = None
) -> FloatArray:
    """Upper bound on the hockey-stick divergence from a Renyi curve, minimized over orders.

    Canonne, Kamath and Steinke 2020, Proposition 12, and the Bretagnolle-Huber bound sqrt(1 - exp(-KL)),
    both as in dp-accounting's `compute_delta`.

    Args:
        curve: order to Renyi divergence, nats.
        epsilon: nats, at least 0, any shape.
        orders: the only orders to use; by default all above 1, searched continuously.

    Returns:
        delta, the shape of `epsilon`.

    Raises:
        InvalidArgumentError: for a bad epsilon.
        InvalidDataError: if the curve returns anything but numbers of at least 0.
    """
    at_one = _rounded_up(_lowest(curve, orders))
    return quantities.in_blocks(
        lambda eps: _delta_block(curve, eps, orders, at_one), quantities.epsilons(epsilon)
    )


def _delta_block(
    curve: RenyiCurve, eps: FloatArray, orders: tuple[float, ...] | None, at_one: float
) -> FloatArray:
    finite = np.minimum(eps, sys.float_info.max)

    def log_bound(order: FloatArray, divergence: FloatArray) -> FloatArray:

        column = finite[:, None]
        # at order 1 the bound is NaN and not used; far out it is infinite
        with np.errstate(all="ignore"):
            bound: FloatArray = (order - 1) * (divergence - column + np.log1p(-1 / order)) - np.log(order)
        return bound

    chosen, at_chosen = _best_orders(curve, orders, log_bound, eps.size)
    from dp_accounting.rdp import rdp_privacy_accountant

    deltas = [
        rdp_privacy_accountant.compute_delta([1.0, order], [at_one, _rounded_up(value)], e)[0]
        for order, value, e in zip(chosen.tolist(), at_chosen.tolist(), finite.tolist(), strict=True)
    ]
    return np.array(deltas, dtype=np.float64)


def epsilon_from_renyi(curve: RenyiCurve, delta: float, *, orders: tuple[float, ...] | None = None) -> float:
    """Smallest epsilon (nats) that a Renyi curve proves at a delta, minimized over orders.

    dp-accounting's `compute_epsilon`, rounded up; infinity where nothing is proved, as at delta = 0.

    Raises:
        InvalidArgumentError: for a delta outside [0, 1).
        InvalidDataError: if the curve returns anything but numbers of at least 0.
    """
    target = quantities.delta(delta)
    at_one = _lowest(curve, orders)
    if at_one == 0 and np.all(evaluate(curve, _candidates(curve, orders)) == 0):
        return 0.0
    if target == 0:
        return math.inf

    def log_bound(order: FloatArray, divergence: FloatArray) -> FloatArray:

        # at order 1 the bound is NaN and not used; far out it is infinite
        with np.errstate(all="ignore"):
            bound: FloatArray = (
                divergence + np.log1p(-1 / order) - (math.log(target) + np.log(order)) / (order - 1)
            )
        return bound

    chosen, at_chosen = _best_orders(curve, orders, log_bound, 1)
    order, divergence = float(chosen[0]), _rounded_up(float(at_chosen[0]))
    from dp_accounting.rdp import rdp_privacy_accountant

    epsilon = float(
        rdp_privacy_accountant.compute_epsilon([1.0, order], [_rounded_up(at_one), divergence], target)[0]
    )
    if not 0 < epsilon < math.inf:
        return epsilon
    # each of the three terms that were added is a few units in the last place off
    terms = divergence - math.log1p(-1 / order) + abs(math.log(target * order)) / (order - 1)
    return epsilon + _ROUNDING * terms


def _lowest(curve: RenyiCurve, orders: tuple[float, ...] | None) -> float:
    """An upper bound on the Kullback-Leibler divergence: the curve at its lowest order.

    A user's curve is not asked for order 1, where textbook formulas divide by zero.
    """
    if orders is not None:
        return float(evaluate(curve, [min(orders)])[0])
    return float(evaluate(curve, [1.0 if _known_at_one(curve) else _FIRST_USEFUL_ORDER])[0])


def _known_at_one(curve: RenyiCurve) -> bool:
    if isinstance(curve, SumCurve):
        return all(_known_at_one(part) for part in curve.parts)
    return isinstance(curve, LinearCurve | PointCurve)
