"""Claims that follow in real arithmetic from a few facts about the functions in them."""

from __future__ import annotations

import time

from dpverify.formulas.expressions import OutOfScopeError
from dpverify.formulas.logic import Compare
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget, Proof, gap_of
from dpverify.proving.reasoning.definedness import is_defined
from dpverify.proving.reasoning.facts import Fact, facts, shown_with
from dpverify.proving.reasoning.satisfiability import unsatisfiable

_SHARE = 4
"""What is tried with fewer facts gets this part of the work."""


class FunctionFacts:
    """The prover."""

    name = "facts"

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof | None:
        """Prove with facts added to the assumptions, as few as are found to be enough; nothing is refuted."""
        start = time.monotonic()
        if not isinstance(obligation.claim, Compare):
            return None
        known = facts(obligation.claim, obligation.assuming)
        if not known:
            return None
        reason, gap = "the known facts about functions are not enough", Gap.NO_METHOD
        try:
            if self._shown(obligation, known, budget, share=1):
                reason = is_defined(obligation, budget)
                if not reason:
                    proof = shown_with(obligation.assuming, self._needed(obligation, known, budget))
                    return Proof(
                        Verdict.PROVED,
                        self.name,
                        certificate(obligation, Verdict.PROVED, proof),
                        seconds=time.monotonic() - start,
                    )
                gap = Gap.MISSING_HYPOTHESIS
        except OutOfScopeError as error:
            reason, gap = str(error), gap_of(error)
        return Proof(Verdict.UNDECIDED, self.name, reason=reason, gap=gap, seconds=time.monotonic() - start)

    def _needed(self, obligation: Obligation, known: list[Fact], budget: Budget) -> list[Fact]:
        """Those that are left when all have been left out that the rest does without, half of them at a time."""
        size = max(1, len(known) // 2)
        while True:
            for start in range(0, len(known), size):
                rest = known[:start] + known[start + size :]
                if len(rest) < len(known) and self._shown(obligation, rest, budget):
                    known = rest
                    break
            else:
                if size == 1:
                    return known
                size //= 2

    @staticmethod
    def _shown(obligation: Obligation, known: list[Fact], budget: Budget, share: int = _SHARE) -> bool:
        assuming = (*obligation.assuming, *(f.formula for f in known))
        for integers in (False, True) if any(v.kind == "integer" for v in obligation.over) else (False,):
            answer, _ = unsatisfiable(
                obligation.over, assuming, obligation.claim, budget=budget, share=share, integers=integers
            )
            if answer is True:
                return True
        return False
