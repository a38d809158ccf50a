"""Parameters of Algorithms 5 and 6 (Bassily, Smith, Thakurta, 2014): penalty, grid and number of walks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpverify.algorithms.samplers.cube_sampling import CubeDensity
from dpverify.algorithms.samplers.grid_steps import GridPlan
from dpverify.algorithms.samplers.sampling_regions import Region
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Dataset, Problem

EXTENSION_SHARE = 1 / 16
"""Share of the walk's distance that each value of the extension may err by."""


@dataclass(frozen=True)
class GaugeTuning:
    """Parameters of Algorithm 5 for n records: what its three steps are run with.

    Attributes:
        region: C, its cube, its inner ball.
        scale: inverse temperature, 1 over loss.
        distance: epsilon~ of Algorithm 5; the walk gets half of it.
        lipschitz: eta of scale * risk.
        alpha: of the gauge penalty; 0 where C is the cube.
        extension: `projection` or `loss`.
        plan: of the walk.
    """

    region: Region
    scale: float
    distance: float
    lipschitz: float
    alpha: float
    extension: Literal["projection", "loss"]
    plan: GridPlan

    def density(self, problem: Problem, data: Dataset, best_effort: bool) -> CubeDensity:
        """The weight function F on the cube."""
        return CubeDensity(
            problem,
            data,
            self.region,
            self.scale,
            self.alpha,
            self.lipschitz,
            EXTENSION_SHARE * self.plan.distance if self.extension == "projection" else 0.0,
            best_effort,
        )


def tune(
    problem: Problem,
    region: Region,
    n: int,
    scale: float,
    distance: float,
    *,
    alpha: float | None = None,
    cells: int | None = None,
    extension: Literal["projection", "loss"] = "projection",
) -> GaugeTuning:
    """Algorithm 5's parameters: the printed alpha, and the walk on log F, which is (eta + alpha / r)-Lipschitz.

    Where C is the cube, log F is -scale * risk itself: no penalty, no extension.
    """
    eta = scale * n * problem.constants.lipschitz_constant
    if region.is_cube:
        plan = GridPlan(region.dimension, region.edge, eta, distance / 2, cells=cells)
        return GaugeTuning(region, scale, distance, eta, 0.0, extension, plan)
    penalty = printed_alpha(region, eta, distance) if alpha is None else alpha
    error = EXTENSION_SHARE * distance / 2 if extension == "projection" else 0.0
    steepest = eta + penalty / region.inner_radius
    plan = GridPlan(region.dimension, region.edge, steepest, distance / 2, error, cells)
    return GaugeTuning(region, scale, distance, eta, penalty, extension, plan)


def printed_alpha(region: Region, eta: float, distance: float) -> float:
    """3 exp(2 distance) (eta ||C|| + p), dimensionless."""
    return 3 * math.exp(2 * distance) * (eta * region.diameter + region.dimension)


def repeats(region: Region, eta: float, distance: float) -> int:
    """Algorithm 6's m = ceil(4 eta ||C|| + p log2(||C|| / r) + log2(1 / (1 - exp(-distance / 4)))).

    The logarithms have base 2, which the paper leaves open: Lemma 6.5 needs 2^-m to be small against the smallest
    density on C times the volume of the ball of the fallback. r is 1 in the paper. Where C is the cube the first
    sample is always inside.
    """
    if region.is_cube:
        return 1
    volumes = region.dimension * math.log2(region.diameter / region.inner_radius)
    return math.ceil(4 * eta * region.diameter + volumes - math.log2(-math.expm1(-distance / 4)))


def check_extension(problem: Problem, region: Region, extension: object) -> None:
    """Refuse an unknown extension, or the loss itself where its constants are not declared on all of the cube."""
    if extension not in ("projection", "loss"):
        raise InvalidArgumentError("extension", extension, '"projection" or "loss"')
    if extension == "projection" or region.is_cube:
        return
    corner = np.abs(np.asarray(region.lower)), np.abs(np.asarray(region.lower) + region.edge)
    farthest = float(np.linalg.norm(np.maximum(*corner)))
    for loss in (problem.loss, getattr(problem.loss, "base", None)):
        if getattr(loss, "radius", math.inf) < farthest * (1 - 1e-12) or getattr(loss, "weight", 0.0) > 0:
            raise InvalidArgumentError(
                "extension", extension, '"projection": the loss\'s constants do not hold on all of the cube'
            )
