"""What projected noisy SGD and its variants claim: the paper's numbers, consistency, refusals."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.iterate_risk import random_iterate_risk
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.ledger.origins import Unstated
from dpverify.privacy import GDP, RDP, Adjacency, NoisyIteration, gaussian_hockey_stick
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
)
from dpverify.running import Randomness

D = 3
BALL = Ball(D, 1.0)
LOGISTIC = Problem(Logistic(), BALL)
EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 3.0])
FAMILY = [PNSGD, SkipPNSGD, StopPNSGD, PNMSGD]


@pytest.mark.parametrize("index", [1, 4, 10])
def test_theorem_23(index: int) -> None:
    algorithm = PNSGD(LOGISTIC, 1.0, 0.7)
    stated = algorithm.guarantee_at(10, index)
    assert stated is not None
    assert (stated.adjacency, stated.index) == (Adjacency.INDEX, index)
    assert stated.guarantee.mu == pytest.approx(2 / 0.7 / math.sqrt(11 - index), rel=1e-12)  # type: ignore[attr-defined]
    printed = algorithm.rdp_at(10, index)
    assert printed is not None
    for order in (1.5, 2.0, 17.0):
        expected = 2 * order / (0.7**2 * (11 - index))
        assert printed.guarantee.curve(order) == pytest.approx(expected, rel=1e-12)  # type: ignore[attr-defined]


def test_the_guarantee_of_strong_convexity_is_better() -> None:
    convex = PNSGD(LOGISTIC, 1.0, 0.7).guarantee_at(10, 3)
    strong = PNSGD(Problem(Ridge.on(BALL, Logistic(), 0.2), BALL), 1.0, 0.7).guarantee_at(10, 3)
    assert convex is not None
    assert strong is not None
    assert np.all(strong.guarantee.privacy_profile(EPSILONS) < convex.guarantee.privacy_profile(EPSILONS))


@pytest.mark.parametrize("index", [1, 4, 10])
def test_theorem_35(index: int) -> None:
    algorithm = PNMSGD(LOGISTIC, 1.0, 0.7)
    printed = algorithm.rdp_at(10, index)
    best = algorithm.guarantee_at(10, index)
    overall = algorithm.guarantees(10)
    assert printed is not None
    assert best is not None
    slope = 2 / 0.7**2 * (10 * 9 / 100 + 1 / (11 - index))
    assert printed.guarantee.curve(2.0) == pytest.approx(2 * slope, rel=1e-12)  # type: ignore[attr-defined]
    assert isinstance(best.guarantee, GDP)
    assert best.guarantee.mu**2 / 2 <= slope * (1 + 1e-9)
    assert isinstance(overall.headline.guarantee, GDP)
    assert best.guarantee.mu <= overall.headline.guarantee.mu * (1 + 1e-12)
    assert overall.as_printed is not None
    assert isinstance(overall.as_printed.guarantee, RDP)
    assert overall.as_printed.guarantee.curve(3.0) == pytest.approx(3 * 4 / 0.7**2, rel=1e-12)
    assert overall.headline.guarantee.mu**2 / 2 <= 4 / 0.7**2


def test_epochs_compose_where_the_amplification_is_lost() -> None:
    """At the last index with n = 1, k epochs are k releases without later noise: mu = sqrt(k) 2 L / sigma."""
    everywhere, inside = (
        PNMSGD(problem, 1.0, 0.7, epochs=5).guarantee_at(1, 1)
        for problem in (Problem(Logistic(), AllSpace(D)), LOGISTIC)
    )
    assert everywhere is not None
    assert everywhere.guarantee.mu == pytest.approx(math.sqrt(5) * 2 / 0.7, rel=1e-9)  # type: ignore[attr-defined]
    # on a set of diameter 2 the last step has to hide that and its own shift of 2
    assert inside is not None
    assert inside.guarantee.mu == pytest.approx((2 + 2) / 0.7, rel=1e-9)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("rate", "stddev", "epochs"), [(0.2, 5.0, 64), (0.5, 1.0, 64), (1.0, 1.0, 256), (0.1, 4.0, 256)]
)
def test_on_an_interval_many_epochs_are_as_private_as_their_last_ones(
    rate: float, stddev: float, epochs: int
) -> None:
    """One record, all to the left or all to the right, by the chain's law on 400 cells; far below composition."""
    algorithm = PNMSGD(Problem(Linear(), Ball(1, 1.0)), rate, stddev, epochs=epochs)
    mu = algorithm.guarantees(1).sharpest.guarantee.mu  # type: ignore[union-attr, attr-defined]
    assert mu < 0.6 * math.sqrt(epochs) * 2 / stddev
    edges = np.linspace(-1.0, 1.0, 401)
    places = np.concatenate([[-1.0], (edges[1:] + edges[:-1]) / 2, [1.0]])
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    start = np.zeros(402)
    start[200:202] = 0.5
    left, right = (
        start
        @ np.linalg.matrix_power(
            np.diff(stats.norm.cdf((ends - (places[:, None] + drift)) / (rate * stddev)), axis=1), epochs
        )
        for drift in (-rate, rate)
    )
    epsilons = np.array([0.0, 0.2, 0.5, 1.0, 2.0, 3.0])
    exact = np.array([np.maximum(left - math.exp(each) * right, 0.0).sum() for each in epsilons])
    assert np.all(exact <= GDP(mu).privacy_profile(epsilons))
    if rate == 1.0:  # here three quarters of it would be too little
        assert exact[0] > float(GDP(0.75 * mu).privacy_profile(0.0))


