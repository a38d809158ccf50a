"""Contractive noisy iteration: its guarantees, its refusals, and the laws of its outputs.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.algorithms.fmtt18 import PNSGD, ContractiveNoisyIteration
from dpverify.algorithms.fmtt18.iteration import GaussianNoise
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, RDP, ProtectedRecords
from dpverify.problems import (
    Ball,
    Dataset,
    Logistic,
    Problem,
)
from dpverify.running import run
from tests.algorithms.fmtt18.laplace_noise import LaplaceNoise


class TestContractiveNoisyIteration:
    """fmtt18's Definition 19."""

    MAPS = (lambda w, data: 0.5 * w,) * 4

    def test_gaussian_noise_gets_the_best_schedule(self) -> None:
        algorithm = ContractiveNoisyIteration(
            self.MAPS, GaussianNoise(0.5), np.zeros(2), shifts=(0.0, 1.0, 0.0, 0.0)
        )
        (stated,) = algorithm.guarantees(1)
        assert isinstance(stated.guarantee, GDP)
        assert stated.guarantee.mu == pytest.approx(1 / 0.5 / math.sqrt(3), rel=1e-12)

    def test_contractions_help(self) -> None:
        plain = ContractiveNoisyIteration(
            self.MAPS, GaussianNoise(0.5), np.zeros(2), shifts=(0.0, 1.0, 0.0, 0.0)
        )
        known = dataclasses.replace(plain, contractions=(0.5,) * 4)
        assert known.guarantees(1).headline.guarantee.mu < plain.guarantees(1).headline.guarantee.mu  # type: ignore[attr-defined]

    def test_the_even_schedule_is_admissible_for_any_shifts(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(50):
            shifts, contractions = tuple(rng.exponential(size=4)), tuple(rng.uniform(size=4))
            algorithm = ContractiveNoisyIteration(
                self.MAPS, GaussianNoise(0.5), np.zeros(2), shifts=shifts, contractions=contractions
            )
            iteration = algorithm.noisy_iteration()
            assert iteration is not None
            even, left = algorithm.even_schedule(), 0.0
            for contraction, shift, amount in zip(contractions, shifts, even, strict=True):
                left = contraction * left + shift - amount
                assert left >= -1e-12
            assert left == pytest.approx(0.0, abs=1e-12)
            assert sum((amount / 0.5) ** 2 for amount in even) >= iteration.best().squared_mu * (1 - 1e-9)

    @pytest.mark.parametrize("order", [1.0, 1.01, 2.0, 9.0])
    def test_laplace_magnitude_by_quadrature(self, order: float) -> None:
        shift, scale = 0.8, 0.6
        p, q = stats.laplace(shift, scale), stats.laplace(0, scale)
        if order == 1:
            exact = integrate.quad(
                lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -30, 30, points=[0, shift]
            )[0]
        else:
            power = integrate.quad(
                lambda x: math.exp(order * p.logpdf(x) + (1 - order) * q.logpdf(x)),
                -30,
                30,
                points=[0, shift],
            )[0]
            exact = math.log(power) / (order - 1)
        assert LaplaceNoise(scale).magnitude(order, shift) == pytest.approx(exact, rel=1e-7)
        assert LaplaceNoise(scale).magnitude(order, 0.0) == pytest.approx(0.0, abs=1e-12)

    def test_laplace_noise_gets_a_renyi_curve(self) -> None:
        algorithm = ContractiveNoisyIteration(
            self.MAPS, LaplaceNoise(0.6), np.zeros(2), shifts=(0.0, 1.0, 0.0, 0.0)
        )
        (stated,) = algorithm.guarantees(1)
        assert isinstance(stated.guarantee, RDP)
        each = LaplaceNoise(0.6).magnitude(2.0, 1 / 3)
        assert stated.guarantee.curve(2.0) == pytest.approx(3 * each, rel=1e-12)

    def test_nothing_is_claimed_without_shifts(self) -> None:
        algorithm = ContractiveNoisyIteration(self.MAPS, GaussianNoise(0.5), np.zeros(2))
        assert not algorithm.guarantees(1)
        assert algorithm.guarantee_at(3, 1) is None

    def test_expanding_maps_are_refused(self) -> None:
        options: dict[str, Any] = {"shifts": (1.0,) * 4, "contractions": (1.0, 1.0, 1.1, 1.0)}
        with pytest.raises(NotGuaranteedError, match=r"expands distances by 1\.1"):
            ContractiveNoisyIteration(self.MAPS, GaussianNoise(0.5), np.zeros(2), **options)
        withdrawn = ContractiveNoisyIteration(
            self.MAPS, GaussianNoise(0.5), np.zeros(2), withdraw_guarantee=True, **options
        )
        assert not withdrawn.guarantees(1)

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("maps", ()),
            ("maps", (1,)),
            ("noises", (GaussianNoise(1.0),)),
            ("noises", 1.0),
            ("shifts", (1.0,)),
            ("shifts", (1.0, -1.0, 0.0, 0.0)),
            ("shifts", (math.nan,) * 4),
            ("contractions", (1.0,)),
            ("queries_per_step", -1),
        ],
    )
    def test_bad_parameters(self, argument: str, value: object) -> None:
        good = {"maps": self.MAPS, "noises": GaussianNoise(0.5), "start": np.zeros(2)}
        with pytest.raises(InvalidArgumentError, match=argument):
            ContractiveNoisyIteration(**{**good, argument: value})  # type: ignore[arg-type]

    def test_a_random_start(self) -> None:
        algorithm = ContractiveNoisyIteration(
            (lambda w, data: w,), GaussianNoise(0.0), lambda rng, runs: rng.uniform((runs, 2), "start")
        )
        points = run(algorithm, None, runs=100, seed=1).points
        assert np.all((points >= 0) & (points < 1))
        assert len(np.unique(points)) == 200


