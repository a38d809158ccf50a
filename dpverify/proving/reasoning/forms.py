"""Forms of expressions in which derivatives cancel and signs are seen, and letters in which they are simpler."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import sympy as sp

from dpverify.formulas.expressions import TooLargeError, Variable, real
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.proving.reasoning.algebra import (
    in_factors,
    multiplied_out,
    outer_terms,
    replaced,
    simplified,
    split_exponents,
)
from dpverify.proving.reasoning.evaluation import evaluate
from dpverify.proving.reasoning.normal_form import is_identity
from dpverify.proving.reasoning.symbolic import TRANSCENDENTAL, Phi, SymPy, symbol, tree

_KINDS = 5
"""Exponentials, logarithms and values of Phi in it."""
_FACTORED = 80
"""The same of what is factored."""


_INVERSE = "an inverse"
"""What a letter for one means, so that none is taken again."""


@lru_cache(4_000)
def simple(e: SymPy) -> SymPy:
    """An expression over a common denominator, factored where that is quick."""
    if e.count_ops() > _FACTORED or len(e.atoms(*TRANSCENDENTAL)) > _KINDS:
        return e
    try:
        return in_factors(joined(split_exponents(e)))
    except (TooLargeError, sp.PolynomialError, NotImplementedError):
        return e


def joined(e: SymPy) -> SymPy:
    """An expression in which powers of one base that are multiplied are one power."""
    if e.is_Atom:
        return e
    e = e.func(*map(joined, e.args))
    if not e.is_Mul:
        return e
    exponents: dict[SymPy, list[SymPy]] = {}
    for factor in e.args:
        base, exponent = (sp.E, factor.args[0]) if isinstance(factor, sp.exp) else factor.as_base_exp()
        exponents.setdefault(base, []).append(exponent)
    return sp.Mul(*(sp.Pow(base, sp.Add(*powers)) for base, powers in exponents.items()))


def aligned(e: SymPy) -> SymPy:
    """A sum in each term of which all exponentials are one, of a sum that is multiplied out: equal ones cancel."""
    terms = []
    for term in outer_terms(e):
        exponents = [g for g in sp.Mul.make_args(term) if isinstance(g, sp.exp)]
        rest = sp.Mul(*(g for g in sp.Mul.make_args(term) if not isinstance(g, sp.exp)))
        terms.append(rest * sp.exp(multiplied_out(sp.Add(*(g.args[0] for g in exponents)))))
    return sp.Add(*terms)


def hardness(e: SymPy) -> tuple[int, int]:
    """How far an expression is from being algebraic."""
    factors = [g for g in sp.Mul.make_args(e) if not isinstance(g, sp.exp)]
    rest = sp.Mul(*factors)
    return len(rest.atoms(*TRANSCENDENTAL)), int(rest.count_ops())


def logarithms_apart(e: SymPy) -> SymPy:
    """An expression in which logarithms of quotients are differences."""
    logs = {u: sp.expand_log(sp.log(in_factors(u.args[0])), force=True) for u in e.atoms(sp.log)}
    return multiplied_out(replaced(e, logs)) if any(u != v for u, v in logs.items()) else e


def new_letters(v: Variable, f: SymPy, thorough: bool) -> Iterator[tuple[Variable, SymPy, SymPy]]:
    """New letters, what they stand for, and what v is in terms of them, for a v that may be any large number."""
    x = symbol(v)
    if v.upper is not None or v.lower is None or v.lower < 0:
        return
    roots = [p for p in f.atoms(sp.Pow) if p.base == x and p.exp.is_Rational and p.exp.q == 2]
    if roots and v.lower == 0:
        # so that Phi is of the letter itself
        ratios = sorted((part.args[0] / sp.sqrt(x) for part in f.atoms(Phi)), key=sp.default_sort_key)
        scale = next((r**2 for r in ratios if (r**2).is_Rational), sp.Integer(1))
        t = real(f"root_{v.name}", gt=0) if v.lower_open else real(f"root_{v.name}", ge=0)
        yield t, sp.Pow(scale * x, sp.Rational(1, 2), evaluate=False), symbol(t) ** 2 / scale
    if any((1 / x) in part.atoms(sp.Pow) for part in f.atoms(sp.log)) and (v.lower > 0 or v.lower_open):
        ends = {"gt": 0} if v.lower == 0 else {"gt": 0, "lt" if v.lower_open else "le": 1 / v.lower}
        t = real(f"inverse_{v.name}", meaning=_INVERSE, **ends)
        yield t, 1 / x, 1 / symbol(t)
    if thorough and v.lower == 0 and v.lower_open and v.meaning != _INVERSE:
        inside = set().union(*(part.args[0].atoms(sp.Pow) for part in f.atoms(*TRANSCENDENTAL)))
        for k in sorted({-int(p.exp) for p in inside if p.base == x and p.exp in (-1, -2)}):
            t = real(f"inverse_{v.name}", gt=0, meaning=_INVERSE)
            yield t, x**-k, sp.Pow(symbol(t), -sp.Rational(1, k))
    lines = [u.args[0] for u in f.atoms(sp.log) if u.has(x)]
    if thorough and len(lines) > 1 and v.meaning != _INVERSE and (v.lower > 0 or v.lower_open):
        ends = {"gt": 0} if v.lower == 0 else {"gt": 0, "lt" if v.lower_open else "le": 1 / v.lower}
        t = real(f"inverse_{v.name}", meaning=_INVERSE, **ends)
        if not logarithms_apart(replaced(f, {x: 1 / symbol(t)})).has(sp.log(symbol(t))):
            yield t, 1 / x, 1 / symbol(t)


def is_zero(f: SymPy) -> bool:
    """Whether an expression is 0 for all values, in one form or another."""
    return is_identity(f, sp.Integer(0)) or simplified(f) == 0


def vanishes(e: SymPy) -> bool:
    """Whether a number is 0, as far as its value and its normal form tell."""
    if e.free_symbols or not e.is_number or e.is_finite is False or e.has(sp.nan, sp.zoo):
        return False
    try:
        value = evaluate(tree(e), {})
    except UndefinedError:
        return False
    except UnclearError:
        return is_identity(e, sp.Integer(0))
    return value == 0 if isinstance(value, Fraction) else value.contains(0) and is_identity(e, sp.Integer(0))


def log_of(g: SymPy) -> SymPy:
    base, n = g.as_base_exp()
    if isinstance(g, sp.exp):
        return g.args[0]
    # of anything longer, SymPy would look for the digits
    return n * sp.log(base, evaluate=base.is_Atom)


def inside_functions(e: SymPy) -> set[SymPy]:
    """The letters in exponents, logarithms and Phi."""
    parts = [*e.atoms(*TRANSCENDENTAL), *(p for p in e.atoms(sp.Pow) if not p.exp.is_Integer)]
    return set().union(*(p.free_symbols for p in parts))
