"""The page about the algorithms names all of them, with where they are."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from dpverify.statements.paper import papers

from ..algorithms.every_algorithm import EVERY, N

PAGE = Path(__file__).parents[2] / "docs" / "algorithms.md"


def test_every_algorithm_of_the_catalog_is_implemented() -> None:
    for paper in papers().values():
        rows = {row.id for row in paper.catalog if row.kind == "algorithm"}
        assert rows == set(paper.algorithms)
    assert sum(len(paper.algorithms) for paper in papers().values()) == 34


def test_the_page_lists_them_as_they_are() -> None:
    listed = dict(re.findall(r"^\| `([^`]+)` \|[^|]*\| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.M))
    assert listed == {
        id_: path.removeprefix("dpverify.")
        for paper in papers().values()
        for id_, path in paper.algorithms.items()
    }


def test_the_table_of_promises_is_what_they_state() -> None:
    """Computed on one small instance of each; a cell without a promise gives a reason."""
    rows = re.findall(r"^\| `([^`]+)` \| ([^|`]+) \| ([^|`]+) \| ([^|`]+) \|$", PAGE.read_text("utf-8"), re.M)
    assert [id_ for id_, *_ in rows] == [id_ for paper in papers().values() for id_ in paper.algorithms]
    for id_, *cells in rows:
        algorithm = EVERY[id_]()
        found = algorithm.risk_bound(N), algorithm.queries(N), algorithm.sampling_error(N)
        assert [cell == "stated" for cell in cells] == [bool(one) for one in found], id_
        assert all(cell == "stated" or len(cell.split()) > 2 for cell in cells), id_


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
