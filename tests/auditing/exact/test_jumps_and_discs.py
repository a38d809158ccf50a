"""Exact profiles of maps with jumps, and on discs, against quadratures that round no states, and other meshes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from dpverify.auditing.exact import (
    NoisyChain,
    NoisyStep,
    PiecewiseMap,
    ProfileEnclosure,
    StepMap,
    closeness,
    gradient_step,
    last_iterate_profile,
    last_iterate_profiles,
    profiles,
)
from dpverify.auditing.exact.discs import DiscMesh, _Released
from dpverify.auditing.exact.grids import Grid, PolarGrid, Rings
from dpverify.auditing.exact.rectangles import RectangleLaws, RectangleMesh
from dpverify.auditing.exact.sides import Split
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box

from .quadratures import Law, on_disc, on_interval, on_square, profile_of

EPSILONS = np.array([0.0, 0.05, 0.2, 0.5, 1.0])
DELTA = 1e-5


def hinge(x: Sequence[float], sign: float, rate: float, ridge: float = 0.0) -> PiecewiseMap:
    """A step on max(0, 1 - sign <w, x>) with a ridge."""
    record = np.asarray(x)
    kept = 1 - rate * ridge

    def step(w: FloatArray) -> FloatArray:
        active = sign * (w @ record) < 1
        return np.asarray(kept * w + rate * sign * active[:, None] * record)

    moved, still = (
        StepMap(lambda w, by=by: kept * w + rate * sign * by * record, kept, 0.0, 0.0) for by in (1.0, 0.0)
    )
    return PiecewiseMap(step, (moved, still) if sign > 0 else (still, moved), x, [sign])


def missed(found: ProfileEnclosure, left: Law, right: Law, off: float) -> bool:
    """Whether a profile that is right up to `off` lies outside in either direction."""
    outside = False
    for direction, truth in (
        (found.left_over_right, profile_of(left, right, EPSILONS)),
        (found.right_over_left, profile_of(right, left, EPSILONS)),
    ):
        low, high = direction.delta(EPSILONS)
        outside |= bool(np.any(low > truth + off) or np.any(high < truth - off))
    return outside


@pytest.mark.parametrize(
    ("records", "low", "high", "ridge"),
    [
        ((0.9, -0.8, 0.7), -2.0, 1.5, 0.0),
        ((0.9, -0.8, 0.7), -2.0, 1.5, 0.3),
        # kinks that lie at the ends of the set: a projected state is on them
        ((1.0, -1.0, 1.0), -1.0, 1.0, 0.0),
        ((1.0, -0.5, 0.8), -1.3, 1.25, 0.0),
    ],
)
def test_jumps_on_an_interval(records: tuple[float, ...], low: float, high: float, ridge: float) -> None:
    maps = [hinge([x], sign, 0.8, ridge) for x, sign in zip(records, (1.0, 1.0, -1.0), strict=True)]
    one, other, last = (NoisyStep((each,), 0.4) for each in maps)
    mixed = NoisyStep(tuple(maps), 0.4)
    left = NoisyChain([0.1], (one, one, mixed, last), Box((low,), (high,)))
    right = replace(left, steps=(one, other, mixed, last))
    found = last_iterate_profile(left, right, delta=DELTA, accuracy=0.003)
    assert not missed(found, on_interval(left), on_interval(right), 1e-8)
    low_delta, high_delta = found.delta(EPSILONS)
    assert np.all(high_delta - low_delta < 1e-3)


def test_states_that_lose_their_side_put_the_truth_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jumps on both sides of a node, close to it: by its node alone the mass of a whole cell would move."""
    spacing = 0.005
    still, up = (StepMap(lambda w, by=by: w + by, 1.0, 0.0, 0.0) for by in (0.0, 1.0))

    def chain(jump: float) -> NoisyChain:
        one = PiecewiseMap(lambda w: w + 1.0 * (w >= jump), (still, up), [1.0], [jump])
        return NoisyChain([0.0], (NoisyStep((still,), 0.3), NoisyStep((one,), 0.3)), Box((-2.0,), (3.0,)))

    chains = [chain(side * spacing / 100) for side in (1, -1)]
    truth = [on_interval(one) for one in chains]
    grid = profiles._grid(chains, spacing)
    assert not missed(profiles._enclosures(chains, grid, 0, math.inf, 0.5)[0], *truth, 1e-8)
    masses = RectangleLaws.masses
    monkeypatch.setattr(RectangleLaws, "masses", lambda self, split: 0 * masses(self, split))
    assert missed(profiles._enclosures(chains, grid, 0, math.inf, 0.5)[0], *truth, 1e-8)


