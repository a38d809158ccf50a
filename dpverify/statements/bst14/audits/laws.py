"""Reference laws of bst14's algorithms, by quadrature and in closed form, and what is read off their outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import EfficientExponentialSampling, SamplingInConvexSet
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling, total_quadratic
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.localization import Localization
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation, OutputPerturbation
from dpverify.algorithms.promises import StatedSamplingError
from dpverify.ledger.origins import AsPrinted, Corrected, Origin
from dpverify.problems import AllSpace, Ball, Box, Dataset, HalfSquaredDistance, Problem, load
from dpverify.running import Output, Randomness
from dpverify.statements.audit_parts import (
    PointCoordinate,
    UniformOn,
    made,
    mean_problem,
    real_loss,
    real_problem,
)
from dpverify.statements.audit_rows import Law

DELTA = 1e-5
FIRST = PointCoordinate(0)

_GRID = 4001
_NODES = 80
_QUADRATURE_ERROR = 1e-5
"""Allowance for trapezoids and Gauss nodes; halving the grid moves no reference by a tenth of it."""


def _exact(formula: str, origin: Origin) -> StatedSamplingError:
    return StatedSamplingError("total variation", 0.0, formula=formula, origin=origin)


def _exactly(mechanism: Any, n: int) -> StatedSamplingError:
    """What an exact sampler states, in the distance that is compared."""
    stated: StatedSamplingError = mechanism.sampling_error(n)
    return replace(stated, distance="total variation")


def by_trapezoids(grid: Any, density: Any) -> Callable[[Any], Any]:
    """The distribution function of a density on a grid."""
    sums = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))])
    return lambda x: np.interp(x, grid, sums / sums[-1])


# ------------------------------------------------------------------------------------------ exponential sampling


@dataclass(frozen=True)
class InDirection:
    """A linear statistic of points, <w, direction>."""

    direction: tuple[float, ...]

    def __call__(self, points: Any) -> Any:
        """Shape (runs,)."""
        return np.asarray(np.asarray(points) @ np.array(self.direction))


def disk(problem: Problem, data: Dataset, scale: float) -> Callable[[Any], Any]:
    """The first coordinate's law on the unit disk: Gauss nodes on every chord."""
    # cosines: the density of the coordinate has roots at the ends
    first = np.cos(np.linspace(math.pi, 0.0, _GRID))
    half = np.sqrt(np.maximum(0.0, 1 - first**2))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    points = np.stack([np.repeat(first, _NODES), (half[:, None] * nodes).ravel()], axis=1)
    exponents = -scale * np.asarray(problem.total_risk(points, data)).reshape(_GRID, _NODES)
    masses = np.exp(exponents - exponents.max()) @ weights
    return by_trapezoids(first, half * masses)


STEEP = 20.0
"""A claim about privacy would not change the law; a large epsilon makes it less flat."""


def sampled_disk(name: str) -> Law:
    """Exponential sampling in two dimensions."""
    problem, data = real_problem(name, n=100, d=2)
    mechanism = ExponentialSampling(problem, STEEP)
    reference, blind = disk(problem, data, mechanism.scale), UniformOn(problem.constraint)
    said, stated = f"{name}, 100 records, d = 2, epsilon = {STEEP:g}", _exactly(mechanism, data.n)
    error = _QUADRATURE_ERROR
    return Law(
        mechanism, data, InDirection((1.0, 0.0)), "first coordinate", reference, error, said, blind, stated
    )


def sampled_digits() -> Law:
    """64 dimensions: the position along the mean image, whose law is an integral of Gamma functions."""
    problem, data = mean_problem(64, 1.0), load("digits", n=400)
    mechanism = ExponentialSampling(problem, STEEP)
    hessian, slope, _ = total_quadratic(problem, data)
    alpha, pull = mechanism.scale * hessian[0, 0], -mechanism.scale * slope
    strength = float(np.linalg.norm(pull))
    t = np.linspace(-1.0, 1.0, _GRID)
    exponents = -0.5 * alpha * t**2 + strength * t
    slices = scipy.special.gammainc(31.5, 0.5 * alpha * (1 - t**2))
    return Law(
        mechanism,
        data,
        InDirection(tuple((pull / strength).tolist())),
        "coordinate along the mean image",
        by_trapezoids(t, slices * np.exp(exponents - exponents.max())),
        _QUADRATURE_ERROR,
        f"digits, 400 records, d = 64, epsilon = {STEEP:g}",
        UniformOn(Ball(64, 1.0)),
        _exactly(mechanism, data.n),
    )


