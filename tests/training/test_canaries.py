"""Canaries are what they are said to be, for NumPy, PyTorch and JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.training import (
    CanaryRecorder,
    LikelihoodRatio,
    blank_records,
    coordinate_gradients,
    mislabeled_records,
    spread_gradients,
)


def library(name: str) -> Any:
    """A namespace with asarray, zeros and ones."""
    if name == "numpy":
        return np
    module = pytest.importorskip(name)
    return module if name == "torch" else pytest.importorskip("jax.numpy")


LIBRARIES = pytest.mark.parametrize("name", ["numpy", "torch", "jax"])


def test_directions_are_orthogonal_and_have_the_norm() -> None:
    for canaries in (
        spread_gradients(7, 50, norm=3.0, seed=1),
        coordinate_gradients(7, 50, norm=3.0, seed=1),
    ):
        vectors = canaries.vectors(np.arange(7))
        assert np.allclose(vectors @ vectors.T, 9 * np.eye(7))
        assert np.allclose([canaries.scores(vector) for vector in vectors], 3 * np.eye(7))
        assert canaries.vectors([]).shape == (0, 50)
    assert canaries.support == 1
    assert spread_gradients(7, 50, norm=3.0, seed=1).support == 7
    # scores are inner products with unit vectors
    update = np.random.default_rng(0).normal(size=50)
    assert np.allclose(canaries.scores(update), canaries.vectors(np.arange(7)) @ update / 3)


def test_a_seed_makes_the_same_canaries() -> None:
    first, same, other = (spread_gradients(5, 40, norm=1.0, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.owner, same.owner)
    assert np.array_equal(first.signs, same.signs)
    assert not np.array_equal(first.owner, other.owner)


@LIBRARIES
def test_mislabeled_records_have_a_wrong_label(name: str) -> None:
    xp = library(name)
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(60, 2, 3)).astype(np.float32), rng.integers(0, 4, 60)
    canaries = mislabeled_records(
        xp.asarray(features), xp.asarray(labels.astype(np.int32)), 50, classes=4, seed=3
    )
    assert type(canaries.features) is type(xp.asarray(features))
    found, wrong = np.asarray(canaries.features), np.asarray(canaries.labels)
    rows = [int(np.flatnonzero((features == one).all(axis=(1, 2)))[0]) for one in found]
    assert len(set(rows)) == canaries.count == 50
    assert np.all(wrong != labels[rows])
    assert set(wrong.tolist()) <= {0, 1, 2, 3}


@LIBRARIES
def test_blank_records_have_one_mark_each(name: str) -> None:
    xp = library(name)
    features, labels = xp.ones((4, 5, 2)), xp.ones((4,))
    canaries = blank_records(features, labels, 10, value=-2.0, label=1, seed=0)
    flat = np.asarray(canaries.features).reshape(10, 10)
    assert np.array_equal(np.sort(flat, axis=0), np.vstack([np.full(10, -2.0), np.zeros((9, 10))]))
    assert np.all(np.asarray(canaries.labels) == 1)
    assert canaries.features.dtype == features.dtype


@LIBRARIES
def test_the_training_set_has_the_canaries_that_are_in(name: str) -> None:
    xp = library(name)
    features, labels = xp.ones((30, 4)), xp.ones((30,))
    gradients = CanaryRecorder(spread_gradients(20, 100, norm=1.0, seed=0), seed=1)
    data = gradients.training_set(features, labels)
    numbers = np.asarray(data.canary)
    gradients.see(np.zeros(100))
    gradients.checkpoint()
    inside = np.flatnonzero(gradients.finish().members)
    assert sorted(numbers[numbers >= 0].tolist()) == inside.tolist()
    assert np.all(np.asarray(data.features)[numbers >= 0] == 0)
    assert np.all(np.asarray(data.features)[numbers < 0] == 1)
    assert type(data.features) is type(features)
    assert np.count_nonzero(np.diff(np.flatnonzero(numbers >= 0)) > 1)  # among the others

    records = CanaryRecorder(blank_records(features, labels, 4, value=9.0, label=0, seed=0), seed=1)
    data = records.training_set(features, labels)
    records.record_losses(xp.zeros((4,)))
    inside = np.flatnonzero(records.finish().members)
    rows = np.asarray(data.features)
    found = {int(np.argmax(row)) for row in rows if row.max() == 9}
    assert found == {int(np.argmax(np.asarray(records.canaries.features)[one])) for one in inside}
    assert data.canary is None


def test_the_likelihood_ratio_is_that_of_its_densities() -> None:
    from scipy.stats import norm

    x = np.linspace(-5, 8, 14)
    ratio = LikelihoodRatio(noise_stddev=1.5, size=2.0, sampling_probability=0.2)(x)
    inside = 0.8 * norm.pdf(x, 0, 1.5) + 0.2 * norm.pdf(x, 2, 1.5)
    assert np.allclose(ratio, np.log(inside / norm.pdf(x, 0, 1.5)))


RIGHT: dict[str, Any] = {"features": np.ones((3, 2)), "labels": np.array([0, 1, 1]), "count": 2}


@pytest.mark.parametrize(("make", "argument"), [
    (lambda: spread_gradients(0, 5, norm=1.0, seed=0), "count"),
    (lambda: spread_gradients(6, 5, norm=1.0, seed=0), "count"),
    (lambda: coordinate_gradients(2.0, 5, norm=1.0, seed=0), "count"),  # type: ignore[arg-type]
    (lambda: spread_gradients(2, True, norm=1.0, seed=0), "dimension"),
    (lambda: spread_gradients(2, 5, norm=0.0, seed=0), "norm"),
    (lambda: spread_gradients(2, 5, norm=float("nan"), seed=0), "norm"),
    (lambda: spread_gradients(2, 5, norm=1.0, seed=-1), "seed"),
    (lambda: spread_gradients(2, 5, norm=1.0, seed=0).vectors([2]), "canaries"),
    (lambda: spread_gradients(2, 5, norm=1.0, seed=0).vectors([0.5]), "canaries"),
    (lambda: spread_gradients(2, 5, norm=1.0, seed=0).scores(np.zeros(4)), "update"),
    (lambda: mislabeled_records(**RIGHT | {"count": 4}, classes=2, seed=0), "count"),
    (lambda: mislabeled_records(**RIGHT, classes=1, seed=0), "classes"),
    (lambda: mislabeled_records(**RIGHT | {"labels": np.array([0, 1, 2])}, classes=2, seed=0), "labels"),
    (lambda: mislabeled_records(**RIGHT | {"labels": np.array([0, 1])}, classes=2, seed=0), "labels"),
    (lambda: mislabeled_records(**RIGHT | {"features": [[1.0]]}, classes=2, seed=0), "features"),
    (lambda: blank_records(**RIGHT | {"count": 3}, value=1.0, label=0, seed=0), "count"),
    (lambda: blank_records(**RIGHT, value=0.0, label=0, seed=0), "value"),
    (lambda: blank_records(**RIGHT, value=float("inf"), label=0, seed=0), "value"),
    (lambda: blank_records(**RIGHT, value=1.0, label=float("nan"), seed=0), "label"),
    (lambda: blank_records(**RIGHT | {"labels": [0, 1, 1]}, value=1.0, label=0, seed=0), "labels"),
    (lambda: LikelihoodRatio(0.0, 1.0, 0.5), "noise_stddev"),
    (lambda: LikelihoodRatio(1.0, float("nan"), 0.5), "size"),
    (lambda: LikelihoodRatio(1.0, 1.0, 0.0), "sampling_probability"),
    (lambda: LikelihoodRatio(1.0, 1.0, 1.1), "sampling_probability"),
])  # fmt: skip
def test_bad_arguments_are_refused(make: Any, argument: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{argument} was .*; allowed: .*\\.$"):
        make()


def test_half_precision_is_read() -> None:
    from dpverify.training.arrays import flattened

    for name, made in (("torch", "bfloat16"), ("jax", "bfloat16")):
        try:
            xp = library(name)
        except pytest.skip.Exception:
            continue
        dtype = getattr(xp, made)
        assert flattened("update", [xp.ones((2, 2), dtype=dtype), xp.zeros((1,))]).tolist() == [1, 1, 1, 1, 0]
    assert flattened("update", np.ones(2, dtype=np.float16)).tolist() == [1, 1]
