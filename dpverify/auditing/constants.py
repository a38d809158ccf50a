"""A printed constant beside the value that can be computed for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from dpverify import checks
from dpverify.auditing.contract import Origin, Question
from dpverify.auditing.error_share import ErrorShare
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import ConstantEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict

Extreme = Literal["smallest", "largest"]


@dataclass(frozen=True)
class ConstantQuestion(Question):
    """Is a printed constant on the right side of the one that can be computed?"""

    formula: str
    """In which the constant is c, in plain characters."""
    provable: Interval
    """Encloses the computed value: all of its numerical error is within, so that the auditor can round to the safe

    side. Only where it is `rigorous` can the word be `certified` or `refuted`.
    """
    extreme: Extreme
    """Whether the formula holds from this value on (a noise, a bound) or up to it (a step size)."""
    printed: float | None
    """None where no number is printed: then this is a measurement."""
    parameters: dict[str, str]
    """What was plugged in; without the printed constant, which stands for itself."""
    range_fixed_by: str
    """What fixes the range in which the value is right: `closed form for every n`, `a grid of 12 points`, ..."""
    method: str
    latex: str = ""
    decisive: bool = False
    """True where the formula is known to fail beyond the value, so that a printed constant there is wrong.

    False where beyond it only this proof fails.
    """
    requires: dict[str, bool] = field(default_factory=dict)
    """What has to hold besides, in words, and whether the computation found that it does."""
    origin: Origin | None = None


@dataclass(frozen=True)
class ConstantAuditor:
    """Compares a printed constant with a computed one: it runs nothing, has no subject and spends nothing."""

    spends: ClassVar[bool] = False

    def audit(self, question: ConstantQuestion, subject: None, error: ErrorShare) -> ConstantEvidence:
        """Compare; raises as `audit_constant`."""
        found = audit_constant(
            question.provable,
            extreme=question.extreme,
            printed=question.printed,
            decisive=question.decisive,
            requires=question.requires,
        )
        return question.entry(ConstantEvidence, found, **{found.extreme: found.provable})


@dataclass(frozen=True)
class ConstantAudit:
    """What the comparison of a printed constant with a computed one found."""

    verdict: Verdict
    reason: str
    provable: float
    """Rounded to the safe side: up where it is the smallest provable value, down where it is the largest."""
    extreme: Extreme
    printed: float | None
    gap: Gap | None = None
    """Where it is undecided: which of the known reasons it is."""


def audit_constant(
    provable: Interval,
    *,
    extreme: Extreme,
    printed: float | None,
    decisive: bool = False,
    requires: Mapping[str, bool] | None = None,
) -> ConstantAudit:
    """Compare a printed constant with the value from which on (or up to which) it can be proved.

    The formula holds from the value on where it is the smallest provable one (a noise, a bound), and up to it where
    it is the largest safe one (a step size). A printed constant on that side is `supported`, or `certified` where
    the interval is rigorous. One on the other side is `refuted` where the interval is rigorous and the value is
    decisive; else it is `undecided`: floating-point arithmetic refutes nothing, and neither does a proof that falls
    short. Without a printed constant there is nothing to compare, and it is a measurement.

    Args:
        provable: encloses the computed value.
        extreme: which of the two it is.
        printed: the printed constant, None where there is none.
        decisive: whether the formula is known to fail beyond the value.
        requires: what has to hold besides, and whether it does; `violated` is said if something does not.

    Raises `InvalidArgumentError` for an interval whose ends are not finite and in order, or another argument.
    """
    checks.of_kind("provable", provable, Interval)
    if not -math.inf < provable.lower <= provable.upper < math.inf:
        raise InvalidArgumentError("provable", provable, "an interval with finite ends in order")
    checks.require(extreme in ("smallest", "largest"), "extreme", extreme, '"smallest" or "largest"')
    if printed is not None and not math.isfinite(printed):
        raise InvalidArgumentError("printed", printed, "a finite number, or None where none is printed")
    smallest = extreme == "smallest"
    safe = provable.upper if smallest else provable.lower
    broken = [words for words, holds in (requires or {}).items() if not holds]
    if broken:
        verdict, reason, gap = Verdict.VIOLATED, f"this does not hold: {'; '.join(broken)}", None
    elif printed is None:
        reason = "there is no printed constant to compare with"
        verdict, gap = Verdict.UNDECIDED, Gap.NOTHING_STATED
    else:
        verdict, reason, gap = _compared(provable, safe, printed, smallest=smallest, decisive=decisive)
    return ConstantAudit(verdict, reason, safe, extreme, printed, gap)


def _leaves(safe: float, printed: float, *, smallest: bool) -> str:
    """How loose a printed constant on the right side is."""
    more, less = (printed, safe) if smallest else (safe, printed)
    if not less > 0:
        return ""
    return f": {more / less:.4g} times {'that' if smallest else 'smaller'}; a constant beyond it would have been found"


def _compared(
    provable: Interval, safe: float, printed: float, *, smallest: bool, decisive: bool
) -> tuple[Verdict, str, Gap | None]:
    how = "rigorous arithmetic" if provable.rigorous else "floating-point arithmetic"
    stands = f"the printed {printed:.6g} is"
    bound = f"{'smallest' if smallest else 'largest'} provable value, {safe:.6g}"
    if printed >= safe if smallest else printed <= safe:
        side = "at least" if smallest else "at most"
        verdict = Verdict.CERTIFIED if provable.rigorous else Verdict.SUPPORTED
        leaves = _leaves(safe, printed, smallest=smallest)
        return verdict, f"{stands} {side} the {bound} ({how}){leaves}", None
    beyond = printed < provable.lower if smallest else printed > provable.upper
    side = "below" if smallest else "above"
    if not (decisive and beyond):
        falls_short = f"this proof does not reach it, which refutes nothing ({how})"
        return Verdict.UNDECIDED, f"{stands} {side} the {bound}: {falls_short}", Gap.PROOF_FALLS_SHORT
    fails = f"{stands} {side} the {bound}, beyond which the formula fails"
    if provable.rigorous:
        return Verdict.REFUTED, f"{fails} ({how})", None
    return Verdict.UNDECIDED, f"{fails}; found in {how}, which refutes nothing", Gap.NOT_RIGOROUS
