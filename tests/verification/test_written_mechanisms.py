"""Mechanisms that are written in Python: they are their pages, and what would not stand on a page is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpverify import Mechanism
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.statements.mechanisms.guarantees import guarantee_proved
from dpverify.statements.mechanisms.reading import mechanisms_of, read_mechanisms

from ..packaging.page_blocks import DOCS

CLIPPED = Mechanism(
    "example.clipped-sum",
    {"n": "integer >= 1", r"\varepsilon": "> 0"},
    r"$x_1,\dots,x_n$ of numbers",
    [
        ("Query (each record is clipped)", r"s=\sum_{i=1}^{n}\min(\max(x_i,0),1)"),
        ("Draw", r"y\sim\mathrm{Lap}(s,\frac{1}{\varepsilon})"),
        ("Output", "y"),
        ("Claim", r"\varepsilon\text{-DP}"),
    ],
)


def test_a_mechanism_in_python_is_that_of_the_page(tmp_path: Path) -> None:
    (written,) = mechanisms_of(CLIPPED.page, CLIPPED.id)
    (read,) = read_mechanisms(DOCS / "examples" / "clipped-sum.md")
    assert [one.term for one in written.steps] == [one.term for one in read.steps]
    assert (written.letters, written.records, written.given) == (read.letters, read.records, read.given)
    page = tmp_path / "mine.md"
    page.write_text(CLIPPED.page, encoding="utf-8")
    assert read_mechanisms(page) == (written,)


@pytest.mark.parametrize(
    "given", [r"\varepsilon<\frac{1}{9}", r"7\le\varepsilon", r"20\le n", r"\log\varepsilon<-3"]
)
def test_half_the_noise_is_refuted_whatever_is_assumed_of_letters(given: str) -> None:
    steps = [(what, latex.replace("{1}{", "{1}{2")) for what, latex in CLIPPED.steps]
    found = replace(CLIPPED, steps=steps, given=[given]).decide()
    assert found.verdict is Verdict.REFUTED
    assert found.pair is not None
    assert found.instead is not None
    assert found.instead.value == r"2\varepsilon"
    assert found.pair.needs > float(Fraction(dict(found.pair.letters)[r"\varepsilon"]))


def test_lines_without_a_display_stand_in_python_as_on_a_page() -> None:
    """A loop, and a sample, are what docs/examples has."""
    for name, id_ in (("noisy-descent", "example.noisy-descent"), ("counts", "example.sampled-count")):
        text = (DOCS / "examples" / f"{name}.md").read_text(encoding="utf-8")
        (read,) = [one for one in mechanisms_of(text, name) if one.id == id_]
        section = text.partition(f"{{#{id_}}}")[2].partition("\n## ")[0]
        table, _, rest = section.partition("\n- records: ")
        lines = re.findall(r"^(\w[^\n]*):\n(?:\$\$(.*)\$\$)?", rest, re.MULTILINE)
        rows = re.findall(r"^\| \$(.*)\$ \| (.*?) \|", table, re.MULTILINE)
        records, _, neighbors = rest.partition("\n- neighbors: ")
        written = Mechanism(id_, dict(rows), records, lines, neighbors.partition("\n")[0])
        (again,) = mechanisms_of(written.page, name)
        assert [(one.role, one.term) for one in again.steps] == [(one.role, one.term) for one in read.steps]
        assert (again.sample is None, again.loop is None) == (read.sample is None, read.loop is None)
        assert not (again.sample is None and again.loop is None)


SUM = r"s=\sum_{i=1}^{n}x_i"


@pytest.mark.parametrize(
    ("query", "draws", "output", "measure", "value"),
    [
        (SUM, [r"y\sim\mathrm{Lap}(s,\frac{1}{2\varepsilon})"], "y", "epsilon", r"2\varepsilon"),
        (SUM.replace("=", r"=\frac{1}{n}", 1), [r"y\sim\mathrm{Lap}(s,b)"], "y", "epsilon", r"\frac{1}{nb}"),
        (SUM, [r"y\sim\mathrm{Lap}(s,b)", r"z\sim\mathrm{Lap}(s+y,b)"], "(y,z)", "epsilon", r"\frac{2}{b}"),
        (
            SUM,
            [r"y\sim\mathcal{N}(s,b^2)", r"z\sim\mathrm{Lap}(s,2)"],
            "(y,z)",
            "rho",
            r"\frac{1}{2b^{2}}+\frac{1}{8}",
        ),
        (SUM, [r"y\sim\mathrm{Lap}(s,\frac{1}{n+s})"], "y", "", ""),
    ],
)
def test_what_is_proved_instead(query: str, draws: list[str], output: str, measure: str, value: str) -> None:
    steps = [("Query", query), *(("Draw", draw) for draw in draws), ("Output", output), CLIPPED.steps[-1]]
    letters = {**CLIPPED.letters, "b": "> 0"}
    written = replace(CLIPPED, letters=letters, records=r"$x_1,\dots,x_n$ in [0, 1]", steps=steps)
    found = guarantee_proved(*mechanisms_of(written.page, "mine"))
    assert (found and found.measure, found and found.value) == ((measure, value) if measure else (None, None))
    assert found is None or check(found.certificate).confirmed


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"id": None}, "id was None; allowed: text in one line"),
        ({"id": "a}\n# b {#c"}, "id was"),
        ({"letters": "n"}, "letters was 'n'; allowed: a dictionary"),
        ({"letters": {"n|m": "> 0"}}, "letters was 'n|m'; allowed: text in one line, without `|`"),
        ({"letters": {"n": "real |\n| $m$ | > 0"}}, "kind was"),
        ({"records": 3}, "records was 3"),
        ({"records": "$x_1,\\dots,x_n$ of numbers\n- given: $n<2$"}, "records was"),
        ({"neighbors": "add"}, "neighbors was 'add'"),
        ({"steps": ["y"]}, "steps was 'y'; allowed: pairs"),
        ({"steps": "Draw"}, "steps was 'Draw'; allowed: a list"),
        ({"steps": [("Draw", "y$$\n\nClaim:\n$$y")]}, "steps was"),
        ({"steps": [("", "y")]}, "steps was ''"),
        ({"steps": [("Draw", "")]}, "steps was ''"),
        (
            {"steps": [("- given: $n<2$", "")]},
            "steps was '- given: $n<2$'; allowed: a line that begins with a word",
        ),
        ({"given": ["n<2$ or $n<1"]}, "given was"),
    ],
)
def test_what_would_not_stand_on_a_page_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(says)):
        mechanisms_of(replace(CLIPPED, **fields).page, "mine")
