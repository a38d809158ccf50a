"""Declared audits: which implementation is tried on which data against which claim.

A plan is declared beside its paper and carried out by the main job. Its `build` makes the question and the subject; it
is called in the process that runs the audit, so a plan costs nothing until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpverify.auditing import (
    Auditor,
    BatchAuditor,
    Bound,
    BoundsQuestion,
    ConstantAuditor,
    CountAuditor,
    LawAuditor,
    MeanAuditor,
    Question,
    RateAuditor,
    RateQuestion,
    RiskAuditor,
)
from dpverify.auditing.accountants import AccountantAuditor
from dpverify.auditing.subjects import NOTHING, SubjectList, SubjectSpec
from dpverify.auditing.white_box import WhiteBoxAuditor
from dpverify.ledger.audits import AuditEvidence

PRIVACY = BatchAuditor()
WHITE_BOX = WhiteBoxAuditor()
RISK = RiskAuditor()
MEAN = MeanAuditor()
LAW = LawAuditor()
COUNT = CountAuditor()
CONSTANT = ConstantAuditor()
ACCOUNTANT = AccountantAuditor()
"""The auditors of this repository's plans; a plan may name any other."""

AnyAuditor = Auditor[Any, Any, AuditEvidence]


class Profile(StrEnum):
    """How much work a verification run does."""

    QUICK = "quick"
    FULL = "full"

    def runs(self, quick: int) -> int:
        """Independent runs: `quick` of them, or ten times as many."""
        return quick if self is Profile.QUICK else 10 * quick

    @property
    def faults(self) -> tuple[float, ...]:
        """The factors by which mechanisms are weakened, from the largest on: see `OnPair.weakened`."""
        return (4.0, 2.0) if self is Profile.QUICK else (4.0, 2.0, math.sqrt(2))


@dataclass(frozen=True)
class Audit:
    """A question and what it is about."""

    question: Question
    subject: SubjectSpec[Any] = NOTHING
    then: tuple[tuple[AnyAuditor, Question], ...] = ()
    """Questions about the evidence that is found, which need no failure probability."""


@dataclass(frozen=True)
class Plan:
    """One declared audit."""

    name: str
    subject: str
    """Id of the statement or algorithm."""
    title: str
    auditor: AnyAuditor
    build: Callable[[Profile], Audit]
    least: Profile = Profile.QUICK
    """`FULL`: left out of quick runs, unless it is named."""

    @property
    def in_full_alone(self) -> bool:
        """Whether quick runs leave it out."""
        return self.least is Profile.FULL

    def within(self, profile: Profile) -> bool:
        """Whether a run with this profile carries it out."""
        return self.least is Profile.QUICK or profile is Profile.FULL


Case = tuple[Bound, SubjectSpec[Any]]
Cases = tuple[Case, ...]
"""Bounds on expectations, each with what draws the numbers."""


@dataclass(frozen=True)
class Along:
    """Makes one audit of several cases, all of which must keep their bounds: a curve `over` a size, if there is one.

    Where a rate is given, the exponent of what is measured over the cases' sizes is fitted and compared.
    """

    cases: Callable[[Profile], Cases]
    over: str = ""
    rate: RateQuestion | None = None

    def __call__(self, profile: Profile) -> Audit:
        bounds, subjects = zip(*self.cases(profile), strict=True)
        then = () if self.rate is None else ((RateAuditor(), self.rate),)
        return Audit(BoundsQuestion(bounds, self.over, measured=bool(then)), SubjectList(subjects), then)
