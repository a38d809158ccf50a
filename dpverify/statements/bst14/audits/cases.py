"""Algorithms of bst14 on pairs and data: what the rows of the table audit. Risks are sums over the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.bst14 import (
    ApproximateLocalization,
    BoostedSampling,
    Boosting,
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
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation
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
    minimize,
    opposite_neighbor,
)
from dpverify.problems.further_losses import HuberizedPositivePart
from dpverify.running import Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import (
    linear_pair,
    longest_replaced,
    made,
    mean_neighbors,
    mean_problem,
    one_turned,
    real_loss,
    real_problem,
)
from dpverify.statements.audit_rows import Expectation, On, OnLinear, ReadOff
from dpverify.statements.bst14.audits.laws import DELTA, NOISES, walked


def ridge(
    name: str, *, n: int | None = None, d: int | None = None, weight: float = 0.5
) -> tuple[Problem, Dataset]:
    """Ridge regression on a real data set."""
    problem, data = real_problem(name, n=n, d=d)
    return Problem(Ridge.on(problem.constraint, problem.loss, weight), problem.constraint), data


def outside(point: Any, radius: float, quantity: str) -> ReadOff:
    """Whether each run's point is farther from a point than a radius."""
    return ReadOff(
        lambda runs: np.where(np.linalg.norm(runs.points - point, axis=1) > radius, 1.0, 0.0),
        0.0,
        1.0,
        quantity,
    )


# a few steps on two records, where the accountant's profile shows more than one point of it
descent = OnLinear(lambda p, n: NoisyGradientDescent(p, 2.0, 0.01), 2, 4)

# ------------------------------------------------------------------------------------------ exponential mechanisms

EPSILON, NET_EPSILON = 2.0, 4.0


def sampling(problem: Problem, _: int = 0) -> ExponentialSampling:
    """Algorithm 2."""
    return ExponentialSampling(problem, EPSILON)


def _exponential(make: Callable[[Problem], Any], name: str) -> On:
    """Two records with linear losses: among more, or with others, one record moves no likely event by much.

    In the worst case all are on one side but for one record on the other data set. More records push the largest
    log-ratio nearer to epsilon, but to where hardly any run goes.
    """
    n, pair = 2, None
    words = f"{n} linear losses with slope 1, on one data set the last one has slope -1"
    mechanism = make(Problem(Linear(), Ball(1, 1.0)))
    if name == "worst-case":
        pair = one_turned(made(np.ones((n, 1)), "linear losses of one sign"), n, words)
    stated = mechanism.guarantees(n)
    known = None if stated.sharpest is stated.headline else stated.sharpest.guarantee
    return On(mechanism, pair or linear_pair(name, n), best_known=known)


sampled = partial(_exponential, sampling)
coarse_net = partial(_exponential, partial(NetMechanism, epsilon=NET_EPSILON, cover_radius=0.05))


def linear_on_cube(name: str, *, n: int | None, d: int) -> tuple[Problem, Dataset]:
    """A linear loss on a cube: the minimizer is a corner, and the bound is nearly reached."""
    return Problem(Linear(labeled=True), Box.cube(d, 0.5)), load(name, n=n, d=d)


# ------------------------------------------------------------------------------------------ walks


def cell_law(mechanism: Any, data: Dataset) -> tuple[Any, float]:
    """Of a grid walk's cell after all steps, on an interval: probabilities, and by which part they may be off."""
    sampler = getattr(mechanism, "boosted", mechanism)
    plan, steps = sampler.plan(data.n), sampler.step_count(data.n)
    cells = Cells(plan.dimension, plan.cells_per_side)
    box = sampler.problem.constraint
    centers = box.lower[0] + plan.spacing * (np.arange(cells.count)[:, None] + 0.5)
    law = law_after(cells, -sampler.scale * sampler.problem.total_risk(centers, data), steps)
    return law, 4 * rounding(cells, steps)


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
        (left, error), (right, _) = (cell_law(self.mechanism, data) for data in (self.left, self.right))
        largest = float(np.max(np.abs(np.log(left) - np.log(right))))
        return Interval(lower=max(largest - error, 0.0) if delta == 0 else 0.0, upper=largest + error)

    def weakened(self, factor: float, delta: float) -> Interval:
        """Of the same with its exponent times a factor."""
        return replace(self, mechanism=self.mechanism.sharpened(self.left.n, factor))(delta)


