"""Refutations by growth without bound along curves, which are looked for in floats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    free_variables,
    integer,
)
from dpverify.formulas.logic import Compare, free_in
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Proof, gap_of
from dpverify.proving.provers.points import admitted, graded, simple_values
from dpverify.proving.provers.quantified.ratios import LEAST, MOST, SIZES, Ratio, extremes, inside
from dpverify.proving.provers.quantified.task import Growth, Task, fresh, values_text

_TRIED = 6
"""How many curves are tried."""


def growing(task: Task) -> Proof | None:
    """A refutation by a curve along which no constant will do."""
    if not task.prefix.chosen_first or not task.prefix.chosen:
        return None
    unknown = set(task.prefix.chosen)
    conditions = tuple(f for f in task.conditions if not free_in(f) & unknown)
    for place, part in enumerate(task.parts):
        assert isinstance(part, Compare)
        mine = [v for v in task.constants if v in free_in(part)]
        if free_in(part) & unknown - set(mine) or part.relation not in ("<=", "<"):
            continue
        try:
            ratio = Ratio(part, mine, task.letters, conditions)
        except OutOfScopeError as error:
            task.note(str(error), gap_of(error))
            continue
        t = integer(fresh("t", task.problem))
        for far, of in zip(extremes(ratio, SIZES[0]), (LEAST, MOST), strict=True):
            distinct: dict[str, Curve] = {}
            for curve in curves(ratio, task.problem.over, far.points[0], of):
                distinct.setdefault(values_text(curve.values(t)), curve)
            for curve in itertools.islice(distinct.values(), _TRIED):
                which = None if len(task.parts) == 1 else place
                proof = _refuted(task, curve, mine, which, above=of == LEAST)
                if proof is not None:
                    return proof
    return None


def _refuted(
    task: Task, curve: Curve, mine: Sequence[Variable], part: int | None, *, above: bool
) -> Proof | None:
    """The refutation along a curve, if it is proved."""
    t = integer(fresh("t", task.problem), ge=curve.start)
    values = curve.values(t)
    growth = None
    moves = any(t in free_variables(e) for e in values.values())
    if moves or not curve.unbounded:
        # a condition such as n_0 <= n asks more the larger the constant is, eps <= eps_0 the smaller it is
        limits = [free_variables(f.right) for f in task.prefix.premises if isinstance(f, Compare)]
        small = tuple(v for v in task.others if any(v in letters for letters in limits))
        large = (v for v in task.others if v not in small)
        growth = Growth(
            t,
            curve.factor,
            curve.power,
            (*(mine if above else ()), *large),
            (*(() if above else mine), *small),
        )
    inner = task.negation(values, growth, part)
    found = task.all_shown(inner, f"along {values_text(values)}: ", (Verdict.PROVED,))
    if found is None:
        return None
    proofs = [_nearer(proof, of) for proof, of in zip(found, inner, strict=True)]
    said = f"false at {values_text(values)}"
    more: dict[str, Json] = {}
    if growth is not None:
        more["growth"] = growth.to_json()
        rate = growth.text()
        bounds = [
            *(f"{v.name} <= {rate}" for v in growth.above), *(f"{v.name} >= 1/({rate})" for v in growth.below)
        ]  # fmt: skip
        along = f"{t.name} = {curve.start}, {curve.start + 1}, ..."
        said = f"false along {values_text(values)} for {', '.join(bounds)}, {along}"
    if part is not None:
        more["part"] = part
    return task.refutation(values, proofs, said, more)


def _nearer(proof: Proof, inner: ProofProblem) -> Proof:
    """The proof with a witness at which it is plain that a constant is below a logarithm."""
    bounded = (a for a in inner.assuming if isinstance(a, Compare))
    low = {a.left for a in bounded if isinstance(a.left, Variable)}
    for far in (Fraction(2), Fraction(4), Fraction(100)):
        point = {
            v.name: v.lower * far if v.lower else Fraction(1, 1000) / far if v in low else 1000 * far
            for v in inner.over
        }
        if admitted(inner, point):
            named = {name: str(x) for name, x in point.items()}
            return replace(proof, witness=named, certificate={**(proof.certificate or {}), "witness": named})
    return proof


_ONE = Fraction(1)
_LATE = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Where curves are looked at; 2^t is not too large there."""
_EARLY = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
_STARTS = (1.0, 2.0, 4.0, 16.0)
"""From where on something is to hold."""
_POWERS = (Fraction(3), Fraction(2), Fraction(1), Fraction(1, 2))
_BASES = 3
"""Points off which the letters that do not move are taken."""
_CURVES = 20_000
"""Curves that are looked at."""


@dataclass(frozen=True)
class Form:
    """A way for a letter to move with t: the expression, and its value in floats."""

    at: Callable[[Variable], Expression]
    value: Callable[[float], float]


@dataclass(frozen=True)
class Curve:
    """How each letter moves, and a rate that what is needed does not fall below from some t on.

    The rate is factor * t^power, or factor * log t where there is no power.
    """

    forms: Mapping[Variable, Form]
    start: int
    factor: Fraction
    power: Fraction | None
    unbounded: bool
    """Whether no constant at all will do, anywhere on the curve."""

    def values(self, t: Variable) -> dict[Variable, Expression]:
        """The letters as expressions in t."""
        return {v: form.at(t) for v, form in self.forms.items()}


def constant_form(x: Fraction) -> Form:
    """A letter that does not move."""
    return Form(lambda _: Number(x), lambda _: float(x))


