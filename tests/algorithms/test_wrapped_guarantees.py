"""Every wrapper around every algorithm: it refuses, or what it claims survives audits on the pairs that hurt.

An audit calls a correct claim violated with probability at most AUDIT_FAILURE, and there are fewer than 1000 of them,
so that a correct implementation fails here with probability at most 1e-6; seeds are fixed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from every_algorithm import EVERY, HARD, LINE, MEAN, N, line_data

from dpverify.algorithms.bst14.boosting import Boosting, ForPrivacy
from dpverify.algorithms.bst14.localization import Localization
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.hard_instance import OnHardInstance
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.auditing import audit_privacy
from dpverify.auditing.black_box.scores import BestCoordinate, HistogramRatio, Value
from dpverify.errors import DpverifyError, InvalidArgumentError, NotGuaranteedError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import (
    GDP,
    Adjacency,
    ApproxDP,
    Condition,
    ConditionKind,
    ProtectedRecords,
    PureDP,
    StatedGuarantee,
)
from dpverify.problems import Dataset
from dpverify.running import Output, Randomness, run

AUDIT_FAILURE = 1e-9
RUNS = 1500
SCORERS = (Value(), HistogramRatio(), BestCoordinate())
PUBLIC = EVERY["fmtt18.public"]()
"""A step of 1 forgets everything but the last record, which is public: all others are perfectly protected."""


def boosted(inner: Any) -> Any:
    return Boosting(inner, repeats=2)


def on_population(inner: Any) -> Any:
    return PopulationToEmpirical(
        inner, 1.0, accuracy=0.5, boosts=2, balls=2, phases=1, regularization=0.1, minibatch=2
    )


def two_phases(inner: Any) -> Any:
    return PopulationToEmpirical(
        inner, 1.0, accuracy=0.5, boosts=1, balls=2, phases=2, regularization=0.1, minibatch=2
    )


def localized(inner: Any) -> Any:
    return Localization(MEAN, 2 * getattr(inner, "epsilon", 1.0), solver=inner)


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "boosting": boosted,
    "erm-to-sco": EmpiricalToPopulation,
    "erm-to-sco (more)": lambda inner: EmpiricalToPopulation(inner, 6),
    "sco-to-erm": on_population,
    "sco-to-erm (phases)": two_phases,
    "localization": localized,
    "hard instance": lambda inner: OnHardInstance(HARD, inner),
}


def _inner_algorithms() -> dict[str, Callable[[], Any]]:
    """All algorithms, those that take epsilon from `for_privacy`, and what a user may state about his own."""
    found = dict(EVERY)
    for name, make in EVERY.items():
        kind = type(make())
        if not hasattr(kind, "for_privacy") or "epsilon" in {f.name for f in dataclasses.fields(kind)}:
            continue
        more = (("public", 1),) if kind is PublicRecordsLast else ()
        if kind.__name__ == "PNMSGD":
            more = (("rate", 0.5),)
        found[f"for_privacy of {name}"] = lambda kind=kind, more=more: ForPrivacy(kind, MEAN, 1.0, 1e-3, more)
    return found


INNER = _inner_algorithms()


def accepted(wrap: Callable[[Any], Any], make: Callable[[], Any], n: int = N) -> tuple[Any, Any]:
    """The wrapper around an algorithm, and what it states for n records; (None, ()) if it refuses it."""
    try:
        made = wrap(make())
        return made, made.guarantees(n)
    except (DpverifyError, TypeError):
        return None, Guarantees()


def broken_pairs(made: Any) -> Iterator[tuple[Dataset, Dataset]]:
    """Pairs that differ in the first or last record, as much as records can, the others being alike or spread."""
    features = 4 if isinstance(made, OnHardInstance) else 1
    for others, index in (([1.0, 1.0, 1.0, 1.0], N), ([0.3, -0.2, 0.1, 0.4], 1)):
        sides = []
        for value in (1.0, -1.0):
            values = np.zeros((N, features))
            values[:, 0] = others
            values[index - 1, 0] = value
            sides.append(Dataset(values, np.ones(N)))
        yield sides[0], sides[1]


def violated(made: Any, claim: Any, left: Dataset, right: Dataset, seed: int) -> bool:
    outputs = [
        np.asarray(run(made, data, runs=RUNS, seed=(seed, side)).points)
        for side, data in enumerate((left, right))
    ]
    found = audit_privacy(
        outputs[0],
        outputs[1],
        claim,
        adjacency=Adjacency.REPLACE_ONE,
        failure_probability=AUDIT_FAILURE,
        seed=seed,
        scorers=SCORERS,
    )
    return found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_wrapper_around_every_algorithm(wrapper: str, thorough: bool) -> None:
    """Whatever it claims is claimed for all records, and survives; whatever it accepts, it can run.

    Audited are both pairs, or of half of the algorithms one of them in turn.
    """
    audits, claimed = 0, []
    for seed, (name, make) in enumerate(INNER.items()):
        made, stated = accepted(WRAPPERS[wrapper], make)
        if not stated:
            continue
        claimed.append(name)
        assert all(one.protected.is_everyone and not one.local for one in stated)
        pairs = list(broken_pairs(made))
        for left, right in pairs if thorough else pairs[seed % 4 :][:1]:
            audits += 1
            found = violated(made, stated.headline.guarantee, left, right, seed)
            assert not found, (wrapper, name, str(stated.headline))
    assert audits < 1000 / len(WRAPPERS)
    assert not any("fmtt18.public" in name for name in claimed)
    least = {"boosting": 12, "erm-to-sco": 6, "erm-to-sco (more)": 6, "sco-to-erm": 3, "hard instance": 3}
    assert len(claimed) >= least.get(wrapper, 0), claimed


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_whoever_wraps_a_withdrawn_one_states_nothing(wrapper: str) -> None:
    for name, make in EVERY.items():
        inner = make()
        if not hasattr(inner, "withdraw_guarantee"):
            continue
        withdrawn = dataclasses.replace(inner, withdraw_guarantee=True)
        assert not accepted(WRAPPERS[wrapper], lambda withdrawn=withdrawn: withdrawn)[1], name


@dataclasses.dataclass(frozen=True)
class Gullible(PublicRecordsLast):
    """The fault: which records are protected is forgotten."""

    def guarantees(self, n: int) -> Guarantees:
        found = super().guarantees(n)
        return found.map(lambda one: dataclasses.replace(one, protected=ProtectedRecords()))


@dataclasses.dataclass(frozen=True)
class WithEpsilon(Gullible):
    """The same fault, for a wrapper that splits an epsilon."""

    epsilon: float = 1.0


def test_these_audits_see_what_a_wrapper_would_get_away_with() -> None:
    """A step of 1 forgets all but the last record, so that private ones are perfectly protected, inside."""
    gullible = Gullible(MEAN, 1.0, 0.05, public=1)
    made, stated = accepted(EmpiricalToPopulation, lambda: gullible)
    assert stated.headline.guarantee.privacy_profile(1.0) == 0
    assert any(violated(made, stated.headline.guarantee, *pair, seed=1) for pair in broken_pairs(made))
    boosting = Boosting(WithEpsilon(MEAN, 1.0, 0.05, public=1), repeats=2)
    assert boosting.guarantees(N).headline.guarantee == PureDP(1.0)
    assert any(violated(boosting, PureDP(1.0), *pair, seed=1) for pair in broken_pairs(boosting))


def test_public_records_inside_boosting() -> None:
    """The last record of a private run is public, so that a run says nothing of it, and neither does the choice."""
    inner = ForPrivacy(PublicRecordsLast, MEAN, 1.0, 1e-5, (("public", 1),))
    boosting = Boosting(inner, repeats=2)
    assert inner.guarantees(N).headline.protected == ProtectedRecords(public_last=1)
    assert not boosting.guarantees(N)
    assert boosting.guarantee_at(N, 1) is None
    assert "protects all records but the last 1, not everyone" in boosting.withdrawn(N)[0]
    with pytest.raises(NotGuaranteedError, match="the last 1, not everyone"):
        boosting(line_data([0.0, 0.0, 0.0, 1.0]), rng=Randomness(1), runs=2)


def test_public_records_inside_the_resampling_reduction() -> None:
    """A record that is drawn last is public there, whatever its place in the data set."""
    reduction = EmpiricalToPopulation(PUBLIC)
    assert not reduction.guarantees(N)
    assert reduction.guarantee_at(N, 1) is None
    with pytest.raises(NotGuaranteedError, match="protects all records but the last 1, not everyone"):
        reduction(line_data([0.0, 0.0, 0.0, 1.0]), rng=Randomness(1), runs=2)


def test_public_records_inside_the_boosting_reduction() -> None:
    @dataclasses.dataclass(frozen=True)
    class SteppingAll(PublicRecordsLast):
        hands_over: ClassVar[str] = "all runs"

    for wrap in (on_population, two_phases):
        with pytest.raises(InvalidArgumentError, match="all runs"):
            wrap(PUBLIC)
        reduction = wrap(SteppingAll(MEAN, 0.05, 1.0, public=1))
        assert not reduction.guarantees(N)
        assert reduction.guarantee_at(N, 1) is None
        with pytest.raises(NotGuaranteedError, match="not everyone"):
            reduction(line_data([0.0, 0.0, 0.0, 1.0]), rng=Randomness(1), runs=2)


@dataclasses.dataclass(frozen=True)
class Stating:
    """An algorithm that releases the origin, and states what it is told."""

    problem: Any
    stated: Any
    epsilon: float = 1.0

    hands_over: ClassVar[str] = "all runs"

    def guarantees(self, n: int) -> tuple[Any, ...]:
        return (self.stated,)

    def gradient_query_count(self, n: int) -> int:
        return 0

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        return Output(np.zeros((runs, data.d)))


REFUSED = {
    "not a StatedGuarantee": PureDP(1e-6),
    "about add-or-remove-one neighbors": StatedGuarantee(PureDP(1e-6), Adjacency.ADD_REMOVE_ONE),
    "about index neighbors": StatedGuarantee(PureDP(1e-6), Adjacency.INDEX, index=1),
    "is local": StatedGuarantee(PureDP(1e-6), Adjacency.REPLACE_ONE, local=True),
    "but the first 1": StatedGuarantee(
        PureDP(1e-6), Adjacency.REPLACE_ONE, protected=ProtectedRecords(public_first=1)
    ),
    "a further input is fixed: the centers": StatedGuarantee(
        PureDP(1e-6),
        Adjacency.REPLACE_ONE,
        conditions=(Condition(ConditionKind.GIVEN_INPUT, "the centers"),),
    ),
    "those drawn inside": StatedGuarantee(
        PureDP(1e-6), Adjacency.REPLACE_ONE, conditions=(Condition(ConditionKind.OTHER_DATA),)
    ),
}


@pytest.mark.parametrize("said", REFUSED)
@pytest.mark.parametrize("wrap", [boosted, EmpiricalToPopulation, on_population])
def test_what_is_not_understood_is_refused_in_a_sentence(wrap: Callable[[Any], Any], said: str) -> None:
    made = wrap(Stating(MEAN, REFUSED[said]))
    assert not made.guarantees(N)
    with pytest.raises(NotGuaranteedError, match=said):
        made(line_data([0.0, 0.0, 0.0, 1.0]), rng=Randomness(1), runs=2)


def test_refusals_are_passed_on_where_that_is_right() -> None:
    refusing = Condition(ConditionKind.NEVER_REFUSED, "one without a certificate is")
    stated = StatedGuarantee(PureDP(1e-6), Adjacency.REPLACE_ONE, conditions=(refusing,))
    for wrap in (boosted, on_population, two_phases):
        found = wrap(Stating(MEAN, stated))
        assert found.guarantees(N)
        assert all(one.conditions == (refusing, on_trust("Stating")) for one in found.guarantees(N))
        assert found.guarantee_at(N, 2).conditions == (refusing, on_trust("Stating"))
    # what is replaced twice passes over data sets that hold both records, which nobody runs on
    assert not EmpiricalToPopulation(Stating(MEAN, stated)).guarantees(N)
    free = StatedGuarantee(PureDP(1e-6), Adjacency.REPLACE_ONE)
    resampled = EmpiricalToPopulation(Stating(MEAN, free)).guarantees(N)
    assert all(one.conditions == (on_trust("Stating"),) for one in resampled)


def on_trust(name: str) -> Condition:
    """What a wrapper adds to the word of an algorithm that is not this project's."""
    return Condition(ConditionKind.AS_DECLARED, f"{name} guarantees what it states")


