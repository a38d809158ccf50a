"""Audit plans for Algorithms 2 and 8 of bst14: exponential sampling on a convex set and on a net of it.

Risks are sums over the records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling, total_quadratic
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.samplers.constraint_nets import cover_radius
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import (
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Simplex,
    Squared,
    load,
    opposite_neighbor,
)
from dpverify.statements.audit_parts import EXPONENT, REAL_DATA, UniformOn, linear_neighbors
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
    SamplingCase,
    SamplingPlan,
    Unstated,
)

Vector = NDArray[np.float64]
Mechanism = ExponentialSampling | NetMechanism

EPSILON = 2.0
WORST_EPSILON = 4.0
_WORST_RECORDS = 2
"""More records push the largest log-ratio nearer to epsilon, but to where hardly any run goes."""
_GRID = 4001
_NODES = 80
_QUADRATURE_ERROR = 1e-5
"""Allowance for trapezoids and Gauss nodes; halving the grid moves no reference by a tenth of it."""


def _few_features(name: str, n: int, d: int) -> tuple[Problem, Dataset]:
    """A problem of few dimensions, of which any convex loss is sampled exactly."""
    data = load(name, n=n, d=d)
    loss = Logistic() if name == "breast-cancer" else Squared(radius=1.0)
    return Problem(loss, Ball(d, 1.0)), data


def _digits(n: int) -> tuple[Problem, Dataset]:
    """The mean of images in a ball: 64 dimensions, in closed form."""
    ball = Ball(64, 1.0)
    return Problem(HalfSquaredDistance.on(ball), ball), load("digits", n=n)


def _private(
    mechanism: Mechanism, left: Dataset, right: Dataset, data: str, runs: int, source: str
) -> PrivacyCase:
    stated = mechanism.guarantees(left.n)
    return PrivacyCase(
        mechanism,
        left,
        right,
        Adjacency.REPLACE_ONE,
        stated[0].guarantee,
        data,
        runs,
        stated[-1].guarantee if len(stated) > 1 else None,
        origin=AsPrinted(source, f"epsilon-DP: {mechanism.epsilon:g}", "every epsilon > 0"),
        weakened=mechanism.weakened,
        fault=EXPONENT,
    )


def _sampling_real(name: str, profile: Profile) -> PrivacyCase:
    if name == "diabetes":
        pair = linear_neighbors(name, n=2, d=1)
        exact = ExponentialSampling(Problem(pair.loss, Ball(1, 1.0)), EPSILON)
        return _private(exact, pair.left, pair.right, pair.description, profile.runs(100_000), "bst14.thm3.1")
    problem, data = _digits(16) if name == "digits" else _few_features(name, 16, 2)
    pair = opposite_neighbor(problem.loss, data, 1)
    mechanism = ExponentialSampling(problem, EPSILON)
    return _private(mechanism, pair.left, pair.right, pair.description, profile.runs(4_000), "bst14.thm3.1")


def _one_sided() -> tuple[Dataset, Dataset, str]:
    """Linear losses, all on one side but for one record on the other data set."""
    n = _WORST_RECORDS
    left = Dataset(np.ones((n, 1)), np.ones(n), "linear losses of one sign", "by construction")
    right = left.replace(n, np.array([-1.0]), 1.0)
    return left, right, f"{n} linear losses with slope 1, on one data set the last one has slope -1"


def _sampling_worst(profile: Profile) -> PrivacyCase:
    left, right, words = _one_sided()
    mechanism = ExponentialSampling(Problem(Linear(), Ball(1, 1.0)), EPSILON)
    return _private(mechanism, left, right, words, profile.runs(100_000), "bst14.thm3.1")


_RISKS = {
    "bst14.thm3.2": Corrected(
        "bst14.thm3.2",
        "O(p L ||C|| / epsilon)",
        "the constant 2 is proved for every loss",
        "every n and epsilon",
    ),
    "bst14.thmA.1": Corrected(
        "bst14.thmA.1",
        "O(p L ||C|| / epsilon ln(epsilon n / p))",
        "the size of the net and its radius of cover are computed, not estimated",
        "every n and epsilon",
    ),
}


def _risk_case(
    mechanism: Mechanism, data: Dataset, words: str, claim: str, source: str, runs: int
) -> RiskCase:
    stated = mechanism.risk_bound(data.n)
    assert stated is not None
    return RiskCase(
        mechanism=mechanism,
        problem=mechanism.problem,
        dataset=data,
        bound=stated.bound,
        claim=claim,
        origin=_RISKS[source],
        data=words,
        runs=runs,
        total=True,
        size=float(data.n),
    )


def _sampling_risk(name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """2 p L ||C|| / epsilon, which does not grow with n."""
    cases = []
    for n in (32, 128, 400):
        problem, data = _digits(n) if name == "digits" else _few_features(name, n, 3)
        cases.append(
            _risk_case(
                ExponentialSampling(problem, EPSILON),
                data,
                f"{name}, n records, d = {data.d}, epsilon = {EPSILON:g}",
                "2 p L ||C|| / epsilon",
                "bst14.thm3.2",
                profile.runs(1_000 if name == "digits" else 10_000),
            )
        )
    return tuple(cases)


def _cone_risk(profile: Profile) -> tuple[RiskCase, ...]:
    """A linear loss on a cube: the minimizer is a corner, and the bound is nearly reached."""
    cases = []
    for n in (64, 256, 569):
        data = load("breast-cancer", n=n, d=3)
        problem = Problem(Linear(labeled=True), Box.cube(3, 0.5))
        cases.append(
            _risk_case(
                ExponentialSampling(problem, EPSILON),
                data,
                f"breast-cancer, n records, d = 3, linear losses on a cube, epsilon = {EPSILON:g}",
                "2 p L ||C|| / epsilon",
                "bst14.thm3.2",
                profile.runs(10_000),
            )
        )
    return tuple(cases)


@dataclass(frozen=True)
class _Coordinate:
    """A linear statistic of points, <w, direction>."""

    direction: tuple[float, ...]

    def __call__(self, points: Any) -> Vector:
        return np.asarray(np.asarray(points) @ np.array(self.direction))


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


def _sampling_law(name: str, profile: Profile) -> SamplingCase:
    problem, data = _few_features(name, 100, 2)
    # a claim about privacy would not change the law; a large epsilon makes it less flat
    mechanism = ExponentialSampling(problem, 10 * EPSILON)
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=_Coordinate((1.0, 0.0)),
        blind=UniformOn(problem.constraint),
        reference=_disk_reference(problem, data, mechanism.scale),
        reference_error=_QUADRATURE_ERROR,
        distance="total variation",
        bound=0.0,
        claim="density proportional to exp(-epsilon L(theta; D) / (2 L ||C||)), sampled exactly",
        origin=Corrected(
            "bst14.thm3.2", "O( ), no constant", "the hidden constant is computed", "a linear loss on a cube"
        ),
        statistic_name="first coordinate",
        data=f"{name}, 100 records, d = 2, epsilon = {10 * EPSILON:g}",
        runs=profile.runs(20_000),
    )


def _digits_law(profile: Profile) -> SamplingCase:
    """64 dimensions: the position along the mean image, whose law is an integral of Gamma functions."""
    problem, data = _digits(400)
    mechanism = ExponentialSampling(problem, 10 * EPSILON)
    hessian, slope, _ = total_quadratic(problem, data)
    alpha, pull = mechanism.scale * hessian[0, 0], -mechanism.scale * slope
    strength = float(np.linalg.norm(pull))
    t = np.linspace(-1.0, 1.0, _GRID)
    exponents = -0.5 * alpha * t**2 + strength * t
    slices = special.gammainc(31.5, 0.5 * alpha * (1 - t**2))
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=_Coordinate(tuple((pull / strength).tolist())),
        reference=_by_trapezoids(t, slices * np.exp(exponents - exponents.max())),
        reference_error=_QUADRATURE_ERROR,
        distance="total variation",
        bound=0.0,
        claim="density proportional to exp(-epsilon L(theta; D) / (2 L ||C||)), sampled exactly",
        origin=Corrected(
            "bst14.thm3.2", "O( ), no constant", "the hidden constant is computed", "a linear loss on a cube"
        ),
        statistic_name="coordinate along the mean image",
        data=f"digits, 400 records, d = 64, epsilon = {10 * EPSILON:g}",
        blind=UniformOn(Ball(64, 1.0)),
        runs=profile.runs(20_000),
    )


_UNCOUNTED = Unstated("the paper counts no queries of exact sampling; the number is the implementation's own")


def _sampling_gradients(profile: Profile) -> ComplexityCase:
    problem, data = _digits(200)
    mechanism = ExponentialSampling(problem, EPSILON)
    return ComplexityCase(
        mechanism, data, 2 * data.n, "2 n, gradients at two points", data.name, origin=_UNCOUNTED
    )


def _sampling_values(profile: Profile) -> ComplexityCase:
    problem, data = _few_features("breast-cancer", 100, 2)
    mechanism = ExponentialSampling(problem, EPSILON)
    count = mechanism.gradient_query_count(data.n)
    return ComplexityCase(
        mechanism,
        data,
        count,
        "2 n for each cell that is allowed",
        data.name,
        exact=False,
        origin=_UNCOUNTED,
    )


def _risk_constant(profile: Profile) -> ConstantCase:
    """Theorem 3.2's constant: mean excess over p L ||C|| / epsilon for a linear loss in the corner of a cube."""
    n, p = 10_000, 4
    # the loss <w, 1> / sqrt(p) on [0, side]^p, with L = 1 and ||C|| = side sqrt(p)
    rate = EPSILON * n / (2 * p)
    # coordinates are independent truncated exponentials with this rate, for side 1
    mean = 1 / rate - 1 / math.expm1(min(rate, 700.0))
    excess = n * math.sqrt(p) * mean
    return ConstantCase(
        formula="E[L(theta) - L(theta*)] <= c p L ||C|| / epsilon",
        latex=r"\mathbb E[\mathcal L(\theta)-\mathcal L(\theta^*)]\le c\,\frac{pL\|C\|_2}{\varepsilon}",
        provable=Interval(
            lower=excess / (p * math.sqrt(p) / EPSILON), upper=excess / (p * math.sqrt(p) / EPSILON)
        ),
        extreme="smallest",
        printed=None,
        parameters={"n": str(n), "p": str(p), "epsilon": f"{EPSILON:g}"},
        range_fixed_by="closed form at these n and p",
        method="closed form for a linear loss on a cube, where c is smallest possible; c = 2 is proved for every loss",
        origin=Corrected(
            "bst14.thm3.2", "O( ), no constant", "the hidden constant is computed", "a linear loss on a cube"
        ),
    )


