"""Every loss and every constraint set, for the suites that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ConstraintSet,
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Ridge,
    Simplex,
    Squared,
    label_range,
)

D = 4

CONSTRAINTS: dict[str, ConstraintSet] = {
    "ball": Ball(D, 1.5),
    "ball-off-center": Ball(D, 1.0, (0.3, -0.2, 0.1, 0.5)),
    "box": Box((-1.0, -0.5, 0.2, 0.0), (1.0, 0.7, 0.9, 2.0)),
    "cube": Box.cube(D, 0.4),
    "simplex": Simplex(D, 1.3),
    "all-space": AllSpace(D),
}

LOSSES: dict[str, Callable[[ConstraintSet], Loss]] = {
    "logistic": lambda _: Logistic(),
    "hinge": lambda _: Hinge(),
    "squared": Squared.on,
    "linear": lambda _: Linear(),
    "labeled-linear": lambda _: Linear(labeled=True),
    "euclidean-distance": lambda _: EuclideanDistance(),
    "half-squared-distance": HalfSquaredDistance.on,
    "contract-or-drift": lambda c: ContractOrDrift(c.largest_norm),
    "ridge-logistic": lambda c: Ridge.on(c, Logistic(), 0.2),
    "ridge-hinge": lambda c: Ridge.on(c, Hinge(), 0.2),
    "ridge-squared": lambda c: Ridge.on(c, Squared.on(c), 0.2),
    "ridge-distance": lambda c: Ridge.on(c, EuclideanDistance(), 0.2),
}


@pytest.fixture(params=list(CONSTRAINTS))
def constraint(request: pytest.FixtureRequest) -> ConstraintSet:
    """Each constraint set, of dimension 4."""
    return CONSTRAINTS[request.param]


@pytest.fixture(params=list(LOSSES))
def loss(request: pytest.FixtureRequest, constraint: ConstraintSet) -> Loss:
    """Each loss, with the constants for each constraint set."""
    return LOSSES[request.param](constraint)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed."""
    return np.random.default_rng(20240607)


@pytest.fixture
def make_data(rng: np.random.Generator) -> Callable[[Loss, int], Dataset]:
    """Random records in the unit ball, with labels that suit the loss."""

    def make(loss: Loss, n: int) -> Dataset:
        x = rng.standard_normal((n, D))
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
        return Dataset(x, rng.choice(label_range(loss), n))

    return make
