"""Audit plans for Section 5 of fmtt18: public records last, several tasks at once, smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD, OneVersusRest, theorem_noise_multiplier
from dpverify.algorithms.fmtt18.projected_noisy_sgd import SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast, printed_noise, smallest_noise
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    Hinge,
    Linear,
    Logistic,
    NeighborPair,
    Problem,
    Squared,
    contract_then_reveal,
    load,
    minimize,
)
from dpverify.problems.smoothed_losses import (
    AbsoluteError,
    SmoothedDistance,
    SmoothedGeneralizedLinear,
    mean_norm,
)
from dpverify.running import Output, Randomness, Runs
from dpverify.statements.audit_parts import (
    NOISE,
    REAL_DATA,
    OnFreshSamples,
    gaussian_delta,
    longest_record_at,
    mean_problem,
    real_neighbors,
    real_problem,
    sign_change,
)
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    MeanCase,
    MeanPlan,
    Origin,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
)

EPSILON, DELTA = 8.0, 1e-5
"""Asked on real data: large enough for a single record to be seen in the output."""

SIZE, DIMENSION, PUBLIC = 40, 5, 10
"""Records, features and public records of the privacy audits on real data."""

FEW = 12
"""Records for several tasks, each of which stops at a random one."""

RUNS_A_SAMPLE = 20
"""Runs that share one sample of the population."""

PAIR_ONLY = "the claim is stated for this pair, whose gradients are at distance 2 L with L = 1"

POPULATION = "as the population, samples of n records"


# ------------------------------------------------------------------------------------------ public records last


_PUBLIC_ORIGIN = Corrected(
    "fmtt18.cor31",
    "(epsilon, delta)-DP for sigma = 2 L sqrt(ln(1.25/delta) / m) / epsilon",
    "the exact profile at the last private index, for any sigma; the printed one lacks a 2 under the root",
    "every epsilon >= 0, eta <= 2/beta, the same public records on both sides",
)


def _public_case(
    mechanism: PublicRecordsLast, stating: PublicRecordsLast, pair: NeighborPair, words: str, runs: int
) -> PrivacyCase:
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.INDEX,
        stating.guarantees(pair.left.n)[0].guarantee,
        f"{pair.description}; the last {mechanism.public} records are public{words}",
        runs,
        origin=_PUBLIC_ORIGIN,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _public_real(data_name: str, profile: Profile) -> PrivacyCase:
    """The last private record, the worst one, of a few, and one public one; steps go half of the way to a record."""
    n, public = 4, 1
    data = longest_record_at(data_name, n - public, n=n, d=2)
    mechanism = PublicRecordsLast(mean_problem(2, 4.0), 0.5, 1.0, public=public)
    pair = real_neighbors(mechanism.problem, data, mechanism.private_count(n))
    return _public_case(mechanism, mechanism, pair, "", profile.runs(40_000))


def _public_worst(profile: Profile) -> PrivacyCase:
    """The last private record's step lands on a point or its opposite; the public steps are identity maps."""
    n, public = 6, 2
    pair = contract_then_reveal(n, n - public)
    space = AllSpace(1)
    mechanism = PublicRecordsLast(Problem(pair.loss, space), 1.0, 1.0, public=public, withdraw_guarantee=True)
    stating = PublicRecordsLast(Problem(Linear(), space), 1.0, 1.0, public=public)
    return _public_case(mechanism, stating, pair, f"; {PAIR_ONLY}", profile.runs(40_000))


