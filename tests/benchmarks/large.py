"""What is large: data that stay on disk, runs on a cluster that loses a worker, tails rarer than runs (docs/large.md).

    make large              # writes docs/large.md; takes some 5 minutes and 13 GB in the folder for temporary files
    python tests/benchmarks/large.py [--only disk|cluster|tails ...] [--output docs/large.md]

With `--only`, a page that is there keeps the other sections. Times depend on the machine, and on what else it does.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.auditing.white_box import rare_tail
from dpverify.auditing.white_box.bounds import bet_size, mean_lower
from dpverify.auditing.white_box.half_spaces import half_space
from dpverify.auditing.white_box.simulation import blocks
from dpverify.problems import Ball, Box, Logistic, Problem, load
from dpverify.running import StatedStep, StatedStructure, run

HEAD = """# At scale

What large data, a lost worker of a cluster and rare events cost, measured by `make large` on a computer with
{cores} cores and {memory:.0f} GiB of memory, shared with other work.
"""


def row(*cells: object) -> str:
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def head(*names: str) -> list[str]:
    """The first two lines of a table, numbers to the right."""
    return [row(*names), "| --- |" + " ---: |" * (len(names) - 1)]


# ------------------------------------------------------------------------------------------ disk

DISK = """## Data on disk

`dpverify fit` on a table of 32-bit floats, with its defaults, epsilon = 1, `--private-only` and a seed, in a process
of its own. *Seconds* is elapsed time. *Most own memory* is the largest private memory of the process (`RssAnon`, read
every 20 ms; it leaves out pages of mapped files, which the system may drop). *In memory* is the size of the table in
64-bit floats, which a program that loads it needs at least once. The program and its libraries take some 60 MB of own
memory, whatever the data. The rest grows only with the number of records: their labels, their order, the sizes of
steps. dpverify reads a CSV file cell by cell, which takes most of the time, and keeps it in memory below 256 MiB.

{table}

dpverify scales records into the unit ball part by part, and writes them to a nameless file of 64-bit floats, so that
the model has the same bits as a model fitted in memory (`tests/fitting/test_on_disk.py`, which also bounds the memory).
A pass over all records reads that file once; `yardstick.full-batch` makes up to 4,096 passes.
"""
FITS = (
    (100_000, 100, "npy", "fmtt18.alg1"),
    (100_000, 100, "csv", "fmtt18.alg1"),
    (1_000_000, 100, "npy", "fmtt18.alg1"),
    (1_000_000, 100, "npy", "fmtt18.skip"),
    (1_000_000, 1_000, "npy", "fmtt18.alg1"),
)


def written(folder: Path, n: int, d: int, kind: str) -> Path:
    """Two classes, records of norm 1, the label last; made and written a part at a time."""
    path = folder / f"{n}-{d}.{kind}"
    random = np.random.default_rng(0)
    direction = random.normal(size=d)
    shape, rows = (n, d + 1), max(1, 2**20 // d)
    table = (
        np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape) if kind == "npy" else None
    )
    with path.open("ab") as file:
        for first in range(0, n, rows):
            features = random.normal(size=(min(rows, n - first), d))
            features /= np.linalg.norm(features, axis=1)[:, None]
            part = np.column_stack([features, np.where(features @ direction > 0, 1, -1)]).astype(np.float32)
            if table is None:
                np.savetxt(file, part, fmt="%.9g", delimiter=",")
            else:
                table[first : first + len(part)] = part
    return path


def own_memory(process: int) -> int:
    """Bytes of anonymous memory of a process; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def disk() -> str:
    """The first section."""
    lines = head(
        "file", "n", "d", "method", "on disk, MB", "in memory, MB", "seconds", "CPU s", "most own memory, MB"
    )
    with tempfile.TemporaryDirectory() as folder:
        before: Path | None = None
        for n, d, kind, method in FITS:
            path = Path(folder) / f"{n}-{d}.{kind}"
            if not path.exists():
                if before is not None:
                    before.unlink()
                path = written(Path(folder), n, d, kind)
            before = path
            command = [
                str(Path(sys.executable).with_name("dpverify")),
                "fit",
                str(path),
                "--label",
                str(d + 1),
            ]
            command += ["--epsilon", "1", "--method", method, "--seed", "0", "--private-only"]
            begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            most = 0
            while child.poll() is None:
                most = max(most, own_memory(child.pid))
                time.sleep(0.02)
            took, now = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
            if child.returncode:
                raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
            cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
            size, whole = path.stat().st_size / 1e6, 8 * n * d / 1e6
            lines.append(
                row(f".{kind}", f"{n:,}", f"{d:,}", f"`{method}`", f"{size:,.0f}", f"{whole:,.0f}", f"{took:.1f}",
                    f"{cpu:.1f}", f"{most / 1e6:,.0f}")
            )  # fmt: skip
            print(lines[-1], flush=True)
    return DISK.format(table="\n".join(lines))


