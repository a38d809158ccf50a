"""A function that raises on one of two neighbors: refused with both named, or an exception is an output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.requests import Request, audit
from dpverify.errors import InvalidArgumentError, InvalidDataError, OneSideFailsError
from dpverify.ledger.verdicts import Verdict
from dpverify.running import FunctionMechanism

PAIR = ([[0.0], [0.5]], [[1.0], [0.5]])


def at_one(data: np.ndarray, rng: np.random.Generator) -> float:
    """Raises where a record is 1 or more."""
    if data.max() >= 1:
        raise ValueError("out of range")
    return float(rng.laplace())


def at_times(data: np.ndarray, rng: np.random.Generator, runs: int) -> np.ndarray:
    """The same in half of the runs."""
    if data.max() >= 1 and rng.random() < 0.5:
        raise ValueError("out of range")
    return rng.laplace(size=runs)


def by_chance(data: np.ndarray, rng: np.random.Generator) -> float:
    if rng.random() < 0.3:
        raise RuntimeError("no convergence")
    return float(rng.laplace())


def always(data: np.ndarray, rng: np.random.Generator) -> float:
    raise KeyError("x")


@pytest.mark.parametrize(("turn", "named"), [(1, "on the neighbor"), (-1, "on the data set")])
@pytest.mark.parametrize("function", [at_one, at_times])
@pytest.mark.parametrize("guarded", [{}, {"time_limit": 60}])
def test_who_raises_and_who_does_not_is_said(
    function: Any, turn: int, named: str, guarded: dict[str, Any]
) -> None:
    with pytest.raises(
        InvalidDataError,
        match=f"out of range.*that was {named}, and in as many runs on .* returned.*--count-exceptions",
    ):
        audit(Request(function, *PAIR[::turn], "eps=1", runs=200, **guarded))


def test_a_function_that_raises_on_both_is_refused_as_such() -> None:
    with pytest.raises(InvalidDataError, match="KeyError") as caught:
        audit(Request(always, *PAIR, "eps=1", runs=200))
    assert not isinstance(caught.value, OneSideFailsError)


@pytest.mark.parametrize("function", [at_one, at_times])
@pytest.mark.parametrize("guarded", [{}, {"time_limit": 60}])
def test_an_exception_is_an_output_where_that_is_asked_for(function: Any, guarded: dict[str, Any]) -> None:
    found = audit(Request(function, *PAIR, "eps=1", runs=1000, count_exceptions=True, **guarded))
    assert found.verdict is Verdict.VIOLATED
    assert found.outputs == "a number (at times an exception)"
    assert "ValueError raised" in str(found.shown)


def test_exceptions_that_say_nothing_are_no_violation() -> None:
    """With failure probability 1e-6; the seed is fixed."""
    found = audit(Request(by_chance, *PAIR, "eps=1", runs=200, count_exceptions=True))
    assert found.verdict is Verdict.SUPPORTED


def test_a_search_finds_the_pair_that_raises(tmp_path: Path) -> None:
    """And says that there is one where exceptions are not counted."""
    asked = {"runs": 200, "search_neighbors": tmp_path / "pair.json", "record_range": (0, 1)}
    found = audit(Request(at_one, [[0.2], [0.5]], claim="eps=1", **asked))
    assert found.verdict is Verdict.SUPPORTED
    assert "on one of the two data sets only" in found.reason
    assert "out of range" in found.reason
    found = audit(Request(at_one, [[0.2], [0.5]], claim="eps=1", count_exceptions=True, **asked))
    assert found.verdict is Verdict.VIOLATED


def test_what_the_machine_ran_out_of_is_no_output() -> None:
    def full(data: np.ndarray, rng: np.random.Generator) -> float:
        raise MemoryError

    with pytest.raises(InvalidDataError, match="MemoryError"):
        audit(Request(full, *PAIR, "eps=1", runs=100, count_exceptions=True))


def test_where_exceptions_cannot_be_counted() -> None:
    def batch(data: Any, *, rng: Any, runs: int) -> Any:
        return np.zeros(runs)

    with pytest.raises(
        InvalidArgumentError, match="count_exceptions was True; allowed: False for a mechanism"
    ):
        audit(Request(batch, *PAIR, "eps=1", runs=100, count_exceptions=True))
    with pytest.raises(
        InvalidArgumentError, match="count_exceptions was True; allowed: no value with command"
    ):
        Request(command="cat", data=PAIR[0], neighbor=PAIR[1], claim="eps=1", count_exceptions=True)


def test_a_store_keeps_both_apart() -> None:
    counted, plain = (FunctionMechanism(by_chance, count_exceptions=value) for value in (True, False))
    assert counted.fingerprint != plain.fingerprint
