"""Projected noisy stochastic gradient descent and its variants (Feldman, Mironov, Talwar, Thakurta, 2018).

One record a step, in the order of the data set; only the last point is released. The noise of later steps
hides earlier records, so every index has a guarantee of its own. What the variants share is in `noisy_sgd`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from dpverify.algorithms.conditions import refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import noisy_gradient_norm, skip_risk, stop_risk
from dpverify.algorithms.fmtt18.noisy_sgd import EveryStep, NoisySGD, theorem_parameters
from dpverify.algorithms.parameters import Count
from dpverify.algorithms.promises import SEARCHED_NOISE, StatedRisk
from dpverify.checks import budget, number, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import GDP, RDP, ProfileDP, StatedGuarantee
from dpverify.privacy.mixtures import GaussianMixtureProfile, WeakConvexityCurve, harmonic
from dpverify.problems import Dataset, Problem
from dpverify.problems.losses import check_not_flat
from dpverify.running import Output, Randomness


@dataclass(frozen=True)
class PNSGD(EveryStep):
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

    id: ClassVar[str] = "fmtt18.alg1"
    steps_words: ClassVar[str] = "n"
    hands_over: ClassVar[str] = "all runs"
    statements: ClassVar[tuple[str, ...]] = (
        "fmtt18.thm22",
        "fmtt18.thm23",
        "fmtt18.lem27",
        "fmtt18.prop17",
        "fmtt18.prop18",
        "fmtt18.sgd-update",
    )
    unstated: ClassVar[Mapping[str, str]] = {
        "risk": "the paper bounds that of Stop and Skip, not that of the last iterate",
        "parameters": SEARCHED_NOISE,
    }

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 0.5, 1.0),
            "local": lambda: cls(at.mean, 0.5, 1.0, claim="local"),
            "asked": lambda: cls.for_privacy(at.curved, n=at.n, epsilon=at.epsilon, delta=at.delta),
        }

    @classmethod
    def for_privacy(cls, problem: Problem, *, n: int, epsilon: float, delta: float) -> Self:
        """Noise and rate of Theorem 30, for local (epsilon, delta)-DP and better at early indices.

        sigma = 2 L sqrt(2 ln(1.25/delta)) / epsilon where that is enough (it is for epsilon <= 1), else the
        smallest sigma that is; eta = sqrt(8) R / sqrt(n (L^2 + d sigma^2)), R being the set's largest norm.

        Raises:
            InvalidArgumentError: if epsilon, delta or n is out of range or the set is unbounded.
            NotGuaranteedError: if eta is above 2 / beta.
        """
        return cls(problem, *theorem_parameters(problem, n, epsilon, delta, math.sqrt(8)))

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """GDP at one index from 1, by the best schedule of Theorem 22; None if the claim was withdrawn."""
        n, index = self._at(n, index)
        if self._withdrawn:
            return None
        if self.claim == "local":
            return self._states(GDP(self.largest_mu), "fmtt18.lem27", index=index)
        mu = self.noisy_iteration(n, index).gdp()
        return self._states(mu, "fmtt18.thm23", "fmtt18.thm22", index=index)

    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 23's RDP at one index from 1, as printed; None if the claim was withdrawn or is local."""
        return self._faded(n, index, "fmtt18.thm23")

    def guarantees(self, n: int) -> Guarantees:
        """The guarantee at the worst index, which is the last one, and the local one."""
        whole_number("n", n, at_least=1)
        if self._withdrawn:
            return Guarantees()
        return self._guarantees("fmtt18.thm23", GDP(self.largest_mu), self._printed(n))


class _SomeSteps(NoisySGD):
    """Noisy SGD of which a run takes a random number of at most n steps."""

    hands_over: ClassVar[str] = "first runs"
    stops_early: ClassVar[bool] = True

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 0.5, 1.0),
            "asked": lambda: cls.for_privacy(at.curved, n=at.n, epsilon=at.epsilon, delta=at.delta),
        }

    @classmethod
    @abstractmethod
    def for_privacy(cls, problem: Problem, *, n: int, epsilon: float, delta: float) -> Self:
        """Noise and rate of a theorem."""

    def gradient_query_count(self, n: int) -> int:
        """At most n in a run; the number of steps that the run drew."""
        return whole_number("n", n, at_least=1)


