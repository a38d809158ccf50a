"""The protocol is kept, calls are counted, and what goes through it is what a slow twin does.

Every statistical test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass
from typing import Any

import array_api_strict
import numpy as np
import pytest
from scipy import stats
from twins import Recorder, one_step

from dpverify.algorithms.mn25.interaction import Interaction
from dpverify.algorithms.mn25.oracle_handles import AdaptiveQueryError, DeclaredUse, OracleHandle
from dpverify.algorithms.mn25.private_oracles import (
    CyclicDescent,
    GaussianOracle,
    PrivateOracleMethod,
)
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, Adjacency
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Squared,
)
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
D, N, RUNS = 3, 7, 11
PROBLEM = Problem(Logistic(), Ball(D, 0.8))
NAMESPACES = [np, array_api_strict]


@dataclass(frozen=True)
class TrueOracle:
    """Answers with the batch's mean gradient itself: no privacy."""

    def respond(self, answers: Any, *, rng: Randomness) -> Any:
        return answers.mean_gradient()

    def message_guarantee(self, sensitivity: float, batch: int) -> None:
        return None


NO_PROXY = TrueOracle()
BALL_POINTS = np.asarray(PROBLEM.constraint.project(np.random.default_rng(4).normal(size=(40, D))))


def make_data(n: int = N, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, D))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def interaction(oracle: Any = NO_PROXY, xp: Any = np, **options: Any) -> Interaction:
    data = make_data().as_namespace(xp)
    return Interaction(PROBLEM, data, oracle, rng=Randomness(1, 0, xp), runs=RUNS, **options)


def some_points(seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=(RUNS, D)) * 0.2


def test_a_query_after_the_message_belongs_to_the_next_batch() -> None:
    talk = interaction()
    first = talk.ask(some_points(), [0, 1]).answer()
    second = talk.ask(some_points(4), [2]).answer()
    assert talk.rounds == 2
    assert np.all(talk.true_oracle_calls == 3)
    data = make_data()
    gradient = PROBLEM.loss.gradient(some_points(4), data.features[2], data.labels[2])
    assert np.allclose(second, gradient, atol=1e-15)
    assert not np.allclose(first, second)
    assert np.array_equal(talk.answer(), np.zeros((RUNS, D)))  # nothing was asked since
    assert talk.rounds == 3


@dataclass(frozen=True)
class AdaptiveWithinABatch:
    """The fault: all of an optimization in one batch, as Section 2 warns."""

    declared = DeclaredUse(2, 1, 1)

    def __call__(self, handle: OracleHandle, start: Any) -> Any:
        moved = handle.project(start - handle.ask(start, [0]).answer())
        handle.ask(moved, [1]).answer()
        return moved


def test_an_optimizer_that_cheats_is_caught() -> None:
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), AdaptiveWithinABatch())
    with pytest.raises(AdaptiveQueryError, match="1 queries in some run, where 2"):
        method(make_data(), rng=Randomness(1), runs=4)


@dataclass(frozen=True)
class Scripted:
    """Asks for given records, batch by batch, whatever it declared."""

    batches: Any
    uses: tuple[int, int] | None = (1, 1)
    size: int = 2
    rounds: int = 2
    made: Any = None

    @property
    def declared(self) -> DeclaredUse:
        rounds, copies = (None, 1) if self.uses is None else self.uses
        return DeclaredUse(self.size, self.rounds, rounds, copies)

    def __call__(self, handle: OracleHandle, start: Any) -> Any:
        for records in self.batches:
            start = handle.project(start - handle.ask(start, records, made=self.made).answer())
        return start


def in_run_3(record: int) -> Any:
    """All runs ask for records 0 and 1, but one of them asks for another one instead of 1."""
    asked = np.tile([0, 1], (RUNS, 1))
    asked[3, 1] = record
    return asked


