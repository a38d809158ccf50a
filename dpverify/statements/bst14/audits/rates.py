"""What bst14's statements hide in O( ), Omega( ) and Theta( ), at sizes. Risks are sums over the records.

Excesses that are attained are of linear losses or of distances in closed form where that is known; else ends of
intervals for the means of seeded runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincinv, gammaln

from dpverify.algorithms.bst14 import (
    ApproximateLocalization,
    BoostedSampling,
    EfficientExponentialSampling,
    ExponentialSampling,
    GridWalk,
    HuberizedObjectivePerturbation,
    Localization,
    NetMechanism,
    NoisyGradientDescent,
    ObjectivePerturbation,
    OutputPerturbation,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.huberized_hinge import (
    first_bad_data,
    first_bad_risk,
    second_bad_data,
    second_bad_risk,
)
from dpverify.algorithms.steps.last_iterate import falling_rates, strongly_convex_rates
from dpverify.auditing.confidence import betting_interval
from dpverify.problems import Ball, Box, Dataset, EuclideanDistance, Linear, Problem
from dpverify.running import Randomness
from dpverify.statements.audit_parts import mean_problem
from dpverify.statements.hidden_constants import LEVEL, RateAt, Rates, bound_of, counted, size

DELTA, FIRST = 1e-5, "statement, 1st display"
_RUNS, _DRAWS = 2000, 20_000


def measured(algorithm: Any, data: Dataset, least: float, *, below: bool = True, runs: int = _RUNS) -> float:
    """The low end of an interval for the expected excess of the total risk, from seeded runs, or its high end."""
    problem = algorithm.problem
    points = np.asarray(algorithm(data, rng=Randomness(0), runs=runs).points)
    excess = np.asarray(problem.total_risk(points, data)) - least
    most = data.n * problem.constants.lipschitz_constant * problem.constraint.diameter
    rounding = 1e-9 * most  # what lies farther out is refused
    found = betting_interval(excess, -rounding, most + rounding, LEVEL)
    return found.lower if below else found.upper


def equal_records(n: int, p: int, length: float = 1.0) -> Dataset:
    """All at one place, as far from the center of the unit ball as they can be."""
    return Dataset(np.tile(length * np.eye(1, p), (n, 1)), np.ones(n))


def of_flat_losses(make: Callable[[Problem], Any], n: int, p: int) -> float:
    """The larger low end of linear losses and of distances to a record at the unit ball's end."""
    data, ball = equal_records(n, p), Ball(p, 1.0)
    linear, away = (make(Problem(loss, ball)) for loss in (Linear(), EuclideanDistance()))
    return max(measured(linear, data, -float(n)), measured(away, data, 0.0))


def cone_excess(rate: float, p: int, width: float, slack: float = 0.0) -> float:
    """The mean of r in [0, width] with density r^(p - 1) exp(-rate r): of a distance that is the risk of a Gibbs law.

    Of all laws whose density is within exp(slack) of it, the least mean.
    """
    far = rate * width
    near = float(gammaincinv(p, gammainc(p, far) / (math.exp(slack) + 1)))
    low, whole = gammainc(p + 1, near), gammainc(p + 1, far)
    mean = math.exp(slack) * low + math.exp(-slack) * (whole - low)
    return p / rate * float(mean / gammainc(p, far))


# ------------------------------------------------------------------------------------------ gradient descent


def least_noise(n: int, epsilon: float, delta: float) -> float:
    """The noise over n L below which the sum of all messages is not (epsilon, delta)-DP for one record among zeros.

    Less a ten-thousandth, which is more than the quadrature errs.
    """
    steps = n * n - 1
    counts = np.arange(steps + 1)
    weights = scipy.stats.binom.pmf(counts, steps, 1 / n)
    counts, weights = counts[weights > 1e-13], weights[weights > 1e-13]

    def beyond(noise: float) -> float:
        stddev = noise * math.sqrt(steps)
        x = np.linspace(-counts[-1] - 9 * stddev, counts[-1] + 9 * stddev, 4001)
        density = scipy.stats.norm.pdf(x[:, None], counts, stddev) @ weights
        gained = np.maximum(density - math.exp(epsilon) * density[::-1], 0.0)
        return float(np.trapezoid(gained, x)) - delta

    return (1 - 1e-4) * float(brentq(beyond, 0.05, 50.0, xtol=1e-6))


