"""Scorers: where they apply, and that scores are functions of one output alone."""

from __future__ import annotations

import numpy as np
import pytest

from dpverify.auditing import DEFAULT_SCORERS, Scorer, audit_privacy
from dpverify.auditing.black_box.scores import (
    BestCoordinate,
    LinearDiscriminant,
    NearestCentroid,
    QuadraticLogistic,
    apply_score,
    fit_score,
)
from dpverify.auditing.privacy import Parts, _learn
from dpverify.privacy import PureDP

IDS = [scorer.name for scorer in DEFAULT_SCORERS]


def _samples(d: int, discrete: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    left, right = rng.normal(size=(3000, d)), rng.normal(0.5, 1.3, size=(3000, d))
    return (np.rint(left), np.rint(right)) if discrete else (left, right)


@pytest.mark.parametrize("scorer", DEFAULT_SCORERS, ids=IDS)
@pytest.mark.parametrize("d", [1, 2, 20])
@pytest.mark.parametrize("discrete", [False, True])
def test_a_score_depends_on_one_output_alone(scorer: Scorer, d: int, discrete: bool) -> None:
    """Scoring rows in another order, or among others, gives the same scores to the last bit.

    A score that looked at the whole judging sample would void the binomial bounds.
    """
    left, right = _samples(d, discrete)
    score = fit_score(scorer, left, right, np.random.default_rng(1))
    if score is None:
        names = {"value", "histogram ratio", "frequency ratio", "ratios within categories"}
        names.add("gradient boosting" if d < 5 else "ratios in cells")
        assert scorer.name in names if d > 1 else True
        return
    whole = apply_score(score, left)
    assert whole.shape == (3000,)
    assert np.all(np.isfinite(whole))
    order = np.random.default_rng(2).permutation(3000)[:500]
    assert np.array_equal(apply_score(score, left[order]), whole[order])
    assert np.array_equal(apply_score(score, np.asfortranarray(left)[7:8]), whole[7:8])


@pytest.mark.parametrize("scorer", DEFAULT_SCORERS, ids=IDS)
@pytest.mark.parametrize("d", [1, 4])
def test_fitting_is_deterministic(scorer: Scorer, d: int) -> None:
    left, right = _samples(d, discrete=True)
    scores = [fit_score(scorer, left, right, np.random.default_rng(3)) for _ in range(2)]
    if scores[0] is None or scores[1] is None:
        assert scores == [None, None]
        return
    assert np.array_equal(apply_score(scores[0], right), apply_score(scores[1], right))


@pytest.mark.parametrize("d", [1, 2, 5, 300, 600])
def test_some_scorer_always_applies(d: int) -> None:
    rng = np.random.default_rng(4)
    left, right = rng.normal(size=(50, d)), rng.normal(size=(50, d))
    applied = [s.name for s in DEFAULT_SCORERS if fit_score(s, left, right, rng) is not None]
    assert applied
    assert ("ratios in cells" in applied) == (d == 2)
    assert ("gradient boosting" in applied) == (d == 5)


def test_names_differ() -> None:
    assert len(set(IDS)) == len(IDS)


def test_values_not_seen_in_fitting_score_zero_by_frequency() -> None:
    scorer = next(s for s in DEFAULT_SCORERS if s.name == "frequency ratio")
    left, right = np.repeat([[0.0], [1.0]], [60, 40], axis=0), np.repeat([[0.0], [2.0]], [40, 60], axis=0)
    score = scorer.fit(left, right, np.random.default_rng(5))
    assert score is not None
    scores = score(np.array([[0.0], [-0.0], [1.0], [2.0], [3.0], [-7.0]]))
    assert scores[0] == scores[1] > 0
    assert scores[2] > scores[0] > 0 > scores[3]
    assert scores[4] == scores[5] == 0


@pytest.mark.parametrize(("d", "from_all"), [(2, True), (20, True), (21, False), (60, False)])
def test_only_linear_scores_of_few_weights_choose_from_the_runs_that_fitted_them(
    d: int, from_all: bool
) -> None:
    """From 1000 runs that fit, at 50 a weight; runs that judge are never among them."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(4000, d)), 0.5 + 1.3 * rng.normal(size=(4000, d))
    parts = Parts(np.arange(1000), np.arange(1000, 2000), np.arange(2000, 4000))
    _, scored = _learn(
        (NearestCentroid(), LinearDiscriminant(), QuadraticLogistic()), left, right, parts, rng, range(d)
    )
    assert [each.left.size for each in scored] == [2000 if from_all else 1000] * 2 + [1000]
    assert [each.right.size for each in scored] == [2000 if from_all else 1000] * 2 + [1000]


def test_the_best_coordinate_is_named_by_its_number() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 4000, 3))
    right[:, 1] += 3
    found = audit_privacy(
        left, right, PureDP(0.5), adjacency="replace-one", failure_probability=1e-6, seed=0, scorers=[BestCoordinate()]
    )  # fmt: skip
    assert found.violation is not None
    assert found.violation.event.scorer == "coordinate 2"
