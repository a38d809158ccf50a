"""Pairs for what is put out after a condition: laws in floating point, and cells that tell the refusal apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.reading import fields
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of
from dpverify.proving.theorems.noises import FloatLine, Noisy, NoisyLaw, OneNoise, of_noises
from dpverify.proving.theorems.spreads import Spread, outputs, views
from dpverify.statements.mechanisms.pages import flat
from dpverify.statements.mechanisms.pairs.search import VIEWS, PairCase, PairSearcher

APART = 1000
"""How far what is released is moved from the refusal."""
NARROW = 1e-9
"""The width of what has no width."""


class ReleasePairSearcher(PairSearcher):
    """A search for pairs where what is put out depends on a condition, with a noisy number in it or without."""

    def spread(self, env: dict[str, Any]) -> Spread:
        """The law of the output; of a number that is released, that of this number moved far up, or about 0."""
        law, drawn, noise = parts_of(self.law), "", FloatLine("uniform", 0.0, NARROW)
        if law[0] == "then":
            letter, first, body = map(parts_of, law[1:])
            drawn, noise, law = named(letter[0]), self.valued(first)(env), body
            if not isinstance(noise, FloatLine) or drawn in free(body[2]):
                raise ValueError("a test by something else")
        (_, condition), released, refused = map(parts_of, law[1:])
        passed, found = self.chance(condition, drawn, env, noise), self.valued(released)(env)
        if isinstance(found, dict):
            return {**dict.fromkeys(self.valued(refused)(env), 1 - passed), **dict.fromkeys(found, passed)}
        narrow, parts = OneNoise("uniform", NARROW), of_noises(found)
        moved = {sum(outputs(v), APART - 1): passed * mass for v, mass in parts.masses.items()}
        return NoisyLaw((*parts.own, narrow), {**moved, Noisy(0.0, {narrow: 1.0}): 1 - passed})

    def chance(self, condition: Node, drawn: str, env: dict[str, Any], noise: FloatLine) -> float:
        """The chance of a comparison that is linear in what was drawn."""
        _, *sides = parts_of(condition)

        def gap(x: float) -> float:
            low, high = (float(self.valued(side)({**env, drawn: x})) for side in sides)
            return high - low

        start = gap(0.0)
        slope = gap(1.0) - start
        if not drawn or not slope:
            return float(self.valued(("indicator", condition))({**env, drawn: 0.0}))
        return noise.above(-start / slope) if slope > 0 else noise.below(-start / slope)

    def pairs(
        self, letters: dict[str, Fraction], n: int, rows: list[tuple[Fraction, ...]]
    ) -> Iterator[PairCase]:
        """Data sets of some rows; where all records but one are the same, in both orders."""
        for one in super().pairs(letters, n, rows):
            yield one
            if len({*one.left}) == 1 < n:
                yield PairCase(letters, one.right, one.left, one.place)

    def models(
        self, plain: dict[str, Json], one: Spread, other: Spread, bounds: list[float]
    ) -> Iterator[dict[str, Json]]:
        """The pair as models, through cells where numbers are released with noise."""
        if isinstance(one, dict):
            yield plain
            return
        kind = self.mechanism.output.kind
        width = len([*flat(kind, "pair")])
        for cells in islice(views(self.head, one, other, bounds), VIEWS):
            yield {**plain, "cells": {**fields(cells), "along": [[str(APART), *["1"] * (width - 1)]]}}
