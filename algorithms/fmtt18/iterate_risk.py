"""The risk of a randomly chosen iterate of projected stochastic gradient descent, with its constant (fmtt18, 28).

With unbiased gradients whose squared norm is at most G^2 in expectation, from any starting point, T steps of size
eta on a set of diameter D give

    E sum over t = 0, ..., T - 1 of F(w_t) - F* <= D^2 / (2 eta) + eta T G^2 / 2.

An algorithm that releases w_T for T uniform on T' consecutive numbers releases one of w_1, ..., w_T', counted from
the first of them; moving the sum on by one costs F(w_T') - F(w_0) <= L D. The mean over the T' iterates is thus at
most F* plus

    D^2 / (2 eta T') + eta G^2 / 2 + L D / T'.

With eta = 2 R / (G sqrt(T')) and D = 2 R that is at most the 4 R G / sqrt(T') which Theorem 28 prints.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from dpverify.algorithms.promises import StatedQueries, StatedRisk, words
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Problem
from dpverify.problems.losses import check_not_flat

_TOLERANCE = 1e-12
"""Relative: how close to the theorem's rate a rate must be to have the theorem's risk."""


def noisy_gradient_norm(problem: Problem, noise_stddev: float) -> float:
    """G = sqrt(L^2 + d sigma^2): root mean square of a gradient with noise in each coordinate, loss over length."""
    spread = math.sqrt(problem.constraint.dimension) * noise_stddev
    return math.hypot(problem.constants.lipschitz_constant, spread)


def random_iterate_risk(problem: Problem, *, iterates: int, rate: float, noise_stddev: float) -> float:
    """Expected excess population risk of an iterate chosen uniformly among `iterates` consecutive ones.

    In units of the loss; infinite if the set is unbounded or the loss not Lipschitz. Each record is used at most once.
    """
    diameter, lipschitz = problem.constraint.diameter, problem.constants.lipschitz_constant
    if not (math.isfinite(diameter) and math.isfinite(lipschitz)):
        return math.inf
    norm = noisy_gradient_norm(problem, noise_stddev)
    return diameter**2 / (2 * rate * iterates) + rate * norm**2 / 2 + lipschitz * diameter / iterates


def check_bounded(problem: Problem) -> None:
    """Refuse what is no `Problem`, and a problem for which the theorems' rates are not defined."""
    if not isinstance(problem, Problem):
        raise InvalidArgumentError("problem", problem, "a dpverify.problems.Problem")
    if not math.isfinite(problem.constraint.largest_norm + problem.constants.lipschitz_constant):
        allowed = "a bounded constraint set and a loss with a finite Lipschitz constant on it"
        raise InvalidArgumentError("problem", problem, allowed)
    check_not_flat("problem", problem, problem.loss)


def skip_rate(problem: Problem, n: int, noise_stddev: float) -> float:
    """The rate of Theorem 30 and Corollaries 31 and 34: sqrt(8) R / sqrt(n (L^2 + d sigma^2))."""
    norm = noisy_gradient_norm(problem, noise_stddev)
    return math.sqrt(8 / n) * problem.constraint.largest_norm / norm


def stop_risk(
    problem: Problem,
    iterates: int,
    rate: float,
    noise_stddev: float,
    *,
    best: float,
    bound: float,
    source: str,
) -> StatedRisk | None:
    """Excess population risk of one of several consecutive iterates: a theorem's at its rate, else what is proved.

    `best` is the rate of the theorem `source`, and `bound` what it states there, in units of the loss. None if the set
    is unbounded or the loss not Lipschitz.
    """
    found = random_iterate_risk(problem, iterates=iterates, rate=rate, noise_stddev=noise_stddev)
    if not math.isfinite(found):
        return None
    attained = math.isclose(rate, best, rel_tol=_TOLERANCE)
    theirs, name = (bound, source) if attained else (found, "fmtt18.thm28")
    return StatedRisk(theirs, total=False, population=True, **words(f"{name}/risk"))


def skip_risk(
    problem: Problem, n: int, rate: float, noise_stddev: float, *, source: str, bias: float = 0.0
) -> StatedRisk | None:
    """Excess population risk of Skip-PNSGD, which releases one of the last floor(n/2) + 1 iterates in law."""
    norm = noisy_gradient_norm(problem, noise_stddev)
    stated = stop_risk(
        problem,
        n // 2 + 1,
        rate,
        noise_stddev,
        best=skip_rate(problem, n, noise_stddev),
        bound=4 * math.sqrt(2 / n) * problem.constraint.largest_norm * norm,
        source=source,
    )
    if stated is None or bias == 0.0:
        return stated
    return replace(stated, bound=stated.bound + bias, formula=f"{stated.formula} + largest bias")


def step_queries(
    most: int, *, said: str, source: str, id_: str, exact: bool = False, mean: float | None = None
) -> tuple[StatedQueries, ...]:
    """Oracle calls of an algorithm with one gradient and one projection a step; `mean`: in expectation."""
    row = words("fmtt18.steps/queries", words=said, most=most, source=source, algorithm=id_)
    oracles: tuple[Literal["gradient", "projection"], ...] = ("gradient", "projection")
    found = []
    for oracle in oracles:
        found.append(StatedQueries(oracle, most, exact=exact, **row))
        if mean is not None:
            found.append(StatedQueries(oracle, mean, expected=True, sources=(source,)))
    return tuple(found)


def skip_queries(n: int, id_: str) -> tuple[StatedQueries, ...]:
    """Oracle calls of Skip-PNSGD: n - t_0, with t_0 uniform on {0, ..., floor(n/2)}."""
    return step_queries(n, said="at most n", source="fmtt18.skip", id_=id_, mean=n - (n // 2) / 2)
