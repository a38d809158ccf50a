"""One name, three rooms: an algorithm and its tests share paper and file name, its audits begin with its id."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.statements.paper import PaperFolder, papers

ROOT = Path(__file__).parents[2]
FOLDERS = {key: paper for key, paper in papers().items() if isinstance(paper, PaperFolder)}
MOST_FILES = 17
"""A room with more than this many modules has more than one reason to be entered."""


def test_every_paper_of_the_repository_is_a_folder() -> None:
    assert set(FOLDERS) == set(papers())


@pytest.mark.parametrize("paper", FOLDERS.values(), ids=lambda paper: paper.key)
def test_algorithms_and_tests_share_their_names_and_all_are_audited(paper: PaperFolder) -> None:
    audited = {plan.subject for plan in paper.plans}
    for id_, path in paper.algorithms.items():
        module = path.partition(":")[0]
        package, _, name = module.rpartition(".")
        assert package == f"dpverify.algorithms.{paper.key}", id_
        assert id_ in audited
        tests = ROOT / "tests" / "algorithms" / paper.key / f"test_{name}.py"
        assert module in _imported(tests) or package in _imported(tests), tests


@pytest.mark.parametrize("paper", FOLDERS.values(), ids=lambda paper: paper.key)
def test_every_row_is_named_after_what_it_audits(paper: PaperFolder) -> None:
    assert {plan.subject for plan in paper.plans if plan.in_full_alone} == set(paper.algorithms)
    names = [plan.name for plan in paper.plans]
    assert len(set(names)) == len(names)
    for plan in paper.plans:
        assert plan.subject == plan.name.partition("/")[0] or plan.subject not in paper.algorithms, plan.name
        assert plan.in_full_alone == ("/real-size/" in plan.name), plan.name


def test_no_room_is_crowded() -> None:
    rooms = [
        folder
        for top in ("dpverify", "algorithms", "properties", "reports")
        for folder in (ROOT / top, *(ROOT / top).rglob("*"))
    ]
    crowded = {
        room.relative_to(ROOT).as_posix()
        for room in rooms
        if room.is_dir() and len(list(room.glob("*.py"))) > MOST_FILES
    }
    assert not crowded


def test_a_part_that_names_a_stranger_is_refused() -> None:
    stranger = PaperFolder("fmtt18", "Another one", "Nobody")
    object.__setattr__(stranger, "catalog", stranger.catalog[:1])
    for part in ("statements", "plans"):
        with pytest.raises(InvalidArgumentError, match="catalog"):
            getattr(stranger, part)


def _imported(file: Path) -> set[str]:
    """The modules that a file imports from."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
