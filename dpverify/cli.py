"""The command line: parse, call, print. All results are computed in the layers below."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from dpverify import __version__
from dpverify.commands.audit import audit
from dpverify.commands.batches import batches
from dpverify.commands.canaries import canaries
from dpverify.commands.fit import fit
from dpverify.commands.importing import import_
from dpverify.commands.ledgers import badge, check, compare, findings, report, sandwich
from dpverify.commands.profile import profile
from dpverify.commands.project import init, run
from dpverify.commands.read import read
from dpverify.commands.sharpen import sharpen
from dpverify.commands.statements import explain, hypotheses, list_, prove
from dpverify.commands.tails import tails
from dpverify.commands.verify import verify
from dpverify.editor.command import language_server
from dpverify.terminal import Commands, OneCommand, run_commands

app = typer.Typer(
    name="dpverify",
    cls=Commands,
    help=(
        "Verify claims of differential privacy, about code and about convex optimization.\n\n"
        "A formula is proved, certified on a box, refuted by a counterexample, or does not follow; an implementation "
        "is run many times, and its true privacy loss is bounded from below. Exit code 0: nothing violated, 1: a claim "
        "about an implementation is violated, 2: bad input or usage, 3: undecided."
    ),
    epilog="Start with: dpverify init, then dpverify run, for code of your own; dpverify verify for the four papers, "
    "then open the report whose path it prints.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
# in the order in which --help lists them
for command in (
    list_, prove, import_, read, audit, canaries, batches, tails, compare, badge, profile, hypotheses, sharpen, fit,
    init, run, verify, check, explain, report, findings, sandwich, language_server,
):  # fmt: skip
    app.command(command.__name__.strip("_").replace("_", "-"), cls=OneCommand)(command)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2, never a traceback."""
    gc.set_threshold(100_000)  # most of what a command makes, it keeps
    run_commands(app, arguments)
