"""Several learning tasks on one data set, for the noise of one (fmtt18, Section 5.4).

Each task is solved by Stop-PNSGD with randomness of its own; the points of all tasks are released together. A
record is worst off in every task at once, so the Renyi divergences of the tasks add up; but random stopping makes
each of them about ln(n)/n times that of a single step, so that about n tasks cost what one costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

from dpverify.algorithms.conditions import a_dataset, covered, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, promised, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import step_queries, stop_risk
from dpverify.algorithms.fmtt18.projected_noisy_sgd import StopPNSGD
from dpverify.algorithms.promises import StatedQueries, StatedRisk, reasons
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import number, of_kind, require, whole_number
from dpverify.privacy import GDP, RDP, Adjacency, Condition, StatedGuarantee
from dpverify.privacy.mixtures import harmonic
from dpverify.problems import ConstraintSet, Dataset, Loss, Problem
from dpverify.problems.losses import check_not_flat
from dpverify.running import Output, Randomness

_SOURCES = ("fmtt18.thm32", "fmtt18.lem25", "fmtt18.lem15")


@dataclass(frozen=True)
class SummedCurve:
    """Renyi divergences (nats) of independent releases from the same two data sets, which add up.

    There is a curve for each different release, and a count of how often it is made.
    """

    curves: tuple[Any, ...]
    counts: tuple[int, ...]

    def __call__(self, order: float) -> float:
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
    stated for. The printed risk holds with it nevertheless (see `iterate_risk`): from the set's middle the bound there
    is 2.125 R G / sqrt(n) and 2 R G / n^(3/2).

    Assumptions: convex, L-Lipschitz, beta-smooth losses for records in the unit ball; eta <= 2 / beta; the
    randomness of the tasks is independent.

    Attributes:
        losses: one for each task, on the same records and the same set.
        constraint: the set that every task is solved on.
        rate: step size eta, length^2 over loss.
        noise_stddev: sigma, of each coordinate of the noise added to a gradient, loss over length.
        start: w_0 in the set, d numbers; the set's center if None.
        withdraw_guarantee: run even if the claim does not hold; `withdrawn` then says why.
    """

    losses: Sequence[Loss]
    constraint: ConstraintSet
    rate: float
    noise_stddev: float
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    id = "fmtt18.multitask"
    statements = (
        "fmtt18.thm32",
        "fmtt18.thm26",
        "fmtt18.lem15",
        "fmtt18.lem14",
        "fmtt18.thm28",
        "fmtt18.lem27",
    )
    unstated = reasons("fmtt18.multitask")

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
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

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
        n = whole_number("n", n)
        number("epsilon", epsilon, above=0, below=1, allowed="a number in (0, 1)")
        number("delta", delta, above=0, below=0.5, allowed="a number in (0, 1/2)")
        require(noise in ("corrected", "smallest"), "noise", noise, '"corrected" or "smallest"')
        of_kind("constraint", constraint, ConstraintSet, "a dpverify.problems.ConstraintSet")
        size, lipschitz = _size_and_norm(losses, constraint, 0.0)
        allowed = "losses with finite Lipschitz constants on a bounded constraint set"
        require(math.isfinite(size) and math.isfinite(lipschitz), "losses", losses, allowed)
        stddev = lipschitz * theorem_noise_multiplier(len(losses), n=n, epsilon=epsilon, delta=delta)
        if noise == "smallest":
            low, high = 0.0, stddev
            while high - low > 1e-6 * high:
                middle = (low + high) / 2
                rate = _theorem_rate(n, *_size_and_norm(losses, constraint, middle))
                trial = cls(losses, constraint, rate, middle, withdraw_guarantee=True)
                enough = trial._total_renyi(n).epsilon_at(delta) <= epsilon
                low, high = (low, middle) if enough else (middle, high)
            stddev = high
        return cls(losses, constraint, _theorem_rate(n, *_size_and_norm(losses, constraint, stddev)), stddev)

    @staticmethod
    def free_tasks(n: int, delta: float) -> int:
        """How many tasks Theorem 32 solves with the noise of one: the largest k with k H_n <= n ln(1/delta)."""
        n = whole_number("n", n)
        number("delta", delta, above=0, below=0.5, allowed="a number in (0, 1/2)")
        return max(1, math.floor(n * math.log(1 / delta) / harmonic(n)))

    @cached_property
    def tasks(self) -> tuple[StopPNSGD, ...]:
        """The algorithm of each task by itself; the claim of all together is made here."""
        stated, made = (self.rate, self.noise_stddev, self.start), dict[int, StopPNSGD]()
        for loss in self.losses:
            if id(loss) not in made:  # many tasks may have one loss
                problem = Problem(loss, self.constraint)
                made[id(loss)] = StopPNSGD(problem, *stated, withdraw_guarantee=True)
        return tuple(made[id(loss)] for loss in self.losses)

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        """What the tasks' problems take on trust."""
        return tuple(dict.fromkeys(one for task in self.tasks for one in task.problem.conditions))

    def _voids(self, n: int) -> tuple[str, ...]:
        return tuple(
            f"task {place}: {reason}" for place, task in enumerate(self.tasks, 1) for reason in task.voids
        )

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """At most k n gradients, k (n + 1) / 2 in expectation, and as many projections."""
        k, n = len(self.losses), whole_number("n", n)
        said = "at most k n for k tasks"
        return step_queries(k * n, said=said, source="fmtt18.stop", id_=self.id, mean=k * (n + 1) / 2)

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
        refuse_or_withdraw(self.id, self.withdrawn(n), False)
        return self._total_renyi(n, index)

    def _total_renyi(self, n: int, index: int = 1) -> RDP:
        n = whole_number("n", n)
        index = whole_number("index", index, at_most=n)
        curves, counts = zip(
            *((task._mixture(n, index).renyi, count) for task, count in self._different_tasks), strict=True
        )
        label = f"the sum of {len(self.losses)} mixtures' Renyi divergences"
        return RDP(SummedCurve(curves, counts), label=label)

    @cached_property
    def _different_tasks(self) -> tuple[tuple[StopPNSGD, int], ...]:
        """One task of each gradient sensitivity, and how many there are: these have the same divergences."""
        groups: dict[float, list[StopPNSGD]] = {}
        for task in self.tasks:
            groups.setdefault(task.largest_mu, []).append(task)
        return tuple((group[0], len(group)) for group in groups.values())

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """RDP of all tasks together at one index from 1; None if the claim was withdrawn."""
        n = whole_number("n", n)
        index = whole_number("index", index, at_most=n)
        if self.withdrawn(1):
            return None
        curve = self.total_renyi(n, index)
        return StatedGuarantee(curve, Adjacency.INDEX, index, sources=_SOURCES, conditions=self._conditions)

    def _guaranteed(self, n: int) -> Guarantees:
        """RDP of all tasks together at the worst index, the corrected theorem's RDP, and the local guarantee."""
        printed = [
            (stated.guarantee.curve, count)
            for task, count in self._different_tasks
            for stated in replace(task, withdraw_guarantee=False).guarantees(n)
            if isinstance(stated.guarantee, RDP)
        ]
        curves = SummedCurve(*zip(*printed, strict=True)) if printed else SummedCurve((), ())
        theorem = RDP(curves, label=f"(order, {curves(1.0):.4g}*order)-RDP at small orders")
        alone = GDP(math.hypot(*(task.largest_mu for task in self.tasks)))
        conditions = self._conditions
        local = replace_one(alone, "fmtt18.lem27", "fmtt18.lem15", conditions=conditions)
        return Guarantees(
            promised("fmtt18.multitask/privacy", self.total_renyi(n), conditions=conditions),
            as_printed=replace_one(theorem, "fmtt18.thm32", conditions=conditions),
            local=replace(local, local=True),
        )

    def risk_bound(self, n: int) -> StatedRisk | None:
        """What is proved of each task's excess population risk at its rate (see `iterate_risk`).

        Beside it, at Theorem 32's rate, its 4 R G / sqrt(n), G = sqrt(L^2 + d sigma^2). None on an unbounded set.
        """
        n = whole_number("n", n)
        size, norm = _size_and_norm(self.losses, self.constraint, self.noise_stddev)
        best, printed = _theorem_rate(n, size, norm), 4 * size * norm / math.sqrt(n)
        found = []
        for task in self.tasks:
            stated = stop_risk(
                task.problem, n, self.rate, self.noise_stddev,
                best=best, printed=printed, source="fmtt18.thm32", start=self.start,
            )  # fmt: skip
            if stated is None:
                return None
            found.append(stated)
        worst = max(found, key=lambda stated: stated.bound)
        formula = worst.formula if worst.origin else ""
        return replace(worst, conditions=f"for each task; {worst.conditions}", formula=formula)


