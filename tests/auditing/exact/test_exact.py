"""Exact profiles: closed forms and an independent quadrature lie inside, planted faults put them outside."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpverify.auditing.exact import (
    NoisyChain,
    NoisyStep,
    ProfileEnclosure,
    StepMap,
    closeness,
    gradient_step,
    last_iterate_profile,
    last_iterate_profiles,
    profiles,
)
from dpverify.auditing.exact.rectangles import RectangleMesh
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import GDP
from dpverify.problems import AllSpace, Ball, Box, Simplex

from .quadratures import on_interval, profile_of

EPSILONS = np.array([0.0, 0.05, 0.2, 0.5, 1.0, 2.0])
DELTA = 1e-5


def affine(slope: float, *shift: float) -> StepMap:
    return StepMap(lambda points: slope * points + np.array(shift), abs(slope), 0.0, 0.0)


def holds(found: ProfileEnclosure, mu: float) -> None:
    """That the profile is that of two unit Gaussians at distance mu."""
    exact = GDP(mu)
    for direction in (found.left_over_right, found.right_over_left):
        low, high = direction.delta(EPSILONS)
        truth = np.asarray(exact.privacy_profile(EPSILONS))
        assert np.all(low <= truth), (low, truth)
        assert np.all(truth <= high), (truth, high)
    interval = found.epsilon(DELTA)
    assert interval.lower <= exact.epsilon_at(DELTA) <= interval.upper


@pytest.mark.parametrize("distance", [0.02, 0.5, 2.0])
def test_one_step_without_projection_is_the_gaussian_pair(distance: float) -> None:
    left, right = (
        NoisyChain([0.3], (NoisyStep((affine(1.0, shift),), 0.7),), AllSpace(1))
        for shift in (0.0, 0.7 * distance)
    )
    found = last_iterate_profile(left, right, delta=DELTA, accuracy=0.01)
    holds(found, distance)
    interval = found.epsilon(DELTA)
    assert interval.upper - interval.lower <= 0.01 * max(interval.upper, 1e-3)


def test_linear_losses_on_the_line_hide_every_index_alike() -> None:
    steps = 16
    still, left, right = (NoisyStep((affine(1.0, shift),), 1.0) for shift in (0.0, 1.0, -1.0))
    nothing = (still,) * steps

    def chain(at: int, step: NoisyStep) -> NoisyChain:
        return NoisyChain([0.0], (*nothing[:at], step, *nothing[at + 1 :]), AllSpace(1))

    for at in (0, 15):
        holds(last_iterate_profile(chain(at, left), chain(at, right), delta=DELTA, accuracy=0.05), 2 / 4)


@pytest.mark.parametrize("slope", [0.5, -0.8, 1.3])
def test_quadratic_losses_are_an_affine_recursion(slope: float) -> None:
    """Maps that contract, turn around or expand: mean and variance of the last state are known."""
    stddevs = (1.0, 0.5, 1.5)
    first, other = NoisyStep((affine(slope, 0.4),), stddevs[0]), NoisyStep((affine(slope, -0.4),), stddevs[0])
    rest = tuple(NoisyStep((affine(slope, 0.1),), stddev) for stddev in stddevs[1:])
    left, right = (NoisyChain([0.2], (one, *rest), AllSpace(1)) for one in (first, other))
    variance = sum((slope ** (2 - t) * stddev) ** 2 for t, stddev in enumerate(stddevs))
    found = last_iterate_profile(left, right, delta=DELTA, accuracy=0.02)
    holds(found, 0.8 * slope**2 / math.sqrt(variance))


def test_linear_losses_in_the_plane() -> None:
    one, other = (
        NoisyChain([0.0, 0.0], (NoisyStep((affine(1.0, *by),), 1.0),), AllSpace(2))
        for by in ((0.2, 0.1), (-0.1, 0.0))
    )
    holds(on_grid(one, other, 0.0155), math.hypot(0.3, 0.1))


def test_a_coordinate_that_is_alike_on_both_sides_does_not_count() -> None:
    """Two steps on a strip; along it nothing is cut off, across it both sides are projected alike."""
    still, left, right = (NoisyStep((affine(1.0, *by),), 1.0) for by in ((0.0, 0.2), (0.2, 0.1), (-0.1, 0.1)))
    strip = Box((-14.0, -0.5), (14.0, 0.5))
    one, other = (NoisyChain([0.0, 0.0], (step, still), strip) for step in (left, right))
    holds(on_grid(one, other, 0.0155), 0.3 / math.sqrt(2))


def test_affine_maps_on_a_wide_disc() -> None:
    """Almost no run reaches the circle."""
    second = NoisyStep((affine(0.6, 0.1, 0.2),), 1.0)
    one, other = (
        NoisyChain([0.3, -0.2], (NoisyStep((affine(1.0, *by),), 1.0), second), Ball(2, 6.0))
        for by in ((0.3, 0.4), (0.0, 0.0))
    )
    holds(on_grid(one, other, 0.0154), 0.5 * 0.6 / math.sqrt(1 + 0.6**2))


def logistic(sign: float) -> Callable[[FloatArray], FloatArray]:
    return lambda w: -sign / (1 + np.exp(sign * w))


@pytest.mark.parametrize("curvature", [1 / (6 * math.sqrt(3)), math.inf])
def test_curved_losses_on_an_interval_with_batches_drawn_at_random(curvature: float) -> None:
    """Against the quadrature, which is good to 1e-9 here: a step before, one with the record, a mixture, one after."""
    maps = [
        gradient_step(logistic(s), 1.5, smoothness=0.25, hessian_lipschitz=curvature) for s in (1.0, -1.0)
    ]
    one, other = (NoisyStep((each,), 0.6) for each in maps)
    mixed = NoisyStep(tuple(maps), 0.6, (0.3, 0.7))
    mixed_other = NoisyStep(tuple(maps), 0.6, (0.4, 0.6))
    left = NoisyChain([0.1], (one, one, mixed, other), Box((-1.0,), (1.0,)))
    right = replace(left, steps=(one, other, mixed_other, other))
    found = last_iterate_profile(left, right, delta=DELTA, accuracy=0.02)
    p, q = on_interval(left, 120), on_interval(right, 120)
    for direction, truth in (
        (found.left_over_right, profile_of(p, q, EPSILONS)),
        (found.right_over_left, profile_of(q, p, EPSILONS)),
    ):
        low, high = direction.delta(EPSILONS)
        assert np.all(low <= truth + 1e-9), (low, truth)
        assert np.all(truth <= high + 1e-9), (truth, high)


def test_kinks_are_measured() -> None:
    """A gradient that is cut off has no curvature that is bounded; what a cell's kink does is looked at."""
    maps = [gradient_step(lambda w, s=s: np.clip(w + s, -0.3, 0.3), 0.9, smoothness=1.0) for s in (0.2, -0.2)]
    left, right = (
        NoisyChain([0.0], (NoisyStep((one,), 0.5), NoisyStep((maps[0],), 0.5)), Ball(1, 0.8)) for one in maps
    )
    found = last_iterate_profile(left, right, delta=DELTA, accuracy=0.05)
    truth = profile_of(on_interval(left, 120), on_interval(right, 120), EPSILONS)
    low, high = found.left_over_right.delta(EPSILONS)
    # the quadrature's density has no kink: noise has passed over it
    assert np.all(low <= truth + 1e-7)
    assert np.all(truth <= high + 1e-7)