def test_a_start_on_a_jump_moves_as_the_function_says() -> None:
    """|w| at 0 has the subgradient 0, which is neither piece's."""
    pieces = tuple(StepMap(lambda w, by=by: w + by, 1.0, 0.0, 0.0) for by in (0.5, -0.5))
    absolute = PiecewiseMap(lambda w: w - 0.5 * np.sign(w), pieces, [1.0], [0.0])
    still = StepMap(lambda w: w, 1.0, 0.0, 0.0)
    one, other = (NoisyChain([0.0], (NoisyStep((step,), 0.5),), AllSpace(1)) for step in (absolute, still))
    assert last_iterate_profile(one, other, delta=DELTA).epsilon(DELTA).upper < 1e-3


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("end", [1.0, 1.2])
def test_along_an_axis_a_rectangle_is_an_interval(axis: int, end: float) -> None:
    """Jumps that cut two edges, or lie on one; the other coordinate is alike on both sides."""

    def pair(d: int) -> tuple[NoisyChain, NoisyChain]:
        unit = np.eye(d)[axis if d == 2 else 0]
        one, other = (NoisyStep((hinge(list(sign * unit), 1.0, 0.8),), 0.5) for sign in (1.0, -1.0))
        box = Box((-end,) * d, (end,) * d)
        return NoisyChain([0.1] * d, (one, one), box), NoisyChain([0.1] * d, (other, one), box)

    truth = last_iterate_profile(*pair(1), delta=DELTA, accuracy=0.001)
    left, right = pair(2)
    grid = profiles._grid([left, right], 0.0075)
    found = profiles._enclosures([left, right], grid, 0, math.inf, 0.5)[0]
    low, high = found.delta(EPSILONS)
    true_low, true_high = truth.delta(EPSILONS)
    assert np.all(low <= true_high)
    assert np.all(true_low <= high)
    assert np.all(high - low < 0.01)


def test_jumps_across_a_square() -> None:
    """A line that cuts two edges, and one that goes through a corner. The quadrature is off where the line is."""
    maps = [hinge([1.0, 0.6], 1.0, 0.7), hinge([0.5, 0.5], -1.0, 0.7)]
    one, other = (NoisyStep((each,), 0.5) for each in maps)
    left = NoisyChain([0.2, 0.1], (one, one), Box((-1.0, -1.0), (1.0, 1.0)))
    right, third = replace(left, steps=(other, one)), replace(left, steps=(one, other))
    truth = [on_square(chain) for chain in (left, right, third)]
    for found, law in zip(
        last_iterate_profiles(left, [right, third], delta=DELTA, accuracy=0.1), truth[1:], strict=True
    ):
        assert not missed(found, truth[0], law, 2e-4)
        low, high = found.delta(EPSILONS)
        assert np.all(high - low < 0.006)


def logistic(x: Sequence[float], sign: float) -> Callable[[FloatArray], FloatArray]:
    record = np.asarray(x)
    return lambda w: np.asarray((-sign / (1 + np.exp(sign * (w @ record))))[:, None] * record)


def test_smooth_losses_on_a_disc() -> None:
    """Curved losses, a batch drawn at random, a disc off the origin."""
    maps = [
        gradient_step(logistic(x, sign), 1.5, smoothness=0.25, hessian_lipschitz=1 / (6 * math.sqrt(3)))
        for x, sign in (((0.6, 0.8), 1.0), ((0.6, 0.8), -1.0), ((1.0, 0.0), 1.0))
    ]
    one, other, _ = (NoisyStep((each,), 0.5) for each in maps)
    mixed = NoisyStep(tuple(maps), 0.5, (0.2, 0.3, 0.5))
    left = NoisyChain([0.2, 0.1], (one, mixed), Ball(2, 1.0, (0.1, -0.2)))
    right = replace(left, steps=(other, mixed))
    found = last_iterate_profile(left, right, delta=DELTA, accuracy=0.02)
    # the midpoint rule of the last law
    assert not missed(found, on_disc(left, 16), on_disc(right, 16), 5e-4)
    low, high = found.delta(EPSILONS)
    assert np.all(high - low < 2e-3)


def test_a_node_that_is_not_taken_apart_puts_the_truth_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """After one step from a point no state has been rounded: only the release is."""
    one, other = (
        NoisyChain(
            [0.0, 0.0], (NoisyStep((StepMap(lambda w, by=by: w + by, 1.0, 0.0, 0.0),), 0.5),), Ball(2, 1.0)
        )
        for by in (np.array([0.4, 0.3]), np.zeros(2))
    )
    p, q = (on_disc(chain, 40, (120, 240)) for chain in (one, other))
    coarse = PolarGrid((0.0, 0.0), 1.0, 5, 128, 1.6)
    nothing = closeness.Closeness(closeness.DELTAS * 0, closeness.DELTAS * 0, closeness.DELTAS * 0)
    monkeypatch.setattr(profiles, "_closeness", lambda *_: (nothing, nothing))
    assert not missed(profiles._enclosures([one, other], coarse, 0, math.inf, 0.5)[0], p, q, 1e-4)
    monkeypatch.setattr(DiscMesh, "finer", DiscMesh.coarser)
    assert missed(profiles._enclosures([one, other], coarse, 0, math.inf, 0.5)[0], p, q, 1e-4)


