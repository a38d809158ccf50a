"""Problems with letters that stand for formulas replaced by these (`dpverify.formulas.functionals`).

What is proved for every value of such letters holds; what is false at some value of theirs is not yet false. Points are
carried over to the replaced form by isolating letters from equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul, neg, sub, truediv

from dpverify.formulas.calculus import substituted, with_values
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    OutOfScopeError,
    Variable,
    free_variables,
    subexpressions,
)
from dpverify.formulas.functionals import may_be_a_functional
from dpverify.formulas.logic import Compare, Formula, free_in, in_domain
from dpverify.formulas.operators import apply, exp, log, root
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.proving.problem import ProofProblem
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate

BoundForms = tuple[tuple[Formula, ...], tuple[Formula, ...]]
"""Claim and assumptions as they are, and with letters replaced that are bound in them."""


def written_out(
    problem: ProofProblem, formulas: Mapping[Variable, Expression], bound_forms: BoundForms | None
) -> tuple[ProofProblem, dict[Variable, Expression]] | None:
    """A problem with letters replaced by the formulas that they stand for, whose values are in their domains.

    Letters that equations among the assumptions fix are replaced as well: a logarithm has no rational values, so that
    no point of rational numbers would meet the equations. With it, what stands for all letters that were replaced. None
    where there is nothing to replace, or it is not known how: where such a letter is bound, and the replaced form that
    came with the problem is of another claim.
    """
    present = {*problem.letters.values()}
    formulas = {letter: body for letter, body in formulas.items() if letter in present}
    if not formulas:
        return None
    if bound_forms is not None and bound_forms[0] == problem.stated:
        claim, *assuming = bound_forms[1]
    elif (present - problem.free) & formulas.keys():
        return None
    else:
        try:
            claim, *assuming = with_formulas(problem.stated, formulas)
        except OutOfScopeError:  # a formula with the index of a sum in it, under that sum
            return None
    claim, found, fixed = _eliminated(claim, tuple(assuming))
    free = free_in(claim).union(*map(free_in, found))
    kept = tuple(v for v in problem.over if v in free)
    over = (*kept, *sorted(free - {*kept}, key=lambda v: v.name))
    return problem.about(claim, over, found), {**formulas, **fixed}


def with_formulas(
    stated: tuple[Formula, ...], formulas: Mapping[Variable, Expression]
) -> tuple[Formula, ...]:
    """Formulas with letters replaced, and that what replaces them is in their domains."""
    within = (side for letter, body in formulas.items() for side in in_domain(letter, body))
    return (*(with_values(f, formulas) for f in stated), *within)


def _eliminated(
    claim: Formula, assuming: tuple[Formula, ...]
) -> tuple[Formula, tuple[Formula, ...], dict[Variable, Expression]]:
    """A formula without the letters that equations among its assumptions fix, and what these are."""
    formulas: dict[Variable, Expression] = {}
    while (found := next(_fixed(assuming), None)) is not None:
        equation, letter, body = found
        others = tuple(f for f in assuming if f is not equation)
        try:
            changed, *rest = (with_values(f, {letter: body}) for f in (claim, *others))
            formulas = {v: substituted(e, {letter: body}) for v, e in formulas.items()}
        except OutOfScopeError:
            break
        claim, assuming = changed, (*rest, *in_domain(letter, body))
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


def carried_over(
    over: Sequence[Variable], formulas: Mapping[Variable, Expression], point: ExactPoint
) -> Iterator[ExactPoint]:
    """Points of a written-out form near a point at which letters that stand for formulas were given values.

    Letters of the formulas that have no value there follow from those that have; whoever takes one confirms it.
    """
    for limit in (10, 1000, 10**6):
        known: ExactPoint = {v.name: point[v.name] for v in over if v.name in point}
        for letter, body in formulas.items():
            unknown = [v for v in free_variables(body) if v.name not in known]
            if len(unknown) != 1 or letter.name not in point:
                continue
            value = isolated(Compare("==", letter, body), unknown[0].name)
            if value is None:
                continue
            try:
                exact = Fraction(float(evaluate(value, {**known, letter.name: point[letter.name]})))
            except (UndefinedError, UnclearError, ValueError, OverflowError, KeyError):
                continue
            whole = unknown[0].kind == "integer"
            known[unknown[0].name] = Fraction(round(exact)) if whole else exact.limit_denominator(limit)
        if len(known) == len(over):
            yield known


def isolated(equation: Compare, name: str) -> Expression | None:
    """What a letter has to be equal to so that an equation holds; of several values one that is not negative.

    None where it does not occur just once, or stands in what is not undone.
    """
    left, right = equation.left, equation.right
    times = _occurrences(left, name), _occurrences(right, name)
    if sum(times) != 1:
        return None
    side, other = (left, right) if times[0] else (right, left)
    while not isinstance(side, Variable):
        if not isinstance(side, Apply):
            return None
        (place,) = (k for k, part in enumerate(side.arguments) if _occurrences(part, name))
        moved = _undone(side.operator, place, side.arguments[:place] + side.arguments[place + 1 :], other)
        if moved is None:
            return None
        side, other = side.arguments[place], moved
    return other


def _occurrences(e: Expression, name: str) -> int:
    return sum(isinstance(part, Variable) and part.name == name for part in subexpressions(e))


def _undone(operator: str, place: int, rest: Sequence[Expression], value: Expression) -> Expression | None:
    """What the argument at a place has to be so that an operator has a value, the other arguments being the rest."""
    if operator in ("add", "mul"):
        return reduce(sub if operator == "add" else truediv, rest, value)
    undo = _UNDONE.get((operator, place))
    return None if undo is None else undo(value, *rest)


_UNDONE: Mapping[tuple[str, int], Callable[..., Expression]] = {
    ("neg", 0): neg,
    ("sub", 0): add,
    ("sub", 1): lambda value, first: first - value,
    ("div", 0): mul,
    ("div", 1): lambda value, above: above / value,
    ("pow", 0): root,
    ("pow", 1): lambda value, base: log(value) / log(base),
    ("root", 0): pow,
    ("exp", 0): log,
    ("log", 0): exp,
    ("log_base", 0): lambda value, base: apply("pow", base, value),
    ("abs", 0): lambda value: value,
}
