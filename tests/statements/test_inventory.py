"""Every display and inline relation of a paper has a row, and what a row says of itself is so."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.document import DisplayCount
from dpverify.ledger.verdicts import Coverage
from dpverify.statements.inventory import (
    DEFINITION,
    MISSING,
    REASONS,
    RESTATED,
    UNSAYABLE,
    ListedDisplay,
    ListedSentence,
    count,
    read_displays,
    read_sentences,
)
from dpverify.statements.paper import papers
from dpverify.statements.provenance import unsaid_claims

from .paper_text import Found, formulas, inventory, regions, relations, tidy, unread
from .printed_latex import covered, plain
from .test_as_printed import FOLDER, listed

PAPERS = [key for key, paper in papers().items() if paper.displays]
WITH_LATEX = [key for key in PAPERS if key != "bst14"]
"""Those whose text has LaTeX; the rows of the other were read by eye."""
IN_WORDS: set[str] = set()
"""Statements of which no display, relation, guarantee or bound is printed."""
ONLY_SIGNS = {"gll22.claim4.2"}
"""Statements that are one display."""
with_papers = pytest.mark.skipif(not FOLDER.is_dir(), reason="the papers are not here")


def text_of(paper: str) -> str:
    return (FOLDER / f"{paper}.txt").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------ with the papers


def differences(found: Sequence[Found], rows: Sequence[ListedDisplay]) -> list[str]:
    """Where text and rows part, in the paper's order."""
    stands = [(f.statement, f.place, f.latex) for f in found]
    said = [(d.statement, d.place, d.latex) for d in rows]
    in_text, in_rows = set(stands), set(said)
    out = [f"no row: {s}" for s in stands if s not in in_rows]
    out += [f"not in the text: {s}" for s in said if s not in in_text]
    return out or (["in another order"] if stands != said else [])


@with_papers
@pytest.mark.parametrize("paper", WITH_LATEX)
def test_what_stands_in_a_paper_has_a_row(paper: str) -> None:
    text, rows = text_of(paper), papers()[paper].displays
    found = inventory(paper, text)
    assert differences(found, rows) == []
    # the comparison can fail
    assert differences(found, rows[:7] + rows[8:])[0].startswith("no row")
    changed = replace(rows[7], latex=rows[7].latex + "+1")
    assert len(differences(found, (*rows[:7], changed, *rows[8:]))) == 2
    assert differences(found, (rows[1], rows[0], *rows[2:])) == ["in another order"]


@with_papers
@pytest.mark.parametrize("paper", WITH_LATEX)
def test_no_relation_of_a_paper_stays_unread(paper: str) -> None:
    assert unread(paper, text_of(paper)) == []


HEADING = re.compile(r" *(Theorem|Lemma|Proposition|Corollary|Claim|Fact) [0-9A-Z.]+(?<=\d)(?:\.| \()")


def without_region(paper: str, lines: Sequence[str]) -> list[str]:
    """Headings of statements and proofs with no region that begins below them."""
    first = {r.first for r in regions(paper)}
    below = {n: next(m for m in range(n + 1, len(lines) + 1) if m == len(lines) or lines[m - 1].strip())
             for n, line in enumerate(lines, 1) if HEADING.match(line) or line.startswith("Proof")}  # fmt: skip
    return [lines[n - 1] for n, m in below.items() if m not in first]


@with_papers
@pytest.mark.parametrize("paper", WITH_LATEX)
def test_every_statement_and_proof_is_looked_at(paper: str) -> None:
    lines = text_of(paper).split("\n")
    left = without_region(paper, lines)
    # proofs whose first words are a heading of their own, and sentences that begin like one
    assert [
        line for line in left if not re.match(r"Proof (?:notation|of Theorem)|Lemma 6\.1 shows", line)
    ] == []
    assert without_region(paper, [*lines, "Theorem 99.", "", "Let"]) == [*left, "Theorem 99."]
    for r, after in zip(regions(paper), regions(paper)[1:], strict=False):
        assert r.first <= r.last < after.first
        assert re.match(
            r"\s*$|Proof|Completing|\d|[A-Z]\w+ \d", lines[r.last]
        )  # nothing hangs on to its last line


# ------------------------------------------------------------------------------------------ the rows


