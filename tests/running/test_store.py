"""Finished blocks are found again, damaged ones are not trusted, and a killed job goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from running_mechanisms import SlowWalk, Walk

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.running import BlockStore, Runs, fingerprint, run

DATA = np.arange(6.0)


def logged(folder: Path, log: Path, **options: object) -> Runs:
    """45 runs in blocks of 10; every computed block leaves a line in the log."""
    return run(
        SlowWalk(str(log)),
        DATA,
        **{"runs": 45, "seed": 3, "block_size": 10, "store": folder / "store", **options},  # type: ignore[arg-type]
    )


def computed(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def block_files(folder: Path) -> list[Path]:
    return sorted((folder / "store").glob("*/block-*.bin"))


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = logged(tmp_path, log)
    assert computed(log) == 5
    second = logged(tmp_path, log)
    assert computed(log) == 5
    assert np.array_equal(first.points, second.points)
    # full blocks serve a longer job too; its partial block is another one
    longer = logged(tmp_path, log, runs=57)
    assert computed(log) == 7
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


@pytest.mark.parametrize("damage", ["truncated", "empty", "one bit", "other header", "appended"])
def test_damaged_files_are_computed_again(damage: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = logged(tmp_path, log)
    victim = block_files(tmp_path)[2]
    content = bytearray(victim.read_bytes())
    match damage:
        case "truncated":
            content = content[: len(content) // 2]
        case "empty":
            content = bytearray()
        case "one bit":
            content[-5] ^= 1
        case "other header":
            content[0] ^= 1
        case "appended":
            content += b"x"
    victim.write_bytes(content)
    again = logged(tmp_path, log)
    assert computed(log) == 6
    assert np.array_equal(first.points, again.points)
    logged(tmp_path, log)
    assert computed(log) == 6


def test_no_pickle_is_ever_read(tmp_path: Path) -> None:
    """A file with a valid checksum but an object array inside is refused, not executed."""
    import hashlib
    import io

    log = tmp_path / "log"
    logged(tmp_path, log)
    content = io.BytesIO()
    np.save(content, np.array([print], dtype=object), allow_pickle=True)
    payload = content.getvalue()
    victim = block_files(tmp_path)[0]
    victim.write_bytes(b"dpverify block 1\n" + hashlib.sha256(payload).digest() + payload)
    logged(tmp_path, log)
    assert computed(log) == 6


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file, not a folder")
    with pytest.raises(InvalidDataError, match="cannot be written to"):
        logged(tmp_path, tmp_path / "log")


def test_only_whole_files_appear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InvalidDataError, match="disk full"):
        logged(tmp_path, tmp_path / "log")
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


JOB = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
from running_mechanisms import SlowWalk
from dpverify.running import Executor, run
run(SlowWalk({log!r}, 0.05), np.arange(6.0), runs=200, seed=3, block_size=10, store={store!r},
    executor=Executor.parse({executor!r}))
"""


@pytest.mark.parametrize("executor", ["serial", "threads=2"])
def test_a_killed_job_goes_on_and_ends_with_the_same_bits(executor: str, tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    code = JOB.format(here=str(Path(__file__).parent), log=str(log), store=str(store), executor=executor)
    job = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while len(block_files(tmp_path)) < 3 and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    job.send_signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL
    kept = len(block_files(tmp_path))
    assert 3 <= kept < 20
    log.unlink()
    resumed = run(SlowWalk(str(log)), DATA, runs=200, seed=3, block_size=10, store=store)
    assert computed(log) == 20 - kept
    fresh = run(SlowWalk(str(tmp_path / "other")), DATA, runs=200, seed=3, block_size=10)
    assert resumed.points.tobytes() == fresh.points.tobytes()


def test_fingerprints_see_every_bit_and_refuse_addresses() -> None:
    class Opaque:
        pass

    assert fingerprint(Walk(5)) == fingerprint(Walk(5))
    values: list[object] = [
        Walk(5), Walk(6), (1, 2), (1, (2,)), "12", 12, 12.0, b"12", None, True, np.arange(3), np.arange(3.0),
        np.arange(3).reshape(1, 3), {"a": 1}, {"a": 2}, lambda x: x + 1, lambda x: x + 2, np.exp, len,
    ]  # fmt: skip
    assert len({fingerprint(value) for value in values}) == len(values)
    with pytest.raises(InvalidArgumentError, match="fingerprint"):
        fingerprint(Opaque())
    with pytest.raises(InvalidArgumentError, match="arrays of numbers"):
        fingerprint(np.array([None]))


def test_a_store_object_does_as_well_as_a_folder(tmp_path: Path) -> None:
    log = tmp_path / "log"
    logged(tmp_path, log, store=BlockStore(tmp_path / "store"))
    logged(tmp_path, log)
    assert computed(log) == 5
