"""What becomes of a run that is killed, has no room, or has a hostile subject: the table in docs/faults.md.

Commands are killed (SIGKILL, to the main process alone) at random moments and started again with the same store until
they finish; what they then say must be, bit for bit, what an undisturbed run says, nothing that the store held may get
lost, and no process may be left. Moments are drawn uniformly from the time that an undisturbed run takes, by a seeded
generator; where they fall in a run depends on the machine, so two runs of this script try different moments.

    make faults             # fifty kills of each command
    python tests/benchmarks/faults.py [--kills 50] [--seed 0] [--only NAME ...] [--output docs/faults.md]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DPVERIFY = str(Path(sys.executable).with_name("dpverify"))
SECONDS = 600
"""After which a command is taken to hang."""

MARK = "DPVERIFY_FAULT_RUN"
"""Environment variable by which processes of a command are known."""

FILES = {
    "mine.py": """
import os, sys, time
import numpy as np

def release(data, rng, runs):
    time.sleep(runs / 5000)
    return data.sum() + rng.laplace(size=runs)

def hangs(data, rng, runs):
    while True:
        time.sleep(1)

def forks(data, rng, runs):
    if os.fork() == 0:
        while True:
            time.sleep(1)
    return data.sum() + rng.laplace(size=runs)

def leaks(data, rng, runs):
    kept = []
    while True:
        kept.append(np.ones(10_000_000))

def prints(data, rng, runs):
    sys.stdout.write("\\x00\\x1b[2J{]garbage" * 2000)
    os.write(1, b"\\xff\\xfe" * 5000)
    return data.sum() + rng.laplace(size=runs)

def crashes(data, rng, runs):
    os.kill(os.getpid(), 11)

def exits(data, rng, runs):
    os._exit(0)
""",
    "library.py": """
import sys
import numpy as np
from mine import release
from dpverify.running import FunctionMechanism, run

found = run(FunctionMechanism(release), np.ones((3, 1)), runs=20_000, seed=1, block_size=500, store=sys.argv[1])
print(found.points.tobytes().hex()[:4000])
""",
    "data.csv": "0\n0\n1\n1\n",
    "neighbor.csv": "0\n0\n1\n0\n",
    "dpverify.toml": """
failure-probability = 1e-3
seed = 0
report = "build"

[[claims]]
name = "sum"
function = "mine:release"
claim = "eps=1"
data = "data.csv"
neighbor = "neighbor.csv"
runs = 4000
""",
}

AUDIT = (
    *(DPVERIFY, "audit", "mine:release", "--data", "data.csv", "--neighbor", "neighbor.csv"),
    *("--claim", "eps=1", "--format", "json"),
)


@dataclass(frozen=True)
class Command:
    """A command that is killed.

    Attributes:
        name: in the table.
        arguments: with `{store}` where its file goes, and `{out}` where its folder does.
        says: what must not change, from standard output and the folder.
        stored: whether it keeps finished work.
    """

    name: str
    arguments: tuple[str, ...]
    says: Callable[[str, Path], Any]
    stored: bool = True


@dataclass
class Tally:
    """What became of a command."""

    kills: int = 0
    finished: int = 0
    faults: list[str] = field(default_factory=list)
    kept: int = 0
    """Kills after which the store held finished work."""


def _audit_says(out: str, folder: Path) -> Any:
    return {k: v for k, v in json.loads(out).items() if k not in ("seconds", "reuse")}


def _ledger_says(folder: Path) -> Any:
    tree = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    for entry in tree["entries"]:
        entry.pop("seconds", None)
        entry.pop("reuse", None)
    return [tree["statements"], tree["entries"], tree["budget"]]


COMMANDS = (
    Command("dpverify audit --store", (*AUDIT, "--fixed-runs", "--runs", "20000", "--store", "{store}"), _audit_says),
    Command(
        "dpverify verify --store",
        (DPVERIFY, "verify", "--paper", "fmtt18.thm23", "--paper", "fmtt18.alg1", "--jobs", "2", "--out", "{out}",
         "--store", "{store}"),
        lambda out, folder: _ledger_says(folder / "out"),
    ),
    Command("dpverify.running.run, store=", (sys.executable, "library.py", "{store}"), lambda out, folder: out),
    Command(
        "dpverify run",
        (DPVERIFY, "run"),
        lambda out, folder: _ledger_says(folder / "build"),
        stored=False,
    ),
)  # fmt: skip


# ------------------------------------------------------------------------------------------- processes


def _start(arguments: Sequence[str], folder: Path, mark: str) -> subprocess.Popen[str]:
    environment = {**os.environ, MARK: mark, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / "cache")}
    filled = [
        a.replace("{store}", str(folder / "store")).replace("{out}", str(folder / "out")) for a in arguments
    ]
    return subprocess.Popen(
        filled, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _left(mark: str) -> list[int]:
    """Processes of a command that run, by its mark in their environment."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                found += [int(entry.name)] if state != "Z" else []
        except (OSError, IndexError):
            continue
    return found


