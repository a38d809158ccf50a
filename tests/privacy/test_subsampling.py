"""The accountant of one record sampled a step, against exact small cases, quadrature and other accountants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy import integrate

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import (
    GDP,
    noise_constant,
    noise_constant_interval,
    subsampled_gaussian,
    subsampled_gaussian_noise,
    subsampling,
)
from dpverify.privacy.renyi import delta_from_renyi
from dpverify.privacy.subsampling import _MOST_NOISE, _ORDERS, SampledGaussian, _least_delta

EPSILONS = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0)


def mixture_divergence(
    left: list[tuple[float, float]], right: list[tuple[float, float]], epsilon: float
) -> float:
    """Hockey-stick divergence of mixtures of unit Gaussians on the line, [(weight, mean), ..], by quadrature.

    The trapezoidal rule with steps of 7e-5; kinks leave an error of that squared, about 1e-8.
    """
    x = np.linspace(-14, 14, 400_001)
    p, q = (sum(w * np.exp(-((x - m) ** 2) / 2) for w, m in pair) for pair in (left, right))
    gap = np.maximum(0.0, p - math.exp(epsilon) * q) / math.sqrt(2 * math.pi)
    return float(integrate.trapezoid(gap, x))


@pytest.mark.parametrize("mu", [0.5, 2.0])
@pytest.mark.parametrize("n", [2, 5])
def test_one_step_bounds_every_arrangement_of_the_other_records_and_is_attained(n: int, mu: float) -> None:
    guarantee = SampledGaussian(n, 1, 1 / mu)
    q = 1 / n
    rng = np.random.default_rng(n)
    # the other records' means within the ball that has the two differing ones on its boundary
    others = [
        [-mu / 2] * (n - 1),
        [mu / 2] * (n - 1),
        [0.0] * (n - 1),
        rng.uniform(-mu / 2, mu / 2, n - 1).tolist(),
    ]
    for epsilon in (0.0, 0.05, 0.3):
        bound = float(guarantee.step_profile(np.array(epsilon)))
        found = []
        for means in others:
            common = [(q, m) for m in means]
            pair = [*common, (q, mu / 2)], [*common, (q, -mu / 2)]
            found.append(max(mixture_divergence(*pair, epsilon), mixture_divergence(*pair[::-1], epsilon)))
        assert max(found) <= bound + 1e-7
        assert max(found) == pytest.approx(bound, abs=1e-6)


def test_the_middle_is_not_the_worst_place_for_the_other_records() -> None:
    # what dp-accounting's REPLACE adjacency assumes is exceeded by a real instance
    n, mu, epsilon = 5, 2.0, 0.3
    q = 1 / n
    middle = mixture_divergence([(1 - q, 0), (q, mu / 2)], [(1 - q, 0), (q, -mu / 2)], epsilon)
    end = mixture_divergence([(1 - q, -mu / 2), (q, mu / 2)], [(1.0, -mu / 2)], epsilon)
    assert end > middle + 1e-3


@pytest.mark.parametrize(("n", "steps", "noise"), [(10, 99, 2.0), (50, 2499, 4.0), (5, 1, 0.7)])
def test_an_instance_accounted_otherwise_lies_below(n: int, steps: int, noise: float) -> None:
    # n - 1 equal records and one opposite: dp-accounting's own pair, composed by its own distributions
    theirs = privacy_loss_distribution.from_gaussian_mechanism(
        noise, value_discretization_interval=1e-4, sampling_prob=1 / n
    ).self_compose(steps)
    ours = subsampled_gaussian(n, steps, noise)
    for epsilon in EPSILONS:
        # their pessimistic rounding at this grid is well under one percent
        assert theirs.get_delta_for_epsilon(epsilon) * 0.99 <= ours.privacy_profile(epsilon)


@pytest.mark.parametrize(("n", "steps", "noise"), [(10, 99, 2.0), (50, 2499, 4.0)])
def test_the_renyi_accountant_lies_above(n: int, steps: int, noise: float) -> None:
    ours = SampledGaussian(n, steps, noise)
    known = dict(zip(_ORDERS, ours.renyi_curve, strict=True))
    for epsilon in EPSILONS:
        by_renyi = float(delta_from_renyi(known.__getitem__, np.array(epsilon), orders=_ORDERS))
        assert ours.at(epsilon) <= by_renyi * (1 + 1e-9)


def test_sampling_and_more_steps() -> None:
    once = subsampled_gaussian(20, 1, 1.0)
    assert once.privacy_profile(0.0) == pytest.approx(float(GDP(1.0).privacy_profile(0.0)) / 20, rel=1e-9)
    chain = [subsampled_gaussian(20, steps, 1.0) for steps in (1, 10, 100, 399)]
    for fewer, more in itertools.pairwise(chain):
        assert np.all(
            np.asarray(fewer.privacy_profile(EPSILONS)) <= np.asarray(more.privacy_profile(EPSILONS))
        )


def test_the_profile_is_one_far_out_too() -> None:
    deltas = np.asarray(
        subsampled_gaussian(50, 2499, 5.0).privacy_profile([0.0, 1.0, 3.0, 10.0, 50.0, math.inf])
    )
    assert np.all(np.diff(deltas) <= 0)
    assert np.all(deltas >= 0)
    assert deltas[-1] == 0.0


def test_few_and_many_points_agree_and_the_table_errs_upwards() -> None:
    bound = SampledGaussian(50, 2499, 5.0)
    some = np.linspace(0, 3, 8)
    exact = np.array([bound.at(e) for e in some.tolist()])
    assert bound.privacy_profile(some) == pytest.approx(exact, rel=1e-12)
    sweep = np.asarray(bound.privacy_profile(np.concatenate([some, np.linspace(0, 5, 500)])))[: some.size]
    # the sweep subtracts sums that the single evaluation does not
    assert sweep == pytest.approx(exact, rel=1e-9, abs=1e-14)
    table = bound._profile_from_table(some)
    assert np.all(table >= exact * (1 - 1e-9) - 1e-14)
    assert table == pytest.approx(exact, rel=1e-4, abs=1e-12)


def test_its_tradeoff_function_is_the_dual() -> None:
    bound = SampledGaussian(50, 2499, 5.0)
    levels = np.array([0.0, 1e-6, 0.01, 0.3, 0.9])
    errors = np.asarray(bound.tradeoff_function(levels))
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        assert np.all(errors >= 1 - bound.at(epsilon) - math.exp(epsilon) * levels - 1e-6)
    # a lower bound on errors, so at most those of a real instance: one step, seen alone
    assert np.all(errors <= np.asarray(SampledGaussian(50, 1, 5.0).tradeoff_function(levels)) + 1e-9)
    assert str(bound) == "2499 steps on 1 of 50 records at noise multiplier 5"


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(2, 1.0, 1e-3), (20, 1.0, 1e-5), (60, 0.5, 1e-6)])
def test_the_noise_constant_is_enough_and_hardly_less_is(n: int, epsilon: float, delta: float) -> None:
    def delta_at(constant: float) -> float:
        # bst14 Algorithm 1, line 1, with L = 1: sensitivity 2 n, n^2 - 1 steps
        sigma = math.sqrt(constant * n**2 * math.log(n / delta) * math.log(1 / delta)) / epsilon
        return float(subsampled_gaussian(n, n * n - 1, sigma / (2 * n)).privacy_profile(epsilon))

    constant = noise_constant(n, epsilon, delta)
    assert delta_at(constant * (1 + 1e-9)) <= delta * (1 + 1e-9)
    assert delta_at(constant * 0.999) > delta
    # the planted fault: sensitivity n L instead of 2 n L is a quarter of the constant
    assert delta_at(constant / 4) > 3 * delta


def test_no_composition_can_prove_less_than_an_instance_needs() -> None:
    found = noise_constant_interval(30, 1.0, 1e-5)
    assert found.smallest == noise_constant(30, 1.0, 1e-5)
    assert 0.5 * found.smallest < found.attained <= found.smallest * 1.002


@pytest.mark.parametrize(
    ("n", "steps", "noise"), [(110, 12_000, 3.0), (110, 12_345, 0.6), (2, 10_001, 200.0)]
)
def test_many_steps_in_blocks_lose_little(
    n: int, steps: int, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside all steps composed on the grid of one: never below, but for rounding, and hardly above."""
    epsilons = np.linspace(0.0, 2.0, 9)
    in_blocks = SampledGaussian(n, steps, noise)
    blocks = np.asarray(in_blocks.privacy_profile(epsilons))
    # where the allowance hides what is composed, the Renyi divergences bound it all the same
    far = np.array([10.0, 20.0])
    assert np.all(np.asarray(in_blocks.privacy_profile(far)) <= in_blocks.by_renyi(far) * (1 + 1e-12))
    fewer = np.asarray(SampledGaussian(n, steps - math.isqrt(steps), noise).privacy_profile(epsilons))
    monkeypatch.setattr(subsampling, "_MANY", math.inf)
    plain = SampledGaussian(n, steps, noise)
    exact = np.asarray(plain.privacy_profile(epsilons))
    assert np.all(blocks >= exact - 2 * plain.rounding)
    assert np.all(blocks <= exact * 1.002 + 3 * plain.rounding)
    # the planted fault: a block too few
    assert np.any(fewer < exact - 2 * plain.rounding)


