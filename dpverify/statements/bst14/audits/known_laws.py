"""Algorithms of bst14 on a line, with the laws of their outputs, on pairs that nearly give away what is proved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from scipy.special import gammaincc, gammainccinv, ndtr

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
)
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation
from dpverify.auditing.white_box import StatedLaw
from dpverify.problems import AllSpace, Ball, Box, Dataset, HalfSquaredDistance, Linear, Problem, Ridge
from dpverify.problems.further_losses import HuberizedPositivePart
from dpverify.statements import real_size
from dpverify.statements.audit_laws import (
    about_noisy_center,
    averaged_draws,
    best_of_two,
    by_density,
    cosine,
    laplace,
    nearer,
    normal_mixture,
    on_ball,
    on_points,
)
from dpverify.statements.audit_parts import (
    Constructed,
    first_coordinate,
    longest_replaced,
    made,
    mean_problem,
    one_turned,
)
from dpverify.statements.audit_rows import On
from dpverify.statements.bst14.audits.cases import EPSILON, NET_EPSILON, CellLaws, cell_law
from dpverify.statements.bst14.audits.laws import DELTA, localized_sampling, walked


def _one_sided(n: int) -> Constructed:
    """Linear losses of slope -1, and the last one turned: the density falls towards where one record says most."""
    words = f"{n} linear losses with slope -1, on one data set the last one has slope 1"
    return one_turned(made(-np.ones((n, 1)), "linear losses of one sign"), n, words)


# ------------------------------------------------------------------------------------------ exponential mechanisms


def _on_line(problem: Problem, data: Dataset, scale: float) -> Callable[[Any], Any]:
    """The logarithm of the density at points of a line."""
    return lambda x: -scale * np.asarray(problem.total_risk(np.asarray(x)[:, None], data))


def sampled() -> On:
    """Algorithm 2 on many records of one side: the pair's epsilon is 2 - ln(n / (n - 2)), nearly."""
    mechanism = ExponentialSampling(Problem(Linear(), Ball(1, 1.0)), EPSILON)

    def law(data: Dataset, factor: float) -> StatedLaw:
        return by_density(_on_line(mechanism.problem, data, factor * mechanism.scale), -1.0, 1.0)

    return On(mechanism, _one_sided(24), law=law)


def net() -> On:
    """Algorithm 8, of which the law is finite."""
    mechanism = NetMechanism(Problem(Linear(), Ball(1, 1.0)), NET_EPSILON, 0.01)

    def law(data: Dataset, factor: float) -> StatedLaw:
        points = mechanism.net_for(data.n).points[:, 0]
        return on_points(points, _on_line(mechanism.problem, data, factor * mechanism.scale)(points))

    return On(mechanism, _one_sided(16), law=law)


def _walked(mechanism: Any, n: int) -> On:
    """A grid walk on an interval, by the law of the cell after all steps; given the cell, a point is uniform in it."""

    def law(data: Dataset, factor: float) -> StatedLaw:
        sampler = mechanism if factor == 1 else mechanism.sharpened(data.n, factor)
        box, plan = sampler.problem.constraint, sampler.plan(data.n)
        masses, relative = cell_law(sampler, data)
        edges = box.lower[0] + plan.spacing * np.arange(masses.size + 1)
        below = np.concatenate([[0.0], np.cumsum(masses)])
        # of events between edges; within a cell the law is uniform
        return StatedLaw(first_coordinate, lambda x: np.interp(x, edges, below), edges, relative=relative)

    pair = _one_sided(n)
    return On(mechanism, pair, exact=CellLaws(mechanism, pair.left, pair.right), law=law)


def _cube() -> Problem:
    return Problem(Linear(), Box.cube(1, 1.0))


def grid_walk() -> On:
    """As many records as a walk of the proved length can be afforded on."""
    return _walked(walked(GridWalk, _cube(), 0.1), 24)


def boosted_walk() -> On:
    return _walked(walked(BoostedSampling, _cube(), 0.2), 8)


def efficient() -> On:
    """Two thirds of epsilon are for the walk's distance from its target, of which it has next to none."""
    return _walked(walked(EfficientExponentialSampling, _cube()), 48)


# ------------------------------------------------------------------------------------------ perturbations


