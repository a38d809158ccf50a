"""What a release lacks is found."""

from __future__ import annotations

import shutil
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

from ..benchmarks.release import ROOT, absolute, lacks, pack, prepare
from .page_blocks import links

NAMES = ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "README.md", "dpverify/__init__.py")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


ADDRESS = "https://example.org/dpverify"


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    """The files that a release needs, as make release URL=... leaves them."""
    (tmp_path / "dpverify").mkdir()
    for name in NAMES:
        shutil.copy(ROOT / name, tmp_path / name)
    prepare(tmp_path, ADDRESS, "2027-01-01")
    page = tmp_path / "README.md"
    page.write_text(absolute(page.read_text(encoding="utf-8"), ADDRESS, VERSION), encoding="utf-8")
    return tmp_path


def test_a_complete_release_lacks_nothing(complete: Path) -> None:
    assert list(lacks(complete)) == []
    prepared = {name: (complete / name).read_text(encoding="utf-8") for name in NAMES}
    prepare(complete, "https://example.net", "2028-02-02")
    assert {name: (complete / name).read_text(encoding="utf-8") for name in NAMES} == prepared
    said = tomllib.loads(prepared["pyproject.toml"])
    assert said["project"].pop("urls")["Source"] == ADDRESS
    assert said == tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {"repository-code": ADDRESS, "date-released": date(2027, 1, 1)}.items() <= yaml.safe_load(
        prepared["CITATION.cff"]
    ).items()


def test_links_of_what_is_packed_lead_to_files_of_that_version(complete: Path) -> None:
    before, after = (links(folder / "README.md") for folder in (ROOT, complete))
    assert len(before) == len(after)
    for (old, anchor), (new, same) in zip(before, after, strict=True):
        assert anchor == same
        if old != new:
            form = new.removeprefix(f"{ADDRESS}/")
            assert form in (f"blob/v{VERSION}/{old}", f"raw/v{VERSION}/{old}")
            assert form.startswith("raw") == old.endswith((".png", ".svg"))
            assert (ROOT / old).exists()


@pytest.mark.parametrize("address", ["example.org", "https://example.org/", 'https://e.org/"x'])
def test_what_is_no_address_is_refused_before_anything_is_written(address: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^URL was .*; allowed: an address such as "):
        pack(tmp_path / "dist", address)


def test_versions_agree_already() -> None:
    assert not [line for line in lacks(ROOT) if "another version" in line]


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_looked_at(name: str, complete: Path) -> None:
    text = (complete / name).read_text(encoding="utf-8")
    changed = text.replace(VERSION, "9.9").replace("project.urls", "tool.urls").replace("](https:", "](x/")
    (complete / name).write_text(changed, encoding="utf-8")
    assert list(lacks(complete))
