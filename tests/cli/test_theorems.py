"""`dpverify prove` on theorems: those of docs/theorems.md, those that come with the program, and what is refused."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.search import find_model
from dpverify.statements.theorems.library import FOLDER, derive, shipped
from dpverify.verification.theorems import chosen_theorems, theorem_rows

from ..packaging.page_blocks import DOCS
from .calling import call

PAGE = DOCS / "theorems.md"
QUESTIONS = DOCS.parent / "tests" / "benchmarks" / "dpriv_bench" / "literature"


@pytest.fixture(scope="module")
def example() -> str:
    return PAGE.read_text(encoding="utf-8").partition("```markdown\n")[2].partition("```")[0]


def test_the_page_of_the_documentation_is_proved(example, tmp_path):
    page, found = tmp_path / "mine.md", tmp_path / "found.json"
    page.write_text(example, encoding="utf-8")
    assert call("prove", str(page), "--json", str(found)) == 0
    (row,) = json.loads(found.read_text())
    assert (row["verdict"], row["rules"], row["results"]) == ("proved", ["rule.private-elim"], [])
    assert check(row["certificate"]).confirmed


def test_a_wrong_factor_is_refuted(example, tmp_path, capsys):
    page = tmp_path / "mine.md"
    page.write_text(example.replace(r"(1+e^{\varepsilon})\delta", r"2\delta"), encoding="utf-8")
    assert call("prove", str(page)) == 0
    assert "1 refuted" in capsys.readouterr().out
    assert call("prove", str(page), "--strict") == 1


def test_two_draws_are_refuted_by_cells(tmp_path):
    """Counts that differ by 2 and by 3: five epsilons, and the claim is four; the checker needs the cells."""
    text = (QUESTIONS / "statistics.md").read_text(encoding="utf-8")
    section = (
        "## A histogram whose bins" + text.partition("## A histogram whose bins")[2].partition("\n## ")[0]
    )
    page = tmp_path / "mine.md"
    page.write_text("# A page\n\n" + section.replace(r"M\text{ is }", r"M\text{ is }4"), encoding="utf-8")
    (row,) = theorem_rows([str(page)])
    assert (row.found.verdict, len(row.model["cells"]["cuts"])) == (Verdict.REFUTED, 2)
    clause = next(one for _, one in chosen_theorems([str(page)])[0]).clause
    show(clause, row.model, refute=True)
    with pytest.raises(ValueError, match="not seen to be false"):
        show(clause, {k: v for k, v in row.model.items() if k != "cells"}, refute=True)


def test_a_step_that_does_not_follow_is_named(example, tmp_path, capsys):
    """The claim is true and the second step is missing."""
    page = tmp_path / "mine.md"
    steps = example.split("Step, by")
    page.write_text("Step, by".join(steps[:2]) + "Then:" + example.partition("Then:")[2], encoding="utf-8")
    assert call("prove", str(page)) == 3
    line = 2 + page.read_text().splitlines().index("Then:")
    assert f"line {line}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("`rule.private-elim`", "`rule.private-elimination`", "a rule, a result or an earlier theorem"),
        ("Assume:", "Perhaps:", "begins with Assume, Define, Then or Step"),
        ("| real |", "| number |", "kind"),
        (r"D\sim D'$$", r"D\sim S$$", "arguments in brackets"),
        ("Then:", "Step:", "begins with `Then`"),
        (r"\Pr[M(D)\in S]\le", r"\Pr[M(E)\in S]\le", "E"),
        ("{#mine.two-records}", "", "below a heading with an id"),
    ],
)
def test_what_is_not_understood_is_refused(example, tmp_path, capsys, old, new, said):
    page = tmp_path / "mine.md"
    page.write_text(example.replace(old, new, 1), encoding="utf-8")
    assert call("prove", str(page)) in (2, 3)
    printed = capsys.readouterr()
    assert said in " ".join((printed.out + printed.err).split())


def test_the_model_of_a_single_theorem_is_shown(capsys):
    assert call("prove", "theorem.group") == 0
    shown = capsys.readouterr().out.splitlines()
    first = shown.index("A model in which what is assumed is true:")
    assert shown[first + 1].startswith("  D: 2 data sets, neighbors are all, and each of itself; T: 2 points")
    assert "  G(<= 0) = D0; G(> 0) = D1" in shown[first:]


def test_pages_of_each_kind_are_proved_together(tmp_path, monkeypatch, capsys):
    """As a hook names all pages of a commit; the worst of them ends it."""
    monkeypatch.chdir(tmp_path)
    letters = "| letter | domain |\n| --- | --- |\n| $x$ | real |\n"
    for name, formula in (("true", "x^2\\ge 0"), ("false", "x\\ge 0")):
        (tmp_path / f"{name}.md").write_text(
            f"# Squares\n\n{letters}\nConclusion:\n$${formula}$$\n", encoding="utf-8"
        )
    assert call("prove", "--strict", "false.md", "theorem.group") == 1
    printed = capsys.readouterr().out
    assert "theorem.group" in printed
    assert "refuted" in printed
    for refused in (
        ["prove", "true.md", "theorem.group", "--format", "json"],
        ["list", "fmtt18", "theorem.group", "--json", "-"],
    ):
        assert call(*refused) == 2
        assert " alone" in capsys.readouterr().err


def test_what_is_false_in_circulation_is_refuted(thorough):
    """By a model that the checker confirms, and by no model of the right statement."""
    ids = [id_ for id_ in shipped() if ".false-" in id_]
    assert len(ids) >= 5
    for row in theorem_rows(ids[:: 1 if thorough else 5]):
        assert row.found.verdict is Verdict.REFUTED, row.found.id
        show(shipped()[row.found.id].clause, row.model, refute=True)
        right = shipped().get(row.found.id.replace("false-", ""))
        assert right is None or find_model(right.clause, refute=True).model is None


def test_what_comes_with_the_program_is_derived(thorough):
    """Read here, since to read them when tests are collected takes seconds of every process."""
    theorems = [one for one in shipped().values() if one.standing == "theorem" and "false" not in one.id]
    assert len(theorems) >= 20
    for one in theorems[:: 1 if thorough else 16]:
        found = derive(one)
        assert found.derived, (one.id, [step.reason for step in found.steps if step.reason])


def test_each_id_stands_once():
    """On all pages together: a second rule of one name would take the place of the first."""
    ids = Counter(
        id_ for page in FOLDER.glob("*.md") for id_ in re.findall(r"\{#([\w.-]+)\}$", page.read_text(), re.M)
    )
    assert len(ids) > 300
    assert [id_ for id_, number in ids.items() if number > 1] == []


FAULTS = {
    "theorem.group": (r"\le e^{k\varepsilon}", r"\le e^{(k-1)\varepsilon}"),
    "theorem.composition": (
        r"(\varepsilon_1+\varepsilon_2,\delta_1+\delta_2)",
        r"(\varepsilon_1,\delta_1+\delta_2)",
    ),
    "theorem.randomized-response": (r"\ln\left(\frac{p}{1-p}\right)\text{-DP}", r"\ln(p)\text{-DP}"),
}
"""What is claimed or defined wrongly, in place of what is right."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("id_", FAULTS)
def test_a_planted_fault_is_not_derived(id_, tmp_path):
    page = next(p for p in FOLDER.glob("*.md") if f"{{#{id_}}}" in p.read_text())
    text = page.read_text(encoding="utf-8")
    section = "## " + next(part for part in text.split("\n## ") if f"{{#{id_}}}" in part)
    old, new = FAULTS[id_]
    assert old in section
    wrong = tmp_path / "wrong.md"
    wrong.write_text(section.replace(old, new).replace(f"{{#{id_}}}", "{#mine.wrong}"), encoding="utf-8")
    (row,) = theorem_rows([str(wrong)])
    assert row.found.verdict in (Verdict.REFUTED, Verdict.UNDECIDED)


OWN = r"""
## Nothing is likely {#mine.wrong}

| letter | kind |
| --- | --- |
| $x$ | real |
KIND
Then:
$$x\le 1$$

## So it is for two {#mine.rests-on-it}

Then, by `mine.wrong` with $x=2$:
$$2\le 1$$
"""


@pytest.mark.parametrize("kind", ["", "\n- kind: rule\n"])
def test_what_rests_on_something_wrong_of_ones_own_says_so(tmp_path, kind):
    """On a theorem that is false it is undecided, and an axiom of one's own is named."""
    page = tmp_path / "mine.md"
    page.write_text(OWN.replace("KIND", kind).replace(" with $x=2$", ""), encoding="utf-8")
    *first, row = (one.found for one in theorem_rows([str(page)]))
    if kind:
        assert (first, row.verdict, row.results) == ([], Verdict.PROVED, ("mine.wrong",))
    else:
        assert (first[0].verdict, row.verdict) == (Verdict.REFUTED, Verdict.UNDECIDED)
        assert row.underived == ("mine.wrong",)
