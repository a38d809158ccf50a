"""Auditors of privacy by their contract: a question, a subject and a share in, evidence out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing import Auditor, BatchAuditor, ErrorShare, Faults, PairSubject, PrivacyQuestion
from dpverify.auditing.sequential import BettingAuditor, SequentialAuditor
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import PrivacyEvidence, Verdict
from dpverify.privacy import PureDP

Array = NDArray[np.float64]
AUDITORS = [BatchAuditor(), BettingAuditor()]
PrivacyAuditor = Auditor[PrivacyQuestion, PairSubject, PrivacyEvidence]


@dataclass
class Laplace:
    """Noise of this scale, sensitivity 1: what a third party would write."""

    scale: float
    drawn: list[int] = field(default_factory=list)

    def draw(self, count: int) -> tuple[Array, Array]:
        rng = np.random.default_rng((7, len(self.drawn)))
        self.drawn.append(count)
        return rng.laplace(0.0, self.scale, count), rng.laplace(1.0, self.scale, count)


def asks(epsilon: float, runs: int = 4000) -> PrivacyQuestion:
    asked = {"subject": "noise", "title": "noise", "data": "two numbers", "reproduce": "again"}
    return PrivacyQuestion(PureDP(epsilon), "replace-one", runs, 3, asked)  # type: ignore[arg-type]


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


def test_faults_are_tried_out() -> None:
    seen = Faults(lambda factor: Laplace(1 / factor).draw(4000), "noise divided by", (4.0, 2.0))
    found = BatchAuditor(seen).audit(asks(1.0), Laplace(1.0), ErrorShare(1e-3))
    assert (found.verdict, found.smallest_fault) == (Verdict.SUPPORTED, 2.0)
    blind = BatchAuditor(Faults(None, "")).audit(asks(1.0), Laplace(1.0), ErrorShare(1e-3))
    assert (blind.verdict, blind.sees_nothing) == (Verdict.UNDECIDED, True)
