"""Audit plans for gll22's regularized exponential mechanism and its samplers. Risks are means over the records."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import integrate, stats

from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler, schedule
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep, largest_spread
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    Linear,
    Logistic,
    NeighborPair,
    Problem,
    load,
    opposite_linear,
)
from dpverify.running import Output, Randomness
from dpverify.statements.audit_parts import (
    EXPONENT,
    REAL_DATA,
    OnFreshSamples,
    UniformOn,
    linear_neighbors,
    real_neighbors,
    real_problem,
)
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    MeanCase,
    MeanPlan,
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

EPSILON, DELTA = 1.0, 1e-3
SIZE = 8
ACCURACY = 0.01


# ------------------------------------------------------------------------------------------ reference laws


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of every point."""

    index: int

    def __call__(self, points: Any) -> Any:
        """From points (runs, d) to numbers (runs,)."""
        return points[:, self.index]


def _by_quadrature(log_density: Callable[[Any], Any], low: float, high: float) -> Callable[[Any], Any]:
    """Distribution function of a density on an interval: trapezoids on 20 001 points, error below 1e-6."""
    grid = np.linspace(low, high, 20_001)
    values = np.asarray(log_density(grid))
    total = integrate.cumulative_trapezoid(np.exp(values - values.max()), grid, initial=0.0)
    return lambda x: np.interp(x, grid, total / total[-1])


def _line_law(density: RegularizedDensity, data: Dataset, quadratic: float = 0.0, about: float = 0.0) -> Any:
    """The density's distribution function on the interval [-1, 1], with another quadratic term if there is one."""
    anchor = density.anchor_point[0]

    def log_density(grid: Any) -> Any:
        risk = np.asarray(density.problem.mean_risk(grid[:, None], data))
        potential = density.inverse_temperature * (risk + density.regularization / 2 * (grid - anchor) ** 2)
        return -potential - quadratic / 2 * (grid - about) ** 2

    return _by_quadrature(log_density, -1.0, 1.0)


