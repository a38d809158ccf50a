"""Exact proofs: identities, signs of coefficients, arguments' order, sums and integrals in closed form."""

from __future__ import annotations

import time
from dataclasses import replace

import sympy as sp

from dpverify.formulas.calculus import map_sides
from dpverify.formulas.definedness import Requirement, converges, defined_between, defined_where
from dpverify.formulas.expressions import (
    At,
    Binder,
    Derivative,
    Expression,
    OutOfScopeError,
    Variable,
    children,
    is_infinite,
    rebuilt,
    subexpressions,
)
from dpverify.formulas.logic import Compare, Formula, comparisons
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget, Proof, gap_of
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.algebra import (
    in_factors,
    may_be_summed,
    multiplied_out,
    replaced,
    summed,
)
from dpverify.proving.reasoning.definedness import all_hold
from dpverify.proving.reasoning.integrals import ClosedIntegral, closed_integral
from dpverify.proving.reasoning.monotone import Unwrapped, unwrapped
from dpverify.proving.reasoning.normal_form import is_identity
from dpverify.proving.reasoning.satisfiability import unsatisfiable
from dpverify.proving.reasoning.signs import shift_that_shows
from dpverify.proving.reasoning.squares import square_factor
from dpverify.proving.reasoning.symbolic import (
    Symbolic,
    SymPy,
    bound_parts,
    symbolic_formula,
    symbolic_to_json,
    tree,
    tree_of,
)


def closed_form(e: SymPy) -> SymPy | None:
    """An F in the sum's index with F(first) = body(first) and F(index) - F(index - 1) = body, or None.

    Guessed by Gosper's algorithm, term by term, and then checked as two identities.
    """
    body, index, first, _ = bound_parts(e)
    if not may_be_summed(body):
        return None
    end = sp.Dummy(index.name, integer=True)
    for terms in (sp.Add.make_args(body), sp.Add.make_args(multiplied_out(body))):
        parts = [_gosper(term, index, first, end) for term in terms]
        if any(part is None for part in parts):
            continue
        candidate = replaced(sp.Add(*parts), {end: index})
        for rewrite in (in_factors, None):
            try:
                form = candidate if rewrite is None else rewrite(candidate)
                starts = is_identity(replaced(form, {index: first}), replaced(body, {index: first}))
                if starts and is_identity(form - replaced(form, {index: index - 1}), body):
                    return form
            except OutOfScopeError:
                continue
    return None


def _gosper(term: SymPy, index: SymPy, first: SymPy, end: SymPy) -> SymPy | None:
    constant, depending = term.as_independent(index, as_Add=False)
    if depending == 1:
        return constant * (end - first + 1)
    result = summed(depending, index, first, end)
    if result is None or result.has(sp.Sum, sp.Piecewise, sp.nan, sp.zoo, sp.oo):
        return None
    return constant * result


