"""What is refused because of the records, or of random numbers, stands in the guarantee's conditions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from every_algorithm import CURVED, EVERY, MEAN, N, line_data

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    LocalizedSampling,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.local_solvers import LocalExponentialSampling, LocalNoisyGradientDescent
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation, OutputPerturbation
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.errors import InvalidDataError, NotGuaranteedError
from dpverify.privacy import Condition, ConditionKind
from dpverify.problems import Ball, Dataset, Logistic, Problem, Squared
from dpverify.running import Randomness

DISK = Problem(Logistic(), Ball(2, 1.0))

REFUSE: dict[str, Any] = {
    "output perturbation": OutputPerturbation(MEAN, 1.0, slack=1e-300),
    "its Gaussian form": GaussianOutputPerturbation(MEAN, 1.0, 1e-5, slack=1e-300),
    "objective perturbation": ObjectivePerturbation(CURVED, 1.0, accuracy=1e-300),
    "its Gaussian form with a profile": ObjectivePerturbation(CURVED, 1.0, 1e-5, accuracy=1e-300),
    "localization": Localization(MEAN, 1.0, slack=1e-300),
    "approximate localization": ApproximateLocalization(MEAN, 1.0, 1e-5, steps=2, slack=1e-300),
    "boosting": Boosting(OutputPerturbation(MEAN, 1.0, slack=1e-300), repeats=2),
    "rejection from cells": ExponentialSampling(CURVED, 1e9, method="cells", largest_cells=1),
    "rejection of quadratics": ExponentialSampling(
        Problem(Squared(1.0), Ball(6, 1.0)), 1e7, method="quadratic"
    ),
    "the regularized mechanism": RegularizedExponentialMechanism(
        DISK, 300.0, 1e-3, inverse_temperature=1e9, regularization=1e9, sampler="rejection"
    ),
}


def never_refused(algorithm: Any, n: int) -> list[bool]:
    return [
        any(condition.kind is ConditionKind.NEVER_REFUSED for condition in stated.conditions)
        for stated in algorithm.guarantees(n)
    ]


@pytest.mark.parametrize("name", REFUSE)
def test_a_refusal_that_looks_at_the_records_is_a_condition(name: str) -> None:
    algorithm = REFUSE[name]
    d = algorithm.problem.constraint.dimension
    features = np.random.default_rng(1).normal(size=(N, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    # one feature each would be solved exactly
    data = Dataset(0.9 * features + 0.01 if d > 1 else features * [[0.31], [0.7], [0.13], [0.99]], np.ones(N))
    with pytest.raises((InvalidDataError, NotGuaranteedError)):
        algorithm(data, rng=Randomness(1), runs=3)
    found = never_refused(algorithm, N)
    assert found
    assert all(found)
    at = getattr(algorithm, "guarantee_at", None)
    if at is not None:
        assert any(one.kind is ConditionKind.NEVER_REFUSED for one in at(N, 1).conditions)


# a sampler on balls takes their centers, a trial records in more dimensions
@pytest.mark.parametrize("name", [name for name in EVERY if not name.startswith("(") and "trial" not in name])
def test_what_states_that_it_never_refuses_does_not(name: str) -> None:
    """On extreme records, too: all alike, all at the borders, and opposite ones."""
    algorithm = EVERY[name]()
    stated = never_refused(algorithm, N)
    if not stated or any(stated):
        return
    for values in ([1.0] * 4, [-1.0] * 4, [0.0] * 4, [1.0, -1.0, 1.0, -1.0], [1e-300, 1.0, -1e-17, 1.0]):
        output = algorithm(line_data(values), rng=Randomness(1), runs=3)
        assert np.all(np.isfinite(np.asarray(output.points)))


def test_most_algorithms_never_refuse() -> None:
    found = [not any(stated) for make in EVERY.values() if (stated := never_refused(make(), N))]
    assert sum(found) > len(found) / 2


def test_extensions_from_sets_that_are_no_cubes_can_be_refused() -> None:
    ball = Problem(Logistic(), Ball(2, 1.0))
    for kind, options in (
        (BoostedSampling, {"scale": 0.01, "distance": 0.5}),
        (EfficientExponentialSampling, {"epsilon": 1.0}),
        (LocalizedSampling, {"epsilon": 1.0, "radius": 0.2, "shape": "ball"}),
    ):
        assert all(never_refused(kind(ball, **options), 3))
        assert not any(never_refused(kind(ball, **options, extension="loss"), 3))


def test_local_solvers_say_that_their_sets_are_given() -> None:
    given = Condition(ConditionKind.GIVEN_INPUT, "the sets")
    for solver in (
        LocalExponentialSampling(ExponentialSampling(MEAN, 1.0)),
        LocalNoisyGradientDescent(NoisyGradientDescent(MEAN, 1.0, 1e-5, steps=2)),
    ):
        assert all(given in stated.conditions for stated in solver.guarantees(N))
    # localization makes the sets of what it could release
    kinds = {condition.kind for condition in Localization(MEAN, 1.0).guarantees(N).headline.conditions}
    assert kinds == {ConditionKind.NEVER_REFUSED}


def test_wrappers_around_what_may_refuse_say_so() -> None:
    assert all(never_refused(HuberizedObjectivePerturbation(0.5, 1.0), N))
    both = dataclasses.replace(REFUSE["boosting"], algorithm=OutputPerturbation(MEAN, 1.0))
    assert (
        both.guarantees(N).headline.conditions
        == OutputPerturbation(MEAN, 0.25).guarantees(N).headline.conditions
    )
