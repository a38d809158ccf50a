"""Hypothesis strategies for epsilons, deltas, guarantees, records and neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from dpverify.checks import not_negative, one_of, positive, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, Adjacency, ApproxDP, Guarantee, PureDP, zCDP
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.privacy.forms.units import PARAMETERS
from dpverify.problems import Dataset


def epsilons(largest: float = 20.0) -> st.SearchStrategy[float]:
    """Epsilons in nats, 0 included."""
    return st.floats(0.0, not_negative("largest", largest))


def deltas() -> st.SearchStrategy[float]:
    """Deltas in (0, 1), tiny ones as often as large ones."""
    return st.floats(-300.0, -0.01).map(lambda exponent: 10.0**exponent)


def guarantees() -> st.SearchStrategy[Guarantee]:
    """Guarantees with closed forms: pure, approximate, Gaussian, zero-concentrated.

    Examples:
        >>> from hypothesis import given, settings
        >>> from dpverify.properties import check_guarantee, guarantees
        >>> @settings(max_examples=10, derandomize=True, database=None, deadline=None)
        ... @given(guarantees())
        ... def test(found):
        ...     check_guarantee(found)
        >>> test()
    """
    return st.one_of(
        st.builds(PureDP, epsilon=st.floats(1e-3, 10.0)),
        st.builds(ApproxDP, epsilon=st.floats(1e-3, 10.0), delta=st.floats(1e-12, 0.5)),
        st.builds(GDP, mu=st.floats(1e-2, 5.0)),
        st.builds(zCDP, rho=st.floats(1e-3, 5.0)),
    )


def unit_ball_points(rows: int, dimension: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Arrays (rows, dimension) whose rows lie in the Euclidean unit ball, its boundary included."""
    shape = whole_number("rows", rows, at_least=0), whole_number("dimension", dimension)

    def shrink(values: NDArray[np.float64]) -> NDArray[np.float64]:
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.asarray(values / np.maximum(lengths, 1.0))

    entries = st.floats(-1.0, 1.0, allow_nan=False, width=64)
    return hnp.arrays(np.float64, shape, elements=entries).map(shrink)


def datasets(*, n: int, d: int) -> st.SearchStrategy[Dataset]:
    """Data sets of n records of d features in the unit ball with labels -1 and 1.

    Raises:
        InvalidArgumentError: if n or d is no integer of at least 1.
    """
    return _datasets(whole_number("n", n), whole_number("d", d))


def neighboring_datasets(
    *, n: int, d: int, adjacency: Adjacency | str = Adjacency.REPLACE_ONE
) -> st.SearchStrategy[tuple[Dataset, Dataset, int]]:
    """Two different neighboring data sets, and the index from 1 of the record that they differ in.

    - replace-one, index: both have n records, and that one is replaced.
    - zero-out: likewise, by zeros with label 0.
    - add-or-remove-one: the first has n records, the second lacks that one.

    Raises:
        InvalidArgumentError: if n or d is no integer of at least 1 (n of at least 2 where a record is removed), and for
            other adjacencies.
    """
    by = checked_adjacency(adjacency)
    known = (Adjacency.REPLACE_ONE, Adjacency.INDEX, Adjacency.ZERO_OUT, Adjacency.ADD_REMOVE_ONE)
    one_of("adjacency", by.value, known)
    least = 2 if by is Adjacency.ADD_REMOVE_ONE else 1
    return _neighbors(whole_number("n", n, at_least=least), whole_number("d", d), by)


