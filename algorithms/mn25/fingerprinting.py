"""Tracing attacks on mean estimation, and the hard distribution behind them (Menart, Nikolov, 2025, Appendix C.1.1).

An estimator A of a mean sees records X_1, ..., X_n, drawn from a population with mean theta. The tracing statistic of
record i is Z_i = <A(S), X_i - theta>. For a person who is not in the data set it has expectation 0; the sum over
those who are is large for every estimator with a small bias (the fingerprinting lemma), and small for a private one.

Records are vectors of +-1/sqrt(d), so that they have norm 1; the paper's own statements are about vectors of +-1,
whose statistics are d times as large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.conditions import a_dataset, refuse_or_withdraw
from dpverify.algorithms.contract import replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Proper
from dpverify.algorithms.promises import reasons
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import budget, number, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import GDP, ApproxDP, Condition, ConditionKind, StatedGuarantee
from dpverify.privacy.mixtures import smallest_noise_multiplier
from dpverify.problems import Dataset
from dpverify.problems.arrays import row_sums
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

SENSITIVITY = 2.0
"""How far apart two records of norm 1 can be: the mean of s records has replace-one sensitivity 2 / s."""

LARGEST_STATISTIC = 2.0
"""|<A, X - theta>| for A in the unit ball and X of norm 1, whose mean theta then has norm at most 1."""

LEMMA_BOUND = 1.0 / 3.0
"""Lemma 15 in this scaling, where its proof, as printed, ends at half of it.

