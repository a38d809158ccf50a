"""Gradients are answered where the declared sensitivity holds, and it does hold there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import array_api_strict
import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    AllSpace,
    Ball,
    ConstraintSet,
    ContractOrDrift,
    EuclideanDistance,
    Hinge,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Squared,
    gradient_sensitivity,
    label_range,
)
from dpverify.problems.declared import DeclaredConstants
from dpverify.problems.further_losses import HuberizedPositivePart, OneVersusRest, PositivePart
from dpverify.problems.losses import sensitivity_radius
from dpverify.problems.per_run.local_problems import LocalLoss, ResampledLoss
from dpverify.problems.problem import GuardedOracle
from dpverify.problems.smoothed_losses import AbsoluteError, SmoothedDistance, SmoothedGeneralizedLinear

D = 4
MORE: list[Loss] = [
    PositivePart(),
    HuberizedPositivePart(0.3),
    OneVersusRest(Logistic(), 3.0),
    AbsoluteError(),
    SmoothedGeneralizedLinear(Hinge(), 0.5),
    SmoothedGeneralizedLinear(Logistic(), 0.5),
    SmoothedDistance(0.5, D),
    OneVersusRest(Squared(2.0), 3.0),
]


def records(rng: np.random.Generator, count: int, loss: Loss) -> tuple[Any, Any]:
    x = rng.standard_normal((count, D))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), rng.uniform(0.0, 1.0, (count, 1)) + 1e-3)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
    return x, rng.choice(np.linspace(*label_range(loss), 3), count)


def largest_difference(loss: Loss, radius: float, rng: np.random.Generator) -> float:
    """Of the gradients of two records, at random points up to a norm and on its border."""
    count = 20_000
    x, y = records(rng, count, loss)
    other, label = records(rng, count, loss)
    half = count // 2
    other[:half] = -x[:half]
    w = rng.standard_normal((count, D)) + 3 * rng.standard_normal((count, 1)) * x
    w *= (radius * rng.choice([1.0, 0.5, 0.01], count) / np.linalg.norm(w, axis=1))[:, None]
    apart = loss.gradient(w, x, y) - loss.gradient(w, other, label)
    return float(np.max(np.linalg.norm(apart, axis=1)))


def reach(loss: Loss) -> float:
    radius = sensitivity_radius(loss)
    assert radius is not None
    return min(radius, 1e4)


@pytest.mark.one_in(3)
def test_the_sensitivity_holds_up_to_its_radius(loss: Loss, rng: np.random.Generator) -> None:
    bound = gradient_sensitivity(loss)
    if math.isfinite(bound):
        assert largest_difference(loss, reach(loss), rng) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("loss", MORE, ids=lambda loss: type(loss).__name__)
def test_the_sensitivity_of_single_sections_losses(loss: Loss, rng: np.random.Generator) -> None:
    assert largest_difference(loss, reach(loss), rng) <= gradient_sensitivity(loss) * (1 + 1e-9)


def test_a_radius_that_is_too_large_is_seen(rng: np.random.Generator) -> None:
    for loss in (Squared(1.0), ContractOrDrift(1.0), Ridge(Squared(1.0), 0.1, 1.0)):
        assert largest_difference(loss, 10.0, rng) > 1.5 * gradient_sensitivity(loss)


def test_losses_that_differ_from_run_to_run() -> None:
    offsets = np.zeros((3, D))
    here = {Logistic(): math.inf, Squared(1.0): None}
    for original, radius in here.items():
        assert sensitivity_radius(LocalLoss(original, offsets, 1.0, offsets, 1.0)) == radius
    drawn = ResampledLoss(Squared(2.0), offsets, np.ones(3), np.zeros((3, 2), dtype=int))
    assert sensitivity_radius(drawn) == 2.0


def bad_points() -> Iterator[Any]:
    for value in (math.nan, math.inf, -math.inf, 1e101, 1.7e308):
        points = np.zeros((3, D))
        points[1, 2] = value
        yield points


@pytest.mark.one_in(4)
@pytest.mark.parametrize("points", list(bad_points()), ids=lambda points: str(points[1, 2]))
@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_what_is_no_point_is_refused_by_every_loss(
    points: Any, xp: Any, loss: Loss, constraint: ConstraintSet
) -> None:
    oracle = GuardedOracle(Problem(loss, constraint))
    with pytest.raises(InvalidArgumentError, match="points was"):
        oracle.admitted(xp.asarray(points))


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_points_are_answered_where_the_constants_hold_and_nowhere_else(xp: Any) -> None:
    class Unknown(Squared):
        sensitivity_radius = None  # type: ignore[assignment]

    box = Ball(D, 1.0, (0.0, 0.0, 0.0, 5.0))
    cases: list[tuple[Loss, ConstraintSet, Callable[[float], float]]] = [
        (Logistic(), Ball(D, 1.0), lambda far: 1e50),
        (Hinge(), AllSpace(D), lambda far: 1e50),
        (EuclideanDistance(), Ball(D, 1.0), lambda far: 1e50),
        (Squared(3.0), Ball(D, 1.0), lambda far: 3.0 if far else 2.9),
        (Unknown(6.0), box, lambda far: 6.0 if far else 5.9),
    ]
    for loss, constraint, edge in cases:
        oracle = GuardedOracle(Problem(loss, constraint))
        inside, limit = edge(0.0), edge(1.0)
        points = xp.asarray(np.array([[0.0, 0.0, 0.0, inside]]))
        assert np.array_equal(np.asarray(oracle.admitted(points)), np.asarray(points))
        if limit < 1e50:
            with pytest.raises(InvalidArgumentError, match=r"allowed: points of (norm|the constraint set)"):
                oracle.admitted(xp.asarray(np.array([[0.0, 0.0, 0.0, limit * 1.001]])))
            beyond = oracle.admitted(xp.asarray(np.array([[0.0, 0.0, 0.0, limit * (1 + 1e-10)]])))
            assert float(beyond[0, 3]) <= limit * (1 + 1e-14)


def test_what_a_set_projects_onto_is_admitted_bit_by_bit(
    loss: Loss, constraint: ConstraintSet, rng: np.random.Generator
) -> None:
    problem = Problem(loss, constraint)
    points = constraint.project(10.0 * rng.standard_normal((200, D)))
    assert np.array_equal(GuardedOracle(problem).admitted(points.copy()), points)


def test_constants_are_those_of_the_loss(loss: Loss, constraint: ConstraintSet) -> None:
    found = Problem(loss, constraint).constants
    assert found == DeclaredConstants.of(loss)
    assert found.lipschitz_constant == loss.lipschitz_constant
    assert found.gradient_sensitivity == gradient_sensitivity(loss)
    assert found.labels == label_range(loss)


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize("exponent", [-323, -300, -200, -162, -155, -100, 0, 100, 155, 200, 300, 307])
def test_distances_and_their_gradients_at_every_magnitude(exponent: int, xp: Any) -> None:
    """A gradient of old had norm 6.75 at 1e-162, where squares lose their digits, and 0 below."""
    size = 10.0**exponent
    w = xp.asarray(np.array([[size, 0.0, 0.0], [size, -size, size], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]))
    x, y = xp.asarray(np.zeros(3)), xp.asarray(np.array(1.0))
    loss = EuclideanDistance()
    gradients = np.asarray(loss.gradient(w, x, y))
    assert np.allclose(np.linalg.norm(gradients, axis=1), [1.0, 1.0, 0.0, 1.0], rtol=1e-14)
    assert np.allclose(gradients[1], np.array([1.0, -1.0, 1.0]) / math.sqrt(3.0), rtol=1e-14)
    distances = np.asarray(loss.value(w, x, y))
    assert np.allclose(
        distances[:3] / size, [1.0, math.sqrt(3.0), 0.0], rtol=1e-14 if exponent > -300 else 0.3
    )
