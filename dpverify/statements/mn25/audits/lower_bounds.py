"""The hard instance and the tracing attack of mn25 on their data, which the table's rows audit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.mn25.fingerprinting import LEMMA_BOUND, Fingerprinting, binarized, tracing_advantage
from dpverify.algorithms.mn25.hard_instance import HardInstance, OnHardInstance
from dpverify.ledger.origins import AsPrinted, Corrected, Origin
from dpverify.problems import Ball, Dataset, Linear, Problem, load
from dpverify.statements.audit_parts import made
from dpverify.statements.audit_rows import UNSTATED, Expectation, Law, ReadOff
from dpverify.statements.mn25.audits.cases import DELTA


def _column(number: int, lower: float, upper: float, quantity: str, block_size: int = 0) -> ReadOff:
    """One number of each run's output."""
    return ReadOff(lambda runs: runs.points[:, number], lower, upper, quantity, block_size)


# ------------------------------------------------------------------------------------------ hard instance

HIDDEN = 16
"""K: the digits have 64 features, so that their records can be the hidden directions."""
LARGEST_LOSS = 2.0
"""On the unit ball |<w, X_k> - C_1 alpha| is at most 1 + C_1 alpha <= 2, and 2 ||Pi_V w|| at most 2."""
FACTS = "mn25.instance-facts"


def _instance(source: Literal["uniform", "records"]) -> HardInstance:
    return HardInstance.with_directions(64, HIDDEN, directions_from=source)


def unseen(instance: HardInstance, queries: int, said: str, size: float = 0.0) -> Expectation:
    """Fewer true answers than directions: the excess risk stays at C_1 alpha, whatever the rate."""
    mechanism = OnHardInstance(instance, steps=queries)
    return Expectation(
        mechanism,
        load("digits"),
        _column(0, 0.0, LARGEST_LOSS, "excess risk of the subgradient method, L = 2, B = 1", 500),
        mechanism.least_excess_risk(queries),
        "at least C_1 alpha = 1 / sqrt(K) after fewer than K true answers",
        AsPrinted(FACTS, "excess risk at least C_1 alpha = 1 / sqrt(K)", "every K <= d / 2"),
        said,
        size,
        at_least=True,
    )


def few_answers(name: str) -> Iterator[Expectation]:
    """With directions at random, or from the digits."""
    instance, said = _instance("uniform"), f"random, K = {HIDDEN}"
    if name == "digits":
        instance, said = _instance("records"), f"digits as directions, K = {HIDDEN}"
    for queries in (8, HIDDEN - 1):
        yield unseen(instance, queries, said, float(queries))


def found() -> Iterator[Expectation]:
    """A true answer shows one direction at most."""
    for queries in (6, 12):
        yield Expectation(
            OnHardInstance(_instance("records"), steps=queries),
            load("digits"),
            _column(1, 0.0, float(HIDDEN), "directions found", 200),
            float(queries),
            "at most one per query",
            AsPrinted(FACTS, "one direction for each query at most", "every K <= d / 2"),
            f"digits as directions, K = {HIDDEN}",
            float(queries),
        )


def private_on_instance() -> Iterator[Expectation]:
    """bst14's Algorithm 1 on the instance: a measurement, since Theorem 1 is about far larger dimensions."""
    n, dimension, directions = 16, 16, 4
    problem = Problem(Linear(), Ball(dimension, 1.0))
    instance = HardInstance.with_directions(dimension, directions)
    for epsilon in (2.0, 16.0):
        yield Expectation(
            OnHardInstance(instance, NoisyGradientDescent(problem, epsilon, DELTA, steps=64)),
            Dataset(np.zeros((n, dimension)), np.ones(n), f"{n} copies", "all losses are equal"),
            _column(0, 0.0, LARGEST_LOSS, "excess risk of a private algorithm, L = 2, B = 1", 200),
            math.inf,
            "none: Theorem 1 is about dimensions of at least C_2 / alpha^2",
            UNSTATED,
            f"random hard instances, d = {dimension}, K = {directions}, n = {n}",
            epsilon,
        )


