"""A page, or a folder of pages, of one's own is a paper: commands take its path."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Variant
from dpverify.reports import load_ledger, render_markdown
from dpverify.statements.own_pages import opened, read_pages
from dpverify.statements.pages import PageError, read_page
from dpverify.statements.selection import find_statement, select
from dpverify.verification.catalog.entries import named_with, used_by
from dpverify.verification.catalog.proofs import FEW
from dpverify.views.corrections import corrections
from dpverify.views.formula import facts
from dpverify.views.letters.faults import letters
from dpverify.views.letters.told import address

LETTERS = "| letter | domain |\n| --- | --- |\n| $x$ | >= 0 |\n| $n$ | integer >= 1 |\n"
ONE = """# One

## Lemma 1 {#mine.lem1}

- title: a small lemma
- pairs: mine.lem2

In words (not read):
$$\\text{Squares are }\\ge 0$$

`square` (step; special):
$$x^2\\ge 0$$

Bound (uses mine.lem2):
$$x\\le x+n$$

`wrong` (step; on $0\\le x\\le 2$; without units):
$$x\\le n$$
- place: page 2, first line
- true if: for small x
- consequence: a constant changes

Corrected `wrong` (given $x\\le n$):
$$x\\le n+k$$
- because: x may be large

| letter here | domain |
| --- | --- |
| $k$ | integer >= 1 |

`special` (instance; given $n=1$):
$$x\\le x+n$$
- case: one record
- catches: a record is lost: $x\\le x-n$

