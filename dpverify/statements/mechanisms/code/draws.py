"""Which number is drawn, where noise is added to something: the draw with all that is added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpverify.formulas.expressions import Apply, Expression, Number, Variable, all_variables
from dpverify.statements.mechanisms.code.values import plus, times


def affine(e: Expression, letter: Variable) -> tuple[Expression, Expression] | None:
    """The factor and the rest of a number that a letter stands in once, multiplied and added to; None for others."""
    if e == letter:
        return Number(Fraction(1)), Number(Fraction(0))
    match e:
        case Apply("add" | "sub" as name, (left, right)):
            one, other = affine(left, letter), affine(right, letter)
            if one is not None and letter not in all_variables(right):
                rest = plus(one[1], right) if name == "add" else (-right if _zero(one[1]) else one[1] - right)
                return one[0], rest
            if other is not None and letter not in all_variables(left):
                return (
                    (other[0], plus(left, other[1]))
                    if name == "add"
                    else (-other[0], left if _zero(other[1]) else left - other[1])
                )
        case Apply("mul", (left, right)):
            for inner, factor in ((left, right), (right, left)):
                found = affine(inner, letter)
                if found is not None and letter not in all_variables(factor):
                    rest = found[1] if _zero(found[1]) else times(factor, found[1])
                    return times(factor, found[0]), rest
        case Apply("div", (left, right)):
            found = affine(left, letter)
            if found is not None and letter not in all_variables(right):
                return found[0] / right, found[1] if _zero(found[1]) else found[1] / right
        case Apply("neg", (part,)):
            found = affine(part, letter)
            if found is not None:
                return -found[0], found[1] if _zero(found[1]) else -found[1]
    return None


def noisy_number(
    outputs: Sequence[Expression],
    letter: Variable,
    others: set[Variable],
    public: Callable[[Expression], bool],
) -> Expression | None:
    """The largest number in which a draw stands wherever it stands: what is drawn, with all that is added to it."""
    chains = [chain for output in outputs for chain in _chains(output, letter)]
    common: list[Expression] = []
    for chain in chains:
        fit = [
            one for one in chain
            if (found := affine(one, letter)) is not None and public(found[0]) and not others & {*all_variables(one)}
        ]  # fmt: skip
        common = fit if chain is chains[0] else [one for one in common if one in fit]
    return common[0] if common else None


def _chains(e: Expression, letter: Variable) -> Iterator[tuple[Expression, ...]]:
    """For each place of a letter, all numbers that it is a part of, the largest first."""
    if e == letter:
        yield (e,)
    elif isinstance(e, Apply):
        for part in e.arguments:
            yield from ((e, *chain) for chain in _chains(part, letter))


def exchanged(e: Expression, old: Expression, new: Expression) -> Expression:
    """A number with another in the place of a part."""
    if e == old:
        return new
    return (
        replace(e, arguments=tuple(exchanged(a, old, new) for a in e.arguments))
        if isinstance(e, Apply)
        else e
    )


def _zero(e: Expression) -> bool:
    return e == Number(Fraction(0))
