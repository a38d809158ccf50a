"""The hard linear family: its constants, its instances, the claims of Section 7 on it, and solvers tried on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD
from dpverify.algorithms.gll22.linear_hard_family import (
    HardFamilyTrial,
    LinearHardFamily,
    MeanMinimizer,
    shortened,
)
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP
from dpverify.problems import Ball, Dataset, Linear, Problem, load, minimize
from dpverify.running import Output, Randomness, run

# At a fixed seed, each statistical test rejects a correct implementation with at most this probability.
FALSE_ALARM = 1e-6
NOTHING = Dataset(np.zeros((1, 1)), np.ones(1), "unused")
EXACT = MeanMinimizer(1.0, math.inf, 0.0, withdraw_guarantee=True)

FAMILIES = [
    LinearHardFamily(1, 1),
    LinearHardFamily(1, 40),
    LinearHardFamily(7, 3, 0.5, 6.0),
    LinearHardFamily(20, 5, 3.0, 1.0),
    LinearHardFamily(3, 300),
]


# ------------------------------------------------------------------------------------------ constants


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_constants_fit_together(family: LinearHardFamily) -> None:
    d, k = family.dimension, family.observations
    assert d * (family.separation**2 + family.record_stddev**2) == pytest.approx(family.gradient_bound**2)
    # Lemma 7.4 at this separation: half the signs' chance is left, which Claim 7.2 turns into risk
    wrong = d / 2 * (1 - family.separation * math.sqrt(k) / (family.record_stddev * math.sqrt(d)))
    assert wrong == pytest.approx(d / 4)
    proved = family.diameter * family.separation / (4 * math.sqrt(d)) * wrong
    assert family.lower_bound == pytest.approx(proved, rel=1e-12)
    v = np.ones(d)
    best = family.minimizer(v)
    assert family.separation * best @ v == pytest.approx(family.minimum, rel=1e-12)
    assert np.linalg.norm(best) == pytest.approx(family.diameter / 2)
    assert family.excess(best[None, :], v) == pytest.approx([0.0], abs=1e-14)


@pytest.mark.parametrize(("dimension", "each"), [(1, 1), (1, 30), (4, 1), (50, 1), (50, 7)])
def test_the_best_answer_does_not_reach_the_printed_bound(dimension: int, each: int) -> None:
    """Coordinates seen equally often: the mean risk of the best answer, by the mean of v given the values.

    Its j-th coordinate is tanh(delta S / sigma^2), S the sum of `each` values of N(delta v_j, sigma^2).
    """
    family = LinearHardFamily(dimension, dimension * each)
    ratio = family.separation / family.record_stddev
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    means = np.tanh(each * ratio**2 + math.sqrt(each) * ratio * z)
    square = float(weights @ means**2 / weights.sum())
    assert square <= 1 / 2
    best = family.diameter / 2 * family.separation * math.sqrt(dimension) * (1 - math.sqrt(square))
    assert best > family.printed_lower_bound > family.lower_bound


def test_the_printed_bound_is_never_reached_by_its_proof() -> None:
    """1/sqrt(1 + x) < min(1, 1/sqrt(x)); nor, for k >= d/4, by the proof with any other separation."""
    ratios = []
    for d, k in ((1, 1), (4, 1), (4, 2), (100, 3), (8, 2), (1, 1000)):
        family = LinearHardFamily(d, k)
        assert family.lower_bound < family.printed_lower_bound
        ratios.append(family.printed_lower_bound / family.lower_bound)
        # with delta = r sigma sqrt(d/k): G D / 8 r (1 - r) / sqrt(k/d + r^2); the printed choice is r = 1/2
        r = np.linspace(0, 1, 100_001)
        reached = np.max(r * (1 - r) / np.sqrt(k / d + r**2)) * 2 / 8
        assert 0.5 * 0.5 / math.sqrt(k / d + 0.25) * 2 / 8 == pytest.approx(family.lower_bound)
        assert (reached < family.printed_lower_bound) == (4 * k >= d)
    assert max(ratios) == pytest.approx(math.sqrt(2))


def test_claim_7_2_on_the_ball_and_not_outside() -> None:
    rng = np.random.default_rng(0)
    for family in FAMILIES:
        d = family.dimension
        v = np.where(rng.random(d) < 0.5, -1.0, 1.0)
        w = rng.normal(size=(3000, d)) * 10 ** rng.uniform(-2, 1, size=(3000, 1))
        w[:1000] = -v * np.abs(w[:1000]) * np.where(rng.random((1000, d)) < 0.2, -1.0, 1.0)
        w = Ball(d, family.diameter / 2).project(w)
        factor = family.diameter * family.separation / (4 * math.sqrt(d))
        wrong = np.sum(w * v >= 0, axis=1)
        assert np.all(family.excess(w, v) >= factor * wrong - 1e-12)
        assert set(np.unique(wrong)) <= set(range(d + 1))
    # the paper says "any solution in R^d": one wrong sign, far outside of the ball, with a risk below the minimum
    family, v = LinearHardFamily(3, 5), np.ones(3)
    far = np.array([[-9.0, -9.0, 0.1]])
    assert np.sum(far * v >= 0) == 1
    assert family.excess(far, v)[0] < 0


# ------------------------------------------------------------------------------------------ instances


def records_pvalue(family: LinearHardFamily, stddev: float) -> float:
    """Records about their mean are Gaussian with the given standard deviation."""
    v, records = family.draw(4000, Randomness(1))
    z = (records - family.separation * v) / stddev
    return float(stats.kstest(z.ravel(), "norm").pvalue)


def test_records_have_their_law_and_another_spread_is_seen() -> None:
    family = LinearHardFamily(6, 12, 2.0)
    assert records_pvalue(family, family.record_stddev) > FALSE_ALARM
    assert records_pvalue(family, 1.2 * family.record_stddev) < FALSE_ALARM
    signs = np.stack([family.draw(1, Randomness(0, block))[0] for block in range(2000)])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    # sums of 2000 fair signs, six of them: |z| < 6 fails with probability 1.2e-8
    assert np.max(np.abs(signs.sum(axis=0))) < 6 * math.sqrt(2000)


@dataclass(frozen=True)
class ReadsHalf:
    """A planted fault: the solver that reads half of the records, for all of them."""

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        result: Output = replace(EXACT, first=data.n // 2)(data, rng=rng, runs=runs)
        return result


def excess_z(solver: Any) -> float:
    """In one dimension the excess risk is 0 or D delta, with the closed form's probability of a wrong sign."""
    n, trials = 6, 6000
    family = LinearHardFamily(1, n)
    excess = run(HardFamilyTrial(family, solver, n), NOTHING, runs=trials, seed=3, block_size=1).points
    worst = family.diameter * family.separation
    assert np.all(np.isclose(excess, 0.0, atol=1e-12) | np.isclose(excess, worst))
    wrong = int(np.sum(excess > worst / 2))
    # the sign of the sum of the records is all there is to know
    least = float(stats.norm.cdf(-family.separation * math.sqrt(n) / family.record_stddev))
    return float(stats.binomtest(wrong, trials, least).pvalue)


