"""Projected noisy stochastic gradient descent and its variants (Feldman, Mironov, Talwar, Thakurta, 2018).

One record a step, in the order of the data set; only the last point is released. The noise of later steps
hides earlier records, so every index has a guarantee of its own. What the variants share is in `noisy_sgd`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.conditions import refuse_or_withdraw
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import noisy_gradient_norm, skip_risk, stop_risk
from dpverify.algorithms.fmtt18.noisy_sgd import NoisySGD, theorem_parameters
from dpverify.algorithms.parameters import Count
from dpverify.algorithms.promises import StatedRisk, reasons
from dpverify.algorithms.steps.single_run import seconds_alone
from dpverify.checks import budget, number, of_kind, whole_number
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import GDP, RDP, Guarantee, ProfileDP, StatedGuarantee
from dpverify.privacy.mixtures import GaussianMixtureProfile, WeakConvexityCurve, harmonic
from dpverify.problems import Dataset, Problem
from dpverify.problems.losses import check_not_flat
from dpverify.running import Output, Randomness

Keys = NDArray[np.int64]


@dataclass(frozen=True)
class _EveryStep(NoisySGD):
    """Noisy SGD of which every run takes every step."""

    hands_over = "all runs"
    seconds_a_call = property(seconds_alone)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        iterates, features, labels = self._begin(data, rng, runs)
        order, rates = np.arange(data.n), np.full(data.n, self.rate)
        iterates.expect(self.passes(data.n) * data.n)
        for _ in range(self.passes(data.n)):
            iterates.walk(features, labels, order, rates=rates, noise_stddev=self.noise_stddev)
        return iterates.output()

    def _gdp(self, n: int, index: int) -> GDP:
        """By the best schedule of Theorem 22."""
        return self._iteration(n, index).gdp()

    def _sharpest_at(self, n: int, index: int) -> StatedGuarantee:
        if self.claim == "local":
            return self._states(GDP(self.largest_mu), "fmtt18.lem27", index=index)
        return self._states(self._gdp(n, index), self.theorem, "fmtt18.thm22", index=index)


class _SomeSteps(NoisySGD):
    """Noisy SGD of which a run takes a random number of at most n steps."""

    hands_over = "first runs"
    stops_early = True

    @abstractmethod
    def _draw(self, n: int, rng: Randomness, runs: int) -> tuple[Keys, Keys]:
        """A key for each run, and for each step the largest key with which it is taken."""

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        iterates, features, labels = self._begin(data, rng, runs)
        keys, largest = self._draw(data.n, rng, runs)
        iterates.walk_some(features, labels, keys, largest, rate=self.rate, noise_stddev=self.noise_stddev)
        return iterates.output()


@dataclass(frozen=True)
class PNSGD(_EveryStep):
    """fmtt18, Algorithm 1: n steps w <- Proj(w - eta (grad f(w, x_t) + N(0, sigma^2 I))); w_n is released.

    Guarantee (replace-one at index t, both directions): Theorem 23, (order, 2 L^2 order / (sigma^2 (n + 1 -
    t)))-RDP for every order; in the GDP form stated here mu = 2 L / (sigma sqrt(n + 1 - t)), which implies
    it.

    Assumptions: convex, L-Lipschitz, beta-smooth losses for records in the unit ball; eta <= 2 / beta.

    Examples:
        >>> from dpverify.algorithms.fmtt18 import PNSGD
        >>> from dpverify.problems import Ball, Logistic, Problem
        >>> descent = PNSGD.for_privacy(Problem(Logistic(), Ball(2, 1.0)), n=50, epsilon=1.0, delta=1e-5)
        >>> for index in (1, 50):  # later noise hides the first record, but not the last
        ...     print(round(descent.guarantee_at(50, index).guarantee.epsilon_at(1e-5), 2))
        0.09
        0.75
    """

    id = "fmtt18.alg1"
    theorem = "fmtt18.thm23"
    steps_words = "n"
    statements = (
        "fmtt18.thm22",
        "fmtt18.thm23",
        "fmtt18.lem27",
        "fmtt18.prop17",
        "fmtt18.prop18",
        "fmtt18.sgd-update",
    )
    unstated = reasons("fmtt18.alg1")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 0.5, 1.0),
            "local": lambda: cls(at.mean, 0.5, 1.0, claim="local"),
            "asked": lambda: cls.for_privacy(at.curved, n=at.n, epsilon=at.epsilon, delta=at.delta),
        }

    def risk_bound(self, n: int) -> StatedRisk | None:
        """What is proved of the excess population risk of the last point (see `steps.last_iterate`); no theorem has it.

        None on an unbounded set, or if the loss is not Lipschitz.
        """
        n = whole_number("n", n)
        return stop_risk(self.problem, n, self.rate, self.noise_stddev, start=self.start, iterates=1)


@dataclass(frozen=True)
class SkipPNSGD(_SomeSteps):
    """fmtt18, Section 4: PNSGD without its first t_0 records, t_0 uniform on {0, ..., floor(n/2)} in every run.

    Guarantee (replace-one at index t, both directions): Theorem 24, the RDP of PNSGD. Stated here is the
    sharper profile: index t is used with the probability p that t_0 < t, and is then as private as in PNSGD,
    so delta(eps) = p delta_Gauss(eps, mu_t), by joint convexity of the hockey-stick divergence.

    Assumptions: those of PNSGD.
    """

    id = "fmtt18.skip"
    theorem = "fmtt18.thm24"
    statements = ("fmtt18.thm24", "fmtt18.thm28", "fmtt18.thm30", "fmtt18.lem27")

    def _draw(self, n: int, rng: Randomness, runs: int) -> tuple[Keys, Keys]:
        # record t + 1 is used by the runs that skipped at most t records
        return np.asarray(rng.integers(0, n // 2 + 1, (runs,), "skipped records")), np.arange(n)

    def _extent(self, n: int) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
        return (1 / (n // 2 + 1),) * (n // 2 + 1), None

    def risk_bound(self, n: int) -> StatedRisk | None:
        """What is proved of the excess population risk at its rate (see `iterate_risk`).

        Beside it, at Theorem 30's rate, that theorem's 4 sqrt(2) R sqrt(L^2 + d sigma^2) / sqrt(n). None on an
        unbounded set, or if the loss is not Lipschitz.
        """
        n = whole_number("n", n)
        return skip_risk(
            self.problem, n, self.rate, self.noise_stddev, source="fmtt18.thm30", start=self.start
        )

    def used_with_probability(self, n: int, index: int) -> float:
        """Probability that t_0 < index, for an index from 1."""
        n, index = self._at(n, index)
        return min(index, n // 2 + 1) / (n // 2 + 1)

    def _sharpest_at(self, n: int, index: int) -> StatedGuarantee:
        mu = self.largest_mu
        if self.claim == "per-index":
            # the steps before the record's add nothing to its privacy
            mu = self._iteration(n - index + 1, 1).gdp().mu
        profile = GaussianMixtureProfile((self.used_with_probability(n, index),), (mu,))
        return self._states(ProfileDP(profile), "fmtt18.thm24", index=index)


@dataclass(frozen=True)
class StopPNSGD(_SomeSteps):
    """fmtt18, Section 4: PNSGD stopped after T steps, T uniform on {1, ..., n} in every run; w_T is released.

    With `second_half`, T is uniform on {ceil(n/2), ..., n}: Stop(n/2) of the proof of Theorem 30.

    Guarantee (replace-one, both directions): Theorem 26. Its printed bound has ln n where the proof's sum is
    the harmonic number H_n, so the corrected bound is (order, 4 L^2 order H_n / (n sigma^2))-RDP for orders
    with sigma >= L sqrt(2 order (order - 1)). Stated beside it, for all orders and all eps: the output is a
    mixture over T, so delta(eps) is at most the mean of delta_Gauss(eps, mu_T), by joint convexity.

    Assumptions: those of PNSGD.
    """

    second_half: bool = False

    id = "fmtt18.stop"
    theorem = "fmtt18.thm26"
    statements = ("fmtt18.thm26", "fmtt18.lem25", "fmtt18.thm28", "fmtt18.thm29", "fmtt18.lem27")

    @classmethod
    def for_privacy(cls, problem: Problem, *, n: int, epsilon: float, delta: float) -> Self:
        """Noise and rate of Theorem 29, for local (epsilon, delta)-DP; the loss need not be smooth.

        sigma as for `PNSGD.for_privacy`; eta = 2 R / sqrt(n (L^2 + d sigma^2)), R being the set's largest
        norm.
        """
        return cls(problem, *theorem_parameters(problem, n, epsilon, delta, 2.0), claim="local")

    def fewest_steps(self, n: int) -> int:
        """Smallest T."""
        return (n + 1) // 2 if self.second_half else 1

    def _draw(self, n: int, rng: Randomness, runs: int) -> tuple[Keys, Keys]:
        steps = np.asarray(rng.integers(self.fewest_steps(n), n + 1, (runs,), "stopping time"))
        # step t + 1 is taken by the runs with T > t
        return -steps, -1 - np.arange(n)

    def _extent(self, n: int) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
        fewest = self.fewest_steps(n)
        return None, (0.0,) * (fewest - 1) + (1 / (n - fewest + 1),) * (n - fewest + 1)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """What is proved of the excess population risk at its rate (see `iterate_risk`).

        Beside it, at Theorem 29's rate, that theorem's 4 R sqrt(L^2 + d sigma^2) / sqrt(n); with `second_half`, Theorem
        30's. None on an unbounded set, or if the loss is not Lipschitz.
        """
        n = whole_number("n", n)
        at = self.problem, n, self.rate, self.noise_stddev
        if self.second_half:
            return skip_risk(*at, source="fmtt18.thm30", start=self.start)
        size, norm = (
            self.problem.constraint.largest_norm,
            noisy_gradient_norm(self.problem, self.noise_stddev),
        )
        best, printed = 2 * size / (math.sqrt(n) * norm), 4 * size * norm / math.sqrt(n)
        return stop_risk(*at, best=best, printed=printed, source="fmtt18.thm29", start=self.start)

    def _mixture(self, n: int, index: int) -> GaussianMixtureProfile:
        """The mixture over T that the index is part of: T in {max(index, fewest), ..., n}."""
        fewest = self.fewest_steps(n)
        after = range(max(index, fewest) - index + 1, n - index + 2)
        weight = 1 / (n - fewest + 1)
        mus = [self.largest_mu] * len(after)
        if self.claim == "per-index":
            mus = [self.largest_mu / math.sqrt(steps) for steps in after]
        return GaussianMixtureProfile((weight,) * len(after), tuple(mus))

    def _sharpest_at(self, n: int, index: int) -> StatedGuarantee:
        return self._states(ProfileDP(self._mixture(n, index)), "fmtt18.thm26", index=index)

    def _rdp_at(self, n: int, index: int) -> StatedGuarantee:
        """RDP of the mixture, for all orders."""
        curve = self._mixture(n, index).renyi
        return self._states(RDP(curve), "fmtt18.thm26", "fmtt18.lem25", index=index)

    def theorem_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 26, corrected, which says the same of every index."""
        stated = self.guarantees(n).as_printed
        return None if stated is None else stated.at(index, n)

    def _at_worst(self, n: int) -> Guarantee:
        """At index 1, or ceil(n/2) with `second_half`: the first one that every T includes."""
        return ProfileDP(self._mixture(n, self.fewest_steps(n)))

    def _printed(self, n: int) -> StatedGuarantee | None:
        """Theorem 26, corrected."""
        if self.claim == "local" or self.largest_mu == 0:
            return None
        terms, noise = n - self.fewest_steps(n) + 1, 2 / self.largest_mu
        slope = 4 * (self.problem.constants.lipschitz_constant / self.noise_stddev) ** 2 * math.log(n) / n
        label = f"(order, {4 * harmonic(terms) / (terms * noise**2):.4g}*order)-RDP at small orders"
        origin = self._origin(
            f"4 L^2 ln n / (n sigma^2) order = {slope:.4g} order",
            "orders with sigma >= L sqrt(2 order (order - 1)), eta <= 2/beta",
            "the sum in the proof is the harmonic number H_n, where ln n is printed",
        )
        return self._states(RDP(WeakConvexityCurve(noise, terms), label=label), "fmtt18.thm26", origin=origin)