def net() -> Law:
    """Atoms: the first coordinate's distribution function is a sum of the net's probabilities."""
    problem, data = real_problem("breast-cancer", n=32, d=2)
    mechanism = NetMechanism(problem, STEEP)
    points = mechanism.net_for(data.n).points
    risks = np.sum(np.logaddexp(0.0, -data.labels * (points @ data.features.T)), axis=1)
    exponents = -STEEP / (2 * 1.0 * 2.0) * (risks - np.min(risks))
    weights = np.exp(exponents) / np.sum(np.exp(exponents))
    order = np.argsort(points[:, 0], kind="stable")
    places, sums = points[order, 0], np.concatenate([[0.0], np.cumsum(weights[order])])
    return Law(
        mechanism,
        data,
        InDirection((1.0, 0.0)),
        "first coordinate",
        lambda x: sums[np.searchsorted(places, x, side="right")],
        1e-9,
        f"breast-cancer, 32 records, d = 2, epsilon = {STEEP:g}",
        UniformOn(Ball(2, 1.0)),
        _exactly(mechanism, data.n),
    )


# ------------------------------------------------------------------------------------------ walks

WALK_EPSILON = 2.0


def on_cube(name: str, n: int, d: int) -> tuple[Problem, Dataset]:
    """Logistic regression or least squares on the cube inside the unit ball."""
    return Problem(real_loss(name), Box.cube(d, 1 / math.sqrt(d))), load(name, n=n, d=d)


def walked(kind: type, problem: Problem, distance: float = WALK_EPSILON / 3) -> Any:
    """For epsilon-DP; a part `distance` of it, twice, is for the walk's error. Algorithm 7 has shares of its own."""
    if kind is EfficientExponentialSampling:
        return EfficientExponentialSampling(problem, WALK_EPSILON)
    size = problem.loss.lipschitz_constant * problem.constraint.diameter
    return kind(problem, (WALK_EPSILON - 2 * distance) / (2 * size), distance)


def walk_on_line(kind: Any, problem: Problem) -> Any:
    """Steep enough for a sampler that ignores the data to be far away, where that is affordable."""
    return kind(problem, 0.5, 0.5) if kind in (GridWalk, SamplingInConvexSet) else walked(kind, problem)


def walk(kind: Any, n: int, name: str) -> Law:
    """One dimension, against exp(-scale * risk) by quadrature."""
    problem, data = on_cube(name, n, 1)
    mechanism = walk_on_line(kind, problem)
    nodes = np.linspace(-1.0, 1.0, 20_001)
    density = np.exp(-mechanism.scale * problem.total_risk(nodes[:, None], data))
    summed = np.concatenate(([0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))))
    reference, blind = partial(np.interp, xp=nodes, fp=summed / summed[-1]), UniformOn(problem.constraint)
    return Law(mechanism, data, FIRST, "the point", reference, 1e-3, f"{name}, {n} records, d = 1", blind)


# ------------------------------------------------------------------------------------------ perturbations

NOISES = {"gamma": 0.0, "gaussian": DELTA}
"""Of objective perturbation, with their delta."""


@dataclass(frozen=True)
class DistanceTo:
    """Distance of points to a point."""

    point: tuple[float, ...]

    def __call__(self, points: Any) -> Any:
        """Shape (runs,)."""
        return np.linalg.norm(np.asarray(points) - np.array(self.point), axis=1)


@dataclass(frozen=True)
class FromNowhere:
    """A point that looks at no record: the noise of n records about the origin."""

    mechanism: OutputPerturbation

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        return self.mechanism(made(np.zeros((data.n, data.d)), "nothing"), rng=rng, runs=runs)