def test_many_records_in_as_many_epochs_are_as_private_as_their_last_ones() -> None:
    """Unbounded sets keep the proof's schedule; on bounded ones all ends from 1 epoch to 2^15 give no less."""
    problem, n = Problem(Logistic(), Ball(D, 1.0)), 40_000
    everywhere, inside = (PNMSGD(one, 0.05, 20.0) for one in (Problem(Logistic(), AllSpace(D)), problem))
    far, near = (one.guarantees(n).sharpest.guarantee.mu for one in (everywhere, inside))  # type: ignore[union-attr]
    assert far == pytest.approx(2 / 20.0 * math.sqrt((n - 1) / n + 1), rel=1e-12)
    ends = [inside._iteration(n, n, 2**k, 2.0).gdp().mu for k in range(15)]
    assert near == min(ends) < 0.8 * far
    assert inside.guarantee_at(n, 5).guarantee.mu < near / 10  # type: ignore[union-attr, attr-defined]


@pytest.mark.parametrize("weight", [0.0, 0.2])
@pytest.mark.parametrize("index", [1, 3, 5])
def test_epochs_against_their_steps_one_by_one(weight: float, index: int) -> None:
    """Contracting or not: the best of all four epochs, and of the last one or two from a diameter apart."""
    loss: Any = Ridge.on(BALL, Logistic(), weight) if weight else Logistic()
    algorithm, n = PNMSGD(Problem(loss, BALL), 0.5, 2.0, epochs=4), 5
    found = []
    for passes, distance in ((4, 0.0), (1, 2.0), (2, 2.0)):
        shifts = np.zeros(n * passes)
        shifts[index - 1 :: n] = 0.5 * algorithm.problem.constants.gradient_sensitivity
        found.append(NoisyIteration(shifts, 0.5 * 2.0, algorithm.contraction, distance).gdp().mu)
    stated = algorithm.guarantee_at(n, index)
    assert stated is not None
    assert stated.guarantee.mu == pytest.approx(min(found), rel=1e-12)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", FAMILY)
def test_hardly_any_noise_is_refused_in_a_sentence(kind: Any) -> None:
    with pytest.raises(NotGuaranteedError, match="exceeds the floats"):
        kind(LOGISTIC, 0.05, 1e-160)


