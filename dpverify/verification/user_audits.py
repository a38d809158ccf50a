"""Audits of functions, estimators and commands that users bring."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpverify import checks
from dpverify.auditing import (
    Auditor,
    BatchAuditor,
    Encoder,
    ErrorShare,
    Label,
    PairSubject,
    PrivacyQuestion,
)
from dpverify.auditing.looks import EventFilter
from dpverify.auditing.neighbors import load_pair
from dpverify.auditing.sequential import BettingAuditor, SequentialAuditor
from dpverify.auditing.white_box import Stated, WhiteBoxAuditor
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, StatedGuarantee, parse_claim
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.problems import read_csv
from dpverify.problems.neighbors import check_neighbors
from dpverify.quoting import command_line
from dpverify.running import Executor, Limits, Progress, Store, Target, UserMechanism, repeats, run
from dpverify.running.store import opened
from dpverify.running.subjects.user_structures import UserStructure

BLOCK = 1000
"""Runs in a block: small, since a user's function may take long for one run."""


_SETTLED = 100
"""Runs from which the time of a round says something about the time of the rest."""
_SILENCE = 10.0
"""Seconds after which a sequential audit says how far it is, if runs have not doubled before."""

_EVERYWHERE = EventFilter()

NOT_REPEATED = (
    "cannot be reproduced from the seed: the outputs do not repeat under the same seed, so the function draws "
    "randomness from a source other than rng, or keeps state between calls"
)
"""Stands where the line that reproduces an audit would stand."""


@dataclass(frozen=True)
class FunctionQuestion:
    """Whether a user's function keeps a claim on two data sets, and what may be spent on the answer.

    The data sets are neighbors by `adjacency`, with their records in the same order. The function runs in worker
    processes within `limits`; what it prints goes to standard error, and only outputs come back.

    Attributes:
        target: `package.module:function`, or an estimator or a command.
        data: CSV file with a data set, or the JSON file of a pair that a search found.
        neighbor: CSV file with its neighbor, or the same JSON file.
        claim: as `dpverify.privacy.parse_claim` reads it.
        runs: on each data set; at most so many where an audit may stop early.
        failure_probability: of the whole audit.
        seed: of the function's randomness, and of the audit's own.
        adjacency: the neighboring relation.
        executor: where blocks of runs are computed.
        store: file in which finished blocks are kept; not for a command, whose sources are not known.
        limits: for the function.
        delta: where epsilon is bounded; None: where the claim is, and for a curve 1e-5.
        allow_equal: outputs are meant to be equal, which leaves a claim undecided otherwise.

    Raises:
        InvalidArgumentError: for a claim, adjacency, executor, failure probability or store that cannot be used.
    """

    target: str | Target
    data: Path
    neighbor: Path
    claim: str
    runs: int
    failure_probability: float
    seed: int
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE
    executor: str = "serial"
    store: str | None = None
    limits: Limits = field(default_factory=Limits)
    delta: float | None = None
    allow_equal: bool = False

    def __post_init__(self) -> None:
        parse_claim(self.claim)
        checks.failure_probability("--failure-probability", self.failure_probability)
        Executor.parse(self.executor)
        if self.store is not None and self.named.command:
            # what a command loads is not known, so that kept runs might be those of another program
            raise InvalidArgumentError("--store", self.store, "no store where a command is run")
        try:
            known = checked_adjacency(self.adjacency) is not Adjacency.INDEX
        except InvalidArgumentError:
            known = False
        if not known:
            allowed = ", ".join(one for one in Adjacency if one is not Adjacency.INDEX)
            raise InvalidArgumentError("adjacency", str(self.adjacency), allowed)

    @property
    def named(self) -> Target:
        """What is run."""
        return self.target if isinstance(self.target, Target) else Target(self.target)

    def again(self, runs: int, *more: str) -> str:
        """The command line that repeats the audit with so many runs."""
        by = checked_adjacency(self.adjacency)
        sides: tuple[object, ...] = ("--data", self.data, "--neighbor", self.neighbor)
        how: tuple[str, ...] = () if by is Adjacency.REPLACE_ONE else ("--adjacency", by.value)
        if self.in_one_file:
            sides, how = ("--pair", self.data), ()  # the file says the adjacency
        how += () if self.delta is None else ("--delta", repr(self.delta))
        how += ("--allow-equal",) if self.allow_equal else ()
        return command_line(
            "dpverify", "audit", *self.named.options, *sides,
            "--claim", self.claim, *how, *more, "--runs", runs,
            "--failure-probability", self.failure_probability, "--seed", self.seed,
        )  # fmt: skip

    @property
    def in_one_file(self) -> bool:
        """Whether both data sets are in the file of a pair that a search found."""
        return self.data == self.neighbor and self.data.suffix == ".json"

    def asks(self) -> PrivacyQuestion:
        """What an auditor is asked."""
        guarantee = parse_claim(self.claim)
        return PrivacyQuestion(
            StatedGuarantee(guarantee, checked_adjacency(self.adjacency)),
            f"both of {self.data}" if self.in_one_file else f"{self.data} and {self.neighbor}",
            self.runs,
            delta=self.delta,
            label=Label(str(self.named), f"{self.named} against {guarantee}", "", self.seed),
        )


