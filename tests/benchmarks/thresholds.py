"""Writes how far the printed formulas of committed pages hold that do not hold as they stand, a file for each paper.

Run: make thresholds (minutes where few formulas have changed; an hour with ANEW=1, which finds all again). Files are
written as formulas end, so that a run that is interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from dpverify.analyses.thresholds.sharpening import sharpen
from dpverify.errors import InvalidArgumentError
from dpverify.files import write_whole
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.names import paper_of
from dpverify.ledger.proofs import ProofEvidence
from dpverify.proving.language import Obligation
from dpverify.statements.paper import papers
from dpverify.statements.selection import find_statement
from dpverify.terminal import progress_bar
from dpverify.verification.catalog.answers import key_of, known, lines, text_of
from dpverify.verification.catalog.proofs import as_they_end, prove_statements
from dpverify.verification.catalog.source_rows import printed_of
from dpverify.verification.kept_thresholds import FOLDER, line_of
from dpverify.verification.thresholds import Asked, asked_of, can_be_sharpened


def asked_about(asked: Asked) -> Obligation:
    """The formula of a question."""
    statement = find_statement(asked.address)
    obligation = None if statement is None else printed_of(statement, asked.obligation)
    if obligation is None:
        raise InvalidArgumentError("statement", asked.statement, "one of a committed page")
    return obligation


def found(asked: Asked) -> Json | None:
    """The line of a formula; None if a guard of time ended the work, so that another machine may find more."""
    obligation = asked_about(asked)
    sharpened = sharpen(obligation, verdict=asked.verdict)
    return None if sharpened.cut_short else line_of(obligation, sharpened)


def write(rows: Iterable[ProofEvidence], *, anew: bool, workers: int) -> None:
    """Write the files of the papers that these rows are about."""
    asked = [asked_of(row, (), 0) for row in rows if can_be_sharpened(row)]
    kept = {} if anew else lines(FOLDER)
    written = {one: line for one in asked if (line := kept.get(key_of(asked_about(one)))) is not None}
    FOLDER.mkdir(exist_ok=True)
    missing = [one for one in asked if one not in written]
    for one, line in as_they_end(found, missing, workers=workers, progress=progress_bar("sharpening")):
        if line is None:
            continue
        written[one] = line
        paper = paper_of(one.statement)
        of_paper = [written[each] for each in asked if each in written and paper_of(each.statement) == paper]
        write_whole(FOLDER / f"{paper}.jsonl", text_of(of_paper).encode("ascii"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--anew", action="store_true", help="find what is kept, too")
    options = parser.parse_args()
    records = prove_statements(
        [s for paper in papers().values() for s in paper.statements], known=known, workers=2
    )
    write((record.evidence for record in records), anew=options.anew, workers=2)
