"""Slow twins: one run at a time, one step at a time, straight from the papers' pseudo-code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.problems import Dataset, Problem
from dpverify.running import Randomness
from dpverify.running.randomness import Array

Vector = NDArray[np.float64]


class Recorder(Randomness):
    """Randomness that remembers what it handed out, by name and in order."""

    def __init__(self, seed: int, block: int = 0, xp: Any = np) -> None:
        super().__init__(seed, block, xp)
        self.drawn: dict[str, list[NDArray[Any]]] = {}

    def _record(self, drawn: NDArray[Any], name: str) -> Array:
        self.drawn.setdefault(name, []).append(drawn.copy())
        return super()._record(drawn, name)

    def noise(self) -> list[NDArray[Any]]:
        """Of each step, shape (d, runs), whether or not that of several steps was drawn in one call."""
        return [step for drawn in self.drawn["noise"] for step in (drawn if drawn.ndim == 3 else [drawn])]

    def records(self) -> list[NDArray[Any]]:
        """Of each step, shape (runs,), likewise."""
        return [step for drawn in self.drawn["records"] for step in np.atleast_2d(drawn)]


def one_step(
    problem: Problem,
    w: Vector,
    x: Vector,
    y: float,
    *,
    rate: float,
    stddev: float,
    z: Vector,
    scale: float = 1,
) -> Vector:
    """Proj(w - rate (scale grad f(w, (x, y)) + stddev z))."""
    gradient = np.asarray(problem.loss.gradient(w[None, :], x, np.asarray(y)))[0]
    moved = w - rate * (scale * gradient + stddev * z)
    return np.asarray(problem.constraint.project(moved[None, :]))[0]


def pnsgd(
    problem: Problem,
    data: Dataset,
    start: Vector,
    *,
    rate: float,
    stddev: float,
    records: list[int],
    z: list[Vector],
) -> Vector:
    """The given records (from 0) in the given order, with the given noise."""
    w = start
    for record, noise in zip(records, z, strict=True):
        w = one_step(
            problem, w, data.features[record], data.labels[record], rate=rate, stddev=stddev, z=noise
        )
    return w
