"""The grid walk: its bounds against exact conductances and exact laws on small grids, and its samples against both.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from dpverify.algorithms.bst14.grid_walk import (
    GridWalk,
    expected_excess,
)
from dpverify.algorithms.samplers.cell_walks import (
    COUNTED,
    Cells,
    draw_cells,
    law_after,
    rounding,
    step_freely,
    step_on_table,
    transition_matrix,
)
from dpverify.algorithms.samplers.grid_steps import GridPlan
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import PureDP
from dpverify.problems import Ball, Box, Dataset, EuclideanDistance, Linear, Logistic, Problem
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
Vector = NDArray[np.float64]


def centers(plan: GridPlan, lower: float = -1.0) -> Vector:
    places = Cells(plan.dimension, plan.cells_per_side).indices()
    return lower + plan.spacing * (places + 0.5)


def log_concave(plan: GridPlan, seed: int) -> Vector:
    """A concave log F, exactly eta-Lipschitz in the Euclidean norm, at the centers: the least of some planes."""
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(4, plan.dimension))
    slopes *= plan.lipschitz / np.linalg.norm(slopes, axis=1, keepdims=True)
    found: Vector = np.min(
        centers(plan) @ slopes.T + rng.uniform(-1, 1, 4) * plan.lipschitz * plan.edge / 4, axis=1
    )
    return found


def stationary(weights: Vector) -> Vector:
    masses: Vector = np.exp(weights - weights.max())
    return masses / masses.sum()


def exact_conductance(matrix: Vector, masses: Vector) -> float:
    """By trying every set of states."""
    states = masses.size
    flow = masses[:, None] * matrix
    best = math.inf
    for bits in itertools.product((False, True), repeat=states - 1):
        inside = np.array((*bits, False))
        if inside.any():
            mass = masses[inside].sum()
            best = min(best, flow[np.ix_(inside, ~inside)].sum() / min(mass, 1 - mass))
    return best


GRIDS = [(1, 10, 0.5), (1, 11, 3.0), (2, 3, 0.5), (2, 3, 4.0), (3, 2, 2.0)]


@pytest.mark.parametrize(("p", "k", "eta"), GRIDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_set_has_less_conductance_than_proved(p: int, k: int, eta: float, seed: int) -> None:
    plan = GridPlan(p, 2.0, eta, 50.0, cells=k)
    weights = log_concave(plan, seed)
    exact = exact_conductance(transition_matrix(Cells(p, k), weights), stationary(weights))
    assert plan.conductance <= exact * (1 + 1e-12)
    assert plan.conductance == 2 * dataclasses.replace(plan, proof="printed").conductance


def test_the_check_of_conductances_can_fail() -> None:
    """On a flat density a bound without the 2 of lazy steps, or without the p of axes, is false."""
    for p, k in ((1, 10), (2, 3)):
        plan = GridPlan(p, 2.0, 1e-9, 1.0, cells=k)
        weights = np.zeros(k**p)
        exact = exact_conductance(transition_matrix(Cells(p, k), weights), stationary(weights))
        assert plan.conductance <= exact * (1 + 1e-12) < 2 * plan.conductance


def test_the_printed_parameters() -> None:
    p, tau, eta, distance = 3, 2.0, 5.0, 0.4
    plan = GridPlan(p, tau, eta, distance, proof="printed")
    printed_spacing = distance / (2 * eta * math.sqrt(p))
    assert plan.cells_per_side == math.ceil(tau / printed_spacing)
    whole = GridPlan(p, printed_spacing * 87, eta, distance, proof="printed")
    assert whole.cells_per_side == 87
    assert whole.discretization == pytest.approx(distance / 2, rel=1e-12)
    assert whole.conductance == pytest.approx(
        distance / (8 * eta * whole.edge * p**1.5 * math.exp(distance / 2)), rel=1e-12
    )
    assert whole.steps == math.ceil(
        1
        + 4 / whole.conductance**2 * (whole.log_inverse_smallest_mass - math.log(-math.expm1(-whole.mixing)))
    )
    assert dataclasses.replace(whole, proof="conductance").steps < whole.steps / 7


@pytest.mark.parametrize(
    ("p", "k", "eta", "distance"), [(1, 30, 3.0, 0.5), (1, 8, 0.3, 0.2), (2, 7, 0.6, 0.6)]
)
@pytest.mark.parametrize("error", [0.0, 0.02])
def test_the_law_after_the_proved_steps_keeps_the_distance(
    p: int, k: int, eta: float, distance: float, error: float
) -> None:
    """Exactly: the law after T steps by powers of the matrix, against the cells' integrals of F by fine quadrature."""
    plan = GridPlan(p, 2.0, eta, distance, evaluation_error=error, cells=k)
    cells = Cells(p, k)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        slopes = rng.normal(size=(3, p))
        slopes *= eta / np.linalg.norm(slopes, axis=1, keepdims=True)
        shifts = rng.uniform(-eta, eta, 3) / 2
        fine = 9
        offsets = (np.arange(fine) + 0.5) / fine - 0.5
        inner = np.stack(np.meshgrid(*[offsets] * p, indexing="ij"), axis=-1).reshape(-1, p)
        points = centers(plan)[:, None, :] + plan.spacing * inner[None, :, :]
        everywhere = np.min(points @ slopes.T + shifts, axis=-1)
        density = np.exp(everywhere) / np.mean(np.exp(everywhere))
        noise = rng.uniform(-error, error, cells.count) if error else 0.0
        evaluated = np.min(centers(plan) @ slopes.T + shifts, axis=-1) + noise
        assert plan.steps < math.inf
        law = law_after(cells, evaluated, int(plan.steps)) * cells.count
        distance_found = np.max(np.abs(np.log(law[:, None] / density)))
        # the grid of nine points a side misses the density's variation within a ninth of a cell
        assert distance_found <= distance
        # the chain's own part, which the number of steps is about
        mixed = law / (stationary(evaluated) * cells.count)
        assert np.max(np.abs(np.log(mixed))) <= plan.mixing
        matrix = transition_matrix(cells, evaluated)
        gaps = np.sort(np.linalg.eigvals(matrix).real)
        assert 1 - gaps[-2] >= plan.conductance**2 / 2
        assert gaps[0] >= -1e-9


