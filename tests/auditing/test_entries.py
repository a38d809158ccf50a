"""Ledger entries say what the audits found, with the library's own guarantees as claims."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.special import expit

from dpverify.auditing import (
    BatchAuditor,
    Bound,
    BoundsQuestion,
    ConstantAuditor,
    ConstantQuestion,
    CountAuditor,
    CountQuestion,
    ErrorShare,
    GivenSamples,
    Label,
    PrivacyQuestion,
    RateAuditor,
    RateQuestion,
    RiskAuditor,
    audit_privacy,
)
from dpverify.auditing.complexity import audit_queries
from dpverify.auditing.contract import Relation
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import ComplexityEvidence
from dpverify.ledger.origins import Unstated
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, Adjacency, StatedGuarantee, parse_claim
from dpverify.views.run import audit_text, is_measurement

HEADING = Label("a:b", "t", "r", 3)


@pytest.mark.parametrize(
    ("claim", "true_for_the_pair"),
    [
        ("eps=1", False),
        ("eps=1,delta=0.2", True),
        ("mu=1", True),
        ("mu=0.8", False),
        ("rho=0.5", True),
        ("rho=0.2", False),
        ("order=2,rdp=1", True),
    ],
)
def test_every_kind_of_claim(claim: str, true_for_the_pair: bool) -> None:
    """A Gaussian pair with mu = 1; chance of a false alarm 1e-6 each."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(0, 1, 60_000), rng.normal(1, 1, 60_000)
    stated = StatedGuarantee(parse_claim(claim), Adjacency.REPLACE_ONE)
    question = PrivacyQuestion(stated, "d", 60_000, best_known=GDP(1.0), label=HEADING)
    entry = BatchAuditor().audit(question, GivenSamples(left, right), ErrorShare(1e-6))
    assert entry.verdict is (Verdict.SUPPORTED if true_for_the_pair else Verdict.VIOLATED)
    assert entry.claim == str(parse_claim(claim))
    assert (entry.seed, entry.runs, entry.failure_probability) == (3, 60_000, 1e-6)
    for point in entry.profile:
        assert point.delta_upper is not None
        assert point.delta_upper <= GDP(1.0).privacy_profile(point.epsilon) * (1 + 1e-12)
        if true_for_the_pair:
            assert point.delta_lower <= point.delta_upper
    assert type(entry).model_validate_json(entry.model_dump_json()) == entry


def test_randomized_response_at_its_own_claim() -> None:
    """The claim is attained exactly by outputs in {0, 1}; chance of a false alarm 1e-6."""
    rng = np.random.default_rng(2)
    left, right = rng.random(50_000) < expit(1.0), rng.random(50_000) < expit(-1.0)
    audit = audit_privacy(
        left, right, parse_claim("eps=1"), adjacency="replace-one", failure_probability=1e-6, seed=3
    )
    assert audit.verdict is Verdict.SUPPORTED
    assert 0.9 < audit.epsilon_lower <= 1


class Uniform:
    """Numbers from 0 to 1."""

    quantity, lower, upper, minimum, extreme, runs_a_number = "q", 0.0, 1.0, None, None, 1

    def draw(self, count: int) -> NDArray[np.float64]:
        return np.random.default_rng(3).random(count)


class Counts:
    """Four or five queries."""

    def count(self, oracle: str, runs: int) -> NDArray[np.int64]:
        return np.arange(runs) % 2 + 4


def test_the_other_entries() -> None:
    bounds = tuple(Bound(0.6, "c", "d", 500, size=size) for size in (1.0, 10.0))
    risk = RiskAuditor().audit(
        BoundsQuestion(bounds, "n", label=HEADING), (Uniform(), Uniform()), ErrorShare(1e-3)
    )
    assert (risk.verdict, risk.bound, risk.claim, risk.seed) == (Verdict.SUPPORTED, 0.6, "c", 3)
    assert risk.measured.lower < 0.5 < risk.measured.upper
    assert "would have been found" in risk.reason
    origin = Unstated("a test")
    rate = RateAuditor().audit(RateQuestion(-1.0, origin, label=HEADING), risk, ErrorShare.nothing())
    assert [point[0] for point in rate.points] == [1.0, 10.0]
    assert (rate.over, rate.runs, rate.failure_probability) == ("n", 500, 1e-3)
    assert type(rate).model_validate_json(rate.model_dump_json()) == rate
    bare = RateAuditor().audit(RateQuestion(-1.0, label=HEADING), risk, ErrorShare.nothing())
    assert bare.model_copy(update={"origin": origin.record()}) == rate
    count = CountAuditor().audit(
        CountQuestion(4, "= n T", "d", label=HEADING), Counts(), ErrorShare.nothing()
    )
    assert (count.counted, count.claimed, count.verdict) == (5, 4, Verdict.VIOLATED)


def test_every_privacy_verdict_names_the_adjacency() -> None:
    """Chance of a false alarm 1e-6 each."""
    rng = np.random.default_rng(4)
    left, right = rng.normal(0, 1, 4000), rng.normal(1, 1, 4000)
    for adjacency, named in (
        (Adjacency.ADD_REMOVE_ONE, "add-or-remove-one"),
        ("households", "households"),
    ):
        for claim, verdict in (("mu=1", "supported"), ("eps=0.1", "violated"), ("eps=30", "undecided")):
            audit = audit_privacy(
                left, right, parse_claim(claim), adjacency=adjacency, failure_probability=1e-6, seed=1
            )
            asked = PrivacyQuestion(
                StatedGuarantee(parse_claim(claim), Adjacency.UNCHECKED),
                "d",
                4000,
                neighbors=named,
                label=HEADING,
            )
            entry = BatchAuditor().audit(asked, GivenSamples(left, right), ErrorShare(1e-6))
            assert (audit.verdict, entry.adjacency) == (verdict, named)
            assert f"neighbors: {named}" in audit.reason
            assert f"neighbors: {named}" in audit_text(entry)
            assert f'"adjacency":"{named}"' in entry.model_dump_json()
    with pytest.raises(InvalidArgumentError, match="adjacency"):
        audit_privacy(left, right, GDP(1.0), adjacency="", failure_probability=1e-6, seed=1)


def test_entries_of_constants() -> None:
    for extreme, smallest, largest in (("smallest", 2.0, None), ("largest", None, 1.0)):
        question = ConstantQuestion(
            "c", Interval(lower=1.0, upper=2.0), extreme, None, {}, "a grid", "m", label=HEADING
        )
        entry = ConstantAuditor().audit(question, None, ErrorShare.nothing())
        assert (entry.smallest, entry.largest, entry.printed) == (smallest, largest, None)
        assert is_measurement(entry)


def test_a_field_that_an_entry_does_not_have_is_refused() -> None:
    """What an auditor gives and the kind of evidence cannot hold is not lost in silence."""
    question = CountQuestion(claimed=2, claim="n - 1", data="three records", label=HEADING)
    found = audit_queries([2, 2], 2, relation=Relation.EQUAL)
    entry = question.entry(ComplexityEvidence, found)
    assert (entry.counted, entry.claimed, entry.title, entry.data) == (2, 2, "t", "three records")
    assert question.entry(ComplexityEvidence, found, counted=3).counted == 3
    with pytest.raises(ValidationError, match="lost"):
        question.entry(ComplexityEvidence, found, lost=1)
