"""The auditor of expectations of anything bounded that is read off a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.bounds import BoundsQuestion, Numbers, answer
from dpverify.ledger.evidence import MeanEvidence


@dataclass(frozen=True)
class MeanAuditor:
    """Encloses expectations and compares each with its bound.

    Examples:
        >>> from types import SimpleNamespace
        >>> import numpy as np
        >>> from dpverify.auditing import Bound, BoundsQuestion, ErrorShare, MeanAuditor
        >>> hits = SimpleNamespace(
        ...     quantity="share of hits", lower=0.0, upper=1.0, minimum=None, extreme=None, runs_a_number=1,
        ...     draw=lambda count: np.random.default_rng(0).integers(0, 2, size=count),
        ... )
        >>> question = BoundsQuestion((Bound(0.6, claim="at most 0.6", data="tosses", runs=5000),))
        >>> evidence = MeanAuditor().audit(question, [hits], ErrorShare(1e-3))
        >>> print(evidence.verdict, evidence.measured.lower < 0.5 < evidence.measured.upper)
        supported True
    """

    spends: ClassVar[bool] = True

    def audit(self, question: BoundsQuestion, subject: Sequence[Numbers], error: ErrorShare) -> MeanEvidence:
        """Draw, enclose, compare.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_mean`.
        """
        found = answer(question, subject, error)
        return MeanEvidence(**found.fields, at_least=found.audit.at_least)
