"""What an auditor is: a question, a subject and a share of the failure probability in, evidence out.

An auditor is one file that has an `Auditor`; the rules of its verdict are there and nowhere else. Questions are frozen
objects, a class for each kind. An auditor that needs no runs takes a subject that has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from numpy.typing import ArrayLike

from dpverify.auditing.claims import Claim
from dpverify.auditing.entries import AskedOnData
from dpverify.auditing.error_share import ErrorShare
from dpverify.evidence import Evidence
from dpverify.privacy import Adjacency

QuestionT = TypeVar("QuestionT", contravariant=True)
SubjectT = TypeVar("SubjectT", contravariant=True)
EvidenceT = TypeVar("EvidenceT", bound=Evidence, covariant=True)


class Auditor(Protocol[QuestionT, SubjectT, EvidenceT]):
    """Answers one kind of question."""

    def audit(self, question: QuestionT, subject: SubjectT, error: ErrorShare) -> EvidenceT:
        """Find evidence that is wrong with at most the share's probability, which it spends."""


class PairSubject(Protocol):
    """Something that runs on two neighboring data sets."""

    def draw(self, count: int) -> tuple[ArrayLike, ArrayLike]:
        """The next `count` outputs on one data set and on the other, (count,) or (count, d) each.

        Runs of one data set are independent of one another and alike, from one call to the next as well.
        """


@dataclass(frozen=True)
class PrivacyQuestion:
    """Does a guarantee hold on this pair of data sets?"""

    claim: Claim
    adjacency: Adjacency | str
    """The neighboring relation that the two data sets stand for."""
    runs: int
    """On each data set: exactly so many, or for an auditor that stops early at most."""
    seed: int
    """Of the auditor's own randomness."""
    asked: AskedOnData
    """What only whoever asks knows, for the ledger."""
    delta: float | None = None
    """Where epsilon is bounded; by default where the claim is, and for a curve 1e-5."""
    best_known: Claim | None = None
    """The sharpest guarantee that accounting has, for the upper curve of the sandwich."""


@dataclass(frozen=True)
class GivenSamples:
    """Outputs that were drawn before, (runs,) or (runs, d) each: a subject that gives them once."""

    left: ArrayLike
    right: ArrayLike

    def draw(self, count: int) -> tuple[ArrayLike, ArrayLike]:
        """All of them, whatever the count; auditors refuse sides of different shapes."""
        return self.left, self.right
