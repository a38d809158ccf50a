"""The command line: parse, call, print. All results are computed in the layers below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from dpverify import __version__
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import (
    COLORS,
    UNDECIDED,
    VIOLATED,
    Commands,
    check_folder,
    check_json,
    end_on_faults,
    error_console,
    output_console,
    print_table,
    run_commands,
    write_json,
)

if TYPE_CHECKING:
    from dpverify.evidence import PrivacyEvidence
    from dpverify.running import Limits

app = typer.Typer(
    name="dpverify",
    cls=Commands,
    help=(
        "Verify privacy claims about convex optimization.\n\n"
        "A formula is proved, certified on a box, or refuted by a counterexample; an implementation is run many "
        "times, and its true privacy loss is bounded from below. Exit code 0: nothing violated, 1: a claim about an "
        "implementation is violated, 2: bad input or usage, 3: undecided."
    ),
    epilog="Start with: dpverify verify; then open the report whose path it prints.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
FEWEST_FIXED_RUNS = 200

_errors = error_console()


def _progress(title: str) -> Any:
    """A progress bar on standard error if that is a terminal, else nothing."""
    from dpverify.running import RichProgress

    return RichProgress(title, _errors) if _errors.is_terminal else None


# ------------------------------------------------------------------------------------------- commands

Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON to FILE; - is standard output.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result, bit for bit.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Number of processes for proofs.")]


@app.command("list")
def list_(
    ids: Annotated[list[str] | None, typer.Argument(help="Papers or statement ids; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    jobs: Jobs = 2,
) -> None:
    """List statements and algorithms with their verdicts.

    Verdicts are kept in the user's cache folder until a formula or a prover changes. Statements without a kept
    verdict are proved first, one by one. That takes minutes; if interrupted, the command continues where it
    stopped.
    """
    from dpverify.headlines import ancestors
    from dpverify.statements.paper import find_statement, papers, select
    from dpverify.verification.display_counts import displays_by_paper, displays_by_statement
    from dpverify.verification.proofs import catalog_entries, uses_graph, without_certificates
    from dpverify.verification.remembered import prove_and_remember, recall

    chosen = tuple(ids or ())
    wanted = {row.id for _, row in select(chosen)}
    statements = [s for paper in papers().values() for s in paper.statements if s.id in wanted]
    known = {s.id: recall(s) for s in statements}
    missing = [s for s in statements if known[s.id] is None]
    records = [without_certificates(e) for found in known.values() for e in found or ()]
    if missing:
        number = f"{len(missing)} of {len(statements)} statement{'s' if len(statements) > 1 else ''}"
        typer.echo(
            f"Proving the formulas of {number}, once: no verdicts are kept for their current form. That can take "
            "minutes; if you interrupt it, finished proofs are kept.",
            err=True,
        )
        records += prove_and_remember(missing, workers=jobs, progress=_progress("proving"))
    below = {name for id_ in wanted for name in ancestors(id_, uses_graph())} - wanted
    records += [
        without_certificates(e)
        for name in sorted(below)
        if (s := find_statement(name))
        for e in recall(s) or ()
    ]  # what is false among them is carried to what rests on it
    entries = catalog_entries(records, chosen, docstrings=False)
    if as_json:
        fields = {
            "id", "paper", "kind", "where", "title", "algorithm", "verdict_printed", "verdict_repaired",
            "headline_printed", "headline_repaired", "given_printed", "given_repaired", "uses", "used_by",
            "rests_on_false", "marks",
        }  # fmt: skip
        of = displays_by_statement((r.evidence for r in records), chosen)
        counts = {"displays", "encoded", "decided", "confirmed"}
        write_json(
            "-",
            [
                {**e.model_dump(mode="json", include=fields), **of[e.id].model_dump(include=counts)}
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
                e.headline_printed,
                e.headline_repaired,
                e.title,
            )
            for e in entries
        ),
    )
    for of_paper in displays_by_paper((r.evidence for r in records), chosen):
        typer.echo(of_paper.says())


@app.command("prove")
def prove(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers or statement ids (default: all), or one Markdown page with a theorem of your own."
        ),
    ] = None,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """Prove or refute formulas, a paper's or your own.

    From a paper: the printed formulas and their corrections; from you: the formulas on a Markdown page. A second,
    independent checker tries to confirm each certificate. Exit code 0, or 3 if a formula is undecided. A refuted
    printed formula is a finding about its paper, not an error.
    """
    from dpverify.evidence import Coverage, Verdict
    from dpverify.statements.paper import papers, select
    from dpverify.verification.proofs import prove_page
    from dpverify.verification.remembered import prove_and_remember

    chosen = tuple(ids or ())
    said = ""
    pages = [name for name in chosen if name.endswith(".md")]
    check_json(json_file)
    if pages:
        from dpverify.statements.page import read_page

        if len(chosen) > 1:
            raise InvalidArgumentError("id", ", ".join(chosen), "one page alone, or papers and statement ids")
        records, word = prove_page(read_page(Path(pages[0])), workers=jobs, progress=_progress("proving"))
        said = f"{pages[0]}: {word.headline}"
    else:
        wanted = {row.id for _, row in select(chosen)}
        statements = [s for paper in papers().values() for s in paper.statements if s.id in wanted]
        if not statements:
            encoded = ", ".join(s.id for paper in papers().values() for s in paper.statements)
            raise InvalidArgumentError("id", ", ".join(chosen), f"an id with formulas to prove: {encoded}")
        records = prove_and_remember(statements, workers=jobs, progress=_progress("proving"))
    if json_file is not None:
        write_json(
            json_file, {"schema_version": 1, "entries": [r.evidence.model_dump(mode="json") for r in records]}
        )
    if json_file != "-":
        print_table(
            "",
            (
                "statement", "obligation", "variant", "coverage", "verdict", "prover", "checker",
                "counterexample or values",
            ),
            (
                (
                    e.statement, e.obligation, e.variant, e.coverage,
                    "units agree" if e.coverage is Coverage.UNIT and e.verdict is Verdict.PROVED else e.verdict,
                    e.prover,
                    "confirmed" if e.confirmed_by_checker else "not confirmed",
                    ", ".join(f"{k}={v}" for k, v in (e.counterexample or {}).items())
                    or ("" if e.verdict is Verdict.UNDECIDED or e.coverage is Coverage.UNIT else e.reason),
                )
                for e in (r.evidence for r in records)
            ),
        )  # fmt: skip
        if said:
            typer.echo(said)
    end_on_faults(r.evidence for r in records)
    if any(r.evidence.verdict is Verdict.UNDECIDED for r in records):
        raise typer.Exit(UNDECIDED)


@app.command("audit")
def audit(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[PACKAGE.MODULE:FUNCTION]",
            help="A function (data, rng) -> output, or batched (data, rng, runs) -> outputs; with --attribute, an "
            "estimator, or what makes one.",
        ),
    ] = None,
    claim: Annotated[
        str,
        typer.Option(help='The claim: "eps=1", "eps=1,delta=1e-5", "mu=1", "rho=0.5", "order=8,rdp=0.3".'),
    ] = "",
    command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help='A program in any language that reads one line {"runs": N, "seed": S, "data": [...]} and writes N '
            "lines of JSON, an output each.",
        ),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Fit an estimator; this attribute of it is released. May be repeated."
        ),
    ] = None,
    left: Annotated[
        str | None,
        typer.Option(help="Samples on one data set: .npy, .npz, .csv or .parquet, one run per row."),
    ] = None,
    right: Annotated[str | None, typer.Option(help="Samples on its neighbor.")] = None,
    data: Annotated[str | None, typer.Option(help="CSV file passed to the function as an array.")] = None,
    neighbor: Annotated[
        str | None,
        typer.Option(help="CSV file of the neighboring data set, with its records in the same order."),
    ] = None,
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help="A pair of neighboring data sets that a search found, instead of --data, --neighbor and --adjacency.",
        ),
    ] = None,
    search_neighbors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help="Search for the pair of neighbors that speaks most against the claim, with --data as an example; "
            "write it to this file, and audit it on fresh runs.",
        ),
    ] = None,
    record_range: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH",
            help="With --search-neighbors: the numbers that records may hold. Without it, records out of the example's "
            "range are tried as well.",
        ),
    ] = None,
    adjacency: Annotated[
        str,
        typer.Option(
            metavar="replace-one|add-or-remove-one|zero-out|answers-within-1|as-given",
            help="How the data sets differ: one record is replaced; one of them has one more record; one record is "
            "replaced by zeros; records are queries' answers, each of which moves by at most 1; or not checked.",
        ),
    ] = "replace-one",
    runs: Annotated[
        int,
        typer.Option(
            min=16, help="Largest number of runs on each data set; with --fixed-runs, the exact number."
        ),
    ] = 20_000,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential/--fixed-runs",
            help="Stop as soon as the claim is refuted, or test the whole privacy profile once, at the end.",
        ),
    ] = True,
    low_bits: Annotated[
        bool,
        typer.Option(
            "--low-bits",
            help="Look at the low bits and last decimals of outputs, and nothing else: plain floating-point noise "
            "betrays there what it was added to. For samples, or with --fixed-runs.",
        ),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time",
            metavar="SECONDS",
            help="Begin no more runs that would end after this; the verdict covers the runs made until then.",
        ),
    ] = None,
    failure_probability: Annotated[
        float, typer.Option(help="A correct claim is called violated with at most this probability.")
    ] = 1e-3,
    seed: Seed = 0,
    executor: Annotated[str, typer.Option(help="serial, threads=K, processes=K or dask=ADDRESS.")] = "serial",
    store: Annotated[
        str | None,
        typer.Option(help="File for finished blocks of runs, from which an interrupted audit continues."),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Wall-clock limit on importing the function and on each call; a guard against runaway code.",
        ),
    ] = 600.0,
    memory_limit: Annotated[
        float,
        typer.Option(
            metavar="GIB",
            help="Memory limit on each of the function's processes, and on all outputs together.",
        ),
    ] = 4.0,
    json_file: Json = None,
) -> None:
    """Audit a privacy claim about samples, or about a function, estimator or command.

    Give --left and --right (samples that you drew yourself), or a function or --command with --data and --neighbor.
    Outputs may be numbers, text, None, lists, dictionaries and more. Both directions are tested. A function is run
    until the claim is refuted or --runs is reached; before the first run, standard error says whether that many runs
    can refute it. It runs in worker processes with limits on time and memory; what it prints goes to standard error.
    Exit code 0 if the claim is supported, 1 if it is violated, 3 if the audit is undecided; only a finished audit ends
    with one of these.
    """
    from dpverify.checks import number

    samples = {"--left": left, "--right": right}
    if not claim:
        raise InvalidArgumentError("--claim", claim, 'a claim such as "eps=1,delta=1e-5"')
    if target is not None and command is not None:
        raise InvalidArgumentError("--command", command, f"a command or {target}, not both")
    if attribute and target is None:
        raise InvalidArgumentError("--attribute", " ".join(attribute), "no attribute without an estimator")
    run_by_us = target is not None or command is not None
    limits_of_records = None
    if pair is not None or search_neighbors is not None or record_range is not None:
        from dpverify.verification.neighbor_search import read_options

        given_adjacency = adjacency if _is_given(context, "adjacency") else None
        data, neighbor, adjacency, limits_of_records = read_options(
            pair, search_neighbors, record_range, data, neighbor, given_adjacency, runs_function=run_by_us
        )
    function = {"--data": data, "--neighbor": neighbor}
    needed, unused = (function, samples) if run_by_us else (samples, function)
    for name, value in unused.items():
        if value is not None:
            raise InvalidArgumentError(name, value, f"{' and '.join(needed)} here, not {name}")
    for name, value in needed.items():
        if value is None:
            raise InvalidArgumentError(name, value, f"a file: {' and '.join(needed)} go together")
    of_functions = {
        "runs": runs, "executor": executor, "store": store, "time_limit": time_limit, "memory_limit": memory_limit,
        "seconds": seconds, "sequential": sequential,
    }  # fmt: skip
    options = {"seconds": "--time", "sequential": "--sequential/--fixed-runs"}
    for name, given in of_functions.items():
        if not run_by_us and _is_given(context, name):
            option = options.get(name, f"--{name.replace('_', '-')}")
            raise InvalidArgumentError(option, given, "no value with samples, for which no function is run")
    if seconds is not None:
        number("--time", seconds, above=0.0, at_most=1e9, allowed="seconds above 0, at most 1e9")
        if not sequential:
            raise InvalidArgumentError("--time", seconds, "no value with --fixed-runs")
    if search_neighbors is not None and not sequential:
        raise InvalidArgumentError("--search-neighbors", search_neighbors, "no value with --fixed-runs")
    if low_bits and run_by_us and sequential:
        raise InvalidArgumentError("--low-bits", low_bits, "with --fixed-runs only, where a function is run")
    if not sequential and runs < FEWEST_FIXED_RUNS:
        raise InvalidArgumentError("--runs", runs, f"at least {FEWEST_FIXED_RUNS} with --fixed-runs")
    check_json(json_file)
    if run_by_us:
        from dpverify.running import Target
        from dpverify.verification.user_audits import (
            FunctionQuestion,
            audit_function,
            audit_function_sequentially,
        )

        question = FunctionQuestion(
            Target(str(target or command), tuple(attribute or ()), command=command is not None),
            Path(str(data)),
            Path(str(neighbor)),
            claim=claim,
            runs=runs,
            failure_probability=failure_probability,
            seed=seed,
            adjacency=adjacency,
            executor=executor,
            store=store,
            limits=_limits(time_limit, memory_limit),
        )
        if search_neighbors is not None:
            from dpverify.verification.neighbor_search import audit_worst_neighbors

            evidence = audit_worst_neighbors(
                question,
                save=Path(search_neighbors),
                limits=limits_of_records,
                seconds=seconds,
                tell=lambda line: _errors.print(line, markup=False, soft_wrap=True),
            )
        elif sequential:
            evidence = audit_function_sequentially(
                question,
                seconds=seconds,
                tell=lambda line: _errors.print(line, markup=False, soft_wrap=True),
            )
        else:
            evidence = audit_function(question, low_bits=low_bits, progress=_progress("running"))
    else:
        from dpverify.verification.sample_audits import audit_samples

        evidence = audit_samples(
            Path(str(left)),
            Path(str(right)),
            claim=claim,
            failure_probability=failure_probability,
            seed=seed,
            adjacency=adjacency if _is_given(context, "adjacency") else None,
            low_bits=low_bits,
        )
    if json_file is not None:
        found = evidence.model_dump(mode="json")
        found["profile"] = [{"eps": p["epsilon"], **{k: v for k, v in p.items() if k != "epsilon"}}
                            for p in found["profile"]]  # fmt: skip
        write_json(json_file, {"schema_version": 1, **found})
    if json_file != "-":
        print_table(
            "",
            ("", ""),
            (
                ("verdict", evidence.verdict + _qualified(evidence)),
                ("claim", evidence.claim),
                ("epsilon at least", f"{evidence.epsilon_lower:.4g} at delta {evidence.delta:g}"),
                ("failure probability", f"{evidence.failure_probability:g}"),
                ("runs", _runs(evidence)),
                *((("outputs", evidence.outputs),) if evidence.outputs else ()),
                ("why", evidence.reason),
                *((("would have found", evidence.detectable),) if evidence.detectable else ()),
                ("reproduce", evidence.reproduce),
                *((("reused", evidence.reuse.says()),) if evidence.reuse and evidence.reuse.says() else ()),
            ),
        )
    if evidence.verdict == "violated":
        raise typer.Exit(VIOLATED)
    if evidence.verdict == "undecided":
        raise typer.Exit(UNDECIDED)


def _is_given(context: typer.Context, name: str) -> bool:
    return str(getattr(context.get_parameter_source(name), "name", "")) != "DEFAULT"


def _limits(seconds: float, gib: float) -> Limits:
    from dpverify.checks import number
    from dpverify.running import Limits

    number("--time-limit", seconds, above=0.0, at_most=1e6, allowed="seconds above 0, at most 1e6")
    number("--memory-limit", gib, at_least=0.0625, at_most=2**20, allowed="GiB, from 0.0625 to 1048576")
    return Limits(seconds, int(gib * 2**30))


def _runs(evidence: PrivacyEvidence) -> str:
    """How many, and what ended a sequential audit."""
    how = evidence.sequential
    if how is None:
        return str(evidence.runs)
    return f"{evidence.runs} of at most {how.most_runs} on each data set, ended by {how.ended_by}"


def _qualified(evidence: PrivacyEvidence) -> str:
    """What is shown beside an audit's verdict: the adjacency, and whether the verdict can be reproduced."""
    again = "; cannot be reproduced from the seed" if evidence.repeats is False else ""
    return f" (adjacency: {evidence.adjacency}{again})"


