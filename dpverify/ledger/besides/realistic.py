"""A counterexample at sizes that people have: what the ledger keeps of it, and how it is said."""

from __future__ import annotations

from dpverify.ledger.facts import FailureMargin, PracticalSize
from dpverify.ledger.records import Record
from dpverify.ledger.written_numbers import number_text, short_sides


class RealisticPoint(Record):
    """A second counterexample, at which every letter has a size met in practice, or how many points were tried in vain.

    It is chosen to be easy to read, and among such points to fail by much: it is no typical case.
    """

    sizes: dict[str, PracticalSize]
    """What each letter is and its range in practice: by its domain, where its declaration does not say its size."""
    tried: int
    """Points that were looked at."""
    point: dict[str, str] | None = None
    """Symbol to exact fraction; None if no counterexample was found at such sizes."""
    left: str | None = None
    right: str | None = None
    """The two sides there, in the order that is printed."""
    excess: FailureMargin | None = None
    """By how much an inequality fails there, where both sides are numbers."""
    confirmed_by_checker: bool = False
    """Whether the checker confirms the row's problem refuted by this point."""
    stopped_by_the_clock: bool = False
    """Whether a far guard of time ended some of the search."""
    because: str = ""
    """Where nothing was tried, what is never of its size in practice; or why what was tried shows nothing."""

    def at(self) -> str:
        """The point, in numbers as people write them; a logarithm of other letters there is rounded."""
        return ", ".join(f"{self._letter(x)} {number_text(value)}" for x, value in (self.point or {}).items())

    def _letter(self, name: str) -> str:
        """A letter with what it is the logarithm of, and the sign that its number follows."""
        size = self.sizes.get(name)
        if size is None or not size.log_of:
            return f"{name} ="
        return f"{name} = {size.what} {'≈' if {*size.log_of} <= {*(self.point or {})} else '='}"

    def summary(self) -> str:
        """All of it in a line, to follow `At a realistic size:`."""
        if self.point is None:
            tried = f"{self.tried:,} point{'' if self.tried == 1 else 's'} tried"
            but = f"; {self.because}" if self.because else ""
            return f"not found ({tried}{but})" if self.tried else f"none: {self.because}"
        by = self.excess.text() if self.excess else ""
        if not by and self.left is not None and self.right is not None:
            by = "the sides are {} and {}".format(*short_sides(self.left, self.right))
        doubt = "" if self.confirmed_by_checker else " (not confirmed by the checker)"
        return f"{self.at()}{f': {by}' if by else ''}{doubt}"
