"""Subjects of audits: mechanisms on data sets, and whatever else a question can be about.

A declared subject says what is run; `on` gives it a `Runner`, which says how, and makes it something that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from dpverify.auditing.complexity import Oracle
from dpverify.auditing.faults import FACTORS
from dpverify.auditing.pairs import PlantedFaults
from dpverify.auditing.white_box.stated_laws import StatedLaw
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval
from dpverify.problems import Dataset, Problem, largest_risk, minimize
from dpverify.running import BLOCK, BatchMechanism, Executor, Progress, Runs, StatedStructure, Store, run

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_COUNTER = {
    "gradient": "gradient_queries",
    "value": "value_queries",
    "projection": "projections",
    "linear minimization": "linear_minimizations",
}


@dataclass(frozen=True)
class Runner:
    """How the runs of one audit are made."""

    seed: tuple[int, ...]
    """Tells the audit's streams from those of others, whatever else is run."""
    executor: Executor = field(default_factory=lambda: Executor("serial"))
    factors: Sequence[float] = FACTORS
    """By how much mechanisms are weakened to try out the audit, from the largest on."""
    progress: Progress | None = None
    store: Store | None = None
    """Where finished work is kept."""

    def runs(
        self, mechanism: BatchMechanism, dataset: Dataset, count: int, *numbers: int, block_size: int = BLOCK
    ) -> Runs:
        """All runs; `numbers` tell streams of the audit apart."""
        return run(
            mechanism,
            dataset,
            runs=count,
            seed=(*self.seed, *numbers),
            executor=self.executor,
            progress=self.progress,
            store=self.store,
            block_size=block_size,
        )

    def at(self, number: int) -> Runner:
        """The runner of one of several subjects."""
        return replace(self, seed=(*self.seed, number))


class SubjectSpec(Protocol[T_co]):
    """What is audited, before it is said how it is run."""

    def on(self, runner: Runner) -> T_co:
        """What auditors take."""


@dataclass(frozen=True)
class FixedSubject(Generic[T]):
    """A subject that needs no runs."""

    subject: T

    def on(self, runner: Runner) -> T:
        """The subject itself."""
        return self.subject


NOTHING = FixedSubject(None)
"""For questions that hold all that they are about."""


@dataclass(frozen=True)
class SubjectList(Generic[T]):
    """Several subjects, with streams of their own."""

    subjects: tuple[SubjectSpec[T], ...]

    def on(self, runner: Runner) -> tuple[T, ...]:
        """One after another."""
        return tuple(subject.on(runner.at(number)) for number, subject in enumerate(self.subjects))


def data_size(declared: object) -> tuple[int, int] | None:
    """Records and features of the largest data set that a declared subject is run on; None where there is none.

    A mechanism that draws its records from the data set says by `sample_size` how many.
    """
    if isinstance(declared, SubjectList):
        found = [size for size in map(data_size, declared.subjects) if size is not None]
        return max(found, default=None)
    data = getattr(declared, "left", getattr(declared, "dataset", None))
    if data is None:
        return None
    drawn = getattr(getattr(declared, "mechanism", None), "sample_size", None)
    return (data.n if drawn is None else int(drawn)), data.d


@dataclass(frozen=True)
class _OnData:
    """A subject that is run: declared without a runner, and something that draws with one."""

    runner: Runner | None = field(default=None, kw_only=True, repr=False)

    def on(self, runner: Runner) -> Self:
        """The same, ready to be run; raises `InvalidArgumentError` for one that is run already."""
        require(self.runner is None, "subject", self, "one that is declared but not yet run")
        return replace(self, runner=runner)

    @property
    def run_by(self) -> Runner:
        """Its runner."""
        assert self.runner is not None
        return self.runner


