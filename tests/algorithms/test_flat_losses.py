"""Losses that no point or no record can change: one sentence from every constructor, or the right answer."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest

import dpverify.algorithms
from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.gaussian_output_perturbation import GaussianOutputPerturbation
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.localized_sampling import LocalizedSampling
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel, LimitedOracleSGD
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle, PrivateOracleMethod
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.problems import Ball, Box, Dataset, Logistic, Problem
from dpverify.running import Randomness

N = 6
DATA = Dataset(0.5 * np.eye(2)[np.arange(N) % 2], np.ones(N))


@dataclass(frozen=True)
class Flat:
    """A user's loss that is 0 everywhere."""

    lipschitz_constant: float = 0.0
    smoothness: float = 0.0
    strong_convexity: float = 0.0

    def value(self, w: Any, x: Any, y: Any) -> Any:
        return 0.0 * w[:, 0]

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        return 0.0 * w


@dataclass(frozen=True)
class SameForAll(Flat):
    """One that is the same for all records."""

    lipschitz_constant: float = 1.0
    smoothness: float = 1.0
    gradient_sensitivity: float = 0.0


LOSSES: dict[str, Flat] = {
    "flat": Flat(),
    "flat, declared strongly convex": Flat(0.0, 1.0, 1.0),
    "the same for all": SameForAll(),
    "the same for all, strongly convex": SameForAll(1.0, 1.0, 1.0),
}

Make = Callable[[Problem, Problem], Any]

CONSTRUCTORS: dict[type, list[Make]] = {
    AlternatingSampler: [lambda p, _: AlternatingSampler(p, 1.0, 1.0)],
    Boosting: [
        lambda p, _: Boosting(ExponentialSampling(p, 1.0)),
        lambda p, _: Boosting(PhasedSGD(p, 1.0, 1e-5)),
    ],
    SamplingInConvexSet: [lambda p, _: SamplingInConvexSet(p, 1.0, 1.0)],
    BoostedSampling: [lambda p, _: BoostedSampling(p, 1.0, 1.0)],
    EfficientExponentialSampling: [lambda p, _: EfficientExponentialSampling(p, 1.0)],
    DPSGD: [lambda p, _: DPSGD(p, 1.0, 1e-5), lambda p, _: DPSGD(p, 1.0, 1e-5, accuracy=0.5)],
    EmpiricalToPopulation: [lambda p, _: EmpiricalToPopulation(PhasedERM(p, 1.0, 1e-5))],
    ExponentialSampling: [lambda p, _: ExponentialSampling(p, 1.0)],
    GaussianOutputPerturbation: [lambda p, _: GaussianOutputPerturbation(p, 1.0, 1e-5)],
    GridWalk: [lambda _, q: GridWalk(q, 1.0, 1.0), lambda _, q: GridWalk.for_privacy(q, epsilon=1.0)],
    LimitedOracleSGD: [lambda p, _: LimitedOracleSGD(p, GaussianChannel(1.0, 1.0), 0.5)],
    Localization: [lambda p, _: Localization(p, 1.0)],
    ApproximateLocalization: [lambda p, _: ApproximateLocalization(p, 1.0, 1e-5)],
    MultitaskStopPNSGD: [
        lambda p, _: MultitaskStopPNSGD((p.loss, p.loss), p.constraint, 0.1, 1.0),
        lambda p, _: MultitaskStopPNSGD.for_privacy((p.loss,), p.constraint, n=N, epsilon=0.5, delta=1e-5),
    ],
    NetMechanism: [lambda p, _: NetMechanism(p, 1.0, 0.2)],
    NoisyGradientDescent: [
        lambda p, _: NoisyGradientDescent(p, 1.0, 1e-5),
        lambda p, _: NoisyGradientDescent(p, 1.0, 1e-5, "strongly-convex"),
    ],
    ObjectivePerturbation: [
        lambda p, _: ObjectivePerturbation(p, 1.0),
        lambda p, _: ObjectivePerturbation(p, 1.0, 1e-5),
    ],
    OutputPerturbation: [lambda p, _: OutputPerturbation(p, 1.0)],
    PhasedSGD: [lambda p, _: PhasedSGD(p, 1.0, 1e-5)],
    PhasedERM: [lambda p, _: PhasedERM(p, 1.0, 1e-5)],
    PopulationToEmpirical: [
        lambda p, _: PopulationToEmpirical(PhasedSGD(p, 1.0, 1e-5), 0.5),
        lambda p, _: PopulationToEmpirical.for_privacy(p, n=N, epsilon=1.0, delta=1e-5),
    ],
    PrivateOracleMethod: [lambda p, _: PrivateOracleMethod(p, GaussianOracle(1.0), CyclicDescent(2, 2, 0.1))],
    PNSGD: [
        lambda p, _: PNSGD(p, 0.1, 1.0),
        lambda p, _: PNSGD.for_privacy(p, n=N, epsilon=1.0, delta=1e-5),
    ],
    SkipPNSGD: [
        lambda p, _: SkipPNSGD(p, 0.1, 1.0),
        lambda p, _: SkipPNSGD.for_privacy(p, n=N, epsilon=1.0, delta=1e-5),
    ],
    StopPNSGD: [
        lambda p, _: StopPNSGD(p, 0.1, 1.0),
        lambda p, _: StopPNSGD.for_privacy(p, n=N, epsilon=1.0, delta=1e-5),
    ],
    PNMSGD: [
        lambda p, _: PNMSGD(p, 0.1, 1.0),
        lambda p, _: PNMSGD.for_privacy(p, rate=0.1, epsilon=1.0, delta=1e-5),
    ],
    PublicRecordsLast: [
        lambda p, _: PublicRecordsLast(p, 0.1, 1.0, public=2),
        lambda p, _: PublicRecordsLast.for_privacy(p, n=N, public=2, epsilon=1.0, delta=1e-5),
    ],
    RegularizedExponentialMechanism: [
        lambda p, _: RegularizedExponentialMechanism(p, 1.0, 1e-5),
        lambda p, _: RegularizedExponentialMechanism(p, 1.0, 1e-5, "sco"),
        lambda p, _: RegularizedExponentialMechanism(p, 0.05, 1e-5, "sco", "printed"),
    ],
    RejectionInnerStep: [lambda p, _: RejectionInnerStep(p, 1.0, 1.0, 0.01)],
    SmoothedPNSGD: [lambda p, _: SmoothedPNSGD(p, 0.1, 1.0, 0.1)],
}

