"""Numbers that depend on noise, and laws of them, in floating point: linear functions of independent draws.

A law is masses by value. What is drawn from a law of a family is a number and a noise, and so are sums and multiples of
such numbers; another function of one noise is kept as that function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NoReturn

NORMAL = NormalDist()
CASES = 8
"""Ends of cases of a noisy number in which what depends on it has one law each."""
_PLACES = [(k + 0.5) / 200 for k in range(200)]
QUANTILES = {
    "normal": [NORMAL.inv_cdf(p) for p in _PLACES],
    "uniform": [p - 0.5 for p in _PLACES],
    "laplace": [math.copysign(math.log(2 * min(p, 1 - p)), p - 0.5) for p in _PLACES],
    "exponential": [-math.log(1 - p) for p in _PLACES],
}


class NonlinearError(ValueError):
    """A function of noise that is not linear."""


class SeveralError(ValueError):
    """A law that is not of one value."""


@dataclass(frozen=True, eq=False)
class OneNoise:
    """One draw: its family and scale; each is itself only."""

    family: str
    scale: float


@dataclass(frozen=True, eq=False)
class Noisy:
    """A number, and multiples of noises that are not 0."""

    start: float
    slopes: Mapping[OneNoise, float]

    def __add__(self, other: Any) -> Any:
        """A sum."""
        if not isinstance(other, Noisy):
            return Noisy(self.start + other, self.slopes)
        slopes = {**self.slopes}
        for noise, slope in other.slopes.items():
            slopes[noise] = slopes.get(noise, 0.0) + slope
        return _noisy(self.start + other.start, slopes)

    def __mul__(self, other: Any) -> Any:
        """A multiple."""
        if isinstance(other, Noisy):
            raise NonlinearError("a product of noises")
        return _noisy(self.start * other, {noise: slope * other for noise, slope in self.slopes.items()})

    def __sub__(self, other: Any) -> Any:
        """A difference."""
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        """A number less this."""
        return self * -1 + other

    def __truediv__(self, other: Any) -> Any:
        """A part."""
        return self * (1 / other)

    def refuse(self, *_: object) -> NoReturn:
        """What is not linear."""
        raise NonlinearError("no linear function of noise")

    __radd__, __rmul__ = __add__, __mul__
    __float__ = __int__ = __abs__ = __floor__ = __ceil__ = __bool__ = refuse
    __pow__ = __rpow__ = __lt__ = __le__ = __gt__ = __ge__ = __rtruediv__ = refuse


def _noisy(start: float, slopes: dict[OneNoise, float]) -> Any:
    kept = {noise: slope for noise, slope in slopes.items() if abs(slope) > 1e-12}
    return Noisy(start, kept) if kept else start


@dataclass(frozen=True, eq=False)
class After:
    """Another function of a number with one noise."""

    noisy: Noisy
    made: Callable[[float], float]


@dataclass(frozen=True)
class FloatLine:
    """A law of a family: its location and scale (standard deviation; of a uniform law, its middle and length)."""

    family: str
    at: float
    scale: float

    def distance(self, other: Any) -> float:
        """How many scales another such law lies apart; refused (ValueError) for other laws."""
        same = isinstance(other, FloatLine) and self.family == other.family in ("normal", "laplace")
        if not same or not math.isclose(self.scale, other.scale, rel_tol=1e-12):
            raise ValueError("laws of two families or scales, or others")
        return float(abs(self.at - other.at) / self.scale)

    def values(self) -> list[float]:
        """Numbers that stand for the law in means, all with the same weight."""
        return [self.at + self.scale * z for z in QUANTILES[self.family]]

    def below(self, x: float) -> float:
        """The chance of what is below a number."""
        z = (x - self.at) / self.scale
        return -math.expm1(-max(z, 0.0)) if self.family == "exponential" else _tail(self.family, -z)

    def above(self, x: float) -> float:
        """The chance of what is above a number; precise far out, too."""
        z = (x - self.at) / self.scale
        return math.exp(-max(z, 0.0)) if self.family == "exponential" else _tail(self.family, z)

    def log_density(self, x: float) -> float:
        """Its logarithm."""
        z = (x - self.at) / self.scale
        shape = {
            "normal": -(z**2) / 2 - math.log(2 * math.pi) / 2,
            "laplace": -abs(z) - math.log(2),
            "exponential": -z if z >= 0 else -math.inf,
            "uniform": 0.0 if abs(z) <= 0.5 else -math.inf,
        }[self.family]
        return shape - math.log(self.scale)


def _tail(family: str, z: float) -> float:
    """The chance above z scales from the location, of a law that is the same turned around."""
    if family == "normal":
        return math.erfc(z / 2**0.5) / 2
    if family == "uniform":
        return min(1.0, max(0.0, 0.5 - z))
    return math.exp(-z) / 2 if z > 0 else 1 - math.exp(z) / 2


@dataclass(frozen=True, eq=False)
class NoisyLaw:
    """Masses by value, where values depend on noises of the law's own."""

    own: tuple[OneNoise, ...]
    masses: dict[Any, float]

    def fresh(self) -> NoisyLaw:
        """The same with new noises."""
        new = {noise: OneNoise(noise.family, noise.scale) for noise in self.own}
        return NoisyLaw((*new.values(),), {_renamed(v, new): mass for v, mass in self.masses.items()})

    @property
    def form(self) -> object:
        """The same for laws that are the same, whatever their own noises are."""
        return [(mass, self._form(value)) for value, mass in self.masses.items()]

    def _form(self, value: Any) -> object:
        if isinstance(value, tuple):
            return [*map(self._form, value)]
        if isinstance(value, After):
            return self._form(value.noisy), *map(value.made, (-1.3, 0.6, 2.9))
        if isinstance(value, Noisy):
            others = {noise: slope for noise, slope in value.slopes.items() if noise not in self.own}
            return value.start, others, [(n.family, n.scale, value.slopes.get(n)) for n in self.own]
        return value


