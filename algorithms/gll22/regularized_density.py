"""The density exp(-k (F(x) + (mu / 2) ||x - c||^2)) on a constraint set, F the mean loss of a data set.

Before the product of Algorithm 2 estimates a record's loss, its expansion can be taken out. A generalized linear loss
link(<x_i, w>, y_i) is its expansion at w = 0, a point that depends on no data, link'(0, y_i) <x_i, w> + (b_i / 2)
<x_i, w>^2, plus a rest, where b_i is one number for all records, or for logistic losses, which bend as the square of
the label, a number times y_i^2: any label in [-1, 1] is allowed there. The expansion's mean is linear plus quadratic
and so belongs to psi, with which the inner step's Gaussian is made; only the rest is estimated. The density is the
same, and so is every bound on the distance from it, in which the rest's Lipschitz constant stands in place of the
loss's: what they need of the Gaussian is a variance of at most v in every direction, and curvature only lowers it.
The rest need not be convex; F and psi are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from dpverify.algorithms.conditions import normalized_start, reach
from dpverify.algorithms.parameters import NotNegative, Positive, check_parameters
from dpverify.algorithms.promises import StatedRisk, missed, words
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    AllSpace,
    Ball,
    ConstraintSet,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Squared,
)
from dpverify.problems.arrays import Array
from dpverify.problems.displacements import ContractOrDrift
from dpverify.problems.losses import GeneralizedLinear
from dpverify.problems.problem import without_ridge

_ROUNDING = 1e-14
_HALVINGS = 60


@dataclass(frozen=True)
class Expansion:
    """What is taken out of every record's loss; the same for all records and data sets."""

    curvature: float
    """b, loss over margin^2, at least 0."""
    lipschitz_constant: float
    """Of what is left of a record's loss on the set, loss over length: the largest |link'(z, y) - link'(0, y) - b_i z|
    for margins z of records in the unit ball, whatever the label."""
    by_label: bool = False
    """Whether b_i is b times the squared label."""

    def curvatures(self, labels: Array) -> Array:
        """The b_i of records with these labels, of their shape."""
        return self.curvature * (labels * labels if self.by_label else labels * 0.0 + 1.0)


def expansion_of(problem: Problem) -> Expansion | None:
    """The expansion that leaves least, the ridge of the loss aside; None if it leaves no less than there was.

    Quadratic parts are taken only on balls and all space, where a Gaussian with any covariance can be sampled.
    """
    loss, _ = without_ridge(problem.loss)
    if not isinstance(loss, GeneralizedLinear):
        return None
    largest = problem.constraint.largest_norm
    skew = type(problem.constraint) in (Ball, AllSpace)
    # a subclass may have changed its link
    kind: type = type(loss)
    if kind is Logistic:
        found = _logistic(largest) if skew and math.isfinite(largest) else _linear_part_of_logistic(largest)
    elif kind is Squared and skew:
        found = Expansion(1.0, 0.0)
    else:
        # link' rises by 0 to smoothness times the margin
        smoothness = problem.base_constants.smoothness
        steepest = smoothness * largest if smoothness > 0 else 0.0
        found = Expansion(smoothness / 2, steepest / 2) if skew else Expansion(0.0, steepest)
    return found if found.lipschitz_constant < problem.base_constants.lipschitz_constant else None


def _linear_part_of_logistic(largest: float) -> Expansion:
    """The slope less that at 0 is y tanh(y z / 2) / 2, at its steepest for labels -1 and 1."""
    return Expansion(0.0, 0.5 * math.tanh(largest / 2) + _ROUNDING)


@cache
def _logistic(largest: float) -> Expansion:
    """The b for which |tanh(z / 2) / 2 - b z| is least at its largest on [0, largest], near enough.

    With a label y in [-1, 1] the slope less that at 0 and less b y^2 z is y (tanh(y z / 2) / 2 - b y z), which is no
    larger.

    The difference rises to z = 2 arccosh(1 / (2 sqrt(b))) and falls from there, so its largest absolute value is
    at that point or at the end, for every b.
    """

    def rest(b: float, z: float) -> float:
        return 0.5 * math.tanh(z / 2) - b * z

    def top(b: float) -> float:
        return rest(b, min(largest, 2 * math.acosh(max(1.0, 0.5 / math.sqrt(b)))))

    low, high = rest(0.0, largest) / largest, 0.25
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if top(middle) + rest(middle, largest) > 0 else (low, middle)
    steepest = max(top(low), abs(rest(low, largest))) + _ROUNDING * (1 + largest)
    return Expansion(low, steepest, by_label=True)


