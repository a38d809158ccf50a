"""Sizes that letters have in practice: the one place that says which, for counterexamples at such sizes.

What a letter is, its declaration says (`Variable.size`), or its unit. What is not known by these is given a range by
its domain. No range depends on where a letter stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.units import RECORDS
from dpverify.ledger.facts import PracticalSize

Exact = int | Fraction


@dataclass(frozen=True)
class LogOf:
    """The logarithm of a quotient of products of numbers and letters, as a declaration says it: `log(n/delta)`."""

    factor: Fraction
    above: tuple[str, ...]
    below: tuple[str, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """All of its letters."""
        return (*self.above, *self.below)

    def value(self, letters: Mapping[str, float]) -> float:
        """Its value; NaN where there is none."""
        inside = self.inside(letters)
        return math.log(inside) if inside > 0 else math.nan

    def inside(self, letters: Mapping[str, float]) -> float:
        """What it is the logarithm of; NaN where there is nothing."""
        inside = float(self.factor) * math.prod(letters[x] for x in self.above)
        return inside / (math.prod(letters[x] for x in self.below) or math.nan)

    def rounded(self, letters: Mapping[str, float]) -> Fraction | None:
        """Its value with two decimals, which is what a letter for it is given; None where there is none."""
        value = self.value(letters)
        return None if math.isnan(value) else Fraction(round(100 * value), 100)


@dataclass(frozen=True)
class Size:
    """What a letter is, such as `number of records`, and the range that it has in practice."""

    what: str
    low: Fraction
    high: Fraction
    typical: Fraction
    """What is tried first; other values follow by how far they are from it, in powers of ten."""
    known: bool = True
    """Whether the range is about what the letter is; else it only follows from domain or unit."""
    log_of: LogOf | None = None
    """For a logarithm, of what; it is tied to those of its letters that stand in the same formula."""

    def holds(self, value: Fraction) -> bool:
        """Whether a value is of this size."""
        return self.low <= value <= self.high

    def recorded(self, *, ranged: bool = True) -> PracticalSize:
        """As the ledger keeps it; without its range where the assumptions bound the letter instead."""
        low, high = (str(self.low), str(self.high)) if ranged else (None, None)
        return PracticalSize(
            what=self.what, low=low, high=high, log_of=self.log_of.letters if self.log_of else ()
        )


def _chosen(what: str, low: Exact, high: Exact, typical: Exact) -> Size:
    """The sizes of a pure number that people choose."""
    return Size(what, Fraction(low), Fraction(high), Fraction(typical))


_RECORDS = _chosen("number of records", 100, 10**6, 1000)
_SOME_RECORDS = _chosen("number of some records, or a position", 10, 10**6, 100)
_DIMENSION = _chosen("dimension", 1, 5000, 100)
_EPSILON = _chosen("epsilon", Fraction(1, 10), 10, 1)
_DELTA = _chosen("delta", Fraction(1, 10**12), Fraction(1, 1000), Fraction(1, 10**6))
_ACCURACY = _chosen("accuracy", Fraction(1, 1000), Fraction(1, 2), Fraction(1, 10))

KNOWN = (
    _RECORDS,
    _DIMENSION,
    _chosen("zCDP parameter", Fraction(1, 10**4), 10, Fraction(1, 10)),
    _EPSILON,
    _DELTA,
    _chosen("failure probability", Fraction(1, 10**6), Fraction(1, 10), Fraction(1, 1000)),
    _chosen("Renyi order", Fraction(5, 4), 256, 2),
    _SOME_RECORDS,
    _chosen("number of phases", 2, 50, 10),
    _chosen("number of steps, queries or the like", 10, 10**6, 1000),
    _ACCURACY,
)
"""What letters may be declared as."""
_NAMED = {kind.what: kind for kind in KNOWN}

_BY_LETTER = {
    "n": _RECORDS, "delta": _DELTA, "epsilon": _EPSILON, "p": _DIMENSION, "d": _DIMENSION, "alpha": _ACCURACY,
}  # fmt: skip
"""What letters mean inside of a logarithm, where they do not stand in the formula themselves."""

SMALL, LARGE = Fraction(1, 1000), Fraction(1000)
"""The range of a positive quantity whose size is not known."""
FEW, SEVERAL, MANY = Fraction(1), Fraction(100), Fraction(10**6)
"""The range of an integer whose size is not known, from 1 on, and what is tried first."""


def sizes_of(letters: Iterable[Variable]) -> dict[str, Size]:
    """The sizes of a formula's letters, by name; vectors have none."""
    plain = {v: None if v.kind == "vector" else _known(v) or _by_domain(v) for v in letters}
    named = {v.name: size for v, size in plain.items()}
    sized = ((v, size) for v, size in plain.items() if size is not None)
    return {v.name: size if size.known else _logarithm(v, named) or size for v, size in sized}


