"""Points at which a formula is looked at: edges, what is near them, numbers that the formula names, simple ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from .pointwise import inside

Json = Any

_SIMPLE = tuple(
    map(
        Fraction,
        [
            "0",
            "1",
            "-1",
            "2",
            "1/2",
            "-1/2",
            "3",
            "-2",
            "1/3",
            "-1/3",
            "10",
            "-10",
            "5",
            "101",
            "1000",
            "-1000",
            "7",
            "9/4",
            "1/10",
            "-1/7",
            "4",
        ],
    )
)
_FAR = tuple(
    map(Fraction, ("1000000", "-1000000", "1/1000000", "1/1000000000000000000000000000000", "1e20", "-1e20"))
)
_STEPS = tuple(Fraction(1, 10**k) for k in (1, 3, 9, 26))


def numbers_in(f: Json) -> set[Fraction]:
    """The numbers that a formula names."""
    if isinstance(f, list):
        if len(f) == 2 and f[0] == "num":
            return {Fraction(f[1])}
        return set().union(*map(numbers_in, f))
    return set()


def values(v: Json, named: set[Fraction], box: tuple[str, str] | None = None) -> list[Fraction]:
    """Values of a variable's domain, those at its edges first."""
    ends = [Fraction(v[end]) for end in ("lower", "upper") if v[end] is not None]
    ends += [Fraction(end) for end in box or ()]
    found = list(ends)
    if len(ends) > 1:
        low, high = min(ends), max(ends)
        found += [(low + high) / 2, low + (high - low) / 3, low + (high - low) * Fraction(999, 1000)]
        found += [low + (high - low) * step for step in _STEPS] + [
            high - (high - low) * step for step in _STEPS
        ]
    found += [end + sign * step for end in ends for step in (1, 2, *_STEPS) for sign in (1, -1)]
    found += [
        sign * n + step
        for n in sorted(named)
        for sign in (1, -1)
        for step in (0, Fraction(1, 10**9), Fraction(-1, 10**9), 1)
    ]
    found += [*_SIMPLE, *_FAR]
    if v["kind"] == "integer":
        found += [Fraction(int(n)) for n in found]
    limits = [Fraction(end) for end in box] if box else []
    return [x for x in dict.fromkeys(found) if inside(v, x) and (not limits or limits[0] <= x <= limits[1])]


def points(problem: Json, count: int, box: Any = None) -> Iterator[dict[str, Fraction]]:
    """Points of the domain (and box), the same ones for the same problem; the corners come first."""
    named = numbers_in(problem["claim"]).union(*map(numbers_in, problem["assuming"]))
    lists = {v["name"]: values(v, named, (box or {}).get(v["name"])) for v in problem["variables"]}
    if any(not found for found in lists.values()):
        return
    rng = random.Random(json.dumps(problem, sort_keys=True))
    corners = list(product(*(found[:2] for found in lists.values())))[:8]
    seen = set()
    for i in range(count):
        place = (
            corners[i]
            if i < len(corners)
            else tuple(
                found[min(int(rng.random() ** 1.5 * len(found)), len(found) - 1)] for found in lists.values()
            )
        )
        if place not in seen:
            seen.add(place)
            yield dict(zip(lists, place, strict=True))
