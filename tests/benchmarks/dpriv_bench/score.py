"""How many questions of a public list are decided with evidence: the tables of docs/dpriv-bench.md.

make dpriv-bench       # some 20 minutes on 2 cores; a part alone: score.py --only gdp --question 41

Questions and labels are of DPriv-Bench (Wang et al., arXiv 2604.15851). Of its textbook part, textbook.csv has each
function and its sensitivity, and textbook.md.jinja is the page on which a mechanism and its claim are written: odd
numbers have the noise that is called right, even ones less. Pages of its other part are in literature/, one section a
question.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dpverify.errors import DpverifyError
from dpverify.files import write_table
from dpverify.statements.pages.blocks import PageError
from dpverify.statements.selection import select_statements
from dpverify.terminal import progress_bar
from dpverify.verification.mechanisms import mechanism_rows
from dpverify.verification.remembering.remembered import recall_or_prove
from dpverify.verification.theorems import theorem_rows

HERE = Path(__file__).parent
TEXTBOOK = ("laplace", "gdp", "zcdp", "exponential", "noisy-max", "exponential-noise")
LITERATURE = "literature"
YES, NO = "1", "0"
"""Labels, as the list has them."""
SAYS = {"proved": YES, "refuted": NO}


@dataclass(frozen=True)
class Question:
    """A question with its label, and the section that asks it."""

    part: str
    number: int
    label: str
    page: Path | None
    """None where none is written."""
    form: str
    """`mechanism`, `theorem` or `formula`."""
    id: str
    remark: str
    """Why there is no page, or why the label is wrong."""


@dataclass(frozen=True)
class Answer:
    """What was found of a question."""

    of: Question
    verdict: str
    reason: str
    seconds: float


def questions(folder: Path) -> Iterator[Question]:
    """All questions; pages of the textbook part are written into a folder."""
    rooms = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, comment_start_string="{!",
        keep_trailing_newline=True,
    )  # fmt: skip
    template = rooms.get_template("textbook.md.jinja")
    with (HERE / "textbook.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    folder.mkdir(parents=True, exist_ok=True)
    for topic in TEXTBOOK:
        for row in rows:
            for less in (False, True):
                number = 2 * int(row["function"]) - 1 + less
                page = folder / f"{topic}-{number}.md"
                page.write_text(
                    template.render(topic=topic, row=row, less=less, number=number), encoding="utf-8"
                )
                yield Question(
                    topic, number, NO if less else YES, page, "mechanism", f"dpriv.{topic}.{number}", ""
                )
    if (HERE / f"{LITERATURE}.csv").is_file():
        with (HERE / f"{LITERATURE}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                page = HERE / row["page"] if row["page"] else None
                number = int(row["question"])
                yield Question(
                    LITERATURE, number, row["label"], page, row["form"], f"dpriv.{number:03d}",
                    row["why"] or row["remark"],
                )  # fmt: skip


def answers_of(asked: Sequence[Question]) -> list[Answer]:
    """Decide the questions of one page."""
    page, start = str(asked[0].page), time.perf_counter()
    try:
        found = _verdicts(page, asked) if asked[0].page else {}
        missing = "no page", ""
    except PageError as error:
        (_, first), *_ = error.errors
        found, missing = {}, ("not read", f"notation for `{first.value}`")
    except DpverifyError as error:
        found, missing = {}, ("not read", str(error))
    seconds = (time.perf_counter() - start) / len(asked)
    return [Answer(one, *found.get(one.id, missing), seconds) for one in asked]


def _verdicts(page: str, asked: Sequence[Question]) -> dict[str, tuple[str, str]]:
    """Verdicts with their reasons, by id."""
    wanted = {one.id for one in asked}
    if asked[0].form == "mechanism":
        return {row.id: (str(row.verdict), row.reason) for row in mechanism_rows([page])}
    if asked[0].form == "theorem":
        return {row.found.id: (str(row.found.verdict), row.found.reason) for row in theorem_rows([page])}
    chosen = [one for one in select_statements((page,)) if one.id in wanted]
    verdicts = dict[str, set[str]]()
    for record in recall_or_prove(chosen, workers=1):
        verdicts.setdefault(record.evidence.statement, set()).add(str(record.evidence.verdict))
    return {id_: (next(iter(of)) if len(of) == 1 else "undecided", "") for id_, of in verdicts.items()}


def table(answers: Sequence[Answer]) -> Iterator[str]:
    """The lines of the tables."""
    yield "| part | questions | as labeled | against the label | undecided | not read, or no page |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for part in dict.fromkeys(one.of.part for one in answers):
        mine = [one for one in answers if one.of.part == part]
        found = Counter(_kind(one) for one in mine)
        yield f"| {part} | {len(mine)} | {found['as']} | {found['against']} | {found['undecided']} | {found['no']} |"
    yield ""
    yield "| questions | label | verdict | what is missing |"
    yield "| --- | --- | --- | --- |"
    alike = dict[tuple[str, ...], list[Question]]()
    for one in answers:
        if _kind(one) != "as":
            alike.setdefault((one.of.label, one.verdict, one.of.remark or one.reason), []).append(one.of)
    for cells, asked in alike.items():
        parts = dict[str, list[int]]()
        for of in asked:
            parts.setdefault(of.part, []).append(of.number)
        named = "; ".join(f"{part} {', '.join(map(str, numbers))}" for part, numbers in parts.items())
        yield f"| {named} | {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _kind(one: Answer) -> str:
    if one.verdict in SAYS:
        return "as" if SAYS[one.verdict] == one.of.label else "against"
    return "undecided" if one.verdict == "undecided" else "no"


def main() -> None:
    """Decide all, and write or print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", nargs="?", help="the page whose tables are written; default: printed")
    parser.add_argument("--only", action="append", help=f"a part: {', '.join((*TEXTBOOK, LITERATURE))}")
    parser.add_argument("--question", type=int, action="append", help="a number; default: all")
    parser.add_argument(
        "--folder", type=Path, default=Path("build/dpriv-bench"), help="where pages are written"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    asked = [
        one for one in questions(chosen.folder)
        if chosen.only is None or one.part in chosen.only
        if chosen.question is None or one.number in chosen.question
    ]  # fmt: skip
    answers, bar = dict[str, Answer](), progress_bar("deciding")
    with ProcessPoolExecutor(chosen.jobs) as pool:
        pages = dict[tuple[Path | None, str], list[Question]]()
        for one in asked:
            pages.setdefault((one.page, one.form), []).append(one)
        for done in as_completed([pool.submit(answers_of, of) for of in pages.values()]):
            answers |= {found.of.id: found for found in done.result()}
            if bar is not None:
                bar(len(answers), len(asked))
    lines = [*table([answers[one.id] for one in asked])]
    if chosen.output:
        write_table(Path(chosen.output), lines)
    else:
        print(*lines, sep="\n")


if __name__ == "__main__":
    main()
