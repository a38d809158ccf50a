"""Bad words on the command line, and bad files: exit code 2, one sentence, nothing printed, nothing written."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.cli import main

SAMPLES = ["audit", "--left", "left.npy", "--right", "right.npy"]
FUNCTION = ["audit", "releases:noise", "--data", "d.csv", "--neighbor", "e.csv"]
CLAIM = ["--claim", "eps=1"]
ONCE = ["--fixed-runs", "--runs", "200"]
LONG = "x" * 300

BAD_INTEGERS = ["nan", "inf", "1.5", "", "one", "1e3", "--", "-1"]
BAD_NUMBERS = ["nan", "inf", "-inf", "", "one", "1,5", "-1"]
BAD_EXECUTORS = [
    "",
    "gpu",
    "threads",
    "threads=0",
    "threads=999999",
    "threads=-1",
    "processes=x",
    "dask=",
    "Serial",
]
BAD_IDS = ["", "nothing", "fmtt18.thm999", "fmtt18.", "FMTT18", "a b", "\u00e9", LONG, "../x", "fmtt18,bst14"]
BAD_PLACES = ["", ".", "no/such/folder.json", "/dev/null/x.json", "a\0b", LONG]

RELEASES = """
def noise(data, rng, runs):
    return rng.laplace(size=runs)


class Mean:
    def fit(self, data):
        self.mean_ = data.mean()


class Demanding(Mean):
    def __init__(self, epsilon):
        self.epsilon = epsilon


class Formless:
    def fit(self, data):
        self.mean_ = object()


