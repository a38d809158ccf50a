"""Units: every sum and comparison homogeneous in loss and length."""

from __future__ import annotations

from fractions import Fraction

from dpverify.formulas.expressions import Binder, subexpressions
from dpverify.formulas.homogeneity import MixedUnitsError, check
from dpverify.formulas.logic import comparisons
from dpverify.formulas.units import Unit
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Json, Obligation
from dpverify.proving.proof import Budget, NamedProver, Proof, proved


def _json(unit: Unit) -> Json:
    return {"loss": str(Fraction(unit.loss)), "length": str(Fraction(unit.length))}


class Homogeneity(NamedProver):
    """The prover."""

    name = "units"

    def settle(self, obligation: Obligation, _budget: Budget) -> Proof:
        """Proved if everything is homogeneous, else refuted with the two units that meet first."""
        stated = (obligation.claim, *obligation.assuming)
        try:
            for formula in stated:
                check(formula)
        except MixedUnitsError as clash:
            steps = {"method": "units", "left": _json(clash.left), "right": _json(clash.right)}
            return Proof(
                Verdict.REFUTED,
                certificate=certificate(obligation, Verdict.REFUTED, steps),
                left=str(clash.left),
                right=str(clash.right),
                reason=str(clash),
            )
        bound = {
            e.variable.name: _json(e.variable.unit)
            for compare in (c for formula in stated for c in comparisons(formula))
            for side in (compare.left, compare.right)
            for e in subexpressions(side)
            if isinstance(e, Binder) and e.kind == "integral"
        }
        return proved(obligation, {"method": "units"} | ({"bound": bound} if bound else {}))
