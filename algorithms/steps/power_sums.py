"""Sums over very many steps, from few of their terms.

Near its ends a sum is taken term by term. Between them lie blocks no longer than their distance to the nearer end, on
which what is summed is smooth: each has a Gauss rule of the counting measure, exact for polynomials of degree 31, whose
Jacobi matrix is that of Gram's polynomials (Gautschi 2004, table 1.1).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import poch

from dpverify.checks import FloatArray

_TERMS = 16
_EULER_MACLAURIN = ((1, 1 / 12), (3, -1 / 720), (5, 1 / 30240), (7, -1 / 1209600))
"""B_2k / (2k)! by 2k - 1."""


def power_sums(start: ArrayLike, count: ArrayLike, power: float) -> FloatArray:
    """t^-power summed over t = start, start + 1, ..., `count` terms; start is at least 1, and whole below 32.

    By the formula of Euler and Maclaurin from 32 on, which also says what a start between whole numbers means.
    """
    start, count = np.broadcast_arrays(np.asarray(start, dtype=np.float64), np.asarray(count, np.float64))
    one_by_one = np.concatenate([[0.0], np.cumsum(np.arange(1.0, 2 * _TERMS) ** -power)])
    small = np.minimum(np.maximum(2 * _TERMS - start, 0.0), count)
    first, left = start + small, count - small
    stop, logarithm = first + left, np.log1p(left / first)
    away = 1 - power
    found = first**away * np.expm1(away * logarithm) / away if away else logarithm
    found = found + (first**-power - stop**-power) / 2
    for order, share in _EULER_MACLAURIN:
        found += share * poch(power, order) * (first ** -(power + order) - stop ** -(power + order))
    place = np.where(small > 0, start, 1).astype(int)
    found += one_by_one[place - 1 + small.astype(int)] - one_by_one[place - 1]
    return np.asarray(found)


class FewTerms(NamedTuple):
    """Some terms that stand for all of a sum.

    Attributes:
        before: terms before each, shape (k,); between whole numbers where a block has a rule.
        left: terms from each on to the end, itself included.
        counts: how often each counts, summing to the number of all.
    """

    before: FloatArray
    left: FloatArray
    counts: FloatArray


@lru_cache(maxsize=128)
def terms(count: int) -> FewTerms:
    """For a sum of `count` terms, all of them if there are few."""
    low, high, size = 0, count, _TERMS
    front, back = [], []
    while high - low > 2 * size:
        front.append((low, size))
        back.append((high - size, size))
        low, high = low + size, high - size
        size = low
    half = (high - low) // 2
    blocks = [*front, (low, half), (low + half, high - low - half), *reversed(back)]
    rules = [_rule(length) for _, length in blocks]
    inside, counts = (np.concatenate(column) for column in zip(*rules, strict=True))
    sizes = [len(rule[0]) for rule in rules]
    before = np.repeat([float(at) for at, _ in blocks], sizes) + inside
    left = np.repeat([float(count - at) for at, _ in blocks], sizes) - inside
    return FewTerms(before, left, counts)


@lru_cache(maxsize=256)
def _rule(length: int) -> tuple[FloatArray, FloatArray]:
    """Nodes in 0, ..., length - 1 and weights."""
    if length <= _TERMS:
        return np.arange(float(length)), np.ones(length)
    j = np.arange(1.0, _TERMS)
    beside = j * np.sqrt((1 - (j / length) ** 2) / (4 * (4 * j**2 - 1)))  # in units of the length
    nodes, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return (length - 1) / 2 + length * nodes, length * vectors[0] ** 2
