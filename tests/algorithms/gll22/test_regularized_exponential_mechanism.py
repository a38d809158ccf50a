"""gll22's regularized exponential mechanism: tunings, privacy, laws and risks, and where the print is wrong.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.regularized_exponential_mechanism import (
    RegularizedExponentialMechanism,
    SampledGaussianProfile,
    largest_shift,
    printed_shift,
)
from dpverify.algorithms.samplers import truncated_exponential
from dpverify.algorithms.samplers.certified_rejection import build_envelope
from dpverify.algorithms.samplers.free_coordinates import FreeRegion, RiskPotential
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, ApproxDP, gaussian_hockey_stick
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
    load,
    minimize,
    opposite_linear,
)
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
Array = NDArray[np.float64]


def ball_problem(loss: Any, d: int = 2) -> Problem:
    return Problem(loss, Ball(d, 1.0))


# ------------------------------------------------------------------------------------------ tunings and guarantees


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (3.0, 1e-2), (20.0, 1e-9), (1.0, 0.4)]
)
def test_the_exact_shift_is_the_largest(epsilon: float, delta: float) -> None:
    shift = largest_shift(epsilon, delta)
    assert gaussian_hockey_stick(epsilon, shift) <= delta
    assert gaussian_hockey_stick(epsilon, shift * (1 + 1e-9)) > delta
    # Lemma 6.3 is sufficient and never better
    assert printed_shift(epsilon, delta) < shift


def test_printed_parameters_of_theorem_6_4() -> None:
    n, d, epsilon, delta = 50, 3, 0.7, 1e-4
    mechanism = RegularizedExponentialMechanism(
        ball_problem(Logistic(), d), epsilon, delta, calibration="printed"
    )
    diameter, slope = 2.0, 2.0  # G bounds the difference of two records' gradients
    root = math.sqrt(math.log(3 / (4 * delta)) + epsilon) - math.sqrt(math.log(3 / (4 * delta)))
    mu = slope * math.sqrt(d) / (n * diameter * root)
    tuned = mechanism.tuned(n)
    assert tuned.regularization == pytest.approx(mu, rel=1e-12)
    assert tuned.inverse_temperature == pytest.approx(2 * mu * n**2 * root**2 / slope**2, rel=1e-12)
    # d/k + mu D^2/2 is the printed bound
    bound = d / tuned.inverse_temperature + mu * diameter**2 / 2
    assert bound == pytest.approx(slope * diameter * math.sqrt(d) / (n * root), rel=1e-12)
    assert tuned.total_variation == pytest.approx(delta / 3 / (1 + math.exp(epsilon)))
    # the exact profile and the true distance to the anchor make the bound smaller
    exact = RegularizedExponentialMechanism(ball_problem(Logistic(), d), epsilon, delta)
    ours, theirs = exact.risk_bound(n), mechanism.risk_bound(n)
    assert ours is not None
    assert theirs is not None
    assert ours.bound < 0.5 * bound
    assert theirs.bound < bound


def test_printed_parameters_of_theorem_6_9() -> None:
    n, d, epsilon, delta = 50, 2, 0.09, 1e-4
    for n in (50, 100_000):
        mechanism = RegularizedExponentialMechanism(
            ball_problem(Logistic(), d), epsilon, delta, tuning="sco", calibration="printed"
        )
        level = math.log(3 / (4 * delta))
        mu = 2.0 / 2.0 * math.sqrt(2 * (2 * level * d / (epsilon * n) ** 2 + 1 / (2 * n)))
        tuned = mechanism.tuned(n)
        assert tuned.regularization == pytest.approx(mu, rel=1e-12)
        k = mu / 4 * min((epsilon * n) ** 2 / (2 * level), 2 * n * d)
        assert tuned.inverse_temperature == pytest.approx(k, rel=1e-12)
        # its final bound, with D = 2 and G = 2
        risk = mechanism.risk_bound(n)
        assert risk is not None
        assert risk.population
        assert risk.bound <= 4 * (2 * math.sqrt(level * d) / (epsilon * n) + 2 / math.sqrt(n))


def test_theorem_6_9_s_k_is_private_though_lemma_6_3_does_not_say_so() -> None:
    for epsilon in (1e-3, 0.01, 0.05, 0.0999):
        for delta in (1e-9, 1e-5, 1e-2, 0.0999):
            shift = epsilon / math.sqrt(2 * math.log(3 / (4 * delta)))
            assert shift > printed_shift(epsilon, 2 * delta / 3)
            assert gaussian_hockey_stick(epsilon, shift) <= 2 * delta / 3


def test_a_third_of_delta_does_not_pay_for_sampling() -> None:
    """Theorem 6.4's proof: (eps, 2 delta/3) and total variation delta/3 do not give (eps, delta).

    P and Q are the two Gaussians; one sampler moves delta/3 into an event, the other as much out of it.
    """
    epsilon, delta = 1.0, 1e-2
    for shift in (largest_shift(epsilon, 2 * delta / 3), printed_shift(epsilon, 2 * delta / 3)):
        # the half line that has probability delta/3 under Q: one sampler never lands there
        cut = float(stats.norm.isf(delta / 3))
        reached = float(stats.norm.sf(cut - shift)) + delta / 3 - math.exp(epsilon) * 0.0
        assert reached > 1.1 * delta
    # with delta / (3 (1 + e^eps)) it does
    tau = delta / 3 / (1 + math.exp(epsilon))
    profile = SampledGaussianProfile(largest_shift(epsilon, 2 * delta / 3), tau)
    assert float(profile(epsilon)) <= delta * (1 + 1e-9)


def test_the_profile_with_sampling_error_bounds_moved_mass() -> None:
    mu, tau = 0.7, 1e-3
    profile = SampledGaussianProfile(mu, tau)
    epsilons = np.linspace(0, 8, 60)
    deltas = profile(epsilons)
    assert np.all(np.diff(deltas) <= 1e-15)
    for epsilon, delta in zip(epsilons, deltas, strict=True):
        best = min(
            gaussian_hockey_stick(e, mu) + (1 + math.exp(e)) * tau for e in np.linspace(0, epsilon, 100)
        )
        assert best - 1e-4 <= delta <= gaussian_hockey_stick(epsilon, mu) + (1 + math.exp(epsilon)) * tau


def test_the_anchor_must_be_in_the_set() -> None:
    """Theorem 6.2's mu D^2 / 2 fails on [a, a + 1] with the regularizer about 0: F(x) = -x, k -> infinity."""
    a, mu, k = 1000.0, 0.01, 1e4
    # potential k (-x + mu x^2 / 2) increases on [a, a + 1] since mu a = 10 > 1, so x is near a; the best is a + 1
    grid = np.linspace(a, a + 1, 2_000_001)
    v = k * (-grid + mu * grid**2 / 2)
    weights = np.exp(-(v - v.min()))
    excess = (a + 1) - float(np.sum(weights * grid) / weights.sum())
    assert excess > 0.99
    assert excess > 50 * (1 / k + mu / 2)
    # about the center, the excess keeps the bound
    v = k * (-grid + mu * (grid - a - 0.5) ** 2 / 2)
    weights = np.exp(-(v - v.min()))
    assert (a + 1) - float(np.sum(weights * grid) / weights.sum()) <= 1 / k + mu / 8 + 1e-6
    with pytest.raises(InvalidArgumentError, match="anchor"):
        RegularizedExponentialMechanism(Problem(Linear(), Box((a,), (a + 1,))), 1.0, 1e-5, anchor=(0.0,))


