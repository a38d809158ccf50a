"""One inner step of the alternating sampler by unbiased rejection sampling (Gopi, Lee, Liu, 2022, Algorithm 2).

The step samples exp(-k F(x) - psi(x) - ||x - y||^2 / (2 eta)) on K. Two points x and z come from the law without
F, a restricted Gaussian. A product of differences of single records' losses, with a random number of factors, has
expectation exp(k F(z) - k F(x)); half of it is the probability to accept x. What is cut off above 1 and below 0 is
the only error, and with a short step it is tiny.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
import scipy

from dpverify.algorithms.conditions import admitted, refuse_or_withdraw
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.gll22.regularized_density import Expansion, RegularizedDensity
from dpverify.algorithms.parameters import Positive, Proper
from dpverify.algorithms.promises import (
    StatedQueries,
    StatedRisk,
    StatedSamplingError,
    reasons,
    words,
)
from dpverify.algorithms.samplers.restricted_gaussian import RestrictedGaussian
from dpverify.algorithms.samplers.tilted_gaussians import SkewGaussian
from dpverify.algorithms.steps.projected_steps import records
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import number, positive, require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Dataset, Loss, Problem
from dpverify.problems.arrays import dot, namespace
from dpverify.problems.losses import GeneralizedLinear
from dpverify.problems.problem import without_ridge
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

QUERIES_A_ROUND = 2 * math.e
"""Expected value queries of one acceptance test: sum over a of 2 a P[loop reaches a] = sum of 2 a / a!."""

_DIRECTED = 4
"""Which attempts use the restricted Gaussian's directed proposals: they cost more, so not every one."""

_MOST_FACTORS = 60  # 1 / 61! is 2e-84

_LARGEST_SPREAD = 2.0


@cache
def truncation_error(spread: float) -> float:
    """Bound on the total variation between the law of Algorithm 2's output and the right one.

    With X = E(rho | x), cut off to X' in [0, 2], the distance is at most E|X - X'| / E X, E X >= 1 (Cauchy and
    Schwarz), and E|X - X'| <= E(|rho - 1| - 1)^+. The differences in rho - 1 are k (f_j(z) - f_j(x)); by
    isoperimetry (gll22, Corollary 3.12; z and x are exchangeable, so the median is 0) each is stochastically at
    most as large as |N(0, spread^2)|. The expectation increases in each of them and is supermodular, so it is
    largest when all are one and the same variable: with P[number of factors = m] = m / (m + 1)!, the bound is
    sum over m of m / (m + 1)! E(s + s^2 + ... + s^m - 1)^+, s = |N(0, spread^2)|. This replaces the hidden constant C
    of gll22, Lemma 5.5; it depends on no dimension. It is a bound even where it is above 1.

    The spread is k L sqrt(2 v) for losses with Lipschitz constant L and a restricted Gaussian of variance v, a
    dimensionless number in [0, 2].
    """
    number("spread", spread, at_least=0, at_most=_LARGEST_SPREAD, allowed="a number in [0, 2]")
    if spread == 0:
        return 0.0
    powers = np.arange(1, _MOST_FACTORS + 1)
    # E s^a = spread^a 2^(a/2) Gamma((a + 1) / 2) / sqrt(pi)
    log_moments = powers * math.log(spread * math.sqrt(2)) + scipy.special.gammaln((powers + 1) / 2)
    moments = np.exp(log_moments - 0.5 * math.log(math.pi))
    total = 0.0
    for m in range(1, _MOST_FACTORS + 1):
        least = _root(m) / spread
        terms = moments[:m] * scipy.special.gammaincc((powers[:m] + 1) / 2, least * least / 2)
        excess = float(np.sum(terms)) - float(scipy.special.gammaincc(0.5, least * least / 2))
        total += m / math.factorial(m + 1) * max(0.0, excess)
    # more factors: E sum of s^a / a! beyond, below twice its first term for these spreads; then rounding
    beyond = 2 * moments[-1] * spread / math.factorial(_MOST_FACTORS)
    return float(total * (1 + 1e-6) + beyond)


