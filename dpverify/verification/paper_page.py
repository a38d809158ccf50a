"""Writes a page for each paper: `python -m dpverify.verification.paper_page docs/papers build/verify/ledger.json`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_whole
from dpverify.ledger.entries import StatementEntry
from dpverify.reports import load_ledger
from dpverify.reports.formats.markdown import escaped
from dpverify.statements.paper import Paper, find_statement, papers
from dpverify.statements.plans import Plan
from dpverify.verification.places import Place, places

_MOST = 3
"""Files that a cell names."""

_KINDS = ("statement", "algorithm", "audit", "test")


def paper_markdown(
    paper: Paper, plans: Sequence[Plan], folder: Path, found: Mapping[str, StatementEntry]
) -> str:
    """Every numbered thing of a paper: what was proved of it, and the files of its statement, code, audits, tests.

    Args:
        paper: whose page it is.
        plans: among which its audits are looked for.
        folder: where the page will lie, for the links.
        found: what a ledger says of each id, as printed and corrected.
    """
    lines = [
        f"# {paper.key}",
        "",
        f"{paper.authors}: {paper.title}. Made by `make pages` from a ledger; `dpverify explain ID` says more, with "
        "line numbers.",
        "",
        "Under *hypotheses*: which of them a statement needs, and where all its conditions hold at once.",
        "",
        "| id | where | what it says | as printed | corrected | statement | hypotheses | algorithm | audits | tests |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in paper.catalog:
        files = places(paper, row.id, plans)
        cells = [_links((place for place in files if place.what == kind), folder) for kind in _KINDS]
        encoded = find_statement(row.id) is not None
        cells.insert(1, f"[listed](../hypotheses.md#{row.id.replace('.', '').lower()})" if encoded else "")
        entry = found.get(row.id)
        said = (entry.printed.headline, entry.corrected.headline) if entry else (None, None)
        texts = [escaped(text or "") for text in (row.title, *said)]
        lines.append(f"| `{row.id}` | {row.where} | {' | '.join([*texts, *cells])} |")
    return "\n".join(lines) + "\n"


def _links(found: Iterable[Place], folder: Path) -> str:
    """The files, each once, and how many more there are."""
    files = list(dict.fromkeys(place.path for place in found))
    links = [f"[{file.name}]({os.path.relpath(file, folder)})" for file in files[:_MOST]]
    return ", ".join(links) + (f" and {len(files) - _MOST} more" if len(files) > _MOST else "")


def main(arguments: list[str]) -> int:
    """Write a page for each paper into the named folder, with what a ledger says; 2 for bad input."""
    try:
        if len(arguments) != 2 or not Path(arguments[0]).is_dir():
            raise InvalidDataError(
                "A folder and a ledger are needed, such as docs/papers build/verify/ledger.json."
            )
        folder = Path(arguments[0]).resolve()
        found = {row.id: row for row in load_ledger(Path(arguments[1])).statements}
        plans = [plan for paper in papers().values() for plan in paper.plans]
        for paper in papers().values():
            write_whole(folder / f"{paper.key}.md", paper_markdown(paper, plans, folder, found).encode())
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
