"""Smooth sensitivity, and tests before a release, as pages: right ones, wrong variants, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.arithmetic import entail
from dpverify.proving.checker.theorems.language import Node, Scope
from dpverify.proving.checker.theorems.models import show
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs import sampled
from dpverify.statements.mechanisms.pairs.sampled import SampledPage, audit_page
from dpverify.statements.mechanisms.pairs.search import PairCase, PairSearcher, search_pairs
from dpverify.statements.mechanisms.pairs.tested_pairs import ReleasePairSearcher
from dpverify.statements.mechanisms.proofs.claims import claim_of, derive_mechanism
from dpverify.statements.mechanisms.reading import read_mechanisms
from dpverify.statements.mechanisms.scope import dependence

from ..packaging.page_blocks import DOCS

SMOOTH, TESTED = (
    (DOCS / "examples" / name).read_text(encoding="utf-8")
    for name in ("smooth-sensitivity.md", "propose-test-release.md")
)
STABLE, SQUARE = (f"## {part}" for part in TESTED.split("\n## ")[1:])
BOUND = r"S=\max\left(1+2\sum_{i=1}^{n}x_i,\frac{2}{\beta}\right)"
THRESHOLD = r"\frac{\ln\frac{1}{\delta}}{\varepsilon}"
DRAW = "Draw:\n$$d\\sim\\mathrm{Lap}\\left(g,\\frac{1}{\\varepsilon}\\right)$$\n\n"
EPSILON, DELTA = "| $\\varepsilon$ | > 0 |\n", "| $\\delta$ | (0, 1) |\n"


def page(text: str, folder: Path) -> MechanismOnPage:
    path = folder / "mine.md"
    path.write_text(text, encoding="utf-8")
    (one,) = read_mechanisms(path)
    return one


def with_numbers(text: str, **numbers: str) -> str:
    """A page with numbers for letters."""
    for letter, value in numbers.items():
        rows = [
            line for line in text.splitlines() if not line.startswith((f"| ${letter}$", f"| $\\{letter}$"))
        ]
        text = "\n".join(rows).replace(
            f"\\{letter}" if letter != "b" else "{b", value if letter != "b" else f"{{{value}"
        )
    return text + "\n"


@pytest.mark.parametrize("text", [SMOOTH, STABLE, SQUARE], ids=["smooth", "stable", "square"])
def test_claims_that_rest_on_what_is_near_are_proved(text: str, tmp_path: Path) -> None:
    one = page(text, tmp_path)
    proof = derive_mechanism(one)
    assert proof.certificate is not None, proof.reason
    certificate = json.loads(json.dumps(proof.certificate))
    assert check(certificate).confirmed
    certificate["clause"]["body"][3][-1] = ["num", "0"]  # another delta
    assert not check(certificate).confirmed


def test_a_sharp_threshold_is_proved(tmp_path: Path) -> None:
    """The noise is above the threshold half as often as the textbook allows for."""
    sharp = STABLE.replace(r"\frac{1}{\delta}}", r"\frac{1}{2\delta}}").replace("(0, 1) |", "(0, 1/2) |")
    proof = derive_mechanism(page(sharp, tmp_path))
    assert proof.certificate is not None, proof.reason


BROKEN = {
    "local sensitivity as the scale": SMOOTH.replace(BOUND, r"S=1+2\sum_{i=1}^{n}x_i"),
    "half the noise": with_numbers(
        SMOOTH.replace(r"\frac{2S}", r"\frac{S}").replace("integer >= 1", "integer >= 11"),
        varepsilon="1", delta=r"\frac{1}{100}",
    ),
    "a threshold without delta": STABLE.replace(THRESHOLD, r"\frac{1}{\varepsilon}"),
    "a threshold that is too low": STABLE.replace(r"\frac{1}{\delta}}", r"\frac{1}{3\delta}}"),
    "a test without noise": STABLE.replace(DRAW, "").replace("d>", "g>"),
    "a distance that moves by 2": STABLE.replace(r"\left(g,", r"\left(2g,"),
    "a distance that is 1 too large": STABLE.replace(r"\right|-1,0", r"\right|,0"),
    "a release with half the noise": with_numbers(
        SQUARE.replace(r"\frac{b}{\varepsilon}", r"\frac{11}{\varepsilon}")
        .replace("integer >= 1", "integer >= 8")
        .replace(r"(2\varepsilon", "(4"),
        b="22", varepsilon="2", delta=r"\frac{1}{1000}",
    ),
    "a release after a test without noise": with_numbers(
        SQUARE.replace(DRAW, "").replace("d>", "g>"), b="5", delta=r"\frac{1}{2}"
    ),
}  # fmt: skip


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", BROKEN)
def test_wrong_variants_are_broken(name: str, tmp_path: Path) -> None:
    one = page(BROKEN[name], tmp_path)
    claim = claim_of(one)
    found = search_pairs(one, claim, searcher=ReleasePairSearcher if one.test else PairSearcher)
    assert found.broken is not None
    model = found.broken.model
    show(claim.clause, model, refute=True)
    place = claim.names.index("x")
    model["letters"][place] = [model["letters"][place][0]] * 2
    with pytest.raises(ValueError, match="the claim is not seen to be false"):
        show(claim.clause, model, refute=True)


UNPROVED = {
    "a bound that is not smooth": SMOOTH.replace(
        BOUND, r"S=\max\left(1+2\sum_{i=1}^{n}x_i,\frac{1}{\beta}\right)"
    ),
    "a factor that is twice as large": SMOOTH.replace(r"\frac{\varepsilon}{2\ln", r"\frac{\varepsilon}{\ln"),
    "any epsilon": SMOOTH.replace("(0, 1] |", "> 0 |"),
    "a pure guarantee": SMOOTH.replace(r"(\varepsilon,\delta)", r"\varepsilon"),
    "a distance that tells nothing": STABLE.replace(r"\left|k-\frac{n}{2}\right|", "k"),
    "a condition turned around": STABLE.replace("d>", "d<"),
    "a release that says what was tested": SQUARE.replace("$$y$$", "$$(y,d)$$"),
    "half of what both cost": SQUARE.replace(r"(2\varepsilon,", r"(\varepsilon,"),
    "normal noise on the test": STABLE.replace(
        r"\mathrm{Lap}\left(g,\frac{1}{\varepsilon}\right)",
        r"\mathcal{N}\left(g,\frac{1}{\varepsilon^2}\right)",
    ),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", UNPROVED)
def test_wrong_variants_are_not_proved(name: str, tmp_path: Path) -> None:
    assert derive_mechanism(page(UNPROVED[name], tmp_path)).certificate is None


def test_what_is_released_is_drawn_as_the_page_says(tmp_path: Path) -> None:
    """At a distance of 0 and a threshold of one scale, 4,000 draws: a false alarm has probability below 1e-8."""
    runs, chance = 4000, math.exp(-1) / 2
    text = SQUARE.replace(THRESHOLD, r"\frac{1}{\varepsilon}").replace(r"\frac{b-1}{2}-s", "0")
    draw = SampledPage(page(text, tmp_path), dict.fromkeys(("n", "varepsilon", "b"), Fraction(2)), {})
    found = draw(np.array([[1.0], [0.5]]), np.random.default_rng(1), runs)
    released = found[found[:, 0] == 1, 1]
    assert not found[found[:, 0] == 0, 1].any()
    assert abs(len(released) - runs * chance) < 6 * math.sqrt(runs * chance)
    assert abs(released.mean() - 2.25) < 6 * math.sqrt(2 / len(released))


def test_a_release_of_too_little_noise_is_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two draws after a test, which no theorem is of: with b/epsilon in place of 2/epsilon, nothing would be found."""
    second = "Draw:\n$$z\\sim\\mathrm{Lap}\\left(s^2,\\frac{b}{\\varepsilon}\\right)$$\n\nOutput:\n$$y+z$$"
    text = SQUARE.replace("Output:\n$$y$$", second).replace("integer >= 1", "integer >= 8")
    text = text.replace(r"\frac{b}{\varepsilon}", r"\frac{2}{\varepsilon}").replace(r"(2\varepsilon", "(4")
    monkeypatch.setattr(sampled, "SEARCHED", 2000)
    one = page(with_numbers(text, b="22", varepsilon="2", delta=r"\frac{1}{1000}"), tmp_path)
    rows = ((Fraction(1),),) * 4 + ((Fraction(0),),) * 4
    found = audit_page(one, PairCase({"n": Fraction(8)}, rows, (rows[-1], *rows[1:]), 1), {})
    assert found.evidence.verdict is Verdict.VIOLATED
    assert found.evidence.runs < 10_000


