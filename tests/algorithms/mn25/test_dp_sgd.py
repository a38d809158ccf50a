"""DP-SGD: the paper's numbers, a slow twin, exact laws, the accountant against integrals, and planted faults.

Every statistical test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
from scipy import stats
from twins import Recorder, one_step

from dpverify.algorithms.mn25 import private_oracles
from dpverify.algorithms.mn25.dp_sgd import DPSGD, distinct_records
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import GDP, ApproxDP, PureDP, gaussian_hockey_stick
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Squared,
    minimize,
)
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
D, RUNS = 3, 13
BALL = Ball(D, 1.0)
PROBLEM = Problem(Logistic(), BALL)
NAMESPACES = [np, array_api_strict]


def make_data(n: int, d: int = D, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def mean_of_points(
    problem: Problem, data: Dataset, start: Any, drawn: list[Any], z: list[Any], rate: float, stddev: float
) -> Any:
    """One run of Algorithm 3, lines 5 to 10, with given records and noise."""
    w, total = np.array(start), np.zeros(len(start))
    for records, noise in zip(drawn, z, strict=True):
        total += w
        gradients = [problem.loss.gradient(w[None], data.features[i], data.labels[i])[0] for i in records]
        moved = w - rate * (np.mean(gradients, axis=0) + stddev * noise)
        w = np.asarray(problem.constraint.project(moved[None]))[0]
    return total / len(drawn)


@pytest.mark.parametrize("xp", NAMESPACES)
@pytest.mark.parametrize(
    "problem", [PROBLEM, Problem(Hinge(), BALL), Problem(Squared(0.9), Box.cube(D, 0.5))], ids=str
)
def test_it_does_what_its_twin_does(problem: Problem, xp: Any) -> None:
    n, data = 12, make_data(12)
    algorithm = DPSGD(
        problem, 1.0, 1e-3, batch_size=4, steps=9, rate=0.3, noise_stddev=0.5, withdraw_guarantee=True
    )
    rng = Recorder(11, 2, xp)
    output = algorithm(data.as_namespace(xp), rng=rng, runs=RUNS)
    for r in range(RUNS):
        drawn = []
        for t in range(9):
            chosen: list[int] = []
            for k in range(4):
                record = int(rng.drawn["records"][t][k, r])
                chosen.append(n - 4 + k if record in chosen else record)
            assert len(set(chosen)) == 4
            drawn.append(chosen)
        z = [noise[:, r] for noise in rng.drawn["noise"]]
        twin = mean_of_points(problem, data, algorithm.start, drawn, z, 0.3, 0.5)
        assert np.max(np.abs(np.asarray(output.points)[r] - twin)) <= 1e-12
    assert output.gradient_queries == algorithm.gradient_query_count(n) == 36
    assert output.projections == algorithm.queries(n)[1].count == 9


def test_the_parameters_are_the_papers() -> None:
    problem, n, alpha, delta = Problem(Squared(1.0), Ball(5, 1.0)), 400, 0.2, 1e-5
    width, lipschitz, rho = 2.0, 2.0, 1 / math.log(1e5)
    used = DPSGD(problem, 1.0, delta, accuracy=alpha).parameters(n)
    assert used.batch_size == math.ceil(math.sqrt(5 / rho)) == 8
    assert used.steps == (width * lipschitz / alpha) ** 2
    assert used.noise_stddev == pytest.approx(math.sqrt(2) * lipschitz / math.sqrt(5))
    # eta = B / (L sqrt(T)) where M = 1
    assert used.rate == pytest.approx(width / (lipschitz * math.sqrt(used.steps)))
    bounded = DPSGD(problem, 1.0, delta, accuracy=alpha, batch_bound=3)
    used, factor = bounded.parameters(n), 5 / (9 * rho)
    assert used.batch_size == 3
    assert used.steps == math.ceil(factor * 400)
    assert used.noise_stddev == pytest.approx(math.sqrt(2) * lipschitz / (3 * math.sqrt(rho)))
    assert used.rate == pytest.approx(width / (lipschitz * math.sqrt(factor * 400)) / math.sqrt(factor))
    for algorithm in (bounded, DPSGD(problem, 1.0, delta, accuracy=alpha)):
        # Theorem 2, before m and T are rounded up
        most = min(algorithm.batch_bound or n, n)
        bound = (width * lipschitz / alpha) ** 2 * max(math.sqrt(5 / rho), 5 / (most * rho))
        assert bound * (1 - 1e-9) <= algorithm.gradient_query_count(n) <= 1.06 * bound
        stated = algorithm.risk_bound(n)
        assert stated.bound <= 2 * alpha * (1 + 1e-9)
        assert not stated.population


@pytest.mark.parametrize("bound", [None, 1, 3])
def test_the_oracle_keeps_rho_and_the_printed_noise_does_not(bound: int | None) -> None:
    """mn25.thm2: replacing one of m gradients moves their mean by 2 L / m, so the printed sigma gives 2 rho."""
    algorithm = DPSGD(PROBLEM, 1.0, 1e-5, accuracy=0.1, batch_bound=bound, oracle_privacy=0.3)
    used = algorithm.parameters(500)
    assert algorithm.oracle_guarantee(500).rho <= 0.3 * (1 + 1e-12)
    ideal = min(math.sqrt(D / 0.3), bound or 500)
    printed = max(1 / math.sqrt(D), 1 / ((bound or 500) * math.sqrt(0.3)))
    assert (2 / ideal) ** 2 / (2 * printed**2) == pytest.approx(2 * 0.3)
    assert used.noise_stddev == pytest.approx(math.sqrt(2) * printed)


@pytest.mark.parametrize("n", [700, 2000, 10_000])
def test_lemma_12_takes_the_wrong_case(n: int) -> None:
    """At alpha = 26 alpha* the condition of its first case fails, and the second case says epsilon > 4."""
    d, delta = 5, 1e-5
    rho, alpha = 1 / math.log(1 / delta), 26 * math.sqrt(d * math.log(1 / delta)) / n  # B = L = 1
    total, omega = 13 * d / (alpha * n) ** 2, 1 / (4 * rho)
    assert not math.log(1 / delta) <= (omega - 1) ** 2 * total
    assert total * omega + math.log(1 / delta) / (omega - 1) > 4
    # what the lemma concludes is proved by accounting all the same, with the noise that is used here
    algorithm = DPSGD(Problem(Logistic(), Ball(d, 0.5)), 3 / 26, delta, accuracy=alpha)
    assert algorithm.withdrawn(n) == ()


def test_the_default_accuracy_is_the_smallest_that_is_proved() -> None:
    n = 60
    algorithm = DPSGD(PROBLEM, 2.0, 1e-4)
    accuracy = algorithm.parameters(n).accuracy
    assert algorithm.withdrawn(n) == ()
    found = algorithm.guarantees(n)
    stated, profile = found.headline.guarantee, found.sharpest.guarantee
    assert stated == ApproxDP(2.0, 1e-4)
    assert 0.9e-4 <= float(profile.privacy_profile(2.0)) <= 1e-4
    greedy = replace(algorithm, accuracy=0.95 * accuracy)
    assert "proved" in greedy.withdrawn(n)[0]
    assert not greedy.guarantees(n)
    assert greedy.guarantee_at(n, 1) is None
    with pytest.raises(NotGuaranteedError):
        greedy(make_data(n), rng=Randomness(1), runs=2)
    run_anyway = replace(greedy, withdraw_guarantee=True)
    assert run_anyway(make_data(n), rng=Randomness(1), runs=2).points.shape == (2, D)
    assert pickle.loads(pickle.dumps(algorithm)) == algorithm


def test_a_large_accuracy_needs_no_data() -> None:
    algorithm = DPSGD(PROBLEM, 0.5, 1e-5, accuracy=0.7, start=(0.1, 0.2, 0.0))  # B L / 3 = 0.667
    output = algorithm(make_data(9), rng=Randomness(1), runs=4)
    assert np.array_equal(output.points, np.tile([0.1, 0.2, 0.0], (4, 1)))
    assert output.gradient_queries == 0
    assert algorithm.guarantees(9).sharpest.guarantee == PureDP(0.0)
    stated = algorithm.risk_bound(9)  # L times the largest distance from there, where the paper has B L
    assert (stated.bound, stated.theorem) == (pytest.approx(1 + math.sqrt(0.05)), 2.0)
    # with few records and little privacy to spend nothing else is left
    assert DPSGD(PROBLEM, 0.01, 1e-5).gradient_query_count(9) == 0


def test_all_records_in_every_batch_is_the_gaussian_mechanism() -> None:
    algorithm = DPSGD(PROBLEM, 1.0, 1e-5, batch_size=6, steps=4, noise_stddev=2.0)
    expected = gaussian_hockey_stick(0.3, math.sqrt(4) * 2 / (6 * 2.0))
    assert float(algorithm.profile(6).privacy_profile(0.3)) == pytest.approx(float(expected))


def test_the_profile_bounds_two_exact_steps() -> None:
    """Equal linear losses but for an opposite one, T = 2: the two messages are independent mixtures."""
    n, size, stddev, epsilon = 5, 2, 0.9, 0.4
    algorithm = DPSGD(
        Problem(Linear(), Ball(1, 1.0)),
        1.0,
        1e-3,
        batch_size=size,
        steps=2,
        noise_stddev=stddev,
    )
    mu, q = 2 / (size * stddev), size / n
    axis = np.linspace(-9, 12, 1501)
    left = (1 - q) * stats.norm.pdf(axis) + q * stats.norm.pdf(axis, mu)
    right = stats.norm.pdf(axis)
    cell = (axis[1] - axis[0]) ** 2

    def exact(p: Any, q: Any) -> float:
        return float(np.sum(np.maximum(np.outer(p, p) - math.exp(epsilon) * np.outer(q, q), 0.0)) * cell)

    bound = float(algorithm.profile(n).privacy_profile(epsilon))
    assert max(exact(left, right), exact(right, left)) <= bound <= 1.2 * exact(left, right)
    # the fault: an accountant that is told twice the noise that is there
    twice = replace(algorithm, noise_stddev=2 * stddev)
    assert float(twice.profile(n).privacy_profile(epsilon)) < exact(left, right)


def second_point_pvalue() -> float:
    """T = 2 from 0 with linear losses: 2 w-bar = -eta (mean of two records + sigma Z), a mixture over the pairs."""
    data = Dataset([[0.9], [-0.4], [0.1], [0.5]], np.ones(4))
    algorithm = DPSGD(
        Problem(Linear(), Ball(1, 1e3)),
        1.0,
        1e-3,
        batch_size=2,
        steps=2,
        rate=1.0,
        noise_stddev=0.2,
        withdraw_guarantee=True,
    )
    points = -2 * run(algorithm, data, runs=20_000, seed=3).points[:, 0]
    values = np.asarray(data.features)[:, 0]
    means = [(values[i] + values[j]) / 2 for i, j in itertools.combinations(range(4), 2)]

    def law(x: Any) -> Any:
        return np.mean([stats.norm.cdf(x, mean, 0.2) for mean in means], axis=0)

    return float(stats.kstest(points, law).pvalue)


def test_the_law_of_the_second_point() -> None:
    assert second_point_pvalue() > FALSE_ALARM


def test_half_the_noise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    respond = private_oracles.GaussianOracle.respond

    def faulty(self: Any, answers: Any, *, rng: Any) -> Any:
        return respond(private_oracles.GaussianOracle(self.noise_stddev / 2), answers, rng=rng)

    monkeypatch.setattr(private_oracles.GaussianOracle, "respond", faulty)
    assert second_point_pvalue() < FALSE_ALARM


def test_sampling_with_replacement_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpverify.algorithms.mn25 import dp_sgd

    def faulty(rng: Any, n: int, size: int, runs: int) -> Any:
        return rng.integers(0, n, (runs, size), "records")

    monkeypatch.setattr(dp_sgd, "distinct_records", faulty)
    assert second_point_pvalue() < FALSE_ALARM


@pytest.mark.parametrize(("n", "size"), [(5, 2), (4, 3), (3, 3), (6, 1)])
def test_sets_of_records_are_uniform(n: int, size: int) -> None:
    drawn = np.sort(np.asarray(distinct_records(Randomness(5), n, size, 30_000)), axis=1)
    counts = Counter(tuple(row) for row in drawn.tolist())
    assert set(counts) == set(itertools.combinations(range(n), size))
    assert len(counts) == 1 or stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_few_runs_draw_what_a_call_a_record_draws() -> None:
    """Floyd's algorithm as printed, for each run, on the same stream, whose state is the same afterwards."""
    n, size, runs = 7, 5, 4
    ours, theirs = Randomness(3), Randomness(3)
    for _ in range(20):
        found = np.asarray(distinct_records(ours, n, size, runs))
        sets: list[list[int]] = [[] for _ in range(runs)]
        for last in range(n - size, n):
            for own, drawn in zip(
                sets, theirs.integers(0, last + 1, (runs,), "records").tolist(), strict=True
            ):
                own.append(last if drawn in own else drawn)
        assert found.tolist() == sets
    assert ours.normal((3,), "noise").tolist() == theirs.normal((3,), "noise").tolist()
    assert ours.counts == theirs.counts


