"""How the cost of every algorithm grows: the table in docs/scaling.md.

For each algorithm, as the number of records n and the dimension d grow: the oracle calls that one run counts, with the
exponent fitted to them beside the printed one; the time of a run and its exponent; runs a second in a batch; memory a
run; and the throughput beside that of the algorithm's own random draws, replayed alone with the same generator, shapes
and order. Exponents are least-squares slopes on log scales. Times are medians over turns on whatever machine this is,
so only their ratios and exponents mean something elsewhere; counts are exact.

    make scaling            # writes docs/scaling.md
    python tests/benchmarks/scaling.py [--only ID ...] [--repeats 3] [--output docs/scaling.md]

With `--only`, a page that is there keeps the rows of all other algorithms, and the sections that are not about these.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import itertools
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402
from scaling_cases import CASES, DELTA, EPSILON, Case, CornerSimplex, logistic, records  # noqa: E402

from dpverify.algorithms.bst14.convex_sampling import (  # noqa: E402
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling  # noqa: E402
from dpverify.algorithms.bst14.grid_walk import GridWalk  # noqa: E402
from dpverify.algorithms.mn25 import phased  # noqa: E402
from dpverify.algorithms.mn25.phased import PhasedERM  # noqa: E402
from dpverify.extras import Compiled  # noqa: E402
from dpverify.problems import Ball, Box, Linear, Logistic, Problem  # noqa: E402
from dpverify.problems.per_run.accelerated_descent import minimize_regularized  # noqa: E402
from dpverify.problems.per_run.variance_reduced_descent import foreseen_rounds, minimize_on_draws  # noqa: E402
from dpverify.running import Output, Randomness, randomness  # noqa: E402
from dpverify.running.outputs import COUNTERS  # noqa: E402
from dpverify.statements.bst14.audits.curves import REFUSED  # noqa: E402
from dpverify.statements.real_size import SIZE, largest, refusal  # noqa: E402


class Recording(Randomness):
    """Randomness that remembers which draws were asked for."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def normal(self, shape: tuple[int, ...], name: str, *, out: Any = None) -> Any:
        """As the base class, remembered."""
        self.calls.append(("normal", (shape,)))
        return super().normal(shape, name, out=out)

    def uniform(self, shape: tuple[int, ...], name: str) -> Any:
        """As the base class, remembered."""
        self.calls.append(("uniform", (shape,)))
        return super().uniform(shape, name)

    def gamma(self, shape_parameter: float, shape: tuple[int, ...], name: str) -> Any:
        """As the base class, remembered."""
        self.calls.append(("gamma", (shape_parameter, shape)))
        return super().gamma(shape_parameter, shape, name)

    def integers(self, low: int, high: int, shape: tuple[int, ...], name: str) -> Any:
        """As the base class, remembered."""
        self.calls.append(("integers", (low, high, shape)))
        return super().integers(low, high, shape, name)

    def permutation(self, size: int, name: str) -> Any:
        """As the base class, remembered."""
        self.calls.append(("permutation", (size,)))
        return super().permutation(size, name)

    def replay(self) -> None:
        """Make the same draws again, and nothing else; normals into one array where shapes repeat."""
        rng = Randomness(1)
        kept: dict[tuple[int, ...], Any] = {}
        for kind, arguments in self.calls:
            if kind == "normal":
                shape = arguments[0]
                if shape not in kept:
                    kept = {shape: np.empty(shape)}
                rng.normal(shape, "replayed", out=kept[shape])
            else:
                getattr(rng, kind)(*arguments, "replayed")


