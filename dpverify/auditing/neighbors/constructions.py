"""Pairs on which faults are known to show: what proofs of lower bounds take, and what implementations forget.

A sensitivity is attained by extreme records, some of their numbers up and others down; one that is computed on the data
vanishes where all records are alike; a clip that is missing shows on records out of range only; code for the usual size
breaks on the smallest data sets or on large ones; a class that is empty, a label that is new and a vote that is nearly
tied have branches of their own; so have numbers that are missing. Tables of text and dates are searched as numbers
that stand for their cells.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.neighbors.pairs import Pair, TablePair
from dpverify.auditing.neighbors.units import OF_UNITS, unit_pairs
from dpverify.checks import FloatArray, of_kind
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.tables.codes import CodedTable
from dpverify.problems.tables.neighbors import NUMBERS_ONLY
from dpverify.problems.tables.records import written

_FAR = (10.0, 1000.0)
"""Records out of range are these multiples of the extreme ones."""
_TINY = 1e-9
_LARGEST = 64
"""Records in a constructed data set, unless it is made larger on purpose."""
_GROWN = 300
"""Records in one that is."""
_LABELS = 8
"""A column with at most so many values, all of them whole numbers, is taken for one of labels."""

_Named = tuple[str, FloatArray]


@dataclass(frozen=True)
class Domain:
    """Where records may come from.

    Attributes:
        example: a data set, (n, columns), at least one record; where a column of it has NaN, a number that is missing,
            any number of that column may be missing.
        adjacency: which data sets are neighbors.
        limits: smallest and largest number that a record may hold; None: any, so that records out of the example's
            range are tried as well.
        unit: the adjacency with its parameters, where it has any.
        table: what the numbers stand for, where records hold more than numbers; limits are then of columns of numbers.
        least: the fewest records of a data set.
        most: the most, None for any number.

    Raises `InvalidArgumentError` for an adjacency that says nothing about single records, or limits in the wrong order,
    and `InvalidDataError` for an example without records.
    """

    example: FloatArray
    adjacency: Adjacency
    limits: tuple[float, float] | None = None
    unit: PrivacyUnit | None = None
    table: CodedTable | None = None
    least: int = 0
    most: int | None = None

    def __post_init__(self) -> None:
        of_kind("example", self.example, np.ndarray, "an array of numbers (n, columns)")
        of_kind("adjacency", self.adjacency, Adjacency)
        shape, kind = self.example.shape, self.example.dtype.kind
        if kind not in "iuf" or len(shape) != 2 or not shape[0] or np.any(np.isinf(self.example)):
            raise InvalidDataError(
                f"The example data set has shape {shape} and type {self.example.dtype}; allowed: finite numbers or "
                "NaN, (n, columns), with n at least 1."
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
        if self.table is not None and not self.table.table.numeric and self.adjacency in NUMBERS_ONLY:
            raise InvalidDataError(
                f"The example holds more than numbers; allowed with adjacency {self.adjacency}: numbers in all columns."
            )

    @cached_property
    def limited(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number that each column may hold, infinite where there is none."""
        columns = self.example.shape[1]
        if self.limits is None:
            return np.full(columns, -np.inf), np.full(columns, np.inf)
        free = np.ones(columns, dtype=np.bool_)
        free[list(self.of_numbers)] = False
        return np.where(free, -np.inf, self.limits[0]), np.where(free, np.inf, self.limits[1])

    def settled(self, pair: Pair) -> Pair | None:
        """A pair in the numbers that stand for its cells; None where the two are then no neighbors, or alike."""
        if self.table is None:
            return pair
        sides = [self.table.array(self.table.records(side)) for side in (pair.data, pair.neighbor)]
        if sides[0].shape == sides[1].shape and np.array_equal(sides[0], sides[1], equal_nan=True):
            return None
        try:
            return replace(pair, data=sides[0], neighbor=sides[1])
        except InvalidDataError:
            return None

    def given(self, pair: Pair) -> Pair | TablePair:
        """A pair as a function gets it."""
        if self.table is None:
            return pair
        data, neighbor = self.table.records(pair.data), self.table.records(pair.neighbor)
        # units say users and the like by their numbers
        about = "" if pair.adjacency in OF_UNITS else pair.about
        return TablePair(data, neighbor, pair.adjacency, about, pair.unit)

    @property
    def of_numbers(self) -> tuple[int, ...]:
        """Columns whose numbers stand for nothing else."""
        kinds = ("number",) * self.example.shape[1] if self.table is None else self.table.table.kinds
        return tuple(place for place, kind in enumerate(kinds) if kind in ("number", "integer"))

    @property
    def missing(self) -> NDArray[np.bool_]:
        """In which columns numbers may be missing."""
        return np.asarray(np.isnan(self.example).any(axis=0))

    def has(self, pair: Pair) -> bool:
        """Whether both data sets of a pair are allowed; zeros in place of a record always are."""
        return self.allows(pair.data) and (pair.adjacency is Adjacency.ZERO_OUT or self.allows(pair.neighbor))

    def fits(self, records: FloatArray) -> bool:
        """Whether a data set has as many records as it may have; True for one record, (columns,)."""
        most = len(records) if self.most is None else self.most
        return records.ndim == 1 or self.least <= len(records) <= most

    def allows(self, records: FloatArray) -> bool:
        """Whether all records, or the one, are within the limits, and nothing is missing that may not be."""
        if not self.fits(records):
            return False
        if np.any(np.isnan(records) & ~self.missing):
            return False
        if np.any(np.isinf(records)):
            return False
        low, high = self.limited
        return bool(np.all(((records >= low) & (records <= high)) | np.isnan(records)))

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number of each column: of the limits, or else of the example."""
        known = ~np.isnan(self.example)
        low = np.min(self.example, axis=0, where=known, initial=np.inf)
        high = np.max(self.example, axis=0, where=known, initial=-np.inf)
        ends = np.where(known.any(axis=0), low, 0.0), np.where(known.any(axis=0), high, 1.0)
        least, most = self.limited
        return np.where(np.isinf(least), ends[0], least), np.where(np.isinf(most), ends[1], most)

    def values(self) -> list[tuple[str, FloatArray]]:
        """Records to build from, with what they are; all columns alike."""
        columns = self.example.shape[1]
        low, high = self.ends()
        size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1.0)
        found = [("the largest", high), ("the smallest", low), ("zeros", np.zeros(columns))]
        found += [("ones", np.ones(columns)), ("the largest with another sign", -high)]
        found += [("tiny", np.full(columns, _TINY))]
        for factor in _FAR:
            found += [
                (f"{factor:g} times the largest", factor * size),
                (f"{-factor:g} times", -factor * size),
            ]
        return self._allowed(found)

    def mixed(self) -> list[tuple[str, FloatArray]]:
        """Further records: some columns up and others down, one column up, other labels, and what is missing."""
        low, high = self.ends()
        columns = len(low)
        found = [(f"{name} columns up", np.where(up, high, low)) for name, up in _patterns(columns)]
        for column, labels in self.labels():
            for label in (*labels[:4], labels[-1] + 1):
                record = self.example[0].copy()
                record[column] = label
                found.append((self.said(column, label), record))
        if self.missing.any():
            found.append(("nothing in it", np.where(self.missing, np.nan, low)))
        found += [(name, put) for name, put in self.odd_cells()]
        return self._allowed(found)

    def odd_cells(self) -> Iterator[tuple[str, FloatArray]]:
        """The example's first record with one cell that a function may not expect; of tables only."""
        if self.table is None:
            return
        gone = [np.nan if missing else None for missing in self.missing.tolist()]
        others = [column.special or (-1.0, 0.0, _FAR[1]) for column in self.table.columns]
        # first what is missing; then of each column one, before another one of the first
        for codes in (gone, *itertools.zip_longest(*others)):
            for place, code in enumerate(codes):
                if code is not None:
                    record = self.example[0].copy()
                    record[place] = code
                    yield self.said(place, code), record

    def said(self, column: int, number: float) -> str:
        """A number in a column, in words."""
        if self.table is None:
            return f"{number:g} in column {column + 1}"
        return f"{self.table.table.names[column]} = {written(self.table.columns[column].cell(number))!r}"

    def labels(self) -> Iterator[tuple[int, list[float]]]:
        """Columns of labels, from 0, with their values."""
        for column, numbers in enumerate(self.example.T[:_LABELS]):
            known = np.unique(numbers[~np.isnan(numbers)])
            if 1 < len(known) <= _LABELS and np.array_equal(known, np.round(known)):
                yield column, known.tolist()

    def _allowed(self, found: list[tuple[str, FloatArray]]) -> list[tuple[str, FloatArray]]:
        kept: list[tuple[str, FloatArray]] = []
        for name, record in found:
            same = any(np.array_equal(record, other, equal_nan=True) for _, other in kept)
            if self.allows(record) and not same:
                kept.append((name, record))
        return kept