def _plane_law(density: RegularizedDensity, data: Dataset) -> Any:
    """Distribution function of the first coordinate on the unit disc: Gauss-Legendre across, trapezoids along."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    anchor = np.asarray(density.anchor_point)
    first = np.linspace(-1.0, 1.0, 401)
    half = np.sqrt(np.maximum(1 - first**2, 0.0))
    pairs = np.stack([np.repeat(first, nodes.size), np.outer(half, nodes).ravel()], axis=1)
    risk = np.asarray(density.problem.mean_risk(pairs, data))
    pull = density.regularization / 2 * np.sum((pairs - anchor) ** 2, axis=1)
    values = -density.inverse_temperature * (risk + pull)
    inner = np.exp(values - values.max()).reshape(first.size, nodes.size) @ weights * half
    total = integrate.cumulative_trapezoid(inner, first, initial=0.0)
    return lambda x: np.interp(x, first, total / total[-1])


# ------------------------------------------------------------------------------------------ the mechanism


_PROFILE_ORIGIN = AsPrinted(
    "gll22.thm6.2",
    "the profile of two Gaussians with variance 1, G sqrt(k) / (n sqrt(mu)) apart",
    "every epsilon >= 0, G-Lipschitz differences of mu-strongly convex regularized losses",
)


def _gaussian_case(pair: NeighborPair, runs: int) -> PrivacyCase:
    """Linear losses on all space: two Gaussians, for which Theorem 2.1 is tight."""
    mechanism = RegularizedExponentialMechanism(
        Problem(pair.loss, AllSpace(pair.left.d)), EPSILON, DELTA, regularization=1.0
    )
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        mechanism.guarantees(pair.left.n)[0].guarantee,
        f"{pair.description}; on all space",
        runs,
        origin=_PROFILE_ORIGIN,
        weakened=mechanism.weakened,
        fault=EXPONENT,
    )


def _real(data_name: str, profile: Profile) -> PrivacyCase:
    return _gaussian_case(linear_neighbors(data_name, n=4, d=2), profile.runs(50_000))


def _worst(profile: Profile) -> PrivacyCase:
    return _gaussian_case(opposite_linear(SIZE, 1, SIZE), profile.runs(100_000))


UNWEAKENED = {
    "gll22.rem/sampled": "a four times steeper density takes sixteen times as long, and so few runs show nothing"
}
"""Plans whose mechanism is not tried with more of its exponent, and why."""


def _sampled(profile: Profile) -> PrivacyCase:
    """The density sampled by Algorithm 1, its total variation paid for in delta."""
    problem, data = real_problem("breast-cancer", n=2, d=3)
    mechanism = RegularizedExponentialMechanism(problem, EPSILON, 0.05)
    pair = real_neighbors(problem, data, data.n)
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        mechanism.guarantees(data.n)[0].guarantee,
        f"{pair.description}; alternating sampler, d = 3; {UNWEAKENED['gll22.rem/sampled']}",
        profile.runs(100),
        origin=Corrected(
            "gll22.thm6.4",
            f"({EPSILON:g}, 0.05)-DP, a third of delta paid for the sampler",
            "total variation tau costs (1 + e^epsilon) tau, more than what is printed for it",
            "epsilon below 100",
        ),
    )


def _risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    cases = []
    for n in (SIZE, 4 * SIZE, 16 * SIZE):
        problem, data = real_problem(data_name, n=n, d=2)
        mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA)
        stated = mechanism.risk_bound(n)
        assert stated is not None
        cases.append(
            RiskCase(
                mechanism=mechanism,
                problem=problem,
                dataset=data,
                bound=stated.bound,
                claim="d / k + mu D^2 / 2, k and mu tuned by the exact Gaussian profile",
                origin=Corrected(
                    "gll22.thm6.2",
                    "d / k + mu D^2 / 2",
                    "D is the largest distance from the regularizer's center, which lies in the set",
                    "every k and mu",
                ),
                data=f"{data_name}, n records, d = 2",
                runs=profile.runs(4_000),
                total=False,
                size=float(n),
            )
        )
    return tuple(cases)


def _population_risk(profile: Profile) -> tuple[RiskCase, ...]:
    """Theorem 6.8 with a data set as the population."""
    data = load("breast-cancer", d=5)
    problem = Problem(Linear(labeled=True), Ball(5, 1.0))
    cases = []
    for n in (SIZE, 4 * SIZE, 16 * SIZE):
        mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA, tuning="sco")
        stated = mechanism.risk_bound(n)
        assert stated is not None
        cases.append(
            RiskCase(
                mechanism=OnFreshSamples(mechanism, n),
                problem=problem,
                dataset=data,
                bound=stated.bound,
                claim="G^2 / (n mu) + d / k + mu D^2 / 2",
                origin=Corrected(
                    "gll22.thm6.8",
                    "G / (n mu) + d / k + mu D^2 / 2",
                    "Theorem 6.7, on which it rests, gives G^2 / (n mu)",
                    "independent records",
                ),
                data=f"{data.name} as the population, samples of n records, linear losses, d = 5",
                runs=profile.runs(8_000),
                total=False,
                size=float(n),
                runs_a_sample=20,
            )
        )
    return tuple(cases)


def _mechanism_law(data_name: str, profile: Profile) -> SamplingCase:
    problem, data = real_problem(data_name, n=4 * SIZE, d=2)
    mechanism = RegularizedExponentialMechanism(problem, 2 * EPSILON, DELTA)
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=Coordinate(0),
        reference=_plane_law(mechanism.density(data.n), data),
        reference_error=1e-3,
        distance="total variation",
        bound=0.0,
        claim="the density exp(-k (F + mu ||x||^2 / 2)) on the ball, exactly",
        origin=AsPrinted(
            "gll22.thm6.2", "density proportional to exp(-k (F + mu ||x||^2 / 2))", "every data set"
        ),
        blind=UniformOn(problem.constraint),
        statistic_name="first coordinate of two",
        data=f"{data_name}, n = {data.n}",
        runs=profile.runs(20_000),
    )


def _mechanism_queries(profile: Profile) -> ComplexityCase:
    data = load("diabetes", n=SIZE)
    mechanism = RegularizedExponentialMechanism(
        Problem(Linear(), Ball(data.d, 1.0)), EPSILON, DELTA, tuning="erm"
    )
    return ComplexityCase(
        mechanism,
        data,
        SIZE,
        "n, where the density is a Gaussian on the ball",
        data.name,
        origin=Unstated("the paper counts no queries where the density is a Gaussian"),
    )


@dataclass(frozen=True)
class CountedValues:
    """Value queries of each run, cut off at a highest number so that they are bounded by proof.

    Cutting off only lowers the expectation, so an upper bound on it stays one.
    """

    highest: float

    def __call__(self, found: Any) -> Any:
        """From runs to numbers (runs,)."""
        return np.minimum(np.asarray(found.value_queries, dtype=np.float64), self.highest)


def _expected_queries(
    mechanism: Any, data: Dataset, data_name: str, source: str, claim: str, runs: int, cut: float
) -> tuple[MeanCase, ...]:
    (stated,) = mechanism.queries(data.n)
    highest = cut * stated.count
    case = MeanCase(
        mechanism=mechanism,
        dataset=data,
        values=CountedValues(highest),
        lower=0.0,
        upper=highest,
        bound=stated.count,
        quantity=f"value queries a run, cut off at {cut:g} times the bound",
        claim=claim,
        origin=Corrected(
            source,
            {"gll22.thm5.6": "O(T) values in expectation", "gll22.lem5.5": "O(1) values in expectation"}[
                source
            ],
            "the constant 4 e / (1 - error) is what the proof gives",
            "every n and d",
        ),
        data=data_name,
        runs=runs,
    )
    return (case,)


# ------------------------------------------------------------------------------------------ the samplers


@dataclass(frozen=True)
class _GaussianFromNowhere:
    """The target without its losses: normal points about the origin, which look at no record."""

    stddev: float

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        return Output(self.stddev * rng.normal((runs, data.d), "blind point"))


def _gaussian_law(profile: Profile) -> SamplingCase:
    """Linear losses on all space in ten dimensions: the target is a Gaussian with known mean and variance."""
    data = load("diabetes", n=SIZE)
    sampler = AlternatingSampler(Problem(Linear(), AllSpace(data.d)), 1.0, 1.0, ACCURACY)
    found = sampler.density.gaussian(data)
    assert found is not None
    mean, stddev = found
    return SamplingCase(
        mechanism=sampler,
        dataset=data,
        statistic=Coordinate(0),
        blind=_GaussianFromNowhere(stddev),
        reference=stats.norm(mean[0], stddev).cdf,
        reference_error=0.0,
        distance="total variation",
        bound=sampler.schedule.total_variation,
        claim=f"total variation at most {ACCURACY:g} after T steps with explicit constants",
        origin=Corrected(
            "gll22.thm5.6",
            "total variation at most delta after Theta(G^2 / mu log^2(G^2 (d / mu + D^2) / delta)) steps",
            "the number of steps is the one that is proved, with its constants",
            "every accuracy in (0, 1)",
        ),
        statistic_name=f"first coordinate of {data.d}",
        data=f"{data.name}, n = {SIZE}, linear losses",
        runs=profile.runs(500),
    )


def _sampler_law(data_name: str, d: int, profile: Profile) -> SamplingCase:
    problem, data = real_problem(data_name, n=SIZE, d=d)
    temperature = 1.0 if data_name == "breast-cancer" else 0.5
    sampler = AlternatingSampler(problem, temperature, 1.0, ACCURACY)
    law = _line_law(sampler.density, data) if d == 1 else _plane_law(sampler.density, data)
    return SamplingCase(
        mechanism=sampler,
        dataset=data,
        statistic=Coordinate(0),
        blind=UniformOn(problem.constraint),
        reference=law,
        reference_error=1e-3,
        distance="total variation",
        bound=sampler.schedule.total_variation,
        claim=f"total variation at most {ACCURACY:g} after T steps with explicit constants",
        origin=Corrected(
            "gll22.thm5.6",
            "total variation at most delta after Theta(G^2 / mu log^2(G^2 (d / mu + D^2) / delta)) steps",
            "the number of steps is the one that is proved, with its constants",
            "every accuracy in (0, 1)",
        ),
        statistic_name=f"first coordinate of {d}",
        data=f"{data_name}, n = {SIZE}",
        runs=profile.runs(500),
    )


def _sampler_queries(profile: Profile) -> tuple[MeanCase, ...]:
    problem, data = real_problem("breast-cancer", n=SIZE, d=10)
    sampler = AlternatingSampler(problem, 4.0, 10.0, ACCURACY)
    claim = f"T = {sampler.schedule.steps} steps, each at most 4 e / (1 - error) values in expectation"
    where = "breast-cancer, d = 10"
    return _expected_queries(sampler, data, where, "gll22.thm5.6", claim, profile.runs(400), 2.0)


def _step_law(data_name: str, profile: Profile) -> SamplingCase:
    problem, data = real_problem(data_name, n=SIZE, d=1)
    temperature = 2.0 if data_name == "breast-cancer" else 1.0
    step = RejectionInnerStep(problem, temperature, 1.0, 0.005, (0.9,))
    return SamplingCase(
        mechanism=step,
        dataset=data,
        statistic=Coordinate(0),
        blind=UniformOn(problem.constraint),
        reference=_line_law(step.density, data, 1 / step.step_size, 0.9),
        reference_error=1e-6,
        distance="total variation",
        bound=step.total_variation,
        claim="total variation at most what the product estimate's truncation costs",
        origin=Corrected(
            "gll22.lem5.5",
            "total variation at most delta for eta <= C / (G^2 ln(1/delta))",
            "what the truncation costs is computed for the step taken",
            "every step size",
        ),
        statistic_name="the only coordinate",
        data=f"{data_name}, n = {SIZE}",
        runs=profile.runs(50_000),
    )


def _step_queries(data_name: str, profile: Profile) -> tuple[MeanCase, ...]:
    problem, data = real_problem(data_name, n=SIZE, d=10)
    temperature = 2.0 if data_name == "breast-cancer" else 1.0
    step = RejectionInnerStep(problem, temperature, 1.0, 0.005)
    claim = "at most 4 e / (1 - error) in expectation, whatever n and d"
    where = f"{data_name}, d = 10"
    return _expected_queries(step, data, where, "gll22.lem5.5", claim, profile.runs(50_000), 10.0)


# ------------------------------------------------------------------------------------------ hidden constants


def _step_size_constant(profile: Profile) -> ConstantCase:
    """The largest C in Lemma 5.5's eta <= C / (G^2 ln(1/delta)) that the explicit bound proves."""
    deltas = [0.49, *(10.0**-e for e in range(1, 13))]
    largest = min(largest_spread(delta) ** 2 / 2 * math.log(1 / delta) for delta in deltas)
    return ConstantCase(
        formula="eta = C / (G^2 ln(1/delta_inner))",
        latex=r"\eta=\frac{C}{G^2\log(1/\delta_{\mathrm{inner}})}",
        provable=Interval(lower=largest, upper=largest),
        extreme="largest",
        printed=None,
        parameters={"delta_inner": "1e-12 to 0.49", "G": "any", "d": "any"},
        range_fixed_by="floating-point evaluation of incomplete Gamma functions; not outward-rounded",
        method="largest C proved: truncation of the estimate bounded through isoperimetry and comonotone products",
        origin=Corrected(
            "gll22.lem5.5", "a constant C, not named", "the hidden constant is computed", "these deltas"
        ),
    )


