"""Pages of the documentation that are made by the program: `python tests/benchmarks/pages.py`.

algorithms PAGE     writes the tables of docs/algorithms.md
constants PAGE      writes docs/constants.md
counts PAGE LEDGER  writes what a ledger counts into a page
letters FOLDER LEDGER  writes a letter on each paper with algorithms
site FOLDER LEDGER  writes the site's pages: each paper's statements, with verdicts behind displays
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import dpverify
from dpverify.algorithms.examples import Setting
from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_table, write_whole
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.words import counts
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.reports import findings_markdown, load_ledger
from dpverify.reports.formats.markdown import escaped, without_bars
from dpverify.statements.hidden_constants import LEVEL, Between, HiddenConstant, hidden_constants
from dpverify.statements.pages import SHARED, read_page
from dpverify.statements.paper import Paper, PaperFolder, loaded, papers
from dpverify.statements.plans import Plan
from dpverify.verification.located.places import places
from dpverify.views.formula import point_text
from dpverify.views.roots import roots_view

# ------------------------------------------------------------------------------------------- algorithms

_TABLE = re.compile(r"(<!-- (\w+) -->)\n.*?(<!-- end -->)", re.DOTALL)


def listed() -> Iterator[str]:
    """Every algorithm of every paper: where it stands, its class, what it is."""
    for paper in (one for one in papers().values() if one.algorithms):
        where = {row.id: row for row in paper.catalog}
        yield f"## {paper.key}: {paper.title}\n"
        yield "| id | where | class | what it is |\n| --- | --- | --- | --- |"
        for id_, path in paper.algorithms.items():
            row, place = where[id_], path.removeprefix("dpverify.")
            yield f"| `{id_}` | {row.where} | `{place}` | {row.title} |"
        yield ""


def promises() -> Iterator[str]:
    """What each states besides privacy, by its plain example; or why it does not."""
    yield "| algorithm | risk | oracle calls | sampling error |\n| --- | --- | --- | --- |"
    at = Setting()
    for paper in papers().values():
        for id_, path in paper.algorithms.items():
            kind = loaded(path)
            made, why = kind.examples(at)[""](), {"sampling error": "it is no sampler", **kind.unstated}
            found = {
                "risk": made.risk_bound(at.n),
                "queries": made.queries(at.n),
                "sampling error": made.sampling_error(at.n),
            }
            cells = ("stated" if stated else why[name] for name, stated in found.items())
            yield f"| `{id_}` | {' | '.join(cells)} |"


def with_tables(text: str) -> str:
    """The page with each table, between `<!-- listed -->` or `<!-- promises -->` and `<!-- end -->`, made anew."""
    made = {"listed": listed, "promises": promises}
    return _TABLE.sub(lambda found: "\n".join((found[1], "", *made[found[2]](), "", found[3])), text)


# ------------------------------------------------------------------------------------------- constants

CONSTANTS = """# Hidden constants

The constants that the papers' O( ), Omega( ) and Theta( ) hide, computed by `make pages`: each such rate in the
statements and tables of the four papers, as printed, with two constants:

- *Proved*: the rate holds with this constant at the named sizes. This follows from what the implementation states
  with every constant (`risk_bound(n)`, `queries(n)`, the accountant); for Omega( ), from the constants of the proof.
- *Exhibited*: no better constant holds there, since an instance, or for Omega( ) an algorithm, attains this one. We
  know this in closed form, from an exact law, from counts or proofs about the algorithm, or from a confidence
  interval for the mean of seeded runs. Each interval misses its mean with probability at most {level:g}.
- *Ratio*: the larger of the two divided by the smaller. *What lies between* describes the gap, computed from the
  values at all sizes.

All are evaluated in double precision, and rounded to the safe side.

{summary}

