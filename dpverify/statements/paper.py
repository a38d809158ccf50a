"""What a paper is to this program, and how papers are found.

A paper is a `Paper` object behind an entry point of the group `dpverify.papers`; those of this repository are
registered like anyone else's.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpverify.algorithms.listing import algorithms_of
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.entries import NAMED_RESULT, ErratumEntry, NamedResult
from dpverify.ledger.headlines.roots import cycle
from dpverify.ledger.names import bare, paper_of
from dpverify.statements.errata import of_paper
from dpverify.statements.instances import instances_of
from dpverify.statements.inventory import (
    ListedDisplay,
    ListedSentence,
    literature,
    own_table,
    read_displays,
    read_sentences,
)

if TYPE_CHECKING:
    from dpverify.proving.instances.instance import Instance
    from dpverify.proving.language import Statement
    from dpverify.statements.plans import Plan


@dataclass(frozen=True)
class CatalogRow:
    """One numbered thing of a paper: an algorithm or a statement."""

    id: str
    kind: str
    where: str
    title: str
    of: str = ""
    """The paper's key, where the id does not begin with it."""

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.of or paper_of(self.id)


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
    results: tuple[NamedResult, ...] = ()
    """Results of the literature that its statements rest on, beside those of the literature's pages."""
    errata: Mapping[str, tuple[ErratumEntry, ...]] = field(default_factory=dict)
    """Id to corrections that a test or an audit computes."""
    displays: tuple[ListedDisplay, ...] = ()
    """The inventory of its displays and inline relations, in its order."""
    sentences: tuple[ListedSentence, ...] = ()
    """The inventory of what its statements say in words, in its order."""
    instances: Mapping[str, tuple[Instance, ...]] | None = None
    """Id to what refutes it. A paper that keeps instances has no statement refuted without one; None: it keeps none."""

    def __post_init__(self) -> None:
        named = [*(s.id for s in self.statements), *self.algorithms, *(p.subject for p in self.plans)]
        listed = (*(d.statement for d in self.displays), *(s.statement for s in self.sentences))
        self._check((*named, *self.errata, *listed))

    def _check(self, ids: Iterable[str]) -> None:
        known = {row.id for row in self.catalog}
        for name in ids:
            require(name in known, f"id in paper {self.key}", name, "ids of the paper's catalog")

    def statement(self, id_: str) -> Statement | None:
        """The statement with an id; None if it is not encoded."""
        return next((s for s in self.statements if s.id == id_), None)

    @property
    def named(self) -> str:
        """Its title and, where they are known, its authors."""
        return f"{self.title} ({self.authors})" if self.authors else self.title

    def address(self, id_: str) -> str:
        """What a command is given, or another process, to find a statement."""
        return id_

    def rest_on(self, id_: str) -> tuple[str, ...]:
        """The ids of its algorithms that rest on a statement."""
        return tuple(
            name for name, path in self.algorithms.items() if id_ in getattr(loaded(path), "statements", ())
        )

    def plans_about(self, ids: Collection[str]) -> tuple[Plan, ...]:
        """The audits of algorithms and statements with these ids."""
        return tuple(plan for plan in self.plans if plan.subject in ids)


