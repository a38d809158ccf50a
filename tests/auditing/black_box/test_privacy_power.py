"""Violated claims are found: planted faults in mechanisms.

A fault is planted with a margin of many standard errors, so that a miss has a chance far below 1e-9; seeds
are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize
from scipy.stats import binom

from dpverify.auditing import Claim, Direction, audit_privacy
from dpverify.auditing import privacy as privacy_module
from dpverify.auditing.black_box.candidates import Candidates
from dpverify.auditing.black_box.scores import LinearDiscriminant, SumOfFunctions
from dpverify.auditing.detection import Noise
from dpverify.auditing.events import ScoredSamples, both_directions
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import ApproxDP

RUNS = 100_000
Make = Callable[..., Claim]


def test_laplace_with_half_the_needed_scale(corner: Make) -> None:
    rng = np.random.default_rng(1)
    left, right = rng.laplace(0.0, 0.5, RUNS), rng.laplace(1.0, 0.5, RUNS)
    audit = audit_privacy(left, right, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is Verdict.VIOLATED
    assert 1.85 < audit.epsilon_lower <= 2.0  # the true loss is 2
    assert audit.violation is not None
    assert audit.violation.epsilon == 1.0
    assert "epsilon 1 " in audit.reason
    # The same samples do not contradict what is true of them.
    assert (
        audit_privacy(
            left, right, corner(2.0), adjacency="replace-one", failure_probability=1e-3, seed=1
        ).verdict
        is Verdict.SUPPORTED
    )


def test_laplace_with_the_right_scale(corner: Make) -> None:
    rng = np.random.default_rng(2)
    left, right = rng.laplace(0.0, 1.0, RUNS), rng.laplace(1.0, 1.0, RUNS)
    audit = audit_privacy(left, right, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is Verdict.SUPPORTED
    assert 0.9 < audit.epsilon_lower <= 1.0
    assert audit.detectable_parameter is not None
    assert 1.0 < audit.detectable_parameter < 1.05


@pytest.mark.parametrize("stddev", [1.0, 1 / math.sqrt(2)])
def test_gaussian_noise_off_by_the_root_of_two(gaussian: Make, stddev: float) -> None:
    rng = np.random.default_rng(3)
    left, right = rng.normal(0.0, stddev, RUNS), rng.normal(1.0, stddev, RUNS)
    audit = audit_privacy(
        left, right, gaussian(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is (Verdict.SUPPORTED if stddev == 1 else Verdict.VIOLATED)
    assert audit.delta == 1e-5


@pytest.mark.parametrize("replace_one", [False, True])
def test_adjacency_mixed_up(corner: Make, replace_one: bool) -> None:
    """A sum of values in [-1, 1] with noise for its add-or-remove-one sensitivity, 1; replace-one has 2."""
    rng = np.random.default_rng(4)
    data = np.array([0.25, -0.5, 1.0])
    neighbor = np.array([0.25, -0.5, -1.0]) if replace_one else data[:2]
    left, right = (x.sum() + rng.laplace(0.0, 1.0, RUNS) for x in (data, neighbor))
    audit = audit_privacy(left, right, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is (Verdict.VIOLATED if replace_one else Verdict.SUPPORTED)


@pytest.mark.parametrize("distance", [1.0, 1.15])
def test_ten_dimensions_with_the_difference_in_one_direction(gaussian: Make, distance: float) -> None:
    rng = np.random.default_rng(5)
    direction = rng.normal(size=10)
    direction *= distance / np.linalg.norm(direction)
    left, right = rng.normal(size=(RUNS, 10)), rng.normal(size=(RUNS, 10)) + direction
    audit = audit_privacy(
        left, right, gaussian(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is (Verdict.SUPPORTED if distance == 1 else Verdict.VIOLATED)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_same_center_other_spread(corner: Make, d: int) -> None:
    rng = np.random.default_rng(6)
    left, right = rng.normal(0.0, 1.0, (20_000, d)), rng.normal(0.0, 1.6, (20_000, d))
    audit = audit_privacy(
        left, right, corner(0.4, 1e-3), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is Verdict.VIOLATED


def test_a_difference_that_is_neither_linear_nor_quadratic(corner: Make) -> None:
    """The sign of a product of three coordinates; each pair of coordinates has the same distribution."""
    rng = np.random.default_rng(7)
    left, right = rng.uniform(-1, 1, (RUNS, 3)), rng.uniform(-1, 1, (RUNS, 3))
    flip = (right.prod(axis=1) > 0) & (rng.random(RUNS) < 0.8)
    right[flip, 0] *= -1
    audit = audit_privacy(left, right, corner(0.8), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("columns", [1, 3])
def test_discrete_outputs(corner: Make, columns: int) -> None:
    """Codes in an order that no half-line fits: the odd ones are likelier on the left."""
    rng = np.random.default_rng(8)
    weights = np.tile([1.0, 2.0], 6) / 18
    left, right = rng.choice(12, RUNS, p=weights), rng.choice(12, RUNS, p=weights[::-1])
    if columns == 3:  # the same as rows
        left, right = (np.stack([x % 2, x % 3, x // 6], axis=1) for x in (left, right))
    audit = audit_privacy(left, right, corner(0.6), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is Verdict.VIOLATED
    assert 0.65 < audit.epsilon_lower <= math.log(2)
    supported = audit_privacy(
        left, right, corner(math.log(2)), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert supported.verdict is Verdict.SUPPORTED


def _asymmetric(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """The right data set betrays itself with probability 0.01; the left one never does."""
    left, right = rng.normal(size=runs), rng.normal(size=runs)
    right[rng.random(runs) < 0.01] = 0.25
    return left, right


@pytest.mark.parametrize("swapped", [False, True])
def test_an_asymmetry_is_found_in_whichever_direction_it_is(corner: Make, swapped: bool) -> None:
    left, right = _asymmetric(np.random.default_rng(9), RUNS)
    if swapped:
        left, right = right, left
    audit = audit_privacy(
        left, right, corner(0.5, 1e-3), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    expected = Direction.LEFT_OVER_RIGHT if swapped else Direction.RIGHT_OVER_LEFT
    other = Direction.RIGHT_OVER_LEFT if swapped else Direction.LEFT_OVER_RIGHT
    assert audit.verdict is Verdict.VIOLATED
    assert audit.violation is not None
    assert audit.violation.direction is expected
    assert audit.delta_lower(0.5, expected) > 0.008
    assert audit.delta_lower(0.5, other) == 0


def test_planted_fault_one_direction_only(corner: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """An auditor that never looks from right to left misses the asymmetry above."""
    both, find = both_directions, privacy_module.find_candidates

    def one(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        more, less = both(lower, upper)
        return more[[0, 0]], less[[0, 0]]

    def left_over_right(scored: Sequence[ScoredSamples]) -> Candidates:
        found = find(scored)
        return replace(found, more=found.more * [[1.0], [0.0]], less=np.maximum(found.less, [[0.0], [1.0]]))

    monkeypatch.setattr(privacy_module, "both_directions", one)
    monkeypatch.setattr(privacy_module, "find_candidates", left_over_right)
    left, right = _asymmetric(np.random.default_rng(9), RUNS)
    audit = audit_privacy(
        left, right, corner(0.5, 1e-3), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("atom", [-1.0, 0.0, 1.0])
def test_atoms_at_the_ends_of_the_range(corner: Make, atom: float) -> None:
    """Outputs projected on [-1, 1]: a little more mass on one point."""
    rng = np.random.default_rng(10)
    left, right = rng.uniform(-1, 1, RUNS), rng.uniform(-1, 1, RUNS)
    left[rng.random(RUNS) < 0.02] = atom
    audit = audit_privacy(
        left, right, corner(1.0, 0.01), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is Verdict.VIOLATED


def test_what_is_said_to_be_detectable_is_detected(corner: Make) -> None:
    """200 randomized responses at the epsilon said to be found half the time.

    Fewer than binom.ppf(1e-7, 200, 0.5) = 64 finds would have a chance of 1e-7.
    """
    runs, rng = 2000, np.random.default_rng(11)

    def audit(epsilon: float, seed: int) -> privacy_module.PrivacyAudit:
        odds = 1 / (1 + math.exp(-epsilon))
        left, right = rng.random(runs) < odds, rng.random(runs) < 1 - odds
        return audit_privacy(
            left, right, corner(1.0), adjacency="replace-one", failure_probability=0.05, seed=seed
        )

    said = audit(1.0, 0).detectable_parameter
    assert said is not None
    found = sum(audit(said, seed).verdict is Verdict.VIOLATED for seed in range(200))
    assert found >= binom.ppf(1e-7, 200, 0.5)
    # and it is not vastly larger than need be
    missed = sum(audit(1 + 0.6 * (said - 1), seed).verdict is not Verdict.VIOLATED for seed in range(100))
    assert missed >= binom.ppf(1e-7, 100, 0.5)


@pytest.mark.parametrize(("delta", "noise"), [(0.0, Noise.LAPLACE), (1e-2, Noise.NORMAL)])
def test_of_numbers_it_is_said_which_noise_would_be_found(delta: float, noise: Noise) -> None:
    """40 pairs of that noise at the epsilon said to be found half the time; fewer than 6 have a chance of 1e-6."""
    runs, rng = 4000, np.random.default_rng(13)
    claim = ApproxDP(1.0, delta)

    def audit(shift: float, seed: int) -> privacy_module.PrivacyAudit:
        left, right = noise.at(rng.random(runs)), noise.at(rng.random(runs)) + shift
        return audit_privacy(left, right, claim, adjacency="replace-one", failure_probability=0.05, seed=seed)

    quiet = audit(0.0, 0)
    said = quiet.detectable_on_numbers
    assert said is not None
    assert quiet.detectable_parameter is not None
    assert said > quiet.detectable_parameter
    assert f"or a {noise.value} pair with epsilon {said:.4g}" in quiet.detectable
    shift = optimize.brentq(lambda size: noise.epsilon(size, delta) - said, 0.1, 20.0)
    assert sum(audit(shift, seed).verdict is Verdict.VIOLATED for seed in range(40)) >= 6
    letters = audit_privacy(
        rng.random(runs) < 0.5,
        rng.random(runs) < 0.5,
        claim,
        adjacency="replace-one",
        failure_probability=0.05,
        seed=0,
    )
    assert letters.detectable_on_numbers is None


def test_the_claim_does_not_pay_for_the_band(corner: Make) -> None:
    """19 parts of 20 of the failure probability go to the one test that verdict and bound rest on."""
    rng = np.random.default_rng(12)
    audit = audit_privacy(
        rng.laplace(0.0, 1.0, 2000), rng.laplace(1.0, 1.0, 2000), corner(1.0),
        adjacency="replace-one", failure_probability=0.04, seed=1,
    )  # fmt: skip
    spent = {share.path[-1]: share.failure_probability for share in audit.shares}
    assert spent == pytest.approx({"claim and its delta": 0.038, "band": 0.002}, rel=1e-12)
    assert len(audit.focuses) == 1
    assert audit.epsilon_lower >= audit.focuses[0].epsilon_lower > 0


def test_a_small_delta_at_a_hundred_thousand_runs(gaussian: Make, corner: Make) -> None:
    """At delta 1e-5 at least half of the Gaussian pair's epsilon, 4.377, in one audit.

    The median is 0.66; the expected count of the event's rarer side is then about 30 in place of the 10 that half would
    need, so that missing half has a chance below 1e-4 for a seed drawn afresh; this one is fixed.
    """
    rng = np.random.default_rng(13)
    audit = audit_privacy(
        rng.normal(1.0, 1.0, RUNS), rng.normal(0.0, 1.0, RUNS), corner(4.377, 1e-5),
        adjacency="replace-one", failure_probability=0.05, seed=1,
    )  # fmt: skip
    assert 0.5 * 4.377 < audit.epsilon_lower < 4.377
    assert float(gaussian(1.0).privacy_profile(np.array([4.377]))[0]) == pytest.approx(1e-5, rel=1e-3)


def test_a_sum_of_functions_of_many_numbers(corner: Make) -> None:
    """Ten outputs, each a little likelier to be in the middle on the left: no direction and no coordinate shows it."""
    rng = np.random.default_rng(14)
    left, right = rng.normal(size=(20_000, 10)), rng.normal(size=(20_000, 10))
    left = np.where(rng.random(left.shape) < 0.25, np.sign(left) * np.minimum(np.abs(left), 0.5), left)
    shared = SumOfFunctions(shared=True)
    audit = audit_privacy(
        left, right, corner(0.3), adjacency="replace-one", failure_probability=1e-3, seed=1, scorers=(shared,)
    )
    assert audit.verdict is Verdict.VIOLATED
    blind = audit_privacy(
        left, right, corner(0.3),
        adjacency="replace-one", failure_probability=1e-3, seed=1, scorers=(LinearDiscriminant(),),
    )  # fmt: skip
    assert blind.verdict is Verdict.SUPPORTED
