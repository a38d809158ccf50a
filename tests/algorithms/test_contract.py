"""Every algorithm keeps the contract, and every part of the contract is able to fail."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from every_algorithm import EVERY, MEAN, line_data

from dpverify.algorithms.bst14 import Boosting, OutputPerturbation
from dpverify.algorithms.contract import Algorithm, Guarantees
from dpverify.algorithms.listing import algorithms_of
from dpverify.algorithms.promises import StatedQueries
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, Adjacency, ApproxDP, StatedGuarantee
from dpverify.problems import Dataset
from dpverify.properties import check_algorithm, check_batch_sizes
from dpverify.properties.algorithm_contract import check_queries
from dpverify.running import Output, Randomness, fingerprint, run
from dpverify.statements.paper import papers

DATA = line_data([0.5, -0.25, 1.0, -0.75])
OUTSIDE = line_data([0.5, -0.25, 3.0, -0.75])
"""A record of norm 3, where losses have constants for records in the unit ball."""
WIDE = Dataset(np.eye(4), np.ones(4))

SUBJECTS: dict[str, Callable[[], Any]] = {
    **{name: make for name, make in EVERY.items() if hasattr(make(), "id")},
    # a net with a single point shows no randomness
    "bst14.alg-boost": lambda: Boosting(OutputPerturbation(MEAN, 1.0), repeats=2),
}
DATA_OF: dict[str, Any] = {"mn25.hard-instance (trial)": WIDE}
COSTLY = frozenset({"gll22.rem (alternating)", "gll22.alg1"})
"""Algorithms of which a run takes long."""
SLOWER = frozenset({"bst14.alg-local-approx", "bst14.alg-objpert (Gaussian)", "mn25.sco-to-erm"})
"""Of which 800 runs take seconds."""
LOOKS_AT_NO_RECORD = {
    "fmtt18.cni": "the maps are the user's, and look at the records",
    "gll22.lower-instance": "it draws its records itself",
    "mn25.hard-instance": "it draws its records itself",
    "mn25.hard-instance (trial)": "it draws its records itself",
    "mn25.fingerprint": "it draws its records itself",
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_algorithm_keeps_the_contract(name: str) -> None:
    refused = () if name in LOOKS_AT_NO_RECORD else (OUTSIDE, WIDE)
    few = {"runs": 3, "block_size": 1} if name in COSTLY else {}
    check_algorithm(SUBJECTS[name](), DATA_OF.get(name, DATA), refused=refused, **few)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in SUBJECTS if name not in COSTLY | SLOWER])
def test_outputs_do_not_depend_on_how_many_runs_are_made_at_once(name: str) -> None:
    """False alarm: 1e-6 for each algorithm, once, when the seed was chosen."""
    check_batch_sizes(SUBJECTS[name](), DATA_OF.get(name, DATA), runs=400, sizes=(2, 50))


def test_every_row_is_among_them() -> None:
    tried = {make().id for make in SUBJECTS.values()}
    rows = {one.id for key, paper in papers().items() if paper.algorithms for one in algorithms_of(key)}
    assert rows <= tried
    assert len(rows) == 34


def test_a_few_have_the_same_bits_in_other_processes() -> None:
    """Steps, walks, stops, phases; the others are sent in the same way."""
    for name in ("bst14.alg1", "bst14.alg-cube", "fmtt18.stop", "mn25.alg5"):
        check_algorithm(SUBJECTS[name](), DATA, executors=("processes=2",))


def test_fingerprints_are_those_of_another_process() -> None:
    """With another hash seed, so that nothing rests on the order of a set."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_contract import SUBJECTS\n"
        "from dpverify.running import fingerprint\n"
        "print(*(fingerprint(make()) for make in SUBJECTS.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert done.stdout.split() == [fingerprint(make()) for make in SUBJECTS.values()]


# ------------------------------------------------------------------------------------------ planted faults


