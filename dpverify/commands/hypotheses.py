"""The command `dpverify hypotheses`: which hypotheses of statements their proofs need."""

from __future__ import annotations

from typing import Annotated

import typer

from dpverify import extras
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import Jobs, Json, check_json, print_table, progress_bar, write_json


def hypotheses(
    ids: Annotated[list[str] | None, typer.Argument(help="Papers or statement ids; default: all.")] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a page in Markdown instead of a table.")
    ] = False,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """List which hypotheses of statements their proofs need.

    Each proved formula is tried again without each of its hypotheses, which are its conditions and the ends of its
    letters' domains. One is needed if the formula is false or undefined at a point where all others hold, and unused
    if the formula is proved without it. Also looks for a point at which all conditions of a statement hold at once.
    What is found is kept in the user's cache folder until a formula or a prover changes; for all statements it takes
    minutes.
    """
    extras.require("dpverify hypotheses", "prove")
    from dpverify.statements.selection import select_statements
    from dpverify.verification.hypotheses.found import recall_or_find_hypotheses
    from dpverify.verification.hypotheses.words import CUT_SHORT, case_lines, markdown, summary
    from dpverify.views.formula import point_text

    check_json(json_file)
    if as_markdown and json_file == "-":
        raise InvalidArgumentError("--json", json_file, "a file, since --markdown goes to standard output")
    statements = select_statements(tuple(ids or ()))

    def missing(count: int) -> None:
        if count > 1:
            typer.echo(f"Trying the formulas of {count} statements without their hypotheses, once.", err=True)

    found = recall_or_find_hypotheses(
        statements, workers=jobs, progress=progress_bar("hypotheses"), missing=missing
    )
    if json_file is not None:
        rows = [f.model_dump(mode="json") for f in found]
        write_json(json_file, {"schema_version": 1, "statements": rows})
    if as_markdown:
        typer.echo(markdown(found), nl=False)
    if json_file == "-" or as_markdown:
        return
    print_table(
        "",
        ("statement", "hypothesis", "use", "formula", "where"),
        (
            (f.statement, h.hypothesis, h.use, h.formula, point_text(h.point or {}))
            for f in found
            for h in f.hypotheses
        ),
    )
    for f in found:
        if f.cut_short:
            typer.echo(f"{f.statement}: {CUT_SHORT}", err=True)
    for f in found if len(found) == 1 else ():
        for words, of in (("as printed", f.printed), ("corrected", f.corrected)):
            for line in case_lines(of):
                typer.echo(f"Conditions {words}: {line}")
    typer.echo(summary(found))
