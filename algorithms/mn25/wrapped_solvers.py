"""What reductions ask of the algorithms that they wrap, and what they state of themselves."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, Self

from dpverify.algorithms.conditions import PASSED_ON, explain_obstacles
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.weakening import Weakenable, sharpened
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ConditionKind, StatedGuarantee
from dpverify.problems import Problem

ALL_RUNS = "all runs"
"""`hands_over` of an algorithm that asks the loss about one point a run, for all runs at once and in their order."""
FIRST_RUNS = "first runs"
"""`hands_over` of one that may leave out runs at the end: run i is in the i-th place as long as it is there."""


def check_solver(solver: Any, *, argument: str = "solver", hands_over: Collection[str] = (ALL_RUNS,)) -> None:
    """Refuse what cannot be put on a problem that differs from run to run.

    It must be a callable dataclass with a field `problem` (a property is not enough) and a method `guarantees`, and
    hand over points in one of the understood ways. Whether an algorithm leaves runs out may depend on the records, as
    with those that stop early, and with it whether such a problem refuses it. So it must say beforehand what it hands
    over to the loss.
    """
    fits = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    fits = fits and any(field.name == "problem" and field.init for field in dataclasses.fields(solver))
    fits = fits and callable(solver) and callable(getattr(solver, "guarantees", None))
    allowed = "an algorithm: a callable dataclass with a field `problem` and a method `guarantees`"
    require(fits and isinstance(getattr(solver, "problem", None), Problem), argument, solver, allowed)
    if getattr(solver, "hands_over", None) not in hands_over:
        listed = " or ".join(f'"{kind}"' for kind in hands_over)
        allowed = f"an algorithm whose attribute `hands_over` says {listed}, see `check_solver`"
        raise InvalidArgumentError(argument, solver, allowed)


def with_problem(solver: Any, problem: Problem) -> Any:
    """The same algorithm on another problem, from the middle of that problem's set."""
    start = {"start": None} if hasattr(solver, "start") else {}
    return dataclasses.replace(solver, problem=problem, **start)


class Reduction(Weakenable, ABC):
    """An algorithm whose privacy follows from that of the solver inside."""

    solver: Any
    withdraw_guarantee: bool
    accepts: ClassVar[Collection[ConditionKind]] = PASSED_ON
    """Conditions of the solver's guarantees on which it can build."""
    obstacle: ClassVar[str]
    """Why nothing follows, where nothing does."""

    @property
    def problem(self) -> Problem:
        """The solver's, which is solved."""
        found: Problem = self.solver.problem
        return found

    @abstractmethod
    def _solver_records(self, n: int) -> int:
        """How many records the solver gets."""

    @abstractmethod
    def _solvers(self, n: int) -> Iterable[StatedGuarantee]:
        """What the solver states for that many."""

    @abstractmethod
    def _following(self, n: int) -> Sequence[StatedGuarantee]:
        """All that follows from it, the headline first."""

    def _voids(self, n: int) -> tuple[str, ...]:
        if self._following(n):
            return ()
        return (explain_obstacles(self._solvers(n), self.obstacle, accepts=self.accepts),)

    def guarantees(self, n: int) -> Guarantees:
        """What follows from each of the solver's guarantees, with its conditions; none if nothing does."""
        found = () if self.withdraw_guarantee else self._following(n)
        return Guarantees(found[0], others=found[1:]) if found else Guarantees()

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with its solver's exponents times the factor."""
        inside = sharpened(self.solver, self._solver_records(n), factor)
        if inside is self.solver:
            return self
        return dataclasses.replace(self, solver=inside, withdraw_guarantee=True)  # type: ignore[type-var]
