"""What the table of costs is measured on: every algorithm at growing sizes, with what its paper states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration, GaussianNoise
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import HardFamilyTrial, LinearHardFamily, MeanMinimizer
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.fingerprinting import Fingerprinting
from dpverify.algorithms.mn25.hard_instance import HardInstance, OnHardInstance
from dpverify.algorithms.mn25.limited_oracle import LimitedOracleSGD, QuantizingOracle
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle, PrivateOracleMethod
from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Hinge, Logistic, Problem, Simplex
from dpverify.statements.audit_parts import Identity


@dataclass(frozen=True)
class Case:
    """One algorithm at growing sizes."""

    id: str
    build: Callable[[int, int], tuple[Any, Any]]
    """From n and d to a mechanism and its data."""
    n: tuple[int, ...]
    d: tuple[int, ...]
    printed_n: str = "–"
    """Exponent of the oracle calls in n that the paper states."""
    printed_d: str = "–"
    runs: int = 500
    """Runs whose counts and times are averaged for the exponents."""
    batch: int = 10_000
    note: str = ""


def records(n: int, d: int) -> Dataset:
    """N records on the unit sphere with random labels."""
    rng = np.random.default_rng(n * 1000 + d)
    features = rng.standard_normal((n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], rng.choice([-1.0, 1.0], n))


@dataclass(frozen=True)
class CornerSimplex:
    """{w: w_i >= 0, sum w_i <= 1}: a simplex with interior."""

    dimension: int

    @property
    def diameter(self) -> float:
        """Between two corners other than 0; from 0 to the other one in one dimension."""
        return 1.0 if self.dimension == 1 else 2.0**0.5

    @property
    def largest_norm(self) -> float:
        """Of a corner."""
        return 1.0

    @property
    def inner_radius(self) -> float:
        """Of a ball about the center."""
        return 1 / ((self.dimension + 1) * self.dimension**0.5)

    def center(self) -> Any:
        """The mean of the corners."""
        return np.full(self.dimension, 1 / (self.dimension + 1))

    def conic_rows(self, program: Any, w: Any) -> None:
        """Two vector inequalities."""
        program.nonnegative(w)
        program.nonnegative(-w.image(np.ones((1, len(w)))) + 1.0)

    def project(self, w: Any, *, overwrite: bool = False) -> Any:
        """Onto the orthant; what is beyond the sloped side, onto that."""
        kept = np.maximum(w, 0.0)
        return np.where(kept.sum(axis=-1, keepdims=True) <= 1, kept, Simplex(self.dimension).project(w))

    def contains(self, w: Any, tolerance: float = 1e-9) -> Any:
        """Shape (runs,)."""
        return (np.min(w, axis=-1) >= -tolerance) & (np.sum(w, axis=-1) <= 1 + tolerance)

    def gauge(self, w: Any) -> Any:
        """About the center, shape (runs,): the farthest side decides, each being 1/(d + 1) from the center."""
        sides = self.dimension + 1
        return np.maximum(np.max(1 - sides * w, axis=-1), sides * np.sum(w, axis=-1) - self.dimension)

    def minimize_linear(self, g: Any) -> Any:
        """The corner at which <g, w> is smallest."""
        best = np.eye(self.dimension)[np.argmin(g, axis=-1)]
        return np.where(np.min(g, axis=-1, keepdims=True) < 0, best, 0.0)

    def support(self, g: Any) -> Any:
        """The largest <g, w>, shape (runs,)."""
        return np.maximum(np.max(g, axis=-1), 0.0)


def logistic(d: int) -> Problem:
    """Logistic regression on the unit ball."""
    return Problem(Logistic(), Ball(d, 1.0))


def _one_pass(kind: Any) -> Callable[[int, int], tuple[Any, Any]]:
    return lambda n, d: (
        kind.for_privacy(logistic(d), n=n, epsilon=1.0, delta=1e-5),
        records(n, d),
    )


Built = tuple[Any, Any]

SIZES, DIMENSIONS = (25, 50, 100, 200), (5, 10, 20, 40)
EPSILON, DELTA = 1.0, 1e-5


def _mean(d: int) -> Problem:
    """Half the squared distance to the records, on the unit ball: smooth and strongly convex."""
    ball = Ball(d, 1.0)
    return Problem(HalfSquaredDistance.on(ball), ball)


def _cube(d: int) -> Problem:
    return Problem(Logistic(), Box.cube(d, 1.0))


def _walk_scale(problem: Problem) -> tuple[float, float]:
    """Inverse temperature and distance of a walk inside Algorithm 7 at epsilon = 2."""
    return 2.0 / (6 * problem.loss.lipschitz_constant * problem.constraint.diameter), 2.0 / 3


def _inside(n: int, d: int) -> Built:
    return SamplingInConvexSet(_cube(d), *_walk_scale(_cube(d)), extension="loss"), records(n, d)


def _boosted_inside(n: int, d: int) -> Built:
    return BoostedSampling(_cube(d), *_walk_scale(_cube(d)), extension="loss"), records(n, d)


def _efficient(n: int, d: int) -> Built:
    return EfficientExponentialSampling(_cube(d), 2.0, extension="loss"), records(n, d)


def _net(n: int, d: int) -> Built:
    return NetMechanism(_cube(d), EPSILON), records(n, d)


def _boosted(n: int, d: int) -> Built:
    return Boosting(NoisyGradientDescent(logistic(d), 4.0, DELTA), 0.1), records(n, d)


def _huberized(n: int, d: int) -> Built:
    return HuberizedObjectivePerturbation(0.5, EPSILON, constraint=Ball(d, 1.0)), records(n, d)


def _noisy_iteration(n: int, d: int) -> Built:
    """As many steps as n: the number of records plays no part in Definition 19."""
    return ContractiveNoisyIteration((Identity(),) * n, GaussianNoise(1.0), np.zeros(d)), records(1, d)


def _public(n: int, d: int) -> Built:
    made = PublicRecordsLast.for_privacy(logistic(d), n=n, public=n // 5, epsilon=EPSILON, delta=DELTA)
    return made, records(n, d)


def _multitask(n: int, d: int) -> Built:
    losses = (Logistic(),) * 3
    return (
        MultitaskStopPNSGD.for_privacy(losses, Ball(d, 1.0), n=n, epsilon=0.9, delta=DELTA),
        records(n, d),
    )


def _smoothed(n: int, d: int) -> Built:
    hinge = Problem(Hinge(), Ball(d, 1.0))
    return SmoothedPNSGD.for_privacy(hinge, n=n, epsilon=EPSILON, delta=DELTA), records(n, d)


def _many_epochs(n: int, d: int) -> Built:
    return PNMSGD.for_privacy(logistic(d), rate=0.1, epsilon=EPSILON, delta=DELTA), records(n, d)


def _regularized(n: int, d: int) -> Built:
    made = RegularizedExponentialMechanism(logistic(d), EPSILON, 1e-2, sampler="alternating")
    return made, records(n, d)


def _hard_family(n: int, d: int) -> Built:
    family = LinearHardFamily(d, n * d)
    solver = MeanMinimizer(1.0, float("inf"), 0.0, withdraw_guarantee=True)
    return HardFamilyTrial(family, solver, n), records(1, d)


def _oracle_method(n: int, d: int) -> Built:
    """Two passes in batches of sqrt(n)."""
    size = round(n**0.5)
    return (
        PrivateOracleMethod(logistic(d), GaussianOracle(1.0), CyclicDescent(2 * n // size, size, 0.1)),
        records(n, d),
    )


def _limited(n: int, d: int) -> Built:
    return LimitedOracleSGD(logistic(d), QuantizingOracle(1.0, bits=2), accuracy=0.6), records(n, d)


def _hard_instance(n: int, d: int) -> Built:
    """As many queries as n to an instance of four directions."""
    return OnHardInstance(HardInstance.with_directions(d, 4), steps=n), records(1, d)


def _by_erm(n: int, d: int) -> Built:
    made = PopulationToEmpirical.for_privacy(logistic(d), n=n, epsilon=8.0, delta=DELTA, minibatch=n)
    return made, records(n, d)


def _by_sco(n: int, d: int) -> Built:
    return EmpiricalToPopulation(NoisyGradientDescent(logistic(d), 8.0, DELTA)), records(n, d)


def _traced(n: int, d: int) -> Built:
    return Fingerprinting(members=n, dimension=d, epsilon=EPSILON, delta=DELTA), records(1, d)


CASES: tuple[Case, ...] = (
    Case(
        "bst14.alg1",
        lambda n, d: (NoisyGradientDescent(logistic(d), EPSILON, DELTA), records(n, d)),
        (8, 16, 32),
        DIMENSIONS,
        printed_n="2",
        printed_d="0",
    ),
    Case(
        "bst14.alg2",
        lambda n, d: (ExponentialSampling(_mean(d), EPSILON), records(n, d)),
        SIZES,
        DIMENSIONS,
        note="(quadratic, closed form)",
    ),
    Case(
        "bst14.alg2",
        lambda n, d: (ExponentialSampling(logistic(d), EPSILON), records(n, d)),
        SIZES,
        (1, 2, 3),
        runs=2_000,
        note="(logistic, cells)",
    ),
    Case(
        "bst14.alg3",
        lambda n, d: (OutputPerturbation(_mean(d), EPSILON), records(n, d)),
        SIZES,
        DIMENSIONS,
    ),
    Case(
        "bst14.alg4",
        lambda n, d: (Localization(_mean(d), 4.0), records(n, d)),
        SIZES,
        (1, 2, 3),
        runs=500,
        batch=2_000,
        note="(with Algorithm 2)",
    ),
    Case(
        "bst14.alg-cube",
        lambda n, d: (GridWalk.for_privacy(_cube(d), epsilon=2.0), records(n, d)),
        (4, 8, 16),
        (1, 2),
        printed_n="3 to 4",
        runs=500,
        note="(by the law of the walk)",
    ),
    Case(
        "bst14.alg5",
        _inside,
        (2, 4, 8),
        (1, 2),
        printed_n="3 to 4",
        runs=500,
        note="(by the law of the walk)",
    ),
    Case(
        "bst14.alg6",
        _boosted_inside,
        (2, 4, 8),
        (1, 2),
        printed_n="3 to 4",
        runs=500,
        note="(by the law of the walk)",
    ),
    Case(
        "bst14.alg7",
        _efficient,
        (2, 4, 8),
        (1, 2),
        printed_n="3 to 4",
        runs=500,
        note="(by the law of the walk)",
    ),
    Case("bst14.alg8", _net, (8, 16, 32), (1, 2), printed_n="1 + p", runs=2_000, note="(p = 1)"),
    Case("bst14.alg-huber", _huberized, SIZES, (2, 4, 8), runs=500, batch=2_000),
    Case(
        "bst14.alg-local-approx",
        lambda n, d: (ApproximateLocalization(_mean(d), 4.0, DELTA), records(n, d)),
        (8, 16, 32),
        (5, 10, 20),
        printed_n="2",
        printed_d="0",
        runs=500,
        batch=2_000,
    ),
    Case("bst14.alg-boost", _boosted, (8, 16, 32), (5, 10, 20), printed_n="2", printed_d="0", batch=2_000),
    Case(
        "bst14.alg-objpert",
        lambda n, d: (ObjectivePerturbation(logistic(d), EPSILON), records(n, d)),
        SIZES,
        (2, 4, 8),
        runs=500,
        batch=2_000,
    ),
    Case("fmtt18.cni", _noisy_iteration, SIZES, DIMENSIONS, printed_d="–", note="(n steps)"),
    Case("fmtt18.alg1", _one_pass(PNSGD), SIZES, DIMENSIONS, printed_n="1", printed_d="0"),
    Case("fmtt18.skip", _one_pass(SkipPNSGD), SIZES, DIMENSIONS, printed_n="1", printed_d="0"),
    Case("fmtt18.stop", _one_pass(StopPNSGD), SIZES, DIMENSIONS, printed_n="1", printed_d="0"),
    Case("fmtt18.public", _public, SIZES, DIMENSIONS, printed_n="1", printed_d="0"),
    Case("fmtt18.multitask", _multitask, SIZES, DIMENSIONS, printed_n="1", printed_d="0", note="(3 tasks)"),
    Case("fmtt18.smoothing", _smoothed, SIZES, DIMENSIONS, printed_n="1", printed_d="0"),
    Case("fmtt18.alg2", _many_epochs, (8, 16, 32), DIMENSIONS, printed_n="2", printed_d="0"),
    Case(
        "gll22.rem",
        _regularized,
        (100, 200, 400),
        (3, 6, 12),
        printed_n="2",
        printed_d="0",
        runs=20,
        batch=200,
        note="(alternating sampler, delta = 0.01)",
    ),
    Case(
        "gll22.alg1",
        lambda n, d: (AlternatingSampler(logistic(d), 4.0, 10.0, 0.05), records(n, d)),
        SIZES,
        DIMENSIONS,
        printed_n="0",
        printed_d="0",
        runs=50,
        batch=1_000,
        note="(fixed k and mu)",
    ),
    Case(
        "gll22.alg2",
        lambda n, d: (RejectionInnerStep(logistic(d), 4.0, 1.0, 0.001), records(n, d)),
        SIZES,
        DIMENSIONS,
        printed_n="0",
        printed_d="0",
        runs=20_000,
    ),
    Case(
        "gll22.lower-instance",
        _hard_family,
        SIZES,
        DIMENSIONS,
        printed_n="1",
        printed_d="1",
        note="(one instance per batch)",
    ),
    Case("mn25.alg1", _oracle_method, (25, 100, 225, 400), DIMENSIONS, printed_n="1", printed_d="0"),
    Case(
        "mn25.alg3",
        lambda n, d: (DPSGD(logistic(d), 4.0, DELTA), records(n, d)),
        (50, 100, 200),
        (5, 10, 20),
        printed_n="2",
        printed_d="-0.5",
        runs=200,
        batch=2_000,
    ),
    Case(
        "mn25.alg4",
        lambda n, d: (PhasedSGD(logistic(d), EPSILON, DELTA), records(n, d)),
        (50, 100, 200),
        (5, 10, 20),
        printed_n="1",
        printed_d="0",
        runs=200,
        batch=2_000,
    ),
    Case(
        "mn25.alg5",
        lambda n, d: (PhasedERM(logistic(d), EPSILON, DELTA), records(n, d)),
        (800, 3_200, 12_800),
        (5, 10, 20),
        printed_n="1",
        runs=200,
        batch=2_000,
    ),
    Case(
        "mn25.hard-instance",
        _hard_instance,
        (4, 8, 16),
        (16, 32, 64),
        runs=200,
        batch=1_000,
        note="(n queries)",
    ),
    Case(
        "mn25.limited-oracle",
        _limited,
        SIZES,
        (5, 10, 20),
        printed_n="0",
        runs=100,
        batch=2_000,
        note="(accuracy 0.6)",
    ),
    Case("mn25.sco-to-erm", _by_erm, (32, 64, 128), (5, 10), runs=50, batch=500, note="(with bst14.alg1)"),
    Case(
        "mn25.erm-to-sco", _by_sco, (8, 16, 32), (5, 10, 20), runs=100, batch=2_000, note="(with bst14.alg1)"
    ),
    Case(
        "mn25.fingerprint", _traced, (5, 10, 20), (50, 100, 200), runs=1_000, batch=2_000, note="(an attack)"
    ),
)
