"""Units: every sum and comparison homogeneous in loss and length."""

from __future__ import annotations

import time
from fractions import Fraction

from dpverify.formulas.expressions import Binder, subexpressions
from dpverify.formulas.homogeneity import MixedUnitsError, check
from dpverify.formulas.logic import comparisons
from dpverify.formulas.units import Unit
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Json, Obligation
from dpverify.proving.proof import Budget, Proof


def _json(unit: Unit) -> Json:
    return {"loss": str(Fraction(unit.loss)), "length": str(Fraction(unit.length))}


class Homogeneity:
    """The prover."""

    name = "units"

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof:
        """Proved if everything is homogeneous, else refuted with the two units that meet first."""
        del budget  # a pass over the formula
        start = time.monotonic()
        try:
            for formula in (obligation.claim, *obligation.assuming):
                check(formula)
        except MixedUnitsError as clash:
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
        bound = {
            e.variable.name: _json(e.variable.unit)
            for formula in (obligation.claim, *obligation.assuming)
            for compare in comparisons(formula)
            for side in (compare.left, compare.right)
            for e in subexpressions(side)
            if isinstance(e, Binder) and e.kind == "integral"
        }
        proof = {"method": "units"} | ({"bound": bound} if bound else {})
        return Proof(
            Verdict.PROVED,
            self.name,
            certificate(obligation, Verdict.PROVED, proof),
            seconds=time.monotonic() - start,
        )
