"""`dpverify prove` on mechanisms with a loop: right ones, wrong variants, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.models import show
from dpverify.statements.mechanisms.as_theorems import ROUNDS, as_theorem
from dpverify.statements.mechanisms.pairs.loop_pairs import few_rounds, loop_witness
from dpverify.statements.mechanisms.proofs.claims import claim_of, derive_mechanism
from dpverify.statements.mechanisms.reading import read_mechanisms
from dpverify.statements.mechanisms.rounds import LoopReader
from dpverify.statements.theorems.library import shipped
from dpverify.verification.mechanisms import decide_mechanism
from dpverify.verification.theorems import found_of_mechanism, is_shown, row_of

from ..packaging.page_blocks import DOCS
from .calling import call
from .test_mechanisms import PAGE, proved

EXAMPLE = DOCS / "examples" / "noisy-descent.md"
STOPPED = EXAMPLE.read_text(encoding="utf-8")
TEST = STOPPED[STOPPED.index("Draw:\n$$z_t") : STOPPED.index("Output:")]
STOP = TEST[TEST.index("Stop") :]
SQUARES = r"\sum_{i=1}^{n}\min((w_{t-1}-x_i)^2,1)"
PAID = r"+\frac{k}{2\tau^2}"
CLAIM = r"\frac{2k}{\sigma^2}\text{-zCDP}"


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


LOOP = changed(
    STOPPED, (TEST, ""), (r"\left(\frac{2k}{\sigma^2}" + PAID + r"\right)", r"\frac{2k}{\sigma^2}"),
    ("(t,w_t)", "w_k"), ("| $c$ | real | the loss at which to stop |\n", ""),
    ("| $\\tau$ | > 0 | noise of the loss |\n", ""),
)  # fmt: skip
SIGMA = "| $\\sigma$ | > 0 | noise of gradients |"
NORMAL, EPSILON = r"\mathcal{N}(g_t,\sigma^2)", r"| $\varepsilon$ | > 0 | |"
LISTED = changed(LOOP, ("$$w_k$$", r"$$y_1,\dots,y_k$$"))
GRADIENT = r"\sum_{i=1}^{n}\min(\max(w_{t-1}-x_i,-1),1)"
CLIPPED = r"\sum_{i=1}^{n}(w_{t-1}-\min(\max(x_i,-1),1))"
BUDGET = changed(
    LOOP, (SIGMA, r"| $\rho$ | > 0 | |"), (r"\sigma^2)", r"\frac{2k}{\rho})"), (CLAIM, r"\rho\text{-zCDP}")
)
PURE = changed(
    LOOP, (SIGMA, EPSILON), (NORMAL, r"\mathrm{Lap}(g_t,\frac{2k}{\varepsilon})"),
    (CLAIM, r"\varepsilon\text{-DP}"),
)  # fmt: skip
RIGHT = {
    "the last state": LOOP,
    "all states": changed(LOOP, ("$$w_k$$", r"$$(w_1,\dots,w_k)$$")),
    "all draws": LISTED,
    "all states until it stops": changed(STOPPED, ("(t,w_t)", r"w_1,\dots,w_t")),
    "the scale by the budget": BUDGET,
    "ten rounds": changed(
        LOOP, ("| $k$ | integer >= 1 | number of rounds, at most |\n", ""), (r"\dots,k$", r"\dots,10$"),
        ("w_k", "w_{10}"), (r"\frac{2k}", r"\frac{20}"),
    ),
    "approximate": changed(
        LOOP, (SIGMA, SIGMA + "\n| $\\delta$ | (0, 1) | |"),
        (CLAIM, r"\left(\frac{2k}{\sigma^2}+2\sqrt{\frac{2k}{\sigma^2}\ln(1/\delta)},\delta\right)\text{-DP}"),
    ),
    "Renyi": changed(
        LOOP, (SIGMA, SIGMA + "\n| $\\alpha$ | > 1 | |"), (CLAIM, r"(\alpha,\frac{2\alpha k}{\sigma^2})\text{-RDP}")
    ),
    "pure": PURE,
    "pure, with a stopping rule": changed(
        STOPPED, (SIGMA, EPSILON), (NORMAL, r"\mathrm{Lap}(g_t,\frac{4k}{\varepsilon})"),
        (r"\mathcal{N}(\sum", r"\mathrm{Lap}(\sum"), (r",\tau^2)", r",\frac{2k}{\varepsilon})"),
        (r"\left(\frac{2k}{\sigma^2}" + PAID + r"\right)\text{-zCDP}", r"\varepsilon\text{-DP}"),
    ),
    "momentum and a projection": changed(
        LOOP, ("Start:\n", "Start:\n$$v_0=0$$\n\nStart:\n"), ("w_k", "(v_k,w_k)"),
        ("Set:\n$$w_t=w_{t-1}-\\eta y_t$$",
         "Set:\n$$v_t=\\frac{v_{t-1}}{2}+y_t$$\n\nSet:\n$$w_t=\\min(\\max(w_{t-1}-\\frac{\\eta}{t}v_t,-1),1)$$"),
    ),
    "another column in each round": changed(
        LOOP, ("of numbers", r"in [0, 1] for $j\in\{1,\dots,k\}$"), (r"\min(\max(w_{t-1}-x_i,-1),1)", r"x_{i,t}"),
        (r"\frac{2k}{\sigma^2}", r"\frac{k}{2\sigma^2}"),
    ),
}  # fmt: skip


REPEATED = r"""# Choices

