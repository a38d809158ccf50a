"""Laws that can be evaluated: finitely many points, densities on an interval, Gaussians. All numbers are Arb balls.

What is asked of a law is computed from its definition: a sum over its points, or a rigorous integral of its density.
Divergences of laws on the line are bounded from below, by one event or by a part of an integral whose integrand is
nowhere negative; this is the side from which a claim is refuted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError

Ball = Any
"""A flint.arb; python-flint's types carry no annotations."""
Number = Any
"""An int, a Fraction or a ball."""


def ball(value: Number) -> Ball:
    """A ball around a number, at the working precision."""
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return flint.arb(value)


@dataclass(frozen=True)
class FiniteLaw:
    """A law on finitely many points, whose masses are at least 0 with a sum of 1."""

    masses: Mapping[Any, Number]

    def __post_init__(self) -> None:
        if not all(ball(mass) >= 0 for mass in self.masses.values()):
            raise InvalidArgumentError("masses", dict(self.masses), "numbers of at least 0")
        if not sum(map(ball, self.masses.values()), ball(0)).contains(1):
            raise InvalidArgumentError("masses", dict(self.masses), "numbers whose sum is 1")

    @staticmethod
    def from_weights(weights: Mapping[Any, Number]) -> FiniteLaw:
        """The law with masses proportional to positive weights."""
        total = sum(map(ball, weights.values()), ball(0))
        return FiniteLaw({point: ball(weight) / total for point, weight in weights.items()})

    def mass(self, point: Hashable) -> Ball:
        """Its mass at a point."""
        return ball(self.masses.get(point, 0))

    def probability(self, event: Callable[[Any], bool]) -> Ball:
        """The mass of an event."""
        return sum((ball(m) for point, m in self.masses.items() if event(point)), ball(0))

    def mean(self, f: Callable[[Any], Number]) -> Ball:
        """The expectation of a function."""
        return sum((ball(m) * ball(f(point)) for point, m in self.masses.items()), ball(0))

    def entropy(self) -> Ball:
        """The entropy in nats; 0 log 0 is 0."""
        return sum((-ball(m) * ball(m).log() for m in self.masses.values() if not ball(m).is_zero()), ball(0))


def hockey_stick(p: FiniteLaw, q: FiniteLaw, exponential: Number) -> Number:
    """The sum of max(0, p - e^epsilon q), given e^epsilon; a fraction where all numbers are rational."""
    points = {**p.masses, **q.masses}
    numbers = (*p.masses.values(), *q.masses.values(), exponential)
    if all(isinstance(number, int | Fraction) for number in numbers):
        parts = (p.masses.get(x, 0) - exponential * q.masses.get(x, 0) for x in points)
        return sum((max(Fraction(0), Fraction(part)) for part in parts), Fraction(0))
    return sum((ball(0).max(p.mass(x) - ball(exponential) * q.mass(x)) for x in points), ball(0))


def total_variation(p: FiniteLaw, q: FiniteLaw) -> Ball:
    """The largest difference of the two masses of an event."""
    return ball(hockey_stick(p, q, 1))


def least_mass(p: FiniteLaw, q: FiniteLaw, size: Number) -> Ball:
    """The least that q has on a set on which p has `size`, points being divisible as on a space without atoms."""
    ratios = sorted(p.masses, key=lambda x: Fraction(q.masses[x]) / Fraction(p.masses[x]))
    found, left = ball(0), Fraction(size)
    for x in ratios:
        part = min(left, Fraction(p.masses[x]))
        found += ball(part) * q.mass(x) / p.mass(x)
        left -= part
    return found


@dataclass(frozen=True)
class DensityLaw:
    """A law on a bounded interval whose density is proportional to a weight, analytic where it is evaluated."""

    low: Number
    high: Number
    weight: Callable[[Any], Any]
    """From a flint.acb to a flint.acb."""

    def __post_init__(self) -> None:
        require(ball(self.low) < ball(self.high), "high", self.high, f"a number above {self.low}")

    @cached_property
    def _total(self) -> Ball:
        total = integral(self.weight, self.low, self.high)
        require(total > 0, "weight", str(total), "one with a positive integral")
        return total

    def probability(self, low: Number, high: Number) -> Ball:
        """The mass of an interval inside of its own."""
        if not (ball(self.low) <= ball(low) and ball(high) <= ball(self.high)):
            raise InvalidArgumentError("interval", (str(low), str(high)), f"inside [{self.low}, {self.high}]")
        return integral(self.weight, low, high) / self._total

    def mean(self, f: Callable[[Any], Any]) -> Ball:
        """The expectation of an analytic function."""
        return integral(lambda x: f(x) * self.weight(x), self.low, self.high) / self._total


class _OnTheLine(ABC):
    """A law on the line, of which half lines are known."""

    @abstractmethod
    def above(self, threshold: Number) -> Ball:
        """The mass of a half line, from the threshold up."""

    def between(self, low: Number, high: Number) -> Ball:
        """The mass of an interval."""
        return self.above(low) - self.above(high)


