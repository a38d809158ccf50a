"""The checker's trees of boxes, replayed with its intervals; a claim is read as f = right - left >= 0 or > 0."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from dpverify.proving.checker import follow, intervals
from dpverify.proving.checker.intervals import between
from dpverify.proving.checker.reading import Theorem, exact, fields, items, text
from dpverify.proving.checker.terms import (
    Term,
    Unknown,
    conjuncts,
    demand,
    make,
    minus,
    names,
    negative,
    number,
    plain,
    slope,
    symbol,
    term,
)  # fmt: skip
from dpverify.proving.checker.values import ValueRange, Values, compare

Box = dict[str, ValueRange]


def lower(f: Term, box: Box, precision: int) -> int:
    """A lower bound of a term on a box, in units of 2^-precision, from its interval or its mean-value form."""
    here = Values(box, precision)
    low = here.interval(f).low
    if low < 0:
        middle = {x: ValueRange(*((side.low + side.high) / 2,) * 2) for x, side in box.items()}
        found = [Values(middle, precision).interval(f)]
        for x, side in box.items():
            half = (side.high - side.low) / 2
            rate, way = here.interval(slope(f, x)), between(-half, half, precision)
            found.append(intervals.product(precision, rate, way))
        low = max(low, intervals.total(*found).low)
    return low


@dataclass(frozen=True)
class BoxGoal:
    """That f >= 0, or f > 0, on a box where all that is given holds; edges leave names that are integers no longer."""

    f: Term
    strict: bool
    box: Box
    given: tuple[Term, ...]
    integers: frozenset[str]

    def replay(self, tree: object) -> None:
        """Refuse unless a tree shows it."""
        match tree:
            case ["0" | "+" | "m" | "n", *more]:  # with a letter more for each time that it is split here
                self.leaf(items(tree), len(more))
            case ["="]:
                fixed = [x for x, side in self.box.items() if side.low == side.high]
                f = reduce(lambda g, x: make("at", (g, number(self.box[x].low)), x), fixed, self.f)
                over = (Unknown(x, "real", s.low, False, s.high, False) for x, s in self.box.items())
                follow(Theorem((*over,), (), term("<" if self.strict else "<=", number(0), f)))
            case ["-"]:
                demand(any(compare(g, self.box) < 0 for g in self.given), "all assumptions may hold")
            case ["s", str(x), cut, below, above]:
                self.split(x, exact(cut), below, above)
            case ["e", str(x), ("lower" | "upper") as end, edge, rise]:
                self.edge(x, text(end) == "upper", edge, rise)
            case _:
                raise ValueError(f"not understood: {str(tree)[:60]}")

    def leaf(self, tree: list[object], times: int) -> None:
        """Show it by intervals, or on both halves of the box."""
        wide = [x for x, side in self.box.items() if side.low < side.high]
        with suppress(ValueError):
            if lower(self.f, self.box, 96 if wide and times < 5 else 1024) >= self.strict:
                return
        demand(times < 6 and wide, "not shown, or perhaps undefined, on a box")
        x = wide[times % len(wide)]
        self.split(x, (self.box[x].low + self.box[x].high) / 2, [*tree, "+"], [*tree, "+"])

    def split(self, x: str, cut: Fraction, below: object, above: object) -> None:
        """Show it on both sides of a cut."""
        side = self.box[x]
        demand(side.low <= cut <= side.high, "a split that is not in its box")
        top, bottom = (Fraction(cut // 1), Fraction(cut // 1 + 1)) if x in self.integers else (cut, cut)
        for tree, low, high in ((below, side.low, top), (above, bottom, side.high)):
            if low <= high:
                replace(self, box={**self.box, x: ValueRange(low, high)}).replay(tree)

    def edge(self, x: str, upper: bool, edge: object, rise: object) -> None:
        """Show it at an end of the box, and that f does not fall from there."""
        end = self.box[x].high if upper else self.box[x].low
        given = tuple(g for g in self.given if x not in names(g))
        here = replace(self, given=given, integers=self.integers - {x})
        replace(here, box={**self.box, x: ValueRange(end, end)}).replay(edge)
        away = slope(self.f, x)
        away = negative(away) if upper else away
        defined = minus(away, term("mul", number(0), self.f))  # undefined where f is
        replace(here, f=defined, strict=False).replay(rise)


def ends(given: list[Term], name: str, side: int) -> list[Fraction]:
    """The numbers that comparisons put below a name (above it, for side 0)."""
    bounds = [f.parts for f in given if f.head in ("<=", "<") and f.parts[side] is symbol(name)]
    return [pair[1 - side].number for pair in bounds if pair[1 - side].head == "num"]


def show(problem: Theorem, proof: dict[str, object], witness: object) -> str:
    """The verdict of a tree of boxes, where a witness lies in domain and box."""
    demand(problem.claim.head in ("<=", "<"), "no inequality")
    box, sides, whole = Box(), fields(proof["box"]), True
    integers = frozenset(v.name for v in problem.variables if v.kind == "integer")
    given = conjuncts(*problem.assuming)
    for v in problem.variables:
        low, high = map(exact, items(sides[v.name]))
        demand(low <= exact(fields(witness)[v.name]) <= high, "a witness that is not in the box")
        whole &= any(low <= end for end in (v.lower, *ends(given, v.name, 1)) if end is not None)
        whole &= any(end <= high for end in (v.upper, *ends(given, v.name, 0)) if end is not None)
        box[v.name] = ValueRange(*(low + -low % 1, high - high % 1) if v.name in integers else (low, high))
    f = minus(*map(plain, problem.claim.parts[::-1]))
    BoxGoal(f, problem.claim.head == "<", box, problem.assuming, integers).replay(proof["tree"])
    return "proved" if whole else "certified"
