"""Risks and their gradients against the definition."""

from __future__ import annotations

from collections.abc import Callable

import array_api_strict
import numpy as np
import pytest

import dpverify.problems
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    Ball,
    ConstraintSet,
    Dataset,
    Linear,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Squared,
    problem,
)
from dpverify.problems.further_losses import OneVersusRest

Make = Callable[[Loss, int], Dataset]


def test_risks_are_sums_over_records(
    loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
) -> None:
    data, w = make_data(loss, 9), constraint.project(rng.standard_normal((6, 4)))
    subject = Problem(loss, constraint)
    total = sum(loss.value(w, data.features[i], data.labels[i]) for i in range(9))
    gradient = sum(loss.gradient(w, data.features[i], data.labels[i]) for i in range(9)) / 9
    np.testing.assert_allclose(subject.total_risk(w, data), total, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(subject.mean_risk(w, data), total / 9, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(subject.mean_gradient(w, data), gradient, rtol=1e-12, atol=1e-14)


def test_agrees_with_the_array_standard(
    loss: Loss, constraint: ConstraintSet, make_data: Make, rng: np.random.Generator
) -> None:
    data, w = make_data(loss, 9), constraint.project(rng.standard_normal((6, 4)))
    subject, there = Problem(loss, constraint), array_api_strict.asarray(w)
    for records in (data, data.as_namespace(array_api_strict)):
        np.testing.assert_allclose(
            np.asarray(subject.mean_risk(there, records)), subject.mean_risk(w, data), rtol=1e-12, atol=1e-14
        )
        np.testing.assert_allclose(
            np.asarray(subject.mean_gradient(there, records)),
            subject.mean_gradient(w, data),
            rtol=1e-12,
            atol=1e-14,
        )


def test_many_runs_are_worked_on_in_parts(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    data, w = Dataset(rng.uniform(-0.5, 0.5, (7, 3)), np.ones(7)), rng.standard_normal((50, 3))
    subject = Problem(Logistic(), Ball(3, 1.0))
    risk, gradient = subject.mean_risk(w, data), subject.mean_gradient(w, data)
    monkeypatch.setattr(problem, "_NUMBERS_AT_ONCE", 30)
    np.testing.assert_allclose(subject.mean_risk(w, data), risk, rtol=1e-14)
    np.testing.assert_allclose(subject.mean_gradient(w, data), gradient, rtol=1e-13)


def test_no_runs() -> None:
    subject, data = Problem(Linear(), Ball(2, 1.0)), Dataset([[0.1, 0.2]], [1.0])
    assert subject.mean_risk(np.empty((0, 2)), data).shape == (0,)


def test_refuses_what_does_not_fit() -> None:
    subject, data = Problem(Linear(), Ball(2, 1.0)), Dataset([[0.1, 0.2]], [1.0])
    for shape in ((2,), (1, 3), ()):
        with pytest.raises(InvalidArgumentError, match="shape"):
            subject.mean_risk(np.zeros(shape), data)
    with pytest.raises(InvalidArgumentError, match="2 features"):
        subject.mean_risk(np.zeros((1, 2)), Dataset([[0.1]], [1.0]))
    with pytest.raises(InvalidArgumentError, match="loss"):
        Problem("logistic", Ball(2, 1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="constraint"):
        Problem(Linear(), None)  # type: ignore[arg-type]


def test_refuses_constants_for_a_smaller_set() -> None:
    for loss in (Squared(0.9), Ridge(Logistic(), 0.1, 0.9), Ridge(Squared(0.9), 0.1, 1.0)):
        with pytest.raises(InvalidArgumentError, match="radius"):
            Problem(loss, Ball(2, 1.0))
    Problem(Squared(1.0), Ball(2, 1.0))


def test_all_names_are_there() -> None:
    assert all(hasattr(dpverify.problems, name) for name in dpverify.problems.__all__)
    assert dpverify.problems.__all__ == sorted(dpverify.problems.__all__)


def test_the_radius_of_every_loss_inside_is_looked_at() -> None:
    """A loss on points up to 0.1 inside of one that counts labels inside of one with a ridge."""
    for inner, fits in ((Squared(0.1), False), (Squared(1.0), True)):
        loss = Ridge(OneVersusRest(inner, 3.0), 0.5, 1.0)
        if fits:
            assert Problem(loss, Ball(2, 1.0)).constants.sensitivity_radius == 1.0
            continue
        with pytest.raises(InvalidArgumentError, match=r"loss\.radius was 0\.1"):
            Problem(loss, Ball(2, 1.0))
