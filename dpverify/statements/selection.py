"""Papers and statements that are chosen by a key, an id, or the path of someone's own pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.statements.own_pages import COLLECTIONS, opened
from dpverify.statements.paper import CatalogRow, Paper, papers, registered
from dpverify.statements.theorems.names import named_like

if TYPE_CHECKING:
    from dpverify.proving.language import Statement


def select(keys_or_ids: tuple[str, ...] = ()) -> Iterator[tuple[Paper, CatalogRow]]:
    """The catalog rows of the given papers and ids; all of them where none is given.

    A path of a page of one's own, or of a folder of them, stands for the paper that it makes, and `PATH#ID` for one of
    its statements.
    """
    wanted = set[str]()
    chosen: dict[str, Paper] = {}
    for name in keys_or_ids:
        require(isinstance(name, str), "id", name, "a paper's key or a catalog id")
        pages, _, id_ = name.partition("#")
        paper = opened(pages)
        if paper is not None and chosen.setdefault(paper.key, paper) is not paper:
            allowed = f"pages whose ids do not begin as others of this run do, with `{paper.key}`"
            raise InvalidArgumentError("page", name, allowed)
        wanted.add(id_ or (name if paper is None else paper.key))
    known = papers()
    ids = {row.id for paper in known.values() for row in paper.catalog}
    for name in wanted:
        if name not in known and name not in ids:
            allowed = "a Markdown page, whose name ends in .md, or papers and statement ids"
            require(not os.path.isfile(name), "id", name, allowed)
            near, keys = _near(name, [*ids, *named_like(name)]), ", ".join({**known, **COLLECTIONS})
            named = f"a paper's key, an id such as {near}" if near else f"a paper's key such as {keys}, an id"
            allowed = f"{named}, a Markdown page or folder, or `PAGE#ID`"
            raise InvalidArgumentError("id", name, allowed)
    for paper in known.values() if keys_or_ids else registered().values():
        for row in paper.catalog:
            if not keys_or_ids or row.id in wanted or paper.key in wanted:
                yield paper, row


def select_statements(keys_or_ids: tuple[str, ...] = ()) -> list[Statement]:
    """The encoded statements of the given papers and ids; all of them where none is given."""
    rows = list(select(keys_or_ids))
    wanted, chosen = {row.id for _, row in rows}, {paper.key: paper for paper, _ in rows}
    encoded = [s for paper in chosen.values() for s in paper.statements]
    found = [s for s in encoded if s.id in wanted]
    if not found:
        names = ", ".join(keys_or_ids)
        near = _near(names, [s.id for s in encoded])
        raise InvalidArgumentError("id", names, f"an id with formulas to prove{near and f', such as {near}'}")
    return found


def _near(name: str, among: list[str]) -> str:
    """Ids that are written much like a name; none where there are none."""
    return ", ".join(get_close_matches(name, among, n=4))


def find_statement(address: str) -> Statement | None:
    """The encoded statement with an id, or at `PATH#ID`; None if it is not encoded yet."""
    pages, _, id_ = address.rpartition("#")
    opened(pages or id_)
    for paper in papers().values():
        if any(row.id == id_ for row in paper.catalog):
            return paper.statement(id_)
    return None
