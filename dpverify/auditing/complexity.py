"""Counted oracle queries beside the count that is claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.contract import Origin, Question, Relation
from dpverify.auditing.error_share import ErrorShare
from dpverify.errors import InvalidDataError
from dpverify.ledger.evidence import ComplexityEvidence
from dpverify.ledger.verdicts import Verdict

Oracle = Literal["gradient", "value", "projection", "linear minimization"]
"""What is counted; one gradient or value query is about one record."""

_RUNS = 16
"""As many are counted."""


@dataclass(frozen=True)
class CountQuestion(Question):
    """Does a run make this number of oracle queries?"""

    claimed: int
    claim: str
    data: str
    exact: bool = True
    """False where the claim is an upper bound on every run's count."""
    oracle: Oracle = "gradient"
    origin: Origin | None = None


class Counted(Protocol):
    """Something whose queries are counted."""

    def count(self, oracle: Oracle, runs: int) -> ArrayLike:
        """Queries of each run, (runs,)."""


@dataclass(frozen=True)
class CountAuditor:
    """Counts the queries of some runs; what they show is certain, so it spends nothing."""

    spends: ClassVar[bool] = False

    def audit(self, question: CountQuestion, subject: Counted, error: ErrorShare) -> ComplexityEvidence:
        """Count and compare; raises as `audit_queries`."""
        relation = Relation.EQUAL if question.exact else Relation.AT_MOST
        found = audit_queries(subject.count(question.oracle, _RUNS), question.claimed, relation=relation)
        return question.entry(ComplexityEvidence, found)


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
    checks.of_kind("relation", relation, Relation, "Relation.EQUAL or Relation.AT_MOST")
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
        if relation is Relation.EQUAL:
            reason += ", and one query more or less in any of them would have been found"
        else:
            most_said = f"{claimed / most:.3g} times the most" if most else "and none was made"
            reason += f", and one query more than claimed would have been found; the claim is {most_said}"
    else:
        verdict, reason = (
            Verdict.VIOLATED,
            f"a run made {worst} queries, and the claim is {relation} {claimed}",
        )
    return QueryAudit(verdict, reason, worst, fewest, most, claimed, relation, counts.size)