@dataclass(frozen=True)
class RegularizedDensity:
    """What gll22 (8) samples from, with its constants; nothing here depends on the data but where it says so."""

    problem: Problem
    inverse_temperature: Positive
    """k, one over loss."""
    regularization: NotNegative
    """mu, loss over length^2; with the losses' own strong convexity it must be above 0."""
    anchor: Sequence[float] | None = None
    """c in K, d numbers; the center if None. The paper has c = 0, which its risk bound needs to be a point of K."""
    expanded: bool = False
    """Whether what the expansion takes out of the losses is sampled with the Gaussian. The density is the same;
    `lipschitz_constant` is that of what is left to estimate."""

    def __post_init__(self) -> None:
        """Refuse a density of which nothing is strongly convex."""
        check_parameters(self)
        if not self.regularization + self.problem.constants.strong_convexity > 0:
            allowed = "a number above 0, since the loss is not strongly convex"
            raise InvalidArgumentError("regularization", self.regularization, allowed)
        object.__setattr__(self, "anchor", checked_anchor(self.anchor, self.problem.constraint))
        if not reach(self.anchor_point, self.problem.constraint) > 0:
            raise InvalidArgumentError("problem", self.problem, "a set of more than one point")

    @property
    def strong_convexity(self) -> float:
        """Of the negative log-density, 1 over length^2: k times (mu plus the losses' own)."""
        return self.inverse_temperature * (self.regularization + self.problem.constants.strong_convexity)

    @property
    def quadratic_weight(self) -> float:
        """Curvature of what the losses have in common: k times (mu plus the ridge of the loss), 1 over length^2."""
        return self.inverse_temperature * (self.regularization + without_ridge(self.problem.loss)[1])

    @property
    def lipschitz_constant(self) -> float:
        """Of k times what is estimated of a record's loss: all but its ridge, and its expansion if that is taken out.

        1 over length, on K and for records in the unit ball.
        """
        expansion = self.expansion
        own = self.problem.base_constants.lipschitz_constant
        return self.inverse_temperature * (own if expansion is None else expansion.lipschitz_constant)

    @property
    def expansion(self) -> Expansion | None:
        """What is taken out of every record's loss; None if nothing is."""
        return expansion_of(self.problem) if self.expanded else None

    @property
    def mode_distance(self) -> float:
        """Bound on ||c - mode||, a length, for every data set.

        At the mode x, strong convexity gives kappa ||x - c||^2 <= <grad V(c), c - x> with grad V(c) = k grad F(c).
        """
        slope = self.inverse_temperature * self.problem.constants.lipschitz_constant
        return min(reach(self.anchor_point, self.problem.constraint), slope / self.strong_convexity)

    @property
    def root_mean_square_distance(self) -> float:
        """Bound on sqrt(E ||x - c||^2) under the density, a length, for every data set.

        E ||x - mode||^2 <= d / kappa for a kappa-strongly log-concave law on a convex set (integrate by parts).
        """
        spread = math.sqrt(self.problem.constraint.dimension / self.strong_convexity)
        return min(reach(self.anchor_point, self.problem.constraint), spread + self.mode_distance)

    @property
    def excess_risk(self) -> float:
        """Bound on F's expected excess under the density, in units of the loss, for every data set.

        F's excess at the mode x is at most mu <x - c, w* - x>, since x is the best for F + mu ||. - c||^2 / 2, and so
        at most mu a (D - a), a being the smaller of D / 2 and a bound on ||x - c||, D the largest distance from c. A
        sample is sqrt(d / kappa) away from the mode in root mean square, kappa = k (mu + m), which costs L times that.

        Or, as K is convex, E <grad F(x) + mu (x - c), x - w*> is at most d / k (integrate by parts), so that the excess
        is at most d / k less E of mu <x - c, x - w*> + m ||x - w*||^2 / 2, which is least where x - c is
        (mu + m) / (2 mu + m) times w* - c: that leaves d / k + mu^2 D^2 / (4 mu + 2 m), where Theorem 6.2 has
        d / k + mu D^2 / 2. Infinite on unbounded sets, unless mu is 0.
        """
        mu, own = self.regularization, self.problem.constants.strong_convexity
        dimension, far = self.problem.constraint.dimension, reach(self.anchor_point, self.problem.constraint)
        by_parts = dimension / self.inverse_temperature + (mu**2 * far**2 / (4 * mu + 2 * own) if mu else 0.0)
        return min(self._excess_at(math.sqrt(dimension)), by_parts)

    def _excess_at(self, spread: float) -> float:
        """Bound on F's excess that many 1 / sqrt(kappa) away from the mode; infinite on unbounded sets."""
        far = reach(self.anchor_point, self.problem.constraint)
        if far == math.inf or not self.strong_convexity > 0:
            return math.inf
        away = min(self.mode_distance, far / 2)
        moved = self.problem.constants.lipschitz_constant * spread / math.sqrt(self.strong_convexity)
        return self.regularization * away * (far - away) + moved

    def excess_quantile(self, beta: float) -> float:
        """What F's excess is above with probability at most beta, in (0, 1), under the density, in units of the loss.

        The exponent's excess over the mode is at most a Gamma variable of shape d, in stochastic order, as of every
        log-concave law on a convex set; the regularizer takes mu D^2 / 2 at most. Or the distance from the mode is at
        most (sqrt(d) + sqrt(2 ln(1/beta))) / sqrt(kappa), as its mean is at most sqrt(d / kappa), and a 1-Lipschitz
        function's tails are not heavier than a Gaussian's (Bakry and Emery 1985).
        """
        far, dimension = reach(self.anchor_point, self.problem.constraint), self.problem.constraint.dimension
        regularized = self.regularization * far**2 / 2 if self.regularization else 0.0
        tail = float(scipy.special.gammainccinv(dimension, beta)) / self.inverse_temperature
        return min(tail + regularized, self._excess_at(math.sqrt(dimension) + math.sqrt(-2 * math.log(beta))))

    def risk_quantile(self, probability: float, total_variation: float) -> StatedRisk | None:
        """F's excess with a probability, under a law that near to this; at most L ||K||, None if nothing is left."""
        left = missed(probability) - total_variation
        if not left > 0:
            return None
        most = self.problem.constants.lipschitz_constant * self.problem.constraint.diameter
        found, row = min(self.excess_quantile(left), most), words("gll22.samplers/quantile")
        return (
            StatedRisk(found, total=False, probability=probability, **row) if math.isfinite(found) else None
        )

    @property
    def anchor_point(self) -> tuple[float, ...]:
        """The anchor c as a tuple."""
        assert self.anchor is not None
        return tuple(self.anchor)

    def gaussian(self, data: Dataset) -> tuple[tuple[float, ...], float] | None:
        """Mean and standard deviation of the Gaussian whose restriction this density is on a data set.

        None if the loss is not a multiple of ||x||^2 plus something linear. One gradient of each record is used.
        """
        curvature = quadratic_curvature(self.problem, data)
        if curvature is None:
            return None
        origin = np.zeros((1, data.d))
        gradient = np.asarray(self.problem.mean_gradient(origin, data.as_namespace(np)))[0]
        total = curvature + self.regularization
        mean = (self.regularization * np.asarray(self.anchor_point) - gradient) / total
        return tuple(mean.tolist()), 1 / math.sqrt(self.inverse_temperature * total)


def quadratic_curvature(problem: Problem, data: Dataset | None = None) -> float | None:
    """a, if the mean loss is (a / 2) ||x||^2 plus something linear, for every data set; None otherwise.

    Where a depends on the data (`ContractOrDrift`), it is that of `data`, and NaN without data.
    """
    loss, ridge = without_ridge(problem.loss)
    if type(loss) is Linear:
        return ridge
    if type(loss) is HalfSquaredDistance:
        return 1.0 + ridge
    if type(loss) is ContractOrDrift:
        return math.nan if data is None else float(np.mean(np.asarray(data.labels))) + ridge
    return None


def checked_anchor(anchor: Sequence[float] | None, constraint: ConstraintSet) -> tuple[float, ...]:
    """The anchor as a tuple, the set's center if None; refused if it is not in the set."""
    try:
        return normalized_start(anchor, constraint)
    except InvalidArgumentError as error:
        allowed = f"{constraint.dimension} finite numbers, a point of the constraint set"
        raise InvalidArgumentError("anchor", anchor, allowed) from error
