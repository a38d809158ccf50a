"""The routes of confirmations: which definitions of the checker each rests on, and how many lines these have.

`python -m tests.proving.checker.routes` prints the table of docs/certificates.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dpverify.proving import checker

PACKAGE = checker.__name__
FOLDER = Path(checker.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
Place = tuple[str, str]
"""A module's name, and that of a definition in it, such as `Reals.learn`."""


def module_of(file: Path) -> str:
    """A file's name as a module of the checker."""
    return ".".join(file.relative_to(FOLDER).with_suffix("").parts)


def file_of(module: str) -> Path:
    """Where a module of the checker stands."""
    return FOLDER / f"{module.replace('.', '/')}.py"


HANDED_ON: dict[str, frozenset[Place]] = {
    "certificate": frozenset({("__init__", "settle"), ("__init__", "confirm")}),
    "point": frozenset({("__init__", "meet")}),
    "consequence": frozenset({("__init__", "follow")}),
    "question": frozenset({("arithmetic.questions", "contradict")}),
    "entailment": frozenset({("theorems.arithmetic", "entail"), ("theorems.arithmetic", "show_defined")}),
    "value": frozenset({("theorems.numbers", "folded")}),
    "circle": frozenset({("intervals", "sine"), ("intervals", "cosine")}),
    "comparison": frozenset({("theorems.numbers", "compared"), ("theorems.outcomes", "same")}),
    "all numbers": frozenset({("theorems.numbers", "for_numbers")}),
    "guarantee": frozenset({("theorems.divergences", "guarantee")}),
    "cells": frozenset({("theorems.cells", "cells_of"), ("theorems.cells", "fails")}),
    "line": frozenset(
        {
            *(("theorems.lines", name) for name in ("shifted", "mean", "chance", "integrable", "plane")),
            ("theorems.outcomes", "image"),
            ("theorems.cells", "by_cases"),
        }
    ),
    "event": frozenset(("theorems.events", name) for name in ("law_of_image", "bounded", "for_letters")),
    "letter": frozenset({("theorems.letters", "letters_of"), ("theorems.letters", "on_the_line")}),
    "law": frozenset(
        ("theorems.outcomes", name)
        for name in ("total", "settled", "gathered", "chance_of", "mixed", "blended", "pair_of_laws")
    ),
    "definition": frozenset({("theorems.letters", "definition"), ("theorems.language", "free")}),
    "choice": frozenset({("theorems.choices", "masses_of")}),
}
"""Statements that are confirmed by themselves, and what asks for that."""
CERTIFICATE = [("__init__", "check"), ("__init__", "confirm"), ("__init__", "settle")]
ENTRIES: dict[str, list[Place]] = {
    **{kind: [*CERTIFICATE, (kind, "show")] for kind in dict.fromkeys(checker.PARTS.values())},
    "point": [("points", "meet")],
    "consequence": [("arithmetic.consequences", "follow")],
    "question": [("arithmetic.questions", "contradict")],
    "theorem": [("__init__", "check"), ("__init__", "confirm"), ("theorems.steps", "show")],
    "entailment": [("theorems.arithmetic", "entail"), ("theorems.arithmetic", "show_defined")],
    "model": [("theorems.models", "show")],
    "value": [("theorems.numbers", "folded")],
    "circle": [("intervals", "sine"), ("intervals", "cosine")],
    "comparison": [("theorems.outcomes", "same"), ("theorems.numbers", "compared")],
    "all numbers": [("theorems.numbers", "for_numbers")],
    "guarantee": [("theorems.divergences", "guarantee")],
    "cells": [("theorems.cells", "cells_of"), ("theorems.cells", "fails")],
    "line": [
        ("theorems.outcomes", "image"),
        ("theorems.cells", "by_cases"),
        *(("theorems.lines", name) for name in ("shifted", "mean", "integrable", "chance", "plane")),
    ],
    "event": [("theorems.events", name) for name in ("law_of_image", "bounded", "for_letters")],
    "letter": [("theorems.letters", "on_the_line"), ("theorems.letters", "letters_of")],
    "law": [
        ("theorems.outcomes", name)
        for name in ("total", "settled", "gathered", "chance_of", "mixed", "blended", "pair_of_laws")
    ],
    "definition": [("theorems.language", "free"), ("theorems.letters", "definition")],
    "choice": [("theorems.choices", "masses_of")],
}