def noise_norm() -> Law:
    """The norm of output perturbation's noise, on the mean of real records."""
    n, d = 100, 3
    data = load("breast-cancer", n=n, d=d)
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(d)), 1.0)
    origin = AsPrinted("bst14.alg3", "density proportional to exp(-n Delta epsilon ||b|| / (2 L))", "every n")
    stated = replace(_exact("||b|| has the law Gamma(p, scale)", origin), distance="multiplicative")
    mean = tuple(np.mean(np.asarray(data.features), axis=0).tolist())
    reference = scipy.stats.gamma(d, scale=mechanism.scale(data.n)).cdf
    said, words = f"mean of {data.name}, n = {data.n}, d = {d}", "||theta_0 - mean||"
    return Law(
        mechanism, data, DistanceTo(mean), words, reference, 1e-8, said, FromNowhere(mechanism), stated
    )


@dataclass(frozen=True)
class MinimizerLaw:
    """P[theta <= u] in one dimension: that of b >= -F'(u), F being the objective without its linear term."""

    mechanism: ObjectivePerturbation
    data: Dataset

    def __call__(self, at: Any) -> Any:
        """Shape of `at`."""
        u, n = np.asarray(at, dtype=np.float64), self.data.n
        slopes = n * self.mechanism.problem.mean_gradient(u.reshape(-1, 1), self.data)[:, 0].reshape(u.shape)
        slopes = slopes + self.mechanism.regularization_at(n) * u
        scale = self.mechanism.noise_scale_at(n)
        law = scipy.stats.laplace(0, scale) if self.mechanism.delta == 0 else scipy.stats.norm(0, scale)
        return law.sf(-slopes)


def minimizer(noise: str) -> Law:
    """The exact law of the minimizer in one dimension; the noise that hides its error blurs it by little."""
    problem, data = real_problem("breast-cancer", n=100, d=1)
    # so large a set that its ends are never reached, and a regularization as on a set of radius 1
    mechanism = ObjectivePerturbation(
        Problem(problem.loss, Ball(1, 1e6)), 1.0, NOISES[noise], regularization=5.0, hiding_share=0.2
    )
    n = data.n
    blur = 30 * (mechanism.hiding_scale(n) + mechanism.accuracy_at(n))
    # the density of theta is at most that of b times the largest second derivative
    steepest = n * problem.loss.smoothness + mechanism.regularization_at(n)
    error = blur * steepest / mechanism.noise_scale_at(n) + math.exp(-30)
    origin = AsPrinted(
        "bst14.alg-objpert", "theta minimizes L + (Delta / 2) ||theta||^2 + <b, theta>", "every data set"
    )
    stated, said = _exact("theta <= u exactly if b >= -F'(u)", origin), f"{data.name}, n = {n}, d = 1"
    reference, blind = MinimizerLaw(mechanism, data), UniformOn(Ball(1, 1.0))
    return Law(mechanism, data, FIRST, "theta", reference, error, said, blind, stated)


# ------------------------------------------------------------------------------------------ localization, boosting


@dataclass(frozen=True)
class LocalizedNormal:
    """Distribution function of Algorithm 4's output on [-1, 1] for half squared distances, by quadrature.

    theta_0 is the mean record plus Laplace noise, cut to [-1, 1]; given that, theta is normal about the mean record,
    cut to the interval of the radius about theta_0 within [-1, 1].
    """

    mean: float
    noise_scale: float
    radius: float
    stddev: float

    def __call__(self, x: Any) -> NDArray[np.float64]:
        """Shape of `x`."""
        edges = np.linspace(-1.0, 1.0, 2001)
        below = scipy.stats.laplace.cdf(edges, self.mean, self.noise_scale)
        masses = np.concatenate([np.diff(below), [below[0], 1.0 - below[-1]]])
        middles = np.concatenate([(edges[1:] + edges[:-1]) / 2, [-1.0, 1.0]])
        low = (np.maximum(-1.0, middles - self.radius) - self.mean) / self.stddev
        high = (np.minimum(1.0, middles + self.radius) - self.mean) / self.stddev
        grid = np.linspace(-1.0, 1.0, 2001)
        cut = np.clip((grid[:, None] - self.mean) / self.stddev, low, high)
        values = (_between(low, cut) / _between(low, high)) @ masses
        return np.asarray(np.clip(np.interp(np.asarray(x), grid, values), 0.0, 1.0))


