"""gll22, Proposition 3.3: privacy curves and trade-off functions say the same, tried on densities in three steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpverify.formulas.expressions import Expression, Variable, expression, real
from dpverify.formulas.logic import Compare, ForAll, Formula, Ge, Implies, Le, all_of
from dpverify.formulas.operators import maximum
from dpverify.statements.sheet import EDGE, Sheet

# P uniform on [0, 1]; Q has constant density on each of three steps, largest first, so the mass that Q gives to
# [0, x] is the most that an event of P-mass x can have
_ENDS = (Fraction(1, 4), Fraction(1, 2))
_masses = tuple(
    real(f"G{i}", ge=0, le=1, latex=f"G_{i}", meaning=f"Q-mass of [0, {e}]", stands_for="number")
    for i, e in enumerate(_ENDS, 1)
)
_others = tuple(
    real(f"H{i}", ge=0, le=1, latex=f"H_{i}", meaning=f"Q'-mass of [0, {e}]", stands_for="number")
    for i, e in enumerate(_ENDS, 1)
)
_growth = real("E", ge=1, meaning="exp(epsilon), epsilon >= 0", latex=r"e^\varepsilon", stands_for="number")
_any_growth = real(
    "E", gt=0, meaning="exp(epsilon), any real epsilon", latex=r"e^\varepsilon", stands_for="number"
)


def _curve(heights: Sequence[Variable], factor: Variable) -> Expression:
    first, second = heights
    ends = map(expression, _ENDS)
    return maximum(
        0, *(height - factor * end for height, end in zip((first, second), ends, strict=True)), 1 - factor
    )


def _descending(heights: Sequence[Variable]) -> tuple[Compare, ...]:
    """The densities on the three steps, from largest to smallest."""
    first, second = heights
    one, two = _ENDS
    return (
        Ge(first / one, (second - first) / (two - one)),
        Ge((second - first) / (two - one), (1 - second) / (1 - two)),
    )


def _smaller_curve(factor: Variable, *, exchanged: bool = False) -> Formula:
    left, right = _curve(_masses, factor), _curve(_others, factor)
    return ForAll(factor, Le(right, left) if exchanged else Le(left, right))


_LARGER_TRADEOFF = all_of(*(Le(g, h) for g, h in zip(_masses, _others, strict=True)))
_AROUND: dict[str, Any] = {
    "given": (*_descending(_masses), *_descending(_others)),
    "case": "P = P' uniform on [0, 1], Q and Q' with densities constant on [0, 1/4], [1/4, 1/2], [1/2, 1]",
    "units": False,
}

_curves = tuple(
    real(name, ge=0, le=1, latex=latex)
    for name, latex in (("delta", r"\delta(P\|Q)"), ("delta2", r"\delta(P^{\prime}\|Q^{\prime})"))
)
_trade_offs = tuple(
    real(name, ge=0, le=1, latex=latex)
    for name, latex in (("T", r"T(P\|Q)"), ("T2", r"T(P^{\prime}\|Q^{\prime})"))
)
_z = real("z", ge=0, le=1, meaning="the P-mass of an event")
_E_Z = r"e^\varepsilon z"
_BEST_EVENT = (
    rf"{_curves[0].latex}=1-({_trade_offs[0].latex})-{_E_Z}, "
    rf"{_curves[1].latex}\ge 1-({_trade_offs[1].latex})-{_E_Z}"
)
_BEST_SLOPE = (
    rf"{_trade_offs[1].latex}=1-({_curves[1].latex})-{_E_Z}, {_trade_offs[0].latex}\ge 1-({_curves[0].latex})-{_E_Z}, "
    rf"{_curves[0].latex}\ge 1-e^\varepsilon, {_curves[1].latex}\ge 1-e^\varepsilon, {_trade_offs[0].latex}\le 1-z"
)
_SMALLER = rf"{_curves[0].latex}\leq {_curves[1].latex}"
_LARGER = rf"{_trade_offs[0].latex}\geq {_trade_offs[1].latex}"

prop3_3 = (
    Sheet(
        "gll22.prop3.3", (*_masses, *_others),
        title="Duality of privacy curve and trade-off function", where="Proposition 3.3",
        latex=r"\delta(P\|Q)\le\delta(P'\|Q')\text{ iff }T(P\|Q)\ge T(P'\|Q')",
        pairs=("gll22.eq9", "gll22.eq10", "gll22.thm2.1"),
    )
    .whole("larger-trade-off", _SMALLER, given=rf"{_BEST_EVENT}, {_LARGER}",
           added=(*_curves, *_trade_offs, _z, _growth), units=False,
           where="Proposition 3.3, if: the curve is the largest of Q(E) - exp(epsilon) P(E), and an event of P-mass z "
                 "has at most the Q-mass 1 - T(z), its complement being among the events of P-mass 1 - z; here the "
                 "best one")
    .whole("smaller-curve", _LARGER, given=rf"{_BEST_SLOPE}, (e^\varepsilon\ge 1\implies {_SMALLER})",
           added=(*_curves, *_trade_offs, _z, _any_growth), units=False,
           where="Proposition 3.3, only if, with the curve of Definition 3.1: T'(z) is the largest of 1 - delta' - "
                 "exp(epsilon) z over all real epsilon, since it is convex; here the best one; no event "
                 "is less than the whole space to either curve",
           true_if="with the curve for every real epsilon")
    .corrected("smaller-curve", _LARGER, given=rf"{_BEST_SLOPE}, {_SMALLER}",
               added=(*_curves, *_trade_offs, _z, _any_growth), units=False,
               where="Proposition 3.3, only if, with every real epsilon: at the best one for T'(z)")
    .instance("if", Implies(_LARGER_TRADEOFF, _smaller_curve(_growth)), where="Proposition 3.3, if",
              catches=("the curves are exchanged", Implies(_LARGER_TRADEOFF, _smaller_curve(_growth, exchanged=True))),
              **_AROUND)
    .instance("only-if", Implies(_smaller_curve(_growth), _LARGER_TRADEOFF),
              where="Proposition 3.3, only if, with the curve of Definition 3.1: a function of epsilon >= 0",
              consequence=EDGE, true_if="with the curve for every real epsilon", **_AROUND)
    .corrected("only-if", Implies(_smaller_curve(_any_growth), _LARGER_TRADEOFF),
               where="Proposition 3.3, only if, with every real epsilon",
               because="Definition 3.1 gives the curve for epsilon >= 0 only, which says nothing about events that Q "
                       "makes less likely; with every real epsilon the two orders agree",
               catches=("the curve is known for epsilon >= 0 only",
                        Implies(_smaller_curve(_growth), _LARGER_TRADEOFF)),
               **_AROUND)
    .corrected("if", Implies(_LARGER_TRADEOFF, _smaller_curve(_any_growth)),
               where="Proposition 3.3, if, with every real epsilon",
               catches=("the curves are exchanged",
                        Implies(_LARGER_TRADEOFF, _smaller_curve(_any_growth, exchanged=True))),
               **_AROUND)
    .correction(latex=r"\delta(P\|Q)\le\delta(P'\|Q')\text{ on }\mathbb{R}\text{ iff }T(P\|Q)\ge T(P'\|Q')")
)  # fmt: skip