def _leftovers(mark: str, patience: float = 30.0) -> list[int]:
    """What is still there after a while; then it is ended."""
    until = time.monotonic() + patience
    while (left := _left(mark)) and time.monotonic() < until:
        time.sleep(0.1)
    for process in left:
        os.kill(process, signal.SIGKILL)
    return left


def _rows(folder: Path) -> set[str]:
    """What a store holds: a hash of each row. Opening it undoes what was half written, as the next run would."""
    file = folder / "store"
    if not file.exists() or not file.stat().st_size:
        return set()
    with closing(sqlite3.connect(file)) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        rows = [(name, row) for name in tables for row in database.execute(f"select * from {name}")]
    return {hashlib.sha256(repr(row).encode()).hexdigest() for row in rows}


def _prepare(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


# ------------------------------------------------------------------------------------------- kills


def killed(command: Command, kills: int, place: Path, rng: random.Random) -> Tally:
    """Kill a command so often, and compare what it says when it gets to its end."""
    calm = _prepare(place / "calm")
    began = time.monotonic()
    process = _start(command.arguments, calm, uuid.uuid4().hex)
    out, err = process.communicate(timeout=SECONDS)
    takes = time.monotonic() - began
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command.name} fails undisturbed: {err}")
    expected, tally = command.says(out, calm), Tally()
    number = 0
    while tally.kills < kills or not tally.finished:
        folder, before = _prepare(place / f"job-{number}"), set[str]()
        number += 1
        while True:
            mark = uuid.uuid4().hex
            process = _start(command.arguments, folder, mark)
            wait = rng.uniform(0, takes) if tally.kills < kills else SECONDS
            try:
                out, err = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                tally.kills += 1
                if left := _leftovers(mark):
                    tally.faults.append(f"{len(left)} processes left after a kill")
                if command.stored:
                    rows = _rows(folder)
                    tally.kept += bool(rows)
                    if before - rows:
                        tally.faults.append(f"{len(before - rows)} rows of the store lost")
                    before = rows
                continue
            tally.finished += 1
            if process.returncode not in (0, 1):
                tally.faults.append(f"exit code {process.returncode}: {err[-300:]}")
            elif command.says(out, folder) != expected:
                tally.faults.append("another result than undisturbed")
            if left := _leftovers(mark):
                tally.faults.append(f"{len(left)} processes left after the end")
            break
    return tally


# ------------------------------------------------------------------------------------------- no room, hostile subjects


@dataclass(frozen=True)
class Trial:
    """A command under a condition.

    Attributes:
        name: in the table.
        arguments: of the command.
        codes: exit codes that are right.
        before: shell commands that are carried out first, in the folder.
        together: how many of it run at once.
        says: what must be in standard error.
        result: whether it must end with the result of an undisturbed audit.
    """

    name: str
    arguments: tuple[str, ...]
    codes: tuple[int, ...]
    before: str = "true"
    together: int = 1
    says: str = ""
    result: bool = False


def _subject(name: str) -> tuple[str, ...]:
    limits = ("--runs", "200", "--time-limit", "5", "--memory-limit", "0.5")
    return tuple(a.replace("mine:release", f"mine:{name}") for a in AUDIT) + limits


_STORED = (*AUDIT, "--fixed-runs", "--runs", "4000", "--store", "{store}")

TRIALS = (
    Trial("two runs on one store at once", _STORED, (0,), together=2, result=True),
    Trial("no file may grow beyond 64 KiB (a full disk)", _STORED, (2,), "ulimit -f 64", says="cannot be written"),
    Trial("a store in a read-only folder", (*AUDIT, "--store", "/proc/store"), (2,), says="/proc/store"),
    Trial("JSON into a read-only folder", (*AUDIT, "--runs", "200", "--json", "/proc/a.json"), (2,), says="--json"),
    Trial("a subject that hangs", _subject("hangs"), (2,), says="time"),
    Trial("a subject that forks and leaves a process", _subject("forks"), (0, 2, 3)),
    Trial("a subject that takes all memory", _subject("leaks"), (2,), says="memory"),
    Trial("a subject that prints garbage", _subject("prints"), (3, 0)),
    Trial("a subject that crashes", _subject("crashes"), (2,)),
    Trial("a subject that exits with 0", _subject("exits"), (2,)),
)  # fmt: skip


