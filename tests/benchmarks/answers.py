"""Writes the answers that are kept of the committed pages, one file for each paper and collection.

Run: make answers (a minute where few formulas have changed; ten with ANEW=1, which proves all from nothing).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from dpverify.files import write_whole
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Variant
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.reasoning.effort import below_a_ceiling
from dpverify.statements.own_pages import of_program
from dpverify.statements.selection import find_statement
from dpverify.terminal import progress_bar
from dpverify.verification.catalog.answers import FOLDER, known, line_of, text_of
from dpverify.verification.catalog.proofs import as_they_end
from dpverify.verification.catalog.rows import faulty_form
from dpverify.verification.catalog.source_rows import SourceRow, obligations_of, rows_of_obligation


def asked(row: SourceRow) -> Iterator[Obligation]:
    """What provers are asked about a row, but for its units."""
    if not row.units:
        yield row.obligation
    if (faulty := faulty_form(row)) is not None:
        yield faulty


def answer(obligation: Obligation, *, anew: bool) -> Json | None:
    """The line of one obligation; that which is kept, if the checker confirms it and not all is found anew."""
    kept = None if anew else known(obligation)
    if kept is not None and check(kept.certificate).confirmed:
        return line_of(obligation, kept)
    with below_a_ceiling():
        found = prove(obligation)
    return line_of(obligation, found) if check(found.certificate).confirmed else None


def _lines(task: tuple[str, Variant, int], anew: bool) -> list[Json]:
    name, variant, position = task
    statement = find_statement(name)
    assert statement is not None
    rows = rows_of_obligation(statement, variant, obligations_of(statement, variant)[position])
    found = [answer(o, anew=anew) for row in rows for o in asked(row)]
    return [line for line in found if line is not None]


def _tasks(statement: Statement) -> list[tuple[str, Variant, int]]:
    return [
        (statement.id, variant, i)
        for variant in Variant
        for i in range(len(obligations_of(statement, variant)))
    ]


def write(folder: Path, *, anew: bool, workers: int) -> None:
    """Write the files of all papers and collections."""
    of = {paper.key: [t for s in paper.statements for t in _tasks(s)] for paper in of_program()}
    every = [task for tasks in of.values() for task in tasks]
    found = dict(
        as_they_end(partial(_lines, anew=anew), every, workers=workers, progress=progress_bar("answers"))
    )
    folder.mkdir(exist_ok=True)
    for key, tasks in of.items():
        text = text_of(line for task in tasks for line in found[task])
        write_whole(folder / f"{key}.jsonl", text.encode("ascii"))
        print(f"{key}: {text.count(chr(10))} answers, {len(text)} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--anew", action="store_true", help="prove what is kept, too")
    write(FOLDER, anew=parser.parse_args().anew, workers=2)
