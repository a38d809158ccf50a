"""The forms that other programs read, and what `prove` and `verify` write in them to standard output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import print_facts, write_json

if TYPE_CHECKING:
    from dpverify.ledger.audits import AuditEvidence
    from dpverify.ledger.document import Ledger
    from dpverify.ledger.proofs import ProofEvidence
    from dpverify.views.results import Result, SourcePlace

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
    """Refuse what is no form, and two kinds of output in one place."""
    if form not in FORMATS:
        raise InvalidArgumentError("--format", form, ", ".join(FORMATS))
    refuse_two_outputs(form, json_file)


def refuse_two_outputs(form: str, json_file: str | None) -> None:
    """Refuse JSON on standard output where another form goes there."""
    if form != "text" and json_file == "-":
        raise InvalidArgumentError(
            "--json", json_file, f"a file, since --format {form} goes to standard output"
        )


def write_results(
    form: str,
    suite: str,
    results: Callable[[], Iterable[Result]],
    document: Callable[[], Any],
    markdown: Callable[[], str],
) -> None:
    """Write what was found to standard output, in a form but text; only what that form needs is made.

    `suite` is the command, which names a suite of test cases; `document` gives what JSON says, or its text.
    """
    if form == "json":
        found = document()
        typer.echo(found, nl=False) if isinstance(found, str) else write_json("-", found)
    elif form == "markdown":
        typer.echo(markdown(), nl=False)
    elif form == "junit":
        from dpverify.reports.formats.junit import junit

        typer.echo(junit(results(), suite), nl=False)
    else:
        from dpverify.reports.formats.sarif import sarif

        write_json("-", sarif(results()))


def write_audit(
    found: AuditEvidence,
    place: Callable[[], SourcePlace | None],
    form: str,
    json_file: str | None,
    command: str,
    *,
    curves: bool = False,
) -> None:
    """Write what one audit found: to standard output in one form, and as JSON where that was asked for.

    `place` finds what a report points to; with `curves`, JSON has what is long, too.
    """
    from dpverify.reports.formats.documents import audit_json
    from dpverify.reports.formats.markdown import audit_markdown
    from dpverify.views.audits import view_of
    from dpverify.views.results import result_of

    if json_file is not None:
        write_json(json_file, audit_json(found, curves=curves))
    if form != "text":
        write_results(
            form,
            command,
            lambda: [result_of(found, place())],
            lambda: audit_json(found, curves=curves),
            lambda: audit_markdown(found),
        )
    elif json_file != "-":
        print_facts(view_of(found).rows(found))


def write_proofs(
    proofs: Sequence[ProofEvidence],
    form: str,
    *,
    own: bool,
    title: str,
    beside: Sequence[str],
    command: str,
    findings_fail: bool,
) -> None:
    """Write proofs to standard output, in a form but text.

    `title` and `beside` say something of it all; in forms but Markdown they are on standard error, the title only where
    some of the formulas are someone's own. `command` does it again.
    """
    from dpverify.reports.formats.documents import proofs_json
    from dpverify.reports.formats.markdown import proofs_markdown
    from dpverify.verification.located.places import source_places
    from dpverify.views.results import result_of

    if form != "markdown":
        for line in (*([title] if own else ()), *beside):
            typer.echo(line, err=True)

    def results() -> Iterator[Result]:
        find = source_places()
        for proof in proofs:
            place = find(proof.statement, proof.units_of or proof.obligation, proof.variant)
            yield result_of(proof, place, findings_fail=findings_fail)

    def markdown() -> str:
        return proofs_markdown(proofs, title=title, beside=beside, command=command)

    write_results(form, "dpverify prove", results, lambda: proofs_json(proofs), markdown)


def write_run(ledger: Ledger, form: str, *, findings_fail: bool) -> None:
    """Write what a run of `verify` found to standard output; with `json`, the ledger."""
    if form == "text":
        from dpverify.reports import summary_lines
        from dpverify.terminal import print_colored

        print_colored((line.text, line.verdict) for line in summary_lines(ledger))
        return
    from dpverify.ledger.proofs import ProofEvidence
    from dpverify.reports import ledger_json
    from dpverify.reports.formats.markdown import ledger_markdown
    from dpverify.verification.located.places import source_places, theorem_place
    from dpverify.views.results import result_of, result_of_theorem

    def results() -> Iterator[Result]:
        find = source_places()
        for entry in ledger.entries:
            place = find(entry.statement if isinstance(entry, ProofEvidence) else entry.subject)
            yield result_of(entry, place, findings_fail=findings_fail, undecided="skipped")
        for row in ledger.theorems:
            place = theorem_place(row)
            yield result_of_theorem(row, place, findings_fail=findings_fail, undecided="skipped")

    write_results(
        form, "dpverify verify", results, lambda: ledger_json(ledger), lambda: ledger_markdown(ledger)
    )
