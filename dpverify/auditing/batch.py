"""The auditor that looks once, after a fixed number of runs, at the whole privacy profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dpverify.auditing.claims import stated_corner
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.faults import room_left, search_faults
from dpverify.auditing.looks import EventFilter
from dpverify.auditing.pairs import PairSubject, PlantedFaults, PrivacyQuestion, entry
from dpverify.auditing.privacy import audit_privacy
from dpverify.ledger.evidence import PrivacyEvidence


@dataclass(frozen=True)
class BatchAuditor:
    """Lower-bounds the profile on a pair from a fixed number of runs: `audit_privacy`, and a search for faults.

    Where the subject has no `faults`, nothing is tried out, as for a mechanism of which only outputs are known.
    """

    looks: EventFilter = field(default_factory=EventFilter)
    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: PairSubject, error: ErrorShare) -> PrivacyEvidence:
        """Draw all runs, bound, compare; raises as `audit_privacy`."""
        claim = question.stated.guarantee
        left, right = subject.draw(question.runs)
        found = audit_privacy(
            left,
            right,
            claim,
            adjacency=question.relation,
            failure_probability=error,
            seed=question.label.seed,
            delta=question.delta,
            scorers=self.looks.scorers,
            directions=self.looks.compared,
            name_event=getattr(subject, "name_event", str),
            needs=getattr(subject, "needs", None),
        )
        faults: PlantedFaults | None = getattr(subject, "faults", None)
        if faults is not None:
            weakened, corner = faults.weakened, stated_corner(claim)
            found = search_faults(
                found,
                claim,
                None if weakened is None else lambda factor: weakened(factor).draw(question.runs),
                fault=faults.fault,
                factors=faults.factors,
                room=None
                if weakened is None or corner is None
                else lambda factor: room_left(corner, subject, weakened(factor)),
            )
        return entry(found, question, subject)