`dpverify explain STATEMENT` shows a statement's rows. `dpverify/statements/*/audits/rates.py` has what is evaluated.
"""


def constant_row(one: HiddenConstant) -> str:
    """A row of docs/constants.md."""
    proved, exhibited, ratio, where, why = one.row
    cells = (f"`{one.display.statement}`", one.display.place, f"${without_bars(one.display.latex)}$")
    return "| " + " | ".join((*cells, proved or "–", exhibited or "–", ratio or "–", where, why)) + " |"


def constants_page(found: Mapping[str, Sequence[HiddenConstant]]) -> str:
    """The page with the constants of each paper."""
    every = [one for some in found.values() for one in some]
    how = Counter(one.why for one in every)
    between = (f"{why.value} ({how[why]})" for why in Between if how[why])
    gaps = "; ".join(between)
    summary = f"There are {len(every)} rates. In brackets is how many have which gap between the two constants: {gaps}."
    head = "| statement | place | printed | proved | exhibited | ratio | sizes | what lies between |\n"
    head += "| --- | --- | --- | ---: | ---: | ---: | --- | --- |"
    parts = (
        "\n".join((f"\n## {key}\n", head, *map(constant_row, some))) for key, some in found.items() if some
    )
    return CONSTANTS.format(summary=summary, level=LEVEL) + "\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------- counts

_OF_LINES = {
    Provenance.VERBATIM: "stand in a paper as they are",
    Provenance.PIECED: "are pieced together from what is printed",
    Provenance.OURS: "follow from it, in letters of ours",
    Provenance.SPECIAL: "are special cases",
    Provenance.TORN: "are readings of a line whose text lost a sign, and are never refuted",
    Provenance.PARTIAL: "stand in a paper of which not all is read, and are never refuted",
    Provenance.GUESSED: "rest on guesses, and have no verdict",
}


def counted(entries: Sequence[StatementEntry], proofs: Iterable[ProofEvidence]) -> tuple[str, ...]:
    """What is counted of algorithms and statements: how these stand, on what, and where their formulas come from."""
    statements = [entry for entry in entries if entry.is_counted]
    algorithms = [entry.algorithm for entry in entries if entry.kind == "algorithm"]
    run = sum(algorithm is not None for algorithm in algorithms)
    ids = {entry.id for entry in statements}
    said = (proof for proof in proofs if proof.coverage is not Coverage.UNIT and not proof.says_nothing)
    rows = [proof for proof in said if proof.statement in ids]
    printed = [row for row in rows if row.variant is Variant.PRINTED]
    lines = Counter(row.provenance for row in printed)
    of = ", ".join(f"{lines[each]:,} {says}" for each, says in _OF_LINES.items() if lines[each])
    standing = counts(entry.printed.standing for entry in statements)
    return (
        f"- {len(algorithms)} algorithms, {'all' if run == len(algorithms) else run} of them implemented.",
        f"- {len(statements)} statements, encoded in {len(rows):,} formulas: {len(rows) - len(printed):,} are "
        f"corrections; of the {len(printed):,} others, {of}.",
        f"- As printed, {', '.join(each.of(number) for each, number in standing.items())}.",
        *(f"- {line}" for line in roots_view(statements, rows).lines),
    )


# ------------------------------------------------------------------------------------------- the site

_MOST = 3
"""Files that a cell names."""

_KINDS = ("algorithm", "audit", "test")

_INLINE = re.compile(r"\$`(.*?)`\$")
"""A formula in a sentence, as forges read it where it has signs that Markdown would take away."""

Key = tuple[str, str, Variant]


def site_pages(ledger: Ledger, plans: Sequence[Plan], docs: Path) -> Iterator[tuple[str, str]]:
    """The name of each page below the site's pages, and its Markdown; links to sources start from the folder `docs`."""
    entries = {row.id: row for row in ledger.statements}
    rows = {
        (e.statement, e.obligation, e.variant): e
        for e in ledger.entries
        if isinstance(e, ProofEvidence) and e.coverage is not Coverage.UNIT
    }
    for paper in papers().values():
        yield f"papers/{paper.key}.md", _paper_page(paper, plans, docs / "papers", entries)
        if isinstance(paper, PaperFolder):
            for file in sorted({*paper.pages.values()}):
                yield f"papers/{paper.key}/{file.name}", _with_verdicts(file, rows, entries)
            letters = paper.folder / SHARED
            if letters.is_file():
                yield f"papers/{paper.key}/{SHARED}", _on_site(letters.read_text(encoding="utf-8"))