def _net_real(name: str, profile: Profile) -> PrivacyCase:
    if name == "diabetes":
        pair = linear_neighbors(name, n=2, d=1)
        exact = NetMechanism(Problem(pair.loss, Ball(1, 1.0)), WORST_EPSILON, cover_radius=0.05)
        runs = profile.runs(40_000)
        return _private(exact, pair.left, pair.right, pair.description, runs, "bst14.alg8-privacy")
    problem, data = _few_features(name, 16, 2)
    pair = opposite_neighbor(problem.loss, data, 1)
    mechanism = NetMechanism(problem, EPSILON)
    return _private(
        mechanism, pair.left, pair.right, pair.description, profile.runs(4_000), "bst14.alg8-privacy"
    )


def _net_worst(profile: Profile) -> PrivacyCase:
    left, right, words = _one_sided()
    mechanism = NetMechanism(Problem(Linear(), Ball(1, 1.0)), WORST_EPSILON, cover_radius=0.05)
    return _private(mechanism, left, right, words, profile.runs(40_000), "bst14.alg8-privacy")


def _net_risk(name: str, profile: Profile) -> tuple[RiskCase, ...]:
    cases = []
    for n in (16, 64, 128):
        problem, data = _few_features(name, n, 2)
        cases.append(
            _risk_case(
                NetMechanism(problem, EPSILON),
                data,
                f"{name}, n records, d = 2, epsilon = {EPSILON:g}",
                "n L r + 2 L ||C|| ln|M| / epsilon, r the radius of cover of the net M",
                "bst14.thmA.1",
                profile.runs(2_000),
            )
        )
    return tuple(cases)