def test_jumps_across_a_disc() -> None:
    maps = [hinge(x, sign, 0.4) for x, sign in (((1.5, 2.0), 1.0), ((-2.25, 0.25), -1.0))]
    one, other = (NoisyStep((each,), 0.5) for each in maps)
    left = NoisyChain([0.2, 0.1], (one, one), Ball(2, 1.0, (0.1, -0.2)))
    right, third = replace(left, steps=(other, one)), replace(left, steps=(one, other))
    truth = [on_disc(chain, 20) for chain in (left, right, third)]
    for found, law in zip(
        last_iterate_profiles(left, [right, third], delta=DELTA, accuracy=0.1), truth[1:], strict=True
    ):
        assert not missed(found, truth[0], law, 5e-4)
        low, high = found.delta(EPSILONS)
        assert np.all(high - low < 0.006)


@pytest.mark.parametrize("stddev", [0.2, 0.5, 1.5])
def test_noise_on_rings_is_a_sum_of_gaussians(stddev: float) -> None:
    rng = np.random.default_rng(0)
    grid = PolarGrid.finest((0.2, -0.1), 1.0, 1.5, 0.05, 20)
    grid = replace(grid, turns=256)
    layout = Rings(grid, 30)
    moved = rng.random((1, layout.size))
    moved /= moved.sum()
    laws = DiscMesh(grid).noised(moved, layout, stddev)
    radii = grid.ring * np.arange(31)
    means = np.stack([np.outer(radii, np.cos(grid.angles)), np.outer(radii, np.sin(grid.angles))], axis=-1)

    def density(x: FloatArray) -> FloatArray:
        squares = ((x[:, None] - means.reshape(-1, 2)) ** 2).sum(axis=-1)
        return np.asarray(np.exp(-squares / (2 * stddev**2)) @ moved[0] / (2 * math.pi * stddev**2))

    found = _Released.of(laws.released[0], grid)
    assert abs(found.inside.sum() + found.circle.sum() - 1) < 1e-12
    for ring, turn in ((3, 7), (10, 20), (20, 5)):
        angle = grid.angles[turn]
        out = np.array([math.cos(angle), math.sin(angle)])
        side = np.array([-out[1], out[0]])
        steps = np.stack([np.zeros(2), 1e-4 * out, -1e-4 * out, 1e-4 * side, -1e-4 * side])
        there = density(grid.radii[ring] * out + steps)
        assert found.density[ring, turn] == pytest.approx(there[0], rel=1e-12)
        assert found.outward[ring, turn] == pytest.approx((there[1] - there[2]) / 2e-4, rel=1e-4, abs=1e-6)
        assert found.sideward[ring, turn] == pytest.approx((there[3] - there[4]) / 2e-4, rel=1e-4, abs=1e-6)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    half = (layout.radius + 9 * stddev - 1) / 2
    r = 1 + half * (nodes + 1)
    out = np.array([math.cos(grid.angles[4]), math.sin(grid.angles[4])])
    assert found.on_circle[4] == pytest.approx(
        float(half * (weights * r) @ density(r[:, None] * out)), rel=1e-11
    )


def test_all_mass_of_cut_cells_is_on_some_side() -> None:
    """A line that leaves a ring within one cell, one through the center, and three at once."""
    grid = PolarGrid((0.0, 0.0), 1.0, 5, 108, 1.2)
    mesh = DiscMesh(grid)
    laws = mesh.noised(np.full((1, Rings(grid, 6).size), 1.0), Rings(grid, 6), 0.7)
    still = StepMap(lambda w: w, 1.0, 0.0, 0.0)
    for normal, jumps in (
        ((1.0, 0.3), (0.0,)),
        ((0.0, 2.0), (-0.5, 0.1, 1.9)),
        ((math.cos(grid.turn / 2), math.sin(grid.turn / 2)), (0.599 * math.cos(0.01),)),
    ):
        one = PiecewiseMap(lambda w: w, (still,) * (len(jumps) + 1), normal, jumps)
        split: Split = mesh.split(one)
        masses = laws.masses(split)[0]
        assert np.all(masses >= 0)
        taken = np.bincount(split.nodes, weights=masses, minlength=grid.size)
        assert np.all(taken <= laws.states[0] * (1 + 1e-5))
        # mass on each side, against the densities on a fine grid
        by_node = np.bincount(split.own, weights=laws.states[0] - taken, minlength=len(jumps) + 1)
        by_side = by_node + np.bincount(split.sides, weights=masses, minlength=len(jumps) + 1)
        r, t = np.meshgrid(
            (np.arange(200) + 0.5) / 200, 2 * math.pi * (np.arange(200) + 0.5) / 200, indexing="ij"
        )
        x = np.stack([r * np.cos(t), r * np.sin(t)], axis=-1).reshape(-1, 2)
        found = laws._noise.at(np.stack([r.ravel(), t.ravel()], axis=1), laws._found[0])
        sides = np.searchsorted(jumps, x @ np.asarray(normal))
        inside = np.bincount(
            sides, weights=found * r.ravel() * 2 * math.pi / 200**2, minlength=len(jumps) + 1
        )
        angles = 2 * math.pi * (np.arange(4000) + 0.5) / 4000
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        onto = laws._noise.around(angles, laws._found[0]) * 2 * math.pi / 4000
        inside += np.bincount(
            np.searchsorted(jumps, circle @ np.asarray(normal)), weights=onto, minlength=len(jumps) + 1
        )
        assert by_side == pytest.approx(inside, rel=1e-2)


