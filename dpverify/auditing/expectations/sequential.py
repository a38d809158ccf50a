"""The auditors of expectations that look round by round, and end as soon as a bound is decided.

An expectation far from its bound is decided after a few hundred runs or less, one close to it takes all of them.
Entries say how many were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from numpy.typing import ArrayLike

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.bounds import Audited, Bound, BoundsQuestion, Numbers, answer
from dpverify.auditing.expectations.means import audit_mean_in_rounds
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import MeanEvidence, RiskEvidence


class RoundsOfNumbers(Numbers, Protocol):
    """Numbers that can be asked for round by round."""

    @property
    def round_unit(self) -> int:
        """Rounds take a multiple of so many runs: those that go into one number."""

    def draw_round(self, number: int, count: int) -> ArrayLike:
        """Independent numbers from `count` runs of a round, from 1; independent of those of all other rounds."""


@dataclass(frozen=True)
class BettingRiskAuditor:
    """Encloses excess risks round by round until each is on one side of its bound, or all runs are made."""

    spends: ClassVar[bool] = True

    def audit(
        self, question: BoundsQuestion, subject: Sequence[RoundsOfNumbers], error: ErrorShare
    ) -> RiskEvidence:
        """Draw, enclose, compare, again and again.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_mean_in_rounds`.
        """
        found = answer(question, subject, error, in_rounds)
        return RiskEvidence(**found.fields, minimum=found.audit.minimum)


@dataclass(frozen=True)
class BettingMeanAuditor:
    """The same for expectations of anything bounded that is read off a run, such as counts of queries."""

    spends: ClassVar[bool] = True

    def audit(
        self, question: BoundsQuestion, subject: Sequence[RoundsOfNumbers], error: ErrorShare
    ) -> MeanEvidence:
        """Draw, enclose, compare, again and again.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_mean_in_rounds`.
        """
        found = answer(question, subject, error, in_rounds)
        return MeanEvidence(**found.fields, at_least=found.audit.at_least)


def in_rounds(
    subject: RoundsOfNumbers, bound: Bound, runs: int, level: float, *, to_the_end: bool
) -> Audited:
    """One case; see `bounds.answer`."""
    unit = subject.round_unit
    if runs < unit:
        raise InvalidArgumentError("runs", runs, f"at least {unit}, the runs that go into one number")
    audit = audit_mean_in_rounds(
        lambda number, size: subject.draw_round(number, size * unit),
        bound=bound.bound,
        lower=subject.lower,
        upper=subject.upper,
        failure_probability=level,
        most=runs // unit,
        minimum=subject.minimum,
        at_least=bound.at_least,
        extreme=subject.extreme,
        to_the_end=to_the_end,
    )
    return audit, audit.runs * unit
