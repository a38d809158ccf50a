"""Exact samples of Gaussian-like densities on the part of a ball near each run's own center, in any dimension.

The density is exp(-V) on a lens, the points of a ball C within a radius of a center in C, where V(w) = <w, H w> / 2
+ <g, w> is convex. With g1 = (||w - c||^2 - R^2) / 2 and g2 = (||w - center||^2 - radius^2) / 2, both at most 0 on the
lens, and any tilts k1, k2 >= 0, the density exp(-V - k1 g1 - k2 g2) is a Gaussian and lies above exp(-V) on the lens.
So a point of it, accepted in the lens with probability exp(k1 g1 + k2 g2), has the law wanted. The Gaussian is cut
with one half-space that holds the lens, which loses nothing and makes up for a density that falls off steeply.

Tilts and half-space change the number of proposals, not the law. The tilts are near those at which the Gaussian has
the least mass (the exponential tilting of large deviations): in its mean it then just keeps to the lens. No run is
given up, so that no refusal depends on the records; how many proposals a run takes does. Measured over lenses of all
forms and in up to 100 dimensions, at least one in about 4 d + 40 is accepted while V varies by at most 100 on the
lens, and about as many for steeper V, unless its least value is on the edge where the two spheres meet: there it is
one in 100,000 at worst where V varies by 10,000. Localization hardly ever comes near that edge, since the released
center is farther from the minimizer than the radius with a probability of about n^-3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpverify.algorithms.samplers.restricted_gaussian import truncated_normal
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, ConstraintSet
from dpverify.problems.arrays import like, row_sums
from dpverify.running import Randomness
from dpverify.running.randomness import Array

Matrix = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_SHARES = np.linspace(1.0, 0.0, 32, endpoint=False)
"""Of the tilts that are best without a half-space: those among which the best with it are looked for.

None is 0: the Gaussian's mean would be too far from a small lens for its points to be exact in doubles.
"""
_TUNED = 1e-6
"""Relative accuracy of the tilts' sum."""
_MOST_DOUBLINGS = 2000
_MOST_BISECTIONS = 200
_LARGEST_RATIO = 1e100
"""Of the ball's radius over the radius near a center: squares of more would leave the range of doubles."""
_LARGEST_TILT = 1e12
"""Of both: at more, the rounding of a squared norm near 1 would show in the probabilities of acceptance."""


@dataclass(frozen=True, eq=False)
class LensSampler:
    """exp(-<w, H w> / 2 - <slope, w>) on the points of a ball within `radius` of each run's center, (runs, d).

    H is positive semidefinite; the slope has shape (d,), or (runs, d) for one a run.
    """

    ball: Ball
    hessian: Matrix
    slope: Matrix
    centers: Matrix
    radius: float

    def __post_init__(self) -> None:
        if not self.radius * _LARGEST_RATIO > self.ball.radius:
            raise InvalidArgumentError(
                "radius", self.radius, f"more than {self.ball.radius / _LARGEST_RATIO:g}"
            )

    @cached_property
    def _lenses(self) -> _Lenses:
        eigenvalues, axes = np.linalg.eigh(self.hessian)
        # a ball about a point of C with the diameter of C as radius holds all of C
        unit = min(self.radius, self.ball.diameter)
        slopes = (self.slope + self.centers @ self.hessian) @ axes * unit
        away = (self.centers - self.ball.center()) @ axes / unit
        return _Lenses(
            np.maximum(eigenvalues, 0.0) * unit**2, axes, slopes, away, self.ball.radius / unit, unit
        )

    @cached_property
    def _proposals(self) -> _Proposals:
        found = self._lenses.proposals()
        tilt = found.outer_tilt + found.inner_tilt
        if not (np.all(np.isfinite(found.mean)) and np.all(tilt <= _LARGEST_TILT)):
            size = (float(np.max(np.abs(self.hessian))), float(np.max(np.abs(self.slope))))
            raise InvalidArgumentError(
                "hessian and slope",
                size,
                f"a density that falls at most by a factor of about exp({_LARGEST_TILT:g}) on a lens",
            )
        return found

    def acceptance(self, rng: Randomness, count: int) -> Matrix:
        """For `count` proposals of every run, how probable it is that each is accepted: shape (count, runs)."""
        every = np.arange(self.centers.shape[0])
        drawn = [self._proposals.draw(every, self._lenses, rng)[1] for _ in range(count)]
        return np.asarray(np.exp(np.array(drawn)))

    def draw(self, rng: Randomness) -> Array:
        """One point a run, shape (runs, d)."""
        xp, lenses = rng.xp, self._lenses
        points = np.zeros_like(self.centers)
        waiting = np.arange(len(points))
        while waiting.size:
            offsets, log_accept = self._proposals.draw(waiting, lenses, rng)
            chance = np.asarray(rng.uniform((waiting.size,), "lens accepted"))
            # 1 - u is uniform on (0, 1]
            accepted = np.log1p(-chance) <= log_accept
            points[waiting[accepted]] = offsets[accepted]
            waiting = waiting[~accepted]
        found = self.centers + lenses.unit * (points @ lenses.axes.T)
        return xp.asarray(self.ball.project(found))


