"""The factor in the exponent of bst14's exponential mechanisms: exp(-factor * total risk)."""

from __future__ import annotations

import math
from dataclasses import replace

from dpverify.algorithms.contract import Guarantees
from dpverify.privacy import PureDP, StatedGuarantee
from dpverify.problems import Problem

SLACK = 1e-12
"""Relative; what rounding may add to a factor."""


def printed_exponent(problem: Problem, epsilon: float) -> float:
    """The factor epsilon / (2 L ||C||) of Algorithm 2, one over loss."""
    return epsilon / (2 * problem.constants.lipschitz_constant * problem.constraint.diameter)


def largest_exponent(problem: Problem, epsilon: float) -> float:
    """The factor epsilon / (G ||C||), up to which epsilon-DP is proved; one over loss.

    G is the sensitivity of the gradient when a record is replaced, at most 2 L.
    """
    oscillation = problem.constants.gradient_sensitivity * problem.constraint.diameter
    return epsilon / oscillation if oscillation > 0 else math.inf


def loose_exponent(scale: float, largest: float) -> tuple[str, ...]:
    """Why a factor gives no guarantee; empty if it does."""
    if scale <= largest * (1 + SLACK):
        return ()
    return (f"the exponent's factor {scale:g} is above {largest:g}, the largest for which privacy is proved",)


def with_sharper_exponent(theorem: StatedGuarantee, reached: float) -> Guarantees:
    """A theorem's epsilon-DP, and beside it the smaller epsilon that the factor reaches, if it is smaller."""
    if reached >= theorem.guarantee.epsilon_at(0.0) * (1 - SLACK):
        return Guarantees(theorem, as_printed=theorem)
    sharper = replace(theorem, guarantee=PureDP(reached), origin=None)
    return Guarantees(theorem, sharpest=sharper, as_printed=theorem)
