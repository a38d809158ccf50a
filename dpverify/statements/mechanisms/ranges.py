"""Between which numbers sums, largest and smallest values over records are: guesses, and proofs of these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

from dpverify.proving.checker.theorems.language import (
    Node,
    bound_in,
    free,
    inner,
    is_partial,
    named,
    parts_of,
    put,
)
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FOLDS, FloatModel
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private

ONE, OTHER, INDEX, COLUMN = "the data", "the neighbor", "the index", "the column"
"""Names of bound letters, which no letter of a page has."""
RANGES = {"sum": "rule.sum-range", "largest": "rule.largest-range", "smallest": "rule.smallest-range"}
GRID, SMALL = 64, 3
"""Steps between the bounds of a record, and how many records a small data set has."""


def number(value: Fraction | int) -> Node:
    """A number."""
    return ("num", str(value))


def folds(mechanism: MechanismOnPage, term: Node) -> Iterator[tuple[Node, ...]]:
    """The outermost sums, products, largest and smallest values over records."""
    parts = parts_of(term)
    if parts[0] in FOLDS and private(mechanism, term):
        yield parts
    elif parts[0] not in ("num", "sym"):
        for part, _ in inner(parts):
            yield from folds(mechanism, part)


def own_index(proof: ProofBuilder) -> str:
    """A name for an index that is not taken."""
    name = INDEX
    while name in proof.state.scope.letters:
        name += "'"
    return name


def may_lack_value(term: Node) -> bool:
    """Whether something in a term is not defined everywhere."""
    parts = parts_of(term)
    return is_partial(parts) or any(may_lack_value(part) for part, _ in inner(parts))


def terms_between(
    mechanism: MechanismOnPage, proof: ProofBuilder, fold: tuple[Node, ...], low: Node, high: Node,
    public: Sequence[int], data: str = ONE,
) -> int:  # fmt: skip
    """That each term of a fold is between two numbers, on a data set."""
    _, letter, body, first, last = fold
    name = own_index(proof)
    i = ("sym", name)
    own = put(body, {named(parts_of(letter)[0]): ((), i)})
    claim: Node = (
        "and",
        *(("<=", *side) for side in ((low, on(mechanism, own, data)), (on(mechanism, own, data), high))),
    )
    whole: Node = ("all", ((name, (), "integer"),), (("<=", first, i), ("<=", i, last)), claim)

    def prove(inner: ProofBuilder, given: list[int]) -> None:
        within = [
            k
            for one in folds(mechanism, own)
            for k in fold_range(mechanism, inner, one, [*given, *public], data)
        ]
        parts = [inner.arithmetic(side, *given, *within, *public) for side in parts_of(claim)[1:]]
        inner.arithmetic(claim, *parts)

    return proof.block(whole, [name], prove)


def fold_range(
    mechanism: MechanismOnPage, proof: ProofBuilder, fold: tuple[Node, ...], public: Sequence[int], data: str = ONE
) -> list[int]:  # fmt: skip
    """Between which numbers a fold is on a data set; nothing where that is not seen.

    Of a sum with a record of an index that is public, this is said of all terms but that of this index.
    """
    head, letter, body, first, last = fold
    ends = extremes(mechanism, body) if head in RANGES else None
    if ends is None:
        return []
    with suppress(UnderivedError, ValueError):
        every = terms_between(mechanism, proof, fold, *ends, public, data)
        name = named(parts_of(letter)[0])
        function, bounds = ((name,), on(mechanism, body, data)), [((), end) for end in (first, last, *ends)]
        pinned = next(pins(mechanism, body, name), None) if head == "sum" else None
        if pinned is not None:
            inside = [proof.arithmetic(("<=", *side), *public) for side in ((first, pinned), (pinned, last))]
            values = [function, ((), pinned), *bounds]
            both = proof.use("rule.rest-range", values, [every, *inside], defined=public)
        else:
            least = ("add", last, number(1)) if head == "sum" else last
            some = proof.arithmetic(("<=", first, least), *public)
            both = proof.use(RANGES[named(head)], [function, *bounds], [every, some], defined=public)
        return [proof.arithmetic(part, both) for part in parts_of(proof.facts[both])[1:]]
    return []


def wholeness(
    mechanism: MechanismOnPage, proof: ProofBuilder, fold: tuple[Node, ...], public: Sequence[int], data: str
) -> list[int]:  # fmt: skip
    """That a sum is a whole number on a data set, as its terms are; nothing where that is not seen."""
    head, letter, body, first, last = fold
    name, index = named(parts_of(letter)[0]), own_index(proof)
    term = on(mechanism, put(body, {name: ((), ("sym", index))}), data)
    inside = ("<=", first, ("sym", index)), ("<=", ("sym", index), last)
    claim: Node = ("==", term, ("floor", term))

    def prove(inner: ProofBuilder, given: list[int]) -> None:
        inner.arithmetic(claim, *given, *public)

    with suppress(UnderivedError, ValueError):
        every = proof.block(("all", ((index, (), "integer"),), inside, claim), [index], prove)
        values = [((name,), on(mechanism, body, data)), ((), first), ((), last)]
        return [proof.use("rule.sum-whole", values, [every], defined=public)] if head == "sum" else []
    return []


def pins(mechanism: MechanismOnPage, body: Node, index: str) -> Iterator[Node]:
    """Indices of records in a term that are public."""
    parts = parts_of(body)
    if parts[0] == "of" and parts[1] == mechanism.records.name:
        bound = {
            name for name in free(parts[2]) if name == index or name[:1] == "#" or name.startswith(INDEX)
        }
        if not bound and not private(mechanism, parts[2]):
            yield parts[2]
    if not bound_in(parts):
        for part, _ in inner(parts):
            yield from pins(mechanism, part, index)


def sum_ranges(
    mechanism: MechanismOnPage, proof: ProofBuilder, query: Node, public: Sequence[int], letters: tuple[Node, ...]
) -> list[int]:  # fmt: skip
    """Between which numbers the sums of a query are on each data set D; nothing where that is not seen."""
    found = list[int]()
    for fold in dict.fromkeys(folds(mechanism, query)):
        ends = extremes(mechanism, fold[2]) if fold[0] == "sum" else None
        if ends is None:
            continue
        term = on(mechanism, fold, ONE)
        times: Node = ("add", ("add", fold[4], ("mul", ("num", "-1"), fold[3])), number(1))
        low, high = (("mul", times, end) for end in ends)
        claim: Node = ("and", ("<=", low, term), ("<=", term, high))

        def prove(inner: ProofBuilder, _: list[int], fold: tuple[Node, ...] = fold) -> None:
            fold_range(mechanism, inner, fold, public)

        with suppress(UnderivedError, ValueError):
            names = [named(parts_of(one)[0]) for one in letters]
            found.append(proof.block(("all", letters, (), claim), names, prove))
    return found


# --------------------------------------------------------------------------------------------- guesses


def values_of(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term of one record, at numbers between the record's bounds, in floating point; none if it is of more."""
    records = mechanism.records
    indices = {name for name in free(term) if name[:1] == "#" or name.startswith(INDEX) or name == COLUMN}
    if records.low is None or records.high is None or not free(term) <= {records.name, *indices}:
        return []
    low, high = float(records.low), float(records.high)
    code, found = FloatModel({}, {}).code(term), list[float]()
    for k in range(GRID + 1):
        x = low + (high - low) * k / GRID
        try:
            found.append(float(code({**dict.fromkeys(indices, 1.0), records.name: lambda _, x=x: x})))
        except FAILURES:
            return []
    return found


