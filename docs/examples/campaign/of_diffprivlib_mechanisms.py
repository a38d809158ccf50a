"""Subjects of diffprivlib.mechanisms: one record, the value that is randomized; sensitivity 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float64]
Rng = np.random.Generator


def _made(name: str, rng: Rng, **arguments: Any) -> Any:
    from diffprivlib import mechanisms

    return getattr(mechanisms, name)(random_state=int(rng.integers(2**31)), **arguments)


def _real(name: str, data: Data, rng: Rng, **arguments: Any) -> float:
    return float(_made(name, rng, sensitivity=1, **arguments).randomise(float(data[0, 0])))


def _whole(name: str, data: Data, rng: Rng, **arguments: Any) -> int:
    return int(_made(name, rng, sensitivity=1, **arguments).randomise(int(data[0, 0])))


def laplace(data: Data, rng: Rng) -> float:
    return _real("Laplace", data, rng, epsilon=1.0)


def laplace_half(data: Data, rng: Rng) -> float:
    """Planted: half the noise that epsilon = 1 needs."""
    return _real("Laplace", data, rng, epsilon=2.0)


def laplace_delta(data: Data, rng: Rng) -> float:
    return _real("Laplace", data, rng, epsilon=1.0, delta=0.1)


def laplace_truncated(data: Data, rng: Rng) -> float:
    return _real("LaplaceTruncated", data, rng, epsilon=1.0, lower=0, upper=1)


def laplace_folded(data: Data, rng: Rng) -> float:
    return _real("LaplaceFolded", data, rng, epsilon=1.0, lower=0, upper=1)


def laplace_bounded_domain(data: Data, rng: Rng) -> float:
    return _real("LaplaceBoundedDomain", data, rng, epsilon=1.0, lower=0, upper=1)


def laplace_bounded_noise(data: Data, rng: Rng) -> float:
    return _real("LaplaceBoundedNoise", data, rng, epsilon=1.0, delta=0.1)


def snapping(data: Data, rng: Rng) -> float:
    return _real("Snapping", data, rng, epsilon=1.0, lower=0, upper=1)


def staircase(data: Data, rng: Rng) -> float:
    return _real("Staircase", data, rng, epsilon=1.0)


def uniform(data: Data, rng: Rng) -> float:
    return _real("Uniform", data, rng, delta=0.1)


def gaussian(data: Data, rng: Rng) -> float:
    return _real("Gaussian", data, rng, epsilon=1.0, delta=0.1)


def gaussian_analytic(data: Data, rng: Rng) -> float:
    return _real("GaussianAnalytic", data, rng, epsilon=1.0, delta=0.1)


def gaussian_discrete(data: Data, rng: Rng) -> int:
    return _whole("GaussianDiscrete", data, rng, epsilon=1.0, delta=0.1)


def geometric(data: Data, rng: Rng) -> int:
    return _whole("Geometric", data, rng, epsilon=1.0)


def geometric_truncated(data: Data, rng: Rng) -> int:
    return _whole("GeometricTruncated", data, rng, epsilon=1.0, lower=0, upper=3)


def geometric_folded(data: Data, rng: Rng) -> int:
    return _whole("GeometricFolded", data, rng, epsilon=1.0, lower=0, upper=3)


def binary(data: Data, rng: Rng) -> str:
    return str(
        _made("Binary", rng, epsilon=1.0, value0="no", value1="yes").randomise("yes" if data[0, 0] else "no")
    )


def exponential(data: Data, rng: Rng) -> int:
    """Two candidates whose utilities move by 1 in opposite directions."""
    utility = [float(data[0, 0]), 1 - float(data[0, 0])]
    return int(_made("Exponential", rng, epsilon=1.0, sensitivity=1, utility=utility).randomise())


def permute_and_flip(data: Data, rng: Rng) -> int:
    utility = [float(data[0, 0]), 1 - float(data[0, 0])]
    return int(_made("PermuteAndFlip", rng, epsilon=1.0, sensitivity=1, utility=utility).randomise())


def exponential_categorical(data: Data, rng: Rng) -> str:
    utilities = [["a", "b", 1.0], ["a", "c", 2.0], ["b", "c", 2.0]]
    mechanism = _made("ExponentialCategorical", rng, epsilon=1.0, utility_list=utilities)
    return str(mechanism.randomise("c" if data[0, 0] else "a"))


def exponential_hierarchical(data: Data, rng: Rng) -> str:
    mechanism = _made("ExponentialHierarchical", rng, epsilon=1.0, hierarchy=[["a", "b"], ["c", "d"]])
    return str(mechanism.randomise("c" if data[0, 0] else "a"))


def bingham(data: Data, rng: Rng) -> float:
    """Claimed 2-DP: a unit vector u, for the sum of x x^T over records of norm 1 at most; u_1^2 - u_2^2 is kept."""
    found = np.ravel(_made("Bingham", rng, epsilon=2.0, sensitivity=1).randomise(data.T @ data))
    return float(found[0] ** 2 - found[1] ** 2)
