"""Reference laws of bst14's algorithms, by quadrature and in closed form, and what is read off their outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import scipy

from dpverify.algorithms.bst14 import (
    BoostedSampling,
    Boosting,
    EfficientExponentialSampling,
    ExponentialSampling,
    GridWalk,
    Localization,
    NetMechanism,
    ObjectivePerturbation,
    OutputPerturbation,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import total_quadratic
from dpverify.algorithms.bst14.local_solvers import LocalExponentialSampling
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation
from dpverify.algorithms.promises import StatedSamplingError
from dpverify.auditing.white_box import StatedLaw
from dpverify.ledger.origins import AsPrinted, Corrected, Origin
from dpverify.problems import AllSpace, Ball, Box, Dataset, HalfSquaredDistance, Problem, load
from dpverify.running import Output, Randomness
from dpverify.statements.audit_laws import about_noisy_center, cut_normal, laplace
from dpverify.statements.audit_parts import (
    UniformOn,
    by_trapezoids,
    first_coordinate,
    made,
    mean_of,
    real_loss,
    real_problem,
)
from dpverify.statements.audit_rows import Law

DELTA = 1e-5

_GRID = 4001
_NODES = 80
_QUADRATURE_ERROR = 1e-5
"""Allowance for trapezoids and Gauss nodes; halving the grid moves no reference by a tenth of it."""


def _exact(formula: str, origin: Origin, distance: Any = "total variation") -> StatedSamplingError:
    return StatedSamplingError(distance, 0.0, formula=formula, origin=origin)


# ------------------------------------------------------------------------------------------ exponential sampling


def _along(*direction: float) -> Callable[[Any], Any]:
    """A linear statistic of points, <w, direction>."""
    return lambda points: np.asarray(np.asarray(points) @ np.array(direction))


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
    return Law(
        mechanism,
        data,
        _along(1.0, 0.0),
        "first coordinate",
        disk(problem, data, mechanism.scale),
        _QUADRATURE_ERROR,
        f"{name}, 100 records, d = 2, epsilon = {STEEP:g}",
    )


def sampled_digits() -> Law:
    """64 dimensions: the position along the mean image, whose law is an integral of Gamma functions."""
    problem, data = mean_of("digits", n=400)
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
        _along(*(pull / strength).tolist()),
        "coordinate along the mean image",
        by_trapezoids(t, slices * np.exp(exponents - exponents.max())),
        _QUADRATURE_ERROR,
        f"digits, 400 records, d = 64, epsilon = {STEEP:g}",
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
        _along(1.0, 0.0),
        "first coordinate",
        lambda x: sums[np.searchsorted(places, x, side="right")],
        1e-9,
        f"breast-cancer, 32 records, d = 2, epsilon = {STEEP:g}",
    )


# ------------------------------------------------------------------------------------------ walks

WALK_EPSILON = 2.0


def on_cube(name: str, *, n: int | None, d: int) -> tuple[Problem, Dataset]:
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
    problem, data = on_cube(name, n=n, d=1)
    mechanism = walk_on_line(kind, problem)
    nodes = np.linspace(-1.0, 1.0, 20_001)
    reference = by_trapezoids(nodes, np.exp(-mechanism.scale * problem.total_risk(nodes[:, None], data)), 1.0)
    said = f"{name}, {n} records, d = 1"
    return Law(mechanism, data, first_coordinate, "the point", reference, 1e-3, said)


grid_walk, in_set = partial(walk, GridWalk, 60), partial(walk, SamplingInConvexSet, 60)
boosted_walk, efficient = partial(walk, BoostedSampling, 12), partial(walk, EfficientExponentialSampling, 12)

# ------------------------------------------------------------------------------------------ perturbations

NOISES = {"gamma": 0.0, "gaussian": DELTA}
"""Of objective perturbation, with their delta."""


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
    center = np.mean(np.asarray(data.features), axis=0)
    origin = AsPrinted("bst14.alg3", "density proportional to exp(-n Delta epsilon ||b|| / (2 L))", "every n")
    return Law(
        mechanism,
        data,
        lambda points: np.linalg.norm(np.asarray(points) - center, axis=1),
        "||theta_0 - mean||",
        scipy.stats.gamma(d, scale=mechanism.scale(data.n)).cdf,
        1e-8,
        f"mean of {data.name}, n = {data.n}, d = {data.d}",
        FromNowhere(mechanism),
        _exact("||b|| has the law Gamma(p, scale)", origin, "multiplicative"),
    )


def minimizer(noise: str) -> Law:
    """The exact law of the minimizer in one dimension; the noise that hides its error blurs it by little.

    P[theta <= u] is that of b >= -F'(u), F being the objective without its linear term.
    """
    problem, data = real_problem("breast-cancer", n=100, d=1)
    # so large a set that its ends are never reached, and a regularization as on a set of radius 1
    mechanism = ObjectivePerturbation(
        Problem(problem.loss, Ball(1, 1e6)), 1.0, NOISES[noise], regularization=5.0, hiding_share=0.2
    )
    n = data.n
    scale, ridge = mechanism.noise_scale_at(n), mechanism.regularization_at(n)
    law = scipy.stats.laplace(0, scale) if mechanism.delta == 0 else scipy.stats.norm(0, scale)

    def reference(at: Any) -> Any:
        u = np.asarray(at, dtype=np.float64)
        slopes = n * mechanism.problem.mean_gradient(u.reshape(-1, 1), data)[:, 0].reshape(u.shape)
        return law.sf(-(slopes + ridge * u))

    blur = 30 * (mechanism.hiding_scale(n) + mechanism.accuracy_at(n))
    # the density of theta is at most that of b times the largest second derivative
    steepest = n * problem.loss.smoothness + ridge
    error = blur * steepest / scale + math.exp(-30)
    origin = AsPrinted(
        "bst14.alg-objpert", "theta minimizes L + (Delta / 2) ||theta||^2 + <b, theta>", "every data set"
    )
    stated, said = _exact("theta <= u exactly if b >= -F'(u)", origin), f"{data.name}, n = {n}, d = 1"
    return Law(
        mechanism, data, first_coordinate, "theta", reference, error, said, UniformOn(Ball(1, 1.0)), stated
    )


# ------------------------------------------------------------------------------------------ localization, boosting


def localized_sampling(mechanism: Localization, data: Dataset, factor: float = 1.0) -> StatedLaw:
    """Algorithm 4 with Algorithm 2 inside on [-1, 1], for a quadratic total risk; `factor` is that of a weaker version.

    theta_0 is the minimizer plus Laplace noise, cut to [-1, 1]; given that, theta is normal, cut to the interval of the
    radius about theta_0 within [-1, 1].
    """
    n, solver = data.n, cast(LocalExponentialSampling, mechanism.solver_at(data.n))
    scale = mechanism.localizer.scale(n) / factor
    hessian, slope, _ = total_quadratic(mechanism.problem, data)
    mean = -float(slope[0] / hessian[0, 0])
    stddev = 1 / math.sqrt(factor * solver.scale(mechanism.local_diameter(n)) * hessian[0, 0])
    return about_noisy_center(
        lambda b: np.exp(-np.abs(b) / scale) / (2 * scale),
        lambda b: laplace(b / scale),
        float(mechanism.localizer.minimum(data).point[0]),
        mechanism.radius(n),
        lambda x, at, low, high: cut_normal(x, low, high, mean, stddev),
    )


def localized() -> Law:
    """Algorithm 4 with Algorithm 2 inside, on a line, where its law is an integral."""
    n, zeta, epsilon = 12, 1.2, 8.0
    problem, data = mean_of("breast-cancer", n=n, d=1)
    mechanism = Localization(problem, epsilon, zeta=zeta)
    reference = localized_sampling(mechanism, data).distribution
    stated = _exact(
        "density proportional to exp(-(epsilon/2) L(theta; D) / (2 L ||C0||)) on C0",
        AsPrinted("bst14.alg4", "Algorithm 2 on C0 with epsilon / 2", "every data set"),
    )
    said = f"mean of {n} records of {data.name}, d = 1, epsilon = {epsilon:g}, zeta = {zeta:g}"
    return Law(mechanism, data, first_coordinate, "the point", reference, 1e-3, said, stated=stated)


def best_of_two_normals(mean: float, stddev: float, rate: float) -> Callable[[Any], Any]:
    """Distribution function of the pick from two independent normal numbers, by quadrature on a grid.

    The density is 2 f(x) times the mean of w(x) / (w(x) + w(Y)) over Y, w(x) = exp(-rate (x - mean)^2 / 2).
    """
    grid = np.linspace(-9, 9, 1801)
    normal = scipy.stats.norm.pdf(grid)
    energy = rate * (stddev * grid) ** 2 / 2
    ahead = 1 / (1 + np.exp(energy[:, None] - energy[None, :]))
    step = grid[1] - grid[0]
    density = 2 * normal * (ahead @ normal) * step
    # the trapezoidal rule, and its cubic correction within a cell, by interpolation of a smooth function
    below = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2 * step)))
    return lambda x: np.clip(np.interp((np.asarray(x) - mean) / stddev, grid, below), 0.0, 1.0)


def picked() -> Law:
    """Output perturbation on a line, run twice: the selection must have the law of Algorithm 2 on two points."""
    n = 200
    problem, data = mean_of("breast-cancer", n=n, d=1)
    # 2 L n x^2 / 2 at rate epsilon' / (2 L ||C||): large enough an epsilon for the pick to matter
    mechanism = Boosting(
        GaussianOutputPerturbation(problem, 40.0, DELTA), 0.5, repeats=2, selection_share=0.95
    )
    single: Any = mechanism.single
    reference = best_of_two_normals(
        float(np.mean(np.asarray(data.features))), single.noise_stddev(n), n * mechanism.selection_rate
    )
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
    return Law(mechanism, data, first_coordinate, "the point", reference, 1e-4, said, stated=stated)
