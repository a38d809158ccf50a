"""What would take days is refused before it starts, in words, and allowed to whoever asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14 import ApproximateLocalization, Boosting, GridWalk, NoisyGradientDescent
from dpverify.algorithms.gll22 import RegularizedExponentialMechanism
from dpverify.algorithms.mn25 import EmpiricalToPopulation
from dpverify.algorithms.promises import StatedQueries
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Box, Hinge, Logistic, Problem, Ridge, Simplex, load
from dpverify.running import (
    CALL_LIMIT,
    LongRunWarning,
    Randomness,
    TooCostlyError,
    call_limit,
    foresight,
    run,
    stream,
)


@dataclass(frozen=True)
class Counting:
    """States as many calls as it is told, and makes none."""

    queries_of: tuple[StatedQueries, ...]
    id: str = "mine.counting"
    seconds_a_call: float = foresight.USUAL_CALL

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        return self.queries_of

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Any:
        return np.zeros((runs, 1))


DATA = load("breast-cancer", n=10, d=2)


@pytest.mark.parametrize("executor", ["serial", "threads=2"])
def test_what_is_stated_is_foreseen(executor: str) -> None:
    dear = Counting((StatedQueries("gradient", 3), StatedQueries("value", 2.0 * CALL_LIMIT)))
    message = (
        r"mine.counting on 10 records would make about 2e\+07 oracle calls in a run, which take about 20 minutes; "
        r"allowed: at most 1e\+07"
    )
    with pytest.raises(TooCostlyError, match=message):
        stream(dear, DATA, runs=1, seed=0, executor=executor)  # before the first block is asked for
    with pytest.warns(LongRunWarning, match="about 20 minutes with NumPy alone"):
        assert len(run(dear, DATA, runs=3, seed=0, executor=executor, call_limit=3 * CALL_LIMIT)) == 3


def test_seconds_count_where_calls_are_quick() -> None:
    """By counts and a fixed cost of each, so that no clock is read: which runs are refused differs nowhere."""
    calls = StatedQueries("gradient", 2.0 * CALL_LIMIT), StatedQueries("projection", 2.0 * CALL_LIMIT)
    quick = Counting(calls, seconds_a_call=2e-6)
    assert len(run(quick, DATA, runs=3, seed=0)) == 3  # 40 seconds: a step asks both oracles
    quick = Counting(calls, seconds_a_call=4e-6)
    with pytest.warns(
        LongRunWarning, match=r"about 2e\+07 oracle calls in a run, which take about 80 seconds"
    ):
        assert len(run(quick, DATA, runs=3, seed=0)) == 3
    quick = Counting(calls, seconds_a_call=1e-4)
    with pytest.raises(TooCostlyError, match=r"about 33 minutes; allowed: at most 6e\+06"):
        run(quick, DATA, runs=3, seed=0)
    digits = load("digits")
    problem = Problem(Logistic(), Ball(64, 1.0))
    strong = Problem(Ridge(Logistic(), 0.5, 1.0), Ball(64, 1.0))
    descent = NoisyGradientDescent(problem, 1.0, 1e-5)
    for algorithm, least, most in (
        (descent, 5, 15),
        (Boosting(descent), 40, 80),
        (EmpiricalToPopulation(descent), 5, 15),
        (ApproximateLocalization(strong, 4.0, 1e-5), 30, 60),
    ):
        calls = max(one.count for one in algorithm.queries(digits.n))
        assert least < calls * algorithm.seconds_a_call < most
    # what is not stepped alone takes as long as it did
    simplex = NoisyGradientDescent(Problem(Logistic(), Simplex(64)), 1.0, 1e-5)
    assert simplex.seconds_a_call == foresight.USUAL_CALL


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
        with pytest.warns(LongRunWarning):
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
