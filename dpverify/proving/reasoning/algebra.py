"""The one door to SymPy's algorithms: what they are given is measured first, and what is too large is refused.

SymPy counts nothing. A polynomial is a dense list to it, so that exp(24691357802469 x) asks for 24691357802469 places;
a power of two whole numbers is multiplied out; and while an expression is only being built, it looks for the roots of a
polynomial to tell a sign. So every size is bounded here before it starts: terms, degrees, operations, bits. Factors
are those of FLINT, whose work grows with these counts and not with the primes that happen to divide something.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp
from sympy.concrete.gosper import gosper_sum
from sympy.core import exprtools
from sympy.integrals.manualintegrate import manualintegrate
from sympy.polys import numberfields
from sympy.polys.rings import sring

from dpverify.formulas.expressions import TooLargeError
from dpverify.proving.reasoning.effort import spend
from dpverify.proving.reasoning.polynomials import Polynomial, factored
from dpverify.proving.reasoning.symbolic import SymPy, raised, rational

MAX_TERMS = 2_000
"""Terms of the longest expression that is multiplied out, and of the longest polynomial."""
MAX_DEGREE = 2_000
"""Its highest power of one letter, root or exponential."""
MAX_OPERATIONS = 100_000
"""Operations of the longest expression that is differentiated or in which something is put."""
MAX_INTEGRATED, MAX_SUMMED = 60, 200
"""Operations of the longest integrand, and of the longest summand."""
MAX_SIMPLIFIED = 60
"""The same of the longest expression that all rules are tried on."""
MAX_POWER_INTEGRATED, MAX_POWER_SUMMED = 12, 24
"""The highest powers in them."""
MAX_RESULTANT = 400
"""Size of the longest resultant that Gosper's algorithm may look for."""
_SIGN_DEGREE = 60
"""Degree of a polynomial in one letter up to which SymPy may look for roots, to tell a sign."""
_NUMBER_DEGREE = 16
"""Degree of a number over the rationals up to which SymPy may look for its polynomial, to tell whether it is 0."""
_FAR = 10**12
"""Where counting ends."""


class ExpandedSize(NamedTuple):
    """Bounds on what an expression becomes."""

    expanded: int
    """Terms once it is multiplied out, the fractions in it left apart."""
    top: int
    """Terms of its numerator, once it is one fraction and multiplied out."""
    bottom: int
    """The same of its denominator."""
    degree: int
    """The highest power of a letter, a root or an exponential in either, as SymPy sees it."""


@functools.lru_cache(20_000)
def size(e: SymPy) -> ExpandedSize:
    """Bounds on what an expression becomes.

    An exponential exp(p x / q) is the p-th power of one letter, as SymPy sees it, and so is the root b^(p / q).
    """
    if e.is_Add:
        return _of_sum([size(a) for a in e.args])
    if e.is_Mul:
        return _of_product([size(a) for a in e.args])
    if isinstance(e, sp.exp):
        # terms of a sum above become factors
        degree = sum(_steps(term) for term in sp.Add.make_args(e.args[0]))
        return ExpandedSize(size(e.args[0]).expanded, 1, 1, _near(degree))
    if e.is_Pow:
        base, n = size(e.base), e.exp
        if n.is_Integer:
            return _of_power(base, int(n))
        inside = max(base.expanded, 1 if n.is_Rational else size(n).expanded)
        return ExpandedSize(inside, 1, 1, _near(sum(_steps(term) for term in sp.Add.make_args(n))))
    # what is inside a function is a letter's, but is multiplied out as well
    return ExpandedSize(max((size(a).expanded for a in e.args), default=1), 1, 1, 1 if e.free_symbols else 0)


def _near(n: int) -> int:
    return min(_FAR, n)


def _steps(exponent: SymPy) -> int:
    coefficient, _ = exponent.as_coeff_Mul(rational=True)
    return abs(int(coefficient.p))


def _of_sum(parts: list[ExpandedSize]) -> ExpandedSize:
    top, bottom, degree = 0, 1, 0
    for part in parts:
        top = _near(top * part.bottom + part.top * bottom)
        whole = part.bottom == bottom == 1
        degree = max(degree, part.degree) if whole else _near(degree + part.degree)
        bottom = _near(bottom * part.bottom)
    return ExpandedSize(_near(sum(p.expanded for p in parts)), top, bottom, degree)


def _of_product(parts: list[ExpandedSize]) -> ExpandedSize:
    expanded, top, bottom = (
        _near(math.prod(ns)) for ns in zip(*((p.expanded, p.top, p.bottom) for p in parts), strict=True)
    )
    return ExpandedSize(expanded, top, bottom, _near(sum(p.degree for p in parts)))


def _of_power(base: ExpandedSize, n: int) -> ExpandedSize:
    def terms(count: int) -> int:
        return _near(math.comb(min(abs(n), MAX_DEGREE + 1) + count - 1, count - 1)) if count < _FAR else _FAR

    # the power of one term is one, however high, but SymPy may write it as a list
    whole = terms(base.expanded) if base.expanded > 1 else 1
    top, bottom = terms(base.top), terms(base.bottom)
    return ExpandedSize(whole, *((top, bottom) if n > 0 else (bottom, top)), _near(base.degree * abs(n)))


