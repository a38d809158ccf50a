"""Points: which are counterexamples, made simple, what is reported of them, and which are tried first."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpverify.formulas.expressions import Variable
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.formulas.vectors import same_dimension
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import coordinates_text
from dpverify.proving.problem import Ends, ProofProblem
from dpverify.proving.proof import Proof, settled
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate, failing, text
from dpverify.proving.reasoning.truth import truth

_Entry = TypeVar("_Entry")

_AT_ONCE = 256
"""Tuples that are made together, of which often the first few are looked at."""

_ROUNDS = 4
"""How often every coordinate is gone through."""


def admitted(problem: ProofProblem, point: ExactPoint) -> bool:
    """Whether a point lies in the domain and certainly satisfies every assumption."""
    inside = all(v.contains(point[v.name]) for v in problem.over) and same_dimension(point)
    return inside and all(truth(a, point) is True for a in problem.assuming)


def confirmed(problem: ProofProblem, point: ExactPoint) -> bool:
    """Whether a point is a counterexample: admitted, and the claim is certainly false there."""
    return admitted(problem, point) and truth(problem.claim, point) is False


def _size(value: Fraction) -> tuple[int, Fraction, bool]:
    return value.denominator + abs(value.numerator), abs(value), value < 0


def _candidates(here: Fraction) -> list[Fraction]:
    """Simpler numbers to try instead, the simplest first: small ones, and those nearby."""
    found = {Fraction(n) for n in (0, 1, 2, 3, 4, 5, 10, -1, -2)} | {Fraction(1, 2), Fraction(-1, 2)}
    found |= {here.limit_denominator(d) for d in (1, 2, 4, 10, 100, 1000)}
    found |= {Fraction(math.floor(here * d) + n, d) for d in range(1, 5) for n in range(1 - d, d + 1)}
    return sorted((c for c in found if _size(c) < _size(here)), key=_size)


def _simpler(here: Any) -> list[Any]:
    """Values to try instead of a number, or of a vector's coordinates one by one."""
    if not isinstance(here, tuple):
        return _candidates(here)
    return [(*here[:i], c, *here[i + 1 :]) for i, value in enumerate(here) for c in _candidates(value)]


def exact_norms(problem: ProofProblem, point: ExactPoint) -> bool:
    """Whether all norms in a problem are fractions at a point, so that anyone can work it out."""
    return all(isinstance(evaluate(e, point), Fraction) for e in problem.norms)


def simplified(problem: ProofProblem, point: ExactPoint) -> ExactPoint:
    """A counterexample with simpler numbers, one coordinate at a time from a confirmed one; it stays in the box."""
    ends = problem.ends

    def boxed(moved: ExactPoint) -> bool:
        return all(low <= moved[name] <= high for name, (low, high) in ends.items())

    def accepted(moved: ExactPoint) -> bool:
        if (inside and not boxed(moved)) or not confirmed(problem, moved):
            return False
        return not exact or exact_norms(problem, moved)

    inside, exact = boxed(point), exact_norms(problem, point)
    best = dict(point)
    for _ in range(_ROUNDS):
        before = dict(best)
        for name in best:
            for candidate in _simpler(best[name]):
                if accepted({**best, name: candidate}):
                    best[name] = candidate
                    break
        if best == before:
            break
    return best


def refutation(problem: ProofProblem, point: ExactPoint) -> Proof:
    """The proof that a confirmed point is a counterexample, made simpler where it stays one."""
    return refutation_at(problem, simplified(problem, point))


def refutation_at(problem: ProofProblem, point: ExactPoint) -> Proof:
    """The proof that this point is a counterexample, with both sides' values there."""
    named = {v.name: coordinates_text(point[v.name]) for v in problem.over}
    left = right = None
    shown = failing(problem.claim, point)
    if shown is not None:
        with suppress(UndefinedError, UnclearError):
            sides = text(shown.left, point), text(shown.right, point)
            left, right = sides
    steps = {"method": "counterexample", "point": named}
    return settled(problem, Verdict.REFUTED, steps, counterexample=named, left=left, right=right)


