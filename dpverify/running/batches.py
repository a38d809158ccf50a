"""Running a mechanism many times: blocks of runs, in chunks that fit into memory, in order; and whether they repeat."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pickle
import sys
import types
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import whole_number, with_attribute
from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.ledger.records import Reuse
from dpverify.quoting import quoted
from dpverify.running import foresight
from dpverify.running.executors import Executor, Workers, one_blas_thread
from dpverify.running.fingerprints import fingerprint as fingerprint_of
from dpverify.running.outputs import COUNTERS, BatchMechanism, Block, check_same_form, checked_block
from dpverify.running.progress import Progress, checked_progress
from dpverify.running.randomness import BLOCK, Randomness, Seed, normalized_seed
from dpverify.running.sources import SourceWatch
from dpverify.running.store import Store, opened
from dpverify.running.stored_blocks import BlockKey, Shelf
from dpverify.running.subjects.texts import as_texts, is_texts
from dpverify.running.user_process import with_message
from dpverify.running.user_sessions import ForeignError

MEMORY_LIMIT = 512 * 2**20
"""Bytes that the blocks in flight may take together."""

_WORKING_COPIES = 4
"""Arrays of the output's size that a block takes while it is computed: state, noise and two temporaries."""

_COUNTER_BYTES = 8 * len(COUNTERS)

_LIKELY_BYTES = 1024  # size of one run's output before the first is known
_SINGLE_RUNS = 100  # runs that are done again of a function that is called once a run


@dataclass(frozen=True, eq=False)
class Runs:
    """The outputs of independent runs, in order, and the oracle calls of each, shape (runs,).

    Attributes:
        points: shape (runs, ...); texts (runs,) of a mechanism of any output, where they are no numbers of one shape.
        seed: the seed and its labels.
        block_size: runs in a full block.
        reuse: where a store was used, how many blocks were taken from it.
    """

    points: NDArray[Any]
    gradient_queries: NDArray[np.int64]
    value_queries: NDArray[np.int64]
    projections: NDArray[np.int64]
    linear_minimizations: NDArray[np.int64]
    seed: tuple[int, ...]
    block_size: int
    reuse: Reuse | None = None

    def __len__(self) -> int:
        """How many runs there are."""
        return int(self.points.shape[0])


class RunOptions(TypedDict, total=False):
    """What `run` passes on to `stream`."""

    executor: Executor | str | None
    memory_limit: int
    progress: Progress | None
    xp: types.ModuleType | Any
    device: str | None
    block_size: int
    fingerprint: str | None
    call_limit: float | None


def run(
    mechanism: BatchMechanism,
    data: Any,
    *,
    runs: int,
    seed: Seed,
    store: Store | str | os.PathLike[str] | None = None,
    result_limit: int | None = None,
    **options: Unpack[RunOptions],
) -> Runs:
    """Run a mechanism independently many times and collect the outputs. Arguments as in `stream`.

    `result_limit` bounds the bytes of all that is collected: the machine's memory if None.

    Raises:
        InvalidArgumentError: also if the outputs of so many runs are foreseen to be larger than that.

    Examples:
        >>> import numpy as np
        >>> from dpverify.running import run
        >>> def noisy_mean(data, *, rng, runs):
        ...     return data.mean() + rng.normal((runs,), "noise")
        >>> data = np.array([0.0, 1.0])
        >>> outputs = run(noisy_mean, data, runs=1000, seed=0)
        >>> again = run(noisy_mean, data, runs=1000, seed=0, executor="threads=2")
        >>> outputs.points.shape, bool((outputs.points == again.points).all())  # the same bits
        ((1000,), True)
    """
    runs = whole_number("runs", runs)
    result_limit = _memory() if result_limit is None else whole_number("result_limit", result_limit)
    _foresee(runs, _COUNTER_BYTES + 1, result_limit)
    with opened(store) as open_store:
        before = None if open_store is None else open_store.reuse()
        blocks = stream(mechanism, data, runs=runs, seed=seed, store=open_store, **options)
        counts: dict[str, NDArray[np.int64]] = {}
        points: NDArray[Any] | None = None
        for block in blocks:
            if points is None:
                _foresee(runs, block.nbytes / block.runs, result_limit)
                points = np.empty((runs, *block.points.shape[1:]), dtype=block.points.dtype)
                counts = {name: np.empty(runs, dtype=np.int64) for name in COUNTERS}
            elif block.points.shape[1:] != points.shape[1:] or block.points.dtype != points.dtype:
                points = _widened(points, block.start)
            # copied at once, while later blocks are still being computed
            place = slice(block.start, block.start + block.runs)
            points[place] = as_texts(block.points) if is_texts(points) else block.points
            for name, counted in block.counts().items():
                counts[name][place] = counted
        reuse = None if open_store is None or before is None else open_store.reuse().since(before)
    assert points is not None
    block_size = options.get("block_size", BLOCK)
    return Runs(points, **counts, seed=normalized_seed(seed), block_size=block_size, reuse=reuse)


