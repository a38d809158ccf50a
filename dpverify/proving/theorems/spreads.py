"""How far apart two laws are, in floating point, and the cells that tell them apart.

Laws are masses by value, lines, or of numbers that depend on noise. Nothing here is believed: what is found is put to
the checker, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise, product
from operator import mul
from typing import Any, TypeAlias

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.cells import MANY
from dpverify.proving.theorems.noises import (
    NORMAL,
    After,
    FloatLine,
    Noisy,
    NoisyLaw,
    OneNoise,
    crossing,
    of_noises,
    spread_of,
)

Spread: TypeAlias = "dict[Any, float] | FloatLine | NoisyLaw"
"""A law."""
MixedLine: TypeAlias = "list[tuple[float, FloatLine]]"
"""Lines, each with a chance."""
Rows: TypeAlias = "list[list[float]]"

GRIDS = (1, 2, 3, 4, 6, 8, 12, 15)
"""Numbers at which each of several outputs is cut."""
FAR = [sign * 0.02 * 4000 ** (k / 45) for k in range(46) for sign in (-1, 1)]
"""Scales from a location at which densities are compared, beside 0."""
ORDERS = tuple(1.125**k for k in range(1, 48, 6))
MOST = 1e3
"""An epsilon that is as good as none."""
TINY = 1e-250
"""A mass beside which another may be too small for floating point."""
NARROW = 1e-3
"""The length of a uniform law that stands for one number."""
BESIDE = 200
"""How many scales of noise a value without noise counts where they are added up."""
STEPS = 40
"""Values of a function of noise that takes few."""
FARTHEST = 1e4
"""The margin of a claim that nothing speaks against, less what does."""


# ---------------------------------------------------------------------------------------- sums that are independent


def outputs(value: Any) -> Iterator[Any]:
    """What is put out: numbers, and numbers with noise; of a function of one noise, what it is of."""
    if isinstance(value, tuple):
        for part in value:
            yield from outputs(part)
    else:
        yield value.noisy if isinstance(value, After) else value


def after(law: Spread) -> Any:
    """Where one noise is put out as another function of it, that function; else None."""
    value = next(iter(law.masses)) if isinstance(law, NoisyLaw) else None
    return value.made if isinstance(value, After) else None


def lines_of(law: NoisyLaw, along: Rows) -> list[MixedLine]:
    """Of each sum of multiples of outputs, its law; sums are independent within each part.

    Raises:
        ValueError: where they are not, or of no family.
    """
    found: list[MixedLine] = [[] for _ in along]
    for value, chance in law.masses.items():
        used = list[OneNoise]()
        for row, lines in zip(along, found, strict=True):
            total: Any = sum(w * one for w, one in zip(row, outputs(value), strict=True))
            if not isinstance(total, Noisy):
                lines.append((chance, FloatLine("uniform", float(total), NARROW)))
                continue
            families = {noise.family for noise in total.slopes}
            if len(families) != 1 or (len(total.slopes) > 1 and families != {"normal"}):
                raise ValueError("noises of several families")
            if families == {"exponential"} and min(total.slopes.values()) < 0:
                raise ValueError("an exponential law turned around")
            used += total.slopes
            lines.append((chance, FloatLine(families.pop(), total.start, spread_of(total))))
        if len(used) > len({*used}):
            raise ValueError("sums that are not independent")
    return found


def directions(left: NoisyLaw, right: NoisyLaw) -> Iterator[Rows]:
    """Sums of multiples of outputs: without noise, of normal noise one along which means differ, each noise.

    Beside noise of other families, each normal one alone, too: far out it tells any two locations apart.
    """
    (starts, slopes, noises), (others, other_slopes, _) = map(_affine, (left, right))
    if len(starts) == 1:
        yield [[1.0]]
        return
    yield from without_noise(slopes)
    if {noise.family for noise in noises} == {"normal"} and len(left.masses) == len(right.masses) == 1:
        scaled = [[s * noise.scale for s, noise in zip(row, noises, strict=True)] for row in slopes]
        square = [[sum(map(mul, one, other)) for other in scaled] for one in scaled]
        weights = solved(square, [a - b for a, b in zip(starts, others, strict=True)])
        largest = max(weights, key=abs)
        if largest:
            yield [[w / largest for w in weights]]
        if slopes == other_slopes and largest:
            return
    if rows := beside_values(slopes, noises):
        yield rows
        return
    rows = each_noise(left)
    yield rows
    if len({noise.family for noise in noises}) > 1:
        yield from ([row] for row, noise in zip(rows, noises, strict=True) if noise.family == "normal")


def without_noise(slopes: Rows) -> Iterator[Rows]:
    """Sums of multiples of outputs in which noises cancel, as where one noise is used twice."""
    for k, row in enumerate(slopes):
        with suppress(ValueError):
            weights = (
                solved([*map(list, zip(*slopes[:k], strict=True))], row)
                if k
                else solved([[]] * len(row), row)
            )
            yield [[*(-w for w in weights), 1.0, *([0.0] * (len(slopes) - k - 1))]]


def beside_values(slopes: Rows, noises: list[OneNoise]) -> Rows:
    """Sums that are one noise each, the first with outputs without noise so often that it tells their values; or none.

    Refused (ValueError) where there are no such sums.
    """
    plain = [k for k, row in enumerate(slopes) if not any(row)]
    noisy = [k for k in range(len(slopes)) if k not in plain]
    if not plain or not noisy:
        return []
    if len(noisy) != len(noises):
        raise ValueError("not as many noisy outputs as noises")
    found = _inverse(tuple(tuple(slopes[k]) for k in noisy))
    rows = [[dict(zip(noisy, row, strict=True)).get(k, 0.0) for k in range(len(slopes))] for row in found]
    for count, k in enumerate(plain, 1):
        rows[0][k] = float(math.ceil(BESIDE * count * max(noise.scale for noise in noises)))
    return rows


def each_noise(law: NoisyLaw) -> Rows:
    """Sums of multiples of outputs that are one noise each, and a number; refused (ValueError) if there are none."""
    _, slopes, noises = _affine(law)
    if len(slopes) != len(noises):
        raise ValueError("not as many outputs as noises")
    return _inverse(tuple(map(tuple, slopes)))


@lru_cache(1000)
def _inverse(rows: tuple[tuple[float, ...], ...]) -> Rows:
    unit = [[float(i == j) for i in range(len(rows))] for j in range(len(rows))]
    return [*map(list, zip(*(solved(rows, one) for one in unit), strict=True))]


def _affine(law: NoisyLaw) -> tuple[list[float], Rows, list[OneNoise]]:
    """Of the first value: numbers, multiples of noises, and the noises, in the order in which they are drawn."""
    values = [*outputs(next(iter(law.masses)))]
    values = [value if isinstance(value, Noisy) else Noisy(float(value), {}) for value in values]
    noises = [noise for noise in law.own if any(noise in value.slopes for value in values)]
    slopes = [[value.slopes.get(noise, 0.0) for noise in noises] for value in values]
    return [value.start for value in values], slopes, noises


def solved(rows: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of linear equations, with 0 for what is free; refused (ValueError) if there is none."""
    table, pivots = [[*row, end] for row, end in zip(rows, right, strict=True)], list[int]()
    for column in range(len(rows[0])):
        k = len(pivots)
        best = max(range(k, len(table)), key=lambda i: abs(table[i][column]), default=k)
        if k == len(table) or abs(table[best][column]) < 1e-9:
            continue
        table[k], table[best] = table[best], table[k]
        table[k] = [v / table[k][column] for v in table[k]]
        for i, row in enumerate(table):
            if i != k:
                table[i] = [v - row[column] * w for v, w in zip(row, table[k], strict=True)]
        pivots.append(column)
    if any(abs(row[-1]) > 1e-9 for row in table[len(pivots) :]):
        raise ValueError("equations without a solution")
    values = dict(zip(pivots, (row[-1] for row in table), strict=False))
    return [values.get(column, 0.0) for column in range(len(rows[0]))]