def test_the_distance_is_not_kept_after_few_steps() -> None:
    plan = GridPlan(1, 2.0, 3.0, 0.5)
    cells = Cells(1, plan.cells_per_side)
    weights = 3.0 * centers(plan)[:, 0]

    def distance_after(steps: int) -> float:
        return float(np.max(np.abs(np.log(law_after(cells, weights, steps) / stationary(weights)))))

    enough = next(steps for steps in range(100, 100_000, 100) if distance_after(steps) <= plan.mixing)
    assert distance_after(enough // 2) > plan.mixing
    # how loose the proof is: between ten and two hundred times
    assert 10 < plan.steps / enough < 200


def test_the_printed_smallest_mass_is_too_large_in_two_dimensions() -> None:
    """The print has exp(-eta tau) (gamma / tau)^p; the Euclidean norm needs exp(-eta tau sqrt(p))."""
    plan = GridPlan(2, 2.0, 12.0, 1.0)
    weights = 12.0 / math.sqrt(2) * centers(plan).sum(axis=1)
    smallest = math.log(stationary(weights).min())
    printed = -plan.lipschitz * plan.edge - 2 * math.log(plan.cells_per_side)
    assert smallest < printed
    assert smallest >= -plan.log_inverse_smallest_mass


def test_the_printed_relative_error_is_too_large_below() -> None:
    assert math.log(1 - 0.5 / 2) < -0.5 / 2
    assert math.log(1 - GridPlan(1, 1.0, 1.0, 0.5).relative_error) >= -0.5 / 2 - 1e-12


def chi_square(drawn: Vector, law: Vector) -> float:
    expected = law * drawn.size
    seen = np.bincount(drawn.astype(int), minlength=law.size)
    few = expected < 10
    if few.any():
        expected = np.append(expected[~few], expected[few].sum())
        seen = np.append(seen[~few], seen[few].sum())
    return float(stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue)


@pytest.mark.parametrize(("p", "k", "steps"), [(1, 6, 30), (2, 4, 25), (3, 2, 11)])
def test_steps_have_the_law_of_the_matrix(p: int, k: int, steps: int) -> None:
    plan, cells = GridPlan(p, 2.0, 1.5, 1.0, cells=k), Cells(p, k)
    weights = log_concave(plan, 5)
    law = np.linalg.matrix_power(transition_matrix(cells, weights), steps)[cells.start]
    assert law == pytest.approx(law_after(cells, weights, steps), rel=1e-12)
    calls = np.tile([0, 7, 0], (cells.count, 1))
    runs = 20_000
    state, spent = step_on_table(Randomness(3), cells, weights, calls, steps, runs)
    assert chi_square(state, law) > FALSE_ALARM
    free, spent_freely = step_freely(
        Randomness(3),
        cells,
        lambda places: (
            weights[np.ravel_multi_index(tuple(places.T), (k,) * p)],
            np.tile([0, 7, 0], (len(places), 1)),
        ),
        steps,
        runs,
    )
    assert np.array_equal(cells.places(np, state), free)
    assert np.array_equal(spent, spent_freely)
    # costs that differ from cell to cell are added up along the way
    dear = calls + np.arange(cells.count)[:, None] * np.array([0, 0, 1])
    assert np.array_equal(
        step_on_table(Randomness(3), cells, weights, dear, steps, runs)[1][:, 1], spent[:, 1]
    )
    assert np.all(spent[:, 1] % 7 == 0)
    assert spent[:, 1].max() <= 7 * (steps + 1)
    assert chi_square(draw_cells(Randomness(4), law, runs), law) > FALSE_ALARM
    many = np.tile(law, (runs, 1))
    assert np.array_equal(draw_cells(Randomness(4), law, runs), draw_cells(Randomness(4), many, runs))


@pytest.mark.parametrize("fault", ["half the steps", "no acceptance test", "start in a corner"])
def test_faults_in_the_walk_are_seen(fault: str) -> None:
    plan, cells = GridPlan(1, 2.0, 1.5, 1.0, cells=6), Cells(1, 6)
    weights = log_concave(plan, 5)
    law = np.linalg.matrix_power(transition_matrix(cells, weights), 30)[cells.start]
    if fault == "start in a corner":
        law = np.linalg.matrix_power(transition_matrix(cells, weights), 30)[0]
    used = np.zeros_like(weights) if fault == "no acceptance test" else weights
    steps = 15 if fault == "half the steps" else 30
    calls = np.zeros((6, COUNTED), dtype=np.int64)
    assert chi_square(step_on_table(Randomness(3), cells, used, calls, steps, 20_000)[0], law) < FALSE_ALARM


def test_the_law_is_accurate() -> None:
    """Against the same powers in twice the digits."""
    import mpmath

    cells = Cells(1, 5)
    weights = np.array([0.0, -1.0, 2.0, 1.0, -3.0])
    matrix = transition_matrix(cells, weights)
    with mpmath.workdps(40):
        exact = mpmath.matrix(matrix.tolist()) ** 1000
        row = [float(exact[cells.start, j]) for j in range(5)]
    found = law_after(cells, weights, 1000)
    assert np.max(np.abs(found / row - 1)) <= 2 * rounding(cells, 1000)


def data_set(n: int, p: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, p))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1))[:, None]
    return Dataset(features, np.sign(rng.normal(size=n)))