MANY = 2_000
"""Points that are tried where there are vectors."""
_COORDINATES = tuple(map(Fraction, ("0", "1", "-1", "2", "-2", "1/2", "-1/2", "3")))
_SIMPLE = tuple(
    Fraction(text)
    for text in (
        *("1", "2", "1/2", "0", "-1", "3", "4", "5", "1/4", "3/4", "1/3", "10", "1/10", "-2"),
        *("-1/2", "100", "1/100", "-1/4", "-5", "20", "1000", "1/1000"),
    )
)


def simple_points(problem: ProofProblem, limit: int) -> Iterator[ExactPoint]:
    """Points of a problem's domain and box, simple numbers first."""
    lists = [
        [x for x in simple_values(v, ends) if ends is None or ends[0] <= x <= ends[1]]
        for v in problem.over
        for ends in (problem.ends.get(v.name),)
    ]
    for values in graded(lists, limit):
        yield {v.name: x for v, x in zip(problem.over, values, strict=True)}


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


def graded(lists: Sequence[Sequence[_Entry]], limit: int) -> Iterator[tuple[_Entry, ...]]:
    """Tuples of entries by the sum of their ranks, so that simple numbers come before less simple ones."""
    if not lists:
        yield ()
    elif all(lists):
        found = ranks(tuple(map(len, lists)), limit)
        for first in range(0, len(found), _AT_ONCE):
            for places in found[first : first + _AT_ONCE].tolist():
                yield tuple(entries[place] for entries, place in zip(lists, places, strict=True))


@lru_cache(maxsize=64)  # many problems have as many letters with such domains
def ranks(sizes: tuple[int, ...], limit: int) -> NDArray[np.int16]:
    """The first tuples of ranks, (tuples, lists), by the sum of ranks and then in the order of tuples.

    `sizes` are those of the lists, at least one, of which each rank names an entry.
    """
    counts = reduce(np.convolve, map(np.ones, sizes))
    largest = int(np.searchsorted(np.cumsum(counts), limit))
    # all tuples whose sum is no larger, in their order
    rows, sums = np.zeros((1, 0), dtype=np.int16), np.zeros(1, dtype=np.int64)
    for size in sizes:
        entries = np.minimum(size, largest + 1 - sums)
        last = np.arange(entries.sum()) - np.repeat(np.cumsum(entries) - entries, entries)
        rows = np.concatenate([np.repeat(rows, entries, axis=0), last[:, None].astype(np.int16)], axis=1)
        sums = np.repeat(sums, entries) + last
    ordered: NDArray[np.int16] = rows[np.argsort(sums, kind="stable")[:limit]]
    ordered.flags.writeable = False
    return ordered


def spread_out(dimension: int, count: int, seed: int) -> Iterator[list[float]]:
    """Evenly spread points of the open unit cube: multiples of powers of the golden ratio, modulo 1."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = [ratio ** -(k + 1) for k in range(dimension)]
    for i in range(1, count + 1):
        yield [min(max((0.5 + (i + seed) * step) % 1.0, 1e-9), 1 - 1e-9) for step in steps]


def random_points(problem: ProofProblem, count: int, *, most: int = 3) -> Iterator[ExactPoint]:
    """Points with simple numbers and vectors of few coordinates, the same ones every time."""
    lists = [simple_values(v, problem.ends.get(v.name)) for v in problem.over if v.kind != "vector"]
    if not all(lists):
        return
    rng = random.Random(0)
    for i in range(count):
        # all vectors are 0 first; then larger numbers little by little
        dimension = 1 + i % most
        coordinates = _COORDINATES[: 1 if i == 0 else 3 if i < count // 4 else len(_COORDINATES)]
        numbers = iter(
            values[0] if i == 0 else rng.choice(values[: 3 if i % 2 else len(values)]) for values in lists
        )
        yield {
            v.name: tuple(rng.choice(coordinates) for _ in range(dimension))
            if v.kind == "vector"
            else next(numbers)
            for v in problem.over
        }
