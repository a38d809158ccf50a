"""Optimizers that try everything learn what the guarantee says, and no more; old and planted faults are found."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import strategies as st

from dpverify.algorithms.mn25 import interaction, oracle_handles, private_oracles
from dpverify.algorithms.mn25.oracle_handles import DeclaredUse, OracleLimits, UseCounts
from dpverify.algorithms.mn25.private_oracles import GaussianOracle, PrivateOracleMethod
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.problems.problem import GuardedOracle
from dpverify.properties import (
    Adversary,
    adversarial_optimizers,
    check_interaction,
)
from dpverify.properties.adversaries import Move

N, D = 2, 2
EXAMPLES = 600


def asked(points: str, *records: int, **more: Any) -> Move:
    return Move(points, 0.0, records, **more)


BALL = Ball(D, 1.0)
PROBLEMS = [
    Problem(Squared(1.0), BALL),
    Problem(Linear(), BALL),
    Problem(Logistic(), Box.cube(D, 0.5)),
    Problem(Hinge(), AllSpace(D)),
    Problem(EuclideanDistance(), Simplex(D)),
    Problem(Ridge.on(BALL, Squared.on(BALL), 1.0), BALL),
    Problem(HalfSquaredDistance(1.0), BALL),
    Problem(ContractOrDrift(1.0), BALL),
]
OTHERS = [np.array(other) for other in ([-1.0, 0.0], [0.1, 0.0], [0.0, 0.0], [0.6, 0.8])]


@st.composite
def cases(draw: Any) -> tuple[PrivateOracleMethod, Dataset, Dataset, int]:
    problem = draw(st.sampled_from(PROBLEMS))
    oracle = GaussianOracle(draw(st.sampled_from([1.0, 0.3])))
    method = PrivateOracleMethod(problem, oracle, draw(OPTIMIZERS))
    label = 0.0 if problem is PROBLEMS[-1] else -1.0
    left = Dataset(np.eye(N, D), np.array([1.0, draw(st.sampled_from([1.0, label]))]))
    # opposite for most losses, shorter for those that grow with the point
    right = left.replace(1, draw(st.sampled_from(OTHERS)), draw(st.sampled_from([1.0, label])))
    return method, left, right, draw(st.integers(0, 3))


OPTIMIZERS = adversarial_optimizers(n=N)


def search(examples: int) -> list[float]:
    """Of the most that was learned, relative to what is stated; raises at the first that learned more."""
    shares: list[float] = []

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.target],
    )
    @given(cases())
    def look(case: tuple[PrivateOracleMethod, Dataset, Dataset, int]) -> None:
        method, left, right, seed = case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of casts from complex numbers and the like
            leak = check_interaction(method, left, right, seed=seed)
        if leak.stated:
            shares.append(leak.spent / leak.stated)
            target(shares[-1])

    look()
    return shares


def test_nobody_learns_more_than_is_stated() -> None:
    shares = search(EXAMPLES)
    assert max(shares) <= 1 + 1e-9
    # the search is no empty one: some learn, and some almost all there is
    assert sum(share > 0 for share in shares) > 50
    assert max(shares) > 0.9


def without_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GuardedOracle, "admitted", lambda self, points: points)


def without_finiteness(patch: pytest.MonkeyPatch) -> None:
    """The set is looked at, but not whether points are numbers."""
    guarded = GuardedOracle.admitted

    def admitted(self: Any, points: Any) -> Any:
        return points if not np.all(np.isfinite(points)) else guarded(self, points)

    patch.setattr(GuardedOracle, "admitted", admitted)


def without_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(UseCounts, "add", lambda self, records, made, size: None)


def without_an_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(interaction.Interaction, "close", lambda self: None)


def with_memory(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(private_oracles.copy, "deepcopy", lambda optimizer: optimizer)


def with_records_in_refusals(patch: pytest.MonkeyPatch) -> None:
    plain = interaction.Interaction.ask

    def ask(self: Any, points: Any, records: Any, *, made: Any = None) -> Any:
        try:
            return plain(self, points, records, made=made)
        except InvalidArgumentError as error:
            seen = self.look_up(np.array([0]))
            raise InvalidArgumentError("points", str(seen), str(error)) from None

    patch.setattr(interaction.Interaction, "ask", ask)


def with_second_thoughts(patch: pytest.MonkeyPatch) -> None:
    """What is declared is asked for anew when it is enforced, and the answer has changed."""
    stated = PrivateOracleMethod.limits
    patch.setattr(PrivateOracleMethod, "guarantees", _before(PrivateOracleMethod.guarantees, stated))
    patch.setattr(
        PrivateOracleMethod, "limits", lambda self, n: OracleLimits(self.declared.on(n).batch, 9, 9, 9)
    )


def _before(guarantees: Callable[..., Any], limits: Callable[..., Any]) -> Callable[..., Any]:
    def stated(self: Any, n: int) -> Any:
        now = type(self).limits
        type(self).limits = limits
        try:
            return guarantees(self, n)
        finally:
            type(self).limits = now

    return stated


FAULTS = [
    without_guard,
    without_counts,
    without_an_end,
    with_memory,
    with_records_in_refusals,
    with_second_thoughts,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faults_are_found(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        search(EXAMPLES)


def test_an_answer_that_is_no_number_tells_records_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinity times a feature of 0 is not a number, so that a message without the guard shows which features are 0."""
    adversary = Adversary(DeclaredUse(1, 1, 1), (asked("infinite", 0),))
    method = PrivateOracleMethod(Problem(Logistic(), Ball(2, 1.0)), GaussianOracle(10.0), adversary)
    left = Dataset([[1.0, 0.0], [0.0, 0.0]], [1.0, 1.0])
    right = left.replace(1, [0.6, 0.8], 1.0)
    assert check_interaction(method, left, right).messages == 0
    without_finiteness(monkeypatch)
    # one gradient after another: in products of matrices it is not a number for either record
    monkeypatch.setattr(interaction.FirstOrder, "_total_at_once", lambda self: None)
    with pytest.raises(AssertionError, match="inf-GDP"):
        check_interaction(method, left, right)


