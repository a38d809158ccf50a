"""The records of functions: exponentials, distribution functions, counting functions, max, min and rounding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from statistics import NormalDist

import flint

from dpverify.formulas.expressions import PI, Apply, Expression, Number, OutOfScopeError, is_integer
from dpverify.formulas.logic import Le, Lt, Ne
from dpverify.formulas.ranges import range_of
from dpverify.formulas.records import (
    ANY_SIGN,
    CLOSED,
    NOT_NEGATIVE,
    POSITIVE,
    POWER,
    Arguments,
    Need,
    Operator,
    Signs,
    Writing,
    needing,
    not_smooth,
    pure_unit,
    shared_unit,
)
from dpverify.formulas.values import (
    NOT_A_NUMBER,
    Ball,
    UnclearError,
    UndefinedError,
    Value,
    ball,
    floor_of,
    held,
    largest,
    monotone,
    sign,
    smallest,
    whole,
)

_LARGEST = 2_000
"""The largest number of which a factorial is worked out exactly."""


# ---------------------------------------------------------------------------------------------- parts of records


def _of(name: str, *arguments: Expression) -> Expression:
    return Apply(name, arguments)


def brackets(name: str) -> Writing:
    """A function's name, and its arguments in brackets."""
    return Writing(lambda *a: f"{name}({', '.join(a)})")


def _latex(name: str) -> Writing:
    return Writing(lambda *a: rf"{name}\left({', '.join(a)}\right)")


def _value(
    of_balls: Callable[..., Ball], exact: Callable[..., Fraction | None] = lambda *_: None
) -> Callable[..., Value]:
    """The value of a function: exact where `exact` knows it, else from balls."""

    def value(*arguments: Value, inside: bool = False) -> Value:
        if all(isinstance(a, Fraction) for a in arguments):
            found = exact(*arguments)
            if found is not None:
                return held(found)
        return held(of_balls(*map(ball, arguments)))

    return value


def _at(place: int, result: Fraction) -> Callable[[Fraction], Fraction | None]:
    return lambda x: result if x == place else None


def pick_signs(pick: Callable[..., int]) -> Callable[[Arguments, Sequence[Signs]], Signs]:
    """The signs of what is one of the arguments, picked by size."""
    return lambda _, signs: frozenset(pick(choice) for choice in itertools.product(*signs))


# ---------------------------------------------------------------------------------------------- logarithms


def _log(x: Ball) -> Ball:
    return x.log() if x > 0 else NOT_A_NUMBER


def _exact_log(x: Fraction) -> Fraction | None:
    if x <= 0:
        raise UndefinedError("the logarithm of a nonpositive number")
    return Fraction(0) if x == 1 else None


def _signs_of_log(arguments: Arguments, _: Sequence[Signs]) -> Signs:
    low, high = range_of(arguments[0])
    if low is not None and low >= 1:
        return POSITIVE if low > 1 else NOT_NEGATIVE
    return frozenset({-1, 0}) if high is not None and high <= 1 else ANY_SIGN


def _log_base(x: Ball, base: Ball) -> Ball:
    if not (x > 0 and base > 0) or base.contains(1):
        return NOT_A_NUMBER
    return x.log() / base.log()


def _exact_log_base(x: Fraction, base: Fraction) -> Fraction | None:
    if x <= 0 or base <= 0 or base == 1:
        raise UndefinedError("a logarithm of a nonpositive number, or to the base 1")
    if x == 1:
        return Fraction(0)
    try:
        near = round(math.log(x) / math.log(base))
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    return Fraction(near) if abs(near) < 64 and base**near == x else None


# ---------------------------------------------------------------------------------------------- Gaussians


def _phi(x: Ball) -> Ball:
    return (x * -(flint.arb(2).rsqrt())).erfc() / 2


def _bell(x: Expression) -> Expression:
    return _of("exp", -(x**2) / 2) / _of("root", 2 * PI, Number(Fraction(2)))


def _slope_of_erfc(x: Expression) -> tuple[Expression]:
    return (-(2 * _of("exp", -(x**2)) / _of("root", PI, Number(Fraction(2)))),)


def _phi_inverse(p: Ball) -> Ball:
    # both forms keep their accuracy at the end that they start from
    if not (p > 0 and p < 1):
        return NOT_A_NUMBER
    return -flint.arb(2).sqrt() * (2 * p).erfcinv() if p < 0.5 else flint.arb(2).sqrt() * (2 * p - 1).erfinv()


