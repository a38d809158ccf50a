"""Formulas in real arithmetic put to z3: polynomials, and, or, not, implies, max, min, abs and quantifiers.

Comparisons go over common denominators into polynomials; roots, exponentials, logarithms and other functions
become fresh unknowns of which only simple facts are told (that an exponential is positive; a root's defining
equation where its base is not negative). Every fact can be met at every point of the domain, so that facts say
nothing about the variables; that terms are defined is said where a formula is known to be true, and only there.
Hence `unsatisfiable` is a proof, while a model is a counterexample only after it has been evaluated exactly.
Every question has a z3 of its own, so that no answer depends on what was asked before or by whom.

z3 counts its operations and not the size of the numbers in them, which grows with every elimination of an unknown
and every round of propagation. So the sizes that can come up are estimated beforehand, from degrees and
coefficients: the longer the numbers, the fewer operations and rounds it gets.
"""

from __future__ import annotations

import math
import operator as ring
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp
import z3

from dpverify.formulas.calculus import map_sides
from dpverify.formulas.definedness import defined_where
from dpverify.formulas.expressions import OutOfScopeError, TooLargeError, Variable
from dpverify.formulas.logic import (
    And,
    Compare,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    comparisons,
    subformulas,
)
from dpverify.proving.proof import Budget
from dpverify.proving.reasoning.algebra import replaced
from dpverify.proving.reasoning.effort import note_the_clock
from dpverify.proving.reasoning.normal_form import NormalForms, Quotient, constant
from dpverify.proving.reasoning.polynomials import Monomial, Polynomial, content, degree, multiply
from dpverify.proving.reasoning.symbolic import (
    TRANSCENDENTAL,
    Symbolic,
    SymPy,
    holds_by_signs,
    symbol,
    symbolic_formula,
)

MAX_DEGREE = 60
"""Highest power of an unknown that z3 is asked about: it does not count the work in numbers that such powers make."""
MAX_LENGTH = 1_000
"""Most terms of a polynomial for z3."""
MAX_BITS = 2_000
"""Most bits of a coefficient, or of an end of a domain, for z3."""
USUAL_NUMBER = 1_000
"""Bits of numbers up to which one of z3's operations costs about the same."""
LARGEST_NUMBER = 100_000
"""Bits that numbers may grow to in the general solver, which multiplies them once a round of propagation."""
MAX_CASES = 128
"""Cases that max, min and abs may split a comparison into."""


def without_pieces(formula: Symbolic) -> Symbolic:
    """A comparison in SymPy's form without max, min and abs, by cases."""
    difference = formula.right - formula.left
    if not difference.has(sp.Max, sp.Min, sp.Abs):
        return formula
    if math.prod(max(2, len(p.args)) for p in difference.atoms(sp.Max, sp.Min, sp.Abs)) > MAX_CASES:
        raise TooLargeError("max, min and abs make too many cases")
    ordered = formula.relation in ("<=", "<")
    for name, side, all_of in (("left", formula.left, sp.Max), ("right", formula.right, sp.Min)):
        if ordered and isinstance(side, sp.Max | sp.Min):
            pieces = tuple(without_pieces(replace(formula, **{name: a})) for a in side.args)
            return And(pieces) if isinstance(side, all_of) else Or(pieces)
    piece = next(
        p
        for p in sorted(difference.atoms(sp.Max, sp.Min, sp.Abs), key=sp.default_sort_key)
        if not any(a.has(sp.Max, sp.Min, sp.Abs) for a in p.args)
    )
    if isinstance(piece, sp.Abs):
        branches, largest = (piece.args[0], -piece.args[0]), True
    else:
        branches, largest = piece.args, isinstance(piece, sp.Max)
    cases: list[Symbolic] = []
    for branch in branches:
        others = (b for b in branches if b is not branch)
        chosen = (Compare("<=", b, branch) if largest else Compare("<=", branch, b) for b in others)
        here = map_sides(formula, partial(replaced, values={piece: branch}))
        cases.append(And((*chosen, without_pieces(here))))
    return Or(tuple(cases))


