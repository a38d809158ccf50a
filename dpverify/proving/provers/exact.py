"""Exact proofs: identities, signs of coefficients, arguments' order, squares, sums and integrals in closed form.

Closed forms are guessed, with SymPy's help where an integrand is no Gaussian, and count once an identity has been
shown: no sum and no integral is believed because an algebra system says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import sympy as sp

from dpverify.formulas.calculus import map_sides
from dpverify.formulas.definedness import Requirement, conditions, converges, defined_between, defined_where
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
from dpverify.formulas.logic import Compare, Formula, Le, Lt, comparisons
from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, UnshownError, proved, undecided
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.algebra import (
    antiderivative,
    check_integrand,
    coefficients_in,
    derivative,
    in_factors,
    may_be_summed,
    multiplied_out,
    replaced,
    simplified,
    summed,
)
from dpverify.proving.reasoning.normal_form import NormalForms, is_identity
from dpverify.proving.reasoning.polynomials import Polynomial, factored
from dpverify.proving.reasoning.satisfiability import unsatisfiable
from dpverify.proving.reasoning.symbolic import (
    Phi,
    Symbolic,
    SymPy,
    bound_parts,
    fraction,
    rational,
    symbolic,
    symbolic_formula,
    symbolic_to_json,
    tree,
)
from dpverify.proving.reasoning.truth import missing, require, shift_that_shows

_HIGHEST = 12
"""Powers of arguments of logarithms up to this one are written out."""
_LONGEST = 200
"""Operations of the longest difference that is factored."""


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
    if result is None or result.has(sp.Sum):
        result = _geometric(depending, index, first, end)
    if result is None or result.has(sp.Sum, sp.Piecewise, sp.nan, sp.zoo, sp.oo):
        return None
    return constant * result


def _geometric(term: SymPy, index: SymPy, first: SymPy, end: SymPy) -> SymPy | None:
    """The sum of terms each of which is the same multiple of the one before."""
    if not term.has(sp.exp):
        return None
    ratio = simplified(replaced(term, {index: index + 1}) / term)
    if ratio.has(index) or ratio == 1:
        return None
    return (replaced(term, {index: first}) - ratio * replaced(term, {index: end})) / (1 - ratio)


class Exact(NamedProver):
    """The prover of comparisons; it refutes only where an integral's closed form leaves a false claim."""

    name = "exact"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove a claim as it is written, but for its integrals: where it has a value, the stated one has the same."""
        if not isinstance(problem.claim, Compare):
            return None
        stated, integrals = problem, dict[Binder, ClosedIntegral]()
        claim: Formula = stated.claim
        while (found := _innermost(claim)) is not None:
            integrals[found] = closed_integral(found)
            if undefined := missing(stated.over, stated.assuming, integrals[found].conditions, budget):
                raise UnshownError(f"the integral over {found.variable.name}: {undefined}")
            claim = _with_values(claim, integrals)
        assert isinstance(claim, Compare)
        problem = stated.claiming(claim)

        def whole(steps: Json) -> Json:
            for integral in reversed(integrals.values()):
                steps = {"method": integral.method, **integral.entry, "then": steps}
            return steps

        steps = self._proof(problem, symbolic_formula(claim), budget, inner=bool(integrals))
        if steps is not None:
            shown = {converges(e) for e in integrals if is_infinite(e.first) or is_infinite(e.last)}
            wanted = (_with_values_in(c, integrals) for c in stated.wanted if c not in shown)
            require(stated, wanted, budget)
            if integrals:
                require(stated, defined_where(claim), budget)
            return proved(stated, whole(steps))
        if integrals:
            refuted = Search().attempt(problem, budget)
            if refuted is not None and refuted.certificate is not None:
                proof = certificate(stated, Verdict.REFUTED, whole(refuted.certificate["proof"]))
                return replace(refuted, certificate=proof)
        return undecided("no identity, and no shift makes all coefficients nonnegative", Gap.NO_METHOD)

    def _proof(
        self, problem: ProofProblem, claim: Symbolic, budget: Budget, *, inner: bool = False
    ) -> Json | None:
        """Show a comparison in SymPy's form, wherever it is defined, under a problem's assumptions."""
        if (claim.left - claim.right).has(sp.Sum):
            return self._summed(problem, claim, budget)
        if claim.relation == "==" and is_identity(claim.left, claim.right):
            return {"method": "identity"}
        shift = shift_that_shows(claim, problem.over, problem.assuming)
        if shift is not None:
            return {"method": "signs", "shift": {name: s.to_json() for name, s in sorted(shift.items())}}
        for method, simpler in (("monotone", unwrapped), ("square", square_factor)):
            step = simpler(claim)
            if step is not None:
                then = self._proof(problem, step.left(claim), budget, inner=True)
                return None if then is None else {"method": method, **step.to_json(), "then": then}
        if inner:
            answer, _ = unsatisfiable(problem.over, problem.assuming, map_sides(claim, tree), budget=budget)
            if answer is True:
                return {"method": "smt"}
        return None

    def _summed(self, problem: ProofProblem, claim: Symbolic, budget: Budget) -> Json | None:
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
            between = defined_between(tree(form), index, first, last)
            if undefined := missing(problem.over, problem.assuming, between, budget):
                raise OutOfScopeError(f"the closed form of the sum over {index.name}: {undefined}")
            closed.append([symbolic_to_json(e), symbolic_to_json(form)])
            value = replaced(form, {limits[0]: limits[2]})
            rest = outer.limits[1:]
            value = sp.Sum(value, *rest) if rest else value
            claim = map_sides(claim, partial(replaced, values={outer: value}))
        then = self._proof(problem, claim, budget, inner=True)
        return None if then is None else {"method": "sum", "closed": closed, "then": then}


def _innermost(claim: Formula) -> Binder | None:
    """An integral without another one inside, the first as it is written."""
    sides = [side for compare in comparisons(claim) for side in (compare.left, compare.right)]
    for part in (part for side in sides for part in subexpressions(side) if _integrals(part)):
        if isinstance(part, At | Derivative) or (isinstance(part, Binder) and part.kind != "integral"):
            raise OutOfScopeError("an integral under a sum or a derivative, or at a place")
    return next((e for side in sides for e in _integrals(side) if len(_integrals(e)) == 1), None)


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


@dataclass(frozen=True)
class Unwrapped:
    """right - left = times * (function(larger) - function(smaller)), identically, with times > 0."""

    function: str
    times: Fraction
    smaller: SymPy
    larger: SymPy

    def to_json(self) -> dict[str, Json]:
        """As certificates write it."""
        sides = _entry(smaller=self.smaller, larger=self.larger)
        return {"function": self.function, "times": str(self.times), **sides}

    def left(self, claim: Symbolic) -> Symbolic:
        """What is left to be shown of a claim."""
        return Compare(claim.relation, self.smaller, self.larger)


def unwrapped(claim: Symbolic) -> Unwrapped | None:
    """The arguments to compare instead, where both sides' difference is one of log or of exp alone."""
    if claim.relation not in ("<=", "<"):
        return None
    terms = [t.as_coeff_Mul() for t in sp.Add.make_args(claim.right - claim.left)]
    if not all(c.is_Rational for c, _ in terms):
        return None
    return _of_logarithms(terms) or _of_exponentials(terms)


