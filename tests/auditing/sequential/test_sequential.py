"""Sequential audits: never fooled more often than promised, whenever they stop, and quick where there is something."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from dpverify.auditing import ErrorShare
from dpverify.auditing.detection import Noise
from dpverify.auditing.outputs.samples import as_floats
from dpverify.auditing.sequential import SequentialAuditor, foresight, gamblers
from dpverify.auditing.sequential.bets import best_stakes, placed, root_growth
from dpverify.auditing.sequential.gamblers import Gamblers, Lines, rounds
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, ApproxDP, Guarantee, PureDP, gaussian_hockey_stick

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Array]


def laplace(scale: float) -> Draw:
    return lambda rng, side, runs: side + rng.laplace(scale=scale, size=(runs, 1))


def gaussian(mu: float) -> Draw:
    return lambda rng, side, runs: mu * side + rng.normal(size=(runs, 1))


def response(epsilon: float) -> Draw:
    """Randomized response with exactly this epsilon."""
    truth = 1 / (1 + math.exp(-epsilon))
    return lambda rng, side, runs: np.where(rng.random((runs, 1)) < truth, side, 1 - side).astype(np.float64)


def one_line(epsilon: float, delta: float = 0.0) -> Lines:
    return Lines(np.array([[epsilon]]), np.array([[delta]]))


def highest(draw: Draw, lines: Lines, runs: int, seed: int, kind: type[Gamblers] = Gamblers) -> float:
    """Largest log-capital at any time: the stopping that hurts most."""
    streams = [np.random.default_rng((seed, side)) for side in (0, 1)]
    players = kind([lines], np.random.default_rng(seed), exact=(0,))
    for size in rounds(runs):
        players.see(draw(streams[0], 0, size), draw(streams[1], 1, size))
    return float(players.highest[0])


def audited(draw: Draw, claim: Guarantee, runs: int, *, seed: int = 1, **more: float) -> SequentialAuditor:
    auditor = SequentialAuditor(claim, "replace-one", more.pop("level", 0.05), seed, runs, **more)
    streams = [np.random.default_rng((seed, side)) for side in (0, 1)]
    for size in auditor.rounds() if auditor.possible else ():
        auditor.see(draw(streams[0], 0, size), draw(streams[1], 1, size))
        if auditor.violated:
            break
    return auditor


# --------------------------------------------------------------------------------------- validity


def _gains(c1: float, d1: float, c2: float, d2: float, cells: int) -> tuple[Array, Array]:
    """Four kinds of cells in turn: in no event, in the first, in the second, in both."""
    first, second = np.arange(cells) % 4 % 2 == 1, np.arange(cells) % 4 >= 2
    one = np.ones(cells)
    left = np.stack([one, first * one, -c2 * second], axis=1)
    right = np.stack([-one, -c1 * first - d1, second - d2], axis=1)
    return left[None], right[None]


def _allowed_pair(rng: np.random.Generator, epsilon: float, delta: float, cells: int) -> tuple[Array, Array]:
    """Two laws that are exactly (epsilon, delta)-indistinguishable: post-processed randomized response."""
    keeps = rng.dirichlet(np.full(cells, 0.3), size=4)
    truth = (1 - delta) / (1 + math.exp(-epsilon))
    weights = np.array([[delta, truth, 1 - delta - truth, 0.0], [0.0, 1 - delta - truth, truth, delta]])
    left, right = weights @ keeps
    return left, right


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.2, 0.1), (0.0, 0.3), (4.0, 1e-5)])
def test_no_bet_is_expected_to_win_under_the_claim(epsilon: float, delta: float) -> None:
    rng = np.random.default_rng(5)
    count = 300
    gains = tuple(
        np.repeat(one, count, axis=0) for one in _gains(math.exp(epsilon), delta, math.exp(epsilon), delta, 4)
    )
    believed = [rng.dirichlet(np.full(4, 0.4), size=count) * 0.99 + 0.0025 for _ in range(2)]
    stakes, growth = best_stakes(*believed, *gains)
    bets = placed(stakes, *gains)
    assert np.all(bets.on_left > 0)
    assert np.all(bets.on_right > 0)
    assert np.all(growth > -1e-3)
    pairs = [_allowed_pair(rng, epsilon, delta, 4) for _ in range(count)]
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    # every bet against every pair
    worst = float(((bets.on_left @ left.T) * (bets.on_right @ right.T)).max())
    assert 0.9 < worst <= 1 + 1e-9  # near 1: the bound is not met for want of trying


def test_a_smaller_claim_is_expected_to_lose() -> None:
    """The same bets against epsilon 1 win if the truth is 2: the test above can fail."""
    gains = _gains(math.e, 0.0, math.e, 0.0, 4)
    truth = 1 / (1 + math.exp(-2))
    left, right = np.array([0.0, truth, 1 - truth, 0.0]), np.array([0.0, 1 - truth, truth, 0.0])
    believed = [(side * 0.99 + 0.0025)[None] for side in (left, right)]
    bets = placed(best_stakes(*believed, *gains)[0], *gains)
    assert float(bets.on_left[0] @ left) * float(bets.on_right[0] @ right) > 1.1


def test_best_stakes_reach_the_projection() -> None:
    """For disjoint outputs the nearest allowed pair is randomized response: a factor (1 + 1/e) a side."""
    left, right = np.array([[0.0, 1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0, 0.0]])
    _, growth = best_stakes(left * 0.9999 + 2.5e-5, right * 0.9999 + 2.5e-5, *_gains(math.e, 0, math.e, 0, 4))
    assert growth[0] == pytest.approx(2 * math.log1p(math.exp(-1)), rel=2e-3)


def test_root_growth_is_that_of_the_nearest_pair() -> None:
    grid = np.linspace(1e-4, 1 - 1e-4, 20_001)
    for p, q, epsilon, delta in [
        (0.5, 0.07, 1.0, 0.0),
        (0.2, 1e-6, 1.0, 0.0),
        (0.04, 0.008, 1.0, 0.0),
        (0.6, 0.3, 0.2, 0.1),
    ]:
        p0 = np.minimum(math.exp(epsilon) * grid + delta, 1 - 1e-9)
        exact = (p * np.log(p / p0) + (1 - p) * np.log((1 - p) / (1 - p0))
                 + q * np.log(q / grid) + (1 - q) * np.log((1 - q) / (1 - grid))).min()  # fmt: skip
        found = root_growth(*(np.array(x) for x in (p, q, math.exp(epsilon), delta)))
        assert found**2 / 2 == pytest.approx(exact, rel=0.06)
    assert root_growth(*(np.array(x) for x in (0.5, 0.3, math.e, 0.0))) == 0


NULLS = [
    (laplace(1.0), one_line(1.0)),
    (response(1.0), one_line(1.0)),
    (gaussian(1.0), one_line(1.0, float(gaussian_hockey_stick(1.0, 1.0)))),
    (gaussian(1.0), Lines(np.array([[0.0, 0.5, 1.0]]), np.array([gaussian_hockey_stick(np.array([0, 0.5, 1]), 1.0)]))),
]  # fmt: skip
_SEEDS = 10
_MOST_ALARMS = 8
"""Of 40 audits at 5 %: more with probability 1.3e-4 if each is fooled with probability 5 %."""


class PeekingGamblers(Gamblers):
    """Gamblers who choose their bets on a round by that round itself."""

    def see(self, left: Array, right: Array) -> None:
        self._left, self._right = [], []
        self._remember(left, right)
        self._learn(keep=False)
        self._place()
        if not self._parts:
            self._put_to_work()
        self._settle({id(one): (one.cells_of(left), one.cells_of(right)) for one in self.partitions})


def _alarms(kind: type[Gamblers], runs: int) -> int:
    return sum(
        highest(draw, lines, runs, seed, kind) >= math.log(20)
        for draw, lines in NULLS
        for seed in range(_SEEDS)
    )


def test_true_claims_are_seldom_refuted_at_any_time() -> None:
    assert _alarms(Gamblers, 250) <= _MOST_ALARMS


def test_bets_on_what_was_seen_are_caught_by_the_same_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamblers, "_LUCK", 0.0)  # they trust what they see
    assert _alarms(PeekingGamblers, 200) > _MOST_ALARMS


# --------------------------------------------------------------------------------------- power


@pytest.mark.parametrize(
    ("draw", "claim", "most"),
    [
        (laplace(0.5), PureDP(1.0), 330),
        (gaussian(1.0), GDP(0.5), 500),
        (gaussian(1.0), ApproxDP(0.5, 1e-2), 500),
        (lambda rng, side, runs: np.full((runs, 3), float(side)), PureDP(1.0), 60),
    ],
    ids=["half noise", "GDP", "approximate", "no noise"],
)
def test_false_claims_are_refuted_soon(draw: Draw, claim: Guarantee, most: int) -> None:
    """At 5 %; each seeded, so that it fails or does not."""
    auditor = audited(draw, claim, 2000)
    assert auditor.violated
    assert auditor.runs <= most
    audit = auditor.result()
    assert audit.verdict is Verdict.VIOLATED
    assert audit.record.log_evidence >= audit.record.log_needed
    assert audit.record.ended_by == "refutation"


def test_the_bound_rises_and_the_verdict_is_its_reaching_the_claim() -> None:
    auditor = audited(laplace(0.5), PureDP(1.0), 2000)
    assert auditor.epsilon_lower >= 1
    auditor = audited(laplace(1.0), PureDP(1.0), 3000)
    assert not auditor.violated
    assert 0.6 < auditor.epsilon_lower < 1
    assert auditor.result().verdict is Verdict.SUPPORTED


def test_digits_that_floats_lose_are_seen() -> None:
    """2^53 and 2^53 + 1 are one float; such numbers come only from the second round on."""

    def draw(rng: np.random.Generator, side: int, runs: int) -> NDArray[np.int64]:
        draw.calls += 1  # type: ignore[attr-defined]
        start = 0 if draw.calls <= 2 else 2**53 + side  # type: ignore[attr-defined]
        return np.full((runs, 1), start, dtype=np.int64)

    draw.calls = 0  # type: ignore[attr-defined]
    assert audited(draw, PureDP(1.0), 500).violated  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------- what is promised


def test_the_limit_of_runs_changes_nothing_that_is_seen_before_it() -> None:
    few, many = (audited(laplace(0.9), PureDP(1.0), runs, seed=3) for runs in (138, 10**6))
    assert few.runs == 138
    assert many.runs > 138 or many.violated
    again = SequentialAuditor(PureDP(1.0), "replace-one", 0.05, 3, 10**6)
    streams = [np.random.default_rng((3, side)) for side in (0, 1)]
    for size in again.rounds():
        again.see(*(laplace(0.9)(streams[side], side, size) for side in (0, 1)))
        if again.runs == 138:
            break
    assert (again.log_evidence, again.epsilon_lower) == (few.log_evidence, few.epsilon_lower)


@pytest.mark.parametrize(("epsilon", "level"), [(1.0, 0.05), (3.0, 1e-3)])
def test_least_runs_are_those_of_the_best_bet(epsilon: float, level: float) -> None:
    least = foresight.least_runs(math.tanh(epsilon / 2), level)
    assert least == math.ceil(math.log(1 / level) / (2 * math.log1p(math.exp(-epsilon))))
    found = foresight.runs_to_refute(one_line(epsilon), level, 10**4, foresight.giveaway)
    assert found is not None
    assert least <= found <= 2 * least + 64


def test_what_cannot_be_refuted_is_said_before_the_first_run() -> None:
    auditor = SequentialAuditor(PureDP(12.0), "replace-one", 1e-3, 0, 1000)
    assert "cannot be refuted within 1000 runs" in auditor.foretell()
    audit = auditor.result()
    assert (audit.verdict, audit.runs) == (Verdict.UNDECIDED, 0)
    assert "at least 562137 would be needed" in audit.detectable
    assert "can be refuted" in SequentialAuditor(PureDP(1.0), "replace-one", 1e-3, 0, 1000).foretell()
    never = SequentialAuditor(PureDP(60.0), "replace-one", 1e-3, 0, 1000)
    assert never.foretell() == "No practicable number of runs can refute 60-DP."
    assert never.result().detectable == "no violation of this claim can be found with 1000 runs"


def test_a_curve_divides_its_failure_probability() -> None:
    """Nine tenths for the verdict and one for the bound; one pair, whose verdict is the bound, takes all."""
    whole = ErrorShare(0.05)
    curve = SequentialAuditor(GDP(1.0), "replace-one", whole, 0, 1000).result()
    spent = {share.path[-1]: share.failure_probability for share in curve.shares}
    assert spent == pytest.approx({"claim": 0.045, "bound at delta": 0.005}, rel=1e-12)
    assert sum(map(Fraction, spent.values())) <= Fraction(0.05)
    assert curve.record.log_needed == pytest.approx(math.log(1 / 0.045), abs=1e-8)
    with pytest.raises(InvalidArgumentError, match="not divided before"):
        SequentialAuditor(GDP(1.0), "replace-one", whole, 0, 1000)
    (pair,) = SequentialAuditor(PureDP(1.0), "replace-one", 0.05, 0, 1000).result().shares
    assert pair.failure_probability == 0.05


def test_few_runs_decide_nothing() -> None:
    audit = audited(laplace(1.0), PureDP(1.0), 20).result()
    assert (audit.verdict, audit.detects_nothing) == (Verdict.UNDECIDED, True)


def test_an_early_end_is_said() -> None:
    auditor = SequentialAuditor(PureDP(1.0), "replace-one", 0.05, 0, 1000)
    for size in (16, 16, 200):
        auditor.see(np.zeros(size), np.zeros(size))
    audit = auditor.result(stopped="the limit of 3 s")
    assert audit.record.ended_by == "the limit of 3 s"
    assert "ended early by the limit of 3 s, before 1000 runs" in audit.reason


def test_smallest_violation_is_found_half_the_time() -> None:
    """Of 12 audits of what is said to be found half the time, 2 to 11 find it: else with probability 4e-3."""
    line = one_line(1.0)
    epsilon = foresight.smallest_violation(line, 0.05, 1000, 0.0, above=1.0)
    assert epsilon is not None
    found = sum(highest(response(epsilon), line, 1000, seed) >= math.log(20) for seed in range(12))
    assert 2 <= found <= 11
    mu = foresight.smallest_shift(one_line(1.0, 1e-2), 0.05, 1000, Noise.NORMAL)
    assert mu is not None
    # the claim allows this much, and the search begins at 0
    allowed = next(
        m
        for m in np.linspace(0.1, 3, 59)
        if norm.cdf(m / 2 - 1 / m) - math.e * norm.cdf(-m / 2 - 1 / m) > 0.01
    )
    assert allowed < mu < 2 * allowed


@pytest.mark.parametrize(
    "arguments",
    [
        {"claim": 1.0},
        {"adjacency": ""},
        {"failure_probability": 0.0},
        {"failure_probability": math.nan},
        {"seed": -1},
        {"most_runs": 0},
        {"delta": 0.5},
        {"claim": GDP(1.0), "delta": 1.0},
    ],
    ids=str,
)
def test_bad_arguments(arguments: dict[str, object]) -> None:
    good = {
        "claim": PureDP(1.0),
        "adjacency": "replace-one",
        "failure_probability": 0.05,
        "seed": 0,
        "most_runs": 100,
    }
    with pytest.raises(InvalidArgumentError, match=f"{next(reversed(arguments))} was"):
        SequentialAuditor(**{**good, **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad", [np.array([np.nan] * 16), np.array(["a"] * 16), np.zeros((16, 2, 2)), np.zeros(15)]
)
def test_bad_samples(bad: NDArray[np.generic]) -> None:
    auditor = SequentialAuditor(PureDP(1.0), "replace-one", 0.05, 0, 100)
    with pytest.raises(InvalidDataError):
        auditor.see(np.zeros(16), bad)


def test_floats_and_what_they_lose() -> None:
    kept, lost = as_floats(np.array([2**53 + 1, 5]), "x")
    assert kept.shape == lost.shape == (2, 1)
    assert [int(a) + int(b) for a, b in zip(kept[:, 0], lost[:, 0], strict=True)] == [2**53 + 1, 5]