def _steps_constant(profile: Profile) -> ConstantCase:
    """Theorem 5.6's T against G^2 / mu log^2(G^2 (d/mu + D^2) / delta), for a unit ball; mu and G as printed."""
    worst = 0.0
    for d in (1, 10, 1000):
        for temperature in (1.0, 10.0, 1000.0):
            for regularization in (0.01, 0.1, 1.0):
                density = RegularizedDensity(Problem(Logistic(), Ball(d, 1.0)), temperature, regularization)
                slope, curvature = density.lipschitz_constant, density.strong_convexity
                for accuracy in (1e-2, 1e-6):
                    size = slope**2 * (d / curvature + density.mode_distance**2) / accuracy
                    printed = slope**2 / curvature * math.log(size) ** 2
                    if slope**2 >= curvature:
                        worst = max(worst, schedule(density, accuracy).steps / printed)
    return ConstantCase(
        formula="T = c G^2/mu ln^2(G^2 (d/mu + D^2) / delta)",
        latex=r"T=c\,\frac{G^2}{\mu}\log^2\!\left(\frac{G^2(d/\mu+D^2)}{\delta}\right)",
        provable=Interval(lower=worst, upper=worst),
        extreme="smallest",
        printed=None,
        parameters={"d": "1 to 1000", "G^2/mu": "1 to 1e5", "delta": "1e-6 to 1e-2"},
        range_fixed_by="a grid of parameters, in floating point",
        method="largest ratio over a grid of the steps that the explicit bounds prove",
        origin=Corrected(
            "gll22.thm5.6", "Theta( ), no constant", "the hidden constant is computed", "this grid"
        ),
    )


