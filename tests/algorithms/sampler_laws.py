"""Data for samplers, and their laws on an interval by quadrature.

A test that compares with these at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.problems import Dataset, Problem

FALSE_ALARM = 1e-6
Z = float(-stats.norm.ppf(FALSE_ALARM / 2))
Array = NDArray[np.float64]


def make_data(n: int = 5, d: int = 2, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.where(rng.uniform(size=n) < 0.7, 1.0, -1.0))


def interval_cdf(log_density: Any, low: float, high: float) -> Any:
    grid = np.linspace(low, high, 20_001)
    values = log_density(grid)
    total = integrate.cumulative_trapezoid(np.exp(values - values.max()), grid, initial=0.0)
    return lambda x: np.interp(x, grid, total / total[-1])


def mean_loss(problem: Problem, data: Dataset, grid: Array) -> Array:
    return np.asarray(problem.mean_risk(grid[:, None], data))


def ks_with_slack(values: Array, reference: Any, slack: float) -> bool:
    """Whether the Kolmogorov distance is within the slack of what the DKW inequality allows."""
    allowed = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * len(values)))
    return bool(stats.kstest(values, reference).statistic <= allowed + slack)
