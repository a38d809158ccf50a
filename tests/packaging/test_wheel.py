"""What a user's site-packages gets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dpverify.extras import EXTRAS
from dpverify.running.program import SHIPPED
from dpverify.statements.own_pages import COLLECTIONS, collections_of
from dpverify.verification.remembering.remembered import remember_all
from dpverify.verification.remembering.shipped import recall_or_read, ship

ROOT = Path(__file__).parents[2]
COPIED = (
    "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md",
    ".pre-commit-hooks.yaml", "action.yml", "SECURITY.md", "Makefile", "requirements.lock", "requirements-dev.lock",
)  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, all_remembered: Path) -> Path:
    """A folder with a source distribution of a copy of the tracked sources, and a wheel that was built from that.

    As `make dist` does, what is proved is written beside the program first.
    """
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in (*COPIED, "dpverify", "algorithms", "properties", "reports", "docs", "tests"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(source)], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(all_remembered))
        for paper in collections_of(
            COLLECTIONS
        ):  # which the tests do not prove: what lies beside the program
            remember_all(e for s in paper.statements for e in recall_or_read(s) or ())
        ship(source / "dpverify" / "verification" / "remembering" / SHIPPED)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)],
        check=True,
        capture_output=True,
    )
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def test_the_source_distribution_holds_tests_and_docs(built: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names.issuperset(COPIED)
    for folder in ("docs", "tests"):
        here = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert {name for name in here if "__pycache__" not in name and not name.endswith(".pyc")} <= names
    assert not [name for name in names if name.endswith(".pyc")]


def test_wheel_installs_one_top_level_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert top == {"dpverify"}


def test_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    folders = {"dpverify": "dpverify", "algorithms": "dpverify/algorithms"}
    folders |= {"properties": "dpverify/properties", "reports": "dpverify/reports"}
    for folder, installed in folders.items():
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in {".py", ".csv", ".html", ".css", ".js", ".json", ".jsonl", ".typed"}:
                assert f"{installed}/{file.relative_to(ROOT / folder).as_posix()}" in names


def test_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import dpverify, dpverify.algorithms, dpverify.properties, dpverify.reports\n"
        "print(dpverify.__file__)\n"
        "print(dpverify.algorithms.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(site)], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert all(line.startswith(str(site)) for line in done.stdout.split())


def test_a_release_lists_verdicts_at_once(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    done = subprocess.run(
        [sys.executable, "-c", "from dpverify.cli import main; main(['list', 'fmtt18'])"],
        check=True,
        capture_output=True,
        text=True,
        cwd=site,  # where modules are looked for first
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert "come with the program, found by dpverify" in done.stderr
    assert "an earlier state" not in done.stderr
    assert "Proving" not in done.stderr
    assert re.search(r"^fmtt18\.thm1\t.*proved", done.stdout, re.M)


def test_lock_files_pin_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(one for extra in EXTRAS for one in project["optional-dependencies"][extra]),
    ]
    pinned = set(
        re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M)
    )
    assert {re.split(r"[><=]", one)[0] for one in wanted} <= pinned


def test_extras_bring_the_modules_that_are_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"z3-solver": "z3", "dp-accounting": "dp_accounting", "scikit-learn": "sklearn"}
    for extra, modules in EXTRAS.items():
        brought = [re.split(r"[><=]", one)[0] for one in project["optional-dependencies"][extra]]
        assert sorted(names.get(name, name) for name in brought) == sorted(modules)
    assert project["optional-dependencies"]["all"] == [f"dpverify[{','.join(EXTRAS)}]"]


def test_few_distributions_come_with_it() -> None:
    """What is installed without any extra: its own dependencies, and theirs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left, found = [Requirement(one) for one in project["dependencies"]], set[str]()
    while left:
        one = left.pop()
        if (name := canonicalize_name(one.name)) in found:
            continue
        found.add(name)
        for line in requires(name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                left.append(needed)
    assert {"numpy", "pydantic-core"} <= found
    assert (
        not {"sympy", "z3-solver", "cvc5", "clarabel", "dp-accounting", "hypothesis", "scikit-learn"} & found
    )
    assert len(found) <= 25, sorted(found)
