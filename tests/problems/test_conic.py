"""What losses and sets say to a conic solver is what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpverify.problems import (
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Simplex,
    Squared,
)
from dpverify.problems.conic import Affine, ConicProgram
from dpverify.problems.further_losses import HuberizedPositivePart, OneVersusRest, PositivePart
from dpverify.problems.minimizers import minimize
from dpverify.problems.smoothed_losses import AbsoluteError

COUNT, D = 7, 3


def at(program: ConicProgram, values: np.ndarray) -> Affine:
    """Variables that have these values."""
    found = program.variables(values.size)
    program.zero(found - values.ravel())
    return found


def rows_of(terms: Affine, values: np.ndarray) -> np.ndarray:
    """The rows' values, from those of all variables."""
    entries = terms.values * values[terms.columns]
    return terms.constant + np.bincount(terms.rows, weights=entries, minlength=len(terms))


def cost(program: ConicProgram, values: np.ndarray) -> float:
    """A program's cost, from the values of all variables."""
    linear = sum(float(np.sum(rows_of(terms, values))) for terms in program._costs)
    return linear + sum(float(np.sum(rows_of(terms, values) ** 2)) / 2 for terms in program._squares)


@pytest.mark.parametrize(
    "loss",
    [
        Logistic(), Hinge(), Squared(2.0), Linear(), Linear(labeled=True), PositivePart(), AbsoluteError(),
        HuberizedPositivePart(0.3), OneVersusRest(Logistic(), 1.0),
    ],
    ids=lambda loss: type(loss).__name__,
)  # fmt: skip
def test_links(loss: Any) -> None:
    """With fixed inner products, the least cost is the sum of the losses, and multipliers are slopes."""
    z = np.linspace(-3, 3, COUNT) + 0.1
    y = np.where(np.arange(COUNT) % 2, 1.0, -1.0)
    costs = []
    for values in (z, z + 1.3):
        program = ConicProgram()
        loss.conic_link(program, at(program, values), y)
        found, multipliers = program.solve(1.0)
        costs.append(cost(program, found))
        slopes = loss.link_slope(values, y)
        assert np.allclose(multipliers[:COUNT], -slopes, atol=1e-4) or np.allclose(
            multipliers[:COUNT], slopes, atol=1e-4
        )
    # a constant may be left out
    exact = np.sum(loss.link(z + 1.3, y)) - np.sum(loss.link(z, y))
    assert costs[1] - costs[0] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("loss", [EuclideanDistance(), HalfSquaredDistance(5.0)])
def test_displacements(loss: Any) -> None:
    u = np.random.default_rng(1).normal(size=(COUNT, D))
    program = ConicProgram()
    loss.conic_sum(program, at(program, u), COUNT)
    found, multipliers = program.solve(1.0)
    assert cost(program, found) == pytest.approx(float(np.sum(loss.value(u, np.zeros(D), 0.0))), abs=1e-6)
    gradients = np.abs(loss.gradient(u, np.zeros(D), 0.0))
    assert np.allclose(np.abs(multipliers[: u.size]).reshape(u.shape), gradients, atol=1e-5)


@pytest.mark.parametrize(
    "constraint",
    [Ball(D, 0.5), Ball(D, 0.4, midpoint=(0.3, 0.0, 0.1)), Box((-0.1,) * D, (0.2, 0.3, 0.4)), Simplex(D)],
)
def test_sets(constraint: Any) -> None:
    for point in 2 * np.random.default_rng(2).normal(size=(5, D)):
        program = ConicProgram()
        w = program.variables(D)
        program.half_squares(w - point)
        constraint.conic_rows(program, w)
        found, _ = program.solve(1.0)
        assert np.allclose(found[:D], constraint.project(point[None, :])[0], atol=1e-4)


class Half(Logistic):
    """Says half of itself to the solver."""

    def conic_link(self, program: ConicProgram, z: Affine, y: np.ndarray) -> None:
        super().conic_link(program, z * 0.5, y)


class Silent(Logistic):
    """Says nothing to the solver."""

    conic_link = Logistic.__mro__[1].conic_link  # type: ignore[attr-defined]


def test_a_wrong_form_costs_width_and_no_truth() -> None:
    rng = np.random.default_rng(3)
    data = Dataset(rng.normal(size=(40, D)) / 3, np.where(rng.random(40) < 0.3, 1.0, -1.0))
    ball = Ball(D, 1.0)
    right, wrong, none = (minimize(Problem(loss, ball), data) for loss in (Logistic(), Half(), Silent()))
    assert right.duality_gap < 1e-8
    assert wrong.duality_gap > 1e-5
    assert wrong.value.lower <= right.value.upper <= wrong.value.upper + 1e-9
    assert none.value.lower <= right.value.upper
    assert none.duality_gap < 1e-6


def test_a_loss_that_says_nothing_is_known_also_through_another() -> None:
    class Broken(Logistic):
        def conic_link(self, program: ConicProgram, z: Affine, y: np.ndarray) -> None:
            raise NotImplementedError("of the loss itself")

    data = Dataset(np.eye(D)[:2] / 2, np.array([1.0, 3.0]))
    ball = Ball(D, 1.0)
    for base, known in ((Logistic(), True), (Silent(), False)):
        loss = OneVersusRest(base, 1.0)
        assert loss.has_conic_link is known
        assert minimize(Problem(loss, ball), data).duality_gap < 1e-6
    with pytest.raises(NotImplementedError, match="of the loss itself"):
        minimize(Problem(Broken(), ball), Dataset(np.eye(D)[:2] / 2, np.array([1.0, -1.0])))


def test_affine_expressions() -> None:
    program = ConicProgram()
    program.variables(1)
    x = program.variables(2)
    values = np.array([9.0, 2.0, 5.0])
    matrix = np.array([[1.0, 0.0], [2.0, -1.0], [0.0, 0.0]])
    for terms, expected in (
        (x + 1.0, [3, 6]),
        (1.0 - x, [-1, -4]),
        (x - np.array([1.0, 2.0]), [1, 3]),
        (2.0 * x * np.array([1.0, -1.0]), [4, -10]),
        (x - x * 3.0, [-4, -10]),
        (-(x + 1.0), [-3, -6]),
        (x.image(matrix), [2, -1, 0]),
        (x.repeated(2) + np.arange(4.0), [2, 6, 4, 8]),
        (program.constants(3.0, 2), [3, 3]),
    ):
        assert len(terms) == len(expected)
        assert np.array_equal(rows_of(terms, values), expected)
