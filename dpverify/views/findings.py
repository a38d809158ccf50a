"""What is wrong in print: every refuted formula with what it means for whoever implements the paper."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.headlines.rows import CLAIMS
from dpverify.ledger.verdicts import Consequence, Verdict
from dpverify.views.corrections import FaultyStatement, corrections

_MEANS = {
    Consequence.CLAIM: (
        "The claim fails",
        "An implementation that follows the paper as printed does not have the promised property.",
    ),
    Consequence.CONSTANT: (
        "A constant changes",
        "A printed constant is not enough; an implementation that uses it needs the corrected one.",
    ),
    Consequence.CONDITION: (
        "A condition is missing",
        "With a further condition, noted below, the claim is true; an implementation that is used outside of it does "
        "not have the promised property.",
    ),
    Consequence.STEP: (
        "Only a step of a proof is false",
        "The statement itself was not refuted; its proof needs the correction. Implementations need no change.",
    ),
    Consequence.NOTATION: (
        "Notation",
        "The printed formula is false as it is written; it is clear what is meant, and that is true.",
    ),
    Consequence.EDGE: (
        "Edge cases that no reader means",
        "The printed formula fails only where a condition is missing that goes without saying, and at no size that is "
        "met in practice; with the condition noted below, it is true.",
    ),
}

_UNFOLLOWED = (
    "Does not follow from what is declared",
    "Letters that stand for expectations, divergences and the like have values that break the printed formula, and "
    "nothing may attain these: so it is not shown to be false, but it does not follow from what the text says.",
)
_UNSORTED = ("Not sorted by consequence", "What follows from these is not known.")


@dataclass(frozen=True)
class FindingGroup:
    """The findings with the same consequence."""

    anchor: str
    heading: str
    meaning: str
    """What they mean for whoever implements the paper."""
    statements: tuple[FaultyStatement, ...]
    errata: tuple[tuple[StatementEntry, ErratumEntry], ...]
    """Errata that a test or an audit computes."""


def finding_groups(ledger: Ledger) -> tuple[FindingGroup, ...]:
    """All that is false in print, gravest first; groups without a finding are left out."""
    found = corrections(ledger).values()
    errata = [(row, erratum) for row in ledger.statements for erratum in row.errata]
    groups = [
        FindingGroup(
            f"findings-{consequence.name.lower()}",
            *_MEANS[consequence],
            tuple(each for each in found if each.consequence is consequence),
            tuple((row, erratum) for row, erratum in errata if erratum.consequence is consequence),
        )
        for consequence in Consequence
    ]
    others = [each for each in found if each.consequence is None]
    for name, text, unfollowed in (("unfollowed", _UNFOLLOWED, True), ("unsorted", _UNSORTED, False)):
        some = tuple(each for each in others if each.unfollowed is unfollowed)
        groups.append(FindingGroup(f"findings-{name}", *text, some, ()))
    return tuple(group for group in groups if group.statements or group.errata)


def what_is_false(found: FaultyStatement) -> str:
    """The statement itself, or what belongs to it."""
    itself = [f.formula.verdict for f in found.findings if f.formula.coverage in CLAIMS]
    said = ["the statement"] if Verdict.REFUTED in itself else []
    if not said and Verdict.DOES_NOT_FOLLOW in itself:
        said = ["the statement does not follow"]
    return "; ".join([*said, *map(str, found.marks)])


def prove_command(found: FaultyStatement) -> str:
    """The line that shows a finding again."""
    place = f"{found.pages}#" if found.pages else ""
    return shlex.join(["dpverify", "prove", f"{place}{found.statement}"])
