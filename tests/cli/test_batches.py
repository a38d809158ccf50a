"""`dpverify batches`, and recorded batches in a project: planted faults are violated, right batches are supported.

False alarms: 1e-6 for each right file, and for each project; seeds are fixed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.commands.claims.stated_claims import claim_places, read_project
from dpverify.reports import load_ledger
from dpverify.views.run import Summary, audit_text

from ..packaging.page_blocks import DOCS, blocks, said, write_files
from .calling import call

N = 100
POISSON = ("--sampling", "poisson", "--rate", "0.1", "--records", str(N))
PAGE = DOCS / "how-to" / "check-batches.md"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Batches of a right Poisson loader, a truncated one and a shuffled one."""
    tmp_path, rng = tmp_path_factory.mktemp("batches"), np.random.default_rng(0)
    right = [np.flatnonzero(rng.random(N) < 0.1) for _ in range(800)]
    write(tmp_path / "right.jsonl", right)
    write(tmp_path / "cut.jsonl", [rng.permutation(batch)[:15] for batch in right])
    write(tmp_path / "shuffled.jsonl", [b for _ in range(80) for b in np.split(rng.permutation(N), 10)])
    write(tmp_path / "few.jsonl", right[:2])
    lines = "".join(",".join(map(str, batch)) + "\n" for batch in right)
    (tmp_path / "right.csv").write_text(lines)
    return tmp_path


@pytest.fixture
def folder(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which has them."""
    monkeypatch.chdir(recorded)
    return recorded


def write(path: Path, batches: Sequence[Any]) -> None:
    path.write_text("".join(json.dumps(batch.tolist()) + "\n" for batch in batches))


@pytest.mark.parametrize(("name", "code", "verdict", "says"), [
    ("right.jsonl", 0, "supported", "counts is off"),
    ("right.csv", 0, "supported", "counts is off"),
    ("cut.jsonl", 1, "violated", "a batch held at most 15 in 800 of 800"),
    ("shuffled.jsonl", 1, "violated", "divided by 4"),
    ("few.jsonl", 3, "undecided", "2 batches or passes are too few"),
])  # fmt: skip
def test_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, code: int, verdict: str, says: str
) -> None:
    assert call("batches", name, *POISSON, "--json", "found.json") == code
    rows = dict(line.split("\t", 1) for line in capsys.readouterr().out.splitlines())
    assert rows["verdict"] == verdict
    assert says in rows["why"]
    assert ("would have found" in rows) == (verdict == "supported")
    found = json.loads((folder / "found.json").read_text())
    assert (found["kind"], found["verdict"], bool(found["findings"])) == ("batches", verdict, code == 1)
    assert found["shares"][0]["failure_probability"] == 1e-6
    if name == "cut.jsonl":
        assert call(*rows["reproduce"].split()[1:]) == code


def test_shuffled_batches_as_such(folder: Path) -> None:
    right = ("--sampling", "shuffled", "--batch", "10", "--records", str(N))
    assert call("batches", "shuffled.jsonl", *right) == 0
    assert call("batches", "cut.jsonl", *right) == 1


@pytest.mark.parametrize(
    ("form", "rule"), [("markdown", "at most 15"), ("junit", "failure"), ("sarif", "batches-not-as-stated")]
)
def test_forms(folder: Path, capsys: pytest.CaptureFixture[str], form: str, rule: str) -> None:
    assert call("batches", "cut.jsonl", *POISSON, "--format", form) == 1
    said = capsys.readouterr().out
    assert rule in said
    assert "violated" in said


def test_in_a_project(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = "[[batches]]\nfile = '{}'\nsampling = 'poisson'\nrate = 0.1\nrecords = 100\n"
    (folder / "dpverify.toml").write_text(
        "failure-probability = 1e-6\n" + table.format("cut.jsonl") + "name = 'loader'\n"
        "[[claims]]\nscores = 'gone.csv'\nmembers = 'gone.csv'\nclaim = 'mu=1'\n" + table.format("right.csv")
    )
    path = folder / "dpverify.toml"
    assert [place.line for place in claim_places(read_project(path), path)] == [11, 4, 14]
    assert call("run", "--json", "found.json") == 1
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["error", "violated", "supported"]
    assert rows[1][1:4] == ["loader", "Poisson batches of 100 records, each with probability 0.1", ""]
    claims = json.loads((folder / "found.json").read_text())["claims"]
    assert claims[1]["evidence"]["failure_probability"] == pytest.approx(1e-6 / 3)
    ledger = load_ledger(folder / "build" / "dpverify" / "ledger.json")
    assert "a batch held at most 15" in audit_text(ledger.entries[0])  # type: ignore[arg-type]
    assert "2 audits of batches, of which 2 could have found" in Summary(ledger).powers[0].text
    assert call("run", "--format", "markdown") == 1
    assert "| violated | loader |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["right.jsonl", "--sampling", "poisson", "--records", "100"], "--rate is missing"),
        (["right.jsonl", "--sampling", "cyclic", "--records", "9"], "--sampling was 'cyclic'"),
        (["right.jsonl", *POISSON, "--batch", "3"], "--batch was 3; allowed: no value with poisson"),
        (
            ["right.jsonl", "--sampling", "shuffled", "--rate", "0.1", "--records", "9"],
            "--rate was 0.1; allowed: no",
        ),
        (["right.jsonl", *POISSON, "--records", "1"], "--records was 1"),
        (["right.jsonl", *POISSON, "--failure-probability", "1"], "--failure-probability was 1.0"),
        (["gone.jsonl", *POISSON], "gone.jsonl"),
        (["dpverify.toml", *POISSON], "dpverify.toml, line 1 is not a batch; allowed: a JSON list"),
        (["bad.csv", *POISSON], "bad.csv, line 2 is not a batch; allowed: indices separated by commas"),
        (["one.csv", *POISSON], "There are 1 whole batches or passes"),
    ],
)
def test_bad_input_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (folder / "dpverify.toml").write_text("x = 1\n")
    (folder / "bad.csv").write_text("1,2\n1,2.5\n")
    (folder / "one.csv").write_text("1,2\n")
    assert call("batches", *arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("entry", ["sampling = 'poisson'", "file = 3", "file = 'x'\nname = 2", "rates = 1"])
def test_bad_entries(folder: Path, capsys: pytest.CaptureFixture[str], entry: str) -> None:
    (folder / "dpverify.toml").write_text(f"[[batches]]\n{entry}\n")
    assert call("run") == 2
    assert capsys.readouterr().err.startswith("dpverify: dpverify.toml: batches 1")


def test_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(PAGE, tmp_path)
    program, check = blocks(PAGE, "python")
    exec(compile(program, "record.py", "exec"), {})
    exec(compile(check, "check.py", "exec"), {})
    _, *commands = blocks(PAGE, "sh")[0].splitlines()
    assert [call(*line.split()[1:]) for line in commands] == [0, 1]
    put_out = " ".join(capsys.readouterr().out.split())
    for line in said(blocks(PAGE, "text")[0]):
        assert line in put_out
