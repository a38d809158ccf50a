"""What `dpverify prove` does with pages of mechanisms: prove each claim, or show two data sets that break it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import UNDECIDED, VIOLATED, print_table, write_json


def prove_mechanisms(
    names: Sequence[str], form: str, json_file: str | None, strict: bool, audit: bool = False
) -> bool:
    """Decide mechanisms, if names are of pages of mechanisms, all or none; whether they are.

    Raises:
        InvalidArgumentError: for another form than text, and where others are audited.
    """
    from dpverify.ledger.verdicts import Verdict
    from dpverify.statements.theorems.names import is_page_of_mechanisms
    from dpverify.verification.mechanisms import mechanism_rows
    from dpverify.views.pairs import audit_lines, change_lines, pair_lines

    if not any(map(is_page_of_mechanisms, names)):
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
        print_table(("id", "verdict", "what", "rests on", "why"), cells)
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
