"""The command `dpverify read`: a mechanism's page from the code of a function, and whether the two agree."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from dpverify import extras
from dpverify.errors import InvalidArgumentError
from dpverify.files import write_whole
from dpverify.terminal import UNDECIDED, Seed, end_with, print_table, tell


def read(
    function: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE.MODULE:FUNCTION",
            help="A plain function of numbers and a generator; or a page, NAME.md.",
        ),
    ],
    records: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The parameter that is the data; default: a guess, which is listed."
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(metavar="'[0, 1]'", help="The interval of the records; default: any numbers."),
    ] = None,
    claim: Annotated[
        str | None, typer.Option(metavar="LATEX", help=r"What is claimed, such as '\varepsilon\text{-DP}'.")
    ] = None,
    adjacency: Annotated[
        str | None,
        typer.Option(
            metavar="replace-one|add-or-remove-one", help="How neighbors differ; default: replace-one."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for the page; default: standard output."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="PAGE.md", help="Run the function against this page, in the letters of the one read."
        ),
    ] = None,
    audit: Annotated[
        bool, typer.Option(help="Run the function, and compare its outputs with the page.")
    ] = True,
    runs: Annotated[int, typer.Option(min=100, help="Runs on each of the data sets.")] = 40_000,
    failure_probability: Annotated[
        float,
        typer.Option(help="A function that does what the page says is called violated with at most this."),
    ] = 1e-6,
    seed: Seed = 0,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Wall-clock limit on importing the function and on each run."),
    ] = 600.0,
) -> None:
    """Write a mechanism's page from a function's code.

    The page says what the function does, for `dpverify prove`.
    The source is read without executing it. A line that cannot be read becomes a line of the page, and the page is
    refused until someone writes what that line does. If the page is complete, the function is run, and its outputs are
    compared with the laws of the page. Exit code 0 if they agree, 1 if they do not, 3 if something is not read or not
    compared.

    Given a page of formulas, theorems or mechanisms, it prints how each display is read, and proves nothing.
    """
    if function.endswith(".md"):
        options = {
            "--records": records,
            "--domain": domain,
            "--claim": claim,
            "--out": out,
            "--against": against,
        }
        given = next((name for name, value in options.items() if value is not None), None)
        if given is not None:
            raise InvalidArgumentError(given, options[given], "it beside a function, not beside a page")
        _read_page(Path(function))
        return
    from dpverify.ledger.verdicts import Verdict
    from dpverify.running import Limits
    from dpverify.running.user_process import check_target
    from dpverify.statements.mechanisms.code.proposals import propose
    from dpverify.statements.mechanisms.pages import MechanismOnPage
    from dpverify.statements.mechanisms.reading import read_mechanisms
    from dpverify.statements.pages.blocks import PageError
    from dpverify.verification.code_audits import CodeQuestion, audit_code
    from dpverify.verification.located.user_places import source_of

    module, _ = check_target(function)
    file = source_of(module, Path.cwd())
    if file is None:
        raise InvalidArgumentError(
            "callable", function, "a module with a source file, in the current folder or installed"
        )
    proposal = propose(function, file, records=records, domain=domain, claim=claim, adjacency=adjacency)
    if out is not None:
        write_whole(Path(out), proposal.text.encode())
    elif against is None:
        sys.stdout.write(proposal.text)
    for line in proposal.unread:
        tell(f"not read: line {line.line}, `{line.code}`: {line.reason}")
    page: MechanismOnPage | None = None
    if against is not None:
        pages = read_mechanisms(Path(against))
        if len(pages) != 1:
            raise InvalidArgumentError("--against", against, "a page of one mechanism")
        page = pages[0]
    elif not proposal.unread:
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / Path(out or "page.md").name
            kept.write_text(proposal.text, encoding="utf-8")
            try:
                (page,) = read_mechanisms(kept)
            except PageError as error:
                tell(f"The page says more than pages can: {error}")
    if page is None:
        tell("The function was not run: the page is refused until it says what these lines do.")
        raise typer.Exit(UNDECIDED)
    if not audit:
        return
    found = audit_code(
        CodeQuestion(function, proposal, page, runs, seed, failure_probability, Limits(time_limit))
    )
    for one in found.laws:
        if one.found.verdict is not Verdict.SUPPORTED:
            tell(f"{one.found.verdict}: {one.what}: {one.found.reason}")
    factor = max((one.scale_off for one in found.laws), default=0.0)
    apart = max((one.found.detectable for one in found.laws), default=0.0)
    what = f"noise larger than on the page by a factor {factor:.3g}"
    if factor == float("inf"):
        what = f"an event whose probability is off by {apart:.2g}"
    detects = f"{what} would be found at least half the time"
    said = found.reason or f"{len(found.laws)} laws of {runs} runs each; {detects}"
    tell(
        f"code and page: {found.verdict}: {said}; called violated by mistake with probability at most "
        f"{failure_probability:g}; seed {seed}"
    )
    end_with(found.verdict)


def _read_page(page: Path) -> None:
    """Print what is read of each display of a page."""
    extras.require("dpverify read", "prove")
    from dpverify.verification.located.marks import REFUSED, marks_read

    found = marks_read(page)
    print_table(
        ("line", "what", "read"), [(str(m.line), m.name, f"{m.standing} {m.says}".strip()) for m in found]
    )
    if any(mark.standing == REFUSED for mark in found):
        raise typer.Exit(UNDECIDED)