def _walk(kind: Any, n: int, name: str) -> On:
    """A sampler on an interval, on a pair with linear losses; nearly all of epsilon is for the exponent if it can be.

    Walks come nearer than is proved, so what they are given is never seen.
    """
    pair = linear_pair(name, n)
    distance = {GridWalk: 0.1, BoostedSampling: 0.2}.get(kind, 0.0)
    mechanism = walked(kind, Problem(pair.loss, Box.cube(1, 1.0)), distance)
    return On(mechanism, pair, exact=CellLaws(mechanism, pair.left, pair.right))


grid_walk, boosted_walk = partial(_walk, GridWalk, 2), partial(_walk, BoostedSampling, 2)
efficient, efficient_on_more = (partial(_walk, EfficientExponentialSampling, n) for n in (2, 4))


def by_steps(kind: type) -> Callable[[Problem, int], Any]:
    """Taken step by step, so that evaluations are counted where they are made."""
    return lambda problem, n: replace(walked(kind, problem), simulation="steps")


def inside(kind: Any, name: str, least: float, claim: str, origin: AsPrinted) -> Iterator[Expectation]:
    """On a disk, where the proved number of steps is out of reach: a coarser and shorter walk."""
    problem, data = Problem(real_loss(name), Ball(2, 1.0)), load(name, n=5, d=2)
    mechanism = kind(problem, 0.5, 0.5, cells=16, steps=20_000, withdraw_guarantee=True)
    said = f"{name}, 5 records, d = 2; 16 cells per side, 20,000 steps, fewer than the proven number"

    def in_ball(runs: Runs) -> Any:
        return (np.linalg.norm(runs.points, axis=1) <= 1.0).astype(np.float64)

    reading = ReadOff(in_ball, 0.0, 1.0, "P[the point is in C]")
    yield Expectation(mechanism, data, reading, least, claim, origin, said, at_least=True)


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


def perturbed(name: str) -> On:
    """Of real records on a line; in the worst case means at distance 2/n: two Laplace laws."""
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), 1.0)
    if name != "worst-case":
        return On(mechanism, mean_neighbors(name, n=8, d=1))
    words = "the mean of n equal records, one of them replaced by its opposite"
    return On(mechanism, one_turned(made(np.ones((8, 1)), "equal records"), 8, words))


def missed_ball() -> Iterator[Expectation]:
    """theta* is outside of C_0 with no more than the exact probability for the noise's norm."""
    problem, data = ridge("breast-cancer", n=100, d=FEATURES, weight=0.1)
    for zeta in (2.0, 1.1):
        mechanism = OutputPerturbation(problem, 1.0, zeta=zeta)
        found, printed = mechanism.minimum(data), mechanism.printed_failure_probability(data.n)
        radius = mechanism.ball_radius(data.n) + found.distance
        yield Expectation(
            mechanism,
            data,
            outside(found.point, radius, "probability that theta* is outside of C_0"),
            mechanism.failure_probability(data.n),
            "P[Gamma(p) > zeta p]",
            Corrected(
                "bst14.lem4.2",
                f"exp(-zeta) = {printed:.4g}",
                "exact probability of the noise's norm; the printed one is too small for zeta near 1 from p = 2 on",
                "every zeta > 1",
            ),
            f"breast-cancer, n = {data.n}, p = {FEATURES}, zeta on the axis",
            zeta,
        )


def objective(noise: str, name: str) -> On:
    """Linear losses of a few real records, whose objective bends by its regularization alone."""
    delta = 1e-3 if NOISES[noise] else 0.0
    pair = linear_pair(name, 4)
    problem = Problem(pair.loss, Ball(1, 1e4))
    return On(ObjectivePerturbation(problem, 2.0, delta, regularization=1.0), pair, "sharpest")