@dataclass(frozen=True, eq=False)
class SkewGaussian:
    """N(mean, precision^-1) restricted to a ball or all space, used as `RestrictedGaussian` is."""

    constraint: ConstraintSet
    precision: Matrix

    def __post_init__(self) -> None:
        if type(self.constraint) not in (Ball, AllSpace):
            raise InvalidArgumentError("constraint", self.constraint, "a Ball or AllSpace")

    @cached_property
    def _roots(self) -> tuple[Matrix, Matrix]:
        """Inverse and inverse root of the precision, (d, d)."""
        eigenvalues, axes = np.linalg.eigh(self.precision)
        return (axes / eigenvalues) @ axes.T, (axes / np.sqrt(eigenvalues)) @ axes.T

    def solve(self, levers: Array) -> Array:
        """The means for which precision times mean is given; (runs, d)."""
        return levers @ like(self._roots[0], levers)

    def propose(self, mean: Array, rng: Randomness) -> tuple[Array, Array]:
        """Gaussians about the means, (runs, d), and whether each is in the set, (runs,)."""
        xp = rng.xp
        drawn = rng.normal(tuple(mean.shape), "restricted Gaussian")
        points = mean + drawn @ like(self._roots[1], drawn)
        if isinstance(self.constraint, AllSpace):
            return points, xp.ones(points.shape[0], dtype=xp.bool)
        return points, self.constraint.contains(points, 0.0)

    def sample(self, mean: Array, rng: Randomness) -> Array:
        """One point of the set for each mean: both have shape (runs, d)."""
        if isinstance(self.constraint, AllSpace):
            return self.propose(mean, rng)[0]
        assert isinstance(self.constraint, Ball)
        means = np.asarray(mean)
        centers = np.zeros_like(means) + self.constraint.center()
        slopes = -means @ self.precision
        return LensSampler(self.constraint, self.precision, slopes, centers, self.constraint.radius).draw(rng)


