"""What reductions ask of the algorithms that they wrap."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Adjacency, Guarantee
from dpverify.problems import Problem


def check_solver(solver: Any) -> None:
    fits = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    if not fits or not isinstance(getattr(solver, "problem", None), Problem) or not callable(solver):
        raise InvalidArgumentError(
            "solver", solver, "an algorithm: a callable dataclass with a field `problem`"
        )


def with_problem(solver: Any, problem: Problem) -> Any:
    """The same algorithm on another problem, from the middle of that problem's set."""
    start = {"start": None} if hasattr(solver, "start") else {}
    return dataclasses.replace(solver, problem=problem, **start)


def promised_to_all(solver: Any, n: int) -> tuple[Guarantee, ...]:
    """What a solver guarantees to all records of n, to outsiders, under replace-one adjacency."""
    return tuple(
        stated.guarantee
        for stated in solver.guarantees(n)
        if stated.adjacency is Adjacency.REPLACE_ONE and not stated.local
    )
