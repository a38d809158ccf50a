"""Audits of what users bring: sample files, or a function of their own."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from dpverify import checks
from dpverify.auditing import audit_privacy, privacy_entry, read_samples
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, parse_claim
from dpverify.problems import read_csv
from dpverify.problems.neighbors import check_neighbors, checked_adjacency
from dpverify.running import Executor, Limits, Progress, UserMechanism, repeats, run
from dpverify.running.store import opened

BLOCK = 1000
"""Runs in a block: small, since a user's function may take long for one run."""


def _command(*words: object) -> str:
    return shlex.join(str(word) for word in words)


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
    audit = audit_privacy(
        read_samples(left),
        read_samples(right),
        guarantee,
        adjacency="as the samples were drawn" if by is None else by,
        failure_probability=failure_probability,
        seed=seed,
    )
    more = () if by is None else ("--adjacency", by.value)
    return privacy_entry(
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


def audit_function(
    target: str,
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
    """Run a user's function on two data sets and audit what comes out.

    The data sets are neighbors by `adjacency`, with their records in the same order: one replaced, or one record more
    in one of them. The function runs in worker processes within `limits`; what it prints goes to standard error, and
    only arrays come back. A block is run twice: where its bits differ, the entry says that nothing is reproduced from
    the seed.

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim, function, file or output that cannot be used, for
            a function that exits, ends its process, fails or does not come back within its limits, and for data sets
            that are no neighbors.
    """
    begin = time.perf_counter()
    guarantee = parse_claim(claim)
    checks.failure_probability("--failure-probability", failure_probability)
    workers = Executor.parse(executor)
    limits = limits or Limits()
    by = checked_adjacency(adjacency)
    if by is Adjacency.INDEX:
        raise InvalidArgumentError(
            "adjacency", by.value, f"{Adjacency.REPLACE_ONE} or {Adjacency.ADD_REMOVE_ONE}"
        )
    pair = [read_csv(path, label_column=None).features for path in (data, neighbor)]
    check_neighbors(pair[0], pair[1], by, names=(str(data), str(neighbor)))
    with UserMechanism.load(target, limits=limits) as mechanism, opened(store) as open_store:
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
    left, right = (points.reshape(points.shape[0], -1) for points in samples)
    audit = audit_privacy(
        left, right, guarantee, adjacency=by, failure_probability=failure_probability, seed=seed
    )
    more = () if by is Adjacency.REPLACE_ONE else ("--adjacency", by.value)
    again = _command(
        "dpverify", "audit", target, "--data", data, "--neighbor", neighbor, "--claim", claim, *more,
        "--runs", runs, "--failure-probability", failure_probability, "--seed", seed,
    )  # fmt: skip
    entry = privacy_entry(
        audit,
        subject=target,
        title=f"{target} against {guarantee}",
        data=f"{data} and {neighbor}",
        reproduce=again if same else NOT_REPEATED,
        seconds=round(time.perf_counter() - begin, 3),
    )
    return entry.model_copy(update={"repeats": same, "reuse": reuse})
