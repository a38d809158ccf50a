"""The language in which printed statements are written down.

Expressions are SymPy expressions over `Variable`s; formulas are the small frozen classes below, which (unlike
SymPy's relations) never simplify themselves, so that what is encoded is what is printed. `to_json` turns both
into nested lists, the neutral form in which certificates are kept and from which the checker works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy as sp

from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Consequence, Coverage
from dpverify.proving.printing import expression_latex, expression_text
from dpverify.proving.variables import DIMENSIONLESS as DIMENSIONLESS
from dpverify.proving.variables import LENGTH as LENGTH
from dpverify.proving.variables import LOSS as LOSS
from dpverify.proving.variables import NATS as NATS
from dpverify.proving.variables import RECORDS as RECORDS
from dpverify.proving.variables import DomainSymbol, exact
from dpverify.proving.variables import Unit as Unit
from dpverify.proving.variables import Variable as Variable
from dpverify.proving.variables import integer as integer
from dpverify.proving.variables import real as real

Expression = Any  # a SymPy expression; SymPy ships no types
Json = Any


# ---------------------------------------------------------------------------------------------- expressions


class Phi(sp.Function):  # type: ignore[misc]
    """The standard Gaussian distribution function, erfc(-x / sqrt(2)) / 2, never rewritten by SymPy.

    Kept as it is so that Phi(-10) is not evaluated as one minus something close to one.
    """

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expression:
        """Derivative: the Gaussian density."""
        return sp.exp(-(self.args[0] ** 2) / 2) / sp.sqrt(2 * sp.pi)

    def _eval_evalf(self, prec: int) -> Expression:
        return (sp.erfc(-self.args[0] / sp.sqrt(2)) / 2)._eval_evalf(prec)


def normal_cdf(x: object) -> Expression:
    """Phi(x), the standard Gaussian distribution function."""
    return Phi(sp.sympify(x))


def derivative(expression: object, variable: Variable, order: int = 1) -> Expression:
    """The derivative, left for provers and checker to work out."""
    return sp.Derivative(sp.sympify(expression), (variable.symbol, order), evaluate=False)


def at(expression: object, variable: Variable, value: object) -> Expression:
    """The expression with the variable replaced, left for provers and checker to carry out."""
    return sp.Subs(sp.sympify(expression), (variable.symbol,), (sp.sympify(value),))


def total(summand: object, index: Variable, first: object, last: object) -> Expression:
    """Sum over index = first..last, both included; the ends may be symbolic."""
    return sp.Sum(sp.sympify(summand), (index.symbol, sp.sympify(first), sp.sympify(last)))


def integral(integrand: object, variable: Variable, lower: object, upper: object) -> Expression:
    """A definite integral; the ends may be infinite (sympy.oo)."""
    return sp.Integral(sp.sympify(integrand), (variable.symbol, sp.sympify(lower), sp.sympify(upper)))


def bound_parts(e: Expression) -> tuple[Expression, Expression, Expression, Expression]:
    """Body, bound symbol, lower and upper end of a sum or an integral.

    SymPy writes a sum of sums as one with several limits; the outermost comes last and is the one given here.
    """
    *inner, (index, first, last) = e.limits
    return (e.func(e.function, *inner) if inner else e.function), index, first, last


# ---------------------------------------------------------------------------------------------- formulas

Relation = Literal["<=", "<", "==", "!="]


@dataclass(frozen=True)
class Compare:
    """left (relation) right, between two expressions of the same unit."""

    relation: Relation
    left: Expression
    right: Expression


@dataclass(frozen=True)
class And:
    """All of the parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """At least one of the parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Not:
    """The negation."""

    part: Formula


@dataclass(frozen=True)
class Implies:
    """If the first, then the second."""

    premise: Formula
    conclusion: Formula


@dataclass(frozen=True)
class ForAll:
    """For every value of the variable in its domain."""

    variable: Variable
    body: Formula


Formula = Compare | And | Or | Not | Implies | ForAll


def _expression(value: object) -> Expression:
    try:
        found = sp.sympify(value)
    except (sp.SympifyError, TypeError, AttributeError):
        found = None
    if not isinstance(found, sp.Expr):
        raise InvalidArgumentError("expression", value, "a number or an expression over variables")
    return found


def Le(left: object, right: object) -> Compare:  # noqa: N802
    """Left <= right."""
    return Compare("<=", _expression(left), _expression(right))


def Lt(left: object, right: object) -> Compare:  # noqa: N802
    """Left < right."""
    return Compare("<", _expression(left), _expression(right))


def Ge(left: object, right: object) -> Compare:  # noqa: N802
    """Left >= right, kept as right <= left."""
    return Le(right, left)


def Gt(left: object, right: object) -> Compare:  # noqa: N802
    """Left > right, kept as right < left."""
    return Lt(right, left)


def Eq(left: object, right: object) -> Compare:  # noqa: N802
    """Left == right."""
    return Compare("==", _expression(left), _expression(right))


def Ne(left: object, right: object) -> Compare:  # noqa: N802
    """Left != right."""
    return Compare("!=", _expression(left), _expression(right))


def all_of(*parts: Formula) -> And:
    """The conjunction."""
    return And(parts)


def any_of(*parts: Formula) -> Or:
    """The disjunction."""
    return Or(parts)


def continuously_differentiable(
    pieces: tuple[tuple[object, object], ...], last: object, variable: Variable, order: int
) -> And:
    """A function given in pieces has continuous derivatives up to `order`.

    `pieces` are (expression, breakpoint) from left to right, each valid up to its breakpoint, and `last` the
    expression right of them all. The formula says that at every breakpoint the derivatives from both sides,
    of each order from 0, agree; inside its piece each expression must be smooth.
    """
    expressions = [piece for piece, _ in pieces] + [last]
    conditions: list[Formula] = []
    for k in range(order + 1):
        for i, (_, breakpoint_) in enumerate(pieces):
            sides = [
                at(derivative(e, variable, k) if k else e, variable, breakpoint_)
                for e in (expressions[i], expressions[i + 1])
            ]
            conditions.append(Eq(*sides))
    return And(tuple(conditions))


def comparisons(formula: Formula) -> Iterator[Compare]:
    """Every comparison inside a formula."""
    match formula:
        case Compare():
            yield formula
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)
        case Not(part):
            yield from comparisons(part)
        case Implies(premise, conclusion):
            yield from comparisons(premise)
            yield from comparisons(conclusion)
        case ForAll(_, body):
            yield from comparisons(body)


# ---------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True)
class Fault:
    """A wrong claim in the place of an obligation's, which is to be seen: never proved under its assumptions."""

    says: str
    """What is wrong with it, such as `a factor sqrt(2) is lost`."""
    claim: Formula


