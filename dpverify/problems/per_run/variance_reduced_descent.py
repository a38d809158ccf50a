"""Minimizers of a regularized risk over many records, by variance-reduced descent, certified run by run.

For F(w) = risk(w) + lambda ||w - c||^2, M and m as in `accelerated_descent`, kappa = M / m. Accelerated descent takes
the gradients of all n records sqrt(kappa) times, up to a logarithm. Here most steps use a few records that each run
draws for itself: SVRG (Johnson and Zhang, 2013) on minibatches, with Nesterov's momentum (Nitanda, 2014).

- The opening: S accelerated steps from c with the mean gradient of a minibatch each. The last three quarters of the
  points are averaged to s.
- A round: the gradient g of all records at s certifies the gap of x = Proj(s - g / M), as in accelerated descent.
  Where it is small enough, the run ends with x. Elsewhere S more accelerated steps, now from x, take
  g + (gradient at the point - gradient at s) of a minibatch each, and end in the next s.
- Where kappa is above n / 8, opening and rounds minimize F(w) + (q/2) ||w - s||^2 (from c in the opening), whose
  condition number is n / 8, and s is extrapolated from the averages of two rounds (Catalyst: Lin, Mairal and
  Harchaoui, 2015).
- A run without a certificate after a stated number of rounds is left to accelerated descent from c.

What is sure: the gap, in every run, because nothing but a gradient of all records certifies it; and the largest number
of calls, those of all rounds and then of accelerated descent. What is typical: while kappa is below n / 32, two to four
rounds, which make 2.3 to 4.5 n calls in all; beyond, n + sqrt(n kappa) calls up to a small factor, where accelerated
descent asks for n sqrt(kappa). There is no theorem for this combination of minibatches, momentum and averages. The
constants below were chosen on logistic and squared losses on 100 to 51,200 records of uniform, skewed and rare
directions, for kappa up to 200,000; there every run was certified within the rounds that are allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.problems import Dataset, GeneralizedLinear
from dpverify.problems.arrays import Array, like, namespace
from dpverify.problems.per_run.accelerated_descent import (
    CertifiedPoints,
    RegularizedRisk,
    minimize_regularized,
    most_steps,
)
from dpverify.problems.problem import without_ridge

Draw = Callable[[tuple[int, ...]], Array]
"""From a shape to independent record numbers, uniform on {0, ..., n - 1}, in the points' library."""

_STEPS = 4.0  # in units of sqrt(kappa)
_FEWEST_STEPS = 8
_OPENING = 1 / 8  # of n: records drawn in the opening
_ROUND = 1 / 16  # of n: records drawn in a round
_STABLE = 2.0  # in units of kappa: no fewer records than that
_LARGEST_CONDITION = 1 / 8  # of n: kappa in a round
_TYPICAL_ROUNDS = 3  # or, if that is more,
_TYPICAL_SHARE = 1 / 4  # of the allowed rounds; and of the steps that accelerated descent may need
_NUMBERS_AT_ONCE = 1 << 20  # in a table of drawn features; part of what a seed means


@dataclass(frozen=True)
class Rounds:
    """How variance-reduced descent goes about a search; the data play no part in it."""

    steps: int  # S, in the opening and in every round but the last
    opening: int  # records in each of the opening's minibatches
    batch: int  # records in each of a round's minibatches
    most: int  # rounds after which a run is left to accelerated descent
    proximal: float  # q, in loss over length^2; 0 where F itself is minimized
    momentum: float  # how far s goes beyond a round's average, as a share of the way from the one before

    def gradients(self, rounds: Any, n: int) -> Any:
        """Of single records, for a search among n that ends in this round; two for each record that a round draws."""
        return self.steps * self.opening + rounds * n + (rounds - 1) * 2 * self.steps * self.batch

    def projections(self, rounds: Any) -> Any:
        """For a search that ends in this round."""
        return rounds * (self.steps + 1) + (rounds - 1) * (self.momentum > 0)


