"""Algorithms of bst14 on pairs and data: what the rows of the table audit. Risks are sums over the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import (
    HuberizedObjectivePerturbation,
    first_bad_data,
    first_bad_risk,
    second_bad_data,
    second_bad_risk,
)
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.samplers.cell_walks import Cells, law_after, rounding
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.ledger.records import Interval
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Problem,
    Ridge,
    load,
)
from dpverify.problems.further_losses import HuberizedPositivePart
from dpverify.running import Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import (
    Constructed,
    linear_neighbors,
    linear_pair,
    longest_record_at,
    made,
    mean_neighbors,
    mean_problem,
    real_loss,
    real_neighbors,
    real_problem,
)
from dpverify.statements.audit_rows import Expectation, Law, On, Risk
from dpverify.statements.bst14.audits import laws
from dpverify.statements.bst14.audits.laws import DELTA, NOISES, WALK_EPSILON, on_cube, walk_on_line, walked


def _one_of(left: Dataset, place: int, words: str) -> Constructed:
    """Records in one dimension, one of which is replaced by its opposite."""
    return Constructed(left, left.replace(place, [-1.0], 1.0), words)


# ------------------------------------------------------------------------------------------ Algorithm 1


def descent(name: str) -> On:
    """A few steps on two records: the accountant's whole profile is claimed, which shows more than one point of it."""
    pair = linear_pair(name, 2, 4)
    mechanism = NoisyGradientDescent(Problem(pair.loss, Ball(pair.left.d, 1.0)), 2.0, 0.01)
    return On(mechanism, pair, "sharpest")


def descent_risk(name: str) -> Iterator[Risk]:
    """Theorem 2.4 (1). At the epsilon of the privacy audits, the bound is above every risk on the set."""
    for n in (8, 16, 32):
        problem, data = real_problem(name, n=n, d=5)
        said = f"{name}, n records, d = 5, epsilon = 8"
        yield Risk(NoisyGradientDescent(problem, 8.0, DELTA), data, said, float(n))


def convex_descent_risk() -> Iterator[Risk]:
    """Theorem 2.4 (2) for the mean of n records, as n grows."""
    for n in (8, 16, 32, 64):
        mechanism = NoisyGradientDescent(mean_problem(2, 1.0), 8.0, DELTA, step_size="strongly-convex")
        said = "mean of n records of breast-cancer, d = 2, epsilon = 8"
        yield Risk(mechanism, load("breast-cancer", n=n, d=2), said, float(n))


def descent_steps() -> tuple[NoisyGradientDescent, Dataset]:
    """On few records, for n^2 steps."""
    problem, data = real_problem("breast-cancer", n=32, d=5)
    return NoisyGradientDescent(problem, 2.0, DELTA), data


# ------------------------------------------------------------------------------------------ exponential mechanisms

EPSILON, NET_EPSILON = 2.0, 4.0


def sampling(problem: Problem) -> ExponentialSampling:
    """Algorithm 2."""
    return ExponentialSampling(problem, EPSILON)


def coarse_net(problem: Problem) -> NetMechanism:
    """Algorithm 8 on a net of a fixed radius."""
    return NetMechanism(problem, NET_EPSILON, cover_radius=0.05)


def one_sided() -> Constructed:
    """Linear losses, all on one side but for one record on the other data set.

    More records push the largest log-ratio nearer to epsilon, but to where hardly any run goes.
    """
    n = 2
    left = made(np.ones((n, 1)), "linear losses of one sign")
    return _one_of(left, n, f"{n} linear losses with slope 1, on one data set the last one has slope -1")


def exponential(make: Callable[[Problem], Any], name: str) -> On:
    """Two records with linear losses: among more, or with others, one record moves no likely event by much."""
    pair = one_sided() if name == "worst-case" else linear_neighbors(name, n=2, d=1)
    mechanism = make(Problem(Linear(), Ball(1, 1.0)))
    stated = mechanism.guarantees(pair.left.n)
    known = None if stated.sharpest is stated.headline else stated.sharpest.guarantee
    return On(mechanism, pair, best_known=known)


def sampling_risk(name: str) -> Iterator[Risk]:
    """2 p L ||C|| / epsilon, which does not grow with n; for digits their mean in 64 dimensions, in closed form."""
    for n in (32, 128, 400):
        problem, data = mean_problem(64, 1.0), load(name, n=n, d=None if name == "digits" else 3)
        if name != "digits":
            problem = Problem(real_loss(name), Ball(3, 1.0))
        said = f"{name}, n records, d = {data.d}, epsilon = {EPSILON:g}"
        yield Risk(sampling(problem), data, said, float(n))


