"""What a page's mechanism chooses, run by run: noises for all candidates are made, and compared as the page says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpverify.checks import FloatArray
from dpverify.proving.checker.theorems.language import Node, named
from dpverify.proving.theorems.finite_models import Code, Env
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.proofs.choices import ChoiceOnPage, choice_of
from dpverify.statements.mechanisms.proofs.coins import CoinsOnPage

Sample = Callable[[Node, Env, np.random.Generator, int], list[Any]]
"""Makes values of a law."""


class SampledChoice:
    """The choice of a page, at values of its letters; outputs are of shape (runs, 1), of several answers (runs, k).

    One that is chosen is its number, from 0 where candidates are of a finite type. Of several answers there is a 1 for
    each candidate that is above, in the order in which they are asked.
    """

    def __init__(
        self, mechanism: MechanismOnPage, sizes: dict[str, int], code: Callable[[Node], Code], sample: Sample
    ) -> None:
        choice = choice_of(mechanism)
        assert choice is not None
        assert mechanism.records.over is not None
        self.choice, self.columns, self.code, self.sample = choice, mechanism.records.columns, code, sample
        self.first = 1 if self.columns else 0
        self.size = sizes.get(named(mechanism.records.over.kind), 0)

    def __call__(self, env: Env, rng: np.random.Generator, runs: int) -> FloatArray:
        """What is chosen in each run, in letters of one data set."""
        k = int(self.code(self.columns)(env)) if self.columns else self.size
        places = range(self.first, self.first + k)
        if isinstance(self.choice, CoinsOnPage):
            line = self.choice.line
            heads = [float(self.code(line.term)({**env, line.index: i})) for i in places]
            return self._first_heads(np.array(heads), rng, runs)
        return self._compared(self.choice, env, [*places], rng, runs)

    def _first_heads(self, heads: FloatArray, rng: np.random.Generator, runs: int) -> FloatArray:
        """The first candidate, in random order, whose coin shows heads; one has a coin that always does."""
        times = rng.random((runs, len(heads)))
        shows = rng.random((runs, len(heads))) < heads
        return self._numbers(np.where(shows, times, 2.0).argmin(axis=1))

    def _numbers(self, places: Any) -> FloatArray:
        """Places of candidates, from 0, as outputs."""
        return np.asarray(self.first + places[:, None], dtype=np.float64)

    def _compared(
        self, choice: ChoiceOnPage, env: Env, places: list[int], rng: np.random.Generator, runs: int
    ) -> FloatArray:
        if choice.anew:
            raise ValueError("a threshold that is drawn anew is not made here")
        made = dict[str, FloatArray]()
        for noise in choice.noises:
            columns = len(places) if noise.index else 1
            values = self.sample(noise.law, env, rng, runs * columns)
            made[noise.name] = np.array(values, dtype=np.float64).reshape(runs, columns)
        index = choice.line.index
        sides = [
            np.array([float(self.code(side.location)({**env, index: i})) for i in places])
            + (made[side.noise.name] if side.noise else np.zeros((runs, 1)))
            for side in choice.sides
        ]
        if choice.line.role == "select":
            return self._numbers(sides[0].argmax(axis=1))
        above = sides[0] <= sides[1]
        if choice.line.count:
            count = int(self.code(choice.line.count)(env))
            return np.asarray(above & (above.cumsum(axis=1) <= count), dtype=np.float64)
        none = np.full((runs, 1), True)
        return self._numbers(np.hstack([above, none]).argmax(axis=1))