Corrected `more` (step):
$$n\\ge 0$$
"""
TWO = "# Two\n\n## Lemma 2 {#mine.lem2}\n\n- letters: $n$\n\nBound:\n$$n\\ge 1$$\n"
AGAIN = "## Lemma 2 {#mine.lem2}\n\n- title: it\n\nMore:\n$$n\\ge 0$$\n"
HERE = "| letter here | domain |\n| --- | --- |\n| $q$ | real |\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "letters.md").write_text(LETTERS)
    (tmp_path / "one.md").write_text(ONE)
    (tmp_path / "two.md").write_text(TWO)
    return tmp_path


def test_everything_on_a_page_is_read(folder: Path) -> None:
    paper = read_pages(folder)
    one, two = paper.statements
    assert (paper.key, [row.id for row in paper.catalog]) == ("mine", ["mine.lem1", "mine.lem2"])
    assert (one.title, one.where, one.latex) == ("a small lemma", "Lemma 1", r"\text{Squares are }\ge 0")
    assert (one.pairs, one.rests_on) == (("mine.lem2",), ("mine.lem2",))
    square, bound, wrong, special = one.printed
    assert (square.provenance, square.coverage, bound.uses) == ("special", Coverage.STEP, ("mine.lem2",))
    assert (wrong.where, wrong.reading, wrong.units) == ("page 2, first line", "for small x", False)
    assert (wrong.consequence, dict(wrong.box)) == (Consequence.CONSTANT, {"x": (0, 2)})
    assert (special.scope, special.catches and special.catches.says) == ("one record", "a record is lost")
    assert one.corrected is not None
    mended, more = one.corrected.obligations
    assert (mended.because, [v.name for v in mended.over]) == ("x may be large", ["k", "n", "x"])
    assert (mended.coverage, more.coverage, mended.provenance) == (Coverage.STEP, Coverage.STEP, "ours")
    assert [v.name for v in two.printed[0].over] == ["n"]
    assert paper.lines["mine.lem1", "wrong", Variant.CORRECTED] == (folder / "one.md", 24)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- because: x may be large", "- because: x\n- because: y", "each said once"),
        ("- place: page 2, first line", "- because: nothing", "line 18: list"),
        ("a constant changes", "it is bad", "line 18: consequence"),
        ("a record is lost: $x\\le x-n$", "a record is lost", "line 32: catches"),
        ("(step; special)", "(step; invented)", "line 11: note"),
        (
            "Corrected `wrong`",
            "Corrected `other`",
            "line 24: coverage of .* no printed formula has this name",
        ),
        ("Corrected `more` (step)", "Corrected `wrong` (step)", "line 37: name"),
        ("`square` (step; special)", "`not` square", "line 11: sentence"),
        ("- letters: $n$", "- letters: $q$", "line 5: letters"),
        ("- letters: $n$", "- letters: none", "line 8: Bound: formula"),
        ("# Two\n", "# Two\n\n$$1\\le 2$$\n", "line 3: display"),
        ("- pairs: mine.lem2\n", "- pairs: mine.lem2\n- pairs: mine.lem2\n", "each said once"),
        ("- because: x may be large", "- because: x may be large\n- place:", "line 26: list"),
        ("- because: x may be large", "- because: x\n- true if: x is small", "line 24: true if"),
        (
            "Corrected `more` (step):\n$$n\\ge 0$$",
            "Corrected `more` (step):\n$$n\\ge 0$$\n- true if: n is",
            "true if",
        ),
        (
            "Corrected `more` (step):\n$$n\\ge 0$$",
            "Corrected `more` (step):\n$$n\\ge 0$$\n- consequence: notation only",
            "line 37: consequence",
        ),
        ("Corrected `more` (step)", "Corrected `more` (step; verbatim)", "line 37: provenance"),
        (
            "Corrected `more` (step):\n$$n\\ge 0$$",
            "Corrected `more` (step):\n$$n\\ge 0$$\n- case: one",
            "line 37: case",
        ),
        ("`special` (instance;", "`special` (step;", "line 32: case"),
        ("`special` (instance;", "`special` (instance of two;", "line 32: case"),
        ("- pairs: mine.lem2\n", "- pairs: mine.lem2\n- replaces: nothing\n", "replaces was 'nothing'"),
        ("# Two\n", "# Two\n\n- uses: mine.lem1\n", "line 3: list"),
        ("# Two\n", "# Two\n\nHere is prose.\n\n- Title: it\n", "line 5: list"),
        (
            "- letters: $n$\n\nBound:\n$$n\\ge 1$$\n",
            "- letters: $n$\n\nBound:\n$$n\\ge 1$$\n\nProse.\n\n- step\n",
            "line 12: list",
        ),
        (
            "$$n\\ge 1$$\n",
            "$$n\\ge 1$$\n\n## Lemma 2 {#mine.lem2}\n\n- title: it\n\nMore:\n$$n\\ge 0$$\n",
            "first heading",
        ),
        ("- letters: $n$\n", "- letters: $n$\n- because: it is false\n", "line 3: correction"),
        (
            "- letters: $n$\n",
            "- letters: $n$\n\n| letter here | domain |\n| --- | --- |\n| $q$ | real |\n",
            "line 7: table",
        ),
        ("Squares are }\\ge 0$$", "Squares are }\\ge 0$$\n\nIn words (not read):\n$$2$$", "line 12: display"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder: Path, old: str, new: str, said: str) -> None:
    for name, text in (("one.md", ONE), ("two.md", TWO)):
        (folder / name).write_text(text.replace(old, new))
    assert (ONE + TWO).count(old) >= 1
    with pytest.raises(PageError, match=said):
        read_pages(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{#mine.lem2}", "{#other.lem2}", "begin with `mine.`"),
        ("{#mine.lem2}", "{#mine.lem1}", "one page for each statement"),
        ("(uses mine.lem2)", "(uses mine.lem7)", "ids of catalogs or named results"),
        ("Bound:\n", "Bound (uses mine.lem1):\n", "do not rest on themselves"),
        ("{#mine.", "{#fmtt18.", "do not begin as those of the paper fmtt18"),
    ],
)
def test_a_folder_that_makes_no_paper_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    for name, text in (("one.md", ONE), ("two.md", TWO)):
        (folder / name).write_text(text.replace(old, new))
    with pytest.raises(InvalidArgumentError, match=said):
        read_pages(folder)


def test_a_path_is_taken_where_a_key_is(folder: Path) -> None:
    assert [row.id for _, row in select((str(folder),))] == ["mine.lem1", "mine.lem2"]
    assert [row.id for _, row in select((f"{folder}#mine.lem2",))] == ["mine.lem2"]
    assert find_statement(f"{folder}#mine.lem2") is not None
    with pytest.raises(InvalidArgumentError, match="a Markdown page or folder"):
        list(select((str(folder / "nothing"),)))


Said = Callable[..., str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def run(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out = capsys.readouterr()
        assert (ended.value.code or 0) == code, out.err
        return out.out

    return run


def test_commands_take_a_folder(folder: Path, said: Said, tmp_path: Path) -> None:
    text = said("prove", str(folder))
    assert "Lemma 1: holds, given mine.lem2; a step of its proof is false" in text
    sarif = json.loads(said("prove", str(folder), "--format", "sarif"))
    (result,) = [r for r in sarif["runs"][0]["results"] if r["level"] == "warning"]
    place = result["locations"][0]["physicalLocation"]
    assert (Path(place["artifactLocation"]["uri"]).name, place["region"]["startLine"]) == ("one.md", 18)
    assert "a small lemma" in said("list", str(folder))
    assert "x may be large" in said("explain", f"{folder}#mine.lem1")
    assert "mine.lem1" in said("hypotheses", f"{folder}#mine.lem1")
    out = tmp_path / "out"
    verified = said("verify", "--paper", str(folder), "--out", str(out))
    assert "Checked 2 of 2 statements" in verified
    assert "As printed, of 2 statements with formulas: 2 hold." in verified
    assert "0 refused" in said("check", str(out / "ledger.json"))
    assert "mine.lem1" in (out / "report.html").read_text(encoding="utf-8")


def test_what_belongs_together_follows_the_pages(folder: Path) -> None:
    """In one process that reads a page again after it has changed."""
    opened(str(folder))
    assert (named_with()["mine.lem2"], used_by("mine.lem2")) == (("mine.lem1",), ("mine.lem1",))
    (folder / "one.md").write_text(ONE.replace("- pairs: mine.lem2\n", "").replace(" (uses mine.lem2)", ""))
    opened(str(folder))
    assert ("mine.lem2" in named_with(), used_by("mine.lem2")) == (False, ())


def test_other_processes_that_check_a_ledger_open_its_pages(folder: Path, said: Said, tmp_path: Path) -> None:
    """A premise is what another statement of the pages concludes, which a new process has not read."""
    page = ONE.replace("Bound (uses mine.lem2):", "Bound (uses mine.lem2; given $n\\ge 1$):")
    (folder / "one.md").write_text(page)
    out = tmp_path / "out"
    said("verify", "--paper", str(folder), "--out", str(out))
    rows = [row for row in load_ledger(out / "ledger.json").entries if isinstance(row, ProofEvidence)]
    assert ("mine.lem2/Bound",) in {premise.by for row in rows for premise in row.premises}
    assert len(rows) > FEW
    command = (sys.executable, "-m", "dpverify", "check", str(out), "--jobs", "2")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_report_shows_own_pages_as_it_shows_a_paper(folder: Path, said: Said, tmp_path: Path) -> None:
    """Statements, displays, headlines, corrections with their reasons, and commands that can be run as they stand."""
    out = tmp_path / "out"
    said("verify", "--paper", str(folder), "--out", str(out))
    said("report", str(out / "ledger.json"))
    page = (out / "report.html").read_text(encoding="utf-8")
    ledger = load_ledger(out / "ledger.json")
    markdown = render_markdown(ledger)
    (row, _) = ledger.statements
    for text in ("a small lemma", "x may be large", "a step of its proof is false", "page 2, first line"):
        assert text in page, text
    for text in ("mine.lem1", row.printed.headline, row.corrected.headline):
        assert text in page, text
        assert text in markdown, text
    (found,) = corrections(ledger).values()
    assert f"{folder}#mine.lem1" in page
    assert found.findings[0].formula.expression in said("prove", address(row))
    (letter,) = letters(ledger)
    assert [fault.shown for fault in letter.all_steps] == [found.findings[0].formula]


def test_a_page_of_a_folder_is_a_paper_too(folder: Path) -> None:
    page = read_page(folder / "two.md")
    assert [s.id for s in page.statements] == ["mine.lem2"]
    (folder / "three.md").write_text("# Three\n\nBound:\n$$n\\ge 1$$\n")
    (folder / "one.md").unlink()
    (folder / "two.md").unlink()
    (three,) = read_pages(folder).statements
    assert three.id == f"{folder.name}.three"


def test_pages_whose_ids_begin_alike_are_not_one_paper(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    page = LETTERS + "\n## Lemma 2 {#mine.lem2}\n\nBound:\n$$n\\ge 2$$\n"
    (other / "two.md").write_text(page)
    with pytest.raises(InvalidArgumentError, match="do not begin as others of this run do"):
        list(select((str(folder), str(other))))
    # one after the other, each has its own statement
    for path, said in ((folder, 1), (other, 2), (folder, 1)):
        assert [row.id for _, row in select((f"{path}#mine.lem2",))] == ["mine.lem2"]
        statement = find_statement(f"{path}#mine.lem2")
        assert statement is not None
        assert statement.printed[0].latex == rf"n\ge {said}"


@pytest.mark.parametrize(
    ("fault", "words"),
    [("x\\le x-n", "would have caught: a record is lost"),
     ("x\\le x+n-1", "is there to catch, and does not: a record is lost (proved)")],
)  # fmt: skip
def test_a_fault_that_an_instance_is_there_to_catch_is_tried(
    folder: Path, said: Said, tmp_path: Path, fault: str, words: str
) -> None:
    (folder / "one.md").write_text(ONE.replace("x\\le x-n", fault))
    out, begin = tmp_path / "out", words.partition(": a record")[0]
    said("verify", "--paper", str(folder), "--out", str(out))
    ledger = out / "ledger.json"
    (row,) = (e for e in load_ledger(ledger).entries if getattr(e, "obligation", "") == "special")
    assert [say.before(text) for say, text in facts(row).items() if text.startswith("a record")] == [words]
    assert begin.capitalize() in (out / "report.html").read_text(encoding="utf-8")
    assert begin in said("explain", f"{folder}#mine.lem1")
    said("check", str(ledger))
    ledger.write_text(
        ledger.read_text().replace(f'"with_fault": "{row.with_fault}"', '"with_fault": "certified"')
    )
    assert "its with fault is" in said("check", str(ledger), code=1)
