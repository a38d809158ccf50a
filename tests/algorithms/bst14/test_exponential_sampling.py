"""Exponential sampling has its exact law, its privacy is tight, and faults are seen.

Each test of a law at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling, total_quadratic
from dpverify.algorithms.samplers.certified_rejection import build_envelope
from dpverify.algorithms.samplers.free_coordinates import FreeRegion, RiskPotential
from dpverify.algorithms.samplers.quadratic_sampling import RejectionSampler
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import PureDP
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
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
    opposite_linear,
)
from dpverify.running import Randomness

FALSE_ALARM = 1e-6
RUNS = 20_000
Array = NDArray[np.float64]


def make_data(n: int, d: int, seed: int = 1, tilt: float = 0.3) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) + tilt
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1))[:, None]
    return Dataset(features, np.where(rng.uniform(size=n) < 0.7, 1.0, -1.0))


def draw(algorithm: ExponentialSampling, data: Dataset, runs: int = RUNS, seed: int = 5) -> Array:
    return np.asarray(algorithm(data, rng=Randomness(seed), runs=runs).points)


def interpolated(grid: Array, density: Array) -> Callable[[Array], Array]:
    """Distribution function by the trapezoidal rule."""
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(grid)
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    return lambda x: np.interp(x, grid, sums / sums[-1])


def chord(constraint: ConstraintSet, x: float) -> tuple[float, float]:
    """Second free coordinate's range where the first one is x."""
    if isinstance(constraint, Ball):
        half = math.sqrt(max(0.0, constraint.radius**2 - (x - constraint.center()[0]) ** 2))
        return constraint.center()[1] - half, constraint.center()[1] + half
    if isinstance(constraint, Box):
        return constraint.lower[1], constraint.upper[1]
    assert isinstance(constraint, Simplex)
    return 0.0, constraint.scale - x


def marginal(problem: Problem, data: Dataset, scale: float) -> Callable[[Array], Array]:
    """Distribution function of the first coordinate, by quadrature in one or two dimensions."""
    constraint = problem.constraint
    region = FreeRegion(constraint)
    grid = np.linspace(float(region.lower[0]), float(region.upper[0]), 3001)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    if region.lower.shape[0] == 1:
        points, volumes = grid[:, None, None], np.ones((grid.size, 1))
    else:
        ends = np.array([chord(constraint, float(x)) for x in grid])
        half = 0.5 * (ends[:, 1] - ends[:, 0])
        second = ends[:, :1] + half[:, None] * (nodes + 1)
        points = np.stack([np.broadcast_to(grid[:, None], second.shape), second], axis=2)
        volumes = half[:, None] * weights
    whole = np.asarray(region.whole(points.reshape(-1, points.shape[2])))
    exponents = -scale * np.asarray(problem.total_risk(whole, data)).reshape(volumes.shape)
    return interpolated(grid, np.sum(volumes * np.exp(exponents - exponents.max()), axis=1))


CELLS: list[tuple[Loss, ConstraintSet]] = [
    (Logistic(), Ball(1, 1.0)),
    (Hinge(), Box((-0.3,), (1.5,))),
    (EuclideanDistance(), Simplex(2, 1.0)),
    (Logistic(), Ball(2, 1.0)),
    (Hinge(), Simplex(3, 1.0)),
    (Squared(2.0), Ball(2, 1.0, (0.5, -0.2))),
    (EuclideanDistance(), Box((-1.0, 0.0), (0.5, 0.4))),
    (Ridge(Hinge(), 0.5, 1.0), Ball(2, 1.0)),
]


@pytest.mark.parametrize(("loss", "constraint"), CELLS, ids=str)
@pytest.mark.parametrize("epsilon", [1.0, 30.0])
def test_cells_have_the_law_of_quadrature(loss: Loss, constraint: ConstraintSet, epsilon: float) -> None:
    data = make_data(40, constraint.dimension)
    algorithm = ExponentialSampling(Problem(loss, constraint), epsilon, method="cells")
    points = draw(algorithm, data)
    assert np.all(constraint.contains(points, 1e-12))
    law = marginal(algorithm.problem, data, algorithm.scale)
    assert stats.kstest(points[:, 0], law).pvalue > FALSE_ALARM


