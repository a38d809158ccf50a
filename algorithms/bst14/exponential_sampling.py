"""Exponential mechanisms on convex sets (Bassily, Smith, Thakurta, 2014), and Algorithm 2, sampled exactly.

Losses are summed over the records in this paper.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import scipy

from dpverify.algorithms.conditions import admitted, check_lipschitz, never_refused, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative
from dpverify.algorithms.promises import (
    StatedQueries,
    StatedRisk,
    StatedSamplingError,
    missed,
    reasons,
    words,
)
from dpverify.algorithms.samplers.certified_rejection import FEW_ACCEPTED, Matrix
from dpverify.algorithms.samplers.free_coordinates import (
    MOST_FREE,
    RiskPotential,
    affine_dimension,
    check_near,
    sample_near,
    sample_on_set,
    sampling_queries,
)
from dpverify.algorithms.samplers.quadratic_sampling import quadratic_sampler
from dpverify.algorithms.samplers.tilted_gaussians import LensSampler
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Condition, PureDP, StatedGuarantee
from dpverify.problems import (
    Ball,
    Box,
    ContractOrDrift,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Problem,
    Simplex,
    Squared,
)
from dpverify.problems.problem import without_ridge
from dpverify.running import Output, Randomness

SLACK = 1e-12
"""Relative; what rounding may add to a factor."""


class ExponentialMechanism(Weakenable):
    """A point of a ball, box or simplex, with a probability that falls exponentially with the total risk."""

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
        """The exponent's factor s, one over loss: epsilon / (2 L ||C||), that of Algorithm 2, unless it is set."""
        if self.exponent_scale is not None:
            return float(self.exponent_scale)
        problem = self.problem
        return self.epsilon / (2 * problem.constants.lipschitz_constant * problem.constraint.diameter)

    @property
    def largest_scale(self) -> float:
        """The number epsilon / (G ||C||), up to which epsilon-DP is proved; one over loss.

        G is the sensitivity of the gradient when a record is replaced, at most 2 L.
        """
        oscillation = self.problem.constants.gradient_sensitivity * self.problem.constraint.diameter
        return self.epsilon / oscillation if oscillation > 0 else math.inf

    @property
    def loose(self) -> tuple[str, ...]:
        """Why the exponent's factor gives no guarantee; empty if it does."""
        scale, largest = self.scale, self.largest_scale
        if scale <= largest * (1 + SLACK):
            return ()
        return (
            f"the exponent's factor {scale:g} is above {largest:g}, the largest for which privacy is proved",
        )

    def _voids(self, n: int) -> tuple[str, ...]:
        return self.loose

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """The sharpest guarantee, which is the same for every index from 1; None if none holds."""
        whole_number("index", index, at_most=whole_number("n", n))
        stated = self.guarantees(n)
        return stated.sharpest.at(index, n) if stated else None

    def _epsilon_dp(self, conditions: tuple[Condition, ...]) -> Guarantees:
        """The theorem's epsilon-DP, and beside it the epsilon that the factor reaches, if it is smaller."""
        claim, name = PureDP(self.epsilon), f"{self.id}/privacy"
        theorem = promised(name, claim, conditions=conditions, epsilon=self.epsilon)
        reached = self.epsilon * self.scale / self.largest_scale
        if reached >= self.epsilon * (1 - SLACK):
            return Guarantees(theorem, as_printed=theorem)
        sharper = replace(theorem, guarantee=PureDP(reached), origin=None)
        return Guarantees(theorem, sharpest=sharper, as_printed=theorem)

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """Exact sampling, rounding aside."""
        whole_number("n", n)
        return StatedSamplingError("multiplicative", 0.0, **words(f"{self.id}/sampling error"))

    def _admitted(self, data: Dataset) -> Dataset:
        found, p = admitted(self, data), self.problem.constraint.dimension
        require(found.d == p, "data", f"{found.d} features", f"{p} features")
        return found


_TARGET_ACCEPTANCE = {1: 0.7, 2: 0.5, 3: 0.3}
"""By the number of free coordinates: cells at a ball's border cannot be shown to be useful, and take over in three."""


