"""Laws on a disc: nodes on rings, so that the projection changes a distance from the center alone.

The mass of a node is an integral of a smooth density times a hat: a product of one in the distance and one in the
angle.

Given a node, the state may lie anywhere in its cells. How far the likelihood ratio of two laws changes there follows
from its gradient at the node and from a bound on the second derivatives of its logarithm: of a sum of Gaussians with
centers at most r from the disc's, that logarithm has second derivatives between -1 / s^2 and r^2 / s^4 - 1 / s^2. For
the upper bound a node is taken apart into two, on which the ratio is as small and as large as that allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpverify.auditing.exact.chains import PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import REACH, Rounding
from dpverify.auditing.exact.grids import PolarGrid, Rings, check_steepest
from dpverify.auditing.exact.meshes import Mesh, Noised, Spread
from dpverify.auditing.exact.polar_noise import RingNoise
from dpverify.auditing.exact.sides import Rule, RuleBuilder, on_interval
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError

_UNIT = 2.0**-53
_PER_NODE = 1e-13
"""Of the largest mass of a node: what any node's may be off by in floats. Sums of products of a few hundred numbers,
with interpolation matrices whose rows sum to a few units in absolute value."""
_SLOPE = 1e-11
"""Of the largest density over the noise's standard deviation: what a derivative may be off by in floats."""
_UNSEEN = 1e-10
"""Of the largest density: where it is lower, the ratio of two laws is taken to say everything."""
_POINTS_AT_ONCE = 1 << 13