def test_doubled_exponent_has_another_law() -> None:
    """The planted fault that the tests above must see."""
    data = make_data(40, 2)
    problem = Problem(Logistic(), Ball(2, 1.0))
    right = ExponentialSampling(problem, 2.0)
    doubled = ExponentialSampling(problem, 2.0, exponent_scale=2 * right.scale, withdraw_guarantee=True)
    law = marginal(problem, data, right.scale)
    assert stats.kstest(draw(doubled, data)[:, 0], law).pvalue < FALSE_ALARM


def test_linear_on_a_box_is_a_product_of_truncated_exponentials() -> None:
    data = make_data(50, 6)
    box = Box((-1.0, 0.0, -0.5, -2.0, 0.3, -1e-9), (1.0, 0.7, 0.6, 2.0, 0.4, 1e-9))
    algorithm = ExponentialSampling(Problem(Linear(labeled=True), box), 4.0)
    rates = algorithm.scale * data.labels @ data.features
    points = draw(algorithm, data)
    for i in range(6):
        low, high = box.lower[i], box.upper[i]

        def law(x: Array, rate: float = float(rates[i]), low: float = low, high: float = high) -> Array:
            return np.asarray(np.expm1(-rate * (x - low)) / np.expm1(-rate * (high - low)))

        assert stats.kstest(points[:, i], law).pvalue > FALSE_ALARM / 6


@pytest.mark.parametrize("d", [2, 3, 7, 40])
@pytest.mark.parametrize(
    "loss", [Linear(labeled=True), HalfSquaredDistance(1.0), Ridge(Linear(), 0.2, 1.0)], ids=str
)
def test_ball_in_any_dimension(loss: Loss, d: int) -> None:
    """Along the axis by quadrature over the distance off it; off the axis uniform directions."""
    data = make_data(60, d)
    algorithm = ExponentialSampling(Problem(loss, Ball(d, 1.0)), 20.0)
    hessian, slope, _ = total_quadratic(algorithm.problem, data)
    alpha, pull = algorithm.scale * hessian[0, 0], -algorithm.scale * slope
    axis = pull / np.linalg.norm(pull)
    points = draw(algorithm, data)
    along = points @ axis
    t = np.linspace(-1, 1, 4001)
    exponent = -0.5 * alpha * t**2 + np.linalg.norm(pull) * t
    reach = 1 - t**2
    if alpha > 0:
        slices = special.gammainc((d - 1) / 2, alpha * reach / 2)
    else:
        slices = reach ** ((d - 1) / 2)
    law = interpolated(t, slices * np.exp(exponent - exponent.max()))
    assert stats.kstest(along, law).pvalue > FALSE_ALARM / 3
    assert np.all(np.linalg.norm(points, axis=1) <= 1 + 1e-12)
    off = points - along[:, None] * axis
    other = np.linalg.svd(axis[None, :])[2][1]
    direction = off @ other / np.linalg.norm(off, axis=1)
    if d == 2:
        assert stats.binomtest(int(np.sum(direction > 0)), RUNS).pvalue > FALSE_ALARM / 3
    else:
        uniform = stats.beta((d - 2) / 2, (d - 2) / 2, loc=-1, scale=2)
        assert stats.kstest(direction, uniform.cdf).pvalue > FALSE_ALARM / 3
    # the distance off the axis, given the position along it: a truncated chi-square law
    distance = np.sum(off**2, axis=1)
    if alpha > 0:
        share = special.gammainc((d - 1) / 2, alpha * distance / 2) / special.gammainc(
            (d - 1) / 2, alpha * (1 - along**2) / 2
        )
    else:
        share = (distance / (1 - along**2)) ** ((d - 1) / 2)
    assert stats.kstest(share, "uniform").pvalue > FALSE_ALARM / 3


