"""Writes a paper's displays.csv from its text and the sheets: `python tests/statements/write_displays.py gll22 FOLDER`.

What is already said in the file of a display that has not changed is kept, but for what is computed here: which
obligations have its LaTeX.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from paper_text import Found, inventory  # type: ignore[import-not-found]
from printed_latex import covered, plain  # type: ignore[import-not-found]

from dpverify.ledger.verdicts import Coverage
from dpverify.statements.inventory import COLUMNS, DEFINITION, MISSING, RESTATED, ListedDisplay, read_displays
from dpverify.statements.paper import papers

LETTER = (
    r"(?:\\(?:mathcal|mathrm|mathsf|mathbb|bar|tilde|hat)\{[A-Za-z]\}|\\[A-Za-z]+|[A-Za-z])"
    r"(?:'|[_^](?:\w|\{[^{}]*\}))*"
)
PLAIN = r"(?:\\[a-zA-Z]+|[A-Za-z])(?:\^\{\\prime\})?"
NUMBER = r"[-+]?(?:\d+(?:\.\d+)?(?:/\d+)?|\\frac\{\d+\}\{\d+\}|\\infty)"
COMPARED = r"(?:<|>|\\neq|\\leq?|\\geq?) *"
RANGE = re.compile(
    rf"(?:{NUMBER}\s*{COMPARED})?{PLAIN}(?:\s*,\s*{PLAIN})*\s*"
    rf"(?:{COMPARED}{NUMBER}|\\in *[\[(]{NUMBER},{NUMBER}[\])]|\\in\[\w(?:\^\{{?\d\}}?)?\])"
)
"""Where letters range, where a word such as `every` is before it."""
EVERY = re.compile(r"\b(?:all|any|every|each|some|[Ll]et|[Gg]iven|index|constants?)\s+(?:\w+ ){0,2}\W*$")
AND = re.compile(r"^\s*,?\s*(?:and)?\s*(?:for)?\s*$")
SAID = re.compile(r"\\doteq|:=|\\triangleq|\\coloneqq|\\stackrel\{\{\\scriptstyle\{\\text\{def\}\}\}\}")
"""A definition that says so."""
LET = re.compile(
    r"\b(?:[Ll]et|[Ll]etting|[Dd]efine|[Dd]efining|[Dd]enote|[Dd]enoting|denoted by)\s+(?:the \w+ )?\W*$"
)


def is_definition(latex: str, before: str, after_a_range: bool) -> bool:
    if SAID.search(latex):
        return True
    if all(RANGE.fullmatch(part) for part in _parts(latex)):
        return EVERY.search(before) is not None or (after_a_range and AND.match(before) is not None)
    if re.search(rf"= *(?:{NUMBER}|\\frac\{{\d+\}}\{{\d+\}}[^=]*)$", latex):
        return False  # a choice
    return LET.search(before) is not None and re.match(rf"{LETTER}(?:\([^()]*\))?\s*=", latex) is not None


def _parts(latex: str) -> list[str]:
    """A list of conditions one by one; letters that share one stay together."""
    return [part.strip() for part in re.split(r"(?<=[\d}]),\s*(?=\\?[A-Za-z]+\s*(?:[<>]|\\[lg]eq?))", latex)]


def rows(paper: str, found: Iterable[Found], before: Iterable[ListedDisplay]) -> list[ListedDisplay]:
    statements = {s.id: s for s in papers()[paper].statements}
    said = {(d.statement, d.place, d.latex): d for d in before}
    displays: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for row in found:
        displays[row.statement, re.sub(r", line \d+$", "", row.place)].append(row)
    out: list[ListedDisplay] = []
    seen: set[tuple[str, str]] = set()
    ranged = False
    for (statement, place), lines in displays.items():
        sheet = statements.get(statement)
        shown = {
            f"{statement}/{o.name}": o.latex
            for o in (sheet.printed if sheet else ())
            if o.coverage is not Coverage.INSTANCE
        }
        for row, (names, all_said) in zip(lines, covered([line.latex for line in lines], shown), strict=True):
            old = said.get((statement, row.place, row.latex))
            kept = tuple(n for n in (old.encoded if old else ()) if n not in names)
            reason = "" if all_said else old.reason if old else ""
            key = (statement, plain(row.latex))
            if not all_said and not (old and (old.reason or kept)):
                reason = MISSING
                if is_definition(row.latex, row.before, ranged):
                    reason = DEFINITION
                elif key in seen and "table" not in place and re.search(r"[=<>]|\\[lg]eq", row.latex):
                    reason = RESTATED
            seen.add(key)
            ranged = reason == DEFINITION and RANGE.match(row.latex) is not None
            out.append(ListedDisplay(statement, row.place, row.latex, (*names, *kept), reason))
    return out


def main(paper: str, folder: str) -> None:
    file = Path(__file__).parents[2] / "dpverify" / "statements" / paper / "displays.csv"
    text = (Path(folder) / f"{paper}.txt").read_text(encoding="utf-8")
    made = rows(paper, inventory(paper, text), read_displays(file))
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((d.statement, d.place, d.latex, " ".join(d.encoded), d.reason) for d in made)


if __name__ == "__main__":
    main(*sys.argv[1:])
