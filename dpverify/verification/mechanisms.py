"""Mechanisms of pages, and written in Python: the claim proved, or a pair of data sets that breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.theorems import QueryChange
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.theorems.finite_models import FAILURES
from dpverify.statements.mechanisms.as_theorems import as_theorem
from dpverify.statements.mechanisms.guarantees import ProvedGuarantee, guarantee_proved
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.search import BrokenPair
from dpverify.statements.mechanisms.reading import mechanisms_of, read_mechanisms
from dpverify.statements.theorems.library import shipped
from dpverify.verification.theorems import TheoremFound, find_theorems, found_of_mechanism, row_of

if TYPE_CHECKING:
    from dpverify.statements.mechanisms.pairs.sampled import PageAudit


WITHOUT_DISPLAY = ("Repeat", "Subsample")
"""First words of lines that have no display."""


@dataclass(frozen=True)
class MechanismRow:
    """A mechanism with its verdict."""

    id: str
    title: str
    page: str
    line: int
    """Of its heading; of a refuted one, and of one whose noise depends on records, of the draw to blame."""
    claim: str
    """LaTeX."""
    pairs_tried: int
    witness: Json
    """A pair, as a model, in which all that is assumed is true; None where one answer breaks the claim."""
    verdict: Verdict = Verdict.UNDECIDED
    reason: str = ""
    """Why it is undecided; of a refuted one, what depends on records and must not."""
    rules: tuple[str, ...] = ()
    """That its derivation and those below it use."""
    results: tuple[str, ...] = ()
    """Of the literature, on which it rests."""
    pair: BrokenPair | None = None
    """Two data sets that break the claim."""
    certificate: Json | None = None
    changes: tuple[QueryChange, ...] = ()
    """Of one that is proved, how much its queries change between neighbors."""
    instead: ProvedGuarantee | None = None
    """Of one that is not proved, a guarantee that is."""
    audit: PageAudit | None = None
    """Of one that is neither proved nor refuted, where that was asked for: what its draws, made, say of the claim."""

    @property
    def json(self) -> dict[str, Json]:
        """Its fields."""
        evidence = self.audit and self.audit.evidence.model_dump(mode="json")
        audit = self.audit and {**vars(self.audit), "evidence": evidence}
        changes = [one.model_dump(mode="json") for one in self.changes]
        own = asdict(replace(self, audit=None, changes=()))
        return {**own, "verdict": str(self.verdict), "changes": changes, "audit": audit}


def mechanism_rows(names: Sequence[str], audited: bool = False) -> Iterator[MechanismRow]:
    """Decide the mechanisms of pages, each as soon as it is asked for; maybe audit those that stay undecided.

    Raises:
        PageError: for a page that is not understood.
    """
    for name in names:
        for one in read_mechanisms(Path(name)):
            yield with_guarantee(decide_mechanism(one, name, audited), one)


def with_guarantee(row: MechanismRow, one: MechanismOnPage) -> MechanismRow:
    """A row with the guarantee that its mechanism has instead, if it is not proved and one is derived."""
    if row.verdict is Verdict.PROVED or (row.witness is None and row.pair is None):
        return row
    found = guarantee_proved(one)
    if found is None:
        return row
    below = _below(found.uses)
    return row if not all(each.derived for each in below.values()) else replace(row, instead=found)


def decide_mechanism(one: MechanismOnPage, page: str, audited: bool = False) -> MechanismRow:
    """Decide one mechanism; as of `mechanism_rows`."""
    theorem = as_theorem(one)
    own, outcome = found_of_mechanism(theorem)
    found = outcome.search
    seen = row_of(page, theorem, shipped(), {**_below(own.uses), one.id: own}).found
    why = (outcome.line, outcome.reason) if found.broken else (seen.line, seen.reason)
    row = MechanismRow(
        one.id, one.title, page, why[0], seen.claim, found.tried, found.witness, seen.verdict, why[1],
        seen.rules, seen.results, found.broken, own.certificate, seen.changes,
    )  # fmt: skip
    if not audited or row.verdict is not Verdict.UNDECIDED:
        return row
    if found.nearest is None:
        return replace(row, reason=f"{row.reason}; not audited: no pair of data sets is known")
    from dpverify.statements.mechanisms.pairs.sampled import audit_page

    try:
        audit = audit_page(outcome.few or one, found.nearest, found.sizes)
    except (InvalidDataError, InvalidArgumentError, *FAILURES) as error:
        return replace(row, reason=f"{row.reason}; not audited: {error}")
    violated = audit.evidence.verdict is Verdict.VIOLATED
    return replace(row, verdict=Verdict.VIOLATED if violated else row.verdict, audit=audit)


def _below(uses: Sequence[str]) -> dict[str, TheoremFound]:
    """What is found of theorems that a derivation uses, and of those on which they rest."""
    known = shipped()
    return find_theorems([known[id_] for id_ in uses if known[id_].standing == "theorem"], known)


@dataclass(frozen=True)
class Mechanism:
    """A mechanism and what is claimed of its privacy, in the notation of docs/mechanisms.md.

    Attributes:
        id: its name, such as `my.sum`.
        letters: the kind of each public letter, in LaTeX, such as `{"n": "integer >= 1", r"\\varepsilon": "> 0"}`.
        records: LaTeX of the first and the last record, and their domain, as `$x_1,\\dots,x_n$ in [0, 1]`.
        steps: the lines in the order of pseudo-code. Each is its sentence on a page (`Query`, `Draw`, `Output`,
            `Claim`, with the words in parentheses) and its LaTeX, which is empty for `Repeat (for $t=1,\\dots,k$)` and
            `Subsample (each record with probability $p$)`.
        neighbors: adjacency, `replace one` or `add or remove one`.
        given: LaTeX of an assumption about letters, as `a<b`.

    Raises:
        InvalidArgumentError: for a field that could not stand on a page.

    Example:
        >>> from dpverify import Mechanism
        >>> steps = [
        ...     ("Query", r"s=\\sum_{i=1}^{n}x_i"),
        ...     ("Draw", r"y\\sim\\mathrm{Lap}(s,\\frac{1}{2\\varepsilon})"),
        ...     ("Output", "y"),
        ...     ("Claim", r"\\varepsilon\\text{-DP}"),
        ... ]
        >>> letters = {"n": "integer >= 1", r"\\varepsilon": "> 0"}
        >>> found = Mechanism("my.sum", letters, r"$x_1,\\dots,x_n$ in [0, 1]", steps).decide()
        >>> print(found.verdict, found.pair.left, found.pair.right)
        refuted (('0',),) (('1',),)
    """

    id: str
    letters: Mapping[str, str]
    records: str
    steps: Sequence[tuple[str, str]]
    neighbors: str = "replace one"
    given: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what is no text, and signs that end a field of a page."""
        for name, value, ends in self._texts():
            wrong = [end for end in ends if isinstance(value, str) and end in value]
            if not isinstance(value, str) or not value.strip() or wrong:
                allowed = f"text in one line{''.join(f', without `{end}`' for end in ends[1:])}"
                raise InvalidArgumentError(name, value, allowed)

    def _texts(self) -> Iterator[tuple[str, object, tuple[str, ...]]]:
        if not isinstance(self.letters, Mapping):
            raise InvalidArgumentError("letters", self.letters, "a dictionary of letters with their kinds")
        for name, rows in (("steps", self.steps), ("given", self.given)):
            if isinstance(rows, str) or not isinstance(rows, Sequence):
                raise InvalidArgumentError(name, rows, "a list")
        yield "id", self.id, ("\n", "}", " ")
        for latex, kind in self.letters.items():
            yield from ((name, text, ("\n", "|")) for name, text in (("letters", latex), ("kind", kind)))
        yield from (("records", self.records, ("\n",)), ("neighbors", self.neighbors, ("\n", "$")))
        yield from (("given", one, ("\n", "$")) for one in self.given)
        for step in self.steps:
            if isinstance(step, str) or not isinstance(step, Sequence) or len(step) != 2:
                raise InvalidArgumentError(
                    "steps", step, r"pairs such as `('Draw', r'y\sim\mathrm{Lap}(s,1)')`"
                )
            yield "steps", step[0], ("\n",)
            if not str(step[0])[:1].isalpha():
                raise InvalidArgumentError("steps", step[0], "a line that begins with a word")
            if step[1] != "" or not str(step[0]).startswith(WITHOUT_DISPLAY):
                yield "steps", step[1], ("\n", "$")

    @property
    def page(self) -> str:
        """Its page, in Markdown, as `dpverify prove` takes it."""
        lines = [f"## {self.id} {{#{self.id}}}", "", "| letter | kind |", "| --- | --- |"]
        lines += [f"| ${latex}$ | {kind} |" for latex, kind in self.letters.items()]
        lines += ["", f"- records: {self.records}", f"- neighbors: {self.neighbors}"]
        lines += [f"- given: ${one}$" for one in self.given]
        for what, latex in self.steps:
            lines += ["", f"{what}:", *([f"$${latex}$$"] if latex else [])]
        return "\n".join([*lines, ""])

    def decide(self, *, audit: bool = False) -> MechanismRow:
        """Prove the claim, or find two data sets that break it.

        Args:
            audit: audit its draws, made by a generator, where it is neither proved nor refuted.

        Raises:
            PageError: for a field that is not understood, with the line of `page`.
        """
        (one,) = mechanisms_of(self.page, self.id)
        return with_guarantee(decide_mechanism(one, self.id, audit), one)
