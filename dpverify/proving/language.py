"""The language in which printed statements are written down.

Expressions are SymPy expressions over `Variable`s; formulas are the small frozen classes below, which (unlike
SymPy's relations) never simplify themselves, so that what is encoded is what is printed. `to_json` turns both
into nested lists, the neutral form in which certificates are kept and from which the checker works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import sympy as sp

from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Role
from dpverify.proving.printing import expression_latex, expression_text

Expression = Any  # a SymPy expression; SymPy ships no types
Json = Any


# ---------------------------------------------------------------------------------------------- units


@dataclass(frozen=True)
class Unit:
    """A unit of measure: powers of loss and of length, with a name for those that are pure numbers.

    Loss and length can be rescaled at will, so every formula must be homogeneous in them. Record counts and
    nats cannot (ln n and exp(eps) fix their scale): they are declared and shown, and count as pure numbers.
    """

    loss: Fraction = Fraction(0)
    length: Fraction = Fraction(0)
    name: str = ""

    def __mul__(self, other: Unit) -> Unit:
        return Unit(self.loss + other.loss, self.length + other.length)

    def __truediv__(self, other: Unit) -> Unit:
        return Unit(self.loss - other.loss, self.length - other.length)

    def __pow__(self, exponent: int | Fraction) -> Unit:
        return Unit(self.loss * exponent, self.length * exponent)

    def same_as(self, other: Unit) -> bool:
        """Whether a quantity in this unit may be compared with, or added to, one in the other."""
        return (self.loss, self.length) == (other.loss, other.length)

    def __str__(self) -> str:
        if self.name:
            return self.name
        powers = ((base, power) for base, power in (("loss", self.loss), ("length", self.length)) if power)
        parts = [base if power == 1 else f"{base}^{power}" for base, power in powers]
        return " ".join(parts) or "dimensionless"


DIMENSIONLESS = Unit(name="dimensionless")
NATS = Unit(name="nats")
RECORDS = Unit(name="record count")
LOSS = Unit(loss=Fraction(1))
LENGTH = Unit(length=Fraction(1))


# ---------------------------------------------------------------------------------------------- variables


class DomainSymbol(sp.Symbol):  # type: ignore[misc]
    """A symbol that is equal to another only if both have the same name, domain and unit."""

    __slots__ = ("domain",)

    domain: str

    def __new__(cls, name: str, domain: str, **assumptions: bool) -> DomainSymbol:
        """Make a symbol; SymPy simplifies by the assumptions alone."""
        symbol = sp.Symbol.__xnew__(cls, name, **assumptions)
        symbol.domain = domain
        found: DomainSymbol = symbol
        return found

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, bool]]:
        return (self.name, self.domain), self._assumptions_orig

    def _hashable_content(self) -> tuple[object, ...]:
        return (*super()._hashable_content(), self.domain)

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        """Where SymPy sorts it: among its own symbols."""
        key: tuple[int, int, str] = sp.Symbol.class_key()
        return key


@dataclass(frozen=True, eq=False)
class Variable:
    """A symbol with its domain (an interval of reals or integers) and unit; use it in SymPy expressions."""

    name: str
    kind: Literal["real", "integer"]
    lower: sp.Rational | None
    lower_open: bool
    upper: sp.Rational | None
    upper_open: bool
    unit: Unit
    meaning: str
    symbol: Expression
    latex: str

    def _sympy_(self) -> Expression:
        return self.symbol

    # arithmetic hands over to SymPy at once
    def __add__(self, other: object) -> Expression:
        return self.symbol + sp.sympify(other)

    def __radd__(self, other: object) -> Expression:
        return sp.sympify(other) + self.symbol

    def __sub__(self, other: object) -> Expression:
        return self.symbol - sp.sympify(other)

    def __rsub__(self, other: object) -> Expression:
        return sp.sympify(other) - self.symbol

    def __mul__(self, other: object) -> Expression:
        return self.symbol * sp.sympify(other)

    def __rmul__(self, other: object) -> Expression:
        return sp.sympify(other) * self.symbol

    def __truediv__(self, other: object) -> Expression:
        return self.symbol / sp.sympify(other)

    def __rtruediv__(self, other: object) -> Expression:
        return sp.sympify(other) / self.symbol

    def __pow__(self, other: object) -> Expression:
        return self.symbol ** sp.sympify(other)

    def __rpow__(self, other: object) -> Expression:
        return sp.sympify(other) ** self.symbol

    def __neg__(self) -> Expression:
        return -self.symbol

    def domain_text(self) -> str:
        """The domain as a reader would write it, for instance `integers in [1, oo)`."""
        return _domain_text(self.kind, self.lower, self.lower_open, self.upper, self.upper_open)

    def contains(self, value: Fraction) -> bool:
        """Whether an exact value lies in the domain."""
        if self.kind == "integer" and value.denominator != 1:
            return False
        if self.lower is not None:
            low = Fraction(int(self.lower.p), int(self.lower.q))
            if value < low or (self.lower_open and value == low):
                return False
        if self.upper is not None:
            high = Fraction(int(self.upper.p), int(self.upper.q))
            if value > high or (self.upper_open and value == high):
                return False
        return True


def _domain_text(
    kind: str, lower: sp.Rational | None, lower_open: bool, upper: sp.Rational | None, upper_open: bool
) -> str:
    left = "(" if lower is None or lower_open else "["
    right = ")" if upper is None or upper_open else "]"
    low = "-oo" if lower is None else str(lower)
    high = "oo" if upper is None else str(upper)
    return f"{'integers in ' if kind == 'integer' else ''}{left}{low}, {high}{right}"


def exact(name: str, value: object) -> sp.Rational:
    """An exact finite number from an integer, a fraction or a string; `InvalidArgumentError` for anything else."""
    if not isinstance(value, bool | float):
        try:
            number = sp.Rational(str(value))
        except (TypeError, ValueError, AttributeError, ZeroDivisionError):
            number = sp.nan
        if number.is_Rational and number.is_finite:
            return number
    raise InvalidArgumentError(name, value, 'a finite integer or an exact fraction such as "1/2"')


def _variable(
    kind: Literal["real", "integer"],
    name: str,
    bounds: tuple[object, object, object, object],
    unit: Unit,
    meaning: str,
    latex: str,
) -> Variable:
    ends = zip(("gt", "ge", "lt", "le"), bounds, strict=True)
    greater, at_least, less, at_most = (
        None if b is None else exact(f"{end} of {name}", b) for end, b in ends
    )
    if greater is not None and at_least is not None:
        raise InvalidArgumentError("gt", greater, "one lower bound, gt or ge, not both")
    if less is not None and at_most is not None:
        raise InvalidArgumentError("lt", less, "one upper bound, lt or le, not both")
    lower = at_least if greater is None else greater
    upper = at_most if less is None else less
    lower_open, upper_open = greater is not None, less is not None
    stated = lower, upper
    if kind == "integer":
        lower = None if lower is None else sp.ceiling(lower)
        upper = None if upper is None else sp.floor(upper)
    if (
        lower is not None
        and upper is not None
        and (lower > upper or (lower == upper and (lower_open or upper_open)))
    ):
        domain = _domain_text(kind, stated[0], lower_open, stated[1], upper_open)
        raise InvalidArgumentError(f"domain of {name}", domain, "one with a number in it")
    assumptions: dict[str, bool] = {"integer": True} if kind == "integer" else {"real": True}
    if lower is not None and (lower > 0 or (lower == 0 and lower_open)):
        assumptions["positive"] = True
    elif lower is not None and lower >= 0:
        assumptions["nonnegative"] = True
    elif upper is not None and (upper < 0 or (upper == 0 and upper_open)):
        assumptions["negative"] = True
    elif upper is not None and upper <= 0:
        assumptions["nonpositive"] = True
    domain = _domain_text(kind, lower, lower_open, upper, upper_open)
    return Variable(
        name, kind, lower, lower_open, upper, upper_open, unit, meaning,
        DomainSymbol(name, f"{domain}, {unit}", **assumptions), latex or sp.latex(sp.Symbol(name)),
    )  # fmt: skip


def real(
    name: str,
    *,
    gt: object = None,
    ge: object = None,
    lt: object = None,
    le: object = None,
    unit: Unit = DIMENSIONLESS,
    meaning: str = "",
    latex: str = "",
) -> Variable:
    """A real variable on an interval; bounds are integers or exact strings such as "1/2"."""
    return _variable("real", name, (gt, ge, lt, le), unit, meaning, latex)


def integer(
    name: str,
    *,
    ge: object = None,
    le: object = None,
    unit: Unit = DIMENSIONLESS,
    meaning: str = "",
    latex: str = "",
) -> Variable:
    """An integer variable."""
    return _variable("integer", name, (None, ge, None, le), unit, meaning, latex)


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
class Obligation:
    """One formula of a statement, to be proved or refuted on its domain.

    `claim` is to hold for all values of the variables in `over` that satisfy everything in `assuming`. `box`
    bounds (some of) the variables for provers that need a bounded domain; where it cuts the domain, the
    verdict is at best `certified`. `scope` says which instances of the statement the formula covers, where
    that is less than all. `latex` is the formula as printed, for reading.
    """

    name: str
    where: str
    claim: Formula
    over: tuple[Variable, ...]
    role: Role = Role.STATEMENT
    assuming: tuple[Formula, ...] = ()
    box: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    latex: str = ""
    scope: str = ""
    units: bool = True
    """Whether the formula is checked for homogeneity (a separate obligation of role `unit`)."""

    def __post_init__(self) -> None:
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
