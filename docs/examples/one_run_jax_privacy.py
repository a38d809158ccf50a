"""A training with JAX-Privacy, once, with canaries: `python one_run_jax_privacy.py FOLDER [FAULT] [CANARIES]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy import clipped_grad
from jax_privacy.batch_selection import CyclicPoissonSampling
from jax_privacy.noise_addition import gaussian_privatizer

from dpverify.auditing.accountants import NoisyReleases
from dpverify.training import CanaryRecorder, LikelihoodRatio, RecordCanaries, blank_records, spread_gradients
from dpverify.training.jax_privacy_canaries import loss_with_canaries, showing

RECORDS, FEATURES, CANARIES = 1000, 3000, 3000
STEPS, RATE = 100, 0.1  # Poisson sampling
CLIP, NOISE = 1.0, 2.0  # the noise's standard deviation is NOISE times CLIP
NORM = 10 * CLIP  # of gradient canaries, so that clipping matters
LEARNING_RATE = 0.002  # of sums of gradients
DELTA = 1e-5

CLAIM = NoisyReleases("gaussian", NOISE, STEPS, RATE)
"""What is claimed: that all steps are this, composed, for data sets with one record more or less."""

FAULTS = ("none", "noise", "clipping", "shuffled", "same-batch", "rate", "centered")


def loss(weights: jax.Array, features: jax.Array, label: jax.Array) -> jax.Array:
    """The logistic loss of one record, or of a batch."""
    output = features @ weights
    return jnp.sum(jax.nn.softplus(output) - label * output)


def data_set(rng: np.random.Generator) -> tuple[jax.Array, jax.Array]:
    """Records with about 20 of the features each, and labels, a tenth of which are 1."""
    used = rng.random((RECORDS, FEATURES)) < 20 / FEATURES
    features = np.where(used, rng.normal(0, 0.2, used.shape), 0)
    return jnp.asarray(features, jnp.float32), jnp.asarray(rng.random(RECORDS) < 0.1, jnp.float32)


def batches(n: int, fault: str, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """The records of each step: Poisson samples, or what a faulty program takes instead."""
    if fault == "shuffled":  # each record once an epoch
        for _ in range(round(STEPS * RATE)):
            yield from np.array_split(rng.permutation(n), round(1 / RATE))
        return
    sampling = CyclicPoissonSampling(sampling_prob=3 * RATE if fault == "rate" else RATE, iterations=STEPS)
    drawn = sampling.batch_iterator(n, rng)
    if fault == "same-batch":
        first = next(drawn)
        yield from (first for _ in range(STEPS))
    else:
        yield from drawn


def clipped_mean(loss_of_records: Any, size: float) -> Any:
    """A faulty gradient: the mean of a batch is clipped, and taken for a mean of clipped gradients."""

    def gradient(weights: jax.Array, *records: jax.Array, is_padding_example: jax.Array) -> jax.Array:
        rows = jax.vmap(jax.grad(loss_of_records), (None, 0, 0, 0))(weights, *records)
        mean = jnp.where(is_padding_example[:, None], 0, rows).sum(axis=0) / size
        return size * mean * jnp.minimum(1, CLIP / jnp.linalg.norm(mean))

    return gradient


def record(fault: str = "none", kind: str = "gradient", seed: int = 0) -> CanaryRecorder:
    """Train once, and score the canaries: gradients or blank records."""
    rng = np.random.default_rng([seed, 1])
    features, labels = data_set(rng)
    canaries: Any
    if kind == "gradient":
        canaries = spread_gradients(CANARIES, FEATURES, norm=NORM, seed=seed)
    else:
        canaries = blank_records(features, labels, CANARIES // 5, value=50.0, label=1, seed=seed)
    ratio = LikelihoodRatio(noise_stddev=NOISE * CLIP, size=CLIP, sampling_probability=RATE)
    recorder = CanaryRecorder(canaries, seed=seed, step_score=ratio)
    data = recorder.training_set(features, labels)
    n = len(data.labels)

    privatizer = gaussian_privatizer(stddev=NOISE * CLIP / (3 if fault == "noise" else 1), prng_key=seed)
    if kind == "gradient":
        one, numbers = loss_with_canaries(loss, recorder), data.canary
        privatizer = showing(privatizer, recorder)
    else:
        one, numbers = lambda weights, _, *record: loss(weights, *record), jnp.full(n, -1)
    gradient = clipped_grad(one, l2_clip_norm=CLIP, batch_argnums=(1, 2, 3), keep_batch_dim=False)
    if fault == "clipping":
        gradient = clipped_mean(one, RATE * n)

    @jax.jit
    def step(weights: jax.Array, state: Any, batch: jax.Array) -> tuple[jax.Array, Any]:
        padding = batch < 0
        x = data.features[batch]
        if fault == "centered":
            x = x - jnp.where(padding[:, None], 0, x).sum(axis=0) / jnp.maximum((~padding).sum(), 1)
        clipped = gradient(weights, numbers[batch], x, data.labels[batch], is_padding_example=padding)
        noisy, state = privatizer.update(clipped, state)
        return weights - LEARNING_RATE * noisy, state

    weights = jnp.zeros(FEATURES)
    state = privatizer.init(weights)
    most = round(
        (3.5 if fault == "rate" else 1.5) * RATE * n
    )  # far above any batch, so that one shape is compiled
    for batch in batches(n, fault, rng):
        weights, state = step(weights, state, np.pad(batch, (0, most - len(batch)), constant_values=-1))
    jax.effects_barrier()

    if isinstance(canaries, RecordCanaries):
        recorder.record_losses(jax.vmap(loss, (None, 0, 0))(weights, canaries.features, canaries.labels))
    else:
        recorder.checkpoint()
    return recorder


if __name__ == "__main__":
    record(*sys.argv[2:]).write(Path(sys.argv[1]))
    print(f"eps={CLAIM.smallest_epsilon(DELTA).upper:.3f},delta={DELTA:g}")
