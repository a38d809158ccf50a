"""Audit plans for bst14's output perturbation, objective perturbation and huberized hinge.

Risks are sums over the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaincc

from dpverify.algorithms.bst14.huberized_hinge import (
    HuberizedObjectivePerturbation,
    HuberizedPositivePart,
    first_bad_data,
    first_bad_risk,
    second_bad_data,
    second_bad_risk,
)
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import AllSpace, Ball, Box, Dataset, HalfSquaredDistance, Problem, Ridge, load
from dpverify.running import Output, Randomness, Runs
from dpverify.statements.audit_parts import (
    NOISE,
    REAL_DATA,
    UniformOn,
    linear_neighbors,
    longest_record_at,
    mean_neighbors,
    real_neighbors,
    real_problem,
    sign_change,
)
from dpverify.statements.plans import (
    AsPrinted,
    ClaimedRate,
    ConstantCase,
    ConstantPlan,
    Corrected,
    MeanCase,
    MeanPlan,
    Origin,
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
REAL_EPSILON, REAL_DELTA = 2.0, 1e-3
SIZE, DIMENSION, WEIGHT = 100, 3, 0.1
"""Records and features kept of a real data set, and the weight of the ridge where one is needed."""

_Perturbation = OutputPerturbation | ObjectivePerturbation | HuberizedObjectivePerturbation


def _ridge(data_name: str, n: int = SIZE) -> tuple[Problem, Dataset]:
    problem, data = real_problem(data_name, n=n, d=DIMENSION)
    return Problem(Ridge.on(problem.constraint, problem.loss, WEIGHT), problem.constraint), data


_PERTURBED = (
    "epsilon is split between the noise, the Hessian's determinant and the minimizer's error: with the printed noise "
    "and Delta the determinant's share is spent on top"
)


def _private(
    mechanism: _Perturbation, pair: tuple[Dataset, Dataset], description: str, runs: int
) -> PrivacyCase:
    """The sharpest guarantee is claimed: with Gaussian noise the whole profile."""
    stated = mechanism.guarantees(pair[0].n)
    printed = f"{stated[0].guarantee}"
    origin: Origin
    if isinstance(mechanism, OutputPerturbation):
        origin = AsPrinted("bst14.lem4.1", printed, "every epsilon > 0, Delta-strongly convex losses")
    else:
        origin = Corrected("bst14.objpert-privacy", printed, _PERTURBED, "every epsilon > 0")
    return PrivacyCase(
        mechanism,
        *pair,
        Adjacency.REPLACE_ONE,
        stated[-1].guarantee,
        description,
        runs,
        origin=origin,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _output_real(data_name: str, profile: Profile) -> PrivacyCase:
    """The mean of a few real records in one dimension."""
    pair = mean_neighbors(data_name, n=8, d=1)
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), EPSILON)
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


_RISKS = {
    source: Corrected(
        source,
        printed,
        "every constant is written out, for the noise that is added and for the minimizer's certified error",
        "every n and epsilon",
    )
    for source, printed in {
        "bst14.lem4.1": "O( ) of the introduction, no constant",
        "bst14.thmE.1.1": "O(R L p / epsilon)",
        "bst14.thmE.1.2": "O(R L sqrt(p ln(1/delta)) / epsilon)",
        "bst14.thmE.2.1": "O(L^2 p^2 / (n Delta epsilon^2))",
        "bst14.thmE.2.2": "O(L^2 p ln(1/delta) / (n Delta epsilon^2))",
    }.items()
}


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
        origin=_RISKS[stated.sources[0]],
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
                origin=Corrected(
                    "bst14.lem4.2",
                    f"exp(-zeta) = {mechanism.printed_failure_probability(data.n):.4g}",
                    "exact probability of the noise's norm; the printed one is too small for zeta near 1 from p = 2 on",
                    "every zeta > 1",
                ),
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
        provable=sign_change(smallest, lambda z: (1 + 2 * z) * (-2 * z).exp() - (-z).exp()),
        extreme="smallest",
        printed=1.0,
        parameters={"p": "2"},
        range_fixed_by="closed form for p = 2; larger dimensions were compared on a grid and need less",
        method="root of (1 + 2 zeta) exp(-2 zeta) = exp(-zeta)",
        decisive=True,
        origin=AsPrinted("bst14.lem4.2", "zeta > 1", "every p"),
    )


@dataclass(frozen=True)
class _DistanceTo:
    """Distance of points to a point."""

    point: tuple[float, ...]

    def __call__(self, points: Any) -> Any:
        return np.linalg.norm(np.asarray(points) - np.array(self.point), axis=1)


@dataclass(frozen=True)
class _FromNowhere:
    """A point that looks at no record: the noise of n records about the origin."""

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        nowhere = Dataset(np.zeros((data.n, data.d)), np.ones(data.n), "nothing", "by construction")
        problem = Problem(HalfSquaredDistance(math.inf), AllSpace(data.d))
        output: Output = OutputPerturbation(problem, EPSILON)(nowhere, rng=rng, runs=runs)
        return output


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
        origin=AsPrinted(
            "bst14.alg3", "density proportional to exp(-n Delta epsilon ||b|| / (2 L))", "every n"
        ),
        blind=_FromNowhere(),
        statistic_name="||theta_0 - mean||",
        data=f"mean of {data.name}, n = {data.n}, d = {DIMENSION}",
        runs=profile.runs(20_000),
    )


def _objective_real(data_name: str, delta: float, profile: Profile) -> PrivacyCase:
    """Linear losses of a few real records, whose objective bends by its regularization alone."""
    pair = linear_neighbors(data_name, n=4, d=1)
    mechanism = ObjectivePerturbation(
        Problem(pair.loss, Ball(1, 1e4)), REAL_EPSILON, REAL_DELTA if delta else 0.0, regularization=1.0
    )
    return _private(mechanism, (pair.left, pair.right), pair.description, profile.runs(20_000))


def _objective_worst(delta: float, profile: Profile) -> PrivacyCase:
    """One record in one dimension that bends where its neighbor, of opposite slope, does not."""
    problem = Problem(HuberizedPositivePart(0.5), Box((-1000.0,), (1000.0,)))
    left = Dataset([[1.0]], [1.0], "one record", "by construction")
    mechanism = ObjectivePerturbation(problem, EPSILON, 0.01 if delta else 0.0)
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
    spent = 1 + 10 * (arb(6) / 5).log()
    return ConstantCase(
        formula="c epsilon-DP for noise exp(-epsilon ||b|| / (2 L)) and Delta = beta / (2 epsilon)",
        latex=r"c\,\varepsilon\text{-DP for }\nu(b)\propto e^{-\varepsilon\|b\|_2/(2L)},\ "
        r"\Delta=\frac{\beta}{2\varepsilon}",
        provable=Interval(
            lower=math.nextafter(float(spent.lower()), -math.inf),
            upper=math.nextafter(float(spent.upper()), math.inf),
            rigorous=True,
        ),
        extreme="smallest",
        printed=1.0,
        parameters={"epsilon": "0.1", "dimension": "1"},
        range_fixed_by="closed form from the density of the minimizer, at epsilon = 0.1 in one dimension",
        method="1 + ln(1 + 2 epsilon) / epsilon, attained by a huberized hinge where a record begins to bend",
        decisive=True,
        origin=AsPrinted(
            "bst14.objpert-privacy", "epsilon-DP, c = 1", "every epsilon, Delta >= beta / (2 epsilon)"
        ),
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
        origin=AsPrinted(
            "bst14.alg-objpert", "theta minimizes L + (Delta / 2) ||theta||^2 + <b, theta>", "every data set"
        ),
        blind=UniformOn(Ball(1, 1.0)),
        statistic_name="theta",
        data=f"{data.name}, n = {n}, d = 1",
        runs=profile.runs(10_000),
    )


def _huber_real(delta: float, profile: Profile) -> PrivacyCase:
    """One real record in one dimension, with ends of the set that are never reached."""
    data = longest_record_at("breast-cancer", 1, n=1, d=1)
    mechanism = HuberizedObjectivePerturbation(
        0.5, EPSILON, 0.01 if delta else 0.0, Box((-1000.0,), (1000.0,))
    )
    pair = real_neighbors(mechanism.smoothed, data, 1)
    return _private(mechanism, (pair.left, pair.right), pair.description, profile.runs(50_000))


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
                origin=Corrected(
                    f"bst14.lemB.{which + 1}",
                    "Omega(min(n, n h))" if which == 1 else "Omega(min(n, 1 / (epsilon h)))",
                    "the constant of the lower bound is written out",
                    "every n that is a multiple of 3" if which == 1 else "h <= 3/4",
                ),
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
            rate=ClaimedRate(
                -1.0,
                AsPrinted(
                    f"bst14.thmE.2.{1 if delta == 0 else 2}",
                    "1 / n",
                    "n to infinity, epsilon and delta fixed",
                ),
            ),
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