def noise_variance() -> Iterator[RateAt]:
    for n in (8, 32):
        descent = NoisyGradientDescent(Problem(Linear(), Ball(1, 1.0)), 1.0, DELTA)
        scale = descent.scale(n)
        yield size(
            scale, descent.noise_stddev(n) ** 2, (n * least_noise(n, 1.0, DELTA)) ** 2, n=n, epsilon=1.0
        )


_DESCENTS = ((8, 2), (8, 30), (32, 2), (1000, 30))
"""Records and dimensions; runs are made on few records."""


def descent_risk() -> Iterator[RateAt]:
    for n, p in _DESCENTS:
        make = partial(NoisyGradientDescent, epsilon=1.0, delta=DELTA)
        bound = make(Problem(Linear(), Ball(p, 1.0))).risk_bound(n).bound
        rate = 2 * math.log(n / DELTA) ** 1.5 * math.sqrt(p * math.log(1 / DELTA))
        yield size(rate, bound, of_flat_losses(make, n, p) if n < 100 else None, n=n, p=p, epsilon=1.0)


def convex_descent_risk() -> Iterator[RateAt]:
    for n, p in _DESCENTS:
        descent = NoisyGradientDescent(mean_problem(p, 1.0), 1.0, DELTA, "strongly-convex")
        rate = 4 * math.log(n / DELTA) ** 2 * p * math.log(1 / DELTA) / n
        attained = measured(descent, equal_records(n, p), 0.0) if n < 100 else None
        yield size(rate, descent.risk_bound(n).bound, attained, n=n, p=p, epsilon=1.0)


def last_point() -> Iterator[RateAt]:
    """On |w| over [0, ||C||] a step from the minimizer may go along a subgradient to its end."""
    for steps in (2, 3, 10, 100, 10_000, 1_000_000):
        bound = falling_rates(steps).last(1.0, distance=1.0, diameter=1.0, norm=1.0, lipschitz=1.0)
        attained = min(1.0, 1 / math.sqrt(steps - 1))
        yield size(math.log(steps) / math.sqrt(steps), bound, attained, T=steps)


def convex_last_point() -> Iterator[RateAt]:
    """On lambda w^2 / 2 from the minimizer, along noise alone, of which w_T is the mean over -lambda.

    Beside it the gradient has at most the noise's variance, which is G^2 where the first step is the last, else half of
    it.
    """
    for steps in (2, 3, 10, 100, 10_000, 1_000_000):
        rates = strongly_convex_rates(steps)
        bound = rates.last(1.0, distance=2.0, diameter=2.0, norm=1.0, lipschitz=1.0)
        variance = 1.0 if steps == 2 else 0.5
        yield size(math.log(steps) / steps, bound, variance / (2 * (steps - 1)), T=steps)


# ------------------------------------------------------------------------------------------ exponential sampling


def sampling_risk() -> Iterator[RateAt]:
    """The largest coordinate's distance to a corner of a cube: its law is that of a cone."""
    for p in (1, 4, 30):
        for n in (1000, 100_000):
            sampling = ExponentialSampling(Problem(Linear(), Box.cube(p, 1.0)), 2.0)
            length = sampling.problem.constraint.diameter
            attained = n * cone_excess(sampling.scale * n, p, length / math.sqrt(p))
            yield size(p * length / 2.0, bound_of(sampling.risk_bound(n)), attained, n=n, p=p, epsilon=2.0)


def efficient_risk() -> Iterator[RateAt]:
    for epsilon in (0.01, 0.1, 1.0):
        for p in (1, 4, 30):
            n = 1_000_000
            sampling = EfficientExponentialSampling(Problem(Linear(), Box.cube(p, 1.0)), epsilon)
            length = sampling.problem.constraint.diameter
            attained = n * cone_excess(sampling.scale * n, p, length / math.sqrt(p), sampling.distance)
            yield size(
                p * length / epsilon, bound_of(sampling.risk_bound(n)), attained, p=p, epsilon=epsilon, n=n
            )