# ---------------------------------------------------------------------------------------- how far apart


def cell_masses(lines: list[MixedLine], cuts: Sequence[Sequence[float]]) -> list[float]:
    """The chances of cells of several numbers that are independent within each part of a mixture."""
    found = list[float]()
    for k, (chance, _) in enumerate(lines[0]):
        each = [_masses(line[k][1], ends) for line, ends in zip(lines, cuts, strict=True)]
        whole = [chance * math.prod(cell) for cell in product(*each)]
        found = [a + b for a, b in zip(found, whole, strict=True)] if found else whole
    return found


def _masses(line: FloatLine, cuts: Sequence[float]) -> list[float]:
    """The chances of what is between numbers in order."""
    low = [0.0, *(line.below(x) for x in cuts if x < line.at)]
    high = [*(line.above(x) for x in cuts if x >= line.at), 0.0]
    middle = max(0.0, 1 - low[-1] - high[0])
    return [*(b - a for a, b in pairwise(low)), middle, *(a - b for a, b in pairwise(high))]


def log_density(law: MixedLine, x: float) -> float:
    """The logarithm of a mixture's density."""
    found = [math.log(chance) + line.log_density(x) for chance, line in law if chance > 0]
    top = max(found)
    return top + math.log(math.fsum(math.exp(v - top) for v in found)) if top > -math.inf else top


