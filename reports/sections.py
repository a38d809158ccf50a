"""The sections of a report: one for each statement, algorithm or audited implementation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dpverify.evidence import Ledger, ProofEvidence, StatementEntry, Variant, Verdict, overall
from dpverify.reports.summary import AuditEvidence

Group = Literal["statement", "algorithm", "implementation"]


@dataclass(frozen=True)
class Block:
    """A piece of a docstring: a paragraph, a list, or either under a heading."""

    heading: str
    text: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Badge:
    """A verdict and what it is about."""

    about: str
    verdict: Verdict


@dataclass(frozen=True)
class Card:
    """One entry with the anchor under which it is found."""

    anchor: str
    evidence: ProofEvidence | AuditEvidence


@dataclass(frozen=True)
class SymbolRow:
    """One symbol of a formula, where it ranges and where the formula failed or held."""

    symbol: str
    domain: str
    unit: str
    box: str
    counterexample: str


@dataclass(frozen=True)
class Section:
    """Everything the ledger has about one subject."""

    anchor: str
    group: Group
    id: str
    paper: str
    kind: str
    where: str
    title: str
    algorithm: str
    pairs: tuple[str, ...]
    latex: str
    docstring: tuple[Block, ...]
    badges: tuple[Badge, ...]
    proofs: tuple[Card, ...]
    audits: tuple[Card, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The different verdicts in this section, for the filter."""
        found = {badge.verdict for badge in self.badges}
        found |= {card.evidence.verdict for card in (*self.proofs, *self.audits)}
        return tuple(verdict for verdict in Verdict if verdict in found)


def sections(ledger: Ledger) -> tuple[Section, ...]:
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
        if row.id in proofs
        or row.id in audits
        or row.algorithm
        or row.verdict_printed
        or row.verdict_repaired
    ]
    rows += [_foreign(name) for name in dict.fromkeys([*proofs, *audits]) if name not in known]
    anchors = Anchors(
        {"top", "content", "contents", "summary", "catalog", "reproduce", "filter-text", "filter-verdict"}
        | {"filter-paper", "filter-count", "menu"}
    )
    return tuple(_section(row, proofs.get(row.id, []), audits.get(row.id, []), anchors) for row in rows)


def symbol_rows(proof: ProofEvidence) -> tuple[SymbolRow, ...]:
    """The symbols of a formula with all that the ledger says of each."""
    box, point = proof.box or {}, proof.counterexample or {}
    return tuple(
        SymbolRow(
            symbol=name,
            domain=_domain(proof.domain.get(name, "")),
            unit=proof.units.get(name, ""),
            box=f"[{box[name][0]}, {box[name][1]}]" if name in box else "",
            counterexample=point.get(name, ""),
        )
        for name in dict.fromkeys([*proof.domain, *proof.units, *box, *point])
    )


def _domain(text: str) -> str:
    """A domain in the signs that readers know."""
    text = re.sub(r"\boo\b", "∞", text).replace("-∞", "−∞")
    return text.replace(">=", "≥").replace("<=", "≤")


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


def blocks(docstring: str) -> tuple[Block, ...]:
    """Split a docstring at blank lines and section headings such as `Guarantee:`; join wrapped lines."""
    found: list[Block] = []
    heading = ""
    for chunk in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        lines = [line.strip() for line in chunk.splitlines() if line.strip()]
        if len(lines) > 1 and re.fullmatch(r"[-=~]{3,}", lines[1]):
            heading, lines = lines[0], lines[2:]
        elif lines and re.fullmatch(r"[A-Z][\w ,()/-]{0,60}:", lines[0]):
            heading, lines = lines[0][:-1], lines[1:]
        if not lines:
            continue
        if re.match(r"[-*] ", lines[0]):
            items: list[str] = []
            for line in lines:
                if re.match(r"[-*] ", line):
                    items.append(line[2:])
                else:
                    items[-1] += " " + line
            found.append(Block(heading, items=tuple(items)))
        else:
            found.append(Block(heading, " ".join(lines)))
        heading = ""
    return tuple(found)


def _section(
    row: StatementEntry, proofs: list[ProofEvidence], audits: list[AuditEvidence], anchors: Anchors
) -> Section:
    anchor = anchors.new(row.id)
    order = {name: position for position, name in enumerate(dict.fromkeys(p.obligation for p in proofs))}
    beside = sorted(proofs, key=lambda proof: (order[proof.obligation], proof.variant is Variant.REPAIRED))
    group: Group = "statement"
    if row.kind == "algorithm":
        group = "algorithm"
    elif row.kind == "implementation":
        group = "implementation"
    return Section(
        anchor=anchor,
        group=group,
        id=row.id,
        paper=row.paper,
        kind=row.kind,
        where=row.where,
        title=row.title,
        algorithm=row.algorithm or "",
        pairs=row.pairs,
        latex=row.latex,
        docstring=blocks(row.docstring),
        badges=_badges(row, proofs, audits),
        proofs=tuple(Card(anchors.new(f"{anchor}--{p.obligation}-{p.variant}"), p) for p in beside),
        audits=tuple(Card(anchors.new(f"{anchor}--{a.kind}"), a) for a in audits),
    )


def _badges(
    row: StatementEntry, proofs: list[ProofEvidence], audits: list[AuditEvidence]
) -> tuple[Badge, ...]:
    printed = row.verdict_printed or overall([p.verdict for p in proofs if p.variant is Variant.PRINTED])
    repaired = row.verdict_repaired or overall([p.verdict for p in proofs if p.variant is Variant.REPAIRED])
    audited = overall([audit.verdict for audit in audits])
    named = (("as printed", printed), ("repaired", repaired), ("audits", audited))
    return tuple(Badge(about, verdict) for about, verdict in named if verdict is not None)


def _foreign(name: str) -> StatementEntry:
    """A catalog row for something that no catalog has, such as a user's own function."""
    return StatementEntry(id=name, paper="", kind="implementation", where="", title="")