def perturbed() -> On:
    """Algorithm 3 for a mean on a line: two Laplace laws, as far apart as they may be."""
    n = 8
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), 1.0)
    words = "the mean of n equal records, one of them replaced by its opposite"
    pair = one_turned(made(np.ones((n, 1)), "equal records"), n, words)

    def law(data: Dataset, factor: float) -> StatedLaw:
        center, scale = float(mechanism.minimum(data).point[0]), mechanism.scale(n) / factor
        cuts = center + scale * np.linspace(-15.0, 15.0, 601)
        return StatedLaw(first_coordinate, lambda x: laplace((x - center) / scale), cuts)

    return On(mechanism, pair, law=law)


def _minimizers(mechanism: ObjectivePerturbation, data: Dataset, factor: float) -> StatedLaw:
    """Objective perturbation on a line: theta <= u exactly if b >= -F'(u), F being the objective without b.

    What hides the minimizer's error blurs this by its quantile at 1e-12, which moves probabilities by at most that
    times the density of b and the objective's largest second derivative.
    """
    n, problem = data.n, mechanism.problem
    scale, ridge = mechanism.noise_scale_at(n) / factor, mechanism.regularization_at(n)
    noise: Callable[[Any], Any] = laplace if mechanism.delta == 0 else ndtr

    def distribution(u: Any) -> Any:
        slopes = n * np.asarray(problem.mean_gradient(np.asarray(u)[:, None], data))[:, 0]
        return noise((slopes + ridge * u) / scale)

    blur = 28 * mechanism.hiding_scale(n) + mechanism.accuracy_at(n)
    steepest = n * problem.constants.smoothness + ridge
    width = 15 * scale / mechanism.convexity(n) + n * problem.constants.lipschitz_constant / ridge
    cuts = np.linspace(-width, width, 4001)
    return StatedLaw(first_coordinate, distribution, cuts, blur * steepest / (2 * scale) + 1e-12)


def objective() -> On:
    """A record of a huberized hinge that bends where its neighbor, of opposite slope, does not."""
    problem = Problem(HuberizedPositivePart(0.5), Box((-1000.0,), (1000.0,)))
    mechanism = ObjectivePerturbation(problem, 1.0)
    pair = one_turned(made([[1.0]], "one record"), 1, "one record of a huberized hinge, and its mirror image")
    return On(mechanism, pair, "sharpest", law=partial(_minimizers, mechanism))


def huberized() -> On:
    """The same through the algorithm of Appendix B."""
    mechanism = HuberizedObjectivePerturbation(0.5, 1.0, 0.0, Box((-1000.0,), (1000.0,)))
    pair = one_turned(made([[1.0]], "one record"), 1, "one record of a huberized hinge, and its mirror image")
    return On(mechanism, pair, "sharpest", law=partial(_minimizers, mechanism.perturbation))


def boosted() -> On:
    """Two runs of Algorithm 2 and a pick with a third of epsilon.

    A far point is released if both runs are there, or one is and is picked, which costs as much: a pair shows two
    thirds of epsilon at most in this way, whatever the share is.
    """
    mechanism = Boosting(
        ExponentialSampling(Problem(Linear(), Ball(1, 1.0)), EPSILON), 0.1, repeats=2, selection_share=1 / 3
    )

    def law(data: Dataset, factor: float) -> StatedLaw:
        single: Any = mechanism.single
        rate = factor * mechanism.selection_rate
        at_once = by_density(_on_line(mechanism.problem, data, factor * single.scale), -1.0, 1.0)
        costs = _on_line(mechanism.problem, data, -rate)
        return best_of_two(at_once.distribution, costs, rate * data.n, -1.0, 1.0)

    return On(mechanism, _one_sided(32), law=law)


# ------------------------------------------------------------------------------------------ localization


def _with_ridge(n: int, minus: int) -> tuple[Problem, Constructed]:
    """Linear losses of both signs with a ridge, whose minimizer one record moves on a line."""
    problem = Problem(Ridge.on(Ball(1, 1.0), Linear(), 0.1), Ball(1, 1.0))
    slopes = np.ones((n, 1))
    slopes[:minus] = -1.0
    words = f"{n} linear losses with a ridge, {minus} of slope -1 and on one data set one more"
    return problem, one_turned(made(slopes, "linear losses of both signs"), n, words)


def localized() -> On:
    """Algorithm 4 with nine tenths of epsilon for the ball, far on the side from which a record turned away."""
    problem, pair = _with_ridge(40, 18)
    mechanism = Localization(problem, 3.0, zeta=2.5, localization_share=0.9)
    return On(mechanism, pair, law=partial(localized_sampling, mechanism))


