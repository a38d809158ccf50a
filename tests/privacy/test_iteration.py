"""The accountant of noisy iterations against cvxpy, the printed schedules and exact divergences."""

from __future__ import annotations

import math
from typing import Any

import cvxpy
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, NoisyIteration, per_index


def solved(iteration: NoisyIteration) -> float:
    """The convex program itself, in the unscaled amounts, by an interior point method."""
    stddevs = np.asarray(iteration.noise_stddevs)
    amounts = cvxpy.Variable(iteration.steps)
    distance: Any = iteration.initial_distance
    rules = []
    for t in range(iteration.steps):
        distance = (
            np.asarray(iteration.contractions)[t] * distance + np.asarray(iteration.shifts)[t] - amounts[t]
        )
        rules.append(distance >= 0 if t + 1 < iteration.steps else distance == 0)
        if stddevs[t] == 0:
            rules.append(amounts[t] == 0)
    weights = 1 / np.where(stddevs > 0, stddevs, 1.0)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(cvxpy.multiply(amounts, weights))), rules)
    value = problem.solve(solver=cvxpy.CLARABEL)
    assert problem.status == cvxpy.OPTIMAL
    return float(value)


def proved_by(iteration: NoisyIteration, amounts: np.ndarray) -> float:
    """The square of mu, by an admissible schedule."""
    left, total = iteration.initial_distance, 0.0
    rows = zip(iteration.contractions, iteration.shifts, iteration.noise_stddevs, amounts, strict=True)  # type: ignore[arg-type]
    for c, s, stddev, a in rows:
        left = c * left + s - a
        assert left >= -1e-9
        total += (a / stddev) ** 2 if a else 0.0
    assert left == pytest.approx(0.0, abs=1e-9)
    return total