def test_guarantees_state_what_is_proved() -> None:
    n = 20
    exact = RegularizedExponentialMechanism(ball_problem(Logistic()), 1.0, 1e-5)
    stated = exact.guarantees(n)
    first, second = stated.headline, stated.as_printed
    assert second is not None
    assert exact.sampling == "rejection"
    assert isinstance(first.guarantee, GDP)
    assert first.guarantee.mu == pytest.approx(largest_shift(1.0, 1e-5))
    assert second.guarantee == ApproxDP(1.0, 1e-5)
    assert float(first.guarantee.privacy_profile(1.0)) <= 1e-5 * (1 + 1e-9)
    sampled = RegularizedExponentialMechanism(ball_problem(Logistic(), 5), 1.0, 1e-3)
    assert sampled.sampling == "alternating"
    profile = sampled.guarantees(n).headline.guarantee
    assert float(profile.privacy_profile(1.0)) <= 1e-3 * (1 + 1e-9)
    error = sampled.sampling_error(n)
    assert error is not None
    assert 0 < error.bound <= 1e-3 / 3 / (1 + math.e)
    at = sampled.guarantee_at(n, 3)
    assert at is not None
    assert at.index == 3
    for mechanism in (exact, sampled):
        assert pickle.loads(pickle.dumps(mechanism)).guarantees(n) == mechanism.guarantees(n)


