"""The commands about papers' statements and one's own: `dpverify list`, `prove`, `explain` and `hypotheses`."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from dpverify import extras
from dpverify.commands.formats import Form, check_format, write_proofs
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.terminal import (
    UNDECIDED,
    VIOLATED,
    Jobs,
    Json,
    check_json,
    end_on_faults,
    end_with,
    print_paragraphs,
    print_table,
    progress_bar,
    write_json,
)

if TYPE_CHECKING:
    from dpverify.ledger.entries import StatementEntry
    from dpverify.ledger.headlines.words import VariantOutcome
    from dpverify.ledger.proofs import ProofEvidence
    from dpverify.statements.own_pages import OwnPaper
    from dpverify.verification.catalog.rows import ProofRecord


_PAUSE = 0.3
"""Seconds between looks at pages that are watched."""


def known_ids(incomplete: str) -> list[str]:
    """Papers and catalog ids that begin so, for a shell that completes a word."""
    try:
        from dpverify.statements.paper import papers

        known = [(paper.key, *(row.id for row in paper.catalog)) for paper in papers().values()]
    except ImportError:  # without the extra that brings formulas there is nothing to name
        return []
    return [id_ for some in known for id_ in some if id_.startswith(incomplete)]


def _some_of(some: int, total: int) -> str:
    return f"{some} of {total} statement{'s' if total > 1 else ''}"


# ------------------------------------------------------------------------------------------- list


def list_(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Papers or statement ids (default: all papers), `textbook`, `theorems` or `mechanisms`, or Markdown "
            "pages, or folders of them, of your own.",
            autocompletion=known_ids,
        ),
    ] = None,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """List statements and algorithms with their verdicts.

    If a paper's statement was not proved here before, the verdicts that come with the program are shown. If these are
    about other formulas, as for pages of your own, the checker goes through the proofs that come with the program, and
    formulas without a proof are proved; that needs the extra prove. The output says where verdicts come from. dpverify
    prove finds proofs here.
    """
    from dpverify.commands.theorems import list_theorems
    from dpverify.verification.catalog.entries import catalog_entries
    from dpverify.verification.display_counts import displays_by_paper, displays_by_statement
    from dpverify.verification.remembering.remembered import recall_instances

    chosen = tuple(ids or ())
    check_json(json_file)
    if json_file is None and len(kinds := _by_kind(chosen)) > 1:
        for some in kinds:
            list_(list(some), jobs=jobs)
        return
    if list_theorems(chosen, json_file, jobs=jobs):
        return
    records = recalled_or_proved(chosen, jobs)
    entries = catalog_entries(records, chosen, docstrings=False, judged=recall_instances)
    evidence = [record.evidence for record in records]
    if json_file is not None:
        counts = {"displays", "encoded", "whole", "part", "ingredient", "decided", "confirmed"}
        of = displays_by_statement(evidence, chosen)
        write_json(json_file, [{**_as_json(e), **of[e.id].model_dump(include=counts)} for e in entries])
    if json_file == "-":
        return
    from dpverify.ledger.headlines.words import counts as standings
    from dpverify.views.formula import confirmed_by
    from dpverify.views.roots import brief, roots_of_statement, roots_view

    print_table(
        ("id", "kind", "where", "as printed", "corrected", "confirmed by", "roots", "what"),
        (
            (
                e.id,
                e.kind,
                e.where,
                e.printed.headline,
                e.corrected.headline,
                confirmed_by([row for row in evidence if row.statement == e.id and not row.units_of]),
                brief(roots_of_statement(e)),
                e.title,
            )
            for e in entries
        ),
    )
    how = standings(e.printed.standing for e in entries if e.is_counted)
    typer.echo(f"As printed: {', '.join(standing.of(number) for standing, number in how.items())}.")
    for line in (
        *roots_view(entries, evidence).lines,
        *(of.summary() for of in displays_by_paper(evidence, chosen)),
    ):
        typer.echo(line)


def recalled_or_proved(chosen: tuple[str, ...], jobs: int) -> list[ProofRecord]:
    """What is known of the chosen statements, or is confirmed now, and what is known of all that they rest on."""
    from dpverify.statements.paper import papers
    from dpverify.statements.selection import select
    from dpverify.verification.catalog.rows import ProofRecord
    from dpverify.verification.remembering.remembered import HowFound, recall_or_prove
    from dpverify.verification.remembering.shipped import known_below, origin, recall_or_read

    wanted = {row.id for _, row in select(chosen)}
    statements = [s for paper in papers().values() for s in paper.statements if s.id in wanted]
    if (lacking := extras.lacking_of("prove")) and (
        unknown := [s.id for s in statements if recall_or_read(s) is None]
    ):
        names = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        typer.echo(
            extras.missing(f"No verdicts are shown of {names}: finding them", {"prove": lacking}), err=True
        )
        statements = [s for s in statements if s.id not in unknown]

    def missing(count: int) -> None:
        if count:
            typer.echo(
                f"Checking the proofs that come with the program of {_some_of(count, len(statements))}, once; "
                "formulas without any are proved. If you interrupt it, what is finished is kept.",
                err=True,
            )

    bar = progress_bar("checking")
    records = recall_or_prove(
        statements,
        workers=jobs,
        progress=bar,
        missing=missing,
        recall_one=recall_or_read,
        how=HowFound.CONFIRMED,
    )
    if not_here := origin(statements):
        typer.echo(not_here, err=True)
    # what is false among them is carried to what rests on it
    below, _ = known_below(name for s in statements for name in s.rests_on)
    return [*records, *(ProofRecord(e) for e in below if e.statement not in wanted)]


def _as_json(entry: StatementEntry) -> dict[str, Any]:
    fields = {
        "id", "paper", "kind", "where", "title", "algorithm", "missing", "uses", "used_by", "rests_on_false",
        "rests_on_unfollowed",
    }  # fmt: skip
    return {
        **entry.model_dump(mode="json", include=fields),
        "printed": _said(entry.printed),
        "corrected": _said(entry.corrected),
        "marks": list(map(str, entry.marks)),
        "roots": entry.roots.model_dump(mode="json"),
    }


def _said(word: VariantOutcome) -> dict[str, Any]:
    """What `list` shows of one variant of a statement."""
    fields = {"verdict", "standing", "given", "consequence"}
    return {**word.model_dump(mode="json", include=fields), "headline": word.headline}


# ------------------------------------------------------------------------------------------- prove


def prove(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Papers or statement ids (default: all papers), `textbook`, `theorems` or `mechanisms`, or Markdown "
            "pages, or folders of them, of your own.",
            autocompletion=known_ids,
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Prove again what was proved before, instead of showing the stored result."
        ),
    ] = False,
    form: Form = "text",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Also exit with 1 if a formula is refuted or does not follow."),
    ] = False,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Audit mechanisms that are neither proved nor refuted, by sampling."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Prove pages again whenever one is saved, until interrupted.")
    ] = False,
    rocq: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Only write what is confirmed as theorems with scripts for Rocq (Coq).",
        ),
    ] = None,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """Prove or refute formulas, a paper's or your own.

    Of a paper, these are the printed formulas and their corrections; of yours, the formulas on a Markdown page. A
    second, independent checker tries to confirm each certificate. The user's cache folder keeps the results for a
    paper's statement until a formula or a prover changes. Beside each verdict stands how the formula was read. Exit
    code 0, or 3 if a formula, or your page, is undecided. A printed formula that is refuted or does not follow is a
    finding about its paper, not an error, unless --strict says so. In JUnit XML and SARIF, such a formula of your own
    page is a failure, at the line of its display.

    A page whose table of letters has the column `kind` is one of theorems (docs/theorems.md): they are derived by the
    steps of the page. `theorems` stands for all that come with the program. A page that says what its records are is
    one of mechanisms (docs/mechanisms.md): their claims are proved, or broken by a pair of data sets.
    """
    extras.require("dpverify prove", "prove")
    from dpverify.commands.theorems import prove_pages
    from dpverify.ledger.verdicts import BROKEN, Verdict
    from dpverify.statements.own_pages import OwnPaper, opened

    chosen = tuple(ids or ())
    check_format(form, json_file)
    check_json(json_file)
    if rocq is not None:
        if json_file or form != "text" or watch or again or strict or audit:
            raise InvalidArgumentError("--rocq", str(rocq), "no other option beside it but --jobs")
        _write_rocq(chosen, rocq, jobs)
        return
    if watch:
        _watch(chosen, lambda: prove(ids, again, form, strict, audit, False, None, json_file, jobs))
    if len(kinds := _by_kind(chosen)) > 1:
        if form != "text" or json_file is not None:
            allowed = "pages of formulas, of theorems or of mechanisms alone, with --format or --json"
            raise InvalidArgumentError("ids", ", ".join(chosen), allowed)
        _end_with_the_worst(
            partial(prove, list(some), again, form, strict, audit, jobs=jobs) for some in kinds
        )
        return
    failing = (*BROKEN, Verdict.VIOLATED) if strict else ()
    if prove_pages(chosen, form, json_file, failing=failing, again=again, audit=audit, jobs=jobs):
        return
    found = _proved(chosen, again, jobs)
    own = [paper for name in chosen if isinstance(paper := opened(name), OwnPaper)]
    headlines, undecided, beside = _said_of_pages(own, found)
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
        print_table(_COLUMNS, map(_cells, found))
        for line in (*headlines, *beside):
            typer.echo(line)
    end_on_faults(found)
    end_with(*(e.verdict for e in found), *([Verdict.UNDECIDED] if undecided else []), failing=failing)


def _by_kind(names: Sequence[str]) -> list[Sequence[str]]:
    """Names of mechanisms, of theorems, and of others, as far as there are any."""
    from dpverify.statements.theorems.names import is_page_of_mechanisms, split_names

    mechanisms = [name for name in names if is_page_of_mechanisms(name)]
    others, theorems = split_names([name for name in names if name not in mechanisms])
    return [some for some in (mechanisms, theorems, others) if some]


def _end_with_the_worst(commands: Iterable[Callable[[], None]]) -> None:
    """Run one after another; end as one that found something false, else as one that left something undecided."""
    codes = {0}
    for command in commands:
        try:
            command()
        except typer.Exit as end:
            codes.add(end.exit_code)
    for code in (VIOLATED, UNDECIDED):
        if code in codes:
            raise typer.Exit(code)


def _write_rocq(chosen: tuple[str, ...], file: Path, jobs: int) -> None:
    """Write theorems and their scripts, and beside them the two files that these stand on."""
    from dpverify.proving.rocq.kernel import file_of, write_sources
    from dpverify.statements.selection import select_statements
    from dpverify.statements.theorems.names import about_theorems, is_page_of_mechanisms
    from dpverify.verification.kernel_rows import theorems_of

    if file.suffix != ".v" or not file.stem.isidentifier() or file.name in ("semantics.v", "rules.v"):
        raise InvalidArgumentError(
            "--rocq", str(file), "a file NAME.v, where NAME is letters, digits and underscores"
        )
    if not file.parent.is_dir():
        raise InvalidArgumentError("--rocq", str(file), "a file in a folder that exists")
    if any(map(is_page_of_mechanisms, chosen)) or about_theorems(chosen):
        raise InvalidArgumentError("id", ", ".join(chosen), "statements of papers and pages of formulas")
    statements = select_statements(chosen)
    try:
        write_sources(file.parent)
        theorems, without = theorems_of(statements, workers=jobs)
        file.write_text(file_of(theorems), encoding="utf-8")
    except OSError as error:
        raise InvalidArgumentError(
            "--rocq", str(file), f"a file that can be written: {error.strerror}"
        ) from None
    for line in without:
        typer.echo(line, err=True)
    typer.echo(f"{len(theorems)} theorems in {file}; semantics.v and rules.v beside it are compiled first.")


def _watch(names: Sequence[str], prove_once: Callable[[], None]) -> NoReturn:
    """Prove pages now and after each change, until this is interrupted; what a page is refused for is said."""
    if not names or not all(name.endswith(".md") or Path(name).is_dir() for name in names):
        raise InvalidArgumentError("--watch", ", ".join(names), "pages of your own, or folders of them")
    folders = [path if path.is_dir() else path.parent for path in map(Path, names)]
    now: dict[Path, int] | None = None
    seen: dict[Path, int] | None = None
    while True:
        try:
            now = {file: file.stat().st_mtime_ns for folder in folders for file in folder.glob("*.md")}
        except OSError:  # a page that an editor is just replacing
            now = seen
        if now != seen:
            seen = now
            typer.echo(f"{', '.join(names)} at {datetime.now():%H:%M:%S}")
            try:
                prove_once()
            except typer.Exit:
                pass
            except DpverifyError as error:
                typer.echo(f"dpverify: {error}", err=True)
            sys.stdout.flush()
        time.sleep(_PAUSE)


def _proved(chosen: tuple[str, ...], again: bool, jobs: int) -> list[ProofEvidence]:
    from dpverify.statements.selection import select_statements
    from dpverify.verification.remembering.remembered import prove_and_remember, recall_or_prove

    statements = select_statements(chosen)

    def missing(count: int) -> None:
        if kept := len(statements) - count:
            number = _some_of(kept, len(statements))
            typer.echo(f"What was found of {number} before is shown; --again proves all anew.", err=True)

    bar = progress_bar("proving")
    if again:
        records = prove_and_remember(statements, workers=jobs, progress=bar)
    else:
        records = recall_or_prove(statements, workers=jobs, progress=bar, missing=missing)
    return [record.evidence for record in records]


def _said_of_pages(
    own: Iterable[OwnPaper], found: Sequence[ProofEvidence]
) -> tuple[list[str], bool, list[str]]:
    """A line for each statement on someone's own pages, whether one is undecided, and what is said beside them."""
    from dpverify.ledger.verdicts import Verdict
    from dpverify.verification.catalog.proofs import said_of_page
    from dpverify.verification.remembering.shipped import known_below

    headlines, undecided, beside = list[str](), False, list[str]()
    for paper in own:
        for statement in paper.statements:
            below, unknown = known_below(statement.rests_on)
            word = said_of_page(statement, (e for e in found if e.statement == statement.id), below)
            where = paper.path if statement.where == paper.path.name else statement.where
            headlines.append(f"{where}: {word.headline}")
            undecided = undecided or word.verdict is Verdict.UNDECIDED
            if unknown:
                names = ", ".join(unknown)
                beside.append(f"No verdicts are kept here on {names}; dpverify prove finds them.")
        beside += paper.unread
    return headlines, undecided, beside


