"""Pairs that break claims of pages of mechanisms, against closed forms; right claims, and audits of undecided ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy import special

from dpverify.ledger.verdicts import Verdict
from dpverify.privacy.gaussian import gaussian_hockey_stick
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems import spreads
from dpverify.statements.mechanisms.pairs import sampled
from dpverify.statements.mechanisms.pairs.search import PairSearch, search_pairs
from dpverify.statements.mechanisms.proofs.claims import claim_of
from dpverify.statements.mechanisms.reading import read_mechanisms
from dpverify.verification.mechanisms import mechanism_rows

from .calling import call

S, SQUARES = r"\sum_{i=1}^{n}x_i", r"\sum_{i=1}^{n}x_i^2"
LETTERS = {"varepsilon": "> 0", "delta": "(0, 1)", "rho": "> 0", "mu": "> 0"}


def page(claim: str, *draws: str, output: str = "y", n: str = ">= 1") -> str:
    """A page with the queries s, a sum, and m, one of squares."""
    used = [name for name in LETTERS if f"\\{name}" in claim]
    rows = "".join(f"| $\\{name}$ | {LETTERS[name]} | |\n" for name in used)
    lines = "".join(f"Draw:\n$${draw}$$\n\n" for draw in draws)
    return (
        "# A page\n\n## A mechanism {#mine.one}\n\n| letter | kind | meaning |\n| --- | --- | --- |\n"
        f"| $n$ | integer {n} | |\n{rows}\n- records: $x_1,\\dots,x_n$ in [0, 1]\n- neighbors: replace one\n\n"
        f"Query:\n$$s={S}$$\n\nQuery:\n$$m={SQUARES}$$\n\n{lines}Output:\n$${output}$$\n\nClaim:\n$${claim}$$\n"
    )


def searched(text: str, folder: Path) -> PairSearch:
    path = folder / "mine.md"
    path.write_text(text, encoding="utf-8")
    (one,) = read_mechanisms(path)
    found = search_pairs(one, claim_of(one))
    assert found.witness is not None
    return found


LAP, NORMAL = r"y\sim\mathrm{Lap}(s,%s)", r"y\sim\mathcal{N}(s,%s)"
AFTER, BESIDE = r"z\sim\mathrm{Lap}(m+\frac{y}{3},1)", r"z\sim\mathcal{N}(m+y,1)"
RIGHT = [
    page(r"(1, %s)\text{-DP}" % (1 - math.exp(-0.5) + 1e-9), LAP % r"\frac{1}{2}"),
    page(r"(\varepsilon,\delta)\text{-DP}", LAP % r"\frac{1}{\varepsilon-2\log(1-\delta)}"),
    page(r"(1, %s)\text{-DP}" % (gaussian_hockey_stick(1.0, 1.0) + 1e-9), NORMAL % "1"),
    page(r"\mu\text{-GDP}", NORMAL % r"\frac{1}{\mu^2}"),
    page(r"1\text{-zCDP}", NORMAL % "1", BESIDE, output="(y,z)"),
    page(r"2\text{-DP}", LAP % "1", AFTER, output="(y,z)"),
    page(r"(1,\frac{1}{4})\text{-DP}", LAP % "1", AFTER, output="(y,z)"),
    page(r"\varepsilon\text{-DP}", LAP % r"\frac{1}{\varepsilon}", n=">= 60"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("text", RIGHT)
def test_right_claims_are_never_broken(text: str, tmp_path: Path) -> None:
    """Each is as sharp as it can be, or nearly so."""
    assert searched(text, tmp_path).broken is None


def test_events_break_the_claim_by_closed_forms(tmp_path: Path) -> None:
    """Deltas a tenth too small, and of 1e-20, for Laplace and normal noise: event, probabilities and what is needed."""
    sharp = gaussian_hockey_stick(1.0, 1.0)
    for epsilon, delta, laplace in (
        (1.0, 0.9 * (1 - math.exp(-0.5)), True), (1.0, 0.9 * sharp, False), (8.0, 1e-20, False),
    ):  # fmt: skip
        draw = LAP % r"\frac{1}{2}" if laplace else NORMAL % "1"
        found = searched(page(rf"({epsilon}, {delta:.25f})\text{{-DP}}", draw), tmp_path).broken
        assert found is not None
        assert found.probabilities is not None
        (low, _), (_, high) = found.probabilities
        assert low > math.exp(epsilon) * high + delta
        sign, end = found.event.split()[1:]
        ends = [float(end) - sum(float(x) for (x,) in rows) for rows in (found.left, found.right)]
        ends = [-e if sign == ">=" else e for e in ends]
        chances = [math.exp(2 * min(e, 0)) / 2 if e < 0 else 1 - math.exp(-2 * e) / 2 for e in ends]
        chances = chances if laplace else [float(special.ndtr(e)) for e in ends]
        assert low == pytest.approx(chances[0], rel=1e-5)
        assert high == pytest.approx(chances[1], rel=1e-5)
        needed = 2 + 2 * math.log(1 - delta) if laplace else found.needs
        assert found.needs == pytest.approx(needed, rel=1e-4)
        assert found.needs <= needed + 1e-12
        if not laplace:
            assert gaussian_hockey_stick(found.needs, 1.0) == pytest.approx(delta, rel=0.02)
            assert gaussian_hockey_stick(found.needs, 1.0) > delta


WRONG: list[tuple[str, str, float, str, int]] = [
    # page, measure, what it needs at least, at what, the draw to blame
    (page(r"\frac{1}{2}\text{-GDP}", NORMAL % "2"), "mu", math.sqrt(0.5), "", 0),
    (page(r"0.99\text{-zCDP}", NORMAL % "1", BESIDE, output="(y,z)"), "rho", 1, "", 0),
    (page(r"1.4\text{-GDP}", NORMAL % "1", BESIDE, output="(y,z)"), "mu", math.sqrt(2), "", 0),
    (page(r"(2,\frac{1}{2})\text{-RDP}", LAP % "1"), "epsilon", 0.619123, "order 2", 0),
    (page(r"1.4\text{-DP}", LAP % "1", AFTER.replace("1)", r"2)"), output="(y,z)"), "epsilon", 1.5, "delta 0", 0),
    (page(r"2.4\text{-DP}", LAP % "1", AFTER.replace("1)", r"\frac{2}{3})"), output="(y,z)"), "epsilon", 2.5,
     "delta 0", 1),
    (page(r"(1,\frac{1}{5})\text{-DP}", LAP % "1", AFTER, output="(y,z)"), "epsilon", 1.18129, "delta 0.2", 0),
    (page(r"\frac{1}{4}\text{-DP}", LAP % "2n", n=">= 1").replace("s=", "s=n"), "epsilon", 0.5, "delta 0", 0),
    (page(r"0.9\text{-DP}", LAP % "1", output=r"\max(y,0)"), "epsilon", 1, "delta 0", 0),
    (page(r"1.3\text{-GDP}", NORMAL % "1", NORMAL.replace("y", "z") % "1", output="y+z"), "mu", math.sqrt(2), "", 0),
    (page(r"2.9\text{-DP}", LAP % "1", AFTER, AFTER.replace("z", "w"), output="(y,z,w)"), "epsilon", 3, "delta 0", 0),
]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("text", "measure", "needs", "at", "draw"), WRONG)
def test_wrong_claims_are_broken_by_as_much(
    text: str, measure: str, needs: float, at: str, draw: int, tmp_path: Path
) -> None:
    """In the measure of the claim; only an (epsilon, delta) has an event."""
    found = searched(text, tmp_path).broken
    assert found is not None
    assert (found.measure, found.at, found.draw) == (measure, at, draw)
    assert found.needs <= needs * (1 + 1e-12)
    assert found.needs >= needs * (1 - (1e-3 if "0.2" in at else 1e-5))
    assert found.suffices is None or needs * (1 - 1e-12) <= found.suffices <= needs * (1 + 1e-5)
    assert found.suffices is not None or "(y," in text or "max" in text
    assert bool(found.event) == ("delta" in at) == (found.probabilities is not None)


@pytest.mark.parametrize("wrong", [0, 4])
def test_last_bits_of_floating_point_choose_no_pair(
    wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Margins with noise of 1e-14, as another processor may have them: the same pair."""
    text, found = WRONG[wrong][0], []
    for seed in range(3):
        noise, plain = Random(seed), spreads.needed
        monkeypatch.setattr(
            spreads,
            "needed",
            lambda *of, noise=noise, plain=plain: plain(*of) * (1 + noise.uniform(-1, 1) * 1e-14),
        )
        found.append(searched(text, tmp_path).broken)
        monkeypatch.undo()
    assert found[0] is not None
    assert found[0] == found[1] == found[2]