def localized_approx() -> On:
    """Localization under (epsilon, delta) with most of both for the ball, and one step of Algorithm 1 in it."""
    problem, pair = _with_ridge(40, 18)
    n = pair.left.n
    mechanism = ApproximateLocalization(problem, 3.0, 0.01, localization_share=0.95, zeta=0.2, steps=1)
    solver: Any = mechanism.solver_at(n).mechanism

    def law(data: Dataset, factor: float) -> StatedLaw:
        stddev, ridge = mechanism.localizer.noise_stddev(n) / factor, problem.constants.strong_convexity
        rate = solver.rate(n, 1) * mechanism.local_diameter(n) / problem.constraint.diameter
        noise = rate * solver.noise_stddev(n) / factor
        slopes, counts = np.unique(np.asarray(data.features), return_counts=True)

        def inside(x: Any, at: Any, low: Any, high: Any) -> Any:
            ends = [at - rate * n * (slope + ridge * at) for slope in slopes]
            return sum(count / n * ndtr((x - end) / noise) for count, end in zip(counts, ends, strict=True))

        return about_noisy_center(
            lambda b: np.exp(-((b / stddev) ** 2) / 2) / (stddev * math.sqrt(2 * math.pi)),
            lambda b: ndtr(b / stddev),
            float(mechanism.localizer.minimum(data).point[0]),
            mechanism.radius(n),
            inside,
        )

    return On(mechanism, pair, law=law)


# ------------------------------------------------------------------------------------------ noisy gradient descent


def averaged() -> On:
    """Algorithm 1 by its rule for strongly convex losses: a mean of drawn records, and of their noises.

    All records are at one end and one of them is moved to the other, in a set so large that it is next to never left;
    epsilon is asked for so large a set's Lipschitz constant, and what is proved is far smaller.
    """
    n, steps, radius = 8, 8, 50.0
    problem = mean_problem(1, radius)
    mechanism = NoisyGradientDescent(problem, 800.0, DELTA, "strongly-convex", steps=steps)
    pair = one_turned(
        made(np.ones((n, 1)), "equal records"),
        n,
        f"{n} equal records, on one data set the last one is opposite",
    )

    def law(data: Dataset, factor: float) -> StatedLaw:
        share = float(np.mean(np.asarray(data.features) < 0))
        return averaged_draws(1.0, -1.0, share, steps, mechanism.noise_stddev(n) / (n * factor), radius)

    return On(mechanism, pair, "sharpest", law=law)


# ------------------------------------------------------------------------------------------ real size