@dataclass(frozen=True)
class ExponentialSampling(ExponentialMechanism):
    """bst14, Algorithm 2: theta in C with density proportional to exp(-s L(theta; D)), s = epsilon / (2 L ||C||).

    L(theta; D) is the sum of the losses, L their Lipschitz constant, ||C|| the diameter of C. Samples are exact (in
    real arithmetic), by one of two ways:
    - `quadratic`: for a loss whose sum is linear or quadratic, on a ball or box of any dimension; closed forms where
      the quadratic part is a multiple of the identity (or diagonal on a box), else rejection, which is refused where
      it would take too long (see `quadratic_sampling`);
    - `cells`: for every convex loss on a ball, box or simplex with at most three free coordinates, by rejection from
      tangent planes (see `certified_rejection`).

    Guarantee (replace-one, both directions): Theorem 3.1, epsilon-DP, for every s up to epsilon / (G ||C||), G being
    the loss's gradient sensitivity (at most 2 L): log-densities of neighbors differ by -s times a G-Lipschitz
    function plus a constant, hence by at most s G ||C||. The printed proof bounds a sensitivity by L ||C|| where it is
    2 L ||C|| for a general base point; the theorem still holds, since the two factors 2 of the usual analysis
    of the exponential mechanism are not both needed: what counts is the oscillation over C.

    Assumptions: convex, L-Lipschitz losses for records in the unit ball; a bounded set.

    Attributes:
        problem: a convex loss on a ball, box or simplex.
        epsilon: in nats, above 0.
        exponent_scale: s, one over loss; None: Algorithm 2's.
        method: `quadratic` or `cells`; `auto`: closed forms first, then cells, then rejection for quadratics.
        largest_cells: how many cells an envelope may have.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.

    Examples:
        >>> from dpverify.algorithms.bst14 import ExponentialSampling
        >>> from dpverify.problems import Ball, Linear, Problem, load
        >>> from dpverify.running import run
        >>> data = load("breast-cancer", d=5)
        >>> mechanism = ExponentialSampling(Problem(Linear(), Ball(5, 1.0)), epsilon=1.0)
        >>> mechanism.scale  # epsilon / (2 L ||C||), here L = 1 and the diameter ||C|| = 2
        0.25
        >>> print(mechanism.guarantees(data.n).headline)
        1-DP (replace-one)
        >>> run(mechanism, data, runs=3, seed=0).points.shape
        (3, 5)
    """

    problem: Problem
    epsilon: Epsilon
    exponent_scale: NotNegative | None = None
    method: Literal["auto", "quadratic", "cells"] = "auto"
    largest_cells: Count = 4096
    withdraw_guarantee: bool = False

    id = "bst14.alg2"
    statements = ("bst14.thm3.1", "bst14.thm3.2", "bst14.claim3.3")
    unstated = reasons("bst14.alg2")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.line, 1.0),
            "cells": lambda: cls(at.curved, 1.0),
            "asked": lambda: cls(at.line, at.epsilon),
        }

    def __post_init__(self) -> None:
        """Refuse a problem without an exact sampler, and an exponent that voids the guarantee."""
        super().__post_init__()
        _ = self._way
        refuse_or_withdraw(self.id, self.withdrawn(1), self.withdraw_guarantee)

    @property
    def _way(self) -> Literal["quadratic", "cells"]:
        constraint = self.problem.constraint
        kind = _quadratic_kind(self.problem)
        few = affine_dimension(constraint) <= MOST_FREE
        simple = kind in ("linear", "spherical") or (kind == "general" and constraint.dimension == 1)
        if self.method == "quadratic" and kind is None:
            raise InvalidArgumentError(
                "method",
                self.method,
                '"cells": only linear and quadratic losses on a ball or box are quadratic',
            )
        if self.method == "cells" and not few:
            raise InvalidArgumentError(
                "method", self.method, '"quadratic" in more than three free coordinates'
            )
        if self.method == "quadratic" or (self.method == "auto" and (simple or (kind and not few))):
            return "quadratic"
        if not few:
            raise InvalidArgumentError(
                "problem",
                self.problem,
                "what can be sampled exactly: a linear or quadratic loss on a ball or box, or any convex loss "
                f"with at most {MOST_FREE} free coordinates",
            )
        return "cells"

    def _guaranteed(self, n: int) -> Guarantees:
        """Theorem 3.1, and the smaller epsilon s G ||C|| where the exponent allows it."""
        simple = self.problem.constraint.dimension == 1 or _quadratic_kind(self.problem) != "general"
        closed_form = self._way == "quadratic" and simple
        refusals = () if closed_form else never_refused(FEW_ACCEPTED)
        return self._epsilon_dp((*refusals, *self.problem.conditions))

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem 3.2 with an explicit constant: expected excess total risk at most p / s = 2 p L ||C|| / epsilon.

        p is the dimension of C (d - 1 for a simplex). Along every ray from the minimizer, s times the excess has a
        density proportional to one of Gamma(p, 1) times a decreasing function, since its inverse is concave in the
        risk. So it is stochastically at most Gamma(p, 1), whose mean is p.
        """
        whole_number("n", n)
        if self.scale == 0:
            return None
        p = affine_dimension(self.problem.constraint)
        return StatedRisk(p / self.scale, total=True, **words("bst14.alg2/risk"))

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """That of Gamma(p, 1) over s, by the stochastic order in `risk_bound`: all of beta is spent on one tail.

        Assumes a convex sum of losses on C, and exact draws; no Lipschitz constant, which only sets s.
        The tail printed in the proof, Pr[excess > (2 L ||C|| / epsilon) (p ln 3 + 2 t)] <= e^-t, is false for large p:
        the sets A_4, A_5, ... leave out three layers, not one, so 3 Gamma belongs there.
        """
        whole_number("n", n)
        found = scipy.special.gammainccinv(affine_dimension(self.problem.constraint), missed(probability))
        if self.scale == 0:
            return None
        row = words("bst14.alg2/quantile")
        return StatedRisk(float(found) / self.scale, total=True, probability=probability, **row)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Oracle calls for n records; a run alone would need the envelope that runs share, so each counts it."""
        n = whole_number("n", n)
        if self._way == "quadratic":
            known, kind = {"linear": 1, "spherical": 2}, str(_quadratic_kind(self.problem))
            points = known.get(kind, self.problem.constraint.dimension + 1)
            said = {1: "one point", 2: "two points"}.get(points, f"{points} points")
            row = words("bst14.alg2/queries", points=points, words=said)
            return (StatedQueries("gradient", n * points, **row), StatedQueries("value", 0))
        coordinates = affine_dimension(self.problem.constraint)
        return sampling_queries(coordinates, n, largest=self.largest_cells)

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent for n records times the factor."""
        if self.exponent_scale is None:
            return dataclasses.replace(self, epsilon=factor * self.epsilon)
        return dataclasses.replace(self, exponent_scale=factor * self.exponent_scale, withdraw_guarantee=True)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d).

        Raises:
            NotGuaranteedError: if too few proposals would be accepted.
            InvalidDataError: if a loss turns out not to be convex, or records are outside the unit ball.
        """
        constraint: Any = self.problem.constraint
        data = self._admitted(data)
        if self._way == "quadratic":
            hessian, slope, points = total_quadratic(self.problem, data.as_namespace(np))
            sampler = quadratic_sampler(constraint, self.scale * hessian, self.scale * slope)
            return Output(sampler.draw(rng, runs), gradient_queries=data.n * points)
        return sample_on_set(
            RiskPotential(self.problem, data, self.scale),
            rng=rng,
            runs=runs,
            target=_TARGET_ACCEPTANCE[affine_dimension(constraint)],
            largest=self.largest_cells,
        )

    @property
    def localizes_without_refusing(self) -> bool:
        """Whether `sample_localized` needs no cells: linear and quadratic losses on a ball, in any dimension."""
        return self._way == "quadratic" and type(self.problem.constraint) is Ball

    def sample_localized(
        self, data: Dataset, centers: Any, radius: float, *, exponent_scale: float, rng: Randomness
    ) -> Output:
        """The density proportional to exp(-exponent_scale L(theta; D)) on C, within `radius` of each run's center.

        For localization (Algorithm 4), whose C0 has diameter at most 2 radius: with exponent_scale
        = epsilon / (2 L min(2 radius, ||C||)) a run is epsilon-DP for a given center. Exact: for linear and quadratic
        losses on a ball in any dimension (see `tilted_gaussians`), else for at most three free coordinates.
        """
        data = admitted(self, data)
        if not self.localizes_without_refusing:
            return sample_near(self.problem, data, centers, radius, exponent_scale=exponent_scale, rng=rng)
        ball = self.problem.constraint
        assert isinstance(ball, Ball)
        given = check_near(self.problem, data, centers, radius, exponent_scale, rng)
        hessian, slope, points = total_quadratic(self.problem, data.as_namespace(np))
        lenses = LensSampler(
            ball,
            exponent_scale * hessian,
            exponent_scale * slope,
            np.asarray(ball.project(given), dtype=np.float64),
            radius,
        )
        return Output(lenses.draw(rng), gradient_queries=data.n * points)


