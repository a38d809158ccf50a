"""Someone's own pages as a paper: a Markdown page, or a folder of them.

Whatever can be asked of a registered paper can be asked of it: commands take the path of the page or of the folder
where they take a paper's key.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Variant
from dpverify.statements.paper import CatalogRow, Paper, check_uses, opened_pages, papers, registered


@dataclass(frozen=True)
class OwnPaper(Paper):
    """A paper that is read from someone's own pages."""

    path: Path = field(default=Path(), kw_only=True)
    """Of the page, or of the folder."""
    lines: dict[tuple[str, str, Variant], tuple[Path, int]] = field(default_factory=dict, kw_only=True)
    """Where its formulas stand: page and line of each, by statement, name and variant."""
    unread: tuple[str, ...] = field(default=(), kw_only=True)
    """What of the prose of its pages was not read, a line each."""

    def address(self, id_: str) -> str:
        """The path of its pages, and the id."""
        return f"{self.path.resolve()}#{id_}"


def _is_path(name: str) -> bool:
    """Whether a name is one of a page or of a folder of pages, and of no registered paper."""
    return name not in registered() and (name.endswith(".md") or os.path.isdir(name))


def _stamp(path: Path) -> object:
    """Changes with the pages of a path."""
    files = [*path.parent.glob("letters.md"), path] if path.is_file() else sorted(path.glob("*.md"))
    return [(file, file.stat().st_mtime_ns, file.stat().st_size) for file in files]


def read_pages(path: Path) -> OwnPaper:
    """A page, or the pages of a folder, as a paper.

    The statement of a page without ids has the page's name for one; in a folder, with the folder's name before it. What
    stands before the first dot of its ids is the paper's key.
    """
    from dpverify.statements.pages import SHARED, read_page

    folder = path.is_dir()
    files = sorted(file for file in path.glob("*.md") if file.name != SHARED) if folder else [path]
    if not files:
        raise InvalidArgumentError("folder", str(path), "one with Markdown pages in it")
    prefix = path.resolve().name if folder else ""
    pages = [(file, read_page(file, prefix=prefix)) for file in files]
    statements = [statement for _, page in pages for statement in page.statements]
    ids = [statement.id for statement in statements]
    twice = next((id_ for id_ in ids if ids.count(id_) > 1), None)
    if twice is not None:
        raise InvalidArgumentError("id", twice, "one page for each statement")
    key = ids[0].partition(".")[0]
    for id_ in ids:
        if id_.partition(".")[0] != key:
            raise InvalidArgumentError(
                "id", id_, f"ids that begin with `{key}.`, as others of these pages do"
            )
    if key in registered():
        raise InvalidArgumentError("id", ids[0], f"ids that do not begin as those of the paper {key} do")
    found = OwnPaper(
        key=key,
        title=pages[0][1].title if len(pages) == 1 else path.resolve().name,
        authors="",
        catalog=tuple(CatalogRow(s.id, "statement", s.where, s.title) for s in statements),
        statements=tuple(statements),
        path=path,
        lines={name: (file, line) for file, page in pages for name, line in page.lines.items()},
        unread=tuple(f"{page.name}: {page.summary()}" for _, page in pages if page.unread),
    )
    if any(uses for s in statements for uses in (s.uses, *(part.uses for part in s.parts))):
        check_uses([*registered().values(), found], of=(found,))
    return found


def opened(name: str) -> Paper | None:
    """The paper with a key, or of the page or folder with a path; None if there is none.

    Pages that have changed since are read anew.
    """
    if _is_path(name):
        path, now = str(Path(name).resolve()), _stamp(Path(name))
        before = opened_pages.pop(path, None)
        found = before if before is not None and before[0] == now else (now, read_pages(Path(name)))
        for other in [key for key, (_, paper) in opened_pages.items() if paper.key == found[1].key]:
            del opened_pages[other]  # one id is one statement's
        opened_pages[path] = found
        return found[1]
    return papers().get(name)
