"""Noise whose tail ends too soon: a sampler that never exceeds some number of standard deviations.

Of noise that ends at c standard deviations, the last of what one data set can give is impossible on its neighbor: no
pure guarantee holds then, and an approximate one lacks the probability of that part. Two looks at a sampler alone,
no pair of data sets and no mechanism:

- **The largest number.** Of n numbers of the stated law all are at most m with probability F(m)^n. That finds an end
  which n numbers should have passed: 4 standard deviations with some ten thousand, 5.77 with a billion.
- **The grid of small uniform numbers.** Samplers turn a uniform number u into noise by its tail function, and u has
  finitely many bits: u = k / 2^b. Its smallest value is where the noise ends. Turned back, noise gives u again:
  exp(-r^2 / 2) for r^2 = x^2 + y^2, where x and y are the two numbers that Box and Muller's method makes at once;
  P(|X| > |x|) for a number of its own. Of the stated law, 2^b u is uniform below any whole number, so its distance
  from the nearest one is too; on a grid it is 0 up to rounding. That shows from a million numbers, long before one
  of them comes near the end.

A uniform number of 24 bits, as `numpy.random.Generator.random(dtype=float32)` gives, ends normal noise at 5.77 standard
deviations and Laplace noise at 16.6 scales.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc, ndtr, ndtri

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.evidence import Verdict

Law = Literal["normal", "laplace"]

FEWEST = 1000
_FEWEST_BITS, _MOST_BITS = 8, 40
_LARGEST = 2**12
"""Multiples of the grid's step up to this are looked at: relative errors of larger ones are too large in 32 bits."""
_NEAR = 0.1
"""Distance from a whole number that counts as near; rounding in 32 bits is a tenth of that."""
_ON_GRID = 0.9
"""The part of them that is near where a grid is the right one; of a coarser one, half."""
_SPREAD = 0.5
"""The part of the multiples to be expected that are there, where numbers are uniform on a grid."""
_ROUNDING = 1e-5
"""Relative, of the largest number that a grid gives; more than 32 bits lose."""


@dataclass(frozen=True)
class TailAudit:
    """What was found about a sampler's tail.

    Attributes:
        verdict: violated, where the tail ends too soon; else supported.
        reason: in words.
        law: that was stated.
        end: no number exceeds this, in the law's scales (standard deviations for normal noise); None where no end was
            found. Where the largest number alone says so, it is that number.
        bits: of the uniform numbers that the noise is made of; None where no grid was found.
        largest: the largest absolute number seen, in the law's scales.
        seen_up_to: an end up to this would have been found from the largest number.
        grid_seen_up_to: a grid of so many bits would have been found.
        runs: how many numbers.
        failure_probability: a sampler of the stated law is called violated with at most this probability.
    """

    verdict: Verdict
    reason: str
    law: Law
    end: float | None
    bits: int | None
    largest: float
    seen_up_to: float
    grid_seen_up_to: int
    runs: int
    failure_probability: float

    def delta_lost(self, distance: float) -> float:
        """The least delta that any epsilon leaves, for data sets whose answers are so many scales apart.

        That is the probability of outputs which the neighbor never gives; 0 where no end was found. An end that the
        largest number alone shows is taken for one.

        Raises:
            InvalidArgumentError: if the distance is not above 0.
        """
        distance = checks.number("distance", distance, above=0, allowed="a finite number above 0")
        if self.end is None:
            return 0.0
        return float(_tail(self.law, np.asarray(max(self.end - distance, 0.0)))) / 2


