"""The regularized exponential mechanism (Gopi, Lee, Liu, 2022) with its tunings for ERM and SCO.

Risks are means over the records here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpverify.algorithms.conditions import admitted, never_refused, reach
from dpverify.algorithms.contract import Guarantees, promised, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.regularized_density import (
    RegularizedDensity,
    checked_anchor,
    quadratic_curvature,
)
from dpverify.algorithms.parameters import NotNegative, Positive, Proper, TinyEpsilon
from dpverify.algorithms.promises import (
    StatedQueries,
    StatedRisk,
    StatedSamplingError,
    reasons,
    words,
)
from dpverify.algorithms.samplers.certified_rejection import FEW_ACCEPTED
from dpverify.algorithms.samplers.free_coordinates import (
    RiskPotential,
    affine_dimension,
    sample_on_set,
    sampling_queries,
)
from dpverify.algorithms.samplers.restricted_gaussian import RestrictedGaussian
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, ApproxDP, Guarantee, ProfileDP, gaussian_hockey_stick
from dpverify.problems import AllSpace, Ball, Box, Dataset, Problem, Simplex
from dpverify.problems.losses import check_not_flat
from dpverify.running import Output, Randomness

Sampler = Literal["gaussian", "rejection", "alternating"]

_SAMPLING_SHARE = 1 / 3
"""Part of delta that pays for the sampling error, where there is any; the paper's choice."""

_LARGEST_EPSILON = 100.0
"""Sampling costs (1 + e^eps) times the total variation; beyond, that would have to be below rounding."""

_SMALLEST_PAYMENT = 1e-250
"""Total variation; beyond, the number of steps that it takes is no longer computed."""

_TARGET_ACCEPTANCE = {1: 0.95, 2: 0.85}
"""Of the rejection sampler, by the number of free coordinates; what saves the most time at 10,000 runs. With three,
a risk that is steep at a ball's border would need more cells than there may be."""


def printed_shift(epsilon: float, delta: float) -> float:
    """Lemma 6.3: a shift s with delta(N(0, 1) || N(s, 1))(epsilon) <= delta, for delta < 1/2; not the largest."""
    level = math.log(1 / (2 * delta))
    return math.sqrt(2 * level + 2 * epsilon) - math.sqrt(2 * level)


@cache
def largest_shift(epsilon: float, delta: float) -> float:
    """The largest s with delta(N(0, 1) || N(s, 1))(epsilon) <= delta, from the exact profile; rounded down."""
    low, high = 0.0, 1.0
    while gaussian_hockey_stick(epsilon, high) <= delta:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_hockey_stick(epsilon, middle) <= delta else (low, middle)
    return low