def test_a_claim_without_conditions_comes_first() -> None:
    refusing = (Condition(ConditionKind.NEVER_REFUSED),)

    @dataclasses.dataclass(frozen=True)
    class Two(Stating):
        def guarantees(self, n: int) -> tuple[Any, ...]:
            return (
                StatedGuarantee(PureDP(1e-6), Adjacency.REPLACE_ONE, conditions=refusing),
                StatedGuarantee(PureDP(1e-5), Adjacency.REPLACE_ONE),
            )

    assert boosted(Two(MEAN, None)).guarantees(N).headline.conditions == (on_trust("Two"),)


@pytest.mark.parametrize("wrap", [EmpiricalToPopulation, on_population])
def test_an_algorithm_without_a_problem_of_its_own_is_refused(wrap: Callable[[Any], Any]) -> None:
    """`problem` of a wrapper is its algorithm's: it cannot be replaced, and was refused in the middle of a run."""
    for name in ("bst14.alg-boost", "mn25.sco-to-erm", "mn25.erm-to-sco", "bst14.alg-huber"):
        with pytest.raises(InvalidArgumentError, match="a field `problem`"):
            wrap(EVERY[name]())


@dataclasses.dataclass(frozen=True)
class Straying:
    """1e-3-DP: it releases the same point, far outside of its ball."""

    problem: Any

    hands_over: ClassVar[str] = "all runs"

    def guarantees(self, n: int) -> tuple[StatedGuarantee, ...]:
        return (StatedGuarantee(PureDP(1e-3), Adjacency.REPLACE_ONE),)

    def gradient_query_count(self, n: int) -> int:
        return 0

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        return Output(40.0 * np.where(rng.uniform((runs, 1), "side") < 0.5, -1.0, 1.0))


