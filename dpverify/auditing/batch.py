"""The auditor that looks once, after a fixed number of runs, at the whole privacy profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpverify.auditing.black_box.low_bits import LOW_BIT_SCORERS
from dpverify.auditing.black_box.scores import DEFAULT_SCORERS
from dpverify.auditing.contract import PairSubject, PrivacyQuestion
from dpverify.auditing.entries import privacy_entry
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.faults import FACTORS, Weakened, search_faults
from dpverify.auditing.privacy import audit_privacy
from dpverify.evidence import PrivacyEvidence


@dataclass(frozen=True)
class Faults:
    """Weakened versions of a mechanism, on which an audit is tried out; see `search_faults`."""

    weakened: Weakened | None
    """None where there are none: the audit then is blind."""
    fault: str
    factors: Sequence[float] = FACTORS


@dataclass(frozen=True)
class BatchAuditor:
    """Lower-bounds the profile on a pair from a fixed number of runs: `audit_privacy`, and a search for faults.

    Without `faults` nothing is tried out, as for a mechanism of which only outputs are known.
    """

    faults: Faults | None = None
    low_bits: bool = False
    """Whether to look at low bits and last decimals of outputs, and at nothing else."""

    def audit(self, question: PrivacyQuestion, subject: PairSubject, error: ErrorShare) -> PrivacyEvidence:
        """Draw all runs, bound, compare.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_privacy`.
        """
        left, right = subject.draw(question.runs)
        found = audit_privacy(
            left,
            right,
            question.claim,
            adjacency=question.adjacency,
            failure_probability=error,
            seed=question.seed,
            delta=question.delta,
            scorers=LOW_BIT_SCORERS if self.low_bits else DEFAULT_SCORERS,
        )
        if self.faults is not None:
            found = search_faults(
                found,
                question.claim,
                self.faults.weakened,
                fault=self.faults.fault,
                factors=self.faults.factors,
            )
        return privacy_entry(found, best_known=question.best_known, **question.asked)
