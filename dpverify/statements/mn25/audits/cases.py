"""Methods of mn25 on pairs and data: what the rows of the table audit.

Risks are means over the records. B is the set's diameter, L the loss's Lipschitz constant; real data sets are taken
with five features, whole for risks, and with few records for privacy, so that a single one can be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import StopPNSGD
from dpverify.algorithms.mn25 import (
    DPSGD,
    EmpiricalToPopulation,
    LimitedOracleSGD,
    PhasedERM,
    PhasedSGD,
    PopulationToEmpirical,
    PrivateOracleMethod,
)
from dpverify.algorithms.mn25.interaction import Interaction
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel, LimitedOracle, QuantizingOracle
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle
from dpverify.algorithms.promises import words
from dpverify.ledger.records import Interval
from dpverify.problems import AllSpace, Ball, Dataset, Problem, opposite_linear
from dpverify.running import Output, Randomness, Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import linear_pair, real_problem
from dpverify.statements.audit_rows import Expectation, Made, On, OnLinear, ReadOff, Risk, Risks

EPSILON, DELTA = 2.0, 1e-5
SIZE, DIMENSION = 40, 5
"""Records and features kept of a real data set for privacy."""


def trivial(problem: Problem) -> float:
    """B L, in units of the loss."""
    return problem.constraint.diameter * problem.loss.lipschitz_constant


def _few(method: Callable[[Problem, int], Any]) -> Made:
    """The real problem on which counts and constants are read off."""
    return Made(method, SIZE, DIMENSION)


def _risks(
    make: Callable[[Problem, float], Any], values: tuple[float, ...], axis: str, name: str
) -> Iterator[Risk]:
    """Of methods on a whole data set, made with one of some values each, and placed by an attribute."""
    problem, data = real_problem(name, d=DIMENSION)
    for value in values:
        method = make(problem, value)
        yield Risk(method, data, f"{data.name}, n = {data.n}, d = {data.d}", getattr(method, axis))


# ------------------------------------------------------------------------------------------ private oracles


def _gaussian_messages(problem: Problem, n: int) -> PrivateOracleMethod:
    """One batch of all records: the message is the Gaussian mechanism itself."""
    space = Problem(problem.loss, AllSpace(problem.constraint.dimension))
    return PrivateOracleMethod(space, GaussianOracle(1.2 / n), CyclicDescent(1, n, 1.0))


messages, messages_worst = OnLinear(_gaussian_messages, 4, 2), OnLinear(_gaussian_messages, 4)
descent = OnLinear(lambda p, n: DPSGD(p, 4.0, 0.01), 4)
phases = OnLinear(lambda p, n: PhasedSGD(p, 4.0, 0.01, accuracy=0.15 * trivial(p)), 2)
minimizers = OnLinear(lambda p, n: PhasedERM(p, 4.0, 0.01, gap_factor=1e-6), 4)


def _two_passes(problem: Problem, n: int) -> PrivateOracleMethod:
    """Two passes over the records in batches of 8, messages of noise multiplier 1."""
    lipschitz, size = problem.loss.lipschitz_constant, 8
    descent = CyclicDescent(2 * n // size, size, problem.constraint.diameter / (8 * lipschitz))
    return PrivateOracleMethod(problem, GaussianOracle(2 * lipschitz / size), descent)


message_queries = _few(_two_passes)
descent_queries = _few(lambda p, n: DPSGD(p, EPSILON, DELTA))
# at an accuracy close to the smallest that is proved at 40 records
phase_queries = _few(lambda p, n: PhasedSGD(p, EPSILON, DELTA, accuracy=0.06 * trivial(p)))
minimizer_queries = _few(lambda p, n: PhasedERM(p, EPSILON, DELTA))


# at accuracies for which the proof's chain says more than B L
tuned_descents = partial(
    _risks,
    lambda p, share: DPSGD(p, EPSILON, DELTA, accuracy=share * trivial(p)),
    (0.2, 0.1, 0.05),
    "accuracy",
)  # what follows for a population, by uniform convergence
descent_population = Risks(lambda p, n: DPSGD(p, 4.0, DELTA), (100, 400), 2, samples=", epsilon = 4")

phased_sgd = partial(
    _risks, lambda p, part: PhasedSGD(p, EPSILON, DELTA, accuracy=trivial(p) / part), (120,), "accuracy"
)
phased_erm = partial(_risks, lambda p, epsilon: PhasedERM(p, epsilon, DELTA), (4.0, 8.0), "epsilon")

# ------------------------------------------------------------------------------------------ limited oracles

ORACLES: dict[str, Callable[[float], LimitedOracle]] = {
    "quantizing": lambda lipschitz: QuantizingOracle(lipschitz, bits=2),
    "two-coordinates": lambda lipschitz: QuantizingOracle(lipschitz, bits=3, coordinates=2),
    "channel": lambda lipschitz: GaussianChannel(2.0 * lipschitz, lipschitz),
}


def limited(oracle: str, problem: Problem, share: float) -> LimitedOracleSGD:
    """SGD through one of the oracles, at a share of B L."""
    made = ORACLES[oracle](problem.loss.lipschitz_constant)
    return LimitedOracleSGD(problem, made, accuracy=share * trivial(problem))


def limited_descents(oracle: str, name: str) -> Iterator[Risk]:
    """The same at several shares, along the nats that it gets."""
    return _risks(lambda p, share: limited(oracle, p, share), (0.4, 0.2, 0.1), "information", name)


channel_queries = Made(lambda p, n: limited("channel", p, 0.1), None, DIMENSION)


@dataclass(frozen=True)
class DecodedMessage:
    """One message about the mean gradient at the set's center, decoded, minus that gradient."""

    problem: Problem
    oracle: LimitedOracle

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Errors, shape (runs, d), the batch being all records."""
        interaction = Interaction(self.problem, data, self.oracle, rng=rng, runs=runs)
        center = np.asarray(self.problem.constraint.center())
        points = rng.xp.asarray(np.broadcast_to(center, (runs, data.d)).copy())
        message = interaction.ask(points, np.arange(data.n)).answer()
        truth = self.problem.mean_gradient(points[:1, :], data)
        return interaction.output(self.oracle.decode(message, data.d) - truth)


def quantizing_error(name: str) -> Iterator[Expectation]:
    """The squared error of messages of several sizes."""
    problem, data = real_problem(name, n=SIZE, d=DIMENSION)

    def squared_norms(runs: Runs) -> Any:
        return np.sum(np.square(runs.points), axis=1)

    for bits in (1, 2, 4):
        oracle = QuantizingOracle(problem.loss.lipschitz_constant, bits)
        largest = data.d * oracle.spacing**2 * (1 + 1e-9)
        quantity = "||decoded - mean gradient||^2, loss^2 over length^2"
        yield Expectation(
            DecodedMessage(problem, oracle),
            data,
            ReadOff(squared_norms, 0.0, largest, quantity),
            oracle.squared_error(data.d),
            "d s^2 / 4, s = 2 L / (2^b - 1)",
            words("mn25.limited-oracle/risk")["origin"],
            data.name,
            float(oracle.message_bits(data.d)),
        )


# ------------------------------------------------------------------------------------------ SCO by ERM


def _split(name: str, n: int, phases: int, boosts: int, balls: int, selection: float) -> On:
    """Few calls of the solver, which share what the selections leave of epsilon, and a ridge that adds little.

    The solver's noise covers the ridge's slope too, which no record moves. Epsilon is small enough that some thousand
    runs could refute it.
    """
    pair, calls = linear_pair(name, n), boosts * balls
    single = (2.0 - selection) / calls
    mechanism = PopulationToEmpirical(
        NoisyGradientDescent(Problem(pair.loss, Ball(1, 1.0)), single, 0.01 / calls, steps=4),
        selection or single,
        phases=phases,
        boosts=boosts,
        balls=balls,
        minibatch=n,
        regularization=0.01,
    )
    return On(mechanism, pair, said=f"; {phases} phases of {boosts} runs on {balls} balls")


split_on_two_balls = partial(_split, "breast-cancer", 2, 1, 1, 2, 0.2)
split_in_two_phases = partial(_split, "diabetes", 4, 2, 1, 1, 0.0)
split_worst = partial(_split, "worst-case", 2, 1, 2, 1, 0.2)


@dataclass(frozen=True)
class ExactDescent:
    """An ERM solver without privacy: gradient descent on a smooth, strongly convex local problem, to 1e-4 G r.

    A step of 1 / beta shrinks the distance to the minimizer by 1 - m / beta, so that after T steps the excess is at
    most (beta / 2) (2 r)^2 exp(-2 T m / beta), with the constants that the local loss declares.
    """

    problem: Problem

    accuracy: ClassVar[float] = 1e-4
    hands_over: ClassVar[str] = "all runs"

    def guarantees(self, n: int) -> tuple[Any, ...]:
        """None."""
        return ()

    def steps(self) -> int:
        """Enough for the accuracy, relative to G r."""
        loss, radius = self.problem.loss, self.problem.constraint.diameter / 2
        allowed = self.accuracy * loss.lipschitz_constant * radius
        ratio = max(1.0, 2 * loss.smoothness * radius**2 / allowed)
        return math.ceil(0.5 * loss.smoothness / loss.strong_convexity * math.log(ratio)) + 1

    def gradient_query_count(self, n: int) -> int:
        """The records, n of them, in every step."""
        return n * self.steps()

    def __call__(self, data: Dataset, *, rng: Any, runs: int) -> Output:
        """Descend from 0, the middle of the local problem, in every run."""
        local: Any = self.problem.loss
        original = Problem(local.original, Ball(data.d, 1.0))
        points = np.zeros((runs, data.d))
        for _ in range(self.steps()):
            here = points + local.offsets
            gradient = original.mean_gradient(here, data) + local.weight * (here - local.anchors)
            points = self.problem.constraint.project(points - gradient / local.smoothness)
        return Output(points, gradient_queries=self.gradient_query_count(data.n), projections=self.steps())


def _reduction(problem: Problem, n: int) -> PopulationToEmpirical:
    """Without privacy, so that the bound says something at these sizes; it is the same for any solver."""
    return PopulationToEmpirical(
        ExactDescent(problem),
        500.0,
        accuracy=ExactDescent.accuracy,
        minibatch=n,
        boosts=1,
        withdraw_guarantee=True,
    )


reduction_risk = Risks(
    _reduction, (100, 400), DIMENSION, samples="; a solver with accuracy 1e-4, no privacy", runs_a_sample=10
)
# a phase has 8 records, 2 balls and 3 boosts
reduction_queries = Made(
    lambda p, n: PopulationToEmpirical.for_privacy(p, n=n, epsilon=2.0, delta=DELTA, minibatch=n), 24, 3
)

# ------------------------------------------------------------------------------------------ ERM by SCO

_ROUNDING = 1e-9


@dataclass(frozen=True)
class OneStep:
    """Smallest epsilon of one step of Algorithm 1 on a drawn record, on opposite linear losses on [-1, 1].

    A drawn record of n drawn records is a record drawn from all. So the point before projection is a mixture of normal
    numbers about 0 and, with probability 1/n, about a step to either side. The likelihood ratio grows along the line,
    so the event of the largest loss is the end of the interval, where all points beyond it end up. It has probability
    p on one data set and q on the other: it needs ln((p - delta) / q), and nothing needs more than ln(p / q).
    """

    solver: NoisyGradientDescent
    """With one step."""
    n: int
    factor: float = 1.0
    """The noise is divided by it."""

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats."""
        rate = self.solver.rate(self.n, 1)
        spread, step = rate * self.solver.noise_stddev(self.n) / self.factor, rate * self.n
        still = (1 - 1 / self.n) * ndtr(-1 / spread)
        p, q = (float(still + ndtr((sign * step - 1) / spread) / self.n) for sign in (1, -1))
        least = math.log((p - delta) / q) if p - delta > q else 0.0
        return Interval(lower=least * (1 - _ROUNDING), upper=math.log(p / q) * (1 + _ROUNDING))

    def weakened(self, factor: float, delta: float) -> Interval:
        """Of the same with its noise divided by a factor."""
        return replace(self, factor=factor)(delta)


