"""Canaries: records or gradients that are easy to tell from others, made before the coins are flipped.

A gradient canary (white box) stands in the place of one record's gradient, before it is clipped. Canaries have disjoint
coordinates, so their directions are orthogonal, and cost one number for each parameter of the model however many they
are. A record canary (black box) is a record: one with a wrong label, or a blank one with a single mark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.running import Randomness
from dpverify.training.arrays import Array, as_numpy, like, namespace

Kind = Literal["coordinate gradient", "spread gradient", "mislabeled record", "blank record"]

IntegerArray = NDArray[np.int64]

_MOST = 10**7
"""Most canaries, and most parameters or features that they are placed in."""
_DIRECTIONS, _RECORDS, _PLACES = 11, 12, 13
"""Labels of the streams that the makers draw from, apart from the recorder's."""


@dataclass(frozen=True)
class GradientCanaries:
    """Gradients in directions that are orthogonal to one another, each of one L2 norm; see `spread_gradients`.

    Attributes:
        kind: how they were made.
        count: how many, m.
        norm: L2 norm of each, before any clipping, in the unit of the gradients.
        owner: (d,), the canary whose direction has this coordinate of the flattened parameters; -1 for none.
        signs: (d,), 1 or -1.
        seed: what the directions were drawn from.
    """

    kind: Kind
    count: int
    norm: float
    owner: IntegerArray = field(repr=False)
    signs: NDArray[np.float64] = field(repr=False)
    seed: int

    @property
    def dimension(self) -> int:
        """Number of parameters, d."""
        return len(self.owner)

    @property
    def support(self) -> int:
        """Number of coordinates of each direction."""
        return int(np.count_nonzero(self.owner >= 0)) // self.count

    @property
    def entry(self) -> float:
        """The size of each nonzero entry of a canary."""
        return self.norm / math.sqrt(self.support)

    def vectors(self, canaries: ArrayLike, *, first: int = 0, size: int | None = None) -> NDArray[np.float64]:
        """The canaries of the given numbers, (k,), as gradients of the flattened parameters, (k, d).

        Of these, the `size` coordinates from `first` on alone, where they are given.
        """
        chosen = canary_numbers(canaries, self.count)
        some = slice(first, None if size is None else first + size)
        return np.where(self.owner[some] == chosen[:, np.newaxis], self.signs[some] * self.entry, 0.0)

    def scores(self, update: NDArray[np.float64]) -> NDArray[np.float64]:
        """Inner products of an update, (d,), with the unit vectors of all directions, (m,)."""
        if update.shape != (self.dimension,):
            raise InvalidArgumentError(
                "update", update.shape, f"{self.dimension} numbers, one for each parameter of the canaries"
            )
        used = self.owner >= 0
        weights = self.signs[used] * update[used] / math.sqrt(self.support)
        sums = np.bincount(self.owner[used], weights=weights, minlength=self.count)
        return np.asarray(sums, dtype=np.float64)

    def description(self) -> dict[str, object]:
        """What a reader of the scores needs to know of them, as JSON."""
        return {
            "kind": self.kind,
            "count": self.count,
            "norm": self.norm,
            "dimension": self.dimension,
            "support": self.support,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class RecordCanaries:
    """Records that are added to the data set, each by a coin; see `mislabeled_records` and `blank_records`.

    Attributes:
        kind: how they were made.
        features: (m, ...), in the array library of the data set.
        labels: (m,), in the same library.
        seed: what they were drawn from.
    """

    kind: Kind
    features: Array = field(repr=False)
    labels: Array = field(repr=False)
    seed: int

    @property
    def count(self) -> int:
        """How many, m."""
        return int(self.features.shape[0])

    def description(self) -> dict[str, object]:
        """What a reader of the scores needs to know of them, as JSON."""
        shape = list(self.features.shape[1:])
        return {"kind": self.kind, "count": self.count, "shape": shape, "seed": self.seed}


def coordinate_gradients(count: int, dimension: int, *, norm: float, seed: int) -> GradientCanaries:
    """Gradient canaries that are all in one coordinate of the parameters each, drawn at random (Dirac canaries).

    They suit models with many parameters that real gradients hardly touch; else `spread_gradients` is less disturbed.

    Arguments, what is returned and what is raised are as of `spread_gradients`.

    Examples:
        >>> from dpverify.training import coordinate_gradients
        >>> canaries = coordinate_gradients(2, 5, norm=3.0, seed=0)
        >>> abs(canaries.vectors([0, 1])).sum(axis=1)
        array([3., 3.])
    """
    return _gradients("coordinate gradient", count, dimension, 1, norm, seed)


def spread_gradients(count: int, dimension: int, *, norm: float, seed: int) -> GradientCanaries:
    """Gradient canaries in random orthogonal directions, spread over all parameters.

    Each has its own random set of floor(d / m) coordinates with random signs, so what real gradients add to a score
    averages out. Directions are exactly orthogonal and need no memory beyond two numbers for each parameter.

    Args:
        count: how many, m.
        dimension: number of parameters, d, at least m.
        norm: L2 norm of each, before clipping: the clipping norm, or far above it to see whether each gradient is
            clipped on its own.
        seed: of the coordinates and signs.

    Returns:
        The canaries; `.vectors(numbers)` are gradients, (k, d).

    Raises:
        InvalidArgumentError: if an argument is out of range, or there are more canaries than parameters.

    Examples:
        >>> from dpverify.training import spread_gradients
        >>> canaries = spread_gradients(2, 9, norm=1.0, seed=0)
        >>> vectors = canaries.vectors([0, 1])
        >>> (vectors @ vectors.T).round(12)
        array([[1., 0.],
               [0., 1.]])
    """
    number = checks.whole_number("count", count, at_most=_MOST)
    support = checks.whole_number("dimension", dimension) // number
    return _gradients("spread gradient", count, dimension, max(support, 1), norm, seed)


def _gradients(
    kind: Kind, count: int, dimension: int, support: int, norm: float, seed: int
) -> GradientCanaries:
    number = checks.whole_number("count", count, at_most=_MOST)
    parameters = checks.whole_number("dimension", dimension)
    length = checks.number("norm", norm, above=0.0)
    if number > parameters:
        raise InvalidArgumentError("count", count, f"an integer from 1 to the dimension, {parameters}")
    rng = Randomness((seed, _DIRECTIONS))
    owner = np.full(parameters, -1, dtype=np.int64)
    order = rng.permutation(parameters, "coordinates")[: number * support]
    owner[order] = np.repeat(np.arange(number), support)
    signs = 2.0 * rng.integers(0, 2, (parameters,), "signs") - 1.0
    return GradientCanaries(kind, number, length, owner, signs, int(seed))


def mislabeled_records(
    features: Array, labels: Array, count: int, *, classes: int, seed: int
) -> RecordCanaries:
    """Record canaries that are records with a wrong label each, drawn at random among the other classes.

    Args:
        features: (n, ...), records that the training does not have otherwise; NumPy, PyTorch or JAX.
        labels: (n,), their classes, integers in [0, classes); a float type is kept.
        count: how many, m, at most n; they are drawn without replacement.
        classes: number of classes, at least 2.
        seed: of the choice and the labels.

    Returns:
        The canaries, in the array library of the features.

    Raises:
        InvalidArgumentError: if an argument is out of range, or labels are no classes.

    Examples:
        >>> import numpy as np
        >>> from dpverify.training import mislabeled_records
        >>> canaries = mislabeled_records(np.eye(3), np.array([0, 1, 1]), 3, classes=2, seed=0)
        >>> bool(np.all(canaries.labels != np.array([0, 1, 1])[np.argmax(canaries.features, axis=1)]))
        True
    """
    xp = namespace("features", features)
    n = int(features.shape[0]) if features.ndim else 0
    number = checks.whole_number("count", count, at_most=max(n, 1))
    among = checks.whole_number("classes", classes, at_least=2, at_most=_MOST)
    right = as_numpy("labels", labels)
    if right.shape != (n,) or not np.all(np.isin(right, np.arange(among))):
        raise InvalidArgumentError(
            "labels", labels, f"a class from 0 to {among - 1} for each of the {n} records"
        )
    rng = Randomness((seed, _RECORDS))
    chosen = rng.permutation(n, "records")[:number]
    wrong = (right[chosen].astype(np.int64) + rng.integers(1, among, (number,), "labels")) % among
    picked = xp.take(features, like(features, chosen, dtype=xp.int32), axis=0)
    return RecordCanaries("mislabeled record", picked, like(labels, wrong), int(seed))


def blank_records(
    features: Array, labels: Array, count: int, *, value: float, label: float, seed: int
) -> RecordCanaries:
    """Record canaries that are 0 but for one feature each, at a place of its own.

    Records that were all blank could not be told from one another, so that many would show no more than one. With a
    `value` far above the features' own, they also show what one record does to a statistic of its batch.

    Args:
        features: (n, ...), the data set, for the shape, the type and the library of the canaries.
        labels: (n,), for the type of theirs.
        count: how many, m, at most the number of features of a record.
        value: of the one feature, in its unit.
        label: of all of them; a rare one is learned from few records, and so tells more.
        seed: of the places.

    Returns:
        The canaries, in the array library of the features.

    Raises:
        InvalidArgumentError: if an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from dpverify.training import blank_records
        >>> canaries = blank_records(np.zeros((9, 4)), np.zeros(9), 3, value=5.0, label=1, seed=0)
        >>> canaries.features.sum(axis=1)
        array([5., 5., 5.])
    """
    namespace("features", features)
    namespace("labels", labels)
    shape = tuple(features.shape[1:])
    size = math.prod(shape)
    number = checks.whole_number("count", count, at_most=max(size, 1))
    mark, same = checks.number("value", value), checks.number("label", label)
    checks.require(mark != 0, "value", value, "a finite number other than 0")
    blank = np.zeros((number, size))
    blank[np.arange(number), Randomness((seed, _PLACES)).permutation(size, "places")[:number]] = mark
    return RecordCanaries(
        "blank record",
        like(features, blank.reshape(number, *shape)),
        like(labels, np.full(number, same)),
        int(seed),
    )


def canary_numbers(canaries: ArrayLike, count: int) -> IntegerArray:
    """Numbers of canaries, (k,), each in [0, count)."""
    numbers = as_numpy("canaries", canaries)
    if numbers.size == 0:
        return np.zeros(0, dtype=np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not np.all((numbers >= 0) & (numbers < count)):
        raise InvalidArgumentError("canaries", canaries, f"integers from 0 to {count - 1}")
    return numbers.astype(np.int64)
