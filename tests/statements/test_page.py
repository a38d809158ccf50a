"""A theorem on a Markdown page."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Coverage, Verdict
from dpverify.formulas.units import DIMENSIONLESS, LENGTH, LOSS
from dpverify.statements.pages import read_page
from dpverify.verification.proofs import prove_page

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my-theorem.md"
TABLE = """# Mine

| letter | domain | unit | meaning |
|---|---|---|---|
| $x$ | > 0 | | a number |
| $k$ | integers in [1, 9] | record count | a count |
| $\\eta$ | [0, 1) | length^2 / loss | a step |
| $\\|v\\|$ | real | | a length, with bars in its name |
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_is_proved_as_it_stands() -> None:
    records, word = prove_page(read_page(EXAMPLE).statement)
    rows = {r.evidence.obligation: r.evidence for r in records if r.evidence.coverage is not Coverage.UNIT}
    assert [e.verdict for e in rows.values()] == [
        Verdict.PROVED, Verdict.PROVED, Verdict.REFUTED, Verdict.PROVED,
    ]  # fmt: skip
    assert word.headline == "holds, given fmtt18.thm22; a step of its proof is false"
    assert all(r.evidence.verdict is Verdict.PROVED for r in records if r.evidence.coverage is Coverage.UNIT)
    assert r"\sum_{i=t}^{n} a_i = 2\eta L" in rows["At the end nothing is left"].latex


def test_a_fault_on_the_page_is_seen(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    right, wrong = r"= \frac{2\alpha L^2}{\sigma^2 (n-t+1)}$$", r"= \frac{\alpha L^2}{\sigma^2 (n-t+1)}$$"
    assert right in text
    assert (
        prove_page(read_page(written(tmp_path, text.replace(right, wrong))).statement)[1].verdict
        is Verdict.REFUTED
    )


def test_units_are_read(tmp_path: Path) -> None:
    (o,) = read_page(written(tmp_path, TABLE + "\n$$\\eta\\|v\\|=1$$")).printed
    assert [v.unit for v in o.over] == [LENGTH**2 / LOSS, DIMENSIONLESS]
    assert [v.latex for v in o.over] == ["\\eta", "\\|v\\|"]


def test_letters_may_be_vectors(tmp_path: Path) -> None:
    table = TABLE + "| $u$ | vector | length | a vector |\n| $w$ | vectors | length | another |\n"
    page = read_page(written(tmp_path, table + "\n$$\\langle u,w\\rangle\\le\\|u\\|\\|w\\|$$"))
    records, _ = prove_page(page)
    assert [r.evidence.verdict for r in records] == [
        Verdict.PROVED,
        Verdict.PROVED,
    ]  # the formula and its units
    with pytest.raises(InvalidArgumentError, match="line 9: domain"):
        read_page(written(tmp_path, table.replace("vector |", "vector > 0 |") + "\n$$\\|u\\|\\ge 0$$"))


def test_a_page_is_read(tmp_path: Path) -> None:
    page = (
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

```math
x/2k = 1
```
"""
    )
    page = page.replace(
        "```math", "**Second** (instance of two; read as $x/(2k)$; uses fmtt18.thm1):\n\n```math"
    )
    statement = read_page(written(tmp_path, page))
    first, second = statement.printed
    assert (statement.id, statement.title) == ("mine", "Mine")
    assert (first.name, first.coverage, len(first.assuming)) == ("First", Coverage.STEP, 2)
    assert dict(first.box) == {"x": (0, 2)}
    assert (second.name, second.coverage, second.uses) == ("Second", Coverage.INSTANCE, ("fmtt18.thm1",))
    (x, k) = first.over
    assert (x.lower, x.lower_open, k.kind, k.upper) == (0, True, "integer", 9)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("nothing", "a table of letters"),
        (TABLE, "a page with a formula"),
        (TABLE + "\n$$x = \\beta$$", "line 10: display 1: formula at character 5"),
        (TABLE + "\n$$x/2k = 1$$", "one of two readings"),
        (TABLE + "\n$$x = 1", "line 10: display"),
        (TABLE + "\nBound (step; because):\n\n$$x=1$$", "line 11: note"),
        (TABLE + "\nA (on $x$):\n$$x=1$$", "line 11"),
        (TABLE + "\nA:\n$$x=1$$\nA:\n$$x=2$$", "a name that no other display has"),
        (TABLE + "\nDefine:\n$$c$$", "line 11: definition"),
        (TABLE + "\nDefine for every $q$:\n$$c=1$$", "line 11: parameter"),
        (TABLE.replace("> 0", "positive"), "line 5: domain"),
        (TABLE.replace("> 0", "> a"), "line 5: domain was '> a'; allowed: a domain whose ends"),
        (TABLE.replace("[0, 1)", "[2, 1)"), "line 7: domain of eta"),
        (TABLE.replace("length^2 / loss", "meters"), "line 7: unit"),
        (TABLE.replace("| $x$ |", "| |"), "line 5: letter"),
        (TABLE.replace("$k$", "$x$"), "line 3: table"),
    ],
)
def test_bad_pages_say_the_line(
    page: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, page)
    with pytest.raises(InvalidArgumentError, match=said.replace("(", r"\(")):
        read_page(path)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(path)])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.strip()


@pytest.mark.parametrize("name", ["none.md", "folder.md"])
def test_no_page(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(InvalidArgumentError, match="a text file that can be read"):
        read_page(tmp_path / name)