def test_large_k_is_refused() -> None:
    problem, data = ball_problem(Logistic()), load("breast-cancer", n=20, d=2)
    proven = RegularizedExponentialMechanism(problem, 1.0, 1e-5).tuned(20)
    larger = RegularizedExponentialMechanism(
        problem,
        1.0,
        1e-5,
        inverse_temperature=1.01 * proven.inverse_temperature,
        regularization=proven.regularization,
    )
    assert not larger.guarantees(20)
    assert larger.guarantee_at(20, 1) is None
    assert larger.withdrawn(20)
    with pytest.raises(NotGuaranteedError, match=r"gll22\.rem"):
        larger(data, rng=Randomness(0), runs=2)
    smaller = RegularizedExponentialMechanism(
        problem,
        1.0,
        1e-5,
        inverse_temperature=0.5 * proven.inverse_temperature,
        regularization=proven.regularization,
    )
    assert not smaller.withdrawn(20)
    loose = RegularizedExponentialMechanism(
        problem, 1.0, 1e-5, inverse_temperature=100.0, regularization=0.1, withdraw_guarantee=True
    )
    assert loose(data, rng=Randomness(0), runs=2).points.shape == (2, 2)


def test_strongly_convex_losses_need_no_regularizer() -> None:
    mechanism = RegularizedExponentialMechanism(
        Problem(HalfSquaredDistance(math.inf), AllSpace(4)), 1.0, 1e-5
    )
    tuned = mechanism.tuned(30)
    assert tuned.regularization == 0.0
    risk = mechanism.risk_bound(30)
    assert risk is not None
    assert risk.bound == pytest.approx(4 / tuned.inverse_temperature)


# ------------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("d", [1, 3, 20])
def test_half_squared_distances_are_exact_gaussians(d: int) -> None:
    """On all space: N(mean of the records, I / k), and its privacy is exactly what is claimed."""
    rng = np.random.default_rng(d)
    n = 12
    features = rng.normal(size=(n, d))
    data = Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.ones(n))
    mechanism = RegularizedExponentialMechanism(
        Problem(HalfSquaredDistance(math.inf), AllSpace(d)), 1.0, 1e-3
    )
    assert mechanism.sampling == "gaussian"
    points = run(mechanism, data, runs=20_000, seed=1).points
    k = mechanism.tuned(n).inverse_temperature
    standard = (points - data.features.mean(axis=0)) * math.sqrt(k)
    assert stats.kstest(standard.ravel(), "norm").pvalue > FALSE_ALARM
    assert stats.kstest(0.9 * standard.ravel(), "norm").pvalue < FALSE_ALARM
    # records at opposite ends of a diameter: means are 2 / n apart, so the pair is exactly mu-GDP
    assert 2 / n * math.sqrt(k) == pytest.approx(mechanism.gdp_mu(n), rel=1e-12)