## The exponential mechanism, again and again {#example.repeated}

| letter | kind |
| --- | --- |
| $n$ | integer >= 1 |
| $R$ | finite type |
| $k$ | integer >= 1 |
| $\varepsilon$ | > 0 |

- records: $x_1,\dots,x_n$ in [0, 1] for $r\in R$
- neighbors: replace one

Repeat (for $t=1,\dots,k$):

Draw:
$$j_t\sim\propto e^{\varepsilon\sum_{i=1}^{n}x_{i,r}}\text{ at }r\in R$$

Output:
$$j_1,\dots,j_k$$

Claim:
$$(2k\varepsilon)\text{-DP}$$
"""
RIGHT["choices"] = REPEATED


def derived(text: str, folder: Path) -> Any:
    page = folder / "mine.md"
    page.write_text(text, encoding="utf-8")
    return derive_mechanism(read_mechanisms(page)[0])


def test_the_example_is_proved_with_a_witness_and_no_other_number_is(tmp_path: Path) -> None:
    found = proved(STOPPED, tmp_path)
    (one,) = read_mechanisms(tmp_path / "mine.md")
    claim = claim_of(one)
    show(claim.clause, loop_witness(one, claim), refute=False)
    text = json.dumps(found.certificate)
    assert check(json.loads(text)).confirmed
    assert not check(json.loads(text.replace('["num", "2"]', '["num", "1"]'))).confirmed
    without_end = text.replace(
        '["of", "the end", ["sym", "the history"]]', '["<=", ["num", "0"], ["num", "0"]]'
    )
    assert without_end == text or not check(json.loads(without_end)).confirmed


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_are_proved_for_all_numbers_of_rounds(name: str, tmp_path: Path) -> None:
    proved(RIGHT[name], tmp_path)
    (one,) = read_mechanisms(tmp_path / "mine.md")
    claim = claim_of(one)
    show(claim.clause, loop_witness(one, claim), refute=False)


def test_a_stop_without_noise_is_broken_as_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "noisy-descent.md"
    bare = changed(STOP, ("z_t", r"\sum_{i=1}^{n}\min((w_t-x_i)^2,1)"))
    page.write_text(changed(STOPPED, (TEST, bare), (PAID, "")), encoding="utf-8")
    assert call("prove", str(page)) == 0
    shown = capsys.readouterr().out
    said = (
        PAGE.read_text(encoding="utf-8")
        .partition("without noise on the loss:\n\n```text\n")[2]
        .partition("```")[0]
    )
    assert said
    assert said in shown


QUERIED = "Query:\n$$k=\\sum_{i=1}^{n}\\lfloor x_i\\rfloor$$\n\nStart:"
BROKEN = {
    "half the budget": (changed(LOOP, (r"\frac{2k}", r"\frac{k}")), 24),
    "twice the bound": (changed(LOOP, ("-x_i,-1),1)", "-x_i,-2),2)")), 24),
    "no root of k": (changed(BUDGET, (r"\frac{2k}{\rho}", r"\frac{2}{\rho}"), (GRADIENT, CLIPPED)), 24),
    "no root of k, all draws": (
        changed(BUDGET, (r"\frac{2k}{\rho}", r"\frac{2}{\rho}"), ("$$w_k$$", r"$$y_1,\dots,y_k$$")), 24,
    ),
    "noise of one round, pure": (changed(PURE, (r"\frac{2k}", r"\frac{2}"), ("$$w_k$$", r"$$y_1,\dots,y_k$$")), 24),
    "noise of three rounds, pure": (changed(PURE, (r"\frac{2k}", r"\frac{6}"), ("$$w_k$$", r"$$y_1,\dots,y_k$$")), 24),
    "only the last state is paid": (changed(LOOP, (r"\frac{2k}", r"\frac{2}"), (GRADIENT, CLIPPED)), 24),
    "choices at half the price": (changed(REPEATED, ("(2k", "(k")), 18),
    "columns at the price of one": (
        changed(
            RIGHT["another column in each round"], (r"\frac{k}{2", r"\frac{1}{2"), ("$$w_k$$", r"$$y_1,\dots,y_k$$")
        ), 24,
    ),
    "the test is not paid": (changed(STOPPED, (PAID, "")), 32),
    "a record is kept": (changed(LOOP, (r"-\eta y_t$$", r"-\eta y_t+x_1$$")), 27),
    "as many rounds as records say": (
        changed(LISTED, ("| $k$ | integer >= 1 | number of rounds, at most |\n", ""), ("Start:", QUERIED),
                ("of numbers", "in [0, 2]"), (CLAIM, r"\frac{2}{\sigma^2}\text{-zCDP}")), 20,
    ),
}  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", BROKEN)
def test_wrong_variants_are_broken_at_few_rounds(name: str, tmp_path: Path) -> None:
    text, line = BROKEN[name]
    one, row = refuted_loop(text, tmp_path)
    assert row.line == line
    assert broken_at_few_rounds(one, row.pair.model)


def refuted_loop(text: str, folder: Path) -> tuple[Any, Any]:
    """A page's mechanism with a loop, and its row, which a pair refutes."""
    page = folder / "mine.md"
    page.write_text(text, encoding="utf-8")
    (one,) = read_mechanisms(page)
    row = decide_mechanism(one, str(page))
    assert (row.verdict, row.certificate) == (Verdict.REFUTED, None)
    assert one.loop is not None
    assert row.pair is not None
    return one, row


