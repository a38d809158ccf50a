"""Rules of records hold of functions on a few whole numbers, and a planted fault does not."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from dpverify.proving.checker.theorems.language import Node, named, parts_of
from dpverify.proving.theorems.finite_models import FloatModel
from dpverify.statements.theorems.library import FOLDER
from dpverify.statements.theorems.pages import read_theorems

RULES = {one.id: one for one in read_theorems(FOLDER / "rules_data.md")}
LAST, TRIED, WANTED = 3, 400, 12
"""Functions are of 0, ..., 3, and differ at one of these at most; how many are tried of a rule, and how many fit."""


def value(table: Any, at: tuple[int, ...]) -> Any:
    found = table
    for k in at:
        found = found[int(k) % len(found)]
    return found


def letters(rule: Any, draw: random.Random) -> dict[str, Any]:
    """Values of a rule's letters; a second function is as the first but where one argument is k."""
    env, first, k = dict[str, Any](), dict[Any, Any](), draw.randint(0, LAST)
    for name, kinds, kind in map(parts_of, parts_of(parts_of(rule.clause.body)[1])):
        shown = rule.names[len(env)]
        if kinds and kind == "integer":
            table: Any = draw.sample(range(LAST + 1), LAST + 1)
        elif kinds:
            numbers = (
                (lambda: draw.choice([-1.0, 1.0])) if kind == "formula" else (lambda: draw.randint(-4, 4) / 4)
            )
            table = [numbers() for _ in range(LAST + 1)]
            if len(kinds) == 2:
                table = [[numbers() for _ in range(LAST + 1)] for _ in range(LAST + 1)]
            near = first.setdefault(kinds, table)
            if near is not table and draw.random() < 0.9:
                other = table
                table = [other[i] if i == k else near[i] for i in range(LAST + 1)]
                if len(kinds) == 2:
                    rows = range(LAST + 1)
                    table = [[other[i][j] if k in (i, j) else near[i][j] for j in rows] for i in rows]
        else:
            ends = {"m": 0, "n": LAST, "k": k, "l": draw.randint(0, LAST)}
            env[named(name)] = ends.get(shown, draw.choice([0.0, 0.25, 0.5, 1.0, 2.0, -1.0]))
            continue
        env[named(name)] = partial(value, table)
    return env


def failures(rule: Any, claim: Node) -> tuple[int, int]:
    """How often what a rule assumes was true, and how often its claim was then false."""
    _, _, premises, _ = parts_of(rule.clause.body)
    model, draw, seen, wrong = FloatModel({}, {}), random.Random(rule.id), 0, 0
    given, found = [model.margin(one) for one in parts_of(premises)], model.margin(claim)
    for _ in range(TRIED):
        env = letters(rule, draw)
        if all(one(env) >= 0 for one in given):
            seen += 1
            wrong += found(env) < -1e-9
        if seen == WANTED:
            break
    return seen, wrong


@pytest.mark.parametrize("id_", RULES)
def test_it_holds(id_: str) -> None:
    seen, wrong = failures(RULES[id_], parts_of(RULES[id_].clause.body)[3])
    assert seen > 3, "hardly any functions fit what is assumed"
    assert not wrong


@pytest.mark.parametrize(
    "id_", ["rule.pairs-differ", "rule.rests-near", "rule.largest-range", "rule.sum-linear"]
)
def test_less_is_false(id_: str) -> None:
    """With a smaller bound, or another sum."""
    head, left, right = parts_of(parts_of(RULES[id_].clause.body)[3])
    if head == "and":
        head, left, right = parts_of(right)
    less: Node = ("add", ("mul", ("num", "1/4"), right), ("num", "-1/8"))
    assert failures(RULES[id_], (head, left, less))[1] > 0
