"""The exponential mechanism on a net of the constraint set (Bassily, Smith, Thakurta, 2014, Algorithm 8).

Losses are summed over the records in this paper.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from dpverify.algorithms.bst14.exponential_sampling import SLACK, ExponentialMechanism
from dpverify.algorithms.conditions import refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Positive
from dpverify.algorithms.promises import StatedQueries, StatedRisk, missed, words
from dpverify.algorithms.samplers.certified_rejection import Matrix
from dpverify.algorithms.samplers.constraint_nets import Net, cover_radius, grid_net, grid_size
from dpverify.checks import require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import namespace
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


@dataclass(frozen=True)
class NetMechanism(ExponentialMechanism):
    """bst14, Algorithm 8: a point of a net M of C with probability proportional to exp(-s L(theta; D)).

    The net covers C with balls of radius ||C|| p / (epsilon n). s is epsilon / (2 L ||C||). The printed factor is
    epsilon / (L ||C||), without the 2, for which the printed privacy proof (that of Theorem 3.1) gives 2 epsilon, and
    2 epsilon is approached: linear losses on an interval, all records but one on one side
    (bst14.alg8-privacy).

    Guarantee (replace-one, both directions): epsilon-DP for every net that does not depend on the data and every s up
    to epsilon / (G D), G being the loss's gradient sensitivity (at most 2 L) and D = ||C||. How fine the net is does
    not matter for privacy; it does for the risk.

    Assumptions: L-Lipschitz losses for records in the unit ball, convex or not.

    Attributes:
        problem: loss and constraint set: a ball, box or simplex.
        epsilon: in nats, above 0.
        cover_radius: that the net must have, a length; None: the theorem's, ||C|| p / (epsilon n), at most ||C||.
        net: points of C to use instead of a grid, chosen without the data; its covering radius is computed.
        exponent_scale: s, one over loss; None: epsilon / (2 L ||C||).
        largest_net: a net with more points is refused.
        withdraw_guarantee: run even with a net too coarse for Theorem A.1, or with too large an s for privacy; no
            privacy is stated then.
    """

    problem: Problem
    epsilon: Epsilon
    cover_radius: Positive | None = None
    net: Sequence[Sequence[float]] | None = None
    exponent_scale: NotNegative | None = None
    largest_net: Count = 200_000
    withdraw_guarantee: bool = False

    id = "bst14.alg8"
    statements = ("bst14.alg8-privacy", "bst14.thmA.1", "bst14.thm3.1")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(at.line, 1.0), "asked": lambda: cls(at.line, at.epsilon)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.net is not None:
            if self.cover_radius is not None:
                raise InvalidArgumentError("cover_radius", self.cover_radius, "None, where a net is given")
            object.__setattr__(self, "net", _as_points(self.net, self.problem.constraint.dimension))
            _ = self.net_for(1)
        refuse_or_withdraw(self.id, self.loose, self.withdraw_guarantee)

    @property
    def seconds_a_call(self) -> float:
        """Of a loss at one of many points at once."""
        return 1e-7

    def theorem_radius(self, n: int) -> float:
        """||C|| p / (epsilon n), at most ||C||; p is the number of coordinates."""
        n = whole_number("n", n)
        constraint = self.problem.constraint
        return float(min(1.0, constraint.dimension / (self.epsilon * n)) * constraint.diameter)

    def _radius(self, n: int) -> float:
        return self.theorem_radius(n) if self.cover_radius is None else float(self.cover_radius)

    def net_for(self, n: int) -> Net:
        """The net for n records, with a bound on its covering radius.

        Raises:
            NotGuaranteedError: if it would have too many points.
        """
        constraint: Any = self.problem.constraint
        net: Any = self.net
        if net is not None:
            return _measured_net(net, constraint)
        return _grid(constraint, self._radius(n), self.largest_net)

    def _size(self, n: int) -> tuple[int, float]:
        """Points of the net and its covering radius; of a net too large to be made, at most, and at most."""
        if self.net is None:
            points, reached = grid_size(self.problem.constraint, self._radius(n))
            if points > self.largest_net:  # a point for each cube that is counted
                return points, reached
        net = self.net_for(n)
        return net.points.shape[0], net.cover_radius

    def risk_withdrawn(self, n: int) -> tuple[str, ...]:
        """Why Theorem A.1 does not apply to n records; empty if it does."""
        radius = self.theorem_radius(n)
        if self.net is None and (self.cover_radius is None or self.cover_radius <= radius * (1 + SLACK)):
            return ()
        reached = self.net_for(n).cover_radius
        if reached <= radius * (1 + 1e-9):
            return ()
        return (f"the net's covering radius is at most {reached:.4g}, but the theorem needs {radius:.4g}",)

    def _voids(self, n: int) -> tuple[str, ...]:
        return (*self.loose, *self.risk_withdrawn(n))

    def guarantees(self, n: int) -> Guarantees:
        """Epsilon-DP, whatever the net, and the smaller epsilon s G ||C|| where the exponent allows it."""
        whole_number("n", n)
        if self.loose or self.withdraw_guarantee:
            return Guarantees()
        return self._epsilon_dp(self.problem.conditions)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem A.1 with explicit constants: n L r + ln|M| / s, r the net's radius; None if the net is too coarse.

        Some net point is within r of the minimizer, so its total risk is at most n L r above the minimum. Over a finite
        set, the expected excess of the Gibbs law is at most ln|M| / s: -ln Z is s times the mean risk minus the law's
        entropy, which is at most ln|M|, and -ln Z is at most s times the smallest risk.
        """
        if self.scale == 0 or self.risk_withdrawn(n):
            return None
        points, reached = self._size(n)
        bound = n * self.problem.constants.lipschitz_constant * reached + math.log(points) / self.scale
        return StatedRisk(bound, total=True, **words("bst14.alg8/risk"))

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """ln(1 / beta) / s more: each net point x / s above the best one has at most e^-x times its probability.

        There are fewer than |M| of them, so that all of beta is spent at x = ln(|M| / beta). Assumes what `risk_bound`
        does: an L-Lipschitz loss on C for each record, and a net of C with that covering radius; no convexity.
        """
        found, beta = self.risk_bound(n), missed(probability)
        if found is None:
            return None
        row = words("bst14.alg8/quantile")
        return StatedRisk(
            found.bound - math.log(beta) / self.scale, total=True, probability=probability, **row
        )

    def gradient_query_count(self, n: int) -> int:
        """None."""
        whole_number("n", n)
        return 0

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Every record's loss at every point of the net; at most, where it is too large to be made.

        Raises:
            NotGuaranteedError: if it has more points than a floating-point number can say.
        """
        points, _ = self._size(n)
        if n * points > sys.float_info.max:
            self.net_for(n)
        made = self.net is not None or points <= self.largest_net
        return (StatedQueries("value", n * points, exact=made, **words("bst14.alg8/queries")),)

    def probabilities(self, data: Dataset) -> Matrix:
        """Of the net's points, in its order; shape (m,), sum 1."""
        net = self.net_for(data.n)
        exponents = -self.scale * np.asarray(self.problem.total_risk(net.points, data.as_namespace(np)))
        return np.asarray(exponential_probabilities(exponents))

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent for n records times the factor."""
        # a larger epsilon would make another net
        return dataclasses.replace(self, exponent_scale=factor * self.scale, withdraw_guarantee=True)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d).

        Raises:
            NotGuaranteedError: if the net has too many points, or is too coarse and that was not withdrawn.
            InvalidDataError: if records are outside the unit ball.
        """
        data = self._admitted(data)
        n, xp = data.n, rng.xp
        net = self.net_for(n)
        points = xp.asarray(net.points, copy=True)
        exponents = -self.scale * self.problem.total_risk(points, data.as_namespace(xp))
        sums = xp.cumulative_sum(xp.exp(exponents - xp.max(exponents)))
        drawn = rng.uniform((runs,), "net point")
        chosen = xp.searchsorted(sums[:-1] / sums[-1], drawn, side="right")
        return Output(xp.take(points, chosen, axis=0), value_queries=n * net.points.shape[0])


def _as_points(net: Any, dimension: int) -> tuple[tuple[float, ...], ...]:
    try:
        points = np.asarray(net)
    except ValueError:
        points = np.empty(0)
    right = points.dtype.kind in "iuf" and points.ndim == 2 and points.shape[1] == dimension and points.size
    allowed = f"at least one point of the constraint set, {dimension} finite numbers each"
    require(right and np.all(np.isfinite(points)), "net", net, allowed)
    return tuple(tuple(float(number) for number in point) for point in points)


# constraint sets are frozen dataclasses of plain numbers, and can be hashed; the protocol does not say so
@lru_cache(maxsize=16)
def _grid(constraint: Any, radius: float, largest: int) -> Net:
    return grid_net(constraint, radius, largest=largest)


@lru_cache(maxsize=16)
def _measured_net(points: tuple[tuple[float, ...], ...], constraint: Any) -> Net:
    net = np.array(points, dtype=np.float64)
    return Net(net, cover_radius(net, constraint).upper)


def exponential_probabilities(exponents: Array) -> Array:
    """Numbers proportional to exp(exponents) with sum 1 along the last axis; the same shape, for any magnitude."""
    xp = namespace(exponents)
    weights = xp.exp(exponents - xp.max(exponents, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)