@dataclasses.dataclass(frozen=True)
class Mine(Algorithm):
    """A user's own algorithm: the mean of records in [-1, 1], one gradient query a record."""

    noise_stddev: float = 4.0
    withdraw_guarantee: bool = False

    id: ClassVar[str] = "mine.mean"
    calls: ClassVar[list[int]] = []

    def guarantees(self, n: int) -> Guarantees:
        n = whole_number("n", n, at_least=1)
        if self.withdraw_guarantee:
            return Guarantees()
        return Guarantees(StatedGuarantee(GDP(2 / n / self.noise_stddev), Adjacency.REPLACE_ONE))

    def withdrawn(self, n: int) -> tuple[str, ...]:
        whole_number("n", n, at_least=1)
        return ("it was withdrawn",) if self.withdraw_guarantee else ()

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        return (StatedQueries("gradient", whole_number("n", n, at_least=1)),)

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        data.in_unit_ball()
        noise = self.noise_stddev * rng.normal((runs, 1), "noise")
        return Output(np.mean(data.features, axis=0) + noise, gradient_queries=data.n)


def test_a_users_own_algorithm_keeps_it() -> None:
    check_algorithm(Mine(), DATA, refused=(OUTSIDE,))


class DependsOnTheChunk(Mine):
    """Counts its calls in the process: blocks are other ones the second time, and elsewhere."""

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        self.calls.append(runs)
        made = super().__call__(data, rng=rng, runs=runs)
        return dataclasses.replace(made, points=made.points + len(self.calls))


class DependsOnTheRuns(Mine):
    """Bits that change with the size of the last block are the harness's; here whole blocks change with the seed's."""

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        made = super().__call__(data, rng=rng, runs=runs)
        return dataclasses.replace(made, points=np.random.default_rng().normal(size=made.points.shape))


class IgnoresRng(Mine):
    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        data.in_unit_ball()
        return Output(np.zeros((runs, 1)), gradient_queries=data.n)


class Miscounts(Mine):
    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        return dataclasses.replace(super().__call__(data, rng=rng, runs=runs), gradient_queries=data.n + 1)


class SharpestIsBlunt(Mine):
    def guarantees(self, n: int) -> Guarantees:
        stated = super().guarantees(n)
        if not stated:
            return stated
        return Guarantees(stated.headline, sharpest=StatedGuarantee(GDP(5.0), Adjacency.REPLACE_ONE))


class PrintedIsSharper(Mine):
    def guarantees(self, n: int) -> Guarantees:
        stated = super().guarantees(n)
        if not stated:
            return stated
        return Guarantees(stated.headline, as_printed=StatedGuarantee(GDP(1e-3), Adjacency.REPLACE_ONE))


class _Rising(GDP):
    def privacy_profile(self, epsilon: Any) -> Any:
        return 0.1 + 0.01 * np.asarray(epsilon)


class _Large(GDP):
    def privacy_profile(self, epsilon: Any) -> Any:
        return 1.5 - 0.1 * np.asarray(epsilon)


class ProfileRises(Mine):
    def guarantees(self, n: int) -> Guarantees:
        whole_number("n", n, at_least=1)
        return Guarantees(StatedGuarantee(_Rising(1.0), Adjacency.REPLACE_ONE))


class ProfileAboveOne(Mine):
    def guarantees(self, n: int) -> Guarantees:
        whole_number("n", n, at_least=1)
        return Guarantees(StatedGuarantee(_Large(1.0), Adjacency.REPLACE_ONE))


class WorseForARecord(Mine):
    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        found = super().guarantee_at(n, index)
        return None if found is None else dataclasses.replace(found, guarantee=GDP(3.0))


class NothingForARecord(Mine):
    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        super().guarantee_at(n, index)
        return None


class StatesWhatWasWithdrawn(Mine):
    def guarantees(self, n: int) -> Guarantees:
        return dataclasses.replace(Mine(self.noise_stddev)).guarantees(n)


class GivesNoReason(Mine):
    def withdrawn(self, n: int) -> tuple[str, ...]:
        whole_number("n", n, at_least=1)
        return ()


class TakesAnyNumber(Mine):
    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        return (StatedQueries("gradient", n),)


class StatesByPosition(Mine):
    def guarantees(self, n: int) -> Any:
        return tuple(super().guarantees(n))


class TakesAnyRecord(Mine):
    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        return Output(
            np.mean(data.features, axis=0) + rng.normal((runs, 1), "noise"), gradient_queries=data.n
        )


class FaultOnRecords(Mine):
    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        assert data.d == 1
        data.in_unit_ball()
        return super().__call__(data, rng=rng, runs=runs)


@dataclasses.dataclass(frozen=True)
class NotPickled(Mine):
    hook: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "hook", lambda: None)


