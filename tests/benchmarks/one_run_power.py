"""How much of the truth an audit of one training run finds, beside the procedures of two papers on the same scores.

Failure probability 0.05; medians over seeds of the lower bounds on epsilon at delta, over the truth. Mechanisms:

- a sum of m canaries in orthogonal directions with Gaussian noise, scored by inner products: the best possible scores;
- noisy SGD that samples each canary with probability 0.1 in each of 200 steps, scored by the final iterate alone; the
  truth is dp-accounting's.

Columns: ours, where the number of guesses is chosen beforehand and all looks share the level; Steinke, Nasr and
Jagielski (2023) and Mahloujifar, Melis and Chaudhuri (2024) with our number of guesses and all of the level; and
the best of their bounds over all numbers of guesses, which is no valid bound, since the same coins choose and test.
Last, what the best possible scores would have shown by our own foresight, and our bound on mu.

    python tests/benchmarks/one_run_power.py [--seeds 20] [--only sum]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "auditing" / "one_run"))
from published import mahloujifar_refutes, steinke_tail  # noqa: E402

from dpverify.auditing import CanaryScores, audit_one_run  # noqa: E402
from dpverify.auditing.accountants import NoisyReleases  # noqa: E402
from dpverify.auditing.one_run.audit import Look  # noqa: E402
from dpverify.auditing.one_run.foresight import BestScores, main_guesses, plan  # noqa: E402
from dpverify.auditing.one_run.tails import ClaimedPoints, Guesses, gaussian_points, largest_refuted  # noqa: E402
from dpverify.privacy import GDP, ApproxDP, Guarantee, PureDP  # noqa: E402

LEVEL, DELTA = 0.05, 1e-5
Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """What is audited: a name, the claim that is true and tight, its epsilon, and scores from coins."""

    name: str
    claim: Guarantee
    epsilon: float
    delta: float
    scores: Callable[[Rng, Any], Any]


def cases() -> Iterator[Case]:
    """All mechanisms."""
    for mu in (0.5, 1.0, 2.0):
        claim = GDP(mu)

        def scores(rng: Rng, members: Any, mu: float = mu) -> Any:
            return rng.normal(size=members.size) + mu * members

        yield Case(f"sum, mu = {mu:g}", claim, float(claim.epsilon_at(DELTA)), DELTA, scores)
    for epsilon in (1.0, 3.0):

        def answers(rng: Rng, members: Any, epsilon: float = epsilon) -> Any:
            return np.where(rng.random(members.size) < 1 / (1 + np.exp(epsilon)), ~members, members) + 0.0

        yield Case(f"randomized response, epsilon {epsilon:g}", PureDP(epsilon), epsilon, 0.0, answers)
    for noise in (1.0, 2.0):
        steps, part = 200, 0.1
        true = NoisyReleases("gaussian", noise, steps, part).smallest_epsilon(DELTA).upper

        def final(
            rng: Rng, members: Any, noise: float = noise, steps: int = steps, part: float = part
        ) -> Any:
            used = rng.binomial(steps, part, size=members.size) * members
            return used + rng.normal(size=members.size) * noise * np.sqrt(steps)

        yield Case(f"SGD, noise {noise:g}", ApproxDP(true, DELTA), true, DELTA, final)


def steinke(guesses: Guesses, correct: int, delta: float) -> float:
    """Their bound on epsilon."""
    return largest_refuted(lambda epsilon: steinke_tail(epsilon, delta, guesses, correct) <= LEVEL)


def mahloujifar(guesses: Guesses, correct: int, delta: float) -> float:
    """Their bound on epsilon, through the Gaussian trade-off functions that they audit."""
    if 2 * correct <= guesses.count:
        return 0.0
    mu = largest_refuted(lambda size: mahloujifar_refutes(gaussian_points(size), guesses, correct, LEVEL))
    return gaussian_epsilon(mu, delta)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Of a Gaussian mechanism."""
    return float(GDP(mu).epsilon_at(delta)) if mu > 0 else 0.0


def ratios(case: Case, canaries: int, seed: int) -> list[float]:
    """Of one run: all columns of the table."""
    rng = np.random.default_rng((seed, canaries))
    members = rng.random(canaries) < 0.5
    scores = case.scores(rng, members)
    found = audit_one_run(scores, members, case.claim, delta=case.delta, failure_probability=LEVEL, seed=seed)
    assert found.one_run is not None
    tight = BestScores.of(case.claim)
    planned = plan(canaries, ClaimedPoints.of(case.claim), tight, LEVEL)
    counts = [main_guesses(canaries, planned, tight, LEVEL).count]
    grid = [2 * int(half) for half in np.unique(np.geomspace(4, canaries // 2, 16).astype(int))]
    ranked = CanaryScores.read(scores, members).ranked(rng)

    def best(bound: Callable[[Guesses, int, float], float], numbers: list[int]) -> float:
        looks = [Look(Guesses(canaries, count), True, LEVEL) for count in numbers]
        return max((bound(look.guesses, look.correct(ranked), case.delta) for look in looks), default=0.0)

    gaussian = case.delta > 0
    return [
        found.epsilon_lower / case.epsilon,
        best(steinke, counts) / case.epsilon,
        best(mahloujifar, counts) / case.epsilon if gaussian else np.nan,
        best(steinke, grid) / case.epsilon,
        best(mahloujifar, grid) / case.epsilon if gaussian else np.nan,
        found.one_run.best_epsilon_lower / case.epsilon,
        gaussian_epsilon(found.one_run.mu_lower, case.delta) / case.epsilon if gaussian else np.nan,
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = ("ours", "Steinke", "Mahloujifar", "best Steinke", "best Mahloujifar", "foreseen", "ours, by mu")
    print(f"| mechanism | m | true epsilon | {' | '.join(names)} | CPU s |")
    print("| --- |" + " --- |" * 10)
    for case in cases():
        if given.only.lower() not in case.name.lower():
            continue
        for canaries in (1000, 10_000):
            begin = time.process_time()
            table = np.array([ratios(case, canaries, seed) for seed in range(given.seeds)])
            seconds = (time.process_time() - begin) / given.seeds
            middle = np.median(table, axis=0)
            shown = " | ".join(f"{value:.3f}".lstrip("0") if np.isfinite(value) else "" for value in middle)
            print(f"| {case.name} | {canaries} | {case.epsilon:.4g} | {shown} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
