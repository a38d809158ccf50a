"""Laws of outputs in floating point: sums of independent noises, and the cells that tell two of them apart.

Nothing here is believed: what is found is put to the checker, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from dpverify.checks import FloatArray
from dpverify.formulas.rendering.neutral import Json
from dpverify.privacy.gaussian import gaussian_hockey_stick
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of
from dpverify.proving.theorems.finite_models import FAILURES, Code, Env, FloatModel

FAMILIES = ("normal", "laplace", "exponential", "uniform")
GRIDS = (1, 2, 3, 4, 6, 8, 12, 15)
"""Numbers at which each of several outputs is cut."""
FAR = np.concatenate([-np.geomspace(80, 0.02, 90), [0.0], np.geomspace(0.02, 80, 90)])
"""Scales from a location at which densities are compared."""
ORDERS = tuple(1.125**k for k in range(1, 48, 6))
MOST = 1e3
"""An epsilon that is as good as none."""
FARTHEST = 1e4
"""The margin of a claim that nothing speaks against, less what does."""
_PROBES = (0.37, -1.9)


@dataclass(frozen=True)
class NoiseSum:
    """Outputs as linear functions of independent noises, with a chance."""

    chance: float
    families: tuple[str, ...]
    scales: tuple[float, ...]
    outputs: FloatArray
    """(outputs, 1 + noises): a number, and multiples of noises."""
    after: Any = None
    """Where one noise is put out as another function of it, that function; `outputs` has the noise."""


Spread: TypeAlias = "list[NoiseSum] | dict[Any, float]"
"""A law: a mixture of sums of noises, or masses by value."""


@dataclass(frozen=True)
class CutView:
    """Sums of multiples of outputs, and where they are cut."""

    along: tuple[tuple[Fraction, ...], ...]
    cuts: tuple[tuple[Fraction, ...], ...]

    @property
    def json(self) -> Json:
        """As a model has them."""
        return {
            "along": [[*map(str, row)] for row in self.along],
            "cuts": [[*map(str, row)] for row in self.cuts],
        }


class SpreadReader:
    """Laws of the language as functions of letters."""

    def __init__(self, model: FloatModel, law: Node) -> None:
        self.model, self.law = model, law
        self.codes, self.letters = dict[Node, Code](), dict[Node, frozenset[str]]()

    def spread(self, env: Env) -> Spread:
        """The law, where letters have values; an error of FAILURES where it has none, or is of another form."""
        try:
            return [*self.walk(self.law, {**env}, 1.0, [], [], [])]
        except FAILURES:
            found = self.code(self.law)({**env})
            if isinstance(found, dict):
                return found
            raise

    def code(self, node: Node) -> Code:
        """A term as a function of letters."""
        if node not in self.codes:
            self.codes[node] = self.model.code(node)
        return self.codes[node]

    def used(self, term: Node) -> frozenset[str]:
        """The letters of a term."""
        if term not in self.letters:
            self.letters[term] = frozenset(free(term))
        return self.letters[term]

    def walk(
        self, node: Node, env: Env, chance: float, names: list[str], rows: list[FloatArray],
        noises: list[tuple[str, float]],
    ) -> Iterator[NoiseSum]:  # fmt: skip
        """A law after some draws: their names, each as a row (1 + noises), and their noises."""
        head, *rest = parts_of(node)
        if head == "mixture":
            weight = float(self.code(rest[0])(env))
            for share, part in ((weight, rest[1]), (1 - weight, rest[2])):
                yield from self.walk(part, env, chance * share, names, rows, noises)
        elif head in FAMILIES:
            after = self.drawn(parts_of(node), env, names, rows, noises)
            yield noise_sum(chance, after[1], [after[0][-1]])
        elif head == "certain":
            yield self.put_out(rest[0], env, chance, names, rows, noises)
        elif head == "then":
            (name, kind), law, body = map(parts_of, rest)
            first = law[0]
            if first in FAMILIES:
                lines = self.drawn(law, env, names, rows, noises)
                yield from self.walk(body, {**env, named(name): 0.0}, chance, [*names, named(name)], *lines)
            elif first == "mixture":
                for part in law[2:]:
                    less = self.code(law[1])(env)
                    share = less if part is law[2] else 1 - less
                    inner: Node = ("then", (name, kind), part, body)
                    yield from self.walk(inner, env, chance * share, names, rows, noises)
            elif first == "then":
                (other, other_kind), law_of, then = map(parts_of, law[1:])
                inner = ("then", (other, other_kind), law_of, ("then", (name, kind), then, body))
                yield from self.walk(inner, env, chance, names, rows, noises)
            else:
                masses = self.code(law)(env)
                for value, mass in masses.items():
                    within = {**env, named(name): value}
                    yield from self.walk(body, within, chance * mass, names, rows, noises)
        else:
            raise ValueError("a law of another form")

    def drawn(
        self, law: tuple[Node, ...], env: Env, names: list[str], rows: list[FloatArray],
        noises: list[tuple[str, float]],
    ) -> tuple[list[FloatArray], list[tuple[str, float]]]:  # fmt: skip
        """One more draw."""
        family = named(law[0])
        if family == "uniform":
            low, high = (self.affine(part, env, names, rows, len(noises)) for part in law[1:])
            at, scale = (low + high) / 2, float((high - low)[0])
        else:
            at = (
                self.affine(law[1], env, names, rows, len(noises))
                if len(law) > 2
                else np.zeros(1 + len(noises))
            )
            scale = 0.0 if self.used(law[-1]) & {*names} else float(self.code(law[-1])(env))
        if scale <= 0:
            raise ValueError("a law without a scale, or with one that is drawn")
        return [*rows, np.append(at, 1.0)], [*noises, (family, scale)]

    def affine(
        self, term: Node, env: Env, names: list[str], rows: list[FloatArray], noises: int
    ) -> FloatArray:
        """A term as a number and multiples of noises; refused (ValueError) where it is no such sum."""
        code = self.code(term)
        found = np.zeros(1 + noises)
        found[0] = start = float(code(env))
        for name, row in zip(names, rows, strict=True):
            if name not in self.used(term):
                continue
            slope = float(code({**env, name: 1.0})) - start
            for probe in _PROBES:
                if not math.isclose(float(code({**env, name: probe})), start + probe * slope, abs_tol=1e-9):
                    raise ValueError("no linear function of what is drawn")
            found[: len(row)] += slope * row
        return found

    def put_out(
        self, term: Node, env: Env, chance: float, names: list[str], rows: list[FloatArray],
        noises: list[tuple[str, float]],
    ) -> NoiseSum:  # fmt: skip
        """What is put out."""
        terms = [*_flat(term)]
        try:
            found = [self.affine(one, env, names, rows, len(noises)) for one in terms]
        except ValueError:
            if len(terms) > 1 or len(names) > 1:
                raise
            code = self.code(terms[0])
            return noise_sum(chance, noises, rows, lambda x: float(code({**env, names[0]: x})))
        return noise_sum(chance, noises, found)


def noise_sum(
    chance: float, noises: list[tuple[str, float]], rows: list[FloatArray], after: Any = None
) -> NoiseSum:
    """Outputs, each with as many multiples as there are noises."""
    outputs = np.zeros((len(rows), 1 + len(noises)))
    for k, row in enumerate(rows):
        outputs[k, : len(row)] = row
    families, scales = zip(*noises, strict=True)
    return NoiseSum(chance, families, scales, outputs, after)


def _flat(term: Node) -> Iterator[Node]:
    head, *rest = parts_of(term)
    if head == "pair":
        for part in rest:
            yield from _flat(part)
    else:
        yield term


# ---------------------------------------------------------------------------------------- lines


@dataclass(frozen=True)
class Weighted:
    """A mixture of lines of numbers."""

    chances: tuple[float, ...]
    families: tuple[str, ...]
    at: tuple[float, ...]
    scales: tuple[float, ...]

    def log_density(self, x: FloatArray) -> FloatArray:
        """Its logarithm, at numbers (n,)."""
        found = np.full((len(self.at), len(x)), -np.inf)
        for k, (chance, family, at, scale) in enumerate(self.parts):
            z = (x - at) / scale
            with np.errstate(divide="ignore"):
                shape = {
                    "normal": -(z**2) / 2 - math.log(2 * math.pi) / 2,
                    "laplace": -np.abs(z) - math.log(2),
                    "exponential": np.where(z >= 0, -z, -np.inf),
                    "uniform": np.where(np.abs(z) <= 0.5, 0.0, -np.inf),
                }[family]
            found[k] = shape - math.log(scale) + math.log(chance) if chance > 0 else -np.inf
        return np.asarray(special.logsumexp(found, axis=0))

    @property
    def parts(self) -> list[tuple[float, str, float, float]]:
        """Chance, family, location and scale of each."""
        return [*zip(self.chances, self.families, self.at, self.scales, strict=True)]

    def masses(self, cuts: FloatArray) -> FloatArray:
        """The chances of what is between numbers (n,) in order, (n + 1,); precise far out, too."""
        found = np.zeros(len(cuts) + 1)
        for chance, family, at, scale in self.parts:
            z = (cuts - at) / scale
            below, above = _below(family, z), _below(family, -z, turned=True)
            low, high = np.append(0.0, below), np.append(below, 1.0)
            left, right = np.append(1.0, above), np.append(above, 0.0)
            found += chance * np.where(low > 0.5, left - right, high - low)
        return np.maximum(found, 0.0)


def _below(family: str, z: FloatArray, turned: bool = False) -> FloatArray:
    """The chance below z scales from the location; turned: of the law turned around."""
    if family == "normal":
        return np.asarray(special.ndtr(z))
    if family == "laplace":
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
    if family == "uniform":
        return np.clip(z + 0.5, 0.0, 1.0)
    if turned:
        return np.exp(np.minimum(z, 0))
    return -np.expm1(-np.maximum(z, 0))


def through(law: list[NoiseSum], along: FloatArray) -> list[tuple[float, list[tuple[str, float, float]]]]:
    """Sums of multiples of outputs: of each part of a mixture its chance and the lines, which are independent.

    Raises:
        ValueError: where they are not, or of no family.
    """
    found = list[tuple[float, list[tuple[str, float, float]]]]()
    for one in law:
        rows, lines = along @ one.outputs, list[tuple[str, float, float]]()
        seen = np.zeros(len(one.scales), dtype=np.intp)
        for row in rows:
            kept = np.abs(row[1:]) > 1e-12
            seen += kept
            families = {family for family, used in zip(one.families, kept, strict=True) if used}
            if len(families) != 1 or (kept.sum() > 1 and families != {"normal"}):
                raise ValueError("noises of several families")
            sizes = np.abs(row[1:]) * np.array(one.scales)
            lines.append((families.pop(), float(row[0]), float(np.sqrt(np.sum(sizes**2)))))
        if seen.max(initial=0) > 1:
            raise ValueError("sums that are not independent")
        found.append((one.chance, lines))
    return found


def directions(left: list[NoiseSum], right: list[NoiseSum]) -> Iterator[FloatArray]:
    """Sums of multiples of outputs: of normal noise one along which means differ, and each noise by itself."""
    one, other = left[0], right[0]
    count, noises = len(one.outputs), len(one.scales)
    if count == 1:
        yield np.ones((1, 1))
        return
    if {*one.families} == {"normal"} and len(left) == len(right) == 1:
        spread = one.outputs[:, 1:] * np.array(one.scales)
        far = one.outputs[:, 0] - other.outputs[:, 0]
        weights = np.linalg.lstsq(spread @ spread.T, far, rcond=None)[0]
        largest = weights[np.argmax(np.abs(weights))]
        if largest:
            yield (weights / largest)[None, :]
        if np.array_equal(spread, other.outputs[:, 1:] * np.array(other.scales)) and largest:
            return
    if count == noises and abs(np.linalg.det(one.outputs[:, 1:])) > 1e-9:
        yield np.asarray(np.linalg.inv(one.outputs[:, 1:]), dtype=np.float64)


def lines_of(law: list[NoiseSum], along: FloatArray) -> list[Weighted]:
    """Of each sum, its law as a mixture; the mixtures of several sums go together part by part."""
    parts = through(law, along)
    chances = tuple(chance for chance, _ in parts)
    each = zip(*(lines for _, lines in parts), strict=True)
    return [Weighted(chances, *(tuple(one) for one in zip(*lines, strict=True))) for lines in each]


# ---------------------------------------------------------------------------------------- how far apart


def distance(one: Weighted, other: Weighted) -> float | None:
    """How many scales two normal or two Laplace laws of one scale lie apart; None for others."""
    plain = len(one.at) == len(other.at) == 1 and one.families == other.families
    if not plain or one.families[0] not in ("normal", "laplace"):
        return None
    if not math.isclose(one.scales[0], other.scales[0], rel_tol=1e-12):
        return None
    return abs(one.at[0] - other.at[0]) / one.scales[0]


def places(one: Weighted, other: Weighted) -> FloatArray:
    """Numbers between which densities are compared."""
    return np.unique(
        np.concatenate([at + scale * FAR for law in (one, other) for _, _, at, scale in law.parts])
    )


def joint_masses(laws: list[Weighted], cuts: list[FloatArray]) -> FloatArray:
    """The chances of cells of several numbers that are independent within each part of a mixture."""
    found = None
    for k, chance in enumerate(laws[0].chances):
        whole = np.ones(1)
        for law, ends in zip(laws, cuts, strict=True):
            alone = Weighted((1.0,), law.families[k : k + 1], law.at[k : k + 1], law.scales[k : k + 1])
            whole = np.multiply.outer(whole, alone.masses(ends)).ravel()
        found = chance * whole if found is None else found + chance * whole
    assert found is not None
    return found


def above(p: FloatArray, q: FloatArray, epsilon: float) -> float:
    """The sum of what masses are above e^epsilon times others."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return float(
            np.sum(np.where(p > 0, np.maximum(0.0, p - np.exp(np.minimum(epsilon + np.log(q), 700))), 0.0))
        )