def negative_log_density(density: RegularizedDensity, data: Dataset, points: Array) -> Array:
    """The exponent k (F(x) + (mu / 2) ||x - c||^2), by a loop over the records."""
    losses = [
        density.problem.loss.value(points, x, y) for x, y in zip(data.features, data.labels, strict=True)
    ]
    offset = points - np.asarray(density.anchor_point)
    pull = 0.5 * density.regularization * np.sum(offset**2, axis=1)
    return np.asarray(density.inverse_temperature * (np.mean(losses, axis=0) + pull))


def line_law(density: RegularizedDensity, data: Dataset) -> Any:
    """Distribution function of the first coordinate of a set with one free coordinate, by quadrature."""
    region = FreeRegion(density.problem.constraint)
    grid = np.linspace(float(region.lower[0]), float(region.upper[0]), 20_001)
    v = negative_log_density(density, data, region.whole(grid[:, None]))
    total = integrate.cumulative_trapezoid(np.exp(-(v - v.min())), grid, initial=0.0)
    return lambda x: np.interp(x, grid, total / total[-1])


def plane_laws(density: RegularizedDensity, data: Dataset, cells: int = 400) -> list[Any]:
    """Distribution functions of the first two coordinates, by midpoints on a grid over the set's box."""
    constraint: Any = density.problem.constraint
    region = FreeRegion(constraint)
    sides = [np.linspace(low, high, cells + 1) for low, high in zip(region.lower, region.upper, strict=True)]
    middles = [0.5 * (side[1:] + side[:-1]) for side in sides]
    pairs = region.whole(np.stack([m.ravel() for m in np.meshgrid(*middles, indexing="ij")], axis=1))
    v = negative_log_density(density, data, pairs)
    # the last coordinate of a simplex is 1 less the others
    inside = (
        np.all(pairs >= 0, axis=1) if isinstance(constraint, Simplex) else constraint.contains(pairs, 0.0)
    )
    weights = np.where(inside, np.exp(-(v - v[inside].min())), 0.0).reshape(cells, cells)

    def law(axis: int) -> Any:
        total = np.concatenate([[0.0], np.cumsum(weights.sum(axis=1 - axis))])
        return lambda x: np.interp(x, sides[axis], total / total[-1])

    return [law(0), law(1)]


def rejected(points: Array, laws: list[Any]) -> bool:
    """Whether some coordinate of the points contradicts its law."""
    return any(stats.kstest(points[:, i], law).pvalue < FALSE_ALARM / len(laws) for i, law in enumerate(laws))


CASES = [
    (Logistic(), "breast-cancer", 10, 1.0),
    (Logistic(), "breast-cancer", 80, 4.0),
    (Hinge(), "breast-cancer", 60, 3.0),
    (Squared(1.0), "diabetes", 50, 2.0),
    (Ridge(Logistic(), 0.3, 1.0), "breast-cancer", 50, 2.0),
]


@pytest.mark.parametrize(("loss", "name", "n", "epsilon"), CASES, ids=str)
def test_two_dimensions_against_quadrature(loss: Any, name: str, n: int, epsilon: float) -> None:
    data = load(name, n=n, d=2)
    mechanism = RegularizedExponentialMechanism(ball_problem(loss), epsilon, 1e-3)
    assert mechanism.sampling == "rejection"
    output = mechanism(data, rng=Randomness(3), runs=20_000)
    assert np.all(mechanism.problem.constraint.contains(output.points))
    assert not rejected(output.points, plane_laws(mechanism.density(n), data))
    wrong = RegularizedExponentialMechanism(ball_problem(loss), 1.5 * epsilon, 1e-3)
    assert rejected(output.points, plane_laws(wrong.density(n), data))


