"""What the audit plans of several papers are built from: problems on real data, neighbors, fresh samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from dpverify.auditing.accountants import NoisyReleases
from dpverify.ledger.records import Interval
from dpverify.privacy import StatedGuarantee
from dpverify.problems import (
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    NeighborPair,
    Problem,
    Squared,
    load,
    opposite_linear,
    opposite_neighbor,
)
from dpverify.running import Output, Randomness

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Constructed:
    """Two neighbors that were made up."""

    left: Dataset
    right: Dataset
    description: str


def one_turned(left: Dataset, place: int, words: str) -> Constructed:
    """Records, one of which, at a place from 1, is replaced by its opposite with the label 1."""
    record = -np.asarray(left.features)[place - 1]
    return Constructed(left, left.replace(place, record.tolist(), 1.0), words)


def made(features: Any, name: str) -> Dataset:
    """Records by construction, each with the label 1."""
    return Dataset(features, np.ones(len(features)), name, "by construction")


# ------------------------------------------------------------------------------------------ problems and their data


def real_loss(name: str) -> Any:
    """Logistic on breast cancer, squared on diabetes."""
    return Logistic() if name == "breast-cancer" else Squared(radius=1.0)


def real_problem(name: str, *, n: int | None = None, d: int | None = None) -> tuple[Problem, Dataset]:
    """Logistic regression on breast cancer, or least squares on diabetes, on the unit ball."""
    data = load(name, n=n, d=d)
    return Problem(real_loss(name), Ball(data.d, 1.0)), data


def mean_problem(d: int, radius: float) -> Problem:
    """The mean of the records: half squared distances on a ball, where two records' gradients differ by x - x'.

    Every record has its say at every point, so that a data set of real records comes near to what the theorems allow.
    """
    ball = Ball(d, radius)
    return Problem(HalfSquaredDistance.on(ball), ball)


def mean_of(name: str, *, n: int | None = None, d: int | None = None) -> tuple[Problem, Dataset]:
    """The mean of real records, on the unit ball."""
    data = load(name, n=n, d=d)
    return mean_problem(data.d, 1.0), data


# ------------------------------------------------------------------------------------------ neighbors


def on_pair(stated: StatedGuarantee, pair: NeighborPair) -> StatedGuarantee:
    """A guarantee, said of the record in which two data sets differ; that record must be protected."""
    found = stated.at(pair.index, pair.left.n)
    if found is None:
        raise AssertionError(f"a plan audits record {pair.index}, which {stated} does not protect")
    return found


def longest_record_at(name: str, index: int, *, n: int, d: int) -> Dataset:
    """A few records of a real data set, and at an index from 1 its longest one, whose replacement moves most."""
    few, every = load(name, n=n, d=d), load(name, d=d)
    longest = int(np.argmax(np.linalg.norm(np.asarray(every.features), axis=1)))
    features, labels = np.array(few.features), np.array(few.labels)
    features[index - 1], labels[index - 1] = every.features[longest], every.labels[longest]
    return Dataset(features, labels, f"{few.name}, the longest record of all at {index}", few.scaling)


def longest_replaced(loss: Any, name: str, n: int, d: int, *, index: int | None = None) -> NeighborPair:
    """A few real records, the longest of all among them, and that one replaced by the most different one for a loss.

    It is the last one, or that at an index from 1. Linear losses have its whole gradient at every point, and the
    gradient of its opposite, so that two of them are up to 2 L apart, as the theorems allow.
    """
    place = n if index is None else index
    return opposite_neighbor(loss, longest_record_at(name, place, n=n, d=d), place)


def linear_pair(name: str, n: int, d: int = 1) -> NeighborPair:
    """Linear losses of real records; by the name of `worst-case`, of records that differ as much as can be."""
    return opposite_linear(n, d, n) if name == "worst-case" else longest_replaced(Linear(), name, n, d)


def mean_neighbors(name: str, *, n: int, d: int) -> NeighborPair:
    """A few real records whose mean is sought, and the last and longest one replaced by the most different one."""
    return longest_replaced(HalfSquaredDistance.on(Ball(d, 1.0)), name, n, d)


# ------------------------------------------------------------------------------------------ numbers


def sign_change(value: float, function: Callable[[arb], arb]) -> Interval:
    """An interval about a root of a falling function, rigorous where ball arithmetic shows its signs at both ends."""
    low, high = value * (1 - 1e-9), value * (1 + 1e-9)
    shown = bool(function(arb(low)) > 0) and bool(function(arb(high)) < 0)
    return Interval(lower=low, upper=high, rigorous=shown)


@dataclass(frozen=True)
class GaussianPair:
    """From a delta to the smallest epsilon of two Gaussians of variance 1, at a distance known up to rounding."""

    distance: float

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats."""
        ends = [NoisyReleases("gaussian", 1 / (self.distance * k)) for k in (1 - _ROUNDING, 1 + _ROUNDING)]
        low, high = (end.smallest_epsilon(delta) for end in ends)
        return Interval(lower=low.lower, upper=high.upper)