def sides(one: Spread, other: Spread) -> Iterator[tuple[FloatArray | None, list[Weighted], list[Weighted]]]:
    """Both laws through sums that are independent; the sums are None, and the lists empty, for finite laws.

    Raises:
        ValueError: for laws that are not both of one form.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        yield None, [], []
        return
    if isinstance(one, dict) or isinstance(other, dict):
        raise ValueError("laws of two forms")
    for along in directions(one, other):
        with suppress(ValueError):
            yield along, lines_of(one, along), lines_of(other, along)


def cell_masses(
    one: Spread, other: Spread, left: list[Weighted], right: list[Weighted]
) -> tuple[FloatArray, FloatArray]:
    """The masses of two laws: of finite ones, or of many cells."""
    if isinstance(one, dict) and isinstance(other, dict):
        values = [*{**one, **other}]
        first, second = (np.array([law.get(v, 0.0) for v in values]) for law in (one, other))
        return first, second
    if len(left) == 1:
        ends = [places(left[0], right[0])]
    else:
        ends = product_cuts(left, right, GRIDS[-1] if len(left) < 3 else 8)
    return joint_masses(left, ends), joint_masses(right, ends)


def largest_excess(one: Spread, other: Spread, epsilon: float) -> float:
    """About the largest P(S) - e^epsilon Q(S)."""
    found = 0.0
    for _, left, right in sides(one, other):
        d = distance(left[0], right[0]) if len(left) == 1 else None
        if d is None:
            found = max(found, above(*cell_masses(one, other, left, right), epsilon))
        elif left[0].families[0] == "normal":
            found = max(found, gaussian_hockey_stick(epsilon, d) if epsilon >= 0 else 1.0)
        else:
            found = max(found, -math.expm1((epsilon - d) / 2))
    return found


def largest_ratio(one: Spread, other: Spread) -> float:
    """About the largest logarithm of P(S)/Q(S)."""
    found = 0.0
    for along, left, right in sides(one, other):
        total = 0.0
        if along is None:
            p, q = cell_masses(one, other, left, right)
            with np.errstate(divide="ignore", invalid="ignore"):
                total = float(np.max(np.where(p > 0, np.log(p / q), 0.0)))
        for p_line, q_line in zip(left, right, strict=True):
            d = distance(p_line, q_line)
            if d is not None:
                total += d if p_line.families[0] == "laplace" or not d else math.inf
                continue
            x = places(p_line, q_line)
            high, low = p_line.log_density(x), q_line.log_density(x)
            with np.errstate(invalid="ignore"):
                total += max(0.0, float(np.max(np.where(np.isneginf(high), -np.inf, high - low))))
        found = max(found, total)
    return found


def renyi_divergences(one: Spread, other: Spread, orders: tuple[float, ...]) -> FloatArray:
    """About the Renyi divergences of some orders, or those of what is made of outputs."""
    found, at = np.zeros(len(orders)), np.array(orders)
    for along, left, right in sides(one, other):
        far = [distance(p, q) for p, q in zip(left, right, strict=True)]
        known = [d for d in far if d is not None]
        if along is not None and len(known) == len(far):
            parts = [_renyi_of(line.families[0], d, at) for line, d in zip(left, known, strict=True)]
            found = np.maximum(found, np.sum(parts, axis=0))
            continue
        p, q = cell_masses(one, other, left, right)
        if np.any((p > 0) & (q <= 0)):
            return np.full(len(orders), np.inf)
        kept = p > 0
        powers = np.multiply.outer(at, np.log(p[kept])) + np.multiply.outer(1 - at, np.log(q[kept]))
        found = np.maximum(found, special.logsumexp(powers, axis=1) / (at - 1))
    return np.asarray(found)


def _renyi_of(family: str, d: float, order: FloatArray) -> FloatArray:
    if family == "normal":
        return np.asarray(order * d * d / 2)
    first = np.log(order / (2 * order - 1)) + (order - 1) * d
    second = np.log((order - 1) / (2 * order - 1)) - order * d
    return np.asarray(np.logaddexp(first, second) / (order - 1))


def largest_mu(one: Spread, other: Spread) -> float:
    """About the largest difference of normal quantiles of P(S) and Q(S)."""
    found = 0.0
    for along, left, right in sides(one, other):
        d = distance(left[0], right[0]) if len(left) == 1 else None
        if along is not None and d is not None and left[0].families[0] == "normal":
            found = max(found, d)
            continue
        p, q = cell_masses(one, other, left, right)
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.where(p > 0, np.log(p / q), -np.inf), kind="stable")
        ends = [special.ndtri(np.clip(np.cumsum(side[order])[:-1], 0.0, 1.0)) for side in (p, q)]
        with np.errstate(invalid="ignore"):
            found = max(found, float(np.max(np.nan_to_num(ends[0] - ends[1], nan=0.0), initial=0.0)))
    return found


def needed(head: str, one: Spread, other: Spread, bounds: list[float]) -> float:
    """About the epsilon, rho or mu that a pair needs; of Renyi privacy at the order that is claimed."""
    if head == "private":
        return largest_ratio(one, other) if not bounds[1] else _needed_epsilon(one, other, bounds[1])
    if head == "gaussian":
        return largest_mu(one, other)
    if head == "concentrated":
        return float(np.max(renyi_divergences(one, other, ORDERS) / np.array(ORDERS)))
    if bounds[0] <= 1:
        raise ValueError("an order that is not above 1")
    return float(renyi_divergences(one, other, (bounds[0],))[0])


def _needed_epsilon(one: Spread, other: Spread, delta: float) -> float:
    low, high = 0.0, 1.0
    while largest_excess(one, other, high) > delta:
        low, high = high, 2 * high
        if high > MOST:
            return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if largest_excess(one, other, middle) > delta else (low, middle)
    return low


def margin(head: str, one: Spread, other: Spread, bounds: list[float]) -> float:
    """How far a claim is from being false; negative where it is.

    Raises:
        ValueError: for laws or numbers of which that is not worked out.
    """
    if head == "private" and bounds[1] > 0:
        found = largest_excess(one, other, bounds[0])
        return math.log(bounds[1] / found) if found > 0 else FARTHEST - largest_ratio(one, other)
    return bounds[-1 if head != "private" else 0] - needed(head, one, other, bounds)


def product_cuts(left: list[Weighted], right: list[Weighted], count: int) -> list[FloatArray]:
    """Where each of several numbers is cut."""
    found = list[FloatArray]()
    for one, other in zip(left, right, strict=True):
        ends = np.array([*one.at, *other.at])
        low, high = float(ends.min()), float(ends.max())
        if one.families[0] != "laplace" or distance(one, other) is None:
            reach = 3 * max(*one.scales, *other.scales)
            low, high = low - reach, high + reach
        # one cut is put where the first law is surely the higher
        first = one.at[0] if one.at[0] != other.at[0] else (low + high) / 2
        found.append(np.array([first]) if count == 1 else np.linspace(low, high, count))
    return found


def line_cuts(one: Weighted, other: Weighted, epsilon: float) -> list[list[float]]:
    """Where a number may be cut: where the logarithm of the ratio of densities crosses epsilon; and at locations."""
    x = places(one, other)
    with np.errstate(invalid="ignore"):
        gap = one.log_density(x) - other.log_density(x) - epsilon
    gap = np.where(np.isnan(gap), -1.0, gap)
    roots = list[float]()
    for k in np.flatnonzero(np.diff(np.sign(gap) > 0)):
        low, high = float(x[k]), float(x[k + 1])
        for _ in range(60):
            middle = (low + high) / 2
            place = np.array([middle])
            above_it = one.log_density(place) > other.log_density(place) + epsilon
            low, high = (middle, high) if above_it[0] == (gap[k] > 0) else (low, middle)
        roots.append((low + high) / 2)
    knots = sorted({*one.at, *other.at})
    return [roots] * bool(roots) + [[knot] for knot in knots]


def written(value: float, digits: int) -> Fraction:
    """A number with some digits; what is next to 0 is 0."""
    return Fraction(f"{value:.{digits - 1}e}") if 1e-12 < abs(value) < math.inf else Fraction(0)


def rational(rows: FloatArray) -> tuple[tuple[Fraction, ...], ...]:
    """Multiples as fractions."""
    return tuple(tuple(Fraction(float(v)).limit_denominator(10**6) for v in row) for row in rows)


def views(head: str, one: Spread, other: Spread, bounds: list[float]) -> Iterator[CutView]:
    """Cells through which a claim that does not hold may be seen not to, the plainest first."""
    if isinstance(one, dict) or isinstance(other, dict):
        return
    for along, left, right in sides(one, other):
        assert along is not None
        rows = rational(along)
        if head == "private":
            found = _grids(left, right, *bounds) if len(left) > 1 else _ends(one, left[0], right[0], *bounds)
            yield from (CutView(rows, cuts) for cuts in found)
            continue
        if len(left) == 1:
            yield CutView(rows, ((),))
        for count in (3, 7, GRIDS[-1] if len(left) < 3 else 8):
            yield CutView(rows, tuple(_ordered(ends, 6) for ends in product_cuts(left, right, count)))


def _grids(
    left: list[Weighted], right: list[Weighted], epsilon: float, delta: float
) -> Iterator[tuple[tuple[Fraction, ...], ...]]:
    for count in GRIDS[: None if len(left) < 3 else 6]:
        cuts = product_cuts(left, right, count)
        if above(joint_masses(left, cuts), joint_masses(right, cuts), epsilon) > delta:
            yield tuple(_ordered(ends, 6) for ends in cuts)


def _ends(
    law: list[NoiseSum], one: Weighted, other: Weighted, epsilon: float, delta: float
) -> Iterator[tuple[tuple[Fraction, ...], ...]]:
    options = line_cuts(one, other, epsilon)
    if not delta and distance(one, other) is not None and one.families[0] == "laplace":
        options = [[one.at[0]], *options]
    for cuts in options if law[0].after else ():
        # beside the cut, too: what is put out may be one number for all beyond it
        for by in (0.0, 1e-5, -1e-5):
            yield (_ordered(np.array([law[0].after(x) + by for x in cuts]), 9),)
    for digits in () if law[0].after else (5, 9, 15):
        for cuts in options:
            ends = _ordered(np.array(cuts), digits)
            if _breaks(one, other, ends, epsilon, delta):
                yield (ends,)


def _breaks(one: Weighted, other: Weighted, ends: tuple[Fraction, ...], epsilon: float, delta: float) -> bool:
    cuts = np.array([*map(float, ends)])
    return above(one.masses(cuts), other.masses(cuts), epsilon) > delta


def _ordered(values: FloatArray, digits: int) -> tuple[Fraction, ...]:
    return tuple(sorted({written(float(v), digits) for v in values}))
