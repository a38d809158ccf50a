"""Pages as a paper, where no paper is registered for them: someone's own, and the collections of this package.

Whatever can be asked of a registered paper can be asked of it: commands take the path of the page or of the folder
where they take a paper's key. A collection is a folder of pages beside this file. It has a key as papers have, and is
read when it, or one of its statements, is named; what is asked of all papers is not asked of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dpverify.algorithms.listing import algorithms_in
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.names import paper_of
from dpverify.ledger.verdicts import Variant
from dpverify.statements.paper import (
    CatalogRow,
    Paper,
    PaperFolder,
    broken,
    check_uses,
    folder_of,
    loaded,
    named_by,
    opened_pages,
    papers,
    registered,
    with_some_of,
)

if TYPE_CHECKING:
    from dpverify.statements.plans import Plan

COLLECTIONS = {"textbook": "Classic displays of the field"}
"""Key and title of each collection."""
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class OwnPaper(Paper):
    """A paper that is read from pages."""

    path: Path = field(default=Path(), kw_only=True)
    """Of the page, or of the folder."""
    lines: dict[tuple[str, str, Variant], tuple[Path, int]] = field(default_factory=dict, kw_only=True)
    """Where its formulas stand: page and line of each, by statement, name and variant."""
    unread: tuple[str, ...] = field(default=(), kw_only=True)
    """What of the prose of its pages was not read, a line each."""

    def address(self, id_: str) -> str:
        """The path of its pages, and the id; of a collection, the id."""
        return id_ if self.key in COLLECTIONS else f"{self.path.resolve()}#{id_}"


def _is_path(name: str) -> bool:
    """Whether a name is one of a page or of a folder of pages, and of no registered paper or collection."""
    known = name in registered() or name in COLLECTIONS
    return not known and (name.endswith(".md") or os.path.isdir(name))


def _place_of(name: str) -> Path | None:
    """Where the pages are that have to be read for a name."""
    if _is_path(name):
        return Path(name)
    return HERE / paper_of(name) if paper_of(name) in COLLECTIONS else None


def _stamp(path: Path) -> object:
    """Changes with the pages of a path."""
    files = [*path.parent.glob("letters.md"), path] if path.is_file() else sorted(path.glob("*.md"))
    return tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


def pages_at(path: Path) -> OwnPaper:
    """A page, or the pages of a folder, as a paper of which nothing is held against others.

    The statement of a page without ids has the page's name for one; in a folder, with the folder's name before it. What
    stands before the first dot of its ids is the paper's key.
    """
    from dpverify.statements.pages import SHARED, read_page

    folder = path.is_dir()
    files = sorted(file for file in path.glob("*.md") if file.name != SHARED) if folder else [path]
    require(files, "folder", str(path), "one with Markdown pages in it")
    prefix = path.resolve().name if folder else ""
    at_once = path.resolve() not in [
        HERE / key for key in COLLECTIONS
    ]  # which the tests read with both readers
    pages = [(file, read_page(file, at_once=at_once, prefix=prefix)) for file in files]
    statements = [statement for _, page in pages for statement in page.statements]
    ids = [statement.id for statement in statements]
    twice = next((id_ for id_ in ids if ids.count(id_) > 1), None)
    require(twice is None, "id", twice, "one page for each statement")
    key = ids[0].partition(".")[0]
    for id_ in ids:
        if id_.partition(".")[0] != key:
            raise InvalidArgumentError(
                "id", id_, f"ids that begin with `{key}.`, as others of these pages do"
            )
    return OwnPaper(
        key=key,
        title=pages[0][1].title if len(pages) == 1 else COLLECTIONS.get(key, path.resolve().name),
        authors="",
        catalog=tuple(CatalogRow(s.id, "statement", s.where, s.title) for s in statements),
        statements=tuple(statements),
        path=path,
        lines={name: (file, line) for file, page in pages for name, line in page.lines.items()},
        unread=tuple(f"{page.name}: {page.summary()}" for _, page in pages if page.unread),
    )


class PackagePaper(OwnPaper):
    """A paper in a Python package of someone's own, registered by an entry point of the group `dpverify.papers`.

    In the package's folder stand its pages; algorithms.csv, with the columns `id,where,title,place`, where a place is
    `module:Class`; and audits.csv (`audit_rows.table`), whose cases are names in the package's module `audits`.

    Args:
        package: its name, as its own `__name__`.
        title: the paper's.
        authors: their names.

    Raises:
        InvalidArgumentError: for pages that are not understood.
    """

    package: str

    def __init__(self, package: str, title: str, authors: str) -> None:
        algorithms = algorithms_in(package)
        found = pages_at(folder_of(package))
        rows = (CatalogRow(one.id, "algorithm", one.where, one.title) for one in algorithms)
        self.__dict__.update(
            vars(found) | {"title": title, "authors": authors, "catalog": (*rows, *found.catalog)},
            package=package,
        )
        del self.__dict__["algorithms"], self.__dict__["plans"]

    @cached_property
    def algorithms(self) -> Mapping[str, str]:
        """Algorithm id to import path; what cannot be loaded is left out, and is among `broken`."""
        found = {}
        for one in algorithms_in(self.package):
            try:
                loaded(one.place)
            except Exception as error:  # whatever somebody else's module does
                self._leave_out(f"algorithm {one.id}", error)
            else:
                found[one.id] = one.place
        return found

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The audits of its algorithms, in their order; none where one cannot be loaded, which is among `broken`."""
        from dpverify.statements.audit_rows import table

        try:
            found = table(self.package, algorithms_in(self.package))
            self._check(plan.subject for plan in found)
        except Exception as error:  # whatever somebody else's module does
            self._leave_out("audits.csv", error)
            return ()
        return found

    def _leave_out(self, what: str, error: Exception) -> None:
        broken[f"{self.key}'s {what}"] = f"{type(error).__name__}: {error}"

    def whole(self) -> None:
        """Refuse a paper of which an algorithm or audit cannot be loaded.

        Raises:
            InvalidDataError: with the first that cannot be.
        """
        _ = self.algorithms, self.plans
        for what, why in broken.items():
            if what.startswith(f"{self.key}'s "):
                raise InvalidDataError(
                    f"The paper {what} cannot be loaded ({why}); allowed: a paper whose modules can be imported."
                )

    def address(self, id_: str) -> str:
        """The id: other processes find the paper where this one did."""
        return id_


