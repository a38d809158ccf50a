"""Divergences as terms: their values in finite models, what is refused of them, and theorems with planted faults."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy.integrate import quad

from dpverify.errors import InvalidArgumentError
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems import steps
from dpverify.proving.checker.theorems.language import Node, parts_of
from dpverify.proving.theorems.finite_models import FloatModel
from dpverify.proving.theorems.letters import Alphabet, TheoremLetter
from dpverify.proving.theorems.notation import TheoremReader
from dpverify.proving.theorems.signs import signs_of
from dpverify.statements.theorems.library import FOLDER, derive, shipped
from dpverify.statements.theorems.pages import read_theorems

from .clauses import Json
from .tampering import Tampering, demand_underived
from .test_models import truth

LAWS = "(P (law T)) (Q (law T)) (c real)"
PAIRS = [
    (["3/4", "1/4"], ["1/4", "3/4"]),
    (["1/2", "1/2", "0"], ["1/3", "1/3", "1/3"]),
    (["1/8", "3/8", "1/2"], ["1/2", "1/4", "1/4"]),
]


def naive(kind: str, order: float, one: list[float], other: list[float]) -> float:
    """A divergence of laws of points, by its definition."""
    if kind == "excess":
        return math.fsum(max(0.0, p - order * q) for p, q in zip(one, other, strict=True))
    both = [(p, q) for p, q in zip(one, other, strict=True) if q]
    if order == 1:
        return math.fsum(p * math.log(p / q) for p, q in both if p)
    return math.log(math.fsum(q * (p / q) ** order for p, q in both)) / (order - 1)


@pytest.mark.parametrize(
    ("kind", "order"),
    [("excess", "0"), ("excess", "-1"), ("excess", "3/2"), ("divergence", "1"), ("divergence", "5/2")],
)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_values_are_those_of_the_definitions(kind: str, order: str, one: list[str], other: list[str]) -> None:
    """A little above the value is seen to be above it, and a little below to be below."""
    masses = [[float(Fraction(m)) for m in law] for law in (one, other)]
    value = Fraction(naive(kind, float(Fraction(order)), *masses)).limit_denominator(10**12)
    for side, wanted in ((1, 1), (-1, -1)):
        bound = str(value + side * Fraction(1, 10**9))
        claim = f"(<= ({kind} {order} P Q) c)"
        assert truth("T:any", LAWS, [one, other, bound], claim, points=len(one)) == wanted


@pytest.mark.parametrize(
    ("laws", "claim", "wanted"),
    [
        ((["1/2", "1/2"], ["1", "0"]), "(<= (divergence 1 P Q) c)", 0),
        ((["1/2", "1/2"], ["1", "0"]), "(<= (divergence 2 P Q) c)", 0),
        ((["1", "0"], ["1/2", "1/2"]), "(<= (divergence 1 P Q) c)", 1),
        ((["1", "0"], ["1/2", "1/2"]), "(<= (divergence 1/2 P Q) c)", 0),
        ((["1", "0"], ["1/2", "1/2"]), "(<= (excess 1 P Q) 1/2)", 1),
        ((["1", "0"], ["1/2", "1/2"]), "(< (excess 1 P Q) 1/2)", -1),
    ],
)
def test_what_has_no_value_is_not_known(laws: tuple[Json, Json], claim: str, wanted: int) -> None:
    """No density, or an order below 1."""
    assert truth("T:any", LAWS, [*laws, "9"], claim) == wanted


@pytest.mark.parametrize(
    ("claim", "wanted"),
    [
        ("(== (divergence 1 (normal 0 2) (normal 1 2)) 1/8)", 1),
        ("(== (divergence 3 (normal 0 2) (normal 1 2)) 3/8)", 1),
        ("(<= (divergence 3 (normal 0 2) (normal 1 1)) 9)", 0),
        ("(<= (divergence 2 (laplace 0 1) (laplace 1 1)) 0.6192)", 1),
        ("(<= (divergence 2 (laplace 0 1) (laplace 1 1)) 0.6191)", -1),
        ("(<= (divergence 1 (laplace 0 1) (laplace 1 1)) 9)", 0),
        ("(<= (excess 1 (normal 0 2) (normal 1 2)) 0.1975)", 1),
        ("(<= (excess 1 (normal 0 2) (normal 1 2)) 0.1974)", -1),
        ("(== (excess 1 (laplace 0 1) (laplace 1 1)) (- 1 (exp (/ -1 2))))", 1),
    ],
)
def test_values_of_lines(claim: str, wanted: int) -> None:
    assert truth("", "(a real)", ["0"], claim) == wanted


RESPONSE = [["3/4", "1/4"], ["1/4", "3/4"]]


@pytest.mark.parametrize(("mu", "wanted"), [("3/2", 1), ("1", -1), ("13/10", 0), ("0", 0)])
def test_gaussian_privacy_of_randomized_response(mu: str, wanted: int) -> None:
    """Its total variation is 1/2, that of normal laws 1.349 apart; with a margin it is seen."""
    found = truth("D:data T:any", "(M (D) (law T)) (m real)", [RESPONSE, mu], "(gaussian (x D) (M x) m)")
    assert found == wanted or (mu == "13/10" and found in (0, -1))


@pytest.mark.parametrize(("mu", "wanted"), [("1/2", 1), ("2/5", -1)])
def test_gaussian_privacy_of_normal_laws(mu: str, wanted: int) -> None:
    claim = "(gaussian (x D) (normal (f x) 2) m)"
    assert truth("D:data", "(f (D) real) (m real)", [["0", "1"], mu], claim) == wanted


def of_divergences(claim: Json, premises: list[Json], steps_: list[Json]) -> dict[str, Json]:
    """A certificate of a claim about two laws."""
    letters = [["P", [], ["law", "T"]], ["Q", [], ["law", "T"]], ["c", [], "real"]]
    return {
        "version": 1, "theorem": "x", "letters": ["P", "Q", "c"], "library": {}, "steps": steps_,
        "clause": {"types": [["T", "any"]], "body": ["all", letters, premises, claim]},
    }  # fmt: skip


def test_a_divergence_is_not_known_to_have_a_value() -> None:
    """That it is itself says that it has one; this follows from a bound on it, and from nothing less."""
    one = ["divergence", ["num", "1"], ["sym", "P"], ["sym", "Q"]]
    known, same = ["<=", one, ["sym", "c"]], ["<=", one, one]
    right = of_divergences(same, [known], [{"step": "arithmetic", "claim": same, "from": [0]}])
    assert check(right).confirmed
    wrong = of_divergences(same, [], [{"step": "arithmetic", "claim": same, "from": []}])
    assert "has a value" in check(wrong).says
    twice = ["all", [["x", [], "real"]], [], ["<=", ["sym", "x"], ["sym", "x"]]]
    block = {"step": "block", "claim": twice, "letters": ["x"], "steps": []}
    use = {"step": "use", "of": 0, "types": {}, "put": [[[], one]], "from": []}
    assert "has a value" in check(of_divergences(same, [], [{**block, "steps": [
        {"step": "arithmetic", "claim": ["<=", ["sym", "x"], ["sym", "x"]], "from": []}]}, use])).says  # fmt: skip


LETTERS = Alphabet({("T",): ("T", "any"), ("X",): ("X", "data")}).having(
    *(TheoremLetter(name, name, (), ("law", "T")) for name in "PQ"),
    TheoremLetter("K", "K", ("T",), ("law", "T")),
    TheoremLetter("M", "M", ("X",), ("law", "T")),
)


def read(latex: str) -> Node:
    return TheoremReader(LETTERS).formula(signs_of(latex))


@pytest.mark.parametrize(
    ("latex", "begins"),
    [
        (r"\mathrm{TV}(P,Q)\le 1", ("excess", ("num", "1"), ("sym", "P"), ("sym", "Q"))),
        (r"H_{e^2}(P\|Q)\le 1", ("excess", ("exp", ("num", "2")), ("sym", "P"), ("sym", "Q"))),
        (r"D_{\mathrm{KL}}(P\|Q)\le 1", ("divergence", ("num", "1"), ("sym", "P"), ("sym", "Q"))),
        (r"D_{3}(Q\|P)\le 1", ("divergence", ("num", "3"), ("sym", "Q"), ("sym", "P"))),
    ],
)
def test_divergences_are_read(latex: str, begins: Node) -> None:
    assert read(latex)[1] == begins


def test_information_is_the_divergence_from_the_product() -> None:
    law = r"(\text{law of }(y,z)\text{ for }y\sim P,z\sim "
    product = rf"{law}(\text{{law of }}z\text{{ for }}v\sim P,z\sim K(v)))"
    assert read(r"I(P,K)\le 1") == read(rf"D_{{\mathrm{{KL}}}}({law}K(y))\|{product})\le 1")


@pytest.mark.parametrize(
    "latex", [r"D_{2}(P\|K)\le 1", r"I(P,Q)\le 1", r"H_{2}(P,Q)\le 1", r"M\text{ is }1\text{-FDP}"]
)
def test_what_is_no_divergence_is_refused(latex: str) -> None:
    with pytest.raises(InvalidArgumentError):
        read(latex)


WRONG = {
    "theorem.excess-convex": (r"w H", None),
    "theorem.pure-to-concentrated": (r"\text{-zCDP}", None),
    "theorem.excess-triangle": (r"H_", None),
    "theorem.divergence-monotone": (r"\beta<\alpha", r"\alpha<\beta"),
    "theorem.excess-private": (r"\le\delta$$", r"\le 2\delta$$"),
    "theorem.gaussian-gdp": (r"-GDP", None),
    "theorem.cauchy-schwarz-means": (r"]^2\le", r"]^2+1\le"),
    "theorem.hoeffding": (r"-\frac{2t^2}{kw^2}", r"-\frac{3t^2}{kw^2}"),
    "theorem.private-of-tradeoff": (r"1-\delta-", r"1-2\delta-"),
    "theorem.concentrated-triangle": (r"\le\alpha\cdot(k+1)^2\rho", r"\le\alpha\cdot(k^2+1)\rho"),
    "theorem.coupled-step": (r"\le(m-1)b", r"\le(m-2)b"),
    "theorem.shift-reduction": (r"D_", None),
}
"""What stands on the page, and what is planted in its place; nothing where only the steps are tampered with."""


@pytest.mark.one_in(5)
@pytest.mark.parametrize("id_", [id_ for id_, (_, new) in WRONG.items() if new])
@pytest.mark.usefixtures("first_failure")
def test_planted_faults_are_not_derived(id_, tmp_path):
    demand_underived(id_, *WRONG[id_], tmp_path)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("id_", WRONG)
def test_a_fault_in_any_step_is_refused(id_, monkeypatch):
    """Another rule, a premise less or another one, the opposite of a claim, no steps: at all steps, at each depth."""
    found = derive(shipped()[id_])
    assert found.derived
    monkeypatch.setattr(steps, "ProofState", Tampering)
    before = Tampering.refused
    assert steps.show(found.certificate) == "derived"
    assert Tampering.refused > before + 8


def test_every_rule_about_divergences_is_used():
    """By the `by` of some display of a theorem."""
    pages = [page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md")]
    used = {
        id_
        for page in pages
        for line in re.findall(r"^(?:Step|Then)\b.*$", page, re.M)
        for id_ in re.findall(r"`([\w.-]+)`", line)
    }
    about = ("rules_divergences.md", "rules_densities.md")
    rules = {one.id for page in about for one in read_theorems(FOLDER / page)}
    assert rules <= used, rules - used


@pytest.mark.parametrize(("alpha", "epsilon"), [(1.25, 0.1), (2.0, 1.0), (7.5, 3.0)])
def test_the_moment_of_laplace_noise_is_its_integral(alpha, epsilon):
    """What is proved is neither more nor less than the divergence at the distance epsilon, by quadrature."""
    bound = parts_of(shipped()["theorem.laplace-renyi"].claim.formula)[4]
    proved = FloatModel({}, {}).code(bound)({"alpha": alpha, "varepsilon": epsilon})

    def moment(y: float) -> float:
        return math.exp(-alpha * abs(y - epsilon) + (alpha - 1) * abs(y)) / 2

    ends = (-60.0, 0.0, epsilon, 60.0)
    total = sum(quad(moment, low, high)[0] for low, high in pairwise(ends))
    assert proved == pytest.approx(math.log(total) / (alpha - 1), rel=1e-9)


@pytest.mark.parametrize(
    "id_", ["theorem.advanced-composition", "theorem.laplace-renyi", "theorem.pure-gaussian"]
)
def test_it_rests_on_rules_alone(id_):
    results: list[str] = []
    todo = [id_]
    while todo:
        one = shipped()[todo.pop()]
        results += [one.id] * (one.standing == "result")
        todo += {id_ for display in one.displays for id_ in display.by} - {*results}
    assert not results