def random_iteration(seed: int) -> NoisyIteration:
    """Up to 14 steps with idle ones, noiseless ones, contractions down to 0 and an initial distance."""
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(1, 15))
    stddevs = rng.uniform(0.3, 2.0, steps) * (rng.random(steps) < 0.85)
    stddevs[-1] = 1.0
    contractions = np.ones(steps) if seed % 2 else rng.uniform(0.2, 1.0, steps)
    if seed % 6 == 0:
        contractions[steps // 2] = 0.0
    shifts = rng.random(steps) * (rng.random(steps) < 0.6)
    return NoisyIteration(shifts, stddevs, contractions, float(rng.random()) if seed % 3 == 0 else 0.0)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_schedule_is_the_minimum_of_the_convex_program(seed: int) -> None:
    iteration = random_iteration(seed)
    best = iteration.best().squared_mu
    assert best == pytest.approx(solved(iteration), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_no_admissible_schedule_is_better(seed: int) -> None:
    iteration = random_iteration(seed)
    rng = np.random.default_rng(1000 + seed)
    best = iteration.best().squared_mu
    stddevs = np.asarray(iteration.noise_stddevs)
    for _ in range(50):
        # a share of what is there is taken at each step, all of it at the last
        share = np.where(stddevs > 0, rng.random(iteration.steps), 0.0)
        share[-1] = 1.0
        amounts, distance = np.zeros(iteration.steps), iteration.initial_distance
        for t in range(iteration.steps):
            there = np.asarray(iteration.contractions)[t] * distance + np.asarray(iteration.shifts)[t]
            amounts[t] = share[t] * there
            distance = there - amounts[t]
        assert proved_by(iteration, amounts) >= best * (1 - 1e-12)


def step_by_step(
    n: int,
    index: int,
    *,
    shift: float,
    noise_stddev: float,
    passes: int = 1,
    contraction: float = 1.0,
    distance: float = 0.0,
) -> NoisyIteration:
    """Noisy SGD, a step a record."""
    shifts = np.zeros(n * passes)
    shifts[index - 1 :: n] = shift
    return NoisyIteration(shifts, noise_stddev, contraction, distance)


def printed_schedule(n: int, index: int, *, shift: float, passes: int = 1) -> np.ndarray:
    """The amounts that fmtt18 prints for fixed order, shape (n * passes,): Theorem 23, and 35 for n passes.

    Nothing before the record's first use, shift / n until its last, shift / (n - index + 1) from there on.
    """
    amounts = np.zeros(n * passes)
    last_use = n * (passes - 1) + index - 1
    amounts[index - 1 : last_use] = shift / n
    amounts[last_use:] = shift / (n - index + 1)
    return amounts


@pytest.mark.parametrize("index", [1, 2, 7, 10])
def test_one_pass_is_theorem_23(index: int) -> None:
    eta, sigma, lipschitz, n = 0.3, 1.7, 2.0, 10
    iteration = step_by_step(n, index, shift=2 * eta * lipschitz, noise_stddev=eta * sigma)
    printed = proved_by(iteration, printed_schedule(n, index, shift=2 * eta * lipschitz))
    slope = 2 * lipschitz**2 / (sigma**2 * (n - index + 1))
    assert printed / 2 == pytest.approx(slope, rel=1e-12)
    assert iteration.best().squared_mu / 2 == pytest.approx(slope, rel=1e-12)
    assert str(iteration.rdp()) == f"(order, {slope:g}*order)-RDP"
    assert iteration.gdp().mu == pytest.approx((2 * slope) ** 0.5, rel=1e-12)


@pytest.mark.parametrize("index", [1, 3, 8])
def test_many_passes_are_theorem_35(index: int) -> None:
    eta, sigma, lipschitz, n = 0.3, 1.7, 2.0, 8
    iteration = step_by_step(n, index, shift=2 * eta * lipschitz, noise_stddev=eta * sigma, passes=n)
    printed = proved_by(iteration, printed_schedule(n, index, shift=2 * eta * lipschitz, passes=n))
    exact = 2 * lipschitz**2 / sigma**2 * (n * (n - 1) / n**2 + 1 / (n - index + 1))
    assert printed / 2 == pytest.approx(exact, rel=1e-12)
    assert printed / 2 <= 4 * lipschitz**2 / sigma**2
    assert iteration.best().squared_mu <= printed * (1 + 1e-12)


@pytest.mark.parametrize("contraction", [0.0, 1e-30, 0.7, 1 - 1e-9, 1.0])
@pytest.mark.parametrize(
    ("n", "index", "passes"), [(1, 1, 4), (5, 1, 3), (5, 2, 1), (5, 5, 3), (40, 7, 6), (40, 7, 1)]
)
def test_from_use_to_use_steps_can_be_merged(n: int, index: int, passes: int, contraction: float) -> None:
    """The best schedule proves as much; it would not if the noise or the shifts did not shrink with the maps."""
    given: dict[str, Any] = {"shift": 0.3, "noise_stddev": 1.7, "passes": passes, "contraction": contraction}
    for distance in (0.0, 0.2, 2.0):
        steps = step_by_step(n, index, **given, distance=distance)
        blocks = per_index(n, index, **given, initial_distance=distance)
        assert blocks.steps == passes + (index > 1)
        assert blocks.gdp().mu == pytest.approx(steps.gdp().mu, rel=1e-11, abs=1e-300)
        assert mpmath.mpf(blocks.gdp().mu) >= affine_mu(steps)  # what is attained, in 60 digits


def test_contraction_helps_more_than_the_printed_schedule() -> None:
    plain = per_index(20, 3, shift=1.0, noise_stddev=1.0)
    contracted = per_index(20, 3, shift=1.0, noise_stddev=1.0, contraction=0.8)
    assert contracted.best().squared_mu < 0.5 * plain.best().squared_mu


def test_initial_distance_is_theorem_1_corrected_and_attained_by_identity_maps() -> None:
    steps, distance, sigma = 7, 3.0, 1.5
    iteration = NoisyIteration(np.zeros(steps), sigma, initial_distance=distance)
    # identity maps: X_T - X_0 is N(0, steps sigma^2), so the divergence is known exactly
    exact = GDP(distance / (sigma * steps**0.5))
    assert iteration.gdp().mu == pytest.approx(exact.mu, rel=1e-12)
    assert iteration.best_schedule() == pytest.approx(np.full(steps, distance / steps), rel=1e-12)


def test_linear_contractions_attain_the_bound() -> None:
    # x -> c x from two points: means c^T D apart, variance sigma^2 (1 + c^2 + .. + c^(2 (T - 1)))
    steps, c, distance, sigma = 6, 0.7, 2.0, 0.9
    exact = (c**steps * distance / sigma) ** 2 / sum(c ** (2 * k) for k in range(steps))
    iteration = NoisyIteration(np.zeros(steps), sigma, c, distance)
    assert iteration.best().squared_mu == pytest.approx(exact, rel=1e-12)


def test_what_a_zero_contraction_forgets_costs_nothing() -> None:
    iteration = NoisyIteration([5.0, 0.0, 0.0, 1.0, 0.0], 1.0, [1, 1, 0, 1, 1])
    assert iteration.best().squared_mu == pytest.approx(0.5, rel=1e-12)
    assert NoisyIteration([5.0, 0.0], 1.0, [1, 0]).best().squared_mu == 0.0


def test_long_strong_contraction_does_not_underflow() -> None:
    steps = 5000
    shifts = np.zeros(steps)
    shifts[0] = 1.0
    shifts[-3] = 0.5
    alone = NoisyIteration(shifts[-3:], 1.0, 0.5).best().squared_mu
    long = NoisyIteration(shifts, 1.0, 0.5).best().squared_mu
    assert 0.8 * alone < long <= alone * (1 + 1e-12)


@pytest.mark.parametrize("contraction", [1.0, 1 - 1e-7, 0.999])
def test_a_million_steps(contraction: float) -> None:
    rng = np.random.default_rng(5)
    steps = 10**6
    iteration = NoisyIteration(rng.random(steps), rng.uniform(0.5, 1.0, steps), contraction)
    best = iteration.best()
    slack = 1e-9 * float(np.sum(iteration.shifts))
    left = 0.0
    for shift, amount in zip(np.asarray(iteration.shifts).tolist(), best.amounts.tolist(), strict=True):
        left = contraction * left + shift - amount
        assert left >= -slack
    assert abs(left) <= slack


def test_a_quick_twin_in_pure_python() -> None:
    # pool adjacent violators by its definition: merge neighbors while slopes fall
    rng = np.random.default_rng(8)
    shifts, stddevs = rng.random(200) * (rng.random(200) < 0.3), rng.uniform(0.5, 1.0, 200)
    pools: list[list[float]] = []
    for s, w in zip(shifts, stddevs**2, strict=True):
        pools.append([s, w])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            top = pools.pop()
            pools[-1] = [pools[-1][0] + top[0], pools[-1][1] + top[1]]
    exact = sum(rise**2 / width for rise, width in pools)
    assert NoisyIteration(shifts, stddevs).best().squared_mu == pytest.approx(exact, rel=1e-10)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    shifts=st.lists(st.floats(0, 10), min_size=1, max_size=30),
    scale=st.floats(0.01, 100),
    stddev=st.floats(0.1, 10),
)
def test_units_cancel_and_more_noise_is_better(shifts: list[float], scale: float, stddev: float) -> None:
    base = NoisyIteration(shifts, stddev).best().squared_mu
    scaled = NoisyIteration(np.array(shifts) * scale, stddev * scale).best().squared_mu
    assert scaled == pytest.approx(base, rel=1e-9, abs=1e-300)
    assert NoisyIteration(shifts, 2 * stddev).best().squared_mu == pytest.approx(
        base / 4, rel=1e-9, abs=1e-300
    )


def test_a_shift_after_the_last_noise_is_not_guaranteed() -> None:
    with pytest.raises(NotGuaranteedError):
        NoisyIteration([1.0, 0.0], [0.0, 0.0]).gdp()
    with pytest.raises(NotGuaranteedError):
        NoisyIteration([0.0, 1.0], [1.0, 0.0]).rdp()
    assert NoisyIteration([0.0, 0.0], 0.0).gdp() == GDP(0.0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"shifts": []},
        {"shifts": 1.0},
        {"shifts": [[1.0]]},
        {"shifts": [-1.0]},
        {"shifts": [np.inf]},
        {"shifts": [np.nan]},
        {"shifts": [True]},
        {"shifts": ["1"]},
        {"noise_stddevs": -1.0},
        {"noise_stddevs": [1.0, 1.0]},
        {"noise_stddevs": np.nan},
        {"contractions": 1.1},
        {"contractions": -0.1},
        {"contractions": [1.0, 1.0]},
        {"initial_distance": -1.0},
        {"initial_distance": np.inf},
        {"initial_distance": True},
    ],
)
def test_bad_iterations_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        NoisyIteration(**{"shifts": [1.0], "noise_stddevs": 1.0, **arguments})


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 0},
        {"n": 2.0},
        {"n": True},
        {"index": 0},
        {"index": 6},
        {"shift": -1.0},
        {"shift": np.nan},
        {"noise_stddev": np.inf},
        {"passes": 0},
        {"contraction": 2.0},
    ],
)
def test_bad_records_are_refused(arguments: dict[str, Any]) -> None:
    good: dict[str, Any] = {"n": 5, "index": 2, "shift": 1.0, "noise_stddev": 1.0}
    per_index(**good)
    with pytest.raises(InvalidArgumentError):
        per_index(**(good | arguments))


