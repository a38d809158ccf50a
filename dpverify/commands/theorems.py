"""What `dpverify prove` does with theorems: derive each by the steps of its page, and say what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from dpverify import extras
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import UNDECIDED, VIOLATED, print_table, progress_bar, write_json

if TYPE_CHECKING:
    from dpverify.ledger.theorems import TheoremEvidence


def prove_theorems(
    names: Sequence[str], form: str, json_file: str | None, *, strict: bool, again: bool, jobs: int
) -> bool:
    """Derive theorems, if names are of theorems; whether they are.

    Raises:
        InvalidArgumentError: for names of theorems among others, and for another form than text.
    """
    from dpverify.ledger.verdicts import Verdict
    from dpverify.statements.theorems.names import about_theorems

    if not about_theorems(names):
        return False
    from dpverify.verification.theorems import theorem_rows

    if form != "text":
        raise InvalidArgumentError("--format", form, "`text`, or --json, for theorems")
    rows = theorem_rows(names, workers=jobs, progress=progress_bar("deriving"), again=again)
    found = [row.found for row in rows]
    if json_file is not None:
        write_json(json_file, [row.json for row in rows])
    if json_file != "-":
        print_theorems(found)
    if strict and any(row.verdict is Verdict.REFUTED for row in found):
        raise typer.Exit(VIOLATED)
    if any(row.verdict is Verdict.UNDECIDED for row in found):
        raise typer.Exit(UNDECIDED)
    return True


def list_theorems(names: Sequence[str], *, as_json: bool, jobs: int) -> bool:
    """List theorems with their verdicts, if names are of theorems; whether they are.

    Raises:
        InvalidArgumentError: for names of theorems among others.
    """
    from dpverify.statements.theorems.names import about_theorems

    if not about_theorems(names):
        return False
    extras.require("dpverify list of theorems", "prove")
    from dpverify.verification.theorems import theorem_rows

    found = [row.found for row in theorem_rows(names, workers=jobs, progress=progress_bar("deriving"))]
    if as_json:
        write_json("-", [row.model_dump(mode="json") for row in found])
    else:
        print_theorems(found)
    return True


def print_theorems(found: Sequence[TheoremEvidence]) -> None:
    """A table of theorems, and how many there are of each verdict."""
    cells = [
        (
            row.id,
            str(row.verdict),
            row.title,
            f"{row.read_twice} of {len(row.displays)}",
            ", ".join(row.rests_on),
            row.reason and f"line {row.line}: {row.reason}",
        )
        for row in found
    ]
    print_table(("id", "verdict", "what", "read twice", "rests on", "why"), cells)
    from dpverify.ledger.verdicts import Verdict
    from dpverify.views.theorems import theorems_text

    typer.echo(theorems_text(found))
    for row in found if len(found) == 1 else ():
        if row.model_in_words:
            refuted = " and the claim is not" * (row.verdict is Verdict.REFUTED)
            typer.echo(
                "\n  ".join([f"A model in which what is assumed is true{refuted}:", *row.model_in_words])
            )
