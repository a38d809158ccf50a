"""How a formula stands to what its source prints: where its line comes from, and what kind of mistake is in it."""

from __future__ import annotations

from enum import StrEnum


class Provenance(StrEnum):
    """Where the line of a formula comes from."""

    VERBATIM = "verbatim"
    """It stands in the source."""
    PIECED = "pieced"
    """Put together from a sentence and a display, or from several of them."""
    OURS = "ours"
    """What follows from what is printed, in letters that the source does not have; every correction is."""
    SPECIAL = "special"
    """A special case, which the source does not write."""
    TORN = "torn"
    """The text of the source lost a sign, so that the line is a reading; it is never refuted."""
    PARTIAL = "partial"
    """Not all around its line is read, so that a condition may be missing; it is never refuted."""
    GUESSED = "guessed"
    """Something that it rests on is guessed, such as a letter's domain; it has no verdict until that is accepted."""

    @property
    def says(self) -> str:
        """In words, for readers."""
        return {
            Provenance.VERBATIM: "as printed",
            Provenance.PIECED: "pieced together from what is printed",
            Provenance.OURS: "in letters of ours: what follows from what is printed",
            Provenance.SPECIAL: "a special case, which is not printed",
            Provenance.TORN: "a reading, since the text lost a sign here",
            Provenance.PARTIAL: "as printed, but not all around it is read",
            Provenance.GUESSED: "a reading that rests on guesses",
        }[self]


def named_letter(latex: str, name: str) -> str:
    """The line that says, in LaTeX, that something is one letter and how that is called in plain characters."""
    return rf"{latex}\text{{ is one letter, {name}}}"


class Mistake(StrEnum):
    """What kind of mistake is in a printed formula, by the difference between it and its correction."""

    CONDITION = "a condition is missing"
    CONSTANT = "a constant factor"
    EXPONENT = "an exponent"
    RELATION = "the relation"
    OTHER = "another formula"
