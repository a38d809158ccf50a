"""What a violation looks like on the outputs that were seen: typical ones, counts, and the region in one number.

All of it describes runs that were looked at; it bounds nothing, and no verdict rests on it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.events import AnyEvent, Event, NameEvent, OneNumber, SingleOutput, WhichNumber
from dpverify.ledger.evidence import OutputBin, ShownOutputs

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TYPICAL = 10
_BINS = 16
_FEW = 12
"""Values of a number that are shown one by one."""
_MOST_COLUMNS = 64
"""Numbers of an output in which the region is looked for."""
_COMBINED = 6
"""Numbers of which any two are added and subtracted as well."""
_AGREES = 0.85
"""A half-line is named if it agrees with the region on this part of the outputs."""
_ALL = 1 - 1e-9
_MOST_RUNS = 20_000
"""Outputs of each side that are looked at, the first ones."""
_POINTS = 150
"""Outputs of each side that are drawn in the plane."""


def shown_outputs(
    sides: tuple[Array, Array], inside: tuple[Mask, Mask], event: AnyEvent, name_event: NameEvent
) -> ShownOutputs:
    """The record of outputs (runs, d) on both sides, of which some, (runs,) each, are in an event.

    An event of many numbers at once is said to be about a half-line of one number, or of the sum or the difference of
    two, where that comes near to it.
    """
    left, right = sides = sides[0][:_MOST_RUNS], sides[1][:_MOST_RUNS]
    inside = inside[0][:_MOST_RUNS], inside[1][:_MOST_RUNS]
    own = event.column if isinstance(event, Event) else None
    axes = _axes(np.concatenate(sides), name_event)
    said, ends = name_event(event), _NO_ENDS
    if isinstance(event, Event) and own is not None:
        chosen = _Axis.of_column(np.concatenate(sides), own, name_event)
        ends = _ends(event.threshold, event.above)
        region = chosen.region(event.threshold, event.above, name_event)
        said = region if region != str(Event(chosen.name, event.threshold, event.above)) else said
    else:
        chosen, threshold, above, agreement = _nearest(axes, np.concatenate(inside))
        ends = _ends(threshold, above) if agreement >= _AGREES else ends
        if agreement >= _AGREES and not isinstance(event, SingleOutput) and left.shape[1] > 1:
            region = chosen.region(threshold, above, name_event)
            said += f"; {'' if agreement > _ALL else 'nearly '}the outputs with {region}"
            said += "" if agreement > _ALL else f" ({agreement:.0%} the same)"
    numbers = chosen.numbers[: len(left)], chosen.numbers[len(left) :]
    return ShownOutputs(
        event=said,
        runs=len(left),
        left_count=int(inside[0].sum()),
        right_count=int(inside[1].sum()),
        left=tuple(name_event(SingleOutput(tuple(row))) for row in left[:_TYPICAL].tolist()),
        right=tuple(name_event(SingleOutput(tuple(row))) for row in right[:_TYPICAL].tolist()),
        axis=chosen.name,
        bins=_bins(*numbers, chosen, name_event),
        above=ends[0],
        at_most=ends[1],
        plane=_plane(left, right),
    )


_Ends = tuple[float | None, float | None]
_NO_ENDS: _Ends = (None, None)


def _ends(threshold: float, above: bool) -> _Ends:
    return (threshold, None) if above else (None, threshold)


@dataclass(frozen=True)
class _Axis:
    """A number of each output, (outputs,), or what two of them make."""

    name: str
    numbers: Array
    column: int | None = None

    @classmethod
    def of_column(cls, outputs: Array, column: int, name_event: NameEvent) -> _Axis:
        plain = "value" if outputs.shape[1] == 1 else f"coordinate {column + 1}"
        return cls(name_event(WhichNumber(plain, column)), outputs[:, column], column)

    def word(self, value: float, name_event: NameEvent) -> str:
        """A value of a category in words; empty for a number, which speaks for itself."""
        if self.column is None:
            return ""
        one = OneNumber(self.name, self.column, value)
        return "" if name_event(one) in (str(one), f"{self.name} = {value:.6g}") else name_event(one)

    def region(self, threshold: float, above: bool, name_event: NameEvent) -> str:
        """A half-line in words; where only one of few values is in it, that value."""
        values = np.unique(self.numbers) if self.column is not None else np.zeros(0)
        within = values[values > threshold] if above else values[values <= threshold]
        if len(within) == 1 and len(values) <= _FEW and (word := self.word(float(within[0]), name_event)):
            return word
        return str(Event(self.name, threshold, above))


def _axes(outputs: Array, name_event: NameEvent) -> list[_Axis]:
    """All numbers of the outputs, then sums and differences of the first ones."""
    count = min(outputs.shape[1], _MOST_COLUMNS)
    single = [_Axis.of_column(outputs, column, name_event) for column in range(count)]
    found = list(single)
    for one, other in itertools.combinations(single[:_COMBINED], 2):
        with np.errstate(over="ignore"):
            both = (
                (f"{one.name} - {other.name}", one.numbers - other.numbers),
                (f"{one.name} + {other.name}", one.numbers + other.numbers),
            )
        for name, numbers in both:
            scale = float(np.max(np.abs(numbers)))
            if 0 < scale < np.inf:
                # what two floats lost in rounding tells no outputs apart
                found.append(_Axis(name, np.round(numbers / scale, 9) * scale))
    return found


def _nearest(axes: list[_Axis], member: Mask) -> tuple[_Axis, float, bool, float]:
    """The half-line that agrees best with a region: its axis, threshold, whether it is above, and the part alike.

    Outputs in the region and outside of it count alike; of axes that agree as well the first.
    """
    weight = np.where(member, 0.5 / max(member.sum(), 1), 0.5 / max((~member).sum(), 1))
    best = (axes[0], 0.0, True, 0.0)
    for axis in axes:
        order = np.argsort(axis.numbers, kind="stable")
        ordered = axis.numbers[order]
        # what is alike with "at most the number at this place", and with "above" it
        below = np.cumsum(np.where(member[order], weight[order], -weight[order])) + 0.5
        ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], False))
        for alike, above in ((below, False), (1 - below, True)):
            place = int(alike[ends].argmax()) if alike[ends].size else None
            if place is not None and alike[ends[place]] > best[3] + 1e-9:
                best = (axis, float(ordered[ends[place]]), above, float(alike[ends[place]]))
    return best


def _bins(left: Array, right: Array, axis: _Axis, name_event: NameEvent) -> tuple[OutputBin, ...]:
    both = np.concatenate([left, right])
    values = np.unique(both)
    if len(values) <= _FEW:
        return tuple(
            OutputBin(
                low=value,
                high=value,
                left=int((left == value).sum()),
                right=int((right == value).sum()),
                label=axis.word(value, name_event),
            )
            for value in values.tolist()
        )
    # the few that are far out are in the bins at the ends
    low, high = np.quantile(both, [0.01, 0.99], method="inverted_cdf")
    with np.errstate(over="ignore", invalid="ignore"):
        between = np.linspace(low, high, _BINS + 1)[1:-1]
    if not np.all(np.isfinite(between)):
        between = np.quantile(both, np.linspace(0, 1, _BINS + 1)[1:-1], method="inverted_cdf")
    edges = np.unique(np.concatenate([[values[0]], between, [values[-1]]]))
    counts = [np.histogram(side, edges)[0].tolist() for side in (left, right)]
    return tuple(
        OutputBin(low=a, high=b, left=p, right=q)
        for a, b, p, q in zip(edges[:-1].tolist(), edges[1:].tolist(), *counts, strict=True)
    )


def _plane(left: Array, right: Array) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Some outputs of each side, where they are of two numbers; else nothing."""
    if left.shape[1] != 2:
        return ()
    return tuple(tuple((x, y) for x, y in side[:_POINTS].tolist()) for side in (left, right))
