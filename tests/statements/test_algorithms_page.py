"""The page about the algorithms names all of them, with where they are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from dpverify.statements.paper import loaded, papers

from ..algorithms.every_algorithm import ALGORITHMS, EVERY, N
from ..benchmarks.pages import with_tables

PAGE = Path(__file__).parents[2] / "docs" / "algorithms.md"


def test_every_algorithm_of_the_catalog_is_implemented() -> None:
    for paper in papers().values():
        rows = {row.id for row in paper.catalog if row.kind == "algorithm"}
        assert rows == set(paper.algorithms)


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run make pages"
    assert with_tables(text.replace("| stated |", "| |")) == text
    for paper in papers().values():
        assert all(f"\n| `{id_}` |" in text for id_ in paper.algorithms)


def test_a_promise_that_is_missing_has_a_reason() -> None:
    for id_ in ALGORITHMS:
        unstated = loaded(ALGORITHMS[id_]).unstated
        assert set(unstated) <= {"risk", "queries", "sampling error", "parameters", "weaker version"}
        assert all(len(reason.split()) > 2 for reason in unstated.values()), id_
        made = EVERY[id_]()
        found = {"risk": made.risk_bound(N), "queries": made.queries(N)}
        assert {name for name, stated in found.items() if not stated} == set(found) & set(unstated), id_


def test_each_says_its_id_and_the_statements_it_rests_on() -> None:
    known = {row.id for paper in papers().values() for row in paper.catalog}
    for paper in papers().values():
        for id_, path in paper.algorithms.items():
            module, _, name = path.partition(":")
            found = getattr(import_module(module), name)
            assert found.id == id_
            assert found.statements, id_
            assert set(found.statements) <= known, set(found.statements) - known
            assert "guarantee" in (found.__doc__ or "").lower(), id_
            assert hasattr(found, "guarantees"), id_
