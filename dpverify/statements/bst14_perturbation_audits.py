"""Audit plans for bst14's output perturbation, objective perturbation and huberized hinge.

Risks are sums over the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaincc

from dpverify.algorithms.huberized_hinge import (
    HuberizedObjectivePerturbation,
    HuberizedPositivePart,
    first_bad_data,
    first_bad_risk,
    second_bad_data,
    second_bad_risk,
)
from dpverify.algorithms.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.output_perturbation import OutputPerturbation
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import AllSpace, Ball, Box, Dataset, HalfSquaredDistance, Problem, Ridge, load
from dpverify.running import Runs
from dpverify.statements.audit_parts import REAL_DATA, real_neighbors, real_problem
from dpverify.statements.plans import (
    ClaimedRate,
    ConstantCase,
    ConstantPlan,
    MeanCase,
    MeanPlan,
    NotCompared,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
    SamplingCase,
    SamplingPlan,
)

EPSILON, DELTA = 1.0, 1e-5
SIZE, DIMENSION, WEIGHT = 100, 3, 0.1
"""Records and features kept of a real data set, and the weight of the ridge where one is needed."""

_Perturbation = OutputPerturbation | ObjectivePerturbation | HuberizedObjectivePerturbation


def _ridge(data_name: str, n: int = SIZE) -> tuple[Problem, Dataset]:
    problem, data = real_problem(data_name, n=n, d=DIMENSION)
    return Problem(Ridge.on(problem.constraint, problem.loss, WEIGHT), problem.constraint), data


def _margins(n: int) -> Dataset:
    """Breast cancer for the hinge loss (1 - y <w, x>)_+, which is (1 - <w, y x>)_+."""
    data = load("breast-cancer", n=n, d=DIMENSION)
    features = np.asarray(data.features) * np.asarray(data.labels)[:, None]
    return Dataset(features, np.ones(n), "breast-cancer, y x", data.scaling)


def _private(
    mechanism: _Perturbation, pair: tuple[Dataset, Dataset], description: str, runs: int
) -> PrivacyCase:
    stated = mechanism.guarantees(pair[0].n)
    return PrivacyCase(
        mechanism,
        *pair,
        Adjacency.REPLACE_ONE,
        stated[0].guarantee,
        description,
        runs,
        stated[-1].guarantee if len(stated) > 1 else None,
        origin=NotCompared(stated[0].sources[0]),
    )


def _output_real(data_name: str, profile: Profile) -> PrivacyCase:
    problem, data = _ridge(data_name)
    pair = real_neighbors(problem, data, data.n)
    mechanism = OutputPerturbation(problem, EPSILON)
    return _private(mechanism, (pair.left, pair.right), pair.description, profile.runs(50_000))


def _output_worst(profile: Profile) -> PrivacyCase:
    """Means at distance 2/n in one dimension: two Laplace laws."""
    n = 8
    left = Dataset(np.ones((n, 1)), np.ones(n), "equal records", "by construction")
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), EPSILON)
    return _private(
        mechanism,
        (left, left.replace(n, [-1.0], 1.0)),
        "the mean of n equal records, one of them replaced by its opposite",
        profile.runs(50_000),
    )


def _risk(
    mechanism: OutputPerturbation | ObjectivePerturbation,
    data: Dataset,
    data_name: str,
    claim: str,
    runs: int,
) -> RiskCase:
    stated = mechanism.risk_bound(data.n)
    assert stated is not None
    return RiskCase(
        mechanism=mechanism,
        problem=mechanism.problem,
        dataset=data,
        bound=stated.bound,
        claim=claim,
        origin=NotCompared(stated.sources[0]),
        data=f"{data_name}, n records, d = {DIMENSION}, epsilon = {mechanism.epsilon:g}",
        runs=runs,
        total=stated.total,
        size=float(data.n),
    )


def _output_risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    cases = []
    for n in (50, 100, 200):
        problem, data = _ridge(data_name, n)
        mechanism = OutputPerturbation(problem, EPSILON)
        claim = "n L (p scale + the minimizer's error), scale = 2 L / (n Delta epsilon)"
        cases.append(_risk(mechanism, data, data_name, claim, profile.runs(2000)))
    return tuple(cases)


@dataclass(frozen=True)
class _Outside:
    """Whether a run's point is farther from a point than a radius."""

    point: tuple[float, ...]
    radius: float

    def __call__(self, runs: Runs) -> Any:
        return (np.linalg.norm(runs.points - np.array(self.point), axis=1) > self.radius).astype(np.float64)