def test_shifts_of_some_records_protect_those_alone() -> None:
    """Shifts that were declared for a replaced record before the last one say nothing of the last one."""
    maps = (lambda points, data: 0.5 * points,) * 2
    protected = ProtectedRecords(public_last=1)
    algorithm = ContractiveNoisyIteration(
        maps, GaussianNoise(1.0), np.zeros(1), shifts=(1.0, 0.0), protected=protected
    )
    (stated,) = algorithm.guarantees(2)
    assert stated.protected == protected
    assert algorithm.guarantee_at(2, 1) == stated.at(1, 2) is not None
    assert algorithm.guarantee_at(2, 2) is None
    for bad in ("all", None, ProtectedRecords(only=1)):
        with pytest.raises(InvalidArgumentError, match="protected"):
            dataclasses.replace(algorithm, protected=bad)  # type: ignore[arg-type]


FALSE_ALARM = 1e-6
D, N = 3, 12
Array = NDArray[np.float64]


def make_data(n: int = N, d: int = D, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def gaussian_pvalue(points: Array, mean: Array, stddev: float) -> float:
    """Of the hypothesis that rows are independent N(mean, stddev^2 I): every coordinate and their correlation.

    Kolmogorov-Smirnov on all standardized coordinates together, chi-square on their squared sum, and a z-test of
    the sum of products of neighboring coordinates; the smallest of the three p-values, times three.
    """
    z = (points - mean) / stddev
    ks = stats.kstest(z.ravel(), "norm").pvalue
    total, count = float(np.sum(z**2)), z.size
    chi = 2 * min(stats.chi2.cdf(total, count), stats.chi2.sf(total, count))
    products = z[:, :-1] * z[:, 1:]
    correlated = 2 * stats.norm.sf(abs(np.sum(products)) / math.sqrt(max(1, products.size)))
    return float(min(1.0, 3 * min(ks, chi, correlated)))


def test_iteration_with_identity_maps_adds_up_the_noise() -> None:
    start = np.array([0.5, -0.2, 0.1])
    algorithm = ContractiveNoisyIteration((lambda w, data: w,) * 5, GaussianNoise(0.8), start)
    points = run(algorithm, None, runs=20_000, seed=4).points
    assert gaussian_pvalue(points, start, 0.8 * math.sqrt(5)) > FALSE_ALARM
    assert gaussian_pvalue(points, start, 0.8 * math.sqrt(4)) < FALSE_ALARM


def test_iteration_equals_pnsgd_in_law() -> None:
    """PNSGD without its last projection is the iteration of project-then-step maps: Section 4."""
    data, rate, sigma = make_data(), 0.5, 0.7
    ball, loss = Ball(D, 0.4), Logistic()

    def psi(t: int) -> Any:
        def step(v: Array, records: Dataset) -> Array:
            w = np.asarray(ball.project(v))
            return w - rate * np.asarray(loss.gradient(w, records.features[t], records.labels[t]))

        return step

    iteration = ContractiveNoisyIteration(
        tuple(psi(t) for t in range(N)), GaussianNoise(rate * sigma), np.zeros(D), queries_per_step=1
    )
    ours = run(iteration, data, runs=20_000, seed=5)
    theirs = run(PNSGD(Problem(loss, ball), rate, sigma), data, runs=20_000, seed=6)
    left, right = np.asarray(ball.project(ours.points)), theirs.points
    pvalues = [stats.ks_2samp(left[:, i], right[:, i]).pvalue for i in range(D)]
    assert min(pvalues) * D > FALSE_ALARM
    assert np.all(ours.gradient_queries == theirs.gradient_queries)


def test_laplace_noise_has_its_law() -> None:
    algorithm = ContractiveNoisyIteration((lambda w, data: w,), LaplaceNoise(0.6), np.zeros(2))
    points = run(algorithm, None, runs=20_000, seed=7).points
    assert stats.kstest(points.ravel(), stats.laplace(scale=0.6).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(points.ravel(), stats.laplace(scale=0.55).cdf).pvalue < FALSE_ALARM