@pytest.mark.parametrize("loss", [HalfSquaredDistance(4.0), ContractOrDrift(4.0)], ids=str)
def test_spherical_on_a_box_is_a_product_of_truncated_normals(loss: Loss) -> None:
    raw = make_data(200, 4)
    data = Dataset(raw.features, (raw.labels + 1) / 2)
    box = Box((-1.0, 0.0, -0.5, -2.0), (1.0, 0.7, 0.6, 2.0))
    algorithm = ExponentialSampling(Problem(loss, box), 30.0)
    hessian, slope, _ = total_quadratic(algorithm.problem, data)
    points = draw(algorithm, data)
    width = 1 / math.sqrt(algorithm.scale * hessian[0, 0])
    for i in range(4):
        mean = -slope[i] / hessian[0, 0]
        law = stats.truncnorm((box.lower[i] - mean) / width, (box.upper[i] - mean) / width, mean, width)
        assert stats.kstest(points[:, i], law.cdf).pvalue > FALSE_ALARM / 4


@pytest.mark.parametrize("constraint", [Ball(4, 1.0), Box.cube(4, 0.6)], ids=str)
@pytest.mark.parametrize("epsilon", [2.0, 20.0])
def test_general_quadratic_agrees_with_uniform_proposals(constraint: ConstraintSet, epsilon: float) -> None:
    """Against a twin that proposes uniformly in the cube and accepts by the density."""
    data = make_data(30, 4)
    algorithm = ExponentialSampling(Problem(Squared(2.0), constraint), epsilon)
    points = draw(algorithm, data)
    rng = np.random.default_rng(0)
    half = 1.0 if isinstance(constraint, Ball) else 0.6
    proposals = rng.uniform(-half, half, (400_000, 4))
    proposals = proposals[np.asarray(constraint.contains(proposals, 0.0))]
    exponents = -algorithm.scale * np.asarray(algorithm.problem.total_risk(proposals, data))
    twin = proposals[rng.uniform(size=exponents.size) < np.exp(exponents - exponents.max())]
    assert twin.shape[0] > 2000
    statistics: list[Callable[[Array], Array]] = [
        lambda w: w[:, 0],
        lambda w: w[:, 3],
        lambda w: np.sum(w**2, axis=1),
        lambda w: w[:, 1] * w[:, 2],
    ]
    for statistic in statistics:
        assert stats.ks_2samp(statistic(points), statistic(twin)).pvalue > FALSE_ALARM / 4


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Box((-1.0, -0.2), (0.4, 0.9))], ids=str)
def test_general_quadratic_has_the_law_of_quadrature(constraint: ConstraintSet) -> None:
    data = make_data(100, 2)
    algorithm = ExponentialSampling(Problem(Squared(2.0), constraint), 20.0, method="quadratic")
    law = marginal(algorithm.problem, data, algorithm.scale)
    assert stats.kstest(draw(algorithm, data)[:, 0], law).pvalue > FALSE_ALARM


def test_hopeless_quadratic_is_refused() -> None:
    """A thin needle across the corner of a box in many dimensions: neither envelope fits."""
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    hessian = turned @ np.diag(np.concatenate([np.zeros(15), np.full(15, 1e6)])) @ turned.T
    slope = rng.normal(size=30) * 100
    with pytest.raises(NotGuaranteedError, match="proposals for this quadratic loss"):
        RejectionSampler(Box.cube(30, 1.0), hessian, slope).draw(Randomness(1), 10)


