"""A user's own function: how it is found, called and refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import Dataset
from dpverify.running import Executor, FunctionMechanism, UserMechanism, repeats, run, stream

DATA = np.arange(6.0).reshape(3, 2)

SOURCE = """
import functools
import numpy as np

def one(data, rng):
    data -= 1000  # a copy: nobody else sees this
    return data.mean(axis=0) + 1000 + rng.normal(size=2)

def many(data, rng, runs):
    return data.mean(axis=0) + rng.normal(size=(runs, 2))

def number(data, rng):
    return float(rng.normal())

def raises(data, rng):
    raise KeyError("missing")

def nan(data, rng):
    return [1.0, float("nan")]

def grows(data, rng):
    return rng.normal(size=rng.integers(1, 3))

def text(data, rng):
    return "a"

def nothing(data, rng):
    return None

def ragged(data, rng):
    return [[1.0], [1.0, 2.0]]

def formless(data, rng):
    return [object()]

def formless_runs(data, rng, runs):
    return {"a": rng.normal(size=runs)}

def deep(data, rng):
    found = []
    found.append(found)
    return found

def late(data, rng):
    x = rng.normal()
    return None if x > 1.5 else x

def words(data, rng, runs):
    return rng.choice(["no", "yes"], size=runs)

def wrong_runs(data, rng, runs):
    return rng.normal(size=(runs + 1, 2))

def scalar_runs(data, rng, runs):
    return 1.0

def three(data, rng, flag=0):
    return rng.normal(size=2)

def too_many(a, b, c, d):
    return a

def too_few(data):
    return data

class Group:
    @staticmethod
    def inner(data, rng):
        return rng.normal(size=2)