def by_trapezoids(grid: Any, density: Any, widths: Any = None) -> Callable[[Any], Any]:
    """The distribution function of a density on a grid, whose cells have these widths up to a factor."""
    widths = np.diff(grid) if widths is None else widths
    sums = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * widths)])
    return lambda x: np.interp(x, grid, sums / sums[-1])


def first_coordinate(points: Any) -> Any:
    """From points (runs, d) to numbers (runs,)."""
    return points[:, 0]


# ------------------------------------------------------------------------------------------ mechanisms and their maps


@dataclass(frozen=True)
class OnFreshSamples:
    """A mechanism run on n records drawn with replacement from a data set, which so becomes a population.

    All runs of one batch share a sample: the runs of a batch are dependent, different batches are not.
    """

    mechanism: Any
    n: int

    @property
    def sample_size(self) -> int:
        """Records of a sample."""
        return self.n

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Draw the sample, then run."""
        drawn = np.asarray(rng.integers(0, data.n, (self.n,), "sampled records"))
        features, labels = np.asarray(data.features)[drawn], np.asarray(data.labels)[drawn]
        sample = Dataset(features, labels, f"sample of {data.name}", data.scaling)
        output: Output = self.mechanism(sample, rng=rng, runs=runs)
        return output


@dataclass(frozen=True)
class FullGradientStep:
    """The map w - rate * mean gradient over all records: a contraction for rate <= 2 / smoothness."""

    problem: Problem
    rate: float

    def __call__(self, points: Any, data: Dataset) -> Any:
        """Move every point, shape (runs, d)."""
        total = 0.0 * points
        for features, label in zip(data.features, data.labels, strict=True):
            total = total + self.problem.loss.gradient(points, features, label)
        return points - (self.rate / data.n) * total


@dataclass(frozen=True)
class ToTheRecord:
    """The constant map to the first record: it contracts all space to a point."""

    def __call__(self, points: Any, data: Dataset) -> Any:
        """That record for every run."""
        return 0.0 * points + data.features[0]


@dataclass(frozen=True)
class Identity:
    """The identity map, the worst case of amplification by iteration."""

    def __call__(self, points: Any, data: Dataset) -> Any:
        """The points themselves."""
        return points


@dataclass(frozen=True)
class UniformOn:
    """A sampler that looks at no record: uniform points of a ball or a box."""

    constraint: Any

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        d = self.constraint.dimension
        if isinstance(self.constraint, Box):
            low, high = np.asarray(self.constraint.lower), np.asarray(self.constraint.upper)
            return Output(low + (high - low) * np.asarray(rng.uniform((runs, d), "blind point")))
        directions = np.asarray(rng.normal((runs, d), "blind direction"))
        radii = np.asarray(rng.uniform((runs, 1), "blind radius")) ** (1 / d)
        unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        return Output(self.constraint.center() + self.constraint.radius * radii * unit)