def check_size(v: Variable) -> None:
    """Refuse a size that nobody knows, and one of a letter in a unit of loss or length, or of a vector."""
    if not v.size:
        return
    if v.unit.loss or v.unit.length or v.kind == "vector":
        raise InvalidArgumentError("size", v.size, "nothing for a vector, or in a unit of loss or length")
    if v.size not in _NAMED and _log_of(v.size) is None:
        allowed = f"{', '.join(_NAMED)}; or a logarithm such as `log(n/delta)`"
        raise InvalidArgumentError("size", v.size, allowed)


def _known(v: Variable) -> Size | None:
    return _NAMED.get(v.size) or (_SOME_RECORDS if v.unit.name == RECORDS.name and not v.size else None)


_LOG = re.compile(r"(?:log|ln) ?(?:\(([^()/]+)(?: ?/ ?(?:([^()/ ]+)|\(([^()/]+)\)))?\)|(\w+))")


def _logarithm(v: Variable, plain: Mapping[str, Size | None]) -> Size | None:
    """The sizes of a natural logarithm of what has sizes, in the formula or elsewhere; known where all of these are."""
    of = _log_of(v.size)
    if of is None:
        return None
    found = [(x, {**_BY_LETTER, **plain}.get(x)) for x in of.letters]
    sizes = {x: size for x, size in found if size is not None}
    if not sizes or len(sizes) < len({*of.letters}) or any(size.low <= 0 for size in sizes.values()):
        return None
    least = {x: s.low if x in of.above else s.high for x, s in sizes.items()}
    most = {x: s.high if x in of.above else s.low for x, s in sizes.items()}
    middle = {x: s.typical for x, s in sizes.items()}
    low, high, typical = (of.value({x: float(q) for x, q in ends.items()}) for ends in (least, most, middle))
    lowest, highest = max(Fraction(math.ceil(10 * low), 10), SMALL), Fraction(math.floor(10 * high), 10)
    if lowest > highest:  # letters that stand for something else, such as p in log(1/p)
        return None
    first = min(max(Fraction(round(typical)), lowest), highest)
    known = all(size.known for size in sizes.values())
    return Size(v.size, lowest, highest, first, known=known, log_of=of)


def _log_of(size: str) -> LogOf | None:
    found = _LOG.fullmatch(size)
    if found is None:
        return None
    above, one, several, bare = found.groups()
    factor, letters = Fraction(1), ([], [])  # type: tuple[Fraction, tuple[list[str], list[str]]]
    for place, text in enumerate((above or bare, one or several or "")):
        for part in text.split():
            if re.fullmatch(r"\d+(\.\d+)?", part):
                factor *= Fraction(part) if place == 0 else 1 / Fraction(part)
            elif re.fullmatch(r"[A-Za-z]\w*", part):
                letters[place].append(part)
            else:
                return None
    return LogOf(factor, tuple(letters[0]), tuple(letters[1]))


def _by_domain(v: Variable) -> Size:
    """The range that is taken where nothing says what a letter is, cut to its domain; it is never empty."""
    low, high = v.lower, v.upper
    if v.kind == "integer":
        positive = low is not None and low >= 0 and (high is None or high > SEVERAL)
        first, last = _cut(FEW if positive else -SEVERAL, MANY, v)
        typical = min(SEVERAL, max(abs(first), abs(last), FEW))
        return Size("an integer of no known size", first, last, max(first, typical), known=False)
    what = "of no known size" if v.unit.loss == v.unit.length == 0 else "of any scale"
    if low is not None and high is not None:
        first = SMALL if low == 0 and high > SMALL else low
        return Size(what, first, high, high if first > 0 else Fraction(1), known=False)
    first, last = _cut(SMALL if low == 0 else -LARGE, LARGE, v)
    return Size(what, first, last, max(Fraction(1), first), known=False)


