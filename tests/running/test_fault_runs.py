"""What `make faults` would notice: planted faults in commands that are killed or tried."""

from __future__ import annotations

import importlib.util
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults", ROOT / "tests" / "benchmarks" / "faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faults"] = module  # where its data classes look for their names
    spec.loader.exec_module(module)
    return module


def said_at_the_end(out: str, folder: Path) -> str:
    return out


def killed(faults: ModuleType, script: str, folder: Path, *, stored: bool = False) -> list[str]:
    command = faults.Command("a script", ("sh", "-c", script), said_at_the_end, stored)
    tally = faults.killed(command, 1, folder, random.Random(3))
    assert tally.kills == 1
    assert tally.finished >= 1
    found: list[str] = tally.faults
    return found


def test_a_command_that_keeps_its_word(faults: ModuleType, tmp_path: Path) -> None:
    assert killed(faults, "sleep 0.4; echo done", tmp_path) == []


def test_another_result_after_a_kill(faults: ModuleType, tmp_path: Path) -> None:
    script = 'sleep 0.4; echo "${PWD##*/}"'  # the folder of the undisturbed run has another name
    assert killed(faults, script, tmp_path) == ["another result than undisturbed"]


def test_lost_work(faults: ModuleType, tmp_path: Path) -> None:
    """A row that has other content counts as lost, like one that is gone."""
    folder = tmp_path / "job-0"
    folder.mkdir()
    rows = []
    with closing(sqlite3.connect(folder / "store")) as database, database:
        database.execute("create table kept (key text, content blob)")
        database.executemany("insert into kept values (?, ?)", [("a", b"1"), ("b", b"2")])
    rows.append(faults._rows(folder))
    with closing(sqlite3.connect(folder / "store")) as database, database:
        database.execute("update kept set content = x'33' where key = 'b'")
    rows.append(faults._rows(folder))
    assert len(rows[0]) == 2
    assert len(rows[0] - rows[1]) == 1


def test_processes_that_are_left(faults: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = faults._leftovers
    monkeypatch.setattr(faults, "_leftovers", lambda mark: impatient(mark, 0.2))
    found = killed(faults, "setsid sleep 60 >/dev/null 2>&1 & sleep 0.5; echo done", tmp_path)
    assert any("processes left after the end" in what for what in found)


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("echo no room >&2; exit 2", None),
        ("echo no room >&2; exit 1", "exit code 1"),
        ("echo other >&2; exit 2", "nothing about 'room'"),
        ("echo Traceback room >&2; exit 2", "a traceback"),
        ("echo no room >&2; echo x; exit 2", "output beside a refusal"),
    ],
)
def test_trials(script: str, fault: str | None, faults: ModuleType, tmp_path: Path) -> None:
    trial = faults.Trial("a script", ("sh", "-c", script), (2,), says="room")
    tally = faults.tried(trial, tmp_path, 1)
    assert bool(tally.faults) is (fault is not None)
    assert fault is None or any(what.startswith(fault) for what in tally.faults)


def test_the_page_counts_what_went_wrong(faults: ModuleType) -> None:
    command = faults.COMMANDS[0]
    wrong = ["another result than undisturbed", "1 rows of the store lost"]
    bad = faults.Tally(kills=3, finished=2, kept=1, faults=wrong)
    text, found = faults.page(0, {command.name: (command, bad)}, {"a disk": faults.Tally(finished=2)})
    assert f"| `{command.name}` | 3 | 1 | 2 | 1 | 1 | 0 |" in text
    assert "| a disk | 2 | 2 |" in text
    assert len(found) == 2
    assert all(what in text for what in found)