@dataclass
class Definition:
    """A function, a class without its methods, or a name's value; making and calling its objects is the class's."""

    nodes: list[ast.AST] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)

    def add(self, node: ast.stmt, less: Iterable[int] = ()) -> None:
        """Another piece of it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        self.nodes.append(node)
        self.lines |= {*range(first, (node.end_lineno or first) + 1)} - {*less}


@cache
def definitions() -> dict[Place, Definition]:
    """All definitions of the checker."""
    found: dict[Place, Definition] = {}
    for file in FILES:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef):
                own = Definition()
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                for method in methods:
                    if method.name in ("__init__", "__post_init__", "__call__"):
                        own.nodes.append(method)
                    else:
                        found.setdefault((module_of(file), f"{node.name}.{method.name}"), Definition()).add(
                            method
                        )
                apart = [d.lines for place, d in found.items() if place[1].startswith(f"{node.name}.")]
                own.add(node, set().union(*apart) if methods else ())
                own.nodes[-1:] = [
                    *node.bases,
                    *node.decorator_list,
                    *(p for p in node.body if p not in methods),
                ]
                found[module_of(file), node.name] = own
            elif isinstance(node, ast.FunctionDef):
                found.setdefault((module_of(file), node.name), Definition()).add(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in (
                    part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
                ):
                    found.setdefault((module_of(file), name), Definition()).add(node)
    return found


@cache
def imported(module: str) -> dict[str, Place]:
    """What names in a module are in others of the checker; for a module itself, the definition's name is empty."""
    found: dict[str, Place] = {}
    for node in ast.parse(file_of(module).read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            source = (node.module or "").removeprefix(PACKAGE).strip(".") or "__init__"
            for alias in node.names:
                inner = alias.name if source == "__init__" else f"{source}.{alias.name}"
                found[alias.asname or alias.name] = (
                    (inner, "") if file_of(inner).exists() else (source, alias.name)
                )
    return found


def used(module: str, node: ast.AST) -> tuple[set[Place], set[str]]:
    """The definitions that a piece of code names, and the attributes that it uses."""
    names, attributes = set[Place](), set[str]()
    known = imported(module)
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names.add(known.get(part.id, (module, part.id)))
        if isinstance(part, ast.Constant) and str(part.value).endswith(".py"):
            # what runs as a process of its own is named as a file
            names.add((f"{module.rpartition('.')[0]}.{str(part.value)[:-3]}", "serve"))
        if isinstance(part, ast.Attribute):
            attributes.add(part.attr)
            if isinstance(part.value, ast.Name) and part.value.id in known:
                names.add((known[part.value.id][0], part.attr))
    return names, attributes


def route(entries: Iterable[Place], ends: frozenset[Place] = frozenset()) -> tuple[set[Place], set[Place]]:
    """All definitions that are reached from some, and the ends that are, beyond which nothing is looked at.

    A method is reached if its class is and its name is used anywhere on the route, whatever it is used on.
    """
    known, left = definitions(), [*entries]
    found, attributes, asked = set[Place](), set[str](), set[Place]()
    while left:
        while left:
            place = left.pop()
            if place in ends and place not in entries:
                asked.add(place)
            elif place in known and place not in found:
                found.add(place)
                for node in known[place].nodes:
                    names, more = used(place[0], node)
                    left += names
                    attributes |= more
        methods = ((m, f"{c}.{attribute}") for m, c in found if "." not in c for attribute in attributes)
        left = [place for place in methods if place in known and place not in found]
    return found, asked


@dataclass(frozen=True)
class Route:
    """What the confirmation of a kind of statement rests on, up to the statements that it hands on."""

    kind: str
    places: frozenset[Place]
    hands_on: tuple[str, ...]

    @property
    def lines(self) -> int:
        """The lines of its definitions, docstrings and comments among them."""
        return lines(self.places)


@cache
def written(module: str) -> frozenset[int]:
    """The lines of a module on which something stands."""
    text = file_of(module).read_text().splitlines()
    return frozenset(i for i, line in enumerate(text, 1) if line.strip())


def lines(places: Iterable[Place]) -> int:
    """The lines of definitions, but for blank ones."""
    return len({(m, line) for m, name in places for line in definitions()[m, name].lines & written(m)})


@cache
def routes() -> dict[str, Route]:
    """The routes of all kinds of statements."""
    found, ends = {}, frozenset[Place]().union(*HANDED_ON.values())
    for kind, entries in ENTRIES.items():
        asked = route(entries[-1:], ends - HANDED_ON.get(kind, frozenset()))[1]
        hands_on = [name for name, at in HANDED_ON.items() if at & asked]
        if kind in checker.WITNESSED:
            hands_on.append("point")
        found[kind] = Route(kind, frozenset(route(entries, ends)[0]), tuple(hands_on))
    return found


def everything(kind: str) -> set[Place]:
    """A route with the routes of all that it hands on, and of what these hand on."""
    found, left = set[str](), [kind]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            for part in routes()[name].hands_on:
                left += dict.fromkeys(checker.PARTS.values()) if part == "certificate" else [part]
    return set().union(*(routes()[name].places for name in found))


def table() -> str:
    """The table of docs/certificates.md."""
    rows = ["| statement | lines | hands on | lines with that | methods |", "| --- | --- | --- | --- | --- |"]
    for kind, found in routes().items():
        methods = ", ".join(f"`{method}`" for method, part in checker.PARTS.items() if part == kind)
        hands_on = ", ".join(found.hands_on)
        rows.append(f"| {kind} | {found.lines} | {hands_on} | {lines(everything(kind))} | {methods} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
