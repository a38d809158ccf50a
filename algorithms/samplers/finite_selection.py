"""The exponential mechanism on finitely many candidates: with which probability each is picked."""

from __future__ import annotations

from dpverify.problems.arrays import namespace
from dpverify.running.randomness import Array


def exponential_probabilities(exponents: Array) -> Array:
    """Numbers proportional to exp(exponents) with sum 1 along the last axis; the same shape, for any magnitude."""
    xp = namespace(exponents)
    weights = xp.exp(exponents - xp.max(exponents, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)
