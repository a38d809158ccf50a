"""Tests of the hard instance: a definitional twin, its minimum by a solver, ties, progress per query, its law."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import array_api_strict
import cvxpy
import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25.hard_instance import DrawnInstances, HardInstance, OnHardInstance
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Dataset, Linear, Logistic, Problem, load
from dpverify.running import Randomness, run

COPIES = Dataset(np.zeros((4, 12)), np.ones(4))
INSTANCE = HardInstance.with_directions(12, 4)


def _drawn(instance: HardInstance = INSTANCE, runs: int = 50, seed: int = 1) -> DrawnInstances:
    return instance.draw(COPIES, rng=Randomness(seed), runs=runs)


def minimizer_of(drawn: DrawnInstances) -> Any:
    """w* = C_1 alpha (X_1 + ... + X_K), times B; loss 0, shape (runs, d)."""
    chosen = drawn.frames[:, : drawn.parameters.direction_count, :]
    return drawn.parameters.radius * drawn.parameters.offset * np.sum(chosen, axis=1)


def _slow(instance: HardInstance, frame: Any, w: Any) -> tuple[float, Any, int]:
    """The oracle of one run as it is printed: the smallest k that attains the maximum, h only if there is none."""
    count, c1_alpha = instance.direction_count, instance.offset
    values = [abs(float(w @ frame[k]) - c1_alpha) for k in range(count)]
    projected = frame[count:].T @ (frame[count:] @ w)
    h = 2 * float(np.linalg.norm(projected))
    top = max([*values, h])
    for k in range(count):
        if values[k] == top:
            return top, np.sign(float(w @ frame[k]) - c1_alpha) * frame[k], k + 1
    return top, 2 * projected / np.linalg.norm(projected), count + 1


def test_the_printed_parameters() -> None:
    instance = HardInstance(1000, 1 / 480 / 7)
    assert instance.direction_count == 49  # 1 / (C_1 alpha)^2, in spite of rounding
    assert instance.offset == pytest.approx(1 / 7)
    assert instance.hidden_dimension == 500
    assert HardInstance(1000, 0.99 / 480).direction_count == 1
    for directions in range(1, 60):
        assert HardInstance.with_directions(200, directions).direction_count == directions


def test_hidden_vectors_are_orthonormal() -> None:
    for instance, data in (
        (INSTANCE, COPIES),
        (HardInstance.with_directions(64, 16, directions_from="records"), load("digits")),
    ):
        frames = run(instance, data, runs=20, seed=3).points
        assert frames.shape == (20, instance.direction_count + instance.dimension // 2, instance.dimension)
        gram = np.einsum("rid,rjd->rij", frames, frames)
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(frames.shape[1]), gram.shape), atol=1e-12)


def test_the_oracle_against_its_definition() -> None:
    drawn, rng = _drawn(), np.random.default_rng(2)
    shown = set()
    for size in (0.05, 0.3, 1.0):
        w = size * rng.normal(size=(50, 12)) / math.sqrt(12)
        w[::2] = minimizer_of(drawn)[::2] + 0.05 * w[::2]
        answer = drawn.answer(w)
        for run_, (value, gradient, index) in enumerate(
            _slow(INSTANCE, drawn.frames[r], w[r]) for r in range(50)
        ):
            assert answer.value[run_] == pytest.approx(value, abs=1e-13)
            assert answer.index[run_] == index
            np.testing.assert_allclose(answer.gradient[run_], gradient, atol=1e-12)
            shown.add(index)
    assert shown == {1, 2, 3, 4, 5}


def test_ties() -> None:
    """With axes as hidden vectors there is no rounding, so that ties are ties."""
    frames = np.eye(12)[None, :10, :]
    drawn = DrawnInstances(INSTANCE, frames)
    offset = INSTANCE.offset
    assert offset == 0.5
    # at 0 all f_k agree
    first = drawn.answer(np.zeros((1, 12)))
    assert first.index[0] == 1
    np.testing.assert_array_equal(first.gradient[0], -frames[0, 0])
    # the first direction is settled: the next smallest number
    w = np.zeros((1, 12))
    w[0, 0] = offset
    assert drawn.answer(w).index[0] == 2
    # f_1 and f_3 from different sides
    w[0, :4] = (2 * offset, offset, 0.0, offset)
    answer = drawn.answer(w)
    assert answer.index[0] == 1
    np.testing.assert_array_equal(answer.gradient[0], frames[0, 0])
    # h ties with f_1 and is not shown; a hair more, and it is
    w = np.zeros((1, 12))
    w[0, 4] = offset / 2
    assert drawn.answer(w).index[0] == 1
    w[0, 4] = np.nextafter(offset / 2, 1)
    answer = drawn.answer(w)
    assert answer.index[0] == 5
    np.testing.assert_array_equal(answer.gradient[0], 2 * frames[0, 4])
    # at the minimizer every f_k is 0
    answer = drawn.answer(minimizer_of(drawn))
    assert answer.index[0] == 1
    np.testing.assert_array_equal(answer.gradient[0], np.zeros(12))


def test_the_minimum_by_a_solver() -> None:
    drawn = _drawn(runs=3)
    minimizers = minimizer_of(drawn)
    np.testing.assert_allclose(np.linalg.norm(minimizers, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(drawn.value(minimizers, None, None), 0.0, atol=1e-12)
    for frame, minimizer in zip(drawn.frames, minimizers, strict=True):
        w = cvxpy.Variable(12)
        loss = cvxpy.maximum(
            cvxpy.norm(frame[:4] @ w - INSTANCE.offset, "inf"), 2 * cvxpy.norm(frame[4:] @ w, 2)
        )
        solved = cvxpy.Problem(cvxpy.Minimize(loss), [cvxpy.norm(w, 2) <= 1])
        assert solved.solve(solver=cvxpy.CLARABEL) == pytest.approx(0.0, abs=1e-6)
        # ||w*|| = 1 leaves no room for anything beside it
        np.testing.assert_allclose(w.value, minimizer, atol=1e-3)


def test_subgradients_and_the_lipschitz_constant() -> None:
    for instance in (INSTANCE, dataclasses.replace(INSTANCE, lipschitz_constant=3.0, radius=5.0)):
        drawn, rng = _drawn(instance), np.random.default_rng(5)
        steepest = 0.0
        for _ in range(40):
            u, w = instance.radius * rng.normal(size=(2, 50, 12)) / 3
            here = drawn.answer(u)
            rise = drawn.answer(w).value - here.value
            assert np.all(rise >= np.sum(here.gradient * (w - u), axis=1) - 1e-10)
            steepest = max(steepest, float(np.max(np.linalg.norm(here.gradient, axis=1))))
        assert steepest == pytest.approx(instance.lipschitz_constant, rel=1e-12)
        assert drawn.problem.constraint.largest_norm == instance.radius


def test_rescaling() -> None:
    """(L B / 2) l(w / B): Fact 1's rescaling, with the argument over B and not over L."""
    wide = dataclasses.replace(INSTANCE, lipschitz_constant=3.0, radius=5.0)
    narrow, scaled = _drawn(), _drawn(wide)
    w = np.random.default_rng(6).normal(size=(50, 12))
    np.testing.assert_allclose(scaled.answer(5 * w).value, 7.5 * narrow.answer(w).value, rtol=1e-12)
    np.testing.assert_allclose(minimizer_of(scaled), 5 * minimizer_of(narrow), rtol=1e-12)
    # as printed, l(w / L) for L = 3 has the Lipschitz constant 2 / 3 and not 3 * 2
    steep = np.max(np.linalg.norm(narrow.answer(w / 3).gradient / 3, axis=1))
    assert steep < 1