def log_density(problem: Problem, data: Dataset, scale: float, points: Array, volumes: Array) -> Array:
    exponents = -scale * np.asarray(problem.total_risk(points, data))
    return np.asarray(exponents - special.logsumexp(exponents, b=volumes))


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("loss", [Logistic(), Squared(1.0), Linear(labeled=True), Hinge()], ids=str)
def test_densities_of_neighbors_are_within_epsilon(loss: Loss, d: int) -> None:
    """By normalized densities on a grid, no sampling; with the exponent doubled they are not, for some pair."""
    constraint = Ball(d, 1.0)
    algorithm = ExponentialSampling(Problem(loss, constraint), 1.0)
    line = np.linspace(-1, 1, 61 if d == 2 else 201)
    points = np.stack(np.meshgrid(*[line] * d), axis=-1).reshape(-1, d)
    points = points[np.asarray(constraint.contains(points, 0.0))]
    volumes = np.ones(points.shape[0])
    largest = {1: 0.0, 2: 0.0}
    for n, seed in ((1, 1), (40, 2), (1000, 3)):
        data = make_data(n, d, seed, tilt=3.0)
        data = Dataset(data.features, np.ones(n))
        other = data.replace(1, -np.asarray(data.features[0]), 1.0)
        for factor in largest:
            left = log_density(algorithm.problem, data, factor * algorithm.scale, points, volumes)
            right = log_density(algorithm.problem, other, factor * algorithm.scale, points, volumes)
            largest[factor] = max(largest[factor], float(np.max(np.abs(left - right))))
    assert largest[1] <= algorithm.epsilon
    assert algorithm.guarantees(40).headline.guarantee == PureDP(1.0)
    if isinstance(loss, Linear):
        # opposite records, all others on one side: the bound is reached, so the 2 is needed
        assert largest[1] > 0.9 * algorithm.epsilon
        assert largest[2] > 1.8 * algorithm.epsilon


def test_excess_risk_is_gamma_for_a_cone_and_below_it_elsewhere() -> None:
    """A linear loss in the corner of a box: s times the excess is Gamma(p, 1) but for truncation at e^-100."""
    p, n = 5, 4000
    features = np.full((n, p), 1 / math.sqrt(p))
    algorithm = ExponentialSampling(Problem(Linear(), Box.cube(p, 1.0)), 1.0)
    data = Dataset(features, np.ones(n))
    points = draw(algorithm, data)
    excess = np.asarray(algorithm.problem.total_risk(points, data)) + n * math.sqrt(p)
    assert stats.kstest(algorithm.scale * excess, stats.gamma(p).cdf).pvalue > FALSE_ALARM
    bound = algorithm.risk_bound(n)
    assert bound is not None
    assert bound.bound == pytest.approx(2 * p * algorithm.problem.constraint.diameter)
    tail = algorithm.risk_quantile(n, 0.99)
    assert tail is not None
    exceeding = int(np.sum(excess > tail.bound))
    assert stats.binomtest(exceeding, RUNS, 0.01).pvalue > FALSE_ALARM


def test_printed_tail_of_theorem_3_2_is_false_for_large_p() -> None:
    """In that cone Pr[excess > (p ln 3 + 2 t) / s] is a Gamma tail, above e^-t for p = 100, t = 10."""
    p, t = 100, 10.0
    assert stats.gamma.sf(p * math.log(3) + 2 * t, p) > 10 * math.exp(-t)
    # with the three layers that the proof leaves out, it holds
    for p in (1, 10, 100, 1000):
        for t in (0.01, 1.0, 10.0, 100.0):
            assert stats.gamma.sf(3 * (p * math.log(3) + 2 * t), p) <= math.exp(-t)


@pytest.mark.parametrize(("loss", "constraint"), CELLS, ids=str)
def test_envelope_is_below_the_risk_and_its_acceptance_is_proved(
    loss: Loss, constraint: ConstraintSet
) -> None:
    data = make_data(40, constraint.dimension)
    algorithm = ExponentialSampling(Problem(loss, constraint), 10.0, method="cells")
    region, potential = FreeRegion(constraint), RiskPotential(algorithm.problem, data, algorithm.scale)
    envelope = build_envelope(potential, region)
    rng = np.random.default_rng(0)
    points = region.inside(rng.uniform(region.lower, region.upper, (2000, region.lower.shape[0])))
    offsets = points[:, None, :] - envelope.cells.lower
    planes = envelope.cells.heights + np.sum(envelope.cells.slopes * offsets, axis=2)
    values = np.asarray(potential.value(points))
    assert np.all(planes - envelope.margin <= values[:, None])
    covered = np.all((offsets >= -1e-12) & (offsets <= envelope.cells.widths + 1e-12), axis=2)
    assert np.all(np.any(covered, axis=1))
    output = algorithm(data, rng=Randomness(3), runs=RUNS)
    proposals = np.asarray(output.value_queries) / data.n - np.min(output.value_queries) / data.n + 1
    assert 1 / np.mean(proposals) > envelope.acceptance * 0.95
    assert envelope.margin < 1e-6