def test_the_noise_of_many_records_takes_no_longer() -> None:
    """10,000 records: by the central limit the constant falls as the logarithm of n grows, slowly."""
    many, more = noise_constant(1_000, 1.0, 1e-5), noise_constant(10_000, 1.0, 1e-5)
    assert 0.8 * many < more < many
    # the bound is computed from some ten thousand losses, not from millions
    multiplier = subsampled_gaussian_noise(10_000, 10**8 - 1, 1.0, 1e-5)
    assert SampledGaussian(10_000, 10**8 - 1, multiplier).distribution._pmf_remove.size < 2**18


def test_the_smallest_noise_falls_with_epsilon() -> None:
    noises = [subsampled_gaussian_noise(20, 399, epsilon, 1e-5) for epsilon in (0.5, 1.0, 2.0)]
    assert noises == sorted(noises, reverse=True)


GOOD: dict[str, Any] = {"n": 10, "steps": 9, "epsilon": 1.0, "delta": 1e-5, "noise_multiplier": 1.0}
BAD = [
    *(("n", value) for value in (1, 0, -3, 2.0, True, "5", None, math.nan, 10**310)),
    *(("steps", value) for value in (0, -1, 1.5, True, math.inf, 10**310)),
    *(("epsilon", value) for value in (0.0, -0.0, -1.0, math.nan, math.inf, True, "1", [1.0])),
    *(("delta", value) for value in (0.0, 1.0, -1e-9, math.nan, True, "1e-5")),
    *(("noise_multiplier", value) for value in (0.0, -1.0, 1e-9, math.nan, math.inf, True, "1")),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_arguments(name: str, value: Any) -> None:
    uses: dict[Callable[..., Any], tuple[str, ...]] = {
        subsampled_gaussian: ("n", "steps", "noise_multiplier"),
        subsampled_gaussian_noise: ("n", "steps", "epsilon", "delta"),
        noise_constant: ("n", "epsilon", "delta"),
        noise_constant_interval: ("n", "epsilon", "delta"),
    }
    for function, names in uses.items():
        if name in names:
            with pytest.raises(InvalidArgumentError):
                function(**{**{key: GOOD[key] for key in names}, name: value})


@pytest.mark.parametrize(("n", "steps"), [(2, 3), (30, 899)])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 2.0])
def test_no_noise_proves_less_than_is_refused_at_once(n: int, steps: int, epsilon: float) -> None:
    least = _least_delta(n, steps, epsilon, 1e-200)
    assert 1e-200 < least < 1e-11
    for noise in (1.0, 1e3, _MOST_NOISE, 1e12):
        assert SampledGaussian(n, steps, noise).at(epsilon) >= least
    with pytest.raises(InvalidArgumentError, match=f"at least {least:.2g} at this epsilon"):
        subsampled_gaussian_noise(n, steps, epsilon, least / 2)


def test_what_is_refused_at_once_is_close_to_what_can_be_proved() -> None:
    least = _least_delta(30, 899, 1.0, 1e-200)
    assert least < SampledGaussian(30, 899, 1e6).at(1.0) < 1e3 * least