@cache
def _root(m: int) -> float:
    """The s at which s + s^2 + ... + s^m = 1, rounded down."""
    low, high = 0.5, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(middle**a for a in range(1, m + 1)) > 1 else (middle, high)
        low, high = min(low, high), max(low, high)
    return low * (1 - 1e-15)


@cache
def largest_spread(error: float) -> float:
    """The largest spread at which `truncation_error` is at most a given number above 0."""
    positive("error", error)
    low, high = 1e-3, _LARGEST_SPREAD
    if truncation_error(high) <= error:
        return high
    while truncation_error(low) > error:
        low /= 2
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if truncation_error(middle) <= error else (low, middle)
    return low


def product_estimate(
    loss: Loss,
    scale: float,
    features: Array,
    labels: Array,
    x: Array,
    z: Array,
    rng: Randomness,
    expansion: Expansion | None = None,
) -> tuple[Array, Array]:
    """The estimate rho of Algorithm 2: its expectation given x and z is exp(scale * (F(z) - F(x))), F the mean loss.

    With an expansion, F is the mean of what it leaves of the losses, which are then generalized linear ones. Features
    are (n, d), labels (n,), points x and z (m, d); the scale is one over loss.

    Returns rho, (m,), and how many values were asked for, (m,) integers: a (a + 1) for a passes of the loop.
    """
    xp = rng.xp
    m, n = int(x.shape[0]), int(features.shape[0])
    rho = xp.ones(m, dtype=xp.float64)
    queries = xp.zeros(m, dtype=xp.int64)
    going = xp.ones(m, dtype=xp.bool)
    passes = 0
    while True:
        passes += 1
        count = int(xp.sum(xp.astype(going, xp.int64)))
        if not count:
            return rho, queries
        drawn = rng.integers(0, n, (count * passes,), "records of a product")
        record, label = xp.take(features, drawn, axis=0), xp.take(labels, drawn, axis=0)
        there, here = xp.repeat(z[going], passes, axis=0), xp.repeat(x[going], passes, axis=0)
        difference = loss.value(there, record, label) - loss.value(here, record, label)
        if expansion is not None:
            assert isinstance(loss, GeneralizedLinear)
            end, start = dot(there, record), dot(here, record)
            slope = loss.link_slope(xp.zeros_like(end), label)
            slope = slope + 0.5 * expansion.curvatures(label) * (end + start)
            difference = difference - slope * (end - start)
        difference = scale * difference
        rho[going] = rho[going] + xp.prod(xp.reshape(difference, (count, passes)), axis=1)
        queries[going] = queries[going] + 2 * passes
        # the loop breaks with probability passes / (passes + 1)
        stays = rng.uniform((count,), "another product") * (passes + 1) < 1.0
        # not every library writes to a mask through itself
        going[xp.asarray(going, copy=True)] = stays


