"""Audits of what users bring: sample files, or a function of their own."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify import checks
from dpverify.auditing import Encoder, audit_privacy, privacy_entry, read_samples
from dpverify.auditing.sequential import SequentialAuditor, sequential_entry
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, parse_claim
from dpverify.problems import read_csv
from dpverify.problems.neighbors import check_neighbors, checked_adjacency
from dpverify.running import Executor, Limits, Progress, Target, UserMechanism, repeats, run
from dpverify.running.store import opened

BLOCK = 1000
"""Runs in a block: small, since a user's function may take long for one run."""


def _command(*words: object) -> str:
    return shlex.join(str(word) for word in words)


_SETTLED = 100
"""Runs from which the time of a round says something about the time of the rest."""
_SILENCE = 10.0
"""Seconds after which a sequential audit says how far it is, if runs have not doubled before."""

NOT_REPEATED = (
    "cannot be reproduced from the seed: the outputs do not repeat under the same seed, so the function draws "
    "randomness from elsewhere than rng, or keeps something from call to call"
)
"""Stands where the line that reproduces an audit would stand."""


def audit_samples(
    left: Path,
    right: Path,
    *,
    claim: str,
    failure_probability: float,
    seed: int,
    adjacency: Adjacency | str | None = None,
) -> PrivacyEvidence:
    """Audit two sample files; whoever drew them vouches that the data sets are neighbors, by `adjacency` if given.

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim, an adjacency or a file that cannot be used.
    """
    begin = time.perf_counter()
    guarantee = parse_claim(claim)
    by = None if adjacency is None else checked_adjacency(adjacency)
    encoder = Encoder()
    audit = audit_privacy(
        *encoder.rows(read_samples(left), read_samples(right)),
        guarantee,
        adjacency="as the samples were drawn" if by is None else by,
        failure_probability=failure_probability,
        seed=seed,
    )
    more = () if by is None else ("--adjacency", by.value)
    entry = privacy_entry(
        audit,
        subject=f"{left} and {right}",
        title=f"{left} and {right} against {guarantee}",
        data="samples as given",
        reproduce=_command(
            "dpverify", "audit", "--left", left, "--right", right, "--claim", claim, *more,
            "--failure-probability", failure_probability, "--seed", seed,
        ),
        seconds=round(time.perf_counter() - begin, 3),
    )  # fmt: skip
    return entry.model_copy(update={"outputs": encoder.says()})