class DiscMesh(Mesh[PolarGrid, Rings]):
    """The nodes of a `PolarGrid`."""

    redrawn = False

    def __init__(self, grid: PolarGrid) -> None:
        super().__init__(grid)
        self._noises: dict[tuple[Rings, float], RingNoise] = {}
        self._released_with: tuple[float, float] | None = None

    def layout(self, images: Sequence[FloatArray], stddev: float) -> Rings:
        """Rings out to the farthest image; refuses images farther away than the maps' constants allow."""
        center = np.asarray(self.grid.center)
        largest = max(float(np.linalg.norm(one - center, axis=1).max(initial=0.0)) for one in images)
        if largest > self.grid.reach:
            raise InvalidArgumentError(
                "lipschitz_constant",
                largest,
                f"constants by which images lie within {self.grid.reach:.6g} of the center; one lies that far",
            )
        cells = max(math.ceil(largest / self.grid.ring), 1)
        return Rings(self.grid, cells)

    def spread(self, points: FloatArray, layout: Rings) -> Spread:
        """Round points to a layout, in distance and in angle."""
        grid = self.grid
        apart = points - np.asarray(grid.center)
        out = np.clip(np.hypot(apart[:, 0], apart[:, 1]) / grid.ring, 0.0, layout.cells)
        around = np.mod(np.arctan2(apart[:, 1], apart[:, 0]) / grid.turn, grid.turns)
        inner = np.minimum(np.floor(out), layout.cells - 1).astype(np.int64)
        first = np.floor(around).astype(np.int64)
        far, late = out - inner, around - first
        places = [((inner + a) * grid.turns + (first + b) % grid.turns) for a in (0, 1) for b in (0, 1)]
        weights = [(far if a else 1 - far) * (late if b else 1 - late) for a in (0, 1) for b in (0, 1)]
        return Spread(np.stack(places), np.stack(weights))

    def noise(self, layout: Rings, stddev: float) -> RingNoise:
        """Kept for steps that come again."""
        if (layout, stddev) not in self._noises:
            if len(self._noises) >= 8:
                self._noises.clear()
            self._noises[layout, stddev] = RingNoise(layout, stddev)
        return self._noises[layout, stddev]

    def noised(self, moved: FloatArray, layout: Rings, stddev: float) -> DiscLaws:
        return DiscLaws(self, moved, layout, stddev)

    @property
    def corners(self) -> FloatArray:
        return np.empty((0, 2))

    def ends(self, one: PiecewiseMap) -> tuple[float, float]:
        middle, length = self._frame(one)[:2]
        return middle - length * self.grid.radius, middle + length * self.grid.radius

    def _frame(self, one: PiecewiseMap) -> tuple[float, float, float]:
        """A map's value at the center, how fast it grows, and at which angle."""
        x, y = one.normal
        return float(one.values(np.array([self.grid.center]))[0]), math.hypot(x, y), math.atan2(y, x)

    def _cut(self, builder: RuleBuilder, one: PiecewiseMap) -> None:
        middle, length, angle = self._frame(one)
        levels = [(jump - middle) / length for jump in one.jumps]
        self._cut_cells(builder, levels, angle)
        self._cut_circle(builder, levels, angle)

    def _crossings(self, levels: list[float], radius: float, angle: float) -> list[float]:
        """Angles in [0, 2 pi) at which a circle meets a jump."""
        found = [math.acos(level / radius) for level in levels if abs(level) < radius]
        return [(angle + sign * one) % (2 * math.pi) for one in found for sign in (-1, 1)]

    def _cut_cells(self, builder: RuleBuilder, levels: list[float], angle: float) -> None:
        grid = self.grid
        radii, turns = grid.radii, grid.turns
        begins = grid.angles
        least, most = _cosines(begins, grid.turn, angle)
        inner, outer = radii[:-1, None], radii[1:, None]
        low = np.minimum(inner * least, outer * least)
        high = np.maximum(inner * most, outer * most)
        first, last = np.searchsorted(levels, low, "left"), np.searchsorted(levels, high, "right")
        jumps = [-math.inf, *levels, math.inf]
        for i, j in zip(*np.nonzero(first != last), strict=True):
            corners = [int((i + a) * turns + (j + b) % turns) for a in (0, 1) for b in (0, 1)]
            begin, end = float(begins[j]), float(begins[j] + grid.turn)
            crossings = [
                at + lap
                for radius in (radii[i], radii[i + 1])
                for at in self._crossings(levels, float(radius), angle)
                for lap in (0.0, 2 * math.pi)
            ]
            breaks = np.unique(np.clip([begin, end, *crossings], begin, end))
            for side in range(int(first[i, j]), int(last[i, j]) + 1):
                points, weights = self._part(
                    breaks, (float(radii[i]), float(radii[i + 1])), jumps[side : side + 2], angle
                )
                far = (points[:, 0] - radii[i]) / grid.ring
                late = (points[:, 1] - begin) / grid.turn
                hats = np.stack(
                    [(far if a else 1 - far) * (late if b else 1 - late) for a in (0, 1) for b in (0, 1)]
                )
                builder.add(side, corners, points, hats * weights, (0, 0))

    @staticmethod
    def _part(
        breaks: FloatArray, radii: tuple[float, float], jumps: list[float], angle: float
    ) -> tuple[FloatArray, FloatArray]:
        """Gauss's rule in a cell between two jumps: points (distance, angle), and weights with the distance."""
        points, weights = [np.empty((0, 2))], [np.empty(0)]
        for begin, end in pairwise(breaks):
            for at, weight in zip(*on_interval(begin, end), strict=True):
                cosine = math.cos(at - angle)
                if cosine == 0:
                    ends = radii if jumps[0] <= 0 < jumps[1] else (0.0, 0.0)
                else:
                    ends = tuple(sorted(jump / cosine for jump in jumps))  # type: ignore[assignment]
                out, along = on_interval(max(radii[0], ends[0]), min(radii[1], ends[1]))
                points.append(np.stack([out, np.full(len(out), at)], axis=1))
                weights.append(weight * along * out)
        return np.concatenate(points), np.concatenate(weights)

    def _cut_circle(self, builder: RuleBuilder, levels: list[float], angle: float) -> None:
        """States that the projection takes to the circle."""
        grid = self.grid
        for j in {int(at / grid.turn) % grid.turns for at in self._crossings(levels, grid.radius, angle)}:
            corners = [grid.cells * grid.turns + (j + b) % grid.turns for b in (0, 1)]
            begin, end = j * grid.turn, (j + 1) * grid.turn
            breaks = np.unique(
                np.clip([begin, end, *self._crossings(levels, grid.radius, angle)], begin, end)
            )
            for left, right in pairwise(breaks):
                at, weights = on_interval(left, right)
                side = int(np.searchsorted(levels, grid.radius * math.cos((left + right) / 2 - angle)))
                late = (at - begin) / grid.turn
                points = np.stack([np.full(len(at), grid.radius), at], axis=1)
                builder.add(side, corners, points, np.stack([1 - late, late]) * weights, (1, 0))

    def check(self, step: StepMap, images: FloatArray) -> None:
        grid = self.grid
        reached = images.reshape(*grid.shape, 2)
        largest = float(np.abs(images).max()) + max(map(abs, grid.center)) + grid.radius
        check_steepest(step, np.diff(reached, axis=0), grid.ring, largest)
        chords = 2 * grid.radii[1:, None] * math.sin(grid.turn / 2)
        around = np.roll(reached[1:], -1, axis=1) - reached[1:]
        check_steepest(step, around / chords[..., None] * grid.ring, grid.ring, largest)

    def rounding(self, maps: Sequence[StepMap], stddev: float) -> Rounding:
        """The distance keeps its mean, the angle too; so a point is pulled to the center, by second order in the cell's
        size, and a map is off as far as it bends in a cell.
        """
        grid, h = self.grid, self.spacing
        pulled = h * grid.turn * (1 / 8 + grid.turn / 24)
        largest = max(map(abs, grid.center)) + grid.reach
        away = 0.0
        for one in maps:
            spread = one.lipschitz_constant
            assert one.bend is not None
            bent = min(
                one.bend * h * math.sqrt(2) / 2 + (spread + one.bend) * pulled,
                one.curvature * h**2 / 4 + spread * pulled,
            )
            away = max(away, bent + pulled + 32 * _UNIT * (1 + spread) * (largest + h))
        lipschitz = max(one.lipschitz_constant for one in maps)
        return Rounding.of_step(
            h / stddev, lipschitz, away / stddev, 2, turn=grid.turn, pulled=pulled / stddev
        )

    def released_with(self, radius: float, stddev: float) -> None:
        """Keep what bounds the likelihood ratio in a cell; refuses ends after steps with different noise."""
        if self._released_with is not None:
            if stddev != self._released_with[1]:
                raise InvalidArgumentError(
                    "noise_stddev",
                    stddev,
                    f"{self._released_with[1]!r} in every step after which a run may end",
                )
            radius = max(radius, self._released_with[0])
        self._released_with = radius, stddev

    def coarser(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nodes inside, and those on the circle."""
        count = self.grid.size + self.grid.turns
        return left[:count], right[:count]

    def finer(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each node taken apart into two, as far as the ratio may change in its cells."""
        assert self._released_with is not None
        reach, stddev = self._released_with
        grid = self.grid
        p, q = (_Released.of(one, grid) for one in (left, right))
        slopes = [a - b for a, b in zip(p.slopes(), q.slopes(), strict=True)]
        unsure = sum(_unsure(one.density, 4 * _SLOPE / stddev) for one in (p, q))
        steep = np.hypot(slopes[0], slopes[1]) + unsure
        bend = (reach / stddev**2) ** 2
        # at the center the ring around it serves
        steep[0] = steep[1] + bend * 2 * grid.ring
        reaches = np.hypot(grid.ring, (grid.radii + grid.ring) * grid.turn)[:, None]
        inside = 2 * (steep * reaches + bend * reaches**2 / 2)
        slope = p.slope_around() - q.slope_around()
        unsure_circle = sum(_unsure(one.on_circle, 100 * _SLOPE) for one in (p, q))
        bend = _bend_of_circle(grid.radius, reach, stddev)
        circle = 2 * ((np.abs(slope) + unsure_circle) * grid.turn + bend * grid.turn**2 / 2)
        widths = np.concatenate([inside.ravel(), circle])
        unseen = ~np.isfinite(widths)
        widths[unseen] = 0.0
        masses = [np.concatenate([one.inside.ravel(), one.circle]) for one in (p, q)]
        more = 1 / (1 + np.exp(-widths))
        split = [
            np.concatenate([mass * share, mass * (1 - share)])
            for mass, share in zip(masses, (more, 1 - more), strict=True)
        ]
        # where the ratio is unknown, it says everything
        split[0][len(widths) :][unseen] = 0.0
        split[0][: len(widths)][unseen] = masses[0][unseen]
        split[1][: len(widths)][unseen] = 0.0
        split[1][len(widths) :][unseen] = masses[1][unseen]
        return split[0], split[1]


def _cosines(begins: FloatArray, turn: float, angle: float) -> tuple[FloatArray, FloatArray]:
    """Least and largest cosine of the angle from a direction, on arcs."""
    ends = np.stack([np.cos(begins - angle), np.cos(begins + turn - angle)])
    least, most = ends.min(axis=0), ends.max(axis=0)
    # the arc holds the direction itself, or the opposite one
    most[np.mod(angle - begins, 2 * math.pi) <= turn] = 1.0
    least[np.mod(angle + math.pi - begins, 2 * math.pi) <= turn] = -1.0
    return least, most


def _bend_of_circle(radius: float, reach: float, stddev: float) -> float:
    """Bound on the second derivative, in the angle, of the logarithm of a likelihood ratio on the circle.

    The mass beyond the circle in a direction e is the integral of r exp(-|r e - u|^2 / 2 s^2). Its logarithm has the
    second derivative Var(r <e', u>) / s^4 - E r <e, u> / s^2, e' being the direction of the circle, for r and u drawn
    with these weights; r is largest for <e, u> as large as it can be.
    """
    nodes, weights = np.polynomial.legendre.leggauss(200)
    end = max(radius, reach) + REACH * stddev
    r = radius + (end - radius) * (nodes + 1) / 2
    density = weights * r * np.exp(-((r - reach) ** 2) / (2 * stddev**2))
    square = float(density @ r**2 / density.sum()) * (1 + 1e-6)
    return reach**2 * square / stddev**4 + 2 * reach * math.sqrt(square) / stddev**2


@dataclass(frozen=True)
class _Released:
    """What is released on a disc: masses, densities and their derivatives at the nodes, and the same on the circle."""

    inside: FloatArray
    circle: FloatArray
    density: FloatArray
    outward: FloatArray
    sideward: FloatArray
    on_circle: FloatArray
    around: FloatArray

    @classmethod
    def of(cls, numbers: FloatArray, grid: PolarGrid) -> _Released:
        size, turns = grid.size, grid.turns
        parts = np.split(numbers, np.cumsum([size, turns, size, size, size, turns]))
        flat = {0, 2, 3, 4}
        return cls(*(part.reshape(grid.shape) if place in flat else part for place, part in enumerate(parts)))

    def slopes(self) -> tuple[FloatArray, FloatArray]:
        """Gradient of the logarithm of the density, outward and sideward; nothing where the density is unseen."""
        seen = np.maximum(self.density, _UNSEEN * self.density.max())
        return self.outward / seen, self.sideward / seen

    def slope_around(self) -> FloatArray:
        """Derivative of the logarithm of the mass on the circle, by the angle."""
        return np.asarray(self.around / np.maximum(self.on_circle, _UNSEEN * self.on_circle.max()))


def _unsure(density: FloatArray, off: float) -> FloatArray:
    """How far off each slope of a density's logarithm is, and the density's own error; infinite where it is unseen."""
    largest = density.max()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(density > _UNSEEN * largest, off * largest / density, math.inf)


class DiscLaws(Noised):
    """From masses on a layout, shape (rows, places)."""

    def __init__(self, mesh: DiscMesh, moved: FloatArray, layout: Rings, stddev: float) -> None:
        grid, rows = mesh.grid, len(moved)
        self._mesh, self._layout, self._stddev = mesh, layout, stddev
        self._noise = noise = mesh.noise(layout, stddev)
        self._found = noise.coefficients(moved.reshape(rows, layout.cells + 1, grid.turns))
        hats = grid.turn * np.sinc(noise.orders * grid.turn / (2 * math.pi)) ** 2
        self._inside = np.maximum(noise.rings(noise.hats, hats, self._found), 0.0)
        self._circle = np.maximum(noise.rings(noise.beyond[None, :], hats, self._found)[:, 0], 0.0)
        states = self._inside.copy()
        states[:, -1] += self._circle
        self.states = states.reshape(rows, -1)
        self.lost = _PER_NODE * grid.size * self.states.max(axis=1) + 2 * math.exp(-(REACH**2) / 2)

    @cached_property
    def released(self) -> FloatArray:  # type: ignore[override]
        """See `_Released`."""
        grid, noise, found = self._mesh.grid, self._noise, self._found
        self._mesh.released_with(self._layout.radius, self._stddev)
        at = noise.there.at(grid.radii)
        ones, turned = np.ones(noise.order + 1), 1j * noise.orders
        # at the center, where there is no direction, the next ring's slope serves
        inverse = 1 / np.maximum(grid.radii, grid.ring)
        parts = (
            self._inside,
            self._circle,
            noise.rings(at, ones, found),
            noise.rings(at @ noise.there.derivatives, ones, found),
            noise.rings(at * inverse[:, None], turned, found),
            noise.rings(noise.beyond[None, :], ones, found),
            noise.rings(noise.beyond[None, :], turned, found),
        )
        return np.concatenate([part.reshape(len(self.states), -1) for part in parts], axis=1)

    def densities(self, rule: Rule) -> FloatArray:
        count = len(rule.points)
        values = np.empty((len(self.states), count))
        on_circle = rule.beyond[:, 0] != 0
        for row, found in enumerate(self._found):
            for begin in range(0, count, _POINTS_AT_ONCE):
                part = slice(begin, min(begin + _POINTS_AT_ONCE, count))
                values[row, part] = self._noise.at(rule.points[part], found)
            values[row, on_circle] = self._noise.around(rule.points[on_circle, 1], found)
        return values
