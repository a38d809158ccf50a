"""What the ledger says of each statement and of what it rests on."""

from __future__ import annotations

import sys

from dpverify.ledger.headlines.roots import Roots
from dpverify.ledger.headlines.rows import FalsePart
from dpverify.ledger.headlines.words import NOTHING, Standing, VariantOutcome
from dpverify.ledger.records import Interval, Record
from dpverify.ledger.verdicts import HOLDS, Consequence, Verdict

NAMED_RESULT = "named result"
"""The kind of statements that are results of the literature, which are not counted among those of papers."""


class NamedResult(Record):
    """A result of the literature that statements rest on."""

    id: str
    """Without a dot, so that it is no id of a catalog."""
    title: str
    """What it says."""
    source: str


class ErratumEntry(Record):
    """A correction of a statement that is computed in a test or an audit, not by a formula of the ledger."""

    where: str
    printed: str
    """What is printed, or what is wrong with it."""
    corrected: str
    consequence: Consequence
    evidence: tuple[str, ...]
    """What computes it: `test NAME` or `audit PLAN`."""


class InstanceEntry(Record):
    """Laws, losses or data that were evaluated, and at which both sides of a printed claim were enclosed."""

    obligation: str
    """The formula of the statement that it is about."""
    says: str
    """What it is."""
    conditions: tuple[str, ...] = ()
    """The hypotheses of the statement that were checked at it."""
    point: dict[str, str]
    """What the formula's letters are at it, to some digits."""
    relation: str
    left: Interval
    right: Interval
    verdict: Verdict
    """Refuted, or undecided."""
    reason: str = ""
    """Why it does not refute."""
    reproduce: str
    """The command that evaluates it again."""

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides, to the digits that are known."""
        return _interval_text(self.left), _interval_text(self.right)

    def text(self) -> str:
        """Both sides in a line."""
        left, right = self.sides
        return f"{left} {self.relation} {right} is {'false' if self.verdict is Verdict.REFUTED else 'not refuted'}"


def _interval_text(side: Interval) -> str:
    if side.lower <= 0 <= side.upper and side.upper - side.lower < sys.float_info.min:
        return "0"
    digits = next((d for d in range(6, 0, -1) if f"{side.lower:.{d}g}" == f"{side.upper:.{d}g}"), 0)
    return f"{side.lower:.{digits}g}" if digits else f"[{side.lower:.3g}, {side.upper:.3g}]"


class StatementEntry(Record):
    """One row of the catalog, with the verdicts computed for it (None: nothing checked yet)."""

    id: str
    paper: str
    kind: str
    where: str
    title: str
    algorithm: str | None = None
    """Import path of the implementation."""
    pages: str = ""
    """The page or folder, as it was given, of a statement that stands on one's own pages."""
    pairs: tuple[str, ...] = ()
    """Ids of the statements and algorithms it belongs with."""
    latex: str = ""
    """The statement as printed, for reading."""
    docstring: str = ""
    printed: VariantOutcome = NOTHING
    """What was shown of it as printed; its standing is what is counted."""
    corrected: VariantOutcome = NOTHING
    missing: tuple[str, ...] = ()
    """The parts of its conclusion, as printed, that no printed formula says: formulas that only its correction has, and
    displays of which nothing says all."""
    unsaid_claims: tuple[str, ...] = ()
    """A few words of each sentence, as printed, that claims what no printed formula says all of.

    Headlines are about formulas, so these are not in them.
    """
    uses: tuple[str, ...] = ()
    """Everything that it or one of its formulas rests on."""
    used_by: tuple[str, ...] = ()
    """The statements that rest on it, in the whole catalog."""
    rests_on_false: tuple[str, ...] = ()
    """The statements that are false as printed among all that it rests on, directly or not."""
    rests_on_unfollowed: tuple[str, ...] = ()
    """The same for those that do not follow from what is declared."""
    errata: tuple[ErratumEntry, ...] = ()
    """Corrections that no formula of the ledger is about, each with what computes it."""
    instances: tuple[InstanceEntry, ...] = ()
    """What refutes it as printed: a statement is refuted by an instance only."""
    marks: tuple[FalsePart, ...] = ()
    """What is false beside the statement itself."""

    @property
    def is_counted(self) -> bool:
        """Whether it is a statement of a paper: no algorithm and no named result."""
        return self.kind not in ("algorithm", NAMED_RESULT)

    @property
    def has_outcome(self) -> bool:
        """Whether anything was shown of the whole of it."""
        return (
            bool(self.printed.verdict or self.corrected.verdict)
            or self.printed.standing is Standing.WHERE_MEANT
        )

    @property
    def roots(self) -> Roots:
        """What it rests on in the end: as printed where that holds or nothing is corrected, else as corrected."""
        said = self.printed
        return (said if said.verdict in HOLDS or self.corrected.standing is None else self.corrected).roots
