"""Variance-reduced descent: another minimizer, counted calls, planted faults, bounded tables.

Draws are seeded; what is asserted of points and of largest counts holds whatever is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import array_api_strict
import numpy as np
import pytest

from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Logistic, Problem, Ridge, Squared
from dpverify.problems.per_run import variance_reduced_descent
from dpverify.problems.per_run.accelerated_descent import RegularizedRisk, minimize_regularized, most_steps
from dpverify.problems.per_run.batched_minimizers import minimize_tilted
from dpverify.problems.per_run.variance_reduced_descent import (
    Draw,
    Rounds,
    foreseen_rounds,
    minimize_on_draws,
    most_gradients,
    most_projections,
)

D, N, RUNS = 3, 400, 7
BALL = Ball(D, 1.0)
LOGISTIC = RegularizedRisk(Problem(Logistic(), BALL), 0.02)
WEAK = RegularizedRisk(Problem(Logistic(), BALL), 2e-4)  # condition number 1.6 n
BOTH = pytest.mark.parametrize("risk", [LOGISTIC, WEAK], ids=["small condition number", "large one"])
GAP = 1e-6
CENTERS = np.asarray(BALL.project(np.random.default_rng(2).normal(size=(RUNS, D))))


def make_data(n: int = N) -> Dataset:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, D)) * [1.0, 0.3, 0.1]
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.sign(features @ [1.0, -2.0, 3.0] + rng.normal(size=n)))


DATA = make_data()


def drawing(n: int = N, seed: int = 1, xp: Any = np) -> Draw:
    rng = np.random.default_rng(seed)
    return lambda shape: xp.asarray(rng.integers(0, n, shape))


def expected_rounds(risk: RegularizedRisk, n: int = N, gap: float = GAP) -> Rounds:
    rounds = foreseen_rounds(risk, n, gap)
    assert rounds is not None
    return rounds


def excess(risk: RegularizedRisk, points: Any) -> Any:
    """Above the minimum that the package's other minimizer finds, which works on sums and certifies distances."""
    best = minimize_tilted(
        risk.problem, DATA, -2 * N * risk.pull * CENTERS, ridge=2 * N * risk.pull, accuracy=1e-7
    )
    return risk.value(points, CENTERS, DATA) - risk.value(np.asarray(best.points), CENTERS, DATA)


PROBLEMS = [
    Problem(Logistic(), BALL),
    Problem(Squared(0.9), Box.cube(D, 0.5)),
    Problem(Ridge.on(BALL, Logistic(), 0.3), BALL),
    Problem(HalfSquaredDistance(1.0), BALL),
]


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_a_minibatch_of_all_records_has_their_mean_gradient(problem: Problem, xp: Any) -> None:
    """The records in another order for each run: no draw, and so no error but rounding."""
    risk = RegularizedRisk(problem, 0.02)
    order = xp.asarray(np.stack([np.random.default_rng(seed).permutation(N) for seed in range(RUNS)]))
    data, w, middle = DATA.as_namespace(xp), xp.asarray(CENTERS), xp.asarray(0.5 * CENTERS[::-1])
    search = variance_reduced_descent._Search(risk, data, w, expected_rounds(risk), lambda _: order)
    ridge = getattr(problem.loss, "weight", 0.0)
    there, before = (
        np.asarray(problem.mean_gradient(points, data)) - ridge * np.asarray(points) for points in (w, middle)
    )
    for reference, expected in ((None, there), (middle, there - before)):
        found = np.asarray(search._drawn_gradient(w, N, reference))
        assert np.max(np.abs(found - expected)) <= 1e-13


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_every_run_is_certified(problem: Problem, xp: Any) -> None:
    for pull in (LOGISTIC.pull, WEAK.pull):
        risk = RegularizedRisk(problem, pull)
        rounds = expected_rounds(risk)
        assert (rounds.proximal > 0) == (rounds.momentum > 0)
        centers = xp.asarray(np.asarray(problem.constraint.project(CENTERS)))
        found = minimize_on_draws(risk, DATA.as_namespace(xp), centers, GAP, drawing(xp=xp))
        points = np.asarray(found.points)
        assert np.all(problem.constraint.contains(points))
        assert np.all(found.gaps <= GAP)
        assert np.all(found.gradients <= rounds.gradients(rounds.most, N))  # by draws alone
        best = minimize_tilted(
            problem, DATA, -2 * N * pull * np.asarray(centers), ridge=2 * N * pull, accuracy=1e-7
        )
        values = [risk.value(w, np.asarray(centers), DATA) for w in (points, np.asarray(best.points))]
        assert np.all(values[0] - values[1] <= found.gaps + 1e-12)
    assert rounds.proximal > 0