@pytest.mark.parametrize(
    ("optimizer", "said"),
    [
        (Scripted([[0] * 400], size=400), "asks for a record 400 times, where 1"),
        (Scripted([in_run_3(0)]), "asks for a record 2 times, where 1"),
        (Scripted([[0, 0, 0]], (1, 2), 3), "asks for a record 3 times, where 2"),
        (Scripted([[0, 1], [1, 2]]), "in 2 batches, where 1"),
        (Scripted([[0, 1], in_run_3(4)[:, ::-1]], (1, 1)), "in 2 batches, where 1"),
        (Scripted([[0, 1], [0, 1], [0, 1]], (3, 1)), "one batch more than the 2"),
        # a smaller batch has a louder mean than the declared one
        (Scripted([[0]]), "1 queries in some run, where 2"),
        (Scripted([np.zeros(0, dtype=np.int64)]), "0 queries in some run, where 2"),
        (Scripted([[0, 1]], made=np.arange(2 * RUNS).reshape(RUNS, 2) != 5), "queries in some run, where 2"),
        (Scripted([[0, 1, 2]], None), "3 queries in some run, where 2"),
    ],
)
def test_what_was_declared_is_enforced(optimizer: Any, said: str) -> None:
    for oracle in (GaussianOracle(1.0), NO_PROXY):
        method = PrivateOracleMethod(PROBLEM, oracle, optimizer, withdraw_guarantee=oracle is NO_PROXY)
        if optimizer.uses is None and oracle is not NO_PROXY:
            continue
        with pytest.raises(AdaptiveQueryError, match=said):
            method(make_data(), rng=Randomness(1), runs=RUNS)


def test_nothing_is_answered_beyond_what_was_declared() -> None:
    answered = []

    @dataclass(frozen=True)
    class Listening(GaussianOracle):
        def respond(self, answers: Any, *, rng: Randomness) -> Any:
            answered.append(answers.count)
            return super().respond(answers, rng=rng)

    method = PrivateOracleMethod(PROBLEM, Listening(1.0), Scripted([[0, 1], [0, 2]]))
    with pytest.raises(AdaptiveQueryError):
        method(make_data(), rng=Randomness(1), runs=2)
    assert answered == [2]


def test_uses_are_counted_by_the_protocol() -> None:
    second = np.tile([1, 1], (RUNS, 1))
    second[3] = [6, 1]
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), Scripted([[0, 1], second], (2, 2)))
    talk, _ = method.interact(make_data(), rng=Randomness(1), runs=RUNS)
    expected = np.tile([1, 2, 0, 0, 0, 0, 0], (RUNS, 1))
    expected[3, 6] = 1
    assert talk.uses is not None
    assert np.array_equal(talk.uses.batches, expected)
    assert np.all(talk.true_oracle_calls == 4)
    assert interaction().uses is None


def test_an_optimizer_has_no_public_way_to_the_records() -> None:
    """Everything that is reachable by attributes without an underscore, and all attributes of the handle itself."""
    seen: list[Any] = []

    @dataclass(frozen=True)
    class Snoop(Scripted):
        def __call__(self, handle: OracleHandle, start: Any) -> Any:
            seen.append(handle)
            return super().__call__(handle, start)

    data = make_data()
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), Snoop([[0, 1], [2, 3]]))
    method(data, rng=Randomness(1), runs=RUNS)
    (handle,) = seen
    public = {name for name in dir(handle) if not name.startswith("_")}
    assert public == {"answer", "ask", "n", "project", "rng", "runs"}
    assert not hasattr(handle, "look_up")
    assert not hasattr(handle, "__dict__")
    held = [getattr(handle, name) for name in OracleHandle.__slots__]
    assert all(
        isinstance(value, int) or (callable(value) and not hasattr(value, "__self__")) for value in held
    )

    reached, left = [], [handle.rng, handle.ask, *held]
    while left:
        value = left.pop()
        if any(value is other for other in reached) or len(reached) > 5000:
            continue
        reached.append(value)
        names = [name for name in dir(value) if not name.startswith("_")]
        if isinstance(value, (int, str, type, np.ndarray)) or type(value).__name__ == "module":
            continue
        left += [getattr(value, name, None) for name in names]
    arrays = [value for value in reached if isinstance(value, np.ndarray)]
    assert not any(np.shares_memory(array, data.features) for array in arrays)
    assert not any(isinstance(value, (Dataset, Interaction, Problem)) for value in reached)


