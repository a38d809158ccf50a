"""Algorithms of gll22 with the laws of their outputs, on pairs that give away what is proved, and on whole data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpverify.algorithms.gll22 import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.linear_hard_family import MeanMinimizer
from dpverify.auditing.white_box import StatedLaw
from dpverify.privacy import GDP
from dpverify.problems import AllSpace, Dataset, Linear, Problem
from dpverify.statements import real_size
from dpverify.statements.audit_laws import normal_mixture, on_points
from dpverify.statements.audit_parts import linear_pair, made, one_turned
from dpverify.statements.audit_rows import On
from dpverify.statements.gll22.audits.cases import DELTA, EPSILON, SIZE


def mechanism() -> On:
    """Linear losses on a line: two normal laws about -(mean slope) / mu, for which Theorem 2.1 is tight."""
    pair = linear_pair("worst-case", SIZE)
    mechanism = RegularizedExponentialMechanism(
        Problem(pair.loss, AllSpace(1)), EPSILON, DELTA, regularization=1.0
    )
    k, mu, _ = mechanism.tuned(SIZE)

    def law(data: Dataset, factor: float) -> StatedLaw:
        slope = float(np.mean(np.asarray(data.features)))
        return normal_mixture(1.0, -slope / mu, 1 / math.sqrt(factor * k * mu))

    return On(mechanism, pair, said="; on all space", law=law)


def noisy_mean() -> On:
    """The minimizer on a line is one end or the other, by the sign of the noisy mean, which is rarely negative here."""
    n, delta = 32, 1e-3
    mechanism = MeanMinimizer.for_privacy(n=n, epsilon=2.0, delta=delta, radius=1.0, clip=1.0)
    mu = 2 / (n * mechanism.noise_stddev)
    # 0 is where the normal laws of two means that are 2 / n apart are told apart best at that delta
    least = mechanism.noise_stddev * (GDP(mu).epsilon_at(delta) / mu + mu / 2)
    others = (least * n - 1) / (n - 1)
    features = np.append(np.full(n - 1, others), 1.0)[:, None]
    words = f"{n} numbers about {others:.3g}, the last one 1, on one data set -1"

    def law(data: Dataset, factor: float) -> StatedLaw:
        wrong = float(ndtr(-factor * np.mean(np.asarray(data.features)) / mechanism.noise_stddev))
        return on_points([-1.0, 1.0], np.log([wrong, 1 - wrong]), statistic=lambda w: -w[:, 0])

    return On(mechanism, one_turned(made(features, "numbers"), n, words), "headline", delta=delta, law=law)


# ------------------------------------------------------------------------------------------ real size


def mechanism_at_size() -> On:
    """Linear losses on all space, whatever the dimension: two normal laws."""
    problem = Problem(Linear(), AllSpace(real_size.DIMENSION))
    mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA, regularization=1.0)
    k, mu, _ = mechanism.tuned(real_size.SIZE)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        center, stddev = -float(np.mean(records @ unit)) / mu, 1 / math.sqrt(factor * k * mu)
        return normal_mixture(1.0, center, stddev, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def noisy_mean_at_size() -> On:
    """The side on which the minimizer lies, with so much noise that it is not nearly certain."""
    mechanism = MeanMinimizer(1.0, 1.0, 0.35)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        above = float(ndtr(-factor * np.mean(records @ unit) / mechanism.noise_stddev))
        return on_points([-1.0, 1.0], np.log([above, 1 - above]), statistic=lambda w: -np.sign(w @ unit))

    return real_size.known(mechanism, law, loss=Linear())
