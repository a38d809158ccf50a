"""The step that all noisy gradient methods share, for a whole batch of runs at once.

A step is w <- Proj(w - rate (scale grad + stddev Z)) with Z standard normal, fresh in every run and step.

The points are kept column by column, shape (d, runs), so that every operation runs along the long axis; what
losses and constraint sets get is the transposed view, (runs, d). With NumPy a step changes the points in
place and makes no large array, so that its time is mostly that of drawing the noise.
"""

from __future__ import annotations

import math
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.on_device import DeviceIterates
from dpverify.algorithms.steps import in_place, single_run
from dpverify.errors import InvalidArgumentError
from dpverify.extras import Compiled
from dpverify.problems import ConstraintSet, Dataset, Problem
from dpverify.problems.constraint_sets import Ball
from dpverify.problems.losses import GeneralizedLinear, is_generalized_linear
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.problems.problem import without_ridge
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


def begin(problem: Problem, start: Array, runs: int, rng: Randomness) -> Iterates | DeviceIterates:
    """Where a batch of runs begins, on the device that the stream names if it names one."""
    kind: type[Iterates] | type[DeviceIterates] = Iterates if rng.device is None else DeviceIterates
    return kind(problem, start, runs, rng)


class Iterates:
    """The current points of a batch of runs from a common start, (d,), and how often each run asked an oracle.

    Sets of each run's own may take the place of the problem's, and a start of each run's own, (runs, d), of the common.
    """

    def __init__(
        self,
        problem: Problem,
        start: Array,
        runs: int,
        rng: Randomness,
        *,
        sets: ConstraintSet | BallIntersections | None = None,
    ) -> None:
        xp = rng.xp
        self._loss = problem.loss
        # no step asks for more than a projection
        self._constraint: Any = problem.constraint if sets is None else sets
        self._rng = rng
        self._runs = runs
        self._dimension = problem.constraint.dimension
        self._generalized_linear = is_generalized_linear(problem.loss)
        self._ridge = float(getattr(problem.loss, "ridge", 0.0)) if self._generalized_linear else 0.0
        self._fast_slope = in_place.has_fast_slope(problem.loss)
        base: Any = without_ridge(problem.loss)[0]
        self._base = base if isinstance(base, GeneralizedLinear) else None
        # a subclass may have changed its projection
        ball: Any = self._constraint
        about_origin = type(ball) is Ball and ball.midpoint is None
        usual = about_origin and in_place.RADII[0] <= ball.radius <= in_place.RADII[1]
        self._radius: float | None = ball.radius if usual else None
        self._largest_norm = math.inf if self._radius is None else self._radius
        self._steps_of_all = 0
        self._steps_of_some = np.zeros(runs, dtype=np.int64)
        self._order: Array | None = None  # the run at each place, if they were sorted
        # filled again and again: fresh large arrays cost page faults in every step
        self._in_place = in_place.Columns(self._dimension, runs) if xp is np else None
        room = None if self._in_place is None else self._in_place.points
        self.columns = xp.empty((self._dimension, runs), dtype=xp.float64) if room is None else room
        begin = xp.asarray(start, dtype=xp.float64)
        self.columns[...] = begin[:, None] if begin.ndim == 1 else begin.T
        self._alone = (
            single_run.each(self._loss, self._constraint, runs, self._dimension) if xp is np else None
        )

    def step(
        self,
        x: Array,
        y: Array,
        *,
        rate: float,
        noise_stddev: float,
        scale: float = 1.0,
        active: int | None = None,
    ) -> None:
        """Take one noisy projected gradient step, in the first `active` runs only if that is given.

        One record for all of them has shape (d,), one for each (active, d). The rate is in length^2 over loss, the
        noise's standard deviation in loss over length.
        """
        whole = active is None or active == self._runs
        count = self._runs if active is None else active
        if whole:
            self._steps_of_all += 1
        else:
            self._steps_of_some[:count] += 1
        place = self._in_place
        if place is None or not self._generalized_linear or x.ndim != 1:
            self._plain_step(x, y, rate, noise_stddev, scale, count)
        elif whole:
            self._fused_step(place, x, y, rate, noise_stddev, scale)
        else:
            self._partial_step(place, x, y, rate, noise_stddev, scale, count)

    def walk_on_drawn(
        self,
        features: Array,
        labels: Array,
        *,
        rates: NDArray[np.float64],
        noise_stddev: float,
        scale: float = 1.0,
    ) -> None:
        """Take a step for each rate, (steps,), each run on a record of its own, drawn anew in every step."""
        columns = features if self.alone else by_column(features, self._rng.xp)
        # whether or not runs are stepped alone, in every namespace; for many runs a call of its own costs nothing
        together = len(rates) if self._runs <= single_run.FEW else 1
        for at in range(0, len(rates), together):
            some = rates[at : at + together]
            drawn = self._rng.integers(0, labels.shape[0], (len(some), self._runs), "records")
            if self.alone:
                self.walk(features, labels, drawn, rates=some, noise_stddev=noise_stddev, scale=scale)
                continue
            for t, rate in enumerate(some.tolist()):
                self._step_on_drawn(
                    columns, labels, drawn[t, :], rate=rate, noise_stddev=noise_stddev, scale=scale
                )

    def walk_some(
        self, features: Array, labels: Array, keys: Array, largest: Array, *, rate: float, noise_stddev: float
    ) -> None:
        """Take step t, on record t, in the runs whose key is at most `largest[t]`.

        Once, at the end of the steps: the runs are sorted by their keys, (runs,). `largest` has shape (steps,).
        """
        if self._runs == 1:
            steps = np.flatnonzero(keys[0] <= largest)
            rates = np.full(len(steps), rate)
            self.walk(features, labels, steps, rates=rates, noise_stddev=noise_stddev)
            return
        self._order = np.argsort(keys, kind="stable")
        sorted_keys: NDArray[np.int64] = keys[self._order]
        taken = np.searchsorted(sorted_keys, np.asarray(largest), side="right")
        for t, active in enumerate(taken.tolist()):
            if active:
                x, y = features[t, :], labels[t]
                self.step(x, y, rate=rate, noise_stddev=noise_stddev, active=active)

    def _step_on_drawn(
        self,
        columns: Array,
        labels: Array,
        drawn: Array,
        *,
        rate: float,
        noise_stddev: float,
        scale: float = 1.0,
    ) -> None:
        """Take one step in which each run has a record of its own: `drawn`, of the columns (d, n) and labels (n,)."""
        xp = self._rng.xp
        y = xp.take(labels, drawn, axis=0)
        if self._in_place is None or self._base is None:
            x = xp.take(columns, drawn, axis=1).T
            self.step(x, y, rate=rate, noise_stddev=noise_stddev, scale=scale)
            return
        self._steps_of_all += 1
        place = self._in_place
        # the room for noise holds the records until the noise is drawn
        x = np.take(columns, drawn, axis=1, out=place.noise, mode="clip")
        slope = self._base.link_slope(np.einsum("ij,ij->j", place.points, x, out=place.numbers), y)
        slope *= -rate * scale
        if self._ridge:
            place.points *= 1.0 - rate * scale * self._ridge
        x *= slope
        place.points += x
        self._add_noise_and_project(place, rate * noise_stddev)

    @property
    def alone(self) -> bool:
        """Whether runs are few enough to be stepped one after the other, many steps of each at once."""
        return self._alone is not None

    def expect(self, steps: int) -> None:
        """Say how many steps are coming."""
        Compiled.expect(sum(steps * one.seconds_a_step for one in self._alone or () if one.known))

    def walk(
        self,
        features: Array,
        labels: Array,
        order: Array,
        *,
        rates: Sequence[float] | Array,
        noise_stddev: float,
        scale: float = 1.0,
    ) -> None:
        """Take a step for each record of an order, (steps,), the same in all runs; rates have shape (steps,).

        Runs that are stepped alone may have an order each, (steps, runs).
        """
        sizes = np.asarray(rates, dtype=np.float64)
        if self._alone is None:
            for index, rate in zip(order, sizes.tolist(), strict=True):
                x, y = features[int(index), :], labels[int(index)]
                self.step(x, y, rate=rate, noise_stddev=noise_stddev, scale=scale)
            return
        self._steps_of_all += len(sizes)
        together = single_run.steps_together(self._dimension * self._runs)
        for first in range(0, len(sizes), together):
            some, here = sizes[first : first + together], order[first : first + together]
            noise = self._rng.normal((len(some), self._dimension, self._runs), "noise")
            noise *= (-noise_stddev * some)[:, None, None]
            for run, one in enumerate(self._alone):
                numbers = here if here.ndim == 1 else here[:, run]
                point = np.ascontiguousarray(self.columns[:, run])
                one.walk(
                    point,
                    *one.records(features, labels, numbers),
                    np.ascontiguousarray(noise[:, :, run]),
                    scale * some,
                )
                self.columns[:, run] = point

    def _fused_step(
        self, columns: in_place.Columns, x: Array, y: Array, rate: float, noise_stddev: float, scale: float
    ) -> None:
        """One record for all, gradients slope * x: a rank-one update of the points, then the noise.

        The noise is drawn as late as possible and read once, so that the points stay in the cache.
        """
        if self._fast_slope:
            columns.slope(x, y, self._largest_norm)
        else:
            columns.numbers[...] = self._loss.slope(columns.points.T, x, y)  # type: ignore[attr-defined]
        if self._ridge:
            columns.points *= 1.0 - rate * scale * self._ridge
        columns.add_outer(-rate * scale, x)
        self._add_noise_and_project(columns, rate * noise_stddev)

    def _add_noise_and_project(self, columns: in_place.Columns, stddev: float) -> None:
        self._rng.normal(columns.noise.shape, "noise", out=columns.noise)
        columns.add_noise(-stddev)
        self._project(columns.points, columns.numbers)

    def _project(self, points: Array, room: Array) -> None:
        """Project points (d, runs) in place, with room for one number a run."""
        if self._radius is not None:
            in_place.shorten(points, self._radius, room)
            return
        projected = self._constraint.project(points.T, overwrite=True).T
        if not np.shares_memory(projected, points):
            points[...] = projected

    def _partial_step(
        self,
        columns: in_place.Columns,
        x: Array,
        y: Array,
        rate: float,
        noise_stddev: float,
        scale: float,
        active: int,
    ) -> None:
        """The same for the first runs only, whose points are not contiguous."""
        here = columns.points[:, :active]
        room = columns.noise.reshape(-1)[: here.size].reshape(here.shape)
        slope = self._loss.slope(here.T, x, y)  # type: ignore[attr-defined]
        slope *= -rate * scale
        if self._ridge:
            here *= 1.0 - rate * scale * self._ridge
        here += np.multiply(x[:, None], slope, out=room)
        self._rng.normal(room.shape, "noise", out=room)
        room *= -rate * noise_stddev
        here += room
        self._project(here, columns.numbers[:active])

    def _plain_step(
        self, x: Array, y: Array, rate: float, noise_stddev: float, scale: float, active: int
    ) -> None:
        """The same for any loss, any array library, and any number of active runs."""
        whole = active == self._runs
        here = self.columns[:, :active]
        room = self._in_place.noise if whole and self._in_place is not None else None
        noise = self._rng.normal((self._dimension, active), "noise", out=room)
        noise *= -rate * noise_stddev
        if self._generalized_linear:
            slope = self._loss.slope(here.T, x, y)  # type: ignore[attr-defined]
            slope *= -rate * scale
            noise += (x[:, None] if x.ndim == 1 else x.T) * slope[None, :]
            noise += here if not self._ridge else (1.0 - rate * scale * self._ridge) * here
        else:
            gradient = self._loss.gradient(here.T, x, y)
            gradient *= -rate * scale
            noise += gradient.T
            noise += here
        projected = self._constraint.project(noise.T, overwrite=True)
        if self._in_place is None and whole:
            self.columns = projected.T
        else:
            self.columns[:, :active] = projected.T

    def output(self) -> Output:
        """Release the points and what each run counted."""
        points: Any = self.columns.T
        steps = self._steps_of_all + self._steps_of_some
        if self._order is not None:
            places = np.empty(self._runs, dtype=np.int64)
            places[self._order] = np.arange(self._runs)
            points = self._rng.xp.take(points, self._rng.xp.asarray(places), axis=0)
            steps = steps[places]
        return Output(points, gradient_queries=steps, projections=steps)


def records(data: Dataset, problem: Problem, xp: types.ModuleType | Any) -> tuple[Array, Array]:
    """The features (n, d) and labels (n,) as arrays of the namespace."""
    if data.d != problem.constraint.dimension:
        raise InvalidArgumentError(
            "data", f"{data.d} features", f"{problem.constraint.dimension} features, as the constraint set"
        )
    there = data.as_namespace(xp)
    return there.features, there.labels


def by_column(features: Array, xp: types.ModuleType | Any) -> Array:
    """The features as columns (d, n), of which one for each run is gathered at every step.

    NumPy would copy all of them each time if they were not in that order in memory.
    """
    return np.array(features.T, order="C") if xp is np else xp.asarray(features.T, copy=True)