def test_an_optimizer_cannot_foresee_the_noise() -> None:
    """With the oracle's generator in hand it could draw the noise beforehand and take it off."""
    found = []

    @dataclass(frozen=True)
    class Foreseeing(Scripted):
        def __call__(self, handle: OracleHandle, start: Any) -> Any:
            ahead = copy.deepcopy(handle.rng.generator).standard_normal((D, RUNS)).T
            message = handle.ask(start, [0, 1]).answer()
            found.append(message - ahead)
            return start

    data = make_data()
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), Foreseeing([]))
    method(data, rng=Randomness(1), runs=RUNS)
    mean = np.mean(
        [PROBLEM.loss.gradient(np.zeros((1, D)), data.features[i], data.labels[i])[0] for i in (0, 1)], axis=0
    )
    assert np.min(np.max(np.abs(found[0] - mean), axis=1)) > 1e-3


def test_random_numbers_of_an_optimizer_are_one_stream_that_the_seed_fixes() -> None:
    first, again = (interaction().handle() for _ in range(2))
    assert first.rng is first.rng
    drawn = first.rng.normal((4,), "x")
    assert np.array_equal(drawn, again.rng.normal((4,), "x"))
    assert interaction(xp=array_api_strict).handle().rng.xp is array_api_strict


def test_points_changed_after_asking_do_not_matter() -> None:
    points = some_points()
    kept = points.copy()
    batch = interaction().ask(points, [2])
    points[...] = 9.0
    data = make_data()
    expected = PROBLEM.loss.gradient(kept, data.features[2], data.labels[2])
    assert np.allclose(batch.answer(), expected, atol=1e-15)


@pytest.mark.parametrize("xp", NAMESPACES)
def test_ragged_batches_are_counted_and_averaged_run_by_run(xp: Any) -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(RUNS, 4, D)) * 0.3
    drawn = rng.integers(0, N, size=(RUNS, 4))
    made = rng.random((RUNS, 4)) < 0.6
    made[0], made[1] = False, True
    talk = interaction(xp=xp)
    batch = talk.ask(xp.asarray(points), xp.asarray(drawn), made=xp.asarray(made))
    found = np.asarray(batch.ask(xp.asarray(points[:, 0, :]), [6]).answer())
    data = make_data()
    for r in range(RUNS):
        asked = [(points[r, k], drawn[r, k]) for k in range(4) if made[r, k]] + [(points[r, 0], 6)]
        gradients = [PROBLEM.loss.gradient(w[None], data.features[i], data.labels[i])[0] for w, i in asked]
        assert np.allclose(found[r], np.mean(gradients, axis=0), atol=1e-14)
        assert talk.true_oracle_calls[r] == len(asked)
    assert np.array_equal(talk.output(xp.asarray(found)).gradient_queries, np.sum(made, axis=1) + 1)


def test_values_are_there_for_oracles_that_want_them() -> None:
    @dataclass(frozen=True)
    class LargestLoss:
        def respond(self, answers: Any, *, rng: Randomness) -> Any:
            return np.max(np.stack(list(answers.values())), axis=0)

        def message_guarantee(self, sensitivity: float, batch: int) -> None:
            return None

    w, data = some_points(), make_data()
    found = interaction(LargestLoss()).ask(w, np.arange(N)).answer()
    expected = [PROBLEM.loss.value(w, data.features[i], data.labels[i]) for i in range(N)]
    assert np.allclose(found, np.max(expected, axis=0))


@pytest.mark.parametrize("xp", NAMESPACES)
def test_cyclic_descent_does_what_its_twin_does(xp: Any) -> None:
    data, rounds, size, rate, stddev = make_data(), 5, 3, 0.7, 0.4
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(stddev), CyclicDescent(rounds, size, rate))
    rng = Recorder(11, 2, xp)
    output = method(data.as_namespace(xp), rng=rng, runs=RUNS)
    for r in range(RUNS):
        w = np.zeros(D)
        for t in range(rounds):
            batch = [(t * size + k) % N for k in range(size)]
            mean = np.mean(
                [PROBLEM.loss.gradient(w[None], data.features[i], data.labels[i])[0] for i in batch], axis=0
            )
            moved = w - rate * (mean + stddev * rng.drawn["noise"][t][:, r])
            w = np.asarray(PROBLEM.constraint.project(moved[None]))[0]
        assert np.allclose(np.asarray(output.points)[r], w, atol=1e-13)
    assert output.gradient_queries == method.gradient_query_count(N) == rounds * size
    assert output.projections == rounds


