"""Claims about inner products and norms of vectors of any dimension, by their Gram matrix.

An identity is one between the entries of the Gram matrix G of the vectors. An inequality is shown by multipliers:
right - left = sum of multiplier * fact + <S, G>, where the multipliers are not negative, S is positive semidefinite
for all values of the letters in it, and the facts are the assumptions, norms, what Cauchy and Schwarz say of two
vectors of which the norms occur, and products of two of these. That holds in every dimension. A claim is refuted only
by vectors with rational coordinates.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpverify.formulas.definedness import defined_where
from dpverify.formulas.expressions import Number, OutOfScopeError, Variable
from dpverify.formulas.logic import Compare, Formula, Le, Lt, Ne, conjuncts, free_in
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, gap_of, proved, undecided
from dpverify.proving.provers.exact import Exact
from dpverify.proving.provers.points import MANY, confirmed, exact_norms, random_points, refutation
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.reasoning.evaluation import ExactPoint, plain_truth
from dpverify.proving.reasoning.gram.inner_products import (
    Coefficient,
    Form,
    InnerProducts,
    Vector,
    is_entry,
    matrix,
    squares,
)
from dpverify.proving.reasoning.gram.proposals import is_linear, proposals, proposed
from dpverify.proving.reasoning.truth import require

FEW = 400
"""Points that are tried before a proof is looked for; afterwards, `MANY`."""
SAMPLES = 8
"""Points of the letters at which multipliers are computed."""
MAX_FACTS = 200
_NO_PROOF = "no multipliers are found from which it follows"


@dataclass(frozen=True)
class _Fact:
    """A form that is at least 0 (is 0: an equality), with what certificates write for its factors."""

    form: Form
    factors: tuple[Json, ...] = ()
    equality: bool = False
    strict: bool = False


@dataclass(frozen=True)
class _GramTerm:
    """A multiplier and its fact, or a number and the vector whose square it multiplies."""

    multiplier: Coefficient
    fact: _Fact
    vector: Vector = field(default_factory=dict)


class Gram(NamedProver):
    """The prover, which is for formulas with vectors only."""

    name = "gram"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove in every dimension, or refute by vectors."""
        if not problem.has_vectors:
            return None
        point = _refuting(problem, FEW)
        reason, gap = "", Gap.NO_METHOD
        if point is None:
            search = _VectorSearch(problem, budget)
            try:
                steps = search.proof()
                if isinstance(steps, dict):
                    return proved(problem, steps)
                reason = steps
                point = next((p for p in search.proposed() if confirmed(problem, p)), None)
            except OutOfScopeError as error:
                reason, gap = str(error), gap_of(error)
            if point is None:
                point = _refuting(problem, MANY)
        return undecided(reason, gap) if point is None else refutation(problem, point)


def _refuting(problem: ProofProblem, count: int) -> ExactPoint | None:
    """A counterexample, one where all norms are fractions if that is found."""
    first = next((p for p in random_points(problem, count) if confirmed(problem, p)), None)
    if first is None or exact_norms(problem, first):
        return first
    on_a_line = random_points(problem, MANY, most=1)
    return next((p for p in on_a_line if confirmed(problem, p)), first)


