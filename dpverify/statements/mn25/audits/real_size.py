"""Audits of mn25's algorithms at the sizes that people have."""

from __future__ import annotations

from dpverify.algorithms.fmtt18.projected_noisy_sgd import StopPNSGD
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.fingerprinting import Fingerprinting, binarized
from dpverify.algorithms.mn25.hard_instance import HardInstance, OnHardInstance
from dpverify.algorithms.mn25.limited_oracle import LimitedOracleSGD, QuantizingOracle
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle, PrivateOracleMethod
from dpverify.auditing import Bound
from dpverify.auditing.subjects import ValuesOf
from dpverify.problems import Ball, Logistic, Problem, load
from dpverify.statements.mn25.audits.cases import Column, trivial
from dpverify.statements.mn25.audits.hard_instance import LARGEST_LOSS
from dpverify.statements.mn25.audits.population_to_empirical import ExactDescent
from dpverify.statements.plans import MEAN, AsPrinted, Cases, Corrected, Plan, Profile, along, white_box
from dpverify.statements.real_size import DELTA, DIMENSION, EPSILON, SIZE, linear, privacy, risk

_BATCH = round(SIZE**0.5)
_DIGITS = 64
"""Features of the digits, of whose records the hard instance takes its directions."""
_HIDDEN = _DIGITS // 2


def _logistic() -> Problem:
    return Problem(Logistic(), Ball(DIMENSION, 1.0))


def _two_passes() -> PrivateOracleMethod:
    """In batches of sqrt(n)."""
    return PrivateOracleMethod(linear(), GaussianOracle(1.0), CyclicDescent(2 * SIZE // _BATCH, _BATCH, 0.1))


def _limited() -> LimitedOracleSGD:
    problem = _logistic()
    oracle = QuantizingOracle(problem.loss.lipschitz_constant, bits=2)
    return LimitedOracleSGD(problem, oracle, accuracy=0.1 * trivial(problem))


def _reduction() -> PopulationToEmpirical:
    """Around a solver that is no more than accurate: the bound is the same for any."""
    return PopulationToEmpirical(
        ExactDescent(_logistic()),
        500.0,
        accuracy=ExactDescent.accuracy,
        minibatch=SIZE,
        boosts=1,
        withdraw_guarantee=True,
    )


def _resampled() -> EmpiricalToPopulation:
    return EmpiricalToPopulation(StopPNSGD.for_privacy(linear(), n=SIZE, epsilon=8 * EPSILON, delta=DELTA))


def _unseen(profile: Profile) -> Cases:
    """One query less than there are directions, in the records' dimension."""
    mechanism = OnHardInstance(
        HardInstance.with_directions(_DIGITS, _HIDDEN, directions_from="records"), steps=_HIDDEN - 1
    )
    data = load("digits")
    bound = Bound(
        bound=mechanism.least_excess_risk(_HIDDEN - 1),
        claim="at least C_1 alpha = 1 / sqrt(K) after fewer than K true answers",
        data=f"{data.n} digits as directions, d = {_DIGITS}, K = {_HIDDEN}",
        runs=profile.runs(100),
        at_least=True,
        origin=AsPrinted(
            "mn25.instance-facts", "excess risk at least C_1 alpha = 1 / sqrt(K)", "every K <= d / 2"
        ),
    )
    quantity = "excess risk of the subgradient method, L = 2, B = 1"
    return ((bound, ValuesOf(mechanism, data, Column(0), 0.0, LARGEST_LOSS, quantity, block_size=500)),)


def _traced(profile: Profile) -> Cases:
    """Two members of all records, whose features are signs: they are traced, exactly as often as is foreseen."""
    data = binarized(load("digits"))
    attack = Fingerprinting(members=2)
    least = attack.accurate_sum(data) / attack.members
    words = f"{data.name}, {data.n} records, as the population, n = 2, d = {data.d}"
    origin = Corrected(
        "mn25.lem15",
        "a sum of at least 1/3 over the members",
        "exact for this population: 1 - ||theta||^2",
        "the mean of the members",
    )
    bound = Bound(
        least, "(1 - ||theta||^2) / n, exactly", words, profile.runs(1_000), at_least=True, origin=origin
    )
    quantity = "statistic of a member, estimator without noise"
    return ((bound, ValuesOf(attack, data, Column(1), -2.0, 2.0, quantity)),)


_PHASED: tuple[Plan, ...] = (
    privacy("mn25.alg4", "Phased SGD", lambda: PhasedSGD(linear(), EPSILON, DELTA), runs=2_000),
    privacy("mn25.alg5", "Phased ERM", lambda: PhasedERM(linear(), EPSILON, DELTA), runs=2_000),
)

PLANS: tuple[Plan, ...] = (
    *_PHASED,
    *white_box(_PHASED, 1_000),
    privacy("mn25.alg1", "Two passes through a Gaussian oracle", _two_passes, runs=4_000),
    risk("mn25.alg3", "DP-SGD", lambda: DPSGD(_logistic(), 4 * EPSILON, DELTA), runs=60),
    risk("mn25.alg4", "Phased SGD", lambda: PhasedSGD(_logistic(), EPSILON, DELTA), runs=200),
    risk("mn25.alg5", "Phased ERM", lambda: PhasedERM(_logistic(), 32 * EPSILON, DELTA), runs=200),
    risk("mn25.limited-oracle", "SGD through a limited oracle", _limited, runs=200),
    risk("mn25.sco-to-erm", "the reduction to empirical risks", _reduction, runs=200),
    privacy("mn25.erm-to-sco", "Resampling, then Stop-PNSGD", _resampled, runs=4_000, index=1),
    *(
        Plan(f"{id_}/real-size/{name}", id_, title, MEAN, along(cases), Profile.FULL)
        for id_, name, title, cases in (
            ("mn25.hard-instance", "risk", f"Too few true answers at real size, {_DIGITS} features", _unseen),
            (
                "mn25.fingerprint",
                "traced",
                f"Tracing at real size, among 1797 records of {_DIGITS} features",
                _traced,
            ),
        )
    ),
)
