"""Objective perturbation of the huberized hinge loss (Bassily, Smith, Thakurta, 2014, Appendix B, (9)).

The loss is (y - <w, x>)_+, summed over the records. To smooth it, its positive part is replaced on [-h, h] by a
quadratic. The appendix shows that this costs more than it should, whatever h: on one of two data sets in
one dimension, the excess risk is at least of the order sqrt(n / epsilon).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.conditions import refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import BelowOne, Epsilon, Positive
from dpverify.algorithms.promises import StatedRisk, reasons
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import number, positive, require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Box, ConstraintSet, Dataset, Problem
from dpverify.problems.further_losses import HuberizedPositivePart, PositivePart
from dpverify.running import Output, Randomness


@dataclass(frozen=True)
class HuberizedObjectivePerturbation(Weakenable):
    """bst14, (9): objective perturbation of the huberized hinge loss.

    As printed, for one dimension: minimize sum f(y_i - x_i theta) + theta^2 / (8 epsilon h) + b theta on [-2, 2] with
    b from N(0, 8 ln(1/delta) / epsilon^2). That is (11) with L = 1, beta = 1 / (2 h), Delta = beta / (2 epsilon),
    whose privacy claim does not hold (see `ObjectivePerturbation`); `printed` runs it, with the guarantee withdrawn.
    Else the regularization and the noise are those of `ObjectivePerturbation`, which do, in every dimension.
    The paper says that the smoothed loss is twice continuously differentiable, which it is not
    (bst14.huber-smooth); the guarantee needs no more than its Lipschitz slope.

    Guarantee (replace-one, both directions): (epsilon, delta)-DP, or epsilon-DP for delta = 0, which has Gamma noise.

    Assumptions: features in the unit ball, labels in [-1, 1]. For a hinge loss (1 - y <w, x>)_+ give the records
    (y x, 1).

    Risks are about the loss that is not smoothed, (y - <w, x>)_+.

    Attributes:
        width: h, above 0, in the unit of the labels.
        epsilon: in nats, above 0.
        delta: in [0, 1); in (0, 1) for `printed`.
        constraint: [-2, 2] if None.
        printed: the regularization and the noise of (9).
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.
    """

    width: Positive
    epsilon: Epsilon
    delta: BelowOne = 0.0
    constraint: ConstraintSet | None = None
    printed: bool = False
    withdraw_guarantee: bool = False

    id = "bst14.alg-huber"
    statements = (
        "bst14.huber-smooth",
        "bst14.objpert-privacy",
        "bst14.lemB.2",
        "bst14.lemB.3",
        "bst14.thmB.1",
    )
    unstated = reasons("bst14.alg-huber")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(0.5, 1.0), "asked": lambda: cls(0.5, at.epsilon)}

    def __post_init__(self) -> None:
        """Refuse the printed noise unless the guarantee was withdrawn."""
        super().__post_init__()
        if self.printed and not self.delta > 0:
            raise InvalidArgumentError("delta", self.delta, "a number in (0, 1), for the printed noise")
        if self.constraint is None:
            object.__setattr__(self, "constraint", Box((-2.0,), (2.0,)))
        if self.printed:
            refuse_or_withdraw(self.id, self.withdrawn(1), self.withdraw_guarantee)
        _ = self.perturbation

    @property
    def smoothed(self) -> Problem:
        """The problem whose objective is perturbed."""
        assert self.constraint is not None
        return Problem(HuberizedPositivePart(self.width), self.constraint)

    @property
    def problem(self) -> Problem:
        """The problem that risks are about: the loss is not smoothed."""
        assert self.constraint is not None
        return Problem(PositivePart(), self.constraint)

    @cached_property
    def perturbation(self) -> ObjectivePerturbation:
        """What does the work."""
        printed = {}
        if self.printed:
            printed["regularization"] = 1 / (4 * self.epsilon * self.width)
            printed["noise_scale"] = math.sqrt(8 * math.log(1 / self.delta)) / self.epsilon
        withdraw = self.withdraw_guarantee
        return ObjectivePerturbation(
            self.smoothed, self.epsilon, self.delta, **printed, withdraw_guarantee=withdraw
        )

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        return self.perturbation.withdrawn(n)

    def guarantees(self, n: int) -> Guarantees:
        """The guarantees of the objective perturbation."""
        return self.perturbation.guarantees(n)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """The objective perturbation's bound plus n h / 4: smoothing adds between 0 and h / 4 to each loss.

        The paper bounds this risk from below only (`first_bad_risk`, `second_bad_risk`).
        """
        return self._of_the_hinge(n, self.perturbation.risk_bound(n))

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The same with that probability, all of it spent on the smoothed loss: what smoothing adds is certain."""
        return self._of_the_hinge(n, self.perturbation.risk_quantile(n, probability))

    def _of_the_hinge(self, n: int, smoothed: StatedRisk | None) -> StatedRisk | None:
        return smoothed and replace(
            smoothed,
            bound=smoothed.bound + n * self.width / 4,
            conditions="derived from Theorem E.1 for the smoothed loss",
            formula=f"{smoothed.formula} + n h / 4",
        )

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, p)."""
        return self.perturbation(data, rng=rng, runs=runs)


def first_bad_data(n: int) -> Dataset:
    """D_1 of Appendix B: n/3 records (x, y) = (-1, 1) and 2 n/3 records (1, -1).

    The risk n/3 (1 + theta)_+ + 2 n/3 (-1 - theta)_+ is smallest at -1, the smoothed one at -1 + h/3 for h <= 9. (The
    proof of Lemma B.2 has the mirror image, with 1 and 1 - h.)
    """
    if whole_number("n", n, at_least=3) % 3:
        raise InvalidArgumentError("n", n, "a multiple of 3")
    first = np.arange(n) < n // 3
    features, labels = np.where(first, -1.0, 1.0)[:, None], np.where(first, 1.0, -1.0)
    return Dataset(features, labels, "first bad data set of Appendix B", "by construction")


def first_bad_risk(n: int, *, width: float) -> float:
    """Lower bound on the expected excess risk (a sum) on `first_bad_data`: n min(1, h/3) / 6.

    Lemma B.2 leaves the constant open. This one holds for every regularization and every noise that is symmetric
    about 0, for the exact minimizer: with probability 1/2 or more, b <= 0, and then the objective falls up to
    min(0, -1 + h/3), since the smoothed risk does and the regularization does; the excess risk there is
    n/3 min(1, h/3). No condition on delta is needed.
    """
    positive("width", width)
    return whole_number("n", n, at_least=3) * min(1.0, width / 3) / 6


def second_bad_data(n: int, *, regularization: float) -> Dataset:
    """D_2 of Appendix B: k records (x, y) = (-1, 1) and n - k records (1, 1), with n - 2 k > 0 small.

    The risk falls with slope n - 2 k on [-1, 1], up to theta = 1. That slope is the largest whole number with n's
    parity that is at most n and regularization / 4. (The paper has regularization / 4 = 1 / (16 epsilon h)
    itself, which need not be such a number.) Refused where the regularization is too small to leave a slope.
    """
    n = whole_number("n", n)
    positive("regularization", regularization)
    slope = min(n, math.floor(regularization / 4))
    slope -= (n - slope) % 2
    require(slope >= 1, "regularization", regularization, "at least 4 for odd n, 8 for even n")
    features = np.where(np.arange(n) < (n - slope) // 2, -1.0, 1.0)[:, None]
    return Dataset(features, np.ones(n), "second bad data set of Appendix B", "by construction")


def second_bad_risk(n: int, *, width: float, regularization: float) -> float:
    """Lower bound on the expected excess risk (a sum) on `second_bad_data`: 3/8 of its slope, for h <= 3/4.

    Lemma B.3 leaves the constant open. This one holds for that regularization and every noise that is symmetric
    about 0, for the exact minimizer: with probability 1/2 or more, b >= 0, and then the objective rises from
    theta = 1/4 on, where nothing is smoothed and the slope is at most regularization / 4. No condition on delta and
    log n is needed.
    """
    number("width", width, above=0, at_most=0.75, allowed="a number in (0, 3/4]")
    return 0.375 * float(np.sum(second_bad_data(n, regularization=regularization).features))