def test_a_query_shows_one_direction() -> None:
    """Any point in the span of t answers has nothing of K - t directions, and a loss of at least C_1 alpha."""
    instance = HardInstance.with_directions(40, 10)
    drawn, rng = _drawn(instance, runs=30), np.random.default_rng(8)
    seen = np.zeros((30, 0, 40))
    for queries in range(10):
        weights = rng.normal(size=(30, seen.shape[1]))
        points = np.einsum("rt,rtd->rd", weights, seen)
        points /= np.maximum(1.0, np.linalg.norm(points, axis=1))[:, None]
        answer = drawn.answer(points)
        touched = np.abs(np.einsum("rkd,rd->rk", drawn.frames[:, :10], points)) > 1e-12
        assert np.all(touched.sum(axis=1) <= queries)
        assert np.all(answer.value >= instance.offset - 1e-12)
        seen = np.concatenate([seen, answer.gradient[:, None, :]], axis=1)


def test_an_oracle_that_breaks_ties_otherwise_gives_more_away() -> None:
    """A planted fault: showing the mean of all subgradients that attain the maximum reveals all directions at once."""
    instance = HardInstance.with_directions(40, 10)
    drawn = _drawn(instance, runs=30)
    everything = -np.mean(drawn.frames[:, :10, :], axis=1)
    point = -10 * instance.offset * everything
    assert np.max(drawn.answer(point).value) < 1e-12 < instance.offset