def test_the_mean_is_the_best_solver_in_one_dimension() -> None:
    assert excess_z(EXACT) > FALSE_ALARM
    assert excess_z(ReadsHalf()) < FALSE_ALARM


def test_no_solver_is_better_than_the_lower_bound() -> None:
    """Hoeffding intervals at 1e-6 each, of excess risks in [0, largest_excess]."""
    for d, n in ((1, 4), (4, 6), (10, 3)):
        family = LinearHardFamily(d, n * d)
        private = MeanMinimizer.for_privacy(n=n, epsilon=1.0, delta=1e-5, radius=1.0, clip=1.0)
        noisy = PNSGD.for_privacy(family.problem, n=n, epsilon=1.0, delta=1e-5)
        means = []
        for solver, clip in ((EXACT, math.inf), (private, 1.0), (noisy, 1.0)):
            trial = HardFamilyTrial(family, solver, n, clip=clip)
            excess = run(trial, NOTHING, runs=1500, seed=4, block_size=1).points
            assert np.all((excess >= -1e-12) & (excess <= trial.largest_excess + 1e-12))
            slack = trial.largest_excess * math.sqrt(math.log(1e6) / 2 / len(excess))
            assert excess.mean() - slack > family.lower_bound
            means.append(excess.mean())
        assert means[0] < min(means[1:])


def test_records_of_a_data_set_have_its_minimum() -> None:
    data = load("breast-cancer", d=4)
    family = LinearHardFamily(4, 4 * 200)
    excess = run(HardFamilyTrial(family, EXACT, 200, "data"), data, runs=300, seed=5, block_size=1).points
    assert np.all(excess >= -1e-12)
    mean = np.linalg.norm(np.asarray(data.features).mean(axis=0))
    assert np.all(excess <= 2 * mean)
    # 200 records of a data set know its mean well; two do not
    few = run(HardFamilyTrial(family, EXACT, 2, "data"), data, runs=300, seed=5, block_size=1).points
    assert excess.mean() < 0.2 * few.mean()


# ------------------------------------------------------------------------------------------ the solver


