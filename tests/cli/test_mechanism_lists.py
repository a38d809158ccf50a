"""Mechanisms that randomize each record on its own: lists, in order and in random order."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.models import Model, show
from dpverify.proving.checker.theorems.outcomes import Finite
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.statements.mechanisms.pairs.loop_pairs import loop_witness, sum_of
from dpverify.statements.mechanisms.proofs.claims import claim_of
from dpverify.statements.mechanisms.reading import read_mechanisms
from dpverify.statements.mechanisms.rounds import LoopReader
from dpverify.statements.theorems.library import derive, shipped
from dpverify.statements.theorems.pages import read_theorems

from ..packaging.page_blocks import DOCS
from .calling import call
from .test_mechanism_loops import broken_at_few_rounds, changed, derived, refuted_loop
from .test_mechanisms import PAGE, proved

LIST = r"""# Lists

## Noise for each record {#example.list}

| letter | kind |
| --- | --- |
| $n$ | integer >= 1 |
| $\varepsilon$ | > 0 |

- records: $x_1,\dots,x_n$ in [0, 1]
- neighbors: replace one

Repeat (for $i=1,\dots,n$):

Draw:
$$y_i\sim\mathrm{Lap}(x_i,\frac{1}{\varepsilon})$$

Output:
$$y_1,\dots,y_n$$

