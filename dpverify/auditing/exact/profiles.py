"""Two-sided bounds on how well the last states of two noisy chains can be told apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.exact.chains import NoisyChain, StepMap, pieces_of
from dpverify.auditing.exact.closeness import REACH, Closeness, Rounding, closeness
from dpverify.auditing.exact.discs import DiscMesh
from dpverify.auditing.exact.grids import Grid, PolarGrid, window
from dpverify.auditing.exact.laws import last_laws, signature
from dpverify.auditing.exact.meshes import Mesh
from dpverify.auditing.exact.rectangles import RectangleMesh
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval
from dpverify.privacy import ProfileDP, quantities
from dpverify.problems import Ball

_UNIT = 2.0**-53
_LARGEST_EPSILON = 64.0
_BISECTED = 1e-6
"""Relative: how closely an epsilon is bisected."""
_FIRST_STEP, _STEP_GROWTH = 0.25, 1.1
"""How the search for an epsilon begins; nats."""
_COARSEST = 0.75
"""What `REACH` times a step's longest displacement is in the first grid, relative to the noise; up to about 1 works."""
_FEWEST_CELLS = 32
_SMALLEST_EPSILON = 1e-3
"""An interval for epsilon need not be narrower than the accuracy times this; nats."""
_MARGIN, _LEAST_GROWTH, _MOST_GROWTH = 1.05, 1.2, 4.0
"""How many times finer the next grid is: the root of what is missing, a little more, within limits."""
_LEVELS = 400
_SLACK = 1e-9
"""Relative, for rounding in images."""
_EVERYWHERE = np.linspace(0.0, 16.0, 65)


class _Hockey:
    """Hockey-stick divergences of two laws on the same points, at any epsilon, also below 0."""

    def __init__(self, p: FloatArray, q: FloatArray) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(p) - np.log(q)
        losses[(p == 0) & (q == 0)] = -math.inf
        order = np.argsort(-losses, kind="stable")
        self._losses = losses[order][::-1].copy()
        self._p = np.concatenate([[0.0], np.cumsum(p[order])])
        self._q = np.concatenate([[0.0], np.cumsum(q[order])])
        self.rounding = _UNIT * (p.size + 16)
        """Relative to the masses that are added up."""

    def __call__(self, epsilon: FloatArray) -> FloatArray:
        """Sum of (p - e^epsilon q)_+."""
        above = self._losses.size - np.searchsorted(self._losses, epsilon, side="right")
        return np.asarray(np.maximum(self._p[above] - np.exp(epsilon) * self._q[above], 0.0))


