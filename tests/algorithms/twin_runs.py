"""Problems, data and runs for comparing noisy SGD with its slow twins."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
from twins import Recorder

from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)

D, N, RUNS = 4, 9, 33  # more runs than are stepped alone
TOLERANCE = 1e-12  # absolute, for points of norm about 1; rounding is near 1e-15 after a few dozen steps


def make_data(seed: int = 0, n: int = N) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, D))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.sign(rng.normal(size=n)))


BALL = Ball(D, 0.7)
PROBLEMS = {
    "logistic on a ball": Problem(Logistic(), BALL),
    "logistic on a ball elsewhere": Problem(Logistic(), Ball(D, 0.5, (0.3, 0.0, 0.1, -0.2))),
    "logistic on a box": Problem(Logistic(), Box.cube(D, 0.3)),
    "logistic on all space": Problem(Logistic(), AllSpace(D)),
    "hinge on a simplex": Problem(Hinge(), Simplex(D)),
    "squared on a ball": Problem(Squared(0.7), BALL),
    "ridge on a ball": Problem(Ridge.on(BALL, Logistic(), 0.3), BALL),
    "half squared distance on a ball": Problem(HalfSquaredDistance(0.7), BALL),
    "median on a ball": Problem(EuclideanDistance(), BALL),
}
NAMESPACES = [np, array_api_strict]


def run(algorithm: Any, data: Dataset, xp: Any) -> tuple[Any, Recorder]:
    rng = Recorder(11, 2, xp)
    return algorithm(data.as_namespace(xp), rng=rng, runs=RUNS), rng


def assert_close(output: Any, expected: list[Any]) -> None:
    points = np.asarray(output.points)
    assert points.shape == (RUNS, D)
    assert np.max(np.abs(points - np.stack(expected))) <= TOLERANCE
