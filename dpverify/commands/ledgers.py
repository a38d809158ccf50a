"""The commands that read ledgers: `dpverify check`, `report`, `findings`, `sandwich`, `compare` and `badge`."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpverify import extras
from dpverify.commands.formats import refuse_two_outputs
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import (
    VIOLATED,
    Jobs,
    Json,
    check_folder,
    check_json,
    print_table,
    progress_bar,
    write_json,
    write_or_show,
)

if TYPE_CHECKING:
    from dpverify.proving.rocq.kernel import Kernel


def _in_folder(path: Path) -> Path:
    """Of a folder that `dpverify verify` wrote, its ledger."""
    return (
        path / "ledger.json" if os.path.isdir(path) else path
    )  # Path.is_dir raises where the name is too long


LedgerFile = Annotated[
    Path,
    typer.Argument(metavar="LEDGER", help="A ledger.json, or the folder that holds it.", callback=_in_folder),
]

KernelName = Annotated[
    str,
    typer.Option(metavar="rocq", help="Ask this proof assistant's kernel, too, about all that is confirmed."),
]
KernelPath = Annotated[
    str,
    typer.Option(metavar="FILE", help="Its compiler, rocq or coqc; default: the one on the search path."),
]

_LONGEST = 60
"""Characters of a badge's label."""


def check(
    ledger: Annotated[
        Path,
        typer.Argument(
            metavar="LEDGER",
            help="A ledger.json with its certificates beside it, or their folder.",
            callback=_in_folder,
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATEMENT[/OBLIGATION]",
            help="Check only these rows, or the audits of an algorithm or a plan; default: all.",
        ),
    ] = None,
    rerun: Annotated[
        int, typer.Option(min=0, metavar="K", help="Repeat K of the audits that draw at random, bit by bit.")
    ] = 0,
    rerun_seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Seed that picks them; default: a new one, printed."),
    ] = None,
    kernel: KernelName = "",
    kernel_path: KernelPath = "",
    jobs: Jobs = 2,
    json_file: Json = None,
) -> None:
    """Check a ledger against its source and certificates.

    The check trusts neither the ledger nor the provers. It compares each proof row with the problem that its source
    states, and runs the independent checker on its certificate again. It compares audits with their plans: sizes,
    seeds and shares of the failure probability. It computes again what draws nothing, and repeats as many random
    audits as --rerun asks. With --kernel rocq, the kernel of Rocq (Coq) gets statements from the second reader and
    scripts made from certificates. Rows that it does not accept are counted with the reason (docs/rocq.md); such a row
    fails only if the ledger says otherwise. Exit code 0: all rows are confirmed, or unconfirmed, undecided or planned
    as the ledger itself says; 1: a row or certificate is missing, or contradicts its source or the checker; 2: no
    ledger.
    """
    extras.require("dpverify check", "prove")
    from dpverify.verification.checking.audit_check import Rerun
    from dpverify.verification.checking.ledger_check import check_ledger

    check_json(json_file)
    asked = asked_kernel(kernel, kernel_path)
    again = Rerun(rerun, secrets.randbelow(10**9) if rerun_seed is None else rerun_seed)
    bar = progress_bar("checking")
    found = check_ledger(
        ledger, only=tuple(only or ()), rerun=again, progress=bar, kernel=asked, workers=jobs
    )
    lines = [*(row.line() for row in found.failed), found.summary()]
    write_or_show(json_file, found.as_json, lambda: typer.echo("\n".join(lines)))
    if found.failed:
        raise typer.Exit(VIOLATED)


def asked_kernel(name: str, path: str) -> Kernel | None:
    """The kernel that is asked for; None if none is, or, with a sentence that says so, if it is not installed."""
    from dpverify.proving.rocq.kernel import NEEDED, found_kernel

    if name not in ("", "rocq"):
        raise InvalidArgumentError("--kernel", name, "rocq")
    if path and not name:
        raise InvalidArgumentError("--kernel-path", path, "only together with --kernel rocq")
    kernel = found_kernel(path) if name else None
    if name and kernel is None:
        typer.echo(f"{NEEDED} is not installed, so its kernel was not asked; see docs/rocq.md.", err=True)
    return kernel


def report(
    ledger: LedgerFile,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the report; default: beside the ledger.")
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="For printing: without a page for each statement and algorithm.")
    ] = False,
) -> None:
    """Write a ledger's HTML report again.

    The ledger and its certificates are not changed.
    """
    extras.require("dpverify report", "report")
    from dpverify.reports import write_report_again

    if out is not None:
        check_folder("--out", out)
    typer.echo(f"Report: {write_report_again(ledger, out, short=short).page}")