@dataclass(frozen=True)
class OnPair(_OnData):
    """A mechanism on two neighboring data sets: a `PairSubject` with faults. Asked again, it draws the same runs."""

    mechanism: BatchMechanism
    left: Dataset
    right: Dataset
    weakened: Callable[[float], BatchMechanism] | None = field(default=None, kw_only=True)
    """From a factor k > 1 to the mechanism with its noise divided by k, or its exponent times k.

    It is run on the same pair as often as the mechanism itself, and audited against the same claim: an audit that
    does not flag it at k = 4 sees nothing here, and cannot support the claim.
    """
    fault: str = field(default="", kw_only=True)
    """What the factor does, such as `noise divided by` or `exponent times`."""
    exact: Callable[[float], Interval] | None = field(default=None, kw_only=True)
    """From a delta to an enclosure of the smallest epsilon on this pair, where it is known."""
    exact_weakened: Callable[[float, float], Interval] | None = field(default=None, kw_only=True)
    """The same from a factor and a delta for the weakened mechanism; says why an audit that is blind must be."""
    law: Callable[[Dataset, float], StatedLaw] | None = field(default=None, kw_only=True)
    """From a data set and a factor, 1 for the mechanism itself, to the law of a number of the outputs, if known."""
    factor: float = field(default=1.0, kw_only=True)
    """By which it was weakened."""
    stream: int = field(default=0, kw_only=True)
    """Tells the mechanism and its weakened versions apart."""

    def draw(self, count: int) -> tuple[Any, Any]:
        """All at once, (count, d) each."""
        left, right = (
            self.run_by.runs(self.mechanism, data, count, 2 * self.stream + side).points
            for side, data in enumerate((self.left, self.right))
        )
        return left.reshape(count, -1), right.reshape(count, -1)

    @property
    def structures(self) -> tuple[StatedStructure, StatedStructure]:
        """What the mechanism states of its runs on each data set; raises `InvalidArgumentError` if nothing."""
        stated = getattr(self.mechanism, "structure", None)
        left, right = (stated(data) if callable(stated) else None for data in (self.left, self.right))
        if left is None or right is None:
            raise InvalidArgumentError("mechanism", self.mechanism, "one that states its structure")
        return left, right

    @property
    def laws(self) -> tuple[StatedLaw, StatedLaw] | None:
        """Those of a number of the outputs on each data set; None where they are not known."""
        return (
            None
            if self.law is None
            else (self.law(self.left, self.factor), self.law(self.right, self.factor))
        )

    @property
    def faults(self) -> PlantedFaults:
        """Weakened versions, with streams of their own."""
        return PlantedFaults(self._weaker if self.weakened else None, self.fault, self.run_by.factors)

    def _weaker(self, factor: float) -> OnPair:
        assert self.weakened is not None
        known = self.exact_weakened
        return replace(
            self,
            mechanism=self.weakened(factor),
            factor=factor,
            exact=None if known is None else partial(known, factor),
            stream=1 + list(self.run_by.factors).index(factor),
        )


@dataclass(frozen=True)
class RiskOf(_OnData):
    """The excess risk of a mechanism on one data set, in units of the loss: numbers of runs, and what they can be."""

    mechanism: BatchMechanism
    problem: Problem
    dataset: Dataset
    total: bool = field(kw_only=True)
    """True for a sum over records, False for their mean."""
    runs_a_sample: int = field(default=1, kw_only=True)
    """Runs that share one random data set and count as one observation, their mean."""

    @property
    def quantity(self) -> str:
        """With the unit."""
        return f"expected excess risk ({'sum' if self.total else 'mean'} over records)"

    @property
    def runs_a_number(self) -> int:
        """Those that share a data set."""
        return self.runs_a_sample

    round_unit = runs_a_number

    @property
    def _scale(self) -> float:
        return float(self.dataset.n) if self.total else 1.0

    @cached_property
    def minimum(self) -> Interval:
        """The smallest risk."""
        return self._scaled(minimize(self.problem, self.dataset).value)

    @cached_property
    def _most(self) -> Interval:
        return self._scaled(largest_risk(self.problem, self.dataset))

    def _scaled(self, end: Interval) -> Interval:
        return Interval(lower=self._scale * end.lower, upper=self._scale * end.upper)

    @property
    def lower(self) -> float:
        """Of the smallest risk."""
        return self.minimum.lower

    @property
    def upper(self) -> float:
        """Of the largest risk."""
        return self._most.upper

    @property
    def extreme(self) -> Interval:
        """The largest excess risk, exhibited and certified."""
        least, most = self.minimum, self._most
        return Interval(lower=most.lower - least.upper, upper=most.upper - least.lower)

    def draw_round(self, number: int, count: int) -> Any:
        """The same, in a round of its own."""
        return replace(self, runner=self.run_by.at(number)).draw(count)

    def draw(self, count: int) -> Any:
        """Risks, or means of those that share a data set."""
        several = self.runs_a_sample
        block = BLOCK if several == 1 else several
        runs = self.run_by.runs(self.mechanism, self.dataset, count, block_size=block)
        risks = self._scale * np.asarray(self.problem.mean_risk(runs.points, self.dataset))
        return risks if several == 1 else risks.reshape(-1, several).mean(axis=1)


