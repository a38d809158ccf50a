"""Searches for neighbors on the command line: found, written, replayed, and one sentence for bad input."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from .calling import call

FUNCTIONS = """
import numpy as np

def late(data, rng, runs):
    return np.clip(data.mean() + rng.laplace(scale=1 / len(data), size=runs), 0, 1)

def fails(data, rng, runs):
    raise RuntimeError("no luck")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "leaky.py").write_text(FUNCTIONS)
    (tmp_path / "data.csv").write_text("0.1\n0.5\n0.9\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


SEARCH = ["--data", "data.csv", "--claim", "eps=1", "--runs", "2000", "--json", "-", "--search-neighbors"]


def test_a_fault_out_of_range_is_found_and_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Clipping after the noise, at 1e-3: a pair within the example's range would never show it."""
    assert call("audit", "leaky:late", *SEARCH, "worst.json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "violated"
    assert "a search ran" in found["reason"]
    pair = json.loads((folder / "worst.json").read_text())
    assert pair["adjacency"] == "replace-one"
    again = shlex.split(found["reproduce"])[1:]
    assert "--pair" in again
    assert call(*again, "--json", "-") == 1
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["epsilon_lower"] == found["epsilon_lower"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["leaky:late", *SEARCH, "worst.txt"], "ends in .json"),
        (["leaky:late", *SEARCH, "worst.json", "--neighbor", "data.csv"], "--neighbor"),
        (["leaky:late", *SEARCH, "worst.json", "--record-range", "1,0"], "--record-range"),
        (["leaky:late", *SEARCH, "worst.json", "--adjacency", "unchecked"], "adjacency"),
        (["leaky:late", *SEARCH, "worst.json", "--fewest-records", "2", "--adjacency", "local"], "fewer records"),
        (["leaky:late", "--pair", "worst.json", "--claim", "eps=1"], "cannot be read"),
        (["leaky:late", "--pair", "worst.json", "--claim", "eps=1", "--data", "data.csv"], "--data"),
        (["leaky:late", "--data", "data.csv", "--neighbor", "data.csv", "--claim", "eps=1", "--record-range", "0,1"],
         "without --search-neighbors"),
        (["--left", "a.npy", "--right", "b.npy", "--claim", "eps=1", "--pair", "worst.json"], "--pair"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert call("audit", *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not (folder / "worst.json").exists()
