"""Steps by which a query moves little between neighbors, for every number of records.

Neighbors differ in the record with the index k. A sum, product, largest or smallest value over records then differs
in one term; what is left is arithmetic with the record on both sides. Which steps are tried is decided here; that they
follow is shown by the derivation, and confirmed by the checker.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

from dpverify.proving.checker.theorems.language import Node, bound_in, free, inner, named, parts_of, put
from dpverify.proving.theorems.finite_models import FAILURES, FOLDS, FloatModel
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private

Step: TypeAlias = "tuple[tuple[str, ...], Node]"
"""The rules by which a formula follows, and the formula."""
DATA = "mathcalD"
"""The type of data sets."""
PLACE = "the place"
"""The index of the record in which neighbors differ, a function of both."""
ONE_PLACE = {"product": "rule.products-differ", "largest": "rule.largest-differ", "smallest": "rule.smallest-differ"}
GRID = 64


def minus(one: Node, other: Node) -> Node:
    """A difference, as it is read."""
    return ("add", one, ("mul", ("num", "-1"), other))


def magnitude(one: Node, other: Node) -> Node:
    """The absolute value of a difference."""
    return ("abs", minus(one, other))


def number(value: Fraction | int) -> Node:
    """A number."""
    return ("num", str(value))


@dataclass(frozen=True)
class Pair:
    """Neighbors D and E, and further letters for whose values something is said."""

    mechanism: MechanismOnPage
    further: tuple[Node, ...] = ()

    def holds(self, claim: Node, *premises: Node, letters: tuple[Node, ...] = ()) -> Node:
        """That something holds for all neighbors."""
        both: tuple[Node, ...] = (("D", (), DATA), ("E", (), DATA), *self.further, *letters)
        near: Node = ("neighbors", ("sym", "D"), ("sym", "E"))
        return put(("all", both, (near, *premises), claim), {})

    @property
    def place(self) -> Node:
        """The index at which they differ."""
        return ("of", PLACE, ("sym", "D"), ("sym", "E"))

    def both(self, term: Node) -> tuple[Node, Node]:
        """A term on the one and on the other."""
        return on(self.mechanism, term, "D"), on(self.mechanism, term, "E")


def folds(mechanism: MechanismOnPage, term: Node) -> Iterator[tuple[Node, ...]]:
    """The outermost sums, products, largest and smallest values over records."""
    parts = parts_of(term)
    if parts[0] in FOLDS and private(mechanism, term):
        yield parts
        return
    if parts[0] in ("num", "sym"):
        return
    for part, _ in inner(parts):
        yield from folds(mechanism, part)


def offsets(mechanism: MechanismOnPage, body: Node, index: str) -> set[int] | None:
    """By how much the indices of records in a term are above a letter; None where they are something else."""
    parts = parts_of(body)
    if parts[0] == "of" and parts[1] == mechanism.records.name:
        at = parts_of(parts[2])
        if at == ("sym", index):
            return {0}
        if at[0] == "add" and len(at) == 3 and at[1] == ("sym", index) and parts_of(at[2])[0] == "num":
            return {int(Fraction(named(parts_of(at[2])[1])))}
        return None
    if parts[0] in ("num", "sym"):
        return set()
    if bound_in(parts):
        return None if private(mechanism, body) else set()
    found = set[int]()
    for part, _ in inner(parts):
        more = offsets(mechanism, part, index)
        if more is None:
            return None
        found |= more
    return found


def sensitivity_steps(mechanism: MechanismOnPage, query: Node, bound: Node, further: tuple[Node, ...] = ()) -> list[Step]:
    """Steps that end with: between neighbors, the query differs by at most a bound."""
    pair = Pair(mechanism, further)
    found = [*record_facts(pair)]
    seen = [one for one in dict.fromkeys(folds(mechanism, query))]
    for fold in seen:
        found += fold_steps(pair, fold)
    linear = all(fold[0] == "sum" for fold in seen) and not is_linear(mechanism, query)
    if linear:
        for fold in seen:
            found += rest_steps(pair, fold)
        for one, other in combinations(seen, 2):
            found += order_steps(pair, one, other)
    return [*found, ((), pair.holds(("<=", magnitude(*pair.both(query)), bound)))]


def is_linear(mechanism: MechanismOnPage, query: Node) -> bool:
    """Whether a query is a sum of multiples of folds, and of what is public."""
    parts = parts_of(query)
    if parts[0] in FOLDS or not private(mechanism, query):
        return True
    if parts[0] == "add":
        return all(is_linear(mechanism, part) for part in parts[1:])
    if parts[0] == "mul":
        inside = [part for part in parts[1:] if private(mechanism, part)]
        return len(inside) == 1 and is_linear(mechanism, inside[0])
    return False


def record_facts(pair: Pair) -> Iterator[Step]:
    """Where the record is that differs, and between which numbers it is on both sides."""
    records, place = pair.mechanism.records, pair.place
    yield (), pair.holds(("and", ("<=", number(1), place), ("<=", place, records.last)))
    if records.low is None and records.high is None:
        return
    second = tuple(("sym", named(parts_of(one)[0])) for one in pair.further)
    for data in ("D", "E"):
        yield (), pair.holds(bounded(pair.mechanism, ("of", records.name, ("sym", data), place, *second)))


def bounded(mechanism: MechanismOnPage, record: Node) -> Node:
    """That a record is between the numbers that its page gives."""
    records, found = mechanism.records, list[Node]()
    if records.low is not None:
        found.append(("<=", number(records.low), record))
    if records.high is not None:
        found.append(("<=", record, number(records.high)))
    return found[0] if len(found) == 1 else ("and", *found)


def fold_steps(pair: Pair, fold: tuple[Node, ...]) -> Iterator[Step]:
    """How a fold differs between neighbors."""
    head, letter, body = fold[:3]
    index = named(parts_of(letter)[0])
    moved = offsets(pair.mechanism, body, index)
    sides = pair.both(fold)
    if moved == {0}:
        at = put(body, {index: ((), pair.place)})
        terms = pair.both(at)
        if head == "sum":
            yield ("rule.sums-differ",), pair.holds(("==", minus(*sides), minus(*terms)))
        else:
            yield (ONE_PLACE[named(head)],), pair.holds(("<=", magnitude(*sides), magnitude(*terms)))
    elif moved is not None and len(moved) == 2 and head == "sum":
        bounds = [most(pair.mechanism, body)] * 2
        for c, limit in zip(sorted(moved), bounds, strict=True):
            terms = pair.both(put(body, {index: ((), shifted(pair.place, -c))}))
            ends = (("<=", fold[3], shifted(pair.place, -c)), ("<=", shifted(pair.place, -c), fold[4]))
            yield (), pair.holds(("<=", magnitude(*terms), limit), *ends)
        yield ("rule.sums-differ-twice",), pair.holds(("<=", magnitude(*sides), ("add", *bounds)))


def shifted(place: Node, by: int) -> Node:
    """An index further on."""
    return ("add", place, number(by)) if by else place


def rest_steps(pair: Pair, fold: tuple[Node, ...]) -> Iterator[Step]:
    """Between which numbers a sum is without the record that differs."""
    _, letter, body, first, last = fold
    index = named(parts_of(letter)[0])
    ends = extremes(pair.mechanism, body)
    if ends is None or offsets(pair.mechanism, body, index) != {0}:
        return
    low, high = ends
    of_one = on(pair.mechanism, body, "D")
    between: Node = ("and", ("<=", low, of_one), ("<=", of_one, high))
    every: Node = ("all", (("D", (), DATA), *pair.further, (index, (), "integer")),
                   (("<=", first, ("sym", index)), ("<=", ("sym", index), last)), between)  # fmt: skip
    yield (), put(every, {})
    rest = minus(on(pair.mechanism, fold, "D"), put(of_one, {index: ((), pair.place)}))
    times = minus(last, first)
    said: Node = ("and", ("<=", ("mul", times, low), rest), ("<=", rest, ("mul", times, high)))
    yield ("rule.rest-range",), pair.holds(said)


def order_steps(pair: Pair, one: tuple[Node, ...], other: tuple[Node, ...]) -> Iterator[Step]:
    """Of two sums, which has the larger terms."""
    if one[3:] != other[3:]:
        return
    index = named(parts_of(one[1])[0])
    body = put(other[2], {named(parts_of(other[1])[0]): ((), ("sym", index))})
    gap = values(pair.mechanism, minus(one[2], body))
    if not gap or (min(gap) < -1e-12 and max(gap) > 1e-12):
        return
    small, large = (one, other) if max(gap) <= 1e-12 else (other, one)
    terms = [on(pair.mechanism, fold[2], "D") for fold in (small, large)]
    terms[1] = put(terms[1], {named(parts_of(large[1])[0]): ((), ("sym", named(parts_of(small[1])[0])))})
    index = named(parts_of(small[1])[0])
    every: Node = ("all", (("D", (), DATA), *pair.further, (index, (), "integer")),
                   (("<=", one[3], ("sym", index)), ("<=", ("sym", index), one[4])), ("<=", *terms))  # fmt: skip
    yield (), put(every, {})
    rests = [
        minus(on(pair.mechanism, fold, "D"), put(term, {index: ((), pair.place)}))
        for fold, term in zip((small, large), terms, strict=True)
    ]
    yield ("rule.rest-order",), pair.holds(("<=", *rests))


# --------------------------------------------------------------------------------------------- guesses


def values(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term of one record, at numbers between the record's bounds, in floating point; none if it is of more."""
    records = mechanism.records
    if records.low is None or records.high is None or not free(term) <= {records.name, *_indices(term)}:
        return []
    low, high = float(records.low), float(records.high)
    code = FloatModel({}, {}).code(term)
    found = list[float]()
    for k in range(GRID + 1):
        x = low + (high - low) * k / GRID
        try:
            found.append(float(code({records.name: lambda _, x=x: x, **dict.fromkeys(_indices(term), 1.0)})))
        except FAILURES:
            return []
    return found


