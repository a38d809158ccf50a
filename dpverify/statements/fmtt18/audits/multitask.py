"""Audits of several tasks by Stop-PNSGD (fmtt18, Section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD, theorem_noise_multiplier
from dpverify.auditing import Bound, ConstantQuestion, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, ValuesOf
from dpverify.ledger.records import Interval
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
from dpverify.problems.further_losses import OneVersusRest
from dpverify.problems.smoothed_losses import SmoothedGeneralizedLinear
from dpverify.running import Runs
from dpverify.statements.audit_parts import (
    NOISE,
    OnFreshSamples,
    longest_record_at,
    mean_problem,
    on_pair,
    real_neighbors,
    real_problem,
)
from dpverify.statements.fmtt18.audits.cases import (
    DIMENSION,
    PAIR_ONLY,
    POPULATION,
    RUNS_A_SAMPLE,
    SIZE,
    query_case,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    MEAN,
    PRIVACY,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
)


def _different_losses() -> tuple[Any, ...]:
    """Three ways to learn one label."""
    return Logistic(), Squared(1.0), SmoothedGeneralizedLinear(Hinge(), 0.5)


def _digit_tasks(count: int, base: Logistic | Linear | None = None) -> tuple[OneVersusRest, ...]:
    return tuple(OneVersusRest(base or Logistic(), float(digit)) for digit in range(count))


def _digits(*, d: int) -> Dataset:
    """The digits with the digit itself as the label, not its parity."""
    from sklearn.datasets import load_digits

    data = load("digits", d=d)
    labels = np.asarray(load_digits().target, dtype=np.float64)
    return Dataset(np.asarray(data.features), labels, f"{data.name}, labeled by digit", data.scaling)


_TASKS_ORIGIN = Corrected(
    "fmtt18.thm32",
    "k tasks: 4 k L^2 ln n / (n sigma^2) order, at orders with sigma >= L sqrt(2 order (order - 1))",
    "the sum of the mixtures' own Renyi divergences, of which the paper bounds one part; its ln n should be H_n",
    "every order > 1, eta <= 2/beta",
)


def _tasks_case(
    mechanism: MultitaskStopPNSGD, stating: MultitaskStopPNSGD, pair: NeighborPair, words: str, runs: int
) -> Audit:
    return Audit(
        PrivacyQuestion(
            on_pair(stating.guarantees(pair.left.n).headline, pair),
            f"{pair.description}; {len(mechanism.losses)} tasks{words}",
            runs,
            origin=_TASKS_ORIGIN,
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def _tasks_real(data_name: str, profile: Profile) -> Audit:
    """The first of two records, the worst one; all tasks' points are seen together."""
    if data_name == "digits":
        losses: tuple[Any, ...] = _digit_tasks(3, Linear(labeled=True))
        pair = _turned(losses[0], _longest_first(_digits(d=2), 2))
    else:
        # three times the mean of two records
        problem = mean_problem(2, 12.0)
        losses = (problem.loss,) * 3
        pair = real_neighbors(problem, longest_record_at(data_name, 1, n=2, d=2), 1)
    mechanism = MultitaskStopPNSGD(losses, Ball(2, 12.0), 0.5, 2.0)
    return _tasks_case(mechanism, mechanism, pair, "", profile.runs(10_000))


def _longest_first(data: Dataset, n: int) -> Dataset:
    """The longest record and the first ones of a data set, n in all."""
    features, labels = np.asarray(data.features), np.asarray(data.labels)
    chosen = [int(np.argmax(np.linalg.norm(features, axis=1))), *range(n - 1)]
    return Dataset(features[chosen], labels[chosen], f"{data.name}, {n} records", data.scaling)


def _turned(loss: Any, data: Dataset) -> NeighborPair:
    """The first record, and its opposite with the same label: linear losses of all tasks are turned around at once."""
    record = np.asarray(data.features)[0]
    length = float(np.linalg.norm(record))
    other = data.replace(1, -(1 - 1e-15) * record / length, float(np.asarray(data.labels)[0]))
    words = f"{data.name} and its neighbor with record 1 turned around, the label kept"
    return NeighborPair(data, other, 1, loss, 1 + length, words)