def wrong(rows: Iterable[ListedDisplay]) -> list[str]:
    """What rows say of themselves that is not so."""
    excused = listed()
    out, lines, seen = (
        [],
        defaultdict[tuple[str, str], list[ListedDisplay]](list),
        defaultdict[str, set[str]](set),
    )
    sheets = {s.id: s for paper in papers().values() for s in paper.statements}
    for row in rows:
        lines[row.statement, re.sub(r", line \d+$", "", row.place)].append(row)
        if row.reason == RESTATED and plain(row.latex) not in seen[row.statement]:
            out.append(f"said nowhere before: {row}")
        if row.reason == DEFINITION and not re.search(
            r"=|[<>]|\\[lg]eq?|\\neq|\\in|\\doteq|\\propto|\\ll|\\equiv", row.latex
        ):
            out.append(f"no definition: {row}")
        seen[row.statement].add(plain(row.latex))
    for (statement, _), display in lines.items():
        sheet = sheets.get(statement)
        shown = {f"{statement}/{o.name}": o for o in (sheet.printed if sheet else ())}
        by_latex = covered(
            [row.latex for row in display],
            {name: o.latex for name, o in shown.items() if o.coverage is not Coverage.INSTANCE},
        )
        for row, (names, all_said) in zip(display, by_latex, strict=True):
            linked = [name for name in row.encoded if name not in names]
            if not set(names) <= set(row.encoded):
                out.append(f"encoded and not said so: {row}")
            if all_said and row.reason:
                out.append(f"all of it is encoded: {row}")
            if not row.reason and not all_said and not linked:
                out.append(f"not all of it is encoded: {row}")
            for name in linked:
                o = shown.get(name)
                if o is None or o.coverage is Coverage.INSTANCE:
                    out.append(f"no obligation that can encode it: {name}")
                elif (statement, o.name) not in excused:
                    out.append(f"the LaTeX of {name} stands elsewhere: {row}")
    return out


@pytest.mark.parametrize("paper", PAPERS)
def test_what_rows_say_is_so(paper: str) -> None:
    assert wrong(papers()[paper].displays) == []


def test_what_is_not_so_is_seen() -> None:
    rows = papers()["fmtt18"].displays
    step = next(r for r in rows if r.encoded == ("fmtt18.thm26/condition-of-lemma-25",))
    assert wrong([step]) == []
    assert wrong([replace(step, encoded=(), reason=MISSING)])
    assert wrong([replace(step, reason=MISSING)])
    assert wrong([replace(step, latex=step.latex.replace("alpha-1", "alpha-2"))])
    free = next(r for r in rows if r.reason in (MISSING, UNSAYABLE) and not r.encoded)
    assert wrong([free]) == []
    for name in ("last-display", "one-record", "nothing"):  # printed elsewhere, an instance, not there
        assert wrong([replace(free, statement="fmtt18.thm26", encoded=(f"fmtt18.thm26/{name}",), reason="")])
    assert wrong([replace(free, reason="")])
    assert wrong([replace(free, reason=RESTATED)])


def test_a_part_of_a_chain_is_not_all_of_it() -> None:
    chain = r"a\leq b+1\leq c"
    assert covered([chain], {"x": r"a\le b+1"}) == [(("x",), False)]
    assert covered([chain], {"x": r"a\le b+1", "y": r"b+1\le c"}) == [(("x", "y"), True)]
    assert covered([chain], {"x": r"a\le b"}) == [((), False)]  # another formula
    assert covered([chain], {"x": r"1\le c"}) == [((), False)]
    assert covered([r"a\leq b", r"=c"], {"x": "b=c"}) == [((), False), (("x",), True)]


def test_rows_are_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "displays.csv"
    assert read_displays(file) == ()
    head = "statement,place,latex,encoded,reason\n"
    file.write_text(head + "a.1,proof,x=1,a.1/o a.1/p,\n", encoding="utf-8")
    assert read_displays(file) == (ListedDisplay("a.1", "proof", "x=1", ("a.1/o", "a.1/p"), ""),)
    for bad in (head + "a.1,proof,x=1,,\n", head + "a.1,proof,x=1,,because\n", "id\n"):
        file.write_text(bad, encoding="utf-8")
        with pytest.raises(InvalidArgumentError):
            read_displays(file)