def test_the_mean_minimizer_minimizes() -> None:
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(9, 3)), np.ones(9))
    w = MeanMinimizer(0.7, math.inf, 0.0, withdraw_guarantee=True)(data, rng=Randomness(0), runs=2)
    certified = minimize(Problem(Linear(), Ball(3, 0.7)), data)
    risk = Problem(Linear(), Ball(3, 0.7)).mean_risk(w.points, data)
    assert risk == pytest.approx([certified.value.upper] * 2, abs=certified.duality_gap + 1e-9)
    assert w.value_queries == 27
    assert w.linear_minimizations == 1


def sign_pvalue(factor: float) -> float:
    """In one dimension the noisy mean's sign is known: Phi(mean / sigma) is its chance to be positive."""
    data = Dataset(np.array([[0.5], [3.0], [-0.9]]), np.ones(3))  # shortened to 0.5, 1, -0.9
    solver = MeanMinimizer(1.0, 1.0, factor * 0.4)
    points = run(solver, data, runs=40_000, seed=2).points[:, 0]
    return float(stats.binomtest(int(np.sum(points < 0)), 40_000, stats.norm.cdf(0.2 / 0.4)).pvalue)


def test_the_mean_minimizer_has_its_noise_and_less_is_seen() -> None:
    assert sign_pvalue(1.0) > FALSE_ALARM
    assert sign_pvalue(0.9) < FALSE_ALARM


def test_the_mean_minimizer_s_guarantee() -> None:
    made = MeanMinimizer.for_privacy(n=20, epsilon=1.0, delta=1e-5, radius=1.0, clip=2.0)
    (stated,) = made.guarantees(20)
    assert isinstance(stated.guarantee, GDP)
    assert stated.guarantee.mu == pytest.approx(4 / (20 * made.noise_stddev))
    assert float(np.asarray(stated.guarantee.privacy_profile(1.0))) <= 1e-5
    assert not EXACT.guarantees(20)
    for bad in ({"noise_stddev": 0.0}, {"clip": math.inf}):
        with pytest.raises(NotGuaranteedError):
            MeanMinimizer(**({"radius": 1.0, "clip": 1.0, "noise_stddev": 0.1} | bad))
    records = np.array([[3.0, 4.0], [0.3, 0.4]])
    assert shortened(records, 1.0) == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4]]))
    assert np.max(np.linalg.norm(shortened(records, 1.0), axis=1)) <= 1.0


def test_other_array_libraries_get_the_same_numbers() -> None:
    family = LinearHardFamily(4, 20)
    data = load("breast-cancer", n=30, d=4)
    private = MeanMinimizer.for_privacy(n=5, epsilon=1.0, delta=1e-5, radius=1.0, clip=1.0)
    for kind in ("gaussian", "data"):
        for solver in (private, PNSGD(family.problem, 0.1, 1.0)):
            trial = HardFamilyTrial(family, solver, 5, kind, clip=1.0)  # type: ignore[arg-type]
            ours = trial(data, rng=Randomness(1), runs=7)
            theirs = trial(
                data.as_namespace(array_api_strict), rng=Randomness(1, xp=array_api_strict), runs=7
            )
            assert np.max(np.abs(np.asarray(theirs.points) - ours.points)) <= 1e-12


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearHardFamily(0, 1),
        lambda: LinearHardFamily(1, True),
        lambda: LinearHardFamily(1, 1, math.nan),
        lambda: LinearHardFamily(1, 1, 1.0, math.inf),
        lambda: LinearHardFamily(1, 1).draw(0, Randomness(0)),
        lambda: MeanMinimizer(0.0, 1.0, 1.0),
        lambda: MeanMinimizer(1.0, math.nan, 1.0),
        lambda: MeanMinimizer(1.0, 1.0, -1.0),
        lambda: MeanMinimizer(1.0, 1.0, 1.0, first=0),
        lambda: HardFamilyTrial(None, EXACT, 3),  # type: ignore[arg-type]
        lambda: HardFamilyTrial(LinearHardFamily(1, 1), None, 3),  # type: ignore[arg-type]
        lambda: HardFamilyTrial(LinearHardFamily(1, 1), EXACT, 2.0),  # type: ignore[arg-type]
        lambda: HardFamilyTrial(LinearHardFamily(1, 1), EXACT, 3, "normal"),  # type: ignore[arg-type]
        lambda: HardFamilyTrial(LinearHardFamily(1, 1), EXACT, 3, clip=0.0),
        lambda: HardFamilyTrial(LinearHardFamily(2, 1), EXACT, 3, "data")(NOTHING, rng=Randomness(0), runs=1),
    ],
)
def test_bad_input(make: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        make()