# ------------------------------------------------------------------------------------------ cluster

CLUSTER = """## A cluster that loses a worker

{runs:,} runs of `bst14.alg1` ({n} records in {d} dimensions, {steps:,} steps a run) in blocks of {block:,}, here and on
a Dask cluster of worker processes on the same computer (`executor="dask=ADDRESS"`), one of which SIGKILL ends
when a quarter of the blocks are done. All give the bits of the first line (SHA-256 of the points). On {cores} cores,
eight workers are no faster than {cores}.

{table}
"""
RUNS, RECORDS, FEATURES, BLOCK = 160_000, 32, 5, 2_500


class Watch:
    """Progress that kills once a quarter of the runs are there."""

    def __init__(self, kill: Callable[[], None] | None) -> None:
        self._kill, self._done, self.then = kill, 0, 0

    def start(self, total: int) -> None:
        """Nothing."""

    def advance(self, runs: int) -> None:
        """Count, and kill once."""
        self._done += runs
        if self._kill is not None and not self.then and self._done >= RUNS / 4:
            self.then = self._done // BLOCK
            self._kill()

    def finish(self) -> None:
        """Nothing."""


def cluster() -> str:
    """The second section."""
    import distributed

    mechanism = NoisyGradientDescent(Problem(Logistic(), Ball(FEATURES, 1.0)), 1.0, 1e-5)
    data = load("breast-cancer", n=RECORDS, d=FEATURES)
    lines = head("where", "killed", "blocks done then", "seconds", "bits")
    first = ""

    def measured(name: str, executor: str, kill: Callable[[], None] | None) -> None:
        nonlocal first
        watch = Watch(kill)
        begin = time.perf_counter()
        found = run(mechanism, data, runs=RUNS, seed=0, block_size=BLOCK, executor=executor, progress=watch)
        took = time.perf_counter() - begin
        digest = hashlib.sha256(np.ascontiguousarray(found.points).tobytes()).hexdigest()
        first = first or digest
        bits = "the same" if digest == first else "**others**"
        blocks_done = "–" if kill is None else f"{watch.then} of {RUNS // BLOCK}"
        lines.append(row(name, "one" if kill else "none", blocks_done, f"{took:.1f}", bits))
        print(lines[-1], flush=True)

    measured("here, one after the other", "serial", None)
    for count in (2, 8):
        for killed in (False, True):
            with distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None
            ) as made:
                one = next(iter(made.workers.values())).pid
                kill = (lambda pid=one: os.kill(pid, signal.SIGKILL)) if killed else None
                measured(f"{count} workers", f"dask={made.scheduler_address}", kill)
    steps = RECORDS**2 - 1
    return CLUSTER.format(
        runs=RUNS,
        n=RECORDS,
        d=FEATURES,
        steps=steps,
        block=BLOCK,
        cores=os.cpu_count(),
        table="\n".join(lines),
    )


# ------------------------------------------------------------------------------------------ tails

TAILS = """## Tails rarer than runs

If no output of N runs is in an event, then outputs alone cannot show that the event has a probability above 0: any
valid lower bound is 0. That is so for every mechanism that is known by its outputs only. If steps and their noise are
stated (`StatedStructure`), a run can be continued from any of its states, and
`dpverify.auditing.white_box.rare_tail` bounds a tail from below by importance splitting: independent replicates whose
mean is the tail's probability, with a betting bound that holds at every number of them (the argument is in
`white_box/splitting.py`). It needs no law, no gradient and no half-space; any score of a state will do. There is no
such upper bound.

The table has lower bounds divided by the true probability, at failure probability 0.05, as medians of {seeds} seeds.
The truth is a normal tail, or a quadrature on a grid of {cells:,} cells. *Pushed noise* is what the white-box audit
does for half-spaces: the law of the last noise is known, and earlier noise is moved toward the event, with weights.
It uses more knowledge and is sharper where it applies. *Plain* is the exact (Clopper-Pearson) bound from as many
plain runs as the splitting made steps: 0 if none of them is in the tail.

{table}
"""
SEEDS = 20
CELLS = 2_000


def contracting(steps: int, shift: float = 0.0, box: Box | None = None) -> StatedStructure:
    """Steps w <- 0.8 w + shift + N(0, 1) from 0."""
    step = StatedStep(lambda states, rng: 0.8 * states + shift, 1.0, lipschitz_constant=0.8)
    return StatedStructure((0.0,), (step,) * steps, box)


