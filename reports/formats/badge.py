"""A badge for a README: what a ledger says in a few words, as SVG or for shields.io.

It counts verdicts and says nothing that they do not: no badge says that something is private.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from dpverify.ledger.document import Ledger
from dpverify.ledger.headlines.words import Standing, counts
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.views.run import Summary

# pairs of white text and ground with a contrast of at least 4.5
GREEN, YELLOW, ORANGE, RED, GRAY = "#00654a", "#6b4e00", "#983d00", "#a3123b", "#555555"

_LABEL = "dpverify"
_CHARACTER = 6.6
"""Width of a character, pixels, for Verdana 11; `textLength` makes the text as wide as that, whatever the font."""


@dataclass(frozen=True)
class Badge:
    """A few words, counts of verdicts, on a colored ground, with a label on the left.

    It is red where something fails, orange where a printed claim is false, yellow where something is undecided, else
    green; gray where there is nothing.
    """

    message: str
    color: str
    label: str = _LABEL

    def shields(self) -> dict[str, Any]:
        """What shields.io reads from an endpoint (schema version 1)."""
        color = self.color.lstrip("#")
        return {"schemaVersion": 1, "label": self.label, "message": self.message, "color": color}

    def svg(self) -> str:
        """A picture that needs nothing from elsewhere."""
        left, right = (round(_CHARACTER * len(text)) + 12 for text in (self.label, self.message))
        name = escape(f"{self.label}: {self.message}", quote=True)
        texts = "".join(
            f'<text x="{x}" y="14" textLength="{width - 12}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
            for x, width, text in ((6, left, self.label), (left + 6, right, self.message))
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
            f'aria-label="{name}"><title>{name}</title>'
            f'<rect width="{left}" height="20" fill="#444444"/>'
            f'<rect x="{left}" width="{right}" height="20" fill="{self.color}"/>'
            f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g></svg>\n'
        )


def badge(ledger: Ledger, *, label: str = _LABEL) -> Badge:
    """What a ledger's badge says: of audits if it has nothing else, else of statements and of violations."""
    found = Summary(ledger)
    audits = [audit for audit in found.audits if audit not in found.measurements]
    violated = len(found.violated)
    failed = len(found.failed_repairs)
    false_corrections = sum(each.formula.verdict is Verdict.REFUTED for each in found.failed_repairs)
    faults = sum(isinstance(entry, ProofEvidence) and bool(entry.fault) for entry in ledger.entries)
    parts = [
        (violated, "violated", RED),
        (failed, "false correction" + "s" * (failed != 1), RED),
        (faults, "fault" + "s" * (faults != 1), RED),
    ]
    said = counts(row.printed.standing for row in ledger.statements)
    if said:
        shown_apart = (
            (Standing.HOLDS, "hold", GREEN),
            (Standing.IN_PART, "hold in part", GREEN),
            (Standing.WHERE_MEANT, "where meant", GREEN),
            (Standing.REFUTED, "false", ORANGE),
            (Standing.DOES_NOT_FOLLOW, "do not follow", ORANGE),
        )
        parts += [(said.get(standing, 0), word, color) for standing, word, color in shown_apart]
        open_ = sum(said.values()) - sum(said.get(standing, 0) for standing, _, _ in shown_apart)
        parts += [(open_, "open", YELLOW)]
    else:
        verdicts = [*(proof.verdict for proof in found.proofs), *(audit.verdict for audit in audits)]
        proved = sum(verdict in (Verdict.PROVED, Verdict.CERTIFIED) for verdict in verdicts)
        parts += [
            (proved, "proved", GREEN),
            (verdicts.count(Verdict.REFUTED) - false_corrections, "refuted", ORANGE),
            (verdicts.count(Verdict.DOES_NOT_FOLLOW) - (failed - false_corrections), "not following", ORANGE),
            (verdicts.count(Verdict.SUPPORTED), "supported", GREEN),
            (verdicts.count(Verdict.UNDECIDED) - faults, "undecided", YELLOW),
        ]
    parts.append((len(ledger.not_audited), "not audited", YELLOW))
    shown = [(number, word, color) for number, word, color in parts if number > 0]
    if not shown:
        return Badge("nothing checked", GRAY, label)
    worst = min((color for _, _, color in shown), key=(RED, ORANGE, YELLOW, GREEN).index)
    return Badge(", ".join(f"{number:,} {word}" for number, word, _ in shown), worst, label)