class Exact:
    """The prover."""

    name = "exact"

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof | None:
        """Prove a comparison; refute only where an integral's closed form leaves a false claim."""
        if not isinstance(obligation.claim, Compare):
            return None
        start = time.monotonic()
        try:
            found = self._settled(obligation, budget)
        except OutOfScopeError as error:
            found = str(error), gap_of(error)
        seconds = time.monotonic() - start
        if isinstance(found, tuple):
            return Proof(Verdict.UNDECIDED, self.name, reason=found[0], gap=found[1], seconds=seconds)
        return replace(found, seconds=seconds)

    def _settled(self, stated: Obligation, budget: Budget) -> Proof | tuple[str, Gap]:
        integrals: dict[Binder, ClosedIntegral] = {}
        claim = stated.claim
        while (found := _innermost(claim)) is not None:
            integrals[found] = closed_integral(found)
            undefined = all_hold(stated, integrals[found].conditions, budget)
            if undefined:
                return f"the integral over {found.variable.name}: {undefined}", Gap.MISSING_HYPOTHESIS
            claim = _with_values(claim, integrals)
        # the claim as it is written, but for its integrals: where it has a value, the stated one has the same
        obligation = replace(stated, claim=claim, units=False)

        def whole(steps: Json) -> Json:
            for integral in reversed(integrals.values()):
                steps = {"method": integral.method, **integral.entry, "then": steps}
            return steps

        assert isinstance(claim, Compare)
        steps = self._proof(obligation, symbolic_formula(claim), budget, inner=bool(integrals))
        if steps is not None:
            shown = {converges(e) for e in integrals if is_infinite(e.first) or is_infinite(e.last)}
            wanted = (_with_values_in(c, integrals) for c in defined_where(stated.claim) if c not in shown)
            undefined = all_hold(stated, wanted, budget)
            if integrals and not undefined:
                undefined = all_hold(stated, defined_where(claim), budget)
            if undefined:
                return undefined, Gap.MISSING_HYPOTHESIS
            return Proof(Verdict.PROVED, self.name, certificate(stated, Verdict.PROVED, whole(steps)))
        if integrals:
            refuted = Search().attempt(obligation, budget)
            if refuted is not None and refuted.certificate is not None:
                proof = certificate(stated, Verdict.REFUTED, whole(refuted.certificate["proof"]))
                return replace(refuted, prover=self.name, certificate=proof)
        return "no identity, and no shift makes all coefficients nonnegative", Gap.NO_METHOD

    def _proof(
        self, obligation: Obligation, claim: Symbolic, budget: Budget, *, inner: bool = False
    ) -> Json | None:
        """Show a comparison in SymPy's form, wherever it is defined, under an obligation's assumptions."""
        if (claim.left - claim.right).has(sp.Sum):
            return self._summed(obligation, claim, budget)
        if claim.relation == "==" and is_identity(claim.left, claim.right):
            return {"method": "identity"}
        shift = shift_that_shows(claim, obligation.over, obligation.assuming)
        if shift is not None:
            return {"method": "signs", "shift": {name: s.to_json() for name, s in sorted(shift.items())}}
        step = unwrapped(claim)
        if step is not None:
            return self._ordered(obligation, claim, step, budget)
        square = square_factor(claim)
        if square is not None:
            rest = Compare("<=", sp.Integer(0), square.rest)
            then = self._proof(obligation, rest, budget, inner=True)
            return None if then is None else {"method": "square", **square.to_json(), "then": then}
        if inner:
            answer, _ = unsatisfiable(obligation.over, obligation.assuming, tree_of(claim), budget=budget)
            if answer is True:
                return {"method": "smt"}
        return None

    def _ordered(
        self, obligation: Obligation, claim: Symbolic, step: Unwrapped, budget: Budget
    ) -> Json | None:
        smaller = Compare(claim.relation, step.smaller, step.larger)
        then = self._proof(obligation, smaller, budget, inner=True)
        return None if then is None else {"method": "monotone", **step.to_json(), "then": then}

    def _summed(self, obligation: Obligation, claim: Symbolic, budget: Budget) -> Json | None:
        closed: list[list[Json]] = []
        while sums := claim.left.atoms(sp.Sum) | claim.right.atoms(sp.Sum):
            outer = next(s for s in sorted(sums, key=sp.default_sort_key) if not s.function.has(sp.Sum))
            limits = outer.limits[0]
            e = sp.Sum(outer.function, limits)
            form = closed_form(e)
            if form is None:
                raise OutOfScopeError(f"no closed form is found for the sum over {limits[0]}")
            index, first, last = map(tree, limits)
            assert isinstance(index, Variable)
            undefined = all_hold(obligation, defined_between(tree(form), index, first, last), budget)
            if undefined:
                raise OutOfScopeError(f"the closed form of the sum over {index.name}: {undefined}")
            closed.append([symbolic_to_json(e), symbolic_to_json(form)])
            value = replaced(form, {limits[0]: limits[2]})
            rest = outer.limits[1:]
            value = sp.Sum(value, *rest) if rest else value
            claim = Compare(
                claim.relation, replaced(claim.left, {outer: value}), replaced(claim.right, {outer: value})
            )
        then = self._proof(obligation, claim, budget, inner=True)
        return None if then is None else {"method": "sum", "closed": closed, "then": then}


def _innermost(claim: Formula) -> Binder | None:
    """An integral without another one inside, the first as it is written."""
    found: Binder | None = None
    for compare in comparisons(claim):
        for side in (compare.left, compare.right):
            for part in subexpressions(side):
                if _integrals(part) and (
                    isinstance(part, At | Derivative)
                    or (isinstance(part, Binder) and part.kind != "integral")
                ):
                    raise OutOfScopeError("an integral under a sum or a derivative, or at a place")
            if found is None:
                found = next((e for e in _integrals(side) if len(_integrals(e)) == 1), None)
    return found


def _integrals(e: Expression) -> list[Binder]:
    return [part for part in subexpressions(e) if isinstance(part, Binder) and part.kind == "integral"]


def _with_values(formula: Formula, integrals: dict[Binder, ClosedIntegral]) -> Formula:
    def change(e: Expression) -> Expression:
        found = integrals.get(e) if isinstance(e, Binder) else None
        return rebuilt(e, tuple(map(change, children(e)))) if found is None else found.value

    return map_sides(formula, change)


def _with_values_in(condition: Requirement, integrals: dict[Binder, ClosedIntegral]) -> Requirement:
    formula = _with_values(condition.formula, integrals)
    assert isinstance(formula, Compare)
    return replace(
        condition, formula=formula, premises=tuple(_with_values(p, integrals) for p in condition.premises)
    )
