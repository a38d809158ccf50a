"""Noisy SGD in NumPy, trained once with canaries: `python one_run_numpy.py FOLDER [FAULT] [CANARIES]`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dpverify.auditing.accountants import NoisyReleases
from dpverify.training import (
    CanaryRecorder,
    LikelihoodRatio,
    RecordCanaries,
    TrainingSet,
    blank_records,
    spread_gradients,
)

RECORDS, FEATURES, CANARIES = 1000, 3000, 3000
STEPS, RATE = 100, 0.1  # Poisson sampling
CLIP, NOISE = 1.0, 2.0  # the noise's standard deviation is NOISE times CLIP
NORM = 10 * CLIP  # of gradient canaries, so that clipping matters
LEARNING_RATE = 0.002
DELTA = 1e-5

CLAIM = NoisyReleases("gaussian", NOISE, STEPS, RATE)
"""What is claimed: that all steps are this, composed, for data sets with one record more or less."""

FAULTS = ("none", "noise", "clipping", "shuffled", "same-batch", "rate", "centered")


def data_set(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Records with 20 of the features each, and labels, a tenth of which are 1."""
    features = np.zeros((RECORDS, FEATURES), dtype=np.float32)
    for row in features:
        row[rng.choice(FEATURES, 20, replace=False)] = rng.normal(0, 0.2, 20)
    return features, (rng.random(RECORDS) < 0.1).astype(np.float32)


def batches(n: int, fault: str, rng: np.random.Generator) -> list[np.ndarray]:
    """The records of each step: Poisson samples, or what a faulty program takes instead."""
    rate = 3 * RATE if fault == "rate" else RATE
    if fault == "shuffled":  # each record once an epoch
        epochs = [np.array_split(rng.permutation(n), round(1 / RATE)) for _ in range(round(STEPS * RATE))]
        return [batch for epoch in epochs for batch in epoch]
    drawn = [np.flatnonzero(rng.random(n) < rate) for _ in range(STEPS)]
    return drawn[:1] * STEPS if fault == "same-batch" else drawn


def gradients(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradients of the logistic loss, one row a record."""
    return (1 / (1 + np.exp(-x @ weights)) - y)[:, np.newaxis] * x


def sum_of_clipped(rows: np.ndarray, size: float, fault: str) -> np.ndarray:
    """The sum of gradients, each clipped; or their mean clipped, then taken for a mean of clipped ones."""
    if fault == "clipping":
        mean = rows.sum(axis=0) / size
        return size * mean * min(1.0, CLIP / max(float(np.linalg.norm(mean)), 1e-12))
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return (rows * np.minimum(1.0, CLIP / lengths)).sum(axis=0)


def train(data: TrainingSet, recorder: CanaryRecorder, fault: str, rng: np.random.Generator) -> np.ndarray:
    """The weights after all steps; the recorder sees each noisy sum, if canaries are gradients."""
    weights = np.zeros(FEATURES, dtype=np.float32)
    scale = NOISE * CLIP / (3 if fault == "noise" else 1)
    for batch in batches(len(data.labels), fault, rng):
        x = data.features[batch]
        if fault == "centered" and len(batch):
            x = x - x.mean(axis=0)
        rows = gradients(weights, x, data.labels[batch])
        if data.canary is not None:
            canary = data.canary[batch]
            rows[canary >= 0] = recorder.canaries.vectors(canary[canary >= 0])
        noisy = sum_of_clipped(rows, RATE * len(data.labels), fault) + rng.normal(0, scale, FEATURES)
        if data.canary is not None:
            recorder.see(noisy)
        weights -= (LEARNING_RATE * noisy).astype(np.float32)
    return weights


def record(fault: str = "none", kind: str = "gradient", seed: int = 0) -> CanaryRecorder:
    """Train once, and score the canaries: gradients or blank records."""
    rng = np.random.default_rng([seed, 1])
    features, labels = data_set(rng)
    if kind == "gradient":
        canaries = spread_gradients(CANARIES, FEATURES, norm=NORM, seed=seed)
    else:
        canaries = blank_records(features, labels, CANARIES // 5, value=50.0, label=1, seed=seed)
    ratio = LikelihoodRatio(noise_stddev=NOISE * CLIP, size=CLIP, sampling_probability=RATE)
    recorder = CanaryRecorder(canaries, seed=seed, step_score=ratio)
    weights = train(recorder.training_set(features, labels), recorder, fault, rng)
    if isinstance(canaries, RecordCanaries):
        recorder.record_losses(np.logaddexp(0, -canaries.features @ weights))
    else:
        recorder.checkpoint()
    return recorder


if __name__ == "__main__":
    record(*sys.argv[2:]).write(Path(sys.argv[1]))
    print(f"eps={CLAIM.smallest_epsilon(DELTA).upper:.3f},delta={DELTA:g}")
