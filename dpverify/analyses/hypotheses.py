"""Which of its hypotheses a formula needs: it is tried again without them.

A hypothesis is one of the formula's assumptions, or an end of the domain of one of its letters. A letter without an end
runs on; that it is an integer, or a vector, is part of what it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.calculus import substituted, with_values
from dpverify.formulas.expressions import Expression, OutOfScopeError, Variable
from dpverify.formulas.logic import (
    And,
    Compare,
    Formula,
    Ge,
    Gt,
    Le,
    Lt,
    Not,
    conjuncts,
    formula_parts,
    free_in,
)
from dpverify.formulas.printing import formula_text
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.ledger.verdicts import Use, Verdict
from dpverify.ledger.written_numbers import coordinates_of, coordinates_text
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import prove, within_limits
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.provers.points import admitted, graded, simple_values, simplified
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate
from dpverify.proving.reasoning.truth import truth

BUDGET = Budget(boxes=20_000, operations=500_000)
"""What one attempt may do; fewer boxes than for a first proof, since most attempts are to fail."""
_POINTS = 300
"""Simple points that are tried exactly, before any other search."""
_PAIRS = 6
"""Pairs of letters that are moved together."""
_SHOWN = (Verdict.PROVED, Verdict.CERTIFIED)


@dataclass(frozen=True)
class Hypothesis:
    """An assumption, or an end of a letter's domain."""

    formula: Formula
    letter: Variable | None = None
    """The letter whose domain ends there; None for an assumption."""
    end: Literal["", "lower", "upper"] = ""

    @cached_property
    def text(self) -> str:
        """In plain characters."""
        return formula_text(self.formula)


@dataclass(frozen=True)
class TriedHypothesis:
    """What became of one hypothesis."""

    hypothesis: Hypothesis
    use: Use
    point: Mapping[str, str] | None = None
    """Where the formula is false or undefined without it: symbol to exact value."""


def hypotheses(obligation: Obligation) -> tuple[Hypothesis, ...]:
    """Its assumptions, a conjunction's part by part, then the ends of its letters' domains."""
    return (*map(Hypothesis, _assumptions(obligation)), *_ends(obligation))


def _assumptions(obligation: Obligation) -> Iterator[Formula]:
    return (part for formula in dict.fromkeys(obligation.assuming) for part in conjuncts(formula))


def _ends(obligation: Obligation) -> Iterator[Hypothesis]:
    for v in obligation.over:
        if v.lower is not None:
            yield Hypothesis((Gt if v.lower_open else Ge)(v, v.lower), v, "lower")
        if v.upper is not None:
            yield Hypothesis((Lt if v.upper_open else Le)(v, v.upper), v, "upper")


def without(obligation: Obligation, left_out: Iterable[Hypothesis]) -> Obligation:
    """The same claim without some of its hypotheses; where a letter's domain grows, the box that it had goes."""
    gone = tuple(left_out)
    formulas = {h.formula for h in gone if h.letter is None}
    kept = tuple(a for a in _assumptions(obligation) if a not in formulas)
    wider = {v: new for v in obligation.over if (new := _widened(v, [h for h in gone if h.letter == v])) != v}
    try:
        return replace(
            obligation,
            claim=with_values(obligation.claim, wider),
            assuming=tuple(with_values(a, wider) for a in kept),
            over=tuple(wider.get(v, v) for v in obligation.over),
            box={k: ends for k, ends in obligation.box.items() if k not in {v.name for v in wider}},
            formulas={
                wider.get(letter, letter): substituted(body, dict(wider))
                for letter, body in obligation.formulas.items()
            },
            catches=None,
            consequence=None,
        )
    except InvalidArgumentError as error:  # a letter that is bound elsewhere keeps its old domain there
        raise OutOfScopeError(str(error)) from None


def _widened(v: Variable, gone: list[Hypothesis]) -> Variable:
    for h in gone:
        v = replace(v, lower=None, lower_open=True) if h.end == "lower" else v
        v = replace(v, upper=None, upper_open=True) if h.end == "upper" else v
    return v


def uses_of_hypotheses(
    obligation: Obligation, only: Collection[Hypothesis] | None = None
) -> tuple[TriedHypothesis, ...]:
    """What a formula makes of its hypotheses, or of `only` some of them; empty where it is not proved with all of them.

    For each, a point is looked for that meets all others, and at which the formula is false or undefined. What is left
    is left out, all at once if the formula is still proved then, else one by one: ends of domains first, then the
    assumptions from the last to the first. So the unused ones can go together, and of two that say the same, one stays.
    """
    every = [h for h in hypotheses(obligation) if only is None or h in only]
    before = prove(obligation, budget=BUDGET) if every else None
    if before is None or before.verdict not in _SHOWN:
        return ()
    found = {h: finding for h in every if (finding := _needed(obligation, h, before))}
    waiting = [h for h in every if h not in found]
    waiting.sort(key=lambda h: (h.letter is None, -every.index(h)))
    if len(waiting) > 1 and _left_out(obligation, waiting, before) is Use.UNUSED:
        return tuple(found.get(h) or TriedHypothesis(h, Use.UNUSED) for h in every)
    gone: list[Hypothesis] = []
    for h in waiting:
        use = _left_out(obligation, [*gone, h], before)
        if use is Use.UNUSED:
            gone.append(h)
        found[h] = TriedHypothesis(h, use)
    return tuple(found[h] for h in every)