def _widened(points: NDArray[Any], done: int) -> NDArray[Any]:
    """Outputs as texts, of which the first `done` are there; the others are empty."""
    if is_texts(points):
        return points
    wider = np.empty(len(points), dtype=np.dtypes.StringDType())
    wider[:done] = as_texts(points[:done])
    return wider


def _memory() -> int:
    """Bytes of memory of this machine; without a bound where that cannot be read."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize


def _foresee(runs: int, bytes_a_run: float, limit: int) -> None:
    """Refuse more runs than fit, before memory is filled with them."""
    if runs * bytes_a_run > limit:
        raise InvalidArgumentError(
            "runs",
            runs,
            f"at most {int(limit / bytes_a_run)}, whose outputs of {bytes_a_run:.4g} bytes a run fit into "
            f"{limit / 2**30:.4g} GiB",
        )


def stream(
    mechanism: BatchMechanism,
    data: Any,
    *,
    runs: int,
    seed: Seed,
    executor: Executor | str | None = None,
    memory_limit: int = MEMORY_LIMIT,
    store: Store | str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    xp: types.ModuleType | Any = np,
    device: str | None = None,
    block_size: int = BLOCK,
    fingerprint: str | None = None,
    call_limit: float | None = None,
) -> Iterator[Block]:
    """Run a mechanism independently many times; yield blocks of outputs in order.

    The bits of a block depend on the mechanism, the data, the seed, the block size, and the block's number
    and number of runs; on nothing else. All blocks but the last are full, so asking for more runs keeps
    every full block; the runs of a last, partial block are drawn as a batch of that size, and other ones
    take their place when the block fills.

    Args:
        mechanism: called as `mechanism(data, rng=..., runs=...)`, once a block.
        data: handed to the mechanism as it is.
        runs: how many, at least 1.
        seed: an integer, or one followed by labels; see `Randomness`.
        executor: where blocks are computed, also as text such as "threads=2"; serial if None.
        memory_limit: bytes that the blocks in flight may take together. Until the first block is there, the
            output of a run is taken to be 1 KiB; at least one block is always in flight.
        store: where finished blocks are kept and found again, open or as a path; see `Store`.
        progress: told of finished runs.
        xp: array namespace of the random numbers that the mechanism gets.
        device: `cpu` or `gpu`, on which JAX takes the steps of a noisy gradient method, of all runs of a block
            at once, with the same law and other bits (`algorithm.on_device`); None: NumPy takes them.
        block_size: runs in a full block. Smaller blocks suit mechanisms that take long for one run.
        fingerprint: says which mechanism it is, for the store; computed from its content if None.
        call_limit: how many calls of one oracle a run may make, as far as that is foreseen; what `running.call_limit`
            says if None, and where it says nothing, as many as take as long as `CALL_LIMIT` usual ones.

    Raises:
        TooCostlyError: before the first block, if runs are foreseen to make more.
        InvalidArgumentError: if an argument is outside of what is allowed.
        InvalidDataError: if the mechanism raises, ends its worker process, or returns anything but finite
            numbers of one shape, one entry a run. One with `any_output = True` may return texts or numbers of any
            kind, and other ones in other blocks.
    """
    if not callable(mechanism):
        raise InvalidArgumentError("mechanism", mechanism, "a callable (data, *, rng, runs) -> outputs")
    if not hasattr(xp, "__name__") or not hasattr(xp, "asarray"):
        raise InvalidArgumentError("xp", xp, "an array namespace such as numpy")
    streams = ""
    if device is not None:
        if not hasattr(mechanism, "on_device"):
            raise InvalidArgumentError("device", device, "None for a mechanism without `on_device`")
        placed: Any = mechanism.on_device(device)
        mechanism, streams = placed, f", {placed.stream}"
    checked_progress(progress)
    runs, block_size = whole_number("runs", runs), whole_number("block_size", block_size)
    memory_limit = whole_number("memory_limit", memory_limit)
    allowed = foresight.allowed() if call_limit is None else call_limit
    with _limited(allowed):
        foresight.foresee_stated(mechanism, data)
    key, watch, folder = None, None, os.getcwd()
    if store is not None:
        key = BlockKey(
            mechanism=fingerprint if fingerprint is not None else fingerprint_of(mechanism),
            data=fingerprint_of(data),
            seed=normalized_seed(seed),
            block_size=block_size,
            namespace=f"{xp.__name__} {getattr(xp, '__version__', '')}{streams}",
        )
        folder = str(getattr(mechanism, "folder", "") or folder)
        watch = SourceWatch(folder)
    tasks = (
        _BlockTask(index, index * block_size, min(block_size, runs - index * block_size))
        for index in range(-(-runs // block_size))
    )
    compute = _Compute(mechanism, data, normalized_seed(seed), xp, watch, allowed)
    shelf = _shelf(store, key, folder)
    workers = Executor.chosen(executor).serving(mechanism)
    return _stream(compute, tasks, runs, min(runs, block_size), workers, memory_limit, shelf, progress)


def _limited(calls: float | None) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if calls is None else foresight.call_limit(calls)


@contextlib.contextmanager
def _shelf(
    store: Store | str | os.PathLike[str] | None, key: BlockKey | None, folder: str
) -> Iterator[Shelf | None]:
    with opened(store) as open_store:
        yield None if open_store is None or key is None else Shelf(open_store, key, folder)


@dataclass(frozen=True)
class _BlockTask:
    index: int
    start: int
    runs: int


@dataclass(frozen=True, eq=False)
class _Failure:
    """What a mechanism raised in a worker; exceptions that cannot travel are replaced by their text."""

    exception: Exception
    kind: str


_Done = tuple[Block, dict[str, str] | None]
"""A block, with the source files that its process had loaded by then; see `SourceWatch`."""


@dataclass(frozen=True, eq=False)
class _Compute:
    """Computes one block, in whichever process."""

    mechanism: BatchMechanism
    data: Any
    seed: tuple[int, ...]
    xp: Any
    watch: SourceWatch | None
    call_limit: float | None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "xp": self.xp.__name__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import importlib

        self.__dict__.update(state, xp=importlib.import_module(state["xp"]))

    def __call__(self, task: _BlockTask) -> _Done | _Failure:
        try:
            with one_blas_thread, _limited(self.call_limit):
                rng = Randomness(self.seed, task.index, self.xp)
                output = self.mechanism(self.data, rng=rng, runs=task.runs)
                block = checked_block(output, **asdict(task), any_output=_any_output(self.mechanism))
            return block, self.watch.files(self.mechanism) if self.watch is not None else None
        except ForeignError as error:
            return _Failure(error, error.kind)
        except Exception as error:
            return _Failure(_portable(error), type(error).__name__)


def _any_output(mechanism: BatchMechanism) -> bool:
    return getattr(mechanism, "any_output", False) is True


def _portable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(quoted(error))
    return error


def _stream(
    compute: _Compute,
    tasks: Iterator[_BlockTask],
    runs: int,
    largest_task: int,
    executor: Executor,
    memory_limit: int,
    kept: contextlib.AbstractContextManager[Shelf | None],
    progress: Progress | None,
) -> Iterator[Block]:
    if progress is not None:
        progress.start(runs)
    first: Block | None = None
    try:
        # set here as well as around each block: a limit set in one thread of a process binds all of them
        with (
            kept as shelf,
            one_blas_thread,
            executor.open() as workers,
            contextlib.closing(_blocks(compute, tasks, largest_task, workers, memory_limit, shelf)) as blocks,
        ):
            for block in blocks:
                first = first or block
                if not _any_output(compute.mechanism):
                    check_same_form(block, first)
                if progress is not None:
                    progress.advance(block.runs)
                yield block
    finally:
        if progress is not None:
            progress.finish()


def _blocks(
    compute: _Compute,
    tasks: Iterator[_BlockTask],
    largest_task: int,
    workers: Workers,
    memory_limit: int,
    shelf: Shelf | None,
) -> Generator[Block]:
    """Yield blocks in order, in chunks of as many blocks as fit into memory."""
    # the size of an output is unknown before the first block; a pause between chunks costs time
    largest = _WORKING_COPIES * _LIKELY_BYTES * largest_task
    known = False
    chunk_size = max(1, memory_limit // largest)
    keep = None if shelf is None else functools.partial(_keep, shelf)
    while chunk := list(itertools.islice(tasks, chunk_size)):
        kept = {
            task.index: block
            for task in chunk
            if shelf is not None and (block := shelf.load(**asdict(task))) is not None
        }
        if shelf is not None and (doubtful := shelf.doubtful(kept)) is not None:
            task = _BlockTask(doubtful.index, doubtful.start, doubtful.runs)
            with contextlib.closing(workers.map(compute, [task], done=None)) as again:
                shelf.compare(doubtful, _unwrap(next(again), task))
        missing = [task for task in chunk if task.index not in kept]
        # closed here rather than by the garbage collector, which may come after the workers are gone
        with contextlib.closing(workers.map(compute, missing, done=keep)) as computed:
            for task in chunk:
                block = kept.pop(task.index, None)
                if block is None:
                    block = _unwrap(next(computed), task)
                largest = max(largest if known else 1, _WORKING_COPIES * block.nbytes)
                known = True
                yield block
                del block
        chunk_size = max(1, memory_limit // largest)


def _keep(shelf: Shelf, result: _Done | _Failure) -> None:
    if not isinstance(result, _Failure):
        shelf.save(*result)


def _unwrap(result: _Done | _Failure, task: _BlockTask) -> Block:
    if not isinstance(result, _Failure):
        return result[0]
    error = result.exception
    if isinstance(error, DpverifyError):
        raise error
    where = error.where if isinstance(error, ForeignError) else ""
    raise InvalidDataError(
        f"The mechanism raised {quoted(result.kind)} in block {task.index} (runs {task.start} to "
        f"{task.start + task.runs - 1})" + with_message(quoted(error), where)
    ) from error


def repeats(
    mechanism: BatchMechanism, data: Any, points: NDArray[Any], *, seed: Seed, block_size: int = BLOCK
) -> bool:
    """Run the first block again, here, and compare its bits with those of the outputs `points` (runs, ...).

    A mechanism that draws randomness from elsewhere than `rng`, or that keeps something from one call to the next,
    does not repeat; where its outputs take few values, they may agree by chance. One that fails now does not either.
    """
    with_attribute("points", points, "__len__")
    first = min(block_size, len(points))
    if getattr(mechanism, "batched", True) is False:
        first = min(
            first, _SINGLE_RUNS
        )  # its runs are drawn one by one, so that fewer are a part of the block
    try:
        again = run(mechanism, data, runs=first, seed=seed, block_size=block_size).points
    except DpverifyError:
        return False
    if is_texts(points):
        # numbers in this block, where others are none
        return bool(np.array_equal(as_texts(again), points[:first]))
    # compared as bytes: 0.0 and -0.0 are different bits
    return again.dtype == points.dtype and again.tobytes() == np.ascontiguousarray(points[:first]).tobytes()
