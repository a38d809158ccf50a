"""All that is too long for each push, one after another: a page that says what became of each, and where its log is.

A job that fails does not end the others; the exit code is 1 if any failed. What needs a program that is not installed
is left out, and the page says so.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

JOBS = Path(__file__).with_name("nightly.toml")
_LAST = 3
"""Lines of a log that stand on the page."""


@dataclass(frozen=True)
class Job:
    """A target of the Makefile, what it is for, and a program that it needs."""

    target: str
    what: str
    needs: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a job: its exit code, None where it was left out; seconds; the end of its log."""

    job: Job
    code: int | None
    seconds: float
    last: tuple[str, ...]

    @property
    def word(self) -> str:
        if self.code is None:
            return f"left out: {self.job.needs} is not installed"
        return "passed" if self.code == 0 else f"**failed** (exit code {self.code})"


def jobs(path: Path = JOBS) -> list[Job]:
    """Those of the table, in its order."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Job(name, **one) for name, one in found.items()]


def done(job: Job, folder: Path, make: Sequence[str]) -> Outcome:
    """Run one, with its output in a log of its name."""
    if job.needs and shutil.which(job.needs) is None:
        return Outcome(job, None, 0.0, ())
    begin, log = time.monotonic(), folder / f"{job.target}.log"
    with log.open("w", encoding="utf-8") as kept:
        code = subprocess.run(
            [*make, job.target], stdout=kept, stderr=subprocess.STDOUT, check=False
        ).returncode
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    last = tuple(line for line in lines if line)[-_LAST:]
    return Outcome(job, code, time.monotonic() - begin, last)


def page(outcomes: Sequence[Outcome]) -> str:
    """One table, and the ends of the logs below it."""
    lines = [
        "# What ran in the night",
        "",
        "| job | what it is | result | minutes |",
        "| --- | --- | --- | --- |",
    ]
    for one in outcomes:
        lines.append(
            f"| [{one.job.target}]({one.job.target}.log) | {one.job.what} | {one.word} | {one.seconds / 60:.1f} |"
        )
    for one in outcomes:
        if one.last:
            lines += ["", f"## {one.job.target}", "", "```text", *one.last, "```"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run all jobs, or those that are named, and write the page after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/nightly"))
    parser.add_argument("--make", default="make")
    parser.add_argument("targets", nargs="*", help="only these")
    asked = parser.parse_args()
    listed = jobs()
    if unknown := set(asked.targets) - {job.target for job in listed}:
        parser.error(f"{', '.join(sorted(unknown))}; allowed: {', '.join(job.target for job in listed)}")
    asked.out.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    for job in listed:
        if asked.targets and job.target not in asked.targets:
            continue
        print(f"{job.target}: {job.what}", file=sys.stderr, flush=True)
        outcomes.append(done(job, asked.out, [asked.make, "--no-print-directory"]))
        (asked.out / "index.md").write_text(page(outcomes), encoding="utf-8")
    print(asked.out / "index.md")
    return int(any(one.code for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
