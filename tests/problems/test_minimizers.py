"""Certified minimizers against closed forms, independent solvers and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    CertifiedMinimum,
    ConstraintSet,
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Simplex,
    Squared,
    certify,
    load,
    minimize,
)
from dpverify.problems.minimizers import fenchel_bound, first_order_bound

REAL = ["breast-cancer", "diabetes", "digits"]


def real_data(name: str, d: int = 5) -> Dataset:
    """80 records; the progression of diabetes is cut at 0 to give two classes."""
    data = load(name, n=80, d=d, seed=1)
    return Dataset(data.features, np.where(data.labels > 0.0, 1.0, -1.0), data.name, data.scaling)


def holds(minimum: CertifiedMinimum, value: float, room: float = 1e-12) -> bool:
    return minimum.value.lower - room <= value <= minimum.value.upper + room


def test_every_loss_on_every_set_is_minimized_up_to_a_millionth(
    loss: Loss, constraint: ConstraintSet, make_data: Callable[[Loss, int], Dataset]
) -> None:
    data, problem = make_data(loss, 40), Problem(loss, constraint)
    minimum = minimize(problem, data)
    assert bool(constraint.contains(minimum.point[None, :])[0])
    assert minimum.duality_gap == minimum.value.upper - minimum.value.lower >= 0.0
    assert minimum.value.rigorous
    attained = float(problem.mean_risk(minimum.point[None, :], data)[0])
    assert attained == pytest.approx(minimum.value.upper, abs=1e-11)
    if isinstance(constraint, AllSpace) and isinstance(loss, Linear | ContractOrDrift):
        assert minimum.value.lower == -math.inf
    else:
        assert minimum.duality_gap < 1e-6


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("kind", ["logistic", "hinge", "squared", "distance", "half-squared", "ridge"])
class TestRealData:
    def problem(self, kind: str, d: int) -> Problem:
        ball = Ball(d, 2.0)
        losses: dict[str, Loss] = {
            "logistic": Logistic(),
            "hinge": Hinge(),
            "squared": Squared.on(ball),
            "distance": EuclideanDistance(),
            "half-squared": HalfSquaredDistance.on(ball),
            "ridge": Ridge.on(ball, Logistic(), 0.05),
        }
        return Problem(losses[kind], ball)

    def test_gap(self, name: str, kind: str) -> None:
        problem, data = self.problem(kind, 5), real_data(name)
        assert minimize(problem, data, largest_gap=1e-6).duality_gap < 1e-6

    def test_against_scipy(self, name: str, kind: str) -> None:
        problem, data = self.problem(kind, 5), real_data(name)
        minimum = minimize(problem, data)
        value = slow_minimum(problem, data)
        # The slow solver's point is feasible, so it cannot win, and it stops within 1e-6 of the minimum.
        assert minimum.value.lower <= value <= minimum.value.upper + 1e-6

    def test_no_point_is_better(self, name: str, kind: str, rng: np.random.Generator) -> None:
        problem, data = self.problem(kind, 5), real_data(name)
        minimum = minimize(problem, data)
        steps = 10.0 ** rng.uniform(-4, 0.5, (3000, 1)) * rng.standard_normal((3000, 5))
        risks = problem.mean_risk(problem.constraint.project(minimum.point + steps), data)
        assert float(np.min(risks)) >= minimum.value.lower

    def test_a_moved_point_only_widens_the_interval(
        self, name: str, kind: str, rng: np.random.Generator
    ) -> None:
        problem, data = self.problem(kind, 5), real_data(name)
        best = minimize(problem, data)
        for size in (1e-3, 1e-2, 0.1, 1.0):
            moved = certify(problem, data, best.point + size * rng.standard_normal(5))
            assert moved.value.lower <= best.value.upper
            assert moved.value.upper >= best.value.lower
            assert moved.duality_gap > best.duality_gap


def slow_minimum(problem: Problem, data: Dataset) -> float:
    """Smallest mean risk on a ball about 0 by SciPy, written from the definition of each loss."""
    loss, ball = problem.loss, problem.constraint
    assert isinstance(ball, Ball)
    x, y, n, d = data.features, data.labels, data.n, data.d

    def risk(w: np.ndarray) -> float:
        z = x @ w
        if isinstance(loss, Squared):
            return float(np.mean((z - y) ** 2) / 2)
        if isinstance(loss, HalfSquaredDistance):
            return float(np.mean(np.sum((w - x) ** 2, axis=1)) / 2)
        if isinstance(loss, EuclideanDistance):
            return float(np.mean(np.sqrt(np.sum((w - x) ** 2, axis=1))))
        ridge = 0.025 * float(w @ w) if isinstance(loss, Ridge) else 0.0
        return float(np.mean(np.log1p(np.exp(-y * z)))) + ridge

    inside = {"type": "ineq", "fun": lambda v: ball.radius**2 - np.sum(v[:d] ** 2)}
    if isinstance(loss, Hinge):
        # Variables (w, t): minimize mean t with t >= 0 and t >= 1 - y <w, x>.
        above = {"type": "ineq", "fun": lambda v: v[d:] - 1 + y * (x @ v[:d])}
        start = np.concatenate([np.zeros(d), np.ones(n)])
        result = optimize.minimize(
            lambda v: np.mean(v[d:]),
            start,
            jac=lambda v: np.concatenate([np.zeros(d), np.full(n, 1 / n)]),
            bounds=[(None, None)] * d + [(0, None)] * n,
            constraints=[inside, above],
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-10},
        )
        w = result.x[:d] / max(1.0, np.linalg.norm(result.x[:d]) / ball.radius)
        return float(np.mean(np.maximum(0.0, 1 - y * (x @ w))))
    result = optimize.minimize(
        risk, np.zeros(d), constraints=[inside], method="SLSQP", options={"maxiter": 500, "ftol": 1e-13}
    )
    return risk(result.x / max(1.0, np.linalg.norm(result.x) / ball.radius))


class TestClosedForms:
    def test_half_squared_distance_is_minimized_by_the_mean(self) -> None:
        data = real_data("digits")
        for constraint in (AllSpace(5), Ball(5, 10.0)):
            minimum = minimize(Problem(HalfSquaredDistance.on(constraint), constraint), data)
            mean = data.features.mean(axis=0)
            assert holds(minimum, 0.5 * float(np.mean(np.sum((data.features - mean) ** 2, axis=1))))
            np.testing.assert_allclose(minimum.point, mean, atol=1e-5)

    def test_linear_on_a_ball(self) -> None:
        data, ball = real_data("breast-cancer"), Ball(5, 0.7, (0.1, 0.0, 0.0, 0.0, 0.2))
        mean = data.features.mean(axis=0)
        minimum = minimize(Problem(Linear(), ball), data)
        assert holds(minimum, float(mean @ ball.center()) - 0.7 * float(np.linalg.norm(mean)))

    def test_linear_on_a_simplex_and_a_box(self) -> None:
        data = real_data("breast-cancer")
        mean = data.features.mean(axis=0)
        assert holds(minimize(Problem(Linear(), Simplex(5, 2.0)), data), 2.0 * float(mean.min()))
        assert holds(minimize(Problem(Linear(), Box.cube(5, 0.5)), data), -0.5 * float(np.abs(mean).sum()))

    def test_median_in_one_dimension(self) -> None:
        x = np.sort(np.random.default_rng(0).uniform(-1, 1, 41))
        minimum = minimize(Problem(EuclideanDistance(), AllSpace(1)), Dataset(x[:, None], np.zeros(41)))
        assert holds(minimum, float(np.mean(np.abs(x - x[20]))))
        assert minimum.duality_gap < 1e-7
        assert minimum.point[0] == pytest.approx(x[20], abs=1e-5)

    def test_median_where_it_is_a_record(self) -> None:
        x = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        minimum = minimize(Problem(EuclideanDistance(), AllSpace(2)), Dataset(x, np.zeros(4)))
        assert holds(minimum, 0.5)
        assert minimum.duality_gap < 1e-7

    def test_median_of_a_triangle(self) -> None:
        angles = np.array([0.0, 2 * np.pi / 3, 4 * np.pi / 3])
        corners = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        minimum = minimize(Problem(EuclideanDistance(), AllSpace(2)), Dataset(corners, np.zeros(3)))
        assert holds(minimum, 1.0)

    def test_least_squares_on_all_space(self) -> None:
        data = load("diabetes", n=60, seed=3)
        residual = np.linalg.lstsq(data.features, data.labels, rcond=None)[1][0]
        minimum = minimize(Problem(Squared(math.inf), AllSpace(10)), data)
        assert holds(minimum, 0.5 * float(residual) / 60)
        assert minimum.duality_gap < 1e-10

    def test_one_logistic_record_on_a_ball(self) -> None:
        minimum = minimize(Problem(Logistic(), Ball(2, 3.0)), Dataset([[0.6, 0.8]], [1.0]))
        assert holds(minimum, math.log1p(math.exp(-3.0)))

    def test_hinge_as_a_linear_program(self) -> None:
        data, box = real_data("digits"), Box.cube(5, 1.5)
        n, d, x, y = data.n, data.d, data.features, data.labels
        program = optimize.linprog(
            np.concatenate([np.zeros(d), np.full(n, 1 / n)]),
            A_ub=np.hstack([-y[:, None] * x, -np.eye(n)]),
            b_ub=-np.ones(n),
            bounds=[(-1.5, 1.5)] * d + [(0, None)] * n,
        )
        assert holds(minimize(Problem(Hinge(), box), data), program.fun, 1e-9)

    def test_separable_classes_have_no_logistic_minimizer(self) -> None:
        # The infimum is 0 and not attained: the interval must still hold it.
        data = Dataset([[1.0], [-1.0]], [1.0, -1.0])
        minimum = minimize(Problem(Logistic(), AllSpace(1)), data)
        assert holds(minimum, 0.0)
        assert minimum.value.lower <= 0.0 < minimum.value.upper


def test_no_minimum_is_an_infinite_interval_or_refused() -> None:
    problem, data = Problem(Linear(), AllSpace(5)), real_data("digits")
    assert minimize(problem, data).value.lower == -math.inf
    with pytest.raises(InvalidDataError, match="duality gap of inf"):
        minimize(problem, data, largest_gap=1.0)


@dataclass(frozen=True)
class PseudoHuber:
    """A user's loss, unknown to the program: sqrt(1 + ||w - x||^2)."""

    lipschitz_constant: float = 1.0
    smoothness: float = 1.0
    strong_convexity: float = 0.0

    def value(self, w: Any, x: Any, y: Any) -> Any:
        return np.sqrt(1.0 + np.sum((w - x) ** 2, axis=1))

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        return (w - x) / self.value(w, x, y)[:, None]


