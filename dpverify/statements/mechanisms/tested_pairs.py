"""Pairs for what is put out after a condition: laws in floating point, and cells that tell the refusal apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of
from dpverify.statements.mechanisms.pages import zero_of
from dpverify.statements.mechanisms.pairs import VIEWS, PairCase, PairSearcher, is_true
from dpverify.statements.mechanisms.proofs import MechanismClaim
from dpverify.statements.mechanisms.spreads import FAMILIES, NoiseSum, Spread, Weighted, views

APART = 1000
"""How far what is released is moved from the refusal."""
NARROW = 1e-9
"""The width of what has no width."""


class ReleasePairSearcher(PairSearcher):
    """A search for pairs where what is put out depends on a condition, with a noisy number in it or without."""

    def spread(self, env: dict[str, Any]) -> Spread:
        """The law of the output; of a number that is released, that of this number moved far up, or 0."""
        law, drawn = parts_of(self.law), ""
        noise = Weighted((1.0,), ("uniform",), (0.0,), (NARROW,))
        if law[0] == "then":
            letter, (family, *numbers), body = map(parts_of, law[1:])
            drawn, law = named(letter[0]), body
            if family not in FAMILIES or drawn in free(body[2]):
                raise ValueError("a test by something else")
            at, scale = (float(self.reader.code(one)(env)) for one in numbers)
            noise = Weighted((1.0,), (named(family),), (at,), (scale,))
        (_, condition), released, refused = map(parts_of, law[1:])
        passed = self.chance(condition, drawn, env, noise)
        if released[0] == "certain":
            one, other = (self.reader.code(part)(env) for part in (released, refused))
            return {**dict.fromkeys(other, 1 - passed), **dict.fromkeys(one, passed)}
        parts = [*self.reader.walk(released, env, passed, [], [], [])]
        along = np.array([[APART, *np.ones(len(parts[0].outputs) - 1)]])
        moved = [NoiseSum(one.chance, one.families, one.scales, along @ one.outputs) for one in parts]
        return [*moved, NoiseSum(1 - passed, ("uniform",), (NARROW,), np.array([[0.0, 1.0]]))]

    def chance(self, condition: Node, drawn: str, env: dict[str, Any], noise: Weighted) -> float:
        """The chance of a comparison that is linear in what was drawn."""
        _, *sides = parts_of(condition)

        def gap(x: float) -> float:
            low, high = (float(self.reader.code(side)({**env, drawn: x})) for side in sides)
            return high - low

        start = gap(0.0)
        slope = gap(1.0) - start
        if not drawn or not slope:
            return float(self.model_of.code(("indicator", condition))({**env, drawn: 0.0}))
        below, above = noise.masses(np.array([-start / slope]))
        return float(above if slope > 0 else below)

    def pairs(
        self, letters: dict[str, Fraction], n: int, rows: list[tuple[Fraction, ...]]
    ) -> Iterator[PairCase]:
        """Data sets of some rows; where all records but one are the same, in both orders."""
        for one in super().pairs(letters, n, rows):
            yield one
            if len({*one.left}) == 1 < n:
                yield PairCase(letters, one.right, one.left, one.place)

    def confirmed(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json] | None:
        """As without a condition, but for the sums of outputs that are cut."""
        plain, (one, other, bounds) = self.model(case, claim), self.laws(case)
        if not is_true(claim, plain):
            return None
        for model in self.models(plain, one, other, bounds):
            if is_true(claim, model, refuted=True):
                return model
        return None

    def models(
        self, plain: dict[str, Json], one: Spread, other: Spread, bounds: list[float]
    ) -> Iterator[dict[str, Json]]:
        """The pair as models, through cells where numbers are released with noise."""
        if isinstance(one, dict):
            yield plain
            return
        kind = self.mechanism.output.kind
        width = len([*_numbers(zero_of(kind))])
        for view in islice(views(self.head, one, other, bounds), VIEWS):
            yield {**plain, "cells": {**view.json, "along": [[str(APART), *["1"] * (width - 1)]]}}


def _numbers(node: Node) -> Iterator[Node]:
    head, *parts = parts_of(node)
    if head != "pair":
        yield node
    for part in parts if head == "pair" else ():
        yield from _numbers(part)