def _renamed(value: Any, new: Mapping[OneNoise, OneNoise]) -> Any:
    if isinstance(value, tuple):
        return tuple(_renamed(part, new) for part in value)
    if isinstance(value, After):
        return After(_renamed(value.noisy, new), value.made)
    if isinstance(value, Noisy):
        return Noisy(value.start, {new.get(noise, noise): slope for noise, slope in value.slopes.items()})
    return value


def of_noises(law: Any) -> NoisyLaw:
    """Any law, as one of noises."""
    if isinstance(law, FloatLine):
        noise = OneNoise(law.family, law.scale)
        return NoisyLaw((noise,), {law.at + Noisy(0.0, {noise: 1.0}): 1.0})
    return law if isinstance(law, NoisyLaw) else NoisyLaw((), law)


def law_after(law: FloatLine | NoisyLaw, body: Callable[[Any], Any]) -> Any:
    """The law of what has a law that depends on a number with another law."""
    first = of_noises(law).fresh()
    try:
        return mixed([*first.masses.values()], [*map(body, first.masses)], first.own)
    except NonlinearError:
        value, *more = first.masses
        if more or not isinstance(value, Noisy) or (*value.slopes,) != first.own or len(first.own) > 1:
            raise
        found = After(value, lambda x: _only(body(x)))
        try:
            found.made(value.start)
        except SeveralError:
            return _in_cases(FloatLine(first.own[0].family, value.start, spread_of(value)), body)
        return NoisyLaw(first.own, {found: 1.0})


def _in_cases(line: FloatLine, body: Callable[[Any], Any]) -> Any:
    """The law of what has few laws, depending on a number: that with the chance of each case."""

    def form(x: float) -> object:
        return of_noises(body(x)).form

    steps = (line.at + sign * line.scale * z for z in range(8) for sign in (-1, 1))
    near = sorted({0.0, *line.values(), *steps})
    changes, before = list[tuple[float, float]](), form(near[0])
    for low, high in pairwise(near):
        if (found := form(high)) != before:
            changes.append((low, high))
            if len(changes) > CASES:
                raise SeveralError("a draw with many laws after a function of noise")
        before = found
    ends = [crossing(form, *two) for two in changes]
    middles = [(low + high) / 2 for low, high in pairwise([near[0], *ends, near[-1]])]
    return mixed([b - a for a, b in pairwise([0.0, *map(line.below, ends), 1.0])], [*map(body, middles)])


def crossing(made: Callable[[float], object], low: float, high: float) -> float:
    """Where a function that differs at two numbers changes."""
    first = made(low)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if made(middle) == first else (low, middle)
    return (low + high) / 2


def _only(law: Any) -> float:
    if not isinstance(law, dict) or len(law) > 1:
        raise SeveralError("another draw after a function of noise")
    (value,) = law
    if isinstance(value, tuple):
        raise SeveralError("several outputs after a function of noise")
    return float(value)


def mixed(weights: list[float], laws: list[Any], own: tuple[OneNoise, ...] = ()) -> Any:
    """One of several laws, each with a chance, after some draws."""
    if len(laws) == 1 and not own:
        return laws[0]
    if not own and all(isinstance(law, dict) for law in laws):
        return added((v, w * mass) for w, law in zip(weights, laws, strict=True) for v, mass in law.items())
    parts = [of_noises(law).fresh() for law in laws]
    masses = added(
        (v, w * mass) for w, law in zip(weights, parts, strict=True) for v, mass in law.masses.items()
    )
    return _plain(NoisyLaw((*own, *(noise for law in parts for noise in law.own)), masses))


def _plain(law: NoisyLaw) -> Any:
    """A law as masses of values, or as a line, if it is such."""
    value, *more = law.masses
    if not any(map(noisy_within, law.masses)):
        return law.masses
    if more or not isinstance(value, Noisy) or not value.slopes.keys() <= {*law.own}:
        return law
    families = {noise.family for noise in value.slopes}
    if len(value.slopes) > 1 and families != {"normal"}:
        return law
    if families == {"exponential"} and min(value.slopes.values()) < 0:
        return law
    return FloatLine(families.pop(), value.start, spread_of(value))


def spread_of(value: Noisy) -> float:
    """The scale of a multiple of one noise, or of a sum of normal ones."""
    return math.hypot(*(slope * noise.scale for noise, slope in value.slopes.items()))


def noisy_within(value: Any) -> bool:
    """Whether a value depends on noise."""
    return any(map(noisy_within, value)) if isinstance(value, tuple) else isinstance(value, Noisy | After)


def added(pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    """Masses by value."""
    found: dict[Any, float] = {}
    for value, mass in pairs:
        found[value] = found.get(value, 0.0) + mass
    return found
