"""The sections of a report: one for each statement, algorithm or audited implementation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.rows import FalsePart, marks
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Variant, Verdict, overall
from dpverify.views.corrections import FaultyStatement, corrections
from dpverify.views.run import is_measurement, units_agree

_TAKEN = {
    "top", "content", "contents", "contents-list", "menu", "summary", "catalog", "reproduce", "sandwich",
    "dependencies", "unconfirmed", "filter-text", "filter-verdict", "filter-paper", "filter-count",
}  # fmt: skip
"""Anchors of a report's own parts."""

E = TypeVar("E", ProofEvidence, AuditEvidence)
Group = Literal["statement", "algorithm", "implementation"]


@dataclass(frozen=True)
class DocstringPart:
    """A piece of a docstring: a paragraph, a list, or one after the other, under a heading or none."""

    heading: str
    text: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class VerdictBadge:
    """What was shown, and about what."""

    about: str
    verdict: Verdict | None
    """None if nothing was shown about the whole: then the headline says about what."""
    headline: str = ""
    """What was shown in words, where that is more than the verdict."""
    brief: str = ""
    """The same without the names of what is given."""
    standing: Standing | None = None
    """How the statement stands, where that is no verdict."""


@dataclass(frozen=True)
class Card(Generic[E]):
    """One formula or audit with the anchor under which it is found."""

    anchor: str
    evidence: E


@dataclass(frozen=True)
class SubjectSection:
    """Everything the ledger has about one subject."""

    anchor: str
    group: Group
    row: StatementEntry
    """Of the catalog; of something that no catalog has, made up."""
    docstring: tuple[DocstringPart, ...]
    badges: tuple[VerdictBadge, ...]
    marks: tuple[FalsePart, ...]
    """What else is false, such as `a step of its proof is false`, if no headline says so."""
    correction: FaultyStatement | None
    """What is false in it as printed, beside its correction."""
    reasons: tuple[str, ...]
    """Why it was corrected."""
    printed: tuple[Card[ProofEvidence], ...]
    """Printed formulas."""
    corrected: tuple[Card[ProofEvidence], ...]
    units: tuple[Card[ProofEvidence], ...]
    """Formulas, printed and corrected, that were found homogeneous; those that were not are among the others."""
    audits: tuple[Card[AuditEvidence], ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The different verdicts in this section, for the filter, and whether it holds where it is meant."""
        found = {badge.verdict for badge in self.badges if badge.verdict is not None}
        proofs = (card.evidence for card in (*self.printed, *self.corrected, *self.units))
        found |= {proof.verdict for proof in proofs}
        found |= {a.evidence.verdict for a in self.audits if not is_measurement(a.evidence)}
        meant = dict.fromkeys(str(badge.standing) for badge in self.badges if badge.standing is not None)
        return (*(str(verdict) for verdict in Verdict if verdict in found), *meant)


def sections(ledger: Ledger) -> tuple[SubjectSection, ...]:
    """A section for each catalog row with an outcome or implementation, then for other subjects."""
    proofs: dict[str, list[ProofEvidence]] = {}
    audits: dict[str, list[AuditEvidence]] = {}
    for entry in ledger.entries:
        if isinstance(entry, ProofEvidence):
            proofs.setdefault(entry.statement, []).append(entry)
        else:
            audits.setdefault(entry.subject, []).append(entry)
    known = {row.id for row in ledger.statements}
    rows = [
        row
        for row in ledger.statements
        if row.id in proofs or row.id in audits or row.algorithm or row.has_outcome or row.errata
    ]
    # what no catalog has, such as a user's own function
    rows += [
        StatementEntry(id=name, paper="", kind="implementation", where="", title="")
        for name in dict.fromkeys([*proofs, *audits])
        if name not in known
    ]
    anchors = Anchors(_TAKEN)
    corrected = corrections(ledger)
    return tuple(
        _section(row, proofs.get(row.id, []), audits.get(row.id, []), corrected.get(row.id), anchors)
        for row in rows
    )


def signs(text: str) -> str:
    """A domain or a condition in the signs that readers know."""
    text = re.sub(r"\boo\b", "∞", text).replace("-∞", "−∞")
    return text.replace(">=", "≥").replace("<=", "≤").replace("!=", "≠")


class Anchors:
    """Gives out ids for HTML: readable, made of safe characters, never the same twice."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def new(self, text: str) -> str:
        """An unused id that looks like `text`."""
        base = re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-") or "entry"
        base = base if base[0].isalpha() else f"s-{base}"
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}-{number}", number + 1
        self._taken.add(name)
        return name