@dataclass(frozen=True)
class Parabola:
    """30 x^2, with an allowance for rounding as large as is told."""

    rounding: float

    def value(self, points: Any) -> Any:
        return 30 * points[:, 0] ** 2

    def gradient(self, points: Any) -> Any:
        return 60 * points


@pytest.mark.parametrize("margin", [0.0, 0.5, 2.0])
def test_a_margin_costs_proposals_but_not_exactness(margin: float) -> None:
    """A share exp(-margin) of what would have been accepted is left; the proved share knows it."""
    region = FreeRegion(Ball(1, 1.0))
    envelope = build_envelope(Parabola(margin), region, target=0.9)
    points, asked = envelope.sample(rng=Randomness(1), runs=RUNS, name="position")
    law = stats.truncnorm(-math.sqrt(60), math.sqrt(60), 0, 1 / math.sqrt(60))
    assert stats.kstest(points[:, 0], law.cdf).pvalue > FALSE_ALARM
    proposals = int(np.sum(asked))
    # the proved share is also below the chance that a value is off by the margin
    assert stats.binomtest(RUNS, proposals, envelope.acceptance, "less").pvalue > FALSE_ALARM
    assert RUNS / proposals < 1.05 * math.exp(-margin)
    with pytest.raises(NotGuaranteedError):
        build_envelope(Parabola(4.0), region)


def test_planes_that_are_too_high_are_seen() -> None:
    """A loss that is not convex lies below its tangents."""

    @dataclass(frozen=True)
    class Wave:
        lipschitz_constant: ClassVar[float] = 3.0
        smoothness: ClassVar[float] = 9.0
        strong_convexity: ClassVar[float] = 0.0

        def value(self, w: Any, x: Any, y: Any) -> Any:
            return np.cos(3 * w[:, 0])

        def gradient(self, w: Any, x: Any, y: Any) -> Any:
            return -3 * np.sin(3 * w)

    with pytest.raises(InvalidDataError, match="not convex"):
        draw(ExponentialSampling(Problem(Wave(), Ball(1, 1.0)), 5.0), make_data(20, 1))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "constraint", [Ball(1, 1.0), Ball(2, 1.0), Box.cube(3, 0.5), Simplex(3, 1.0)], ids=str
)
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), HalfSquaredDistance(2.0)], ids=str)
def test_localized_is_the_law_conditioned(loss: Loss, constraint: ConstraintSet) -> None:
    """Against draws on all of C that fall near the center, two-sample."""
    data = make_data(20, constraint.dimension)
    algorithm = ExponentialSampling(Problem(loss, constraint), 8.0)
    center = np.asarray(constraint.project(constraint.center()[None, :] + 0.3))
    radius = 0.5 * constraint.diameter
    everywhere = draw(algorithm, data, runs=2 * RUNS)
    kept = everywhere[np.linalg.norm(everywhere - center, axis=1) <= radius]
    assert kept.shape[0] > 1000
    output = algorithm.sample_localized(
        data, np.repeat(center, RUNS, axis=0), radius, exponent_scale=algorithm.scale, rng=Randomness(8)
    )
    points = output.points
    assert np.all(np.linalg.norm(points - center, axis=1) <= radius * (1 + 1e-12))
    statistics: list[Callable[[Array], Array]] = [
        lambda w: w[:, 0],
        lambda w: w[:, -1],
        lambda w: np.sum((w - center) ** 2, axis=1),
    ]
    for statistic in statistics:
        assert stats.ks_2samp(statistic(points), statistic(kept)).pvalue > FALSE_ALARM / 3


