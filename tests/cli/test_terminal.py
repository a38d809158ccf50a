"""Where output goes and how commands end: files, pipes, signals, own faults."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify import cli, terminal
from dpverify.files import write_whole
from dpverify.terminal import consoles

from .calling import call

COMMAND = [sys.executable, "-m", "dpverify"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("samples")
    rng = np.random.default_rng(20261121)
    for side in (0, 1):
        np.save(folder / f"{side}.npy", side + rng.laplace(size=2000))
    return ["audit", "--left", str(folder / "0.npy"), "--right", str(folder / "1.npy"), "--claim", "eps=2"]


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


# ------------------------------------------------------------------------------------------- files


@pytest.mark.usefixtures("open_umask")
def test_a_file_of_json_can_be_read_by_others(samples: list[str], tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    assert call(*samples, "--json", str(place)) == 0
    assert json.loads(place.read_text())["verdict"] == "supported"
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_stays_one(samples: list[str], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    assert call(*samples, "--json", str(link)) == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["verdict"] == "supported"


def test_a_pipe_is_written_to_and_stays(samples: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert call(*samples, "--json", str(pipe)) == 0
    reader.join(timeout=10)
    assert json.loads(read[0])["verdict"] == "supported"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("place", [".", "no/such/folder.json", "/dev/null/x.json", "/proc/x.json", "a\0b"])
def test_places_that_cannot_be_written_to(
    samples: list[str],
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if place.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("there is no /proc here")
    monkeypatch.chdir(tmp_path)
    # said before the work is done
    monkeypatch.setattr("dpverify.auditing.requests.audits.audit", lambda *a, **k: pytest.fail("ran"))
    assert call(*samples, "--json", place) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dpverify: --json was ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_report_folder_that_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpverify.verification.verify", lambda *a, **k: pytest.fail("ran"))
    assert call("verify", "--out", "/dev/null/x/y") == 2
    assert capsys.readouterr().err.startswith("dpverify: --out was '/dev/null/x/y'")


def test_what_was_there_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "kept"
    place.write_text("before")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(place, b"after")
    assert place.read_text() == "before"
    assert list(tmp_path.iterdir()) == [place]


# ------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    "more",
    [["--runs", "300"], ["--runs", "20000"], ["--executor", "threads=2"], ["--store", "s"]],
    ids=" ".join,
)
def test_options_that_samples_have_no_use_for(
    samples: list[str], more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*samples, *more) == 2
    assert capsys.readouterr().err.startswith(f"dpverify: {more[0]} was ")


def test_an_empty_target_is_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("audit", "", "--claim", "eps=1") == 2
    assert "--data and --neighbor" in capsys.readouterr().err


def test_messages_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("explain", "a:smile:[bold]b") == 2
    assert "a:smile:[bold]b" in capsys.readouterr().err


@pytest.mark.one_in(2)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_output_in_every_encoding(encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [*COMMAND, "explain", "fmtt18.def10"], capture_output=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0
    said = done.stdout.decode(encoding)
    assert ("\u2016" in said) == (encoding == "utf-8")
    assert ("\\u2016" in said) == (encoding != "utf-8")


def test_json_escapes_what_the_output_has_no_sign_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {"name": "\u03c3 \xe9 \U0001d4a9"}
    terminal.write_json("-", content)
    assert "\u03c3" in capsys.readouterr().out
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    terminal.write_json("-", content)
    plain.flush()
    assert json.loads(plain.buffer.getvalue()) == content  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------- ends


def test_an_own_fault_is_no_verdict(
    samples: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("dpverify.auditing.requests.audits.audit", fail)
    assert call(*samples) == terminal.OWN_FAULT
    err = capsys.readouterr().err
    assert "planted" in err
    assert err.rstrip().endswith("please report it with the lines above.")
    assert terminal.OWN_FAULT not in (0, terminal.VIOLATED, terminal.BAD_INPUT, terminal.UNDECIDED)


def test_interrupting_is_no_verdict(samples: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpverify.auditing.requests.audits.audit", interrupt)
    assert call(*samples) == 128 + signal.SIGINT


@pytest.mark.parametrize(
    "arguments",
    [["list", "bst14.alg1", "--json", "-"], ["list", "bst14.alg1"], ["--help"]],
    ids=" ".join,
)
def test_a_reader_that_has_gone_is_no_verdict(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(
            [*COMMAND, *arguments], stdout=closed, stderr=subprocess.PIPE, timeout=120, check=False
        )
    assert ended.returncode == 128 + signal.SIGPIPE
    assert b"Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk_behind_standard_output_is_said(samples: list[str], form: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *samples, "--format", form], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("dpverify: The results cannot be written")
    assert done.stderr.count("\n") == 1


def test_on_a_terminal_the_command_line_is_not_broken(
    samples: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    assert call(*samples) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("verdict")  # no line of empty headings above it
    assert max(map(len, lines[:-1])) <= 60
    assert lines[-1].startswith(f"reproduce: dpverify {samples[0]} --left {samples[2]} --right")
    assert lines[-1].endswith("--seed 0")


def shown(columns: tuple[str, ...], rows: list[tuple[str, ...]], width: int) -> list[str]:
    console = consoles.output_console()
    console.file, console.width = io.StringIO(), width
    console.print(consoles.table(columns, rows, width))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_table_breaks_one_column_at_most() -> None:
    rows = [
        ("a.first", "proved", "one two three four five six seven eight"),
        ("a.second", "refuted", "short"),
    ]
    assert shown(("id", "verdict", "what"), rows, 70) == [
        "id        verdict  what",
        "a.first   proved   one two three four five six seven eight",
        "a.second  refuted  short",
    ]
    broken = shown(("id", "verdict", "what"), rows, 49)
    assert broken[1:3] == ["a.first   proved   one two three four five six", " " * 19 + "seven eight"]
    assert shown(("id", "verdict"), [], 80) == ["id  verdict"]


@pytest.mark.parametrize("width", [20, 40, 60])
def test_what_does_not_fit_stands_below_and_nothing_is_lost(width: int) -> None:
    long = "for all real x at least 0, and whatever else the page says of it"
    rows = [
        ("paper.theorem-1", "proved", "", long, long),
        ("paper.theorem-2", "refuted", "x=1", "", "q" * 90),
    ]
    lines = shown(("statement", "verdict", "why", "read", "roots"), rows, width)
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if line.startswith("paper")] == [
        "paper.theorem-1",
        "paper.theorem-2",
    ]
    words = " ".join(lines).split()
    assert words.count("whatever") == 2
    assert {"refuted", "x=1"} <= set(words)
    assert "".join(words).count("q") == 90
    assert sum(line.startswith("    read:") for line in lines) == 1  # what says nothing takes no line


def test_paragraphs_are_broken_on_a_terminal_and_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "  proved here: subgradient-inequality, triangle-inequality"
    terminal.print_paragraphs([line, ""])
    assert capsys.readouterr().out == f"{line}\n\n"
    for name, value in (("TTY_COMPATIBLE", "1"), ("COLUMNS", "40"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    terminal.print_paragraphs([line, ""])
    broken = ["  proved here: subgradient-inequality,", "    triangle-inequality", ""]
    assert capsys.readouterr().out.splitlines() == broken


def test_consoles_do_not_end_the_program() -> None:
    """Rich would end it with the exit code of a violated claim."""

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    console = consoles.output_console()
    console.file = Closed()
    with pytest.raises(BrokenPipeError):
        console.print("nobody reads this")


def test_ended_workers_leave_nothing_behind(tmp_path: Path) -> None:
    """SIGTERM, as a scheduler sends it, ends the worker processes too."""
    (tmp_path / "slow.py").write_text(
        "import os, pathlib, time\n"
        "def noise(data, rng, runs):\n"
        "    pathlib.Path(f'worker-{os.getpid()}').touch()\n"
        "    time.sleep(60)\n"
        "    return rng.laplace(size=runs)\n"
    )
    for name, row in (("d.csv", "0\n"), ("e.csv", "1\n")):
        (tmp_path / name).write_text(row)
    arguments = ["audit", "slow:noise", "--data", "d.csv", "--neighbor", "e.csv", "--claim", "eps=1"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    running = subprocess.Popen(
        [*COMMAND, *arguments, "--executor", "processes=2"],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        workers = _eventually(lambda: [int(p.name.split("-")[1]) for p in tmp_path.glob("worker-*")])
        assert os.getpid() not in workers
        running.terminate()
        assert running.wait(timeout=30) == 128 + signal.SIGTERM
        assert _eventually(lambda: not any(_alive(worker) for worker in workers))
    finally:
        running.kill()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    # one that has ended and waits to be noticed has state Z
    return not (status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def _eventually(wanted: Callable[[], Any], seconds: float = 60.0) -> Any:
    limit = time.monotonic() + seconds
    while True:
        found = wanted()
        if found or time.monotonic() > limit:
            return found
        time.sleep(0.1)


def test_signals_are_given_back(samples: list[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert call(*samples) == 0
    assert signal.getsignal(signal.SIGTERM) is before
    assert cli.app.info.cls is terminal.Commands


PROOFS = """
import os, pathlib, time
from dpverify.statements.paper import papers
from dpverify.verification.catalog import proofs

def slow(task):
    pathlib.Path(f"worker-{os.getpid()}").touch()
    time.sleep(1000)

proofs._carry_out = slow
proofs.prove_statements(list(papers()["fmtt18"].statements), workers=2)
"""


def test_a_killed_program_leaves_no_provers(tmp_path: Path) -> None:
    running = subprocess.Popen([sys.executable, "-c", PROOFS], cwd=tmp_path, stderr=subprocess.DEVNULL)
    workers: list[int] = []
    try:
        _eventually(lambda: len(list(tmp_path.glob("worker-*"))) == 2)
        workers = [int(p.name.split("-")[1]) for p in tmp_path.glob("worker-*")]
        running.kill()
        running.wait()
        assert len(workers) == 2
        # they look four times a second; half a minute is what they would live on for
        assert _eventually(lambda: not any(_alive(worker) for worker in workers), seconds=10.0)
    finally:
        running.kill()
        for worker in filter(_alive, workers):
            os.kill(worker, signal.SIGKILL)