def _of_logarithms(terms: list[tuple[SymPy, SymPy]]) -> Unwrapped | None:
    if not all(isinstance(rest, sp.log) for _, rest in terms):
        return None
    coefficients = [fraction(c) for c, _ in terms]
    tops, bottoms = zip(*(c.as_integer_ratio() for c in coefficients), strict=True)
    unit = Fraction(math.gcd(*tops), math.lcm(*bottoms))
    smaller = larger = sp.Integer(1)
    for c, (_, logarithm) in zip(coefficients, terms, strict=True):
        n = int(c / unit)
        if abs(n) > _HIGHEST:
            return None
        if n > 0:
            larger *= logarithm.args[0] ** n
        else:
            smaller *= logarithm.args[0] ** -n
    return Unwrapped("log", unit, smaller, larger)


def _of_exponentials(terms: list[tuple[SymPy, SymPy]]) -> Unwrapped | None:
    if len(terms) != 2 or terms[0][0] + terms[1][0] != 0:
        return None
    exponents = {}
    for c, rest in terms:
        if rest == 1:
            exponents[bool(c > 0)] = sp.Integer(0)
        elif isinstance(rest, sp.exp):
            exponents[bool(c > 0)] = rest.args[0]
        else:
            return None
    return Unwrapped("exp", abs(fraction(terms[0][0])), exponents[False], exponents[True])


