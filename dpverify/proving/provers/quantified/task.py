"""A claim with an `exists`, taken apart, and what all ways of settling it share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dpverify.formulas.expressions import Expression, Variable
from dpverify.formulas.logic import Formula, free_in
from dpverify.formulas.printing import expression_text
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Json, Obligation
from dpverify.proving.proof import Budget, Proof, Prover, most_telling
from dpverify.proving.reasoning.prefix import Prefix, parts_of, values_to_json

Prove = Callable[..., Proof]
METHOD = "exists"
HOLDS = (Verdict.PROVED, Verdict.CERTIFIED)


class Task:
    """An obligation whose claim begins with quantifiers.

    Attributes:
        letters: what the rest is to hold for all values of.
        parts: of the core, each to be proved by itself.
        conditions: assumptions and premises.
        constants: positive numbers that there are to be, and that no condition has.
        others: thresholds, powers, and what else there is to be.
    """

    def __init__(
        self, obligation: Obligation, prefix: Prefix, budget: Budget, prove: Prove, provers: Sequence[Prover]
    ) -> None:
        self.obligation, self.prefix, self.budget = obligation, prefix, budget
        self._prove, self._provers = prove, tuple(provers)
        self.letters = (*obligation.over, *prefix.every)
        self.parts = parts_of(prefix.core)
        self.conditions = (*obligation.assuming, *prefix.premises)
        in_conditions = frozenset().union(*map(free_in, prefix.premises))
        self.constants = [v for v in prefix.chosen if _is_constant(v) and v not in in_conditions]
        self.others = [v for v in prefix.chosen if v not in self.constants]
        self.reasons: list[str] = []
        self.gaps: list[Gap | None] = []
        self.cut_short = False

    def note(self, reason: str, gap: Gap | None = Gap.NO_METHOD) -> None:
        """Keep what stopped an attempt."""
        if reason:
            self.reasons.append(reason)
            self.gaps.append(gap)

    def shown(self, obligation: Obligation, provers: Sequence[Prover] | None = None) -> Proof:
        """What the other provers say."""
        chosen = self._provers if provers is None else tuple(provers)
        proof = self._prove(obligation, budget=self.budget, provers=chosen)
        self.cut_short = self.cut_short or proof.stopped_by_the_clock
        return proof

    def earlier(self, v: Variable) -> tuple[Variable, ...]:
        """The letters on which a value of what there is to be may depend."""
        found = list(self.obligation.over)
        for q in self.prefix.quantifiers:
            if q.variable == v:
                return tuple(found)
            if q.variable in self.prefix.every:
                found.append(q.variable)
        return tuple(found)

    def left(self, claim: Formula, conditions: tuple[Formula, ...]) -> Obligation:
        """What is left to be shown for all letters once something is put in."""
        names = {v.name for v in self.letters}
        box = {name: ends for name, ends in self.obligation.box.items() if name in names}
        return replace(
            self.obligation, claim=claim, over=self.letters, assuming=conditions, box=box, catches=None
        )

    def claim(
        self,
        values: Mapping[Variable, Expression],
        proofs: Sequence[Proof],
        said: str,
        below: Sequence[Json] = (),
    ) -> Proof:
        """The proof of the claim from those of what is left."""
        steps: dict[str, Json] = {
            "method": METHOD,
            "shows": "claim",
            "values": values_to_json(values),
            "inner": [p.certificate for p in proofs],
        }
        if below:
            steps["below"] = list(below)
        certified = any(p.verdict is Verdict.CERTIFIED for p in proofs)
        verdict = Verdict.CERTIFIED if certified else Verdict.PROVED
        box = {name: ends for p in proofs for name, ends in (p.box or {}).items()}
        return Proof(
            verdict,
            "none",
            certificate(self.obligation, verdict, steps),
            box=box if certified else None,
            boxes=sum(p.boxes for p in proofs if p.boxes) or None,
            reason=said,
            stopped_by_the_clock=self.cut_short,
        )

    def refutation(
        self,
        values: Mapping[Variable, Expression],
        proofs: Sequence[Proof],
        said: str,
        more: Mapping[str, Json],
    ) -> Proof:
        """The refutation of the claim from proofs of what its negation leaves."""
        steps = {
            "method": METHOD,
            "shows": "negation",
            "values": values_to_json(values),
            "inner": [p.certificate for p in proofs],
            **more,
        }
        return Proof(
            Verdict.REFUTED,
            "none",
            certificate(self.obligation, Verdict.REFUTED, steps),
            reason=said,
            stopped_by_the_clock=self.cut_short,
        )

    def undecided(self) -> Proof:
        """That nothing was found, and why."""
        return Proof(
            Verdict.UNDECIDED,
            "none",
            reason="; ".join(dict.fromkeys(self.reasons)) or "no suitable values are found",
            gap=most_telling(self.gaps) if self.gaps else Gap.NO_METHOD,
            stopped_by_the_clock=self.cut_short,
        )


def _is_constant(v: Variable) -> bool:
    return v.kind == "real" and v.lower == 0 and v.lower_open and v.upper is None


def values_text(values: Mapping[Variable, Expression]) -> str:
    """Values in plain characters."""
    return ", ".join(f"{v.name} = {expression_text(e)}" for v, e in values.items())
