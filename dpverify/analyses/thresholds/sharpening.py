"""How far a formula holds: bounds on letters, factors, constants and exponents are varied until both ends are known.

The formula is proved at one end and refuted at the other, and the checker confirms both; nothing is said of what lies
between them. Work is bounded by counting attempts at a proof, never by the clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.analyses.sizes import sizes_of
from dpverify.analyses.thresholds.attempts import Attempts, End, Ends, Family, completed
from dpverify.analyses.thresholds.changes import (
    UPPER,
    bounds_within,
    box_of,
    changed,
    fraction_at,
    met,
    places,
    plain_form,
    says,
    texts,
)
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError, Variable
from dpverify.formulas.functionals import may_be_a_functional
from dpverify.formulas.logic import Compare
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.formulas.values import UnclearError, UndefinedError, ball
from dpverify.ledger.besides.thresholds import Threshold, ThresholdEnd, Variation, Varied
from dpverify.ledger.verdicts import BROKEN, HOLDS, Verdict
from dpverify.proving.certificates import digest
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Proof
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate

Within = dict[str, tuple[str, str]]
"""Further bounds on letters, lower and upper, as the ledger keeps them."""
ATTEMPTS = 60
"""At a proof, for one formula."""
_STEPS = tuple(map(Fraction, ("1/2", "1/8", "1/64", "1/1000")))
"""How far from where it fails, as a part of the way to the end of a letter's domain, a bound is tried."""
_TIMES = (2, 4, 20, 1000)
"""By what a constant is multiplied, or divided, to begin with."""
_MORE = tuple(map(Fraction, ("1/2", "1", "2", "6")))
"""What an exponent is changed by to begin with."""


@dataclass(frozen=True)
class Sharpened:
    """What was found of one formula."""

    verdict: Verdict
    """Of the formula as it stands; by quick provers, where it was not known."""
    thresholds: tuple[Threshold, ...]
    certificates: dict[str, Json]
    """By name, those of all ends."""
    attempts: int
    cut_short: bool
    """Whether a far guard of time ended some attempt, so that a faster machine may find more."""


def sharpen(
    obligation: Obligation,
    *,
    letters: Sequence[str] = (),
    attempts: int = ATTEMPTS,
    verdict: Verdict | None = None,
) -> Sharpened:
    """How far a formula holds.

    Where it is refuted or undecided, bounds on its letters are tried, and numbers that make it true; where it holds,
    its numbers only. `letters` are names of letters: bounds on these alone are tried then. An attempt that decides
    nothing counts as several. `verdict` is that of the formula, where it is known.

    Raises:
        InvalidArgumentError: for an unknown letter, or less than one attempt.

    Examples:
        >>> from dpverify.analyses.thresholds.sharpening import sharpen
        >>> from dpverify.formulas.expressions import real
        >>> from dpverify.formulas.logic import Le
        >>> from dpverify.proving.language import Obligation
        >>> x = real("x", ge=0)
        >>> found = sharpen(Obligation("square", "page 1", Le(x**2, 3 * x), (x,)), letters=("x",))
        >>> print(found.verdict, *(t.text() for t in found.thresholds), sep="; ")
        refuted; bound on x: proved with x <= 3, refuted with x <= 262/87 (at x = 262/87)
    """
    if isinstance(attempts, bool) or not isinstance(attempts, int) or not attempts >= 1:
        raise InvalidArgumentError("attempts", attempts, "a positive integer")
    plain = plain_form(obligation)
    names = {v.name for v in plain.over}
    for name in letters:
        require(name in names, "letter", name, f"a letter of the formula: {', '.join(sorted(names))}")
    asked = Attempts(attempts)
    within = box_of(obligation)
    first = asked.at(replace(plain, assuming=(*plain.assuming, *bounds_within(plain, within))))
    if within and (first is None or first.verdict not in BROKEN):
        within = {}
        first = asked.at(plain)
    quick = Verdict.UNDECIDED if first is None else first.verdict
    verdict = quick if verdict is None else verdict
    found: list[Ends] = []
    groups = _groups(plain, within, first, verdict if first is None else quick, tuple(letters), found)
    for number, group in enumerate(groups):
        # each group may take an equal part of what is left
        asked.limit = min(attempts, asked.used + math.ceil((attempts - asked.used) / (len(groups) - number)))
        for family in group:
            ends = Ends(family, asked)
            if asked.left > 0 and ends.find():
                found.append(ends)
    for ends in found:
        ends.narrow()
    thresholds = tuple(_threshold(obligation, verdict, ends) for ends in found)
    proofs = [end.proof.certificate for ends in found for end in (ends.good, ends.bad) if end is not None]
    return Sharpened(verdict, thresholds, {digest(c): c for c in proofs}, asked.used, asked.cut_short)


