"""Pairs on which faults are known to show: what proofs of lower bounds take, and what implementations forget.

A sensitivity is attained by extreme records; one that is computed on the data vanishes where all records are alike;
a clip that is missing shows on records out of range only; code for the usual size breaks on the smallest data sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpverify.auditing.neighbors.pairs import Pair
from dpverify.auditing.neighbors.units import OF_UNITS, unit_pairs
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import Unit

_FAR = (10.0, 1000.0)
"""Records out of range are these multiples of the extreme ones."""
_TINY = 1e-9
_LARGEST = 64
"""Records in a constructed data set."""


@dataclass(frozen=True)
class Domain:
    """Where records may come from.

    Attributes:
        example: a data set, (n, columns), at least one record.
        adjacency: which data sets are neighbors.
        limits: smallest and largest number that a record may hold; None: any, so that records out of the example's
            range are tried as well.
        unit: the adjacency with its parameters, where it has any.

    Raises `InvalidArgumentError` for an adjacency that says nothing about single records, or limits in the wrong order,
    and `InvalidDataError` for an example without records.
    """

    example: FloatArray
    adjacency: Adjacency
    limits: tuple[float, float] | None = None
    unit: Unit | None = None

    def __post_init__(self) -> None:
        if self.example.ndim != 2 or not len(self.example) or not np.all(np.isfinite(self.example)):
            raise InvalidDataError(
                f"The example data set has shape {self.example.shape}; allowed: finite numbers (n, columns), with n at "
                "least 1."
            )
        if self.adjacency in (Adjacency.UNCHECKED, Adjacency.INDEX):
            raise InvalidArgumentError(
                "adjacency",
                self.adjacency.value,
                "one that says which data sets are neighbors, where neighbors are searched for: replace-one, "
                "add-or-remove-one, zero-out, answers-within-1, user, group, label, local, metric or private-columns",
            )
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise InvalidArgumentError("limits", self.limits, "two numbers, the first below the second")

    def allows(self, records: FloatArray) -> bool:
        """Whether all records are within the limits."""
        if self.limits is None:
            return bool(np.all(np.isfinite(records)))
        return bool(np.all((records >= self.limits[0]) & (records <= self.limits[1])))

    def values(self) -> list[tuple[str, FloatArray]]:
        """Records to build from, with what they are."""
        columns = self.example.shape[1]
        if self.limits is None:
            low, high = self.example.min(axis=0), self.example.max(axis=0)
        else:
            low, high = (np.full(columns, limit) for limit in self.limits)
        size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1.0)
        found = [("the largest", high), ("the smallest", low), ("zeros", np.zeros(columns))]
        found += [("ones", np.ones(columns)), ("the largest with another sign", -high)]
        found += [("tiny", np.full(columns, _TINY))]
        for factor in _FAR:
            found += [
                (f"{factor:g} times the largest", factor * size),
                (f"{-factor:g} times", -factor * size),
            ]
        kept: list[tuple[str, FloatArray]] = []
        for name, record in found:
            if self.allows(record) and not any(np.array_equal(record, other) for _, other in kept):
                kept.append((name, record))
        return kept


def pairs(domain: Domain) -> Iterator[Pair]:
    """All constructions for a domain, each pair once."""
    seen: set[tuple[bytes, int, bytes]] = set()
    for pair in _all(domain):
        key = (pair.data.tobytes(), len(pair.data), pair.neighbor.tobytes())
        if key not in seen:
            seen.add(key)
            yield pair


def neighbor_of(
    base: FloatArray, place: int, record: FloatArray, adjacency: Adjacency, about: str
) -> Pair | None:
    """The pair of a data set and its neighbor by a record at a place from 0; None where the two are alike."""
    changed = base.copy()
    if adjacency is Adjacency.ADD_REMOVE_ONE:
        changed = np.insert(base, min(place, len(base)), record, axis=0)
    elif not len(base):
        return None
    else:
        changed[place] = record
    if adjacency is Adjacency.ZERO_OUT:
        base = base.copy()
        base[place] = 0.0
    if np.array_equal(base, changed) and base.shape == changed.shape:
        return None
    return Pair(changed, base, adjacency, about)


def _all(domain: Domain) -> Iterator[Pair]:
    if domain.adjacency is Adjacency.ANSWERS:
        yield from _answers(domain)
        return
    if domain.adjacency in OF_UNITS:
        yield from unit_pairs(domain.example, domain.unit or Unit(domain.adjacency), domain.values())
        return
    values = domain.values()
    for about, base in _bases(domain, values):
        places = dict.fromkeys((0, max(len(base) - 1, 0)))
        for name, record in values:
            for place in places:
                said = f"{about}; at place {place + 1} {name}"
                pair = neighbor_of(base, place, record, domain.adjacency, said)
                if pair is not None:
                    yield pair


def _bases(domain: Domain, values: list[tuple[str, FloatArray]]) -> Iterator[tuple[str, FloatArray]]:
    example = domain.example
    n, columns = len(example), example.shape[1]
    # a neighbor with one record more may have as many as the example
    if domain.adjacency is Adjacency.ADD_REMOVE_ONE:
        yield "no records", np.empty((0, columns))
    if domain.allows(example):
        yield "the example", example
        yield "the example's first record, again and again", np.tile(example[0], (min(n, _LARGEST), 1))
    for name, record in values[:4]:
        for size in dict.fromkeys((1, 2, min(n, _LARGEST))):
            yield f"{size} times {name}", np.tile(record, (size, 1))
    both = np.where(np.arange(min(n, _LARGEST))[:, None] % 2, values[0][1], values[1][1])
    yield "the largest and the smallest in turn", both


def _answers(domain: Domain) -> Iterator[Pair]:
    base = domain.example
    signs = np.where(np.arange(len(base))[:, None] % 2, 1.0, -1.0)
    first = np.zeros_like(base)
    first[0] = 1.0
    last = np.zeros_like(base)
    last[-1] = 1.0
    for about, start in (("the example", base), ("zeros", np.zeros_like(base))):
        for name, move in (
            ("all up", np.ones_like(base)),
            ("in turn", signs),
            ("the first up, others down", 2 * first - 1),
            ("the last up, others down", 2 * last - 1),
            ("the first up", first),
            ("the last up", last),
        ):
            for sign in (1.0, -1.0):
                yield Pair(start, start + sign * move, Adjacency.ANSWERS, f"{about}; {name}, times {sign:g}")
