"""The special cases against mn25's Lemmas 2 and 3, run: their optimizers are as accurate as the rows say."""

from __future__ import annotations

import numpy as np
import pytest

C_1 = 480.0


def loss(w: np.ndarray, x: np.ndarray, part_in_v: np.ndarray, offset: float) -> float:
    """The hard instance's loss, of the part of w in V and the rows X_1, ..., X_K."""
    return float(max(np.abs(x @ w - offset).max(), 2 * np.linalg.norm(part_in_v)))


@pytest.mark.parametrize("seed", range(3))
def test_a_direction_orthogonal_to_the_subspace_is_free(seed: int) -> None:
    """The special case of Lemma 3: the event whose probability is to be at most 1/10 happens."""
    rng = np.random.default_rng(seed)
    d, K = 128, 4
    alpha = 1 / (C_1 * np.sqrt(K))
    basis = np.linalg.qr(rng.standard_normal((d, d // 2 + K)))[0].T
    v, x = basis[: d // 2], basis[d // 2 :]
    query = 1e6 * rng.standard_normal(d)
    answer = v.T @ (v @ query)  # h is the maximum there, and its value and gradient say this
    assert 2 * np.linalg.norm(answer) > np.abs(x @ query - C_1 * alpha).max()
    o = (query - answer) / np.linalg.norm(query - answer)
    assert np.abs(x @ o).min() > 1e-6  # no multiple of o is orthogonal to an X_k: S is {0}
    y = o - x.T @ (x @ o)
    y /= np.linalg.norm(y)
    s = 0.06
    w = 479 / 480 * C_1 * alpha * x.sum(axis=0) + s * y
    assert np.linalg.norm(w) <= 1
    assert loss(w, x, v @ w, C_1 * alpha) == pytest.approx(alpha, rel=1e-9)
    z = answer / np.linalg.norm(answer)
    u = w - z * (z @ w)
    u -= x.T @ (x @ u)
    assert np.linalg.norm(u) >= 2 * np.linalg.norm(v @ u) + 2 * alpha
    # without the free direction it does not
    u -= y * (y @ u)
    assert np.linalg.norm(u) < 2 * np.linalg.norm(v @ u) + 2 * alpha


def test_the_noisy_sum_of_all_vectors_is_enough() -> None:
    """The special case of Lemma 2: noise that hides each vector leaves the optimizer accurate.

    By symmetry, X are the first coordinates and V the last half of them. With another seed, a vector is not met with
    probability K exp(-3 log K), below 1/200, and the loss is too large with a probability far below that.
    """
    rng = np.random.default_rng(1)
    d, K = 2_000_000, 16
    alpha = 1 / (C_1 * np.sqrt(K))
    offset = C_1 * alpha
    met: dict[int, float] = {}
    for _ in range(3 * int(K * np.log(K)) + 1):
        inner = 1e6 * rng.standard_normal(K)  # <query, X_k>, the query being orthogonal to V
        sides = [np.abs(sign * inner - offset) for sign in (1, -1)]
        side = int(sides[1].max() > sides[0].max())
        k = int(sides[side].argmax())
        slope = np.sign((1, -1)[side] * inner[k] - offset)
        met[k] = -slope  # of the two queries +r and -r, the larger value has the gradient -X_k
    assert sorted(met) == list(range(K))
    assert set(met.values()) == {1.0}
    noise = np.sqrt(0.003 * K / d)
    released = rng.standard_normal(d) * noise
    released[:K] += 1
    w = (1 - 1 / 960) * offset * released
    w[d // 2 :] = 0  # what h's gradient at the sum tells
    assert np.linalg.norm(w) <= 1
    off = np.abs(w[:K] - offset).max()
    assert off <= alpha
    # ten times the noise is too much for the ball
    assert np.linalg.norm(offset * 10 * noise * rng.standard_normal(d // 2)) > np.sqrt(1 - (959 / 960) ** 2)
