"""One small instance of every algorithm, on four records in one dimension, for tests that go through all of them."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

import dpverify.algorithms
from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.gaussian_output_perturbation import GaussianOutputPerturbation
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.localized_sampling import LocalizedSampling
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, ContractiveNoisyIteration, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.iteration import GaussianNoise
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import LinearHardFamily, MeanMinimizer
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
from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Hinge, Linear, Logistic, Problem

N = 4
BALL = Ball(1, 1.0)
MEAN = Problem(HalfSquaredDistance(1.0), BALL)
"""Smooth, strongly convex, Lipschitz: what most conditions ask for."""
LINE = Problem(Linear(), BALL)
CURVED = Problem(Logistic(), BALL)
CUBE = Problem(Linear(), Box.cube(1, 1.0))


HARD = HardInstance.with_directions(4, 2, subspace_dimension=1)


def _towards_the_mean(points: Any, data: Any) -> Any:
    return 0.5 * points + 0.5 * float(np.mean(np.asarray(data.features)))


EVERY: dict[str, Callable[[], Any]] = {
    "bst14.alg1": lambda: NoisyGradientDescent(MEAN, 1.0, 1e-5, steps=3),
    "bst14.alg1 (logistic)": lambda: NoisyGradientDescent(CURVED, 1.0, 1e-5, steps=3),
    "bst14.alg2": lambda: ExponentialSampling(LINE, 1.0),
    "bst14.alg2 (cells)": lambda: ExponentialSampling(CURVED, 1.0),
    "bst14.alg3": lambda: OutputPerturbation(MEAN, 1.0),
    "bst14.alg4": lambda: Localization(MEAN, 1.0),
    "bst14.alg-cube": lambda: GridWalk.for_privacy(CUBE, epsilon=1.0),
    "bst14.alg5": lambda: SamplingInConvexSet(CUBE, 0.1, 0.5),
    "bst14.alg6": lambda: BoostedSampling(CUBE, 0.1, 0.5),
    "bst14.alg7": lambda: EfficientExponentialSampling(CUBE, 1.0),
    "bst14.alg8": lambda: NetMechanism(LINE, 1.0),
    "bst14.alg-huber": lambda: HuberizedObjectivePerturbation(0.5, 1.0),
    "bst14.alg-local-approx": lambda: ApproximateLocalization(MEAN, 1.0, 1e-5, steps=3),
    "bst14.alg-local-approx (first step)": lambda: GaussianOutputPerturbation(MEAN, 1.0, 1e-5),
    "bst14.alg-boost": lambda: Boosting(NetMechanism(LINE, 1.0), repeats=2),
    "bst14.alg-objpert": lambda: ObjectivePerturbation(MEAN, 1.0),
    "bst14.alg-objpert (Gaussian)": lambda: ObjectivePerturbation(CURVED, 1.0, 1e-5),
    "fmtt18.cni": lambda: ContractiveNoisyIteration(
        (_towards_the_mean,) * 2,
        GaussianNoise(1.0),
        np.zeros(1),
        shifts=(0.25, 0.25),
        contractions=(0.5, 0.5),
    ),
    "fmtt18.alg1": lambda: PNSGD(MEAN, 0.5, 1.0),
    "fmtt18.alg1 (local)": lambda: PNSGD(MEAN, 0.5, 1.0, claim="local"),
    "fmtt18.skip": lambda: SkipPNSGD(MEAN, 0.5, 1.0),
    "fmtt18.stop": lambda: StopPNSGD(MEAN, 0.5, 1.0),
    "fmtt18.alg2": lambda: PNMSGD(MEAN, 0.5, 1.0, epochs=2),
    "fmtt18.public": lambda: PublicRecordsLast(MEAN, 1.0, 0.05, public=1),
    "fmtt18.public (two)": lambda: PublicRecordsLast(MEAN, 0.5, 0.3, public=2),
    "fmtt18.multitask": lambda: MultitaskStopPNSGD((MEAN.loss,), BALL, 0.5, 1.0),
    "fmtt18.smoothing": lambda: SmoothedPNSGD(Problem(Hinge(), BALL), 0.05, 1.0, 0.1),
    "gll22.rem": lambda: RegularizedExponentialMechanism(MEAN, 1.0, 1e-3),
    "gll22.rem (rejection)": lambda: RegularizedExponentialMechanism(CURVED, 1.0, 1e-3, sampler="rejection"),
    "gll22.rem (alternating)": lambda: RegularizedExponentialMechanism(
        CURVED, 0.5, 0.1, sampler="alternating"
    ),
    "gll22.alg1": lambda: AlternatingSampler(CURVED, 2.0, 1.0, 0.3),
    "gll22.alg2": lambda: RejectionInnerStep(CURVED, 2.0, 1.0, 1e-4),
    "gll22.lower-instance": lambda: LinearHardFamily(1, 4),
    "gll22.lower-instance (solver)": lambda: MeanMinimizer(1.0, 1.0, 0.5),
    "mn25.alg1": lambda: PrivateOracleMethod(MEAN, GaussianOracle(1.0), CyclicDescent(2, 2, 0.5)),
    "mn25.alg3": lambda: DPSGD(MEAN, 2.0, 1e-2, batch_size=2, steps=3, noise_stddev=3.0),
    "mn25.alg4": lambda: PhasedSGD(MEAN, 4.0, 0.2),
    "mn25.alg5": lambda: PhasedERM(MEAN, 4.0, 0.2),
    "mn25.hard-instance": lambda: HARD,
    "mn25.hard-instance (trial)": lambda: OnHardInstance(
        HARD, NoisyGradientDescent(LINE, 1.0, 1e-5, steps=3)
    ),
    "mn25.limited-oracle": lambda: LimitedOracleSGD(MEAN, QuantizingOracle(2.0), 0.5, steps=3),
    "mn25.sco-to-erm": lambda: PopulationToEmpirical.for_privacy(
        LINE, n=N, epsilon=1.0, delta=1e-5, phases=1, boosts=2, balls=2, regularization=0.1, minibatch=2
    ),
    "mn25.erm-to-sco": lambda: EmpiricalToPopulation(PNSGD(MEAN, 0.5, 1.0)),
    "mn25.fingerprint": lambda: Fingerprinting(4, 3, epsilon=1.0),
    "(bst14.alg7 on balls)": lambda: LocalizedSampling(CUBE, 1.0, 0.2),
}
"""By statement id, with what is special about an instance in brackets."""


def all_classes_that_can_withdraw() -> Iterator[type]:
    """Every public dataclass of the algorithms with a field `withdraw_guarantee`."""
    found = set()
    for info in pkgutil.walk_packages(dpverify.algorithms.__path__, "dpverify.algorithms."):
        module = import_module(info.name)
        for name, member in inspect.getmembers(module, dataclasses.is_dataclass):
            if not name.startswith("_") and inspect.isclass(member) and not inspect.isabstract(member):
                fields = {field.name for field in dataclasses.fields(member)}
                if "withdraw_guarantee" in fields and member not in found:
                    found.add(member)
                    yield member


def line_data(values: Any) -> Dataset:
    """Records with one feature each and label 1."""
    features = np.asarray(values, dtype=np.float64)[:, None]
    return Dataset(features, np.ones(features.shape[0]))
