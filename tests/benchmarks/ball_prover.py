"""Boxes, seconds and boxes a second of the ball prover on the papers' Gaussian inequalities.

Run as `python tests/benchmarks/ball_prover.py [NAME...]`. For scale: plain intervals, without derivatives, took
92,000 boxes and 1.2 seconds for the first.
"""

from __future__ import annotations

import math
import sys
import time
from fractions import Fraction
from typing import Any

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.logic import Compare, Le
from dpverify.formulas.operators import exp, log, maximum, normal_cdf, sqrt
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget
from dpverify.proving.provers.balls import BallProver

EPS, LOG, ORDER, SCALE = (real(name, gt=0) for name in ("eps", "l", "order", "s"))
X, SHARE = real("x", ge=0), real("g", ge=0, le=1)
eps, level, order, scale, x, share = (v for v in (EPS, LOG, ORDER, SCALE, X, SHARE))

Case = tuple[Compare, tuple[Variable, ...], dict[str, tuple[object, object]]]


def hockey_stick(loss: Any, s: Any) -> Any:
    """The privacy profile of the Gaussian mechanism, s being sensitivity over noise."""
    return normal_cdf(-loss / s + s / 2) - exp(loss) * normal_cdf(-loss / s - s / 2)


def randomized_response(rounds: int) -> Compare:
    """bst14 Lemma 2.3 for `rounds`-fold randomized response with loss x each."""
    bound = sqrt(2 * rounds * level) * x + rounds * x * (exp(x) - 1)
    weight = (1 + exp(x)) ** rounds
    excess = [(exp((rounds - k) * x) - exp(bound + k * x)) / weight for k in range(rounds + 1)]
    return Le(sum(math.comb(rounds, k) * maximum(0, e) for k, e in enumerate(excess)), exp(-level))


def cases() -> dict[str, Case]:
    """The claims, each with its variables and its box."""
    classical = eps / sqrt(2 * log(Fraction(5, 4)) + 2 * level)
    roots = sqrt(2 * level + 2 * eps) - sqrt(2 * level)
    two = (EPS, LOG)
    wide: dict[str, tuple[object, object]] = {"eps": ("1/100", 10), "l": ("1/100", 30)}
    renyi = hockey_stick(order * scale**2 / 2 + level / (order - 1), scale)
    found: dict[str, Case] = {
        "gaussian": (Le(hockey_stick(eps, classical), exp(-level)), two, {"eps": ("1/20", 1), "l": (3, 14)}),
        "gaussian-to-12": (
            Le(hockey_stick(eps, classical), exp(-level)),
            two,
            {"eps": ("1/20", 12), "l": (3, 14)},
        ),
        "gll22.lem6.3-first-term": (Le(normal_cdf(-eps / roots + roots / 2), exp(-level) / 2), two, wide),
        "gll22.lem6.3": (Le(hockey_stick(eps, roots), exp(-level) / 2), two, wide),
        "fmtt18.lem14": (
            Le(renyi, exp(-level)),
            (ORDER, SCALE, LOG),
            {"order": ("3/2", 20), "s": ("1/10", 3), "l": ("1/2", 20)},
        ),
        "parabola": (Le(exp(x), 1 + x + x**2), (X,), {"x": (0, 1)}),
        "tail": (Le(1 - normal_cdf(x), exp(-(x**2) / 2) / 2), (X,), {"x": (0, 10)}),
        "sampling": (Le(log(1 + share * (exp(x) - 1)), 2 * share * x), (SHARE, X), {"x": (0, 1)}),
    }
    for rounds in range(1, 11):
        box: dict[str, tuple[object, object]] = {"x": ("1/100", 2), "l": ("1/10", 20)}
        found[f"bst14.lem2.3-T{rounds}"] = (randomized_response(rounds), (X, LOG), box)
    return found


def main(names: list[str]) -> None:
    """Print one line a claim."""
    chosen = cases()
    print(f"{'claim':26} {'verdict':10} {'boxes':>7} {'seconds':>8} {'boxes/s':>8}")
    for name in names or chosen:
        claim, over, box = chosen[name]
        start = time.perf_counter()
        proof = BallProver().attempt(ProofProblem(name, claim, over, box=box), Budget())
        seconds = time.perf_counter() - start
        assert proof is not None
        boxes = proof.boxes or 0
        print(f"{name:26} {proof.verdict:10} {boxes:7} {seconds:8.3f} {boxes / seconds:8.0f} {proof.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
