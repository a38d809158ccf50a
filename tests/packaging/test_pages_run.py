"""What the tutorial, the how-to pages and the concepts show runs as written, and puts out what they say."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpverify.cli import main
from dpverify.properties import check_private

from .page_blocks import DOCS, blocks, said, write_files

TUTORIAL = DOCS / "tutorial.md"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def call(line: str) -> int:
    """The exit code of a command of dpverify, carried out in this process."""
    program, *arguments = shlex.split(line)
    assert program == "dpverify"
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def _without_numbers(text: str) -> str:
    """What a search finds, and so where its audit ends, depends on the modules that are loaded."""
    return re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "#", text)


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its audits have a failure probability of 1e-6 each, as its session has; all seeds are fixed."""
    monkeypatch.chdir(tmp_path)
    write_files(TUTORIAL, tmp_path)
    shown = blocks(TUTORIAL, "text")
    outcomes = []
    environment = {**os.environ, "PATH": PATH}
    for script in blocks(TUTORIAL, "sh"):
        put_out, codes = "", []
        for line in script.splitlines():
            options = " -p no:cacheprovider" if line.startswith("pytest") else ""
            # each in a process of its own: the search tries numbers that stand in modules that are loaded
            done = subprocess.run(
                ["bash", "-c", line + options], env=environment, capture_output=True, text=True
            )
            put_out += done.stdout
            codes.append(done.returncode)
        outcomes.append((codes, " ".join(put_out.split())))
    (first, one), (second, two), (third, three), (_, tests) = outcomes
    assert (first, second, third) == ([0, 0, 0], [1, 0], [0, 0])
    for block, output in zip(shown, (one, two), strict=True):
        for line in said(block):
            assert _without_numbers(line) in _without_numbers(output)
    assert "supported" in three
    assert "2 passed" in tests
    with_the_fault: dict[str, Any] = {}
    exec(compile(blocks(TUTORIAL, "python")[0], "hours.py", "exec"), with_the_fault)
    release = with_the_fault["total_hours"]
    with pytest.raises(AssertionError, match="violated"):
        check_private(release, [[-40.0], [8.0]], [[8.0], [8.0]], "eps=1")
    check_private(release, [[0.0]], [[10.0]], "eps=1")


@pytest.mark.parametrize(
    "name",
    [
        "how-to/failure-probability.md",
        "how-to/fit.md",
        "how-to/missing-values.md",
        "how-to/exceptions.md",
        "how-to/refutation.md",
        "how-to/user-level-claims.md",
        "sequential.md",
    ],
)
def test_blocks_put_out_what_the_page_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = DOCS / name
    shown = blocks(page, "text")
    for block in blocks(page, "python"):
        exec(compile(block, name, "exec"), {"__name__": "page"})
        put_out = capsys.readouterr().out
        expected = re.findall(r"^print\(.*\)  # (\w+)", block, re.M)
        assert all(word in put_out for word in expected)
        assert expected or put_out == shown[-1]


def test_one_training_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's training, with the right noise and with a third of it; one seed, failure probability 0.05."""
    monkeypatch.chdir(tmp_path)
    page = DOCS / "how-to" / "one-training-run.md"
    write_files(page, tmp_path)
    put_out = []
    for line in "".join(blocks(page, "sh")).splitlines():
        if line.startswith("python"):
            subprocess.run([sys.executable, *shlex.split(line)[1:]], check=True)
        else:
            put_out.append((call(line), " ".join(capsys.readouterr().out.split())))
    assert [code for code, _ in put_out] == [0, 0, 1]
    for block, (_, output) in zip(blocks(page, "text"), put_out, strict=True):
        for line in said(block):
            assert line in output


def test_what_a_refutation_shows_is_the_tutorials() -> None:
    page = " ".join(TUTORIAL.read_text(encoding="utf-8").split())
    first, _ = blocks(DOCS / "how-to" / "refutation.md", "text")
    for line in said(first):
        assert line.partition(";")[0] in page


def test_doctests_of_the_concepts() -> None:
    failed, tried = doctest.testfile(str(DOCS / "concepts" / "adjacency.md"), module_relative=False)
    assert (failed, tried) == (0, 2)


def test_the_page_with_a_theorem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "how-to" / "theorem.md"
    (theorem,), (script,) = blocks(page, "markdown"), blocks(page, "sh")
    Path("last-iterate.md").write_text(theorem, encoding="utf-8")
    assert call(script.strip() + " --json found.json") == 0
    rows = [row for row in json.loads(Path("found.json").read_text())["entries"] if row["coverage"] != "unit"]
    assert [(row["verdict"], row["confirmed_by_checker"]) for row in rows] == [
        ("proved", True),
        ("refuted", True),
    ]
    point = rows[1]["counterexample"]
    assert point["T"] == point["t"]
    assert "a step of its proof is false" in capsys.readouterr().out