def above(masses: list[tuple[float, float]], epsilon: float) -> float:
    """The sum of what masses are above e^epsilon times others."""
    grown = math.exp(min(epsilon, 700.0))
    return math.fsum(p - grown * q for p, q in masses if p > grown * q)


@dataclass(frozen=True)
class Sight:
    """Two laws by their masses, or through sums of multiples of what is put out that are independent."""

    along: Rows
    left: list[MixedLine]
    right: list[MixedLine]
    given: list[tuple[float, float]] | None = None
    """Masses of laws of finitely many values."""
    cuts: tuple[float, ...] = ()
    """Of these values, numbers between them, where values are functions of noise."""

    @cached_property
    def far(self) -> list[float | None]:
        """How many scales each pair of lines lies apart, where both are normal or Laplace, and of one scale."""
        found = list[float | None]()
        for one, other in zip(self.left, self.right, strict=True):
            found.append(None)
            if len(one) == len(other) == 1:
                with suppress(ValueError):
                    found[-1] = one[0][1].distance(other[0][1])
        return found

    def alone(self, family: str) -> float | None:
        """How far apart the laws are, if each is one line of a family."""
        known = len(self.far) == 1 and self.left[0][0][1].family == family
        return self.far[0] if known else None

    @cached_property
    def masses(self) -> list[tuple[float, float]]:
        """Those of finite laws, or of many cells."""
        if self.given is not None:
            return self.given
        ends: Sequence[Sequence[float]] = [places(self.left[0], self.right[0])] if len(self.left) == 1 else []
        ends = ends or product_cuts(self, grids(len(self.left))[-1])
        return self.cell_masses(ends)

    def cell_masses(self, cuts: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
        """The masses of cells."""
        return [*zip(*(cell_masses(lines, cuts) for lines in (self.left, self.right)), strict=True)]

    def excess(self, epsilon: float) -> float:
        """About the largest P(S) - e^epsilon Q(S)."""
        if (d := self.alone("laplace")) is not None:
            return max(0.0, -math.expm1((epsilon - d) / 2))
        if not (d := self.alone("normal")):
            return above(self.masses, epsilon) if d is None else max(0.0, -math.expm1(min(epsilon, 1.0)))
        one, other = FloatLine("normal", d / 2, 1.0), FloatLine("normal", -d / 2, 1.0)
        return max(0.0, one.above(epsilon / d) - math.exp(min(epsilon, 700.0)) * other.above(epsilon / d))

    def ratio(self) -> float:
        """About the largest logarithm of P(S)/Q(S)."""
        if self.given is not None:
            return max(math.log(p / q) if q else math.inf for p, q in self.given if p > 0)
        total = 0.0
        for one, other, d in zip(self.left, self.right, self.far, strict=True):
            if d is not None:
                total += d if one[0][1].family == "laplace" or not d else math.inf
                continue
            gaps = ((log_density(one, x), log_density(other, x)) for x in places(one, other))
            total += max((p - q for p, q in gaps if p > -math.inf), default=0.0)
        return total

    def divergence(self, order: float) -> float:
        """About the Renyi divergence of an order; of order 1, that of Kullback and Leibler."""
        if self.left and None not in self.far:
            families = [one[0][1].family for one in self.left]
            if order != 1 or {*families} == {"normal"}:
                return sum(_renyi(one, d or 0.0, order) for one, d in zip(families, self.far, strict=True))
        kept = [(p, q) for p, q in self.masses if p > TINY]
        if any(not q for _, q in kept):
            return math.inf
        logs = [(math.log(p), math.log(q)) for p, q in kept]
        if order == 1:
            return math.fsum(math.exp(p) * (p - q) for p, q in logs)
        powers = [order * p + (1 - order) * q for p, q in logs]
        top = max(powers)
        return (top + math.log(math.fsum(math.exp(v - top) for v in powers))) / (order - 1)

    def mu(self) -> float:
        """About the largest difference of normal quantiles of P(S) and Q(S)."""
        if (d := self.alone("normal")) is not None:
            return d
        found, p_sum, q_sum = 0.0, 0.0, 0.0
        ranked = sorted(self.masses, key=lambda one: one[1] / one[0] if one[0] else math.inf)
        for p, q in ranked[:-1]:
            p_sum, q_sum = p_sum + p, q_sum + q
            if p_sum > 0 and q_sum < 1:
                found = max(found, _quantile(p_sum) - _quantile(q_sum))
        return found


def _quantile(p: float) -> float:
    return NORMAL.inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


def _renyi(family: str, d: float, order: float) -> float:
    if family == "normal":
        return order * d * d / 2
    first = math.log(order / (2 * order - 1)) + (order - 1) * d
    second = math.log((order - 1) / (2 * order - 1)) - order * d
    return (first + math.log1p(math.exp(second - first))) / (order - 1)


def sights(one: Spread, other: Spread) -> list[Sight]:
    """All that is tried.

    Raises:
        ValueError: for laws that are not both of one form, or of which no sums are known.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        values = {**one, **other}
        return [Sight([], [], [], [(one.get(v, 0.0), other.get(v, 0.0)) for v in values])]
    if isinstance(one, FloatLine) and isinstance(other, FloatLine):
        return [Sight([[1.0]], [[(1.0, one)]], [[(1.0, other)]])]
    left, right, found = of_noises(one), of_noises(other), list[Sight]()
    if stepped := _stepped(left, right):
        return [stepped]
    with suppress(ValueError):
        for along in directions(left, right):
            with suppress(ValueError):
                found.append(Sight(along, lines_of(left, along), lines_of(right, along)))
    if not found:
        raise ValueError("laws of which no independent sums are known")
    return found


def _stepped(left: NoisyLaw, right: NoisyLaw) -> Sight | None:
    """Two laws of functions of one noise, by the masses of a few of their values; None for others.

    What is far out, or between two of these values, is at the one before.
    """
    values = [
        (k, value, chance) for k, law in enumerate((left, right)) for value, chance in law.masses.items()
    ]
    if not all(isinstance(value, After) for _, value, _ in values):
        return None
    lines = list[FloatLine]()
    for _, value, _ in values:
        (noise,) = value.noisy.slopes
        lines.append(FloatLine(noise.family, value.noisy.start, spread_of(value.noisy)))
    each = sorted(z for z in (0.0, *FAR) if abs(z) < 8)[:: -(-len({*lines}) // 2)]
    near = sorted({line.at + line.scale * z for line in {*lines} for z in each})
    while len({value.made(x) for _, value, _ in values for x in near}) > STEPS:
        near = [*near[:-1:2], near[-1]]
    found = dict[float, list[float]]()
    for (k, value, chance), line in zip(values, lines, strict=True):
        made = value.made  # which may depend on records, where it should not
        ends = [_end(made, *two) for two in pairwise([(x, made(x)) for x in near]) if two[0][1] != two[1][1]]
        for (low, high), mass in zip(pairwise([near[0], *ends, near[-1]]), _masses(line, ends), strict=True):
            found.setdefault(made((low + high) / 2), [0.0, 0.0])[k] += chance * mass
    ranked = sorted(found)
    cuts = tuple((a + b) / 2 for a, b in pairwise(ranked))
    return Sight([[1.0]], [], [], [(found[value][0], found[value][1]) for value in ranked], cuts)


def _end(made: Callable[[float], float], one: tuple[float, float], other: tuple[float, float]) -> float:
    """Where a function changes between two numbers, with its values there; of one that changes twice, the middle."""
    middle = (one[0] + other[0]) / 2
    return crossing(made, one[0], other[0]) if made(middle) in (one[1], other[1]) else middle


def places(one: MixedLine, other: MixedLine) -> list[float]:
    """Numbers between which densities are compared."""
    lines = [line for law in (one, other) for _, line in law]
    return sorted({line.at + line.scale * z for line in lines for z in (0.0, *FAR)})


def needed(head: str, one: Spread, other: Spread, bounds: list[float]) -> float:
    """About the epsilon, rho or mu that a pair needs; of Renyi privacy at the order that is claimed."""
    found = sights(one, other)
    if head == "private" and bounds[1]:
        return max(_needed_epsilon(sight, bounds[1]) for sight in found)
    if head == "renyi-private" and bounds[0] <= 1:
        raise ValueError("an order that is not above 1")
    measure: Callable[[Sight], float] = {
        "private": Sight.ratio,
        "gaussian": Sight.mu,
        "concentrated": lambda sight: max(sight.divergence(order) / order for order in ORDERS),
        "renyi-private": lambda sight: sight.divergence(bounds[0]),
    }[head]
    return max(map(measure, found))


def _needed_epsilon(sight: Sight, delta: float) -> float:
    low, high = 0.0, 1.0
    while sight.excess(high) > delta:
        low, high = high, 2 * high
        if high > MOST:
            return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sight.excess(middle) > delta else (low, middle)
    return low


def steady(value: float) -> float:
    """A number as it is compared: without its last bits, which hang on the processor, so that equals stay equal."""
    return round(value, 10)


def margin(head: str, one: Spread, other: Spread, bounds: list[float]) -> float:
    """How far a claim is from being false; negative where it is.

    Raises:
        ValueError: for laws or numbers of which that is not worked out.
    """
    if head == "private" and bounds[1] > 0:
        found = max(sight.excess(bounds[0]) for sight in sights(one, other))
        if found > 0:
            return math.log(bounds[1] / found)
        return FARTHEST - min(needed(head, one, other, [0.0, 0.0]), FARTHEST / 2)
    return bounds[-1 if head != "private" else 0] - needed(head, one, other, bounds)


# ---------------------------------------------------------------------------------------- cells


def views(head: str, one: Spread, other: Spread, bounds: list[float]) -> Iterator[Json]:
    """Cells as a model has them through which a false claim may be seen to be false, the plainest first."""
    if isinstance(one, dict) or isinstance(other, dict):
        return
    for sight in sights(one, other):
        count = len(sight.left)
        if sight.given is not None:
            yield _cells(sight, [_ordered(sight.cuts, 9)])
            continue
        if head == "private":
            yield from (_cells(sight, cuts) for cuts in _breaking(sight, *bounds))
            continue
        if count == 1:
            yield _cells(sight, [()])
        for k in sorted({min(k, grids(count)[-1]) for k in (3, 7, GRIDS[-1])}):
            yield _cells(sight, [_ordered(ends, 6) for ends in product_cuts(sight, k)])


def _cells(sight: Sight, cuts: Sequence[Sequence[Fraction]]) -> Json:
    along = [[str(Fraction(v).limit_denominator(10**6)) for v in row] for row in sight.along]
    return {"along": along, "cuts": [[*map(str, row)] for row in cuts]}


def grids(count: int) -> list[int]:
    """At how many numbers each of several outputs may be cut."""
    most = GRIDS[-1] if count < 3 else 8
    return [k for k in GRIDS if k <= most and (k == 1 or (k + 1) ** count <= MANY)]


def product_cuts(sight: Sight, count: int) -> list[list[float]]:
    """Where each of several numbers is cut."""
    found = list[list[float]]()
    for one, other, d in zip(sight.left, sight.right, sight.far, strict=True):
        lines = [line for law in (one, other) for _, line in law]
        low, high = min(line.at for line in lines), max(line.at for line in lines)
        if d is None or lines[0].family != "laplace":
            reach = 3 * max(line.scale for line in lines)
            low, high = low - reach, high + reach
        # one cut is put where the first law is surely the higher
        first = lines[0].at if lines[0].at != other[0][1].at else (low + high) / 2
        found.append([first] if count == 1 else [low + (high - low) * k / (count - 1) for k in range(count)])
    return found


def _breaking(sight: Sight, epsilon: float, delta: float) -> Iterator[list[tuple[Fraction, ...]]]:
    """Cuts whose chances break a claim; one number is cut where densities are e^epsilon apart, or at locations."""
    count = len(sight.left)
    options = [(product_cuts(sight, k), 6) for k in grids(count) if count > 1]
    if count == 1:
        (one,), (other,) = sight.left, sight.right
        alone = [[at] for at in sorted({line.at for law in (one, other) for _, line in law})]
        if roots := _crossings(one, other, epsilon):
            alone.insert(0, roots)
        if not delta and sight.alone("laplace") is not None:
            alone.insert(0, [one[0][1].at])
        options = [([cuts], digits) for digits in (5, 9, 15) for cuts in alone]
    for cuts, digits in options:
        ends = [_ordered(row, digits) for row in cuts]
        if above(sight.cell_masses([[*map(float, row)] for row in ends]), epsilon) > delta:
            yield ends


def _crossings(one: MixedLine, other: MixedLine, epsilon: float) -> list[float]:
    def is_above(x: float) -> bool:
        return log_density(one, x) > log_density(other, x) + epsilon

    roots = list[float]()
    for low, high in pairwise(places(one, other)):
        if is_above(low) != is_above(high):
            roots.append(crossing(is_above, low, high))
    return roots


def _ordered(values: Sequence[float], digits: int) -> tuple[Fraction, ...]:
    """Numbers with some digits, in order; what is next to 0 is 0."""
    near = (v if 1e-12 < abs(v) < math.inf else 0.0 for v in values)
    return tuple(sorted({Fraction(f"{v:.{digits - 1}e}") for v in near}))
