"""Localization for strongly convex losses (Bassily, Smith, Thakurta, 2014, Section 4 and Appendix C).

Output perturbation spends half of the budget on a small ball about a point near the minimizer; a solver for
Lipschitz losses spends the other half inside that ball, which differs from run to run. Losses are summed over the
records.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from dpverify.algorithms.bst14.convex_sampling import LocalizedSampling
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.local_solvers import (
    LocalExponentialSampling,
    LocalNoisyGradientDescent,
    LocalSolver,
    LocalWalk,
)
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.output_perturbation import (
    GaussianOutputPerturbation,
    OutputPerturbation,
    PerturbedMinimizer,
    check_strongly_convex,
)
from dpverify.algorithms.conditions import PASSED_ON, admitted, claim_or_obstacle, passed_on, stated_by
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Epsilon, Proper
from dpverify.algorithms.promises import StatedQueries, StatedRisk, missed, reasons, words, words_of
from dpverify.algorithms.samplers.sampling_regions import is_cube
from dpverify.algorithms.steps.single_run import SingleRun
from dpverify.algorithms.weakening import BOTH, Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ApproxDP, ConditionKind, PureDP, StatedGuarantee
from dpverify.problems import Dataset, Problem
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.running import Output, Randomness
from dpverify.running.outputs import COUNTERS

SAMPLERS = ("exponential-sampling", "efficient-exponential-sampling")
"""Algorithms 2 and 7."""


# the solver's sets are made of the first step's centers, which could be released
_ACCEPTED = PASSED_ON | {ConditionKind.GIVEN_INPUT}


class _Localized(Weakenable, ABC):
    """Both forms: a localizer and a solver with a part of the budget each, one after the other."""

    problem: Problem
    epsilon: Epsilon
    localization_share: Proper
    withdraw_guarantee: bool

    @property
    def _delta(self) -> float:
        return float(getattr(self, "delta", 0.0))

    @property
    @abstractmethod
    def localizer(self) -> PerturbedMinimizer:
        """The first step, with its part of the budget."""

    @abstractmethod
    def solver_at(self, n: int) -> LocalSolver:
        """The second step for n records, with its part of the budget."""

    def radius(self, n: int) -> float:
        """Of the ball about theta_0, a length."""
        return self.localizer.ball_radius(n)

    def local_diameter(self, n: int) -> float:
        """Bound on the diameter of C0: twice the radius, or the diameter of C if that is less; a length."""
        return min(2 * self.radius(n), self.problem.constraint.diameter)

    def miss_probability(self, n: int) -> float:
        """An upper bound on the probability that the minimizer is outside of C0; privacy does not depend on it."""
        return self.localizer.failure_probability(n)

    def _claims(self, n: int) -> list[StatedGuarantee | str]:
        """The guarantee of each step that is enough for its share of the budget; why, if it has none."""
        whole_number("n", n, at_least=2)
        delta = self._delta
        steps = (
            ("output perturbation", self.localizer, self.localization_share),
            ("the solver", self.solver_at(n), 1 - self.localization_share),
        )
        return [
            claim_or_obstacle(
                who, stated_by(step, n), n, share * self.epsilon, share * delta, accepts=_ACCEPTED
            )
            for who, step, share in steps
        ]

    def _voids(self, n: int) -> tuple[str, ...]:
        return tuple(claim for claim in self._claims(n) if isinstance(claim, str))

    def guarantees(self, n: int) -> Guarantees:
        """The theorem's for n records, with the conditions of both steps; none if it does not hold."""
        claims = self._claims(n)
        found = [claim for claim in claims if isinstance(claim, StatedGuarantee)]
        if self.withdraw_guarantee or len(found) < len(claims):
            return Guarantees()
        claim = ApproxDP(self.epsilon, self._delta) if self._delta > 0 else PureDP(self.epsilon)
        theorem = promised(f"{self.id}/privacy", claim, conditions=passed_on(*found))
        return Guarantees(theorem, as_printed=theorem)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """On the expected excess total risk: F(||C0||) + n L ||C|| P[theta* is not in C0], as the proof has it.

        F is the solver's bound over the minimum of whatever set it is given, so it holds given the ball.
        """
        inside, printed = self.solver_at(n).risk_within(n, self.local_diameter(n), None)
        if not math.isfinite(inside):
            return None
        diameter = self.problem.constraint.diameter
        outside = n * self.problem.constants.lipschitz_constant * diameter * self.miss_probability(n)
        theorem = None if printed is None else printed + outside
        return StatedRisk(inside + outside, total=True, theorem=theorem, **words(f"{self.id}/risk"))

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The solver's on C0, with what the ball leaves of 1 - probability; None if it leaves or states nothing.

        A union bound: theta* is outside of C0, or it is inside and the solver misses its bound over the minimum on C0,
        which it does with no larger probability whatever C0 is. Assumes what the solver's bound does.
        """
        inside = 1 - (missed(probability) - self.miss_probability(n))
        if not 0 < inside < 1:
            return None
        found, _ = self.solver_at(n).risk_within(n, self.local_diameter(n), inside)
        row = words("bst14.alg4/quantile")
        return StatedRisk(found, total=True, probability=probability, **row) if math.isfinite(found) else None

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """The solver's projections, and one more.

        Gradients and values are counted in every run, but not stated: the paper does not say how the minimizer is
        found, and finding it takes both.
        """
        whole_number("n", n)
        return tuple(
            dataclasses.replace(
                one,
                count=one.count + 1,
                **words("bst14.alg4/projections", **words_of(one))
                if one.count
                else words("bst14.alg4/projection", **words_of(one)),
            )
            for one in self.solver_at(n).queries(n)
            if one.oracle == "projection"
        )

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n >= 2 records; points have shape (runs, p).

        Raises:
            NotGuaranteedError: if the guarantee does not hold for n records and was not withdrawn.
            InvalidDataError: if the minimizer cannot be certified well enough.
        """
        data = admitted(self, data)
        n = data.n
        local = self.localizer(data, rng=rng, runs=runs)
        sets = BallIntersections(self.problem.constraint, local.points, self.radius(n))
        output = self.solver_at(n).solve(data, sets, rng=rng, runs=runs)
        counts = {name: getattr(local, name) + getattr(output, name) for name in COUNTERS}
        return Output(output.points, **counts)


