"""Rows of a table of audits: what they write down, what they ask the algorithm, and that what is false is caught."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD
from dpverify.algorithms.listing import algorithms_of
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.promises import StatedQueries, StatedRisk
from dpverify.algorithms.weakening import BOTH, EXPONENT, NOISE
from dpverify.auditing import BoundsQuestion, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, SubjectList
from dpverify.ledger.origins import AsPrinted, Unstated
from dpverify.ledger.verdicts import Verdict
from dpverify.problems import Dataset
from dpverify.running import Executor
from dpverify.statements.audit_parts import mean_neighbors, mean_problem, real_problem
from dpverify.statements.audit_rows import On, Risk, row, with_white_boxes
from dpverify.statements.plans import PRIVACY, WHITE_BOX, Plan, Profile
from dpverify.verification.audits import AuditSettings, carry_out

MEAN = mean_problem(1, 1.0)
SETTINGS = AuditSettings(Profile.QUICK, 0, Executor.parse("serial"))


@dataclass(frozen=True)
class Boastful(NoisyGradientDescent):
    """States a query less than it makes, and a ten-thousandth of its risk."""

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """One less."""
        return tuple(dataclasses.replace(one, count=one.count - 1) for one in super().queries(n))

    def risk_bound(self, n: int) -> StatedRisk:
        """Too little."""
        stated = super().risk_bound(n)
        return dataclasses.replace(stated, bound=stated.bound / 1e4)


def _few(kind: Any) -> tuple[Any, Dataset]:
    problem, data = real_problem("breast-cancer", n=6, d=2)
    return kind(problem, 4.0, 1e-3), data


def _risk(kind: Any) -> Iterator[Risk]:
    yield Risk(*_few(kind), "few records")


def _verdict(plan: Plan) -> Verdict:
    (entry,) = carry_out(plan, SETTINGS, 1e-6 if plan.auditor.spends else 0.0)
    return entry.verdict


def test_a_count_that_is_stated_too_low_is_violated() -> None:
    for kind in (NoisyGradientDescent, Boastful):
        plan = row("bst14.alg1/queries", "gradient queries", "Queries", lambda kind=kind: _few(kind))
        question = plan.build(Profile.QUICK).question
        assert isinstance(question, CountQuestion)
        assert (question.claim, question.exact) == ("n^2 - 1", True)
        assert isinstance(question.origin, AsPrinted)
        assert (_verdict(plan) is Verdict.VIOLATED) == (kind is Boastful)


def test_a_risk_that_is_stated_too_low_is_violated() -> None:
    for kind in (NoisyGradientDescent, Boastful):
        plan = row("bst14.alg1/risk", "risk", "Risk", lambda kind=kind: _risk(kind), 200)
        assert (_verdict(plan) is Verdict.VIOLATED) == (kind is Boastful)


def test_where_no_risk_is_stated_the_interval_stands_for_itself() -> None:
    problem, data = real_problem("breast-cancer", n=6, d=2)
    case = Risk(PNMSGD(problem, 0.1, 1.0), data, "few")
    plan = row("fmtt18.alg2/risk", "risk", "Risk", lambda: [case], 20)
    question = plan.build(Profile.QUICK).question
    assert isinstance(question, BoundsQuestion)
    (bound,) = question.bounds
    assert bound.bound == np.inf
    assert isinstance(bound.origin, Unstated)


@pytest.mark.parametrize(
    ("mechanism", "fault"),
    [
        (NoisyGradientDescent(MEAN, 2.0, 1e-3), NOISE),
        (ExponentialSampling(MEAN, 2.0), EXPONENT),
        (Boosting(ExponentialSampling(MEAN, 2.0), repeats=2), BOTH),
        (Localization(MEAN, 2.0), BOTH),
        (ApproximateLocalization(MEAN, 2.0, 1e-3), NOISE),
        (EmpiricalToPopulation(PNSGD(MEAN, 0.5, 1.0)), NOISE),
    ],
    ids=lambda one: getattr(one, "id", one),
)
def test_a_privacy_row_asks_for_claim_origin_and_fault(mechanism: Any, fault: str) -> None:
    pair = mean_neighbors("diabetes", n=3, d=1)
    for claim in ("headline", "sharpest"):
        plan = row("x/y", "privacy", "X", lambda claim=claim: On(mechanism, pair, claim), 100)
        audit = plan.build(Profile.QUICK)
        assert isinstance(audit.question, PrivacyQuestion)
        assert isinstance(audit.subject, OnPair)
        stated = getattr(mechanism.guarantees(3), claim)
        assert str(audit.question.stated) == str(stated)
        assert audit.question.origin == stated.origin
        assert audit.subject.fault == fault
        assert audit.subject.weakened is not None
        assert audit.subject.weakened(2.0) == mechanism.weakened(2.0)


def test_a_guarantee_that_is_not_stated_is_no_row() -> None:
    pair = mean_neighbors("diabetes", n=3, d=1)
    withdrawn = NoisyGradientDescent(MEAN, 2.0, 1e-3, withdraw_guarantee=True)
    plan = row("x/y", "privacy", "X", lambda: On(withdrawn, pair, None), 100)
    with pytest.raises(AssertionError, match=r"bst14\.alg1 does not state"):
        plan.build(Profile.QUICK)


def test_names_titles_subjects_and_runs() -> None:
    made: list[str] = []

    def cases(name: str) -> list[Risk]:
        made.append(name)
        return list(_risk(NoisyGradientDescent))

    plain = row("a.b/p/risk", "risk", "Of p", partial(cases, "p"), 30)
    assert (plain.name, plain.subject, plain.title) == ("a.b/p/risk", "a.b", "Of p")
    assert row("a.b/p", "risk", "Of p", partial(cases, "p"), subject="a.c").subject == "a.c"
    full = row("a.b/real-size/risk", "risk", "Of q", partial(cases, "q"), 30)
    assert made == []  # nothing is made before it is asked for
    assert (full.in_full_alone, plain.in_full_alone) == (True, False)
    runs = {
        (plan.in_full_alone, profile): plan.build(profile).question.bounds[0].runs  # type: ignore[attr-defined]
        for plan in (plain, full)
        for profile in Profile
    }
    assert runs == {
        (False, Profile.QUICK): 30,
        (False, Profile.FULL): 300,
        (True, Profile.QUICK): 20,
        (True, Profile.FULL): 30,
    }
    assert made == ["p", "p", "q", "q"]
    subject = plain.build(Profile.QUICK).subject
    assert isinstance(subject, SubjectList)


def test_white_boxes_stand_beside_algorithms_that_state_their_steps() -> None:
    pair = mean_neighbors("diabetes", n=3, d=1)
    descent, sampler = NoisyGradientDescent(MEAN, 2.0, 1e-3), ExponentialSampling(MEAN, 2.0)
    rows = [
        row("bst14.alg1/x", "privacy", "Descent", lambda: On(descent, pair), 100),
        row("bst14.alg2/x", "privacy", "Sampling", lambda: On(sampler, pair), 100),
    ]
    plans = with_white_boxes(rows, {one.id: one.place for one in algorithms_of("bst14")})
    assert [plan.name for plan in plans] == ["bst14.alg1/x", "bst14.alg2/x", "bst14.alg1/x/white-box"]
    assert [plan.auditor for plan in plans] == [PRIVACY, PRIVACY, WHITE_BOX]
