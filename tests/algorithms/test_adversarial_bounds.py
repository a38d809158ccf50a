"""Searches for what breaks a new bound: losses, populations, maps and events that are chosen against it.

Every search is seeded and exact, so that one case above a bound is a fault; a smaller bound is planted and found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpverify.algorithms.bst14 import ObjectivePerturbation, OutputPerturbation
from dpverify.algorithms.steps.last_iterate import StepRates, constant_rates, falling_rates
from dpverify.auditing.white_box import rare_tail
from dpverify.privacy.guarantees import GDP
from dpverify.privacy.iteration import NoisyIteration
from dpverify.problems import Ball, Dataset, HalfSquaredDistance, Logistic, Problem
from dpverify.running import Randomness, single_noise

Array = NDArray[np.float64]
Searched = Callable[[Array], Array]
"""From cases (k, numbers) in [0, 1] to what each attains, (k,), over its bound."""


def searched(share: Searched, numbers: int, *, rounds: int = 12, tried: int = 400) -> float:
    """The largest share that is found by moving the best cases about, less and less far."""
    rng = np.random.default_rng(0)
    cases = rng.uniform(size=(tried, numbers))
    best = 0.0
    for step in range(rounds):
        found = share(cases)
        best = max(best, float(np.max(found)))
        kept = cases[np.argsort(found)[-tried // 10 :]]
        moved = np.repeat(kept, 9, axis=0) + 0.5 * 0.7**step * rng.normal(size=(9 * len(kept), numbers))
        cases = np.concatenate([kept, np.clip(moved, 0.0, 1.0)])
    return best


# ------------------------------------------------------------------------------------------ last points and means


def resisting(rates: StepRates, *, last: bool) -> Searched:
    """Descent on the largest of four planes in the disc, of slopes up to 1, from its center; at a kink any of them."""
    points, corners = rates.points, 4
    grid = np.array(
        [(r * math.cos(a), r * math.sin(a)) for r in np.linspace(0, 1, 21) for a in np.linspace(0, 6.2, 50)]
    )

    def share(cases: Array) -> Array:
        k = len(cases)
        angle, length, height = (cases[:, i : 3 * corners : 3] for i in range(3))
        slopes = length[..., None] * np.stack([np.cos(2 * np.pi * angle), np.sin(2 * np.pi * angle)], axis=-1)
        heights, factor = 0.3 * height, 3 * cases[:, -1] + 1e-3
        values = np.max(slopes @ grid.T + heights[..., None], axis=1)
        least = np.min(values, axis=1)  # on the grid, and at the points themselves
        w, excess, weights = np.zeros((k, 2)), [], []
        for t in range(1, points + 1):
            each = np.einsum("kcd,kd->kc", slopes, w) + heights
            excess.append(np.max(each, axis=1))
            weights.append(t**-rates.power)
            # of planes that are level with the highest, the last one
            chosen = corners - 1 - np.argmax((each >= excess[-1][:, None] - 1e-12)[:, ::-1], axis=1)
            w = w - (factor * weights[-1])[:, None] * slopes[np.arange(k), chosen]
            w /= np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1.0)
        least = np.minimum(least, np.min(excess, axis=0))
        given: dict[str, float] = {"distance": 1.0, "diameter": 2.0, "norm": 1.0, "lipschitz": 1.0}
        if last:
            found, bounds = excess[-1], [rates.last(one, **given) for one in factor]
        else:
            found = np.average(excess, axis=0, weights=weights)
            bounds = [rates.mean(points, one, **given) for one in factor]
        return np.asarray((found - least) / np.array(bounds))

    return share


@pytest.mark.parametrize(("rates", "last"), [(constant_rates(4), False), (falling_rates(4), True)])
def test_no_planes_bring_a_descent_above_its_bound(rates: StepRates, last: bool) -> None:
    """What is found is more than 2/3 of the bound, so that one of 2/3 of it would be broken."""
    assert 2 / 3 < searched(resisting(rates, last=last), 13) <= 1 + 1e-9


# ------------------------------------------------------------------------------------------ tilted minimizers


def of_cones() -> Searched:
    """Slope s times ||theta - x||, a ridge and noise from 60 vectors and their opposites in three dimensions."""
    one = np.random.default_rng(1).normal(size=(60, 3))
    directions = np.concatenate([one, -one])

    def share(cases: Array) -> Array:
        found = []
        for slope, ridge, scale, place in cases + 1e-3:
            pushed = ridge * np.array([place, 0.0, 0.0]) + scale * directions
            lengths = np.linalg.norm(pushed, axis=1)
            # at the minimizer, slope and ridge balance what is pushed with
            excess = slope * np.maximum(lengths - slope, 0.0) / ridge
            algorithm = ObjectivePerturbation(
                Problem(Logistic(), Ball(3, 1.0)), 1.0, regularization=ridge, withdraw_guarantee=True
            )
            stated = algorithm._risk_at(2, ridge**2 * place**2 + scale**2 * np.mean(one**2) * 3, 0.0)
            found.append(np.mean(excess) / (stated - 2 * algorithm.accuracy_at(2)))
        return np.array(found)

    return share


def test_no_cone_brings_a_tilted_minimizer_above_its_bound() -> None:
    """Four fifths of the bound are broken, so that half of the noise's part alone would not be enough."""
    assert 0.8 < searched(of_cones(), 4, rounds=6, tried=60) <= 1 + 1e-9


