"""One thing of a formula that is varied: the formula that a value makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.errors import InvalidDataError
from dpverify.formulas.calculus import map_sides
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    children,
    rebuilt,
)
from dpverify.formulas.logic import Compare, Formula, Ge, Gt, Le, Lt
from dpverify.formulas.printing import expression_text, formula_text
from dpverify.formulas.rendering.latex import expression_latex, formula_latex
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.ledger.besides.thresholds import ThresholdEnd, Variation, Varied
from dpverify.ledger.verdicts import HOLDS, Verdict
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate

UPPER = (Varied.AT_MOST, Varied.AT_MOST_MULTIPLE, Varied.AT_MOST_INVERSE)
_INVERSE = (Varied.AT_MOST_INVERSE, Varied.AT_LEAST_INVERSE)


def plain_form(o: Obligation) -> Obligation:
    """The formula alone, letters that stand for formulas replaced, without what is said of it, and without a box."""
    form = o.written_out
    return replace(form, formulas={}, bound_forms=None, box={}, catches=None, consequence=None, source=None)


def box_of(o: Obligation) -> dict[str, tuple[str, str]]:
    """The box of a formula, as bounds on letters of its plain form."""
    form = o.written_out
    ends = ((v.name, form.problem.ends[v.name]) for v in form.over if v.name in form.box)
    return {name: (str(low), str(high)) for name, (low, high) in ends}


def changed(o: Obligation, change: Variation, value: Fraction, *, strict: bool = False) -> Obligation:
    """A plain form with another number, or under a further bound, which may be `strict`.

    Raises:
        InvalidDataError: for a letter or a place that the formula does not have.
    """
    claim, more = o.claim, bounds_within(o, change.within)
    if change.letter:
        more.append(bound(o, change, value, strict=strict))
    elif change.varied is Varied.FACTOR and isinstance(claim, Compare):
        claim = replace(claim, right=claim.right if value == 1 else value * claim.right)
    else:
        claim = _with_number(claim, change.places, Number(value))
    return replace(o, claim=claim, assuming=(*o.assuming, *more))


def letter_of(o: Obligation, name: str) -> Variable:
    """The letter with a name."""
    found = next((v for v in o.over if v.name == name), None)
    if found is None:
        raise InvalidDataError(f"{o.name} has no letter {name}.")
    return found


def bound(o: Obligation, change: Variation, value: Fraction, *, strict: bool = False) -> Compare:
    """The bound that a change puts on its letter."""
    side: Expression = Number(value)
    if change.other:
        other = letter_of(o, change.other)
        side = value / other if change.varied in _INVERSE else other if value == 1 else value * other
    upper = change.varied in UPPER
    relation = (Lt if upper else Gt) if strict else Le if upper else Ge
    return relation(letter_of(o, change.letter), side)


def met(o: Obligation, change: Variation, point: ExactPoint) -> Fraction | None:
    """The first bound that a point meets; None where there is none."""
    if not change.letter:
        return None
    size: Expression = letter_of(o, change.letter)
    if change.other:
        other = letter_of(o, change.other)
        size = size * other if change.varied in _INVERSE else size / other
    return fraction_at(size, point)


def fraction_at(e: Expression, point: ExactPoint) -> Fraction | None:
    """A value where it is a fraction."""
    try:
        found = evaluate(e, point)
    except (UndefinedError, UnclearError, OutOfScopeError):
        return None
    return found if isinstance(found, Fraction) else None


def bounds_within(o: Obligation, within: Mapping[str, tuple[str, str]]) -> list[Formula]:
    """Further bounds on letters of a formula."""
    found: list[Formula] = []
    for name, (low, high) in within.items():
        v = letter_of(o, name)
        found += [Le(Number(Fraction(low)), v), Le(v, Number(Fraction(high)))]
    return found


# ------------------------------------------------------------------------------------------- in words


def says(o: Obligation, change: Variation, value: Fraction, *, strict: bool = False) -> dict[str, str]:
    """What an end says: the bound, also in LaTeX, or else the claim, with a value."""
    if not change.letter:
        return {"says": formula_text(changed(o, change, value).claim)}
    form = bound(o, change, value, strict=strict)
    return {"says": formula_text(form), "latex": formula_latex(form)}


def texts(
    printed: Obligation, change: Variation, holds: ThresholdEnd, fails: ThresholdEnd | None, verdict: Verdict
) -> dict[str, str]:
    """What a threshold of a formula says in words: what is printed, and the correction where the formula fails."""
    o, value = plain_form(printed), Fraction(holds.value)
    place = next((p for p in places(o.claim) if p.indices == change.places), None)
    inside = place.inside if place else o.claim.right if isinstance(o.claim, Compare) else None
    conditions, claim = bounds_within(o, change.within), printed.latex or formula_latex(printed.claim)
    if change.letter:
        conditions.append(bound(o, change, value, strict=holds.strict))
        inside = None
    else:
        claim = formula_latex(changed(o, change, value).claim)
    given = (
        f" (given {' and '.join(f'${formula_latex(each)}$' for each in conditions)})" if conditions else ""
    )
    wrong = (
        f"it is false with {fails.says if change.letter else fails.number()}"
        if fails
        else "it is not proved as it is printed"
    )
    correction = f"Corrected `{printed.name}`{given}:\n$${claim}$$\n\n- because: {wrong}"
    return {
        "now": str(place.value) if place else "",
        "inside": "" if inside is None else expression_text(inside),
        "inside_latex": "" if inside is None else expression_latex(inside),
        "correction": "" if verdict in HOLDS else correction,
    }


# ------------------------------------------------------------------------------------------- numbers


@dataclass(frozen=True)
class Place:
    """A number in a claim, wherever the same operation with it stands, or the exponent 1 of a factor without one."""

    value: Fraction
    exponent: bool
    outer: bool
    """Whether it is a factor of a whole side."""
    indices: tuple[int, ...]
    """The how manieth of all nodes each is."""
    inside: Expression
    """The operation, or the factor."""


def places(claim: Formula) -> tuple[Place, ...]:
    """The positive literal factors, divisors, bases and exponents of a claim, factors of whole sides first.

    Last the exponents 1 of what whole sides are multiplied or divided by.
    """
    bare: list[Place] = []
    found: dict[tuple[Expression, int], list[int]] = {}
    outer, exponents = set[int](), set[int]()
    count = -1

    def walk(e: Expression, of_side: bool) -> None:
        nonlocal count
        count += 1
        product = isinstance(e, Apply) and e.operator in ("mul", "div", "neg")
        power = isinstance(e, Apply) and e.operator == "pow"
        for k, part in enumerate(children(e)):
            if isinstance(part, Number) and part.value > 0 and (product or power):
                found.setdefault((e, k), []).append(count + 1)
                outer.update([count + 1] if of_side and product else [])
                exponents.update([count + 1] if power and k else [])
            elif of_side and product and not (isinstance(part, Number) or _is_product(part)):
                bare.append(Place(Fraction(1), True, False, (count + 1,), part))
            walk(part, of_side and product)

    def side(e: Expression) -> Expression:
        walk(e, True)
        return e

    map_sides(claim, side)
    made = [
        Place(number.value, at[0] in exponents, at[0] in outer, tuple(at), e)
        for (e, k), at in found.items()
        if isinstance(number := children(e)[k], Number)
    ]
    return (*sorted(made, key=lambda p: (p.exponent, not p.outer, p.indices)), *bare)


def _is_product(e: Expression) -> bool:
    return isinstance(e, Apply) and e.operator in ("mul", "div", "neg", "pow")


def _with_number(claim: Formula, indices: tuple[int, ...], value: Expression) -> Formula:
    if indices not in {place.indices for place in places(claim)}:
        raise InvalidDataError(f"The claim has no number at the places {indices}.")
    count = -1

    def walk(e: Expression) -> Expression:
        nonlocal count
        count += 1
        if count in indices:
            return value if isinstance(e, Number) else e**value
        return rebuilt(e, tuple(map(walk, children(e))))

    return map_sides(claim, walk)
