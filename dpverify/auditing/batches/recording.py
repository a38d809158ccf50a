"""Batches recorded from whatever yields them, or read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dpverify import checks
from dpverify.auditing.batches.schemes import Indices
from dpverify.errors import InvalidArgumentError, InvalidDataError, reason_of


def record_batches(batches: Iterable[Any], *, count: int | None = None) -> list[Indices]:
    """The indices of batches, in the order in which they come.

    Args:
        batches: a batch sampler, or a loader whose data set gives each record's index, `DataLoader(range(n), ...)`;
            lists, arrays and tensors of whole numbers.
        count: at most so many; None for all, which must then end.

    Raises:
        InvalidDataError: for a batch that is no list of whole numbers.
    """
    most = None if count is None else checks.whole_number("count", count)
    checks.with_attribute("batches", batches, "__iter__")
    return [indices_of(batch) for batch in islice(batches, most)]


def indices_of(batch: Any) -> Indices:
    """One batch as an array."""
    try:
        found = np.asarray(batch)
    except (TypeError, ValueError, RuntimeError) as refusal:
        raise InvalidDataError(
            "A batch is not a list of indices; allowed: whole numbers, shape (records,)."
        ) from refusal
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise InvalidDataError(
            f"A batch has shape {found.shape} and type {found.dtype}; allowed: whole numbers, shape (records,)."
        )
    return found.astype(np.int64)


def read_batches(path: str | Path) -> list[Indices]:
    """Read batches from a file: a line each, a JSON list of indices such as `[3, 17, 40]`, in a .csv file `3,17,40`.

    An empty line of a .csv file is an empty batch.

    Raises `InvalidArgumentError` for a file that cannot be read, and `InvalidDataError` for a line of another form.
    """
    checks.of_kind("path", path, (str, Path), "the path of a file")
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(
            "path", str(path), f"a file that can be read: {reason_of(error)}"
        ) from error
    plain = Path(path).suffix.lower() == ".csv"
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            batch = json.loads(f"[{line}]" if plain else line)
            if not isinstance(batch, list):
                raise InvalidDataError("no list")
            found.append(indices_of(batch))
        except (ValueError, RecursionError, InvalidDataError) as refusal:
            form = (
                "indices separated by commas, such as 3,17,40" if plain else "a JSON list such as [3, 17, 40]"
            )
            raise InvalidDataError(f"{path}, line {number} is not a batch; allowed: {form}.") from refusal
    return found
