"""Audits of recorded batches: does every count in them have the law that the accounting assumes?

Each count is binomial under the scheme, over draws that are independent, and is tested exactly; two-sided, twice the
smaller tail is at most a level with probability at most that level. The failure probability goes in equal parts to the
kinds of counts and in each to its counts, so that a false alarm has at most that probability, at any number of batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.batches.schemes import BatchScheme, Indices
from dpverify.auditing.contract import Question
from dpverify.auditing.error_share import ErrorShare
from dpverify.checks import of_kind, with_attribute
from dpverify.errors import InvalidDataError
from dpverify.ledger.evidence import BatchesEvidence, BatchFinding
from dpverify.ledger.verdicts import Gap, Verdict

_LAGS = (1, 2, 3, 5, 8)
"""How far apart batches are that are compared."""
_THRESHOLDS = 24
"""At most so many half-lines of a law are tested."""
_RESIDUES = (2, 4, 8)
_FOLLOWED = 50
_SHOWN = 3
_KEPT = 50
"""Findings that a ledger keeps."""


@dataclass(frozen=True)
class BatchesQuestion(Question):
    """Were these batches drawn as the scheme says?"""

    scheme: BatchScheme
    data: str
    """Where they were recorded."""

    @property
    def claim(self) -> str:
        """The scheme in words."""
        return str(self.scheme)


@dataclass(frozen=True)
class BatchesAuditor:
    """Tests every count of recorded batches; see `audit_batches`."""

    spends: ClassVar[bool] = True

    def audit(
        self, question: BatchesQuestion, subject: Sequence[Indices], error: ErrorShare
    ) -> BatchesEvidence:
        """Count and compare; raises as `audit_batches`."""
        found = audit_batches(subject, question.scheme, failure_probability=error)
        return question.entry(
            BatchesEvidence,
            found,
            runs=found.batches,
            findings=found.findings[:_KEPT],
            shares=error.spent(),
            detects_nothing=found.verdict is Verdict.UNDECIDED,
        )


@dataclass(frozen=True)
class BatchAudit:
    """What recorded batches show of how they are drawn.

    Attributes:
        verdict: violated, supported, or undecided where so few batches could show nothing.
        reason: in words.
        gap: why it is undecided.
        findings: the counts that are too far off, those of smallest probability first.
        impossible: what no batch of the scheme is; None if every batch could be one.
        detectable: for each kind of count, the smallest violation that would have been found half the time.
        batches: that were looked at; passes for shuffled ones.
        counts: that were tested.
        failure_probability: that batches drawn as stated are called violated.
    """

    verdict: Verdict
    reason: str
    findings: tuple[BatchFinding, ...]
    impossible: str | None
    detectable: tuple[str, ...]
    batches: int
    counts: int
    failure_probability: float
    gap: Gap | None = None


@dataclass(frozen=True)
class _Counts:
    """Counts of one kind, shape (k,): each binomial under the scheme."""

    kind: str
    what: Callable[[int], str]
    count: NDArray[np.int64]
    tries: int
    chance: NDArray[np.float64]


def audit_batches(
    batches: Sequence[Indices], scheme: BatchScheme, *, failure_probability: float | ErrorShare = 1e-6
) -> BatchAudit:
    """Test the claim that consecutive batches were drawn as a scheme says.

    Looked at are each batch's form; the whole law of sizes; how often each record comes, each two neighboring ones
    together, and how many of some blocks of records; how much batches share that are 1 to 8 apart. For a shuffled
    scheme, passes.

    Raises:
        InvalidDataError: for fewer than two batches, or passes.
        InvalidArgumentError: for a failure probability outside (0, 1).
    """
    with_attribute("batches", batches, "__iter__")
    of_kind("scheme", scheme, BatchScheme)
    level = ErrorShare.of(failure_probability).spend("counts in recorded batches")
    found = list(batches)
    if scheme.kind == "shuffled":
        found = scheme.passes(found)
    if len(found) < 2:
        raise InvalidDataError(f"There are {len(found)} whole batches or passes; allowed: at least two.")
    impossible = next((fault for batch in found if (fault := scheme.fault_of(batch)) is not None), None)
    if impossible is not None:
        return BatchAudit(Verdict.VIOLATED, impossible, (), impossible, (), len(found), 0, level)
    kinds = list(_of_passes(found, scheme) if scheme.kind == "shuffled" else _of_batches(found, scheme))
    wrong, detectable = [], []
    for counts in kinds:
        part = level / len(kinds) / counts.count.size
        wrong += _far_off(counts, part)
        detectable += _detectable(counts, part)
    tested = sum(counts.count.size for counts in kinds)
    wrong.sort(key=lambda pair: pair[0])
    findings = tuple(finding for _, finding in wrong)
    if findings:
        # of each kind the one that is farthest off
        worst = {finding.kind: finding for finding in reversed(findings)}
        shown = [str(finding) for finding in findings if worst[finding.kind] is finding][:_SHOWN]
        reason = (
            f"{'; '.join(shown)}; so far off with probability at most {level:g}, {tested} such counts in all"
        )
        return BatchAudit(
            Verdict.VIOLATED, reason, findings, None, tuple(detectable), len(found), tested, level
        )
    if not detectable:
        reason = f"{len(found)} batches or passes are too few to show that a count is off"
        return BatchAudit(
            Verdict.UNDECIDED, reason, (), None, (), len(found), tested, level, Gap.TOO_FEW_RUNS
        )
    reason = f"none of {tested} counts is off; would have been found half the time: {detectable[0]}"
    reason += ", and the like" * (len(detectable) > 1)
    return BatchAudit(Verdict.SUPPORTED, reason, (), None, tuple(detectable), len(found), tested, level)


def _far_off(counts: _Counts, level: float) -> list[tuple[float, BatchFinding]]:
    """The counts whose probability is at most the level, each with it."""
    from scipy import stats

    law = stats.binom(counts.tries, np.clip(counts.chance, 0.0, 1.0))
    tail = 2 * np.minimum(law.cdf(counts.count), law.sf(counts.count - 1))
    return [
        (
            float(tail[k]),
            BatchFinding(
                kind=counts.kind,
                what=counts.what(k),
                count=int(counts.count[k]),
                tries=counts.tries,
                chance=float(counts.chance[k]),
            ),
        )
        for k in np.flatnonzero(tail <= level).tolist()
    ]


def _detectable(counts: _Counts, level: float) -> list[str]:
    """Of the counts of one kind, the middle one's: from which probability on it would have been found half the time.

    Nothing where no probability would have been.
    """
    from scipy import stats

    chance = float(np.clip(np.median(counts.chance), 0.0, 1.0))
    law = stats.binom(counts.tries, chance)
    # the critical counts; a true probability that has one of them as its median is found half the time
    low, high = float(law.ppf(level / 2)) - 1, float(law.isf(level / 2)) + 1
    found = [f"at most {low / counts.tries:.3g}"] if low >= 0 else []
    found += [f"at least {high / counts.tries:.3g}"] if high <= counts.tries else []
    return [f"{counts.kind} of {chance:.3g}: {' or '.join(found)}"] if found else []


def _half_lines(law: object, values: NDArray[np.int64], kind: str, what: str) -> _Counts:
    """How often a number is at most some thresholds, over the whole law."""
    chances = np.linspace(0, 1, _THRESHOLDS + 2)[1:-1]
    ends = [10.0**-k for k in range(2, 5)]
    at = np.unique(law.ppf(np.concatenate([chances, ends, 1 - np.array(ends)]))).astype(np.int64)  # type: ignore[attr-defined]
    count = (values[:, None] <= at).sum(axis=0)
    return _Counts(
        kind,
        lambda k: f"{what} at most {at[k]}",
        count,
        values.size,
        np.asarray(law.cdf(at)),  # type: ignore[attr-defined]
    )


def _of_batches(found: list[Indices], scheme: BatchScheme) -> Iterator[_Counts]:
    n, draws = scheme.n, len(found)
    sizes = np.array([batch.size for batch in found])
    if scheme.kind == "poisson":
        law = scheme.part(n)
        yield _half_lines(law, sizes, "a half-line of sizes, probability", "a batch held")
        all_sizes = np.arange(n + 1)
        mass = law.pmf(all_sizes)
        rests = [(m, r) for m in _RESIDUES for r in range(m)]
        yield _Counts(
            "a remainder of sizes, probability",
            lambda k: f"a batch's size left {rests[k][1]} when divided by {rests[k][0]}",
            np.array([(sizes % m == r).sum() for m, r in rests]),
            draws,
            np.array([math.fsum(mass[all_sizes % m == r]) for m, r in rests]),
        )
        pairs = sizes[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
        twice = type(scheme)("poisson", 2 * n, None, scheme.probability).part(2 * n)
        yield _half_lines(
            twice, pairs, "a half-line of two sizes, probability", "two consecutive batches held"
        )
    came, together, first_two = np.zeros(n, np.int64), np.zeros(n, np.int64), 0
    for batch in found:
        inside = np.unique(batch)
        came[inside] += 1
        together[inside[:-1][np.diff(inside) == 1]] += 1
        first_two += int(batch.size > 1 and batch[0] == batch[1])
    yield _Counts(
        "a record's probability", lambda k: f"record {k} came", came, draws, np.full(n, scheme.inclusion)
    )
    yield _Counts(
        "two neighbors' probability",
        lambda k: f"records {k} and {k + 1} came together",
        together[:-1],
        draws,
        np.full(n - 1, scheme.both),
    )
    if scheme.kind == "with-replacement" and scheme.size > 1:
        same = np.array([first_two])
        what = "the first two records of a batch were the same"
        yield _Counts("a repeat's probability", lambda _: what, same, draws, np.full(1, 1 / n))
    yield from _blocks(found, scheme)
    yield from _lags(found, scheme)


def _blocks(found: list[Indices], scheme: BatchScheme) -> Iterator[_Counts]:
    """How many of a batch's places go to some sets of records."""
    n = scheme.n
    sets: list[tuple[str, Callable[[Indices], NDArray[np.bool_]], int]] = [
        (f"the first {n // 2} records", lambda batch: batch < n // 2, n // 2),
        ("the records of even number", lambda batch: batch % 2 == 0, (n + 1) // 2),
    ]
    if n >= 8:
        sets.append((f"the first {n // 4} records", lambda batch: batch < n // 4, n // 4))
    for name, chosen, records in sets:
        counted = np.array([int(chosen(batch).sum()) for batch in found])
        yield _half_lines(
            scheme.part(records), counted, f"a half-line of {name}, probability", f"of {name} a batch held"
        )


def _lags(found: list[Indices], scheme: BatchScheme) -> Iterator[_Counts]:
    """How many places batches share that are some draws apart; pairs have no batch in common, and are independent."""
    for lag in _LAGS:
        pairs = [(k, k + lag) for k in range(len(found) - lag) if k // lag % 2 == 0]
        if not pairs:
            return
        if scheme.kind == "with-replacement":
            shared = [int((found[a] == found[b]).sum()) for a, b in pairs]
        else:
            shared = [int(np.intersect1d(found[a], found[b], assume_unique=True).size) for a, b in pairs]
        before = "the one before" if lag == 1 else f"the one {lag} before"
        yield _half_lines(
            scheme.shared,
            np.array(shared),
            f"a half-line of what batches {lag} apart share, probability",
            f"a batch shared with {before}",
        )


def _of_passes(found: list[Indices], scheme: BatchScheme) -> Iterator[_Counts]:
    n, draws = scheme.n, len(found)
    half, follow = n // 2, min(n - 1, _FOLLOWED)
    early, follows = np.zeros(n, np.int64), np.zeros(follow, np.int64)
    for order in found:
        early[order[:half]] += 1
        place = np.argsort(order)
        follows += np.diff(place[: follow + 1]) == 1
    yield _Counts(
        "a record's probability of the first half",
        lambda k: f"record {k} came in the first half",
        early,
        draws,
        np.full(n, half / n),
    )
    yield _Counts(
        "two neighbors' probability to follow",
        lambda k: f"record {k + 1} came right after record {k}",
        follows,
        draws,
        np.full(follow, 1 / n),
    )
    none = math.fsum((-1) ** k / math.factorial(k) for k in range(min(n, 30) + 1))
    evens = list(zip(found[::2], found[1::2], strict=False))
    apart = np.array([sum(not np.any(a == b) for a, b in evens)])
    what = "no record was in the place that it had in the pass before"
    yield _Counts("a new order's probability", lambda _: what, apart, len(evens), np.full(1, none))