def _exact_phi_inverse(p: Fraction) -> Fraction | None:
    if not 0 < p < 1:
        raise UndefinedError("a quantile at a number outside (0, 1)")
    return Fraction(0) if p == Fraction(1, 2) else None


# ---------------------------------------------------------------------------------------------- angles


def _circular(of_ball: Callable[[Ball], Ball]) -> Callable[[Ball], Ball]:
    """Sine or cosine of a ball of any width, between -1 and 1."""
    return lambda x: of_ball(x).intersection(flint.arb(0, 1)) if x.is_finite() else flint.arb(0, 1)


_sin, _cos = _circular(lambda x: x.sin()), _circular(lambda x: x.cos())


# ---------------------------------------------------------------------------------------------- counting


def _counts(arguments: Arguments, _: bool) -> Iterator[Need]:
    if not all(map(is_integer, arguments)):
        raise OutOfScopeError("an argument of a function of integers is not known to be one")
    return (Need(Le(0, e)) for e in arguments)


def _count(x: Value) -> int:
    n = whole(x)
    if n < 0:
        raise UndefinedError("a negative number of things")
    if n > _LARGEST:
        raise UnclearError("a number is too large for its factorial")
    return n


def _whole_number(x: float) -> int:
    if x != round(x) or not 0 <= x <= _LARGEST:
        raise ValueError("no number of things")
    return round(x)


def _gamma(x: Ball) -> Ball:
    return x.gamma() if x > 0 else NOT_A_NUMBER


def _exact_gamma(x: Fraction) -> Fraction | None:
    if x <= 0:
        raise UndefinedError("Gamma of a nonpositive number")
    return Fraction(math.factorial(int(x) - 1)) if x.denominator == 1 and x <= _LARGEST else None


def _number_gamma(x: float) -> float:
    if not x > 0:
        raise ValueError("Gamma of a nonpositive number")
    return math.gamma(x)


# ---------------------------------------------------------------------------------------------- kinks and jumps


def _needs_of_pick(name: str) -> Callable[[Arguments, bool], Iterator[Need]]:
    def needs(arguments: Arguments, inside: bool) -> Iterator[Need]:
        # which of two equal arguments is taken does not matter, but for a slope
        for i in range(1, len(arguments) if inside else 0):
            before = arguments[0] if i == 1 else Apply(name, arguments[:i])
            yield Need(Ne(before, arguments[i]))

    return needs


def _slopes_of_pick(name: str, side: int) -> Callable[..., tuple[Expression | None, ...]]:
    """Of max(u, v) = (u + v + |u - v|) / 2, and of min likewise."""

    def slopes(*arguments: Expression) -> tuple[Expression | None, ...]:
        if len(arguments) == 1:
            return (Number(Fraction(1)),)
        *rest, v = arguments
        u = rest[0] if len(rest) == 1 else Apply(name, tuple(rest))
        ahead = side * (u - v) / _of("abs", u - v)
        inner: tuple[Expression | None, ...] = (Number(Fraction(1)),) if len(rest) == 1 else slopes(*rest)
        return (*(None if s is None else (1 + ahead) / 2 * s for s in inner), (1 - ahead) / 2)

    return slopes


def _absolute(x: Value, *, inside: bool = False) -> Value:
    if inside and sign(x) == 0:
        raise UndefinedError("a slope of |x| at 0")
    return abs(x) if isinstance(x, Fraction) else largest(x, -x)


def _picked(pick: Callable[..., Value], name: str) -> Callable[..., Value]:
    def value(*arguments: Value, inside: bool = False) -> Value:
        for i in range(1, len(arguments) if inside else 0):
            before = pick(*arguments[:i])
            if isinstance(before, Fraction) and before == arguments[i]:
                raise UndefinedError(f"a slope of {name} where two arguments are the same")
            sign(ball(before) - ball(arguments[i]))
        return pick(*arguments)

    return value


def _absolute_ball(x: Ball) -> Ball:
    if x >= 0:
        return x
    if x <= 0:
        return -x
    return abs(x).nonnegative_part() if x.is_finite() else NOT_A_NUMBER


def _floor_ball(x: Ball) -> Ball:
    if not x.is_finite():
        return NOT_A_NUMBER
    low, high = x.lower().floor(), x.upper().floor()
    return low if low == high else low.union(high)


