"""How fast projected noisy SGD is, beside the mere drawing of its noise by NumPy, and on two workers beside one.

Prints two ratios from one run:

- noise alone over the algorithm: the time in which NumPy draws the algorithm's normal numbers (same generator, same
  arrays, block by block) over the time of the whole run, both on one core. The goal is at least 0.80, and with Numba,
  which draws the same numbers faster, at least 0.9.
- one worker over two: the time of the run on one worker over its time on two. The goal is at least 1.8.

The algorithm is PNSGD with the logistic loss on a ball and the rate and noise of fmtt18's Theorem 30. The things to
compare take turns, so that a change of the machine's speed meets all of them; the ratios are medians over the turns.
Starting the workers is not counted. The two workers are threads, which need not send their results anywhere; two
processes (`--executor processes=2`) spend some of their gain on that. On a machine that does other things as well, the
second ratio says little; so the load is printed too, how much faster two threads draw the bare noise, and the ratios
of the fastest turns, which others disturb least.

    python tests/benchmarks/noisy_sgd_throughput.py [--runs 100000] [--repeats 11] [--executor threads=2]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402

from dpverify.algorithms.fmtt18 import PNSGD  # noqa: E402
from dpverify.problems import Ball, Dataset, Logistic, Problem  # noqa: E402
from dpverify.running import BLOCK, Executor, Randomness, run  # noqa: E402


def make_data(n: int, d: int) -> Dataset:
    """N records on the unit sphere with random labels."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], rng.choice([-1.0, 1.0], n))


def draw_noise(n: int, d: int, runs: int, threads: int = 1) -> None:
    """What a run draws, block by block and step by step, and nothing else."""

    def draw(block: int) -> None:
        generator = Randomness(0, block).generator
        place = np.empty((d, min(BLOCK, runs - block * BLOCK)))
        for _ in range(n):
            generator.standard_normal(out=place)

    blocks = range(-(-runs // BLOCK))
    if threads == 1:
        for block in blocks:
            draw(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(draw, blocks))


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--records", type=int, default=50)
    parser.add_argument("--dimension", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--executor", type=Executor.parse, default=Executor("threads", 2))
    options = parser.parse_args()
    n, d, runs = options.records, options.dimension, options.runs
    data = make_data(n, d)
    algorithm = PNSGD.for_privacy(Problem(Logistic(), Ball(d, 1.0)), n=n, epsilon=1.0, delta=1e-5)

    def one() -> None:
        run(algorithm, data, runs=runs, seed=0)

    def several() -> None:
        run(algorithm, data, runs=runs, seed=0, executor=options.executor)

    calls: dict[str, Callable[[], object]] = {
        "noise alone": lambda: draw_noise(n, d, runs),
        "one worker": one,
        str(options.executor): several,
        "noise, threads=2": lambda: draw_noise(n, d, runs, threads=2),
    }
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    for call in calls.values():
        call()  # starts workers, fills caches
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(options.repeats):
        for name, call in calls.items():
            times[name].append(seconds(call))

    print(f"PNSGD, logistic loss on a ball, {runs} runs, n = {n}, d = {d}, {options.repeats} turns")
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"  {name:<16} {median:7.3f} s   {1e9 * median / (runs * n * d):6.2f} ns a number")
    if hasattr(os, "getloadavg"):
        print(f"  load before: {load:.2f}, after: {os.getloadavg()[0]:.2f}, on {os.cpu_count()} cores")
    noise, alone, shared, noise_shared = times.values()
    pairs = {
        "noise alone / one worker": (noise, alone),
        f"one worker / {options.executor}": (alone, shared),
        "what two cores give here: noise alone / noise, threads=2": (noise, noise_shared),
    }
    for name, (over, under) in pairs.items():
        ratios = [a / b for a, b in zip(over, under, strict=True)]
        print(
            f"{name}: {statistics.median(ratios):.3f}   (from {min(ratios):.3f} to {max(ratios):.3f}; "
            f"fastest turns: {min(over) / min(under):.3f})"
        )


if __name__ == "__main__":
    main()
