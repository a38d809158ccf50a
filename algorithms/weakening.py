"""Deliberately weaker versions of algorithms, to find out what an audit is able to see.

Noise is divided where it is drawn and exponents are multiplied where they are set, so that everything else (queries,
step sizes, radii) is what it is in the algorithm itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.contract import Algorithm, Guarantees
from dpverify.checks import number
from dpverify.errors import InvalidArgumentError
from dpverify.running import Output, Randomness, StatedStructure
from dpverify.running.randomness import Array

_NOISE = frozenset({"noise", "noise norm", "output noise", "hiding noise norm"})
"""Names under which algorithms draw what hides a record: numbers that are multiplied by a scale."""

_PICK = frozenset({"selection"})
"""Names under which standard exponential numbers race for the pick of an exponential mechanism."""


NOISE = "noise divided by"
EXPONENT = "exponent times"
BOTH = "noise divided by, and the exponent times,"
"""What a weaker version has changed."""


class QuietRandomness(Randomness):
    """The draws of another stream, with noise divided by a factor.

    Normal and Gamma numbers are divided. A uniform number u that becomes Laplace noise through ln(1 - u), and an
    exponential number that enters a race through its logarithm, are changed so that the logarithm is divided. Draws
    of other names are the stream's own.

    Args:
        stream: where the numbers come from; counts are its own.
        factor: above 1.
    """

    def __init__(self, stream: Randomness, factor: float) -> None:
        self._generator = stream.generator
        self._foreign = stream.xp is not np
        self.xp = stream.xp
        self.counts = stream.counts
        self._factor = factor

    def normal(self, shape: tuple[int, ...], name: str, *, out: NDArray[np.float64] | None = None) -> Array:
        """Normal numbers, with standard deviation 1 / factor where they are noise."""
        drawn = super().normal(shape, name, out=out)
        if name in _NOISE:
            drawn /= self._factor
        return drawn

    def uniform(self, shape: tuple[int, ...], name: str) -> Array:
        """Uniform numbers; where they are noise, ln(1 - u) is divided by the factor."""
        drawn = super().uniform(shape, name)
        return -self.xp.expm1(self.xp.log1p(-drawn) / self._factor) if name in _NOISE else drawn

    def gamma(self, shape_parameter: float, shape: tuple[int, ...], name: str) -> Array:
        """Gamma numbers, with scale 1 / factor where they are noise; in a race the factor-th root of them."""
        drawn = super().gamma(shape_parameter, shape, name)
        if name in _PICK:
            return drawn ** (1 / self._factor)
        return drawn / self._factor if name in _NOISE else drawn


@dataclass(frozen=True)
class Weakened:
    """An algorithm with its noise divided by a factor, its exponent times the factor, and no guarantee.

    It is no algorithm that anything could be built on: it has neither a problem nor an epsilon, and no wrapper takes
    it. Samplers and exponential mechanisms set their exponents in `sharpened`.

    Attributes:
        algorithm: what is weakened; it states its guarantees, and this does not.
        factor: above 1.

    Raises:
        InvalidArgumentError: if the factor is not above 1, or the algorithm has neither noise nor an exponent.
    """

    algorithm: Weakenable
    factor: float

    def __post_init__(self) -> None:
        number("factor", self.factor, above=1, allowed="a finite number above 1")
        if not isinstance(self.algorithm, Weakenable):
            raise InvalidArgumentError("algorithm", self.algorithm, "an algorithm that can be weakened")

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why there is no guarantee."""
        return (f"it was weakened on purpose, by a factor {self.factor:g}",)

    def guarantees(self, n: int) -> Guarantees:
        """None."""
        return Guarantees()

    def guarantee_at(self, n: int, index: int) -> None:
        """None."""

    def structure(self, data: Any) -> StatedStructure | None:
        """That of the algorithm, with a factor-th of the noise."""
        stated: StatedStructure | None = self._sharpened(data).structure(data)
        return None if stated is None else stated.quieter(self.factor)

    def _sharpened(self, data: Any) -> Any:
        return self.algorithm.sharpened(int(getattr(data, "n", 1)), self.factor)

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Run like the algorithm, from the same draws."""
        sharpened = self._sharpened(data)
        output: Output = sharpened(data, rng=QuietRandomness(rng, self.factor), runs=runs)
        return output


class Weakenable(Algorithm):
    """An algorithm that has a deliberately weaker version."""

    def weakened(self, factor: float) -> Weakened:
        """The same algorithm with a factor-th of its noise, or with its exponent times the factor; no guarantee.

        Args:
            factor: above 1.

        Raises:
            InvalidArgumentError: if it is not.
        """
        return Weakened(self, factor)

    @property
    def fault(self) -> str:
        """What its weaker version has changed, before the factor."""
        return NOISE if type(self).sharpened is Weakenable.sharpened else EXPONENT

    def sharpened(self, n: int, factor: float) -> Any:
        """The algorithm with its exponents for n records multiplied by the factor; itself where it only adds noise."""
        return self


def sharpened(algorithm: Any, n: int, factor: float) -> Any:
    """What a wrapper weakens: the algorithm inside with its exponents multiplied, itself where it has none."""
    return algorithm.sharpened(n, factor) if isinstance(algorithm, Weakenable) else algorithm