def _queries_constant(profile: Profile) -> ConstantCase:
    """Theorem 6.4's queries against eps^2 n^2 / ln(1/delta) ln^2(n d eps / delta), eps <= ln(1/delta)."""
    worst = 0.0
    for d in (3, 100):
        problem = Problem(Logistic(), Ball(d, 1.0))
        for epsilon in (0.1, 1.0):
            for delta in (1e-3, 1e-6):
                for n in (100, 10_000):
                    mechanism = RegularizedExponentialMechanism(
                        problem, epsilon, delta, sampler="alternating"
                    )
                    (stated,) = mechanism.queries(n)
                    logarithms = math.log(n * d * epsilon / delta) ** 2 / math.log(1 / delta)
                    worst = max(worst, stated.count / ((epsilon * n) ** 2 * logarithms))
    return ConstantCase(
        formula="c eps^2 n^2 / ln(1/delta) ln^2(n d eps / delta)",
        latex=r"c\,\frac{\varepsilon^2n^2}{\log(1/\delta)}\log^2\!\left(\frac{nd\varepsilon}{\delta}\right)",
        provable=Interval(lower=worst, upper=worst),
        extreme="smallest",
        printed=None,
        parameters={"d": "3, 100", "n": "100, 10000", "epsilon": "0.1, 1", "delta": "1e-6, 1e-3"},
        range_fixed_by="a grid of parameters, in floating point",
        method="largest ratio over a grid of the expected queries that the explicit bounds prove; logistic losses",
        origin=Corrected(
            "gll22.thm6.4", "Theta( ), no constant", "the hidden constant is computed", "this grid"
        ),
    )


