"""The auditors of expectations: of excess risks, and of anything bounded that is read off a run.

Those that bet look round by round and end as soon as a bound is decided: an expectation far from its bound takes a few
hundred runs or less, one close to it all of them. Entries say how many were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from numpy.typing import ArrayLike

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.bounds import Audited, BoundsQuestion, Numbers, answer
from dpverify.auditing.expectations.means import audit_mean, audit_mean_in_rounds
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import MeanEvidence, RiskEvidence


class RoundsOfNumbers(Numbers, Protocol):
    """Numbers that can be asked for round by round."""

    @property
    def round_unit(self) -> int:
        """Rounds take a multiple of so many runs: those that go into one number."""

    def draw_round(self, number: int, count: int) -> ArrayLike:
        """Independent numbers from `count` runs of a round, from 1; independent of those of all other rounds."""


def _all_at_once(subject: Numbers, runs: int, asked: dict[str, Any], *, to_the_end: bool) -> Audited:
    """One case, by the interval that all runs give."""
    return audit_mean(subject.draw(runs), **asked), runs


def _in_rounds(subject: RoundsOfNumbers, runs: int, asked: dict[str, Any], *, to_the_end: bool) -> Audited:
    unit = subject.round_unit
    if runs < unit:
        raise InvalidArgumentError("runs", runs, f"at least {unit}, the runs that go into one number")
    audit = audit_mean_in_rounds(
        lambda number, size: subject.draw_round(number, size * unit),
        most=runs // unit,
        to_the_end=to_the_end,
        **asked,
    )
    return audit, audit.runs * unit


@dataclass(frozen=True)
class RiskAuditor:
    """Encloses excess risks and compares each with its bound; raises as `audit_mean`."""

    spends: ClassVar[bool] = True
    one: ClassVar[Callable[..., Audited]] = staticmethod(_all_at_once)
    """How one case is audited."""

    def audit(self, question: BoundsQuestion, subject: Sequence[Any], error: ErrorShare) -> RiskEvidence:
        """Draw, enclose, compare."""
        return answer(RiskEvidence, question, subject, error, self.one)


@dataclass(frozen=True)
class MeanAuditor:
    """The same for expectations of anything bounded that is read off a run, such as counts of queries."""

    spends: ClassVar[bool] = True
    one: ClassVar[Callable[..., Audited]] = staticmethod(_all_at_once)
    """How one case is audited."""

    def audit(self, question: BoundsQuestion, subject: Sequence[Any], error: ErrorShare) -> MeanEvidence:
        """Draw, enclose, compare."""
        return answer(MeanEvidence, question, subject, error, self.one)


class BettingRiskAuditor(RiskAuditor):
    """`RiskAuditor` round by round, until each risk is on one side of its bound, or all runs are made.

    Subjects are `RoundsOfNumbers`.
    """

    one = staticmethod(_in_rounds)


class BettingMeanAuditor(MeanAuditor):
    """`MeanAuditor` round by round."""

    one = staticmethod(_in_rounds)
