"""Many steps of a run alone do what one plain step after the other does, and compiled ones the same, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.steps import loops, single_run
from dpverify.algorithms.steps.projected_steps import Iterates
from dpverify.algorithms.steps.single_run import SingleRun
from dpverify.extras import Compiled
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.problems.further_losses import HuberizedPositivePart, LogisticOnBall, PositivePart
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss
from dpverify.running import Randomness

D, N, STEPS = 3, 8, 50
BALL = Ball(D, 0.7)
PROBLEMS = {
    "logistic": Problem(Logistic(), BALL),
    "hinge": Problem(Hinge(), BALL),
    "squared": Problem(Squared.on(BALL), BALL),
    "linear": Problem(Linear(), BALL),
    "ridge": Problem(Ridge.on(BALL, Logistic(), 0.3), BALL),
    "ball elsewhere": Problem(Logistic(), Ball(D, 0.5, (0.3, 0.0, 0.1))),
    "ball far away": Problem(Logistic(), Ball(D, 0.5, (3e6, 0.0, 0.1))),
    "box": Problem(Logistic(), Box((-0.2,) * D, (0.5,) * D)),
    "simplex": Problem(Logistic(), Simplex(D)),
    "tiny ball": Problem(Logistic(), Ball(D, 1e-170)),
    "no generalized linear loss": Problem(HalfSquaredDistance(1.0), BALL),
}

SLOPES: tuple[Any, ...] = (
    Logistic(),
    Hinge(),
    Squared.on(BALL),
    Linear(),
    Linear(labeled=True),
    PositivePart(),
    HuberizedPositivePart(0.3),
    LogisticOnBall(0.7),
)


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(N, D))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return features, np.where(rng.random(N) < 0.5, 1.0, -1.0), rng.integers(0, N, STEPS)


def plain(problem: Problem, rates: np.ndarray, order: np.ndarray, stddev: float, scale: float) -> np.ndarray:
    """The definition, step by step, with the noise of the same stream."""
    features, labels, _ = data()
    rng = Randomness(5)
    w = np.zeros((1, D)) + problem.constraint.center()
    for rate, index in zip(rates, order, strict=True):
        gradient: Any = problem.loss.gradient(w, features[index], labels[index])
        noise = rng.normal((1, D), "noise")
        w = problem.constraint.project(w - rate * (scale * gradient + stddev * noise))
    return w[0]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_walk_takes_the_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PROBLEMS[name]
    features, labels, order = data()
    rates = 0.3 / np.sqrt(np.arange(1, STEPS + 1))
    monkeypatch.setattr(single_run, "_NUMBERS_TOGETHER", 7 * D)  # several rounds, the last one shorter
    rng = Randomness(5)
    iterates = Iterates(problem, np.asarray(problem.constraint.center()), 1, rng)
    iterates.walk(features, labels, order, rates=rates, noise_stddev=0.4, scale=2.0)
    expected = plain(problem, rates, order, 0.4, 2.0)
    found = iterates.output()
    assert np.allclose(found.points[0], expected, rtol=1e-11, atol=1e-11 * problem.constraint.diameter)
    assert list(found.gradient_queries) == [STEPS] == list(found.projections)
    assert rng.counts == {"noise": STEPS * D}
    # the comparison sees a step that is left out, another noise and another scale
    for wrong in (
        plain(problem, rates[:-1], order[:-1], 0.4, 2.0),
        plain(problem, rates, order, 0.5, 2.0),
        plain(problem, rates, order, 0.4, 1.0),
    ):
        assert not np.allclose(found.points[0], wrong, rtol=1e-6, atol=1e-6 * problem.constraint.diameter)


def local_problem(original: Any, d: int, runs: int) -> Problem:
    """Balls whose border is nearer than that of the runs' own."""
    offsets, anchors = np.random.default_rng(d).normal(size=(2, runs, d))
    offsets *= 0.9 / np.linalg.norm(offsets, axis=1, keepdims=True)
    return Problem(LocalLoss(original, offsets, 0.8, anchors, 2.0), LocalBalls(0.6, 1.0, offsets))


ORIGINALS: dict[str, Any] = {
    "logistic": Logistic(),
    "hinge": Hinge(),
    "ridge": Ridge(Logistic(), 0.3, 1.0),
    "distance": HalfSquaredDistance(2.0),
}