def _indices(term: Node) -> set[str]:
    return {name for name in free(term) if name.startswith("#")}


def extremes(mechanism: MechanismOnPage, body: Node) -> tuple[Node, Node] | None:
    """The smallest and largest value of a term of one record, as they are at an end or are whole; None if not seen."""
    found = values(mechanism, body)
    if not found:
        return None
    ends = [(found[k], with_record(mechanism, body, x)) for k, x in ((0, mechanism.records.low), (-1, mechanism.records.high))]
    return exactly(min(found), ends), exactly(max(found), ends)


def exactly(value: float, ends: list[tuple[float, Node]]) -> Node:
    """A number that looks like a value: a fraction, or a term that has it at an end."""
    near = Fraction(value).limit_denominator(100)
    if math.isclose(near, value, abs_tol=1e-12):
        return number(near)
    return next((term for at, term in ends if math.isclose(at, value, abs_tol=1e-12)), number(near))


def with_record(mechanism: MechanismOnPage, body: Node, value: Fraction | None) -> Node:
    """A term with a number for each record."""
    names = tuple(f"!{k}" for k in range(len(mechanism.records.arguments)))
    return put(body, {mechanism.records.name: (names, number(value or 0))})


def most(mechanism: MechanismOnPage, body: Node) -> Node:
    """By how much a term of records differs at most; 1 where that is not seen."""
    found = extremes(mechanism, body)
    return number(1) if found is None else number(1)
