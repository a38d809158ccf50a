"""Inequalities between logarithms, or between exponentials, that follow from their arguments' order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.reasoning.symbolic import Symbolic, SymPy, fraction, symbolic_to_json

_HIGHEST = 12
"""Powers of arguments up to this one are written out."""


@dataclass(frozen=True)
class Unwrapped:
    """right - left = times * (function(larger) - function(smaller)), identically, with times > 0."""

    function: str
    times: Fraction
    smaller: SymPy
    larger: SymPy

    def to_json(self) -> dict[str, Json]:
        """As certificates write it."""
        return {
            "function": self.function,
            "times": str(self.times),
            "smaller": symbolic_to_json(self.smaller),
            "larger": symbolic_to_json(self.larger),
        }


def unwrapped(claim: Symbolic) -> Unwrapped | None:
    """The arguments to compare instead, where both sides' difference is one of log or of exp alone."""
    if claim.relation not in ("<=", "<"):
        return None
    terms = [t.as_coeff_Mul() for t in sp.Add.make_args(claim.right - claim.left)]
    if not all(c.is_Rational for c, _ in terms):
        return None
    return _of_logarithms(terms) or _of_exponentials(terms)


def _of_logarithms(terms: list[tuple[SymPy, SymPy]]) -> Unwrapped | None:
    if not all(isinstance(rest, sp.log) for _, rest in terms):
        return None
    coefficients = [fraction(c) for c, _ in terms]
    unit = Fraction(
        math.gcd(*(c.numerator for c in coefficients)), math.lcm(*(c.denominator for c in coefficients))
    )
    smaller = larger = sp.Integer(1)
    for c, (_, logarithm) in zip(coefficients, terms, strict=True):
        n = int(c / unit)
        if abs(n) > _HIGHEST:
            return None
        if n > 0:
            larger *= logarithm.args[0] ** n
        else:
            smaller *= logarithm.args[0] ** -n
    return Unwrapped("log", unit, smaller, larger)


def _of_exponentials(terms: list[tuple[SymPy, SymPy]]) -> Unwrapped | None:
    if len(terms) != 2 or terms[0][0] + terms[1][0] != 0:
        return None
    exponents = {}
    for c, rest in terms:
        if rest == 1:
            exponents[bool(c > 0)] = sp.Integer(0)
        elif isinstance(rest, sp.exp):
            exponents[bool(c > 0)] = rest.args[0]
        else:
            return None
    return Unwrapped("exp", abs(fraction(terms[0][0])), exponents[False], exponents[True])
