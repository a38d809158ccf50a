"""The pairs that are audited are about records that the audited guarantee protects."""

from __future__ import annotations

import numpy as np
import pytest

from dpverify.privacy import Adjacency
from dpverify.problems import Dataset
from dpverify.statements.paper import papers
from dpverify.statements.plans import PrivacyPlan, Profile

# guarantees that depend on a record's place
PLANS = [
    plan
    for paper in papers().values()
    for plan in paper.plans
    if isinstance(plan, PrivacyPlan) and plan.subject.startswith("fmtt18.")
]


def changed_places(left: Dataset, right: Dataset) -> list[int]:
    """From 1, where two data sets of the same size differ."""
    same = np.all(np.asarray(left.features) == np.asarray(right.features), axis=1)
    same &= np.asarray(left.labels) == np.asarray(right.labels)
    return [int(place) + 1 for place in np.flatnonzero(~same)]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_a_claim_is_audited_on_records_that_it_protects(plan: PrivacyPlan) -> None:
    case = plan.build(Profile.QUICK)
    (place,) = changed_places(case.left, case.right)
    known = getattr(case.mechanism, "guarantees", None)
    stated = () if known is None else known(case.left.n)
    claimed = [one for one in stated if one.guarantee is case.claim or one.guarantee == case.claim]
    assert all(one.protects(place, case.left.n) and not one.local for one in claimed[:1])
    assert case.adjacency in (Adjacency.REPLACE_ONE, Adjacency.INDEX)


def test_there_are_such_plans() -> None:
    assert any(plan.subject == "fmtt18.public" for plan in PLANS)