def audit_function(
    question: FunctionQuestion, *, looks: EventFilter = _EVERYWHERE, progress: Progress | None = None
) -> PrivacyEvidence:
    """Run a user's function on two data sets, as often as asked, and audit what comes out.

    `looks` says at what of the outputs.
    A block is run twice: where its bits differ, the entry says that nothing is reproduced from the seed.

    Raises:
        InvalidArgumentError, InvalidDataError: for a function, file or output that cannot be used, for a function that
            exits, ends its process, fails or does not come back within its limits, and for data sets that are no
            neighbors.
    """
    how = ("--fixed-runs", *looks.options())
    auditor = BatchAuditor(looks)
    return _answered(question, auditor, lambda _: question.again(question.runs, *how), progress)


def audit_function_sequentially(
    question: FunctionQuestion,
    *,
    seconds: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> PrivacyEvidence:
    """The same, round by round, until the claim is refuted or all runs were made.

    Nothing is run where so many runs could not refute the claim. After `seconds` of running no further round begins;
    the verdict is then that of so many runs, and the line that reproduces it says how many: it depends on the clock in
    no other way. `tell` gets a line before the first run, and now and then until the end.

    Raises:
        InvalidArgumentError, InvalidDataError: as `audit_function`.
    """
    clock = _Clock(seconds, tell)
    return _answered(
        question,
        BettingAuditor(clock),
        lambda found: question.again(found.runs if clock.stopped else question.runs),
    )


def audit_function_white_box(
    question: FunctionQuestion, structure: str, *, progress: Progress | None = None
) -> PrivacyEvidence:
    """Audit a function by the steps that another function states of it, which its outputs are compared with.

    Args:
        question: its runs are simulated, on each data set; at most 100,000 outputs of the function are drawn.
        structure: `package.module:function`, from a data set to a `StatedStructure`.
        progress: of the function's runs.

    Raises:
        InvalidArgumentError, InvalidDataError: as `audit_function`, and for what is no structure.
    """
    how = ("--structure", structure)
    auditor = _ByStructure(question, structure)
    return _answered(question, auditor, lambda _: question.again(question.runs, *how), progress)


def _answered(
    question: FunctionQuestion,
    auditor: Auditor[PrivacyQuestion, PairSubject, PrivacyEvidence],
    again: Callable[[PrivacyEvidence], str],
    progress: Progress | None = None,
) -> PrivacyEvidence:
    """What an auditor finds, with what is known of the function's runs."""
    begin = time.perf_counter()
    pair = _neighbors(question)
    with (
        UserMechanism.load(question.named, limits=question.limits) as mechanism,
        opened(question.store) as store,
    ):
        subject = _Function(question, mechanism, pair, store, progress)
        found = auditor.audit(question.asks(), subject, ErrorShare(question.failure_probability))
        same = subject.repeats()
        reuse = None if store is None or same is None else store.reuse()
    return found.model_copy(
        update={
            "reproduce": NOT_REPEATED if same is False else again(found),
            "repeats": same,
            "reuse": reuse,
            "outputs": subject.encoder.says(),
            **subject.encoder.judged(
                found.verdict, found.reason, found.gap, allow_equal=question.allow_equal
            ),
            "seconds": round(time.perf_counter() - begin, 3),
        }
    )


@dataclass(frozen=True)
class _ByStructure:
    """A white-box auditor that has the structure stated while it audits."""

    question: FunctionQuestion
    structure: str
    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: PairSubject, error: ErrorShare) -> PrivacyEvidence:
        with UserStructure(self.structure, self.question.limits) as stated:
            left, right = (stated.of(records) for records in _neighbors(self.question))
            return WhiteBoxAuditor().audit(question, Stated(subject, (left, right)), error)


