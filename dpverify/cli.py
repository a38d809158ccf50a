"""The command line: parse, call, print. All results are computed in the layers below."""

from __future__ import annotations

import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify import __version__, extras
from dpverify.commands.audit import audit
from dpverify.commands.badge import badge
from dpverify.commands.compare import compare
from dpverify.commands.formats import Form, check_format, write_proofs, write_run
from dpverify.commands.hypotheses import hypotheses
from dpverify.commands.profile import profile
from dpverify.commands.project import init, run
from dpverify.commands.tails import tails
from dpverify.terminal import (
    UNDECIDED,
    VIOLATED,
    Commands,
    Jobs,
    Json,
    Seed,
    check_folder,
    check_json,
    end_on_faults,
    print_table,
    progress_bar,
    run_commands,
    write_json,
)

if TYPE_CHECKING:
    from dpverify.ledger.headlines.words import VariantOutcome
    from dpverify.ledger.proofs import ProofEvidence

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


def _ids(incomplete: str) -> list[str]:
    """Papers and catalog ids that begin so, for a shell that completes a word."""
    try:
        from dpverify.statements.paper import papers

        known = [(paper.key, *(row.id for row in paper.catalog)) for paper in papers().values()]
    except ImportError:  # without the extra that brings formulas there is nothing to name
        return []
    return [id_ for some in known for id_ in some if id_.startswith(incomplete)]


# ------------------------------------------------------------------------------------------- commands


@app.command("list")
def list_(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Papers or statement ids; default: all.", autocompletion=_ids)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    jobs: Jobs = 2,
) -> None:
    """List statements and algorithms with their verdicts.

    A release brings the verdicts that were found when it was made, which is said; dpverify prove finds them here.
    Verdicts found here are kept in the user's cache folder until a formula or a prover changes. Statements without
    any are proved first, one by one. That takes minutes; if interrupted, the command continues where it stopped.
    """
    extras.require("dpverify list", "prove")
    from dpverify.ledger.headlines.roots import ancestors
    from dpverify.statements.paper import papers
    from dpverify.statements.selection import find_statement, select
    from dpverify.verification.catalog.entries import catalog_entries, uses_graph
    from dpverify.verification.catalog.rows import without_certificates
    from dpverify.verification.display_counts import displays_by_paper, displays_by_statement
    from dpverify.verification.remembering.remembered import recall_or_prove
    from dpverify.verification.remembering.shipped import origin, recall_or_read

    chosen = tuple(ids or ())
    wanted = {row.id for _, row in select(chosen)}
    statements = [s for paper in papers().values() for s in paper.statements if s.id in wanted]

    def missing(count: int) -> None:
        if not count:
            return
        number = f"{count} of {len(statements)} statement{'s' if len(statements) > 1 else ''}"
        typer.echo(
            f"Proving the formulas of {number}, once: no verdicts are kept for their current form. That can take "
            "minutes; if you interrupt it, finished proofs are kept.",
            err=True,
        )

    if of_release := origin(statements):
        typer.echo(of_release, err=True)
    records = recall_or_prove(
        statements, workers=jobs, progress=progress_bar("proving"), missing=missing, recall_one=recall_or_read
    )
    below = {name for id_ in wanted for name in ancestors(id_, uses_graph())} - wanted
    records += [
        without_certificates(e)
        for name in sorted(below)
        if (s := find_statement(name))
        for e in recall_or_read(s) or ()
    ]  # what is false among them is carried to what rests on it
    entries = catalog_entries(records, chosen, docstrings=False)
    if as_json:
        fields = {
            "id", "paper", "kind", "where", "title", "algorithm", "missing", "uses", "used_by", "rests_on_false",
            "rests_on_unfollowed",
        }  # fmt: skip
        of = displays_by_statement((r.evidence for r in records), chosen)
        counts = {"displays", "encoded", "whole", "part", "ingredient", "decided", "confirmed"}
        write_json(
            "-",
            [
                {
                    **e.model_dump(mode="json", include=fields),
                    "printed": _said(e.printed),
                    "corrected": _said(e.corrected),
                    "marks": list(map(str, e.marks)),
                    "roots": e.roots.model_dump(mode="json"),
                    **of[e.id].model_dump(include=counts),
                }
                for e in entries
            ],
        )
        return
    print_table(
        "",
        ("id", "kind", "where", "as printed", "corrected", "what"),
        (
            (
                e.id,
                e.kind,
                e.where,
                e.printed.headline,
                e.corrected.headline,
                e.title,
            )
            for e in entries
        ),
    )
    from dpverify.ledger.headlines.words import counts as standings
    from dpverify.views.run import roots_text

    how = standings(e.printed.standing for e in entries)
    typer.echo(f"As printed: {', '.join(standing.of(number) for standing, number in how.items())}.")
    for line in roots_text(entries):
        typer.echo(line)
    for of_paper in displays_by_paper((r.evidence for r in records), chosen):
        typer.echo(of_paper.summary())


