"""Subjects of Opacus and JAX-Privacy: one noisy step on all records, whose gradients are the records, clipped to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float64]
Rng = np.random.Generator


def _opacus_step(data: Data, rng: Rng, optimizer: str = "DPOptimizer", **arguments: Any) -> tuple[float, Any]:
    """The weight after a step of length 1 from 0, and the optimizer."""
    import opacus.optimizers
    import torch
    from opacus import GradSampleModule

    torch.set_num_threads(1)
    model = GradSampleModule(torch.nn.Linear(1, 1, bias=False), loss_reduction="sum")
    with torch.no_grad():
        next(model.parameters()).zero_()
    private = getattr(opacus.optimizers, optimizer)(
        torch.optim.SGD(model.parameters(), lr=1.0),
        **{"noise_multiplier": 1.0, "max_grad_norm": 1.0, **arguments},
        expected_batch_size=1,
        loss_reduction="sum",
        generator=torch.Generator().manual_seed(int(rng.integers(2**31))),
    )
    model(torch.tensor(data[:, :1], dtype=torch.float32)).sum().backward()
    private.step()
    return float(next(model.parameters()).item()), private


def opacus_step(data: Data, rng: Rng) -> float:
    return _opacus_step(data, rng)[0]


def opacus_half(data: Data, rng: Rng) -> float:
    """Planted: half the noise that a multiplier of 1 stands for."""
    return _opacus_step(data, rng, noise_multiplier=0.5)[0]


def opacus_per_layer(data: Data, rng: Rng) -> float:
    return _opacus_step(data, rng, "DPPerLayerOptimizer", max_grad_norm=[1.0])[0]


def opacus_adaptive(data: Data, rng: Rng) -> list[float]:
    """The weight, and the logarithm of the clipping norm that the next step uses."""
    weight, private = _opacus_step(
        data,
        rng,
        "AdaClipDPOptimizer",
        target_unclipped_quantile=0.5,
        clipbound_learning_rate=1.0,
        max_clipbound=1e6,
        min_clipbound=1e-6,
        unclipped_num_std=0.51,
    )
    return [weight, float(np.log(float(private.max_grad_norm)))]


_clipped: list[Any] = []
"""The compiled function, made once."""


def _jax_step(data: Data, rng: Rng, noise: float) -> float:
    import jax
    import jax.numpy as jnp
    from jax_privacy import clipping, noise_addition

    if not _clipped:
        _clipped.append(
            jax.jit(clipping.clipped_grad(lambda w, x: jnp.sum(w * x), l2_clip_norm=1.0, keep_batch_dim=True))
        )
    summed = _clipped[0](jnp.zeros(1), jnp.asarray(data[:, :1], dtype=jnp.float32))
    privatizer = noise_addition.gaussian_privatizer(
        stddev=noise, prng_key=jax.random.key(int(rng.integers(2**31)))
    )
    released, _ = privatizer.update(summed, privatizer.init(jnp.zeros(1)))
    return float(released[0])


def jax_step(data: Data, rng: Rng) -> float:
    return _jax_step(data, rng, 1.0)


def jax_half(data: Data, rng: Rng) -> float:
    """Planted: half the noise that a multiplier of 1 stands for."""
    return _jax_step(data, rng, 0.5)
