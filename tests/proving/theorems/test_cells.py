"""Models whose laws are seen through cells: closed forms, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from scipy.integrate import quad

from dpverify.privacy.gaussian import gaussian_hockey_stick
from dpverify.proving.checker.terms import number, symbol, term
from dpverify.proving.checker.theorems.cells import holds
from dpverify.proving.checker.theorems.language import nodes
from dpverify.proving.checker.theorems.lines import Line, chance, mean
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.checker.theorems.numbers import NO, ONE, made
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.finite_models import FloatModel
from dpverify.proving.theorems.noises import NORMAL as STANDARD
from dpverify.proving.theorems.noises import FloatLine, mixed
from dpverify.proving.theorems.search import Effort, find_model
from dpverify.proving.theorems.spreads import after, each_noise, lines_of, margin, needed, outputs, sights
from dpverify.statements.mechanisms.pairs.breaking import bounds_of

Y = ["y", "real"]
LAPLACE = ["laplace", ["of", "f", ["sym", "D"]], ["num", "1"]]
NORMAL = ["normal", ["of", "f", ["sym", "D"]], ["num", "1"]]


def then(law: Any, made: Any) -> Any:
    return ["then", Y, law, ["certain", made]]


def second(law: Any, *, at: Any = ("of", "f", ("sym", "D"))) -> Any:
    """(y, z), where z is drawn around a number."""
    pair = ["certain", ["pair", ["sym", "y"], ["sym", "z"]]]
    return [
        "then",
        Y,
        LAPLACE if law == "laplace" else NORMAL,
        ["then", ["z", "real"], [law, at, ["num", "1"]], pair],
    ]


def lists(node: Any) -> Any:
    return [*map(lists, node)] if isinstance(node, list | tuple) else node


def refutes(
    law: Any, guarantee: list[Any], along: list[list[str]], cuts: list[list[str]], to: str = "1"
) -> bool:
    """Whether a guarantee is refuted where f is 0 on one data set, and a number on its neighbor."""
    head, *numbers = guarantee
    claim = [head, ["D", "Data"], law, *(["num", one] if isinstance(one, str) else one for one in numbers)]
    body = ["all", [["f", ["Data"], "real"]], [], claim]
    clause = Clause.read({"types": [["Data", "data"]], "body": lists(body)})
    model = {
        "types": {"Data": 2}, "neighbors": {"Data": [[0, 1], [1, 0]]}, "letters": [["0", to]],
        "cells": {"along": along, "cuts": cuts},
    }  # fmt: skip
    try:
        show(clause, model, refute=True)
    except ValueError as error:
        if "the claim is not seen to be false" not in str(error):
            raise
        return False
    return True


ROOT = ["add", ["of", "f", ["sym", "D"]], ["sym", "y"]]
MIXED = ["mixture", ["num", "1/10"], NORMAL, ["normal", ["num", "0"], ["num", "1"]]]
OUTPUT, BOTH, HALF = [["1"]], [["1", "0"], ["0", "1"]], math.exp(-0.5)
SEEN: list[tuple[Any, list[list[str]], list[list[str]], float]] = [
    # at epsilon 1/2: law, cells, and the delta that is seen through them
    (then(LAPLACE, ["max", ["sym", "y"], ["num", "0"]]), OUTPUT, [["1/4"]], 1 - math.exp(-0.25)),
    (
        then(LAPLACE, ["indicator", ["<=", ["sym", "y"], ["num", "1/4"]]]),
        OUTPUT,
        [["1/2"]],
        1 - math.exp(-0.25),
    ),
    (
        then(LAPLACE, ["max", ["sym", "y"], ["num", "1"]]),
        OUTPUT,
        [["1.0000000001"]],
        0.5 - HALF / 2,
    ),
    (
        then(NORMAL, ["add", ["sym", "y"], ["sym", "y"]]),
        OUTPUT,
        [["0"]],
        0.5 - math.exp(0.5) * 0.15865525393145705,
    ),
    (second("laplace"), BOTH, [["0"], ["0"]], (1 - math.exp(-1) / 2) ** 2 - math.exp(0.5) / 4),
    (
        second("laplace", at=ROOT),
        [["1", "0"], ["-1", "1"]],
        [["0"], ["0"]],
        (1 - math.exp(-1) / 2) ** 2 - math.exp(0.5) / 4,
    ),
    (MIXED, OUTPUT, [["1"]], 0.0),
]


@pytest.mark.parametrize(("law", "along", "cuts", "delta"), SEEN)
def test_deltas_are_those_of_the_cells(
    law: Any, along: list[list[str]], cuts: list[list[str]], delta: float
) -> None:
    """A delta a little below is refuted, one a little above is not."""
    assert not refutes(law, ["private", "1/2", f"{delta + 1e-9:.12f}"], along, cuts)
    if delta:
        assert refutes(law, ["private", "1/2", f"{delta - 1e-9:.12f}"], along, cuts)


def test_a_mixture_is_seen_through_cells() -> None:
    """The chance above 1 is 0.9 of 0.1587 and 0.1 of 0.5, in place of 0.1587."""
    more = 0.1 * (0.5 - 0.15865525393145705) - 0.1 * 0.15865525393145705
    assert refutes(MIXED, ["private", "0.0953", f"{more - 1e-3:.6f}"], OUTPUT, [["1"]])
    assert not refutes(MIXED, ["private", "0.0954", f"{more + 1e-3:.6f}"], OUTPUT, [["1"]])


def test_sums_that_are_not_cut_keep_closed_forms() -> None:
    """Two normal numbers, of which the second is around the first: one at a distance of the root of 2."""
    along = [["0", "1"]]
    law = second("normal", at=ROOT)
    assert refutes(law, ["gaussian", "1.414213"], along, [[]], to="1")
    assert not refutes(law, ["gaussian", "1.414214"], along, [[]], to="1")
    assert refutes(law, ["concentrated", "0.99999"], along, [[]])
    assert not refutes(law, ["concentrated", "1.00001"], along, [[]])
    # Laplace noise of one scale: the divergence of order 2 has a closed form
    mean = math.log(2 / 3 * math.e + math.exp(-2) / 3)
    assert refutes(LAPLACE, ["renyi-private", "2", f"{mean - 1e-9:.12f}"], OUTPUT, [[]])
    assert not refutes(LAPLACE, ["renyi-private", "2", f"{mean + 1e-9:.12f}"], OUTPUT, [[]])


def test_a_wider_law_is_above_each_multiple_of_another_far_out() -> None:
    """But 1/0 is no bound that is too small."""
    wider = ["laplace", ["num", "0"], ["add", ["num", "1"], ["of", "f", ["sym", "D"]]]]
    assert refutes(wider, ["private", "9", "0"], OUTPUT, [["20"]])
    assert not refutes(wider, ["private", "10", "0"], OUTPUT, [["10"]])
    nothing = ["pow", ["num", "0"], ["num", "-1"]]
    assert not refutes(wider, ["private", nothing, "0"], OUTPUT, [["20"]])


@pytest.mark.parametrize("made", [["mul", ["sym", "y"], ["sym", "y"]], ["max", ["sym", "y"], ["num", "0"]]])
def test_laws_of_made_numbers_are_not_taken_for_numbers(made: Any) -> None:
    """A function of noise is not the same on two data sets because it is written in the same way."""
    premise = ["private", ["D", "Data"], then(LAPLACE, made), ["num", "0"], ["num", "0"]]
    body = ["all", [["f", ["Data"], "real"]], [premise], ["<=", ["num", "0"], ["num", "0"]]]
    clause = Clause.read({"types": [["Data", "data"]], "body": lists(body)})
    model = {"types": {"Data": 2}, "neighbors": {"Data": [[0, 1], [1, 0]]}, "letters": [["0", "1"]]}
    with pytest.raises(ValueError, match="what is assumed is not seen to be true"):
        show(clause, model, refute=False)


def test_mixtures_are_equal_if_all_of_their_parts_are() -> None:
    """Another weight, or another part: not seen to be equal."""
    other = ["mixture", ["num", "1/5"], *MIXED[2:]]
    for law, same in ((MIXED, True), (other, False), ([*MIXED[:3], NORMAL], False)):
        premise = ["all", [["D", [], "Data"]], [], ["==", MIXED, law]]
        body = ["all", [["f", ["Data"], "real"]], [premise], ["<=", ["num", "0"], ["num", "0"]]]
        clause = Clause.read({"types": [["Data", "data"]], "body": lists(body)})
        model = {"types": {"Data": 2}, "neighbors": {"Data": [[0, 1], [1, 0]]}, "letters": [["0", "1"]]}
        with nullcontext() if same else pytest.raises(ValueError, match="not seen to be true"):
            show(clause, model, refute=False)


UNSEEN: list[tuple[Any, list[list[str]], list[list[str]]]] = [
    (second("laplace", at=ROOT), BOTH, [["0"], ["0"]]),  # not independent
    (second("laplace"), [["1", "1"]], [["0"]]),  # a sum of Laplace noises has no law of a family
    (second("laplace"), [["1", "0"], ["1", "0"]], [["0"], ["0"]]),  # the same noise twice
    (LAPLACE, [["0"]], [["0"]]),  # nothing of the output
    (LAPLACE, [["1", "1"]], [["0"]]),  # two outputs where there is one
    (second("laplace", at=["mul", ["sym", "y"], ["sym", "y"]]), BOTH, [["0"], ["0"]]),  # not linear
]


@pytest.mark.parametrize(("law", "along", "cuts"), UNSEEN)
def test_what_is_not_certain_shows_nothing(law: Any, along: list[list[str]], cuts: list[list[str]]) -> None:
    assert not refutes(law, ["private", "1/1000", "0"], along, cuts, to="5") or law is LAPLACE


@pytest.mark.parametrize("cells", [
    {"along": [["1"]], "cuts": [["1", "0"]]}, {"along": [["1"]], "cuts": [["0"], ["0"]]}, {"along": [], "cuts": []},
    {"along": [["1"]]}, {"along": [["1"]], "cuts": [["x"]]}, {"along": [["1"]], "cuts": [["0", "0"]]},
    {"along": [["1"]] * 3, "cuts": [[str(k) for k in range(16)]] * 3},
])  # fmt: skip
def test_other_cells_are_refused(cells: Any) -> None:
    with pytest.raises((ValueError, KeyError)):
        refutes(LAPLACE, ["private", "0", "0"], cells["along"], cells["cuts"])


F, MINUS = ["of", "f", ["sym", "D"]], ["mul", ["num", "-1"], ["of", "f", ["sym", "E"]]]
WIDER = ["laplace", ["num", "0"], ["add", ["num", "1"], ["abs", F]]]
CLAIMS: list[tuple[Any, list[str], list[str] | None]] = [
    # law, a guarantee that fails where f of neighbors differs by 1, and one that holds (none, if none does)
    (second("laplace"), ["private", "9/5", "0"], ["private", "2", "0"]),
    (second("laplace"), ["private", "1", "1/8"], ["private", "1", "1/4"]),
    (second("laplace", at=ROOT), ["private", "9/5", "0"], ["private", "2", "0"]),
    (second("normal", at=ROOT), ["concentrated", "9/10"], ["concentrated", "1"]),
    (second("normal"), ["gaussian", "7/5"], ["gaussian", "3/2"]),
    (second("normal"), ["private", "1", "1/4"], ["private", "2", "1/4"]),
    (then(NORMAL, ["max", ["sym", "y"], ["num", "0"]]), ["private", "1/2", "1/8"], ["private", "1/2", "1/4"]),
    (MIXED, ["private", "0", "1/100"], ["private", "0", "1/16"]),
    (WIDER, ["private", "4", "0"], None),
    (["exponential", ["add", ["num", "1"], ["abs", F]]], ["private", "4", "0"], None),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("law", "false", "true"), CLAIMS)
def test_a_search_finds_cells_where_a_claim_needs_them(
    law: Any, false: list[str], true: list[str] | None
) -> None:
    """M is of two draws, of a mixture, of a function of noise, or of noise of a wider scale."""

    def searched(guarantee: list[str], margins: int) -> Any:
        head, *numbers = guarantee
        near = [
            "implies",
            ["neighbors", ["sym", "D"], ["sym", "E"]],
            ["<=", ["abs", ["add", F, MINUS]], ["num", "1"]],
        ]
        letters = [["D", [], "Data"], ["E", [], "Data"]]
        law_of = ["==", ["of", "M", ["sym", "D"]], law]
        premises = [["all", letters, [], near], ["all", letters[:1], [], law_of]]
        kind = ["law", ["pair", "real", "real"] if law[-1][0] == "then" else "real"]
        claim = [head, ["D", "Data"], ["of", "M", ["sym", "D"]], *(["num", one] for one in numbers)]
        body = ["all", [["f", ["Data"], "real"], ["M", ["Data"], kind]], premises, claim]
        clause = Clause.read({"types": [["Data", "data"]], "body": lists(body)})
        found = find_model(clause, refute=True, effort=Effort(margins=margins)).model
        if found is not None:
            show(clause, found, refute=True)
        return found

    found = searched(false, 2000)
    assert found is not None
    assert found["cells"]
    assert true is None or searched(true, 100) is None


def in_floats(law: Any) -> Any:
    """A law in floating point, where f is 2, and P is drawn by a law of its own."""
    model = FloatModel({"Data": 1}, {})
    own = model.code(nodes(lists(then(NORMAL, ["pair", ["sym", "y"], ["mul", ["sym", "y"], ["num", "3"]]]))))
    env: dict[str, Any] = {"f": lambda _: 2.0, "D": 0}
    return model.code(nodes(lists(law)))({**env, "P": own(env), "N": FloatLine("normal", 1.0, 2.0)})


def drawn_twice(name: str, made: Any) -> Any:
    law, kind = ["sym", name], "real" if name == "N" else ["pair", "real", "real"]
    return ["then", ["u", kind], law, ["then", ["v", kind], law, ["certain", made]]]


def test_laws_in_floating_point_are_those_of_the_checker() -> None:
    """Sums of noises by their location and scale; each draw is another noise, also from one law."""
    both = in_floats(second("laplace", at=ROOT))
    lines = [
        [(p, one.family, one.at, one.scale) for p, one in row] for row in lines_of(both, each_noise(both))
    ]
    assert lines == [[(1.0, "laplace", 2.0, 1.0)], [(1.0, "laplace", 2.0, 1.0)]]
    assert in_floats(drawn_twice("N", ["add", ["sym", "u"], ["sym", "v"]])) == FloatLine(
        "normal", 2.0, 8**0.5
    )
    twice = in_floats(drawn_twice("P", ["pair", ["sym", "u"], ["sym", "v"]]))
    ((value,),) = ([*map(tuple, map(outputs, twice.masses))],)
    assert [one.start for one in value] == [2.0, 6.0, 2.0, 6.0]
    assert [len({*map(tuple, (value[i].slopes, value[j].slopes))}) for i, j in ((0, 1), (2, 3), (0, 2))] == [
        1,
        1,
        2,
    ]
    with pytest.raises(ValueError, match="not as many outputs"):
        each_noise(twice)


@pytest.mark.parametrize("made", [
    ["indicator", ["<=", ["sym", "y"], ["num", "2"]]], ["max", ["sym", "y"], ["num", "2"]], ["floor", ["sym", "y"]],
    ["indicator", ["not", ["and", ["<", ["num", "2"], ["sym", "y"]], ["<", ["num", "0"], ["num", "1"]]]]],
])  # fmt: skip
def test_functions_that_are_not_linear_are_kept(made: Any) -> None:
    """No comparison with noise is taken for true or false."""
    law = in_floats(then(LAPLACE, made))
    found = after(law)
    assert (found(1.5), found(4.0)) in {(1.0, 0.0), (2.0, 4.0), (1.0, 4.0)}


def test_two_laws_of_a_function_of_noise_are_cut_at_the_same_numbers() -> None:
    """Clipped to [0, 1], around -2 and -1: largest where all that is above 1 is 1."""
    clip = ["min", ["max", ["sym", "y"], ["num", "0"]], ["num", "1"]]
    model = FloatModel({"Data": 1}, {})
    for noise, far in ((LAPLACE, 1.0), (NORMAL, math.log(STANDARD.cdf(-2) / STANDARD.cdf(-3)))):
        law = model.code(nodes(lists(then(noise, clip))))
        one, other = (law({"f": lambda _, at=at: at, "D": 0}) for at in (-1.0, -2.0))
        assert needed("private", one, other, [0.0, 0.0]) == pytest.approx(far, abs=0.1)
        assert needed("private", one, one, [0.0, 0.0]) == 0


def test_a_function_that_depends_on_records_is_each_law_s_own() -> None:
    """Whether y is at least -f, for y around f: 0 has the probability 1/2 where f is 0, and e^-2/2 where it is 1."""
    made = ["indicator", ["<=", ["mul", ["num", "-1"], ["of", "f", ["sym", "D"]]], ["sym", "y"]]]
    law = FloatModel({"Data": 1}, {}).code(nodes(lists(then(LAPLACE, made))))
    one, other = (law({"f": lambda _, at=at: at, "D": 0}) for at in (0.0, 1.0))
    assert needed("private", one, other, [0.0, 0.0]) == pytest.approx(2, rel=1e-6)


def test_a_function_of_a_mixture_is_a_mixture() -> None:
    """Whether y is positive, around 0 or, as often, around f: half of 1/2 and half of e^-1/2 where f is -1."""
    made = ["indicator", ["<", ["num", "0"], ["sym", "y"]]]
    law = FloatModel({"Data": 1}, {}).code(nodes(lists(then(LAPLACE, made))))
    zero, less = (law({"f": lambda _, at=at: at, "D": 0}) for at in (0.0, -1.0))
    both = mixed([0.5, 0.5], [zero, less])
    assert needed("private", zero, both, [0.0, 0.0]) == pytest.approx(
        math.log(2 / (1 + math.exp(-1))), rel=1e-6
    )
    assert needed("private", zero, zero, [0.0, 0.0]) == 0


def test_beside_other_noise_normal_noise_is_looked_at_alone() -> None:
    """Far out it tells any two locations apart, so that no pure claim holds, whatever the other noise hides."""
    pair = ["certain", ["pair", ["sym", "y"], ["sym", "z"]]]
    law = FloatModel({"Data": 1}, {}).code(
        nodes(lists(["then", Y, LAPLACE, ["then", ["z", "real"], NORMAL, pair]]))
    )
    one, other = (law({"f": lambda _, at=at: at, "D": 0}) for at in (0.0, 1.0))
    assert [sight.along for sight in sights(one, other)] == [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]]]


def test_few_values_beside_noise_are_cases() -> None:
    """The law of (1[0 < y], z) is a mixture, of which one sum tells all; so it is with the draws turned around."""
    sign = ["indicator", ["<", ["num", "0"], ["sym", "y"]]]
    pair = ["certain", ["pair", sign, ["sym", "z"]]]
    draws = [["then", Y, LAPLACE], ["then", ["z", "real"], LAPLACE]]
    for first, last in (draws, draws[::-1]):
        law = FloatModel({"Data": 1}, {}).code(nodes(lists([*first, [*last, pair]])))
        one, other = (law({"f": lambda _, at=at: at, "D": 0}) for at in (0.0, 1.0))
        assert [*one.masses.values()] == pytest.approx([0.5, 0.5])
        assert sorted(other.masses.values()) == pytest.approx([math.exp(-1) / 2, 1 - math.exp(-1) / 2])
        assert sights(one, other)[-1].along == [[200.0, 1.0]]
        wanted = 1 + math.log(0.5 / (math.exp(-1) / 2))
        assert needed("private", one, other, [0.0, 0.0]) == pytest.approx(wanted, abs=1e-6)
        assert needed("private", one, one, [0.0, 0.0]) == pytest.approx(0, abs=1e-9)
    whole = lists([*draws[0], [*draws[1], pair]])
    for epsilon, far in (("19/10", True), ("2", False)):
        assert refutes(whole, ["private", epsilon, "0"], [["200", "1"]], [["0", "100", "200"]]) == far
    many = ["certain", ["pair", ["floor", ["sym", "y"]], ["sym", "z"]]]
    with pytest.raises(ValueError, match="many laws"):
        FloatModel({"Data": 1}, {}).code(nodes(lists([*draws[0], [*draws[1], many]])))(
            {"f": lambda _: 0.0, "D": 0}
        )


def test_distances_in_floating_point_are_right() -> None:
    """Against closed forms: a mixture of normal laws, two Laplace draws, a wider law, a uniform one."""
    one, other = FloatLine("normal", 0.0, 1.0), FloatLine("normal", 1.0, 1.0)
    mixture = mixed([0.1, 0.9], [other, one])
    (sight,) = sights(mixture, one)
    total = 0.1 * (2 * STANDARD.cdf(0.5) - 1)
    assert sight.excess(0.0) == pytest.approx(total, rel=1e-3)
    assert sight.divergence(2) == pytest.approx(math.log(0.81 + 0.18 + 0.01 * math.e), rel=1e-2)
    (wide,) = sights(FloatLine("laplace", 0.0, 2.0), FloatLine("laplace", 0.0, 1.0))
    assert wide.ratio() > 9
    assert (
        needed("private", FloatLine("uniform", 0.0, 1.0), FloatLine("uniform", 0.5, 1.0), [0.0, 0.0])
        == math.inf
    )
    assert margin("private", FloatLine("uniform", 0.0, 1.0), FloatLine("uniform", 0.5, 1.0), [1.0, 0.25]) < 0
    assert margin("private", one, other, [1.0, gaussian_hockey_stick(1.0, 1.0)]) == pytest.approx(0, abs=1e-9)


def test_chances_of_rounded_numbers_and_of_exponentials() -> None:
    """Of a Laplace law around 0 of scale 1; where a comparison changes, and on which side, differs between them."""
    x, law = symbol("x"), Line("laplace", NO, ONE)
    floor, power, half = made("floor", x), made("exp", x), Fraction(1, 2)

    def below(end: float) -> float:
        return 1 - math.exp(-end) / 2

    for f, wanted in (
        (term("<", floor, number(2)), below(2)),
        (term("<=", floor, number(2)), below(3)),
        (term("<", floor, number(2 + half)), below(3)),
        (term("<=", number(2), floor), 1 - below(2)),
        (term("<", number(2), floor), 1 - below(3)),
        (term("==", floor, number(2)), below(3) - below(2)),
        (term("==", floor, number(half)), 0),
        (term("<", power, number(2)), below(math.log(2))),
        (term("<=", number(2), power), 1 - below(math.log(2))),
    ):
        found = chance(law, "x", f, partial(holds, f, "x"))
        assert float(bounds_of(found)[0]) == pytest.approx(wanted, abs=1e-12), f
    twice = term("<=", made("add", floor, x), number(2))
    with pytest.raises(ValueError, match=r"."):
        chance(law, "x", twice, partial(holds, twice, "x"))


DENSITIES: dict[str, tuple[Callable[[float], float], tuple[float, float]]] = {
    "normal": (lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi), (-14, 14)),
    "laplace": (lambda z: math.exp(-abs(z)) / 2, (-90, 90)),
    "uniform": (lambda _: 1.0, (-0.5, 0.5)),
    "exponential": (lambda z: math.exp(-z), (0, 120)),
}


@pytest.mark.parametrize("family", DENSITIES)
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7])
def test_means_of_polynomials_are_right(family: str, degree: int) -> None:
    """Against quadrature: a power, a product less than it, and a number, with a coefficient that is no fraction."""
    x, root, law = (
        symbol("x"),
        made("exp", number(Fraction(-1, 2))),
        Line(family, number(Fraction(2, 3)), number(2)),
    )
    power = term("pow", term("add", x, number(Fraction(1, 3))), number(degree))
    product = term("mul", number(-2), root, *[x] * (degree - 1))
    found = mean(law, "x", term("add", power, product, number(5)))

    def value(z: float) -> float:
        at = 2 / 3 + 2 * z
        return (at + 1 / 3) ** degree - 2 * math.exp(-1 / 2) * at ** (degree - 1) + 5

    density, (low, high) = DENSITIES[family]
    parts = [quad(lambda z: value(z) * density(z), *ends)[0] for ends in ((low, 0), (0, high))]
    assert float(bounds_of(found)[0]) == pytest.approx(sum(parts), rel=1e-8)
    cancelled = term("add", power, term("mul", number(-1), power), x)
    assert mean(law, "x", cancelled) == mean(law, "x", x)


def test_means_of_what_is_no_polynomial_are_refused() -> None:
    """So is a polynomial of a degree above 64."""
    x, law = symbol("x"), Line("normal", NO, ONE)
    for head, parts in (("abs", [x]), ("exp", [x]), ("floor", [x]), ("max", [x, ONE]), ("pow", [x, number(-1)]),
                        ("pow", [x, number(Fraction(1, 2))]), ("pow", [number(2), x]), ("pow", [x, x])):  # fmt: skip
        with pytest.raises(ValueError, match="no polynomial"):
            mean(law, "x", term("mul", x, term(head, *parts)))
    for high in (term("pow", x, number(65)), term("mul", term("pow", x, number(64)), x)):
        with pytest.raises(ValueError, match="high degree"):
            mean(law, "x", high)
