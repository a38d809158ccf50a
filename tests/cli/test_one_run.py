"""The canaries of one training run at every door: command, project, pytest, and every form of output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpverify.auditing.one_run.audit import ASSUMED

from .calling import call

pytest_plugins = "pytester"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the coins, and scores of the right noise, of a third of it, and of noise alone."""
    rng = np.random.default_rng(0)
    members = rng.random(1000) < 0.5
    lines = "\n".join(str(int(one)) for one in members)
    (tmp_path / "members.csv").write_text(f"member\n{lines}\n")
    for name, mu in (("right", 1), ("third", 3), ("none", 0)):
        scores = rng.normal(size=1000) + mu * members
        (tmp_path / f"{name}.csv").write_text("score\n" + "\n".join(map(repr, scores.tolist())))
    monkeypatch.chdir(tmp_path)
    return tmp_path


AUDIT = ("audit", "--members", "members.csv", "--claim", "mu=1", "--failure-probability", "0.05")


@pytest.mark.parametrize(("name", "code", "verdict"), [
    ("right", 0, "supported"), ("third", 1, "violated"), ("none", 3, "undecided"),
])  # fmt: skip
def test_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, code: int, verdict: str
) -> None:
    assert call(*AUDIT, "--scores", f"{name}.csv", "--json", "found.json") == code
    said = capsys.readouterr().out
    rows = dict(line.split("\t", 1) for line in said.splitlines())
    assert rows["verdict"].startswith(f"{verdict} (adjacency: add-or-remove-one, the record being a canary")
    assert "1000 canaries" in rows["runs"]
    assert ASSUMED in rows["why"]
    assert "mu at least" in rows
    found = json.loads((folder / "found.json").read_text())
    assert found["one_run"]["canaries"] == 1000
    assert found["one_run"]["assumed"] == ASSUMED
    again = rows["reproduce"].split()[1:]
    assert call(*again) == code


@pytest.mark.parametrize("form", ["json", "markdown", "junit", "sarif"])
def test_every_form_says_what_is_assumed(folder: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    call(*AUDIT, "--scores", "third.csv", "--format", form)
    said = capsys.readouterr().out
    assert "violated" in said
    assert ASSUMED in said


def test_a_project_states_it_and_the_report_shows_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "dpverify.toml").write_text(
        "failure-probability = 0.1\n[[claims]]\nname = 'model'\nscores = 'third.csv'\nmembers = 'members.csv'\n"
        "claim = 'mu=1'\n[[claims]]\nscores = 'right.csv'\nmembers = 'members.csv'\nclaim = 'mu=1'\n"
    )
    assert call("run") == 1
    said = capsys.readouterr().out
    assert "violated\tmodel" in said
    assert "supported\t" in said
    from dpverify.ledger.document import Ledger
    from dpverify.views.audits import view_of

    ledger = Ledger.model_validate_json((folder / "build" / "dpverify" / "ledger.json").read_text())
    for entry in ledger.entries:
        facts = dict(view_of(entry).facts(entry))
        assert "1000 canaries" in facts["Canaries"]
        assert facts["Assumed"] == ASSUMED


def test_a_claim_on_a_test(folder: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
        import pytest
        from dpverify.auditing import CanaryScores

        @pytest.mark.privacy_claim("mu=1")
        def test_right():
            return CanaryScores.read(r"{folder}/right.csv", r"{folder}/members.csv")

        def test_third(privacy_claim):
            privacy_claim(CanaryScores.read(r"{folder}/third.csv", r"{folder}/members.csv"), "mu=1")
    """)
    done = pytester.runpytest_subprocess("-p", "no:randomly", "--dpverify-failure-probability=0.1")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*1-GDP is violated (seed 0, one run, adjacency add-or-remove-one*"])


def test_foresight_at_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ("--claim", "mu=1", "--failure-probability", "0.05")
    assert call("canaries", "1000", *asked, "--json", str(tmp_path / "told.json")) == 0
    rows = dict(line.split("\t", 1) for line in capsys.readouterr().out.splitlines())
    assert "noise divided by" in rows["would find"]
    told = json.loads((tmp_path / "told.json").read_text())
    assert rows["noise divided by 2"] == f"{told['needed'][1]['canaries']} canaries"
    assert call("canaries", "1000", "--claim", "eps=1,delta=1e-5") == 0
    assert "too few" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("canaries", "5", "--claim", "mu=1"), "canaries was 5; allowed: an integer of at least 100"),
        (("canaries", "500", "--claim", "mu=x"), "claim"),
        (
            ("audit", "--scores", "right.csv", "--claim", "mu=1"),
            "--members is missing; allowed: both --scores and",
        ),
        ((*AUDIT, "--scores", "right.csv", "--runs", "9"), "--runs was 9; allowed: no value with --scores."),
        ((*AUDIT, "--scores", "members.csv", "--seed", "-1"), "--seed was -1"),
        ((*AUDIT, "--scores", "absent.csv"), "absent.csv does not exist"),
        (
            ("audit", "--scores", "right.csv", "--members", "right.csv", "--claim", "mu=1"),
            "other than 0 and 1",
        ),
    ],
)
def test_bad_input_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert call(*arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
