"""Estimators and commands as subjects: what they are given, what comes back, and how they fail."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.running import Executor, Limits, Target, UserMechanism, repeats, run

DATA = np.array([[0.0, 1.0], [2.0, -1.0], [4.0, 1.0]])

SOURCE = """
import numpy as np


class Mean:
    def __init__(self, scale=1.0, random_state=None):
        self.scale, self.random_state = scale, random_state

    def fit(self, X):
        noise = np.random.default_rng(self.random_state).laplace(scale=self.scale, size=X.shape[1])
        self.mean_, self.n_ = X.mean(axis=0) + noise, len(X)
        return self


class Labeled:
    def __init__(self, rng):
        self.rng = rng

    def fit(self, X, y, sample_weight=None):
        self.seen_ = (X.tolist(), y.tolist(), self.rng.normal())


class Unseeded(Mean):
    def __init__(self):
        self.scale, self.random_state = 1.0, None


def small():
    return Mean(scale=1e-9)


ready = Mean(scale=2.0)


class Global:
    def fit(self, X, y=None):
        self.mean_ = np.random.laplace()


class Silent:
    def __getattr__(self, name):
        if name == "fit":
            return self.learn
        raise AttributeError(name)

    def learn(self, X):
        pass
"""

COMMAND = """
import json, os, random, sys, time
asked = json.loads(sys.stdin.readline())
how = sys.argv[1]
random.seed(asked["seed"] if how != "unseeded" else None)
if how == "dies":
    os.abort()
if how == "fills":
    kept = bytearray(2**33)
if how == "sleeps":
    time.sleep(600)
if how == "leaves a child":
    if not os.fork():
        for stream in (0, 1, 2):
            os.close(stream)
        time.sleep(600)
        os._exit(0)
for i in range(asked["runs"]):
    if how == "stops" and i == 3:
        sys.exit(5)
    if how == "asked":
        print(json.dumps([asked["data"], asked["runs"]]))
    else:
        print(json.dumps({"word": random.choice(["yes", "no"]), "x": random.gauss(0, 1)}))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "theirs_to_fit.py").write_text(SOURCE)
    (tmp_path / "mechanism.py").write_text(COMMAND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def estimator(name: str, *attributes: str) -> UserMechanism:
    return UserMechanism.load(Target(f"theirs_to_fit:{name}", attributes))


def command(how: str, limits: Limits | None = None) -> UserMechanism:
    text = shlex.join([sys.executable, "-S", "mechanism.py", how])
    return UserMechanism.load(Target(text, command=True), limits=limits)


def parsed(points: np.ndarray[Any, Any]) -> list[Any]:
    return [json.loads(text) for text in points.tolist()]


@pytest.mark.parametrize("name", ["Mean", "Unseeded", "small", "ready"])
def test_estimators_are_fitted_to_all_of_the_data(name: str, folder: Path) -> None:
    """A class, one that takes no seed but has one, a function that makes one, and one that is there."""
    with estimator(name, "mean_") as mechanism:
        points = run(mechanism, DATA, runs=20, seed=1).points
        assert points.shape == (20, 2)
        assert len(np.unique(points)) == 40
        assert repeats(mechanism, DATA, points, seed=1)
        # so many standard errors of the mean of 20 Laplace numbers are exceeded with probability below 1e-8
        noise = {"small": 1e-9, "ready": 2.0}.get(name, 1.0)
        assert np.all(np.abs(points.mean(axis=0) - DATA.mean(axis=0)) < 6 * noise * np.sqrt(2 / 20))


def test_several_attributes_are_a_dictionary(folder: Path) -> None:
    points = run(estimator("Mean", "n_", "mean_"), DATA, runs=3, seed=1).points
    assert all(found.keys() == {"n_", "mean_"} and found["n_"] == 3 for found in parsed(points))


def test_labels_are_the_last_column(folder: Path) -> None:
    found = parsed(run(estimator("Labeled", "seen_"), DATA, runs=3, seed=1).points)
    assert all(seen[:2] == [[[0], [2], [4]], [1, -1, 1]] for seen in found)
    assert len({seen[2] for seen in found}) == 3


def test_an_estimator_with_randomness_of_its_own_is_noticed(folder: Path) -> None:
    mechanism = estimator("Global", "mean_")
    points = run(mechanism, DATA, runs=5, seed=1).points
    assert not repeats(mechanism, DATA, points, seed=1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "theirs_to_fit has no gone"),
        ("Silent", "has no attribute mean_ after fit"),
        ("np.random.normal", "shape|no method fit"),
    ],
)
def test_estimators_that_cannot_be_used(name: str, message: str, folder: Path) -> None:
    with pytest.raises((InvalidArgumentError, InvalidDataError), match=message):
        run(estimator(name, "mean_"), DATA, runs=2, seed=1)


