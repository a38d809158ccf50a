"""Expectations looked at round by round: the size of the test at all times, its power, and what is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from dpverify.auditing import (
    BettingMeanAuditor,
    BettingRiskAuditor,
    Bound,
    BoundsQuestion,
    ErrorShare,
    audit_mean_in_rounds,
)
from dpverify.auditing.confidence import betting_interval
from dpverify.auditing.expectations.sequence import PARTS, MeanSequence, rules_out_in_rounds
from dpverify.auditing.subjects import RiskOf, Runner, ValuesOf
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.problems import Box, Dataset, HalfSquaredDistance, Problem
from dpverify.running import Output, Randomness


def test_the_right_mean_is_hardly_ever_ruled_out_at_any_time() -> None:
    """Looked at after each of 300 values, in 1000 sequences, at level 0.05: at most binomial(1000, 0.05)."""
    alarms = 0
    for seed in range(1000):
        values = (np.random.default_rng(seed).random((300, 1)) < 0.3).astype(np.float64)
        gains = np.cumsum(np.log1p(PARTS * (values / 0.3 - 1)), axis=0)
        alarms += bool(np.max(logsumexp(gains, axis=1)) >= math.log(PARTS.size / 0.05))
    # 85 or more has probability 2e-6
    assert 5 < alarms < 85


def test_what_is_looked_at_is_that_capital() -> None:
    values = np.random.default_rng(1).random(200)
    rounds = [values[:16], values[16:90], values[90:]]
    for mean in (0.3, 0.4, 0.45, 0.5):
        ends = (16, 90, 200)
        capital = [np.mean(np.prod(1 + PARTS * (values[:end, None] / mean - 1), axis=0)) for end in ends]
        for level in (0.5, 0.05, 1e-3):
            assert rules_out_in_rounds(rounds, mean, level) == (max(capital) >= 1 / level)
    assert rules_out_in_rounds(rounds, -0.1, 1e-3)
    assert not rules_out_in_rounds(rounds, 1.0, 0.9)
    assert rules_out_in_rounds(rounds, 0.0, 1e-9)


def test_intervals_hold_the_mean_and_only_shrink() -> None:
    """Laws whose means are known exactly; each sequence errs with probability 1e-6."""
    laws: list[tuple[Any, float, tuple[float, float]]] = [
        (lambda rng, n: rng.beta(2.0, 5.0, n), 2 / 7, (0.0, 1.0)),
        (lambda rng, n: 3.0 * (rng.random(n) < 0.01) - 1.0, -0.97, (-1.0, 2.0)),
        (lambda rng, n: rng.integers(0, 7, n), 3.0, (0.0, 6.0)),
        (lambda rng, n: np.full(n, 0.25), 0.25, (0.0, 1.0)),
    ]
    for draw, mean, (lower, upper) in laws:
        rng = np.random.default_rng(2)
        sequence, before = MeanSequence(lower, upper, 1e-6), Interval(lower=lower, upper=upper)
        for size in (1, 10, 100, 1000, 10_000):
            sequence.see(draw(rng, size))
            now = sequence.interval
            assert before.lower <= now.lower <= mean <= now.upper <= before.upper
            before = now
        assert sequence.runs == 11_111
        assert sequence.values.shape == (11_111,)
        assert before.upper - before.lower < 0.12 * (upper - lower)
        # within a third of what the same values give to whoever knew their number before
        known = betting_interval(sequence.values, lower, upper, 1e-6)
        assert before.upper - before.lower < 1.34 * (known.upper - known.lower) + 1e-3


def _coins(mean: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda number, size: (rng.random(size) < mean).astype(np.float64)


@pytest.mark.parametrize(
    ("mean", "bound", "at_least", "most", "verdict"),
    [
        # planted faults, twice and a fifth above, and below a bound from below
        (0.6, 0.3, False, 100_000, Verdict.VIOLATED),
        (0.36, 0.3, False, 100_000, Verdict.VIOLATED),
        (0.2, 0.3, True, 100_000, Verdict.VIOLATED),
        # kept with room
        (0.1, 0.3, False, 100_000, Verdict.SUPPORTED),
        (0.5, 0.3, True, 100_000, Verdict.SUPPORTED),
        # so close that no number of runs up to the limit tells
        (0.3, 0.301, False, 2000, Verdict.SUPPORTED),
    ],
)
def test_it_ends_once_the_bound_is_decided(
    mean: float, bound: float, at_least: bool, most: int, verdict: Verdict
) -> None:
    """Seeded; a bound that is kept is called violated with probability 5e-7."""
    asked: dict[str, Any] = {"bound": bound, "lower": 0.0, "upper": 1.0, "failure_probability": 1e-6}
    found = audit_mean_in_rounds(_coins(mean, 7), most=most, at_least=at_least, **asked)
    assert found.verdict is verdict
    assert found.measured.lower <= mean <= found.measured.upper
    # on average no test decides before the laws' relative entropy has grown to ln(2/level); three times that is enough
    apart = mean * math.log(mean / bound) + (1 - mean) * math.log((1 - mean) / (1 - bound))
    needed = min(math.log(2e6) / apart, most)
    assert 0.4 * needed < found.runs < 3 * needed
    if found.runs == most:
        assert found.detectable is not None
        assert found.detectable > bound
        return
    longer = audit_mean_in_rounds(_coins(mean, 7), most=10_000, at_least=at_least, to_the_end=True, **asked)
    assert (longer.runs, longer.verdict) == (10_000, verdict)


@pytest.mark.parametrize("at_least", [False, True])
def test_a_bound_that_nothing_breaks_is_not_supported(at_least: bool) -> None:
    draw, bound = _coins(0.5, 1), 0.0 if at_least else 1.0
    found = audit_mean_in_rounds(
        draw, bound=bound, lower=0, upper=1, failure_probability=1e-6, most=500, at_least=at_least
    )
    assert (found.verdict, found.detects_nothing) == (Verdict.UNDECIDED, True)


def test_a_measurement_takes_all_runs() -> None:
    found = audit_mean_in_rounds(
        _coins(0.5, 1), bound=math.inf, lower=0, upper=1, failure_probability=1e-6, most=777
    )
    assert (found.verdict, found.runs) == (Verdict.UNDECIDED, 777)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"most": 0}, InvalidArgumentError),
        ({"bound": math.nan}, InvalidArgumentError),
        ({"failure_probability": 0.0}, InvalidArgumentError),
        ({"upper": 0.0}, InvalidArgumentError),
        ({"minimum": Interval(lower=0.0, upper=math.inf)}, InvalidArgumentError),
        ({"draw": lambda number, size: np.full(size, 1.5)}, InvalidDataError),
        ({"draw": lambda number, size: np.full(size, math.nan)}, InvalidDataError),
        ({"draw": lambda number, size: np.zeros(0)}, InvalidDataError),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception]) -> None:
    asked: dict[str, Any] = {
        "draw": _coins(0.5, 1),
        "bound": 0.5,
        "lower": 0.0,
        "upper": 1.0,
        "failure_probability": 1e-6,
        "most": 100,
    }
    draw = {**asked, **change}.pop("draw")
    rest = {name: value for name, value in {**asked, **change}.items() if name != "draw"}
    with pytest.raises(error):
        audit_mean_in_rounds(draw, **rest)


# ------------------------------------------------------------------------------------------ the auditors


@dataclass(frozen=True)
class _Near:
    """The mean of the records with uniform noise."""

    width: float
    seen: list[int] = field(default_factory=list, compare=False)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        self.seen.append(runs)
        noise = self.width * (np.asarray(rng.uniform((runs, 1), "noise")) - 0.5)
        return Output(np.mean(data.features) + noise, value_queries=1)


BOX = Box((-1.0,), (1.0,))
PROBLEM = Problem(HalfSquaredDistance.on(BOX), BOX)
DATA = Dataset([[0.25], [-0.25]], [1.0, 1.0])


@pytest.mark.parametrize(("width", "verdict"), [(0.5, Verdict.SUPPORTED), (2.0, Verdict.VIOLATED)])
def test_risks_are_decided_long_before_all_runs(width: float, verdict: Verdict) -> None:
    """The expected excess is width^2 / 24; the planted fault has four times the noise. Wrong with probability 5e-7."""
    question = BoundsQuestion((Bound(0.05, "E", "two records", 100_000),))
    mechanism = _Near(width)
    subject = (RiskOf(mechanism, PROBLEM, DATA, total=False).on(Runner((5,))),)
    found = BettingRiskAuditor().audit(question, subject, ErrorShare(1e-6))
    assert found.verdict is verdict
    assert found.runs == sum(mechanism.seen) < 1000
    assert found.measured.lower <= width**2 / 24 <= found.measured.upper
    assert found.failure_probability == 1e-6
    assert len(found.shares) == 1
    again = BettingRiskAuditor().audit(question, subject, ErrorShare(1e-6))
    assert again == found


def test_counts_of_queries_and_rounds_of_whole_blocks() -> None:
    """A count that is what is claimed is confirmed at once; numbers that are read off blocks come by whole blocks."""
    counts = ValuesOf(_Near(1.0), DATA, lambda runs: runs.value_queries.astype(float), 0.0, 9.0, "queries")
    means = ValuesOf(
        _Near(1.0),
        DATA,
        lambda runs: runs.points.reshape(-1, 10).mean(axis=1),
        -1.0,
        1.0,
        "means",
        block_size=10,
    )
    question = BoundsQuestion((Bound(2.0, "at most 2", "x", 5000), Bound(0.5, "at most 1/2", "x", 5000)))
    subjects = tuple(one.on(Runner((5,)).at(k)) for k, one in enumerate((counts, means)))
    found = BettingMeanAuditor().audit(question, subjects, ErrorShare(1e-6))
    assert found.verdict is Verdict.SUPPORTED
    assert found.runs % 10 == 0
    assert found.runs < 5000
    with pytest.raises(InvalidArgumentError, match="at least 10"):
        BettingMeanAuditor().audit(
            BoundsQuestion((Bound(0.5, "at most 1/2", "x", 9),)), subjects[1:], ErrorShare(1e-6)
        )


def test_rounds_have_streams_of_their_own() -> None:
    risks = RiskOf(_Near(1.0), PROBLEM, DATA, total=False).on(Runner((5,)))
    drawn = [risks.draw(8), *(risks.draw_round(number, 8) for number in (1, 2, 3))]
    assert len({tuple(np.asarray(one).tolist()) for one in drawn}) == 4
    assert np.array_equal(risks.draw_round(2, 8), drawn[2])