@dataclass(frozen=True)
class Obligation:
    """One formula of a statement, to be proved or refuted on its domain.

    `claim` is to hold for all values of the variables in `over` that satisfy everything in `assuming`. `box`
    bounds (some of) the variables for provers that need a bounded domain; where it cuts the domain, the
    verdict is at best `certified`. `coverage` says how much of the statement the formula is; where nobody says so,
    it proves nothing of it. `latex` is the formula as printed, for reading.
    """

    name: str
    where: str
    claim: Formula
    over: tuple[Variable, ...]
    coverage: Coverage = Coverage.STEP
    assuming: tuple[Formula, ...] = ()
    box: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    latex: str = ""
    scope: str = ""
    """Of which case of the statement an instance is; nothing else has a scope."""
    units: bool = True
    """Whether the formula is checked for homogeneity (a separate row of coverage `unit`)."""
    uses: tuple[str, ...] = ()
    """Ids of the statements or named results, or `STATEMENT/OBLIGATION`, that its part in the statement rests on."""
    consequence: Consequence | None = None
    """For a printed formula that is false (or compares different units), what follows from that."""
    reading: str = ""
    """How what is printed can be read so that it is true."""
    catches: Fault | None = None
    """For an instance that holds, a fault that it would have caught."""

    def __post_init__(self) -> None:
        self._check_coverage()
        for formula in (self.claim, *self.assuming):
            if not isinstance(formula, Formula):
                raise InvalidArgumentError(
                    f"obligation {self.name}",
                    formula,
                    "formulas such as Le(left, right), for claim and assumptions",
                )
            formula_to_json(formula)  # refuses what has no meaning here
        self._check_box()
        known = {v.symbol for v in self.over}
        seen = {v.name: v.symbol for v in self.over}
        if len(seen) != len(self.over):
            raise InvalidArgumentError(
                f"over of obligation {self.name}",
                [v.name for v in self.over],
                "variables of different names",
            )
        for formula in (self.claim, *self.assuming):
            for symbol in _all_symbols(formula):
                if seen.setdefault(symbol.name, symbol) != symbol:
                    domains = f"{_declared(seen[symbol.name])} and as {_declared(symbol)}"
                    raise InvalidArgumentError(
                        f"obligation {self.name}",
                        f"{symbol.name} as {domains}",
                        "one domain and unit for each name, bound ones included",
                    )
            free = free_symbols(formula) - known
            if free:
                raise InvalidArgumentError(
                    f"obligation {self.name}", sorted(map(str, free)), "formulas over the variables in `over`"
                )

    def _check_coverage(self) -> None:
        if self.coverage not in tuple(Coverage) or self.coverage is Coverage.UNIT:
            allowed = ", ".join(c for c in Coverage if c is not Coverage.UNIT)
            raise InvalidArgumentError(f"coverage of obligation {self.name}", self.coverage, allowed)
        if bool(self.scope) != (self.coverage is Coverage.INSTANCE):
            raise InvalidArgumentError(
                f"scope of obligation {self.name}",
                self.scope,
                "the case for an instance, and none for others",
            )
        if isinstance(self.uses, str):
            raise InvalidArgumentError(f"uses of obligation {self.name}", self.uses, "a tuple of ids")
        if self.catches is not None:
            free = free_symbols(self.catches.claim) - {v.symbol for v in self.over}
            if free:
                raise InvalidArgumentError(
                    f"fault of obligation {self.name}",
                    sorted(map(str, free)),
                    "a claim over the variables in `over`",
                )

    def _check_box(self) -> None:
        variables = {v.name: v for v in self.over}
        for name, ends in self.box.items():
            if name not in variables:
                raise InvalidArgumentError("box", name, f"bounds for {', '.join(sorted(variables))}")
            v = variables[name]
            low, high = (exact(f"box of {name}", end) for end in ends)
            if v.kind == "integer":
                low, high = sp.ceiling(low), sp.floor(high)
            below = v.upper is not None and (v.upper < low or (v.upper == low and v.upper_open))
            above = v.lower is not None and (v.lower > high or (v.lower == high and v.lower_open))
            if low > high or below or above:
                raise InvalidArgumentError(f"box of {name}", tuple(ends), f"one that meets {v.domain_text()}")


