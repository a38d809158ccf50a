"""Runs of a stated structure up to the noise of each run's last step, also with earlier noise pushed in one
direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import FloatArray
from dpverify.running import StatedStructure

BLOCK = 20_000
"""Runs that are simulated together."""
_STREAM = 0x7768697465  # keeps these streams apart from others with the same seed


@dataclass(frozen=True)
class Before:
    """A block of k runs before their last noise; what is released is Proj(center + noise_stddev Z).

    `push` is the sum over a run's earlier steps of weight times noise in the direction, `square` that of the squared
    weights, (k,) both; with `rng` the block may go on.
    """

    centers: FloatArray
    noise_stddevs: FloatArray
    push: FloatArray
    square: FloatArray
    rng: np.random.Generator

    def likelihood(self, pushes: Sequence[float]) -> FloatArray:
        """Density of the earlier noise as stated, over that of noise pushed by one of these, drawn at random; (k,)."""
        ratios = [np.exp(push * self.push - push**2 / 2 * self.square) for push in pushes]
        return np.asarray(len(pushes) / np.sum(ratios, axis=0))


def generator(seed: int, stage: int, block: int = 0) -> np.random.Generator:
    """The stream of one block of a stage of an audit."""
    return np.random.Generator(
        np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(_STREAM, stage, block)))
    )


def blocks(
    structure: StatedStructure,
    runs: int,
    *,
    seed: int,
    stage: int,
    direction: FloatArray,
    pushes: Sequence[float] = (0.0,),
) -> Iterator[Before]:
    """Simulate, block by block; the same seed and stage give the same noise, whatever the structure.

    In each run one of `pushes` is drawn, theta, and all earlier noise is moved by theta times its weight times
    `direction`, a unit vector (d,); weights are those of the structure, scaled so that their squares add up to 1.
    """
    for number, begin in enumerate(range(0, runs, BLOCK)):
        rng = generator(seed, stage, number)
        yield _block(structure, min(BLOCK, runs - begin), rng, direction, pushes)


def _block(
    structure: StatedStructure,
    runs: int,
    rng: np.random.Generator,
    direction: FloatArray,
    pushes: Sequence[float],
) -> Before:
    d, count = structure.dimension, len(structure.steps)
    weights = push_weights(structure)
    moved = np.asarray(pushes)[rng.integers(len(pushes), size=runs)] if len(pushes) > 1 else pushes[0]
    first, last = _extent(structure, runs, rng)
    states = np.tile(np.asarray(structure.start), (runs, 1))
    centers, stddevs = states.copy(), np.zeros(runs)
    push, square = np.zeros(runs), np.zeros(runs)
    for t, step in enumerate(structure.steps):
        acts = None if first is None and last is None else _acts(t, runs, first, last)
        images = step.images(states, rng)
        noise = rng.standard_normal((runs, d))
        weight = weights[t]
        if weight:
            noise += np.multiply.outer(moved * np.full(runs, weight), direction)
        ends: NDArray[np.bool_] | bool = t == count - 1 if last is None else last == t
        if np.any(ends):
            centers = np.where(np.reshape(ends, (-1, 1)), images, centers)
            stddevs = np.where(ends, step.noise_stddev, stddevs)
        if t == count - 1:
            break
        if weight:
            # the last step's own noise is not pushed: it is known exactly
            earlier = ~np.asarray(ends) if acts is None else acts & ~np.asarray(ends)
            push += np.where(earlier, weight * (noise @ direction), 0.0)
            square += np.where(earlier, weight**2, 0.0)
        after = images + step.noise_stddev * noise
        if structure.constraint is not None:
            after = np.asarray(structure.constraint.project(after, overwrite=True))
        states = after if acts is None else np.where(acts[:, None], after, states)
    return Before(centers, stddevs, push, square, rng)


def push_weights(structure: StatedStructure) -> FloatArray:
    """How much noise of each step but the last is pushed, (steps,): what helps most where maps move points rigidly."""
    weights = np.array(structure.weights)
    if not np.all(np.isfinite(weights)):
        weights = np.array([step.noise_stddev for step in structure.steps])
    weights[-1] = 0.0
    length = float(np.linalg.norm(weights))
    return weights / length if length else weights


def _extent(
    structure: StatedStructure, runs: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """The first and the last step that each run takes, from 0; None: all runs take them all."""
    if structure.skipped is not None:
        return rng.choice(len(structure.skipped), size=runs, p=structure.skipped), None
    if structure.stopped is not None:
        return None, rng.choice(len(structure.stopped), size=runs, p=structure.stopped)
    return None, None


def _acts(
    t: int, runs: int, first: NDArray[np.int64] | None, last: NDArray[np.int64] | None
) -> NDArray[np.bool_]:
    acts = np.ones(runs, dtype=np.bool_)
    if first is not None:
        acts &= first <= t
    if last is not None:
        acts &= t <= last
    return acts


def released(structure: StatedStructure, before: Before) -> FloatArray:
    """The outputs of a block, (k, d): its last noise drawn, and projected."""
    noise = before.rng.standard_normal(before.centers.shape)
    outputs = before.centers + before.noise_stddevs[:, None] * noise
    if structure.constraint is not None:
        outputs = np.asarray(structure.constraint.project(outputs, overwrite=True))
    return outputs