ANCHORED = [
    (Box((-0.2,), (1.0,)), (0.9,), "breast-cancer"),
    (Ball(1, 1.0), (-0.8,), "diabetes"),
    (Simplex(2), (0.8, 0.2), "breast-cancer"),
    (Box((-1.0, 0.0), (0.5, 0.4)), (-0.9, 0.1), "diabetes"),
    (Ball(2, 1.0, (0.3, -0.4)), (1.0, -0.8), "breast-cancer"),
    (Simplex(3), (0.7, 0.1, 0.2), "diabetes"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("constraint", "anchor", "name"), ANCHORED, ids=str)
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(2.0)], ids=str)
def test_sets_and_anchors_against_quadrature(loss: Any, constraint: Any, anchor: Any, name: str) -> None:
    """The regularizer counts, and so does what it is about: without either the law is another one."""
    n, d = 60, constraint.dimension
    features = load(name, n=n, d=d).features
    data = Dataset(features, np.where(np.arange(n) % 3 == 0, -1.0, 1.0))
    mechanism = RegularizedExponentialMechanism(
        Problem(loss, constraint), 2.0, 1e-3, anchor=anchor, sampler="rejection"
    )
    density = mechanism.density(n)

    def laws(known: RegularizedDensity) -> list[Any]:
        one = FreeRegion(constraint).lower.shape[0] == 1
        return [line_law(known, data)] if one else plane_laws(known, data)

    output = mechanism(data, rng=Randomness(3), runs=20_000)
    assert np.all(constraint.contains(output.points))
    assert not rejected(output.points, laws(density))
    gradients, values = mechanism.queries(n)
    assert np.max(np.asarray(output.gradient_queries)) <= gradients.count
    assert np.mean(np.asarray(output.value_queries)) <= values.count
    center = tuple(constraint.center().tolist())
    assert rejected(output.points, laws(replace(density, anchor=center)))
    assert rejected(output.points, laws(replace(density, regularization=1e-9)))


def test_a_ridge_declared_for_all_space() -> None:
    """Its Lipschitz constant is infinite; the allowance for rounding is that of the set all the same."""
    data = load("breast-cancer", n=50, d=2)
    wide, fitted = (
        RegularizedExponentialMechanism(
            ball_problem(Ridge(Logistic(), 0.3, radius)), 2.0, 1e-3, sampler="rejection"
        )
        for radius in (math.inf, 1.0)
    )
    points = wide(data, rng=Randomness(1), runs=500).points
    assert np.array_equal(points, fitted(data, rng=Randomness(1), runs=500).points)
    # likewise a smooth loss without a Lipschitz constant
    squares = Problem(HalfSquaredDistance(math.inf), Ball(2, 1.0))
    by_cells, closed = (
        RegularizedExponentialMechanism(
            squares, 1.0, 1e-3, inverse_temperature=30.0, regularization=0.2, sampler=sampler
        )
        for sampler in ("rejection", "gaussian")
    )
    left, right = (m(data, rng=Randomness(1), runs=20_000).points for m in (by_cells, closed))
    for i in (0, 1):
        assert stats.ks_2samp(left[:, i], right[:, i]).pvalue > FALSE_ALARM / 2


def sampler_potential(density: RegularizedDensity, data: Dataset) -> RiskPotential:
    k = density.inverse_temperature
    return RiskPotential(density.problem, data, k / data.n, k * density.regularization, density.anchor_point)


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Simplex(3)], ids=str)
def test_the_envelope_is_below_the_potential(constraint: Any) -> None:
    """The certificate of the rejection sampler, at points of the set; planes that are steeper are caught."""
    data = load("breast-cancer", n=100, d=constraint.dimension)
    density = RegularizedExponentialMechanism(Problem(Hinge(), constraint), 3.0, 1e-3).density(100)
    potential, region = sampler_potential(density, data), FreeRegion(constraint)
    envelope = build_envelope(potential, region, target=0.8)
    x = region.inside(np.random.default_rng(0).uniform(region.lower, region.upper, (500, 2)))
    v = negative_log_density(density, data, region.whole(x))
    offsets = x[:, None, :] - envelope.cells.lower
    planes = envelope.cells.heights + np.sum(envelope.cells.slopes * offsets, axis=2)
    assert np.all(planes <= v[:, None] + envelope.margin)
    assert np.any(planes + 0.02 * np.abs(np.sum(envelope.cells.slopes * offsets, axis=2)) > v[:, None])
    # cells cover the set, and their insides do not overlap
    within = np.all((offsets > 0) & (offsets < envelope.cells.widths), axis=2)
    around = np.all((offsets >= -1e-12) & (offsets <= envelope.cells.widths + 1e-12), axis=2)
    assert np.all(np.any(around, axis=1))
    assert np.all(np.sum(within, axis=1) <= 1)