@pytest.mark.parametrize("source", ["uniform", "records"])
def test_the_subgradient_method_needs_as_many_queries_as_directions(source: Any) -> None:
    instance = HardInstance.with_directions(64, 9, directions_from=source)
    for steps in (1, 5, 8):
        mechanism = OnHardInstance(instance, steps=steps)
        found = run(mechanism, load("digits"), runs=20, seed=2)
        np.testing.assert_allclose(found.points[:, 0], mechanism.least_excess_risk(steps), atol=1e-12)
        assert np.all(found.points[:, 1] <= steps)
        assert np.all(found.gradient_queries == steps)
        assert np.all(found.projections == steps)
    # steps that land on each direction's offset: nine queries are enough, and the bound claims nothing any more
    enough = OnHardInstance(instance, steps=9, rate=instance.offset)
    points = run(enough, load("digits"), runs=20, seed=2).points
    np.testing.assert_allclose(points, [[0.0, 9.0]] * 20, atol=1e-12)
    assert enough.least_excess_risk(9) == 0.0


@pytest.mark.parametrize(("first", "last"), [(0, 1), (2, 3), (3, 7)])
def test_the_law_is_uniform(first: int, last: int) -> None:
    """||Pi e_1||^2 is Beta(m/2, (d - m)/2). Kolmogorov-Smirnov at 1e-6, three tests."""
    frames = run(HardInstance.with_directions(8, 3), COPIES, runs=4_000, seed=9).points
    squared = np.sum(frames[:, first:last, 0] ** 2, axis=1)
    size = last - first
    assert stats.kstest(squared, stats.beta(size / 2, (8 - size) / 2).cdf).pvalue > 1e-6
    # a planted fault: the same subspace in every run
    assert stats.kstest(np.tile(squared[:1], 4_000), stats.beta(size / 2, (8 - size) / 2).cdf).pvalue < 1e-6


def test_signs_are_random_too() -> None:
    """A planted fault: the triangular factor's signs, left as the library has them, fix a coordinate's sign."""
    frames = run(HardInstance.with_directions(8, 3), COPIES, runs=2_000, seed=9).points
    positive = int(np.sum(frames[:, 0, 0] > 0))
    assert stats.binomtest(positive, 2_000).pvalue > 1e-6
    columns = np.random.default_rng(1).normal(size=(2_000, 8, 3))
    as_they_come = np.linalg.qr(columns)[0][:, 0, 0] > 0
    assert stats.binomtest(int(np.sum(as_they_come)), 2_000).pvalue < 1e-6


def test_directions_from_records_are_in_their_span() -> None:
    data = load("digits")
    instance = HardInstance.with_directions(64, 4, subspace_dimension=0, directions_from="records")
    frame = run(instance, data, runs=1, seed=3).points[0]
    # the first direction is one of the records, normalized
    units = data.features / np.linalg.norm(data.features, axis=1)[:, None]
    assert np.max(np.abs(units @ frame[0])) == pytest.approx(1.0, abs=1e-12)