def _net_law(profile: Profile) -> SamplingCase:
    """Atoms: the first coordinate's distribution function is a sum of the net's probabilities."""
    problem, data = _few_features("breast-cancer", 32, 2)
    mechanism = NetMechanism(problem, 10 * EPSILON)
    points = mechanism.net_for(data.n).points
    risks = [
        sum(
            math.log1p(math.exp(-y * math.fsum(a * b for a, b in zip(w, x, strict=True))))
            for x, y in zip(data.features.tolist(), data.labels.tolist(), strict=True)
        )
        for w in points.tolist()
    ]
    exponents = -(10 * EPSILON) / (2 * 1.0 * 2.0) * (np.array(risks) - min(risks))
    weights = np.exp(exponents) / np.sum(np.exp(exponents))
    order = np.argsort(points[:, 0], kind="stable")
    places, sums = points[order, 0], np.concatenate([[0.0], np.cumsum(weights[order])])
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=_Coordinate((1.0, 0.0)),
        reference=lambda x: sums[np.searchsorted(places, x, side="right")],
        reference_error=1e-9,
        distance="total variation",
        bound=0.0,
        claim="probabilities proportional to exp(-epsilon L(theta; D) / (2 L ||C||)) on the net",
        origin=Corrected(
            "bst14.alg8", "O((epsilon n / p)^p), no constant", "the hidden constant is computed", "these n"
        ),
        statistic_name="first coordinate",
        data=f"breast-cancer, 32 records, d = 2, epsilon = {10 * EPSILON:g}",
        blind=UniformOn(Ball(2, 1.0)),
        runs=profile.runs(40_000),
    )


