"""The pairs that are audited are about records that the audited guarantee protects."""

from __future__ import annotations

import numpy as np
import pytest

from dpverify.auditing import BatchAuditor, PrivacyQuestion
from dpverify.auditing.subjects import OnPair
from dpverify.privacy import Adjacency
from dpverify.problems import Dataset
from dpverify.statements.paper import papers
from dpverify.statements.plans import Plan, Profile

# guarantees that depend on a record's place
PLANS = [
    plan
    for paper in papers().values()
    for plan in paper.plans
    if isinstance(plan.auditor, BatchAuditor) and plan.subject.startswith("fmtt18.")
]


def changed_places(left: Dataset, right: Dataset) -> list[int]:
    """From 1, where two data sets of the same size differ."""
    same = np.all(np.asarray(left.features) == np.asarray(right.features), axis=1)
    same &= np.asarray(left.labels) == np.asarray(right.labels)
    return [int(place) + 1 for place in np.flatnonzero(~same)]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_a_claim_is_audited_on_records_that_it_protects(plan: Plan) -> None:
    audit = plan.build(Profile.QUICK)
    question, pair = audit.question, audit.subject
    assert isinstance(question, PrivacyQuestion)
    assert isinstance(pair, OnPair)
    (place,) = changed_places(pair.left, pair.right)
    assert question.stated.protects(place, pair.left.n)
    assert not question.stated.local
    assert question.stated.adjacency in (Adjacency.REPLACE_ONE, Adjacency.INDEX)


def test_there_are_such_plans() -> None:
    assert any(plan.subject == "fmtt18.public" for plan in PLANS)