def foreseen_rounds(risk: RegularizedRisk, n: int, gap: float) -> Rounds | None:
    """The rounds for n records and a gap in units of the loss; None where accelerated descent is foreseen cheaper.

    A minibatch of b records adds a variance of at most L^2 / b to a gradient in the opening, and in a round some
    kappa / b of what the round begins with. So after S steps a gap should be kappa / (b S) of what it was, but
    no less than exp(-S / sqrt(kappa)), as by accelerated steps without noise, and no less than exp(-sqrt(m / (m + q))),
    as by accelerated proximal steps. That gives the number of rounds that are allowed. Foreseen are a quarter of them
    and at least three, against a quarter of the steps that accelerated descent may need.
    """
    smoothness, convexity = risk.smoothness, risk.convexity
    largest = max(_LARGEST_CONDITION * n, 2.0)
    proximal = max((smoothness - convexity * largest) / (largest - 1), 0.0)
    condition = (smoothness + proximal) / (convexity + proximal)
    steps = max(_FEWEST_STEPS, math.ceil(_STEPS * math.sqrt(condition)))
    opening, batch = (math.ceil(max(share * n, _STABLE * condition) / steps) for share in (_OPENING, _ROUND))
    opened = risk.problem.constants.lipschitz_constant**2 / (2 * convexity * steps * opening)
    rate = math.sqrt(convexity / (convexity + proximal))
    nearer = min(math.log(steps * batch / condition), steps / math.sqrt(condition))
    if proximal > 0:
        nearer = min(nearer, rate)
    most = 1 + math.ceil(math.log(max(opened / gap, 1.0)) / nearer)
    rounds = Rounds(steps, opening, batch, most, proximal, (1 - rate) / (1 + rate))
    foreseen = min(most, max(_TYPICAL_ROUNDS, _TYPICAL_SHARE * most))
    plain = _TYPICAL_SHARE * n * most_steps(risk, gap)
    return rounds if rounds.gradients(foreseen, n) < plain else None


def most_gradients(risk: RegularizedRisk, n: int, gap: float) -> int:
    """Gradients of single records that `minimize_on_draws` takes in a run, at most, for n records."""
    rounds = foreseen_rounds(risk, n, gap)
    return n * most_steps(risk, gap) + (0 if rounds is None else rounds.gradients(rounds.most, n))


def most_projections(risk: RegularizedRisk, n: int, gap: float) -> int:
    """Projections that `minimize_on_draws` makes in a run, at most, for n records."""
    rounds = foreseen_rounds(risk, n, gap)
    return most_steps(risk, gap) + (0 if rounds is None else rounds.projections(rounds.most))


