"""Profile to trade-off function and back, against closed forms and definitional twins."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from dpverify.errors import InvalidDataError
from dpverify.privacy import (
    GDP,
    PureDP,
    gaussian_hockey_stick,
    gaussian_tradeoff,
    hockey_stick_divergence,
    profile_to_tradeoff,
    smallest_epsilon,
    tradeoff_to_profile,
)

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]

EPSILONS = np.array([0.0, 1e-6, 0.1, 0.5, 1.0, 2.0, 4.0])
LEVELS = np.array([0.0, 1e-12, 1e-5, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0])
# 1 - f(alpha) - e^eps alpha is computed in floats, so a dual is right to a few times 1e-16 plus the search
ACCURACY = 1e-9


def gaussian_pair(mu: float) -> tuple[Curve, Curve]:
    """gll22 (9) and (10)."""
    return (
        lambda eps: np.asarray(gaussian_hockey_stick(eps, mu)),
        lambda alpha: np.asarray(gaussian_tradeoff(alpha, mu)),
    )


def response_pair(bound: float) -> tuple[Curve, Curve]:
    """Randomized response that tells the truth with probability e^bound / (1 + e^bound)."""

    def profile(eps: Array) -> Array:
        return np.maximum(0.0, (math.exp(bound) - np.exp(eps)) / (math.exp(bound) + 1))

    def tradeoff(alpha: Array) -> Array:
        return np.maximum(0, np.maximum(1 - math.exp(bound) * alpha, math.exp(-bound) * (1 - alpha)))

    return profile, tradeoff


def laplace_pair(bound: float) -> tuple[Curve, Curve]:
    """Laplace noise of scale 1/bound at sensitivity 1, integrated by hand."""

    def profile(eps: Array) -> Array:
        return np.maximum(0.0, -np.expm1((eps - bound) / 2))

    def tradeoff(alpha: Array) -> Array:
        with np.errstate(divide="ignore"):
            middle = math.exp(-bound) / (4 * alpha)
        low, high = 0.5 * math.exp(-bound), 0.5
        right = math.exp(-bound) * (1 - alpha)
        return np.where(alpha < low, 1 - math.exp(bound) * alpha, np.where(alpha <= high, middle, right))

    return profile, tradeoff


PAIRS = [
    *(pytest.param(gaussian_pair(mu), id=f"gaussian-{mu}") for mu in (0.05, 1.0, 4.0)),
    *(pytest.param(response_pair(eps), id=f"response-{eps}") for eps in (0.1, 1.0, 3.0)),
    *(pytest.param(laplace_pair(eps), id=f"laplace-{eps}") for eps in (0.1, 1.0, 3.0)),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_profile_to_tradeoff(pair: tuple[Curve, Curve]) -> None:
    profile, tradeoff = pair
    found, exact = profile_to_tradeoff(profile)(LEVELS), tradeoff(LEVELS)
    assert np.all(found <= exact + 1e-15)
    assert found == pytest.approx(exact, abs=ACCURACY)


@pytest.mark.parametrize("pair", PAIRS)
def test_tradeoff_to_profile(pair: tuple[Curve, Curve]) -> None:
    profile, tradeoff = pair
    exact = profile(EPSILONS)
    for reverse in (False, True):
        found = tradeoff_to_profile(tradeoff, reverse=reverse)(EPSILONS)
        # a trade-off function that falls by e^eps x loses that much to rounding
        assert np.all(found >= exact - 1e-15 * np.exp(EPSILONS))
        assert found == pytest.approx(exact, abs=ACCURACY)


def test_a_profile_off_by_root_two_is_caught() -> None:
    profile, _ = gaussian_pair(1.0)
    _, wrong = gaussian_pair(math.sqrt(2))
    assert np.max(np.abs(profile_to_tradeoff(profile)(LEVELS) - wrong(LEVELS))) > 0.1
    assert np.max(np.abs(tradeoff_to_profile(wrong)(EPSILONS) - profile(EPSILONS))) > 0.1


def finite_pair(rng: np.random.Generator, outcomes: int) -> tuple[Array, Array]:
    first, second = rng.dirichlet(np.ones(outcomes), 2)
    return first, second


def neyman_pearson(p: Array, q: Array) -> Curve:
    """Trade-off function of a finite pair by its definition: likelihood ratio tests, joined by straight lines."""
    order = np.argsort(-q / p)
    type_one = np.concatenate([[0.0], np.cumsum(p[order])])
    type_two = 1 - np.concatenate([[0.0], np.cumsum(q[order])])
    return lambda alpha: np.clip(np.interp(alpha, type_one / type_one[-1], type_two), 0.0, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_asymmetric_pairs_keep_their_directions(seed: int) -> None:
    p, q = finite_pair(np.random.default_rng(seed), 6)
    tradeoff = neyman_pearson(p, q)

    def exact(first: Array, second: Array) -> Curve:
        def profile(eps: Array) -> Array:
            values = [hockey_stick_divergence(first, second, epsilon=float(e)) for e in eps.ravel()]
            return np.array(values).reshape(eps.shape)

        return profile

    assert tradeoff_to_profile(tradeoff)(EPSILONS) == pytest.approx(exact(q, p)(EPSILONS), abs=ACCURACY)
    assert tradeoff_to_profile(tradeoff, reverse=True)(EPSILONS) == pytest.approx(
        exact(p, q)(EPSILONS), abs=ACCURACY
    )
    back = profile_to_tradeoff(exact(q, p), reverse=exact(p, q))(LEVELS)
    assert back == pytest.approx(tradeoff(LEVELS), abs=ACCURACY)
    # mixing the directions up shows
    assert np.max(np.abs(profile_to_tradeoff(exact(p, q), reverse=exact(q, p))(LEVELS) - back)) > 1e-3


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(mu=st.floats(0.01, 6), alpha=st.floats(0, 1))
def test_there_and_back_is_the_identity(mu: float, alpha: float) -> None:
    profile = tradeoff_to_profile(lambda level: gaussian_tradeoff(level, mu))
    found = profile_to_tradeoff(profile)(np.array([alpha]))
    assert found == pytest.approx(gaussian_tradeoff(alpha, mu), abs=1e-8)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-12, 1e-200])
def test_smallest_epsilon_is_where_the_profile_crosses(delta: float) -> None:
    profile = GDP(1.5).privacy_profile
    found = smallest_epsilon(profile, delta)
    assert profile(found) <= delta
    assert profile(found * (1 - 1e-11)) > delta


def test_smallest_epsilon_at_the_ends() -> None:
    assert smallest_epsilon(PureDP(1.0).privacy_profile, 0.9) == 0.0
    assert smallest_epsilon(PureDP(1.0).privacy_profile, 0.0) == pytest.approx(1.0, rel=1e-12)
    assert smallest_epsilon(lambda eps: np.full_like(eps, 0.1), 0.05) == math.inf


def test_hockey_stick_of_randomized_response() -> None:
    truth = math.exp(1) / (1 + math.exp(1))
    p, q = [truth, 1 - truth], [1 - truth, truth]
    assert hockey_stick_divergence(p, q, epsilon=0.25) == pytest.approx(PureDP(1.0).privacy_profile(0.25))
    assert hockey_stick_divergence(p, q, epsilon=1.0) == pytest.approx(0.0, abs=1e-16)
    assert hockey_stick_divergence([1.0, 0.0], [0.0, 1.0], epsilon=800.0) == 1.0


@pytest.mark.parametrize(
    "curve",
    [
        lambda x: x * np.nan,
        lambda x: x + 2,
        lambda x: np.zeros(3),
        lambda x: -x - 1,
        lambda x: x.astype(object),
    ],
)
def test_curves_that_are_not_curves_are_refused(curve: Callable[[Array], ArrayLike]) -> None:
    with pytest.raises(InvalidDataError):
        profile_to_tradeoff(curve)(0.5)
    with pytest.raises(InvalidDataError):
        tradeoff_to_profile(curve)(0.5)


def test_a_rising_tradeoff_function_is_refused() -> None:
    with pytest.raises(InvalidDataError, match="increase"):
        tradeoff_to_profile(lambda alpha: alpha)(0.5)


@pytest.mark.parametrize(
    ("profile", "delta", "epsilon", "most"),
    [
        # a jump, where no value in between says where; the last float below 3.3 is still above
        (lambda e: np.where(e < 3.3, 0.5, 1e-9), 1e-5, 3.3, 500),
        (lambda e: np.where(e < 3.3, 0.5, 0.0), 0.0, 3.3, 500),
        (lambda e: np.where(e < 1e-19, 0.5, 0.0), 0.1, 1e-19, 500),
        # a jump from the smallest float to 0, whose ratio is no float
        (lambda e: np.where(e < 3.3, 0.5, 5e-324), 5e-324, 3.3, 500),
        (lambda e: np.exp2(-1 - e), 2.0**-31, 30.0, 120),
        (lambda e: np.full(e.shape, 0.3), 0.1, math.inf, 20),
    ],
)
def test_the_smallest_epsilon_is_found_to_the_last_float_by_few_values(
    profile: Curve, delta: float, epsilon: float, most: int
) -> None:
    asked = 0

    def counted(at: Array) -> Array:
        nonlocal asked
        asked += at.size
        return profile(at)

    assert smallest_epsilon(counted, delta) == epsilon
    assert asked <= most