def _groups(
    o: Obligation,
    within: Within,
    first: Proof | None,
    verdict: Verdict,
    letters: tuple[str, ...],
    found: Sequence[Ends],
) -> list[Iterator[Family]]:
    point = None
    if first is not None and (named := first.counterexample or first.witness):
        point = completed(o, dict(named))
    groups: list[Iterator[Family]] = []
    if verdict not in HOLDS:
        groups.append(_bounds(o, within, point if verdict in BROKEN else None, letters))
    if verdict in BROKEN and point is not None:
        groups.append(_pairs(o, within, point, letters, found))
    if not letters:
        groups.append(_numbers(o, within, verdict, point))
    return groups


def _threshold(printed: Obligation, verdict: Verdict, ends: Ends) -> Threshold:
    change = ends.family.change
    holds, fails = (None if end is None else _end(ends.family, end) for end in (ends.good, ends.bad))
    assert holds is not None
    return Threshold(change=change, holds=holds, fails=fails, **texts(printed, change, holds, fails, verdict))


def _end(family: Family, end: End) -> ThresholdEnd:
    point = end.proof.counterexample
    return ThresholdEnd(
        value=str(end.value),
        **says(family.of, family.change, end.value, strict=end.strict),
        strict=end.strict,
        verdict=end.proof.verdict,
        certificate=digest(end.proof.certificate),
        counterexample=None if point is None else dict(point),
    )


# ------------------------------------------------------------------------------------------- bounds on letters


def _plain_letters(o: Obligation, letters: tuple[str, ...]) -> list[Variable]:
    """Numbers that the formula is about."""
    about = o.problem.free
    wanted = [v for v in o.over if v in about and v.kind != "vector" and not may_be_a_functional(v)]
    return [v for v in wanted if not letters or v.name in letters]


def _bounds(
    o: Obligation, within: Within, point: ExactPoint | None, letters: tuple[str, ...]
) -> Iterator[Family]:
    """`x <= c` and `x >= c` for each pure number x."""
    for v in _plain_letters(o, letters):
        if not v.unit.same_as(DIMENSIONLESS) and not letters:
            continue
        size = sizes_of((v,)).get(v.name)
        here = point[v.name] if point is not None else Fraction(1) if size is None else size.typical
        for varied in (Varied.AT_MOST, Varied.AT_LEAST):
            first = tuple(x for x in _towards(v, here, varied is Varied.AT_MOST) if _is_within(x, v, within))
            change = Variation(varied=varied, letter=v.name, within=within)
            if first:
                yield Family(o, change, bad=None if point is None else here, first=first)


def _towards(v: Variable, here: Fraction, upper: bool) -> Iterator[Fraction]:
    """Bounds between a number and the end of a letter's domain, or ever farther away."""
    end = v.lower if upper else v.upper
    found = []
    for step in _STEPS:
        if end is not None:
            value = end + (here - end) * step
        elif (here > 0) != upper and here:
            value = here / step
        else:
            value = here - 1 / step if upper else here + 1 / step
        value = Fraction(math.floor(value) if upper else math.ceil(value)) if v.kind == "integer" else value
        if value != here and v.contains(value):
            found.append(value)
    if not upper and v.kind == "integer":
        found = [x for x in (here + 1, here + 2) if v.contains(x)] + found
    yield from dict.fromkeys(found)


def _is_within(x: Fraction, v: Variable, within: Within) -> bool:
    low, high = within.get(v.name, (x, x))
    return Fraction(low) <= x <= Fraction(high)