def check_expansion(e: SymPy) -> ExpandedSize:
    """Refuse, by `TooLargeError`, what SymPy would multiply out for ages: too many terms, or too high a degree."""
    found = size(e)
    if found.expanded > MAX_TERMS or found.degree > MAX_DEGREE:
        raise TooLargeError("an expression is too long to be expanded")
    spend(found.expanded)
    return found


def _check_fraction(e: SymPy) -> None:
    found = check_expansion(e)
    terms = found.top + found.bottom
    if terms > MAX_TERMS:
        raise TooLargeError("a fraction is too long to be written over one denominator")
    spend(terms)


def _check_operations(e: SymPy) -> None:
    count = e.count_ops()
    if count > MAX_OPERATIONS:
        raise TooLargeError("an expression is too long for SymPy")
    spend(1 + int(count))


def replaced(e: SymPy, values: Mapping[SymPy, SymPy]) -> SymPy:
    """An expression with parts replaced; `TooLargeError` for a number that is too long."""
    _check_operations(e)
    known: dict[SymPy, SymPy] = dict(values)

    def change(part: SymPy) -> SymPy:
        found = known.get(part)
        if found is None:
            found = part
            if not part.is_Atom:
                inside = [change(a) if isinstance(a, sp.Basic) else a for a in part.args]
                if any(new is not old for new, old in zip(inside, part.args, strict=True)):
                    found = raised(*inside) if part.is_Pow else part.func(*inside)
            known[part] = found
        return found

    return change(e) if values else e


def derivative(e: SymPy, x: SymPy) -> SymPy:
    """The derivative in a letter."""
    _check_operations(e)
    return e.diff(x)


def _checked(work: Callable[[SymPy], Any], check: Callable[[SymPy], object]) -> Callable[[SymPy], Any]:
    """Work of SymPy on expressions whose size is checked first."""

    def checked(e: SymPy) -> Any:
        check(e)
        return work(e)

    return checked


multiplied_out = _checked(sp.expand, check_expansion)
"""A sum of products."""
outer_terms = _checked(lambda e: sp.Add.make_args(sp.expand_mul(e, deep=False)), check_expansion)
"""The terms of a sum, once products with sums in them are multiplied out."""
one_fraction = _checked(sp.together, _check_fraction)
"""An expression over a common denominator, with products that are not multiplied out."""
split_exponents = _checked(sp.expand_power_exp, check_expansion)
"""Powers of sums as products of powers."""
joined_powers = _checked(sp.powsimp, _check_operations)
"""Products of powers of one base as one power."""
without_common_factor = _checked(sp.factor_terms, _check_operations)
"""A sum with what divides each of its terms, as they are written, in front."""


def simplified(e: SymPy) -> SymPy:
    """What SymPy's many rules make of a short expression; a longer one as it is."""
    if e.count_ops() > MAX_SIMPLIFIED:
        return e
    spend(MAX_SIMPLIFIED * int(e.count_ops()))
    return sp.simplify(e)


def in_factors(e: SymPy) -> SymPy:
    """An expression over a common denominator, each sum in it as a product of irreducible factors."""
    found: list[SymPy] = []
    for factor in sp.Mul.make_args(one_fraction(e)):
        base, n = (factor.base, factor.exp) if factor.is_Pow else (factor, sp.Integer(1))
        if not base.is_Add:
            found.append(factor)
            continue
        whole, parts = _factors(base)
        if n.is_Integer:
            found += [whole**n, *(f ** (n * k) for f, k in parts)]
            continue
        rest = whole
        for f, k in parts:
            if f.is_positive:
                found.append(f ** (n * k))
            else:
                rest *= f**k
        found.append(rest**n)
    return sp.Mul(*found)


def _factors(e: SymPy) -> tuple[SymPy, list[tuple[SymPy, int]]]:
    """A number and the irreducible factors of a sum, in what SymPy takes for its letters; the sum itself if complex."""
    e = multiplied_out(e)
    if not e.is_Add:
        return e, []
    ring, element = sring(e)
    if not (ring.domain.is_ZZ or ring.domain.is_QQ):  # a derivative of (-1)^x has complex numbers
        return e, []
    polynomial: Polynomial = {}
    for exponents, c in element.terms():
        monomial = tuple((i, Fraction(n)) for i, n in enumerate(exponents) if n)
        polynomial[monomial] = Fraction(int(c.numerator), int(c.denominator))
    letters = [generator.as_expr() for generator in ring.gens]
    number, common, others = factored(polynomial)

    def written(p: Polynomial) -> SymPy:
        return sp.Add(*(rational(c) * sp.Mul(*(letters[i] ** int(n) for i, n in m)) for m, c in p.items()))

    parts = [(letters[i], int(n)) for i, n in common]
    parts += [(written(f), n) for f, n in others]
    return rational(number), parts


