"""Hooks put canaries where a library's own clipping and noise act on them, and see what comes out."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.extras import LIBRARIES, MissingExtraError
from dpverify.training import CanaryRecorder, blank_records, spread_gradients

pytestmark = pytest.mark.filterwarnings("default")  # other libraries' warnings are theirs
COUNT, NORM = 6, 3.0


def recorder(dimension: int) -> tuple[CanaryRecorder, list[Any]]:
    """A recorder, and the inner products of each update that it sees."""
    seen: list[Any] = []
    canaries = spread_gradients(COUNT, dimension, norm=NORM, seed=0)
    return CanaryRecorder(canaries, seed=0, step_score=lambda x: (seen.append(x), x)[1]), seen


def records() -> CanaryRecorder:
    return CanaryRecorder(blank_records(np.ones((2, 9)), np.zeros(2), 4, value=1.0, label=0, seed=0), seed=0)


def test_extras_name_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpverify.training.jax_privacy_canaries import loss_with_canaries, showing
    from dpverify.training.opacus_canaries import OpacusCanaries

    monkeypatch.setattr("dpverify.extras._is_there", lambda name: False)
    with pytest.raises(MissingExtraError, match=r"Opacus needs opacus.*\[libraries\]"):
        OpacusCanaries(None, records())
    for hook in (loss_with_canaries, showing):
        with pytest.raises(MissingExtraError, match=r"needs \w+; .*\[jax-privacy\]"):
            hook(None, records())
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    optional = tomllib.loads(text)["project"]["optional-dependencies"]
    for extra, modules in LIBRARIES.items():
        brought = {re.split(r"[><=]", one)[0].replace("-", "_") for one in optional[extra]}
        assert set(modules) <= brought


# ------------------------------------------------------------------------------------------- Opacus


def private(noise: float = 0.0, **options: Any) -> tuple[Any, Any]:
    """A small network with biases, and its private optimizer."""
    torch = pytest.importorskip("torch")
    opacus = pytest.importorskip("opacus", exc_type=ImportError)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    data = torch.utils.data.TensorDataset(torch.ones(8, 5))
    model, optimizer, *_ = opacus.PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=torch.utils.data.DataLoader(data, batch_size=4),
        noise_multiplier=noise,
        max_grad_norm=1.0,
        poisson_sampling=False,
        **options,
    )
    return model, optimizer


def backward(model: Any, size: int) -> None:
    """A backward pass whose own gradients are all 0."""
    import torch

    (0 * model(torch.ones(size, 5))).sum().backward()


def test_opacus_clips_the_canaries_and_their_sum_is_seen() -> None:
    from dpverify.training.opacus_canaries import OpacusCanaries

    model, optimizer = private()
    recorded, seen = recorder(29)
    hook = OpacusCanaries(optimizer, recorded)
    backward(model, 4)
    hook.batch(np.array([-1, 5, -1, 2]))
    optimizer.step()
    assert np.allclose(seen[-1], [0, 0, 1, 0, 0, 1], atol=1e-5)  # 3 is clipped to 1
    # physical batches of one step, as a batch memory manager makes them
    for canary, skipped in (([0, -1], True), ([3, 1], False)):
        optimizer.zero_grad()
        optimizer.signal_skip_step(do_skip=skipped)
        backward(model, 2)
        hook.batch(np.array(canary))
        optimizer.step()
    assert len(seen) == 2
    assert np.allclose(seen[-1], [1, 1, 0, 1, 0, 0], atol=1e-5)
    # two backward passes before a step
    optimizer.zero_grad()
    for canary in ([4, -1], [-1, 0]):
        backward(model, 2)
        hook.batch(np.array(canary))
    optimizer.step()
    assert np.allclose(seen[-1], [1, 0, 0, 0, 1, 0], atol=1e-5)
    # an empty batch
    optimizer.zero_grad()
    backward(model, 0)
    hook.batch(np.zeros(0, dtype=int))
    optimizer.step()
    assert np.allclose(seen[-1], 0)


def test_opacus_noise_is_seen() -> None:
    """The mean square of 50 steps and 6 directions, within a factor that it leaves with probability 1e-6."""
    from scipy.stats import chi2

    from dpverify.training.opacus_canaries import OpacusCanaries

    model, optimizer = private(noise=2.0)
    recorded, seen = recorder(29)
    hook = OpacusCanaries(optimizer, recorded)
    for _ in range(50):
        optimizer.zero_grad()
        backward(model, 2)
        hook.batch(np.array([-1, -1]))
        optimizer.step()
    low, high = chi2.ppf([5e-7, 1 - 5e-7], 300) / 300
    assert low < np.mean(np.square(seen)) / 4 < high


def test_opacus_steps_need_their_canaries() -> None:
    torch = pytest.importorskip("torch")
    from dpverify.training.opacus_canaries import OpacusCanaries

    model, optimizer = private()
    hook = OpacusCanaries(optimizer, recorder(29)[0])
    backward(model, 3)
    with pytest.raises(InvalidDataError, match=r"1 backward passes and was told the canaries of 0"):
        optimizer.step()
    hook.batch(np.array([0, 1]))
    with pytest.raises(InvalidArgumentError, match=r"^canary was 2; allowed: one for each of the 3"):
        optimizer.step()
    hook.batch(np.array([0, 1, 6]))
    with pytest.raises(InvalidArgumentError, match=r"^canaries was"):
        optimizer.step()
    for bad, name in (
        ((torch.optim.SGD(model.parameters()), recorder(29)[0]), "optimizer"),
        ((private()[1], recorder(30)[0]), "canaries"),
        ((private()[1], records()), "canaries"),
        ((private(grad_sample_mode="ghost")[1], recorder(29)[0]), "optimizer"),
    ):
        with pytest.raises(InvalidArgumentError, match=rf"^{name} was"):
            OpacusCanaries(*bad)


# ------------------------------------------------------------------------------------------- JAX-Privacy


def test_jax_privacy_clips_the_canaries_and_their_sum_is_seen() -> None:
    jax = pytest.importorskip("jax")
    jax_privacy = pytest.importorskip("jax_privacy")
    jnp = jax.numpy
    from jax_privacy.noise_addition import gaussian_privatizer

    from dpverify.training.jax_privacy_canaries import loss_with_canaries, showing

    recorded, seen = recorder(29)
    parameters = {"b": jnp.zeros(9), "a": jnp.zeros((4, 5))}

    def loss(parameters: Any, x: Any) -> Any:
        """It has no finite gradient at x = 0, as canaries' records are."""
        return jnp.sqrt(jnp.sum(parameters["a"]) * x + x) * 0.01

    gradient = jax_privacy.clipped_grad(
        loss_with_canaries(loss, recorded),
        l2_clip_norm=1.0,
        batch_argnums=(1, 2),
        keep_batch_dim=False,
        nan_safe=False,
    )
    privatizer = showing(gaussian_privatizer(stddev=1e-6, prng_key=0), recorded)
    state = privatizer.init(parameters)
    for update in (privatizer.update, jax.jit(privatizer.update)):
        clipped = gradient(parameters, jnp.array([4, -1, 2]), jnp.array([0.0, 1.0, 0.0]))
        noisy, state = update(clipped, state)
        jax.effects_barrier()
        own = 0.005 * recorded.canaries.scores(np.append(np.ones(20), np.zeros(9)))  # type: ignore[union-attr]
        assert np.allclose(seen[-1], own + np.array([0, 0, 1, 0, 1, 0]), atol=1e-4)
        assert set(noisy) == set(parameters)
    assert len(seen) == 2
    with pytest.raises(InvalidArgumentError, match=r"^canaries was 29; allowed: a dimension of 9"):
        loss_with_canaries(loss, recorded)(jnp.zeros(9), jnp.array(0), jnp.array(1.0))
    with pytest.raises(InvalidArgumentError, match=r"^canaries was"):
        loss_with_canaries(loss, records())
