"""What guarantees take on trust shows on each of them, and what was declared once stays what it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from every_algorithm import BALL, EVERY, HARD, MEAN, N, line_data

from dpverify.algorithms.bst14.local_solvers import LocalNoisyGradientDescent
from dpverify.algorithms.bst14.localization import Localization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25 import (
    DPSGD,
    EmpiricalToPopulation,
    PopulationToEmpirical,
    PrivateOracleMethod,
)
from dpverify.algorithms.mn25.oracle_handles import DeclaredUse
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.privacy import ConditionKind, StatedGuarantee
from dpverify.problems import Ball, Dataset, HalfSquaredDistance, Logistic, Problem, Squared
from dpverify.problems.declared import is_our_own
from dpverify.running import Randomness

WITH_A_PROBLEM = sorted(
    name
    for name, make in EVERY.items()
    if {"problem", "losses"} & {f.name for f in dataclasses.fields(make())}
)


def foreign(value: Any) -> Any:
    """The same object, of a class that is somebody else's."""
    kind = type(f"Their{type(value).__name__}", (type(value),), {})
    return dataclasses.dataclass(frozen=True)(kind)(
        **{field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    )


def stated(algorithm: Any) -> Iterator[StatedGuarantee]:
    """Everything that an algorithm states, wherever it states it."""
    yield from algorithm.guarantees(N)
    for name in ("guarantee_at", "rdp_at"):
        if hasattr(algorithm, name):
            for index in (1, 2):
                found = getattr(algorithm, name)(N, index)
                if found is not None:
                    yield found


def on_trust(one: StatedGuarantee) -> list[str]:
    return [each.detail for each in one.conditions if each.kind is ConditionKind.AS_DECLARED]


@pytest.mark.parametrize("name", WITH_A_PROBLEM)
@pytest.mark.parametrize("part", ["loss", "constraint"])
def test_a_part_that_is_somebody_elses_is_a_condition_of_every_guarantee(name: str, part: str) -> None:
    known = EVERY[name]()
    assert not any(on_trust(one) for one in stated(known))
    if hasattr(known, "losses"):
        changes = {"losses": (foreign(known.losses[0]),)} if part == "loss" else {"constraint": foreign(BALL)}
    else:
        changes = {
            "problem": dataclasses.replace(known.problem, **{part: foreign(getattr(known.problem, part))})
        }
    try:
        theirs = dataclasses.replace(known, **changes)
        found = list(stated(theirs))
    except DpverifyError:
        return  # which of the sets and losses it knows, it says by the class
    assert len(found) == len(list(stated(known))) or not found
    for one in found:
        assert any("Their" in detail for detail in on_trust(one)), one
        assert "if what it is built on is as declared" in str(one)


def test_most_algorithms_take_a_loss_of_somebody_elses() -> None:
    """So that the test above is no empty one."""
    taken = 0
    for name in WITH_A_PROBLEM:
        known = EVERY[name]()
        if not hasattr(known, "problem"):
            continue
        problem = dataclasses.replace(known.problem, loss=foreign(known.problem.loss))
        try:
            taken += bool(list(stated(dataclasses.replace(known, problem=problem))))
        except DpverifyError:
            continue
    assert taken >= 20


@pytest.mark.parametrize("name", sorted(EVERY))
def test_an_array_is_no_data_set(name: str) -> None:
    algorithm = EVERY[name]()
    if (
        name in ("fmtt18.cni", "gll22.lower-instance", "mn25.fingerprint")
        or getattr(algorithm, "instance", HARD) != HARD
    ):
        return  # any data, or none
    if name.startswith("mn25.hard-instance"):
        return  # drawn at random
    extra = {"centers": np.zeros((2, 1))} if "balls" in name else {}
    with pytest.raises(InvalidArgumentError, match=r"data was array.*allowed: a dpverify\.problems\.Dataset"):
        algorithm(np.ones((N, 1)), **extra, rng=Randomness(1), runs=2)


def normalized_in_float32(seed: int, d: int = 10, n: int = N) -> Dataset:
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Dataset(rows, np.ones(n))


def test_rows_that_were_normalized_in_float32_are_taken_and_are_no_longer_than_one() -> None:
    longer = 0
    for seed in range(200):
        data = normalized_in_float32(seed)
        longer += data.largest_norm > 1 + 1e-9
        inside = data.in_unit_ball()
        assert inside.largest_norm <= 1 + 1e-15
        assert np.max(np.abs(np.asarray(inside.features) - np.asarray(data.features))) < 1e-5
        assert inside.in_unit_ball() is inside
    assert longer > 150  # refused of old, with "norm 1; allowed: at most 1"
    method = PrivateOracleMethod(
        Problem(Logistic(), Ball(10, 1.0)), GaussianOracle(1.0), CyclicDescent(2, 2, 0.5)
    )
    assert method(normalized_in_float32(0), rng=Randomness(1), runs=3).points.shape == (3, 10)


def test_what_is_longer_by_more_than_rounding_is_refused_with_all_digits() -> None:
    from dpverify.errors import InvalidDataError

    with pytest.raises(InvalidDataError, match=r"has norm 1\.0001; allowed: at most 1"):
        Dataset([[1.0001]], [1.0]).in_unit_ball()
    with pytest.raises(InvalidDataError, match=r"has norm 1\.00002; allowed: at most 1"):
        Dataset([[1.00002]], [1.0]).in_unit_ball()


def test_neighbors_stay_neighbors_when_records_are_shortened() -> None:
    data = normalized_in_float32(3)
    left, right = data.in_unit_ball(), data.replace(2, np.zeros(10), 1.0).in_unit_ball()
    differing = np.any(np.asarray(left.features) != np.asarray(right.features), axis=1)
    assert differing.tolist() == [False, True, False, False]


class Growing(Logistic):
    """Its constant is 1 when it is first asked for, and smaller ever after: noise would shrink."""

    later = False

    @property
    def lipschitz_constant(self) -> float:  # type: ignore[override]
        return 0.01 if type(self).later else 1.0


def test_constants_are_read_once() -> None:
    Growing.later = False
    problem = Problem(Growing(), Ball(1, 1.0))
    descent = DPSGD(problem, 4.0, 0.2, batch_size=2, steps=2)
    Growing.later = True
    first = (descent.guarantees(N).headline, descent.parameters(N))
    descent(line_data([0.1, 0.2, 0.3, 0.4]), rng=Randomness(1), runs=2)
    assert (descent.guarantees(N).headline, descent.parameters(N)) == first
    assert problem.constants.lipschitz_constant == 1.0
    assert (
        str(first[0])
        == str(DPSGD(Problem(Logistic(), BALL), 4.0, 0.2, batch_size=2, steps=2).guarantees(N).headline)[:-1]
        + ", if what it is built on is as declared)"
    )


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), "1", None, True])
@pytest.mark.parametrize(
    "name", ["lipschitz_constant", "smoothness", "strong_convexity", "gradient_sensitivity"]
)
def test_constants_are_numbers(name: str, wrong: Any) -> None:
    if name == "gradient_sensitivity" and (wrong is None or wrong == "1" or wrong is True):
        return  # None: twice the Lipschitz constant
    kind = type("Odd", (Logistic,), {name: wrong})
    with pytest.raises(InvalidArgumentError, match=f"loss.{name}"):
        Problem(kind(), BALL)