def _said(word: VariantOutcome) -> dict[str, Any]:
    """What `list` shows of one variant of a statement."""
    fields = {"verdict", "standing", "given", "consequence"}
    return {**word.model_dump(mode="json", include=fields), "headline": word.headline}


@app.command("prove")
def prove(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers or statement ids (default: all), or Markdown pages, or folders of them, of your own.",
            autocompletion=_ids,
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Prove what was proved before as well, instead of showing what was found."
        ),
    ] = False,
    form: Form = "text",
    strict: Annotated[
        bool, typer.Option(help="Also exit with 1 if a formula is refuted or does not follow.")
    ] = False,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """Prove or refute formulas, a paper's or your own.

    From a paper: the printed formulas and their corrections; from you: the formulas on a Markdown page. A second,
    independent checker tries to confirm each certificate. What was found of a paper's statement is kept in the user's
    cache folder until a formula or a prover changes. Beside each verdict stands what was read. Exit code 0, or 3 if a
    formula, or your page, is undecided. A printed formula that is refuted or does not follow is a finding about its
    paper, not an error, unless --strict says so. In JUnit XML and SARIF, such a formula of your own page is a failure,
    at the line of its display.
    """
    extras.require("dpverify prove", "prove")
    from dpverify.ledger.verdicts import BROKEN, Coverage, Verdict
    from dpverify.statements.own_pages import OwnPaper, opened
    from dpverify.statements.selection import select_statements
    from dpverify.verification.catalog.proofs import said_of_page
    from dpverify.verification.remembering.remembered import prove_and_remember, recall_or_prove
    from dpverify.verification.remembering.shipped import known_below

    chosen = tuple(ids or ())
    headlines, undecided, beside = list[str](), False, list[str]()
    check_format(form, json_file)
    check_json(json_file)
    statements = select_statements(chosen)

    def missing(count: int) -> None:
        if kept := len(statements) - count:
            number = f"{kept} of {len(statements)} statement{'s' if len(statements) > 1 else ''}"
            typer.echo(f"What was found of {number} before is shown; --again proves all anew.", err=True)

    bar = progress_bar("proving")
    if again:
        records = prove_and_remember(statements, workers=jobs, progress=bar)
    else:
        records = recall_or_prove(statements, workers=jobs, progress=bar, missing=missing)
    found = [r.evidence for r in records]
    own = [paper for name in chosen if isinstance(paper := opened(name), OwnPaper)]
    for paper in own:
        for statement in paper.statements:
            below, unknown = known_below(statement.rests_on)
            word = said_of_page(statement, (e for e in found if e.statement == statement.id), below)
            alone = statement.where == paper.path.name
            headlines.append(f"{paper.path if alone else statement.where}: {word.headline}")
            undecided = undecided or word.verdict is Verdict.UNDECIDED
            if unknown:
                beside.append(
                    f"No verdicts are kept here on {', '.join(unknown)}; dpverify prove finds them."
                )
        beside += paper.unread
    if json_file is not None:
        from dpverify.reports.formats.documents import proofs_json

        write_json(json_file, proofs_json(found))
    if form != "text":
        write_proofs(
            found,
            form,
            own=bool(own),
            title="\n".join(headlines) or f"{', '.join(chosen) or 'All papers'}: {len(found)} formulas",
            beside=beside,
            command=shlex.join(["dpverify", "prove", *chosen]),
            findings_fail=bool(own) or strict,
        )
    elif json_file != "-":
        print_table(
            "",
            (
                "statement", "obligation", "variant", "coverage", "verdict", "prover", "checker",
                "counterexample, values, or why", "at a realistic size", "what was read",
            ),
            (
                (
                    e.statement, e.obligation, e.variant, e.coverage,
                    "units agree" if e.coverage is Coverage.UNIT and e.verdict is Verdict.PROVED else e.verdict,
                    e.prover,
                    "confirmed" if e.confirmed_by_checker else "not confirmed",
                    ", ".join(f"{k}={v}" for k, v in (e.counterexample or {}).items())
                    or _why(e),
                    e.realistic.summary() if e.realistic else "",
                    e.read,
                )
                for e in found
            ),
        )  # fmt: skip
        for line in (*headlines, *beside):
            typer.echo(line)
    end_on_faults(found)
    if strict and any(e.verdict in BROKEN for e in found):
        raise typer.Exit(VIOLATED)
    if undecided or any(e.verdict is Verdict.UNDECIDED for e in found):
        raise typer.Exit(UNDECIDED)


