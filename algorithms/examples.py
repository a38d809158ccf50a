"""The setting of small examples of algorithms: `Algorithm.examples(Setting())`.

Tests and pages that go through all algorithms get their instances there, so that they include a new one at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Linear, Logistic, Problem, Simplex

Examples = Mapping[str, Callable[[], Any]]
"""Keyed by what is special about each, the empty text for the plain one; `asked` has the setting's budget."""


@dataclass(frozen=True)
class Setting:
    """Sizes, a budget, and problems on the unit ball or cube.

    Attributes:
        n: records.
        d: features.
        epsilon: nats.
        delta: of the examples that have one.
        point: whether the sets have one point only.
        loss: replaces every loss, if given.
    """

    n: int = 4
    d: int = 1
    epsilon: float = 1.0
    delta: float = 1e-5
    point: bool = False
    loss: Any = None

    def problem(self, loss: Any, *, cube: bool = False) -> Problem:
        """A loss, or a class of losses made for a set, on the unit ball or the cube about it."""
        constraint: Any = Box.cube(self.d, 1.0) if cube else Ball(self.d, 1.0)
        if self.point:
            constraint = Simplex(1) if self.d == 1 else Box((0.25,) * self.d, (0.25,) * self.d)
        if self.loss is not None:
            return Problem(self.loss, constraint)
        return Problem(loss.on(constraint) if hasattr(loss, "on") else loss, constraint)

    @property
    def mean(self) -> Problem:
        """Smooth, strongly convex, Lipschitz losses, which meet most conditions."""
        return self.problem(HalfSquaredDistance)

    @property
    def line(self) -> Problem:
        """Linear losses."""
        return self.problem(Linear())

    @property
    def cube(self) -> Problem:
        """Linear losses on the cube."""
        return self.problem(Linear(), cube=True)

    @property
    def curved(self) -> Problem:
        """Logistic losses."""
        return self.problem(Logistic())

    @property
    def data(self) -> Dataset:
        """Records at random in the cube inside the unit ball, and random signs."""
        rng = np.random.default_rng(0)
        features = rng.uniform(-1, 1, size=(self.n, self.d)) / math.sqrt(self.d)
        return Dataset(features, np.where(rng.normal(size=self.n) > 0, 1.0, -1.0))
