"""Population risk from empirical risk (Menart, Nikolov, 2025, Appendix D.1): an SCO solver that calls an ERM solver.

SCO is stochastic convex optimization, ERM empirical risk minimization. Risks are means over the records.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.conditions import admitted, passed_on, promised_to_all, stated_by
from dpverify.algorithms.contract import promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.private_selection import (
    before_amplification,
    estimates,
    relative_scores,
    select,
    selection_penalty,
)
from dpverify.algorithms.mn25.wrapped_solvers import Reduction, check_solver, with_problem
from dpverify.algorithms.parameters import Count, Positive
from dpverify.algorithms.promises import StatedQueries, StatedRisk, reasons, words
from dpverify.algorithms.weakening import BOTH
from dpverify.checks import budget, number, of_kind, require, whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import Guarantee, ProfileDP, PureDP, StatedGuarantee, compose, zCDP
from dpverify.problems import Ball, Dataset, Problem
from dpverify.problems.losses import check_not_flat
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss
from dpverify.running import Output, Randomness
from dpverify.running.foresight import USUAL_CALL
from dpverify.running.randomness import Array

_COUNTERS = ("gradient_queries", "value_queries", "projections", "linear_minimizations")

_STEPS_OF_REGULARIZATION = 80
"""Values of the regularization, sqrt(2) apart, that are tried for the smallest risk bound."""


def _total(kind: Iterable[StatedGuarantee], sizes: _Sizes, epsilon: float) -> Guarantee | None:
    """Adaptive composition of the solver's runs in a phase and epsilon-DP selections; None without a closed form."""
    runs = [stated.guarantee for stated in kind for _ in range(sizes.boosts)]
    if len(runs) + sizes.selections == 1:
        return runs[0]
    # epsilon-DP is also epsilon^2/2-zCDP, which adds up with GDP, zCDP, tCDP and RDP
    for each in (PureDP(epsilon), zCDP(epsilon**2 / 2)):
        with contextlib.suppress(InvalidArgumentError):
            return compose([*runs, *[each] * sizes.selections])
    return None


