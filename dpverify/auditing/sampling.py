"""Audits of samplers: is the law of the output as close to the right law as claimed?

The comparison is of distribution functions in one dimension, with the Dvoretzky-Kiefer-Wolfowitz inequality in
Massart's form: the empirical distribution function of k independent numbers is within sqrt(ln(2/p) / (2k)) of the
true one everywhere, except with probability p. It holds for every k and every law. Total variation and factors are
tested on half-lines, the Wasserstein distance is the area between the functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.confidence import WASSERSTEIN_CELLS, band_width, wasserstein_interval
from dpverify.auditing.contract import Origin, Question
from dpverify.auditing.error_share import ErrorShare
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import SamplingEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import at_least

Distance = Literal["total variation", "multiplicative", "Wasserstein"]

_PLOTTED = 61
"""Points of the distribution functions that are kept for a plot."""


@dataclass(frozen=True)
class LawQuestion(Question):
    """Is the law of a sampler's output as close to the right law as claimed, as far as one number a run shows?"""

    reference: Callable[[Any], Any]
    """P[statistic <= x] under the right law, vectorized; its own error is part of `reference_error`."""
    reference_error: float
    """At most how far `reference` is from the truth, absolutely."""
    distance: Distance
    """Multiplicative: every event's probability is within a factor exp(bound) of the right one, both ways.

    Wasserstein: W_1, in the unit of the statistic.
    """
    bound: float
    """0 for an exact sampler."""
    claim: str
    statistic_name: str
    """What the number is that is read off a run."""
    data: str
    runs: int
    origin: Origin | None = None
    within: tuple[float, float] | None = None
    """No number is outside of this, under either law; the Wasserstein distance needs it."""


class Sampler(Protocol):
    """A sampler, seen through one number a run."""

    def draw(self, count: int) -> ArrayLike:
        """Independent numbers, (count,)."""

    def blind(self, count: int) -> ArrayLike | None:
        """The same of a sampler that ignores the data; None where there is none."""


@dataclass(frozen=True)
class LawAuditor:
    """Compares the law of a sampler with the one that it should have; see `audit_law`."""

    spends: ClassVar[bool] = True

    def audit(self, question: LawQuestion, subject: Sampler, error: ErrorShare) -> SamplingEvidence:
        """Draw, compare, and do the same with a sampler that ignores the data; raises as `audit_law`."""
        found = audit_law(
            subject.draw(question.runs),
            blind=subject.blind(question.runs),
            reference=question.reference,
            reference_error=question.reference_error,
            distance=question.distance,
            bound=question.bound,
            failure_probability=error.spend("the band around the distribution function"),
            within=question.within,
        )
        return question.entry(
            SamplingEvidence, found, shares=error.spent(), statistic=question.statistic_name
        )


@dataclass(frozen=True)
class LawAudit:
    """What an audit of a sampler's law found."""

    verdict: Verdict
    reason: str
    distance: Distance
    bound: float
    measured: Interval
    """Confidence interval of the Kolmogorov distance between the two laws, which total variation exceeds.

    Of the Wasserstein distance, where that is claimed.
    """
    half_width: float
    """Of the band around the empirical distribution function."""
    detectable: float
    """A half-line whose probability is off by this much more than allowed would have been found half the time.

    Where the Wasserstein distance is claimed: a law this much farther away than allowed.
    """
    blind_rejected: bool | None
    """Whether a sampler that ignores the data is violated by the same audit; None where none was given."""
    gap: Gap | None
    """Where it is undecided: which of the known reasons it is."""
    detects_nothing: bool
    """True where the claim stands only because not even that sampler is told from the right one."""
    points: tuple[tuple[float, float, float, float], ...]
    """(x, lower, upper, reference): the band and the right distribution function."""
    runs: int
    failure_probability: float