CASES = [
    (cls.__name__, number, make) for cls, makes in CONSTRUCTORS.items() for number, make in enumerate(makes)
]


def algorithms_with_losses() -> set[type]:
    """Every algorithm of the package that is given a problem, losses, or another algorithm."""
    found = set()
    for info in pkgutil.walk_packages(dpverify.algorithms.__path__, "dpverify.algorithms."):
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            own = inspect.isclass(value) and value.__module__ == module.__name__
            if own and isinstance(getattr(value, "id", None), str) and not inspect.isabstract(value):
                names = {field.name for field in dataclasses.fields(value)}
                if names & {"problem", "losses", "solver", "algorithm"}:
                    found.add(value)
    return found


def test_every_algorithm_is_tried() -> None:
    assert algorithms_with_losses() == set(CONSTRUCTORS)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize(
    ("name", "number", "make"), CASES, ids=[f"{name}-{number}" for name, number, _ in CASES]
)
def test_flat_losses(name: str, number: int, make: Make, kind: str) -> None:
    ball, cube = Problem(LOSSES[kind], Ball(2, 1.0)), Problem(LOSSES[kind], Box.cube(2, 1.0))
    try:
        made = make(ball, cube)
    except DpverifyError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    calls: list[Callable[[], Any]] = [lambda: made.guarantees(N)]
    if hasattr(made, "guarantee_at"):
        calls.append(lambda: made.guarantee_at(N, 1))
    for optional in ("risk_bound", "queries", "sampling_error", "gradient_query_count"):
        method = getattr(made, optional, None)
        if method is not None:
            calls.append(lambda method=method: method(N))
    # these take their proved number of steps, on a loss that they take for steep
    if not isinstance(made, SamplingInConvexSet | BoostedSampling | EfficientExponentialSampling | GridWalk):
        calls.append(lambda: made(DATA, rng=Randomness(1), runs=2))
    for call in calls:
        try:
            call()
        except DpverifyError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_localized_sampling_of_a_flat_loss() -> None:
    with pytest.raises(InvalidArgumentError, match="Lipschitz constant above 0"):
        LocalizedSampling(Problem(Flat(), Box.cube(2, 1.0)), 1.0, 0.1)


@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-100), (1.0, 1e-200), (1e-9, 1e-240), (20.0, 1e-200), (1e-300, 1e-200)]
)
def test_the_regularized_mechanism_at_tiny_deltas(dimension: int, epsilon: float, delta: float) -> None:
    mechanism = RegularizedExponentialMechanism(Problem(Logistic(), Ball(dimension, 1.0)), epsilon, delta)
    if epsilon == 1e-300:
        with pytest.raises(InvalidArgumentError, match="delta"):
            mechanism.guarantees(N)
        return
    assert mechanism.guarantees(N)
    mu = mechanism.gdp_mu(N)
    with mpmath.workdps(600):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert exact <= delta * (1 + 1e-9)
        assert exact >= delta / 4


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-251])
def test_deltas_that_pay_for_no_sampler(delta: float) -> None:
    mechanism = RegularizedExponentialMechanism(Problem(Logistic(), Ball(3, 1.0)), 1.0, delta)
    with pytest.raises(InvalidArgumentError, match=r"delta .* above 3e-250"):
        mechanism.guarantees(N)