def last_point_pvalue(noise: float) -> float:
    """Linear losses on all space, T = 4 batches of 3: w = -eta sum of means + N(0, 4 (eta sigma)^2)."""
    data = make_data()
    method = PrivateOracleMethod(
        Problem(Linear(), AllSpace(D)), GaussianOracle(noise), CyclicDescent(4, 3, 0.3)
    )
    points = run(method, data, runs=20_000, seed=3).points
    asked = np.arange(12) % N
    mean = -0.3 * np.sum(np.asarray(data.features)[asked], axis=0) / 3
    z = (points - mean) / (0.3 * 0.8 * 2)
    return float(stats.kstest(z.ravel(), "norm").pvalue)


def test_the_law_of_the_last_point_and_half_the_noise() -> None:
    assert last_point_pvalue(0.8) > FALSE_ALARM
    assert last_point_pvalue(0.4) < FALSE_ALARM


def test_the_oracle_is_zcdp_with_respect_to_one_gradient() -> None:
    """One batch of all records: two Gaussians at distance s / m, so GDP exactly."""
    size, sigma = N, 0.3
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(sigma), CyclicDescent(1, size, 1.0))
    stated = method.oracle_guarantee(N)
    assert stated is not None
    assert stated.rho == pytest.approx((2 / size) ** 2 / (2 * sigma**2))
    whole = method.guarantees(N).headline
    assert whole.adjacency is Adjacency.REPLACE_ONE
    assert whole.guarantee == GDP(2 / size / sigma)
    at = method.guarantee_at(N, 2)
    assert at is not None
    assert at.index == 2


def test_passes_are_composed() -> None:
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(0.3), CyclicDescent(5, 3, 1.0))
    guarantee = method.guarantees(N).headline.guarantee
    assert isinstance(guarantee, GDP)
    # 15 queries on 7 records: some record is in three batches
    assert guarantee.mu == pytest.approx(math.sqrt(3) * 2 / 3 / 0.3)
    centered = Problem(HalfSquaredDistance(0.8), PROBLEM.constraint)
    other = PrivateOracleMethod(centered, GaussianOracle(0.3), CyclicDescent(5, 3, 1.0)).guarantees(N)
    assert other.headline.guarantee == guarantee


def test_no_claim_without_noise() -> None:
    for oracle in (GaussianOracle(0.0), TrueOracle()):
        method = PrivateOracleMethod(PROBLEM, oracle, CyclicDescent(2, 3, 1.0))
        assert not method.guarantees(N)
        assert method.guarantee_at(N, 1) is None
        with pytest.raises(NotGuaranteedError):
            method(make_data(), rng=Randomness(1), runs=2)
        allowed = PrivateOracleMethod(PROBLEM, oracle, CyclicDescent(2, 3, 1.0), withdraw_guarantee=True)
        assert allowed(make_data(), rng=Randomness(1), runs=2).points.shape == (2, D)
    assert method.risk_bound(N) is None
    assert method.queries(N)[0].count == 6
    assert pickle.loads(pickle.dumps(method)) == method