def drawn_step() -> On:
    """The printed claim at the largest epsilon that it is made for, where all of it can be known: one step."""
    n, epsilon = 8, 1 / 6
    pair = opposite_linear(n, 1, n)
    solver = NoisyGradientDescent(Problem(pair.loss, Ball(1, 1.0)), epsilon, DELTA, steps=1)
    mechanism = EmpiricalToPopulation(solver)
    known = mechanism.guarantees(n).sharpest.guarantee
    return On(mechanism, pair, best_known=known, exact=OneStep(solver, n))


# the mixture over how often a record is drawn, at a delta at which little noise is enough
resampled = OnLinear(lambda p, n: EmpiricalToPopulation(NoisyGradientDescent(p, 2.0, 0.01, steps=2 * n)), 2)


def _resampled_stop(problem: Problem, n: int) -> EmpiricalToPopulation:
    """Fmtt18's Stop-PNSGD, local at a large epsilon, whose Theorem 29 bounds the population risk."""
    return EmpiricalToPopulation(StopPNSGD.for_privacy(problem, n=n, epsilon=8.0, delta=DELTA))


resampled_risk = Risks(_resampled_stop, (100, 200, 400), 2, "{name}, n records, d = 2, epsilon = 8")
resampled_queries = Made(
    lambda p, n: EmpiricalToPopulation(NoisyGradientDescent(p, 1.0, DELTA)), 32, DIMENSION
)

