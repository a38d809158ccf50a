"""Finished blocks are found again, damaged ones are not trusted, and a killed job goes on."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from running_mechanisms import FirstBlockWaits, SlowWalk

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.running import Executor, Runs, Store, run

DATA = np.arange(6.0)
DEADLINE = 600.0
"""Seconds after which a test gives up; what it waits for takes one or two."""


def logged(folder: Path, log: Path, **options: object) -> Runs:
    """45 runs in blocks of 10; every computed block leaves a line in the log."""
    return run(
        SlowWalk(str(log)),
        DATA,
        **{"runs": 45, "seed": 3, "block_size": 10, "store": folder / "store", **options},  # type: ignore[arg-type]
    )


def computed(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def blocks_in(path: Path) -> int:
    """Rows in the file, seen from outside; 0 while there is none."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM work WHERE kind = 'block'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def change(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement, values).rowcount == 1
    connection.close()


# --------------------------------------------------------------------------------------- what is kept


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = logged(tmp_path, log)
    assert computed(log) == 5
    second = logged(tmp_path, log)
    assert computed(log) == 6  # one of them, to compare
    assert first.points.tobytes() == second.points.tobytes()
    assert first.reuse is not None
    assert second.reuse is not None
    assert first.reuse.summary() == ""
    assert second.reuse.summary().startswith(
        f"5 of 5 blocks taken from {tmp_path / 'store'}; 1 of these blocks run again, with the same bits"
    )
    # full blocks serve a longer job too; its partial block is another one
    longer = logged(tmp_path, log, runs=57)
    assert computed(log) == 9
    assert np.array_equal(first.points[:40], longer.points[:40])


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"seed": (3, 0)}, {"block_size": 9}, {"fingerprint": "another"}, {"xp": "strict"}]
)
def test_other_jobs_are_kept_apart(change: dict[str, object], tmp_path: Path) -> None:
    import array_api_strict

    if "xp" in change:
        change = {"xp": array_api_strict}
    log = tmp_path / "log"
    logged(tmp_path, log)
    logged(tmp_path, log, **change)
    assert computed(log) >= 10


def test_other_data_is_kept_apart(tmp_path: Path) -> None:
    log = tmp_path / "log"
    logged(tmp_path, log)
    moved = DATA.copy()
    moved[0] = np.nextafter(moved[0], 1)
    run(SlowWalk(str(log)), moved, runs=45, seed=3, block_size=10, store=tmp_path / "store")
    assert computed(log) == 10


def test_an_open_store_serves_several_jobs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Store(tmp_path / "store") as store:
        logged(tmp_path, log, store=store)
        # not in the file yet, perhaps, and found all the same
        again = logged(tmp_path, log, store=store)
        logged(tmp_path, log, store=store, runs=60)
    assert computed(log) == 8
    assert again.reuse is not None
    assert (again.reuse.blocks_taken, again.reuse.blocks) == (5, 5)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log", "store"]


