"""What a guarantee rests on must not depend on records: the scale of noise, what is claimed, ends of sums."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpverify.proving.checker.theorems.language import Node, free, inner, named, parts_of
from dpverify.proving.theorems.finite_models import FOLDS
from dpverify.proving.theorems.sequences import subterms
from dpverify.statements.mechanisms.pages import MechanismOnPage, private, scaled_lack
from dpverify.statements.mechanisms.proofs.own_sums import is_own
from dpverify.statements.mechanisms.rounds import LoopOnPage

SCALES = {"laplace": (2, "scale"), "normal": (2, "scale"), "exponential": (1, "scale")}
"""Of laws, the part that must be public, and its name."""


def dependence(mechanism: MechanismOnPage, scales: bool = True) -> tuple[int, str] | None:
    """The line on which something depends on records that must not, and what it is; None where nothing does.

    Maybe without scales, where these may be smooth bounds.
    """
    for draw in mechanism.of("draw") if scales else ():
        law = parts_of(draw.term)
        place, name = SCALES.get(str(law[0]), (0, ""))
        if place and private(mechanism, law[place]):
            of_records = mechanism.records.name in free(law[place])
            return (
                draw.line,
                f"the {name} of the noise depends on {'' if of_records else 'the number of '}records",
            )
    for line in mechanism.of("select") if scales else ():
        lack = scaled_lack(line.term, line.index, mechanism.records.columns) if line.coins else None
        if lack is not None and private(mechanism, lack[0]):
            return line.line, "by what the scores are multiplied depends on records"
    for line in (*mechanism.of("query"), *mechanism.of("draw")):
        if mechanism.size is not None or mechanism.sample is not None:
            if why := beside_all(mechanism, line.term):
                return line.line, why
        elif any(private(mechanism, end) for end in ends(line.term)):
            return line.line, "where a sum begins or ends depends on records"
    if mechanism.loop is not None and (found := of_loop(mechanism, mechanism.loop)):
        return found
    if mechanism.test is None and private(mechanism, mechanism.output.term):
        return mechanism.output.line, "what is made from the draws depends on records"
    return None


def beside_all(mechanism: MechanismOnPage, term: Node, within: frozenset[Node] = frozenset()) -> str:
    """Why a term asks for something else than for all records, one by one; nothing where it does not."""
    parts = parts_of(term)
    if parts[0] == "of" and parts[1] == mechanism.records.name and parts[2] not in within:
        return "a record is asked for by its number; allowed: sums and the like over all records"
    if is_own(mechanism, term) and not any(private(mechanism, end) for end in parts[3:]):
        return beside_all(mechanism, parts[2], within)
    if parts[0] in FOLDS and private(mechanism, term):
        every = parts[3:] == (("num", "1"), mechanism.records.last)
        if not every and parts[0] == "sum" and mechanism.sample is None and is_shorter(mechanism, *parts[3:]):
            every = True
        if not every and (mechanism.sample is None or any(private(mechanism, end) for end in parts[3:])):
            return (
                "where a sum begins or ends depends on the number of records; allowed: from a whole number on, to that "
                "number or some less"
            )
        if not every:
            return "a sum or the like is not over all records of the sample"
        domain = mechanism.size.number if mechanism.size else None
        if parts[0] in ("largest", "smallest") and domain is not None and domain.contains(Fraction(0)):
            return (
                f"the {parts[0]} value of no records has no value; allowed: data sets of at least one record"
            )
        within |= {("sym", named(parts_of(parts[1])[0]))}
    return next(filter(None, (beside_all(mechanism, part, within) for part, _ in inner(parts))), "")


def is_shorter(mechanism: MechanismOnPage, first: Node, last: Node) -> bool:
    """Whether a sum goes from a whole number of at least 1 to the number of records, or to some less."""
    head, *parts = parts_of(last)
    less = parts_of(parts[1]) if head == "add" and parts[0] == mechanism.records.last else ()
    numbers = [parts_of(first), *map(parts_of, less[2:])]
    fits = last == mechanism.records.last or less[:2] == ("mul", ("num", "-1"))
    return fits and all(one[0] == "num" and named(one[1]).isdigit() and one[1] != "0" for one in numbers)


def of_loop(mechanism: MechanismOnPage, loop: LoopOnPage) -> tuple[int, str] | None:
    """The same of how many rounds there are, of what is kept, and of by what a loop ends."""
    if private(mechanism, loop.last):
        return loop.line, "how many rounds there are depends on records"
    for step in (one for one in mechanism.steps if one.role in ("start", "set", "until")):
        if private(mechanism, step.term):
            kept = "what is kept" if step.role != "until" else "by what the loop ends"
            return step.line, f"{kept} depends on records without noise"
    return None


def ends(term: Node) -> Iterator[Node]:
    """The first and last numbers of all sums, products, largest and smallest values of a term."""
    yield from (end for one in subterms(term) if one[0] in FOLDS for end in one[3:])
