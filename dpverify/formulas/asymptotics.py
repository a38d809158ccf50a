"""O( ), Omega( ) and Theta( ) as formulas: there are constants such that for all values of the letters ...

An `Order` stands only between reading and the relation that it is on a side of. There it becomes a constant times what
is in its brackets, and the formula says of the constant that there is one (`closed`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Expression,
    Number,
    Variable,
    constant,
    integer,
    real,
    rebuilt,
    subexpressions,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, free_in
from dpverify.formulas.operators import possible_signs
from dpverify.formulas.ranges import range_of

Kind = Literal["O", "Omega", "Theta"]


class UnclearOrderError(Exception):
    """What a formula with an O( ) says is not clear; the message says what would be."""


@dataclass(frozen=True, slots=True, repr=False)
class Order(Expression):
    """`O(of)`, `Omega(of)` or `Theta(of)`; `soft` with a tilde, `depends` on what its constant may depend."""

    kind: Kind
    of: Expression
    soft: bool = False
    depends: tuple[Variable, ...] = ()


@dataclass(frozen=True)
class OrderConstant:
    """A constant of which there is a value, the same for all values of the letters but those that it depends on."""

    variable: Variable
    depends: tuple[Variable, ...] = ()
    premise: bool = False
    """Whether it stands in a condition."""
    threshold: bool = False
    """Whether it is the value from which on something holds."""


@dataclass
class OrderConstants:
    """The constants of one formula, named like none of its letters.

    Attributes:
        taken: names and LaTeX of letters.
        soft: the quantity whose powers a tilde leaves out, where the formula says which.
    """

    taken: set[str]
    soft: Expression | None = None
    premise: bool = False
    found: list[OrderConstant] = field(default_factory=list)

    def new(self, letter: str, depends: tuple[Variable, ...] = ()) -> Variable:
        """A positive number."""
        name, latex = self.free(letter)
        return self._chosen(real(name, gt=0, latex=latex), depends)

    def power(self, depends: tuple[Variable, ...] = ()) -> Variable:
        """The power of logarithms that a tilde leaves out."""
        name, latex = self.free("k")
        return self._chosen(integer(name, ge=0, latex=latex), depends)

    def threshold(self, of: Variable) -> Variable:
        """The value from which on, or up to which, something holds of a letter; in its domain."""
        name, latex = self.free(f"{of.name}_0" if of.name.isalpha() else "N")
        if of.name.isalpha() and of.latex.lstrip("\\").isalpha() and f"{of.latex}_{{0}}" not in self.taken:
            latex = f"{of.latex}_{{0}}"
        bounds = of.lower, of.lower_open, of.upper, of.upper_open, of.unit
        return self._chosen(Variable(name, of.kind, *bounds, latex=latex), threshold=True)

    def free(self, letter: str) -> tuple[str, str]:
        """A name that no letter has, and its LaTeX."""
        k, name, latex = 1, letter, letter
        while {name, latex} & self.taken:
            k += 1
            name, latex = f"{letter}_{k}", f"{letter}_{{{k}}}"
        return name, latex

    def _chosen(self, new: Variable, depends: tuple[Variable, ...] = (), threshold: bool = False) -> Variable:
        self.taken |= {new.name, new.latex}
        self.found.append(OrderConstant(new, depends, self.premise and not threshold, threshold))
        return new


def orders(e: Expression) -> list[Order]:
    """Every O( ) in an expression."""
    return [part for part in subexpressions(e) if isinstance(part, Order)]


def compared(sign: str, left: Expression, right: Expression, constants: OrderConstants) -> Formula:
    """What `left (sign) right` says, where there is an O( ) on a side; new constants are free in it.

    `f = O(g)` says |f| <= C g, `f = a + O(g)` that |f - a| <= C g, `f <= O(g)` that f <= C g, `f = Omega(g)` and
    `f >= Omega(g)` that f >= c g, `f = Theta(g)` both; `O(f) = O(g)` that f = O(g).
    """
    if isinstance(left, Order) and isinstance(right, Order) and sign in ("=", r"\le"):
        if left.kind not in (right.kind, "O"):
            raise UnclearOrderError("orders of one kind on both sides")
        left = left.of
    if orders(left):
        if orders(right):
            raise UnclearOrderError("an order on one side, or one alone on either side")
        flipped = {"=": "=", r"\le": r"\ge", "<": ">", r"\ge": r"\le", ">": "<"}
        return compared(flipped[sign], right, left, constants)
    if sign == r"\ne":
        raise UnclearOrderError(r"one of the relations `=`, `\le`, `\ge`, `<`, `>` with an order")
    if sign == "=":
        return _equal(left, right, constants)
    upper = sign in (r"\le", "<")
    bound = _extreme(right, constants, upper=upper)
    relation: Literal["<=", "<"] = "<=" if sign in (r"\le", r"\ge") else "<"
    return Compare(relation, left, bound) if upper else Compare(relation, bound, left)


def _equal(left: Expression, right: Expression, constants: OrderConstants) -> Formula:
    kinds = {order.kind for order in orders(right)}
    if kinds == {"Omega"}:
        return Compare("<=", _extreme(right, constants, upper=False), left)
    if kinds == {"Theta"}:
        below = Compare("<=", _extreme(right, constants, upper=False), left)
        return And((below, Compare("<=", left, _extreme(right, constants, upper=True))))
    if kinds != {"O"}:
        raise UnclearOrderError(r"orders of one kind after `=`, or one of `\le` and `\ge`")
    rest, parts = _linear(right)
    difference = left if rest is None else left - rest
    bound: Expression | None = None
    for factors, order in parts:
        term = _multiple(order, constants, upper=True)
        for factor in factors:
            term = _sized(factor) * term
        bound = term if bound is None else bound + term
    assert bound is not None
    return Compare("<=", _sized(difference), bound)


def _sized(e: Expression) -> Expression:
    """The absolute value, without bars if it is never negative."""
    return e if -1 not in possible_signs(e) else Apply("abs", (e,))


_Parts = list[tuple[tuple[Expression, ...], Order]]


def _linear(e: Expression) -> tuple[Expression | None, _Parts]:
    """An expression as what is without orders, if anything, and orders with the factors that they have."""
    if not orders(e):
        return e, []
    match e:
        case Order():
            return None, [((), e)]
        case Apply("add" | "sub" as name, (first, *more)):
            rest, parts = _linear(first)
            for part in more:
                own, found = _linear(part)
                parts = [*parts, *found]
                if own is not None:
                    minus = name == "sub"
                    rest = (-own if minus else own) if rest is None else rest - own if minus else rest + own
            return rest, parts
        case Apply("neg", (part,)):
            rest, parts = _linear(part)
            return None if rest is None else -rest, parts
        case Apply("mul", factors) if sum(bool(orders(f)) for f in factors) == 1:
            (inner,) = (f for f in factors if orders(f))
            rest, parts = _linear(inner)
            others = tuple(f for f in factors if f is not inner)
            if rest is None:
                return None, [((*others, *own), order) for own, order in parts]
            return Apply("mul", (*others, rest)), [((*others, *own), order) for own, order in parts]
        case Apply("div", (above, below)) if not orders(below):
            rest, parts = _linear(above)
            times = 1 / below
            return None if rest is None else rest / below, [((times, *own), order) for own, order in parts]
        case _:
            allowed = r"`\le` or `\ge` in place of `=` where an order stands in an exponent or a function"
            raise UnclearOrderError(allowed)


def _multiple(order: Order, constants: OrderConstants, *, upper: bool) -> Expression:
    """The largest, or the least, that an order stands for."""
    if order.kind == ("Omega" if upper else "O"):
        shown = r"\Omega" if upper else "O"
        raise UnclearOrderError(
            rf"`f\le O(g)` or `f\ge\Omega(g)`: no bound follows from `{shown}` on this side of the relation"
        )
    times = constants.new("C" if upper else "c", order.depends)
    bound = times if order.of == Number(Fraction(1)) else times * order.of
    if not order.soft:
        return bound
    if constants.soft is None:
        raise UnclearOrderError(
            "with the tilde what it leaves out, said in `soft`: the quantity of which powers are allowed, "
            r"such as `soft=\log(n)\log(1/\delta)`"
        )
    power = Apply("pow", (constants.soft, constants.power(order.depends)))
    return bound * power if upper else bound / power


_MONOTONE = frozenset(("add", "max", "min", "exp", "log", "floor", "ceiling", "phi"))


def _rising(factors: tuple[Expression, ...], *, upper: bool) -> tuple[Expression, ...]:
    """Factors whose product rises with each order among them; none if that is not known."""
    inside = [f for f in factors if orders(f)]
    if len(inside) == 1 and all(orders(f) or -1 not in possible_signs(f) for f in factors):
        return factors
    if len(inside) == 1 and isinstance(inside[0], Order) and upper:
        # O(g) stands for what lies between -C g and C g
        return tuple(f if orders(f) else _sized(f) for f in factors)
    signed = all(isinstance(f, Order) or -1 not in possible_signs(f) for f in factors)
    return factors if signed else ()


def _falls(base: Expression, exponent: Expression) -> bool | None:
    """Whether a power falls with the orders in its base, or in its exponent; None if that is not known."""
    if not orders(exponent):
        power = constant(exponent)
        return None if power is None else power < 0
    low, high = range_of(base)
    if orders(base) or low is None:
        return None
    if low >= 1:
        return False
    return True if low >= 0 and high is not None and high <= 1 else None


def _extreme(e: Expression, constants: OrderConstants, *, upper: bool) -> Expression:
    """The largest, or the least, value of an expression with orders; it must rise or fall with each of them."""
    if not orders(e):
        return e

    def part(of: Expression, *, flip: bool = False) -> Expression:
        return _extreme(of, constants, upper=upper is not flip)

    match e:
        case Order():
            return _multiple(e, constants, upper=upper)
        case Apply(name, arguments) if name in _MONOTONE:
            return rebuilt(e, tuple(map(part, arguments)))
        case Apply("sub", (first, *rest)):
            return rebuilt(e, (part(first), *(part(x, flip=True) for x in rest)))
        case Apply("neg", (inner,)):
            return rebuilt(e, (part(inner, flip=True),))
        case Apply("mul", factors):
            rising = _rising(factors, upper=upper)
            if rising:
                return rebuilt(e, tuple(map(part, rising)))
        case Apply("div", (above, below)):
            falls = bool(orders(below))
            if -1 not in possible_signs(above if falls else below) and not (falls and orders(above)):
                return rebuilt(e, (part(above), part(below, flip=True)))
        case Apply("root", (of, order)) if not orders(order):
            return rebuilt(e, (part(of), order))
        case Apply("pow", (base, exponent)):
            falls_with = _falls(base, exponent)
            if falls_with is not None:
                return rebuilt(e, (part(base, flip=falls_with), part(exponent, flip=falls_with)))
        case Binder("sum", body, variable, first, last) if not orders(first) + orders(last):
            return Binder("sum", part(body), variable, first, last)
        case _:
            pass
    raise UnclearOrderError("an order in a place where the whole is known to rise or to fall with it")


# --------------------------------------------------------------------------------------------- quantifiers


def closed(
    claim: Formula,
    given: Iterable[Formula],
    chosen: Iterable[OrderConstant],
    *,
    fixed: Iterable[Variable] = (),
    premises: Literal["", "some", "every"] = "",
) -> tuple[Formula, tuple[Formula, ...]]:
    """A claim and its conditions with their constants, as a claim about the `fixed` letters alone.

    There are constants such that for all values of all other letters the conditions imply the claim. Constants may
    depend on the fixed letters, and on those of `Chosen.depends`. What remains free are these; the conditions that are
    only about them remain conditions. `premises` says of constants in conditions whether the claim is about some of
    them (small or large enough), or about every one.
    """
    constants = list(chosen)
    if not constants:
        return claim, tuple(given)
    own = {frozenset(c.depends) for c in constants if not c.threshold}
    if len(own) > 1:
        raise UnclearOrderError("constants that depend on the same letters, in one formula")
    outer = {*fixed, *(v for c in constants for v in c.depends)}
    for c in constants:
        if c.premise and not premises:
            raise UnclearOrderError(
                "what the constant of an order in a condition is, said in `premises`: `some` (there is one with which "
                "all else holds) or `every` (it holds with each, the other constants depending on it)"
            )
        if c.premise and premises == "every":
            outer.add(c.variable)
    inner: list[Formula] = []
    kept: list[Formula] = []
    for condition in given:
        (kept if free_in(condition) <= outer else inner).append(condition)
    within = [c.variable for c in constants if c.variable not in outer]
    letters = free_in(claim).union(*map(free_in, inner)) - outer - set(within)
    if inner:
        claim = Implies(inner[0] if len(inner) == 1 else And(tuple(inner)), claim)
    for letter in sorted(letters, key=lambda v: v.name, reverse=True):
        claim = ForAll(letter, claim)
    for variable in reversed(within):
        claim = Exists(variable, claim)
    return claim, tuple(kept)
