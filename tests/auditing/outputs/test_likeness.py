"""Sides that are equal where independent runs are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.outputs.likeness import Likeness
from dpverify.running.subjects.texts import as_texts, of_runs

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=2000)
COARSE = np.round(NORMAL, 1)
LABELS = RNG.choice(["a", "b", "c"], size=2000)


def but(sample: Any, places: Any, values: Any) -> Any:
    changed = sample.copy()
    changed[places] = values
    return changed


def says(left: Any, right: Any, rounds: int = 1) -> str:
    likeness = Likeness()
    for one, other in zip(np.array_split(left, rounds), np.array_split(right, rounds), strict=True):
        likeness.add(of_runs(list(one)), of_runs(list(other)))
    return likeness.summary()


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (NORMAL, NORMAL, "2000 of 2000 runs gave the same output on both sides, run by run"),
        (NORMAL, but(NORMAL, 7, 0.5), "1999 of 2000 runs"),
        (NORMAL, but(NORMAL, slice(0, 1900), RNG.normal(size=1900)), "100 of 2000 runs"),
        (NORMAL, NORMAL[::-1], "2000 of 2000 outputs are on both sides"),
        (NORMAL, RNG.permutation(NORMAL), "2000 of 2000 outputs are on both sides"),
        (NORMAL, np.sort(but(NORMAL, slice(0, 1800), RNG.normal(size=1800))), "200 of 2000 outputs"),
        (COARSE, RNG.permutation(COARSE), "2000 of 2000 outputs are on both sides"),
        (LABELS, LABELS, "2000 of 2000 runs"),
        (LABELS, but(LABELS, slice(0, 200), LABELS[200:400]), "runs gave the same output on both sides"),
        (np.zeros(2000), np.zeros(2000), "one and the same"),
        (np.full(2000, math.nan), np.full(2000, math.nan), "one and the same"),
        ([None] * 2000, [None] * 2000, "one and the same"),
        ([{"a": [1.0, "b"]}] * 2000, [{"a": [1.0, "b"]}] * 2000, "one and the same"),
        ([{"a": x} for x in NORMAL], [{"a": x} for x in RNG.permutation(NORMAL)], "2000 of 2000 outputs"),
        (NORMAL.reshape(-1, 4), RNG.permutation(NORMAL.reshape(-1, 4)), "500 of 500 outputs"),
        (NORMAL.astype(np.float32), RNG.permutation(NORMAL.astype(np.float32)), "2000 of 2000 outputs"),
        (np.longdouble(NORMAL) / 3, RNG.permutation(np.longdouble(NORMAL) / 3), "2000 of 2000 outputs"),
        (
            np.arange(2000),
            RNG.permutation(2000.0 * np.ones(2000) - 1 - np.arange(2000)),
            "2000 of 2000 outputs",
        ),
    ],
)
def test_what_independent_runs_are_not(left: Any, right: Any, said: str, rounds: int) -> None:
    assert said in says(left, right, rounds)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (NORMAL, RNG.normal(size=2000)),
        (NORMAL, NORMAL + 1e-9),
        (np.zeros(2000), np.full(2000, -0.0)),
        (COARSE, np.round(RNG.normal(size=2000), 1)),
        (LABELS, RNG.choice(["a", "b", "c"], size=2000)),
        (LABELS, RNG.permutation(LABELS)),  # few values: by chance in one of some thousand
        (NORMAL, but(RNG.normal(size=2000), slice(0, 5), NORMAL[5:10])),
        ([0.0] * 1999 + [1.0], [0.0] * 1999 + [1.0]),
        ([0.0, 1.0] * 1000, [1.0, 0.0] * 1000),
        (["a", "b"] * 1000, [0.0, 1.0] * 1000),
        (RNG.integers(0, 1000, 2000), RNG.integers(0, 1000, 2000)),
        (RNG.geometric(0.01, 2000), RNG.geometric(0.02, 2000)),
        ([0.0], [0.0]),
    ],
)
def test_what_they_may_be(left: Any, right: Any) -> None:
    assert says(left, right) == ""


def test_independent_sides_are_not_called_equal() -> None:
    """At 1e-12 no pair of 3,000; the exact probability of balance is below the bound that stands for it."""
    rng = np.random.default_rng(1)
    for k in range(3000):
        values, runs = (2, 5, 30, 200, 10**6)[k % 5], (2, 10, 100)[k % 3]
        left, right = rng.integers(0, values, (2, runs))
        found = says(left, right)
        assert not found or (runs < 5 and "one and the same" in found)


def test_texts_and_numbers_are_compared_as_texts() -> None:
    likeness = Likeness()
    likeness.add(NORMAL, as_texts(RNG.permutation(NORMAL)))
    assert "2000 of 2000 outputs" in likeness.summary()
