"""Claims that follow in real arithmetic, by z3: from polynomials alone, or with a few facts about functions.

Each fact is an instance of one of four laws of exp, log, Phi and powers at the arguments that a problem has.

- `order`: the function grows, so that two of its values are in the order of their arguments; of `log`, and of powers
  with a positive exponent, where the arguments are positive.
- `reflection`: Phi(u) + Phi(v) is to 1 what u + v is to 0.
- `tangent`: the exponential is above its tangent at 0, the logarithm below that at 1, and above 1 - 1/u.
- `value`: rational bounds of exp, log or Phi at a rational number.

A fact holds wherever its arguments are defined. So arguments are taken only from what has to be defined where a claim
is asked about: a claim that is a comparison, and comparisons that are assumed, alone or joined by `and`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpverify.formulas.definedness import defined_where
from dpverify.formulas.expressions import (
    PI,
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    constant,
    expression,
    free_variables,
    outside,
)
from dpverify.formulas.logic import And, Compare, Eq, Formula, Implies, Le, Lt, comparisons, conjuncts
from dpverify.formulas.operators import apply, exp
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, gap_of, most_telling, proved, undecided
from dpverify.proving.provers.points import confirmed, refutation
from dpverify.proving.reasoning.satisfiability import points_near, unsatisfiable, whole_or_not
from dpverify.proving.reasoning.truth import missing, require

_Pair = tuple[Expression, Expression]
GROWING = ("exp", "log", "phi")
RANGES = ("sin", "cos", "arctan")
"""Functions of which facts say where their values are."""
MOST = 40
"""Facts for one problem."""
_MOST_ARGUMENTS = 6
"""Arguments of one function that are compared with one another."""
_DIGITS = 6
_SHARE = 4
"""What is tried with fewer facts gets this part of the work."""


class RealArithmetic(NamedProver):
    """By unsatisfiability; refutes by a model that evaluates to a counterexample."""

    name = "z3"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove or refute; every attempt that stops has its reason."""
        claim, assuming, over = problem.claim, problem.assuming, problem.over
        stops: list[tuple[str, Gap]] = []
        try:
            undefined = missing(over, assuming, defined_where(claim), budget)
            for integers in whole_or_not(over):
                answer, model = unsatisfiable(over, assuming, claim, budget=budget, integers=integers)
                if answer is True and undefined and not isinstance(claim, Compare):
                    # what is undefined may not matter, where another part decides
                    strictly, _ = unsatisfiable(
                        over, assuming, claim, budget=budget, integers=integers, defined=False
                    )
                    undefined = "" if strictly is True else undefined
                if answer is True and not undefined:
                    return proved(problem, shown_with(assuming, ()))
                if answer is True:
                    stops.append((undefined, Gap.MISSING_HYPOTHESIS))
                    break
                for point in points_near(over, model) if model else ():
                    if confirmed(problem, point):
                        return refutation(problem, point)
                gave_up = ("z3 gave up", Gap.EFFORT_SPENT)
                stops.append(gave_up if answer is None else ("no model is a counterexample", Gap.NO_METHOD))
        except OutOfScopeError as error:
            stops.append((str(error), gap_of(error)))
        reason = "; ".join(dict.fromkeys(why for why, _ in stops))
        return undecided(reason, most_telling(gap for _, gap in stops))


