"""Real arithmetic by z3: claims that follow from the arithmetic of polynomials, or fail at a rational point."""

from __future__ import annotations

import time

from dpverify.formulas.expressions import OutOfScopeError
from dpverify.formulas.logic import Compare
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget, Proof, gap_of, most_telling
from dpverify.proving.provers.points import confirmed, refutation
from dpverify.proving.reasoning.definedness import is_defined
from dpverify.proving.reasoning.facts import shown_with
from dpverify.proving.reasoning.satisfiability import points_near, unsatisfiable


class RealArithmetic:
    """The prover."""

    name = "z3"

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof | None:
        """Prove by unsatisfiability, refute by a model that evaluates to a counterexample."""
        start = time.monotonic()
        reasons = []
        gaps: list[Gap] = []
        try:
            claim, assuming = obligation.claim, obligation.assuming
            undefined = is_defined(obligation, budget)
            whole = any(v.kind == "integer" for v in obligation.over)
            for integers in (False, True) if whole else (False,):
                answer, model = unsatisfiable(
                    obligation.over, assuming, claim, budget=budget, integers=integers
                )
                if answer is True and undefined and not isinstance(claim, Compare):
                    # what is undefined may not matter, where another part decides
                    strictly, _ = unsatisfiable(
                        obligation.over,
                        assuming,
                        obligation.claim,
                        budget=budget,
                        integers=integers,
                        defined=False,
                    )
                    undefined = "" if strictly is True else undefined
                if answer is True and not undefined:
                    proof = certificate(obligation, Verdict.PROVED, shown_with(assuming, ()))
                    return Proof(Verdict.PROVED, self.name, proof, seconds=time.monotonic() - start)
                if answer is True:
                    reasons.append(undefined)
                    gaps.append(Gap.MISSING_HYPOTHESIS)
                    break
                for point in points_near(obligation.over, model) if model else ():
                    if confirmed(obligation, point):
                        return refutation(obligation, point, self.name, time.monotonic() - start)
                reasons.append("z3 gave up" if answer is None else "no model is a counterexample")
                gaps.append(Gap.EFFORT_SPENT if answer is None else Gap.NO_METHOD)
        except OutOfScopeError as error:
            reasons.append(str(error))
            gaps.append(gap_of(error))
        return Proof(
            Verdict.UNDECIDED,
            self.name,
            reason="; ".join(dict.fromkeys(reasons)),
            gap=most_telling(gaps),
            seconds=time.monotonic() - start,
        )
