"""The factor in the exponent of bst14's exponential mechanisms: exp(-factor * total risk)."""

from __future__ import annotations

import math
from dataclasses import replace

from dpverify.algorithms.conditions import check_lipschitz
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import AsPrinted
from dpverify.privacy import Condition, PureDP, StatedGuarantee
from dpverify.problems import Ball, Box, Problem, Simplex

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


class ExponentialMechanism(Weakenable):
    """A point of a small set, with a probability that falls exponentially with the total risk.

    Attributes:
        problem: a Lipschitz loss on a ball, box or simplex.
        epsilon: in nats, above 0.
        exponent_scale: s, one over loss; None: Algorithm 2's.
        withdraw_guarantee: run even if s is too large for the guarantee.
    """

    problem: Problem
    epsilon: float
    exponent_scale: float | None
    withdraw_guarantee: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        constraint = self.problem.constraint
        if type(constraint) not in (Ball, Box, Simplex) or not constraint.diameter > 0:
            raise InvalidArgumentError("problem", self.problem, "a ball, box or simplex of positive diameter")
        check_lipschitz(self.problem)

    @property
    def scale(self) -> float:
        """The exponent's factor s, one over loss."""
        if self.exponent_scale is not None:
            return float(self.exponent_scale)
        return printed_exponent(self.problem, self.epsilon)

    @property
    def largest_scale(self) -> float:
        """The number epsilon / (G ||C||), up to which epsilon-DP is proved; one over loss."""
        return largest_exponent(self.problem, self.epsilon)

    @property
    def loose(self) -> tuple[str, ...]:
        """Why the exponent's factor gives no guarantee; empty if it does."""
        return loose_exponent(self.scale, self.largest_scale)

    def _voids(self, n: int) -> tuple[str, ...]:
        return self.loose

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The sharpest guarantee, which is the same for every index from 1; None if none holds."""
        whole_number("index", index, at_least=1, at_most=whole_number("n", n, at_least=1))
        stated = self.guarantees(n)
        return stated.sharpest.at(index, n) if stated else None

    def _epsilon_dp(self, *sources: str, conditions: tuple[Condition, ...]) -> Guarantees:
        """The theorem's epsilon-DP, and beside it the epsilon that the factor reaches, if it is smaller."""
        theorem = replace_one(
            PureDP(self.epsilon),
            *sources,
            conditions=conditions,
            origin=AsPrinted(sources[0], f"epsilon-DP: {self.epsilon:g}", "every epsilon > 0"),
        )
        reached = self.epsilon * self.scale / self.largest_scale
        if reached >= self.epsilon * (1 - SLACK):
            return Guarantees(theorem, as_printed=theorem)
        sharper = replace(theorem, guarantee=PureDP(reached), origin=None)
        return Guarantees(theorem, sharpest=sharper, as_printed=theorem)