def test_a_loss_that_no_solver_knows() -> None:
    data, problem = real_data("breast-cancer"), Problem(PseudoHuber(), Ball(5, 0.1))
    minimum = minimize(problem, data)
    assert minimum.duality_gap < 1e-7
    value = optimize.minimize(
        lambda w: float(problem.mean_risk(w[None, :], data)[0]),
        np.zeros(5),
        constraints=[{"type": "ineq", "fun": lambda w: 0.01 - w @ w}],
        method="SLSQP",
        options={"ftol": 1e-13},
    ).fun
    assert holds(minimum, value, 1e-7)


def test_an_unknown_loss_without_smoothness_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="finite smoothness"):
        minimize(Problem(PseudoHuber(smoothness=math.inf), Ball(5, 1.0)), real_data("digits"))


class TestDualBounds:
    @pytest.mark.parametrize("name", REAL)
    def test_any_dual_variables_give_a_lower_bound(self, name: str, rng: np.random.Generator) -> None:
        data, ball = real_data(name), Ball(5, 1.0)
        for loss in (
            Logistic(),
            Hinge(),
            Squared.on(ball),
            Ridge.on(ball, Hinge(), 0.1),
            EuclideanDistance(),
        ):
            problem = Problem(loss, ball)
            upper = minimize(problem, data).value.upper
            base = loss.base if isinstance(loss, Ridge) else loss
            for _ in range(50):
                if isinstance(base, EuclideanDistance):
                    dual = base.nearest_dual(rng.standard_normal((data.n, 5)))
                else:
                    assert isinstance(base, Logistic | Hinge | Squared)
                    dual = base.nearest_dual(rng.standard_normal(data.n), data.labels)
                bound = fenchel_bound(problem, data, np.asarray(dual))
                assert -math.inf < bound <= upper

    def test_any_point_gives_a_first_order_bound(self, rng: np.random.Generator) -> None:
        data, ball = real_data("diabetes"), Ball(5, 1.0)
        for loss in (
            Logistic(),
            Hinge(),
            Squared.on(ball),
            HalfSquaredDistance.on(ball),
            EuclideanDistance(),
        ):
            problem = Problem(loss, ball)
            upper = minimize(problem, data).value.upper
            for _ in range(50):
                point = ball.project(rng.standard_normal((1, 5)))[0]
                assert -math.inf < first_order_bound(problem, data, point) <= upper

    def test_variables_outside_the_domain_give_nothing(self) -> None:
        data = real_data("diabetes")
        assert fenchel_bound(Problem(Hinge(), Ball(5, 1.0)), data, np.full(80, 2.0)) == -math.inf

    def test_on_all_space_the_variables_must_cancel(self, rng: np.random.Generator) -> None:
        data = real_data("diabetes")
        dual = np.asarray(Hinge().nearest_dual(rng.standard_normal(80), data.labels))
        assert fenchel_bound(Problem(Hinge(), AllSpace(5)), data, dual) == -math.inf
        assert fenchel_bound(Problem(Hinge(), AllSpace(5)), data, np.zeros(80)) <= 0.0

    def test_a_disturbed_dual_widens_the_interval(self, rng: np.random.Generator) -> None:
        data, problem = real_data("digits"), Problem(Hinge(), Ball(5, 1.0))
        best = minimize(problem, data)
        good = np.asarray(Hinge().link_slope(data.features @ best.point, data.labels))
        disturbed = np.asarray(Hinge().nearest_dual(good + 0.1 * rng.standard_normal(80), data.labels))
        assert fenchel_bound(problem, data, disturbed) < best.value.lower

    def test_bad_duals(self) -> None:
        data, problem = real_data("digits"), Problem(Hinge(), Ball(5, 1.0))
        for bad in (np.zeros(79), np.zeros((80, 5)), np.full(80, math.nan)):
            with pytest.raises(InvalidArgumentError, match="dual"):
                certify(problem, data, np.zeros(5), (bad,))
        with pytest.raises(InvalidArgumentError, match="dual bound"):
            certify(Problem(PseudoHuber(), Ball(5, 1.0)), data, np.zeros(5), (np.zeros(80),))


