"""Partitions of the outputs into cells, learned from past runs, and the events made of their cells.

A partition is fixed before the runs that are counted in it were drawn: where scores were fitted to some of the past,
only later runs are counted. That keeps the estimates honest, on which bets are based; the audit would be valid
without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.black_box.boosting import GradientBoosting
from dpverify.auditing.black_box.cells import RatiosInCells
from dpverify.auditing.black_box.leftover import leaves_something
from dpverify.auditing.black_box.low_bits import LOW_BIT_SCORERS, lowest_bits
from dpverify.auditing.black_box.mixed import WithinCategories, two_histograms
from dpverify.auditing.black_box.scores import (
    BestCoordinate,
    Coordinate,
    DistanceFromCenter,
    FrequencyRatio,
    HistogramRatio,
    LinearDiscriminant,
    NearestCentroid,
    QuadraticLogistic,
    Samples,
    Score,
    Scorer,
    ScorerOf,
    apply_score,
    fit_score,
    places_of,
    row_keys,
)
from dpverify.auditing.events import AnyEvent, Event, Outputs, SingleOutput, thresholds

Array = NDArray[np.float64]
Cells = NDArray[np.int64]
Learner = Callable[[Samples, Samples, np.random.Generator], list["Partition"]]
"""Partitions for what comes next, from all past outputs, (runs, d)."""

_CUTS_AN_END = 40
_MOST_ATOMS = 64
_LEAST_IN_UNION = 8
"""Runs of both sides that an output was seen in before events are joined from it and others."""
_MOST_COORDINATES = 16
_FIT_LATER = 512
"""Runs of a side from which slow scorers are worth their time."""
_MOST_FITTED = 20_000
_MOST_BINS = 32


class SumOfRatios(ScorerOf):
    """Sum over coordinates of log-ratios of two histograms, as if coordinates were independent; for d > 1."""

    name = "sum of histogram ratios"
    dimensions = (2, 200)

    def _learned(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        bins = max(4, min(_MOST_BINS, 2 * left.shape[0] // 25))
        edges, ratios = [], []
        for on_left, on_right in zip(left.T, right.T, strict=True):
            inner, one, other = two_histograms(on_left, on_right, bins)
            edges.append(inner)
            ratios.append(np.log(one) - np.log(other))

        def score(x: Samples) -> Array:
            total = np.zeros(x.shape[0])
            for column, inner, ratio in zip(x.T, edges, ratios, strict=True):
                total += ratio[np.searchsorted(inner, column)]
            return total

        return score


QUICK: tuple[Scorer, ...] = (
    HistogramRatio(),
    FrequencyRatio(least_count=3),
    WithinCategories(),
    DistanceFromCenter(),
    BestCoordinate(),
    NearestCentroid(),
    LinearDiscriminant(),
    SumOfRatios(),
)
SLOW: tuple[Scorer, ...] = (QuadraticLogistic(), RatiosInCells(), GradientBoosting())


class Partition:
    """Cells, with how often each was hit on both sides, (cells,), in so many runs.

    `events` says which cells belong to each event, (events, cells), `weights` the same in numbers, `named` what the
    events are.
    """

    def __init__(
        self,
        cells: Callable[[Samples], Cells],
        count: int,
        events: NDArray[np.bool_],
        named: Sequence[AnyEvent],
    ) -> None:
        self._cells, self.count, self.events, self.named = cells, count, events, tuple(named)
        self.weights = events.astype(np.float64)
        self.left, self.right = np.zeros(count), np.zeros(count)
        self.runs = 0

    def cells_of(self, samples: Samples) -> Cells:
        """The cell of each output, (runs,)."""
        return self._cells(samples)

    def add(self, left: Cells, right: Cells) -> None:
        """Count further runs."""
        self.left += np.bincount(left, minlength=self.count)
        self.right += np.bincount(right, minlength=self.count)
        self.runs += left.size


def learn(left: Samples, right: Samples, rng: np.random.Generator) -> list[Partition]:
    """Partitions for what comes next from all past outputs, (runs, d), with what of the past they may count counted."""
    enough = left.shape[0] // 2 >= _FIT_LATER and left.shape[1] > 1
    slow = SLOW if enough and leaves_something(left, right) else ()
    return [*learn_plainly(left, right, rng), *_fitted((*QUICK, *slow), left, right, rng)]


def learn_low_bits(left: Samples, right: Samples, rng: np.random.Generator) -> list[Partition]:
    """The same by low bits, last decimals and repeated outputs, and by nothing else."""
    found = [one for one in (_atoms(left, right),) if one is not None]
    for column in range(min(left.shape[1], _MOST_COORDINATES)):

        def score(x: Samples, column: int = column) -> Array:
            return lowest_bits(x[:, column]).astype(np.float64)

        name = "lowest bit" if left.shape[1] == 1 else f"lowest bit of coordinate {column + 1}"
        found.append(_by_cuts(name, score, score(left), score(right)))
    _count_all(found, left, right)
    return [*found, *_fitted(LOW_BIT_SCORERS, left, right, rng)]


def _fitted(
    scorers: Sequence[Scorer], left: Samples, right: Samples, rng: np.random.Generator
) -> Iterator[Partition]:
    """By scores of the earlier half of the past; the later half is counted."""
    start = left.shape[0] // 2
    fit = slice(max(0, start - _MOST_FITTED), start)
    for scorer in scorers:
        score = fit_score(scorer, left[fit], right[fit], rng)
        if score is None:
            continue
        column = score.column if isinstance(score, Coordinate) else None
        partition = _by_cuts(
            scorer.name, score, apply_score(score, left[fit]), apply_score(score, right[fit]), column
        )
        partition.add(partition.cells_of(left[start:]), partition.cells_of(right[start:]))
        yield partition


def learn_plainly(left: Samples, right: Samples, rng: np.random.Generator) -> list[Partition]:
    """The partitions of `learn` for which no score is fitted."""
    found = list(_untaught(left, right))
    _count_all(found, left, right)
    return found


def _count_all(partitions: Sequence[Partition], left: Samples, right: Samples) -> None:
    for partition in partitions:
        partition.add(partition.cells_of(left), partition.cells_of(right))


def _untaught(left: Samples, right: Samples) -> Iterator[Partition]:
    """Single outputs that repeat, and half-lines of single coordinates."""
    if (atoms := _atoms(left, right)) is not None:
        yield atoms
    d = left.shape[1]
    for column in range(min(d, _MOST_COORDINATES)):
        name = "value" if d == 1 else f"coordinate {column + 1}"

        def score(x: Samples, column: int = column) -> Array:
            return x[:, column]

        yield _by_cuts(name, score, left[:, column], right[:, column], column)


def _by_cuts(
    name: str, score: Callable[[Samples], Array], left: Array, right: Array, column: int | None = None
) -> Partition:
    """Half-lines of a score, cut at scores that occur, dense at both ends, where the rare events are."""
    cuts = thresholds(left, right, an_end=_CUTS_AN_END)
    above = np.tri(cuts.size + 1, cuts.size, -1, dtype=bool).T
    events = np.concatenate([above, ~above])
    named = [Event(name, float(cut), above, column) for above in (True, False) for cut in cuts]

    def cells(x: Samples) -> Cells:
        return np.searchsorted(cuts, apply_score(score, x), side="left")

    return Partition(cells, cuts.size + 1, events, named)


def _atoms(left: Samples, right: Samples) -> Partition | None:
    """The outputs that were seen most often, each an event of its own; None where none was seen twice."""
    both = np.concatenate([left, right])
    seen, counts = np.unique(row_keys(both), return_counts=True)
    often = np.sort(np.argsort(-counts, kind="stable")[:_MOST_ATOMS])
    often = often[counts[often] > 1]
    if not often.size:
        return None
    known = seen[often]
    single = np.eye(known.size, known.size + 1, dtype=bool)
    rows = known.view(np.float64).reshape(known.size, -1)
    named: list[AnyEvent] = [SingleOutput(tuple(row.tolist())) for row in rows]

    on_left, on_right = (
        np.bincount(places_of(row_keys(side), known), minlength=known.size + 1)[:-1] for side in (left, right)
    )
    order = np.argsort(np.log(on_left + 1.0) - np.log(on_right + 1.0), kind="stable")
    order = order[(on_left + on_right)[order] >= _LEAST_IN_UNION]
    unions, more = [], []
    for way, more_often in ((order[::-1], True), (order, False)):
        for size in range(2, way.size):
            unions.append(np.isin(np.arange(known.size + 1), way[:size]))
            more.append(Outputs(size, more_often))
    events = np.concatenate([single, np.array(unions).reshape(-1, known.size + 1)]) if unions else single
    named += more

    return Partition(lambda x: places_of(row_keys(x), known), known.size + 1, events, named)
