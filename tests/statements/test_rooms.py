"""One name, four rooms: an algorithm, its audits and its tests share paper and file name."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import dpverify
from dpverify.errors import InvalidArgumentError
from dpverify.statements.paper import PaperFolder, papers

ROOT = Path(__file__).parents[2]
FOLDERS = {key: paper for key, paper in papers().items() if isinstance(paper, PaperFolder)}
MOST_FILES = 17
"""A room with more than this many modules has more than one reason to be entered."""


def test_every_paper_of_the_repository_is_a_folder() -> None:
    assert set(FOLDERS) == set(papers())


@pytest.mark.parametrize("paper", FOLDERS.values(), ids=lambda paper: paper.key)
def test_algorithms_audits_and_tests_share_their_names(paper: PaperFolder) -> None:
    for id_, path in paper.algorithms.items():
        module = path.partition(":")[0]
        package, _, name = module.rpartition(".")
        assert package == f"dpverify.algorithms.{paper.key}", id_
        assert any(plan.subject == id_ for plan in paper.audits(name)), id_
        tests = ROOT / "tests" / "algorithms" / paper.key / f"test_{name}.py"
        assert module in _imported(tests) or package in _imported(tests), tests


@pytest.mark.parametrize("paper", FOLDERS.values(), ids=lambda paper: paper.key)
def test_every_plan_lies_under_the_name_of_its_algorithm(paper: PaperFolder) -> None:
    folder = Path(dpverify.__path__[0]) / "statements" / paper.key / "audits"
    names = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    with_plans = {
        name
        for name in names
        if hasattr(import_module(f"dpverify.statements.{paper.key}.audits.{name}"), "PLANS")
    }
    # the audits at real size of all of a paper's algorithms stand together
    assert with_plans == {*paper.audited, "real_size"}
    assert {plan.subject for plan in paper.at_real_size} == set(paper.algorithms)
    assert {name for name in names - with_plans if not name.endswith("cases")} == set()
    for name in paper.audited:
        here = {id_ for id_, path in paper.algorithms.items() if path.partition(":")[0].endswith(f".{name}")}
        for plan in paper.audits(name):
            assert plan.subject in here or plan.subject not in paper.algorithms, plan.name


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
    for part in ("statements", "algorithms", "plans"):
        with pytest.raises(InvalidArgumentError, match="catalog"):
            getattr(stranger, part)


def _imported(file: Path) -> set[str]:
    """The modules that a file imports from."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