class _Query:
    """One formula being turned into z3's terms, with the facts about the unknowns it introduces."""

    def __init__(self, variables: tuple[Variable, ...], *, integers: bool) -> None:
        self.forms = NormalForms()
        self.integers = integers
        self.context = z3.Context()
        self.variables = {symbol(v): v for v in variables}
        self.unknowns: dict[Any, Any] = {}
        self.facts: list[Any] = []
        self.bits = 1
        self.degrees: list[int] = []
        self.domain = [c for v in variables for c in self._domain(v)]

    def _number(self, value: Fraction) -> Any:
        self.bits = max(self.bits, *map(int.bit_length, value.as_integer_ratio()))
        if self.bits > MAX_BITS:
            raise TooLargeError("a number is too long for z3")
        return z3.RatVal(*value.as_integer_ratio(), self.context)

    def _domain(self, v: Variable) -> Iterator[Any]:
        if v.kind == "vector":
            raise OutOfScopeError("function not supported: inner products of vectors")
        x = self._symbol(symbol(v))
        if v.lower is not None:
            low = self._number(v.lower)
            yield x > low if v.lower_open else x >= low
        if v.upper is not None:
            high = self._number(v.upper)
            yield x < high if v.upper_open else x <= high

    def _symbol(self, letter: SymPy) -> Any:
        if letter not in self.unknowns:
            v = self.variables.get(letter)
            if v is None:
                raise OutOfScopeError(f"{letter} is not declared")
            whole = self.integers and v.kind == "integer"
            x = (z3.Int if whole else z3.Real)(f"v_{v.name}", self.context)
            self.unknowns[letter] = z3.ToReal(x) if whole else x
        return self.unknowns[letter]

    def _unknown(self, letter: int, root: int) -> Any:
        """z3's term for the root-th root of an atom."""
        key = (letter, root)
        if key in self.unknowns:
            return self.unknowns[key]
        atom = self.forms.atoms[letter]
        kind = atom.key[0]
        plain = kind == "symbol" and root == 1
        x = self._symbol(atom.expression) if plain else z3.Real(f"u_{letter}_{root}", self.context)
        self.unknowns[key] = x
        if root > 1:
            if atom.sign == "any":
                raise OutOfScopeError("a root of what may be negative")
            self.facts.append(x > 0 if atom.sign == "positive" else x >= 0)
        if kind == "root":
            over, under = self._whole(atom.base)
            top, bottom = self._polynomial(over), self._polynomial(under)
            self.degrees.append(root + degree(under))
            fact = _power(x, root) * bottom == top
            if not (self.forms.is_nonnegative(over) and under == {(): Fraction(1)}):
                fact = z3.Implies(z3.And(top * bottom >= 0, bottom != 0, self.context), fact)
            self.facts.append(fact)
        elif root > 1:
            self.degrees.append(root)
            self.facts.append(_power(x, root) == self._unknown(letter, 1))
        elif kind == "pi":
            low, high = (self._number(Fraction(n, 10**8)) for n in (314159265, 314159266))
            self.facts += [x > low, x < high]
        elif kind == "exp":
            self.facts.append(x > 0)
        elif kind == "erfc":
            self.facts += [x > 0, x < 2]
        elif kind == "power" and atom.argument is not None and atom.argument.numerator == {(): -1}:
            self.facts.append(x * x == 1)
        elif kind == "floor":
            self._floor(x, atom.expression.args[0])
        return x

    def _floor(self, x: Any, argument: SymPy) -> None:
        q = self.forms.of(argument)
        if len(q.denominator) != 1 or any(e < 0 or e.denominator != 1 for m in q.numerator for _, e in m):
            raise OutOfScopeError("a floor of what is not a polynomial")
        value = self._polynomial(q.numerator)
        self.facts += [x <= value, value < x + 1]
        if self.integers:
            self.facts.append(z3.IsInt(x))

    def _whole(self, q: Quotient | None) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator without negative exponents."""
        if q is None:
            raise AssertionError("a root has a base")
        up: Polynomial = {tuple((a, -e) for a, e in content(q.numerator) if e < 0): Fraction(1)}
        return multiply(q.numerator, up), multiply(q.denominator, up)

    def _polynomial(self, p: Polynomial) -> Any:
        """A polynomial with nonnegative exponents as a z3 term."""
        roots: dict[int, int] = {}
        for m in p:
            for a, e in m:
                if e < 0:
                    raise AssertionError("negative exponents are multiplied away before")
                roots[a] = math.lcm(roots.get(a, 1), e.denominator)
        if len(p) > MAX_LENGTH or any(e * roots[a] > MAX_DEGREE for m in p for a, e in m):
            raise TooLargeError("a polynomial is too long, or its powers too high, for z3")
        self.degrees.append(max((sum(int(e * roots[a]) for a, e in m) for m in p), default=0))
        terms = []
        for m, c in sorted(p.items()):
            factors = [self._number(c)]
            factors += [_power(self._unknown(a, roots[a]), int(e * roots[a])) for a, e in m]
            terms.append(z3.Product(factors) if len(factors) > 1 else factors[0])
        return z3.Sum(terms) if terms else self._number(Fraction(0))

    def _cleared(self, q: Quotient) -> Polynomial:
        """A polynomial with the sign of a quotient, wherever the quotient is defined."""
        p = q.numerator
        if self.forms.is_nonnegative(q.denominator):
            pass
        elif self.forms.is_nonnegative({m: -c for m, c in q.denominator.items()}):
            p = {m: -c for m, c in p.items()}
        else:
            p = multiply(p, q.denominator)
        lowest: dict[int, Fraction] = {}
        for m in p:
            for a, e in m:
                lowest[a] = min(lowest.get(a, Fraction(0)), e)
        clear: list[tuple[int, Fraction]] = []
        for a, e in sorted(lowest.items()):
            if e < 0:
                # an even power does not change the sign, whatever the atom's; a positive atom needs no care
                even = Fraction(2 * math.ceil(-e / 2))
                clear.append((a, even if self.forms.atoms[a].sign == "any" else -e))
        factor: Monomial = tuple(clear)
        return multiply(p, {factor: Fraction(1)})

    def dearness(self) -> int:
        """How many times more than usual one of z3's operations may cost: degrees multiply with each elimination."""
        unknowns = len({term.get_id() for term in self.unknowns.values()})
        highest = sorted(self.degrees, reverse=True)[:unknowns]
        return 1 + self.bits * math.prod(d for d in highest if d > 1) // USUAL_NUMBER

    def rounds(self) -> int:
        """Rounds of propagation in the general solver until numbers may be `LARGEST_NUMBER` bits long."""
        highest = max((2, *self.degrees))
        return max(1, int(math.log(LARGEST_NUMBER / self.bits, highest)))

    def known(self, f: Formula) -> Any:
        """A z3 term that is true wherever a formula is; facts are collected on the side."""
        return self._walk(f, True, self._known_comparison)

    def failing(self, f: Formula, *, defined: bool) -> Any:
        """A z3 term that is true wherever a formula is not true, but false or undefined.

        `defined` says that all of its comparisons have been shown to be defined wherever that matters.
        """

        def failed(compare: Compare, value: bool) -> Any:
            order = self._comparison(compare)
            undefined = [] if defined else [z3.Not(c) for c in self._definedness(compare)]
            return z3.Or(*undefined, order if value else z3.Not(order), self.context)

        return self._walk(f, False, failed)

    def _walk(self, f: Formula, value: bool, leaf: Callable[[Compare, bool], Any]) -> Any:
        """The term for a truth value of a formula from those for truth values of its comparisons."""
        match f:
            case Compare():
                return leaf(f, value)
            case Not(part):
                return self._walk(part, not value, leaf)
            case Implies(premise, conclusion):
                return self._walk(Or((Not(premise), conclusion)), value, leaf)
            case And(parts) | Or(parts):
                join = z3.And if isinstance(f, And) is value else z3.Or
                return join(*(self._walk(p, value, leaf) for p in parts), self.context)
            case ForAll(variable, body):
                return self._bound(variable, body, lambda part: self._walk(part, value, leaf), every=value)
            case Exists():
                raise OutOfScopeError(
                    "that something exists is not asked of z3: a value is searched for and put in"
                )

    def _definedness(self, f: Compare) -> Iterator[Any]:
        for condition in defined_where(f):
            if condition.bound:
                raise OutOfScopeError("where a sum or an integral is defined is not asked of z3")
            yield self._comparison(condition.formula)

    def _known_comparison(self, f: Compare, value: bool) -> Any:
        """What follows from a comparison's truth: that its sides are defined, and their order."""
        try:
            order = self._comparison(f)
            wanted = tuple(defined_where(f))
        except OutOfScopeError:
            return z3.BoolVal(True, self.context)  # nothing, as far as it is understood here
        terms, enough = [], [order if value else z3.Not(order)]
        for condition in wanted:
            if not condition.bound:
                if holds_by_signs(condition.formula):
                    continue
                needed = self._comparison(condition.formula)
                if condition.exact:
                    terms.append(needed)
                else:
                    enough.append(z3.Not(needed))
            elif not condition.exact:
                return z3.BoolVal(True, self.context)
        return z3.And(*terms, z3.Or(*enough, self.context), self.context)

    def _comparison(self, f: Compare) -> Any:
        """A comparison in real arithmetic, right where both sides are defined (`Condition`)."""
        return self._walk(without_pieces(symbolic_formula(f)), True, self._ordered)

    def _ordered(self, f: Symbolic, _value: bool) -> Any:
        right, left = self.forms.of(f.right), self.forms.of(f.left)
        gap = self.forms.sum((right, self.forms.product(constant(-1), left)))
        difference = self._polynomial(self._cleared(gap))
        relation = {"<=": ring.ge, "<": ring.gt, "==": ring.eq, "!=": ring.ne}[f.relation]
        return relation(difference, 0)

    def _bound(
        self, variable: Variable, body: Formula, inner: Callable[[Formula], Any], *, every: bool
    ) -> Any:
        """The inner term for every value of a variable in its domain, or for some value."""
        letter = symbol(variable)
        if letter in self.variables:
            raise OutOfScopeError(f"{variable.name} is bound twice")
        if variable.kind == "integer":
            raise OutOfScopeError("a quantifier over integers")
        compared: Iterator[Symbolic] = comparisons(symbolic_formula(body))
        for side in (side for c in compared for side in (c.left, c.right)):
            found = side.atoms(*TRANSCENDENTAL, sp.floor, sp.Pow, sp.Sum, sp.Integral)
            for e in sorted(found, key=sp.default_sort_key):
                if letter in e.free_symbols and not (isinstance(e, sp.Pow) and e.exp.is_Integer):
                    raise OutOfScopeError(f"{e} under a quantifier")
        self.variables[letter] = variable
        domain = z3.And(*self._domain(variable), self.context)
        term = inner(body)
        # no letter for the variable outlives the quantifier
        del self.variables[letter]
        bound = self.unknowns.pop(letter)
        self.unknowns = {
            key: value
            for key, value in self.unknowns.items()
            if not (isinstance(key, tuple) and self.forms.atoms[key[0]].expression == letter)
        }
        if every:
            return z3.ForAll([bound], z3.Implies(domain, term))
        return z3.Exists([bound], z3.And(domain, term))


