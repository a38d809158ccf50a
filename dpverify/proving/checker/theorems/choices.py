"""The checker's laws of what is chosen by comparisons of independent numbers, Laplace or exponential: exact masses.

Comparisons are linear, with rational coefficients, in one number or two. One number is taken that stands in all
comparisons of two; given it, the others are independent, and each is between two ends. What is integrated over it is,
between rational ends, a sum of multiples of exponentials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import TypeAlias, TypeVar

from dpverify.proving.checker.terms import COMPARISONS, Term, conjuncts, demand, number
from dpverify.proving.checker.theorems.lines import Line
from dpverify.proving.checker.theorems.numbers import logic, made
from dpverify.proving.checker.theorems.outcomes import Finite, Image, Value, gathered, settled

MOST = 4096  # cases of comparisons
ZERO, HALF = Fraction(0), Fraction(1, 2)
_Key = TypeVar("_Key")
Form: TypeAlias = tuple[tuple[tuple[str, Fraction], ...], Fraction]
"""Multiples of letters, the first by 1, and a number; a comparison is whether their sum is below 0."""
Waves: TypeAlias = dict[tuple[Fraction, Fraction], Fraction]
"""Multiples of exp(slope * x + start), by slope and start."""
Exponentials: TypeAlias = dict[Fraction, Fraction]
"""Multiples of exponentials of numbers."""
Truths: TypeAlias = frozenset[tuple[Form, bool]]


def masses_of(law: Value) -> Value:
    """The law of what is chosen by comparisons, as masses; other laws as they are."""
    with suppress(ValueError):
        return gathered(chosen(law, (), {})) if isinstance(law, Image) else law
    return law


def chosen(law: Image, facts: tuple[Term, ...], laws: Mapping[str, Line]) -> Iterator[tuple[Value, Term]]:
    """What is chosen in each case, and the chance of that case."""
    line = law.law if isinstance(law.law, Line) else law.law.law
    known = {**laws, law.name: line}
    for more, one in law.cases:
        if isinstance(one, Image):
            yield from chosen(one, (*facts, *more), known)
        else:
            demand(isinstance(one, Finite) and len(one.masses) == 1, "a case that leaves something open")
            for v, _ in getattr(one, "masses", ()):
                demand(settled(v), "a case that leaves a number open")
                yield v, chance_of_all((*facts, *more), known)


def chance_of_all(facts: Iterable[Term], laws: Mapping[str, Line]) -> Term:
    """The chance that all of some formulas are true; a letter `x_k` is one of independent numbers with the law of x."""
    whole = logic("and", *facts)
    sure = {form_of(f)[0]: form_of(f)[1] > 0 for f in conjuncts(whole) if f.head in ("<", "<=")}
    parts, found = list[list[tuple[Truths, Exponentials]]](), Exponentials()
    for group in linked({form for f in atoms(whole) if (form := form_of(f)[0])[0]}):
        parts.append([*by_case(group, laws, sure).items()])
    for k, row in enumerate(product(*parts)):
        demand(k < MOST, "many cases of comparisons")
        if true(whole, dict(pair for truths, _ in row for pair in truths)):
            chance = Exponentials({Fraction(0): Fraction(1)})
            for _, one in row:
                chance = summed((a + b, v * w) for (a, v), (b, w) in product(chance.items(), one.items()))
            found = summed((*found.items(), *chance.items()))
    return made(
        "add", number(0), *(made("mul", number(v), made("exp", number(a))) for a, v in sorted(found.items()))
    )


def summed(terms: Iterable[tuple[_Key, Fraction]]) -> dict[_Key, Fraction]:
    """A sum of multiples, equal ones put together."""
    found = dict[_Key, Fraction]()
    for one, times in terms:
        found[one] = found.get(one, ZERO) + times
    return {one: times for one, times in found.items() if times}


# --------------------------------------------------------------------------------------- comparisons


def atoms(f: Term) -> Iterator[Term]:
    """The comparisons of a formula."""
    if f.head in ("and", "or", "not"):
        for part in f.parts:
            yield from atoms(part)
    else:
        demand(f.head in COMPARISONS, "no comparison")
        yield f


def affine(e: Term) -> tuple[dict[str, Fraction], Fraction]:
    """The multiples of letters of which a term is the sum, and a number."""
    if e.head in ("num", "sym"):
        return ({}, e.number) if e.head == "num" else ({e.name: Fraction(1)}, Fraction(0))
    demand(e.head in ("add", "mul"), "a comparison that is not linear")
    parts = [*map(affine, e.parts)]
    if e.head == "mul":
        demand(sum(bool(letters) for letters, _ in parts) <= 1, "a comparison that is not linear")
        times = Fraction(1)
        for letters, start in parts:
            times *= Fraction(1) if letters else start
        letters, start = next((part for part in parts if part[0]), ({}, Fraction(1)))
        return {x: c * times for x, c in letters.items()}, start * times
    found = dict[str, Fraction]()
    for letters, _ in parts:
        for x, c in letters.items():
            found[x] = found.get(x, Fraction(0)) + c
    return {x: c for x, c in found.items() if c}, sum((start for _, start in parts), Fraction(0))


def form_of(f: Term) -> tuple[Form, Fraction]:
    """A comparison's form, and by what it was divided."""
    letters, start = affine(made("add", f.parts[0], made("mul", number(-1), f.parts[1])))
    times = letters[min(letters)] if letters else Fraction(1)
    return (tuple((x, c / times) for x, c in sorted(letters.items())), start / times), times


