"""Losses on an interval, in exact pieces, of which every constant can be checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError


@dataclass(frozen=True)
class PiecewiseQuadratic:
    """A function that is a x^2 + b x + c on each of the intervals between breaks, with (a, b, c) as pieces."""

    breaks: tuple[Fraction, ...]
    pieces: tuple[tuple[Fraction, Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        if len(self.breaks) != len(self.pieces) + 1 or not self.pieces:
            raise InvalidArgumentError("pieces", len(self.pieces), f"{len(self.breaks) - 1}, at least one")
        if any(high <= low for low, high in pairwise(self.breaks)):
            raise InvalidArgumentError("breaks", self.breaks, "numbers that grow")

    @staticmethod
    def linear(low: Fraction | int, high: Fraction | int, slope: Fraction | int) -> PiecewiseQuadratic:
        """The function slope * x on an interval."""
        return PiecewiseQuadratic(
            (Fraction(low), Fraction(high)), ((Fraction(0), Fraction(slope), Fraction(0)),)
        )

    def plus(self, other: PiecewiseQuadratic, factor: Fraction | int = 1) -> PiecewiseQuadratic:
        """Its sum with a multiple of another function on the same interval."""
        if (self.breaks[0], self.breaks[-1]) != (other.breaks[0], other.breaks[-1]):
            raise InvalidArgumentError(
                "other", other.breaks, f"a function on {self.breaks[0]}, {self.breaks[-1]}"
            )
        breaks = tuple(sorted({*self.breaks, *other.breaks}))
        middles = [(low + high) / 2 for low, high in pairwise(breaks)]
        pieces = (zip(self._piece(m), other._piece(m), strict=True) for m in middles)
        return PiecewiseQuadratic(breaks, tuple(tuple(x + factor * y for x, y in p) for p in pieces))  # type: ignore[misc]

    def _piece(self, x: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        return next(p for p, high in zip(self.pieces, self.breaks[1:], strict=True) if x <= high)

    def __call__(self, x: Fraction | int) -> Fraction:
        """The value at a point of its interval."""
        x = Fraction(x)
        if not self.breaks[0] <= x <= self.breaks[-1]:
            raise InvalidArgumentError("x", x, f"a point of [{self.breaks[0]}, {self.breaks[-1]}]")
        a, b, c = self._piece(x)
        return a * x * x + b * x + c

    def _at_ends(self, order: int) -> Iterator[tuple[Fraction, Fraction]]:
        """The derivative of an order at both ends of every piece, from inside."""
        for (a, b, c), low, high in zip(self.pieces, self.breaks, self.breaks[1:], strict=False):
            yield tuple((a * x * x + b * x + c, 2 * a * x + b, 2 * a)[order] for x in (low, high))  # type: ignore[misc]

    def continuous(self, order: int = 0) -> bool:
        """Whether the derivative of an order from 0 to 2 is continuous, and those below it are."""
        return not any(left != right for k in range(order + 1) for left, right in self.jumps(k))

    def jumps(self, order: int) -> tuple[tuple[Fraction, Fraction], ...]:
        """The derivative of an order left and right of every inner break where the two differ."""
        ends = list(self._at_ends(order))
        sides = ((one[1], other[0]) for one, other in pairwise(ends))
        return tuple((left, right) for left, right in sides if left != right)

    @property
    def convex(self) -> bool:
        """Whether it is."""
        slopes = [slope for ends in self._at_ends(1) for slope in ends]
        return self.continuous() and slopes == sorted(slopes)

    @property
    def lipschitz_constant(self) -> Fraction:
        """The largest absolute slope of a continuous function."""
        if not self.continuous():
            raise InvalidArgumentError("loss", self.jumps(0), "a continuous function")
        return max(abs(slope) for ends in self._at_ends(1) for slope in ends)

    @property
    def smoothness(self) -> Fraction | None:
        """The Lipschitz constant of the slope; None where the slope jumps."""
        return max(abs(2 * a) for a, _, _ in self.pieces) if self.continuous(1) else None

    @property
    def strong_convexity(self) -> Fraction:
        """The largest m for which it less m x^2 / 2 is convex; 0 where it is not convex."""
        return min(2 * a for a, _, _ in self.pieces) if self.convex else Fraction(0)

    def slope(self, x: Fraction | int) -> Fraction:
        """The slope at a point where it has one; from the left at a break."""
        a, b, _ = self._piece(Fraction(x))
        return 2 * a * Fraction(x) + b

    @property
    def minimum(self) -> Fraction:
        """The least value of a convex function."""
        require(self.convex, "loss", self, "a convex function")
        inner = [-b / (2 * a) for a, b, _ in self.pieces if a]
        points = [*self.breaks, *(x for x in inner if self.breaks[0] <= x <= self.breaks[-1])]
        return min(map(self, points))