@dataclass(frozen=True)
class Localization(_Localized):
    """bst14, Algorithm 4: output perturbation with epsilon/2 gives a ball about theta_0; then a sampler with
    epsilon/2 runs on the part of C in it, C0.

    Guarantee (replace-one, both directions): Lemma 4.1, epsilon-DP, by basic adaptive composition. The ball is made
    of released things only, so privacy does not depend on whether the minimizer is in it; the risk does.

    Risk: Lemma 4.2 and Theorem 4.3 with constants: F(||C0||) + n L ||C|| P[theta* is not in C0] in expectation. F is
    the sampler's, 2 p L ||C0|| / (epsilon/2) for Algorithm 2, and the ball's diameter is about 4 p zeta L / (n Delta
    epsilon / 2), so with zeta = 3 ln n the first term is at most 96 p^2 L^2 ln n / (n Delta epsilon^2), up to the
    slack. The norm of the noise has a Gamma law with shape p, whose tail gives the second one.

    Assumptions: L-Lipschitz, Delta-strongly convex losses for records in the unit ball, on a bounded set; those of
    the sampler.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        solver: `exponential-sampling` for Algorithm 2, `efficient-exponential-sampling` for Algorithm 7, or any
            algorithm that runs on a set of each run's own and claims its part of epsilon.
        localization_share: the part of epsilon that output perturbation gets, in (0, 1).
        steps: of each of Algorithm 7's walks; None: the proven number.
        zeta: the ball's radius over p times the noise's scale, above 1; None: 3 ln n.
        slack: share by which output perturbation's noise is enlarged for the minimizer's error.
        withdraw_guarantee: run even if the guarantee does not hold.
    """

    problem: Problem
    epsilon: Epsilon
    solver: Literal["exponential-sampling", "efficient-exponential-sampling"] | LocalSolver = (
        "exponential-sampling"
    )
    localization_share: Proper = 0.5
    steps: Count | None = None
    zeta: float | None = None
    slack: float = 0.01
    withdraw_guarantee: bool = False

    id = "bst14.alg4"
    fault = BOTH
    statements = ("bst14.lem4.1", "bst14.lem4.2", "bst14.thm4.3")
    unstated = reasons("bst14.alg4")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(at.mean, 1.0), "asked": lambda: cls(at.mean, at.epsilon, zeta=2.0)}

    def __post_init__(self) -> None:
        """Refuse a loss that is not strongly convex and Lipschitz on a bounded set, and a solver of another problem."""
        super().__post_init__()
        check_strongly_convex(self.problem)
        named = isinstance(self.solver, str) and self.solver in SAMPLERS
        if not named and not isinstance(self.solver, LocalSolver):
            allowed = f"one of {', '.join(SAMPLERS)}, or an object with the members of LocalSolver"
            raise InvalidArgumentError("solver", self.solver, allowed)
        # the constants of another problem need not hold on this one's set
        if getattr(getattr(self.solver, "mechanism", None), "problem", self.problem) != self.problem:
            raise InvalidArgumentError("solver", self.solver, f"a solver of the same problem, {self.problem}")
        if self.steps is not None and self.solver != "efficient-exponential-sampling":
            raise InvalidArgumentError("steps", self.steps, "None, as only Algorithm 7 takes steps")
        _ = self.localizer
        if self.solver == "exponential-sampling":
            _ = self.solver_at(2)

    @cached_property
    def localizer(self) -> OutputPerturbation:
        """Algorithm 3 with its part of the budget."""
        return OutputPerturbation(
            self.problem,
            self.localization_share * self.epsilon,
            zeta=self.zeta,
            slack=self.slack,
            withdraw_guarantee=self.withdraw_guarantee,
        )

    def solver_at(self, n: int) -> LocalSolver:
        """The sampler with its part of the budget."""
        epsilon, withdraw = (1 - self.localization_share) * self.epsilon, self.withdraw_guarantee
        if self.solver == "efficient-exponential-sampling":
            # cubes are the only sets on which the proved number of walk steps is within reach
            shape: Any = "cube" if is_cube(self.problem.constraint) else "ball"
            walk = LocalizedSampling(
                self.problem, epsilon, self.radius(n), shape, self.steps, withdraw_guarantee=withdraw
            )
            return LocalWalk(walk)
        if isinstance(self.solver, str):
            return LocalExponentialSampling(
                ExponentialSampling(self.problem, epsilon, withdraw_guarantee=withdraw)
            )
        return self.solver

    def sharpened(self, n: int, factor: float) -> Self:
        """The same ball, and the sampler inside with its exponent times the factor."""
        solver = self.solver_at(n)
        if isinstance(solver, LocalExponentialSampling | LocalWalk):
            inside: Any = solver.mechanism
            mechanism = dataclasses.replace(inside, epsilon=factor * inside.epsilon)
            solver = type(solver)(mechanism)
        return dataclasses.replace(self, solver=solver, steps=None, withdraw_guarantee=True)


