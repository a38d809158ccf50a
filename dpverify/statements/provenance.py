"""What a formula's source prints that it says a part of, and what of a statement no formula says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Variant
from dpverify.proving.language import Obligation
from dpverify.statements.inventory import MISSING, UNSAYABLE
from dpverify.statements.paper import papers


def prints(statement: str, variant: Variant, obligation: Obligation) -> tuple[str, ...]:
    """In LaTeX, the displays that a printed formula says a part of, or follows from, where it is none of them."""
    if obligation.provenance is Provenance.VERBATIM or variant is Variant.CORRECTED:
        return ()
    return _displays().get(f"{statement}/{obligation.name}", ())


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
