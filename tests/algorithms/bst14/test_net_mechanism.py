"""The exponential mechanism on a net: covers are covers, probabilities exact, the printed exponent is twice too large.

Each test of a law at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.samplers.constraint_nets import Net, cover_radius, grid_net
from dpverify.algorithms.samplers.free_coordinates import affine_dimension
from dpverify.auditing import audit_privacy
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import PureDP
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Simplex,
    minimize,
)
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
Array = NDArray[np.float64]

SETS: list[ConstraintSet] = [
    Ball(1, 1.0),
    Ball(2, 0.5, (0.2, 1.0)),
    Ball(3, 1.0),
    Box((-1.0, 0.0), (0.5, 0.1)),
    Box.cube(3, 0.7),
    Simplex(2, 1.0),
    Simplex(3, 2.0),
    Simplex(4, 1.0),
]


def make_data(n: int, d: int, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) + 0.3
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1))[:, None]
    return Dataset(features, np.where(rng.uniform(size=n) < 0.7, 1.0, -1.0))


def random_points(constraint: ConstraintSet, count: int) -> Array:
    rng = np.random.default_rng(3)
    d = constraint.dimension
    inside = np.asarray(constraint.project(constraint.center() + rng.normal(size=(count, d))))
    if isinstance(constraint, Simplex):
        inside[::2] = constraint.scale * rng.dirichlet(np.ones(d), count)[::2]
    return inside


def volumetric_size(constraint: ConstraintSet, radius: float) -> float:
    """(1 + diameter / radius)^p: a largest set of points of C more than `radius` apart has no more points.

    Such a set is a net of that radius. The balls of half the radius about its points are disjoint and lie in the
    ball of radius ||C||/2 + radius/2 about the middle, for a ball; any C lies in a ball of radius ||C||, for which
    the ratio is (1 + 2 ||C|| / radius)^p. p is the dimension of C.
    """
    factor = 1.0 if isinstance(constraint, Ball) else 2.0
    return float((1 + factor * constraint.diameter / radius) ** affine_dimension(constraint))


@pytest.mark.parametrize("constraint", SETS, ids=str)
@pytest.mark.parametrize("share", [0.6, 0.2, 0.07])
def test_nets_cover(constraint: ConstraintSet, share: float) -> None:
    """Random points of the set, many of them on its border, are within the radius; by brute force, no tree."""
    radius = share * constraint.diameter
    net = grid_net(constraint, radius)
    assert net.cover_radius <= radius
    assert np.all(constraint.contains(net.points, 1e-12))
    points = random_points(constraint, 1000)
    nearest = np.min(np.linalg.norm(points[:, None, :] - net.points[None, :, :], axis=2), axis=1)
    assert np.max(nearest) <= net.cover_radius
    measured = cover_radius(net.points, constraint)
    assert np.max(nearest) <= measured.upper
    assert measured.lower <= net.cover_radius + 1e-9
    # nearly as few points as a largest packing may have, but for the dimension's constant
    p = constraint.dimension - isinstance(constraint, Simplex)
    assert net.points.shape[0] <= volumetric_size(constraint, radius) * math.sqrt(p) ** p


def test_a_net_with_a_hole_is_seen() -> None:
    """Planted fault: one point is missing, and the computed radius grows past the claimed one."""
    ball = Ball(2, 1.0)
    net = grid_net(ball, 0.2)
    without = np.delete(net.points, np.argmin(np.linalg.norm(net.points, axis=1)), axis=0)
    assert cover_radius(without, ball).lower > net.cover_radius
    assert cover_radius(net.points, ball).lower <= net.cover_radius


def test_cover_radius_of_known_nets() -> None:
    """Corners of a square; ends of an interval; the middle of a ball."""
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    for points, constraint, truth in (
        (corners, Box((0.0, 0.0), (1.0, 1.0)), math.sqrt(0.5)),
        (np.array([[-1.0], [1.0]]), Ball(1, 1.0), 1.0),
        (np.zeros((1, 3)), Ball(3, 2.0), 2.0),
        (np.eye(3), Simplex(3, 1.0), math.sqrt(2 / 3)),
    ):
        interval = cover_radius(points, constraint)
        assert interval.lower <= truth * (1 + 1e-12)
        assert truth <= interval.upper * (1 + 1e-12)
        assert interval.upper - interval.lower < 0.15 * truth


def test_probabilities_are_exact() -> None:
    """Frequencies of all net points against probabilities from plain Python sums: chi-square."""
    data = make_data(12, 2)
    mechanism = NetMechanism(Problem(Logistic(), Ball(2, 1.0)), 4.0)
    net = mechanism.net_for(12)
    weights = []
    for w in net.points.tolist():
        risk = sum(
            math.log1p(math.exp(-y * (w[0] * x[0] + w[1] * x[1])))
            for x, y in zip(data.features.tolist(), data.labels.tolist(), strict=True)
        )
        weights.append(math.exp(-4.0 * risk / (2 * 1.0 * 2.0)))
    expected = np.array(weights) / math.fsum(weights)
    np.testing.assert_allclose(mechanism.probabilities(data), expected, rtol=1e-12)
    runs = 50_000
    output = mechanism(data, rng=Randomness(2), runs=runs)
    index = {tuple(point): i for i, point in enumerate(net.points.tolist())}
    counts = np.bincount([index[tuple(point)] for point in output.points.tolist()], minlength=len(index))
    assert stats.chisquare(counts, expected * runs).pvalue > FALSE_ALARM
    # planted fault: the exponent doubled
    doubled = expected**2 / np.sum(expected**2)
    assert stats.chisquare(counts, doubled * runs).pvalue < FALSE_ALARM
    assert output.value_queries == 12 * len(index) == mechanism.queries(12)[0].count


@pytest.mark.parametrize("constraint", [Ball(1, 1.0), Ball(2, 1.0), Simplex(3, 1.0)], ids=str)
def test_a_fine_net_agrees_with_exponential_sampling(constraint: ConstraintSet) -> None:
    """The net's cells are nearly alike inside, so the laws differ by about the cover radius over the diameter."""
    data = make_data(30, constraint.dimension)
    problem = Problem(Hinge(), constraint)
    radius = {1: 1e-4, 2: 0.005, 3: 0.005}[constraint.dimension] * constraint.diameter
    fine = NetMechanism(problem, 5.0, cover_radius=radius)
    everywhere = ExponentialSampling(problem, 5.0)
    net, runs = fine.net_for(30), 20_000
    probabilities = fine.probabilities(data)
    points = np.asarray(everywhere(data, rng=Randomness(1), runs=runs).points)
    order = np.argsort(net.points[:, 0])
    sums = np.cumsum(probabilities[order])
    ranks = np.searchsorted(net.points[order, 0], np.sort(points[:, 0]), side="right")
    there = np.where(ranks > 0, sums[np.maximum(ranks - 1, 0)], 0.0)
    distance = np.max(np.abs(there - np.arange(1, runs + 1) / runs))
    # Dvoretzky-Kiefer-Wolfowitz, and the mass of a slab as wide as the cells
    chance = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * runs))
    assert distance <= chance + 0.02
    coarse = NetMechanism(problem, 5.0, cover_radius=0.3 * constraint.diameter, withdraw_guarantee=True)
    few = np.asarray(coarse(data, rng=Randomness(1), runs=runs).points)
    assert stats.ks_2samp(few[:, 0], points[:, 0]).pvalue < FALSE_ALARM


