"""Properties to check of an own object, each as one call that raises AssertionError with what was found."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpverify.auditing import PrivacyAudit, audit_privacy
from dpverify.evidence import Verdict
from dpverify.privacy import Adjacency, Guarantee
from dpverify.running import Executor, Mechanism, run


def check_guarantee(guarantee: Guarantee, *, largest_epsilon: float = 20.0, points: int = 257) -> None:
    """Laws that every privacy profile obeys, on a grid of epsilon.

    It lies in [0, 1], falls in epsilon, is convex in exp(epsilon), and is at least what group privacy leaves of
    itself: delta(epsilon) never falls below delta(0) - (exp(epsilon) - 1).

    Raises:
        AssertionError: naming the law and the epsilon where it fails.
    """
    epsilons = np.linspace(0.0, largest_epsilon, points)
    profile = np.asarray(guarantee.privacy_profile(epsilons))
    growth = np.exp(epsilons)
    rounding = 1e-9
    _law("lies in [0, 1]", epsilons, (profile >= 0) & (profile <= 1))
    _law("falls in epsilon", epsilons[1:], np.diff(profile) <= rounding * profile[:-1])
    slopes = np.diff(profile) / np.diff(growth)
    _law("is convex in exp(epsilon)", epsilons[1:-1], np.diff(slopes) >= -rounding * np.abs(slopes[:-1]))
    _law("falls no faster than exp(epsilon) grows", epsilons, profile >= profile[0] - (growth - 1) - rounding)


def _law(name: str, where: Any, holds: Any) -> None:
    if not np.all(holds):
        raise AssertionError(
            f"The privacy profile breaks a law at epsilon = {where[~holds][0]:g}: it {name}."
        )


def check_mechanism(mechanism: Mechanism, data: Any, *, runs: int = 64, seed: int = 0) -> None:
    """What running a mechanism relies on: same seed, same bits; other seed, other bits; chunks do not matter.

    A mechanism without randomness fails, since its outputs do not depend on the seed.

    Raises:
        AssertionError: naming what differs.
    """
    sizes: dict[str, Any] = {"runs": runs, "block_size": max(1, runs // 4)}
    first = run(mechanism, data, seed=seed, **sizes).points
    if not np.array_equal(first, run(mechanism, data, seed=seed, **sizes).points):
        raise AssertionError("The same seed gives other outputs: some randomness does not come from `rng`.")
    threaded = run(
        mechanism, data, seed=seed, executor=Executor("threads", 2), memory_limit=1, **sizes
    ).points
    if not np.array_equal(first, threaded):
        raise AssertionError(
            "Two threads give other outputs than one: blocks share something that they change."
        )
    if np.array_equal(first, run(mechanism, data, seed=seed + 1, **sizes).points):
        raise AssertionError("Another seed gives the same outputs: the mechanism does not use `rng`.")


def check_private(
    mechanism: Mechanism,
    left: Any,
    right: Any,
    claim: Guarantee,
    *,
    runs: int = 20_000,
    seed: int = 0,
    failure_probability: float = 1e-6,
    executor: Executor | None = None,
) -> PrivacyAudit:
    """Audit a claim on one pair of neighboring data sets; a correct claim fails at most so often as said.

    Returns the audit, whose `detectable` says what it would have found on the pair that shows it best.

    Raises:
        AssertionError: if the claim is violated, with the event, the bounds and the seed.
    """
    samples = [
        run(mechanism, data, runs=runs, seed=(seed, side), executor=executor).points
        for side, data in enumerate((left, right))
    ]
    first, second = (points.reshape(points.shape[0], -1) for points in samples)
    audit = audit_privacy(
        first,
        second,
        claim,
        adjacency=Adjacency.REPLACE_ONE,
        failure_probability=failure_probability,
        seed=seed,
    )
    if audit.verdict is Verdict.VIOLATED:
        raise AssertionError(f"{claim} is violated (seed {seed}, {runs} runs). {audit.reason}")
    return audit
