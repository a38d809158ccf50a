"""Audits of expectations against bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.confidence import betting_interval, rules_out
from dpverify.auditing.expectations.sequence import MeanSequence, rules_out_in_rounds
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval, is_vacuous
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import at_least as downward
from dpverify.ledger.written_numbers import at_most as upward

FIRST_ROUND = 16
"""FloatArray in the first round; later ones are a quarter of all before."""


@dataclass(frozen=True)
class MeanAudit:
    """What an audit of an expected (excess) risk found; all in units of the loss."""

    verdict: Verdict
    reason: str
    bound: float
    at_least: bool
    """True where the claim is that the expectation is at least the bound, False for at most."""
    measured: Interval
    """Confidence interval of the expectation, the minimum's interval already subtracted."""
    minimum: Interval
    margin: float
    """How far the nearer end of `measured` is on the right side of the bound: positive where it is confirmed."""
    extreme: Interval
    """Around the worst expectation that anything could have: exhibited, and certified."""
    detectable: float | None
    """An expectation of this size, at the spread that was seen, would have been found about half the time.

    None where no possible expectation would have been.
    """
    gap: Gap | None
    """Where it is undecided: which of the known reasons it is."""
    detects_nothing: bool
    """True where nothing could have broken the bound, or nothing that does would have been found."""
    runs: int
    failure_probability: float


def audit_mean(
    values: ArrayLike,
    *,
    bound: float,
    lower: float,
    upper: float,
    failure_probability: float,
    minimum: Interval | None = None,
    at_least: bool = False,
    extreme: Interval | None = None,
) -> MeanAudit:
    """Test the claim E[value] - minimum <= bound, or >= bound with `at_least`.

    `values` is (runs,), independent, each within [lower, upper], which has to hold for the mechanism and not
    only for these values. `minimum` is the interval around what is to be subtracted, for instance the
    certified minimum of the empirical risk; by default nothing is. `violated` is said if the whole interval is on
    the wrong side of the bound, which happens to a correct claim with at most half of `failure_probability`,
    in [1e-15, 1) (the interval is two-sided).

    A bound that nothing could break is not supported but `undecided`. `extreme` is the interval around the worst
    value that the expectation (the minimum subtracted) could have for any mechanism, from one that was exhibited to
    one that is certified; by default it is the end of the range. The bound counts as breakable only if the
    exhibited one breaks it. Where no bound is stated (an infinite one), there is nothing to decide.

    Raises `InvalidDataError` for values that are not finite or outside [lower, upper], and
    `InvalidArgumentError` for the other arguments.
    """
    asked = _CheckedMean.of(bound, lower, upper, failure_probability, minimum, extreme, at_least=at_least)
    mean = betting_interval(values, lower, upper, asked.level)

    def rules(sample: FloatArray, goal: float, least: float, most: float) -> bool:
        return rules_out(sample, goal, least, most, asked.level / 2)

    return _judged(asked, np.asarray(values, dtype=np.float64), mean, rules)


