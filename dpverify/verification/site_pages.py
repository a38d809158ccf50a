"""Pages of the site that are made of a ledger: `python -m dpverify.verification.site_pages FOLDER LEDGER`.

What is false, what hypotheses statements need, a page for each paper, and the pages on which its statements stand, each
display with its verdict behind it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import dpverify
from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_whole
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.reports import findings_markdown, load_ledger
from dpverify.reports.formats.markdown import escaped
from dpverify.statements.pages import SHARED, read_page
from dpverify.statements.paper import Paper, PaperFolder, papers
from dpverify.statements.plans import Plan
from dpverify.verification.places import SourceLine, places

_MOST = 3
"""Files that a cell names."""

_KINDS = ("algorithm", "audit", "test")

_INLINE = re.compile(r"\$`(.*?)`\$")
"""A formula in a sentence, as forges read it where it has signs that Markdown would take away."""

Key = tuple[str, str, Variant]


def site_pages(ledger: Ledger, plans: Sequence[Plan], docs: Path) -> Iterator[tuple[str, str]]:
    """The name of each page below the site's pages, and its Markdown.

    Args:
        ledger: what was found of the papers' statements.
        plans: among which audits are looked for.
        docs: the folder of the site's own pages, from which links to sources start.
    """
    yield "findings.md", findings_markdown(ledger)
    entries = {row.id: row for row in ledger.statements}
    rows = {
        (e.statement, e.obligation, e.variant): e
        for e in ledger.entries
        if isinstance(e, ProofEvidence) and e.coverage is not Coverage.UNIT
    }
    for paper in papers().values():
        yield f"papers/{paper.key}.md", paper_markdown(paper, plans, docs / "papers", entries)
        if isinstance(paper, PaperFolder):
            for file in sorted({*paper.pages.values()}):
                yield f"papers/{paper.key}/{file.name}", with_verdicts(file, rows, entries)
            letters = paper.folder / SHARED
            yield f"papers/{paper.key}/{SHARED}", _on_site(letters.read_text(encoding="utf-8"))


def paper_markdown(
    paper: Paper, plans: Sequence[Plan], folder: Path, found: Mapping[str, StatementEntry]
) -> str:
    """Every numbered thing of a paper: what was proved of it, its page, and the files of its code, audits, tests.

    Args:
        paper: whose page it is.
        plans: among which its audits are looked for.
        folder: where the page will lie, for the links.
        found: what a ledger says of each id, as printed and corrected.
    """
    lines = [
        f"# {paper.key}",
        "",
        f"{paper.authors}: {paper.title}. `dpverify explain ID` says more, with line numbers.",
        "",
        "| id | where | what it says | as printed | corrected | algorithm | audits | tests |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in paper.catalog:
        files = places(paper, row.id, plans)
        cells = [_links((place for place in files if place.what == kind), folder) for kind in _KINDS]
        entry = found.get(row.id)
        said = (entry.printed.headline, entry.corrected.headline) if entry else (None, None)
        texts = [escaped(text or "") for text in (row.title, *said)]
        page = paper.pages.get(row.id) if isinstance(paper, PaperFolder) else None
        name = f"[`{row.id}`]({paper.key}/{page.name}#{row.id})" if page else f"`{row.id}`"
        lines.append(f"| {name} | {row.where} | {' | '.join([*texts, *cells])} |")
    return "\n".join(lines) + "\n"


def with_verdicts(
    file: Path, rows: Mapping[Key, ProofEvidence], entries: Mapping[str, StatementEntry]
) -> str:
    """A page of statements with the headline behind each heading, and the verdict behind each display."""
    page = read_page(file, at_once=False)
    of_line = {line: key for key, line in page.lines.items()}
    lines: list[str] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        begins = line.startswith(("$$", "- ", "|")) and bool(lines) and not lines[-1].startswith(line[:2])
        lines += ["", line] if begins and lines[-1] else [line]
        heading = re.search(r"\{#([\w.-]+)\}$", line)
        if heading and heading[1] in entries:
            entry = entries[heading[1]]
            words = (("As printed", entry.printed.headline), ("Corrected", entry.corrected.headline))
            for name, headline in words:
                lines += ["", f"{name}: **{escaped(headline)}**"] if headline else []
        found = rows.get(of_line[number]) if number in of_line else None
        if found is not None:
            lines += ["", f"> {verdict_text(found)}", ""]
    return _on_site("\n".join(lines) + "\n")


def verdict_text(row: ProofEvidence) -> str:
    """What was found of a display, in a line of Markdown."""
    parts = [f"**{row.verdict}**"]
    if row.counterexample:
        parts.append("at " + ", ".join(f"{name} = {value}" for name, value in row.counterexample.items()))
    if row.left and row.right:
        parts.append(f"where the sides are {row.left} and {row.right}")
    if row.prover != "none":
        parts.append(f"(prover {row.prover}{', confirmed by the checker' * row.confirmed_by_checker})")
    return escaped(" ".join(parts)).replace(r"\*\*", "**")


def _on_site(text: str) -> str:
    """A page as the site's Markdown has it: formulas between one kind of sign."""
    return _INLINE.sub(lambda match: f"${match[1]}$", text)


def _links(found: Iterable[SourceLine], folder: Path) -> str:
    """The files, each once, and how many more there are."""
    files = list(dict.fromkeys(place.path for place in found))
    links = [f"[{file.name}]({os.path.relpath(file, folder)})" for file in files[:_MOST]]
    return ", ".join(links) + (f" and {len(files) - _MOST} more" if len(files) > _MOST else "")


def main(arguments: list[str]) -> int:
    """Write the pages into the named folder, of what a ledger says; 2 for bad input."""
    try:
        if len(arguments) != 2:
            raise InvalidDataError(
                "A folder and a ledger are needed, such as build/pages build/verify/ledger.json."
            )
        folder, ledger = Path(arguments[0]), load_ledger(Path(arguments[1]))
        plans = [plan for paper in papers().values() for plan in paper.plans]
        docs = Path(dpverify.__path__[0]).resolve().parent / "docs"
        for name, text in site_pages(ledger, plans, docs):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, text.encode())
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