Claim:
$$\varepsilon\text{-DP}$$
"""
LAPLACE, ORDER = r"\mathrm{Lap}(x_i,\frac{1}{\varepsilon})", ("Output:", "Output (in random order):")
SHUFFLED = changed(LIST, ORDER)
BITS = changed(SHUFFLED, (LAPLACE, r"\mathrm{Ber}(\frac{1+(e^{\varepsilon}-1)x_i}{1+e^{\varepsilon}})"))
FLIPPED = changed(
    LIST, (LAPLACE, r"\mathrm{Ber}(p+(1-2p)\mathbf{1}[x_i\ge\frac{1}{2}])"),
    (r"$\varepsilon$ | > 0", r"$p$ | (0, 1/2]"), (r"\varepsilon\text{-DP}", r"\log(\frac{1-p}{p})\text{-DP}"),
)  # fmt: skip
FEWER = changed(
    LIST, (r"| $\varepsilon$", "| $k$ | integer >= 1 |\n| $\\varepsilon$"), (r"=1,\dots,n", r"=1,\dots,k"),
    ("y_n", "y_k"), ("- neighbors", "- given: $k\\le n$\n- neighbors"),
)  # fmt: skip
SEEN = changed(
    LIST, ("Repeat", "Start:\n$$w_0=0$$\n\nRepeat"), ("(x_i,", r"(\min(x_i,|w_{i-1}|)-w_{i-1},"),
    ("Output", "Set:\n$$w_i=w_{i-1}+y_i$$\n\nOutput"), (r"y_1,\dots,y_n", "w_n"),
)  # fmt: skip
ENDED = changed(
    SEEN, ("Output", "Stop (at the first $i$, else at $n$):\n$$w_i\\ge 1$$\n\nOutput"), ("$$w_n$$", "$$(i,w_i)$$"),
)  # fmt: skip
GAUSSIAN = changed(
    SHUFFLED, (LAPLACE, r"\mathcal{N}(x_i,\frac{2\log(1.25/\delta)}{\varepsilon^2})"),
    (r"$\varepsilon$ | > 0 |", "$\\varepsilon$ | (0, 1] |\n| $\\delta$ | (0, 3/4] |"),
    (r"\varepsilon\text{-DP}", r"(\varepsilon,\delta)\text{-DP}"),
)  # fmt: skip
TWICE = changed(
    LIST, ("Output", "Draw:\n$$z_i\\sim\\mathrm{Lap}(\\max(x_i,y_i),\\frac{1}{\\varepsilon})$$\n\nOutput"),
    ("$$y_1,\\dots,y_n$$", "$$z_1,\\dots,z_n$$"), (r"\varepsilon\text{-DP}", r"(2\varepsilon)\text{-DP}"),
)  # fmt: skip
RIGHT = {
    "numbers": LIST, "in random order": SHUFFLED, "bits": BITS, "flipped bits": FLIPPED, "fewer rounds": FEWER,
    "in the light of those before": SEEN, "until some number": ENDED, "normal noise": GAUSSIAN, "two draws": TWICE,
}  # fmt: skip
HALF = (r"\varepsilon\text{-DP}", r"\frac{\varepsilon}{2}\text{-DP}")
UNPROVED = {
    "bits at half the price": changed(BITS, HALF),
    "the record before": changed(LIST, ("(x_i,", "(x_{i-1},")),
    "another record too": changed(LIST, ("(x_i,", "(x_i+x_1,")),
    "all records": changed(LIST, ("(x_i,", r"(\sum_{j=1}^{n}x_j,")),
    "more rounds than records": changed(FEWER, ("- given: $k\\le n$\n", "")),
    "two draws at the price of one": changed(TWICE, (r"(2\varepsilon)\text", r"\varepsilon\text")),
    "half the price": changed(LIST, HALF),
    "no chance": changed(BITS, (r"}{1+e^{\varepsilon}}", r"}{2+\varepsilon}")),
}  # fmt: skip


def test_a_list_is_proved_by_one_round_and_by_nothing_less(tmp_path: Path) -> None:
    """Without that rounds are numbered from 1 on, steps are refused."""
    found = proved(SHUFFLED, tmp_path)
    assert "theorem.records-in-turn" in found.certificate["library"]
    text = json.dumps(found.certificate)
    assert check(json.loads(text)).confirmed
    for old, new in (
        ('["add", ["of", "now', '["max", ["of", "now'),
        ('["num", "1"]]]', '["num", "0"]]]'),
    ):
        assert old in text
        assert not check(json.loads(text.replace(old, new))).confirmed


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_are_proved_for_all_numbers_of_records(name: str, tmp_path: Path) -> None:
    proved(RIGHT[name], tmp_path)
    (one,) = read_mechanisms(tmp_path / "mine.md")
    show(claim_of(one).clause, loop_witness(one, claim_of(one)), refute=False)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", UNPROVED)
def test_what_does_not_follow_is_not_proved(name: str, tmp_path: Path) -> None:
    assert derived(UNPROVED[name], tmp_path).certificate is None


MORE = (r"integer >= 1", r"integer >= 2")
BROKEN = {
    "bits at half the price, in random order": (changed(BITS, HALF, MORE), "by how many outputs are 1,"),
    "half the price, in order": (changed(LIST, HALF), "by this draw"),
    "numbers at half the price, in random order": (changed(SHUFFLED, HALF, MORE), "by how many outputs are at most 0,"),
    "of seven records": (
        changed(BITS, HALF, ("| $n$ | integer >= 1 |\n", ""), (r"\dots,x_n", r"\dots,x_7"), (r"\dots,n", r"\dots,7"),
                (r"\dots,y_n", r"\dots,y_7")), "by how many outputs are 1,",
    ),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", BROKEN)
def test_wrong_claims_are_broken_by_how_many_outputs_are_something(name: str, tmp_path: Path) -> None:
    text, words = BROKEN[name]
    one, row = refuted_loop(text, tmp_path)
    assert words in row.reason
    counts = words.removeprefix("by how many outputs ").rstrip(",") if "many" in words else ""
    assert broken_at_few_rounds(one, row.pair.model, counts)
    assert not broken_at_few_rounds(one, {**row.pair.model, "neighbors": {"mathcalD": []}}, counts)


def test_what_order_gains_is_broken_as_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, text = tmp_path / "mine.md", (DOCS / "examples" / "shuffled-bits.md").read_text(encoding="utf-8")
    hoped = (r"\log\frac{1-p}{p}\text", r"(\frac{1}{\sqrt{n}}\log\frac{1-p}{p},\frac{1}{1000})\text")
    page.write_text(changed(text, hoped, ("integer >= 1", "integer >= 10")), encoding="utf-8")
    assert call("prove", str(page)) == 0
    said = (
        PAGE.read_text(encoding="utf-8")
        .partition("for 10 records and more:\n\n```text\n")[2]
        .partition("```")[0]
    )
    assert said
    assert said in capsys.readouterr().out


def test_bits_are_counted_as_one_by_one() -> None:
    """The law of their number, as the checker has it, against all that they may be."""
    odds = [Fraction(k, 7) for k in (1, 3, 6)]
    law = sum_of([("bernoulli", ("num", str(p))) for p in odds])
    clause = Clause.read({"types": [], "body": ["all", [], [], ["==", ["num", "0"], ["num", "0"]]]})
    found = Model(clause, {"types": {}, "neighbors": {}, "letters": []}).value(law, {})
    wanted = dict[Fraction, Fraction]()
    for bits in product((0, 1), repeat=3):
        mass = Fraction(1)
        for p, bit in zip(odds, bits, strict=True):
            mass *= p if bit else 1 - p
        wanted[Fraction(sum(bits))] = wanted.get(Fraction(sum(bits)), Fraction(0)) + mass
    assert isinstance(found, Finite)
    assert {value.number: mass.number for value, mass in found.masses} == wanted


FAULTS = [
    (r"t(a(y,z))=t(y)+1$$", r"t(a(y,z))=t(y)-1$$", r"p(D,D')<t(a(y,z))"),
    (
        r"t(y)\le m\text{ and }\neg(t(y)=p(D,D'))\implies\Pr",
        r"t(y)\le m\text{ and }t(y)<p(D,D')\implies\Pr",
        "`lemma.means-of-same`",
    ),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("old", "new", "needed"), FAULTS)
def test_without_what_it_assumes_the_lemma_is_not_derived(
    old: str, new: str, needed: str, tmp_path: Path
) -> None:
    """Up to the step that needs it: rounds that go back, and rounds that ask for the record behind it."""
    text = shipped().pages["lemma.rounds-behind"].read_text(encoding="utf-8")
    part = text[text.index("## Rounds behind") : text.index("## Rounds that each")]
    blocks = part.split("\n\n")
    last = next(k for k, one in enumerate(blocks) if one.startswith("Step") and needed in one)
    blocks = [*blocks[:last], "Then" + blocks[last].removeprefix("Step")]
    page = tmp_path / "mine.md"
    mine = changed("\n\n".join(blocks), ("lemma.rounds", "my.rounds"), (old, new))
    page.write_text("# Mine\n\n" + mine + "\n", encoding="utf-8")
    (one,) = read_theorems(page)
    assert not derive(one).derived


REFUSED = [
    (SHUFFLED, "Output (in random order)", "Output (shuffled)", 19, "Output (in random order):"),
    (SHUFFLED, r"$$y_1,\dots,y_n$$", "$$y_n$$", 19, "of a list"),
    (changed(ENDED, ("Output:", "Output (in random order):")), "$$(i,w_i)$$", r"$$w_1,\dots,w_i$$", 28, "without Stop"),
    (changed(SHUFFLED, ("Repeat (for $i=1,\\dots,n$):\n\n", ""), ("y_i", "y"), ("(x_i,", "(x_1,")),
     r"$$y_1,\dots,y_n$$", "$$y$$", 17, "behind Repeat"),
    (LIST, "Repeat (for", "Shuffle:\n\nRepeat (for", 13, "Output (in random order):"),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("text", "old", "new", "line", "words"), REFUSED)
def test_what_is_not_understood_is_refused_with_its_line(
    text: str, old: str, new: str, line: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "mine.md"
    page.write_text(changed(text, (old, new)), encoding="utf-8")
    assert call("prove", str(page)) == 2
    said = capsys.readouterr().err
    assert words in said
    assert f"line {line}:" in said, said


@pytest.mark.parametrize(("text", "planted"), [(SHUFFLED, False), (LIST, True)])
def test_both_readers_read_in_which_order_answers_are(
    text: str,
    planted: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A first reader that takes one for the other is noticed."""
    page = tmp_path / "mine.md"
    page.write_text(text, encoding="utf-8")
    (one,) = read_mechanisms(page)
    assert one.loop is not None
    assert one.loop.shuffled is not planted
    monkeypatch.setattr(LoopReader, "shuffled", property(lambda _: planted, lambda *_: None), raising=False)
    assert call("prove", str(page)) == 2
    assert "the two readers differ: the first reads `in" in capsys.readouterr().err
