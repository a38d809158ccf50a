"""The prover of claims with an `exists`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpverify.formulas.logic import Compare
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof, Prove, Prover, ProverByParts
from dpverify.proving.provers.quantified.constants import with_constants
from dpverify.proving.provers.quantified.growth import growing
from dpverify.proving.provers.quantified.task import Task, peeled
from dpverify.proving.provers.quantified.terms import with_terms
from dpverify.proving.provers.search import Search


class Quantifiers(ProverByParts):
    """Puts in what there is to be, and leaves the rest to `prove`; refutes by growth, or by proving the negation."""

    name = "constants"

    def __init__(self, prove: Prove, provers: Sequence[Prover]) -> None:
        # what is put in holds in floats, so that there is no use in looking for counterexamples
        super().__init__(prove, [p for p in provers if not isinstance(p, Search)])
        self._all = tuple(provers)

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof:
        """Prove or refute a claim with an `exists`."""
        smaller = replace(
            budget,
            boxes=min(budget.boxes, 40_000),
            operations=min(budget.operations, 2_000_000),
            units=min(budget.units, 300_000),
        )
        task = Task(problem, peeled(problem), smaller, self._prove, self._provers)
        return self._settled(task) or task.undecided()

    def _settled(self, task: Task) -> Proof | None:
        if not task.letters or not all(isinstance(part, Compare) for part in task.parts):
            return with_terms(task, self._all)
        if task.constants and task.prefix.chosen_first:
            found = with_constants(task) or growing(task) or with_terms(task, self._all)
        else:
            found = with_terms(task, self._all) or with_constants(task) or growing(task)
        return found or with_constants(task, scaled=True)
