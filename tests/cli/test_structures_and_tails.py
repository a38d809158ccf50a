"""What users know of their own code on the command line: steps that they state, and the noise that they draw."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path

import numpy as np
import pytest

from dpverify.auditing import ErrorShare, Label, PrivacyQuestion
from dpverify.auditing.white_box import Stated, WhiteBoxAuditor
from dpverify.errors import InvalidDataError
from dpverify.privacy import Adjacency, ApproxDP, StatedGuarantee
from dpverify.problems import Ball, Simplex
from dpverify.running import Limits, StatedStep, StatedStructure
from dpverify.running.subjects.user_structures import UserStructure

from .calling import call

FUNCTIONS = """
import os
import numpy as np
from dpverify.problems import AllSpace, Ball, Simplex
from dpverify.running import StatedStep, StatedStructure, single_noise

def drift(data, rng, runs):
    w = np.zeros((runs, 1))
    for x in data[:, :1]:
        w = w / 2 + x + rng.normal(size=(runs, 1))
    return w

def steps(data, stddev=1.0):
    made = (StatedStep(lambda w, rng, x=x: w / 2 + x, stddev, 0.5) for x in data[:, :1])
    return StatedStructure([0.0], tuple(made))

def louder(data):
    return steps(data, 1.5)

def drawn(data):
    def move(w, rng):
        return w + rng.integers(0, 2, w.shape)
    return StatedStructure([0.0, 0], (StatedStep(move, 1.0, draws=True), StatedStep(lambda w, _: w, 2.0, 1.0)),
                           Ball(2, 3.0), skipped=(0.25, 0.75))

def simplex(data):
    return StatedStructure([0.5, 0.5], (StatedStep(lambda w, _: w, 1.0),), Simplex(2), stopped=(1.0,))

class Odd(Ball):
    pass

def odd(data):
    return StatedStructure([0.0], (StatedStep(lambda w, _: w, 1.0),), Odd(1, 1.0))

def secretly(data):
    return StatedStructure([0.0], (StatedStep(lambda w, rng: w + rng.normal(size=w.shape), 1.0),))

def nothing(data):
    return None

def fails(data):
    raise RuntimeError("no luck")

def wrong_shape(data):
    return StatedStructure([0.0], (StatedStep(lambda w, _: w[:, 0], 1.0),))

def leaves(data):
    return StatedStructure([0.0], (StatedStep(lambda w, _: os._exit(0), 1.0),))

def coarse(rng, size):
    half = (size + 1) // 2
    u, angle = (1 - rng.random(half, dtype=np.float32) for _ in range(2))
    radius = np.sqrt(-2 * np.log(u))
    both = radius * np.cos(2 * np.pi * angle), radius * np.sin(2 * np.pi * angle)
    return np.stack(both, axis=1).ravel()[:size]

