"""Audits of what users bring: sample files, or a function of their own."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from pathlib import Path

import numpy as np

from dpverify.auditing import audit_privacy, privacy_entry, read_samples
from dpverify.auditing.arguments import check_failure_probability
from dpverify.errors import InvalidDataError
from dpverify.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, parse_claim
from dpverify.problems import Dataset, read_csv
from dpverify.running import Executor, Progress, UserMechanism, run
from dpverify.running.standard_output import standard_output_to_error
from dpverify.running.store import opened

BLOCK = 1000
"""Runs in a block: small, since a user's function may take long for one run."""


def _command(*words: object) -> str:
    return shlex.join(str(word) for word in words)


def audit_samples(
    left: Path, right: Path, *, claim: str, failure_probability: float, seed: int
) -> PrivacyEvidence:
    """Audit two sample files; whoever drew them vouches that the data sets are neighbors.

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim or a file that cannot be used.
    """
    begin = time.perf_counter()
    guarantee = parse_claim(claim)
    audit = audit_privacy(
        read_samples(left),
        read_samples(right),
        guarantee,
        adjacency="as the samples were drawn",
        failure_probability=failure_probability,
        seed=seed,
    )
    return privacy_entry(
        audit,
        subject=f"{left} and {right}",
        title=f"{left} and {right} against {guarantee}",
        data="samples as given",
        reproduce=_command(
            "dpverify", "audit", "--left", left, "--right", right, "--claim", claim,
            "--failure-probability", failure_probability, "--seed", seed,
        ),
        seconds=round(time.perf_counter() - begin, 3),
    )  # fmt: skip


def audit_function(
    target: str,
    data: Path,
    neighbor: Path,
    *,
    claim: str,
    runs: int,
    failure_probability: float,
    seed: int,
    executor: str = "serial",
    store: str | None = None,
    progress: Progress | None = None,
) -> PrivacyEvidence:
    """Run a user's function on two data sets and audit what comes out.

    The data sets are neighbors that differ in one replaced record: the same number of records, in the same
    order, all but one equal. What the function or its module prints goes to standard error meanwhile, for the
    whole process; what it leaves to be printed later (by threads or child processes that live on, by
    `atexit`, by a C library's own buffer) is not redirected.

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim, function, file or output that cannot be used, for
            a function or module that exits, and for data sets that are no neighbors.
    """
    begin = time.perf_counter()
    guarantee = parse_claim(claim)
    check_failure_probability("--failure-probability", failure_probability)
    workers = Executor.parse(executor)
    with standard_output_to_error, opened(store) as open_store:
        mechanism = UserMechanism.load(target)
        pair = [read_csv(path, label_column=None) for path in (data, neighbor)]
        _check_neighbors(data, neighbor, *pair)
        samples = [
            run(
                mechanism,
                dataset.features,
                runs=runs,
                seed=(seed, side),
                executor=workers,
                store=open_store,
                progress=progress,
                block_size=BLOCK,
            ).points
            for side, dataset in enumerate(pair)
        ]
        reuse = None if open_store is None else open_store.reuse()
    left, right = (points.reshape(points.shape[0], -1) for points in samples)
    audit = audit_privacy(
        left,
        right,
        guarantee,
        adjacency=Adjacency.REPLACE_ONE,
        failure_probability=failure_probability,
        seed=seed,
    )
    found = privacy_entry(
        audit,
        subject=target,
        title=f"{target} against {guarantee}",
        data=f"{data} and {neighbor}",
        reproduce=_command(
            "dpverify", "audit", target, "--data", data, "--neighbor", neighbor, "--claim", claim,
            "--runs", runs, "--failure-probability", failure_probability, "--seed", seed,
        ),
        seconds=round(time.perf_counter() - begin, 3),
    )  # fmt: skip
    return found.model_copy(update={"reuse": reuse})


def _check_neighbors(data: Path, neighbor: Path, left: Dataset, right: Dataset) -> None:
    """Refuse data sets that do not differ in exactly one replaced record."""
    shapes = [(d.n, d.d) for d in (left, right)]
    if shapes[0] != shapes[1]:
        raise InvalidDataError(
            f"{data} and {neighbor} have {shapes[0]} and {shapes[1]} records and columns; neighbors that differ in "
            "one replaced record have the same."
        )
    differing = int(np.count_nonzero((left.features != right.features).any(axis=1)))
    if differing == 0:
        raise InvalidDataError(
            f"{data} and {neighbor} hold the same records, so nothing would be tested; allowed: data sets that "
            "differ in exactly one record."
        )
    if differing == 1:
        return
    records = [Counter(map(tuple, d.features.tolist())) for d in (left, right)]
    replaced = (records[0] - records[1]).total()
    if replaced == 0:
        raise InvalidDataError(
            f"{data} and {neighbor} hold the same records in another order; allowed: the same order in both, and "
            "exactly one record that differs."
        )
    hint = " (as it would be with the records in the same order)" if replaced == 1 else ""
    raise InvalidDataError(
        f"{data} and {neighbor} differ in {differing} of {left.n} records; allowed for neighbors by one "
        f"replaced record: exactly one{hint}."
    )
