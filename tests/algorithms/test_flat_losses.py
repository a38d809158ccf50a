"""Losses that no point or no record can change: one sentence from every constructor, or the right answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from every_algorithm import ALGORITHMS, examples

from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    LocalizedSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.examples import Setting
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.problems import Ball, Box, Dataset, Logistic, Problem
from dpverify.running import Randomness
from dpverify.statements.paper import loaded

N = 6
DATA = Dataset(0.5 * np.eye(2)[np.arange(N) % 2], np.ones(N))


@dataclass(frozen=True)
class Flat:
    """A user's loss that is 0 everywhere."""

    lipschitz_constant: float = 0.0
    smoothness: float = 0.0
    strong_convexity: float = 0.0

    def value(self, w: Any, x: Any, y: Any) -> Any:
        return 0.0 * w[:, 0]

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        return 0.0 * w


@dataclass(frozen=True)
class SameForAll(Flat):
    """One that is the same for all records."""

    lipschitz_constant: float = 1.0
    smoothness: float = 1.0
    gradient_sensitivity: float = 0.0


LOSSES: dict[str, Flat] = {
    "flat": Flat(),
    "flat, declared strongly convex": Flat(0.0, 1.0, 1.0),
    "the same for all": SameForAll(),
    "the same for all, strongly convex": SameForAll(1.0, 1.0, 1.0),
}

CASES = [
    (id_, note)
    for id_ in ALGORITHMS
    if {field.name for field in dataclasses.fields(loaded(ALGORITHMS[id_]))}
    & {"problem", "losses", "solver", "algorithm"}
    for note in examples(id_)
]
"""The examples of every algorithm that is given a problem, losses, or another algorithm."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize(("id_", "note"), CASES)
def test_flat_losses(id_: str, note: str, kind: str) -> None:
    try:
        made = examples(id_, Setting(N, 2, loss=LOSSES[kind]))[note]()
    except DpverifyError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    calls: list[Callable[[], Any]] = [lambda: made.guarantees(N)]
    if hasattr(made, "guarantee_at"):
        calls.append(lambda: made.guarantee_at(N, 1))
    for optional in ("risk_bound", "queries", "sampling_error", "gradient_query_count"):
        method = getattr(made, optional, None)
        if method is not None:
            calls.append(lambda method=method: method(N))
    # these take their proved number of steps, on a loss that they take for steep
    if not isinstance(made, SamplingInConvexSet | BoostedSampling | EfficientExponentialSampling | GridWalk):
        calls.append(lambda: made(DATA, rng=Randomness(1), runs=2))
    for call in calls:
        try:
            call()
        except DpverifyError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_localized_sampling_of_a_flat_loss() -> None:
    with pytest.raises(InvalidArgumentError, match="Lipschitz constant above 0"):
        LocalizedSampling(Problem(Flat(), Box.cube(2, 1.0)), 1.0, 0.1)


@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-100), (1.0, 1e-200), (1e-9, 1e-240), (20.0, 1e-200), (1e-300, 1e-200)]
)
def test_the_regularized_mechanism_at_tiny_deltas(dimension: int, epsilon: float, delta: float) -> None:
    mechanism = RegularizedExponentialMechanism(Problem(Logistic(), Ball(dimension, 1.0)), epsilon, delta)
    if epsilon == 1e-300:
        with pytest.raises(InvalidArgumentError, match="delta"):
            mechanism.guarantees(N)
        return
    assert mechanism.guarantees(N)
    mu = mechanism.gdp_mu(N)
    with mpmath.workdps(600):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert exact <= delta * (1 + 1e-9)
        assert exact >= delta / 4


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-251])
def test_deltas_that_pay_for_no_sampler(delta: float) -> None:
    mechanism = RegularizedExponentialMechanism(Problem(Logistic(), Ball(3, 1.0)), 1.0, delta)
    with pytest.raises(InvalidArgumentError, match=r"delta .* above 3e-250"):
        mechanism.guarantees(N)