@dataclass(frozen=True)
class Measured:
    """What was seen at one size."""

    n: int
    d: int
    queries: float
    """Oracle calls a run, all kinds together, on average."""
    seconds: float
    """Of a run, within the batch."""


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call."""
    found = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def output_of(case: Case, n: int, d: int, runs: int) -> tuple[Output, Recording]:
    """One batch, with its draws remembered."""
    mechanism, data = case.build(n, d)
    rng = Recording(0)
    found = mechanism(data, rng=rng, runs=runs)
    return (found if isinstance(found, Output) else Output(found)), rng


def measure(case: Case, n: int, d: int, repeats: int) -> Measured:
    """Counts and time at one size."""
    mechanism, data = case.build(n, d)
    output, _ = output_of(case, n, d, case.runs)
    queries = sum(float(np.mean(np.asarray(getattr(output, name)))) for name in COUNTERS)
    took = seconds(lambda: mechanism(data, rng=Randomness(0), runs=case.runs), repeats)
    return Measured(n, d, queries, took / case.runs)


def exponent(points: Iterable[tuple[float, float]]) -> float | None:
    """Least-squares slope on log scales; None where fewer than two sizes or a value is 0."""
    x, y = (np.array(values, dtype=float) for values in zip(*points, strict=True))
    if np.unique(x).size < 2 or not np.all(y > 0):
        return None
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: Case
    queries: float
    queries_n: float | None
    queries_d: float | None
    time_n: float | None
    time_d: float | None
    runs_a_second: float
    bytes_a_run: float
    of_own_draws: float
    of_numpys_draws: float


def row(case: Case, repeats: int) -> Row:
    """Measure one algorithm."""
    over_n = [measure(case, n, case.d[0], repeats) for n in case.n]
    over_d = [measure(case, case.n[0], d, repeats) for d in case.d]
    mechanism, data = case.build(case.n[0], case.d[0])
    took = seconds(lambda: mechanism(data, rng=Randomness(0), runs=case.batch), repeats)
    tracemalloc.start()
    mechanism(data, rng=Randomness(0), runs=case.batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    mechanism, data = case.build(case.n[0], case.d[-1])
    working = seconds(lambda: mechanism(data, rng=Randomness(0), runs=case.batch), repeats)
    replay = output_of(case, case.n[0], case.d[-1], case.batch)[1].replay
    drawing = seconds(replay, repeats)
    with mock.patch.object(randomness, "fill", return_value=False):
        by_numpy = seconds(replay, repeats)
    return Row(
        case=case,
        queries=over_n[0].queries,
        queries_n=exponent((m.n, m.queries) for m in over_n),
        queries_d=exponent((m.d, m.queries) for m in over_d),
        time_n=exponent((m.n, m.seconds) for m in over_n),
        time_d=exponent((m.d, m.seconds) for m in over_d),
        runs_a_second=case.batch / took,
        bytes_a_run=peak / case.batch,
        of_own_draws=drawing / working,
        of_numpys_draws=by_numpy / working,
    )


def shown(value: float | None) -> str:
    """An exponent with two decimals."""
    return "–" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def quantity(value: float) -> str:
    """Three digits, with a power of ten where that is shorter."""
    return f"{value:,.0f}" if 100 <= value < 1e6 else f"{value:.3g}"


def first_cell(case: Case) -> str:
    """What a row begins with."""
    return f"| `{case.id}`{' ' + case.note if case.note else ''} |"


def line(found: Row) -> str:
    """A row of the table."""
    case = found.case
    cells = (
        f"{case.n[0]}, {case.d[0]}",
        quantity(found.queries),
        shown(found.queries_n),
        case.printed_n,
        shown(found.queries_d),
        case.printed_d,
        shown(found.time_n),
        shown(found.time_d),
        quantity(found.runs_a_second),
        f"{case.batch:,}",
        quantity(found.bytes_a_run),
        f"{found.of_own_draws:.0%}",
        f"{found.of_numpys_draws:.0%}",
    )
    return f"{first_cell(case)} {' | '.join(cells)} |"


def table(rows: list[Row]) -> str:
    """The page."""
    head = (
        "algorithm", "at n, d", "oracle calls", "in n", "printed", "in d", "printed", "time in n", "time in d",
        "runs per second", "batch", "bytes per run", "of drawing speed", "of NumPy's",
    )  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * (len(head) - 2)]
    lines += [line(found) for found in rows]
    walk, feasible = walk_tables()
    numba = "with normal numbers by Numba" if find_spec("numba") else "without Numba"
    return PAGE.format(
        numba=numba,
        table="\n".join(lines),
        walk=walk,
        feasible=feasible,
        epsilon=WALK_EPSILON,
        affordable=AFFORDABLE_STEPS,
        seconds=walk_seconds(),
        walk_runs=WALK_RUNS,
        gauged=gauged_table(),
        toys=toys_table(),
        solvers=solvers_section(),
        most=SIZE,
        gauged_epsilon=GAUGED_EPSILON,
        gauged_steps=GAUGED_STEPS,
    )


PAGE = """# How the cost grows