class InnerKernel:
    """Algorithm 2 on one data set, for a batch of runs with a point y each, one attempt at a time.

    An attempt that is rejected is followed by another; runs that are at different steps need not wait for one
    another.
    """

    def __init__(self, density: RegularizedDensity, step_size: float, data: Dataset, xp: Any) -> None:
        self.density = density
        self.step_size = step_size
        self.features, self.labels = records(data, density.problem, xp)

    @property
    def gradient_queries(self) -> int:
        """Of a run: each record's at 0 where losses are expanded."""
        return 0 if self.density.expansion is None else int(self.features.shape[0])

    @cached_property
    def _gaussian(self) -> RestrictedGaussian | SkewGaussian:
        """The law of exp(-psi(x) - ||x - y||^2 / (2 eta)) on K, without its mean."""
        density, expansion = self.density, self.density.expansion
        precision = inner_precision(density, self.step_size)
        if expansion is None or expansion.curvature == 0:
            return RestrictedGaussian(density.problem.constraint, 1 / math.sqrt(precision))
        features = np.asarray(self.features)
        weights = np.asarray(expansion.curvatures(self.labels))[:, None]
        bends = features.T @ (weights * features) / features.shape[0]
        matrix = precision * np.eye(features.shape[1]) + density.inverse_temperature * bends
        return SkewGaussian(density.problem.constraint, matrix)

    def _means(self, y: Array, xp: Any) -> Array:
        """Means of the Gaussians about the points y, before they are restricted; (m, d)."""
        density = self.density
        pull = density.inverse_temperature * density.regularization
        # the precision times the mean
        lever = y / self.step_size + pull * xp.asarray(density.anchor_point, dtype=xp.float64)
        if density.expansion is not None:
            lever = lever - density.inverse_temperature * self._slope_at_0
        gaussian = self._gaussian
        if isinstance(gaussian, SkewGaussian):
            return gaussian.solve(lever)
        return lever / inner_precision(density, self.step_size)

    @cached_property
    def _slope_at_0(self) -> Array:
        """The mean gradient of the losses at 0, their ridge aside; (d,)."""
        loss, _ = without_ridge(self.density.problem.loss)
        assert isinstance(loss, GeneralizedLinear)
        xp = namespace(self.features)
        slopes = loss.link_slope(xp.zeros_like(self.labels), self.labels)
        return slopes @ self.features / self.features.shape[0]

    def attempt(self, y: Array, turn: int, rng: Randomness) -> tuple[Array, Array, Array]:
        """Try once for every run: points (m, d), which of them are accepted (m,), and value queries (m,).

        Current points y are (m, d). In every fourth `turn`, counted from 0, runs whose plain Gaussian proposals missed
        the set get exact ones instead of failing.
        """
        xp = rng.xp
        density = self.density
        runs = int(y.shape[0])
        gaussian, mean = self._gaussian, self._means(y, xp)
        both, inside = gaussian.propose(xp.concat([mean, mean]), rng)
        if turn % _DIRECTED == _DIRECTED - 1 and not bool(xp.all(inside)):
            both[~inside] = gaussian.sample(xp.concat([mean, mean])[~inside], rng)
            inside = inside | ~inside
        x, z = both[:runs, :], both[runs:, :]
        accepted = inside[:runs] & inside[runs:]
        queries = xp.zeros(runs, dtype=xp.int64)
        loss, _ = without_ridge(density.problem.loss)
        scale, rows = density.inverse_temperature, (self.features, self.labels)
        rho, asked = product_estimate(loss, scale, *rows, x[accepted], z[accepted], rng, density.expansion)
        queries[accepted] = asked
        accepted[xp.asarray(accepted, copy=True)] = rng.uniform(tuple(rho.shape), "accepted") <= 0.5 * rho
        return x, accepted, queries

    def sample(self, y: Array, steps: int, rng: Randomness) -> Output:
        """That many accepted steps of every run from its point y, (runs, d), with forward noise between them.

        Runs do not wait for one another: in a round every run makes one attempt at its current step.
        """
        xp, runs, noise = rng.xp, int(y.shape[0]), math.sqrt(self.step_size)
        results, total = xp.zeros_like(y), xp.zeros(runs, dtype=xp.int64)
        unfinished = xp.ones(runs, dtype=xp.bool)
        # of the unfinished runs: which step they are at, what they asked
        step, asked = xp.zeros(runs, dtype=xp.int64), xp.zeros(runs, dtype=xp.int64)
        turn = 0
        while bool(xp.any(unfinished)):
            x, accepted, queries = self.attempt(y, turn, rng)
            turn += 1
            asked = asked + queries
            step = step + xp.astype(accepted, xp.int64)
            ended = step == steps
            if bool(xp.any(ended)):
                places = unfinished & False
                places[unfinished] = ended
                results[places] = x[ended]
                total[places] = asked[ended]
                unfinished, going = unfinished & ~places, ~ended
                x, y, accepted, step, asked = (one[going] for one in (x, y, accepted, step, asked))
            if bool(xp.any(accepted)):
                moved = x[accepted]
                y[accepted] = moved + noise * rng.normal(tuple(moved.shape), "forward noise")
        return Output(results, value_queries=total, gradient_queries=self.gradient_queries)


def inner_precision(density: RegularizedDensity, step_size: float) -> float:
    """One over the variance of the restricted Gaussian of a step: 1 / eta plus the curvature of psi."""
    return 1 / step_size + density.quadratic_weight