BAD = [
    *(("noise_stddev", value) for value in (-1.0, math.nan, math.inf, True, "1")),
    *(("rounds", value) for value in (0, 1.5, True)),
    *(("size", value) for value in (0, -1, math.nan)),
    *(("rate", value) for value in (0.0, math.nan, math.inf, True)),
    *(("problem", value) for value in (None, Logistic())),
    *(("oracle", value) for value in (None, 3)),
    *(("optimizer", value) for value in (None, 3)),
    *(("start", value) for value in ([2.0, 0, 0], [math.nan, 0, 0], [0.0], "abc")),
    ("withdraw_guarantee", 1),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_arguments(name: str, value: Any) -> None:
    method = {"problem": PROBLEM, "oracle": GaussianOracle(1.0), "optimizer": CyclicDescent(1, 1, 1.0)}
    makers: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = [
        (GaussianOracle, {}, ("noise_stddev",)),
        (CyclicDescent, {"rounds": 1, "size": 1, "rate": 1.0}, ("rounds", "size", "rate")),
        (PrivateOracleMethod, method, ("problem", "oracle", "optimizer", "start", "withdraw_guarantee")),
    ]
    maker, good = next((maker, good) for maker, good, names in makers if name in names)
    with pytest.raises(InvalidArgumentError):
        maker(**{**good, name: value})


@pytest.mark.parametrize("records", [[7], [-1], [0.5], 3, [[0, 1]]])
def test_bad_records(records: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        interaction().ask(some_points(), records)


def test_bad_points_and_oracles() -> None:
    with pytest.raises(InvalidArgumentError, match="shape"):
        interaction().ask(np.zeros((RUNS, D + 1)), [0])
    with pytest.raises(InvalidArgumentError, match="booleans"):
        interaction().ask(some_points(), [0], made=np.ones((RUNS, 2), dtype=bool))
    with pytest.raises(InvalidArgumentError, match="ProxyOracle"):
        interaction(oracle=3)
    with pytest.raises(InvalidArgumentError, match="at most 7"):
        CyclicDescent(1, 8, 1.0).declared.on(N)


def test_a_batch_of_one_is_the_step_of_all_methods() -> None:
    data = make_data()
    method = PrivateOracleMethod(PROBLEM, GaussianOracle(0.5), CyclicDescent(1, 1, 0.3))
    rng = Recorder(4)
    points = method(data, rng=rng, runs=3).points
    for r in range(3):
        z = rng.drawn["noise"][0][:, r]
        twin = one_step(PROBLEM, np.zeros(D), data.features[0], data.labels[0], rate=0.3, stddev=0.5, z=z)
        assert np.allclose(points[r], twin, atol=1e-14)


@pytest.mark.parametrize(
    "released",
    [np.zeros((4, D + 1)), np.zeros(D), np.zeros((4, D), dtype=complex), "x", None, [[1.0]]],
    ids=str,
)
def test_what_is_released_has_a_shape(released: Any) -> None:
    @dataclass(frozen=True)
    class Releasing(Scripted):
        def __call__(self, handle: OracleHandle, start: Any) -> Any:
            return released

    method = PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), Releasing([]))
    with pytest.raises(InvalidArgumentError, match="points"):
        method(make_data(), rng=Randomness(1), runs=4)


def test_nothing_is_answered_after_the_end_and_nothing_released_changes() -> None:
    kept: list[Any] = []

    @dataclass(frozen=True)
    class Keeping(Scripted):
        def __call__(self, handle: OracleHandle, start: Any) -> Any:
            kept.extend([handle, start])
            return start

    method = PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), Keeping([]))
    output = method(make_data(), rng=Randomness(1), runs=4)
    handle, start = kept
    start[...] = 9.0
    assert np.all(np.asarray(output.points) == 0)
    with pytest.raises(AdaptiveQueryError, match="is over"):
        handle.ask(np.zeros((4, D)), [0, 1])
    with pytest.raises(AdaptiveQueryError, match="is over"):
        handle.answer()


def test_records_changed_after_asking_do_not_matter() -> None:
    records = np.array([2])
    batch = interaction().ask(some_points(), records)
    records[...] = 5
    data = make_data()
    expected = PROBLEM.loss.gradient(some_points(), data.features[2], data.labels[2])
    assert np.allclose(batch.answer(), expected, atol=1e-15)


def test_points_that_only_say_their_shape_are_looked_at() -> None:
    class Lying:
        shape, ndim, dtype = (RUNS, D), 2, np.dtype(float)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.zeros((RUNS, D + 2))

    with pytest.raises(InvalidArgumentError, match="points"):
        interaction().ask(Lying(), [0])


