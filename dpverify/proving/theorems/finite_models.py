"""FloatModel of formulas in finite models, in floating point: how far each is from being false, or true.

A search moves along these; what it finds is confirmed exactly by the checker. Values are numbers, indices of points,
pairs, and laws as masses by value. A formula's value is its margin: true from 0 up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import islice, product
from typing import Any, TypeAlias

from dpverify.proving.checker.theorems.language import Node, named, parts_of
from dpverify.proving.theorems.noises import (
    NORMAL,
    FloatLine,
    NoisyLaw,
    NonlinearError,
    law_after,
    mixed,
    noisy_within,
)
from dpverify.proving.theorems.spreads import Spread, margin, sights, steady

Env: TypeAlias = "dict[str, Any]"
"""What letters are: a value, or a function of the tuple of arguments."""
Code: TypeAlias = "Callable[[Env], Any]"

STRICT = 1e-9
NOT_KNOWN = -10.0
"""The margin of what has no value, or is not worked out."""
GRID = (0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 0.1, 6.0, -0.4)
EVENTS = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 9.0)
"""Ends of events of numbers that are tried."""
FAILURES = (ValueError, ZeroDivisionError, OverflowError, KeyError, TypeError, AttributeError)
"""What goes wrong where a term has no value, or is of laws of different kinds."""
MANY = 300
NOISY = 5
"""Margins that one of two mixtures of lines is worth."""
NODES = {
    "normal": ((-(3**0.5), 1 / 6), (0.0, 2 / 3), (3**0.5, 1 / 6)),
    "uniform": ((-(0.15**0.5), 5 / 18), (0.0, 4 / 9), (0.15**0.5, 5 / 18)),
    "laplace": ((-(12**0.5), 1 / 12), (0.0, 5 / 6), (12**0.5, 1 / 12)),
    "exponential": (
        (0.415774556783479, 0.711093009929173),
        (2.294280360279042, 0.278517733569241),
        (6.289945082937479, 0.010389256501586),
    ),
}
"""Numbers and weights of which means of polynomials up to degree 5 are right."""


def _sum(parts: Sequence[float]) -> float:
    try:
        return math.fsum(parts)
    except NonlinearError:
        return sum(parts)


def _power(base: float, exponent: float) -> float:
    if base < 0 and exponent != int(exponent):
        raise ValueError("a root of what is negative")
    return float(base**exponent)


FUNCTIONS: dict[str, Callable[..., float]] = {
    "add": lambda *parts: _sum(parts), "mul": lambda *parts: math.prod(parts), "pow": _power,
    "exp": math.exp, "log": math.log, "max": max, "min": min, "abs": abs, "floor": math.floor,
    "ceiling": math.ceil, "phi": NORMAL.cdf, "phi_inverse": NORMAL.inv_cdf, "gamma": math.gamma,
    "erfc": math.erfc, "factorial": lambda n: float(math.factorial(int(n))),
    "binomial": lambda n, k: float(math.comb(int(n), int(k))),
    "sin": math.sin, "cos": math.cos, "arctan": math.atan,
    "pi": lambda: math.pi, "inner": lambda u, v: u * v, "norm": abs,
}  # fmt: skip
FOLDS: dict[str, Callable[[Iterable[float]], float]] = {
    "sum": lambda parts: _sum([*parts]), "product": math.prod, "largest": max, "smallest": min,
}  # fmt: skip
COMPARED: dict[str, Callable[[float, float], float]] = {
    "<=": lambda left, right: right - left + 1e-12 * (abs(left) + 1),
    "<": lambda left, right: right - left - STRICT,
}


def together(*margins: float) -> float:
    """The margin of a conjunction."""
    return min(margins, default=1.0)


def _equal(one: Any, other: Any) -> float:
    """FloatModel of equality: 0 where values are equal, else how far they are apart, negative."""
    if isinstance(one, dict) and isinstance(other, dict):
        return -max((abs(one.get(v, 0.0) - other.get(v, 0.0)) for v in {*one, *other}), default=0.0)
    if isinstance(one, NoisyLaw) and isinstance(other, NoisyLaw):
        return -float(one.form != other.form)
    if isinstance(one, float) or isinstance(other, float):
        gap = abs(float(one) - float(other))
        return 0.0 if gap <= 1e-12 * (1 + abs(float(one))) else -gap
    return 0.0 if one == other else -1.0


GUARANTEES = ("private", "renyi-private", "concentrated", "gaussian")


def _margin(head: str, one: Spread, other: Spread, bounds: list[float]) -> float:
    """The margin of a guarantee; of finite laws, a little more is asked for than holds exactly."""
    plain = isinstance(one, dict) and isinstance(other, dict)
    if plain and head == "private":
        return bounds[1] - sights(one, other)[0].excess(bounds[0]) + 1e-12
    slack = 0.1 * bounds[-1] if plain and head in ("concentrated", "gaussian") else -1e-12
    return max(margin(head, one, other, bounds) - slack, -8.0)


def _excess(grown: float, one: Spread, other: Spread) -> float:
    return max(sight.excess(math.log(grown)) for sight in sights(one, other))


def _divergence(order: float, one: Spread, other: Spread) -> float:
    if order < 1:
        raise ValueError("an order below 1")
    found = max(sight.divergence(order) for sight in sights(one, other))
    if found == math.inf:
        raise ValueError("laws of which one has no density by the other")
    return found


class FloatModel:
    """Formulas and terms as functions of letters, in models with given numbers of points."""

    def __init__(self, sizes: Mapping[str, int], neighbors: Mapping[str, list[tuple[int, int]]]) -> None:
        self.sizes, self.neighbors = sizes, neighbors
        self.worst: tuple[str, Spread, Spread, list[float]] | None = None
        """Of the guarantee whose margin was worked out last, the two laws that are furthest apart."""
        self.work = 0
        """How many margins of mixtures of lines were worked out, times what each is worth."""

    def points(self, kind: Node) -> list[Any]:
        """All values of a finite type; refused (ValueError) for others."""
        if kind == "formula":
            return [-1.0, 1.0]
        if isinstance(kind, str):
            if kind not in self.sizes:
                raise ValueError(f"{kind} is not finite")
            return [*range(self.sizes[kind])]
        if kind[0] != "pair":
            raise ValueError("laws are not finitely many")
        return [*product(self.points(kind[1]), self.points(kind[2]))]

    def choices(self, kinds: tuple[Node, ...], kind: Node) -> list[Any]:
        """Values that are tried of a letter of an `all`."""
        if not kinds:
            few: dict[Node, list[Any]] = {"real": [*GRID], "integer": [0, 1, 60, 2, -7, 3]}
            return few[kind] if kind in few else self.points(kind)
        if kinds in (("real",), ("integer",)) and kind == "formula":
            return [partial(_within, shape, end) for end in EVENTS for shape in (0, 1, -1)]
        places, values = [*product(*map(self.points, kinds))], self.points(kind)
        if len(values) ** len(places) > 4096:
            raise ValueError("more values than are tried")
        rows = product(values, repeat=len(places))
        return [dict(zip(places, row, strict=True)).__getitem__ for row in rows]

    def code(self, node: Node) -> Code:
        """A term or formula as a function of letters."""
        head, *rest = parts_of(node)
        if head == "num":
            written = named(rest[0])
            number = float_of(written)
            return lambda _: number
        if head == "sym":
            name = named(rest[0])
            return lambda env: env[name]
        if head == "of":
            name, args = named(rest[0]), [self.code(part) for part in rest[1:]]
            return lambda env: env[name](tuple(arg(env) for arg in args))
        if head == "all":
            return self._for_all(node)
        made = self._binder(named(head), rest) or self._formula(named(head), rest)
        if made is not None:
            return made
        parts = [self.code(part) for part in rest]
        apply = {**FUNCTIONS, **LAWS_AND_PAIRS}[named(head)]
        return lambda env: apply(*(part(env) for part in parts))

    def margin(self, node: Node) -> Code:
        """A formula; what has no value has the margin of what is not known."""
        inner = self.code(node)

        def safe(env: Env) -> float:
            try:
                return float(inner(env))
            except FAILURES as error:
                if isinstance(error, NonlinearError) and any(map(noisy_within, env.values())):
                    raise
                return NOT_KNOWN

        return safe

    def _formula(self, head: str, rest: list[Node]) -> Code | None:
        if head in ("and", "or", "not", "implies"):
            parts = [self.margin(part) for part in rest]
            if head == "not":
                return lambda env: -parts[0](env) - STRICT
            if head == "implies":
                return lambda env: _implied([parts[0](env)], lambda: parts[1](env))
            fold = together if head == "and" else max
            return lambda env: fold(*(part(env) for part in parts))
        if head in ("<=", "<", "==", "!="):
            left, right = (self.code(part) for part in rest)
            if head in COMPARED:
                compare = COMPARED[head]
                return lambda env: compare(left(env), right(env))
            sign = 1 if head == "==" else -1
            return lambda env: sign * _equal(left(env), right(env)) - STRICT * (sign < 0)
        if head == "neighbors":
            near = {pair for pairs in self.neighbors.values() for pair in pairs}
            one, other = (self.code(part) for part in rest)
            return lambda env: 1.0 if (one(env), other(env)) in near else -1.0
        return None

    def _binder(self, head: str, rest: list[Node]) -> Code | None:
        if head in GUARANTEES:
            return self._guarantee(head, rest)
        if head in FOLDS:
            name, body = named(parts_of(rest[0])[0]), self.code(rest[1])
            ends = [self.code(part) for part in rest[2:]]
            fold = FOLDS[head]
            return lambda env: fold(
                _each(env, name, range(int(ends[0](env)), min(int(ends[1](env)), 200) + 1), body)
            )
        if head in ("total", "proportional"):
            over = named(parts_of(rest[0])[0])
            values, body = self.points(parts_of(rest[0])[1]), self.code(rest[1])
            if head == "total":
                return lambda env: math.fsum(_each(env, over, values, body))
            return lambda env: _normalized(values, [*_each(env, over, values, body)])
        if head == "density":
            return lambda _: -1.0
        if head not in ("mean", "chance", "then", "integrable"):
            return None
        name, law, body = named(parts_of(rest[0])[0]), self.code(rest[1]), self.code(rest[2])
        rules: dict[str, Callable[[list[float], list[Any]], Any]] = {
            "mean": lambda masses, values: math.fsum(map(float.__mul__, masses, map(float, values))),
            "chance": lambda masses, values: math.fsum(
                m for m, v in zip(masses, values, strict=True) if v >= 0
            ),
            "integrable": lambda _, __: 1.0,
            "then": mixed,
        }
        rule = rules[head]

        def run(env: Env) -> Any:
            found = law(env)
            if isinstance(found, FloatLine) and head == "mean":
                nodes = [(found.at + found.scale * z, weight) for z, weight in NODES[found.family]]
                values = [*_each(env, name, [z for z, _ in nodes], body)]
                return rule([weight for _, weight in nodes], values)
            if isinstance(found, FloatLine | NoisyLaw) and head == "then":
                return law_after(found, lambda value: body({**env, name: value}))
            if isinstance(found, FloatLine):
                values = found.values()
                return rule([1 / len(values)] * len(values), [*_each(env, name, values, body)])
            return rule([*found.values()], [*_each(env, name, found, body)])

        return run

    def _guarantee(self, head: str, rest: list[Node]) -> Code:
        name, kind = map(named, parts_of(rest[0]))
        law, bounds = self.code(rest[1]), [self.code(part) for part in rest[2:]]
        pairs = self.neighbors[kind]

        def run(env: Env) -> float:
            laws = [*_each(env, name, range(self.sizes[kind]), law)]
            at, worst = [float(bound(env)) for bound in bounds], 1.0
            for i, j in pairs:
                self.work += NOISY * (isinstance(laws[i], NoisyLaw) and len(laws[i].masses) > 1)
                if steady(found := _margin(head, laws[i], laws[j], at)) < steady(worst):
                    worst, self.worst = found, (head, laws[i], laws[j], at)
            return worst

        return run

    def _for_all(self, node: Node) -> Code:
        _, letters, premises, claim = parts_of(node)
        known = [(named(n), parts_of(kinds), kind) for n, kinds, kind in map(parts_of, parts_of(letters))]
        given, held = [self.margin(part) for part in parts_of(premises)], self.margin(claim)
        names = [name for name, _, _ in known]
        values = [self.choices(kinds, kind) for _, kinds, kind in known]
        reals = sum(kind == "real" and not kinds for _, kinds, kind in known)
        most = (0, 9, 5)[min(reals, 2)]
        some = [0.0, 1.0, 0.5] if reals > 2 else [*GRID[:most]]
        values = [some if v == [*GRID] else v for v in values]

        def run(env: Env) -> float:
            found, old = 1.0, {name: env[name] for name in names if name in env}
            for row in islice(product(*values), MANY):
                env.update(zip(names, row, strict=True))
                found = min(found, _implied((part(env) for part in given), lambda: held(env)))
            env.update(old)
            return found

        return run


@lru_cache(10**4)
def float_of(written: str) -> float:
    """A written fraction or decimal."""
    return float(Fraction(written))


def _within(shape: int, end: float, args: tuple[Any, ...]) -> float:
    """An event of numbers: those that are the end, at least the end, or at most the end."""
    return 1.0 if (args[0] == end if shape == 0 else shape * (args[0] - end) >= 0) else -1.0


def _implied(given: Iterable[float], held: Callable[[], float]) -> float:
    worst = together(*given)
    return held() if worst >= 0 else max(-worst, 0.0)


def _each(env: Env, name: str, values: Iterable[Any], body: Code) -> Iterator[Any]:
    old = env.get(name)
    for value in [*values]:
        env[name] = value
        yield body(env)
    env[name] = old


def _normalized(values: list[Any], weights: list[float]) -> dict[Any, float]:
    total = math.fsum(weights)
    if min(weights) < 0 or total <= 0:
        raise ValueError("weights of no law")
    return {v: w / total for v, w in zip(values, weights, strict=True)}


def _mixture(weight: float, one: Any, other: Any) -> Any:
    if not 0 <= weight <= 1:
        raise ValueError("a weight that is no chance")
    return mixed([weight, 1 - weight], [one, other])


def _line(family: str) -> Callable[[float, float], FloatLine]:
    def law(at: float, scale: float) -> FloatLine:
        if scale <= 0:
            raise ValueError("a law without a scale")
        return FloatLine(family, at, scale)

    return law


def _uniform(low: float, high: float) -> FloatLine:
    if low >= high:
        raise ValueError("a law without length")
    return FloatLine("uniform", (low + high) / 2, high - low)


def _dominated(one: dict[Any, float], other: dict[Any, float]) -> float:
    return min((1.0 if other.get(v, 0.0) > 0 else -p for v, p in one.items() if p > 0), default=1.0)


LAWS_AND_PAIRS: dict[str, Callable[..., Any]] = {
    "certain": lambda value: {value: 1.0},
    "pair": lambda one, other: (one, other),
    "bernoulli": lambda p: _mixture(p, {1.0: 1.0}, {0.0: 1.0}),
    "mixture": _mixture,
    "normal": _line("normal"),
    "laplace": _line("laplace"),
    "exponential": lambda scale: _line("exponential")(0.0, scale),
    "uniform": _uniform,
    "indicator": lambda f: 1.0 if f >= 0 else 0.0,
    "ratio": lambda one, other, at: one.get(at, 0.0) / other[at] if other.get(at, 0.0) else 0.0,
    "excess": _excess,
    "divergence": _divergence,
    "dominated": _dominated,
}
