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
EPSILONS = [number(Fraction(k, 16)) for k in range(97)]
"""From 0 to 6."""


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


def excess(laws: Laws, epsilon: Term | None, grown: Term) -> Term:
    """The largest P(S) - grown Q(S): at the S where P is above grown Q in density; grown is e^epsilon, where given.

    For lines, S is a half line, and d is their distance: normal laws have
    P(S) - e^epsilon Q(S) = phi(d/2 - epsilon/d) - e^epsilon phi(-d/2 - epsilon/d); Laplace laws have
    1 - e^((epsilon - d)/2) where 0 <= epsilon <= d, and no such S has mass where d <= epsilon.
    """
    if not isinstance(laws, tuple):
        return made("add", *(term_above(p, made("mul", grown, q)) for p, q in laws))
    d = distance(laws)
    if epsilon is None:
        demand_true(compared("<", NO, grown), "a multiple that is not positive")
        epsilon = made("log", grown)
    if laws[0].family == "laplace":
        demand_true(compared("<=", NO, epsilon), "a negative epsilon")
        return term_above(ONE, made("exp", half(difference(epsilon, d))))
    if d is NO:
        return term_above(ONE, grown)
    ratio = made("mul", epsilon, made("pow", d, number(-1)))
    ends = (made("phi", difference(side, ratio)) for side in (half(d), half(made("mul", number(-1), d))))
    above, below = ends
    return difference(above, made("mul", grown, below))


def term_above(p: Term, q: Term) -> Term:
    """By how much a number is above another."""
    return made("max", NO, difference(p, q))


def renyi(laws: Laws, order: Term, bound: Term) -> Term:
    """Whether P is dominated by Q, with mean_Q (P/Q)^order <= exp((order - 1) bound); of lines, in closed form."""
    demand_true(compared("<", ONE, order), "an order that is not above 1")
    if isinstance(laws, tuple) and laws[0].family == "normal":
        return compared("<=", divergence(laws, order), bound)
    near = TRUE if isinstance(laws, tuple) else dominated(laws)
    limit = made("exp", made("mul", difference(order, ONE), bound))
    return logic("and", near, compared("<=", moment(laws, order), limit))


def moment(masses: Laws, order: Term) -> Term:
    """The mean by Q of (P/Q)^order; of Laplace laws, in closed form."""
    if isinstance(masses, tuple):
        d, less = distance(masses), difference(order, ONE)
        demand(masses[0].family == "laplace", "a moment of these laws")
        share = made("pow", made("add", order, less), number(-1))
        ends = [(order, made("mul", less, d)), (less, made("mul", number(-1), order, d))]
        return made("add", *(made("mul", w, share, made("exp", u)) for w, u in ends))
    kept = [(p, q) for p, q in masses if compared("==", q, NO) is not TRUE]
    return made(
        "add", *(made("mul", made("pow", p, order), made("pow", q, difference(ONE, order))) for p, q in kept)
    )


def divergence(laws: Laws, order: Term) -> Term:
    """The Renyi divergence; of order 1, that of Kullback and Leibler. Refused unless it is seen to have a value."""
    if isinstance(laws, tuple) and laws[0].family == "normal":
        d = distance(laws)
        demand_true(compared("<=", ONE, order), "an order below 1")
        return half(made("mul", order, d, d))
    if not isinstance(laws, tuple):
        demand_true(dominated(laws), "laws of which one is not seen to have a density by the other")
    if not isinstance(laws, tuple) and compared("==", order, ONE) is TRUE:
        kept = [(p, q) for p, q in laws if compared("==", p, NO) is not TRUE]
        logs = (made("log", made("mul", p, made("pow", q, number(-1)))) for p, q in kept)
        return made("add", *(made("mul", p, log) for (p, _), log in zip(kept, logs, strict=True)))
    demand_true(compared("<", ONE, order), "an order that is not above 1")
    return made("mul", made("log", moment(laws, order)), made("pow", difference(order, ONE), number(-1)))


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


def gaussian(laws: Laws, mu: Term) -> Term:
    """Whether no P(S) - e^epsilon Q(S) with epsilon >= 0 is above that of normal laws mu standard deviations apart.

    Both sides fall with epsilon, and the first is 0 from the largest log(P/Q) on: where it is below the other's value
    at the end of an interval, it is below it within.
    """
    if isinstance(laws, tuple):
        d = distance(laws)
        demand(laws[0].family == "normal", "Gaussian privacy of these laws")
        return compared("<=", d, mu)
    if all(p is q for p, q in laws):
        return compared("<=", NO, mu)
    demand_true(compared("<", NO, mu), "laws that are normal and the same")
    lines = Line("normal", mu, ONE), Line("normal", NO, ONE)
    for low, high in pairwise(EPSILONS):
        grown = made("exp", low)
        reached = excess(laws, low, grown)
        if compared("<=", reached, excess(lines, low, grown)) is FALSE:
            return FALSE
        if logic("and", *(compared("<=", p, made("mul", grown, q)) for p, q in laws)) is TRUE:
            return TRUE
        if compared("<=", reached, excess(lines, high, made("exp", high))) is not TRUE:
            return UNKNOWN
    return UNKNOWN


def guarantee(head: str, laws: Laws, given: list[Term]) -> Term:
    """Whether one law is near another (`private`, `renyi-private`, `concentrated`, `gaussian`), or how far it is."""
    if head == "private":
        epsilon, delta = given
        return compared("<=", excess(laws, epsilon, made("exp", epsilon)), delta)
    if head == "renyi-private":
        order, bound = given
        return renyi(laws, order, bound)
    (one,) = given
    if head == "excess":
        return excess(laws, None, one)
    return {"divergence": divergence, "concentrated": concentrated, "gaussian": gaussian}[head](laws, one)