REFUSED = {
    "if with a draw's words": STABLE.replace("If (else put out $\\bot$):", "If (else put out $0$):"),
    "two conditions": STABLE.replace("Output:", "If (else put out $\\bot$):\n$$0<d$$\n\nOutput:"),
    "an output that is no number": STABLE.replace("[0, 1]", r"[0, 1] for $r\in R$")
    .replace("| $n$", "| $R$ | finite type |\n| $n$")
    .replace("x_i", "x_{i,a}")
    .replace(
        "Query, how many records are", "Draw:\n$$a\\sim\\propto 1\\text{ at }r\\in R$$\n\nQuery, how many are"
    )
    .replace("$$m$$", "$$a$$"),
    "no comparison": STABLE.replace(f"$$d>{THRESHOLD}$$", "$$d=1$$"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_conditions_that_are_no_test_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"mine\.md, line"):
        page(REFUSED[name], tmp_path)


def test_what_depends_on_records_and_must_not_is_named_where_there_is_no_test(tmp_path: Path) -> None:
    assert dependence(page(STABLE, tmp_path)) is None
    without = STABLE.replace(f"If (else put out $\\bot$):\n$$d>{THRESHOLD}$$\n\n", "").replace(
        "$$m$$", "$$m+d$$"
    )
    said = dependence(page(without, tmp_path))
    assert said is not None
    assert "depends on records" in said[1]


@pytest.mark.parametrize(("delta", "refuted"), [("183.93", True), ("183.95", False)])
def test_the_chance_of_a_release_is_exact(delta: str, refuted: bool, tmp_path: Path) -> None:
    """It is exp(-1)/2, 0.183939..., where the distance is 0 and the threshold is one scale."""
    text = with_numbers(STABLE.replace(THRESHOLD, "1"), varepsilon="1", delta=rf"\frac{{{delta}}}{{1000}}")
    one = page(text, tmp_path)
    claim = claim_of(one)
    search = ReleasePairSearcher(one, {}, Random(0))
    case = PairCase({"n": Fraction(1)}, ((Fraction(0),),), ((Fraction(1),),), 1)
    assert (search.confirmed(case, claim) is not None) == refuted


def test_arithmetic_sees_indicators_within_indicators() -> None:
    scope = Scope({}, dict.fromkeys("xy", ((), "real")))

    def count(name: str) -> Node:
        inner: Node = ("indicator", ("<", ("num", "1/2"), ("sym", name)))
        return ("indicator", ("<", ("num", "1"), ("add", inner, ("num", "1/2"))))

    same: Node = ("==", count("x"), count("y"))
    near: list[Node] = [("<", ("num", "1"), ("sym", "x")), ("<", ("num", "1"), ("sym", "y"))]
    entail(scope, near, same, None, None, frozenset())
    with pytest.raises(ValueError, match="no proof"):
        entail(scope, near[:1], same, None, None, frozenset())
