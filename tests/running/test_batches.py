"""Same bits for the same seed, whatever computes them; what is refused."""

from __future__ import annotations

import pickle
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import array_api_strict
import numpy as np
import pytest
import threadpoolctl
from joblib.externals.loky import process_executor
from running_mechanisms import Faulty, Walk

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.running import Block, Executor, RichProgress, Runs, run, stream
from dpverify.running.outputs import COUNTERS

DATA = np.arange(6.0).reshape(3, 2)


def walk(**options: Any) -> Runs:
    """97 runs in blocks of 10, the last one of 7."""
    return run(Walk(), DATA, **{"runs": 97, "seed": 5, "block_size": 10, **options})


def same(left: Runs, right: Runs) -> bool:
    """Bit for bit."""
    return left.points.tobytes() == right.points.tobytes() and all(
        np.array_equal(getattr(left, name), getattr(right, name)) for name in COUNTERS
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two Dask worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as started:
        yield started


@pytest.mark.parametrize("executor", ["serial", "threads=3", "processes=2"])
@pytest.mark.parametrize("memory_limit", [1, 3000, 2**29])
def test_bits_do_not_depend_on_workers_or_chunks(executor: str, memory_limit: int) -> None:
    assert same(walk(), walk(executor=Executor.parse(executor), memory_limit=memory_limit))


def test_bits_are_the_same_on_a_dask_cluster(cluster: Any) -> None:
    executor = Executor.parse(f"dask={cluster.scheduler_address}")
    assert same(walk(), walk(executor=executor))
    assert same(walk(), walk(executor=executor, memory_limit=1))


def test_an_error_on_a_dask_cluster_arrives_here(cluster: Any) -> None:
    with pytest.raises(InvalidDataError, match="ZeroDivisionError in block 2"):
        run(
            Faulty("raise"),
            DATA,
            runs=25,
            seed=5,
            block_size=10,
            executor=Executor.parse(f"dask={cluster.scheduler_address}"),
        )


def test_no_dask_scheduler_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpverify.running.executors._CONNECT_SECONDS", 0.3)
    with pytest.raises(InvalidArgumentError, match="address of a running Dask scheduler"):
        walk(executor=Executor.parse("dask=tcp://127.0.0.1:9"))


def test_full_blocks_stay_when_more_runs_are_asked_for() -> None:
    short, long = walk(runs=35), walk()
    assert np.array_equal(short.points[:30], long.points[:30])
    # the last block was drawn as a batch of 5 and is now one of 10
    assert not np.array_equal(short.points[30:], long.points[30:35])
    assert same(short, walk(runs=35))


def test_seeds_labels_and_blocks_give_different_streams() -> None:
    drawn = [walk(seed=seed).points for seed in (5, 6, (5, 0), (5, 1), (5, 0, 0), (6, 0), 2**127)]
    flat = np.concatenate([points.ravel() for points in drawn])
    assert len(np.unique(flat)) == len(flat)
    assert same(walk(seed=5), walk(seed=(5,)))


def test_array_api_strict_gets_the_same_bits() -> None:
    assert same(walk(), walk(xp=array_api_strict))


def test_blocks_come_in_order_with_their_place() -> None:
    blocks = list(stream(Walk(), DATA, runs=25, seed=1, block_size=10, executor=Executor("threads", 4)))
    assert [(block.index, block.start, block.runs) for block in blocks] == [
        (0, 0, 10),
        (1, 10, 10),
        (2, 20, 5),
    ]


@pytest.mark.parametrize("executor", ["serial", "threads=2", "processes=2"])
def test_a_stream_may_be_left_early(executor: str) -> None:
    blocks = stream(Walk(), DATA, runs=97, seed=5, block_size=10, executor=Executor.parse(executor))
    first = next(blocks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blocks.close()  # type: ignore[attr-defined]
    assert np.array_equal(first.points, walk().points[:10])


def test_counts_are_kept_a_run() -> None:
    runs = walk()
    assert runs.gradient_queries.shape == (97,)
    assert set(runs.gradient_queries) <= set(range(1, 7))
    assert np.all(runs.projections == 5)
    assert len(runs) == 97


class Steps:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def start(self, total: int) -> None:
        self.seen.append(("start", total))

    def advance(self, runs: int) -> None:
        self.seen.append(("advance", runs))

    def finish(self) -> None:
        self.seen.append(("finish", 0))


def test_progress_counts_runs_and_always_ends() -> None:
    steps = Steps()
    walk(runs=25, progress=steps)
    assert steps.seen == [("start", 25), ("advance", 10), ("advance", 10), ("advance", 5), ("finish", 0)]
    broken = Steps()
    with pytest.raises(InvalidDataError):
        run(Faulty("nan"), DATA, runs=15, seed=5, block_size=10, progress=broken)
    assert broken.seen == [("start", 15), ("advance", 10), ("finish", 0)]


FAULTS = {
    "shape": r"changed shape from \(2,\) in block 0 to \(1,\) in block 2",
    "type": "changed type from float64 in block 0 to float32 in block 2",
    "nan": r"NaN or infinity in run 23, block 2 \(runs 20 to 24\)",
    "infinity": "NaN or infinity in run 23",
    "runs": r"shape \(4, 2\) in block 2 .*one entry for each of the 5 runs",
    "scalar": r"shape \(\) in block 2",
    "object": "type object",
    "text": "type <U1",
    "complex": "type complex128",
    "ragged": "rectangular array",
    "queries": "counted its gradient queries wrongly in block 2",
    "raise": "raised ZeroDivisionError in block 2 .*: by zero",
}


@pytest.mark.parametrize("executor", ["serial", "processes=2"])
@pytest.mark.parametrize("what", FAULTS)
def test_bad_outputs_are_refused_in_one_sentence(what: str, executor: str) -> None:
    with pytest.raises(InvalidDataError, match=FAULTS[what]) as caught:
        run(Faulty(what), DATA, runs=25, seed=5, block_size=10, executor=Executor.parse(executor))
    if what == "raise":
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("runs", 0),
        ("runs", -1),
        ("runs", 2.0),
        ("runs", True),
        ("seed", -1),
        ("seed", 2**128),
        ("seed", 0.5),
        ("seed", "5"),
        ("seed", ()),
        ("seed", (5, 2**32)),
        ("block_size", 0),
        ("memory_limit", 0),
        ("memory_limit", float("nan")),
    ],
)
def test_bad_arguments_are_refused(option: str, value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="allowed"):
        walk(**{option: value})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "parallel",
        "threads",
        "threads=0",
        "threads=-1",
        "threads=1.5",
        "processes=",
        "dask=",
        "serial=2",
        "Serial",
    ],
)
def test_executors_that_do_not_parse(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="executor"):
        Executor.parse(text)


