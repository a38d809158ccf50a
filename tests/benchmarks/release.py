"""Tries what was packed as somebody who has nothing else, and lists what a release lacks that a person must do.

Run: make release URL=https://..., the address at which the sources are published. The address and the date are written
where a release needs them and has none: in pyproject.toml, CITATION.cff and CHANGELOG.md; the README that is packed has
links that start there. Without URL nothing is written, and what is missing is listed.

    python tests/benchmarks/release.py pack DIST URL    packs what is tracked; URL may be empty
    python tests/benchmarks/release.py try DIST         tries the wheel, and lists what is left
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

from dpverify.files import write_table
from tests.packaging.page_blocks import blocks, links, write_files

ROOT = Path(__file__).parents[2]
PACKED = ROOT / "build" / "release"
"""The sources as they are packed."""
_RELATIVE = re.compile(r"(!?\[[^\]]*\]\()(?!https?:|#)([^)\s]+\))")
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
        yield "pyproject.toml has no [project.urls]; make release URL=https://... writes the address of the sources"
    relative = [target for target, _ in links(root / "README.md") if "://" not in target and target]
    if relative:
        yield f"README.md has {len(relative)} relative links, such as {relative[0]}, which lead nowhere on an index"


def _version(root: Path) -> str:
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def prepare(root: Path, address: str, date: str) -> None:
    """Write an address and a date where a release needs them and has none."""
    project, version = root / "pyproject.toml", _version(root)
    text = project.read_text(encoding="utf-8")
    if "urls" not in tomllib.loads(text)["project"]:
        urls = (
            f'[project.urls]\nSource = "{address}"\nChangelog = "{address}/blob/v{version}/CHANGELOG.md"\n\n'
        )
        project.write_text(
            text.replace("[project.scripts]\n", f"{urls}[project.scripts]\n", 1), encoding="utf-8"
        )
    cited = root / "CITATION.cff"
    text = cited.read_text(encoding="utf-8")
    if "\nrepository-code:" not in text:
        more = f"repository-code: {address}\ndate-released: {date}\n"
        cited.write_text(text.replace("license:", f"{more}license:", 1), encoding="utf-8")
    changes = root / "CHANGELOG.md"
    text = changes.read_text(encoding="utf-8")
    if f"\n## [{version}] " not in text:
        first = f"## [Unreleased]\n\n## [{version}] - {date}\n"
        changes.write_text(text.replace("## [Unreleased]\n", first, 1), encoding="utf-8")


def absolute(text: str, address: str, version: str) -> str:
    """A page of Markdown whose relative links start from the sources of a version; pictures are given as files."""

    def link(found: re.Match[str]) -> str:
        return f"{found[1]}{address}/{'raw' if found[1][0] == '!' else 'blob'}/v{version}/{found[2]}"

    return _RELATIVE.sub(link, text)


def pack(packed: Path, address: str) -> None:
    """Pack what is tracked of the sources, with an address and a date if there is an address.

    Raises:
        SystemExit: if it is none.
    """
    if address and not re.fullmatch(r"https://[^\s\"<>()]*[^\s\"<>()/]", address):
        raise SystemExit(f"URL was {address!r}; allowed: an address such as https://example.org/dpverify")
    if address:
        prepare(ROOT, address, time.strftime("%Y-%m-%d", time.gmtime()))
    shutil.rmtree(PACKED, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split("\0")[:-1]:
        (PACKED / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, PACKED / name, follow_symlinks=False)
    if address:
        page = PACKED / "README.md"
        page.write_text(absolute(page.read_text(encoding="utf-8"), address, _version(ROOT)), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", packed.resolve(), PACKED], check=True
    )


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
    left = [*lacks(PACKED), *(["files are not committed: git status"] if changed else [])]
    version = wheel.name.split("-")[1]
    left += [f"git tag v{version}, and push it", f"twine upload {wheel} {source}"]
    print("Left to a person:", *left, sep="\n- ")


if __name__ == "__main__":
    if sys.argv[1] == "pack":
        pack(Path(sys.argv[2]), sys.argv[3])
    else:
        main(Path(sys.argv[2]))