@dataclass(frozen=True)
class ApproximateLocalization(_Localized):
    """bst14, Appendix C: Gaussian output perturbation with (epsilon/2, delta/2) gives a ball about theta_0; then
    Algorithm 1 with (epsilon/2, delta/2) on the part of C in it, C0.

    Guarantee (replace-one, both directions): Theorem C.1, (epsilon, delta)-DP, by basic adaptive composition. The
    ball is made of released things only, so privacy does not depend on whether the minimizer is in it.

    Risk: Theorem C.2 with the constants of its proof: F(||C0||) + n L ||C|| P[theta* is not in C0] in expectation,
    F being Algorithm 1's. The printed zeta = sqrt(3 ln n) makes the last factor at most 1/n^3 from two dimensions
    on. In one dimension it is erfc(sqrt(1.5 ln n)), and n times that does not even vanish as 1/n, so zeta is larger
    there. The printed noise of output perturbation is too small; see `GaussianOutputPerturbation`.

    Assumptions: L-Lipschitz, Delta-strongly convex losses for records in the unit ball, on a bounded set.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        localization_share: the part of epsilon and of delta that output perturbation gets, in (0, 1).
        localization_constant: c of output perturbation's noise; None: the smallest that is proved.
        zeta: the ball's radius over sigma_0 sqrt(p); None: by the theorem.
        solver_constant: c of Algorithm 1's noise; None: the smallest that the accountant can prove.
        steps: of Algorithm 1; n^2 - 1 if None.
        slack: share by which output perturbation's noise is enlarged for the minimizer's error.
        withdraw_guarantee: run even if the guarantee does not hold.
    """

    problem: Problem
    epsilon: Epsilon
    delta: Proper
    localization_share: Proper = 0.5
    localization_constant: float | None = None
    zeta: float | None = None
    solver_constant: float | None = None
    steps: int | None = None
    slack: float = 0.01
    withdraw_guarantee: bool = False

    id = "bst14.alg-local-approx"
    statements = ("bst14.thmC.1", "bst14.thmC.2", "bst14.thm2.1", "bst14.lem2.5")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 1.0, 1e-5, steps=3),
            "first step": lambda: GaussianOutputPerturbation(at.mean, 1.0, 1e-5),
            "asked": lambda: cls(at.mean, at.epsilon, at.delta),
        }

    def __post_init__(self) -> None:
        """Refuse a loss that is not strongly convex and Lipschitz on a bounded set, and too little noise."""
        super().__post_init__()
        check_strongly_convex(self.problem)
        _ = self.localizer, self._descent

    @cached_property
    def localizer(self) -> GaussianOutputPerturbation:
        """Output perturbation with its part of the budget."""
        return GaussianOutputPerturbation(
            self.problem,
            self.localization_share * self.epsilon,
            self.localization_share * self.delta,
            noise_constant=self.localization_constant,
            zeta=self.zeta,
            slack=self.slack,
            withdraw_guarantee=self.withdraw_guarantee,
        )

    @cached_property
    def _descent(self) -> LocalNoisyGradientDescent:
        return LocalNoisyGradientDescent(
            NoisyGradientDescent(
                self.problem,
                (1 - self.localization_share) * self.epsilon,
                (1 - self.localization_share) * self.delta,
                noise_constant=self.solver_constant,
                steps=self.steps,
                withdraw_guarantee=self.withdraw_guarantee,
            )
        )

    @property
    def seconds_a_call(self) -> float:
        """Of a step of a run alone, on the part of the set in its ball."""
        constraint = self.problem.constraint
        sets = BallIntersections(constraint, constraint.center()[None, :], 1.0)
        return SingleRun.of(self.problem.loss, sets, 0, constraint.dimension).seconds_a_step

    def solver_at(self, n: int) -> LocalNoisyGradientDescent:
        """Algorithm 1 with its part of the budget."""
        return self._descent