# ------------------------------------------------------------------------------------------ populations


def of_populations(n: int) -> tuple[Searched, Searched]:
    """Two records on a line and their odds: the exact mean over all samples, over the bounds with and without the gap.

    The noise is a billionth: what is left is the minimizer on the sample.
    """
    problem = Problem(HalfSquaredDistance(radius=1.0), Ball(1, 1.0))
    algorithm = OutputPerturbation(problem, 1e9)
    stated, empirical = algorithm.population_risk_bound(n), algorithm.risk_bound(n)
    assert stated is not None
    assert empirical is not None

    def excess(cases: Array) -> Array:
        found = []
        for first, second, odds in np.column_stack([2 * cases[:, :2] - 1, cases[:, 2]]):
            mean = odds * first + (1 - odds) * second
            total = 0.0
            for k in range(n + 1):
                data = Dataset(np.array([[first]] * k + [[second]] * (n - k)), np.ones(n))
                w = float(np.asarray(algorithm(data, rng=Randomness(0), runs=1).points)[0, 0])
                total += float(stats.binom.pmf(k, n, odds)) * (w - mean) ** 2 / 2
            found.append(total)
        return np.array(found)

    return (lambda cases: excess(cases) / stated.bound), (lambda cases: excess(cases) * n / empirical.bound)


def test_no_population_of_two_records_is_above_the_bound() -> None:
    """A fourth of it is broken, and so is the bound without what the sample differs from the population by."""
    share, alone = of_populations(2)
    assert 0.25 <= searched(share, 3, rounds=5, tried=40) <= 1
    assert searched(alone, 3, rounds=2, tried=40) > 1


# ------------------------------------------------------------------------------------------ shifted interpolation


def of_maps(steps: int, shift: float, stddev: float) -> tuple[Searched, float]:
    """Two chains on [-1, 1] whose steps follow maps with any slopes in [0, 1], `shift` apart; noise, then projection.

    The hockey-stick divergences of their last points, by their laws on cells, over what is stated.
    """
    cells, knots = 100, 4
    edges = np.linspace(-1.0, 1.0, cells + 1)
    places = np.concatenate([[-1.0], (edges[1:] + edges[:-1]) / 2, [1.0]])
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    mu = NoisyIteration(np.full(steps, shift), stddev, 1.0, 2.0).gdp().mu
    mu = min(mu, NoisyIteration(np.full(steps, shift), stddev, 1.0, 0.0).gdp().mu)
    epsilons = np.array([0.0, 0.3, 1.0])
    stated = np.asarray(GDP(mu).privacy_profile(epsilons))

    def share(cases: Array) -> Array:
        found = []
        for case in cases:
            start = np.zeros(cells + 2)
            start[1 + int(case[-1] * (cells - 1))] = 1.0
            laws = [start, start]
            for slopes in case[:-1].reshape(steps, knots + 1):
                path = np.cumsum(slopes[:-1]) * 2 / knots
                image = 2 * slopes[-1] - 1 + np.interp(places, np.linspace(-1, 1, knots + 1), [0.0, *path])
                image -= path[-1] / 2
                laws = [
                    law
                    @ np.diff(stats.norm.cdf((ends - (image + side * shift / 2)[:, None]) / stddev), axis=1)
                    for law, side in zip(laws, (-1, 1), strict=True)
                ]
            gained = [
                max(
                    np.maximum(one - math.exp(e) * other, 0.0).sum()
                    for one, other in itertools.permutations(laws)
                )
                for e in epsilons
            ]
            found.append(float(np.max(gained / stated)))
        return np.array(found)

    return share, float(np.max(np.asarray(GDP(0.7 * mu).privacy_profile(epsilons))[:2] / stated[:2]))


def test_no_maps_tell_two_chains_apart_by_more_than_is_stated() -> None:
    """On a set that bounds what the last steps forget; seven tenths of the stated mu would be too little."""
    share, less = of_maps(4, 0.2, 1.5)
    assert less < searched(share, 21, rounds=8, tried=60) <= 1 + 1e-6


# ------------------------------------------------------------------------------------------ rare tails


def test_scores_that_lead_particles_astray_do_not_lift_a_bound() -> None:
    """Most of the tail is where the score is lowest on the way there; a bound that fails half of the time is seen."""

    def score(states: Any) -> Any:
        return np.where(states[:, 0] < -2.5, 9.0, states[:, 0])

    tail = float(stats.norm.cdf(-2.5) + stats.norm.sf(4.0))
    found = [
        rare_tail(
            single_noise(0.0, 1.0),
            score,
            4.0,
            seed=seed,
            particles=20,
            replicates=8,
            failure_probability=0.1,
        ).lower
        for seed in range(40)
    ]
    allowed = int(stats.binom.isf(1e-6, 40, 0.1))
    assert sum(one > tail for one in found) <= allowed < 20
    assert max(found) > 0