def test_theorem_24_and_the_profile_beside_it() -> None:
    algorithm = SkipPNSGD(LOGISTIC, 1.0, 0.7)
    for index, used in ((1, 1 / 6), (4, 4 / 6), (6, 1.0), (10, 1.0)):
        assert algorithm.used_with_probability(10, index) == pytest.approx(used)
        stated, printed = algorithm.guarantee_at(10, index), algorithm.rdp_at(10, index)
        assert stated is not None
        assert printed is not None
        exact = used * np.asarray(gaussian_hockey_stick(EPSILONS, 2 / 0.7 / math.sqrt(11 - index)))
        assert stated.guarantee.privacy_profile(EPSILONS) == pytest.approx(exact, rel=1e-9)
        assert np.all(
            stated.guarantee.privacy_profile(EPSILONS) <= printed.guarantee.privacy_profile(EPSILONS)
        )


@pytest.mark.parametrize("second_half", [False, True])
def test_stopping_is_worst_at_the_first_record_that_is_always_used(second_half: bool) -> None:
    algorithm = StopPNSGD(LOGISTIC, 1.0, 2.5, second_half=second_half)
    overall = algorithm.guarantees(9).headline.guarantee.privacy_profile(EPSILONS)
    profiles = []
    for index in range(1, 10):
        stated = algorithm.guarantee_at(9, index)
        assert stated is not None
        profiles.append(stated.guarantee.privacy_profile(EPSILONS))
    assert np.max(profiles, axis=0) == pytest.approx(overall, rel=1e-12)
    assert overall == pytest.approx(profiles[4 if second_half else 0], rel=1e-12)


def test_theorem_26_corrected() -> None:
    """The printed ln n is below the proof's own sum at n = 1, where the exact divergence is positive."""
    algorithm = StopPNSGD(LOGISTIC, 1.0, 6.0)
    for n in (1, 2, 20):
        bound = algorithm.guarantees(n).as_printed.guarantee
        assert isinstance(bound, RDP)
        harmonic = sum(1 / k for k in range(1, n + 1))
        assert bound.curve(3.0) == pytest.approx(4 * 3 * harmonic / (n * 36), rel=1e-12)
        assert bound.curve(6.0) == math.inf  # 2 * 6 * 5 > 36
        stated = algorithm.rdp_at(n, 1)
        assert stated is not None
        for order in (1.0, 1.5, 3.0, 4.7):
            assert 0 < stated.guarantee.curve(order) <= bound.curve(order)  # type: ignore[attr-defined]
    printed = 4 * 3 * math.log(1) / 36
    exact = 3 * 2**2 / (2 * 36)
    assert printed < exact <= 4 * 3 * 1.0 / 36