def _why(evidence: ProofEvidence) -> str:
    """What stands beside a verdict without a counterexample: what was found, or why nothing was, in a few words."""
    from dpverify.ledger.verdicts import Coverage, Verdict

    if evidence.coverage is Coverage.UNIT:
        return ""
    if evidence.verdict is Verdict.UNDECIDED:  # all that each prover said is in the JSON
        return str(evidence.gap or "")
    return evidence.reason


app.command("audit")(audit)
app.command("tails")(tails)
app.command("compare")(compare)
app.command("badge")(badge)
app.command("profile")(profile)
app.command("hypotheses")(hypotheses)
app.command("init")(init)
app.command("run")(run)


@app.command("verify")
def verify(
    paper: Annotated[list[str] | None, typer.Option(help="Papers or statement ids; default: all.")] = None,
    profile: Annotated[
        str, typer.Option(help="quick (minutes), or full (ten times as many runs, and audits at real size).")
    ] = "quick",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for ledger, certificates and report.")] = Path(
        "build/verify"
    ),
    failure_probability: Annotated[
        float, typer.Option(help="Failure probability of the whole run, shared by all audits.")
    ] = 1e-3,
    only: Annotated[list[str] | None, typer.Option(help="Names of audit plans; default: all.")] = None,
    executor: Annotated[
        str,
        typer.Option(
            help="Where an audit's runs are computed: serial, threads=K, processes=K or dask=ADDRESS."
        ),
    ] = "serial",
    jobs: Annotated[
        int,
        typer.Option(
            min=1,
            help="Processes for proofs and audits; with processes or dask, audits run one at a time.",
        ),
    ] = 2,
    store: Annotated[
        str | None,
        typer.Option(
            help="File for finished proofs, audits and blocks, from which an interrupted run continues."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option(help="Also exit with 1 if a printed statement is refuted or does not follow.")
    ] = False,
    form: Form = "text",
) -> None:
    """Prove all statements, audit all implementations.

    Writes the ledger, its certificates and the report. Exit code 1 if a claim about an implementation is violated,
    else 0: an undecided audit or formula is shown in the report but is not a failure.
    """
    extras.require("dpverify verify", "prove", "report")
    from dpverify.ledger.proofs import ProofEvidence
    from dpverify.ledger.verdicts import BROKEN
    from dpverify.reports import summary_lines, write_ledger, write_report
    from dpverify.verification import VerificationSettings
    from dpverify.verification import verify as run_verification
    from dpverify.verification.remembering.remembered import remember_all

    settings = VerificationSettings(
        papers=tuple(paper or ()),
        profile=profile,
        seed=seed,
        failure_probability=failure_probability,
        only=tuple(only or ()),
        executor=executor,
        jobs=jobs,
        store=store,
    )
    check_format(form)
    check_folder("--out", out)
    ledger, certificates = run_verification(settings, progress=progress_bar)
    out.mkdir(parents=True, exist_ok=True)
    write_ledger(ledger, out / "ledger.json")  # first, so that no fault in the report can lose the run
    written = write_report(ledger, out, certificates)
    remember_all(e for e in ledger.entries if isinstance(e, ProofEvidence))
    if form == "text":
        from rich.text import Text

        from dpverify.terminal.consoles import COLORS, output_console

        console = output_console()
        for line in summary_lines(ledger):
            console.print(Text(line.text, style=COLORS.get(line.verdict or "", "")), soft_wrap=True)
    else:
        write_run(ledger, form, findings_fail=strict)
    typer.echo(f"Ledger: {written.ledger}", err=form != "text")
    typer.echo(f"Report: {written.page}", err=form != "text")
    end_on_faults(e for e in ledger.entries if isinstance(e, ProofEvidence))
    verdicts = {e.verdict for e in ledger.entries}
    if "violated" in verdicts or (strict and any(s.printed.verdict in BROKEN for s in ledger.statements)):
        raise typer.Exit(VIOLATED)