def test_what_is_tampered_with_shows_nothing(tmp_path: Path) -> None:
    text = page(r"(8, 10^{-20})\text{-DP}", NORMAL % "1")
    found = searched(text, tmp_path).broken
    assert found is not None
    clause = claim_of(read_mechanisms(tmp_path / "mine.md")[0]).clause
    whole = json.dumps(found.model)
    show(clause, json.loads(whole), refute=True)
    # the right event of another claim: the pair of (8, 1e-20) does not break one of (12, 1e-20)
    (tmp_path / "mine.md").write_text(text.replace("(8, ", "(12, "), encoding="utf-8")
    other = claim_of(read_mechanisms(tmp_path / "mine.md")[0]).clause
    with pytest.raises(ValueError, match="not seen to be false"):
        show(other, json.loads(whole), refute=True)
    same = json.loads(whole)
    records = next(one for one in same["letters"] if isinstance(one, list))
    records[1] = records[0]
    with pytest.raises(ValueError, match=r"what is assumed|not seen to be false"):
        show(clause, same, refute=True)


def test_scales_that_depend_on_records_and_many_records(tmp_path: Path) -> None:
    """Far out, the wider law is above each multiple of the other; pages with at least 60 records are searched."""
    wider = searched(page(r"(1,\frac{1}{100})\text{-DP}", r"y\sim\mathrm{Lap}(0,1+s)"), tmp_path).broken
    assert wider is not None
    assert " or " in wider.event
    many = page(r"\varepsilon\text{-DP}", LAP % r"\frac{1}{2\varepsilon}", n=">= 60")
    broken = searched(many, tmp_path).broken
    assert broken is not None
    assert len(broken.left) == 60
    assert call("prove", str(tmp_path / "mine.md")) == 0