def test_localized_centers_differ_and_borders_are_kept() -> None:
    """Steep densities pressed against the border, centers of every run its own; by quadrature for two of them."""
    data = Dataset(np.full((50, 1), 1.0), np.ones(50))
    algorithm = ExponentialSampling(Problem(Hinge(), Ball(1, 1.0)), 5.0)
    centers = np.where(np.arange(2 * RUNS) % 2 == 0, -0.9, 0.2)[:, None]
    output = algorithm.sample_localized(data, centers, 0.25, exponent_scale=0.1, rng=Randomness(2))
    for center in (-0.9, 0.2):
        points = output.points[centers[:, 0] == center, 0]
        low, high = max(-1.0, center - 0.25), center + 0.25
        grid = np.linspace(low, high, 2001)
        law = interpolated(grid, np.exp(-5.0 * (1 - grid)))
        assert stats.kstest(points, law).pvalue > FALSE_ALARM / 2
        assert np.min(points) >= low
        assert np.max(points) <= high + 1e-15
    assert np.all(np.asarray(output.value_queries) >= 2 * data.n)


@pytest.mark.parametrize(
    ("loss", "constraint", "method"),
    [
        (Linear(), Box.cube(3, 0.5), "auto"),
        (Squared(2.0), Ball(4, 1.0), "auto"),
        (HalfSquaredDistance(2.0), Ball(5, 1.0), "auto"),
        (HalfSquaredDistance(2.0), Box.cube(2, 1.0), "auto"),
        (Logistic(), Ball(2, 1.0), "auto"),
        (Hinge(), Simplex(4, 1.0), "cells"),
    ],
    ids=str,
)
def test_array_api_strict_gives_the_same(loss: Loss, constraint: ConstraintSet, method: Any) -> None:
    data = make_data(15, constraint.dimension)
    algorithm = ExponentialSampling(Problem(loss, constraint), 2.0, method=method)
    ours = algorithm(data, rng=Randomness(4), runs=50)
    with array_api_strict.ArrayAPIStrictFlags(boolean_indexing=False):
        strict = data.as_namespace(array_api_strict)
        theirs = algorithm(strict, rng=Randomness(4, xp=array_api_strict), runs=50)
        np.testing.assert_allclose(np.asarray(theirs.points), ours.points, rtol=0, atol=1e-12)
        if constraint.dimension <= 3:
            centers = constraint.project(ours.points)
            near = algorithm.sample_localized(
                strict, centers, 0.3, exponent_scale=0.5, rng=Randomness(4, xp=array_api_strict)
            )
            mine = algorithm.sample_localized(data, centers, 0.3, exponent_scale=0.5, rng=Randomness(4))
            np.testing.assert_allclose(np.asarray(near.points), mine.points, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(theirs.value_queries), ours.value_queries)


def test_counts_and_promises() -> None:
    data = make_data(25, 4)
    linear = ExponentialSampling(Problem(Linear(), Ball(4, 1.0)), 1.0)
    assert linear(data, rng=Randomness(1), runs=3).gradient_queries == linear.gradient_query_count(25) == 25
    square = ExponentialSampling(Problem(Squared(1.0), Ball(4, 1.0)), 1.0)
    assert square(data, rng=Randomness(1), runs=3).gradient_queries == square.gradient_query_count(25) == 125
    cells = ExponentialSampling(Problem(Logistic(), Ball(2, 1.0)), 1.0)
    output = cells(make_data(25, 2), rng=Randomness(1), runs=300)
    gradients, values = cells.queries(25)
    assert np.max(output.gradient_queries) <= gradients.count
    assert np.mean(output.value_queries) <= values.count
    error = cells.sampling_error(25)
    assert error is not None
    assert error.bound == 0
    # a loss whose records' gradients differ by less than 2 L loses less
    stated = tuple(ExponentialSampling(Problem(HalfSquaredDistance(3.0), Ball(2, 1.0)), 1.0).guarantees(5))
    assert [one.guarantee for one in stated] == [PureDP(1.0), PureDP(0.25)]
    at = cells.guarantee_at(9, 3)
    assert at is not None
    assert at.index == 3
    flat = ExponentialSampling(Problem(Logistic(), Ball(2, 1.0)), 1.0, exponent_scale=0.0)
    assert flat.risk_bound(5) is None
    assert draw(flat, make_data(25, 2), runs=10).shape == (10, 2)


