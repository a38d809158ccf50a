"""What a release lacks is found."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from ..benchmarks.release import ROOT, lacks

NAMES = ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "README.md", "dpverify/__init__.py")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    """The files that a release needs, with what a person adds."""
    (tmp_path / "dpverify").mkdir()
    for name in NAMES:
        shutil.copy(ROOT / name, tmp_path / name)
    for name, old, new in (
        ("CHANGELOG.md", "## [Unreleased]", f"## [{VERSION}] - 2027-01-01"),
        (
            "pyproject.toml",
            "[project.scripts]",
            '[project.urls]\nSource = "https://example.org"\n\n[project.scripts]',
        ),
    ):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\((?!https?:|#)", "](https://example.org/", text)
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_complete_release_lacks_nothing(complete: Path) -> None:
    assert list(lacks(complete)) == []


def test_versions_agree_already() -> None:
    assert not [line for line in lacks(ROOT) if "another version" in line]


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_looked_at(name: str, complete: Path) -> None:
    text = (complete / name).read_text(encoding="utf-8")
    changed = text.replace(VERSION, "9.9").replace("project.urls", "tool.urls").replace("](https:", "](x/")
    (complete / name).write_text(changed, encoding="utf-8")
    assert list(lacks(complete))
