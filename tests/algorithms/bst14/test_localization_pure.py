"""Algorithm 4 on a line: its law by quadrature, its exact privacy loss, and what other laws would give.

Every statistical test has a fixed seed and rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.localization import Localization
from dpverify.algorithms.promises import StatedQueries
from dpverify.auditing import audit_law, audit_privacy
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency, ConditionKind, PureDP, StatedGuarantee
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Squared,
    minimize,
    opposite_linear,
)
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.running import Output, Randomness, run

FALSE_ALARM = 1e-6
RUNS = 20_000
SLACK = 0.01
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """Algorithm 4's law on [-1, 1] when the total risk is a (x - center)^2 / 2, by quadrature over theta_0.

    theta_0 = clip(center + Laplace(scale)), and then theta is normal about the center with variance 1 / (rate a),
    cut to [theta_0 - radius, theta_0 + radius] within [-1, 1], where rate = epsilon_2 / (2 L D), D its diameter.
    """

    center: float
    curvature: float
    n: int
    lipschitz: float
    strong_convexity: float
    epsilons: tuple[float, float]
    zeta: float | None = None
    sensitivity: float = 2.0
    """Of the gradient: how far those of two records can be apart."""

    def _parts(self) -> tuple[Array, float, Array, Array]:
        first, second = self.epsilons
        apart = self.sensitivity / (self.n * self.strong_convexity)
        scale = (1 + SLACK) * apart / first
        zeta = 3 * math.log(self.n) if self.zeta is None else self.zeta
        radius = zeta * scale + SLACK / 2 * apart
        rate = second / (2 * self.lipschitz * min(2 * radius, 2.0))
        edges = np.linspace(-1, 1, 2001)
        below = stats.laplace.cdf(edges, self.center, scale)
        middles = np.concatenate([(edges[1:] + edges[:-1]) / 2, [-1.0, 1.0]])
        masses = np.concatenate([np.diff(below), [below[0], 1 - below[-1]]])
        lows, highs = np.maximum(-1, middles - radius), np.minimum(1, middles + radius)
        return masses, 1 / math.sqrt(rate * self.curvature), lows, highs

    def distribution(self, x: Array) -> Array:
        """P[theta <= x]."""
        masses, stddev, lows, highs = self._parts()
        low, high = (lows - self.center) / stddev, (highs - self.center) / stddev
        cut = np.clip((x[:, None] - self.center) / stddev, low, high)
        return np.asarray(between(low, cut) / between(low, high) @ masses)

    def density(self, x: Array) -> Array:
        """Of theta at x."""
        masses, stddev, lows, highs = self._parts()
        inside = (lows <= x[:, None]) & (x[:, None] <= highs)
        whole = between((lows - self.center) / stddev, (highs - self.center) / stddev)
        return np.asarray(stats.norm.pdf(x, self.center, stddev) * (inside @ (masses / whole)))


def between(low: Array, high: Array) -> Array:
    """Probability that a standard normal number is between, from the side where no digits cancel."""
    right = low > 0
    return np.asarray(
        np.where(right, special.ndtr(-low) - special.ndtr(-high), special.ndtr(high) - special.ndtr(low))
    )


@dataclass(frozen=True)
class CutNormals:
    """Algorithm 2 on intervals for half squared distances, by inverting the distribution function."""

    epsilon: float
    problem: Problem
    id: str = "test.cut-normals"

    def guarantees(self, n: int) -> tuple[StatedGuarantee, ...]:
        return (StatedGuarantee(PureDP(self.epsilon), Adjacency.REPLACE_ONE),)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        return (StatedQueries("projection", 2),)

    def risk_within(self, n: int, diameter: float, probability: float | None) -> tuple[float, float]:
        proved = 2 * self.problem.loss.lipschitz_constant * diameter / self.epsilon
        return proved, 3 * proved

    def solve(self, data: Dataset, sets: BallIntersections, *, rng: Randomness, runs: int) -> Output:
        rate = self.epsilon / (2 * self.problem.loss.lipschitz_constant * sets.diameter)
        centers = np.asarray(sets.centers)[:, 0]
        lows, highs = np.maximum(-1, centers - sets.radius), np.minimum(1, centers + sets.radius)
        mean, stddev = float(np.mean(data.features)), 1 / math.sqrt(rate * data.n)
        law = stats.truncnorm((lows - mean) / stddev, (highs - mean) / stddev, mean, stddev)
        points = law.ppf(rng.uniform((runs,), "place"))
        return Output(np.clip(points, lows, highs)[:, None], projections=2, value_queries=data.n)


UNIT = Problem(HalfSquaredDistance(1.0), Ball(1, 1.0))
DATA = Dataset(np.linspace(-0.9, 0.7, 12)[:, None], np.ones(12))


def asked(epsilon: float, zeta: float | None = None) -> Line:
    return Line(float(np.mean(DATA.features)), 12, 12, 2.0, 1.0, (epsilon / 2, epsilon / 2), zeta)


def distance(
    algorithm: Localization, law: Line, data: Dataset = DATA, runs: int = RUNS, seed: int = 5
) -> float:
    """Kolmogorov distance, in units of what a test at level FALSE_ALARM rejects (Dvoretzky-Kiefer-Wolfowitz)."""
    points = np.sort(run(algorithm, data, runs=runs, seed=seed).points[:, 0])
    places = points[:: runs // 400]
    right = law.distribution(places)
    below = np.searchsorted(points, places, side="left") / runs
    at = np.searchsorted(points, places, side="right") / runs
    found = float(np.max(np.maximum(below - right, right - at)))
    return found / math.sqrt(math.log(2 / FALSE_ALARM) / (2 * runs))


@pytest.mark.parametrize("zeta", [None, 1.2])
@pytest.mark.parametrize("epsilon", [2.0, 12.0])
def test_the_law_with_an_independent_sampler(epsilon: float, zeta: float | None) -> None:
    algorithm = Localization(UNIT, epsilon, solver=CutNormals(epsilon / 2, UNIT), zeta=zeta)
    assert distance(algorithm, asked(epsilon, zeta)) < 1


@pytest.mark.parametrize(("epsilon", "zeta"), [(2.0, None), (12.0, 1.2)])
def test_the_law_with_algorithm_2(epsilon: float, zeta: float | None) -> None:
    assert distance(Localization(UNIT, epsilon, zeta=zeta), asked(epsilon, zeta)) < 1


@pytest.mark.parametrize(
    "faulty",
    [
        Localization(UNIT, 12.0, zeta=1.2, localization_share=0.9),
        Localization(UNIT, 12.0, zeta=1.5),
        Localization(UNIT, 12.0, zeta=1.2, solver=CutNormals(12.0, UNIT), withdraw_guarantee=True),
        Localization(UNIT, 24.0, zeta=1.2),
    ],
    ids=["split", "radius", "epsilon for the sampler", "epsilon for both"],
)
def test_other_laws_are_seen(faulty: Localization) -> None:
    assert distance(faulty, asked(12.0, 1.2)) > 1


def test_the_law_with_algorithm_7() -> None:
    """Within exp(epsilon_2 / 3), and so is the mixture over theta_0; the density has a third of epsilon_2 too."""
    data = Dataset(np.linspace(-0.9, 0.7, 5)[:, None], np.ones(5))
    algorithm = Localization(UNIT, 6.0, solver="efficient-exponential-sampling", zeta=1.2)
    (stated,) = algorithm.guarantees(5)
    assert stated.guarantee == PureDP(6.0)
    law = Line(float(np.mean(data.features)), 5, 5, 2.0, 1.0, (3.0, 1.0), 1.2)
    points = run(algorithm, data, runs=3000, seed=5).points[:, 0]
    found = audit_law(
        points,
        blind=None,
        reference=lambda x: law.distribution(np.asarray(x)),
        distance="multiplicative",
        bound=1.0,
        failure_probability=FALSE_ALARM,
        reference_error=1e-3,
    )
    assert found.verdict is not Verdict.VIOLATED
    # on this grid it is far closer than it has to be: the law itself is not rejected either
    assert found.measured.lower == 0.0
    other = Line(float(np.mean(data.features)), 5, 5, 2.0, 1.0, (3.0, 24.0), 1.2)
    assert stats.kstest(points, lambda x: other.distribution(np.asarray(x))).pvalue < FALSE_ALARM


def test_too_few_steps_of_algorithm_7_are_refused() -> None:
    algorithm = Localization(UNIT, 6.0, solver="efficient-exponential-sampling", steps=100)
    assert not algorithm.guarantees(5)
    assert algorithm.risk_bound(5) is None
    with pytest.raises(NotGuaranteedError, match="the solver"):
        algorithm(DATA, rng=Randomness(0), runs=2)
    withdrawn = replace(algorithm, withdraw_guarantee=True)
    points = np.asarray(withdrawn(DATA, rng=Randomness(0), runs=2).points)
    assert points.shape == (2, 1)


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Box.cube(2, 0.7)], ids=["ball", "box"])
def test_points_are_in_the_ball_and_the_set(constraint: Any) -> None:
    problem = Problem(Ridge.on(constraint, Logistic(), 0.8), constraint)
    rng = np.random.default_rng(2)
    features = rng.normal(size=(20, 2))
    data = Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=20)))
    algorithm = Localization(problem, 8.0, zeta=1.1)
    for xp in (np, array_api_strict):
        draws = Randomness(3, xp=xp)
        output = algorithm(data.as_namespace(xp), rng=draws, runs=200)
        points = np.asarray(output.points)
        # Algorithm 3 comes first, so the same seed gives it the same centers
        centers = np.asarray(algorithm.localizer(data, rng=Randomness(3), runs=200).points)
        assert np.all(BallIntersections(constraint, centers, algorithm.radius(20)).contains(points))
        assert np.all(np.asarray(output.value_queries) > 0)
        if xp is np:
            ours = points
    assert np.max(np.abs(ours - points)) <= 1e-12


@pytest.mark.parametrize("d", [1, 2, 6])
def test_nothing_to_localize(d: int) -> None:
    """With a ball about all of C, it is Algorithm 2 with its part of epsilon."""
    ball = Ball(d, 1.0)
    problem = Problem(HalfSquaredDistance.on(ball), ball)
    data = Dataset(np.linspace(-0.6, 0.7, 12 * d).reshape(12, d) / math.sqrt(max(1, d / 2)), np.ones(12))
    local = Localization(problem, 12.0, zeta=1e6)
    ours = run(local, data, runs=RUNS, seed=6).points
    theirs = run(ExponentialSampling(problem, 6.0), data, runs=RUNS, seed=7).points
    assert min(stats.ks_2samp(ours[:, i], theirs[:, i]).pvalue for i in range(d)) * d > FALSE_ALARM
    other = run(ExponentialSampling(problem, 12.0), data, runs=RUNS, seed=8).points
    assert min(stats.ks_2samp(ours[:, i], other[:, i]).pvalue for i in range(d)) * d < FALSE_ALARM


def test_quadratic_losses_on_a_ball_run_in_any_dimension() -> None:
    """With as many gradients for all data sets, and no refusal by the sampler, which would depend on the records."""
    ball = Ball(30, 1.0)
    rng = np.random.default_rng(1)
    features = rng.normal(size=(200, 30))
    features /= np.linalg.norm(features, axis=1)[:, None]
    labels = np.sign(features[:, 0])
    for loss, points in ((HalfSquaredDistance.on(ball), 2), (Ridge.on(ball, Squared.on(ball), 0.5), 31)):
        algorithm = Localization(Problem(loss, ball), 4.0)
        data = Dataset(features, labels)
        output = algorithm(data, rng=Randomness(3), runs=300)
        centers = algorithm.localizer(data, rng=Randomness(3), runs=300)
        radius = algorithm.radius(200)
        assert np.all(BallIntersections(ball, np.asarray(centers.points), radius).contains(output.points))
        asked = np.asarray(output.gradient_queries) - np.asarray(centers.gradient_queries)
        assert np.all(asked == 200 * points)
        (stated,) = algorithm.solver_at(200).guarantees(200)
        assert [condition.kind for condition in stated.conditions] == [ConditionKind.GIVEN_INPUT]
    cells = Localization(Problem(Ridge.on(Ball(2, 1.0), Logistic(), 0.8), Ball(2, 1.0)), 4.0)
    (stated,) = cells.solver_at(200).guarantees(200)
    assert ConditionKind.NEVER_REFUSED in [condition.kind for condition in stated.conditions]


def test_the_risk_is_below_its_bound_and_the_ball_helps() -> None:
    """Theorem 4.3 with the constant of its proof: 96 p^2 L^2 ln n / (n Delta epsilon^2), and the slack."""
    n, epsilon = 100, 8.0
    ball = Ball(2, 1.0)
    problem = Problem(HalfSquaredDistance.on(ball), ball)
    data = Dataset(np.linspace(-0.6, 0.7, 2 * n).reshape(n, 2), np.ones(n))
    least = n * minimize(problem, data).value.lower
    local = Localization(problem, epsilon)
    risks = [
        float(np.mean(np.asarray(problem.total_risk(run(one, data, runs=2000, seed=9).points, data)))) - least
        for one in (local, ExponentialSampling(problem, epsilon))
    ]
    stated = local.risk_bound(n)
    assert stated is not None
    assert stated.total
    # the gradients of this loss differ by L = 2 at most, not 2 L, which halves the ball
    missed = n * 2 * 2 * special.gammaincc(2, 2 * 3 * math.log(n))
    diameter = 2 * (3 * math.log(n) * 2 * 1.01 + 0.01 / 2 * epsilon / 2) * 2 / (n * epsilon / 2)
    assert stated.bound == pytest.approx(2 * 2 * 2 * diameter / (epsilon / 2) + missed, rel=1e-9)
    assert stated.bound < 96 * 4 * 4 * math.log(n) / (n * epsilon**2) * 1.02 + missed
    assert risks[0] < stated.bound
    assert risks[0] < 0.7 * risks[1]


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("problem", {"problem": 1}),
        ("problem", {"problem": Problem(Logistic(), Ball(2, 1.0))}),
        ("problem", {"problem": Problem(HalfSquaredDistance(math.inf), AllSpace(2))}),
        ("problem", {"problem": Problem(Ridge.on(Ball(4, 1.0), Logistic(), 1.0), Ball(4, 1.0))}),
        ("problem", {"problem": Problem(HalfSquaredDistance.on(Box.cube(4, 1.0)), Box.cube(4, 1.0))}),
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": math.nan}),
        ("epsilon", {"epsilon": True}),
        ("solver", {"solver": "sgd"}),
        ("solver", {"solver": None}),
        ("steps", {"steps": 0, "solver": "efficient-exponential-sampling"}),
        ("steps", {"steps": 5}),
        ("zeta", {"zeta": 1.0}),
        ("slack", {"slack": 0.0}),
        ("localization_share", {"localization_share": 1.0}),
        ("withdraw_guarantee", {"withdraw_guarantee": 0}),
    ],
)
def test_bad_parameters(argument: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=argument):
        Localization(**{"problem": UNIT, "epsilon": 1.0, **options})


def test_counts_and_guarantee_with_an_independent_sampler() -> None:
    algorithm = Localization(UNIT, 4.0, solver=CutNormals(2.0, UNIT))
    stated = algorithm.risk_bound(12)
    assert stated is not None
    assert stated.theorem is not None  # the solver's own, which is three times the other
    inside = 2 * 2 * algorithm.local_diameter(12) / 2.0
    assert stated.theorem - stated.bound == pytest.approx(2 * inside, rel=1e-12)
    output = algorithm(DATA, rng=Randomness(0), runs=5)
    assert np.all(np.asarray(output.projections) == 3)
    assert [(one.oracle, one.count) for one in algorithm.queries(12)] == [("projection", 3)]
    (stated,) = algorithm.guarantees(12)
    assert (stated.guarantee, stated.adjacency) == (PureDP(4.0), Adjacency.REPLACE_ONE)


def test_a_sampler_with_all_of_epsilon_voids_the_guarantee() -> None:
    algorithm: Any = Localization(UNIT, 4.0, solver=CutNormals(4.0, UNIT))
    assert not algorithm.guarantees(12)
    assert algorithm.withdrawn(12) == ("the solver does not claim to be 2-DP for all of 12 records",)


def privacy_loss(epsilons: tuple[float, float], zeta: float | None, n: int, weight: float) -> float:
    """Largest log ratio of the densities for opposite linear losses with a ridge, whose minimizers are -+1/(n w)."""
    x = np.linspace(-1, 1, 801)
    left, right = (
        Line(sign / (n * weight), n * weight, n, 1 + weight, weight, epsilons, zeta).density(x)
        for sign in (-1, 1)
    )
    seen = (left > 0) & (right > 0)
    return float(np.max(np.abs(np.log(left[seen] / right[seen]))))


@pytest.mark.parametrize(("zeta", "n", "weight"), [(None, 8, 0.6), (1.1, 8, 0.3), (1.1, 4, 0.6)])
def test_the_exact_privacy_loss(zeta: float | None, n: int, weight: float) -> None:
    """At most epsilon = 4 with the budget split, and more with all of it for both steps."""
    assert privacy_loss((2.0, 2.0), zeta, n, weight) <= 4
    assert privacy_loss((4.0, 4.0), zeta, n, weight) > 4


def test_the_law_is_that_of_the_pair_above() -> None:
    """So that the exact loss is about the implementation: the ridge's line, left data set."""
    problem = Problem(Ridge.on(Ball(1, 1.0), Linear(), 0.6), Ball(1, 1.0))
    pair = opposite_linear(8, 1, 8)
    algorithm = Localization(problem, 4.0)
    law = Line(-1 / 4.8, 4.8, 8, 1.6, 0.6, (2.0, 2.0))
    assert distance(algorithm, law, pair.left) < 1


@pytest.mark.parametrize(("spent", "verdict"), [(4.0, Verdict.SUPPORTED), (8.0, Verdict.VIOLATED)])
def test_a_privacy_audit_sees_a_budget_that_was_not_split(spent: float, verdict: Verdict) -> None:
    problem = Problem(Ridge.on(Ball(1, 1.0), Linear(), 0.3), Ball(1, 1.0))
    pair = opposite_linear(8, 1, 8)
    algorithm = Localization(problem, spent, zeta=1.1)
    left, right = (
        run(algorithm, data, runs=400_000, seed=(1, side)).points
        for side, data in enumerate((pair.left, pair.right))
    )
    found = audit_privacy(
        left, right, PureDP(4.0), adjacency="replace-one", failure_probability=FALSE_ALARM, seed=0
    )
    assert found.verdict is verdict