def test_sentences_are_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "sentences.csv"
    assert read_sentences(file) == ()
    head = "statement,kind,text,encoded,reason\n"
    file.write_text(head + f"a.1,claim,it is so,a.1/o,{UNSAYABLE}\n", encoding="utf-8")
    (found,) = read_sentences(file)
    assert found == ListedSentence("a.1", "claim", "it is so", ("a.1/o",), UNSAYABLE)
    assert found.is_unsaid
    for bad in (
        "a.1,claim,x,,\n", "a.1,claim,x,,because\n", f"a.1,guess,x,,{MISSING}\n", f"a.1,claim,x,,{DEFINITION}\n",
        "a.1,definition,x,a.1/o,\n",
    ):  # fmt: skip
        file.write_text(head + bad, encoding="utf-8")
        with pytest.raises(InvalidArgumentError):
            read_sentences(file)


@with_papers
@pytest.mark.parametrize("paper", PAPERS)
def test_sentences_stand_in_the_paper(paper: str) -> None:
    text = " ".join(text_of(paper).split())
    rows = papers()[paper].sentences
    assert rows
    assert [row.text for row in rows if row.text not in text] == []
    assert rows[0].text + " or not" not in text


def test_sentences_name_what_there_is() -> None:
    printed = {f"{s.id}/{o.name}" for paper in papers().values() for s in paper.statements for o in s.printed}
    for paper in PAPERS:
        rows = papers()[paper].sentences
        assert len({(row.statement, row.text) for row in rows}) == len(rows)
        assert {name for row in rows for name in row.encoded} <= printed
        said = {row.id for row in papers()[paper].catalog if row.kind != "algorithm"}
        assert said - {row.statement for row in rows} <= ONLY_SIGNS


def test_what_a_statement_claims_in_words_and_nothing_says_is_listed() -> None:
    unsaid = [row for paper in PAPERS for row in papers()[paper].sentences if row.is_unsaid]
    assert unsaid
    for row in unsaid:
        assert row.text in unsaid_claims(row.statement)


def test_counts_add_up() -> None:
    for key in PAPERS:
        rows = papers()[key].displays
        c = count(key, rows, ())
        assert isinstance(c, DisplayCount)
        assert c.displays == len(rows) == c.encoded + c.definitions + c.restated + c.unsayable + c.missing
        assert (c.decided, c.confirmed) == (0, 0)
        assert {row.reason for row in rows} <= {"", *REASONS}


@pytest.mark.parametrize("paper", WITH_LATEX)
def test_every_statement_has_rows_or_says_nothing_in_signs(paper: str) -> None:
    listed_ids = {row.statement for row in papers()[paper].displays}
    left = {row.id for row in papers()[paper].catalog if row.kind != "algorithm"} - listed_ids
    assert left <= IN_WORDS
    assert count(paper, papers()[paper].displays, (), [*left, *listed_ids]).unlisted == len(left)


def test_places_name_each_row_once() -> None:
    for key in PAPERS:
        places = [(row.statement, row.place) for row in papers()[key].displays]
        assert len(places) == len(set(places))


# ---------------------------------------------------------------------------------------- the reader


@pytest.mark.parametrize(
    ("text", "thrice", "latex"),
    [
        ("If zt0subscript𝑧𝑡0z_{t}\\geq 0 for all t𝑡t, then", True, ["z_{t}\\geq 0"]),
        ("the case when z=0𝑧0z=0. Let", True, ["z=0"]),
        ("for m>nm>n losses", False, ["m>n"]),
        ("where ρ=13d/n2\\rho=13d/n^{2} is", False, ["\\rho=13d/n^{2}"]),
        ("nothing to see, a = sign of life", True, []),
    ],
)  # fmt: skip
def test_formulas_are_found_behind_their_plain_forms(text: str, thrice: bool, latex: list[str]) -> None:
    found = [text[f.start : f.end] for f in formulas(text, thrice)]
    assert [tidy(f) for f in found if relations(f)] == latex


def test_regions_name_ids_of_the_catalog() -> None:
    known = {row.id for paper in papers().values() for row in paper.catalog}
    with (Path(__file__).with_name("regions.csv")).open(encoding="utf-8", newline="") as file:
        assert {r["statement"] for r in csv.DictReader(file)} <= known
