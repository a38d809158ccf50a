"""The checker's guarantees between two laws: finite ones by their masses, lines of a family in closed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from dpverify.proving.checker.terms import Term, demand, number
from dpverify.proving.checker.theorems.lines import Line, half
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    ONE,
    TRUE,
    UNKNOWN,
    compared,
    demand_true,
    difference,
    logic,
    made,
)

Masses: TypeAlias = "list[tuple[Term, Term]]"
"""The masses that two laws give to each value."""
ORDERS = [number(Fraction(9, 8) ** k) for k in range(48)]
"""Renyi orders from 1 to 253."""


Laws: TypeAlias = "Masses | tuple[Line, Line]"


def distance(lines: tuple[Line, Line]) -> Term:
    """How many scales two laws of a family lie apart."""
    one, other = lines
    demand(one.family == other.family in ("normal", "laplace"), "laws of two families, or others")
    demand_true(compared("==", one.scale, other.scale), "laws of two scales")
    return made("mul", made("abs", difference(one.at, other.at)), made("pow", one.scale, number(-1)))


def dominated(masses: Masses) -> Term:
    """Whether a law has mass only where another has."""
    return logic("and", *(logic("or", compared("==", p, NO), compared("<", NO, q)) for p, q in masses))


def private(laws: Laws, epsilon: Term, delta: Term) -> Term:
    """Whether P(S) <= e^epsilon Q(S) + delta for all S: at the S where P is above e^epsilon Q, in density.

    For lines, S is a half line, and d is their distance: normal laws have
    P(S) - e^epsilon Q(S) = phi(d/2 - epsilon/d) - e^epsilon phi(-d/2 - epsilon/d); Laplace laws have
    1 - e^((epsilon - d)/2) where 0 <= epsilon <= d, and no such S has mass where d <= epsilon.
    """
    if not isinstance(laws, tuple):
        more = (term_above(p, made("mul", made("exp", epsilon), q)) for p, q in laws)
        return compared("<=", made("add", *more), delta)
    d = distance(laws)
    if laws[0].family == "laplace":
        demand_true(compared("<=", NO, epsilon), "a negative epsilon")
        reached = difference(ONE, made("exp", half(difference(epsilon, d))))
        return compared("<=", made("max", NO, reached), delta)
    if d is NO:
        return compared("<=", made("max", NO, difference(ONE, made("exp", epsilon))), delta)
    ratio = made("mul", epsilon, made("pow", d, number(-1)))
    ends = (made("phi", difference(side, ratio)) for side in (half(d), half(made("mul", number(-1), d))))
    above, below = ends
    return compared("<=", difference(above, made("mul", made("exp", epsilon), below)), delta)


def term_above(p: Term, q: Term) -> Term:
    """By how much a number is above another."""
    return made("max", NO, difference(p, q))


def renyi(laws: Laws, order: Term, bound: Term) -> Term:
    """Whether P is dominated by Q, with mean_Q (P/Q)^order <= exp((order - 1) bound); of lines, in closed form."""
    demand_true(compared("<", ONE, order), "an order that is not above 1")
    less = difference(order, ONE)
    if not isinstance(laws, tuple):
        inside = dominated(laws)
        kept = [(p, q) for p, q in laws if compared("==", q, NO) is not TRUE]
        powers = [made("mul", made("pow", p, order), made("pow", q, difference(ONE, order))) for p, q in kept]
        limit = made("exp", made("mul", less, bound))
        return logic("and", inside, compared("<=", made("add", *powers), limit))
    d = distance(laws)
    if laws[0].family == "normal":
        return compared("<=", half(made("mul", order, d, d)), bound)
    both = made("add", order, less)
    ends = [(order, made("mul", less, d)), (less, made("mul", number(-1), order, d))]
    moment = made("add", *(made("mul", w, made("pow", both, number(-1)), made("exp", u)) for w, u in ends))
    return compared("<=", moment, made("exp", made("mul", less, bound)))


def concentrated(laws: Laws, rho: Term) -> Term:
    """Whether `renyi` holds with rho * order for all orders above 1.

    Divergences grow with the order (van Erven and Harremoes 2014, Theorem 3) up to the largest log(P/Q): a bound at one
    order holds below it, and one of log(P/Q) at all orders.
    """
    if isinstance(laws, tuple):
        d = distance(laws)
        demand(laws[0].family == "normal", "concentration of these laws")
        return compared("<=", half(made("mul", d, d)), rho)
    if all(p is q for p, q in laws):
        return compared("<=", NO, rho)
    if any(renyi(laws, order, made("mul", order, rho)) is FALSE for order in ORDERS[1::6]):
        return FALSE
    for low, high in pairwise(ORDERS):
        top = made("exp", made("mul", low, rho))
        if logic("and", *(compared("<=", p, made("mul", top, q)) for p, q in laws)) is TRUE:
            return TRUE
        if renyi(laws, high, made("mul", low, rho)) is not TRUE:
            return UNKNOWN
    return UNKNOWN


def guarantee(head: str, laws: Laws, bounds: list[Term]) -> Term:
    """Whether one law is near another, as `private`, `renyi-private` or `concentrated` say."""
    if head == "private":
        return private(laws, *bounds)
    return renyi(laws, *bounds) if head == "renyi-private" else concentrated(laws, *bounds)
