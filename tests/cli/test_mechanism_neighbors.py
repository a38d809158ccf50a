"""Pages with neighbors of which one has a record more, and with samples: proved, broken, refused and audited."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.models import show
from dpverify.statements.mechanisms.pairs.sample_pairs import SamplePairSearcher
from dpverify.statements.mechanisms.pairs.sampled import SampledPage
from dpverify.statements.mechanisms.pairs.search import PairSearch, PairSearcher, search_pairs
from dpverify.statements.mechanisms.proofs.claims import MechanismProof, claim_of, derive_mechanism
from dpverify.statements.mechanisms.proofs.samples import sample_letters
from dpverify.statements.mechanisms.reading import read_mechanisms
from dpverify.statements.mechanisms.scope import dependence
from dpverify.statements.theorems.library import shipped
from dpverify.verification.mechanisms import mechanism_rows

from ..packaging.page_blocks import DOCS
from .calling import call

EXAMPLES = DOCS / "examples" / "counts.md"
MEAN, COUNT, SOME = (
    "## " + one for one in EXAMPLES.read_text(encoding="utf-8").replace("{#", "{#my.").split("\n## ")[1:]
)
SUM = MEAN.partition("Draw:\n$$z")[0].replace(r"\frac{2}", r"\frac{1}") + (
    "Output:\n$$y$$\n\nClaim:\n$$\\varepsilon\\text{-DP}$$\n"
)
"""A sum of records in [-1, 1] with noise of scale 1/epsilon."""


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def page(text: str, folder: Path) -> Path:
    path = folder / "mine.md"
    path.write_text("# A page\n\n" + text, encoding="utf-8")
    return path


def proof(text: str, folder: Path) -> MechanismProof:
    """What is derived, of a page on which all is public that must be; roots of theorems are not derived again."""
    (one,) = read_mechanisms(page(text, folder))
    assert dependence(one) is None
    return derive_mechanism(one)


def searched(text: str, folder: Path) -> PairSearch:
    (one,) = read_mechanisms(page(text, folder))
    return search_pairs(one, claim_of(one), searcher=SamplePairSearcher if one.sample else PairSearcher)


def query(asked: str, scale: str = "1", records: str = "[0, 1]", n: str = "0") -> str:
    """A page with another query, and noise of a multiple of 1/epsilon."""
    return changed(
        SUM, (r"\sum_{i=1}^{n}x_i", asked), (r"\frac{1}{\v", rf"\frac{{{scale}}}{{\v"), ("[-1, 1]", records),
        (">= 0 |", f">= {n} |"),
    )  # fmt: skip


LARGEST = r"\max_{1\le i\le n}x_i"
QUERIES = [
    (r"\sum_{i=1}^{n}1", "1", "[0, 1]", "0"),
    ("n", "1", "[0, 1]", "0"),
    (r"\sum_{i=1}^{n}\min(\max(x_i,0),1)", "1", "[-5, 5]", "0"),
    (r"\sum_{i=1}^{n}x_i", "1", "[-1, 1]", "0"),
    (r"\sum_{i=1}^{n}x_i", "2", "[-1, 2]", "0"),
    (r"2n+\sum_{i=1}^{n}(x_i-2)", "1", "[0, 1]", "0"),
    (r"\sum_{i=1}^{n}(x_i-\frac{1}{2})", r"\frac{1}{2}", "[0, 1]", "0"),
    (r"\sum_{i=1}^{n-1}x_i", "1", "[-1, 1]", "1"),
    (r"\sum_{i=2}^{n}x_i^2", "1", "[-1, 1]", "1"),
    (r"\prod_{i=1}^{n}x_i", "1", "[0, 1]", "0"),
    (LARGEST, "3", "[-1, 2]", "1"),
    (LARGEST.replace("max", "min"), "1", "[0, 1]", "1"),
    (r"\mathbf{1}[5\le\sum_{i=1}^{n}x_i]", "1", "[0, 1]", "0"),
    (r"\frac{1}{n}\sum_{i=1}^{n}x_i", r"\frac{1}{2}", "[0, 1]", "1"),
    (r"\sum_{i=1}^{n}\frac{1}{1+x_i}", "1", "[0, 1]", "0"),
]
"""Queries with their sensitivity, the interval of records, and how many records there are at least."""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("row", QUERIES, ids=lambda row: f"{row[0]} {row[2]}")
def test_queries_have_their_sensitivity_and_no_less(row: tuple[str, str, str, str], tmp_path: Path) -> None:
    """Proved for data sets of every size; broken with nine tenths of the noise, by data sets of two sizes."""
    asked, scale, *rest = row
    assert proof(query(asked, scale, *rest), tmp_path).certificate is not None
    found = searched(query(asked, rf"0.9\cdot {scale}", *rest), tmp_path).broken
    assert found is not None
    assert abs(len(found.left) - len(found.right)) == 1
    epsilon = float(Fraction(dict(found.letters)[r"\varepsilon"]))
    assert found.needs == pytest.approx(epsilon / 0.9, rel=1e-3)


def test_the_examples_follow_and_rest_on_both_directions(tmp_path: Path) -> None:
    for one in read_mechanisms(EXAMPLES):
        found = derive_mechanism(one)
        assert found.certificate is not None
        if one.size is not None:
            assert "rule.neighbors-symmetric" in found.uses
    text = json.dumps(proof(SUM, tmp_path).certificate)
    assert check(json.loads(text)).confirmed
    assert not check(json.loads(text.replace('["num", "1"]', '["num", "1/2"]'))).confirmed


def test_a_mean_is_refuted_and_its_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mean = query(r"\frac{1}{n}\sum_{i=1}^{n}x_i", "1", "[0, 1]", "1")
    path = page(changed(mean, (r"\frac{1}{\varepsilon}", r"\frac{1}{n\varepsilon}")), tmp_path)
    assert call("prove", str(path), "--strict") == 1
    out = capsys.readouterr().out
    text = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
    assert text.partition("example.mean, ")[2].partition("  this pair")[0] in out
    shown = " ".join(out.split())
    assert "line 17: the scale of the noise depends on the number of records" in shown
    empty = page(query(r"\sum_{i=1}^{n}1", "0.9"), tmp_path)
    assert call("prove", str(empty)) == 0
    assert "no records" in capsys.readouterr().out


PRIVATE = [
    ((r"\frac{1}{\varepsilon}", r"\frac{1}{\varepsilon}+0\cdot n"), 17, "the scale of the noise depends on the number"),
    (("$$y$$", "$$y+0\\cdot n$$"), 20, "what is made from the draws"),
    ((r"^{n}x_i", r"^{\lfloor\frac{n}{2}\rfloor}x_i"), 14, "where a sum begins or ends depends on the number"),
    ((r"\sum_{i=1}^{n}x_i", r"\sum_{i=1}^{3}x_i"), 14, "where a sum begins or ends"),
    ((r"\sum_{i=1}^{n}x_i", "x_1"), 14, "a record is asked for by its number"),
    ((r"\sum_{i=1}^{n}x_i", r"\sum_{i=1}^{n}x_{i+1}"), 14, "a record is asked for by its number"),
    ((r"\sum_{i=1}^{n}x_i", LARGEST), 14, "the largest value of no records has no value"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "line", "words"), PRIVATE, ids=[row[2] for row in PRIVATE])
def test_what_depends_on_the_number_of_records_is_named(
    change: tuple[str, str], line: int, words: str, tmp_path: Path
) -> None:
    (one,) = read_mechanisms(page(changed(SUM, change), tmp_path))
    found = dependence(one)
    assert found is not None
    assert (found[0], found[1].startswith(words)) == (line, True)


REFUSED = [
    (SUM, (r"\varepsilon\text{-DP}", r"\frac{1}{n+1}\text{-DP}"), "23: claim was"),
    (SUM, (r"\varepsilon\text{-DP}", r"x_1\text{-DP}"), "23: claim was"),
    (SUM, ("- neighbors", "- given: $1\\le n$\n- neighbors"), "given was `n`"),
    (SUM, ("integer >= 0", "integer >= -1"), "integer >= 0"),
    (SUM, ("x_n$", "x_{n+1}$"), "integer >= 0"),
    (COUNT, ("add or remove one", "replace one"), "`- neighbors: add or remove one`"),
    (COUNT, ("integer >= 0", "integer >= 1"), "`integer >= 0`"),
    (COUNT, ("probability $p$", "probability $p+n$"), "depend on no records"),
    (COUNT, ("each record", "every record"), "Subsample (each record"),
    (COUNT, ("Subsample", "Shuffle"), "Output (in random order):"),
    (COUNT, ("\nDraw:", "\nSubsample (each record with probability $p$):\n\nDraw:"), "one Subsample, before all"),
    (SOME, ("replace one", "add or remove one"), "does not depend on the number of records"),
    (SOME, ("$m$ of $n$", "$n$ of $m$"), "of the number of records"),
    (SOME, ("$m$ of $n$", "$\\frac{m}{2}$ of $n$"), "a whole number of records"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "change", "words"), REFUSED)
def test_what_is_no_such_page_is_refused(
    text: str, change: tuple[str, str], words: str, tmp_path: Path
) -> None:
    path = page(changed(text, change), tmp_path)
    with pytest.raises(ValueError, match="mine") as error:
        read_mechanisms(path)
    assert words in str(error.value)


NOISE = r"\frac{1}{\varepsilon}"
LAPLACE = changed(
    SOME, (r"\mathcal{N}(s,\frac{2\log(1.25/\delta)}{m^2\varepsilon^2})", r"\mathrm{Lap}(s,\frac{1}{m\varepsilon})"),
    (r",\frac{m}{n}\delta\right", r",0\right"),
)  # fmt: skip
WORSE = [
    (COUNT, (r"\log(1+p\cdot(e^{\varepsilon}-1))", r"(p\cdot\varepsilon)")),
    (COUNT, (NOISE, r"\frac{0.9}{\varepsilon}")),
    (COUNT, (NOISE, r"\frac{1+n}{\varepsilon}")),
    (COUNT, ("Subsample (each record with probability $p$):\n\nQuery", "Query")),
    (LAPLACE, (r"\frac{m}{n}(", r"\frac{m}{n+1}(")),
    (LAPLACE, (r"\frac{1}{m\varepsilon}", r"\frac{1}{n\varepsilon}")),
]


def test_samples_with_a_fault_are_not_proved_and_broken(tmp_path: Path, thorough: bool) -> None:
    """By pairs of data sets, with the exact mixture of all samples; without a sample, too."""
    assert not thorough or proof(LAPLACE, tmp_path).certificate is not None
    for k, (text, change) in enumerate(WORSE):
        (one,) = read_mechanisms(page(changed(text, change), tmp_path))
        assert (dependence(one) is not None) == ("1+n" in change[1])
        assert dependence(one) or not (thorough or k == 0) or derive_mechanism(one).certificate is None
        broken = searched(changed(text, change), tmp_path).broken
        assert broken is not None
        show(claim_of(one).clause, broken.model, refute=True)
        if change[0].startswith(r"\log"):
            p, epsilon = (float(Fraction(value)) for _, value in broken.letters)
            assert broken.needs == pytest.approx(math.log(1 + p * math.expm1(epsilon)), rel=1e-5)


def test_what_is_not_shown_of_samples_is_not_proved(tmp_path: Path, thorough: bool) -> None:
    """A sample may be all records; a sum over all records is not one over the sample; no theorem is known of zCDP."""
    assert not thorough or proof(changed(LAPLACE, ("m<n", r"m\le n")), tmp_path).certificate is None
    (one,) = read_mechanisms(page(changed(SOME, ("}^{m}", "}^{n}")), tmp_path))
    assert dependence(one) is not None
    found = proof(
        changed(COUNT, (r"\log(1+p\cdot(e^{\varepsilon}-1))\text{-DP}", r"p\text{-zCDP}")), tmp_path
    )
    assert found.reason == "no theorem is known of this guarantee on samples"


def test_samples_of_models_are_samples(tmp_path: Path) -> None:
    """What is assumed of samples is true of those of a pair, and not with another chance or another sample."""
    for text in (COUNT, changed(SOME, ("integer >= 2", "integer >= 3"), ("m<n", "m+1<n"))):
        (one,) = read_mechanisms(page(text, tmp_path))
        claim = claim_of(one)
        search = SamplePairSearcher(one, {}, Random(1))
        case = next(
            case for case in search.cases() if case.letters.get("p", 1) not in (0, 1) or one.size is None
        )
        model = search.model(case, claim)
        show(claim.clause, model, refute=False)
        for name in ("the law of sets", "the sample", "has"):
            if name not in claim.names:
                continue
            wrong = json.loads(json.dumps(model))
            k = claim.names.index(name)
            wrong["letters"][k] = _reversed(wrong["letters"][k])
            if wrong["letters"][k] != model["letters"][k]:
                with pytest.raises(ValueError, match="what is assumed"):
                    show(claim.clause, wrong, refute=False)
        assert len(sample_letters(one).premises) == (4 if one.size else 8)


def _reversed(table: Any) -> Any:
    return [_reversed(row) for row in table][::-1] if isinstance(table, list) else table


def test_draws_on_samples_have_the_law_of_the_mixture(tmp_path: Path) -> None:
    """Means of 4000 runs within 6 standard errors (1e-8), and audits that see what no model is made of."""
    for text, letters, mean in (
        (COUNT, {"p": 0.25, "varepsilon": 1e9}, 0.25 * 6), (SOME, {"n": 8, "m": 3, "varepsilon": 1, "delta": 0.1}, 0.75)
    ):  # fmt: skip
        (one,) = read_mechanisms(page(text, tmp_path))
        drawn = SampledPage(one, letters, {})(np.array([1.0] * 6 + [0.0] * 2), np.random.default_rng(3), 4000)  # type: ignore[arg-type]
        assert abs(drawn.mean() - mean) < 6 * drawn.std() / math.sqrt(4000)
    rate = (" with probability $p$", r" with probability $\frac{1}{1+e^{-\varepsilon}}$")
    wrong = changed(
        COUNT, rate, ("| $p$ | [0, 1] | |\n", ""), (r"\log(1+p\cdot(e^{\varepsilon}-1))", r"\varepsilon"),
        (NOISE, r"\frac{1}{4\varepsilon}"),
    )  # fmt: skip
    (row,) = mechanism_rows([str(page(wrong, tmp_path))], audited=True)
    assert row.verdict is Verdict.VIOLATED


def test_a_claim_about_a_number_of_records_is_audited_at_that_number(tmp_path: Path) -> None:
    """A claim that is right for its number of records is not held against fewer."""
    right = changed(
        query(r"\frac{1}{n}\sum_{i=1}^{n}x_i", "1", "[0, 1]", "1"), ("add or remove one", "replace one"),
        (r"\varepsilon\text{-DP}", r"\frac{\varepsilon}{n}\text{-DP}"),
    )  # fmt: skip
    (one,) = read_mechanisms(page(right, tmp_path))
    sampled = SampledPage(one, {"n": 3, "varepsilon": 1}, {})  # type: ignore[dict-item]
    assert sampled([[0.0]] * 3, np.random.default_rng(1), 5).shape == (5, 1)
    with pytest.raises(ValueError, match="allowed: 3"):
        sampled([[0.0]] * 2, np.random.default_rng(1), 5)


def test_a_misread_probability_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = page(COUNT, tmp_path)
    read = "dpverify.statements.mechanisms.reading.TheoremReader.number"
    monkeypatch.setattr(read, lambda *_: ("sym", "varepsilon" if len(_[1]) == 1 and "p" in _[1] else "n"))
    with pytest.raises(ValueError, match="the two readers differ"):
        read_mechanisms(path)


def test_rules_of_one_record_more_are_true_of_short_lists() -> None:
    """Of all places of lists of up to three numbers; with a value at another place, what is assumed is false."""
    for fold, values in product(
        ("sum", "product", "largest", "smallest"), (["1/3"], ["1", "0"], ["0", "1/2", "1/4"])
    ):
        one = shipped()[f"rule.{fold}-one-more"]
        for k, short in product(range(len(values) + 1), (False, True)):
            f = [] if short and fold in ("sum", "product") else values
            if k > len(f):
                continue
            g = [*f[:k], "3/4", *f[k:]]
            n = len(f)
            letters: list[Any] = [_steps(f), _steps(g), str(k + 1), str(n + 1), "1", str(n)]
            model = {"types": {}, "neighbors": {}, "letters": letters + ["3/4"] * (len(one.names) - 6)}
            show(one.clause, model, refute=False)
            with pytest.raises(ValueError, match="not seen to be false"):
                show(one.clause, model, refute=True)
            letters[1] = _steps([*f[:k], "3/4", *("7/8" for _ in f[k:])])
            if f[k:]:
                with pytest.raises(ValueError, match="what is assumed"):
                    show(one.clause, {**model, "letters": [*letters, *model["letters"][6:]]}, refute=False)


def _steps(values: list[str]) -> Any:
    return {"below": [str(k) for k in range(len(values) + 1)], "then": ["9", *values, "-9"]}