def test_a_solver_that_leaves_its_ball_is_projected() -> None:
    """Scores of points 40 away move by 40 times of what the selection allows for: the choice is the record's sign."""
    reduction = PopulationToEmpirical(
        Straying(LINE),
        0.5,
        accuracy=0.5,
        boosts=3,
        balls=1,
        phases=1,
        regularization=1e-9,
        minibatch=N,
    )
    (stated,) = reduction.guarantees(N)
    assert stated.guarantee == PureDP(0.5 + 3e-3)
    left = line_data([1.0, 0.0, 0.0, 0.0])
    assert not violated(reduction, stated.guarantee, left, left.replace(1, np.array([-1.0]), 1.0), 3)
    assert np.all(np.abs(run(reduction, left, runs=50, seed=1).points) <= 1 + 1e-12)


def test_a_trial_states_what_holds_on_its_instance() -> None:
    optimizer = EVERY["bst14.alg1"]()
    on_lines = EVERY["mn25.hard-instance (trial)"]()
    steep = dataclasses.replace(HARD, lipschitz_constant=50.0)
    # the noise of a fixed constant is in units of the loss's Lipschitz constant, so that privacy stays
    assert on_lines.guarantees(N).headline.guarantee == optimizer.guarantees(N).headline.guarantee
    noisy = EVERY["mn25.alg3"]()
    flat = OnHardInstance(dataclasses.replace(HARD, lipschitz_constant=0.5), noisy)
    assert flat.guarantees(N)
    assert not OnHardInstance(steep, noisy).guarantees(N)
    from_records = dataclasses.replace(HARD, directions_from="records")
    assert not OnHardInstance(from_records, noisy).guarantees(N)
    assert not dataclasses.replace(flat, withdraw_guarantee=True).guarantees(N)


