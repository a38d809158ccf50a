"""Algorithm 7 on each run's own part of C, for localization (Bassily, Smith, Thakurta, 2014, Algorithm 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpverify.algorithms.bst14.convex_sampling import boosted, conditions_of_extension
from dpverify.algorithms.bst14.grid_walk import check_steep, expected_excess
from dpverify.algorithms.conditions import admitted, given_up
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.parameters import CountOrZero, Epsilon, Positive, check_parameters
from dpverify.algorithms.promises import StatedRisk
from dpverify.algorithms.samplers.cube_sampling import CubeSampler, Simulation
from dpverify.algorithms.samplers.gauge_tuning import GaugeTuning, check_extension, repeats, tune
from dpverify.algorithms.samplers.sampling_regions import (
    Region,
    fixed_region,
    is_cube,
    local_balls,
    local_cubes,
)
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Condition, ConditionKind, PureDP
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


@dataclass(frozen=True)
class LocalizedSampling:
    """bst14, Algorithm 7 on C0, the points of C near the run's center, which is released or private itself.

    `ball`: C0 is C cut with the ball of `radius` about the center, as Algorithm 4 has it. `cube`, for C a cube: C0 is
    a cube inside C that holds that intersection, of edge at most 2 radius; Lemma 4.2 asks no more of C0 than to be
    convex, inside C, and to hold the minimizer. In one dimension both are the same interval. On a ball's part the
    proved number of steps is out of reach (billions), on a cube's it is not. C0's diameter D is at most 2 radius
    (times sqrt(p) for a cube), and at most C's; scale = epsilon / (6 L D).

    Guarantee (replace-one, both directions): epsilon-DP for given centers, as in `EfficientExponentialSampling`.

    Assumptions: see there. All steps that the widest C0 needs are taken in every run, whatever its center.
    """

    problem: Problem
    epsilon: Epsilon
    radius: Positive
    shape: Literal["ball", "cube"] = "cube"
    steps: CountOrZero | None = None
    extension: Literal["projection", "loss"] = "projection"
    inner_radius: float | None = None
    simulation: Simulation = "auto"
    withdraw_guarantee: bool = False

    def __post_init__(self) -> None:
        check_parameters(self)
        check_steep(self.problem)
        constraint = self.problem.constraint
        if self.shape == "cube" and not is_cube(constraint):
            raise InvalidArgumentError("shape", self.shape, '"ball", unless the constraint set is a cube')
        check_extension(self.problem, fixed_region(constraint, self.inner_radius), self.extension)

    @property
    def diameter(self) -> float:
        """Bound on the diameter of every C0, a length."""
        p, constraint = self.problem.constraint.dimension, self.problem.constraint
        widest = 2 * self.radius * (math.sqrt(p) if self._as_cube else 1.0)
        return float(min(widest, constraint.diameter))

    @property
    def scale(self) -> float:
        """Inverse temperature epsilon / (6 L D), 1 over loss."""
        return self.epsilon / (6 * self.problem.constants.lipschitz_constant * self.diameter)

    @property
    def _as_cube(self) -> bool:
        return self.shape == "cube" or self.problem.constraint.dimension == 1

    def _region(self, centers: Array) -> Region:
        constraint = self.problem.constraint
        if self._as_cube:
            return local_cubes(constraint, centers, self.radius)
        return local_balls(
            constraint, centers, self.radius, fixed_region(constraint, self.inner_radius).inner_radius
        )

    def tuning(self, n: int, region: Region | None = None) -> GaugeTuning:
        """Algorithm 5's parameters for n records; those of the set's center if no region is given."""
        if region is None:
            region = self._region(np.asarray(self.problem.constraint.center())[None, :])
        return tune(
            self.problem,
            region,
            whole_number("n", n, at_least=1),
            self.scale,
            self.epsilon / 12,
            extension=self.extension,
        )

    def step_count(self, n: int) -> int:
        """Steps of one walk; the proved number unless `steps` is set."""
        return int(self.tuning(n).plan.steps) if self.steps is None else self.steps

    def repeats(self, n: int) -> int:
        """The largest number of walks a run."""
        tuning = self.tuning(n)
        return repeats(tuning.region, tuning.lipschitz, self.epsilon / 3)

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        reasons = self.tuning(n).plan.withdrawn(math.inf if self.steps is None else self.steps)
        return (*reasons, *given_up(self.withdraw_guarantee))

    def guarantees(self, n: int) -> Guarantees:
        """epsilon-DP for given centers; none if the steps are too few."""
        if self.withdrawn(n):
            return Guarantees()
        sources = ("bst14.thm3.4.1", "bst14.alg7-budget")
        return Guarantees(
            replace_one(
                PureDP(self.epsilon),
                *sources,
                conditions=(
                    Condition(ConditionKind.GIVEN_INPUT, "the centers"),
                    *conditions_of_extension(self._as_cube, self.extension),
                    *self.problem.conditions,
                ),
            )
        )

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Over the minimum on C0; None if the steps are too few."""
        if self.withdrawn(n):
            return None
        bound = expected_excess(
            self.problem.constraint.dimension, self.scale, self.epsilon / 3, "bst14.thm3.4.2"
        )
        return StatedRisk(bound.bound, total=True, sources=bound.sources, conditions="over the minimum on C0")

    def __call__(self, data: Dataset, centers: Any, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set with a center in C for each run, shape (runs, p); points have that shape.

        Raises:
            InvalidArgumentError: if the centers have another shape or are not in C.
            NotGuaranteedError: if the steps are too few for the guarantee and it was not withdrawn.
        """
        data = admitted(self, data, name="bst14.alg7")
        constraint, xp = self.problem.constraint, rng.xp
        given = xp.asarray(centers, dtype=xp.float64)
        if given.shape != (runs, constraint.dimension):
            raise InvalidArgumentError("centers", tuple(given.shape), f"shape {(runs, constraint.dimension)}")
        if not bool(xp.all(constraint.contains(given))):
            raise InvalidArgumentError("centers", centers, "points of the constraint set")
        # up to rounding, centers are inside now
        region = self._region(constraint.project(given))
        tuning = self.tuning(data.n, region)
        density = tuning.density(self.problem, data.as_namespace(xp), self.withdraw_guarantee)
        sampler = CubeSampler(density, tuning.plan, self.step_count(data.n), self.simulation, runs)
        return boosted(sampler, region, self.repeats(data.n), rng, runs)
