"""Scores: real functions of one output that tend to be larger on the left data set than on the right.

A scorer learns a score from samples that are used for nothing else. Any score gives a valid audit; a better
one gives a sharper audit. All scorers are deterministic given their generator and one thread, on which audits
run them, so that an audit gives the same bits everywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpverify.checks import FloatArray
from dpverify.running.thread_pools import thread_pools

Samples = FloatArray
"""Shape (runs, d)."""
Score = Callable[[Samples], FloatArray]
"""From (runs, d) to (runs,)."""

_STEPS = 25
_ENOUGH = 1e-6
_MOST_PRODUCTS = 500_000_000
"""Multiplications for a logistic regression's second derivatives; beyond, they are taken from some rows and kept."""
_MOST_BINS = 64
_MOST_MULTIPLIED = 16
"""Coordinates up to which all products of two are features."""
_MOST_FEATURES = 400
_COMMON = (0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)
"""Quantiles at which a function of a coordinate bends."""
_RARE = (1e-4, 1e-3, 0.999, 0.9999)
"""More of them, where all coordinates together have enough of such outputs."""
_FARTHEST = 30.0
"""Spreads from the median at which standardized outputs are cut, so that products stay finite."""
_MOST_ORDERED = 1024
"""Rows that say where the middle of a coordinate is."""
_FEW_ROWS, _SHORT_LIST = 1024, 8
"""Rows of a side that name this many coordinates, of which one is chosen from all rows."""
_MOST_NUMBERS = 20_000_000
"""Features of all rows together; where rows have many, some of them learn."""
_ROWS_AT_ONCE = 16_384
"""Rows scored together, which bounds the memory that quadratic features take."""