def test_the_risk_bound_holds_and_is_not_vacuous() -> None:
    data = make_data(200, seed=4)
    algorithm = DPSGD(PROBLEM, 2.0, 1e-4, accuracy=0.1)
    points = run(algorithm, data, runs=300, seed=6).points
    excess = float(np.mean(PROBLEM.mean_risk(points, data))) - float(minimize(PROBLEM, data).value.lower)
    stated = algorithm.risk_bound(200)
    assert excess <= stated.bound == pytest.approx(0.1625, rel=0.02)  # from the middle of the ball
    assert stated.theorem == pytest.approx(0.2, rel=0.02)


def test_records_outside_the_unit_ball_are_refused() -> None:
    data = Dataset(np.full((9, D), 2.0), np.ones(9))
    with pytest.raises(InvalidDataError):
        DPSGD(PROBLEM, 1.0, 1e-3, accuracy=0.1, noise_stddev=50.0)(data, rng=Randomness(1), runs=2)


def test_a_single_noisy_step_is_the_step_of_all_methods() -> None:
    """Batches of one record are the step of `projected_steps`, averaged."""
    data = make_data(6)
    algorithm = DPSGD(
        PROBLEM, 1.0, 1e-3, batch_size=1, steps=2, rate=0.4, noise_stddev=0.6, withdraw_guarantee=True
    )
    rng = Recorder(8)
    points = algorithm(data, rng=rng, runs=5).points
    for r in range(5):
        i = rng.drawn["records"][0][0, r]
        z = rng.drawn["noise"][0][:, r]
        step = one_step(PROBLEM, np.zeros(D), data.features[i], data.labels[i], rate=0.4, stddev=0.6, z=z)
        assert np.allclose(points[r], step / 2, atol=1e-14)