def _public_risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """Corollary 31 with half of the records public, and the noise that its proof supports."""
    problem, data = real_problem(data_name, d=DIMENSION)
    cases = []
    for n in (100, 200, 400):
        mechanism = PublicRecordsLast.for_privacy(
            problem, n=n, public=n // 2, epsilon=1.0, delta=DELTA, noise="repaired"
        )
        cases.append(
            _population_case(
                mechanism,
                problem,
                data,
                n,
                "4 sqrt(2) R L / sqrt(n) * sqrt(1 + 8 d ln(1.25/delta) / (m epsilon^2)) at epsilon = 1, m = n/2",
                Corrected(
                    "fmtt18.cor31",
                    "the same bound, beside sigma = 2 L sqrt(ln(1.25/delta) / m) / epsilon",
                    "the noise is sqrt(2) times the printed one, with which the printed bound agrees",
                    "every epsilon > 0, independent records, eta <= 2/beta",
                ),
                profile,
            )
        )
    return tuple(cases)


def _population_case(
    mechanism: Any, problem: Problem, data: Dataset, n: int, claim: str, origin: Origin, profile: Profile
) -> RiskCase:
    stated = mechanism.risk_bound(n)
    return RiskCase(
        mechanism=OnFreshSamples(mechanism, n),
        problem=problem,
        dataset=data,
        bound=stated.bound,
        claim=claim,
        origin=origin,
        data=f"{data.name} {POPULATION}",
        runs=profile.runs(2_000),
        total=False,
        size=float(n),
        runs_a_sample=RUNS_A_SAMPLE,
    )


