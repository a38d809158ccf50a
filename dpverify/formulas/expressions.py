"""Expressions as trees, exactly as they were written: nothing here rewrites, orders, evaluates or simplifies.

`x - x`, `x / x` and `sqrt(x) * sqrt(x)` are what they look like. What an expression means, and where it has no value,
is said in docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypedDict, Unpack

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.units import DIMENSIONLESS, Unit


class OutOfScopeError(Exception):
    """Something that is not handled was met; the message says what. Never reaches a user as an exception."""


class TooLargeError(OutOfScopeError):
    """It would be handled if it were smaller."""


_Operation = Callable[["Expression", object], "Expression"]


def _operation(operator: str) -> tuple[_Operation, _Operation]:
    """A method of Python's arithmetic, and the same for an expression on the right of a number."""
    return (
        lambda self, other: Apply(operator, (self, expression(other))),
        lambda self, other: Apply(operator, (expression(other), self)),
    )


class Expression:
    """A node of a tree: `Number`, `Variable`, `Constant`, `Apply`, `Binder`, `Derivative` or `At`.

    Python's arithmetic builds trees. Equality is that of trees: `a + b` is another expression than `b + a`.
    """

    __slots__ = ()
    __add__, __radd__ = _operation("add")
    __sub__, __rsub__ = _operation("sub")
    __mul__, __rmul__ = _operation("mul")
    __truediv__, __rtruediv__ = _operation("div")
    __pow__, __rpow__ = _operation("pow")

    def __neg__(self) -> Expression:
        return Apply("neg", (self,))

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false")


@dataclass(frozen=True, slots=True, repr=False)
class Number(Expression):
    """An exact rational number."""

    value: Fraction

    def __repr__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Constant(Expression):
    """A number with a name: `pi`, or an end of an integral, `oo` or `-oo`."""

    name: Literal["pi", "oo", "-oo"]

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class Variable(Expression):
    """A letter with its domain (an interval of reals or integers; all vectors) and unit.

    Two are the same if name, domain and unit are.

    Attributes:
        name: in certificates and counterexamples, such as `sigma`.
        kind: `real`, `integer` or `vector` (`dpverify.formulas.vectors`).
        lower: least value or infimum; None where there is none.
        lower_open: whether `lower` itself is left out.
        upper: greatest value or supremum; None where there is none.
        upper_open: whether `upper` itself is left out.
        unit: what it is measured in.
        meaning: in words.
        latex: the letter as printed, such as `\\sigma` or `\\|x_0-x_0'\\|`.
        stands_for: what it stands for, as `dpverify.formulas.functionals` says: `number`, `functional`, a formula in
            LaTeX, or nothing, where its LaTeX and its meaning tell.
        size: what it is among what has sizes in practice (`dpverify.analyses.sizes`), such as `number of records`, or
            of what it is the logarithm, `log(n/delta)`; nothing where that is not known.
    """

    name: str
    kind: Literal["real", "integer", "vector"]
    lower: Fraction | None
    lower_open: bool
    upper: Fraction | None
    upper_open: bool
    unit: Unit
    meaning: str = field(default="", compare=False)
    latex: str = field(default="", compare=False)
    stands_for: str = field(default="", compare=False)
    size: str = field(default="", compare=False)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def domain_text(self) -> str:
        """The domain as a reader would write it, for instance `integers in [1, oo)`."""
        return _domain_text(self.kind, self.lower, self.lower_open, self.upper, self.upper_open)

    def interval_text(self) -> str:
        """The domain's interval, for instance `[1, oo)`."""
        return _domain_text("real", self.lower, self.lower_open, self.upper, self.upper_open)

    def contains(self, value: Fraction | tuple[Fraction, ...]) -> bool:
        """Whether an exact value lies in the domain; of a vector, its coordinates."""
        if isinstance(value, tuple) or self.kind == "vector":
            return isinstance(value, tuple) and self.kind == "vector"
        if self.kind == "integer" and value.denominator != 1:
            return False
        if self.lower is not None and (value < self.lower or (self.lower_open and value == self.lower)):
            return False
        return self.upper is None or not (value > self.upper or (self.upper_open and value == self.upper))


@dataclass(frozen=True, slots=True, repr=False)
class Apply(Expression):
    """An operator of `dpverify.formulas.operators` and what it is applied to, in the order written."""

    operator: str
    arguments: tuple[Expression, ...]

    def __repr__(self) -> str:
        return f"{self.operator}({', '.join(map(repr, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Binder(Expression):
    """A sum or product over integers first..last, both included, or an integral from first to last."""

    kind: Literal["sum", "product", "integral"]
    body: Expression
    variable: Variable
    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True)
class Derivative(Expression):
    """The derivative of some order, at the variable's own value."""

    body: Expression
    variable: Variable
    order: int


@dataclass(frozen=True, slots=True)
class At(Expression):
    """The body with the variable replaced by a value, after any derivative in it has been taken."""

    body: Expression
    variable: Variable
    value: Expression


