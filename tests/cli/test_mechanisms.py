"""`dpverify prove` on pages of mechanisms: those of docs/mechanisms.md, right ones, wrong ones, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.notation import guarantee_of
from dpverify.statements.mechanisms.pairs.changes import query_changes
from dpverify.statements.mechanisms.proofs.claims import MechanismProof, claim_of, derive_mechanism
from dpverify.statements.mechanisms.reading import indexed, read_mechanisms
from dpverify.statements.mechanisms.scope import dependence
from dpverify.verification.mechanisms import MechanismRow, mechanism_rows
from dpverify.views.theorems import change_in_words

from ..packaging.page_blocks import DOCS
from .calling import call

PAGE = DOCS / "mechanisms.md"
EXAMPLE = DOCS / "examples" / "clipped-sum.md"
TEXT = EXAMPLE.read_text(encoding="utf-8")
SUM = r"s=\sum_{i=1}^{n}\min(\max(x_i,0),1)"
SCALE = r"\frac{1}{\varepsilon}"
UNIT = TEXT.replace("of numbers", "in [0, 1]")


def decided(text: str, folder: Path) -> MechanismRow:
    page = folder / "mine.md"
    page.write_text(text, encoding="utf-8")
    (row,) = mechanism_rows([str(page)])
    return row


def proved(text: str, folder: Path) -> MechanismProof:
    """A mechanism's proof; what theorems rest on is not derived again."""
    page = folder / "mine.md"
    page.write_text(text, encoding="utf-8")
    (one,) = read_mechanisms(page)
    assert dependence(one) is None
    found = derive_mechanism(one)
    assert found.certificate is not None, found.reason
    return found


