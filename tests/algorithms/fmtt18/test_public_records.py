"""Skip-PNSGD with public records last: its noise, its law, its risk, and Skip and Stop(n/2) as one algorithm."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from twins import Recorder, pnsgd

from dpverify.algorithms.fmtt18.iterate_risk import random_iterate_risk, skip_rate
from dpverify.algorithms.fmtt18.projected_noisy_sgd import SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast, printed_noise, smallest_noise
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, Adjacency
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Ridge,
)
from dpverify.running import Randomness, run
from dpverify.running.randomness import Array

# At a fixed seed, each statistical test rejects a correct implementation with at most this probability.
FALSE_ALARM = 1e-6
D = 3
BALL = Ball(D, 1.0)
PROBLEM = Problem(Logistic(), BALL)


def make_data(n: int, d: int = D, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def delta_at(guarantee: Any, epsilon: float) -> float:
    return float(np.asarray(guarantee.privacy_profile(epsilon)))


# ------------------------------------------------------------------------------------------ the noise


def test_printed_noise_is_too_small_for_many_public_records() -> None:
    """On the contract-then-reveal pair the outputs are Gaussians at distance 2 L / (sigma sqrt(m + 1)), exactly."""
    n, epsilon, delta = 100, 1.0, 1e-5
    for public, enough in ((1, True), (5, True), (6, False), (16, False), (49, False)):
        printed = printed_noise(PROBLEM, public=public, epsilon=epsilon, delta=delta)
        assert printed == pytest.approx(2 * math.sqrt(math.log(1.25 / delta) / public) / epsilon, rel=1e-12)
        exact = delta_at(GDP(2 / (printed * math.sqrt(public + 1))), epsilon)
        assert (exact <= delta) == enough
        corrected = math.sqrt(2) * printed
        assert delta_at(GDP(2 / (corrected * math.sqrt(public + 1))), epsilon) <= delta
        asked: dict[str, Any] = {"n": n, "public": public, "epsilon": epsilon, "delta": delta}
        chosen = PublicRecordsLast.for_privacy(PROBLEM, **asked)
        if enough:
            assert chosen.noise_stddev == printed
        else:
            with pytest.raises(NotGuaranteedError, match="printed noise"):
                PublicRecordsLast.for_privacy(PROBLEM, **asked, noise="printed")
            assert chosen.noise_stddev == smallest_noise(PROBLEM, **asked)
        assert PublicRecordsLast.for_privacy(
            PROBLEM, **asked, noise="corrected"
        ).noise_stddev == pytest.approx(corrected)
        assert delta_at(chosen.guarantees(n).headline.guarantee, epsilon) <= delta


@pytest.mark.parametrize("public", [1, 6, 30, 90])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_smallest_noise_is_the_smallest(public: int, epsilon: float) -> None:
    n, delta = 100, 1e-5
    asked: dict[str, Any] = {"n": n, "public": public, "epsilon": epsilon, "delta": delta}
    smallest = smallest_noise(PROBLEM, **asked)
    for factor, enough in ((1.0, True), (1 - 1e-6, False)):
        stddev = factor * smallest
        made = PublicRecordsLast(PROBLEM, skip_rate(PROBLEM, n, stddev), stddev, public=public)
        assert (delta_at(made.guarantees(n).headline.guarantee, epsilon) <= delta) == enough


def test_strong_convexity_needs_less_noise() -> None:
    constraint = Ball(D, 1.0)
    curved = Problem(Ridge.on(constraint, Logistic(), 1.0), constraint)
    asked: dict[str, Any] = {"n": 40, "public": 10, "epsilon": 1.0, "delta": 1e-5}
    # the gradients of two records are as far apart as without the ridge
    assert smallest_noise(curved, **asked) < smallest_noise(PROBLEM, **asked)


def test_the_worst_private_record_is_the_last() -> None:
    n, epsilons = 11, np.array([0.0, 0.2, 1.0, 2.0])
    for public in (1, 4, 8):
        made = PublicRecordsLast(PROBLEM, 0.4, 1.5, public=public)
        stated = made.guarantees(n)
        overall, curve, local = stated.headline, stated.as_printed, stated.local
        assert curve is not None
        assert local is not None
        assert overall.adjacency is Adjacency.REPLACE_ONE
        assert local.local
        worst = np.zeros(epsilons.shape)
        for index in range(1, n - public + 1):
            stated = made.guarantee_at(n, index)
            assert stated is not None
            worst = np.maximum(worst, np.asarray(stated.guarantee.privacy_profile(epsilons)))
        profile = np.asarray(overall.guarantee.privacy_profile(epsilons))
        assert profile == pytest.approx(worst, rel=1e-12)
        assert np.all(profile <= np.asarray(curve.guarantee.privacy_profile(epsilons)) + 1e-15)
        # the last public record is as exposed as a single noisy gradient
        exposed = made.guarantee_at(n, n)
        assert exposed is not None
        assert delta_at(exposed.guarantee, 1.0) == pytest.approx(delta_at(GDP(2 / 1.5), 1.0))


# ------------------------------------------------------------------------------------------ the law


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_does_what_its_slow_twin_does(xp: Any) -> None:
    n, runs = 7, 19
    data = make_data(n)
    algorithm = PublicRecordsLast(PROBLEM, 0.4, 0.6, public=2)
    rng = Recorder(5, 1, xp)
    output = algorithm(data.as_namespace(xp), rng=rng, runs=runs)
    skipped, noise = rng.drawn["skipped records"][0], list(rng.drawn["noise"])
    while len(noise) < n:
        noise.insert(0, np.empty((D, 0)))
    place = np.empty(runs, dtype=int)
    place[np.argsort(skipped, kind="stable")] = np.arange(runs)
    expected = [
        pnsgd(
            PROBLEM,
            data,
            np.zeros(D),
            rate=0.4,
            stddev=0.6,
            records=list(range(skipped[r], n)),
            z=[noise[t][:, place[r]] for t in range(skipped[r], n)],
        )
        for r in range(runs)
    ]
    assert np.max(np.abs(np.asarray(output.points) - np.stack(expected))) <= 1e-12
    assert np.array_equal(np.asarray(output.gradient_queries), n - skipped)
    gradient, expected_count, *_ = algorithm.queries(n)
    assert np.all(np.asarray(output.gradient_queries) <= gradient.count)
    assert expected_count.count == pytest.approx(np.mean([n - t for t in range(n // 2 + 1)]))


def linear_pvalue(factor: float) -> float:
    """Linear losses on all of R: w = -eta (sum of the records from t_0 on) + N(0, (n - t_0) (eta sigma)^2)."""
    n, rate, stddev = 6, 0.3, 0.8
    data = Dataset(np.linspace(-1.0, 0.5, n)[:, None], np.ones(n))
    algorithm = PublicRecordsLast(Problem(Linear(), AllSpace(1)), rate, factor * stddev, public=2)
    points = run(algorithm, data, runs=30_000, seed=4).points[:, 0]

    def law(x: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = [
            stats.norm.cdf(x, -rate * data.features[t:, 0].sum(), rate * stddev * math.sqrt(n - t))
            for t in range(n // 2 + 1)
        ]
        return np.asarray(np.mean(parts, axis=0))

    return float(stats.kstest(points, law).pvalue)


def test_linear_losses_have_their_exact_law_and_less_noise_is_seen() -> None:
    assert linear_pvalue(1.0) > FALSE_ALARM
    assert linear_pvalue(0.9) < FALSE_ALARM


# ------------------------------------------------------------------------------------------ Skip and Stop(n/2)


class Mirrored(Randomness):
    """The same stream, with integers counted from the other end."""

    def integers(self, low: int, high: int, shape: tuple[int, ...], name: str) -> Array:
        return low + high - 1 - super().integers(low, high, shape, name)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_skipping_is_stopping_half_way_on_records_moved_on(n: int) -> None:
    """Bit for bit, with the same noise: Skip with t_0 = n - T on the records moved on by t_0 is Stop with T.

    So the two have one law whenever moving all records on by a number that is drawn independently of them changes
    nothing in law, as for independent draws from one population.
    """
    data, seen = make_data(n), set()
    for seed in range(60):
        stop = StopPNSGD(PROBLEM, 0.4, 0.6, second_half=True)(data, rng=Randomness(seed), runs=1)
        steps = int(stop.gradient_queries[0])  # type: ignore[index]
        moved = Dataset(np.roll(data.features, n - steps, axis=0), np.roll(data.labels, n - steps))
        skip = SkipPNSGD(PROBLEM, 0.4, 0.6)(moved, rng=Mirrored(seed), runs=1)
        assert np.array_equal(skip.points, stop.points)
        assert np.array_equal(skip.gradient_queries, stop.gradient_queries)
        seen.add(steps)
    assert seen == set(range((n + 1) // 2, n + 1))


def test_skipping_and_stopping_differ_on_one_data_set_and_not_on_equal_records() -> None:
    n, runs = 8, 20_000
    problem = Problem(Logistic(), AllSpace(D))
    one = Dataset(np.repeat(np.eye(D)[:2], n // 2, axis=0), np.ones(n))
    same = Dataset(np.tile([1.0, 0.0, 0.0], (n, 1)), np.ones(n))

    def pvalue(data: Dataset) -> float:
        skip = run(SkipPNSGD(problem, 1.0, 0.3), data, runs=runs, seed=1).points
        stop = run(StopPNSGD(problem, 1.0, 0.3, second_half=True), data, runs=runs, seed=2).points
        return min(float(stats.ks_2samp(skip[:, i], stop[:, i]).pvalue) for i in range(D)) * D

    assert pvalue(same) > FALSE_ALARM
    assert pvalue(one) < FALSE_ALARM


# ------------------------------------------------------------------------------------------ risk, input


def test_risk_is_the_corollary_s_at_its_rate_and_what_is_proved_is_less() -> None:
    for n, public in ((2, 1), (5, 2), (40, 10), (1000, 300)):
        made = PublicRecordsLast.for_privacy(
            PROBLEM, n=n, public=public, epsilon=1.0, delta=1e-5, noise="corrected"
        )
        stated = made.risk_bound(n)
        assert stated is not None
        inside = 1 + 8 * D * math.log(1.25e5) / public
        assert stated.theorem == pytest.approx(4 * math.sqrt(2) / math.sqrt(n) * math.sqrt(inside), rel=1e-12)
        assert stated.bound <= 0.6 * stated.theorem
        other = PublicRecordsLast(PROBLEM, 2 * made.rate, made.noise_stddev, public=public).risk_bound(n)
        assert other is not None
        assert "fmtt18.cor31" not in other.sources
    assert PublicRecordsLast(Problem(Logistic(), AllSpace(D)), 0.1, 1.0, public=1).risk_bound(3) is None


def test_the_proved_risk_holds_where_it_is_known() -> None:
    """E (w_T - x)^2 / 2 for half squared distances on an interval, no noise: iterates (1 - eta)^t w_0, all in it."""
    constraint = Ball(1, 1.0)
    problem = Problem(HalfSquaredDistance(1.0), constraint)
    for rate in (0.01, 0.3, 1.0):
        for iterates in (1, 4, 20):
            risk = np.mean([(1 - rate) ** (2 * t) / 2 for t in range(1, iterates + 1)])
            assert risk <= random_iterate_risk(
                problem, n=iterates, iterates=iterates, rate=rate, noise_stddev=0.0
            )


BAD = [
    ("public", 0),
    ("public", 10),
    ("public", True),
    ("public", 2.0),
    ("n", 1),
    ("n", math.nan),
    ("epsilon", 0.0),
    ("epsilon", math.nan),
    ("epsilon", math.inf),
    ("epsilon", True),
    ("delta", 0.0),
    ("delta", 1.0),
    ("delta", math.nan),
    ("noise", "least"),
    ("problem", Problem(Logistic(), AllSpace(D))),
    ("problem", None),
]


@pytest.mark.parametrize(("argument", "value"), BAD)
def test_bad_input(argument: str, value: Any) -> None:
    asked: dict[str, Any] = {"problem": PROBLEM, "n": 10, "public": 3, "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(InvalidArgumentError) as caught:
        PublicRecordsLast.for_privacy(**(asked | {argument: value}))
    assert argument in str(caught.value)


def test_what_breaks_the_guarantee_is_refused_or_withdrawn() -> None:
    with pytest.raises(NotGuaranteedError, match="2/beta"):
        PublicRecordsLast(PROBLEM, 9.0, 1.0, public=2)
    withdrawn = PublicRecordsLast(PROBLEM, 9.0, 1.0, public=2, withdraw_guarantee=True)
    assert withdrawn.withdrawn(10)
    assert not withdrawn.guarantees(10)
    with pytest.raises(InvalidArgumentError, match="public"):
        PublicRecordsLast(PROBLEM, 1.0, 1.0, public=-1)
    with pytest.raises(InvalidArgumentError, match="n "):
        PublicRecordsLast(PROBLEM, 1.0, 1.0, public=3).guarantees(3)
    # a private record that is hardly ever used needs no noise for a large delta
    with pytest.raises(InvalidArgumentError, match="delta"):
        smallest_noise(PROBLEM, n=100, public=99, epsilon=1.0, delta=0.5)


def exact_mu(noise: float, n: int, public: int, d: int) -> mpmath.mpf:
    """Half squared distances on the unit ball in d dimensions, by the definition of each quantity, L being 2."""
    sigma = mpmath.mpf(noise)
    rate = mpmath.sqrt(8) / mpmath.sqrt(n * (4 + d * sigma**2))
    contraction = min(mpmath.mpf(1), abs(1 - rate))
    spread = mpmath.sqrt(sum(contraction ** (2 * j) for j in range(public + 1)))
    return 2 * contraction**public / (sigma * spread)


def exact_delta(noise: float, n: int, public: int, d: int) -> mpmath.mpf:
    mu, epsilon = exact_mu(noise, n, public, d), 1
    used = mpmath.mpf(min(n - public, n // 2 + 1)) / (n // 2 + 1)
    return used * (
        mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
    )


@pytest.mark.parametrize(("d", "n", "public"), [(2, 2, 1), (3, 2, 1), (1, 3, 1), (1, 4, 2), (2, 20, 4)])
def test_the_smallest_noise_is_enough_and_less_is_not(d: int, n: int, public: int) -> None:
    """With n = 2 tiny noises are enough as well: what is returned is above those that are not."""
    problem = Problem(HalfSquaredDistance(1.0), Ball(d, 1.0))
    noise = smallest_noise(problem, n=n, public=public, epsilon=1.0, delta=1e-5)
    with mpmath.workdps(40):
        assert exact_delta(noise, n, public, d) <= 1e-5 * (1 + 1e-6)
        assert exact_delta(noise * (1 - 1e-6), n, public, d) > 1e-5 * (1 - 1e-6)
        for factor in (1.01, 1.5, 3.0, 10.0, 100.0):
            assert exact_delta(noise * factor, n, public, d) <= 1e-5
        if n == 2:
            assert exact_delta(1e-6, n, public, d) <= 1e-5


def test_no_noise_is_the_smallest_where_contraction_alone_is_enough() -> None:
    problem = Problem(HalfSquaredDistance(1.0), Ball(1, 1.0))
    with mpmath.workdps(40):
        for exponent in range(-60, 20):
            assert exact_delta(2.0 ** (exponent / 4), 2, 1, 1) <= 0.01
    for epsilon, delta in ((1.0, 0.01), (3.0, 1e-3)):
        with pytest.raises(InvalidArgumentError, match="no noise is too small"):
            smallest_noise(problem, n=2, public=1, epsilon=epsilon, delta=delta)
