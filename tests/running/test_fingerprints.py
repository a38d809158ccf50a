"""Fingerprints see every bit that a result can depend on, the same in every process, and name what they cannot read."""

from __future__ import annotations

import copy
import enum
import functools
import itertools
import logging
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_mechanisms import Walk

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import AsPrinted
from dpverify.privacy import Adjacency, PureDP, StatedGuarantee
from dpverify.running import fingerprint, run
from dpverify.running.program import program_hash


def written(source: str, name: str = "f") -> Any:
    """What a module with this source calls `name`."""
    module = types.ModuleType("theirs")
    exec(compile(source, "<theirs>", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__[name]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Write modules, import one of them afresh, and return what it calls `f`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    number = itertools.count()

    def load(**sources: str) -> Any:
        folder = tmp_path / f"v{next(number)}"
        folder.mkdir()
        monkeypatch.syspath_prepend(str(folder))
        for name, source in sources.items():
            monkeypatch.delitem(sys.modules, name, raising=False)
            (folder / f"{name}.py").write_text(source)
        found = __import__(next(iter(sources))).f
        for name in sources:
            monkeypatch.delitem(sys.modules, name, raising=False)
        return found

    return load


def test_fingerprints_see_every_bit() -> None:
    assert fingerprint(Walk(5)) == fingerprint(Walk(5))
    values: list[object] = [
        Walk(5), Walk(6), (1, 2), (1, (2,)), [1, 2], "12", 12, 12.0, b"12", 12j, None, True, ..., NotImplemented,
        np.arange(3), np.arange(3.0), np.arange(3).reshape(1, 3), np.array([-0.0]), np.array([0.0]),
        {"a": 1}, {"a": 2}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {1, 2}, {1, 3}, frozenset({(1, 2)}), set(),
        lambda x: x + 1, lambda x: x + 2, lambda x, y=1: x + 1, np.exp, len, str.upper, slice(1, 2), slice(1, 2, 3),
        range(3), 10**5000, "\ud800", 0.0, -0.0, float("nan"), functools.partial(max, 1), functools.partial(max, 2),
        np.float64, np.float32, Path("a"), enum.Enum("E", "a").a,  # type: ignore[attr-defined]
    ]  # fmt: skip
    assert len({fingerprint(value) for value in values}) == len(values)


def test_what_cannot_be_read_is_named() -> None:
    lock = threading.Lock()
    with pytest.raises(InvalidArgumentError, match="fingerprint was <object"):
        fingerprint(object())
    with pytest.raises(InvalidArgumentError, match="arrays of numbers"):
        fingerprint(np.array([None]))
    with pytest.raises(InvalidArgumentError, match=r"the variable lock that .*reads was <unlocked"):
        fingerprint(lambda: lock)
    with pytest.raises(InvalidArgumentError, match="the global LOCK that f reads was <unlocked"):
        fingerprint(written("import threading\nLOCK = threading.Lock()\ndef f():\n    return LOCK"))
    with pytest.raises(InvalidArgumentError, match="the field inner of Outer was <unlocked"):
        fingerprint(Outer(lock))
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidArgumentError, match="nested"):
        fingerprint(nested)
    # what cannot be read is passed over where something else stands for it
    assert fingerprint(lambda: lock, readable_only=True) == fingerprint(lambda: lock, readable_only=True)


@dataclass
class Outer:
    inner: object


# two sources a row, which differ in what the function would do
CHANGES = {
    "constant": ("def f(x):\n    return x + {}", 1, 2),
    "global": ("SIGMA = {}\ndef f(x):\n    return SIGMA * x", 1, 2),
    "global that a called function reads": ("S = {}\ndef g(x):\n    return S * x\ndef f(x):\n    return g(x)", 1, 2),
    "global of an inner function": ("S = {}\ndef f(x):\n    return [S * y for y in x]", 1, 2),
    "global array": ("import numpy as np\nS = np.array([{}])\ndef f(x):\n    return S * x", 1, 2),
    "default": ("def f(x, s={}):\n    return s * x", 1, 2),
    "keyword default": ("def f(x, *, s={}):\n    return s * x", 1, 2),
    "closure": ("def make(s):\n    def f(x):\n        return s * x\n    return f\nf = make({})", 1, 2),
    "attribute of the function": ("def f(x):\n    return f.s * x\nf.s = {}", 1, 2),
    "function in a table": ("TABLE = {{'a': lambda x: x * {}}}\ndef f(x):\n    return TABLE['a'](x)", 1, 2),
    "decorated": (
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def h(x):\n        return g(x)\n    return h\n"
        "@twice\ndef f(x):\n    return x * {}", 1, 2,
    ),
    "remembered": ("import functools\n@functools.cache\ndef f(x):\n    return x * {}", 1, 2),
    "partial": ("import functools\ndef g(s, x):\n    return s * x\nf = functools.partial(g, {})", 1, 2),
    "call of an instance": ("class F:\n    def __call__(self, x):\n        return x * {}\nf = F()", 1, 2),
    "call of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass F:\n    s: float = 1.0\n"
        "    def __call__(self, x):\n        return x * {}\nf = F()", 1, 2,
    ),
    "attribute of an instance": (
        "class F:\n    def __init__(self):\n        self.s = {}\n    def __call__(self, x):\n        return x\nf = F()",
        1, 2,
    ),
    "slot": ("class F:\n    __slots__ = ('s',)\nf = F()\nf.s = {}", 1, 2),
    "base class": ("class B:\n    def g(self):\n        return {}\nclass F(B):\n    pass\nf = F()", 1, 2),
    "class attribute": ("class F:\n    s = {}\n    def __call__(self):\n        return self.s\nf = F()", 1, 2),
    "property": ("class F:\n    @property\n    def s(self):\n        return {}\nf = F()", 1, 2),
    "class that is called": ("class G:\n    s = {}\ndef f():\n    return G().s", 1, 2),
    "method": ("class F:\n    def g(self):\n        return {}\nf = F().g", 1, 2),
    "set of constants": ("def f(x):\n    return x in {{'a', '{}'}}", "b", "c"),
    "slice": ("def f(x):\n    return x[..., 0:{}]", 1, 2),
    "exception that is caught": (
        "def f(x):\n    try:\n        return 1 / x\n    except {}:\n        return 0",
        "ValueError", "ZeroDivisionError",
    ),
    "operation": ("def f(x):\n    return x {} 2", "+", "*"),
    "number of a kind of its own": (
        "class N(int):\n    def __int__(self):\n        return 0\n    __index__ = __int__\nf = N({})", 1, 2,
    ),
    "text of a kind of its own": ("class T(str):\n    def __str__(self):\n        return ''\nf = T('{}')", "a", "b"),
    "order of a table": ("T = {{{}}}\ndef f():\n    return list(T)", "'a': 1, 'b': 2", "'b': 2, 'a': 1"),
    "field of an enumeration": (
        "import enum\nclass E(enum.Enum):\n    a = {}\ndef f():\n    return E.a.value", 1, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_of_what_a_function_does_is_seen(case: str) -> None:
    source, one, other = CHANGES[case]
    first, again, second = (fingerprint(written(source.format(value))) for value in (one, one, other))
    assert first == again
    assert first != second


def test_what_a_function_does_not_read_changes_nothing() -> None:
    source = "OTHER = {}\nSIGMA = 1\ndef f(x):\n    return SIGMA * x"
    assert fingerprint(written(source.format(1))) == fingerprint(written(source.format(2)))
    assert fingerprint(written("def f(x):\n    return x")) == fingerprint(
        written("\n\ndef f(x):\n    # x\n    return x")
    )


@pytest.mark.parametrize(
    "use",
    [
        "import helper\ndef f(x):\n    return helper.scale(x)",
        "from helper import scale\ndef f(x):\n    return scale(x)",
        "def f(x):\n    import helper\n    return helper.scale(x)",
        "def f(x):\n    from helper import scale\n    return scale(x)",
        "from helper import SIGMA\ndef f(x):\n    return SIGMA * x",
    ],
)
def test_a_change_in_a_helper_module_is_seen(use: str, imported: Callable[..., Any]) -> None:
    helper = "import deeper\nSIGMA = {}\ndef scale(x):\n    return deeper.g(SIGMA * x)"
    deeper = "def g(x):\n    return x"
    first, again, second = (
        fingerprint(imported(user=use, helper=helper.format(sigma), deeper=deeper)) for sigma in (1, 1, 2)
    )
    assert first == again
    assert first != second
    if "scale" in use:
        deepest = imported(user=use, helper=helper.format(1), deeper="def g(x):\n    return 2 * x")
        assert fingerprint(deepest) != first


def test_a_global_that_is_set_in_another_module_is_seen(imported: Callable[..., Any]) -> None:
    function = imported(user="import helper\ndef f(x):\n    return helper.SIGMA * x", helper="SIGMA = 1")
    before = fingerprint(function)
    function.__globals__["helper"].SIGMA = 2
    assert fingerprint(function) != before


def test_circles_end() -> None:
    def count(n: int) -> int:
        return 0 if n == 0 else 1 + count(n - 1)

    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    assert len({fingerprint(f) for f in (count, even, odd)}) == 3
    circle: list[Any] = [1]
    circle.append(circle)
    longer: list[Any] = [1, [1]]
    longer[1].append(longer)
    assert len({fingerprint(each) for each in (circle, longer)}) == 2
    # a chain of functions that is longer than Python's stack
    source = (
        "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(3000))
        + "def f3000(x):\n    return {}\n"
    )
    ends = [fingerprint(written(source.format(end), "f0")) for end in (1, 1, 2)]
    assert ends[0] == ends[1] != ends[2]


def test_many_ways_through_one_table_take_one_reading() -> None:
    """Functions that all call one another: there are more paths than anyone could follow."""
    names = [f"f{n}" for n in range(60)]
    source = "".join(f"def {name}(x):\n    return [{', '.join(names)}]\n" for name in names)
    assert fingerprint(written(source, "f0")) == fingerprint(written(source, "f0"))


def test_things_of_installed_packages_count_by_name() -> None:
    source = (
        "import logging\nfrom scipy.stats import norm\nfrom numpy.linalg import {0}\nimport numpy as np\n"
    )
    source += "def f(x):\n    return norm.ppf(np.clip(x, 0, 1)) + {0}(x)"
    assert fingerprint(written(source.format("norm as size").replace("norm as size(x)", "size(x)")))
    assert fingerprint(logging.getLogger) != fingerprint(logging.getLevelName)


HARD = """
import dataclasses, enum, functools, sys
sys.path.insert(0, {here!r})
class Color(enum.Enum):
    RED = "r"
    def shout(self): return self.value.upper()
@dataclasses.dataclass(frozen=True)
class Inner:
    names: frozenset = frozenset({{"x", "y", "zeta"}})
    color: Color = Color.RED
    table: dict = dataclasses.field(default_factory=dict)
@dataclasses.dataclass
class Mechanism:
    inner: Inner = Inner()
    words: set = dataclasses.field(default_factory=lambda: {{"one", "two", "three", ("four", 5)}})
    def __call__(self, data, *, rng, runs):
        if data.shape in {{(1, 2), (3, 4)}} or "q" in {{"a", "b", "q"}}:
            return data[..., 0:2]
        return LETTERS & self.words, functools.partial(sorted, key=len)
LETTERS = {{"alpha", "beta", "gamma"}}
from dpverify.running import fingerprint
print(fingerprint(Mechanism()))
"""


def test_fingerprints_are_the_same_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", HARD.format(here=str(Path(__file__).parent))],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@dataclass
class Shifted:
    """Whose shift is a global, as in a notebook."""

    runs: list[int] = field(default_factory=list)

    def __call__(self, data: Any, *, rng: Any, runs: int) -> Any:
        return rng.normal((runs, 1), "noise") + SHIFT


SHIFT = 0.0


def test_a_changed_global_gets_blocks_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(Shifted(), np.arange(3.0), runs=10, seed=1, store=tmp_path / "store")
    monkeypatch.setattr(sys.modules[__name__], "SHIFT", 1.0)
    second = run(Shifted(), np.arange(3.0), runs=10, seed=1, store=tmp_path / "store")
    assert np.array_equal(second.points, first.points + 1)
    assert second.reuse is not None
    assert second.reuse.blocks_taken == 0


def test_an_edited_call_gets_blocks_of_its_own(tmp_path: Path) -> None:
    source = CHANGES["call of a dataclass"][0].replace("(self, x)", "(self, x, *, rng, runs)")
    source = source.replace("return x * {}", "return rng.normal((runs, 1), 'noise') * {}")
    points = [
        run(written(source.format(s)), 0.0, runs=10, seed=1, store=tmp_path / "s").points for s in (1, 2)
    ]
    assert np.array_equal(points[1], 2 * points[0])


def test_the_program_counts_with_all_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("pack", "pack/deep", "pack/deep/er"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")

    def now() -> str:
        program_hash.cache_clear()
        return program_hash(("pack",))

    seen = [now()]
    (tmp_path / "pack/deep/er/module.py").write_text("x = 1")
    seen.append(now())
    (tmp_path / "pack/deep/er/module.py").write_text("x = 2")
    seen.append(now())
    (tmp_path / "pack/deep/er/module.py").rename(tmp_path / "pack/deep/module.py")
    seen.append(now())
    (tmp_path / "pack/table.csv").write_text("1")
    seen.append(now())
    assert len(set(seen)) == 5
    (tmp_path / "pack/__pycache__").mkdir()
    (tmp_path / "pack/__pycache__/module.pyc").write_bytes(b"1")
    assert now() == seen[-1]
    # found from anywhere: a package within a package is counted once
    assert program_hash(("pack", "pack.deep")) == program_hash(("pack",))
    program_hash.cache_clear()


def test_where_a_claim_comes_from_is_no_part_of_it() -> None:
    plain = StatedGuarantee(PureDP(1.0), Adjacency.REPLACE_ONE)
    said = replace(plain, origin=AsPrinted("mine.thm1", "1-DP", "every n"))
    assert (fingerprint(said), said) == (fingerprint(plain), plain)
    assert fingerprint(replace(plain, guarantee=PureDP(2.0))) != fingerprint(plain)


def test_a_copy_of_an_instance_leaves_the_fingerprint_of_its_class() -> None:
    """Copying and pickling leave a list of slots in the class."""
    made = written("class F:\n    def __init__(self):\n        self.s = 1", "F")()
    before = fingerprint(made)
    copy.deepcopy(made)
    assert fingerprint(made) == before
