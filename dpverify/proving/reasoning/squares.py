"""Inequalities whose sides differ by a square times something simpler."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from dpverify.formulas.expressions import OutOfScopeError
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.reasoning.normal_form import NormalForms
from dpverify.proving.reasoning.polynomials import Monomial, Polynomial, factored
from dpverify.proving.reasoning.symbolic import Symbolic, SymPy, rational, symbolic_to_json

_LONGEST = 200
"""Operations of the longest difference that is factored."""


@dataclass(frozen=True)
class SquareFactor:
    """right - left = root^2 * rest, identically."""

    root: SymPy
    rest: SymPy

    def to_json(self) -> dict[str, Json]:
        """As certificates write it."""
        return {"root": symbolic_to_json(self.root), "rest": symbolic_to_json(self.rest)}


def square_factor(claim: Symbolic) -> SquareFactor | None:
    """The largest square in a rational function right - left, for claims with `<=`; None where there is none."""
    difference = claim.right - claim.left
    symbols = sorted(difference.free_symbols, key=sp.default_sort_key)
    if claim.relation != "<=" or not symbols or difference.count_ops() > _LONGEST:
        return None
    if not difference.is_rational_function(*symbols):
        return None
    forms = NormalForms()
    try:
        q = forms.of(difference)
        constant, monomial, others = factored(q.numerator)
    except OutOfScopeError:
        return None
    # powers of symbols may be negative, being cancelled from the denominator
    powers = [(_symbol(forms, a), int(e)) for a, e in monomial if e.denominator == 1]
    if len(powers) < len(monomial) or not all(atom.key[0] == "symbol" for atom in forms.atoms):
        return None
    parts = [*powers, *((_expression(forms, f), n) for f, n in others)]
    root = sp.Mul(*(f ** (n // 2) for f, n in parts if n > 1))
    if not root.free_symbols:
        return None
    left = sp.Mul(*(f ** (n % 2 if n > 1 else n) for f, n in parts))
    return SquareFactor(root, rational(constant) * left / _expression(forms, q.denominator))


def _symbol(forms: NormalForms, letter: int) -> SymPy:
    return forms.atoms[letter].expression


def _monomial(forms: NormalForms, m: Monomial) -> SymPy:
    return sp.Mul(*(_symbol(forms, a) ** rational(Fraction(e)) for a, e in m))


def _expression(forms: NormalForms, p: Polynomial) -> SymPy:
    return sp.Add(*(rational(c) * _monomial(forms, m) for m, c in p.items()))