def _quadratic_kind(problem: Problem) -> Literal["linear", "spherical", "general"] | None:
    """Form of the total risk's Hessian: 0, a multiple of the identity, or another constant; None: not constant.

    Only the built-in losses are known to be quadratic; a subclass may have changed them.
    """
    if type(problem.constraint) not in (Ball, Box):
        return None
    loss, ridge = without_ridge(problem.loss)
    if type(loss) is Linear:
        return "spherical" if ridge else "linear"
    if type(loss) in (HalfSquaredDistance, ContractOrDrift):
        return "spherical"
    return "general" if type(loss) is Squared else None


def total_quadratic(problem: Problem, data: Dataset) -> tuple[Matrix, Matrix, int]:
    """H and g of the total risk <w, H w> / 2 + <g, w> + constant, and at how many points gradients were asked for."""
    d, kind = data.d, _quadratic_kind(problem)
    count = {"linear": 0, "spherical": 1}.get(str(kind), d)
    points = np.concatenate([np.zeros((1, d)), np.eye(d)[:count]])
    gradients = data.n * problem.mean_gradient(points, data)
    slope = gradients[0]
    columns = gradients[1:] - slope
    if kind == "linear":
        return np.zeros((d, d)), slope, 1
    if kind == "spherical":
        return max(0.0, float(columns[0, 0])) * np.eye(d), slope, 2
    return 0.5 * (columns + columns.T), slope, d + 1
