"""Counted oracle queries beside the count that is claimed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.relations import Relation
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.evidence import Verdict


@dataclass(frozen=True)
class QueryAudit:
    """What counting found: `violated` if some counted run contradicts the claim, which is then certain.

    `supported` says so of the counted runs only.
    """

    verdict: Verdict
    reason: str
    counted: int
    """Queries of the run that is farthest on the wrong side, or else of the run with the most."""
    fewest: int
    most: int
    claimed: int
    relation: Relation
    runs: int


def audit_queries(counted: ArrayLike, claimed: int, *, relation: Relation = Relation.EQUAL) -> QueryAudit:
    """Compare queries counted in each run, an integer or (runs,), with the claimed number.

    One query is one record's value, gradient or projection.

    Raises `InvalidDataError` unless the counts are integers, at least 0, and `InvalidArgumentError` unless
    the claim is one.
    """
    claimed = checks.whole_number("claimed", claimed, at_least=0)
    if not isinstance(relation, Relation):
        raise InvalidArgumentError("relation", relation, "Relation.EQUAL or Relation.AT_MOST")
    counts = np.asarray(counted)
    if counts.dtype.kind not in "iu" or counts.ndim > 1 or counts.size == 0 or not np.all(counts >= 0):
        raise InvalidDataError(
            f"The counted queries have type {counts.dtype} and shape {counts.shape}; "
            "allowed: integers at least 0, one or (runs,)."
        )
    fewest, most = int(counts.min()), int(counts.max())
    # The farthest from the claim: with "at most", only the most can be on the wrong side.
    low_is_worse = relation is Relation.EQUAL and claimed - fewest > most - claimed
    worst = fewest if low_is_worse else most
    kept = worst == claimed if relation is Relation.EQUAL else worst <= claimed
    if kept:
        verdict, reason = Verdict.SUPPORTED, "every counted run agrees with the claim"
    else:
        verdict, reason = (
            Verdict.VIOLATED,
            f"a run made {worst} queries, and the claim is {relation} {claimed}",
        )
    return QueryAudit(verdict, reason, worst, fewest, most, claimed, relation, counts.size)