def _left_out(obligation: Obligation, gone: Sequence[Hypothesis], before: Proof) -> Use:
    """Whether the formula is proved without them, as well as it was with them."""
    try:
        proof = prove(without(obligation, gone), budget=BUDGET)
    except OutOfScopeError:
        return Use.NOT_PROVED_WITHOUT
    if proof.verdict is Verdict.CERTIFIED:  # on a box: of what is outside it nothing is known
        same = before.verdict is Verdict.CERTIFIED and all(h.letter is None for h in gone)
        return Use.UNUSED if same else Use.NOT_PROVED_WITHOUT
    return Use.UNUSED if proof.verdict is Verdict.PROVED else Use.NOT_PROVED_WITHOUT


def _needed(obligation: Obligation, h: Hypothesis, before: Proof) -> TriedHypothesis | None:
    """A point that shows that it cannot be left out."""
    try:
        changed = without(obligation, [h])
    except OutOfScopeError:
        return None
    return within_limits(lambda: _point(changed, h, before), BUDGET, lambda *_: None)


def _point(changed: Obligation, h: Hypothesis, before: Proof) -> TriedHypothesis | None:
    undefined: ExactPoint | None = None
    for point in itertools.chain(_near_witness(changed, h, before), _simple(changed)):
        if not all(v.contains(point[v.name]) for v in changed.over):
            continue
        silent = undefined is None and _says_nothing(changed.claim, point)
        if not silent and truth(changed.claim, point) is not False:
            continue
        if admitted(changed.problem, point):
            if not silent:
                return TriedHypothesis(
                    h, Use.FALSE_WITHOUT, _named(changed, simplified(changed.problem, point))
                )
            undefined = point
    proof = Search().attempt(changed.problem, BUDGET)
    if proof is not None and proof.counterexample is not None:
        exact = {v.name: coordinates_of(proof.counterexample[v.name]) for v in changed.over}
        return TriedHypothesis(h, Use.FALSE_WITHOUT, _named(changed, exact))
    return (
        None if undefined is None else TriedHypothesis(h, Use.UNDEFINED_WITHOUT, _named(changed, undefined))
    )


def _named(changed: Obligation, point: ExactPoint) -> dict[str, str]:
    """The point as it is shown: without letters that neither claim nor assumptions mention."""
    mentioned = frozenset[Variable]().union(*map(free_in, (changed.claim, *changed.assuming)))
    return {v.name: coordinates_text(point[v.name]) for v in changed.over if v in mentioned}


def _near_witness(changed: Obligation, h: Hypothesis, before: Proof) -> Iterator[ExactPoint]:
    """The witness with one or two letters moved; equations among the others often leave no simple point elsewhere."""
    if before.witness is None:
        return
    start = {name: coordinates_of(value) for name, value in before.witness.items()}
    about = {v.name for v in free_in(h.formula)}
    letters = sorted(changed.over, key=lambda v: v.name not in about)
    moves = {v.name: _moves(v, start[v.name]) for v in letters}
    for v in letters:
        yield from ({**start, v.name: x} for x in moves[v.name])
    pairs = [(v, w) for v, w in itertools.combinations(letters, 2) if v.name in about]
    for v, w in pairs[:_PAIRS]:
        if start[v.name] == start[w.name]:  # an equation between them stays true
            yield from ({**start, v.name: x, w.name: x} for x in moves[v.name])
        yield from ({**start, v.name: x, w.name: y} for x in moves[v.name] for y in moves[w.name])


def _moves(v: Variable, here: Any) -> list[Any]:
    if isinstance(here, tuple):
        steps = [(*here[:i], here[i] + s, *here[i + 1 :]) for i in range(len(here)) for s in (1, -1, 3)]
        return [*steps, tuple(3 * x for x in here), tuple(-x for x in here)]
    ends = [e + s for e in (v.lower, v.upper) if e is not None for s in (0, 1, -1)]
    near = [here + 1, here - 1, 2 * here, here / 2, -here, here + 20, here - 20, Fraction(0), Fraction(-1)]
    return list(dict.fromkeys(x for x in (*near, *ends) if x != here and v.contains(x)))


def _simple(changed: Obligation) -> Iterator[ExactPoint]:
    if any(v.kind == "vector" for v in changed.over):
        return
    lists = [simple_values(v, changed.problem.ends.get(v.name)) for v in changed.over]
    for values in graded(lists, _POINTS):
        yield {v.name: x for v, x in zip(changed.over, values, strict=True)}


def _says_nothing(formula: Formula, point: ExactPoint) -> bool:
    """Whether a comparison that always counts has a side without a value; under quantifiers nobody looks."""
    if isinstance(formula, And | Not):
        return any(_says_nothing(part, point) for part in formula_parts(formula))
    sides = (formula.left, formula.right) if isinstance(formula, Compare) else ()
    return any(_no_value(side, point) for side in sides)


def _no_value(e: Expression, point: ExactPoint) -> bool:
    try:
        evaluate(e, point)
    except (UndefinedError, UnclearError, OutOfScopeError) as error:
        return isinstance(error, UndefinedError)
    return False