def test_maps_that_jump_at_the_same_places_share_their_sides() -> None:
    """But for one that moves states in the set's corners otherwise, through which the jump goes."""
    mesh = RectangleMesh(Grid((-1.0, -1.0), (1.0, 1.0), (8, 8)))
    slow, fast = (hinge([1.0, -1.0], 1.0, rate) for rate in (0.1, 0.2))
    assert mesh.split(slow) is mesh.split(fast)
    assert mesh.split(slow) is not mesh.split(hinge([1.0, -0.9], 1.0, 0.1))
    still, up = (StepMap(lambda w, by=by: w + by, 1.0, 0.0, 0.0) for by in (0.0, 1.0))
    above = PiecewiseMap(lambda w: w + (w[:, :1] >= w[:, 1:]), (still, up), [1.0, -1.0], [0.0])
    below = PiecewiseMap(lambda w: w + (w[:, :1] > w[:, 1:]), (still, up), [1.0, -1.0], [0.0])
    assert not np.array_equal(mesh.split(above).own, mesh.split(below).own)


def test_what_does_not_go_together_is_refused() -> None:
    still = StepMap(lambda w: w, 1.0, 0.0, 0.0)
    with pytest.raises(InvalidArgumentError, match="jumps was"):
        PiecewiseMap(lambda w: w, (still, still), [1.0], [])
    with pytest.raises(InvalidArgumentError, match="jumps was"):
        PiecewiseMap(lambda w: w, (still, still, still), [1.0], [1.0, 0.5])
    with pytest.raises(InvalidArgumentError, match="pieces was"):
        PiecewiseMap(lambda w: w, (still,), [1.0], [0.0])
    with pytest.raises(InvalidArgumentError, match="normal was"):
        PiecewiseMap(lambda w: w, (still, still), [0.0], [0.0])
    step = NoisyStep((still,), 0.5)

    interval, square = Box((-1.0,), (1.0,)), Box((-1.0, -1.0), (1.0, 1.0))

    def ends(one: PiecewiseMap | StepMap, there: Box | Ball = interval) -> None:
        chain = NoisyChain([0.0] * there.dimension, (step, NoisyStep((one,), 0.5)), there)
        last_iterate_profile(chain, chain, delta=DELTA)

    with pytest.raises(InvalidArgumentError, match="pieces was"):
        ends(PiecewiseMap(lambda w: w + 1.0 * (w > 0), (still, still), [1.0], [0.0]))
    with pytest.raises(InvalidArgumentError, match="normal was"):
        ends(PiecewiseMap(lambda w: w, (still, still), [1.0, 0.0], [0.0]))
    spread = StepMap(lambda w: 3 * w, 1.0, 0.0, 0.0)
    with pytest.raises(InvalidArgumentError, match="lipschitz_constant was"):
        ends(PiecewiseMap(lambda w: 3 * w, (spread, spread), [1.0], [0.0]))
    up = StepMap(lambda w: w + 1.0, 1.0, 0.0, 0.0)
    neither = PiecewiseMap(
        lambda w: w + 0.5 * (1 + np.sign(w @ np.array([1.0, 1.0])))[:, None], (still, up), [1.0, 1.0], [0.0]
    )
    with pytest.raises(InvalidArgumentError, match="function was"):
        ends(neither, square)
    with pytest.raises(InvalidArgumentError, match="lipschitz_constant was"):
        ends(spread, Ball(2, 1.0))
    slower = NoisyStep((still,), 0.4)
    stopped = NoisyChain([0.0, 0.0], (step, slower), Ball(2, 1.0), stopped=(0.5, 0.5))
    with pytest.raises(InvalidArgumentError, match="noise_stddev was"):
        last_iterate_profile(stopped, stopped, delta=DELTA)
