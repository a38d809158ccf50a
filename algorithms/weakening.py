"""Deliberately weaker versions of algorithms, which show what an audit detects.

Noise is divided when it is drawn and exponents are multiplied when they are set, so that everything else (queries,
step sizes, radii) stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.contract import Algorithm, Guarantees
from dpverify.checks import number, of_kind
from dpverify.running import Output, Randomness, StatedStructure
from dpverify.running.randomness import Array

_NOISE = frozenset({"noise", "noise norm", "output noise", "hiding noise norm"})
"""Names under which algorithms draw the noise that hides a record: numbers that are multiplied by a scale."""

_PICK = frozenset({"selection"})
"""Names under which standard exponential numbers race for the pick of an exponential mechanism."""


NOISE = "noise divided by"
EXPONENT = "exponent times"
BOTH = "noise divided by, and the exponent times,"
"""What a weaker version changes."""


class QuietRandomness(Randomness):
    """The draws of another stream, with noise divided by a factor.

    Normal and Gamma numbers are divided. A uniform number u that becomes Laplace noise through ln(1 - u), and an
    exponential number that enters a race through its logarithm, are changed so that the logarithm is divided. Draws
    with other names do not change. Counts are shared with the other stream.
    """

    def __init__(self, stream: Randomness, factor: float) -> None:
        vars(self).update(vars(stream))
        self.device = None if stream.device is None else stream.device.quieter(factor)
        self._factor = factor

    def normal(self, shape: tuple[int, ...], name: str, *, out: NDArray[np.float64] | None = None) -> Array:
        """Normal numbers, with standard deviation 1 / factor if they are noise."""
        drawn = super().normal(shape, name, out=out)
        if name in _NOISE:
            drawn /= self._factor
        return drawn

    def uniform(self, shape: tuple[int, ...], name: str) -> Array:
        """Uniform numbers; for noise, ln(1 - u) is divided by the factor."""
        drawn = super().uniform(shape, name)
        return -self.xp.expm1(self.xp.log1p(-drawn) / self._factor) if name in _NOISE else drawn

    def gamma(self, shape_parameter: float, shape: tuple[int, ...], name: str) -> Array:
        """Gamma numbers, with scale 1 / factor if they are noise; in a race, their factor-th roots."""
        drawn = super().gamma(shape_parameter, shape, name)
        if name in _PICK:
            return drawn ** (1 / self._factor)
        return drawn / self._factor if name in _NOISE else drawn


@dataclass(frozen=True)
class Weakened:
    """An algorithm with its noise divided by a factor, its exponent times the factor, and no guarantee.

    No wrapper builds on it: it has neither a problem nor an epsilon. Samplers and exponential mechanisms set their
    exponents in `sharpened`.

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
        of_kind("algorithm", self.algorithm, Weakenable, "an algorithm that can be weakened")

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why there is no guarantee."""
        return (f"it was weakened on purpose, by a factor {self.factor:g}",)

    def guarantees(self, n: int) -> Guarantees:
        """None."""
        return Guarantees()

    def guarantee_at(self, n: int, index: int) -> None:
        """None."""

    def structure(self, data: Any) -> StatedStructure | None:
        """The algorithm's structure, with its noise divided by the factor."""
        stated: StatedStructure | None = self._sharpened(data).structure(data)
        return None if stated is None else stated.quieter(self.factor)

    def _sharpened(self, data: Any) -> Any:
        return self.algorithm.sharpened(int(getattr(data, "n", 1)), self.factor)

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Run the algorithm, from the same draws."""
        sharpened = self._sharpened(data)
        output: Output = sharpened(data, rng=QuietRandomness(rng, self.factor), runs=runs)
        return output


class Weakenable(Algorithm):
    """An algorithm that has a deliberately weaker version."""

    def weakened(self, factor: float) -> Weakened:
        """The same algorithm with its noise divided by the factor, or its exponent times the factor; no guarantee."""
        return Weakened(self, factor)

    @property
    def fault(self) -> str:
        """What its weaker version changes, in words that the factor completes."""
        return NOISE if type(self).sharpened is Weakenable.sharpened else EXPONENT

    def sharpened(self, n: int, factor: float) -> Any:
        """The algorithm with its exponents for n records times the factor; itself if it only adds noise."""
        return self


def sharpened(algorithm: Any, n: int, factor: float) -> Any:
    """The algorithm inside a wrapper with its exponents times the factor; itself if it has none."""
    return algorithm.sharpened(n, factor) if isinstance(algorithm, Weakenable) else algorithm