def on_grid(steps: int, shift: float, end: float, threshold: float) -> float:
    """The tail of `contracting` on [-end, end], by the law of the state on a grid."""
    edges = np.linspace(-end, end, CELLS + 1)
    points = np.concatenate([[-end], (edges[1:] + edges[:-1]) / 2, [end]])
    below = stats.norm.cdf(edges[:, None] - (0.8 * points + shift))
    law = np.zeros(CELLS + 2)
    law[CELLS // 2 : CELLS // 2 + 2] = 0.5  # the two cells at 0
    for _ in range(steps):
        law = np.concatenate([[below[0] @ law], np.diff(below, axis=0) @ law, [(1 - below[-1]) @ law]])
    return float(law[points >= threshold].sum())


def cases() -> Iterator[tuple[str, StatedStructure, float, float]]:
    """In words, the structure, the threshold of its first coordinate, the tail."""
    for far in (4.0, 6.0, 8.0):
        yield f"one normal number, {far:g} deviations", contracting(1), far, float(stats.norm.sf(far))
    for steps in (10, 100):
        deviation = math.sqrt(sum(0.64**k for k in range(steps)))
        name = f"{steps} contracting steps, 6 deviations"
        yield name, contracting(steps), 6 * deviation, float(stats.norm.sf(6.0))
    end, shift = 3.0, -1.2
    for threshold in (1.5, 2.5):
        box = Box((-end,), (end,))
        tail = on_grid(10, shift, end, threshold)
        yield (
            f"10 steps away from it on [-{end:g}, {end:g}], {threshold:g}",
            contracting(10, shift, box),
            threshold,
            tail,
        )


def pushed(structure: StatedStructure, threshold: float, runs: int, seed: int) -> float:
    """By importance sampling of the noise, and the known law of the last one, for the half-space."""
    direction, thresholds = np.ones(1), np.array([threshold])
    pushes = (0.0, 2.0, 4.0, 6.0)

    def values(stage: int, runs: int) -> Any:
        found = blocks(structure, runs, seed=seed, stage=stage, direction=direction, pushes=pushes)
        return np.concatenate(
            [
                half_space(one, direction, thresholds, structure.constraint)[0] * one.likelihood(pushes)
                for one in found
            ]
        )

    learned, tested = values(40, runs // 10), values(41, runs)
    unit = float(learned.mean())
    return unit * mean_lower(tested / unit, bet_size(float(np.var(learned / unit)), runs, 0.05), 0.05)


def tails() -> str:
    """The third section."""
    lines = head("tail", "probability", "splitting", "pushed noise", "plain", "steps made", "CPU s")
    for name, structure, threshold, tail in cases():
        begin = time.process_time()
        found = [rare_tail(structure, lambda states: states[:, 0], threshold, seed=s) for s in range(SEEDS)]
        took, moves = (time.process_time() - begin) / SEEDS, found[0].moves
        other = [
            pushed(structure, threshold, max(1000, moves // len(structure.steps) // 10), s)
            for s in range(SEEDS)
        ]
        plain_runs = moves // len(structure.steps)
        hits = np.random.default_rng(0).binomial(plain_runs, tail, size=SEEDS)
        plain = [float(stats.beta.ppf(0.05, k, plain_runs - k + 1)) if k else 0.0 for k in hits.tolist()]
        above = sum(one.lower > tail for one in found)
        lines.append(
            row(name, f"{tail:.3g}", *(f"{float(np.median(bounds)) / tail:.2f}" for bounds in (
                [one.lower for one in found], other, plain)), f"{moves:,}", f"{took:.2f}")
        )  # fmt: skip
        print(lines[-1], f"{above} of {SEEDS} above", flush=True)
    return TAILS.format(table="\n".join(lines), seeds=SEEDS, cells=CELLS)


SECTIONS: dict[str, Callable[[], str]] = {"disk": disk, "cluster": cluster, "tails": tails}
TITLES = {"disk": "## Data on disk", "cluster": "## A cluster", "tails": "## Tails"}


def kept(page: str, title: str) -> str:
    """A section of a page that is there."""
    begin = page.index(title)
    end = page.find("\n## ", begin)
    return page[begin:] if end < 0 else page[begin : end + 1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    there = options.output.read_text(encoding="utf-8") if options.output and options.output.exists() else ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [HEAD.format(cores=os.cpu_count(), memory=memory)]
    for name, make in SECTIONS.items():
        if name in options.only:
            parts.append(make())
        elif there:
            parts.append(kept(there, TITLES[name]))
    page = "\n".join(part.rstrip("\n") + "\n" for part in parts)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
