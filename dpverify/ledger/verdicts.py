"""The words of evidence: what a check says, what it is about, and why it is undecided."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The seven outcomes of a check. A prover never says `supported`; an auditor never says `certified`."""

    PROVED = "proved"
    """Exactly, on the whole domain."""
    CERTIFIED = "certified"
    """By rigorous intervals, on the printed box."""
    REFUTED = "refuted"
    """A counterexample in exact or rigorous arithmetic, at a point that exists."""
    DOES_NOT_FOLLOW = "does not follow"
    """Letters that stand for functionals have values that break it, and perhaps nothing attains these."""
    SUPPORTED = "supported"
    """Statistics found no violation; the smallest that would have been found is printed."""
    VIOLATED = "violated"
    """Statistics reject, with the printed failure probability."""
    UNDECIDED = "undecided"
    """No answer, with the reason."""


class Qualified(str):
    """A verdict with what is to be said beside it, as text."""

    verdict: Verdict
    """Alone."""

    def __new__(cls, verdict: Verdict, beside: str) -> Qualified:
        made = super().__new__(cls, f"{verdict}{beside}")
        made.verdict = verdict
        return made


HOLDS = (Verdict.PROVED, Verdict.CERTIFIED)
"""What a formula has that holds, maybe on a box only."""
BROKEN = (Verdict.REFUTED, Verdict.DOES_NOT_FOLLOW)
"""What a prover says of a formula that is false at some values of its letters."""


class Coverage(StrEnum):
    """How much of a statement a formula is."""

    CONCLUSION = "conclusion"
    """Together with what it uses, it gives the statement's conclusion or a part of it; other parts are too."""
    INSTANCE = "instance"
    """A special case or a consequence of the statement: it can refute or support it, never prove it."""
    STEP = "step"
    """A display of its proof."""
    CONDITION = "condition"
    """What must hold for the statement to say anything, or for a result that its proof uses to apply."""
    UNIT = "unit"
    """That both sides of a formula have the same unit."""
    REFERENCE = "reference"
    """The same thing said elsewhere."""
    CITED = "cited"
    """What its source is taken to say: not proved, and no row of a ledger; premises may be instances of it."""


class Consequence(StrEnum):
    """What follows from a printed formula that is false, worst first."""

    CLAIM = "the claim fails"
    CONSTANT = "a constant changes"
    CONDITION = "a condition is missing"
    """With it, what is printed is true; without it, it fails at sizes that are met in practice."""
    STEP = "a step of the proof only"
    NOTATION = "notation only"
    """As it is written; it is clear what is meant, and that is true."""
    EDGE = "an edge case that no reader means"


class Gap(StrEnum):
    """Why something is undecided: a closed list, so that the reasons can be counted and worked off."""

    CONTACT_POINT = "contact point"
    """The two sides meet at a point, and no method settles its neighborhood."""
    UNBOUNDED_DOMAIN = "unbounded domain"
    EFFORT_SPENT = "effort spent"
    """A limit on boxes, steps or other counted work was reached."""
    CLOCK = "stopped by the clock"
    MEMORY = "memory ceiling"
    """It took more memory than one row may, which no count foresaw."""
    UNSUPPORTED_FUNCTION = "function not supported"
    NO_METHOD = "no method"
    """Every prover's method was tried to its end, and none applies."""
    HIDDEN_CONSTANT = "hidden constant"
    """A constant hidden in O( ) could explain it."""
    MISSING_HYPOTHESIS = "missing hypothesis"
    """Something is not defined, or not known to hold, without an assumption that is not stated."""
    CONTRADICTORY_ASSUMPTIONS = "contradictory assumptions"
    NO_WITNESS = "no witness"
    BLIND_AUDIT = "blind audit"
    """No fault that was tried would have been noticed."""
    LOOSE_CLAIM = "loose claim"
    """The claim leaves so much room on this pair that the faults that were tried do not break it, for certain."""
    TOO_FEW_RUNS = "too few runs"
    EQUAL_OUTPUTS = "equal outputs"
    """Outputs never varied, or one sample stands on both sides: nothing random was compared."""
    NOT_RIGOROUS = "arithmetic not rigorous"
    PROOF_FALLS_SHORT = "proof falls short"
    """The printed constant is beyond what is proved, and nothing shows that it is wrong."""
    NOTHING_STATED = "nothing stated"
    """There is no claim to compare with: a measurement."""
    TORN = "torn text"
    """The text of its source lost a sign, and what was read instead would be false."""
    PARTIAL = "read in part"
    """As it is read it would be false, and not all around it is read."""
    GUESSED = "rests on guesses"
    """It has no verdict until someone accepts what is guessed."""
    FAULT = "fault in dpverify"


class Use(StrEnum):
    """What a formula makes of one of its hypotheses."""

    FALSE_WITHOUT = "false without it"
    """At a point where all others hold, the formula is false."""
    UNDEFINED_WITHOUT = "undefined without it"
    """At a point where all others hold, the formula says nothing."""
    NOT_PROVED_WITHOUT = "not proved without it"
    """No proof was found without it, and no such point."""
    UNUSED = "unused"
    """The formula is proved without it, and without all others that are unused."""


class Variant(StrEnum):
    """Whether a formula is the paper's or a correction made here."""

    PRINTED = "printed"
    CORRECTED = "corrected"


def overall(verdicts: list[Verdict]) -> Verdict | None:
    """The verdicts of a statement's formulas in one: the weakest, and of no formulas none."""
    order = [
        Verdict.REFUTED, Verdict.VIOLATED, Verdict.DOES_NOT_FOLLOW, Verdict.UNDECIDED, Verdict.SUPPORTED,
        Verdict.CERTIFIED, Verdict.PROVED,
    ]  # fmt: skip
    return min(verdicts, key=order.index) if verdicts else None
