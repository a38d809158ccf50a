"""Correct claims are not called violated more often than stated, and planted faults in the auditor show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from dpverify.auditing import (
    Claim,
    Direction,
    ErrorShare,
    Event,
    PrivacyAudit,
    audit_privacy,
)
from dpverify.auditing import (
    privacy as privacy_module,
)
from dpverify.auditing.black_box.scores import HistogramRatio, Samples, Score, Value
from dpverify.ledger.verdicts import Verdict

Array = NDArray[np.float64]
Pair = tuple[Array, Array, Claim]
RUNS = 800
SCORERS = (Value(), HistogramRatio())


@pytest.fixture
def null_pairs(
    corner: Callable[..., Claim], gaussian: Callable[..., Claim]
) -> Callable[[int, str], Iterator[Pair]]:
    """Pairs of sample sets that attain their claim exactly, so that a bound that is a bit too large shows."""

    def generate(count: int, kind: str) -> Iterator[Pair]:
        rng = np.random.default_rng(np.random.SeedSequence(31, spawn_key=tuple(kind.encode())))
        for _ in range(count):
            if kind == "randomized response":
                left, right = rng.random(RUNS) < expit(1.0), rng.random(RUNS) < expit(-1.0)
                yield left.astype(float), right.astype(float), corner(1.0)
            elif kind == "leak":  # attains (0.5, 0.1): value 2 betrays the left, 3 the right data set
                leaks = rng.random((2, RUNS)) < 0.1
                answers = rng.random((2, RUNS)) < expit(np.array([[0.5], [-0.5]]))
                yield (
                    np.where(leaks[0], 2.0, answers[0]),
                    np.where(leaks[1], 3.0, answers[1]),
                    corner(0.5, 0.1),
                )
            elif kind == "laplace":
                yield rng.laplace(0.0, 1.0, RUNS), rng.laplace(1.0, 1.0, RUNS), corner(1.0)
            elif kind == "gaussian":
                yield rng.normal(0.0, 1.0, RUNS), rng.normal(1.0, 1.0, RUNS), gaussian(1.0)
            elif kind == "twins":  # one seed for both sides
                noise = rng.laplace(0.0, 1.0, RUNS)
                yield noise, noise + 1, corner(1.0)
            elif kind == "opposites":  # one seed, and whoever lies on the left tells the truth on the right
                truth = rng.random(RUNS) < expit(1.0)
                yield truth.astype(float), 1.0 - truth, corner(1.0)
            elif kind == "equal":
                yield rng.normal(0.0, 1.0, RUNS), rng.normal(0.0, 1.0, RUNS), corner(0.0)
            else:
                raise AssertionError(kind)

    return generate


KINDS = ("randomized response", "leak", "laplace", "gaussian", "equal")
LEVEL = 0.2


def _false_alarms(pairs: Iterator[Pair]) -> int:
    return sum(
        audit_privacy(
            p, q, claim, adjacency="replace-one", failure_probability=LEVEL, seed=seed, scorers=SCORERS
        ).violation
        is not None
        for seed, (p, q, claim) in enumerate(pairs)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_false_alarms_of_a_single_audit(null_pairs: Callable[[int, str], Iterator[Pair]], kind: str) -> None:
    """100 null audits at level 0.2; `make null-audits` has thousands.

    A valid auditor raises at most binom.isf(1e-7, 100, 0.2) = 43 false alarms, but for a chance of 1e-7.
    """
    assert _false_alarms(null_pairs(100, kind)) <= binom.isf(1e-7, 100, LEVEL)


@pytest.mark.parametrize("kind", ["twins", "opposites"])
def test_false_alarms_where_the_sides_depend_on_one_another(
    null_pairs: Callable[[int, str], Iterator[Pair]], kind: str
) -> None:
    """100 null audits at level 0.2: more than binom.isf(1e-7, 100, 0.2) = 43 false alarms have a chance of 1e-7."""
    assert _false_alarms(null_pairs(100, kind)) <= binom.isf(1e-7, 100, LEVEL)


def test_five_hundred_correct_claims_under_one_failure_probability(
    null_pairs: Callable[[int, str], Iterator[Pair]],
) -> None:
    """A suite of 500 null audits that share 1e-6: chance of any false alarm, hence of failing here, 1e-6.

    With one scorer: how the failure probability is shared has nothing to do with scorers.
    """
    whole = ErrorShare(1e-6)
    granted = {
        share.name: share for share in whole.split(*(f"{kind} {i}" for kind in KINDS for i in range(100)))
    }
    verdicts = [
        audit_privacy(
            left,
            right,
            claim,
            adjacency="replace-one",
            failure_probability=granted[f"{kind} {i}"],
            seed=i,
            scorers=(Value(),),
        ).violation
        for kind in KINDS
        for i, (left, right, claim) in enumerate(null_pairs(100, kind))
    ]
    assert len(verdicts) == 500
    assert not any(verdicts)
    assert sum(Fraction(share.failure_probability) for share in whole.spent()) <= Fraction(1e-6)


@dataclass(frozen=True)
class Is:
    """Whether the output is this value."""

    value: int

    @property
    def name(self) -> str:
        return f"is {self.value}"

    def fit(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        return lambda x: (x[:, 0] == self.value).astype(float)


@pytest.mark.parametrize("split", [True, False])
def test_planted_fault_failure_probability_not_split(
    split: bool, corner: Callable[..., Claim], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight events that hardly depend on one another, each attaining the claim; 100 audits at level 0.2.

    With the level split over the bounds, more than 43 false alarms have a chance of 1e-7; without, most
    audits alarm.
    """
    if not split:
        judge = privacy_module._judge
        monkeypatch.setattr(privacy_module, "_judge", lambda e, p, q, _, ways: judge(e, p, q, LEVEL, ways))
    events = tuple(Event(Is(2 * i).name, 0.5, above=True) for i in range(8))
    monkeypatch.setattr(privacy_module, "choose_events", lambda *_, **__: events)
    likelier, rarer = expit(1.0) / 8, expit(-1.0) / 8
    weights, rng = np.tile([likelier, rarer], 8), np.random.default_rng(12)
    alarms = 0
    for seed in range(100):
        left, right = rng.choice(16, RUNS, p=weights), rng.choice(16, RUNS, p=weights[::-1])
        audit = audit_privacy(
            left, right, corner(1.0),
            adjacency="replace-one", failure_probability=LEVEL, seed=seed, scorers=tuple(Is(2 * i) for i in range(8)),
        )  # fmt: skip
        assert audit.bound_failure == pytest.approx(LEVEL / 20 / 16, rel=1e-12)
        alarms += audit.violation is not None
    allowed = binom.isf(1e-7, 100, LEVEL)
    assert alarms <= allowed if split else alarms > allowed


