"""What is chosen on pages, drawn, against the exact laws of what is chosen; and audited where candidates are many."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker.theorems.language import named
from dpverify.statements.mechanisms.pairs.choice_pairs import ChoicePairSearcher
from dpverify.statements.mechanisms.pairs.coin_pairs import CoinPairSearcher
from dpverify.statements.mechanisms.pairs.sampled import SampledPage
from dpverify.statements.mechanisms.pairs.search import PairCase
from dpverify.statements.mechanisms.reading import read_mechanisms
from dpverify.verification.mechanisms import mechanism_rows

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
LETTERS = {"n": Fraction(2), "k": Fraction(3), "c": Fraction(1), "varepsilon": Fraction(1)}
ROWS = tuple(tuple(map(Fraction, row)) for row in ((1, 0, 0), (1, 1, 0)))
RUNS = 20_000
SEVERAL = (
    ("Stop (at the first $j$, else at $k+1$)", "Stop (after $2$ of the $j$)"),
    (r"\frac{4}{\varepsilon}", r"\frac{8}{\varepsilon}"),
)


def example(name: str, folder: Path, *changes: tuple[str, str]) -> Path:
    """A page of an example, with some texts in place of others."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("noisy-max.md", ()),
        ("sparse-vector.md", ()), ("sparse-vector.md", SEVERAL), ("permute-and-flip.md", ()),
    ],
)  # fmt: skip
def test_frequencies_are_chances(name: str, changes: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    """By Hoeffding, one of 30 frequencies is off by more than this with probability below 1e-9."""
    (one,) = read_mechanisms(example(name, tmp_path, *changes))
    assert one.choice is not None
    assert one.records.over is not None
    letters = {letter.name: LETTERS[letter.name] for letter in one.letters}
    sizes = {} if one.records.columns else {named(one.records.over.kind): 3}
    searcher = (CoinPairSearcher if one.choice.coins else ChoicePairSearcher)(one, sizes, Random(0))
    chances = searcher.spread(searcher.env(PairCase(letters, ROWS, ROWS, 0), ROWS))
    draw = SampledPage(one, letters, sizes)
    found = draw(np.array(ROWS, dtype=np.float64), np.random.default_rng(3), RUNS)
    off = math.sqrt(math.log(2 * 30 / 1e-9) / (2 * RUNS))
    assert len(chances) >= 3
    for answer, chance in chances.items():
        value = answer if isinstance(answer, tuple) else (answer,)
        assert abs((found == np.array(value)).all(axis=1).mean() - chance) < off


def test_many_candidates_are_audited(tmp_path: Path) -> None:
    """With normal noise there is no exact law of answers. A false alarm has probability 1e-6."""
    twelve = (
        ("Stop (at the first $j$, else at $k+1$)", "Stop (after $6$ of the $j$)"),
        (r"\{1,\dots,k\}", r"\{1,\dots,12\}"),
        ("| $k$ | integer >= 1 | number of queries |\n", ""),
    )
    path = example(
        "sparse-vector.md", tmp_path, *twelve,
        (r"\mathrm{Lap}(q(j),\frac{4}{\varepsilon})", r"\mathcal{N}(q(j),\frac{1}{81\varepsilon})"),
    )  # fmt: skip
    (row,) = mechanism_rows([str(path)], audited=True)
    assert row.verdict is Verdict.VIOLATED
    assert row.audit is not None
