"""What projected noisy SGD and its variants have in common: parameters, conditions, the steps, Theorem 30's choices.

One record a step, in the order of the data set. Risks are means over the records here. Where the paper's guarantees
have 2 L, these have the loss's `gradient_sensitivity`: how far apart the gradients of two records can be, which is all
that the proofs use. It is 2 L unless the loss has a smaller bound.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpverify.algorithms.conditions import admitted, given_up, normalized_start, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.fmtt18.iterate_risk import check_bounded
from dpverify.algorithms.parameters import NotNegative, Positive
from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.steps.projected_steps import Iterates, records
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import GDP, RDP, Adjacency, Guarantee, StatedGuarantee
from dpverify.privacy.iteration import NoisyIteration, per_index
from dpverify.privacy.mixtures import gaussian_noise_multiplier
from dpverify.problems import Dataset, Problem
from dpverify.problems.losses import curvatures
from dpverify.running import Output, Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array

_LIPSCHITZ_STEP = "the loss has no finite Lipschitz constant on this constraint set"
_NO_NOISE = "the noise is zero"
ORACLES: tuple[Literal["gradient", "projection"], ...] = ("gradient", "projection")
"""What each step calls once."""


@dataclass(frozen=True)
class NoisySGD(Weakenable, ABC):
    """The common base of all variants.

    Attributes:
        problem: a convex loss on a constraint set.
        rate: step size eta, in length^2 over loss.
        noise_stddev: sigma, of each coordinate of the noise added to a gradient, in loss over length.
        start: w_0 in the constraint set, d numbers; the set's center if None.
        claim: `per-index` claims amplification by iteration and needs a smooth loss and eta <= 2/beta;
            `local` claims no more than Lemma 27, which needs neither.
        withdraw_guarantee: run even if the claim does not hold; there are then no guarantees, and `withdrawn`
            says why.
    """

    problem: Problem
    rate: Positive
    noise_stddev: NotNegative
    start: Sequence[float] | None = None
    claim: Literal["per-index", "local"] = "per-index"
    withdraw_guarantee: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))
        refuse_or_withdraw(self.id, self._withdrawn, self.withdraw_guarantee)

    id: ClassVar[str]
    statements: ClassVar[tuple[str, ...]]
    stops_early: ClassVar[bool] = False
    """Whether a run may take fewer steps than there are records."""
    steps_words: ClassVar[str] = "at most n"
    """How many steps it takes."""

    @property
    def _withdrawn(self) -> tuple[str, ...]:
        return (*self.voids, *given_up(self.withdraw_guarantee))

    @property
    def voids(self) -> tuple[str, ...]:
        """Which parameters void the claim, whether it was withdrawn or not."""
        reasons = []
        if not self.noise_stddev > 0:
            reasons.append(_NO_NOISE)
        if not math.isfinite(self.problem.constants.gradient_sensitivity):
            reasons.append(_LIPSCHITZ_STEP)
        if self.claim == "per-index":
            if not math.isfinite(self.problem.constants.smoothness):
                reasons.append("the loss is not smooth")
            elif not self.rate * self.problem.constants.smoothness <= 2:
                reasons.append(
                    f"the rate {self.rate:g} is above 2/beta = {2 / self.problem.constants.smoothness:g}"
                )
        return tuple(reasons)

    @property
    def largest_mu(self) -> float:
        """Sensitivity over noise of one step: sup ||grad f(w, x) - grad f(w, x')|| / sigma, at most 2 L / sigma.

        The supremum is over points and pairs of records with norm at most 1. Dimensionless.
        """
        if self.noise_stddev == 0:
            return math.inf
        return self.problem.constants.gradient_sensitivity / self.noise_stddev

    @property
    def contraction(self) -> float:
        """Lipschitz constant of a gradient step: max(|1 - eta m|, |1 - eta beta|); <= 1 for eta <= 2/beta.

        fmtt18, Proposition 18, with the strong convexity m that the loss may have.
        """
        return self._contraction(self.problem.constants.strong_convexity, self.problem.constants.smoothness)

    def _contraction(self, strong_convexity: float, smoothness: float) -> float:
        ends = abs(1 - self.rate * strong_convexity), abs(1 - self.rate * smoothness)
        # eta = 2/beta may round to a hair above 1
        return max(ends) if max(ends) > 1 + 1e-12 else min(1.0, max(ends))

    @abstractmethod
    def gradient_query_count(self, n: int) -> int:
        """The largest number of gradients that a run asks for."""

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """One gradient and one projection a step."""
        count, exact = self.gradient_query_count(n), not self.stops_early
        return tuple(
            StatedQueries(
                oracle,
                count,
                exact=exact,
                sources=self.statements[:1],
                formula=self.steps_words,
                origin=AsPrinted(self.id, f"{self.steps_words} = {count}: one gradient per step", "every n"),
            )
            for oracle in ORACLES
        )

    @abstractmethod
    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The theorem's RDP of the record at an index from 1; None if it states none."""

    def theorem_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The theorem's guarantee for the record at an index from 1, corrected; None if there is none."""
        return self.rdp_at(n, index)

    def _states(
        self,
        guarantee: Guarantee,
        *sources: str,
        index: int | None = None,
        local: bool = False,
        origin: AsPrinted | Corrected | None = None,
    ) -> StatedGuarantee:
        """A guarantee of the record at an index from 1, or of all records, under the problem's conditions."""
        return StatedGuarantee(
            guarantee,
            Adjacency.REPLACE_ONE if index is None else Adjacency.INDEX,
            index,
            local,
            sources,
            self.problem.conditions,
            origin=origin,
        )

    def _guarantees(self, theorem: str, profile: Guarantee, printed: StatedGuarantee | None) -> Guarantees:
        """What holds for all records by a theorem, or by Lemma 27 if only that is claimed, and the local one."""
        source = "fmtt18.lem27" if self.claim == "local" else theorem
        return Guarantees(self._states(profile, source), as_printed=printed, local=self._local())

    def _local(self) -> StatedGuarantee:
        """Lemma 27: what a record's noisy gradient gives away by itself."""
        return self._states(GDP(self.largest_mu), "fmtt18.lem27", local=True)

    def _faded(self, n: int, index: int, theorem: str) -> StatedGuarantee | None:
        """Theorems 23 and 24: the noise of n - t + 1 steps hides the record at index t."""
        n, index = self._at(n, index)
        if self._withdrawn or self.claim == "local":
            return None
        slope = 2 * self.problem.constants.lipschitz_constant**2 / (self.noise_stddev**2 * (n + 1 - index))
        printed = f"2 L^2 / (sigma^2 (n + 1 - t)) order = {slope:.4g} order"
        origin = self._origin(theorem, printed, "every order > 1, eta <= 2/beta")
        return self._states(
            RDP.linear(self.largest_mu**2 / 2 / (n + 1 - index)), theorem, index=index, origin=origin
        )

    def _origin(self, theorem: str, printed: str, holds_for: str, because: str = "") -> AsPrinted | Corrected:
        """Of what a theorem prints for gradients 2 L apart, where these losses' may be nearer."""
        constants = self.problem.constants
        if constants.gradient_sensitivity < 2 * constants.lipschitz_constant * (1 - 1e-12):
            apart = (
                "in place of 2 L, the proof needs only the largest distance of two gradients, "
                f"{constants.gradient_sensitivity:g} here"
            )
            because = f"{because}; {apart}" if because else apart
        if not because:
            return AsPrinted(theorem, printed, holds_for)
        return Corrected(theorem, printed, because, holds_for)

    def _printed(self, n: int) -> StatedGuarantee | None:
        """The theorem's RDP at the last index, where it is worst; None if it is stated at no index."""
        stated = self.rdp_at(n, n)
        return None if stated is None else self._states(stated.guarantee, *stated.sources)

    def _iteration(self, n: int, index: int, passes: int = 1) -> NoisyIteration:
        """The iteration of v_1, v_2, ... over n records, on neighbors that differ at an index from 1."""
        return per_index(
            n,
            index,
            shift=self.rate * self.problem.constants.gradient_sensitivity,
            noise_stddev=self.rate * self.noise_stddev,
            passes=passes,
            contraction=self.contraction,
        )

    def _at(self, n: int, index: int) -> tuple[int, int]:
        n = whole_number("n", n, at_least=1)
        return n, whole_number("index", index, at_least=1, at_most=n)

    def _begin(self, data: Dataset, rng: Randomness, runs: int) -> tuple[Iterates, Array, Array]:
        data = admitted(self, data)
        features, labels = records(data, self.problem, rng.xp)
        assert self.start is not None
        return Iterates(self.problem, rng.xp.asarray(self.start), runs, rng), features, labels

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The steps, one a record; None without noise."""
        if self.noise_stddev == 0:
            return None
        data = admitted(self, data)
        features, labels = records(data, self.problem, np)
        steps = tuple(self._stated(x, y) for x, y in zip(features, labels, strict=True))
        assert self.start is not None
        skipped, stopped = self._extent(data.n)
        return StatedStructure(
            self.start, steps * self.passes(data.n), self.problem.constraint, skipped, stopped
        )

    def _stated(self, x: Array, y: Array) -> StatedStep:
        def move(states: Array, _: np.random.Generator) -> Array:
            return states - self.rate * self.problem.loss.gradient(states, x, y)

        constant = self._contraction(*curvatures(self.problem.loss, x, y))
        return StatedStep(move, self.rate * self.noise_stddev, constant)

    def passes(self, n: int) -> int:
        """How often a run goes over n records."""
        return 1

    def _extent(self, n: int) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
        """Probabilities of leaving out the first steps, and of ending after a step; None: neither."""
        return None, None

    def _step(self, iterates: Iterates, x: Array, y: Array, active: int) -> None:
        iterates.step(x, y, rate=self.rate, noise_stddev=self.noise_stddev, active=active)

    def _pass(self, iterates: Iterates, features: Array, labels: Array) -> None:
        """One step on each record."""
        n = features.shape[0]
        iterates.walk(
            features, labels, np.arange(n), rates=np.full(n, self.rate), noise_stddev=self.noise_stddev
        )


@dataclass(frozen=True)
class EveryStep(NoisySGD):
    """Noisy SGD of which every run takes every step."""

    def gradient_query_count(self, n: int) -> int:
        """One a step, in every run: n times the number of passes."""
        return whole_number("n", n, at_least=1) * self.passes(n)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        iterates, features, labels = self._begin(data, rng, runs)
        for _ in range(self.passes(data.n)):
            self._pass(iterates, features, labels)
        return iterates.output()

    def noisy_iteration(self, n: int, index: int) -> NoisyIteration:
        """The iteration as the accountant sees it, for neighbors that differ at an index from 1.

        Raises:
            NotGuaranteedError: if the claim was withdrawn.
        """
        n, index = self._at(n, index)
        refuse_or_withdraw(self.id, self._withdrawn, False)
        return self._iteration(n, index, self.passes(n))


def theorem_parameters(
    problem: Problem, n: int, epsilon: float, delta: float, factor: float
) -> tuple[float, float]:
    """Rate and noise of Theorems 29 and 30, which differ in a factor of the rate."""
    whole_number("n", n, at_least=1)
    check_bounded(problem)
    radius, lipschitz = problem.constraint.largest_norm, problem.constants.lipschitz_constant
    stddev = 2 * lipschitz * gaussian_noise_multiplier(epsilon, delta)
    rate = factor * radius / math.sqrt(n * (lipschitz**2 + problem.constraint.dimension * stddev**2))
    return rate, stddev
