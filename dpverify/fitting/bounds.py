"""Bounds that are declared of records, and what they make of each record by itself: neighbors stay neighbors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.checks import FloatArray, number, of_kind, require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import Dataset
from dpverify.problems.tables.mapped import all_finite, by_rows, is_mapped_numbers

_FAR = 1e150
"""Coordinates are cut off there, so that their squares are numbers; the record is shortened all the same."""


@dataclass(frozen=True)
class DeclaredBounds:
    """What is known of records before anybody looks at them, and how they are brought into the unit ball.

    A feature is mapped from its declared range to [-1, 1] (clipped there), then the record is divided by `norm`, and
    shortened to norm 1 where it is longer. With an intercept, a constant feature 1 is added and all is divided by
    sqrt(2). Two classes become -1 and 1; other labels are mapped from `label_range` to [-1, 1], clipped.

    Attributes:
        norm: a bound on the norm of a record's features, after their ranges were mapped; in their unit. None: 1, or
            sqrt(d) where ranges are declared, which shortens nothing.
        ranges: the smallest and the largest value of each feature, or one pair for all; None: features as they are.
        label_range: of labels that are numbers.
        intercept: whether a model has one.

    Examples:
        >>> import numpy as np
        >>> from dpverify.fitting import DeclaredBounds
        >>> bounds = DeclaredBounds(norm=2.0)
        >>> bounds.features(np.array([[0.0, 1.0], [3.0, 4.0]])).tolist()  # the second record is too long
        [[0.0, 0.5], [0.6, 0.8]]
    """

    norm: float | None = None
    ranges: Sequence[Sequence[float]] | None = None
    label_range: Sequence[float] = (-1.0, 1.0)
    intercept: bool = False

    def __post_init__(self) -> None:
        if self.norm is not None:
            number("norm", self.norm, above=0)
        if self.ranges is not None:
            pairs = [_pair("ranges", self.ranges, one) for one in _listed(self.ranges)]
            object.__setattr__(self, "ranges", tuple(pairs))
        object.__setattr__(self, "label_range", _pair("label_range", self.label_range, self.label_range))
        of_kind("intercept", self.intercept, bool)

    def _affine(self, d: int) -> tuple[FloatArray, FloatArray]:
        """Factor and shift of each of d features, shape (d,): what is shortened is factor * x + shift."""
        if self.ranges is None:
            return np.full(d, 1 / self.length(d)), np.zeros(d)
        pairs = np.asarray(self.ranges, dtype=np.float64)
        if len(pairs) not in (1, d):
            raise InvalidArgumentError(
                "ranges", f"{len(pairs)} pairs", f"one pair, or one for each of {d} features"
            )
        low, high = (np.broadcast_to(column, (d,)) for column in pairs.T)
        return 2 / (high - low) / self.length(d), -(high + low) / (high - low) / self.length(d)

    def length(self, d: int) -> float:
        """The bound on the norm of d features, declared or the one that follows from ranges."""
        if self.norm is not None:
            return float(self.norm)
        return 1.0 if self.ranges is None else math.sqrt(d)

    def features(self, features: FloatArray) -> FloatArray:
        """The features (n, d) as records in the unit ball, shape (n, d), or (n, d + 1) with an intercept.

        On disk if they are.
        """
        return by_rows(self._records, features)

    def _records(self, features: FloatArray) -> FloatArray:
        d = features.shape[1]
        factor, shift = self._affine(d)
        side = _FAR if self.ranges is None else 1 / self.length(d)
        with np.errstate(over="ignore"):
            scaled = np.clip(features * factor + shift, -side, side)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        scaled = scaled / np.maximum(norms, 1.0)
        if self.intercept:
            scaled = np.concatenate([scaled, np.ones((len(scaled), 1))], axis=1) / math.sqrt(2)
        return scaled

    def targets(self, labels: FloatArray) -> FloatArray:
        """Labels that are numbers, (n,), in [-1, 1]."""
        low, high = self.label_range
        return np.clip((2 * labels - (low + high)) / (high - low), -1.0, 1.0)

    def dataset(self, features: FloatArray, labels: FloatArray, name: str) -> Dataset:
        """The data set of records that a method runs on; labels are in [-1, 1] already."""
        return Dataset(self.features(features), labels, name, "declared bounds, record by record")

    def in_their_units(self, point: FloatArray, d: int) -> tuple[FloatArray, float]:
        """Coefficients (d,) and intercept for features as they come, of a point for records in the unit ball."""
        factor, shift = self._affine(d)
        slopes = point[:d] / math.sqrt(2) if self.intercept else point
        constant = float(point[d]) / math.sqrt(2) if self.intercept else 0.0
        return slopes * factor, constant + float(slopes @ shift)


def _listed(ranges: Any) -> Sequence[Any]:
    """A list of pairs, where one pair may stand alone."""
    try:
        found = list(ranges)
        return [found] if len(found) == 2 and not any(np.ndim(one) for one in found) else found
    except TypeError:
        raise InvalidArgumentError("ranges", ranges, "pairs of a smallest and a largest value") from None


def _pair(argument: str, whole: object, pair: Any) -> tuple[float, float]:
    """Two numbers that rise."""
    allowed = "a smallest and a larger largest value, finite numbers"
    try:
        low, high = (number(argument, float(one)) for one in pair)
    except (TypeError, ValueError):
        raise InvalidArgumentError(argument, whole, allowed) from None
    require(low < high, argument, whole, allowed)
    return low, high


def finite_matrix(features: Any, what: str = "features") -> FloatArray:
    """A table (n, d) of finite numbers; one that is mapped from a file stays there."""
    try:
        found = np.asarray(features, dtype=None if is_mapped_numbers(features) else np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"The {what} are not a table of numbers; allowed: shape (n, d), finite."
        ) from None
    if found.ndim != 2 or 0 in found.shape or not all_finite(found):
        raise InvalidDataError(
            f"The {what} have shape {found.shape}, or values that are missing or infinite; allowed: finite numbers of "
            "shape (n, d) with n and d at least 1."
        )
    return found
