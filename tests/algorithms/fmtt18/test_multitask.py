"""k tasks by Stop-PNSGD: independence of the tasks, the sum of their divergences, the theorem's noise and risk."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from twins import Recorder, pnsgd

from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD, theorem_noise_multiplier
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import GDP, RDP, ProfileDP, compose_profiles
from dpverify.privacy.mixtures import harmonic
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Squared,
    check_constants,
)
from dpverify.problems.further_losses import OneVersusRest
from dpverify.running import Output, Randomness, run

# At a fixed seed, each statistical test rejects a correct implementation with at most this probability.
FALSE_ALARM = 1e-6
D, N = 3, 7
BALL = Ball(D, 0.7)
LOSSES = (Logistic(), Squared(0.7), Linear(), HalfSquaredDistance(0.7))


def make_data(n: int = N, d: int = D, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


# ------------------------------------------------------------------------------------------ the law


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_every_task_does_what_its_slow_twin_does(xp: Any) -> None:
    runs, data = 17, make_data()
    algorithm = MultitaskStopPNSGD(LOSSES, BALL, 0.4, 0.6)
    rng = Recorder(3, 1, xp)
    output = algorithm(data.as_namespace(xp), rng=rng, runs=runs)
    points = np.asarray(output.points)
    assert points.shape == (runs, len(LOSSES), D)
    times, noise, total = rng.drawn["stopping time"], list(rng.drawn["noise"]), np.zeros(runs, dtype=int)
    assert len({tuple(drawn) for drawn in times}) == len(LOSSES)
    for task, (loss, steps) in enumerate(zip(LOSSES, times, strict=True)):
        place = np.empty(runs, dtype=int)
        place[np.argsort(-steps, kind="stable")] = np.arange(runs)
        used = [noise.pop(0) for _ in range(max(steps))]
        expected = [
            pnsgd(
                Problem(loss, BALL),
                data,
                np.zeros(D),
                rate=0.4,
                stddev=0.6,
                records=list(range(steps[r])),
                z=[used[t][:, place[r]] for t in range(steps[r])],
            )
            for r in range(runs)
        ]
        assert np.max(np.abs(points[:, task, :] - np.stack(expected))) <= 1e-12
        total += steps
    assert not noise
    assert np.array_equal(np.asarray(output.gradient_queries), total)
    assert np.array_equal(np.asarray(output.projections), total)
    assert np.all(total <= algorithm.gradient_query_count(N))


@dataclass(frozen=True)
class SharedRandomness:
    """A planted fault: every task gets the stream from its beginning."""

    algorithm: MultitaskStopPNSGD

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        seed = int(rng.integers(0, 2**62, (), "seed"))
        parts = [task(data, rng=Randomness(seed), runs=runs).points for task in self.algorithm.tasks]
        return Output(np.stack(parts, axis=1))


def largest_pvalue(shared: bool) -> float:
    """Linear losses on all of R: of two tasks the larger point has the law F^2 if they are independent."""
    n, rate, stddev = 5, 0.3, 0.8
    data = Dataset(np.linspace(-1.0, 0.5, n)[:, None], np.ones(n))
    algorithm: Any = MultitaskStopPNSGD((Linear(), Linear()), AllSpace(1), rate, stddev)
    mechanism = SharedRandomness(algorithm) if shared else algorithm
    points = run(mechanism, data, runs=20_000, seed=4).points[:, :, 0]

    def one(x: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = [
            stats.norm.cdf(x, -rate * data.features[:t, 0].sum(), rate * stddev * math.sqrt(t))
            for t in range(1, n + 1)
        ]
        return np.asarray(np.mean(parts, axis=0))

    assert stats.kstest(points[:, 0], one).pvalue > FALSE_ALARM
    return float(stats.kstest(points.max(axis=1), lambda x: one(x) ** 2).pvalue)


def test_tasks_are_independent_and_shared_randomness_is_seen() -> None:
    assert largest_pvalue(shared=False) > FALSE_ALARM
    assert largest_pvalue(shared=True) < FALSE_ALARM


def test_one_versus_rest_is_the_base_loss_with_signs() -> None:
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(6, D)), make_data(4).features
    for label in (0.0, 2.0, 3.0):
        for base in (Logistic(), Hinge()):
            loss, sign = OneVersusRest(base, 2.0), np.float64(1.0 if label == 2.0 else -1.0)
            for record in x:
                assert np.array_equal(loss.value(w, record, np.float64(label)), base.value(w, record, sign))
                assert np.array_equal(
                    loss.gradient(w, record, np.float64(label)), base.gradient(w, record, sign)
                )
    a = np.array([-0.3, 0.3])
    labels = np.array([2.0, 1.0])
    signs = np.array([1.0, -1.0])
    assert np.array_equal(
        OneVersusRest(Logistic(), 2.0).link_conjugate(a, labels), Logistic().link_conjugate(a, signs)
    )
    data = Dataset(make_data(30).features, np.arange(30.0) % 10)
    check_constants(OneVersusRest(Logistic(), 3.0), BALL, data, rng=rng, rounds=20)


# ------------------------------------------------------------------------------------------ privacy


def exact_delta(mu: float, epsilon: float) -> float:
    return float(np.asarray(GDP(mu).privacy_profile(epsilon)))


def test_printed_noise_proves_nothing_for_one_record_and_many_tasks() -> None:
    """At n = 1 each task is one Gaussian release, attained by linear losses: mu = sqrt(k) 2 L / sigma, exactly."""
    epsilon, delta, k = 0.9, 0.1, 200
    # q = max(2 k ln(n) / n, 2 ln(1/delta)), whatever k
    printed = 4 * math.sqrt(2) * math.log(1 / delta) / epsilon
    assert exact_delta(math.sqrt(k) * 2 / printed, epsilon) > delta
    corrected = theorem_noise_multiplier(k, n=1, epsilon=epsilon, delta=delta)
    assert exact_delta(math.sqrt(k) * 2 / corrected, epsilon) <= delta


@pytest.mark.one_in(5)
@pytest.mark.parametrize("n", [1, 2, 60])
@pytest.mark.parametrize("k", [1, 3, 2000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-9), (0.99, 0.49), (0.9, 1e-5)])
def test_corrected_theorem_holds_by_its_own_renyi_bound(n: int, k: int, epsilon: float, delta: float) -> None:
    made = MultitaskStopPNSGD.for_privacy((Linear(),) * k, BALL, n=n, epsilon=epsilon, delta=delta)
    stated = made.guarantees(n)
    assert stated.as_printed is not None
    assert stated.local is not None
    sharp, printed, local = (one.guarantee for one in (stated.headline, stated.as_printed, stated.local))
    assert printed.epsilon_at(delta) <= epsilon
    assert sharp.epsilon_at(delta) <= printed.epsilon_at(delta) + 1e-12
    assert isinstance(printed, RDP)
    assert printed.curve(1.0) == pytest.approx(4 * k * harmonic(n) / (n * made.noise_stddev**2), rel=1e-12)
    # the order and the two terms of the printed proof
    order = 4 * math.log(1 / delta) / epsilon
    assert order > 2
    assert made.noise_stddev >= math.sqrt(2 * order * (order - 1))
    assert printed.curve(order) + math.log(1 / delta) / (order - 1) < epsilon
    assert local.mu == pytest.approx(2 * math.sqrt(k) / made.noise_stddev)  # type: ignore[attr-defined]


def test_renyi_sum_is_above_the_composed_privacy_loss_distributions() -> None:
    n, k, delta = 6, 4, 1e-3
    made = MultitaskStopPNSGD((Linear(),) * k, BALL, 0.3, 3.0)
    for index in (1, 6):
        stated = made.guarantee_at(n, index)
        assert stated is not None
        single = ProfileDP(made.tasks[0]._mixture(n, index))
        composed = compose_profiles([single] * k, discretization=2e-3, largest_loss=20.0).epsilon_at(delta)
        assert 0.5 * stated.guarantee.epsilon_at(delta) <= composed <= stated.guarantee.epsilon_at(delta)
    # one task is Stop-PNSGD
    alone = MultitaskStopPNSGD((Linear(),), BALL, 0.3, 3.0)
    curve = dataclasses.replace(alone.tasks[0], withdraw_guarantee=False).rdp_at(n, 1)
    assert curve is not None
    for order in (1.5, 4.0):
        assert alone.total_renyi(n).curve(order) == pytest.approx(curve.guarantee.curve(order))  # type: ignore[attr-defined]


def test_the_first_record_is_the_worst_and_different_losses_add_up() -> None:
    made = MultitaskStopPNSGD((Logistic(), Squared(0.7), Logistic()), BALL, 0.3, 3.0)
    for order in (1.5, 3.0, 10.0):
        values = [made.total_renyi(9, index).curve(order) for index in range(1, 10)]
        assert max(values) == values[0]
        curves = [dataclasses.replace(task, withdraw_guarantee=False).rdp_at(9, 1) for task in made.tasks]
        expected = sum(curve.guarantee.curve(order) for curve in curves if curve)  # type: ignore[attr-defined]
        assert values[0] == pytest.approx(expected, rel=1e-12)


def test_so_many_tasks_cost_the_noise_of_one() -> None:
    n, epsilon, delta = 50, 0.9, 1e-3
    free = MultitaskStopPNSGD.free_tasks(n, delta)
    assert free == math.floor(n * math.log(1e3) / harmonic(n))
    noise = [theorem_noise_multiplier(k, n=n, epsilon=epsilon, delta=delta) for k in (1, free, free + 1)]
    assert noise[0] == noise[1] < noise[2]


def test_smallest_noise_is_the_smallest() -> None:
    asked: dict[str, Any] = {"n": 40, "epsilon": 0.9, "delta": 1e-3}
    losses = (Linear(),) * 30
    smallest = MultitaskStopPNSGD.for_privacy(losses, BALL, **asked, noise="smallest")
    assert smallest.total_renyi(40).epsilon_at(1e-3) <= 0.9
    less = MultitaskStopPNSGD(losses, BALL, smallest.rate, (1 - 1e-5) * smallest.noise_stddev)
    assert less.total_renyi(40).epsilon_at(1e-3) > 0.9
    corrected = MultitaskStopPNSGD.for_privacy(losses, BALL, **asked)
    assert smallest.noise_stddev < corrected.noise_stddev


# ------------------------------------------------------------------------------------------ risk, input


def test_risk_is_the_theorem_s_at_its_rate_and_what_is_proved_is_less() -> None:
    for n, k in ((2, 1), (30, 5), (1000, 4)):
        made = MultitaskStopPNSGD.for_privacy((Logistic(),) * k, BALL, n=n, epsilon=0.9, delta=0.2)
        stated = made.risk_bound(n)
        assert stated is not None
        q = max(2 * k * harmonic(n) / n, 2 * math.log(5))
        inside = 1 + 16 * D * q * math.log(5) / 0.9**2
        assert stated.theorem == pytest.approx(4 * 0.7 / math.sqrt(n) * math.sqrt(inside), rel=1e-12)
        assert stated.bound < 0.75 * stated.theorem


BAD = [
    ("losses", ()),
    ("losses", (Logistic(), None)),
    ("losses", Logistic()),
    ("losses", "ab"),
    ("constraint", AllSpace(D)),
    ("constraint", None),
    ("n", 0),
    ("n", True),
    ("n", 2.0),
    ("epsilon", 1.0),
    ("epsilon", 0.0),
    ("epsilon", math.nan),
    ("epsilon", math.inf),
    ("delta", 0.5),
    ("delta", 0.0),
    ("delta", math.nan),
    ("noise", "printed"),
]


@pytest.mark.parametrize(("argument", "value"), BAD)
def test_bad_input(argument: str, value: Any) -> None:
    asked: dict[str, Any] = {
        "losses": (Logistic(),),
        "constraint": BALL,
        "n": 10,
        "epsilon": 0.5,
        "delta": 1e-5,
    }
    with pytest.raises(InvalidArgumentError):
        MultitaskStopPNSGD.for_privacy(**(asked | {argument: value}))


@pytest.mark.parametrize(
    "arguments",
    [
        (Squared, 1.0),
        (Logistic(), math.nan),
        (Logistic(), True),
        (Logistic(), 1.0, (3.0, 1.0)),
        (Logistic(), 1.0, 3.0),
        (Logistic(), 1.0, (math.nan, 1.0)),
    ],
)
def test_bad_one_versus_rest(arguments: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        OneVersusRest(*arguments)


def test_what_breaks_the_guarantee_is_refused_or_withdrawn() -> None:
    for losses, rate, noise, why in (
        ((Logistic(), Hinge()), 0.1, 1.0, "task 2: the loss is not smooth"),
        ((Logistic(), Squared(0.7)), 3.0, 1.0, "task 2: the rate"),
        ((Logistic(),), 0.1, 0.0, "the noise is zero"),
    ):
        with pytest.raises(NotGuaranteedError, match=why):
            MultitaskStopPNSGD(losses, BALL, rate, noise)
        run_anyway = MultitaskStopPNSGD(losses, BALL, rate, noise, withdraw_guarantee=True)
        assert not run_anyway.guarantees(5)
        assert run_anyway.guarantee_at(5, 1) is None
    far = Dataset(2 * make_data().features, make_data().labels)
    with pytest.raises(InvalidDataError):
        MultitaskStopPNSGD((Logistic(),), BALL, 0.1, 1.0)(far, rng=Randomness(0), runs=1)
