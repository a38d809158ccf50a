"""A stored block rests on source files: those that were loaded before, and those that a function loads when it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.running import run
from dpverify.running.sources import (
    SourceWatch,
    _first_seen,
    _hash_as_first_seen,
    loaded_sources,
    unchanged,
)

MECHANISM = """
import importlib
def f(data, rng, runs):
    sigma = importlib.import_module({name}).SIGMA
    return rng.normal(size=(runs, 1)) * sigma + data.sum()
"""
PROGRAM = """
import sys
import numpy as np
from dpverify.running import UserMechanism, run
for side in (0, 1):
    found = run(UserMechanism.load("mechanism:f"), np.arange(3.0) + side, runs=40, seed=(1, side), block_size=10,
        store="store.sqlite")
    print(found.reuse.blocks_taken, found.points[0, 0] - 3 - 3 * side)
"""


def ran(folder: Path) -> list[list[float]]:
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, timeout=100, check=True
    )
    return [[float(word) for word in line.split()] for line in out.stdout.splitlines()]


def test_a_module_that_is_loaded_late_counts(tmp_path: Path) -> None:
    """Nothing but a run of the function tells which module it imports."""
    (tmp_path / "mechanism.py").write_text(MECHANISM.format(name="'hel' + 'per'"))
    (tmp_path / "helper.py").write_text("SIGMA = 3.0\n")
    first = ran(tmp_path)
    assert [taken for taken, _ in first] == [0, 0]
    # here it is never loaded
    assert ran(tmp_path) == [[4, first[0][1]], [4, first[1][1]]]
    (tmp_path / "helper.py").write_text("SIGMA = 1.0\n")
    second = ran(tmp_path)
    assert [taken for taken, _ in second] == [0, 0]
    for (_, wide), (_, narrow) in zip(first, second, strict=True):
        assert wide == pytest.approx(3 * narrow)


def test_an_audit_sees_a_fault_in_a_helper_module(tmp_path: Path) -> None:
    """A third of the noise: 20,000 runs tell standard deviation 1 from 3 with certainty, for all that matters."""
    (tmp_path / "mechanism.py").write_text(
        "from helper import noise\ndef f(data, rng, runs):\n    return noise(rng, runs) + data.sum()\n"
    )
    (tmp_path / "left.csv").write_text("x\n0\n1\n")
    (tmp_path / "right.csv").write_text("x\n0\n2\n")
    command = [
        sys.executable, "-m", "dpverify", "audit", "mechanism:f", "--data", "left.csv", "--neighbor", "right.csv",
        "--claim", "mu=0.4", "--fixed-runs", "--store", "store.sqlite", "--json", "-",
    ]  # fmt: skip
    found = []
    for sigma in (3.0, 1.0):
        (tmp_path / "helper.py").write_text(
            f"def noise(rng, runs):\n    return rng.normal(size=(runs, 1)) * {sigma}\n"
        )
        out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        found.append((json.loads(out.stdout), out.returncode))
    assert [(audit["verdict"], code) for audit, code in found] == [("supported", 0), ("violated", 1)]
    assert [audit["reuse"]["blocks_taken"] for audit, _ in found] == [0, 0]
    assert found[1][0]["reuse"]["blocks"] == 40


def test_files_are_known_by_their_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "late_module.py").write_text("x = 1")
    watch = SourceWatch(tmp_path)
    before = watch.files()
    assert before is not None
    assert "late_module.py" not in before
    __import__("late_module")
    files = watch.files()
    assert files is not None
    assert set(files) == {*before, "late_module.py"}
    assert unchanged(files, tmp_path)
    (tmp_path / "late_module.py").write_text("x = 2")
    assert not unchanged(files, tmp_path)
    (tmp_path / "late_module.py").unlink()
    assert not unchanged(files, tmp_path)
    # nobody knows any more what was loaded
    assert loaded_sources()[str(tmp_path / "late_module.py")] == ""
    assert SourceWatch(tmp_path).files() is None
    del sys.modules["late_module"]
    assert SourceWatch(tmp_path).files() is not None


def test_a_file_that_is_written_while_it_is_loaded_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    watch = SourceWatch(tmp_path)
    (tmp_path / "new_module.py").write_text("x = 1")
    os.utime(tmp_path / "new_module.py", (time.time() + 100, time.time() + 100))
    __import__("new_module")
    assert watch.files() is None
    del sys.modules["new_module"]


@dataclass(frozen=True)
class Elsewhere:
    """Computes as if in another process, which has loaded a file."""

    source: str

    fingerprint = "elsewhere"

    def loaded_sources(self) -> tuple[Path, ...]:
        return (Path(self.source),)

    def __call__(self, data: Any, *, rng: Any, runs: int) -> Any:
        return rng.normal((runs, 1), "noise")


def test_what_an_object_that_is_gone_has_loaded_is_forgotten(tmp_path: Path) -> None:
    """Another one may get its number, and has loaded the file as it is now."""
    source = tmp_path / "theirs.py"
    source.write_text("x = 1")
    gone = Elsewhere(str(source))
    assert _hash_as_first_seen(str(source), gone)
    source.write_text("x = 2")
    assert _hash_as_first_seen(str(source), gone) == ""
    assert _hash_as_first_seen(str(source), Elsewhere(str(source)))
    del gone
    assert str(source) not in {path for path, _ in _first_seen}


def test_files_that_other_processes_have_loaded_count(tmp_path: Path) -> None:
    source = tmp_path / "theirs.py"
    taken = []
    for content in ("x = 1", None, "x = 2", None):
        if content is not None:
            source.write_text(content)
        found = run(
            Elsewhere(str(source)), np.zeros(3), runs=20, seed=1, block_size=10, store=tmp_path / "store"
        )
        assert found.reuse is not None
        taken.append(found.reuse.blocks_taken)
    assert taken == [0, 2, 0, 2]
    source.unlink()
    lost = run(
        Elsewhere(str(source)), np.zeros(3), runs=20, seed=1, block_size=10, store=tmp_path / "store"
    ).reuse
    assert lost is not None
    assert "2 results were not kept in" in lost.summary()