@pytest.mark.parametrize("decades", [1, 2])
def test_large_condition_numbers_cost_their_square_root(decades: int) -> None:
    """At a fixed seed, on features of very different lengths, kappa being 1.6 n and 16 n."""
    rng, ball = np.random.default_rng(0), Ball(6, 20.0)
    features = rng.normal(size=(N, 6)) * np.logspace(0, -decades, 6)
    features /= np.linalg.norm(features, axis=1)[:, None]
    data = Dataset(features, rng.choice([-1.0, 1.0], N))
    centers = np.asarray(ball.project(20 * rng.normal(size=(RUNS, 6))))
    drawn, plain = [], []
    for pull in (2e-4, 2e-5):
        risk = RegularizedRisk(Problem(Logistic(), ball), pull)
        drawn.append(float(minimize_on_draws(risk, data, centers, GAP, drawing()).gradients.mean()) / N)
        plain.append(float(minimize_regularized(risk, data, centers, GAP).gradients.mean()) / N)
    # n + sqrt(n kappa) in place of n sqrt(kappa), in order: 30 to 70 in place of 130 to 400 passes
    assert drawn[1] < plain[1] / 4
    assert drawn[1] < math.sqrt(10) * drawn[0]


def test_both_solvers_agree() -> None:
    gap = 1e-12
    plain = np.asarray(minimize_regularized(LOGISTIC, DATA, CENTERS, gap).points)
    drawn = np.asarray(minimize_on_draws(LOGISTIC, DATA, CENTERS, gap, drawing()).points)
    assert foreseen_rounds(LOGISTIC, N, gap) is not None
    assert not np.array_equal(plain, drawn)
    assert np.max(np.linalg.norm(plain - drawn, axis=1)) <= 2 * math.sqrt(gap / LOGISTIC.pull)


