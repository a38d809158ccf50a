"""What a paper is to this program, and how papers are found.

A paper is a `Paper` object behind an entry point of the group `dpverify.papers`; those of this repository are
registered like anyone else's.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import entry_points

from dpverify.errors import InvalidArgumentError
from dpverify.proving.language import Statement
from dpverify.statements.plans import Plan


@dataclass(frozen=True)
class CatalogRow:
    """One numbered thing of a paper: an algorithm or a statement."""

    id: str
    kind: str
    where: str
    title: str

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.id.split(".", 1)[0]


@dataclass(frozen=True)
class Paper:
    """A paper: its catalog, the statements encoded so far, its implemented algorithms, its audit plans."""

    key: str
    title: str
    authors: str
    catalog: tuple[CatalogRow, ...]
    statements: tuple[Statement, ...] = ()
    algorithms: Mapping[str, str] = field(default_factory=dict)
    """Algorithm id to import path, `module:Class`."""
    plans: tuple[Plan, ...] = ()

    def __post_init__(self) -> None:
        known = {row.id for row in self.catalog}
        for name in [*(s.id for s in self.statements), *self.algorithms, *(p.subject for p in self.plans)]:
            if name not in known:
                raise InvalidArgumentError(f"id in paper {self.key}", name, "ids of the paper's catalog")


def own_catalog(key: str) -> tuple[CatalogRow, ...]:
    """The rows of this package's catalog file that belong to one paper."""
    text = resources.files("dpverify.statements").joinpath("catalog.csv").read_text(encoding="utf-8")
    rows = (CatalogRow(**row) for row in csv.DictReader(text.splitlines()))
    return tuple(row for row in rows if row.paper == key)


@cache
def papers() -> Mapping[str, Paper]:
    """Every registered paper by key, sorted."""
    found = {}
    for point in sorted(entry_points(group="dpverify.papers"), key=lambda p: p.name):
        paper = point.load()
        if not isinstance(paper, Paper):
            raise InvalidArgumentError(f"entry point {point.name}", type(paper).__name__, "a Paper object")
        found[paper.key] = paper
    return found


def select(keys_or_ids: tuple[str, ...] = ()) -> Iterator[tuple[Paper, CatalogRow]]:
    """The catalog rows of the given papers and ids; all of them where none is given."""
    known = papers()
    ids = {row.id for paper in known.values() for row in paper.catalog}
    for name in keys_or_ids:
        if not isinstance(name, str):
            raise InvalidArgumentError("id", name, "a paper's key or a catalog id")
        if name not in known and name not in ids:
            near = ", ".join(sorted(i for i in ids if name.split(".")[0] in i)[:4]) or ", ".join(known)
            raise InvalidArgumentError("id", name, f"a paper's key or a catalog id such as {near}")
    for paper in known.values():
        for row in paper.catalog:
            if not keys_or_ids or row.id in keys_or_ids or paper.key in keys_or_ids:
                yield paper, row


def find_statement(statement_id: str) -> Statement | None:
    """The encoded statement with this id, None if it is not encoded yet."""
    for paper in papers().values():
        for statement in paper.statements:
            if statement.id == statement_id:
                return statement
    return None
