"""The auditor that bets round by round, and ends as soon as the claim is refuted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.pairs import PairSubject, PrivacyQuestion, entry, named_by
from dpverify.auditing.sequential.audit import SequentialAuditor
from dpverify.ledger.evidence import PrivacyEvidence


class Watch(Protocol):
    """Looks on, and may end an audit early; whatever it ends it for, the verdict stays valid."""

    def begins(self, auditor: SequentialAuditor) -> None:
        """Nothing was run."""

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        """Why no round of `size` runs should begin; empty if it should."""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None:
        """A round of `size` runs was drawn, and not looked at."""

    def seen(self, auditor: SequentialAuditor) -> None:
        """A round was looked at."""


class _Nobody:
    def begins(self, auditor: SequentialAuditor) -> None: ...

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        return ""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None: ...

    def seen(self, auditor: SequentialAuditor) -> None: ...


@dataclass(frozen=True)
class BettingAuditor:
    """Draws rounds from a subject until the claim is refuted, all runs are made, or the watch ends it.

    Nothing is drawn where so many runs could not refute the claim.
    """

    watch: Watch = field(default_factory=_Nobody)
    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: PairSubject, error: ErrorShare) -> PrivacyEvidence:
        """Draw, bet, look; raises as `SequentialAuditor`."""
        auditor = SequentialAuditor(
            question.stated.guarantee,
            question.relation,
            error,
            question.label.seed,
            question.runs,
            question.delta,
            named_by(subject),
        )
        self.watch.begins(auditor)
        stopped = ""
        for size in auditor.rounds() if auditor.possible else ():
            if stopped := self.watch.stops(auditor, size):
                break
            left, right = subject.draw(size)
            self.watch.drawn(auditor, size)
            auditor.see(left, right)
            self.watch.seen(auditor)
            if auditor.violated:
                break
        found = auditor.result(stopped=stopped)
        return entry(found, question, subject, sequential=found.record)
