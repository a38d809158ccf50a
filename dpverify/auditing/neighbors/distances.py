"""The pair of neighbors on which a number is largest, such as how far apart a query's answers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest

import numpy as np

from dpverify.auditing.neighbors.constructions import Domain, pairs
from dpverify.auditing.neighbors.moves import Moves, differs, paired, shrunk
from dpverify.auditing.neighbors.pairs import Pair
from dpverify.checks import FloatArray
from dpverify.privacy import Adjacency

_PARENTS, _STEPS, _TRIES = 6, 40, 80
"""Pairs from which steps are taken, steps for each pair that is tried, and pairs that are smaller."""


@dataclass(frozen=True)
class BallDomain(Domain):
    """Records (columns,) of a Euclidean norm of at most `radius`; of answers, numbers up to it."""

    radius: float = 1.0

    def allows(self, records: FloatArray) -> bool:
        """Whether these may be a data set, or one record of it."""
        answers = self.adjacency is Adjacency.ANSWERS
        sizes = np.abs(records) if answers else np.linalg.norm(records, axis=-1)
        return self.fits(records) and bool(np.all(sizes <= self.radius * (1 + 1e-12)))

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number of each column, where all are."""
        columns = self.example.shape[1]
        answers = self.adjacency is Adjacency.ANSWERS
        high = np.full(columns, self.radius if answers else self.radius / columns**0.5)
        return -high, high

    def nudged(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        """A pair in which the record that differs is another one, or nearly so, in either data set."""
        (place, *more) = np.flatnonzero(differs(pair)) if len(pair.data) >= len(pair.neighbor) else (0, 0)
        if more or self.adjacency is Adjacency.ANSWERS:
            return None
        sides = [pair.data.copy(), pair.neighbor.copy()]
        free = len(sides[0]) == len(sides[1]) and self.adjacency is Adjacency.REPLACE_ONE
        row = sides[int(free and rng.random() < 0.5)][place]
        if not row.any():
            return None
        row *= rng.random() < 0.7
        row += self.radius * 10 ** rng.uniform(-3, 0.5) * rng.normal(size=row.shape)
        row *= min(1.0, self.radius / float(np.linalg.norm(row)))
        return paired(sides[0], sides[1], pair)


def ball(columns: int, radius: float, adjacency: Adjacency, sizes: tuple[int, int], seed: int) -> BallDomain:
    """Records (columns,) of a norm of at most a radius, in data sets of a least and a largest size."""
    rng = np.random.default_rng((seed, 1))
    rows = rng.normal(size=(6, columns))
    rows *= radius * np.array([1, 1, 1, 1, 0.5, 0.1])[:, None] / np.linalg.norm(rows, axis=1, keepdims=True)
    axis = np.zeros((2, columns))
    axis[:, 0] = radius, -radius
    example = np.resize(np.concatenate([axis, rows]), (max(sizes[1], 1), columns))
    return BallDomain(example, adjacency, least=sizes[0], most=sizes[1], radius=radius)


def farthest_pair(
    distance: Callable[[Pair], float], domain: BallDomain, enough: float, *, tries: int, seed: int
) -> tuple[Pair | None, float]:
    """The pair of the largest distance of those that are tried; above `enough` the search ends, and it is made smaller.

    Constructions first, then steps at random from the best of them. Deterministic for a seed.
    """
    moves, found = Moves(domain, np.random.default_rng(seed)), list[tuple[float, Pair]]()

    def look(pair: Pair) -> float:
        found.append((distance(pair), pair))
        found.sort(key=lambda one: (-one[0], len(one[1].data)))
        del found[_PARENTS:]
        return found[0][0]

    more = int(domain.adjacency is Adjacency.ADD_REMOVE_ONE)
    most = len(domain.example) if domain.most is None else domain.most
    sizes = dict.fromkeys(max(size, 1) for size in (domain.least, most - more))
    known = [pairs(replace(domain, example=domain.example[:size])) for size in sizes]
    for pair in islice(filter(None, chain(*zip_longest(*known))), max(tries // 2, 1)):
        tries -= 1
        if look(pair) > enough:
            break
    for _ in range(_STEPS * tries if found else 0):
        if tries <= 0 or found[0][0] > enough:
            break
        parent = found[min(int(moves.rng.geometric(0.35)) - 1, len(found) - 1)][1]
        after = moves.step(parent) if moves.rng.random() < 0.6 else domain.nudged(parent, moves.rng)
        if after is not None:
            tries -= 1
            look(after)
    if not found:
        return None, 0.0
    far, best = found[0]
    if far > enough:

        def tells(pair: Pair) -> bool:
            return domain.has(pair) and distance(pair) > enough

        best = shrunk(best, tells, range(domain.example.shape[1]), tries=_TRIES)
        far = distance(best)
    return best, far