def corner_risk() -> Iterator[Risk]:
    """A linear loss on a cube: the minimizer is a corner, and the bound is nearly reached."""
    said = f"breast-cancer, n records, d = 3, linear losses on a cube, epsilon = {EPSILON:g}"
    for n in (64, 256, 569):
        problem = Problem(Linear(labeled=True), Box.cube(3, 0.5))
        yield Risk(sampling(problem), load("breast-cancer", n=n, d=3), said, float(n))


def quadratic_sampling() -> tuple[ExponentialSampling, Dataset]:
    """On digits."""
    return sampling(mean_problem(64, 1.0)), load("digits", n=200)


def cell_sampling() -> tuple[ExponentialSampling, Dataset]:
    """By certified rejection."""
    problem, data = real_problem("breast-cancer", n=100, d=2)
    return sampling(problem), data


def net_risk(name: str) -> Iterator[Risk]:
    """Theorem A.1."""
    for n in (16, 64, 128):
        problem, data = real_problem(name, n=n, d=2)
        said = f"{name}, n records, d = 2, epsilon = {EPSILON:g}"
        yield Risk(NetMechanism(problem, EPSILON), data, said, float(n))


def net_values() -> tuple[NetMechanism, Dataset]:
    """On least squares."""
    problem, data = real_problem("diabetes", n=64, d=2)
    return NetMechanism(problem, EPSILON), data


# ------------------------------------------------------------------------------------------ walks


@dataclass(frozen=True)
class CellLaws:
    """Smallest epsilon of a grid walk on an interval, on two neighbors, by the laws of the cell after all steps.

    Given the cell, a point is uniform in it on both sides. At delta 0 the largest log-ratio of the two laws, up to
    rounding; at other deltas an upper bound.
    """

    mechanism: Any
    left: Dataset
    right: Dataset

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats."""
        sampler = getattr(self.mechanism, "boosted", self.mechanism)
        n = self.left.n
        plan, steps = sampler.plan(n), sampler.step_count(n)
        cells = Cells(plan.dimension, plan.cells_per_side)
        box = sampler.problem.constraint
        centers = box.lower[0] + plan.spacing * (np.arange(cells.count)[:, None] + 0.5)
        left, right = (
            law_after(cells, -sampler.scale * sampler.problem.total_risk(centers, data), steps)
            for data in (self.left, self.right)
        )
        largest = float(np.max(np.abs(np.log(left) - np.log(right))))
        error = 4 * rounding(cells, steps)
        return Interval(lower=max(largest - error, 0.0) if delta == 0 else 0.0, upper=largest + error)

    def weakened(self, factor: float, delta: float) -> Interval:
        """Of the same with its exponent times a factor."""
        return replace(self, mechanism=self.mechanism.sharpened(self.left.n, factor))(delta)


def walk(kind: Any, n: int, name: str) -> On:
    """A sampler on an interval, on a pair with linear losses; nearly all of epsilon is for the exponent if it can be.

    Walks come nearer than is proved, so what they are given is never seen.
    """
    pair = linear_pair(name, n)
    distance = {GridWalk: 0.1, BoostedSampling: 0.2}.get(kind, 0.0)
    mechanism = walked(kind, Problem(pair.loss, Box.cube(1, 1.0)), distance)
    laws = CellLaws(mechanism, pair.left, pair.right)
    return On(mechanism, pair, exact=laws, exact_weakened=laws.weakened)


def walk_values(kind: type, n: int, d: int) -> tuple[Any, Dataset]:
    """Taken step by step, so that evaluations are counted where they are made."""
    problem, data = on_cube("breast-cancer", n, d)
    return replace(walked(kind, problem), simulation="steps"), data


def walk_risk(name: str) -> Iterator[Risk]:
    """Theorem 3.4 (2) with the constant that a convex risk gives."""
    for n in (2, 8, 32):
        problem, data = on_cube(name, n, 1)
        mechanism = EfficientExponentialSampling(problem, WALK_EPSILON)
        yield Risk(mechanism, data, f"{name}, n records, d = 1", float(n))


def in_ball(runs: Runs) -> NDArray[np.float64]:
    """Whether each point is in the unit ball."""
    inside: NDArray[np.float64] = (np.linalg.norm(runs.points, axis=1) <= 1.0).astype(np.float64)
    return inside


def inside(kind: Any, name: str, least: float, claim: str, origin: AsPrinted) -> Iterator[Expectation]:
    """On a disk, where the proved number of steps is out of reach: a coarser and shorter walk."""
    problem, data = Problem(real_loss(name), Ball(2, 1.0)), load(name, n=5, d=2)
    mechanism = kind(problem, 0.5, 0.5, cells=16, steps=20_000, withdraw_guarantee=True)
    said = f"{name}, 5 records, d = 2; 16 cells per side, 20,000 steps, fewer than the proven number"
    quantity = "P[the point is in C]"
    yield Expectation(mechanism, data, in_ball, 0.0, 1.0, quantity, least, claim, origin, said, at_least=True)


def half_inside(name: str) -> Iterator[Expectation]:
    """Lemma 6.4."""
    origin = AsPrinted("bst14.lem6.4", "at least 1/2", "the proven number of steps; fewer are taken here")
    return inside(SamplingInConvexSet, name, 0.5, "at least 1/2", origin)


def never_left() -> Iterator[Expectation]:
    """Algorithm 6: all points are in C."""
    origin = AsPrinted("bst14.lem6.5", "the output is in C", "every number of steps")
    return inside(BoostedSampling, "breast-cancer", 1.0, "1", origin)


# ------------------------------------------------------------------------------------------ perturbations

FEATURES = 3


def ridge(name: str, n: int, d: int, weight: float) -> tuple[Problem, Dataset]:
    """Ridge regression on a real data set."""
    problem, data = real_problem(name, n=n, d=d)
    return Problem(Ridge.on(problem.constraint, problem.loss, weight), problem.constraint), data


def perturbed_mean() -> OutputPerturbation:
    """On a line."""
    return OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), 1.0)


def perturbed(name: str) -> On:
    """Of real records; in the worst case means at distance 2/n in one dimension: two Laplace laws."""
    if name != "worst-case":
        return On(perturbed_mean(), mean_neighbors(name, n=8, d=1))
    words = "the mean of n equal records, one of them replaced by its opposite"
    return On(perturbed_mean(), _one_of(made(np.ones((8, 1)), "equal records"), 8, words))


def _perturbed(name: str, mechanism: Any, data: Dataset) -> Risk:
    said = f"{name}, n records, d = {FEATURES}, epsilon = {mechanism.epsilon:g}"
    return Risk(mechanism, data, said, float(data.n))


def output_risk(name: str) -> Iterator[Risk]:
    """On a ridge regression."""
    for n in (50, 100, 200):
        problem, data = ridge(name, n, FEATURES, 0.1)
        yield _perturbed(name, OutputPerturbation(problem, 1.0), data)


@dataclass(frozen=True)
class Farther:
    """Whether each run's point is farther from a point than a radius."""

    point: tuple[float, ...]
    radius: float

    def __call__(self, runs: Runs) -> NDArray[np.float64]:
        """Shape (runs,)."""
        away = np.linalg.norm(runs.points - np.array(self.point), axis=1)
        return np.where(away > self.radius, 1.0, 0.0)