class _VectorSearch:
    def __init__(self, problem: ProofProblem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.vectors = {v.name: v for v in problem.over if v.kind == "vector"}
        self.numbers = tuple(v for v in problem.over if v.kind != "vector")

    def proof(self) -> Json | str:
        """The certificate's proof, or why there is none."""
        claim = self.problem.claim
        if not isinstance(claim, Compare):
            return "only comparisons of inner products are shown, and conjunctions of them"
        if claim.relation == "!=":
            return _NO_PROOF
        free = tuple(v for v in self.numbers if v.lower is None and v.upper is None)
        # letters without bounds, such as values of a function, are unknowns; where that can't be, coefficients
        if free:
            with suppress(OutOfScopeError):
                return self._with(claim, free)
        return self._with(claim, ())

    def _with(self, claim: Compare, unknown: tuple[Variable, ...]) -> Json | str:
        self.products = InnerProducts(self.problem.over, unknown)
        products = self.products
        left, right = (products.form(side) for side in (claim.left, claim.right))
        self._sort_assumptions()
        require(self.scalar, defined_where(claim), self.budget)
        slack = products.plus(right, left, -1)
        if claim.relation == "==":
            terms = self._terms(slack, [f for f in self.facts if f.equality], equality=True)
            return _NO_PROOF if terms is None else {"method": "gram", "sum": self._written(terms)}
        strict = claim.relation == "<"
        terms = self._terms(slack, self._facts(slack), strict=strict)
        if terms is not None:
            return {"method": "gram", "sum": self._written(terms)}
        if not any(atom[0] == "norm" for monomial in (*left, *right) for atom in monomial):
            return _NO_PROOF
        # a < b where 0 <= b and a^2 < b^2
        base = self._base(right)
        if base is None:
            return _NO_PROOF
        difference = products.plus(products.times(right, right), products.times(left, left), -1)
        terms = self._terms(difference, self._facts(difference), strict=strict)
        if terms is None:
            return _NO_PROOF
        return {"method": "gram", "base": self._written(base), "sum": self._written(terms)}

    def proposed(self) -> Iterator[ExactPoint]:
        """Points at which the claim may fail, from Gram matrices at some values of the letters."""
        claim = self.problem.claim
        if not isinstance(claim, Compare) or claim.relation not in ("<=", "<"):
            return
        target = self._linear(claim)
        if target is None:
            return
        given = [(form, a.relation == "==") for a in self.compared if (form := self._linear(a)) is not None]
        for at in self._samples():
            for point in proposed(self.products, sorted(self.vectors), target, given, at):
                yield {**at, **point}

    def _linear(self, compare: Compare) -> Form | None:
        """Right minus left, or the difference of their squares, whichever is linear in the Gram matrix."""
        left, right = (self.products.form(side) for side in (compare.left, compare.right))
        for power in (1, 2):
            high, low = (side if power == 1 else self.products.times(side, side) for side in (right, left))
            whole = self.products.plus(high, low, -1)
            if is_linear(whole):
                return whole
        return None

    def _sort_assumptions(self) -> None:
        """Assumptions about numbers in coefficients say which of these are positive; all others are facts."""
        numbers: list[Formula] = []
        self.facts: list[_Fact] = []
        self.compared: list[Compare] = []
        for i, assumption in enumerate(f for given in self.problem.assuming for f in conjuncts(given)):
            if not isinstance(assumption, Compare):
                continue
            free = free_in(assumption)
            if all(v in self.products.letters for v in free):
                numbers.append(assumption)
                continue
            if assumption.relation == "!=":
                continue
            try:
                left, right = (self.products.form(side) for side in (assumption.left, assumption.right))
            except OutOfScopeError:
                continue
            self.compared.append(assumption)
            form = self.products.plus(right, left, -1)
            equality, strict = assumption.relation == "==", assumption.relation == "<"
            self.facts.append(_Fact(form, (["assumption", i],), equality, strict))
        letters = tuple(self.products.letters)
        self.scalar = replace(self.problem, over=letters, assuming=tuple(numbers), claim=Le(0, 0), box={})

    def _facts(self, target: Form) -> list[_Fact]:
        """Everything that may be used, without what cannot cancel."""
        products, one = self.products, self.products.number(1)
        single = list(self.facts)
        norms = products.norms
        lengths = [
            _Fact({(("norm", i),): one}, (["norm", expression_to_json(e)],)) for i, (_, e) in enumerate(norms)
        ]
        cauchy = []
        for (i, (u, e)), (j, (v, f)) in itertools.combinations(enumerate(norms), 2):
            both: Form = {(("norm", i), ("norm", j)): one}
            for sign in (1, -1):
                form = products.plus(both, products.inner(u, v), -sign)
                other = f if sign == 1 else -f
                cauchy.append(_Fact(form, (["cauchy", expression_to_json(e), expression_to_json(other)],)))
        out = [_Fact({(): one}), *single, *lengths, *cauchy]
        if norms:
            pairs = itertools.combinations_with_replacement([*single, *lengths], 2)
            out += [self._product(a, b) for a, b in pairs]
            if any(sum(atom[0] == "dot" for atom in monomial) > 1 for monomial in target):
                out += [self._product(a, b) for a, b in itertools.combinations(cauchy, 2)]
        return _useful(target, out)[:MAX_FACTS]

    def _product(self, a: _Fact, b: _Fact) -> _Fact:
        form = self.products.times(a.form, b.form)
        return _Fact(form, (*a.factors, *b.factors), a.equality or b.equality, a.strict and b.strict)

    def _base(self, form: Form) -> list[_GramTerm] | None:
        """A sum of norms with coefficients that are not negative, so that it is not negative."""
        found = []
        for monomial, c in form.items():
            if any(atom[0] != "norm" for atom in monomial):
                return None
            norms = (self.products.norms[atom[1]][1] for atom in monomial)
            factors = tuple(["norm", expression_to_json(norm)] for norm in norms)
            found.append(_GramTerm(c, _Fact({monomial: self.products.number(1)}, factors)))
        return found if all(map(self._allowed, found)) else None

    def _terms(
        self, target: Form, facts: list[_Fact], *, equality: bool = False, strict: bool = False
    ) -> list[_GramTerm] | None:
        """The target as a sum that shows its sign; checked exactly."""
        names = sorted(self.vectors)
        nothing = [self.products.number(0)] * len(facts)
        given = [(f.form, f.equality) for f in facts]
        found = itertools.chain(
            [nothing], proposals(self.products, names, target, given, self._samples(), equality=equality)
        )
        for multipliers in found if target or strict else [nothing]:
            terms = self._checked(target, facts, multipliers, names, equality=equality)
            if terms is not None and (not strict or any(map(self._positive, terms))):
                # what is positive comes first
                return sorted(terms, key=lambda term: not self._positive(term)) if strict else terms
        return None

    def _checked(
        self,
        target: Form,
        facts: list[_Fact],
        multipliers: list[Coefficient],
        names: list[str],
        *,
        equality: bool,
    ) -> list[_GramTerm] | None:
        rest = dict(target)
        terms = []
        for fact, multiplier in zip(facts, multipliers, strict=True):
            if multiplier:
                rest = self.products.plus(rest, fact.form, -multiplier)
                terms.append(_GramTerm(multiplier, fact))
        if equality:
            return terms if not rest and all(map(self._allowed, terms)) else None
        constant = rest.pop((), None)
        if constant is not None:
            terms.append(_GramTerm(constant, _Fact({})))
        if not all(map(is_entry, rest)):
            return None
        diagonal = squares(self.products, names, matrix(names, rest))
        if diagonal is None:
            return None
        for d, v in diagonal:
            e = expression_to_json(self.products.combination(v, self.vectors))
            terms.append(_GramTerm(d, _Fact({}, (["inner", e, e],)), v))
        return terms if all(map(self._allowed, terms)) else None

    def _samples(self) -> list[dict[str, Fraction]]:
        """Points of the coefficients' letters, none of them 0, at which what is assumed of them holds."""
        letters = self.products.letters
        if not letters:
            return [{}]
        rng = random.Random(0)
        points = ({v.name: _generic(v, rng) for v in letters} for _ in range(2_000))
        return list(itertools.islice(filter(self._is_suitable, points), SAMPLES))

    def _is_suitable(self, point: dict[str, Fraction]) -> bool:
        inside = all(v.contains(point[v.name]) and point[v.name] for v in self.products.letters)
        return inside and all(plain_truth(a, point) is True for a in self.scalar.assuming)

    def _allowed(self, term: _GramTerm) -> bool:
        """Whether a multiplier is defined and has the sign that it needs, wherever the problem says anything."""
        for c in (term.multiplier, *term.vector.values()):
            below = self.products.expression(self.products.field(c.denom))
            if not (isinstance(below, Number) or self._shown(Ne(below, 0))):
                return False
        e = self.products.expression(term.multiplier)
        if term.fact.equality:
            return True
        return e.value >= 0 if isinstance(e, Number) else self._shown(Le(0, e))

    def _positive(self, term: _GramTerm) -> bool:
        """Whether a term is positive everywhere."""
        if any(factor[0] != "assumption" for factor in term.fact.factors):
            return False
        if term.fact.factors and not term.fact.strict:
            return False
        e = self.products.expression(term.multiplier)
        return e.value > 0 if isinstance(e, Number) else self._shown(Lt(0, e))

    def _shown(self, claim: Compare) -> bool:
        question = self.scalar.claiming(claim)
        attempts = (prover.attempt(question, self.budget) for prover in (Exact(), RealArithmetic()))
        return any(found is not None and found.verdict is Verdict.PROVED for found in attempts)

    def _written(self, terms: list[_GramTerm]) -> Json:
        return [[expression_to_json(self.products.expression(t.multiplier)), *t.fact.factors] for t in terms]


def _generic(v: Variable, rng: random.Random) -> Fraction:
    """A number of a letter's domain, between 1/4 and 4 where that can be."""
    if v.kind == "integer":
        low = 1 if v.lower is None else int(v.lower)
        return Fraction(rng.randint(low, low + 8))
    if v.lower is not None and v.upper is not None:
        return v.lower + (v.upper - v.lower) * Fraction(rng.randint(1, 15), 16)
    size = Fraction(rng.randint(4, 64), 16)
    if v.lower is not None:
        return v.lower + size
    return size if v.upper is None else v.upper - size


def _useful(target: Form, facts: list[_Fact]) -> list[_Fact]:
    """The facts whose terms can all cancel: each is a square's, or occurs in the target or another fact."""
    while True:
        counts: dict[object, int] = {}
        for form in (target, *(f.form for f in facts)):
            for monomial in form:
                counts[monomial] = counts.get(monomial, 0) + 1
        kept = [f for f in facts if all(is_entry(m) or not m or counts[m] > 1 for m in f.form)]
        if len(kept) == len(facts):
            return kept
        facts = kept