@app.command("verify")
def verify(
    paper: Annotated[list[str] | None, typer.Option(help="Papers or statement ids; default: all.")] = None,
    profile: Annotated[
        str, typer.Option(help="quick (minutes), or full (ten times as many runs).")
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
    strict: Annotated[bool, typer.Option(help="Also exit with 1 if a printed statement is refuted.")] = False,
) -> None:
    """Prove all statements, audit all implementations.

    Writes the ledger, its certificates and the report. Exit code 1 if a claim about an implementation is violated,
    else 0: an undecided audit or formula is shown in the report but is not a failure.
    """
    from dpverify.evidence import ProofEvidence
    from dpverify.reports import summary_lines, write_ledger, write_report
    from dpverify.verification import VerificationSettings
    from dpverify.verification import verify as run_verification
    from dpverify.verification.remembered import remember_all

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
    check_folder("--out", out)
    ledger, certificates = run_verification(settings, progress=_progress)
    out.mkdir(parents=True, exist_ok=True)
    write_ledger(ledger, out / "ledger.json")  # first, so that no fault in the report can lose the run
    written = write_report(ledger, out, certificates)
    remember_all(e for e in ledger.entries if isinstance(e, ProofEvidence))
    console = output_console()
    for line in summary_lines(ledger):
        console.print(Text(line.text, style=COLORS.get(line.verdict or "", "")), soft_wrap=True)
    typer.echo(f"Ledger: {written.ledger}")
    typer.echo(f"Report: {written.page}")
    end_on_faults(e for e in ledger.entries if isinstance(e, ProofEvidence))
    verdicts = {e.verdict for e in ledger.entries}
    if "violated" in verdicts or (strict and any(s.verdict_printed == "refuted" for s in ledger.statements)):
        raise typer.Exit(VIOLATED)


@app.command("check")
def check(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json with its certificates beside it.")],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="STATEMENT[/OBLIGATION]", help="Check only these rows; default: all."),
    ] = None,
    json_file: Json = None,
) -> None:
    """Check a ledger against its source and certificates.

    Neither the ledger nor the provers are trusted. Each proof row is compared with the problem that its source
    states, and the independent checker is run on its certificate again. Audits are statistical and are not run
    again. Exit code 0: all rows are confirmed, or unconfirmed or undecided as the ledger itself says; 1: a row or
    certificate is missing, or contradicts its source or the checker; 2: no ledger.
    """
    from dpverify.verification.ledger_check import check_ledger

    check_json(json_file)
    found = check_ledger(ledger, only=tuple(only or ()), progress=_progress("checking"))
    if json_file is not None:
        rows = [
            {"statement": r.statement, "obligation": r.obligation, "variant": r.variant, "status": r.status,
             "says": r.says}
            for r in found.rows
        ]  # fmt: skip
        write_json(
            json_file,
            {"schema_version": 1, "confirmed": not found.failed, "summary": found.summary(), "rows": rows,
             "outside": list(found.outside), "audits_not_run": found.audits},
        )  # fmt: skip
    if json_file != "-":
        for row in found.failed:
            typer.echo(row.line())
        typer.echo(found.summary())
    if found.failed:
        raise typer.Exit(VIOLATED)


@app.command("explain")
def explain(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A catalog id, such as fmtt18.thm23.")],
) -> None:
    """Explain a statement or an algorithm.

    Shows a statement's formulas with their verdicts, or an algorithm's code, guarantee and audits. Verdicts are the
    latest from `list`, `prove` or `verify`, unless a formula or prover has changed since.
    """
    from dpverify.verification.explanation import explanation_lines

    for line in explanation_lines(id_):
        typer.echo(line)


@app.command("report")
def report(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; default: beside the ledger.")
    ] = None,
) -> None:
    """Write a ledger's HTML report again.

    The ledger and its certificates are not changed.
    """
    from dpverify.reports import write_report_again

    if out is not None:
        check_folder("--out", out)
    typer.echo(f"Report: {write_report_again(ledger, out).page}")


@app.command("findings")
def findings(
    ledger: Annotated[Path, typer.Argument(help="A ledger.json.")],
) -> None:
    """Print a ledger's findings as a Markdown page.

    Findings are the errata in the papers, each with its counterexample, consequence and correction.
    """
    from dpverify.reports import findings_markdown, read_ledger

    typer.echo(findings_markdown(read_ledger(ledger)), nl=False)


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