def _public_constant(profile: Profile) -> ConstantCase:
    """The smallest c in sigma = c L sqrt(ln(1.25/delta) / m) / epsilon, against the printed 2."""
    problem, asked = Problem(Linear(), Ball(1, 1.0)), {"public": 1000, "epsilon": 1.0, "delta": 1e-9}
    smallest = smallest_noise(problem, n=10_000, **asked)  # type: ignore[arg-type]
    constant = 2 * smallest / printed_noise(problem, **asked)  # type: ignore[arg-type]

    def excess(c: arb) -> arb:
        """Delta over 1e-9 of the pair that attains it, 2 L apart, with the noise of m + 1 steps."""
        noise = c * ((arb(5) / 4 * arb(10) ** 9).log() / 1000).sqrt()
        return gaussian_delta(1.0, 2 / (noise * arb(1001).sqrt())) - arb(10) ** -9

    return ConstantCase(
        formula="sigma = c L sqrt(ln(1.25/delta) / m) / epsilon",
        latex=r"\sigma=c\,\frac{L\sqrt{\ln(1.25/\delta)/m}}{\varepsilon}",
        provable=sign_change(constant, excess),
        extreme="smallest",
        printed=2.0,
        parameters={
            "n": "10000",
            "m": "1000",
            "epsilon": "1",
            "delta": "1e-9",
            "c that Theorem 30 gives": "2 sqrt(2)",
        },
        range_fixed_by="accounting at these parameters; attained by contract-then-reveal",
        method="the exact Gaussian profile of mu = 2 L / (sigma sqrt(m + 1))",
        decisive=True,
        origin=AsPrinted(
            "fmtt18.cor31", "c = 2; Theorem 30, on which it rests, gives 2 sqrt(2)", "every n, m"
        ),
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


def _skip_is_stop(data_name: str, profile: Profile) -> tuple[MeanCase, ...]:
    """The proof of Theorem 30: on independent draws from one population the two have one law."""
    problem, data = real_problem(data_name, d=DIMENSION)
    n = 20
    # noise low enough for the records' order to be felt
    mechanism = SkipBesideStop(SkipPNSGD(problem, 0.2, 0.2), StopPNSGD(problem, 0.2, 0.2, second_half=True))
    mean = np.asarray(data.features).T @ np.asarray(data.labels)
    direction = tuple((mean / np.linalg.norm(mean)).tolist())
    return tuple(
        MeanCase(
            OnFreshSamples(mechanism, n),
            data,
            BelowDifference(direction, threshold),
            -1.0,
            1.0,
            0.0,
            f"P[Skip's point is below {threshold} in a direction] minus the same for Stop(n/2)",
            "0: the two have one law on independent draws",
            f"{data.name} as the population, samples of {n} records",
            profile.runs(6_000),
            origin=AsPrinted(
                "fmtt18.thm30", "the distributions of the two outputs are identical", "independent records"
            ),
            at_least=at_least,
            block_size=RUNS_A_SAMPLE,
        )
        for threshold in (0.2, 0.4)
        for at_least in (False, True)
    )


# ------------------------------------------------------------------------------------------ several tasks


def _different_losses() -> tuple[Any, ...]:
    """Three ways to learn one label."""
    return Logistic(), Squared(1.0), SmoothedGeneralizedLinear(Hinge(), 0.5)


def _digit_tasks(count: int) -> tuple[OneVersusRest, ...]:
    return tuple(OneVersusRest(Logistic(), float(digit)) for digit in range(count))


def _digits(*, d: int, n: int | None = None) -> Dataset:
    """The digits with the digit itself as the label, not its parity."""
    from sklearn.datasets import load_digits

    data = load("digits", d=d)
    labels = np.asarray(load_digits().target, dtype=np.float64)
    chosen = slice(None) if n is None else np.linspace(0, data.n - 1, n).astype(int)
    title = f"{data.name}, labeled by digit" + ("" if n is None else f", {n} records")
    return Dataset(np.asarray(data.features)[chosen], labels[chosen], title, data.scaling)


_TASKS_ORIGIN = Corrected(
    "fmtt18.thm32",
    "k tasks: 4 k L^2 ln n / (n sigma^2) order, at orders with sigma >= L sqrt(2 order (order - 1))",
    "the sum of the mixtures' own Renyi divergences, of which the print bounds one part; ln n there should be H_n",
    "every order > 1, eta <= 2/beta",
)


def _tasks_case(
    mechanism: MultitaskStopPNSGD, stating: MultitaskStopPNSGD, pair: NeighborPair, words: str, runs: int
) -> PrivacyCase:
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.INDEX,
        stating.guarantees(pair.left.n)[0].guarantee,
        f"{pair.description}; {len(mechanism.losses)} tasks{words}",
        runs,
        origin=_TASKS_ORIGIN,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _tasks_real(data_name: str, profile: Profile) -> PrivacyCase:
    """The first record, the worst one; all tasks' points are seen together."""
    if data_name == "digits":
        data, constraint = _digits(d=2, n=FEW), Ball(2, 1.0)
        mechanism = MultitaskStopPNSGD(_digit_tasks(3), constraint, 0.5, 1.0)
        problem = Problem(mechanism.losses[0], constraint)
    else:
        # three times the mean of two records
        data, problem = longest_record_at(data_name, 1, n=2, d=2), mean_problem(2, 12.0)
        mechanism = MultitaskStopPNSGD((problem.loss,) * 3, problem.constraint, 0.5, 2.0)
    pair = real_neighbors(problem, data, 1)
    return _tasks_case(mechanism, mechanism, pair, "", profile.runs(10_000))


def _tasks_worst(profile: Profile) -> PrivacyCase:
    n, tasks, stddev = 4, 4, 1.5
    pair = contract_then_reveal(n, 1)
    space = AllSpace(1)
    mechanism = MultitaskStopPNSGD((pair.loss,) * tasks, space, 1.0, stddev, withdraw_guarantee=True)
    stating = MultitaskStopPNSGD((Linear(),) * tasks, space, 1.0, stddev)
    return _tasks_case(mechanism, stating, pair, f"; {PAIR_ONLY}", profile.runs(20_000))


@dataclass(frozen=True)
class MeanTaskExcess:
    """Excess population risk, averaged over the tasks and over the runs that share a sample."""

    losses: tuple[Any, ...]
    constraint: Any
    population: Dataset
    minima: tuple[float, ...]
    """Lower ends of the tasks' certified minima, so that no excess is counted too small."""

    def __call__(self, runs: Runs) -> Any:
        """One number a sample."""
        total = np.zeros(len(runs))
        for task, (loss, minimum) in enumerate(zip(self.losses, self.minima, strict=True)):
            problem = Problem(loss, self.constraint)
            total += np.asarray(problem.mean_risk(runs.points[:, task, :], self.population)) - minimum
        return (total / len(self.losses)).reshape(-1, RUNS_A_SAMPLE).mean(axis=1)


def _tasks_risk(profile: Profile) -> tuple[MeanCase, ...]:
    """Theorem 32's risk at a delta near 1/2, the only place where so few records are enough for it."""
    data, losses, constraint, n = _digits(d=2), _digit_tasks(3), Ball(2, 1.0), 300
    mechanism = MultitaskStopPNSGD.for_privacy(losses, constraint, n=n, epsilon=0.99, delta=0.4)
    minima = [minimize(Problem(loss, constraint), data).value for loss in losses]
    stated = mechanism.risk_bound(n)
    assert stated is not None
    span = constraint.diameter * max(loss.lipschitz_constant for loss in losses)
    slack = max(interval.upper - interval.lower for interval in minima)
    return (
        MeanCase(
            OnFreshSamples(mechanism, n),
            data,
            MeanTaskExcess(losses, constraint, data, tuple(interval.lower for interval in minima)),
            0.0,
            span + slack,
            stated.bound + slack,
            "expected excess population risk, averaged over the tasks",
            "4 R L / sqrt(n) * sqrt(1 + 16 d q ln(1/delta) / epsilon^2) at epsilon = 0.99, delta = 0.4",
            f"{data.name} {POPULATION} = {n}",
            profile.runs(40 * RUNS_A_SAMPLE),
            origin=Corrected(
                "fmtt18.thm32",
                "the same bound with q = max(2 k ln(n) / n, 2 ln(1/delta))",
                "q has the harmonic number H_n for ln n; the largest error of the certified minima is added",
                "epsilon in (0, 1), delta in (0, 1/2), independent records",
            ),
            block_size=RUNS_A_SAMPLE,
        ),
    )


def _tasks_constant(profile: Profile) -> ConstantCase:
    """The smallest c in sigma = c L sqrt(q ln(1/delta)) / epsilon, against the printed 4."""
    n, tasks, epsilon, delta = 100, 500, 0.9, 1e-2
    made = MultitaskStopPNSGD.for_privacy(
        (Linear(),) * tasks, Ball(1, 1.0), n=n, epsilon=epsilon, delta=delta, noise="smallest"
    )
    constant = 4 * made.noise_stddev / theorem_noise_multiplier(tasks, n=n, epsilon=epsilon, delta=delta)
    return ConstantCase(
        formula="sigma = c L sqrt(q ln(1/delta)) / epsilon, q = max(2 k H_n / n, 2 ln(1/delta))",
        latex=r"\sigma=c\,\frac{L\sqrt{q\ln(1/\delta)}}{\varepsilon}",
        provable=Interval(lower=constant, upper=constant),
        extreme="smallest",
        printed=4.0,
        parameters={
            "n": str(n),
            "k": str(tasks),
            "epsilon": "0.9",
            "delta": "0.01",
            "tasks for the noise of one": str(MultitaskStopPNSGD.free_tasks(n, delta)),
        },
        range_fixed_by="accounting at these parameters, to 1e-6",
        method="sum of the mixtures' Renyi divergences at the first record, best order",
        origin=Corrected(
            "fmtt18.thm32",
            "c = 4",
            "q has the harmonic number H_n for ln n",
            "epsilon in (0, 1), delta in (0, 1/2)",
        ),
    )


# ------------------------------------------------------------------------------------------ smoothing


def _kinked(data_name: str, *, n: int | None = None) -> tuple[Problem, Dataset]:
    """A support vector machine on breast cancer, or a median regression on diabetes, on the unit ball."""
    data = load(data_name, n=n, d=DIMENSION)
    return Problem(Hinge() if data_name == "breast-cancer" else AbsoluteError(), Ball(data.d, 1.0)), data


def _smoothed_real(data_name: str, profile: Profile) -> PrivacyCase:
    """The second of two records; every step of a support vector machine or a median shows its record's direction."""
    kinked, _ = _kinked(data_name)
    n, index, width = 2, 2, 0.2
    data = longest_record_at(data_name, index, n=n, d=2)
    problem = Problem(kinked.loss, Ball(2, 1.0))
    mechanism = SmoothedPNSGD(problem, 0.05, 1.0, width)
    pair = real_neighbors(mechanism.algorithm.problem, data, index)
    printed, sharp = mechanism.rdp_at(n, index), mechanism.guarantee_at(n, index)
    assert printed is not None
    assert sharp is not None
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.INDEX,
        printed.guarantee,
        f"{pair.description}; smoothed with lambda = {width:g}",
        profile.runs(40_000),
        sharp.guarantee,
        origin=AsPrinted(
            "fmtt18.thm24",
            "2 L^2 / (sigma^2 (n + 1 - t)) order = "
            f"{2 * problem.loss.lipschitz_constant**2 / (n + 1 - index):.4g} order",
            "every order > 1, eta <= 2/beta; Corollary 34 applies it to the smoothed losses",
        ),
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _smoothed_risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """Corollary 34's proof for the loss itself, at an epsilon for which the bound says something."""
    problem, data = _kinked(data_name)
    claim = f"4 sqrt(2) R sqrt(L^2 + d sigma^2) / sqrt(n) + largest bias, at epsilon = {EPSILON:g}"
    return tuple(
        _population_case(
            SmoothedPNSGD.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA),
            problem,
            data,
            n,
            claim,
            Corrected(
                "fmtt18.cor34",
                "4 sqrt(2) R L / sqrt(n) "
                "(sqrt(1 + 8 d ln(1.25/delta) / epsilon^2) + epsilon sqrt(d) / (2 ln(1.25/delta)))",
                "noise enough for this epsilon, and the bias that the printed lambda has for these losses",
                "every epsilon > 0, independent records, eta <= 2/beta",
            ),
            profile,
        )
        for n in (100, 200, 400)
    )


