"""Standard streams that are closed or full: a verdict needs none of them, and its exit code says what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from dpverify.running.foresight import LongRunWarning
from dpverify.terminal import run_commands

FUNCTIONS = """
import os, sys
def fine(data, rng, runs):
    print("to one")
    print("to the other", file=sys.stderr)
    return data.sum() + rng.laplace(size=runs)
def leaks(data, rng, runs):
    return data.sum() + rng.laplace(size=runs) / 50
"""
FULL = Path("/dev/full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "a.csv").write_text("0\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("1\n", encoding="utf-8")
    return tmp_path


def shell(folder: Path, function: str, streams: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = f'"$@" {streams}'
    audit = (
        "audit",
        f"own:{function}",
        "--data",
        "a.csv",
        "--neighbor",
        "b.csv",
        "--claim",
        "eps=1",
        "--runs",
        "300",
    )
    return subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-m", "dpverify", *audit, *more],
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONWARNINGS": ""},
    )  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("streams", ["2>/dev/full", "2>/dev/full <&-", "2>/dev/full >&-"])
def test_no_room_on_standard_error(folder: Path, streams: str) -> None:
    done = shell(folder, "fine", streams)
    assert done.returncode == 0
    assert ("supported" in done.stdout) == (">&-" not in streams)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(folder: Path, streams: str) -> None:
    done = shell(folder, "fine", streams, "--json", "found.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "found.json").read_text())["verdict"] == "supported"
    assert "Traceback" not in done.stderr
    assert "closed the pipe" not in done.stderr


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("function", "streams", "code"),
    [
        ("leaks", "<&- >&- 2>&-", 1),
        ("leaks", "2>&-", 1),
        ("gone", "2>&-", 2),
        ("gone", "<&- >&- 2>&-", 2),
        ("fine", ">/dev/full", 2),
        ("leaks", ">/dev/full 2>/dev/full", 2),
        ("gone", "2>/dev/full", 2),
        ("fine", "1</dev/null", 2),  # for reading alone
    ],
)
def test_exit_codes_are_of_what_was_found(folder: Path, function: str, streams: str, code: int) -> None:
    """0 and 1 for a verdict that was delivered, never for a stream."""
    if "full" in streams and not FULL.exists():
        pytest.skip("no device that is always full")
    assert shell(folder, function, streams).returncode == code


def test_warnings_of_the_program_are_lines(capsys):
    def command(_):
        warnings.warn("A run takes about 3 minutes.", LongRunWarning, stacklevel=1)
        warnings.warn("another's", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        run_commands(command, [])
    assert capsys.readouterr().err == "dpverify: A run takes about 3 minutes.\n"
    assert [str(one.message) for one in others] == ["another's"]