It is a lower bound on the expected sum of the statistics for every estimator with ||E A(S) - theta|| <= bias = 1/6.
Integration by parts in each coordinate gives E sum Z_i = 2 E <theta, g(theta)> for g(theta) = E A(S), exactly, and
<theta, g> >= ||theta||^2 - bias ||theta||. With E ||theta||^2 = 1/3 the sum is at least 2/3 - 2 bias / sqrt(3) = 0.474.
"""


def binarized(data: Dataset) -> Dataset:
    """The data set with every feature replaced by +-1/sqrt(d), + where it is above the feature's median.

    The medians are the data set's own: it is meant as a population, whose mean an attacker knows.
    """
    features = np.asarray(data.as_namespace(np).features)
    signs = np.where(features > np.median(features, axis=0), 1.0, -1.0) / math.sqrt(data.d)
    scaling = "signs about the median, divided by sqrt(d)"
    return Dataset(signs, np.asarray(data.as_namespace(np).labels), f"binarized {data.name}", scaling)


@dataclass(frozen=True)
class Fingerprinting(Weakenable):
    """mn25, Appendix C.1.1: the hard distribution of mean estimation, an estimator, and who was in its data set.

    Every run draws its own members. On the hard distribution theta is uniform on [-1, 1]^d and the d coordinates of
    a record are independent, 1 with probability (1 + theta_j) / 2 and else -1, all divided by sqrt(d). With
    `dimension` None the records of the data set at hand are the population, and members are drawn from it with
    replacement.

    The estimator under attack is the mean of the `accessed` first members plus N(0, sigma^2 I), brought into the
    unit ball (members are exchangeable, so which ones it looks at does not matter). sigma is the smallest that makes
    it (epsilon, delta)-DP, or 0 if no epsilon is given.

    The output of a run is three numbers: the sum of Z_i over the members, Z_1 of the first member, and the same
    statistic of somebody else from the population, who is not in the data set.

    Guarantee: none; an attack publishes what it should not know. What is claimed of the estimator under attack, under
    replace-one adjacency of the members, is in `estimator_guarantees`.

    Assumptions: the attacker knows theta, the mean of the population.

    Attributes:
        members: n, the size of the estimator's data set.
        dimension: d of the hard distribution; None: the data set at hand is the population.
        epsilon: of the estimator, in nats; None for the mean itself.
        delta: of the estimator, in (0, 1).
        noise_stddev: sigma of each coordinate, a length; None: set by epsilon and delta.
        accessed: s, how many members the estimator looks at; all if None.
        withdraw_guarantee: attack an estimator with less noise than its epsilon and delta need; it has no guarantee
            then, and `withdrawn` says why.
    """

    members: Count
    dimension: Count | None = None
    epsilon: Epsilon | None = None
    delta: Proper = 1e-5
    noise_stddev: NotNegative | None = None
    accessed: int | None = None
    withdraw_guarantee: bool = False

    id = "mn25.fingerprint"
    statements = ("mn25.lem15", "mn25.lem14")
    unstated = reasons("mn25.fingerprint")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(4, 3, epsilon=1.0), "asked": lambda: cls(at.n, at.d, epsilon=at.epsilon)}

    def __post_init__(self) -> None:
        """Refuse noise that is too small for epsilon and delta, unless the guarantee was withdrawn."""
        super().__post_init__()
        if self.accessed is not None:
            whole_number("accessed", self.accessed, at_most=self.members)
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

    @property
    def accessed_count(self) -> int:
        """How many members the estimator looks at."""
        return self.members if self.accessed is None else self.accessed

    @cached_property
    def smallest_noise(self) -> float:
        """The smallest sigma that makes the estimator (epsilon, delta)-DP, by the exact Gaussian profile; a length."""
        if self.epsilon is None:
            return 0.0
        return SENSITIVITY / self.accessed_count * smallest_noise_multiplier(self.epsilon, self.delta)

    @property
    def sigma(self) -> float:
        """Standard deviation of each coordinate of the noise, a length."""
        return self.smallest_noise if self.noise_stddev is None else self.noise_stddev

    def _voids(self, n: int) -> tuple[str, ...]:
        least = self.smallest_noise
        if self.epsilon is None or self.sigma >= least * (1 - 1e-12):
            return ()
        return (f"the noise {self.sigma:g} is below {least:g}, which (epsilon, delta) needs",)

    def estimator_guarantees(self) -> tuple[StatedGuarantee, ...]:
        """What the estimator under attack guarantees its members; nothing if it has no noise or was withdrawn."""
        if self.withdrawn(1) or self.sigma == 0:
            return ()
        mu = GDP(SENSITIVITY / self.accessed_count / self.sigma)
        claims = (mu,) if self.epsilon is None else (ApproxDP(self.epsilon, self.delta), mu)
        conditions = (Condition(ConditionKind.OTHER_DATA, "that of the members"),)
        return tuple(replace_one(claim, conditions=conditions) for claim in claims)

    def mean_of(self, data: Dataset) -> NDArray[np.float64]:
        """The population's mean theta, shape (d,), where the data set is the population."""
        return np.asarray(np.mean(_signs(data), axis=0))

    def accurate_sum(self, data: Dataset) -> float:
        """Expected sum of the statistics for the mean of the accessed members without noise, exactly.

        s E ||X-bar_s - theta||^2 = E ||X - theta||^2 = 1 - E ||theta||^2, whatever s: 2/3 on the hard distribution.
        """
        if self.dimension is not None:
            return 2.0 / 3.0
        return 1.0 - float(np.sum(self.mean_of(data) ** 2))

    def largest_variance(self, data: Dataset) -> float:
        """Bound on the variance of <a, X> over unit vectors a, given theta: the covariance's largest eigenvalue."""
        if self.dimension is not None:
            return 1.0 / self.dimension
        return float(np.linalg.eigvalsh(np.cov(_signs(data).T, bias=True))[-1])

    def private_sum(self, data: Dataset, epsilon: float, delta: float) -> float:
        """Upper bound on the expected sum of the statistics for every (epsilon, delta)-DP estimator in the unit ball.

        With somebody else's record in place of X_i, the statistic has mean 0 and a variance of at most v, the
        covariance's largest eigenvalue, and is at most 2 in size. So E Z_i <= sinh(epsilon) sqrt(v) + 4 delta, by
        the definition of privacy applied to the positive and to the negative part. Members that the estimator does
        not look at add nothing.

        On the hard distribution the bound of Lemma 14, corrected, is used where it is smaller: s 2 sqrt(ln(1/delta) /
        d) + 4 n delta for epsilon <= ln(1/delta). (As printed its threshold sqrt(3 d ln(1/delta)) with the tail
        exp(epsilon - tau^2 / (8 d)) does not give the next line, 2 delta, for any epsilon >= 0; with the tail
        exp(epsilon - tau^2 / (2 d)) of Hoeffding's inequality, tau = 2 sqrt(d ln(1/delta)) does.)
        """
        budget("epsilon", epsilon)
        number("delta", delta, above=0, below=1, allowed="a number in (0, 1)")
        spread = math.sqrt(self.largest_variance(data))
        each = math.sinh(min(epsilon, 700.0)) * spread + 2 * LARGEST_STATISTIC * delta
        bounds = [self.accessed_count * each]
        if self.dimension is not None and epsilon <= math.log(1 / delta):
            threshold = 2 * math.sqrt(math.log(1 / delta) / self.dimension)
            bounds.append(self.accessed_count * threshold + 2 * LARGEST_STATISTIC * self.members * delta)
        return min(bounds)

    def _population(self, data: Dataset, rng: Randomness, runs: int) -> tuple[Callable[[str], Array], Array]:
        """A function that draws a record for each run, (runs, d), and the mean, one for each run or one for all."""
        xp = rng.xp
        if self.dimension is None:
            n, signs = a_dataset(data).n, _signs(data)
            features = xp.asarray(signs.copy())

            def draw(name: str) -> Array:
                return xp.take(features, rng.integers(0, n, (runs,), name), axis=0)

            return draw, xp.asarray(np.mean(signs, axis=0)[None, :].copy())
        shape, scale = (runs, self.dimension), 1.0 / math.sqrt(self.dimension)
        theta = 2.0 * rng.uniform(shape, "theta") - 1.0

        def draw_signs(name: str) -> Array:
            # 1 with probability (1 + theta) / 2
            positive = 2.0 * rng.uniform(shape, name) - 1.0 < theta
            return scale * (2.0 * xp.astype(positive, xp.float64) - 1.0)

        return draw_signs, scale * theta

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Attack `runs` data sets; points have shape (runs, 3), dimensionless.

        On the hard distribution the data set at hand is not used.

        Raises:
            InvalidDataError: if it is the population and its features are not all +-1/sqrt(d).
        """
        xp = rng.xp
        draw, mean = self._population(data, rng, runs)
        first = draw("members")
        # sums are enough for everything but the first member's statistic: memory does not grow with n
        seen, unseen = 1.0 * first, xp.zeros_like(first)
        for i in range(1, self.members):
            if i < self.accessed_count:
                seen += draw("members")
            else:
                unseen += draw("members")
        other = draw("somebody else")
        answer = seen / float(self.accessed_count)
        if self.sigma > 0:
            answer += self.sigma * rng.normal(answer.shape, "noise")
        answer /= xp.maximum(xp.sqrt(row_sums(answer * answer)), xp.ones_like(answer[:, 0]))[:, None]
        total = row_sums(answer * (seen + unseen - self.members * mean))
        one, none = row_sums(answer * (first - mean)), row_sums(answer * (other - mean))
        return Output(xp.stack([total, one, none], axis=1))


def _signs(data: Dataset) -> NDArray[np.float64]:
    features = np.asarray(data.as_namespace(np).features)
    if not np.allclose(np.abs(features), 1 / math.sqrt(data.d), rtol=1e-9, atol=0.0):
        raise InvalidDataError(
            f"The features of {data.name} are not all +-1/sqrt({data.d}); `binarized` makes them so."
        )
    return features


def tracing_advantage(statistics: Array, threshold: float, epsilon: float) -> Array:
    """1{Z_1 > threshold} - e^epsilon 1{Z' > threshold}: under (epsilon, delta)-DP its expectation is at most delta.

    Statistics are points of `Fingerprinting`, (runs, 3); the result is in [-e^epsilon, 1], shape (runs,).
    """
    if statistics.ndim != 2 or statistics.shape[1] != 3:
        raise InvalidArgumentError("statistics", tuple(statistics.shape), "points of shape (runs, 3)")
    member = 1.0 * (statistics[:, 1] > threshold)
    other = 1.0 * (statistics[:, 2] > threshold)
    return member - math.exp(epsilon) * other