def test_the_example_is_proved_and_confirmed(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    assert call("prove", str(EXAMPLE), "--json", str(found)) == 0
    (row,) = json.loads(found.read_text())
    assert (row["verdict"], row["results"]) == ("proved", [])
    assert "rule.sums-differ" in row["rules"]
    assert check(row["certificate"]).confirmed
    assert row["witness"] is not None


def test_how_much_queries_change_stands_beside_the_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Attained; with twice the noise, not; and a bound that is too small is exceeded."""
    assert call("prove", str(EXAMPLE)) == 0
    said = PAGE.read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    shown = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in shown] == said.splitlines()
    wide = decided(TEXT.replace(SCALE, r"\frac{2}{\varepsilon}"), tmp_path)
    (change,) = wide.changes
    assert (change.bound, change.found, change.attained) == ("2", 1.0, False)
    assert change_in_words(change).endswith("by 1, the largest change that was found")
    (one,) = read_mechanisms(tmp_path / "mine.md")
    (block,) = (step for step in wide.certificate["steps"] if "neighbors" in str(step.get("claim")))
    block["claim"][3][2] = ["num", "1/2"]
    (change,) = query_changes(one, wide.certificate)
    assert (change.most, change.found, change.attained) == (0.5, 1.0, False)


def test_half_the_noise_is_broken_as_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "clipped-sum.md"
    page.write_text(TEXT.replace(SCALE, r"\frac{1}{2\varepsilon}"), encoding="utf-8")
    assert call("prove", str(page)) == 0
    shown = capsys.readouterr().out
    said = PAGE.read_text(encoding="utf-8").partition("in its place:\n\n```text\n")[2].partition("```")[0]
    assert said in shown
    assert call("prove", str(page), "--strict") == 1


def test_the_example_of_two_draws_follows() -> None:
    (one,) = read_mechanisms(DOCS / "examples" / "two-draws.md")
    assert derive_mechanism(one).certificate is not None


QUERIES = {
    r"\prod_{i=1}^{n}x_i": "1",
    r"\max_{1\le i\le n}x_i": "1",
    r"\min_{1\le i\le n}x_i": "1",
    r"\frac{1}{n}\sum_{i=1}^{n}x_i": r"\frac{1}{n}",
    r"\sqrt{\sum_{i=1}^{n}x_i^2}": "1",
    r"\log\left(1+\sum_{i=1}^{n}x_i^2\right)": r"\log(2)",
    r"\sum_{i=1}^{n}\sqrt{x_i}": "1",
    r"\sum_{i=1}^{n}x_i\cdot(1-x_i)": r"\frac{1}{4}",
    r"\sum_{i=1}^{n-1}|x_i-x_{i+1}|": "2",
    r"\sum_{i=1}^{n}\mathbf{1}[\frac{1}{2}<x_i]": "1",
    r"\mathbf{1}[\frac{n}{2}<\sum_{i=1}^{n}x_i]": "1",
    r"\sum_{i=1}^{n}i\cdot x_i": "n",
    r"\sum_{i=1}^{n}\frac{1}{1+x_i^2}": r"\frac{1}{2}",
}
"""Queries of records in [0, 1], and their sensitivities."""


def asked(query: str, factor: str = "") -> str:
    scale = rf"\frac{{{factor}{QUERIES[query]}}}{{\varepsilon}}"
    return UNIT.replace(SUM, f"s={query}").replace(SCALE, scale).replace(">= 1 |", ">= 2 |")


def test_queries_have_their_sensitivity(tmp_path: Path) -> None:
    """For every number of records; a pair attains it, of three records where no two do."""
    for query in QUERIES:
        found = proved(asked(query), tmp_path)
        (change,) = query_changes(read_mechanisms(tmp_path / "mine.md")[0], found.certificate)
        assert change.attained, query
        assert len(change.left) == (3 if "x_{i+1}" in query else 2)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_have_no_less_than_their_sensitivity(query: str, tmp_path: Path) -> None:
    """With nine tenths of the noise a pair breaks the claim."""
    row = decided(asked(query, r"0.9\cdot "), tmp_path)
    assert row.verdict is Verdict.REFUTED
    assert row.pair is not None
    show(claim_of(read_mechanisms(tmp_path / "mine.md")[0]).clause, row.pair.model, refute=True)
    (low, _), (_, high) = row.pair.probabilities
    assert low > high


COLUMNS = UNIT.replace("| $n$ |", "| $R$ | finite type | |\n| $n$ |").replace(
    "in [0, 1]", r"in [0, 1] for $r\in R$"
)
COLUMNS = COLUMNS.replace(SUM, r"q(r)=\sum_{i=1}^{n}x_{i,r}").replace("$$y$$", "$$j$$")
WEIGHTS = r"j\sim\propto e^{\frac{\varepsilon q(r)}{2}}\text{ at }r\in R"


def test_the_exponential_mechanism_on_columns(tmp_path: Path) -> None:
    right = COLUMNS.replace(rf"y\sim\mathrm{{Lap}}(s,{SCALE})", WEIGHTS)
    proved(right, tmp_path)
    wrong = decided(right.replace(r"\frac{\varepsilon q(r)}{2}", r"\varepsilon q(r)"), tmp_path)
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.pair is not None
    assert wrong.pair.needs > 1


NORMAL = (
    UNIT.replace(SUM, r"s=\frac{1}{n}\sum_{i=1}^{n}x_i")
    .replace(r"\varepsilon", r"\rho")
    .replace("-DP}", "-zCDP}")
)
NORMAL = NORMAL.replace(r"\mathrm{Lap}(s,\frac{1}{\rho})", r"\mathcal{N}(s,\frac{1}{2n^2\rho})")
TWO = UNIT.replace(SCALE, r"\frac{2}{\varepsilon}").replace(
    "Output:\n$$y$$",
    r"""Query:
$$m=\frac{1}{n}\sum_{i=1}^{n}x_i^2$$

Draw:
$$z\sim\mathrm{Lap}(m+y,\frac{2}{n\varepsilon})$$

Output:
$$(y,z)$$""",
)


def test_normal_noise_is_concentrated(tmp_path: Path) -> None:
    proved(NORMAL, tmp_path)
    wrong = decided(NORMAL.replace(r"\frac{1}{2n^2\rho}", r"\frac{1}{4n^2\rho}"), tmp_path)
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.pair is not None
    assert (wrong.pair.measure, wrong.pair.needs, wrong.pair.suffices) == ("rho", 1.99999, 2.0)


def test_two_draws_share_the_budget(tmp_path: Path) -> None:
    assert "lemma.sequence" in proved(TWO, tmp_path).uses
    small = TWO.replace(r"\frac{2}{n\varepsilon}", r"\frac{1}{n\varepsilon}")
    for second in ("m+y", "m", r"m-\frac{y}{3}"):
        wrong = decided(small.replace("m+y", second), tmp_path)
        assert wrong.verdict is Verdict.REFUTED
        assert wrong.pair is not None
        needs = 1.5 * float(dict(wrong.pair.letters)[r"\varepsilon"])
        assert wrong.pair.suffices == needs
        assert needs - 2e-5 <= wrong.pair.needs < needs
        assert wrong.line == 23  # the second draw tells more


LAPLACE = UNIT.replace(
    "| $\\varepsilon$ | > 0 | |", "| $\\varepsilon$ | (0, 1] | |\n| $\\delta$ | (0, 1/2] | |\n| $C$ | > 0 | |"
)
LINES = LAPLACE.partition("Query (")[0]
S, T = r"s=\sum_{i=1}^{n}x_i", r"t=\sum_{i=1}^{n}x_i^2"
CLIPPED = r"s=\sum_{i=1}^{n}\min(\max(x_i,-C),C)"


def mechanism(claim: str, output: str, *lines: str, records: str = "in [0, 1]") -> str:
    """A page with queries, draws, an output and a claim."""
    shown = [("Draw" if r"\sim" in one else "Query", one) for one in lines]
    shown += [("Output", output), ("Claim", claim)]
    text = LINES.replace("in [0, 1]", records)
    return text + "".join(f"{word}:\n$${latex}$$\n\n" for word, latex in shown)


def lap(letter: str, query: str, scale: str = r"\frac{3}{\varepsilon}") -> str:
    return rf"{letter}\sim\mathrm{{Lap}}({query},{scale})"


def normal(letter: str, query: str, variance: str) -> str:
    return rf"{letter}\sim\mathcal{{N}}({query},{variance})"


CLASSICAL = r"\frac{2\log(1.25/\delta)}{\varepsilon^2}"
RIGHT = {
    "three adaptive": (
        r"\varepsilon\text{-DP}", "(y,z,w)", S, T, lap("y", "s"), lap("z", "t+y"), lap("w", r"s-y\cdot z")
    ),
    "a sum of two": (r"\frac{2\varepsilon}{3}\text{-DP}", "y+z", S, T, lap("y", "s"), lap("z", "t")),
    "one of two": (r"\frac{\varepsilon}{3}\text{-DP}", r"\max(z,0)", S, T, lap("y", "s"), lap("z", "t")),
    "rounded": (r"\varepsilon\text{-DP}", r"\lfloor\min(\max(y,0),n)\rfloor", S, lap("y", "s", SCALE)),
    "compared": (r"\varepsilon\text{-DP}", r"\mathbf{1}[\frac{n}{2}\le y]", S, lap("y", "s", SCALE)),
    "delta": (r"(\varepsilon,\delta)\text{-DP}", "y", CLIPPED, lap("y", "s", r"\frac{2C}{\varepsilon}")),
    "pure, concentrated": (
        r"(C+\frac{\varepsilon^2}{18})\text{-zCDP}", "(y,z)", S, T, lap("y", "s"), normal("z", "t+y", r"\frac{1}{2C}")
    ),
    "Renyi": (
        r"(1+C,\frac{1+C}{\varepsilon^2})\text{-RDP}", "y-z", S, T, *(normal(a, "s", r"\varepsilon^2") for a in "yz")
    ),
    "Gaussian": (r"C\text{-GDP}", r"\max(y,0)", S, normal("y", "s", r"\frac{1}{C^2}")),
    "Gaussian, adaptive": (
        r"(C\sqrt{5})\text{-GDP}", "(y,z)", S, T, normal("y", "s", r"\frac{1}{C^2}"),
        normal("z", "t+y", r"\frac{1}{4C^2}"),
    ),
    "classical": (r"(\varepsilon,\delta)\text{-DP}", "y", S, normal("y", "s", CLASSICAL)),
    "pure, classical": (
        r"(\frac{4\varepsilon}{3},\delta)\text{-DP}", "z", S, lap("y", "s"), normal("z", "s+y", CLASSICAL)
    ),
    "a multiple of the sensitivity": (
        r"(1,\frac{1}{10000})\text{-DP}", "y", r"s=C\cdot\sum_{i=1}^{n}x_i", normal("y", "s", "16C^2")
    ),
    "numbers": (
        r"(\frac{6}{5},\frac{1}{1000})\text{-DP}", "(y,z)", S, T, normal("y", "s", "16"), normal("z", "t+y", "16")
    ),
}  # fmt: skip
"""Claims that follow: the claim, the output, queries and draws."""
WRONG = {
    "a draw too many": ("three adaptive", lap("z", "t+y"), lap("z", "2t+y")),
    "an adaptive draw is paid for": ("one of two", lap("z", "t"), lap("z", "t+y")),
    "an impossible draw": ("one of two", lap("y", "s"), lap("y", "s", "0")),
    "a formula without a value": ("a sum of two", "y+z", r"\frac{y}{z}"),
    "less noise": ("rounded", r"\frac{1}{\varepsilon}", r"\frac{0.9}{\varepsilon}"),
    "a negative delta": ("delta", r"\delta)", r"-\delta)"),
    "half of the square": ("pure, concentrated", r"\frac{\varepsilon^2}{18}", r"\frac{\varepsilon^2}{19}"),
    "an order below 1": ("Renyi", "1+C", "C"),
    "a smaller mu": ("Gaussian", r"C\text{-GDP}", r"0.9\cdot C\text{-GDP}"),
    "a smaller root": ("Gaussian, adaptive", r"\sqrt{5}", r"\sqrt{4.9}"),
    "a larger sum": ("classical", r"x_i", "2x_i"),
    "a smaller multiple": ("a multiple of the sensitivity", "16C", "9C"),
    "a smaller epsilon": ("numbers", r"\frac{6}{5}", r"\frac{4}{5}"),
}
"""Of claims that follow, one each with a fault."""


@pytest.mark.parametrize("name", RIGHT)
def test_what_follows_from_draws(name: str, tmp_path: Path) -> None:
    proved(mechanism(*RIGHT[name]), tmp_path)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_follow_from_draws(name: str, tmp_path: Path) -> None:
    of, old, new = WRONG[name]
    lines = [one.replace(old, new) for one in RIGHT[of]]
    assert lines != [*RIGHT[of]]
    page = tmp_path / "mine.md"
    page.write_text(mechanism(*lines), encoding="utf-8")
    assert derive_mechanism(read_mechanisms(page)[0]).certificate is None


@pytest.mark.parametrize(("lines", "line", "words"), [
    (("y+0\\cdot s", S, lap("y", "s")), 22, "what is made from the draws"),
    (("y", S, lap("y", "s", "3+0\\cdot s")), 19, "the scale"),
    (("y", S, r"t=\sum_{i=1}^{\lfloor s\rfloor}1", lap("y", "t")), 19, "where a sum begins or ends"),
])  # fmt: skip
def test_what_must_be_public(lines: tuple[str, ...], line: int, words: str, tmp_path: Path) -> None:
    page = tmp_path / "mine.md"
    page.write_text(mechanism(r"\varepsilon\text{-DP}", *lines), encoding="utf-8")
    found = dependence(read_mechanisms(page)[0])
    assert found is not None
    assert (found[0], words in found[1]) == (line, True)


def test_a_letter_may_have_any_name(tmp_path: Path) -> None:
    """Data sets and indices have names that no letter has."""
    for letter in "DEir":
        text = mechanism(*RIGHT["delta"]).replace("$C$", f"${letter}$")
        bound = text.replace(",-C),C)", f",-{letter}),{letter})").replace("_i", "_k").replace("{i=", "{k=")
        proved(bound.replace("{2C}", rf"{{2{letter}}}"), tmp_path)


def test_noise_whose_scale_depends_on_records_is_never_proved(tmp_path: Path) -> None:
    broken = decided(TEXT.replace(SCALE, r"\frac{1+s}{\varepsilon}"), tmp_path)
    assert broken.verdict is Verdict.REFUTED
    assert (broken.line, "scale" in broken.reason) == (17, True)
    made = decided(TEXT.replace("Output:\n$$y$$", "Output:\n$$y+s$$"), tmp_path)
    assert (made.verdict, made.line) == (Verdict.REFUTED, 20)
    assert "made from the draws" in made.reason
    unseen = decided(UNIT.replace(SCALE, r"\frac{1}{\varepsilon}+0\cdot s"), tmp_path)
    assert unseen.verdict is Verdict.UNDECIDED
    assert "depends on records" in unseen.reason


def test_a_certificate_with_another_bound_is_refused() -> None:
    (one,) = read_mechanisms(EXAMPLE)
    certificate = derive_mechanism(one).certificate
    text = json.dumps(certificate)
    assert check(json.loads(text)).confirmed
    assert not check(json.loads(text.replace('["num", "1"]', '["num", "1/2"]'))).confirmed


def test_a_pair_with_another_number_is_refused(tmp_path: Path) -> None:
    row = decided(TEXT.replace(SCALE, r"\frac{1}{2\varepsilon}"), tmp_path)
    assert row.pair is not None
    clause = claim_of(read_mechanisms(tmp_path / "mine.md")[0]).clause
    show(clause, row.pair.model, refute=True)
    model = json.loads(json.dumps(row.pair.model).replace('"then": ["-1"]', '"then": ["1"]'))
    show(clause, model, refute=False)
    with pytest.raises(ValueError, match="the claim is not seen to be false"):
        show(clause, model, refute=True)


@pytest.mark.parametrize(("old", "new", "line", "words"), [
    ("- neighbors: replace one", "- neighbors: add one", 11, "replace one"),
    ("Draw:", "Noise:", 17, "Start, Query, Draw, Set, If, Select, Stop, Output, Claim"),
    (r"\mathrm{Lap}(s,", r"\mathrm{Cauchy}(s,", 17, "a law"),
    (SUM, r"s=\sum_{i=1}^{n}y_i", 14, "y"),
    ("in [0, 1]", "in (0, 1]", 10, "closed"),
    ("Output:\n$$y$$\n\n", "", 3, "one Output and one Claim"),
])  # fmt: skip
def test_what_is_not_understood_is_refused_with_its_line(
    old: str, new: str, line: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "mine.md"
    page.write_text(UNIT.replace(old, new), encoding="utf-8")
    assert call("prove", str(page)) == 2
    said = capsys.readouterr().err
    assert f"line {line}:" in said
    assert words in said


FIRST = "dpverify.statements.mechanisms.reading"
MISREADINGS: dict[str, tuple[str, Callable[..., Any]]] = {
    "an index": ("indexed", lambda signs, base: indexed(tuple({"+": "-"}.get(s, s) for s in signs), base)),
    "a claim": ("guarantee_of", lambda *of: (*guarantee_of(*of)[:-1], ("num", "1/2"))),
    "an output": ("outcome", lambda *_: ("pair", ("sym", "y"), ("sym", "y"))),
}


@pytest.mark.parametrize("part", MISREADINGS)
def test_what_one_reader_misreads_is_refused(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults planted in the first reader are seen by the second."""
    page = tmp_path / "mine.md"
    text = UNIT.replace(SUM, r"s=\sum_{i=1}^{n-1}|x_i-x_{i+1}|").replace(">= 1 |", ">= 2 |")
    page.write_text(text, encoding="utf-8")
    read_mechanisms(page)
    name, wrong = MISREADINGS[part]
    monkeypatch.setattr(f"{FIRST}.{name}", wrong)
    with pytest.raises(ValueError, match="the two readers differ"):
        read_mechanisms(page)