def _ball(data_name: str, profile: Profile) -> tuple[MeanCase, ...]:
    """theta* is outside of C_0 with no more than the exact probability for the noise's norm."""
    cases = []
    for zeta in (2.0, 1.1):
        problem, data = _ridge(data_name)
        mechanism = OutputPerturbation(problem, EPSILON, zeta=zeta)
        found = mechanism.minimum(data)
        cases.append(
            MeanCase(
                mechanism=mechanism,
                dataset=data,
                values=_Outside(tuple(found.point.tolist()), mechanism.ball_radius(data.n) + found.distance),
                lower=0.0,
                upper=1.0,
                bound=mechanism.failure_probability(data.n),
                quantity="probability that theta* is outside of C_0",
                claim="P[Gamma(p) > zeta p]",
                origin=NotCompared("bst14.lem4.2"),
                data=f"{data_name}, n = {data.n}, p = {DIMENSION}, zeta on the axis",
                runs=profile.runs(20_000),
                size=zeta,
            )
        )
    return tuple(cases)


def _zeta(profile: Profile) -> ConstantCase:
    """From which zeta on the printed tail of the noise's norm is true, in the worst dimension."""
    smallest = float(brentq(lambda zeta: gammaincc(2, 2 * zeta) - math.exp(-zeta), 1.1, 2.0, xtol=1e-12))
    return ConstantCase(
        formula="P[Gamma(p) <= zeta p] >= 1 - exp(-zeta) for zeta >= c",
        latex=r"\Pr[\Gamma(p)\le\zeta p]\ge1-e^{-\zeta}\text{ for }\zeta\ge c",
        provable=Interval(lower=smallest, upper=smallest),
        extreme="smallest",
        printed=1.0,
        parameters={"p": "2, the worst dimension"},
        range_fixed_by="floating-point root finding; larger dimensions were compared on a grid",
        method="root of (1 + 2 zeta) exp(-2 zeta) = exp(-zeta)",
        origin=NotCompared("bst14.alg3"),
    )


@dataclass(frozen=True)
class _DistanceTo:
    """Distance of points to a point."""

    point: tuple[float, ...]

    def __call__(self, points: Any) -> Any:
        return np.linalg.norm(np.asarray(points) - np.array(self.point), axis=1)


def _output_law(profile: Profile) -> SamplingCase:
    """The noise's norm, on the mean of real records."""
    data = load("breast-cancer", n=SIZE, d=DIMENSION)
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(DIMENSION)), EPSILON)
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=_DistanceTo(tuple(np.mean(np.asarray(data.features), axis=0).tolist())),
        reference=stats.gamma(DIMENSION, scale=mechanism.scale(data.n)).cdf,
        reference_error=1e-8,
        distance="multiplicative",
        bound=0.0,
        claim="||b|| has the law Gamma(p, scale)",
        origin=NotCompared("bst14.lem4.2"),
        statistic_name="||theta_0 - mean||",
        data=f"mean of {data.name}, n = {data.n}, d = {DIMENSION}",
        runs=profile.runs(20_000),
    )