def blocks(docstring: str) -> tuple[DocstringPart, ...]:
    """Split a docstring at blank lines and section headings such as `Guarantee:`; join wrapped lines.

    Lines that begin with a dash are a list, and so are the entries of a section such as `Attributes:`. Examples are for
    those who call the code, and left out.
    """
    found: list[DocstringPart] = []
    heading = ""
    prose = re.sub(r"^Examples:\n(?:[ \t].*(?:\n|\Z)|\n)*", "", inspect.cleandoc(docstring), flags=re.M)
    for chunk in re.split(r"\n\s*\n", prose):
        lines = [line.rstrip() for line in chunk.splitlines() if line.strip()]
        if len(lines) > 1 and re.fullmatch(r"[-=~]{3,}", lines[1].strip()):
            heading, lines = lines[0].strip(), lines[2:]
        elif lines and re.fullmatch(r"[A-Z][\w ,()/-]{0,60}:", lines[0].strip()):
            heading, lines = lines[0].strip()[:-1], lines[1:]
        if not lines:
            continue
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        entries = depth > 0 and re.match(r"\w+: ", lines[0].strip()) is not None
        text: list[str] = []
        items: list[str] = []
        for line in lines:
            bare = line.strip()
            if re.match(r"[-*] ", bare):
                items.append(bare[2:])
            elif entries and len(line) - len(line.lstrip()) == depth:
                name, _, rest = bare.partition(": ")
                items.append(f"`{name}`: {rest}" if rest else bare)
            elif items:
                items[-1] += " " + bare
            else:
                text.append(bare)
        found.append(DocstringPart(heading, " ".join(text), tuple(items)))
        heading = ""
    return tuple(found)


def _section(
    row: StatementEntry,
    proofs: list[ProofEvidence],
    audits: list[AuditEvidence],
    correction: FaultyStatement | None,
    anchors: Anchors,
) -> SubjectSection:
    anchor = anchors.new(row.id)
    cards = [Card(anchors.new(f"{anchor}--{p.obligation}-{p.variant}"), p) for p in proofs]
    units = tuple(card for card in cards if units_agree(card.evidence))
    printed, corrected = (
        tuple(c for c in cards if not units_agree(c.evidence) and c.evidence.variant is variant)
        for variant in Variant
    )
    reasons = (p.because for p in proofs if p.variant is Variant.CORRECTED and p.because)
    group: Group = "statement"
    if row.kind in ("algorithm", "implementation"):
        group = "algorithm" if row.kind == "algorithm" else "implementation"
    return SubjectSection(
        anchor=anchor,
        group=group,
        row=row,
        docstring=blocks(row.docstring),
        badges=_badges(row, proofs, audits),
        marks=() if row.printed.headline else row.marks or marks(proofs),
        correction=correction,
        reasons=tuple(dict.fromkeys(reasons)),
        printed=printed,
        corrected=corrected,
        units=units,
        audits=tuple(Card(anchors.new(f"{anchor}--{a.kind}"), a) for a in audits),
    )


def _badges(
    row: StatementEntry, proofs: list[ProofEvidence], audits: list[AuditEvidence]
) -> tuple[VerdictBadge, ...]:
    badges: list[VerdictBadge] = []
    for about, variant, word in (
        ("as printed", Variant.PRINTED, row.printed),
        ("corrected", Variant.CORRECTED, row.corrected),
    ):
        verdict, headline = word.verdict, word.headline
        if not headline:  # what no catalog has
            verdict = verdict or overall([p.verdict for p in proofs if p.variant is variant])
        if verdict is not None or headline:
            shown = headline if headline != verdict else ""
            besides = _besides(row) if variant is Variant.PRINTED and headline else ()
            meant = Standing.WHERE_MEANT if word.standing is Standing.WHERE_MEANT else None
            brief = word.but(verdict=verdict).brief(besides)
            badges.append(VerdictBadge(about, verdict, shown, brief, meant))
    audited = overall([audit.verdict for audit in audits if not is_measurement(audit)])
    if audited is not None:
        badges.append(VerdictBadge("audits", audited, "", str(audited)))
    return tuple(badges)


def _besides(row: StatementEntry) -> tuple[str, ...]:
    """What is false besides a statement itself, one of the statements below it that are, and how many more are."""
    below = row.rests_on_false
    more = f" and {len(below) - 1} more" if len(below) > 1 else ""
    carried = row.printed.verdict is not Verdict.REFUTED and below
    return (*map(str, row.marks), *([f"rests on {below[0]}{more} (false as printed)"] if carried else []))
