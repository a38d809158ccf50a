"""Audits of users' functions on the worst pair of neighboring data sets that a search finds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from dpverify.auditing import Encoder
from dpverify.auditing.neighbors import Domain, Pair, SearchResult, load_pair, search_pairs
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, parse_claim
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.problems import read_csv
from dpverify.running import Executor, UserMechanism, run
from dpverify.verification.user_audits import BLOCK, FunctionQuestion, audit_function_sequentially

_SEARCH = 1 << 20
"""Label of the streams of a search: the audit's own are numbered from 0."""


def audit_worst_neighbors(
    question: FunctionQuestion,
    *,
    save: Path,
    limits: tuple[float, float] | None = None,
    seconds: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> PrivacyEvidence:
    """Search for the pair that speaks most against the claim, write it to a file, and audit it on fresh runs.

    The search makes at most about as many runs on each side as the audit, at least 2000; the whole failure probability
    is the audit's, since what is audited was chosen by runs that it does not see.

    Args:
        question: its data set is an example; its neighbor is not used.
        save: JSON file for the pair; the same audit of the pair in it, without a search, is repeated from there.
        limits: smallest and largest number that a record may hold; None: any.
        seconds: limit of the audit.
        tell: gets lines on the progress.

    Raises:
        InvalidArgumentError, InvalidDataError: as `audit_function`, and where the function fails on all pairs.
    """
    found = find_pair(question, limits)
    if found.pair is None:
        raise InvalidDataError(
            f"The function fails on all {found.tried} pairs of data sets; the first time: {found.failure}"
        )
    found.pair.save(save)
    tell(f"{found.says()}; it is written to {save}")
    evidence = audit_function_sequentially(
        replace(question, data=save, neighbor=save, adjacency=found.pair.adjacency),
        seconds=seconds,
        tell=tell,
    )
    return evidence.model_copy(update={"reason": f"{evidence.reason}; {found.says()}"})


def find_pair(question: FunctionQuestion, limits: tuple[float, float] | None = None) -> SearchResult:
    """The search alone; see `audit_worst_neighbors`."""
    example = np.asarray(read_csv(question.data, label_column=None).features, dtype=np.float64)
    domain = Domain(example, checked_adjacency(question.adjacency), limits)
    with UserMechanism.load(question.named, limits=question.limits) as mechanism:

        def draw(pair: Pair, runs: int, stream: int) -> tuple[ArrayLike, ArrayLike]:
            sides = [
                run(
                    mechanism,
                    records,
                    runs=runs,
                    seed=(question.seed, side, _SEARCH, stream),
                    executor=Executor.parse(question.executor),
                    block_size=BLOCK,
                    result_limit=question.limits.memory // 2,
                ).points
                for side, records in enumerate((pair.data, pair.neighbor))
            ]
            return Encoder().rows(sides[0], sides[1])

        return search_pairs(
            draw, domain, parse_claim(question.claim), runs=max(question.runs, 2000), seed=question.seed
        )


def read_options(
    pair: str | None,
    search: str | None,
    record_range: str | None,
    data: str | None,
    neighbor: str | None,
    adjacency: str | None,
    *,
    runs_function: bool,
) -> tuple[str | None, str | None, str, tuple[float, float] | None]:
    """What the command line says of a pair in one file, or of a search for one.

    Returns:
        Both data sets' files, the adjacency and the range of records, if there is one.

    Raises:
        InvalidArgumentError: for options that do not go together.
        InvalidDataError: for a file that holds no pair.
    """
    option, file = ("--pair", pair) if pair is not None else ("--search-neighbors", search)
    if file is not None:
        if not runs_function:
            raise InvalidArgumentError(option, file, "no value without a function or command")
        if Path(file).suffix != ".json":
            raise InvalidArgumentError(option, file, "a file whose name ends in .json")
        if neighbor is not None:
            raise InvalidArgumentError("--neighbor", neighbor, f"no value with {option}")
    low_high = None
    if record_range is not None:
        if search is None:
            raise InvalidArgumentError("--record-range", record_range, "no value without --search-neighbors")
        low_high = _range(record_range)
    if pair is None:
        return data, data, adjacency or Adjacency.REPLACE_ONE.value, low_high
    for name, value in (("--search-neighbors", search), ("--data", data), ("--adjacency", adjacency)):
        if value is not None:
            raise InvalidArgumentError(name, value, "no value with --pair")
    return pair, pair, load_pair(Path(pair)).adjacency.value, None


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low = high = 0.0
    if not -math.inf < low < high < math.inf:
        raise InvalidArgumentError(
            "--record-range", text, "two finite numbers LOW,HIGH, the first below the second"
        )
    return low, high