def test_the_theorems_parameters() -> None:
    n, epsilon, delta = 50, 0.5, 1e-5
    sigma = 2 * math.sqrt(2 * math.log(1.25e5)) / epsilon
    skip = SkipPNSGD.for_privacy(LOGISTIC, n=n, epsilon=epsilon, delta=delta)
    assert skip.noise_stddev == pytest.approx(sigma, rel=1e-12)
    assert skip.rate == pytest.approx(math.sqrt(8) / math.sqrt(n * (1 + D * sigma**2)), rel=1e-12)
    stop = StopPNSGD.for_privacy(LOGISTIC, n=n, epsilon=epsilon, delta=delta)
    assert stop.rate == pytest.approx(2 / math.sqrt(n * (1 + D * sigma**2)), rel=1e-12)
    assert stop.claim == "local"
    local = stop.guarantees(n).local
    assert local is not None
    assert local.local
    assert local.guarantee.privacy_profile(epsilon) <= delta
    many = PNMSGD.for_privacy(LOGISTIC, rate=0.1, epsilon=epsilon, delta=delta)
    assert many.noise_stddev == pytest.approx(5 * math.sqrt(math.log(1e5)) / epsilon, rel=1e-12)
    for stated in many.guarantees(n):
        assert stated.guarantee.privacy_profile(epsilon) <= delta
    with pytest.raises(NotGuaranteedError, match="below 5"):
        PNMSGD.for_privacy(LOGISTIC, rate=0.1, epsilon=8.0, delta=delta)
    with pytest.raises(InvalidArgumentError, match="bounded constraint set"):
        SkipPNSGD.for_privacy(Problem(Logistic(), AllSpace(D)), n=n, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize(
    ("problem", "rate", "stddev", "reason"),
    [
        (LOGISTIC, 8.0001, 0.5, r"the rate 8.0001 is above 2/beta = 8"),
        (Problem(Hinge(), BALL), 0.1, 0.5, "the loss is not smooth"),
        (Problem(EuclideanDistance(), BALL), 1e-9, 0.5, "the loss is not smooth"),
        (LOGISTIC, 1.0, 0.0, "the noise is zero"),
    ],
)
def test_what_voids_the_guarantee_is_refused(
    algorithm: Any, problem: Problem, rate: float, stddev: float, reason: str
) -> None:
    with pytest.raises(NotGuaranteedError, match=f"{algorithm.id} has no guarantee here: {reason}"):
        algorithm(problem, rate, stddev)
    withdrawn = algorithm(problem, rate, stddev, withdraw_guarantee=True)
    assert not withdrawn.guarantees(10)
    assert withdrawn.guarantee_at(10, 3) is None
    assert withdrawn.rdp_at(10, 3) is None
    assert any(reason[:12] in said for said in withdrawn.withdrawn(10))
    data = Dataset(np.eye(D), np.ones(D))
    assert withdrawn(data, rng=Randomness(0), runs=2).points.shape == (2, D)


@pytest.mark.parametrize("algorithm", FAMILY)
def test_the_largest_rate_that_is_guaranteed(algorithm: Any) -> None:
    assert algorithm(LOGISTIC, 8.0, 0.5).guarantees(10)
    assert algorithm(Problem(HalfSquaredDistance(1.0), BALL), 2.0, 0.5).guarantee_at(10, 1) is not None


@pytest.mark.parametrize("algorithm", [PNSGD, SkipPNSGD, StopPNSGD])
def test_local_claims_need_no_smoothness(algorithm: Any) -> None:
    local = algorithm(Problem(Hinge(), BALL), 50.0, 0.5, claim="local")
    stated = local.guarantees(10)
    assert stated.local is not None
    assert stated.local.local
    assert stated.local.guarantee == GDP(4.0)
    assert local.guarantee_at(10, 1) is not None


def test_there_is_no_local_claim_over_several_epochs() -> None:
    with pytest.raises(NotGuaranteedError, match="no local guarantee"):
        PNMSGD(LOGISTIC, 1.0, 0.5, claim="local")


def test_records_that_the_constants_do_not_cover_are_refused() -> None:
    algorithm = PNSGD(LOGISTIC, 1.0, 0.5)
    outside = Dataset(np.full((2, D), 1.0), np.ones(2))
    wrong_label = Dataset(np.eye(D), np.full(D, 1.5))
    with pytest.raises(InvalidDataError, match="norm"):
        algorithm(outside, rng=Randomness(0), runs=2)
    with pytest.raises(InvalidDataError, match="label"):
        algorithm(wrong_label, rng=Randomness(0), runs=2)
    withdrawn = dataclasses.replace(algorithm, withdraw_guarantee=True)
    withdrawn(outside, rng=Randomness(0), runs=2)
    with pytest.raises(InvalidArgumentError, match="3 features"):
        algorithm(Dataset(np.eye(2), np.ones(2)), rng=Randomness(0), runs=2)


@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(
            (name, value)
            for name in ("rate", "noise_stddev")
            for value in (-1.0, math.nan, math.inf, True, "1", None)
        ),
        ("rate", 0.0),
        ("start", (1.0, 2.0)),
        ("start", (2.0, 0.0, 0.0)),
        ("start", (math.nan, 0.0, 0.0)),
        ("start", "abc"),
        ("claim", "global"),
        ("problem", None),
        ("withdraw_guarantee", 1),
    ],
)
def test_bad_parameters(algorithm: Any, argument: str, value: object) -> None:
    good = {"problem": LOGISTIC, "rate": 1.0, "noise_stddev": 0.5}
    with pytest.raises(InvalidArgumentError, match=argument):
        algorithm(**{**good, argument: value})


