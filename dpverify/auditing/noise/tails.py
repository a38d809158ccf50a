"""Noise that ends too soon: a sampler that never exceeds some number of standard deviations, or takes few values.

Of noise that ends at c standard deviations, the last of what one data set can give is impossible on its neighbor: no
pure guarantee holds then, and an approximate one lacks the probability of that part. Three looks at a sampler alone,
no pair of data sets and no mechanism:

- **The largest number** on each side. Of n numbers of the stated law all are at most m with probability F(m)^n. That
  finds an end which n numbers should have passed: 4 standard deviations with some ten thousand.
- **The grid of small uniform numbers** that noise is made of: `dpverify.auditing.noise.grids`.
- **Numbers that come again**, more often than in the law rounded to as many digits: `dpverify.auditing.noise.laws`.

A uniform number of 24 bits, as `numpy.random.Generator.random(dtype=float32)` gives, ends normal noise at 5.77 standard
deviations and Laplace noise at 16.6 scales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.confidence import clopper_pearson_lower
from dpverify.auditing.noise.ends import lost_in_steps
from dpverify.auditing.noise.grids import COARSE, SIDES, GridSearch, NoiseGrid, Side, grids_of
from dpverify.auditing.noise.laws import LAWS, Law, Written, beyond_at
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Verdict

FEWEST = 1000
_SHARES = {"largest": 1 / 4, "grids": 1 / 2, "repeats": 1 / 4}
"""Of the failure probability."""


@dataclass(frozen=True)
class TailAudit:
    """What was found about a sampler's tail.

    Attributes:
        verdict: violated, where the tail ends too soon or numbers come again too often; else supported. A grid of more
            than 40 bits is a fact beside it, not a fault: what it costs is in `delta_lost`.
        reason: in words.
        law: that was stated.
        ends: for each side, -1 and 1, on which an end was found: how far from 0 numbers get, in the law's scales
            (standard deviations for normal noise). Where the largest number alone says so, it is that number.
        grids: for each side, -1 and 1, what the noise is made of, as far as that was found.
        values: so many values of equal probability would repeat as often; None where numbers repeat as they may.
        repeats: how many numbers had come before.
        largest: the largest absolute number seen, in the law's scales.
        seen_up_to: an end up to this would have been found from the largest number of a side.
        grid_seen_up_to: a grid of up to so many bits would have been found; 0 for none.
        written: in what format the numbers come; empty where it is no shorter than 64 bits.
        runs: how many numbers.
        failure_probability: a sampler of the stated law is called violated with at most this probability.
    """

    verdict: Verdict
    reason: str
    law: Law
    ends: dict[Side, float]
    grids: dict[Side, NoiseGrid]
    values: float | None
    repeats: int
    largest: float
    seen_up_to: float
    grid_seen_up_to: int
    written: str
    runs: int
    failure_probability: float
    _by_size: tuple[FloatArray, FloatArray]
    """Distances from 0 on either side, from the smallest."""

    def delta_lost(self, distance: float, *, steps: int = 1, sampling_probability: float = 1.0) -> float:
        """The least delta that any epsilon leaves, for data sets whose answers are so many scales apart.

        Of `steps` releases, in each of which the record takes part with probability `sampling_probability`, it is that
        of one such output at least (`lost_in_steps`).

        That is the probability of outputs which the neighbor never gives, on the side where it is larger; 0 where no
        end was found. On a grid it is that of the grid's last steps. Of an end that the largest number alone shows,
        which is taken for one, it is a lower confidence bound from how many numbers came as near to it. Raises
        `InvalidArgumentError` if the distance is not above 0.
        """
        distance = checks.positive("distance", distance)
        lost = max((self._lost(side, distance) for side in self.ends), default=0.0)
        return lost_in_steps(lost, steps, sampling_probability=sampling_probability)

    def _lost(self, side: Side, distance: float) -> float:
        if side in self.grids and self.ends[side] == self.grids[side].end:
            return self.grids[side].lost(distance)
        # the last number is the end itself
        near = (
            self.runs - 1 - int(np.searchsorted(self._by_size[side > 0], self.ends[side] - distance, "right"))
        )
        level = self.failure_probability / len(SIDES)
        return float(clopper_pearson_lower(max(near, 0), self.runs, level))


def audit_tails(
    values: ArrayLike, *, law: Law = "normal", scale: float = 1.0, failure_probability: float = 1e-6
) -> TailAudit:
    """Look at numbers that a sampler made, in the order in which it made them.

    Args:
        values: independent numbers, (runs,), at least 1000; about a million show a grid of 24 bits.
        law: that they are said to have, about 0; rounded to the format in which they come.
        scale: standard deviation of normal noise, scale of Laplace noise.
        failure_probability: of a false alarm, in [1e-15, 1); a quarter is for the largest numbers, half for all grids,
            a quarter for repeats.

    Raises `InvalidArgumentError`, `InvalidDataError` for anything else.
    """
    checks.require(law in LAWS, "law", law, '"normal" or "laplace"')
    scale = checks.positive("scale", scale)
    level = checks.failure_probability("failure_probability", failure_probability)
    numbers = _checked(values)
    x = numbers / scale
    written = Written.of(numbers)
    largest_level = level * _SHARES["largest"] / len(SIDES)
    # all numbers are at most this with that probability
    seen = beyond_at(law, min(-math.expm1(math.log(largest_level) / x.size), 0.5))
    rounded = float(written.spacing(np.asarray(seen * scale))) / scale / 2
    seen = max(seen - rounded, 0.0)  # the largest may be rounded down
    search = GridSearch(law, x, written, scale, level * _SHARES["grids"])
    grids = dict(grids_of(search))
    by_size = np.sort(-x), np.sort(x)
    farthest: dict[Side, float] = {side: float(by_size[side > 0][-1]) for side in SIDES}
    ends: dict[Side, float] = {side: grid.end for side, grid in grids.items()}
    coarse = {side: grid for side, grid in grids.items() if grid.coarse}
    cut = [side for side in SIDES if side not in coarse and farthest[side] < seen]
    ends |= {side: farthest[side] for side in cut}
    repeats = x.size - int(np.unique(numbers).size)
    often = _comes_too_often(
        repeats, x.size, written.largest_probability(law, scale), level * _SHARES["repeats"]
    )
    values_like = x.size**2 / (2 * repeats) if often else None
    format_ = written.summary()
    parts = [*_says_grids(coarse), *_says_cut(cut, farthest, x.size, seen, largest_level)]
    if values_like is not None:
        parts.append(
            f"{repeats} of {x.size} numbers had come before, as from {values_like:.3g} values of equal probability; "
            f"of the stated law, rounded as they are, so many repeat with probability at most "
            f"{level * _SHARES['repeats']:.2g}"
        )
    violated = bool(parts)
    if not violated:
        bits = min(search.seen_up_to, COARSE)
        grid = (
            f"no grid of up to {bits} bits in single numbers or in pairs" if bits else "grids would not show"
        )
        parts.append(
            f"no end of the tail below {seen:.4g} times the scale, {grid}, and no more repeats than the law's; finer "
            "grids and farther ends would not show"
        )
    fine = {side: grid for side, grid in grids.items() if side not in coarse and side not in cut}
    parts += _says_grids(fine) + ([format_] if format_ else [])
    return TailAudit(
        verdict=Verdict.VIOLATED if violated else Verdict.SUPPORTED,
        reason="; ".join(parts),
        law=law,
        ends=ends,
        grids=grids,
        values=values_like,
        repeats=repeats,
        largest=max(farthest.values()),
        seen_up_to=seen,
        grid_seen_up_to=search.seen_up_to,
        written=format_,
        runs=int(x.size),
        failure_probability=level,
        _by_size=by_size,
    )


def _says_grids(grids: dict[Side, NoiseGrid]) -> list[str]:
    if not grids:
        return []
    ends = {side: side * grid.end for side, grid in grids.items()}
    which = ", and ".join(dict.fromkeys(grid.summary() for grid in grids.values()))
    if len(ends) < len(SIDES):
        (side,) = ends
        never = f"{'exceeds' if side > 0 else 'is below'} {ends[side]:.4g}"
    else:
        low, high = ends[-1], ends[1]
        never = f"exceeds {high:.4g}" if low == -high else f"leaves [{low:.4g}, {high:.4g}]"
    return [f"the noise is {which}, so that it never {never} times its scale"]


def _says_cut(
    cut: list[Side], farthest: dict[Side, float], runs: int, seen: float, level: float
) -> list[str]:
    return [
        f"none of {runs} numbers {'exceeds' if side > 0 else 'is below'} {side * farthest[side]:.4g} times the scale; "
        f"of the stated law, one of them would {'exceed' if side > 0 else 'be below'} {side * seen:.4g} but for a "
        f"probability of {level:.2g}: it ends there, or is of another law or scale"
        for side in cut
    ]


def _checked(values: ArrayLike) -> FloatArray:
    raw = np.asarray(values)
    if raw.ndim != 1 or raw.size < FEWEST or raw.dtype.kind != "f":
        raise InvalidDataError(
            f"The values have shape {raw.shape} and type {raw.dtype}; allowed: floats, (runs,), at least {FEWEST}."
        )
    if not np.all(np.isfinite(raw)):
        raise InvalidDataError("The values contain NaN or infinity; allowed: finite numbers.")
    return raw.astype(np.float64)


def _comes_too_often(repeats: int, runs: int, most: float, level: float) -> bool:
    """Whether so many numbers would have come before with probability at most `level`.

    The i-th number is among those before it with probability at most (i - 1) `most`, whatever they were, so that the
    repeats are at most independent trials of that probability; bounded by Chernoff.
    """
    expected = most * runs * (runs - 1) / 2
    if expected <= 0 or repeats <= expected:
        return False
    return expected - repeats + repeats * math.log(repeats / expected) > -math.log(level)
