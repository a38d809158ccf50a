"""Forms of an audit and comparison of ledgers, as a user asks for them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from dpverify.reports import load_ledger, write_ledger

from .calling import call


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Half of the noise that 1-DP needs; violated with failure probability 1e-3 by far more than that."""
    folder, rng = tmp_path_factory.mktemp("samples"), np.random.default_rng(3)
    for side in (0, 1):
        np.save(folder / f"{side}.npy", side + rng.laplace(scale=0.5, size=2000))
    return ["audit", "--left", str(folder / "0.npy"), "--right", str(folder / "1.npy"), "--claim", "eps=1"]


def test_each_form_alone_is_on_standard_output(
    samples: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert call(*samples, "--format", "json", "--json", str(tmp_path / "a.json")) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["verdict"] == "violated"
    again = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert again == printed
    assert call(*samples, "--format", "junit") == 1
    assert ElementTree.fromstring(capsys.readouterr().out.encode()).get("failures") == "1"
    assert call(*samples, "--format", "sarif") == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("0.npy")
    assert call(*samples, "--format", "markdown") == 1
    assert capsys.readouterr().out.startswith("### Privacy claim of ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--format", "yaml"], "--format was 'yaml'; allowed: text, json, junit, sarif, markdown."),
        (["--format", "junit", "--json", "-"], "--json was '-'; allowed: a file, since --format junit"),
    ],
)
def test_bad_forms_are_refused(
    samples: list[str], more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*samples, *more) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_ledgers_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from ..reports.test_comparison import V, ledger, proof

    old = write_ledger(ledger(proof(V.PROVED)), tmp_path / "old.json")
    new = write_ledger(ledger(proof(V.UNDECIDED)), tmp_path / "new.json")
    assert load_ledger(old).entries
    assert call("compare", str(old), str(new)) == 1
    assert "lost proof: fmtt18.thm1/bound (printed): proved, now undecided" in capsys.readouterr().out
    assert call("compare", str(new), str(old), "--format", "markdown") == 0
    assert "1 gained" in capsys.readouterr().out
    assert call("compare", str(old), str(new), "--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["rows"][0]["change"] == "lost proof"
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    for bad in (str(tmp_path / "no.json"), str(tmp_path / "absent.json")):
        assert call("compare", str(old), bad) == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said
        assert said.startswith("dpverify: ")
    assert call("compare", str(old), str(new), "--format", "sarif") == 2
    assert "--format was 'sarif'; allowed: text, json, markdown." in capsys.readouterr().err


PAGE = r"""# A page

| letter | domain |
| --- | --- |
| $x$ | > 0 |

The square is larger:

$$x \le x^2$$

Nothing is lost (step):

$$x \le 2x$$
"""


def test_formulas_of_a_page_in_each_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "mine.md").write_text(PAGE, encoding="utf-8")
    prove = ("prove", "docs/mine.md", "--jobs", "1", "--format")
    assert call(*prove, "sarif") == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "docs/mine.md", "uriBaseId": "%SRCROOT%"}
    assert PAGE.splitlines()[place["region"]["startLine"] - 1] == r"$$x \le x^2$$"
    assert result["level"] == "error"
    assert call(*prove, "junit", "--strict") == 1
    assert ElementTree.fromstring(capsys.readouterr().out.encode()).get("failures") == "1"
    assert call(*prove, "markdown") == 0
    assert capsys.readouterr().out.startswith("### docs/mine")
    assert call(*prove, "json", "--json", "found.json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in printed["entries"] if row["coverage"] != "unit"] == [
        "refuted",
        "proved",
    ]
    kept = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in kept["entries"]] == [row["verdict"] for row in printed["entries"]]
    assert call(*prove, "yaml") == 2
    assert call(*prove, "json", "--json", "-") == 2


def test_a_run_of_verify_in_a_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A finding about a paper is a note at the line of its statement; standard output has nothing else."""
    out = tmp_path / "out"
    run = ("verify", "--paper", "fmtt18.thm1", "--jobs", "1", "--out", str(out))
    assert call(*run, "--format", "sarif") == 0
    printed = capsys.readouterr()
    results = json.loads(printed.out)["runs"][0]["results"]
    assert {result["level"] for result in results} == {"note"}
    (place,) = {json.dumps(result["locations"][0]["physicalLocation"]) for result in results}
    assert "dpverify/statements/fmtt18/" in place
    assert "Report:" in printed.err
    assert (out / "report.html").is_file()
    assert call(*run, "--format", "yaml") == 2
