"""The checker's laws of what is chosen by comparisons of independent numbers, Laplace or exponential: exact masses.

Comparisons are linear, with rational coefficients, in one number or two. One number is taken that stands in all
comparisons of two; given it, the others are independent, and each is between two ends. What is integrated over it is,
between ends, a sum of multiples of exponentials. Ends may be any numbers, as sums of multiples of some that are no
fractions: they are in order where intervals, rounded outward, show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import pairwise, product
from typing import TypeAlias, TypeVar

from dpverify.proving.checker.terms import COMPARISONS, Term, conjuncts, demand, names, number
from dpverify.proving.checker.theorems.lines import Line
from dpverify.proving.checker.theorems.numbers import FALSE, NO, ONE, TRUE, compared, difference, logic, made
from dpverify.proving.checker.theorems.outcomes import Finite, Image, Value, gathered, settled

MOST = 4096  # cases of comparisons
ZERO, HALF, WHOLE = Fraction(0), Fraction(1, 2), Fraction(1)
_Key = TypeVar("_Key")
Sum: TypeAlias = tuple[tuple[Term, Fraction], ...]
"""Multiples of numbers, that of 1 as its fraction; none is 0."""
Form: TypeAlias = tuple[tuple[tuple[str, Fraction], ...], Sum]
"""Multiples of letters, the first by 1, and a number; a comparison is whether their sum is below 0."""
Wave: TypeAlias = tuple[Fraction, Sum]
"""The function exp(slope * x + start), by slope and start."""
Waves: TypeAlias = dict[Wave, Fraction]
"""Multiples of these."""
Exponentials: TypeAlias = dict[tuple[Sum, Term], Fraction]
"""Multiples of the exponential of a number, times another number."""
Truths: TypeAlias = frozenset[tuple[Form, bool]]
ZEROS: Sum = ()
"""The number 0."""
UNIT: Sum = ((ONE, WHOLE),)
"""The number 1."""
ALWAYS: Wave = (ZERO, ZEROS)
"""The function that is 1."""


def masses_of(law: Value) -> Value:
    """The law of what is chosen by comparisons, as masses; other laws as they are."""
    with suppress(ValueError):
        return gathered(chosen(law, (), {})) if isinstance(law, Image) else law
    return law


def chosen(law: Image, facts: tuple[Term, ...], laws: Mapping[str, Line]) -> Iterator[tuple[Value, Term]]:
    """What is chosen in each case, and the chance of that case; of one case, maybe, what is left by the others."""
    line = law.law if isinstance(law.law, Line) else law.law.law
    known, left, others = {**laws, law.name: line}, list[Value](), list[Term]()
    for more, one in law.cases:
        if isinstance(one, Image):
            yield from chosen(one, (*facts, *more), known)
            continue
        demand(isinstance(one, Finite) and len(one.masses) == 1, "a case that leaves something open")
        for v, _ in getattr(one, "masses", ()):
            demand(settled(v), "a case that leaves a number open")
            try:
                others.append(chance_of_all((*facts, *more), known))
            except ValueError:
                demand(not left and not any(isinstance(one, Image) for _, one in law.cases), "two such cases")
                left.append(v)
            else:
                yield v, others[-1]
    for v in left:
        yield v, difference(chance_of_all(facts, known), made("add", NO, *others))


def chance_of_all(facts: Iterable[Term], laws: Mapping[str, Line]) -> Term:
    """The chance that all of some formulas are true; a letter `x_k` is one of independent numbers with the law of x."""
    whole, sure, before = logic("and", *facts), dict[Form, bool](), -1
    while before != len(sure):
        before = len(sure)
        for f in conjuncts(whole):
            bare = f.parts[0] if f.head == "not" else f
            if bare.head in ("<", "<=") and (form_of(bare)[0])[0]:
                sure[form_of(bare)[0]] = (f is bare) == (form_of(bare)[1] > 0)
        whole = reduced(whole, sure)
    parts, found = list[list[tuple[Truths, Exponentials]]](), Exponentials()
    for group in linked({*sure, *(form for f in atoms(whole) if (form := form_of(f)[0])[0])}):
        parts.append([*by_case(group, laws, sure).items()])
    for k, row in enumerate(product(*parts)):
        demand(k < MOST, "many cases of comparisons")
        seen = reduced(whole, dict(pair for truths, _ in row for pair in truths))
        demand(seen in (TRUE, FALSE), "a comparison that is not decided")
        if seen is TRUE:
            chance = Exponentials({(ZEROS, ONE): WHOLE})
            for _, one in row:
                chance = summed(
                    ((plus(a, b), made("mul", c, d)), v * w)
                    for ((a, c), v), ((b, d), w) in product(chance.items(), one.items())
                )
            found = summed((*found.items(), *chance.items()))
    return made(
        "add", NO, *(made("mul", number(v), c, made("exp", term_of(a))) for (a, c), v in found.items())
    )


def summed(terms: Iterable[tuple[_Key, Fraction]]) -> dict[_Key, Fraction]:
    """A sum of multiples, equal ones put together."""
    found = dict[_Key, Fraction]()
    for one, times in terms:
        found[one] = found.get(one, ZERO) + times
    return {one: times for one, times in found.items() if times}


# ------------------------------------------------------------------------------------------- numbers


def sum_of(parts: Iterable[tuple[Term, Fraction]]) -> Sum:
    """A sum of multiples of numbers, in one order."""
    return (*sorted(summed(parts).items(), key=lambda part: str(part[0])),)


def plus(one: Sum, other: Sum, times: Fraction = WHOLE) -> Sum:
    """The sum of a number and a multiple of another."""
    return sum_of((*one, *((e, c * times) for e, c in other)))


def term_of(value: Sum) -> Term:
    """A number as a term."""
    return made("add", NO, *(made("mul", number(c), e) for e, c in value))


def sign(value: Sum) -> int:
    """-1, 0 or 1; refused where that is not seen."""
    e = term_of(value)
    for known, head, sides in ((0, "==", (e, NO)), (1, "<", (NO, e)), (-1, "<", (e, NO))):
        if compared(head, *sides) is TRUE:
            return known
    raise ValueError("numbers in an unknown order")


def ratio(one: Sum, other: Sum) -> Fraction | None:
    """By which fraction a number is a multiple of another, where that is seen."""
    parts, whole = dict(one), dict(other)
    found = {parts.get(e, ZERO) / c for e, c in whole.items()}
    return found.pop() if len(found) == 1 and parts.keys() <= whole.keys() else None


def order(one: Sum, other: Sum) -> int:
    """-1, 0 or 1 for numbers that are below one another, equal, or above."""
    return sign(plus(one, other, -WHOLE))


def in_order(values: Iterable[Sum]) -> list[Sum]:
    """Numbers from the least on, equal ones once."""
    found = list[Sum]()
    for one in sorted({*values}, key=cmp_to_key(order)):
        if not found or order(one, found[-1]):
            found.append(one)
    return found


# --------------------------------------------------------------------------------------- comparisons


def atoms(f: Term) -> Iterator[Term]:
    """The comparisons of a formula."""
    if f.head in ("and", "or", "not"):
        for part in f.parts:
            yield from atoms(part)
    else:
        demand(f.head in COMPARISONS, "no comparison")
        yield f


def affine(e: Term) -> tuple[dict[str, Fraction], Sum]:
    """The multiples of letters of which a term is the sum, and a number."""
    if e.head == "sym":
        return {e.name: WHOLE}, ZEROS
    if e.head == "num":
        return {}, plus(ZEROS, UNIT, e.number)
    if e.head not in ("add", "mul"):
        demand(not names(e), "a comparison that is not linear")
        return {}, ((e, WHOLE),)
    parts = [*map(affine, e.parts)]
    if e.head == "add":
        letters = summed(one for found, _ in parts for one in found.items())
        return letters, sum_of(one for _, start in parts for one in start)
    fractions = [None if found else ratio(start, UNIT) for found, start in parts]
    others = [part for part, fraction in zip(parts, fractions, strict=True) if fraction is None]
    times = WHOLE
    for fraction in fractions:
        times *= WHOLE if fraction is None else fraction
    if len(others) > 1:
        demand(not any(found for found, _ in others), "a comparison that is not linear")
        others = [({}, ((made("mul", *(term_of(start) for _, start in others)), WHOLE),))]
    found, start = others[0] if others else ({}, UNIT)
    return summed((x, c * times) for x, c in found.items()), plus(ZEROS, start, times)


@lru_cache(10**4)
def form_of(f: Term) -> tuple[Form, Fraction]:
    """A comparison's form, and by what it was divided."""
    letters, start = affine(made("add", f.parts[0], made("mul", number(-1), f.parts[1])))
    times = letters[min(letters)] if letters else WHOLE
    return (tuple((x, c / times) for x, c in sorted(letters.items())), plus(ZEROS, start, 1 / times)), times


