"""Lists whose length varies: what they say by length, by order, or by an item that may stand anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpverify.auditing import Encoder, audit_privacy
from dpverify.auditing.outputs.encoding import MOST_COLUMNS
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import PureDP
from dpverify.running.subjects.texts import of_runs

RUNS = 1000
Output = Callable[[np.random.Generator, bool], Any]


def _length(rng: np.random.Generator, fault: bool) -> Any:
    return rng.normal(size=rng.poisson(6 if fault else 3)).tolist()


def _order(rng: np.random.Generator, fault: bool) -> Any:
    """Half of the lists are sorted."""
    names = [f"key {place}" for place in rng.permutation(9)[: rng.integers(4, 8)]]
    return sorted(names) if fault and rng.random() < 0.5 else names


def _item(rng: np.random.Generator, fault: bool) -> Any:
    """Selected indices, at times with one of them, at any place."""
    found = [int(place) for place in 1 + rng.permutation(11)[: rng.integers(2, 6)]]
    if rng.random() < (0.5 if fault else 0.1):
        found.insert(int(rng.integers(len(found) + 1)), 0)
    return {"rounds": 3, "selected": found, "noise": rng.normal(size=2)}


def _pair(rng: np.random.Generator, fault: bool) -> Any:
    """Names with numbers."""
    return [
        (name, float(rng.normal()))
        for name in ("a" if item else "b" for item in _item(rng, fault)["selected"])
    ]


def _twice(rng: np.random.Generator, fault: bool) -> Any:
    """At times one of the numbers comes again."""
    found = rng.normal(size=rng.integers(4, 8)).tolist()
    return [*found[:-1], found[0]] if fault and rng.random() < 0.5 else found


def _audit(output: Output, fault: bool) -> Any:
    rng, encoder = np.random.default_rng(1), Encoder()
    sides = (of_runs([output(rng, side) for _ in range(RUNS)]) for side in (fault, False))
    rows = encoder.rows(*sides)
    return audit_privacy(
        *rows, PureDP(0.5), adjacency="two laws", failure_probability=1e-3, seed=1,
        name_event=encoder.name_event, needs=encoder.needs,
    )  # fmt: skip


@pytest.mark.parametrize("output", [_length, _order, _item, _pair, _twice])
def test_a_fault_that_shows_only_in_a_list_is_found(output: Output) -> None:
    """And equal laws are not called violated, with probability 0.999 each; seeds are fixed."""
    assert _audit(output, True).verdict is Verdict.VIOLATED
    assert _audit(output, False).verdict is Verdict.SUPPORTED


def test_an_item_is_named() -> None:
    encoder = Encoder()
    encoder.rows(of_runs([["a"], ["b", "c"], [1, 1]]), of_runs([["a"], ["b"], [129]]))
    assert {"how often 'a' is in value", "how often 1 or 129 is in value", "length of value"} <= set(
        encoder.names
    )
    assert "number of different items of value" in encoder.names


def test_lists_as_long_as_all_before_say_no_more_than_they_did() -> None:
    """The map from outputs to rows is one for all runs: what was 0 stays 0."""
    encoder = Encoder()
    before = encoder.rows(of_runs([["a", "b"], ["b", "a"]]), of_runs([["b", "a"], ["a", "b"]]))[0]
    after = encoder.rows(of_runs([["a", "b"], ["b", "a"]]), of_runs([["a", "b", "c"], ["a"]]))[0]
    width = before.shape[1]
    assert np.array_equal(after[:, :width], before)
    assert not after[:, width:].any()
    assert after.shape[1] > width + 3


def test_a_column_that_needs_another_is_left_out_without_it() -> None:
    """Judging runs must not say which columns there are; planted: without `needs` the column is looked at."""
    rng = np.random.default_rng(2)
    left, right = (
        np.stack([np.zeros(400), rng.normal(shift, 1, 400), rng.normal(size=400)], axis=1) for shift in (0, 4)
    )

    def verdict(needs: dict[int, int] | None) -> Verdict:
        return audit_privacy(
            left, right, PureDP(0.5), adjacency="two laws", failure_probability=1e-3, seed=1, needs=needs
        ).verdict

    assert verdict({1: 0}) is not Verdict.VIOLATED
    assert verdict(None) is verdict({1: 2}) is Verdict.VIOLATED


def test_arrays_of_several_lengths_are_lists() -> None:
    encoder = Encoder()
    rows = encoder.rows(np.zeros((3, 2)), np.ones((3, 3)))
    again = Encoder().rows(of_runs([[0.0, 0.0]] * 3), of_runs([[1.0] * 3] * 3))
    assert all(np.array_equal(one, other) for one, other in zip(rows, again, strict=True))
    assert rows[0].shape[1] < MOST_COLUMNS