def expression(value: object) -> Expression:
    """A number as an expression; an expression as it is.

    Raises:
        InvalidArgumentError: for anything else; floats too, since they are not the number that was written.
    """
    if isinstance(value, Expression):
        return value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Number(Fraction(value))
    allowed = "a number or an expression over variables"
    if isinstance(value, float) and math.isfinite(value):
        allowed = "exact numbers such as Fraction(1, 10) in place of floats"
    raise InvalidArgumentError("expression", value, allowed)


def children(e: Expression) -> tuple[Expression, ...]:
    """The parts that an expression is made of; bound variables are none of them."""
    match e:
        case Apply(_, arguments):
            return arguments
        case Binder(_, body, _, first, last):
            return body, first, last
        case Derivative(body, _, _):
            return (body,)
        case At(body, _, value):
            return body, value
        case _:
            return ()


def subexpressions(e: Expression) -> Iterator[Expression]:
    """The expression and all of its parts, each before its own."""
    yield e
    for part in children(e):
        yield from subexpressions(part)


SCOPES = At | Binder | Derivative
"""What may mean other things within, where nothing is replaced: a kink may lie where a derivative is taken."""


def outside(e: Expression) -> Iterator[Expression]:
    """The same but for what stands within a scope."""
    yield e
    for part in () if isinstance(e, SCOPES) else children(e):
        yield from outside(part)