def _within(path: Path, paper: Paper) -> bool:
    """Whether a path is that of a package with a paper in it, or of one of its pages."""
    return isinstance(paper, PackagePaper) and paper.path.resolve() in (path.resolve(), path.resolve().parent)


def read_pages(path: Path) -> OwnPaper:
    """A page, or the pages of a folder, as a paper (`pages_at`), with what it uses known; of a package, all of it."""
    found = pages_at(path)
    known, collected = registered(), found.key in COLLECTIONS and path.resolve() == HERE / found.key
    mine = known.get(found.key)
    if (mine is not None and not _within(path, mine)) or (found.key in COLLECTIONS and not collected):
        allowed = f"ids that do not begin as those of the paper {found.key} do"
        raise InvalidArgumentError("id", found.statements[0].id, allowed)
    if names := named_by(found):
        others = [] if collected else collections_of(names)
        check_uses([*with_some_of(names, known.values()), *others, found], of=(found,))
    return found


def collections_of(names: Iterable[str]) -> list[Paper]:
    """The collections in which some of these ids are."""
    keys = COLLECTIONS.keys() & set(map(paper_of, names))
    return [paper for key in sorted(keys) if (paper := opened(key)) is not None]


def of_program() -> list[Paper]:
    """The papers and collections whose pages are part of the program."""
    folders = (paper for paper in registered().values() if isinstance(paper, PaperFolder))
    return [*folders, *collections_of(COLLECTIONS)]


def opened(name: str) -> Paper | None:
    """The paper with a key, or of the page or folder with a path; None if there is none.

    The collection of a statement that is named is read, too. Pages that have changed since are read anew.
    """
    place = _place_of(name)
    if place is None:
        return papers().get(name)
    path, now = str(place.resolve()), _stamp(place)
    before = opened_pages.pop(path, None)
    found = before if before is not None and before[0] == now else (now, read_pages(place))
    for other in [key for key, (_, paper) in opened_pages.items() if paper.key == found[1].key]:
        del opened_pages[other]  # one id is one statement's
    opened_pages[path] = found
    return found[1] if name in COLLECTIONS or _is_path(name) else None