def low_roots(e: SymPy, x: SymPy) -> list[SymPy]:
    """The roots in x of an expression whose numerator is of degree 1 or 2 in it; none for others."""
    numerator = one_fraction(e).as_numer_denom()[0]
    coefficients = coefficients_in(numerator, x) if numerator.is_polynomial(x) else None
    if coefficients is None or not 2 <= len(coefficients) <= 3:
        return []
    *square, b, c = coefficients
    if not square:
        return [in_factors(-c / b)]
    a = square[0]
    middle, under = in_factors(-b / (2 * a)), in_factors((b**2 - 4 * a * c) / (4 * a**2))
    return [middle - sp.sqrt(under), middle + sp.sqrt(under)]


def coefficients_in(e: SymPy, x: SymPy) -> list[SymPy] | None:
    """The coefficients of a polynomial in x, that of the highest power first; None for what is none."""
    e = multiplied_out(e)
    return sp.Poly(e, x).all_coeffs() if e.is_polynomial(x) else None


_NOT_THIS_WAY = (
    TooLargeError, ValueError, NotImplementedError, TypeError, AttributeError, sp.PolynomialError, RecursionError,
)  # fmt: skip
"""What SymPy says where a method is not for an expression."""


def _is_high(e: SymPy, highest: int) -> bool:
    """Whether there are powers that SymPy's algorithms take ages for."""
    try:
        check_expansion(e)
    except TooLargeError:
        return True
    return any(p.exp.is_Rational and abs(p.exp) > highest for p in e.atoms(sp.Pow))


def may_be_summed(e: SymPy) -> bool:
    """Whether a summand is short enough for Gosper's algorithm."""
    return e.count_ops() <= MAX_SUMMED and not _is_high(e, MAX_POWER_SUMMED)


def _shifts_are_few(term: SymPy, index: SymPy) -> bool:
    """Whether Gosper's resultant of a term's numerator and its shifted denominator is short.

    It has about as many terms as the square of both degrees in the index, times the letters.
    """
    top, bottom = one_fraction(term).as_numer_denom()
    sums = [f for f in sp.Mul.make_args(bottom) if f.has(index) and f.as_base_exp()[0].is_Add]
    if not sums:
        return True
    near = [f for f in sp.Mul.make_args(top) if f.has(index) and f.is_polynomial(index)]
    both = size(sp.Mul(*sums)).degree + size(sp.Mul(*near)).degree
    letters = set().union(*(f.free_symbols for f in (*sums, *near)))
    return both**2 * len(letters) <= MAX_RESULTANT


def summed(term: SymPy, index: SymPy, first: SymPy, last: SymPy) -> SymPy | None:
    """A sum in closed form by Gosper's algorithm, as SymPy guesses it; None where there is none."""
    try:
        if not may_be_summed(term) or not _shifts_are_few(term, index):
            return None
        return gosper_sum(term, (index, first, last))
    except _NOT_THIS_WAY:
        return None


def check_integrand(e: SymPy) -> None:
    """Refuse what SymPy would take ages to integrate; `TooLargeError`."""
    if _is_high(e, MAX_POWER_INTEGRATED):
        raise TooLargeError("an integrand is too long, or the powers in it are too high")


def antiderivative(e: SymPy, x: SymPy) -> SymPy | None:
    """An antiderivative, as SymPy guesses it; None where there is none."""
    if e.count_ops() > MAX_INTEGRATED or _is_high(e, MAX_POWER_INTEGRATED):
        return None
    try:
        return manualintegrate(e, x)
    except _NOT_THIS_WAY:
        return None


def _signs_of_short_ones(guess: Callable[[SymPy], Any]) -> Callable[[SymPy], Any]:
    """SymPy's guess of a sum's sign, which looks for roots; it may answer None, and does where that is long."""

    @functools.wraps(guess)
    def answer(e: SymPy) -> Any:
        found = size(e)
        long = found.expanded > _SIGN_DEGREE or found.degree > _SIGN_DEGREE
        return None if long else guess(e)

    return answer


def _polynomials_of_short_ones(find: Callable[..., Any]) -> Callable[..., Any]:
    """The polynomial of a number; SymPy takes NotImplementedError for "not known"."""

    @functools.wraps(find)
    def answer(e: SymPy, *others: Any, **options: Any) -> Any:
        orders = (p.exp.q for p in e.atoms(sp.Pow) if p.exp.is_Rational)
        if math.prod(orders) > _NUMBER_DEGREE or size(e).degree > _SIGN_DEGREE:
            raise NotImplementedError("a number of high degree")
        return find(e, *others, **options)

    return answer


@contextmanager
def short_questions() -> Iterator[None]:
    """Let SymPy ask itself, while it builds expressions, only what is answered soon."""
    signs, polynomials = exprtools._monotonic_sign, numberfields.minimal_polynomial
    exprtools._monotonic_sign = _signs_of_short_ones(signs)
    numberfields.minimal_polynomial = _polynomials_of_short_ones(polynomials)
    try:
        yield
    finally:
        exprtools._monotonic_sign, numberfields.minimal_polynomial = signs, polynomials