def walk_steps() -> Iterator[RateAt]:
    for p in (1, 2, 3):
        for n in (10, 100, 1000, 10_000):
            plan = GridWalk.for_privacy(Problem(Linear(), Box.cube(p, 1.0)), epsilon=1.0).plan(n)
            spread = plan.lipschitz * plan.edge
            longest = max(p * math.log(spread * p / plan.distance), spread)
            yield size((spread / plan.distance) ** 2 * p**3 * longest, plan.steps, n=n, p=p, epsilon=1.0)


def efficient_steps() -> Iterator[RateAt]:
    for p in (1, 2, 3):
        for n in (10, 100, 1000, 10_000):
            sampling = EfficientExponentialSampling(Problem(Linear(), Box.cube(p, 1.0)), 1.0)
            length = sampling.problem.constraint.diameter
            rate = length**2 * (p * n) ** 3 * max(p * math.log(length * p * n), length * n)
            yield size(rate, sampling.plan(n).steps, n=n, p=p, epsilon=1.0)


def convex_set_steps(*, boosted: bool) -> Iterator[RateAt]:
    """On the unit ball, with the densities and the distances of Algorithm 7 at epsilon = 1."""
    kind: Any = BoostedSampling if boosted else SamplingInConvexSet
    for p in (1, 2, 3):
        for n in (10, 100, 1000, 10_000):
            sampling = kind(Problem(Linear(), Ball(p, 1.0)), 1 / 12, 1 / 3)
            steep, edge, distance = max(n / 12 * 2, p), 2.0, sampling.distance
            rate = (steep * edge / distance) ** 2 * p**3
            rate *= max(p * math.log(steep * edge * p / distance), steep * edge)
            if boosted:
                rate *= max(p * math.log(2), n / 12 * 2, math.log(1 / distance))
            yield size(rate, sampling.plan(n).steps * sampling.repeats(n), n=n, p=p, epsilon=1.0)


# ------------------------------------------------------------------------------------------ localization, nets


def localized_risk() -> Iterator[RateAt]:
    for n in (50, 200, 800):
        for p in (2, 10):
            local = Localization(mean_problem(p, 1.0), 4.0)
            attained = measured(local, equal_records(n, p, 0.0), 0.0)
            yield size(
                4 * p**2 * math.log(n) / (n * 16.0),
                bound_of(local.risk_bound(n)),
                attained,
                n=n,
                p=p,
                epsilon=4.0,
            )


def localized_by_solver() -> Iterator[RateAt]:
    """Over F of Algorithm 2, 2 p L ||C|| / epsilon, for the printed ||C|| with the constant 1."""
    return (size(2 * one.rate, one.proved, one.attained, **one.at) for one in localized_risk())


def localized_by_descent() -> Iterator[RateAt]:
    """Over F of Algorithm 1 for the printed ||C|| with the constant 1."""
    for n, p in ((20, 2), (20, 10), (1000, 10)):
        problem = mean_problem(p, 1.0)
        known = problem.constants
        length = known.lipschitz_constant * math.sqrt(p * math.log(1 / DELTA)) * math.log(n)
        length /= known.strong_convexity * n
        local = ApproximateLocalization(problem, 1.0, DELTA)
        rate = NoisyGradientDescent(problem, 1.0, DELTA).risk_on(n, length, length)
        attained = measured(local, equal_records(n, p), 0.0) if n < 100 else None
        yield size(rate, bound_of(local.risk_bound(n)), attained, n=n, p=p, epsilon=1.0)


def net_points() -> Iterator[RateAt]:
    """No net has fewer points than balls of its radius have the set's volume."""
    for p in (1, 2):
        for n in (50, 100, 200):
            mechanism = NetMechanism(Problem(Linear(), Box.cube(p, 1.0)), 2.0)
            ball = math.exp(p / 2 * math.log(math.pi) - gammaln(p / 2 + 1)) * mechanism.theorem_radius(n) ** p
            fewest = 2.0**p / ball
            yield size((2.0 * n / p) ** p, len(mechanism.net_for(n).points), fewest, n=n, p=p, epsilon=2.0)