def _pairs(
    o: Obligation, within: Within, point: ExactPoint, letters: tuple[str, ...], found: Sequence[Ends]
) -> Iterator[Family]:
    """`x <= y`, `x <= 1/y` and `x >= 1/y`, where the counterexample is beyond it, and then their multiples.

    Letters on which a number is `found` to be a bound that leaves them more than one value are left out.
    """
    bounded = {ends.family.change.letter for ends in found if ends.bad is not None and not ends.at_the_end}
    numbers, others = ([v for v in _plain_letters(o, of) if v.name not in bounded] for of in (letters, ()))
    for v in numbers:
        for w in others:
            if v == w or (w.name < v.name and w in numbers and not v.unit.same_as(w.unit)):
                continue
            shapes: list[Varied] = []
            if v.unit.same_as(w.unit):
                shapes += [Varied.AT_MOST_MULTIPLE, *([] if w in numbers else [Varied.AT_LEAST_MULTIPLE])]
            if v.unit.same_as(DIMENSIONLESS) and w.unit.same_as(DIMENSIONLESS) and v.name < w.name:
                shapes += [Varied.AT_MOST_INVERSE, Varied.AT_LEAST_INVERSE]
            for varied in shapes:
                change, upper = (
                    Variation(varied=varied, letter=v.name, other=w.name, within=within),
                    varied in UPPER,
                )
                here = met(o, change, point)
                if here is None or here <= 0 or not (here >= 1 if upper else here <= 1):
                    continue
                away = [Fraction(1), *(here * (step if upper else 1 / step) for step in _STEPS[1:])]
                yield Family(o, change, bad=here, first=tuple(dict.fromkeys(away)))


# ------------------------------------------------------------------------------------------- numbers


def _numbers(o: Obligation, within: Within, verdict: Verdict, point: ExactPoint | None) -> Iterator[Family]:
    claim, found = o.claim, places(o.claim)
    made: list[tuple[Variation, Fraction]] = []
    if isinstance(claim, Compare) and not any(p.outer for p in found):
        made.append((Variation(varied=Varied.FACTOR, within=within), Fraction(1)))
    for place in found:
        varied = Varied.EXPONENT if place.exponent else Varied.CONSTANT
        made.append((Variation(varied=varied, places=place.indices, within=within), place.value))
    for change, value in made:
        family = Family(o, change)
        if isinstance(claim, Compare) and claim.relation == "==":
            ratio = None
            if verdict in BROKEN and change.varied is not Varied.EXPONENT and point is not None:
                ratio = _ratio(claim, point)
            if ratio:
                yield replace(family, bad=value, first=(value * ratio, value / ratio))
            continue
        if not isinstance(claim, Compare) or claim.relation == "!=":
            continue
        ways: tuple[int, ...] = (1, -1)
        if point is not None and (way := _easier(o, change, value, point)):
            ways = (-way if verdict in HOLDS else way,)
        first = tuple(x for way in ways for x in _away(value, way, change.varied) if x > 0)
        good, bad = (value if verdict in of else None for of in (HOLDS, BROKEN))
        yield replace(family, good=good, bad=bad, first=first)


def _away(value: Fraction, way: int, varied: Varied) -> Iterator[Fraction]:
    if varied is Varied.EXPONENT:
        yield from (value + way * step for step in _MORE)
    else:
        yield from (value * times if way > 0 else value / times for times in _TIMES)


def _ratio(claim: Compare, point: ExactPoint) -> Fraction | None:
    """Left over right at a point where both are fractions, so that an equation can hold with one factor more."""
    left, right = (fraction_at(side, point) for side in (claim.left, claim.right))
    return left / right if left is not None and right is not None and left > 0 and right > 0 else None


def _easier(o: Obligation, change: Variation, value: Fraction, point: ExactPoint) -> int:
    """1 where a larger number makes the formula easier to hold near a point, -1 where harder, 0 if unknown."""
    gaps = []
    for c in (value * Fraction(101, 100), value * Fraction(99, 100)):
        form = changed(o, change, c).claim
        assert isinstance(form, Compare)
        try:
            right, left = (ball(evaluate(side, point)) for side in (form.right, form.left))
        except (UndefinedError, UnclearError, OutOfScopeError):
            return 0
        gaps.append(float(right - left))
    larger, smaller = gaps
    return 0 if math.isnan(larger - smaller) else (larger > smaller) - (larger < smaller)
