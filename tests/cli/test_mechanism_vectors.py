"""Mechanisms that put out vectors: noise on each number, by what the numbers of a record cost together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.arithmetic import entail
from dpverify.proving.checker.theorems.language import put
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.letters import Alphabet, TheoremLetter
from dpverify.proving.theorems.notation import TheoremReader
from dpverify.proving.theorems.signs import signs_of
from dpverify.statements.mechanisms.guarantees import guarantee_proved
from dpverify.statements.mechanisms.pairs.loop_pairs import loop_witness
from dpverify.statements.mechanisms.proofs.claims import claim_of
from dpverify.statements.mechanisms.reading import read_mechanisms

from ..benchmarks.mechanisms import gallery
from .calling import call
from .test_mechanism_loops import changed, derived, refuted_loop

CELLS, GRADIENTS, SUM = map(gallery.section, ("cells", "clipped-gradients", "clipped-sum-of-vectors"))
REPLACED = ("add or remove one", "replace one")
LAPLACE, NORMAL = r"\mathrm{Lap}(q(j),\frac{1}{\varepsilon})", r"\frac{c^2}{2\rho}"
NORM = r"\frac{1}{c}\sqrt{\sum_{l=1}^{d}x_{i,l}^2}"
EACH = r"Draw (for each $j\in\{1,\dots,k\}$):"
LOOP = changed(
    CELLS,
    ("Query (for each $j\\in\\{1,\\dots,k\\}$):", "Repeat (for $t=1,\\dots,k$):\n\nQuery:"),
    ("q(j)=", "q_t="), ("x_i=j", "x_i=t"), (EACH, "Draw:"), ("y_j", "y_t"), ("q(j)", "q_t"),
)  # fmt: skip
BALL = changed(
    GRADIENTS, REPLACED, ("integer >= 0", "integer >= 1"), ("of numbers", "in [0, 1]"),
    (r"\frac{x_{i,j}}{\max(1," + NORM + ")}", "x_{i,j}"), (NORMAL, r"\frac{d}{2\rho}"),
)  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "text",
    [
        LOOP,
        changed(
            CELLS, REPLACED, ("integer >= 0", "integer >= 1"), (LAPLACE, r"\mathrm{Lap}(q(j),\frac{2}{\varepsilon})")
        ),
        changed(CELLS, (LAPLACE, r"\mathcal{N}(q(j),\frac{1}{2\varepsilon})"), (r"\text{-DP}", r"\text{-zCDP}")),
        changed(GRADIENTS, REPLACED, ("integer >= 0", "integer >= 1"), (NORMAL, r"\frac{2c^2}{\rho}")),
        changed(GRADIENTS, (r"\rho\text{-zCDP}", r"(3,\rho\cdot 6)\text{-RDP}"), (NORMAL, r"\frac{c^2}{4\rho}")),
        changed(CELLS, (r"q(j)=\sum", r"q(j)=-\sum")),
        changed(CELLS, (r"q(j)=\sum", r"q(j)=j+2\varepsilon+\sum")),
    ],
    ids=["loop", "replace", "normal cells", "replaced gradient", "renyi", "with a minus", "with what is public"],
)  # fmt: skip
def test_vectors_are_proved(text: str, tmp_path: Path) -> None:
    found = derived(text, tmp_path)
    assert found.certificate is not None, found.reason
    assert {"theorem.pure-together", "theorem.concentrated-together"} & {*found.uses}
    (one,) = read_mechanisms(tmp_path / "mine.md")
    claim = claim_of(one)
    show(claim.clause, loop_witness(one, claim), refute=False)


def test_the_witness_has_a_round(tmp_path: Path) -> None:
    """From one history to another; with another law of the rounds, what is assumed of them is not true."""
    page = tmp_path / "mine.md"
    page.write_text("# Mine\n\n" + CELLS, encoding="utf-8")
    (one,) = read_mechanisms(page)
    claim = claim_of(one)
    model = loop_witness(one, claim)
    assert model["types"]["history"] == 2
    place = claim.names.index("the rounds")
    model["letters"][place]["then"].reverse()
    with pytest.raises(ValueError, match="what is assumed"):
        show(claim.clause, model, refute=False)


def test_numbers_without_a_norm_are_paid_for_one_by_one(tmp_path: Path) -> None:
    assert "theorem.concentrated-until" in derived(BALL, tmp_path).uses


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (changed(CELLS, (LAPLACE, r"\mathrm{Lap}(q(j),\frac{1}{3\varepsilon})")), r"3\varepsilon"),
        (changed(GRADIENTS, REPLACED, ("integer >= 0", "integer >= 1")), r"4\rho"),
    ],
)
def test_what_holds_instead_is_sharp(text: str, value: str, tmp_path: Path) -> None:
    one, row = refuted_loop(text, tmp_path)
    found = guarantee_proved(one)
    assert row.pair is not None
    assert found is not None
    assert found.value == value


def test_a_certificate_for_less_noise_is_refused(tmp_path: Path) -> None:
    text = json.dumps(derived(CELLS, tmp_path).certificate)
    assert check(json.loads(text)).confirmed
    scale = ["mul", ["num", "1"], ["pow", ["sym", "varepsilon"], ["num", "-1"]]]
    wrong = text.replace(json.dumps(scale), json.dumps([*scale[:1], ["num", "1/2"], *scale[2:]]))
    assert wrong != text
    assert not check(json.loads(wrong)).confirmed


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "text",
    [
        changed(GRADIENTS, (NORMAL, r"\frac{c^2}{3\rho}")),
        changed(SUM, (r"\frac{2c}{\varepsilon}", r"\frac{c}{\varepsilon}")),
        changed(GRADIENTS, (NORM, r"\frac{1}{2c}\sqrt{\sum_{l=1}^{d}x_{i,l}^2}")),
        changed(CELLS, (r"\mathbf{1}[x_i=j]", r"\mathbf{1}[x_i\ge j]")),
    ],
    ids=["less noise", "half the noise", "norm 2c", "a record in many cells"],
)  # fmt: skip
def test_others_are_not_proved(text: str, tmp_path: Path) -> None:
    assert derived(text, tmp_path).certificate is None


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("$$y_1,\\dots,y_k$$", "$$y_1,\\dots,y_n$$", 23, "where all is drawn for each"),
        ("$$y_1,\\dots,y_k$$", "$$q_1,\\dots,q_k$$", 23, "a declared letter"),
        ("Output:", "Draw:\n$$z\\sim\\mathrm{Lap}(0,1)$$\n\nOutput:", 26, "where all is drawn for each"),
        ("Output:", "Output (in random order):", 23, "behind Repeat"),
        (LAPLACE, r"\mathrm{Lap}(q(j),\frac{1+j}{\varepsilon})", 20, "noise of one scale for all"),
        (EACH, EACH.replace("for each", "the same for each"), 20, "`Draw (for each"),
        (EACH, EACH.replace("):", ", once):"), 20, "`Draw (for each"),
        ("Query (for each", "Query (for some", 17, "`Query (for each"),
        (EACH, EACH.replace("k", "n"), 20, "the same in all lines"),
        (EACH, EACH.replace("1,", "0,"), 20, "one that is declared"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(
    old: str, new: str, line: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "mine.md"
    page.write_text("# Mine\n\n" + changed(CELLS, (old, new)), encoding="utf-8")
    assert call("prove", str(page)) == 2
    said = capsys.readouterr().err
    assert words in said, said
    assert f"line {line}:" in said, said


@pytest.mark.parametrize(
    ("term", "sign"),
    [
        (r"\sum_{i=1}^{n}f(i)^2", True),
        (r"\sum_{i=1}^{n}|f(i)|\cdot 2", True),
        (r"\sum_{i=1}^{n}(f(i)^2+\mathbf{1}[0<f(i)])", True),
        (r"\sum_{i=1}^{n}\sqrt{|f(i)|}", True),
        (r"\sum_{i=1}^{n}f(i)^3", False),
        (r"\sum_{i=1}^{n}f(i)", False),
        (r"\sum_{i=1}^{n}(-1)f(i)^2", False),
        (r"\sum_{i=1}^{n}f(i)|f(i)|", False),
        (r"\sum_{i=1}^{n}(f(i)^2-1)", False),
        (r"\sum_{i=1}^{n}\frac{1}{f(i)^2}", False),
    ],
)
def test_the_checker_knows_which_sums_are_not_negative(term: str, sign: bool) -> None:
    """By their form alone; a term of a sum that may have no value is refused."""
    f, n = TheoremLetter("f", "f", ("integer",), "real"), TheoremLetter("n", "n", (), "integer")
    reader = TheoremReader(Alphabet().having(f).having(n))
    claim = put(reader.formula(signs_of(rf"0\le {term}")), {})
    if sign:
        entail(reader.scope, [], claim, None, None, frozenset(), 400_000)
    else:
        with pytest.raises(ValueError):  # noqa: PT011 - the sentences differ
            entail(reader.scope, [], claim, None, None, frozenset(), 400_000)


@pytest.mark.parametrize(("what", "wrong"), [("candidates", ("sym", "n")), ("list", ("sym", "n"))])
def test_what_one_reader_misreads_is_refused(
    what: str, wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults planted in the second reader: how many numbers there are, and in which list."""
    from dpverify.proving.second_reader.theorem_alphabet import TheoremAlphabet

    page = tmp_path / "mine.md"
    page.write_text("# Mine\n\n" + CELLS, encoding="utf-8")
    read_mechanisms(page)
    right = TheoremAlphabet.line_of
    monkeypatch.setattr(
        TheoremAlphabet, "line_of", lambda self, *of: wrong if of[2] == what else right(self, *of)
    )
    with pytest.raises(ValueError, match="the two readers differ"):
        read_mechanisms(page)
