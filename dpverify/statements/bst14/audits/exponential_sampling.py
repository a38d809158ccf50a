"""Audits of exponential sampling on a convex set (bst14, Algorithm 2).

Risks are sums over the records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling, total_quadratic
from dpverify.auditing import ConstantQuestion, CountQuestion, LawQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf
from dpverify.ledger.records import Interval
from dpverify.problems import (
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Problem,
    load,
)
from dpverify.statements.audit_parts import REAL_DATA, UniformOn, linear_neighbors
from dpverify.statements.bst14.audits.sampling_cases import (
    EPSILON,
    UNCOUNTED,
    Coordinate,
    Vector,
    few_features,
    one_sided,
    private_case,
    risk_case,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    LAW,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
)

_GRID = 4001
_NODES = 80
_QUADRATURE_ERROR = 1e-5
"""Allowance for trapezoids and Gauss nodes; halving the grid moves no reference by a tenth of it."""


def _digits(n: int) -> tuple[Problem, Dataset]:
    """The mean of images in a ball: 64 dimensions, in closed form."""
    ball = Ball(64, 1.0)
    return Problem(HalfSquaredDistance.on(ball), ball), load("digits", n=n)


def _sampling_real(name: str, profile: Profile) -> Audit:
    """Two records with linear losses: among more, or with others, one record moves no likely event by much."""
    pair = linear_neighbors(name, n=2, d=1)
    exact = ExponentialSampling(Problem(pair.loss, Ball(1, 1.0)), EPSILON)
    return private_case(exact, pair.left, pair.right, pair.description, profile.runs(100_000), "bst14.thm3.1")


def _sampling_worst(profile: Profile) -> Audit:
    left, right, words = one_sided()
    mechanism = ExponentialSampling(Problem(Linear(), Ball(1, 1.0)), EPSILON)
    return private_case(mechanism, left, right, words, profile.runs(100_000), "bst14.thm3.1")


def _sampling_risk(name: str, profile: Profile) -> Cases:
    """2 p L ||C|| / epsilon, which does not grow with n."""
    cases = []
    for n in (32, 128, 400):
        problem, data = _digits(n) if name == "digits" else few_features(name, n, 3)
        cases.append(
            risk_case(
                ExponentialSampling(problem, EPSILON),
                data,
                f"{name}, n records, d = {data.d}, epsilon = {EPSILON:g}",
                "2 p L ||C|| / epsilon",
                "bst14.thm3.2",
                profile.runs(1_000 if name == "digits" else 10_000),
            )
        )
    return tuple(cases)


def _cone_risk(profile: Profile) -> Cases:
    """A linear loss on a cube: the minimizer is a corner, and the bound is nearly reached."""
    cases = []
    for n in (64, 256, 569):
        data = load("breast-cancer", n=n, d=3)
        problem = Problem(Linear(labeled=True), Box.cube(3, 0.5))
        cases.append(
            risk_case(
                ExponentialSampling(problem, EPSILON),
                data,
                f"breast-cancer, n records, d = 3, linear losses on a cube, epsilon = {EPSILON:g}",
                "2 p L ||C|| / epsilon",
                "bst14.thm3.2",
                profile.runs(10_000),
            )
        )
    return tuple(cases)


def _by_trapezoids(grid: Vector, density: Vector) -> Callable[[Any], Any]:
    sums = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))])
    return lambda x: np.interp(x, grid, sums / sums[-1])


def _disk_reference(problem: Problem, data: Dataset, scale: float) -> Callable[[Any], Any]:
    """The first coordinate's law on the unit disk: Gauss nodes on every chord."""
    # cosines: the density of the coordinate has roots at the ends
    first = np.cos(np.linspace(math.pi, 0.0, _GRID))
    half = np.sqrt(np.maximum(0.0, 1 - first**2))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    points = np.stack([np.repeat(first, _NODES), (half[:, None] * nodes).ravel()], axis=1)
    exponents = -scale * np.asarray(problem.total_risk(points, data)).reshape(_GRID, _NODES)
    masses = np.exp(exponents - exponents.max()) @ weights
    return _by_trapezoids(first, half * masses)


def _sampling_law(name: str, profile: Profile) -> Audit:
    problem, data = few_features(name, 100, 2)
    # a claim about privacy would not change the law; a large epsilon makes it less flat
    mechanism = ExponentialSampling(problem, 10 * EPSILON)
    return Audit(
        LawQuestion(
            reference=_disk_reference(problem, data, mechanism.scale),
            reference_error=_QUADRATURE_ERROR,
            distance="total variation",
            bound=0.0,
            claim="density proportional to exp(-epsilon L(theta; D) / (2 L ||C||)), sampled exactly",
            statistic_name="first coordinate",
            data=f"{name}, 100 records, d = 2, epsilon = {10 * EPSILON:g}",
            runs=profile.runs(20_000),
            origin=AsPrinted(
                "bst14.alg2",
                "with probability proportional to exp(-epsilon L(theta; D) / (2 L ||C||))",
                "every epsilon > 0",
            ),
        ),
        LawOf(mechanism, data, Coordinate((1.0, 0.0)), blind=UniformOn(problem.constraint)),
    )


