"""Claims per unit: faults that show at one unit and not at another. Each false alarm has probability 1e-6 at most."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.requests import Request, audit
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.running.subjects.commands import Command

ROWS = np.column_stack([np.repeat([1.0, 2.0, 3.0], 4), np.tile([0.0, 1.0], 6)])


def bounds_rows(data: Any, rng: Any, runs: int) -> Any:
    """A sum whose noise hides a row, but not all rows of a user."""
    return np.clip(data[:, 1], 0, 1).sum() + rng.laplace(size=runs)


def bounds_users(data: Any, rng: Any, runs: int) -> Any:
    """A sum of users' means, each of which is bounded."""
    means = [data[data[:, 0] == user, 1].mean() for user in np.unique(data[:, 0])]
    return np.clip(means, 0, 1).sum() + rng.laplace(size=runs)


def verdict_on(function: Any, data: Any, neighbor: Any, **fields: Any) -> Any:
    request = Request(function, data, neighbor, "eps=1", runs=400, **fields)
    return audit(request)


def user_replaced() -> Any:
    other = ROWS.copy()
    other[ROWS[:, 0] == 2, 1] = 1.0
    return other


def test_a_bound_on_rows_is_found_at_user_level_only() -> None:
    extreme = ROWS.copy()
    extreme[ROWS[:, 0] == 2, 1] = 0.0
    found = verdict_on(bounds_rows, extreme, user_replaced(), adjacency="user", key=1)
    assert found.verdict is Verdict.VIOLATED
    assert found.adjacency == "user (all records with one value in column 1)"
    assert (
        verdict_on(bounds_users, extreme, user_replaced(), adjacency="user", key=1).verdict
        is not Verdict.VIOLATED
    )
    row = ROWS.copy()
    row[0, 1] = 1.0
    assert verdict_on(bounds_rows, ROWS, row).verdict is not Verdict.VIOLATED
    # unequal numbers of records
    gone = extreme[extreme[:, 0] != 2]
    one = extreme.copy()
    one[one[:, 0] == 2, 1] = 1.0
    assert verdict_on(bounds_rows, one, gone, adjacency="user", key=1).verdict is Verdict.VIOLATED


def test_a_leaking_feature_is_no_fault_of_label_privacy() -> None:
    def release(data: Any, rng: Any, runs: int) -> Any:
        return np.column_stack([np.full(runs, data[0, 0]), data[:, -1].sum() + rng.laplace(size=runs)])

    data = np.array([[1.0, 0.0], [2.0, 1.0]])
    label, feature = data.copy(), data.copy()
    label[0, 1], feature[0, 0] = 1.0, 5.0
    assert verdict_on(release, data, label, adjacency="label").verdict is not Verdict.VIOLATED
    assert verdict_on(release, data, feature).verdict is Verdict.VIOLATED
    with pytest.raises(InvalidDataError, match="column 1; allowed by label"):
        verdict_on(release, data, feature, adjacency="label")


def test_a_missing_value_that_counts_as_0_is_found() -> None:
    def release(data: Any, rng: Any, runs: int) -> Any:
        # values are at least 40, so that a record moves the sum by 20 at most, but for those that are missing
        return np.clip(np.nan_to_num(data), None, 60).sum() / 20 + rng.laplace(size=runs)

    data = np.array([[50.0], [np.nan], [40.0]])
    missing, other = data.copy(), data.copy()
    missing[0], other[0] = np.nan, 60.0
    assert verdict_on(release, data, missing).verdict is Verdict.VIOLATED
    assert verdict_on(release, data, other).verdict is not Verdict.VIOLATED


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"adjacency": "user"}, "key was None"),
        ({"key": 1}, "no value but with adjacency user"),
        ({"adjacency": "metric", "distance": -1.0}, "distance was -1"),
        ({"adjacency": "label", "size": 2}, "no value but with adjacency group"),
    ],
)
def test_parameters_need_their_unit(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        Request(bounds_rows, ROWS, user_replaced(), "eps=1", **fields)


def test_a_command_gets_null_for_a_missing_number() -> None:
    read = "import json, sys; asked = json.loads(sys.stdin.readline())"
    program = f"{read}; print(sum(a is None for (a,) in asked['data']))"
    command = Command(shlex.join([sys.executable, "-c", program]))
    data = np.array([[1.0], [np.nan], [np.nan]])
    assert command(data, np.random.default_rng(0), 1) == [2]
