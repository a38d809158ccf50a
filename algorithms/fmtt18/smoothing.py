"""Noisy SGD for losses that are not smooth, by convolving them with a Gaussian (fmtt18, Section 5.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from dpverify.algorithms.conditions import admitted, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import check_bounded, skip_queries, skip_rate, skip_risk
from dpverify.algorithms.fmtt18.projected_noisy_sgd import SkipPNSGD
from dpverify.algorithms.parameters import Positive
from dpverify.algorithms.promises import StatedQueries, StatedRisk, reasons
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import StatedGuarantee
from dpverify.privacy.mixtures import gaussian_noise_multiplier
from dpverify.problems import Dataset, Hinge, Problem
from dpverify.problems.smoothed_losses import SmoothedLoss, smoothed
from dpverify.running import Output, Randomness, StatedStructure


@dataclass(frozen=True)
class SmoothedPNSGD(Weakenable):
    """fmtt18, Corollary 34: Skip-PNSGD on the loss convolved with a Gaussian of standard deviation lambda.

    Guarantee (replace-one at index t, both directions): that of `SkipPNSGD` at t, for a loss that need not be
    smooth: Corollary 34's (epsilon / sqrt(n - t + 1), delta)-DP for the parameters of `for_privacy`, in the sharper
    form delta(eps) = p delta_Gauss(eps, 2 L / (sigma sqrt(n - t + 1))). Beside it the local guarantee.

    Smoothing: `smoothed_losses` says how each loss is extended and convolved, and which losses are refused. Only
    losses with exact gradients are taken: a Monte Carlo gradient has kinks wherever its draws have, so that its
    step is not a contraction, and the guarantee would be void.

    Risk: with the convolved loss never below the loss, and above it by at most the bias b, F(W) - F* is at most
    b plus the excess risk of Skip-PNSGD on the convolved loss. Theorem 33 bounds b by L lambda sqrt(d); for
    generalized linear losses, convolved in one dimension, it is at most sqrt(2/pi) L lambda. Corollary 34 prints the
    bias as 4 sqrt(2) R L / sqrt(n) times epsilon sqrt(d) / (2 ln(1.25/delta)); what follows from its own lambda is
    L lambda sqrt(d) = R L epsilon sqrt(d) / (2 sqrt(n ln(1/delta))), with a square root over the logarithm. The
    printed term is the larger one, so the corollary follows, unless delta is below about 2e-14 or above 0.998.

    Assumptions: convex, L-Lipschitz losses for records in the unit ball; eta <= 2 / beta for the convolved loss's
    smoothness beta, at most L / lambda; Corollary 34's parameters see to that.

    Attributes:
        problem: a convex, Lipschitz loss that `smoothed` knows, on a constraint set.
        rate: step size eta, length^2 over loss.
        noise_stddev: sigma, of each coordinate of the noise added to a gradient, loss over length.
        width: lambda, a length.
        start: w_0 in the set, d numbers; the set's center if None.
        withdraw_guarantee: run even if the claim does not hold; `withdrawn` then says why.
    """

    problem: Problem
    rate: float
    noise_stddev: float
    width: Positive
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    id = "fmtt18.smoothing"
    statements = ("fmtt18.cor34", "fmtt18.thm33", "fmtt18.thm30", "fmtt18.thm28")
    unstated = reasons("fmtt18.smoothing")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.problem(Hinge()), 0.05, 1.0, 0.1),
            "asked": lambda: cls.for_privacy(at.problem(Hinge()), n=at.n, epsilon=at.epsilon, delta=at.delta),
        }

    def __post_init__(self) -> None:
        """Refuse a loss that cannot be smoothed, and parameters that void the claim."""
        super().__post_init__()
        object.__setattr__(self, "start", self.algorithm.start)
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

    @classmethod
    def for_privacy(
        cls, problem: Problem, *, n: int, epsilon: float, delta: float, width: float | None = None
    ) -> Self:
        """The parameters of Corollary 34, for local (epsilon, delta)-DP and better at early indices.

        sigma = 2 L sqrt(2 ln(1.25/delta)) / epsilon where that is enough (it is for epsilon <= 1), else the
        smallest sigma that is; eta = sqrt(8) R / sqrt(n (L^2 + d sigma^2)); lambda = R epsilon / (2 sqrt(n
        ln(1/delta))) unless `width` is given.

        Raises:
            InvalidArgumentError: if an argument is out of range, the set unbounded, or the loss cannot be
                smoothed.
            NotGuaranteedError: if eta is above 2 / beta.
        """
        n = whole_number("n", n)
        check_bounded(problem)
        stddev = 2 * problem.constants.lipschitz_constant * gaussian_noise_multiplier(epsilon, delta)
        if width is None:
            width = printed_width(problem, n=n, epsilon=epsilon, delta=delta)
        return cls(problem, skip_rate(problem, n, stddev), stddev, width)

    @cached_property
    def loss(self) -> SmoothedLoss:
        """The convolved loss."""
        return smoothed(self.problem.loss, self.width, self.problem.constraint.dimension)

    @cached_property
    def algorithm(self) -> SkipPNSGD:
        """Skip-PNSGD on the convolved loss; conditions are checked here, under this algorithm's name."""
        problem = Problem(self.loss, self.problem.constraint)
        return SkipPNSGD(problem, self.rate, self.noise_stddev, self.start, withdraw_guarantee=True)

    @property
    def _stating(self) -> SkipPNSGD:
        """The same, as it states guarantees: nothing voids them, and they were not withdrawn."""
        return replace(self.algorithm, withdraw_guarantee=False)

    def _voids(self, n: int) -> tuple[str, ...]:
        return self.algorithm.voids

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """At most n gradients of the convolved loss, and as many projections."""
        return skip_queries(whole_number("n", n), self.id)

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The structure of the algorithm on the smoothed loss."""
        return self.algorithm.structure(data)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        return self.algorithm(admitted(self, data), rng=rng, runs=runs)

    def _guaranteed(self, n: int) -> Guarantees:
        """The guarantee at the worst index, which is the last one, and the local one."""
        return self._stating.guarantees(n)

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The profile at one index from 1; None if the claim was withdrawn."""
        return None if self.withdrawn(1) else self._stating.guarantee_at(n, index)

    def rdp_at(self, n: int, index: int) -> StatedGuarantee | None:
        """Theorem 24's RDP at one index from 1, as printed; None if the claim was withdrawn."""
        stated = None if self.withdrawn(1) else self._stating.rdp_at(n, index)
        if stated is None or not isinstance(stated.origin, AsPrinted | Corrected):
            return stated
        holds_for = f"{stated.origin.holds_for}; Corollary 34 applies it to the smoothed losses"
        return replace(stated, origin=replace(stated.origin, holds_for=holds_for))

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Excess population risk of the loss itself: Skip-PNSGD's on the convolved loss, plus the bias.

        Beside what is proved at its rate, at Corollary 34's its 4 sqrt(2) R sqrt(L^2 + d sigma^2) / sqrt(n) + b.
        """
        n = whole_number("n", n)
        problem, bias = self.algorithm.problem, self.loss.largest_bias
        return skip_risk(
            problem, n, self.rate, self.noise_stddev, source="fmtt18.cor34", start=self.start, bias=bias
        )


def printed_width(problem: Problem, *, n: int, epsilon: float, delta: float) -> float:
    """The lambda of Section 5.5, R epsilon / (2 sqrt(n ln(1/delta))), a length."""
    return problem.constraint.largest_norm * epsilon / (2 * math.sqrt(n * math.log(1 / delta)))
