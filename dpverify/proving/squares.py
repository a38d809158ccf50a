"""Inequalities whose sides differ by a square times something simpler."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from dpverify.proving.language import Compare, Expression, Json, expression_to_json

_LONGEST = 200
"""Operations of the longest difference that is factored."""


@dataclass(frozen=True)
class SquareFactor:
    """right - left = root^2 * rest, identically."""

    root: Expression
    rest: Expression

    def to_json(self) -> dict[str, Json]:
        """As certificates write it."""
        return {"root": expression_to_json(self.root), "rest": expression_to_json(self.rest)}


def square_factor(claim: Compare) -> SquareFactor | None:
    """The largest square in a rational function right - left, for claims with `<=`; None where there is none."""
    difference = claim.right - claim.left
    symbols = sorted(difference.free_symbols, key=sp.default_sort_key)
    if claim.relation != "<=" or not symbols or difference.count_ops() > _LONGEST:
        return None
    if not difference.is_rational_function(*symbols):
        return None
    top, bottom = sp.fraction(sp.together(difference))
    constant, factors = sp.factor_list(top)
    root = sp.Mul(*(f ** (n // 2) for f, n in factors))
    if not root.free_symbols:
        return None
    return SquareFactor(root, constant * sp.Mul(*(f ** (n % 2) for f, n in factors)) / sp.factor(bottom))
