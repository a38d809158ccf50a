"""Queries of records that stand in many terms, in an order, or not at their index: their sensitivity, and no less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.errors import DpverifyError
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.finite_models import FloatModel
from dpverify.statements.mechanisms.proofs.claims import claim_of
from dpverify.statements.mechanisms.reading import read_mechanisms

from .test_mechanisms import COLUMNS, SCALE, SUM, TEXT, UNIT, WEIGHTS, decided, proved

INDEX, LAST = "| $k$ | integer >= 1 |\n", "- given: $k\\le n$\n"
ORDER, PERMUTED = (
    "| $p$ | function of $\\mathbb{Z}$ to $\\mathbb{Z}$ |\n",
    "- given: $p\\text{ permutes the whole numbers from }1\\text{ to }n$\n",
)
QUERIES = {
    r"\sum_{i=1}^{n}\frac{x_i}{i}": ("1", "", ""),
    r"\mathrm{median}_{1\le i\le n}x_i": ("1", "", ""),
    r"x_{(\lceil\frac{3n}{4}\rceil)}-x_{(\lceil\frac{n}{4}\rceil)}": ("1", "", ""),
    r"\left(\sum_{i=1}^{n}\mathbf{1}[\frac{1}{2}<x_i]\right)\bmod 3": ("2", "", ""),
    r"1+\sum_{i=1}^{n}\mathbf{1}[x_i<x_k]": ("(n-1)", INDEX, LAST),
    r"\sum_{i=1}^{n}x_{p(i)}": ("1", ORDER, PERMUTED),
    r"\sum_{i=1}^{n}\sum_{j=i+1}^{n}|x_i-x_j|": ("(n-1)", "", ""),
    r"\sum_{i=1}^{n}|x_i-\frac{1}{n}\sum_{j=1}^{n}x_j|": (r"\frac{2(n-1)}{n}", "", ""),
    r"\sum_{i=1}^{n}(x_i-\frac{1}{n}\sum_{j=1}^{n}x_j)^2": (r"\frac{n-1}{n}", "", ""),
    r"\sum_{i=1}^{n}\frac{e^{x_i}}{\sum_{j=1}^{n}e^{x_j}}x_i": (r"\frac{e}{e+n-1}", "", ""),
    r"\sum_{j=1}^{\lfloor\frac{n}{2}\rfloor}(x_{2j-1}-x_{2j})": ("1", "", ""),
    r"\sum_{j=1}^{\lfloor\frac{n}{3}\rfloor}x_{3j-1}": ("1", "", ""),
    r"\sqrt{(x_n-x_1)^2+\sum_{i=1}^{n-1}(x_i-x_{i+1})^2}": (r"\sqrt{2}", "", ""),
    r"\frac{\sum_{i=1}^{n}x_i^2}{1+\sum_{i=1}^{n}x_i}": (r"\frac{1}{2}", "", ""),
}
"""Queries of at least two records in [0, 1]: sensitivity, further letters, and what is assumed of these."""


def asked(query: str, factor: str = "") -> str:
    sensitivity, letters, given = QUERIES[query]
    scale = rf"\frac{{{factor}{sensitivity}}}{{\varepsilon}}"
    page = UNIT.replace(SUM, f"s={query}").replace(SCALE, scale).replace(">= 1 |", ">= 2 |")
    return page.replace("| $n$ |", f"{letters}| $n$ |").replace("- neighbors", f"{given}- neighbors")


@pytest.mark.one_in(26)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_have_their_sensitivity(query: str, tmp_path: Path) -> None:
    """For every number of records."""
    proved(asked(query), tmp_path)


@pytest.mark.one_in(26)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_have_no_less(query: str, tmp_path: Path) -> None:
    """With nine tenths of the noise a pair breaks the claim."""
    row = decided(asked(query, r"0.9\cdot "), tmp_path)
    assert row.verdict is Verdict.REFUTED
    assert row.pair is not None
    show(claim_of(read_mechanisms(tmp_path / "mine.md")[0]).clause, row.pair.model, refute=True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("fold", [r"\max", r"\mathrm{median}"])
def test_records_that_are_clipped(fold: str, tmp_path: Path) -> None:
    proved(TEXT.replace(SUM, rf"s={fold}_{{1\le i\le n}}\min(\max(x_i,0),1)"), tmp_path)


def test_a_multiple_of_a_function_of_a_sum_for_each_candidate(tmp_path: Path) -> None:
    text = COLUMNS.replace(r"\sum_{i=1}^{n}x_{i,r}", r"\sqrt{\sum_{i=1}^{n}x_{i,r}^2}")
    proved(text.replace(r"y\sim\mathrm{Lap}(s,\frac{1}{\varepsilon})", WEIGHTS), tmp_path)


def read(query: str, folder: Path) -> Any:
    """A query as a function of the rows of records."""
    (folder / "mine.md").write_text(UNIT.replace(SUM, f"s={query}"), encoding="utf-8")
    (one,) = read_mechanisms(folder / "mine.md")
    code = FloatModel({}, {}).code(one.of("query")[0].term)
    return lambda row: code({"n": len(row), "x": lambda at: row[int(at[0]) - 1]})


def test_words_mean_what_is_known_by_them(tmp_path: Path) -> None:
    """The median, numbers of a rank, and remainders, with equal numbers and even numbers of these."""
    random = np.random.default_rng(1)
    median, second, last = (
        read(query, tmp_path) for query in (r"\mathrm{median}_{1\le i\le n}x_i", "x_{(2)}", "x_{(n)}")
    )
    left = read(r"(\sum_{i=1}^{n}4x_i)\bmod 3", tmp_path)
    for _ in range(60):
        row = [float(x) for x in random.integers(0, 5, size=int(random.integers(2, 7))) / 4]
        assert median(row) == np.median(row)
        assert (second(row), last(row)) == (sorted(row)[1], max(row))
        assert left(row) == 4 * sum(row) % 3


@pytest.mark.parametrize("query", [
    r"\mathrm{median}(x_1,x_2)", r"\mathrm{median}_{i\le n}x_i", r"\sum_{i=1}^{n}x_i\bmod 2", r"(x_1)\bmod 0",
    r"(x_1)\bmod 2+x_2", r"x_1+(x_2)\bmod 2", r"x_{(1),2}",
])  # fmt: skip
def test_what_could_mean_something_else_is_refused(query: str, tmp_path: Path) -> None:
    with pytest.raises(DpverifyError, match=r"mine\.md"):
        read(query, tmp_path)


def test_what_permutes_nothing_proves_nothing(tmp_path: Path) -> None:
    """A record that a function takes from several places may stand in several terms."""
    row = decided(asked(r"\sum_{i=1}^{n}x_{p(i)}").replace(PERMUTED, ""), tmp_path)
    assert row.verdict is Verdict.UNDECIDED