@pytest.mark.parametrize("constraint", [Ball(1, 1.0), Box.cube(2, 0.5), Simplex(3)], ids=str)
def test_the_potential_s_slopes_are_its_differences(constraint: Any) -> None:
    data = load("diabetes", n=30, d=constraint.dimension)
    anchor = tuple(constraint.project(constraint.center()[None, :] + np.eye(constraint.dimension)[0])[0])
    density = RegularizedDensity(Problem(Squared(2.0), constraint), 7.0, 0.3, anchor)
    potential, region = sampler_potential(density, data), FreeRegion(constraint)
    k = region.lower.shape[0]
    x = region.inside(np.random.default_rng(1).uniform(region.lower, region.upper, (20, k)))
    reference = negative_log_density(density, data, region.whole(x))
    np.testing.assert_allclose(potential.value(x), reference, rtol=0, atol=potential.rounding)
    for i in range(k):
        step = 1e-5 * np.eye(k)[i]
        difference = (potential.value(x + step) - potential.value(x - step)) / 2e-5
        np.testing.assert_allclose(potential.gradient(x)[:, i], difference, rtol=1e-7, atol=1e-7)


def test_a_wrong_envelope_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("breast-cancer", n=60, d=2)
    mechanism = RegularizedExponentialMechanism(ball_problem(Logistic()), 3.0, 1e-3)
    laws = plane_laws(mechanism.density(60), data)
    assert not rejected(mechanism(data, rng=Randomness(3), runs=20_000).points, laws)
    # cells are chosen by their area, however steep their planes are
    monkeypatch.setattr(
        truncated_exponential, "log_mass", lambda slopes, widths, xp: xp.log(widths) + 0.0 * slopes
    )
    assert rejected(mechanism(data, rng=Randomness(3), runs=20_000).points, laws)


def test_too_steep_densities_are_refused() -> None:
    """Along half of a disk's border, steeper than any allowed number of cells can follow."""
    data = Dataset(np.array([[0.6, 0.8]]), np.array([1.0]))
    steep = RegularizedExponentialMechanism(
        ball_problem(Hinge()),
        1.0,
        1e-3,
        inverse_temperature=1e9,
        regularization=1e-6,
        withdraw_guarantee=True,
    )
    with pytest.raises(NotGuaranteedError, match="sure to be accepted"):
        steep(data, rng=Randomness(0), runs=2)


def test_the_alternating_sampler_agrees_with_rejection() -> None:
    data = load("breast-cancer", n=4, d=2)
    options: dict[str, Any] = {"regularization": 1.5, "inverse_temperature": 1.5}
    exact = RegularizedExponentialMechanism(ball_problem(Logistic()), 1.0, 0.1, **options)
    sampled = RegularizedExponentialMechanism(
        ball_problem(Logistic()), 1.0, 0.1, sampler="alternating", **options
    )
    left = exact(data, rng=Randomness(1), runs=20_000).points
    right = sampled(data, rng=Randomness(2), runs=2000).points
    error = sampled.sampling_error(4)
    assert error is not None
    # two DKW bands
    allowed = sum(math.sqrt(math.log(4 / FALSE_ALARM) / (2 * m)) for m in (20_000, 2000)) + error.bound
    for v in ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)):
        assert stats.ks_2samp(left @ v, right @ v).statistic <= allowed


