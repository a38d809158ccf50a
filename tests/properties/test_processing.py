"""Batches of any size, and whatever is made of outputs: right mechanisms pass, planted faults are found.

False alarms: 1e-6 for each check of a right mechanism, once, when its seed was chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import PureDP
from dpverify.properties import check_batch_sizes, check_post_processing
from dpverify.properties.objects import GaussianSum, LaplaceSum, RandomizedResponse

DATA = np.array([[0.2], [0.4], [1.0]])
LEFT, RIGHT = np.zeros((2, 1)), np.array([[0.0], [1.0]])


@pytest.mark.parametrize("mechanism", [GaussianSum(1.0), LaplaceSum(2.0), RandomizedResponse(1.0)])
def test_known_mechanisms_do_not_depend_on_the_batch(mechanism: Any) -> None:
    check_batch_sizes(mechanism, DATA, runs=700)


def shared_noise(data: Any, rng: Any, runs: int) -> Any:
    return np.sum(data) + np.full(runs, rng.normal())


def noise_by_size(data: Any, rng: Any, runs: int) -> Any:
    return np.sum(data) + rng.normal(size=runs) / np.sqrt(runs)


def first_without(data: Any, rng: Any, runs: int) -> Any:
    return np.sum(data) + np.concatenate([[0.0], rng.normal(size=runs - 1)])


def another_shape(data: Any, rng: Any, runs: int) -> Any:
    return rng.normal(size=(runs, 1 if runs == 1 else 2))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (shared_noise, "successive runs"),
        (noise_by_size, "laws of coordinate 1"),
        (first_without, "laws of coordinate 1"),
        (another_shape, "shape"),
    ],
)
def test_what_depends_on_the_batch_is_found(fault: Any, says: str) -> None:
    with pytest.raises((AssertionError, InvalidDataError), match=says):
        check_batch_sizes(fault, DATA)


def test_post_processing_keeps_a_true_claim_and_shows_false_ones() -> None:
    check_post_processing(LaplaceSum(1.0), LEFT, RIGHT, "eps=1", runs=2000)
    with pytest.raises(AssertionError, match=r"made into (?s:.*)1-DP is violated"):
        check_post_processing(LaplaceSum(0.4), LEFT, RIGHT, "eps=1")


def test_what_could_not_have_been_found_is_no_success() -> None:
    with pytest.raises(AssertionError, match="undecided"):
        check_post_processing(LaplaceSum(0.4), LEFT, RIGHT, "eps=1,delta=0.9", runs=100)
    check_post_processing(LaplaceSum(0.4), LEFT, RIGHT, "eps=1,delta=0.9", runs=100, allow_undecided=True)


def test_a_leak_in_the_third_decimal_is_found_by_the_map_that_shows_it() -> None:
    """The outputs' law looks the same at any threshold: the record is in one decimal of a wide noise."""

    def leaking(data: Any, rng: Any, runs: int) -> Any:
        noisy = np.round(10 * rng.normal(size=runs), 2)
        return noisy + (0.003 if np.sum(data) > 0.5 else 0.0)

    def thresholds(points: Any) -> Any:
        return np.round(points, 1)

    check_post_processing(leaking, LEFT, RIGHT, "eps=1", maps={"tenths": thresholds})
    with pytest.raises(AssertionError, match="third decimals"):
        check_post_processing(leaking, LEFT, RIGHT, "eps=1")


def test_post_processing_that_sees_the_data_is_found() -> None:
    seen = iter((LEFT, RIGHT))

    def peeking(points: Any) -> Any:
        return points + 5 * next(seen).sum()

    with pytest.raises(AssertionError, match="made into a summary"):
        check_post_processing(LaplaceSum(1.0), LEFT, RIGHT, PureDP(1.0), maps={"a summary": peeking})


def test_bad_arguments_are_refused() -> None:
    def words(data: Any, rng: Any) -> str:
        return "yes"

    for call in (
        lambda: check_batch_sizes(words, DATA, runs=100),
        lambda: check_batch_sizes(GaussianSum(1.0), DATA, sizes=(3, 3)),
        lambda: check_batch_sizes(GaussianSum(1.0), DATA, failure_probability=0.0),
        lambda: check_post_processing(words, LEFT, RIGHT, "eps=1", runs=100),
        lambda: check_post_processing(GaussianSum(1.0), LEFT, RIGHT, "mu=1", maps={}),
        lambda: check_post_processing(GaussianSum(1.0), LEFT, RIGHT, "mu=1", maps={"first": lambda w: w[:1]}),
        lambda: check_post_processing(GaussianSum(1.0), LEFT, LEFT, "mu=1"),
    ):
        with pytest.raises((InvalidArgumentError, InvalidDataError)):
            call()
