"""What may be said about a statement, in words.

A statement is proved only by its `conclusion` formulas, together with its conditions and with what these rest on;
everything that they use and that is not among the statement's own formulas is named after the word "given". Instances
refute or support. A step or condition that is false or does not follow is named. A special case in which a step of the
proof fails refutes that step, not the statement. Where the printed proof needs a step that is false, the statement
holds if its correction proves the very same formulas: by a corrected proof. Nothing is proved by what rests on a
statement whose claim, or a constant in it, is false as printed; on a formula of it that is true, it may rest.

What its formulas take as given, and nothing that they use concludes, is an assumption of its page; the first is named.
What is left out comes up from all that a statement rests on: a box, a condition that a correction adds, a part of a
conclusion that no formula says, a root that is not proved. A statement is refuted only by a counterexample to itself or
to a special case of it; where that is an edge case that no reader means, and its correction holds, it holds where it is
meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from dpverify.ledger.headlines.roots import Below, Roots
from dpverify.ledger.headlines.rows import (
    Cut,
    FalsePart,
    FormulaRow,
    conclusion,
    conclusions_of,
    gravest,
    marks_of,
    needed,
)
from dpverify.ledger.names import bare
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import HOLDS, Consequence, Coverage, Verdict


class Standing(StrEnum):
    """How a statement stands: what is counted of statements, best first."""

    HOLDS = "holds"
    """Given what it uses."""
    IN_PART = "holds in part"
    """Given what it uses, on a part of its domain or but for a part of what it says, here or in what it rests on."""
    WHERE_MEANT = "holds where meant"
    """It fails in edge cases only, which no reader means; or it is proved under what its source says elsewhere."""
    REFUTED = "refuted"
    DOES_NOT_FOLLOW = "does not follow"
    UNDECIDED = "undecided"
    PARTLY = "only special cases or steps checked"
    """Nothing was tried that would give its conclusion."""

    def of(self, number: int) -> str:
        """How many statements stand so, such as `2 hold in part`."""
        if self is Standing.PARTLY:
            return f"of {number} {self}"
        one, several = {
            Standing.HOLDS: ("holds", "hold"),
            Standing.IN_PART: ("holds in part", "hold in part"),
            Standing.WHERE_MEANT: ("holds where meant", "hold where meant"),
            Standing.REFUTED: ("refuted", "refuted"),
            Standing.DOES_NOT_FOLLOW: ("does not follow", "do not follow"),
            Standing.UNDECIDED: ("undecided", "undecided"),
        }[self]
        return f"{number} {one if number == 1 else several}"


class Tried(Record):
    """The special cases, or the steps of a proof, that were tried where no formula gives the conclusion."""

    coverage: Coverage
    hold: int
    of: int

    def text(self) -> str:
        """Such as `only some steps of its proof hold`."""
        special = self.coverage is Coverage.INSTANCE
        noun = "instances" if special else "steps of its proof"
        if not self.hold:
            return f"{noun} undecided"
        return f"{'' if special else 'only '}{'' if self.hold == self.of else 'some '}{noun} hold"


class VariantOutcome(Record):
    """What was shown about one variant of a statement; all fields are empty where nothing was tried."""

    verdict: Verdict | None = None
    """On the statement itself: None if no formula covers the whole of it and none refutes it, or if it holds
    only where it is meant."""
    standing: Standing | None = None
    """The same as one of a few; None if nothing was tried."""
    given: tuple[str, ...] = ()
    """What the verdict rests on besides the statement's own formulas: ids of statements and of named results."""
    consequence: Consequence | None = None
    """Of a statement that is refuted, what follows from that."""
    own: Verdict | None = None
    """Of a statement that holds, the verdict on its own formulas."""
    by_corrected_proof: bool = False
    """Whether what is printed holds, and its printed proof does not show it."""
    only_assumed: bool = False
    """Whether all formulas that give its conclusion assume it."""
    unfollowed: tuple[str, ...] = ()
    """The formulas that give its conclusion and do not follow."""
    tried: Tried | None = None
    """Where no formula gives its conclusion, what else was tried."""
    boxed: tuple[Cut, ...] = ()
    """The parts of its letters' domains to which a box confines its own formulas."""
    missing: tuple[str, ...] = ()
    """The parts of its conclusion that no formula says."""
    where: tuple[str, ...] = ()
    """The conditions under which it holds and that are not printed with it."""
    assumed: tuple[str, ...] = ()
    """Premises of its own formulas that are assumptions of its page (`Roots.assumed` has those below, too)."""
    marks: tuple[FalsePart, ...] = ()
    """What is false, or does not follow, besides the statement itself."""
    below: Below = Below()
    """What comes up from all that it rests on."""

    @property
    def roots(self) -> Roots:
        """What it rests on in the end."""
        return self.below.roots

    @property
    def headline(self) -> str:
        """What was shown, in words, with what is false or left out; empty if nothing was tried."""
        if self.standing is None:
            return ""
        return "; ".join([self._first(), *self._assuming(), *map(str, self.marks), *self._carried()])

    def _first(self) -> str:
        match self.standing:
            case Standing.REFUTED:
                return "refuted" + (f": {self.consequence}" if self.consequence else "")
            case Standing.DOES_NOT_FOLLOW:
                return f"does not follow from what is declared: {', '.join(self.unfollowed)}"
            case Standing.UNDECIDED:
                return "undecided: its conclusion is only assumed" if self.only_assumed else "undecided"
            case Standing.PARTLY:
                return self.tried.text() if self.tried else "nothing was decided"
            case Standing.WHERE_MEANT:
                return f"{self.standing}: {self._holds()}"
        return self._holds()

    def _holds(self) -> str:
        plain = not self.by_corrected_proof and all(mark.coverage is not Coverage.STEP for mark in self.marks)
        boxes = [*map(str, self.boxed)]
        boxes += [f"{name} only for {_all(map(str, parts))}" for name, parts in self.below.boxed.items()]
        first = "holds by a corrected proof" if self.by_corrected_proof else "holds"
        if plain and not (boxes and self.own is Verdict.PROVED):
            first = str(self.own)
        if boxes:
            first += f" on part of its domain ({'; '.join(boxes)})"
        elif not plain and self.own is Verdict.CERTIFIED:
            first += " by rigorous intervals"
        if self.missing:
            first += f", but for what no printed formula says ({_all(self.missing)})"
        if self.where:
            first += f", where {_all(self.where)}"
        return first + (f", given {', '.join(self.given)}" if self.given else "")

    def _assuming(self) -> Iterator[str]:
        """The first of the premises that its page assumes, and how many more there are."""
        if self.assumed:
            more = f" and {len(self.assumed) - 1} more" if len(self.assumed) > 1 else ""
            yield f"assumes {self.assumed[0]}{more}"

    def _carried(self) -> Iterator[str]:
        """What comes up from all that it rests on: what is false first, gravest first, each kind in one clause.

        What is left out below says something only of a statement that has a conclusion.
        """
        if self.standing is Standing.REFUTED:
            return
        rests, concludes = self.below, self.standing is not Standing.PARTLY and not self.only_assumed
        plain = {name: of for name, of in rests.false.items() if name not in rests.meant}
        for consequence in (*Consequence, None):
            false = [name for name, of in plain.items() if of is consequence]
            if false:
                why = f": {consequence}" if consequence else ""
                yield f"rests on {', '.join(false)} (false as printed{why})"
        unproved = [name for name in rests.roots.unproved if name not in rests.false and concludes]
        for names, why in (
            (rests.meant, Standing.WHERE_MEANT),
            (rests.unfollowed, "does not follow from what is declared"),
            (unproved, "not proved here"),
        ):
            if names:
                yield f"rests on {', '.join(names)} ({why})"
        if not concludes:
            return
        for id_, parts in rests.missing.items():
            yield f"rests on {id_} (no printed formula says {_all(parts)})"
        for name, added in rests.added.items():
            yield f"rests on {name} where {_all(added)}"
        corrected = [
            f"{id_}{f' (where {_all(added)})' if added else ''}" for id_, added in rests.corrected.items()
        ]
        if corrected:
            yield f"{', '.join(corrected)} as corrected"


