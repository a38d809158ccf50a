"""Lower bounds of rare tails: seldom above tails that are known exactly, and near them.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpverify.auditing.white_box import rare_tail, splitting
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Box
from dpverify.running import StatedStep, StatedStructure, single_noise

FALSE_ALARM = 1e-6


def contracting(steps: int, *, shift: float = 0.0, box: Box | None = None) -> StatedStructure:
    """Each step w <- 0.8 w + shift + N(0, 1)."""
    step = StatedStep(lambda states, rng: 0.8 * states + shift, 1.0, lipschitz_constant=0.8)
    return StatedStructure((0.0,), (step,) * steps, box)


def first(states: Any) -> Any:
    return states[:, 0]


def deviation(steps: int) -> float:
    """Of the last state of `contracting`."""
    return math.sqrt(sum(0.64**k for k in range(steps)))


@pytest.mark.parametrize(("steps", "far"), [(1, 8.0), (3, 6.0), (30, 4.0)])
def test_a_normal_tail_is_nearly_reached(steps: int, far: float) -> None:
    found = rare_tail(contracting(steps), first, far * deviation(steps), seed=0)
    assert 0.5 < found.lower / stats.norm.sf(far) < 1
    assert found.moves < 5e6


def test_bounds_are_above_the_tail_as_seldom_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 400 repeats of few particles and replicates; and it is seen if there is no bound, or less noise."""
    far, level, repeats = 4.0, 0.1, 400
    walk = splitting._Particles(contracting(2), first, far * deviation(2))
    theta = walk.thetas(1000, 0)[-2]
    drawn = walk.replicates(theta, 40, repeats * 12, np.random.default_rng(1)).reshape(repeats, 12)

    def rejected(tail: float) -> bool:
        count = sum(splitting._bound(one[:4], one[4:], level) > tail for one in drawn)
        return bool(stats.binomtest(count, repeats, level, alternative="greater").pvalue < FALSE_ALARM)

    tail = float(stats.norm.sf(far))
    assert np.median([splitting._bound(one[:4], one[4:], level) for one in drawn]) > 0.1 * tail
    assert not rejected(tail)
    assert rejected(float(stats.norm.sf(far / 0.9)))
    monkeypatch.setattr(splitting, "mean_lower", lambda values, bet, level: values.mean())
    assert rejected(tail)


@pytest.mark.parametrize("sharper", [1.0, 1.5])
def test_the_mean_of_replicates_is_the_tail(monkeypatch: pytest.MonkeyPatch, sharper: float) -> None:
    """With ten particles each; copies by another power of the weights are seen."""
    right = splitting._resampled
    monkeypatch.setattr(splitting, "_resampled", lambda weights, rng: right(sharper * weights, rng))
    far = 2.5
    walk = splitting._Particles(contracting(3), first, far * deviation(3))
    theta = walk.thetas(1000, 0)[-2]
    found = walk.replicates(theta, 10, 20_000, np.random.default_rng(0))
    z = (found.mean() - stats.norm.sf(far)) / (found.std() / math.sqrt(found.size))
    assert (abs(z) < 5) == (sharper == 1.0)


def test_a_tail_on_an_interval_is_that_of_a_quadrature() -> None:
    """Ten projected steps, against the law on a grid."""
    end, shift, threshold = 2.0, -0.5, 1.5
    cells = 400
    edges = np.linspace(-end, end, cells + 1)
    points = np.concatenate([[-end], (edges[1:] + edges[:-1]) / 2, [end]])
    below = stats.norm.cdf(edges[:, None] - (0.8 * points + shift))
    law = (np.abs(points - 2 * end / cells / 2) < 1e-9).astype(float)
    for _ in range(10):
        law = np.concatenate([[below[0] @ law], np.diff(below, axis=0) @ law, [(1 - below[-1]) @ law]])
    tail = float(law[points >= threshold].sum())
    structure = contracting(10, shift=shift, box=Box((-end,), (end,)))
    walk = splitting._Particles(structure, first, threshold)
    found = walk.replicates(walk.thetas(1000, 0)[4], 20, 5000, np.random.default_rng(2))
    assert abs(found.mean() - tail) < 5 * found.std() / math.sqrt(found.size) < 0.1 * tail
    assert 0.5 < rare_tail(structure, first, threshold, seed=1).lower / tail < 1


def test_what_cannot_be_reached_has_the_bound_0() -> None:
    on_a_box = StatedStructure((0.0,), single_noise(0.0, 1.0).steps, Box((-1.0,), (1.0,)))
    assert rare_tail(on_a_box, first, 1.5, seed=0, particles=50).lower == 0.0
    assert rare_tail(on_a_box, lambda states: 0 * first(states), 1.5, seed=0, particles=50).lower == 0.0
    assert 0.9 < rare_tail(on_a_box, lambda states: 0 * first(states), -1.0, seed=0, particles=50).lower <= 1


def test_a_longer_state_without_known_constants() -> None:
    """Norms of ten numbers: chi-square; constants that are not stated cost only speed."""
    step = StatedStep(lambda states, rng: states, 1.0)
    structure = StatedStructure((0.0,) * 10, (step, step))
    found = rare_tail(structure, lambda states: np.linalg.norm(states, axis=1), 9.0, seed=3, particles=300)
    tail = float(stats.chi2.sf(81 / 2, 10))
    assert 0.5 * tail < found.lower < tail


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"threshold": math.nan}, "threshold"),
        ({"failure_probability": 1.0}, "failure_probability"),
        ({"particles": 0}, "particles"),
        ({"replicates": 2.5}, "replicates"),
        ({"score": lambda states: states}, "score"),
        ({"score": lambda states: first(states) * np.inf}, "score"),
        ({"structure": StatedStructure((0.0,), contracting(2).steps, stopped=(0.5, 0.5))}, "structure"),
    ],
)
def test_bad_input(changed: dict[str, Any], name: str) -> None:
    given = {
        "structure": contracting(2),
        "score": first,
        "threshold": 3.0,
        "seed": 0,
        "particles": 10,
    } | changed
    with pytest.raises(InvalidArgumentError, match=name), np.errstate(invalid="ignore"):
        rare_tail(given.pop("structure"), given.pop("score"), given.pop("threshold"), **given)
