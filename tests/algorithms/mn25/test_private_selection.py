"""Private selection: its law, its privacy, relative scores, and what is printed of it."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.mn25.private_selection import (
    before_amplification,
    relative_scores,
    select,
    selection_penalty,
)
from dpverify.errors import InvalidArgumentError
from dpverify.running import Randomness

SCORES = np.array([[0.3, 0.1, 0.25, 0.9]])


def _probabilities(scores: Any, sensitivity: float, epsilon: float) -> Any:
    """The law that `select` draws from, by its definition."""
    weights = np.exp((-0.5 * epsilon / sensitivity) * (scores - scores.min(axis=1, keepdims=True)))
    return weights / weights.sum(axis=1, keepdims=True)


def _amplified(epsilon: float, batch: int, n: int) -> float:
    """Of a selection on `batch` of n records, drawn without replacement, for all n records."""
    return epsilon if batch >= n else math.log1p(batch / n * math.expm1(epsilon))


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
    # corrected: within the bound 1 + 2 t (2 / n) / alpha for every D
    allowed = [1 + 2 * selection_penalty(k + 1, epsilon, math.log(n)) * 2 / n / alpha for k in (2, 5, 8, 11)]
    assert all(r <= a + 0.02 for r, a in zip(ratios["relative"], allowed, strict=True))


def test_the_printed_accuracy_of_a_loss_estimate_is_wrong() -> None:
    """1/alpha^2 records: Hoeffding gives 1/n^2 at alpha sqrt(ln n), and nothing like it at sqrt(8 ln(n) / n)."""
    n, alpha = 10_000, 0.1
    batch = round(1 / alpha**2)
    printed, corrected = math.sqrt(8 * math.log(n) / n), alpha * math.sqrt(math.log(n))
    # losses of 0 and 1, half of the records each; without replacement
    law = stats.hypergeom(n, n // 2, batch)
    assert law.sf(math.ceil(batch * (0.5 + printed)) - 1) > 1e-3 > 1 / n**2
    assert law.sf(math.ceil(batch * (0.5 + corrected)) - 1) < 1 / n**2


def test_amplification_is_its_own_inverse() -> None:
    for batch in (1, 7, 100):
        inside = before_amplification(0.3, batch, 100)
        assert inside >= 0.3
        assert _amplified(inside, batch, 100) == pytest.approx(0.3, rel=1e-12)
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
        select(SCORES, sensitivity=value, epsilon=1.0, rng=Randomness(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        select(SCORES, sensitivity=1.0, epsilon=value, rng=Randomness(1))  # type: ignore[arg-type]