number, nothing = 3, list
formless = Formless()
"""

COMMANDS: list[list[str]] = [
    # claims, failure probabilities, seeds
    *([*SAMPLES, "--claim", c] for c in (
        "", "eps", "eps=", "eps=x", "eps=-1", "eps=nan", "eps=inf", "eps=1,eps=2", "eps=1,delta=1", "eps=1,delta=-1",
        "mu=-1", "mu=nan", "rho=-1", "rho=1,omega=1", "order=1,rdp=1", "order=2", "delta=1", "eps=1;delta=0",
        "eps=\u0661", "eps=1_0", "epz=1", "eps=1e999", "eps=1e-999", LONG,
    )),
    *([*SAMPLES, *CLAIM, "--failure-probability", v] for v in [*BAD_NUMBERS, "0", "1", "2", "1e-300"]),
    *([*SAMPLES, *CLAIM, "--seed", v] for v in [*BAD_INTEGERS]),
    *([*SAMPLES, *CLAIM, "--json", v] for v in BAD_PLACES),
    *([*SAMPLES, *CLAIM, *more] for more in (
        ["--runs", "300"], ["--executor", "serial"], ["--store", "s"], ["--time-limit", "5"], ["--memory-limit", "5"],
        ["--adjacency", "next"], ["--adjacency", ""], ["--data", "d.csv"], ["--neighbor", "e.csv"], ["--nonsense"],
        ["--left"], ["releases:noise"], ["--command", "cat"], ["--attribute", "coef_"],
    )),
    *([*FUNCTION[:4], *CLAIM, "--search-neighbors", v] for v in ("no/such/folder.json", "a\0b.json", "found.txt", "-")),
    # files that are not there, or of another kind
    *(["audit", "--left", place, "--right", "right.npy", *CLAIM] for place in (
        "", ".", "no.npy", "d.csv.npy/x.npy", "a\0b.npy", LONG + ".npy", "d.csv", "left.txt", "/dev/null", "-",
        "no.npz", "no.parquet", "no.pickle",
    )),
    *([*FUNCTION[:2], "--data", place, "--neighbor", "e.csv", *CLAIM] for place in (
        "", ".", "no.csv", "a\0b.csv", LONG + ".csv", "left.npy", "/dev/null", "releases.py",
    )),
    ["audit", *CLAIM], [*SAMPLES, *CLAIM, "--curves"],
    ["audit", "--left", "left.npy", *CLAIM], ["audit", "--right", "right.npy", *CLAIM],
    [*FUNCTION[:4], *CLAIM], [*FUNCTION[:2], "--neighbor", "e.csv", *CLAIM],
    [*FUNCTION[:4], "--neighbor", "d.csv", *CLAIM],
    # functions
    *(["audit", target, *FUNCTION[2:], *CLAIM] for target in (
        "", "releases", "releases:", ":noise", "releases:noise()", "releases.py:noise", "no_module_here:f", "a b:c",
        "releases:\u00e9\u00e9.x", LONG + ":f", "releases:" + LONG,
    )),
    # estimators and commands
    ["audit", "releases:Mean", *FUNCTION[2:], *CLAIM], ["audit", "releases:Demanding", *FUNCTION[2:], *CLAIM],
    *([*FUNCTION, *CLAIM, "--attribute", v] for v in ("", "coef_", "not a name", "1", LONG)),
    [*FUNCTION, *CLAIM, "--attribute", "a", "--attribute", "a"],
    *(["audit", f"releases:{made}", *FUNCTION[2:], *CLAIM, *ONCE, "--attribute", name] for made, name in (
        ("Mean", "gone_"), ("Demanding", "mean_"), ("number", "mean_"), ("nothing", "mean_"), ("formless", "mean_"),
    )),
    *(["audit", "--command", v, *FUNCTION[2:], *CLAIM, *ONCE] for v in (
        "", " ", "'", "no-such-program-here", "./d.csv", "a\0b", LONG, "false", "true", "cat", "yes", "echo 1",
        "cat | cat", "cat > out", "sh a; true",
        "sh -c 'exit 3'", "sh -c 'kill -9 $$'", "sh -c 'yes 1 | head -n 201'", "sh -c 'yes [ | head -n 200'",
    )),
    ["audit", "--command", "cat", *CLAIM], [*FUNCTION, *CLAIM, "--command", "cat"],
    *([*FUNCTION, *CLAIM, "--score", v] for v in ("", "value", "spread")),
    [*FUNCTION, *CLAIM, *ONCE, "--score", "spread"], [*FUNCTION, *CLAIM, *ONCE, "--score", "value", "--low-bits"],
    *([*FUNCTION, *CLAIM, "--direction", v] for v in ("", "up", "left-over-right")),
    *([*FUNCTION, *CLAIM, "--delta", v] for v in [*BAD_NUMBERS, "1", "-0.1"]),
    ["audit", "--command", "cat", "--left", "left.npy", "--right", "right.npy", *CLAIM],
    ["audit", "--command", "cat", *FUNCTION[2:], *CLAIM, "--attribute", "coef_"],
    ["audit", "--command", "cat", *FUNCTION[2:], *CLAIM, "--store", "store.sqlite"],
    *([*FUNCTION, *CLAIM, "--runs", v] for v in [*BAD_INTEGERS, "0", "15"]),
    [*FUNCTION, *CLAIM, *CLAIM], [*SAMPLES, *CLAIM, "--claim", "eps=2"],
    *([*FUNCTION, *CLAIM, "--executor", v] for v in BAD_EXECUTORS),
    *([*FUNCTION, *CLAIM, "--time-limit", v] for v in [*BAD_NUMBERS, "0", "1e9"]),
    *([*FUNCTION, *CLAIM, "--memory-limit", v] for v in [*BAD_NUMBERS, "0", "0.001", "1e30"]),
    *([*FUNCTION, *CLAIM, "--adjacency", v] for v in ("", "index", "add", "replace-one ", "1")),
    [*FUNCTION, *CLAIM, "--adjacency", "add-or-remove-one"],
    *([*FUNCTION[:3], "far.csv", *FUNCTION[4:], *CLAIM, "--adjacency", v] for v in ("answers-within-1", "zero-out")),
    *([*FUNCTION[:3], "e.csv", *FUNCTION[4:], *CLAIM, "--adjacency", v] for v in ("answers-within-1", "unchecked")),
    *([*FUNCTION, *CLAIM, "--failure-probability", v] for v in ("0", "1", "nan", "1e-300")),
    *([*FUNCTION, *CLAIM, "--json", v] for v in BAD_PLACES),
    # the other commands
    *([command, name] for command in ("list", "prove", "explain", "hypotheses") for name in BAD_IDS),
    *([command, "fmtt18.lem15", "--jobs", v] for command in ("list", "prove") for v in ("0", "-1", "x", "1.5", "")),
    *(["prove", "fmtt18.lem15", "--json", v] for v in BAD_PLACES),
    ["sharpen", "mn26"], ["sharpen", "fmtt18.lem15/none"], ["sharpen", "fmtt18.lem27", "--seconds", "0"],
    ["prove", "mn26"], ["explain"], ["explain", "a", "b"], ["report"], ["nothing"], ["--nothing"],
    *(["verify", "--paper", name] for name in BAD_IDS),
    *(["verify", "--only", name] for name in ("", "no-plan", LONG)),
    *(["verify", "--profile", v] for v in ("", "slow", "Quick")),
    *(["verify", "--seed", v] for v in BAD_INTEGERS),
    *(["verify", "--executor", v] for v in BAD_EXECUTORS),
    *(["verify", "--jobs", v] for v in ("0", "-1", "x", "1.5", "")),
    *(["verify", "--failure-probability", v] for v in ("0", "1", "nan", "-1", "x", "1e-300")),
    *(["verify", "--out", v] for v in ("/dev/null/x", "a\0b", LONG, "d.csv/x")),
    *(["report", place] for place in ("", ".", "no.json", "a\0b", LONG, "left.npy", "d.csv", "/dev/null")),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with what good commands need; verdicts are remembered elsewhere."""
    here, rng = tmp_path / "here", np.random.default_rng(20261121)
    here.mkdir()
    (tmp_path / "bad").mkdir()
    for side in ("left", "right"):
        np.save(here / f"{side}.npy", rng.laplace(size=300))
    (here / "d.csv").write_text("0\n0\n")
    (here / "e.csv").write_text("0\n1\n")
    (here / "far.csv").write_text("0\n9\n")
    (here / "left.txt").write_text("1\n2\n")
    (here / "releases.py").write_text(RELEASES)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setenv("COLUMNS", "1000")
    return here