BAD = [
    *(("epsilon", value) for value in (0.0, -1.0, math.nan, math.inf, True, "1")),
    *(("delta", value) for value in (0.0, 1.0, math.nan, True)),
    *(("accuracy", value) for value in (0.0, -1.0, math.nan, math.inf, True)),
    *(("oracle_privacy", value) for value in (0.0, 1.1, math.nan, True)),
    *(("noise_stddev", value) for value in (-1.0, math.nan, math.inf)),
    *(("rate", value) for value in (0.0, math.nan, math.inf)),
    *((name, value) for name in ("batch_bound", "batch_size", "steps") for value in (0, 1.5, True, math.nan)),
    *(("problem", value) for value in (None, Problem(Logistic(), AllSpace(D)))),
    ("problem", Problem(Squared(math.inf), BALL)),
    *(("start", value) for value in ([2.0, 0, 0], [math.nan, 0, 0], [0.0])),
    ("withdraw_guarantee", 1),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_arguments(name: str, value: Any) -> None:
    good: dict[str, Any] = {"problem": PROBLEM, "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(InvalidArgumentError) as caught:
        DPSGD(**{**good, name: value})
    assert caught.value.argument == name


def test_batches_larger_than_the_data_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="at most 5"):
        DPSGD(PROBLEM, 1.0, 1e-5, batch_size=6).parameters(5)
    silent = DPSGD(PROBLEM, 1.0, 1e-5, accuracy=0.1, noise_stddev=0.0)
    assert silent.withdrawn(50) == ("the noise is zero",)
    with pytest.raises(NotGuaranteedError, match="noise is zero"):
        silent.profile(50)
    # beyond the accountant's range the bound is that of the plain Gaussian mechanism
    loud = replace(silent, noise_stddev=0.001, steps=4)
    assert loud.profile(50) == GDP(2 * 2 / (loud.parameters(50).batch_size * 0.001))
