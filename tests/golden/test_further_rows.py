"""Counts, constants, an accountant's epsilon and laws, drawn at random, by hand and by quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from .by_hand import gaussian_epsilon, largest_mu, records, row


@pytest.mark.parametrize(
    ("name", "claimed", "oracle"),
    [
        ("bst14.alg1/queries", 32**2 - 1, "gradient"),
        ("fmtt18.public/queries", 40, "gradient"),
        ("gll22.lower-instance/queries", 32 * 5, "value"),
        # eight records a step; 28 steps are what the accountant finds
        ("mn25.alg3/queries", math.ceil(math.sqrt(5 * math.log(1e5))) * 28, "gradient"),
    ],
)
def test_counts(name: str, claimed: int, oracle: str) -> None:
    found = row(name)
    assert (found.claimed, found.oracle) == (claimed, oracle)
    assert found.counted <= claimed


@pytest.mark.parametrize(
    ("name", "smallest", "printed"),
    [
        ("bst14.alg-objpert/printed-epsilon", 1 + math.log(1 + 2 * 0.1) / 0.1, 1.0),
        ("fmtt18.smoothing/smoothness-constant", math.sqrt(2 / math.pi), 1.0),
    ],
)
def test_constants(name: str, smallest: float, printed: float) -> None:
    found = row(name)
    assert found.smallest == pytest.approx(smallest, rel=1e-12)
    assert found.printed == printed


def test_an_accountant() -> None:
    found = row("fmtt18.cni/accountant")
    assert found.claimed == pytest.approx(gaussian_epsilon(1 / (0.3 * math.sqrt(10))), rel=1e-9)
    assert found.smallest.upper == pytest.approx(found.claimed, rel=1e-9)


def _held(name: str, reference: list[float]) -> None:
    found = row(name)
    assert [point[3] for point in found.points] == pytest.approx(reference, abs=2e-4)


def _places(name: str) -> np.ndarray:
    return np.array([point[0] for point in row(name).points])


def test_a_uniform_direction() -> None:
    name = "mn25.hard-instance/law-direction"
    _held(name, list(beta(0.5, 3.5).cdf(_places(name))))


def test_a_walk_with_algorithm_7() -> None:
    x, y = records("breast-cancer", 12, 1)
    grid = np.linspace(-1, 1, 40_001)
    density = np.exp(-np.logaddexp(0, -grid[:, None] * x[:, 0] * y).sum(axis=1) / 6)
    sums = np.cumsum(density)
    name = "bst14.alg7/law-breast-cancer"
    _held(name, list(np.interp(_places(name), grid, sums / sums[-1])))


def test_the_regularized_exponential_mechanism() -> None:
    x, y = records("breast-cancer", 32, 2)
    factor = (largest_mu(2.0, 1e-3) * 32 / 2) ** 2
    pull = math.sqrt(2 * 2 / factor)
    grid = np.linspace(-1, 1, 1001)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    risk = sum(np.logaddexp(0, -label * (a * first + b * second)) for (a, b), label in zip(x, y, strict=True))
    square = first**2 + second**2
    density = np.exp(-factor * pull * (risk / 32 + pull / 2 * square)) * (square <= 1)
    sums = np.cumsum(density.sum(axis=1))
    name = "gll22.rem/breast-cancer/law"
    found = np.array([point[3] for point in row(name).points])
    assert found == pytest.approx(np.interp(_places(name), grid, sums / sums[-1]), abs=3e-3)