def forms_of(v: Variable) -> Iterator[Form]:
    """Ways for a letter to go to an end of its domain, simple ones first."""
    whole = v.kind == "integer"
    if v.upper is None:
        low = v.lower if v.lower is not None else Fraction(0)
        start = max(Fraction(math.ceil(low)), _ONE)
        for power in (1, 2, 3):
            yield _risen(start, power)
        yield Form(
            lambda t: _scaled(start, Apply("pow", (Number(Fraction(2)), t))), lambda t: float(start) * 2.0**t
        )
        if not whole:
            yield Form(lambda t: _scaled(start, Apply("exp", (t,))), lambda t: float(start) * math.exp(t))
    if whole:
        return
    if v.lower is not None:
        yield from _towards(v.lower, None if v.upper is None else v.upper - v.lower)
    if v.upper is not None:
        yield from _towards(v.upper, None if v.lower is None else v.lower - v.upper)
    elif v.lower is None:
        yield Form(lambda t: -t, lambda t: -t)


def _risen(start: Fraction, power: int) -> Form:
    def at(t: Variable) -> Expression:
        return _scaled(start, t if power == 1 else t**power)

    return Form(at, lambda t: float(start) * t**power)


def _scaled(times: Fraction, e: Expression) -> Expression:
    return e if times == 1 else Number(times) * e


def _towards(end: Fraction, width: Fraction | None) -> Iterator[Form]:
    """To an end: by width / (t + 1), its square, and exponentially."""
    size = _ONE if width is None else width

    def moved(e: Expression) -> Expression:
        return e if end == 0 else Number(end) + e

    for power in (1, 2):

        def at(t: Variable, power: int = power) -> Expression:
            return moved(Number(size) / (t if power == 1 else t**power))

        yield Form(at, lambda t, power=power: float(end) + float(size) / t**power)  # type: ignore[misc]
    yield Form(
        lambda t: moved(_scaled(size, Apply("exp", (-t,)))), lambda t: float(end) + float(size) * math.exp(-t)
    )


def curves(ratio: Ratio, fixed: Sequence[Variable], far: Sequence[float], of: int) -> list[Curve]:
    """Curves along which `of` what is needed grows like a power of t; those on which few letters move come first.

    `far` is a point at which much is needed.
    """
    found: list[tuple[tuple[int, int], Curve]] = []
    looked = 0
    bases = list(_bases(ratio, far))
    moving = [v for v in ratio.letters if v not in fixed]
    forms = {v: list(forms_of(v)) for v in moving}
    for count in range(min(len(moving), 3) + 1):
        for letters in itertools.combinations(moving, count):
            for base in bases:
                for chosen in itertools.product(*(enumerate(forms[v]) for v in letters)):
                    looked += 1
                    if looked > _CURVES:
                        break
                    ways = dict(base) | {v: form for v, (_, form) in zip(letters, chosen, strict=True)}
                    curve = _measured(ratio, {v: ways[v] for v in ratio.letters}, of)
                    if curve is not None:
                        found.append(((count, sum(rank for rank, _ in chosen)), curve))
        if found:
            break
    found.sort(key=lambda entry: entry[0])
    return [curve for _, curve in found]


def _bases(ratio: Ratio, far: Sequence[float]) -> Iterator[dict[Variable, Form]]:
    """Points with simple numbers at which something is needed."""
    points = graded([simple_values(v, None) for v in ratio.letters], 400)
    needing = (values for values in points if ratio.needed([float(x) for x in values]) is not None)
    for values in itertools.islice(needing, _BASES):
        yield {v: constant_form(x) for v, x in zip(ratio.letters, values, strict=True)}
    if len(far) == len(ratio.letters) and all(map(math.isfinite, far)):
        near = [
            Fraction(round(x)) if v.kind == "integer" else Fraction(x)
            for v, x in zip(ratio.letters, far, strict=True)
        ]
        yield {v: constant_form(x) for v, x in zip(ratio.letters, near, strict=True)}


def _measured(ratio: Ratio, forms: Mapping[Variable, Form], of: int) -> Curve | None:
    def at(t: float) -> float | None:
        try:
            x = [form.value(t) for form in forms.values()]
            within = all(inside(v, value) for v, value in zip(forms, x, strict=True))
            found = ratio.needed(x) if within else None
        except OverflowError:
            return None
        return None if found is None else found[of]

    found = {t: at(t) for t in (*_EARLY, *_LATE)}
    start = next(
        (t for t in _STARTS if None not in [r for u, r in found.items() if t <= u <= _LATE[3]]), None
    )
    if start is None:
        return None
    known = [(t, r) for t, r in found.items() if r is not None and t >= start]
    if all(math.isinf(r) for _, r in known):
        return Curve(forms, int(start), _ONE, _ONE, True)
    (t0, r0), (t1, r1) = known[-3], known[-1]
    if not 0 < r0 < r1 < math.inf:
        return None
    slope = math.log(r1 / r0) / math.log(t1 / t0)
    power = next((p for p in _POWERS if float(p) <= slope + 0.03), None)
    if slope > 3.5:
        power = _ONE  # exponential: a simple rate is easier to prove
    if power is None and (r1 - r0) / math.log(t1 / t0) < 0.02 * r1:
        return None  # not even like a logarithm
    for first in (t for t in _STARTS if t >= start):
        shares = [
            r / (math.log(t) if power is None else t ** float(power))
            for t, r in known
            if t >= first and (t > 1 or power)
        ]
        if min(shares) > 0.3 * shares[-1]:
            return Curve(forms, int(first), _rounded(min(shares) * 0.7), power, False)
    return None


def _rounded(x: float) -> Fraction:
    """A simple number that is not above."""
    if x >= 1:
        return Fraction(math.floor(x)) if x < 100 else Fraction(10 ** math.floor(math.log10(x)))
    return Fraction(1, math.ceil(1 / x)) if x > 1e-3 else Fraction(1, 10 ** math.ceil(-math.log10(x)))