def _patterns(columns: int) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Which columns are up, with a name; each beside its opposite."""
    if columns < 2:
        return
    places = np.arange(columns)
    for name, up in (
        ("odd", places % 2 == 0),
        ("the first", places < columns / 2),
        ("one of the", places == 0),
    ):
        yield name, up
        yield f"all but {name}", ~up


def pairs(domain: Domain) -> Iterator[Pair]:
    """All constructions for a domain, each pair once; those of every kind come early."""
    seen: set[tuple[bytes, int, bytes]] = set()
    for pair in (one for one in _all(domain) if domain.fits(one.data) and domain.fits(one.neighbor)):
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
    if np.array_equal(base, changed, equal_nan=True):
        return None
    return Pair(changed, base, adjacency, about)


def _all(domain: Domain) -> Iterator[Pair]:
    if domain.adjacency is Adjacency.ANSWERS:
        yield from _answers(domain)
        return
    if domain.adjacency in OF_UNITS:
        yield from unit_pairs(domain.example, domain.unit or PrivacyUnit(domain.adjacency), domain.values())
        return
    values = domain.values()
    # a few of the records that are not alike in all columns: there may be many; each base begins with another
    puts = [*values, *domain.mixed()[:6]]
    families = []
    for turn, (about, base) in enumerate(_bases(domain, values)):
        first = 5 * turn % len(puts)
        families.append(_changed(domain, base, about, puts[first:] + puts[:first]))
    families += [
        _opposites(domain),
        _labeled(domain),
        _split(domain),
        _grown(domain),
        _mostly_missing(domain),
        _odd(domain),
        _mostly_odd(domain),
    ]
    kinds: list[Iterator[Pair | None]] = [iter(family) for family in families]
    while kinds:
        for kind in tuple(kinds):
            try:
                pair = next(kind)
            except StopIteration:
                kinds.remove(kind)
                continue
            if pair is not None and domain.has(pair):
                yield pair


def _changed(domain: Domain, base: FloatArray, about: str, puts: list[_Named]) -> Iterator[Pair | None]:
    """A record at the first and the last place replaced or added."""
    places = dict.fromkeys((0, max(len(base) - 1, 0)))
    for name, record in puts:
        for place in places:
            yield neighbor_of(base, place, record, domain.adjacency, f"{about}; at place {place + 1} {name}")


def _bases(domain: Domain, values: list[_Named]) -> Iterator[_Named]:
    example = domain.example
    n, columns = len(example), example.shape[1]
    # a neighbor with one record more may have as many as the example
    if domain.adjacency is Adjacency.ADD_REMOVE_ONE:
        yield "no records", np.empty((0, columns))
    if domain.allows(example):
        yield "the example", example
        yield "the example's first record, again and again", np.tile(example[0], (min(n, _LARGEST), 1))
    for name, record in values[:4]:
        fewest = max(domain.least, 1)
        for size in dict.fromkeys((fewest, fewest + 1, min(n, _LARGEST))):
            yield f"{size} times {name}", np.tile(record, (size, 1))
    both = np.where(
        np.arange(min(n, _LARGEST))[:, None] % 2, values[0][1], values[min(1, len(values) - 1)][1]
    )
    yield "the largest and the smallest in turn", both


def _opposites(domain: Domain) -> Iterator[Pair | None]:
    """A record whose numbers move in both directions, some up and others down."""
    low, high = domain.ends()
    middle, n = (low + high) / 2, min(len(domain.example), _LARGEST)
    bases = [("1 record", middle[None, :]), ("records in the middle", np.tile(middle, (n, 1)))]
    bases += [("the example", domain.example)]
    for name, up in _patterns(len(low)):
        one, other = np.where(up, high, low), np.where(up, low, high)
        for about, start in (*bases, (f"records with {name} columns up", np.tile(one, (n, 1)))):
            base = start.copy()
            base[0] = other
            yield neighbor_of(base, 0, one, domain.adjacency, f"{about}; one with {name} columns up, or down")


def _labeled(domain: Domain) -> Iterator[Pair | None]:
    """The last records of a class get another label, or a label that there is not."""
    example = domain.example
    for column, labels in domain.labels():
        rare, known = labels[0], (*labels[1:3], labels[-1] + 1)
        of_class = np.flatnonzero(example[:, column] == rare)
        for kept in (1, 2, 3):
            base = np.delete(example, of_class[kept:], axis=0)
            for label in known:
                moved = base[of_class[0] : of_class[0] + 1].copy()
                moved[0, column] = label
                about = f"the example with {kept} records of {domain.said(column, rare)}; one of them with "
                about += domain.said(column, label)
                yield neighbor_of(base, int(of_class[0]), moved[0], domain.adjacency, about)
        for kept in (0, 1, 2, 5):
            base = example[:_LARGEST].copy()
            base[:, column] = labels[-1]
            base[:kept, column] = rare
            moved = base[:1].copy()
            moved[0, column] = labels[-1] if kept else rare
            about = (
                f"{kept} records of {domain.said(column, rare)}, others of {domain.said(column, labels[-1])}"
            )
            about += "; one changed"
            yield neighbor_of(base, 0, moved[0], domain.adjacency, about)


def _split(domain: Domain) -> Iterator[Pair | None]:
    """Some records alike and all others alike, ties and near ties among them."""
    low, high = domain.ends()
    for size in (min(len(domain.example), _LARGEST) + extra for extra in (0, 1)):
        for few in dict.fromkeys((size // 2, size // 2 + 1, size // 3, 2 * size // 3, 3 * size // 4, 2)):
            base = np.where(np.arange(size)[:, None] < few, high, low)
            for place, record in ((0, low), (size - 1, high)):
                about = f"{few} of {size} records the largest, others the smallest; one the other"
                yield neighbor_of(base, place, record, domain.adjacency, about)


def _odd(domain: Domain) -> Iterator[Pair | None]:
    """One cell that is not expected, in one record."""
    for name, record in domain.odd_cells():
        yield neighbor_of(domain.example, 0, record, domain.adjacency, f"the example; one with {name}")


def _mostly_odd(domain: Domain) -> Iterator[Pair | None]:
    """One cell that is not expected, in all records but one."""
    for name, record in domain.odd_cells():
        odd = np.tile(record, (min(len(domain.example), _LARGEST), 1))
        yield neighbor_of(odd, 0, domain.example[0], domain.adjacency, f"records with {name}; one without")


def _grown(domain: Domain) -> Iterator[Pair | None]:
    """More records than the example has."""
    low, high = domain.ends()
    n = len(domain.example)
    for size in dict.fromkeys((2 * n, 4 * n, 100, _GROWN)):
        if not n < size <= _GROWN:
            continue
        repeated = domain.example[np.arange(size) % n]
        for name, base in (
            ("the largest", high),
            ("the smallest", low),
            ("the example again and again", repeated),
        ):
            grown = base if base.ndim == 2 else np.tile(base, (size, 1))
            for said, record in (("the smallest", low), ("the largest", high)):
                about = f"{size} records, {name}; one {said}"
                yield neighbor_of(grown, 0, record, domain.adjacency, about)


def _mostly_missing(domain: Domain) -> Iterator[Pair | None]:
    """Data sets in which nearly all is missing that may be, and those in which nothing is."""
    if not domain.missing.any():
        return
    low, high = domain.ends()
    n = min(len(domain.example), _LARGEST)
    empty = np.where(domain.missing, np.nan, low)
    for rest, filled in (("nothing", empty), ("the largest", high), ("the smallest", low)):
        for known in (1, 2, 0):
            base = np.tile(filled, (n, 1))
            base[:known] = low if rest == "nothing" else empty
            for name, record in (("the largest", high), ("nothing", empty), ("the smallest", low)):
                about = f"{n - known} records of {rest}; one {name}"
                yield neighbor_of(base, 0, record, domain.adjacency, about)


def _answers(domain: Domain) -> Iterator[Pair]:
    shown = domain.example
    more = np.zeros((min(4 * len(shown), _LARGEST), shown.shape[1]))
    turns = np.where(np.arange(len(shown))[:, None] % 2, 1.0, -1.0) * np.ones_like(shown)
    starts = [("the example", shown), ("zeros", np.zeros_like(shown)), (f"{len(more)} zeros", more)]
    starts += [(f"{size:g} and {-size:g} in turn", size * turns) for size in (5.0, 20.0)]
    starts += [(f"all {size:g}", np.full_like(shown, size)) for size in (5.0, -5.0)]
    for about, start in starts:
        for name, move in _moves_of_answers(start):
            for sign in (1.0, -1.0):
                pair = Pair(start, start + sign * move, Adjacency.ANSWERS, f"{about}; {name}, times {sign:g}")
                if domain.has(pair):
                    yield pair


def _moves_of_answers(start: FloatArray) -> Iterator[_Named]:
    count = len(start)
    first, last, half = np.zeros_like(start), np.zeros_like(start), np.ones_like(start)
    first[0], last[-1], half[count // 2 :] = 1.0, 1.0, -1.0
    yield "all up", np.ones_like(start)
    yield "in turn", np.where(np.arange(count)[:, None] % 2, 1.0, -1.0) * np.ones_like(start)
    yield "the first up, others down", 2 * first - 1
    yield "the last up, others down", 2 * last - 1
    yield "the first half up, others down", half
    yield "the first up", first
    yield "the last up", last
