"""Where two sides of an inequality may touch: the zeros of a derivative in one letter, as far as they can be written.

What is found here is a guess that floats have looked at; whoever cuts a domain there shows both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress

import sympy as sp

from dpverify.formulas.expressions import OutOfScopeError, TooLargeError
from dpverify.formulas.logic import Compare
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.reasoning.algebra import (
    derivative,
    in_factors,
    joined_powers,
    low_roots,
    multiplied_out,
    replaced,
)  # fmt: skip
from dpverify.proving.reasoning.places import Assumptions
from dpverify.proving.reasoning.symbolic import SymPy, symbol, symbolic, symbolic_to_json

_LONGEST = 120
"""Operations of the longest factor of a derivative in which a zero is looked for."""
_FINE = 1000
"""Denominators of bounds that take the place of irrational ones."""
_SIMPLE = (sp.Rational(1, 2), sp.E, 1 / sp.E)


def contacts(place: Assumptions, rate: SymPy, x: SymPy) -> Iterator[SymPy]:
    """Values of a letter, in the others, at which a derivative vanishes at every point that floats look at."""
    factors = [f for f in sp.Mul.make_args(rate) if f.has(x) and len(place.signs(f)) > 1]
    seen: set[SymPy] = set()
    for factor in factors:
        if factor.count_ops() > _LONGEST:
            continue
        others = [symbol(v) for v in place.variables if symbol(v) != x]
        for value in (*zeros(factor, x), *others, *_SIMPLE):
            if value in seen or value.has(x) or value.is_real is False:
                continue
            seen.add(value)
            try:
                there = replaced(factor, {x: value})
            except TooLargeError:
                continue
            if place.vanishes(there):
                yield value


def _gaps(place: Assumptions) -> Iterator[SymPy]:
    """What the conditions say is not negative."""
    for given in place.given:
        if isinstance(given, Compare) and given.relation in ("<", "<="):
            with suppress(OutOfScopeError):
                yield symbolic(given.right - given.left)


def logarithms(place: Assumptions) -> Iterator[tuple[SymPy, Json, Json]]:
    """From conditions u <= v between products, one with an exponential: log v - log u, and v and u themselves."""
    for gap in _gaps(place):
        terms = sp.Add.make_args(gap)
        if len(terms) != 2 or not any(isinstance(g, sp.exp) for t in terms for g in sp.Mul.make_args(t)):
            continue
        signed = {sign: t for t in terms for sign in place.signs(t)}
        if len(signed) == 2 and all(
            place.at_once(t * s, strict=True, solver=False) for s, t in signed.items()
        ):
            larger, smaller = signed[1], -signed[-1]
            yield logarithm(larger) - logarithm(smaller), symbolic_to_json(larger), symbolic_to_json(smaller)


def bounds(place: Assumptions) -> Iterator[SymPy]:
    """What is not negative because a condition that is not linear in a letter bounds it, as far as floats see."""
    for gap in _gaps(place):
        for v in place.variables:
            x = symbol(v)
            if not gap.has(x) or derivative(gap, x).is_number:
                continue
            for end in dict.fromkeys(isolated(gap, x)):
                if end.has(x) or end.has(sp.zoo, sp.nan, sp.I):
                    continue
                signs = place.signs(x - end)
                if len(signs) == 1:
                    yield x - _below(end) if 1 in signs else -_below(-end) - x


def _below(e: SymPy) -> SymPy:
    """A fraction a little below a number that is none; what is no number stays."""
    return sp.Rational(math.floor(e.evalf(15) * _FINE), _FINE) if e.is_number and not e.is_Rational else e


def isolated(e: SymPy, x: SymPy) -> Iterator[SymPy]:
    """Candidates for the value of a positive letter at which an expression is 0, what is around it taken off."""
    value = sp.Integer(0)
    while e != x:
        terms = [t for t in sp.Add.make_args(e) if t.has(x)]
        if len(terms) != 1:
            break
        factor, inside = terms[0].as_independent(x, as_Add=False)
        value, e = (value - (e - terms[0])) / factor, inside
        if isinstance(e, sp.log):
            value, e = sp.exp(value), e.args[0]
        elif isinstance(e, sp.exp):
            value, e = sp.log(value), e.args[0]
        elif e.is_Pow and not e.exp.has(x):
            value, e = value ** (1 / e.exp), e.base
        elif e.is_Pow and not e.base.has(x):
            value, e = sp.log(value) / sp.log(e.base), e.exp
        elif e != x:
            break
    if e == x:
        yield joined_powers(value)
    else:
        yield from zeros(e - value, x)


def zeros(e: SymPy, x: SymPy) -> Iterator[SymPy]:
    """Candidates for values of a positive letter at which a sum is 0: by its logarithms, or those of its two terms."""
    terms = sp.Add.make_args(multiplied_out(e))
    forms = [sp.Add(*terms)]
    if len(terms) == 2:
        forms.append(logarithm(terms[0]) - logarithm(-terms[1]))
    for form in forms:
        with_x, rest = [], sp.Integer(0)
        for term in sp.Add.make_args(sp.expand_log(multiplied_out(form), force=True)):
            if term.has(x):
                with_x.append(term)
            else:
                rest += term
        yield from _of_terms(with_x, rest, x)


def logarithm(e: SymPy) -> SymPy:
    return sp.Add(*(sp.expand_log(sp.log(g), force=True) for g in sp.Mul.make_args(e)))


def _of_terms(with_x: list[SymPy], rest: SymPy, x: SymPy) -> Iterator[SymPy]:
    """The zeros of a sum of terms with x and a rest without, linear in x or in logarithms of sums with x."""
    linear = sp.Add(*with_x)
    rate = in_factors(derivative(linear, x)) if linear.is_polynomial(x) else None
    if rate is not None and rate != 0 and not rate.has(x):
        yield in_factors(-rest / rate)
        return
    logs: dict[SymPy, SymPy] = {}
    for term in with_x:
        c, u = term.as_independent(x, as_Add=False)
        if not isinstance(u, sp.log):
            return
        logs[u] = logs.get(u, sp.Integer(0)) + c
    unit = next((c for c in map(in_factors, logs.values()) if c != 0), None)
    if unit is None:
        return
    ratios = [(in_factors(c / unit), u.args[0]) for u, c in logs.items()]
    if not all(c.is_Integer for c, _ in ratios):
        return
    value = exponential(-rest / unit)
    base = sp.Mul(*(u**c for c, u in ratios))
    if base == x:
        yield value
    elif 1 / base == x:
        yield 1 / value
    else:
        yield from low_roots(base - value, x)


def exponential(e: SymPy) -> SymPy:
    """The exponential of a sum of multiples of logarithms, as a product of powers."""
    logs: dict[SymPy, SymPy] = {}
    rest = sp.Integer(0)
    for term in sp.Add.make_args(sp.expand_log(multiplied_out(e), force=True)):
        c, u = term.as_independent(sp.log, as_Add=False)
        if isinstance(u, sp.log):
            logs[u.args[0]] = logs.get(u.args[0], sp.Integer(0)) + c
        else:
            rest += term
    powers = [base ** in_factors(c) for base, c in logs.items()]
    return joined_powers(sp.Mul(sp.exp(in_factors(rest)), *powers))