@pytest.mark.parametrize("stddev", [0.05, 0.4, 5.0])
@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("name", ORIGINALS)
def test_few_runs_on_sets_of_their_own_take_the_steps_of_many(name: str, d: int, stddev: float) -> None:
    """Within both balls, on either sphere, and where both meet; localization's sets are the same in other words."""
    runs, rng = 3, np.random.default_rng(d)
    features = rng.normal(size=(N, d)) / math.sqrt(d)
    labels, order = np.where(rng.random(N) < 0.5, 1.0, -1.0), rng.integers(0, N, STEPS)
    local = local_problem(ORIGINALS[name], d, runs)
    balls: Any = local.constraint
    rates = 0.1 / np.sqrt(np.arange(1, STEPS + 1))
    walked, stepped = (Iterates(local, np.zeros(d), runs, Randomness(5)) for _ in range(2))
    assert walked.alone
    walked.walk(features, labels, order, rates=rates, noise_stddev=stddev, scale=2.0)
    for index, rate in zip(order, rates, strict=True):
        stepped.step(features[index], labels[index], rate=float(rate), noise_stddev=stddev, scale=2.0)
    found, expected = walked.output(), stepped.output()
    np.testing.assert_allclose(found.points, expected.points, rtol=1e-9, atol=1e-12)
    assert np.all(found.points != 0.0)
    assert list(found.gradient_queries) == [STEPS] * runs == list(found.projections)
    # a run's own center and offset are the run's own
    assert np.ptp(found.points, axis=0).min() > 1e-6
    # localization's sets, in coordinates that are not moved
    sets = BallIntersections(Ball(d, 1.0), balls.centers, 0.6)
    points = balls.centers + stddev * rng.normal(size=(runs, d))
    expected_points = sets.project(points)
    for run, point in enumerate(points):
        one = SingleRun.of(local.loss, sets, run, d)
        assert one.region == loops.TWO_BALLS
        single_run.into_both(point, one.places, one.radii)
    np.testing.assert_allclose(points, expected_points, rtol=1e-12, atol=1e-13)


def test_slopes_of_one_number_are_those_of_many() -> None:
    for loss in SLOPES:
        one = SingleRun.of(loss, BALL, 0, D)
        assert one.kind != loops.NO_KIND
        for z in (-1e300, -750.0, -1.0, 0.0, 0.3, 1.0, 750.0, 1e300):
            for y in (1.0, -1.0, 0.0):
                theirs = float(loss.link_slope(np.array([z]), np.array([y]))[0])
                assert math.isclose(
                    loops.slope(one.kind, one.parameter, z, y), theirs, rel_tol=1e-14, abs_tol=1e-300
                )


@pytest.mark.parametrize("radius", [1e-140, 0.7, 1e140])
def test_one_point_is_shortened_as_many_are(radius: float) -> None:
    for length in (1.5 * radius, 1e3 * radius, 1e200):
        point = length * np.array([0.6, 0.0, -0.8])
        expected = Ball(D, radius).project(point[None, :].copy())[0]
        with np.errstate(over="ignore"):
            single_run.shorten(point, float(point @ point), radius)
        np.testing.assert_allclose(point, expected, rtol=1e-14)


@pytest.mark.parametrize("d", [1, 3, 1000])
@pytest.mark.parametrize("apart", [0.0, 1e-300, 1e-17, 1e-9, 0.3])
@pytest.mark.parametrize("radius", [0.7, 1.0, np.nextafter(1.0, 2.0)])
def test_points_come_into_two_balls_however_near_their_centers_are(
    d: int, apart: float, radius: float
) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        places, point = np.zeros((2, d)), 3 * rng.normal(size=d) / math.sqrt(d)
        places[0, 0] = apart
        distances = []
        for _ in range(2):  # what is inside stays there, but for rounding
            before = point.copy()
            single_run.into_both(point, places, (radius, 1.0))
            distances.append(np.linalg.norm(point - before))
            for place, its in zip(places, (radius, 1.0), strict=True):
                assert np.linalg.norm(point - place) <= its * (1 + 1e-12)
        assert distances[1] <= 1e-12


def compiled_walk(one: SingleRun) -> Callable[..., None]:
    """The steps by Numba, whatever little there is to do."""

    def walk(*steps: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Compiled, "_lost", math.inf)
            one._walk_compiled(*steps)

    return walk


