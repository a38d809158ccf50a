"""Tests of private selection and of problems that differ from run to run."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import cvxpy
import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.mn25.private_selection import (
    amplified,
    before_amplification,
    relative_scores,
    select,
    selection_penalty,
    selection_probabilities,
)
from dpverify.errors import InvalidArgumentError
from dpverify.problems import ConstraintSet, Logistic, Loss, Squared
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss, ResampledLoss
from dpverify.running import Randomness

SCORES = np.array([[0.3, 0.1, 0.25, 0.9]])


def _probabilities(scores: Any, sensitivity: float, epsilon: float) -> Any:
    return selection_probabilities(scores, sensitivity=sensitivity, epsilon=epsilon, xp=np)


def test_draws_follow_the_probabilities() -> None:
    """Chi-squared at 1e-6; a planted fault, twice the epsilon, is seen."""
    runs = 20_000
    drawn = select(np.tile(SCORES, (runs, 1)), sensitivity=0.1, epsilon=0.8, rng=Randomness(3))
    counts = np.bincount(np.asarray(drawn), minlength=4)
    expected = np.exp(-4 * SCORES[0]) / np.sum(np.exp(-4 * SCORES[0]))
    np.testing.assert_allclose(_probabilities(SCORES, 0.1, 0.8)[0], expected, rtol=1e-12)
    assert stats.chisquare(counts, runs * expected).pvalue > 1e-6
    assert stats.chisquare(counts, runs * _probabilities(SCORES, 0.1, 1.6)[0]).pvalue < 1e-6


def test_privacy_of_the_exponential_mechanism() -> None:
    """Scores that move by at most the sensitivity change no probability by more than e^epsilon."""
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(200):
        scores = rng.normal(size=(1, 5))
        moved = scores + 0.2 * rng.choice([-1, 1], size=(1, 5))
        ratio = np.log(_probabilities(scores, 0.2, 1.0) / _probabilities(moved, 0.2, 1.0))
        worst = max(worst, float(np.max(np.abs(ratio))))
    assert 0.5 < worst <= 1.0 + 1e-12
    # a planted fault: half the sensitivity
    scores, moved = np.array([[0.0, 5.0]]), np.array([[0.2, 4.8]])
    ratio = np.log(_probabilities(moved, 0.1, 1.0) / _probabilities(scores, 0.1, 1.0))
    assert np.max(np.abs(ratio)) > 1.0


def test_the_expected_score() -> None:
    """At most the smallest plus (2 sensitivity / epsilon) ln m."""
    rng = np.random.default_rng(2)
    for m in (1, 2, 10):
        scores = rng.exponential(size=(300, m))
        expected = np.sum(_probabilities(scores, 0.3, 0.7) * scores, axis=1)
        assert np.all(expected <= scores.min(axis=1) + 0.6 / 0.7 * math.log(m) + 1e-12)


def test_relative_scores_have_sensitivity_one_and_a_relative_error() -> None:
    rng = np.random.default_rng(3)
    sensitivities = (1.0, 0.5, 0.1, 0.01)
    steps = np.array(sensitivities)
    for penalty in (0.0, 3.0):
        scores = rng.normal(size=(400, 4))
        moved = scores + steps * rng.uniform(-1, 1, (400, 4))
        q, p = (relative_scores(s, sensitivities, penalty=penalty, xp=np) for s in (scores, moved))
        assert np.max(np.abs(q - p)) <= 1.0 + 1e-12
        for i in range(4):
            low = q[:, i] <= penalty
            allowed = np.min(scores + 2 * penalty * steps, axis=1)
            assert np.all(scores[low, i] <= allowed[low] + 1e-12)
    # one candidate always has a score of at most 0, whatever the penalty
    assert np.all(relative_scores(scores, sensitivities, penalty=3.0, xp=np).min(axis=1) <= 0)


def test_the_printed_selection_has_no_relative_error() -> None:
    """Appendix D.1 picks between nested balls with one sensitivity for all: its error does not shrink with D.

    The minimizer is at a distance D from the center. The ball of radius D has it; larger ones give what an
    inaccurate solver finds there, an excess risk of alpha times the radius. n, epsilon and alpha are fixed.
    """
    n, epsilon, alpha = 1_000, 1.0, 0.05
    ratios = {"printed": [], "relative": []}  # type: dict[str, list[float]]
    for smallest in (2, 5, 8, 11):
        radii = 2.0 ** -np.arange(smallest + 1)
        scores = alpha * radii[None, :]
        distance = radii[-1]
        chances = _probabilities(scores, 2 / n, epsilon)
        ratios["printed"].append(float(np.sum(chances * scores)) / (alpha * distance))
        penalty = selection_penalty(len(radii), epsilon, math.log(n))
        relative = relative_scores(scores, tuple(2 / n * radii), penalty=penalty, xp=np)
        chances = _probabilities(relative, 1.0, epsilon)
        ratios["relative"].append(float(np.sum(chances * scores)) / (alpha * distance))
    # printed: alpha-hat would have to be over 30 times alpha, and more with every halving of D
    assert ratios["printed"][-1] > 30
    assert ratios["printed"][-1] > 4 * ratios["printed"][-2]
    # repaired: within the bound 1 + 2 t (2 / n) / alpha for every D
    allowed = [1 + 2 * selection_penalty(k + 1, epsilon, math.log(n)) * 2 / n / alpha for k in (2, 5, 8, 11)]
    assert all(r <= a + 0.02 for r, a in zip(ratios["relative"], allowed, strict=True))


def test_the_printed_accuracy_of_a_loss_estimate_is_wrong() -> None:
    """1/alpha^2 records: Hoeffding gives 1/n^2 at alpha sqrt(ln n), and nothing like it at sqrt(8 ln(n) / n)."""
    n, alpha = 10_000, 0.1
    batch = round(1 / alpha**2)
    printed, repaired = math.sqrt(8 * math.log(n) / n), alpha * math.sqrt(math.log(n))
    # losses of 0 and 1, half of the records each; without replacement
    law = stats.hypergeom(n, n // 2, batch)
    assert law.sf(math.ceil(batch * (0.5 + printed)) - 1) > 1e-3 > 1 / n**2
    assert law.sf(math.ceil(batch * (0.5 + repaired)) - 1) < 1 / n**2


def test_amplification_is_its_own_inverse() -> None:
    for batch in (1, 7, 100):
        inside = before_amplification(0.3, batch, 100)
        assert inside >= 0.3
        assert amplified(inside, batch, 100) == pytest.approx(0.3, rel=1e-12)
    assert before_amplification(5000.0, 100, 100) == 5000.0


def test_selection_in_the_strict_namespace() -> None:
    scores = np.random.default_rng(1).normal(size=(30, 4))
    there = array_api_strict.asarray(scores.copy())
    plain = select(scores, sensitivity=0.1, epsilon=0.8, rng=Randomness(3))
    strict = select(there, sensitivity=0.1, epsilon=0.8, rng=Randomness(3, xp=array_api_strict))
    np.testing.assert_array_equal(np.asarray(strict), plain)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, True])
def test_bad_selections(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="sensitivity"):
        _probabilities(SCORES, value, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        _probabilities(SCORES, 1.0, value)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------ local problems


def _balls(runs: int = 40, d: int = 3, radius: float = 0.7) -> LocalBalls:
    centers = np.random.default_rng(4).normal(size=(runs, d))
    centers *= (np.linspace(0, 1, runs) / np.linalg.norm(centers, axis=1))[:, None]
    return LocalBalls(radius, 1.0, centers)


@pytest.mark.parametrize("radius", [0.1, 0.7, 1.5, 3.0])
@pytest.mark.parametrize("d", [1, 3])
def test_projections_by_a_solver(radius: float, d: int) -> None:
    """Center in the middle, on the border, and between; projections and linear minima."""
    balls = _balls(radius=radius, d=d)
    assert isinstance(balls, ConstraintSet)
    w = 2 * np.random.default_rng(5).normal(size=(40, d))
    projected, lowest = balls.project(w), balls.minimize_linear(w)
    assert np.all(balls.contains(projected))
    assert np.all(balls.contains(lowest))
    np.testing.assert_allclose(balls.support(-w), -np.sum(lowest * w, axis=1), rtol=1e-12)
    for i in range(0, 40, 13):
        u = cvxpy.Variable(d)
        one = LocalBalls(radius, 1.0, balls.centers[i : i + 1])
        inside = one.cvxpy_constraints(u)
        cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(u - w[i])), inside).solve(solver=cvxpy.CLARABEL)
        np.testing.assert_allclose(projected[i], u.value, atol=2e-4)
        smallest = cvxpy.Problem(cvxpy.Minimize(w[i] @ u), inside).solve(solver=cvxpy.CLARABEL)
        assert smallest == pytest.approx(float(w[i] @ lowest[i]), abs=1e-5)


def test_projection_is_the_identity_inside() -> None:
    balls = _balls()
    inside = balls.project(np.random.default_rng(6).normal(size=(40, 3)))
    again = balls.project(inside)
    np.testing.assert_allclose(again, inside, atol=1e-12)
    assert np.all(balls.contains(np.zeros((1, 3))))


def test_gauges() -> None:
    balls = _balls()
    w = np.random.default_rng(7).normal(size=(40, 3))
    gauge = balls.gauge(w)
    finite = gauge < 1e9  # the last center is on the border, up to rounding
    assert np.sum(finite) >= 39
    on = w / np.where(finite, gauge, 1.0)[:, None]
    assert np.all(balls.contains(on, 1e-9)[finite])
    assert not np.any(balls.contains(on * 1.001, 1e-9)[finite])


def test_local_losses() -> None:
    rng = np.random.default_rng(8)
    offsets, anchors, u = (rng.normal(size=(6, 3)) for _ in range(3))
    x, y = np.array([0.3, -0.5, 0.2]), np.asarray(1.0)
    loss = LocalLoss(Logistic(), offsets, 0.8, anchors, 2.0)
    assert isinstance(loss, Loss)
    assert (loss.lipschitz_constant, loss.smoothness, loss.strong_convexity) == pytest.approx(
        (2.6, 1.05, 0.8)
    )
    assert (loss.gradient_sensitivity, loss.labels) == (2.0, (-1.0, 1.0))
    w = u + offsets
    expected = np.log1p(np.exp(-(w @ x))) + 0.4 * np.sum((w - anchors) ** 2, axis=1)
    np.testing.assert_allclose(loss.value(u, x, y), expected, rtol=1e-12)
    gradient = loss.gradient(u, x, y)
    for j in range(3):
        step = 1e-6 * np.eye(3)[j]
        slope = (loss.value(u + step, x, y) - loss.value(u - step, x, y)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], slope, atol=1e-8)


def test_resampled_losses() -> None:
    rng = np.random.default_rng(9)
    features, labels = 0.3 * rng.normal(size=(5, 3)), rng.uniform(-1, 1, 5)
    drawn, w = rng.integers(0, 5, (4, 6)), rng.normal(size=(4, 3))
    loss = ResampledLoss(Squared(5.0), features, labels, drawn)
    assert isinstance(loss, Loss)
    for place in range(6):
        value = loss.value(w, np.zeros(3), np.asarray(float(place)))
        slow = [0.5 * (w[r] @ features[k] - labels[k]) ** 2 for r, k in enumerate(drawn[:, place])]
        np.testing.assert_allclose(value, slow, rtol=1e-12)
    places = np.array([0.0, 5.0, 2.0, 2.0])
    gradient = loss.gradient(w, np.zeros((4, 3)), places)
    for r in range(4):
        k = drawn[r, int(places[r])]
        np.testing.assert_allclose(gradient[r], (w[r] @ features[k] - labels[k]) * features[k], rtol=1e-12)


def test_points_without_an_owner_are_refused() -> None:
    loss = LocalLoss(Logistic(), np.zeros((4, 3)), 0.1, np.zeros((4, 3)), 1.0)
    resampled = ResampledLoss(Logistic(), np.zeros((5, 3)), np.ones(5), np.zeros((4, 6), dtype=int))
    x, y = np.zeros(3), np.asarray(1.0)
    for call in (loss.value, loss.gradient, resampled.value, resampled.gradient):
        with pytest.raises(InvalidArgumentError, match="all 4 runs"):
            call(np.zeros((3, 3)), x, y)
    with pytest.raises(InvalidArgumentError, match="all 40 runs"):
        _balls().project(np.zeros((3, 3)))
    prefix = ResampledLoss(Logistic(), np.zeros((5, 3)), np.ones(5), np.zeros((4, 6), dtype=int), True)
    assert prefix.value(np.zeros((3, 3)), x, y).shape == (3,)
    with pytest.raises(InvalidArgumentError, match="one run"):
        _balls().cvxpy_constraints(None)