@app.command("check")
def check(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json with its certificates beside it.")],
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
    json_file: Json = None,
) -> None:
    """Check a ledger against its source and certificates.

    Neither the ledger nor the provers are trusted. Each proof row is compared with the problem that its source
    states, and the independent checker is run on its certificate again. Audits are compared with their plans, with
    their sizes, seeds and shares of the failure probability; what draws nothing is worked out again, and of what draws
    as much as --rerun asks. Exit code 0: all rows are confirmed, or unconfirmed, undecided or planned as the ledger
    itself says; 1: a row or certificate is missing, or contradicts its source or the checker; 2: no ledger.
    """
    extras.require("dpverify check", "prove")
    from dpverify.verification.checking.audit_rows import Rerun
    from dpverify.verification.ledger_check import check_ledger

    check_json(json_file)
    again = Rerun(rerun, secrets.randbelow(10**9) if rerun_seed is None else rerun_seed)
    found = check_ledger(ledger, only=tuple(only or ()), rerun=again, progress=progress_bar("checking"))
    if json_file is not None:
        rows = [
            {"statement": r.statement, "obligation": r.obligation, "variant": r.variant, "status": r.status,
             "says": r.says}
            for r in found.rows
        ]  # fmt: skip
        write_json(
            json_file,
            {"schema_version": 1, "confirmed": not found.failed, "summary": found.summary(), "rows": rows,
             "outside": list(found.outside), "audits_not_run": found.audits, "notes": list(found.notes),
             "rerun": {"audits": found.rerun.count, "seed": found.rerun.seed}},
        )  # fmt: skip
    if json_file != "-":
        for row in found.failed:
            typer.echo(row.line())
        typer.echo(found.summary())
    if found.failed:
        raise typer.Exit(VIOLATED)


@app.command("explain")
def explain(
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="A catalog id, such as fmtt18.thm23.", autocompletion=_ids)
    ],
) -> None:
    """Explain a statement or an algorithm.

    Shows a statement's formulas with their verdicts, or an algorithm's code, guarantee and audits. Verdicts are the
    latest from `list`, `prove` or `verify`, unless a formula or prover has changed since.
    """
    extras.require("dpverify explain", "prove")
    from dpverify.verification.explanation import explanation_lines

    for line in explanation_lines(id_):
        typer.echo(line)


@app.command("report")
def report(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; default: beside the ledger.")
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="For paper: without a page for each statement and algorithm.")
    ] = False,
) -> None:
    """Write a ledger's HTML report again.

    The ledger and its certificates are not changed.
    """
    extras.require("dpverify report", "prove", "report")
    from dpverify.reports import write_report_again

    if out is not None:
        check_folder("--out", out)
    typer.echo(f"Report: {write_report_again(ledger, out, short=short).page}")


@app.command("findings")
def findings(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json.")],
) -> None:
    """Print a ledger's findings as a Markdown page.

    Findings are the errata in the papers, each with its counterexample, consequence and correction.
    """
    extras.require("dpverify findings", "prove", "report")
    from dpverify.reports import findings_markdown, load_ledger

    typer.echo(findings_markdown(load_ledger(ledger)), nl=False)


@app.command("sandwich")
def sandwich(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json.")],
    json_file: Json = None,
) -> None:
    """Print what is claimed, proved, exact and seen of each algorithm's privacy.

    A row is about the pair of data sets on which the largest part of what is proved was seen: its delta, then epsilons
    in nats. Audits without a lower bound are listed, with the reason, on standard error.
    """
    extras.require("dpverify sandwich", "prove", "report")
    from dpverify.reports import load_ledger
    from dpverify.views.sandwich import COLUMNS, as_json, cells
    from dpverify.views.sandwich import sandwich as made

    check_json(json_file)
    found = made(load_ledger(ledger))
    if json_file is not None:
        write_json(json_file, as_json(found))
    if json_file != "-":
        print_table("", COLUMNS, cells(found.rows))
    typer.echo(f"{found.summary()}.", err=True)
    for evidence, why in found.zeros:
        typer.echo(f"{evidence.subject}, {evidence.title}: {why}", err=True)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2, never a traceback."""
    run_commands(app, arguments)
