"""What may be said about a statement, in words.

A statement is proved only by its `whole` formulas, together with its conditions and with what these rest on;
everything that they use and that is not among the statement's own formulas is named after the word "given". Instances
refute or support. A step or condition that is false or does not follow is named. A special case in which a step of the
proof fails refutes that step, not the statement. Where the printed proof needs a step that is false, the statement
holds if its correction proves the very same formulas: by a corrected proof. Nothing is proved by what rests on a
statement whose claim, or a constant in it, is false as printed; on a formula of it that is true, it may rest.

What is left out comes up from all that a statement rests on: a box, a condition that a correction adds, a part of a
conclusion that no formula says, a root that is not proved. A statement is refuted only by a counterexample to itself or
to a special case of it; where that is an edge case that no reader means, and its correction holds, it holds where it is
meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dpverify.ledger.headlines.roots import Below, Roots, bare
from dpverify.ledger.headlines.rows import HOLDS, Row, conclusion, gravest, marks_of, needed, wholes_of
from dpverify.ledger.verdicts import Consequence, Coverage, Verdict
from dpverify.ledger.written_numbers import number_of, short_number


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
        first, _, rest = str(self).partition(" ")
        many = {"holds": "hold", "does": "do"}.get(first, first)
        if self is Standing.PARTLY:
            return f"of {number} {self}"
        return " ".join(part for part in (f"{number}", first if number == 1 else many, rest) if part)


@dataclass(frozen=True)
class Word:
    """What was shown about one variant of a statement."""

    verdict: Verdict | None
    """On the statement itself: None where no formula covers the whole of it and none refutes it, and where it holds
    only where it is meant."""
    given: tuple[str, ...]
    """What the verdict rests on besides the statement's own formulas."""
    headline: str
    """The same in words, with what is false or left out."""
    standing: Standing | None = None
    """The same as one of a few; None where nothing was tried."""
    roots: Roots = field(default_factory=Roots)
    consequence: Consequence | None = None
    """Of a statement that is refuted, what follows from that."""


NOTHING = Word(None, (), "")


def word(
    statement: str,
    rows: Sequence[Row],
    uses: Sequence[str] = (),
    rests: Below | None = None,
    *,
    missing: Sequence[str] = (),
    printed: Sequence[Row] | None = None,
) -> Word:
    """What may be said about a statement.

    Args:
        statement: its id.
        rows: its formulas in one variant.
        uses: what the statement rests on, whichever the formula.
        rests: all that it rests on.
        missing: the parts of its conclusion that no formula says.
        printed: its printed formulas, where `rows` are those of a corrected proof of what is printed.
    """
    rests = rests or Below()
    said = [*marks_of(rows if printed is None else printed)]
    false_step = any(row.broken_step for row in (rows if printed is None else printed))
    refuted = [row for row in rows if row.refutes]
    if refuted:
        worst = gravest(row.consequence for row in refuted)
        headline = "; ".join(["refuted" + (f": {worst}" if worst else ""), *said])
        return Word(Verdict.REFUTED, (), headline, Standing.REFUTED, rests.roots, worst)
    wholes, verdict = wholes_of(rows), conclusion(statement, rows)
    said += _carried(rests, concludes=verdict is not None)
    if verdict is None and any(row.coverage is Coverage.WHOLE for row in rows):
        headline = "; ".join(["undecided: its conclusion is only assumed", *said])
        return Word(Verdict.UNDECIDED, (), headline, Standing.UNDECIDED, rests.roots)
    if verdict is None:
        return Word(None, (), "; ".join([_without_a_whole(rows), *said]), Standing.PARTLY, rests.roots)
    if verdict is Verdict.DOES_NOT_FOLLOW:
        names = ", ".join(row.name for row in wholes if row.verdict is Verdict.DOES_NOT_FOLLOW)
        headline = "; ".join([f"does not follow from what is declared: {names}", *said])
        return Word(verdict, (), headline, Standing.DOES_NOT_FOLLOW, rests.roots)
    looked_at = needed(statement, rows)
    own = {f"{statement}/{row.name}" for row in rows}
    named = {*uses, *(name for row in looked_at for name in row.uses)} - own
    given = tuple(sorted(name for name in named if bare(name) == name or bare(name) not in named))
    harmless = (Consequence.STEP, Consequence.EDGE, Consequence.NOTATION)
    if any(of not in harmless for of in rests.false.values()) or any(rests.unfollowed.values()):
        verdict = Verdict.UNDECIDED  # whether it needs what is false of that is not known
    if verdict not in HOLDS:
        return Word(verdict, given, "; ".join([str(verdict), *said]), Standing.UNDECIDED, rests.roots)
    first = "holds" if false_step else str(verdict)
    if printed is not None:
        first = "holds by a corrected proof"
    parts = dict.fromkeys(part for row in looked_at for part in row.cut)
    boxes = [*parts, *(f"{name} only for {_all(some)}" for name, some in rests.boxed.items())]
    if boxes:
        verdict = Verdict.CERTIFIED
        first = f"{'holds' if first == Verdict.PROVED else first} on part of its domain ({'; '.join(boxes)})"
    elif first.startswith("holds") and verdict is Verdict.CERTIFIED:
        first += " by rigorous intervals"
    if missing:
        first += f", but for what no printed formula says ({_all(missing)})"
    added = tuple(dict.fromkeys(text for row in looked_at for text in row.added))
    if added:
        first += f", where {_all(added)}"
    if given:
        first += f", given {', '.join(given)}"
    standing = Standing.IN_PART if boxes or missing or rests.missing else Standing.HOLDS
    return Word(verdict, given, "; ".join([first, *said]), standing, rests.roots)