def _net_values(profile: Profile) -> ComplexityCase:
    problem, data = _few_features("diabetes", 64, 2)
    mechanism = NetMechanism(problem, EPSILON)
    count = int(mechanism.queries(data.n)[0].count)
    return ComplexityCase(mechanism, data, count, "n |M|", data.name, oracle="value", origin=_UNCOUNTED)


def _net_constant(shape: str, profile: Profile) -> ConstantCase:
    """How many points the nets have, in the form of Algorithm 8, with their radius computed and not assumed."""
    p = 2
    sets: dict[str, ConstraintSet] = {
        "ball": Ball(p, 1.0),
        "cube": Box.cube(p, 0.5),
        "simplex": Simplex(p + 1, 1.0),
    }
    constraint = sets[shape]
    problem = Problem(Logistic(), constraint)
    mechanism = NetMechanism(problem, EPSILON)
    smallest, radii, covers = 0.0, [], True
    for n in (50, 100, 200):
        net = mechanism.net_for(n)
        radius = mechanism.theorem_radius(n)
        measured = cover_radius(net.points, constraint, cells=200_000)
        radii.append(
            f"n = {n}: {len(net.points)} points, {measured.lower / radius:.3f} of the radius allowed"
        )
        covers = covers and measured.lower <= radius * (1 + 1e-9)
        smallest = max(smallest, len(net.points) ** (1 / p) * constraint.dimension / (EPSILON * n))
    return ConstantCase(
        formula="|M| <= (c epsilon n / p)^p",
        latex=r"|M|\le\left(c\,\frac{\varepsilon n}{p}\right)^{p}",
        provable=Interval(lower=smallest, upper=smallest),
        extreme="smallest",
        printed=None,
        parameters={"n": "50, 100, 200", "p": str(p), "epsilon": f"{EPSILON:g}", "set": shape},
        range_fixed_by="floating-point arithmetic" if covers else "a net does not cover the set as claimed",
        method="grid of cubes; radius of cover from below by a search: " + "; ".join(radii),
        origin=Corrected(
            "bst14.alg8", "O((epsilon n / p)^p), no constant", "the hidden constant is computed", "these n"
        ),
        requires={"each net covers the set with the stated radius": covers},
    )