@pytest.mark.parametrize("text", ["serial", "threads=2", "processes=16", "dask=tcp://localhost:8786"])
def test_executors_read_back(text: str) -> None:
    assert str(Executor.parse(text)) == text


def test_blocks_hold_plain_arrays() -> None:
    block = next(iter(stream(Walk(), DATA, runs=3, seed=1, xp=array_api_strict)))
    assert isinstance(block, Block)
    assert type(block.points) is np.ndarray
    assert block.points.flags.c_contiguous


def test_without_distributed_dask_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidArgumentError, match=r"pip install .*dask"):
        walk(executor=Executor.parse("dask=tcp://127.0.0.1:9"))


def test_workers_use_one_blas_thread() -> None:
    def count(data: Any, *, rng: Any, runs: int) -> Any:
        # OpenMP's limit belongs to a thread, so that of another library's pool says nothing here
        pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
        threads = [pool["num_threads"] for pool in pools]
        return np.full((runs, 1), max(threads, default=1))

    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        before = threadpoolctl.threadpool_info()
        assert max(pool["num_threads"] for pool in before if pool["user_api"] == "blas") == 2
        found = run(count, None, runs=20, seed=1, block_size=5, executor=Executor("threads", 2)).points
        assert np.all(found == 1)
        assert threadpoolctl.threadpool_info() == before


def test_a_progress_bar_on_a_console() -> None:
    from io import StringIO

    from rich.console import Console

    place = StringIO()
    walk(progress=RichProgress("walking", Console(file=place, force_terminal=True, width=80)))
    assert "walking" in place.getvalue()


@pytest.mark.parametrize("counts", [np.full(1000, 7), np.arange(1000), np.zeros(0, dtype=np.int64)])
def test_a_block_travels_unchanged_and_without_repeated_counts(counts: np.ndarray) -> None:
    counted = dict(zip(COUNTERS, (counts, counts[::-1].copy(), 2 * counts, 3 * counts), strict=True))
    block = Block(3, 30, np.ones((counts.size, 2)), **counted)
    sent = pickle.dumps(block)
    there = pickle.loads(sent)
    assert (there.index, there.start, there.runs) == (3, 30, counts.size)
    for name in ("points", *COUNTERS):
        ours, theirs = getattr(block, name), getattr(there, name)
        assert np.array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
        assert theirs.flags.c_contiguous
    assert len(sent) < block.points.nbytes + 1000 or len(set(counts.tolist())) > 1


def test_ending_worker_processes_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that was submitted, but not yet handed on, when the workers are ended: loky's own thread failed."""
    failed: list[str] = []
    processes = Executor.parse("processes=2")
    manager = process_executor._ExecutorManagerThread
    process = manager.process_result_item

    def slowly(self: Any, item: Any) -> None:
        process(self, item)
        time.sleep(0.05)  # by now the next call is submitted, and the main thread has seen the fault

    monkeypatch.setattr(manager, "process_result_item", slowly)
    monkeypatch.setattr(threading, "excepthook", lambda caught: failed.append(caught.exc_type.__name__))
    for seed in range(3):
        with pytest.raises(InvalidDataError, match="ZeroDivisionError"):
            run(Faulty("raise"), DATA, runs=4_000, seed=seed, executor=processes, block_size=50)
    assert failed == []
