"""Bets against a claimed bound on the privacy profile, and why nobody can expect to win them if it is true.

Let P and Q be the output laws on the two data sets. The claim (epsilon, delta) says that for every event S

    P(S) <= e^epsilon Q(S) + delta,   and the same with P and Q exchanged.

A bet is a pair of functions h, k >= 0 of one output each, and multiplies the gambler's capital by h(x) k(y), where x is
the next run on the left and y on the right. Here

    h = 1 + s + sum_i a_i [x in S_i] - sum_j c_j b_j [x in T_j]
    k = 1 - s - sum_i a_i (c_i [y in S_i] + delta_i) + sum_j b_j ([y in T_j] - delta_j)

with any number s, stakes a, b >= 0, and c = e^epsilon. Whatever these are, the claim gives E h(x) + E k(y) <= 2. Since
x and y are independent, E h(x) k(y) = E h(x) E k(y), and by the inequality of the means that is at most
((E h + E k) / 2)^2 <= 1. So the capital is a nonnegative supermartingale if the claim is true, wherever the events,
stakes and pairs (epsilon, delta) come from, as long as they were fixed before x and y were drawn.

Among all tests of the claim that look at these events only, the bet whose capital grows fastest in the mean of its
logarithm has this form: it is the likelihood ratio of (P, Q) to the nearest pair that the claim allows (reverse
information projection: Grünwald, de Heide and Koolen 2024; for two binomials Turner, Ly and Grünwald 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_NEWTON_STEPS = 40
_HALVINGS = 24
_BARRIER = 1e-4
"""Weight of the logarithm that keeps stakes positive while the best ones are searched."""
_LEAST_FACTOR = 1e-3
"""No single output costs more than all but this part of the capital."""
_TINY = 1e-12


@dataclass(frozen=True)
class Stakes:
    """Bets of several gamblers, each on few cells of outputs: h and k on each cell, (gamblers, cells)."""

    on_left: Array
    on_right: Array


def root_growth(p: Array, q: Array, factor: Array, delta: Array) -> Array:
    """Square root of twice the best mean log-growth on one event of probability p against q, all broadcast.

    0 where p <= factor q + delta. Within a few percent: two feasible pairs near (p, q) stand for the nearest.
    """
    excess = p - factor * q - delta
    grows = excess > 0
    out: Array = np.zeros(excess.shape)
    if not grows.any():
        return out
    p, q, factor, delta, excess = (
        np.broadcast_to(each, grows.shape)[grows] for each in (p, q, factor, delta, excess)
    )
    p_spread, q_spread = p * (1 - p), factor**2 * q * (1 - q)
    share = excess / np.maximum(p_spread + q_spread, _TINY)
    pooled = (p + q - delta) / (1 + factor)
    found: Array = np.full(excess.shape, np.inf)
    for q0 in (q + share * q_spread / factor, pooled):
        p0 = factor * q0 + delta
        inside = (q0 > 0) & (q0 < 1) & (p0 < 1)
        near_p, near_q = np.where(inside, p0, 0.5), np.where(inside, q0, 0.5)
        found = np.minimum(found, np.where(inside, _relative_entropy(p, near_p, q, near_q), np.inf))
    # where neither is a pair of probabilities, the spread alone tells
    found = np.where(np.isfinite(found), found, share * excess / 2)
    out[grows] = np.sqrt(2 * np.maximum(found, 0.0))
    return out


def _relative_entropy(p: Array, p0: Array, q: Array, q0: Array) -> Array:
    total = np.zeros(p.shape)
    for one, other in ((p, p0), (1 - p, 1 - p0), (q, q0), (1 - q, 1 - q0)):
        kept = np.maximum(one, _TINY)
        total = total + kept * np.log(kept / np.maximum(other, _TINY))
    return total


def best_stakes(left: Array, right: Array, gains_left: Array, gains_right: Array) -> tuple[Array, Array]:
    """Stakes (gamblers, stakes) with the largest mean log-growth under supposed laws on cells, and that growth.

    `left` and `right` are the supposed probabilities of cells, (gamblers, cells), all positive; `gains_left` is what a
    unit of each stake adds to h on each cell, (gamblers, cells, stakes), `gains_right` likewise for k. Stake 0 is the
    number s, of any sign, the others are at least 0.
    """
    stakes = np.zeros((gains_left.shape[0], gains_left.shape[2]))
    largest = np.maximum(np.abs(gains_left).max(axis=1), np.abs(gains_right).max(axis=1))
    stakes[:, 1:] = 0.1 / stakes.shape[1] / np.maximum(largest[:, 1:], _TINY)

    def value(stakes: Array) -> tuple[Array, Array, Array]:
        h, k = _factors(stakes, gains_left, gains_right)
        positive = (h > 0).all(axis=1) & (k > 0).all(axis=1) & (stakes[:, 1:] > 0).all(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = (left * np.log(h)).sum(axis=1) + (right * np.log(k)).sum(axis=1)
            total = total + _BARRIER * np.log(stakes[:, 1:]).sum(axis=1)
        return np.where(positive, total, -np.inf), h, k

    best, h, k = value(stakes)
    along, across = "gc,gcs->gs", "gc,gcs,gct->gst"
    for _ in range(_NEWTON_STEPS):
        slope = np.einsum(along, left / h, gains_left) + np.einsum(along, right / k, gains_right)
        slope[:, 1:] += _BARRIER / stakes[:, 1:]
        bend = np.einsum(across, left / h**2, gains_left, gains_left)
        bend += np.einsum(across, right / k**2, gains_right, gains_right)
        places = np.arange(1, stakes.shape[1])
        bend[:, places, places] += _BARRIER / stakes[:, 1:] ** 2
        diagonal = np.arange(stakes.shape[1])
        bend[:, diagonal, diagonal] *= 1 + 1e-9
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        size = np.ones((len(stakes), 1))
        for _ in range(_HALVINGS + 1):
            new = stakes + size * step
            tried, new_h, new_k = value(new)
            worse = ~(tried > best)
            if not worse.any():
                break
            size = np.where(worse[:, None], size / 2, size)
        better = tried > best + 1e-13
        if not better.any():
            break
        stakes, h, k = (np.where(better[:, None], *each) for each in ((new, stakes), (new_h, h), (new_k, k)))
        best = np.where(better, tried, best)
    return stakes, (left * np.log(h)).sum(axis=1) + (right * np.log(k)).sum(axis=1)


def placed(stakes: Array, gains_left: Array, gains_right: Array) -> Stakes:
    """The bets with these stakes, scaled down where one output would cost almost all."""
    h, k = _factors(stakes, gains_left, gains_right)
    lowest = np.minimum(h.min(axis=1), k.min(axis=1))
    scale = np.minimum(1.0, (1 - _LEAST_FACTOR) / np.maximum(1 - lowest, _TINY))
    return Stakes(*_factors(stakes * scale[:, None], gains_left, gains_right))


def _factors(stakes: Array, gains_left: Array, gains_right: Array) -> tuple[Array, Array]:
    h: Array = 1 + np.einsum("gcs,gs->gc", gains_left, stakes)
    k: Array = 1 + np.einsum("gcs,gs->gc", gains_right, stakes)
    return h, k
