"""SymPy's expressions within bounds: what would take it ages is refused."""

from __future__ import annotations

import math

from dpverify.formulas.expressions import TooLargeError
from dpverify.proving.reasoning.symbolic import SymPy

MAX_EXPANDED = 2_000
"""Terms, or degree, of the longest expression that is given to SymPy to be expanded."""


def check_expansion(e: SymPy) -> None:
    """Refuse what SymPy would expand for ages; `OutOfScopeError`."""
    if _expanded_terms(e) > MAX_EXPANDED:
        raise TooLargeError("an expression is too long to be expanded")


def _expanded_terms(e: SymPy) -> int:
    """About how many terms the expression has when it is expanded, high powers of one term counting as long."""
    parts = [_expanded_terms(a) for a in e.args]
    if e.is_Add:
        return min(MAX_EXPANDED + 1, sum(parts))
    if e.is_Pow and e.exp.is_Integer:
        n = min(abs(int(e.exp)), MAX_EXPANDED)
        return min(MAX_EXPANDED + 1, max(n, math.comb(n + parts[0] - 1, n) if parts[0] > 1 else 1))
    return min(MAX_EXPANDED + 1, math.prod(parts) if e.is_Mul else max(parts, default=1))