def files(folder: Path) -> dict[Path, bytes]:
    """What is in a folder, but for what Python keeps of an imported file."""
    return {path: path.read_bytes() for path in folder.iterdir() if path.name != "__pycache__"}


def refused(arguments: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What the command says; it must end with 2, and change nothing."""
    before = files(folder)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capfd.readouterr()
    assert ended.value.code == 2, err
    assert out == ""
    assert "Traceback" not in err
    assert files(folder) == before
    # what typer refuses by itself stands below its line of usage
    lines = [line for line in err.splitlines() if line and not line.startswith(("Usage: ", "Try '"))]
    assert len(lines) == 1, err
    assert 10 < len(lines[0]) < 1500
    return lines[0]


def name(arguments: list[str]) -> str:
    return " ".join(word[:20] for word in arguments).replace("\0", "0")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arguments", COMMANDS, ids=map(name, COMMANDS))
def test_bad_words(arguments: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused(arguments, folder, capfd)


def _npy(array: Any, **options: Any) -> Callable[[Path], None]:
    return lambda path: np.save(path, array, **options)


def _bytes(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None  # type: ignore[func-returns-value]


def _header(text: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _zip(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def _damaged_zip(path: Path) -> None:
    np.savez(path, a=np.zeros(300))
    content = bytearray(path.read_bytes())
    content[400] ^= 255
    path.write_bytes(bytes(content))


SAMPLE_FILES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "empty": ("npy", _bytes(b"")),
    "text": ("npy", _bytes(b"1,2,3\n")),
    "half a magic": ("npy", _bytes(b"\x93NUM")),
    "magic only": ("npy", _bytes(b"\x93NUMPY\x01\x00")),
    "version 9": ("npy", _bytes(b"\x93NUMPY\x09\x00" + bytes(100))),
    "no dict": ("npy", _bytes(_header(b"[1, 2]\n"))),
    "code": ("npy", _bytes(_header(b"__import__('os').system('touch ran')\n"))),
    "deep": ("npy", _bytes(_header(b"(" * 4000))),
    "promises": ("npy", _bytes(_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,)}\n"))),
    "huge": (
        "npy",
        _bytes(_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}\n")),
    ),
    "negative": ("npy", _bytes(_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-300,)}\n"))),
    "objects": ("npy", _npy(np.array([None] * 300), allow_pickle=True)),
    "objects inside": ("npy", _npy(np.zeros(300, dtype=[("a", object)]), allow_pickle=True)),
    "no axis": ("npy", _npy(np.float64(1.0))),
    "no number": ("npy", _npy(np.zeros((300, 0)))),
    "too few": ("npy", _npy(np.zeros(99))),
    "another size": ("npy", _npy(np.zeros(301))),
    "folder": ("npy", lambda path: path.mkdir()),
    "empty table": ("csv", _bytes(b"")),
    "heading only": ("csv", _bytes(b"a,b\n")),
    "binary": ("csv", _bytes(bytes(range(256)) * 8)),
    "not UTF-8": ("csv", _bytes("\xe9\n1\n".encode("latin-1"))),
    "NUL": ("csv", _bytes(b"1\0\n" * 300)),
    "one word more": ("csv", _bytes(b"1\n" * 300 + b"one\n")),
    "open quote": ("csv", _bytes(b'"1\n' * 300)),
    "ragged": ("csv", _bytes(b"1\n" * 299 + b"1,2\n")),
    "table folder": ("csv", lambda path: path.mkdir()),
    "no archive": ("npz", _bytes(b"PK\x03\x04" + bytes(100))),
    "empty archive": ("npz", lambda path: np.savez(path)),
    "archive of objects": ("npz", lambda path: np.savez(path, a=np.array([None] * 300))),
    "archive of a scalar": ("npz", lambda path: np.savez(path, a=1.0)),
    "uneven archive": ("npz", lambda path: np.savez(path, a=np.zeros(300), b=np.zeros(299))),
    "archive of text": ("npz", lambda path: _zip(path, {"a.npy": b"1,2,3"})),
    "archive that promises": (
        "npz",
        lambda path: _zip(
            path,
            {"a.npy": _header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}\n")},
        ),
    ),
    "damaged archive": ("npz", lambda path: _damaged_zip(path)),
    "no table": ("parquet", _bytes(b"PAR1" + bytes(100))),
}

DATA_FILES: dict[str, bytes | None] = {
    "empty": b"", "blank": b"\n\n\n", "heading only": b"a,b\n", "binary": bytes(range(256)), "NUL": b"0\0\n1\n",
    "not UTF-8": "\xe9\xe9\n".encode("latin-1"), "UTF-16": "0\n1\n".encode("utf-16"), "word": b"0\none\n",
    "infinity": b"0\ninf\n", "huge": b"0\n" + b"9" * 5000 + b"\n", "ragged": b"0\n1,2\n",
    "empty cell": b"0,1\n1,\n", "quote": b'0\n"1\n', "semicolons": b"0;1\n1;2\n", "more": b"0\n1\n2\n",
    "same": b"0\n0\n",
    "other order": b"0\n0.0\n", "both differ": b"1\n1\n", "wider": b"0,0\n0,1\n", "underscore": b"0\n1_0\n",
    "hexadecimal": b"0\n0x1\n", "folder": None,
}  # fmt: skip

LEDGERS: dict[str, bytes | None] = {
    "empty": b"", "binary": bytes(range(256)), "not UTF-8": b'{"a": "\xe9"}',
    "truncated": b'{"schema_version": 1, "pro',
    "null": b"null", "list": b"[]", "number": b"3", "text": b'"ledger"', "no fields": b"{}", "deep": b"[" * 100_000,
    "other version": b'{"schema_version": 99}', "version of text": b'{"schema_version": "1"}',
    "huge integer": b'{"schema_version": ' + b"9" * 5000 + b"}", "NaN": b'{"schema_version": NaN}',
    "unknown field": b'{"schema_version": 1, "surprise": 1}', "folder": None,
    "wrong types": json.dumps({"schema_version": 1, "entries": 3, "statements": {}, "seed": "x"}).encode(),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", SAMPLE_FILES)
def test_bad_samples(kind: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ending, write = SAMPLE_FILES[kind]
    place = folder.parent / "bad" / f"{kind.replace(' ', '-')}.{ending}"
    write(place)
    said = refused(["audit", "--left", str(place), "--right", "right.npy", *CLAIM], folder, capfd)
    assert said.startswith("dpverify: ")
    assert not (folder / "ran").exists()


def _file(folder: Path, name: str, content: bytes | None) -> str:
    place = folder.parent / "bad" / name
    place.mkdir() if content is None else place.write_bytes(content)
    return str(place)


@pytest.mark.parametrize("kind", DATA_FILES)
def test_bad_data(kind: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = _file(folder, "data.csv", DATA_FILES[kind])
    said = refused([*FUNCTION[:4], "--neighbor", place, *CLAIM], folder, capfd)
    assert said.startswith("dpverify: ")


@pytest.mark.parametrize("kind", LEDGERS)
def test_bad_ledgers(kind: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = _file(folder, "ledger.json", LEDGERS[kind])
    for more in ([], ["--out", "report"]):
        said = refused(["report", place, *more], folder, capfd)
        assert said.startswith("dpverify: ")


def test_good_commands_are_not_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Else the table would show nothing. Equal samples can't be violated; with so few, eps=1 is decided."""
    for arguments in ([*SAMPLES, *CLAIM], [*FUNCTION, *CLAIM, "--runs", "300"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code in (0, 3)
        assert "Traceback" not in capfd.readouterr().err


def test_the_table_is_long_enough() -> None:
    assert sum(map(len, (COMMANDS, SAMPLE_FILES, DATA_FILES, LEDGERS))) > 300
