"""Neighboring data sets: whether two are, and pairs on which an algorithm loses the most privacy, or close to it.

Nothing is learned about privacy from two that are no neighbors. In each pair that is made here the two data sets
differ in record `index`, counted from 1 (replace-one adjacency).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from dpverify.checks import of_kind, require, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy.adjacency import Adjacency, checked_adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.datasets import Dataset
from dpverify.problems.displacements import ContractOrDrift
from dpverify.problems.losses import Linear, Loss, label_range

Vector = npt.NDArray[np.float64]


def check_neighbors(
    left: NDArray[Any],
    right: NDArray[Any],
    adjacency: Adjacency,
    *,
    names: tuple[str, str] = ("left", "right"),
    index: int | None = None,
    unit: PrivacyUnit | None = None,
) -> None:
    """Refuse data sets that are no neighbors, one record along the first axis, in the same order in both.

    - replace-one: as many records, and exactly one of them differs.
    - add-or-remove-one: one has all records of the other, and one more.
    - index: as replace-one, and it is record `index`, counted from 1, that differs.
    - zero-out: as replace-one, and the record that differs is zero in one of the data sets.
    - answers-within-1: as many answers, each of which differs by at most 1.
    - user, group, label, local, metric, private-columns: as `unit` says, which has their parameters.
    - unchecked: any two that differ.

    A missing number (NaN) equals another missing number.
    """
    adjacency = checked_adjacency(adjacency)
    unit = PrivacyUnit(adjacency) if unit is None else unit.numbered()
    if (index is not None) != (adjacency is Adjacency.INDEX):
        raise InvalidArgumentError("index", index, "a record's number with adjacency index, otherwise None")
    for name, records in zip(names, (left, right), strict=True):
        if records.ndim == 0 or records.dtype.hasobject:
            raise InvalidDataError(f"{name} is not a data set; allowed: an array with one record per row.")
    both = f"{names[0]} and {names[1]}"
    if left.shape[1:] != right.shape[1:] and adjacency is not Adjacency.UNCHECKED:
        raise InvalidDataError(f"{both} have records of shapes {left.shape[1:]} and {right.shape[1:]}.")
    if left.shape == right.shape and not len(_differing(left, right)):
        raise InvalidDataError(
            f"{both} hold the same records, so nothing would be tested; allowed: data sets that differ in exactly "
            "one record."
        )
    if adjacency is Adjacency.ADD_REMOVE_ONE:
        _check_one_more(left, right, both)
        return
    if adjacency is Adjacency.UNCHECKED:
        return
    if (check := _OTHER_CHECKS.get(adjacency)) is not None:
        check(left, right, both, unit)
        return
    if len(left) != len(right):
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} records; neighbors that differ in one replaced record have as "
            "many (adjacency add-or-remove-one is for one record more or less)."
        )
    differing = _differing(left, right)
    if len(differing) == 1:
        if index is not None and differing[0] + 1 != whole_number("index", index):
            raise InvalidDataError(f"{both} differ in record {differing[0] + 1}; allowed: record {index}.")
        if adjacency is Adjacency.ZERO_OUT and all(np.any(side[differing[0]] != 0) for side in (left, right)):
            raise InvalidDataError(
                f"{both} differ in record {differing[0] + 1}, which is zero in neither; allowed for neighbors by "
                "zeroing out: a record of zeros in one of them."
            )
        return
    _refuse_several(left, right, both, len(differing))


def _refuse_several(left: NDArray[Any], right: NDArray[Any], both: str, differing: int) -> None:
    ours, theirs = (Counter(map(bytes, _rows(records))) for records in (left, right))
    replaced = (ours - theirs).total()
    if replaced == 0:
        raise InvalidDataError(
            f"{both} hold the same records in another order; allowed: the same order in both, and exactly one record "
            "that differs."
        )
    hint = " (as it would be with the records in the same order)" if replaced == 1 else ""
    raise InvalidDataError(
        f"{both} differ in {differing} of {len(left)} records; allowed for neighbors by one replaced record: "
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


def _check_answers(left: NDArray[Any], right: NDArray[Any], both: str, _: PrivacyUnit) -> None:
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


def _check_users(left: NDArray[Any], right: NDArray[Any], both: str, unit: PrivacyUnit) -> None:
    column = int(unit.key or 1) - 1
    sides = [_rows(side) for side in (left, right)]
    if column >= sides[0].shape[1]:
        raise InvalidArgumentError("key", unit.key, f"a column of records, which have {sides[0].shape[1]}")
    if any(side.dtype.kind in "fc" and np.isnan(side[:, column]).any() for side in sides):
        raise InvalidDataError(
            f"{both} have records without a user in column {unit.key}; allowed: a value in each."
        )
    users = sorted({value for side in sides for value in side[:, column].tolist()}, key=repr)
    theirs = [[side[side[:, column] == user] for side in sides] for user in users]
    changed = [user for user, (ours, other) in zip(users, theirs, strict=True) if not _same(ours, other)]
    if len(changed) > 1:
        raise InvalidDataError(
            f"{both} differ in the records of {len(changed)} users, such as {changed[0]!r} and {changed[1]!r}; "
            "allowed: in those of one."
        )
    if changed:
        counts = [int(np.count_nonzero(side[:, column] == changed[0])) for side in sides]
        _check_change(unit, both, 0 in counts, "all records of the user")
    others = [side[side[:, column] != changed[0]] if changed else side for side in sides]
    if not _same(others[0], others[1]):
        raise InvalidDataError(
            f"{both} hold the same records of other users in another order; allowed: the same order."
        )


def _check_change(unit: PrivacyUnit, both: str, added: bool, what: str) -> None:
    found = "added-or-removed" if added else "replaced"
    if unit.change not in (None, found):
        raise InvalidDataError(f"{both} differ in {what} {found}; allowed by {unit}: {unit.change}.")


def _check_group(left: NDArray[Any], right: NDArray[Any], both: str, unit: PrivacyUnit) -> None:
    size = int(unit.size or 1)
    _check_change(unit, both, len(left) != len(right), "records")
    if len(left) == len(right):
        count = len(_differing(left, right))
        if count > size:
            raise InvalidDataError(
                f"{both} differ in {count} records; allowed for neighbors by group: {size} at most."
            )
        return
    fewer, more = (_rows(side) for side in sorted((left, right), key=len))
    if len(more) - len(fewer) > size:
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} records; neighbors by group differ by {size} at most."
        )
    place = 0
    for record in more:
        if place < len(fewer) and _same(fewer[place : place + 1], record[None, :]):
            place += 1
    if place < len(fewer):
        raise InvalidDataError(
            f"{both} differ in more than records that are added or removed: record {place + 1} of the smaller one is "
            "not in the other at its place; allowed: all records of one, in the same order, and more."
        )


def _check_local(left: NDArray[Any], right: NDArray[Any], both: str, _: PrivacyUnit) -> None:
    if len(left) != 1 or len(right) != 1:
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} records; allowed for a local claim: one each, since each record "
            "is released by itself."
        )


def _check_one_moved(left: NDArray[Any], right: NDArray[Any], both: str, unit: PrivacyUnit) -> None:
    """One record replaced, by one that the unit allows: label, private-columns and metric."""
    if len(left) != len(right):
        raise InvalidDataError(
            f"{both} have {len(left)} and {len(right)} records; neighbors by {unit} have as many."
        )
    differing = _differing(left, right)
    if len(differing) > 1:
        _refuse_several(left, right, both, len(differing))
    one, other = (_rows(side)[differing[0]] for side in (left, right))
    if unit.distance is not None:
        orders = {"l1": 1, "l2": 2, "linf": np.inf}
        moved = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
        norm = float(np.linalg.norm(moved, orders[unit.norm or "l2"]))
        if not norm <= unit.distance * (1 + 1e-12):
            raise InvalidDataError(
                f"{both} differ in record {differing[0] + 1} by {norm:g}; allowed: {unit.distance:g} in the "
                f"{unit.norm or 'l2'} norm."
            )
        return
    moved_columns = _differing(one[:, None], other[:, None])
    public = sorted(set(moved_columns.tolist()) - set(unit.private(len(one))))
    if public:
        raise InvalidDataError(
            f"{both} differ in record {differing[0] + 1} in column {public[0] + 1}; allowed by {unit}: other columns."
        )


_OTHER_CHECKS = {
    Adjacency.ANSWERS: _check_answers,
    Adjacency.USER: _check_users,
    Adjacency.GROUP: _check_group,
    Adjacency.LOCAL: _check_local,
    Adjacency.METRIC: _check_one_moved,
    Adjacency.LABEL: _check_one_moved,
    Adjacency.PRIVATE_COLUMNS: _check_one_moved,
}


def _differing(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.intp]:
    """Places at which records differ; NaN equals NaN."""
    ours, theirs = _rows(left), _rows(right)
    unequal = np.asarray(ours != theirs)
    if ours.dtype.kind in "fc" and theirs.dtype.kind in "fc":
        unequal &= ~(np.isnan(ours) & np.isnan(theirs))
    return np.flatnonzero(unequal.any(axis=1))


def _same(left: NDArray[Any], right: NDArray[Any]) -> bool:
    return left.shape == right.shape and not len(_differing(left, right))


def _rows(records: NDArray[Any]) -> NDArray[Any]:
    return records.reshape(len(records), int(np.prod(records.shape[1:], dtype=np.int64)))


@dataclass(frozen=True, eq=False)
class NeighborPair:
    """Two data sets that differ in record `index`, and the loss that they are meant for.

    `gradient_distance` is the largest ||gradient at the left record - gradient at the right one|| over all
    points (over the searched one for `opposite_neighbor`), in units of loss over length.
    """

    left: Dataset
    right: Dataset
    index: int
    loss: Loss
    gradient_distance: float
    description: str


def opposite_linear(n: int, d: int, index: int) -> NeighborPair:
    """Linear losses: e_1 against -e_1 at `index`, zero gradients elsewhere.

    Noisy gradient descent without projection then moves by the same steps on both sides but for one, so every
    step's noise hides it: with n steps of size eta and noise of standard deviation s in each, the outputs are
    Gaussians at distance 2 eta with variance n s^2, whatever the index.

    Raises:
        InvalidArgumentError: unless n and d are positive integers and `index` is from 1 to n.
    """
    said = f"linear losses with opposite unit gradients at record {index} of {n}, zero gradients elsewhere"
    return _opposite(n, d, index, n, Linear(), "opposite linear losses", said)


def _opposite(n: int, d: int, index: int, ones: int, loss: Loss, name: str, said: str) -> NeighborPair:
    """Records of zeros, but for e_1 and -e_1 at one index, with so many labels of 1 before those of 0."""
    whole_number("n", n)
    whole_number("d", d)
    whole_number("index", index, at_most=n)
    left, right = np.zeros((n, d)), np.zeros((n, d))
    left[index - 1, 0], right[index - 1, 0] = 1.0, -1.0
    labels = np.where(np.arange(n) < ones, 1.0, 0.0)

    def side(records: Vector, which: str) -> Dataset:
        return Dataset(records, labels, f"{name}, {which}", "by construction")

    return NeighborPair(side(left, "left"), side(right, "right"), index, loss, 2.0, said)


def contract_then_reveal(n: int, index: int, *, d: int = 1, radius: float = math.inf) -> NeighborPair:
    """Steps up to `index` contract all space to a point, later ones move nothing, so only later noise counts.

    The loss is `ContractOrDrift`. With step size 1, one pass in order, no projection that binds, and noise of
    standard deviation s added in each step, step `index` forgets the past and lands on e_1 or -e_1; its own
    noise and that of later steps are added. The outputs are Gaussians at distance 2 with variance (n - index
    + 1) s^2, so their trade-off function is that of GDP with mu = 2 / (s sqrt(n - index + 1)), exactly.

    Args:
        n: number of records, and of steps.
        index: where the data sets differ, from 1.
        d: dimension.
        radius: largest norm in the constraint set, for the loss's constants; the pair is exact as long as the
            projection does not move points.

    Raises:
        InvalidArgumentError: unless n and d are positive integers, `index` is from 1 to n and `radius` is
            positive.
    """
    said = f"steps up to record {index} of {n} contract to a point, later ones are identity maps"
    return _opposite(n, d, index, index, ContractOrDrift(radius), "contract, then reveal", said)


def opposite_neighbor(
    loss: Loss, data: Dataset, index: int, *, at: npt.ArrayLike | None = None
) -> NeighborPair:
    """A real data set, and its neighbor with the record whose gradient at one point differs most.

    Candidates are the unit vectors along the record, its gradient and the point, in both directions, with the
    smallest and the largest admissible label. For a generalized linear loss at w = 0 the best of them is the
    best of all: the gradient is a multiple of the record there, and a longer opposite record makes a larger
    opposite gradient.

    Args:
        loss: the loss.
        data: at least `index` records, in the unit ball.
        index: the record to replace, from 1.
        at: the point to compare gradients at, shape (d,); the origin if None.

    Raises:
        InvalidArgumentError: if `index` or the shape of `at` does not fit.
        InvalidDataError: if a record lies outside the unit ball.
    """
    of_kind("data", data, Dataset)
    whole_number("index", index, at_most=data.n)
    data = data.as_namespace(np).in_unit_ball()
    point = np.zeros(data.d) if at is None else np.asarray(at, dtype=np.float64)
    require(point.shape == (data.d,) and np.all(np.isfinite(point)), "at", at, f"{data.d} finite numbers")
    x, y = data.features[index - 1], data.labels[index - 1]
    here = loss.gradient(point[None, :], x, y)[0]
    best: tuple[float, Vector, float] = (-1.0, x, float(y))
    for direction in (x, here, point, np.eye(data.d)[0]):
        length = float(np.linalg.norm(direction))
        for sign in (1.0, -1.0) if length > 0.0 else ():
            # A hair inside the ball, so that rounding cannot push the record out.
            record = direction * (sign * (1.0 - 1e-15) / length)
            for label in label_range(loss):
                there = loss.gradient(point[None, :], record, np.float64(label))[0]
                distance = float(np.linalg.norm(there - here))
                if distance > best[0]:
                    best = (distance, record, label)
    distance, record, label = best
    return NeighborPair(
        data,
        data.replace(index, record, label),
        index,
        loss,
        distance,
        f"{data.name} and its neighbor with record {index} replaced by one with an opposite gradient",
    )