def true(f: Term, known: Mapping[Form, bool]) -> bool:
    """Whether a formula is true where it is known of forms whether they are below 0; none of them is 0."""
    if f.head in ("and", "or"):
        return (all if f.head == "and" else any)(true(part, known) for part in f.parts)
    if f.head == "not":
        return not true(f.parts[0], known)
    form, times = form_of(f)
    if not form[0]:
        start = form[1]
        return {"<=": start <= 0, "<": start < 0, "==": start == 0, "!=": start != 0}[f.head]
    return f.head == "!=" or (f.head != "==" and known[form] == (times > 0))


def linked(forms: set[Form]) -> list[set[Form]]:
    """Forms put together with those that share a letter."""
    found = list[set[Form]]()
    for form in sorted(forms):
        letters = {x for x, _ in form[0]}
        near = [one for one in found if letters & {x for other in one for x, _ in other[0]}]
        found = [one for one in found if one not in near] + [{form}.union(*near)]
    return found


# ------------------------------------------------------------------------------------------- chances


@dataclass(frozen=True)
class RationalNoise:
    """A law of a family, with rational numbers."""

    family: str
    at: Fraction
    scale: Fraction

    def below(self, slope: Fraction, start: Fraction, x: Fraction) -> Waves:
        """The chance of what is below slope * x + start, for all x on the same side of where that is the location."""
        part = Fraction(1) if self.family == "exponential" else HALF
        wave = slope / self.scale, (start - self.at) / self.scale
        if slope * x + start < self.at:
            return {} if self.family == "exponential" else {wave: HALF}
        return summed([((ZERO, ZERO), Fraction(1)), ((-wave[0], -wave[1]), -part)])

    def density(self, x: Fraction) -> Waves:
        """The density at all numbers on the same side of the location as x."""
        part, side = Fraction(1) if self.family == "exponential" else HALF, 1 if x < self.at else -1
        if side == 1 and self.family == "exponential":
            return {}
        return {(side / self.scale, -side * self.at / self.scale): part / self.scale}


def noise_of(x: str, laws: Mapping[str, Line]) -> RationalNoise:
    """The law of a letter; refused for other families, and for other numbers."""
    demand(x.split("_")[0] in laws, "a number without a law")
    law = laws[x.split("_")[0]]
    demand(law.family in ("laplace", "exponential"), "what is chosen by other noises")
    demand(law.at.head == law.scale.head == "num", "noises that are no fractions")
    return RationalNoise(law.family, law.at.number, law.scale.number)