def _mechanism_plans() -> tuple[Plan, ...]:
    subject, name = "gll22.rem", "Regularized exponential mechanism"
    found: list[Plan] = []
    for data_name in REAL_DATA:
        where = f"{subject}/{data_name}"
        found += [
            PrivacyPlan(where, subject, f"{name} on {data_name}", partial(_real, data_name)),
            RiskPlan(
                f"{where}/risk",
                subject,
                f"Risk of the {name.lower()} on {data_name}",
                partial(_risk, data_name),
                "n",
            ),
            SamplingPlan(
                f"{where}/law",
                subject,
                f"Law of the {name.lower()} on {data_name}",
                partial(_mechanism_law, data_name),
            ),
        ]
    found += [
        PrivacyPlan(f"{subject}/worst-case", subject, f"{name}, worst case", _worst),
        PrivacyPlan(f"{subject}/sampled", subject, f"{name} by the alternating sampler", _sampled),
        RiskPlan(
            f"{subject}/population-risk",
            subject,
            f"Population risk of the {name.lower()}",
            _population_risk,
            "n",
        ),
        ComplexityPlan(
            f"{subject}/queries", subject, f"Gradient queries of the {name.lower()}", _mechanism_queries
        ),
        ConstantPlan(
            f"{subject}/queries-constant",
            "gll22.thm6.4",
            "The constant in the number of value queries",
            _queries_constant,
        ),
    ]
    return tuple(found)


def _sampler_plans() -> tuple[Plan, ...]:
    first, second = "gll22.alg1", "gll22.alg2"
    found: list[Plan] = [
        SamplingPlan(
            f"{first}/breast-cancer/law",
            first,
            "Law of the alternating sampler on breast-cancer",
            partial(_sampler_law, "breast-cancer", 2),
        ),
        SamplingPlan(
            f"{first}/diabetes/law",
            first,
            "Law of the alternating sampler on diabetes",
            partial(_sampler_law, "diabetes", 1),
        ),
        SamplingPlan(
            f"{first}/gaussian/law", first, "Alternating sampler, a Gaussian in d = 10", _gaussian_law
        ),
        MeanPlan(
            f"{first}/queries",
            first,
            "Value queries of the alternating sampler",
            _sampler_queries,
        ),
        ConstantPlan(
            f"{first}/steps", "gll22.thm5.6", "The constant in the number of steps", _steps_constant
        ),
        ConstantPlan(
            f"{second}/step-size", "gll22.lem5.5", "The constant in the step size", _step_size_constant
        ),
    ]
    for data_name in REAL_DATA:
        found += [
            SamplingPlan(
                f"{second}/{data_name}/law",
                second,
                f"Law of the inner rejection step on {data_name}",
                partial(_step_law, data_name),
            ),
            MeanPlan(
                f"{second}/{data_name}/queries",
                second,
                f"Value queries of the inner rejection step on {data_name}",
                partial(_step_queries, data_name),
            ),
        ]
    return tuple(found)


PLANS: tuple[Plan, ...] = (*_mechanism_plans(), *_sampler_plans())
