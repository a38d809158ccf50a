"""Audits of what users bring: sample files, or a function of their own."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from dpverify.auditing import audit_privacy, privacy_entry, read_samples
from dpverify.errors import InvalidDataError
from dpverify.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, parse_claim
from dpverify.problems import read_csv
from dpverify.running import Executor, Progress, UserMechanism, run

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
        read_samples(left), read_samples(right), guarantee, failure_probability=failure_probability, seed=seed
    )
    return privacy_entry(
        audit,
        subject=f"{left} and {right}",
        title=f"{left} and {right} against {guarantee}",
        data="samples as given",
        adjacency="as the samples were drawn",
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

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim, function, file or output that cannot be used.
    """
    begin = time.perf_counter()
    guarantee = parse_claim(claim)
    workers = Executor.parse(executor)
    mechanism = UserMechanism.load(target)
    pair = [read_csv(path, label_column=None) for path in (data, neighbor)]
    shapes = [(d.n, d.d) for d in pair]
    if shapes[0] != shapes[1]:
        raise InvalidDataError(
            f"{data} and {neighbor} have {shapes[0]} and {shapes[1]} records and columns; neighbors that differ in "
            "one replaced record have the same."
        )
    samples = [
        run(
            mechanism,
            dataset.features,
            runs=runs,
            seed=(seed, side),
            executor=workers,
            store=store,
            progress=progress,
            block_size=BLOCK,
        ).points
        for side, dataset in enumerate(pair)
    ]
    left, right = (points.reshape(points.shape[0], -1) for points in samples)
    audit = audit_privacy(left, right, guarantee, failure_probability=failure_probability, seed=seed)
    return privacy_entry(
        audit,
        subject=target,
        title=f"{target} against {guarantee}",
        data=f"{data} and {neighbor}",
        adjacency=Adjacency.REPLACE_ONE.value,
        reproduce=_command(
            "dpverify", "audit", target, "--data", data, "--neighbor", neighbor, "--claim", claim,
            "--runs", runs, "--failure-probability", failure_probability, "--seed", seed,
        ),
        seconds=round(time.perf_counter() - begin, 3),
    )  # fmt: skip
