"""Output perturbation with Gaussian noise (Bassily, Smith, Thakurta, 2014, Appendix C): a point near the minimizer.

It is the first step of localization under (epsilon, delta)-DP. Losses are summed over the records. Where the paper
has 2 L, this has the loss's `gradient_sensitivity`, which is 2 L unless the loss has a smaller bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import scipy

from dpverify.algorithms.bst14.output_perturbation import PerturbedMinimizer
from dpverify.algorithms.conditions import refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.parameters import Epsilon, Positive, Proper, Share
from dpverify.algorithms.promises import StatedQueries
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, ApproxDP
from dpverify.privacy.mixtures import smallest_noise_multiplier
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import Array
from dpverify.problems.losses import check_not_flat
from dpverify.running import Randomness, StatedStructure, single_noise

PRINTED_CONSTANT = 4.0
"""c in sigma_0^2 = c L^2 ln(1/delta) / (Delta n epsilon)^2, as printed; too small for (epsilon, delta)-DP."""


@dataclass(frozen=True)
class GaussianOutputPerturbation(PerturbedMinimizer):
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
    fewest: ClassVar[int] = 2

    def __post_init__(self) -> None:
        """Refuse a loss that is not strongly convex and Lipschitz on a bounded set, and too little noise."""
        super().__post_init__()
        check_strongly_convex(self.problem)
        refuse_or_withdraw(self.id, self._voids(2), self.withdraw_guarantee)

    def _voids(self, n: int) -> tuple[str, ...]:
        least = self.provable_constant()
        if self.noise_constant is None or self.noise_constant >= least * (1 - 1e-12):
            return ()
        return (
            f"the noise constant {self.noise_constant:g} is below {least:g}, the smallest that is proved",
        )

    def provable_constant(self) -> float:
        """The smallest c for which the Gaussian mechanism's exact profile shows (epsilon, delta)-DP."""
        return 4 * (smallest_noise_multiplier(self.epsilon, self.delta) * self.epsilon) ** 2 / self._logarithm

    @property
    def _logarithm(self) -> float:
        return math.log(1 / self.delta)

    def noise_stddev(self, n: int) -> float:
        """sigma_0, of each coordinate of the noise that is added to the minimizer, a length."""
        constant = self.provable_constant() if self.noise_constant is None else self.noise_constant
        multiplier = math.sqrt(constant * self._logarithm) / (2 * self.epsilon)
        return (1 + self.slack) * self.sensitivity(n) * multiplier

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
        if self.withdrawn(n):
            return Guarantees()
        mu = (1 + self.slack) * self.sensitivity(n) / self.noise_stddev(n)
        theorem = replace_one(
            ApproxDP(self.epsilon, self.delta),
            "bst14.thmC.1",
            conditions=self.conditions,
        )
        return Guarantees(theorem, sharpest=replace(theorem, guarantee=GDP(mu)), as_printed=theorem)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """One projection; the paper does not say how the minimizer is found."""
        whole_number("n", n, at_least=2)
        return (StatedQueries("projection", 1, sources=("bst14.alg-local-approx",)),)

    def structure(self, data: Dataset) -> StatedStructure:
        """The minimizer, and noise that is added to it once."""
        return single_noise(self.minimum(data).point, self.noise_stddev(data.n), self.problem.constraint)

    def noise(self, n: int, rng: Randomness, runs: int) -> Array:
        """Gaussian noise."""
        return self.noise_stddev(n) * rng.normal((runs, self.problem.constraint.dimension), "output noise")


def check_strongly_convex(problem: Problem) -> None:
    """Refuse a problem that cannot be localized: its loss is strongly convex and Lipschitz, and its set is bounded."""
    known = problem.constants
    bounded = math.isfinite(known.lipschitz_constant) and math.isfinite(problem.constraint.diameter)
    if not (known.strong_convexity > 0 and bounded):
        raise InvalidArgumentError(
            "problem", problem, "a strongly convex loss with a finite Lipschitz constant, on a bounded set"
        )
    check_not_flat("problem", problem, problem.loss)