@dataclass(frozen=True)
class SampledGaussianProfile:
    """Profile of a mechanism whose law is within total variation tau of one with GDP mu.

    P~(S) <= P(S) + tau <= e^eps Q(S) + delta(eps) + tau <= e^eps Q~(S) + delta(eps) + (1 + e^eps) tau. The bound is
    convex in e^eps; past its minimum, the smaller epsilon's delta is the better one.
    """

    mu: float
    total_variation: float

    def __call__(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        points = np.asarray(epsilon, dtype=np.float64)
        # slope 0 in e^eps: Phi(-eps / mu - mu / 2) = tau
        best = self.mu * (-float(scipy.special.ndtri(self.total_variation)) - self.mu / 2)
        used = np.minimum(points, max(0.0, best))
        exact = np.asarray(gaussian_hockey_stick(used, self.mu))
        return np.minimum(1.0, exact + (1 + np.exp(used)) * self.total_variation)


class TunedMechanism(NamedTuple):
    """What Theorems 6.4 and 6.9 set: k (one over loss), mu (loss over length^2), tau (total variation allowed)."""

    inverse_temperature: float
    regularization: float
    total_variation: float


@dataclass(frozen=True)
class RegularizedExponentialMechanism(Weakenable):
    """gll22 (8): one sample of exp(-k (F(x; D) + (mu / 2) ||x - c||^2)) on K, F the mean loss.

    Guarantee (replace-one, both directions): Theorem 6.2, the profile of a Gaussian with mu_GDP = G sqrt(k) /
    (n sqrt(mu + m)), G bounding the slope of the difference of two records' losses (`gradient_sensitivity`), m
    their strong convexity. Where the sample is only within total variation tau of that law, (1 + e^eps) tau is added.

    Where this departs from the paper:

    - The proof of Theorem 6.4 pays for sampling with tau = delta/3 beside (eps, 2 delta/3). Total variation tau costs
      (1 + e^eps) tau, more than that for every eps > 0, so tau is delta / (3 (1 + e^eps)) here. Where the sample is
      exact, delta goes to the Gaussian whole.
    - The excess risk mu D^2 / 2 of Theorem 6.2 needs the regularizer's center in K (K = [a, a + 1] and a decreasing
      loss refute it for large a), so the regularizer is about c in K, the set's center unless told otherwise. D is
      the largest distance of a point of K from c; the diameter with the printed tuning.
    - Theorem 6.8 prints G / (n mu) for G^2 / (n mu), which Theorem 6.7 proves.
    - The alternating sampler estimates only what is left of the losses without their linear and quadratic part at 0,
      which goes into psi (see `regularized_density`). Algorithm 2 and Lemma 5.5 hold for every convex psi and whatever
      Lipschitz functions are left, so the law is that of (8) up to the same total variation tau, and privacy rests
      on Theorem 6.2 and tau as before. Neither tau nor the number of steps depends on the data: the Lipschitz
      constant is one for all records in the unit ball. For logistic losses on the unit ball it falls from 1 to
      0.0047, and with it the number of steps, which grows as its square: value queries are at least 100,000 times
      fewer.

    With `calibration` "exact", k is the largest for which the Gaussian profile keeps (eps, delta), for every eps; with
    "printed" it is that of Lemma 6.3 for ERM (delta < 1/10), and k = mu eps^2 n^2 / (2 G^2 ln(3/(4 delta))), for
    eps, delta < 1/10, for SCO. Both of the latter take 2 delta/3 of delta.

    Assumptions: convex losses whose differences are G-Lipschitz on K, for records in the unit ball; for the alternating
    sampler each is Lipschitz; K bounded, or the losses strongly convex, or k and mu given.

    Attributes:
        problem: losses on a constraint set.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        tuning: `erm` (Theorem 6.4) or `sco` (Theorem 6.9, which caps k at 2 n d mu / G^2: more would not lower the
            bound's rate and would cost queries).
        calibration: of k; see above.
        inverse_temperature: k, one over loss; None: by the tuning.
        regularization: mu, loss over length^2; None: by the tuning.
        anchor: c in K, d numbers, not a function of the data; the set's center if None.
        sampler: `gaussian` where the density is a restricted Gaussian (linear losses and half squared distances, any
            dimension); `rejection`, exact, for other losses on a ball, box or simplex with at most two free
            coordinates (see `certified_rejection`; it refuses to run where too few proposals would be accepted);
            `alternating` elsewhere; `auto`: the first of these that can be used.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.
    """

    problem: Problem
    epsilon: TinyEpsilon
    delta: Proper
    tuning: Literal["erm", "sco"] = "erm"
    calibration: Literal["exact", "printed"] = "exact"
    inverse_temperature: Positive | None = None
    regularization: NotNegative | None = None
    anchor: Sequence[float] | None = None
    sampler: Literal["auto", "gaussian", "rejection", "alternating"] = "auto"
    withdraw_guarantee: bool = False

    id = "gll22.rem"
    statements = (
        "gll22.thm1.2",
        "gll22.thm1.3",
        "gll22.thm2.1",
        "gll22.thm6.2",
        "gll22.lem6.1",
        "gll22.lem6.3",
        "gll22.eq9",
        "gll22.thm6.4",
        "gll22.thm6.7",
        "gll22.thm6.8",
        "gll22.thm6.9",
        "gll22.rem6.10",
        "gll22.cor4.3",
    )
    unstated = reasons("gll22.rem")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 1.0, 1e-3),
            "rejection": lambda: cls(at.curved, 1.0, 1e-3, sampler="rejection"),
            "alternating": lambda: cls(at.curved, 0.5, 0.1, sampler="alternating"),
            "population": lambda: cls(at.mean, 1.0, 1e-3, tuning="sco"),
            "asked": lambda: cls(at.curved, at.epsilon, at.delta, sampler="alternating"),
        }

    def __post_init__(self) -> None:
        """Refuse a sampler that cannot be used here."""
        super().__post_init__()
        object.__setattr__(self, "anchor", checked_anchor(self.anchor, self.problem.constraint))
        for met, name, allowed in self._requirements():
            if not met:
                raise InvalidArgumentError(name, getattr(self, name), allowed)
        check_not_flat("problem", self.problem, self.problem.loss)

    def _requirements(self) -> Iterator[tuple[bool, str, str]]:
        """Whether parameters fit together, which one does not, and what is allowed."""
        printed, reach = self.calibration == "printed", self.reach
        yield not printed or self.delta < 0.1, "delta", "below 1/10, for the printed tuning"
        yield (
            not (printed and self.tuning == "sco") or self.epsilon < 0.1,
            "epsilon",
            "below 1/10, for Theorem 6.9 as printed",
        )
        yield reach > 0, "problem", "a set of more than one point"
        finite = math.isfinite(self.problem.constants.gradient_sensitivity)
        yield finite, "problem", "a loss with a finite Lipschitz constant on the set"
        chosen = math.isfinite(reach) or self.regularization is not None or self._strong_convexity > 0
        yield chosen, "problem", "a bounded set or a strongly convex loss, to choose the regularization"
        gaussian = self.sampler != "gaussian" or self._is_gaussian
        yield gaussian, "sampler", "another one: the density is not Gaussian"
        low = self.sampling != "alternating" or self.epsilon < _LARGEST_EPSILON
        yield low, "epsilon", f"below {_LARGEST_EPSILON:g}, for the alternating sampler"
        few = self.sampler != "rejection" or self._few_coordinates
        allowed = "another one: the set is not a ball, box or simplex with at most two free coordinates"
        yield few, "sampler", allowed

    @property
    def _strong_convexity(self) -> float:
        return self.problem.constants.strong_convexity

    @property
    def _is_gaussian(self) -> bool:
        known = type(self.problem.constraint) in (Ball, Box, Simplex, AllSpace)
        return known and quadratic_curvature(self.problem) is not None

    @property
    def _few_coordinates(self) -> bool:
        constraint = self.problem.constraint
        return type(constraint) in (Ball, Box, Simplex) and affine_dimension(constraint) in _TARGET_ACCEPTANCE

    @property
    def reach(self) -> float:
        """Largest distance of a point of the set from the anchor: the D that the proofs need; a length."""
        return reach(self.anchor or (), self.problem.constraint)

    @property
    def sampling(self) -> Sampler:
        """How the density is sampled."""
        if self.sampler != "auto":
            return self.sampler
        if self._is_gaussian:
            return "gaussian"
        return "rejection" if self._few_coordinates else "alternating"

    def tuned(self, n: int) -> TunedMechanism:
        """k, mu and the total variation that is paid for, for n records."""
        whole_number("n", n)
        tau = self._affordable_error
        sensitivity, own = self.problem.constants.gradient_sensitivity, self._strong_convexity
        d, shift = self.problem.constraint.dimension, self._shift
        # k = factor (mu + m)
        factor = (shift * n / sensitivity) ** 2
        allowed = f"more, for an inverse temperature that a double can hold at epsilon = {self.epsilon:g}"
        require(factor > 1e-250, "delta", self.delta, allowed)
        printed, stability = self.calibration == "printed", 0.0
        if self.tuning == "sco":
            factor = min(factor, 2 * n * d / sensitivity**2)
            stability = sensitivity**2 / n
        numerator = d / factor + stability
        if printed and self.tuning == "sco":
            numerator = sensitivity**2 * (d / shift**2 / n**2 + 1 / (2 * n))
        mu = self.regularization
        if mu is None:
            distance = self.problem.constraint.diameter if printed else self.reach
            # the minimum of numerator / (mu + m) + mu D^2 / 2
            mu = max(0.0, math.sqrt(2 * numerator) / distance - own)
        k = factor * (mu + own) if self.inverse_temperature is None else self.inverse_temperature
        return TunedMechanism(k, mu, tau)

    @property
    def _payment(self) -> float:
        """The part of delta that pays for the sampling error."""
        return _SAMPLING_SHARE * self.delta if self.sampling == "alternating" else 0.0

    @property
    def _affordable_error(self) -> float:
        """The total variation that is paid for."""
        if self.sampling != "alternating":
            return 0.0
        tau = self._payment / (1 + math.exp(self.epsilon))
        if not tau > _SMALLEST_PAYMENT:
            least = f"{3 * _SMALLEST_PAYMENT:g} (1 + e^epsilon)"
            allowed = f"above {least}, to pay for the alternating sampler's error"
            raise InvalidArgumentError("delta", self.delta, allowed)
        return tau

    @property
    def _shift(self) -> float:
        """How far apart two Gaussians of variance 1 may be."""
        if self.calibration == "exact":
            return largest_shift(self.epsilon, self.delta - self._payment)
        delta = 2 * self.delta / 3
        if self.tuning == "sco":
            return self.epsilon / math.sqrt(2 * math.log(1 / (2 * delta)))
        return printed_shift(self.epsilon, delta)

    def density(self, n: int) -> RegularizedDensity:
        """The density for n records."""
        k, mu, _ = self.tuned(n)
        return RegularizedDensity(self.problem, k, mu, self.anchor)

    def gdp_mu(self, n: int) -> float:
        """G sqrt(k) / (n sqrt(mu + m)): GDP parameter of the density itself, dimensionless; infinite if withdrawn."""
        return math.inf if self.withdraw_guarantee else self._gdp_mu(n)

    def _gdp_mu(self, n: int) -> float:
        k, mu, _ = self.tuned(n)
        curvature = mu + self._strong_convexity
        if not curvature > 0:
            return math.inf
        return self.problem.constants.gradient_sensitivity * math.sqrt(k / curvature) / n

    def alternating_sampler(self, n: int) -> AlternatingSampler:
        """The sampler with the accuracy that is paid for."""
        withdraw = self.withdraw_guarantee
        return AlternatingSampler(
            self.problem, *self.tuned(n), self.anchor, withdraw_guarantee=withdraw, expanded=True
        )

    def _total_variation(self, n: int) -> float:
        return self.alternating_sampler(n).schedule.total_variation if self.sampling == "alternating" else 0.0

    def _voids(self, n: int) -> tuple[str, ...]:
        mu, tau = self._gdp_mu(n), self.tuned(n).total_variation
        payment = (1 + math.exp(self.epsilon)) * tau if tau else 0.0
        reached = gaussian_hockey_stick(self.epsilon, mu) + payment
        if reached <= self.delta * (1 + 1e-9):
            return ()
        found = f"delta = {reached:.4g} at epsilon = {self.epsilon:g}"
        return (f"k and mu give {found}, above {self.delta:g}",)

    def _guaranteed(self, n: int) -> Guarantees:
        """The profile of Theorem 6.2 with what sampling costs, and (epsilon, delta); none if withdrawn."""
        mu, tau = self.gdp_mu(n), self._total_variation(n)
        profile: Guarantee = GDP(mu)
        name = "gll22.rem/profile"
        if tau:
            label = f"{mu:.4g}-GDP up to a total variation of {tau:.3g}"
            profile = ProfileDP(SampledGaussianProfile(mu, tau), label)
            name = f"gll22.rem/{self.tuning} profile of samples"
        refusals = never_refused(FEW_ACCEPTED) if self.sampling == "rejection" else ()
        conditions = (*refusals, *self.problem.conditions)
        epsilon, delta = self.epsilon, self.delta
        headline = promised(name, profile, conditions=conditions, epsilon=epsilon, delta=delta)
        theorem = "gll22.thm6.4" if self.tuning == "erm" else "gll22.thm6.9"
        claim = ApproxDP(epsilon, delta)
        return Guarantees(headline, as_printed=replace_one(claim, theorem, conditions=conditions))

    def risk_bound(self, n: int) -> StatedRisk | None:
        """The density's bound, plus min(L, s) s / (n (mu + m)) for the population, plus what sampling costs.

        s is the gradient sensitivity, G of Theorem 6.7, where all that counts is differences of two records' losses. A
        sample within total variation tau of the right law costs at most tau L times the diameter. `theorem` has
        d / k + mu D^2 / 2 for the density's bound, D being the largest distance from the anchor. None on an unbounded
        set where a term is infinite.
        """
        density, tau = self.density(n), self._total_variation(n)
        constants, constraint = self.problem.constants, self.problem.constraint
        rest = tau * constants.lipschitz_constant * constraint.diameter if tau else 0.0
        population = self.tuning == "sco"
        if population:
            rest += min(constants.lipschitz_constant, constants.gradient_sensitivity) * self._moved(n)
        mu = density.regularization
        printed = constraint.dimension / density.inverse_temperature + (mu * self.reach**2 / 2 if mu else 0.0)
        if not math.isfinite(density.excess_risk + rest):
            return None
        row = words(f"gll22.rem/{self.tuning} risk", sampler=", and tau L D for the sampler" if tau else "")
        return StatedRisk(
            density.excess_risk + rest, total=False, population=population, theorem=printed + rest, **row
        )

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The density's own for the records' risk, at what the sampler leaves of beta; None if it leaves nothing."""
        return self.density(n).risk_quantile(probability, self._total_variation(n))

    def stability(self, n: int) -> float:
        """By Theorem 6.7, s / (n (mu + m)) in Wasserstein distance, and the diameter where a sampler errs."""
        tau = self._total_variation(n)
        return self._moved(n) + (2 * tau * self.problem.constraint.diameter if tau else 0.0)

    def _moved(self, n: int) -> float:
        _, mu, _ = self.tuned(n)
        curvature = n * (mu + self._strong_convexity)
        return self.problem.constants.gradient_sensitivity / curvature if curvature else math.inf

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """0 for the exact samplers; else what Theorem 5.6 proves with explicit constants."""
        whole_number("n", n)
        if self.sampling == "alternating":
            return self.alternating_sampler(n).sampling_error(n)
        return StatedSamplingError("total variation", 0.0, **words("gll22.rem/sampling error"))

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Oracle calls for n records; a run by rejection would alone need the envelope, so each counts it."""
        whole_number("n", n)
        if self.sampling == "alternating":
            return self.alternating_sampler(n).queries(n)
        if self.sampling == "rejection":
            return sampling_queries(affine_dimension(self.problem.constraint), n)
        return (StatedQueries("gradient", n, **words("gll22.rem/queries")),)

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent for n records times the factor."""
        k, mu, _ = self.tuned(n)
        return replace(self, inverse_temperature=factor * k, regularization=mu, withdraw_guarantee=True)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d).

        Raises:
            NotGuaranteedError: if k and mu void the guarantee and it was not withdrawn, or if too few proposals of
                the rejection sampler would be accepted.
            InvalidDataError: if the rejection sampler finds the loss not to be convex, or records are outside the
                unit ball.
        """
        data = admitted(self, data)
        allowed = f"{self.problem.constraint.dimension} features"
        require(data.d == self.problem.constraint.dimension, "data", f"{data.d} features", allowed)
        if self.sampling == "alternating":
            return self.alternating_sampler(data.n)(data, rng=rng, runs=runs)
        density = self.density(data.n)
        if self.sampling == "rejection":
            # the density's V is k / n times the total risk, plus its quadratic term
            k, anchor = density.inverse_temperature, density.anchor_point
            potential = RiskPotential(self.problem, data, k / data.n, k * density.regularization, anchor)
            target = _TARGET_ACCEPTANCE[affine_dimension(self.problem.constraint)]
            return sample_on_set(potential, rng=rng, runs=runs, target=target)
        found = density.gaussian(data)
        assert found is not None
        mean, stddev = found
        xp = rng.xp
        means = xp.repeat(xp.asarray(mean, dtype=xp.float64)[None, :], runs, axis=0)
        points = RestrictedGaussian(self.problem.constraint, stddev).sample(means, rng)
        return Output(points, gradient_queries=data.n)
