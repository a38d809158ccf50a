"""Constants in mn25's formulas: what the accountant or a proved bound gives, beside the printed ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.auditing import ConstantQuestion
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.problems import Problem
from dpverify.statements.audit_parts import real_problem
from dpverify.statements.audit_rows import constant
from dpverify.statements.mn25.audits.cases import DELTA, DIMENSION, SIZE


def _accuracy(
    mechanism: Any, n: str, accuracy: Callable[[int], float], printed: float | str, source: str, method: str
) -> ConstantQuestion:
    """The smallest alpha over alpha*(epsilon, delta) for which the accountant proves (epsilon, delta)-DP."""
    size, words = int(n), printed if isinstance(printed, str) else f"{printed:g}"
    return constant(
        accuracy(size) / mechanism.reference_accuracy(size),
        math.log(size) if isinstance(printed, str) else printed,
        AsPrinted(source, words, "every n, epsilon and delta"),
        formula="alpha = c B L sqrt(d ln(1/delta)) / (n epsilon)",
        latex=r"\alpha=c\,\frac{BL\sqrt{d\ln(1/\delta)}}{n\varepsilon}",
        parameters={"n": n, "d": str(DIMENSION), "epsilon": f"{mechanism.epsilon:g}", "delta": f"{DELTA:g}"},
        range_fixed_by="floating-point accounting, to 1e-3",
        method=f"{method}, replace-one neighbors",
    )


def _problem() -> Problem:
    return real_problem("breast-cancer", n=SIZE, d=DIMENSION)[0]


def dp_sgd(n: str) -> ConstantQuestion:
    """Of Theorem 2."""
    mechanism = DPSGD(_problem(), 1.0, DELTA)
    method = "accounting for m of n records per step, drawn without replacement, all messages released"
    return _accuracy(mechanism, n, lambda n: mechanism.parameters(n).accuracy, 26.0, "mn25.thm2", method)


def phased_sgd(n: str) -> ConstantQuestion:
    """Of Theorem 7. At larger epsilon the smallest accuracy is above the B L / sqrt(n) at which its default stops."""
    mechanism = PhasedSGD(_problem(), 0.1, DELTA)
    method = "accounting for records drawn with replacement, all phases released"
    return _accuracy(mechanism, n, mechanism.accuracy_in_use, 6.0, "mn25.thm7", method)


def phased_erm(n: str) -> ConstantQuestion:
    """Of Lemma 16."""
    mechanism = PhasedERM(_problem(), 1.0, DELTA)
    method = "Gaussian composition over the phases, inexact minimizers accounted for"
    return _accuracy(mechanism, n, mechanism.accuracy_in_use, "ln n, in O( )", "mn25.lem16", method)


def capacity() -> ConstantQuestion:
    """(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for all sigma >= 1: c rises to 1/2 as sigma grows."""
    channels = [GaussianChannel(sigma) for sigma in np.geomspace(1.0, 1e6, 601)]
    return constant(
        float(max(channel.capacity(1) / channel.printed_capacity(1) for channel in channels)),
        1.0,
        AsPrinted("mn25.thm5", "capacity at most d / sigma^2, c = 1", "sigma >= 1, L = 1"),
        formula="(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for sigma >= 1",
        latex=r"\frac d2\ln\Bigl(1+\frac1{\sigma^2}\Bigr)\le c\,\frac d{\sigma^2}",
        parameters={"sigma": "1 to 1e6"},
        range_fixed_by="floating-point arithmetic",
        method="closed form on a grid; it increases with sigma, to 1/2",
    )


def hidden_factor(exponent: str) -> ConstantQuestion:
    """What the tilde of Theorem 8's risk hides, for a solver with accuracy 1 / sqrt(n) and epsilon = 1."""
    n = 10 ** int(exponent)
    problem, _ = real_problem("breast-cancer", d=5)
    accuracy = 1 / math.sqrt(n)
    reduction = PopulationToEmpirical(NoisyGradientDescent(problem, 1.0, DELTA), 1.0, accuracy=accuracy)
    printed = accuracy + 1 / math.sqrt(n) + 1 / n
    length = problem.constraint.diameter * problem.loss.lipschitz_constant
    return constant(
        reduction.risk_bound(n).bound / (length * printed),
        None,
        Corrected("mn25.thm8", "O~( ), no constant", "the hidden factor is computed", "this n and epsilon"),
        formula="excess population risk <= c (alpha + B L / sqrt(n) + B L / (n epsilon))",
        latex=r"c\left(\alpha+\frac{BL}{\sqrt n}+\frac{BL}{n\varepsilon}\right)",
        parameters={
            "n": f"1e{exponent}",
            "alpha": "B L / sqrt(n)",
            "epsilon": "1 a selection",
            "B": "diameter",
        },
        range_fixed_by="floating-point evaluation of a proved bound",
        method="the explicit bound of the implementation, regularization chosen for the smallest value",
    )
