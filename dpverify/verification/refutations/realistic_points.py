"""A refuted formula's second counterexample, at sizes met in practice: made for the ledger, and held against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dpverify.ledger.facts import FailureMargin
from dpverify.ledger.realistic import RealisticPoint
from dpverify.ledger.verdicts import Verdict
from dpverify.verification.refutations.consequences import sides_as_printed

if TYPE_CHECKING:
    from dpverify.formulas.rendering.neutral import Json
    from dpverify.proving.checker import Confirmation
    from dpverify.proving.language import Obligation

Checker = Callable[["Json"], "Confirmation"]


def realistic_point(obligation: Obligation, refuted: Json, checker: Checker) -> RealisticPoint | None:
    """What is found at sizes met in practice of a formula that a certificate refutes.

    None where no letter of the formula has a size in practice, or where it is refuted by other means than a point.
    """
    from dpverify.analyses.realistic import realistic

    if not _is_asked(obligation, refuted):
        return None
    late = False

    def confirms(point: Mapping[str, str]) -> bool:
        nonlocal late
        confirmation = checker(_certificate(obligation, point))
        late = late or confirmation.by_the_clock  # on another machine, it may be this point that is taken
        return confirmation.confirmed

    found = realistic(obligation, refuted["proof"]["point"], confirms)
    relation, left, right = _sides(obligation, found.point, found.left, found.right)
    excess, late = FailureMargin.of(relation, left, right), late or found.stopped_by_the_clock
    return found.but(left=left, right=right, excess=excess, stopped_by_the_clock=late)


def fault_of(
    found: RealisticPoint | None,
    obligation: Obligation,
    refuted: Json,
    checker: Checker,
    *,
    cut_short: bool = False,
) -> str:
    """What is wrong with a ledger's counterexample at a realistic size, by its source; empty if nothing is.

    The point itself is looked at, whichever search found it; that there is none is searched for again. Where a guard
    of time ended that search, here or, by `cut_short`, where the ledger was made, the two need not agree.
    """
    from dpverify.analyses.realistic import is_realistic, practical_sizes, sides_at
    from dpverify.ledger.written_numbers import coordinates_of
    from dpverify.proving.provers.points import confirmed

    if not _is_asked(obligation, refuted):
        has_one = found is not None
        return "it has a counterexample at a realistic size, and no letter has such a size" if has_one else ""
    if found is None:
        return "it does not say whether there is a counterexample at a realistic size"
    if found.point is None:
        again = realistic_point(obligation, refuted, checker)
        agree = found == again or cut_short or (again is not None and again.stopped_by_the_clock)
        return "" if agree else "what it says of realistic sizes is not what the search finds"
    if found.sizes != practical_sizes(obligation):
        return "the sizes that it says its letters have in practice are not those of its source"
    try:
        point = {v.name: coordinates_of(found.point[v.name]) for v in obligation.over}
    except (KeyError, ValueError, ZeroDivisionError):
        return "its counterexample at a realistic size is no point"
    whole = len(found.point) == len(point)
    if not (whole and confirmed(obligation.problem, point) and is_realistic(obligation, point)):
        return "its counterexample at a realistic size is none, or not of such sizes"
    relation, left, right = _sides(obligation, found.point, *sides_at(obligation, point))
    said = (found.left, found.right, found.excess, found.because)
    if said != (left, right, FailureMargin.of(relation, left, right), "") or found.tried < 1:
        return "its sides at the counterexample at a realistic size are not those of its point"
    if checker(_certificate(obligation, found.point)).confirmed != found.confirmed_by_checker:
        return "the checker does not say what it says of the counterexample at a realistic size"
    return ""


def _is_asked(obligation: Obligation, refuted: Json) -> bool:
    """Whether there is anything to look for."""
    from dpverify.analyses.realistic import asks_for_sizes

    proof = refuted["proof"]
    return proof.get("method") == "counterexample" and bool(proof.get("point")) and asks_for_sizes(obligation)


def _certificate(obligation: Obligation, point: Mapping[str, str]) -> Json:
    """The certificate that the formula is refuted by this point."""
    from dpverify.proving.certificates import certificate

    return certificate(
        obligation.problem, Verdict.REFUTED, {"method": "counterexample", "point": dict(point)}
    )


def _sides(
    obligation: Obligation, point: Mapping[str, str] | None, left: str | None, right: str | None
) -> tuple[str, str | None, str | None]:
    return sides_as_printed(obligation, obligation.coverage, point, left, right)