def reduced(f: Term, known: Mapping[Form, bool]) -> Term:
    """A formula where it is known of forms whether they are below 0; none with a letter is 0."""
    if f.head in ("and", "or", "not"):
        return logic(f.head, *(reduced(part, known) for part in f.parts))
    form, times = form_of(f)
    if not form[0]:
        found = compared(f.head, term_of(form[1]), NO)
        demand(found in (TRUE, FALSE), "numbers in an unknown order")
        return found
    if f.head in ("==", "!="):
        return FALSE if f.head == "==" else TRUE
    return (TRUE if known[form] == (times > 0) else FALSE) if form in known else f


def linked(forms: set[Form]) -> list[set[Form]]:
    """Forms put together with those that share a letter."""
    found = list[set[Form]]()
    for form in sorted(forms, key=str):
        letters = {x for x, _ in form[0]}
        near = [one for one in found if letters & {x for other in one for x, _ in other[0]}]
        found = [one for one in found if one not in near] + [{form}.union(*near)]
    return found


# ------------------------------------------------------------------------------------------- chances


def below(family: str, cut: Wave, x: Sum) -> Waves:
    """The chance of what is below slope * x + start, for all x on the same side of where that is 0."""
    slope, start = cut
    if sign(plus(start, x, slope)) < 0:
        return {} if family == "exponential" else {cut: HALF}
    part = WHOLE if family == "exponential" else HALF
    return summed([(ALWAYS, WHOLE), ((-slope, plus(ZEROS, start, -WHOLE)), -part)])


