"""What `dpverify prove` does with theorems: derive each by the steps of its page, and say what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import UNDECIDED, VIOLATED, print_table, write_json


def prove_theorems(names: Sequence[str], form: str, json_file: str | None, strict: bool) -> bool:
    """Derive theorems, if names are of theorems; whether they are.

    Raises:
        InvalidArgumentError: for names of theorems among others, and for another form than text.
    """
    from dpverify.ledger.verdicts import Verdict
    from dpverify.verification.theorems import about_theorems, theorem_rows

    if not about_theorems(names):
        return False
    if form != "text":
        raise InvalidArgumentError("--format", form, "`text`, or --json, for theorems")
    rows = list(theorem_rows(names))
    if json_file is not None:
        write_json(json_file, [row.json for row in rows])
    if json_file != "-":
        cells = [
            (
                r.id,
                str(r.verdict),
                r.title,
                ", ".join((*r.results, *r.underived)),
                r.reason and f"line {r.line}: {r.reason}",
            )
            for r in rows
        ]
        print_table("", ("id", "verdict", "what", "rests on", "why"), cells)
        counts = Counter(str(row.verdict) for row in rows)
        said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        rules = {id_ for row in rows for id_ in row.rules}
        results = {id_ for row in rows for id_ in row.results}
        roots = f"{len(rules)} rules and {len(results)} results of the literature"
        typer.echo(f"{len(rows)} theorems: {said}; from {roots}.")
        for row in rows if len(rows) == 1 else ():
            if row.model_in_words:
                refuted = " and the claim is not" * (row.verdict is Verdict.REFUTED)
                typer.echo(
                    "\n  ".join([f"A model in which what is assumed is true{refuted}:", *row.model_in_words])
                )
    if strict and any(row.verdict is Verdict.REFUTED for row in rows):
        raise typer.Exit(VIOLATED)
    if any(row.verdict is Verdict.UNDECIDED for row in rows):
        raise typer.Exit(UNDECIDED)
    return True
