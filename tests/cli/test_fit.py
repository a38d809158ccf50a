"""`dpverify fit`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from .calling import call

ROWS = np.random.default_rng(5).normal(size=(40, 2))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of records, of numbers alone, and of ranges."""
    labels = np.where(ROWS[:, 0] > 0, "ill", "healthy")
    lines = [f"{x},{label},{y}" for (x, y), label in zip(ROWS.tolist(), labels, strict=True)]
    (tmp_path / "named.csv").write_text("\n".join(["age,state,weight", *lines]) + "\n")
    numbers = [f"{x},{y},{1 if x > 0 else -1}" for x, y in ROWS.tolist()]
    (tmp_path / "plain.csv").write_text("\n".join(numbers) + "\n")
    (tmp_path / "ranges.csv").write_text("name,low,high\nweight,-4,4\nage,-3,3\n")
    (tmp_path / "bad.csv").write_text("a,y\n1,1\nx,-1\n")
    (tmp_path / "few.csv").write_text("age,-3,3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FAST = ("--method", "yardstick.full-batch", "--epsilon", "8")


def test_a_model_with_names_and_ranges(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("fit", "named.csv", "--label", "state", "--classes", "healthy,ill", "--ranges", "ranges.csv")
    assert call(*given, *FAST, "--seed", "1", "--out", "model.json") == 0
    shown = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert shown["guarantee"].startswith("(8, 1e-05)-DP for data sets that differ in one record; ")
    assert shown["public"] == "n = 40, d = 2, and all that is declared"
    assert "from a seed that was given" in shown["noise"]
    assert "NOT PRIVATE: risk" in shown
    model = json.loads((folder / "model.json").read_text())
    assert set(model["coefficients"]) == {"age", "weight"}
    assert model["declared"]["ranges"] == [[-3.0, 3.0], [-4.0, 4.0]]
    assert not {"not_private", "seconds", "gradient_queries", "accuracy"} & set(model)
    assert call(*given, *FAST, "--seed", "1", "--json", "-") == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["not_private"]["excess_risk"]["upper"] > 0
    assert whole["coefficients"] == model["coefficients"]
    assert call(*given, *FAST, "--private-only", "--json", "-") == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone["not_private"] is None
    assert alone["coefficients"] != model["coefficients"]
    assert alone["risk_quantile"] is None
    assert call(*given, *FAST, "--private-only") == 0
    assert "NOT PRIVATE" not in capsys.readouterr().out


def test_a_npy_file_gives_the_model_of_the_csv_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("plain.npy", np.loadtxt("plain.csv", delimiter=","))
    np.save("text.npy", np.array([["a", "b"]]))
    found = []
    for name in ("plain.csv", "plain.npy"):
        assert call("fit", name, "--label", "3", *FAST, "--seed", "1", "--json", "-") == 0
        found.append(json.loads(capsys.readouterr().out)["coefficients"])
    assert found[0] == found[1] != {}
    assert call("fit", "plain.npy", "--label", "4", *FAST) == 2
    assert "from 1 to 3" in capsys.readouterr().err
    assert call("fit", "text.npy", "--label", "1", *FAST) == 2
    assert "allowed: a table of numbers" in capsys.readouterr().err


def test_a_bound_with_a_probability_stands_beside_the_expected_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = (
        "fit",
        "plain.csv",
        "--label",
        "3",
        "--epsilon",
        "8",
        "--method",
        "bst14.alg-objpert",
        "--private-only",
    )
    assert call(*given) == 0
    (risk,) = re.findall(
        r"at most ([0-9.]+).*; with probability 0.95 at most ([0-9.]+);.* independent records at most ([0-9.]+)",
        capsys.readouterr().out,
    )
    assert call(*given, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["risk_quantile"]["probability"] == 0.95
    expected, likely = found["risk_bound"], found["risk_quantile"]["bound"]
    assert expected < min(likely, found["population_risk_bound"])
    stated = [expected, likely, found["population_risk_bound"]]
    assert [float(one) for one in risk] == pytest.approx(stated, rel=1e-3)


def test_a_plan_fits_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("fit", "plain.csv", "--label", "3", "--epsilon", "1", "--plan")
    assert call(*given, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["methods"]) == 35
    bounds = [one["risk_bound"] for one in found["methods"] if one["applies"] and one["risk_bound"]]
    assert bounds == sorted(bounds)
    assert found["methods"][-1]["obstacle"]
    assert call(*given, "--method", "bst14.alg3") == 0
    assert "does not apply" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("no.csv", "--label", "3"), "no.csv does not exist"),
        (("plain.csv", "--label", "4"), "--label was '4'; allowed: a column, by its name or by its number"),
        (("bad.csv", "--label", "y"), "bad.csv, line 3, column a, has 'x'; allowed: finite numbers"),
        (("plain.csv", "--label", "3", "--classes", "0,1"), "Record"),
        (("plain.csv", "--label", "3", "--classes", "1"), "--classes was '1'; allowed: two labels, A,B"),
        (("named.csv", "--label", "state"), "--label was 'record 1: "),
        (("plain.csv", "--label", "3", "--ranges", "no.csv"), "no.csv does not exist"),
        (("named.csv", "--label", "state", "--ranges", "few.csv"), "few.csv has no range for weight"),
        (("named.csv", "--label", "state", "--ranges", "bad.csv"), "bad.csv, line"),
        (("plain.csv", "--label", "3", "--ranges", "2:1"), "--ranges was"),
        (("plain.csv", "--label", "3", "--label-range", "2"), "--label-range was '2'; allowed: two numbers"),
        (("plain.csv", "--label", "3", "--radius", "0"), "--radius was 0.0"),
        (("plain.csv", "--label", "3", "--epsilon", "0"), "--epsilon was 0.0"),
        (("plain.csv", "--label", "3", "--loss", "l1"), "--loss was 'l1'"),
        (("plain.csv", "--label", "3", "--method", "gll22.alg9"), "--method was 'gll22.alg9'"),
        (("plain.csv", "--label", "3", "--out", "no/such/folder.json"), "--out was"),
        (("plain.csv", "--label", "3", "--json", "no/such/folder.json"), "--json was"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("fit", *FAST, *arguments) == 2
    written = capsys.readouterr()
    assert says in written.err
    assert written.err.count("\n") == 1
    assert not written.out