def _smoothness_constant(profile: Profile) -> ConstantCase:
    """The largest c in smoothness = c L / lambda among the convolved losses, against the printed 1."""
    width = 0.1
    losses = [SmoothedGeneralizedLinear(base, width) for base in (Hinge(), AbsoluteError(), Logistic())]
    every: list[Any] = [*losses, *(SmoothedDistance(width, d) for d in (1, 2, 5, 10, 100))]
    constant = max(loss.smoothness * width for loss in every)
    return ConstantCase(
        formula="beta = c L / lambda",
        latex=r"\beta=c\,L/\lambda",
        provable=Interval(lower=constant, upper=constant),
        extreme="smallest",
        printed=1.0,
        parameters={"losses": "hinge, absolute error, logistic, Euclidean distance"},
        range_fixed_by="closed forms; sqrt(2/pi) is the largest for any loss, as E |Z| = sqrt(2/pi)",
        method="the largest of the losses named",
        origin=AsPrinted("fmtt18.thm33", "beta = L / lambda", "every convex L-Lipschitz loss"),
    )


def _bias_constant(profile: Profile) -> ConstantCase:
    """The largest c in bias = c L lambda sqrt(d) over dimensions, against the printed 1."""
    dimensions = (1, 2, 5, 10, 100, 10_000)
    constant = max(mean_norm(d) / math.sqrt(d) for d in dimensions)
    return ConstantCase(
        formula="bias = c L lambda sqrt(d)",
        latex=r"|\hat f-f|=c\,L\lambda\sqrt d",
        provable=Interval(lower=constant, upper=constant),
        extreme="smallest",
        printed=1.0,
        parameters={"d": ", ".join(map(str, dimensions))},
        range_fixed_by="these dimensions; it rises to 1 with d",
        method="E ||Z|| in closed form, attained by ||w - x|| at w = x",
        origin=AsPrinted("fmtt18.thm33", "L lambda sqrt(d)", "every convex L-Lipschitz loss"),
    )


