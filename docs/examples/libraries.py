"""Mechanisms of other libraries, ready to be audited; each import is made where it is needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def diffprivlib_mean(data: np.ndarray, rng: np.random.Generator) -> float:
    """Claimed 1-DP: diffprivlib's mean of numbers in [0, 1], replace-one."""
    from diffprivlib import tools

    return float(tools.mean(data[:, 0], epsilon=1.0, bounds=(0, 1), random_state=int(rng.integers(2**31))))


def diffprivlib_bayes(random_state: Any) -> Any:
    """Claimed 1-DP: diffprivlib's naive Bayes classifier as an estimator; the last column is the class."""
    from diffprivlib.models import GaussianNB

    return GaussianNB(epsilon=1.0, bounds=(0, 1), priors=[0.5, 0.5], random_state=random_state)


def opendp_sum(data: np.ndarray, rng: np.random.Generator) -> float:
    """Claimed 1-DP: a sum of numbers in [0, 1] by OpenDP's Laplace mechanism, whose randomness is its own."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return float(dp.m.make_laplace(*space, scale=1.0)(float(np.clip(data[:, 0], 0, 1).sum())))


def opendp_half(data: np.ndarray, rng: np.random.Generator) -> float:
    """The same with half of the noise, which is only 2-DP."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return float(dp.m.make_laplace(*space, scale=0.5)(float(np.clip(data[:, 0], 0, 1).sum())))


NOISE = 1.0  # standard deviation over the clipping norm


def opacus_step(data: np.ndarray, rng: np.random.Generator) -> float:
    """Claimed 1/NOISE-GDP, add-or-remove-one: one step of Opacus' optimizer on all records, gradients clipped to 1."""
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    model = GradSampleModule(torch.nn.Linear(1, 1, bias=False))
    with torch.no_grad():
        next(model.parameters()).zero_()
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0),
        noise_multiplier=NOISE,
        max_grad_norm=1.0,
        expected_batch_size=1,
        generator=generator,
    )
    records = torch.tensor(data[:, :1], dtype=torch.float32)
    # the loss -10 x w has a gradient that is clipped to 1 for every x of at least 0.1
    (-10 * model(records)).sum().backward()
    optimizer.step()
    released = float(next(model.parameters()).item())
    return released if math.isfinite(released) else 0.0
