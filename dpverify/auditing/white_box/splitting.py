"""Tails far below one in all runs, by importance splitting of a stated structure, with a bound that holds.

Splitting needs runs that can be stopped and gone on with from where they are. Outputs alone do not allow that: whatever
N of them show, an event that none of them is in may have probability 0, so a bound from below is 0 unless the tail is
seen. So this is for what states its steps and their noise. A step's Gaussian noise may be drawn in parts,
whose variances add up to its own, so that even a single step can be gone on with.

One replicate. N particles go from one checkpoint to the next. At the k-th each has a potential V_k = theta c_k score,
c_k being the product of the Lipschitz constants of the steps to come (1 where one is not known), and a weight
G_k = exp(V_k - V_(k-1)), with V_0 = 0. N particles are made of them by systematic resampling, so that one with weight
G_k is expected to have G_k / M_k copies, M_k being the mean of all weights. At the end, the replicate is

    Z = M_1 ... M_m mean(1[score >= threshold] exp(-V_m)),

the last mean over particles with the V_m that they went on with. Its mean is exactly p, the tail's probability: let
h_k be P[tail | particle at checkpoint k], and R_k = M_1 ... M_k mean(h_k exp(-V_k)), over the resampled particles.
Given the particles before they are resampled, R_k is expected to be M_1 ... M_(k-1) mean(G_k h_k exp(-V_k)), where
G_k exp(-V_k) = exp(-V_(k-1)); and h_k is expected to be the h_(k-1) of where the particle came from. So R_k and R_(k-1)
have one mean, R_0 = p, and Z has the mean of R_m. (Del Moral and Garnier, 2005. Levels that are passed or not are
another choice of weights; they lose the runs that are late.)

Means at different checkpoints are not independent, as copies share what came before, and confidence bounds of them must
not be multiplied. Replicates are: independent, alike, at least 0, with mean p. So betting bounds p from
below at any number of them (`bounds`). Theta and the bet are chosen on replicates of their own. There is no bound from
above: replicates that never saw what matters look like a small tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.white_box.bounds import bet_size, mean_lower
from dpverify.auditing.white_box.simulation import generator
from dpverify.checks import FloatArray, function, number, of_kind, require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.running import StatedStructure

Score = Callable[[FloatArray], Any]
"""States (k, d) to finite numbers (k,), each state by itself."""

_TRIED = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Thetas that are tried out, relative to what would move a normal score from its mean to the threshold."""
_VARIANCE = 0.5
"""Of the logarithm of a weight, about: noise that moves it more is drawn in parts."""
_MOST_PARTS = 1000
_PILOTS = 8
_PLAIN, _PILOT, _LEARNING, _TESTING = 30, 31, 32, 33


@dataclass(frozen=True)
class RareTail:
    """A lower confidence bound of a tail.

    Attributes:
        lower: the tail's probability is at least this, but for the failure probability.
        estimate: the mean of the replicates, which is no bound.
        moves: how many steps of a particle, or parts of one, were made in all.
    """

    lower: float
    estimate: float
    moves: int