def missed_ball(name: str) -> Iterator[Expectation]:
    """theta* is outside of C_0 with no more than the exact probability for the noise's norm."""
    for zeta in (2.0, 1.1):
        problem, data = ridge(name, 100, FEATURES, 0.1)
        mechanism = OutputPerturbation(problem, 1.0, zeta=zeta)
        found = mechanism.minimum(data)
        yield Expectation(
            mechanism,
            data,
            Farther(tuple(found.point.tolist()), mechanism.ball_radius(data.n) + found.distance),
            0.0,
            1.0,
            "probability that theta* is outside of C_0",
            mechanism.failure_probability(data.n),
            "P[Gamma(p) > zeta p]",
            Corrected(
                "bst14.lem4.2",
                f"exp(-zeta) = {mechanism.printed_failure_probability(data.n):.4g}",
                "exact probability of the noise's norm; the printed one is too small for zeta near 1 from p = 2 on",
                "every zeta > 1",
            ),
            f"{name}, n = {data.n}, p = {FEATURES}, zeta on the axis",
            size=zeta,
        )


def objective(name: str, noise: str) -> On:
    """Linear losses of a few real records, whose objective bends by its regularization alone."""
    delta = 1e-3 if NOISES[noise] else 0.0
    pair = linear_neighbors(name, n=4, d=1)
    problem = Problem(pair.loss, Ball(1, 1e4))
    return On(ObjectivePerturbation(problem, 2.0, delta, regularization=1.0), pair, "sharpest")


def objective_worst(noise: str) -> On:
    """One record in one dimension that bends where its neighbor, of opposite slope, does not."""
    delta = 0.01 if NOISES[noise] else 0.0
    problem = Problem(HuberizedPositivePart(0.5), Box((-1000.0,), (1000.0,)))
    words = "one record of a huberized hinge in one dimension, and its mirror image"
    pair = _one_of(made([[1.0]], "one record"), 1, words)
    return On(ObjectivePerturbation(problem, 1.0, delta), pair, "sharpest")


def objective_risk(name: str, noise: str) -> Iterator[Risk]:
    """Theorem E.1 on breast cancer, E.2 on a ridge regression of diabetes."""
    for n in (50, 100, 200):
        plain = real_problem(name, n=n, d=FEATURES)
        problem, data = plain if name == "breast-cancer" else ridge(name, n, FEATURES, 0.1)
        yield _perturbed(name, ObjectivePerturbation(problem, 1.0, NOISES[noise]), data)


