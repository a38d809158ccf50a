"""`dpverify prove` on mechanisms that choose among candidates: right ones, wrong variants, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.choices import masses_of
from dpverify.proving.checker.theorems.language import parts_of
from dpverify.proving.checker.theorems.models import Model, show
from dpverify.proving.checker.theorems.numbers import ONE as ONE_
from dpverify.proving.checker.theorems.outcomes import Finite, Point, constant
from dpverify.statements.mechanisms.as_theorems import as_theorem, searcher_of
from dpverify.statements.mechanisms.guarantees import guarantee_proved
from dpverify.statements.mechanisms.pairs import choice_pairs
from dpverify.statements.mechanisms.pairs.breaking import bounds_of
from dpverify.statements.mechanisms.pairs.coin_pairs import CoinPairSearcher
from dpverify.statements.mechanisms.pairs.one_answer import AnswerPairSearcher, one_answer
from dpverify.statements.mechanisms.pairs.search import PairCase, PairSearcher, search_pairs
from dpverify.statements.mechanisms.proofs.claims import MechanismProof, claim_of, derive_mechanism
from dpverify.statements.mechanisms.proofs.coins import TAKEN
from dpverify.statements.mechanisms.proofs.ranges import ONE
from dpverify.statements.mechanisms.reading import indexed, law_of_noise, read_mechanisms
from dpverify.verification.mechanisms import decide_mechanism
from dpverify.verification.theorems import is_shown

from ..benchmarks.mechanisms.gallery import section
from ..packaging.page_blocks import DOCS
from .calling import call

LARGEST, FIRST, COINS = (
    (DOCS / "examples" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("noisy-max", "sparse-vector", "permute-and-flip")
)
HALF = r"\frac{\varepsilon}{2}("
COUNTED = (
    COINS.replace("replace one", "add or remove one")
    .replace(">= 1 | number of records, public", ">= 0 | number of records")
    .replace(HALF, r"\varepsilon\cdot(")
)
"""Coins for scores that all change in one direction, with twice the constant."""
WEIGHTED = section("exponential-counts").replace("mechanism.", "my.")
LAPLACE = r"y_r\sim\mathrm{Lap}(q(r),\frac{2}{\varepsilon})"
EXPONENTIAL = LARGEST.replace(LAPLACE, r"z_r\sim\mathrm{Exp}(\frac{2}{\varepsilon})").replace(
    "R}y_r", "R}q(r)+z_r"
)
THRESHOLD = "Draw:\n$$t\\sim\\mathrm{Lap}(c,\\frac{2}{\\varepsilon})$$\n\n"
SEVERAL = FIRST.replace("at the first $j$, else at $k+1$", "after $m$ of the $j$").replace(
    "| $c$ |", "| $m$ | integer >= 1 | how many above, at most |\n| $c$ |"
)
SEVERAL_RIGHT = SEVERAL.replace(r"\frac{4}", r"\frac{4m}")
ANEW = SEVERAL_RIGHT.replace("Draw:\n$$t", "Draw (anew after each answer):\n$$t").replace(
    r"(c,\frac{2}", r"(c,\frac{2m}"
)
"""Dwork and Roth's: the threshold's noise is drawn again after each answer."""
WITH_NUMBER = (
    FIRST.replace(r"(q(j),\frac{4}", r"(q(j),\frac{8}")
    .replace(r"(c,\frac{2}", r"(c,\frac{4}")
    .replace(
        "Output:\n$$j$$", "Draw:\n$$z\\sim\\mathrm{Lap}(q(j),\\frac{2}{\\varepsilon})$$\n\nOutput:\n$$(j,z)$$"
    )
)
"""The first above, and its number with fresh noise."""
LARGEST_WITH_NUMBER = LARGEST.replace(r"\frac{2}", r"\frac{4}").replace(
    "Output:\n$$j$$", "Draw:\n$$z\\sim\\mathrm{Lap}(q(j),\\frac{2}{\\varepsilon})$$\n\nOutput:\n$$(j,z)$$"
)
EACH = r"Draw (for each $j\in\{1,\dots,k\}$):"


class FewCoins(CoinPairSearcher):
    """A search that ends early."""

    most = 3


def with_minus(signs: tuple[str, ...], base: tuple[str, ...]) -> tuple[str, ...]:
    return indexed(tuple({"+": "-"}.get(sign, sign) for sign in signs), base)


def of_all_records(signs: tuple[str, ...], base: tuple[str, ...]) -> tuple[str, ...]:
    return indexed(tuple({"k": "n"}.get(sign, sign) for sign in signs), base)


def derived(text: str, folder: Path) -> MechanismProof:
    page = folder / "mine.md"
    page.write_text(text, encoding="utf-8")
    return derive_mechanism(read_mechanisms(page)[0])


@pytest.mark.parametrize(
    "text",
    [
        LARGEST,
        EXPONENTIAL,
        FIRST,
        SEVERAL_RIGHT,
        COINS,
        COUNTED,
        WEIGHTED,
        WITH_NUMBER,
        LARGEST_WITH_NUMBER,
        ANEW,
    ],
    ids=[
        "laplace",
        "exponential",
        "threshold",
        "several",
        "coins",
        "counted",
        "weighted",
        "number",
        "score",
        "anew",
    ],
)
def test_choices_are_proved_and_have_a_witness(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = derived(text, tmp_path)
    assert proof.certificate is not None, proof.reason
    monkeypatch.setattr(choice_pairs, "LAWS", 2)
    monkeypatch.setattr(choice_pairs, "SIZES", (1, 2))
    (one,) = read_mechanisms(tmp_path / "mine.md")
    claim = claim_of(one)
    found = search_pairs(one, claim, searcher=searcher_of(one))
    assert found.broken is None
    show(claim.clause, found.witness, refute=False)
    if TAKEN in claim.names:  # always the same candidate
        place = claim.names.index(TAKEN)
        found.witness["letters"][place] = {"params": [ONE], "term": ["certain", ["num", "2"]]}
        with pytest.raises(ValueError, match="in the model"):
            show(claim.clause, found.witness, refute=False)


def test_a_page_with_more_queries_has_a_pair_without_a_law(tmp_path: Path, thorough: bool) -> None:
    page = tmp_path / "mine.md"
    page.write_text(
        FIRST.replace("integer >= 1 | number of q", "integer >= 6 | number of q"), encoding="utf-8"
    )
    (one,) = read_mechanisms(page)
    searcher, claim = searcher_of(one)(one, {}, Random(0)), claim_of(one)
    case = searcher.plain()
    assert searcher.some is None
    assert case is not None
    assert {len(row) for rows in (case.left, case.right) for row in rows} == {6}
    if thorough:
        show(claim.clause, searcher.model(case, claim), refute=False)


PURE = r"\varepsilon\text{-DP}"
CONVERTED = {
    r"(\varepsilon,\frac{1}{1000})\text{-DP}": r"(\frac{\varepsilon}{2},\frac{1}{1000})\text{-DP}",
    r"\frac{\varepsilon^2}{2}\text{-zCDP}": r"\frac{\varepsilon^2}{3}\text{-zCDP}",
    r"(\frac{5}{2},\frac{5}{4}\varepsilon^2)\text{-RDP}": r"(\frac{5}{2},\varepsilon^2)\text{-RDP}",
}
"""Claims that follow from pure privacy, and others that do not."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("text", "follows"), [*zip((SEVERAL_RIGHT, LARGEST, COINS), CONVERTED, strict=True)])
def test_claims_follow_from_pure_privacy_of_what_is_chosen(text: str, follows: str, tmp_path: Path) -> None:
    proof = derived(text.replace(PURE, follows), tmp_path)
    assert proof.certificate is not None, proof.reason
    assert derived(text.replace(PURE, CONVERTED[follows]), tmp_path).certificate is None
    found = guarantee_proved(read_mechanisms(tmp_path / "mine.md")[0])
    assert found is not None
    assert (found.measure, found.value) == ("epsilon", r"\varepsilon")


