"""Tries what was packed as somebody who has nothing else, and lists what a release lacks that a person must do.

Run: make release, which packs wheel and sdist, and checks them with twine, before.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

from dpverify.files import write_table
from tests.packaging.page_blocks import blocks, links, write_files

ROOT = Path(__file__).parents[2]
_SIZES = """
from importlib.metadata import distributions
for found in distributions():
    files = [file.locate() for file in found.files or ()]
    print(found.name, found.version, sum(file.stat().st_size for file in files if file.is_file()))
"""
_NOT_OURS = ("pip", "setuptools")
"""What a new environment has before."""


def lacks(root: Path) -> Iterator[str]:
    """What of a release only a person can do, as far as files say that it is not done."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text(encoding="utf-8"):
        yield f"CITATION.cff names another version than {version}"
    if f'__version__ = "{version}"\n' not in (root / "dpverify" / "__init__.py").read_text(encoding="utf-8"):
        yield f"dpverify/__init__.py names another version than {version}"
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    if not re.search(heading, (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M):
        yield f"CHANGELOG.md has no section ## [{version}] - YYYY-MM-DD; what it has is unreleased"
    if "urls" not in project:
        yield "pyproject.toml has no [project.urls], so that nothing leads from an index to the sources"
    relative = [target for target, _ in links(root / "README.md") if "://" not in target and target]
    if relative:
        yield f"README.md has {len(relative)} relative links, such as {relative[0]}, which lead nowhere on an index"


def tried(wheel: Path, folder: Path) -> None:
    """Install the wheel alone into a new environment, and run what the README begins with.

    Raises:
        SystemExit: for what goes otherwise there than the README says.
    """
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    subprocess.run([programs / "pip", "install", "--quiet", wheel], env=environment, check=True)
    write_files(ROOT / "README.md", folder)
    first = next(block for block in blocks(ROOT / "README.md", "sh") if "dpverify audit" in block)
    for script, code, words in (
        (first, 1, "violated"),
        ("dpverify list fmtt18 2>&1", 0, "come with the program, found by dpverify"),
        ("dpverify explain fmtt18.thm23", 0, "As printed"),
    ):
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != code or words not in done.stdout:
            raise SystemExit(
                f"In a new environment, exit code {done.returncode} of:\n{script}{done.stdout}{done.stderr}"
            )
        print(f"as it should: {script.strip().splitlines()[-1]}")


def sizes(python: Path) -> Iterator[str]:
    """A table of what is installed beside an interpreter, in MiB; the smallest together."""
    said = subprocess.run([python, "-I", "-c", _SIZES], capture_output=True, text=True, check=True).stdout
    found = [(int(size) / 2**20, name, version) for name, version, size in map(str.split, said.splitlines())]
    found = sorted((row for row in found if row[1] not in _NOT_OURS), reverse=True)
    large = [row for row in found if row[0] >= 3]
    yield "| distribution | version | MiB |\n| --- | --- | --- |"
    yield from (f"| {name} | {version} | {size:.0f} |" for size, name, version in large)
    small = sum(size for size, *_ in found[len(large) :])
    yield f"| {len(found) - len(large)} smaller ones | | {small:.0f} |"
    yield f"| all {len(found)} | | {sum(size for size, *_ in found):.0f} |"


def main(packed: Path) -> None:
    """Try the one wheel in a folder, and say what is left."""
    (wheel,) = packed.glob("*.whl")
    (source,) = packed.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        tried(wheel, Path(folder))
        write_table(ROOT / "docs" / "stability.md", sizes(Path(folder, "venv", "bin", "python")))
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    left = [*lacks(ROOT), *(["files are not committed: git status"] if changed else [])]
    version = wheel.name.split("-")[1]
    left += [f"git tag v{version}, and push it", f"twine upload {wheel} {source}"]
    print("Left to a person:", *left, sep="\n- ")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