@pytest.mark.parametrize("points", ["far", "infinite", "not a number", "at the end of the range", "outside"])
def test_where_the_constants_do_not_hold_nothing_is_answered(points: str) -> None:
    """The loss of old: 0.4-GDP, and 1e6 against 1e4 in the message."""
    adversary = Adversary(DeclaredUse(1, 1, 1), (asked(points, 0),))
    method = PrivateOracleMethod(Problem(Squared(1.0), Ball(1, 1.0)), GaussianOracle(10.0), adversary)
    left = Dataset([[1.0], [0.0]], [1.0, 1.0])
    leak = check_interaction(method, left, left.replace(1, [0.1], 1.0))
    assert (leak.spent, leak.stated, leak.messages) == (0.0, 0.4, 0)


@pytest.mark.parametrize(
    "loss", [Ridge(Linear(), 1.0, 1.0), HalfSquaredDistance(1.0)], ids=lambda one: type(one).__name__
)
def test_where_rounding_makes_a_record_larger_nothing_is_answered(loss: Any) -> None:
    """At 2^53 + 2, gradients that differ by 2 are rounded to numbers that are 4 apart."""
    adversary = Adversary(DeclaredUse(1, 1, 1), (asked("where whole numbers end", 0),))
    method = PrivateOracleMethod(Problem(loss, Ball(1, 1.0)), GaussianOracle(1.0), adversary)
    left = Dataset([[1.0], [0.0]], [1.0, 1.0])
    assert check_interaction(method, left, left.replace(1, [-1.0], 1.0)).messages == 0


class _Agreeable(int):
    """A number that is equal to, and no less than, any other."""

    __hash__ = int.__hash__
    __array_ufunc__ = None

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __lt__(self, other: object) -> bool:
        return False


@pytest.mark.parametrize(
    "declared",
    [DeclaredUse(_Agreeable(1000), 9, 1), DeclaredUse(1, 9, _Agreeable(1)), DeclaredUse(1, _Agreeable(9), 1)],
)
def test_what_is_declared_is_kept_as_plain_numbers(declared: DeclaredUse) -> None:
    adversary = Adversary(declared, (asked("as they are", 0),) * 20)
    method = PrivateOracleMethod(Problem(Linear(), Ball(1, 1.0)), GaussianOracle(1.0), adversary)
    left = Dataset([[1.0], [0.0]], [1.0, 1.0])
    leak = check_interaction(method, left, left.replace(1, [-1.0], 1.0))
    assert leak.stated is not None
    assert leak.messages <= 1


def test_a_declaration_that_is_changed_later_changes_nothing() -> None:
    declared = DeclaredUse(1, 9, 1)
    adversary = Adversary(declared, (asked("as they are", 0),) * 9)
    method = PrivateOracleMethod(Problem(Linear(), Ball(1, 1.0)), GaussianOracle(1.0), adversary)
    stated = str(method.guarantees(2).headline)
    object.__setattr__(declared, "batches_a_record", 9)
    assert str(method.guarantees(2).headline) == stated


def test_the_copy_is_of_the_optimizer_and_not_of_its_class() -> None:
    adversary = Adversary(DeclaredUse(1, 1, 1), (asked("as they are", 0),))
    method = PrivateOracleMethod(Problem(Squared(1.0), Ball(1, 1.0)), GaussianOracle(1.0), adversary)
    left = Dataset([[1.0], [0.0]], [1.0, 1.0])
    check_interaction(method, left, left.replace(1, [-1.0], 1.0))
    assert adversary.calls == 0
    assert copy.deepcopy(adversary) == adversary
    assert oracle_handles.DeclaredUse(1, 1, 1).on(5) == OracleLimits(1, 1, 1, 1)