_SAMPLING_PLANS: tuple[Plan, ...] = (
    *(
        PrivacyPlan(
            f"bst14.alg2/{name}",
            "bst14.alg2",
            f"Exponential sampling on {name}",
            partial(_sampling_real, name),
        )
        for name in (*REAL_DATA, "digits")
    ),
    PrivacyPlan(
        "bst14.alg2/worst-case", "bst14.alg2", "Exponential sampling, linear losses", _sampling_worst
    ),
    *(
        RiskPlan(
            f"bst14.alg2/{name}/risk",
            "bst14.alg2",
            f"Risk of exponential sampling on {name}",
            partial(_sampling_risk, name),
            curve_over="n",
        )
        for name in (*REAL_DATA, "digits")
    ),
    RiskPlan(
        "bst14.alg2/corner/risk",
        "bst14.alg2",
        "Risk of exponential sampling, linear losses on a cube",
        _cone_risk,
        curve_over="n",
    ),
    *(
        SamplingPlan(
            f"bst14.alg2/{name}/law",
            "bst14.alg2",
            f"Law of exponential sampling on {name}",
            partial(_sampling_law, name),
        )
        for name in REAL_DATA
    ),
    SamplingPlan(
        "bst14.alg2/digits/law", "bst14.alg2", "Law of exponential sampling in 64 dimensions", _digits_law
    ),
    ComplexityPlan(
        "bst14.alg2/queries", "bst14.alg2", "Gradient queries for a quadratic loss", _sampling_gradients
    ),
    ComplexityPlan(
        "bst14.alg2/cell-queries", "bst14.alg2", "Gradient queries of certified rejection", _sampling_values
    ),
    ConstantPlan(
        "bst14.alg2/constant",
        "bst14.alg2",
        "The constant in the excess risk of exponential sampling",
        _risk_constant,
    ),
)

_NET_PLANS: tuple[Plan, ...] = (
    *(
        PrivacyPlan(
            f"bst14.alg8/{name}",
            "bst14.alg8",
            f"Exponential mechanism on a net, {name}",
            partial(_net_real, name),
        )
        for name in REAL_DATA
    ),
    PrivacyPlan(
        "bst14.alg8/worst-case", "bst14.alg8", "Exponential mechanism on a net, linear losses", _net_worst
    ),
    *(
        RiskPlan(
            f"bst14.alg8/{name}/risk",
            "bst14.alg8",
            f"Risk of the exponential mechanism on a net, {name}",
            partial(_net_risk, name),
            curve_over="n",
        )
        for name in REAL_DATA
    ),
    SamplingPlan("bst14.alg8/law", "bst14.alg8", "Law of the exponential mechanism on a net", _net_law),
    ComplexityPlan(
        "bst14.alg8/queries", "bst14.alg8", "Value queries of the exponential mechanism on a net", _net_values
    ),
    *(
        ConstantPlan(
            f"bst14.alg8/net-{shape}",
            "bst14.alg8",
            f"The constant in the size of a net of a {shape}",
            partial(_net_constant, shape),
        )
        for shape in ("ball", "cube", "simplex")
    ),
)

PLANS: tuple[Plan, ...] = (*_SAMPLING_PLANS, *_NET_PLANS)
