"""The sections of a report: one for each statement, algorithm or audited implementation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dpverify.evidence import AuditEvidence, Coverage, ProofEvidence, Variant, Verdict, overall
from dpverify.headlines import marks
from dpverify.ledger import ErratumEntry, Ledger, StatementEntry
from dpverify.reports.summary import Correction, corrections, is_measurement

Group = Literal["statement", "algorithm", "implementation"]


@dataclass(frozen=True)
class Block:
    """A piece of a docstring: a paragraph, a list, or one after the other, under a heading or none."""

    heading: str
    text: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Badge:
    """What was shown, and about what."""

    about: str
    verdict: Verdict | None
    """None where nothing was shown about the whole: then the headline says about what."""
    headline: str = ""
    """What was shown in words, where that is more than the verdict."""
    brief: str = ""
    """The same without the names of what is given."""


@dataclass(frozen=True)
class Card:
    """One formula with the anchor under which it is found."""

    anchor: str
    evidence: ProofEvidence


@dataclass(frozen=True)
class AuditCard:
    """The same for an audit."""

    anchor: str
    evidence: AuditEvidence


@dataclass(frozen=True)
class SymbolRow:
    """One symbol of a formula, where it ranges and where the formula failed or held."""

    symbol: str
    domain: str
    unit: str
    box: str
    counterexample: str
    size: str
    """Its range in practice, where that was asked."""


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
    marks: tuple[str, ...]
    """What else is false, such as `a step of its proof is false`, if no headline says so."""
    errata: tuple[ErratumEntry, ...]
    uses: tuple[str, ...]
    """What it rests on."""
    used_by: tuple[str, ...]
    rests_on_false: tuple[str, ...]
    correction: Correction | None
    """What is false in it as printed, beside its correction."""
    reasons: tuple[str, ...]
    """Why it was corrected."""
    printed: tuple[Card, ...]
    """Printed formulas."""
    repaired: tuple[Card, ...]
    units: tuple[Card, ...]
    """Formulas, printed and corrected, that were found homogeneous; those that were not are among the others."""
    audits: tuple[AuditCard, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The different verdicts in this section, for the filter."""
        found = {badge.verdict for badge in self.badges if badge.verdict is not None}
        proofs = (card.evidence for card in (*self.printed, *self.repaired, *self.units))
        found |= {proof.verdict for proof in proofs}
        found |= {a.evidence.verdict for a in self.audits if not is_measurement(a.evidence)}
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
        or row.errata
    ]
    rows += [_foreign(name) for name in dict.fromkeys([*proofs, *audits]) if name not in known]
    anchors = Anchors(
        {
            "top",
            "content",
            "dependencies",
            "findings",
            *(f"findings-{name}" for name in ("claim", "constant", "step", "edge", "unsorted")),
            "contents",
            "sandwich",
            "summary",
            "catalog",
            "reproduce",
            "filter-text",
            "filter-verdict",
        }
        | {"filter-paper", "filter-count", "menu", "unconfirmed", "contents-list"}
    )
    corrected = corrections(ledger)
    return tuple(
        _section(row, proofs.get(row.id, []), audits.get(row.id, []), corrected.get(row.id), anchors)
        for row in rows
    )


def symbol_rows(proof: ProofEvidence) -> tuple[SymbolRow, ...]:
    """The symbols of a formula with all that the ledger says of each."""
    box, point = proof.box or {}, proof.counterexample or {}
    sizes = proof.realistic.sizes if proof.realistic else {}
    return tuple(
        SymbolRow(
            symbol=name,
            domain=signs(proof.domain.get(name, "")),
            unit=proof.units.get(name, ""),
            box=f"[{box[name][0]}, {box[name][1]}]" if name in box else "",
            counterexample=point.get(name, ""),
            size=sizes.get(name, "").rpartition(", ")[2],
        )
        for name in dict.fromkeys([*proof.domain, *proof.units, *box, *point])
    )


_AT_LEAST = re.compile(r"\\geq?(?![A-Za-z])|>")
_OTHERWISE = re.compile(r"\\leq?(?![A-Za-z])|\\neq?(?![A-Za-z])|<|=")


_EXCESS = re.compile(r"(\S+) instead of at most ([^\s,]+)(?:, (\S+) times as much)?")


def _is_turned(proof: ProofEvidence) -> bool:
    """Whether "at least" is printed; in a ledger, the side that should be the smaller one is the left."""
    return bool(_AT_LEAST.search(proof.latex)) and not _OTHERWISE.search(proof.latex)


def printed_sides(proof: ProofEvidence) -> tuple[str | None, str | None]:
    """The left and the right side as printed."""
    return (proof.right, proof.left) if _is_turned(proof) else (proof.left, proof.right)


