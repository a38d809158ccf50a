"""Audits at the sizes that people have: one for each algorithm, in the full profile, or why it is smaller."""

from __future__ import annotations

import re
from functools import cache

import pytest

from dpverify.algorithms.fmtt18 import StopPNSGD
from dpverify.auditing.subjects import CountedRuns, FixedSubject, RiskOf, SubjectList, data_size
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import RiskEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.problems import Dataset
from dpverify.running import Executor
from dpverify.running.foresight import foresee
from dpverify.statements.audit_parts import OnFreshSamples, real_problem
from dpverify.statements.audit_rows import row
from dpverify.statements.bst14.audits.curves import REFUSED
from dpverify.statements.paper import papers
from dpverify.statements.plans import PRIVACY, Plan, Profile
from dpverify.statements.real_size import DIMENSION, SIZE, largest, logistic, refusal, risk
from dpverify.verification import VerificationSettings
from dpverify.verification.audits import AuditSettings, carry_out
from dpverify.views.run import sizes_text

ALGORITHMS = [id_ for paper in papers().values() for id_ in paper.algorithms]
PLANS: dict[str, Plan] = {
    plan.name: plan for paper in papers().values() for plan in paper.plans if plan.in_full_alone
}


def test_each_algorithm_has_an_audit_at_real_size() -> None:
    assert {plan.subject for plan in PLANS.values()} == set(ALGORITHMS)


@pytest.mark.parametrize("name", sorted(n for n, plan in PLANS.items() if plan.subject not in REFUSED))
def test_the_data_set_is_whole(name: str) -> None:
    found = data_size(PLANS[name].build(Profile.FULL).subject)
    assert found is not None
    assert found[0] >= SIZE
    assert found[1] >= DIMENSION


def test_quick_runs_audit_privacy_on_whole_data() -> None:
    """Of every algorithm that is audited for privacy, but for the walks, which are refused there."""
    every = [plan for paper in papers().values() for plan in paper.plans if not plan.in_full_alone]
    whole = {plan.subject: plan for plan in every if plan.name.endswith("/whole-data")}
    assert {plan.subject for plan in every if plan.auditor is PRIVACY} <= whole.keys() | REFUSED.keys()
    for subject in ("bst14.alg2", "bst14.alg8", "gll22.rem", "mn25.alg4"):
        size = data_size(whole[subject].build(Profile.QUICK).subject)
        assert size == (SIZE, 1 if subject in REFUSED else DIMENSION)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_smaller_is_refused_at_real_size_with_its_foreseen_cost(name: str) -> None:
    said = refusal(REFUSED[name], SIZE, DIMENSION)
    assert said is not None
    cost = re.search(r"(?:about |has )(\d[\d.e+]*) (?:steps|cubes|oracle calls)", said)
    assert cost is not None
    assert float(cost[1]) > 1e12


def test_the_largest_size_is_where_the_refusals_begin() -> None:
    class Costly:
        def __init__(self, n: int, most: int) -> None:
            self.calls, self.most = n, most

        def __call__(self, data: Dataset, **_: object) -> None:
            foresee(1e7 * self.calls / self.most, "This")

    for most in (1, 2, 100, SIZE):
        assert largest(lambda n, d, most=most: Costly(n, most)) == most
    with pytest.raises(InvalidArgumentError, match="not refused"):
        largest(lambda n, d: Costly(n, 0.5))  # type: ignore[arg-type]


def test_a_quick_run_leaves_them_out_unless_they_are_named() -> None:
    quick, full = VerificationSettings().plans(), VerificationSettings(profile="full").plans()
    assert [plan for plan in full if plan not in quick] == list(PLANS.values())
    named = VerificationSettings(only=("mn25.alg3/real-size/risk",)).plans()
    assert named == [PLANS["mn25.alg3/real-size/risk"]]


@cache
def _carried_out(plan: Plan) -> RiskEvidence:
    (found,) = carry_out(plan, AuditSettings(Profile.QUICK, 0, Executor.parse("serial")), 1e-6)
    assert isinstance(found, RiskEvidence)
    return found


def test_a_bound_that_says_something_is_supported_and_a_vacuous_one_is_not() -> None:
    """Seeded; a bound that holds is called violated with probability at most 1e-6."""
    kept = _carried_out(PLANS["bst14.alg2/real-size/risk"])
    assert (kept.verdict, kept.vacuous, kept.size) == (Verdict.SUPPORTED, False, (SIZE, DIMENSION))
    stopped = risk(lambda: StopPNSGD.for_privacy(logistic(), n=SIZE, epsilon=1.0, delta=1e-5))
    empty = _carried_out(row("fmtt18.stop/real-size/vacuous", "risk", "Risk", stopped, 200))
    assert (empty.verdict, empty.vacuous, empty.size) == (Verdict.UNDECIDED, True, (SIZE, DIMENSION))


def test_sizes_are_those_of_the_data() -> None:
    problem, data = real_problem("breast-cancer", n=8, d=2)
    plain = RiskOf(None, problem, data, total=False)  # type: ignore[arg-type]
    sampled = RiskOf(OnFreshSamples(None, 20), problem, data, total=False)
    assert data_size(plain) == data_size(CountedRuns(None, data)) == (8, 2)  # type: ignore[arg-type]
    assert data_size(sampled) == data_size(SubjectList((plain, sampled))) == (20, 2)
    assert data_size(FixedSubject(None)) is None


def test_the_summary_says_the_sizes_of_a_quick_run() -> None:
    found = [_carried_out(PLANS["bst14.alg2/real-size/risk"]).sized(size) for size in ((8, 2), (32, 2))]
    words = "8 to 32 records of 2 features in 2 audits of an expectation"
    assert (
        sizes_text("quick", found) == f"sizes of the quick profile: {words}; the full profile adds real sizes"
    )
    assert sizes_text("full", found) == f"sizes of the full profile: {words}"
    assert sizes_text("quick", [found[0].model_copy(update={"size": None})]) == ""