def cell_distribution(edges: Vector, law: Vector, x: Vector) -> Vector:
    found: Vector = np.interp(x, edges, np.concatenate(([0.0], np.cumsum(law))))
    return found


@pytest.mark.parametrize("simulation", ["steps", "law"])
def test_points_have_the_exact_law(simulation: Any) -> None:
    """One dimension: uniform on cells that have the law after T steps, from an independent matrix power."""
    data, loss = data_set(4, 1), EuclideanDistance()
    walk = GridWalk.for_privacy(Problem(loss, Box((-0.5,), (1.5,))), epsilon=2.0)
    walk = dataclasses.replace(walk, simulation=simulation)
    plan = walk.plan(4)
    k = plan.cells_per_side
    edges = np.linspace(-0.5, 1.5, k + 1)
    middle = 0.5 * (edges[1:] + edges[:-1])
    weights = -walk.scale * np.abs(middle[:, None] - data.features[:, 0]).sum(axis=1)
    matrix = np.diag(np.full(k, 1.0))
    for i in range(k):
        for j in (i - 1, i + 1):
            if 0 <= j < k:
                matrix[i, j] = min(1.0, math.exp(weights[j] - weights[i])) / 4
                matrix[i, i] -= matrix[i, j]
    law = np.linalg.matrix_power(matrix, walk.step_count(4))[k // 2]
    output = run(walk, data, runs=20_000, seed=2)
    points = output.points[:, 0]
    assert stats.kstest(points, lambda x: cell_distribution(edges, law, x)).pvalue > FALSE_ALARM
    wrong = np.roll(law, 1)
    assert stats.kstest(points, lambda x: cell_distribution(edges, wrong, x)).pvalue < FALSE_ALARM
    assert points.min() >= -0.5
    assert points.max() <= 1.5
    (stated,) = walk.queries(4)
    assert output.value_queries.max() <= stated.count
    if simulation == "steps":
        assert 0.3 * stated.count < output.value_queries.mean() < 0.5 * stated.count


def marginal_law(per_side: int, slope: float, dimension: int, steps: int) -> Vector:
    """One axis of the walk on a product measure with weights exp(slope place): a chain of its own, of k states."""
    matrix = np.zeros((per_side, per_side))
    for i in range(per_side):
        for j in (i - 1, i + 1):
            if 0 <= j < per_side:
                matrix[i, j] = min(1.0, math.exp(slope * (j - i))) / (4 * dimension)
        matrix[i, i] = 1.0 - matrix[i].sum()
    found: Vector = np.linalg.matrix_power(matrix, steps)[per_side // 2]
    return found


@pytest.mark.parametrize(("p", "k"), [(19, 9), (20, 9), (21, 9), (40, 9), (21, 8), (8, 1025)])
def test_many_dimensions_have_the_law_of_a_product(p: int, k: int) -> None:
    """Beyond 2^63 cells, too: every axis has its own exact law, which by then is nearly the one in closed form."""
    runs = 500
    slope, steps = (3.0, 60 * p) if k < 10 else (0.5, 40 * p)
    # the weight of a linear loss changes by `slope` from cell to cell, along every axis
    scale = slope * k / 2 * math.sqrt(p)
    walk = GridWalk(
        Problem(Linear(), Box.cube(p, 1.0)), scale, 1.0, steps=steps, cells=k, withdraw_guarantee=True
    )
    output = walk(Dataset(-np.ones((1, p)) / math.sqrt(p), [1.0]), rng=Randomness(5), runs=runs)
    places = np.floor((np.asarray(output.points) + 1.0) * (k / 2)).astype(int)
    law = marginal_law(k, slope, p, steps)
    if k < 10:
        closed = stationary(slope * np.arange(k))
        assert np.abs(law - closed).sum() < 2e-3
        center = float((-1 + (2 * np.arange(k) + 1) / k) @ law)
        # 12 standard deviations of a mean over runs * p independent points; the axes are not quite independent
        assert np.mean(output.points) == pytest.approx(center, abs=12 / math.sqrt(runs * p))
    for axis in range(p):
        assert chi_square(places[:, axis], law) > FALSE_ALARM / p
    assert np.all(np.abs(output.points) <= 1.0)


def test_laws_of_too_many_cells_are_refused_before_they_are_computed() -> None:
    problem = Problem(Linear(), Box.cube(21, 1.0))
    walk = GridWalk(problem, 1.0, 1.0, steps=5, cells=9, simulation="law", withdraw_guarantee=True)
    with pytest.raises(
        InvalidArgumentError, match=r"simulation .* at most 8192 cells, and the grid has 9\^21"
    ):
        walk(Dataset(np.zeros((1, 21)), [1.0]), rng=Randomness(1), runs=2)


def test_grids_and_distances_at_the_edge_of_double_precision() -> None:
    with pytest.raises(InvalidArgumentError, match="distance"):
        GridPlan(3, 1e200, 1e200, 1e-9).steps  # noqa: B018
    assert GridPlan(3, 2.0, 800.0, 1000.0).steps == math.inf
    assert GridPlan(40, 2.0, 1.0, 1.0, cells=2**50).states == 2**2000


def test_the_guarantee_holds_exactly() -> None:
    """Densities on neighbors, exactly: within epsilon, and not within a third of it (the two sets are far apart)."""
    epsilon, n = 3.0, 3
    for p in (1, 2):
        problem = Problem(Linear(), Box.cube(p, 1.0))
        walk = GridWalk.for_privacy(problem, epsilon=epsilon)
        (stated,) = walk.guarantees(n)
        assert isinstance(stated.guarantee, PureDP)
        assert stated.guarantee.epsilon == pytest.approx(epsilon, rel=1e-12)
        direction = np.ones(p) / math.sqrt(p)
        plan = walk.plan(n)
        cells = Cells(p, plan.cells_per_side)
        laws = []
        for sign in (1.0, -1.0):
            total = sign * direction + (n - 1) * direction
            laws.append(law_after(cells, -walk.scale * centers(plan) @ total, walk.step_count(n)))
        largest = float(np.max(np.abs(np.log(laws[0] / laws[1]))))
        assert epsilon / 10 < largest <= epsilon
        louder = law_after(cells, -20 * walk.scale * centers(plan) @ (n * direction), walk.step_count(n))
        assert np.max(np.abs(np.log(louder / laws[1]))) > epsilon


@pytest.mark.parametrize(("p", "distance"), [(1, 0.5), (3, 2 / 3), (30, 2 / 3), (5, 3.0), (4, 0.0)])
def test_the_worst_density_within_a_distance_is_found_by_a_program(p: int, distance: float) -> None:
    """Of densities against Gamma(p, 1) on 400 parts of equal mass, between the two factors: the largest mean."""
    ends = stats.gamma.ppf(np.linspace(0.0, 1.0, 401), p)
    means = p * np.diff(stats.gamma.cdf(ends, p + 1)) * 400
    limits = (math.exp(-distance) / 400, math.exp(distance) / 400)
    found = optimize.linprog(-means, A_eq=np.ones((1, 400)), b_eq=[1.0], bounds=limits)
    stated = expected_excess(p, 2.0, distance)
    assert stated.bound == pytest.approx(-found.fun / 2, rel=1e-3)
    assert -found.fun / 2 <= stated.bound * (1 + 1e-9) <= stated.theorem * (1 + 2e-9)


@pytest.mark.parametrize("p", [1, 2])
def test_the_risk_bound_holds_by_quadrature(p: int) -> None:
    """For convex functions on a square; a cone attains it, but for the walls."""
    plan = GridPlan(p, 2.0, 1.0, 1.0, cells=2000 if p == 1 else 400)
    points = centers(plan)
    bound = expected_excess(p, 30.0, 0.0).bound
    for seed in range(3):
        convex = -log_concave(plan, seed)
        excess = convex - convex.min()
        assert stationary(-30.0 * excess) @ excess <= bound
    cone = np.linalg.norm(points, axis=1)
    # attained but for the walls; the quadrature is good to a thousandth
    assert 0.999 * bound <= stationary(-30.0 * cone) @ cone <= 1.001 * bound


def test_how_steps_grow() -> None:
    """In one dimension cells grow as n, steps as their square times the logarithm of the smallest mass."""
    walk = GridWalk.for_privacy(Problem(Linear(), Box.cube(1, 1.0)), epsilon=1.0)
    ten, hundred = walk.plan(10), walk.plan(100)
    assert ten.cells_per_side * 10 == hundred.cells_per_side
    assert 2 < math.log10(hundred.steps / ten.steps) < 3


@pytest.mark.parametrize("simulation", ["steps", "law"])
def test_strict_arrays_get_the_same_points(simulation: Any) -> None:
    data = data_set(3, 2)
    walk = GridWalk.for_privacy(Problem(Logistic(), Box.cube(2, 1.0)), epsilon=2.0)
    walk = dataclasses.replace(walk, steps=40, withdraw_guarantee=True, simulation=simulation)
    plain = walk(data, rng=Randomness(1), runs=30)
    strict = walk(data, rng=Randomness(1, xp=array_api_strict), runs=30)
    assert np.asarray(strict.points) == pytest.approx(plain.points, abs=1e-12)
    assert np.array_equal(np.asarray(strict.value_queries), plain.value_queries)


def test_too_few_steps_are_refused_or_withdraw_the_guarantee() -> None:
    problem, data = Problem(Logistic(), Box.cube(1, 1.0)), data_set(4, 1)
    walk = GridWalk.for_privacy(problem, epsilon=1.0)
    proved = walk.step_count(4)
    few = dataclasses.replace(walk, steps=proved - 1)
    assert not few.guarantees(4)
    assert few.guarantee_at(4, 2) is None
    assert few.sampling_error(4) is None
    assert few.risk_bound(4) is None
    with pytest.raises(NotGuaranteedError, match="fewer than"):
        few(data, rng=Randomness(1), runs=2)
    assert dataclasses.replace(few, withdraw_guarantee=True)(
        data, rng=Randomness(1), runs=2
    ).points.shape == (2, 1)
    enough = dataclasses.replace(walk, steps=proved)
    assert enough.guarantees(4)
    stated = enough.guarantee_at(4, 2)
    assert stated is not None
    assert stated.index == 2
    coarse = dataclasses.replace(walk, cells=1)
    with pytest.raises(NotGuaranteedError, match="too coarse"):
        coarse(data, rng=Randomness(1), runs=2)
    with pytest.raises(NotGuaranteedError, match="too coarse"):
        coarse.step_count(4)


BAD: list[tuple[str, Any]] = [
    *(("scale", bad) for bad in (0.0, -1.0, math.nan, math.inf, True, "1")),
    *(("distance", bad) for bad in (0.0, -1.0, math.nan, math.inf, True)),
    *(("steps", bad) for bad in (-1, 2.0, True)),
    *(("cells", bad) for bad in (0, 2.0, True)),
    ("proof", "none"),
    ("simulation", "guess"),
    ("withdraw_guarantee", 1),
    ("problem", None),
    ("problem", Problem(Logistic(), Ball(2, 1.0))),
    ("problem", Problem(Logistic(), Box((-1.0, -1.0), (1.0, 2.0)))),
]


@pytest.mark.parametrize(("name", "bad"), BAD)
def test_bad_input(name: str, bad: Any) -> None:
    walk = GridWalk(Problem(Logistic(), Box.cube(1, 1.0)), 1.0, 1.0)
    with pytest.raises(InvalidArgumentError):
        dataclasses.replace(walk, **{name: bad})


@pytest.mark.parametrize("name", ["edge", "lipschitz", "distance", "evaluation_error"])
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, True])
def test_bad_plans(name: str, bad: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        dataclasses.replace(GridPlan(1, 1.0, 1.0, 1.0), **{name: bad})


def test_what_is_no_problem_is_refused() -> None:
    no_problem: Any = 1
    with pytest.raises(InvalidArgumentError, match="Problem"):
        GridWalk.for_privacy(no_problem, epsilon=1.0)
