"""What a certificate's confirmation rests on is small, and is no prover's code."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpverify.proving import checker

Json = Any
LINES = 250
FOLDER = Path(checker.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))
VARIABLE = {
    "name": "x",
    "kind": "real",
    "lower": "0",
    "lower_open": False,
    "upper": "1",
    "upper_open": False,
    "unit": {"loss": "0", "length": "0"},
}
X, ONE = ["sym", "x"], ["num", "1"]
V = ["sym", "v"]
ROUTES: dict[str, tuple[Json, str, Json]] = {
    "units": (["<=", X, ONE], "proved", {"method": "units", "left": {}, "right": {}}),
    "algebra": (["==", ["mul", X, ONE], X], "proved", {"method": "identity"}),
    "points-by-algebra": (
        ["!=", ["mul", ["num", "3"], X], ONE],
        "refuted",
        {"method": "counterexample", "point": {"x": "1/3"}},
    ),
    "points": (["<=", ["exp", X], ONE], "refuted", {"method": "counterexample", "point": {"x": "1"}}),
    "boxes": (
        ["<", ["num", "0"], ["exp", X]],
        "proved",
        {"method": "boxes", "box": {"x": ["0", "1"]}, "tree": ["+"]},
    ),
    "chains": (
        ["<=", ["log", ["add", ONE, X]], X],
        "proved",
        {"method": "chains", "steps": ["slope", "x", ["num", "0"], ["leaf"], ["leaf"]]},
    ),
    "closed": (
        ["and", ["<=", X, ONE], ["<=", ["num", "0"], X]],
        "proved",
        {"method": "conjunction", "parts": [{"method": "signs"}, {"method": "signs"}]},
    ),
    "gram": (
        ["<=", ["num", "0"], ["inner", V, V]],
        "proved",
        {"method": "gram", "sum": [[ONE, ["inner", V, V]]]},
    ),
    "gram-at-a-point": (
        ["<", ["norm", V], X],
        "refuted",
        {"method": "counterexample", "point": {"x": "1", "v": "(3)"}},
    ),
}
# what is left once something is put in is a claim of its own, confirmed by the part that it belongs to
INSIDE = {
    "version": 1,
    "problem": {"variables": [VARIABLE], "assuming": [], "claim": ["<=", ["mul", ONE, X], X]},
    "verdict": "proved",
    "proof": {"method": "identity"},
    "witness": {"x": "1"},
}
ROUTES["exists"] = (
    ["exists", {**VARIABLE, "name": "C"}, ["<=", ["mul", ["sym", "C"], X], X]],
    "proved",
    {"method": "exists", "shows": "claim", "values": {"C": ONE}, "inner": [INSIDE]},
)
ROUTES["facts"] = (["<=", X, ["exp", X]], "proved", {"method": "facts", "facts": [["tangent", "exp", X]]})
PROGRAM = """
import json, sys
from dpverify.proving.checker import check
print(check(json.load(sys.stdin)).confirmed)
print([(name, module.__file__) for name, module in sys.modules.items() if name.split(".")[0] == "dpverify"])
"""


TERMS = {"__init__", "terms"}
ALGEBRA = TERMS | {"questions", "quotients", "reals", "functions", "algebra"}
POINTS = TERMS | {"intervals", "points"}  # a witness is one, too
RESTS_ON = {
    "units": TERMS | {"units"},
    "points": POINTS,
    "points-by-algebra": POINTS | ALGEBRA,
    "boxes": POINTS | {"boxes"},
    "algebra": POINTS | ALGEBRA,
    "chains": POINTS | (ALGEBRA - {"algebra"}) | {"chains"},
    "closed": POINTS | ALGEBRA | {"closed"},
    "exists": POINTS | ALGEBRA | {"exists"},
    "facts": POINTS | ALGEBRA | {"facts"},
    "gram": {"__init__", "questions", "gram"},
    "gram-at-a-point": {"__init__", "questions", "gram"},
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_part_is_longer_than_250_lines(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= LINES


@pytest.mark.parametrize("route", ROUTES)
def test_a_confirmation_rests_on_the_parts_that_are_named_and_on_no_others(route: str) -> None:
    """All of this package's modules that are loaded in a fresh process count, but for the two packages' own files."""
    claim, verdict, proof = ROUTES[route]
    variables = [VARIABLE]
    if route.startswith("gram"):
        variables.append({**VARIABLE, "name": "v", "kind": "vector", "lower": None, "upper": None})
    problem = {"variables": variables, "assuming": [], "claim": claim}
    certificate = {
        "version": 1,
        "problem": problem,
        "verdict": verdict,
        "proof": proof,
        "witness": {"x": "1", "v": "(0, 0)"} if len(variables) > 1 else {"x": "1"},
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(certificate),
        capture_output=True,
        text=True,
        check=True,
    )
    confirmed, loaded = done.stdout.splitlines()
    assert confirmed == "True"
    modules = {name: Path(file) for name, file in ast.literal_eval(loaded)}
    packages = {"dpverify", "dpverify.proving"}
    assert packages < modules.keys()
    folder, inside = {file.parent for name, file in modules.items() if name not in packages}, set(modules)
    assert folder == {FOLDER}
    assert {modules[name].stem for name in inside - packages} == RESTS_ON[route]


@pytest.mark.parametrize("route", sorted(RESTS_ON.keys() - {"gram-at-a-point"}))
def test_the_page_says_how_many_lines_that_are(route: str) -> None:
    lines = {file.stem: len(file.read_text().splitlines()) for file in FILES}
    total = sum(lines[name] for name in RESTS_ON[route])
    page = (Path(__file__).parents[3] / "docs" / "certificates.md").read_text()
    assert f"| {route} | {total} |" in page


def test_the_page_says_how_many_lines_a_confirmation_rests_on_at_most() -> None:
    """Proofs inside a proof have routes of their own: together they may need all parts."""
    parts = {file.stem: len(file.read_text().splitlines()) for file in FILES}
    own = parts.pop("__main__")
    assert set().union(*RESTS_ON.values()) == parts.keys()
    page = (Path(__file__).parents[3] / "docs" / "certificates.md").read_text()
    assert f"the checker, which is {sum(parts.values())} lines" in page
    assert f"`checker/__main__.py` ({own} lines)" in page


def _modules(tree: ast.AST) -> list[str]:
    found: list[str] = []
    for item in ast.walk(tree):
        found += [a.name for a in item.names] if isinstance(item, ast.Import) else []
        found += [item.module or ""] if isinstance(item, ast.ImportFrom) else []
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_share_no_code_with_the_provers_and_load_no_more_later(file: Path) -> None:
    """The first file alone may import by name, and only the parts that the routes above count."""
    own = {"dpverify.proving.checker", *(f"dpverify.proving.checker.{file.stem}" for file in FILES)}
    text = file.read_text()
    tree = ast.parse(text)
    assert max(map(len, text.splitlines())) <= 120
    for module in _modules(tree):
        assert module in own or module.split(".")[0] in {"cvc5", "mpmath", *sys.stdlib_module_names}, module
    if file.stem != "__init__":
        assert all(isinstance(item, ast.Import | ast.ImportFrom) or not _modules(item) for item in tree.body)
        assert not {"import_module", "__import__", "exec", "eval"} & {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
        }


def test_one_statement_a_line() -> None:
    """Few lines are no merit if they are crowded."""
    for file in FILES:
        for line in file.read_text().splitlines():
            assert not line.rstrip().endswith(";")
        tree = ast.parse(file.read_text())
        starts = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        assert len(starts) == len(set(starts)), file.name
