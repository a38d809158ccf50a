"""Steps from a pair of neighbors to another one: more records or fewer, others in their place, other numbers.

None of them knows what is audited. They are drawn at random, and a search keeps those that promise more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from dpverify.auditing.neighbors.constructions import Domain, neighbor_of
from dpverify.auditing.neighbors.pairs import Pair
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import Adjacency

_MOST_RECORDS = 500
_ABOUT = "found step by step"
_T = TypeVar("_T")


@dataclass
class Moves:
    """Steps within a domain, drawn from a generator of the search's own."""

    domain: Domain
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self._low, self._high = self.domain.ends()
        example = self.domain.example
        self._records = [record for _, record in (*self.domain.values(), *self.domain.mixed())]
        self._records += [record for record in example[:8] if self.domain.allows(record)]
        known = ~np.isnan(example)
        self._whole = np.all(example == np.round(example), axis=0, where=known)

    def step(self, pair: Pair) -> Pair | None:
        """Another pair; None where the step leads to none that is allowed."""
        if pair.adjacency is Adjacency.ANSWERS:
            return self._answers(pair)
        found = self._record_and_others(pair)
        if found is None:
            return None
        changed, place = found
        base, put = pair.neighbor.copy(), pair.data[place].copy()
        if pair.adjacency is Adjacency.ZERO_OUT:
            base[place] = 0.0
        kinds = [self._other_put, self._other_rest, self._grow, self._shrink, self._number]
        if changed:
            kinds += [self._other_old, self._apart]
        base, place, put = self._any(kinds)(base, place, put)
        if not len(base) and pair.adjacency is not Adjacency.ADD_REMOVE_ONE:
            return None
        after = neighbor_of(base, min(place, len(base)), put, pair.adjacency, _ABOUT)
        return after if after is not None and self.domain.has(after) else None

    def _record_and_others(self, pair: Pair) -> tuple[bool, int] | None:
        """Whether the record is replaced rather than added, and its place in `data`."""
        places = np.flatnonzero(differs(pair))
        return (pair.data.shape == pair.neighbor.shape, int(places[0])) if len(places) == 1 else None

    def _any(self, of: list[_T]) -> _T:
        return of[int(self.rng.integers(len(of)))]

    def _size(self, most: int) -> int:
        """From 1 to `most`; small ones as likely as large ones."""
        return max(1, round(math.exp(self.rng.uniform(0, math.log(max(most, 1))))))

    # each takes the neighbor, the place of the record in the other data set, and that record

    def _other_put(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        return base, place, self._any(self._records).copy()

    def _other_old(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        base[place] = self._any(self._records)
        return base, place, put

    def _apart(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        """Some numbers of the record up and others down, as far as they go."""
        up = self.rng.random(len(put)) < 0.5
        base[place] = np.where(up, self._low, self._high)
        return base, place, np.where(up, self._high, self._low)

    def _other_rest(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        """All other records, or the first of them, become one record."""
        kept = base[place : place + 1].copy()
        few = len(base) if self.rng.random() < 0.5 else int(self.rng.integers(len(base) + 1))
        base[:few] = self._any(self._records)
        base[place : place + len(kept)] = kept
        return base, place, put

    def _grow(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        """Further records, all one, or those that there are once more."""
        count = self._size(_MOST_RECORDS - len(base)) if len(base) < _MOST_RECORDS else 0
        if not count:
            return base, place, put
        if len(base) and self.rng.random() < 0.5:
            more = base[self.rng.integers(len(base), size=1)].repeat(count, axis=0)
        elif len(base) and self.rng.random() < 0.5:
            more = base[: _MOST_RECORDS - len(base)]
        else:
            more = np.tile(self._any(self._records), (count, 1))
        return np.concatenate([base, more]), place, put

    def _shrink(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        """Leave out records, but not the one that is replaced."""
        others = np.delete(np.arange(len(base)), [place] if place < len(base) else [])
        out = self.rng.permutation(others)[: self._size(len(others))]
        return np.delete(base, out, axis=0), place - int((out < place).sum()), put

    def _number(self, base: FloatArray, place: int, put: FloatArray) -> _Step:
        """One number of one record, or of all others."""
        column = int(self.rng.integers(len(put)))
        choice = self.rng.random()
        if choice < 0.4 or not len(base):
            put[column] = self._near(float(put[column]), column)
        elif choice < 0.7:
            base[min(place, len(base) - 1), column] = self._near(
                float(base[min(place, len(base) - 1), column]), column
            )
        else:
            others = np.arange(len(base)) != place
            base[others, column] = self._near(float(base[0, column]), column)
        return base, place, put

    def _near(self, old: float, column: int) -> float:
        low, high = float(self._low[column]), float(self._high[column])
        if self.domain.missing[column] and self.rng.random() < 0.2:
            return math.nan
        old = low if math.isnan(old) else old
        new = [low, high, 0.0, 1.0, -old, 2 * old, old / 2, old + 1, old - 1, np.nextafter(high, math.inf)]
        new += [round(old) + 0.5, round(old) - 0.5, (low + high) / 2, 100 * old]
        found = float(self._any(new))
        return float(np.round(found)) if self._whole[column] and self.rng.random() < 0.8 else found

    def _answers(self, pair: Pair) -> Pair | None:
        start, move = pair.neighbor.copy(), pair.data - pair.neighbor
        place = int(self.rng.integers(len(start)))
        kind = int(self.rng.integers(5))
        if kind == 0:
            start[place] += self._any([-20.0, -5.0, -1.0, 1.0, 5.0, 20.0])
        elif kind == 1:
            move[place] = self._any([-1.0, 0.0, 1.0])
        elif kind == 2 and 2 * len(start) <= _MOST_RECORDS:
            start, move = np.tile(start, (2, 1)), np.tile(move, (2, 1))
        elif kind == 3:
            start, move = start[: place + 1], move[: place + 1]
        else:
            start[:] = start[place]
        if not move.any():
            return None
        after = paired(start + move, start, replace(pair, about=_ABOUT))
        return after if after is not None and self.domain.has(after) else None


_Step = tuple[FloatArray, int, FloatArray]


def differs(pair: Pair) -> FloatArray:
    """Which records of `data` are not in `neighbor` at the same place, (n,); what is missing in both is alike."""
    if pair.data.shape == pair.neighbor.shape:
        return np.asarray(np.any(_unlike(pair.data, pair.neighbor), axis=1))
    longer, shorter = sorted((pair.data, pair.neighbor), key=len, reverse=True)
    same = np.any(_unlike(longer[: len(shorter)], shorter), axis=1)
    first = int(np.argmax(same)) if same.any() else len(shorter)
    return np.asarray(np.arange(len(pair.data)) == first)


def _unlike(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray((one != other) & ~(np.isnan(one) & np.isnan(other)))


def _edited(pair: Pair, place: int, column: int, value: float) -> Pair | None:
    """A number changed, on both sides where both have the record; None where no pair is left."""
    differing = differs(pair)
    data, neighbor = pair.data.copy(), pair.neighbor.copy()
    if not differing[place]:
        # behind a record that only one of them has, places are one apart
        first = int(np.argmax(differing)) if differing.any() else len(data)
        moved = len(data) - len(neighbor) if place > first else 0
        neighbor[place - moved, column] = value
    data[place, column] = value
    return paired(data, neighbor, pair)


def paired(data: FloatArray, neighbor: FloatArray, like: Pair) -> Pair | None:
    """A pair like another one; None where the two are no neighbors, or the same."""
    try:
        return replace(like, data=data, neighbor=neighbor)
    except (InvalidDataError, InvalidArgumentError):
        return None


def shrunk(pair: Pair, tells: Callable[[Pair], bool], columns: Sequence[int], *, tries: int) -> Pair:
    """Leave out records, then simplify numbers in these columns, as long as the pair tells; after so many tries."""
    again = True
    while again:
        again = False
        for smaller in _smaller(pair, columns):
            if not tries:
                return pair
            tries -= 1
            if tells(smaller):
                pair, again = smaller, True
                break
    return pair


def _smaller(pair: Pair, columns: Sequence[int]) -> Iterator[Pair]:
    """Fewer records first, many at once; then plainer numbers."""
    differing = np.flatnonzero(differs(pair))
    if pair.adjacency is not Adjacency.ANSWERS and len(differing) == 1:
        where = int(differing[0])
        common = [k for k in range(len(pair.data)) if k != where]
        for size in dict.fromkeys((len(common), len(common) // 2, 1)):
            for begin in range(0, len(common), size) if size else ():
                out = set(common[begin : begin + size])
                kept = [k for k in range(len(pair.data)) if k not in out]
                moved = len(pair.data) - len(pair.neighbor)
                others = [k - moved if k > where else k for k in kept if k != where or not moved]
                if (found := paired(pair.data[kept], pair.neighbor[others], pair)) is not None:
                    yield found
    for place in range(min(len(pair.data), 8)):
        for column in columns[:8]:
            old = float(pair.data[place, column])
            for new in (0.0, 1.0, float(np.round(old)), float(f"{old:.1g}")):
                if abs(new) <= abs(old) and new != old and (found := _edited(pair, place, column, new)):
                    yield found
