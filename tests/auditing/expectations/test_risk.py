"""Audits of expected risks and of rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpverify import checks
from dpverify.auditing import MeanAudit, Relation, audit_mean, fit_rate, most_telling
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict


def _values(mean: float, runs: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).beta(20 * mean, 20 * (1 - mean), runs)


def test_a_bound_that_does_not_hold_is_found() -> None:
    values = _values(0.3, 20_000, 1)
    audit = audit_mean(values, bound=0.28, lower=0, upper=1, failure_probability=1e-6)
    assert audit.verdict is Verdict.VIOLATED
    assert audit.measured.lower <= 0.3 <= audit.measured.upper
    assert audit.margin < 0
    assert audit.detectable is not None
    assert audit.detectable < 0.3


def test_a_bound_that_holds_is_confirmed_or_not_contradicted() -> None:
    values = _values(0.3, 20_000, 2)
    loose = audit_mean(values, bound=0.35, lower=0, upper=1, failure_probability=1e-6)
    assert loose.verdict is Verdict.SUPPORTED
    assert loose.margin > 0
    assert loose.reason.startswith("confirmed")
    exact = audit_mean(values, bound=0.3, lower=0, upper=1, failure_probability=1e-6)
    assert exact.verdict is Verdict.SUPPORTED
    assert exact.margin < 0
    assert exact.reason.startswith("not contradicted")


def test_false_alarms_at_the_exact_bound() -> None:
    """600 null audits at level 0.2, of which half may be spent on this side; 1e-7 for more than this many."""
    alarms = sum(
        audit_mean(_values(0.1, 200, 1000 + i), bound=0.1, lower=0, upper=1, failure_probability=0.2).verdict
        is Verdict.VIOLATED
        for i in range(600)
    )
    assert alarms <= binom.isf(1e-7, 600, 0.1)


def test_the_minimum_is_an_interval() -> None:
    values = _values(0.3, 20_000, 3)
    plain = audit_mean(values, bound=1, lower=0, upper=1, failure_probability=1e-3)
    minimum = Interval(lower=0.1, upper=0.15, rigorous=True)
    excess = audit_mean(values, bound=0.16, lower=0, upper=1, failure_probability=1e-3, minimum=minimum)
    assert excess.measured.lower == pytest.approx(plain.measured.lower - 0.15)
    assert excess.measured.upper == pytest.approx(plain.measured.upper - 0.1)
    # 0.3 - 0.1 would exceed 0.16; but the minimum may be 0.15, so nothing is violated
    assert excess.verdict is Verdict.SUPPORTED
    point = Interval(lower=0.1, upper=0.1)
    certain = audit_mean(values, bound=0.16, lower=0, upper=1, failure_probability=1e-3, minimum=point)
    assert certain.verdict is Verdict.VIOLATED


def test_detectable_is_detected_about_half_the_time() -> None:
    """100 audits whose expectation is what was said; if found half the time, 20 to 80 but for 1e-8."""
    said = audit_mean(_values(0.3, 2000, 4), bound=0.3, lower=0, upper=1, failure_probability=0.01).detectable
    assert said is not None
    found = sum(
        audit_mean(_values(said, 2000, 50 + i), bound=0.3, lower=0, upper=1, failure_probability=0.01).verdict
        is Verdict.VIOLATED
        for i in range(100)
    )
    assert 20 <= found <= 80


@pytest.mark.parametrize("values", [[0.5, 1.2], [-0.1], [math.nan], [], [[0.1]], ["a"]])
def test_values_outside_the_declared_range_are_refused(values: object) -> None:
    with pytest.raises(InvalidDataError):
        audit_mean(values, bound=0.1, lower=0, upper=1, failure_probability=0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bound", math.nan), ("bound", True), ("bound", -math.inf), ("bound", "1"),
        ("extreme", Interval(lower=1, upper=0)),
        ("lower", 1), ("lower", math.nan), ("upper", math.inf), ("upper", -1), ("upper", None),
        ("failure_probability", 0), ("failure_probability", math.nan), ("failure_probability", True),
        ("failure_probability", 9.9e-16), ("failure_probability", 1e-320),
        ("minimum", Interval(lower=1, upper=0)), ("minimum", Interval(lower=-math.inf, upper=0)),
        ("minimum", Interval(lower=math.nan, upper=0)),
    ],
)  # fmt: skip
def test_bad_arguments(name: str, value: object) -> None:
    arguments = {"bound": 0.5, "lower": 0.0, "upper": 1.0, "failure_probability": 0.1, name: value}
    with pytest.raises(InvalidArgumentError):
        audit_mean([0.5, 0.6], **arguments)  # type: ignore[arg-type]


def test_the_least_failure_probability_works() -> None:
    values = np.random.default_rng(1).uniform(size=2000)
    found = audit_mean(
        values, bound=0.6, lower=0, upper=1, failure_probability=checks.LEAST_FAILURE_PROBABILITY
    )
    assert 0.3 < found.measured.lower < 0.5 < found.measured.upper < 0.7
    wrong = audit_mean(
        values, bound=0.3, lower=0, upper=1, failure_probability=checks.LEAST_FAILURE_PROBABILITY
    )
    assert wrong.verdict is Verdict.VIOLATED


def test_detectable_is_taken_at_the_bound() -> None:
    """A sample far below the bound, whose spread there is another."""
    audit = audit_mean(np.full(100, 0.05), bound=0.6, lower=0.0, upper=1.0, failure_probability=0.05)
    assert audit.detectable is not None
    for mean, verdict in (
        (audit.detectable - 0.002, Verdict.SUPPORTED),
        (audit.detectable, Verdict.VIOLATED),
    ):
        again = audit_mean(np.full(100, mean), bound=0.6, lower=0.0, upper=1.0, failure_probability=0.05)
        assert again.verdict is verdict
    assert audit.detectable == pytest.approx(0.6305, abs=2e-4)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("at_least", [False, True])
@pytest.mark.parametrize("runs", [30, 300])
@pytest.mark.parametrize("kind", ["indicators", "narrow", "uniform", "skewed"])
def test_the_power_at_the_detectable_expectation(kind: str, runs: int, at_least: bool) -> None:
    """Found in 40 draws at least 8 and at most 39 times: with a power of 1/2 outside of that but for 5e-5 each."""

    def draw(mean: float, seed: int) -> np.ndarray:
        rng = np.random.default_rng((seed, runs))
        noise = {
            "indicators": (rng.random(runs) < mean).astype(float),
            "narrow": np.clip(rng.normal(mean, 0.05, runs), 0, 1),
            "uniform": mean + 0.3 * (rng.random(runs) - 0.5),
            "skewed": rng.beta(8 * mean, 8 * (1 - mean), runs),
        }[kind]
        return 1 - noise if at_least else noise

    def audit(values: np.ndarray) -> MeanAudit:
        bound = 0.7 if at_least else 0.3
        return audit_mean(
            values, bound=bound, lower=0.0, upper=1.0, failure_probability=0.05, at_least=at_least
        )

    found = 0
    for seed in range(40):
        # the sample that says what is detectable keeps the bound, as those in a report do
        said = audit(draw(0.2, seed)).detectable
        assert said is not None
        assert 0 <= said <= 1
        found += audit(draw(1 - said if at_least else said, 1000 + seed)).verdict is Verdict.VIOLATED
    assert 8 <= found <= 39


def test_a_bound_that_nothing_could_break_is_not_supported() -> None:
    values = _values(0.3, 2000, 6)
    asked = {"lower": 0.0, "upper": 1.0, "failure_probability": 1e-3}
    for bound, at_least in ((1.0, False), (5.0, False), (0.0, True), (-3.0, True)):
        audit = audit_mean(values, bound=bound, at_least=at_least, **asked)
        assert (audit.verdict, audit.detects_nothing) == (Verdict.UNDECIDED, True)
        assert "could break it" in audit.reason
    worst = Interval(lower=0.6, upper=0.8)
    for bound, verdict in ((0.5, Verdict.SUPPORTED), (0.7, Verdict.UNDECIDED), (0.8, Verdict.UNDECIDED)):
        audit = audit_mean(values, bound=bound, extreme=worst, **asked)
        assert (audit.verdict, audit.detects_nothing) == (verdict, verdict is Verdict.UNDECIDED)
    assert audit_mean(values, bound=0.2, extreme=worst, **asked).verdict is Verdict.VIOLATED
    measured = audit_mean(values, bound=math.inf, **asked)
    assert (measured.verdict, measured.detects_nothing) == (Verdict.UNDECIDED, False)


def test_too_few_runs_for_any_possible_expectation() -> None:
    audit = audit_mean([0.1, 0.2], bound=0.9, lower=0.0, upper=1.0, failure_probability=1e-3)
    assert (audit.verdict, audit.detectable, audit.detects_nothing) == (Verdict.UNDECIDED, None, True)
    # something would have been found, but nothing that is known to be possible
    values, worst = _values(0.3, 200, 7), Interval(lower=0.51, upper=1.0)
    audit = audit_mean(values, bound=0.5, lower=0.0, upper=1.0, failure_probability=1e-6, extreme=worst)
    assert audit.detectable is not None
    assert audit.detectable > 0.51
    assert (audit.verdict, audit.detects_nothing) == (Verdict.UNDECIDED, True)
    assert audit.reason.startswith("Too few runs")


def test_which_audit_stands_for_a_curve() -> None:
    good, bad, open_ = Verdict.SUPPORTED, Verdict.VIOLATED, Verdict.UNDECIDED
    assert most_telling([good, bad, good]) == 1
    assert most_telling([open_, good, open_]) == 1
    assert most_telling([open_, open_]) == 1


SIZES = [50, 100, 200, 400]


def _boxes(exponent: float, relative: float) -> list[Interval]:
    return [
        Interval(lower=3 * n**exponent * (1 - relative), upper=3 * n**exponent * (1 + relative))
        for n in SIZES
    ]


def test_exact_power_laws_have_exact_exponents() -> None:
    fit = fit_rate(SIZES, _boxes(-0.5, 0.0), -0.5)
    assert fit.exponent.lower == pytest.approx(-0.5, abs=1e-12)
    assert fit.exponent.upper == pytest.approx(-0.5, abs=1e-12)


def test_the_exponent_interval_holds_for_every_choice_within_the_boxes() -> None:
    """Against numpy's fit at random points and at all corners; the extremes are attained at corners."""
    boxes = _boxes(-1.0, 0.2)
    fit = fit_rate(SIZES, boxes, -1.0)
    rng = np.random.default_rng(5)
    ends = np.array([[b.lower, b.upper] for b in boxes])
    corners = np.array(np.meshgrid(*ends)).reshape(len(SIZES), -1).T
    inside = ends[:, 0] + rng.random((500, len(SIZES))) * (ends[:, 1] - ends[:, 0])
    slopes = [np.polyfit(np.log(SIZES), np.log(v), 1)[0] for v in np.concatenate([corners, inside])]
    assert min(slopes) == pytest.approx(fit.exponent.lower, abs=1e-12)
    assert max(slopes) == pytest.approx(fit.exponent.upper, abs=1e-12)