def descent_at_size() -> On:
    """One step by the rule for strongly convex losses: a drawn record, and noise."""
    n, d, radius = real_size.SIZE, real_size.DIMENSION, 50.0
    mechanism = NoisyGradientDescent(mean_problem(d, radius), 1600.0, DELTA, "strongly-convex", steps=1)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        noise = mechanism.noise_stddev(n) / (n * factor)
        # a normal vector's length: the step ends in a ball of that radius
        left = float(scipy.stats.chi.sf((radius - 1) / noise, d))
        return normal_mixture(1 / n, records @ unit, noise, error=left, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def sampled_at_size() -> On:
    """Algorithm 2 on linear losses in a ball of any dimension."""
    mechanism = ExponentialSampling(real_size.linear(), 1.0)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        # nearly all of it is on the side where the sum of the records is not
        return on_ball(records.sum(axis=0), -unit, factor * mechanism.scale)

    return real_size.known(mechanism, law)


def _nearer(mechanism: Any, perturbation: OutputPerturbation, pick: float) -> On:
    """By how much a point is nearer to one data set's minimizer than to the other's: the logarithm of the ratio."""
    case = real_size.privacy(lambda: mechanism)()
    left, right = (np.asarray(perturbation.minimum(side).point) for side in (case.pair.left, case.pair.right))
    apart = float(np.linalg.norm(right - left))

    def closer(points: Any) -> Any:
        return (np.linalg.norm(points - right, axis=1) - np.linalg.norm(points - left, axis=1)) / apart

    def law(data: Dataset, factor: float) -> StatedLaw:
        scale, d = perturbation.scale(data.n) / factor, data.d
        first = data is case.pair.left
        return nearer(apart, scale, d, first=first, statistic=closer, pick=factor * pick)

    return replace(case, law=law)


def perturbed_at_size() -> On:
    """Algorithm 3 for the mean of all records."""
    problem = Problem(HalfSquaredDistance(math.inf), AllSpace(real_size.DIMENSION))
    mechanism = OutputPerturbation(problem, 1.0)
    return _nearer(mechanism, mechanism, 0.0)


def boosted_at_size() -> On:
    """Two runs of Algorithm 3 in so large a set that its end is never reached: the pick sees how long the noise is."""
    problem = mean_problem(real_size.DIMENSION, 4.0)
    mechanism = Boosting(OutputPerturbation(problem, 1.0), 0.1, repeats=2, selection_share=0.1)
    single: Any = mechanism.single
    return _nearer(mechanism, single, mechanism.selection_rate * real_size.SIZE / 2)


def localized_at_size() -> On:
    """Algorithm 4 with a ball so large that next to nothing is outside: a normal law about the mean record."""
    n, d = real_size.SIZE, real_size.DIMENSION
    mechanism = Localization(mean_problem(d, 4.0), 4.0, zeta=80.0)
    solver: Any = mechanism.solver_at(n)
    radius = mechanism.radius(n)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        mean = records.mean(axis=0)
        stddev = 1 / math.sqrt(factor * solver.scale(mechanism.local_diameter(n)) * n)
        # far from the mean record, outside of C, or with a far center
        left = scipy.stats.chi.sf(0.8 * radius / stddev, d) + scipy.stats.chi.sf(
            (4 - np.linalg.norm(mean)) / stddev, d
        )
        left += float(gammaincc(d, 0.2 * radius / mechanism.localizer.scale(n)))
        return normal_mixture(
            1.0, float(mean @ unit), stddev, error=float(left), statistic=lambda w: w @ unit
        )

    return real_size.known(mechanism, law)


def ball_at_size() -> On:
    """The first step of localization under (epsilon, delta): the minimizer and Gaussian noise."""
    n = real_size.SIZE
    mechanism = GaussianOutputPerturbation(real_size.mean(), 1.0, DELTA)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        mean, stddev = records.mean(axis=0), mechanism.noise_stddev(n) / factor
        # outside of C, and the error of the minimizer that is found
        left = scipy.stats.chi.sf((1 - np.linalg.norm(mean)) / stddev, real_size.DIMENSION)
        return normal_mixture(
            1.0, float(mean @ unit), stddev, error=float(left), statistic=lambda w: w @ unit
        )

    return real_size.known(mechanism, law)


def net_at_size() -> On:
    """Algorithm 8 on all records, with one feature: with two, the net that the theorem asks for is refused."""
    mechanism = NetMechanism(Problem(Linear(), Ball(1, 1.0)), 1.0)
    pair = longest_replaced(Linear(), real_size.DATA, real_size.SIZE, 1)
    unit = -real_size.along(pair)

    def law(data: Dataset, factor: float) -> StatedLaw:
        points = mechanism.net_for(data.n).points
        exponents = -factor * mechanism.scale * (points @ np.asarray(data.features).sum(axis=0))
        return on_points(points @ unit, exponents, statistic=lambda w: w @ unit)

    return On(mechanism, pair, law=law)


def objective_at_size() -> On:
    """Objective perturbation of linear losses: a normal law, blurred by what hides the minimizer's error."""
    n, d = real_size.SIZE, real_size.DIMENSION
    problem = Problem(Linear(), Ball(d, 1e6))
    mechanism = ObjectivePerturbation(problem, 2.0, DELTA, regularization=1.0)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        stddev = mechanism.noise_scale_at(n) / factor
        blur = mechanism.accuracy_at(n) + mechanism.hiding_scale(n) * float(gammainccinv(d, 1e-14))
        center = -float(records.sum(axis=0) @ unit)
        return normal_mixture(1.0, center, stddev, error=blur / stddev + 1e-14, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def huberized_at_size() -> On:
    """In a ball so small that no record reaches the bend: of those with label 1 all gradients are constant, else 0.

    The minimizer is a normal vector brought to the ball, so that its direction has a known law.
    """
    d, radius, delta = real_size.DIMENSION, 0.45, 1e-3
    mechanism = HuberizedObjectivePerturbation(0.5, 1.0, delta, Ball(d, radius))
    inside = mechanism.perturbation
    case = real_size.privacy(lambda: mechanism, loss=inside.problem.loss)()
    unit = real_size.along(case.pair)  # type: ignore[arg-type]

    def law(data: Dataset, factor: float) -> StatedLaw:
        n = data.n
        scale, ridge = inside.noise_scale_at(n) / factor, inside.regularization_at(n)
        labels = np.asarray(data.labels)
        center = np.asarray(data.features)[labels > 0].sum(axis=0) / ridge
        blur = inside.accuracy_at(n) + inside.hiding_scale(n) * float(gammainccinv(d, 1e-14))
        # as a normal vector of that length would be turned
        return cosine(center, unit, scale / ridge, error=blur * ridge / scale)

    return replace(case, delta=delta, law=law)