def _digits_law(profile: Profile) -> Audit:
    """64 dimensions: the position along the mean image, whose law is an integral of Gamma functions."""
    problem, data = _digits(400)
    mechanism = ExponentialSampling(problem, 10 * EPSILON)
    hessian, slope, _ = total_quadratic(problem, data)
    alpha, pull = mechanism.scale * hessian[0, 0], -mechanism.scale * slope
    strength = float(np.linalg.norm(pull))
    t = np.linspace(-1.0, 1.0, _GRID)
    exponents = -0.5 * alpha * t**2 + strength * t
    slices = scipy.special.gammainc(31.5, 0.5 * alpha * (1 - t**2))
    return Audit(
        LawQuestion(
            reference=_by_trapezoids(t, slices * np.exp(exponents - exponents.max())),
            reference_error=_QUADRATURE_ERROR,
            distance="total variation",
            bound=0.0,
            claim="density proportional to exp(-epsilon L(theta; D) / (2 L ||C||)), sampled exactly",
            statistic_name="coordinate along the mean image",
            data=f"digits, 400 records, d = 64, epsilon = {10 * EPSILON:g}",
            runs=profile.runs(20_000),
            origin=AsPrinted(
                "bst14.alg2",
                "with probability proportional to exp(-epsilon L(theta; D) / (2 L ||C||))",
                "every epsilon > 0",
            ),
        ),
        LawOf(mechanism, data, Coordinate(tuple((pull / strength).tolist())), blind=UniformOn(Ball(64, 1.0))),
    )


def _sampling_gradients(profile: Profile) -> Audit:
    problem, data = _digits(200)
    mechanism = ExponentialSampling(problem, EPSILON)
    return Audit(
        CountQuestion(2 * data.n, "2 n, gradients at two points", data.name, origin=UNCOUNTED),
        CountedRuns(mechanism, data),
    )


def _sampling_values(profile: Profile) -> Audit:
    problem, data = few_features("breast-cancer", 100, 2)
    mechanism = ExponentialSampling(problem, EPSILON)
    count = mechanism.gradient_query_count(data.n)
    return Audit(
        CountQuestion(count, "2 n for each cell that is allowed", data.name, exact=False, origin=UNCOUNTED),
        CountedRuns(mechanism, data),
    )


def _risk_constant(profile: Profile) -> Audit:
    """Theorem 3.2's constant: mean excess over p L ||C|| / epsilon for a linear loss in the corner of a cube."""
    n, p = 10_000, 4
    # the loss <w, 1> / sqrt(p) on [0, side]^p, with L = 1 and ||C|| = side sqrt(p)
    rate = EPSILON * n / (2 * p)
    # coordinates are independent truncated exponentials with this rate, for side 1
    mean = 1 / rate - 1 / math.expm1(min(rate, 700.0))
    excess = n * math.sqrt(p) * mean
    return Audit(
        ConstantQuestion(
            formula="E[L(theta) - L(theta*)] <= c p L ||C|| / epsilon",
            latex=r"\mathbb E[\mathcal L(\theta)-\mathcal L(\theta^*)]\le c\,\frac{pL\|C\|_2}{\varepsilon}",
            provable=Interval(
                lower=excess / (p * math.sqrt(p) / EPSILON), upper=excess / (p * math.sqrt(p) / EPSILON)
            ),
            extreme="smallest",
            printed=None,
            parameters={"n": str(n), "p": str(p), "epsilon": f"{EPSILON:g}"},
            range_fixed_by="closed form at these n and p",
            method="closed form for a linear loss on a cube, where c is smallest possible; c = 2 is proved for "
            "every loss",
            origin=Corrected(
                "bst14.thm3.2",
                "O( ), no constant",
                "the hidden constant is computed",
                "a linear loss on a cube",
            ),
        )
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg2/{name}",
            "bst14.alg2",
            f"Exponential sampling on {name}",
            PRIVACY,
            partial(_sampling_real, name),
        )
        for name in (*REAL_DATA, "digits")
    ),
    Plan(
        "bst14.alg2/worst-case", "bst14.alg2", "Exponential sampling, linear losses", PRIVACY, _sampling_worst
    ),
    *(
        Plan(
            f"bst14.alg2/{name}/risk",
            "bst14.alg2",
            f"Risk of exponential sampling on {name}",
            RISK,
            along(partial(_sampling_risk, name), over="n"),
        )
        for name in (*REAL_DATA, "digits")
    ),
    Plan(
        "bst14.alg2/corner/risk",
        "bst14.alg2",
        "Risk of exponential sampling, linear losses on a cube",
        RISK,
        along(_cone_risk, over="n"),
    ),
    *(
        Plan(
            f"bst14.alg2/{name}/law",
            "bst14.alg2",
            f"Law of exponential sampling on {name}",
            LAW,
            partial(_sampling_law, name),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg2/digits/law",
        "bst14.alg2",
        "Law of exponential sampling in 64 dimensions",
        LAW,
        _digits_law,
    ),
    Plan(
        "bst14.alg2/queries",
        "bst14.alg2",
        "Gradient queries for a quadratic loss",
        COUNT,
        _sampling_gradients,
    ),
    Plan(
        "bst14.alg2/cell-queries",
        "bst14.alg2",
        "Gradient queries of certified rejection",
        COUNT,
        _sampling_values,
    ),
    Plan(
        "bst14.alg2/constant",
        "bst14.alg2",
        "The constant in the excess risk of exponential sampling",
        CONSTANT,
        _risk_constant,
    ),
)
