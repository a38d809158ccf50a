"""Between which numbers an expression lies, as far as the domains of its letters tell."""

from __future__ import annotations

from fractions import Fraction

from dpverify.formulas.expressions import Apply, Expression, Number, Variable

Range = tuple[Fraction | None, Fraction | None]
"""The greatest number known to be at most the expression, and the least known to be at least; None where none is."""


def range_of(e: Expression) -> Range:
    """The range of an expression wherever it has a value."""
    match e:
        case Number(value):
            return value, value
        case Variable():
            return e.lower, e.upper
        case Apply("add", arguments):
            ranges = [range_of(a) for a in arguments]
            return _total([low for low, _ in ranges]), _total([high for _, high in ranges])
        case Apply("mul", (left, right)):
            (a, b), (c, d) = range_of(left), range_of(right)
            if a is None or c is None or a < 0 or c < 0:
                return None, None
            return a * c, None if b is None or d is None else b * d
        case Apply("div", (above, below)):
            (a, b), (c, d) = range_of(above), range_of(below)
            if a is None or c is None or a < 0 or c < 0:
                return None, None
            return a / d if d else Fraction(0), b / c if b is not None and c else None
        case _:
            return None, None


def _total(ends: list[Fraction | None]) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return sum(known, Fraction(0)) if len(known) == len(ends) else None