class ShiftedConjugate(Logistic):
    """The conjugate is too small by 0.01, so that the dual bound is too large."""

    def link_conjugate(self, a: Any, y: Any) -> Any:
        return super().link_conjugate(a, y) - 0.01


class GenerousConjugate(Hinge):
    """The conjugate is too large by 0.01, so that the dual bound is too small."""

    def link_conjugate(self, a: Any, y: Any) -> Any:
        return super().link_conjugate(a, y) + 0.01


class MirroredConjugate(EuclideanDistance):
    """A conjugate with the sign of the record lost."""

    def conjugate(self, a: Any, x: Any) -> Any:
        return -super().conjugate(a, x)


class Boastful(HalfSquaredDistance):
    """Declares more strong convexity than it has."""

    strong_convexity = 1.5


class HalfGradient(Squared):
    """A gradient of half the size."""

    def link_slope(self, z: Any, y: Any) -> Any:
        return 0.5 * super().link_slope(z, y)


class TestPlantedFaults:
    def test_a_conjugate_that_is_too_small_is_a_contradiction(self) -> None:
        with pytest.raises(InvalidArgumentError, match="conjugate"):
            minimize(Problem(ShiftedConjugate(), Ball(5, 1.0)), real_data("digits"))

    def test_a_conjugate_that_is_too_large_shows_as_a_gap(self) -> None:
        problem, data = Problem(GenerousConjugate(), Ball(5, 9.0)), real_data("digits")
        assert minimize(Problem(Hinge(), Ball(5, 9.0)), data).duality_gap < 1e-6
        assert minimize(problem, data).duality_gap > 0.005
        with pytest.raises(InvalidDataError, match="duality gap"):
            minimize(problem, data, largest_gap=1e-6)

    def test_a_lost_sign_is_a_contradiction(self) -> None:
        data = real_data("digits")
        mean = data.features.mean(axis=0)
        away = mean + data.features
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        ball = Ball(5, 0.1, mean)
        certify(Problem(EuclideanDistance(), ball), data, mean, (away,))
        with pytest.raises(InvalidArgumentError, match="conjugate"):
            certify(Problem(MirroredConjugate(), ball), data, mean, (away,))

    def test_too_much_strong_convexity_is_a_contradiction(self) -> None:
        with pytest.raises(InvalidArgumentError, match="strong convexity"):
            minimize(Problem(Boastful(1.0), Ball(5, 1.0)), real_data("digits"))

    def test_a_wrong_gradient_is_a_contradiction(self) -> None:
        ball = Ball(5, 0.1)
        minimize(Problem(Squared.on(ball), ball), real_data("diabetes"))
        with pytest.raises(InvalidArgumentError, match="gradient"):
            minimize(Problem(HalfGradient.on(ball), ball), real_data("diabetes"))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, True, "1"])
def test_bad_largest_gap(bad: float) -> None:
    with pytest.raises(InvalidArgumentError, match="largest_gap"):
        minimize(Problem(Logistic(), Ball(5, 1.0)), real_data("digits"), largest_gap=bad)


def test_bad_data_and_points() -> None:
    problem = Problem(Logistic(), Ball(5, 1.0))
    with pytest.raises(InvalidArgumentError, match="5 features"):
        minimize(problem, load("digits", n=20))
    with pytest.raises(InvalidDataError, match="labels -1 and 1"):
        minimize(problem, load("diabetes", n=20, d=5))
    with pytest.raises(InvalidArgumentError, match="point"):
        certify(problem, real_data("digits"), np.zeros(4))


def test_the_point_cannot_be_written_to() -> None:
    minimum = minimize(Problem(Logistic(), Ball(5, 1.0)), real_data("digits"))
    with pytest.raises(ValueError, match="read-only"):
        minimum.point[0] = 1.0
