"""The mechanisms of other libraries that the page on auditing shows, where the library can be imported."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from dpverify.cli import main

DOCS = Path(__file__).parents[2] / "docs"
FILES = {
    "data.csv": "0\n0\n1\n1\n",
    "neighbor.csv": "0\n0\n1\n0\n",
    "fewer.csv": "0\n0\n1\n",
    "labeled.csv": "0.1,0\n0.2,1\n0.9,0\n1,1\n",
    "relabeled.csv": "0.1,0\n0.2,1\n0.9,0\n0,1\n",
}
# what is called, what has to be importable, runs, exit code
CALLS = [
    ("diffprivlib_mean", "diffprivlib.tools", 300, 0),
    ("diffprivlib_bayes", "diffprivlib.models", 100, 0),
    ("opendp_sum", "opendp", 300, 0),
    ("opendp_half", "opendp", 1500, 1),
    ("opacus_step", "opacus", 100, 0),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(DOCS / "examples" / "libraries.py", tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def command(name: str) -> list[str]:
    """The page's command for one of them."""
    lines = (DOCS / "audit-your-own-code.md").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"dpverify audit libraries:{name} "))
    return [part.strip('"') for part in line.split()[1:]]


@pytest.mark.parametrize(("name", "library", "runs", "code"), CALLS, ids=[call[0] for call in CALLS])
@pytest.mark.filterwarnings("default")  # other libraries' warnings are theirs
def test_library(
    name: str, library: str, runs: int, code: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Correct ones raise a false alarm with probability 1e-3 at most; OpenDP's randomness has no seed.

    With half of the noise some 200 runs were enough, of the 1500 that are allowed.
    """
    pytest.importorskip(library, exc_type=ImportError)
    with pytest.raises(SystemExit) as ended:
        main([*command(name), "--runs", str(runs)])
    assert ended.value.code == code, capsys.readouterr()
    assert ("violated" if code else "supported") in capsys.readouterr().out


def test_every_command_on_the_page_is_run() -> None:
    page = (DOCS / "audit-your-own-code.md").read_text(encoding="utf-8")
    assert page.count("dpverify audit libraries:") == len(CALLS)
