"""A withdrawn guarantee is stated by no method of any algorithm; a stated one holds its records to their bounds."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from every_algorithm import CUBE, EVERY, LINE, MEAN, N, all_classes_that_can_withdraw, line_data

from dpverify.algorithms.bst14.boosting import ForPrivacy
from dpverify.algorithms.bst14.convex_sampling import LocalizedSampling
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.local_solvers import (
    LocalExponentialSampling,
    LocalNoisyGradientDescent,
    LocalWalk,
)
from dpverify.algorithms.bst14.localization import Localization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import Guarantee, NoisyIteration, StatedGuarantee
from dpverify.problems import Dataset
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.running import Randomness
from dpverify.statements.paper import papers

ARGUMENTS = {"n": N, "index": 2}
CAN_WITHDRAW = [name for name, make in EVERY.items() if hasattr(make(), "withdraw_guarantee")]
STATES_NOTHING = {"bst14.alg5", "gll22.alg1", "gll22.alg2", "mn25.fingerprint"}
"""Withdrawing there is about accuracy, or about what is attacked."""


def _is_privacy(found: Any) -> bool:
    if isinstance(found, (Guarantee, StatedGuarantee, NoisyIteration)):
        return True
    if callable(found) and type(found).__name__.endswith(("Shifts", "Profile", "Curve")):
        return True
    return isinstance(found, (tuple, list, Guarantees)) and any(_is_privacy(part) for part in found)


def privacy_stated(algorithm: Any) -> Iterator[str]:
    """Names of the public members whose value, or result for n records and an index, is about privacy."""
    for name in dir(type(algorithm)):
        if name.startswith("_") or name in {"for_privacy", "localized"}:
            continue
        member = inspect.getattr_static(type(algorithm), name)
        try:
            found = getattr(algorithm, name)
            if inspect.isfunction(member):
                parameters = inspect.signature(found).parameters.values()
                needed = {p.name for p in parameters if p.default is inspect.Parameter.empty}
                if not needed <= set(ARGUMENTS):
                    continue
                given = {p.name: ARGUMENTS[p.name] for p in parameters if p.name in ARGUMENTS}
                found = found(**given)
        except (NotGuaranteedError, InvalidArgumentError):
            continue
        if _is_privacy(found):
            yield name


def test_every_algorithm_and_every_class_that_can_withdraw_is_here() -> None:
    ids = {name.partition(" (")[0] for name in EVERY if not name.startswith("(")}
    assert ids == {id_ for paper in papers().values() for id_ in paper.algorithms}
    kinds = {type(make()) for make in EVERY.values()}
    assert set(all_classes_that_can_withdraw()) <= kinds


@pytest.mark.parametrize("name", CAN_WITHDRAW)
def test_a_withdrawn_guarantee_is_stated_nowhere(name: str) -> None:
    algorithm = EVERY[name]()
    if name not in STATES_NOTHING:
        assert "guarantees" in set(privacy_stated(algorithm))
    withdrawn = dataclasses.replace(algorithm, withdraw_guarantee=True)
    assert list(privacy_stated(withdrawn)) == []
    assert not withdrawn.guarantees(N)
    again = dataclasses.replace(withdrawn, withdraw_guarantee=False)
    assert [str(one) for one in again.guarantees(N)] == [str(one) for one in algorithm.guarantees(N)]


def test_the_search_for_statements_finds_all_kinds() -> None:
    assert set(privacy_stated(EVERY["fmtt18.alg1"]())) == {
        "guarantee_at",
        "guarantees",
        "rdp_at",
        "theorem_at",
    }
    assert "noisy_iteration" in set(privacy_stated(EVERY["fmtt18.cni"]()))
    assert {"oracle_guarantee", "profile"} <= set(privacy_stated(EVERY["mn25.alg3"]()))
    assert "total_renyi" in set(privacy_stated(EVERY["fmtt18.multitask"]()))
    assert "estimator_guarantees" in set(privacy_stated(EVERY["mn25.fingerprint"]()))


@pytest.mark.parametrize(
    "made",
    [
        LocalExponentialSampling(ExponentialSampling(LINE, 1.0, withdraw_guarantee=True)),
        LocalNoisyGradientDescent(NoisyGradientDescent(LINE, 1.0, 1e-5, steps=2, withdraw_guarantee=True)),
        LocalWalk(LocalizedSampling(CUBE, 1.0, 0.2, withdraw_guarantee=True)),
        ForPrivacy(PNSGD, MEAN, 1.0, 1e-5, (("withdraw_guarantee", True),)),
        Localization(
            MEAN,
            2.0,
            solver=LocalExponentialSampling(ExponentialSampling(MEAN, 1.0, withdraw_guarantee=True)),
        ),
    ],
    ids=lambda made: type(made).__name__,
)
def test_what_is_made_of_a_withdrawn_one_states_nothing(made: Any) -> None:
    try:
        assert not made.guarantees(N)
    except TypeError:
        # for_privacy does not take the argument, so that such a thing cannot be made
        assert isinstance(made, ForPrivacy)


def _far(values: Any) -> Dataset:
    return line_data(100.0 * np.asarray(values))


BOUNDED = {
    name
    for name in CAN_WITHDRAW
    # maps of the user's own; records that are shortened; populations drawn inside; no loss of records; centers needed
    if name
    not in {
        "fmtt18.cni",
        "gll22.lower-instance (solver)",
        "mn25.fingerprint",
        "mn25.hard-instance (trial)",
        "(bst14.alg7 on balls)",
    }
}


@pytest.mark.parametrize("name", sorted(BOUNDED))
def test_a_stated_guarantee_refuses_records_outside_their_bounds(name: str) -> None:
    data, algorithm = _far([1.0, -1.0, 1.0, 1.0]), EVERY[name]()
    with pytest.raises(InvalidDataError, match="norm"):
        algorithm(data, rng=Randomness(1), runs=2)


@pytest.mark.parametrize("name", sorted(BOUNDED))
def test_without_a_guarantee_all_records_are_taken(name: str) -> None:
    algorithm = dataclasses.replace(EVERY[name](), withdraw_guarantee=True)
    if name in ("bst14.alg-boost", "mn25.sco-to-erm", "mn25.erm-to-sco"):
        inner = "algorithm" if name == "bst14.alg-boost" else "solver"
        inside = dataclasses.replace(getattr(algorithm, inner), withdraw_guarantee=True)
        algorithm = dataclasses.replace(algorithm, **{inner: inside})
    output = algorithm(_far([1.0, -1.0, 1.0, 1.0]), rng=Randomness(1), runs=2)
    assert np.all(np.isfinite(np.asarray(output.points)))


def test_a_ball_intersection_is_what_local_solvers_run_on() -> None:
    """The solver inside of a withdrawn localization runs on records of any norm."""
    solver = LocalExponentialSampling(ExponentialSampling(LINE, 1.0, withdraw_guarantee=True))
    sets = BallIntersections(LINE.constraint, np.zeros((3, 1)), 0.1)
    points = solver.solve(_far([0.01, 0.02]), sets, rng=Randomness(1), runs=3).points
    assert np.all(np.abs(np.asarray(points)) <= 0.1 + 1e-12)
