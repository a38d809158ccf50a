"""What reductions ask of the algorithms that they wrap."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.problems import Problem

ALL_RUNS = "all runs"
"""`hands_over` of an algorithm that asks the loss about one point a run, for all runs at once and in their order."""
FIRST_RUNS = "first runs"
"""`hands_over` of one that may leave out runs at the end: run i is in the i-th place as long as it is there."""


def check_solver(solver: Any, *, argument: str = "solver", hands_over: Collection[str] = (ALL_RUNS,)) -> None:
    """Refuse what cannot be put on a problem that differs from run to run.

    Whether an algorithm leaves runs out may depend on the records, as with those that stop early, and with it whether
    such a problem refuses it. So it must say beforehand what it hands over to the loss.

    Args:
        solver: the algorithm.
        argument: what it is called in the refusal.
        hands_over: which of its kinds are understood.

    Raises:
        InvalidArgumentError: if it is not a callable dataclass with a field `problem` (a property is not
            enough) and a method `guarantees`, or does not hand over points as needed.
    """
    fits = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    fits = fits and any(field.name == "problem" and field.init for field in dataclasses.fields(solver))
    fits = fits and callable(solver) and callable(getattr(solver, "guarantees", None))
    if not fits or not isinstance(getattr(solver, "problem", None), Problem):
        raise InvalidArgumentError(
            argument,
            solver,
            "an algorithm: a callable dataclass with a field `problem` and a method `guarantees`",
        )
    if getattr(solver, "hands_over", None) not in hands_over:
        listed = " or ".join(f'"{kind}"' for kind in hands_over)
        raise InvalidArgumentError(
            argument, solver, f"an algorithm whose attribute `hands_over` says {listed}, see `check_solver`"
        )


def with_problem(solver: Any, problem: Problem) -> Any:
    """The same algorithm on another problem, from the middle of that problem's set."""
    start = {"start": None} if hasattr(solver, "start") else {}
    return dataclasses.replace(solver, problem=problem, **start)