@pytest.mark.parametrize(
    "algorithm", [*(kind(LOGISTIC, 1.0, 0.5) for kind in FAMILY), NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)]
)
def test_indices_are_checked(algorithm: Any) -> None:
    for n, index in ((10, 0), (10, 11), (0, 1), (10, 1.0), (10, True)):
        with pytest.raises(InvalidArgumentError):
            algorithm.guarantee_at(n, index)


def test_linear_losses_attain_the_guarantee_at_the_last_index() -> None:
    """Opposite records at index n: the exact law is N(-eta x, ..) against N(+eta x, ..) given the rest.

    With n = 1 the output's distance is 2 eta L and its noise eta sigma: mu = 2 L / sigma, as claimed.
    """
    algorithm = PNSGD(Problem(Linear(), AllSpace(1)), 0.5, 0.8)
    stated = algorithm.guarantee_at(1, 1)
    assert stated is not None
    assert stated.guarantee == GDP(2 / 0.8)


# ------------------------------------------------------------------------------------------ risk


def test_theorems_29_and_30_at_their_rates() -> None:
    """4 R L / sqrt(n) sqrt(1 + 8 d ln(1.25/delta) / epsilon^2), sqrt(2) times that for Skip, and no less is proved."""
    for n in (1, 2, 5, 1000):
        inside = math.sqrt(1 + 8 * D * math.log(1.25e5) / 0.5**2)
        for made, factor, iterates in (
            (StopPNSGD.for_privacy(LOGISTIC, n=n, epsilon=0.5, delta=1e-5), 4.0, n),
            (SkipPNSGD.for_privacy(LOGISTIC, n=n, epsilon=0.5, delta=1e-5), 4 * math.sqrt(2), n // 2 + 1),
        ):
            stated = made.risk_bound(n)
            assert stated is not None
            assert stated.population
            assert stated.theorem == pytest.approx(factor * inside / math.sqrt(n), rel=1e-9)
            assert stated.sources[0] == ("fmtt18.thm29" if factor == 4.0 else "fmtt18.thm30")
            proved = random_iterate_risk(
                LOGISTIC,
                n=n,
                iterates=iterates,
                rate=made.rate,
                noise_stddev=made.noise_stddev,
                start=made.start,
            )
            assert stated.bound == proved <= stated.theorem
            other = dataclasses.replace(made, rate=1.5 * made.rate).risk_bound(n)
            assert other is not None
            assert other.sources == (("fmtt18.thm28",) if iterates > 1 else ())
    skip = SkipPNSGD.for_privacy(LOGISTIC, n=9, epsilon=0.5, delta=1e-5)
    half = StopPNSGD(LOGISTIC, skip.rate, skip.noise_stddev, second_half=True)
    assert half.risk_bound(9) == skip.risk_bound(9)


def as_formulated(problem: Problem, n: int, rate: float, sigma: float) -> list[float]:
    """The terms of the formula of fmtt18.alg1/risk, from the middle of a ball, in its order."""
    lipschitz, r = problem.constants.lipschitz_constant, problem.constraint.diameter / 2
    d, size = problem.constraint.dimension, 2 * r
    square, noise = lipschitz**2 + d * sigma**2, rate * sigma * math.sqrt(d)
    drift = rate * lipschitz**2
    found = [size**2 / (2 * rate) + rate * square / 2, lipschitz * size]
    found.append(lipschitz * math.sqrt(r**2 + rate**2 * square * n))
    walked = 0.0 if isinstance(problem.loss, Logistic) else min(r**2, noise**2 * n)
    found.append(lipschitz * math.sqrt(r**2 + walked) + drift * (1 + n**2) / 2)
    for m in {n + 1, *(4**k for k in range(20) if 4**k <= n)}:
        harmonic = sum(1 / (m + 2 * j) for j in range(n - m + 1))
        moved = drift * (m - 1) / 2 + noise * lipschitz * float(np.mean(np.sqrt(np.arange(m))))
        found.append(r**2 / (2 * rate * (2 * n + 2 - m)) + rate * square / 2 * (1 + harmonic) + moved)
    return found


def test_the_last_point_s_bound_is_its_formula_and_no_theorem_s() -> None:
    best, losses = set(), (Logistic(), HalfSquaredDistance(2.0))
    for loss, (n, rate, sigma) in itertools.product(
        losses,
        (
            (40, 2.0, 4.0),
            (3, 0.01, 0.1),
            (3, 0.001, 2000.0),
            (200, 0.1, 0.05),
            (200, 0.002, 100.0),
        ),
    ):
        problem = Problem(loss, Ball(D, 1.0))
        stated, terms = PNSGD(problem, rate, sigma).risk_bound(n), as_formulated(problem, n, rate, sigma)
        assert stated is not None
        assert stated.bound == pytest.approx(min(terms), rel=1e-12)
        assert (stated.sources, stated.theorem) == ((), None)
        assert isinstance(stated.origin, Unstated)
        best.add(min(4, terms.index(min(terms))))
    assert best == {1, 2, 3, 4}


def test_no_risk_is_stated_without_bounds_or_where_the_paper_has_none() -> None:
    for kind in (SkipPNSGD, StopPNSGD, PNSGD):
        assert kind(Problem(Logistic(), AllSpace(D)), 0.1, 1.0).risk_bound(3) is None
    assert PNMSGD(LOGISTIC, 0.1, 1.0).risk_bound(3) is None


def test_the_last_point_has_a_risk_of_its_own_and_noise_counts_only_if_it_moves() -> None:
    """With little noise no worse than twice Stop's; with much of it, all that starts in the middle knows of a walk.

    At most L from it where losses vary in one direction, and sqrt(2) L elsewhere.
    """
    quiet, loud = ({"rate": 0.05, "noise_stddev": noise} for noise in (0.1, 100.0))
    stop, last = (kind(LOGISTIC, **quiet).risk_bound(400) for kind in (StopPNSGD, PNSGD))
    assert stop is not None
    assert last is not None
    assert stop.bound < last.bound < 3 * stop.bound
    assert last.population
    for problem, most in ((LOGISTIC, 1.0), (Problem(HalfSquaredDistance(2.0), Ball(3, 1.0)), math.sqrt(2))):
        lipschitz = problem.constants.lipschitz_constant
        walk, moved = (StopPNSGD(problem, **loud, start=at).risk_bound(400) for at in (None, [0.1, 0, 0]))
        assert walk is not None
        assert moved is not None
        # and eta L^2 / 2 for the gradients; elsewhere, nothing
        assert most < walk.bound / lipschitz < most + 0.03 * lipschitz
        assert moved.bound == pytest.approx(2.0 * lipschitz)


@pytest.mark.parametrize("kind", [SkipPNSGD, StopPNSGD, PNSGD])
def test_the_risk_holds_and_could_fail(kind: Any) -> None:
    """All records are one: the population is a point. At a fixed seed, with seven standard errors to spare."""
    problem = Problem(Linear(), Ball(2, 1.0))
    data = Dataset(np.tile([[1.0, 0.0]], (40, 1)), np.ones(40))
    made = kind.for_privacy(problem, n=40, epsilon=1.0, delta=0.1)
    excess = np.asarray(problem.mean_risk(made(data, rng=Randomness(1), runs=4000).points, data)) + 1.0
    error = 7 * float(np.std(excess)) / math.sqrt(4000)
    stated = made.risk_bound(40)
    assert np.mean(excess) + error <= stated.bound
    assert np.mean(excess) - error > stated.bound / 40