def chain_pair(
    steps: int = 4, stddev: float = 1.0, slope: float = 1.0
) -> tuple[NoisyChain, NoisyChain, float]:
    """Two chains on the line, and the distance of their last states in standard deviations."""
    one, other, still = (NoisyStep((affine(slope, by),), stddev) for by in (0.5, -0.5, 0.0))
    variance = stddev**2 * sum(slope ** (2 * t) for t in range(steps))
    chains = [NoisyChain([0.0], (first, *(still,) * (steps - 1)), AllSpace(1)) for first in (one, other)]
    return chains[0], chains[1], slope ** (steps - 1) / math.sqrt(variance)


def on_grid(left: NoisyChain, right: NoisyChain, spacing: float) -> ProfileEnclosure:
    grid = profiles._grid([left, right], spacing)
    return profiles._enclosures([left, right], grid, 0, math.inf, 0.5)[0]


def test_finer_grids_are_narrower_by_the_square() -> None:
    left, right, mu = chain_pair()
    widths = []
    for spacing in (0.02, 0.01, 0.005):
        found = on_grid(left, right, spacing)
        holds(found, mu)
        interval = found.epsilon(DELTA)
        widths.append(interval.upper - interval.lower)
    assert widths[0] > 3 * widths[1] > 9 * widths[2]


def excluded(found: ProfileEnclosure, mu: float) -> bool:
    low, high = found.left_over_right.delta(EPSILONS)
    truth = np.asarray(GDP(mu).privacy_profile(EPSILONS))
    return bool(np.any(low > truth) or np.any(truth > high))


def test_without_the_rounding_of_states_the_truth_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right, mu = chain_pair(steps=12)
    assert not excluded(on_grid(left, right, 0.02), mu)
    nothing = closeness.Closeness(closeness.DELTAS * 0, closeness.DELTAS * 0, closeness.DELTAS * 0)
    monkeypatch.setattr(profiles, "_closeness", lambda *_: (nothing, nothing))
    assert excluded(on_grid(left, right, 0.02), mu)


