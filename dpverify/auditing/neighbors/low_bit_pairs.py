"""Pairs on which low bits show, and what a search looks at to see them.

Which pair shows the bits depends on the numbers that noise is added to: 5 and 6 have one exponent, and sums of either
with noise of size 1 round alike; 0 keeps all bits of the noise and 1 none below 2^-53; a number with a long mantissa
moves the grid of its sums. So these pairs differ in one record, between 0, powers of two, numbers with a long mantissa
and the ends of the records' range, in data sets that add nothing else where 0 is allowed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from dpverify.auditing.black_box.low_bits import last_decimals, lowest_bits
from dpverify.auditing.neighbors.constructions import Domain, neighbor_of
from dpverify.auditing.neighbors.pairs import Pair
from dpverify.checks import FloatArray
from dpverify.privacy import Adjacency

_MOST_COLUMNS = 8
_POWERS = (0, -1, 1, -10, 10, -30, -52)
_LONG = (1 / 3, 0.1, float(np.nextafter(1.0, 0.0)))
"""Numbers whose mantissa goes on to the last bit."""
_MOST_RECORDS = 64


def low_bit_pairs(domain: Domain) -> Iterator[Pair]:
    """Pairs of neighbors, each once; the likeliest to show first, and those of one record before those of several."""
    values = _values(domain)
    columns = domain.example.shape[1]
    if domain.adjacency is Adjacency.ANSWERS:
        yield from _moved_answers(domain)
        return
    sizes = dict.fromkeys((max(domain.least, 1), min(len(domain.example), _MOST_RECORDS)))
    replaced = domain.adjacency is Adjacency.REPLACE_ONE
    for size, (low, high) in itertools.product(sizes, itertools.combinations(values, 2)):
        # a record that is new, or takes the place of zeros, lies beside others of another exponent
        rest = low if not replaced else 0.0 if 0.0 in values else values[0]
        base = np.tile(_record(rest, columns), (size, 1))
        base[0] = low
        others = size - 1 if replaced else size
        about = f"low bits: {f'{low:g} and ' if replaced else ''}{high:g}"
        about += f" beside {others} record{'s' if others > 1 else ''} of {rest:g}" if others else ""
        pair = neighbor_of(base, 0, _record(high, columns), domain.adjacency, about)
        if pair is not None and domain.fits(pair.data) and domain.fits(pair.neighbor):
            yield pair


def low_bits_of(outputs: FloatArray) -> FloatArray:
    """Lowest bits and last decimals of outputs (runs, d), of the first coordinates, as numbers (runs, columns)."""
    some = outputs[:, :_MOST_COLUMNS]
    return np.concatenate([lowest_bits(some), last_decimals(some)], axis=1).astype(np.float64)


def _values(domain: Domain) -> list[float]:
    """Numbers that all columns of a record may hold, the most telling first."""
    own = [float(record[0]) for _, record in domain.values()]
    found = (0.0, *(2.0**power for power in _POWERS), *_LONG, *own)
    return [one for one in dict.fromkeys(found) if domain.allows(_record(one, domain.example.shape[1]))]


def _moved_answers(domain: Domain) -> Iterator[Pair]:
    """All answers moved by at most 1, from 0 and from where they are."""
    for about, start in (("zeros", np.zeros_like(domain.example)), ("the example", domain.example)):
        for move in (1.0, 0.5, 1 / 3, 2.0**-30):
            yield Pair(start + move, start, Adjacency.ANSWERS, f"low bits: {about} and {move:g} more")


def _record(value: float, columns: int) -> FloatArray:
    return np.full(columns, value)