def net_risk() -> Iterator[RateAt]:
    for p in (1, 2):
        for n in (50, 100, 200):
            mechanism = NetMechanism(Problem(Linear(), Box.cube(p, 1.0)), 2.0)
            data = Dataset(np.full((n, p), 1 / math.sqrt(p)), np.ones(n))
            risks = np.asarray(mechanism.problem.total_risk(np.asarray(mechanism.net_for(n).points), data))
            attained = float(mechanism.probabilities(data) @ risks) + n * math.sqrt(p)
            rate = p * 2 * math.sqrt(p) / 2.0 * math.log(2.0 * n / p)
            yield size(rate, bound_of(mechanism.risk_bound(n)), attained, n=n, p=p, epsilon=2.0)


# ------------------------------------------------------------------------------------------ objective perturbation


def _tilted(mechanism: ObjectivePerturbation, n: int) -> float:
    """For linear losses with the sum s e_1, the excess s (r + theta_1) of theta = Proj(-(s e_1 + b) / Delta).

    The largest of the low ends for the means at some s, from draws of b; on the unit ball.
    """
    p, rng = mechanism.problem.constraint.dimension, np.random.default_rng(0)
    direction = rng.normal(size=(_DRAWS, p))
    b = direction * mechanism.noise_scale_at(n)
    if mechanism.delta == 0:
        b *= rng.gamma(p, size=(_DRAWS, 1)) / np.linalg.norm(direction, axis=1, keepdims=True)
    ridge, found, shares = mechanism.regularization_at(n), 0.0, np.geomspace(0.1, 10.0, 21)
    for share in shares:
        s = share * ridge
        theta = -(s * np.eye(1, p) + b) / ridge
        theta /= np.maximum(np.linalg.norm(theta, axis=1, keepdims=True), 1.0)
        excess = s * (1 + theta[:, 0])
        rounding = 1e-9 * s
        found = max(found, betting_interval(excess, -rounding, 2 * s + rounding, LEVEL / len(shares)).lower)
    return found


def objective_risk(delta: float) -> Iterator[RateAt]:
    for p in (1, 5, 30):
        mechanism, n = ObjectivePerturbation(Problem(Linear(), Ball(p, 1.0)), 1.0, delta), 10_000
        rate = 2 * math.sqrt(p * math.log(1 / delta)) if delta else 2.0 * p
        yield size(rate, bound_of(mechanism.risk_bound(n)), _tilted(mechanism, n), n=n, p=p, epsilon=1.0)


def objective_weight(delta: float) -> Iterator[RateAt]:
    """The regularization that is used, which makes the two terms of the bound equal."""
    for p in (1, 5, 30):
        mechanism, n = ObjectivePerturbation(Problem(Linear(), Ball(p, 1.0)), 1.0, delta), 10_000
        rate = (math.sqrt(p * math.log(1 / delta)) if delta else p) / 2.0
        yield counted(rate, mechanism.regularization_at(n), n=n, p=p, epsilon=1.0)


def objective_convex_risk(delta: float) -> Iterator[RateAt]:
    """Of records at the center: ||b||^2 / (2 n Delta) where that is in the set, by the law of ||b||."""
    for p in (1, 5, 30):
        for n in (200, 2000):
            mechanism = ObjectivePerturbation(mean_problem(p, 1.0), 1.0, delta)
            scale, convexity = mechanism.noise_scale_at(n), mechanism.convexity(n)
            if delta:
                moment, inside = p, gammainc(p / 2 + 1, (convexity / scale) ** 2 / 2)
            else:
                moment, inside = p * (p + 1), gammainc(p + 2, convexity / scale)
            attained = n * scale**2 * moment * float(inside) / (2 * convexity**2)
            rate = 4 * (p * math.log(1 / delta) if delta else p**2) / n
            yield size(rate, bound_of(mechanism.risk_bound(n)), attained, n=n, p=p, epsilon=1.0)


