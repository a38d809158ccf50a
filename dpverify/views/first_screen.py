"""What the report says first: is it true, how sure is that, how tight; and what was found, the gravest first."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.headlines.rows import CLAIMS
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Verdict
from dpverify.views import number_text
from dpverify.views.corrections import FaultyStatement
from dpverify.views.formula import BrokenFormula
from dpverify.views.roots import RootsView, roots_of_ledger
from dpverify.views.run import Summary, plural, shown_text, spending
from dpverify.views.sandwich import Sandwich

_GRAVE = (Consequence.CLAIM, Consequence.CONSTANT, Consequence.CONDITION)
"""Consequences for whoever implements what is printed."""


@dataclass(frozen=True)
class FalseClaim:
    """A printed claim that fails."""

    correction: FaultyStatement
    """The statement, with all that is false of it."""
    shown: ProofEvidence
    """The finding that is shown, one on the claim itself where there is any."""
    true: ProofEvidence | None
    """What is true instead; None if there is no correction."""
    consequence: str
    """With a number, where there is one."""
    realistic: str
    """What was found at sizes met in practice; empty if no finding of this consequence says anything."""
    of: str
    """The formula that this is about, where it is not the one that is shown."""


@dataclass(frozen=True)
class FirstScreen:
    """All of it."""

    answers: tuple[tuple[str, str], ...]
    """The three questions of a reader, with their answers."""
    violated: tuple[AuditEvidence, ...]
    """Audits of implementations that violate a claim."""
    false: tuple[FalseClaim, ...]
    """Printed claims and constants that fail."""
    others: tuple[tuple[str, int], ...]
    """Findings that are not shown, by what they mean, with their numbers."""
    roots: RootsView
    """On what the statements that hold rest."""


def first_screen(ledger: Ledger, summary: Summary, found: Sandwich) -> FirstScreen:
    """From what is known of a ledger."""
    grave = [c for c in summary.false_statements if c.consequence in _GRAVE]
    others = [c for c in (*summary.false_statements, *summary.false_parts) if c not in grave]
    rest = [c.consequence for c in others]
    numbers = [(str(each), rest.count(each)) for each in Consequence if each in rest]
    numbers += [
        ("consequence not recorded", rest.count(None)),
        ("a step or a condition that does not follow", len(summary.unfollowed_parts)),
        (str(Standing.WHERE_MEANT), len(summary.where_meant)),
        (str(Standing.DOES_NOT_FOLLOW), len(summary.unfollowed)),
    ]
    answers = (
        ("Is it true?", _truth(ledger, summary)),
        ("How sure is that?", _sureness(ledger, summary)),
        ("How tight is it?", _tightness(found)),
    )
    return FirstScreen(
        tuple(answered for answered in answers if answered[1]),
        summary.violated,
        tuple(map(_false_claim, grave)),
        tuple(counted for counted in numbers if counted[1]),
        roots_of_ledger(ledger),
    )


def _false_claim(correction: FaultyStatement) -> FalseClaim:
    order = _most_telling_first(correction)
    proof = order[0].formula
    consequence = str(correction.consequence) + (f": {proof.excess.text()}" if proof.excess else "")
    sized = next((f.formula for f in order if f.formula.realistic), proof)
    return FalseClaim(
        correction,
        proof,
        next(iter(order[0].repairs), None),
        consequence,
        sized.realistic.summary() if sized.realistic else "",
        "" if sized is proof else sized.obligation,
    )


def _most_telling_first(correction: FaultyStatement) -> list[BrokenFormula]:
    """The gravest findings: on the claim itself first, of these with a realistic size, then with a number."""
    graves = [f for f in correction.findings if f.formula.consequence is correction.consequence]

    def order(finding: BrokenFormula) -> tuple[bool, bool, bool]:
        proof = finding.formula
        return proof.coverage not in CLAIMS, not _is_realistic(proof), not proof.excess

    return sorted(graves, key=order) or list(correction.findings)


def _is_realistic(proof: ProofEvidence) -> bool:
    found = proof.realistic
    return found is not None and found.point is not None and found.confirmed_by_checker


# ------------------------------------------------------------------------------------------- three answers


def _truth(ledger: Ledger, summary: Summary) -> str:
    """What is true, false and open, of statements and of implementations."""
    parts = [*shown_text(ledger.statements), *roots_of_ledger(ledger).origins]
    judged = [audit for audit in summary.audits if audit not in summary.measurements]
    if judged:
        verdicts = [audit.verdict for audit in judged]
        counts = [
            (verdicts.count(Verdict.SUPPORTED), "found none though they could have"),
            (verdicts.count(Verdict.PROVED) + verdicts.count(Verdict.CERTIFIED), "were decided exactly"),
            (verdicts.count(Verdict.REFUTED), "refuted a printed constant"),
            (verdicts.count(Verdict.UNDECIDED), "decided nothing"),
        ]
        said_of_audits = ", ".join(f"{number} {what}" for number, what in counts if number)
        parts.append(
            f"Of {plural(len(judged), 'audit')} of implementations, {verdicts.count(Verdict.VIOLATED)} found a "
            f"violation{', ' if said_of_audits else ''}{said_of_audits}."
        )
    return " ".join(parts)


def _sureness(ledger: Ledger, summary: Summary) -> str:
    parts = []
    if summary.proofs:
        parts.append(
            f"An independent checker confirmed {summary.confirmed}; how a statement is broken into formulas is a "
            "person's work, and shown with each."
        )
    if summary.audits:
        spent, whole = spending(ledger.budget)
        parts.append(
            f"All audits together call a correct claim violated with probability at most {whole} (spent: {spent}); "
            "a fault that they did not find may still be there."
        )
    return " ".join(parts)


def _tightness(found: Sandwich) -> str:
    """How much of what is proved the audits saw."""
    ratios = [row.ratio for row in found.rows if row.ratio is not None]
    if not ratios:
        return ""
    half = sum(ratio >= 0.5 for ratio in ratios)
    middle = number_text.at_least(statistics.median_low(ratios), 2)
    blind = f"; {plural(len(found.zeros), 'audit')} showed no epsilon above 0" if found.zeros else ""
    return (
        f"On the pair of data sets where most was seen, audits show at least half of the proved epsilon for {half} of "
        f"{plural(len(ratios), 'algorithm')}; the median is {middle} of it{blind}."
    )
