"""Sums over records in another form, which rules give: in another order, or with multiples and sums taken out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.theorems.building import Value
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.sequences import subterms
from dpverify.statements.mechanisms.pages import on
from dpverify.statements.mechanisms.proofs.ranges import (
    HOLE,
    INDEX,
    ONE,
    OTHER,
    Fold,
    folds,
    minus,
    number,
    own_index,
    plain,
    replaced,
)

if TYPE_CHECKING:
    from dpverify.statements.mechanisms.proofs.sensitivity import Sensitivity

POWERS: tuple[Node, ...] = ("2", "3", "4")
"""Whole powers of sums up to which are multiplied out."""


def rewritten(known: Sensitivity, query: Node) -> tuple[Node, list[int]]:
    """A query with its sums in another form, and the equations of these on both data sets; as it is, and none."""
    new, equations = dict[Node, Node](), list[int]()
    for fold in dict.fromkeys(folds(known.mechanism, query)):
        with suppress(UnderivedError, ValueError):
            for form in (_in_order, _taken_apart, _defined_everywhere):
                found = form(known, fold) if fold.head == "sum" else None
                if found is not None:
                    new[fold], equal = found
                    equations += equal
                    break
    return replaced(query, new), equations


def _in_order(known: Sensitivity, fold: Fold) -> tuple[Node, list[int]] | None:
    """A sum whose index goes through a permutation."""
    body, name, i = fold.body, fold.name, ("sym", fold.name)
    for p in (one.name for one in known.mechanism.letters if one.arguments == ("integer",) == (one.kind,)):
        in_order = replaced(body, {("of", p, i): i})
        if in_order == body or put(in_order, {name: ((), ("of", p, i))}) != put(body, {}):
            continue
        facts = [k for k, f in enumerate(known.proof.facts) if parts_of(f)[0] == "and" and p in free(f)]
        rest = [((INDEX,), ("of", p, ("sym", INDEX))), *plain(fold.first, fold.last)]
        equal = [
            known.proof.use(
                "rule.sum-permuted", [((name,), on(known.mechanism, in_order, data)), *rest], facts
            )
            for data in (ONE, OTHER)
        ]
        return fold._replace(body=in_order), equal
    return None


def _taken_apart(known: Sensitivity, fold: Fold) -> tuple[Node, list[int]] | None:
    """A sum of multiples by what does not depend on the index, among it sums within this one."""
    mechanism, name = known.mechanism, fold.name
    if not [*folds(mechanism, fold.body)]:
        return None
    terms = dict[Node, list[Node]]()
    for factors in _monomials(fold.body):
        own = [one for one in factors if name in free(one)]
        terms.setdefault(_times(own), []).append(_times([one for one in factors if name not in free(one)]))
    if [*folds(mechanism, *terms)]:
        return None
    parts = [(times[0] if len(times) == 1 else ("add", *times), own) for own, times in terms.items()]
    count: Node = ("add", minus(fold.last, fold.first), number(1))
    whole = [("mul", times, fold._replace(body=own) if name in free(own) else count) for times, own in parts]
    new: Node = whole[0] if len(whole) == 1 else ("add", *whole)
    return new, [_equal(known, fold, parts, new, data) for data in (ONE, OTHER)]


def _equal(known: Sensitivity, fold: Fold, parts: list[tuple[Node, Node]], new: Node, data: str) -> int:
    """That a sum is what it is taken apart to, on a data set."""
    proof, mechanism, public = known.proof, known.mechanism, known.public
    name, ranges = fold.name, known.ranges(data)
    within = [k for one in dict.fromkeys(folds(mechanism, fold.body)) for k in ranges.of(one)]
    defined, rests = [*public, *within], list[Node]()
    rest: Node = ("mul", number(0), parts[-1][1])
    for times, own in reversed(parts):
        rests.append(rest)
        rest = ("add", ("mul", times, own), rest if len(rests) == 1 else ("mul", number(1), rest))
    facts = [_summed(known, fold, rest, data, defined)]
    for (times, own), rest in zip(parts, reversed(rests), strict=True):
        last_one = own == parts[-1][1]
        values: list[Value] = [
            ((name,), on(mechanism, side, data)) for side in (own, own if last_one else rest)
        ]
        values += plain(fold.first, fold.last, on(mechanism, times, data), number(int(not last_one)))
        facts.append(proof.use("rule.sum-linear", values, [], defined=defined))
        if name not in free(own):
            facts += ranges.of(fold._replace(body=own))
    return proof.arithmetic(("==", on(mechanism, fold, data), on(mechanism, new, data)), *facts, *defined)


def _summed(known: Sensitivity, fold: Fold, body: Node, data: str, facts: list[int]) -> int:
    """That a sum is another on a data set, as their terms are the same."""
    proof, index, new = known.proof, own_index(known.proof), fold._replace(body=body)
    i: Node = ("sym", index)
    sides = [on(known.mechanism, one.at(i), data) for one in (fold, new)]
    every = proof.every(
        [(index, (), "integer")], fold.inside(i), ("==", *sides),
        lambda inner, given: inner.arithmetic(("==", *sides), *given, *facts),
    )  # fmt: skip
    other = on(known.mechanism, new, data)
    itself = proof.arithmetic(("==", other, other), *facts)
    return proof.rewritten(itself, every, ("==", ("sym", HOLE), other), HOLE)


def _defined_everywhere(known: Sensitivity, fold: Fold) -> tuple[Node, list[int]] | None:
    """A sum in which something is divided by what may be 0 where the index is not one of the sum's."""
    larger: dict[Node, Node] = {
        one: ("pow", ("max", one[1], put(one[1], {fold.name: ((), fold.first)})), one[2])
        for one in _inverses(fold.body, fold.name)
    }
    if not larger:
        return None
    total = replaced(fold.body, larger)
    equal = [_summed(known, fold, total, data, known.public) for data in (ONE, OTHER)]
    return fold._replace(body=total), equal


def _inverses(term: Node, name: str) -> Iterator[tuple[Node, ...]]:
    """Negative powers of what depends on an index alone."""
    for one in subterms(term):
        exponent = parts_of(one[2]) if one[0] == "pow" else ("",)
        negative = exponent[0] == "num" and named(exponent[1])[0] == "-"
        if negative and free(one[1]) == {name} and parts_of(one[1])[0] != "max":
            yield one


def _times(factors: list[Node]) -> Node:
    return number(1) if not factors else factors[0] if len(factors) == 1 else ("mul", *factors)


def _monomials(node: Node) -> Iterator[list[Node]]:
    """The products of which a term is the sum."""
    parts = parts_of(node)
    exponent = parts_of(parts[2]) if parts[0] == "pow" else ("",)
    if parts[0] == "add":
        for part in parts[1:]:
            yield from _monomials(part)
    elif parts[0] == "mul":
        for row in product(*(list(_monomials(part)) for part in parts[1:])):
            yield [one for factors in row for one in factors]
    elif exponent[0] == "num" and exponent[1] in POWERS and parts_of(parts[1])[0] in ("add", "mul"):
        yield from _monomials(("mul", *(parts[1],) * int(named(exponent[1]))))
    else:
        yield [node]