def test_resampled_guarantees_hold_for_every_multiplicity() -> None:
    """Two records, both draws of the changed one: a Gaussian mean of the resample against the claimed profile."""
    n, mu = 2, 0.8
    claim = (
        EmpiricalToPopulation(Stating(MEAN, StatedGuarantee(GDP(mu), Adjacency.REPLACE_ONE)))
        .guarantees(n)
        .headline
    )
    # k of the two places hold the changed record with probability 1/4, 1/2, 1/4; each moves the mean by mu
    epsilons = np.linspace(0.0, 3.0, 13)
    grid = np.linspace(-12, 14, 20001)
    density = [np.exp(-0.5 * (grid - k * mu) ** 2) / math.sqrt(2 * math.pi) for k in range(3)]
    left, right = 0.25 * density[0] + 0.5 * density[1] + 0.25 * density[2], density[0]
    step = grid[1] - grid[0]
    for epsilon in epsilons:
        exact = max(
            float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)) * step)
            for p, q in ((left, right), (right, left))
        )
        assert exact <= float(claim.guarantee.privacy_profile(float(epsilon))) + 1e-9


def test_a_claim_is_looked_for_with_the_budget_of_one_run() -> None:
    stated = StatedGuarantee(ApproxDP(0.25, 5e-6), Adjacency.REPLACE_ONE)
    assert not Boosting(Stating(MEAN, stated), repeats=2).guarantees(N)
