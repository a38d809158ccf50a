"""Data sets: records of features and labels, real ones that need no download, and CSV files.

A scaling that is computed from the data is not private: a neighbor's scaling would differ. Guarantees here
are about the scaled records as given, so neighbors are made after scaling. `Dataset.scaling` says what was
done.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np
import numpy.typing as npt

from dpverify import checks
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.extras import require_module
from dpverify.problems.arrays import Array
from dpverify.problems.tables.cells import number_in, numbers_of, rows_of
from dpverify.problems.tables.mapped import all_finite, by_rows, is_mapped_numbers, parts

Matrix = npt.NDArray[np.float64]

_NORMALIZED_IN_FLOAT32 = 1e-5
"""Records are this much longer than 1 at most if they were divided by their norms in 32-bit floats."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """n records of d features and one label each; the arrays are copied, and NumPy's cannot be written to.

    Args:
        features: shape (n, d), finite; a record's features are one row. What is mapped read-only from a file
            (np.load with mmap_mode="r") stays on disk, and the file must not change.
        labels: shape (n,), finite.
        name: what a report calls the data.
        scaling: how the records were brought to their scale, in words.

    Raises:
        InvalidDataError: for an empty array, other shapes, something that is no number, NaN or infinity.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Dataset
        >>> data = Dataset(np.array([[0.6, 0.8], [0.0, 1.0]]), np.array([1.0, -1.0]))
        >>> data.n, data.d, data.largest_norm
        (2, 2, 1.0)
        >>> neighbor = data.replace(2, [0.0, 0.0], 1.0)  # the index is from 1
        >>> neighbor.features.tolist(), neighbor.labels.tolist()
        ([[0.6, 0.8], [0.0, 0.0]], [1.0, 1.0])
    """

    features: Array
    labels: Array
    name: str = "data"
    scaling: str = "as given"

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _frozen(self.features, "features"))
        object.__setattr__(self, "labels", _frozen(self.labels, "labels"))
        shape, labels_shape = tuple(self.features.shape), tuple(self.labels.shape)
        if len(shape) != 2 or 0 in shape or labels_shape != shape[:1]:
            raise InvalidDataError(
                f"Features of shape {shape} and labels of shape {labels_shape} do not fit; allowed: "
                "(n, d) and (n,) with n and d at least 1."
            )

    def __reduce__(self) -> tuple[type[Dataset], tuple[Any, ...]]:
        """Survive the trip to a worker process without becoming writable."""
        return type(self), (self.features, self.labels, self.name, self.scaling)

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.features.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def largest_norm(self) -> float:
        """Largest Euclidean norm of a record's features."""
        features = self.as_namespace(np).features
        return max(float(np.max(np.linalg.norm(part, axis=1))) for part in parts(features))

    @property
    def digest(self) -> str:
        """SHA-256 of the records (shape and bytes of features and labels), in hexadecimal."""
        there = self.as_namespace(np)
        hashed = hashlib.sha256(repr(there.features.shape).encode())
        for part in parts(there.features):
            hashed.update(np.ascontiguousarray(part).tobytes())
        hashed.update(np.ascontiguousarray(there.labels).tobytes())
        return hashed.hexdigest()

    def replace(self, index: int, features: Any, label: float) -> Dataset:
        """The neighbor in which record `index`, counted from 1, is (features, label).

        Raises:
            InvalidArgumentError: if `index` is not from 1 to n, or `features` not d finite numbers, or
                `label` not one.
        """
        checks.whole_number("index", index, at_most=self.n)
        new = np.asarray(features)
        if new.shape != (self.d,) or new.dtype.kind not in "iuf" or not np.all(np.isfinite(new)):
            raise InvalidArgumentError("features", features, f"{self.d} finite numbers")
        scalar = np.asarray(label)
        if scalar.shape != () or scalar.dtype.kind not in "iuf" or not np.isfinite(scalar):
            raise InvalidArgumentError("label", label, "a finite number")
        there = self.as_namespace(np)
        changed_features, changed_labels = there.features.copy(), there.labels.copy()
        changed_features[index - 1] = new
        changed_labels[index - 1] = scalar
        name = f"{self.name}, record {index} replaced"
        return Dataset(changed_features, changed_labels, name, self.scaling).as_namespace(
            array_api_compat.array_namespace(self.features)
        )

    def check_features(self, dimension: int) -> None:
        """Refuse points of another dimension than that of the records."""
        checks.require(self.d == dimension, "data", f"{self.d} features", f"{dimension} features")

    def as_namespace(self, xp: Any) -> Dataset:
        """The same data set with its arrays made by the library `xp` (64-bit floats).

        Only NumPy's arrays are protected against writing.
        """
        if xp is np or xp is array_api_compat.array_namespace(np.zeros(1)):
            if isinstance(self.features, np.ndarray):
                return self
            return Dataset(_to_numpy(self.features), _to_numpy(self.labels), self.name, self.scaling)
        features = xp.asarray(_to_numpy(self.features).copy(), dtype=xp.float64)
        labels = xp.asarray(_to_numpy(self.labels).copy(), dtype=xp.float64)
        return Dataset(features, labels, self.name, self.scaling)

    def in_unit_ball(self) -> Dataset:
        """The records with norms of at most 1, which the losses' declared constants cover.

        Records that are longer by what normalizing in 32-bit floats leaves (up to 1e-5) are divided by their norms.
        That looks at one record at a time, so that neighbors stay neighbors, and what holds for norms of at most 1
        holds without a tolerance. Data sets without such records are returned as they are.

        Raises:
            InvalidDataError: if some record is longer than that.
        """
        there, largest = self.as_namespace(np), self.largest_norm
        if not largest <= 1.0 + _NORMALIZED_IN_FLOAT32:
            raise InvalidDataError(
                f"A record of {self.name} has norm {largest:.10g}; allowed: at most 1: scale the features."
            )
        rounded = 1.0 + (self.d + 16) * np.finfo(np.float64).eps
        if largest <= rounded:
            return self

        def shortened(rows: Matrix) -> Matrix:
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            return np.asarray(rows / np.where(norms > rounded, norms, 1.0))

        return Dataset(
            by_rows(shortened, there.features), there.labels, self.name, self.scaling
        ).as_namespace(array_api_compat.array_namespace(self.features))