def broken_at_few_rounds(one: Any, model: Any, counts: str | None = None) -> bool:
    """Whether a model breaks the claim of some rounds, maybe of how many outputs are something."""
    few = [k for k, each in enumerate(few_rounds(one, one.loop)) if counts is None or each.counts == counts]
    return any(is_shown(as_theorem(one), {**model, ROUNDS: k}, refute=True) for k in few)


def test_a_model_of_few_rounds_is_of_these_and_refutes_alone(tmp_path: Path) -> None:
    """It is no witness of what is assumed of the whole loop, and no model of other rounds."""
    page = tmp_path / "mine.md"
    page.write_text(BROKEN["no root of k, all draws"][0], encoding="utf-8")
    theorem = as_theorem(read_mechanisms(page)[0])
    found, outcome = found_of_mechanism(theorem)
    assert is_shown(theorem, found.model, refute=True)
    assert not is_shown(theorem, found.model, refute=False)
    assert found.model is not None
    assert outcome.search.broken is not None
    for wrong in (99, "0", None):
        assert not is_shown(theorem, {**found.model, ROUNDS: wrong}, refute=True)
    assert not is_shown(theorem, outcome.search.broken.model, refute=True)
    words = row_of(str(page), theorem, shipped(), {theorem.id: found}).found.model_in_words
    assert words[0] == "k = 2"