def projected_part(part: str) -> Law:
    """Uniform subspaces: the squared length of a unit vector's projection onto m of d dimensions is a Beta."""
    dimension, directions = 8, 3
    first, last, words = {
        "direction": (1, 2, "||Pi e_1||^2 for the second direction"),
        "subspace": (directions, directions + dimension // 2, "||Pi_V e_1||^2"),
    }[part]
    law = scipy.stats.beta((last - first) / 2, (dimension - last + first) / 2)
    instance = HardInstance.with_directions(dimension, directions)

    def squared_part(points: Any) -> Any:
        return np.sum(points[:, first:last, 0] ** 2, axis=1)

    said = f"drawn, d = {dimension}, K = {directions}"
    return Law(instance, load("digits"), squared_part, words, law.cdf, 1e-12, said, blind=None)


def instance_queries() -> tuple[OnHardInstance, Dataset]:
    """Of the subgradient method."""
    data = replace(load("digits"), name="digits as directions")
    return OnHardInstance(_instance("records"), steps=40), data


# ------------------------------------------------------------------------------------------ tracing

TRACED_EPSILON = 0.5
"""Of the private estimator: small enough that its bound is below what every accurate estimator gives away."""


def _population(name: str) -> tuple[Dataset, dict[str, Any], str]:
    """The population, the attack's sizes, and what to call them."""
    if name == "hard":
        sizes = {"members": 4, "dimension": 200}
        return made(np.ones((1, 1)), "not used"), sizes, "hard distribution, n = 4, d = 200"
    data = binarized(load(name))
    return data, {"members": 2}, f"{data.name} as the population, n = 2, d = {data.d}"


def _statistic(column: int, whose: str) -> ReadOff:
    return _column(column, -2.0, 2.0, f"statistic of a {whose}")


def exact_trace(attack: Fingerprinting, data: Dataset, said: str) -> Expectation:
    """Members of a population, traced exactly as often as is foreseen."""
    origin = Corrected(
        "mn25.lem15",
        "a sum of at least 1/3 over the members",
        "exact for this population: 1 - ||theta||^2",
        "the mean of the members",
    )
    reading = _statistic(1, "member, estimator without noise")
    least, claim = attack.accurate_sum(data) / attack.members, "(1 - ||theta||^2) / n, exactly"
    return Expectation(attack, data, reading, least, claim, origin, said, at_least=True)


def traced(name: str) -> Iterator[Expectation]:
    """Without privacy members are traced, and nobody else is."""
    data, sizes, said = _population(name)
    attack = Fingerprinting(**sizes)
    member = exact_trace(attack, data, said)
    if name == "hard":
        printed = "0 for strangers, and a sum of at least 1/3 over the members"
        origin = AsPrinted("mn25.lem15", printed, "every accurate estimator")
        bound = LEMMA_BOUND / attack.members
        member = replace(member, bound=bound, claim="at least 1 / (3 n)", origin=origin)
    reading = _statistic(2, "non-member")
    stranger = replace(member, reading=reading, bound=0.0, claim="0", at_least=False)
    yield from (stranger, replace(stranger, at_least=True), member)


def not_traced(name: str) -> Iterator[Expectation]:
    """With privacy the same statistic is small."""
    data, sizes, said = _population(name)
    attack = Fingerprinting(**sizes, epsilon=TRACED_EPSILON, delta=DELTA)
    yield Expectation(
        attack,
        data,
        _statistic(1, "member, private estimator"),
        attack.private_sum(data, TRACED_EPSILON, DELTA) / attack.members,
        "at most sinh(epsilon) sqrt(v) + 4 delta, v the largest variance; or Lemma 14's, corrected",
        Corrected(
            "mn25.lem14",
            "a threshold sqrt(3 d ln(1/delta)) that does not give the next line",
            "from the definition of privacy, with the exact variance; Lemma 14's form with 2 sqrt(d ln(1/delta))",
            "epsilon <= ln(1/delta)",
        ),
        said,
    )


def _advantage(private: bool, name: str) -> Iterator[Expectation]:
    """Lemma 14's first display: P[Z_i > tau] <= e^epsilon P[Z' > tau] + delta under privacy, and not without."""
    data, sizes, said = _population(name)
    attack = Fingerprinting(**sizes, epsilon=TRACED_EPSILON if private else None, delta=DELTA)
    threshold = 0.7 * attack.accurate_sum(data) / attack.members
    kind = "private estimator" if private else "estimator without noise"
    origin: Origin = AsPrinted(
        "mn25.lem14", "P[Z_i > tau] <= e^epsilon P[Z' > tau] + delta", "every (epsilon, delta)-DP estimator"
    )
    yield Expectation(
        attack,
        data,
        ReadOff(
            lambda runs: tracing_advantage(runs.points, threshold, TRACED_EPSILON),
            -math.exp(TRACED_EPSILON),
            1.0,
            f"P[member above {threshold:.3g}] - e^epsilon P[non-member above it], {kind}",
        ),
        DELTA,
        "at most delta" if private else "more than delta, so it is not (epsilon, delta)-DP",
        origin,
        f"{said}, epsilon = {TRACED_EPSILON:g}, delta = {DELTA:g}",
        at_least=not private,
    )


advantage, private_advantage = partial(_advantage, False), partial(_advantage, True)

# ------------------------------------------------------------------------------------------ real size


def unseen_at_size() -> Iterator[Expectation]:
    """One query less than there are directions, in the records' dimension."""
    d, hidden, data = 64, 32, load("digits")
    instance = HardInstance.with_directions(d, hidden, directions_from="records")
    yield unseen(instance, hidden - 1, f"{data.n} digits as directions, d = {d}, K = {hidden}")


def traced_at_size() -> Iterator[Expectation]:
    """Two members of all records, whose features are signs."""
    data = binarized(load("digits"))
    said = f"{data.name}, {data.n} records, as the population, n = 2, d = {data.d}"
    yield exact_trace(Fingerprinting(members=2), data, said)
