"""Batches, noise and hidden iterates: what is as declared passes, planted faults are found.

False alarms: 1e-6 for each of the seven correct cases, by the checks' own bound; seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.properties import check_batch_sampling, check_hidden, check_noise

N = 12
Rng = np.random.Generator
Sampler = Callable[[Rng], Any]


def poisson(rng: Rng) -> Any:
    return np.flatnonzero(rng.random(N) < 0.25)


def fixed(rng: Rng) -> Any:
    return rng.choice(N, size=3, replace=False)


def repeating(rng: Rng) -> Any:
    return rng.integers(N, size=3)


def shuffled(rng: Rng) -> Any:
    return rng.permutation(N)


def biased(rng: Rng) -> Any:
    return np.flatnonzero(rng.random(N) < np.where(np.arange(N) == 0, 0.5, 0.25))


def neighbors(rng: Rng) -> Any:
    return (rng.integers(N) + np.arange(3)) % N


def rotated(rng: Rng) -> Any:
    return np.roll(np.arange(N), int(rng.integers(N)))


def slices() -> Sampler:
    """Slices of one shuffled pass after another."""
    rest: list[int] = []

    def draw(rng: Rng) -> Any:
        if not rest:
            rest.extend(rng.permutation(N).tolist())
        return [rest.pop() for _ in range(3)]

    return draw


def same_again() -> Sampler:
    """Each batch is used twice."""
    kept: list[Any] = []

    def draw(rng: Rng) -> Any:
        if kept:
            return kept.pop()
        kept.append(poisson(rng))
        return kept[-1]

    return draw


ARGUMENTS: dict[str, dict[str, Any]] = {
    "poisson": {"probability_of_a_record": 0.25},
    "without-replacement": {"batch": 3},
    "with-replacement": {"batch": 3},
    "shuffled": {},
}


@pytest.mark.parametrize(
    ("sampler", "scheme"),
    [
        (poisson, "poisson"),
        (fixed, "without-replacement"),
        (repeating, "with-replacement"),
        (shuffled, "shuffled"),
    ],
)
def test_samplers_as_declared_pass(sampler: Sampler, scheme: Any) -> None:
    check_batch_sampling(sampler, n=N, scheme=scheme, **ARGUMENTS[scheme])


@pytest.mark.parametrize(
    ("sampler", "scheme", "says"),
    [
        (fixed, "poisson", "a batch held"),
        (biased, "poisson", "record 0 came"),
        (same_again(), "poisson", "shared"),
        (repeating, "poisson", "twice"),
        (poisson, "without-replacement", "must hold 3"),
        (repeating, "without-replacement", "twice"),
        (slices(), "without-replacement", "shared"),
        (neighbors, "without-replacement", "together"),
        (fixed, "with-replacement", "the same"),
        (rotated, "shuffled", "right after"),
        (lambda rng: np.arange(N), "shuffled", "first half"),
        (fixed, "shuffled", "each of 12"),
        (lambda rng: [0, N], "poisson", "from 0 to 11"),
    ],
)
def test_other_samplers_are_found(sampler: Sampler, scheme: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_batch_sampling(sampler, n=N, scheme=scheme, **ARGUMENTS[scheme])


def noisy(scale: Callable[[np.ndarray], float]) -> Any:
    return lambda data, rng: float(data.sum()) + scale(data) * rng.laplace()


def test_noise() -> None:
    sets = [np.zeros(3), np.array([0.0, 0.5, 1.0]), np.ones(40)]
    assert check_noise(noisy(lambda data: 2.0), sets, center=np.sum) < 0.1
    in_lists = [[[0.0]], [[1.0], [1.0]]]
    assert check_noise(lambda data, rng: data.sum() + rng.laplace(), in_lists, center=np.sum, runs=500) < 0.3
    # no noise at all, up to rounding
    rounded = check_noise(lambda data, rng: float(data.sum()) + 1e-13, sets[1:], center=np.sum, runs=50)
    assert rounded == 0
    for fault in (lambda data: 10 / len(data), lambda data: 1.0 + np.ptp(data)):
        with pytest.raises(AssertionError, match="depends on the data"):
            check_noise(noisy(fault), sets, center=np.sum)


class Released:
    """An output with a history in an attribute."""

    def __init__(self, last: Any, history: Any) -> None:
        self.last, self.log = last, {"history": history}


def chain(rng: Rng) -> list[np.ndarray]:
    iterates = [np.zeros(2)]
    for _ in range(5):
        iterates.append(0.9 * iterates[-1] + rng.normal(size=2))
    return iterates


def test_hidden_iterates() -> None:
    check_hidden(lambda rng: ((w := chain(rng))[-1], w))
    check_hidden(lambda rng: (Released((w := chain(rng))[-1], None), w))
    with pytest.raises(AssertionError, match=r"\[3\]"):
        check_hidden(lambda rng: (Released((w := chain(rng))[-1], w[3]), w))
    with pytest.raises(AssertionError, match=r"\[1, 2, 3, 4\]"):
        check_hidden(lambda rng: (w := chain(rng), w))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: check_batch_sampling(fixed, n=N, scheme="cyclic", batch=3), "scheme was 'cyclic'"),  # type: ignore[arg-type]
        (lambda: check_batch_sampling(fixed, n=N, scheme="poisson"), "probability_of_a_record was None"),
        (lambda: check_batch_sampling(fixed, n=N, scheme="without-replacement", batch=13), "batch was 13"),
        (lambda: check_batch_sampling(fixed, n=1, scheme="shuffled"), "n was 1"),
        (lambda: check_noise(noisy(float), [0], center=float), "datasets was"),
        (lambda: check_hidden(lambda rng: (0, [])), "run was"),
    ],
)
def test_bad_arguments(call: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        call()