def mapped(e: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """An expression with others in the place of parts, the outermost that `change` knows; none within a scope."""
    new = change(e)
    if new is not None or isinstance(e, SCOPES):
        return e if new is None else new
    return rebuilt(e, tuple(mapped(part, change) for part in children(e)))


def levels(e: Expression) -> Iterator[int]:
    """The level of each node of a tree, from 1 on, however deep that is."""
    rest = [(e, 1)]
    while rest:
        part, level = rest.pop()
        yield level
        rest += [(child, level + 1) for child in children(part)]


def all_variables(e: Expression) -> Iterator[Variable]:
    """Every variable that occurs, bound ones included, in the order in which it is written."""
    for part in subexpressions(e):
        match part:
            case Variable():
                yield part
            case Binder(_, _, variable, _, _) | Derivative(_, variable, _) | At(_, variable, _):
                yield variable


def free_variables(e: Expression) -> frozenset[Variable]:
    """The variables that an expression depends on: what its sums, integrals and `At` bind is left out."""
    match e:
        case Variable():
            return frozenset((e,))
        case Binder(_, body, variable, first, last):
            return (free_variables(body) - {variable}) | free_variables(first) | free_variables(last)
        case Derivative(body, variable, _):
            return free_variables(body) | {variable}
        case At(body, variable, value):
            return (free_variables(body) - {variable}) | free_variables(value)
        case _:
            return frozenset().union(*map(free_variables, children(e)))


def rebuilt(e: Expression, parts: tuple[Expression, ...]) -> Expression:
    """The expression with other parts, in the order of `children`."""
    match e:
        case Apply(operator, _):
            return Apply(operator, parts)
        case Binder(kind, _, variable, _, _):
            return Binder(kind, parts[0], variable, parts[1], parts[2])
        case Derivative(_, variable, order):
            return Derivative(parts[0], variable, order)
        case At(_, variable, _):
            return At(parts[0], variable, parts[1])
        case _:
            return e


MAX_BITS = 20_000
"""Bits of the largest number that is worked out exactly."""


def constant(e: Expression) -> Fraction | None:
    """The rational number that an expression without letters and functions is; None for any other."""
    match e:
        case Number(value):
            return value
        case Apply("add" | "sub" | "neg" | "mul" | "div" | "pow" as operator, arguments):
            values = [constant(a) for a in arguments]
            known = [v for v in values if v is not None]
            return _folded(operator, known) if len(known) == len(values) else None
        case _:
            return None


def _folded(operator: str, values: list[Fraction]) -> Fraction | None:
    first, *rest = values
    match operator:
        case "neg":
            return -first
        case "add":
            return sum(rest, first)
        case "mul":
            return math.prod(rest, start=first)
        case "sub":
            return first - rest[0]
        case "div":
            return first / rest[0] if rest[0] else None
        case _:
            (exponent,) = rest
            size = max(first.numerator.bit_length(), first.denominator.bit_length())
            if exponent.denominator != 1 or abs(exponent) * size > MAX_BITS or (exponent < 0 and not first):
                return None
            return first**exponent.numerator


def is_integer(e: Expression) -> bool:
    """Whether an expression is an integer wherever it has a value, as far as can be told from how it is written."""
    value = constant(e)
    if value is not None:
        return value.denominator == 1
    match e:
        case Variable():
            return e.kind == "integer"
        case Apply("add" | "sub" | "neg" | "mul" | "max" | "min" | "abs", arguments):
            return all(map(is_integer, arguments))
        case Apply("floor" | "ceiling" | "factorial" | "binomial", _):
            return True
        case Apply("pow", (base, exponent)):
            power = constant(exponent)
            return is_integer(base) and power is not None and power.denominator == 1 and power >= 0
        case Binder("sum" | "product", body, _, _, _):
            return is_integer(body)
        case _:
            return False


# ---------------------------------------------------------------------------------------------- constructors


class Said(TypedDict, total=False):
    """What may be said of a letter besides its domain, as `Variable` has it."""

    unit: Unit
    meaning: str
    latex: str
    stands_for: str
    size: str


def real(
    name: str,
    *,
    gt: object = None,
    ge: object = None,
    lt: object = None,
    le: object = None,
    **said: Unpack[Said],
) -> Variable:
    """A real variable on an interval; bounds are integers or exact strings such as "1/2".

    Raises:
        InvalidArgumentError: for an empty name, bounds that are not exact numbers, or an empty domain.
    """
    return _variable("real", name, {"gt": gt, "ge": ge, "lt": lt, "le": le}, said)


def integer(name: str, *, ge: object = None, le: object = None, **said: Unpack[Said]) -> Variable:
    """An integer variable.

    Raises:
        InvalidArgumentError: as `real`.
    """
    return _variable("integer", name, {"gt": None, "ge": ge, "lt": None, "le": le}, said)


def exact(name: str, value: object) -> Fraction:
    """An exact finite number from an integer, a fraction or a string.

    Raises:
        InvalidArgumentError: for anything else, `name` being what it was meant for.
    """
    if isinstance(value, int | Fraction | str) and not isinstance(value, bool):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            pass
    raise InvalidArgumentError(name, value, 'a finite integer or an exact fraction such as "1/2"')


def _variable(
    kind: Literal["real", "integer"], name: str, bounds: Mapping[str, object], said: Said
) -> Variable:
    require(isinstance(name, str) and name.strip(), "name", name, "a nonempty string")
    ends = {end: None if b is None else exact(f"{end} of {name}", b) for end, b in bounds.items()}
    for strict, weak, side in (("gt", "ge", "lower"), ("lt", "le", "upper")):
        if ends[strict] is not None and ends[weak] is not None:
            allowed = f"one {side} bound, {strict} or {weak}, not both"
            raise InvalidArgumentError(strict, ends[strict], allowed)
    lower_open, upper_open = ends["gt"] is not None, ends["lt"] is not None
    lower, upper = ends["gt" if lower_open else "ge"], ends["lt" if upper_open else "le"]
    domain = _domain_text(kind, lower, lower_open, upper, upper_open)
    if kind == "integer":
        lower = None if lower is None else Fraction(math.ceil(lower))
        upper = None if upper is None else Fraction(math.floor(upper))
    one = lower == upper and (lower_open or upper_open)
    if lower is not None and upper is not None and (lower > upper or one):
        raise InvalidArgumentError(f"domain of {name}", domain, "one with a number in it")
    more: Said = {"unit": DIMENSIONLESS, **said, "latex": said.get("latex") or name}
    return Variable(name, kind, lower, lower_open, upper, upper_open, **more)


def _domain_text(
    kind: str, lower: Fraction | None, lower_open: bool, upper: Fraction | None, upper_open: bool
) -> str:
    if kind == "vector":
        return "vectors"
    left = "(" if lower is None or lower_open else "["
    right = ")" if upper is None or upper_open else "]"
    low = "-oo" if lower is None else str(lower)
    high = "oo" if upper is None else str(upper)
    return f"{'integers in ' if kind == 'integer' else ''}{left}{low}, {high}{right}"


PI = Constant("pi")
INFINITY = Constant("oo")


def total(summand: object, index: Variable, first: object, last: object) -> Expression:
    """Sum over index = first..last, both included; the ends may be symbolic."""
    return Binder("sum", expression(summand), index, expression(first), expression(last))


def product(factor: object, index: Variable, first: object, last: object) -> Expression:
    """Product over index = first..last, both included."""
    return Binder("product", expression(factor), index, expression(first), expression(last))


def integral(integrand: object, variable: Variable, lower: object, upper: object) -> Expression:
    """A definite integral; the ends may be infinite (`INFINITY`, `-INFINITY`)."""
    return Binder("integral", expression(integrand), variable, _end(lower), _end(upper))


def _end(value: object) -> Expression:
    # the only place where an infinity has a meaning
    e = expression(value)
    return Constant("-oo") if e == Apply("neg", (INFINITY,)) else e


def is_infinite(e: Expression) -> bool:
    """Whether an end of an integral is infinite."""
    return isinstance(e, Constant) and e.name != "pi"


def derivative(body: object, variable: Variable, order: int = 1) -> Expression:
    """The derivative of an order from 1 on, left for provers and checker to work out."""
    if isinstance(order, bool) or not isinstance(order, int) or not order >= 1:
        raise InvalidArgumentError("order", order, "an integer of at least 1")
    return Derivative(expression(body), variable, order)


def at(body: object, variable: Variable, value: object) -> Expression:
    """The expression with the variable replaced, left for provers and checker to carry out."""
    return At(expression(body), variable, expression(value))