# ------------------------------------------------------------------------------------------ real size


def _two_passes_at_size() -> PrivateOracleMethod:
    """In batches of sqrt(n)."""
    n = real_size.SIZE
    batch = round(n**0.5)
    descent = CyclicDescent(2 * n // batch, batch, 0.1)
    return PrivateOracleMethod(real_size.linear(), GaussianOracle(1.0), descent)


two_passes_at_size = real_size.privacy(_two_passes_at_size)
descent_at_size = real_size.risk(lambda: DPSGD(real_size.logistic(), 4.0, DELTA))
phased_sgd_pair_at_size = real_size.privacy(lambda: PhasedSGD(real_size.linear(), 1.0, DELTA))
phased_sgd_at_size = real_size.risk(lambda: PhasedSGD(real_size.linear(), 1.0, DELTA), real_size.equal)
phased_erm_pair_at_size = real_size.privacy(lambda: PhasedERM(real_size.linear(), 1.0, DELTA))
phased_erm_at_size = real_size.risk(lambda: PhasedERM(real_size.logistic(), 32.0, DELTA))
limited_at_size = real_size.risk(lambda: limited("quantizing", real_size.logistic(), 0.1))
reduction_at_size = real_size.risk(lambda: _reduction(real_size.logistic(), real_size.SIZE))
resampled_at_size = real_size.privacy(lambda: _resampled_stop(real_size.linear(), real_size.SIZE), index=1)
