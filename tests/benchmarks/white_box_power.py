"""How much of the true epsilon the white-box audit finds, with failure probability 0.05.

Prints, for each mechanism and number of runs on each side, the median over seeds of the ratio of the audited to the
true epsilon at delta, with the range of the middle 80 % of the seeds, and CPU seconds of one audit. Mechanisms:

- the Gaussian mechanism with mu = 1, the truth in closed form;
- ten steps of projected noisy SGD with linear losses on [-R, R], rate 0.1 and noise 0.63, records in turn -1 and 1,
  and the first or last of them replaced; the truth is the upper end of an enclosure that is 0.4 % wide
  (`auditing.exact`).

    python tests/benchmarks/white_box_power.py [--seeds 20] [--runs 1000000] [--only gaussian]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402

from dpverify.algorithms.fmtt18 import PNSGD  # noqa: E402
from dpverify.auditing import ErrorShare, Label, PrivacyQuestion  # noqa: E402
from dpverify.auditing.white_box import Stated, WhiteBoxAuditor  # noqa: E402
from dpverify.privacy import GDP, Adjacency, StatedGuarantee  # noqa: E402
from dpverify.problems import Ball, Dataset, Linear, Problem  # noqa: E402
from dpverify.running import run, single_noise  # noqa: E402
from dpverify.statements.exact import index_profiles  # noqa: E402

LEVEL = 0.05
_N = 10


@dataclass(frozen=True)
class Case:
    """What is audited, and the truth."""

    name: str
    delta: float
    true_epsilon: float
    subject: Stated


@dataclass(frozen=True)
class _Drawn:
    outputs: Callable[[int], tuple[Any, Any]]

    def draw(self, count: int) -> tuple[Any, Any]:
        return self.outputs(count)


def gaussian(delta: float) -> Case:
    """N(0, 1) and N(1, 1)."""

    def outputs(count: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(1)
        return rng.normal(0, 1, count), rng.normal(1, 1, count)

    stated = Stated(_Drawn(outputs), (single_noise(0.0, 1.0), single_noise(1.0, 1.0)))
    return Case("Gaussian, mu = 1", delta, GDP(1.0).epsilon_at(delta), stated)


def descent(radius: float, index: int, delta: float = 1e-5) -> Case:
    """Projected noisy SGD with linear losses."""
    algorithm = PNSGD(Problem(Linear(), Ball(1, radius)), rate=0.1, noise_stddev=0.63)
    data = Dataset(np.array([[(-1.0) ** t] for t in range(_N)]), np.ones(_N), "in turn")
    pair = data.replace(index, [1.0], 1.0), data.replace(index, [-1.0], 1.0)
    found = index_profiles(
        algorithm, pair[0], record=([-1.0], 1.0), indices=[index], delta=delta, accuracy=0.004
    )
    truth = found[index].epsilon(delta)

    def outputs(count: int) -> tuple[Any, Any]:
        left, right = (run(algorithm, side, runs=count, seed=(1, k)).points for k, side in enumerate(pair))
        return left, right

    structures = algorithm.structure(pair[0]), algorithm.structure(pair[1])
    assert structures[0] is not None
    assert structures[1] is not None
    stated = Stated(_Drawn(outputs), (structures[0], structures[1]))
    return Case(f"SGD on [-{radius:g}, {radius:g}], record {index}", delta, truth.upper, stated)


def cases(only: str) -> Iterator[Case]:
    """All whose name has the text in it."""
    for delta in (1e-2, 1e-5, 1e-8):
        if only.lower() in "gaussian":
            yield gaussian(delta)
    if only.lower() in "sgd":
        for radius in (50.0, 0.5, 0.3, 0.2):
            yield descent(radius, _N)
        yield descent(0.3, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| mechanism | delta | true epsilon | N | ratio | middle 80 % | CPU s |")
    print("| --- " * 7 + "|")
    for case in cases(given.only):
        for runs in given.runs:
            ratios, begin = [], time.process_time()
            for seed in range(given.seeds):
                stated = StatedGuarantee(GDP(1.0), Adjacency.REPLACE_ONE)
                question = PrivacyQuestion(stated, case.name, runs, delta=case.delta, label=Label(seed=seed))
                found = WhiteBoxAuditor().audit(question, case.subject, ErrorShare(LEVEL))
                ratios.append(found.epsilon_lower / case.true_epsilon)
            low, middle, high = np.percentile(ratios, [10, 50, 90])
            seconds = (time.process_time() - begin) / given.seeds
            print(
                f"| {case.name} | {case.delta:g} | {case.true_epsilon:.4g} | {runs:.0e} | {middle:.4f} "
                f"| {low:.4f} to {high:.4f} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
