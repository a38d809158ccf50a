"""Auditors of privacy by their contract: a question, a subject and a share in, evidence out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing import (
    Auditor,
    BatchAuditor,
    ConstantAuditor,
    ConstantQuestion,
    ErrorShare,
    Label,
    PairSubject,
    PlantedFaults,
    PrivacyQuestion,
)
from dpverify.auditing.accountants import AccountantAuditor, AccountantQuestion, NoisyReleases
from dpverify.auditing.sequential import BettingAuditor, SequentialAuditor
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, Adjacency, Guarantee, PureDP, StatedGuarantee

Array = NDArray[np.float64]
AUDITORS = [BatchAuditor(), BettingAuditor()]
PrivacyAuditor = Auditor[PrivacyQuestion, PairSubject, PrivacyEvidence]


@dataclass
class Laplace:
    """Noise of this scale, sensitivity 1: what a third party would write."""

    scale: float
    drawn: list[int] = field(default_factory=list)
    faults: PlantedFaults | None = None

    def draw(self, count: int) -> tuple[Array, Array]:
        rng = np.random.default_rng((7, len(self.drawn)))
        self.drawn.append(count)
        return rng.laplace(0.0, self.scale, count), rng.laplace(1.0, self.scale, count)


def asks(epsilon: float, runs: int = 4000) -> PrivacyQuestion:
    stated = StatedGuarantee(PureDP(epsilon), Adjacency.REPLACE_ONE)
    return PrivacyQuestion(stated, "two numbers", runs, label=Label("noise", "noise", "again", 3))


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_subject_of_ones_own(auditor: PrivacyAuditor) -> None:
    """A correct claim at 1e-6, and half the noise, which 4000 runs show."""
    kept = auditor.audit(asks(1.0), Laplace(1.0), ErrorShare(1e-6))
    assert (kept.verdict, kept.runs, kept.subject) == (Verdict.SUPPORTED, 4000, "noise")
    broken = auditor.audit(asks(1.0), half := Laplace(0.5), ErrorShare(1e-6))
    assert broken.verdict is Verdict.VIOLATED
    assert broken.runs == sum(half.drawn)
    assert (broken.runs < 4000) == isinstance(auditor, BettingAuditor)


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_share_is_spent_once_and_recorded(auditor: PrivacyAuditor) -> None:
    share = ErrorShare(0.01)
    found = auditor.audit(asks(1.0, 400), Laplace(1.0), share)
    assert found.shares == share.spent()
    assert sum(part.failure_probability for part in found.shares) <= 0.01 * (1 + 1e-12)
    with pytest.raises(InvalidArgumentError, match="before"):
        auditor.audit(asks(1.0, 400), Laplace(1.0), share)


def test_nothing_is_drawn_that_can_refute_nothing() -> None:
    subject = Laplace(1.0)
    found = BettingAuditor().audit(asks(12.0, 400), subject, ErrorShare(0.01))
    assert (found.verdict, found.runs, subject.drawn) == (Verdict.UNDECIDED, 0, [])


def test_a_watch_ends_an_audit() -> None:
    class Twice:
        def begins(self, auditor: SequentialAuditor) -> None:
            assert auditor.runs == 0

        def stops(self, auditor: SequentialAuditor, size: int) -> str:
            return "the watch" if auditor.runs >= 32 else ""

        def drawn(self, auditor: SequentialAuditor, size: int) -> None: ...

        def seen(self, auditor: SequentialAuditor) -> None: ...

    found = BettingAuditor(Twice()).audit(asks(1.0), Laplace(1.0), ErrorShare(0.01))
    assert found.runs == 32
    assert found.sequential is not None
    assert found.sequential.ended_by == "the watch"


@pytest.mark.parametrize("guarantee", [PureDP(1.0), GDP(0.5)])
def test_runs_after_a_refutation_say_how_far_it_is_off_and_nothing_else(guarantee: Guarantee) -> None:
    """Epsilon is 2, or below 4 at delta 1e-5; the bounds are false with probability 1e-3."""
    question = replace(asks(1.0, 20_000), stated=StatedGuarantee(guarantee, Adjacency.REPLACE_ONE))
    short, long = (
        BettingAuditor(go_on=times).audit(question, Laplace(0.5), ErrorShare(1e-3)) for times in (1, 8)
    )
    assert short.sequential is not None
    assert long.sequential is not None
    refuted = short.sequential.refuted_after
    assert (short.runs, long.runs) == (refuted, 8 * int(refuted or 0))
    assert long.sequential == short.sequential
    assert (long.reason, long.shown) == (short.reason, short.shown)
    assert short.epsilon_lower + 0.2 < long.epsilon_lower < 2
    seen = replace(question, runs=3 * int(refuted or 0))
    cut = BettingAuditor(go_on=10**9).audit(seen, Laplace(0.5), ErrorShare(1e-3))
    assert (cut.runs, cut.verdict) == (seen.runs, Verdict.VIOLATED)  # the limit is kept


def test_faults_are_tried_out() -> None:
    seen, blind = Laplace(1.0), Laplace(1.0)
    seen.faults = PlantedFaults(lambda factor: Laplace(1 / factor), "noise divided by", (4.0, 2.0))
    found = BatchAuditor().audit(asks(1.0), seen, ErrorShare(1e-3))
    assert (found.verdict, found.smallest_fault) == (Verdict.SUPPORTED, 2.0)
    blind.faults = PlantedFaults(None, "")
    found = BatchAuditor().audit(asks(1.0), blind, ErrorShare(1e-3))
    assert (found.verdict, found.detects_nothing) == (Verdict.UNDECIDED, True)


def test_faults_need_as_many_runs() -> None:
    class Fewer(Laplace):
        def draw(self, count: int) -> tuple[Array, Array]:
            return super().draw(count // 2)

    subject = Laplace(1.0, faults=PlantedFaults(lambda factor: Fewer(1 / factor), "noise divided by"))
    with pytest.raises(InvalidArgumentError, match="4000 runs, as many as were audited"):
        BatchAuditor().audit(asks(1.0), subject, ErrorShare(1e-3))


def test_auditors_that_run_nothing() -> None:
    """A constant has no subject, an accountant one that is computed; both leave their share as it is."""
    label = Label("a", "a", "again")
    constant = ConstantQuestion("c", Interval(lower=1.0, upper=2.0), "smallest", 3.0, {}, "", "", label=label)
    share = ErrorShare(0.01)
    assert ConstantAuditor().audit(constant, None, share).verdict is Verdict.SUPPORTED
    releases = NoisyReleases("gaussian", 1.0)
    enough = releases.smallest_epsilon(1e-5).upper
    for claimed, verdict in ((enough, Verdict.SUPPORTED), (enough / 2, Verdict.VIOLATED)):
        asked = AccountantQuestion(claimed, 1e-5, "ours", label=label)
        entry = AccountantAuditor().audit(asked, releases, share)
        assert (entry.verdict, entry.claimed) == (verdict, claimed)
        assert entry.smallest.lower <= enough <= entry.smallest.upper
    assert share.spent() == ()


def test_a_share_of_nothing_cannot_be_used() -> None:
    nothing = ErrorShare.nothing()
    for use in (lambda: nothing.spend("anything"), lambda: nothing.split("a")):
        with pytest.raises(InvalidArgumentError, match="a share of something"):
            use()
