"""A project's claims: written by init, audited by run, gated in CI; one sentence for what cannot be used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpverify.commands.claims.stated_claims import claim_places, read_project
from dpverify.extras import EXTRAS
from dpverify.ledger.document import Ledger
from dpverify.reports import load_ledger
from dpverify.reports.formats.badge import YELLOW, badge
from dpverify.views.results import SourcePlace
from dpverify.views.run import Summary

from ..reports.json_schema import audit_schema, faults
from .calling import call

ROOT = Path(__file__).parents[2]

FUNCTIONS = """
import numpy as np

def private(data, rng, runs):
    return data.mean() + rng.laplace(scale=1 / len(data), size=runs)

def leaky(data, rng, runs):
    return data.mean() + rng.laplace(scale=0.1 / len(data), size=runs)

def fails(data, rng, runs):
    raise RuntimeError("no luck")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "release.py").write_text(FUNCTIONS)
    (tmp_path / "data.csv").write_text("0.1\n1.0\n")
    (tmp_path / "neighbor.csv").write_text("0.1\n0.0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


ONE = '[[claims]]\nclaim = "eps=1"\n'
SIDES = 'data = "c"\nneighbor = "c"\n'


def claims(*functions: str, more: str = "", runs: int = 300) -> str:
    sides = f'claim = "eps=1"\ndata = "data.csv"\nneighbor = "neighbor.csv"\nruns = {runs}\n{more}\n'
    return "".join(f'[[claims]]\nfunction = "release:{name}"\n{sides}' for name in functions)


def ran(
    folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, list[list[str]], str]:
    code = call("run", *arguments)
    said = capsys.readouterr()
    return code, [line.split("\t") for line in said.out.splitlines()], said.err


def test_verdicts_share_one_failure_probability(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dpverify.toml").write_text("failure-probability = 0.02\n" + claims("private", "leaky"))
    code, rows, _ = ran(folder, capsys)
    assert code == 1
    assert [row[:3] for row in rows] == [
        ["supported", "release:private", "eps=1"],
        ["violated", "release:leaky", "eps=1"],
    ]
    ledger: Ledger = load_ledger(folder / "build" / "dpverify" / "ledger.json")
    assert ledger.budget.failure_probability == 0.02
    assert [entry.failure_probability for entry in ledger.entries] == [0.01, 0.01]  # type: ignore[union-attr]
    assert ledger.entries[1].title == "release:leaky against eps=1"  # type: ignore[union-attr]
    assert [entry.reproduce.split("--failure-probability ")[1] for entry in ledger.entries] == [
        "0.01 --seed 0"
    ] * 2  # type: ignore[union-attr]
    # one alone has the same part, and so the same verdict
    code, rows, _ = ran(folder, capsys, "release:private", "--json", "found.json")
    assert code == 0
    (found,) = json.loads((folder / "found.json").read_text())["claims"]
    assert found["evidence"]["failure_probability"] == 0.01
    assert found["error"] is None
    assert call("report", str(folder / "build" / "dpverify" / "ledger.json")) == 0


def test_a_claim_has_what_the_command_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A search, fixed runs, a direction and scores; what all share stands at the top. 1e-6 for a false alarm."""
    (folder / "dpverify.toml").write_text(
        'executor = "threads=2"\nstore = "kept.sqlite"\ntime-limit = 60\n'
        '[[claims]]\nfunction = "release:leaky"\nclaim = "eps=1"\ndata = "data.csv"\nruns = 2000\n'
        'search-neighbors = "worst.json"\nrecord-range = [0, 1]\nfewest-records = 1\n'
        + claims(
            "leaky", more='fixed-runs = true\nscore = "value"\ndirection = ["left-over-right"]', runs=2000
        )
        + claims("leaky", more="time = 1e-9")
    )
    code, rows, _ = ran(folder, capsys)
    assert (code, [row[0] for row in rows]) == (1, ["violated", "violated", "undecided"])
    assert json.loads((folder / "worst.json").read_text())["adjacency"] == "replace-one"
    assert (folder / "kept.sqlite").exists()
    found = load_ledger(folder / "build" / "dpverify" / "ledger.json").entries
    assert "--pair worst.json" in found[0].reproduce  # type: ignore[union-attr]
    assert "--fixed-runs --score value --direction left-over-right" in found[1].reproduce  # type: ignore[union-attr]
    assert found[2].runs == 16  # type: ignore[union-attr]


def test_an_error_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dpverify.toml").write_text(claims("fails", "nowhere", "private"))
    code, rows, _ = ran(folder, capsys)
    assert code == 2
    assert [row[0] for row in rows] == ["error", "error", "supported"]
    assert "raised RuntimeError in block 0 (runs 0 to 15): no luck" in rows[0][4]
    assert "nowhere" in rows[1][4]
    ledger = load_ledger(folder / "build" / "dpverify" / "ledger.json")
    assert [(one.called, one.claim, one.error) for one in ledger.not_audited] == [
        (row[1], row[2], row[4]) for row in rows[:2]
    ]
    assert f"{rows[0][1]} against {rows[0][2]} could not be audited: " in Summary(ledger).headline
    assert badge(ledger).message == "1 supported, 2 not audited"
    assert badge(ledger).color == YELLOW
    # a violation is more than an error
    (folder / "dpverify.toml").write_text(claims("fails", "leaky"))
    assert ran(folder, capsys)[0] == 1


def test_two_claims_of_one_name_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dpverify.toml").write_text(claims("private", "leaky", more='name = "mine"'))
    assert call("run") == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "two claims have the name 'mine'; allowed: a name of its own for each." in said.err


def test_too_few_runs_are_undecided(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dpverify.toml").write_text(claims("private", runs=16))
    assert ran(folder, capsys)[0] == 3


def test_all_forms_say_what_became_of_each_claim(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = claims("private", "leaky", "nowhere") + claims("private", more='name = "few"', runs=16)
    (folder / "dpverify.toml").write_text("# claims\nseed = 3\n" + stated)
    outcomes = ["supported", "violated", "not audited", "undecided"]

    assert call("run", "--format", "json", "--json", "beside.json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((folder / "beside.json").read_text())
    schema = audit_schema()
    for row, outcome in zip(found["claims"], outcomes, strict=True):
        if row["evidence"] is None:
            assert outcome == "not audited"
            assert "nowhere" in row["error"]
        else:
            assert faults(row["evidence"], schema, schema) == []
            assert row["evidence"]["verdict"] == outcome
            assert row["evidence"]["profile"] == []
            assert len(json.dumps(row, indent=2)) <= 2048
    kept = load_ledger(folder / "build" / "dpverify" / "ledger.json").entries
    assert all(one.profile for one in kept)  # type: ignore[union-attr]

    assert call("run", "--format", "junit") == 1
    suite = ElementTree.fromstring(capsys.readouterr().out.encode())
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "1", "2"]
    kinds = [[child.tag for child in case if child.tag != "properties"] for case in suite.iter("testcase")]
    assert kinds == [[], ["failure"], ["error"], ["error"]]

    assert call("run", "--format", "sarif") == 1
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert [(r["ruleId"], r["level"]) for r in results] == [
        ("privacy-claim-violated", "error"),
        ("privacy-claim-not-audited", "error"),
        ("privacy-claim-undecided", "none"),
    ]
    lines = (folder / "dpverify.toml").read_text().splitlines()
    places = [r["locations"][0]["physicalLocation"] for r in results]
    assert {place["artifactLocation"]["uri"] for place in places} == {"dpverify.toml"}
    numbers = [place["region"]["startLine"] for place in places]
    assert [lines[number - 1] for number in numbers] == ['claim = "eps=1"'] * 3
    assert [lines[number - 2] for number in numbers[:2]] == [
        f'function = "release:{f}"' for f in ("leaky", "nowhere")
    ]

    assert call("run", "--format", "markdown") == 1
    page = capsys.readouterr().out
    assert page.startswith("### dpverify: 1 violated, 1 not audited, 1 undecided, 1 supported\n")
    assert page.index("| violated | release:leaky |") < page.index("| supported | release:private |")
    assert page.endswith("Reproduce: `dpverify run`\n")

    assert call("run", "--format", "yaml") == 2
    assert "--format was 'yaml'; allowed: text, json, junit, sarif, markdown." in capsys.readouterr().err


def test_claims_in_one_line_are_placed_on_the_first(folder: Path) -> None:
    path = folder / "dpverify.toml"
    path.write_text('seed = 1\nclaims = [{claim = "eps=1", left = "a.npy", right = "b.npy"}]\n')
    assert claim_places(read_project(path), path) == (SourcePlace("dpverify.toml", 1),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "No claim is stated; allowed: at least one entry"),
        ("claims = 3", "claims was 3"),
        ("failure-probability = 2\n", "failure-probability was 2; allowed: a number from 1e-15 to below 1"),
        ("failure_probability = 0.1\n", "failure_probability is not known; allowed: claims, batches"),
        ("[[claims]]\n", "claim 1: claim was ''; allowed: a claim such as"),
        (ONE + 'functon = "a:b"', "claim 1: functon is not known; allowed: name, function, command"),
        (ONE, "function was None; allowed: one of function, command, left with right, or scores with members"),
        (ONE + 'function = "a:b"\ncommand = "c"', "command was 'c'; allowed: one of function, command, left"),
        (ONE + 'left = "a.npy"', "right was None; allowed: both left and right"),
        (ONE + 'left = "a.npy"\nright = "b.npy"\ndata = "c"', "data was 'c'; allowed: no value with samples"),
        (ONE + 'function = "a:b"', "data was None; allowed: both data and neighbor"),
        (ONE + 'function = "a:b"\ndata = "c"', "neighbor was None; allowed: both data and neighbor"),
        (ONE + 'command = "a"\npair = "b"\nadjacency = "zero-out"', "no value with pair, whose file says it"),
        (ONE + 'command = "a"\nattribute = ["b"]\npair = "c"', "attribute was ('b',); allowed: none with command"),
        ("time-limit = 0\n" + ONE + 'left = "a.npy"\nright = "b.npy"', "time-limit was 0; allowed: seconds above 0"),
        ("store = 3\n", "dpverify.toml: store was 3; allowed: a file"),
        ('executor = "gpu"\n', "executor was 'gpu'; allowed: "),
        ("[[claims", "is not a TOML file"),
        (claims("private", more="delta = 1"), "claim 1: delta was 1; allowed: a number in [0, 1)"),
        (claims("private", more="fixed-runs = 1"), "claim 1: fixed-runs was 1; allowed: True or False"),
        (claims("private", more="function = 3"), "is not a TOML file"),
        (claims("private", more='score = "value"'), "allowed: with fixed-runs only, where a function is run"),
        (claims("private", more="time = 3\nfixed-runs = true"), "time was 3; allowed: no value with fixed-runs"),
        (claims("private", more='store = "s"'), "claim 1: store is not known"),
        ('store = "s"\n' + ONE + 'command = "cat"\n' + SIDES, "none with command"),
        (ONE + 'function = 3\n' + SIDES, "function was 3; allowed: a mechanism"),
        (ONE + 'function = "a:b"\ndata = 3\nneighbor = "c"', "data was 3; allowed: a file"),
        (claims("private", runs=3), "claim 1: runs was 3; allowed: an integer of at least 16"),
    ],
)  # fmt: skip
def test_bad_entries(content: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dpverify.toml").write_text(content)
    code, rows, errors = ran(folder, capsys)
    assert (code, rows) == (2, [])
    assert errors.startswith("dpverify: ")
    assert said in errors
    assert errors.count("\n") == 1
    assert not (folder / "build").exists()


def test_no_project(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        ((), "has no pyproject.toml with a table [tool.dpverify]"),
        (("--config", "elsewhere.toml"), "--config was 'elsewhere.toml'"),
    ):
        code, _, errors = ran(folder, capsys, *arguments)
        assert code == 2
        assert said in errors
    (folder / "pyproject.toml").write_text("[project]\n")
    assert "has no pyproject.toml with" in ran(folder, capsys)[2]
    assert "has no table [tool.dpverify]" in ran(folder, capsys, "--config", "pyproject.toml")[2]
    (folder / "dpverify.toml").write_text(claims("private"))
    assert "NAME was 'other'; allowed: release:private" in ran(folder, capsys, "other")[2]


def test_init_changes_nothing_that_exists(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "privacy").mkdir()
    (folder / "privacy" / "data.csv").write_text("mine")
    assert call("init") == 2
    assert "privacy/data.csv states claims or exists already" in capsys.readouterr().err
    assert [path.name for path in (folder / "privacy").iterdir()] == ["data.csv"]
    assert (folder / "privacy" / "data.csv").read_text() == "mine"
    assert call("init", "nowhere") == 2
    (folder / "other").mkdir()
    (folder / "other" / "pyproject.toml").write_text("[tool.dpverify]\n")
    assert call("init", "other") == 2
    assert "pyproject.toml states claims" in capsys.readouterr().err


def steps() -> list[str]:
    """The commands of the workflow in docs/ci.md, without the installation."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (workflow,) = [found for found in re.findall(r"```yaml\n(.*?)```", page, re.S) if "\njobs:" in found]
    installs, *found = re.findall(r"- run: (.*)", workflow)
    # what the first step installs has the programs of the others
    (extra,) = re.findall(r'^pip install "dpverify\[(\w+)\] @ git\+https://\S+"$', installs)
    assert {step.split()[0] for step in found} <= {"dpverify", *EXTRAS[extra]}
    return list(found)


def test_the_workflow_is_green_and_with_a_fault_red(tmp_path: Path) -> None:
    """A repository that has nothing but what init writes, and the same with a quarter of the noise."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "0"')
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(command: str) -> int:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            check=False,
        )
        return done.returncode

    assert run("dpverify init") == 0
    assert [run(step) for step in steps()] == [0, 0]
    release = tmp_path / "privacy" / "release.py"
    release.write_text(release.read_text().replace("scale=1 ", "scale=0.25 "))
    assert [run(step) for step in steps()] == [1, 1]


def test_init_where_a_file_has_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("privacy").touch()
    assert call("init") == 2
    assert capsys.readouterr().err.startswith("dpverify: privacy is not a folder; allowed: ")
    assert [path.name for path in tmp_path.iterdir()] == ["privacy"]


def test_an_init_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dpverify.commands.claims.first_claims.write_whole", full)
    assert call("init") == 2
    assert list(tmp_path.iterdir()) == []