@pytest.mark.parametrize("share", [1.0, 1e-4])
def test_a_certificate_that_says_yes_too_early_is_seen(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = RegularizedRisk.step_certificate
    monkeypatch.setattr(
        RegularizedRisk,
        "step_certificate",
        lambda risk, before, after: share * honest(risk, before, after),
    )
    found = minimize_on_draws(LOGISTIC, DATA, CENTERS, GAP, drawing())
    above = excess(LOGISTIC, np.asarray(found.points))
    assert np.all(above <= GAP) if share == 1.0 else np.max(above) > 3 * GAP


def no_progress(self: Any, start: Any, size: int, middle: Any, slope: Any) -> Any:
    return start if middle is None else middle


def no_certificate(risk: Any, before: Any, after: Any) -> Any:
    return np.full(before.shape[0], math.inf)


@BOTH
@pytest.mark.parametrize("broken", ["steps", "certificate"])
def test_what_is_not_certified_is_left_to_accelerated_descent(
    broken: str, risk: RegularizedRisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds that get nowhere, and a certificate that never says yes: gaps and largest counts hold all the same."""
    rounds = expected_rounds(risk)
    most = most_gradients(risk, N, GAP), most_projections(risk, N, GAP)
    if broken == "steps":
        monkeypatch.setattr(variance_reduced_descent._Search, "_averaged", no_progress)
    else:
        monkeypatch.setattr(RegularizedRisk, "step_certificate", no_certificate)
    found = minimize_on_draws(risk, DATA, CENTERS, GAP, drawing())
    assert np.all(excess(risk, np.asarray(found.points)) <= GAP)
    spent = rounds.gradients(rounds.most, N), rounds.projections(rounds.most)
    if broken == "steps":
        assert np.all((spent[0] < found.gradients) & (found.gradients <= most[0]))
        assert np.all((spent[1] < found.projections) & (found.projections <= most[1]))
    else:
        # all that may ever be needed, and no more
        assert np.all(found.gradients == most[0])
        assert np.all(found.projections == most[1])


@dataclass(frozen=True, eq=False)
class CountedLogistic(Logistic):
    """Counts the slopes that it is asked for."""

    asked: list[int] = field(default_factory=list)
    lipschitz_constant: ClassVar[float] = 1.0

    def link_slope(self, z: Any, y: Any) -> Any:
        self.asked.append(z.size)
        return super().link_slope(z, y)


@dataclass(frozen=True, eq=False)
class CountedBall(Ball):
    """Counts the points that it projects."""

    projected: list[int] = field(default_factory=list)

    def project(self, w: Any, *, overwrite: bool = False) -> Any:
        self.projected.append(w.shape[0])
        return super().project(w, overwrite=overwrite)


@BOTH
def test_calls_are_counted(risk: RegularizedRisk) -> None:
    loss, ball = CountedLogistic(), CountedBall(D, 1.0)
    counted = RegularizedRisk(Problem(loss, ball), risk.pull)
    found = minimize_on_draws(counted, DATA, CENTERS, GAP, drawing())
    assert sum(loss.asked) == np.sum(found.gradients)
    assert sum(ball.projected) == np.sum(found.projections)
    assert len(set(found.gradients.tolist())) > 1  # runs end in different rounds


def test_tables_of_drawn_records_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = expected_rounds(LOGISTIC)
    numbers = 2 * max(rounds.opening, rounds.batch) * D
    monkeypatch.setattr(variance_reduced_descent, "_NUMBERS_AT_ONCE", numbers)
    shapes: list[tuple[int, ...]] = []
    draw = drawing()

    def watched(shape: tuple[int, ...]) -> Any:
        shapes.append(shape)
        return draw(shape)

    found = minimize_on_draws(LOGISTIC, DATA, CENTERS, GAP, watched)
    assert max(math.prod(shape) * D for shape in shapes) <= numbers
    assert {runs for runs, _ in shapes} == {1, 2}
    assert np.all(excess(LOGISTIC, np.asarray(found.points)) <= GAP)


def of_size(n: int) -> tuple[RegularizedRisk, float]:
    """Condition number n / 160, about what mn25's Algorithm 5 has at epsilon = 1, and its gap."""
    pull = 20.0 / n
    return RegularizedRisk(LOGISTIC.problem, pull), 1 / (pull * n**2)


def test_few_records_and_strong_pulls_are_left_to_accelerated_descent() -> None:
    for risk, n, gap in (
        (of_size(50)[0], 50, of_size(50)[1]),
        (RegularizedRisk(LOGISTIC.problem, 5.0), N, GAP),
    ):
        assert foreseen_rounds(risk, n, gap) is None
        assert most_gradients(risk, n, gap) == n * most_steps(risk, gap)
        assert most_projections(risk, n, gap) == most_steps(risk, gap)
        data, unused = make_data(n), drawing(0)
        found = minimize_on_draws(risk, data, CENTERS, gap, unused)
        plain = minimize_regularized(risk, data, CENTERS, gap)
        assert np.array_equal(found.points, plain.points)
        assert np.array_equal(found.gradients, plain.gradients)


@pytest.mark.parametrize("n", [800, 6_400, 51_200, 10**7])
def test_rounds_cost_little_more_than_the_bound_of_accelerated_descent(n: int) -> None:
    """What is sure grows by the rounds only, and these by a logarithm."""
    risk, gap = of_size(n)
    rounds = expected_rounds(risk, n, gap)
    assert rounds.most <= 10
    drawn = rounds.gradients(rounds.most, n) - rounds.most * n
    assert drawn <= 0.3 * rounds.most * n
    assert most_gradients(risk, n, gap) <= n * (most_steps(risk, gap) + 1.3 * rounds.most)


@pytest.mark.parametrize("make", [lambda k: k // 4, lambda k: 4 * k], ids=["n = 800", "n = 12,800"])
def test_calls_at_one_size(make: Callable[[int], int]) -> None:
    """Typical counts at a fixed seed, no bound: two to four rounds, where accelerated descent grows like sqrt(n)."""
    n = make(3_200)
    risk, gap = of_size(n)
    data = make_data(n)
    drawn = minimize_on_draws(risk, data, CENTERS, gap, drawing(n)).gradients.mean() / n
    plain = minimize_regularized(risk, data, CENTERS, gap).gradients.mean() / n
    assert 2.1 <= drawn <= 4.0
    assert plain > (4 if n == 800 else 12)