def loaded(path: str) -> Any:
    """What an import path `module:name` leads to."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class PaperFolder(Paper):
    """A paper of this repository, whose parts are found where they belong and loaded when they are asked for.

    Under one key: algorithms.csv of `dpverify.algorithms.KEY` lists its algorithms; its statements stand on
    the Markdown pages in the folder of `dpverify.statements.KEY`, each under a heading with its id; and the rows of
    audits.csv beside them are the audits of its algorithms.
    """

    def __init__(self, key: str, title: str, authors: str) -> None:
        self.__dict__.update(key=key, title=title, authors=authors, catalog=own_catalog(key))

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The statements encoded so far, in the order of the catalog."""
        from dpverify.statements.pages import statements_on

        files = dict.fromkeys(self.pages.values())
        found = {s.id: s for s in statements_on(tuple(files))}
        return tuple(found[row.id] for row in self.catalog if row.id in found)

    @cached_property
    def pages(self) -> Mapping[str, Path]:
        """The id of each encoded statement, and the page on which it stands."""
        from dpverify.statements.pages import SHARED, ids_on

        files = sorted(file for file in self.folder.glob("*.md") if file.name != SHARED)
        found = {id_: file for file in files for id_ in ids_on(_text(file))}
        self._check(found)
        return found

    @cached_property
    def errata(self) -> Mapping[str, tuple[ErratumEntry, ...]]:
        """Corrections of statements that no formula is encoded for."""
        found = of_paper(self.key)
        self._check(found)
        return found

    @cached_property
    def displays(self) -> tuple[ListedDisplay, ...]:
        """The rows of displays.csv beside its statements."""
        found = read_displays(self.folder / "displays.csv")
        self._check({d.statement for d in found})
        return found

    @cached_property
    def sentences(self) -> tuple[ListedSentence, ...]:
        """The rows of sentences.csv beside its statements."""
        found = read_sentences(self.folder / "sentences.csv")
        self._check({s.statement for s in found})
        return found

    @cached_property
    def instances(self) -> Mapping[str, tuple[Instance, ...]]:
        """Those of `dpverify.statements.instances.KEY`."""
        found: Mapping[str, tuple[Instance, ...]] = instances_of(self.key)
        self._check(found)
        return found

    @cached_property
    def algorithms(self) -> Mapping[str, str]:
        """Algorithm id to import path, in the paper's order."""
        return {one.id: one.place for one in algorithms_of(self.key)}

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The audits of the algorithms, in their order."""
        from dpverify.statements.audit_rows import table

        found = table(f"dpverify.statements.{self.key}", algorithms_of(self.key))
        self._check(plan.subject for plan in found)
        return found

    def rest_on(self, id_: str) -> tuple[str, ...]:
        """The same; an algorithm is loaded only where its file does not list what it rests on."""
        return tuple(name for name, path in self.algorithms.items() if id_ in _rests_on(path, id_))

    def plans_about(self, ids: Collection[str]) -> tuple[Plan, ...]:
        """The same; audits are loaded only if an algorithm of the paper has one of these ids, or rests on one."""
        if any(id_ in self.algorithms or self.rest_on(id_) for id_ in ids):
            return super().plans_about(ids)
        return ()

    @property
    def folder(self) -> Path:
        """Where its statements are."""
        return folder_of(f"dpverify.statements.{self.key}")


class Literature(PaperFolder):
    """Named results of the literature as statements: some proved, some cited; nothing else is about them.

    Their ids have no paper before them. They stand on the pages of `dpverify.statements.KEY`, and are listed with what
    they say and their sources in catalog.csv there.
    """

    algorithms: Mapping[str, str] = {}
    errata: Mapping[str, tuple[ErratumEntry, ...]] = {}
    plans: tuple[Plan, ...] = ()
    displays: tuple[ListedDisplay, ...] = ()
    sentences: tuple[ListedSentence, ...] = ()
    instances: Mapping[str, tuple[Instance, ...]] = {}

    def __init__(self, key: str, title: str) -> None:
        rows = (CatalogRow(one.id, NAMED_RESULT, one.source, one.title, key) for one in literature())
        self.__dict__.update(key=key, title=title, authors="", catalog=tuple(rows))


def file_name(path: str) -> str:
    """The name that an algorithm shares with its tests."""
    return path.partition(":")[0].rpartition(".")[2]


def folder_of(package: str) -> Path:
    """Where a package is."""
    return _origin(package).parent


def _origin(module: str) -> Path:
    """A module's file; the module is not loaded, its package is."""
    spec = find_spec(module)
    return Path(str(spec.origin if spec is not None else None))


def _rests_on(path: str, id_: str) -> tuple[str, ...]:
    """What an algorithm rests on, as far as that may be an id: nothing where the id is not named in its file."""
    module, _, name = path.partition(":")
    file = _origin(module)
    if f'"{id_}"' not in _text(file):
        return ()
    for node in _tree(file).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for line in node.body:
                if (
                    isinstance(line, ast.AnnAssign)
                    and ast.unparse(line.target) == "statements"
                    and line.value
                ):
                    with suppress(ValueError):  # not written out here
                        return tuple(ast.literal_eval(line.value))
    found: tuple[str, ...] = getattr(loaded(path), "statements", ())
    return found


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(_text(file))


def own_catalog(key: str) -> tuple[CatalogRow, ...]:
    """A paper's algorithms, and the rows of this package's catalog file that belong to it."""
    algorithms = (CatalogRow(one.id, "algorithm", one.where, one.title) for one in algorithms_of(key))
    statements = (CatalogRow(**row) for row in own_table("catalog.csv"))
    return (*algorithms, *(row for row in statements if row.paper == key))


opened_pages: dict[str, tuple[object, Paper]] = {}
"""Papers that are read from someone's own pages, by the path of these, each with what changes with them."""


