"""What statements rest on in the end, and where their premises come from, in numbers and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import NamedResult, StatementEntry
from dpverify.ledger.headlines.roots import Roots
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.names import bare
from dpverify.ledger.premises import PremiseEntry, PremiseOrigin
from dpverify.ledger.proofs import ProofEvidence
from dpverify.views import number_text
from dpverify.views.number_text import plural

HOLDING = (Standing.HOLDS, Standing.IN_PART, Standing.WHERE_MEANT)


@dataclass(frozen=True)
class NamedRoot:
    """A named result on which statements rest."""

    id: str
    result: NamedResult | None
    """What it says; None where the ledger does not have it."""
    statements: int
    """Of those that hold, how many rest on it."""


@dataclass(frozen=True)
class RootsView:
    """On what the statements rest that hold, as printed or as corrected."""

    holding: int
    unproved: int
    """Those that rest on something that is not proved."""
    named: int
    """Of the others, those that rest on named results."""
    assuming_nothing: int
    """Those of which no page assumes a premise, however far below."""
    results: tuple[NamedRoot, ...]
    """The named results, those on which most rest first."""
    premises: tuple[tuple[PremiseOrigin, int], ...]
    """How many premises of formulas come from where."""

    @property
    def own(self) -> int:
        """Those whose roots are all proved here."""
        return self.holding - self.unproved - self.named

    @property
    def standing(self) -> tuple[str, ...]:
        """On what they rest, in a sentence; none where nothing holds."""
        if not self.holding:
            return ()
        parts = (
            (self.own, "on what is proved here alone"),
            (self.named, f"on {plural(len(self.results), 'named result')} of the literature"),
            (self.unproved, "on something that is not proved"),
        )
        said = ", ".join(f"{n} {'rests' if n == 1 else 'rest'} {what}" for n, what in parts if n)
        hold = "holds" if self.holding == 1 else "hold"
        nothing = (
            f"{self.assuming_nothing} {'assumes' if self.assuming_nothing == 1 else 'assume'} no premise"
        )
        return (f"Of the {self.holding} that {hold} as printed or as corrected, {said}; {nothing}.",)

    @property
    def origins(self) -> tuple[str, ...]:
        """Where premises come from, in a sentence; none where there are none."""
        if not self.premises:
            return ()
        return (f"Of {plural(sum(n for _, n in self.premises), 'premise')}, {premises_text(self.premises)}.",)

    @property
    def lines(self) -> tuple[str, ...]:
        """Both."""
        return (*self.standing, *self.origins)


def roots_of_statement(row: StatementEntry) -> Roots | None:
    """On what a statement rests in the variant that holds; None where none does."""
    holding = (said.roots for said in (row.printed, row.corrected) if said.standing in HOLDING)
    return next(holding, None)


def roots_view(
    statements: Iterable[StatementEntry],
    proofs: Iterable[ProofEvidence] = (),
    results: Sequence[NamedResult] = (),
) -> RootsView:
    """From the statements and the rows of a ledger; named results are not counted among either."""
    statements = [row for row in statements if row.is_counted]
    counted_ids = {row.id for row in statements}
    roots = [found for row in statements if (found := roots_of_statement(row))]
    resting = [found for found in roots if not found.unproved]
    counted = Counter(name for found in resting for name in dict.fromkeys(map(bare, found.literature)))
    by_id = {result.id: result for result in results}
    named = [
        NamedRoot(name, by_id.get(name), n)
        for name, n in sorted(counted.items(), key=lambda of: (-of[1], of[0]))
    ]
    said = (proof for proof in proofs if proof.statement in counted_ids and not proof.says_nothing)
    origins = Counter(premise.origin for proof in said for premise in proof.premises)
    return RootsView(
        holding=len(roots),
        unproved=len(roots) - len(resting),
        named=sum(bool(found.literature) for found in resting),
        assuming_nothing=sum(not found.assumed for found in roots),
        results=tuple(named),
        premises=tuple((origin, origins[origin]) for origin in PremiseOrigin if origins[origin]),
    )


def roots_of_ledger(ledger: Ledger) -> RootsView:
    """The same of a whole ledger."""
    proofs = (entry for entry in ledger.entries if isinstance(entry, ProofEvidence))
    return roots_view(ledger.statements, proofs, ledger.results)


_SAID = {
    PremiseOrigin.INSTANTIATED: "{} instantiated",
    PremiseOrigin.IDENTIFIED: "{} instantiated with a functional read as another",
    PremiseOrigin.OPEN: "{} with a hypothesis left open",
    PremiseOrigin.ASSUMED: "{} assumed by the page",
}


def premises_text(numbers: Iterable[tuple[PremiseOrigin, int]]) -> str:
    """Such as `3 instantiated, 1 assumed by the page`."""
    return ", ".join(_SAID[origin].format(number_text.count(number)) for origin, number in numbers)


def brief(roots: Roots | None) -> str:
    """What a statement rests on, for a cell of a table: empty where it does not hold."""
    if roots is None:
        return ""
    if roots.unproved:
        first = f"{plural(len(roots.unproved), 'root')} not proved"
    elif roots.literature:
        first = plural(len(roots.literature), "named result")
    else:
        first = "proved here"
    assumed = plural(len(roots.assumed), "assumption") if roots.assumed else ""
    return "; ".join(filter(None, (first, assumed)))


def premise_text(premise: PremiseEntry) -> str:
    """Where one premise comes from, in a line."""
    return "; ".join((_first(premise), *_rest(premise)))


def _first(premise: PremiseEntry) -> str:
    if premise.origin is PremiseOrigin.ASSUMED:
        return "assumed by the page"
    if premise.outright:
        return "proved from what its letters stand for"
    names = ", ".join(premise.by)
    said = f"follows by algebra from {names}" if premise.by_algebra else f"instantiates {names}"
    letters = ", ".join(f"{letter} is {value}" for letter, value in premise.letters.items())
    return said + (f" ({letters})" if letters else "")


def _rest(premise: PremiseEntry) -> Iterator[str]:
    yield from (f"not shown: {text}" for text in premise.open)
    if premise.beyond_box:
        yield f"if that holds on its box only, not shown: {', '.join(premise.beyond_box)}"