@pytest.mark.skipif(find_spec("numba") is None, reason="Numba is not installed")
def test_compiled_steps_give_the_same_bits() -> None:
    """Each loss on each set, with points inside, on one sphere, where both meet, and far away."""
    rng, steps = np.random.default_rng(3), 80
    checked = 0
    for d in (1, 7, 64):
        box = Box(tuple(-0.1 - rng.random(d)), tuple(0.1 + rng.random(d)))
        elsewhere = Ball(d, 0.5, (0.3,) + (0.1,) * (d - 1))
        sets = (AllSpace(d), Ball(d, 0.7), elsewhere, box, LocalBalls(0.6, 1.0, 0.9 * np.eye(d)[:1]))
        for loss in (*SLOPES, HalfSquaredDistance(1.0)):
            for form in (loss, Ridge(loss, 0.3, 1.0), local_problem(Ridge(loss, 0.2, 1.0), d, 1).loss):
                for constraint in sets:
                    one = SingleRun.of(form, constraint, 0, d)
                    features = rng.normal(size=(steps, d)) / math.sqrt(d)
                    noise = rng.choice([0.01, 0.3, 1e160], (steps, 1), p=[0.6, 0.37, 0.03])
                    noise = noise * rng.normal(size=(steps, d))
                    labels, factors = rng.choice([-1.0, 0.0, 1.0], steps), rng.random(steps)
                    # the point, and the sum of those on the way
                    plain, other = np.zeros((2, d)), np.zeros((2, d))
                    one._walk(*plain, features.copy(), labels, noise, factors)
                    compiled_walk(one)(*other, features.copy(), labels, noise, factors)
                    assert np.array_equal(plain, other, equal_nan=True)
                    compiled_walk(one)(*other, features, labels, np.nextafter(noise, 1.0), factors)
                    checked += not np.array_equal(plain, other)
    assert checked > 0


@pytest.mark.skipif(find_spec("numba") is None, reason="Numba is not installed")
def test_compiled_steps_that_round_otherwise_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def off(one: SingleRun, point: np.ndarray, *steps: Any) -> None:
        one._walk(point, *steps)
        point[0] = np.nextafter(point[0], 1.0)

    monkeypatch.setattr(Compiled, "_lost", math.inf)
    rng = np.random.default_rng(2)
    steps = rng.normal(size=(9, D)), np.ones(9), rng.normal(size=(9, D)), np.full(9, 0.1)
    one = SingleRun.of(Logistic(), BALL, 0, D)
    expected = np.zeros(D)
    one._walk(expected, np.empty(0), *(part.copy() for part in steps))
    monkeypatch.setattr(single_run, "_SAME_BITS", {})
    monkeypatch.setattr(SingleRun, "_walk_compiled", off)
    found = np.zeros(D)
    with pytest.warns(RuntimeWarning, match="differ in their last bits"):
        one.walk(found, *(part.copy() for part in steps))
    assert np.array_equal(found, expected)


@pytest.mark.skipif(find_spec("numba") is None, reason="Numba is not installed")
def test_a_long_run_goes_on_compiled_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels, _ = data()
    mechanism = NoisyGradientDescent(PROBLEMS["ridge"], 1.0, 1e-3, steps=9000)
    found = []
    for lost in (-math.inf, 0.39, math.inf):  # never, from the second round on, and at once
        monkeypatch.setattr(Compiled, "_lost", lost)
        output = mechanism(Dataset(features, labels), rng=Randomness(4), runs=2)
        assert list(output.gradient_queries) == [9000, 9000] == list(output.projections)
        found.append(output.points)
        assert (Compiled._lost >= Compiled._worth) is (lost > 0)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_rounds_hold_few_numbers_and_at_least_one_step() -> None:
    assert single_run.steps_together(1) == 4096
    assert single_run.steps_together(2**10) == 2**7
    assert single_run.steps_together(10**9) == 1


def test_a_run_of_its_own_has_the_law_of_many() -> None:
    """Two means of 400 runs a side, 5 standard errors apart: a false alarm with probability below 1e-5."""
    features, labels, _ = data()
    mechanism = NoisyGradientDescent(PROBLEMS["logistic"], 1.0, 1e-3, steps=20)
    records = Dataset(features, labels)
    alone = np.stack([mechanism(records, rng=Randomness((7, i)), runs=1).points[0] for i in range(400)])
    together = mechanism(records, rng=Randomness(8), runs=400).points
    for a, b in zip(alone.T, together.T, strict=True):
        assert abs(a.mean() - b.mean()) <= 5 * math.sqrt((a.var() + b.var()) / 400)
        assert abs(a.var() - b.var()) <= 5 * math.sqrt(2 / 400) * (a.var() + b.var())
