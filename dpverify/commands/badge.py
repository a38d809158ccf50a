"""The command `dpverify badge`: what a ledger says in a few words, for a README."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import write_json

FORMATS = ("svg", "shields")

_LONGEST = 60
"""Characters of a label."""


def badge(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json.")],
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="svg|shields", help="A picture, or the JSON of a shields.io endpoint."
        ),
    ] = "svg",
    label: Annotated[str, typer.Option(help="What stands on the left.")] = "dpverify",
) -> None:
    """Make a badge from a ledger.

    Its words are counts of verdicts, such as "67 hold, 38 false, 24 open" or "3 supported"; it is red where a claim is
    violated. Written to standard output.
    """
    from dpverify.reports import load_ledger
    from dpverify.reports.formats.badge import badge as made_of

    if form not in FORMATS:
        raise InvalidArgumentError("--format", form, " or ".join(FORMATS))
    if not label.strip() or not label.isprintable() or len(label) > _LONGEST:
        raise InvalidArgumentError("--label", label, f"1 to {_LONGEST} printable characters")
    made = made_of(load_ledger(ledger), label=label)
    if form == "svg":
        typer.echo(made.svg(), nl=False)
    else:
        write_json("-", made.shields())