@dataclass(frozen=True)
class SquareFactor:
    """right - left = root^2 * rest, identically."""

    root: SymPy
    rest: SymPy

    def to_json(self) -> dict[str, Json]:
        """As certificates write it."""
        return _entry(root=self.root, rest=self.rest)

    def left(self, _claim: Symbolic) -> Symbolic:
        """What is left to be shown of a claim."""
        return Compare("<=", sp.Integer(0), self.rest)


def square_factor(claim: Symbolic) -> SquareFactor | None:
    """The largest square in a rational function right - left, for claims with `<=`; None where there is none."""
    difference = claim.right - claim.left
    symbols = sorted(difference.free_symbols, key=sp.default_sort_key)
    if claim.relation != "<=" or not symbols or difference.count_ops() > _LONGEST:
        return None
    if not difference.is_rational_function(*symbols):
        return None
    forms = NormalForms()
    try:
        q = forms.of(difference)
        constant, monomial, others = factored(q.numerator)
    except OutOfScopeError:
        return None
    # powers of symbols may be negative, being cancelled from the denominator
    powers = [(forms.atoms[a].expression, int(e)) for a, e in monomial if e.denominator == 1]
    if len(powers) < len(monomial) or not all(atom.key[0] == "symbol" for atom in forms.atoms):
        return None
    parts = [*powers, *((_expression(forms, f), n) for f, n in others)]
    root = sp.Mul(*(f ** (n // 2) for f, n in parts if n > 1))
    if not root.free_symbols:
        return None
    left = sp.Mul(*(f ** (n % 2 if n > 1 else n) for f, n in parts))
    return SquareFactor(root, rational(constant) * left / _expression(forms, q.denominator))


def _expression(forms: NormalForms, p: Polynomial) -> SymPy:
    """A polynomial in SymPy's words."""
    letters = [atom.expression for atom in forms.atoms]
    return sp.Add(*(rational(c) * sp.Mul(*(letters[a] ** rational(e) for a, e in m)) for m, c in p.items()))


@dataclass(frozen=True)
class ClosedIntegral:
    """An integral, its value, the certificate's entry, and the conditions under which both are the same."""

    method: str
    value: Expression
    entry: dict[str, Json]
    conditions: tuple[Requirement, ...]


def closed_integral(integral: Binder) -> ClosedIntegral:
    """An integral's closed form; `OutOfScopeError` where none is found."""
    e = symbolic(integral)
    if not isinstance(e, sp.Integral):
        raise OutOfScopeError(f"SymPy rewrites the integral over {integral.variable.name}")
    check_integrand(e.function)
    found = (
        None
        if e.function.has(sp.Integral)
        else next(
            filter(None, (way(integral, e) for way in (_gaussian, _by_antiderivative, _decaying))), None
        )
    )
    if found is None:
        raise OutOfScopeError(f"no closed form is found for the integral over {bound_parts(e)[1]}")
    return found


def _conditions(integral: Binder, *parts: Expression) -> Iterator[Requirement]:
    """That an integral and what takes its place are defined; that it converges is shown by what takes its place."""
    yield from (c for c in conditions(integral) if c != converges(integral))
    for part in parts:
        yield from conditions(part)


def _entry(**parts: SymPy) -> dict[str, Json]:
    return {name: symbolic_to_json(part) for name, part in parts.items()}


def _exponentials(body: SymPy) -> tuple[SymPy, SymPy]:
    """The factors of a product that are no exponentials, and the exponent of those that are."""
    factor, exponent = sp.Integer(1), sp.Integer(0)
    for part in sp.Mul.make_args(body):
        if isinstance(part, sp.exp):
            exponent += part.args[0]
        else:
            factor *= part
    return factor, exponent


def _gaussian(integral: Binder, e: SymPy) -> ClosedIntegral | None:
    """A polynomial * exp(-rate (x - center)^2), between any ends: the square in the exponent is completed."""
    body, x, low, high = bound_parts(e)
    factor, exponent = _exponentials(body)
    coefficients = coefficients_in(exponent, x)
    if coefficients is None or len(coefficients) != 3:
        return None
    square, linear, constant = coefficients
    rate = in_factors(-square)
    center = in_factors(linear / (2 * rate))
    height = sp.exp(in_factors(constant + rate * center**2))
    bell = sp.exp(-rate * (x - center) ** 2)
    left, moved = _by_parts(factor, x, rate, center)
    if left is None:
        return None
    factor, part = left * height, moved * height
    if not is_identity(body, factor * bell + derivative(part * bell, x)):
        return None

    def below(end: SymPy) -> SymPy:
        if end.is_infinite:
            return sp.Integer(1) if end is sp.oo else sp.Integer(0)
        return Phi(sp.sqrt(2 * rate) * (end - center))

    ends = [sp.Integer(0) if end.is_infinite else replaced(part * bell, {x: end}) for end in (low, high)]
    value = factor * sp.sqrt(sp.pi / rate) * (below(high) - below(low)) + ends[1] - ends[0]
    positive = Lt(0, tree(rate))
    if value.has(sp.I):
        raise OutOfScopeError(f"{formula_text(positive)} is not shown")
    closed = tree(value)
    return ClosedIntegral(
        "gaussian-integral",
        closed,
        {
            "integral": expression_to_json(integral),
            **_entry(rate=rate, center=center, factor=factor),
            **({} if part == 0 else _entry(part=part)),
        },
        # it converges at a positive rate
        (
            *conditions(tree(rate)),
            Requirement(positive),
            *_conditions(integral, tree(center), tree(factor), closed),
            *(() if part == 0 else conditions(tree(replaced(part, {x: center})))),
        ),
    )


def _by_parts(factor: SymPy, x: SymPy, rate: SymPy, center: SymPy) -> tuple[SymPy | None, SymPy]:
    """A number and a polynomial: factor * bell is number * bell and the derivative of polynomial * bell."""
    terms = coefficients_in(replaced(factor, {x: x + center}), x) if factor.has(x) else [factor]
    if terms is None:
        return None, sp.Integer(0)
    powers, part, away = terms[::-1], sp.Integer(0), x - center
    for k in range(len(powers) - 1, 0, -1):  # y^k = (k - 1) / (2 rate) y^(k - 2), less a derivative
        part -= powers[k] / (2 * rate) * away ** (k - 1)
        if k > 1:
            powers[k - 2] += powers[k] * (k - 1) / (2 * rate)
    return powers[0], part


def _by_antiderivative(integral: Binder, e: SymPy) -> ClosedIntegral | None:
    """F(upper) - F(lower) with F' = body, for finite ends in their order."""
    body, x, low, high = bound_parts(e)
    form = None if low.is_infinite or high.is_infinite else antiderivative(body, x)
    if form is None or form.has(sp.Integral, sp.Piecewise, sp.nan, sp.zoo, sp.oo):
        return None
    try:
        if not is_identity(derivative(form, x), body):
            return None
    except OutOfScopeError:
        return None
    value = replaced(form, {x: high}) - replaced(form, {x: low})
    if value.has(sp.I):
        raise OutOfScopeError("that an antiderivative is real at both ends is not shown")
    closed = tree(value)
    between = defined_between(tree(form), integral.variable, tree(low), tree(high))
    return ClosedIntegral(
        "antiderivative",
        closed,
        {"integral": expression_to_json(integral), **_entry(primitive=form)},
        (*_conditions(integral, closed), Requirement(Le(tree(low), tree(high))), *between),
    )


def _decaying(integral: Binder, e: SymPy) -> ClosedIntegral | None:
    """A polynomial times exp(-rate x) up to infinity (or from there, at a negative rate): nothing is left far out."""
    body, x, low, high = bound_parts(e)
    factor, exponent = _exponentials(body)
    slopes, terms = coefficients_in(exponent, x), coefficients_in(factor, x)
    if slopes is None or terms is None or len(slopes) != 2 or low.is_infinite is high.is_infinite:
        return None
    rate = in_factors(-slopes[0])
    form, rest = sp.Integer(0), factor * sp.exp(slopes[1])
    for k in range(len(terms)):  # by parts, again and again
        form -= in_factors(rest) / rate ** (k + 1)
        rest = derivative(rest, x)
    end, sign = (low, 1) if high.is_infinite else (high, -1)
    positive = Lt(0, tree(sign * rate))
    primitive = form * sp.exp(-rate * x)
    if not is_identity(derivative(primitive, x), body):
        return None
    closed = tree(-sign * replaced(primitive, {x: end}))
    return ClosedIntegral(
        "antiderivative",
        closed,
        {"integral": expression_to_json(integral), **_entry(primitive=primitive, factor=form, rate=rate)},
        (*conditions(tree(rate)), Requirement(positive), *_conditions(integral, tree(form), closed)),
    )
