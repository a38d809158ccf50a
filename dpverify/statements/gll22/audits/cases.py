"""Reference laws and counts that several audits of gll22 share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.auditing import Bound
from dpverify.auditing.subjects import ValuesOf
from dpverify.problems import Dataset
from dpverify.statements.plans import Cases, Corrected

SIZE = 8


# ------------------------------------------------------------------------------------------ reference laws


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of every point."""

    index: int

    def __call__(self, points: Any) -> Any:
        """From points (runs, d) to numbers (runs,)."""
        return points[:, self.index]


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


@dataclass(frozen=True)
class CountedValues:
    """Value queries of each run, cut off at a highest number so that they are bounded by proof.

    Cutting off only lowers the expectation, so an upper bound on it stays one.
    """

    highest: float

    def __call__(self, found: Any) -> Any:
        """From runs to numbers (runs,)."""
        return np.minimum(np.asarray(found.value_queries, dtype=np.float64), self.highest)


def expected_queries(
    mechanism: Any, data: Dataset, data_name: str, source: str, claim: str, runs: int, cut: float
) -> Cases:
    (stated,) = mechanism.queries(data.n)
    highest = cut * stated.count
    case = (
        Bound(
            bound=stated.count,
            claim=claim,
            data=data_name,
            runs=runs,
            origin=Corrected(
                source,
                {"gll22.thm5.6": "O(T) values in expectation", "gll22.lem5.5": "O(1) values in expectation"}[
                    source
                ],
                "the constant 4 e / (1 - error) is what the proof gives",
                "every n and d",
            ),
        ),
        ValuesOf(
            mechanism,
            data,
            CountedValues(highest),
            0.0,
            highest,
            f"value queries per run, cut off at {cut:g} times the bound",
        ),
    )
    return (case,)
