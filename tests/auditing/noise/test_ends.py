"""What the end of noise costs, beside the profile of the very noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from dpverify.auditing.accountants import NoisyReleases, audit_epsilon
from dpverify.auditing.noise import CutNoise, CutReleases, lost_in_steps
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP


def truncated_profile(end: float, shift: float, epsilon: float) -> float:
    """Of a normal number within [-end, end] against the same, shifted; by quadrature."""
    kept = 1 - 2 * float(ndtr(-end))

    def excess(x: float) -> float:
        other = float(norm.pdf(x - shift)) if abs(x - shift) <= end else 0.0
        mine = float(norm.pdf(x)) if abs(x) <= end else 0.0
        return max(mine - math.exp(epsilon) * other, 0.0) / kept

    edges = sorted({-end, shift - end, shift / 2 - epsilon / shift, end})
    inside = [edge for edge in edges if -end <= edge <= end]
    return sum(quad(excess, a, b)[0] for a, b in itertools.pairwise(inside))


@pytest.mark.parametrize("end", [1.5, 2.5, 4.0])
@pytest.mark.parametrize("shift", [0.3, 1.0, 2.0])
def test_cut_noise_lies_between_what_is_lost_and_the_bound(end: float, shift: float) -> None:
    outside = 2 * float(ndtr(-end))
    lost = float(ndtr(end) - ndtr(end - shift)) / (1 - outside)
    claim = CutNoise(GDP(shift), lost, outside)
    for epsilon in (0.0, 0.5, 1.0, 3.0, 8.0):
        true = truncated_profile(end, shift, epsilon)
        assert lost - 1e-7 <= true <= claim.privacy_profile(epsilon) + 1e-7
    assert claim.privacy_profile(50.0) == pytest.approx(lost)


def test_two_releases() -> None:
    """All outputs of two releases of uniform noise on a grid, whose profile is what is lost and nothing else."""
    cells, moved = 20, 3
    lost = moved / cells
    one = np.zeros((2, cells + moved))
    one[0, moved:] = one[1, :cells] = 1 / cells
    both = [np.outer(side, side) for side in one]
    for epsilon in (0.0, 1.0, 5.0):
        exact = float(np.maximum(both[0] - math.exp(epsilon) * both[1], 0).sum())
        assert exact == pytest.approx(lost_in_steps(lost, 2))
    mixed = 0.3 * one[0] + 0.7 * one[1]
    apart = float(np.outer(mixed, mixed)[both[1] == 0].sum())
    assert apart == pytest.approx(lost_in_steps(lost, 2, sampling_probability=0.3))


def test_many_releases() -> None:
    assert lost_in_steps(1e-20, 10**6) == pytest.approx(1e-14)
    assert lost_in_steps(1e-5, 10**6) == pytest.approx(1 - math.exp(-10), rel=1e-4)
    assert (lost_in_steps(0.0, 5), lost_in_steps(1.0, 5), lost_in_steps(0.25)) == (0.0, 1.0, 0.25)


@pytest.mark.parametrize("part", [0.05, 0.5])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_sampled_release_is_within_the_bound(part: float, swapped: bool) -> None:
    """Cut normal noise on a fine grid, the record in or out at random, in both directions."""
    end, shift, step = 2.0, 0.7, 1e-4
    x = np.arange(-4, 4, step) + step / 2
    kept = 1 - 2 * float(ndtr(-end))
    without, moved = (norm.pdf(x - at) for at in (0.0, shift))
    ideal = [part * moved + (1 - part) * without, without]
    without, moved = (np.where(abs(x - at) <= end, norm.pdf(x - at) / kept, 0.0) for at in (0.0, shift))
    cut = [part * moved + (1 - part) * without, without]
    if swapped:
        ideal, cut = ideal[::-1], cut[::-1]
    lost = float(ndtr(end) - ndtr(end - shift)) / kept
    for epsilon in (0.0, 0.2, 0.5, 1.0, 3.0):
        proved, true = (
            float(np.maximum(one - math.exp(epsilon) * other, 0).sum() * step) for one, other in (ideal, cut)
        )
        assert true <= proved / kept + lost + 1e-6
        assert swapped or true >= lost_in_steps(lost, sampling_probability=part) - 1e-4


def test_accountants_hear_of_it() -> None:
    releases = NoisyReleases("gaussian", 1.0)
    for delta, verdict in ((1e-5, Verdict.VIOLATED), (2e-5, Verdict.SUPPORTED)):
        found = audit_epsilon(5.0, CutReleases(releases, 1.2e-5, 1e-7), delta=delta)
        assert found.verdict is verdict
        assert "whose noise ends and loses delta 1.2e-05" in found.reason
    many = CutReleases(NoisyReleases("gaussian", 1.0, 100, 0.01), 1e-6)
    assert many.lost_in_all == pytest.approx(1e-6)
    assert many.smallest_epsilon(5e-5).upper == math.inf  # what sampling hides is not enough
    # what is left of delta must be enough
    assert audit_epsilon(4.3, CutReleases(releases, 1.2e-5), delta=2e-5).verdict is Verdict.UNDECIDED
    assert CutReleases(releases, 0.0).smallest_epsilon(1e-5) == releases.smallest_epsilon(1e-5)
    assert CutNoise(GDP(1.0), 0.0).epsilon_at(1e-5) == pytest.approx(GDP(1.0).epsilon_at(1e-5))


@pytest.mark.parametrize(
    "bad",
    [
        lambda: lost_in_steps(-0.1),
        lambda: lost_in_steps(math.nan),
        lambda: lost_in_steps(0.1, 0),
        lambda: lost_in_steps(0.1, sampling_probability=0.0),
        lambda: CutNoise("eps=1", 0.1),  # type: ignore[arg-type]
        lambda: CutNoise(GDP(1.0), 2.0),
        lambda: CutNoise(GDP(1.0), 0.1, 1.0),
        lambda: CutReleases(GDP(1.0), 0.1),  # type: ignore[arg-type]
    ],
)
def test_bad_input(bad: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgumentError, match="allowed"):
        bad()