@dataclass(frozen=True)
class PNMSGD(_EveryStep):
    """fmtt18, Algorithm 2 (Appendix B): n epochs over the records in their fixed order, n^2 steps in all.

    `epochs` sets another number of them.

    Guarantee (replace-one, both directions): Theorem 35, (order, 4 L^2 order / sigma^2)-RDP for n epochs. Its
    schedule of shifts, for k epochs and in GDP form, gives mu^2 = (2 L / sigma)^2 ((k - 1)/n + 1/(n - i + 1))
    at index i. On a bounded set it need not grow with k: the last epochs count alone, from any two points of the set,
    where that gives less.

    Assumptions: those of PNSGD.
    """

    epochs: Count | None = None

    id = "fmtt18.alg2"
    theorem = "fmtt18.thm35"
    steps_words = "n^2"
    statements = ("fmtt18.thm35", "fmtt18.appB")
    unstated = reasons("fmtt18.alg2")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 0.5, 1.0, epochs=2),
            "asked": lambda: cls.for_privacy(at.curved, rate=0.5, epsilon=at.epsilon, delta=at.delta),
        }

    @classmethod
    def for_privacy(  # type: ignore[override]  # the rate must be said, n need not
        cls, problem: Problem, *, rate: float, epsilon: float, delta: float
    ) -> Self:
        """Noise of Appendix B for (epsilon, delta)-DP: sigma = 5 L sqrt(ln(1/delta)) / epsilon.

        Raises:
            InvalidArgumentError: if epsilon or delta is out of range.
            NotGuaranteedError: if the order 2 ln(1/delta) / epsilon is below 5, as the appendix asks, or the
                rate is above 2 / beta.
        """
        budget("epsilon", epsilon)
        number("delta", delta, above=0, below=1, allowed="a number in (0, 1)")
        of_kind("problem", problem, Problem, "a dpverify.problems.Problem")
        check_not_flat("problem", problem, problem.loss)
        order = 2 * math.log(1 / delta) / epsilon
        if not order >= 5:
            refuse_or_withdraw(cls.id, (f"the order 2 ln(1/delta)/epsilon = {order:.4g} is below 5",), False)
        stddev = 5 * problem.constants.lipschitz_constant * math.sqrt(math.log(1 / delta)) / epsilon
        return cls(problem, rate, stddev)

    @property
    def voids(self) -> tuple[str, ...]:
        """Which parameters void the claim, whether it was withdrawn or not."""
        local = ("a record is used in every epoch, so there is no local guarantee",)
        return super().voids + (local if self.claim == "local" else ())

    def passes(self, n: int) -> int:
        """The epochs: n unless `epochs` is set."""
        return n if self.epochs is None else self.epochs

    def _gdp(self, n: int, index: int) -> GDP:
        """By all epochs, or the last 1, 2, 4, ... of them from points a diameter apart, whichever proves most.

        Whatever came before, two points of the set are no farther apart (Altschuler and Talwar 2022; as GDP: Bok, Su
        and Altschuler 2024). Epochs that bring more shifts than the diameter prove no more than all do. Of all epochs
        the proof's schedule is the best one where steps do not contract.
        """
        found, constants = (
            [GDP(self.largest_mu * math.sqrt(self._share(n, index)) * (1 + 1e-15))],
            self.problem.constants,
        )
        if self.contraction < 1:
            found.append(super()._gdp(n, index))
        diameter, passes = self.problem.constraint.diameter, 1
        while passes < self.passes(n) and math.isfinite(diameter):
            found.append(self._iteration(n, index, passes, diameter).gdp())
            passes *= 2
            if not passes * self.rate * constants.gradient_sensitivity <= diameter:
                break
        return min(found, key=lambda one: one.mu)

    def _share(self, n: int, index: int) -> float:
        """Of the squared `largest_mu`, by the schedule in the proof of Theorem 35."""
        return (self.passes(n) - 1) / n + 1 / (n - index + 1)

    def _rdp_at(self, n: int, index: int) -> StatedGuarantee:
        """By that schedule."""
        curve = RDP.linear(self.largest_mu**2 / 2 * self._share(n, index))
        because = f"the proof's schedule for {self.passes(n)} epochs at this index, not for n"
        return self._states(curve, "fmtt18.thm35", index=index, origin=self._theorem_35(because))

    def _theorem_35(self, because: str = "") -> AsPrinted | Corrected:
        slope = 4 * (self.problem.constants.lipschitz_constant / self.noise_stddev) ** 2
        printed = f"4 L^2 / sigma^2 order = {slope:.4g} order"
        return self._origin(printed, "every order > 1, eta <= 2/beta", because)

    def theorem_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 35, which says the same of every index; for another number of epochs its schedule at the index."""
        stated = self.guarantees(n).as_printed if self.epochs is None else self.rdp_at(n, index)
        return None if stated is None else stated.at(index, n)

    def _at_worst(self, n: int) -> Guarantee:
        """At the last index."""
        return self._gdp(n, n)

    def _printed(self, n: int) -> StatedGuarantee | None:
        """Theorem 35's RDP, if there are at most n epochs."""
        if self.passes(n) > n:
            return None
        return self._states(RDP.linear(self.largest_mu**2), "fmtt18.thm35", origin=self._theorem_35())

    def _local(self) -> None:
        """None: a record is used in every epoch."""
