"""Limited oracles: unbiased, as exact as they say, of the capacity they say, by integrals and by Blahut-Arimoto.

Every statistical test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import Any

import array_api_strict
import numpy as np
import pytest
from scipy import stats
from twins import Recorder

from dpverify.algorithms.mn25.interaction import Interaction
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel, LimitedOracleSGD, QuantizingOracle
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import AllSpace, Ball, Dataset, Hinge, Linear, Logistic, Problem, Squared, minimize
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
D, N, RUNS = 4, 9, 11
PROBLEM = Problem(Logistic(), Ball(D, 1.0))
NAMESPACES = [np, array_api_strict]
ORACLES = [
    QuantizingOracle(1.0, 1),
    QuantizingOracle(1.0, 3),
    QuantizingOracle(1.0, 2, coordinates=2),
    QuantizingOracle(1.5, 1, coordinates=1),
    GaussianChannel(1.7),
]


def make_data(n: int = N, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, D))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def estimates(oracle: Any, gradient: Any, runs: int = 40_000) -> Any:
    """Decoded messages about one linear loss, whose gradient is its record."""
    problem = Problem(Linear(), Ball(len(gradient), 1.0))
    data = Dataset(np.asarray(gradient)[None], np.ones(1))
    talk = Interaction(problem, data, oracle, rng=Randomness(4), runs=runs)
    message = talk.ask(np.zeros((runs, len(gradient))), [0]).answer()
    return np.asarray(oracle.decode(message, len(gradient))), np.asarray(message)


GRADIENT = np.array([0.6, -0.31, 0.0, 0.55])


def bias_pvalue(oracle: Any) -> float:
    found, _ = estimates(oracle, GRADIENT)
    error = found - GRADIENT
    spread = np.std(error, axis=0) / math.sqrt(len(error))
    # a coordinate on the grid is sent without any error
    moving = spread > 1e-12
    assert np.allclose(error[:, ~moving], 0.0, atol=1e-12)
    return float(np.min(2 * stats.norm.sf(np.abs(np.mean(error, axis=0)[moving] / spread[moving])))) * D


@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_estimates_are_unbiased(oracle: Any) -> None:
    assert bias_pvalue(oracle) > FALSE_ALARM


@dataclass(frozen=True)
class RoundingDown(QuantizingOracle):
    """The fault: rounding to the grid point below."""

    def respond(self, answers: Any, *, rng: Any) -> Any:
        class Zeros(Randomness):
            def uniform(self, shape: tuple[int, ...], name: str) -> Any:
                return 0.0 * super().uniform(shape, name)

        return super().respond(answers, rng=Zeros(1))


@dataclass(frozen=True)
class NotScaledUp(QuantizingOracle):
    """The fault: two of four coordinates are sent, and not doubled."""

    def decode(self, message: Any, dimension: int) -> Any:
        return super().decode(message, dimension) / 2


def test_biased_rounding_is_seen() -> None:
    found, _ = estimates(RoundingDown(1.0, 3), GRADIENT)
    assert np.max(np.abs(np.mean(found, axis=0) - GRADIENT)) > 0.05
    assert bias_pvalue(NotScaledUp(1.0, 2, coordinates=2)) < FALSE_ALARM


@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_squared_errors_are_within_their_bound(oracle: Any) -> None:
    found, _ = estimates(oracle, GRADIENT)
    squared = np.sum((found - GRADIENT) ** 2, axis=1)
    slack = 5 * np.std(squared) / math.sqrt(len(squared))
    assert np.mean(squared) - slack <= oracle.squared_error(D)
    if isinstance(oracle, GaussianChannel):
        assert abs(np.mean(squared) - oracle.squared_error(D)) <= slack


def test_the_rounding_error_is_exactly_what_it_should_be() -> None:
    """A coordinate a fraction f of the way between grid points has variance s^2 f (1 - f); all halfway attain it."""
    oracle = QuantizingOracle(1.0, 2)
    position = (GRADIENT + 1) / oracle.spacing
    fraction = position - np.floor(position)
    exact = oracle.spacing**2 * float(np.sum(fraction * (1 - fraction)))
    found, _ = estimates(oracle, GRADIENT)
    squared = np.sum((found - GRADIENT) ** 2, axis=1)
    assert abs(np.mean(squared) - exact) <= 5 * np.std(squared) / math.sqrt(len(squared))
    halfway = np.zeros(D)
    found, _ = estimates(oracle, halfway, runs=100)
    assert np.allclose(np.sum(found**2, axis=1), oracle.squared_error(D))


@pytest.mark.parametrize("oracle", ORACLES[:4], ids=str)
def test_messages_fit_in_their_bits(oracle: QuantizingOracle) -> None:
    _, message = estimates(oracle, GRADIENT, runs=2000)
    k = oracle.sent(D)
    assert message.dtype == np.int64
    assert message.shape == (2000, 2, k)
    places, codes = message[:, 0], message[:, 1]
    assert np.min(codes) >= 0
    assert np.max(codes) <= 2**oracle.bits - 1
    assert oracle.message_bits(D) == oracle.bits * k
    assert oracle.capacity(D) == pytest.approx(oracle.message_bits(D) * math.log(2))
    assert all(len(set(row)) == k for row in places.tolist())
    if k < D:
        assert stats.chisquare(np.bincount(places.ravel(), minlength=D)).pvalue > FALSE_ALARM


def blahut_arimoto(channel: Any, rounds: int = 3000) -> tuple[float, float]:
    """Lower and upper bound on the capacity in nats of a table of P[message | input]."""
    law = np.full(len(channel), 1 / len(channel))
    for _ in range(rounds):
        output = law @ channel
        with np.errstate(divide="ignore", invalid="ignore"):
            divergence = np.nansum(np.where(channel > 0, channel * np.log(channel / output), 0.0), axis=1)
        law = law * np.exp(divergence)
        law /= law.sum()
    return float(law @ divergence), float(np.max(divergence))


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_the_capacity_of_the_quantizer_in_one_dimension(bits: int) -> None:
    """Inputs on the grid are sent without error, so Gamma bits are attained, and never exceeded."""
    oracle = QuantizingOracle(1.0, bits)
    inputs = np.linspace(-1, 1, 2**bits * 7 - 6)
    position = (inputs + 1) / oracle.spacing
    channel = np.maximum(0.0, 1 - np.abs(position[:, None] - np.arange(2**bits)))
    channel /= channel.sum(axis=1, keepdims=True)
    lower, upper = blahut_arimoto(channel)
    assert lower <= oracle.capacity(1) * (1 + 1e-9)
    assert upper == pytest.approx(oracle.capacity(1), rel=1e-6)


def information(inputs: Any, weights: Any, stddev: float) -> float:
    """I(X; X + N(0, stddev^2)), nats, for a discrete X: the entropy of the sum, less that of the noise."""
    y = np.linspace(min(inputs) - 10 * stddev, max(inputs) + 10 * stddev, 40_001)
    density = weights @ stats.norm.pdf(y[None], np.asarray(inputs)[:, None], stddev)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(np.where(density > 0, density * np.log(density), 0.0)) * (y[1] - y[0])
    return float(entropy) - 0.5 * math.log(2 * math.pi * math.e * stddev**2)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 5.0])
def test_the_capacity_of_the_channel_by_quadrature(sigma: float) -> None:
    channel = GaussianChannel(sigma)
    capacity = channel.capacity(1)
    assert capacity == pytest.approx(0.5 * math.log(1 + 1 / sigma**2))
    two_points = information([-1.0, 1.0], np.array([0.5, 0.5]), sigma)
    uniform = information(np.linspace(-1, 1, 101), np.full(101, 1 / 101), sigma)
    # Gaussian inputs of power 1 attain it; they are no gradients of norm at most 1
    grid = np.linspace(-6, 6, 601)
    weights = stats.norm.pdf(grid)
    gaussian = information(grid, weights / weights.sum(), sigma)
    assert 0 < uniform < two_points < capacity
    assert gaussian == pytest.approx(capacity, rel=2e-3)
    assert capacity <= channel.printed_capacity(1) / 2


def test_capacities_scale_with_dimension_and_lipschitz_constant() -> None:
    assert GaussianChannel(3.0).capacity(7) == pytest.approx(7 * GaussianChannel(3.0).capacity(1))
    assert GaussianChannel(6.0, 2.0).capacity(7) == pytest.approx(GaussianChannel(3.0).capacity(7))
    assert GaussianChannel(3.0).printed_capacity(9) == 1.0
    # the noise of one coordinate is sigma / sqrt(d)
    found, _ = estimates(GaussianChannel(2.0), GRADIENT)
    assert stats.kstest(((found - GRADIENT) / (2.0 / math.sqrt(D))).ravel(), "norm").pvalue > FALSE_ALARM
    assert stats.kstest(((found - GRADIENT) / 2.0).ravel(), "norm").pvalue < FALSE_ALARM


@pytest.mark.parametrize("xp", NAMESPACES)
@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_sgd_does_what_its_twin_does(oracle: Any, xp: Any) -> None:
    data, steps, rate = make_data(), 6, 0.3
    algorithm = LimitedOracleSGD(PROBLEM, oracle, accuracy=1.0, batch_size=2, steps=steps, rate=rate)
    rng = Recorder(11, 2, xp)
    output = algorithm(data.as_namespace(xp), rng=rng, runs=RUNS)
    for r in range(RUNS):
        w, total = np.zeros(D), np.zeros(D)
        for t in range(steps):
            total += w
            batch = rng.drawn["records"][t][r]
            g = np.mean(
                [PROBLEM.loss.gradient(w[None], data.features[i], data.labels[i])[0] for i in batch], axis=0
            )
            if isinstance(oracle, GaussianChannel):
                estimate = g + oracle.noise / math.sqrt(D) * rng.drawn["noise"][t][:, r]
            else:
                k, estimate = oracle.sent(D), np.zeros(D)
                sent = np.argsort(rng.drawn["coordinates"][t][r])[:k] if k < D else np.arange(D)
                for j, place in enumerate(sent):
                    position = (g[place] + oracle.lipschitz) / oracle.spacing
                    code = math.floor(position + rng.drawn["rounding"][t][r, j])
                    estimate[place] = D / k * (code * oracle.spacing - oracle.lipschitz)
            w = np.asarray(PROBLEM.constraint.project((w - rate * estimate)[None]))[0]
        assert np.max(np.abs(np.asarray(output.points)[r] - total / steps)) <= 1e-12
    assert output.gradient_queries == algorithm.gradient_query_count(N) == 2 * steps
    assert output.projections == algorithm.queries(N)[1].count == steps


@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_the_tuning_gives_the_accuracy(oracle: Any) -> None:
    problem = Problem(Squared(0.4), Ball(D, 0.4)) if oracle.lipschitz >= 1.4 else PROBLEM
    width, accuracy = problem.constraint.diameter, 0.4
    algorithm = LimitedOracleSGD(problem, oracle, accuracy)
    moment = problem.loss.lipschitz_constant**2 + oracle.squared_error(D)
    assert algorithm.step_count == math.ceil(moment * (width / accuracy) ** 2)
    stated = algorithm.risk_bound(N)
    assert 0.9 * accuracy <= stated.theorem <= accuracy * (1 + 1e-9)
    assert stated.bound == pytest.approx(
        stated.theorem * 5 / 8, rel=0.02
    )  # half the distance, from the middle
    assert algorithm.information == pytest.approx(algorithm.step_count * oracle.capacity(D))
    data = make_data(40)
    points = run(algorithm, data, runs=200, seed=2).points
    excess = float(np.mean(problem.mean_risk(points, data))) - float(minimize(problem, data).value.lower)
    assert 0 <= excess <= stated.bound
    assert not algorithm.guarantees(N)
    assert algorithm.guarantee_at(N, 1) is None
    assert pickle.loads(pickle.dumps(algorithm)) == algorithm


def test_more_noise_needs_more_calls_as_the_lower_bound_says() -> None:
    """T (alpha / (B L))^2 = 1 + sigma^2, against d / Gamma >= sigma^2 of Theorem 5 without its constant."""
    for sigma in (1.0, 4.0, 16.0):
        channel = GaussianChannel(sigma)
        steps = LimitedOracleSGD(PROBLEM, channel, 0.02).step_count
        assert steps * (0.02 / 2.0) ** 2 == pytest.approx(1 + sigma**2, rel=1e-3)
        assert sigma**2 == pytest.approx(D / channel.printed_capacity(D))


def test_records_outside_the_unit_ball_are_refused() -> None:
    data = Dataset(np.full((9, D), 2.0), np.ones(9))
    with pytest.raises(InvalidDataError):
        LimitedOracleSGD(PROBLEM, GaussianChannel(1.0), 0.5)(data, rng=Randomness(1), runs=2)


BAD: list[tuple[Any, dict[str, Any]]] = [
    *((QuantizingOracle, {"lipschitz": value}) for value in (0.0, -1.0, math.nan, math.inf, True, "1")),
    *((QuantizingOracle, {"lipschitz": 1.0, "bits": value}) for value in (0, 33, 1.5, True, math.nan)),
    *((QuantizingOracle, {"lipschitz": 1.0, "coordinates": value}) for value in (0, 1.5, True)),
    *((GaussianChannel, {"noise": value}) for value in (0.0, -1.0, math.nan, math.inf, True)),
    *((GaussianChannel, {"noise": 1.0, "lipschitz": value}) for value in (0.0, math.nan, True)),
]
SGD: dict[str, Any] = {"problem": PROBLEM, "oracle": GaussianChannel(1.0), "accuracy": 0.5}
BAD += [
    (LimitedOracleSGD, {**SGD, name: value})
    for name, values in {
        "problem": (None, Problem(Logistic(), AllSpace(D)), Problem(Squared(1.0), Ball(D, 1.0))),
        "oracle": (None, 3, QuantizingOracle(0.9)),
        "accuracy": (0.0, -1.0, math.nan, math.inf, True),
        "batch_size": (0, 1.5, True),
        "steps": (0, 1.5, True),
        "rate": (0.0, math.nan, math.inf),
        "start": ([2.0, 0, 0, 0], [math.nan, 0, 0, 0], [0.0]),
    }.items()
    for value in values
]


@pytest.mark.parametrize(("kind", "options"), BAD)
def test_bad_arguments(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        kind(**options)


def test_more_coordinates_than_there_are_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="at most 4"):
        QuantizingOracle(1.0, 1, coordinates=5).sent(D)
    assert LimitedOracleSGD(Problem(Hinge(), Ball(D, 1.0)), GaussianChannel(1.0), 0.5).step_count == 32