@dataclass(frozen=True)
class PopulationToEmpirical(Reduction):
    """mn25, Appendix D.1 (Theorem 8): an SCO solver that calls an ERM solver, by boosting and nested balls.

    The records are split into T parts, in their order, one per phase. Phase t minimizes f + sum_{s < t} lambda_s
    ||w - w_s||^2 over its part, lambda_s = 2^{s+1} lambda, starting from the last phase's w_{t-1} (w_0 is the set's
    center), and releases w_t (Theorem 9's recursive regularization). In each phase:

    - the solver runs K times on each of the nested sets {||w - w_{t-1}|| <= 2^-r P}, r = 0, ..., R, P being the
      set's diameter (boosting within each, then a choice between the balls);
    - of the K points of a ball, and then of the balls' points, one is chosen by the exponential mechanism with
      losses estimated on a random minibatch.

    Guarantee (replace-one, both directions): a record is in one phase only, and later phases see no more of it, so
    the guarantee is that of one phase: K (R + 1) runs of the solver and R + 2 selections, composed.

    Assumptions: convex, L-Lipschitz losses; the constraint set is a ball; the solver steps all runs of a batch
    together, says so (see `wrapped_solvers.check_solver`), and gets its privacy from its parameters on every local
    problem (it is asked). Its points are projected onto their ball before they are compared.

    Where this departs from the paper, because the printed form does not hold:

    - the choice between the balls is made with scores relative to each ball's radius (`relative_scores`). With the
      plain exponential mechanism, `selection="printed"`, the error has B L / (n epsilon) and B L / sqrt(n) whatever
      the distance D to the minimizer, and is not O(alpha D), which Theorem 9 needs for D << B;
    - a ball holds the minimizer if r <= log2(P / D), not "r <= log(1/D) / log(2 B)";
    - a loss estimate from b = 1/alpha^2 records is off by alpha sqrt(ln n) with probability 1/n^2, not by
      sqrt(8 ln(n) / n), and its sensitivity is of order 1/b, not 1/n: the selection gets back epsilon by sampling
      without replacement, at epsilon_b = ln(1 + (n/b) (e^epsilon - 1)).

    Attributes:
        solver: ERM algorithm with its problem, the one to be solved; its own problem is replaced by local ones.
        selection_epsilon: of each selection, in nats.
        accuracy: a, such that the solver's expected excess mean risk is at most a G r on every local problem with
            Lipschitz constant G and radius r; dimensionless. None: from the solver's `risk_bound`, if it has one.
        boosts: K; None for ceil(log2 n'), n' = floor(n / T) being the records of a phase.
        balls: R + 1; None for floor(log2(n') / 2) + 1.
        phases: T; None for ceil(log2(n) / 2).
        regularization: lambda, loss over length^2; None for what makes the risk bound smallest.
        minibatch: b, records for a loss estimate; None for ceil(1/a^2), at most n'.
        selection: `relative`, or `printed` (see above).
        withdraw_guarantee: run a solver whose guarantee does not hold on the local problems.
    """

    solver: Any
    selection_epsilon: Positive
    accuracy: Positive | None = None
    boosts: Count | None = None
    balls: Count | None = None
    phases: Count | None = None
    regularization: Positive | None = None
    minibatch: Count | None = None
    selection: Literal["relative", "printed"] = "relative"
    withdraw_guarantee: bool = False

    id = "mn25.sco-to-erm"
    hands_over = "all runs"
    statements = ("mn25.thm8", "mn25.fact1")
    unstated = reasons("mn25.sco-to-erm")
    obstacle = "the solver guarantees nothing to all records on some local problem"

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        asked: dict[str, Any] = {"n": at.n, "epsilon": at.epsilon, "delta": at.delta}
        small: dict[str, Any] = {"phases": 1, "boosts": 2, "balls": 2, "regularization": 0.1, "minibatch": 2}
        return {
            "": lambda: cls.for_privacy(at.line, n=at.n, epsilon=1.0, delta=1e-5, **small),
            "asked": lambda: cls.for_privacy(at.line, **asked),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_solver(self.solver)
        constraint = self.problem.constraint
        of_kind("solver.problem.constraint", constraint, Ball, "a Ball")
        if not math.isfinite(self.problem.constants.lipschitz_constant):
            raise InvalidArgumentError(
                "solver.problem.loss", self.problem.loss, "a Lipschitz loss on the set"
            )
        check_not_flat("solver.problem.loss", self.problem.loss, self.problem.loss)

    @classmethod
    def for_privacy(cls, problem: Problem, *, n: int, epsilon: float, delta: float, **others: Any) -> Self:
        """(epsilon, delta)-DP by basic composition, with bst14's Algorithm 1 inside and equal shares for all.

        Raises:
            InvalidArgumentError: if epsilon, delta or n is out of range.
        """
        budget("epsilon", epsilon)
        number("delta", delta, above=0, below=1, allowed="a number in (0, 1)")
        sizes = _Sizes.of(n, others.get("phases"), others.get("boosts"), others.get("balls"))
        share = epsilon / (sizes.solver_calls + sizes.selections)
        return cls(NoisyGradientDescent(problem, share, delta / sizes.solver_calls), share, **others)

    def sizes(self, n: int) -> _Sizes:
        """How n records are split, and how often the solver is called."""
        return _Sizes.of(n, self.phases, self.boosts, self.balls)

    def batch_size(self, n: int) -> int:
        """b, the records that a loss is estimated on."""
        part = self.sizes(n).part
        if self.minibatch is not None:
            return min(self.minibatch, part)
        return min(part, math.ceil(1 / self.relative_accuracy(n) ** 2))

    def relative_accuracy(self, n: int) -> float:
        """The solver's a in the first phase, regularized by lambda = L / P; see `accuracy`."""
        lipschitz, constraint = self.problem.constants.lipschitz_constant, self.problem.constraint
        usual = lipschitz / constraint.diameter
        steepest = lipschitz + constraint.diameter * self.added_convexity(1, usual)
        return self.solver_error(n, 1, usual) / steepest

    def solver_error(self, n: int, phase: int, regularization: float, printed: bool = False) -> float:
        """The solver's expected excess mean risk in a phase, relative to the radius, on the worst of the balls.

        a G if `accuracy` is a, else what the solver states, or with `printed` what its theorem does; at most 2 G, the
        range of the loss; loss over length. Refused if there is neither.
        """
        lipschitz, constraint = self.problem.constants.lipschitz_constant, self.problem.constraint
        steepest = lipschitz + constraint.diameter * self.added_convexity(phase, regularization)
        if self.accuracy is not None:
            return float(min(self.accuracy, 2.0) * steepest)
        sizes, found = self.sizes(n), 0.0
        for ball in range(sizes.balls):
            local = self._local_solver(phase, ball, regularization)
            stated = local.risk_bound(sizes.part) if hasattr(local, "risk_bound") else None
            if stated is None or stated.population or stated.probability is not None:
                raise NotGuaranteedError(
                    f"{self.id} cannot set its parameters: {type(self.solver).__name__} states no expected excess "
                    "empirical risk. Give `accuracy`, or minibatch and regularization."
                )
            bound = stated.theorem if printed and stated.theorem is not None else stated.bound
            bound /= sizes.part if stated.total else 1
            found = max(found, bound / (constraint.diameter * 2.0**-ball))
        return min(found, 2 * steepest)

    def chosen_regularization(self, n: int) -> float:
        """lambda, loss over length^2."""
        if self.regularization is not None:
            return self.regularization
        if n not in self._chosen:
            unit = self.problem.constants.lipschitz_constant / self.problem.constraint.diameter
            tried = [unit * math.exp2(2 - k / 2) for k in range(_STEPS_OF_REGULARIZATION)]
            self._chosen[n] = min(tried, key=lambda value: self._risk(n, value))
        return self._chosen[n]

    @cached_property
    def _chosen(self) -> dict[int, float]:
        """By n: the search asks the solver for its promises some hundred times."""
        return {}

    def added_convexity(self, phase: int, regularization: float) -> float:
        """Strong convexity of phase t's regularizer: 2 sum_{s < t} 2^{s+1} lambda = 4 lambda (2^t - 1)."""
        return 4 * regularization * (2.0**phase - 1)

    def _local_problem(
        self, phase: int, ball: int, regularization: float, offsets: Array, anchors: Array, middle: Array
    ) -> Problem:
        diameter, convexity = self.problem.constraint.diameter, self.added_convexity(phase, regularization)
        loss = LocalLoss(self.problem.loss, offsets, convexity, anchors, diameter)
        return Problem(loss, LocalBalls(diameter * 2.0**-ball, diameter / 2, offsets - middle))

    def _local_solver(self, phase: int, ball: int, regularization: float) -> Any:
        """The solver of one run at the set's center, to be asked what it promises."""
        middle = self.problem.constraint.center()[None, :]
        local = self._local_problem(phase, ball, regularization, middle, middle, middle)
        return with_problem(self.solver, local)

    def _solver_records(self, n: int) -> int:
        return self.sizes(n).part

    def _solvers(self, n: int) -> Iterable[StatedGuarantee]:
        return self._local_guarantees(n, 1, 0)

    def _local_guarantees(self, n: int, phase: int, ball: int) -> tuple[StatedGuarantee, ...]:
        solver = self._local_solver(phase, ball, self.chosen_regularization(n))
        return tuple(stated_by(solver, self.sizes(n).part))

    def _following(self, n: int) -> Sequence[StatedGuarantee]:
        """One phase's runs and selections, composed, for each kind of guarantee that the solver states."""
        sizes = self.sizes(n)
        phases = []
        for phase in range(1, sizes.phases + 1):
            each = [promised_to_all(self._local_guarantees(n, phase, ball)) for ball in range(sizes.balls)]
            composed = (
                (_total(kind, sizes, self.selection_epsilon), passed_on(*kind))
                for kind in zip(*each, strict=False)
            )
            phases.append([(total, conditions) for total, conditions in composed if total is not None])
        return [
            promised(
                "mn25.sco-to-erm/privacy",
                _weakest([total for total, _ in kind]),
                conditions=tuple(
                    dict.fromkeys(chain(self.problem.conditions, *(conditions for _, conditions in kind)))
                ),
            )
            for kind in zip(*phases, strict=False)
        ]

    def gradient_query_count(self, n: int) -> int:
        """T K (R + 1) times the solver's, in every run."""
        sizes = self.sizes(n)
        return sizes.phases * sizes.solver_calls * int(self.solver.gradient_query_count(sizes.part))

    def value_query_count(self, n: int) -> int:
        """T b times the number of points that are compared, in every run."""
        sizes = self.sizes(n)
        return sizes.phases * sizes.compared * self.batch_size(n)

    @property
    def seconds_a_call(self) -> float:
        """The solver's on its balls."""
        return float(getattr(self._local_solver(1, 0, 1.0), "seconds_a_call", USUAL_CALL))

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Gradients by the solver, losses by the selections."""
        return (
            StatedQueries("gradient", self.gradient_query_count(n), **words("mn25.sco-to-erm/gradients")),
            StatedQueries("value", self.value_query_count(n), **words("mn25.sco-to-erm/values")),
        )

    def risk_bound(self, n: int) -> StatedRisk:
        """Excess population risk for n independent records, in expectation, every constant explicit.

        With E F_S(w_t) - min F_S <= c_1 (2 d_t + P 2^-R) + c_0 for E ||w_{t-1} - argmin F_S|| <= d_t, the strong
        convexity Lambda_t of phase t gives m_t = sqrt(E ||w_t - w_t*||^2) <= sqrt(2 (...) / Lambda_t) + L / (sqrt(n')
        Lambda_t), w_t* being the population's minimizer, d_{t+1} <= m_t + L / (sqrt(n') Lambda_{t+1}), and finally
        E F(w_T) - F(w*) <= L m_T + lambda_0 (P/2)^2 + sum_{0 < t < T} lambda_t m_t^2. `theorem` has what the solver's
        own theorem says of its error in place of what is computed for its steps.
        """
        bound, theorem = (self._risk(n, self.chosen_regularization(n), printed) for printed in (False, True))
        row = words("mn25.sco-to-erm/risk")
        return StatedRisk(bound, total=False, population=True, theorem=theorem, **row)

    def relative_error(
        self, n: int, regularization: float, phase: int, printed: bool = False
    ) -> tuple[float, float]:
        """c_1 and c_0: a phase's expected excess empirical risk is at most c_1 (2 D + P 2^-R) + c_0.

        D is the distance from w_{t-1} to the minimizer. Either the solver's error or that of the selections, per
        radius of the smallest ball with the minimizer; what is left over with a probability below 1/n' is in c_0.
        """
        sizes, batch = self.sizes(n), self.batch_size(n)
        lipschitz, diameter = self.problem.constants.lipschitz_constant, self.problem.constraint.diameter
        change = self.problem.constants.gradient_sensitivity / batch
        epsilon = before_amplification(self.selection_epsilon, batch, sizes.part)
        sampled = lipschitz / math.sqrt(batch) if batch < sizes.part else 0.0
        relative, rest = self.solver_error(n, phase, regularization, printed), 0.0
        if sizes.boosts > 1:
            spread = math.log(sizes.boosts)
            relative += 2 / epsilon * change * spread + sampled * math.sqrt(2 * spread)
        if sizes.balls > 1 and self.selection == "printed":
            spread = math.log(sizes.balls)
            rest += diameter * (2 / epsilon * change * spread + sampled * math.sqrt(2 * spread))
        elif sizes.balls > 1:
            slack = math.log(sizes.part)
            deviations = math.sqrt(2 * (math.log(sizes.balls) + slack))
            relative += sampled * deviations + 2 * selection_penalty(sizes.balls, epsilon, slack) * change
            rest += diameter / sizes.part * (4 / epsilon * change + sampled / deviations)
        return relative, rest

    def _risk(self, n: int, regularization: float, printed: bool = False) -> float:
        sizes = self.sizes(n)
        lipschitz, diameter = self.problem.constants.lipschitz_constant, self.problem.constraint.diameter
        smallest = diameter * 2.0 ** (1 - sizes.balls)
        bound = 2 * regularization * (diameter / 2) ** 2
        moved = diameter / 2
        for phase in range(1, sizes.phases + 1):
            convexity = self.added_convexity(phase, regularization)
            sampling = lipschitz / (math.sqrt(sizes.part) * convexity)
            away = min(diameter, moved + sampling)
            relative, rest = self.relative_error(n, regularization, phase, printed)
            excess = min(
                relative * (2 * away + smallest) + rest, (lipschitz + diameter * convexity) * diameter
            )
            moved = min(diameter, math.sqrt(2 * excess / convexity) + sampling)
            if phase < sizes.phases:
                bound += 2.0 ** (phase + 1) * regularization * moved**2
        return min(bound + lipschitz * moved, lipschitz * diameter)

    @property
    def fault(self) -> str:
        """The solver's, and the picks'."""
        return BOTH

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on n records; points have shape (runs, d)."""
        data = admitted(self, data)
        n = data.n
        xp, sizes, regularization = rng.xp, self.sizes(n), self.chosen_regularization(n)
        there = np.asarray(data.as_namespace(np).features), np.asarray(data.as_namespace(np).labels)
        middle = xp.asarray(self.problem.constraint.center()[None, :].copy())
        points = xp.zeros((runs, data.d), dtype=xp.float64) + middle
        anchor_sum, weight_sum = xp.zeros_like(points), 0.0
        counts: dict[str, Array | int] = dict.fromkeys(_COUNTERS, 0)
        for phase in range(1, sizes.phases + 1):
            weight = 2.0**phase * regularization  # lambda_{t-1} = 2^t lambda
            anchor_sum, weight_sum = anchor_sum + weight * points, weight_sum + weight
            rows = slice((phase - 1) * sizes.part, phase * sizes.part)
            part = Dataset(there[0][rows], there[1][rows], f"part {phase} of {data.name}", data.scaling)
            found = []
            for ball in range(sizes.balls):
                local = self._local_problem(
                    phase, ball, regularization, points, anchor_sum / weight_sum, middle
                )
                candidates = []
                for _ in range(sizes.boosts):
                    output = with_problem(self.solver, local)(part, rng=rng, runs=runs)
                    # a point outside of its ball would void the bound on how much a record moves its score
                    candidates.append(local.constraint.project(xp.asarray(output.points)))
                    for name in _COUNTERS:
                        counts[name] = counts[name] + getattr(output, name)
                best, asked = self._best(candidates, [ball] * sizes.boosts, local, part, n, rng)
                found.append(best)
                counts["value_queries"] = counts["value_queries"] + asked
            best, asked = self._best(found, list(range(sizes.balls)), local, part, n, rng)
            counts["value_queries"] = counts["value_queries"] + asked
            points = self.problem.constraint.project(points + best)
        return Output(points, **counts)

    def _best(
        self,
        candidates: list[Array],
        in_ball: list[int],
        local: Problem,
        part: Dataset,
        n: int,
        rng: Randomness,
    ) -> tuple[Array, int]:
        """One of the candidates for each run, chosen privately, and the loss queries that it took."""
        if len(candidates) == 1:
            return candidates[0], 0
        xp, batch = rng.xp, self.batch_size(n)
        epsilon = before_amplification(self.selection_epsilon, batch, part.n)
        diameter = self.problem.constraint.diameter
        change = self.problem.constants.gradient_sensitivity / batch
        radii = tuple(diameter * 2.0**-ball for ball in in_ball)
        scores = estimates(self.problem, candidates, local.loss, part, batch, rng)
        if self.selection == "printed" or len(set(in_ball)) == 1:
            chosen = select(scores, sensitivity=change * max(radii), epsilon=epsilon, rng=rng)
        else:
            slack = math.log(part.n)
            if batch < part.n:
                # an estimate may be too low by this much, relative to the radius
                lipschitz = self.problem.constants.lipschitz_constant
                low = lipschitz * math.sqrt(2 * (math.log(len(radii)) + slack) / batch)
                scores = scores + low * xp.asarray(radii, dtype=xp.float64)
            steps = tuple(change * radius for radius in radii)
            penalty = selection_penalty(len(radii), epsilon, slack)
            relative = relative_scores(scores, steps, penalty=penalty, xp=xp)
            chosen = select(relative, sensitivity=1.0, epsilon=epsilon, rng=rng)
        taken = xp.take_along_axis(xp.stack(candidates, axis=1), chosen[:, None, None], axis=1)
        return taken[:, 0, :], batch * len(candidates)