# ------------------------------------------------------------------------------------------ counts


def _queries(algorithm: str, profile: Profile) -> ComplexityCase:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    n, claimed, claim = data.n, data.n, "at most n"
    mechanism: Any
    if algorithm == "public":
        mechanism = PublicRecordsLast.for_privacy(problem, n=n, public=PUBLIC, epsilon=EPSILON, delta=DELTA)
    elif algorithm == "smoothing":
        kinked, _ = _kinked("breast-cancer", n=SIZE)
        mechanism = SmoothedPNSGD.for_privacy(kinked, n=n, epsilon=EPSILON, delta=DELTA)
    else:
        losses = _different_losses()
        mechanism = MultitaskStopPNSGD(losses, problem.constraint, 0.5, 1.0)
        claimed, claim = len(losses) * n, "at most k n for k tasks"
    origin = AsPrinted(f"fmtt18.{algorithm}", f"{claim} = {claimed}: one gradient a step", "every n")
    return ComplexityCase(mechanism, data, claimed, claim, data.name, exact=False, origin=origin)


def _plans() -> tuple[Plan, ...]:
    public, tasks, smoothing = "fmtt18.public", "fmtt18.multitask", "fmtt18.smoothing"
    found: list[Plan] = [
        PrivacyPlan(f"{public}/worst-case", public, "Public records last, worst case", _public_worst),
        ConstantPlan(f"{public}/constant", "fmtt18.cor31", "Corollary 31's constant", _public_constant),
        PrivacyPlan(f"{tasks}/worst-case", tasks, "Several tasks, worst case", _tasks_worst),
        MeanPlan(f"{tasks}/digits/risk", tasks, "Risk of one-versus-rest tasks on digits", _tasks_risk),
        ConstantPlan(f"{tasks}/constant", "fmtt18.thm32", "Theorem 32's constant", _tasks_constant),
        ConstantPlan(
            f"{smoothing}/smoothness-constant",
            "fmtt18.thm33",
            "Theorem 33's smoothness",
            _smoothness_constant,
        ),
        ConstantPlan(f"{smoothing}/bias-constant", "fmtt18.thm33", "Theorem 33's bias", _bias_constant),
    ]
    for name in ("breast-cancer", "digits"):
        found.append(
            PrivacyPlan(f"{tasks}/{name}", tasks, f"Several tasks on {name}", partial(_tasks_real, name))
        )
    for name in REAL_DATA:
        found += [
            PrivacyPlan(
                f"{public}/{name}", public, f"Public records last on {name}", partial(_public_real, name)
            ),
            RiskPlan(
                f"{public}/{name}/risk",
                public,
                f"Risk with public records on {name}",
                partial(_public_risk, name),
                curve_over="n",
            ),
            MeanPlan(
                f"fmtt18.skip/{name}/stop-half",
                "fmtt18.skip",
                f"Skip-PNSGD and Stop(n/2) on {name}: one law",
                partial(_skip_is_stop, name),
            ),
            PrivacyPlan(
                f"{smoothing}/{name}", smoothing, f"Smoothed PNSGD on {name}", partial(_smoothed_real, name)
            ),
            RiskPlan(
                f"{smoothing}/{name}/risk",
                smoothing,
                f"Risk of smoothed PNSGD on {name}",
                partial(_smoothed_risk, name),
                curve_over="n",
            ),
        ]
    found += [
        ComplexityPlan(
            f"fmtt18.{key}/queries",
            f"fmtt18.{key}",
            f"Gradient queries of fmtt18.{key}",
            partial(_queries, key),
        )
        for key in ("public", "multitask", "smoothing")
    ]
    return tuple(found)


PLANS = _plans()