class FunctionFacts(NamedProver):
    """With facts added to the assumptions, as few as are found to be enough; nothing is refuted."""

    name = "facts"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove a comparison with functions in it."""
        if not isinstance(problem.claim, Compare):
            return None
        known = facts(problem.claim, problem.assuming)
        if not known:
            return None
        if not self._shown(problem, known, budget, share=1):
            return undecided("the known facts about functions are not enough", Gap.NO_METHOD)
        require(problem, problem.wanted, budget)
        return proved(problem, shown_with(problem.assuming, self._needed(problem, known, budget)))

    def _needed(self, problem: ProofProblem, known: list[Fact], budget: Budget) -> list[Fact]:
        """Those that are left when all have been left out that the rest does without, half of them at a time."""
        size = max(1, len(known) // 2)
        while True:
            for start in range(0, len(known), size):
                rest = known[:start] + known[start + size :]
                if len(rest) < len(known) and self._shown(problem, rest, budget):
                    known = rest
                    break
            else:
                if size == 1:
                    return known
                size //= 2

    @staticmethod
    def _shown(problem: ProofProblem, known: list[Fact], budget: Budget, share: int = _SHARE) -> bool:
        assuming = (*problem.assuming, *(f.formula for f in known))
        over, claim = problem.over, problem.claim
        return any(
            unsatisfiable(over, assuming, claim, budget=budget, share=share, integers=integers)[0] is True
            for integers in whole_or_not(over)
        )


@dataclass(frozen=True)
class Fact:
    """An instance of a law."""

    law: str
    function: str
    at: tuple[Expression, ...]

    def to_json(self) -> Json:
        """As certificates write it."""
        return [self.law, self.function, *map(expression_to_json, self.at)]

    @property
    def formula(self) -> Formula:
        """What it says."""
        match self.law, self.at:
            case "order", (u, v):
                return _order(u, v, apply(self.function, u), apply(self.function, v), self.function == "log")
            case "order", (u, v, p):
                return Implies(Lt(0, p), _order(u, v, apply("pow", u, p), apply("pow", v, p), True))
            case "reflection", (u, v):
                return _equivalent(u + v, 0, apply("phi", u) + apply("phi", v), 1)
            case "tangent", (u,) if self.function == "exp":
                return Le(1 + u, apply("exp", u))
            case "tangent", (u,):
                log = apply("log", u)
                return Implies(Lt(0, u), And((Le(log, u - 1), Le(1 - 1 / u, log))))
            case "range", (u,) if self.function == "arctan":
                at = apply("arctan", u)
                return And((*_equivalent(u, 0, at, 0).parts, *_equivalent(u, 1, at, PI / 4).parts))
            case "range", (u,):
                return And((Le(-1, apply(self.function, u)), Le(apply(self.function, u), 1)))
            case "same", (u, v):
                return Implies(Eq(u, v), Eq(apply(self.function, u), apply(self.function, v)))
            case "arc", (u,):
                return Implies(And((Le(0, u), Le(u, PI))), Le(0, apply("sin", u)))
            case "value", (c, low, high):
                value = apply(self.function, c)
                return And((Le(low, value), Le(value, high)))
        raise AssertionError(self)


def _equivalent(u: Expression, v: object, fu: Expression, fv: object) -> And:
    """Two things are in the same order as two others."""
    return And(tuple(
        Implies(Le(*a), Le(*b))
        for one, other in (((u, v), (fu, fv)), ((v, u), (fv, fu)))
        for a, b in ((one, other), (other, one))
    ))  # fmt: skip


def _order(u: Expression, v: Expression, fu: Expression, fv: Expression, positive: bool) -> Formula:
    same = _equivalent(u, v, fu, fv)
    return Implies(And((Lt(0, u), Lt(0, v))), same) if positive else same


def facts(claim: Formula, assuming: Iterable[Formula]) -> list[Fact]:
    """Facts at the arguments of functions in a claim and in what is assumed, and at what those are compared with."""
    given = [c for f in assuming for c in conjuncts(f)]
    compared = [c for c in (claim, *given) if isinstance(c, Compare)]
    uses: dict[str, dict[Expression, None]] = {name: {} for name in (*GROWING, *RANGES)}
    powers: dict[Expression, dict[Expression, None]] = {}
    for c in compared:
        for name, at in _applied(c.left, c.right):
            if name == "pow":
                powers.setdefault(at[1], {})[at[0]] = None
            else:
                uses[name][at[0]] = None
    sides = [(c.left, c.right) for c in given if isinstance(c, Compare) and c.relation != "!="]
    found = dict.fromkeys(itertools.chain.from_iterable(
        _about(name, list(at), sides) for name, at in uses.items() if at
    ))  # fmt: skip
    for p, bases in powers.items():
        found |= dict.fromkeys(Fact("order", "pow", (u, v, p)) for u, v in _pairs(list(bases), sides))
    return list(found)[:MOST]


def _applied(*sides: Expression) -> Iterator[tuple[str, tuple[Expression, ...]]]:
    """Functions and their arguments, where no variable is bound."""
    for e in (part for side in sides for part in outside(side)):
        if isinstance(e, Apply) and (
            e.operator in (*GROWING, *RANGES) or (e.operator == "pow" and constant(e.arguments[1]) is None)
        ):
            yield e.operator, e.arguments


def _about(name: str, arguments: list[Expression], sides: list[_Pair]) -> Iterator[Fact]:
    if name == "log":
        arguments = [*arguments[: _MOST_ARGUMENTS - 1], exp(expression(1))]
        yield from _value("exp", Fraction(1))
    if name in RANGES:
        laws = ("range", "arc") if name == "sin" else ("range",)
        yield from (Fact(law, name, (u,)) for u in arguments for law in laws)
        alike = "order" if name == "arctan" else "same"
        yield from (Fact(alike, name, pair) for pair in _pairs(arguments, sides))
        return
    for u in arguments:
        c = constant(u)
        if c is not None:
            yield from _value(name, c)
        elif name != "phi" and free_variables(u):
            yield Fact("tangent", name, (u,))
    for u, v in _pairs(arguments, sides):
        yield Fact("order", name, (u, v))
    if name == "phi":
        for u, v in itertools.combinations(arguments[:_MOST_ARGUMENTS], 2):
            yield Fact("reflection", name, (u, v))


def _pairs(arguments: list[Expression], sides: list[_Pair]) -> Iterator[_Pair]:
    for pair in sides:
        if pair[0] in arguments or pair[1] in arguments:
            yield pair
    yield from itertools.combinations(arguments[:_MOST_ARGUMENTS], 2)


def _value(name: str, c: Fraction) -> Iterator[Fact]:
    ball = flint.arb(flint.fmpq(c.numerator, c.denominator))
    with flint.ctx.workprec(200):
        value = {
            "exp": lambda x: x.exp(), "log": lambda x: x.log(), "phi": lambda x: (-x / flint.arb(2).sqrt()).erfc() / 2,
        }[name](ball)  # fmt: skip
        if not value.is_finite():
            return
        scaled = value * 10**_DIGITS
        low, high = (scaled.floor().unique_fmpz(), scaled.ceil().unique_fmpz())
    if low is not None and high is not None and abs(int(low)) < 10**30:
        ends = (Number(Fraction(int(end), 10**_DIGITS)) for end in (low, high))
        yield Fact("value", name, (Number(c), *ends))


def shown_with(assuming: Iterable[Formula], known: Iterable[Fact]) -> Json:
    """A proof by real arithmetic, as certificates write it: with facts also where something is assumed of functions."""
    needed = [f.to_json() for f in known]
    functions = any(True for f in assuming for c in comparisons(f) for _ in _applied(c.left, c.right))
    return {"method": "facts", "facts": needed} if needed or functions else {"method": "smt"}