def _size_and_norm(losses: Sequence[Loss], constraint: ConstraintSet, sigma: float) -> tuple[float, float]:
    """R and G = sqrt(L^2 + d sigma^2), L the largest of the losses' Lipschitz constants."""
    lipschitz = max(loss.lipschitz_constant for loss in losses)
    return constraint.largest_norm, math.hypot(lipschitz, math.sqrt(constraint.dimension) * sigma)


def _theorem_rate(n: int, size: float, norm: float) -> float:
    return 4 * size / (math.sqrt(n) * norm)


def theorem_noise_multiplier(tasks: int, *, n: int, epsilon: float, delta: float) -> float:
    """Noise over L in Theorem 32: 4 sqrt(q ln(1/delta)) / epsilon, q = max(2 k H_n / n, 2 ln(1/delta))."""
    logarithm = math.log(1 / delta)
    return 4 * math.sqrt(max(2 * tasks * harmonic(n) / n, 2 * logarithm) * logarithm) / epsilon


def _checked_losses(losses: Sequence[Loss]) -> tuple[Loss, ...]:
    listed = isinstance(losses, Sequence) and losses
    different = {id(loss): loss for loss in losses}.values() if listed else ()
    allowed = "at least one loss, each with the members of dpverify.problems.Loss"
    require(listed and all(isinstance(loss, Loss) for loss in different), "losses", losses, allowed)
    for loss in different:
        check_not_flat("losses", losses, loss)
    return tuple(losses)
