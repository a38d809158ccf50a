"""The edges of what may be asked of every algorithm: one clear sentence, or a run with finite points.

One record, more features than records, sets of one point, budgets from 1e-6 to 1e3, and deltas down to 1e-200. What is
foreseen to take too long is refused in a sentence, too. A traceback is any exception of another kind.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14 import NoisyGradientDescent
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
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, ContractiveNoisyIteration, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.iteration import GaussianNoise
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import LinearHardFamily
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.fingerprinting import Fingerprinting
from dpverify.algorithms.mn25.hard_instance import HardInstance
from dpverify.algorithms.mn25.limited_oracle import LimitedOracleSGD, QuantizingOracle
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle, PrivateOracleMethod
from dpverify.errors import DpverifyError
from dpverify.problems import (
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Simplex,
)
from dpverify.running import run
from dpverify.statements.paper import papers


@dataclass(frozen=True)
class Edge:
    """What is asked of an algorithm."""

    epsilon: float
    delta: float
    n: int
    d: int
    point: bool = False
    """Whether the set has one point only."""

    def problem(self, loss: Any, cube: bool = False) -> Problem:
        constraint: Any = Box.cube(self.d, 1.0) if cube else Ball(self.d, 1.0)
        if self.point:
            constraint = Simplex(1) if self.d == 1 else Box((0.25,) * self.d, (0.25,) * self.d)
        return Problem(loss.on(constraint) if hasattr(loss, "on") else loss(), constraint)

    @property
    def mean(self) -> Problem:
        return self.problem(HalfSquaredDistance)

    @property
    def line(self) -> Problem:
        return self.problem(Linear)

    @property
    def cube(self) -> Problem:
        return self.problem(Linear, cube=True)

    @property
    def curved(self) -> Problem:
        return self.problem(Logistic)

    @property
    def data(self) -> Dataset:
        rng = np.random.default_rng(0)
        features = rng.uniform(-1, 1, size=(self.n, self.d)) / math.sqrt(self.d)
        return Dataset(features, np.where(rng.normal(size=self.n) > 0, 1.0, -1.0))


def _halves(points: Any, data: Any) -> Any:
    return 0.5 * points


ASKED: dict[str, Callable[[Edge], Any]] = {
    "bst14.alg1": lambda q: NoisyGradientDescent(q.mean, q.epsilon, q.delta),
    "bst14.alg2": lambda q: ExponentialSampling(q.line, q.epsilon),
    "bst14.alg3": lambda q: OutputPerturbation(q.mean, q.epsilon),
    "bst14.alg4": lambda q: Localization(q.mean, q.epsilon, zeta=2.0),
    "bst14.alg-cube": lambda q: GridWalk.for_privacy(q.cube, epsilon=q.epsilon),
    "bst14.alg5": lambda q: SamplingInConvexSet(q.cube, q.epsilon, 0.5),
    "bst14.alg6": lambda q: BoostedSampling(q.cube, q.epsilon, 0.5),
    "bst14.alg7": lambda q: EfficientExponentialSampling(q.cube, q.epsilon),
    "bst14.alg8": lambda q: NetMechanism(q.line, q.epsilon),
    "bst14.alg-huber": lambda q: HuberizedObjectivePerturbation(0.5, q.epsilon),
    "bst14.alg-local-approx": lambda q: ApproximateLocalization(q.mean, q.epsilon, q.delta),
    "bst14.alg-boost": lambda q: Boosting(NetMechanism(q.line, q.epsilon), repeats=2),
    "bst14.alg-objpert": lambda q: ObjectivePerturbation(q.curved, q.epsilon, q.delta),
    "fmtt18.cni": lambda q: ContractiveNoisyIteration(
        (_halves,), GaussianNoise(1 / q.epsilon), np.zeros(q.d), shifts=(0.25,), contractions=(0.5,)
    ),
    "fmtt18.alg1": lambda q: PNSGD.for_privacy(q.curved, n=q.n, epsilon=q.epsilon, delta=q.delta),
    "fmtt18.skip": lambda q: SkipPNSGD.for_privacy(q.curved, n=q.n, epsilon=q.epsilon, delta=q.delta),
    "fmtt18.stop": lambda q: StopPNSGD.for_privacy(q.curved, n=q.n, epsilon=q.epsilon, delta=q.delta),
    "fmtt18.alg2": lambda q: PNMSGD.for_privacy(q.curved, rate=0.5, epsilon=q.epsilon, delta=q.delta),
    "fmtt18.public": lambda q: PublicRecordsLast.for_privacy(
        q.curved, n=q.n, public=1, epsilon=q.epsilon, delta=q.delta
    ),
    "fmtt18.multitask": lambda q: MultitaskStopPNSGD.for_privacy(
        (Logistic(),), q.curved.constraint, n=q.n, epsilon=q.epsilon, delta=q.delta
    ),
    "fmtt18.smoothing": lambda q: SmoothedPNSGD.for_privacy(
        q.problem(Hinge), n=q.n, epsilon=q.epsilon, delta=q.delta
    ),
    "gll22.rem": lambda q: RegularizedExponentialMechanism(
        q.curved, q.epsilon, q.delta, sampler="alternating"
    ),
    "gll22.alg1": lambda q: AlternatingSampler(q.curved, q.epsilon, 1.0, q.delta, expanded=True),
    "gll22.alg2": lambda q: RejectionInnerStep(
        q.curved, q.epsilon, 1.0, 1e-4 / q.epsilon**2, accuracy=q.delta
    ),
    "gll22.lower-instance": lambda q: LinearHardFamily(q.d, q.n),
    "mn25.alg1": lambda q: PrivateOracleMethod(
        q.mean, GaussianOracle(1 / q.epsilon), CyclicDescent(1, 2, 0.5)
    ),
    "mn25.alg3": lambda q: DPSGD(q.curved, q.epsilon, q.delta),
    "mn25.alg4": lambda q: PhasedSGD(q.curved, q.epsilon, q.delta),
    "mn25.alg5": lambda q: PhasedERM(q.curved, q.epsilon, q.delta),
    "mn25.hard-instance": lambda q: HardInstance.with_directions(q.d, q.n, subspace_dimension=1),
    "mn25.limited-oracle": lambda q: LimitedOracleSGD(q.mean, QuantizingOracle(2.0), q.epsilon),
    "mn25.sco-to-erm": lambda q: PopulationToEmpirical.for_privacy(
        q.line, n=q.n, epsilon=q.epsilon, delta=q.delta
    ),
    "mn25.erm-to-sco": lambda q: EmpiricalToPopulation(
        PNSGD.for_privacy(q.curved, n=q.n, epsilon=q.epsilon, delta=q.delta)
    ),
    "mn25.fingerprint": lambda q: Fingerprinting(q.n, q.d, epsilon=q.epsilon),
}
NO_MECHANISM = {"gll22.lower-instance", "mn25.hard-instance", "mn25.fingerprint"}
"""They draw their records themselves, and are tried for what they state."""


def edges() -> list[Edge]:
    found = [
        Edge(epsilon, delta, n, d)
        for epsilon, delta, (n, d) in itertools.product(
            (1e-6, 1.0, 1e3), (1e-200, 0.5), ((1, 1), (1, 3), (2, 3))
        )
    ]
    return [*found, *(Edge(1.0, 1e-3, 3, d, point=True) for d in (1, 2))]


def answered(id_: str, edge: Edge) -> str:
    """Ask; what was said where it was refused, nothing where it ran. Any other exception passes."""
    try:
        algorithm = ASKED[id_](edge)
        stated = algorithm.risk_bound(edge.n)
        assert stated is None or stated.bound >= 0, edge
        assert all(one.count >= 0 for one in algorithm.queries(edge.n)), edge
        profiles = [one.guarantee.privacy_profile(edge.epsilon) for one in algorithm.guarantees(edge.n)]
        assert all(0 <= float(np.asarray(one)) <= 1 for one in profiles), edge
        if id_ not in NO_MECHANISM:
            points = run(algorithm, edge.data, runs=2, seed=1, call_limit=5e3).points
            assert np.all(np.isfinite(points)), edge
    except DpverifyError as error:
        return str(error)
    return ""


def is_clear(text: str) -> bool:
    """Whether it is a line of words, without a traceback and without numbers that are none."""
    return 10 < len(text) < 500 and "\n" not in text and not re.search(r"Traceback|\bnan\b", text)


@pytest.mark.parametrize("id_", ASKED)
def test_a_sentence_or_a_right_run(id_: str) -> None:
    """And each runs at some edge, so that it is not for another reason that it is refused."""
    said = {edge: answered(id_, edge) for edge in edges()}
    for edge, text in said.items():
        assert not text or is_clear(text), (edge, text)
    assert not all(said.values())


def test_other_answers_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs_to(value: float) -> Any:
        return lambda *_, **__: type("Output", (), {"points": np.full((2, 1), value)})()

    assert not is_clear("delta was nan; allowed: a number in (0, 1)")
    assert not is_clear("Traceback (most recent call last)")
    assert answered("fmtt18.alg1", Edge(1.0, 1e-5, 3, 1)) == ""
    monkeypatch.setitem(globals(), "run", runs_to(math.nan))
    with pytest.raises(AssertionError):
        answered("fmtt18.alg1", Edge(1.0, 1e-5, 3, 1))
    monkeypatch.setitem(ASKED, "fmtt18.alg1", lambda edge: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        answered("fmtt18.alg1", Edge(1.0, 1e-5, 3, 1))


def test_each_row_is_asked() -> None:
    rows = {id_ for key in papers() for id_ in import_module(f"dpverify.algorithms.{key}").ROWS}
    assert rows == set(ASKED)
