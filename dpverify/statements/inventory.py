"""The inventory of a paper, and what became of what is in it.

Every display and inline relation of its statements and proofs (displays.csv), and every sentence of its statements that
defines or claims something in words (sentences.csv).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.in_print import Provenance

if TYPE_CHECKING:
    from dpverify.ledger.document import DisplayCount
    from dpverify.ledger.entries import NamedResult
    from dpverify.ledger.proofs import ProofEvidence

DEFINITION = "definition"
RESTATED = "restated elsewhere"
UNSAYABLE = "needs what no type here can say"
MISSING = "not encoded yet"
REASONS = (DEFINITION, RESTATED, UNSAYABLE, MISSING)
"""Why no obligation encodes a display. A definition is also what says where a letter ranges."""

COLUMNS = ("statement", "place", "latex", "encoded", "reason")
CLAIM, REMARK = "claim", "remark"
"""A remark is about a statement, or about its proof, and no part of what it concludes."""
SENTENCE_COLUMNS = ("statement", "kind", "text", "encoded", "reason")


@dataclass(frozen=True)
class ListedDisplay:
    """A display, a line of one that has several, or an inline relation, as it is printed."""

    statement: str
    place: str
    """Such as `proof, 3rd display, line 2` or `statement, inline 4`."""
    latex: str
    encoded: tuple[str, ...]
    """The obligations that encode it or a part of it, each as STATEMENT/OBLIGATION."""
    reason: str
    """One of `REASONS`, where no obligation says all of it."""


@dataclass(frozen=True)
class ListedSentence:
    """A sentence of a statement, or a part of one, that defines or claims something."""

    statement: str
    kind: str
    """`definition`, `claim` or `remark`."""
    text: str
    """Words of it, as they are printed."""
    encoded: tuple[str, ...]
    """The obligations that say what it claims, or a part of it, each as STATEMENT/OBLIGATION."""
    reason: str
    """One of `REASONS`, where no obligation says all of it."""

    @property
    def is_unsaid(self) -> bool:
        """Whether it claims something that no formula says."""
        return self.kind == CLAIM and self.reason in (UNSAYABLE, MISSING)


@dataclass(frozen=True)
class LostGlyph:
    """A place where a paper's text lacks a glyph that decides what a formula says, and how it is read here."""

    statement: str
    place: str
    text: str
    """What is left of it."""
    reading: str
    """In LaTeX."""
    evidence: str
    """What else in the paper speaks for the reading."""


def own_table(name: str) -> Iterator[dict[str, str]]:
    """The rows of a table that stands beside this file."""
    text = resources.files("dpverify.statements").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


@cache
def lost_glyphs() -> tuple[LostGlyph, ...]:
    """The rows of lost_glyphs.csv; nothing is refuted by a glyph that a text lost."""
    return tuple(LostGlyph(**row) for row in own_table("lost_glyphs.csv"))


@cache
def literature() -> tuple[NamedResult, ...]:
    """The named results: what encoded statements rest on, beside statements of the papers themselves."""
    from dpverify.ledger.entries import NamedResult

    return tuple(NamedResult(**row) for row in own_table("literature/catalog.csv"))


def read_displays(file: Path) -> tuple[ListedDisplay, ...]:
    """The displays in a file; none where there is no such file."""
    return tuple(
        ListedDisplay(s, place, latex, tuple(e.split()), reason)
        for s, place, latex, e, reason in _rows(file, COLUMNS)
    )


def read_sentences(file: Path) -> tuple[ListedSentence, ...]:
    """The sentences in a file; none where there is no such file."""
    found = tuple(
        ListedSentence(s, kind, text, tuple(e.split()), reason)
        for s, kind, text, e, reason in _rows(file, SENTENCE_COLUMNS)
    )
    for row in found:
        if row.kind not in (CLAIM, REMARK, DEFINITION) or (row.kind == DEFINITION) != (
            row.reason == DEFINITION
        ):
            name = f"kind of {row.statement}, {row.text}"
            raise InvalidArgumentError(name, row.kind, f"{CLAIM}, {REMARK}, or {DEFINITION} with that reason")
    return found


def _rows(file: Path, columns: tuple[str, ...]) -> Iterator[list[str]]:
    """The rows of a table that ends with what is encoded, and the reason where not all is."""
    if not file.is_file():
        return
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        require(tuple(next(rows)) == columns, f"columns of {file.name}", "others", ", ".join(columns))
        for row in rows:
            *_, encoded, reason = row
            if reason not in REASONS and (reason or not encoded):
                name = f"reason of {', '.join(row[:-2])}"
                raise InvalidArgumentError(name, reason, f"an obligation, or one of: {'; '.join(REASONS)}")
            yield row


def _said(lines: set[Provenance | None]) -> Literal["whole", "part", "ingredient"]:
    """How much of a display is said by formulas with these lines."""
    if lines <= {Provenance.VERBATIM}:
        return "whole"
    return "part" if lines & {Provenance.VERBATIM, Provenance.PIECED, Provenance.TORN} else "ingredient"


def count(
    paper: str,
    displays: Iterable[ListedDisplay],
    entries: Iterable[ProofEvidence],
    statements: Iterable[str] = (),
    sentences: Iterable[ListedSentence] = (),
) -> DisplayCount:
    """How many there are and how many are encoded, and of these, what the entries have decided and confirmed.

    One counts as encoded if obligations say all of it, whole where each of them stands in print, in part where only
    some do or they are pieced together, else as an ingredient; as decided if each of these has a verdict other than
    `undecided` and says more than it assumes, and as confirmed if the checker confirmed each. Those of `statements`
    that have no row are counted.
    """
    from dpverify.ledger.document import DisplayCount
    from dpverify.ledger.verdicts import Coverage, Variant, Verdict

    decided, confirmed = set[str](), set[str]()
    lines: dict[str, Provenance | None] = {}
    for entry in entries:
        if entry.variant is Variant.PRINTED and entry.coverage is not Coverage.UNIT:
            name = f"{entry.statement}/{entry.obligation}"
            lines[name] = entry.provenance
            if entry.verdict is not Verdict.UNDECIDED and not entry.says_nothing:
                decided.add(name)
                if entry.confirmed_by_checker:
                    confirmed.add(name)
    rows = tuple(displays)
    encoded = [set(row.encoded) for row in rows if not row.reason]
    said = [_said({lines.get(name) for name in names}) for names in encoded]
    reasons = [row.reason for row in rows]
    claims = [sentence for sentence in sentences if sentence.kind == CLAIM]
    return DisplayCount(
        paper=paper,
        displays=len(rows),
        encoded=len(encoded),
        whole=said.count("whole"),
        part=said.count("part"),
        ingredient=said.count("ingredient"),
        decided=sum(names <= decided for names in encoded),
        confirmed=sum(names <= confirmed for names in encoded),
        definitions=reasons.count(DEFINITION),
        restated=reasons.count(RESTATED),
        unsayable=reasons.count(UNSAYABLE),
        missing=reasons.count(MISSING),
        unlisted=len(set(statements) - {row.statement for row in rows}),
        claims=len(claims),
        claims_encoded=sum(not claim.is_unsaid for claim in claims),
    )
