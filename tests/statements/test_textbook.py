"""The textbook: a collection of pages, which is read when it is named and belongs to no run of the papers."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Variant, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Statement
from dpverify.statements import paper as papers
from dpverify.statements.own_pages import COLLECTIONS, HERE, opened, read_pages
from dpverify.statements.pages import SHARED, read_page
from dpverify.statements.selection import find_statement, select
from dpverify.verification.catalog.proofs import prove_statement

FOLDER = HERE / "textbook"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != SHARED)
LETTERS = "| letter | domain |\n| --- | --- |\n| $x$ | >= 0 |\n\n"


@pytest.fixture(scope="module")
def read() -> Iterator[tuple[Statement | None, dict[str, Any]]]:
    """A statement that is asked for by its id where nothing is read, and what is read then; seconds for each time."""
    before = dict(papers.opened_pages)
    papers.opened_pages.clear()
    found = find_statement("textbook.logarithm")
    yield found, dict(papers.opened_pages)
    papers.opened_pages.clear()
    papers.opened_pages.update(before)


@pytest.fixture(autouse=True)
def _once(read: tuple[Statement | None, dict[str, Any]]) -> None:
    """What is read for the first test is there for the others."""
    papers.opened_pages.update(read[1])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_readers_come_to_the_same_problems(page: Path) -> None:
    found = read_page(page, prefix="textbook")  # each display is read by both
    assert not found.unread
    for s in found.statements:
        printed, corrected = list(s.printed), list(s.corrected.obligations if s.corrected else ())
        assert s.id.startswith("textbook.")
        if page.stem == "false_in_circulation":
            assert [o.name for o in printed] == [o.name for o in corrected]
            assert all(o.reading and o.consequence for o in printed)
            assert all(o.because for o in corrected)
        else:
            assert not corrected
            assert all(o.catches for o in printed), s.id


def test_every_page_is_one_of_the_collection() -> None:
    paper = opened("textbook")
    assert paper is not None
    assert paper.title == COLLECTIONS["textbook"]
    assert len(paper.statements) >= 100
    assert sum(len(s.parts) for s in paper.statements) >= 500
    assert paper.address("textbook.logarithm") == "textbook.logarithm"
    names = {s.id: {part.name for part in s.parts} for s in paper.statements}
    for s in paper.statements:
        for name in s.rests_on:  # nothing but the collection itself
            statement, _, formula = name.partition("/")
            assert not formula or formula in names[statement]


SAMPLE = [
    ("logarithm/tangent", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("gaussian-profile/slope-in-epsilon", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("randomized-response-divergences/profile", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("exponential-mechanism/weight", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("zcdp-to-approximate/rho-of-epsilon-and-delta", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("poisson-subsampling/below", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("group-privacy/two-records", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("average-iterate/any-step", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("gradient-steps/distance", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("chernoff/below", Variant.PRINTED, Verdict.PROVED, Verdict.REFUTED),
    ("gaussian-noise-for-large-losses/privacy", Variant.PRINTED, Verdict.REFUTED, None),
    ("amplification-by-the-share/bound", Variant.PRINTED, Verdict.REFUTED, None),
    ("amplification-by-the-share/bound", Variant.CORRECTED, Verdict.PROVED, None),
    ("group-privacy-of-delta/bound", Variant.PRINTED, Verdict.REFUTED, None),
]


@pytest.fixture
def statements() -> dict[str, Statement]:
    paper = opened("textbook")
    assert paper is not None
    return {s.id: s for s in paper.statements}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "variant", "verdict", "fault"), SAMPLE)
def test_verdicts_of_a_sample(
    statements: dict[str, Statement], name: str, variant: Variant, verdict: Verdict, fault: Verdict | None
) -> None:
    id_, _, formula = name.partition("/")
    statement = statements[f"textbook.{id_}"]
    corrected = statement.corrected.obligations if statement.corrected else ()
    (found,) = (o for o in (statement.printed, corrected)[variant is Variant.CORRECTED] if o.name == formula)
    assert prove(found).verdict is verdict
    if fault is not None:
        assert found.catches is not None
        assert prove(replace(found, claim=found.catches.claim, catches=None)).verdict is fault


def test_it_is_in_no_run_of_the_papers() -> None:
    opened("textbook")
    assert {paper.key for paper, _ in select()} == set(papers.registered())
    assert [row.id for _, row in select(("textbook.logarithm",))] == ["textbook.logarithm"]
    assert {paper.key for paper, _ in select(("textbook",))} == {"textbook"}


def test_a_statement_is_found_by_its_id(read: tuple[Statement | None, dict[str, Any]]) -> None:
    found, pages = read
    assert found is not None
    assert found.printed[0].name == "tangent"
    assert [paper.key for _, paper in pages.values()] == ["textbook"]
    assert find_statement("textbook.nothing") is None


def test_pages_may_use_what_stands_in_it(tmp_path: Path) -> None:
    used = tmp_path / "mine.md"
    for ids in ("# Mine\n\n", "# Mine\n\n## Lemma {#mine.lem}\n\n"):
        for uses in ("textbook.logarithm", "textbook.logarithm/tangent"):
            used.write_text(f"{ids}{LETTERS}Bound (uses {uses}):\n$$\\ln(1+x)\\le x$$\n")
            (statement,) = read_pages(used).statements
            assert statement.rests_on == (uses,)
        used.write_text(f"{ids}{LETTERS}Bound (uses textbook.logarithm/nothing):\n$$\\ln(1+x)\\le x$$\n")
        with pytest.raises(InvalidArgumentError, match=r"textbook\.logarithm/nothing"):
            read_pages(used)


def test_its_ids_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "textbook.md").write_text(f"# A\n\n## A {{#textbook.mine}}\n\n{LETTERS}Bound:\n$$x\\ge 0$$\n")
    for place in (tmp_path, tmp_path / "textbook.md", FOLDER / "false_in_circulation.md"):
        with pytest.raises(
            InvalidArgumentError, match="ids that do not begin as those of the paper textbook"
        ):
            read_pages(place)


def test_the_page_about_it_names_what_there_is(statements: dict[str, Statement], tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "textbook.md"
    text = page.read_text(encoding="utf-8")
    parts = {f"{s.id}/{part.name}" for s in statements.values() for part in s.parts}
    assert set(re.findall(r"textbook\.[a-z-]+(?:/[a-z-]+)?", text)) <= {*statements, *parts}
    assert sorted(re.findall(r"`(\w+\.md)`", text)) == [page.name for page in PAGES]
    (block,) = re.findall(r"^```markdown\n(.*?)^```$", text, re.M | re.S)
    letters = LETTERS.replace("| $x$ | >= 0 |", "| $q$ | (0, 1) |\n| $\\varepsilon$ | > 0 |")
    (tmp_path / "mine.md").write_text(f"# Mine\n\n{letters}{block}")
    (statement,) = read_pages(tmp_path / "mine.md").statements
    assert statement.rests_on == ("textbook.poisson-subsampling/above",)


def test_counts(statements: dict[str, Statement]) -> None:
    place = Path(__file__).parents[1] / "benchmarks" / "textbook.py"
    spec = importlib.util.spec_from_file_location("textbook_counts", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ids = ("textbook.group-privacy-of-delta", "textbook.shuffling")
    found = [record.evidence for id_ in ids for record in prove_statement(statements[id_].id)]
    wrong = [row.model_copy(update={"with_fault": row.with_fault and Verdict.PROVED}) for row in found]
    lines = list(module.summary(found))
    assert lines[0] == f"2 statements, {len(found)} displays"
    assert "false, with a correction: 1 refuted" in lines
    assert any(line.startswith("confirmed by the checker: ") for line in lines)
    assert any(line.startswith("fault proved: textbook.shuffling/") for line in module.summary(wrong))
