"""Reference laws of the samplers, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.problems import Dataset
from dpverify.running import Output, Randomness


@dataclass(frozen=True)
class GaussianFromNowhere:
    """A Gaussian target without its losses: normal points about the origin, which look at no record."""

    stddev: float

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        return Output(self.stddev * rng.normal((runs, data.d), "blind point"))


def by_quadrature(log_density: Callable[[Any], Any], low: float, high: float) -> Callable[[Any], Any]:
    """Distribution function of a density on an interval: trapezoids on 20 001 points, error below 1e-6."""
    grid = np.linspace(low, high, 20_001)
    values = np.asarray(log_density(grid))
    total = scipy.integrate.cumulative_trapezoid(np.exp(values - values.max()), grid, initial=0.0)
    return lambda x: np.interp(x, grid, total / total[-1])


def line_law(density: RegularizedDensity, data: Dataset, quadratic: float = 0.0, about: float = 0.0) -> Any:
    """The density's distribution function on the interval [-1, 1], with another quadratic term if there is one."""
    anchor = density.anchor_point[0]

    def log_density(grid: Any) -> Any:
        risk = np.asarray(density.problem.mean_risk(grid[:, None], data))
        potential = density.inverse_temperature * (risk + density.regularization / 2 * (grid - anchor) ** 2)
        return -potential - quadratic / 2 * (grid - about) ** 2

    return by_quadrature(log_density, -1.0, 1.0)


def plane_law(density: RegularizedDensity, data: Dataset) -> Any:
    """Distribution function of the first coordinate on the unit disc: Gauss-Legendre across, trapezoids along."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    anchor = np.asarray(density.anchor_point)
    first = np.linspace(-1.0, 1.0, 401)
    half = np.sqrt(np.maximum(1 - first**2, 0.0))
    pairs = np.stack([np.repeat(first, nodes.size), np.outer(half, nodes).ravel()], axis=1)
    risk = np.asarray(density.problem.mean_risk(pairs, data))
    pull = density.regularization / 2 * np.sum((pairs - anchor) ** 2, axis=1)
    values = -density.inverse_temperature * (risk + pull)
    inner = np.exp(values - values.max()).reshape(first.size, nodes.size) @ weights * half
    total = scipy.integrate.cumulative_trapezoid(inner, first, initial=0.0)
    return lambda x: np.interp(x, first, total / total[-1])