def findings(
    ledger: LedgerFile,
    paper: Annotated[
        str, typer.Option(metavar="KEY", help="The letter on this paper alone; default: all.")
    ] = "",
) -> None:
    """Print what is false in each paper, as a letter.

    Each letter, in Markdown, has each fault once, the gravest first, with its counterexample, what breaks and what is
    true; then come steps of proofs, edge cases and notation.
    """
    extras.require("dpverify findings", "report")
    from dpverify.reports import findings_markdown, load_ledger
    from dpverify.statements.paper import papers

    found = load_ledger(ledger)
    known = sorted({row.paper for row in found.statements})
    if paper and paper not in known:
        raise InvalidArgumentError(
            "--paper", paper, f"one of the ledger's: {', '.join(known) or 'it has none'}"
        )
    names = {key: each.named for key, each in papers().items()}
    typer.echo(findings_markdown(found, names, paper), nl=False)


def sandwich(ledger: LedgerFile, json_file: Json = None) -> None:
    """Print claimed, proved, exact and audited epsilons.

    Each algorithm has a row, about the pair of data sets on which an audit showed the largest part of the proved
    epsilon: its delta, then epsilons in nats. Standard error lists audits without a lower bound, with the reason.
    """
    extras.require("dpverify sandwich", "report")
    from dpverify.reports import load_ledger
    from dpverify.views.sandwich import COLUMNS, as_json, cells
    from dpverify.views.sandwich import sandwich as made

    check_json(json_file)
    found = made(load_ledger(ledger))
    write_or_show(json_file, lambda: as_json(found), lambda: print_table(COLUMNS, cells(found.rows)))
    typer.echo(f"{found.summary()}.", err=True)
    for evidence, why in found.zeros:
        typer.echo(f"{evidence.subject}, {evidence.title}: {why}", err=True)


def compare(
    old: LedgerFile,
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="Another one, usually later.", callback=_in_folder)
    ],
    form: Annotated[
        str,
        typer.Option("--format", metavar="text|json|markdown", help="What is written to standard output."),
    ] = "text",
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="All fields have to be the same, but for times, versions and what a store gave."
        ),
    ] = False,
    json_file: Json = None,
) -> None:
    """Compare two ledgers, row by row.

    Exit code 1 if a proof was lost or a claim is newly violated, else 0; 2 if a file is no ledger. A proof is lost if
    a formula that was proved, certified or refuted no longer is, or is certified where it was proved, or is missing, or
    is no longer confirmed. Everything else that changed is listed, too. With --exact, as for two machines and one seed,
    exit code 1 if any row or field differs, except times, versions and uses of a store.
    """
    from dpverify.reports import load_ledger
    from dpverify.reports.formats.markdown import comparison_markdown
    from dpverify.views.comparison import compare_ledgers

    if form not in ("text", "json", "markdown"):
        raise InvalidArgumentError("--format", form, "text, json, markdown")
    refuse_two_outputs(form, json_file)
    check_json(json_file)
    found = compare_ledgers(load_ledger(old), load_ledger(new), exact=exact)
    if form == "json":
        write_json("-", found.as_json())
    lines = [*(row.line() for row in found.changed), *found.notes, *(found.exact or ()), found.summary()]
    text = (
        comparison_markdown(found)
        if form == "markdown"
        else "\n".join([*lines, ""])
        if form == "text"
        else ""
    )
    write_or_show(json_file, found.as_json, lambda: typer.echo(text, nl=False))
    if found.fails:
        raise typer.Exit(VIOLATED)


def badge(
    ledger: LedgerFile,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="svg|shields", help="A picture, or the JSON of a shields.io endpoint."
        ),
    ] = "svg",
    label: Annotated[str, typer.Option(metavar="TEXT", help="Text on the left.")] = "dpverify",
) -> None:
    """Make a badge from a ledger.

    The badge counts verdicts, such as "67 hold, 38 false, 24 open" or "3 supported"; it is red if a claim is
    violated. It goes to standard output.
    """
    from dpverify.reports import load_ledger
    from dpverify.reports.formats.badge import badge as made_of

    if form not in ("svg", "shields"):
        raise InvalidArgumentError("--format", form, "svg or shields")
    if not label.strip() or not label.isprintable() or len(label) > _LONGEST:
        raise InvalidArgumentError("--label", label, f"1 to {_LONGEST} printable characters")
    made = made_of(load_ledger(ledger), label=label)
    if form == "svg":
        typer.echo(made.svg(), nl=False)
    else:
        write_json("-", made.shields())
