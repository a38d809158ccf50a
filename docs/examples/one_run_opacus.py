"""A training with Opacus, once, with canaries: `python one_run_opacus.py FOLDER [FAULT] [CANARIES]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.data_loader import DPDataLoader
from torch.nn.functional import softplus
from torch.utils.data import DataLoader, TensorDataset

from dpverify.auditing.accountants import NoisyReleases
from dpverify.training import (
    CanaryRecorder,
    LikelihoodRatio,
    RecordCanaries,
    blank_records,
    mislabeled_records,
    spread_gradients,
)
from dpverify.training.opacus_canaries import OpacusCanaries

RECORDS, FEATURES, CANARIES = 1000, 3000, 3000
STEPS, RATE = 100, 0.1  # Poisson sampling
CLIP, NOISE = 1.0, 2.0  # the noise's standard deviation is NOISE times CLIP
NORM = 10 * CLIP  # of gradient canaries, so that clipping matters
LEARNING_RATE = 0.002  # of sums of gradients
DELTA = 1e-5

CLAIM = NoisyReleases("gaussian", NOISE, STEPS, RATE)
"""What is claimed: that all steps are this, composed, for data sets with one record more or less."""

FAULTS = ("none", "noise", "clipping", "shuffled", "same-batch", "rate", "centered")


class Linear(torch.nn.Module):
    """A linear model; a faulty one subtracts the mean of its batch, which no validator of layers can notice."""

    def __init__(self, centered: bool) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(FEATURES, 1, bias=False)
        torch.nn.init.zeros_(self.layer.weight)
        self.centered = centered

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        if self.centered and len(features):
            features = features - features.mean(dim=0)
        return self.layer(features)[:, 0]


def losses(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The logistic loss of each record."""
    return softplus(outputs) - labels * outputs


def data_set(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Records with about 20 of the features each, and labels, a tenth of which are 1."""
    used = torch.rand(count, FEATURES, generator=generator) < 20 / FEATURES
    features = torch.where(used, 0.2 * torch.randn(count, FEATURES, generator=generator), 0.0)
    return features, (torch.rand(count, generator=generator) < 0.1).float()


def loader(data: TensorDataset, fault: str, generator: torch.Generator) -> Any:
    """The batches of one epoch: Poisson samples, or what a faulty program takes instead."""
    if fault == "shuffled":  # each record once an epoch, which Opacus calls poisson_sampling=False
        return DataLoader(data, batch_size=round(RATE * len(data)), shuffle=True, generator=generator)
    rate = 3 * RATE if fault == "rate" else RATE
    sampled = DPDataLoader(data, sample_rate=rate, generator=generator)
    sampled.batch_sampler.steps = round(1 / RATE)
    return [next(iter(sampled))] * round(1 / RATE) if fault == "same-batch" else sampled


def clip_the_mean(optimizer: Any) -> None:
    """Let a private optimizer clip the mean of a batch, as `clip_grad_norm_` does, and take it for clipped records."""

    def clip_and_accumulate() -> None:
        for parameter in optimizer.params:
            parameter.summed_grad = parameter.grad_sample.sum(dim=0)
        mean = (
            torch.stack([p.summed_grad.norm() for p in optimizer.params]).norm()
            / optimizer.expected_batch_size
        )
        for parameter in optimizer.params:
            parameter.summed_grad *= min(1.0, optimizer.max_grad_norm / float(mean))

    optimizer.clip_and_accumulate = clip_and_accumulate


def record(fault: str = "none", kind: str = "gradient", seed: int = 0) -> CanaryRecorder:
    """Train once, and score the canaries: gradients, blank records or mislabeled ones."""
    generator = torch.Generator().manual_seed(seed)
    features, labels = data_set(RECORDS, generator)
    canaries: Any
    if kind == "gradient":
        canaries = spread_gradients(CANARIES, FEATURES, norm=NORM, seed=seed)
    elif kind == "blank":
        canaries = blank_records(features, labels, CANARIES // 5, value=50.0, label=1, seed=seed)
    else:
        canaries = mislabeled_records(*data_set(CANARIES, generator), CANARIES, classes=2, seed=seed)
    ratio = LikelihoodRatio(noise_stddev=NOISE * CLIP, size=CLIP, sampling_probability=RATE)
    recorder = CanaryRecorder(canaries, seed=seed, step_score=ratio)
    records = recorder.training_set(features, labels)
    numbers = torch.full((len(records.labels),), -1) if records.canary is None else records.canary
    data = TensorDataset(records.features, records.labels, numbers)

    model = Linear(centered=fault == "centered")
    model, optimizer, _ = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=LEARNING_RATE),
        data_loader=DataLoader(data, batch_size=round(RATE * len(data))),
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
        loss_reduction="sum",
        noise_generator=generator,
        poisson_sampling=False,  # the batches are those of `loader`
    )
    optimizer.expected_batch_size = RATE * len(data)
    if fault == "noise":
        optimizer.noise_multiplier = NOISE / 3
    if fault == "clipping":
        clip_the_mean(optimizer)
    if kind == "gradient":
        put_in = OpacusCanaries(optimizer, recorder)
    batches = loader(data, fault, generator)
    for _ in range(round(STEPS * RATE)):
        for features, labels, canary in batches:
            optimizer.zero_grad()
            losses(model(features), labels).sum().backward()
            if kind == "gradient":
                put_in.batch(canary)
            optimizer.step()

    if isinstance(canaries, RecordCanaries):
        model.eval()
        with torch.no_grad():
            outputs = canaries.features @ model._module.layer.weight[0]
        recorder.record_losses(losses(outputs, canaries.labels))
    else:
        recorder.checkpoint()
    return recorder


if __name__ == "__main__":
    record(*sys.argv[2:]).write(Path(sys.argv[1]))
    print(f"eps={CLAIM.smallest_epsilon(DELTA).upper:.3f},delta={DELTA:g}")
