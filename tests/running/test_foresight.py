"""What would take days is refused before it starts, in words, and allowed to whoever asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14 import GridWalk
from dpverify.algorithms.gll22 import RegularizedExponentialMechanism
from dpverify.algorithms.promises import StatedQueries
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Box, Hinge, Logistic, Problem, load
from dpverify.running import CALL_LIMIT, Randomness, TooCostlyError, call_limit, run, stream


@dataclass(frozen=True)
class Counting:
    """States as many calls as it is told, and makes none."""

    queries_of: tuple[StatedQueries, ...]
    id: str = "mine.counting"

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        return self.queries_of

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Any:
        return np.zeros((runs, 1))


DATA = load("breast-cancer", n=10, d=2)


@pytest.mark.parametrize("executor", ["serial", "threads=2"])
def test_what_is_stated_is_foreseen(executor: str) -> None:
    dear = Counting((StatedQueries("gradient", 3), StatedQueries("value", 2.0 * CALL_LIMIT)))
    message = (
        r"mine.counting on 10 records would make about 2e\+07 oracle calls in a run; allowed: at most 1e\+07"
    )
    with pytest.raises(TooCostlyError, match=message):
        stream(dear, DATA, runs=1, seed=0, executor=executor)  # before the first block is asked for
    assert len(run(dear, DATA, runs=3, seed=0, executor=executor, call_limit=3 * CALL_LIMIT)) == 3


def test_upper_bounds_and_what_states_nothing_are_no_reason() -> None:
    loose = Counting((StatedQueries("value", 1e20, exact=False),))
    assert len(run(loose, DATA, runs=3, seed=0)) == 3
    assert len(run(Counting(()), DATA, runs=3, seed=0)) == 3
    expected = Counting((StatedQueries("value", 1e20, exact=False, expected=True),))
    assert len(run(expected, DATA, runs=3, seed=0)) == 3


def test_a_walk_that_ends_never_does_not_begin() -> None:
    """Its calls are an upper bound, and few where its law is computed instead: the walk itself looks."""
    data = load("breast-cancer")
    walk = GridWalk.for_privacy(Problem(Logistic(), Box.cube(30, 1.0)), epsilon=1.0)
    for start in (
        lambda: run(walk, data, runs=1, seed=0),
        lambda: walk(data, rng=Randomness(0), runs=1),
    ):
        with pytest.raises(TooCostlyError, match=r"The walk on the grid would make about .* steps"):
            start()
    few = load("breast-cancer", n=4, d=1)
    line = GridWalk.for_privacy(Problem(Logistic(), Box.cube(1, 1.0)), epsilon=1.0)
    with call_limit(1):
        assert len(run(line, few, runs=3, seed=0, call_limit=1)) == 3  # by its law


def test_an_exponential_mechanism_of_hours_does_not_begin() -> None:
    data = load("breast-cancer")
    # of a loss with a kink no part can be taken out before it is estimated
    problem = Problem(Hinge(), Ball(30, 1.0))
    mechanism = RegularizedExponentialMechanism(problem, 1.0, 1e-2, sampler="alternating")
    with pytest.raises(TooCostlyError, match=r"would make about \S+ oracle calls in a run"):
        run(mechanism, data, runs=1, seed=0)
    with pytest.raises(TooCostlyError):
        mechanism(data, rng=Randomness(0), runs=1)


def test_the_context_counts_where_runs_are_given_no_limit() -> None:
    dear = Counting((StatedQueries("value", 2.0 * CALL_LIMIT),))
    with call_limit(3 * CALL_LIMIT):
        assert len(run(dear, DATA, runs=3, seed=0)) == 3
        with pytest.raises(TooCostlyError, match=r"at most 1e\+07"):
            run(dear, DATA, runs=3, seed=0, call_limit=CALL_LIMIT)
    cheap = Counting((StatedQueries("value", 10),))
    with call_limit(9), pytest.raises(TooCostlyError, match=r"at most 9"):
        run(cheap, DATA, runs=3, seed=0)


@pytest.mark.parametrize("calls", [0, -1, float("nan"), "many"])
def test_limits_that_are_none(calls: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="call_limit was"):
        run(Counting(()), DATA, runs=1, seed=0, call_limit=calls)