@dataclasses.dataclass(frozen=True)
class Forgetful:
    """Declares one use of a record first, and four hundred later; asks about one record again and again."""

    declarations: Any = dataclasses.field(default_factory=lambda: [DeclaredUse(1, 400, 1)])

    @property
    def declared(self) -> DeclaredUse:
        return self.declarations.pop() if self.declarations else DeclaredUse(1, 400, 400)

    def __call__(self, handle: Any, start: Any) -> Any:
        for _ in range(400):
            start = start + handle.ask(start, [0]).answer()
        return start


@pytest.mark.parametrize("wrap", [lambda inner: inner, EmpiricalToPopulation])
def test_what_an_optimizer_declared_first_is_what_it_is_held_to(wrap: Any) -> None:
    method = wrap(PrivateOracleMethod(Problem(Logistic(), BALL), GaussianOracle(1.0), Forgetful()))
    before = [str(one) for one in method.guarantees(N)]
    with pytest.raises(DpverifyError, match="in 2 batches, where 1 was declared"):
        method(line_data([0.1, 0.2, 0.3, 0.4]), rng=Randomness(1), runs=2)
    assert [str(one) for one in method.guarantees(N)] == before


@dataclasses.dataclass(frozen=True)
class FarAway:
    """Asks at start + 1e6, and releases what it is told."""

    declared: DeclaredUse = DeclaredUse(1, 1, 1)  # noqa: RUF009

    def __call__(self, handle: Any, start: Any) -> Any:
        return handle.ask(start + 1e6, [0]).answer()


def test_far_points_are_refused_inside_both_reductions() -> None:
    """Of old: 0.4-GDP, and outputs of 1e6 against 1e4 on the neighbor."""
    problem = Problem(Squared(1.0), BALL)
    method = PrivateOracleMethod(problem, GaussianOracle(10.0), FarAway())
    assert "0.4-GDP" in str(method.guarantees(N).headline)
    reductions = (
        method,
        EmpiricalToPopulation(method),
        PopulationToEmpirical(method, 1.0, accuracy=0.5, boosts=1, balls=1, phases=1, regularization=0.1),
    )
    for each in reductions:
        assert each.guarantees(N)
        with pytest.raises(DpverifyError, match=r"points was .*allowed: points of"):
            each(line_data([1.0, 0.1, 0.2, 0.3]), rng=Randomness(1), runs=2)


def test_a_local_solver_of_another_problem_is_refused() -> None:
    """Its constants hold on a ball of radius 1, the sets that it is given reach to 100."""
    far = Problem(HalfSquaredDistance(100.0), Ball(1, 100.0))
    solver = LocalNoisyGradientDescent(NoisyGradientDescent(MEAN, 0.5, 1e-5, steps=3))
    with pytest.raises(InvalidArgumentError, match="of the same problem"):
        Localization(far, 1.0, solver=solver)


def test_a_start_is_no_farther_out_than_the_set() -> None:
    method = PrivateOracleMethod(
        Problem(Squared(1.0), BALL), GaussianOracle(1.0), CyclicDescent(1, 1, 1.0), start=(1 + 9e-10,)
    )
    assert method.start == (1.0,)


def test_whose_a_class_is() -> None:
    assert is_our_own(Logistic())
    assert is_our_own(BALL)
    assert not is_our_own(line_data)
    assert not is_our_own(foreign(Logistic()))
    pretending = type("Logistic", (), {"__module__": "dpverify.problems.losses"})
    assert not is_our_own(pretending())
    assert not is_our_own(lambda w, data: w)
    nowhere: dict[str, Any] = {}
    exec("def made(w, data): return w", nowhere)  # in no module: its name is None
    assert not is_our_own(nowhere["made"])
