"""What each test costs, measured; which ones `make test-fast` therefore leaves out, and which files come first."""

from __future__ import annotations

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("costs.csv")
"""CPU seconds of test functions, all their parameters together, as `make costs` has measured them."""

LISTED = 0.3
"""CPU seconds from which a test function is in the table."""

SLOW = 0.4
"""CPU seconds above which it is slow."""

_SHARED = frozenset({"all_proofs"})
"""Fixtures that take minutes where nothing is kept from an earlier run; what asks for them is slow."""

_PROVING = frozenset({"proofs", "all_proofs"})
"""Fixtures that one process at a time makes, while the others wait."""

_UNLISTED = 0.03
"""CPU seconds of a test whose function is not in the table."""


def read(path: Path = TABLE) -> dict[str, float]:
    """CPU seconds by test function, `tests/folder/test_file.py::test_name`."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["test"]: float(row["seconds"]) for row in csv.DictReader(file)}


def write(costs: Counter[str], path: Path) -> None:
    """Write what costs enough to be listed, in the order of names."""
    rows = sorted((name, f"{seconds:.1f}") for name, seconds in costs.items() if seconds >= LISTED)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("test", "seconds"), *rows])


def function(nodeid: str) -> str:
    """The test function that a test belongs to."""
    return nodeid.partition("[")[0]


def together(nodeid: str) -> str:
    """What one process takes as a whole: a file; all files about theorems, whose pages take long to read."""
    file = nodeid.partition("::")[0]
    return "theorems" if re.search("theorem|cli/test_(mechanism|read)", file) else file


def is_slow(item: pytest.Item, costs: dict[str, float]) -> bool:
    """Whether a test's function took longer than `SLOW`, or it needs what takes minutes."""
    fixtures = frozenset(getattr(item, "fixturenames", ()))
    return costs.get(function(item.nodeid), 0.0) > SLOW or bool(fixtures & _SHARED)


def in_order(items: Sequence[pytest.Item], costs: dict[str, float]) -> list[pytest.Item]:
    """Tests as processes should take them, file by file: the costliest first, so that all end together.

    The first file has everything proved. The others that need proofs come once half of the rest is given out, so
    that no process waits for proofs while there is other work.
    """
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(together(item.nodeid), []).append(item)

    def cost(name: str) -> float:
        listed = {function(item.nodeid) for item in files[name]} & costs.keys()
        rest = sum(function(item.nodeid) not in listed for item in files[name])
        # exactly rounded: processes add in different orders, and must agree
        return math.fsum(costs[test] for test in listed) + _UNLISTED * rest

    def asking(fixtures: frozenset[str]) -> list[str]:
        return [n for n in names if any(fixtures & {*getattr(i, "fixturenames", ())} for i in files[n])]

    names = sorted(files, key=lambda name: (-cost(name), name))
    proving = asking(_PROVING)
    first = asking(_SHARED)[:1]
    others = [name for name in names if name not in proving]
    half, given = sum(map(cost, others)) / 2, 0.0
    before = []
    for name in others:
        if given >= half:
            break
        before.append(name)
        given += cost(name)
    later = [name for name in names if name not in {*first, *before}]
    return [item for name in (*first, *before, *later) for item in files[name]]


class Meter:
    """A pytest plugin that adds up what tests cost, those processes included that they wait for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._costs: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        """Measure one test with its set-up and tear-down."""
        before = _cpu_seconds()
        done = yield
        self._costs[function(item.nodeid)] += _cpu_seconds() - before  # type: ignore[assignment]
        return done

    def pytest_sessionfinish(self) -> None:
        """Write the table; what it says of files that were not run stays."""
        run = {name.partition("::")[0] for name in self._costs}
        for name, seconds in read(self._path).items() if self._path.exists() else ():
            file = name.partition("::")[0]
            if file not in run and (TABLE.parents[1] / file).exists():
                self._costs[name] = seconds  # type: ignore[assignment]
        write(self._costs, self._path)


def _cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