PROBLEM = Problem(Logistic(), Ball(2, 1.0))


@pytest.mark.parametrize(
    ("argument", "parameters"),
    [
        ("problem", {"problem": "risk"}),
        ("problem", {"problem": Problem(Logistic(), AllSpace(2))}),
        ("problem", {"problem": Problem(Logistic(), Simplex(1, 1.0))}),
        ("problem", {"problem": Problem(Logistic(), Ball(4, 1.0))}),
        ("problem", {"problem": Problem(Linear(), Simplex(6, 1.0))}),
        *(("epsilon", {"epsilon": value}) for value in (0.0, -1.0, math.nan, math.inf, True, "1")),
        *(("exponent_scale", {"exponent_scale": value}) for value in (-0.1, math.nan, math.inf, False)),
        ("method", {"method": "exact"}),
        ("method", {"method": "quadratic"}),
        ("method", {"problem": Problem(Linear(), Ball(4, 1.0)), "method": "cells"}),
        *(("largest_cells", {"largest_cells": value}) for value in (0, 2.0, True)),
        ("withdraw_guarantee", {"withdraw_guarantee": 1}),
    ],
)
def test_bad_parameters_are_refused(argument: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        ExponentialSampling(**{"problem": PROBLEM, "epsilon": 1.0, **parameters})
    assert caught.value.argument == argument


def test_what_voids_the_guarantee_is_refused_or_withdrawn() -> None:
    scale = ExponentialSampling(PROBLEM, 1.0).largest_scale
    assert ExponentialSampling(PROBLEM, 1.0, exponent_scale=scale).guarantees(3)
    with pytest.raises(NotGuaranteedError, match="exponent's factor"):
        ExponentialSampling(PROBLEM, 1.0, exponent_scale=1.01 * scale)
    withdrawn = ExponentialSampling(PROBLEM, 1.0, exponent_scale=1.01 * scale, withdraw_guarantee=True)
    assert not withdrawn.guarantees(3)
    assert withdrawn.guarantee_at(3, 1) is None
    assert withdrawn.withdrawn(3)
    with pytest.raises(NotGuaranteedError, match="sure to be accepted"):
        draw(ExponentialSampling(PROBLEM, 1e5, largest_cells=1), make_data(1000, 2), runs=5)
    with pytest.raises(InvalidDataError):
        draw(ExponentialSampling(PROBLEM, 1.0), Dataset([[2.0, 0.0]], [1.0]), runs=5)
    with pytest.raises(InvalidArgumentError):
        draw(ExponentialSampling(PROBLEM, 1.0), make_data(5, 3), runs=5)


@pytest.mark.parametrize(
    ("argument", "changed"),
    [
        ("centers", {"centers": np.array([[3.0, 0.0]])}),
        ("centers", {"centers": np.array([[math.nan, 0.0]])}),
        ("centers", {"centers": np.zeros((1, 3))}),
        ("radius", {"radius": 0.0}),
        ("radius", {"radius": math.nan}),
        ("exponent_scale", {"exponent_scale": -1.0}),
    ],
)
def test_bad_centers_are_refused(argument: str, changed: dict[str, Any]) -> None:
    given = {"centers": np.zeros((1, 2)), "radius": 0.5, "exponent_scale": 1.0, **changed}
    with pytest.raises(InvalidArgumentError) as caught:
        ExponentialSampling(PROBLEM, 1.0).sample_localized(make_data(5, 2), rng=Randomness(1), **given)
    assert caught.value.argument == argument


def test_worst_case_pair_runs() -> None:
    pair = opposite_linear(8, 1, 8)
    algorithm = ExponentialSampling(Problem(pair.loss, Ball(1, 1.0)), 2.0)
    assert draw(algorithm, pair.left, runs=100).shape == (100, 1)
