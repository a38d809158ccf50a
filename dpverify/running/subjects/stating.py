"""A user's stated structure, in the worker process that it is made in: only numbers leave it.

Maps are called where they are made. The program asks for images of states, and rebuilds the rest from a description.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import InvalidDataError
from dpverify.quoting import quoted

SETS = ("Ball", "Box", "Simplex")  # constraint sets that can be described


class Stating:
    """A function from a data set to its `StatedStructure`, and the structures that it gave."""

    def __init__(self, function: Callable[..., Any], target: str) -> None:
        self._function, self._target = function, target
        self._made: list[Any] = []

    def answer(
        self, asked: dict[str, Any], array: NDArray[Any]
    ) -> tuple[dict[str, Any], NDArray[Any] | None]:
        """Describe the structure on a data set, or say where a step takes states."""
        if asked["ask"] == "state":
            return {
                "stated": self._described(self._function(array.copy())),
                "number": len(self._made) - 1,
            }, None
        step = self._made[asked["number"]].steps[asked["step"]]
        seeds = np.random.SeedSequence(asked["seeds"])
        return {}, step.images(array, np.random.Generator(np.random.SFC64(seeds)))

    def _described(self, structure: Any) -> dict[str, Any]:
        # NumPy alone is loaded here; whoever made a structure has loaded its module
        known = sys.modules.get("dpverify.running.subjects.structure")
        if known is None or not isinstance(structure, known.StatedStructure):
            raise InvalidDataError(
                f"{self._target} returned {quoted(type(structure).__name__)}; allowed: a StatedStructure of "
                "dpverify.running, such as single_noise(center, stddev)."
            )
        constraint = structure.constraint
        if constraint is not None and type(constraint).__name__ not in SETS:
            raise InvalidDataError(
                f"{self._target} states the constraint {quoted(type(constraint).__name__)}; allowed: none, or one of "
                f"{', '.join(SETS)} of dpverify.problems."
            )
        self._made.append(structure)
        return {
            "start": list(structure.start),
            "steps": [[step.noise_stddev, step.lipschitz_constant, step.draws] for step in structure.steps],
            "constraint": None
            if constraint is None
            else [type(constraint).__name__, _plainly(dataclasses.asdict(constraint))],
            "skipped": structure.skipped,
            "stopped": structure.stopped,
        }


def _plainly(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plainly(part) for name, part in value.items()}
    return value if value is None or isinstance(value, int | float) else np.asarray(value).tolist()
