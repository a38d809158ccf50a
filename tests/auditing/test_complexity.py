"""Counted oracle queries against claimed ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpverify.auditing import Relation, audit_queries
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict


@pytest.mark.parametrize("counted", [100, np.int64(100), [100] * 7, np.full(3, 100, dtype=np.uint32)])
@pytest.mark.parametrize("relation", list(Relation))
def test_agreement(counted: object, relation: Relation) -> None:
    audit = audit_queries(counted, 100, relation=relation)  # type: ignore[arg-type]
    assert audit.verdict is Verdict.SUPPORTED
    assert audit.counted == audit.fewest == audit.most == 100


@pytest.mark.parametrize(
    ("counted", "relation", "verdict", "shown"),
    [
        ([100, 101], Relation.EQUAL, Verdict.VIOLATED, 101),
        ([100, 99], Relation.EQUAL, Verdict.VIOLATED, 99),
        ([90, 101], Relation.EQUAL, Verdict.VIOLATED, 90),
        ([100, 101], Relation.AT_MOST, Verdict.VIOLATED, 101),
        ([7, 99], Relation.AT_MOST, Verdict.SUPPORTED, 99),
        ([7, 100], Relation.AT_MOST, Verdict.SUPPORTED, 100),
    ],
)
def test_one_run_decides(counted: list[int], relation: Relation, verdict: Verdict, shown: int) -> None:
    audit = audit_queries(counted, 100, relation=relation)
    assert audit.verdict is verdict
    assert audit.counted == shown
    assert audit.runs == 2


@pytest.mark.parametrize("counted", [[], [1.0], [True], [-1], [[1, 2]], ["1"], None, math.nan])
def test_bad_counts(counted: object) -> None:
    with pytest.raises(InvalidDataError):
        audit_queries(counted, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("claimed", [-1, 1.0, True, None, math.nan])
def test_bad_claims(claimed: object) -> None:
    with pytest.raises(InvalidArgumentError):
        audit_queries(1, claimed)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError):
        audit_queries(1, 1, relation="=")  # type: ignore[arg-type]