UNPROVED = {
    "a last state with too little noise": changed(BUDGET, (r"\frac{2k}{\rho}", r"\frac{2}{\rho}")),
    "the same, pure": changed(PURE, (r"\frac{2k}", r"\frac{2}")),
    "Gaussian privacy": changed(LOOP, (CLAIM, r"\frac{2\sqrt{k}}{\sigma}\text{-GDP}")),
    "a test that sees a record": changed(STOPPED, ("z_t\\le c", "z_t\\le x_1")),
    "less noise in each round": changed(
        LOOP, (r"\mathcal{N}(g_t,\sigma^2)", r"\mathcal{N}(g_t,\frac{\sigma^2}{t})")
    ),
    "a step without a value": changed(LOOP, (r"\eta y_t$$", r"\eta\log(y_t)$$")),
    "an output without a value": changed(LOOP, ("$$w_k$$", r"$$\log(w_k)$$")),
    "a gradient without noise": changed(LOOP, ("$$w_k$$", "$$g_k$$")),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", UNPROVED)
def test_what_does_not_follow_is_not_proved(name: str, tmp_path: Path) -> None:
    assert derived(UNPROVED[name], tmp_path).certificate is None


REFUSED = [
    (LOOP, r"t=1,\dots,k", r"t=0,\dots,k", 18, r"`t=1,\dots,k`"),
    (LOOP, r"t=1,\dots,k", r"n=1,\dots,k", 18, "a letter without a meaning"),
    (LOOP, r"t=1,\dots,k", r"t=1,\dots,\sigma", 18, "a whole number of rounds"),
    (LOOP, "w_0=0", "w=0", 16, "`w_0`, before Repeat"),
    (LISTED, "Set:\n$$w_t=w_{t-1}-\\eta y_t$$\n\n", "", 3, "what a loop sets in each round"),
    (LOOP, "w_t=w_{t-1}", "v_t=w_{t-1}", 27, "where `w_0` is started"),
    (LOOP, "$$w_k$$", "$$y_t$$", 30, "letters of the last round"),
    (LOOP, "$$w_k$$", r"$$w_2,\dots,w_k$$", 30, r"`w_1,\dots,w_k`"),
    (LOOP, "Start:", "Draw:\n$$u\\sim\\mathcal{N}(0,1)$$\n\nStart:", 21, "all draws in the loop"),
    (LOOP, "y_t", "y_{t-1}", 24, "the index of the round alone"),
    (LOOP, r"\frac{2k}", r"\frac{2t}", 33, "letters of the table alone"),
    (LOOP, "Draw:", "Query:", 24, ""),
    (STOPPED, "else at $k$", "else at $k+1$", 35, "else at $k$"),
    (STOPPED, r"z_t\le c", "z_t=c", 35, "a comparison"),
    (STOPPED, "Output:", "Set:\n$$w_t=w_{t-1}$$\n\nOutput:", 38, "the last line of a round"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("text", "old", "new", "line", "words"), REFUSED)
def test_what_is_not_understood_is_refused_with_its_line(
    text: str, old: str, new: str, line: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "mine.md"
    page.write_text(changed(text, (old, new)), encoding="utf-8")
    assert call("prove", str(page)) == 2
    said = capsys.readouterr().err
    assert words in said
    assert f"line {line}:" in said or line == 3, said


def one_less(reader: LoopReader, *of: Any) -> Any:
    letters = [*HEADER(reader, *of)]
    reader.last = ("add", reader.last, ("num", "-1"))
    return letters


HEADER, ALL_OF = LoopReader.header, LoopReader.all_of


@pytest.mark.parametrize(
    ("text", "name", "wrong"),
    [
        (LOOP, "header", one_less),
        (LISTED, "all_of", lambda reader, signs: reader.name(("w",), "t") if ALL_OF(reader, signs) else None),
    ],
)
def test_what_one_reader_misreads_is_refused(
    text: str, name: str, wrong: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults planted in the first reader are seen by the second: in the number of rounds, in a list of outputs."""
    page = tmp_path / "mine.md"
    page.write_text(text, encoding="utf-8")
    read_mechanisms(page)
    monkeypatch.setattr(LoopReader, name, wrong)
    with pytest.raises(ValueError, match="the two readers differ"):
        read_mechanisms(page)