@dataclass(frozen=True)
class Repair:
    """What should have been printed, and why.

    A repaired obligation takes the place of the printed one with the same name; `replaces` names further
    printed obligations that it makes void. All others stand as printed.
    """

    because: str
    obligations: tuple[Obligation, ...]
    latex: str = ""
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Statement:
    """What a paper prints under one id, as obligations."""

    id: str
    title: str
    where: str
    printed: tuple[Obligation, ...]
    repaired: Repair | None = None
    latex: str = ""
    pairs: tuple[str, ...] = ()
    """Ids of the algorithms and statements that belong with it."""
    uses: tuple[str, ...] = ()
    """Ids of the statements or named results that its proof in the paper rests on, beside those of its obligations."""

    def __post_init__(self) -> None:
        if isinstance(self.uses, str):
            raise InvalidArgumentError(f"uses of statement {self.id}", self.uses, "a tuple of ids")

    @property
    def rests_on(self) -> tuple[str, ...]:
        """All that it uses, and what its obligations but for instances do, without what is its own."""
        repaired = self.repaired.obligations if self.repaired else ()
        parts = (o for o in (*self.printed, *repaired) if o.coverage is not Coverage.INSTANCE)
        named = [*self.uses, *(name for o in parts for name in o.uses)]
        return tuple(dict.fromkeys(name for name in named if name.partition("/")[0] != self.id))


def _declared(symbol: Expression) -> str:
    return symbol.domain if isinstance(symbol, DomainSymbol) else "a bare SymPy symbol"


def _all_symbols(formula: Formula) -> Iterator[Expression]:
    """Every symbol in a formula, bound ones included, in a fixed order."""
    match formula:
        case Compare(_, left, right):
            for side in (left, right):
                yield from sorted(side.atoms(sp.Symbol), key=sp.default_sort_key)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _all_symbols(part)
        case Not(part):
            yield from _all_symbols(part)
        case Implies(premise, conclusion):
            yield from _all_symbols(premise)
            yield from _all_symbols(conclusion)
        case ForAll(variable, body):
            yield variable.symbol
            yield from _all_symbols(body)


def free_symbols(formula: Formula) -> set[Expression]:
    """The symbols that a formula leaves free."""
    match formula:
        case Compare(_, left, right):
            return set(left.free_symbols | right.free_symbols)
        case And(parts) | Or(parts):
            return set().union(*(free_symbols(p) for p in parts))
        case Not(part):
            return free_symbols(part)
        case Implies(premise, conclusion):
            return free_symbols(premise) | free_symbols(conclusion)
        case ForAll(variable, body):
            return free_symbols(body) - {variable.symbol}


# ---------------------------------------------------------------------------------------------- for reading


_RELATION_LATEX = {"<=": r"\le", "<": "<", "==": "=", "!=": r"\ne"}


def formula_text(formula: Formula) -> str:
    """A formula in plain characters."""
    match formula:
        case Compare(relation, left, right):
            return f"{expression_text(left)} {relation} {expression_text(right)}"
        case And(parts):
            return " and ".join(f"({formula_text(p)})" for p in parts)
        case Or(parts):
            return " or ".join(f"({formula_text(p)})" for p in parts)
        case Not(part):
            return f"not ({formula_text(part)})"
        case Implies(premise, conclusion):
            return f"({formula_text(premise)}) implies ({formula_text(conclusion)})"
        case ForAll(variable, body):
            return f"for all {variable.name} in {variable.domain_text()}: ({formula_text(body)})"


