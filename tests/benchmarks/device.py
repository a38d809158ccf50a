"""Noisy SGD on a device beside NumPy on one core, and what float32 changes: the tables of docs/device.md.

make device     # writes docs/device.md, with the devices that JAX finds
python tests/benchmarks/device.py [--runs 10000 100000 1000000] [--repeats 5] [--output docs/device.md]
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(
        0, {min(os.sched_getaffinity(0))}
    )  # what threads JAX starts share one core with NumPy

import jax  # noqa: E402
import numpy as np  # noqa: E402
from noisy_sgd_throughput import make_data, seconds  # noqa: E402

from dpverify.algorithms.bst14 import NoisyGradientDescent  # noqa: E402
from dpverify.algorithms.fmtt18 import PNSGD  # noqa: E402
from dpverify.algorithms.on_device import DevicePlace, rounding_bound  # noqa: E402
from dpverify.files import write_table  # noqa: E402
from dpverify.problems import Ball, Dataset, Logistic, Problem, load  # noqa: E402
from dpverify.running import BLOCK, Randomness, run  # noqa: E402

N, D = 50, 10


def processor() -> str:
    """The model of the CPU, where the system says it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def devices() -> list[str]:
    """The kinds that JAX finds."""
    return ["cpu"] if all(one.platform == "cpu" for one in jax.devices()) else ["cpu", "gpu"]


def speeds(counts: list[int], repeats: int) -> Iterator[str]:
    """Rows: runs, seconds of the first and of the fastest call, and the ratio to NumPy's."""
    algorithm = PNSGD.for_privacy(Problem(Logistic(), Ball(D, 1.0)), n=N, epsilon=1.0, delta=1e-5)
    data = make_data(N, D)
    numba = "with Numba" if find_spec("numba") else "without Numba"
    yield f"| runs | where | first call, s | fastest, s | ns a number | NumPy ({numba}) over it |"
    yield "| ---: | --- | ---: | ---: | ---: | ---: |"
    for count in counts:

        def call(device: str | None, count: int = count) -> Callable[[], object]:
            # a GPU takes all runs at once
            block = count if device == "gpu" else BLOCK
            return lambda: run(algorithm, data, runs=count, seed=0, device=device, block_size=block)

        calls = {"NumPy, one core": call(None)} | {
            f"JAX, {jax.devices(kind)[0].device_kind}{', one core' if kind == 'cpu' else ''}": call(kind)
            for kind in devices()
        }
        first = {name: seconds(one) for name, one in calls.items()}
        turns = [{name: seconds(one) for name, one in calls.items()} for _ in range(repeats)]
        fastest = {name: min(turn[name] for turn in turns) for name in calls}
        theirs = fastest["NumPy, one core"]
        for name, took in fastest.items():
            each = 1e9 * took / (count * N * D)
            yield f"| {count:,} | {name} | {first[name]:.2f} | {took:.3f} | {each:.2f} | {theirs / took:.2f} |"


def roundings() -> Iterator[str]:
    """Rows: what float32 may change, and what it changed, on the same normal numbers."""
    yield "| algorithm | n | d | steps | bound | largest of 1,000 runs |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for n, d in ((50, 10), (569, 30)):
        data, problem = load("breast-cancer", n=n, d=d), Problem(Logistic(), Ball(d, 1.0))
        single = PNSGD.for_privacy(problem, n=n, epsilon=1.0, delta=1e-5)
        rates = np.full(n, single.rate)
        yield _rounding(single, data, rates, rates * single.noise_stddev)
        drawn = NoisyGradientDescent(problem, 1.0, 1e-5, steps=1000)
        rates = np.array([drawn.rate(n, t) for t in range(1, 1001)])
        yield _rounding(drawn, data, n * rates, rates * drawn.noise_stddev(n))


def _rounding(algorithm: Any, data: Dataset, factors: Any, stddevs: Any) -> str:
    def points(dtype: str) -> Any:
        rng = Randomness(0)
        rng.device = DevicePlace("cpu", dtype)
        return algorithm(data, rng=rng, runs=1000).points

    single = points("float32")
    with jax.enable_x64(True):
        apart = np.max(np.linalg.norm(points("float64") - single, axis=1))
    bound = rounding_bound(algorithm.problem, factors, stddevs)
    return f"| `{algorithm.id}` | {data.n} | {data.d} | {len(factors):,} | {bound:.2g} | {apart:.2g} |"


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    where = ", ".join(jax.devices(kind)[0].device_kind for kind in devices() if kind != "cpu")
    lines = [
        f"On {time.strftime('%Y-%m-%d')}, {processor()}, {os.cpu_count()} cores, shared with other work; "
        f"JAX {jax.__version__}, NumPy {np.__version__}. "
        + (f"GPU: {where}." if where else "**No GPU was measured**: this computer has none."),
        "",
        *speeds(options.runs, options.repeats),
        "",
        *roundings(),
    ]
    if options.output is None:
        print("\n".join(lines))
    else:
        write_table(options.output, lines)


if __name__ == "__main__":
    main()
