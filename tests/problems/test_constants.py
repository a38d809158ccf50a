"""Declared constants: true ones stand, and every planted lie is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import (
    Ball,
    ConstraintSet,
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Ridge,
    Squared,
    check_constants,
    gradient_sensitivity,
    load,
)

BALL = Ball(3, 1.0)


@dataclass(frozen=True)
class Declared:
    """A loss with constants of the tester's choice; also shows that a user's dataclass is a loss."""

    base: Loss
    lipschitz_constant: float
    smoothness: float
    strong_convexity: float
    gradient_sensitivity: float = math.inf
    gradient_factor: float = 1.0
    curvature: float = 0.0

    def value(self, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.base.value(w, x, y) + 0.5 * self.curvature * np.sum(w * w, axis=1))

    def gradient(self, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.gradient_factor * self.base.gradient(w, x, y) + self.curvature * w)


def declared(base: Loss, **changes: float) -> Declared:
    honest = {name: getattr(base, name) for name in ("lipschitz_constant", "smoothness", "strong_convexity")}
    return Declared(base, **{**honest, **changes})


@pytest.mark.one_in(3)
def test_true_constants_stand(
    loss: Loss, constraint: ConstraintSet, make_data: Callable[[Loss, int], Dataset], rng: np.random.Generator
) -> None:
    found = check_constants(loss, constraint, make_data(loss, 30), rng=rng, rounds=20)
    assert found.gradient_norm <= loss.lipschitz_constant * (1 + 1e-9)
    assert found.curvature >= loss.strong_convexity - 1e-9
    assert found.gradient_difference <= gradient_sensitivity(loss) * (1 + 1e-9)
    assert found.evaluations > 0


# Losses whose suprema are attained on the unit ball, and how close the search must come to them.
TIGHT: dict[str, Loss] = {
    "hinge": Hinge(),
    "squared": Squared.on(BALL),
    "distance": EuclideanDistance(),
    "half-squared": HalfSquaredDistance.on(BALL),
    "linear": Linear(),
    "contract-or-drift": ContractOrDrift(1.0),
    "ridge": Ridge.on(BALL, Hinge(), 0.3),
}


@pytest.mark.parametrize("name", list(TIGHT))
class TestLies:
    def test_lipschitz_constant(self, name: str, rng: np.random.Generator) -> None:
        lie = declared(TIGHT[name], lipschitz_constant=0.97 * TIGHT[name].lipschitz_constant)
        if isinstance(TIGHT[name], ContractOrDrift):
            return  # its labels are not -1 and 1, which is what a loss without a word about labels means
        with pytest.raises(InvalidArgumentError, match=r"lipschitz_constant was .* w = \["):
            check_constants(lie, BALL, rng=rng)

    def test_strong_convexity(self, name: str, rng: np.random.Generator) -> None:
        if isinstance(TIGHT[name], ContractOrDrift):
            return
        lie = declared(TIGHT[name], strong_convexity=TIGHT[name].strong_convexity * 1.02 + 0.02)
        with pytest.raises(InvalidArgumentError, match=r"strong_convexity was .*at most .* w = \["):
            check_constants(lie, BALL, rng=rng)

    def test_smoothness(self, name: str, rng: np.random.Generator) -> None:
        base = TIGHT[name]
        if isinstance(base, ContractOrDrift) or base.smoothness == 0.0:
            return
        lie = declared(base, smoothness=0.97 * base.smoothness if math.isfinite(base.smoothness) else 3.0)
        with pytest.raises(InvalidArgumentError, match=r"smoothness was .*at least .* w = \["):
            check_constants(lie, BALL, rng=rng)


@pytest.mark.parametrize("smoothness", [0.24, 0.1, 0.0])
def test_logistic_smoothness_is_a_quarter(smoothness: float, rng: np.random.Generator) -> None:
    with pytest.raises(InvalidArgumentError, match="smoothness"):
        check_constants(declared(Logistic(), smoothness=smoothness), BALL, rng=rng)


def test_logistic_on_the_unit_ball_has_a_smaller_lipschitz_constant(rng: np.random.Generator) -> None:
    # 1 / (1 + exp(-1)), in closed form: what the search finds is near it, and never above.
    best = 1.0 / (1.0 + math.exp(-1.0))
    found = check_constants(Logistic(), BALL, rng=rng).gradient_norm
    assert 0.995 * best <= found <= best * (1 + 1e-12)
    check_constants(declared(Logistic(), lipschitz_constant=best), BALL, rng=rng)
    with pytest.raises(InvalidArgumentError, match="lipschitz_constant"):
        check_constants(declared(Logistic(), lipschitz_constant=0.99 * best), BALL, rng=rng)


def test_radius_smaller_than_the_set_is_found(rng: np.random.Generator) -> None:
    for lie in (Squared(0.5), HalfSquaredDistance(0.5), ContractOrDrift(0.5), Ridge(Hinge(), 1.0, 0.5)):
        with pytest.raises(InvalidArgumentError, match="lipschitz_constant"):
            check_constants(lie, BALL, rng=rng)


def test_sensitivity_that_is_too_small_is_found(rng: np.random.Generator) -> None:
    lie = declared(HalfSquaredDistance.on(BALL), gradient_sensitivity=1.9)
    with pytest.raises(InvalidArgumentError, match=r"gradient_sensitivity was 1\.9.*against x"):
        check_constants(lie, BALL, rng=rng)
    check_constants(declared(HalfSquaredDistance.on(BALL), gradient_sensitivity=2.0), BALL, rng=rng)


@pytest.mark.parametrize("factor", [-1.0, 0.5, 1.5])
def test_a_wrong_gradient_is_found(factor: float, rng: np.random.Generator) -> None:
    for base in (Logistic(), Squared.on(BALL), HalfSquaredDistance.on(BALL), Linear()):
        lie = Declared(base, math.inf, math.inf, 0.0, gradient_factor=factor)
        with pytest.raises(InvalidArgumentError, match=r"gradient|strong_convexity"):
            check_constants(lie, BALL, rng=rng)


def test_a_loss_that_is_not_convex_is_found(rng: np.random.Generator) -> None:
    lie = Declared(Logistic(), math.inf, math.inf, 0.0, curvature=-0.1)
    with pytest.raises(InvalidArgumentError, match="strong_convexity"):
        check_constants(lie, BALL, rng=rng)


def test_nan_is_found(rng: np.random.Generator) -> None:
    lie = Declared(Logistic(), 1.0, 1.0, 0.0, gradient_factor=math.nan)
    with pytest.raises(InvalidArgumentError, match="finite values and gradients"):
        check_constants(lie, BALL, rng=rng)


@pytest.mark.parametrize("bad", [math.nan, -1.0, True])
@pytest.mark.parametrize("constant", ["lipschitz_constant", "smoothness", "strong_convexity"])
def test_declared_nonsense_is_refused(constant: str, bad: float, rng: np.random.Generator) -> None:
    with pytest.raises(InvalidArgumentError, match=constant):
        check_constants(declared(Logistic(), **{constant: bad}), BALL, rng=rng)


def test_data_must_fit(rng: np.random.Generator) -> None:
    with pytest.raises(InvalidArgumentError, match="features"):
        check_constants(Logistic(), BALL, load("diabetes"), rng=rng)
    with pytest.raises(InvalidDataError, match="norm"):
        check_constants(Logistic(), BALL, Dataset([[2.0, 0.0, 0.0]], [1.0]), rng=rng)


def test_same_seed_same_findings() -> None:
    first, second = (check_constants(Squared.on(BALL), BALL, rng=np.random.default_rng(5)) for _ in range(2))
    assert first == second