@pytest.mark.parametrize("constraint", [Simplex(4), Box.cube(4, 0.5), Ball(4, 0.5)], ids=str)
def test_linear_losses_on_sets(constraint: Any) -> None:
    """Restricted Gaussians in any dimension, against plain rejection."""
    data = load("breast-cancer", n=30, d=4)
    mechanism = RegularizedExponentialMechanism(
        Problem(Linear(labeled=True), constraint), 4.0, 1e-2, inverse_temperature=4.0, regularization=2.0
    )
    assert mechanism.sampling == "gaussian"
    output = mechanism(data, rng=Randomness(1), runs=10_000)
    tuned, anchor = mechanism.tuned(30), constraint.center()
    rng, kept = np.random.default_rng(2), np.zeros((0, 4))
    slope = np.mean(data.features * data.labels[:, None], axis=0)
    while len(kept) < 10_000:
        x = rng.normal(size=(200_000, 4)) / math.sqrt(tuned.inverse_temperature * tuned.regularization)
        x = x + anchor - slope / tuned.regularization
        if isinstance(constraint, Simplex):
            x -= ((x.sum(axis=1) - 1) / 4)[:, None]
            kept = np.concatenate([kept, x[np.all(x >= 0, axis=1)]])
        else:
            kept = np.concatenate([kept, x[constraint.contains(x, 0.0)]])
    for i in range(4):
        assert stats.ks_2samp(output.points[:, i], kept[:, i]).pvalue > FALSE_ALARM / 4
    assert output.gradient_queries == 30


def test_the_risk_keeps_its_bound() -> None:
    for n in (20, 80):
        data = load("breast-cancer", n=n, d=2)
        mechanism = RegularizedExponentialMechanism(ball_problem(Logistic()), 2.0, 1e-3)
        points = mechanism(data, rng=Randomness(1), runs=4000).points
        risks = np.asarray(mechanism.problem.mean_risk(points, data))
        excess = risks.mean() - minimize(mechanism.problem, data).value.upper
        bound = mechanism.risk_bound(n)
        assert bound is not None
        assert 0 < excess < bound.bound
        assert (bound.total, bound.population) == (False, False)


# ------------------------------------------------------------------------------------------ interface


def test_how_it_samples() -> None:
    def chosen(problem: Problem, **options: Any) -> str:
        return RegularizedExponentialMechanism(problem, 1.0, 1e-5, **options).sampling

    assert chosen(ball_problem(Linear(), 50)) == "gaussian"
    assert chosen(ball_problem(Logistic(), 2)) == "rejection"
    assert chosen(ball_problem(Logistic(), 3)) == "alternating"
    assert chosen(Problem(Logistic(), Simplex(3))) == "rejection"
    assert chosen(Problem(Logistic(), Simplex(4))) == "alternating"
    assert chosen(ball_problem(Logistic(), 2), sampler="alternating") == "alternating"
    for problem, sampler in (
        (ball_problem(Logistic(), 3), "rejection"),
        (ball_problem(Logistic(), 2), "gaussian"),
        (Problem(Logistic(), Simplex(4)), "rejection"),
    ):
        with pytest.raises(InvalidArgumentError):
            chosen(problem, sampler=sampler)


def test_queries_are_stated() -> None:
    (gradients,) = RegularizedExponentialMechanism(ball_problem(Linear()), 1.0, 1e-5).queries(9)
    assert (gradients.oracle, gradients.count) == ("gradient", 9)
    values, gradients = RegularizedExponentialMechanism(ball_problem(Logistic(), 3), 1.0, 1e-2).queries(9)
    assert (values.oracle, gradients.oracle) == ("value", "gradient")
    assert values.expected
    (values,) = RegularizedExponentialMechanism(ball_problem(Hinge(), 3), 1.0, 1e-2).queries(9)
    assert values.oracle == "value"
    gradients, values = RegularizedExponentialMechanism(ball_problem(Logistic()), 1.0, 1e-5).queries(9)
    assert (gradients.oracle, values.oracle) == ("gradient", "value")
    assert not gradients.exact
    assert values.expected