def papers() -> Mapping[str, Paper]:
    """Every paper by key: those that are registered, sorted, and those that were opened."""
    return {**registered(), **{paper.key: paper for _, paper in opened_pages.values()}}


broken: dict[str, str] = {}
"""What was registered as a paper and is none, by the name of its entry point, with the reason."""


@cache
def registered() -> Mapping[str, Paper]:
    """Every registered paper by key, sorted; what cannot be loaded is left out, and is among `broken`."""
    found: dict[str, Paper] = {}
    others: list[tuple[EntryPoint, Paper]] = []
    points = sorted(entry_points(group="dpverify.papers"), key=lambda p: p.name)
    for point in sorted(points, key=lambda p: not p.value.startswith(f"{__package__}.")):
        try:
            paper = point.load()
            require(
                isinstance(paper, Paper), f"entry point {point.name}", type(paper).__name__, "a Paper object"
            )
            require(paper.key not in found, "key", paper.key, "one that no other paper has")
        except Exception as error:  # whatever somebody else's module does
            broken[point.name] = _why(point, error)
            continue
        found[paper.key] = paper
        if not isinstance(paper, PaperFolder):  # those of this repository are checked by its tests
            others.append((point, paper))
    for point, paper in others:
        try:
            check_uses([paper, *_used(paper, found.values())], of=[paper])
        except InvalidArgumentError as error:
            broken[point.name] = _why(point, error)
            del found[paper.key]
    return dict(sorted(found.items()))


def named_by(paper: Paper) -> set[str]:
    """The ids of all that its statements use."""
    return {
        bare(name)
        for s in paper.statements
        for name in (*s.uses, *(n for part in s.parts for n in part.uses))
    }


def with_some_of(names: Set[str], among: Iterable[Paper]) -> list[Paper]:
    """Those of these papers in which some of these ids are."""
    of = [
        (paper, (*(row.id for row in paper.catalog), *(one.id for one in paper.results))) for paper in among
    ]
    return [paper for paper, ids in of if not names.isdisjoint(ids)]


def _used(paper: Paper, among: Iterable[Paper]) -> list[Paper]:
    """The others of these papers, and the collections of this package, on which a paper rests."""
    from dpverify.statements.own_pages import COLLECTIONS, HERE, pages_at

    names = named_by(paper)
    collections = sorted(COLLECTIONS.keys() & set(map(paper_of, names)))
    others = with_some_of(names, (other for other in among if other is not paper))
    return [*others, *(pages_at(HERE / key) for key in collections)]


def _why(point: EntryPoint, error: Exception) -> str:
    where = f"{point.value} of {point.dist.name} {point.dist.version}" if point.dist else point.value
    return f"{where}: {type(error).__name__}: {error}"


def named_results(among: Iterable[Paper] | None = None) -> Mapping[str, NamedResult]:
    """The results of the literature by id: this package's own, and those of the papers."""
    known = papers().values() if among is None else among
    return {r.id: r for r in (*literature(), *(r for paper in known for r in paper.results))}


def check_uses(among: Iterable[Paper], of: Collection[Paper] | None = None) -> None:
    """Refuse statements, those of some papers or of all, that rest on what nobody knows or on themselves."""
    known = tuple(among)
    rows = {row.id for paper in known for row in paper.catalog}
    statements = {s.id: s for paper in known for s in paper.statements}
    obligations = {
        f"{s.id}/{part.name}": part
        for s in statements.values()
        for part in reversed(s.parts)  # of two with the same name, the printed one
    }
    names = rows | set(named_results(known)) | set(obligations)
    for s in statements.values() if of is None else [s for paper in of for s in paper.statements]:
        for name in (*s.uses, *(name for part in s.parts for name in part.uses)):
            allowed = "ids of catalogs or named results, or STATEMENT/OBLIGATION"
            require(name in names, f"uses of statement {s.id}", name, allowed)
    for graph in (
        {s.id: tuple(map(bare, s.rests_on)) for s in statements.values()},
        {
            name: tuple(n for n in o.uses if bare(n) == bare(name) and n in obligations)
            for name, o in obligations.items()
        },
    ):
        circle = cycle(graph)
        require(not circle, "uses", " -> ".join(circle), "statements that do not rest on themselves")


def address_of(statement_id: str) -> str:
    """Where a statement is found by any process."""
    paper = papers().get(statement_id.partition(".")[0])
    return statement_id if paper is None else paper.address(statement_id)
