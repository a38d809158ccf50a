"""Neighbors by units with parameters, made from an example."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpverify.auditing.neighbors.pairs import Pair
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit

OF_UNITS = (
    Adjacency.USER,
    Adjacency.GROUP,
    Adjacency.LABEL,
    Adjacency.LOCAL,
    Adjacency.METRIC,
    Adjacency.PRIVATE_COLUMNS,
)
"""Relations whose neighbors are made here."""
_MOST_USERS = 8
_LARGEST_GROUP = 64

_Value = tuple[str, FloatArray]


def unit_pairs(example: FloatArray, unit: PrivacyUnit, values: list[_Value]) -> Iterator[Pair]:
    """Neighbors of an example (n, columns) by a unit, with records of which `values` lists extreme ones.

    What is made and is no pair of neighbors, as where nothing changes, is left out.
    """
    make = {Adjacency.USER: _users, Adjacency.GROUP: _groups, Adjacency.LOCAL: _single}
    for data, neighbor, about in make.get(unit.adjacency, _moved)(example, unit, values):
        try:
            yield Pair(data, neighbor, unit.adjacency, about, unit)
        except InvalidDataError:
            continue


_Made = Iterator[tuple[FloatArray, FloatArray, str]]


def _users(example: FloatArray, unit: PrivacyUnit, values: list[_Value]) -> _Made:
    column = int(unit.key or 1) - 1
    users, counts = np.unique(example[:, column], return_counts=True)
    # those with the most records first, since a bound on records shows with these
    for user in users[np.argsort(-counts, kind="stable")][:_MOST_USERS]:
        of_user = example[:, column] == user
        yield example, example[~of_user], f"the example without user {user:g}"
        for name, record in values:
            changed = example.copy()
            changed[of_user] = record
            changed[:, column] = example[:, column]
            yield changed, example[~of_user], f"user {user:g} with {name} in all records, or without"
            yield changed, example, f"the example; user {user:g} with {name} in all records"
    new = float(users.max()) + 1
    for name, record in values:
        added = np.tile(record, (int(counts.max()), 1))
        added[:, column] = new
        yield np.concatenate([example, added]), example, f"the example; a new user with {name}"


def _groups(example: FloatArray, unit: PrivacyUnit, values: list[_Value]) -> _Made:
    size = min(int(unit.size or 1), _LARGEST_GROUP)
    for name, record in values:
        added = np.tile(record, (size, 1))
        yield np.concatenate([example, added]), example, f"the example; {size} more with {name}"
        count = min(size, len(example))
        for other, low in values[:2]:
            one, two = example.copy(), example.copy()
            one[:count], two[:count] = record, low
            yield one, two, f"the example; the first {count} with {name} or with {other}"


def _single(example: FloatArray, unit: PrivacyUnit, values: list[_Value]) -> _Made:
    known = [("the example's first", example[0]), *values]
    for place, (name, record) in enumerate(known):
        for other, second in known[:place]:
            yield record[None, :], second[None, :], f"{name} or {other}"


def _moved(example: FloatArray, unit: PrivacyUnit, values: list[_Value]) -> _Made:
    """One record replaced in its private columns, or moved as far as the unit allows."""
    width = example.shape[1]
    if unit.distance is None:
        private = unit.private(width)
        for place in dict.fromkeys((0, len(example) - 1)):
            for name, record in values:
                for other, second in [("what it was", example[place]), *values[:2]]:
                    one, two = example.copy(), example.copy()
                    one[place, private], two[place, private] = record[private], second[private]
                    yield one, two, f"the example; record {place + 1} with {name} or {other}"
        return
    all_over = {"l1": 1 / width, "l2": width**-0.5, "linf": 1.0}[unit.norm or "l2"]
    directions = [*np.eye(width), np.full(width, all_over)]
    for place in dict.fromkeys((0, len(example) - 1)):
        for name, start in [("the example", example[place]), *values]:
            for direction in directions:
                for sign in (1.0, -1.0):
                    one, two = example.copy(), example.copy()
                    one[place] = start
                    two[place] = start + sign * unit.distance * direction
                    yield one, two, f"the example; record {place + 1} moved from {name}"