def registers(rng, size):
    u = 1 - rng.random((size // 16, 2, 8), dtype=np.float32)
    radius, angle = np.sqrt(-2 * np.log(u[:, 0])), np.float32(2 * np.pi) * u[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()

def laplace(rng, size):
    return 2 * rng.laplace(size=size)

def reseeded(rng, size):
    return np.random.default_rng(5).normal(size=size)

def antithetic(rng, size):
    half = rng.normal(size=size // 2)
    return np.concatenate([half, -half])

def pairs(rng, size):
    return rng.normal(size=(size, 2))

def whole(rng, size):
    return rng.integers(0, 9, size)
"""

AUDIT = [
    "audit",
    "own:drift",
    "--data",
    "data.csv",
    "--neighbor",
    "neighbor.csv",
    "--claim",
    "eps=2,delta=1e-6",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.py").write_text(FUNCTIONS)
    (tmp_path / "data.csv").write_text("0\n0\n1\n")
    (tmp_path / "neighbor.csv").write_text("0\n0\n0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_function_is_audited_by_the_steps_that_are_stated_of_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What Python finds in its own process, the command finds with maps that are called in another: the same bits."""
    assert call(*AUDIT, "--structure", "own:steps", "--runs", "4000", "--json", "-") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["white_box"], found["runs"]) == ("violated", True, 4000)
    again = shlex.split(found["reproduce"])[1:]
    assert again[again.index("--structure") + 1] == "own:steps"
    assert call(*again, "--json", "-") == 1
    assert json.loads(capsys.readouterr().out)["epsilon_lower"] == found["epsilon_lower"]

    def step(x: float) -> StatedStep:
        return StatedStep(lambda w, _: w / 2 + x, 1.0, 0.5)

    sides = tuple(StatedStructure([0.0], tuple(map(step, records))) for records in ((0, 0, 1), (0, 0, 0)))

    class Drawn:
        def draw(self, count: int) -> tuple[object, object]:
            rng = np.random.default_rng(0)
            stddev = math.sqrt(1 + 1 / 4 + 1 / 16)
            return rng.normal(1, stddev, count), rng.normal(0, stddev, count)

    claim = StatedGuarantee(ApproxDP(2.0, 1e-6), Adjacency.REPLACE_ONE)
    question = PrivacyQuestion(claim, "three numbers", 4000, label=Label(seed=0))
    here = WhiteBoxAuditor().audit(question, Stated(Drawn(), (sides[0], sides[1])), ErrorShare(1e-6))  # type: ignore[arg-type]
    assert here.epsilon_lower == found["epsilon_lower"]


def test_a_structure_that_is_not_the_functions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*AUDIT, "--structure", "own:louder", "--runs", "4000") == 3
    assert "contradict the stated structure" in capsys.readouterr().out


def test_structures_come_back_whole(folder: Path) -> None:
    with UserStructure("own:drawn") as stated:
        made, other = stated.of(np.zeros((1, 1))), stated.of(np.ones((1, 1)))
        assert (made.start, made.constraint, made.skipped) == ((0.0, 0.0), Ball(2, 3.0), (0.25, 0.75))
        assert [(s.noise_stddev, s.lipschitz_constant, s.draws) for s in made.steps] == [
            (1.0, math.inf, True),
            (2.0, 1.0, False),
        ]
        rng = np.random.default_rng(0)
        first = made.steps[0].images(np.zeros((1000, 2)), rng)
        assert set(np.unique(first)) == {0.0, 1.0}
        # its own stream, which goes on
        assert not np.array_equal(first, made.steps[0].images(np.zeros((1000, 2)), rng))
        assert np.array_equal(first, other.steps[0].images(np.zeros((1000, 2)), np.random.default_rng(0)))
    with UserStructure("own:simplex") as stated:
        assert stated.of(np.zeros((1, 1))).constraint == Simplex(2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "returned NoneType; allowed: a StatedStructure"),
        ("fails", "raised RuntimeError: no luck"),
        ("odd", "states the constraint Odd; allowed: none, or one of Ball, Box, Simplex"),
    ],
)
def test_what_is_no_structure(name: str, message: str, folder: Path) -> None:
    with UserStructure(f"own:{name}", Limits(60.0)) as stated, pytest.raises(InvalidDataError, match=message):
        stated.of(np.zeros((1, 1)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--structure", "own:secretly"], "gives different images of one state"),
        (["--structure", "own:wrong_shape"], "A stated step took states of shape"),
        (["--structure", "own:leaves"], "ended its process (exit code 0)"),
        (["--structure", "own:none_such"], "own has no none_such"),
        (["--structure", "own:steps", "--runs", "999"], "--runs"),
        (["--structure", "own:steps", "--time", "5"], "no value with --structure"),
        (["--structure", "own:steps", "--low-bits"], "no value with --structure"),
        (["--structure", "own:steps", "--score", "value"], "no value with --structure"),
        (["--structure", "own:steps", "--pair", "w.json"], "no value with --pair, whose file says it"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*AUDIT, "--runs", "1000", *arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_samples_have_no_structure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = ["audit", "--left", "data.csv", "--right", "data.csv", "--claim", "eps=1"]
    assert call(*samples, "--structure", "own:steps") == 2
    assert "no value with samples, for which nothing is run" in capsys.readouterr().err


# ------------------------------------------------------------------------------- tails


def test_a_generator_whose_tail_ends(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Noise from uniform numbers of 24 bits; a right one is called violated with probability 1e-6."""
    assert call("tails", "own:coarse", "--distance", "2", "--json", "-") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], round(found["low"], 2), round(found["high"], 2)) == ("violated", -5.77, 5.77)
    assert [(one["side"], one["bits"], one["first"], one["lag"]) for one in found["grids"]] == [
        (side, 24, 1.0, 1) for side in (-1, 1)
    ]
    assert all(one["checked"] > 50 and one["off"] == 0 for one in found["grids"])
    assert found["delta_lost"] == pytest.approx(8e-5, rel=0.1)
    assert shlex.split(found["reproduce"])[:3] == ["dpverify", "tails", "own:coarse"]
    assert call("tails", "own:laplace", "--law", "laplace", "--scale", "2", "--runs", "100000") == 0
    out = capsys.readouterr().out
    assert "supported" in out
    assert "no dependence found" in out
    # NumPy's Laplace numbers are made of uniform ones of 53 bits; that is said, and what it costs
    assert "uniform numbers of 53 bits" in out
    assert "delta at least 2.22e-16, whatever epsilon, for answers 1 scales apart" in out


def test_noise_that_is_used_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One seed for all streams, and the same noise with another sign later; the costs of many releases."""
    assert call("tails", "own:reseeded", "--streams", "3", "--runs", "30000", "--json", "-") == 1
    found = json.loads(capsys.readouterr().out)
    pairings = {tuple(one["streams"]) for one in found["dependence"] if one["relation"] == "equal"}
    assert pairings == {(1, 2), (1, 3), (2, 3)}
    assert {one["lag"] for one in found["dependence"]} == {0}
    assert "--streams 3" in found["reproduce"]
    assert call("tails", "own:antithetic", "--runs", "10000") == 1
    assert "5000 apart, are the same but for the sign" in " ".join(capsys.readouterr().out.split())
    assert (
        call(
            "tails",
            "own:coarse",
            "--runs",
            "400000",
            "--steps",
            "10000",
            "--sampling-probability",
            "0.01",
            "--json",
            "-",
        )
        == 1
    )
    found = json.loads(capsys.readouterr().out)
    assert found["delta_lost"] == pytest.approx(100 * 9.2e-7, rel=0.02)


def test_numbers_that_are_made_in_registers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As PyTorch makes them: those of one radius are 8 apart."""
    assert call("tails", "own:registers", "--runs", "1048576") == 1
    out = capsys.readouterr().out
    assert "ends at -5.768, ends at 5.768 times the scale" in out
    assert "two numbers that lie 8 apart" in out
    assert "32-bit floats" in out


def test_numbers_in_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = np.random.default_rng(0).normal(size=20_000)
    np.save(folder / "noise.npy", numbers)
    np.savetxt(folder / "short.csv", numbers[np.abs(numbers) < 3])
    assert call("tails", "--samples", "noise.npy") == 0
    assert call("tails", "--samples", "short.csv") == 1
    assert "delta at least" in capsys.readouterr().out


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "not both"),
        (["own:coarse", "--samples", "noise.npy"], "not both"),
        (["own:coarse", "--law", "cauchy"], "normal or laplace"),
        (["own:coarse", "--scale", "0"], "--scale"),
        (["own:coarse", "--distance", "nan"], "--distance"),
        (["own:coarse", "--failure-probability", "1"], "--failure-probability"),
        (["own:coarse", "--runs", "10"], "--runs"),
        (["own:pairs"], "something other than a list"),
        (["own:whole"], "something other than a list"),
        (["own:none_such"], "own has no none_such"),
        (["--samples", "data.csv"], "at least"),
        (["--samples", "gone.npy"], "does not exist"),
    ],
)
def test_bad_tails(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("tails", *arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