def test_blocks_of_draws_do_not_change_the_law_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work space is bounded: few runs are orthonormalized at a time, with the same numbers."""
    whole = run(INSTANCE, COPIES, runs=30, seed=4).points
    monkeypatch.setattr("dpverify.algorithms.mn25.hard_instance._NUMBERS_AT_ONCE", 12 * 10 * 7)
    np.testing.assert_array_equal(run(INSTANCE, COPIES, runs=30, seed=4).points, whole)


def test_a_private_optimizer_on_the_instance() -> None:
    optimizer = NoisyGradientDescent(Problem(Linear(), Ball(12, 1.0)), 8.0, 1e-5, steps=20)
    mechanism = OnHardInstance(INSTANCE, optimizer)
    found = run(mechanism, COPIES, runs=30, seed=1)
    assert np.all(found.gradient_queries == 20)
    assert np.all((found.points[:, 0] > 0) & (found.points[:, 0] <= 2))
    assert mechanism.guarantees(4) == optimizer.guarantees(4)
    assert mechanism.gradient_query_count(4) == 20
    assert not INSTANCE.guarantees(4)
    assert INSTANCE.guarantee_at(4, 2) is None


def test_array_api_strict() -> None:
    digits = load("digits", n=80)
    records = HardInstance.with_directions(64, 4, directions_from="records", subspace_dimension=5)
    for mechanism, data in (
        (INSTANCE, COPIES),
        (OnHardInstance(INSTANCE, steps=7), COPIES),
        (OnHardInstance(records, steps=7), digits),
        (OnHardInstance(dataclasses.replace(INSTANCE, subspace_dimension=0), steps=3), COPIES),
    ):
        plain = run(mechanism, data, runs=6, seed=4).points
        strict = run(mechanism, data, runs=6, seed=4, xp=array_api_strict).points
        np.testing.assert_allclose(strict, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("dimension", 0),
        ("dimension", 8.0),
        ("dimension", True),
        *(
            (name, value)
            for name in ("accuracy", "constant", "lipschitz_constant", "radius")
            for value in (0.0, -1.0, math.nan, math.inf, True, "1")
        ),
        ("accuracy", 1.1 / 480),
        ("accuracy", 1 / 480 / 3),
        ("accuracy", 1e-200),
        ("subspace_dimension", -1),
        ("directions_from", "normal"),
    ],
)
def test_bad_parameters(argument: str, value: object) -> None:
    good: dict[str, Any] = {"dimension": 12, "accuracy": 1 / 480 / 2}
    with pytest.raises(InvalidArgumentError, match=argument):
        HardInstance(**{**good, argument: value})


@pytest.mark.parametrize(
    ("argument", "value"),
    [("instance", None), ("optimizer", 3), ("steps", 0), ("steps", 1.5), ("rate", 0.0), ("rate", math.nan)],
)
def test_bad_runs(argument: str, value: object) -> None:
    good: dict[str, Any] = {"instance": INSTANCE, "steps": 3}
    with pytest.raises(InvalidArgumentError, match=argument):
        OnHardInstance(**{**good, argument: value})


def test_bad_points_and_data() -> None:
    with pytest.raises(InvalidArgumentError, match="one point per run"):
        _drawn().answer(np.zeros((49, 12)))
    records = dataclasses.replace(INSTANCE, directions_from="records")
    with pytest.raises(InvalidArgumentError, match="at least K"):
        records(COPIES, rng=Randomness(1), runs=2)
    with pytest.raises(InvalidArgumentError, match="12 features"):
        records(load("digits"), rng=Randomness(1), runs=2)
    with pytest.raises(InvalidArgumentError, match="directions"):
        HardInstance.with_directions(12, 0)
    assert isinstance(_drawn().problem, Problem)
    assert Problem(Logistic(), Ball(2, 1.0)) != _drawn().problem
