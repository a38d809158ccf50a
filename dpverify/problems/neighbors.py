"""Whether two data sets are neighbors: nothing is learned about privacy from two that are not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy.adjacency import Adjacency, checked_adjacency


def check_neighbors(
    left: NDArray[Any],
    right: NDArray[Any],
    adjacency: Adjacency,
    *,
    names: tuple[str, str] = ("left", "right"),
    index: int | None = None,
) -> None:
    """Refuse data sets that are no neighbors, one record along the first axis, in the same order in both.

    - replace-one: as many records, and exactly one of them differs.
    - add-or-remove-one: one has all records of the other, and one more.
    - index: as replace-one, and it is record `index`, counted from 1, that differs.
    - zero-out: as replace-one, and the record that differs is zero in one of the data sets.
    - answers-within-1: as many answers, each of which differs by at most 1.
    - as-given: any two that differ.

    Raises:
        InvalidDataError: if they are none; also if they are equal, since nothing would be tested.
        InvalidArgumentError: for an adjacency that is none, and for an index that is missing or not asked for.
    """
    adjacency = checked_adjacency(adjacency)
    if (index is not None) != (adjacency is Adjacency.INDEX):
        raise InvalidArgumentError("index", index, "a record's number with adjacency index, otherwise None")
    for name, records in zip(names, (left, right), strict=True):
        if records.ndim == 0 or records.dtype.hasobject:
            raise InvalidDataError(f"{name} is not a data set; allowed: an array with one record per row.")
    both = f"{names[0]} and {names[1]}"
    if left.shape[1:] != right.shape[1:] and adjacency is not Adjacency.AS_GIVEN:
        raise InvalidDataError(f"{both} have records of shapes {left.shape[1:]} and {right.shape[1:]}.")
    if left.shape == right.shape and np.array_equal(left, right):
        raise InvalidDataError(
            f"{both} hold the same records, so nothing would be tested; allowed: data sets that differ in exactly "
            "one record."
        )
    if adjacency is Adjacency.ADD_REMOVE_ONE:
        _check_one_more(left, right, both)
        return
    if adjacency is Adjacency.AS_GIVEN:
        return
    if adjacency is Adjacency.ANSWERS:
        _check_answers(left, right, both)
        return
    if len(left) != len(right):
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} records; neighbors that differ in one replaced record have as "
            "many (adjacency add-or-remove-one is for one record more or less)."
        )
    differing = _differing(left, right)
    if len(differing) == 1:
        if index is not None and differing[0] + 1 != whole_number("index", index, at_least=1):
            raise InvalidDataError(f"{both} differ in record {differing[0] + 1}; allowed: record {index}.")
        if adjacency is Adjacency.ZERO_OUT and all(np.any(side[differing[0]] != 0) for side in (left, right)):
            raise InvalidDataError(
                f"{both} differ in record {differing[0] + 1}, which is zero in neither; allowed for neighbors by "
                "zeroing out: a record of zeros in one of them."
            )
        return
    ours, theirs = (Counter(map(bytes, _rows(records))) for records in (left, right))
    replaced = (ours - theirs).total()
    if replaced == 0:
        raise InvalidDataError(
            f"{both} hold the same records in another order; allowed: the same order in both, and exactly one record "
            "that differs."
        )
    hint = " (as it would be with the records in the same order)" if replaced == 1 else ""
    raise InvalidDataError(
        f"{both} differ in {len(differing)} of {len(left)} records; allowed for neighbors by one replaced record: "
        f"exactly one{hint}."
    )


def _check_one_more(left: NDArray[Any], right: NDArray[Any], both: str) -> None:
    fewer, more = sorted((left, right), key=len)
    if len(more) != len(fewer) + 1:
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} records; neighbors by one record more or less differ by one."
        )
    # all before the first difference agree, so all behind it have to agree one place further on
    differing = _differing(fewer, more[:-1])
    first = differing[0] if len(differing) else len(fewer)
    if len(_differing(fewer[first:], more[first + 1 :])):
        raise InvalidDataError(
            f"{both} differ in more than one record that is added or removed; allowed: all records of one, in the "
            "same order, and one more."
        )


def _check_answers(left: NDArray[Any], right: NDArray[Any], both: str) -> None:
    if len(left) != len(right):
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} answers; neighbors whose answers move by at most 1 have as many."
        )
    with np.errstate(invalid="ignore", over="ignore"):
        moved = np.abs(np.asarray(left, dtype=np.float64) - np.asarray(right, dtype=np.float64))
    if not np.all(moved <= 1):
        raise InvalidDataError(
            f"{both} have answers that differ by {float(np.max(moved)):g}; allowed: each moves by at most 1."
        )


def _differing(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.intp]:
    return np.flatnonzero((_rows(left) != _rows(right)).any(axis=1))


def _rows(records: NDArray[Any]) -> NDArray[Any]:
    return records.reshape(len(records), int(np.prod(records.shape[1:], dtype=np.int64)))