@dataclass(frozen=True, eq=False)
class _Lenses:
    """Lenses in coordinates about their centers, along H's axes, with `unit` as the unit of length.

    In these, z is in the lens where |z|^2 <= 1 and |z|^2 + 2 <z, away> + depth <= 0, and V = <z, curvature z> / 2
    + <slopes, z> up to a constant.
    """

    curvature: Matrix
    axes: Matrix
    slopes: Matrix
    away: Matrix
    outer: float
    """The radius of C."""
    unit: float

    @cached_property
    def depth(self) -> Matrix:
        """|away|^2 - outer^2, shape (runs,), at most 0 up to rounding."""
        far = np.linalg.norm(self.away, axis=1)
        return np.asarray(np.minimum((far - self.outer) * (far + self.outer), 0.0))

    @cached_property
    def _groups(self) -> tuple[Matrix, Matrix]:
        """The distinct curvatures, (m,), and a 0-1 matrix (d, m) that says which coordinates have which."""
        distinct, of = np.unique(self.curvature, return_inverse=True)
        return distinct, np.eye(distinct.size)[of]

    def proposals(self) -> _Proposals:
        """A Gaussian for each lens."""
        with np.errstate(all="ignore"):
            total, first = self._tilts()
            precision = self.curvature + total[:, None]
            mean = -(self.slopes + first[:, None] * self.away) / precision
            normal = first[:, None] * self.away + total[:, None] * mean
            length = np.linalg.norm(normal, axis=1)
            steep = (total > 0) & (length > 0) & np.isfinite(length)
            normal = np.where(steep[:, None], normal / np.where(steep, length, 1.0)[:, None], 0.0)
            share = np.where(steep, self._best_share(total, first, normal), 1.0)
            total, first = share * total, share * first
            precision = self.curvature + total[:, None]
            mean = -(self.slopes + first[:, None] * self.away) / precision
            stddev = np.sqrt(np.sum(normal**2 / precision, axis=1))
            ends = (self._support(normal) - np.sum(normal * mean, axis=1)) / stddev
            direction = normal / precision / stddev[:, None]
        return _Proposals(
            first,
            total - first,
            mean,
            1.0 / np.sqrt(precision),
            np.where(steep[:, None], direction, 0.0),
            np.where(steep, ends, np.inf),
        )

    def _tilts(self) -> tuple[Matrix, Matrix]:
        """k1 + k2 and k1, at which the Gaussian's mass is about least; both (runs,).

        Its logarithm is convex. For a given sum it is quadratic in k1, and its least value is convex in the sum, which
        is found by bisection of the derivative.
        """
        curvature, member = self._groups
        count = np.sum(member, axis=0)
        slopes2, cross, away2 = (
            product @ member for product in (self.slopes**2, self.slopes * self.away, self.away**2)
        )

        def at(total: Matrix) -> tuple[Matrix, Matrix]:
            """The derivative in the sum, and the best k1."""
            precision = curvature + total[:, None]
            bend = np.sum(away2 / precision, axis=1)
            pull = 0.5 * (1.0 + self.depth) - np.sum(cross / precision, axis=1)
            # concentric balls: the smaller one gets it all
            unbent = np.where(pull > 0, total, 0.0)
            first = np.where(bend > 0, np.clip(pull / np.where(bend > 0, bend, 1.0), 0.0, total), unbent)
            offset2 = slopes2 + 2 * first[:, None] * cross + first[:, None] ** 2 * away2
            second_moment = np.sum(count / precision + offset2 / precision**2, axis=1)
            derivative = 0.5 * (1.0 - second_moment)
            return derivative + np.where(first >= total, np.minimum(first * bend - pull, 0.0), 0.0), first

        low, high = np.zeros(self.depth.shape), np.ones(self.depth.shape)
        none = at(low)[0] >= 0
        for _ in range(_MOST_DOUBLINGS):
            short = ~(at(high)[0] > 0)
            if not np.any(short):
                break
            low, high = np.where(short, high, low), np.where(short, 2 * high, high)
        for _ in range(_MOST_BISECTIONS):
            if np.all(none | (high - low <= _TUNED * high)):
                break
            middle = 0.5 * (low + high)
            enough = at(middle)[0] > 0
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        total = np.where(none, 0.0, high)
        return total, np.where(total > 0, at(total)[1], 0.0)

    def _best_share(self, total: Matrix, first: Matrix, normal: Matrix) -> Matrix:
        """The share of the tilts at which the Gaussian's mass in the half-space is least, (runs,)."""
        curvature, member = self._groups
        count, support = np.sum(member, axis=0), self._support(normal)
        best, least = np.ones(total.shape), np.full(total.shape, np.inf)
        for share in _SHARES:
            precision = curvature + share * total[:, None]
            pull = -(self.slopes + share * first[:, None] * self.away)
            stddev = np.sqrt(np.sum((normal**2 @ member) / precision, axis=1))
            reach = np.sum(((normal * pull) @ member) / precision, axis=1)
            log_mass = 0.5 * np.sum(
                ((pull**2) @ member) / precision - count * np.log(precision), axis=1
            ) + 0.5 * share * (total - first - first * self.depth)
            log_mass = log_mass + special.log_ndtr((support - reach) / stddev)
            better = log_mass < least
            best, least = np.where(better, share, best), np.where(better, log_mass, least)
        return best

    def _support(self, normal: Matrix) -> Matrix:
        """At least the largest <normal, z> on the lens, for unit normals; (runs,).

        It is attained where one ball's own largest is in the other ball, else where the spheres meet.
        """
        along = np.sum(normal * self.away, axis=1)
        highest = self.outer * normal - self.away
        in_inner = np.sum(highest**2, axis=1) <= 1 + 1e-9
        in_outer = 1 + 2 * along + self.depth <= 1e-9 * (1 + self.outer)
        far = np.linalg.norm(self.away, axis=1)
        safe = np.where(far > 0, far, 1.0)
        height = np.clip(-0.5 * (1 + self.depth) / safe, -1.0, 1.0)
        cosine = np.clip(along / safe, -1.0, 1.0)
        edge = height * cosine + np.sqrt((1 - height**2) * (1 - cosine**2))
        balls = np.minimum(self.outer - along, 1.0)
        found = np.where(in_inner | in_outer | (far == 0), balls, edge)
        return np.asarray(found + 1e-9 + 64 * _EPS * (self.outer + far))


@dataclass(frozen=True, eq=False)
class _Proposals:
    """Gaussians, each cut with a half-space: standard ones of which the part along `direction` ends at `ends`.

    Shapes: tilts and ends (runs,), the others (runs, d). Where there is no half-space, `ends` is infinite and the
    direction 0.
    """

    outer_tilt: Matrix
    inner_tilt: Matrix
    mean: Matrix
    stddev: Matrix
    direction: Matrix
    ends: Matrix

    def draw(self, chosen: NDArray[np.int64], lenses: _Lenses, rng: Randomness) -> tuple[Matrix, Matrix]:
        """Points for the chosen runs, and the logarithms of the probabilities with which they are accepted."""
        stddev = self.stddev[chosen]
        standard = np.asarray(rng.normal(stddev.shape, "lens"))
        ends, direction = rng.xp.asarray(self.ends[chosen]), self.direction[chosen]
        cut = np.asarray(truncated_normal(rng.xp.full_like(ends, -np.inf), ends, rng))
        # the part of the standard normal vector along the direction, which has norm 1 when divided by the stddev
        scaled = np.divide(direction, stddev, out=np.zeros_like(direction), where=direction != 0)
        along = row_sums(standard * scaled)
        points = self.mean[chosen] + stddev * standard + direction * (cut - along)[:, None]
        squared = row_sums(points**2)
        inner = 0.5 * (squared - 1.0)
        outer = 0.5 * (squared + 2 * row_sums(points * lenses.away[chosen]) + lenses.depth[chosen])
        log_accept = self.outer_tilt[chosen] * outer + self.inner_tilt[chosen] * inner
        return points, np.where((inner <= 0) & (outer <= 0), np.minimum(log_accept, 0.0), -np.inf)
