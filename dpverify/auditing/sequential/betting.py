"""The auditor that bets round by round, and ends as soon as the claim is refuted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.pairs import PairSubject, PrivacyQuestion, leaves, sandwiched
from dpverify.auditing.sequential.audit import SequentialAudit, SequentialAuditor
from dpverify.evidence import PrivacyEvidence


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
        """Draw, bet, look.

        Raises:
            InvalidArgumentError, InvalidDataError: as `SequentialAuditor`.
        """
        auditor = SequentialAuditor(
            question.stated.guarantee,
            question.relation,
            error,
            question.heading.seed,
            question.runs,
            question.delta,
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
        return _entry(found, question, question.epsilons(found.delta, subject))


def _entry(audit: SequentialAudit, question: PrivacyQuestion, epsilons: dict[str, Any]) -> PrivacyEvidence:
    return PrivacyEvidence(
        **epsilons,
        **question.fields(),
        verdict=audit.verdict,
        reason=audit.reason + leaves(question, audit, epsilons),
        gap=audit.gap,
        runs=audit.runs,
        failure_probability=audit.failure_probability,
        shares=audit.shares,
        sees_nothing=audit.sees_nothing,
        adjacency=audit.adjacency,
        claim=audit.claim,
        epsilon_lower=audit.epsilon_lower,
        delta=audit.delta,
        detectable=audit.detectable,
        profile=sandwiched(audit.profile, question),
        seed=audit.seed,
        sequential=audit.record,
    )