def inner_spread(density: RegularizedDensity, step_size: float) -> float:
    """The number k L sqrt(2 v): what `truncation_error` takes; dimensionless."""
    return density.lipschitz_constant * math.sqrt(2 / inner_precision(density, step_size))


def step_size_for(density: RegularizedDensity, spread: float) -> float:
    """The step size eta (length^2) that gives a spread; infinite where psi alone is steep enough."""
    rest = 2 * (density.lipschitz_constant / spread) ** 2 - density.quadratic_weight
    return 1 / rest if rest > 0 else math.inf


def inner_queries(error: float) -> float:
    """Bound on the expected value queries of one accepted step, given the truncation error.

    A round is accepted with probability at least (1 - error) / 2, and asks for 2 e values on average.
    """
    return 2 * QUERIES_A_ROUND / (1 - error) if error < 1 else math.inf


class DensitySampler(Weakenable):
    """A sampler of gll22 (8) by values of single records' losses; see its subclasses for the attributes."""

    problem: Problem
    inverse_temperature: float
    regularization: float
    anchor: Sequence[float] | None
    accuracy: float
    withdraw_guarantee: bool
    expanded: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "anchor", self.density.anchor)
        RestrictedGaussian(self.problem.constraint, 1.0)
        density = self.density
        if not (math.isfinite(density.lipschitz_constant) and math.isfinite(density.mode_distance)):
            allowed = "a loss with a finite Lipschitz constant on the set, its ridge aside"
            raise InvalidArgumentError("problem", self.problem, allowed)

    @property
    def density(self) -> RegularizedDensity:
        """The target; an inner step adds its own quadratic term."""
        return RegularizedDensity(
            self.problem, self.inverse_temperature, self.regularization, self.anchor, self.expanded
        )

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the sampling error is not proved; empty if it is, whether it was withdrawn or not."""
        return self._voids(whole_number("n", n))

    @property
    @abstractmethod
    def total_variation(self) -> float:
        """Bound on the distance from the right law."""

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """The paper's bound with explicit constants; None if the accuracy is not proved."""
        if self.withdrawn(n):
            return None
        row = words(f"{self.id}/sampling error", accuracy=self.accuracy)
        return StatedSamplingError("total variation", self.total_variation, **row)

    @property
    def _target(self) -> RegularizedDensity | None:
        """What the output is nearly a sample of; None if its regularizer is centered outside of K."""
        return self.density

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Expected excess empirical risk; None on unbounded sets, or where the accuracy is not proved.

        The density's own, and total variation tau costs tau L ||K||; never more than L ||K||.
        """
        target = None if self.withdrawn(n) else self._target
        if target is None:
            return None
        most = self._most
        found = min(target.excess_risk + self.total_variation * most, most)
        return StatedRisk(found, total=False, **words(f"{self.id}/risk")) if math.isfinite(found) else None

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The density's own at what total variation leaves of beta, on bounded sets; None if it leaves nothing."""
        target = None if self.withdrawn(n) else self._target
        return None if target is None else target.risk_quantile(probability, self.total_variation)

    @property
    def _most(self) -> float:
        """L ||K||, that no excess is above."""
        return self.problem.constants.lipschitz_constant * self.problem.constraint.diameter

    def _values(self, bound: float, n: int, **numbers: int) -> tuple[StatedQueries, ...]:
        """A bound on the expected value queries, and the gradients of an expansion."""
        row = words(f"{self.id}/queries", **numbers)
        values = StatedQueries("value", bound, exact=False, expected=True, **row)
        return (values,) if self.density.expansion is None else (values, StatedQueries("gradient", n))

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent for n records times the factor."""
        exponent = factor * self.inverse_temperature
        return dataclasses.replace(self, inverse_temperature=exponent, withdraw_guarantee=True)  # type: ignore[type-var]


@dataclass(frozen=True)
class RejectionInnerStep(DensitySampler):
    """gll22, Algorithm 2: one sample of exp(-k (F(x) + (mu / 2) ||x - c||^2) - ||x - y||^2 / (2 eta)) on K.

    No guarantee of privacy: it is a step of a sampler. Its law is right up to `sampling_error`, by the explicit form
    of Lemma 5.5 in `truncation_error`; the paper's constants would need a step some dozens of times shorter.
    Each product takes fresh random records, as in the proof.

    Assumptions: losses that are Lipschitz on K (a ridge aside, which goes into the Gaussian), records in the unit
    ball.

    Attributes:
        problem: losses on a ball, box, simplex or all space.
        inverse_temperature: k, one over loss.
        regularization: mu, loss over length^2.
        step_size: eta, length^2.
        point: y, d numbers; the anchor if None. It need not be in K.
        anchor: c in K; the set's center if None.
        accuracy: total variation that must not be exceeded, in (0, 1).
        withdraw_guarantee: run even if the step is too long for that.
        expanded: sample a linear and quadratic part of the losses with the Gaussian (see `regularized_density`).
    """

    problem: Problem
    inverse_temperature: float
    regularization: float
    step_size: Positive
    point: Sequence[float] | None = None
    anchor: Sequence[float] | None = None
    accuracy: Proper = 1e-3
    withdraw_guarantee: bool = False
    expanded: bool = False

    id = "gll22.alg2"
    statements = ("gll22.lem5.3", "gll22.lem5.5", "gll22.cor3.12")
    unstated = reasons("gll22.alg2")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.curved, 2.0, 1.0, 1e-4),
            "asked": lambda: cls(at.curved, at.epsilon, 1.0, 1e-4 / at.epsilon**2, accuracy=at.delta),
        }

    def __post_init__(self) -> None:
        """Refuse a step that is too long for the accuracy."""
        super().__post_init__()
        point = np.asarray(self.density.anchor_point if self.point is None else self.point)
        dimension = self.problem.constraint.dimension
        numeric = point.shape == (dimension,) and point.dtype.kind in "iuf"
        require(numeric and np.all(np.isfinite(point)), "point", self.point, f"{dimension} finite numbers")
        object.__setattr__(self, "point", tuple(point.astype(np.float64).tolist()))
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

    @property
    def _target(self) -> RegularizedDensity | None:
        """The density with its point's part of the quadratic term.

        The center is often a little outside of K by rounding. To project it onto K adds something linear to F, and what
        is left out here is a slope of a billionth of L.
        """
        pull = 1 / (self.step_size * self.inverse_temperature)
        total = self.regularization + pull
        middle = self.regularization * np.asarray(self.density.anchor_point) + pull * np.asarray(self.point)
        middle /= total
        inside = np.asarray(self.problem.constraint.project(middle[None, :].copy()))[0]
        if total * np.linalg.norm(inside - middle) > 1e-9 * self.problem.constants.lipschitz_constant:
            return None
        return RegularizedDensity(self.problem, self.inverse_temperature, total, tuple(inside.tolist()))

    @property
    def spread(self) -> float:
        """Bound on the standard deviation of k (f_j(z) - f_j(x)), dimensionless."""
        return inner_spread(self.density, self.step_size)

    @property
    def total_variation(self) -> float:
        """Lemma 5.5 with its constant made explicit: bound on the distance from the right law."""
        return truncation_error(self.spread) if self.spread <= _LARGEST_SPREAD else 1.0

    def _voids(self, n: int) -> tuple[str, ...]:
        if self.total_variation <= self.accuracy:
            return ()
        longest = step_size_for(self.density, largest_spread(self.accuracy))
        return (f"the step size {self.step_size:g} is above {longest:g}, the longest for this accuracy",)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Lemma 5.5's O(1) value queries, with the constant that its proof gives: 4 e / (1 - error)."""
        whole_number("n", n)
        return self._values(inner_queries(self.total_variation), n)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Take the step from `point` on a data set of n records; points have shape (runs, d)."""
        data = admitted(self, data)
        xp = rng.xp
        y = xp.repeat(xp.asarray(self.point, dtype=xp.float64)[None, :], runs, axis=0)
        return InnerKernel(self.density, self.step_size, data, xp).sample(y, 1, rng)
