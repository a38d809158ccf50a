"""Events: sets of outputs, cut out by a score and a threshold.

An event E whose probability is at least a on the left data set and at most b on the right one says two things
about the privacy profile, for every epsilon at once:

- left over right: delta(epsilon) >= a - exp(epsilon) b, by E itself;
- right over left: delta(epsilon) >= (1 - b) - exp(epsilon) (1 - a), by its complement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Direction(StrEnum):
    """Which data set's output is the more likely one on the event."""

    LEFT_OVER_RIGHT = "left over right"
    RIGHT_OVER_LEFT = "right over left"


@dataclass(frozen=True)
class Event:
    """The outputs whose score is above a threshold, or those whose score is not."""

    scorer: str
    threshold: float
    above: bool
    column: int | None = None
    """Of the outputs, where the score is one of their numbers."""

    def contains(self, scores: Array) -> NDArray[np.bool_]:
        """Which of the outputs with these scores (runs,) are in the event."""
        return scores > self.threshold if self.above else scores <= self.threshold

    def count(self, scores: Array) -> int:
        """How many of these scores (runs,) are in the event."""
        above = int(np.count_nonzero(scores > self.threshold))
        return above if self.above else scores.size - above

    def __str__(self) -> str:
        return f"{self.scorer} {'>' if self.above else '<='} {self.threshold:.6g}"


@dataclass(frozen=True)
class SingleOutput:
    """One single output, a number for each column."""

    values: tuple[float, ...]

    def __str__(self) -> str:
        shown = map(_digits, self.values[:MOST_SHOWN])
        return f"output = ({', '.join(shown)}{', ...' if len(self.values) > MOST_SHOWN else ''})"


@dataclass(frozen=True)
class OneNumber:
    """The outputs of which one number has one value."""

    name: str
    column: int
    value: float

    def __str__(self) -> str:
        return f"{self.name} = {_digits(self.value)}"


@dataclass(frozen=True)
class WhichNumber:
    """A number of the outputs, for its name alone."""

    name: str
    column: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Outputs:
    """Several outputs that are all more, or all less, frequent on the left."""

    count: int
    more: bool

    def __str__(self) -> str:
        return f"output one of {self.count} that are {'more' if self.more else 'less'} frequent on the left"


AnyEvent = Event | SingleOutput | OneNumber | Outputs
NameEvent = Callable[[AnyEvent | WhichNumber], str]
"""How an event, or a number, is called, by whoever knows what the columns of the outputs are."""

MOST_SHOWN = 8
"""Numbers of an output that are shown."""


def _digits(value: float) -> str:
    """A whole number in full: it may be a code."""
    return f"{value:.0f}" if value.is_integer() and abs(value) < 2**53 else f"{value:.6g}"


@dataclass(frozen=True)
class ScoredSamples:
    """One scorer's scores of the choosing samples, (runs,) each; `column` as of an `Event`."""

    scorer: str
    left: Array
    right: Array
    column: int | None = None


def both_directions(left_lower: Array, right_upper: Array) -> tuple[Array, Array]:
    """Give (at least, at most), shape (2, events): `Direction`'s two members, in order."""
    return np.stack([left_lower, 1 - right_upper]), np.stack([right_upper, 1 - left_lower])


def thresholds(left: Array, right: Array, *, an_end: int) -> Array:
    """Some of the scores that occur, (k,), rising: about `an_end` at each end, dense where events are rare."""
    pooled = np.sort(np.concatenate([left, right]))
    ranks = _ranks((pooled.size + 1) // 2, an_end)
    cuts = np.unique(np.concatenate([pooled[ranks], pooled[pooled.size - 1 - ranks]]))
    # "Above the next lower score" is "at or above", which an atom at the top needs.
    before = np.searchsorted(pooled, cuts, side="left") - 1
    return np.unique(np.concatenate([cuts, pooled[before[before >= 0]]]))


@lru_cache(maxsize=256)
def _ranks(last: int, count: int) -> NDArray[np.int64]:
    """About `count` whole numbers from 0 to below `last`, dense at 0."""
    return np.unique(np.geomspace(1, last, count).astype(np.int64)) - 1
