"""Audits of expectations against bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.auditing.confidence import betting_interval, rules_out
from dpverify.auditing.expectations.sequence import MeanSequence, rules_out_in_rounds
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval, is_vacuous
from dpverify.ledger.verdicts import Gap, Verdict

Values = NDArray[np.float64]

FIRST_ROUND = 16
"""Values in the first round; later ones are a quarter of all before."""


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
    sample_mean: float
    """Mean of the values as they came, without the minimum subtracted."""
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
    sign = -1.0 if at_least else 1.0
    if bound != sign * math.inf:
        bound = checks.number("bound", bound)
    level = checks.failure_probability("failure_probability", failure_probability)
    subtract = _subtracted(minimum)
    mean = betting_interval(values, lower, upper, level)
    x = np.asarray(values, dtype=np.float64)

    def rules(sample: Values, goal: float, least: float, most: float) -> bool:
        return rules_out(sample, goal, least, most, level / 2)

    return _judged(x, mean, rules, bound, (lower, upper), level, subtract, at_least=at_least, extreme=extreme)


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
    sign = -1.0 if at_least else 1.0
    if bound != sign * math.inf:
        bound = checks.number("bound", bound)
    level = checks.failure_probability("failure_probability", failure_probability)
    most = checks.whole_number("most", most, at_least=1)
    subtract = _subtracted(minimum)
    sequence = MeanSequence(lower, upper, level)
    number = 0
    while sequence.runs < most:
        number += 1
        size = min(max(FIRST_ROUND, sequence.runs // 4), most - sequence.runs)
        sequence.see(draw(number, size))
        decided = math.isfinite(bound) and not to_the_end
        if decided and (sequence.above(bound + subtract.upper) or sequence.below(bound + subtract.lower)):
            break

    def rules(sample: Values, goal: float, least: float, largest: float) -> bool:
        whole = (np.resize(sample, most) - least) / (largest - least)
        return rules_out_in_rounds([whole], (goal - least) / (largest - least), level / 2)

    return _judged(
        sequence.values,
        sequence.interval,
        rules,
        bound,
        (lower, upper),
        level,
        subtract,
        at_least=at_least,
        extreme=extreme,
    )


def _subtracted(minimum: Interval | None) -> Interval:
    subtract = minimum if minimum is not None else Interval(lower=0.0, upper=0.0, rigorous=True)
    if not -math.inf < subtract.lower <= subtract.upper < math.inf:
        raise InvalidArgumentError("minimum", subtract, "an interval with finite ends in order")
    return subtract


def _judged(
    x: Values,
    mean: Interval,
    rules: Callable[[Values, float, float, float], bool],
    bound: float,
    within: tuple[float, float],
    level: float,
    subtract: Interval,
    *,
    at_least: bool,
    extreme: Interval | None,
) -> MeanAudit:
    """The verdict that an interval of the mean gives; `rules` says what a sample would rule out."""
    sign, (lower, upper) = -1.0 if at_least else 1.0, within
    measured = Interval(lower=mean.lower - subtract.upper, upper=mean.upper - subtract.lower)
    worst = _check_extreme(extreme, lower - subtract.upper, upper - subtract.lower, at_least=at_least)
    # A claim from below is one from above about minus the values: all that follows is about the latter.
    least, most = sorted((sign * lower, sign * upper))
    shift = -subtract.lower if at_least else subtract.upper
    goal = sign * bound + shift
    margin = bound - measured.upper if not at_least else measured.lower - bound
    found = _smallest_found(sign * x, goal, least, most, rules) if math.isfinite(goal) else None
    detectable = None if found is None else sign * found - (subtract.upper if at_least else subtract.lower)
    verdict, reason, gap, blind = _mean_verdict(
        bound, measured, worst, detectable, margin=margin, at_least=at_least
    )
    return MeanAudit(
        verdict=verdict,
        reason=reason,
        bound=bound,
        at_least=at_least,
        measured=measured,
        sample_mean=float(x.mean()),
        minimum=subtract,
        margin=margin,
        extreme=worst,
        detectable=detectable,
        gap=gap,
        detects_nothing=blind,
        runs=x.size,
        failure_probability=level,
    )


def _check_extreme(extreme: Interval | None, lowest: float, highest: float, *, at_least: bool) -> Interval:
    if extreme is None:
        end = lowest if at_least else highest
        return Interval(lower=end, upper=end)
    if not extreme.lower <= extreme.upper:
        raise InvalidArgumentError("extreme", extreme, "an interval with its ends in order")
    return extreme


def _mean_verdict(
    bound: float,
    measured: Interval,
    worst: Interval,
    detectable: float | None,
    *,
    margin: float,
    at_least: bool,
) -> tuple[Verdict, str, Gap | None, bool]:
    """Verdict, reason in words and of the known ones, and whether nothing could have changed it."""
    if not math.isfinite(bound):
        return Verdict.UNDECIDED, "There is no stated bound to compare with.", Gap.NOTHING_STATED, False
    if measured.upper < bound if at_least else measured.lower > bound:
        what = f"at most {measured.upper:.6g}" if at_least else f"at least {measured.lower:.6g}"
        asked = "asks for" if at_least else "allows"
        return Verdict.VIOLATED, f"the expectation is {what}, and the claim {asked} {bound:.6g}", None, False
    exhibited, certified = (worst.upper, worst.lower) if at_least else (worst.lower, worst.upper)
    size = "smallest" if at_least else "largest"
    if is_vacuous(bound, certified, at_least=at_least):
        return (
            Verdict.UNDECIDED,
            f"The bound {bound:.6g} is vacuous here: no output could break it, as the {size} possible value is "
            f"{certified:.6g}",
            Gap.BLIND_AUDIT,
            True,
        )
    if exhibited >= bound if at_least else exhibited <= bound:
        return (
            Verdict.UNDECIDED,
            f"No output is known that would break the bound {bound:.6g}: the {size} value exhibited is "
            f"{exhibited:.6g}, and none beyond {certified:.6g} is possible",
            Gap.BLIND_AUDIT,
            True,
        )
    if detectable is None:
        return (
            Verdict.UNDECIDED,
            f"Too few runs: no possible expectation could have been told apart from the bound {bound:.6g}",
            Gap.TOO_FEW_RUNS,
            True,
        )
    if detectable < exhibited if at_least else detectable > exhibited:
        return (
            Verdict.UNDECIDED,
            f"Too few runs: only an expectation of {detectable:.4g} could have been told apart from the bound "
            f"{bound:.6g}, and the {size} value known to be possible is {exhibited:.4g}",
            Gap.TOO_FEW_RUNS,
            True,
        )
    part = "confirmed: the whole interval" if margin >= 0 else "not contradicted: part of the interval"
    return (
        Verdict.SUPPORTED,
        f"{part} is within the bound {bound:.6g}; an expectation of {detectable:.4g} would have been found about half "
        f"the time, and the {size} value known to be possible is {exhibited:.4g}; "
        f"{_leaves(bound, measured, at_least=at_least)}",
        None,
        False,
    )


def _leaves(bound: float, measured: Interval, *, at_least: bool) -> str:
    """How loose a bound that is kept may be."""
    near, far = (bound, measured.upper) if at_least else (measured.lower, bound)
    word = "small" if at_least else "large"
    if near > 0:
        return f"the bound is at most {max(far / near, 1):.3g} times too {word}"
    return f"the bound is at most {max(far - near, 0):.3g} too {word}"


def _smallest_found(
    x: Values, goal: float, lower: float, upper: float, rules: Callable[[Values, float, float, float], bool]
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


def _moved(x: Values, mean: float, lower: float, upper: float) -> Values:
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
    for wanted in (Verdict.VIOLATED, Verdict.SUPPORTED):
        at = [place for place, verdict in enumerate(verdicts) if verdict is wanted]
        if at:
            return at[-1]
    return len(verdicts) - 1
