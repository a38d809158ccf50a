"""Audits of projected noisy SGD and its variants (fmtt18, Algorithms 1 and 2, Section 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.auditing import Bound, ConstantQuestion, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, RiskOf, ValuesOf
from dpverify.ledger.records import Interval
from dpverify.privacy import RDP, NoisyIteration, StatedGuarantee
from dpverify.problems import AllSpace, Dataset, Linear, Problem, contract_then_reveal, gradient_sensitivity
from dpverify.running import Output, Randomness, Runs
from dpverify.statements.audit_parts import (
    NOISE,
    REAL_DATA,
    OnFreshSamples,
    longest_record_at,
    mean_problem,
    real_neighbors,
    real_problem,
)
from dpverify.statements.exact.chains import ExactEpsilon
from dpverify.statements.fmtt18.audits.cases import (
    DELTA,
    DIMENSION,
    EPSILON,
    PAIR_ONLY,
    RUNS_A_SAMPLE,
    SIZE,
    query_case,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    MEAN,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Origin,
    Plan,
    Profile,
    Unstated,
    along,
    white_box,
)

EPOCHS_EPSILON = 4.0
"""Asked of Algorithm 2, whose parameters Appendix B sets for orders from 5 on."""


def _one_pass(algorithm: type[Any], problem: Problem, n: int) -> Any:
    """Parameters by Theorem 30 for PNSGD and Skip; for Stop those of Theorem 29 with the per-index claim."""
    chosen = algorithm.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA)
    return algorithm(problem, chosen.rate, chosen.noise_stddev)


def _many_epochs(problem: Problem) -> PNMSGD:
    return PNMSGD.for_privacy(problem, rate=0.05, epsilon=EPOCHS_EPSILON, delta=DELTA)


def _stated(guarantee: StatedGuarantee | None) -> StatedGuarantee:
    if guarantee is None:
        raise AssertionError("a plan audits a guarantee that was withdrawn")
    return guarantee


def _overall_rdp(mechanism: Any, n: int, index: int) -> StatedGuarantee:
    """The theorem's bound for every index, said of one."""
    found: StatedGuarantee = next(g for g in mechanism.guarantees(n) if isinstance(g.guarantee, RDP))
    return _stated(found.at(index, n))


def _claimed(algorithm: str, mechanism: Any, n: int, index: int) -> tuple[StatedGuarantee, Origin]:
    """The theorem's RDP of an index, with the printed slope beside it."""
    loss, variance = mechanism.problem.loss, mechanism.noise_stddev**2
    lipschitz, sensitivity = loss.lipschitz_constant, gradient_sensitivity(loss)
    specialized = sensitivity < 2 * lipschitz * (1 - 1e-12)
    apart = (
        f"in place of 2 L, the proof needs only the largest distance of two gradients, {sensitivity:g} here"
    )
    if algorithm == "stop":
        slope = 4 * lipschitz**2 * math.log(n) / (n * variance)
        because = "the sum in the proof is the harmonic number H_n, where ln n is printed"
        orders = "orders with sigma >= L sqrt(2 order (order - 1)), eta <= 2/beta"
        if specialized:
            because = f"{because}; {apart}"
        return _overall_rdp(mechanism, n, index), Corrected(
            "fmtt18.thm26", f"4 L^2 ln n / (n sigma^2) order = {slope:.4g} order", because, orders
        )
    if algorithm == "alg2":
        slope, holds = 4 * lipschitz**2 / variance, "every order > 1, eta <= 2/beta"
        printed = f"4 L^2 / sigma^2 order = {slope:.4g} order"
        if mechanism.epochs is None:
            return _overall_rdp(mechanism, n, index), AsPrinted("fmtt18.thm35", printed, holds)
        because = f"the proof's schedule for {mechanism.epochs} epochs at this index, not for n; {apart}"
        return _stated(mechanism.rdp_at(n, index)), Corrected("fmtt18.thm35", printed, because, holds)
    source = {"alg1": "fmtt18.thm23", "skip": "fmtt18.thm24"}[algorithm]
    slope = 2 * lipschitz**2 / (variance * (n + 1 - index))
    printed, holds = (
        f"2 L^2 / (sigma^2 (n + 1 - t)) order = {slope:.4g} order",
        "every order > 1, eta <= 2/beta",
    )
    claim = _stated(mechanism.rdp_at(n, index))
    if specialized:
        return claim, Corrected(source, printed, apart, holds)
    return claim, AsPrinted(source, printed, holds)


