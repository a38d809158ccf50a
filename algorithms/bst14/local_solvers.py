"""Solvers for Lipschitz losses inside a small ball of each run's own, for the second step of localization."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import scipy

from dpverify.algorithms.bst14.convex_sampling import LocalizedSampling
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.conditions import never_refused
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.samplers.certified_rejection import FEW_ACCEPTED
from dpverify.algorithms.samplers.free_coordinates import MOST_FREE, affine_dimension
from dpverify.algorithms.steps.projected_steps import Iterates
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Condition, ConditionKind, PureDP
from dpverify.problems import Dataset
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.running import Output, Randomness

_WALKS_AT_ONCE = 1000
"""Few enough that the laws of all walks, which differ from run to run, can be computed at once in one dimension."""

_GIVEN_SETS = Condition(ConditionKind.GIVEN_INPUT, "the sets")


@runtime_checkable
class LocalSolver(Protocol):
    """A private algorithm that can be run on a set of each run's own, whatever these sets are."""

    @property
    def id(self) -> str:
        """Statement id of the algorithm."""

    def guarantees(self, n: int) -> Guarantees:
        """For n records and fixed sets."""

    def solve(self, data: Dataset, sets: BallIntersections, *, rng: Randomness, runs: int) -> Output:
        """Make each run on its own set; points have shape (runs, p)."""

    def risk_within(self, n: int, diameter: float, probability: float | None) -> tuple[float, float | None]:
        """Bound on the excess total risk over the set's own minimum, in units of loss, for sets of that diameter.

        In expectation, or with a probability if that is given; infinite if there is none. Then the bound that the
        theorem itself prints; None if it is no other.
        """

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Oracle calls for n records."""


@dataclass(frozen=True)
class LocalNoisyGradientDescent:
    """bst14, Algorithm 1 on each run's set: steps projected onto it, from its center, with sizes by its diameter."""

    mechanism: NoisyGradientDescent
    id = NoisyGradientDescent.id

    def guarantees(self, n: int) -> Guarantees:
        """Algorithm 1's guarantees, for given sets; they do not depend on the set."""
        stated = self.mechanism.guarantees(n)
        return stated.map(lambda one: replace(one, conditions=(*one.conditions, _GIVEN_SETS)))

    def solve(self, data: Dataset, sets: BallIntersections, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n >= 2 records; points have shape (runs, p)."""
        iterates = Iterates(self.mechanism.problem, sets.centers, runs, rng, sets=sets)
        return self.mechanism.descend(iterates, data, rng=rng, diameter=sets.diameter)

    def risk_within(self, n: int, diameter: float, probability: float | None) -> tuple[float, float | None]:
        """Algorithm 1's bound from wherever in the set, and Lemma 2.5's for the rates that it has; in expectation."""
        if probability is not None:
            return math.inf, None
        printed = self.mechanism.theorem_on(n, diameter) if self.mechanism.rate_factor == 1 else None
        return self.mechanism.risk_on(n, diameter, diameter), printed

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """A gradient and a projection a step."""
        return self.mechanism.queries(n)


@dataclass(frozen=True)
class LocalExponentialSampling:
    """bst14, Algorithm 2 on each run's set, sampled exactly.

    The density is proportional to exp(-epsilon L(theta; D) / (2 L D)), D being the diameter of the sets. Linear and
    quadratic losses on a ball are sampled in any dimension, other losses and sets in at most three free coordinates.
    """

    mechanism: ExponentialSampling
    id = ExponentialSampling.id

    def __post_init__(self) -> None:
        """Refuse a problem that cannot be sampled exactly near a center."""
        problem = self.mechanism.problem
        few = affine_dimension(problem.constraint) <= MOST_FREE
        if not (few or self.mechanism.localizes_without_refusing):
            raise InvalidArgumentError(
                "problem",
                problem,
                "what can be sampled exactly near a center: a linear or quadratic loss on a ball, or any convex loss "
                f"with at most {MOST_FREE} free coordinates",
            )

    def scale(self, diameter: float) -> float:
        """The exponent's factor epsilon / (2 L D), one over loss."""
        return self.mechanism.epsilon / (2 * self.mechanism.problem.constants.lipschitz_constant * diameter)

    def guarantees(self, n: int) -> Guarantees:
        """For given sets, epsilon-DP: Theorem 3.1 on each of them; none if the mechanism's was withdrawn."""
        if self.mechanism.withdraw_guarantee:
            return Guarantees()
        refusals = () if self.mechanism.localizes_without_refusing else never_refused(FEW_ACCEPTED)
        conditions = (_GIVEN_SETS, *refusals, *self.mechanism.problem.conditions)
        return Guarantees(replace_one(PureDP(self.mechanism.epsilon), "bst14.thm3.1", conditions=conditions))

    def solve(self, data: Dataset, sets: BallIntersections, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p)."""
        return self.mechanism.sample_localized(
            data, sets.centers, sets.radius, exponent_scale=self.scale(sets.diameter), rng=rng
        )

    def risk_within(self, n: int, diameter: float, probability: float | None) -> tuple[float, None]:
        """Theorem 3.2, p over the scale or 2 p L D / epsilon, or a quantile; see `ExponentialSampling`."""
        p = affine_dimension(self.mechanism.problem.constraint)
        found = p if probability is None else float(scipy.special.gammaincinv(p, probability))
        return found / self.scale(diameter), None

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """No projections; where cells are cut, gradients and values are those of the envelope and its rounds."""
        return (StatedQueries("projection", 0, sources=(self.id,)),)


@dataclass(frozen=True)
class LocalWalk:
    """bst14, Algorithm 7 on each run's set, or on a cube in C that holds it."""

    mechanism: LocalizedSampling
    id = "bst14.alg7"

    def guarantees(self, n: int) -> Guarantees:
        """Algorithm 7's guarantees; empty if its walks take too few steps."""
        return self.mechanism.guarantees(n)

    def solve(self, data: Dataset, sets: BallIntersections, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p)."""
        if sets.radius != self.mechanism.radius:
            raise InvalidArgumentError("sets", sets.radius, f"balls of radius {self.mechanism.radius}")
        parts = []
        for first in range(0, runs, _WALKS_AT_ONCE):
            centers = sets.centers[first : min(first + _WALKS_AT_ONCE, runs), ...]
            parts.append(self.mechanism(data, centers, rng=rng, runs=centers.shape[0]))
        counts = {
            name: np.concatenate([np.asarray(getattr(part, name)) for part in parts])
            for name in ("gradient_queries", "value_queries", "projections")
        }
        return Output(rng.xp.concat([part.points for part in parts], axis=0), **counts)

    def risk_within(self, n: int, diameter: float, probability: float | None) -> tuple[float, None]:
        """Theorem 3.4 (2) with its constant; infinite if its walks take too few steps.

        The mechanism knows its sets' diameter, which is larger than that of a ball where it takes cubes.
        """
        asked = self.mechanism
        stated = asked.risk_bound(n) if probability is None else asked.risk_quantile(n, probability)
        return math.inf if stated is None else stated.bound, None

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Empty: no queries are stated for sets that differ from run to run."""
        return ()
