"""What the low bits of floating-point outputs betray: which numbers an addition can give depends on its summands.

A number that is added to noise leaves its trace in the sum: of 1 + noise close to 0 no bit below 2^-53 is ever set,
while 0 + noise has all the bits that the noise has. Each of the two is the other's mechanism in real arithmetic,
and in floating-point arithmetic one look at the last bit tells them apart. The usual scores, for which numbers that
are close are alike, cannot see it; these can. It is a question of its own: a claim that holds in real arithmetic and
fails here is a fault of the implementation's arithmetic, mended by noise on a grid (discrete Gaussian or geometric)
or by rounding both the answer and the noise to one (snapping).

References: Mironov, On significance of the least significant bits for differential privacy, CCS 2012; Haney et al.,
Precision-based attacks and interval refining, 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.black_box.scores import FrequencyRatio, Samples, Score, Scorer, places_of

_MANTISSA = 53
_MOST_DECIMALS = 12


def lowest_bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The exponent of the lowest bit that is set in each number, any shape; 0 for 0.

    1.5 = 2^0 + 2^-1 gives -1, the float next to 1 gives -52; float32 numbers count as the numbers that they are.
    """
    mantissas, exponents = np.frexp(values)
    whole = np.abs(mantissas * 2.0**_MANTISSA).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, 0, exponents - _MANTISSA + zeros)


def last_decimals(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Ten times the number of decimals that a number is written with, plus the last of them; any shape.

    0.25 gives 25, 3.0 gives 3; numbers of more than twelve decimals give 130.
    """
    found = np.full(np.shape(values), 10 * (_MOST_DECIMALS + 1), dtype=np.int64)
    for count in range(_MOST_DECIMALS, -1, -1):
        fits = np.round(values, count) == values
        last = np.abs(np.rint(np.fmod(values * 10.0**count, 10.0)))
        found = np.where(fits, 10 * count + last.astype(np.int64) % 10, found)
    return found


@dataclass(frozen=True)
class KindRatio:
    """Sum over coordinates of the log-ratio of how often numbers of one kind occur."""

    name: str
    kinds: Callable[[NDArray[np.float64]], NDArray[np.int64]]
    most_dimensions: int = 64

    def fit(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        """Count, coordinate by coordinate, in the first `most_dimensions`; kinds never seen score 0."""
        columns = range(min(left.shape[1], self.most_dimensions))
        tables = [_table(self.kinds(left[:, j]), self.kinds(right[:, j])) for j in columns]
        if not any(np.any(ratios) for _, ratios in tables):
            return None

        def score(x: Samples) -> NDArray[np.float64]:
            total = np.zeros(x.shape[0])
            for j, (known, ratios) in zip(columns, tables, strict=True):
                total += np.append(ratios, 0.0)[places_of(self.kinds(x[:, j]), known)]
            return total

        return score


def _table(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    known, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    sides = place[: left.size], place[left.size :]
    counts = [np.bincount(side, minlength=known.size) + 0.5 for side in sides]
    ratios: NDArray[np.float64] = np.log(counts[0] / left.size) - np.log(counts[1] / right.size)
    return known, ratios


LOW_BIT_SCORERS: tuple[Scorer, ...] = (
    KindRatio("lowest bits", lowest_bits),
    KindRatio("last decimals", last_decimals),
    FrequencyRatio(),
)
"""What `audit_privacy(..., scorers=LOW_BIT_SCORERS)` looks at last digits and repeated outputs with."""

NOT_LOOKED_AT = "low bits were not looked at"


def not_looked_at(scorers: Sequence[Scorer]) -> str:
    """What a claim that is supported leaves open, whichever of the two these scorers do not see."""
    kinds = {isinstance(scorer, KindRatio) for scorer in scorers}
    return NOT_LOOKED_AT if True not in kinds else "only low bits and repeated outputs were looked at"
