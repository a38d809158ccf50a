"""What the audit plans of several papers are built from: problems on real data, neighbors, fresh samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from flint import arb

from dpverify.auditing.accountants import NoisyReleases
from dpverify.errors import InvalidArgumentError
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

REAL_DATA = ("breast-cancer", "diabetes")

_ROUNDING = 1e-12


class Neighbors(Protocol):
    """Two neighbors."""

    @property
    def left(self) -> Dataset: ...
    @property
    def right(self) -> Dataset: ...
    @property
    def description(self) -> str: ...


@dataclass(frozen=True)
class Constructed:
    """Two neighbors that were made up."""

    left: Dataset
    right: Dataset
    description: str


def made(features: Any, name: str) -> Dataset:
    """Records by construction, each with the label 1."""
    return Dataset(features, np.ones(len(features)), name, "by construction")


def real_loss(name: str) -> Any:
    """Logistic on breast cancer, squared on diabetes."""
    return Logistic() if name == "breast-cancer" else Squared(radius=1.0)


def real_problem(name: str, *, n: int | None = None, d: int | None = None) -> tuple[Problem, Dataset]:
    """Logistic regression on breast cancer, or least squares on diabetes, on the unit ball."""
    data = load(name, n=n, d=d)
    return Problem(real_loss(name), Ball(data.d, 1.0)), data


def real_neighbors(problem: Problem, data: Dataset, index: int) -> NeighborPair:
    """The data set, and its neighbor with record `index` (from 1) replaced by the most different one."""
    return opposite_neighbor(problem.loss, data, index)


def on_pair(stated: StatedGuarantee, pair: NeighborPair) -> StatedGuarantee:
    """A guarantee, said of the record in which two data sets differ; that record must be protected."""
    found = stated.at(pair.index, pair.left.n)
    if found is None:
        raise AssertionError(f"a plan audits record {pair.index}, which {stated} does not protect")
    return found


@dataclass(frozen=True)
class PointCoordinate:
    """One coordinate of every point."""

    index: int

    def __call__(self, points: Any) -> Any:
        """From points (runs, d) to numbers (runs,)."""
        return points[:, self.index]


@dataclass(frozen=True)
class GaussianPair:
    """From a delta to the smallest epsilon of two Gaussians of variance 1, at a distance known up to rounding."""

    distance: float

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats."""
        ends = [NoisyReleases("gaussian", 1 / (self.distance * k)) for k in (1 - _ROUNDING, 1 + _ROUNDING)]
        low, high = (end.smallest_epsilon(delta) for end in ends)
        return Interval(lower=low.lower, upper=high.upper)


def longest_record_at(name: str, index: int, *, n: int, d: int) -> Dataset:
    """A few records of a real data set, and at an index from 1 its longest one, whose replacement moves most."""
    few, every = load(name, n=n, d=d), load(name, d=d)
    longest = int(np.argmax(np.linalg.norm(np.asarray(every.features), axis=1)))
    features, labels = np.array(few.features), np.array(few.labels)
    features[index - 1], labels[index - 1] = every.features[longest], every.labels[longest]
    return Dataset(features, labels, f"{few.name}, the longest record of all at {index}", few.scaling)


def mean_problem(d: int, radius: float) -> Problem:
    """The mean of the records: half squared distances on a ball, where two records' gradients differ by x - x'.

    Every record has its say at every point, so that a data set of real records comes near to what the theorems allow.
    """
    ball = Ball(d, radius)
    return Problem(HalfSquaredDistance.on(ball), ball)


def linear_neighbors(name: str, *, n: int, d: int) -> NeighborPair:
    """A few real records with linear losses, and the last and longest one replaced by the most different one.

    A record is the gradient of its loss, so that two of them are up to 2 L apart, as the theorems allow.
    """
    return opposite_neighbor(Linear(), longest_record_at(name, n, n=n, d=d), n)


def linear_pair(name: str, n: int, d: int = 1) -> NeighborPair:
    """The same, or by the name of `worst-case` records that are opposite at the last place and alike elsewhere."""
    return opposite_linear(n, d, n) if name == "worst-case" else linear_neighbors(name, n=n, d=d)


def mean_neighbors(name: str, *, n: int, d: int) -> NeighborPair:
    """A few real records whose mean is sought, and the last and longest one replaced by the most different one."""
    return opposite_neighbor(HalfSquaredDistance.on(Ball(d, 1.0)), longest_record_at(name, n, n=n, d=d), n)


def sign_change(value: float, function: Callable[[arb], arb]) -> Interval:
    """An interval about a root of a falling function, rigorous where ball arithmetic shows its signs at both ends."""
    low, high = value * (1 - 1e-9), value * (1 + 1e-9)
    shown = bool(function(arb(low)) > 0) and bool(function(arb(high)) < 0)
    return Interval(lower=low, upper=high, rigorous=shown)


def gaussian_delta(epsilon: float, mu: arb) -> arb:
    """Delta of two Gaussians with standard deviation 1, mu apart, at an epsilon, as a ball."""

    def below(x: arb) -> arb:
        return (-x / arb(2).sqrt()).erfc() / 2

    ratio = arb(epsilon) / mu
    return below(-ratio + mu / 2) - arb(epsilon).exp() * below(-ratio - mu / 2)


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
        sample = Dataset(
            np.asarray(data.features)[drawn],
            np.asarray(data.labels)[drawn],
            f"sample of {data.name}",
            data.scaling,
        )
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
    """A sampler that looks at no record: uniform points of a ball or a box.

    Raises:
        InvalidArgumentError: for any other set.
    """

    constraint: Any
    """A `Ball` or a `Box`."""

    def __post_init__(self) -> None:
        if not isinstance(self.constraint, Ball | Box):
            raise InvalidArgumentError("constraint", type(self.constraint).__name__, "a Ball or a Box")

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
