"""Claims for all integers from a first one on: shown at the first, and from each to the next.

In the step, letters stand for powers, factorials, binomials, sums and products that grow with the integer, so that it
is a problem without them; both parts are proved by the other provers, each with a certificate of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.formulas.calculus import map_sides, substituted, with_values
from dpverify.formulas.definedness import Requirement
from dpverify.formulas.expressions import (
    SCOPES,
    Apply,
    Binder,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    children,
    constant,
    free_variables,
    is_integer,
    real,
    rebuilt,
)
from dpverify.formulas.logic import And, Compare, Formula, Implies, Le, Lt, conjuncts, free_in
from dpverify.formulas.operators import apply
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof, Prove, Prover, ProverByParts, proved, shown, undecided
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.symbolic import symbolic
from dpverify.proving.reasoning.truth import missing

_MOST = 6
"""Letters of one step."""
_BASES = 3
"""The first integers that are looked at one by one."""
_FEW = 9
"""Terms of sums, and numbers in factorials, that are worked out."""
_FARTHEST = 3
"""How far what a letter stands for may be from what is written."""


@dataclass(frozen=True)
class Growing:
    """A letter for what has a rule for the next integer."""

    letter: Variable
    what: Apply | Binder

    def reached(self, e: Expression) -> Expression | None:
        """The same as a term of the same kind, from the letter; None where there is no way."""
        gap = ahead(self.what, e)
        if gap is None:
            return None
        match self.what, gap:
            case Apply("pow", (base, _)), (k,):
                return self._times(*[base if k > 0 else 1 / base] * abs(k))
            case Apply("factorial", (of,)), (k,) if k >= 0:
                return self._times(*(of + i + 1 for i in range(k)))
            case Apply("binomial", (of, chosen)), (m, k) if 0 <= k <= m:
                grown = [(of + i + 1) / (of + i + 1 - chosen) for i in range(m)]
                return self._times(*grown, *((of + m - chosen - i) / (chosen + i + 1) for i in range(k)))
            case Binder(kind, body, index, _, last), (k,) if k >= 0:
                found: Expression = self.letter
                for i in range(k):
                    term = substituted(body, {index: last + (i + 1)})
                    found = found + term if kind == "sum" else found * term
                return found
        return None

    def _times(self, *factors: Expression) -> Expression:
        found: Expression = self.letter
        for factor in factors:
            found = found * factor
        return found

    def conditions(self) -> Iterator[Compare]:
        """Where what it stands for is defined and not 0, as far as its rule asks for that."""
        match self.what:
            case Apply("factorial", (of,)):
                yield Le(0, of)
            case Apply("binomial", (of, chosen)):
                yield Le(0, chosen)
                yield Le(chosen, of)

    def facts(self) -> Iterator[Formula]:
        """What is known of the letter."""
        if isinstance(self.what, Apply) and self.what.operator == "pow":
            base = self.what.arguments[0]
            yield Implies(Le(0, base), Le(0, self.letter))
            yield Implies(Lt(0, base), Lt(0, self.letter))
            yield Implies(And((Le(0, base), Le(base, 1))), Le(self.letter, 1))
            yield Implies(Le(1, base), Le(1, self.letter))
        elif isinstance(self.what, Apply):
            yield Le(1, self.letter)


def ahead(what: Expression, e: Expression) -> tuple[int, ...] | None:
    """How far a term is ahead of another one of the same kind, in what grows; None for another kind."""
    pairs: tuple[tuple[Expression, Expression], ...]
    match what, e:
        case Apply("pow", (base, k)), Apply("pow", (other, m)) if base == other:
            pairs = ((k, m),)
        case Apply("factorial", (k,)), Apply("factorial", (m,)):
            pairs = ((k, m),)
        case Apply("binomial", (k, j)), Apply("binomial", (m, i)):
            pairs = ((k, m), (j, i))
        case Binder(kind, body, x, first, k), Binder(other, inside, y, start, m) if (
            kind == other and kind != "integral" and (body, x, first) == (inside, y, start)
        ):
            pairs = ((k, m),)
        case _:
            return None
    gaps = [symbolic(m - k) for k, m in pairs]
    return tuple(map(int, gaps)) if all(gap.is_Integer for gap in gaps) else None


def growing(e: Expression, n: Variable) -> Iterator[Apply | Binder]:
    """Parts that change with an integer and have a rule for the next one, and those of the last terms of sums."""
    if n not in free_variables(e):
        return
    match e:
        case Apply("pow", (base, exponent)) if is_integer(exponent) and constant(exponent) is None:
            if n not in free_variables(base):
                yield e
        case Apply("factorial" | "binomial", _):
            yield e
        case Binder("sum" | "product", body, index, first, last):
            if n not in free_variables(body) | free_variables(first):
                yield e
                yield from growing(substituted(body, {index: last}), n)
            return
    for part in () if isinstance(e, SCOPES) else children(e):
        yield from growing(part, n)


class Induction(ProverByParts):
    """The prover of comparisons with an integer that has a smallest value."""

    name = "induction"

    def __init__(self, prove: Prove, provers: Sequence[Prover]) -> None:
        super().__init__(prove, [p for p in provers if not isinstance(p, Search)])

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove a comparison by induction over one of its integers."""
        claim = problem.claim
        if not isinstance(claim, Compare):
            return None
        tried = False
        for n in problem.over:
            if n.kind != "integer":
                continue
            what = list(dict.fromkeys((*growing(claim.left, n), *growing(claim.right, n))))
            for first in _firsts(problem, n) if what else ():
                tried = True
                steps = self._steps(problem, n, first, what, budget)
                if steps is not None:
                    return proved(problem, steps)
        return undecided("no step of an induction is shown", Gap.NO_METHOD) if tried else None

    def _steps(
        self,
        problem: ProofProblem,
        n: Variable,
        first: Expression,
        what: list[Apply | Binder],
        budget: Budget,
    ) -> Json | None:
        rest = tuple(v for v in problem.over if v != n)
        given = tuple(f for a in problem.assuming for f in conjuncts(a) if n not in free_in(f))
        known = _named(what, {v.name for v in problem.letters.values()})
        if known is None:
            return None
        letters = (*rest, *(one.letter for one in known))
        bases = list[Json]()
        for k in range(_BASES):
            base = problem.about(map_sides(with_values(problem.claim, {n: first + k}), _short), rest, given)
            steps = shown(self._prove(base, budget, self._provers))
            if steps is None:
                return None
            bases.append(steps)
            next_one = _step(problem, n, first + k, known, letters, given)
            later = {n: next_one.over[-1]}
            begins = with_values(Le(first + k, n), later)
            wanted = (with_values(f, later) for one in known for f in one.conditions())
            conditions = (Requirement(f) for f in wanted if isinstance(f, Compare))
            if missing(next_one.over, (*given, begins), conditions, budget):
                continue
            step = shown(self._prove(next_one, budget, self._provers))
            if step is not None:
                named = [[one.letter.name, expression_to_json(one.what)] for one in known]
                return {
                    "method": "induction", "letter": n.name, "first": expression_to_json(first),
                    "letters": named, "bases": bases, "step": step,
                }  # fmt: skip
        return None


