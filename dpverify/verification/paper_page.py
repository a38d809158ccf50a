"""Writes a page for each paper: `python -m dpverify.verification.paper_page docs/papers`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_whole
from dpverify.statements.paper import Paper, papers
from dpverify.statements.plans import Plan
from dpverify.verification.places import Place, places

_MOST = 3
"""Files that a cell names."""

_KINDS = ("statement", "algorithm", "audit", "test")


def paper_markdown(paper: Paper, plans: Sequence[Plan], folder: Path) -> str:
    """Every numbered thing of a paper, with links to the files of its statement, code, audits and tests.

    Args:
        paper: whose page it is.
        plans: among which its audits are looked for.
        folder: where the page will lie, for the links.
    """
    lines = [
        f"# {paper.key}",
        "",
        f"{paper.authors}: {paper.title}. Made by `make pages`; `dpverify explain ID` says more, with line numbers.",
        "",
        "| id | where | what it says | statement | algorithm | audits | tests |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in paper.catalog:
        found = places(paper, row.id, plans)
        cells = [_links((place for place in found if place.what == kind), folder) for kind in _KINDS]
        title = row.title.replace("|", r"\|")
        lines.append(f"| `{row.id}` | {row.where} | {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _links(found: Iterable[Place], folder: Path) -> str:
    """The files, each once, and how many more there are."""
    files = list(dict.fromkeys(place.path for place in found))
    links = [f"[{file.name}]({os.path.relpath(file, folder)})" for file in files[:_MOST]]
    return ", ".join(links) + (f" and {len(files) - _MOST} more" if len(files) > _MOST else "")


def main(arguments: list[str]) -> int:
    """Write a page for each paper into the named folder; 2 for bad input."""
    try:
        if len(arguments) != 1 or not Path(arguments[0]).is_dir():
            raise InvalidDataError("One folder is needed, such as docs/papers.")
        folder = Path(arguments[0]).resolve()
        plans = [plan for paper in papers().values() for plan in paper.plans]
        for paper in papers().values():
            write_whole(folder / f"{paper.key}.md", paper_markdown(paper, plans, folder).encode())
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
