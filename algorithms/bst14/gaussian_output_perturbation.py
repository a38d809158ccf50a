"""Output perturbation with Gaussian noise (Bassily, Smith, Thakurta, 2014, Appendix C): a point near the minimizer.

It is the first step of localization under (epsilon, delta)-DP. Losses are summed over the records. Where the paper
has 2 L, this has the loss's `gradient_sensitivity`, which is 2 L unless the loss has a smaller bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import scipy

from dpverify.algorithms.conditions import admitted, given_up, never_refused, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.parameters import Epsilon, Positive, Proper, Share
from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, ApproxDP
from dpverify.privacy.mixtures import smallest_noise_multiplier
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import like
from dpverify.problems.losses import check_not_flat
from dpverify.problems.per_run.batched_minimizers import UNCERTIFIED, minimizer_of
from dpverify.running import Output, Randomness, StatedStructure, single_noise

PRINTED_CONSTANT = 4.0
"""c in sigma_0^2 = c L^2 ln(1/delta) / (Delta n epsilon)^2, as printed; too small for (epsilon, delta)-DP."""


@dataclass(frozen=True)
class GaussianOutputPerturbation(Weakenable):
    """bst14, Appendix C: theta_0 = Proj(theta* + N(0, sigma_0^2 I)), theta* being the minimizer of the total risk.

    The noise variance is sigma_0^2 = c (s/2)^2 ln(1/delta) / (Delta n epsilon)^2, s being the loss's gradient
    sensitivity, 2 L in the paper. The localizing ball about theta_0 has radius zeta sigma_0 sqrt(p).

    Guarantee (replace-one, both directions): (epsilon, delta)-DP for every c at least `provable_constant()`. One
    record moves theta* by at most s / (n Delta), which makes the output (s / (n Delta sigma_0))-GDP, and the constant
    is read off the exact Gaussian profile. The printed c = 4 is too small: at epsilon = 1 and delta = 1e-5 it gives
    delta = 4.3e-5.

    The minimizer is not known exactly, but certified to be within `distance_allowed(n)`. The noise is enlarged by
    that share, and the radius by that distance. Where the certificate fails, so does the algorithm, and the guarantee
    has the condition that it does not.

    Assumptions: L-Lipschitz, Delta-strongly convex losses for records in the unit ball, on a bounded set.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        noise_constant: c, dimensionless; None: the smallest that is proved.
        zeta: the radius over sigma_0 sqrt(p), dimensionless; None: the larger of sqrt(3 ln n), as printed, and what
            makes the minimizer's distance larger with probability at most 1/n^3, as the proof needs; the two differ
            only in one dimension.
        slack: share by which the noise is enlarged for the minimizer's error, in (0, 1]; dimensionless.
        withdraw_guarantee: run even if the guarantee does not hold.
    """

    problem: Problem
    epsilon: Epsilon
    delta: Proper
    noise_constant: Positive | None = None
    zeta: Positive | None = None
    slack: Share = 0.01
    withdraw_guarantee: bool = False

    id: ClassVar[str] = "bst14.alg-local-approx"
    statements: ClassVar[tuple[str, ...]] = ("bst14.thmC.1", "bst14.thmC.2")

    def __post_init__(self) -> None:
        """Refuse a loss that is not strongly convex and Lipschitz on a bounded set, and too little noise."""
        super().__post_init__()
        check_strongly_convex(self.problem)
        refuse_or_withdraw(self.id, self._withdrawn, self.withdraw_guarantee)

    @property
    def _withdrawn(self) -> tuple[str, ...]:
        given, least = given_up(self.withdraw_guarantee), self.provable_constant()
        if self.noise_constant is None or self.noise_constant >= least * (1 - 1e-12):
            return given
        return (
            f"the noise constant {self.noise_constant:g} is below {least:g}, the smallest that is proved",
            *given,
        )

    def provable_constant(self) -> float:
        """The smallest c for which the Gaussian mechanism's exact profile shows (epsilon, delta)-DP."""
        return 4 * (smallest_noise_multiplier(self.epsilon, self.delta) * self.epsilon) ** 2 / self._logarithm

    @property
    def _logarithm(self) -> float:
        return math.log(1 / self.delta)

    def l2_sensitivity(self, n: int) -> float:
        """How far one replaced record can move the exact minimizer, s / (n Delta); a length."""
        n = whole_number("n", n, at_least=2)
        return self.problem.constants.gradient_sensitivity / (n * self.problem.constants.strong_convexity)

    def distance_allowed(self, n: int) -> float:
        """How far the computed minimizer may be from theta*, slack times sensitivity / 2; a length."""
        return 0.5 * self.slack * self.l2_sensitivity(n)

    def noise_stddev(self, n: int) -> float:
        """sigma_0, of each coordinate of the noise that is added to the minimizer, a length."""
        constant = self.provable_constant() if self.noise_constant is None else self.noise_constant
        multiplier = math.sqrt(constant * self._logarithm) / (2 * self.epsilon)
        return (1 + self.slack) * self.l2_sensitivity(n) * multiplier

    def zeta_at(self, n: int) -> float:
        """The radius over sigma_0 sqrt(p), for n records."""
        if self.zeta is not None:
            return self.zeta
        n, p = whole_number("n", n, at_least=2), self.problem.constraint.dimension
        quantile = float(scipy.special.chdtri(p, n**-3.0))
        return max(math.sqrt(3 * math.log(n)), math.sqrt(quantile / p))

    def ball_radius(self, n: int) -> float:
        """Of the ball about theta_0: zeta sigma_0 sqrt(p), and the error allowed to the minimizer; a length."""
        dimension = self.problem.constraint.dimension
        return self.zeta_at(n) * self.noise_stddev(n) * math.sqrt(dimension) + self.distance_allowed(n)

    def failure_probability(self, n: int) -> float:
        """With at most which probability the minimizer is outside of the ball: that of a chi-square's tail."""
        dimension = self.problem.constraint.dimension
        return float(scipy.special.chdtrc(dimension, dimension * self.zeta_at(n) ** 2))

    def guarantees(self, n: int) -> Guarantees:
        """(epsilon, delta)-DP, and the GDP behind it; none if the noise is too small."""
        whole_number("n", n, at_least=2)
        if self._withdrawn:
            return Guarantees()
        mu = (1 + self.slack) * self.l2_sensitivity(n) / self.noise_stddev(n)
        theorem = replace_one(
            ApproxDP(self.epsilon, self.delta),
            "bst14.thmC.1",
            conditions=(*never_refused(UNCERTIFIED), *self.problem.conditions),
        )
        return Guarantees(theorem, sharpest=replace(theorem, guarantee=GDP(mu)), as_printed=theorem)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """One projection; the paper does not say how the minimizer is found."""
        whole_number("n", n, at_least=2)
        return (StatedQueries("projection", 1, sources=("bst14.alg-local-approx",)),)

    def structure(self, data: Dataset) -> StatedStructure:
        """The minimizer, and noise that is added to it once."""
        data = admitted(self, data)
        found = minimizer_of(self.problem, data, accuracy=self.distance_allowed(data.n))
        return single_noise(found.point, self.noise_stddev(data.n), self.problem.constraint)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n >= 2 records; points are the centers theta_0, in the set, shape (runs, p).

        All runs of a call share one minimization, whose queries are counted in each.

        Raises:
            InvalidDataError: if the minimizer cannot be certified well enough.
        """
        data = admitted(self, data)
        constraint = self.problem.constraint
        found = minimizer_of(self.problem, data, accuracy=self.distance_allowed(data.n))
        noise = rng.normal((runs, constraint.dimension), "output noise")
        return Output(
            constraint.project(like(found.point, noise) + self.noise_stddev(data.n) * noise),
            gradient_queries=found.gradient_queries,
            value_queries=found.value_queries,
            projections=1,
        )


def check_strongly_convex(problem: Problem) -> None:
    """Refuse a problem that cannot be localized.

    Raises:
        InvalidArgumentError: if it is not a `Problem` with a strongly convex, Lipschitz loss on a bounded set.
    """
    if not isinstance(problem, Problem):
        raise InvalidArgumentError("problem", problem, "a dpverify.problems.Problem")
    loss, constraint = problem.loss, problem.constraint
    lipschitz = math.isfinite(problem.constants.lipschitz_constant) and math.isfinite(constraint.diameter)
    if not (problem.constants.strong_convexity > 0 and lipschitz):
        raise InvalidArgumentError(
            "problem", problem, "a strongly convex loss with a finite Lipschitz constant, on a bounded set"
        )
    check_not_flat("problem", problem, loss)
