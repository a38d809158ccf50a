"""Several tasks of fmtt18 with the law of the sum of their points."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from dpverify.algorithms.fmtt18 import MultitaskStopPNSGD
from dpverify.auditing.white_box import StatedLaw
from dpverify.problems import AllSpace, Dataset
from dpverify.statements.audit_laws import normal_mixture
from dpverify.statements.audit_parts import on_pair
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