@dataclass(frozen=True)
class Gaussian(_OnTheLine):
    """The normal law on the line; in d dimensions, what its covariance sigma^2 I leaves along one direction."""

    mean: Number
    stddev: Number

    def __post_init__(self) -> None:
        require(ball(self.stddev) > 0, "stddev", self.stddev, "a number above 0")

    def above(self, threshold: Number) -> Ball:
        """The mass of a half line, from the threshold up."""
        z = (ball(threshold) - ball(self.mean)) / ball(self.stddev)
        return (z / ball(2).sqrt()).erfc() / 2

    def density(self, x: Any) -> Any:
        """The density, at complex points too."""
        z = (x - ball(self.mean)) / ball(self.stddev)
        return (-z * z / 2).exp() / (ball(self.stddev) * (2 * flint.arb.pi()).sqrt())


@dataclass(frozen=True)
class Laplace(_OnTheLine):
    """The law on the line with density proportional to exp(-|x - mean|/scale)."""

    mean: Number
    scale: Number

    def __post_init__(self) -> None:
        require(ball(self.scale) > 0, "scale", self.scale, "a number above 0")

    def above(self, threshold: Number) -> Ball:
        """The mass of a half line, from the threshold up; the threshold must not straddle the mean."""
        z = (ball(threshold) - ball(self.mean)) / ball(self.scale)
        return (-z).exp() / 2 if z >= 0 else 1 - z.exp() / 2


@dataclass(frozen=True)
class GaussianOnBall:
    """N(m e, s^2 I) in d >= 2 dimensions, projected to the ball of radius R around 0; e is a unit vector."""

    mean: Number
    stddev: Number
    radius: Number
    dimension: int
    cells: int = 64

    def __post_init__(self) -> None:
        require(self.dimension >= 2, "dimension", self.dimension, "at least 2")

    def above(self, slope: Number) -> Ball:
        """The mass of the half space where the part along e is at least R k/sqrt(1 + k^2), given k.

        The length r across e does not depend on the part v along it, and the point is in the half space just where v
        is at least max(R k/sqrt(1 + k^2), k r). The lengths are cut into cells, of each of which the mass is known.
        """
        k, s, d = ball(slope), ball(self.stddev), self.dimension
        least = ball(self.radius) * k / (1 + k * k).sqrt()
        along = Gaussian(self.mean, self.stddev)
        middle = s * ball(d - 1).sqrt()
        ends = [
            middle * (1 + (ball(2 * i) / self.cells - 1) * 10 / ball(2 * d).sqrt())
            for i in range(self.cells + 1)
        ]
        below = [ball(0), *(self._shorter(end) for end in ends), ball(1)]
        marks = [ball(0), *ends]
        total = ball(0)
        for i, low in enumerate(marks):
            most = along.above(least.max(k * low))
            fewest = along.above(least.max(k * marks[i + 1])) if i + 1 < len(marks) else ball(0)
            total += (below[i + 1] - below[i]) * fewest.union(most)
        return total

    def _shorter(self, length: Ball) -> Ball:
        """The probability that the part across e is shorter."""
        x = (length / ball(self.stddev)) ** 2 / 2
        return 1 - x.gamma_upper(ball(self.dimension - 1) / 2, regularized=1)


def renyi_from_below(p: Gaussian, q: Gaussian, order: Number, low: Number, high: Number) -> Ball:
    """A lower bound on the Renyi divergence of an order above 1 in nats, from its integral over a part of the line."""
    a = ball(order)
    require(a > 1, "order", order, "a number above 1")

    def integrand(x: Any) -> Any:  # both logarithms of densities are polynomials, so powers need no branch
        u, v = ((x - ball(g.mean)) / ball(g.stddev) for g in (p, q))
        scale = ball(p.stddev) ** (-a) * ball(q.stddev) ** (a - 1)
        return (-(a * u * u + (1 - a) * v * v) / 2).exp() * scale / (2 * flint.arb.pi()).sqrt()

    return integral(integrand, low, high).log() / (a - 1)


def kullback_leibler_from_below(p: Gaussian, q: Gaussian, low: Number, high: Number) -> Ball:
    """A lower bound on the Kullback-Leibler divergence in nats: p log(p/q) - p + q is nowhere negative."""

    def integrand(x: Any) -> Any:
        u, v = ((x - ball(g.mean)) / ball(g.stddev) for g in (p, q))
        log_ratio = (v * v - u * u) / 2 + (ball(q.stddev) / ball(p.stddev)).log()
        return p.density(x) * (log_ratio - 1) + q.density(x)

    return integral(integrand, low, high)


def integral(f: Callable[[Any], Any], low: Number, high: Number) -> Ball:
    """The integral of an analytic function over an interval, enclosed."""
    found = flint.acb.integral(lambda x, _: f(x), flint.acb(ball(low)), flint.acb(ball(high))).real
    require(found.is_finite(), "integrand", str(found), "a function that is analytic around the interval")
    return found