def letters_on_papers(ledger: Ledger) -> dict[str, str]:
    """The letter on each paper that has algorithms, by its key."""
    names = {key: paper.named for key, paper in papers().items()}
    return {key: findings_markdown(ledger, names, key) for key, paper in papers().items() if paper.algorithms}


def _paper_page(
    paper: Paper, plans: Sequence[Plan], folder: Path, found: Mapping[str, StatementEntry]
) -> str:
    """Every numbered thing of a paper: what was proved of it, its page, and the files of its code, audits, tests."""
    letter = f"; [a letter](../letters/{paper.key}.md) says what is false" if paper.algorithms else ""
    lines = [
        f"# {paper.key}",
        "",
        f"{paper.named}. `dpverify explain ID` says more, with line numbers{letter}.",
        "",
        "| id | where | what it says | as printed | corrected | algorithm | audits | tests |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in paper.catalog:
        files = places(paper, row.id, plans)
        cells = [_links((place.path for place in files if place.what == kind), folder) for kind in _KINDS]
        entry = found.get(row.id)
        said = (entry.printed.headline, entry.corrected.headline) if entry else (None, None)
        texts = [escaped(text or "") for text in (row.title, *said)]
        page = paper.pages.get(row.id) if isinstance(paper, PaperFolder) else None
        name = f"[`{row.id}`]({paper.key}/{page.name}#{row.id})" if page else f"`{row.id}`"
        lines.append(f"| {name} | {row.where} | {' | '.join([*texts, *cells])} |")
    return "\n".join(lines) + "\n"


def _with_verdicts(
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
            lines += ["", f"> {_verdict_text(found)}", ""]
    return _on_site("\n".join(lines) + "\n")


def _verdict_text(row: ProofEvidence) -> str:
    """What was found of a display, in a line of Markdown."""
    parts = [f"**{row.verdict}**"]
    if row.counterexample:
        parts.append(f"at {point_text(row.counterexample)}")
    if row.left and row.right:
        parts.append(f"where the sides are {row.left} and {row.right}")
    if row.prover != "none":
        parts.append(f"(prover {row.prover}{', confirmed by the checker' * row.confirmed_by_checker})")
    return escaped(" ".join(parts)).replace(r"\*\*", "**")


def _on_site(text: str) -> str:
    """A page as the site's Markdown has it: formulas between one kind of sign."""
    return _INLINE.sub(lambda match: f"${match[1]}$", text)


def _links(found: Iterable[Path], folder: Path) -> str:
    """The files, each once, and how many more there are."""
    files = list(dict.fromkeys(found))
    links = [f"[{file.name}]({os.path.relpath(file, folder)})" for file in files[:_MOST]]
    return ", ".join(links) + (f" and {len(files) - _MOST} more" if len(files) > _MOST else "")


# ------------------------------------------------------------------------------------------- the command


def _write_site(folder: Path, ledger: Ledger) -> None:
    plans = [plan for paper in papers().values() for plan in paper.plans]
    docs = Path(dpverify.__path__[0]).resolve().parent / "docs"
    for name, text in site_pages(ledger, plans, docs):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())


def main(arguments: list[str]) -> int:
    """Write what the first argument says; 2 for bad input."""
    try:
        match arguments:
            case ["algorithms", name] if Path(name).is_file():
                page = Path(name).resolve()
                write_whole(page, with_tables(page.read_text(encoding="utf-8")).encode())
            case ["constants", name]:
                known = {paper.key: hidden_constants(paper) for paper in papers().values()}
                write_whole(Path(name), constants_page(known).encode())
            case ["counts", name, file]:
                ledger = load_ledger(Path(file))
                proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
                write_table(Path(name), counted(ledger.statements, proofs))
            case ["letters", name, file]:
                for key, text in letters_on_papers(load_ledger(Path(file))).items():
                    write_whole(Path(name) / f"{key}.md", text.encode())
            case ["site", name, file]:
                _write_site(Path(name), load_ledger(Path(file)))
            case _:
                raise InvalidDataError(
                    "Allowed: algorithms PAGE, constants PAGE, counts PAGE LEDGER, letters FOLDER LEDGER, or site "
                    "FOLDER LEDGER."
                )
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
