"""What mn25 hides in O( ): risks of its solvers over alpha, and their oracle calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25 import DPSGD, PhasedERM, PhasedSGD, PopulationToEmpirical
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


RATES: Rates = {
    ("mn25.thm2", "statement, inline 2"): descent,
    ("mn25.thm2", "statement, inline 3"): descent_calls,
    ("mn25.lem11", "statement, inline 1"): descent,
    ("mn25.lem11", "statement, inline 2"): descent_calls,
    ("mn25.thm4", "statement, inline 4"): partial(phased, PhasedSGD),
    ("mn25.thm4", "statement, inline 5"): phased_calls,
    ("mn25.thm7", "statement, inline 2"): partial(phased, PhasedSGD),
    ("mn25.lem16", "statement, inline 3"): partial(phased, PhasedERM),
    ("mn25.thm8", "statement, inline 6"): reduction,
}
