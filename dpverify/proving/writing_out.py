"""Obligations with letters that stand for formulas replaced by these (`dpverify.formulas.functionals`).

What is proved for every value of such letters holds; what is false at some value of theirs is not yet false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.expressions import Expression, Number, OutOfScopeError, Variable, free_variables
from dpverify.formulas.functionals import may_be_a_functional
from dpverify.formulas.logic import Compare, Formula, free_in, variables_of
from dpverify.proving.language import Obligation


def decided_form(obligation: Obligation, written_out: bool) -> Obligation:
    """The obligation itself, or its written-out form where there is one."""
    found = written_form(obligation) if written_out else None
    return obligation if found is None else found


def written_form(obligation: Obligation) -> Obligation | None:
    """An obligation with letters replaced by the formulas that they stand for, whose values are in their domains.

    Letters that equations among the assumptions fix are replaced as well: a logarithm has no rational values, so that
    no point of rational numbers would meet the equations. None where there is nothing to replace, or it is not known
    how: where such a letter is bound, and the replaced form that came with the obligation is of another claim.
    """
    stated = (obligation.claim, *obligation.assuming)
    present = {v for f in stated for v in variables_of(f)}
    formulas = {letter: body for letter, body in obligation.formulas.items() if letter in present}
    if not formulas:
        return None
    bound = present - set().union(*map(free_in, stated))
    if obligation.bound_forms is not None and obligation.bound_forms[0] == stated:
        claim, *assuming = obligation.bound_forms[1]
    elif bound & formulas.keys():
        return None
    else:
        try:
            claim, *assuming = with_formulas(stated, formulas)
        except OutOfScopeError:  # a formula with the index of a sum in it, under that sum
            return None
    claim, found, fixed = _eliminated(claim, tuple(assuming))
    free = free_in(claim).union(*map(free_in, found))
    over = tuple(v for v in obligation.over if v in free)
    return replace(
        obligation,
        claim=claim,
        assuming=found,
        over=(*over, *sorted(free - {*over}, key=lambda v: v.name)),
        box={name: ends for name, ends in obligation.box.items() if any(v.name == name for v in free)},
        catches=None,
        formulas={**formulas, **fixed},
        bound_forms=None,
        source=None,  # which says the formula as it was before
    )


def with_formulas(
    stated: tuple[Formula, ...], formulas: Mapping[Variable, Expression]
) -> tuple[Formula, ...]:
    """Formulas with letters replaced, and that what replaces them is in their domains."""
    within = (side for letter, body in formulas.items() for side in _within(letter, body))
    return (*(_replaced(f, formulas) for f in stated), *within)


def _replaced(formula: Formula, formulas: Mapping[Variable, Expression]) -> Formula:
    return map_sides(formula, lambda side: substituted(side, formulas))


def _within(letter: Variable, body: Expression) -> Iterator[Compare]:
    """That a formula has its value in a letter's domain."""
    if letter.lower is not None:
        yield Compare("<" if letter.lower_open else "<=", Number(letter.lower), body)
    if letter.upper is not None:
        yield Compare("<" if letter.upper_open else "<=", body, Number(letter.upper))


def _eliminated(
    claim: Formula, assuming: tuple[Formula, ...]
) -> tuple[Formula, tuple[Formula, ...], dict[Variable, Expression]]:
    """A formula without the letters that equations among its assumptions fix, and what these are."""
    formulas: dict[Variable, Expression] = {}
    while (found := next(_fixed(assuming), None)) is not None:
        equation, letter, body = found
        others = tuple(f for f in assuming if f is not equation)
        try:
            changed, *rest = (_replaced(f, {letter: body}) for f in (claim, *others))
            formulas = {v: substituted(e, {letter: body}) for v, e in formulas.items()}
        except OutOfScopeError:
            break
        claim, assuming = changed, (*rest, *_within(letter, body))
        formulas[letter] = body
    return claim, assuming, formulas


def _fixed(assuming: tuple[Formula, ...]) -> Iterator[tuple[Formula, Variable, Expression]]:
    for f in assuming:
        if isinstance(f, Compare) and f.relation == "==":
            for side, other in ((f.left, f.right), (f.right, f.left)):
                if not isinstance(side, Variable) or side.kind != "real":
                    continue
                if not may_be_a_functional(side) and side not in free_variables(other):
                    yield f, side, other
