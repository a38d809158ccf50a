"""Recorded batches: drawn as stated they pass, planted faults are found.

False alarms: 1e-6 for each of the correct cases, by the audit's own bound; seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.batches import BatchScheme, audit_batches, read_batches, record_batches
from dpverify.auditing.error_share import ErrorShare
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Gap, Verdict

N, Q, BATCH = 100, 0.1, 10
POISSON = BatchScheme("poisson", N, probability=Q)
FIXED = BatchScheme("without-replacement", N, BATCH)
SHUFFLED = BatchScheme("shuffled", N, 30)
Batches = Iterator[Any]
Rng = np.random.Generator


def poisson(rng: Rng) -> Any:
    return np.flatnonzero(rng.random(N) < Q)


def poissons(rng: Rng) -> Batches:
    while True:
        yield poisson(rng)


def truncated(rng: Rng) -> Batches:
    """At most 15 records, where 10 are expected."""
    for batch in poissons(rng):
        yield rng.permutation(batch)[:15]


def padded(rng: Rng) -> Batches:
    """Filled up to a multiple of 4 with other records."""
    for batch in poissons(rng):
        others = rng.permutation(np.setdiff1d(np.arange(N), batch))
        yield np.concatenate([batch, others[: -batch.size % 4]])


def twice(rng: Rng) -> Batches:
    for batch in poissons(rng):
        yield batch
        yield batch


def never_again(rng: Rng) -> Batches:
    """No record that was in the batch before: sizes as they should be on average."""
    last = np.zeros(0, dtype=int)
    for batch in poissons(rng):
        last = np.setdiff1d(batch, last)
        yield last


def together(rng: Rng) -> Batches:
    while True:
        yield np.flatnonzero(np.repeat(rng.random(N // 2) < Q, 2))


def stratified(rng: Rng) -> Batches:
    """One record of each ten."""
    while True:
        yield 10 * np.arange(10) + rng.integers(10, size=10)


def fixed(rng: Rng) -> Batches:
    while True:
        yield rng.choice(N, size=BATCH, replace=False)


def without_the_last(rng: Rng) -> Batches:
    while True:
        yield from np.array_split(rng.permutation(N)[:90], 3)


def passes(rng: Rng, *, anew: bool = True) -> Batches:
    order = rng.permutation(N)
    while True:
        yield from np.split(order, [30, 60, 90])
        order = rng.permutation(N) if anew else order


@pytest.mark.parametrize(("make", "scheme"), [(poissons, POISSON), (fixed, FIXED), (passes, SHUFFLED)])
def test_batches_as_stated_pass(make: Callable[[Rng], Batches], scheme: BatchScheme) -> None:
    share = ErrorShare(1e-6)
    batches = record_batches(make(np.random.default_rng(1)), count=800)
    found = audit_batches(batches, scheme, failure_probability=share)
    assert (found.verdict, found.findings, found.impossible) == (Verdict.SUPPORTED, (), None)
    assert found.batches == (200 if scheme is SHUFFLED else 800)
    assert found.counts > 100
    assert "would have been found half the time" in found.reason
    (spent,) = share.spent()
    assert spent.failure_probability == found.failure_probability == 1e-6


@pytest.mark.parametrize(
    ("make", "scheme", "says"),
    [
        (truncated, POISSON, "a batch held at most 15"),
        (padded, POISSON, "divided by 4"),
        (twice, POISSON, "the one before"),
        (never_again, POISSON, "the one before"),
        (together, POISSON, "came together"),
        (stratified, POISSON, "a batch held"),
        (stratified, FIXED, "of the first 50 records"),
        (fixed, POISSON, "a batch held"),
        (passes, FIXED, "must hold 10 records"),
        (without_the_last, SHUFFLED, "must hold each of 100 records once"),
        (lambda rng: passes(rng, anew=False), SHUFFLED, "in the pass before"),
        (lambda rng: np.split(np.tile(rng.permutation(N), 80), 800), FIXED, "came|shared"),
        (lambda rng: iter([[3, 3]] * 800), POISSON, "twice"),
        (lambda rng: iter([[-1]] * 800), POISSON, "from 0 to 99"),
    ],
)
def test_planted_faults_are_found(make: Callable[[Rng], Batches], scheme: BatchScheme, says: str) -> None:
    batches = record_batches(make(np.random.default_rng(2)), count=800)
    found = audit_batches(batches, scheme)
    assert found.verdict is Verdict.VIOLATED
    kinds = " ".join(map(str, found.findings)) or found.reason
    assert any(word in kinds for word in says.split("|")), found.reason


def test_what_would_have_been_found() -> None:
    """A record's probability at the stated end is found about half the time, in 25 audits; false with about 2e-5."""
    rng = np.random.default_rng(3)
    scheme = BatchScheme("poisson", 4, probability=0.25)
    line = next(
        text
        for text in audit_batches(
            [np.flatnonzero(rng.random(4) < 0.25) for _ in range(200)], scheme
        ).detectable
        if text.startswith("a record's")
    )
    least = float(line.rpartition(" ")[2])
    caught = 0
    for _ in range(25):
        chances = np.array([least, 0.25, 0.25, 0.25])
        batches = [np.flatnonzero(rng.random(4) < chances) for _ in range(200)]
        caught += any("record 0 came" in str(one) for one in audit_batches(batches, scheme).findings)
    assert 3 <= caught <= 22


def test_too_few_decide_nothing() -> None:
    found = audit_batches(record_batches(poissons(np.random.default_rng(4)), count=2), POISSON)
    assert (found.verdict, found.gap, found.detectable) == (Verdict.UNDECIDED, Gap.TOO_FEW_RUNS, ())


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    path.write_text("[0, 2]\n[]\n[1]\n")
    assert [batch.tolist() for batch in read_batches(path)] == [[0, 2], [], [1]]
    (tmp_path / "batches.csv").write_text("0,2\n\n1\n")
    assert [batch.tolist() for batch in read_batches(tmp_path / "batches.csv")] == [[0, 2], [], [1]]
    path.write_text("[0]\n{}\n")
    with pytest.raises(InvalidDataError, match="line 2"):
        read_batches(path)
    with pytest.raises(InvalidArgumentError, match="path was"):
        read_batches(tmp_path / "none")


@pytest.mark.parametrize("batch", [[0.5], [[1], [2]], "ab", [1, [2]]])
def test_batches_of_other_forms(batch: Any) -> None:
    with pytest.raises(InvalidDataError, match="whole numbers"):
        record_batches([batch])


def test_bad_arguments() -> None:
    for make, says in (
        (lambda: BatchScheme("cyclic", 5), "scheme was 'cyclic'"),  # type: ignore[arg-type]
        (lambda: BatchScheme("poisson", 5), "probability_of_a_record was None"),
        (lambda: BatchScheme("without-replacement", 5, 6), "batch was 6"),
        (lambda: BatchScheme("poisson", 5, 2, 0.5), "batch was 2"),
        (lambda: BatchScheme("shuffled", 5, probability=0.5), "probability_of_a_record was 0.5"),
        (lambda: record_batches([], count=0), "count was 0"),
    ):
        with pytest.raises(InvalidArgumentError, match=says):
            make()
    with pytest.raises(InvalidDataError, match="at least two"):
        audit_batches([np.arange(3)], POISSON)