def _real(algorithm: str, data_name: str, profile: Profile) -> Audit:
    """The mean of a few real records, step by step: a step of size 1 lands on the record and forgets the others."""
    settings: dict[str, tuple[type[Any], int, int, float, dict[str, Any]]] = {
        # kind, records, index, rate, more
        "alg1": (PNSGD, 8, 8, 1.0, {}),
        "skip": (SkipPNSGD, 8, 8, 1.0, {}),
        "stop": (StopPNSGD, 2, 1, 0.5, {}),
        "alg2": (PNMSGD, 8, 8, 1.0, {"epochs": 2}),
    }
    kind, n, index, rate, more = settings[algorithm]
    data = longest_record_at(data_name, index, n=n, d=2)
    # random stopping claims little at large orders unless there is more noise
    stddev = 2.0 if algorithm == "stop" else 1.0
    mechanism = kind(mean_problem(2, 4.0 * stddev), rate, stddev, **more)
    claim, origin = _claimed(algorithm, mechanism, n, index)
    pair = real_neighbors(mechanism.problem, data, index)
    return Audit(
        PrivacyQuestion(
            claim,
            pair.description,
            profile.runs(40_000),
            best_known=_stated(mechanism.guarantee_at(n, index)).guarantee,
            origin=origin,
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


# ------------------------------------------------------------------------------------------ worst cases


def _contract(algorithm: str, n: int, index: int, profile: Profile) -> Audit:
    """Steps before the index contract to a point, later ones are identity maps: the theorems' worst case."""
    pair = contract_then_reveal(n, index)
    problem = Problem(pair.loss, AllSpace(1))
    stddev = 1.0
    kind: Any = {"alg1": PNSGD, "skip": SkipPNSGD, "stop": StopPNSGD}[algorithm]
    # the loss is not Lipschitz on all space; what the theorems use is that these two data sets' gradients are at
    # distance 2, so the claim is stated for the pair
    mechanism = kind(problem, 1.0, stddev, withdraw_guarantee=True)
    reference = kind(Problem(_unit_lipschitz(), problem.constraint), 1.0, stddev)
    claim, origin = _claimed(algorithm, reference, n, index)
    upper = _stated(reference.guarantee_at(n, index)).guarantee
    return Audit(
        PrivacyQuestion(
            claim,
            f"{pair.description}; {PAIR_ONLY}",
            profile.runs(40_000),
            best_known=upper,
            origin=origin,
        ),
        OnPair(
            mechanism,
            pair.left,
            pair.right,
            weakened=mechanism.weakened,
            fault=NOISE,
            exact=ExactEpsilon(mechanism, pair.left, pair.right),
        ),
    )


def _unit_lipschitz() -> Any:
    """A smooth loss with gradients at distance at most 2, so that it states the pair's guarantee."""
    return Linear()


def _epochs_worst(epochs: int | None, profile: Profile) -> Audit:
    """Each epoch lands on the last record's point or its opposite."""
    n = 2 if epochs is None else 8
    pair = contract_then_reveal(n, n)
    problem = Problem(pair.loss, AllSpace(1))
    mechanism = PNMSGD(problem, 1.0, 1.0, epochs=epochs, withdraw_guarantee=True)
    reference = PNMSGD(Problem(_unit_lipschitz(), problem.constraint), 1.0, 1.0, epochs=epochs)
    claim, origin = _claimed("alg2", reference, n, n)
    return Audit(
        PrivacyQuestion(
            claim,
            f"{pair.description}, {n if epochs is None else epochs} epochs; {PAIR_ONLY}",
            profile.runs(40_000),
            best_known=_stated(reference.guarantee_at(n, n)).guarantee,
            origin=origin,
        ),
        OnPair(
            mechanism,
            pair.left,
            pair.right,
            weakened=mechanism.weakened,
            fault=NOISE,
            exact=ExactEpsilon(mechanism, pair.left, pair.right),
        ),
    )


# ------------------------------------------------------------------------------------------ risk, counts, constants


def _population_risk(algorithm: str, data_name: str, profile: Profile) -> Cases:
    """Theorems 29 and 30 with the data set as the population."""
    problem, data = real_problem(data_name, d=2)
    kind: Any = {"stop": StopPNSGD, "skip": SkipPNSGD}[algorithm]
    factor = {"stop": 4.0, "skip": 4.0 * math.sqrt(2)}[algorithm]
    source = {"stop": "fmtt18.thm29", "skip": "fmtt18.thm30"}[algorithm]
    words = {"stop": "4", "skip": "4 sqrt(2)"}[algorithm]
    # the printed noise is enough up to epsilon = 1, so the theorem is tried there
    epsilon, cases = 1.0, []
    radius, lipschitz = problem.constraint.largest_norm, problem.loss.lipschitz_constant
    # from a few hundred records on, the bound is below the largest risk on the set
    for n in {"stop": (100, 200, 400), "skip": (200, 400, 800)}[algorithm]:
        spread = 8 * data.d * math.log(1.25 / DELTA) / epsilon**2
        bound = factor * radius * lipschitz / math.sqrt(n) * math.sqrt(1 + spread)
        mechanism = kind.for_privacy(problem, n=n, epsilon=epsilon, delta=DELTA)
        cases.append(
            (
                Bound(
                    bound=bound,
                    claim=f"{factor:.4g} R L / sqrt(n) * sqrt(1 + 8 d ln(1.25/delta) / epsilon^2) at epsilon = 1",
                    data=f"{data.name} as the population, d = {data.d}, samples of n records",
                    runs=profile.runs(2_000),
                    size=float(n),
                    origin=AsPrinted(
                        source,
                        f"{words} R L / sqrt(n) * sqrt(1 + 8 d ln(1.25/delta) / epsilon^2) = {bound:.4g}",
                        "every epsilon > 0, sigma = 2 L sqrt(2 ln(1.25/delta)) / epsilon, independent records",
                    ),
                ),
                RiskOf(OnFreshSamples(mechanism, n), problem, data, total=False, runs_a_sample=20),
            )
        )
    return tuple(cases)


def _measured_risk(algorithm: str, data_name: str, profile: Profile) -> Cases:
    """The paper bounds no risk for the last point of these algorithms: the interval stands for itself."""
    problem, data = real_problem(data_name, n=SIZE if algorithm == "alg2" else None, d=DIMENSION)
    mechanism = _many_epochs(problem) if algorithm == "alg2" else _one_pass(PNSGD, problem, data.n)
    return (
        (
            Bound(
                bound=math.inf,
                claim="none: the paper does not bound the risk of this algorithm's last point",
                data=data.name,
                runs=profile.runs(10_000),
                origin=Unstated("the paper says nothing about it"),
            ),
            RiskOf(mechanism, problem, data, total=False),
        ),
    )


def _appendix_constant(profile: Profile) -> Audit:
    """The smallest c in sigma = c L sqrt(ln(1/delta)) / epsilon that the accountant can prove, against 5."""
    n, epsilon, delta, lipschitz = 100, 1.0, 1e-5, 1.0

    def proved(constant: float) -> bool:
        stddev = constant * lipschitz * math.sqrt(math.log(1 / delta)) / epsilon
        mus = []
        for index in (1, n // 2, n):
            shifts = np.zeros(n * n)
            shifts[index - 1 :: n] = 2 * lipschitz
            iteration = NoisyIteration(shifts=shifts.tolist(), noise_stddevs=[stddev] * (n * n))
            mus.append(iteration.gdp())
        return all(float(np.asarray(g.privacy_profile(epsilon))) <= delta for g in mus)

    low, high = 0.1, 5.0
    while not proved(high):
        low, high = high, 2 * high
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if proved(middle) else (middle, high)
    return Audit(
        ConstantQuestion(
            formula="sigma = c L sqrt(ln(1/delta)) / epsilon",
            latex=r"\sigma=c\,\frac{L\sqrt{\ln(1/\delta)}}{\varepsilon}",
            provable=Interval(lower=low, upper=high),
            extreme="smallest",
            printed=5.0,
            parameters={"n": str(n), "epsilon": "1", "delta": "1e-5"},
            range_fixed_by=f"accounting at n = {n}, epsilon = 1 and delta = 1e-5, at three indices",
            method="best schedule of Theorem 22 in GDP form at indices 1, n/2 and n, then the exact Gaussian profile",
            origin=AsPrinted("fmtt18.appB", "c = 5", "2 ln(1/delta) / epsilon >= 5"),
        )
    )


# ------------------------------------------------------------------------------------------ Skip and Stop(n/2)


@dataclass(frozen=True)
class SkipBesideStop:
    """Skip-PNSGD and Stop(n/2) with noise of their own, on one data set; points have shape (runs, 2, d)."""

    skip: SkipPNSGD
    stop: StopPNSGD

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run both."""
        both = [algorithm(data, rng=rng, runs=runs).points for algorithm in (self.skip, self.stop)]
        return Output(rng.xp.stack(both, axis=1))


@dataclass(frozen=True)
class BelowDifference:
    """How much more often Skip's point is below a number in a direction than Stop(n/2)'s; one number a sample."""

    direction: tuple[float, ...]
    threshold: float

    def __call__(self, runs: Runs) -> Any:
        """Numbers in [-1, 1], one for each block of runs."""
        below = np.asarray(runs.points @ np.asarray(self.direction) <= self.threshold, dtype=np.float64)
        return (below[:, 0] - below[:, 1]).reshape(-1, RUNS_A_SAMPLE).mean(axis=1)


def _skip_is_stop(data_name: str, profile: Profile) -> Cases:
    """The proof of Theorem 30: on independent draws from one population the two have one law."""
    problem, data = real_problem(data_name, d=DIMENSION)
    n = 20
    # noise low enough for the records' order to be felt
    mechanism = SkipBesideStop(SkipPNSGD(problem, 0.2, 0.2), StopPNSGD(problem, 0.2, 0.2, second_half=True))
    mean = np.asarray(data.features).T @ np.asarray(data.labels)
    direction = tuple((mean / np.linalg.norm(mean)).tolist())
    return tuple(
        (
            Bound(
                bound=0.0,
                claim="0: on independent draws, the two have the same law",
                data=f"{data.name} as the population, samples of {n} records",
                runs=profile.runs(6_000),
                at_least=at_least,
                origin=AsPrinted(
                    "fmtt18.thm30",
                    "the distributions of the two outputs are identical",
                    "independent records",
                ),
            ),
            ValuesOf(
                OnFreshSamples(mechanism, n),
                data,
                BelowDifference(direction, threshold),
                -1.0,
                1.0,
                f"P[Skip's point is below {threshold} in a direction] minus the same for Stop(n/2)",
                block_size=RUNS_A_SAMPLE,
            ),
        )
        for threshold in (0.2, 0.4)
        for at_least in (False, True)
    )


def _queries(algorithm: str, profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    subject = f"fmtt18.{algorithm}"
    if algorithm == "alg2":
        return query_case(_many_epochs(problem), data, subject, data.n**2, "n^2", exact=True)
    kind = {"alg1": PNSGD, "skip": SkipPNSGD, "stop": StopPNSGD}[algorithm]
    words = "n" if algorithm == "alg1" else "at most n"
    return query_case(
        _one_pass(kind, problem, data.n), data, subject, data.n, words, exact=algorithm == "alg1"
    )


NAMES = {"alg1": "PNSGD", "skip": "Skip-PNSGD", "stop": "Stop-PNSGD", "alg2": "PNMSGD"}


def _plans() -> tuple[Plan, ...]:
    found: list[Plan] = []
    for key, name in NAMES.items():
        subject = f"fmtt18.{key}"
        for data_name in REAL_DATA:
            of_population = key in ("stop", "skip")
            risk = partial(_population_risk if of_population else _measured_risk, key, data_name)
            found += [
                Plan(
                    f"{subject}/{data_name}",
                    subject,
                    f"{name} on {data_name}",
                    PRIVACY,
                    partial(_real, key, data_name),
                ),
                Plan(
                    f"{subject}/{data_name}/risk",
                    subject,
                    f"Risk of {name} on {data_name}",
                    RISK,
                    along(risk, over="n" if of_population else ""),
                ),
            ]
        found.append(
            Plan(f"{subject}/queries", subject, f"Gradient queries of {name}", COUNT, partial(_queries, key))
        )
    for key, n, index in (("alg1", 6, 6), ("alg1", 6, 3), ("skip", 6, 6), ("stop", 2, 1)):
        found.append(
            Plan(
                f"fmtt18.{key}/worst-case-{index}-of-{n}",
                f"fmtt18.{key}",
                f"{NAMES[key]}, worst case at index {index} of {n}",
                PRIVACY,
                partial(_contract, key, n, index),
            )
        )
    found += [
        Plan(
            "fmtt18.alg2/worst-case",
            "fmtt18.alg2",
            "PNMSGD, worst case",
            PRIVACY,
            partial(_epochs_worst, None),
        ),
        Plan(
            "fmtt18.appB/constant",
            "fmtt18.appB",
            "The constant in Appendix B's noise",
            CONSTANT,
            _appendix_constant,
        ),
        *(
            Plan(
                f"fmtt18.skip/{name}/stop-half",
                "fmtt18.skip",
                f"Skip-PNSGD and Stop(n/2) on {name}: the same law",
                MEAN,
                along(partial(_skip_is_stop, name)),
            )
            for name in REAL_DATA
        ),
    ]
    return (*found, *white_box(found))


PLANS = _plans()
