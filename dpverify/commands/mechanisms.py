"""What `dpverify prove` does with pages of mechanisms: prove each claim, or show two data sets that break it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import UNDECIDED, VIOLATED, print_table, write_json

if TYPE_CHECKING:
    from dpverify.ledger.theorems import QueryChange
    from dpverify.statements.mechanisms.pairs.sampled import PageAudit
    from dpverify.statements.mechanisms.pairs.search import BrokenPair


def prove_mechanisms(
    names: Sequence[str], form: str, json_file: str | None, strict: bool, audit: bool = False
) -> bool:
    """Decide mechanisms, if names are of pages of mechanisms; whether they are.

    Raises:
        InvalidArgumentError: for such pages among others, for another form than text, and where others are audited.
    """
    from dpverify.ledger.verdicts import Verdict
    from dpverify.verification.mechanisms import about_mechanisms, mechanism_rows

    if not about_mechanisms(names):
        if audit:
            raise InvalidArgumentError("--audit", True, "pages of mechanisms")
        return False
    if form != "text":
        raise InvalidArgumentError("--format", form, "`text`, or --json, for mechanisms")
    rows = list(mechanism_rows(names, audit))
    if json_file is not None:
        write_json(json_file, [row.json for row in rows])
    if json_file != "-":
        cells = [
            (r.id, str(r.verdict), r.title, ", ".join(r.results), r.reason and f"line {r.line}: {r.reason}")
            for r in rows
        ]
        print_table("", ("id", "verdict", "what", "rests on", "why"), cells)
        for row in rows:
            if row.pair is not None:
                typer.echo("\n".join(pair_lines(row.id, row.line, row.pair)))
            for one in row.changes:
                typer.echo("\n".join(change_lines(row.id, one)))
            if row.instead is not None:
                typer.echo(f"{row.id}: proved instead, {row.instead.measure} = {row.instead.value}")
            if row.audit is not None:
                typer.echo("\n".join(audit_lines(row.id, row.audit)))
        counts = Counter(str(row.verdict) for row in rows)
        typer.echo(
            f"{len(rows)} mechanisms: {', '.join(f'{number} {verdict}' for verdict, number in counts.items())}."
        )
    if strict and any(row.verdict in (Verdict.REFUTED, Verdict.VIOLATED) for row in rows):
        raise typer.Exit(VIOLATED)
    if any(row.verdict is Verdict.UNDECIDED for row in rows):
        raise typer.Exit(UNDECIDED)
    return True


def pair_lines(id_: str, line: int, pair: BrokenPair) -> Iterator[str]:
    """A pair as a person would show it."""
    yield f"{id_}, line {line}: two data sets that the claim does not cover"
    yield from _data_lines(pair)
    if pair.probabilities is not None:
        (low, _), (_, high) = pair.probabilities
        yield f"  event: {pair.event}"
        yield f"  its probability: at least {low:g} on the data, at most {high:g} on the neighbor"
    if 0 < pair.needs < float("inf"):
        where = f" at {pair.at}" * bool(pair.at)
        most = pair.suffices
        needs = f"of at least {pair.needs:g}" if most is None else f"between {pair.needs:g} and {most:g}"
        yield f"  this pair needs {pair.measure} {needs}{where}"


def change_lines(id_: str, change: QueryChange) -> Iterator[str]:
    """How much a query changes, with the pair on which that is most."""
    from dpverify.views.theorems import change_in_words

    yield f"{id_}, line {change.line}: {change_in_words(change)}"
    yield from _data_lines(change)


def audit_lines(id_: str, audit: PageAudit) -> Iterator[str]:
    """An audit of a page's mechanism."""
    found = audit.evidence
    yield f"{id_}: its draws, made by a generator: {found.verdict}, failure probability {found.failure_probability:g}"
    yield from _data_lines(audit)
    yield f"  {found.reason}"


def _data_lines(shown: BrokenPair | PageAudit | QueryChange) -> Iterator[str]:
    if shown.letters:
        yield f"  for {', '.join(f'{latex} = {value}' for latex, value in shown.letters)}"
    for name, rows in (("data", shown.left), ("neighbor", shown.right)):
        runs = [(", ".join(row), len([*same])) for row, same in groupby(rows)]
        said = [row if n == 1 else f"{row} ({n} times)" for row, n in runs]
        yield f"  {name}: {'; '.join(said) or 'no records'}"