constant = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a package in it; what is imported from it is forgotten afterwards."""
    (tmp_path / "their").mkdir()
    (tmp_path / "their" / "__init__.py").write_text("")
    (tmp_path / "their" / "code.py").write_text(SOURCE)
    (tmp_path / "their" / "broken.py").write_text("1 / 0\n")
    (tmp_path / "their" / "needy.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "their"]:
        del sys.modules[name]


def do(name: str, **options: Any) -> np.ndarray[Any, Any]:
    mechanism = UserMechanism.load(f"their.code:{name}")
    return run(mechanism, DATA, **{"runs": 25, "seed": 1, "block_size": 10, **options}).points


@pytest.mark.one_in(4)
@pytest.mark.parametrize("executor", ["serial", "threads=2", "processes=2"])
@pytest.mark.parametrize("name", ["one", "many", "number", "three", "Group.inner"])
def test_functions_run_everywhere_with_the_same_bits(name: str, executor: str, folder: Path) -> None:
    points = do(name, executor=Executor.parse(executor))
    assert points.shape == ((25,) if name == "number" else (25, 2))
    assert np.array_equal(points, do(name))
    assert len(np.unique(points)) == points.size


def test_both_forms_are_told_apart(folder: Path) -> None:
    assert UserMechanism.load("their.code:many").batched
    for name in ("one", "number", "three", "Group.inner"):
        assert not UserMechanism.load(f"their.code:{name}").batched


def test_the_function_gets_its_own_array_and_a_numpy_generator() -> None:
    seen: list[Any] = []

    def look(data: Any, rng: Any, runs: int) -> Any:
        seen.append((type(data), data.copy(), type(rng)))
        data[:] = 0
        return rng.normal(size=runs)

    data = DATA.copy()
    run(FunctionMechanism(look), data, runs=25, seed=1, block_size=10)
    assert len(seen) == 3
    assert all(kind is np.ndarray and np.array_equal(array, DATA) for kind, array, _ in seen)
    assert all(kind is np.random.Generator for *_, kind in seen)
    assert np.array_equal(data, DATA)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("buffer", [np.zeros(2), [0.0, 0.0], {"sum": 0.0}, bytearray(8)])
def test_what_a_function_writes_to_anew_is_not_shared_by_runs(buffer: Any, batched: bool) -> None:
    """All runs of a block would be equal else, and two data sets told apart for certain."""

    def one(data: Any, rng: Any) -> Any:
        drawn = data.sum() + rng.normal()
        if isinstance(buffer, bytearray):
            buffer[:] = np.float64(drawn).tobytes()
        else:
            buffer["sum" if isinstance(buffer, dict) else 0] = drawn
        return buffer

    def many(data: Any, rng: Any, runs: int) -> Any:
        return (
            np.asarray([one(data, rng)] * runs) if isinstance(buffer, np.ndarray) else [one(data, rng)] * runs
        )

    mechanism = FunctionMechanism(many if batched else one)
    points = run(mechanism, DATA, runs=6, seed=1, block_size=1 if batched else 3).points
    assert len({str(point) for point in points}) == 6


def test_labels_are_the_last_column() -> None:
    shapes = []

    def look(data: Any, rng: Any, runs: int) -> Any:
        shapes.append(data.tolist())
        return rng.normal(size=runs)

    run(FunctionMechanism(look), Dataset(DATA, np.array([1.0, -1.0, 1.0])), runs=2, seed=1)
    assert shapes == [[[0, 1, 1], [2, 3, -1], [4, 5, 1]]]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "raised KeyError in block 0 .*: 'missing'"),
        (
            "formless",
            "The function their.code:formless returned an object of type object; allowed: numbers, text",
        ),
        ("formless_runs", "returned an object of type dict for all runs together"),
        ("deep", "returned more than 40 levels"),
        ("wrong_runs", r"shape \(11, 2\) in block 0"),
        ("scalar_runs", r"shape \(\) in block 0"),
    ],
)
@pytest.mark.parametrize("executor", ["serial", "processes=2"])
def test_bad_functions(name: str, message: str, executor: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        do(name, executor=Executor.parse(executor))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("", InvalidArgumentError, "package.module:function"),
        ("their.code", InvalidArgumentError, "package.module:function"),
        ("their.code:", InvalidArgumentError, "package.module:function"),
        (":one", InvalidArgumentError, "package.module:function"),
        ("their/code.py:one", InvalidArgumentError, "package.module:function"),
        ("their.code:one()", InvalidArgumentError, "package.module:function"),
        ("nowhere:one", InvalidArgumentError, "there is no module nowhere"),
        ("their.nowhere:one", InvalidArgumentError, "there is no module their.nowhere"),
        ("their.code:nothing_there", InvalidArgumentError, "their.code has no nothing_there"),
        ("their.code:Group.outer", InvalidArgumentError, "their.code has no Group.outer"),
        ("their.code:constant", InvalidArgumentError, "constant is not a function"),
        ("their.code:too_many", InvalidArgumentError, r"parameters \(data, rng\) or"),
        ("their.code:too_few", InvalidArgumentError, r"parameters \(data, rng\) or"),
        ("their.broken:one", InvalidDataError, "raised ZeroDivisionError while it was imported"),
        ("their.needy:one", InvalidDataError, "needs a_module_that_is_not_there"),
    ],
)
def test_functions_that_are_not_there(
    target: str, error: type[Exception], message: str, folder: Path
) -> None:
    with pytest.raises(error, match=message):
        UserMechanism.load(target)


def test_a_changed_source_has_another_fingerprint(folder: Path) -> None:
    before = UserMechanism.load("their.code:one").fingerprint
    assert before == UserMechanism.load("their.code:one").fingerprint
    with (folder / "their" / "code.py").open("a") as file:
        file.write("\nHELPER = 1\n")
    assert before != UserMechanism.load("their.code:one").fingerprint


@pytest.mark.one_in(4)
@pytest.mark.parametrize("executor", ["serial", "threads=2", "processes=2"])
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("text", ['"a"']),
        ("nothing", ["null"]),
        ("ragged", ["[[1],[1,2]]"]),
        ("words", ['"no"', '"yes"']),
    ],
)
def test_outputs_that_are_no_numbers_are_texts(
    name: str, texts: list[str], executor: str, folder: Path
) -> None:
    points = do(name, executor=Executor.parse(executor))
    assert (points.shape, sorted(set(points.tolist()))) == ((25,), texts)


def test_nan_stays_a_number(folder: Path) -> None:
    assert np.array_equal(do("nan"), np.tile([1.0, np.nan], (25, 1)), equal_nan=True)


@pytest.mark.parametrize("executor", ["serial", "processes=2"])
def test_one_block_of_texts_makes_the_others_texts(executor: str, folder: Path) -> None:
    """None comes in 7 % of all runs: in some blocks of 5 runs there is none, so that they are numbers by themselves."""
    sizes: dict[str, Any] = {"runs": 100, "block_size": 5, "executor": Executor.parse(executor)}
    points = do("late", **sizes)
    mechanism = UserMechanism.load("their.code:late")
    kinds = {block.points.dtype.kind for block in stream(mechanism, DATA, seed=1, **sizes)}
    assert kinds == {"f", "T"}
    assert points.dtype.kind == "T"
    assert 0 < points.tolist().count("null") < 20
    assert repeats(mechanism, DATA, points, seed=1, block_size=5)
    assert not repeats(mechanism, DATA, points, seed=2, block_size=5)


def test_texts_are_kept_in_a_store(folder: Path) -> None:
    sizes: dict[str, Any] = {"runs": 60, "block_size": 10}
    fresh = do("late", **sizes)
    mechanism = UserMechanism.load("their.code:late")
    for taken in (0, 6):
        found = run(mechanism, DATA, seed=1, store="s.sqlite", **sizes)
        assert found.reuse is not None
        assert (found.reuse.blocks_taken, found.points.tolist()) == (taken, fresh.tolist())