def audit_law(
    values: ArrayLike,
    *,
    blind: ArrayLike | None,
    reference: Callable[[Any], Any],
    distance: Distance,
    bound: float,
    failure_probability: float,
    reference_error: float = 0.0,
    within: tuple[float, float] | None = None,
) -> LawAudit:
    """Test the claim that independent `values`, (runs,), have a law close to one with a known distribution function.

    `reference` maps numbers x to P[value <= x] under the right law, to within `reference_error`. With distance
    `total variation`, no event's probability may differ by more than `bound`; with `multiplicative`, none by more
    than a factor exp(bound). `violated` is said if a half-line shows that this is not so, which happens to a
    correct claim with probability at most `failure_probability`, in [1e-15, 1). With `Wasserstein`, the smallest
    expected distance of two numbers that have the two laws may not exceed `bound`, in their unit; both laws live on the
    interval `within`, and the confidence interval of that distance decides.

    `blind` are as many values of a sampler that ignores the data. They are audited in the same way, and where they
    are not rejected, or there are none, the claim is `undecided` instead of `supported`: the audit sees nothing here.

    Raises `InvalidDataError` for values that are no finite numbers, or a reference that is no distribution
    function, and `InvalidArgumentError` for the other arguments.
    """
    level = checks.failure_probability("failure_probability", failure_probability)
    allowed = '"total variation", "multiplicative" or "Wasserstein"'
    checks.require(distance in get_args(Distance), "distance", distance, allowed)
    allowed = "an interval with the Wasserstein distance, otherwise None"
    checks.require((within is not None) == (distance == "Wasserstein"), "within", within, allowed)
    bound = checks.not_negative("bound", bound)
    error = checks.not_negative("reference_error", reference_error)
    compare = partial(
        _compare, reference=reference, error=error, distance=distance, bound=bound, level=level, within=within
    )
    found = compare(values, "values")
    blind_rejected = None
    if blind is not None:
        ignorant = compare(blind, "blind")
        if ignorant.runs != found.runs:
            raise InvalidArgumentError(
                "blind", ignorant.runs, f"{found.runs} values, as many as were audited"
            )
        blind_rejected = ignorant.broken is not None
    # the empirical value is beyond the true one half the time; the reference may err, and its error is allowed for
    detectable = found.half_width + 2 * error
    what, apart = "half-line contradicts", "one whose probability is off by {:.2g} more than it allows"
    if within is not None:
        detectable = (detectable + 1 / WASSERSTEIN_CELLS) * (within[1] - within[0])
        what, apart = "distance between the distribution functions contradicts", "a law {:.2g} farther away"
    if found.broken is not None:
        verdict, reason = Verdict.VIOLATED, found.broken
    elif blind_rejected:
        verdict = Verdict.SUPPORTED
        reason = (
            f"no {what} the claim; {apart.format(detectable)} would have been found half the time, and a sampler that "
            f"ignores the data is rejected; the two laws are at most {found.measured.upper:.2g} apart in "
            f"{'Kolmogorov' if within is None else distance} distance"
        )
    else:
        verdict = Verdict.UNDECIDED
        untried = "no sampler that ignores the data was given to test the audit on"
        passed = "a sampler that ignores the data also passes this audit"
        reason = f"sees nothing here: {untried if blind_rejected is None else passed}"
    columns = (found.places, found.lower, found.upper, found.right)
    chosen = np.unique(np.linspace(0, found.places.size - 1, _PLOTTED).round().astype(np.intp))
    return LawAudit(
        verdict=verdict,
        reason=reason,
        distance=distance,
        bound=bound,
        measured=found.measured,
        half_width=found.half_width,
        detectable=detectable,
        blind_rejected=blind_rejected,
        gap=Gap.BLIND_AUDIT if verdict is Verdict.UNDECIDED else None,
        detects_nothing=verdict is Verdict.UNDECIDED,
        points=tuple(zip(*(column[chosen].tolist() for column in columns), strict=True)),
        runs=found.runs,
        failure_probability=level,
    )


