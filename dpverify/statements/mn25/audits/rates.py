"""What mn25 hides in O( ): risks of its solvers over alpha, and their oracle calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25 import DPSGD, LimitedOracleSGD, PhasedERM, PhasedSGD, PopulationToEmpirical
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel
from dpverify.problems import Ball, Linear, Problem
from dpverify.statements.bst14.audits.rates import equal_records, measured, of_flat_losses
from dpverify.statements.hidden_constants import RateAt, Rates, counted, size

DELTA, EPSILON = 1e-5, 2.0
_SIZES = ((40, 1), (40, 10), (80, 1), (2000, 10))


def _linear(d: int) -> Problem:
    return Problem(Linear(), Ball(d, 1.0))


def _of_alpha(
    make: Callable[[Problem], Any],
    accuracy: Callable[[Any, int], float],
    attain: Callable[[Callable[[Problem], Any], int, int], float | None],
) -> Iterator[RateAt]:
    """The bound over alpha, for the least alpha that is proved to be private, at most B L."""
    for n, d in _SIZES:
        solver = make(_linear(d))
        rate = min(accuracy(solver, n), solver.trivial_accuracy)
        total = attain(make, n, d)
        yield size(rate, solver.risk_bound(n).bound, total and total / n, n=n, d=d, epsilon=EPSILON)


def descent() -> Iterator[RateAt]:
    return _of_alpha(
        lambda p: DPSGD(p, EPSILON, DELTA),
        lambda one, n: one.parameters(n).accuracy,
        lambda make, n, d: of_flat_losses(make, n, d) if n < 100 else None,
    )


def descent_calls() -> Iterator[RateAt]:
    """Counted: T and m are rounded up; the printed sum is at most twice its larger term."""
    for n, d in _SIZES:
        solver = DPSGD(_linear(d), EPSILON, DELTA)
        used = solver.parameters(n)
        if used.steps:
            ratio = (solver.trivial_accuracy / used.accuracy) ** 2
            rate = ratio * (math.sqrt(d / solver.rho) + d / (n * solver.rho))
            yield counted(rate, used.steps * used.batch_size, n=n, d=d, epsilon=EPSILON)


def phased(kind: Any) -> Iterator[RateAt]:
    """Of losses that are smooth, linear ones."""
    return _of_alpha(
        lambda p: kind(p, EPSILON, DELTA),
        lambda one, n: one.accuracy_in_use(n),
        lambda make, n, d: measured(make(_linear(d)), equal_records(n, d), -float(n)),
    )


def phased_calls() -> Iterator[RateAt]:
    """Counted, each phase's calls rounded up."""
    for n, d in _SIZES:
        solver = PhasedSGD(_linear(d), EPSILON, DELTA)
        ratio = solver.trivial_accuracy / solver.accuracy_in_use(n)
        stated = next(one for one in solver.queries(n) if one.oracle == "gradient")
        if stated.count:
            rate = max(ratio * math.sqrt(d * math.log(1 / DELTA)), ratio**2)
            yield counted(rate, stated.count, n=n, d=d, epsilon=EPSILON)


def reduction() -> Iterator[RateAt]:
    """For a solver with the accuracy 1 / sqrt(n)."""
    for exponent in (4, 8, 12):
        n, problem = 10**exponent, _linear(5)
        accuracy = 1 / math.sqrt(n)
        solver = NoisyGradientDescent(problem, 1.0, DELTA)
        stated = PopulationToEmpirical(solver, 1.0, accuracy=accuracy).risk_bound(n)
        rate = problem.constraint.diameter * (accuracy + 1 / math.sqrt(n) + 1 / n)
        yield size(rate, stated.bound, n=n, d=5, epsilon=1.0)


def reduction_privacy() -> Iterator[RateAt]:
    """Of all runs of the solver and selections, at as many deltas as there are runs; each has epsilon = 1."""
    for n in (100, 1000, 10_000):
        both = PopulationToEmpirical(NoisyGradientDescent(_linear(5), 1.0, DELTA), 1.0, 1 / math.sqrt(n))
        headline = both.guarantees(n).headline
        assert headline is not None
        delta = DELTA * both.sizes(n).solver_calls
        yield size(1.0, headline.guarantee.epsilon_at(delta), n=n, epsilon=1.0, delta=DELTA)


def reduction_calls() -> Iterator[RateAt]:
    """Counted, gradients and losses, for a solver with the accuracy 1 / sqrt(n)."""
    for n in (100, 1000, 10_000):
        solver = NoisyGradientDescent(_linear(5), 1.0, DELTA)
        both = PopulationToEmpirical(solver, 1.0, 1 / math.sqrt(n))
        rate = solver.step_count(both.sizes(n).part) + n
        yield counted(rate, both.gradient_query_count(n) + both.value_query_count(n), n=n, epsilon=1.0)


# ------------------------------------------------------------------------------------------ lower bounds


def _few_points(steps: int, d: int, ratio: float) -> bool:
    """Whether so many points are few enough for Theorems 1 and 5, and dimensions as many as they say, but for C_2."""
    return steps <= d / (640 * math.log(ratio)) and d >= ratio**2


