"""The hard family of linear losses with Gaussian records, and solvers to try on it (Gopi, Lee, Liu, 2022, Section 7).

No algorithm that sees k function values can, on average over the family, come closer to the minimum than
`LinearHardFamily.lower_bound`. An algorithm that reads n records whole sees n d values.

Losses are <w, s> for a record s (the paper's f(x; s) = <x, s>), risks are population risks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.conditions import a_dataset, refuse_or_withdraw
from dpverify.algorithms.contract import Algorithm, Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, NotNegative, Positive, PositiveOrInfinity, check_parameters
from dpverify.algorithms.promises import StatedQueries, reasons, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import of_kind, require, whole_number
from dpverify.privacy import GDP
from dpverify.privacy.mixtures import gaussian_noise_multiplier
from dpverify.problems import Ball, Dataset, Linear, Problem
from dpverify.problems.arrays import Array, at_least, namespace, row_sums
from dpverify.running import Output, Randomness

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class LinearHardFamily(Algorithm):
    """gll22, Section 7: records s from N(delta v, sigma^2 I), v uniform on {-1, 1}^d, on a ball about the origin.

    delta = sigma sqrt(d) / (2 sqrt(k)) and sigma = G / sqrt(d + d^2 / (4 k)), so that E ||s||^2 = G^2. The population
    risk is delta <w, v>, smallest at w = -(D / 2) v / sqrt(d), where it is -(D / 2) delta sqrt(d).

    Lower bound (of every algorithm, private or not, that sees k values of losses of its choice, adaptively; in
    expectation over v, the records and the algorithm): the proof of Theorem 7.1 gives D delta sqrt(d) / 16 = G D /
    (16 sqrt(1 + 4 k / d)). Its last step prints this as at least (G D / 16) min(1, sqrt(d / (4 k))), which it never
    is: 1 / sqrt(1 + x) is below min(1, 1 / sqrt(x)), by a factor of sqrt(2) at k = d / 4, and for k = d / 4 no other
    delta helps. `lower_bound` is the proof's value; the printed value is given beside it. The printed value is a lower
    bound all the same, by another proof: given the values, the best answer has the mean risk delta (sqrt(d) - E||m||),
    where m is the mean of v, and E||m||^2 is at most d / 2 for these delta and sigma.

    Guarantee: none; it generates instances.

    Assumptions: none; the records are not bounded.

    Attributes:
        dimension: d.
        observations: k, how many values an algorithm may see.
        gradient_bound: G, the root mean square of a record's norm, loss over length.
        diameter: D of the ball, a length.
    """

    dimension: Count
    observations: Count
    gradient_bound: Positive = 1.0
    diameter: Positive = 2.0

    id = "gll22.lower-instance"
    statements = ("gll22.thm7.1", "gll22.lem7.4")
    unstated = reasons("gll22.lower-instance")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(1, 4),
            "solver": lambda: MeanMinimizer(1.0, 1.0, 0.5),
            "asked": lambda: cls(at.d, at.n),
        }

    @property
    def problem(self) -> Problem:
        """Linear losses on the ball. Records are not bounded here, so its Lipschitz constant does not cover them."""
        return Problem(Linear(), Ball(self.dimension, self.diameter / 2))

    @property
    def record_stddev(self) -> float:
        """sigma, of each coordinate of a record, loss over length."""
        d, k = self.dimension, self.observations
        return self.gradient_bound / math.sqrt(d + d**2 / (4 * k))

    @property
    def separation(self) -> float:
        """delta, the distance of each coordinate's mean from 0, loss over length."""
        return self.record_stddev * math.sqrt(self.dimension / self.observations) / 2

    @property
    def minimum(self) -> float:
        """The smallest population risk, the same for every v; in units of the loss."""
        return -self.diameter / 2 * self.separation * math.sqrt(self.dimension)

    @property
    def lower_bound(self) -> float:
        """G D / (16 sqrt(1 + 4 k / d)), of the mean excess risk; in units of the loss."""
        return self.gradient_bound * self.diameter / (16 * math.sqrt(1 + self._share))

    @property
    def printed_lower_bound(self) -> float:
        """Theorem 7.1 as printed, (G D / 16) min(1, sqrt(d / (4 k))); true, but not by its printed proof."""
        return self.gradient_bound * self.diameter / 16 * min(1.0, 1 / math.sqrt(self._share))

    @property
    def _share(self) -> float:
        return 4 * self.observations / self.dimension

    def minimizer(self, v: Array) -> Array:
        """-(D / 2) v / sqrt(d), for signs of shape (..., d)."""
        return v * (-self.diameter / (2 * math.sqrt(self.dimension)))

    def excess(self, w: Array, v: Array) -> Array:
        """Excess population risk at points (runs, d), for signs v of shape (d,) or (runs, d); shape (runs,)."""
        return self.separation * row_sums(w * v) - self.minimum

    def draw(self, n: int, rng: Randomness) -> tuple[Array, Array]:
        """A random v, shape (d,), and n records of its population, shape (n, d)."""
        n = whole_number("n", n)
        v = rng.xp.astype(2 * rng.integers(0, 2, (self.dimension,), "signs") - 1, rng.xp.float64)
        noise = rng.normal((n, self.dimension), "records")
        return v, self.separation * v + self.record_stddev * noise

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Draw an instance a run: its signs v, shape (runs, d). The data are not looked at."""
        signs = 2 * rng.integers(0, 2, (runs, self.dimension), "signs") - 1
        return Output(rng.xp.astype(signs, rng.xp.float64))


@dataclass(frozen=True)
class MeanMinimizer(Weakenable):
    """Minimize the mean of linear losses on a ball about the origin, exactly, from a noisy mean record.

    w = -radius m / ||m||, m being the mean of the records, each shortened to norm `clip`, plus N(0, sigma^2 I). It
    reads each record through its values at the d unit vectors.

    Guarantee (replace-one): a shortened record moves the mean by at most 2 clip / n, so m, and with it w, is
    (2 clip / (n sigma))-GDP. Without noise there is none.
    """

    radius: Positive
    """Of the ball, a length."""
    clip: PositiveOrInfinity
    """Largest norm that a record is allowed to have, loss over length."""
    noise_stddev: NotNegative
    """sigma, of each coordinate of the noise on the mean, loss over length; 0 for no privacy."""
    first: Count | None = None
    """How many records are read, the first ones; all if None."""
    withdraw_guarantee: bool = False

    def __post_init__(self) -> None:
        """Refuse to run without noise unless the guarantee was withdrawn."""
        super().__post_init__()
        refuse_or_withdraw("the minimizer by the mean", self._voids(1), self.withdraw_guarantee)

    @classmethod
    def for_privacy(cls, *, n: int, epsilon: float, delta: float, radius: float, clip: float) -> Self:
        """Noise for (epsilon, delta)-DP on n records."""
        n = whole_number("n", n)
        return cls(radius, clip, 2 * clip / n * gaussian_noise_multiplier(epsilon, delta))

    def _voids(self, n: int) -> tuple[str, ...]:
        quiet = () if self.noise_stddev > 0 else ("the noise is zero",)
        whole = () if math.isfinite(self.clip) else ("records are not shortened",)
        return (*quiet, *whole)

    def _read(self, n: int) -> int:
        return whole_number("n", n) if self.first is None else min(n, self.first)

    def _guaranteed(self, n: int) -> Guarantees:
        """GDP of the Gaussian mechanism."""
        mu = 2 * self.clip / (self._read(n) * self.noise_stddev)
        return Guarantees(promised("gll22.lower-instance/privacy of a solver", GDP(mu)))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, d)."""
        xp, read = rng.xp, self._read(a_dataset(data).n)
        features = shortened(data.as_namespace(xp).features[:read, :], self.clip)
        noise = rng.normal((runs, data.d), "noise")
        direction = xp.mean(features, axis=0)[None, :] + self.noise_stddev * noise
        points = Ball(data.d, self.radius).minimize_linear(direction)
        return Output(points, value_queries=read * data.d, linear_minimizations=1)


