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
from typing import ClassVar, Literal, Self

import numpy as np

from dpverify.algorithms.conditions import admitted, normalized_start, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import check_bounded, step_queries
from dpverify.algorithms.on_device import DeviceIterates
from dpverify.algorithms.parameters import NotNegative, Positive
from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.steps.projected_steps import Iterates, begin, records
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import GDP, RDP, Adjacency, Guarantee, StatedGuarantee
from dpverify.privacy.iteration import NoisyIteration, per_index
from dpverify.privacy.mixtures import gaussian_noise_multiplier
from dpverify.problems import Dataset, Problem
from dpverify.problems.losses import curvatures
from dpverify.running import Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array


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
        withdraw_guarantee: run even if the claim does not hold; `withdrawn` then says why.
    """

    problem: Problem
    rate: Positive
    noise_stddev: NotNegative
    start: Sequence[float] | None = None
    claim: Literal["per-index", "local"] = "per-index"
    withdraw_guarantee: bool = False

    statements: ClassVar[tuple[str, ...]]
    theorem: ClassVar[str]
    """The statement of its privacy."""
    stops_early: ClassVar[bool] = False
    """Whether a run may take fewer steps than there are records."""
    steps_words: ClassVar[str] = "at most n"
    """How many steps it takes."""

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 0.5, 1.0),
            "asked": lambda: cls.for_privacy(at.curved, n=at.n, epsilon=at.epsilon, delta=at.delta),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

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

    def _voids(self, n: int) -> tuple[str, ...]:
        return self.voids

    @property
    def voids(self) -> tuple[str, ...]:
        """Which parameters void the claim, whether it was withdrawn or not."""
        constants, reasons = self.problem.constants, []
        if not self.noise_stddev > 0:
            reasons.append("the noise is zero")
        elif self.largest_mu * self.largest_mu == math.inf:
            reasons.append("the noise is so small that what it proves exceeds the floats")
        if not math.isfinite(constants.gradient_sensitivity):
            reasons.append("the loss has no finite Lipschitz constant on this constraint set")
        if self.claim == "per-index":
            if not math.isfinite(constants.smoothness):
                reasons.append("the loss is not smooth")
            elif not self.rate * constants.smoothness <= 2:
                reasons.append(f"the rate {self.rate:g} is above 2/beta = {2 / constants.smoothness:g}")
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
        largest = max(abs(1 - self.rate * strong_convexity), abs(1 - self.rate * smoothness))
        # eta = 2/beta may round to a hair above 1
        return largest if largest > 1 + 1e-12 else min(1.0, largest)

    def passes(self, n: int) -> int:
        """How often a run goes over n records."""
        return 1

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """One gradient and one projection a step."""
        return step_queries(
            whole_number("n", n) * self.passes(n),
            said=self.steps_words,
            source=self.statements[0],
            id_=self.id,
            exact=not self.stops_early,
        )

    def _guaranteed(self, n: int) -> Guarantees:
        """The guarantee at the worst index, the theorem's as printed or corrected, and the local one."""
        source = "fmtt18.lem27" if self.claim == "local" else self.theorem
        worst = self._states(self._at_worst(n), source)
        return Guarantees(worst, as_printed=self._printed(n), local=self._local())

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The sharpest guarantee of the record at an index from 1; None if the claim was withdrawn."""
        n, index = self._at(n, index)
        return None if self.withdrawn(1) else self._sharpest_at(n, index)

    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The theorem's RDP of the record at an index from 1; None if it states none or the claim was withdrawn."""
        n, index = self._at(n, index)
        return None if self.withdrawn(1) else self._rdp_at(n, index)

    def theorem_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The theorem's guarantee for the record at an index from 1, corrected; None if there is none."""
        return self.rdp_at(n, index)

    def _at_worst(self, n: int) -> Guarantee:
        """At the worst index, which is the last one unless a run may stop."""
        return GDP(self.largest_mu)

    @abstractmethod
    def _sharpest_at(self, n: int, index: int) -> StatedGuarantee:
        """What is known of the record at an index."""

    def _rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorems 23 and 24: the noise of n - t + 1 steps hides the record at index t."""
        if self.claim == "local":
            return None
        slope = 2 * (self.problem.constants.lipschitz_constant / self.noise_stddev) ** 2 / (n + 1 - index)
        printed = f"2 L^2 / (sigma^2 (n + 1 - t)) order = {slope:.4g} order"
        origin = self._origin(printed, "every order > 1, eta <= 2/beta")
        curve = RDP.linear(self.largest_mu**2 / 2 / (n + 1 - index))
        return self._states(curve, self.theorem, index=index, origin=origin)

    def _printed(self, n: int) -> StatedGuarantee | None:
        """The theorem's RDP at the last index, where it is worst; None if it is stated at no index."""
        stated = self.rdp_at(n, n)
        return None if stated is None else self._states(stated.guarantee, *stated.sources)

    def _local(self) -> StatedGuarantee | None:
        """Lemma 27: what a record's noisy gradient gives away by itself."""
        return self._states(GDP(self.largest_mu), "fmtt18.lem27", local=True)

    def _states(
        self,
        guarantee: Guarantee,
        *sources: str,
        index: int | None = None,
        local: bool = False,
        origin: AsPrinted | Corrected | None = None,
    ) -> StatedGuarantee:
        """A guarantee of the record at an index from 1, or of all records, under the problem's conditions."""
        adjacency = Adjacency.REPLACE_ONE if index is None else Adjacency.INDEX
        conditions = self.problem.conditions
        return StatedGuarantee(guarantee, adjacency, index, local, sources, conditions, origin=origin)

    def _origin(self, printed: str, holds_for: str, because: str = "") -> AsPrinted | Corrected:
        """Of what the theorem prints for gradients 2 L apart, where these losses' may be nearer."""
        constants = self.problem.constants
        if constants.gradient_sensitivity < 2 * constants.lipschitz_constant * (1 - 1e-12):
            apart = (
                "in place of 2 L, the proof needs only the largest distance of two gradients, "
                f"{constants.gradient_sensitivity:g} here"
            )
            because = f"{because}; {apart}" if because else apart
        if not because:
            return AsPrinted(self.theorem, printed, holds_for)
        return Corrected(self.theorem, printed, because, holds_for)

    def _iteration(
        self, n: int, index: int, passes: int | None = None, initial_distance: float = 0.0
    ) -> NoisyIteration:
        """The iteration of v_1, v_2, ... over n records, on neighbors that differ at an index from 1."""
        return per_index(
            n,
            index,
            shift=self.rate * self.problem.constants.gradient_sensitivity,
            noise_stddev=self.rate * self.noise_stddev,
            passes=self.passes(n) if passes is None else passes,
            contraction=self.contraction,
            initial_distance=initial_distance,
        )

    def _at(self, n: int, index: int) -> tuple[int, int]:
        n = whole_number("n", n)
        return n, whole_number("index", index, at_most=n)

    def _begin(
        self, data: Dataset, rng: Randomness, runs: int
    ) -> tuple[Iterates | DeviceIterates, Array, Array]:
        data = admitted(self, data)
        features, labels = records(data, self.problem, rng.xp)
        assert self.start is not None
        return begin(self.problem, rng.xp.asarray(self.start), runs, rng), features, labels

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The steps, one a record; None without noise."""
        if self.noise_stddev == 0:
            return None
        data = admitted(self, data)
        features, labels = records(data, self.problem, np)
        steps = tuple(self._stated(x, y) for x, y in zip(features, labels, strict=True))
        assert self.start is not None
        constraint = self.problem.constraint
        return StatedStructure(self.start, steps * self.passes(data.n), constraint, *self._extent(data.n))

    def _stated(self, x: Array, y: Array) -> StatedStep:
        def move(states: Array, _: np.random.Generator) -> Array:
            return states - self.rate * self.problem.loss.gradient(states, x, y)

        constant = self._contraction(*curvatures(self.problem.loss, x, y))
        return StatedStep(move, self.rate * self.noise_stddev, constant)

    def _extent(self, n: int) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
        """Probabilities of leaving out the first steps, and of ending after a step; None: neither."""
        return None, None


def theorem_parameters(
    problem: Problem, n: int, epsilon: float, delta: float, factor: float
) -> tuple[float, float]:
    """Rate and noise of Theorems 29 and 30, which differ in a factor of the rate."""
    whole_number("n", n)
    check_bounded(problem)
    radius, lipschitz = problem.constraint.largest_norm, problem.constants.lipschitz_constant
    stddev = 2 * lipschitz * gaussian_noise_multiplier(epsilon, delta)
    rate = factor * radius / math.sqrt(n * (lipschitz**2 + problem.constraint.dimension * stddev**2))
    return rate, stddev
