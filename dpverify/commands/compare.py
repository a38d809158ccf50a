"""The command `dpverify compare`: what changed from one ledger to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import VIOLATED, Json, check_json, write_json

FORMATS = ("text", "json", "markdown")


def compare(
    old: Annotated[Path, typer.Argument(help="A ledger.json.")],
    new: Annotated[Path, typer.Argument(help="Another one, usually later.")],
    form: Annotated[
        str,
        typer.Option("--format", metavar="text|json|markdown", help="What is written to standard output."),
    ] = "text",
    json_file: Json = None,
) -> None:
    """Compare two ledgers, row by row.

    Exit code 1 if a proof was lost or a claim is newly violated, else 0; 2 for what is no ledger. A proof is lost where
    a formula that was proved, certified or refuted is not, or less so, or is missing, or is no longer confirmed.
    Everything else that changed is listed as well.
    """
    from dpverify.reports import load_ledger
    from dpverify.reports.formats.markdown import comparison_markdown
    from dpverify.views.comparison import compare_ledgers

    if form not in FORMATS:
        raise InvalidArgumentError("--format", form, ", ".join(FORMATS))
    if form != "text" and json_file == "-":
        raise InvalidArgumentError(
            "--json", json_file, f"a file, since --format {form} goes to standard output"
        )
    check_json(json_file)
    found = compare_ledgers(load_ledger(old), load_ledger(new))
    if json_file is not None:
        write_json(json_file, found.as_json())
    if form == "json":
        write_json("-", found.as_json())
    elif form == "markdown":
        typer.echo(comparison_markdown(found), nl=False)
    elif json_file != "-":
        for line in (*(row.line() for row in found.changed), *found.notes, found.summary()):
            typer.echo(line)
    if found.failed:
        raise typer.Exit(VIOLATED)