@pytest.mark.parametrize("executor", ["serial", "threads=2", "processes=2"])
def test_commands_give_the_same_outputs_everywhere(executor: str, folder: Path) -> None:
    points = run(
        command("works"), DATA, runs=12, seed=1, block_size=5, executor=Executor.parse(executor)
    ).points
    again = run(command("works"), DATA, runs=12, seed=1, block_size=5).points
    assert points.tolist() == again.tolist()
    assert len(set(points.tolist())) == 12
    assert repeats(command("works"), DATA, points, seed=1, block_size=5)


def test_commands_are_told_data_and_runs(folder: Path) -> None:
    assert parsed(run(command("asked"), DATA, runs=2, seed=1).points) == [[DATA.tolist(), 2]] * 2


def test_a_command_that_ignores_the_seed_is_noticed(folder: Path) -> None:
    points = run(command("unseeded"), DATA, runs=5, seed=1).points
    assert not repeats(command("unseeded"), DATA, points, seed=1)


def test_runs_of_a_command_are_not_kept(folder: Path, tmp_path: Path) -> None:
    """What it imports is not known; after a change there, kept runs would be those of another program."""
    with pytest.raises(InvalidArgumentError, match="no store for a command"):
        run(command("works"), DATA, runs=4, seed=1, store=tmp_path / "store.sqlite")
    mine = run(
        command("works"), DATA, runs=4, seed=1, store=tmp_path / "store.sqlite", fingerprint="version 1"
    )
    assert np.array_equal(mine.points, run(command("works"), DATA, runs=4, seed=1).points)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("dies", "was ended by SIGABRT after 0 of 10 lines"),
        ("fills", "ended with exit code 1 after 0 of 10 lines"),
        ("stops", "ended with exit code 5 after 3 of 10 lines"),
    ],
)
def test_crashes_are_said_and_the_next_call_works(how: str, message: str, folder: Path) -> None:
    mechanism = command(how)
    for _ in range(2):  # in a new process each
        with pytest.raises(InvalidDataError, match=message):
            run(mechanism, DATA, runs=10, seed=1)


def test_a_command_that_does_not_come_back_is_ended(folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=r"did not return within 1 s .* was stopped"):
        run(command("sleeps", Limits(seconds=1.0)), DATA, runs=2, seed=1)
    assert not _running("sleeps")


def test_what_a_command_leaves_is_ended_with_the_mechanism(folder: Path) -> None:
    with command("leaves a child") as mechanism:
        assert len(run(mechanism, DATA, runs=2, seed=1).points) == 2
        assert _running("leaves a child")
    # the guard ends it before `close` returns; the kernel may take a moment more to forget it
    for _ in range(100):
        if not _running("leaves a child"):
            return
        time.sleep(0.05)
    raise AssertionError("a process is left")


def _running(word: str) -> bool:
    """Whether a process of this folder's command is there."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
            if word.encode() in words and os.path.samefile(place / "cwd", "."):
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "a:b", "attributes": ("not a name",)},
        {"text": "a:b", "attributes": ("a", "a")},
        {"text": "cat", "attributes": ("a",), "command": True},
        {"text": "", "command": True},
        {"text": "no-such-program-here", "command": True},
        {"text": "'", "command": True},
    ],
)
def test_targets_that_are_none(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        Target(**fields)


@pytest.mark.parametrize(
    "line", ["sh -c 'cat | cat'", "awk -F '|' 1", r"cat \| x", "sh --say='a;b'", 'sh -c "echo \\"; exit"']
)
def test_what_is_quoted_is_handed_on(line: str) -> None:
    assert Target(line, command=True).text == line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cat | cat", "for | name a shell"),
        ("cat>out", "for > name a shell"),
        ("cat 2>/dev/null", "for > name a shell"),
        ("sh 'a b' && cat", "for && name a shell"),
        ("./data.csv", "./data.csv is a file that may not be executed"),
        ("./nothing", "./nothing is not"),
    ],
)
def test_what_only_a_shell_reads_is_refused(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("0\n")
    with pytest.raises(InvalidArgumentError) as refused:
        Target(line, command=True)
    assert said in str(refused.value)
