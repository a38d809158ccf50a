"""What reductions ask of the algorithms that they wrap."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.problems import Problem


def check_solver(solver: Any) -> None:
    """Refuse what cannot be put on another problem.

    Raises:
        InvalidArgumentError: if it is no callable dataclass with a field `problem`, which a property does not replace,
            and a method `guarantees`.
    """
    fits = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    fits = fits and any(field.name == "problem" and field.init for field in dataclasses.fields(solver))
    fits = fits and callable(solver) and callable(getattr(solver, "guarantees", None))
    if not fits or not isinstance(getattr(solver, "problem", None), Problem):
        raise InvalidArgumentError(
            "solver",
            solver,
            "an algorithm: a callable dataclass with a field `problem` and a method `guarantees`",
        )


def with_problem(solver: Any, problem: Problem) -> Any:
    """The same algorithm on another problem, from the middle of that problem's set."""
    start = {"start": None} if hasattr(solver, "start") else {}
    return dataclasses.replace(solver, problem=problem, **start)
