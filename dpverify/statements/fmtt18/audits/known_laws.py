"""Algorithms of fmtt18 with the law of their last points, or of their sum, also on a whole data set."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18 import (
    PNMSGD,
    PNSGD,
    MultitaskStopPNSGD,
    PublicRecordsLast,
    SkipPNSGD,
    SmoothedPNSGD,
    StopPNSGD,
)
from dpverify.auditing.white_box import StatedLaw
from dpverify.problems import AllSpace, Ball, Dataset, Hinge, Problem
from dpverify.statements import real_size
from dpverify.statements.audit_laws import normal_mixture
from dpverify.statements.audit_parts import mean_problem, on_pair
from dpverify.statements.audit_rows import On
from dpverify.statements.fmtt18.audits.cases import PAIR_ONLY, revealed


def several_tasks() -> On:
    """The first of two records sends all tasks to one side; each stops there or takes a step that is noise alone."""
    n, tasks, stddev = 2, 4, 4.0
    pair, mechanism, stating = revealed(
        lambda loss, **more: MultitaskStopPNSGD((loss,) * tasks, AllSpace(1), 1.0, stddev, **more), n, 1
    )
    stated = stating.guarantees(n)
    assert stated.local is not None
    taken = Counter(map(sum, product(range(1, n + 1), repeat=tasks)))
    steps, counts = np.array(list(taken)), np.array(list(taken.values()))

    def law(data: Dataset, factor: float) -> StatedLaw:
        side = tasks * float(np.asarray(data.features)[0, 0])
        noises = stddev / factor * np.sqrt(steps)
        return normal_mixture(counts / n**tasks, side, noises, statistic=lambda w: w.sum(axis=1))

    said = f"; {tasks} tasks, the sum of whose points is looked at{PAIR_ONLY}"
    return On(mechanism, pair, on_pair(stated.headline, pair), stated.local.guarantee, said, law=law)


# ------------------------------------------------------------------------------------------ real size


def _forgetting(kind: Any, stddev: float = 1.0, **more: Any) -> On:
    """Steps of size 1 for the mean of all records: a run ends on its last step's record, with that step's noise."""
    mechanism = kind(mean_problem(real_size.DIMENSION, 40.0), 1.0, stddev, **more)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        ends = records @ unit if kind is StopPNSGD else (records @ unit)[-1:]
        return normal_mixture(1 / len(ends), ends, stddev / factor, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


one_pass_at_size, epochs_at_size = partial(_forgetting, PNSGD), partial(_forgetting, PNMSGD, epochs=2)
skip_at_size, stop_at_size = partial(_forgetting, SkipPNSGD), partial(_forgetting, StopPNSGD, 0.5)


def public_at_size() -> On:
    """Half of the way to a record in each step, and one public record: the last private one has a quarter of a say."""
    public, rate, stddev = 1, 0.5, 1.0
    mechanism = PublicRecordsLast(mean_problem(real_size.DIMENSION, 40.0), rate, stddev, public=public)
    n = real_size.SIZE
    # which of the first half's steps are left out changes less than rounding
    weights = rate * (1 - rate) ** np.arange(n - 1, -1, -1.0)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        noise = stddev / factor * float(np.linalg.norm(weights))
        return normal_mixture(1.0, weights @ (records @ unit), noise, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law, index=n - public)


def tasks_at_size() -> On:
    """Three tasks as in `_forgetting`: the smallest of their last records' components along the one that is moved."""
    tasks, stddev = 3, 0.3
    problem = mean_problem(real_size.DIMENSION, 40.0)
    mechanism = MultitaskStopPNSGD((problem.loss,) * tasks, problem.constraint, 1.0, stddev)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        one = normal_mixture(1 / len(records), records @ unit, stddev / factor)
        return StatedLaw(
            lambda w: np.min(w.reshape(len(w), tasks, -1) @ unit, axis=1),
            lambda x: -np.expm1(tasks * np.log1p(-np.minimum(one.distribution(x), 1 - 1e-16))),
            one.cuts,
        )

    return real_size.known(mechanism, law, loss=problem.loss)


def smoothed_at_size() -> On:
    """A support vector machine in so small a ball that the direction of the last step is all that is left."""
    problem = Problem(Hinge(), Ball(real_size.DIMENSION, 0.02))
    mechanism = SmoothedPNSGD(problem, 0.05, 1.0, 0.2)
    return real_size.privacy(lambda: mechanism, loss=mechanism.algorithm.problem.loss)()
