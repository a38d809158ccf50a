"""The property checks: they pass on what is right and fail on planted faults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dpverify.auditing import Request, audit, audit_samples
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, Guarantee, PureDP
from dpverify.problems import Dataset
from dpverify.properties import (
    ErrorOverExamples,
    check_guarantee,
    check_mechanism,
    check_private,
    guarantees,
    neighboring_datasets,
    unit_ball_points,
)
from dpverify.running.subjects.user_mechanisms import plain_array

LEFT, RIGHT = np.zeros((4, 1)), np.array([[1.0], [0.0], [0.0], [0.0]])
MORE = np.zeros((5, 1))
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
        (lambda e: 0.5 + 0.01 * e, "not increase with epsilon"),
        (lambda e: 1.5 * np.exp(-e), "lie in"),
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
def test_neighbors_differ_in_the_named_record_alone(pair: tuple[Dataset, Dataset, int]) -> None:
    left, right, index = pair
    others = [i for i in range(4) if i != index - 1]
    assert np.array_equal(np.asarray(left.features)[others], np.asarray(right.features)[others])
    assert np.array_equal(np.asarray(left.labels)[others], np.asarray(right.labels)[others])
    assert not np.array_equal(plain_array(left), plain_array(right))


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
    found = check_private(LaplaceSum(1.0), LEFT, RIGHT, PureDP(1.0), seed=1)
    assert found.epsilon_lower > 0.7
    with pytest.raises(AssertionError, match="violated"):
        check_private(LaplaceSum(0.5), LEFT, RIGHT, PureDP(1.0), seed=1)
    with pytest.raises(AssertionError, match="violated"):
        check_private(LaplaceSum(0.25), LEFT, RIGHT, GDP(1.0), seed=1)


def noisy_sum(data: Any, rng: Any) -> float:
    return float(np.sum(data) + rng.laplace())


def half_noise(data: Any, rng: Any, runs: int) -> Any:
    return np.sum(data) + 0.5 * rng.laplace(size=runs)


def test_private_check_takes_functions_and_claims_in_words() -> None:
    """False alarm of the first two: 1e-6 each, once, when the seed was chosen."""
    assert check_private(noisy_sum, LEFT, RIGHT, "eps=1", runs=3000).verdict is Verdict.SUPPORTED
    assert check_private(noisy_sum, LEFT, RIGHT, "eps=1", runs=3000, executor="threads=2").claim == "1-DP"
    with pytest.raises(
        AssertionError, match=r"1-DP is violated \(seed 0, 20000 runs, adjacency replace-one\)"
    ):
        check_private(half_noise, LEFT, RIGHT, "eps=1", fixed_runs=True)
    with pytest.raises(
        AssertionError, match=r"1-DP is violated \(seed 0, \d{4} runs, adjacency replace-one\)"
    ):
        check_private(half_noise, LEFT, RIGHT, "eps=1")


@pytest.mark.parametrize(
    ("left", "right", "more", "message"),
    [
        (LEFT, LEFT, {}, "hold the same records, so nothing would be tested"),
        (LEFT, LEFT.copy(), {"adjacency": "add-or-remove-one"}, "hold the same records"),
        (LEFT, LEFT + 1.0, {}, "differ in 4 of 4 records"),
        (LEFT, MORE, {}, "have 4 and 5 records"),
        (LEFT, np.zeros((4, 2)), {}, r"records of shapes \(1,\) and \(2,\)"),
        (np.array([0.0, 1.0]), np.array([1.0, 0.0]), {}, "same records in another order"),
        (None, None, {}, "data was None; allowed: both data and neighbor"),
        (LEFT, None, {}, "neighbor was None"),
        (3.0, 4.0, {}, "data is not a data set"),
        (["a", None], ["a", "b"], {}, "data is not a data set"),
        ([[1.0], [1.0, 2.0]], LEFT, {}, "rectangular array"),
        (LEFT, RIGHT, {"adjacency": "add-or-remove-one"}, "have 4 and 4 records"),
        (LEFT, np.ones((5, 1)), {"adjacency": "add-or-remove-one"}, "differ in more than one record"),
        (LEFT, RIGHT, {"adjacency": "index", "index": 2}, "differ in record 1; allowed: record 2"),
        (LEFT, RIGHT, {"adjacency": "index"}, "index was None"),
        (LEFT, RIGHT, {"index": 1}, "index was 1"),
        (LEFT, RIGHT, {"adjacency": "next"}, "adjacency was 'next'"),
        (LEFT, RIGHT, {"adjacency": 3}, "adjacency was 3"),
        (
            LEFT,
            RIGHT,
            {"score": "value"},
            "score was .*; allowed: with fixed_runs only, where a function is run",
        ),
        (LEFT, RIGHT, {"time": 3, "fixed_runs": True}, "time was 3; allowed: no value with fixed_runs"),
        (LEFT, RIGHT, {"left": [1.0]}, "left was .*; allowed: one of function, command, left with right, or"),
    ],
)
def test_private_check_refuses_what_are_no_neighbors(
    left: Any, right: Any, more: dict[str, Any], message: str
) -> None:
    def never(data: Any, rng: Any) -> Any:
        pytest.fail("was run")

    with pytest.raises((InvalidDataError, InvalidArgumentError), match=message):
        check_private(never, left, right, "eps=1", **more)


def test_private_check_of_other_adjacencies() -> None:
    """False alarm of each supported one: 1e-6, once, when the seed was chosen."""
    one_more = np.vstack((LEFT, [[1.0]]))
    check_private(noisy_sum, LEFT, one_more, "eps=1", adjacency="add-or-remove-one", runs=2000)
    check_private(noisy_sum, one_more, LEFT, "eps=1", adjacency="add-remove-one", runs=2000)
    check_private(noisy_sum, LEFT, RIGHT, "eps=1", adjacency="index", index=1, runs=2000)
    with pytest.raises(AssertionError, match="adjacency add-or-remove-one"):
        check_private(half_noise, LEFT, one_more, "eps=1", adjacency="add-or-remove-one")


def test_private_check_raises_on_undecided_unless_told_not_to() -> None:
    with pytest.raises(
        AssertionError, match=r"is undecided .* no violation of this claim can be found with 100"
    ):
        check_private(noisy_sum, LEFT, RIGHT, "eps=12", runs=100)
    found = check_private(noisy_sum, LEFT, RIGHT, "eps=12", runs=100, allow_undecided=True)
    assert found.verdict is Verdict.UNDECIDED


def test_audits_are_evidence() -> None:
    """Violated by far more than its failure probability, 1e-6."""
    found = audit(Request(half_noise, LEFT, RIGHT, "eps=1", runs=4000, fixed_runs=True))
    assert (found.verdict, found.subject, found.repeats) == (Verdict.VIOLATED, "half_noise", True)
    assert re.search(
        r"event: value [<>]=? \S+, in \d+ of \d+ judged runs on the left data set and in", found.reason
    )
    assert "half_noise: violated" in found._repr_html_()
    given = audit_samples(
        ["yes"] * 300 + ["no"] * 100, ["no"] * 300 + ["yes"] * 100, Claimed(GDP(1.0).privacy_profile)
    )
    assert given.outputs == "a category"
    assert given.adjacency == "as the samples were drawn"
    with pytest.raises(InvalidDataError, match="on the right data set"):
        audit_samples([1.0] * 200, object(), "eps=1")


def test_private_check_does_not_promise_what_does_not_repeat() -> None:
    stray = np.random.default_rng(5)

    def own(data: Any, rng: Any, runs: int) -> Any:
        return np.sum(data) + 0.3 * stray.laplace(size=runs)

    with pytest.raises(AssertionError, match="cannot be reproduced from the seed"):
        check_private(own, LEFT, RIGHT, "eps=1", runs=3000)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"adjacency": "index", "index": 1, "delta": 0.01, "fixed_runs": True, "runs": 2000},
        {"failure_probability": 1e-3},
    ],
)
def test_a_failure_ends_with_the_line_that_repeats_it(options: dict[str, Any]) -> None:
    """Also in a property test, whose examples have a seed and a part of the error of their own."""

    def release(data: Any, rng: np.random.Generator, runs: int) -> Any:
        return data.sum() + rng.laplace(size=runs)

    data, neighbor = [[0.0]], [[1.0]]
    if "failure_probability" in options:
        options = {"failure_probability": ErrorOverExamples(1e-3)}
    with pytest.raises(AssertionError) as first:
        check_private(release, data, neighbor, "eps=0.3", **options)
    line = str(first.value).splitlines()[-1]
    assert line.startswith("replay: check_private(")
    names = {"release": release, "data": data, "neighbor": neighbor, "check_private": check_private}
    with pytest.raises(AssertionError) as again:
        eval(line.removeprefix("replay: "), names)
    assert str(again.value) == str(first.value)
