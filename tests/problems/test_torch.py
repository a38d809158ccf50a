"""The same numbers from PyTorch, where it is installed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpverify.problems import ConstraintSet, Dataset, Loss, Problem

torch = pytest.importorskip("torch", reason="PyTorch is an optional extra")


def test_loss_and_risk(
    loss: Loss, constraint: ConstraintSet, make_data: Callable[[Loss, int], Dataset], rng: np.random.Generator
) -> None:
    data, w = make_data(loss, 9), constraint.project(rng.standard_normal((9, 4)))
    there, x, y = torch.asarray(w.copy()), data.as_namespace(torch).features, data.as_namespace(torch).labels
    problem = Problem(loss, constraint)
    for mine, theirs in (
        (loss.value(w, data.features, data.labels), loss.value(there, x, y)),
        (loss.gradient(w, data.features, data.labels), loss.gradient(there, x, y)),
        (loss.gradient(w, data.features[0], data.labels[0]), loss.gradient(there, x[0], y[0])),
        (problem.mean_risk(w, data), problem.mean_risk(there, data)),
        (problem.mean_gradient(w, data), problem.mean_gradient(there, data)),
    ):
        assert isinstance(theirs, torch.Tensor)
        np.testing.assert_allclose(theirs.numpy(), mine, rtol=1e-12, atol=1e-14)


def test_constraint_set(constraint: ConstraintSet, rng: np.random.Generator) -> None:
    w = 2.0 * rng.standard_normal((9, 4))
    for method in ("project", "contains", "gauge", "support"):
        theirs = getattr(constraint, method)(torch.asarray(w.copy()))
        np.testing.assert_allclose(theirs.numpy(), getattr(constraint, method)(w), rtol=1e-13, atol=1e-15)


def test_data_set_comes_back() -> None:
    data = Dataset([[0.1, 0.2], [0.3, 0.4]], [1.0, -1.0])
    there = data.as_namespace(torch)
    assert there.digest == data.digest
    assert isinstance(there.replace(1, [0.5, 0.5], 1.0).features, torch.Tensor)