def on_small(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term of several records on small data sets, public letters being small; none where it has no value."""
    records = mechanism.records
    if records.low is None or records.high is None or records.last[0] != "sym":
        return []
    code, found = FloatModel({}, {}).code(term), list[float]()
    env: dict[str, Any] = {**dict.fromkeys(free(term), 1.0), named(records.last[1]): float(SMALL)}
    indices = [name for name in free(term) if name[:1] == "#" or name.startswith(INDEX)]
    numbers = [float(end) for end in (records.low, (records.low + records.high) / 2, records.high)]
    for row in product(numbers, repeat=SMALL):
        env[records.name] = lambda at, row=row: row[(int(at[0]) - 1) % SMALL]
        for at in product(range(1, SMALL + 1), repeat=len(indices)):
            try:
                found.append(float(code({**env, **dict(zip(indices, map(float, at), strict=True))})))
            except FAILURES:
                return []
    return found


def extremes(mechanism: MechanismOnPage, body: Node) -> tuple[Node, Node] | None:
    """The smallest and largest value of a term of records, as far as it looks; None if that is not seen."""
    records, found = mechanism.records, values_of(mechanism, body)
    if not found and (found := on_small(mechanism, body)):
        return exactly(min(found), []), exactly(max(found), [])
    if not found:
        return None
    ends = [(found[k], with_record(mechanism, body, x)) for k, x in ((0, records.low), (-1, records.high))]
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
