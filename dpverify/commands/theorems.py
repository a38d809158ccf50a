"""What `dpverify prove` and `list` do with theorems and mechanisms: what is derived, rests on what, or is broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import end_with, print_table, progress_bar, write_or_show

if TYPE_CHECKING:
    from dpverify.ledger.theorems import TheoremEvidence
    from dpverify.verification.mechanisms import MechanismRow


def prove_pages(
    names: Sequence[str], form: str, json_file: str | None, *, failing: Sequence[str], again: bool, audit: bool,
    jobs: int,
) -> bool:  # fmt: skip
    """Derive theorems by their steps, or decide mechanisms, if names are of these; whether they are.

    Raises:
        InvalidArgumentError: for names of some among others, for another form than text, and where others than
            mechanisms are audited.
    """
    from dpverify.statements.theorems.names import about_theorems, is_page_of_mechanisms

    mechanisms = any(map(is_page_of_mechanisms, names))
    if audit and not mechanisms:
        raise InvalidArgumentError("--audit", True, "pages of mechanisms")
    if not mechanisms and not about_theorems(names):
        return False
    what = "mechanisms" if mechanisms else "theorems"
    if form != "text":
        raise InvalidArgumentError("--format", form, f"`text`, or --json, for {what}")
    if mechanisms:
        from dpverify.verification.mechanisms import mechanism_rows

        found = list(mechanism_rows(names, audit))
        write_or_show(json_file, lambda: [row.json for row in found], lambda: print_mechanisms(found))
        end_with(*(row.verdict for row in found), failing=failing)
        return True
    from dpverify.verification.theorems import theorem_rows

    rows = theorem_rows(names, workers=jobs, progress=progress_bar("deriving"), again=again)
    derived = [row.found for row in rows]
    write_or_show(json_file, lambda: [row.json for row in rows], lambda: print_theorems(derived))
    end_with(*(row.verdict for row in derived), failing=failing)
    return True


def list_theorems(names: Sequence[str], json_file: str | None, *, jobs: int) -> bool:
    """List theorems with their verdicts, if names are of theorems; whether they are.

    Raises:
        InvalidArgumentError: for names of theorems among others.
    """
    from dpverify.statements.theorems.names import about_theorems

    if not about_theorems(names):
        return False
    from dpverify.verification.remembering.theorem_verdicts import verdicts_of

    found, said = verdicts_of(names, workers=jobs, progress=progress_bar("deriving"))
    write_or_show(
        json_file,
        lambda: [row.model_dump(mode="json") for row in found],
        lambda: print_theorems(found),
    )
    if said:
        typer.echo(said, err=True)
    return True


def print_theorems(found: Sequence[TheoremEvidence]) -> None:
    """A table of theorems, and how many there are of each verdict."""
    from dpverify.ledger.verdicts import Verdict
    from dpverify.views.theorems import theorems_text

    cells = [
        (
            row.id,
            str(row.verdict),
            row.title,
            f"{row.read_twice} of {len(row.displays)}",
            ", ".join(row.rests_on),
            row.reason and f"line {row.line}: {row.reason}",
        )
        for row in found
    ]
    print_table(("id", "verdict", "what", "read twice", "rests on", "why"), cells)
    typer.echo(theorems_text(found))
    for row in found if len(found) == 1 else ():
        if row.model_in_words:
            refuted = " and the claim is not" * (row.verdict is Verdict.REFUTED)
            typer.echo(
                "\n  ".join([f"A model in which what is assumed is true{refuted}:", *row.model_in_words])
            )


def print_mechanisms(rows: Sequence[MechanismRow]) -> None:
    """A table of mechanisms, what was found of each, and how many there are of each verdict."""
    from dpverify.views.number_text import plural
    from dpverify.views.pairs import audit_lines, change_lines, pair_lines

    cells = [
        (r.id, str(r.verdict), r.title, ", ".join(r.results), r.reason and f"line {r.line}: {r.reason}")
        for r in rows
    ]
    print_table(("id", "verdict", "what", "rests on", "why"), cells)
    for row in rows:
        lines = [] if row.pair is None else [*pair_lines(row.id, row.line, row.pair)]
        lines += [line for one in row.changes for line in change_lines(row.id, one)]
        if row.instead is not None:
            lines.append(f"{row.id}: proved instead, {row.instead.measure} = {row.instead.value}")
        lines += [] if row.audit is None else audit_lines(row.id, row.audit)
        for line in lines:
            typer.echo(line)
    counts = Counter(str(row.verdict) for row in rows)
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    typer.echo(f"{plural(len(rows), 'mechanism')}: {said}.")
