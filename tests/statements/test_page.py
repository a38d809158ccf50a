"""A theorem on a Markdown page; page_outcomes.txt says of hundreds of pages what is read of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.units import DIMENSIONLESS, LENGTH, LOSS
from dpverify.ledger.verdicts import Coverage, Verdict
from dpverify.statements.pages import PageError, read_page

from ..proved_pages import proved

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my-theorem.md"
TABLE = """# Mine

| letter | domain | unit | meaning |
|---|---|---|---|
| $x$ | > 0 | | a number |
| $k$ | integers in [1, 9] | record count | a count |
| $\\eta$ | [0, 1) | length^2 / loss | a step |
| $v_0$ | real | | a length |
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.md"
    path.write_text(text, encoding="utf-8")
    return path


def ended(arguments: list[str]) -> int:
    """The exit code of a command."""
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_example_is_proved_as_it_stands() -> None:
    page = read_page(EXAMPLE)
    records, word = proved(page.statement)
    rows = {r.evidence.obligation: r.evidence for r in records if r.evidence.coverage is not Coverage.UNIT}
    assert [e.verdict for e in rows.values()] == [
        Verdict.PROVED, Verdict.PROVED, Verdict.REFUTED, Verdict.PROVED,
    ]  # fmt: skip
    assert word.headline.startswith("holds, given fmtt18.thm22; a step of its proof is false")
    assert all(r.evidence.verdict is Verdict.PROVED for r in records if r.evidence.coverage is Coverage.UNIT)
    assert r"\sum_{i=t}^{n} a_i = 2\eta L" in rows["At the end nothing is left"].latex
    assert page.summary() == ""