def private_calls(share: int, rho: float | None = None) -> Iterator[RateAt]:
    """Of Algorithm 3 for the accuracy that is proved of it, with a batch that is a share of sqrt(d / rho)."""
    for d, accuracy in ((10**5, 0.5), (10**6, 0.5)):
        free = DPSGD(_linear(d), EPSILON, DELTA, accuracy, oracle_privacy=rho)
        bound = None if share == 1 else math.ceil(math.sqrt(d / free.rho) / share)
        solver = replace(free, batch_bound=bound)
        used, ratio = solver.parameters(10**6), solver.trivial_accuracy / solver.risk_bound(10**6).bound
        if used.steps and _few_points(used.steps, d, ratio):
            m = used.batch_size
            rate = ratio**2 * (math.sqrt(d / solver.rho) if bound is None else d / (m * solver.rho))
            if rho is not None:
                rate = min(ratio**2 * (math.sqrt(d) + d / m), d * m / math.log(ratio))
            yield size(rate, None, used.steps * m, d=d, m=m, rho=solver.rho)


def _descent(d: int, noise: float, accuracy: float) -> tuple[LimitedOracleSGD, float]:
    """With the steps and the rate for the radius, and B L over its accuracy."""
    oracle = GaussianChannel(noise)
    problem = _linear(d)
    steps = math.ceil((1 + oracle.squared_error(d)) / accuracy**2)
    rate = 1 / math.sqrt((1 + oracle.squared_error(d)) * steps)
    solver = LimitedOracleSGD(problem, oracle, accuracy, steps=steps, rate=rate)
    return solver, problem.constraint.diameter / solver.risk_bound(1).bound


def channel_calls() -> Iterator[RateAt]:
    """Through a Gaussian channel, whose capacity bounds the information."""
    for d, noise, accuracy in ((10**5, 1.0, 0.5), (10**6, 10.0, 0.5), (10**6, 3.0, 0.1)):
        solver, ratio = _descent(d, noise, accuracy)
        if _few_points(solver.step_count, d, ratio):
            rate = ratio**2 * d / solver.oracle.capacity(d)
            yield size(rate, None, solver.step_count, d=d, sigma=noise, alpha=accuracy)


def calls_without_privacy() -> Iterator[RateAt]:
    """Of stochastic gradient descent, one record a step, where that is less than all records."""
    for n, accuracy in ((100, 0.5), (10**4, 0.1), (10**6, 0.01)):
        solver, ratio = _descent(10, 1e-6, accuracy)
        yield size(min(ratio**2, n), None, solver.step_count, n=n, alpha=accuracy)


def smooth_calls(*, private_alone: bool) -> Iterator[RateAt]:
    """Of Algorithm 3, which is private with the theorems' delta; smooth losses are among those that it takes."""
    for d, accuracy in ((100, 0.5), (100, 0.1), (10**4, 0.5)):
        n, epsilon = 10**8, 1.0
        delta = 1 / (16.0 * n * d)
        solver = DPSGD(_linear(d), epsilon, delta, accuracy, oracle_privacy=1.0)
        ratio = solver.trivial_accuracy / solver.risk_bound(n).bound
        (calls,) = [one.count for one in solver.queries(n) if one.oracle == "gradient"]
        rate = ratio * math.sqrt(d)
        if not private_alone:
            rate = rate / math.sqrt(math.log(1 / delta)) + min(ratio**2, n)
        if solver.guarantees(n):
            yield size(rate, None, calls, n=n, d=d, epsilon=epsilon, alpha=accuracy)


RATES: Rates = {
    ("mn25.cor1", "statement, inline 1"): partial(private_calls, 4, 1.0),
    ("mn25.thm1.1", "statement, 1st display"): partial(private_calls, 1),
    ("mn25.thm1.2", "statement, 1st display"): partial(private_calls, 4),
    ("mn25.thm2", "statement, inline 2"): descent,
    ("mn25.thm2", "statement, inline 3"): descent_calls,
    ("mn25.lem11", "statement, inline 1"): descent,
    ("mn25.lem11", "statement, inline 2"): descent_calls,
    ("mn25.thm3", "statement, inline 4"): partial(smooth_calls, private_alone=False),
    ("mn25.thm4", "statement, inline 4"): partial(phased, PhasedSGD),
    ("mn25.thm4", "statement, inline 5"): phased_calls,
    ("mn25.thm5", "statement, inline 3"): channel_calls,
    ("mn25.thm6", "statement, inline 4"): partial(smooth_calls, private_alone=True),
    ("mn25.lem13", "statement, inline 1"): calls_without_privacy,
    ("mn25.thm7", "statement, inline 2"): partial(phased, PhasedSGD),
    ("mn25.lem16", "statement, inline 3"): partial(phased, PhasedERM),
    ("mn25.thm8", "statement, inline 5"): reduction_privacy,
    ("mn25.thm8", "statement, inline 6"): reduction,
    ("mn25.thm8", "statement, inline 7"): reduction_calls,
}