_COLUMNS = (
    "statement", "obligation", "variant", "coverage", "verdict", "prover", "confirmed by",
    "counterexample, values, or why", "at a realistic size", "what was read",
)  # fmt: skip


def _cells(proof: ProofEvidence) -> tuple[str, ...]:
    from dpverify.ledger.verdicts import Coverage, Gap, Verdict
    from dpverify.views.formula import confirmed_by

    verdict, why = str(proof.verdict), proof.reason
    if proof.coverage is Coverage.UNIT:
        verdict = "units agree" if proof.verdict is Verdict.PROVED else verdict
        why = ""
    elif proof.verdict is Verdict.UNDECIDED:  # all that each prover said is in the JSON
        shown = proof.gap in (Gap.PARTIAL, Gap.GUESSED)
        why = proof.reason if shown else str(proof.gap or "")
    return (
        proof.statement, proof.obligation, proof.variant, proof.coverage, verdict, proof.prover, confirmed_by([proof]),
        ", ".join(f"{name}={value}" for name, value in (proof.counterexample or {}).items()) or why,
        proof.realistic.summary() if proof.realistic else "", proof.read,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- explain, hypotheses


def explain(
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A paper, a statement or an algorithm, such as fmtt18.thm23, or a theorem.",
            autocompletion=known_ids,
        ),
    ],
) -> None:
    """Explain a statement, an algorithm or a theorem.

    Shows a statement's formulas with their verdicts, or an algorithm's code, guarantee and audits. Verdicts are the
    latest from `list`, `prove` or `verify`, unless a formula or prover has changed since.
    """
    from dpverify.statements.theorems.names import about_theorems
    from dpverify.verification.explanation import explanation_lines

    if about_theorems((id_,)):
        from dpverify.verification.theorems import theorem_lines

        lines = theorem_lines(id_)
    else:
        lines = explanation_lines(id_)
    print_paragraphs(lines)


