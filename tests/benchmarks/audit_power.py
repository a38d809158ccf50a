"""How much of the true epsilon the black-box audit finds, beside what the best single threshold finds.

Prints, for each pair of laws, delta and number of runs N on each side, medians over seeds of the ratio of the audited
to the true epsilon at that delta, with failure probability 0.05:

- audit: `audit_privacy` with its defaults, with the range of the middle 80 % of the seeds;
- ceiling: one half-line, the best one for the true laws, judged by two Clopper-Pearson bounds on all N runs. No audit
  that has to find its threshold in the samples, and then compares two bounds, can be expected above it;
- goal, where one was set;
- CPU seconds of one audit, drawing the samples not included;
- regression, where outputs are several numbers: scikit-learn's logistic regression, fitted to half of the runs, which
  choose a threshold too, and two Clopper-Pearson bounds on the other half; and its CPU seconds.

The pairs: N(0, 1) and N(1, 1), in the first of 1, 10 or 50 coordinates, or along the diagonal of 10 or 50; 3 of 100
outputs in a cube of side 0.6 among N(0, I) in five coordinates; Laplace noise of scale 1 and sensitivity 1; one step of
the subsampled Gaussian mechanism, (1 - q) N(0, s^2) + q N(1, s^2) against N(0, s^2) with q = 0.1 and s = 0.5; and 20
such steps seen as 20 numbers, where the ceiling is that of the exact likelihood ratio.

Then the CPU seconds of all of `dpverify audit` on two files, and their ratio to those of a Python that loads NumPy and
scipy.special and ends: the least of several runs of each, in turn, since others may use the machine.

    python tests/benchmarks/audit_power.py [--seeds 20] [--runs 100000 1000000] [--only laplace]
    python tests/benchmarks/audit_power.py --only files
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.optimize import brentq  # noqa: E402
from scipy.special import ndtr  # noqa: E402

from dpverify.auditing import audit_privacy, clopper_pearson_lower, clopper_pearson_upper  # noqa: E402
from dpverify.privacy import ApproxDP, Guarantee, PureDP  # noqa: E402

Array = NDArray[np.float64]
Tail = Callable[[Array], Array]

LEVEL = 0.05
SHARE, SPREAD = 0.1, 0.5
STEPS = 20
STARTS = 7


@dataclass(frozen=True)
class Pair:
    """Two laws, with what is known of them."""

    name: str
    delta: float
    true_epsilon: float
    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]
    score: Callable[[Array], Array]
    """A number whose half-lines are the best events."""
    tails: tuple[Tail, Tail] | None
    """Probability that the score is above a number, on both sides; None where samples must say."""
    goals: dict[int, float]

    @property
    def claim(self) -> Guarantee:
        """What is true."""
        return ApproxDP(self.true_epsilon, self.delta) if self.delta else PureDP(self.true_epsilon)


def gaussian(delta: float, dimension: int, goals: dict[int, float], *, diagonal: bool = False) -> Pair:
    """Noise of standard deviation 1, sensitivity 1."""
    direction = np.full(dimension, dimension**-0.5) if diagonal else np.eye(1, dimension)[0]

    def draw(rng: np.random.Generator, runs: int) -> tuple[Array, Array]:
        left, right = rng.normal(size=(runs, dimension)), rng.normal(size=(runs, dimension))
        return left + direction, right

    def excess(epsilon: float) -> float:
        return float(ndtr(0.5 - epsilon) - math.exp(epsilon) * ndtr(-0.5 - epsilon)) - delta

    tails = (lambda t: ndtr(1 - t)), (lambda t: ndtr(-t))
    name = f"Gaussian, d = {dimension}{', along the diagonal' if diagonal else ''}"
    return Pair(name, delta, brentq(excess, 0, 30), draw, lambda x: x @ direction, tails, goals)


def cube() -> Pair:
    """A small region of five coordinates, in which no threshold of one number is."""
    low, side, share = 0.7, 0.6, 0.03

    def draw(rng: np.random.Generator, runs: int) -> tuple[Array, Array]:
        left, right = rng.normal(size=(2, runs, 5))
        inside = rng.random((runs, 1)) < share
        return np.where(inside, low + side * rng.random((runs, 5)), left), right

    def score(x: Array) -> Array:
        found: Array = np.all((x >= low) & (x <= low + side), axis=1).astype(np.float64)
        return found

    least = np.exp(-((low + side) ** 2) / 2) / math.sqrt(2 * math.pi)
    ratio = 1 - share + share / (side * least) ** 5
    return Pair("cube, d = 5", 0.0, math.log(ratio), draw, score, None, {})


def laplace(goals: dict[int, float]) -> Pair:
    """Noise of scale 1, sensitivity 1."""

    def draw(rng: np.random.Generator, runs: int) -> tuple[Array, Array]:
        return rng.laplace(1.0, 1.0, (runs, 1)), rng.laplace(0.0, 1.0, (runs, 1))

    def tail(t: Array) -> Array:
        return np.where(t > 0, np.exp(-np.abs(t)) / 2, 1 - np.exp(-np.abs(t)) / 2)

    return Pair("Laplace", 0.0, 1.0, draw, lambda x: x[:, 0], (lambda t: tail(t - 1), tail), goals)


def mixture(delta: float, goals: dict[int, float]) -> Pair:
    """One step of the subsampled Gaussian mechanism."""

    def draw(rng: np.random.Generator, runs: int) -> tuple[Array, Array]:
        left = rng.normal(0.0, SPREAD, (runs, 1)) + (rng.random((runs, 1)) < SHARE)
        return left, rng.normal(0.0, SPREAD, (runs, 1))

    def tail(t: Array) -> Array:
        return (1 - SHARE) * ndtr(-t / SPREAD) + SHARE * ndtr((1 - t) / SPREAD)

    def excess(epsilon: float) -> float:
        ratio = (math.exp(epsilon) - 1 + SHARE) / SHARE
        t = np.float64((math.log(ratio) * 2 * SPREAD**2 + 1) / 2)
        return float(tail(t) - math.exp(epsilon) * ndtr(-t / SPREAD)) - delta

    tails = tail, (lambda t: ndtr(-t / SPREAD))
    return Pair("subsampled Gaussian", delta, brentq(excess, 1e-3, 30), draw, lambda x: x[:, 0], tails, goals)


def steps(delta: float, goals: dict[int, float]) -> Pair:
    """All outputs of several steps of the subsampled Gaussian mechanism."""
    from dp_accounting.pld import privacy_loss_distribution

    one = privacy_loss_distribution.from_gaussian_mechanism(
        SPREAD, sampling_prob=SHARE, value_discretization_interval=1e-3
    )

    def draw(rng: np.random.Generator, runs: int) -> tuple[Array, Array]:
        left = rng.normal(0.0, SPREAD, (runs, STEPS)) + (rng.random((runs, STEPS)) < SHARE)
        return left, rng.normal(0.0, SPREAD, (runs, STEPS))

    def ratio(x: Array) -> Array:
        step = np.log1p(SHARE * np.expm1((2 * x - 1) / (2 * SPREAD**2)))
        summed: Array = step.sum(axis=1)
        return summed

    epsilon = one.self_compose(STEPS).get_epsilon_for_delta(delta)
    return Pair(f"{STEPS} steps", delta, epsilon, draw, ratio, None, goals)


def pairs() -> list[Pair]:
    """The rows of the table."""
    return [
        gaussian(1e-5, 1, {100_000: 0.65, 1_000_000: 0.76}),
        gaussian(1e-2, 1, {100_000: 0.91, 1_000_000: 0.975}),
        laplace({100_000: 0.975, 1_000_000: 0.993}),
        mixture(1e-5, {1_000_000: 0.62}),
        mixture(1e-2, {1_000_000: 0.95}),
        gaussian(1e-5, 10, {100_000: 0.63, 1_000_000: 0.74}),
        gaussian(1e-5, 50, {100_000: 0.63, 1_000_000: 0.74}),
        gaussian(1e-5, 10, {}, diagonal=True),
        gaussian(1e-5, 50, {}, diagonal=True),
        cube(),
        steps(1e-5, {}),
        steps(1e-2, {1_000_000: 0.75}),
    ]


def best_threshold(pair: Pair, runs: int) -> float:
    """The half-line from which two bounds promise most, for the true laws."""
    if pair.tails is not None:
        thresholds = np.linspace(-8.0, 8.0, 1601)
        p, q = (tail(thresholds) for tail in pair.tails)
    else:
        left, right = (np.sort(pair.score(x)) for x in pair.draw(np.random.default_rng(2**40), runs))
        thresholds = right[-np.unique(np.geomspace(5, runs // 2, 300).astype(np.int64))]
        p, q = (1 - np.searchsorted(side, thresholds, side="right") / runs for side in (left, right))
    return float(thresholds[np.argmax(bound(np.rint(p * runs), np.rint(q * runs), runs, pair.delta))])


def bound(left: Array, right: Array, runs: int, delta: float) -> Array:
    """Epsilon from two counts, each bounded at half of the level."""
    at_least = clopper_pearson_lower(np.asarray(left, dtype=np.int64), runs, LEVEL / 2)
    at_most = clopper_pearson_upper(np.asarray(right, dtype=np.int64), runs, LEVEL / 2)
    return np.log(np.maximum(at_least - delta, 1e-300) / at_most)


def regression(left: Array, right: Array, delta: float) -> float:
    """What a logistic regression shows: fitted and cut at a threshold by half of the runs, judged by the others."""
    from sklearn.linear_model import LogisticRegression

    half = len(left) // 2
    model = LogisticRegression().fit(np.concatenate([left[:half], right[:half]]), np.repeat([1, 0], half))
    known, fresh = (
        [np.sort(model.decision_function(side[some])) for side in (left, right)]
        for some in (slice(half), slice(half, 2 * half))
    )
    cuts = np.quantile(np.concatenate(known), np.linspace(0.001, 0.999, 200))

    def epsilon(sides: list[Array], at: Array) -> Array:
        above = [half - np.searchsorted(side, at, side="right") for side in sides]
        return bound(above[0], above[1], half, delta)

    best = int(epsilon(known, cuts).argmax())
    return float(epsilon(fresh, cuts[best : best + 1])[0])


def measure(pair: Pair, runs: int, seeds: int) -> None:
    """Print one row."""
    threshold = best_threshold(pair, runs)
    audited, ceiling, seconds, plain = [], [], [], []
    regression(*pair.draw(np.random.default_rng(0), 100), pair.delta)  # imports
    for seed in range(seeds):
        left, right = pair.draw(np.random.default_rng((seed, runs)), runs)
        counts = [np.count_nonzero(pair.score(x) > threshold) for x in (left, right)]
        ceiling.append(float(bound(counts[0], counts[1], runs, pair.delta)) / pair.true_epsilon)
        begin = time.process_time()
        audit = audit_privacy(
            left, right, pair.claim, adjacency="as drawn", failure_probability=LEVEL, seed=seed
        )
        seconds.append(time.process_time() - begin)
        audited.append(audit.epsilon_lower / pair.true_epsilon)
        if left.shape[1] > 1:
            begin = time.process_time()
            found = max(regression(left, right, pair.delta), 0.0) / pair.true_epsilon
            plain.append((found, time.process_time() - begin))
    low, middle, high = np.quantile(audited, [0.1, 0.5, 0.9])
    cells = [
        pair.name,
        f"{pair.delta:g}",
        f"{pair.true_epsilon:.3f}",
        f"{runs:,}",
        f"{middle:.3f} ({low:.3f} to {high:.3f})",
        f"{np.median(ceiling):.3f}",
        f"{pair.goals.get(runs, '')}",
        f"{np.median(seconds):.3f}",
        *([f"{value:.3f}" for value in np.median(plain, axis=0)] if plain else ["", ""]),
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def cpu_seconds(command: list[str], folder: str) -> float:
    """User and system time of a process with kept bytecode and as many threads as its libraries like."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.endswith("_NUM_THREADS")
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_files(runs: int, claim: str) -> None:
    """Print a row about the command on files of N(0, 1) and N(1, 1)."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(runs)
        for name, mean in (("left.npy", 0.0), ("right.npy", 1.0)):
            np.save(Path(folder, name), rng.normal(mean, size=(runs, 1)))
        files = ["--left", "left.npy", "--right", "right.npy", "--adjacency", "unchecked"]
        audit = [sys.executable, "-m", "dpverify", "audit", *files, "--claim", claim]
        bare = [sys.executable, "-c", "import numpy, scipy.special"]
        cpu_seconds(audit, folder)  # writes bytecode
        seconds = [(cpu_seconds(audit, folder), cpu_seconds(bare, folder)) for _ in range(STARTS)]
    ours, theirs = (min(column) for column in zip(*seconds, strict=True))
    print(f"| {runs:,} | {claim} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    asked = parser.parse_args()
    chosen = [pair for pair in pairs() if asked.only.lower() in pair.name.lower()]
    if chosen:
        print("| laws | delta | true epsilon | N | audit | ceiling | goal | CPU s | regression | CPU s |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for pair in chosen:
        for runs in asked.runs:
            measure(pair, runs, asked.seeds)
    if asked.only.lower() in "files":
        print(end="\n" if chosen else "")
        print("| N | dpverify audit on two files, claim | CPU s | NumPy and scipy.special | ratio |")
        print("| --- | --- | --- | --- | --- |")
        for runs in asked.runs:
            for claim in ("mu=1.02", "eps=4.5,delta=1e-5"):
                measure_files(runs, claim)


if __name__ == "__main__":
    main()