def _power(x: Any, n: int) -> Any:
    return x if n == 1 else z3.Product([x] * n) if n <= 8 else x**n


def _solvers(context: Any, quantified: bool, integers: bool, rounds: int) -> list[Any]:
    general = z3.Solver(ctx=context)
    # the newer arithmetic does not count all of its nonlinear work, so that no limit would end it
    general.set("smt.arith.solver", 2)
    general.set("smt.arith.nl.rounds", rounds)
    if integers:
        return [general]
    if quantified:
        return [general, z3.Tactic("nlqsat", context).solver()]
    return [z3.SolverFor("QF_NRA", ctx=context), general]


def _counted(solver: Any) -> int:
    """What the solver's context has done so far, in z3's own count."""
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count"))


def whole_or_not(variables: Iterable[Variable]) -> tuple[bool, ...]:
    """For `integers`: z3 is asked of all numbers first, and then of integers alone where there are some."""
    return (False, True) if any(v.kind == "integer" for v in variables) else (False,)


def unsatisfiable(
    variables: tuple[Variable, ...],
    assuming: tuple[Formula, ...],
    claim: Formula,
    *,
    budget: Budget,
    share: int = 1,
    integers: bool = False,
    defined: bool = True,
) -> tuple[bool | None, dict[str, Any]]:
    """Whether no point of the domain makes all of `assuming` true and the claim not, and z3's values for one.

    True is a proof; with `defined`, only once the claim's sides have been shown to be defined. False says that z3 found
    a model of the abstraction, None that it gave up, after the budget's `units` of its own count divided by `share`.
    """
    query = _Query(variables, integers=integers)
    body = [*map(query.known, assuming), query.failing(claim, defined=defined)]
    quantified = any(isinstance(part, ForAll) for f in (*assuming, claim) for part in subformulas(f))
    limit = max(1, budget.units // (share * query.dearness()))
    spent = 0
    for solver in _solvers(query.context, quantified, integers, query.rounds()):
        solver.set("rlimit", limit)
        solver.set("timeout", math.ceil(1000 * budget.guard))
        solver.add(*query.domain, *query.facts, *body)
        try:
            answer = solver.check()
        except z3.Z3Exception:
            answer = None
        before, spent = spent, _counted(solver)
        ended = answer == z3.unknown and solver.reason_unknown() in ("timeout", "canceled")
        # z3 also says "canceled" where its own count ended it
        if ended and spent - before < limit:
            note_the_clock()
        if answer == z3.unsat:
            return True, {}
        if answer == z3.sat:
            model = solver.model()
            unknowns = {v.name: query.unknowns[symbol(v)] for v in variables}
            return False, {x: model.eval(unknown, model_completion=True) for x, unknown in unknowns.items()}
    return None, {}


def _rational_near(value: Any, digits: int) -> Fraction | None:
    if z3.is_rational_value(value):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    if z3.is_algebraic_value(value):
        near = value.approx(digits)
        return Fraction(near.numerator_as_long(), near.denominator_as_long())
    return None


def points_near(variables: tuple[Variable, ...], model: dict[str, Any]) -> Iterator[dict[str, Fraction]]:
    """Rational points near a model, the simplest first."""
    exact = {s: _rational_near(value, 30) for s, value in model.items()}
    if any(value is None for value in exact.values()):
        return
    values = {s: value for s, value in exact.items() if value is not None}
    for limit in (1, 2, 4, 10, 100, 10_000):
        yield {
            v.name: values[v.name].limit_denominator(1 if v.kind == "integer" else limit) for v in variables
        }
    yield values