@dataclass(frozen=True)
class ValuesOf(_OnData):
    """A number that is read off a mechanism's runs on one data set.

    Use it for whatever is bounded and is no excess empirical risk: probabilities (as the mean of an indicator),
    population risks, statistics of an attack, counted queries against a bound in expectation.
    """

    mechanism: BatchMechanism
    dataset: Dataset
    values: Callable[[Runs], Any]
    """From all runs to independent numbers, one a run or (where a block shares something random) one a block,

    each within [lower, upper] by proof, not by luck.
    """
    lower: float
    upper: float
    quantity: str
    """What the number is, with its unit."""
    block_size: int = field(default=0, kw_only=True)
    """Runs in a block; 0 for the usual number."""
    minimum: ClassVar[None] = None
    extreme: ClassVar[None] = None
    runs_a_number: ClassVar[int] = 1

    @property
    def round_unit(self) -> int:
        """Runs of a block, where a number is read off a block."""
        return self.block_size or 1

    def draw_round(self, number: int, count: int) -> Any:
        """The same, in a round of its own."""
        return replace(self, runner=self.run_by.at(number)).draw(count)

    def draw(self, count: int) -> Any:
        """The numbers of so many runs."""
        block = self.block_size or BLOCK
        runs = self.run_by.runs(self.mechanism, self.dataset, count, block_size=block)
        return np.asarray(self.values(runs), dtype=np.float64)


@dataclass(frozen=True)
class LawOf:
    """A sampler on one data set, seen through one number a run."""

    mechanism: BatchMechanism
    dataset: Dataset
    statistic: Callable[[Any], Any]
    """From points (runs, ...) to numbers (runs,)."""
    blind: BatchMechanism | None = field(default=None, kw_only=True)
    """A sampler that ignores the data, such as `audit_parts.UniformOn(constraint)`.

    It is run as often as the sampler and audited alike: an audit that does not reject it cannot support the claim.
    """

    def on(self, runner: Runner) -> _LawRuns:
        """A `Sampler`."""
        return _LawRuns(self, runner)


@dataclass(frozen=True)
class _LawRuns:
    """The numbers of a sampler's runs, and of those of the one that ignores the data."""

    of: LawOf
    runner: Runner

    def draw(self, count: int) -> Any:
        return self.of.statistic(self.runner.runs(self.of.mechanism, self.of.dataset, count).points)

    def blind(self, count: int) -> Any:
        if self.of.blind is None:
            return None
        return self.of.statistic(self.runner.runs(self.of.blind, self.of.dataset, count, 1).points)


@dataclass(frozen=True)
class CountedRuns(_OnData):
    """A mechanism on one data set, whose queries are counted."""

    mechanism: BatchMechanism
    dataset: Dataset

    def count(self, oracle: Oracle, runs: int) -> Any:
        """Of each run."""
        return getattr(self.run_by.runs(self.mechanism, self.dataset, runs), _COUNTER[oracle])
