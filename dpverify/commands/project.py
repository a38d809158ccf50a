"""The commands `dpverify init` and `dpverify run`: a project's claims, written down once and audited in CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpverify import extras
from dpverify.commands.formats import Form, check_format
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import (
    BAD_INPUT,
    UNDECIDED,
    VIOLATED,
    Json,
    check_folder,
    check_json,
    print_table,
    tell,
    write_or_show,
)

if TYPE_CHECKING:
    from dpverify.views.results import AuditedClaim


def init(
    folder: Annotated[Path, typer.Argument(help="The project's folder.")] = Path("."),
    paper: Annotated[
        str | None, typer.Option(metavar="NAME", help="Write a package of this name about a paper instead.")
    ] = None,
) -> None:
    """Write a first claim, its data and a test into a project.

    The claim goes into pyproject.toml, as a commented table [tool.dpverify], or into dpverify.toml if there is none.
    The folder privacy/ gets a function, two neighboring data sets and a test. Nothing else that exists is changed.
    Then `dpverify run` audits the claim, and `pytest privacy` runs the test.

    With --paper, it writes a package about a paper instead: a page of statements, an algorithm and its audit. Its
    README says how they are verified.
    """
    if paper is not None:
        extras.require("dpverify init --paper", "prove")
    from dpverify.commands.claims.first_claims import write_first_claims, write_first_paper

    written = write_first_claims(folder) if paper is None else write_first_paper(folder, paper)
    for path in written:
        typer.echo(str(path))
    tell("Next, in that folder: dpverify run; pytest privacy" if paper is None else f"Next: {written[0]}")


def run(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Claims; default: all.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="Where claims are stated; default: pyproject.toml or dpverify.toml in this folder. Files named there "
            "are relative to its folder; functions are imported from the current one.",
        ),
    ] = None,
    form: Form = "text",
    json_file: Json = None,
) -> None:
    """Audit all claims that a project states.

    They share one failure probability. The ledger goes into the folder that the project names, for dpverify report and
    dpverify compare. If an audit ends in an error, the command says so and goes on with the others.
    Exit code 1 if a claim is violated, else 2 if one could not be audited, else 3 if one is undecided, else 0.
    """
    from dpverify.commands.claims.stated_claims import audit_project, claim_places, project_file, read_project
    from dpverify.reports import write_ledger
    from dpverify.reports.formats.documents import claims_json

    if config is not None and not config.is_file():
        raise InvalidArgumentError("--config", str(config), "a TOML file")
    path = project_file(Path()) if config is None else config
    project = read_project(path)
    out = path.parent / project.report
    check_folder("report", out)
    check_format(form, json_file)
    check_json(json_file)
    ledger, audited = audit_project(
        project, chosen=tuple(names or ()), places=claim_places(project, path), tell=tell
    )
    out.mkdir(parents=True, exist_ok=True)
    write_ledger(ledger, out / "ledger.json")
    write_or_show(json_file, lambda: claims_json(audited), lambda: _show(audited, form, ledger.command))
    tell(f"Ledger: {out / 'ledger.json'}")
    outcomes = {one.outcome for one in audited}
    for outcome, code in (("violated", VIOLATED), ("not audited", BAD_INPUT), ("undecided", UNDECIDED)):
        if outcome in outcomes:
            raise typer.Exit(code)


def _show(audited: Sequence[AuditedClaim], form: str, command: str) -> None:
    from dpverify.commands.formats import write_results
    from dpverify.reports.formats.documents import claims_json
    from dpverify.reports.formats.markdown import claims_markdown
    from dpverify.views.results import result_of_claim

    if form == "text":
        print_table(("verdict", "name", "claim", "epsilon at least", "why"), map(_cells, audited))
        return
    write_results(
        form,
        "dpverify run",
        lambda: map(result_of_claim, audited),
        lambda: claims_json(audited),
        lambda: claims_markdown(audited, command=command),
    )


def _cells(one: AuditedClaim) -> tuple[str, ...]:
    return "error" if one.found is None else one.found.verdict, *one.cells