def test_undecided_claims_are_audited_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second draw around the square of the first has no exact law; the claim forgets it. A false alarm: 1e-6."""
    second = r"z\sim\mathrm{Lap}(s+y^2,\frac{%s}{\varepsilon}+0\cdot s)"
    text = page(r"\varepsilon\text{-DP}", LAP % r"\frac{1}{\varepsilon}", second, output="(y,z)")
    path, saved = tmp_path / "mine.md", tmp_path / "found.json"
    path.write_text(text % "1", encoding="utf-8")
    assert call("prove", str(path)) == 3
    assert call("prove", str(path), "--audit", "--strict", "--json", str(saved)) == 1
    assert "violated, failure probability 1e-06" in capsys.readouterr().out
    (found,) = json.loads(saved.read_text())
    assert found["verdict"] == found["audit"]["evidence"]["verdict"] == "violated"
    assert "depends on records" in found["reason"]
    assert len(found["audit"]["left"]) == len(found["audit"]["right"]) > 0
    # with few runs nothing is found, and the row stays undecided
    monkeypatch.setattr(sampled, "RUNS", 100)
    monkeypatch.setattr(sampled, "SEARCHED", 2000)
    path.write_text(text % "100", encoding="utf-8")
    (row,) = mechanism_rows([str(path)], audited=True)
    assert row.verdict is Verdict.UNDECIDED
    assert row.audit is not None
    (tmp_path / "formulas.md").write_text("# A page\n\n$$1\\le 2$$\n", encoding="utf-8")
    assert call("prove", str(tmp_path / "formulas.md"), "--audit") == 2


def test_the_sampler_draws_what_the_page_says(tmp_path: Path) -> None:
    """Means and spreads of 4,000 draws within six standard errors: a false alarm has probability below 1e-7."""
    path, runs = tmp_path / "mine.md", 4000
    path.write_text(
        page(r"1\text{-DP}", LAP % "2", BESIDE.replace("m+y", "m-y"), output="(y,z)"), encoding="utf-8"
    )
    (one,) = read_mechanisms(path)
    draw = sampled.SampledPage(one, {}, {})
    found = draw(np.array([[1.0], [0.5]]), np.random.default_rng(1), runs)
    assert found.shape == (runs, 2)
    y, z = found.T
    for values, mean, variance in ((y, 1.5, 8.0), (z + y, 1.25, 1.0)):
        assert abs(values.mean() - mean) < 6 * math.sqrt(variance / runs)
        assert values.var() == pytest.approx(variance, rel=0.3)
    assert abs(np.corrcoef(y, z + y)[0, 1]) < 6 / math.sqrt(runs)
    assert np.array_equal(found, draw(np.array([[1.0], [0.5]]), np.random.default_rng(1), runs))
