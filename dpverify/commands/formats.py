"""The forms that other programs read, and what `prove` and `verify` write in them to standard output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import write_json

if TYPE_CHECKING:
    from dpverify.ledger.document import Ledger
    from dpverify.ledger.proofs import ProofEvidence

FORMATS = ("text", "json", "junit", "sarif", "markdown")
Form = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="text|json|junit|sarif|markdown",
        help="What goes to standard output: text, JSON, JUnit XML, SARIF for code scanning, or Markdown for a pull "
        "request (docs/outputs.md).",
    ),
]


def check_format(form: str, json_file: str | None = None) -> None:
    """Refuse what is no form, and two kinds of output in one place.

    Raises:
        InvalidArgumentError: for these.
    """
    if form not in FORMATS:
        raise InvalidArgumentError("--format", form, ", ".join(FORMATS))
    if form != "text" and json_file == "-":
        raise InvalidArgumentError(
            "--json", json_file, f"a file, since --format {form} goes to standard output"
        )


def write_proofs(
    proofs: Sequence[ProofEvidence],
    form: str,
    *,
    page: Path | None,
    title: str,
    beside: Sequence[str] = (),
    command: str,
    findings_fail: bool,
) -> None:
    """Write proofs to standard output.

    Args:
        proofs: what was found.
        form: one of `FORMATS` but text.
        page: on which the formulas stand; None for those of papers.
        title: what is said of it all.
        beside: what else is said of it, a line each. In forms but Markdown, both are on standard error, for a page.
        command: that does it again.
        findings_fail: whether a refuted printed formula is a failure.
    """
    from dpverify.reports.formats.documents import proofs_json
    from dpverify.reports.formats.junit import junit
    from dpverify.reports.formats.markdown import proofs_markdown
    from dpverify.reports.formats.sarif import sarif
    from dpverify.views.results import result_of

    if form != "markdown":
        for line in (*([title] if page is not None else ()), *beside):
            typer.echo(line, err=True)
    if form == "json":
        write_json("-", proofs_json(proofs))
    elif form == "junit":
        results = [result_of(proof, findings_fail=findings_fail) for proof in proofs]
        typer.echo(junit(results, "dpverify prove"), nl=False)
    elif form == "markdown":
        typer.echo(proofs_markdown(proofs, title=title, beside=beside, command=command), nl=False)
    else:
        from dpverify.verification.places import place_on_page, source_places

        find = source_places()
        places = (find(p.statement) if page is None else place_on_page(page, p.where) for p in proofs)
        results = [
            result_of(p, place, findings_fail=findings_fail) for p, place in zip(proofs, places, strict=True)
        ]
        write_json("-", sarif(results))


def write_run(ledger: Ledger, form: str, *, findings_fail: bool) -> None:
    """Write what a run of `verify` found to standard output; with `json`, the ledger."""
    from dpverify.reports import ledger_json
    from dpverify.reports.formats.junit import junit
    from dpverify.reports.formats.markdown import ledger_markdown
    from dpverify.reports.formats.sarif import sarif
    from dpverify.views.results import result_of

    if form == "json":
        typer.echo(ledger_json(ledger), nl=False)
    elif form == "junit":
        results = [
            result_of(entry, findings_fail=findings_fail, undecided="skipped") for entry in ledger.entries
        ]
        typer.echo(junit(results, "dpverify verify"), nl=False)
    elif form == "markdown":
        typer.echo(ledger_markdown(ledger), nl=False)
    else:
        from dpverify.ledger.proofs import ProofEvidence
        from dpverify.verification.places import source_places

        find = source_places()
        places = (find(e.statement if isinstance(e, ProofEvidence) else e.subject) for e in ledger.entries)
        write_json(
            "-",
            sarif(
                result_of(entry, place, findings_fail=findings_fail)
                for entry, place in zip(ledger.entries, places, strict=True)
            ),
        )