@dataclass(frozen=True)
class Memory:
    """A scorer that overfits as much as one can: it remembers every sample it saw."""

    name: str = "memory"

    def fit(self, left: Samples, right: Samples, rng: np.random.Generator) -> Score | None:
        on_left, on_right = set(left[:, 0].tolist()), set(right[:, 0].tolist())
        return lambda x: np.array([(v in on_left) - (v in on_right) for v in x[:, 0].tolist()], dtype=float)


@pytest.mark.parametrize("reuse", [False, True])
def test_planted_fault_judging_on_the_learning_half(
    reuse: bool, corner: Callable[..., Claim], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With disjoint halves the overfitting scorer is harmless; once the halves are one it is caught."""
    if reuse:
        divide = privacy_module.divide

        def all_in_one(runs: int, rng: np.random.Generator) -> privacy_module.Parts:
            judging = divide(runs, rng).judging
            return privacy_module.Parts(judging, judging, judging)

        monkeypatch.setattr(privacy_module, "divide", all_in_one)
    rng = np.random.default_rng(8)
    found = [
        audit_privacy(
            rng.normal(size=RUNS), rng.normal(size=RUNS), corner(1.0),
            adjacency="replace-one", failure_probability=1e-9, seed=seed, scorers=(Memory(),),
        ).violation
        is not None
        for seed in range(20)
    ]  # fmt: skip
    assert all(found) if reuse else not any(found)  # chance of failing without the fault: 20 * 1e-9


@pytest.mark.parametrize("divided_apart", [False, True])
def test_planted_fault_sides_divided_apart(divided_apart: bool, corner: Callable[..., Claim]) -> None:
    """Both sides ran with one seed, so their outputs are equal run by run.

    If each side were divided by itself, what is learned on one would be known of runs judged on the other.
    """
    rng = np.random.default_rng(15)
    found = []
    for seed in range(20):
        outputs = rng.normal(size=4000)
        order = rng.permutation(4000) if divided_apart else np.arange(4000)
        audit = audit_privacy(
            outputs,
            outputs[order],
            corner(1.0),
            adjacency="replace-one",
            failure_probability=1e-9,
            seed=seed,
            scorers=(Memory(),),
        )
        found.append(audit.violation is not None)
    assert all(found) if divided_apart else not any(found)  # chance of failing without the fault: 20 * 1e-9


def test_false_alarms_of_all_scorers_in_several_dimensions(gaussian: Callable[..., Claim]) -> None:
    """40 null audits at level 0.2 in 3 dimensions: more than binom.isf(1e-7, 40, 0.2) = 22 alarms, 1e-7."""
    rng, alarms = np.random.default_rng(14), 0
    shift = np.array([0.6, 0.0, -0.8])
    for seed in range(40):
        left, right = rng.normal(size=(RUNS, 3)), rng.normal(size=(RUNS, 3)) + shift
        audit = audit_privacy(
            left, right, gaussian(1.0), adjacency="replace-one", failure_probability=LEVEL, seed=seed
        )
        alarms += audit.violation is not None
    assert alarms <= binom.isf(1e-7, 40, LEVEL)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_all_default_scorers_at_full_size(
    kind: str, corner: Callable[..., Claim], gaussian: Callable[..., Claim]
) -> None:
    """One large audit of an exact claim; chance of failing 1e-6."""
    rng = np.random.default_rng(9)
    draw = rng.laplace if kind == "laplace" else rng.normal
    claim = corner(1.0) if kind == "laplace" else gaussian(1.0)
    left, right = draw(0.0, 1.0, 100_000), draw(1.0, 1.0, 100_000)
    audit = audit_privacy(left, right, claim, adjacency="replace-one", failure_probability=1e-6, seed=1)
    assert audit.verdict is Verdict.SUPPORTED
    assert audit.violation is None


ATOMS_LEFT = np.array([0.60, 0.30, 0.09, 0.01, 0.00])
ATOMS_RIGHT = np.array([0.55, 0.33, 0.09, 0.00, 0.03])


def _hockey_stick(p: Array, q: Array, epsilons: Array) -> Array:
    excess: Array = np.maximum(p - np.exp(epsilons)[:, None] * q, 0).sum(axis=1)
    return excess


def _atoms_audit(claim: Claim, seed: int, level: float, runs: int = 4000) -> PrivacyAudit:
    rng = np.random.default_rng(np.random.SeedSequence(77, spawn_key=(seed,)))
    left, right = rng.choice(5, runs, p=ATOMS_LEFT), rng.choice(5, runs, p=ATOMS_RIGHT)
    return audit_privacy(left, right, claim, adjacency="replace-one", failure_probability=level, seed=seed)


def test_each_direction_stays_below_its_own_divergence(corner: Callable[..., Claim]) -> None:
    """The bounds of both directions against exact hockey-stick divergences, at all epsilons at once.

    100 audits at level 0.05: more than binom.isf(1e-7, 100, 0.05) = 20 exceedances have a chance of 1e-7.
    """
    epsilons = np.linspace(0.0, 9.0, 400)
    truth = {
        Direction.LEFT_OVER_RIGHT: _hockey_stick(ATOMS_LEFT, ATOMS_RIGHT, epsilons),
        Direction.RIGHT_OVER_LEFT: _hockey_stick(ATOMS_RIGHT, ATOMS_LEFT, epsilons),
    }
    exceeded = 0
    for seed in range(100):
        audit = _atoms_audit(corner(0.5), seed, 0.05)
        exceeded += any(np.any(audit.delta_lower(epsilons, side) > truth[side]) for side in Direction)
    assert exceeded <= binom.isf(1e-7, 100, 0.05)


def test_directions_swapped_would_show(corner: Callable[..., Claim]) -> None:
    """The divergences differ so much that a swap of the two could not pass the test above."""
    audit = _atoms_audit(corner(0.5), 1, 1e-3, runs=40_000)
    swapped = _hockey_stick(ATOMS_LEFT, ATOMS_RIGHT, np.array([2.0]))
    assert audit.delta_lower(2.0, Direction.RIGHT_OVER_LEFT) > swapped[0]