def _cut(low: Fraction, high: Fraction, v: Variable) -> tuple[Fraction, Fraction]:
    """A range cut to a letter's domain; where they do not meet, one of numbers up to ten times its nearest end."""
    first = low if v.lower is None else max(low, v.lower)
    last = high if v.upper is None else min(high, v.upper)
    if v.lower is not None and 10 * v.lower > last:
        last = 10 * v.lower if v.upper is None else min(10 * v.lower, v.upper)
    if v.upper is not None and 10 * v.upper < first:
        first = 10 * v.upper if v.lower is None else max(10 * v.upper, v.lower)
    return first, last


_DIGITS = {1: 0.0, 2: 0.3, 5: 0.3, 3: 0.5, 4: 0.6, 8: 0.8, 6: 0.8, 7: 0.9, 9: 0.9}
"""How much is added to a number's distance from the typical one, in powers of ten, for its leading digit."""
_MOST = 48
"""Numbers to try for one letter."""


def readable(v: Variable, size: Size, more: Iterable[Fraction] = ()) -> list[Fraction]:
    """Numbers of a letter's size and domain that are easy to read, and `more`, the most typical first."""
    typical = float(size.typical)
    found: dict[Fraction, float] = {}

    def add(x: Fraction, unusual: float) -> None:
        away = abs(math.log10(abs(float(x)) / typical)) if x else 1.0
        key = away + unusual + (0.2 if x < 0 else 0.0)
        if size.holds(x) and v.contains(x):
            found[x] = min(found.get(x, math.inf), key)

    largest = max(abs(size.low), abs(size.high), SMALL)
    smallest = size.low if size.low > 0 else SMALL
    for power in range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1):
        for digit, unusual in _DIGITS.items():
            x = digit * Fraction(10) ** power
            add(x, unusual)
            if size.low < 0:
                add(-x, unusual)
    if size.low <= 0:
        add(Fraction(0), 0.0)
    if size.high <= 100 * max(abs(size.low), Fraction(1, 100)):
        for whole in range(math.ceil(size.low), min(math.floor(size.high), math.ceil(size.low) + 64) + 1):
            add(Fraction(whole), 0.1)
        for quarter in range(5):
            add(size.low + quarter * (size.high - size.low) / 4, 0.7)
    for x in more:
        add(x, 0.5)
    return sorted(found, key=lambda x: (found[x], x))[:_MOST]


def consistent(sizes: Mapping[str, Size], point: Mapping[str, Fraction]) -> bool:
    """Whether sizes fit together, also those of letters that only stand in a logarithm, which are of their sizes.

    No number of some records is above the number of records, and each delta is at most 1 over it.
    """
    logs = [(point[x], size.log_of) for x, size in sizes.items() if size.log_of is not None]
    inside = dict(found for value, of in logs if (found := _only_inside(of, value, point)) is not None)
    for (
        x,
        value,
    ) in inside.items():  # up to a factor of 2, which is what a rounded logarithm makes of a letter
        if not float(_BY_LETTER[x].low) / 2 <= value <= float(_BY_LETTER[x].high) * 2:
            return False
    counted, some, deltas = (
        [point[x] for x, size in sizes.items() if size.what == kind.what]
        for kind in (_RECORDS, _SOME_RECORDS, _DELTA)
    )
    records = max(counted, default=Fraction(inside["n"]) if "n" in inside else None)
    if records is None:
        return all(delta <= 1 for delta in deltas)
    deltas += [Fraction(inside["delta"])] if "delta" in inside else []
    return all(x <= records for x in some) and all(delta * records <= 1 for delta in deltas)


def _only_inside(of: LogOf, value: Fraction, point: Mapping[str, Fraction]) -> tuple[str, float] | None:
    """The one letter that stands in a logarithm and not in the formula, and what the logarithm's value makes it."""
    letters = [x for x in of.letters if x not in point]
    if len(letters) != 1 or letters[0] not in _BY_LETTER:
        return None
    (name,) = letters
    rest = of.inside({x: 1.0 if x == name else float(point[x]) for x in of.letters})
    quotient = math.exp(max(-700.0, min(float(value), 700.0))) / rest if rest > 0 else math.nan
    return name, quotient if name in of.above else 1 / quotient


def tied(sizes: Mapping[str, Size]) -> dict[str, LogOf]:
    """The letters that stand for a logarithm of other letters of the same formula, which they have to agree with."""
    logs = ((x, size.log_of) for x, size in sizes.items() if size.log_of is not None)
    return {x: of for x, of in logs if {*of.letters} <= {*sizes} - {x}}
