"""Laws of outputs by quadrature, beside draws and closed forms; each with a slightly wrong one that is told from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from dpverify.auditing.confidence import band_width
from dpverify.auditing.white_box import StatedLaw
from dpverify.statements.audit_laws import (
    about_noisy_center,
    averaged_draws,
    best_of_two,
    by_density,
    cosine,
    cut_normal,
    laplace,
    nearer,
    normal_mixture,
    on_ball,
    on_points,
    sum_of_draws,
)

RUNS = 40_000
WIDTH = band_width(RUNS, 1e-6)
"""Of the band about an empirical distribution function: each test fails by chance with probability at most 1e-6."""
RECORDS = np.array([-0.9, 0.2, 0.5])


def off(law: StatedLaw, numbers: Any) -> float:
    """The largest distance between distribution functions, at places where neither jumps."""
    places = np.asarray(law.cuts)
    seen = np.searchsorted(np.sort(numbers), places, side="right") / len(numbers)
    return float(np.max(np.abs(law.at(np.sort(places)) - seen[np.argsort(places)])))


def mixed(rng: Any, stddev: float) -> Any:
    return np.clip(rng.choice([-0.5, 0.7], RUNS, p=[0.2, 0.8]) + stddev * rng.normal(size=RUNS), -1, 1)


def localized(rng: Any, radius: float) -> Any:
    center = np.clip(0.3 + 0.4 * rng.laplace(size=RUNS), -1, 1)
    low, high = np.maximum(center - radius, -1), np.minimum(center + radius, 1)
    a, b = ndtr((low - 0.1) / 0.5), ndtr((high - 0.1) / 0.5)
    return 0.1 + 0.5 * stats.norm.ppf(a + (b - a) * rng.uniform(size=RUNS))


def picked(rng: Any, rate: float) -> Any:
    two = np.clip(0.2 + 0.5 * rng.normal(size=(2, RUNS)), -1, 1)
    first = rng.uniform(size=RUNS) < 1 / (1 + np.exp(rate * (two[0] - two[1])))
    return np.where(first, two[0], two[1])


def in_ball(rng: Any, scale: float) -> Any:
    """Of four dimensions, by rejection."""
    points = rng.normal(size=(8 * RUNS, 4))
    points *= (rng.uniform(size=(8 * RUNS, 1)) ** 0.25) / np.linalg.norm(points, axis=1, keepdims=True)
    slopes = np.array([1.0, 0.5, 0.0, -0.5])
    kept = rng.uniform(size=8 * RUNS) < np.exp(-scale * (points @ slopes + np.linalg.norm(slopes)))
    return points[kept][:RUNS, 0]


def contrast(rng: Any, scale: float) -> Any:
    noise = rng.normal(size=(RUNS, 5))
    noise *= scale * rng.gamma(5.0, size=(RUNS, 1)) / np.linalg.norm(noise, axis=1, keepdims=True)
    other = np.eye(5)[0]
    return np.linalg.norm(noise - other, axis=1) - np.linalg.norm(noise, axis=1)


def turned(rng: Any, stddev: float) -> Any:
    points = np.array([1.0, 2.0, 0.0]) + stddev * rng.normal(size=(RUNS, 3))
    return points[:, 0] / np.linalg.norm(points, axis=1)


def drawn(rng: Any, stddev: float) -> Any:
    return rng.choice(RECORDS, (RUNS, 4)).sum(axis=1) + stddev * rng.normal(size=RUNS)


CASES: dict[str, tuple[Callable[[float], StatedLaw], Callable[[Any, float], Any], float]] = {
    "mixture": (
        lambda s: normal_mixture([0.2, 0.8], [-0.5, 0.7], s, ends=(-1.0, 1.0)),
        mixed,
        0.4,
    ),
    "density": (
        lambda s: by_density(lambda x: -np.abs(x) / s, -1.0, 1.0, kinks=(0.0,)),
        lambda rng, s: rng.choice([-1, 1], RUNS) * -s * np.log1p(np.expm1(-1 / s) * rng.uniform(size=RUNS)),
        0.5,
    ),
    "localized": (
        lambda r: about_noisy_center(
            lambda b: np.exp(-np.abs(b) / 0.4) / 0.8,
            lambda b: laplace(b / 0.4),
            0.3,
            r,
            lambda x, at, low, high: cut_normal(x, low, high, 0.1, 0.5),
        ),
        localized,
        0.4,
    ),
    "picked": (
        lambda rate: best_of_two(
            lambda x: ndtr((x - 0.2) / 0.5), lambda x: rate * x, rate, -1.0, 1.0, cells=400
        ),
        picked,
        3.0,
    ),
    "ball": (
        lambda s: on_ball([1.0, 0.5, 0.0, -0.5], np.eye(4)[0], s),
        in_ball,
        1.2,
    ),
    "nearer": (
        lambda s: nearer(1.0, s, 5, first=True, statistic=lambda w: w),
        contrast,
        0.3,
    ),
    "cosine": (lambda s: cosine([1.0, 2.0, 0.0], np.eye(3)[0], s), turned, 0.7),
    "sum": (lambda s: sum_of_draws(RECORDS, 4, s, statistic=lambda w: w), drawn, 0.3),
}


@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_law_and_others_do_not(name: str) -> None:
    law, draw, parameter = CASES[name]
    numbers = draw(np.random.default_rng(11), parameter)
    assert off(law(parameter), numbers) < WIDTH
    assert off(law(1.5 * parameter), numbers) > WIDTH


def test_the_other_place_is_the_mirror_image() -> None:
    one, other = (nearer(0.5, 1.0, 3, first=first, statistic=lambda w: w) for first in (True, False))
    x = np.linspace(-0.9, 0.9, 7)
    assert other.at(x) == pytest.approx(1 - one.at(x)[::-1], abs=1e-9)


def test_a_pick_of_equal_costs_changes_nothing_and_a_costly_length_is_rarer() -> None:
    same, short = (nearer(1.0, 1.0, 3, first=True, statistic=lambda w: w, pick=cost) for cost in (0.0, 5.0))
    assert float(same.at(np.array([1.0]))[0]) == pytest.approx(1.0)
    # of shorter noise, more is near the first place
    assert float(short.at(np.array([0.0]))[0]) < float(same.at(np.array([0.0]))[0])


def test_points_have_the_masses_of_their_exponents() -> None:
    law = on_points([2.0, 1.0, 1.0], np.log([0.5, 0.2, 0.3]))
    assert law.at(np.array([0.5, 1.0, 1.5, 2.5])) == pytest.approx([0.0, 0.5, 0.5, 1.0])
    assert np.asarray(law.cuts).tolist() == [1.5]


def test_averaged_draws_have_the_mixture_of_how_often_a_record_is_drawn() -> None:
    law = averaged_draws(1.0, -1.0, 0.25, 2, 0.5, 50.0)
    wanted = normal_mixture([9 / 16, 6 / 16, 1 / 16], [1.0, 0.0, -1.0], 0.5 / np.sqrt(2))
    x = np.linspace(-2, 2, 9)
    assert law.at(x) == pytest.approx(wanted.at(x))
    assert law.error < 1e-300
    assert averaged_draws(1.0, -1.0, 0.25, 2, 0.5, 2.0).error == pytest.approx(4 * ndtr(-2.0))
