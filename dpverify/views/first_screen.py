"""What the report says first: is it true, how sure is that, how tight; and what was found, the gravest first."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.verdicts import Verdict
from dpverify.views import number_text
from dpverify.views.corrections import gravity
from dpverify.views.letters.faults import Letter, LetterEntry, letters
from dpverify.views.letters.told import LetterPart, PartLabel, entry_parts
from dpverify.views.number_text import plural
from dpverify.views.roots import RootsView, roots_of_ledger
from dpverify.views.run import Summary, shown_text, spending
from dpverify.views.sandwich import Sandwich


@dataclass(frozen=True)
class FalseClaim:
    """An entry of a letter, as it is told here."""

    entry: LetterEntry
    printed: tuple[LetterPart, ...]
    """The paper's own line first, then what follows from it, then what is true."""
    fails: tuple[LetterPart, ...]


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
    """Formulas that are not shown, by what they mean, with their numbers."""
    roots: RootsView
    """On what the statements that hold rest."""


def first_screen(ledger: Ledger, summary: Summary, found: Sandwich) -> FirstScreen:
    """From what is known of a ledger."""
    told = letters(ledger)
    entries = sorted(
        ((entry, letter) for letter in told for entry in letter.entries),
        key=lambda pair: gravity(pair[0].consequence),
    )
    steps, meant = sum(len(letter.all_steps) for letter in told), sum(len(letter.meant) for letter in told)
    numbers = (
        (
            f"that {'is false, or does' if steps == 1 else 'are false, or do'} not follow, in a proof only",
            steps,
        ),
        (f"that {'is an edge case' if meant == 1 else 'are edge cases'} or notation", meant),
    )
    answers = (
        ("Is it true?", _truth(ledger, summary)),
        ("How sure is that?", _sureness(ledger, summary)),
        ("How tight is it?", _tightness(found)),
    )
    return FirstScreen(
        tuple(answered for answered in answers if answered[1]),
        summary.violated,
        tuple(_false_claim(*pair) for pair in entries),
        tuple(counted for counted in numbers if counted[1]),
        roots_of_ledger(ledger),
    )


def _false_claim(entry: LetterEntry, letter: Letter) -> FalseClaim:
    parts = {part.label: part for part in reversed(entry_parts(entry, letter))}  # the first of each
    at = (PartLabel.INSTANCE, PartLabel.UNFOLLOWED) if PartLabel.UNFOLLOWED in parts else (PartLabel.FAILS,)
    fails = (next((label for label in at if label in parts), at[-1]), PartLabel.REALISTIC)
    left_out = (*at, *fails, PartLabel.INSTANCE, PartLabel.WHERE, PartLabel.BREAKS, PartLabel.SURVIVES)
    told = tuple(part for part in reversed(parts.values()) if part.label not in left_out)
    return FalseClaim(entry, told, tuple(parts[label] for label in fails if label in parts))


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