def minimize_on_draws(
    risk: RegularizedRisk, data: Dataset, center: Array, gap: float, draw: Draw
) -> CertifiedPoints:
    """As `minimize_regularized`, whatever is drawn; by it where constants, n and gap make it foreseen cheaper."""
    rounds = foreseen_rounds(risk, data.n, gap)
    if rounds is None:
        return minimize_regularized(risk, data, center, gap)
    xp = namespace(center)
    runs, d = (int(size) for size in center.shape)
    points = np.empty((runs, d), dtype=np.asarray(center).dtype)
    taken, gaps = np.zeros(runs, dtype=np.int64), np.zeros(runs)
    at_once = max(1, _NUMBERS_AT_ONCE // (max(rounds.opening, rounds.batch) * d))
    for first in range(0, runs, at_once):
        part = slice(first, min(first + at_once, runs))
        search = _Search(risk, data, center[part, :], rounds, draw)
        points[part], taken[part], gaps[part] = search.until(gap)
    gradients, projections = rounds.gradients(taken, data.n), rounds.projections(taken)
    left = np.flatnonzero(~(gaps <= gap))
    if left.size:
        found = minimize_regularized(risk, data, xp.take(center, xp.asarray(left), axis=0), gap)
        points[left], gaps[left] = np.asarray(found.points), found.gaps
        gradients[left] += found.gradients
        projections[left] += found.projections
    return CertifiedPoints(xp.asarray(points), gradients, projections, gaps)


class _Search:
    """The runs of one part of a batch, all in the same round."""

    def __init__(
        self, risk: RegularizedRisk, data: Dataset, center: Array, rounds: Rounds, draw: Draw
    ) -> None:
        self._risk, self._data, self._home, self._rounds, self._draw = risk, data, center, rounds, draw
        self._features, self._labels = like(data.features, center), like(data.labels, center)
        self._loss, self._ridge = without_ridge(risk.problem.loss)
        self._smoothness = risk.smoothness + rounds.proximal
        self._convexity = risk.convexity + rounds.proximal
        root = math.sqrt(self._smoothness / self._convexity)
        self._momentum = (root - 1) / (root + 1)

    def until(self, gap: float) -> tuple[np.ndarray[Any, Any], ...]:
        """Points, rounds and certified gaps of all runs; gaps that are not small enough after the last round."""
        xp, risk = namespace(self._home), self._risk
        runs = int(self._home.shape[0])
        result = np.asarray(self._home).copy()
        taken, gaps = np.zeros(runs, dtype=np.int64), np.full(runs, math.inf)
        searching = np.arange(runs)
        middle = average = self._averaged(self._home, self._rounds.opening, None, None)
        for number in range(1, self._rounds.most + 1):
            slope = risk.gradient(middle, self._home, self._data)
            moved = risk.problem.constraint.project(middle - slope / risk.smoothness, overwrite=True)
            certified = risk.step_certificate(middle, moved)
            done = (certified <= gap) | (number == self._rounds.most)
            places = searching[done]
            result[places] = np.asarray(moved)[done]
            taken[places], gaps[places] = number, certified[done]
            searching = searching[~done]
            if searching.size == 0:
                break
            left = xp.asarray(np.flatnonzero(~done))
            moved, middle, slope, before, self._home = (
                xp.take(rows, left, axis=0) for rows in (moved, middle, slope, average, self._home)
            )
            middle = average = self._averaged(moved, self._rounds.batch, middle, slope)
            if self._rounds.momentum > 0:
                beyond = average + self._rounds.momentum * (average - before)
                middle = risk.problem.constraint.project(beyond, overwrite=True)
        return result, taken, gaps

    def _averaged(self, start: Array, size: int, middle: Array | None, slope: Array | None) -> Array:
        """The average of the last three quarters of S accelerated steps on minibatches of `size` records."""
        risk, steps = self._risk, self._rounds.steps
        total = namespace(start).zeros_like(start)
        skipped = steps // 4
        last = ahead = start
        for step in range(steps):
            estimate = self._drawn_gradient(ahead, size, middle)
            if middle is None:
                estimate += self._ridge * ahead + self._convexity * (ahead - self._home)
            else:
                estimate += slope
                estimate += (self._ridge + self._convexity) * (ahead - middle)
            new = risk.problem.constraint.project(ahead - estimate / self._smoothness, overwrite=True)
            ahead = new + self._momentum * (new - last)
            last = new
            if step >= skipped:
                total += new
        return total / (steps - skipped)

    def _drawn_gradient(self, w: Array, size: int, middle: Array | None) -> Array:
        """Mean gradient of `size` records of each run, without the ridge, less that of the same records at `middle`."""
        xp = namespace(w)
        runs, d = w.shape
        drawn = xp.reshape(self._draw((runs, size)), (-1,))
        x, y = xp.take(self._features, drawn, axis=0), xp.take(self._labels, drawn, axis=0)
        if isinstance(self._loss, GeneralizedLinear):
            x, y = xp.reshape(x, (runs, size, d)), xp.reshape(y, (runs, size))
            ends = w[:, :, None] if middle is None else xp.stack([w, middle], axis=-1)
            slopes = self._loss.link_slope(x @ ends, y[:, :, None])
            slopes = slopes[:, :, 0] if middle is None else slopes[:, :, 0] - slopes[:, :, 1]
            return (slopes[:, None, :] @ x)[:, 0, :] / size
        found = self._loss.gradient(xp.repeat(w, size, axis=0), x, y)
        if middle is not None:
            found -= self._loss.gradient(xp.repeat(middle, size, axis=0), x, y)
        return xp.sum(xp.reshape(found, (runs, size, d)), axis=1) / size
