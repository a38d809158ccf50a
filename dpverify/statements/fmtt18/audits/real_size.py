"""Audits of fmtt18's algorithms at the sizes that people have."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration, GaussianNoise
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.problems import Ball, Hinge, Linear, Logistic, Problem, gradient_sensitivity
from dpverify.statements.audit_parts import FullGradientStep, mean_problem
from dpverify.statements.plans import Plan, white_box
from dpverify.statements.real_size import DELTA, DIMENSION, EPSILON, SIZE, linear, mean, privacy, risk

PUBLIC = SIZE // 5
TASKS = 3
STEPS = 4
"""Of noisy gradient descent on all records, each of which asks for all gradients."""


def _one_pass(kind: Any) -> Any:
    return kind.for_privacy(linear(), n=SIZE, epsilon=EPSILON, delta=DELTA)


def _forgetting() -> Problem:
    """The mean of the records in a large ball: a step of size 1 lands on its record and forgets the others."""
    return mean_problem(DIMENSION, 40.0)


def _full_gradient() -> ContractiveNoisyIteration:
    """Half of the way to the mean in each step, with noise for one standard deviation between neighbors."""
    problem, rate = mean(), 0.5
    shift = rate * gradient_sensitivity(problem.loss) / SIZE
    return ContractiveNoisyIteration(
        maps=(FullGradientStep(problem, rate),) * STEPS,
        noises=GaussianNoise(shift),
        start=np.zeros(DIMENSION),
        shifts=(shift,) * STEPS,
        contractions=(1 - rate,) * STEPS,
        queries_per_step=SIZE,
    )


def _tasks() -> MultitaskStopPNSGD:
    return MultitaskStopPNSGD.for_privacy(
        (Linear(),) * TASKS, Ball(DIMENSION, 1.0), n=SIZE, epsilon=0.9 * EPSILON, delta=DELTA
    )


def _smoothed() -> SmoothedPNSGD:
    hinge = Problem(Hinge(), Ball(DIMENSION, 1.0))
    return SmoothedPNSGD.for_privacy(hinge, n=SIZE, epsilon=EPSILON, delta=DELTA)


def _public() -> PublicRecordsLast:
    return PublicRecordsLast.for_privacy(linear(), n=SIZE, public=PUBLIC, epsilon=EPSILON, delta=DELTA)


def _logistic() -> Problem:
    return Problem(Logistic(), Ball(DIMENSION, 1.0))


_OUTPUTS_ALONE: tuple[Plan, ...] = (
    privacy(
        "fmtt18.cni",
        "A contractive noisy iteration",
        _full_gradient,
        runs=2_000,
        losses=lambda _: mean().loss,
    ),
    privacy("fmtt18.alg1", "PNSGD", lambda: PNSGD(_forgetting(), 1.0, 1.0), runs=20_000),
    privacy("fmtt18.skip", "Skip-PNSGD", lambda: SkipPNSGD(_forgetting(), 1.0, 1.0), runs=20_000),
    risk(
        "fmtt18.skip",
        "Skip-PNSGD",
        lambda: SkipPNSGD.for_privacy(_logistic(), n=SIZE, epsilon=EPSILON, delta=DELTA),
        runs=1_000,
    ),
    privacy("fmtt18.stop", "Stop-PNSGD", lambda: _one_pass(StopPNSGD), runs=10_000, index=1),
    risk(
        "fmtt18.stop",
        "Stop-PNSGD",
        lambda: StopPNSGD.for_privacy(_logistic(), n=SIZE, epsilon=EPSILON, delta=DELTA),
        runs=1_000,
    ),
    privacy("fmtt18.public", "Skip-PNSGD with public records", _public, runs=10_000, index=SIZE - PUBLIC),
    privacy(
        "fmtt18.multitask",
        "Three tasks by Stop-PNSGD",
        _tasks,
        runs=4_000,
        index=1,
        losses=lambda _: Linear(),
    ),
    privacy("fmtt18.smoothing", "Smoothed PNSGD", _smoothed, runs=10_000, losses=lambda _: Hinge()),
    privacy(
        "fmtt18.alg2", "Two epochs of PNMSGD", lambda: PNMSGD(_forgetting(), 1.0, 1.0, epochs=2), runs=5_000
    ),
)

PLANS = (
    *_OUTPUTS_ALONE,
    *white_box((plan for plan in _OUTPUTS_ALONE if plan.subject != "fmtt18.multitask"), 1_000),
)
