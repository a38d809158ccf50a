"""Boosted trees beside a slow twin that makes them by their definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing.black_box import boosting

Array = NDArray[np.float64]
TREES = 2


def _twin(samples: Array, on_left: Array) -> Array:
    """The scores of what was learned from: leaves are sets of rows, each split tried at each number of each column."""
    ends = np.quantile(samples, np.arange(1, 256) / 256, axis=0)
    found = np.zeros(len(samples))
    for _ in range(TREES):
        share = 1 / (1 + np.exp(-found))
        slope, weight = on_left - share, share * (1 - share)

        def worth(rows: NDArray[np.bool_], slope: Array = slope, weight: Array = weight) -> float:
            return float(slope[rows].sum() ** 2 / (weight[rows].sum() + 1))

        leaves = [np.ones(len(samples), dtype=bool)]
        while len(leaves) < 15:
            tried = [
                (worth(one) + worth(other) - worth(leaf), i, one, other)
                for i, leaf in enumerate(leaves)
                for column in range(samples.shape[1])
                for end in ends[:, column]
                for one, other in [(leaf & (samples[:, column] <= end), leaf & (samples[:, column] > end))]
                if min(weight[one].sum(), weight[other].sum()) >= 1
            ]
            gain, i, one, other = max(tried, key=lambda split: split[0], default=(0.0, 0, None, None))
            if not gain > 0:
                break
            leaves[i] = one
            leaves.append(other)
        for leaf in leaves:
            found[leaf] += 0.1 * slope[leaf].sum() / (weight[leaf].sum() + 1)
    return found


@pytest.fixture(scope="module")
def learned() -> tuple[Array, Array]:
    """Samples of both sides, and their scores."""
    rng = np.random.default_rng(2)
    samples = np.concatenate([rng.normal(0.3, 1.0, (50, 5)), rng.normal(0.0, 1.4, (50, 5))])
    return samples, _twin(samples, np.repeat([1.0, 0.0], 50))


@pytest.mark.parametrize("planted", [None, "_RIDGE", "_RATE", "_BINS"])
def test_trees_are_those_of_the_definition(
    planted: str | None, learned: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: another ridge, rate or number of bins is no longer what the twin makes."""
    monkeypatch.setattr(boosting, "_TREES", TREES)
    if planted is not None:
        monkeypatch.setattr(
            boosting,
            planted,
            getattr(boosting, planted) // 16 if planted == "_BINS" else getattr(boosting, planted) * 0.75,
        )
    samples, wanted = learned
    score = boosting.GradientBoosting().fit(samples[:50], samples[50:], np.random.default_rng(1))
    assert score is not None
    same = np.allclose(score(samples), wanted, rtol=0, atol=1e-12)
    assert same == (planted is None)


def test_where_no_split_is_worth_anything_there_is_no_score() -> None:
    same = np.ones((50, 6))
    assert boosting.GradientBoosting().fit(same, same, np.random.default_rng(1)) is None
