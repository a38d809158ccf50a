"""What is read, and found, of the displays of a page, whether it has formulas, theorems or mechanisms on it.

As a program, it writes what is found of one page to standard output, for a language server that may end it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant, Verdict
from dpverify.statements.own_pages import OwnPaper, opened
from dpverify.statements.pages import PageError
from dpverify.statements.theorems.names import is_page_of_mechanisms, is_page_of_theorems

REFUSED = "not read"
"""What is said in the place of a verdict where a page is refused."""


@dataclass(frozen=True)
class Mark:
    """A line of a page, from 1, and what is known of the display that begins there."""

    line: int
    name: str
    """The id of its statement, with its own name if it has one; of a theorem's step, what it is."""
    standing: str
    """A verdict, or `not read`; empty where nothing was decided."""
    says: str
    """What was read, or why it is not proved; may be empty."""
    more: tuple[str, ...] = ()
    """Lines of a counterexample or of a model."""


def refused(error: DpverifyError) -> list[Mark]:
    """All that a page is refused for, each with its line; the first line, if it is no line's."""
    if not isinstance(error, PageError):
        return [Mark(1, "", REFUSED, str(error))]
    return [Mark(max(1, line), one.argument, REFUSED, str(one)) for line, one in error.errors]


def marks_read(path: Path) -> list[Mark]:
    """What is read of a page, with nothing decided.

    Raises:
        InvalidArgumentError: for a file that is no page.
        PageError: for all on it that is not understood.
    """
    return sorted(_read(path), key=lambda mark: mark.line)


def marks_found(path: Path) -> list[Mark]:
    """What is found of a page's displays; of a page that is refused, why.

    What was found before, and has not changed since, is shown as it was kept.
    """
    try:
        return sorted(_found(path), key=lambda mark: mark.line)
    except InvalidArgumentError as error:
        return refused(error)


def _paper(path: Path) -> OwnPaper:
    if path.suffix != ".md" or not path.is_file():
        raise InvalidArgumentError("page", str(path), "a Markdown page, NAME.md")
    paper = opened(str(path))
    if not isinstance(paper, OwnPaper):
        raise InvalidArgumentError("page", str(path), "a page of your own")
    return paper


def _read(path: Path) -> Iterator[Mark]:
    if is_page_of_mechanisms(str(path)):
        from dpverify.statements.mechanisms.reading import read_mechanisms

        for one in read_mechanisms(path):
            yield from (Mark(s.line, f"{one.id}, {s.role}", "", s.latex) for s in one.steps)
    elif is_page_of_theorems(str(path)):
        from dpverify.statements.theorems.pages import read_theorems

        for theorem in read_theorems(path):
            unclear = {one.line: one.says for one in theorem.unclear}
            for display in theorem.displays:
                standing = REFUSED if display.line in unclear else ""
                says = unclear.get(display.line, display.latex)
                yield Mark(display.line, f"{theorem.id}, {display.role}", standing, says)
    else:
        from dpverify.verification.catalog.rows import what_was_read
        from dpverify.verification.catalog.source_rows import rows_of

        paper = _paper(path)
        for row in (row for statement in paper.statements for row in rows_of(statement) if not row.units):
            line = _line(paper, row.statement.id, row.name, row.variant)
            yield Mark(line, f"{row.statement.id}/{row.name}", "", what_was_read(row.obligation))


def _found(path: Path) -> Iterator[Mark]:
    if is_page_of_mechanisms(str(path)):
        from dpverify.verification.mechanisms import mechanism_rows
        from dpverify.views.pairs import pair_lines

        for row in mechanism_rows([str(path)]):
            pair = row.pair
            more = (
                ()
                if pair is None
                else tuple(line.strip() for line in [*pair_lines(row.id, row.line, pair)][1:])
            )
            yield Mark(row.line, row.id, str(row.verdict), row.reason, more)
    elif is_page_of_theorems(str(path)):
        from dpverify.verification.theorems import theorem_rows

        for theorem in (row.found for row in theorem_rows([str(path)])):
            for display in theorem.displays:
                if display.role == "claim":
                    standing, says, more = str(theorem.verdict), theorem.reason, theorem.model_in_words
                    yield Mark(display.line, theorem.id, standing, says, more)
                elif display.reason:
                    what = f"{theorem.id}, {display.role}"
                    yield Mark(display.line, what, str(Verdict.UNDECIDED), display.reason)
    else:
        from dpverify.verification.catalog.source_rows import rows_of
        from dpverify.verification.remembering.remembered import recall_or_prove

        paper = _paper(path)
        rows = [row for statement in paper.statements for row in rows_of(statement)]
        formulas = {(row.statement.id, row.name, row.variant): row.obligation.name for row in rows}
        for proof in (record.evidence for record in recall_or_prove(paper.statements)):
            if proof.coverage is not Coverage.UNIT or proof.verdict is not Verdict.PROVED:
                name = formulas[proof.statement, proof.obligation, proof.variant]
                yield _of_formula(_line(paper, proof.statement, name, proof.variant), proof)


def _of_formula(line: int, proof: ProofEvidence) -> Mark:
    at = [f"{letter} = {value}" for letter, value in (proof.counterexample or {}).items()]
    more = [f"read as {proof.read}"] * bool(proof.read) + [f"false for {', '.join(at)}"] * bool(at)
    says = "" if proof.verdict is Verdict.PROVED else proof.reason
    return Mark(line, f"{proof.statement}/{proof.obligation}", str(proof.verdict), says, tuple(more))


def _line(paper: OwnPaper, statement: str, name: str, variant: Variant) -> int:
    """The line of a formula; of a part of one, that of its statement's first."""
    own = paper.lines.get((statement, name, variant))
    return own[1] if own else min(line for (id_, *_), (_, line) in paper.lines.items() if id_ == statement)


def of_json(text: str) -> list[Mark]:
    """Marks as `main` writes them."""
    return [Mark(**{**fields, "more": tuple(fields["more"])}) for fields in json.loads(text)]


def main() -> None:
    """Write what is found of the page that the first argument names, as JSON."""
    print(json.dumps([asdict(mark) for mark in marks_found(Path(sys.argv[1]))]))


if __name__ == "__main__":
    main()
