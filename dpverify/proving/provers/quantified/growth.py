"""Refutations by growth without bound along a curve."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpverify.formulas.expressions import OutOfScopeError, Variable, free_variables, integer
from dpverify.formulas.logic import Compare, free_in
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.language import Json, Obligation
from dpverify.proving.proof import Proof, gap_of
from dpverify.proving.provers.points import admitted
from dpverify.proving.provers.quantified.curves import Curve, curves
from dpverify.proving.provers.quantified.ratios import SIZES, Ratio, extremes, least, most
from dpverify.proving.provers.quantified.task import Task, values_text
from dpverify.proving.reasoning.prefix import Growth, conjuncts, fresh, negation

_CURVES = 6
"""How many curves are tried."""


class Growing:
    """Looks for a curve along which no constant will do."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def proof(self) -> Proof | None:
        """A curve along which no constant will do."""
        if not self.task.prefix.chosen_first or len(self.task.prefix.chosen) < 1:
            return None
        unknown = set(self.task.prefix.chosen)
        conditions = tuple(f for f in self.task.conditions if not free_in(f) & unknown)
        for part in self.task.parts:
            assert isinstance(part, Compare)
            mine = [v for v in self.task.constants if v in free_in(part)]
            if free_in(part) & unknown - set(mine) or part.relation not in ("<=", "<"):
                continue
            try:
                ratio = Ratio(part, mine, self.task.letters, conditions, {})
            except OutOfScopeError as error:
                self.task.note(str(error), gap_of(error))
                continue
            whole, far = len(self.task.parts) == 1, extremes(ratio, SIZES[0])
            for k, of in enumerate((least, most)):
                found = curves(ratio, self.task.obligation.over, far[k].point, of)
                t = integer(fresh("t", self.task.obligation))
                distinct: dict[str, Curve] = {}
                for curve in found:
                    distinct.setdefault(values_text(curve.values(t)), curve)
                for curve in itertools.islice(distinct.values(), _CURVES):
                    proof = self.refuted(
                        curve, mine, None if whole else self.task.parts.index(part), above=k == 0
                    )
                    if proof is not None:
                        return proof
        return None

    def refuted(
        self, curve: Curve, mine: Sequence[Variable], part: int | None, *, above: bool
    ) -> Proof | None:
        """The refutation along a curve, if it is proved."""
        t = integer(fresh("t", self.task.obligation), ge=curve.start)
        values = curve.values(t)
        growth = None
        moves = any(t in free_variables(e) for e in values.values())
        if moves or not curve.unbounded:
            # a condition such as n_0 <= n asks more the larger the constant is, eps <= eps_0 the smaller it is
            small = tuple(
                v
                for v in self.task.others
                if any(
                    isinstance(f, Compare) and v in free_variables(f.right) for f in self.task.prefix.premises
                )
            )
            growth = Growth(
                t,
                curve.factor,
                curve.power,
                (*(mine if above else ()), *(v for v in self.task.others if v not in small)),
                (*(() if above else mine), *small),
            )
        inner = negation(self.task.obligation, self.task.prefix, values, growth, part)
        proofs = []
        for claim in conjuncts(inner.claim):
            proof = self.task.shown(replace(inner, claim=claim))
            if proof.verdict is not Verdict.PROVED:
                self.task.note(f"along {values_text(values)}: {proof.reason}", proof.gap)
                return None
            proofs.append(self.nearer(proof, replace(inner, claim=claim)))
        said = f"false at {values_text(values)}"
        more: dict[str, Json] = {}
        if growth is not None:
            more["growth"] = growth.to_json()
            rate = growth.text()
            bounds = [
                *(f"{v.name} <= {rate}" for v in growth.above), *(f"{v.name} >= 1/({rate})" for v in growth.below)
            ]  # fmt: skip
            along = f"{t.name} = {curve.start}, {curve.start + 1}, ..."
            said = f"false along {values_text(values)} for {', '.join(bounds)}, {along}"
        if part is not None:
            more["part"] = part
        return self.task.refutation(values, proofs, said, more)

    @staticmethod
    def nearer(proof: Proof, inner: Obligation) -> Proof:
        """The proof with a witness at which it is plain that a constant is below a logarithm."""
        for far in (Fraction(2), Fraction(4), Fraction(100)):
            point = {
                v.name: v.lower * far
                if v.lower
                else Fraction(1, 1000) / far
                if v in _low(inner)
                else 1000 * far
                for v in inner.over
            }
            if admitted(inner, point):
                named = {name: str(x) for name, x in point.items()}
                return replace(
                    proof, witness=named, certificate={**(proof.certificate or {}), "witness": named}
                )
        return proof


def _low(inner: Obligation) -> set[Variable]:
    """Letters that are bounded from above."""
    return {a.left for a in inner.assuming if isinstance(a, Compare) and isinstance(a.left, Variable)}
