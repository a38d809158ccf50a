"""The excess population risk of projected noisy gradient descent that uses each record at most once.

Independent records give unbiased gradients of the population's risk, so that `steps.last_iterate` bounds the mean over
the last m of w_0, ..., w_n, and with it the risk of w_T for T uniform on their numbers; with m = 1, that of w_n. With
eta = 2 R / (G sqrt(n)), m = n and r = R that is 1.25 R G / sqrt(n) or hardly more, where Theorem 29 prints
4 R G / sqrt(n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from dpverify.algorithms.conditions import reach
from dpverify.algorithms.promises import StatedQueries, StatedRisk, words
from dpverify.algorithms.steps.last_iterate import constant_rates
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Box, Problem
from dpverify.problems.losses import LinkLoss, check_not_flat

_TOLERANCE = 1e-12
"""Relative: how close to the theorem's rate a rate must be to have the theorem's risk."""


def noisy_gradient_norm(problem: Problem, noise_stddev: float) -> float:
    """G = sqrt(L^2 + d sigma^2): root mean square of a gradient with noise in each coordinate, loss over length."""
    spread = math.sqrt(problem.constraint.dimension) * noise_stddev
    return math.hypot(problem.constants.lipschitz_constant, spread)


def random_iterate_risk(
    problem: Problem,
    *,
    n: int,
    iterates: int,
    rate: float,
    noise_stddev: float,
    start: Sequence[float] | None = None,
) -> float:
    """Expected excess population risk of an iterate chosen uniformly among the last of w_1, ..., w_n.

    In units of the loss; infinite if the set is unbounded or the loss not Lipschitz. Each record is used at most once.
    `start`: w_0; None: any point of the set.
    """
    constraint, lipschitz = problem.constraint, problem.constants.lipschitz_constant
    if not (math.isfinite(constraint.diameter) and math.isfinite(lipschitz)):
        return math.inf
    norm, distance = noisy_gradient_norm(problem, noise_stddev), reach(start, constraint)
    middle = tuple(constraint.center().tolist())
    symmetric = type(constraint) in (Ball, Box) and start is not None and tuple(start) == middle
    schedule = constant_rates(n + 1)
    sizes = {"distance": distance, "diameter": constraint.diameter, "norm": norm, "lipschitz": lipschitz}
    one_direction = isinstance(problem.loss, LinkLoss) and problem.loss.ridge == 0
    found = schedule.mean(iterates, rate, **sizes, symmetric=symmetric, one_direction=one_direction)
    return found if iterates > 1 else min(found, schedule.last(rate, **sizes))


def check_bounded(problem: Problem) -> None:
    """Refuse what is no `Problem`, and a problem for which the theorems' rates are not defined."""
    require(isinstance(problem, Problem), "problem", problem, "a dpverify.problems.Problem")
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
    n: int,
    rate: float,
    noise_stddev: float,
    *,
    best: float | None = None,
    printed: float = math.inf,
    source: str = "",
    start: Sequence[float] | None,
    iterates: int | None = None,
    bias: float = 0.0,
) -> StatedRisk | None:
    """Excess population risk of one of the last iterates, in law; beside it a theorem's, at the theorem's rate.

    `best` is the rate of the theorem `source`, and `printed` what it states there, in units of the loss; None if there
    is no theorem, as for the last iterate alone. Both bounds get the `bias` of a loss that stands for another. None if
    the set is unbounded or the loss not Lipschitz.
    """
    iterates = iterates or n
    found = random_iterate_risk(
        problem, n=n, iterates=iterates, rate=rate, noise_stddev=noise_stddev, start=start
    )
    if not math.isfinite(found):
        return None
    own = words(f"fmtt18.{'thm28' if iterates > 1 else 'alg1'}/risk")
    formula = f"{own['formula']} + largest bias" if bias else own["formula"]
    if best is None or not math.isclose(rate, best, rel_tol=_TOLERANCE):
        return StatedRisk(found + bias, total=False, population=True, **own | {"formula": formula})
    row = words(f"{source}/risk") | {"formula": formula}
    return StatedRisk(found + bias, total=False, population=True, theorem=printed + bias, **row)


def skip_risk(
    problem: Problem,
    n: int,
    rate: float,
    noise_stddev: float,
    *,
    source: str,
    start: Sequence[float] | None,
    bias: float = 0.0,
) -> StatedRisk | None:
    """Excess population risk of Skip-PNSGD, which releases one of the last floor(n/2) + 1 iterates in law."""
    printed = (
        4 * math.sqrt(2 / n) * problem.constraint.largest_norm * noisy_gradient_norm(problem, noise_stddev)
    )
    best, iterates = skip_rate(problem, n, noise_stddev), n // 2 + 1
    return stop_risk(
        problem, n, rate, noise_stddev,
        best=best, printed=printed, source=source, start=start, iterates=iterates, bias=bias,
    )  # fmt: skip


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