def audit_mean_in_rounds(
    draw: Callable[[int, int], ArrayLike],
    *,
    bound: float,
    lower: float,
    upper: float,
    failure_probability: float,
    most: int,
    minimum: Interval | None = None,
    at_least: bool = False,
    extreme: Interval | None = None,
    to_the_end: bool = False,
) -> MeanAudit:
    """`audit_mean`, but values come in rounds, and it ends as soon as the whole interval is on one side of the bound.

    The intervals hold at all times at once (`sequence.MeanSequence`), so a correct claim is called violated with at
    most half of `failure_probability`, whenever the audit ends. `detectable` is about all `most` values: with an
    expectation close to the bound it would not have ended before.

    Args:
        draw: from the number of a round, from 1, and a number of values to at least one independent value and at most
            so many, (values,).
        bound: as for `audit_mean`, and so are all others.
        lower: of every value.
        upper: of every value.
        failure_probability: of the whole audit.
        most: values that are drawn at most.
        minimum: what is to be subtracted.
        at_least: whether the claim is one from below.
        extreme: around the worst expectation that anything could have.
        to_the_end: draw all, for an interval that is as short as can be.

    Raises `InvalidDataError` and `InvalidArgumentError` as `audit_mean`.

    Examples:
        >>> import numpy as np
        >>> from dpverify.auditing import audit_mean_in_rounds
        >>> def draw(number, count):
        ...     return np.random.default_rng((0, number)).beta(2.0, 6.0, size=count)  # of mean 1/4
        >>> for bound in (0.6, 0.3, 0.1):  # far from the mean a few values are enough
        ...     found = audit_mean_in_rounds(
        ...         draw, bound=bound, lower=0.0, upper=1.0, failure_probability=1e-3, most=3000
        ...     )
        ...     print(bound, found.verdict, found.runs < 100)
        0.6 supported True
        0.3 supported False
        0.1 violated True
    """
    asked = _CheckedMean.of(bound, lower, upper, failure_probability, minimum, extreme, at_least=at_least)
    most = checks.whole_number("most", most)
    checks.function("draw", draw)
    sequence = MeanSequence(lower, upper, asked.level)
    number = 0
    while sequence.runs < most:
        number += 1
        size = min(max(FIRST_ROUND, sequence.runs // 4), most - sequence.runs)
        sequence.see(draw(number, size))
        if math.isfinite(bound) and not to_the_end:
            minimum = asked.minimum
            if sequence.above(asked.bound + minimum.upper) or sequence.below(asked.bound + minimum.lower):
                break

    def rules(sample: FloatArray, goal: float, least: float, largest: float) -> bool:
        whole = (np.resize(sample, most) - least) / (largest - least)
        return rules_out_in_rounds([whole], (goal - least) / (largest - least), asked.level / 2)

    return _judged(asked, sequence.values, sequence.interval, rules)


@dataclass(frozen=True)
class _CheckedMean:
    """What an audit of a mean is asked, checked."""

    bound: float
    lower: float
    upper: float
    level: float
    minimum: Interval
    extreme: Interval
    at_least: bool

    @classmethod
    def of(
        cls,
        bound: float,
        lower: float,
        upper: float,
        failure_probability: float,
        minimum: Interval | None,
        extreme: Interval | None,
        *,
        at_least: bool,
    ) -> _CheckedMean:
        if not isinstance(bound, float) or bound != (-math.inf if at_least else math.inf):
            bound = checks.number("bound", bound)
        level = checks.failure_probability("failure_probability", failure_probability)
        lower, upper = checks.number("lower", lower), checks.number("upper", upper)
        least = Interval(lower=0.0, upper=0.0, rigorous=True) if minimum is None else minimum
        if not -math.inf < least.lower <= least.upper < math.inf:
            raise InvalidArgumentError("minimum", least, "an interval with finite ends in order")
        end = lower - least.upper if at_least else upper - least.lower
        worst = Interval(lower=end, upper=end) if extreme is None else extreme
        checks.require(worst.lower <= worst.upper, "extreme", worst, "an interval with its ends in order")
        return cls(bound, lower, upper, level, least, worst, at_least)


def _judged(
    asked: _CheckedMean,
    x: FloatArray,
    mean: Interval,
    rules: Callable[[FloatArray, float, float, float], bool],
) -> MeanAudit:
    """The verdict that an interval of the mean gives; `rules` says what a sample would rule out."""
    minimum, at_least = asked.minimum, asked.at_least
    sign = -1.0 if at_least else 1.0
    measured = Interval(lower=mean.lower - minimum.upper, upper=mean.upper - minimum.lower)
    # A claim from below is one from above about minus the values: all that follows is about the latter.
    least, most = sorted((sign * asked.lower, sign * asked.upper))
    goal = sign * asked.bound + (-minimum.lower if at_least else minimum.upper)
    margin = measured.lower - asked.bound if at_least else asked.bound - measured.upper
    found = _smallest_found(sign * x, goal, least, most, rules) if math.isfinite(goal) else None
    detectable = None if found is None else sign * found - (minimum.upper if at_least else minimum.lower)
    verdict, reason, gap = _mean_verdict(asked, measured, detectable, margin)
    return MeanAudit(
        verdict=verdict,
        reason=reason,
        bound=asked.bound,
        at_least=at_least,
        measured=measured,
        minimum=minimum,
        margin=margin,
        extreme=asked.extreme,
        detectable=detectable,
        gap=gap,
        detects_nothing=gap in (Gap.BLIND_AUDIT, Gap.TOO_FEW_RUNS),
        runs=x.size,
        failure_probability=asked.level,
    )


def _mean_verdict(
    asked: _CheckedMean, measured: Interval, detectable: float | None, margin: float
) -> tuple[Verdict, str, Gap | None]:
    bound, at_least, extreme = asked.bound, asked.at_least, asked.extreme
    if not math.isfinite(bound):
        return Verdict.UNDECIDED, "There is no stated bound to compare with.", Gap.NOTHING_STATED
    if measured.upper < bound if at_least else measured.lower > bound:
        what = (
            f"at most {upward(measured.upper, 6)}" if at_least else f"at least {downward(measured.lower, 6)}"
        )
        asks = "asks for" if at_least else "allows"
        return Verdict.VIOLATED, f"the expectation is {what}, and the claim {asks} {bound:.6g}", None
    exhibited, certified = (extreme.upper, extreme.lower) if at_least else (extreme.lower, extreme.upper)
    size = "smallest" if at_least else "largest"
    gap = Gap.BLIND_AUDIT
    if is_vacuous(bound, certified, at_least=at_least):
        blind = f"The bound {bound:.6g} is vacuous here: no output could break it, as the {size} possible value is "
        return Verdict.UNDECIDED, f"{blind}{certified:.6g}", gap
    if exhibited >= bound if at_least else exhibited <= bound:
        blind = f"No output is known that would break the bound {bound:.6g}: the {size} value exhibited is "
        return Verdict.UNDECIDED, f"{blind}{exhibited:.6g}, and none beyond {certified:.6g} is possible", gap
    if detectable is None:
        few = "Too few runs: no possible expectation could have been told apart from the bound"
        return Verdict.UNDECIDED, f"{few} {bound:.6g}", Gap.TOO_FEW_RUNS
    if detectable < exhibited if at_least else detectable > exhibited:
        few = (
            f"Too few runs: only an expectation of {detectable:.4g} could have been told apart from the bound"
        )
        known = f"the {size} value known to be possible is {exhibited:.4g}"
        return Verdict.UNDECIDED, f"{few} {bound:.6g}, and {known}", Gap.TOO_FEW_RUNS
    part = "confirmed: the whole interval" if margin >= 0 else "not contradicted: part of the interval"
    reason = (
        f"{part} is within the bound {bound:.6g}; an expectation of {detectable:.4g} would have been found about half "
        f"the time, and the {size} value known to be possible is {exhibited:.4g}; "
    )
    return Verdict.SUPPORTED, reason + _leaves(bound, measured, at_least=at_least), None


def _leaves(bound: float, measured: Interval, *, at_least: bool) -> str:
    """How loose a bound that is kept may be."""
    near, far = (bound, measured.upper) if at_least else (measured.lower, bound)
    word = "small" if at_least else "large"
    if near > 0:
        return f"the bound is at most {max(far / near, 1):.3g} times too {word}"
    return f"the bound is at most {max(far - near, 0):.3g} too {word}"


def _smallest_found(
    x: FloatArray,
    goal: float,
    lower: float,
    upper: float,
    rules: Callable[[FloatArray, float, float, float], bool],
) -> float | None:
    """Smallest mean in [lower, upper] at which a sample like this one rules out all means up to `goal`.

    The sample is moved to the mean: it is the spread there that decides what is found, and the mean of a sample is
    above its expectation about half the time.
    """

    def found(mean: float) -> bool:
        return rules(_moved(x, mean, lower, upper), goal, lower, upper)

    low, high = max(lower, min(goal, upper)), upper
    if found(low):
        return low
    if not found(high):
        return None
    while high - low > 1e-4 * (upper - lower):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _moved(x: FloatArray, mean: float, lower: float, upper: float) -> FloatArray:
    """The sample with another mean: shifted where that stays in the range, else mixed with an end of the range.

    Mixing keeps indicators indicators, and everything else within the range.
    """
    change = mean - float(x.mean())
    if lower <= x.min() + change and x.max() + change <= upper:
        return x + change
    end = upper if change > 0 else lower
    part = change / (end - float(x.mean()))
    places = np.floor(part * np.arange(1, x.size + 1)) > np.floor(part * np.arange(x.size))
    return np.where(places, end, x)


def most_telling(verdicts: Sequence[Verdict]) -> int:
    """Which of several audits of one claim, such as those along a curve, stands for all of them.

    All must keep their bounds, so a violated one does; else the last that is supported; else the last.
    """
    checks.items("verdicts", verdicts, Verdict, "at least one Verdict")
    for wanted in (Verdict.VIOLATED, Verdict.SUPPORTED):
        at = [place for place, verdict in enumerate(verdicts) if verdict is wanted]
        if at:
            return at[-1]
    return len(verdicts) - 1
