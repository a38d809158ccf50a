"""What a mechanism returns for a batch of runs, and what every batch must satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import InvalidDataError
from dpverify.running.randomness import Array, Randomness
from dpverify.running.subjects.texts import is_texts, size_of

COUNTERS = ("gradient_queries", "value_queries", "projections", "linear_minimizations")
"""Oracle calls that are counted a run; one gradient or value query is about one record."""


@dataclass(frozen=True, eq=False)
class Output:
    """What a mechanism returns for a batch of independent runs.

    Attributes:
        points: the released outputs, one a run along the first axis, shape (runs, ...).
        gradient_queries: gradients of single records asked for by each run; an integer where all runs asked
            for the same number, else shape (runs,).
        value_queries: losses of single records asked for by each run, likewise.
        projections: projections onto the constraint set by each run, likewise.
        linear_minimizations: linear functions minimized on the constraint set by each run, likewise.
    """

    points: Array
    gradient_queries: Array | int = 0
    value_queries: Array | int = 0
    projections: Array | int = 0
    linear_minimizations: Array | int = 0


class BatchMechanism(Protocol):
    """A randomized map from a data set to an output, for a whole batch of independent runs at once."""

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output | Array:
        """Run independently `runs` times; every random number comes from `rng`."""


@dataclass(frozen=True, eq=False)
class Block:
    """The checked outputs of one block of runs, as NumPy arrays, and the oracle calls of each run, shape (runs,).

    Attributes:
        index: number of the block, from 0.
        start: number of its first run, from 0.
        points: shape (runs, ...), finite numbers; of a mechanism of any output, any numbers, or texts (runs,).
    """

    index: int
    start: int
    points: NDArray[Any]
    gradient_queries: NDArray[np.int64]
    value_queries: NDArray[np.int64]
    projections: NDArray[np.int64]
    linear_minimizations: NDArray[np.int64]

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """What was counted, by name, in the order of `COUNTERS`."""
        return {name: getattr(self, name) for name in COUNTERS}

    def __getstate__(self) -> dict[str, Any]:
        """Counts that all runs share travel between processes as one number."""
        shared = {
            name: count[:1]
            for name, count in self.counts().items()
            if count.size and np.all(count == count[0])
        }
        return {**self.__dict__, **shared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Give every run its count again."""
        runs = state["points"].shape[:1]
        counts = {name: np.ascontiguousarray(np.broadcast_to(state[name], runs)) for name in COUNTERS}
        self.__dict__.update({**state, **counts})

    @property
    def runs(self) -> int:
        """How many runs the block holds."""
        return int(self.points.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the block."""
        return size_of(self.points) + sum(count.nbytes for count in self.counts().values())


def checked_block(
    output: Output | Array, *, index: int, start: int, runs: int, any_output: bool = False
) -> Block:
    """Turn what a mechanism returned for one block into arrays that later stages can rely on."""
    where = f"block {index} (runs {start} to {start + runs - 1})"
    if not isinstance(output, Output):
        output = Output(output)
    points = _numbers(output.points, where, any_output)
    if points.ndim == 0 or points.shape[0] != runs:
        raise InvalidDataError(
            f"The mechanism returned shape {points.shape} in {where}; the first axis must have one entry "
            f"for each of the {runs} runs."
        )
    if not any_output and not np.all(np.isfinite(points)):
        run = start + int(np.argmin(np.isfinite(points.reshape(runs, -1)).all(axis=1)))
        raise InvalidDataError(
            f"The mechanism returned NaN or infinity in run {run}, {where}; all outputs must be finite."
        )
    return Block(
        index=index,
        start=start,
        points=points,
        **{name: _counts(getattr(output, name), name.replace("_", " "), runs, where) for name in COUNTERS},
    )


def _numbers(points: Array, where: str, any_output: bool) -> NDArray[Any]:
    try:
        array = np.asarray(points)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"The mechanism's output in {where} is not a rectangular array; every run must have the same shape."
        ) from error
    if array.dtype.kind not in "biuf" and not (any_output and is_texts(array)):
        raise InvalidDataError(
            f"The mechanism's output in {where} has type {array.dtype}; allowed: real numbers."
        )
    return np.asarray(array, order="C")


def _counts(value: Array | int, what: str, runs: int, where: str) -> NDArray[np.int64]:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.shape not in ((), (runs,)) or not np.all(array >= 0):
        raise InvalidDataError(
            f"The mechanism counted its {what} wrongly in {where}; allowed: one integer of at least 0, or "
            "one for each run."
        )
    return np.full(runs, array, dtype=np.int64)


def check_same_form(block: Block, first: Block) -> None:
    """Every block must have the shape and number type of the first."""
    here, there = block.points, first.points
    for what, now, before in (("shape", here.shape[1:], there.shape[1:]), ("type", here.dtype, there.dtype)):
        if now != before:
            raise InvalidDataError(
                f"The mechanism's output changed {what} from {before} in block {first.index} to {now} in block "
                f"{block.index}; it must be the same in every run."
            )