def _between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that a standard normal number is between, from the side where no digits cancel."""
    right = scipy.special.ndtr(-low) - scipy.special.ndtr(-high)
    return np.asarray(np.where(low > 0, right, scipy.special.ndtr(high) - scipy.special.ndtr(low)))


def _mean_of(n: int) -> tuple[Problem, Dataset, float]:
    data = load("breast-cancer", n=n, d=1)
    return mean_problem(1, 1.0), data, float(np.mean(np.asarray(data.features)))


def localized() -> Law:
    """Algorithm 4 with Algorithm 2 inside, on a line, where its law is an integral."""
    n, zeta, epsilon = 12, 1.2, 8.0
    problem, data, mean = _mean_of(n)
    mechanism = Localization(problem, epsilon, zeta=zeta)
    rate = epsilon / 2 / (2 * problem.loss.lipschitz_constant * mechanism.local_diameter(n))
    reference = LocalizedNormal(
        mean, mechanism.localizer.scale(n), mechanism.radius(n), 1 / math.sqrt(rate * n)
    )
    stated = _exact(
        "density proportional to exp(-(epsilon/2) L(theta; D) / (2 L ||C0||)) on C0",
        AsPrinted("bst14.alg4", "Algorithm 2 on C0 with epsilon / 2", "every data set"),
    )
    said = f"mean of {n} records of {data.name}, d = 1, epsilon = {epsilon:g}, zeta = {zeta:g}"
    return Law(mechanism, data, FIRST, "the point", reference, 1e-3, said, UniformOn(Ball(1, 1.0)), stated)


@dataclass(frozen=True)
class BestOfTwoNormals:
    """Distribution function of the pick from two independent normal numbers, by quadrature on a grid.

    The density is 2 f(x) times the mean of w(x) / (w(x) + w(Y)) over Y, w(x) = exp(-rate (x - mean)^2 / 2).
    """

    mean: float
    stddev: float
    rate: float

    def __call__(self, x: Any) -> NDArray[np.float64]:
        """Shape of `x`."""
        grid = np.linspace(-9, 9, 1801)
        normal = scipy.stats.norm.pdf(grid)
        energy = self.rate * (self.stddev * grid) ** 2 / 2
        ahead = 1 / (1 + np.exp(energy[:, None] - energy[None, :]))
        step = grid[1] - grid[0]
        density = 2 * normal * (ahead @ normal) * step
        # the trapezoidal rule, and its cubic correction within a cell, by interpolation of a smooth function
        below = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2 * step)))
        return np.clip(np.interp((np.asarray(x) - self.mean) / self.stddev, grid, below), 0.0, 1.0)


def picked() -> Law:
    """Output perturbation on a line, run twice: the selection must have the law of Algorithm 2 on two points."""
    n = 200
    problem, data, mean = _mean_of(n)
    # 2 L n x^2 / 2 at rate epsilon' / (2 L ||C||): large enough an epsilon for the pick to matter
    mechanism = Boosting(
        GaussianOutputPerturbation(problem, 40.0, DELTA), 0.5, repeats=2, selection_share=0.95
    )
    single: Any = mechanism.single
    reference = BestOfTwoNormals(mean, single.noise_stddev(n), n * mechanism.selection_rate)
    stated = _exact(
        "the pick of two has probability proportional to exp(-epsilon' L(theta; D) / (2 L ||C||))",
        Corrected(
            "bst14.appD",
            "the exponential mechanism, with its share of epsilon not stated",
            "the share is 0.95 of epsilon here, so the pick matters",
            "every data set",
        ),
    )
    said = f"mean of {n} records of {data.name}, d = 1"
    return Law(mechanism, data, FIRST, "the point", reference, 1e-4, said, UniformOn(Ball(1, 1.0)), stated)
