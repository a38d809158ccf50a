"""The command `dpverify import`: a paper's source as a folder of pages, with questions to its author."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpverify import extras
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import Json, check_json, tell, write_json


def import_(
    paper: Annotated[
        Path,
        typer.Argument(metavar="PAPER", help="LaTeX (.tex), Markdown (.md), or the text of a PDF (.txt)."),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the pages go: a folder that is new or empty.")
    ] = None,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help="Take all that is guessed as said; of a folder, on its pages as they are now."
        ),
    ] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="With --accept: nothing is missing around the formulas, so that they may be refuted.",
        ),
    ] = False,
    json_file: Json = None,
) -> None:
    """Turn a paper's source into pages for `dpverify prove`.

    Macros are expanded; theorems, proofs and displays become statements and formulas; letters get domains from the
    sentences that introduce them, or guessed ones, which are marked. FOLDER/import/questions.md has questions to the
    authors, and lists what cannot be read, with line and reason. No formula that rests on a guess has a verdict until
    the guess is accepted.
    """
    extras.require("dpverify import", "prove")
    from dpverify.statements.importing import accept as accept_guesses
    from dpverify.statements.importing import import_paper

    check_json(json_file)
    if whole and not accept:
        raise InvalidArgumentError("--whole", True, "said with `--accept`")
    if paper.is_dir():
        if not accept or out is not None:
            raise InvalidArgumentError(
                "paper", str(paper), "a file; or a folder of pages, with `--accept` alone"
            )
        tell(f"{accept_guesses(paper, whole=whole)} guesses accepted in {paper}")
        return
    if out is None:
        raise InvalidArgumentError("--out", None, "the folder for the pages")
    found = import_paper(paper, out)
    counts = found.counts
    tell(
        f"{counts.relations} relations: {counts.read} read, {counts.guessed} guessed, {counts.refused} refused; "
        f"{found.statements} statements and texts on {len(found.pages)} pages in {out}; "
        f"{found.questions} questions in {out}/import/questions.md"
    )
    if accept and found.pages:
        tell(f"{accept_guesses(out, whole=whole)} guesses accepted")
    if json_file is not None:
        more = {"outside": dict(found.outside), "pages": list(found.pages), "questions": found.questions}
        write_json(json_file, vars(counts) | more)