@dataclass(frozen=True)
class SkipPNSGD(_SomeSteps):
    """fmtt18, Section 4: PNSGD without its first t_0 records, t_0 uniform on {0, ..., floor(n/2)} in every run.

    Guarantee (replace-one at index t, both directions): Theorem 24, the RDP of PNSGD. Stated here is the
    sharper profile: index t is used with the probability p that t_0 < t, and is then as private as in PNSGD,
    so delta(eps) = p delta_Gauss(eps, mu_t), by joint convexity of the hockey-stick divergence.

    Assumptions: those of PNSGD.
    """

    id: ClassVar[str] = "fmtt18.skip"
    statements: ClassVar[tuple[str, ...]] = ("fmtt18.thm24", "fmtt18.thm28", "fmtt18.thm30", "fmtt18.lem27")

    @classmethod
    def for_privacy(cls, problem: Problem, *, n: int, epsilon: float, delta: float) -> Self:
        """Noise and rate of Theorem 30, as for `PNSGD.for_privacy`."""
        return cls(problem, *theorem_parameters(problem, n, epsilon, delta, math.sqrt(8)))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        iterates, features, labels = self._begin(data, rng, runs)
        skipped = np.asarray(rng.integers(0, data.n // 2 + 1, (runs,), "skipped records"))
        order = np.argsort(skipped, kind="stable")
        ascending = skipped[order]
        for t in range(data.n):
            # record t + 1 is used by the runs that skipped at most t records
            active = int(np.searchsorted(ascending, t, side="right"))
            if active:
                self._step(iterates, features[t, :], labels[t], active)
        return iterates.output(order)

    def _extent(self, n: int) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
        return (1 / (n // 2 + 1),) * (n // 2 + 1), None

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem 30's excess population risk, 4 sqrt(2) R sqrt(L^2 + d sigma^2) / sqrt(n), at its rate.

        At other rates, what the proof gives for them. None on an unbounded set, or if the loss is not Lipschitz.
        """
        n = whole_number("n", n, at_least=1)
        return skip_risk(self.problem, n, self.rate, self.noise_stddev, source="fmtt18.thm30")

    def used_with_probability(self, n: int, index: int) -> float:
        """Probability that t_0 < index, for an index from 1."""
        n, index = self._at(n, index)
        return min(index, n // 2 + 1) / (n // 2 + 1)

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The profile at one index from 1; None if the claim was withdrawn."""
        n, index = self._at(n, index)
        if self._withdrawn:
            return None
        mu = self.largest_mu
        if self.claim == "per-index":
            # the steps before the record's add nothing to its privacy
            mu = self._iteration(n - index + 1, 1).gdp().mu
        profile = GaussianMixtureProfile((self.used_with_probability(n, index),), (mu,))
        return self._states(ProfileDP(profile), "fmtt18.thm24", index=index)

    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 24's RDP at one index from 1, as printed; None if the claim was withdrawn or is local."""
        return self._faded(n, index, "fmtt18.thm24")

    def guarantees(self, n: int) -> Guarantees:
        """The guarantee at the worst index, which is the last one, and the local one."""
        whole_number("n", n, at_least=1)
        if self._withdrawn:
            return Guarantees()
        return self._guarantees("fmtt18.thm24", GDP(self.largest_mu), self._printed(n))


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

    id: ClassVar[str] = "fmtt18.stop"
    statements: ClassVar[tuple[str, ...]] = (
        "fmtt18.thm26",
        "fmtt18.lem25",
        "fmtt18.thm28",
        "fmtt18.thm29",
        "fmtt18.lem27",
    )

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

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        iterates, features, labels = self._begin(data, rng, runs)
        steps = np.asarray(rng.integers(self.fewest_steps(data.n), data.n + 1, (runs,), "stopping time"))
        order = np.argsort(-steps, kind="stable")
        ascending = np.sort(steps)
        for t in range(data.n):
            # step t + 1 is taken by the runs with T > t
            active = runs - int(np.searchsorted(ascending, t, side="right"))
            if not active:
                break
            self._step(iterates, features[t, :], labels[t], active)
        return iterates.output(order)

    def _extent(self, n: int) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
        fewest = self.fewest_steps(n)
        return None, (0.0,) * (fewest - 1) + (1 / (n - fewest + 1),) * (n - fewest + 1)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem 29's excess population risk, 4 R sqrt(L^2 + d sigma^2) / sqrt(n), at its rate.

        With `second_half`, Theorem 30's, by its proof; at other rates, what the proofs give for them. None on an
        unbounded set, or if the loss is not Lipschitz.
        """
        n = whole_number("n", n, at_least=1)
        if self.second_half:
            return skip_risk(self.problem, n, self.rate, self.noise_stddev, source="fmtt18.thm30")
        size, norm = (
            self.problem.constraint.largest_norm,
            noisy_gradient_norm(self.problem, self.noise_stddev),
        )
        return stop_risk(
            self.problem,
            n,
            self.rate,
            self.noise_stddev,
            best=2 * size / (math.sqrt(n) * norm),
            bound=4 * size * norm / math.sqrt(n),
            source="fmtt18.thm29",
        )

    def _mixture(self, n: int, index: int) -> GaussianMixtureProfile:
        """The mixture over T that the index is part of: T in {max(index, fewest), ..., n}."""
        fewest = self.fewest_steps(n)
        after = range(max(index, fewest) - index + 1, n - index + 2)
        weight = 1 / (n - fewest + 1)
        mus = [self.largest_mu] * len(after)
        if self.claim == "per-index":
            mus = [self.largest_mu / math.sqrt(steps) for steps in after]
        return GaussianMixtureProfile((weight,) * len(after), tuple(mus))

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The profile at one index from 1; None if the claim was withdrawn."""
        n, index = self._at(n, index)
        if self._withdrawn:
            return None
        return self._states(ProfileDP(self._mixture(n, index)), "fmtt18.thm26", index=index)

    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """RDP of the mixture at one index from 1, for all orders; None if the claim was withdrawn."""
        n, index = self._at(n, index)
        if self._withdrawn:
            return None
        curve = self._mixture(n, index).renyi
        return self._states(RDP(curve), "fmtt18.thm26", "fmtt18.lem25", index=index)

    def theorem_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 26, corrected, which says the same of every index."""
        stated = self.guarantees(n).as_printed
        return None if stated is None else stated.at(index, n)

    def guarantees(self, n: int) -> Guarantees:
        """The profile and the corrected Theorem 26 at the worst index, and the local guarantee.

        The worst index is 1, and ceil(n/2) with `second_half`: the first one that every T includes.
        """
        n = whole_number("n", n, at_least=1)
        if self._withdrawn:
            return Guarantees()
        mixture = self._mixture(n, self.fewest_steps(n))
        printed = None
        if self.claim == "per-index" and self.largest_mu > 0:
            terms = n - self.fewest_steps(n) + 1
            noise = 2 / self.largest_mu
            slope = (
                4 * self.problem.constants.lipschitz_constant**2 * math.log(n) / (n * self.noise_stddev**2)
            )
            label = f"(order, {4 * harmonic(terms) / (terms * noise**2):.4g}*order)-RDP at small orders"
            origin = self._origin(
                "fmtt18.thm26",
                f"4 L^2 ln n / (n sigma^2) order = {slope:.4g} order",
                "orders with sigma >= L sqrt(2 order (order - 1)), eta <= 2/beta",
                "the sum in the proof is the harmonic number H_n, where ln n is printed",
            )
            curve = RDP(WeakConvexityCurve(noise, terms), label=label)
            printed = self._states(curve, "fmtt18.thm26", origin=origin)
        return self._guarantees("fmtt18.thm26", ProfileDP(mixture), printed)


@dataclass(frozen=True)
class PNMSGD(EveryStep):
    """fmtt18, Algorithm 2 (Appendix B): n epochs over the records in their fixed order, n^2 steps in all.

    `epochs` sets another number of them.

    Guarantee (replace-one, both directions): Theorem 35, (order, 4 L^2 order / sigma^2)-RDP for n epochs. Its
    schedule of shifts, for k epochs and in GDP form, gives mu^2 = (2 L / sigma)^2 ((k - 1)/n + 1/(n - i + 1))
    at index i.

    Assumptions: those of PNSGD.
    """

    epochs: Count | None = None

    id: ClassVar[str] = "fmtt18.alg2"
    steps_words: ClassVar[str] = "n^2"
    hands_over: ClassVar[str] = "all runs"
    statements: ClassVar[tuple[str, ...]] = ("fmtt18.thm35", "fmtt18.appB")
    unstated: ClassVar[Mapping[str, str]] = {
        "risk": "the paper names regret bounds from elsewhere and states none",
        "parameters": SEARCHED_NOISE,
    }

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 0.5, 1.0, epochs=2),
            "asked": lambda: cls.for_privacy(at.curved, rate=0.5, epsilon=at.epsilon, delta=at.delta),
        }

    @classmethod
    def for_privacy(cls, problem: Problem, *, rate: float, epsilon: float, delta: float) -> Self:
        """Noise of Appendix B for (epsilon, delta)-DP: sigma = 5 L sqrt(ln(1/delta)) / epsilon.

        Raises:
            InvalidArgumentError: if epsilon or delta is out of range.
            NotGuaranteedError: if the order 2 ln(1/delta) / epsilon is below 5, as the appendix asks, or the
                rate is above 2 / beta.
        """
        budget("epsilon", epsilon)
        number("delta", delta, above=0, below=1, allowed="a number in (0, 1)")
        if not isinstance(problem, Problem):
            raise InvalidArgumentError("problem", problem, "a dpverify.problems.Problem")
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

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """GDP at one index from 1, by the best schedule of Theorem 22; None if the claim was withdrawn."""
        n, index = self._at(n, index)
        if self._withdrawn:
            return None
        mu = self.noisy_iteration(n, index).gdp()
        return self._states(mu, "fmtt18.thm35", "fmtt18.thm22", index=index)

    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """RDP at one index from 1, by the schedule in the proof of Theorem 35; None if withdrawn."""
        n, index = self._at(n, index)
        if self._withdrawn:
            return None
        share = (self.passes(n) - 1) / n + 1 / (n - index + 1)
        slope = self.largest_mu**2 / 2 * share
        because = f"the proof's schedule for {self.passes(n)} epochs at this index, not for n"
        origin = self._theorem_35(because)
        return self._states(RDP.linear(slope), "fmtt18.thm35", index=index, origin=origin)

    def _theorem_35(self, because: str = "") -> AsPrinted | Corrected:
        slope = 4 * self.problem.constants.lipschitz_constant**2 / self.noise_stddev**2
        printed = f"4 L^2 / sigma^2 order = {slope:.4g} order"
        return self._origin("fmtt18.thm35", printed, "every order > 1, eta <= 2/beta", because)

    def theorem_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 35, which says the same of every index; for another number of epochs its schedule at the index."""
        stated = self.guarantees(n).as_printed if self.epochs is None else self.rdp_at(n, index)
        return None if stated is None else stated.at(index, n)

    def guarantees(self, n: int) -> Guarantees:
        """GDP at the worst index by the proof's schedule; Theorem 35's RDP if there are at most n epochs."""
        n = whole_number("n", n, at_least=1)
        if self._withdrawn:
            return Guarantees()
        epochs = self.passes(n)
        mu = self.largest_mu * math.sqrt((epochs - 1) / n + 1)
        stated, printed = self._states(GDP(mu), "fmtt18.thm35"), None
        if epochs <= n:
            curve = RDP.linear(self.largest_mu**2)
            printed = replace(stated, guarantee=curve, origin=self._theorem_35())
        return Guarantees(stated, as_printed=printed)