class _Sizes(NamedTuple):
    """How many phases, balls and boosts, and the records of a phase."""

    phases: int
    part: int
    boosts: int
    balls: int

    @classmethod
    def of(cls, n: int, phases: int | None, boosts: int | None, balls: int | None) -> Self:
        n = whole_number("n", n, at_least=2)
        count = math.ceil(0.5 * math.log2(n)) if phases is None else phases
        require(n >= 2 * count, "n", n, f"at least {2 * count}, two records for each of {count} phases")
        part = n // count
        boosts = math.ceil(math.log2(part)) if boosts is None else boosts
        balls = math.floor(0.5 * math.log2(part)) + 1 if balls is None else balls
        return cls(count, part, boosts, balls)

    @property
    def solver_calls(self) -> int:
        """In one phase: K (R + 1)."""
        return self.boosts * self.balls

    @property
    def selections(self) -> int:
        """In one phase: one in each ball and one between balls, where there is something to choose."""
        return (self.balls if self.boosts > 1 else 0) + (1 if self.balls > 1 else 0)

    @property
    def compared(self) -> int:
        """Points whose losses are estimated in one phase."""
        return (self.solver_calls if self.boosts > 1 else 0) + (self.balls if self.balls > 1 else 0)


def _weakest(guarantees: list[Guarantee]) -> Guarantee:
    """One guarantee that all of the given ones imply."""
    if all(guarantee == guarantees[0] for guarantee in guarantees):
        return guarantees[0]
    return ProfileDP(_LargestProfile(tuple(guarantees)), "the weakest phase")


@dataclass(frozen=True)
class _LargestProfile:
    """Pointwise largest of several profiles."""

    guarantees: tuple[Guarantee, ...]

    def __call__(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        profiles = [np.asarray(one.privacy_profile(epsilon)) for one in self.guarantees]
        return np.asarray(np.max(np.stack(profiles), axis=0))
