"""What the gallery shows: its commands run, here or on the page that they are from, and put out what it says."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .page_blocks import DOCS, blocks, said, write_files

GALLERY = DOCS / "gallery.md"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def _run(script: str, folder: Path) -> tuple[int, str]:
    environment = {**os.environ, "PATH": PATH, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, " ".join(done.stdout.split())


def _block(word: str) -> str:
    (found,) = [block for block in blocks(GALLERY, "sh") if word in block]
    return found


def _check_output(shown: str, put_out: str) -> None:
    for line in said(shown):
        assert line in put_out


def test_the_library(tmp_path: Path) -> None:
    """One seed; false alarm 1e-6 when it was chosen."""
    if importlib.util.find_spec("diffprivlib") is None:
        pytest.skip("diffprivlib is not installed: make test-libraries")
    write_files(GALLERY, tmp_path)
    code, put_out = _run(_block("library:"), tmp_path)
    assert code == 1
    assert (tmp_path / "library.png").is_file()
    _check_output(blocks(GALLERY, "text")[0], put_out)


def test_the_theorem(tmp_path: Path) -> None:
    (page,) = blocks(GALLERY, "markdown")
    assert blocks(DOCS / "how-to" / "theorem.md", "markdown") == [page]
    (tmp_path / "last-iterate.md").write_text(page, encoding="utf-8")
    code, put_out = _run(_block("last-iterate"), tmp_path)
    assert code == 0
    _check_output(blocks(GALLERY, "text")[1], put_out)
    assert "μ" in (tmp_path / "theorem" / "report.html").read_text(encoding="utf-8")


def test_claims_on_every_push(tmp_path: Path) -> None:
    """False alarm 1e-6, once, when the seed was chosen."""
    code, put_out = _run("set -e\n" + _block("dpverify init"), tmp_path)
    assert code == 0
    assert "1 passed" in put_out
    assert (tmp_path / "badge.svg").read_bytes() == (DOCS / "images" / "badge.svg").read_bytes()


@pytest.mark.parametrize(
    ("word", "page"),
    [("train.py", "how-to/one-training-run.md"), ("bs16", "examples/bun-steinke/README.md")],
)
def test_other_commands_stand_on_the_pages_that_are_tested(word: str, page: str) -> None:
    lines = "\n".join(blocks(DOCS / page, "sh")).splitlines()
    assert set(_block(word).splitlines()) <= set(lines)


def test_numbers_in_sentences_are_those_of_the_pages() -> None:
    text = " ".join(GALLERY.read_text(encoding="utf-8").split())
    (bound,) = re.findall(r"mu is at least ([\d.]+), and", text)
    assert f"mu at least {bound}" in " ".join(
        (DOCS / "how-to" / "one-training-run.md").read_text(encoding="utf-8").split()
    )