@pytest.mark.parametrize(
    "problem",
    [
        ball_problem(Logistic()),
        Problem(Hinge(), Box.cube(2, 0.4)),
        Problem(Logistic(), Simplex(2)),
        ball_problem(Linear()),
        Problem(HalfSquaredDistance(1.0), Simplex(2)),
    ],
    ids=str,
)
def test_array_libraries_agree(problem: Problem) -> None:
    data = load("breast-cancer", n=10, d=2)
    mechanism = RegularizedExponentialMechanism(problem, 1.0, 1e-3)
    ours = mechanism(data, rng=Randomness(1), runs=200)
    strict = mechanism(data.as_namespace(array_api_strict), rng=Randomness(1, 0, array_api_strict), runs=200)
    assert np.max(np.abs(np.asarray(strict.points) - ours.points)) <= 1e-12
    assert np.array_equal(np.asarray(strict.value_queries), np.asarray(ours.value_queries))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("problem", None),
        ("epsilon", 0.0),
        ("epsilon", math.nan),
        ("epsilon", math.inf),
        ("epsilon", True),
        ("delta", 0.0),
        ("delta", 1.0),
        ("delta", math.nan),
        ("tuning", "best"),
        ("calibration", None),
        ("inverse_temperature", -1.0),
        ("inverse_temperature", math.nan),
        ("regularization", -0.1),
        ("regularization", math.inf),
        ("regularization", True),
        ("anchor", (0.0, 0.0, 0.0)),
        ("anchor", (1.0, 1.0)),
        ("sampler", "exact"),
        ("withdraw_guarantee", "yes"),
    ],
)
def test_bad_parameters(argument: str, value: Any) -> None:
    good: dict[str, Any] = {"problem": ball_problem(Logistic()), "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(InvalidArgumentError, match=argument):
        RegularizedExponentialMechanism(**{**good, argument: value})


def test_printed_tunings_have_ranges() -> None:
    problem = ball_problem(Logistic())
    with pytest.raises(InvalidArgumentError, match="delta"):
        RegularizedExponentialMechanism(problem, 1.0, 0.1, calibration="printed")
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        RegularizedExponentialMechanism(problem, 0.1, 1e-3, tuning="sco", calibration="printed")
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        RegularizedExponentialMechanism(ball_problem(Logistic(), 3), 200.0, 1e-3)
    with pytest.raises(InvalidArgumentError, match="more than one point"):
        RegularizedExponentialMechanism(Problem(Linear(), Simplex(1)), 1.0, 1e-3)
    with pytest.raises(InvalidArgumentError, match="problem"):
        RegularizedExponentialMechanism(Problem(Linear(), AllSpace(2)), 1.0, 1e-3)
    with pytest.raises(InvalidArgumentError, match="problem"):
        RegularizedExponentialMechanism(Problem(Squared(math.inf), AllSpace(2)), 1.0, 1e-3)


def test_the_worst_case_is_attained() -> None:
    """Opposite linear losses on all space: the mechanism's profile is the claimed Gaussian's."""
    pair = opposite_linear(5, 1, 5)
    mechanism = RegularizedExponentialMechanism(
        Problem(pair.loss, AllSpace(1)), 1.0, 1e-3, inverse_temperature=1.0, regularization=1.0
    )
    density = mechanism.density(5)
    left, right = density.gaussian(pair.left), density.gaussian(pair.right)
    assert left is not None
    assert right is not None
    assert abs(left[0][0] - right[0][0]) / left[1] == pytest.approx(mechanism.gdp_mu(5), rel=1e-12)