def objective_rate(noise: str) -> Iterator[Risk]:
    """Theorem E.2 on the mean of real records, whose bound is attained where no end of the set is reached.

    With such an epsilon less than one run in a thousand reaches the end of the set, which would flatten the rate.
    """
    for n in (12, 24, 48):
        delta = NOISES[noise]
        mechanism = ObjectivePerturbation(mean_problem(FEATURES, 1.0), 3.0 if delta == 0 else 9.0, delta)
        yield _perturbed("mean of breast-cancer", mechanism, load("breast-cancer", n=n, d=FEATURES))


def huberized(noise: str) -> On:
    """One real record in one dimension, with ends of the set that are never reached."""
    ends, delta = Box((-1000.0,), (1000.0,)), 0.1 if NOISES[noise] else 0.0
    mechanism = HuberizedObjectivePerturbation(0.5, 1.0, delta, ends)
    pair = real_neighbors(mechanism.smoothed, longest_record_at("breast-cancer", 1, n=1, d=1), 1)
    return On(mechanism, pair, "sharpest")


@dataclass(frozen=True)
class ExcessRisk:
    """A run's excess total risk over that at a known minimizer."""

    problem: Problem
    data: Dataset
    minimizer: float

    def __call__(self, runs: Runs) -> Any:
        """Shape (runs,)."""
        return self.at(runs.points)

    def at(self, points: Any) -> Any:
        """Of points."""
        lowest = self.problem.total_risk(np.array([[self.minimizer]]), self.data)[0]
        return np.maximum(self.problem.total_risk(points, self.data) - lowest, 0.0)


def bad_data(which: int, printed: bool) -> Iterator[Expectation]:
    """The bad data sets, for h = 1/sqrt(n), where both lower bounds are of the order sqrt(n / epsilon)."""
    claim, because = "n min(1, h/3) / 6", "the constant of the lower bound is written out"
    origin = Corrected("bst14.lemB.2", "Omega(min(n, n h))", because, "every n that is a multiple of 3")
    if which == 2:
        claim = "3/8 of the slope min(n, Delta / 4)"
        origin = Corrected("bst14.lemB.3", "Omega(min(n, 1 / (epsilon h)))", because, "h <= 3/4")
    for n in (75, 300, 1200):
        width, epsilon = 1 / math.sqrt(n), 0.5
        mechanism = HuberizedObjectivePerturbation(
            width, epsilon, float(n) ** -4, printed=printed, withdraw_guarantee=printed
        )
        ridge = mechanism.perturbation.regularization_at(n)
        data, minimizer, bound = first_bad_data(n), -1.0, first_bad_risk(n, width=width)
        if which == 2:
            data, minimizer = second_bad_data(n, regularization=ridge), 1.0
            bound = second_bad_risk(n, width=width, regularization=ridge)
        excess = ExcessRisk(mechanism.problem, data, minimizer)
        said = f"{data.name}, h = 1/sqrt(n), epsilon = {epsilon:g}, delta = n^-4"
        yield Expectation(
            mechanism,
            data,
            excess,
            0.0,
            float(np.max(excess.at(np.array([[-2.0], [2.0]])))),
            "expected excess risk (sum over records)",
            bound,
            claim,
            origin,
            f"{said}, parameters as printed" if printed else said,
            at_least=True,
            size=float(n),
        )


# ------------------------------------------------------------------------------------------ real size


def _walk_at(kind: type, n: int, d: int) -> Any:
    return walk_on_line(kind, on_cube(real_size.DATA, n, d)[0])


def _net_at(n: int, d: int) -> NetMechanism:
    return NetMechanism(real_size.logistic(d), EPSILON)


REFUSED: dict[str, Callable[[int, int], Any]] = {
    **{
        kind.id: partial(_walk_at, kind)
        for kind in (GridWalk, SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling)
    },
    NetMechanism.id: _net_at,
}
"""What is too costly on all records and features, as its costs grow by n^3 and faster, or exponentially with the

dimension: from n and d to the mechanism. It is audited with one or two features, on as many records as are not refused.
"""


def law_at_size(kind: Any) -> Law:
    """The law in one dimension, on the most records that are not refused."""
    return laws.walk(kind, real_size.largest(REFUSED[kind.id]), real_size.DATA)


def net_at_size() -> tuple[Risk, ...]:
    """All records, with as many features as have a net of at most so many points."""
    d = 1
    while real_size.refusal(_net_at, real_size.SIZE, d + 1) is None:
        d += 1
    make, data = partial(_net_at, real_size.SIZE, d), partial(load, real_size.DATA, d=d)
    return real_size.risk_case(make, data)()
