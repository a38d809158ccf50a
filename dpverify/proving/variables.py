"""Units of measure, and variables with their domains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import sympy as sp

from dpverify.errors import InvalidArgumentError

Expression = Any  # a SymPy expression; SymPy ships no types


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
    _check_name(name)
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
    _check_name(name)
    return _variable("integer", name, (None, ge, None, le), unit, meaning, latex)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidArgumentError("name", name, "a text that is not empty")