def _tasks_worst(profile: Profile) -> Audit:
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


def _tasks_risk(profile: Profile) -> Cases:
    """Theorem 32's risk at a delta near 1/2, the only place where so few records are enough for it."""
    data, losses, constraint, n = _digits(d=2), _digit_tasks(3), Ball(2, 1.0), 300
    mechanism = MultitaskStopPNSGD.for_privacy(losses, constraint, n=n, epsilon=0.99, delta=0.4)
    minima = [minimize(Problem(loss, constraint), data).value for loss in losses]
    stated = mechanism.risk_bound(n)
    assert stated is not None
    span = constraint.diameter * max(loss.lipschitz_constant for loss in losses)
    slack = max(interval.upper - interval.lower for interval in minima)
    return (
        (
            Bound(
                bound=stated.bound + slack,
                claim="4 R L / sqrt(n) * sqrt(1 + 16 d q ln(1/delta) / epsilon^2) at epsilon = 0.99, delta = 0.4",
                data=f"{data.name} {POPULATION} = {n}",
                runs=profile.runs(40 * RUNS_A_SAMPLE),
                origin=Corrected(
                    "fmtt18.thm32",
                    "the same bound with q = max(2 k ln(n) / n, 2 ln(1/delta))",
                    "q has the harmonic number H_n in place of ln n; the largest error of the certified minima "
                    "is added",
                    "epsilon in (0, 1), delta in (0, 1/2), independent records",
                ),
            ),
            ValuesOf(
                OnFreshSamples(mechanism, n),
                data,
                MeanTaskExcess(losses, constraint, data, tuple(interval.lower for interval in minima)),
                0.0,
                span + slack,
                "expected excess population risk, averaged over the tasks",
                block_size=RUNS_A_SAMPLE,
            ),
        ),
    )


def _tasks_constant(profile: Profile) -> Audit:
    """The smallest c in sigma = c L sqrt(q ln(1/delta)) / epsilon, against the printed 4."""
    n, tasks, epsilon, delta = 100, 500, 0.9, 1e-2
    made = MultitaskStopPNSGD.for_privacy(
        (Linear(),) * tasks, Ball(1, 1.0), n=n, epsilon=epsilon, delta=delta, noise="smallest"
    )
    constant = 4 * made.noise_stddev / theorem_noise_multiplier(tasks, n=n, epsilon=epsilon, delta=delta)
    return Audit(
        ConstantQuestion(
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
                "q has the harmonic number H_n in place of ln n",
                "epsilon in (0, 1), delta in (0, 1/2)",
            ),
        )
    )


def _queries(profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    losses = _different_losses()
    mechanism = MultitaskStopPNSGD(losses, problem.constraint, 0.5, 1.0)
    return query_case(mechanism, data, SUBJECT, len(losses) * data.n, "at most k n for k tasks")


SUBJECT = "fmtt18.multitask"

PLANS: tuple[Plan, ...] = (
    Plan(f"{SUBJECT}/worst-case", SUBJECT, "Several tasks, worst case", PRIVACY, _tasks_worst),
    Plan(
        f"{SUBJECT}/digits/risk", SUBJECT, "Risk of one-versus-rest tasks on digits", MEAN, along(_tasks_risk)
    ),
    Plan(f"{SUBJECT}/constant", "fmtt18.thm32", "Theorem 32's constant", CONSTANT, _tasks_constant),
    *(
        Plan(f"{SUBJECT}/{name}", SUBJECT, f"Several tasks on {name}", PRIVACY, partial(_tasks_real, name))
        for name in ("breast-cancer", "digits")
    ),
    Plan(f"{SUBJECT}/queries", SUBJECT, f"Gradient queries of {SUBJECT}", COUNT, _queries),
)