_BUNDLED = ("breast-cancer", "diabetes", "digits")


def load(name: str, *, n: int | None = None, d: int | None = None, seed: int = 0) -> Dataset:
    """A real data set that comes with scikit-learn, scaled into the unit ball.

    - `breast-cancer`: 569 records, 30 features; label 1 for benign, -1 for malignant.
    - `diabetes`: 442 records, 10 features; the disease progression, mapped from [25, 346] to [-1, 1].
    - `digits`: 1797 records, 64 features; label 1 for an odd digit, -1 for an even one.

    Args:
        name: one of the three.
        n: keep this many records, drawn without replacement (all, in their order, if None).
        d: reduce to this many features by a random Gaussian projection, drawn from `seed` without a look at
            the data, and shorten what is then longer than 1 (no reduction if None).
        seed: for both draws.

    The scaling of `digits` looks at nothing but the known range of a pixel; that of the other two is computed
    from the whole data set and is therefore not private in itself. `Dataset.scaling` says which.

    Raises:
        InvalidArgumentError: for another name, or a size outside 1 to what there is.
        MissingExtraError: without scikit-learn, which the extra `sklearn` brings.

    Examples:
        >>> from dpverify.problems import load
        >>> data = load("breast-cancer", n=100, d=5)
        >>> data.features.shape, bool(data.largest_norm <= 1)
        ((100, 5), True)
        >>> sorted(set(data.labels.tolist()))
        [-1.0, 1.0]
    """
    checks.require(isinstance(name, str) and name in _BUNDLED, "name", name, ", ".join(_BUNDLED))
    features, labels, scaling = _bundled(name)
    checks.whole_number("seed", seed, at_least=0, at_most=None)
    choose, project = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    title = name
    if n is not None:
        checks.whole_number("n", n, at_most=len(features))
        chosen = choose.permutation(len(features))[:n]
        features, labels = features[chosen], labels[chosen]
        title += f", {n} records (seed {seed})"
    if d is not None:
        full = features.shape[1]
        checks.whole_number("d", d, at_most=full)
        features = _shortened(features @ (project.standard_normal((full, d)) / math.sqrt(d)))
        scaling += (
            f"; then {full} to {d} features by a Gaussian random projection independent of the data "
            f"(seed {seed}), and records longer than 1 shortened to 1"
        )
        title += f", d = {d}"
    return Dataset(features, labels, title, scaling)