NOTHING = VariantOutcome()


def _all(parts: Iterable[str]) -> str:
    return " and ".join(parts)


def word(
    statement: str,
    rows: Sequence[FormulaRow],
    uses: Sequence[str] = (),
    rests: Below | None = None,
    *,
    missing: Sequence[str] = (),
    printed: Sequence[FormulaRow] | None = None,
) -> VariantOutcome:
    """What may be said about a statement, by its formulas in one variant.

    It `uses` some, whichever the formula, and `rests` on all that these rest on; `missing` are the parts of its
    conclusion that no formula says. `printed` are its printed formulas, where `rows` are those of a corrected proof.
    """
    rests = rests or Below()
    found = VariantOutcome(marks=marks_of(rows if printed is None else printed), below=rests)
    refuted = [row for row in rows if row.refutes]
    if refuted:
        worst = gravest(row.consequence for row in refuted)
        return found.but(verdict=Verdict.REFUTED, standing=Standing.REFUTED, consequence=worst)
    conclusions, verdict = conclusions_of(rows), conclusion(statement, rows)
    if verdict is None and any(row.coverage is Coverage.CONCLUSION for row in rows):
        return found.but(verdict=Verdict.UNDECIDED, standing=Standing.UNDECIDED, only_assumed=True)
    if verdict is None:
        return found.but(standing=Standing.PARTLY, tried=_without_a_whole(rows))
    if verdict is Verdict.DOES_NOT_FOLLOW:
        names = tuple(row.name for row in conclusions if row.verdict is Verdict.DOES_NOT_FOLLOW)
        return found.but(verdict=verdict, standing=Standing.DOES_NOT_FOLLOW, unfollowed=names)
    looked_at = needed(statement, rows)
    own = {f"{statement}/{row.name}" for row in rows}
    named = {*uses, *(name for row in looked_at for name in row.uses)} - own
    given = tuple(sorted(name for name in named if bare(name) == name or bare(name) not in named))
    harmless = (Consequence.STEP, Consequence.EDGE, Consequence.NOTATION)
    if any(of not in harmless for of in rests.false.values()) or any(rests.unfollowed.values()):
        verdict = Verdict.UNDECIDED  # whether it needs what is false of that is not known
    if verdict not in HOLDS:
        return found.but(verdict=verdict, standing=Standing.UNDECIDED, given=given)
    boxed = tuple(dict.fromkeys(part for row in looked_at for part in row.cut))
    cut = bool(boxed or rests.boxed)
    in_part = cut or missing or rests.missing
    return found.but(
        verdict=Verdict.CERTIFIED if cut else verdict,
        standing=Standing.IN_PART if in_part else Standing.HOLDS,
        own=verdict,
        by_corrected_proof=printed is not None,
        given=given,
        boxed=boxed,
        missing=tuple(missing),
        where=tuple(dict.fromkeys(text for row in looked_at for text in row.added)),
        assumed=tuple(dict.fromkeys(text for row in looked_at for text in row.assumed)),
    )


def where_meant(corrected: VariantOutcome) -> VariantOutcome:
    """What may be said of a statement that is refuted in edge cases only, from what is said of its correction."""
    return corrected.but(verdict=None, standing=Standing.WHERE_MEANT)


def _without_a_whole(rows: Sequence[FormulaRow]) -> Tried | None:
    for coverage in (Coverage.INSTANCE, Coverage.STEP):
        found = [row.verdict in HOLDS for row in rows if row.coverage is coverage]
        if found:
            return Tried(coverage=coverage, hold=sum(found), of=len(found))
    return None


def counts(standings: Iterable[Standing | None]) -> Mapping[Standing, int]:
    """How many statements stand how, those of which nothing was tried left out."""
    found = [each for each in standings if each is not None]
    return {standing: found.count(standing) for standing in Standing if standing in found}
