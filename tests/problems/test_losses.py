"""One suite for all losses on all constraint sets, and what is particular to one."""

from __future__ import annotations

import math
from collections.abc import Callable

import array_api_strict
import mpmath
import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    Ball,
    ConstraintSet,
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    GeneralizedLinear,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Ridge,
    Squared,
    gradient_sensitivity,
    is_generalized_linear,
    label_range,
)

RUNS = 7
Make = Callable[[Loss, int], Dataset]


def points(constraint: ConstraintSet, rng: np.random.Generator, runs: int = RUNS) -> np.ndarray:
    return np.array(constraint.project(rng.standard_normal((runs, constraint.dimension))))


class TestEveryLoss:
    def test_is_a_loss_with_ordered_constants(self, loss: Loss) -> None:
        assert isinstance(loss, Loss)
        assert 0.0 <= loss.strong_convexity <= loss.smoothness
        assert 0.0 <= gradient_sensitivity(loss) <= 2.0 * loss.lipschitz_constant

    def test_shapes_for_one_record_and_for_one_a_run(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        w, data = points(constraint, rng), make_data(loss, RUNS)
        for x, y in ((data.features[0], data.labels[0]), (data.features, data.labels)):
            assert loss.value(w, x, y).shape == (RUNS,)
            assert loss.gradient(w, x, y).shape == w.shape

    def test_batch_equals_loop(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        w, data = points(constraint, rng), make_data(loss, RUNS)
        values = loss.value(w, data.features, data.labels)
        gradients = loss.gradient(w, data.features, data.labels)
        for i in range(RUNS):
            x, y = data.features[i], data.labels[i]
            np.testing.assert_allclose(loss.value(w[i : i + 1], x, y)[0], values[i], rtol=1e-13, atol=1e-15)
            np.testing.assert_allclose(
                loss.gradient(w[i : i + 1], x, y)[0], gradients[i], rtol=1e-13, atol=1e-15
            )

    def test_memory_layout_does_not_matter(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        w, data = points(constraint, rng), make_data(loss, 1)
        x, y = data.features[0], data.labels[0]
        columns = np.asfortranarray(w)
        np.testing.assert_allclose(loss.value(columns, x, y), loss.value(w, x, y), rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(
            loss.gradient(columns, x, y), loss.gradient(w, x, y), rtol=1e-13, atol=1e-15
        )

    def test_gradient_is_the_derivative(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        # Central differences with step 1e-5 err by about 1e-10; the points lie apart from the kinks.
        w, data = points(constraint, rng, 200), make_data(loss, 200)
        x, y = data.features, data.labels
        margin = np.abs(1.0 - y * np.sum(w * x, axis=1))
        smooth = (margin > 1e-3) & (np.linalg.norm(w - x, axis=1) > 1e-2)
        w, x, y = w[smooth], x[smooth], y[smooth]
        assert len(w) > 150
        direction = rng.standard_normal(w.shape)
        step = 1e-5
        slope = (loss.value(w + step * direction, x, y) - loss.value(w - step * direction, x, y)) / (2 * step)
        np.testing.assert_allclose(np.sum(loss.gradient(w, x, y) * direction, axis=1), slope, atol=1e-7)

    def test_agrees_with_the_array_standard(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        w, data = points(constraint, rng), make_data(loss, RUNS)
        strict = data.as_namespace(array_api_strict)
        there = array_api_strict.asarray(w)
        for x, y, sx, sy in (
            (data.features, data.labels, strict.features, strict.labels),
            (data.features[0], data.labels[0], strict.features[0, :], strict.labels[0]),
        ):
            value, gradient = loss.value(there, sx, sy), loss.gradient(there, sx, sy)
            np.testing.assert_allclose(np.asarray(value), loss.value(w, x, y), rtol=1e-13, atol=1e-15)
            np.testing.assert_allclose(np.asarray(gradient), loss.gradient(w, x, y), rtol=1e-13, atol=1e-15)

    def test_keeps_single_precision(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        w, data = points(constraint, rng).astype(np.float32), make_data(loss, RUNS)
        x, y = data.features.astype(np.float32), data.labels.astype(np.float32)
        for one, label in ((x, y), (x[0], y[0])):
            assert loss.value(w, one, label).dtype == np.float32
            assert loss.gradient(w, one, label).dtype == np.float32

    def test_gradients_are_owned_and_arguments_untouched(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        w, data = points(constraint, rng), make_data(loss, RUNS)
        before = w.copy()
        for x, y in ((data.features, data.labels), (data.features[0], data.labels[0])):
            loss.value(w, x, y)
            gradient = loss.gradient(w, x, y)
            gradient += 1.0
            assert np.array_equal(w, before)

    def test_slopes_give_the_gradient(
        self, loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
    ) -> None:
        if not is_generalized_linear(loss):
            assert not hasattr(loss, "slope") or isinstance(loss, Ridge)
            return
        assert isinstance(loss, GeneralizedLinear | Ridge)
        w, data = points(constraint, rng), make_data(loss, RUNS)
        for x, y in ((data.features, data.labels), (data.features[0], data.labels[0])):
            slopes = loss.slope(w, x, y)
            assert slopes.shape == (RUNS,)
            np.testing.assert_allclose(
                slopes[:, None] * x + loss.ridge * w, loss.gradient(w, x, y), rtol=1e-13, atol=1e-15
            )

    @pytest.mark.parametrize(
        ("w_shape", "x_shape"), [((4,), (4,)), ((3, 4), (3,)), ((3, 4), (2, 4)), ((3, 4), (5,))]
    )
    def test_refuses_shapes_that_do_not_fit(
        self, loss: Loss, w_shape: tuple[int, ...], x_shape: tuple[int, ...]
    ) -> None:
        w, x, y = np.zeros(w_shape), np.zeros(x_shape), np.float64(1.0)
        for method in (loss.value, loss.gradient):
            with pytest.raises(InvalidArgumentError, match="shape"):
                method(w, x, y)


def test_logistic_is_stable_and_accurate_at_all_margins() -> None:
    margins = np.array([-1e300, -1e6, -800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0, 800.0, 1e6])
    w, x = margins[:, None], np.array([1.0])
    for y in (np.float64(1.0), np.float64(-1.0)):
        value, slope = Logistic().value(w, x, y), Logistic().slope(w, x, y)
        for i, margin in enumerate(float(y) * margins):
            if abs(margin) > 1e5:
                exact, derivative = max(0.0, -margin), -1.0 if margin < 0 else 0.0
            else:
                exact = float(mpmath.log1p(mpmath.exp(-margin)))
                derivative = -float(1 / (1 + mpmath.exp(mpmath.mpf(margin))))
            assert value[i] == pytest.approx(exact, rel=1e-14, abs=1e-307)
            assert slope[i] == pytest.approx(float(y) * derivative, rel=1e-14, abs=1e-307)


def test_logistic_in_single_precision_does_not_overflow() -> None:
    w = np.array([[-1e30], [1e30]], dtype=np.float32)
    slope = Logistic().slope(w, np.ones(1, dtype=np.float32), np.float32(1.0))
    np.testing.assert_allclose(slope, [-1.0, 0.0], atol=1e-30)


def test_euclidean_distance_at_a_record_has_subgradient_zero() -> None:
    x = np.array([0.5, 0.5])
    assert np.array_equal(EuclideanDistance().gradient(x[None, :], x, np.float64(0)), np.zeros((1, 2)))


def test_hinge_at_the_kink_has_subgradient_zero() -> None:
    w, x = np.array([[1.0], [0.999], [1.001]]), np.array([1.0])
    assert Hinge().slope(w, x, np.float64(1)).tolist() == [0.0, -1.0, 0.0]


def test_a_step_of_size_one_on_the_half_squared_distance_lands_on_the_record(
    rng: np.random.Generator,
) -> None:
    w, x = rng.standard_normal((5, 3)), np.array([0.1, 0.2, -0.3])
    for loss in (HalfSquaredDistance(math.inf), ContractOrDrift(math.inf)):
        after = w - loss.gradient(w, x, np.float64(1.0))
        np.testing.assert_allclose(after, np.broadcast_to(x, (5, 3)), atol=1e-15)


LINKS: dict[str, GeneralizedLinear] = {
    "logistic": Logistic(),
    "hinge": Hinge(),
    "squared": Squared(1.0),
    "linear": Linear(),
    "labeled-linear": Linear(labeled=True),
}


@pytest.mark.parametrize("name", list(LINKS))
@pytest.mark.parametrize("y", [-1.0, 1.0])
class TestConjugates:
    def test_against_the_definition_on_a_grid(self, name: str, y: float) -> None:
        # The supremum over a grid of spacing 1e-3 is too low by at most 1e-3 times a slope of 1.95.
        link, z = LINKS[name], np.linspace(-30.0, 30.0, 60001)
        values = link.link(z, np.float64(y))
        for a in np.linspace(-0.95, 0.95, 13):
            dual = float(link.nearest_dual(np.array([a]), np.array([y]))[0])
            on_grid = float(np.max(dual * z - values))
            conjugate = float(link.link_conjugate(np.array([dual]), np.array([y]))[0])
            assert on_grid - 1e-12 <= conjugate <= on_grid + 2e-3

    def test_fenchel_young_is_an_equality_at_the_slope(self, name: str, y: float) -> None:
        link, z, labels = LINKS[name], np.linspace(-3.0, 3.0, 41), np.full(41, y)
        a = link.link_slope(z, labels)
        np.testing.assert_allclose(link.link_conjugate(a, labels), a * z - link.link(z, labels), atol=1e-14)

    def test_infinite_outside_the_domain(self, name: str, y: float) -> None:
        outside = LINKS[name].link_conjugate(np.array([1.5, -1.5]), np.array([y, y]))
        assert np.all(np.isinf(outside)) != (name == "squared")


@pytest.mark.parametrize("loss", [EuclideanDistance(), HalfSquaredDistance(2.0)])
def test_displacement_conjugates_are_tight_upper_bounds(
    loss: EuclideanDistance | HalfSquaredDistance, rng: np.random.Generator
) -> None:
    x, a = 0.5 * rng.standard_normal((30, 3)), loss.nearest_dual(2.0 * rng.standard_normal((30, 3)))
    conjugate = loss.conjugate(a, x)
    y = np.zeros(30)
    for _ in range(200):
        w = 3.0 * rng.standard_normal((30, 3))
        assert np.all(np.sum(a * w, axis=1) - loss.value(w, x, y) <= conjugate + 1e-12)
    # <a, w> - f(w) is largest at w = x + a for the square, and at w = x for the distance.
    best = x + a if isinstance(loss, HalfSquaredDistance) else x
    np.testing.assert_allclose(np.sum(a * best, axis=1) - loss.value(best, x, y), conjugate, atol=1e-13)


def test_euclidean_distance_conjugate_is_infinite_outside_the_unit_ball() -> None:
    a = np.array([[1.1, 0.0], [0.6, 0.8]])
    assert np.isinf(EuclideanDistance().conjugate(a, np.zeros((2, 2)))).tolist() == [True, False]


def test_ridge_adds_to_all_constants_but_the_sensitivity() -> None:
    ball = Ball(3, 2.0)
    ridge = Ridge.on(ball, Logistic(), 0.5)
    assert (ridge.lipschitz_constant, ridge.smoothness, ridge.strong_convexity) == (2.0, 0.75, 0.5)
    assert gradient_sensitivity(ridge) == 2.0
    assert Ridge.on(ball, HalfSquaredDistance.on(ball), 0.5).strong_convexity == 1.5
    assert not Ridge.on(ball, EuclideanDistance(), 0.5).generalized_linear
    with pytest.raises(InvalidArgumentError, match="generalized linear"):
        Ridge.on(ball, EuclideanDistance(), 0.5).slope(np.zeros((1, 3)), np.zeros(3), np.float64(1))


def test_half_squared_distance_knows_a_smaller_sensitivity() -> None:
    assert gradient_sensitivity(HalfSquaredDistance(10.0)) == 2.0
    assert gradient_sensitivity(Squared(10.0)) == 22.0


def test_label_ranges() -> None:
    assert label_range(ContractOrDrift(1.0)) == (0.0, 1.0)
    assert label_range(Ridge(ContractOrDrift(1.0), 0.1, 1.0)) == (0.0, 1.0)
    assert label_range(Logistic()) == (-1.0, 1.0)


@pytest.mark.parametrize("bad", [math.nan, 0.0, -0.0, -1.0, -math.inf, True, "1", None])
def test_bad_radius(bad: object) -> None:
    for kind in (Squared, HalfSquaredDistance, ContractOrDrift):
        with pytest.raises(InvalidArgumentError, match="radius"):
            kind(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0, True, "1", None])
def test_bad_ridge(bad: object) -> None:
    with pytest.raises(InvalidArgumentError, match="weight"):
        Ridge(Logistic(), bad, 1.0)  # type: ignore[arg-type]


def test_bad_ridge_base() -> None:
    for bad in (Ridge(Logistic(), 1.0, 1.0), object(), "logistic"):
        with pytest.raises(InvalidArgumentError, match="base"):
            Ridge(bad, 1.0, 1.0)  # type: ignore[arg-type]


def test_bad_linear() -> None:
    with pytest.raises(InvalidArgumentError, match="labeled"):
        Linear(labeled=1)  # type: ignore[arg-type]
