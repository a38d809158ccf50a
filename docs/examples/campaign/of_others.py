"""Subjects of OpenDP, python-dp and SmartNoise, which take no generator: what they draw can't be repeated."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float64]
Rng = np.random.Generator

# ------------------------------------------------------------------------------------------- OpenDP


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point")
    return dp


def _sum(scale: float, data: Data) -> float:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    clamped = space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum()
    return float((clamped >> dp.m.then_laplace(scale))(data[:, 0].tolist()))


def opendp_sum(data: Data, rng: Rng) -> float:
    return _sum(1.0, data)


def opendp_half(data: Data, rng: Rng) -> float:
    """Planted: half the noise that epsilon = 1 needs."""
    return _sum(0.5, data)


def opendp_count(data: Data, rng: Rng) -> int:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    return int((space >> dp.t.then_count() >> dp.m.then_laplace(1.0))(data[:, 0].tolist()))


def opendp_gaussian(data: Data, rng: Rng) -> float:
    dp = _opendp()
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return float(dp.m.make_gaussian(*space, scale=1.0)(float(data[0, 0])))


def opendp_randomized_response(data: Data, rng: Rng) -> bool:
    return bool(_opendp().m.make_randomized_response_bool(prob=np.e / (1 + np.e))(bool(data[0, 0])))


def opendp_noisy_max(data: Data, rng: Rng) -> int:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return int(
        dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)(
            [float(data[0, 0]), 1 - float(data[0, 0])]
        )
    )


# ------------------------------------------------------------------------------------------- python-dp


def _pydp(name: str, data: Data, epsilon: float = 1.0, **arguments: Any) -> float:
    """A statistic of numbers in [0, 1]."""
    from pydp.algorithms import laplacian

    algorithm = getattr(laplacian, name)(epsilon=epsilon, dtype="float", **arguments)
    return float(algorithm.quick_result(data[:, 0].tolist()))


def pydp_count(data: Data, rng: Rng) -> float:
    return _pydp("Count", data)


def pydp_sum(data: Data, rng: Rng) -> float:
    return _pydp("BoundedSum", data, lower_bound=0, upper_bound=1)


def pydp_half(data: Data, rng: Rng) -> float:
    """Planted: half the noise that epsilon = 1 needs."""
    return _pydp("BoundedSum", data, 2.0, lower_bound=0, upper_bound=1)


def pydp_mean(data: Data, rng: Rng) -> float:
    return _pydp("BoundedMean", data, lower_bound=0, upper_bound=1)


def pydp_variance(data: Data, rng: Rng) -> float:
    return _pydp("BoundedVariance", data, lower_bound=0, upper_bound=1)


def pydp_deviation(data: Data, rng: Rng) -> float:
    return _pydp("BoundedStandardDeviation", data, lower_bound=0, upper_bound=1)


def pydp_max(data: Data, rng: Rng) -> float:
    return _pydp("Max", data, lower_bound=0, upper_bound=1)


def pydp_min(data: Data, rng: Rng) -> float:
    return _pydp("Min", data, lower_bound=0, upper_bound=1)


def pydp_median(data: Data, rng: Rng) -> float:
    return _pydp("Median", data, lower_bound=0, upper_bound=1)


def _kept(strategy: str, data: Data) -> bool:
    """Whether a partition with so many users is released."""
    from pydp.algorithms.partition_selection import create_partition_strategy

    return bool(create_partition_strategy(strategy, 1.0, 0.01, 1).should_keep(len(data)))


def pydp_partition_geometric(data: Data, rng: Rng) -> bool:
    return _kept("truncated_geometric", data)


def pydp_partition_laplace(data: Data, rng: Rng) -> bool:
    return _kept("laplace", data)


def pydp_partition_gaussian(data: Data, rng: Rng) -> bool:
    return _kept("gaussian", data)


def pydp_bayes(data: Data, rng: Rng) -> list[float]:
    """pydp.ml's naive Bayes classifier, features in [100, 101]."""
    from pydp.ml.naive_bayes import GaussianNB

    model = GaussianNB(epsilon=1.0, bounds=(100, 101), priors=[0.5, 0.5])
    return model.fit(data[:, :-1], data[:, -1].astype(int)).theta_.ravel().tolist()


# ------------------------------------------------------------------------------------------- SmartNoise


@functools.cache
def _snsql_mechanism(name: str, **arguments: Any) -> Any:
    """Made once: a scale is searched for, and releases are independent."""
    from snsql.sql import _mechanisms

    return getattr(_mechanisms, name)(**arguments)


def _snsql(name: str, data: Data, **arguments: Any) -> float:
    return float(_snsql_mechanism(name, **arguments).release([float(data[0, 0])])[0])


def snsql_laplace(data: Data, rng: Rng) -> float:
    return _snsql("Laplace", data, epsilon=1.0, sensitivity=1)


def snsql_half(data: Data, rng: Rng) -> float:
    """Planted: half the noise that epsilon = 1 needs."""
    return _snsql("Laplace", data, epsilon=2.0, sensitivity=1)


def snsql_gaussian(data: Data, rng: Rng) -> float:
    return _snsql("Gaussian", data, epsilon=1.0, delta=0.01, sensitivity=1)


def snsql_bounds(data: Data, rng: Rng) -> list[float | None]:
    from snsql.sql._mechanisms.approx_bounds import approx_bounds

    return list(approx_bounds(data[:, 0].tolist(), 1.0))