def test_counts_of_each_run_are_kept(tmp_path: Path) -> None:
    from running_mechanisms import Walk

    first, second = (
        run(Walk(), DATA, runs=45, seed=3, block_size=10, store=tmp_path / "s") for _ in range(2)
    )
    assert second.reuse is not None
    assert second.reuse.blocks_taken == 5
    assert first.points.tobytes() == second.points.tobytes()
    for name in ("gradient_queries", "value_queries", "projections", "linear_minimizations"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
        assert getattr(second, name).dtype == np.int64


# --------------------------------------------------------------------------------------- damage

NTH = "rowid = (SELECT rowid FROM work WHERE kind = 'block' ORDER BY rowid LIMIT 1 OFFSET {})"
DAMAGES = {
    "last byte": (
        "UPDATE work SET content = CAST(substr(content, 1, length(content) - 1) || x'01' AS BLOB) WHERE "
        f"{NTH.format(2)}"
    ),
    "truncated": f"UPDATE work SET content = substr(content, 1, 40) WHERE {NTH.format(2)}",
    "empty": f"UPDATE work SET content = x'' WHERE {NTH.format(2)}",
    "text": f"UPDATE work SET content = 'text' WHERE {NTH.format(2)}",
    "copied": (
        "UPDATE work SET (content, digest) = (SELECT content, digest FROM work WHERE "
        f"{NTH.format(1)}) WHERE {NTH.format(2)}"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_and_misplaced_blocks_are_computed_again(damage: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = logged(tmp_path, log)
    change(tmp_path / "store", DAMAGES[damage])
    again = logged(tmp_path, log)
    assert computed(log) == 7
    assert first.points.tobytes() == again.points.tobytes()
    assert again.reuse is not None
    assert "1 damaged or misplaced row" in again.reuse.summary()
    logged(tmp_path, log)
    assert computed(log) == 8


@pytest.mark.parametrize(
    "content",
    [
        b'{"sources": "", "counts": [0, 0, 0, 0], "points": ["|O", [1]]}\n' + bytes(8),
        b'{"sources": "", "counts": [0, 0, 0, 0], "points": ["<f8", [-1, -1]]}\n' + bytes(8),
        b'{"sources": "", "counts": [0, 0, 0, 0], "points": ["<f8", [1000000000000]]}\n' + bytes(8),
        b'{"sources": "", "counts": [0, 0, 0, 0], "points": ["<f8", [1]]}\n' + bytes(9),
        b'{"sources": "", "counts": null, "points": ["<f8", [1]]}\n' + bytes(8),
        b'{"sources": "", "counts": [0, 0, 0, 0], "points": ["no", [1]]}\n' + bytes(8),
        pickle.dumps(print),
        b"",
    ],
)
def test_what_is_no_block_is_refused(tmp_path: Path, content: bytes) -> None:
    """Content under a digest that fits, but written by someone else; nothing in it is executed."""
    log = tmp_path / "log"
    logged(tmp_path, log)
    before = computed(log)
    connection = sqlite3.connect(tmp_path / "store")
    name = connection.execute(f"SELECT name FROM work WHERE {NTH.format(0)}").fetchone()[0]
    connection.close()
    change(
        tmp_path / "store",
        "UPDATE work SET content = ?, digest = ? WHERE name = ?",
        content,
        hashlib.sha256(name + content).digest(),
        name,
    )
    logged(tmp_path, log)
    assert computed(log) == before + 2


def test_a_truncated_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    logged(tmp_path, tmp_path / "log")
    store = tmp_path / "store"
    half = store.read_bytes()[: store.stat().st_size // 2]
    store.write_bytes(half)
    with pytest.raises(InvalidDataError, match=r"store is damaged .*; remove it"):
        logged(tmp_path, tmp_path / "log")
    assert store.read_bytes() == half


def test_damage_below_the_rows_costs_a_block_or_is_said(tmp_path: Path) -> None:
    """Wherever zeros are written into the file, no other bits come out."""
    log = tmp_path / "log"
    first = logged(tmp_path, log, runs=200)
    whole = (tmp_path / "store").read_bytes()
    for place in range(0, len(whole), len(whole) // 12):
        (tmp_path / "store").write_bytes(whole[:place] + bytes(600) + whole[place + 600 :])
        try:
            again = logged(tmp_path, log, runs=200)
        except InvalidDataError as error:
            assert "store" in str(error)  # noqa: PT017
        else:
            assert again.points.tobytes() == first.points.tobytes()


# --------------------------------------------------------------------------------------- places


@pytest.mark.parametrize("path", ["", "a\0b", 3, b"store", None])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(InvalidArgumentError, match="store was"):
        Store(path)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"name,value\n1,2\n" * 100, b"SQLite format 3\0" + bytes(4080)])
def test_other_files_are_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"table\.csv is not a store, or is damaged"):
        Store(path)
    assert path.read_bytes() == content


def test_the_databases_of_others_are_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE work (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InvalidDataError, match="belongs to another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_folder_gets_a_file_with_a_plain_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    for path in ("there", "new/", "deep/er/file", ":memory:"):
        Store(path).close()
    found = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert found == [":memory:", "deep/er/file", "new/dpverify-store.sqlite", "there/dpverify-store.sqlite"]


@pytest.mark.parametrize("name", ["file/store", "/proc/self/store", "x" * 300])
def test_places_that_cannot_be_written_to(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, not a folder")
    with pytest.raises(InvalidDataError, match="cannot be written to"):
        logged(tmp_path, tmp_path / "log", store=tmp_path / name)
    assert computed(tmp_path / "log") == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    logged(tmp_path, tmp_path / "log")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InvalidDataError, match="cannot be written to"):
            Store(tmp_path / "store")
    finally:
        tmp_path.chmod(0o700)


def test_a_lock_is_waited_for_and_then_said(tmp_path: Path) -> None:
    logged(tmp_path, tmp_path / "log")
    other = sqlite3.connect(tmp_path / "store", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InvalidDataError, match="locked by another program; wait"):
        Store(tmp_path / "store", patience=0.01)
    other.execute("ROLLBACK")
    other.close()
    Store(tmp_path / "store").close()


# --------------------------------------------------------------------------------------- processes

JOB = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
from running_mechanisms import SlowWalk
from dpverify.running import Executor, run
if __name__ == "__main__":
    {before}
    run(SlowWalk({log!r}, {seconds}), np.arange(6.0), runs=200, seed=3, block_size=10, store={store!r},
        executor=Executor.parse({executor!r}))
"""


def job(folder: Path, executor: str = "serial", seconds: float = 0.05, before: str = "pass") -> list[str]:
    script = folder / "job.py"
    script.write_text(
        JOB.format(
            here=str(Path(__file__).parent),
            log=str(folder / "log"),
            store=str(folder / "store"),
            executor=executor,
            seconds=seconds,
            before=before,
        )
    )
    return [sys.executable, str(script)]


def resume(folder: Path) -> tuple[int, bool]:
    """Do the rest of the job; how many blocks that took, and whether all bits are those of an undisturbed one."""
    log = folder / "rest"
    resumed = run(SlowWalk(str(log)), DATA, runs=200, seed=3, block_size=10, store=folder / "store")
    fresh = run(SlowWalk(str(folder / "other")), DATA, runs=200, seed=3, block_size=10)
    assert resumed.reuse is not None
    return computed(log) - resumed.reuse.blocks_compared, resumed.points.tobytes() == fresh.points.tobytes()


@pytest.mark.parametrize("executor", ["threads=2", "processes=2"])
def test_a_killed_job_goes_on_and_ends_with_the_same_bits(executor: str, tmp_path: Path) -> None:
    # blocks of 0.2 s: twenty take at least two seconds, and the first are in the file after one
    with subprocess.Popen(job(tmp_path, executor, seconds=0.2), start_new_session=True) as running:
        wait_until(lambda: blocks_in(tmp_path / "store") >= 2 or running.poll() is not None)
        # with its worker processes, of which nothing is to be left
        os.killpg(running.pid, signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
    kept = blocks_in(tmp_path / "store")
    assert 2 <= kept < 20
    assert resume(tmp_path) == (20 - kept, True)


def test_a_job_that_is_asked_to_end_loses_nothing(tmp_path: Path) -> None:
    before = "import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))"
    with subprocess.Popen(job(tmp_path, seconds=0.1, before=before)) as running:
        wait_until(lambda: computed(tmp_path / "log") >= 4)
        running.send_signal(signal.SIGTERM)
        assert running.wait() == 143
    # the last block was being computed
    done = computed(tmp_path / "log") - 1
    assert blocks_in(tmp_path / "store") >= done >= 3
    assert resume(tmp_path)[1]


def test_two_programs_share_a_file(tmp_path: Path) -> None:
    jobs = [subprocess.Popen(job(tmp_path, seconds=0.02)) for _ in range(2)]
    assert [each.wait(timeout=DEADLINE) for each in jobs] == [0, 0]
    assert blocks_in(tmp_path / "store") == 20
    assert resume(tmp_path) == (0, True)


def test_a_full_disk_is_said_and_spoils_nothing(tmp_path: Path) -> None:
    # no file may grow beyond 16 KiB: about the schema and some blocks
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))"
    ended = subprocess.run(
        job(tmp_path, seconds=0.1, before=limit),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert ended.returncode == 1
    assert "InvalidDataError" in ended.stderr
    assert "cannot be written to" in ended.stderr
    kept = blocks_in(tmp_path / "store")
    assert resume(tmp_path) == (20 - kept, True)


@pytest.mark.parametrize("executor", ["threads=2", "processes=2"])
def test_a_block_is_kept_while_earlier_ones_are_computed(executor: str, tmp_path: Path) -> None:
    """The first block ends only when it sees another one in the file; out of patience, it raises."""
    found = run(
        FirstBlockWaits(str(tmp_path / "store"), DEADLINE),
        DATA,
        runs=30,
        seed=3,
        block_size=10,
        store=tmp_path / "store",
        executor=Executor.parse(executor),
    )
    assert len(found) == 30
    assert blocks_in(tmp_path / "store") == 3


def test_what_waits_is_written_by_time(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.put("block", "key", b"content")
        wait_until(lambda: blocks_in(tmp_path / "store") == 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_neither_reads_nor_writes(tmp_path: Path) -> None:
    code = f"""
import os, sys
from dpverify.running import Store
with Store({str(tmp_path / "store")!r}) as store:
    store.put("block", "ours", b"1")
    if os.fork() == 0:
        store.put("block", "theirs", b"2")
        seen = store.get("block", "ours")
        store.close()
        os._exit(seen is not None)
    assert os.wait()[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=DEADLINE)
    assert blocks_in(tmp_path / "store") == 1
