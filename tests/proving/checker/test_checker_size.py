"""What a certificate's confirmation rests on is small, and is no prover's code."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from dpverify.proving import checker
from dpverify.proving.checker import intervals, terms

from . import hand_certificates, hand_existence
from .routes import (
    ENTRIES,
    FILES,
    FOLDER,
    HANDED_ON,
    Place,
    definitions,
    everything,
    module_of,
    routes,
    table,
)

Json = Any
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


LIMIT = 676  # the kernel of HOL Light
PAGE = (Path(__file__).parents[3] / "docs" / "certificates.md").read_text()


@pytest.mark.parametrize("kind", ENTRIES)
def test_no_route_is_longer_than_the_kernel_of_hol_light(kind: str) -> None:
    assert 0 < routes()[kind].lines <= LIMIT


def test_the_page_has_the_table_of_routes() -> None:
    assert table() in PAGE, f"docs/certificates.md needs this table:\n{table()}"
    total = sum(len(file.read_text().splitlines()) for file in FILES)
    assert f"the checker, which is {total} lines" in PAGE


def test_every_definition_is_on_a_route() -> None:
    asked = {place for places in HANDED_ON.values() for place in places}
    reached = frozenset[Place]().union(*(found.places for found in routes().values()), asked)
    assert definitions().keys() - reached == {("__main__", "main")}


def certificate_of(claim: Json, verdict: str, proof: Json) -> Json:
    """A certificate about x, and a vector if there is one in the claim."""
    vectors = [{**VARIABLE, "name": "v", "kind": "vector", "lower": None, "upper": None}]
    variables = [VARIABLE, *(vectors if V in walked(claim) else [])]
    return {
        "version": 1,
        "problem": {"variables": variables, "assuming": [], "claim": claim},
        "verdict": verdict,
        "proof": proof,
        "witness": {"x": "1", "v": "(0, 0)"} if len(variables) > 1 else {"x": "1"},
    }


def walked(value: Json) -> list[Json]:
    """All lists in a list."""
    return [value, *(part for one in value for part in walked(one))] if isinstance(value, list) else []


HAND = hand_certificates.TRUE | hand_existence.TRUE
CERTIFICATES = {name: certificate_of(*given) for name, given in ROUTES.items()} | {
    name: HAND[name] for name in HAND.keys() - hand_certificates.BEYOND.keys()
}


def entered(certificate: Json) -> set[Place]:
    """The definitions that a confirmation goes through, as the interpreter sees them."""
    codes = set[CodeType]()
    for kept in (
        terms.plain,
        terms.slope,
        terms.names,
        terms.heads,
        intervals.bounds,
        intervals.phi,
        intervals.peak,
    ):
        kept.cache_clear()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and FOLDER in Path(frame.f_code.co_filename).parents:
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        found = checker.check(certificate)
    finally:
        sys.setprofile(None)
    assert found.confirmed, found
    places = set[Place]()
    for code in codes:
        name = code.co_qualname.split(".<locals>")[0].removesuffix(".__init__").removesuffix(".__post_init__")
        places.add((module_of(Path(code.co_filename)), name))
    return {(module, name) for module, name in places if not name.startswith("<")}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(CERTIFICATES))
def test_a_confirmation_goes_nowhere_but_along_its_route(name: str) -> None:
    """Up to the statements that it hands on, and along the routes of these."""
    kind = checker.PARTS[CERTIFICATES[name]["proof"]["method"]]
    inside = {kind, *routes()[kind].hands_on} - {"certificate"}
    if "certificate" not in routes()[kind].hands_on:
        while (more := inside.union(*(routes()[one].hands_on for one in inside))) != inside:
            inside = more
        may = set[Place]().union(*(routes()[one].places for one in inside))
    else:
        may = everything(kind)
    asked = {place for places in HANDED_ON.values() for place in places}
    through = {place for place in entered(CERTIFICATES[name]) if place in definitions()}
    assert through - asked <= may
    assert ("__init__", "check") in through


@pytest.mark.parametrize("name", ROUTES)
def test_a_confirmation_loads_nothing_of_the_package_but_the_checker(name: str) -> None:
    """In a fresh process; the two packages' own files apart, and what finds their names."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(CERTIFICATES[name]),
        capture_output=True,
        text=True,
        check=True,
    )
    confirmed, loaded = done.stdout.splitlines()
    assert confirmed == "True"
    modules = {module: Path(file) for module, file in ast.literal_eval(loaded)}
    packages = {"dpverify", "dpverify.proving", "dpverify.stubs"}
    assert packages < modules.keys()
    assert all(FOLDER in file.parents for module, file in modules.items() if module not in packages)


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_all_is_typed_and_nothing_is_any(file: Path) -> None:
    tree = ast.parse(file.read_text())
    assert not {"Any", "cast"} & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not [
        node for node in ast.walk(tree) if isinstance(node, ast.alias) and node.name in ("Any", "typing")
    ]
    assert "type: ignore" not in file.read_text()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert node.returns is not None, node.name
            given = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            untyped = [one.arg for one in given if one is not None and one.annotation is None]
            assert untyped in ([], ["self"]), node.name


def _is_import(item: ast.stmt) -> bool:
    """At the top; of a module that not all systems have, under a suppressed ImportError."""
    if isinstance(item, ast.With) and [ast.unparse(one) for one in item.items] == ["suppress(ImportError)"]:
        return all(isinstance(one, ast.Import) for one in item.body)
    return isinstance(item, ast.Import | ast.ImportFrom)


def _modules(tree: ast.AST) -> list[str]:
    found: list[str] = []
    for item in ast.walk(tree):
        found += [a.name for a in item.names] if isinstance(item, ast.Import) else []
        found += [item.module or ""] if isinstance(item, ast.ImportFrom) else []
    return found


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_files_share_no_code_with_the_provers_and_load_no_more_later(file: Path) -> None:
    """The first file alone may import by name, and only the parts that the routes above count."""
    own = {
        "dpverify.proving.checker",
        "dpverify.proving.checker.arithmetic",
        *(f"dpverify.proving.checker.{module_of(file)}" for file in FILES),
    }
    text = file.read_text()
    tree = ast.parse(text)
    assert max(map(len, text.splitlines())) <= 120
    for module in _modules(tree):
        assert module in own or module.split(".")[0] in {"cvc5", "mpmath", *sys.stdlib_module_names}, module
    if module_of(file) != "__init__":
        assert all(_is_import(item) or not _modules(item) for item in tree.body)
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