How the cost of each [algorithm](algorithms.md) grows with the number of records n and with the dimension d, measured
by `make scaling`. With its theorem's parameters, the table gives the oracle calls of one run at the smallest sizes
(gradients and losses of single records, projections, linear minimizations), and the exponents with which calls and
time grow in n or d, with the other fixed. *Printed* is the exponent that the paper states, up to logarithms; a dash
means that it states none, or that there is nothing to count. Counts do not depend on the machine. Times do, and their
exponents are fitted at small sizes, where fixed costs still matter. [real-size.md](real-size.md) has single runs at
the size of a data set.

*Of drawing speed* is the algorithm's throughput as a share of the throughput of drawing its random numbers alone, at
the largest d, {numba}; *of NumPy's*, of NumPy's own drawing. A step of a noisy gradient method with one record
(bst14.alg1, all of fmtt18) draws d numbers and otherwise does work linear in d; the goal for these is 90 % of NumPy's
speed. The other algorithms do more work for each draw (many gradients for one noise vector, n losses, a minimization),
or draw next to nothing.

{table}

{solvers}

## The grid walk's proven number of steps

Pure DP of bst14's Algorithms 5 to 7 needs every proven step of the walk of Lemma 6.1. On a cube, at
epsilon = {epsilon:g}, for any loss, the table gives the steps of the walk by itself (`bst14.alg-cube`), with the
exponent in n between the last two columns, and the steps of a walk of Algorithm 7 as printed, which gets only a share
of epsilon.

{walk}

The largest n for which a walk has at most {affordable:,} steps. That takes less than a minute at p = 1 and 2, where all
cells fit into a table (here {seconds:.0f} s for such a walk of {walk_runs} runs at p = 2, step by step), and
longer for larger p.

{feasible}

## Algorithms 5 to 7 where the set is not the cube

There the algorithms extend the loss from the set to the cube around it (projections and gradients at every step),
penalize the gauge, and repeat walks that end outside the set. Logistic regression at epsilon = {gauged_epsilon:g} by
Algorithm 7; the cost of a step is measured over the first {gauged_steps} steps of one walk, in CPU time. The last
column is **extrapolated**, never run: the proven number of steps of as many walks as may be needed. On such a set
Algorithms 5 to 7 are toys at any size: no run of them, not even on one record in two dimensions, ends in a minute.

{gauged}

## What is inherently a toy

Algorithms 2 and 8 for general losses cut the set into cells or take a net of it, whose sizes grow exponentially with
the dimension; the grid walk takes the number of steps that is proved to suffice. The table has the largest sizes, up
to {most} records, at which a run is not refused; each run ends in less than a minute. In one dimension dpverify draws
a cell from the law that the walk has after all its steps. For quadratic and linear losses on a ball Algorithm 2 has a
closed form and is no toy: see the first table and [real-size.md](real-size.md).

{toys}
"""

SOLVERS_TITLE = "## Phased ERM among many records"
SOLVERS = """{title}

