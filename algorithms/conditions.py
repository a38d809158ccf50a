"""Conditions under which an algorithm's guarantee holds, and what happens where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import Adjacency, StatedGuarantee
from dpverify.problems import ConstraintSet, Dataset, Loss, label_range


def refuse_or_withdraw(algorithm: str, reasons: Sequence[str], withdraw: bool) -> None:
    """Refuse parameters that void the guarantee, unless the user withdrew it.

    Raises:
        NotGuaranteedError: if there are reasons and the guarantee was not withdrawn.
    """
    if not isinstance(withdraw, bool):
        raise InvalidArgumentError("withdraw_guarantee", withdraw, "True or False")
    if reasons and not withdraw:
        raise NotGuaranteedError(
            f"{algorithm} has no guarantee here: {'; '.join(reasons)}. Change that, or pass "
            "withdraw_guarantee=True to run without a guarantee."
        )


def claims_privacy(stated: Iterable[StatedGuarantee], epsilon: float, delta: float) -> bool:
    """Whether one of the guarantees, for whole data sets that differ in a record, implies (epsilon, delta)-DP.

    Up to rounding: epsilon and delta may be exceeded by 1e-12 of themselves.
    """
    for one in stated:
        if one.adjacency is Adjacency.REPLACE_ONE and one.index is None and not one.local:
            profile = one.guarantee.privacy_profile(epsilon * (1 + 1e-12))
            if float(np.asarray(profile)) <= delta * (1 + 1e-12):
                return True
    return False


def check_records(data: Dataset, loss: Loss) -> None:
    """Refuse records that the declared constants of the loss do not cover.

    Raises:
        InvalidDataError: if a record's norm is above 1, or its label outside the loss's range.
    """
    data.require_unit_ball()
    lowest, highest = label_range(loss)
    labels = np.asarray(data.labels)
    if not np.all((labels >= lowest) & (labels <= highest)):
        raise InvalidDataError(
            f"A label of {data.name} is outside [{lowest:g}, {highest:g}], where the loss's constants hold."
        )


def normalized_start(start: Sequence[float] | None, constraint: ConstraintSet) -> tuple[float, ...]:
    """The starting point as a tuple; the set's center if None.

    Raises:
        InvalidArgumentError: if it is no point of the constraint set.
    """
    allowed = f"{constraint.dimension} finite numbers, a point of the constraint set"
    given: Any = constraint.center() if start is None else start
    point = np.asarray(given)
    if point.shape != (constraint.dimension,) or point.dtype.kind not in "iuf":
        raise InvalidArgumentError("start", start, allowed)
    point = point.astype(np.float64)
    if not np.all(np.isfinite(point)) or not np.all(constraint.contains(point[None, :], 1e-9)):
        raise InvalidArgumentError("start", start, allowed)
    return tuple(point.tolist())
