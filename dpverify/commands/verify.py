"""The command `dpverify verify`: everything is proved and audited, into one ledger and its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpverify import extras
from dpverify.commands.formats import Form, check_format, write_run
from dpverify.commands.ledgers import KernelName, KernelPath, asked_kernel
from dpverify.terminal import VIOLATED, Seed, check_folder, end_on_faults, progress_bar

if TYPE_CHECKING:
    from dpverify.ledger.document import Ledger


def verify(
    paper: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="A paper, a statement, a theorem or a page of your own; may be repeated; default: all.",
        ),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            metavar="quick|full",
            help="quick (minutes), or full (ten times as many runs, and audits at real size).",
        ),
    ] = "quick",
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for ledger, certificates and report.")
    ] = Path("build/verify"),
    failure_probability: Annotated[
        float, typer.Option(help="Failure probability of the whole run, shared by all audits.")
    ] = 1e-3,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PLAN", help="An audit plan; may be repeated; default: all.")
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            metavar="serial|threads=K|processes=K|dask=ADDRESS", help="Where an audit's runs are computed."
        ),
    ] = "serial",
    jobs: Annotated[
        int,
        typer.Option(
            min=1, help="Processes for proofs and audits; with processes or dask, audits run one at a time."
        ),
    ] = 2,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="For finished proofs, audits and blocks, from which an interrupted run continues.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Also exit with 1 if a printed statement is refuted or does not follow."
        ),
    ] = False,
    kernel: KernelName = "",
    kernel_path: KernelPath = "",
    form: Form = "text",
) -> None:
    """Prove all statements, audit all implementations.

    Writes the ledger, its certificates and the report. If an earlier run left its own there, it replaces them and says
    how the rows changed. With --kernel rocq, the kernel of Rocq (Coq) also judges rows that the checker confirms; its
    answer stands in the ledger, the report and `dpverify list` (docs/rocq.md). Exit code 1 if a claim about an
    implementation is violated, else 0: the report shows undecided audits and formulas, but they are not failures.
    """
    extras.require("dpverify verify", "prove", "report", *(() if paper else extras.OF_AUDITS))
    from dpverify.ledger.proofs import ProofEvidence
    from dpverify.ledger.verdicts import BROKEN
    from dpverify.reports import write_ledger, write_report
    from dpverify.verification import VerificationSettings
    from dpverify.verification import verify as run_verification
    from dpverify.verification.remembering.remembered import remember_all
    from dpverify.verification.thresholds import remember_thresholds

    check_format(form)
    asked = asked_kernel(kernel, kernel_path)
    settings = VerificationSettings(
        tuple(paper or ()),
        profile,
        seed,
        failure_probability,
        tuple(only or ()),
        executor,
        jobs,
        store,
        asked,
    )
    settings.require_libraries("dpverify verify")
    check_folder("--out", out)
    before = _earlier(out / "ledger.json")
    ledger, certificates = run_verification(settings, progress=progress_bar)
    out.mkdir(parents=True, exist_ok=True)
    write_ledger(ledger, out / "ledger.json")  # first, so that no fault in the report can lose the run
    written = write_report(ledger, out, certificates)
    proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
    remember_all(proofs)
    remember_thresholds(proofs)
    write_run(ledger, form, findings_fail=strict)
    for line in () if before is None else since(before, ledger):
        typer.echo(line, err=form != "text")
    typer.echo(f"Ledger: {written.ledger}", err=form != "text")
    typer.echo(f"Report: {written.page}", err=form != "text")
    end_on_faults(proofs)
    broken = strict and any(statement.printed.verdict in BROKEN for statement in ledger.statements)
    if broken or any(entry.verdict == "violated" for entry in ledger.entries):
        raise typer.Exit(VIOLATED)


def _earlier(path: Path) -> Ledger | None:
    """The ledger that a run leaves behind where this one writes; None if there is none that can be read."""
    from dpverify.errors import InvalidDataError
    from dpverify.reports import load_ledger

    try:
        return load_ledger(path)
    except InvalidDataError:
        return None


def since(before: Ledger, after: Ledger) -> Iterator[str]:
    """What became of the rows of an earlier run: those that are worse, and how many changed.

    Of a run of something else nothing is said but which it was.
    """
    from dpverify.views.comparison import compare_ledgers
    from dpverify.views.number_text import moment

    if before.command != after.command:
        yield f"not compared with the run before, which was `{before.command}`"
        return
    found = compare_ledgers(before, after)
    yield from (row.line() for row in found.failed)
    yield f"since the run of {moment(before.created)}: {found.summary()}"