def audit_function(
    target: str | Target,
    data: Path,
    neighbor: Path,
    *,
    claim: str,
    runs: int,
    failure_probability: float,
    seed: int,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    executor: str = "serial",
    store: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> PrivacyEvidence:
    """Run a user's function, estimator or command on two data sets and audit what comes out.

    The data sets are neighbors by `adjacency`, with their records in the same order: one replaced, or one record more
    in one of them. The function runs in worker processes within `limits`; what it prints goes to standard error, and
    only outputs come back. A block is run twice: where its bits differ, the entry says that nothing is reproduced from
    the seed.

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim, function, file or output that cannot be used, for
            a function that exits, ends its process, fails or does not come back within its limits, and for data sets
            that are no neighbors.
    """
    begin = time.perf_counter()
    named = target if isinstance(target, Target) else Target(target)
    guarantee = parse_claim(claim)
    checks.failure_probability("--failure-probability", failure_probability)
    workers = Executor.parse(executor)
    limits = limits or Limits()
    by, pair = _neighbors(data, neighbor, adjacency)
    with UserMechanism.load(named, limits=limits) as mechanism, opened(store) as open_store:
        samples = [
            run(
                mechanism,
                records,
                runs=runs,
                seed=(seed, side),
                executor=workers,
                store=open_store,
                progress=progress,
                block_size=BLOCK,
                result_limit=limits.memory // 2,
            ).points
            for side, records in enumerate(pair)
        ]
        reuse = None if open_store is None else open_store.reuse()
        same = all(
            repeats(mechanism, records, points, seed=(seed, side), block_size=BLOCK)
            for side, (records, points) in enumerate(zip(pair, samples, strict=True))
        )
    encoder = Encoder()
    left, right = encoder.rows(*samples)
    audit = audit_privacy(
        left, right, guarantee, adjacency=by, failure_probability=failure_probability, seed=seed
    )
    more = () if by is Adjacency.REPLACE_ONE else ("--adjacency", by.value)
    again = _command(
        "dpverify", "audit", *named.options, "--data", data, "--neighbor", neighbor, "--claim", claim, *more,
        "--fixed-runs", "--runs", runs, "--failure-probability", failure_probability, "--seed", seed,
    )  # fmt: skip
    entry = privacy_entry(
        audit,
        subject=str(named),
        title=f"{named} against {guarantee}",
        data=f"{data} and {neighbor}",
        reproduce=again if same else NOT_REPEATED,
        seconds=round(time.perf_counter() - begin, 3),
    )
    found = {"repeats": same, "reuse": reuse, "outputs": encoder.says()}
    return entry.model_copy(update=found | {"reason": encoder.in_words(entry.reason)})


def audit_function_sequentially(
    target: str | Target,
    data: Path,
    neighbor: Path,
    *,
    claim: str,
    runs: int,
    failure_probability: float,
    seed: int,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    executor: str = "serial",
    store: str | None = None,
    limits: Limits | None = None,
    seconds: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> PrivacyEvidence:
    """The same, round by round, until the claim is refuted or `runs` runs were made on each data set.

    Nothing is run where so many runs could not refute the claim. After `seconds` of running no further round begins;
    the verdict is then that of so many runs, and the line that reproduces it says how many: it depends on the clock in
    no other way. `tell` gets a line before the first run, and now and then until the end.

    Raises:
        InvalidArgumentError, InvalidDataError: as `audit_function`.
    """
    begin = time.perf_counter()
    named = target if isinstance(target, Target) else Target(target)
    guarantee = parse_claim(claim)
    checks.failure_probability("--failure-probability", failure_probability)
    workers = Executor.parse(executor)
    limits = limits or Limits()
    by, pair = _neighbors(data, neighbor, adjacency)
    auditor = SequentialAuditor(guarantee, by, failure_probability, seed, runs)
    encoder = Encoder()
    stopped, reuse, same = "", None, None
    with UserMechanism.load(named, limits=limits) as mechanism, opened(store) as open_store:
        tell(auditor.foretell())
        if auditor.possible:
            clock = _Clock(seconds, tell, auditor)
            for number, size in enumerate(auditor.rounds()):
                if stopped := clock.stops(size):
                    break
                samples = [
                    run(
                        mechanism,
                        records,
                        runs=size,
                        seed=(seed, side, number),
                        executor=workers,
                        store=open_store,
                        block_size=BLOCK,
                        result_limit=limits.memory // 2,
                    ).points
                    for side, records in enumerate(pair)
                ]
                clock.after_running(size)
                auditor.see(*encoder.rows(*samples))
                clock.after_round()
                if auditor.violated:
                    break
            reuse = None if open_store is None else open_store.reuse()
            last = number - 1 if stopped else number
            same = all(
                repeats(mechanism, records, points, seed=(seed, side, last), block_size=BLOCK)
                for side, (records, points) in enumerate(zip(pair, samples, strict=True))
            )
    audit = auditor.result(stopped=stopped)
    more = () if by is Adjacency.REPLACE_ONE else ("--adjacency", by.value)
    again = _command(
        "dpverify", "audit", *named.options, "--data", data, "--neighbor", neighbor, "--claim", claim, *more,
        "--runs", audit.runs if stopped else runs, "--failure-probability", failure_probability, "--seed", seed,
    )  # fmt: skip
    entry = sequential_entry(
        audit,
        subject=str(named),
        title=f"{named} against {guarantee}",
        data=f"{data} and {neighbor}",
        reproduce=NOT_REPEATED if same is False else again,
        seconds=round(time.perf_counter() - begin, 3),
    )
    found = {"repeats": same, "reuse": reuse, "outputs": encoder.says()}
    return entry.model_copy(update=found | {"reason": encoder.in_words(entry.reason)})


class _Clock:
    """When to tell how far a sequential audit is, and when no further round fits into its time."""

    def __init__(
        self, seconds: float | None, tell: Callable[[str], None], auditor: SequentialAuditor
    ) -> None:
        self._seconds, self._tell, self._auditor = seconds, tell, auditor
        self._begin = self._told_at = time.perf_counter()
        self._told_runs, self._a_run = 0, 0.0

    def stops(self, size: int) -> str:
        """Why no round of `size` runs should begin; empty if it should."""
        now, runs = time.perf_counter(), self._auditor.runs
        self._round_from = now
        if self._seconds is None or not runs:
            return ""
        expected = now - self._begin + self._a_run * size
        return f"the limit of {self._seconds:g} s" if expected > self._seconds else ""

    def after_running(self, size: int) -> None:
        """A round of `size` runs was made; the first also starts processes."""
        self._a_run = (time.perf_counter() - self._round_from) / size if self._auditor.runs else 0.0

    def after_round(self) -> None:
        """Tell how far it is, where runs have doubled or some seconds have passed."""
        now, runs = time.perf_counter(), self._auditor.runs
        if runs < 2 * self._told_runs and now - self._told_at < _SILENCE:
            return
        left = self._a_run * (self._auditor.most_runs - runs)
        self._tell(
            f"{self._auditor.so_far()}; {now - self._begin:.1f} s"
            + (f", and about {left:.0f} s more for all runs" if left >= 1 and runs >= _SETTLED else "")
        )
        self._told_at, self._told_runs = now, runs


def _neighbors(
    data: Path, neighbor: Path, adjacency: Adjacency | str
) -> tuple[Adjacency, list[NDArray[Any]]]:
    """The adjacency and the records of both files, which are neighbors by it."""
    by = checked_adjacency(adjacency)
    if by is Adjacency.INDEX:
        raise InvalidArgumentError(
            "adjacency", by.value, ", ".join(known for known in Adjacency if known is not Adjacency.INDEX)
        )
    pair: list[NDArray[Any]] = [
        np.asarray(read_csv(path, label_column=None).features) for path in (data, neighbor)
    ]
    check_neighbors(pair[0], pair[1], by, names=(str(data), str(neighbor)))
    return by, pair
