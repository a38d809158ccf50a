"""Output perturbation for strongly convex losses (Bassily, Smith, Thakurta, 2014, Algorithm 3 and Appendix C).

Losses are summed over the records in this paper. The minimizer depends on the data alone; one noise vector hides
it. Where the paper's guarantees have 2 L, these have the loss's `gradient_sensitivity`, which is all that the
proofs use: how far apart the gradients of two records can be, 2 L unless the loss has a smaller bound.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace

import scipy

from dpverify.algorithms.conditions import admitted, never_refused, refuse_or_withdraw, too_small
from dpverify.algorithms.contract import Guarantees, promised, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import AboveOne, Epsilon, NotNegative, Positive, Proper, Share
from dpverify.algorithms.promises import StatedQueries, StatedRisk, missed, reasons, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, ApproxDP, Condition, PureDP
from dpverify.privacy.mixtures import smallest_noise_multiplier
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import Array, like, row_sums
from dpverify.problems.losses import check_not_flat
from dpverify.problems.per_run.batched_minimizers import UNCERTIFIED, DataMinimum, minimizer_of
from dpverify.running import Output, Randomness, StatedStructure, single_noise


class PerturbedMinimizer(Weakenable):
    """Noise on the minimizer of the total risk, projected onto C, and a ball about that which may hold the minimizer.

    The minimizer found is certified to be within `distance_allowed(n)` of the exact one; the noise hides both.
    """

    problem: Problem
    slack: float

    def sensitivity(self, n: int) -> float:
        """How far apart the exact minimizers of two neighbors can be, s / (n Delta); a length."""
        n = whole_number("n", n, at_least=self.fewest)
        return self.problem.constants.gradient_sensitivity / (n * self.problem.constants.strong_convexity)

    def distance_allowed(self, n: int) -> float:
        """How far the minimizer that is found may be from the exact one, slack times sensitivity / 2; a length."""
        return 0.5 * self.slack * self.sensitivity(n)

    @abstractmethod
    def ball_radius(self, n: int) -> float:
        """Of the ball, a length."""

    @abstractmethod
    def failure_probability(self, n: int) -> float:
        """With at most which probability the minimizer is outside of the ball."""

    @abstractmethod
    def noise(self, n: int, rng: Randomness, runs: int) -> Array:
        """What is added for n records, shape (runs, p)."""

    def stability(self, n: int) -> float:
        """What the minimizer moves by, found twice to within its certified error; the noise is the same."""
        return self.sensitivity(n) + 2 * self.distance_allowed(n)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Of the guarantee: that every certificate succeeds, and what the problem takes on trust."""
        return (*never_refused(UNCERTIFIED), *self.problem.conditions)

    def minimum(self, data: Dataset) -> DataMinimum:
        """The data set's minimizer with its certificate; it is not private.

        Raises:
            InvalidDataError: if it cannot be certified to within `distance_allowed(n)`, or a record is outside of what
                the loss's constants cover.
        """
        data = admitted(self, data)
        return minimizer_of(self.problem, data, accuracy=self.distance_allowed(data.n))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points are the centers theta_0, in the set, shape (runs, p).

        All runs of a call share one minimization, whose queries are counted in each.

        Raises:
            NotGuaranteedError: if the noise is too small for the guarantee and it was not withdrawn.
            InvalidDataError: as for `minimum`.
        """
        minimum = self.minimum(data)
        noise = self.noise(data.n, rng, runs)
        return Output(
            self.problem.constraint.project(like(minimum.point, noise) + noise),
            gradient_queries=minimum.gradient_queries,
            value_queries=minimum.value_queries,
            projections=1,
        )


@dataclass(frozen=True)
class OutputPerturbation(PerturbedMinimizer):
    """bst14, Algorithm 3: theta_0 = Proj_C(theta* + b), and the ball C_0 of theta about theta_0 within C.

    theta* minimizes the sum of the losses on C; b has a density proportional to exp(-||b|| / scale), so that
    its norm has a Gamma law with shape p and its direction is uniform. The points of a run are theta_0; C_0 is
    {theta in C: ||theta - theta_0|| <= ball_radius(n)}.

    Guarantee (replace-one, both directions): epsilon-DP. Two data sets' minimizers are at most s / (n Delta)
    apart, s being the loss's gradient sensitivity (at most 2 L), because the sum of the losses is n Delta strongly
    convex. The minimizer found here is certified to be within `distance_allowed(n)` of theta*, so that
    the points found are at most (1 + slack) s / (n Delta) apart, and the scale is that over epsilon. A data set on
    which this certificate fails is refused with an error, and the guarantee has the condition that none is.

    Probability of theta* in C_0: the paper prints at least 1 - exp(-zeta) for the radius zeta p scales and every
    zeta > 1 (proof of Lemma 4.2). That is exact for p = 1 and false for every p >= 2 and zeta close to 1: at p = 2
    and zeta = 1.1, ||b|| is above the radius with probability 3.2 exp(-2.2) = 0.355, and exp(-1.1) = 0.333. It
    holds again for zeta >= 1.26, so for 3 ln n. `failure_probability(n)` is the exact probability that ||b|| exceeds
    zeta p scales, which bounds that of missing theta*, since projecting onto C does not move it away from there.

    Assumptions: losses that are Delta-strongly convex and have a finite gradient sensitivity for records in the
    unit ball; smooth ones are minimized more accurately than others.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        zeta: radius of C_0 in units of p times the noise's scale, above 1; 3 ln n if None, as in Lemma 4.2.
        slack: share by which the scale is enlarged for the minimizer's error, in (0, 1]; dimensionless.
        noise_scale: of the noise's norm, a length; the smallest that has the guarantee if None.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.
    """

    problem: Problem
    epsilon: Epsilon
    zeta: AboveOne | None = None
    slack: Share = 0.01
    noise_scale: NotNegative | None = None
    withdraw_guarantee: bool = False

    id = "bst14.alg3"
    statements = ("bst14.lem4.1", "bst14.lem4.2")
    unstated = reasons("bst14.alg3")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(at.mean, 1.0), "asked": lambda: cls(at.mean, at.epsilon)}

    def __post_init__(self) -> None:
        """Refuse a loss that is not strongly convex, or whose gradients may be arbitrarily far apart."""
        super().__post_init__()
        if not (
            self.problem.constants.strong_convexity > 0
            and math.isfinite(self.problem.constants.gradient_sensitivity)
        ):
            raise InvalidArgumentError(
                "problem", self.problem, "a strongly convex loss with a finite gradient sensitivity"
            )
        check_not_flat("problem", self.problem, self.problem.loss)

    def least_scale(self, n: int) -> float:
        """The smallest scale of the noise's norm that has the guarantee, a length."""
        return (1 + self.slack) * self.sensitivity(n) / self.epsilon

    def scale(self, n: int) -> float:
        """Scale of the noise's norm, a length; the norm's mean is p times that."""
        return self.least_scale(n) if self.noise_scale is None else self.noise_scale

    def zeta_at(self, n: int) -> float:
        """Radius of C_0 in units of p times the scale: 3 ln n unless `zeta` is set.

        Raises:
            InvalidArgumentError: for n = 1 if `zeta` is not set, because 3 ln 1 is not above 1.
        """
        return 3 * math.log(whole_number("n", n, at_least=2)) if self.zeta is None else self.zeta

    def ball_radius(self, n: int) -> float:
        """Radius of C_0: zeta p scales, and the error allowed to the minimizer; a length."""
        p = self.problem.constraint.dimension
        return self.zeta_at(n) * p * self.scale(n) + self.distance_allowed(n)

    def failure_probability(self, n: int) -> float:
        """P[||b|| > zeta p scales], exactly; theta* is outside of C_0 with at most this probability."""
        p = self.problem.constraint.dimension
        return float(scipy.special.gammaincc(p, self.zeta_at(n) * p))

    def printed_failure_probability(self, n: int) -> float:
        """exp(-zeta), as printed; see the class for where it is too small."""
        return math.exp(-self.zeta_at(n))

    def _voids(self, n: int) -> tuple[str, ...]:
        return too_small("the noise's scale", self.noise_scale, self.least_scale(n))

    def _guaranteed(self, n: int) -> Guarantees:
        """epsilon-DP for n records; none if the noise is too small."""
        claim = PureDP(self.epsilon)
        theorem = promised("bst14.alg3/privacy", claim, conditions=self.conditions, claim=claim)
        return Guarantees(theorem, as_printed=theorem)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Lipschitz constant of the sum times the mean distance: n L (p scales + the minimizer's error).

        The paper's introduction has the same without constants. None if the loss is not Lipschitz.
        """
        found = self._risk_at(n, self.problem.constraint.dimension)
        return StatedRisk(found, total=True, **words("bst14.alg3/risk")) if math.isfinite(found) else None

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The same at the quantile of the noise's norm, Gamma(p, 1) times the scale: all of beta is spent there.

        Projecting does not move the point away from theta*, which is in C. Assumes an L-Lipschitz loss on C for each
        record, and a minimizer found within its certified distance; convexity is not needed.
        """
        norm = float(scipy.special.gammainccinv(self.problem.constraint.dimension, missed(probability)))
        found, row = self._risk_at(n, norm), words("bst14.alg3/quantile")
        return StatedRisk(found, total=True, probability=probability, **row) if math.isfinite(found) else None

    def _risk_at(self, n: int, norm: float) -> float:
        """The most that the total risk may grow with so many scales of noise."""
        return (
            n * self.problem.constants.lipschitz_constant * (norm * self.scale(n) + self.distance_allowed(n))
        )

    def noise(self, n: int, rng: Randomness, runs: int) -> Array:
        """Noise whose norm has a Gamma law."""
        return self.scale(n) * gamma_norm_noise(rng, runs, self.problem.constraint.dimension, "noise")


def gamma_norm_noise(rng: Randomness, runs: int, dimension: int, name: str) -> Array:
    """Vectors with density proportional to exp(-||b||), shape (runs, dimension).

    The norm has a Gamma law with the dimension as shape, the direction is uniform: drawn as `name` norm and
    `name` direction.
    """
    xp = rng.xp
    lengths = rng.gamma(float(dimension), (runs,), f"{name} norm")
    directions = rng.normal((runs, dimension), f"{name} direction")
    norms = xp.sqrt(row_sums(directions * directions))
    # a direction of exactly 0 has probability 0 and would be divided by
    return directions * (lengths / xp.where(norms > 0, norms, xp.ones_like(norms)))[:, None]


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

    id = "bst14.alg-local-approx"
    statements = ("bst14.thmC.1", "bst14.thmC.2")
    fewest = 2

    def __post_init__(self) -> None:
        """Refuse a loss that is not strongly convex and Lipschitz on a bounded set, and too little noise."""
        super().__post_init__()
        check_strongly_convex(self.problem)
        refuse_or_withdraw(self.id, self._voids(2), self.withdraw_guarantee)

    def _voids(self, n: int) -> tuple[str, ...]:
        least, words = self.provable_constant(), ", the smallest that is proved"
        return too_small("the noise constant", self.noise_constant, least, words)

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

    def _guaranteed(self, n: int) -> Guarantees:
        """(epsilon, delta)-DP, and the GDP behind it; none if the noise is too small."""
        mu = (1 + self.slack) * self.sensitivity(n) / self.noise_stddev(n)
        theorem = replace_one(ApproxDP(self.epsilon, self.delta), "bst14.thmC.1", conditions=self.conditions)
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