def neighboring_arrays(
    *,
    n: int,
    d: int,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    radius: float = 1.0,
    index: int | None = None,
) -> st.SearchStrategy[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Two different neighboring arrays (records, d) with at most n records of Euclidean norm at most `radius`.

    - replace-one, index, zero-out: both have as many records, and one differs: any, that at `index`, or one that is
      zero in one of the arrays.
    - add-or-remove-one: one of them has one more, and the other may have none.
    - answers-within-1: as many answers, of absolute value at most `radius` in the first array; each moves by at most 1.
    - local: one record each.
    - unchecked: any two arrays, of sizes of their own.

    Raises:
        InvalidArgumentError: for an adjacency with parameters, if n or d is no integer of at least 1, for a radius that
            is not positive and finite, and for an index that is not from 1 to n, missing or not asked for.

    Examples:
        >>> from hypothesis import given, settings
        >>> from dpverify.properties import neighboring_arrays
        >>> @settings(max_examples=10, derandomize=True, database=None, deadline=None)
        ... @given(neighboring_arrays(n=3, d=1))
        ... def test(pair):
        ...     assert (pair[0] != pair[1]).sum() == 1
        >>> test()
    """
    n, d = whole_number("n", n), whole_number("d", d)
    radius = positive("radius", radius)
    by = checked_adjacency(adjacency)
    if (index is not None) != (by is Adjacency.INDEX):
        raise InvalidArgumentError("index", index, "a record's number with adjacency index, otherwise None")
    place = None if index is None else whole_number("index", index, at_most=n) - 1
    one_of("adjacency", by.value, (known for known in Adjacency if known not in PARAMETERS))
    if by is Adjacency.ANSWERS:
        return _answers(n, d, radius)
    n = 1 if by is Adjacency.LOCAL else n
    return _arrays(n, d, by, radius, place)


_ENTRIES = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-1.0, 1.0, allow_nan=False))


@st.composite
def _records(draw: Any, least: int, most: int, d: int, radius: float) -> NDArray[np.float64]:
    rows = draw(hnp.arrays(np.float64, (draw(st.integers(least, most)), d), elements=_ENTRIES))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(radius * rows / np.maximum(lengths, 1.0))


@st.composite
def _arrays(draw: Any, n: int, d: int, by: Adjacency, radius: float, place: int | None) -> Any:
    rows = draw(_records(1 if place is None else place + 1, n, d, radius))
    if by is Adjacency.UNCHECKED:
        other = draw(_records(1, n, d, radius))
        return rows, np.vstack((other, rows[:1])) if np.array_equal(rows, other) else other
    index = draw(st.integers(0, rows.shape[0] - 1)) if place is None else place
    if by is Adjacency.ADD_REMOVE_ONE:
        pair = rows, np.delete(rows, index, axis=0)
        return pair if draw(st.booleans()) else pair[::-1]
    other = rows.copy()
    other[index] = 0.0 if by is Adjacency.ZERO_OUT else draw(_records(1, 1, d, radius))[0]
    if np.array_equal(other, rows):
        # a record of zeros has none that differs by being zeroed out: then it is zero in the other array
        other[index] = -rows[index] if rows[index].any() else radius * np.eye(d)[0]
    return (other, rows) if by is Adjacency.ZERO_OUT and draw(st.booleans()) else (rows, other)


@st.composite
def _answers(draw: Any, n: int, d: int, radius: float) -> Any:
    shape = (draw(st.integers(1, n)), d)
    answers = radius * draw(hnp.arrays(np.float64, shape, elements=_ENTRIES))
    moved = answers + draw(hnp.arrays(np.float64, shape, elements=_ENTRIES))
    # rounding may carry an answer beyond 1, and take a small move away
    moved = np.where(np.abs(moved - answers) <= 1, moved, answers)
    if np.array_equal(moved, answers):
        nearby = answers[0, 0] + np.array([1.0, -1.0, 0.5, -0.5])
        moved = answers.copy()
        moved[0, 0] = next(
            (w for w in nearby if 0 < abs(w - answers[0, 0]) <= 1), np.nextafter(answers[0, 0], 0.0)
        )
    return answers, moved


@st.composite
def _datasets(draw: Any, n: int, d: int) -> Dataset:
    features = draw(unit_ball_points(n, d))
    labels = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    return Dataset(features, labels, "drawn", "drawn in the unit ball")


@st.composite
def _neighbors(draw: Any, n: int, d: int, by: Adjacency) -> tuple[Dataset, Dataset, int]:
    left = draw(_datasets(n, d))
    index = draw(st.integers(1, n))
    if by is Adjacency.ADD_REMOVE_ONE:
        kept = [i for i in range(n) if i != index - 1]
        fewer = np.asarray(left.features)[kept], np.asarray(left.labels)[kept]
        return left, Dataset(*fewer, "drawn", "drawn in the unit ball"), index
    if by is Adjacency.ZERO_OUT:  # a label is never 0 before
        return left, left.replace(index, np.zeros(d), 0.0), index
    features = draw(unit_ball_points(1, d))[0]
    label = draw(st.sampled_from([-1.0, 1.0]))
    old = np.asarray(left.features)[index - 1], float(np.asarray(left.labels)[index - 1])
    if label == old[1] and np.array_equal(features, old[0]):
        label = -label
    return left, left.replace(index, features, label), index
