"""Renyi curves, and what they imply about epsilon and delta.

Every order gives a valid bound, the optimum for that order (`joint_range`), so orders are chosen by a search in floats.

A privacy profile is convex in u = e^epsilon: P(E) - u Q(E) is affine in it for every event E and pair (P, Q), and the
profile is the largest of these (its conjugate is the trade-off function: Dong, Roth and Su 2022, Proposition 6). The
least over orders need not be: it has kinks where the curve jumps, and where only some orders are known. But if the
profile is at most d_1 at u_1 and d_2 at u_2, it is at most w d_1 + (1 - w) d_2 at w u_1 + (1 - w) u_2: chords are
bounds too. Those that bridge kinks make of the least its lower convex hull, below which convexity says nothing more.
Where only some orders are used, every kink between them is bridged; of a curve that is known by its values alone, those
that 224 orders show to be deeper than a thousandth.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.privacy import joint_range, quantities, rounding

RenyiCurve = Callable[[float], float]
"""Order above 1 to an upper bound on the Renyi divergence of that order, in nats."""

_LARGEST_ORDER = 1e14
_GRID = 1 + np.geomspace(1e-6, _LARGEST_ORDER, 56)
# a user's curve divides by the order less 1, and with it its rounding
_GRID_OF_USERS = 1 + np.geomspace(0.01, _LARGEST_ORDER, 48)
_ZOOM_ROUNDS = 5
_ZOOM_POINTS = 17
_RAISES = 40
_FEW_ROWS, _MANY_ROWS = 96, 520
_CUTS = 12
_EPSILON_ROUNDS = 4
_SEARCHES = 9
_SEARCH_POINTS = 97
_FARTHEST = 1e300  # nats; stands for an infinite epsilon
_SMALL = 1e-13  # kinks of smaller deltas are left as they are
_TABLE, _FEW = 200, 24  # orders
_DEEP = 1e-3
_BRIDGE_ROUNDS = 5
_BRIDGE_POINTS = 13
_ROUNDING = 1e-15


@dataclass(frozen=True)
class LinearCurve:
    """epsilon(order) = slope * order up to a highest order, infinite beyond: Gaussian noise, zCDP, tCDP."""

    slope: float
    highest_order: float = math.inf

    def __post_init__(self) -> None:
        checks.number_field(self, "slope", at_least=0, allowed="a finite real number of at least 0")
        checks.number_field(self, "highest_order", above=1, finite=False, allowed="a real number above 1")

    def __call__(self, order: float) -> float:
        return rounding.product(self.slope, order) if order <= self.highest_order else math.inf


@dataclass(frozen=True)
class PointCurve:
    """One known point: epsilon(order') = rdp for every order' up to `order`, infinite beyond."""

    order: float
    rdp: float

    def __post_init__(self) -> None:
        checks.number_field(self, "order", above=1, allowed="a finite real number above 1")
        checks.number_field(self, "rdp", at_least=0, allowed="a finite real number of at least 0")

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
    """Values of a curve at many orders."""
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
    """The last order at which a curve is known to be finite, for curves that state it."""
    if isinstance(curve, LinearCurve):
        return curve.highest_order
    if isinstance(curve, PointCurve):
        return curve.order
    if isinstance(curve, SumCurve):
        return min((_highest_order(part) for part in curve.parts), default=math.inf)
    return math.inf


def _useful(curve: RenyiCurve, orders: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """The only orders to use; of one known point that bounds lower orders too, its own is the best."""
    return (curve.order,) if orders is None and isinstance(curve, PointCurve) else orders


def _candidates(curve: RenyiCurve, orders: tuple[float, ...] | None) -> FloatArray:
    """Orders to try first: the user's, or a geometric grid up to where the curve ends."""
    if orders is not None:
        return np.array(orders, dtype=np.float64)
    highest = _highest_order(curve)
    grid = _GRID if _known_near_one(curve) else _GRID_OF_USERS
    return grid if highest == math.inf else np.append(grid[highest > grid], highest)


def _known_near_one(curve: RenyiCurve) -> bool:
    if isinstance(curve, SumCurve):
        return all(_known_near_one(part) for part in curve.parts)
    return isinstance(curve, LinearCurve | PointCurve)


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


def delta_from_renyi(
    curve: RenyiCurve, epsilon: ArrayLike, *, orders: tuple[float, ...] | None = None
) -> FloatArray:
    """Upper bound on the hockey-stick divergence from a Renyi curve: by the least over its orders of `joint_range`.

    Where that is not convex in e^epsilon, chords make it so (see the module). Never above Canonne, Kamath and Steinke
    2020, Proposition 12. The curve bounds both directions; by default orders are searched continuously.
    """
    only = _useful(curve, orders)

    chords = _chords(curve, only)

    def block(eps: FloatArray) -> FloatArray:
        ascending, inverse = np.unique(np.minimum(eps, _FARTHEST), return_inverse=True)
        deltas = _least(curve, ascending, only)
        for chord in chords:
            deltas = np.minimum(deltas, chord.at(ascending))
        return deltas[inverse]

    return quantities.in_blocks(block, quantities.epsilons(epsilon))


def _least(curve: RenyiCurve, ascending: FloatArray, orders: tuple[float, ...] | None) -> FloatArray:
    """The least delta over orders at rising epsilons."""
    order, divergence = _orders_for_delta(curve, ascending, orders)
    deltas = np.nextafter(np.exp(joint_range.log_delta(ascending, order, divergence)), 1.0)
    deltas = np.where(divergence == 0, 0.0, deltas)
    # neighbors may have got orders of which one is slightly better
    return quantities.falling(deltas)


@dataclass(frozen=True)
class _Chord:
    """A profile's bounds at two epsilons, and what convexity makes of them in between."""

    first: float
    last: float
    delta_first: float
    delta_last: float

    def at(self, epsilon: FloatArray) -> FloatArray:
        """The bound, rounded up; 1 outside."""
        inside = (epsilon >= self.first) & (epsilon <= self.last)
        eps = np.clip(epsilon, self.first, self.last)
        part = np.expm1(eps - self.last) / math.expm1(self.first - self.last) * (1 + 2.0**-50)
        line = self.delta_last + (self.delta_first - self.delta_last) * np.minimum(part, 1.0)
        return np.where(inside, np.minimum(line * (1 + 2.0**-50), 1.0), 1.0)

    def epsilon_at(self, delta: float) -> float:
        """Where it reaches a delta, in floats; infinity where it does not."""
        if not self.delta_last <= delta <= self.delta_first or self.delta_first == self.delta_last:
            return math.inf
        part = (delta - self.delta_last) / (self.delta_first - self.delta_last)
        left = part * math.expm1(self.first - self.last)
        return self.first if left <= -1 else max(self.first, self.last + math.log1p(left))


def _chords(curve: RenyiCurve, orders: tuple[float, ...] | None) -> tuple[_Chord, ...]:
    """The chords that make a convex hull of the least over orders."""
    one_order = orders is not None and len(orders) == 1
    if one_order or (orders is None and _known_near_one(curve)):
        return ()  # convex as it is: one convex bound, or orders without a jump
    try:
        return _chords_of(curve, orders)
    except TypeError:
        return _chords_of.__wrapped__(curve, orders)  # a curve that has no hash


@lru_cache(maxsize=128)
def _chords_of(curve: RenyiCurve, orders: tuple[float, ...] | None) -> tuple[_Chord, ...]:
    depth = _ROUNDING
    if orders is None:
        # a curve may take long to ask: at many orders once, and only what these show beyond doubt
        highest = _highest_order(curve)
        table = 1 + np.concatenate([np.geomspace(0.01, 1e3, _TABLE), np.geomspace(2e3, _LARGEST_ORDER, _FEW)])
        orders = (*table[table < highest].tolist(), *((highest,) if highest < math.inf else ()))
        curve = dict(zip(orders, evaluate(curve, orders).tolist(), strict=True)).__getitem__
        depth = _DEEP
    doubled: FloatArray = np.exp2(np.arange(-6.0, 10.0))
    enough = np.flatnonzero(_least(curve, doubled, orders) <= _SMALL)
    end = doubled[enough[0]] if enough.size else doubled[-1]
    nodes = np.unique(np.concatenate([end * np.linspace(0, 1, 65), end * np.geomspace(1e-4, 1, 31)]))
    deltas = _least(curve, nodes, orders)
    gaps = []
    if depth == _ROUNDING:
        # of a few orders each kink is between two epsilons with different ones
        best, _ = _orders_for_delta(curve, nodes, orders)
        gaps = [(int(k), int(k) + 1) for k in np.flatnonzero(np.diff(best))]
    wide = _gaps(nodes, deltas, depth)
    found = []
    for i, j in [*wide, *(cell for cell in gaps if not any(a <= cell[0] < b for a, b in wide))]:
        ends, at = nodes, deltas
        for _ in range(_BRIDGE_ROUNDS):
            near = [
                np.linspace(ends[max(k - 1, 0)], ends[min(k + 1, ends.size - 1)], _BRIDGE_POINTS)
                for k in (i, j)
            ]
            ends = np.unique(np.concatenate(near))
            at = _least(curve, ends, orders)
            hull = _hull(ends, at)
            widest = int(np.argmax(np.diff(ends[hull])))
            i, j = hull[widest], hull[widest + 1]
        found.append(_Chord(float(ends[i]), float(ends[j]), float(at[i]), float(at[j])))
    return tuple(found)


def _gaps(epsilons: FloatArray, deltas: FloatArray, depth: float = _ROUNDING) -> list[tuple[int, int]]:
    """Ends of the chords of the lower convex hull in e^epsilon that points lie above, relative to them by so much."""
    found = []
    for i, j in itertools.pairwise(_hull(epsilons, deltas)):
        if j > i + 1:
            ends = (float(v) for v in (epsilons[i], epsilons[j], deltas[i], deltas[j]))
            line = _Chord(*ends).at(epsilons[i + 1 : j])
            if np.any(line < deltas[i + 1 : j] * (1 - depth)):
                found.append((i, j))
    return found


def _hull(epsilons: FloatArray, deltas: FloatArray) -> list[int]:
    """Which points are corners of the hull."""
    at, values = epsilons.tolist(), deltas.tolist()
    hull: list[int] = []
    for k in range(len(at)):
        while len(hull) > 1:
            i, j = hull[-2], hull[-1]
            part = math.expm1(at[j] - at[k]) / math.expm1(at[i] - at[k])
            if values[k] + (values[i] - values[k]) * part >= values[j] * (1 - _ROUNDING):
                break
            hull.pop()
        hull.append(k)
    return hull


def _orders_for_delta(
    curve: RenyiCurve, eps: FloatArray, orders: tuple[float, ...] | None
) -> tuple[FloatArray, FloatArray]:
    """The best order for each of rising epsilons, and the curve there; for very many, between those of some."""
    if _FEW_ROWS < eps.size <= _MANY_ROWS:
        parts = [
            _orders_for_delta(curve, eps[k : k + _FEW_ROWS], orders) for k in range(0, eps.size, _FEW_ROWS)
        ]
        return np.concatenate([o for o, _ in parts]), np.concatenate([d for _, d in parts])
    nodes = eps if eps.size <= _FEW_ROWS else eps[np.linspace(0, eps.size - 1, _FEW_ROWS).astype(int)]

    def log_bound(order: FloatArray, divergence: FloatArray) -> FloatArray:
        return joint_range.log_delta(nodes[:, None], order, divergence, halvings=joint_range.FEW)

    order, divergence = _best_orders(curve, orders, log_bound, nodes.size)
    if nodes is eps:
        return order, divergence
    before = np.searchsorted(nodes, eps, side="right") - 1
    if orders is not None:
        return order[before], divergence[before]
    between = 1 + np.exp(np.interp(eps, nodes, np.log(order - 1)))
    at_between = evaluate(curve, between)
    good = np.isfinite(at_between)
    return np.where(good, between, order[before]), np.where(good, at_between, divergence[before])


def epsilon_from_renyi(curve: RenyiCurve, delta: float, *, orders: tuple[float, ...] | None = None) -> float:
    """Smallest epsilon (nats) that a Renyi curve proves at a delta, by `delta_from_renyi`, to 1e-13 relative.

    Rounded up; infinity where nothing is proved, as at delta = 0.
    """
    target = quantities.delta(delta)
    only = _useful(curve, orders)
    if np.all(evaluate(curve, _candidates(curve, only)) == 0):
        return 0.0
    if target == 0:
        return math.inf
    log_target = math.log(target) - 2.0**-50 * (1 - math.log(target))

    def log_bound(order: FloatArray, divergence: FloatArray) -> FloatArray:
        """Epsilon by Canonne, Kamath and Steinke's bound, in which the orders are easily compared."""
        with np.errstate(all="ignore"):
            bound: FloatArray = (
                divergence + np.log1p(-1 / order) - (math.log(target) + np.log(order)) / (order - 1)
            )
        return np.where(np.isnan(bound), np.inf, bound)

    chosen, divergences = _best_orders(curve, only, log_bound, 1)
    best = math.inf
    for _ in range(_EPSILON_ROUNDS):
        found = _epsilon_at_order(float(chosen[0]), float(divergences[0]), log_target)
        if not found < best * (1 - 1e-13):
            break
        best = found
        # an epsilon that is enough; where another order gives a lower delta, that order needs less
        chosen, divergences = _orders_for_delta(curve, np.array([best]), only)
    best = min([best, *(chord.epsilon_at(target) for chord in _chords(curve, only))])
    # found by one order, where the profile may have chosen another that is a rounding worse
    raised = best
    for k in range(_RAISES):
        if not raised < math.inf or delta_from_renyi(curve, raised, orders=orders) <= target:
            return raised
        raised = max(best * (1 + 2.0 ** (k - 50)), math.ulp(0.0))
    return best


def _epsilon_at_order(order: float, divergence: float, log_target: float) -> float:
    """Smallest epsilon at which an order proves a delta."""
    if divergence == math.inf:
        return math.inf
    ends = np.concatenate([[0.0], np.geomspace(1e-18, _FARTHEST, 320)])
    for _ in range(_SEARCHES):
        enough = np.flatnonzero(joint_range.log_delta(ends, order, divergence) <= log_target)
        if enough.size == 0 or enough[0] == 0:
            return float(ends[0]) if enough.size else math.inf
        low, high = ends[enough[0] - 1], ends[enough[0]]
        if high - low <= 1e-13 * high:
            break
        ends = low + (high - low) * np.linspace(0, 1, _SEARCH_POINTS)
        ends[-1] = high
    return float(high)


def tradeoff_from_renyi(
    curve: RenyiCurve, alpha: ArrayLike, *, orders: tuple[float, ...] | None = None
) -> FloatArray:
    """Lower bound on the type II error from a Renyi curve: the largest over its orders of `joint_range`.

    The orders are found by cutting: of a pair of errors, which order allows it least? At each such order the bound is
    computed, and the next pair is the one that it allows.
    """
    only = _useful(curve, orders)

    def block(levels: FloatArray) -> FloatArray:
        ascending, inverse = np.unique(levels, return_inverse=True)
        errors = _type_two_errors(curve, ascending, only)
        # what one level's orders prove holds at all lower levels
        return np.minimum(quantities.falling(errors), 1 - ascending)[inverse]

    return quantities.in_blocks(block, quantities.levels(alpha))


def _type_two_errors(curve: RenyiCurve, levels: FloatArray, orders: tuple[float, ...] | None) -> FloatArray:
    best: FloatArray = np.zeros(levels.size)
    grid = _candidates(curve, orders)
    at_grid = evaluate(curve, grid)
    usable = np.isfinite(at_grid)
    grid, at_grid = grid[usable], at_grid[usable]
    if grid.size == 0:
        return best
    # for the start three orders, low and high, whose bounds are nowhere 0 together
    for k in sorted({0, grid.size // 3, grid.size - 1}):
        best = np.maximum(best, joint_range.type_two_error(levels, grid[k], at_grid[k]))
    if grid.size == 1:
        return best
    for cut in range(_CUTS):

        def log_bound(order: FloatArray, divergence: FloatArray, reached: FloatArray = best) -> FloatArray:
            """The order that allows least is the one whose divergence exceeds its bound by the largest factor."""
            found = joint_range.divergence(levels[:, None], reached[:, None], order)
            with np.errstate(all="ignore"):
                return np.where(np.isfinite(divergence), -found / divergence, np.inf)

        order, divergence = _best_orders(
            curve, tuple(grid.tolist()) if orders else None, log_bound, levels.size
        )
        found = np.maximum(best, joint_range.type_two_error(levels, order, divergence))
        if cut > 0 and np.all(found <= best * (1 + 1e-12)):
            break
        best = found
    return best
