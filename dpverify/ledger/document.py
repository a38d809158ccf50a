"""The ledger: everything that one run found, with the catalog's statements and what became of them.

It is the only thing that reports read, so whatever a reader should see must be in it. Its JSON form is versioned: a
field's meaning never changes, new meanings get new fields and a new version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, Self

from dpverify.ledger.entries import NamedResult, StatementEntry
from dpverify.ledger.evidence import Evidence
from dpverify.ledger.notebooks import html_table
from dpverify.ledger.records import Record, Reuse, SpentShare
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.versions import library_versions

SCHEMA_VERSION: Literal[1] = 1


class ErrorBudget(Record):
    """How the run's failure probability was spent."""

    failure_probability: float
    spent: dict[str, float]
    """Per audit; the sum is at most `failure_probability`."""
    shares: tuple[SpentShare, ...] = ()
    """What it was spent on, by audits and their parts."""

    def spent_on(self, audit: str) -> tuple[SpentShare, ...]:
        """What one audit spent its share on; paths are below it."""
        return tuple(share.but(path=share.path[1:]) for share in self.shares if share.path[0] == audit)


class DisplayCount(Record):
    """What became of the displays and inline relations of a paper's statements and proofs."""

    paper: str
    displays: int
    """All of them, a display of several lines by lines."""
    encoded: int
    """Those that obligations say all of: the sum of the next three."""
    whole: int = 0
    """Those of the encoded that obligations say as they are printed."""
    part: int = 0
    """Those that obligations say in parts, or with what stands around them."""
    ingredient: int = 0
    """Those of which obligations only say special cases, or what follows from them in letters of ours."""
    decided: int
    """Those of the encoded whose obligations all have a verdict other than `undecided`."""
    confirmed: int
    """Those of the decided that the checker confirmed."""
    definitions: int
    restated: int
    """Those said elsewhere."""
    unsayable: int
    """Those that need what no type here can say."""
    missing: int
    """Those not encoded yet."""
    unlisted: int = 0
    """Statements whose displays nobody has listed."""
    claims: int = 0
    """What its statements claim in words, beside what stands in displays."""
    claims_encoded: int = 0
    """Those of which obligations, here or elsewhere, say all."""

    def summary(self) -> str:
        """The count in one line."""
        rest = {
            "definitions": self.definitions,
            "restated elsewhere": self.restated,
            "not expressible": self.unsayable,
            "not encoded yet": self.missing,
            "statements not yet inventoried": self.unlisted,
        }
        how = f"{self.whole} whole, {self.part} in part, {self.ingredient} as ingredients of ours"
        shown = f"{self.encoded} encoded ({how}; {self.decided} decided, {self.confirmed} confirmed)"
        others = (f"{n} {what}" for what, n in rest.items() if n)
        words = f"; {self.claims} claims in words, {self.claims_encoded} encoded" if self.claims else ""
        first = f"{self.paper}: {self.displays} displays and inline relations"
        return ", ".join([first, shown, *others]) + words


class UnauditedClaim(Record):
    """A claim of a project whose audit ended in an error, so that nothing is known of it."""

    called: str
    claim: str
    error: str


class Ledger(Record):
    """Everything that one run of dpverify found."""

    schema_version: Literal[1] = SCHEMA_VERSION
    program: str = "dpverify"
    program_version: str
    created: str
    """ISO 8601, UTC."""
    command: str
    seed: int
    profile: str
    versions: dict[str, str]
    """Versions of Python and of the libraries that results depend on."""
    statements: tuple[StatementEntry, ...]
    entries: tuple[Evidence, ...]
    budget: ErrorBudget
    seconds: float
    reuse: Reuse | None = None
    """Where a store was used, what was taken from it."""
    results: tuple[NamedResult, ...] = ()
    """The named results that statements of this ledger rest on."""
    displays: tuple[DisplayCount, ...] = ()
    """For each paper with an inventory."""
    theorems: tuple[TheoremEvidence, ...] = ()
    """Those of theorems' pages; none of them is among the statements."""
    not_audited: tuple[UnauditedClaim, ...] = ()
    """Claims that could not be audited; they have no entry."""

    @classmethod
    def of_run(
        cls,
        command: str,
        *,
        seed: int,
        budget: ErrorBudget,
        profile: str = "",
        entries: Iterable[Evidence] = (),
        seconds: float = 0.0,
        **others: Any,
    ) -> Self:
        """The ledger of a run that ends now, with this program and the libraries that are installed."""
        from dpverify import __version__

        return cls(
            program_version=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=library_versions(),
            command=command,
            seed=seed,
            profile=profile,
            entries=tuple(entries),
            budget=budget,
            seconds=seconds,
            **{"statements": (), **others},
        )

    def _repr_html_(self) -> str:
        """For notebooks: how many rows have which verdict."""
        counts = Counter((entry.kind, str(entry.verdict)) for entry in self.entries)
        rows = [(f"{kind}, {verdict}", count) for (kind, verdict), count in sorted(counts.items())]
        share = ("failure probability", f"{self.budget.failure_probability:g}")
        return html_table(
            f"Ledger of {self.program} {self.program_version}, {self.created}",
            [("command", self.command), ("profile", self.profile), ("seed", self.seed), share, *rows],
        )
