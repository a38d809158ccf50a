"""The command `dpverify audit`: what is audited, how, and what is printed of it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpverify import extras
from dpverify.commands.formats import Form, check_format
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import (
    UNDECIDED,
    VIOLATED,
    Json,
    Seed,
    check_json,
    print_facts,
    progress_bar,
    tell,
    write_json,
)

if TYPE_CHECKING:
    from dpverify.ledger.evidence import PrivacyEvidence
    from dpverify.running import Limits, Target

FEWEST_FIXED_RUNS = 200


def audit(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="PACKAGE.MODULE:FUNCTION",
            help="A function (data, rng) -> output, or batched (data, rng, runs) -> outputs; with --attribute, an "
            "estimator, or what makes one.",
        ),
    ] = None,
    claim: Annotated[
        str,
        typer.Option(
            help='The claim: "eps=1", "eps=1,delta=1e-5", "mu=1", "rho=0.5", "rho=0.5,omega=10", "order=8,rdp=0.3".'
        ),
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
    structure: Annotated[
        str | None,
        typer.Option(
            metavar="PACKAGE.MODULE:FUNCTION",
            help="White box: a function from a data set to the steps and the noise of a run on it, a StatedStructure; "
            "--runs of them are simulated, and outputs are compared with them.",
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
            metavar="replace-one|add-or-remove-one|zero-out|answers-within-1|unchecked",
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
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help='Cut out events by this score only, such as value or "best coordinate"; may be repeated. For '
            "samples, or with --fixed-runs.",
        ),
    ] = None,
    direction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="left-over-right|right-over-left",
            help="Look for what is likelier on the first data set, or on its neighbor; default: both. For samples, or "
            "with --fixed-runs.",
        ),
    ] = None,
    allow_equal: Annotated[
        bool,
        typer.Option(
            "--allow-equal",
            help="Equal outputs are meant: a mechanism that always gives the same, or sides drawn with one seed. "
            "Without it, a claim about outputs that never vary, or of which one sample stands on both sides, is "
            "undecided.",
        ),
    ] = False,
    delta: Annotated[
        float | None,
        typer.Option(help="Where epsilon is bounded; default: the claim's own delta, and 1e-5 for a curve."),
    ] = None,
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
    form: Form = "text",
    json_file: Json = None,
) -> None:
    """Audit a privacy claim about samples, or about a function, estimator or command.

    Give --left and --right (samples that you drew yourself), or a function or --command with --data and --neighbor.
    Outputs may be numbers, text, None, lists, dictionaries and more. Both directions are tested. A function is run
    until the claim is refuted or --runs is reached; before the first run, standard error says whether that many runs
    can refute it. With --structure, what is known of its steps is audited instead, down to far smaller deltas.
    Functions run in worker processes with limits on time and memory; what they print goes to standard error.
    Exit code 0 if the claim is supported, 1 if it is violated, 3 if the audit is undecided; only a finished audit ends
    with one of these.
    """
    from dpverify.running.thread_pools import no_idle_threads

    run_by_us = target is not None or command is not None
    with nullcontext() if run_by_us else no_idle_threads():
        from dpverify.auditing.looks import EventFilter
        from dpverify.checks import number

    samples = {"--left": left, "--right": right}
    check_format(form, json_file)
    if not claim:
        raise InvalidArgumentError("--claim", claim, 'a claim such as "eps=1,delta=1e-5"')
    if target is not None and command is not None:
        raise InvalidArgumentError("--command", command, f"a command or {target}, not both")
    if attribute and target is None:
        raise InvalidArgumentError("--attribute", " ".join(attribute), "no attribute without an estimator")
    if structure is not None:
        if not run_by_us:
            raise InvalidArgumentError("--structure", structure, "no value without a function or command")
        if search_neighbors is not None:
            raise InvalidArgumentError("--search-neighbors", search_neighbors, "no value with --structure")
        if sequential and _is_given(context, "sequential"):
            raise InvalidArgumentError(
                "--sequential", sequential, "no value with --structure, which looks once"
            )
        sequential = False
    limits_of_records = None
    if pair is not None or search_neighbors is not None or record_range is not None:
        from dpverify.verification.neighbor_search import read_options

        if search_neighbors is not None and adjacency != "answers-within-1":
            extras.require_module("--search-neighbors", "hypothesis")
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
            search = "; --search-neighbors FILE.json finds a neighbor" if name == "--neighbor" else ""
            raise InvalidArgumentError(name, value, f"a file: {' and '.join(needed)} go together{search}")
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
            how = "--fixed-runs" if structure is None else "--structure"
            raise InvalidArgumentError("--time", seconds, f"no value with {how}")
    if search_neighbors is not None and not sequential:
        raise InvalidArgumentError("--search-neighbors", search_neighbors, "no value with --fixed-runs")
    looks = EventFilter(tuple(score or ()), tuple(direction or ()), low_bits)
    if looks.options() and run_by_us and sequential:
        option, *words = looks.options()
        chosen = words[0] if words else low_bits
        raise InvalidArgumentError(option, chosen, "with --fixed-runs only, where a function is run")
    if looks.options() and structure is not None:
        option, *words = looks.options()
        raise InvalidArgumentError(option, words[0] if words else low_bits, "no value with --structure")
    if delta is not None:
        number("--delta", delta, at_least=0.0, below=1.0, allowed="a number in [0, 1)")
    fewest, how = (FEWEST_FIXED_RUNS, "--fixed-runs") if structure is None else (1000, "--structure")
    if not sequential and runs < fewest:
        raise InvalidArgumentError("--runs", runs, f"at least {fewest} with {how}")
    check_json(json_file)
    check_json(search_neighbors, "--search-neighbors")
    named = None
    if run_by_us:
        from dpverify.running import Target

        named = Target(str(target or command), tuple(attribute or ()), command=command is not None)
        from dpverify.verification.user_audits import (
            FunctionQuestion,
            audit_function,
            audit_function_sequentially,
        )

        question = FunctionQuestion(
            named,
            Path(str(data)),
            Path(str(neighbor)),
            claim=claim,
            runs=runs,
            failure_probability=failure_probability,
            seed=seed,
            adjacency=adjacency,
            executor=executor,
            store=store,
            limits=limits_of(time_limit, memory_limit),
            delta=delta,
            allow_equal=allow_equal,
        )
        if search_neighbors is not None:
            from dpverify.verification.neighbor_search import audit_worst_neighbors

            evidence = audit_worst_neighbors(
                question,
                save=Path(search_neighbors),
                limits=limits_of_records,
                seconds=seconds,
                tell=tell,
            )
        elif structure is not None:
            from dpverify.verification.user_audits import audit_function_white_box

            evidence = audit_function_white_box(question, structure, progress=progress_bar("running"))
        elif sequential:
            evidence = audit_function_sequentially(
                question,
                seconds=seconds,
                tell=tell,
            )
        else:
            evidence = audit_function(question, looks=looks, progress=progress_bar("running"))
    else:
        from dpverify.verification.sample_audits import audit_samples

        evidence = audit_samples(
            Path(str(left)),
            Path(str(right)),
            claim=claim,
            failure_probability=failure_probability,
            seed=seed,
            adjacency=adjacency if _is_given(context, "adjacency") else None,
            delta=delta,
            looks=looks,
            allow_equal=allow_equal,
        )
    _write(evidence, form, json_file, named or str(left))
    if evidence.verdict == "violated":
        raise typer.Exit(VIOLATED)
    if evidence.verdict == "undecided":
        raise typer.Exit(UNDECIDED)


def _is_given(context: typer.Context, name: str) -> bool:
    return str(getattr(context.get_parameter_source(name), "name", "")) != "DEFAULT"


def limits_of(seconds: float, gib: float) -> Limits:
    """Limits as they are given on the command line.

    Raises:
        InvalidArgumentError: for numbers out of range.
    """
    from dpverify.checks import number
    from dpverify.running import Limits

    number("--time-limit", seconds, above=0.0, at_most=1e6, allowed="seconds above 0, at most 1e6")
    number("--memory-limit", gib, at_least=0.0625, at_most=2**20, allowed="GiB, from 0.0625 to 1048576")
    return Limits(seconds, int(gib * 2**30))


def _write(evidence: PrivacyEvidence, form: str, json_file: str | None, source: Target | str) -> None:
    """Write what was found, to standard output in one form, and as JSON where that was asked for.

    `source` is what was audited: a target, or the file of the samples on the left.
    """
    from dpverify.commands.formats import write_results
    from dpverify.reports.formats.documents import audit_json
    from dpverify.reports.formats.markdown import audit_markdown
    from dpverify.verification.user_places import place_of
    from dpverify.views.audits.privacy import rows_of
    from dpverify.views.results import Result, SourcePlace, result_of

    def results() -> list[Result]:
        place = SourcePlace(source, 1) if isinstance(source, str) else place_of(source)
        return [result_of(evidence, place)]

    if json_file is not None:
        write_json(json_file, audit_json(evidence))
    if form != "text":
        write_results(
            form, "dpverify audit", results, lambda: audit_json(evidence), lambda: audit_markdown(evidence)
        )
    elif json_file != "-":
        print_facts(rows_of(evidence))