@dataclass(frozen=True)
class HardFamilyTrial:
    """A solver tried on fresh instances: its excess population risk is released, one number per run.

    All runs of a batch share an instance (signs and records), so they are dependent; batches are independent. The
    solver gets the records as a data set with labels 1. It knows neither the signs nor where the records are from.

    With `records="gaussian"` the instances are the family's. With `records="data"` they are made of the data set that
    the trial is called on: n records drawn with replacement, and each coordinate's sign flipped by v. The population
    is then the flipped data set, its risk <w, v mean> and its minimum -(D / 2) ||mean||. No lower bound is proved
    for those.

    The solver is called as `solver(data, rng=..., runs=...)` on n records, and returns points (runs, d) of the ball.
    Records are shortened to the norm `clip` before. What the solver then sees are still functions of the records, so
    lower bounds hold for the two together, counting d values for each record.
    """

    family: LinearHardFamily
    solver: Callable[..., Any]
    n: Count
    records: Literal["gaussian", "data"] = "gaussian"
    clip: PositiveOrInfinity = math.inf

    def __post_init__(self) -> None:
        check_parameters(self)
        of_kind("family", self.family, LinearHardFamily, "a LinearHardFamily")
        require(
            callable(self.solver), "solver", self.solver, "something to call as solver(data, rng=, runs=)"
        )

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """The values that the solver sees, d of each of its records, whatever it is called on."""
        count = self.n * self.family.dimension
        row = words("gll22.lower-instance/queries of a trial", count=count)
        return (StatedQueries("value", count, **row),)

    @property
    def sample_size(self) -> int:
        """Records that the solver gets, whatever data set the trial is called on."""
        return self.n

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Make an instance and solve it; points are excess risks, shape (runs,)."""
        xp = rng.xp
        v, features = self.family.draw(self.n, rng)
        mean = self.family.separation * v
        if self.records == "data":
            allowed = f"{self.family.dimension} features, as the family"
            require(a_dataset(data).d == self.family.dimension, "data", f"{data.d} features", allowed)
            there = data.as_namespace(xp).features
            drawn = rng.integers(0, data.n, (self.n,), "sampled records")
            features, mean = xp.take(there, drawn, axis=0) * v, xp.mean(there, axis=0) * v
        features = shortened(features, self.clip)
        instance = Dataset(features, xp.ones(self.n, dtype=xp.float64), "an instance of the hard family")
        solved: Output = self.solver(instance, rng=rng, runs=runs)
        least = -self.family.diameter / 2 * xp.sqrt(xp.sum(mean * mean))
        return replace(solved, points=row_sums(solved.points * mean) - least)

    @property
    def largest_excess(self) -> float:
        """No point of the ball has a larger excess risk, with Gaussian records; in units of the loss."""
        return -2 * self.family.minimum


def shortened(features: Array, clip: float) -> Array:
    """Rows longer than `clip` are shortened to it; none if it is infinite."""
    if not math.isfinite(clip):
        return features
    # a hair inside, so that rounding cannot push a record out
    norms = namespace(features).sqrt(row_sums(features * features))
    return features * (clip * (1.0 - 1e-15) / at_least(norms, clip))[:, None]