@dataclass(frozen=True, eq=False)
class DirectedProfile:
    """Bounds on delta(eps) = sup over events S of P(S) - e^eps Q(S), for one order of the two laws.

    Made by `last_iterate_profiles`.
    """

    _merged: _Hockey
    _apart: _Hockey
    _steps: Closeness
    _released: Closeness
    _lost: tuple[float, float]

    def delta(self, epsilon: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bound at each epsilon.

        Args:
            epsilon: nats, finite, any shape.

        Returns:
            Two arrays of the shape of `epsilon`, in [0, 1].

        Raises `InvalidArgumentError` for anything else.
        """
        eps = checks.numbers("epsilon", epsilon, allowed="finite numbers")
        low, high = np.empty(eps.shape), np.empty(eps.shape)
        for place, value in np.ndenumerate(eps):
            low[place], high[place] = self._lower(float(value)), self._upper(float(value))
        return low, np.maximum(high, low)

    def epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at a delta lies, nats; at least 0.

        Raises `InvalidArgumentError` for a delta that is not in (0, 1).
        """
        delta = checks.probability("delta", delta)
        low, high = (_where_below(bound, delta) for bound in (self._lower, self._upper))
        # the lower bound is above delta up to the left end, the upper one at most delta from the right end on
        return Interval(lower=low[0], upper=high[1])

    def tradeoff_function(self, alpha: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bound on the smallest type II error at each type I error, Q being the null hypothesis.

        Args:
            alpha: in [0, 1], any shape.

        Returns:
            Two arrays of the shape of `alpha`, in [0, 1].

        Raises `InvalidArgumentError` for anything else.
        """
        levels = quantities.levels(alpha)
        eps = np.concatenate(
            [
                [-_LARGEST_EPSILON],
                np.linspace(-_LARGEST_EPSILON / 4, _LARGEST_EPSILON / 4, _LEVELS),
                [_LARGEST_EPSILON],
            ]
        )
        low, high = self.delta(eps)
        slopes = np.exp(eps)
        lines = 1 - high - slopes * levels[..., None]
        # between two of these epsilons the profile is at least its bound at the larger one
        above = 1 - low[1:] - slopes[:-1] * levels[..., None]
        below = np.clip(lines.max(axis=-1), 0.0, 1.0)
        last = 1 - slopes[-1] * levels
        most = np.clip(np.maximum(above.max(axis=-1), last), 0.0, 1.0)
        return below, np.minimum(np.maximum(most, below), 1 - levels)

    def slack(self, epsilon: float) -> float:
        """What floats may lose of the upper bound on delta at an epsilon."""
        return float(self._slack(self._apart, np.asarray(epsilon)))

    def _slack(self, hockey: _Hockey, epsilon: FloatArray) -> FloatArray:
        growth = np.exp(epsilon)
        return np.asarray(
            self._lost[0] + growth * self._lost[1] + (1 + growth) * (hockey.rounding + 4 * _UNIT)
        )

    def _upper(self, epsilon: float) -> float:
        """H_eps(P, Q) <= H_a(P, P') + e^a H_b(P', Q') + e^(a+b) H_c(Q', Q) for a + b + c = eps."""
        near = self._released
        a, c = _finite(near.forward)[:, None], _finite(near.backward)[None, :]
        b = epsilon - a - c
        middle = self._apart(b) + self._slack(self._apart, b)
        bounds = near.deltas[:, None] + np.exp(a) * middle + np.exp(epsilon - c) * near.deltas[None, :]
        return float(min(bounds.min(initial=1.0), 1.0))

    def _lower(self, epsilon: float) -> float:
        """H_b(P', Q') <= H_a(P', P) + e^a H_eps(P, Q) + e^(a+eps) H_c(Q, Q') for b = a + eps + c, solved for H_eps."""
        near = self._steps
        a, c = _finite(near.backward)[:, None], _finite(near.forward)[None, :]
        b = epsilon + a + c
        middle = self._merged(b) - self._slack(self._merged, b)
        with np.errstate(over="ignore"):
            bounds = (middle - near.deltas[:, None]) * np.exp(-a) - math.exp(epsilon) * near.deltas[None, :]
        return float(max(bounds.max(initial=0.0), 0.0, -math.expm1(epsilon)))


def _finite(values: FloatArray) -> FloatArray:
    """An epsilon beyond all use for an infinite one: what is bounded with it is never the best."""
    return np.minimum(values, 2 * _LARGEST_EPSILON)


@dataclass(frozen=True, eq=False)
class ProfileEnclosure:
    """Bounds on the privacy profile of a pair of chains, of which the last states are released.

    Right up to floating point: sums and transforms in floats have allowances that are stated where they are made, and
    are no outward rounding.

    Attributes:
        left_over_right: the left chain's law is P, the right one's Q.
        right_over_left: the other order.
        grid: on which it was computed.
        node_steps: grid points times chains, over all steps of the last grid, for all pairs together.
    """

    left_over_right: DirectedProfile
    right_over_left: DirectedProfile
    grid: Grid | PolarGrid
    node_steps: int = field(compare=False)

    def delta(self, epsilon: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bound on the larger of both directions at each epsilon (nats, at least 0)."""
        one, other = self.left_over_right.delta(epsilon), self.right_over_left.delta(epsilon)
        return np.maximum(one[0], other[0]), np.maximum(one[1], other[1])

    def epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon for both directions lies at a delta in (0, 1); nats."""
        one, other = self.left_over_right.epsilon(delta), self.right_over_left.epsilon(delta)
        return Interval(lower=max(one.lower, other.lower), upper=max(one.upper, other.upper))

    def drowned(self, delta: float) -> bool:
        """Whether floats make up a good part of the interval's width at a delta.

        There a step in epsilon changes delta by about that, relatively, or by more.
        """
        interval = self.epsilon(delta)
        end = interval.lower if math.isinf(interval.upper) else interval.upper
        lost = max(one.slack(end) for one in (self.left_over_right, self.right_over_left))
        return 10 * lost > delta * min(interval.upper - interval.lower, 1.0)

    def guarantee(self) -> ProfileDP:
        """The upper bound as a guarantee, of these two chains only, in both directions."""
        return ProfileDP(self._largest, label="profile of one pair, enclosed")

    def _largest(self, epsilon: FloatArray) -> FloatArray:
        # a profile falls, so that a bound at a smaller epsilon serves as well
        asked = np.minimum(np.asarray(epsilon, dtype=np.float64), _LARGEST_EPSILON)
        points = np.unique(np.concatenate([asked.ravel(), _EVERYWHERE]))
        falling = np.minimum.accumulate(self.delta(points)[1])
        return np.asarray(falling[np.searchsorted(points, asked)])


def last_iterate_profile(
    left: NoisyChain, right: NoisyChain, *, delta: float, accuracy: float = 0.01, most_node_steps: float = 1e9
) -> ProfileEnclosure:
    """The profile of two chains; arguments and errors as for `last_iterate_profiles`.

    Examples:
        >>> from dpverify.auditing.exact import NoisyChain, NoisyStep, StepMap, last_iterate_profile
        >>> from dpverify.privacy import GDP
        >>> from dpverify.problems import AllSpace
        >>> def chain(record):
        ...     step = StepMap(lambda w: 0.0 * w + record, lipschitz_constant=0.0, bend=0.0, curvature=0.0)
        ...     return NoisyChain([0.0], (NoisyStep((step,), noise_stddev=1.0),), AllSpace(1))
        >>> found = last_iterate_profile(chain(0.0), chain(1.0), delta=1e-5).epsilon(1e-5)
        >>> found.lower < GDP(1.0).epsilon_at(1e-5) < found.upper  # a Gaussian against one that is shifted by 1
        True
        >>> found.upper - found.lower < 0.01 * found.upper
        True
    """
    return last_iterate_profiles(
        left, [right], delta=delta, accuracy=accuracy, most_node_steps=most_node_steps
    )[0]


def last_iterate_profiles(
    left: NoisyChain,
    rights: Sequence[NoisyChain],
    *,
    delta: float,
    accuracy: float = 0.01,
    most_node_steps: float = 1e9,
) -> list[ProfileEnclosure]:
    """Enclosures of the profiles of one chain against others, computed together on one grid.

    The grid is refined until every pair's interval for epsilon at `delta` is as narrow as asked for. Its width falls
    with the square of the spacing and grows with the root of the number of steps.

    Args:
        left: of one data set.
        rights: of its neighbors: same start, set, number of steps, noise in each step, probabilities of skipping or
            stopping. Steps that are the same object as the left chain's are computed once.
        delta: at which the accuracy is asked for, in (0, 1); the enclosures say bounds at every epsilon.
        accuracy: width of an interval for epsilon over its upper end, which counts as at least 1e-3 nats.
        most_node_steps: limit on grid points times chains times steps of one grid, about 50 ns each on a line.

    Returns:
        One enclosure for each of `rights`.

    Raises `InvalidArgumentError` for chains that do not go together, numbers out of range, maps that spread more than
    declared, and an accuracy that would take more than `most_node_steps`, with the number it would take, or that floats
    do not give.
    """
    delta = checks.probability("delta", delta)
    accuracy = checks.number("accuracy", accuracy, above=0, below=1)
    limit = checks.number("most_node_steps", most_node_steps, above=0)
    checks.of_kind("left", left, NoisyChain)
    checks.items("rights", rights, NoisyChain, "at least one NoisyChain")
    chains = [left, *rights]
    if any(signature(chain) != signature(left) for chain in rights):
        raise InvalidArgumentError(
            "rights",
            rights,
            "chains with the left one's start, set, noise and probabilities of skipping and stopping",
        )
    spacing = _first_spacing(chains)
    before = 1.0
    while True:
        grid = _grid(chains, spacing)
        found = _enclosures(chains, grid, _foreseen(chains, grid), limit, accuracy)
        worst = 0.0
        for one in found:
            interval = one.epsilon(delta)
            width = interval.upper - interval.lower
            worst = max(worst, width / max(interval.upper, _SMALLEST_EPSILON) if width < math.inf else 1.0)
        if worst <= accuracy:
            return found
        if worst >= before and any(one.drowned(delta) for one in found):
            reached = f"at least {before:.2g} here" if before < 1 else "none here"
            raise InvalidArgumentError(
                "accuracy", accuracy, f"{reached}, at delta {delta:.3g}: floats end there"
            )
        before = worst
        spacing /= min(max(_MARGIN * math.sqrt(worst / accuracy), _LEAST_GROWTH), _MOST_GROWTH)


def _first_spacing(chains: list[NoisyChain]) -> float:
    d = chains[0].dimension
    return min(
        _COARSEST / REACH * step.noise_stddev / (math.sqrt(d) * (3 + one.lipschitz_constant))
        for chain in chains
        for step in chain.steps
        for one in step.maps
    )


def _grid(chains: list[NoisyChain], spacing: float) -> Grid | PolarGrid:
    disc = chains[0].constraint
    if isinstance(disc, Ball) and disc.dimension > 1:
        center = disc.center()
        pieces = {
            piece for chain in chains for step in chain.steps for one in step.maps for piece in pieces_of(one)
        }
        moved = max(
            float(np.linalg.norm(piece.images(center[None]) - center))
            + piece.lipschitz_constant * disc.radius
            for piece in pieces
        )
        reach = max(moved, disc.radius) * (1 + _SLACK)
        return PolarGrid.finest(center.tolist(), disc.radius, reach, spacing, _FEWEST_CELLS)
    lower, upper, cut = window(chains)
    cells = tuple(
        max(math.ceil((high - low) / spacing), _FEWEST_CELLS) for low, high in zip(lower, upper, strict=True)
    )
    return Grid(lower, upper, cells, cut)


def _foreseen(chains: list[NoisyChain], grid: Grid | PolarGrid) -> float:
    """Grid points times distinct histories times steps, roughly."""
    rows = 0
    histories: dict[object, int] = {0: 0}
    of = [0] * len(chains)
    for t in range(len(chains[0].steps)):
        pairs = [(row, chain.steps[t]) for row, chain in zip(of, chains, strict=True)]
        histories = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        of = [histories[pair] for pair in pairs]
        rows += len(histories)
    return float(rows) * grid.size


def _enclosures(
    chains: list[NoisyChain], grid: Grid | PolarGrid, foreseen: float, limit: float, accuracy: float
) -> list[ProfileEnclosure]:
    if foreseen > limit:
        raise InvalidArgumentError(
            "accuracy",
            accuracy,
            f"one for which {limit:.3g} node-steps are enough; the next grid has {grid.size} points and takes "
            f"{foreseen:.3g}: ask for less accuracy, or raise most_node_steps",
        )
    mesh: Mesh[Any, Any] = RectangleMesh(grid) if isinstance(grid, Grid) else DiscMesh(grid)
    steps, released = _closeness(chains, mesh)
    laws = last_laws(chains, mesh)
    found = []
    for k in range(1, len(chains)):
        directed = [
            DirectedProfile(
                _Hockey(*mesh.coarser(laws.released[i], laws.released[j])),
                _Hockey(*mesh.finer(laws.released[i], laws.released[j])),
                steps,
                released,
                (float(laws.lost[i]), float(laws.lost[j])),
            )
            for i, j in ((0, k), (k, 0))
        ]
        found.append(ProfileEnclosure(directed[0], directed[1], grid, laws.node_steps))
    return found


def _closeness(chains: list[NoisyChain], mesh: Mesh[Any, Any]) -> tuple[Closeness, Closeness]:
    """Of the chains and their rounded twins, the worst of all chains: before the release, and with it."""
    steps = chains[0].steps
    known: dict[tuple[frozenset[StepMap], float], Rounding] = {}
    roundings = []
    for t, step in enumerate(steps):
        maps = frozenset(piece for chain in chains for one in chain.steps[t].maps for piece in pieces_of(one))
        key = maps, step.noise_stddev
        if key not in known:
            known[key] = mesh.rounding(list(maps), step.noise_stddev)
        roundings.append(known[key])
    before = Counter(roundings)
    if not mesh.redrawn:
        found = closeness(before)
        return found, found
    if chains[0].stopped is None:
        last, with_release = roundings[-1], Counter(roundings[:-1])
    else:
        # any step may be the last one: the worst comes on top of all
        last, with_release = Rounding(*map(max, zip(*map(astuple, roundings), strict=True))), before.copy()
    with_release[last.released(mesh.spacing / min(step.noise_stddev for step in steps))] += 1
    return closeness(before), closeness(with_release)


def _where_below(bound: Callable[[float], float], delta: float) -> tuple[float, float]:
    """Two epsilons close together: the bound is above delta at the first, and at most delta at the second."""
    low = 0.0
    if bound(low) <= delta:
        return low, low
    # what is lost in floats is multiplied by e^epsilon: an upper bound falls, then grows
    step = _FIRST_STEP
    while bound(high := low + step) > delta:
        if high >= _LARGEST_EPSILON:
            return low, math.inf
        low, step = high, _STEP_GROWTH * step
    while high - low > _BISECTED * high:
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle) > delta else (low, middle)
    return low, high
