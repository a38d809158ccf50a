"""Choosing the best of a few candidates privately: the exponential mechanism, and one for unequal sensitivities.

Scores are losses: smaller is better. A sensitivity bounds how much a score changes when one record is replaced;
changes that all scores have in common do not count, since they change no probability.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpverify.checks import budget, number, positive, whole_number
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import at_least
from dpverify.running import Randomness
from dpverify.running.randomness import Array

_SMALLEST = float(np.finfo(np.float64).tiny)


def select(scores: Array, *, sensitivity: float, epsilon: float, rng: Randomness) -> Array:
    """One index for each run by the exponential mechanism; integers in {0, ..., m - 1}, shape (runs,).

    Probabilities are proportional to exp(-epsilon score / (2 sensitivity)).

    Guarantee (the adjacency of the sensitivity): epsilon-DP. The expected score is at most the smallest plus
    (2 sensitivity / epsilon) ln m, by the entropy form of the Gibbs law. Scores (runs, m) and their sensitivity are in
    units of loss.
    """
    xp = rng.xp
    positive("sensitivity", sensitivity)
    budget("epsilon", epsilon)
    # an exponential number over each weight: the smallest one comes first with a probability proportional to its weight
    drawn = rng.gamma(1.0, tuple(scores.shape), "selection")
    times = xp.log(at_least(drawn, _SMALLEST)) + (0.5 * epsilon / sensitivity) * scores
    return xp.argmin(times, axis=1)


def relative_scores(scores: Array, sensitivities: tuple[float, ...], *, penalty: float, xp: Any) -> Array:
    """Scores of sensitivity 1 for candidates whose own sensitivities differ (Raskhodnikova and Smith, 2016).

    q_i = max_j ((s_i + t D_i) - (s_j + t D_j)) / (D_i + D_j), t being `penalty`. If the exponential mechanism picks
    i with q_i <= t, then s_i <= s_j + 2 t D_j for every j: the error is relative to the better candidate's own
    sensitivity, not to the largest. Scores (runs, m) and sensitivities are in units of loss, the result has none.
    """
    steps = xp.asarray(sensitivities, dtype=xp.float64)
    raised = scores + penalty * steps
    differences = raised[:, :, None] - raised[:, None, :]
    return xp.max(differences / (steps[:, None] + steps[None, :]), axis=2)


def selection_penalty(count: int, epsilon: float, slack: float) -> float:
    """The t = (2 / epsilon) (ln m + slack) above which a relative score is picked with probability <= e^-slack."""
    count = whole_number("count", count)
    budget("epsilon", epsilon)
    number("slack", slack, at_least=0, allowed="a finite number of at least 0")
    return (2 / epsilon) * (math.log(count) + slack)


def before_amplification(epsilon: float, batch: int, n: int) -> float:
    """The epsilon that a selection on `batch` of n records may have, for it to be epsilon-DP for all n records.

    On a batch drawn without replacement, epsilon' becomes ln(1 + (batch / n) (e^epsilon' - 1)), replace-one (Balle,
    Barthe and Gaboardi 2018).
    """
    return epsilon if batch >= n else math.log1p(n / batch * math.expm1(min(epsilon, 700.0)))


def estimates(
    problem: Problem, candidates: list[Array], loss: Any, part: Dataset, batch: int, rng: Randomness
) -> Array:
    """Mean local losses of each run's candidates on `batch` records without replacement, (runs, candidates)."""
    xp = rng.xp
    runs = candidates[0].shape[0]
    there = part.as_namespace(xp)
    order = None
    if batch < part.n:
        order = xp.argsort(rng.uniform((runs, part.n), "minibatch"), axis=1)[:, :batch]
    columns = []
    for points in candidates:
        here = points + loss.offsets
        if order is None:
            mean = problem.mean_risk(here, part)
        else:
            mean = xp.zeros((runs,), dtype=xp.float64)
            for i in range(batch):
                rows = order[:, i]
                labels = xp.take(there.labels, rows, axis=0)
                mean += problem.loss.value(here, xp.take(there.features, rows, axis=0), labels) / batch
        columns.append(mean + loss.regularizer(points))
    return xp.stack(columns, axis=1)