# ------------------------------------------------------------------------------------------ lower bounds


_HARD = ((20, 100), (1000, 2000), (1000, 100), (100_000, 2000))
"""Records and dimensions, epsilon being 1."""


@lru_cache
def packing(n: int, p: int, epsilon: float, power: int = 1) -> tuple[int, int]:
    """The k equal records of Lemma 5.1's data set, and how many coordinates are wrong with probability 1/2.

    Of all sign vectors, 2^p / V are pairwise apart in at least s coordinates, V being how many differ from one of them
    in less (Gilbert and Varshamov). A data set for each of these, v, has k records v / sqrt(p) and others, in pairs of
    opposite ones, that are the same for all v. An answer that is less than k / (n sqrt(p)) off in all but fewer than
    s / 2 coordinates is so for one v only. All data sets are within k records of a common one. So if exp(epsilon k)
    is at most half of their number, then for some v, s / 2 coordinates or more are that far off, with probability 1/2.
    The s is the one with the largest k^power s / 2.
    """
    found, near = (0, 0), 0
    for apart in range(1, p):
        near += math.comb(p, apart - 1)
        most = min(n, int((p * math.log(2) - math.log(near) - math.log(2)) / epsilon - 1e-9))
        equal, wrong = most - (n - most) % 2, -(-apart // 2)
        if equal < 1:
            break
        found = max(found, (equal, wrong), key=lambda one: one[0] ** power * one[1])
    return found


def hard_data(what: str) -> Iterator[RateAt]:
    """Of Lemma 5.1, part 1. No sum is longer than n, no set larger than p, and 0 is no farther off than 1 / sqrt(p)."""
    for n, p in _HARD:
        equal, wrong = packing(n, p, 1.0)
        unit = {"length": 1.0, "error": 1 / (n * math.sqrt(p))}.get(what)
        if unit is None:
            yield size(p, wrong, p, n=n, p=p, epsilon=1.0)
        else:
            yield size(unit * min(n, p), unit * equal, unit * n if n <= p else None, n=n, p=p, epsilon=1.0)


def pure_risk() -> Iterator[RateAt]:
    """Of Theorem 5.2: an output times k / n is an answer, so that it is 1 / sqrt(p) off the minimizer where that is.

    The excess is at least k / 2 times the squared distance. With probability 1/2 that of the center, or of Algorithm 2,
    is no larger than what is attained, whatever the data.
    """
    for n, p in _HARD:
        equal, wrong = packing(n, p, 1.0)
        stated = bound_of(ExponentialSampling(Problem(Linear(), Ball(p, 1.0)), 1.0).risk_quantile(n, 0.5))
        yield size(min(n, p), equal * wrong / (2 * p), min(n, stated), n=n, p=p, epsilon=1.0)


def pure_convex_risk() -> Iterator[RateAt]:
    """Of Theorem 5.4: n / 2 times the squared distance to the records' mean; likewise, with Algorithm 3."""
    for n, p in _HARD:
        equal, wrong = packing(n, p, 1.0, 2)
        attained = min(n / 2, bound_of(OutputPerturbation(mean_problem(p, 1.0), 1.0).risk_quantile(n, 0.5)))
        yield size(min(n, p**2 / n), wrong * equal**2 / (2 * n * p), attained, n=n, p=p, epsilon=1.0)


def without_looking(most: float) -> Iterator[RateAt]:
    """Where the rate is n, or 1 / sqrt(p): whatever the data, at most this share of it.

    The ball's center has no larger risk, no sum is longer than n, and 0 is no farther off than 1 / sqrt(p).
    """
    for n in (10, 1000):
        yield size(float(n), None, most * n, n=n)


def least_delta() -> Iterator[RateAt]:
    """The delta that is taken below."""
    for n in _BAD:
        yield counted(float(n) ** -4, bad_mechanism(n).delta, n=n)


# ------------------------------------------------------------------------------------------ the huberized hinge


_BAD = (75, 300, 1200)


def bad_mechanism(n: int) -> HuberizedObjectivePerturbation:
    """The paper's h, for which both bounds are of one order."""
    return HuberizedObjectivePerturbation(1 / math.sqrt(n), 0.5, float(n) ** -4)


def worse_data() -> Iterator[RateAt]:
    """The worse of the two data sets."""
    for pair in zip(bad_data(1), bad_data(2), strict=True):
        proved, attained = (max(getattr(one, name) for one in pair) for name in ("proved", "attained"))
        yield size(max(one.rate for one in pair), proved, attained, **pair[0].at)


def bad_data(which: int) -> Iterator[RateAt]:
    for n in _BAD:
        mechanism = bad_mechanism(n)
        width, epsilon = mechanism.width, mechanism.epsilon
        ridge = mechanism.perturbation.regularization_at(n)
        if which == 1:
            data, best = first_bad_data(n), -1.0
            rate, proved = n * min(1.0, width), first_bad_risk(n, width=width)
        else:
            data, best = second_bad_data(n, regularization=ridge), 1.0
            rate, proved = min(1 / width, n), second_bad_risk(n, width=width, regularization=ridge)
        least = float(np.asarray(mechanism.problem.total_risk(np.array([[best]]), data))[0])
        yield size(
            rate, proved, measured(mechanism, data, least, below=False, runs=5000), n=n, epsilon=epsilon
        )


RATES: Rates = {
    ("bst14.thm2.4.1", "statement, inline 1"): noise_variance,
    ("bst14.thm2.4.1", FIRST): descent_risk,
    ("bst14.thm2.4.2", FIRST): convex_descent_risk,
    ("bst14.lem2.5", FIRST): last_point,
    ("bst14.lem2.6", FIRST): convex_last_point,
    ("bst14.thm3.2", FIRST): sampling_risk,
    ("bst14.thm3.4.2", FIRST): efficient_risk,
    ("bst14.thm3.4.3", FIRST): efficient_steps,
    ("bst14.lem4.2", "statement, 2nd display"): localized_by_solver,
    ("bst14.thm4.3", FIRST): localized_risk,
    ("bst14.thmC.2", "statement, 2nd display"): localized_by_descent,
    ("bst14.lem5.1", "statement, inline 2"): partial(hard_data, "length"),
    ("bst14.lem5.1", "statement, inline 3"): partial(hard_data, "coordinates"),
    ("bst14.lem5.1", FIRST): partial(hard_data, "error"),
    ("bst14.lem5.1", "statement, inline 6"): partial(without_looking, 1.0),
    ("bst14.lem5.1", "statement, 2nd display"): partial(without_looking, 1.0),
    ("bst14.thm5.2", FIRST): pure_risk,
    ("bst14.thm5.3", FIRST): partial(without_looking, 1.0),
    ("bst14.thm5.4", FIRST): pure_convex_risk,
    ("bst14.thm5.5", FIRST): partial(without_looking, 0.5),
    ("bst14.lem6.1", FIRST): walk_steps,
    ("bst14.lem6.4", FIRST): partial(convex_set_steps, boosted=False),
    ("bst14.lem6.5", FIRST): partial(convex_set_steps, boosted=True),
    ("bst14.thmA.1", "Algorithm 8, inline 1"): net_points,
    ("bst14.thmA.1", FIRST): net_risk,
    ("bst14.thmE.1.1", "statement, inline 1"): partial(objective_weight, 0.0),
    ("bst14.thmE.1.1", FIRST): partial(objective_risk, 0.0),
    ("bst14.thmE.1.2", "statement, inline 1"): partial(objective_weight, DELTA),
    ("bst14.thmE.1.2", FIRST): partial(objective_risk, DELTA),
    ("bst14.thmE.2.1", "statement, inline 2"): partial(objective_convex_risk, 0.0),
    ("bst14.thmE.2.2", "statement, inline 2"): partial(objective_convex_risk, DELTA),
    ("bst14.thmB.1", FIRST): worse_data,
    ("bst14.lemB.2", "statement, inline 1"): least_delta,
    ("bst14.lemB.2", FIRST): partial(bad_data, 1),
    ("bst14.lemB.3", FIRST): partial(bad_data, 2),
}