def density(family: str, x: Sum) -> Waves:
    """The density, of scale 1, at all numbers on the same side of 0 as x."""
    side = 1 if sign(x) < 0 else -1
    if family == "exponential":
        return {} if side == 1 else {(-WHOLE, ZEROS): WHOLE}
    return {(Fraction(side), ZEROS): HALF}


def law_of(x: str, laws: Mapping[str, Line]) -> Line:
    """The law of a letter; refused for other families."""
    demand(x.split("_")[0] in laws, "a number without a law")
    law = laws[x.split("_")[0]]
    demand(law.family in ("laplace", "exponential"), "what is chosen by other noises")
    return law


def scaled(forms: Iterable[Form], lines: Mapping[str, Line], unit: Sum) -> Iterator[tuple[Form, Form]]:
    """Forms with what they are of noises around 0 of scale 1, in a unit."""
    inverse = made("pow", term_of(unit), number(-1))
    for form in forms:
        letters, start = dict[str, Fraction](), form[1]
        for x, c in form[0]:
            share = ratio(affine(lines[x].scale)[1], unit)
            if share is None:
                raise ValueError("noises whose scales are in no ratio of whole numbers")
            letters[x], start = c * share, plus(start, affine(lines[x].at)[1], c)
        times, root = ratio(start, unit), ratio(unit, UNIT)
        if times is not None or root is not None:
            start = plus(ZEROS, start, 1 / root) if root is not None else plus(ZEROS, UNIT, times or ZERO)
        else:
            start = sum_of((made("mul", e, inverse), c) for e, c in start)
        yield form, ((*letters.items(),), start)