def worst_ratio(scale: float, epsilon: float, n: int) -> float:
    """Largest log-ratio of probabilities: linear losses on [-1, 1], n - 1 records of one sign, the other flipped."""
    mechanism = NetMechanism(
        Problem(Linear(), Ball(1, 1.0)),
        epsilon,
        cover_radius=0.01,
        exponent_scale=scale,
        withdraw_guarantee=True,
    )
    data = Dataset(np.ones((n, 1)), np.ones(n))
    other = data.replace(1, np.array([-1.0]), 1.0)
    return float(np.max(np.abs(np.log(mechanism.probabilities(data) / mechanism.probabilities(other)))))


def test_printed_exponent_loses_twice_epsilon() -> None:
    """bst14.alg8-privacy: epsilon / (L ||C||), as printed, is only 2 epsilon-DP; with the 2 it is epsilon-DP."""
    epsilon, lipschitz, diameter = 0.5, 1.0, 2.0
    corrected = epsilon / (2 * lipschitz * diameter)
    for n in (2, 10, 100, 400):
        assert worst_ratio(corrected, epsilon, n) <= epsilon * (1 + 1e-9)
    assert worst_ratio(2 * corrected, epsilon, 400) > 1.9 * epsilon
    assert worst_ratio(corrected, epsilon, 400) > 0.9 * epsilon
    with pytest.raises(NotGuaranteedError, match="exponent's factor"):
        NetMechanism(Problem(Linear(), Ball(1, 1.0)), epsilon, exponent_scale=2 * corrected)
    withdrawn = NetMechanism(
        Problem(Linear(), Ball(1, 1.0)), epsilon, exponent_scale=2 * corrected, withdraw_guarantee=True
    )
    assert not withdrawn.guarantees(5)
    assert withdrawn.guarantee_at(5, 1) is None


