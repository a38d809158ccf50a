"""What runs in the night: targets that are there, and a page that hides no failure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ..benchmarks.nightly import JOBS, Job, done, jobs, page

ROOT = Path(__file__).parents[2]


def test_the_page_says_what_failed_and_what_was_left_out(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "$@"\ntest "$2" != mutants\n', encoding="utf-8")
    make.chmod(0o755)
    command = [sys.executable, "-m", "tests.benchmarks.nightly", "--out", str(tmp_path), "--make", str(make)]
    ran = subprocess.run([*command, "fuzz", "mutants"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    said = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert re.search(r"\[fuzz\]\(fuzz.log\) \|.*\| passed \|", said)
    assert re.search(r"\[mutants\]\(mutants.log\) \|.*\| \*\*failed\*\* \(exit code 1\) \|", said)
    assert (tmp_path / "fuzz.log").read_text(encoding="utf-8").split() == ["--no-print-directory", "fuzz"]
    absent = done(Job("rocq", "a kernel", needs="no-such-program"), tmp_path, [str(make)])
    assert absent.code is None
    assert "left out: no-such-program is not installed" in page([absent])


def test_its_jobs_are_targets() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", made, re.M)
    assert phony is not None
    assert JOBS.is_file()
    assert {job.target for job in jobs()} <= set(phony[1].split())