def by_case(
    forms: set[Form], laws: Mapping[str, Line], sure: Mapping[Form, bool]
) -> dict[Truths, Exponentials]:
    """For each case of forms that share letters, its chance; of cases in which some are as they have to be."""
    letters = sorted({x for form in forms for x, _ in form[0]})
    shared = [x for x in letters if all(len(form[0]) == 1 or x in dict(form[0]) for form in forms)]
    demand(shared and all(len(form[0]) <= 2 for form in forms), "comparisons without a number in common")
    pivot, lines = shared[0], {x: law_of(x, laws) for x in letters}
    seen = dict(scaled(sorted(forms, key=str), lines, affine(lines[pivot].scale)[1]))
    own = {
        form: plus(ZEROS, start, -1 / row[0][1])
        for form, (row, start) in seen.items()
        if {*dict(row)} == {pivot}
    }
    cuts = {
        x: {form: cut_of(one, pivot, x) for form, one in seen.items() if x in dict(form[0])}
        for x in letters
        if x != pivot
    }
    rows = [[ALWAYS, *cuts[x].values()] for x in cuts]
    places = {ZEROS, *own.values()}.union(
        plus(ZEROS, plus(d, b, -WHOLE), 1 / (a - c)) for row in rows for a, b in row for c, d in row if a != c
    )
    found, ends = dict[Truths, Exponentials](), in_order(places)
    for low, high in [(None, ends[0]), *pairwise(ends), (ends[-1], None)]:
        middle = plus(plus(ZEROS, low or ZEROS, HALF), high or ZEROS, HALF)
        x = plus(ends[0], UNIT, -WHOLE) if low is None else plus(ends[-1], UNIT) if high is None else middle
        truths = frozenset((form, order(x, end) < 0) for form, end in own.items())
        row: list[list[tuple[Truths, Waves]]] = [[(truths, density(lines[pivot].family, x))]]
        row += [[*between(letter, cuts[letter], lines[letter].family, x)] for letter in cuts]
        row = [
            [one for one in part if all(sure.get(form, is_) == is_ for form, is_ in one[0])] for part in row
        ]
        for k, cases in enumerate(product(*row)):
            demand(k < MOST, "many cases of comparisons")
            truths = Truths().union(*(one for one, _ in cases))
            waves = Waves({ALWAYS: WHOLE})
            for _, wave in cases:
                waves = summed(
                    ((a + c, plus(b, d)), v * w)
                    for ((a, b), v), ((c, d), w) in product(waves.items(), wave.items())
                )
            found[truths] = summed((*found.get(truths, {}).items(), *integral(waves, low, high)))
    return found


def cut_of(form: Form, pivot: str, x: str) -> Wave:
    """Slope and start of the number at which a form is 0, as a function of the pivot."""
    times = dict(form[0])
    return -times.get(pivot, ZERO) / times[x], plus(ZEROS, form[1], -1 / times[x])


def between(x: str, cuts: Mapping[Form, Wave], family: str, at: Sum) -> Iterator[tuple[Truths, Waves]]:
    """For each case of the forms of x, its chance, where the pivot is near a number."""

    def in_row(one: Wave, other: Wave) -> int:
        return order(*(plus(start, at, slope) for slope, start in (one, other)))

    ends = sorted({*cuts.values()}, key=cmp_to_key(in_row))
    reached = [Waves(), *(below(family, cut, at) for cut in ends), {ALWAYS: WHOLE}]
    for k, (low, high) in enumerate(pairwise(reached)):
        yield (
            frozenset((form, (cut not in ends[:k]) == (dict(form[0])[x] > 0)) for form, cut in cuts.items()),
            summed((*high.items(), *((wave, -times) for wave, times in low.items()))),
        )


def integral(waves: Waves, low: Sum | None, high: Sum | None) -> Iterator[tuple[tuple[Sum, Term], Fraction]]:
    """The integral of a sum of multiples of exponentials between two ends, or from or to infinity."""
    for (slope, start), times in waves.items():
        if not slope:
            demand(low is not None and high is not None, "an integral without a value")
            yield from (((start, e), times * c) for e, c in plus(high or ZEROS, low or ZEROS, -WHOLE))
            continue
        for end, side in ((high, 1), (low, -1)):
            demand(end is not None or slope * side < 0, "an integral without a value")
            if end is not None:
                yield (plus(start, end, slope), ONE), side * times / slope