@pytest.mark.parametrize(
    ("true", "relation", "verdict"),
    [
        (-1.0, Relation.AT_MOST, Verdict.SUPPORTED),
        (-1.3, Relation.AT_MOST, Verdict.SUPPORTED),
        (-0.7, Relation.AT_MOST, Verdict.VIOLATED),
        (-1.0, Relation.EQUAL, Verdict.SUPPORTED),
        (-1.3, Relation.EQUAL, Verdict.VIOLATED),
        (-0.7, Relation.EQUAL, Verdict.VIOLATED),
    ],
)
def test_rate_verdicts(true: float, relation: Relation, verdict: Verdict) -> None:
    assert fit_rate(SIZES, _boxes(true, 0.05), -1.0, relation=relation).verdict is verdict


@pytest.mark.parametrize(
    ("relative", "relation", "verdict"),
    [
        (0.1, Relation.AT_MOST, Verdict.SUPPORTED),
        (0.6, Relation.AT_MOST, Verdict.UNDECIDED),
        (0.1, Relation.EQUAL, Verdict.SUPPORTED),
        (0.6, Relation.EQUAL, Verdict.UNDECIDED),
    ],
)
def test_a_rate_is_supported_only_if_others_are_excluded(
    relative: float, relation: Relation, verdict: Verdict
) -> None:
    assert fit_rate(SIZES, _boxes(-1.0, relative), -1.0, relation=relation).verdict is verdict