The inner solver of mn25's Algorithm 5 is variance-reduced descent in the phases in which constants, n and the gap
predict that it is cheaper than accelerated descent. The table has logistic regression on the unit ball in {d}
dimensions at epsilon = {epsilon:g} and delta = {delta:g}: the gradients of single records that a run takes, on
average over {runs} runs, with the exponent from the line before; and the CPU time of a run within that batch. *Alone*
is accelerated descent in all phases. *At most* bounds the gradients of a run for any draws. *Passes a phase* are the
calls divided by n and by the number of phases, which grows like log2(n). kappa is the largest condition number, that
of the first phase.

The paper states O((n + kappa) log(n / alpha)) calls with SVRG, near linear in n here. We measured, and did not prove,
that this solver is near linear: its constants were chosen on these data and a few others. Proved is only the larger
number, *at most*; the duality gap is certified in every run. Of the {searches:,} searches on draws behind the table,
{left:,} were left to accelerated descent because their rounds were not enough. With few records, the many small steps
take longer than the gradients that they save.

{table}"""
SOLVER_SIZES = (50, 200, 800, 3_200, 12_800, 51_200, 204_800)
SOLVER_DIMENSION = 5
SOLVER_RUNS = 20


def solvers_section() -> str:
    """Phased ERM with its inner solver, and with accelerated descent in its place."""
    lines = [
        "| n | phases | kappa | calls alone | in n | calls | in n | passes a phase | at most | CPU ms alone | CPU ms |",
        "| ---: |" + " ---: |" * 10,
    ]
    before: list[tuple[float, float]] = []
    searches = left = 0

    def watched(risk: Any, data: Any, center: Any, gap: float, draw: Any) -> Any:
        nonlocal searches, left
        result = minimize_on_draws(risk, data, center, gap, draw)
        rounds = foreseen_rounds(risk, data.n, gap)
        if rounds is not None:
            searches += len(result.gaps)
            left += int(np.sum(result.gradients > rounds.gradients(rounds.most, data.n)))
        return result

    for n in SOLVER_SIZES:
        algorithm, data = PhasedERM(logistic(SOLVER_DIMENSION), EPSILON, DELTA), records(n, SOLVER_DIMENSION)
        schedule = algorithm.schedule(n)
        with mock.patch.object(
            phased,
            "minimize_on_draws",
            lambda risk, data, center, gap, _: minimize_regularized(risk, data, center, gap),
        ):
            alone = gradients_and_time(algorithm, data)
        with mock.patch.object(phased, "minimize_on_draws", watched):
            found = gradients_and_time(algorithm, data)
        calls = [(float(n), alone[0]), (float(n), found[0])]
        slopes = [exponent(both) if before else None for both in zip(before or calls, calls, strict=True)]
        before = calls
        kappa = 1 + algorithm.problem.loss.smoothness / (2 * schedule[0].pull)
        cells = (
            f"{n:,}", f"{len(schedule)}", quantity(kappa), f"{alone[0]:,.0f}", shown(slopes[0]), f"{found[0]:,.0f}",
            shown(slopes[1]), f"{found[0] / n / len(schedule):.2f}", f"{algorithm.gradient_query_count(n):,}",
            quantity(1000 * alone[1]), quantity(1000 * found[1]),
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return SOLVERS.format(
        title=SOLVERS_TITLE,
        table="\n".join(lines),
        d=SOLVER_DIMENSION,
        epsilon=EPSILON,
        delta=DELTA,
        runs=SOLVER_RUNS,
        searches=searches,
        left=left,
    )


def gradients_and_time(algorithm: PhasedERM, data: Any) -> tuple[float, float]:
    """Of a run, on average over a batch."""
    algorithm(data, rng=Randomness(1), runs=1)
    begin = time.process_time()
    output = algorithm(data, rng=Randomness(0), runs=SOLVER_RUNS)
    took = time.process_time() - begin
    return float(np.mean(np.asarray(output.gradient_queries))), took / SOLVER_RUNS


GAUGED_EPSILON = 2.0
GAUGED_SIZES = (1, 4, 16, 569)
GAUGED_STEPS = 300
"""That are taken; all others are extrapolated from them."""


def gauged_table() -> str:
    """Algorithm 7 where the cube is not the set: proven steps, and what one step costs, measured over a few."""
    lines = [
        "| set | n | proven steps of a walk | walks, at most | calls a step | CPU ms a step | a run, extrapolated |",
        "| --- |" + " ---: |" * 6,
    ]
    for name, constraint, inner in (
        ("cube, 2 dimensions", Box.cube(2, 1.0), None),
        ("ball, 2 dimensions", Ball(2, 1.0), None),
        ("ball, 3 dimensions", Ball(3, 1.0), None),
        ("simplex with interior, 2 dimensions", CornerSimplex(2), CornerSimplex(2).inner_radius),
    ):
        problem = Problem(Logistic(), constraint)
        whole = EfficientExponentialSampling(problem, GAUGED_EPSILON, inner_radius=inner)
        for n in GAUGED_SIZES:
            tuning, data = whole.tuning(n), records(n, constraint.dimension)
            steps = float(tuning.plan.steps)
            sampler = SamplingInConvexSet(
                problem, whole.scale, whole.distance / 2, steps=GAUGED_STEPS, alpha=tuning.alpha,
                inner_radius=inner, simulation="steps", withdraw_guarantee=True,
            )  # fmt: skip
            begin = time.process_time()
            found = sampler(data, rng=Randomness(0), runs=1)
            took = (time.process_time() - begin) / GAUGED_STEPS
            calls = sum(float(np.mean(np.asarray(getattr(found, name)))) for name in COUNTERS) / GAUGED_STEPS
            walks = whole.repeats(n)
            cells = (
                name, f"{n}", quantity(steps), f"{walks}", quantity(calls), f"{1000 * took:.2g}",
                duration(took * steps * walks),
            )  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """In the largest unit that leaves at least one of it."""
    for unit, size in (("years", 3.156e7), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.2g} s"


def toys_table() -> str:
    """What is inherently a toy for general losses, at the largest size that is not refused."""
    lines = [
        "| algorithm | largest size that runs | CPU s of a run | the next size is refused |",
        "| --- | --- | ---: | --- |",
    ]
    logistic_ball = {
        "`bst14.alg2` (logistic, on a ball)": lambda n, d: ExponentialSampling(
            Problem(Logistic(), Ball(d, 1.0)), GAUGED_EPSILON
        ),
        "`bst14.alg8` (logistic, on a ball)": REFUSED["bst14.alg8"],
    }
    for name, make in logistic_ball.items():
        d = 1
        while refusal(make, SIZE, d + 1) is None:
            d += 1
        lines.append(_toy(name, make, SIZE, d, f"d = {d + 1}: {refusal(make, SIZE, d + 1)}"))
    for id_ in ("bst14.alg-cube", "bst14.alg5", "bst14.alg6", "bst14.alg7"):
        make = REFUSED[id_]
        n = largest(make)
        lines.append(
            _toy(f"`{id_}` (logistic, on an interval)", make, n, 1, f"n = {n + 1}: {refusal(make, n + 1, 1)}")
        )
    return "\n".join(lines)


def _toy(name: str, make: Callable[[int, int], Any], n: int, d: int, refused: str) -> str:
    mechanism, data = make(n, d), records(n, d)
    begin = time.process_time()
    mechanism(data, rng=Randomness(0), runs=1)
    return f"| {name} | n = {n}, d = {d} | {time.process_time() - begin:.2g} | {refused} |"


WALK_EPSILON = 1.0
WALK_SIZES = (1, 4, 16, 64, 256)
WALK_DIMENSIONS = (1, 2, 3, 5, 8)
AFFORDABLE_STEPS = 5_000_000
WALK_RUNS = 100


def steps_of_algorithm_7(n: int, p: int) -> float:
    """Proven steps of one walk of Algorithm 7 on a cube."""
    mechanism = EfficientExponentialSampling(
        Problem(Linear(), Box.cube(p, 1.0)), WALK_EPSILON, extension="loss", withdraw_guarantee=True
    )
    return float(mechanism.plan(n).steps)


def steps_of_walk(n: int, p: int) -> float:
    """Proven steps of the walk by itself on the cube."""
    walk = GridWalk.for_privacy(Problem(Linear(), Box.cube(p, 1.0)), epsilon=WALK_EPSILON)
    return float(walk.plan(n).steps)


def walk_tables() -> tuple[str, str]:
    """Proven steps over n and p, and the largest n that can be afforded."""
    steps = {(n, p): steps_of_walk(n, p) for n in WALK_SIZES for p in WALK_DIMENSIONS}
    lines = ["| p | " + " | ".join(f"n = {n}" for n in WALK_SIZES) + " | exponent | Algorithm 7, n = 1 |"]
    lines.append("| ---: |" + " ---: |" * (len(WALK_SIZES) + 2))
    for p in WALK_DIMENSIONS:
        own = [steps[n, p] for n in WALK_SIZES]
        slope = exponent(zip(WALK_SIZES[-2:], own[-2:], strict=True))
        cells = [*(quantity(value) for value in own), shown(slope), quantity(steps_of_algorithm_7(1, p))]
        lines.append(f"| {p} | " + " | ".join(cells) + " |")
    by_itself = [_affordable(steps_of_walk, p) for p in WALK_DIMENSIONS]
    within = [_affordable(steps_of_algorithm_7, p) for p in WALK_DIMENSIONS]
    feasible = [
        "| | " + " | ".join(f"p = {p}" for p in WALK_DIMENSIONS) + " |",
        "| --- |" + " ---: |" * len(WALK_DIMENSIONS),
        "| the walk by itself | " + " | ".join(map(str, by_itself)) + " |",
        "| Algorithm 7 | " + " | ".join(map(str, within)) + " |",
    ]
    return "\n".join(lines), "\n".join(feasible)


def _affordable(steps: Callable[[int, int], float], p: int) -> int:
    """The largest n for which no more steps are needed than can be afforded; 0 if there is none."""
    return next(n for n in itertools.count() if steps(n + 1, p) > AFFORDABLE_STEPS)


def walk_seconds() -> float:
    """Wall time of a walk of the largest affordable size at p = 2, step by step."""
    problem = Problem(Linear(), Box.cube(2, 1.0))
    walk = dataclasses.replace(GridWalk.for_privacy(problem, epsilon=WALK_EPSILON), simulation="steps")
    data = records(_affordable(steps_of_walk, 2), 2)
    return seconds(lambda: walk(data, rng=Randomness(0), runs=WALK_RUNS), 1)


def updated(page: str, rows: list[Row]) -> str:
    """The page with these rows in place of its own, and Phased ERM's section if it is among them."""
    for found in rows:
        begin = page.index(first_cell(found.case))
        page = page[:begin] + line(found) + page[page.index("\n", begin) :]
    if any(found.case.id == PhasedERM.id for found in rows):
        begin = page.index(SOLVERS_TITLE)
        page = page[:begin] + solvers_section() + "\n\n" + page[page.index("## ", begin + 3) :]
    return page


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    Compiled.expect(1.0)
    Randomness(0).normal((4096, 1), "what Numba makes is made before the first row")
    rows = []
    for case in CASES:
        if not options.only or case.id in options.only:
            print(f"{case.id} {case.note}".strip(), flush=True)
            rows.append(row(case, options.repeats))
    if options.only and options.output and options.output.exists():
        page = updated(options.output.read_text(encoding="utf-8"), rows)
    else:
        page = table(rows)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
