"""The auditor that looks once, after a fixed number of runs, at the whole privacy profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.faults import search_faults
from dpverify.auditing.looks import Looks
from dpverify.auditing.pairs import Faults, PairSubject, PrivacyQuestion, leaves, sandwiched
from dpverify.auditing.privacy import PrivacyAudit, audit_privacy
from dpverify.evidence import PrivacyEvidence


@dataclass(frozen=True)
class BatchAuditor:
    """Lower-bounds the profile on a pair from a fixed number of runs: `audit_privacy`, and a search for faults.

    Where the subject has no `faults`, nothing is tried out, as for a mechanism of which only outputs are known.
    """

    looks: Looks = field(default_factory=Looks)
    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: PairSubject, error: ErrorShare) -> PrivacyEvidence:
        """Draw all runs, bound, compare.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_privacy`.
        """
        claim = question.stated.guarantee
        left, right = subject.draw(question.runs)
        found = audit_privacy(
            left,
            right,
            claim,
            adjacency=question.relation,
            failure_probability=error,
            seed=question.heading.seed,
            delta=question.delta,
            scorers=self.looks.scorers,
            directions=self.looks.compared,
        )
        faults: Faults | None = getattr(subject, "faults", None)
        if faults is not None:
            weakened = faults.weakened
            found = search_faults(
                found,
                claim,
                None if weakened is None else lambda factor: weakened(factor).draw(question.runs),
                fault=faults.fault,
                factors=faults.factors,
            )
        return _entry(found, question, question.epsilons(found.delta, subject))


def _entry(audit: PrivacyAudit, question: PrivacyQuestion, epsilons: dict[str, Any]) -> PrivacyEvidence:
    return PrivacyEvidence(
        **epsilons,
        **question.fields(),
        verdict=audit.verdict,
        reason=audit.reason + leaves(question, audit, epsilons),
        gap=audit.gap,
        runs=audit.runs,
        failure_probability=audit.failure_probability,
        sees_nothing=audit.sees_nothing,
        adjacency=audit.adjacency,
        fault=audit.fault,
        smallest_fault=audit.smallest_fault,
        claim=audit.claim,
        epsilon_lower=audit.epsilon_lower,
        delta=audit.delta,
        detectable=audit.detectable,
        profile=sandwiched(audit.profile, question),
        shares=audit.shares,
        seed=audit.seed,
    )