def test_the_printed_exponent_is_seen_by_an_audit_too() -> None:
    """Two linear losses, from samples alone, at failure probability FALSE_ALARM."""
    problem, data = Problem(Linear(), Ball(1, 1.0)), Dataset(np.ones((2, 1)), np.ones(2))
    other = data.replace(1, np.array([-1.0]), 1.0)
    verdicts = []
    for factor in (1, 2):
        mechanism = NetMechanism(
            problem, 4.0, cover_radius=0.05, exponent_scale=factor * 4.0 / 4.0, withdraw_guarantee=True
        )
        left, right = (
            mechanism(one, rng=Randomness((3, side)), runs=100_000).points
            for side, one in enumerate((data, other))
        )
        audit = audit_privacy(
            left, right, PureDP(4.0), adjacency="replace-one", failure_probability=FALSE_ALARM, seed=1
        )
        verdicts.append(audit.verdict)
    assert verdicts == [Verdict.SUPPORTED, Verdict.VIOLATED]


def test_the_bound_needs_no_net() -> None:
    """On a cube every cube of the grid has a point: the same number whether or not the points were made."""
    problem = Problem(Logistic(), Box.cube(2, 1.0))
    made, counted = (NetMechanism(problem, 1.0, largest_net=most).risk_bound(40) for most in (200_000, 1))
    assert made is not None
    assert counted is not None
    assert made.bound == pytest.approx(counted.bound, rel=1e-9)
    large = NetMechanism(Problem(Logistic(), Box.cube(30, 1.0)), 1.0)
    stated = large.risk_bound(569)
    assert stated is not None
    cubes = math.ceil(569 / 60)  # along each edge: half of a cube's diagonal is at most ||C|| p / n
    expected = 569 * math.sqrt(30) / cubes + 30 * math.log(cubes) / large.scale
    assert stated.bound == pytest.approx(expected, rel=1e-9)
    (asked,) = large.queries(569)
    assert (asked.count, asked.exact) == (569 * cubes**30, False)
    with pytest.raises(NotGuaranteedError, match="cubes, more than 200000"):  # no call limit would help
        run(large, make_data(569, 30), runs=1, seed=1)
    with pytest.raises(NotGuaranteedError, match="inf cubes"):
        NetMechanism(Problem(Logistic(), Ball(785, 1.0)), 1.0).queries(100)


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Simplex(3, 1.0), Box.cube(2, 0.5)], ids=str)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_expected_risk_is_within_the_bound(constraint: ConstraintSet, epsilon: float) -> None:
    """Exact expectation over the net against n L r + ln|M| / s."""
    for n in (5, 60):
        data = make_data(n, constraint.dimension)
        mechanism = NetMechanism(Problem(Logistic(), constraint), epsilon)
        risks = np.asarray(mechanism.problem.total_risk(mechanism.net_for(n).points, data))
        least = n * minimize(mechanism.problem, data).value.lower
        bound = mechanism.risk_bound(n)
        assert bound is not None
        assert float(mechanism.probabilities(data) @ risks) - least <= bound.bound