def objective_worst(noise: str) -> On:
    """One record in one dimension that bends where its neighbor, of opposite slope, does not."""
    delta = 0.01 if NOISES[noise] else 0.0
    problem = Problem(HuberizedPositivePart(0.5), Box((-1000.0,), (1000.0,)))
    words = "one record of a huberized hinge in one dimension, and its mirror image"
    pair = one_turned(made([[1.0]], "one record"), 1, words)
    return On(ObjectivePerturbation(problem, 1.0, delta), pair, "sharpest")


def huberized(noise: str) -> On:
    """One real record in one dimension, with ends of the set that are never reached."""
    ends, delta = Box((-1000.0,), (1000.0,)), 0.1 if NOISES[noise] else 0.0
    mechanism = HuberizedObjectivePerturbation(0.5, 1.0, delta, ends)
    return On(mechanism, longest_replaced(mechanism.smoothed.loss, "breast-cancer", 1, 1), "sharpest")


def _bad_data(which: int, printed: bool) -> Iterator[Expectation]:
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
        said = f"{data.name}, h = 1/sqrt(n), epsilon = {epsilon:g}, delta = n^-4"
        yield Expectation(
            mechanism,
            data,
            _excess(mechanism.problem, data, minimizer),
            bound,
            claim,
            origin,
            f"{said}, parameters as printed" if printed else said,
            float(n),
            at_least=True,
        )


bad_1, bad_2 = partial(_bad_data, 1, False), partial(_bad_data, 2, False)
bad_1_printed, bad_2_printed = partial(_bad_data, 1, True), partial(_bad_data, 2, True)


def _excess(problem: Problem, data: Dataset, minimizer: float) -> ReadOff:
    """Excess total risk on [-2, 2] over that at a known minimizer."""
    lowest = problem.total_risk(np.array([[minimizer]]), data)[0]

    def excess(points: Any) -> Any:
        return np.maximum(problem.total_risk(points, data) - lowest, 0.0)

    most = float(np.max(excess(np.array([[-2.0], [2.0]]))))
    return ReadOff(lambda runs: excess(runs.points), 0.0, most, "expected excess risk (sum over records)")


# ------------------------------------------------------------------------------------------ localization


def _mean_of_two(make: Callable[[Problem], Any], name: str) -> On:
    """The mean of two real records in one dimension; in the worst case of two equal ones, one of them replaced."""
    problem = mean_problem(1, 1.0)
    if name != "worst-case":
        return On(make(problem), mean_neighbors(name, n=2, d=1))
    return On(make(problem), opposite_neighbor(problem.loss, made(np.ones((2, 1)), "two equal records"), 2))


# in a small ball, where twice the budget would be seen, whichever step took it
sampled_locally = partial(_mean_of_two, partial(Localization, epsilon=3.0, zeta=1.1))
walked_locally = partial(
    _mean_of_two, partial(Localization, epsilon=3.0, solver="efficient-exponential-sampling", zeta=1.1)
)
descended_locally = partial(_mean_of_two, partial(ApproximateLocalization, epsilon=3.0, delta=0.05))


def _outside_ball(
    localize: Callable[[Problem], Any], statement: str, choice: str, given: str
) -> Iterator[Expectation]:
    """How often the minimizer is outside of the ball, at sizes where that can be seen."""
    for n in (4, 8, 16):
        problem, data = ridge("breast-cancer", n=n, d=2)
        localizer, center = localize(problem), minimize(problem, data).point
        quantity = "probability that the minimizer is outside of C0, dimensionless"
        yield Expectation(
            localizer,
            data,
            outside(center, localizer.ball_radius(n), quantity),
            n**-3.0,
            f"1/n^3, by {choice}",
            AsPrinted(statement, f"1/n^3 = {n**-3.0:.4g}", choice),
            f"{data.name}, n records, d = 2, {given}",
            float(n),
        )


