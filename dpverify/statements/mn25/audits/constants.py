"""Constants in mn25's formulas: what the accountant or a proved bound gives, beside the printed ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.problems import Problem
from dpverify.statements.audit_parts import real_problem
from dpverify.statements.audit_rows import Computed, largest
from dpverify.statements.mn25.audits import rates
from dpverify.statements.mn25.audits.cases import DELTA, DIMENSION, SIZE


def _accuracy(mechanism: Any, n: str, accuracy: float, printed: float | None = None) -> Computed:
    """The smallest alpha over alpha*(epsilon, delta) for which the accountant proves (epsilon, delta)-DP."""
    parameters = {"n": n, "d": DIMENSION, "epsilon": mechanism.epsilon, "delta": DELTA}
    return Computed(accuracy / mechanism.reference_accuracy(int(n)), parameters, printed)


def _problem() -> Problem:
    return real_problem("breast-cancer", n=SIZE, d=DIMENSION)[0]


def dp_sgd(n: str) -> Computed:
    """Of Theorem 2."""
    mechanism = DPSGD(_problem(), 1.0, DELTA)
    return _accuracy(mechanism, n, mechanism.parameters(int(n)).accuracy)


def phased_sgd(n: str) -> Computed:
    """Of Theorem 7. At larger epsilon the smallest accuracy is above the B L / sqrt(n) at which its default stops."""
    mechanism = PhasedSGD(_problem(), 0.1, DELTA)
    return _accuracy(mechanism, n, mechanism.accuracy_in_use(int(n)))


def phased_erm(n: str) -> Computed:
    """Of Lemma 16."""
    mechanism = PhasedERM(_problem(), 1.0, DELTA)
    return _accuracy(mechanism, n, mechanism.accuracy_in_use(int(n)), math.log(int(n)))


def capacity() -> Computed:
    """(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for all sigma >= 1: c rises to 1/2 as sigma grows."""
    channels = [GaussianChannel(sigma) for sigma in np.geomspace(1.0, 1e6, 601)]
    return Computed(
        float(max(channel.capacity(1) / channel.printed_capacity(1) for channel in channels)),
        {"sigma": "1 to 1e6"},
    )


def hidden_factor(exponent: str) -> Computed:
    """What the tilde of Theorem 8's risk hides, for a solver with accuracy 1 / sqrt(n) and epsilon = 1."""
    return largest(one for one in rates.reduction() if one.at["n"] == 10 ** int(exponent))