class _Function:
    """A user's function on two data sets: rounds of runs with random numbers of their own."""

    def __init__(
        self,
        question: FunctionQuestion,
        mechanism: UserMechanism,
        pair: list[NDArray[Any]],
        store: Store | None,
        progress: Progress | None,
    ) -> None:
        self._question, self._mechanism, self._pair = question, mechanism, pair
        self._store, self._progress = store, progress
        self.encoder = Encoder()
        self.name_event = self.encoder.name_event
        self._rounds = 0
        self._last: list[NDArray[Any]] = []

    def draw(self, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """A round of so many runs on each data set."""
        self._last = [
            run(
                self._mechanism,
                records,
                runs=count,
                seed=(self._question.seed, side, self._rounds),
                executor=Executor.parse(self._question.executor),
                store=self._store,
                progress=self._progress,
                block_size=BLOCK,
                result_limit=self._question.limits.memory // 2,
            ).points
            for side, records in enumerate(self._pair)
        ]
        self._rounds += 1
        return self.encoder.rows(*self._last)

    def repeats(self) -> bool | None:
        """Whether a block of the last round gives the same bits again; None where nothing was drawn."""
        if not self._rounds:
            return None
        return all(
            repeats(
                self._mechanism,
                records,
                points,
                seed=(self._question.seed, side, self._rounds - 1),
                block_size=BLOCK,
            )
            for side, (records, points) in enumerate(zip(self._pair, self._last, strict=True))
        )


class _Clock:
    """When to tell how far a sequential audit is, and when no further round fits into its time."""

    def __init__(self, seconds: float | None, tell: Callable[[str], None]) -> None:
        self._seconds, self._tell = seconds, tell
        self._told_runs, self._a_run = 0, 0.0
        self.stopped = False

    def begins(self, auditor: SequentialAuditor) -> None:
        """Say what can be found."""
        self._tell(auditor.foretell())
        self._begin = self._told_at = time.perf_counter()

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        """Why no round of `size` runs should begin; empty if it should."""
        now = self._round_from = time.perf_counter()
        if self._seconds is None or not auditor.runs:
            return ""
        self.stopped = now - self._begin + self._a_run * size > self._seconds
        return f"the limit of {self._seconds:g} s" if self.stopped else ""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None:
        """A round of `size` runs was made; the first also starts processes."""
        self._a_run = (time.perf_counter() - self._round_from) / size if auditor.runs else 0.0

    def seen(self, auditor: SequentialAuditor) -> None:
        """Tell how far it is, where runs have doubled or some seconds have passed."""
        now, runs = time.perf_counter(), auditor.runs
        if runs < 2 * self._told_runs and now - self._told_at < _SILENCE:
            return
        left = self._a_run * (auditor.most_runs - runs)
        self._tell(
            f"{auditor.so_far()}; {now - self._begin:.1f} s"
            + (f", and about {left:.0f} s more for all runs" if left >= 1 and runs >= _SETTLED else "")
        )
        self._told_at, self._told_runs = now, runs


def _neighbors(question: FunctionQuestion) -> list[NDArray[Any]]:
    """The records of both files, which are neighbors."""
    if question.in_one_file:
        found = load_pair(question.data)
        return [found.data, found.neighbor]
    files = (question.data, question.neighbor)
    pair: list[NDArray[Any]] = [np.asarray(read_csv(path, label_column=None).features) for path in files]
    by = checked_adjacency(question.adjacency)
    check_neighbors(pair[0], pair[1], by, names=(str(files[0]), str(files[1])))
    return pair