def printed_excess(proof: ProofEvidence) -> str:
    """By how much the printed inequality fails, in its direction."""
    return _as_printed(proof, proof.exceeds)


def _as_printed(proof: ProofEvidence, excess: str) -> str:
    """By how much an inequality fails, in the direction that a formula is printed."""
    found = _EXCESS.fullmatch(excess)
    if found is None or not _is_turned(proof):
        return excess
    low, high, times = found.groups()
    return f"{high} instead of at least {low}{f', too small by a factor of {times}' if times else ''}"


def realistic_text(proof: ProofEvidence) -> str:
    """What was found at sizes met in practice, as printed; empty where nothing is said of it."""
    found = proof.realistic
    if found is None:
        return ""
    sides = (found.right, found.left) if _is_turned(proof) else (found.left, found.right)
    return found.says(_as_printed(proof, found.exceeds), sides)


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


def blocks(docstring: str) -> tuple[Block, ...]:
    """Split a docstring at blank lines and section headings such as `Guarantee:`; join wrapped lines.

    Lines that begin with a dash are a list, and so are the entries of a section such as `Attributes:`. Examples are for
    those who call the code, and left out.
    """
    found: list[Block] = []
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
        found.append(Block(heading, " ".join(text), tuple(items)))
        heading = ""
    return tuple(found)


def _section(
    row: StatementEntry,
    proofs: list[ProofEvidence],
    audits: list[AuditEvidence],
    correction: Correction | None,
    anchors: Anchors,
) -> Section:
    anchor = anchors.new(row.id)
    cards = [Card(anchors.new(f"{anchor}--{p.obligation}-{p.variant}"), p) for p in proofs]
    pairs = list(zip(cards, proofs, strict=True))
    homogeneous = tuple(card for card, proof in pairs if _homogeneous(proof))
    repaired = [proof for proof in proofs if proof.variant is Variant.REPAIRED]
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
        marks=() if row.headline_printed else row.marks or marks(proofs),
        errata=row.errata,
        uses=row.uses,
        used_by=row.used_by,
        rests_on_false=row.rests_on_false,
        correction=correction,
        reasons=tuple(dict.fromkeys(proof.because for proof in repaired if proof.because)),
        printed=tuple(c for c, p in pairs if not _homogeneous(p) and p.variant is Variant.PRINTED),
        repaired=tuple(c for c, p in pairs if not _homogeneous(p) and p.variant is Variant.REPAIRED),
        units=homogeneous,
        audits=tuple(AuditCard(anchors.new(f"{anchor}--{a.kind}"), a) for a in audits),
    )


def _homogeneous(proof: ProofEvidence) -> bool:
    """Whether this is about units and says that there is nothing wrong with them."""
    return proof.coverage is Coverage.UNIT and proof.verdict in (Verdict.PROVED, Verdict.CERTIFIED)


def _badges(
    row: StatementEntry, proofs: list[ProofEvidence], audits: list[AuditEvidence]
) -> tuple[Badge, ...]:
    badges: list[Badge] = []
    for about, variant, verdict, headline, given in (
        ("as printed", Variant.PRINTED, row.verdict_printed, row.headline_printed, row.given_printed),
        ("corrected", Variant.REPAIRED, row.verdict_repaired, row.headline_repaired, row.given_repaired),
    ):
        if not headline:  # ledgers before version 4, and what no catalog has
            verdict = verdict or overall([p.verdict for p in proofs if p.variant is variant])
        if verdict is not None or headline:
            shown = headline if headline != verdict else ""
            badges.append(Badge(about, verdict, shown, _brief(headline, given) or str(verdict)))
    audited = overall([audit.verdict for audit in audits if not is_measurement(audit)])
    if audited is not None:
        badges.append(Badge("audits", audited, "", str(audited)))
    return tuple(badges)


def _brief(headline: str, given: tuple[str, ...]) -> str:
    """A headline that names only one of the things that are given, or false, and how many more there are."""
    clauses = headline.split("; ")
    carried = [clause for clause in clauses if clause.startswith("rests on ")]
    names = [n for clause in carried for n in clause.removeprefix("rests on ").partition(" (")[0].split(", ")]
    if len(names) > 1:
        clauses[clauses.index(carried[0])] = (
            f"rests on {names[0]} and {len(names) - 1} more (false as printed)"
        )
        headline = "; ".join(clause for clause in clauses if clause not in carried)
    if len(given) < 2:
        return headline
    return headline.replace(f"given {', '.join(given)}", f"given {given[0]} and {len(given) - 1} more")


def _foreign(name: str) -> StatementEntry:
    """A catalog row for something that no catalog has, such as a user's own function."""
    return StatementEntry(id=name, paper="", kind="implementation", where="", title="")
