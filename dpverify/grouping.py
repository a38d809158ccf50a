"""Values put together by what they have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """From keys to all their values; both are in the order in which they come.

    Examples:
        >>> from dpverify.grouping import grouped
        >>> grouped((len(word), word) for word in ("a", "bc", "d"))
        {1: ['a', 'd'], 2: ['bc']}
    """
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
