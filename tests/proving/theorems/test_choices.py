"""The checker's exact masses of what independent noises choose: beside closed forms, and beside quadrature."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import exp, prod

import numpy as np
import pytest

from dpverify.proving.checker.terms import Term, number, symbol, term
from dpverify.proving.checker.theorems import choices
from dpverify.proving.checker.theorems.choices import chance_of_all
from dpverify.proving.checker.theorems.lines import Line
from dpverify.proving.checker.values import PRECISIONS, Values

X, Y, Z, T = map(symbol, ("x0_0", "x0_1", "x0_2", "x1"))


def line(family: str, scale: str, at: str = "0") -> Line:
    return Line(family, number(Fraction(at)), number(Fraction(scale)))


def value(chance: Term) -> float:
    found = Values({}, PRECISIONS[0]).interval(chance)
    return float(Fraction(found.low, 1 << PRECISIONS[0]))


def above(one: Term, other: Term, by: str = "0") -> Term:
    return term("<=", term("add", other, number(Fraction(by))), one)


def test_two_noises_are_in_an_order_with_the_chance_of_their_difference() -> None:
    """The difference of two Laplace laws has the tail (1/2 + d/4) e^-d, that of two exponential ones e^-d / 2."""
    for d in ("0", "1/2", "3"):
        at = float(Fraction(d))
        laplace = value(chance_of_all([above(X, Y, d)], {"x0": line("laplace", "1")}))
        assert laplace == pytest.approx((1 / 2 + at / 4) * exp(-at), rel=1e-12)
        exponential = value(chance_of_all([above(X, Y, d)], {"x0": line("exponential", "1")}))
        assert exponential == pytest.approx(exp(-at) / 2, rel=1e-12)


def test_what_is_below_a_noisy_threshold_is_as_quadrature_has_it() -> None:
    """Three noises on a threshold's two sides, at their locations, and a further number beside them."""
    laws = {"x0": line("laplace", "2", "1/3"), "x1": line("laplace", "1/2", "-1")}
    facts = [term("<", X, T), term("not", term("<=", term("add", Y, number(1)), T)), above(Z, T, "1/4")]
    t = np.linspace(-30, 30, 600_001)
    density = np.exp(-abs(t + 1) * 2)

    def below(x: np.ndarray) -> np.ndarray:
        z = (x - 1 / 3) / 2
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)

    wanted = np.trapezoid(density * below(t) * (1 - below(t - 1)) * (1 - below(t + 1 / 4)), t)
    assert value(chance_of_all(facts, laws)) == pytest.approx(wanted, rel=1e-6)
    whole = [chance_of_all([*facts[:k], term("not", facts[k])], laws) for k in range(3)]
    assert sum(map(value, [chance_of_all(facts, laws), *whole])) == pytest.approx(1, abs=1e-12)


def test_a_cut_at_the_location_halves() -> None:
    for law, half in ((line("laplace", "1", "2"), 0.5), (line("exponential", "1", "2"), 0.0)):
        assert value(chance_of_all([above(number(Fraction(2)), X)], {"x0": law})) == half


def test_what_has_no_number_in_common_is_refused() -> None:
    circle = [above(X, Y), above(Y, Z), above(Z, X, "1")]
    with pytest.raises(ValueError, match="in common"):
        chance_of_all(circle, {"x0": line("laplace", "1")})
    with pytest.raises(ValueError, match="other noises"):
        chance_of_all([above(X, Y)], {"x0": line("normal", "1")})
    with pytest.raises(ValueError, match="not linear"):
        chance_of_all([term("<=", term("mul", X, Y), number(1))], {"x0": line("laplace", "1")})


@pytest.mark.parametrize("family", ["laplace", "exponential"])
def test_many_candidates_with_scores_that_are_no_fractions(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of five, log(2) above three, and below sqrt(2): as quadrature has it; chances sum up to 1."""
    log, root = term("log", number(2)), term("pow", number(2), number(Fraction(1, 2)))
    laws = {"x0": Line(family, number(0), log)}
    noises = [symbol(f"x0_{k}") for k in range(5)]
    scores = [term("add", log, noises[0]), *noises[1:4], term("add", root, noises[4])]

    def chances() -> list[float]:
        return [value(chance_of_all([above(one, x) for x in scores if x is not one], laws)) for one in scores]

    x = np.linspace(-40, 40, 800_001)
    side = np.exp(-abs(x)) / (1 if family == "exponential" else 2)
    density = np.where(x < 0, 0 if family == "exponential" else side, side)

    def below(by: float) -> np.ndarray:
        z = x + by
        low = 0 if family == "exponential" else np.exp(np.minimum(z, 0)) / 2
        return np.where(z < 0, low, 1 - np.exp(-np.maximum(z, 0)) / (1 if family == "exponential" else 2))

    wanted = np.trapezoid(density * below(1) ** 3 * below(1 - 2**0.5 / np.log(2)), x)
    found = chances()
    assert found[0] == pytest.approx(wanted, rel=1e-5)
    assert found[1] == found[2] == found[3]
    assert sum(found) == pytest.approx(1, abs=1e-12)
    part = {"laplace": ("HALF", Fraction(99, 200)), "exponential": ("WHOLE", Fraction(99, 100))}[family]
    monkeypatch.setattr(choices, *part)
    assert chances()[0] != pytest.approx(wanted, rel=1e-3)


def test_numbers_in_an_unknown_order_and_scales_in_no_ratio_are_refused() -> None:
    third = term("pow", number(3), number(Fraction(1, 2)))
    with pytest.raises(ValueError, match="in no ratio"):
        chance_of_all([above(X, T)], {"x0": line("laplace", "1"), "x1": Line("laplace", number(0), third)})
    undefined = term("log", number(-1))
    with pytest.raises(ValueError, match="unknown order"):
        chance_of_all([term("<=", undefined, X)], {"x0": line("laplace", "1")})


@pytest.mark.parametrize("by", [1, 2])
def test_exponential_noise_selects_as_permute_and_flip_does(by: int) -> None:
    """Its chances, by coins with heads e^-(gap): p(r) sum over sets S of others of (-1)^|S| / (|S| + 1) prod p(s).

    McKenna and Sheldon (2020). With noise of half the scale, the chances are others.
    """
    scores = [number(Fraction(3)), number(Fraction(0)), term("log", number(7)), number(Fraction(3))]
    noisy = [term("add", q, symbol(f"x0_{k}")) for k, q in enumerate(scores)]
    laws = {"x0": Line("exponential", number(0), number(Fraction(1, by)))}
    heads = [exp(value(q) - 3) for q in scores]
    for k, one in enumerate(noisy):
        found = value(chance_of_all([above(one, x) for x in noisy if x is not one], laws))
        others = [p for i, p in enumerate(heads) if i != k]
        wanted = heads[k] * sum(
            (-1) ** size / (size + 1) * sum(map(prod, combinations(others, size))) for size in range(4)
        )
        assert (found == pytest.approx(wanted, rel=1e-12)) == (by == 1)