def _rounded(round_: Callable[[Value], Value]) -> Callable[..., Value]:
    def value(x: Value, *, inside: bool = False) -> Value:
        if inside:
            raise UnclearError("a derivative of floor or ceiling")
        return round_(x)

    return value


def _no_slope(*arguments: Expression) -> tuple[None, ...]:
    return (None,) * len(arguments)


FUNCTIONS = (
    Operator(
        "exp", 1, 1,
        text=brackets("exp"), latex=Writing(lambda x: f"e^{{{x}}}", POWER), unit=pure_unit,
        value=_value(lambda x: x.exp(), _at(0, Fraction(1))), ball=lambda x: x.exp(), monotone=1,
        number=math.exp, slopes=lambda x: (_of("exp", x),), signs=lambda *_: POSITIVE,
        heads=(r"\exp", r"\operatorname{exp}"), bare=True,
    ),
    Operator(
        "log", 1, 1,
        text=brackets("log"), latex=_latex(r"\ln"), unit=pure_unit, needs=needing(lambda x: Lt(0, x)),
        value=_value(_log, _exact_log), ball=_log, monotone=1,
        number=math.log, slopes=lambda x: (1 / x,), signs=_signs_of_log,
        heads=(r"\ln", r"\log", r"\operatorname{ln}", r"\operatorname{log}"), powered=True, bare=True,
    ),
    Operator(
        "log_base", 2, 2,
        text=Writing(lambda x, base: f"log({x}, base {base})"),
        latex=Writing(lambda x, base: rf"\log_{{{base}}}\left({x}\right)"),
        unit=pure_unit, needs=needing(lambda x, _: Lt(0, x), lambda _, base: Lt(0, base), lambda _, base: Ne(base, 1)),
        value=_value(_log_base, _exact_log_base), ball=_log_base, number=lambda x, base: math.log(x) / math.log(base),
        slopes=lambda x, base: (1 / (x * _of("log", base)), -(_of("log", x) / (base * _of("log", base) ** 2))),
        neutral=lambda x, base: ["mul", ["log", x], ["pow", ["log", base], ["num", "-1"]]],
        based=(r"\log", r"\operatorname{log}"), powered=True,
    ),
    Operator(
        "phi", 1, 1,
        text=brackets("Phi"), latex=_latex(r"\Phi"), unit=pure_unit,
        value=_value(_phi, _at(0, Fraction(1, 2))), ball=monotone(_phi), monotone=1,
        number=lambda x: math.erfc(-x / math.sqrt(2)) / 2, slopes=lambda x: (_bell(x),), signs=lambda *_: POSITIVE,
        heads=(r"\Phi",),
    ),
    Operator(
        "phi_inverse", 1, 1,
        text=brackets("Phi^(-1)"), latex=_latex(r"\Phi^{-1}"), unit=pure_unit,
        needs=needing(lambda p: Lt(0, p), lambda p: Lt(p, 1)),
        value=_value(_phi_inverse, _exact_phi_inverse), ball=monotone(_phi_inverse), monotone=1,
        number=NormalDist().inv_cdf, slopes=lambda p: (1 / _bell(_of("phi_inverse", p)),),
        heads=(r"\Phi^{-1}",),
    ),
    Operator(
        "erfc", 1, 1,
        text=brackets("erfc"), latex=_latex(r"\operatorname{erfc}"), unit=pure_unit,
        value=_value(lambda x: x.erfc(), _at(0, Fraction(1))), ball=monotone(lambda x: x.erfc()), monotone=-1,
        number=math.erfc, slopes=_slope_of_erfc, signs=lambda *_: POSITIVE,
        heads=(r"\operatorname{erfc}", r"\text{erfc}"),
    ),
    Operator(
        "sin", 1, 1,
        text=brackets("sin"), latex=_latex(r"\sin"), unit=pure_unit,
        value=_value(_sin, _at(0, Fraction(0))), ball=_sin,
        number=math.sin, slopes=lambda x: (_of("cos", x),),
        heads=(r"\sin", r"\operatorname{sin}"), bare=True,
    ),
    Operator(
        "cos", 1, 1,
        text=brackets("cos"), latex=_latex(r"\cos"), unit=pure_unit,
        value=_value(_cos, _at(0, Fraction(1))), ball=_cos,
        number=math.cos, slopes=lambda x: (-_of("sin", x),),
        heads=(r"\cos", r"\operatorname{cos}"), bare=True,
    ),
    Operator(
        "arctan", 1, 1,
        text=brackets("arctan"), latex=_latex(r"\arctan"), unit=pure_unit,
        value=_value(lambda x: x.atan(), _at(0, Fraction(0))), ball=lambda x: x.atan(), monotone=1,
        number=math.atan, slopes=lambda x: (1 / (1 + x**2),), signs=lambda _, signs: signs[0],
        heads=(r"\arctan", r"\operatorname{arctan}", r"\tan^{-1}"), bare=True,
    ),
    Operator(
        "gamma", 1, 1,
        text=brackets("Gamma"), latex=_latex(r"\Gamma"), unit=pure_unit,
        needs=not_smooth("Gamma", needing(lambda x: Lt(0, x))), value=_value(_gamma, _exact_gamma), ball=_gamma,
        number=_number_gamma, slopes=_no_slope, signs=lambda *_: POSITIVE,
        heads=(r"\Gamma",),
    ),
    Operator(
        "factorial", 1, 1,
        text=Writing(lambda n: f"{n}!", POWER, (CLOSED,)), latex=Writing(lambda n: f"{n}!", POWER, (CLOSED,)),
        unit=pure_unit, needs=not_smooth("a function of integers", _counts),
        value=lambda n, inside=False: held(Fraction(math.factorial(_count(n)))),
        number=lambda n: math.gamma(_whole_number(n) + 1), slopes=_no_slope, signs=lambda *_: POSITIVE,
    ),
    Operator(
        "binomial", 2, 2,
        text=brackets("binomial"), latex=Writing(lambda n, k: rf"\binom{{{n}}}{{{k}}}"),
        unit=pure_unit, needs=not_smooth("a function of integers", _counts),
        value=lambda n, k, inside=False: held(Fraction(math.comb(_count(n), _count(k)))),
        number=lambda n, k: float(math.comb(_whole_number(n), _whole_number(k))),
        slopes=_no_slope, signs=lambda *_: NOT_NEGATIVE,
    ),
    Operator(
        "max", 1, None,
        text=brackets("max"), latex=_latex(r"\max"), unit=shared_unit, needs=_needs_of_pick("max"),
        value=_picked(largest, "max"), ball=lambda *a: reduce(lambda u, v: u.max(v), a),
        number=max, slopes=_slopes_of_pick("max", 1), signs=pick_signs(max),
        heads=(r"\max", r"\operatorname{max}"),
    ),
    Operator(
        "min", 1, None,
        text=brackets("min"), latex=_latex(r"\min"), unit=shared_unit, needs=_needs_of_pick("min"),
        value=_picked(smallest, "min"), ball=lambda *a: reduce(lambda u, v: u.min(v), a),
        number=min, slopes=_slopes_of_pick("min", -1), signs=pick_signs(min),
        heads=(r"\min", r"\operatorname{min}"),
    ),
    Operator(
        "abs", 1, 1,
        text=Writing(lambda x: f"|{x}|"), latex=Writing(lambda x: rf"\left|{x}\right|"), unit=shared_unit,
        needs=lambda arguments, inside: iter([Need(Ne(arguments[0], 0))] if inside else []),
        value=_absolute, ball=_absolute_ball, number=abs, slopes=lambda x: (x / _of("abs", x),),
        signs=lambda _, signs: frozenset(abs(s) for s in signs[0]),
    ),
    Operator(
        "floor", 1, 1,
        text=brackets("floor"), latex=Writing(lambda x: rf"\left\lfloor {x} \right\rfloor"), unit=pure_unit,
        needs=not_smooth("floor or ceiling"), value=_rounded(floor_of), ball=_floor_ball,
        number=lambda x: float(math.floor(x)), slopes=_no_slope,
        # a positive number may be rounded to 0, what is negative stays so
        signs=lambda _, signs: signs[0] | ({0} if 1 in signs[0] else set()),
    ),
    Operator(
        "ceiling", 1, 1,
        text=brackets("ceiling"), latex=Writing(lambda x: rf"\left\lceil {x} \right\rceil"), unit=pure_unit,
        needs=not_smooth("floor or ceiling"), value=_rounded(lambda x: -floor_of(-x)), ball=lambda x: -_floor_ball(-x),
        number=lambda x: float(math.ceil(x)), slopes=_no_slope,
        signs=lambda _, signs: signs[0] | ({0} if -1 in signs[0] else set()),
    ),
)  # fmt: skip