def where_meant(corrected: Word) -> Word:
    """What may be said of a statement that is refuted in edge cases only, from what is said of its correction."""
    said = f"{Standing.WHERE_MEANT}: {corrected.headline}"
    return replace(corrected, verdict=None, headline=said, standing=Standing.WHERE_MEANT)


def _carried(rests: Below, *, concludes: bool) -> Iterator[str]:
    """What comes up from all that a statement rests on: what is false first, gravest first, each kind in one clause.

    What is left out below says something only of a statement that has a conclusion.
    """
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


def _all(parts: Iterable[str]) -> str:
    return " and ".join(parts)


def _without_a_whole(rows: Sequence[Row]) -> str:
    for coverage, noun in ((Coverage.INSTANCE, "instances"), (Coverage.STEP, "steps of its proof")):
        found = [row.verdict in HOLDS for row in rows if row.coverage is coverage]
        if any(found):
            only = "" if coverage is Coverage.INSTANCE else "only "
            return f"{only}{noun} hold" if all(found) else f"{only}some {noun} hold"
        if found:
            return f"{noun} undecided"
    return "nothing was decided"


# ------------------------------------------------------------------------------------------------- by how much


_AT_MOST = {"<=": False, "<": False, ">=": True, ">": True}
"""Whether the first side should be the larger one."""


def exceeds(relation: str, left: str | None, right: str | None) -> str:
    """By how much an inequality fails, from its two sides; empty unless they are numbers that can be compared so.

    Args:
        relation: as printed between the sides: `<=`, `<`, `>=` or `>`; another says nothing.
        left: the first side.
        right: the second.
    """
    if relation not in _AT_MOST:
        return ""
    at_least = _AT_MOST[relation]
    try:
        shown, bound = number_of(left or ""), number_of(right or "")
        low, high = (bound, shown) if at_least else (shown, bound)
        if low <= high or high < 0:
            return ""
        than = "at least" if at_least else "at most"
        times = short_number(low / high) if high else ""
        digits = 8 if times == "1" else 4
        said = f"{short_number(shown, digits)} instead of {than} {short_number(bound, digits)}"
    except (ValueError, ZeroDivisionError, OverflowError):
        return ""
    if times in ("", "1"):
        return said
    return f"{said}, too small by a factor of {times}" if at_least else f"{said}, {times} times as much"


def counts(standings: Iterable[Standing | None]) -> Mapping[Standing, int]:
    """How many statements stand how, those of which nothing was tried left out."""
    found = [each for each in standings if each is not None]
    return {standing: found.count(standing) for standing in Standing if standing in found}