def _objective_real(data_name: str, delta: float, profile: Profile) -> PrivacyCase:
    problem, data = real_problem(data_name, n=SIZE, d=DIMENSION)
    pair = real_neighbors(problem, data, data.n)
    mechanism = ObjectivePerturbation(problem, EPSILON, delta)
    return _private(mechanism, (pair.left, pair.right), pair.description, profile.runs(20_000))


def _objective_worst(delta: float, profile: Profile) -> PrivacyCase:
    """One record in one dimension that bends where its neighbor, of opposite slope, does not."""
    problem = Problem(HuberizedPositivePart(0.5), Box((-1000.0,), (1000.0,)))
    left = Dataset([[1.0]], [1.0], "one record", "by construction")
    mechanism = ObjectivePerturbation(problem, EPSILON, delta)
    return _private(
        mechanism,
        (left, left.replace(1, [-1.0], 1.0)),
        "one record of a huberized hinge in one dimension, and its mirror image",
        profile.runs(50_000),
    )


def _objective_risk(data_name: str, delta: float, strongly: bool, profile: Profile) -> tuple[RiskCase, ...]:
    cases = []
    for n in (50, 100, 200):
        problem, data = _ridge(data_name, n) if strongly else real_problem(data_name, n=n, d=DIMENSION)
        mechanism = ObjectivePerturbation(problem, EPSILON, delta)
        claim = "Delta R^2 / 2 + E ||b||^2 / (2 K) + n L (the minimizer's error)"
        cases.append(_risk(mechanism, data, data_name, claim, profile.runs(2000)))
    return tuple(cases)


def _objective_rate(delta: float, profile: Profile) -> tuple[RiskCase, ...]:
    """Theorem E.2 on the mean of real records, whose bound is attained where no end of the set is reached."""
    constraint = Ball(DIMENSION, 1.0)
    problem = Problem(HalfSquaredDistance.on(constraint), constraint)
    cases = []
    # so that less than one run in a thousand reaches the end of the set, which would flatten the rate
    epsilon = 3.0 if delta == 0 else 9.0
    for n in (12, 24, 48):
        mechanism = ObjectivePerturbation(problem, epsilon, delta)
        data = load("breast-cancer", n=n, d=DIMENSION)
        claim = "E ||b||^2 / (2 n Delta) + n L (the minimizer's error)"
        cases.append(_risk(mechanism, data, "mean of breast-cancer", claim, profile.runs(30_000)))
    return tuple(cases)


def _printed_epsilon(profile: Profile) -> ConstantCase:
    """What the printed Gamma noise and the printed condition on Delta spend in one dimension."""
    epsilon = 0.1
    spent = epsilon + math.log1p(2 * epsilon)
    return ConstantCase(
        formula="c epsilon-DP for noise exp(-epsilon ||b|| / (2 L)) and Delta = beta / (2 epsilon)",
        latex=r"c\,\varepsilon\text{-DP for }\nu(b)\propto e^{-\varepsilon\|b\|_2/(2L)},\ "
        r"\Delta=\frac{\beta}{2\varepsilon}",
        provable=Interval(lower=spent / epsilon, upper=spent / epsilon),
        extreme="smallest",
        printed=1.0,
        parameters={"epsilon": f"{epsilon:g}", "dimension": "1"},
        range_fixed_by="closed form from the density of the minimizer",
        method="1 + ln(1 + 2 epsilon) / epsilon, attained by a huberized hinge where a record begins to bend",
        origin=NotCompared("bst14.alg-objpert"),
    )


@dataclass(frozen=True)
class _MinimizerLaw:
    """P[theta <= u] in one dimension: that of b >= -F'(u), F being the objective without its linear term."""

    mechanism: ObjectivePerturbation
    data: Dataset

    def __call__(self, at: Any) -> Any:
        u, n = np.asarray(at, dtype=np.float64), self.data.n
        slopes = n * self.mechanism.problem.mean_gradient(u.reshape(-1, 1), self.data)[:, 0].reshape(u.shape)
        slopes = slopes + self.mechanism.regularization_at(n) * u
        scale = self.mechanism.noise_scale_at(n)
        law = stats.laplace(0, scale) if self.mechanism.delta == 0 else stats.norm(0, scale)
        return law.sf(-slopes)