def formula_latex(formula: Formula, over: tuple[Variable, ...]) -> str:
    """A formula in LaTeX, for those that come without their printed form."""
    names = {v.symbol: v.latex for v in over}
    match formula:
        case Compare(relation, left, right):
            sides = (expression_latex(side, names) for side in (left, right))
            return f" {_RELATION_LATEX[relation]} ".join(sides)
        case And(parts):
            return r"\;\wedge\;".join(formula_latex(p, over) for p in parts)
        case Or(parts):
            return r"\;\vee\;".join(formula_latex(p, over) for p in parts)
        case Not(part):
            return rf"\neg\left({formula_latex(part, over)}\right)"
        case Implies(premise, conclusion):
            return rf"{formula_latex(premise, over)}\implies {formula_latex(conclusion, over)}"
        case ForAll(variable, body):
            return rf"\forall {variable.latex}:\ {formula_latex(body, (*over, variable))}"


# ---------------------------------------------------------------------------------------------- neutral form

_FUNCTIONS = {
    sp.exp: "exp",
    sp.log: "log",
    sp.erfc: "erfc",
    sp.Max: "max",
    sp.Min: "min",
    sp.Abs: "abs",
    Phi: "phi",
}


def expression_to_json(e: Expression, *, end: bool = False) -> Json:
    """An expression as nested lists: docs/certificates.md names the heads; only an integral's `end` is infinite."""
    if e.is_Rational:
        return ["num", str(e)]
    if e.is_Symbol:
        return ["sym", e.name]
    if e is sp.pi:
        return ["pi"]
    if e is sp.E:
        return ["exp", ["num", "1"]]
    if end and e in (sp.oo, -sp.oo):
        return ["inf", "+" if e is sp.oo else "-"]
    if e.is_Add:
        return ["add", *map(expression_to_json, e.args)]
    if e.is_Mul:
        return ["mul", *map(expression_to_json, e.args)]
    if e.is_Pow:
        return ["pow", expression_to_json(e.base), expression_to_json(e.exp)]
    if isinstance(e, sp.Sum | sp.Integral):
        body, index, first, last = bound_parts(e)
        integral_ = isinstance(e, sp.Integral)
        ends = (expression_to_json(x, end=integral_) for x in (first, last))
        return ["integral" if integral_ else "sum", expression_to_json(body), index.name, *ends]
    if isinstance(e, sp.Derivative):
        ((variable, order),) = e.variable_count
        return ["diff", expression_to_json(e.expr), variable.name, int(order)]
    if isinstance(e, sp.Subs):
        return ["at", expression_to_json(e.expr), e.variables[0].name, expression_to_json(e.point[0])]
    if isinstance(e, sp.floor):
        return ["floor", expression_to_json(e.args[0])]
    for function, head in _FUNCTIONS.items():
        if isinstance(e, function):
            return [head, *map(expression_to_json, e.args)]
    if isinstance(e, sp.Float):
        raise InvalidArgumentError(
            "expression", e, 'exact numbers such as Rational("1/10") in place of floats'
        )
    raise InvalidArgumentError(
        "expression", e, "exact numbers, sums, products, powers, exp, log, erfc, Phi, max, min, abs, floor"
    )


def formula_to_json(f: Formula) -> Json:
    """A formula as nested lists."""
    match f:
        case Compare(relation, left, right):
            return [relation, expression_to_json(left), expression_to_json(right)]
        case And(parts):
            return ["and", *map(formula_to_json, parts)]
        case Or(parts):
            return ["or", *map(formula_to_json, parts)]
        case Not(part):
            return ["not", formula_to_json(part)]
        case Implies(premise, conclusion):
            return ["implies", formula_to_json(premise), formula_to_json(conclusion)]
        case ForAll(variable, body):
            return ["forall", variable_to_json(variable), formula_to_json(body)]


def variable_to_json(v: Variable) -> Json:
    """A variable with its domain and unit."""
    return {
        "name": v.name,
        "kind": v.kind,
        "lower": None if v.lower is None else str(v.lower),
        "lower_open": v.lower_open,
        "upper": None if v.upper is None else str(v.upper),
        "upper_open": v.upper_open,
        "unit": {"loss": str(v.unit.loss), "length": str(v.unit.length)},
    }


def obligation_to_json(o: Obligation) -> Json:
    """The problem that a certificate is about."""
    return {
        "variables": [variable_to_json(v) for v in o.over],
        "assuming": [formula_to_json(a) for a in o.assuming],
        "claim": formula_to_json(o.claim),
    }
