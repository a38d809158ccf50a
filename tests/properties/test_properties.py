"""The property checks: they pass on what is right and fail on planted faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dpverify.privacy import GDP, Guarantee, PureDP
from dpverify.problems import Dataset
from dpverify.properties import (
    check_guarantee,
    check_mechanism,
    check_private,
    guarantees,
    neighboring_datasets,
    unit_ball_points,
)

LEFT, RIGHT = np.zeros((4, 1)), np.array([[1.0], [0.0], [0.0], [0.0]])
FEW = settings(max_examples=30, derandomize=True, deadline=None)


@dataclass(frozen=True)
class LaplaceSum:
    """The sum of the records plus Laplace noise: 1/scale-DP for records in [0, 1]."""

    scale: float

    def __call__(self, data: Any, *, rng: Any, runs: int) -> Any:
        return float(np.sum(data)) + rng.generator.laplace(scale=self.scale, size=runs)


@given(guarantees())
@FEW
def test_guarantees_obey_the_laws(guarantee: Guarantee) -> None:
    check_guarantee(guarantee)


@dataclass(frozen=True)
class Claimed:
    """A third party's guarantee, taken at its word."""

    profile: Any

    def privacy_profile(self, epsilon: Any) -> Any:
        return self.profile(np.asarray(epsilon))


@pytest.mark.parametrize(
    ("profile", "law"),
    [
        (lambda e: 0.5 + 0.01 * e, "falls in epsilon"),
        (lambda e: 1.5 * np.exp(-e), "lies in"),
        (lambda e: np.where(e < 3, 0.5, 0.0), "convex"),
        (lambda e: 0.9 * np.exp(-2 * e), "no faster"),
    ],
)
def test_a_profile_that_breaks_a_law_is_found(profile: Any, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_guarantee(Claimed(profile))  # type: ignore[arg-type]


@given(unit_ball_points(5, 3))
@FEW
def test_points_lie_in_the_ball(points: Any) -> None:
    assert np.all(np.linalg.norm(points, axis=1) <= 1 + 1e-12)


@given(neighboring_datasets(n=4, d=2))
@FEW
def test_neighbors_differ_in_at_most_the_named_record(pair: tuple[Dataset, Dataset, int]) -> None:
    left, right, index = pair
    others = [i for i in range(4) if i != index - 1]
    assert np.array_equal(np.asarray(left.features)[others], np.asarray(right.features)[others])
    assert np.array_equal(np.asarray(left.labels)[others], np.asarray(right.labels)[others])


def test_mechanism_check_passes_and_catches_foreign_randomness() -> None:
    check_mechanism(LaplaceSum(1.0), LEFT)
    stray = np.random.default_rng(0)

    def own_randomness(data: Any, *, rng: Any, runs: int) -> Any:
        return stray.normal(size=runs)

    def no_randomness(data: Any, *, rng: Any, runs: int) -> Any:
        return np.zeros(runs)

    with pytest.raises(AssertionError, match="same seed"):
        check_mechanism(own_randomness, LEFT)
    with pytest.raises(AssertionError, match="does not use"):
        check_mechanism(no_randomness, LEFT)


def test_private_check_passes_the_right_noise_and_fails_half_of_it() -> None:
    """False alarm of the first: 1e-6, once, when the seed was chosen."""
    audit = check_private(LaplaceSum(1.0), LEFT, RIGHT, PureDP(1.0), seed=1)
    assert audit.epsilon_lower > 0.7
    with pytest.raises(AssertionError, match="violated"):
        check_private(LaplaceSum(0.5), LEFT, RIGHT, PureDP(1.0), seed=1)
    with pytest.raises(AssertionError, match="violated"):
        check_private(LaplaceSum(0.25), LEFT, RIGHT, GDP(1.0), seed=1)