def _step(
    problem: ProofProblem,
    n: Variable,
    last: Expression,
    known: Sequence[Growing],
    rest: tuple[Variable, ...],
    given: tuple[Formula, ...],
) -> ProofProblem:
    """From an integer that is not below the last one that was looked at to the next, in letters."""
    low = constant(last)
    over = replace(n, lower=low, lower_open=False, upper=None)
    begins = (Le(last, n),) if low is None else ()
    claim, later = (
        map_sides(with_values(problem.claim, {n: value}), lambda e: _written(e, known))
        for value in (n, n + 1)
    )
    facts = (f for one in known for f in one.facts())
    formulas = (with_values(f, {n: over}) for f in (*given, *facts, claim, *begins))
    return problem.about(with_values(later, {n: over}), (*rest, over), tuple(formulas))


def _short(e: Expression) -> Expression:
    """An expression in which sums of few terms, factorials and binomials of small numbers are worked out."""
    value = constant(e)
    if value is not None:
        return Number(value)
    match e:
        case Binder("sum" | "product" as kind, body, index, first, last):
            low, high = constant(first), constant(last)
            if low is None or high is None or not low <= high < low + _FEW:
                return e
            terms = [_short(substituted(body, {index: Number(low + i)})) for i in range(int(high - low) + 1)]
            return apply("add" if kind == "sum" else "mul", *terms) if len(terms) > 1 else terms[0]
        case _ if isinstance(e, SCOPES):
            return e
        case Apply("factorial" | "binomial" as kind, arguments):
            values = [constant(a) for a in arguments]
            if all(v is not None and v.denominator == 1 and 0 <= v < _FEW for v in values):
                numbers = [int(v) for v in values if v is not None]
                return Number(
                    Fraction(math.factorial(*numbers) if kind == "factorial" else math.comb(*numbers))
                )
    return rebuilt(e, tuple(map(_short, children(e))))


def _firsts(problem: ProofProblem, n: Variable) -> Iterator[Expression]:
    """Expressions that an integer begins with: what a condition sets, or its smallest value."""
    for given in (f for a in problem.assuming for f in conjuncts(a)):
        if not (isinstance(given, Compare) and given.relation == "<=" and given.right == n):
            continue
        if is_integer(given.left) and n not in free_variables(given.left):
            yield given.left
    if n.lower is not None:
        low = math.ceil(n.lower)
        yield Number(Fraction(low + (n.lower_open and low == n.lower)))


def _named(what: list[Apply | Binder], taken: set[str]) -> list[Growing] | None:
    """Letters for the smallest of each kind."""
    found: list[Apply | Binder] = []
    for e in what:
        with suppress(OutOfScopeError):
            for i, known in enumerate(found):
                gap = ahead(known, e)
                if gap is not None and max(map(abs, gap)) <= _FARTHEST:
                    if min(gap) < 0:
                        found[i] = e
                    break
            else:
                found.append(e)
    names = [name for i in range(len(found) + len(taken)) if (name := f"g_{i}") not in taken]
    if len(found) > _MOST:
        return None
    letters = [real(name) for name, _ in zip(names, found, strict=False)]
    return [Growing(letter, e) for letter, e in zip(letters, found, strict=True)]


def _written(e: Expression, known: Sequence[Growing]) -> Expression:
    """An expression in letters, but for what stands within a scope."""
    for one in known:
        with suppress(OutOfScopeError):
            found = one.reached(e)
            if found == one.letter:
                return found
            if found is not None:
                return rebuilt(found, tuple(_written(part, known) for part in children(found)))
    return e if isinstance(e, SCOPES) else rebuilt(e, tuple(_written(part, known) for part in children(e)))