def rare_tail(
    structure: StatedStructure,
    score: Score,
    threshold: float,
    *,
    seed: int,
    failure_probability: float = 0.05,
    particles: int = 500,
    replicates: int = 32,
) -> RareTail:
    """Bound P[score(released state) >= threshold] from below, for a structure whose runs take all steps.

    Args:
        structure: the steps and their noise; the bound rests on them.
        score: of states; at checkpoints within a step also of a state with a part of its noise, not projected.
        threshold: in the score's unit.
        seed: of all that is drawn.
        failure_probability: with at most which the bound is above the tail; in (0, 1).
        particles: in a replicate.
        replicates: that the bound is made of; half as many more choose the bet.

    Raises:
        InvalidArgumentError: for arguments out of range, or runs that leave out steps.

    Examples:
        >>> from scipy.stats import norm
        >>> from dpverify.auditing.white_box import rare_tail
        >>> from dpverify.running import single_noise
        >>> found = rare_tail(single_noise(0.0, 1.0), lambda states: states[:, 0], 6.0, seed=0)
        >>> bool(0.5 < found.lower / norm.sf(6.0) < 1)  # 1e-9, by some 50,000 particles
        True
    """
    of_kind("structure", structure, StatedStructure)
    function("score", score)
    number("threshold", threshold)
    seed = whole_number("seed", seed, at_least=0, at_most=None)
    number("failure_probability", failure_probability, above=0, below=1)
    particles = whole_number("particles", particles)
    replicates = whole_number("replicates", replicates)
    if structure.skipped is not None or structure.stopped is not None:
        raise InvalidArgumentError("structure", structure, "one whose runs take all steps")
    walk = _Particles(structure, score, threshold)
    thetas = walk.thetas(particles, seed)
    pilots = [
        walk.replicates(theta, particles, _PILOTS, generator(seed, _PILOT, i))
        for i, theta in enumerate(thetas)
    ]
    promised = [_bound(one, one, failure_probability) for one in pilots]
    theta = thetas[int(np.argmax(promised))]
    learned = walk.replicates(theta, particles, max(2, replicates // 2), generator(seed, _LEARNING))
    found = walk.replicates(theta, particles, replicates, generator(seed, _TESTING))
    return RareTail(_bound(learned, found, failure_probability), float(found.mean()), walk.moves)


def _bound(learned: FloatArray, found: FloatArray, failure_probability: float) -> float:
    """By a bet that was learned, in units of the learned mean."""
    unit = float(learned.mean())
    if not unit > 0:
        return 0.0
    bet = bet_size(_relative_variance(learned), len(found), failure_probability)
    return min(1.0, unit * mean_lower(found / unit, bet, failure_probability))


def _relative_variance(values: FloatArray) -> float:
    mean = float(values.mean())
    return float(np.var(values / mean)) if mean > 0 else math.inf


class _Particles:
    """A structure's steps, of which those that matter are made in parts, with checkpoints between them."""

    def __init__(self, structure: StatedStructure, score: Score, threshold: float) -> None:
        self._structure, self._score, self._threshold = structure, score, threshold
        self.moves = 0
        deviations = np.array([step.noise_stddev for step in structure.steps])
        reach = np.array(structure.weights)
        known = bool(np.all(np.isfinite(reach)))
        self._kept = reach / deviations if known else np.ones(len(deviations))
        # how far noise of each step moves the potential, for theta 1; only speed depends on it
        self._reach = self._kept * deviations

    def thetas(self, particles: int, seed: int) -> list[float]:
        """What is tried out, by the mean and the variance of the score in plain runs."""
        scores = self._scores(self._ends(0.0, particles, 1, generator(seed, _PLAIN))[0])
        gap, variance = self._threshold - float(scores.mean()), float(scores.var())
        length = float(np.linalg.norm(self._reach))
        if not (variance > 0 and length > 0):
            return [0.0]
        self._reach *= math.sqrt(variance) / length
        return [part * max(0.0, gap) / variance for part in _TRIED]

    def replicates(self, theta: float, particles: int, count: int, rng: np.random.Generator) -> FloatArray:
        """Unbiased estimates of the tail, (count,)."""
        states, potentials, logarithms = self._ends(theta, particles, count, rng)
        reached = np.where(self._scores(states) >= self._threshold, -potentials, -np.inf)
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(logarithms + _log_means(reached.reshape(count, particles))))

    def _ends(
        self, theta: float, particles: int, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The particles, the potentials that they went on with, and the logarithms of the products, (count,)."""
        structure, logarithms = self._structure, np.zeros(count)
        states = np.tile(np.asarray(structure.start), (count * particles, 1))
        potentials, gone = np.zeros(count * particles), 0.0
        for t, step in enumerate(structure.steps):
            states = step.images(states, rng)
            strength = (theta * self._reach[t]) ** 2 / _VARIANCE
            parts = min(_MOST_PARTS, max(1, math.ceil(strength)))
            for part in range(1, parts + 1):
                noise = rng.standard_normal(states.shape)
                states = states + step.noise_stddev / math.sqrt(parts) * noise
                if part == parts and structure.constraint is not None:
                    states = np.asarray(structure.constraint.project(states))
                gone += strength / parts
                last = part == parts and t == len(structure.steps) - 1
                if gone >= 0.5 and not last:
                    gone = 0.0
                    after = theta * self._kept[t] * self._scores(states)
                    weights = (after - potentials).reshape(count, particles)
                    logarithms += _log_means(weights)
                    chosen = _resampled(weights, rng)
                    states, potentials = states[chosen], after[chosen]
            self.moves += parts * len(states)
        return states, potentials, logarithms

    def _scores(self, states: FloatArray) -> FloatArray:
        found = np.asarray(self._score(states), dtype=np.float64)
        allowed = f"a function of states (k, d) to finite numbers (k,), here {states.shape[:1]}"
        require(found.shape == states.shape[:1] and np.all(np.isfinite(found)), "score", self._score, allowed)
        return found


def _log_means(logarithms: FloatArray) -> FloatArray:
    """The logarithms of the means of exp of each row, (rows, columns)."""
    found: FloatArray = np.logaddexp.reduce(logarithms, axis=1) - math.log(logarithms.shape[1])
    return found


def _resampled(logarithms: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """The particle, among all, that each one goes on from: systematic resampling by weights (replicates, particles)."""
    replicates, particles = logarithms.shape
    sums = np.cumsum(np.exp(logarithms - logarithms.max(axis=1, keepdims=True)), axis=1)
    sums /= sums[:, -1:]
    places = (np.arange(particles) + rng.random((replicates, 1))) / particles
    # one search for all: replicate i's sums lie in (i, i + 1]
    rows = np.arange(replicates)[:, None]
    chosen = np.searchsorted((sums + rows).ravel(), (places + rows).ravel(), side="right").reshape(
        places.shape
    )
    found: NDArray[np.int64] = np.clip(chosen, particles * rows, particles * (rows + 1) - 1).ravel()
    return found
