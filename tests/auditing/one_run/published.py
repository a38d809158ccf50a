"""The bounds of two papers as their code computes them, beside which ours are measured; no verdict rests on them."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc, expit
from scipy.stats import binom

from dpverify.auditing.one_run.tails import ClaimedPoints, Guesses, exceeds_mass


def steinke_tail(epsilon: float, delta: float, guesses: Guesses, correct: int) -> float:
    """Bound of P(C >= correct) under (epsilon, delta)-DP: Steinke, Nasr and Jagielski 2023, Appendix D.

    P(B >= v) + 2 m delta max over i of P(v > B >= v - i) / i, where B is binomial of r guesses with odds e^epsilon, m
    the canaries and v the correct guesses.
    """
    m, r, v = guesses.canaries, guesses.count, correct
    q = float(expit(epsilon))
    between = np.cumsum(binom.pmf(np.arange(v - 1, -1, -1), r, q))
    most = float(np.max(between / np.arange(1, v + 1)))
    return min(float(bdtrc(v - 1, r, q)) + 2 * m * delta * most, 1.0)


def mahloujifar_refutes(points: ClaimedPoints, guesses: Guesses, correct: int, level: float) -> bool:
    """Whether the procedure of Mahloujifar, Melis and Chaudhuri 2024 rejects: the second bound of `tails`, alone."""
    return exceeds_mass(points, guesses, correct, level)