def read_csv(path: str | Path, *, label_column: int | None = -1) -> Dataset:
    """Read a data set from a CSV file: a record a row, in numbers, nothing scaled.

    Args:
        path: the file, UTF-8, comma-separated. A first row without any number in it is taken as a header.
        label_column: column of the label, from 0, or from the end if negative (the last one unless told
            otherwise). None: all columns are features, and labels are 0.

    Raises:
        InvalidDataError: if the file is missing, unreadable or empty, if its rows differ in length, if a cell
            is no finite number, if there is no such column, or if no feature is left.
    """
    checks.of_kind("path", path, (str, PathLike), "the path of a CSV file")
    table = _table(Path(path))
    rows, width = table.shape
    if label_column is None:
        return Dataset(table, np.zeros(rows), Path(path).name)
    if isinstance(label_column, bool) or not isinstance(label_column, int):
        raise InvalidArgumentError("label_column", label_column, "an integer or None")
    if not -width <= label_column < width:
        raise InvalidDataError(f"{path} has {width} columns, so there is no label column {label_column}.")
    if width < 2:
        raise InvalidDataError(f"{path} has one column; allowed: at least one feature and the label.")
    column = label_column % width
    return Dataset(np.delete(table, column, axis=1), table[:, column], Path(path).name)


def _table(path: Path) -> Matrix:
    rows = rows_of(path, "a CSV file of numbers")
    if all(number_in(cell) is None for cell in rows[0][1]):
        rows = rows[1:]
    if not rows:
        raise InvalidDataError(f"{path} has no records; allowed: one record per row.")
    return numbers_of(path, rows)


@cache
def _bundled(name: str) -> tuple[Matrix, Matrix, str]:
    """Scaled features and labels of a data set of scikit-learn, and how they are scaled."""
    require_module(f"The data set {name}", "sklearn")
    from sklearn import datasets

    found = getattr(datasets, f"load_{name.replace('-', '_')}")(return_X_y=True)
    features, target = (np.asarray(part, dtype=np.float64) for part in found)
    if name == "digits":
        scaled, labels = (features - 8.0) / 64.0, np.where(target % 2 == 1, 1.0, -1.0)
        return scaled, labels, "pixels mapped from [0, 16] to [-1/8, 1/8], independent of the data"
    scaled, scaling = _ranged(features)
    if name == "breast-cancer":
        return scaled, 2.0 * target - 1.0, scaling
    lowest, highest = 25.0, 346.0
    labels = (2.0 * target - (lowest + highest)) / (highest - lowest)
    return scaled, labels, scaling + "; labels mapped from [25, 346] to [-1, 1]"


def _ranged(features: Matrix) -> tuple[Matrix, str]:
    lowest, highest = features.min(axis=0), features.max(axis=0)
    centered = (2.0 * features - (lowest + highest)) / (highest - lowest)
    return (
        _shortened(centered / np.linalg.norm(centered, axis=1).max()),
        "each feature mapped from its range in the data to [-1, 1], then all records divided by the largest "
        "norm (computed from the data, so not private in itself)",
    )


def _shortened(features: Matrix) -> Matrix:
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.maximum(norms, 1.0))


def _to_numpy(array: Array) -> Matrix:
    """Copy any library's array to host memory."""
    array = array_api_compat.to_device(array, "cpu") if array_api_compat.is_torch_array(array) else array
    return np.asarray(array, dtype=np.float64)


def _frozen(values: Any, what: str) -> Array:
    """A copy in 64-bit floats; NumPy's cannot be written to. What is mapped stays on disk, in 64-bit floats."""
    if stays := is_mapped_numbers(values):
        values = values if values.dtype == np.float64 else by_rows(np.asarray, values)
    foreign = array_api_compat.is_array_api_obj(values) and not isinstance(values, np.ndarray)
    array = values if foreign else np.asarray(values)
    xp = array_api_compat.array_namespace(array)
    if not xp.isdtype(array.dtype, ("integral", "real floating")):
        raise InvalidDataError(f"The {what} have type {array.dtype}; allowed: numbers.")
    copied = array if stays else xp.asarray(array, dtype=xp.float64, copy=True)
    if not foreign:
        copied.flags.writeable = False
    if not (all_finite(copied) if stays else bool(xp.all(xp.isfinite(copied)))):
        raise InvalidDataError(f"The {what} contain NaN or infinity; allowed: finite numbers.")
    return copied