def bumps(spacing: float, lipschitz: float, bend: float) -> StepMap:
    """The identity at all grid points, which moves what lies between them up, by half a spacing on average."""

    def function(points: FloatArray) -> FloatArray:
        place = points / spacing
        return np.asarray(points + 2 * spacing * np.abs(place - np.round(place)))

    return StepMap(function, lipschitz, bend)


def bumped(spacing: float, lipschitz: float, bend: float, steps: int = 10) -> tuple[ProfileEnclosure, float]:
    """Noise, then bumps or nothing: the densities are smooth, so that bumps move a state by their average."""
    still = affine(1.0, 0.0)
    left, right = (
        NoisyChain(
            [0.0], (NoisyStep((still,), 0.1), *(NoisyStep((one,), 0.1),) * steps), Box((-3.5,), (3.5,))
        )
        for one in (bumps(spacing, lipschitz, bend), still)
    )
    return on_grid(left, right, spacing), steps * spacing / 2 / (0.1 * math.sqrt(steps + 1))


def test_a_lost_bias_puts_the_truth_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid does not see what a map does between its points."""
    assert not excluded(*bumped(0.001, 3.0, 2.0))
    monkeypatch.setattr(RectangleMesh, "_deviation", lambda *_: 0.0)
    assert excluded(*bumped(0.001, 3.0, 2.0))


@pytest.mark.parametrize("declared", [0.2, 0.9])
def test_a_wrong_lipschitz_constant_is_found_on_the_grid(declared: float) -> None:
    wrong = NoisyStep((StepMap(lambda points: np.sin(points), declared, curvature=1.0),), 1.0)
    chain = NoisyChain([0.0], (wrong, wrong), Ball(1, 1.0))
    with pytest.raises(InvalidArgumentError, match="lipschitz_constant was"):
        last_iterate_profile(chain, chain, delta=DELTA)


def test_wrong_constants_that_nobody_checks_put_the_truth_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RectangleMesh, "check", lambda *_: None)
    assert not excluded(*bumped(0.001, 3.0, 2.0))
    assert excluded(*bumped(0.001, 1.0, 0.0))


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (StepMap(lambda points: np.sin(3 * points) / 3, 1.0, bend=0.1), "bend"),
        (StepMap(lambda points: np.sin(3 * points) / 3, 1.0, curvature=0.5), "curvature"),
    ],
)
def test_maps_that_bend_more_than_declared_are_refused(step: StepMap, name: str) -> None:
    chain = NoisyChain([0.0], (NoisyStep((step,), 1.0),), Ball(1, 1.0))
    with pytest.raises(InvalidArgumentError, match=f"{name} was"):
        last_iterate_profile(chain, chain, delta=DELTA)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.floats(-1.2, 1.2), st.floats(0.2, 2.0)), min_size=1, max_size=3),
    st.floats(-1.0, 1.0),
    st.floats(0.05, 1.0),
)
def test_affine_chains_are_enclosed(parts: list[tuple[float, float]], start: float, distance: float) -> None:
    """Any affine recursion with any noise: a Gaussian pair."""
    slopes = [slope for slope, _ in parts]
    stddevs = [stddev for _, stddev in parts]
    rest = tuple(NoisyStep((affine(slope, 0.1),), stddev) for slope, stddev in parts[1:])
    heads = (NoisyStep((affine(slopes[0], by),), stddevs[0]) for by in (0.0, distance))
    left, right = (NoisyChain([start], (head, *rest), AllSpace(1)) for head in heads)
    after = [math.prod(slopes[t + 1 :]) for t in range(len(parts))]
    mu = abs(after[0]) * distance / math.sqrt(sum((a * s) ** 2 for a, s in zip(after, stddevs, strict=True)))
    holds(on_grid(left, right, min(stddevs) / 60), mu)


def test_skipping_and_stopping_are_mixtures() -> None:
    one, other, still = (NoisyStep((affine(1.0, by),), 1.0) for by in (0.5, -0.5, 0.0))
    left, right = (
        NoisyChain([0.0], (first, still), AllSpace(1), skipped=(0.25, 0.75)) for first in (one, other)
    )
    # with probability 1/4 the first step is taken: the other part is the same on both sides, and narrower
    found = on_grid(left, right, 0.02)
    x = np.linspace(-14, 14, 200_001)
    shared = 0.75 * norm.pdf(x)
    p, q = (shared + 0.25 * norm.pdf(x, shift, math.sqrt(2)) for shift in (0.5, -0.5))
    truth = np.array([np.maximum(p - math.exp(e) * q, 0).sum() for e in EPSILONS]) * (x[1] - x[0])
    low, high = found.left_over_right.delta(EPSILONS)
    assert np.all(low <= truth + 1e-9)
    assert np.all(truth <= high + 1e-9)
    left, right = (
        NoisyChain([0.0], (first, still), AllSpace(1), stopped=(0.5, 0.5)) for first in (one, other)
    )
    found = on_grid(left, right, 0.02)
    p, q = (0.5 * norm.pdf(x, by, 1) + 0.5 * norm.pdf(x, by, math.sqrt(2)) for by in (0.5, -0.5))
    truth = np.array([np.maximum(p - math.exp(e) * q, 0).sum() for e in EPSILONS]) * (x[1] - x[0])
    low, high = found.left_over_right.delta(EPSILONS)
    assert np.all(low <= truth + 1e-9)
    assert np.all(truth <= high + 1e-9)


def test_tradeoff_functions_enclose_the_gaussian_one() -> None:
    left, right, mu = chain_pair()
    found = on_grid(left, right, 0.005)
    levels = np.linspace(0, 1, 21)
    low, high = found.left_over_right.tradeoff_function(levels)
    truth = np.asarray(GDP(mu).tradeoff_function(levels))
    assert np.all(low <= truth + 1e-12)
    assert np.all(truth <= high + 1e-12)
    assert float(np.max(high - low)) < 0.05


def test_chains_that_are_computed_together_are_as_if_alone() -> None:
    left, right, _ = chain_pair()
    third = replace(right, steps=(*right.steps[:2], left.steps[0], right.steps[3]))
    together = last_iterate_profiles(left, [right, third], delta=1e-3, accuracy=0.05)
    for one, other in zip(together, (right, third), strict=True):
        alone = on_grid(left, other, one.grid.spacing)
        low, high = one.left_over_right.delta(EPSILONS)
        alone_low, alone_high = alone.left_over_right.delta(EPSILONS)
        assert np.all(low <= alone_high)
        assert np.all(alone_low <= high)


def test_what_costs_too_much_is_refused_before_it_is_run() -> None:
    left, right, _ = chain_pair()
    with pytest.raises(InvalidArgumentError, match=r"accuracy was 1e-06; allowed: .* node-steps"):
        last_iterate_profile(left, right, delta=DELTA, accuracy=1e-6, most_node_steps=1e5)


@pytest.mark.parametrize(("steps", "stddev", "most"), [(1, 0.35, "none here"), (1, 0.45, "at least")])
def test_refining_ends_where_floats_lose_as_much(steps: int, stddev: float, most: str) -> None:
    """At epsilon 11 and more what floats lose is multiplied by e^epsilon: finer grids add up more, and do not help."""
    left, right, _ = chain_pair(steps=steps, stddev=stddev)
    with pytest.raises(InvalidArgumentError, match=f"accuracy was 0.0001; allowed: {most}.*floats end there"):
        last_iterate_profile(left, right, delta=DELTA, accuracy=1e-4)


def test_bad_arguments_are_refused() -> None:
    left, right, _ = chain_pair()
    still = left.steps[1]
    with pytest.raises(InvalidArgumentError, match="constraint"):
        NoisyChain([0.0, 0.0, 0.0], (still,), Ball(3, 1.0))
    with pytest.raises(InvalidArgumentError, match="constraint"):
        NoisyChain([0.5, 0.5], (still,), Simplex(2))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="start"):
        NoisyChain([3.0], (still,), Ball(1, 1.0))
    with pytest.raises(InvalidArgumentError, match="skipped"):
        NoisyChain([0.0], (still,), AllSpace(1), skipped=(0.5, 0.5))
    with pytest.raises(InvalidArgumentError, match="stopped"):
        NoisyChain([0.0], (still,), AllSpace(1), skipped=(1.0,), stopped=(1.0,))
    with pytest.raises(InvalidArgumentError, match="noise_stddev"):
        NoisyStep((affine(1.0, 0.0),), 0.0)
    with pytest.raises(InvalidArgumentError, match="smoothness"):
        gradient_step(logistic(1.0), 1.0, smoothness=math.inf)
    with pytest.raises(InvalidArgumentError, match="rights"):
        last_iterate_profile(left, replace(right, start=[1.0]), delta=DELTA)
    with pytest.raises(InvalidArgumentError, match="delta"):
        last_iterate_profile(left, right, delta=0.0)
    shapeless = NoisyStep((StepMap(lambda points: points[0], 1.0),), 1.0)
    broken = NoisyChain([0.0], (shapeless,), Ball(1, 1.0))
    with pytest.raises(InvalidDataError, match="shape"):
        last_iterate_profile(broken, broken, delta=DELTA)
