"""By how much queries are proved to change between neighbors, and the pair between which they change most, as found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isqrt
from random import Random
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.rendering.latex import expression_latex
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.theorems import QueryChange
from dpverify.proving.checker.theorems.language import Node, free, named, nodes, parts_of, put
from dpverify.proving.theorems.finite_models import FAILURES
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.statements.mechanisms.guarantees import expression_of
from dpverify.statements.mechanisms.pages import MechanismOnPage, MechanismStep, on
from dpverify.statements.mechanisms.pairs.search import PairCase, PairSearcher
from dpverify.statements.mechanisms.proofs.guesses import cancelled
from dpverify.statements.mechanisms.proofs.ranges import COLUMN, DATA, ONE, OTHER, magnitude, number

EQUAL = 3e-9
"""How near a change is to a bound, relative to that, where it attains it: what rounding explains, and some more."""
FEW = 3
"""Values of a letter that is no whole number, where what changes or the bound depends on it; else one."""


def query_changes(mechanism: MechanismOnPage, certificate: Json) -> tuple[QueryChange, ...]:
    """Of each query whose sensitivity a proof names, how much it changes, in the order of the proof."""
    whole, found = replace(mechanism, sample=None), list[QueryChange]()
    for claim in dict.fromkeys(_bounded(certificate["steps"])):
        searcher = _ChangeSearcher(whole, {name: 2 for name, _ in mechanism.types}, claim)
        best = searcher.found()
        if best:
            found.append(searcher.seen(best[0][1], _line(mechanism, claim)))
    return tuple(found)


def _bounded(steps: list[Json]) -> Iterator[Node]:
    """The claims of a proof that something changes by at most a public bound between all neighbors."""
    for step in steps:
        if step["step"] != "block":
            continue
        claim = nodes(step["claim"])
        _, letters, premises, body = parts_of(claim)
        two = [one[0] for one in map(parts_of, parts_of(letters)) if one[1:] == ((), DATA)]
        near = (("neighbors", *(("sym", named(name)) for name in two)),)
        relation, *sides = parts_of(body)
        if (premises, relation) != (near, "<=") or parts_of(sides[0])[0] != "abs":
            yield from _bounded(step["steps"])
        elif free(sides[1]).isdisjoint(map(named, two)):
            yield claim


def _line(mechanism: MechanismOnPage, claim: Node) -> int:
    """The first line that asks for what changes, of queries before draws; that of the heading if none is seen to."""
    lines = [
        (line, term) for role in ("query", "draw") for line in mechanism.of(role) for term in _asked(line)
    ]
    return next((line.line for line, term in lines if _says(mechanism, term, claim)), mechanism.line)


def _asked(line: MechanismStep) -> Iterator[Node]:
    """What a query is, what noise is drawn around, and what weights are of."""
    head, *parts = parts_of(line.term)
    if line.role == "query":
        yield line.term
    elif head in ("laplace", "normal"):
        yield parts[0]
    elif head == "proportional" and parts_of(parts[1])[0] == "exp":
        yield put(parts_of(parts[1])[1], {named(parts_of(parts[0])[0]): ((), ("sym", COLUMN))})


def _says(mechanism: MechanismOnPage, term: Node, claim: Node) -> bool:
    """Whether a claim is that a term changes by at most a bound, maybe for each candidate."""
    _, letters, _, body = parts_of(claim)
    over = mechanism.records.over
    at = put(term, {over.name: ((), ("sym", COLUMN))}) if over else term
    second = ((COLUMN, (), parts_of(one)[2]) for one in parts_of(letters)[2:])
    own = (ONE, (), DATA), (OTHER, (), DATA), *second
    change = magnitude(*(on(mechanism, at, data) for data in (ONE, OTHER)))
    near = ("neighbors", ("sym", ONE), ("sym", OTHER))
    return put(("all", own, (near,), ("<=", change, parts_of(body)[2])), {}) == claim


def without_roots(term: Node) -> Node:
    """A product in which roots of numbers are one number, where they are a fraction together."""
    factors = [_factor(one) for one in (parts_of(term)[1:] if parts_of(term)[0] == "mul" else (term,))]
    square, others = Fraction(1), list[Node]()
    for factor, base, twice in factors:
        if parts_of(base)[0] == "num" and twice.denominator == 1:
            square *= Fraction(named(parts_of(base)[1])) ** int(twice)
        else:
            others.append(factor)
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator)) if square > 0 else Fraction(0)
    return cancelled(("mul", number(root), *others)) if root**2 == square else term


def _factor(factor: Node) -> tuple[Node, Node, Fraction]:
    """A factor, what it is a power of, and twice the exponent."""
    head, *parts = parts_of(factor)
    if head == "pow" and parts_of(parts[1])[0] == "num":
        return factor, parts[0], 2 * Fraction(named(parts_of(parts[1])[1]))
    return factor, factor, Fraction(2)


class _ChangeSearcher(PairSearcher):
    """A search for the pair on which a claim's left side is the largest part of its right side."""

    enough, steps, patience, most, of_one = 1, 200, 60, 400, 25

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], claim: Node) -> None:
        _, letters, _, body = parts_of(claim)
        _, change, bound = parts_of(body)
        self.written = without_roots(cancelled(bound))
        self.told = free(change) | free(self.written) | free(mechanism.records.last)
        super().__init__(mechanism, sizes, Random(0))
        self.sides = [named(parts_of(one)[0]) for one in parts_of(letters)]
        self.change, self.bound = map(self.model_of.code, (change, bound))
        self.drawn: dict[str, Any] = dict.fromkeys(free(claim), 0.0)

    def options(self, letter: TheoremLetter) -> list[Fraction]:
        """Fewer values of letters, and one of those on which nothing depends."""
        known = self.told.union(*map(free, self.mechanism.given))
        few = FEW if letter.name in known else 1
        return super().options(letter)[: None if letter.kind == "integer" and few > 1 else few]

    def both(self, case: PairCase) -> tuple[float, float]:
        """How much changes on a pair, for the candidates for which that is most, and the bound."""
        two = [self.env(case, rows) for rows in (case.left, case.right)]
        env: dict[str, Any] = {**self.drawn, **two[0]}
        name, size = self.mechanism.records.name, self.mechanism.size
        env[name] = lambda args: two[int(args[0])][name](args[1:])
        if size is not None:
            env[size.name] = lambda args: two[int(args[0])][size.name]
        first = 1 if self.mechanism.records.columns else 0
        columns = range(first, first + len(max(case.left, case.right, key=len)[0]))
        chosen = product((0,), (1,), *([columns] * len(self.sides[2:])))
        changes = [float(self.change({**env, **dict(zip(self.sides, one, strict=True))})) for one in chosen]
        return max(changes), float(self.bound(env))

    def margin(self, case: PairCase) -> float | None:
        """How much of the bound is left, a little less than 0 where that is nothing; None where it has no value."""
        self.tried += 1
        try:
            change, bound = self.both(case)
            return 1 - EQUAL - change / bound
        except (*FAILURES, IndexError):
            return None

    def seen(self, case: PairCase, line: int) -> QueryChange:
        """A pair, and what changes on it."""
        both = self.both(case)
        attained = abs(both[0] / both[1] - 1) <= EQUAL
        change, bound = (float(f"{one:.9g}") for one in both)  # the same on all machines
        written = ""
        if free(self.written) <= {one.name for one in self.public}:
            power = parts_of(self.written)[0] == "pow"
            term = ("mul", number(1), self.written) if power else self.written
            with suppress(InvalidArgumentError):
                written = expression_latex(expression_of(self.mechanism, term))
        left, right = (tuple(tuple(map(str, row)) for row in rows) for rows in (case.left, case.right))
        told = [one for one in self.public if one.name in self.told]
        letters = tuple((one.latex, str(case.letters[one.name])) for one in told)
        return QueryChange(
            line=line, bound=written, most=bound, found=change, attained=attained, letters=letters,
            left=left, right=right,
        )  # fmt: skip
