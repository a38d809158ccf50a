"""Worst-case neighbors: what they do to noisy steps, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import (
    AllSpace,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    NeighborPair,
    Squared,
    check_constants,
    contract_then_reveal,
    load,
    opposite_linear,
    opposite_neighbor,
)


def noisy_pass(pair: NeighborPair, data: Dataset, step_size: float, noise: np.ndarray) -> np.ndarray:
    """One pass in order, from 0: w <- w - step_size (gradient + noise), the definition."""
    w = np.zeros((1, data.d))
    for t in range(data.n):
        w = w - step_size * (pair.loss.gradient(w, data.features[t], data.labels[t]) + noise[t])
    return np.asarray(w[0])


def differing_records(pair: NeighborPair) -> list[int]:
    left, right = pair.left, pair.right
    differs = np.any(left.features != right.features, axis=1) | (left.labels != right.labels)
    return (np.flatnonzero(differs) + 1).tolist()


@pytest.mark.parametrize(("n", "index"), [(1, 1), (6, 1), (6, 4), (6, 6)])
class TestConstructions:
    def test_neighbors_differ_at_the_index_alone(self, n: int, index: int) -> None:
        for pair in (opposite_linear(n, 3, index), contract_then_reveal(n, index, d=3)):
            assert differing_records(pair) == [index]
            pair.left.in_unit_ball()
            pair.right.in_unit_ball()
            assert (pair.left.n, pair.left.d, pair.index) == (n, 3, index)

    def test_opposite_linear_losses_hide_behind_all_noise(
        self, n: int, index: int, rng: np.random.Generator
    ) -> None:
        pair, noise = opposite_linear(n, 3, index), rng.standard_normal((n, 3))
        left, right = (noisy_pass(pair, data, 0.1, noise) for data in (pair.left, pair.right))
        np.testing.assert_allclose(right - left, [0.2, 0.0, 0.0], atol=1e-15)
        np.testing.assert_allclose(left, [-0.1, 0.0, 0.0] - 0.1 * noise.sum(axis=0), atol=1e-14)

    def test_contraction_leaves_only_later_noise(self, n: int, index: int, rng: np.random.Generator) -> None:
        pair, noise = contract_then_reveal(n, index, d=3), rng.standard_normal((n, 3))
        left, right = (noisy_pass(pair, data, 1.0, noise) for data in (pair.left, pair.right))
        later = noise[index - 1 :].sum(axis=0)
        np.testing.assert_allclose(left, [1.0, 0.0, 0.0] - later, atol=1e-13)
        np.testing.assert_allclose(right, [-1.0, 0.0, 0.0] - later, atol=1e-13)

    def test_stated_gradient_distance_is_attained(self, n: int, index: int, rng: np.random.Generator) -> None:
        for pair in (opposite_linear(n, 3, index), contract_then_reveal(n, index, d=3)):
            w = rng.standard_normal((20, 3))
            left, right = (
                pair.loss.gradient(w, data.features[index - 1], data.labels[index - 1])
                for data in (pair.left, pair.right)
            )
            np.testing.assert_allclose(
                np.linalg.norm(left - right, axis=1), pair.gradient_distance, rtol=1e-14
            )


def test_the_contracting_loss_keeps_its_constants(rng: np.random.Generator) -> None:
    pair = contract_then_reveal(4, 2, d=3)
    check_constants(pair.loss, AllSpace(3), pair.left, rng=rng)


@pytest.mark.parametrize("name", ["breast-cancer", "diabetes", "digits"])
@pytest.mark.parametrize(
    "loss", [Logistic(), Hinge(), Squared(1.0), EuclideanDistance(), HalfSquaredDistance(1.0), Linear()]
)
def test_opposite_neighbor_beats_random_records(name: str, loss: Loss, rng: np.random.Generator) -> None:
    data = load(name, n=30, d=4, seed=0)
    pair = opposite_neighbor(loss, data, 7)
    assert differing_records(pair) == [7]
    pair.right.in_unit_ball()
    x = rng.standard_normal((2000, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    origin = np.zeros((2000, 4))
    here = loss.gradient(origin[:1], data.features[6], data.labels[6])
    there = loss.gradient(origin, x, rng.choice([-1.0, 1.0], 2000))
    assert pair.gradient_distance >= np.max(np.linalg.norm(there - here, axis=1)) - 1e-12
    attained = loss.gradient(origin[:1], pair.right.features[6], pair.right.labels[6])
    assert pair.gradient_distance == pytest.approx(np.linalg.norm(attained - here), rel=1e-14)


def test_opposite_neighbor_of_a_record_without_features() -> None:
    data = Dataset(np.zeros((2, 2)), [1.0, 1.0])
    assert opposite_neighbor(Logistic(), data, 1).gradient_distance == pytest.approx(0.5)


def test_opposite_neighbor_at_another_point() -> None:
    data = load("breast-cancer", n=10, d=3)
    at_origin, elsewhere = (opposite_neighbor(Logistic(), data, 1, at=at) for at in (None, [3.0, 0.0, 0.0]))
    assert at_origin.gradient_distance != elsewhere.gradient_distance


@pytest.mark.parametrize("bad", [0, 11, 1.5, True, math.nan, None])
def test_bad_index(bad: int) -> None:
    data = load("breast-cancer", n=10, d=3)
    makers: list[Callable[[], object]] = [
        lambda: opposite_linear(10, 3, bad),
        lambda: contract_then_reveal(10, bad),
        lambda: opposite_neighbor(Logistic(), data, bad),
    ]
    for make in makers:
        with pytest.raises(InvalidArgumentError, match="index"):
            make()


def test_bad_arguments() -> None:
    data = load("breast-cancer", n=10, d=3)
    with pytest.raises(InvalidArgumentError, match="n was"):
        opposite_linear(0, 3, 1)
    with pytest.raises(InvalidArgumentError, match="d was"):
        contract_then_reveal(3, 1, d=0)
    with pytest.raises(InvalidArgumentError, match="radius"):
        contract_then_reveal(3, 1, radius=math.nan)
    for at in ([0.0], [0.0, 0.0, math.nan]):
        with pytest.raises(InvalidArgumentError, match="at was"):
            opposite_neighbor(Logistic(), data, 1, at=at)
    with pytest.raises(InvalidDataError, match="norm"):
        opposite_neighbor(Logistic(), Dataset([[3.0]], [1.0]), 1)