@pytest.mark.parametrize(("text", "old", "new"), [(LARGEST, "2", "1"), (COINS, "1/2", "1")])
def test_a_certificate_for_another_scale_is_refused(text: str, old: str, new: str, tmp_path: Path) -> None:
    found = json.dumps(derived(text, tmp_path).certificate)
    assert check(json.loads(found)).confirmed
    assert not check(json.loads(found.replace(f'["num", "{old}"]', f'["num", "{new}"]'))).confirmed


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (COINS.replace(HALF, r"\varepsilon\cdot("), 0),
        (FIRST.replace(THRESHOLD, "").replace(r"\ge t", r"\ge c").replace(r"\frac{4}", r"\frac{1}"), 0),
        (FIRST.replace("at the first $j$, else at $k+1$", "after $k$ of the $j$"), 1),
    ],
    ids=["coins", "threshold", "unbounded"],
)
def test_wrong_ones_are_broken_as_the_page_says(
    text: str, part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "mine.md"
    page.write_text(text, encoding="utf-8")
    assert call("prove", str(page)) == 0
    (one,) = read_mechanisms(page)
    said = (DOCS / "mechanisms.md").read_text(encoding="utf-8").split(f"```text\n{one.id}, ")[1 + part]
    assert said.partition("```")[0] in capsys.readouterr().out


@pytest.mark.parametrize("k", [5, 12])
def test_coins_of_some_candidates_have_a_witness(k: int, tmp_path: Path) -> None:
    """A model with the law of what is taken, in which each mass counts: of another law it is none."""
    page = tmp_path / "mine.md"
    row = "| $k$ | integer >= 1 | number of candidates |\n"
    page.write_text(
        COINS.replace(row, "").replace("k}", f"{k}}}").replace(r"\dots,k", rf"\dots,{k}"), encoding="utf-8"
    )
    (one,) = read_mechanisms(page)
    claim = claim_of(one)
    found = search_pairs(one, claim, searcher=FewCoins)
    assert found.broken is None
    show(claim.clause, found.witness, refute=False)
    written = json.dumps(found.witness)
    wrong = json.loads(written.replace(f'["num", "1/{k}"]', f'["num", "1/{k + 1}"]'))
    assert wrong != found.witness
    with pytest.raises(ValueError, match="what is assumed"):
        show(claim.clause, wrong, refute=False)


BROKEN = {
    "half the noise, on scores that are no fractions, of which no two break the claim": (
        LARGEST.replace(r"\sum_{i=1}^{n}x_{i,r}", r"\log(1+\max_{1\le i\le n}x_{i,r})").replace(
            r"\frac{2}{\varepsilon}", r"\frac{\log(2)}{\varepsilon}"
        )
    ),
    "half the exponential noise": EXPONENTIAL.replace(r"\frac{2}", r"\frac{1}"),
    "no noise on the threshold": (
        FIRST.replace(THRESHOLD, "").replace(r"\ge t", r"\ge c").replace(r"\frac{4}", r"\frac{1}")
    ),
    "noise on the threshold drawn again": FIRST.replace(
        THRESHOLD, THRESHOLD.replace("Draw:", EACH).replace("$t", "$t_j").replace(r"\frac{2}", r"\frac{1}")
    ).replace(r"\ge t", r"\ge t_j").replace(r"\frac{4}", r"\frac{1}"),
    "the number that was compared (Roth)": FIRST.replace("Output:\n$$j$$", "Output:\n$$(j,y_j)$$"),
    "a number with too little fresh noise": WITH_NUMBER.replace(r"(q(j),\frac{2}", r"(q(j),\frac{1}"),
    "a threshold drawn anew, with the noise of one answer": ANEW.replace("m}{", "}{"),
    "several answers, with the noise of one": SEVERAL,
    "without a bound on the answers (Chen and others)": SEVERAL.replace("after $m$", "after $k$"),
    "the first of many, with too little noise": FIRST.replace(
        "integer >= 1 | number of q", "integer >= 9 | number of q"
    ).replace(r"\frac{4}", r"\frac{1}"),
    "several answers, with too little noise on the queries (Lee and Clifton)": SEVERAL.replace(
        r"\frac{2}", r"\frac{4}"
    ).replace(r"q(j),\frac{4}{\varepsilon}", r"q(j),\frac{4}{3\varepsilon}"),
    "several answers, without noise on the queries (Stoddard and others)": (
        SEVERAL[: SEVERAL.index("Draw (for")] + SEVERAL[SEVERAL.index("Stop") :].replace("y_j", "q(j)")
    ),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", BROKEN)
def test_wrong_variants_are_broken(name: str, tmp_path: Path) -> None:
    page = tmp_path / "mine.md"
    page.write_text(BROKEN[name], encoding="utf-8")
    (one,) = read_mechanisms(page)
    row = decide_mechanism(one, str(page))
    assert row.verdict is Verdict.REFUTED, row.reason
    assert row.pair is not None
    theorem, model = as_theorem(one), row.pair.model
    assert is_shown(theorem, model, refute=True)
    of = theorem.modeled(model, refute=True)
    place = of.names.index("x")
    model["letters"][place] = [model["letters"][place][0]] * 2
    with pytest.raises(ValueError, match="the claim is not seen to be false"):
        show(of.clause, theorem.modeled(model, refute=True).model, refute=True)


@pytest.mark.parametrize("output", [r"0\cdot j", r"\min(j,1)", r"\mathbf{1}[1\le j]"])
def test_an_answer_that_nobody_sees_breaks_nothing(output: str, tmp_path: Path) -> None:
    """What is put out is the same number for all data, whatever the noise."""
    page = tmp_path / "mine.md"
    page.write_text(
        FIRST.replace(r"\frac{4}", r"\frac{1}").replace("$$j$$", f"$${output}$$"), encoding="utf-8"
    )
    (one,) = read_mechanisms(page)
    assert decide_mechanism(one, str(page)).verdict is Verdict.UNDECIDED
    with pytest.raises(LookupError):
        one_answer(one, {"k": 3}, (0, 1))


@pytest.mark.parametrize("behind", ["4", "3+1"])
def test_the_number_behind_the_last_may_be_worked_out(behind: str, tmp_path: Path) -> None:
    row = "| $k$ | integer >= 1 | number of queries |\n"
    text = FIRST.replace(row, "").replace(r"\dots,k", r"\dots,3").replace("$k+1$", f"${behind}$")
    assert derived(text, tmp_path).certificate is not None


@pytest.mark.parametrize("text", [SEVERAL, ANEW], ids=["once", "anew"])
def test_one_answer_has_the_chances_that_are_searched(text: str, tmp_path: Path) -> None:
    """By the checker's law of one answer, written out, for each answer, and for no other event than that answer."""
    page = tmp_path / "mine.md"
    page.write_text(text, encoding="utf-8")
    (one,) = read_mechanisms(page)
    searcher = AnswerPairSearcher(one, {}, Random(0))
    letters = {
        "n": Fraction(1),
        "k": Fraction(3),
        "m": Fraction(2),
        "c": Fraction(1, 3),
        "varepsilon": Fraction(2),
    }
    left, right = (tuple(map(Fraction, row)) for row in (("0", "1", "1/2"), ("1", "0", "0")))
    case = PairCase(letters, (left,), (right,), 1)
    chances, _, _ = searcher.laws(case)
    assert isinstance(chances, dict)
    assert len(chances) == 7
    for answer, chance in chances.items():
        written = one_answer(one, {"k": 3, "m": 2}, answer).mechanism
        claim = claim_of(written)
        exact = Model(claim.clause, PairSearcher(written, {}, Random(0)).model(case, claim))
        _, letter, law, *_ = parts_of(parts_of(claim.clause.body)[3])
        name, kind = map(str, parts_of(letter))
        found = masses_of(exact.value(law, {name: constant(Point(kind, 0))}))
        assert isinstance(found, Finite)
        low, high = bounds_of(dict(found.masses)[ONE_])
        assert low - Fraction(1, 10**9) <= chance <= high + Fraction(1, 10**9)
    assert sum(chances.values()) == pytest.approx(1)
    for values, above in (
        ({"k": 3, "m": 2}, (1, 1, 1)), ({"k": 3, "m": 2}, (0, 1, 0, 1)), ({"k": 3}, (0, 1, 0)),
        ({"k": 3, "m": 0}, (0, 0, 0)), ({"k": 3, "m": 2}, (0, 2, 0)), ({"k": 3, "m": 2}, ()),
    ):  # fmt: skip
        with pytest.raises(LookupError):
            one_answer(one, values, above)


def test_what_is_not_known_of_a_choice_is_undecided(tmp_path: Path) -> None:
    """Too little noise, or that of fewer answers, a threshold that depends on records, normal noise: never proved."""
    for text in (
        FIRST.replace(r"\frac{4}", r"\frac{2}"),
        FIRST.replace("Output:\n$$j$$", "Output:\n$$(j,y_j)$$"),
        WITH_NUMBER.replace(r"(q(j),\frac{2}", r"(q(j),\frac{1}"),
        ANEW.replace(r"\frac{2m}", r"\frac{2}"),
        ANEW.replace(r"\frac{4m}", r"\frac{2m}"),
        LARGEST_WITH_NUMBER.replace(r"(q(j),\frac{2}", r"(q(j),\frac{1}"),
        *(SEVERAL.replace(r"\frac{4}", wrong) for wrong in (r"\frac{4}", r"\frac{2m}", r"\frac{4(m-1)}")),
        SEVERAL_RIGHT.replace("after $m$", "after $m+1$"),
        SEVERAL_RIGHT.replace("after $m$", "after $k$"),
        SEVERAL_RIGHT.replace(THRESHOLD, THRESHOLD.replace(r"\frac{2}", r"\frac{1}")),
        SEVERAL_RIGHT.replace(THRESHOLD, "").replace(r"\ge t", r"\ge c"),
        FIRST.replace("Lap}(c,", r"Lap}(\sum_{i=1}^{n}x_{i,1},"),
        FIRST.replace(r"y_j\ge t", r"y_j\ge t+j"),
        LARGEST.replace(
            r"\mathrm{Lap}(q(r),\frac{2}{\varepsilon})", r"\mathcal{N}(q(r),\frac{2}{\varepsilon})"
        ),
        LARGEST.replace(r"\varepsilon\text{-DP}", r"\varepsilon\text{-zCDP}"),
        COINS.replace(r"\varepsilon\text{-DP}", r"\varepsilon\text{-zCDP}"),
        COINS.replace(HALF, r"-\frac{\varepsilon}{2}("),
        COINS.replace(HALF, r"\varepsilon\cdot("),
        COINS.replace("integer >= 1 | number of candidates", "integer >= 0 | number of candidates"),
        COUNTED.replace("[0, 1]", "[-1, 1]"),
        WEIGHTED.replace("add or remove one", "replace one"),
    ):
        assert derived(text, tmp_path).certificate is None


REFUSED = [
    (LARGEST, LAPLACE, r"y_r\sim\mathrm{Lap}(q(r),\frac{r}{\varepsilon})", 18, ""),
    (
        LARGEST,
        LAPLACE,
        r"y_r\sim\mathrm{Gumbel}(q(r),\frac{2}{\varepsilon})",
        18,
        "the exponential mechanism",
    ),
    (LARGEST, r"\arg\max", r"\arg\min", 21, r"\arg\max"),
    (LARGEST, "R}y_r", "R}2y_r", 21, "nothing is drawn"),
    (LARGEST, "R}y_r", "R}y_r+y_r", 21, "nothing is drawn"),
    (FIRST, r"y_j\ge t", r"y_1\ge t", 25, "nothing is drawn"),
    (LARGEST, "R}y_r", "R}q(r)", 21, "all that is drawn"),
    (LARGEST, r"Draw (for each $r\in R$)", r"Draw (for each $r\in S$)", 18, "S"),
    (LARGEST, "Select:\n$$j=\\arg\\max_{r\\in R}y_r$$\n\n", "", 21, "a declared letter"),
    (FIRST, "else at $k+1$", "else at $k$", 25, "the number behind the last"),
    (FIRST, r"y_j\ge t", "y_j>t", 25, r"\ge"),
    (SEVERAL, "after $m$ of", r"after $q(1)$ of", 26, "a public number of answers"),
    (SEVERAL, "Output:\n$$j$$", "Output:\n$$(j,y_j)$$", 29, "one Select or Stop"),
    (
        SEVERAL,
        "Output:",
        "Draw:\n$$z\\sim\\mathrm{Lap}(0,1)$$\n\nOutput:",
        29,
        "no draw behind a Stop after several",
    ),
    (ANEW, "anew after each answer", "anew", 20, "belongs here"),
    (ANEW, "anew after each answer", "anew after each query", 20, "belongs here"),
    (FIRST, "Draw:\n$$t", "Draw (anew after each answer):\n$$t", 19, "before Stop (after several)"),
    (ANEW, "Draw (for each", "Draw (anew for each", 23, "belongs here"),
    (FIRST, "Draw:\n$$t\\sim", "Draw (anew after each answer):\n$$y_j\\sim", 19, "the threshold's noise"),
    (FIRST, "Output:\n$$j$$", "Output:\n$$(j,t)$$", 28, "one Select or Stop"),
    (WITH_NUMBER, "$$(j,z)$$", "$$z$$", 31, "one Select or Stop"),
    (FIRST, "Stop (at the first $j$, else at $k+1$)", "Select", 25, r"$r\in R$"),
    (COINS, "in random order", "in order", 18, "in random order"),
    (COINS, "shows heads", "shows tails", 18, "in random order"),
    (COINS, "first $j$", "first $i$", 18, "the first $j$"),
    (COINS, r"\le k}q", r"\le k-1}q", 18, "the largest of all candidates"),
    (COINS, "}q(i))", "}2q(i))", 18, "the largest of all candidates"),
    (COINS, HALF, r"\frac{\varepsilon j}{2}(", 18, "the largest of all candidates"),
    (COINS, r"(q(j)-\max_{1\le i\le k}q(i))", "q(j)", 18, "the largest of all candidates"),
    (COINS, "Select", "Draw:\n$$y\\sim\\mathrm{Lap}(0,1)$$\n\nSelect", 21, "all that is drawn"),
    (COINS, "Output:\n$$j$$", "Output:\n$$(j,q(j))$$", 21, "one Select or Stop"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("text", "old", "new", "line", "words"), REFUSED)
def test_what_is_not_understood_is_refused_with_its_line(
    text: str, old: str, new: str, line: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "mine.md"
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    assert call("prove", str(page)) == 2
    said = capsys.readouterr().err
    assert f"line {line}:" in said, said
    assert words in said


@pytest.mark.parametrize(
    ("text", "name", "wrong"),
    [
        (LARGEST, "law_of_noise", lambda *of: (*law_of_noise(*of)[:-1], ("num", "9"))),
        (LARGEST.replace("R}y_r", "R}1+y_r"), "indexed", with_minus),
        (FIRST.replace(r"\ge t", r"\ge t+1"), "indexed", with_minus),
        (COINS, "indexed", of_all_records),
        (SEVERAL, "ANEW", "Draw:"),
        (ANEW, "ANEW", "Draw (again):"),
    ],
)
def test_what_one_reader_misreads_is_refused(
    text: str, name: str, wrong: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults planted in the first reader are seen by the second: in a law, a score, a comparison."""
    page = tmp_path / "mine.md"
    page.write_text(text, encoding="utf-8")
    read_mechanisms(page)
    monkeypatch.setattr(f"dpverify.statements.mechanisms.reading.{name}", wrong)
    with pytest.raises(ValueError, match="the two readers differ"):
        read_mechanisms(page)