@pytest.mark.parametrize("declared", [None, (1, 1), 3])
def test_what_is_declared_is_a_declared_use(declared: Any) -> None:
    @dataclass(frozen=True)
    class Vague(Scripted):
        declared: Any = None

    with pytest.raises(InvalidArgumentError, match=r"optimizer|declared"):
        PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), Vague([], declared=declared))


def test_more_messages_about_a_record_than_are_composed_are_refused() -> None:
    method = PrivateOracleMethod(
        Problem(Logistic(), Ball(2, 1.0)), GaussianOracle(1.0), CyclicDescent(10**18, 5, 0.5)
    )
    with pytest.raises(
        InvalidArgumentError, match=r"batches a record was 1\d{17}; allowed: .* at most 1000000"
    ):
        method.guarantees(50)


def test_a_declared_use_that_answers_differently_later_is_refused() -> None:
    class Changing(DeclaredUse):
        def on(self, n: int) -> Any:
            return DeclaredUse(1, 1, 1).on(n)

    with pytest.raises(InvalidArgumentError, match="declared"):
        PrivateOracleMethod(
            PROBLEM, GaussianOracle(1.0), CyclicDescent(1, 1, 1.0), declared=Changing(2, 400, 400)
        )


def test_an_oracle_without_a_finite_sensitivity_states_nothing() -> None:
    problem = Problem(Squared(math.inf), AllSpace(D))
    method = PrivateOracleMethod(problem, GaussianOracle(1.0), CyclicDescent(1, 1, 1.0))
    assert not method.guarantees(N)
    assert "not private" in method.withdrawn(N)[0]


def test_the_stated_steps_are_those_of_a_run() -> None:
    """Next to no noise: the points are those of a run, to rounding; a step of another batch's records would show."""
    quiet = 1e-13
    algorithm = PrivateOracleMethod(
        PROBLEM, GaussianOracle(quiet), CyclicDescent(4, 3, 0.5), start=(0.1, 0.2, 0.3)
    )
    rng = np.random.default_rng(1)
    features = rng.normal(size=(N, D))
    features /= 2 * np.linalg.norm(features, axis=1, keepdims=True)
    data = Dataset(features, np.sign(rng.normal(size=N)))
    stated, other = (
        algorithm.structure(data),
        algorithm.structure(data.replace(2, -features[1], float(data.labels[1]))),
    )
    assert stated is not None
    assert other is not None
    ends = []
    for structure in (stated, other):
        w = np.tile(structure.start, (2, 1))
        for step in structure.steps:
            w = np.asarray(PROBLEM.constraint.project(step.images(w, rng)))
        ends.append(w[0])
    released = np.asarray(algorithm(data, rng=Randomness(1), runs=2).points)
    assert np.max(np.abs(released - ends[0])) <= 1e-11
    assert np.max(np.abs(released - ends[1])) > 1e-3
    assert [step.noise_stddev for step in stated.steps] == [0.5 * quiet] * 4
    left, right = np.asarray(BALL_POINTS[:20]), np.asarray(BALL_POINTS[20:])
    for step in stated.steps:
        moved = np.linalg.norm(step.images(left, rng) - step.images(right, rng), axis=1)
        assert np.all(moved <= step.lipschitz_constant * np.linalg.norm(left - right, axis=1) * (1 + 1e-12))
        assert step.lipschitz_constant <= 1.0


def test_only_gaussian_descent_states_its_steps() -> None:
    data = Dataset(np.full((N, D), 0.1), np.ones(N))
    silent = PrivateOracleMethod(PROBLEM, NO_PROXY, CyclicDescent(2, 3, 0.5), withdraw_guarantee=True)
    no_noise = PrivateOracleMethod(
        PROBLEM, GaussianOracle(0.0), CyclicDescent(2, 3, 0.5), withdraw_guarantee=True
    )
    assert silent.structure(data) is None
    assert no_noise.structure(data) is None
    with pytest.raises(InvalidArgumentError):
        PrivateOracleMethod(PROBLEM, GaussianOracle(1.0), CyclicDescent(2, N + 1, 0.5)).structure(data)