class OtherAfterPickling(Mine):
    def __reduce__(self) -> Any:
        return OtherAfterPickling, (2 * self.noise_stddev,)


@pytest.mark.parametrize(
    ("faulty", "says"),
    [
        (DependsOnTheChunk, "different bits"),
        (DependsOnTheRuns, "different bits"),
        (IgnoresRng, "does not use `rng`"),
        (Miscounts, "it states 4 gradient queries, and makes 5 to 5"),
        (SharpestIsBlunt, "the sharpest guarantee is above the headline"),
        (PrintedIsSharper, "the sharpest guarantee is above the guarantee as printed"),
        (ProfileRises, "rises with epsilon"),
        (ProfileAboveOne, r"leaves \[0, 1\]"),
        (WorseForARecord, "above the one for all records"),
        (NothingForARecord, "protected, but by no guarantee of its own"),
        (StatesWhatWasWithdrawn, "states guarantees"),
        (GivesNoReason, "no reason"),
        (TakesAnyNumber, r"queries\(0\) is not refused"),
        (StatesByPosition, r"guarantees\(4\) is a tuple"),
        (TakesAnyRecord, "it takes data set 1"),
        (NotPickled, "cannot be pickled"),
        (OtherAfterPickling, "a pickled copy has a different fingerprint"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_faults_are_seen(faulty: type[Mine], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_algorithm(faulty(), DATA, refused=(OUTSIDE,))


def test_a_refusal_has_to_be_in_words() -> None:
    check_algorithm(FaultOnRecords(), DATA, refused=(OUTSIDE,))
    with pytest.raises(AssertionError, match="data set 2"):
        check_algorithm(FaultOnRecords(), DATA, refused=(line_data([np.e]), WIDE))


def test_what_is_no_algorithm_is_named() -> None:
    for stranger in (print, 3, Mine):
        with pytest.raises(AssertionError, match="frozen dataclass"):
            check_algorithm(stranger, DATA)
    with pytest.raises(InvalidArgumentError, match="n was"):
        check_algorithm(Mine(), [1.0])


def test_bounds_in_expectation_are_held_against_the_mean() -> None:
    algorithm = SUBJECTS["gll22.alg1"]()
    found = run(algorithm, DATA, runs=20, seed=0, block_size=4)
    check_queries(algorithm, found, 4)
    more = dataclasses.replace(found, value_queries=found.value_queries * 100)
    with pytest.raises(AssertionError, match="value queries in expectation"):
        check_queries(algorithm, more, 4)


def test_guarantees_have_names_and_no_positions() -> None:
    first, second, local = (
        StatedGuarantee(guarantee, Adjacency.REPLACE_ONE, local=local)
        for guarantee, local in ((ApproxDP(1.0, 0.2), False), (GDP(0.5), False), (GDP(0.1), True))
    )
    nothing = Guarantees()
    assert not nothing
    for name in ("headline", "sharpest"):
        with pytest.raises(NotGuaranteedError, match="No guarantee is stated"):
            getattr(nothing, name)
    stated = Guarantees(first, sharpest=second, as_printed=first, local=local)
    assert list(stated) == [first, second, local]
    assert len(stated) == 3
    with pytest.raises(TypeError):
        stated[0]  # type: ignore[index]
    assert list(stated.without_local()) == [first, second]
    assert not Guarantees(local).without_local()
    renamed = stated.map(lambda one: dataclasses.replace(one, sources=("mine",)))
    assert renamed.as_printed is renamed.headline
    assert renamed.sharpest.sources == ("mine",)
    # of guarantees without a name, the sharpest is found; the local one is another thing
    assert Guarantees(first, others=(second, local)).sharpest is second
    assert Guarantees(second, others=(first,)).sharpest is second
    # one that is sharper somewhere and blunter elsewhere is not it
    blunt = StatedGuarantee(ApproxDP(0.5, 0.3), Adjacency.REPLACE_ONE)
    assert Guarantees(second, others=(blunt,)).sharpest is second
    with pytest.raises(InvalidArgumentError, match="headline"):
        Guarantees(local=local)
    with pytest.raises(InvalidArgumentError, match="sharpest"):
        Guarantees(first, sharpest=GDP(1.0))  # type: ignore[arg-type]
