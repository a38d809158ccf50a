"""Laplace noise for contractive noisy iterations, as a user's own law of noise would be written."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpverify.algorithms.parameters import Positive, check_parameters
from dpverify.problems.arrays import Array
from dpverify.running import Randomness


@dataclass(frozen=True)
class LaplaceNoise:
    """Independent Laplace coordinates of the given scale, in the l1 norm.

    A shift along one coordinate is the worst, since the divergence is convex in the length of a coordinate's
    shift.
    """

    scale: Positive

    def __post_init__(self) -> None:
        check_parameters(self)

    def draw(self, rng: Randomness, shape: tuple[int, ...]) -> Array:
        """Independent Laplace numbers, as differences of two exponential ones."""
        xp = rng.xp
        first = xp.log1p(-rng.uniform(shape, "noise"))
        return self.scale * (xp.log1p(-rng.uniform(shape, "noise")) - first)

    def magnitude(self, order: float, shift: float) -> float:
        """Nats: ln(a e^((a-1) r) / (2a-1) + (a-1) e^(-a r) / (2a-1)) / (a-1), a = order, r = shift/scale.

        Mironov, Renyi differential privacy (2017), Table II.
        """
        r = shift / self.scale
        if order == 1:
            return r + math.expm1(-r)
        # the first exponential leads; it is taken out of the logarithm
        second = (order - 1) / order * math.exp(-(2 * order - 1) * r)
        rest = math.log1p(second) + math.log(order / (2 * order - 1))
        return max(0.0, r + rest / (order - 1))
