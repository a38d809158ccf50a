"""How often audits call true claims violated: thousands of null audits at level 0.01, with an exact interval for
each row.

A row is a law that meets its claim (most of them exactly) and an auditor: the batch auditor on 400 runs a side; the
sequential one on at most 256, stopped at the worst moment: an alarm is a refutation, or a bound on epsilon above the
true one, at any look; the white-box auditor on 1000 simulated runs; and audits of one training run.

    python tests/benchmarks/null_audits.py [--audits 10000] [--only svt] [--seed 0]

Exit code 1 if the lower end of the interval of all audits together is above the level.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # read when NumPy is imported

import numpy as np  # noqa: E402

from dpverify.auditing import (  # noqa: E402
    BatchAuditor,
    Encoder,
    ErrorShare,
    Label,
    PrivacyQuestion,
    audit_one_run,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from dpverify.auditing.sequential import BettingAuditor, SequentialAuditor  # noqa: E402
from dpverify.auditing.white_box import Stated, WhiteBoxAuditor  # noqa: E402
from dpverify.ledger.verdicts import Verdict  # noqa: E402
from dpverify.privacy import GDP, Adjacency, ApproxDP, Guarantee, PureDP, StatedGuarantee  # noqa: E402
from dpverify.running import StatedStep, StatedStructure, single_noise  # noqa: E402
from dpverify.running.subjects.texts import of_runs  # noqa: E402

LEVEL = 0.01
BATCH, SEQUENTIAL, WHITE_BOX = 400, 256, 1000
Rng = np.random.Generator
Draw = Callable[[Rng, int], tuple[Any, Any]]


@dataclass(frozen=True)
class Law:
    """Outputs on two neighboring data sets, and what is true of them.

    Attributes:
        name: in the table.
        draw: outputs on both sides.
        claim: what holds.
        odd: whether outputs are objects of any form, which an encoder reads.
    """

    name: str
    draw: Draw
    claim: Guarantee
    odd: bool = False


def _answered_truly(rng: Rng, runs: int, truth: int, epsilon: float = 1.0) -> Any:
    return np.where(rng.random(runs) < 1 / (1 + math.exp(-epsilon)), truth, 1 - truth)


def _laplace(rng: Rng, runs: int) -> tuple[Any, Any]:
    return rng.laplace(size=runs), rng.laplace(1.0, size=runs)


def _gaussian(rng: Rng, runs: int) -> tuple[Any, Any]:
    return rng.normal(size=runs), rng.normal(1.0, size=runs)


def _exponential(rng: Rng, runs: int) -> tuple[Any, Any]:
    return tuple(rng.choice(8, size=runs, p=p) for p in _PICKS)  # type: ignore[return-value]


def _softmax(scores: Any) -> Any:
    weights = np.exp(np.asarray(scores, dtype=np.float64) / 2)
    return weights / weights.sum()


_PICKS = (_softmax([1, 1, 1, 1, 0, 0, 0, 0]), _softmax([0, 0, 0, 0, 1, 1, 1, 1]))


def _sparse_vector(rng: Rng, runs: int, answers: Any, variant: int, limit: int = 2) -> Any:
    """Algorithms 1 and 2 of Lyu, Su and Li 2017, which are private; both stop after two answers above 0."""
    said = np.full((runs, len(answers)), -9.0)
    scale = 2.0 if variant == 1 else 2.0 * limit
    threshold, count = rng.laplace(scale=scale, size=runs), np.zeros(runs)
    for place, answer in enumerate(answers):
        over = answer + rng.laplace(scale=4.0 * limit, size=runs) >= threshold
        runs_on = count < limit
        said[runs_on, place] = over[runs_on]
        count += over & runs_on
        if variant == 2:
            threshold = np.where(over, rng.laplace(scale=scale, size=runs), threshold)
    return said


def _sparse(variant: int) -> Draw:
    def draw(rng: Rng, runs: int) -> tuple[Any, Any]:
        return (
            _sparse_vector(rng, runs, (0.0, 0.0, 1.0), variant),
            _sparse_vector(rng, runs, (1.0, 1.0, 0.0), variant),
        )

    return draw


_NUMBERS = np.arange(-30, 32)


def _discrete_masses(middle: int) -> Any:
    masses = np.exp(-((_NUMBERS - middle) ** 2) / (2 * 1.5**2))
    return masses / masses.sum()


def _discrete_gaussian(rng: Rng, runs: int) -> tuple[Any, Any]:
    return tuple(rng.choice(_NUMBERS, size=runs, p=_discrete_masses(k)) for k in (0, 1))  # type: ignore[return-value]


def _exact_epsilon(delta: float) -> float:
    """Of the discrete Gaussian, up to 1e-12 from above."""
    p, q = _discrete_masses(0), _discrete_masses(1)
    low, high = 0.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        worst = max(np.maximum(a - math.exp(middle) * b, 0).sum() for a, b in ((p, q), (q, p)))
        low, high = (low, middle) if worst <= delta else (middle, high)
    return high


def _atoms(rng: Rng, runs: int) -> tuple[Any, Any]:
    """With probability 0.3 nothing is said, always in the same way."""
    return tuple(np.where(rng.random(runs) < 0.3, 7.0, x) for x in _laplace(rng, runs))  # type: ignore[return-value]


def _ties(rng: Rng, runs: int) -> tuple[Any, Any]:
    return tuple(np.floor(x) for x in _laplace(rng, runs))  # type: ignore[return-value]


def _twins(rng: Rng, runs: int) -> tuple[Any, Any]:
    """Both sides run with one seed."""
    noise = rng.laplace(size=runs)
    return noise, noise + 1


def _wide(rng: Rng, runs: int) -> tuple[Any, Any]:
    """More numbers in an output than there are runs; one of them tells."""
    left, right = rng.laplace(size=(runs, 600)), rng.laplace(size=(runs, 600))
    right[:, 0] += 1
    return left, right


def _texts(rng: Rng, runs: int) -> tuple[Any, Any]:
    return tuple(  # type: ignore[return-value]
        of_runs([("yes", None)[k] for k in _answered_truly(rng, runs, truth)]) for truth in (0, 1)
    )


def _dictionaries(rng: Rng, runs: int) -> tuple[Any, Any]:
    """Half of the budget for a word, half for a number, which is left out where the word is none."""
    sides = []
    for truth in (0, 1):
        words = _answered_truly(rng, runs, truth, 0.5)
        numbers = truth + rng.laplace(scale=2.0, size=runs)
        sides.append(
            of_runs(
                [
                    {"word": "up", "number": x} if w else {"word": None}
                    for w, x in zip(words.tolist(), numbers.tolist(), strict=True)
                ]
            )
        )
    return sides[0], sides[1]


LAWS = (
    Law("Laplace", _laplace, PureDP(1.0)),
    Law("Gaussian", _gaussian, GDP(1.0)),
    Law("Gaussian at delta 0.01", _gaussian, ApproxDP(GDP(1.0).epsilon_at(0.01), 0.01)),
    Law(
        "randomized response", lambda r, n: (_answered_truly(r, n, 0), _answered_truly(r, n, 1)), PureDP(1.0)
    ),
    Law("exponential mechanism", _exponential, PureDP(1.0)),
    Law("SVT 1", _sparse(1), PureDP(1.0)),
    Law("SVT 2", _sparse(2), PureDP(1.0)),
    Law("discrete Gaussian", _discrete_gaussian, ApproxDP(_exact_epsilon(0.01), 0.01)),
    Law("atoms", _atoms, PureDP(1.0)),
    Law("ties", _ties, PureDP(1.0)),
    Law("twin seeds", _twins, PureDP(1.0)),
    Law("600 numbers a run", _wide, PureDP(1.0)),
    Law("text and None", _texts, PureDP(1.0), odd=True),
    Law("dictionaries", _dictionaries, PureDP(1.0), odd=True),
)


@dataclass
class _Subject:
    law: Law
    rng: Rng

    def __post_init__(self) -> None:
        self._encoder = Encoder()

    def draw(self, count: int) -> tuple[Any, Any]:
        left, right = self.law.draw(self.rng, count)
        return self._encoder.rows(left, right) if self.law.odd else (left, right)


class _Worst:
    """Remembers the largest bound of all looks: whoever may stop at any time stops there."""

    largest = 0.0

    def begins(self, auditor: SequentialAuditor) -> None: ...

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        return ""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None: ...

    def seen(self, auditor: SequentialAuditor) -> None:
        self.largest = max(self.largest, auditor.epsilon_lower)


def _question(claim: Guarantee, runs: int, seed: int, delta: float | None = None) -> PrivacyQuestion:
    stated = StatedGuarantee(claim, Adjacency.REPLACE_ONE)
    return PrivacyQuestion(stated, "null", runs, delta=delta, label=Label(seed=seed))


def _too_high(claim: Guarantee, epsilon: float, delta: float) -> bool:
    return float(np.asarray(claim.privacy_profile(np.array([epsilon])))[0]) < delta - 1e-12 or (
        isinstance(claim, PureDP | ApproxDP) and epsilon > claim.epsilon * (1 + 1e-9)
    )


def batch(law: Law, seed: int, level: float = LEVEL) -> bool:
    """Whether a batch audit raises a false alarm."""
    subject = _Subject(law, np.random.default_rng((seed, 1)))
    found = BatchAuditor().audit(_question(law.claim, BATCH, seed), subject, ErrorShare(level))
    return found.verdict is Verdict.VIOLATED or _too_high(law.claim, found.epsilon_lower, found.delta)


def sequential(law: Law, seed: int, level: float = LEVEL) -> bool:
    """Whether a sequential audit raises a false alarm at any look."""
    subject, watch = _Subject(law, np.random.default_rng((seed, 2))), _Worst()
    found = BettingAuditor(watch).audit(_question(law.claim, SEQUENTIAL, seed), subject, ErrorShare(level))
    worst = max(watch.largest, found.epsilon_lower)
    return found.verdict is Verdict.VIOLATED or _too_high(law.claim, worst, found.delta)


_NOISE = (single_noise(0.0, 1.0), single_noise(1.0, 1.0))
_FIRST = StatedStep(lambda x, _: x, 0.6, 1.0)
_STEPS = (StatedStep(lambda x, _: x, 0.8, 1.0), StatedStep(lambda x, _: x + 1, 0.8, 1.0))
_CHAINS = tuple(StatedStructure((0.0,), (_FIRST, step)) for step in _STEPS)


def white_box(structures: tuple[StatedStructure, ...], delta: float, seed: int, level: float = LEVEL) -> bool:
    """Whether a white-box audit raises a false alarm; both structures release N(0, 1) and N(1, 1)."""
    truth = GDP(1.0)
    subject = _Subject(Law("", _gaussian, truth), np.random.default_rng((seed, 3)))
    stated = Stated(subject, (structures[0], structures[1]))
    found = WhiteBoxAuditor().audit(_question(truth, WHITE_BOX, seed, delta), stated, ErrorShare(level))
    return found.verdict is Verdict.VIOLATED or _too_high(truth, found.epsilon_lower, delta)


def one_run(name: str, claim: Guarantee, canaries: int, seed: int, level: float = LEVEL) -> bool:
    """Whether the audit of one training run raises a false alarm: a verdict, or a bound above the truth."""
    rng = np.random.default_rng((seed, 4))
    members = rng.random(canaries) < 0.5
    noise = rng.normal(size=canaries)
    if name == "one number":  # the sum of all canaries, and nothing else
        scores = noise * 1e-3 + members.sum() - canaries / 2 + rng.normal()
    elif name == "all at once":  # seldom, all coins are revealed
        scores = members + 0.0 if rng.random() < float(getattr(claim, "delta", 0.0)) else noise
    elif name == "randomized response":
        scores = np.where(rng.random(canaries) < 1 / (1 + math.exp(-1.0)), members, ~members) + 0.0
    elif name == "checkpoints":
        parts = rng.normal(size=(canaries, 3)) + members[:, None] / math.sqrt(3)
        scores = np.cumsum(parts, axis=1)
    else:
        scores = noise + members * (name == "orthogonal")
    found = audit_one_run(scores, members, claim, failure_probability=level, seed=seed)
    if found.verdict is Verdict.VIOLATED or _too_high(claim, found.epsilon_lower, found.delta):
        return True
    return isinstance(claim, GDP) and found.one_run is not None and found.one_run.mu_lower > claim.mu


ONE_RUN: tuple[tuple[str, Guarantee], ...] = (
    ("orthogonal", GDP(1.0)),
    ("one number", GDP(1.0)),
    ("checkpoints", GDP(1.0)),
    ("randomized response", PureDP(1.0)),
    ("all at once", ApproxDP(0.0, 0.008)),
    ("never seen", GDP(0.1)),
)
"""Training runs, and what is true of each canary."""

Row = tuple[str, Callable[..., bool]]


def rows() -> Iterator[Row]:
    """All rows: a name, and from a seed and a level to whether there was an alarm."""
    for law in LAWS:
        yield f"{law.name}, batch", lambda seed, level=LEVEL, law=law: batch(law, seed, level)
    for law in LAWS:
        yield f"{law.name}, sequential", lambda seed, level=LEVEL, law=law: sequential(law, seed, level)
    for name, structures in (("one step", _NOISE), ("two steps", _CHAINS)):
        for delta in (1e-1, 1e-5):

            def audit(seed: int, level: float = LEVEL, s: Any = structures, d: float = delta) -> bool:
                return white_box(s, d, seed, level)

            yield f"Gaussian in {name} at delta {delta:g}, white box", audit
    for name, claim in ONE_RUN:
        for canaries in (100, 1000):

            def run(
                seed: int, level: float = LEVEL, n: str = name, c: Guarantee = claim, m: int = canaries
            ) -> bool:
                return one_run(n, c, m, seed, level)

            yield f"{name}, {canaries} canaries, one run", run


def interval(alarms: int, audits: int) -> str:
    """Exact, 95 % on both sides together."""
    low, high = clopper_pearson_lower(alarms, audits, 0.025), clopper_pearson_upper(alarms, audits, 0.025)
    return f"{float(low):.4f} to {float(high):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--audits", type=int, default=10_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chosen = [row for row in rows() if given.only.lower() in row[0].lower()]
    if not chosen:
        parser.error(f"no row has {given.only!r} in its name")
    each = math.ceil(given.audits / len(chosen))
    print(
        f"| true claim, level {LEVEL:g} | audits | false alarms | rate, 95 % | CPU s |\n| --- | --- | --- | --- | --- |"
    )
    total = 0
    for name, audit in chosen:
        begin = time.process_time()
        alarms = sum(audit(given.seed + k) for k in range(each))
        total += alarms
        seconds = time.process_time() - begin
        print(f"| {name} | {each} | {alarms} | {interval(alarms, each)} | {seconds:.0f} |", flush=True)
    count = each * len(chosen)
    print(f"| all | {count} | {total} | {interval(total, count)} | |")
    sys.exit(int(float(clopper_pearson_lower(total, count, 0.025)) > LEVEL))


if __name__ == "__main__":
    main()
