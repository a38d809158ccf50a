"""Random well-formed obligations: every operator, domains with edges, assumptions that may contradict one another."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp
from hypothesis import strategies as st

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    INFINITY,
    PI,
    OutOfScopeError,
    Variable,
    at,
    derivative,
    expression,
    integer,
    integral,
    product,
    real,
    subexpressions,
    total,
)
from dpverify.formulas.logic import And, Eq, ForAll, Formula, Ge, Gt, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.operators import (
    absolute,
    binomial,
    ceiling,
    erfc,
    exp,
    factorial,
    floor,
    gamma,
    log,
    maximum,
    minimum,
    normal_cdf,
    sqrt,
)
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.symbolic import symbolic, tree

T = TypeVar("T")

REALS: tuple[dict[str, str], ...] = (
    {}, {"gt": "0"}, {"ge": "0"}, {"ge": "1"}, {"gt": "1"}, {"ge": "0", "le": "1"}, {"gt": "0", "lt": "1"},
    {"gt": "0", "le": "1"}, {"ge": "-1", "le": "1"}, {"gt": "-1"}, {"le": "0"}, {"lt": "0"}, {"ge": "-2", "lt": "3"},
    {"ge": "1/3", "le": "2/3"}, {"gt": "1", "lt": "1.0000000000000000000000001"}, {"ge": "2", "le": "2"},
    {"ge": "0", "lt": "1/1000"}, {"ge": "-3", "le": "-1"}, {"ge": "1000", "le": "1001"},
)  # fmt: skip
INTEGERS: tuple[dict[str, str], ...] = (
    {}, {"ge": "0"}, {"ge": "1"}, {"ge": "2"}, {"ge": "0", "le": "3"}, {"ge": "-2", "le": "2"}, {"ge": "1", "le": "1"},
    {"le": "0"}, {"ge": "-1"},
)  # fmt: skip
NUMBERS = tuple(
    expression(Fraction(q))
    for q in (
        "0",
        "1",
        "2",
        "-1",
        "3",
        "1/2",
        "-1/2",
        "-2",
        "1/3",
        "-1/7",
        "10",
        "5/2",
        "1/1000",
        "1000",
        "-1000",
    )
)
EXPONENTS = tuple(
    expression(Fraction(q))
    for q in ("2", "-1", "1/2", "3", "1/3", "-1/2", "3/2", "-2", "2/3", "4", "5", "-3/2")
)
NEAR = tuple(
    expression(Fraction(q))
    for q in ("0", "1/1000", "-1/1000", "1", "-1", "1/1000000000000", "-1/1000000000000")
)

CHOICES = 160

# names that operators bind: no sign is known of them
INDEX, INNER, PLACE, OTHER = integer("i"), real("t"), real("s"), real("o")


class Maker:
    """Builds the parts of one obligation from choices, one byte each; the first option is taken where none is left."""

    def __init__(self, choices: bytes) -> None:
        self.choices = iter(choices)
        self.names: list[Variable] = []
        self.bound: list[Any] = []

    def pick(self, *options: T) -> T:
        """One of the options; give one twice to see it more often."""
        return options[next(self.choices, 0) % len(options)]

    def one_in(self, count: int) -> bool:
        """True once in so many times."""
        return next(self.choices, 0) % count == count - 1

    # -------------------------------------------------------------------------------------- terms

    def variable(self, name: str) -> Variable:
        """A real or integer variable on some domain."""
        if self.one_in(3):
            return integer(name, **self.pick(*INTEGERS))
        return real(name, **self.pick(*REALS[:4], *REALS))

    def symbol(self) -> Any:
        """A symbol that is free here, or bound by what surrounds it."""
        return self.pick(*(v for v in self.names), *self.bound, *self.bound)

    def leaf(self) -> Any:
        """A symbol or a number."""
        return self.pick(*NUMBERS) if self.one_in(4) else self.symbol()

    def term(self, depth: int) -> Any:
        """An expression of at most this depth."""
        if depth <= 0 or self.one_in(6):
            return self.leaf()
        down = depth - 1
        match self.pick(*("add", "mul", "sub", "pow", "power") * 3, "root", "root", "exp", "log", "quotient",
                        "quotient", "symbolic power", "symbolic power", "max", "min", "abs", "floor", "erfc", "phi",
                        "linear", "linear", "rare", "gone", "gone", "gone", "ceiling"):  # fmt: skip
            case "add":
                return self.term(down) + self.term(down)
            case "sub":
                return self.term(down) - self.term(down)
            case "mul":
                return self.term(down) * self.term(down)
            case "quotient":
                return self.term(down) / self.term(down)
            case "linear":
                return self.pick(*NUMBERS) * self.symbol() + self.pick(*NUMBERS)
            case "pow" | "power":
                return self.term(down) ** self.pick(*EXPONENTS)
            case "root":
                return sqrt(self.term(down))
            case "symbolic power":
                base = self.pick(*NUMBERS) if self.one_in(2) else self.term(down)
                return base ** (self.symbol() * self.pick(*(1, 1, 1, -1, 2)))
            case "exp":
                return exp(self.term(down))
            case "log":
                return log(self.term(down))
            case "max":
                return maximum(self.term(down), self.term(down))
            case "min":
                return minimum(self.term(down), self.term(down))
            case "abs":
                return absolute(self.term(down))
            case "floor":
                return floor(self.term(down))
            case "ceiling":
                return ceiling(self.term(down))
            case "gone":
                return self.cancelled(down)[0]
            case "erfc":
                return erfc(self.term(down))
            case "phi":
                return normal_cdf(self.term(down))
        return self.rare(down)

    def cancelled(self, depth: int) -> tuple[Any, Any]:
        """What an algebra system makes something shorter of, and what it makes of it."""
        u, v = self.term(min(depth, 1)), self.leaf()
        whole = self.pick(*(w for w in self.names if w.kind == "integer"), expression(2))
        return self.pick(
            (u / u, 1), (u - u, 0), (0 * u, 0), (exp(log(u)), u), (sqrt(u) * sqrt(u), u), (u**0, 1), (log(exp(u)), u),
            (1 / (1 / u), u), (v / u * u, v), (u**2 / u, u), (sqrt(u) ** 2, u), (0 / u, 0), (log(u) - log(u), 0),
            (u / (2 * u), Fraction(1, 2)), (u ** Fraction(1, 3) * u ** Fraction(2, 3), u), (sqrt(u**2), absolute(u)),
            (at(at(PLACE / u, PLACE, OTHER), OTHER, u), 1), (at((PLACE**2 - 1) / (PLACE - 1), PLACE, u), u + 1),
            (at(log(PLACE) * 0, PLACE, u), 0), (total(0 * u, INDEX, 1, whole), 0),
            (total(u / u, INDEX, whole, whole + 1), 2), (total(INDEX, INDEX, 1, whole), whole * (whole + 1) / 2),
            (derivative(PLACE, PLACE) * u, u), (maximum(u, u), u), (u - (u - v), v), (exp(u) * exp(-u), 1),
        )  # fmt: skip

    def rare(self, depth: int) -> Any:
        """Operators that bind a name, and derivatives."""
        whole = [v for v in self.names if v.kind == "integer"]
        match self.pick("sum", "product", "integral", "derivative", "at", "pi", "counted", "gamma"):
            case "gamma":
                return gamma(self.term(0))
            case "counted":
                n = self.pick(*whole) if whole else self.pick(0, 1, 4)
                return self.pick(factorial(n), binomial(n, 2), binomial(5, n))
            case "sum" | "product" as kind:
                last = (
                    self.pick(*whole) + self.pick(0, 0, 1)
                    if whole and not self.one_in(4)
                    else self.pick(2, 3, 5)
                )
                make = total if kind == "sum" else product
                return make(self.under(INDEX, depth), INDEX, self.pick(1, 0, 1, 2), last)
            case "integral":
                free = self.pick(*(v for v in self.names))
                low, high, endless = self.pick(
                    (0, 1, False), (0, free, False), (free, free + 1, False), (-INFINITY, INFINITY, True),
                    (-INFINITY, free, True), (1, 3, False),
                )  # fmt: skip
                if endless:
                    body = exp(-(INNER**2) * self.pick(1, 2, Fraction(1, 2))) * self.pick(1, free)
                else:
                    body = self.under(INNER, min(depth, 1))
                return integral(body, INNER, low, high)
            case "derivative":
                v = self.pick(*self.names)
                return (
                    derivative(self.term(depth), v, self.pick(1, 1, 2)) if v.kind == "real" else self.leaf()
                )
            case "at":
                body = self.under(PLACE, depth)
                if self.one_in(2):
                    body = derivative(body, PLACE, self.pick(1, 2))
                return at(body, PLACE, self.term(0))
        return PI

    def under(self, v: Variable, depth: int) -> Any:
        """A term in which a name is bound; operators that bind names are not nested in one another."""
        if self.bound:
            return self.leaf()
        self.bound = [v]
        body = self.term(max(depth, 1))
        self.bound = []
        return body

    # -------------------------------------------------------------------------------------- formulas

    def comparison(self, depth: int) -> Formula:
        """A comparison: any, or one that holds, or one that nearly does."""
        u = self.term(depth)
        match self.pick("any", "any", "any", "number", "number", "number", "square", "rest", "rewritten", "known",
                        "known", "slack", "positive", "positive", "gone", "gone", "gone"):  # fmt: skip
            case "gone":
                left, right = self.cancelled(depth)
                return self.pick(Eq, Eq, Le, Ge, Lt, Ne)(left, right)
            case "number":
                return self.related(u, self.pick(*NUMBERS))
            case "square":
                return Ge(u**2 + self.pick(*NEAR), 0)
            case "rest":
                v = self.term(depth - 1)
                return Ge(u**2 + v**2, self.pick(2, 2, 1, 3) * u * v + self.pick(*NEAR))
            case "rewritten":
                return self.related(u, _expanded(u) + self.pick(0, *NEAR))
            case "known":
                u = self.term(min(depth, 1))
                left, right = self.pick(
                    (1 + u, exp(u)), (log(u), u - 1), (floor(u), u), (0, exp(u)), (0, sqrt(u)),
                    (normal_cdf(u), 1), (erfc(u), 2), (minimum(u, 1), maximum(u, 1)), (u, absolute(u)),
                    (sqrt(u), (1 + u) / 2),
                    (0, 2 ** self.symbol()), (0, u ** self.symbol()), (2 * u / (1 + u**2), 1), (-u, absolute(u)),
                )  # fmt: skip
                return self.pick(Le, Le, Lt)(left, right + self.pick(0, *NEAR))
            case "slack":
                return self.pick(Le, Lt, Ge)(u, u + self.term(1) ** 2 + self.pick(*NEAR))
            case "positive":
                return self.pick(Gt, Ge, Ne)(u, 0)
        return self.related(u, self.term(depth))

    def related(self, left: Any, right: Any) -> Formula:
        """Any relation between two terms."""
        return self.pick(Le, Lt, Ge, Gt, Eq, Ne)(left, right)

    def formula(self, depth: int) -> Formula:
        """Comparisons, joined now and then."""
        if depth <= 0 or not self.one_in(3):
            return self.comparison(self.pick(2, 1, 2, 3) if depth > 0 else 1)
        down = depth - 1
        match self.pick("and", "or", "or", "not", "implies", "but", "but", "forall"):
            case "and":
                return And(tuple(self.formula(down) for _ in range(self.pick(2, 2, 1, 3))))
            case "or":
                return Or((self.formula(down), self.formula(down)))
            case "not":
                return Not(self.formula(down))
            case "implies":
                return Implies(self.formula(down), self.formula(down))
            case "but":  # all but one point, or all but one number
                return Or((self.formula(down), Ne(self.symbol(), self.pick(*NUMBERS, expression(999)))))
        if self.bound:
            return self.comparison(1)
        v = self.pick(
            real("r"), real("r", ge=0), real("r", ge=0, le=1), real("r", gt=0), integer("r", ge=0, le=3)
        )
        self.bound = [v]
        body = self.comparison(1)
        self.bound = []
        return ForAll(v, body)


def built(choices: bytes) -> Obligation | None:
    """The well-formed obligation that the choices lead to; None where there is none, or it is very long."""
    maker = Maker(choices)
    maker.names = [maker.variable(name) for name in "xyk"[: maker.pick(1, 2, 2, 3)]]
    box: dict[str, tuple[object, object]] = {}
    claim = maker.formula(2)
    count = maker.pick(0, 0, 0, 1, 1, 2)
    assuming = tuple(maker.formula(1) if maker.one_in(2) else maker.comparison(1) for _ in range(count))
    if maker.one_in(4):
        box = {v.name: _box(v) for v in maker.names}
    try:
        obligation = Obligation("random", "nowhere", claim, tuple(maker.names), assuming=assuming, box=box)
        text = str(obligation.problem.json)
    except InvalidArgumentError:
        return None
    return None if len(text) > 2500 else obligation


def obligations() -> st.SearchStrategy[Obligation]:
    """Random well-formed obligations."""
    choices = st.binary(min_size=CHOICES, max_size=CHOICES)
    return choices.map(built).filter(lambda obligation: obligation is not None)  # type: ignore[return-value]


def _box(v: Variable) -> tuple[object, object] | None:
    low = v.lower if v.lower is not None else (-4 if v.upper is None else v.upper - 4)
    high = v.upper if v.upper is not None else low + 6
    return str(low), str(high)


def _expanded(e: Any) -> Any:
    """The same, multiplied out by SymPy where it is short."""
    if sum(1 for _ in subexpressions(e)) > 12:
        return e
    try:
        return tree(sp.expand(symbolic(e)))
    except (OutOfScopeError, ArithmeticError, AssertionError, AttributeError, TypeError, ValueError):
        return e  # SymPy gives up on it, or does not compare complex numbers, say