def gamma_ball() -> Iterator[Expectation]:
    """Of output perturbation."""
    make = partial(OutputPerturbation, epsilon=200.0)
    return _outside_ball(make, "bst14.lem4.2", "zeta = 3 ln n", "epsilon/2 = 200")


def gaussian_ball() -> Iterator[Expectation]:
    """Of Gaussian output perturbation."""
    make = partial(GaussianOutputPerturbation, epsilon=200.0, delta=DELTA)
    return _outside_ball(make, "bst14.thmC.2", "zeta = sqrt(3 ln n) for p >= 2", "epsilon = 200")


# ------------------------------------------------------------------------------------------ boosting

FAILURE = 0.1
"""rho, the failure probability that boosting is asked for."""


def twice(single: Any) -> Boosting:
    """Run twice; a fifth of epsilon is for the pick."""
    return Boosting(single, FAILURE, repeats=2, selection_share=0.2)


def boosted_mean(name: str) -> On:
    """Output perturbation for the mean of four real records in one dimension."""
    return On(twice(OutputPerturbation(mean_problem(1, 1.0), 2.0)), mean_neighbors(name, n=4, d=1))


# a delta at which little noise is enough, so that some thousand runs show what one step gives away
boosted_line = OnLinear(lambda p, n: twice(NoisyGradientDescent(p, 2.0, 0.01)), 2, claim="headline")


def _boosted_ridge(problem: Problem, _: int) -> Boosting:
    """Linear losses with a ridge just strong enough to have minimizers on a line that one record moves."""
    bent = Problem(Ridge.on(problem.constraint, problem.loss, 0.3), problem.constraint)
    return twice(OutputPerturbation(bent, 2.0))


boosted_pure_line = OnLinear(_boosted_ridge, 4, claim="headline")


def risk_above(mechanism: Any, data: Dataset, said: str, size: float = 0.0) -> Expectation:
    """With probability at least 1 - rho the risk is below the quantile that is stated."""
    problem, stated = mechanism.problem, mechanism.risk_quantile(data.n, 1 - FAILURE)
    bound, least = stated.bound, data.n * minimize(problem, data).value.upper

    def above(runs: Runs) -> Any:
        """For certain."""
        return np.where(np.asarray(problem.total_risk(runs.points, data)) - least > bound, 1.0, 0.0)

    return Expectation(
        mechanism,
        data,
        ReadOff(above, 0.0, 1.0, "probability that the excess total risk is above the bound, dimensionless"),
        FAILURE,
        f"rho = {FAILURE:g}, for {stated.formula} = {bound:.4g}",
        stated.origin,
        said,
        size,
    )


LIKELY: dict[str, tuple[Callable[[Problem], Any], str]] = {
    "boosted": (
        lambda problem: Boosting(OutputPerturbation(problem, 40.0), FAILURE),
        "output perturbation, epsilon = 40",
    ),
    "sampled": (lambda problem: ExponentialSampling(problem, 2.0), "epsilon = 2"),
    "perturbed": (lambda problem: OutputPerturbation(problem, 8.0), "epsilon = 8"),
    "local": (lambda problem: Localization(problem, 8.0, zeta=4.0), "epsilon = 8, zeta = 4"),
    "net": (lambda problem: NetMechanism(problem, 4.0), "epsilon = 4"),
    "objective": (lambda problem: ObjectivePerturbation(problem, 4.0), "epsilon = 4"),
}
"""What states a quantile of its risk, and its parameters in words."""


def likely(which: str, name: str) -> Iterator[Expectation]:
    """On a ridge regression."""
    make, words = LIKELY[which]
    for n in (16, 32, 64):
        problem, data = ridge(name, n=n, d=2)
        yield risk_above(make(problem), data, f"{data.name}, n records, d = 2, {words}", float(n))


# ------------------------------------------------------------------------------------------ real size


def boosted_at_size() -> Iterator[Expectation]:
    """At an epsilon at which the bound is below the largest risk."""
    data = real_size.whole()
    said = f"{data.name}, {data.n} records of {data.d} features, output perturbation"
    yield risk_above(Boosting(OutputPerturbation(real_size.mean(), 40.0), FAILURE), data, said)
