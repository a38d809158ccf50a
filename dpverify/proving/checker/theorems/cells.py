"""The checker's view of outputs through cells: what is made of outputs is no further apart than the outputs are.

Sums of multiples of what is put out are cut at numbers. Guarantees do not grow by processing: one that fails for the
chances of the cells, or for the sums, fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

from dpverify.proving.checker.reading import exact, fields, items
from dpverify.proving.checker.terms import COMPARISONS, Term, demand, names, number, symbol
from dpverify.proving.checker.theorems.divergences import Laws, guarantee
from dpverify.proving.checker.theorems.lines import Line, at, chance, plane
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    ONE,
    TRUE,
    compared,
    demand_true,
    difference,
    logic,
    made,
)
from dpverify.proving.checker.theorems.outcomes import (
    Finite,
    Image,
    Independent,
    Mixture,
    Value,
    blended,
    image,
    letters_in,
    numeric,
)

MANY = 4096  # cells
Sums = Mapping[str, Term]  # of multiples of noises, by their names; without a name, of 1


@dataclass(frozen=True)
class SumCells:
    """Sums of multiples of what is put out, and the numbers at which each is cut."""

    along: tuple[tuple[Term, ...], ...]
    cuts: tuple[tuple[Term, ...], ...]


def cells_of(value: object) -> SumCells:
    """Cells as a model gives them."""
    given = fields(value)
    demand(given.keys() == {"along", "cuts"}, "no cells")
    along, cuts = ([[*map(exact, items(row))] for row in items(given[key])] for key in ("along", "cuts"))
    demand(len(along) == len(cuts) > 0 and all(row == sorted({*row}) for row in cuts), "cuts in no order")
    demand(math.prod(len(row) + 1 for row in cuts) <= MANY, "many cells")
    rows, ends = (tuple(tuple(map(number, row)) for row in rows) for rows in (along, cuts))
    return SumCells(rows, ends)


def seen(cells: SumCells, one: Value, other: Value) -> Laws:
    """Two laws through cells: their masses or, of one sum that is not cut, lines."""
    if len(cells.cuts) == 1 and not cells.cuts[0]:
        (first,), (second,) = (lines(cells, law) for law in (one, other))
        return first, second
    return [*zip(masses(cells, one), masses(cells, other), strict=True)]


def fails(head: str, cells: SumCells, one: Value, other: Value, given: list[Term]) -> bool:
    """Whether a guarantee is seen not to hold through cells."""
    with suppress(ValueError):
        return guarantee(head, seen(cells, one, other), given) is FALSE
    return False


def masses(cells: SumCells, law: Value) -> list[Term]:
    """The chance of each cell."""
    if isinstance(law, Mixture):
        rows = [[made("mul", weight, mass) for mass in masses(cells, one)] for weight, one in law.laws]
        return [made("add", *column) for column in zip(*rows, strict=True)]
    if isinstance(law, Finite) and len(law.masses) == 1:
        values = [along(row, outputs(law)) for row in cells.along]
        each = [
            [is_between(*two, one) for two in pairwise([None, *cuts, None])]
            for one, cuts in zip(values, cells.cuts, strict=True)
        ]
        return [made("mul", *cell) for cell in product(*each)]
    if isinstance(law, Image):
        with suppress(ValueError):
            return chances(cells, law)
    below = [
        [NO, *map(line.below, cuts), ONE] for line, cuts in zip(lines(cells, law), cells.cuts, strict=True)
    ]
    each = [[difference(high, low) for low, high in pairwise(row)] for row in below]
    return [made("mul", *cell) for cell in product(*each)]


def by_cases(law: Line | Independent, x: str, pieces: list[tuple[list[Term], Value]]) -> Value:
    """The law of what has a law in each case of a number; a mixture where that does not depend on the number."""
    with suppress(ValueError):
        demand(len(pieces) > 1 and not any(x in letters_in(one) for _, one in pieces), "no mixture")
        if isinstance(law, Line):
            facts = [logic("and", *one) for one, _ in pieces]
            weights = [chance(law, x, f, partial(holds, f, x)) for f in facts]
            return blended([(w, one) for w, (_, one) in zip(weights, pieces, strict=True)])
    return image(law, x, pieces)


def is_between(low: Term | None, high: Term | None, value: Term) -> Term:
    """1 if a number is above another and not above a third, else 0; refused where that is not seen."""
    found = logic("and", *ends(low, value, high))
    demand(found in (TRUE, FALSE), "a number of which it is not seen where it is")
    return ONE if found is TRUE else NO


def outputs(law: Value) -> list[Term]:
    """The numbers that are put out, where a law has one value in what is drawn."""
    if isinstance(law, Finite):
        ((value, mass),) = law.masses
        demand(mass is ONE, "a law of several values")
        return outputs(value)
    if isinstance(law, tuple):
        return [one for part in law for one in outputs(part)]
    return [numeric(law)]


def along(row: tuple[Term, ...], values: list[Term]) -> Term:
    """A sum of multiples of what is put out."""
    return made("add", *(made("mul", w, one) for w, one in zip(row, values, strict=True)))


def chances(cells: SumCells, law: Image) -> list[Term]:
    """The chance of each cell, where what is put out is another function of one number in each of some cases."""
    line, (row,), (cuts,), found = law.law, cells.along, cells.cuts, list[Term]()
    if not isinstance(line, Line):
        raise ValueError("a law of sequences")
    values = [(facts, along(row, outputs(one))) for facts, one in law.cases]
    for low, high in pairwise([None, *cuts, None]):
        within = [logic("and", *facts, *ends(low, value, high)) for facts, value in values]
        found.append(chance(line, law.name, (f := logic("or", *within)), partial(holds, f, law.name)))
    return found


def ends(low: Term | None, value: Term, high: Term | None) -> Iterable[Term]:
    """That a value is above a number and not above another, where these are given."""
    return (
        *([] if low is None else [compared("<", low, value)]),
        *([] if high is None else [compared("<=", value, high)]),
    )


def holds(f: Term, x: str, place: Term) -> bool:
    """Whether a formula in x holds at a place."""
    if f.head in COMPARISONS:
        found = compared(f.head, *(at(part, x, place) for part in f.parts))
        demand(found in (TRUE, FALSE), "a comparison that is not decided")
        return found is TRUE
    parts = (TRUE if holds(g, x, place) else FALSE for g in f.parts)
    return logic(f.head, *parts) is TRUE


def lines(cells: SumCells, law: Value) -> list[Line]:
    """The laws of sums of multiples of what is put out, which are independent."""
    noises, known = dict[str, Line](), dict[str, Sums]()
    while isinstance(law, Image | Line):
        line, name = (law, "last") if isinstance(law, Line) else (law.law, law.name)
        if not isinstance(line, Line):
            raise ValueError("a law of sequences")
        demand(not names(line.scale), "a scale that is drawn")
        place = spread(line.at, known)
        noises[name], known[name] = line, together([(ONE, place), (ONE, {name: ONE})])
        if isinstance(law, Line):
            law = Finite(((symbol(name), ONE),))
        else:
            ((facts, law),) = law.cases
            demand(not facts, "cases")
    values = [spread(one, known) for one in outputs(law)]
    sums = [dict(together(zip(row, values, strict=True))) for row in cells.along]
    found, used = [line_of(one, noises) for one in sums], [name for one in sums for name in one if name]
    demand(len(used) == len({*used}), "sums that are not independent")
    return found


def spread(value: Term, known: Mapping[str, Sums]) -> Sums:
    """A linear function of what is drawn, as a sum of multiples of noises."""
    slopes, start = plane(value, tuple(known))
    return together([(start, {"": ONE}), *zip(slopes, known.values(), strict=True)])


def together(parts: Iterable[tuple[Term, Sums]]) -> Sums:
    """Multiples of sums, added up; what is 0 is left out."""
    found = dict[str, list[Term]]()
    for times, one in parts:
        for name, value in one.items():
            found.setdefault(name, []).append(made("mul", times, value))
    added = {name: made("add", *values) for name, values in found.items()}
    return {name: value for name, value in added.items() if compared("==", value, NO) is not TRUE}


def line_of(total: Sums, noises: Mapping[str, Line]) -> Line:
    """The law of a sum of multiples of independent noises: of one, or of several normal ones."""
    middle, kept = total.get("", NO), {name: value for name, value in total.items() if name}
    demand(kept, "a sum without noise")
    families = {noises[name].family for name in kept}
    scales = [made("mul", made("abs", value), noises[name].scale) for name, value in kept.items()]
    if len(kept) == 1:
        ((_, value),), (family,) = kept.items(), families
        if family == "exponential":
            demand_true(compared("<", NO, value), "a law turned around")
        return Line(family, middle, scales[0])
    demand(families == {"normal"}, "a sum of noises of another family")
    square = made("add", *(made("mul", one, one) for one in scales))
    return Line("normal", middle, made("pow", square, number(Fraction(1, 2))))
