"""Products of batches and records."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.problems.arrays import add_outer, at_least, at_most, dot, like, outer, row_sums


@pytest.fixture
def batch(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """Points, slopes, one record, and a record a run."""
    return (
        rng.standard_normal((5, 3)),
        rng.standard_normal(5),
        rng.standard_normal(3),
        rng.standard_normal((5, 3)),
    )


def test_dot_and_row_sums(batch: tuple[Any, Any, Any, Any]) -> None:
    w, _, x, records = batch
    np.testing.assert_allclose(dot(w, x), np.einsum("ij,j->i", w, x), rtol=1e-14)
    np.testing.assert_allclose(dot(w, records), np.einsum("ij,ij->i", w, records), rtol=1e-13)
    np.testing.assert_allclose(row_sums(w), w.sum(axis=1), rtol=1e-13)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_add_outer_writes_to_its_argument_in_every_layout(
    batch: tuple[Any, Any, Any, Any], layout: Any, dtype: Any
) -> None:
    w, slopes, x, records = (a.astype(dtype) for a in batch)
    rounding = 10 * np.finfo(dtype).eps
    for record in (x, records):
        target = np.array(w, order=layout)
        assert add_outer(target, slopes, record) is target
        np.testing.assert_allclose(target, w + slopes[:, None] * record, rtol=rounding, atol=rounding)
        np.testing.assert_allclose(outer(slopes, record), slopes[:, None] * record, rtol=rounding)


def test_add_outer_to_a_part_of_a_batch(batch: tuple[Any, Any, Any, Any]) -> None:
    w, slopes, x, _ = batch
    columns = np.asfortranarray(w)
    part = columns[1:4]
    assert add_outer(part, slopes[1:4], x) is part
    np.testing.assert_allclose(columns[1:4], w[1:4] + slopes[1:4, None] * x, rtol=1e-13)
    np.testing.assert_array_equal(columns[[0, 4]], w[[0, 4]])


def test_add_outer_without_runs() -> None:
    assert add_outer(np.empty((0, 3), order="F"), np.empty(0), np.ones(3)).shape == (0, 3)


def test_add_outer_agrees_with_the_array_standard(batch: tuple[Any, Any, Any, Any]) -> None:
    w, slopes, x, _ = batch
    there = add_outer(*(array_api_strict.asarray(a.copy()) for a in (w, slopes, x)))
    np.testing.assert_allclose(np.asarray(there), w + slopes[:, None] * x, rtol=1e-13)


def test_add_outer_refuses_a_read_only_batch(batch: tuple[Any, Any, Any, Any]) -> None:
    w, slopes, x, _ = batch
    frozen = np.asfortranarray(w)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        add_outer(frozen, slopes, x)


def test_shapes_that_do_not_fit(batch: tuple[Any, Any, Any, Any]) -> None:
    w, slopes, x, _ = batch
    for record in (x[:2], w[:2], slopes):
        with pytest.raises(InvalidArgumentError, match="x was"):
            add_outer(w, slopes, record)
    with pytest.raises(InvalidArgumentError, match="w was"):
        dot(x, x)


def test_bounds_and_likeness() -> None:
    example = array_api_strict.asarray([1.0, 2.0], dtype=array_api_strict.float32)
    made = like(np.array([0.5]), example)
    assert made.dtype == array_api_strict.float32
    assert np.asarray(at_least(example, 1.5)).tolist() == [1.5, 2.0]
    assert np.asarray(at_most(example, 1.5)).tolist() == [1.0, 1.5]
