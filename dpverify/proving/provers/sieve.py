"""Many points at once in arrays of floats, of which those are left out where a claim surely does not fail.

What is kept is looked at again, point by point, so that it does no harm to keep too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.formulas.calculus import worked_out
from dpverify.formulas.expressions import Apply, Constant, Expression, Number, OutOfScopeError, Variable
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or, Relation

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-11
"""Relative to the size of two sides: above it, they differ whoever has rounded their values."""
_CLOSEST = 1e-13
"""Below it, no search calls them different."""

_ARRAYS: dict[str, Callable[..., Any]] = {
    "add": lambda *a: sum(a),
    "sub": lambda a, b: a - b,
    "neg": lambda a: -a,
    "mul": lambda *a: math.prod(a),
    "div": lambda a, b: a / b,
    "pow": np.power,
    "root": lambda x, order: np.power(x, 1 / order),
    "exp": np.exp,
    "log": np.log,
    "log_base": lambda x, base: np.log(x) / np.log(base),
    "max": lambda *a: reduce(np.maximum, a),
    "min": lambda *a: reduce(np.minimum, a),
    "abs": np.abs,
}
"""Operators over arrays; comparisons with any other one keep all points."""


class Sieve:
    """Whether a claim may fail where its assumptions may hold, at each of many points."""

    def __init__(self, claim: Formula, assuming: Sequence[Formula], names: Sequence[str]) -> None:
        self._claim, self._assuming, self._names = claim, assuming, names

    def kept(self, columns: Array) -> Mask:
        """Which of the points may be counterexamples; columns are (variables, points), the mask is (points,)."""
        with np.errstate(all="ignore"):
            values = _ColumnValues(dict(zip(self._names, columns, strict=True)))
            return self._admitted(values, columns.shape[1]) & values.may_be(self._claim, False)

    def admitted(self, columns: Array) -> Mask:
        """At which of the points all assumptions may hold."""
        with np.errstate(all="ignore"):
            return self._admitted(
                _ColumnValues(dict(zip(self._names, columns, strict=True))), columns.shape[1]
            )

    def _admitted(self, values: _ColumnValues, points: int) -> Mask:
        mask = np.ones(points, dtype=np.bool_)
        for part in self._assuming:
            mask &= values.may_be(part, True)
        return mask


def values_at(e: Expression, columns: Mapping[str, Array]) -> Array | None:
    """Values of an expression at many points, NaN where there is none; None for what has no arrays here."""
    try:
        with np.errstate(all="ignore"):
            found = _ColumnValues(columns).value(worked_out(e))
    except (OutOfScopeError, OverflowError, RecursionError, KeyError):
        return None
    return np.broadcast_to(found, next(iter(columns.values())).shape)


class _ColumnValues:
    """Values of expressions at some points; not a number where one is undefined, or not finite."""

    def __init__(self, letters: Mapping[str, Array]) -> None:
        self._letters = letters
        self._done: dict[Expression, Any] = {}

    def may_be(self, formula: Formula, truth: bool) -> Mask | bool:
        """Where a formula may be true, or false, rounding apart."""
        match formula:
            case Compare(relation, left, right):
                sides = self._sides(left, right)
                return True if sides is None else _may_be(relation, *sides, truth)
            case And(parts) | Or(parts):
                join = np.logical_and if isinstance(formula, And) is truth else np.logical_or
                masks = (self.may_be(part, truth) for part in parts)
                return reduce(join, masks, join is np.logical_and)
            case Not(part):
                return self.may_be(part, not truth)
            case Implies(premise, conclusion):
                return self.may_be(Or((Not(premise), conclusion)), truth)
            case ForAll() | Exists():
                return True

    def _sides(self, left: Expression, right: Expression) -> tuple[Array, Array] | None:
        """The difference of two sides and their size; None where they are not evaluated here."""
        try:
            a, b = (self.value(worked_out(side)) for side in (left, right))
        except (OutOfScopeError, OverflowError, RecursionError, KeyError):
            return None
        return a - b, np.abs(a) + np.abs(b) + 1e-299

    def value(self, e: Expression) -> Any:
        """Its value at each point."""
        if e not in self._done:
            found = np.asarray(self._worked_out(e))
            self._done[e] = np.where(np.isfinite(found), found, np.nan)
        return self._done[e]

    def _worked_out(self, e: Expression) -> Any:
        match e:
            case Number(value):
                return np.float64(value)
            case Constant("pi"):
                return np.float64(math.pi)
            case Variable():
                return self._letters[e.name]
            case Apply(name, arguments) if name in _ARRAYS:
                return _ARRAYS[name](*map(self.value, arguments))
            case _:
                raise OutOfScopeError("no arrays of it")


def _may_be(relation: Relation, gap: Array, size: Array, truth: bool) -> Mask | bool:
    """Where a relation between two sides may be true, or false, given their difference and size."""
    if relation in ("<=", "<"):
        return ~((gap if truth else -gap) > _ROUNDING * size)
    if (relation == "==") is truth:
        return ~(np.abs(gap) > _ROUNDING * size)
    return True if truth else ~(np.abs(gap) < _CLOSEST * size)
