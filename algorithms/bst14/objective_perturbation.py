"""Objective perturbation (Bassily, Smith, Thakurta, 2014, Appendix E, (11)), for minimizers that are not exact.

Losses are summed over the records in this paper.

What is printed: theta_priv minimizes L(theta; D) + (Delta / 2) ||theta||^2 + <b, theta> on C, where b has a density
proportional to exp(-epsilon ||b|| / (2 L)), for epsilon-DP, or is N(0, 8 L^2 ln(1/delta) / epsilon^2 I), for
(epsilon, delta)-DP, if Delta >= beta / (2 epsilon). This gives away more than it says, for two reasons:

- The density of theta_priv is the noise's at b(theta) = -(gradient) times the determinant of the objective's Hessian.
  A replaced record moves b(theta) by up to 2 L, which spends all of epsilon in the Gamma case; its Hessian moves the
  determinant as well, by a factor of up to 1 + beta / Delta = 1 + 2 epsilon, for which nothing is left. (The source
  that the paper translates adds or removes a record, which moves the gradient by L, and asks for 2 beta / epsilon.)
- The factor 1 + beta / Delta is right for Hessians of rank one, those of generalized linear losses. In p
  dimensions it is up to the p-th power of that, and the paper allows all smooth losses.

In one dimension the printed Gamma noise spends epsilon + ln(1 + 2 epsilon), nearly 3 epsilon for small ones, and a
huberized hinge attains that; at epsilon = 0.1 the logistic loss refutes both printed claims. Here epsilon is split
instead into what the noise, the determinant and the minimizer's error spend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpverify.algorithms.bst14.output_perturbation import gamma_norm_noise
from dpverify.algorithms.conditions import admitted, never_refused, refuse_or_withdraw, too_small
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import BelowOne, Epsilon, NotNegative, Positive, Proper
from dpverify.algorithms.promises import StatedRisk, missed, reasons, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import ApproxDP, ProfileDP, PureDP, gaussian_hockey_stick
from dpverify.problems import Dataset, GeneralizedLinear, Loss, Problem
from dpverify.problems.arrays import Array
from dpverify.problems.losses import check_not_flat
from dpverify.problems.per_run.batched_minimizers import UNCERTIFIED, minimize_tilted
from dpverify.problems.problem import without_ridge
from dpverify.running import Output, Randomness


@dataclass(frozen=True)
class ObjectivePerturbation(Weakenable):
    """bst14, (11): minimize a sum of losses with a random linear term; Gamma or Gaussian noise, corrected.

    theta# minimizes L(theta; D) + (regularization / 2) ||theta||^2 + <b, theta> on C. A point found instead is
    certified to be within `accuracy` of theta#, with other noise added to hide which point it is, and projected onto C.
    (An inexact minimizer alone voids the theorem. This is the approximate-minima variant of Iyengar et al., 2019.)

    Guarantee (replace-one, both directions): epsilon-DP for delta = 0, where b has a density proportional to
    exp(-||b|| / noise_scale); else (epsilon, delta)-DP, where b is N(0, noise_scale^2 I). With s the loss's gradient
    sensitivity (at most 2 L), beta its smoothness and m its strong convexity, epsilon is the sum of

    - hiding_share * epsilon, for the minimizer's error: two data sets with the same theta# have points at most twice
      `accuracy` apart, and the norm of what hides that has a Gamma law;
    - `determinant_epsilon(n)`, what the Hessian's determinant gives away: ln(1 + beta / curvature) for a generalized
      linear loss, where the curvature is the regularization plus n times a ridge of the loss's own; else p ln((K +
      beta) / (K + m)) with K the regularization plus (n - 1) m;
    - the rest, for b: noise_scale = s / rest with Gamma noise. With Gaussian noise the shift of b(theta)
      depends on theta, so that the profile of N(0, 1) against N(s / noise_scale, 1) does not bound it as it stands. It
      is one of a x - a' x' for |a|, |a'| <= L in a generalized linear loss, and the privacy loss is convex in it:
      the corners, two of norm at most 2 L and two of at most sqrt(2) L, give a sum of four Gaussian profiles. For
      other losses the shift is anywhere in a ball of radius s, and the profile is an integral over ||b||.

    For a constrained set the minimizer is a limit of unconstrained ones with a steep penalty, and the guarantee
    survives limits. Twice differentiable losses are not needed: gradients that are Lipschitz have a derivative
    almost everywhere, which is all that the change of variables needs. A run for which the certificate fails is
    refused with an error, and the guarantee has the condition that none is.

    Assumptions: convex losses with finite smoothness and gradient sensitivity for records in the unit ball.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        delta: in [0, 1); 0 for Gamma noise.
        regularization: the paper's Delta in (11), in loss over length^2; None: the choice of Theorem E.1, or
            of E.2 for a strongly convex loss, raised to where the determinant leaves half of epsilon to the noise.
        noise_scale: of b, in loss over length; None: the smallest that has the guarantee.
        accuracy: largest distance to theta#, a length; None: 1e-8 times gradient sensitivity over
            the objective's strong convexity, more for more than 1000 records.
        hiding_share: of epsilon, in (0, 1), dimensionless.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.
    """

    problem: Problem
    epsilon: Epsilon
    delta: BelowOne = 0.0
    regularization: NotNegative | None = None
    noise_scale: NotNegative | None = None
    accuracy: Positive | None = None
    hiding_share: Proper = 0.01
    withdraw_guarantee: bool = False

    id = "bst14.alg-objpert"
    statements = (
        "bst14.objpert-privacy",
        "bst14.thmE.1.1",
        "bst14.thmE.1.2",
        "bst14.thmE.2.1",
        "bst14.thmE.2.2",
    )
    unstated = reasons("bst14.alg-objpert")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 1.0),
            "Gaussian": lambda: cls(at.curved, 1.0, 1e-5),
            "asked": lambda: cls(at.curved, at.epsilon, at.delta),
        }

    def __post_init__(self) -> None:
        """Refuse a loss that is not smooth, or whose gradients may be arbitrarily far apart."""
        super().__post_init__()
        loss = self.problem.loss
        if not math.isfinite(self.problem.constants.smoothness):
            raise InvalidArgumentError("problem", self.problem, "a loss with finite smoothness")
        if not math.isfinite(self.problem.constants.gradient_sensitivity):
            raise InvalidArgumentError("problem", self.problem, "a loss with a finite gradient sensitivity")
        check_not_flat("problem", self.problem, loss)
        unbounded = math.isinf(self.problem.constraint.largest_norm)
        flat = self.regularization == 0 or (
            self.regularization is None and self.problem.constants.smoothness == 0 and unbounded
        )
        if flat and not self.problem.constants.strong_convexity > 0:
            raise InvalidArgumentError(
                "regularization", self.regularization, "above 0, for a loss that is not strongly convex"
            )

    @property
    def objective_epsilon(self) -> float:
        """What is left of epsilon for an exact minimizer, nats."""
        return (1 - self.hiding_share) * self.epsilon

    def least_regularization(self, n: int) -> float:
        """The regularization above which the noise is left with something; the guarantee needs more than this."""
        return self._regularization_for(n, self.objective_epsilon)

    def regularization_at(self, n: int) -> float:
        """The paper's Delta in (11), in loss over length^2.

        Where it is not given: enough to leave half of epsilon to the noise and, unless the loss is strongly convex, at
        least sqrt(E ||b||^2) over the set's largest norm, which is of the order of Theorem E.1's and
        makes the two terms of its bound equal.
        """
        n = whole_number("n", n)
        if self.regularization is not None:
            return self.regularization
        enough = self._regularization_for(n, self.objective_epsilon / 2)
        if self.problem.constants.strong_convexity > 0:
            return enough
        noise = self._least_noise(self.objective_epsilon - self._determinant(n, enough))
        return max(enough, math.sqrt(self._second_moment(noise)) / self.problem.constraint.largest_norm)

    def convexity(self, n: int) -> float:
        """Strong convexity of the objective, in loss over length^2."""
        return self.regularization_at(n) + n * self.problem.constants.strong_convexity

    def determinant_epsilon(self, n: int) -> float:
        """Largest logarithm (nats) of the factor by which a replaced record moves the Hessian's determinant."""
        return self._determinant(n, self.regularization_at(n))

    def noise_scale_at(self, n: int) -> float:
        """Scale of b's norm, or standard deviation of each of its coordinates; in loss over length.

        Raises:
            NotGuaranteedError: if it was not given, and the determinant leaves nothing of epsilon.
        """
        if self.noise_scale is not None:
            return self.noise_scale
        rest = self.objective_epsilon - self.determinant_epsilon(n)
        if not rest > 0:
            raise NotGuaranteedError(f"{self._too_little(n)}; raise it, or give the noise's scale as well.")
        return self._least_noise(rest)

    def accuracy_at(self, n: int) -> float:
        """Largest certified distance to the exact minimizer, a length."""
        if self.accuracy is not None:
            return self.accuracy
        # sums over many records are known less accurately
        relative = 1e-8 * max(1.0, (n / 1000) ** 2)
        return relative * self.problem.constants.gradient_sensitivity / self.convexity(n)

    def hiding_scale(self, n: int) -> float:
        """Scale of the norm of the noise that hides the minimizer's error, a length."""
        return 2 * self.accuracy_at(n) / (self.hiding_share * self.epsilon)

    def stability(self, n: int) -> float:
        """What the objective's minimizer moves by, found twice to within `accuracy`; all noise is the same."""
        return self.problem.constants.gradient_sensitivity / self.convexity(n) + 2 * self.accuracy_at(n)

    def _voids(self, n: int) -> tuple[str, ...]:
        if not self.determinant_epsilon(n) < self.objective_epsilon:
            return (self._too_little(n),)
        least = self._least_noise(self.objective_epsilon - self.determinant_epsilon(n))
        return too_small("the noise's scale", self.noise_scale, least)

    def _guaranteed(self, n: int) -> Guarantees:
        """The guarantee asked for, and with Gaussian noise the whole profile; none if it does not hold."""
        claim = ApproxDP(self.epsilon, self.delta) if self.delta > 0 else PureDP(self.epsilon)
        conditions = (*never_refused(UNCERTIFIED), *self.problem.conditions)
        theorem = promised(f"{self.id}/privacy", claim, conditions=conditions, claim=claim)
        sharper = replace(theorem, guarantee=ProfileDP(self._profile(n))) if self.delta > 0 else None
        return Guarantees(theorem, sharpest=sharper, as_printed=theorem)

    def profile(self, n: int) -> ShiftedProfile:
        """With Gaussian noise: an upper bound on the profile of the whole algorithm.

        Raises:
            NotGuaranteedError: if the guarantee was withdrawn, or does not hold.
        """
        refuse_or_withdraw(self.id, self.withdrawn(n), False)
        return self._profile(n)

    def _profile(self, n: int) -> ShiftedProfile:
        spent = self.determinant_epsilon(n) + self.hiding_share * self.epsilon
        return ShiftedProfile(self._shifts(self.noise_scale_at(n)), spent)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorems E.1 and E.2 with constants: (Delta^2 R^2 + E ||b||^2) / (2 (Delta + K)), and what the error costs.

        R is the largest norm in the set, K the objective's strong convexity, and the error costs n L (accuracy + E
        ||hiding noise||). With u = theta# - theta*, optimality of theta# and strong convexity let the risk grow by at
        most -<Delta theta* + b, u> - (Delta + K) ||u||^2 / 2, so at most by ||Delta theta* + b||^2 / (2 (Delta + K)); b
        has mean 0. None if the bound is infinite.
        """
        biased = self.regularization_at(n) * self.problem.constraint.largest_norm
        bound = self._risk_at(
            n,
            (biased**2 if biased > 0 else 0.0) + self._second_moment(self.noise_scale_at(n)),
            self.problem.constraint.dimension,
        )
        if not math.isfinite(bound):
            return None
        theorem = "E.2" if self.problem.constants.strong_convexity > 0 else "E.1"
        name = f"{self.id}/risk by thm{theorem}.{1 if self.delta == 0 else 2}"
        noisy = "(Delta^2 R^2 + E ||b||^2) / (2 (Delta + K))" if biased > 0 else "E ||b||^2 / (2 n Delta)"
        return StatedRisk(bound, total=True, **words(name, terms=noisy))

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The same at quantiles of both norms: 0.99 beta is spent on that of b, the rest on what hides the error.

        Given the norms, the proof of `risk_bound` holds for every b, of which nothing is 0 on average any more: nothing
        else is random. Assumes convex losses, L-Lipschitz on C for each record, and minimizers found within `accuracy`;
        no smoothness, which is for privacy.
        """
        beta, p = missed(probability), self.problem.constraint.dimension
        norm = (
            scipy.special.gammainccinv(p, 0.99 * beta)
            if self.delta == 0
            else math.sqrt(scipy.special.chdtri(p, 0.99 * beta))
        )
        hidden = float(scipy.special.gammainccinv(p, 0.01 * beta))
        biased = self.regularization_at(n) * self.problem.constraint.largest_norm
        pushed = (biased if biased > 0 else 0.0) + float(self.noise_scale_at(n) * norm)
        bound = self._risk_at(n, pushed**2, hidden)
        row = words("bst14.alg-objpert/quantile")
        return StatedRisk(bound, total=True, probability=probability, **row) if math.isfinite(bound) else None

    def _risk_at(self, n: int, squared_norm: float, hidden: float) -> float:
        """The most that the total risk grows with Delta theta* + b of this squared norm, and so much hiding noise."""
        distance = self.accuracy_at(n) + hidden * self.hiding_scale(n)
        noise = squared_norm / (2 * (self.regularization_at(n) + self.convexity(n)))
        return noise + n * self.problem.constants.lipschitz_constant * distance

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, p).

        Raises:
            NotGuaranteedError: if the guarantee does not hold and was not withdrawn.
            InvalidDataError: if a minimizer cannot be certified, or a record is outside of what the loss's
                constants cover.
        """
        data = admitted(self, data)
        n, xp, constraint = data.n, rng.xp, self.problem.constraint
        tilts = self.noise_scale_at(n) * self._noise(rng, runs)
        found = minimize_tilted(
            self.problem,
            data.as_namespace(xp),
            tilts,
            ridge=self.regularization_at(n),
            accuracy=self.accuracy_at(n),
        )
        hiding = self.hiding_scale(n) * gamma_norm_noise(rng, runs, constraint.dimension, "hiding noise")
        points = constraint.project(found.points + hiding)
        return Output(points, gradient_queries=found.gradient_queries, projections=1)

    def _noise(self, rng: Randomness, runs: int) -> Array:
        p = self.problem.constraint.dimension
        return gamma_norm_noise(rng, runs, p, "noise") if self.delta == 0 else rng.normal((runs, p), "noise")

    def _too_little(self, n: int) -> str:
        return (
            f"the regularization {self.regularization_at(n):g} must be above {self.least_regularization(n):g}, "
            "or the Hessian's determinant spends all of epsilon"
        )

    @property
    def _base(self) -> tuple[Loss, float, bool]:
        """The loss without its ridge, the weight of that, which all records share, and whether slopes have rank one."""
        base, weight = without_ridge(self.problem.loss)
        return base, weight, isinstance(base, GeneralizedLinear)

    def _determinant(self, n: int, regularization: float) -> float:
        _, weight, rank_one = self._base
        if rank_one:
            smoothness, curvature = self.problem.base_constants.smoothness, regularization + n * weight
            if smoothness > 0:
                return math.log1p(smoothness / curvature) if curvature > 0 else math.inf
            return 0.0
        known, p = self.problem.constants, self.problem.constraint.dimension
        common = regularization + (n - 1) * known.strong_convexity
        return p * math.log((common + known.smoothness) / (common + known.strong_convexity))

    def _regularization_for(self, n: int, spent: float) -> float:
        """The regularization at which the determinant spends that much epsilon; 0 if it never does."""
        n = whole_number("n", n)
        _, weight, rank_one = self._base
        if rank_one:
            smoothness = self.problem.base_constants.smoothness
            return max(0.0, smoothness / math.expm1(min(spent, 700.0)) - n * weight)
        known, p = self.problem.constants, self.problem.constraint.dimension
        excess = (known.smoothness - known.strong_convexity) / math.expm1(min(spent / p, 700.0))
        excess -= n * known.strong_convexity
        return max(0.0, excess)

    def _least_noise(self, rest: float) -> float:
        """The smallest noise that spends at most `rest` (nats) and delta."""
        sensitivity = self.problem.constants.gradient_sensitivity
        if self.delta == 0:
            return sensitivity / rest

        from scipy.optimize import brentq

        def excess(logarithm: float) -> float:
            return self._shifts(sensitivity * math.exp(logarithm))(rest) - self.delta

        low = high = 0.0
        while excess(low) <= 0:
            low -= 1.0
        while excess(high) > 0:
            high += 1.0
        root = float(brentq(excess, low, high, xtol=1e-10))
        # on the side where the bound holds
        return sensitivity * math.exp(root + 1e-9)

    def _shifts(self, scale: float) -> Callable[[float], float]:
        """The profile of b, whose shift depends on theta, at an epsilon of at least 0."""
        p, slope = self.problem.constraint.dimension, self.problem.base_constants.lipschitz_constant
        if p > 1 and self._base[2] and math.isfinite(slope):
            return partial(corner_shifts, largest=2 * slope / scale)
        return partial(ball_shifts, largest=self.problem.constants.gradient_sensitivity / scale, dimension=p)

    def _second_moment(self, scale: float) -> float:
        p = self.problem.constraint.dimension
        return scale**2 * (p * (p + 1) if self.delta == 0 else p)


def corner_shifts(epsilon: float, largest: float) -> float:
    """E (1 - exp(epsilon - M))_+ with M the largest privacy loss over corners a x - a' x' of a zonotope, at most.

    Its longest diagonal is `largest`, 2 L over the noise's standard deviation; two corners have full length, two
    1/sqrt(2) of it. Epsilon is at least 0, nats.
    """
    lengths = largest, math.sqrt(0.5) * largest
    return min(1.0, 2 * sum(float(gaussian_hockey_stick(epsilon, length)) for length in lengths))


def ball_shifts(epsilon: float, largest: float, dimension: int) -> float:
    """E (1 - exp(epsilon - M))_+ with M = mu ||Z|| + mu^2 / 2, the largest privacy loss over shifts of norm mu.

    Z is standard normal in the dimension, mu = `largest`, the shift over the noise's standard deviation. Epsilon is at
    least 0, nats.
    """
    from scipy.stats import chi

    mu, p = largest, dimension
    if mu == 0:
        return 0.0
    least = max(0.0, epsilon / mu - mu / 2)
    # beyond that the norm's density is below 1e-300; the integrand is smooth, and nodes lie 0.1 apart
    most = max(least, math.sqrt(p)) + 40.0
    nodes, weights = _gauss_legendre(10 * math.ceil(most - least))
    r = least + (most - least) * (nodes + 1) / 2
    values = -np.expm1(epsilon - mu * r - mu**2 / 2) * chi.pdf(r, p)
    return min(1.0, float((most - least) / 2 * (weights @ values)))


@cache
def _gauss_legendre(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(count)


@dataclass(frozen=True)
class ShiftedProfile:
    """The profile of noise with a shift that depends on the output, after `spent` nats went elsewhere.

    `shifts` is the profile of the shifted noise at epsilons of at least 0.
    """

    shifts: Callable[[float], float]
    spent: float

    def __call__(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """Upper bound on delta at each epsilon, nats."""
        points = np.asarray(epsilon, dtype=np.float64)
        return np.array([self._at(float(point)) for point in points.ravel()]).reshape(points.shape)

    def _at(self, epsilon: float) -> float:
        left = epsilon - self.spent
        if left == math.inf:
            return 0.0
        if left >= 0:
            return self.shifts(left)
        # 1 - exp(left - M) for M >= 0, as a combination of 1 and 1 - exp(-M)
        return -math.expm1(left) + math.exp(left) * self._at_zero

    @cached_property
    def _at_zero(self) -> float:
        return self.shifts(0.0)