def _first(points: Any) -> Any:
    return np.asarray(points)[:, 0]


def _objective_law(delta: float, profile: Profile) -> SamplingCase:
    """The exact law of the minimizer in one dimension; the noise that hides its error blurs it by little."""
    problem, data = real_problem("breast-cancer", n=SIZE, d=1)
    # so large a set that its ends are never reached, and a regularization as on a set of radius 1
    mechanism = ObjectivePerturbation(
        Problem(problem.loss, Ball(1, 1e6)), EPSILON, delta, regularization=5.0, hiding_share=0.2
    )
    n = data.n
    blur = 30 * (mechanism.hiding_scale(n) + mechanism.accuracy_at(n))
    # the density of theta is at most that of b times the largest second derivative
    steepest = n * problem.loss.smoothness + mechanism.regularization_at(n)
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=_first,
        reference=_MinimizerLaw(mechanism, data),
        reference_error=blur * steepest / mechanism.noise_scale_at(n) + math.exp(-30),
        distance="total variation",
        bound=0.0,
        claim="theta <= u exactly if b >= -F'(u)",
        origin=NotCompared("bst14.objpert-privacy"),
        statistic_name="theta",
        data=f"{data.name}, n = {n}, d = 1",
        runs=profile.runs(10_000),
    )


def _huber_real(delta: float, profile: Profile) -> PrivacyCase:
    data = _margins(SIZE)
    mechanism = HuberizedObjectivePerturbation(0.5, EPSILON, delta, Ball(DIMENSION, 2.0))
    pair = real_neighbors(mechanism.smoothed, data, data.n)
    return _private(mechanism, (pair.left, pair.right), pair.description, profile.runs(20_000))


@dataclass(frozen=True)
class _Excess:
    """A run's excess total risk over that at a known minimizer."""

    problem: Problem
    data: Dataset
    minimizer: float

    def __call__(self, runs: Runs) -> Any:
        return self.at(runs.points)

    def at(self, points: Any) -> Any:
        lowest = self.problem.total_risk(np.array([[self.minimizer]]), self.data)[0]
        return np.maximum(self.problem.total_risk(points, self.data) - lowest, 0.0)


def _bad(which: int, printed: bool, profile: Profile) -> tuple[MeanCase, ...]:
    """The bad data sets, for h = 1/sqrt(n), where both lower bounds are of the order sqrt(n / epsilon)."""
    cases = []
    for n in (75, 300, 1200):
        width, epsilon = 1 / math.sqrt(n), 0.5
        mechanism = HuberizedObjectivePerturbation(
            width, epsilon, float(n) ** -4, printed=printed, withdraw_guarantee=printed
        )
        regularization = mechanism.perturbation.regularization_at(n)
        if which == 1:
            data, minimizer, bound = first_bad_data(n), -1.0, first_bad_risk(n, width=width)
        else:
            data, minimizer = second_bad_data(n, regularization=regularization), 1.0
            bound = second_bad_risk(n, width=width, regularization=regularization)
        excess = _Excess(mechanism.problem, data, minimizer)
        cases.append(
            MeanCase(
                mechanism=mechanism,
                dataset=data,
                values=excess,
                lower=0.0,
                # a convex function is largest at an end
                upper=float(np.max(excess.at(np.array([[-2.0], [2.0]])))),
                bound=bound,
                quantity="expected excess risk (sum over records)",
                claim="n min(1, h/3) / 6" if which == 1 else "3/8 of the slope min(n, Delta / 4)",
                origin=NotCompared(f"bst14.lemB.{which + 1}"),
                data=f"{data.name}, h = 1/sqrt(n), epsilon = {epsilon:g}, delta = n^-4"
                + (", parameters as printed" if printed else ""),
                runs=profile.runs(2000),
                at_least=True,
                size=float(n),
            )
        )
    return tuple(cases)


