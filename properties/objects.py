"""Hypothesis strategies for objects whose constants and guarantees are known, on which to try checks.

All of them shrink: towards few dimensions, round numbers, and the simplest kind, which comes first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpverify.checks import of_kind, positive, whole_number
from dpverify.privacy import GDP, Adjacency, Guarantee, NoisyIteration, ProfileDP, PureDP
from dpverify.problems import (
    Ball,
    Box,
    ConstraintSet,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.running import BatchMechanism, Randomness

Array = NDArray[np.float64]


def _sizes(largest: int) -> st.SearchStrategy[float]:
    """Positive numbers, whole and halves first."""
    return st.one_of(st.integers(1, 2 * largest).map(lambda k: k / 2), st.floats(0.01, float(largest)))


def constraint_sets(*, dimension: int | None = None) -> st.SearchStrategy[ConstraintSet]:
    """Balls, boxes and simplices of a given dimension, or of 1 to 4.

    Raises:
        InvalidArgumentError: if the dimension is not an integer of at least 1.
    """
    if dimension is not None:
        return _sets(whole_number("dimension", dimension))
    return st.integers(1, 4).flatmap(_sets)


def _sets(d: int) -> st.SearchStrategy[ConstraintSet]:
    middles = st.lists(st.floats(-5, 5), min_size=d, max_size=d).map(tuple)
    sides = st.lists(_sizes(5), min_size=d, max_size=d)
    return st.one_of(
        st.builds(Ball, st.just(d), _sizes(5)),
        st.builds(Ball, st.just(d), _sizes(5), middles),
        st.builds(
            lambda low, sides: Box(low, tuple(a + b for a, b in zip(low, sides, strict=True))), middles, sides
        ),
        st.builds(Simplex, st.just(d), _sizes(5)),
    )


def losses(constraint: ConstraintSet) -> st.SearchStrategy[Loss]:
    """Convex losses, whose declared constants hold on a set and for records in the unit ball."""
    of_kind("constraint", constraint, ConstraintSet, "a constraint set, such as Ball(2, 1.0)")
    bases: list[Loss] = [Linear(), Logistic(), Hinge(), Squared.on(constraint)]
    plain = [*bases, EuclideanDistance(), HalfSquaredDistance.on(constraint)]
    ridges = st.builds(
        lambda base, weight: Ridge.on(constraint, base, weight), st.sampled_from(bases), _sizes(2)
    )
    return st.one_of(st.sampled_from(plain), ridges)


def problems(*, dimension: int | None = None) -> st.SearchStrategy[Problem]:
    """A loss on a constraint set where its constants hold.

    Raises:
        InvalidArgumentError: if the dimension is not an integer of at least 1.

    Examples:
        >>> from hypothesis import given, settings
        >>> from dpverify.properties import problems
        >>> @settings(max_examples=10, derandomize=True, database=None, deadline=None)
        ... @given(problems(dimension=2))
        ... def test(found):
        ...     assert found.constraint.dimension == 2
        >>> test()
    """
    return constraint_sets(dimension=dimension).flatmap(
        lambda constraint: losses(constraint).map(lambda loss: Problem(loss, constraint))
    )


def noisy_iterations(*, most_steps: int = 6) -> st.SearchStrategy[NoisyIteration]:
    """Schedules of shifts, noise and contractions of an iteration that releases its last iterate only.

    Every step has noise, so that there is a guarantee.

    Raises:
        InvalidArgumentError: if `most_steps` is not an integer of at least 1.
    """
    most = whole_number("most_steps", most_steps)

    def of(steps: int) -> st.SearchStrategy[NoisyIteration]:
        def each(number: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
            return st.lists(number, min_size=steps, max_size=steps)

        shifts = each(st.one_of(st.just(0.0), _sizes(2)))
        contractions = each(st.one_of(st.just(1.0), st.floats(0.1, 1.0)))
        return st.builds(
            NoisyIteration, shifts, each(_sizes(4)), contractions, st.one_of(st.just(0.0), _sizes(2))
        )

    return st.integers(1, most).flatmap(of)


def schedules(*, steps: int, smoothness: float = 1.0) -> st.SearchStrategy[tuple[Array, Array]]:
    """Step sizes and standard deviations of noise, shape (steps,) each: constant, falling, or of any form.

    No step is larger than 2 / smoothness, up to which a gradient step on a convex loss is a contraction; all noise is
    above 0. Their units are those of the parameter over that of a gradient, and of a gradient.

    Raises:
        InvalidArgumentError: if `steps` is not an integer of at least 1, or the smoothness not positive and finite.
    """
    count = whole_number("steps", steps)
    longest = 2 / positive("smoothness", smoothness)
    forms = st.one_of(
        st.just(np.ones(count)),
        st.sampled_from([0.5, 1.0]).map(lambda power: np.arange(1.0, count + 1) ** -power),
        st.lists(st.floats(0.01, 1.0), min_size=count, max_size=count).map(np.asarray),
    )
    sizes = st.builds(lambda form, first: first * longest * form, forms, st.sampled_from([0.5, 1.0, 0.01]))
    return st.tuples(sizes, st.builds(lambda form, scale: scale * form, forms, _sizes(4)))


def distributions(outcomes: int) -> st.SearchStrategy[Array]:
    """Distributions on a number of outcomes, shape (outcomes,), some with probabilities 0.

    Raises:
        InvalidArgumentError: if `outcomes` is not an integer of at least 1.
    """
    count = whole_number("outcomes", outcomes)
    weights = st.lists(st.integers(0, 1000), min_size=count, max_size=count).filter(any)
    return weights.map(lambda w: np.asarray(w, dtype=np.float64) / sum(w))


def distribution_pairs(*, most_outcomes: int = 5) -> st.SearchStrategy[tuple[Array, Array]]:
    """Two distributions on the same 2 or more outcomes; `dpverify.privacy.hockey_stick_divergence` knows their profile.

    Raises:
        InvalidArgumentError: if `most_outcomes` is not an integer of at least 2.
    """
    most = whole_number("most_outcomes", most_outcomes, at_least=2)
    return st.integers(2, most).flatmap(lambda k: st.tuples(distributions(k), distributions(k)))


@dataclass(frozen=True)
class LaplaceSum:
    """The sum of records in [0, 1] with Laplace noise of a scale: no replaced record moves it by more than 1."""

    scale: float

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Array:
        return _sum(data) + rng.generator.laplace(scale=self.scale, size=runs)

    def profile(self) -> Guarantee:
        epsilon = 1 / self.scale
        return ProfileDP(
            lambda at: -np.expm1(np.minimum(np.asarray(at) - epsilon, 0.0) / 2),
            f"Laplace noise of scale {self.scale:g}",
        )


@dataclass(frozen=True)
class GaussianSum:
    """The same with Gaussian noise."""

    stddev: float

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Array:
        return _sum(data) + rng.generator.normal(scale=self.stddev, size=runs)

    def profile(self) -> Guarantee:
        return GDP(1 / self.stddev)


@dataclass(frozen=True)
class RandomizedResponse:
    """Whether the records sum to more than one half, answered truly with probability e^epsilon / (1 + e^epsilon)."""

    epsilon: float

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Array:
        lie = rng.generator.uniform(size=runs) < 1 / (1 + math.exp(self.epsilon))
        return np.asarray((_sum(data) > 0.5) != lie, dtype=np.float64)

    def profile(self) -> Guarantee:
        return PureDP(self.epsilon)


def _sum(data: Any) -> float:
    return float(np.clip(np.asarray(data, dtype=np.float64), 0.0, 1.0).sum())


@dataclass(frozen=True)
class KnownMechanism:
    """A mechanism, the pair of neighbors that shows it best, and the exact privacy profile there, in both directions.

    Attributes:
        mechanism: for records in [0, 1] of one feature.
        left: records (n, 1).
        right: its neighbor by one replaced record.
        guarantee: holds for all neighbors, and is attained by these two at every epsilon.
    """

    mechanism: BatchMechanism
    left: Array
    right: Array
    guarantee: Guarantee
    adjacency: Adjacency = field(default=Adjacency.REPLACE_ONE)


def mechanisms(*, most_records: int = 4) -> st.SearchStrategy[KnownMechanism]:
    """Randomized response, and sums with Laplace or Gaussian noise, each with its exact guarantee.

    Raises:
        InvalidArgumentError: if `most_records` is not an integer of at least 1.
    """
    most = whole_number("most_records", most_records)
    kinds: st.SearchStrategy[Any] = st.one_of(
        st.builds(RandomizedResponse, _sizes(2)),
        st.builds(LaplaceSum, _sizes(4)),
        st.builds(GaussianSum, _sizes(4)),
    )

    def known(kind: Any, n: int) -> KnownMechanism:
        left = np.zeros((n, 1))
        right = left.copy()
        right[-1] = 1.0
        return KnownMechanism(kind, left, right, kind.profile())

    return st.builds(known, kinds, st.integers(1, most))
