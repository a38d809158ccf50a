"""Problems that differ from run to run: a regularized loss near each run's own point, and resampled records.

Algorithms of this package step all runs of a batch together and hand all points to the loss, in order. So a loss
may hold something of its own for every run: where a run's ball is centered, which records it drew. Points of fewer
or more runs are refused, since nothing would say whose they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.problems import ConstraintSet, Loss
from dpverify.problems.arrays import Array, like, namespace, row_sums
from dpverify.problems.conic import Affine, ConicProgram
from dpverify.problems.losses import OfAnother, sensitivity_radius

_TINY = 1e-300
_ROUNDING = 5e-15  # by how much of the outer radius rounding may move a run's center out of the outer ball


def _same_runs(w: Array, runs: int) -> None:
    if w.ndim != 2 or w.shape[0] != runs:
        raise InvalidArgumentError(
            "w",
            tuple(w.shape),
            f"points of all {runs} runs, in order: the algorithm must step a batch as a whole",
        )


@dataclass(frozen=True, eq=False)
class LocalLoss(OfAnother):
    """Loss of u = w - offset, with a regularizer: original(w) + (weight / 2) ||w - anchor||^2, a run its own."""

    original: Loss  # of w
    offsets: Array  # shape (runs, d)
    weight: float  # strong convexity that the regularizer adds, loss over length^2
    anchors: Array  # shape (runs, d)
    distance: float  # bound on ||w - anchor|| on the constraint set, for the Lipschitz constant; a length

    @property
    def _parts(self) -> tuple[Loss, float, float]:
        return self.original, self.weight * self.distance, self.weight

    @property
    def sensitivity_radius(self) -> float | None:
        """Infinite, if the original loss's is; else None: points are away from the run's own."""
        known = sensitivity_radius(self.original)
        return known if known == math.inf else None

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses, shape (runs,); arguments as for `Loss.value`, the points being u."""
        _same_runs(w, self.offsets.shape[0])
        return self.original.value(w + self.offsets, x, y) + self.regularizer(w)

    def regularizer(self, w: Array) -> Array:
        """(weight / 2) ||u + offset - anchor||^2, shape (runs,)."""
        away = w + (self.offsets - self.anchors)
        return (0.5 * self.weight) * row_sums(away * away)

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """(Sub)gradients, a new array of shape (runs, d)."""
        _same_runs(w, self.offsets.shape[0])
        here = w + self.offsets
        gradient = self.original.gradient(here, x, y)
        gradient += self.weight * (here - self.anchors)
        return gradient