_NOISES = (("gamma", 0.0), ("gaussian", DELTA))

PLANS: tuple[Plan, ...] = (
    *(
        PrivacyPlan(
            f"bst14.alg3/{name}", "bst14.alg3", f"Output perturbation on {name}", partial(_output_real, name)
        )
        for name in REAL_DATA
    ),
    PrivacyPlan("bst14.alg3/worst-case", "bst14.alg3", "Output perturbation of a mean", _output_worst),
    *(
        RiskPlan(
            f"bst14.alg3/{name}/risk",
            "bst14.alg3",
            f"Risk of output perturbation on {name}",
            partial(_output_risk, name),
            curve_over="n",
        )
        for name in REAL_DATA
    ),
    MeanPlan(
        "bst14.alg3/ball",
        "bst14.alg3",
        "How often output perturbation's ball misses the minimizer",
        partial(_ball, "breast-cancer"),
        curve_over="zeta",
    ),
    ConstantPlan(
        "bst14.alg3/zeta", "bst14.alg3", "From which zeta on the ball's printed probability holds", _zeta
    ),
    SamplingPlan("bst14.alg3/law", "bst14.alg3", "The norm of output perturbation's noise", _output_law),
    *(
        PrivacyPlan(
            f"bst14.alg-objpert/{name}/{noise}",
            "bst14.alg-objpert",
            f"Objective perturbation on {name}, {noise} noise",
            partial(_objective_real, name, delta),
        )
        for name, (noise, delta) in zip(REAL_DATA, _NOISES, strict=True)
    ),
    *(
        PrivacyPlan(
            f"bst14.alg-objpert/worst-case/{noise}",
            "bst14.alg-objpert",
            f"Objective perturbation in one dimension, {noise} noise",
            partial(_objective_worst, delta),
        )
        for noise, delta in _NOISES
    ),
    *(
        RiskPlan(
            f"bst14.alg-objpert/{name}/{noise}/risk",
            "bst14.alg-objpert",
            f"Risk of objective perturbation on {name}, {noise} noise",
            partial(_objective_risk, name, delta, name != REAL_DATA[0]),
            curve_over="n",
        )
        for name in REAL_DATA
        for noise, delta in _NOISES
    ),
    *(
        RiskPlan(
            f"bst14.alg-objpert/strongly-convex/{noise}/risk",
            "bst14.alg-objpert",
            f"Risk of objective perturbation of a mean, {noise} noise",
            partial(_objective_rate, delta),
            curve_over="n",
            rate=ClaimedRate(-1.0, NotCompared()),
        )
        for noise, delta in _NOISES
    ),
    ConstantPlan(
        "bst14.alg-objpert/printed-epsilon",
        "bst14.alg-objpert",
        "What objective perturbation spends with the printed Gamma noise",
        _printed_epsilon,
    ),
    *(
        SamplingPlan(
            f"bst14.alg-objpert/law/{noise}",
            "bst14.alg-objpert",
            f"The law of objective perturbation in one dimension, {noise} noise",
            partial(_objective_law, delta),
        )
        for noise, delta in _NOISES
    ),
    *(
        PrivacyPlan(
            f"bst14.alg-huber/breast-cancer/{noise}",
            "bst14.alg-huber",
            f"Huberized hinge on breast-cancer, {noise} noise",
            partial(_huber_real, delta),
        )
        for noise, delta in _NOISES
    ),
    *(
        MeanPlan(
            f"bst14.alg-huber/bad-{which}{'/printed' if printed else ''}",
            "bst14.alg-huber",
            f"Huberized hinge on bad data set {which}{', as printed' if printed else ''}",
            partial(_bad, which, printed),
            curve_over="n",
        )
        for which in (1, 2)
        for printed in (True, False)
    ),
)