def affine_mu(iteration: NoisyIteration) -> mpmath.mpf:
    """What x -> c_t x, shifted by s_t on one side only, attains: the distance of two Gaussians, in 60 digits."""
    mean, variance = mpmath.mpf(iteration.initial_distance), mpmath.mpf(0)
    rows = zip(iteration.contractions, iteration.shifts, iteration.noise_stddevs, strict=True)  # type: ignore[arg-type]
    for c, s, stddev in rows:
        mean = mpmath.mpf(float(c)) * mean + mpmath.mpf(float(s))
        variance = mpmath.mpf(float(c)) ** 2 * variance + mpmath.mpf(float(stddev)) ** 2
    if mean == 0:
        return mpmath.mpf(0)
    return mean / mpmath.sqrt(variance) if variance else mpmath.inf


@pytest.mark.parametrize(
    ("iteration", "mu"),
    [
        # a shift that is hidden once and then only contracted is post-processed, not forgotten
        (NoisyIteration([1.0] + [0.0] * 30, [1.0] + [0.0] * 30, 0.5), 1.0),
        (NoisyIteration([1.0] + [0.0] * 1999, [1.0] + [0.0] * 1999, 0.5), 1.0),
        (NoisyIteration([1e10, 0.0, 1.0], 1.0, [1.0, 0.0, 1.0]), 1.0),
        (NoisyIteration([1.0, 1.0], [1.0, 1e-155]), 1e155),
        (NoisyIteration([1.0, 0.0], [1.0, 1e-155]), 1.0),
        (NoisyIteration([1.0] + [0.0] * 600, [1.0] + [0.0] * 599 + [1e-300], 0.5), 1.0),
        (NoisyIteration([1e-170], 1.0), 1e-170),
        (NoisyIteration([1e-300], 1e300), math.ulp(0.0)),
        (NoisyIteration([1e-300, 0.0], [1e-300, 0.0], [1.0, 1e-300]), 1.0),
        (NoisyIteration([1e300], [1e-5]), 1e305),
    ],
    ids=str,
)
def test_what_has_once_been_seen_is_never_forgotten(iteration: NoisyIteration, mu: float) -> None:
    found = iteration.gdp().mu
    assert found == pytest.approx(mu, rel=1e-12, abs=1e-323)
    assert found >= affine_mu(iteration)


@pytest.mark.parametrize(
    "iteration",
    [
        NoisyIteration([1.0] + [0.0] * 1999, 0.0, 0.5),
        NoisyIteration([1e300], [1e-300]),
        NoisyIteration([1e-300, 1e300], [1.0, 1e-300]),
    ],
)
def test_what_exceeds_the_floats_is_not_guaranteed(iteration: NoisyIteration) -> None:
    with pytest.raises(NotGuaranteedError):
        iteration.gdp()
    with pytest.raises(NotGuaranteedError):
        iteration.rdp()


def test_a_renyi_curve_beyond_the_floats_is_not_guaranteed_where_its_root_is() -> None:
    iteration = NoisyIteration([1.0], 1e-200)
    assert iteration.gdp().mu == pytest.approx(1e200)
    with pytest.raises(NotGuaranteedError, match="exceeds the floats"):
        iteration.rdp()