def test_coarse_nets() -> None:
    """Refused, or the risk withdrawn; privacy holds all the same."""
    data = make_data(50, 2)
    problem = Problem(Logistic(), Ball(2, 1.0))
    mechanism = NetMechanism(problem, 1.0, cover_radius=0.5)
    assert mechanism.theorem_radius(50) == pytest.approx(2.0 * 2 / 50)
    with pytest.raises(NotGuaranteedError, match="covering radius"):
        mechanism(data, rng=Randomness(1), runs=5)
    assert mechanism.risk_bound(50) is None
    assert mechanism.guarantees(50).headline.guarantee == PureDP(1.0)
    willing = NetMechanism(problem, 1.0, cover_radius=0.5, withdraw_guarantee=True)
    assert willing(data, rng=Randomness(1), runs=5).points.shape == (5, 2)
    assert not willing.guarantees(50)
    # with few records a coarse net is all that is asked for
    assert mechanism.risk_bound(3) is not None
    given = NetMechanism(problem, 1.0, net=grid_net(problem.constraint, 0.05).points.tolist())
    assert given.withdrawn(50) == ()
    assert given.risk_bound(50) is not None
    assert given.risk_bound(5000) is None
    with pytest.raises(NotGuaranteedError, match="cubes"):
        NetMechanism(problem, 1.0, largest_net=100)(make_data(500, 2), rng=Randomness(1), runs=5)


def test_smaller_epsilon_where_records_share_a_term() -> None:
    mechanism = NetMechanism(Problem(HalfSquaredDistance(3.0), Ball(2, 1.0)), 1.0)
    assert [one.guarantee for one in mechanism.guarantees(5)] == [PureDP(1.0), PureDP(0.25)]
    at = mechanism.guarantee_at(5, 2)
    assert at is not None
    assert at.guarantee == PureDP(0.25)
    assert mechanism.gradient_query_count(5) == 0
    error = mechanism.sampling_error(5)
    assert error is not None
    assert str(error) == "exact sampling"


def test_array_api_strict_gives_the_same() -> None:
    data = make_data(20, 2)
    mechanism = NetMechanism(Problem(Logistic(), Ball(2, 1.0)), 2.0)
    ours = mechanism(data, rng=Randomness(4), runs=100)
    strict = data.as_namespace(array_api_strict)
    theirs = mechanism(strict, rng=Randomness(4, xp=array_api_strict), runs=100)
    np.testing.assert_array_equal(np.asarray(theirs.points), ours.points)


PROBLEM = Problem(Logistic(), Ball(2, 1.0))


@pytest.mark.parametrize(
    ("argument", "parameters"),
    [
        ("problem", {"problem": None}),
        ("problem", {"problem": Problem(Logistic(), AllSpace(2))}),
        ("problem", {"problem": Problem(Logistic(), Simplex(1, 1.0))}),
        *(("epsilon", {"epsilon": value}) for value in (0.0, -1.0, math.nan, math.inf, True, "1")),
        *(("cover_radius", {"cover_radius": value}) for value in (0.0, -0.1, math.nan, math.inf, True)),
        *(("exponent_scale", {"exponent_scale": value}) for value in (-0.1, math.nan, math.inf, False)),
        *(("largest_net", {"largest_net": value}) for value in (0, 1.5, True)),
        *(
            ("net", {"net": value})
            for value in ([], [[0.0]], [[0.0, math.nan]], "net", [[0.0, 1.0], [0.0]], [[True, False]])
        ),
        ("points", {"net": [[2.0, 0.0]]}),
        ("cover_radius", {"net": [[0.0, 0.0]], "cover_radius": 0.1}),
        ("withdraw_guarantee", {"withdraw_guarantee": "yes"}),
    ],
)
def test_bad_parameters_are_refused(argument: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        NetMechanism(**{"problem": PROBLEM, "epsilon": 1.0, **parameters})
    assert caught.value.argument == argument


def test_bad_data_and_sets_are_refused() -> None:
    mechanism = NetMechanism(PROBLEM, 1.0)
    with pytest.raises(InvalidArgumentError):
        mechanism(make_data(5, 3), rng=Randomness(1), runs=5)
    with pytest.raises(InvalidDataError):
        mechanism(Dataset([[2.0, 0.0]], [1.0]), rng=Randomness(1), runs=5)
    with pytest.raises(InvalidArgumentError):
        grid_net(AllSpace(2), 0.1)
    with pytest.raises(InvalidArgumentError):
        mechanism.guarantee_at(5, 6)
    assert isinstance(mechanism.net_for(1), Net)
