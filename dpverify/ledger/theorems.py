"""What the ledger says of theorems and of mechanisms; they count apart from statements."""

from __future__ import annotations

from typing import Literal

from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import Verdict


class TheoremLetterEntry(Record):
    """A row of a theorem's table of letters."""

    latex: str
    kind: str
    """In words, with types between dollars."""
    meaning: str = ""


class TheoremLine(Record):
    """A display of a theorem's page."""

    line: int
    role: str
    """`definition`, `assumption`, `step` or `claim`; of a mechanism, the word before it, such as `draw`."""
    latex: str
    by: tuple[str, ...] = ()
    """The rules, results and theorems by which it follows."""
    given: tuple[str, ...] = ()
    """LaTeX of what their letters stand for."""
    reason: str = ""
    """Why it does not follow, or how the two readers differ."""


class QueryChange(Record):
    """By how much a query changes between neighbors: at most, as is proved, and on the pair on which it does most.

    The pair is searched among some hundreds, in floating point; `attained` is up to nine digits. Where it is not, a
    larger change may have been missed, or the bound may be larger than need be.
    """

    line: int
    """Of the query; of the draw, where it stands there alone."""
    bound: str
    """LaTeX, of public letters; empty where it is of other letters, too, or of what formulas have no sign for."""
    most: float
    """What the bound is at the letters below."""
    found: float
    """The largest change that was found, at these letters."""
    attained: bool
    letters: tuple[tuple[str, str], ...]
    """LaTeX of public letters on which it depends, and their values."""
    left: tuple[tuple[str, ...], ...]
    """Records, each with its numbers; of a mechanism on samples, those of a sample."""
    right: tuple[tuple[str, ...], ...]


class TheoremEvidence(Record):
    """A theorem, or a mechanism with its claim, and the verdict."""

    id: str
    kind: Literal["theorem", "mechanism"] = "theorem"
    title: str
    page: str
    """The collection that it belongs to, or the path of a page of one's own."""
    line: int
    """Of its heading; of an undecided one, of the first display that does not follow."""
    verdict: Verdict
    reason: str
    """Why it is undecided, or how it is refuted."""
    claim: str
    """LaTeX."""
    letters: tuple[TheoremLetterEntry, ...]
    displays: tuple[TheoremLine, ...]
    read_twice: int
    """Of its displays, how many two readers read in the same way."""
    uses: tuple[str, ...]
    """The rules, results and theorems that its derivation takes from elsewhere."""
    rules: tuple[str, ...]
    """That its derivation and those below it use."""
    results: tuple[str, ...]
    """Of the literature, and rules of someone's own, on which it rests and which are not derived here."""
    underived: tuple[str, ...]
    """On which it rests: theorems that do not follow from the steps of their pages, and what is read in two ways."""
    changes: tuple[QueryChange, ...] = ()
    """Of a mechanism that is proved, how much its queries change between neighbors."""
    model_in_words: tuple[str, ...] = ()
    """A finite model in which what is assumed is true and, of a refuted one, the claim is false."""
    model: str | None = None
    """The hash of the model, among the certificates."""
    certificate: str | None = None
    """The hash of its derivation's certificate."""
    confirmed_by_checker: bool = False
    """Whether the checker confirmed the certificate or, of a refuted one, the model."""
    seconds: float = 0.0

    @property
    def rests_on(self) -> tuple[str, ...]:
        """What it rests on and is not derived, rules of this program aside."""
        return (*self.results, *self.underived)
