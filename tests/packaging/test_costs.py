"""What is left out of the fast tests follows from a table of measured costs."""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .. import costs

ROOT = Path(__file__).parents[2]
HERE = "tests/packaging/test_costs.py"


def test_the_table_is_of_the_tests_that_there_are() -> None:
    """But for a few: a test that was given another name counts as quick until costs are measured again."""
    table = costs.read()
    assert all(seconds >= costs.LISTED for seconds in table.values())
    gone = missing(table)
    assert len(gone) <= len(table) / 20, f"run make costs: there is no {', '.join(gone)}"
    assert missing(
        ["tests/packaging/test_costs.py::test_planted", "tests/test_planted.py::test_planted"]
    ) == [
        "tests/packaging/test_costs.py::test_planted",
        "tests/test_planted.py::test_planted",
    ]


def missing(names: Iterable[str]) -> list[str]:
    """The test functions among them that are not there."""
    functions: dict[str, set[str]] = {}
    for file in {name.partition("::")[0] for name in names}:
        path = ROOT / file
        functions[file] = set(_names(ast.parse(path.read_bytes()).body)) if path.exists() else set()
    return [name for name in names if name.partition("::")[2] not in functions[name.partition("::")[0]]]


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{name}" for name in _names(node.body))


def test_slow_is_what_the_table_or_a_fixture_says(request: pytest.FixtureRequest) -> None:
    this = request.node.nodeid
    assert costs.is_slow(request.node, {this: costs.SLOW + 0.1})
    assert not costs.is_slow(request.node, {this: costs.SLOW, "another": 100.0})
    assert not costs.is_slow(request.node, {})
    asking: Any = SimpleNamespace(nodeid=f"{this}[of-a-parameter]", fixturenames=("tmp_path", "all_proofs"))
    assert costs.is_slow(asking, {})
    asking.fixturenames = ("tmp_path",)
    assert costs.is_slow(asking, {this: costs.SLOW + 0.1})
    table = costs.read()
    for item in request.session.items:
        assert (item.get_closest_marker("slow") is not None) is costs.is_slow(item, table)


def test_what_takes_longest_comes_first_and_proofs_once() -> None:
    table = {
        "a.py::t": 1.0,
        "b.py::t": 30.0,
        "c.py::t": 20.0,
        "d.py::t": 5.0,
        "e.py::t": 90.0,
        "f.py::t": 3.0,
    }
    fixtures = {"a.py": ("all_proofs",), "e.py": ("proofs",), "f.py": ("all_proofs", "tmp_path")}
    names = ["a.py::t[1]", "g.py::t", "b.py::t", "a.py::t[2]", "c.py::t", "d.py::t", "e.py::t", "f.py::t"]
    names += [f"h.py::t[{k}]" for k in range(200)]
    items: Any = [SimpleNamespace(nodeid=n, fixturenames=fixtures.get(n[:4], ())) for n in names]
    found = [item.nodeid for item in costs.in_order(items, table)]
    assert sorted(found) == sorted(names)
    files = list(dict.fromkeys(name[:4] for name in found))
    # half of what needs no proofs has 30.5 of 61 CPU seconds: b.py and c.py
    assert files == ["f.py", "b.py", "c.py", "e.py", "h.py", "d.py", "a.py", "g.py"]
    assert found == sorted(found, key=lambda name: files.index(name[:4]))  # no file is taken apart
    assert found.index("a.py::t[1]") < found.index("a.py::t[2]")
    assert costs.in_order([], table) == []


def test_all_processes_find_the_same_order() -> None:
    """In each, a set of names has an order of its own, in which rounded sums of their costs would differ."""
    names = [f"{file:03d}.py::t{k}" for file in range(200) for k in range(3)]
    table = {name: (0.1, 0.2, 0.3)[k % 3] for k, name in enumerate(names)}
    items: Any = [SimpleNamespace(nodeid=name) for name in reversed(names)]
    files = [item.nodeid[:3] for item in costs.in_order(items, table)]
    assert files == sorted(files)


def test_what_a_test_costs_is_measured(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """In CPU seconds, so that the machine's other work has no part in it."""

    def measured(name: str, seconds: float) -> None:
        item: Any = SimpleNamespace(nodeid=name)
        test = meter.pytest_runtest_protocol(item)
        next(test)
        begin = os.times().user
        while os.times().user < begin + seconds:
            pass
        with pytest.raises(StopIteration):
            test.send(True)

    costs.write(
        Counter({"tests/test_a.py::test_old": 9, "tests/test_gone.py::test_b": 9, f"{HERE}::test_c": 9}),
        tmp_path / "costs.csv",
    )
    meter = costs.Meter(tmp_path / "costs.csv")
    measured("tests/test_a.py::test_quick[1]", 0.0)
    measured("tests/test_a.py::test_long[1]", 0.3)
    measured("tests/test_a.py::test_long[2]", 0.3)
    meter.pytest_sessionfinish()
    found = costs.read(tmp_path / "costs.csv")
    # of a file that was not run the table says what it said
    assert list(found) == [f"{HERE}::test_c", "tests/test_a.py::test_long"]
    assert found["tests/test_a.py::test_long"] >= 0.6