@dataclass(frozen=True)
class _Comparison:
    """One set of values beside the right law: at some places the band around the empirical one, and the right one."""

    places: FloatArray
    lower: FloatArray
    upper: FloatArray
    right: FloatArray
    half_width: float
    measured: Interval
    broken: str | None
    """How a half-line contradicts the claim; None if none does."""
    runs: int


def _compare(
    values: ArrayLike,
    name: str,
    *,
    reference: Callable[[Any], Any],
    error: float,
    distance: Distance,
    bound: float,
    level: float,
    within: tuple[float, float] | None,
) -> _Comparison:
    try:
        x = np.asarray(values)
    except ValueError as refusal:
        raise InvalidDataError(f"The {name} must be an array, shape (runs,).") from refusal
    if x.ndim != 1 or x.size == 0 or x.dtype.kind not in "iuf" or not np.all(np.isfinite(x)):
        raise InvalidDataError(f"The {name} must be finite numbers, shape (runs,), at least one.")
    jumps, counts = np.unique(x.astype(np.float64), return_counts=True)
    below = np.concatenate(([0.0], np.cumsum(counts) / x.size))
    # just before a jump and at it: enough for the supremum, and right for laws with atoms as well
    places = np.stack([np.nextafter(jumps, -np.inf), jumps], axis=1).ravel()
    empirical = np.stack([below[:-1], below[1:]], axis=1).ravel()
    right = _distribution(reference, places, error)

    half_width = band_width(x.size, level)
    lower, upper = np.maximum(0.0, empirical - half_width), np.minimum(1.0, empirical + half_width)
    broken = None
    if within is not None:
        measured = wasserstein_interval(x, reference, *within, level, reference_error=error)
        if measured.lower > bound:
            least = f"the Wasserstein distance is at least {at_least(measured.lower, 6)}"
            broken = f"{least}, and the claim allows {bound:.6g}"
    else:
        slack, kolmogorov = half_width + error, float(np.max(np.abs(empirical - right)))
        measured = Interval(lower=max(0.0, kolmogorov - slack), upper=min(1.0, kolmogorov + slack))
        lowest, highest = allowed_band(
            np.clip(right - error, 0, 1), np.clip(right + error, 0, 1), distance, bound
        )
        outside = np.maximum(empirical - half_width - highest, lowest - empirical - half_width)
        at = int(np.argmax(outside))
        if outside[at] > 0:
            broken = (
                f"P[value <= {places[at]:.6g}] is in [{lower[at]:.6g}, {upper[at]:.6g}], and the claim allows "
                f"[{lowest[at]:.6g}, {highest[at]:.6g}]"
            )
    return _Comparison(places, lower, upper, right, half_width, measured, broken, int(x.size))


def allowed_band(
    lowest: FloatArray, highest: FloatArray, distance: Distance, bound: float
) -> tuple[FloatArray, FloatArray]:
    """Where a distribution function may be if the right one is between `lowest` and `highest`."""
    if distance == "total variation":
        return np.clip(lowest - bound, 0, 1), np.clip(highest + bound, 0, 1)
    factor = math.exp(bound)
    return (
        np.maximum(lowest / factor, 1 - factor * (1 - lowest)),
        np.minimum(highest * factor, 1 - (1 - highest) / factor),
    )


def _distribution(reference: Callable[[Any], Any], places: FloatArray, error: float) -> FloatArray:
    """The reference at the places, checked to be a distribution function as far as they show."""
    right = np.asarray(reference(places), dtype=np.float64)
    tolerance = error + 1e-9
    if right.shape != places.shape or not np.all((right >= -tolerance) & (right <= 1 + tolerance)):
        raise InvalidDataError("The reference must give one probability for each number.")
    if np.any(np.diff(right) < -2 * tolerance):
        raise InvalidDataError("The reference must not decrease.")
    return np.clip(right, 0.0, 1.0)