def test_a_fault_on_the_page_is_seen(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    right, wrong = r"= \frac{2\alpha L^2}{\sigma^2 (n-t+1)}$$", r"= \frac{\alpha L^2}{\sigma^2 (n-t+1)}$$"
    assert right in text
    statement = read_page(written(tmp_path, text.replace(right, wrong))).statement
    assert proved(statement)[1].verdict is Verdict.REFUTED


def test_units_are_read(tmp_path: Path) -> None:
    (o,) = read_page(written(tmp_path, TABLE + "\n$$\\eta v_0=1$$")).statement.printed
    assert [v.unit for v in o.over] == [LENGTH**2 / LOSS, DIMENSIONLESS]
    assert [v.latex for v in o.over] == ["\\eta", "v_0"]


def test_a_bar_in_a_cell_is_written_as_markdown_has_it(tmp_path: Path) -> None:
    """`\\|` in a table is a bar, and `\\\\|` the norm's: what any forge shows is what is declared."""
    row = "| $\\mathbb{E}\\\\|b\\\\|$ | >= 0 | | |\n"
    (o,) = read_page(written(tmp_path, TABLE + row + "\n$$\\mathbb{E}\\|b\\|\\ge 0$$")).statement.printed
    assert [v.latex for v in o.over] == [r"\mathbb{E}\|b\|"]
    one_bar = TABLE + row.replace("\\\\|", "\\|")
    with pytest.raises(InvalidArgumentError, match="a declared letter"):
        read_page(written(tmp_path, one_bar + "\n$$\\mathbb{E}\\|b\\|\\ge 0$$"))


def test_letters_may_be_vectors(tmp_path: Path) -> None:
    table = TABLE + "| $u$ | vector | length | a vector |\n| $w$ | vectors | length | another |\n"
    page = read_page(written(tmp_path, table + "\n$$\\langle u,w\\rangle\\le\\|u\\|\\|w\\|$$"))
    records, _ = proved(page.statement)
    assert [r.evidence.verdict for r in records] == [
        Verdict.PROVED,
        Verdict.PROVED,
    ]  # the formula and its units
    with pytest.raises(InvalidArgumentError, match="line 9: domain"):
        read_page(written(tmp_path, table.replace("vector |", "vector > 0 |") + "\n$$\\|u\\|\\ge 0$$"))


PAGE = (
    TABLE
    + """
Define for every $k$:
$$
b_k = \\frac{x}{k}
$$

First (step; given $x\\le 1$, $k\\ge 2$; on $0\\le x\\le 2$):
$$ b_{k} \\le 1. $$

```python
$$ not math $$
```

**Second** (instance of two; read as $x/(2k)$; uses fmtt18.thm1):

```math
x/2k = 1
```
"""
)


def test_a_page_is_read(tmp_path: Path) -> None:
    page = read_page(written(tmp_path, PAGE))
    first, second = page.statement.printed
    assert (page.statement.id, page.statement.title) == ("mine", "Mine")
    assert (first.name, first.coverage, len(first.assuming)) == ("First", Coverage.STEP, 2)
    assert dict(first.box) == {"x": (0, 2)}
    assert (second.name, second.coverage, second.uses) == ("Second", Coverage.INSTANCE, ("fmtt18.thm1",))
    (k, x) = first.over
    assert (x.lower, x.lower_open, k.kind, k.upper) == (0, True, "integer", 9)


def test_what_is_written_is_kept_as_it_is(tmp_path: Path) -> None:
    page = read_page(written(tmp_path, PAGE))
    definition, first, second = page.displays
    assert [d.line for d in page.displays] == [11, 16, 24]
    assert (definition.defines, definition.said.parameter, definition.latex) == (
        True,
        "k",
        r"b_k = \frac{x}{k}",
    )
    assert [c.latex for c in first.note.given] == [r"x\le 1", r"k\ge 2"] or first.note.given[0].kind == "and"
    assert first.before == r"First (step; given x\le 1, k\ge 2; on 0\le x\le 2)"
    assert (second.note.case, second.note.reading) == ("two", "x/(2k)")
    assert [letter.line for letter in page.letters] == [5, 6, 7, 8]
    assert first.line == int(re.sub(r".*line ", "", page.statement.printed[0].where))


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("nothing", "a table of letters"),
        (TABLE, "one with a formula"),
        (TABLE + "\n$$x = \\beta$$", "line 10: display 1: formula at character 5"),
        (TABLE + "\n$$x/2k = 1$$", "one of two readings"),
        (TABLE + "\n$$x = 1", "line 10: display"),
        (TABLE + "\nBound (step; because):\n\n$$x=1$$", "line 10: note"),
        (TABLE + "\nA (on $x$):\n$$x=1$$", "line 10: note"),
        (TABLE + "\nA:\n$$x=1$$\nA:\n$$x=2$$", "line 13: name"),
        (TABLE + "\nDefine:\n$$c$$", "line 11: definition"),
        (TABLE + "\nDefine for every $q$:\n$$c=1$$", "line 11: parameter"),
        (TABLE.replace("> 0", "positive"), "line 5: domain"),
        (TABLE.replace("> 0", "> a"), "line 5: domain was '> a'; allowed: a domain such as"),
        (TABLE.replace("[0, 1)", "[2, 1)"), "line 7: domain"),
        (TABLE.replace("length^2 / loss", "meters"), "line 7: unit"),
        (TABLE.replace("| $x$ |", "| |"), "line 5: letter"),
        (TABLE.replace("$k$", "$x$"), "line 6: letter"),
    ],
)
def test_bad_pages_say_the_line(
    page: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, page)
    with pytest.raises(PageError, match=said.replace("(", r"\(")):
        read_page(path)
    assert ended(["prove", str(path)]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.strip()


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = TABLE.replace("> 0", "positive") + "\nA (if $x\\ge1$):\n\n$$x=q$$\n\nSuppose $x>1$.\n\n$$x=$$\n"
    assert ended(["prove", str(written(tmp_path, page))]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [re.sub(r".*line (\d+): (\w+).*", r"\1 \2", line) for line in lines] == [
        "5 domain", "10 note", "14 formula", "16 display",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["none.md", "folder.md"])
def test_no_page(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(InvalidArgumentError, match="a text file that can be read"):
        read_page(tmp_path / name)


# ------------------------------------------------------------------------------------------ what is shown


READ = "for all real x in (0, oo), if 1 <= x, with c = 2: 2 <= x + 1"
SHOWN = TABLE + "\nDefine:\n\n$$c=2$$\n\nFar (given $x\\ge1$):\n\n$$c\\le x+1$$\n"


@pytest.mark.parametrize("form", ["text", "json", "markdown", "junit"])
def test_what_was_read_stands_beside_every_verdict(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(["prove", str(written(tmp_path, SHOWN)), "--format", form]) == 0
    out = capsys.readouterr().out
    if form == "json":
        assert {entry["read"] for entry in json.loads(out)["entries"]} == {READ}
    else:
        assert READ in out.replace("&lt;", "<").replace("\\", "")


def test_it_stands_beside_what_is_false(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["prove", str(written(tmp_path, SHOWN.replace("x+1", "x"))), "--format", "sarif"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["properties"]["read"] == READ.removesuffix(" + 1")


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_prose_with_formulas_that_were_not_read_is_counted(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = TABLE + "\nFirst.\n\nRecall that $1+x\\le e^x$.\n\nMore.\n\nAs is known:\n\n$$x>0$$\n"
    assert ended(["prove", str(written(tmp_path, page)), "--format", form]) == 0
    found = capsys.readouterr()
    assert "not read: 1 sentence of prose, with formulas, or beside displays or letters (line 12)" in (
        found.err if form == "json" else found.out
    )


# ------------------------------------------------------------------------------------------ what is used


@pytest.mark.parametrize("used", ["fmtt18.thm29", "fmtt18.sgd-update"])
def test_what_rests_on_a_refuted_statement_is_not_proved(
    used: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever follows from that in its paper: thm29's claim fails, sgd-update is false in an edge case."""
    path = written(tmp_path, TABLE + f"\nThe bound (uses {used}):\n\n$$x>0$$\n")
    ended(["prove", used])
    capsys.readouterr()
    assert ended(["prove", str(path)]) == 3
    last = capsys.readouterr().out
    assert f"mine.md: undecided; rests on {used}" in last
    assert "(false as printed" in last


def test_what_is_used_and_not_known_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a new machine, with a program beside which no verdicts lie."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr("dpverify.verification.remembering.shipped.FOLDER", tmp_path)
    path = written(tmp_path, TABLE + "\nThe bound (uses fmtt18.thm22):\n\n$$x>0$$\n")
    assert ended(["prove", str(path)]) == 0
    out = capsys.readouterr().out
    assert "mine.md: proved, given fmtt18.thm22" in out
    assert "No verdicts are kept here on fmtt18.thm22, " in out


@pytest.mark.parametrize(
    ("display", "given", "note", "headline", "code"),
    [
        (
            r"x\le 2",
            r"x\le 2",
            "it assumes all that it claims",
            "undecided: its conclusion is only assumed",
            3,
        ),
        (r"2=x", r"x=2", "it assumes all that it claims", "undecided: its conclusion is only assumed", 3),
        (r"x\le 2, x\le 3", r"x\le 2", "of what it claims, it assumes x <= 2", "proved", 0),
        (r"x\le 3", r"x\le 2", "", "proved", 0),
    ],
)
def test_a_claim_that_is_an_assumption_proves_nothing(
    display: str,
    given: str,
    note: str,
    headline: str,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = f"{TABLE}\nLemma (conclusion; given ${given}$):\n\n$${display}$$\n"
    assert ended(["prove", str(written(tmp_path, page)), "--json", str(tmp_path / "rows.json")]) == code
    (row,) = json.loads((tmp_path / "rows.json").read_text())["entries"]
    assert row["says_nothing"] == (code == 3)
    assert row["reason"].startswith(note)
    assert headline in capsys.readouterr().out