def hypotheses(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Papers or statement ids; default: all.", autocompletion=known_ids),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a page in Markdown instead of a table.")
    ] = False,
    json_file: Json = None,
    jobs: Jobs = 2,
) -> None:
    """List which hypotheses of statements their proofs need.

    The command tries each proved formula again without each of its hypotheses: its conditions and the ends of its
    letters' domains. A hypothesis is needed if the formula is false or undefined at a point where all others hold, and
    unused if the formula is proved without it. The command also looks for a point at which all conditions of a
    statement hold at once. The user's cache folder keeps the results until a formula or a prover changes; for all
    statements, the command takes minutes.
    """
    extras.require("dpverify hypotheses", "prove")
    from dpverify.statements.selection import select_statements
    from dpverify.verification.hypotheses import (
        CUT_SHORT,
        case_lines,
        markdown,
        recall_or_find_hypotheses,
        summary,
    )
    from dpverify.views.formula import point_text

    check_json(json_file)
    if as_markdown and json_file == "-":
        raise InvalidArgumentError("--json", json_file, "a file, since --markdown goes to standard output")
    statements = select_statements(tuple(ids or ()))

    def missing(count: int) -> None:
        if count > 1:
            typer.echo(f"Trying the formulas of {count} statements without their hypotheses, once.", err=True)

    bar = progress_bar("hypotheses")
    found = recall_or_find_hypotheses(statements, workers=jobs, progress=bar, missing=missing)
    if json_file is not None:
        rows = [f.model_dump(mode="json") for f in found]
        write_json(json_file, {"schema_version": 1, "statements": rows})
    if as_markdown:
        typer.echo(markdown(found), nl=False)
    if json_file == "-" or as_markdown:
        return
    print_table(
        ("statement", "hypothesis", "use", "formula", "where"),
        (
            (f.statement, h.hypothesis, h.use, h.formula, point_text(h.point or {}))
            for f in found
            for h in f.hypotheses
        ),
    )
    for f in found:
        if f.cut_short:
            typer.echo(f"{f.statement}: {CUT_SHORT}", err=True)
    for f in found if len(found) == 1 else ():
        for words, of in (("as printed", f.printed), ("corrected", f.corrected)):
            for line in case_lines(of):
                typer.echo(f"Conditions {words}: {line}")
    typer.echo(summary(found))