def audit_tails(
    values: ArrayLike, *, law: Law = "normal", scale: float = 1.0, failure_probability: float = 1e-6
) -> TailAudit:
    """Look at numbers that a sampler made, in the order in which it made them.

    Args:
        values: independent numbers, (runs,), at least 1000; about a million show a grid of 24 bits.
        law: that they are said to have, about 0.
        scale: standard deviation of normal noise, scale of Laplace noise.
        failure_probability: of a false alarm, in [1e-15, 1).

    Raises:
        InvalidArgumentError, InvalidDataError: for anything else.
    """
    if law not in ("normal", "laplace"):
        raise InvalidArgumentError("law", law, '"normal" or "laplace"')
    scale = checks.number("scale", scale, above=0, allowed="a finite number above 0")
    level = checks.failure_probability("failure_probability", failure_probability)
    x = _checked(values) / scale
    largest = float(np.max(np.abs(x)))
    # half of the level for the largest number, half for all grids
    seen = _end_seen(law, x.size, level / 2)
    grids = list(_grids(law, x))
    each = level / 2 / (len(grids) * (_MOST_BITS - _FEWEST_BITS + 1))
    found = [
        (wide, ends)
        for uniform, end_at in grids
        for wide in range(_FEWEST_BITS, _MOST_BITS + 1)
        if (ends := _on_grid(uniform, end_at, wide, each)) is not None
        and largest <= ends * (1 + _ROUNDING)  # else they are no noise of that grid, whatever they are
    ]
    end: float | None = None
    bits: int | None = None
    if found:
        bits, end = min(found)
        reason = (
            f"the noise is made of uniform numbers of {bits} bits, so that it never exceeds {end:.4g} times its "
            "scale"
        )
    elif largest < seen:
        end = largest
        reason = (
            f"none of {x.size} numbers exceeds {largest:.4g} times the scale; of the stated law, one of them would "
            f"exceed {seen:.4g} but for a probability of {level / 2:.2g}: it ends there, or is of another law or scale"
        )
    most = max((bits for u, _ in grids for bits in _visible(u.size, each)), default=0)
    if end is None:
        reason = (
            f"no end of the tail below {seen:.4g} times the scale, and no grid of up to {most} bits; finer grids and "
            "farther ends would not show"
        )
    return TailAudit(
        Verdict.SUPPORTED if end is None else Verdict.VIOLATED,
        reason,
        law,
        end,
        bits,
        largest,
        seen,
        most,
        int(x.size),
        level,
    )


def _checked(values: ArrayLike) -> FloatArray:
    raw = np.asarray(values)
    if raw.ndim != 1 or raw.size < FEWEST or raw.dtype.kind != "f":
        raise InvalidDataError(
            f"The values have shape {raw.shape} and type {raw.dtype}; allowed: floats, (runs,), at least {FEWEST}."
        )
    if not np.all(np.isfinite(raw)):
        raise InvalidDataError("The values contain NaN or infinity; allowed: finite numbers.")
    return raw.astype(np.float64)


def _tail(law: Law, x: FloatArray) -> FloatArray:
    """P(|X| > x) for x >= 0, in scales."""
    return np.asarray(2 * ndtr(-x) if law == "normal" else np.exp(-x))


def _end_seen(law: Law, runs: int, level: float) -> float:
    """The m for which all numbers are at most m with probability `level`, by absolute value."""
    beyond = -math.expm1(math.log(level) / runs)
    return float(-ndtri(beyond / 2)) if law == "normal" else -math.log(beyond)


def _grids(law: Law, x: FloatArray) -> Iterator[tuple[FloatArray, Callable[[float], float]]]:
    """Uniform numbers that noise may be made of, and where noise ends if they are never below a number."""
    if law == "laplace":
        yield _tail(law, np.abs(x)), lambda u: -math.log(u)
        return
    # steps of one of the two tails are two of P(|X| > x), and may begin at half of one
    yield _tail(law, np.abs(x)) / 2, lambda u: float(-ndtri(u))
    half = x.size // 2
    for one, other in ((x[0 : 2 * half : 2], x[1 : 2 * half : 2]), (x[:half], x[half : 2 * half])):
        yield np.exp(-(one**2 + other**2) / 2), lambda u: math.sqrt(-2 * math.log(u))


def _on_grid(uniform: FloatArray, end_at: Callable[[float], float], bits: int, level: float) -> float | None:
    """Where noise ends, if these numbers are multiples of 2^-bits, or halves more; None if they are not."""
    steps = uniform[uniform < _LARGEST * 2.0**-bits] * 2.0**bits
    if not steps.size:
        return None
    # the smallest of one tail are at most half of 2^bits: above, the law is not uniform on whole steps
    multiples = min(_LARGEST, 2 ** (bits - 1))
    steps = steps[steps < multiples]
    for offset in (0.0, 0.5):
        whole = np.rint(steps - offset)
        near = int(np.count_nonzero(np.abs(steps - offset - whole) < _NEAR))
        if np.unique(whole).size < _SPREAD * multiples * -math.expm1(-steps.size / multiples):
            continue  # numbers that come again and again are on any grid
        if near >= _ON_GRID * steps.size and float(bdtrc(near - 1, steps.size, 2 * _NEAR)) < level / 2:
            return end_at((1.0 - offset) * 2.0**-bits)
    return None


def _visible(runs: int, level: float) -> Iterator[int]:
    """Numbers of bits whose grids as many numbers would show, half of the time or more."""
    needed = math.log(level / 2) / math.log(2 * _NEAR)
    for bits in range(_FEWEST_BITS, _MOST_BITS + 1):
        if runs * min(_LARGEST * 2.0**-bits, 0.5) >= needed:
            yield bits
