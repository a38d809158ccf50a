"""Several learning tasks on one data set, for the noise of one (fmtt18, Section 5.4).

Each task is solved by Stop-PNSGD with randomness of its own; the points of all tasks are released together. A
record is worst off in every task at once, so the Renyi divergences of the tasks add up; but random stopping makes
each of them about ln(n)/n times that of a single step, so that about n tasks cost what one costs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from dpverify.algorithms.conditions import a_dataset, covered, given_up, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import most_and_mean, random_iterate_risk
from dpverify.algorithms.fmtt18.projected_noisy_sgd import StopPNSGD
from dpverify.algorithms.promises import SEARCHED_NOISE, StatedQueries, StatedRisk
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import number, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import Corrected
from dpverify.privacy import GDP, RDP, Adjacency, Condition, StatedGuarantee
from dpverify.privacy.mixtures import harmonic
from dpverify.problems import ConstraintSet, Dataset, Loss, Problem
from dpverify.problems.losses import check_not_flat
from dpverify.running import Output, Randomness

_RISK = Corrected(
    "fmtt18.thm32",
    "4 R L / sqrt(n) * sqrt(1 + 16 d q ln(1/delta) / epsilon^2) with q = max(2 k ln(n) / n, 2 ln(1/delta))",
    "q has the harmonic number H_n in place of ln n",
    "epsilon in (0, 1), delta in (0, 1/2), independent records",
)
_TOLERANCE = 1e-12
"""Relative: how close to the theorem's rate a rate must be to have the theorem's risk."""


@dataclass(frozen=True)
class SummedCurve:
    """Renyi divergences (nats) of independent releases from the same two data sets, which add up.

    Attributes:
        curves: one for each different release.
        counts: how often each is made.
    """

    curves: tuple[Any, ...]
    counts: tuple[int, ...]

    def __call__(self, order: float) -> float:
        """The sum at an order of at least 1."""
        pairs = zip(self.curves, self.counts, strict=True)
        return math.fsum(count * float(curve(order)) for curve, count in pairs)


@dataclass(frozen=True)
class MultitaskStopPNSGD(Weakenable):
    """fmtt18, Section 5.4 and Theorem 32: k tasks by Stop-PNSGD, their k points released together.

    Guarantee (replace-one, both directions): the sum of the tasks' Renyi divergences. Each is that of Theorem 26,
    whose printed ln n must be the harmonic number H_n (see `StopPNSGD`): together (order, 4 k L^2 order H_n / (n
    sigma^2))-RDP for orders with sigma >= L sqrt(2 order (order - 1)). Stated before it, for all orders, is the
    sum of the mixtures' own divergences, which is smaller. Locally, k releases of a record's noisy gradient.

    The noise of Theorem 32, sigma = 4 L sqrt(q ln(1/delta)) / epsilon, is printed with q = max(2 k ln(n) / n, 2
    ln(1/delta)). With ln n that proves nothing for few records and many tasks (at n = 1 it does not grow with k
    at all); with H_n in its place the printed proof holds line by line, and that is what `for_privacy` does. The
    second term of q is the larger one for k <= n ln(1/delta) / H_n: so many tasks cost no noise at all
    (`free_tasks`).

    Theorem 32 prints eta = 4 R / sqrt(n (L^2 + d sigma^2)), twice what Theorem 28, to which its proof refers, is
    stated for. The printed risk holds with it nevertheless (see `iterate_risk`): the bound there is 2.5 R G /
    sqrt(n) + 2 R L / n.

    Assumptions: convex, L-Lipschitz, beta-smooth losses for records in the unit ball; eta <= 2 / beta; the
    randomness of the tasks is independent.

    Attributes:
        losses: one for each task, on the same records and the same set.
        constraint: the set that every task is solved on.
        rate: step size eta, length^2 over loss.
        noise_stddev: sigma, of each coordinate of the noise added to a gradient, loss over length.
        start: w_0 in the set, d numbers; the set's center if None.
        withdraw_guarantee: run even if the claim does not hold; there are then no guarantees, and `withdrawn`
            says why.
    """

    losses: Sequence[Loss]
    constraint: ConstraintSet
    rate: float
    noise_stddev: float
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    id: ClassVar[str] = "fmtt18.multitask"
    statements: ClassVar[tuple[str, ...]] = (
        "fmtt18.thm32",
        "fmtt18.thm26",
        "fmtt18.lem15",
        "fmtt18.lem14",
        "fmtt18.thm28",
        "fmtt18.lem27",
    )
    unstated: ClassVar[Mapping[str, str]] = {"parameters": SEARCHED_NOISE}

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        asked: dict[str, Any] = {"n": at.n, "epsilon": at.epsilon, "delta": at.delta}
        return {
            "": lambda: cls((at.mean.loss,), at.mean.constraint, 0.5, 1.0),
            "asked": lambda: cls.for_privacy((at.curved.loss,), at.curved.constraint, **asked),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "losses", _checked_losses(self.losses))
        object.__setattr__(self, "start", self.tasks[0].start)
        refuse_or_withdraw(self.id, self._withdrawn, self.withdraw_guarantee)

    @classmethod
    def for_privacy(
        cls,
        losses: Sequence[Loss],
        constraint: ConstraintSet,
        *,
        n: int,
        epsilon: float,
        delta: float,
        noise: Literal["corrected", "smallest"] = "corrected",
    ) -> Self:
        """Noise and rate of Theorem 32 for (epsilon, delta)-DP of all tasks together.

        Args:
            losses: one for each task; L is the largest of their Lipschitz constants.
            constraint: a bounded set; R is its largest norm.
            n: records.
            epsilon: nats, in (0, 1), where the theorem is stated.
            delta: in (0, 1/2), likewise.
            noise: `corrected` is the theorem's with H_n for ln n, `smallest` what the accountant proves to be
                enough (Renyi curves of the mixtures).

        Raises:
            InvalidArgumentError: if an argument is out of range.
            NotGuaranteedError: if eta is above 2 / beta for some task.
        """
        losses = _checked_losses(losses)
        n = whole_number("n", n, at_least=1)
        number("epsilon", epsilon, above=0, below=1, allowed="a number in (0, 1)")
        number("delta", delta, above=0, below=0.5, allowed="a number in (0, 1/2)")
        if noise not in ("corrected", "smallest"):
            raise InvalidArgumentError("noise", noise, '"corrected" or "smallest"')
        if not isinstance(constraint, ConstraintSet):
            raise InvalidArgumentError("constraint", constraint, "a dpverify.problems.ConstraintSet")
        size, lipschitz = constraint.largest_norm, max(loss.lipschitz_constant for loss in losses)
        if not (math.isfinite(size) and math.isfinite(lipschitz)):
            raise InvalidArgumentError(
                "losses", losses, "losses with finite Lipschitz constants on a bounded constraint set"
            )
        stddev = lipschitz * theorem_noise_multiplier(len(losses), n=n, epsilon=epsilon, delta=delta)

        def rate(sigma: float) -> float:
            norm = math.hypot(lipschitz, math.sqrt(constraint.dimension) * sigma)
            return 4 * size / (math.sqrt(n) * norm)

        if noise == "smallest":
            low, high = 0.0, stddev
            while high - low > 1e-6 * high:
                middle = (low + high) / 2
                trial = cls(losses, constraint, rate(middle), middle, withdraw_guarantee=True)
                enough = trial._total_renyi(n).epsilon_at(delta) <= epsilon
                low, high = (low, middle) if enough else (middle, high)
            stddev = high
        return cls(losses, constraint, rate(stddev), stddev)

    @staticmethod
    def free_tasks(n: int, delta: float) -> int:
        """How many tasks Theorem 32 solves with the noise of one: the largest k with k H_n <= n ln(1/delta)."""
        n = whole_number("n", n, at_least=1)
        number("delta", delta, above=0, below=0.5, allowed="a number in (0, 1/2)")
        return max(1, math.floor(n * math.log(1 / delta) / harmonic(n)))

    @cached_property
    def tasks(self) -> tuple[StopPNSGD, ...]:
        """The algorithm of each task by itself; the claim of all together is made here."""
        return tuple(
            StopPNSGD(
                Problem(loss, self.constraint),
                self.rate,
                self.noise_stddev,
                self.start,
                withdraw_guarantee=True,
            )
            for loss in self.losses
        )

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        """What the tasks' problems take on trust."""
        return tuple(dict.fromkeys(one for task in self.tasks for one in task.problem.conditions))

    @property
    def _withdrawn(self) -> tuple[str, ...]:
        reasons = (
            f"task {place}: {reason}" for place, task in enumerate(self.tasks, 1) for reason in task.voids
        )
        return (*reasons, *given_up(self.withdraw_guarantee))

    def gradient_query_count(self, n: int) -> int:
        """At most k n in a run."""
        return len(self.losses) * whole_number("n", n, at_least=1)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """At most k n gradients, k (n + 1) / 2 in expectation, and as many projections."""
        k, n = len(self.losses), whole_number("n", n, at_least=1)
        words = "at most k n for k tasks"
        return most_and_mean(k * n, k * (n + 1) / 2, words=words, source="fmtt18.stop", id_=self.id)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run all tasks, one after another, on a data set of n records; points have shape (runs, k, d)."""
        data = a_dataset(data)
        for task in () if self.withdraw_guarantee else self.tasks:
            data = covered(data, task.problem)
        parts = [task(data, rng=rng, runs=runs) for task in self.tasks]
        return Output(
            rng.xp.stack([part.points for part in parts], axis=1),
            gradient_queries=sum(part.gradient_queries for part in parts),
            projections=sum(part.projections for part in parts),
        )

    def total_renyi(self, n: int, index: int = 1) -> RDP:
        """Sum of the tasks' divergences at an index from 1, for all orders; the first index is the worst.

        Raises:
            NotGuaranteedError: if the claim was withdrawn.
        """
        refuse_or_withdraw(self.id, self._withdrawn, False)
        return self._total_renyi(n, index)

    def _total_renyi(self, n: int, index: int = 1) -> RDP:
        n = whole_number("n", n, at_least=1)
        index = whole_number("index", index, at_least=1, at_most=n)
        curves = tuple(task._mixture(n, index).renyi for task, _ in self._different_tasks)
        return RDP(
            SummedCurve(curves, tuple(count for _, count in self._different_tasks)),
            label=f"the sum of {len(self.losses)} mixtures' Renyi divergences",
        )

    @cached_property
    def _different_tasks(self) -> tuple[tuple[StopPNSGD, int], ...]:
        """One task of each gradient sensitivity, and how many there are: these have the same divergences."""
        groups: dict[float, list[StopPNSGD]] = {}
        for task in self.tasks:
            groups.setdefault(task.largest_mu, []).append(task)
        return tuple((group[0], len(group)) for group in groups.values())

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """RDP of all tasks together at one index from 1; None if the claim was withdrawn."""
        n = whole_number("n", n, at_least=1)
        index = whole_number("index", index, at_least=1, at_most=n)
        if self._withdrawn:
            return None
        sources = ("fmtt18.thm32", "fmtt18.lem25", "fmtt18.lem15")
        return StatedGuarantee(
            self.total_renyi(n, index), Adjacency.INDEX, index, sources=sources, conditions=self._conditions
        )

    def guarantees(self, n: int) -> Guarantees:
        """RDP of all tasks together at the worst index, the corrected theorem's RDP, and the local guarantee."""
        n = whole_number("n", n, at_least=1)
        if self._withdrawn:
            return Guarantees()
        sources = ("fmtt18.thm32", "fmtt18.lem25", "fmtt18.lem15")
        printed = [
            (stated.guarantee.curve, count)
            for task, count in self._different_tasks
            for stated in replace(task, withdraw_guarantee=False).guarantees(n)
            if isinstance(stated.guarantee, RDP)
        ]
        curves = SummedCurve(tuple(curve for curve, _ in printed), tuple(count for _, count in printed))
        label = f"(order, {curves(1.0):.4g}*order)-RDP at small orders"
        mu = math.hypot(*(task.largest_mu for task in self.tasks))
        return Guarantees(
            replace_one(
                self.total_renyi(n),
                *sources,
                conditions=self._conditions,
                origin=Corrected(
                    "fmtt18.thm32",
                    "k tasks: 4 k L^2 ln n / (n sigma^2) order, at orders with sigma >= L sqrt(2 order (order - 1))",
                    "the sum of the mixtures' own Renyi divergences, of which the paper bounds one part; its ln n "
                    "should be H_n",
                    "every order > 1, eta <= 2/beta",
                ),
            ),
            as_printed=replace_one(RDP(curves, label=label), "fmtt18.thm32", conditions=self._conditions),
            local=StatedGuarantee(
                GDP(mu),
                Adjacency.REPLACE_ONE,
                local=True,
                sources=("fmtt18.lem27", "fmtt18.lem15"),
                conditions=self._conditions,
            ),
        )

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem 32's excess population risk, which holds for each task: 4 R G / sqrt(n) at its rate.

        G = sqrt(L^2 + d sigma^2). At other rates, what the proof gives for them. None on an unbounded set.
        """
        n = whole_number("n", n, at_least=1)
        size, lipschitz = self.constraint.largest_norm, max(loss.lipschitz_constant for loss in self.losses)
        if not (math.isfinite(size) and math.isfinite(lipschitz)):
            return None
        norm = math.hypot(lipschitz, math.sqrt(self.constraint.dimension) * self.noise_stddev)
        bound = max(
            random_iterate_risk(task.problem, iterates=n, rate=self.rate, noise_stddev=self.noise_stddev)
            for task in self.tasks
        )
        sources: tuple[str, ...] = ("fmtt18.thm28",)
        if math.isclose(self.rate, 4 * size / (math.sqrt(n) * norm), rel_tol=_TOLERANCE):
            bound, sources = 4 * size * norm / math.sqrt(n), ("fmtt18.thm32", "fmtt18.thm28")
        return StatedRisk(
            bound,
            total=False,
            population=True,
            sources=sources,
            conditions="for each task; the records are independent draws from the population",
            formula="4 R sqrt(L^2 + d sigma^2) / sqrt(n)" if sources[0] == "fmtt18.thm32" else "",
            origin=_RISK if sources[0] == "fmtt18.thm32" else None,
        )


def theorem_noise_multiplier(
    tasks: int, *, n: int, epsilon: float, delta: float, printed: bool = False
) -> float:
    """Noise over L in Theorem 32: 4 sqrt(q ln(1/delta)) / epsilon, q = max(2 k H_n / n, 2 ln(1/delta)).

    With `printed`, ln n stands where the proof needs H_n. Dimensionless.
    """
    logarithm = math.log(1 / delta)
    terms = math.log(n) if printed else harmonic(n)
    return 4 * math.sqrt(max(2 * tasks * terms / n, 2 * logarithm) * logarithm) / epsilon


def _checked_losses(losses: Sequence[Loss]) -> tuple[Loss, ...]:
    allowed = "at least one loss, each with the members of dpverify.problems.Loss"
    if not isinstance(losses, Sequence) or not losses:
        raise InvalidArgumentError("losses", losses, allowed)
    if not all(isinstance(loss, Loss) for loss in losses):
        raise InvalidArgumentError("losses", losses, allowed)
    for loss in losses:
        check_not_flat("losses", losses, loss)
    return tuple(losses)