def tried(trial: Trial, place: Path, times: int) -> Tally:
    """Carry out a trial so often."""
    tally = Tally()
    expected = None
    if trial.result:
        folder = _prepare(place / "calm")
        out, _ = _start(trial.arguments, folder, uuid.uuid4().hex).communicate(timeout=SECONDS)
        expected = _audit_says(out, folder)
    for number in range(times):
        folder, mark = _prepare(place / f"try-{number}"), uuid.uuid4().hex
        line = ("bash", "-c", f'{trial.before}; exec "$@"', "bash", *trial.arguments)
        processes = [_start(line, folder, mark) for _ in range(trial.together)]
        for process in processes:
            out, err = process.communicate(timeout=SECONDS)
            if process.returncode not in trial.codes:
                tally.faults.append(f"exit code {process.returncode}: {err[-300:]}")
            if "Traceback" in err:
                tally.faults.append("a traceback")
            if trial.says not in err:
                tally.faults.append(f"nothing about {trial.says!r}: {err[-300:]}")
            if process.returncode == 2 and out.strip():
                tally.faults.append("output beside a refusal")
            if process.returncode in (0, 1, 3):
                try:
                    said = _audit_says(out, folder)
                except ValueError:
                    tally.faults.append("standard output is no JSON")
                else:
                    if expected is not None and said != expected:
                        tally.faults.append("another result than undisturbed")
        tally.finished += 1
        if left := _leftovers(mark):
            tally.faults.append(f"{len(left)} processes left")
    return tally


# ------------------------------------------------------------------------------------------- the page


_PAGE = """# Faults

Whether dpverify loses work, gives other results or leaves processes running when it is killed, runs out of room, or
audits hostile code. Made by `make faults` (`tests/benchmarks/faults.py`), seed {seed}.

## Killed at a random moment

SIGKILL, which no program can catch, kills each command at a moment drawn uniformly from the time that the command
takes. The command starts again with the same [store](store.md), and is killed again, until it ends; then it begins
afresh. *With work kept*: kills after which the store had rows. *Same bits*: the result, except times and what was
reused, is that of an undisturbed run. *Lost*: how often a row that the store had after one kill was missing or changed
after a later one. *Left*: how often processes still ran half a minute later. A kill in the store's first second finds
nothing kept, and loses nothing. `dpverify run` has no store and starts anew; its ledger is complete or missing.

| command | kills | with work kept | got to the end | same bits | lost | left |
| --- | --- | --- | --- | --- | --- | --- |
{kills}

## No room, two at once, hostile subjects

*Right* counts trials with the documented exit code, one sentence instead of a traceback, only results on standard
output, and no process left. A subject is the function that is audited.

| condition | times | right |
| --- | --- | --- |
{trials}
{faults}"""


def page(
    seed: int, kills: dict[str, tuple[Command, Tally]], trials: dict[str, Tally]
) -> tuple[str, list[str]]:
    """The page, and all that went wrong."""
    faults = [f"{name}: {what}" for name, (_, tally) in kills.items() for what in tally.faults]
    faults += [f"{name}: {what}" for name, tally in trials.items() for what in tally.faults]
    rows = []
    for name, (command, tally) in kills.items():
        wrong, lost, left = (
            sum(word in what for what in tally.faults) for word in ("result", "lost", "processes left")
        )
        wrong += sum("exit code" in what for what in tally.faults)
        kept, gone = (str(tally.kept), str(lost)) if command.stored else ("", "")
        rows.append(
            f"| `{name}` | {tally.kills} | {kept} | {tally.finished} | {tally.finished - wrong} | {gone} | {left} |"
        )
    others = [
        f"| {name} | {tally.finished} | {tally.finished - min(tally.finished, len(tally.faults))} |"
        for name, tally in trials.items()
    ]
    wrong_text = "\n" + "\n".join(f"- {' '.join(what.split())}" for what in faults) + "\n" if faults else ""
    text = _PAGE.format(seed=seed, kills="\n".join(rows), trials="\n".join(others), faults=wrong_text)
    return text, faults


def main() -> int:
    """Carry it all out; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="of each command")
    parser.add_argument("--tries", type=int, default=5, help="of each other condition")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="*", default=(), help="words in the names of what is tried; default: all"
    )
    parser.add_argument("--output", type=Path, help="where the page goes; default: standard output")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)

    def wanted(name: str) -> bool:
        return not asked.only or any(word in name for word in asked.only)

    kills: dict[str, tuple[Command, Tally]] = {}
    trials: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as place:
        for number, command in enumerate(COMMANDS):
            if wanted(command.name):
                tally = killed(command, asked.kills, Path(place) / f"command-{number}", rng)
                kills[command.name] = (command, tally)
                print(command.name, tally, file=sys.stderr, flush=True)
        for number, trial in enumerate(TRIALS):
            if wanted(trial.name):
                trials[trial.name] = tried(trial, Path(place) / f"trial-{number}", asked.tries)
                print(trial.name, trials[trial.name], file=sys.stderr, flush=True)
            if asked.output is not None:  # so far, should the rest be interrupted
                asked.output.write_text(page(asked.seed, kills, trials)[0], encoding="utf-8")
    text, faults = page(asked.seed, kills, trials)
    if asked.output is None:
        print(text, end="")
    else:
        asked.output.write_text(text, encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
