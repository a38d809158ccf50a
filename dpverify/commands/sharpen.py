"""The command `dpverify sharpen`: how far formulas hold that are refuted, undecided or loose."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpverify import extras
from dpverify.commands.statements import known_ids, recalled_or_proved
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import Jobs, Json, check_json, print_table, progress_bar, write_json

if TYPE_CHECKING:
    from dpverify.ledger.besides.thresholds import Threshold

_PER_SECOND = 3
"""Attempts at a proof that are counted as a second."""


def sharpen(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Papers or statement ids, STATEMENT/FORMULA, or Markdown pages or folders of your own; default: all.",
            autocompletion=known_ids,
        ),
    ] = None,
    letter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LETTER", help="Only bounds on it; may be repeated; default: all letters, and numbers."
        ),
    ] = None,
    loose: Annotated[
        bool, typer.Option("--loose", help="Formulas that hold, too: how much sharper their numbers may be.")
    ] = False,
    seconds: Annotated[
        int,
        typer.Option(
            min=1,
            help="Work for each formula. It is counted, 3 attempts at a proof for a second: what is found does not "
            "depend on the machine.",
        ),
    ] = 20,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A ledger.json of dpverify verify, into whose rows what is found is written."
        ),
    ] = None,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """Find out how far formulas hold.

    For each formula that is refuted, undecided or does not follow, the command varies one thing at a time: a bound on a
    letter that would be one more hypothesis (x <= c, x >= c; x <= c y, x <= c/y and the like for two letters), the
    factor of the right side, each constant, each exponent. If it finds both ends, the formula is proved at one and
    refuted at the other, and the checker confirms both. Nothing is known between the ends and, for constants and
    exponents, beyond them. Each result comes with a correction, as it may stand on a page.

    Examples: dpverify sharpen fmtt18.lem27; dpverify sharpen my-page.md --letter n; dpverify sharpen --ledger
    build/verify/ledger.json. Then dpverify explain, report and check show and check it. Exit code 0.
    """
    extras.require("dpverify sharpen", "prove")
    from dpverify.ledger.besides.thresholds import nearest
    from dpverify.proving.language import parts_of
    from dpverify.statements.selection import select_statements
    from dpverify.verification.thresholds import asked_of, can_be_sharpened, put_into, recall_or_sharpen

    check_json(json_file)
    if ledger is not None and not ledger.is_file():
        raise InvalidArgumentError("--ledger", str(ledger), "a ledger.json that dpverify verify has written")
    named = [_split(name) for name in ids or ()]
    formulas, names = {formula for _, formula in named if formula}, tuple(name for name, _ in named)
    if formulas:
        known = {part.name for s in select_statements(names) for part in parts_of(s.printed)}
        for formula in sorted(formulas - known):
            raise InvalidArgumentError("formula", formula, f"one of {', '.join(sorted(known))}")
    rows = [record.evidence for record in recalled_or_proved(names, jobs)]
    wanted = [row for row in rows if not formulas or row.obligation in formulas]
    letters, attempts = tuple(letter or ()), _PER_SECOND * seconds
    chosen = [row for row in wanted if can_be_sharpened(row, loose=loose or bool(formulas))]
    allowed = sorted({x for row in chosen for x in row.domain})
    for name in letters:
        if chosen and name not in allowed:
            raise InvalidArgumentError("--letter", name, f"a letter of these formulas: {', '.join(allowed)}")
    questions = [
        asked_of(row, tuple(x for x in letters if x in row.domain), attempts)
        for row in chosen
        if not letters or any(x in row.domain for x in letters)
    ]

    def missing(count: int) -> None:
        if count:
            typer.echo(
                f"Sharpening {count} formula{'s' if count > 1 else ''}, once; what is found is kept.",
                err=True,
            )

    found = recall_or_sharpen(questions, workers=jobs, progress=progress_bar("sharpening"), missing=missing)
    if ledger is not None:
        typer.echo(f"{ledger}: {put_into(ledger, found)} rows say how far they hold.", err=True)
    if json_file is not None:
        write_json(json_file, {"schema_version": 1, "formulas": [f.as_json() for f in found]})
    if json_file == "-":
        return
    for f in found:
        typer.echo(f"{f.asked.statement}/{f.asked.obligation}: {f.asked.verdict}")
        if f.thresholds:
            print_table(_COLUMNS, map(_cells, f.thresholds))
        best = nearest(f.thresholds)
        if best is not None and best.correction:
            typer.echo(best.correction)
        if f.cut_short:
            typer.echo(
                "A guard of time ended some of the work here, so that a faster machine may find more.",
                err=True,
            )
    two = sum(any(t.fails for t in f.thresholds) for f in found)
    one = sum(bool(f.thresholds) for f in found) - two
    typer.echo(
        f"Formulas: {len(found)}; both ends of {two}, one end of {one}, nothing of {len(found) - two - one}."
    )
    if not found and wanted and not loose:
        typer.echo("What holds is only asked for its numbers, with --loose.")


_COLUMNS = ("varied", "holds", "fails", "where it fails", "given")


def _cells(found: Threshold) -> tuple[str, ...]:
    from dpverify.views.formula import point_text

    fails = found.fails
    return (
        found.of(),
        f"{found.shown(found.holds)} ({found.holds.verdict})",
        f"{found.shown(fails)} ({fails.verdict})" if fails else "not found",
        point_text(fails.counterexample) if fails else "",
        found.condition(),
    )


def _split(name: str) -> tuple[str, str]:
    """A name without the formula that it may end with, and this formula."""
    pages, sharp, rest = name.rpartition("#")
    if not sharp and (rest.endswith(".md") or os.path.isdir(rest)):
        return name, ""
    statement, _, formula = rest.partition("/")
    return f"{pages}{sharp}{statement}", formula
