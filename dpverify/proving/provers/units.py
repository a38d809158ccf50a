"""Units: every sum and comparison homogeneous in loss and length."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpverify.formulas.expressions import Binder
from dpverify.formulas.homogeneity import MixedUnitsError, check
from dpverify.formulas.logic import expressions_in
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.units import Unit
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Proof, proved, settled


def _json(unit: Unit) -> Json:
    return {"loss": str(Fraction(unit.loss)), "length": str(Fraction(unit.length))}


def units_agree(problem: ProofProblem) -> Proof:
    """Proved if everything is homogeneous, else refuted with the two units that meet first."""
    try:
        for formula in problem.stated:
            check(formula)
    except MixedUnitsError as clash:
        left, right = clash.left, clash.right
        steps = {"method": "units", "left": _json(left), "right": _json(right)}
        sides = {"left": str(left), "right": str(right)}
        return settled(problem, Verdict.REFUTED, steps, prover="units", **sides, reason=str(clash))
    bound = {
        e.variable.name: _json(e.variable.unit)
        for e in expressions_in(*problem.stated)
        if isinstance(e, Binder) and e.kind == "integral"
    }
    proof = proved(problem, {"method": "units"} | ({"bound": bound} if bound else {}))
    return replace(proof, prover="units")
