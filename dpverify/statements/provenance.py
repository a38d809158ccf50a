"""Where the line of each encoded formula comes from: `not_as_printed.csv` lists all that do not stand in print.

That list is held against the papers' texts by a test; what is not on it stands there, spacing and brackets aside.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources

from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Variant
from dpverify.statements.inventory import MISSING, UNSAYABLE
from dpverify.statements.paper import papers

REASONS = {
    "pieced together": Provenance.PIECED,
    "letters of ours": Provenance.OURS,
    "special case": Provenance.SPECIAL,
    "torn PDF": Provenance.TORN,
}
"""In the words of the list."""


@cache
def not_as_printed() -> Mapping[tuple[str, str], Provenance]:
    """Statement and obligation to what the line is, for each that does not stand in print."""
    text = resources.files("dpverify.statements").joinpath("not_as_printed.csv").read_text(encoding="utf-8")
    return {
        (r["statement"], r["obligation"]): REASONS[r["reason"]] for r in csv.DictReader(text.splitlines())
    }


def provenance_of(statement: str, variant: Variant, obligation: str) -> Provenance:
    """Where the line of a formula comes from; what someone's own page says stands there."""
    if variant is Variant.CORRECTED:
        return Provenance.OURS
    return not_as_printed().get((statement, obligation), Provenance.VERBATIM)


def prints(statement: str, variant: Variant, obligation: str) -> tuple[str, ...]:
    """In LaTeX, the displays that a printed formula says a part of, or follows from, where it is none of them."""
    if provenance_of(statement, variant, obligation) is Provenance.VERBATIM or variant is Variant.CORRECTED:
        return ()
    return _displays().get(f"{statement}/{obligation}", ())


@cache
def unsaid(statement: str) -> tuple[str, ...]:
    """The displays of a statement itself, but for those of its proof, that no obligation says, by their place."""
    return tuple(
        display.place
        for paper in papers().values()
        for display in paper.displays
        if display.statement == statement
        and display.place.startswith("statement,")
        and "display" in display.place
        and display.reason in (UNSAYABLE, MISSING)
    )


def unsaid_claims(statement: str) -> tuple[str, ...]:
    """What a statement claims in words, and no obligation says: a few words of each, as they are printed."""
    return tuple(
        sentence.text
        for paper in papers().values()
        for sentence in paper.sentences
        if sentence.statement == statement and sentence.is_unsaid
    )


@cache
def _displays() -> Mapping[str, tuple[str, ...]]:
    """STATEMENT/OBLIGATION to the displays that the inventories say it encodes or is a part of."""
    found: dict[str, dict[str, None]] = {}
    for paper in papers().values():
        for display in paper.displays:
            for name in display.encoded:
                found.setdefault(name, {})[display.latex] = None
    return {name: tuple(lines) for name, lines in found.items()}