def by_case(
    forms: set[Form], laws: Mapping[str, Line], sure: Mapping[Form, bool]
) -> dict[Truths, Exponentials]:
    """For each case of forms that share letters, its chance; of cases in which some are as they have to be."""
    letters = sorted({x for form in forms for x, _ in form[0]})
    shared = [x for x in letters if all(len(form[0]) == 1 or x in dict(form[0]) for form in forms)]
    demand(shared and all(len(form[0]) <= 2 for form in forms), "comparisons without a number in common")
    pivot, noises = shared[0], {x: noise_of(x, laws) for x in letters}
    own = {form: -form[1] for form in forms if [x for x, _ in form[0]] == [pivot]}
    cuts = {
        x: {form: cut_of(form, pivot, x) for form in forms if x in dict(form[0])}
        for x in letters
        if x != pivot
    }
    lines = [[(ZERO, noises[x].at), *cuts[x].values()] for x in cuts]
    places = {noises[pivot].at, *own.values()}.union(
        (d - b) / (a - c) for row in lines for a, b in row for c, d in row if a != c
    )
    found, ends = dict[Truths, Exponentials](), sorted(places)
    for low, high in [(None, ends[0]), *pairwise(ends), (ends[-1], None)]:
        x = (high or ZERO) - 1 if low is None else low + 1 if high is None else (low + high) / 2
        row: list[list[tuple[Truths, Waves]]] = [
            [(frozenset((form, x < end) for form, end in own.items()), noises[pivot].density(x))]
        ]
        row += [[*between(letter, cuts[letter], noises[letter], x)] for letter in cuts]
        row = [
            [one for one in part if all(sure.get(form, is_) == is_ for form, is_ in one[0])] for part in row
        ]
        for k, cases in enumerate(product(*row)):
            demand(k < MOST, "many cases of comparisons")
            truths = Truths().union(*(one for one, _ in cases))
            waves = Waves({(ZERO, ZERO): Fraction(1)})
            for _, wave in cases:
                waves = summed(
                    ((a + c, b + d), v * w)
                    for ((a, b), v), ((c, d), w) in product(waves.items(), wave.items())
                )
            found[truths] = summed((*found.get(truths, {}).items(), *integral(waves, low, high)))
    return found


def cut_of(form: Form, pivot: str, x: str) -> tuple[Fraction, Fraction]:
    """Slope and start of the number at which a form is 0, as a function of the pivot."""
    times = dict(form[0])
    return -times.get(pivot, ZERO) / times[x], -form[1] / times[x]


def between(
    x: str, cuts: Mapping[Form, tuple[Fraction, Fraction]], noise: RationalNoise, at: Fraction
) -> Iterator[tuple[Truths, Waves]]:
    """For each case of the forms of x, its chance, where the pivot is near a number."""
    ends = sorted({slope * at + start: (slope, start) for slope, start in cuts.values()}.items())
    reached = [Waves(), *(noise.below(*cut, at) for _, cut in ends), {(ZERO, ZERO): Fraction(1)}]
    for k, (low, high) in enumerate(pairwise(reached)):
        above = {end for end, _ in ends[:k]}
        yield (
            frozenset(
                (form, (slope * at + start not in above) == (dict(form[0])[x] > 0))
                for form, (slope, start) in cuts.items()
            ),
            summed((*high.items(), *((wave, -times) for wave, times in low.items()))),
        )


def integral(
    waves: Waves, low: Fraction | None, high: Fraction | None
) -> Iterator[tuple[Fraction, Fraction]]:
    """The integral of a sum of multiples of exponentials between two ends, or from or to infinity."""
    for (slope, start), times in waves.items():
        if not slope:
            demand(low is not None and high is not None, "an integral without a value")
            yield start, times * ((high or ZERO) - (low or ZERO))
            continue
        for end, sign in ((high, 1), (low, -1)):
            demand(end is not None or slope * sign < 0, "an integral without a value")
            if end is not None:
                yield slope * end + start, sign * times / slope
