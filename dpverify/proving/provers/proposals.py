"""Points to try: simple numbers by the sum of their ranks, and points that are spread evenly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpverify.formulas.expressions import Variable
from dpverify.proving.language import Ends, Obligation
from dpverify.proving.reasoning.evaluation import ExactPoint

_SIMPLE = tuple(
    Fraction(text)
    for text in (
        *("1", "2", "1/2", "0", "-1", "3", "4", "5", "1/4", "3/4", "1/3", "10", "1/10", "-2"),
        *("-1/2", "100", "1/100", "-1/4", "-5", "20", "1000", "1/1000"),
    )
)


def simple_points(obligation: Obligation, limit: int) -> Iterator[ExactPoint]:
    """Points of an obligation's domain and box, simple numbers first."""
    lists = [
        [x for x in simple_values(v, ends) if ends is None or ends[0] <= x <= ends[1]]
        for v in obligation.over
        for ends in (obligation.ends.get(v.name),)
    ]
    names = [v.name for v in obligation.over]
    for values in itertools.islice(graded(lists, limit), limit) if lists else [()]:
        yield dict(zip(names, values, strict=True))


def simple_values(v: Variable, box: Ends | None) -> list[Fraction]:
    """Values of a variable's domain that are nice to read, the nicest first."""
    values = list(_SIMPLE)
    for bound in (v.lower, v.upper):
        if bound is not None:
            values[3:3] = [bound, bound + 1, bound - 1]
            values += [bound + Fraction(step) for step in ("1/10", "-1/10", "1/2", "-1/2", "2")]
    if box is not None:
        low, high = box
        values += [low, high, (low + high) / 2]
        # where the claim is meant comes first
        values.sort(key=lambda x: not low <= x <= high)
    return [x for x in dict.fromkeys(values) if v.contains(x)]


def graded(lists: Sequence[Sequence[Fraction]], limit: int) -> Iterator[tuple[Fraction, ...]]:
    """Tuples of entries by the sum of their ranks, so that simple numbers come before less simple ones."""
    if all(lists):
        for places in ranks([len(entries) for entries in lists], limit).tolist():
            yield tuple(entries[place] for entries, place in zip(lists, places, strict=True))


def ranks(sizes: Sequence[int], limit: int) -> NDArray[np.int16]:
    """The first tuples of ranks, (tuples, lists), by the sum of ranks and then in the order of tuples.

    `sizes` are those of the lists, at least one, of which each rank names an entry.
    """
    kept: dict[tuple[int, int], NDArray[np.int16]] = {}

    def tails(k: int, total: int) -> NDArray[np.int16]:
        if k == len(sizes) - 1:
            return np.full((int(total < sizes[k]), 1), total, dtype=np.int16)
        if (k, total) not in kept:
            parts = [(first, tails(k + 1, total - first)) for first in range(min(total, sizes[k] - 1) + 1)]
            kept[k, total] = np.concatenate(
                [np.concatenate([np.full((len(t), 1), first, np.int16), t], axis=1) for first, t in parts]
            )
        return kept[k, total]

    found: list[NDArray[np.int16]] = []
    missing = limit
    for total in range(sum(sizes) - len(sizes) + 1):
        if missing <= 0:
            break
        found.append(tails(0, total))
        missing -= len(found[-1])
    return np.concatenate(found)[:limit]


def spread_out(dimension: int, count: int, seed: int) -> Iterator[list[float]]:
    """Evenly spread points of the open unit cube: multiples of powers of the golden ratio, modulo 1."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = [ratio ** -(k + 1) for k in range(dimension)]
    for i in range(1, count + 1):
        yield [min(max((0.5 + (i + seed) * step) % 1.0, 1e-9), 1 - 1e-9) for step in steps]
