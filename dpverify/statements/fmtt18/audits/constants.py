"""Constants in fmtt18's formulas: the smallest that accounting or a closed form proves, beside the printed ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb

from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD, theorem_noise_multiplier
from dpverify.algorithms.fmtt18.public_records import printed_noise, smallest_noise
from dpverify.auditing.accountants.references import gaussian_excess
from dpverify.ledger.records import Interval
from dpverify.privacy import NoisyIteration
from dpverify.problems import Ball, Hinge, Linear, Logistic, Problem
from dpverify.problems.smoothed_losses import (
    AbsoluteError,
    SmoothedDistance,
    SmoothedGeneralizedLinear,
    mean_norm,
)
from dpverify.statements.audit_parts import sign_change
from dpverify.statements.audit_rows import Computed


def appendix_noise() -> Computed:
    """The smallest c in sigma = c L sqrt(ln(1/delta)) / epsilon that the accountant can prove, against 5."""
    n, epsilon, delta = 100, 1.0, 1e-5

    def proved(constant: float) -> bool:
        stddev = constant * math.sqrt(math.log(1 / delta)) / epsilon
        mus = []
        for index in (1, n // 2, n):
            shifts = np.zeros(n * n)
            shifts[index - 1 :: n] = 2.0
            mus.append(NoisyIteration(shifts=shifts.tolist(), noise_stddevs=[stddev] * (n * n)).gdp())
        return all(float(np.asarray(g.privacy_profile(epsilon))) <= delta for g in mus)

    low, high = 0.1, 5.0
    while not proved(high):
        low, high = high, 2 * high
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if proved(middle) else (middle, high)
    return Computed(Interval(lower=low, upper=high), {"n": n, "epsilon": "1", "delta": "1e-5"})


def public_noise() -> Computed:
    """The smallest c in sigma = c L sqrt(ln(1.25/delta) / m) / epsilon, against the printed 2."""
    problem, asked = Problem(Linear(), Ball(1, 1.0)), {"public": 1000, "epsilon": 1.0, "delta": 1e-9}
    smallest = smallest_noise(problem, n=10_000, **asked)  # type: ignore[arg-type]
    least = 2 * smallest / printed_noise(problem, **asked)  # type: ignore[arg-type]

    def excess(c: arb) -> arb:
        """Delta over 1e-9 of the pair that attains it, 2 L apart, with the noise of m + 1 steps."""
        noise = c * ((arb(5) / 4 * arb(10) ** 9).log() / 1000).sqrt()
        return gaussian_excess(2 / (noise * arb(1001).sqrt()), 1.0, 1e-9)

    return Computed(
        sign_change(least, excess),
        {"n": "10000", "m": "1000", "epsilon": "1", "delta": "1e-9", "c that Theorem 30 gives": "2 sqrt(2)"},
    )


def tasks_noise() -> Computed:
    """The smallest c in sigma = c L sqrt(q ln(1/delta)) / epsilon, against the printed 4."""
    n, tasks, epsilon, delta = 100, 500, 0.9, 1e-2
    losses = (Linear(),) * tasks
    made = MultitaskStopPNSGD.for_privacy(
        losses, Ball(1, 1.0), n=n, epsilon=epsilon, delta=delta, noise="smallest"
    )
    return Computed(
        4 * made.noise_stddev / theorem_noise_multiplier(tasks, n=n, epsilon=epsilon, delta=delta),
        {
            "n": n,
            "k": tasks,
            "epsilon": "0.9",
            "delta": "0.01",
            "tasks for the noise of one": str(MultitaskStopPNSGD.free_tasks(n, delta)),
        },
    )


def smoothness() -> Computed:
    """The largest c in smoothness = c L / lambda among the convolved losses, against the printed 1."""
    width = 0.1
    losses = [SmoothedGeneralizedLinear(base, width) for base in (Hinge(), AbsoluteError(), Logistic())]
    every: list[Any] = [*losses, *(SmoothedDistance(width, d) for d in (1, 2, 5, 10, 100))]
    return Computed(
        max(loss.smoothness * width for loss in every),
        {"losses": "hinge, absolute error, logistic, Euclidean distance"},
    )


def bias() -> Computed:
    """The largest c in bias = c L lambda sqrt(d) over dimensions, against the printed 1."""
    dimensions = (1, 2, 5, 10, 100, 10_000)
    return Computed(
        max(mean_norm(d) / math.sqrt(d) for d in dimensions), {"d": ", ".join(map(str, dimensions))}
    )