class Scorer(Protocol):
    """Something that learns a score."""

    @property
    def name(self) -> str:
        """Name in words, for reports."""

    def fit(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        """Learn from two sample sets, (runs, d) each; None where this scorer does not apply."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Fit and score on one thread: a sum over several depends on how many there are, in its last bits."""
    with thread_pools().limit(limits=1):
        yield


def apply_score(score: Score, samples: Samples) -> FloatArray:
    """Score all samples, a block of rows at a time, overflow silenced; NaN becomes 0."""
    return apply_scores({"": score}, samples)[""]


def apply_scores(
    scores: Mapping[str, Score], samples: Samples, rows: NDArray[np.int64] | None = None
) -> dict[str, FloatArray]:
    """Several scores of samples (runs, d), or of some rows of them, as `apply_score` gives them."""
    count = samples.shape[0] if rows is None else rows.size
    found = {name: np.empty(count) for name in scores}
    with np.errstate(all="ignore"):
        for start in range(0, count, _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            block = np.ascontiguousarray(samples[some if rows is None else rows[some]])
            for name, score in scores.items():
                found[name][some] = score(block)
    return {name: out if np.isfinite(out).all() else np.nan_to_num(out) for name, out in found.items()}


def fit_score(scorer: Scorer, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
    """Fit, silencing the overflow that extreme outputs cause inside a score."""
    with np.errstate(all="ignore"):
        return scorer.fit(left, right, rng)


@dataclass(frozen=True)
class ScorerOf(ABC):
    """A scorer for outputs of some numbers of coordinates d."""

    name: ClassVar[str]
    dimensions: ClassVar[tuple[int, float]] = (1, math.inf)
    """Fewest and most."""
    is_linear: ClassVar[bool] = False
    beyond_linear: ClassVar[bool] = False
    """Whether an audit may leave it out where a linear score leaves nothing to be seen."""
    holds_out: ClassVar[bool] = False
    """Whether its score has `held_out`: the scores of what it learned from, two of (runs,), each as if not seen."""

    def fit(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        """Learn from two sample sets, (runs, d) each; None where this scorer does not apply."""
        fewest, most = self.dimensions
        return self._learned(left, right, rng) if fewest <= left.shape[1] <= most else None

    @abstractmethod
    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None: ...


class Value(ScorerOf):
    """The output itself; only for one number a run."""

    name = "value"
    dimensions = (1, 1)

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        return Coordinate(0)


class DistanceFromCenter(ScorerOf):
    """Distance from the coordinatewise median, in units of each coordinate's spread."""

    name = "distance from the center"

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        standardize = _standardizer(left, right)
        return lambda x: np.linalg.norm(standardize(x), axis=1)


class HistogramRatio(ScorerOf):
    """Log-ratio of two histograms over pooled quantiles; only for one number a run."""

    name = "histogram ratio"
    dimensions = (1, 1)

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        pooled = np.concatenate([left, right])[:, 0]
        bins = max(2, min(_MOST_BINS, pooled.size // 50))
        inner = np.unique(np.quantile(pooled, np.arange(1, bins) / bins))

        def counts(x: Samples) -> FloatArray:
            return np.bincount(np.searchsorted(inner, x[:, 0]), minlength=inner.size + 1).astype(np.float64)

        ratios = np.log(counts(left) + 0.5) - np.log(counts(right) + 0.5)
        return lambda x: ratios[np.searchsorted(inner, x[:, 0])]


@dataclass(frozen=True)
class FrequencyRatio(ScorerOf):
    """Log-ratio of how often exactly this output was seen, `least_count` times at least; every other scores 0.

    Only where outputs repeat. Rows are compared as they are, with -0.0 counted as 0.0.
    """

    name = "frequency ratio"
    least_count: int = 5

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        both = np.concatenate([left, right])
        if _most_repeated(both[:, 0]) < self.least_count:
            return None
        keys = row_keys(both)
        seen, place, total = np.unique(keys, return_inverse=True, return_counts=True)
        often = total >= self.least_count
        if not often.any():
            return None
        on_left = np.bincount(place[: len(left)], minlength=seen.size)
        ratios = np.append((np.log(on_left + 0.5) - np.log(total - on_left + 0.5))[often], 0.0)
        known = seen[often]
        return lambda x: ratios[places_of(row_keys(x), known)]


@dataclass(frozen=True)
class Coordinate:
    """One number of an output, as a score that says which."""

    column: int

    def __call__(self, samples: Samples) -> FloatArray:
        """Shape (runs,)."""
        return samples[:, self.column]


class BestCoordinate(ScorerOf):
    """The coordinate whose two empirical distributions differ most (Kolmogorov-Smirnov); for d > 1."""

    name = "best coordinate"
    dimensions = (2, math.inf)

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        best = np.arange(left.shape[1])
        # the best few by some runs, the best of them by all
        for rows, kept in ((_FEW_ROWS, _SHORT_LIST), (left.shape[0], 1)):
            if best.size > kept:
                distances = [kolmogorov(left[:rows, j], right[:rows, j]) for j in best]
                best = np.sort(best[np.argsort(distances, kind="stable")[::-1][:kept]])
        return Coordinate(int(best[0]))


class NearestCentroid(ScorerOf):
    """Projection on the difference of the two means, in units of each coordinate's spread; for d > 1."""

    name = "nearest centroid"
    dimensions = (2, math.inf)
    is_linear = True

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        standardize = _standardizer(left, right)
        direction = standardize(left).mean(axis=0) - standardize(right).mean(axis=0)
        return lambda x: _weighted_sum(standardize(x), direction)


class LinearDiscriminant(ScorerOf):
    """Fisher's linear discriminant with a small ridge."""

    name = "linear discriminant"
    dimensions = (2, 500)
    is_linear = True

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        d = left.shape[1]
        standardize = _standardizer(left, right)
        p, q = standardize(left), standardize(right)
        covariance = (np.cov(p, rowvar=False) + np.cov(q, rowvar=False)) / 2
        ridge = 1e-3 * float(np.trace(covariance)) / d
        if not ridge > 0:
            return None
        direction = np.linalg.solve(covariance + ridge * np.eye(d), p.mean(axis=0) - q.mean(axis=0))
        return lambda x: _weighted_sum(standardize(x), direction)


class QuadraticLogistic(ScorerOf):
    """Logistic regression on all products of two coordinates, for large d on their squares only."""

    name = "quadratic logistic regression"
    beyond_linear = True
    dimensions = (2, 200)

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        d = left.shape[1]
        rows, columns = np.triu_indices(d) if d <= _MOST_MULTIPLIED else (np.arange(d), np.arange(d))
        p, q = some_rows(left, right, d + rows.size)
        standardize = _standardizer(p, q)

        def features(x: Samples) -> Samples:
            z = standardize(x)
            return np.concatenate([z, z[:, rows] * z[:, columns]], axis=1)

        weights = fit_logistic(features(p), features(q))
        return None if weights is None else lambda x: _weighted_sum(features(x), weights)


@dataclass(frozen=True)
class SumOfFunctions(ScorerOf):
    """A sum over coordinates of piecewise linear functions, one for all coordinates or one for each; for d > 1.

    The log-likelihood ratio has this form where the coordinates are independent, as the noisy steps of an algorithm
    are that publishes each of them.
    """

    dimensions = (2, 200)
    beyond_linear = True
    shared: bool = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name in words."""
        return f"sum of {'one function' if self.shared else 'a function'} of each coordinate"

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        d, bends = left.shape[1], len(_COMMON) + (len(_RARE) if self.shared else 0)
        count = (1 + bends) * (1 if self.shared else d)
        if count > _MOST_FEATURES:
            return None
        p, q = some_rows(left, right, d if self.shared else count)
        samples = np.concatenate([p, q])
        standardize = _standardizer(*(side.reshape(-1, 1) if self.shared else side for side in (p, q)))
        if self.shared:
            knots = np.quantile(standardize(samples), _COMMON + _RARE)[None, :]
        else:
            knots = np.quantile(standardize(samples), _COMMON, axis=0).T

        def features(x: Samples) -> Samples:
            z = standardize(x)
            parts = [z, *(np.maximum(z - knot, 0.0) for knot in knots.T)]
            return np.stack([part.sum(axis=1) for part in parts], axis=1) if self.shared else np.hstack(parts)

        on_left, on_right = features(p), features(q)
        unit = np.maximum(on_left.std(axis=0), on_right.std(axis=0))
        unit = np.where(unit > 0, unit, 1.0)
        weights = fit_logistic(on_left / unit, on_right / unit)
        if weights is None:
            return None
        # the functions by their values at the knots, and at both ends of what a standardizer gives
        slopes = (weights / unit).reshape(1 + bends, -1).T
        ends = np.full((knots.shape[0], 1), _FARTHEST)
        at = np.concatenate([-ends, np.sort(knots, axis=1), ends], axis=1)
        bent = np.maximum(at[:, :, None] - knots[:, None, :], 0.0)
        height = slopes[:, :1] * at + (bent * slopes[:, None, 1:]).sum(axis=2)

        def score(x: Samples) -> FloatArray:
            z = standardize(x)
            if self.shared:
                values = np.interp(z, at[0], height[0])
            else:
                values = np.stack([np.interp(z[:, j], at[j], height[j]) for j in range(d)], axis=1)
            return _weighted_sum(values, np.ones(d))

        return score


def _standardizer(left: Samples, right: Samples) -> Callable[[Samples], Samples]:
    """Map each coordinate to median 0 and spread about 1; rows come in random order, and some say where these are."""
    sides, some = (left, right), _MOST_ORDERED // 2
    largest = np.max([np.maximum(side.max(axis=0), -side.min(axis=0)) for side in sides], axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    inner = np.concatenate([side[:some] for side in sides]) / scale
    low, center, high = np.quantile(inner, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, high - low, inner.std(axis=0))
    spread = np.where(spread > 0, spread, 1.0)

    def standardized(x: Samples) -> Samples:
        z: Samples = x / scale
        z -= center
        z /= spread
        return np.clip(z, -_FARTHEST, _FARTHEST, out=z)

    return standardized


def some_rows(left: Samples, right: Samples, features: int) -> tuple[Samples, Samples]:
    """As many rows of both sides as their features may take memory; they come in random order."""
    rows = max(1, _MOST_NUMBERS // (2 * features))
    return left[:rows], right[:rows]


def kolmogorov(one: FloatArray, other: FloatArray) -> float:
    """The largest distance between the distribution functions of two samples, (runs,) each."""
    sides, found = (np.sort(one), np.sort(other)), []
    for a, b in (sides, sides[::-1]):
        # of equal numbers, the last counts: there the share of its own side is largest
        own = np.arange(1, a.size + 1) / a.size
        found.append((own - np.searchsorted(b, a, side="right") / b.size).max())
    return float(max(found))


def _weighted_sum(features: Samples, weights: FloatArray) -> FloatArray:
    """Sum each row's features, in an order that is the same for every row.

    A matrix product is not used: its rounding depends on where in the block a row stands, so that the score
    would not be a function of one output alone.
    """
    return np.asarray(np.ascontiguousarray(features * weights).sum(axis=1))


def row_keys(samples: Samples) -> NDArray[np.void] | FloatArray:
    """One sortable value a row, -0.0 counted as 0.0."""
    plain = np.ascontiguousarray(samples) + 0.0
    if plain.shape[1] == 1:
        return plain[:, 0]
    return plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1])))[:, 0]


def _most_repeated(numbers: FloatArray) -> int:
    """How often the most common of them comes; no row that begins with one comes more often."""
    return int(np.unique(numbers, return_counts=True)[1].max())


def places_of(wanted: NDArray[Any], known: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each value among known ones, which rise; their number for any other."""
    at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return np.where(known[at] == wanted, at, known.size)


def fit_logistic(left: FloatArray, right: FloatArray) -> FloatArray | None:
    """Logistic regression by Newton's method: weights (k,) of features (rows, k), without the intercept.

    They are of the log-odds of the left side. Half the squared weights are added to the negative log-likelihood. None
    if there is no solution in floats. The features should be of order 1. Where the Newton step does not descend, it is
    halved.
    """
    x = np.ones((left.shape[0] + right.shape[0], left.shape[1] + 1))
    x[: left.shape[0], :-1], x[left.shape[0] :, :-1] = left, right
    y = np.repeat([1.0, 0.0], [left.shape[0], right.shape[0]])
    ridge = np.ones(x.shape[1])
    ridge[-1] = 1e-9
    every = max(1, -(-x.shape[0] * x.shape[1] ** 2 // _MOST_PRODUCTS))
    weights = np.zeros(x.shape[1])
    loss, inverse = np.inf, None
    for _ in range(_STEPS):
        share = expit(x @ weights)
        gradient = x.T @ (share - y) + ridge * weights
        if inverse is None or every == 1:
            some = slice(None, None, every)
            rows = x[some]
            curvature = every * (rows * (share[some] * (1 - share[some]))[:, None]).T @ rows + np.diag(ridge)
            try:
                inverse = np.linalg.inv(curvature)
            except np.linalg.LinAlgError:
                return None
        step = inverse @ gradient
        length = 1.0
        while length > 1e-4:
            tried = weights - length * step
            at = x @ tried
            found = float(np.logaddexp(0.0, at).sum() - at @ y + (ridge * tried**2).sum() / 2)
            if found <= loss:
                break
            length /= 2
        else:
            break
        gained, loss, weights = loss - found, found, tried
        if gained < _ENOUGH * max(1.0, abs(loss)):
            break
    return weights[:-1] if np.all(np.isfinite(weights)) else None
