"""Outputs that never vary, or that stand on both sides: undecided, unless that is meant; bits are told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .calling import call

FUNCTIONS = """
import numpy as np
SAMPLE = np.random.default_rng(5).laplace(size=2000)

def forgets(data, rng):
    data.sum() + rng.laplace()
def forgets_all(data, rng, runs):
    return [None] * runs
def constant(data, rng, runs):
    return np.full(runs, 3.5)
def never_a_number(data, rng, runs):
    return np.full(runs, np.nan)
def empty(data, rng, runs):
    return [[] for _ in range(runs)]
def own_seed(data, rng):
    return float(np.random.default_rng(0).normal())
def stored(data, rng, runs):
    return SAMPLE[:runs]
def shuffled(data, rng, runs):
    return rng.permutation(SAMPLE[:runs])
def sign(data, rng, runs):
    return np.full(runs, -0.0 if data.sum() else 0.0)
def sign_of_rounded(data, rng, runs):
    noise = np.abs(np.round(rng.normal(size=runs)))
    return np.where(noise == 0, -0.0, noise) if data.sum() else noise
def payload(data, rng, runs):
    bits = np.full(runs, 0x7FF8000000000000 + int(data.sum()), dtype=np.uint64)
    return bits.view(np.float64)
def sign_in_a_dictionary(data, rng):
    return {"count": -0.0 if data.sum() else 0.0, "label": "a"}
def right(data, rng, runs):
    return data.sum() + rng.laplace(size=runs)
def rounded(data, rng, runs):
    return np.round(data.sum() + rng.laplace(size=runs))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs_own.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "a.csv").write_text("0\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("1\n", encoding="utf-8")
    return tmp_path


def audited(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = call("audit", *arguments, "--claim", "eps=1", "--json", "-")
    return code, json.loads(capsys.readouterr().out)


def function(name: str, *more: str) -> tuple[str, ...]:
    return f"outputs_own:{name}", "--data", "a.csv", "--neighbor", "b.csv", "--runs", "1000", *more


EQUAL = ["forgets", "forgets_all", "constant", "never_a_number", "empty", "own_seed", "stored", "shuffled"]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("how", [[], ["--fixed-runs"]])
@pytest.mark.parametrize("name", EQUAL)
def test_equal_outputs_decide_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, how: list[str]
) -> None:
    code, found = audited(capsys, *function(name, *how))
    assert (code, found["verdict"], found["gap"]) == (3, "undecided", "equal outputs")
    assert "--allow-equal" in found["reason"]
    assert ("one and the same" in found["reason"]) == (name not in ("stored", "shuffled"))


def test_equal_outputs_that_are_meant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = audited(capsys, *function("constant", "--allow-equal"))
    assert (code, found["verdict"], found["gap"]) == (0, "supported", None)
    assert "that equal outputs are meant was stated" in found["reason"]
    assert "--allow-equal" in found["reproduce"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("how", [[], ["--fixed-runs"]])
@pytest.mark.parametrize("name", ["sign", "sign_of_rounded", "payload", "sign_in_a_dictionary"])
def test_bits_are_outputs(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, how: list[str]
) -> None:
    code, found = audited(capsys, *function(name, *how, "--allow-equal"))
    assert (code, found["verdict"]) == (1, "violated")
    if name != "sign_of_rounded":  # which a score of both columns may find
        assert ("-0.0" in found["reason"]) == ("sign" in name)
    assert ("bits of NaN" in found["reason"]) == (name == "payload")


@pytest.mark.parametrize("name", ["right", "rounded"])
def test_right_functions_are_supported(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Rounding makes -0.0 of small negative numbers on both sides, which is no more than the numbers say."""
    code, found = audited(capsys, *function(name))
    assert (code, found["verdict"]) == (0, "supported")
    assert "equal" not in found["reason"]


RNG = np.random.default_rng(3)
SAMPLE = RNG.laplace(size=2000)


@pytest.mark.parametrize(
    ("left", "right", "says"),
    [
        (SAMPLE, SAMPLE, "2000 of 2000 runs gave the same output"),
        (SAMPLE, np.append(SAMPLE[:-1], 0.0), "1999 of 2000 runs gave the same output"),
        (SAMPLE, SAMPLE[::-1], "2000 of 2000 outputs are on both sides"),
        (SAMPLE, np.sort(SAMPLE), "2000 of 2000 outputs are on both sides"),
        (np.zeros(2000), np.zeros(2000), "one and the same"),
    ],
)
@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_one_sample_in_two_files(
    folder: Path, capsys: pytest.CaptureFixture[str], left: Any, right: Any, says: str, kind: str
) -> None:
    for name, sample in (("p", left), ("q", right)):
        if kind == "npy":
            np.save(folder / f"{name}.npy", sample)
        else:
            np.savetxt(folder / f"{name}.csv", sample, fmt="%.17g")
    files = ("--left", f"p.{kind}", "--right", f"q.{kind}")
    code, found = audited(capsys, *files)
    assert (code, found["verdict"], found["gap"]) == (3, "undecided", "equal outputs")
    assert says in found["reason"]
    code, found = audited(capsys, *files, "--allow-equal")
    assert (code, found["verdict"]) == (0, "supported")
    assert "--allow-equal" in found["reproduce"]


def test_signs_of_zeros_in_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.csv").write_text("0.0\n" * 500, encoding="utf-8")
    (folder / "q.csv").write_text("-0.0\n" * 500, encoding="utf-8")
    code, found = audited(capsys, "--left", "p.csv", "--right", "q.csv")
    assert (code, found["verdict"]) == (1, "violated")
    assert "value is" in found["reason"]
    assert "-0.0" in found["reason"]
