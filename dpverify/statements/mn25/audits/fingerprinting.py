"""Audits of the tracing attack (mn25, Appendix C.1.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.mn25.fingerprinting import LEMMA_BOUND, Fingerprinting, binarized, tracing_advantage
from dpverify.auditing import Bound
from dpverify.auditing.subjects import ValuesOf
from dpverify.problems import Dataset, load
from dpverify.statements.mn25.audits.cases import Column
from dpverify.statements.plans import MEAN, AsPrinted, Cases, Corrected, Plan, Profile, along

DELTA = 1e-5


# ------------------------------------------------------------------------------------------ tracing

TRACED_EPSILON = 0.5
"""Of the private estimator: small enough that its bound is below what every accurate estimator gives away."""


@dataclass(frozen=True)
class Advantage:
    """The tracer's success against members, minus e^epsilon times its false alarms."""

    threshold: float
    epsilon: float

    def __call__(self, runs: Any) -> Any:
        """Shape (runs,)."""
        return tracing_advantage(runs.points, self.threshold, self.epsilon)


def _population(name: str) -> tuple[Dataset, dict[str, Any], str]:
    """The population, the attack's sizes, and what to call them."""
    if name == "hard":
        data = Dataset(np.ones((1, 1)), np.ones(1), "not used")
        return data, {"members": 4, "dimension": 200}, "hard distribution, n = 4, d = 200"
    data = binarized(load(name))
    return data, {"members": 2}, f"{data.name} as the population, n = 2, d = {data.d}"


def _traced(name: str, profile: Profile) -> Cases:
    """Without privacy members are traced, and nobody else is."""
    data, sizes, words = _population(name)
    attack = Fingerprinting(**sizes)
    n, runs = attack.members, profile.runs(10_000)
    least = (LEMMA_BOUND if name == "hard" else attack.accurate_sum(data)) / n
    common: dict[str, Any] = {
        "data": words,
        "runs": runs,
        "origin": AsPrinted(
            "mn25.lem15",
            "0 for strangers, and a sum of at least 1/3 over the members",
            "every accurate estimator",
        )
        if name == "hard"
        else Corrected(
            "mn25.lem15",
            "a sum of at least 1/3 over the members",
            "exact for this population: 1 - ||theta||^2",
            "the mean of the members",
        ),
    }
    stranger = ValuesOf(attack, data, Column(2), -2.0, 2.0, "statistic of a non-member")
    member = ValuesOf(attack, data, Column(1), -2.0, 2.0, "statistic of a member, estimator without noise")
    traced = "at least 1 / (3 n)" if name == "hard" else "(1 - ||theta||^2) / n, exactly"
    return (
        (Bound(bound=0.0, claim="0", **common), stranger),
        (Bound(bound=0.0, claim="0", at_least=True, **common), stranger),
        (Bound(bound=least, claim=traced, at_least=True, **common), member),
    )


def _not_traced(name: str, profile: Profile) -> Cases:
    """With privacy the same statistic is small."""
    data, sizes, words = _population(name)
    attack = Fingerprinting(**sizes, epsilon=TRACED_EPSILON, delta=DELTA)
    return (
        (
            Bound(
                bound=attack.private_sum(data, TRACED_EPSILON, DELTA) / attack.members,
                claim="at most sinh(epsilon) sqrt(v) + 4 delta, v the largest variance; or Lemma 14's, corrected",
                data=words,
                runs=profile.runs(10_000),
                origin=Corrected(
                    "mn25.lem14",
                    "a threshold sqrt(3 d ln(1/delta)) that does not give the next line",
                    "from the definition of privacy, with the exact variance; Lemma 14's form with "
                    "2 sqrt(d ln(1/delta))",
                    "epsilon <= ln(1/delta)",
                ),
            ),
            ValuesOf(
                attack,
                data,
                Column(1),
                -2.0,
                2.0,
                "statistic of a member, private estimator",
            ),
        ),
    )


def _advantage(name: str, private: bool, profile: Profile) -> Cases:
    """Lemma 14's first display: P[Z_i > tau] <= e^epsilon P[Z' > tau] + delta under privacy, and not without."""
    data, sizes, words = _population(name)
    attack = Fingerprinting(**sizes, epsilon=TRACED_EPSILON if private else None, delta=DELTA)
    threshold = 0.7 * attack.accurate_sum(data) / attack.members
    kind = "private estimator" if private else "estimator without noise"
    return (
        (
            Bound(
                bound=DELTA,
                claim="at most delta" if private else "more than delta, so it is not (epsilon, delta)-DP",
                data=f"{words}, epsilon = {TRACED_EPSILON:g}, delta = {DELTA:g}",
                runs=profile.runs(20_000),
                at_least=not private,
                origin=AsPrinted(
                    "mn25.lem14",
                    "P[Z_i > tau] <= e^epsilon P[Z' > tau] + delta",
                    "every (epsilon, delta)-DP estimator",
                ),
            ),
            ValuesOf(
                attack,
                data,
                Advantage(threshold, TRACED_EPSILON),
                -math.exp(TRACED_EPSILON),
                1.0,
                f"P[member above {threshold:.3g}] - e^epsilon P[non-member above it], {kind}",
            ),
        ),
    )


def _plans() -> tuple[Plan, ...]:
    trace = "mn25.fingerprint"
    found: list[Plan] = []
    for name in ("hard", "digits", "breast-cancer"):
        words = "the hard distribution" if name == "hard" else name
        found += [
            Plan(
                f"{trace}/{name}/traced",
                trace,
                f"Tracing the mean, {words}",
                MEAN,
                along(partial(_traced, name)),
            ),
            Plan(
                f"{trace}/{name}/private",
                trace,
                f"Tracing a private mean, {words}",
                MEAN,
                along(partial(_not_traced, name)),
            ),
            Plan(
                f"{trace}/{name}/advantage",
                trace,
                f"A tracer's advantage without privacy, {words}",
                MEAN,
                along(partial(_advantage, name, False)),
            ),
            Plan(
                f"{trace}/{name}/private-advantage",
                trace,
                f"A tracer's advantage under privacy, {words}",
                MEAN,
                along(partial(_advantage, name, True)),
            ),
        ]
    return tuple(found)


PLANS = _plans()
