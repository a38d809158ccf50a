"""Tables that stay on disk: mapped into memory, so that a part is read when it is looked at and may be dropped again.

What is made of such a table row by row is another one, in a nameless file in the folder for temporary files (TMPDIR);
it is gone when the last array that shows it is.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError

_NUMBERS_AT_ONCE = 2**20


def is_mapped_numbers(table: Any) -> bool:
    """Whether it is a table of real numbers, shape (n, d), that shows a file and cannot be written to."""
    base = table
    while isinstance(base, np.ndarray):
        base = base.base
    mapped = isinstance(base, mmap.mmap) and not table.flags.writeable
    return mapped and table.ndim == 2 and table.dtype.kind in "iuf"


def parts(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The rows of a table (n, d) in their order, some at a time."""
    rows = max(1, _NUMBERS_AT_ONCE // max(1, table.shape[1]))
    return (table[first : first + rows] for first in range(0, len(table), rows))


def all_finite(table: NDArray[Any]) -> bool:
    """Whether no number of a table (n, d) is NaN or infinite."""
    return all(np.all(np.isfinite(part)) for part in parts(table))


def gathered(found: Iterable[FloatArray], *, on_disk: bool) -> FloatArray:
    """One table of parts with equally many columns; on disk it is mapped, and only one part at a time is in memory."""
    if not on_disk:
        return np.concatenate(list(found))
    rows = width = 0
    with tempfile.TemporaryFile() as file:
        for part in found:
            file.write(np.ascontiguousarray(part, dtype=np.float64).data)
            rows, width = rows + len(part), part.shape[1]
        file.flush()
        return np.asarray(np.memmap(file, dtype=np.float64, mode="r", shape=(rows, width)))


def by_rows(change: Callable[[Any], FloatArray], table: NDArray[Any]) -> FloatArray:
    """The changed table, for a change that looks at each row by itself; on disk if the table is."""
    return gathered(map(change, parts(table)), on_disk=True) if is_mapped_numbers(table) else change(table)


def read_npy(path: Path) -> NDArray[Any]:
    """A table of numbers in NumPy's file format, shape (n, d), which stays on disk; they may be infinite or NaN.

    Raises:
        InvalidDataError: if the file cannot be read or holds anything else.
    """
    allowed = "allowed: a table of numbers, as np.save writes it"
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InvalidDataError(f"{path} does not exist; {allowed}.") from None
    except (OSError, EOFError, ValueError) as error:
        raise InvalidDataError(f"{path} cannot be read as NumPy's file format; {allowed}.") from error
    if not is_mapped_numbers(table) or 0 in table.shape:
        raise InvalidDataError(f"{path} holds something else; {allowed}.")
    return np.asarray(table)
