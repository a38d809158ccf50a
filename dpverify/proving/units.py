"""Units: every sum and comparison homogeneous in loss and length."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from dpverify.evidence import Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import (
    DIMENSIONLESS,
    And,
    Compare,
    Expression,
    ForAll,
    Formula,
    Implies,
    Json,
    Not,
    Obligation,
    Or,
    Phi,
    Unit,
    bound_parts,
)
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.terms import fraction

Units = Mapping[Expression, Unit | None]
"""Symbol to unit; None is the unit of zero and infinity, which fits any."""


class ClashError(Exception):
    """Two quantities of different units meet; what they are, and where."""

    def __init__(self, left: Unit, right: Unit, where: str) -> None:
        self.left, self.right, self.where = left, right, where
        super().__init__(f"{left} meets {right} in {where}")


def _meet(units: list[Unit | None], where: str) -> Unit | None:
    """The unit that all share; None only if every one of them is of any unit."""
    found: Unit | None = None
    for unit in units:
        if unit is None:
            continue
        if found is not None and not found.same_as(unit):
            raise ClashError(found, unit, where)
        found = unit if found is None else found
    return found


def unit_of(e: Expression, units: Units) -> Unit | None:
    """The unit of an expression, None for zero and infinity; raises `ClashError`.

    Sums, max and min need one unit; the arguments of exp, log, erfc and Phi and all exponents are pure
    numbers, and only a pure number has an exponent that is not a constant.
    """
    if e.is_Rational:
        return DIMENSIONLESS if e else None
    if e in (sp.oo, -sp.oo):
        return None
    if e is sp.pi or e is sp.E:
        return DIMENSIONLESS
    if e.is_Symbol:
        return units[e]
    if e.is_Add or isinstance(e, sp.Max | sp.Min):
        return _meet([unit_of(a, units) for a in e.args], str(e))
    if isinstance(e, sp.Abs):
        return unit_of(e.args[0], units)
    if e.is_Mul:
        parts = [unit_of(a, units) for a in e.args]
        if None in parts:
            return None
        result = DIMENSIONLESS
        for part in parts:
            assert part is not None
            result = result * part
        return result
    if e.is_Pow:
        return _unit_of_power(e, units)
    if isinstance(e, sp.exp | sp.log | sp.erfc | sp.floor | Phi):
        _meet([unit_of(e.args[0], units), DIMENSIONLESS], str(e))
        return DIMENSIONLESS
    if isinstance(e, sp.Sum | sp.Integral):
        body, variable, low, high = bound_parts(e)
        end = _meet([unit_of(low, units), unit_of(high, units)], str(e))
        own = units.get(variable, end if end is not None else DIMENSIONLESS)
        _meet([own, end], str(e))
        inner = unit_of(body, {**units, variable: own})
        if isinstance(e, sp.Sum) or inner is None or own is None:
            return inner
        return inner * own
    if isinstance(e, sp.Derivative):
        ((variable, order),) = e.variable_count
        inner, own = unit_of(e.expr, units), units[variable]
        return None if inner is None or own is None else inner / own ** int(order)
    if isinstance(e, sp.Subs):
        variable = e.variables[0]
        value = unit_of(e.point[0], units)
        own = units.get(variable, value)
        _meet([own, value], str(e))
        return unit_of(e.expr, {**units, variable: own})
    raise TypeError(f"{type(e).__name__} has no unit")


def _unit_of_power(e: Expression, units: Units) -> Unit | None:
    base = unit_of(e.base, units)
    _meet([unit_of(e.exp, units), DIMENSIONLESS], str(e))
    if e.exp.is_Rational:
        return None if base is None else base ** fraction(e.exp)
    _meet([base, DIMENSIONLESS], str(e))
    return DIMENSIONLESS


def check(formula: Formula, units: Units) -> None:
    """Raise `ClashError` unless every sum and comparison of the formula is homogeneous."""
    match formula:
        case Compare(relation, left, right):
            _meet([unit_of(left, units), unit_of(right, units)], f"{left} {relation} {right}")
        case And(parts) | Or(parts):
            for part in parts:
                check(part, units)
        case Not(part):
            check(part, units)
        case Implies(premise, conclusion):
            check(premise, units)
            check(conclusion, units)
        case ForAll(variable, body):
            check(body, {**units, variable.symbol: variable.unit})


def _json(unit: Unit) -> Json:
    return {"loss": str(Fraction(unit.loss)), "length": str(Fraction(unit.length))}


class Homogeneity:
    """The prover."""

    name = "units"

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof:
        """Proved if everything is homogeneous, else refuted with the two units that meet first."""
        del budget  # a pass over the formula
        start = time.monotonic()
        units = {v.symbol: v.unit for v in obligation.over}
        try:
            for formula in (obligation.claim, *obligation.assuming):
                check(formula, units)
        except ClashError as clash:
            proof = {"method": "units", "left": _json(clash.left), "right": _json(clash.right)}
            return Proof(
                Verdict.REFUTED,
                self.name,
                certificate(obligation, Verdict.REFUTED, proof),
                left=str(clash.left),
                right=str(clash.right),
                reason=str(clash),
                seconds=time.monotonic() - start,
            )
        proof = {"method": "units"}
        return Proof(
            Verdict.PROVED,
            self.name,
            certificate(obligation, Verdict.PROVED, proof),
            seconds=time.monotonic() - start,
        )
