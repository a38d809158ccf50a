"""Phased SGD and Phased ERM (Menart and Nikolov, Algorithms 4 and 5; after Feldman, Koren and Talwar, 2020).

Phases start where the last one ended, up to noise, with an ever smaller step size or an ever stronger pull back,
so that less and less noise hides what a phase found. Only the last phase's noisy point need be released; the
guarantees below release all of them.

Risks are means over the records. B is the constraint set's diameter, L the loss's Lipschitz constant, d the
dimension. The noisy points are projected onto the set, of which the paper says nothing: points outside would be no
solutions, the constants of a loss need not hold there, and no bound gets worse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from dpverify.algorithms.conditions import admitted
from dpverify.algorithms.mn25.phases import LARGEST_MU, Phased
from dpverify.algorithms.mn25.private_oracles import begin
from dpverify.algorithms.parameters import Positive
from dpverify.algorithms.promises import StatedQueries, StatedRisk, missed, words
from dpverify.algorithms.steps.projected_steps import by_column, records
from dpverify.algorithms.steps.single_run import each, seconds_alone, total_on_drawn
from dpverify.errors import InvalidArgumentError
from dpverify.extras import Compiled
from dpverify.privacy import GDP, Guarantee, PureDP
from dpverify.privacy.batch_sampling import SampledBatch, sampled_batches
from dpverify.problems import Dataset
from dpverify.problems.per_run.accelerated_descent import RegularizedRisk
from dpverify.problems.per_run.variance_reduced_descent import (
    foreseen_rounds,
    minimize_on_draws,
    most_gradients,
    most_projections,
)
from dpverify.running import Output, Randomness, StatedStep
from dpverify.running.randomness import Array


class SGDPhase(NamedTuple):
    """One phase of Algorithm 4."""

    steps: int
    """T_r."""
    rate: float
    """eta_r, in length^2 over loss."""
    noise_stddev: float
    """sigma_r, of each coordinate of the noise on the average point, a length."""


class ERMPhase(NamedTuple):
    """One phase of Algorithm 5."""

    pull: float
    """lambda_r, the factor of ||w - w_(r-1)||^2, in loss over length^2."""
    gap: float
    """How far above its minimum the regularized risk may end, in units of the loss."""
    noise_stddev: float
    """sigma_r, of each coordinate of the noise on the minimizer, a length."""


@dataclass(frozen=True)
class PhasedSGD(Phased[SGDPhase]):
    """mn25, Algorithm 4: R phases of SGD on records drawn with replacement, each ending in a noisy average.

    With l = ln(n/delta), T = max{B L sqrt(d l) / alpha, (B L / alpha)^2} and eta = B^2 / (alpha T), phase
    r = 1, ..., R makes 2^-r T steps of size 4^-r eta from w_(r-1) (rounded up), averages the points at which it
    took gradients, and adds N(0, (4 B / (4^r sqrt(d)))^2 I). R = log2(B L / alpha) / 2, rounded up; the printed
    log2(1 / alpha) / 2 has a unit in the logarithm.

    Guarantee (replace-one, both directions): (epsilon, delta)-DP. Replacing one drawn record moves a phase's
    average by at most eta_r s (1 - 1/T_r), where s = 2 L bounds how far apart two gradients are, because a
    gradient step with eta_r <= 2 / beta is not an expansion, and the last one drawn moves no point that is averaged;
    T_r - 1 draws with replacement and the R phases are then accounted for numerically. The default accuracy is the
    smallest that is proved so, but no less than B L / sqrt(n), from where on Algorithm 5 is cheaper; Theorem 7 has
    6 alpha*.

    Where the proof of Theorem 7 differs (mn25.thm7): eta_r / sigma_r is the same in every phase, so that its
    epsilon_r is 1 and not 2^-r (the sum still comes out, by the phases' shrinking batches), and its bounds on the
    deltas add up to e^6 delta. In its risk bound the squared noise of phase r - 1 is put at 16 B^2 / 16^r, where
    it is 16 times that; `risk_bound` has the sum as it is.

    Assumptions: convex, L-Lipschitz, beta-smooth losses for records in the unit ball, beta <= 8 / eta; a bounded
    set.

    Attributes:
        steps: T, instead of the above.
        rate: eta, instead of the above.
    """

    steps: Positive | None = None
    rate: Positive | None = None

    id = "mn25.alg4"
    seconds_a_call = property(seconds_alone)
    hands_over = "all runs"
    statements = ("mn25.thm4", "mn25.thm7", "mn25.lem6")

    def _phases_at(self, n: int, accuracy: float) -> tuple[SGDPhase, ...]:
        if accuracy >= self.trivial_accuracy:
            return ()
        constraint = self.problem.constraint
        ratio = self.trivial_accuracy / accuracy
        count = self.phases or max(1, math.ceil(math.log2(ratio) / 2 - 1e-12))
        steps = max(ratio * math.sqrt(constraint.dimension * math.log(n / self.delta)), ratio**2)
        # eta = B^2 / (alpha T) with the T of the theorem
        rate = constraint.diameter**2 / (accuracy * steps) if self.rate is None else self.rate
        steps = steps if self.steps is None else self.steps
        spread = self.noise_factor * 4 * constraint.diameter / math.sqrt(constraint.dimension)
        return tuple(
            SGDPhase(max(1, math.ceil(steps / 2**r * (1 - 1e-12))), rate / 4**r, spread / 4**r)
            for r in range(1, count + 1)
        )

    def sensitivity(self, phase: SGDPhase) -> float:
        """By how much a phase's average moves when one drawn record is replaced, a length."""
        return phase.rate * self.problem.constants.gradient_sensitivity * (1 - 1 / phase.steps)

    def _proved_at(self, n: int, accuracy: float) -> Guarantee:
        # the last gradient of a phase moves no point that is averaged
        found = [
            (phase.steps - 1, self.sensitivity(phase) / phase.noise_stddev)
            for phase in self._phases_at(n, accuracy)
            if phase.steps > 1
        ]
        if not found:
            return PureDP(0.0)
        if max(mu for _, mu in found) >= LARGEST_MU:
            # beyond the accountant, and beyond use: as if every draw were the same record
            return GDP(math.hypot(*(draws * mu for draws, mu in found)))
        return sampled_batches(*((SampledBatch(n, draws, mu, replacement=True), 1) for draws, mu in found))

    def _least_accuracy(self, n: int) -> float:
        """B L / sqrt(n): below, phases draw more than n records in all, and Algorithm 5 is the better one."""
        return self.trivial_accuracy / math.sqrt(n)

    def _void(self, n: int) -> tuple[str, ...]:
        smoothness = self.problem.constants.smoothness
        if not math.isfinite(smoothness):
            return ("the loss is not smooth",)
        largest = self.schedule(n)[0].rate
        if largest * smoothness <= 2 * (1 + 1e-12):
            return ()
        return (f"the first phase's rate {largest:g} is above 2/beta = {2 / smoothness:g}",)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Gradients and projections of a run."""
        schedule = self.schedule(n)
        count = sum(phase.steps for phase in schedule)
        projections = StatedQueries("projection", count + len(schedule), sources=("mn25.thm7",))
        return (StatedQueries("gradient", count, **words("mn25.alg4/queries")), projections)

    def _pull_and_rest(self, phase: SGDPhase) -> tuple[float, float]:
        """1 / (2 eta_r T_r) and eta_r L^2 / 2."""
        lipschitz = self.problem.constants.lipschitz_constant
        return 1 / (2 * phase.rate * phase.steps), phase.rate * lipschitz**2 / 2

    def _stated(self, phase: SGDPhase, data: Dataset) -> StatedStep:
        features, labels = records(data, self.problem, np)

        def move(states: Array, rng: np.random.Generator) -> Array:
            w, total = states, np.zeros_like(states)
            for _ in range(phase.steps):
                total += w
                drawn = rng.integers(0, data.n, len(states))
                gradient = self.problem.loss.gradient(w, features[drawn], labels[drawn])
                w = self.problem.constraint.project(w - phase.rate * gradient, overwrite=True)
            return total / phase.steps

        return StatedStep(move, phase.noise_stddev, draws=True)

    def _total(self, phase: SGDPhase, w: Array, columns: Array, labels: Array, rng: Randomness) -> Array:
        """The sum of a phase's points, of all runs together."""
        xp, total = rng.xp, 0.0 * w
        for _ in range(phase.steps):
            total += w
            drawn = rng.integers(0, labels.shape[0], (w.shape[0],), "records")
            x, y = xp.take(columns, drawn, axis=1).T, xp.take(labels, drawn, axis=0)
            step = self.problem.loss.gradient(w, x, y)
            step *= -phase.rate
            step += w
            w = self.problem.constraint.project(step, overwrite=True)
        return total

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        data = admitted(self, data)
        w = begin(self.start, runs, rng)
        xp, constraint = rng.xp, self.problem.constraint
        features, labels = records(data, self.problem, xp)
        schedule = self.schedule(data.n)
        steps = sum(phase.steps for phase in schedule)
        alone = each(self.problem.loss, constraint, runs, constraint.dimension) if xp is np else None
        Compiled.expect(sum(steps * one.seconds_a_step for one in alone or () if one.known))
        columns = features if alone else by_column(features, xp)
        for phase in schedule:
            if alone:
                total = total_on_drawn(alone, w, features, labels, phase.steps, phase.rate, rng)
            else:
                total = self._total(phase, w, columns, labels, rng)
            total /= phase.steps
            w = self._hide(total, phase.noise_stddev, rng)
        return Output(w, gradient_queries=steps, projections=steps + len(schedule))


@dataclass(frozen=True)
class PhasedERM(Phased[ERMPhase]):
    """mn25, Algorithm 5: R regularized empirical risks, each minimized near the last noisy minimizer.

    Phase r = 1, ..., R minimizes risk(w) + lambda_r ||w - w_(r-1)||^2 on the set, lambda_r = 2^r alpha / B^2, up to
    a gap g_r = min{L^2 / (lambda_r n^2), 2^-r alpha}, and adds N(0, (4 B / (2^r sqrt(d)))^2 I).
    R = log2(B L / alpha), rounded up.

    The inner solver is variance-reduced descent (SVRG with minibatches and momentum), or accelerated projected
    gradient descent in phases where, from n, lambda_r and g_r, that is foreseen cheaper: where n is small or lambda_r
    large. Both stop, run by run, as soon as the gradient mapping at a gradient of all records certifies the gap;
    variance-reduced descent hands a run over after a stated number of rounds, and accelerated descent stops at the
    latest after as many steps as its rate of convergence needs. So the gap is kept with certainty, where the paper
    allows a failure with probability delta.

    Oracle calls: at most `gradient_query_count(n)`, which is n times the square root of the condition number
    kappa_r = 1 + beta / (2 lambda_r) in order, because the records that are drawn may mislead. Typical are
    n + sqrt(n kappa_r) a phase up to a small factor, where the paper prints n + kappa_r for SVRG (docs/scaling.md has
    counts up to 204,800 records); `dpverify.problems.per_run.variance_reduced_descent` says what of it is proved.

    Guarantee (replace-one, both directions): (epsilon, delta)-DP, since it is GDP. A phase's exact minimizer moves
    by at most s / (2 lambda_r n), s = 2 L, when a record is replaced, and an inexact one is within
    sqrt(g_r / lambda_r) of it on each of the two data sets, so that Delta_r = s / (2 lambda_r n)
    + 2 sqrt(g_r / lambda_r), and mu^2 is the sum of (Delta_r / sigma_r)^2. With the printed gap Delta_r is
    3 L / (lambda_r n), where the proof of Lemma 16 has 2 L / (lambda_r n): it counts the inexactness of one of the
    two minimizers only (mn25.lem16). The default accuracy is the smallest that is proved so; Lemma 16 has
    log(n) alpha*. The records that the solver draws need not be secret: whatever was drawn on either of the two data
    sets, independently or not, the two inexact minimizers are within Delta_r, so that a phase's outputs are mixtures
    of Gaussians N(u, sigma_r^2 I) and N(v, sigma_r^2 I), paired in any way, of which every pair is GDP with
    Delta_r / sigma_r; then so are the mixtures, because hockey-stick divergences are jointly convex.

    Assumptions: convex, L-Lipschitz, beta-smooth losses for records in the unit ball; a bounded set. Smoothness is
    what this solver needs, the guarantee does not.

    Attributes:
        gap_factor: of all inner gaps; 1 as printed. Smaller ones cost a few steps and gain privacy.
    """

    gap_factor: Positive = 1.0

    id = "mn25.alg5"
    statements = ("mn25.lem16",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.problem.constants.smoothness):
            raise InvalidArgumentError("problem", self.problem, "a smooth loss, for the inner solver")

    def _phases_at(self, n: int, accuracy: float) -> tuple[ERMPhase, ...]:
        if accuracy >= self.trivial_accuracy:
            return ()
        constraint, lipschitz = self.problem.constraint, self.problem.constants.lipschitz_constant
        count = self.phases or max(1, math.ceil(math.log2(self.trivial_accuracy / accuracy) - 1e-12))
        spread = self.noise_factor * 4 * constraint.diameter / math.sqrt(constraint.dimension)
        found = []
        for r in range(1, count + 1):
            pull = 2**r * accuracy / constraint.diameter**2
            gap = self.gap_factor * min(lipschitz**2 / (pull * n**2), accuracy / 2**r)
            found.append(ERMPhase(pull, gap, spread / 2**r))
        return tuple(found)

    def sensitivity(self, n: int, phase: ERMPhase) -> float:
        """By how much a phase's inexact minimizer moves when one of n records is replaced, a length."""
        exact = self.problem.constants.gradient_sensitivity / (2 * phase.pull * n)
        return exact + 2 * math.sqrt(phase.gap / phase.pull)

    def _proved_at(self, n: int, accuracy: float) -> Guarantee:
        schedule = self._phases_at(n, accuracy)
        if not schedule:
            return PureDP(0.0)
        return GDP(math.hypot(*(self.sensitivity(n, phase) / phase.noise_stddev for phase in schedule)))

    def _inner_risk(self, phase: ERMPhase) -> RegularizedRisk:
        return RegularizedRisk(self.problem, phase.pull)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Gradients and projections of a run, at most."""
        schedule = self.schedule(n)
        gradients = sum(most_gradients(self._inner_risk(phase), n, phase.gap) for phase in schedule)
        projections = sum(most_projections(self._inner_risk(phase), n, phase.gap) for phase in schedule)
        projections += len(schedule)
        row = words("mn25.alg5/queries")
        return (
            StatedQueries("gradient", gradients, exact=False, **row),
            StatedQueries("projection", projections, exact=False, sources=row["sources"]),
        )

    def _pull_and_rest(self, phase: ERMPhase) -> tuple[float, float]:
        """lambda_r and g_r."""
        return phase.pull, phase.gap

    def _sharper(self, phase: ERMPhase) -> tuple[float, float]:
        """lambda_r / 2, and g_r + sqrt(lambda_r g_r) B.

        For the exact minimizer v and the point found, v', the regularized risk is lambda_r ||u - v||^2 above at u, so
        that v' is lambda_r (||u - w||^2 - ||u - v||^2 - ||v' - w||^2) + g_r above u. The two squares are at least half
        of (||u - w|| - ||v' - v||)^2 together, and ||v' - v|| is at most sqrt(g_r / lambda_r).
        """
        moved = math.sqrt(phase.pull * phase.gap) * self.problem.constraint.diameter
        return phase.pull / 2, phase.gap + moved

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The same chain with the noise's quantiles, beta / R of each phase: nothing else is random.

        Projecting does not move a point away from one in the set. Never more than B L.
        """
        beta, constraint = missed(probability) / max(1, len(self.schedule(n))), self.problem.constraint
        norm = math.sqrt(float(scipy.special.chdtri(constraint.dimension, beta)))
        found = self._chain(n, lambda stddev: min(norm * stddev, constraint.diameter))
        row = words("mn25.alg5/quantile")
        return StatedRisk(min(found, self.trivial_accuracy), total=False, probability=probability, **row)

    def _stated(self, phase: ERMPhase, data: Dataset) -> StatedStep:
        risk = self._inner_risk(phase)

        def move(states: Array, rng: np.random.Generator) -> Array:
            def draw(shape: tuple[int, ...]) -> Array:
                return rng.integers(0, data.n, shape)

            return minimize_on_draws(risk, data, states, phase.gap, draw).points

        return StatedStep(
            move, phase.noise_stddev, draws=foreseen_rounds(risk, data.n, phase.gap) is not None
        )

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        data = admitted(self, data)
        w = begin(self.start, runs, rng)

        def draw(shape: tuple[int, ...]) -> Array:
            return rng.integers(0, data.n, shape, "records")

        schedule = self.schedule(data.n)
        gradients: Array | int = 0
        projections: Array | int = len(schedule)
        for phase in schedule:
            found = minimize_on_draws(self._inner_risk(phase), data, w, phase.gap, draw)
            gradients, projections = gradients + found.gradients, projections + found.projections
            w = self._hide(found.points, phase.noise_stddev, rng)
        return Output(w, gradient_queries=gradients, projections=projections)
