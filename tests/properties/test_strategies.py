"""What is drawn keeps what it says, and shrinks to the simplest case; shared error over examples is sound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings

from dpverify.auditing import BatchAuditor, PrivacyQuestion
from dpverify.auditing.accountants import AccountantAuditor, AccountantQuestion, NoisyReleases
from dpverify.auditing.subjects import OnPair, Runner
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency, NoisyIteration, PureDP, StatedGuarantee, hockey_stick_divergence
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.privacy.forms.units import PARAMETERS
from dpverify.problems import Ball, Problem
from dpverify.problems.neighbors import check_neighbors
from dpverify.properties import (
    ErrorOverExamples,
    KnownMechanism,
    check_audit,
    check_guarantee,
    check_loss,
    check_private,
    check_projection,
    constraint_sets,
    distribution_pairs,
    mechanisms,
    neighboring_arrays,
    neighboring_datasets,
    noisy_iterations,
    problems,
    schedules,
)
from dpverify.properties.objects import LaplaceSum
from dpverify.running.subjects.user_mechanisms import plain_array

QUICK = settings(max_examples=20, derandomize=True, deadline=None, database=None)
PAIR = np.zeros((2, 1)), np.array([[0.0], [1.0]])


@pytest.mark.parametrize(
    "adjacency", [known for known in Adjacency if known is not Adjacency.INDEX and known not in PARAMETERS]
)
def test_pairs_are_neighbors_and_never_equal(adjacency: Adjacency) -> None:
    @settings(QUICK, max_examples=60)
    @given(neighboring_arrays(n=3, d=2, adjacency=adjacency, radius=2.0))
    def attempt(pair: tuple[Any, Any]) -> None:
        check_neighbors(*pair, adjacency)
        if adjacency is not Adjacency.ANSWERS:
            assert all(np.all(np.linalg.norm(side, axis=1) <= 2.0 + 1e-12) for side in pair)

    attempt()


def test_pairs_differ_at_the_index() -> None:
    @settings(QUICK)
    @given(neighboring_arrays(n=3, d=1, adjacency="index", index=2))
    def attempt(pair: tuple[Any, Any]) -> None:
        check_neighbors(*pair, Adjacency.INDEX, index=2)

    attempt()
    for wrong in ({"adjacency": "index"}, {"index": 1}, {"adjacency": "index", "index": 4}):
        with pytest.raises(InvalidArgumentError, match="index"):
            neighboring_arrays(n=3, d=1, **wrong)  # type: ignore[arg-type]


def test_pairs_shrink_to_few_plain_records() -> None:
    left, right = find(
        neighboring_arrays(n=5, d=3), lambda pair: bool(np.abs(pair[0] - pair[1]).max() > 0.9),
        settings=settings(QUICK, max_examples=200),
    )  # fmt: skip
    assert left.shape[0] == 1
    assert set(np.unique(np.concatenate([left, right]))) <= {0.0, 1.0, -1.0}


@given(problems(dimension=2))
@settings(QUICK, max_examples=8)
def test_drawn_problems_keep_their_constants(problem: Problem) -> None:
    check_loss(problem.loss, problem.constraint, rounds=8)


@given(constraint_sets())
@settings(QUICK)
def test_drawn_sets_have_their_projections(constraint: Any) -> None:
    check_projection(constraint, points=60)


def test_sets_shrink_to_the_unit_interval() -> None:
    assert find(constraint_sets(), lambda _: True, settings=QUICK) == Ball(1, 0.5)


@given(noisy_iterations())
@settings(QUICK, max_examples=10)
def test_drawn_schedules_have_a_guarantee(iteration: NoisyIteration) -> None:
    assert iteration.best().gdp().mu >= 0


@given(schedules(steps=4, smoothness=2.0))
@settings(QUICK)
def test_drawn_steps_contract(drawn: tuple[Any, Any]) -> None:
    """Of the quadratic with that smoothness, in its steepest direction: |1 - eta beta| is at most 1."""
    steps, noise = drawn
    assert steps.shape == noise.shape == (4,)
    assert np.all(np.abs(1 - 2.0 * steps) <= 1)
    assert np.all(noise > 0)


@pytest.mark.parametrize("adjacency", ["replace-one", "zero-out", "add-or-remove-one"])
def test_data_sets_are_neighbors_and_never_equal(adjacency: str) -> None:
    @settings(QUICK)
    @given(neighboring_datasets(n=3, d=2, adjacency=adjacency))
    def attempt(pair: tuple[Any, Any, int]) -> None:
        left, right, index = pair
        check_neighbors(plain_array(left), plain_array(right), checked_adjacency(adjacency))
        assert 1 <= index <= left.n

    attempt()
    with pytest.raises(InvalidArgumentError, match="adjacency"):
        neighboring_datasets(n=3, d=2, adjacency="unchecked")


@given(distribution_pairs())
@settings(QUICK)
def test_drawn_laws_are_laws(pair: tuple[Any, Any]) -> None:
    p, q = pair
    assert 0 <= hockey_stick_divergence(p, q, epsilon=0.3) <= hockey_stick_divergence(p, q, epsilon=0.0) <= 1


@given(mechanisms())
@settings(QUICK)
def test_known_guarantees_are_laws(known: KnownMechanism) -> None:
    check_guarantee(known.guarantee, largest_epsilon=8.0)


def test_known_guarantees_hold_and_no_less_does() -> None:
    """All examples fail falsely with at most 1e-6, once; the second claim is false of every one of them."""
    shared = ErrorOverExamples(1e-6)
    lost = []

    @settings(QUICK, max_examples=6)
    @given(mechanisms())
    def attempt(known: KnownMechanism) -> None:
        audit = check_private(
            known.mechanism, known.left, known.right, known.guarantee, runs=3000,
            failure_probability=shared, allow_undecided=True,
        )  # fmt: skip
        lost.append((audit.epsilon_lower, known.guarantee.epsilon_at(audit.delta)))

    attempt()
    assert all(lower <= exact for lower, exact in lost)
    assert any(lower > 0.5 * exact for lower, exact in lost)


# ------------------------------------------------------------------------------------------- shared error


def test_questions_share_one_failure_probability_and_answers_repeat() -> None:
    shared = ErrorOverExamples(1e-6)
    first = [shared.part_for("a claim", k) for k in range(50)]
    assert shared.questions == 50
    assert sum(Fraction(share.failure_probability) for share, _ in first) <= Fraction(1e-6)
    assert len({seed for _, seed in first}) == 50
    again = [shared.part_for("a claim", k) for k in range(50)]
    assert [(s.failure_probability, seed) for s, seed in again] == [
        (s.failure_probability, seed) for s, seed in first
    ]
    assert shared.questions == 50
    assert ErrorOverExamples(1e-6, seed=1).part_for("a claim", 0)[1] != first[0][1]
    with pytest.raises(InvalidArgumentError, match="failure_probability"):
        ErrorOverExamples(0.0)


def test_a_false_claim_is_found_shrunk_and_found_again() -> None:
    """A failing example is run again by Hypothesis, and must fail again, or the test would be called flaky."""
    shared = ErrorOverExamples(1e-6)

    @settings(QUICK, max_examples=10, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(neighboring_arrays(n=2, d=1))
    def attempt(pair: tuple[Any, Any]) -> None:
        check_private(LaplaceSum(0.1), *pair, "eps=1", runs=1000, failure_probability=shared)

    with pytest.raises(AssertionError, match="1-DP is violated"):
        attempt()
    assert shared.questions > 1


def test_the_same_question_has_the_same_answer() -> None:
    shared = ErrorOverExamples(1e-3)
    audits = [
        check_private(LaplaceSum(1.0), *PAIR, "eps=1", runs=2000, failure_probability=shared)
        for _ in range(2)
    ]
    assert audits[0].timed(0.0) == audits[1].timed(0.0)
    assert audits[0].verdict is Verdict.SUPPORTED
    assert audits[0].failure_probability == 5e-4
    with pytest.raises(InvalidDataError):
        check_private(LaplaceSum(1.0), PAIR[0], PAIR[0], "eps=1", failure_probability=shared)


def _asked(epsilon: float) -> PrivacyQuestion:
    return PrivacyQuestion(StatedGuarantee(PureDP(epsilon), Adjacency.REPLACE_ONE), "a test", 1000)


def test_any_auditor_shares_one_failure_probability_over_examples() -> None:
    shared, auditor = ErrorOverExamples(1e-3), BatchAuditor()
    right = OnPair(LaplaceSum(1.0), *PAIR, weakened=lambda factor: LaplaceSum(1 / factor))
    wrong = OnPair(LaplaceSum(0.2), *PAIR)
    first, again = (check_audit(auditor, _asked(1.0), right, failure_probability=shared) for _ in range(2))
    assert first == again
    assert first.failure_probability == 5e-4
    other = check_audit(auditor, _asked(2.0), right, failure_probability=shared)
    assert other.seed != first.seed
    assert other.failure_probability == pytest.approx(1e-3 / 6)
    with pytest.raises(AssertionError, match=r"is violated\. epsilon at delta 0 is at least 3"):
        check_audit(auditor, _asked(1.0), wrong, failure_probability=shared)
    assert shared.questions == 3


def test_only_what_is_not_yet_run_shares_an_error() -> None:
    """Noise that is drawn already may have led to the example; a number that is compared needs no noise."""
    shared = ErrorOverExamples(1e-3)
    running = OnPair(LaplaceSum(1.0), *PAIR).on(Runner(seed=(1,)))
    with pytest.raises(InvalidArgumentError, match="declared but not yet run"):
        check_audit(BatchAuditor(), _asked(1.0), running, failure_probability=shared)
    releases = NoisyReleases("laplace", noise_multiplier=1.0)
    question = AccountantQuestion(1.0, delta=0.0)
    found = check_audit(AccountantAuditor(), question, releases, failure_probability=shared)
    assert found.verdict is Verdict.SUPPORTED