def test_a_hidden_constant_can_break_a_power_law_at_any_sizes() -> None:
    fit = fit_rate(SIZES, _boxes(-0.2, 0.05), -1.0, asymptotic=True)
    assert fit.verdict is Verdict.UNDECIDED
    assert "hidden by O" in fit.reason


def test_intervals_that_reach_zero() -> None:
    boxes = _boxes(-1.0, 0.05)
    last = [*boxes[:-1], Interval(lower=-0.1, upper=boxes[-1].upper)]
    assert fit_rate(SIZES, last, -1.0).exponent.lower == -math.inf
    assert fit_rate(SIZES, last, -1.0).verdict is Verdict.UNDECIDED
    first = [Interval(lower=0.0, upper=boxes[0].upper), *boxes[1:]]
    assert fit_rate(SIZES, first, -1.0).exponent.upper == math.inf
    assert fit_rate(SIZES, first, -1.0).verdict is Verdict.UNDECIDED
    assert fit_rate(SIZES, first, -2.0).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "sizes",
    [
        [1, 2, 3], [1, 1, 1, 1], [0, 1, 2, 3], [-1, 1, 2, 3], [1, 2, 3, math.nan], [1, 2, 3, math.inf],
        [[1, 2, 3, 4]], ["a", "b", "c", "d"], [True, False] * 2,
    ],
)  # fmt: skip
def test_bad_sizes(sizes: object) -> None:
    with pytest.raises(InvalidArgumentError):
        fit_rate(sizes, _boxes(-1, 0.1), -1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "interval", [(2.0, 1.0), (-1.0, 0.0), (1.0, math.inf), (math.nan, 1.0), (1.0, math.nan)]
)
def test_bad_intervals(interval: tuple[float, float]) -> None:
    boxes = [*_boxes(-1, 0.1)[:3], Interval(lower=interval[0], upper=interval[1])]
    with pytest.raises(InvalidArgumentError):
        fit_rate(SIZES, boxes, -1.0)
    with pytest.raises(InvalidArgumentError):
        fit_rate(SIZES, _boxes(-1, 0.1), math.nan)