@dataclass(frozen=True, eq=False)
class LocalBalls(ConstraintSet):
    """{u: ||u|| <= radius, ||u + center|| <= outer_radius}, a run with its own center; 0 is in it.

    In w = u + offset this is the part of a ball within `radius` of the run's offset; `centers` holds the offsets
    minus the ball's midpoint. All projections are closed forms.
    """

    radius: float  # a length
    outer_radius: float  # a length
    centers: Array  # shape (runs, d), norms of at most `outer_radius`

    @property
    def dimension(self) -> int:
        return int(self.centers.shape[1])

    @property
    def diameter(self) -> float:
        """Twice the smaller radius, a bound that a run whose center is near the border need not attain."""
        return 2.0 * min(self.radius, self.outer_radius)

    @property
    def largest_norm(self) -> float:
        """The smaller of the radius and the outer ball's diameter."""
        return min(self.radius, 2.0 * self.outer_radius)

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Closest points; each run's is on neither sphere, on one, or where both meet."""
        _same_runs(w, self.centers.shape[0])
        xp = namespace(w)
        in_inner = xp.all(row_sums(w * w) <= self.radius**2)
        if bool(in_inner) and bool(xp.all(self._outer_gap(w) <= 0.0)):
            return w
        inner = _shortened(w, self.radius)
        in_outer = self._outer_gap(inner) <= 0.0
        if bool(xp.all(in_outer)):
            return inner
        from_outer = _shortened(w + self.centers, self.outer_radius) - self.centers
        return self._first_inside(inner, in_outer, from_outer, w)

    def _first_inside(self, inner: Array, in_outer: Array, from_outer: Array, towards: Array) -> Array:
        """Whichever of the two is in both balls, else the point of both spheres that lies in a direction."""
        xp = namespace(towards)
        in_inner = (row_sums(from_outer * from_outer) <= self.radius**2)[:, None]
        return xp.where(in_outer[:, None], inner, xp.where(in_inner, from_outer, self._on_both(towards)))

    def _outer_gap(self, u: Array) -> Array:
        """||u + center||^2 minus the outer radius squared, with an allowance for rounding; shape (runs,)."""
        away = u + self.centers
        return row_sums(away * away) - self.outer_radius**2 * (1.0 + 2 * _ROUNDING)

    def _on_both(self, towards: Array) -> Array:
        """On both spheres: <u, c> is fixed there, and the rest of u is as long as it must be, along `towards`."""
        xp = namespace(towards)
        squared = xp.maximum(row_sums(self.centers * self.centers), xp.full_like(towards[:, 0], _TINY))
        # ||u + c||^2 = outer^2 and ||u||^2 = radius^2
        along = (self.outer_radius**2 - self.radius**2 - squared) / (2.0 * squared)
        base = along[:, None] * self.centers
        rest = towards - (row_sums(towards * self.centers) / squared)[:, None] * self.centers
        length = xp.sqrt(xp.maximum(row_sums(rest * rest), xp.full_like(squared, _TINY)))
        left = xp.sqrt(xp.maximum(self.radius**2 - row_sums(base * base), xp.zeros_like(squared)))
        return base + (left / length)[:, None] * rest

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether each point is in its run's set; one point alone is compared with all runs' sets.

        The tolerance is relative to the two radii. What `project` leaves where it is, is inside at any tolerance.
        """
        xp = namespace(w)
        away = w + like(self.centers, w)
        near = xp.sqrt(row_sums(w * w)) <= self.radius * (1.0 + tolerance)
        return near & (
            xp.sqrt(row_sums(away * away)) <= self.outer_radius * (1.0 + max(tolerance, _ROUNDING))
        )

    def gauge(self, w: Array) -> Array:
        """Gauge about 0; infinite where 0 is on the border and w points out."""
        xp = namespace(w)
        squared = row_sums(w * w)
        inner = row_sums(w * self.centers)
        room = xp.maximum(
            self.outer_radius**2 - row_sums(self.centers * self.centers), xp.zeros_like(squared)
        )
        # the largest s with ||s w + center|| <= outer radius, times ||w||^2
        reach = xp.sqrt(inner * inner + squared * room) - inner
        safe = xp.where(reach > 0.0, reach, xp.ones_like(reach))
        outer = xp.where(reach > 0.0, squared / safe, xp.full_like(reach, math.inf))
        outer = xp.where(squared > 0.0, outer, xp.zeros_like(outer))
        return xp.maximum(xp.sqrt(squared) / self.radius, outer)

    def center(self) -> npt.NDArray[np.float64]:
        return np.zeros(self.dimension)

    def minimize_linear(self, g: Array) -> Array:
        """A point of each run's set where <g, u> is smallest."""
        _same_runs(g, self.centers.shape[0])
        xp = namespace(g)
        norms = xp.sqrt(row_sums(g * g))
        unit = g / xp.where(norms > 0.0, norms, xp.ones_like(norms))[:, None]
        inner = -self.radius * unit
        in_outer = self._outer_gap(inner) <= 0.0
        return self._first_inside(inner, in_outer, -self.outer_radius * unit - self.centers, -g)

    def support(self, g: Array) -> Array:
        return row_sums(g * self.minimize_linear(-g))

    def conic_rows(self, program: ConicProgram, w: Affine) -> None:
        """Two second-order cones; for one run only."""
        require(self.centers.shape[0] == 1, "centers", tuple(self.centers.shape), "one run, for a solver")
        middle = np.asarray(self.centers)[0]
        program.second_order(program.constants(self.radius, 1), w)
        program.second_order(program.constants(self.outer_radius, 1), w + middle)


def _shortened(w: Array, radius: float) -> Array:
    """Points brought into the ball about the origin; those inside stay as they are."""
    xp = namespace(w)
    norms = xp.sqrt(row_sums(w * w))
    return w * (radius / xp.maximum(norms, xp.full_like(norms, radius)))[:, None]


@dataclass(frozen=True, eq=False)
class ResampledLoss(OfAnother):
    """A loss whose record is looked up: each run has drawn its own records, and label t stands for its t-th."""

    original: Loss
    features: Array  # of the records, shape (n, d)
    record_labels: Array  # shape (n,)
    drawn: Array  # numbers of the records that each run drew, from 0; shape (runs, m)
    prefixes: bool = (
        False  # whether fewer points than runs are those of the first runs; else they are refused
    )

    @property
    def _parts(self) -> tuple[Loss, float, float]:
        return self.original, 0.0, 0.0

    @property
    def labels(self) -> tuple[float, float]:
        """Positions of drawn records, from 0 to m - 1."""
        return (0.0, float(self.drawn.shape[1] - 1))

    def _records(self, w: Array, y: Array) -> tuple[Array, Array]:
        xp = namespace(w)
        runs = w.shape[0]
        if not (self.prefixes and runs <= self.drawn.shape[0]):
            _same_runs(w, self.drawn.shape[0])
        if y.ndim == 0:
            numbers = self.drawn[:runs, int(y)]
        else:
            places = xp.astype(y, xp.int64)
            numbers = xp.take_along_axis(self.drawn[:runs, :], places[:, None], axis=1)[:, 0]
        return xp.take(self.features, numbers, axis=0), xp.take(self.record_labels, numbers, axis=0)

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses at the runs' own records, shape (runs,); x is not used, y says which record."""
        return self.original.value(w, *self._records(w, y))

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """(Sub)gradients at the runs' own records, a new array of shape (runs, d)."""
        return self.original.gradient(w, *self._records(w, y))
