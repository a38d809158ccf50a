"""Gradient canaries in a training with JAX-Privacy.

`clipped_grad` differentiates the loss of each record, so a canary is a loss that is linear in the parameters: its
gradient is the canary, whatever the parameters are. The noisy sum is what a privatizer returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpverify import extras
from dpverify.errors import InvalidArgumentError
from dpverify.training.arrays import Array
from dpverify.training.canaries import GradientCanaries
from dpverify.training.recorder import CanaryRecorder


def loss_with_canaries(loss: Callable[..., Array], recorder: CanaryRecorder) -> Callable[..., Array]:
    """A loss of one record whose gradient is a canary where the record is one.

    Args:
        loss: `(parameters, *record)` to a number, without a batch axis; parameters are any tree of arrays.
        recorder: of gradient canaries with as many coordinates as there are parameters.

    Returns:
        `(parameters, canary, *record)` to a number, where `canary` is the record's canary, -1 for none. It is for
        `jax_privacy.clipped_grad(..., batch_argnums=(1, 2, ...), keep_batch_dim=False)`.

    Raises:
        MissingExtraError: if JAX is not installed.
        InvalidArgumentError: if the canaries are no gradients; once called, if they do not fit the parameters.

    Examples:
        Needs JAX-Privacy; `docs/examples/one_run_jax_privacy.py` is a whole training::

            gradient = clipped_grad(
                loss_with_canaries(loss, recorder), l2_clip_norm=1.0, batch_argnums=(1, 2, 3), keep_batch_dim=False
            )
            privatizer = showing(gaussian_privatizer(stddev=2.0, prng_key=key), recorder)
    """
    extras.require_module("Canaries in JAX-Privacy", "jax")
    import jax
    import jax.numpy as jnp

    canaries = recorder.canaries
    if not isinstance(canaries, GradientCanaries):
        raise InvalidArgumentError("canaries", canaries.kind, "gradient canaries")
    owner = canaries.owner.astype(np.int32)
    entries = (canaries.signs * canaries.entry).astype(np.float32)

    def either(parameters: Any, canary: Array, *record: Any) -> Array:
        flat = jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(parameters)])
        if flat.shape != owner.shape:
            raise InvalidArgumentError(
                "canaries", len(owner), f"a dimension of {flat.size}, the number of parameters"
            )
        is_canary = canary >= 0
        mine = jnp.dot(jnp.where((owner == canary) & is_canary, entries, 0.0), flat)
        # a loss that is not taken may have no finite gradient: its parameters are cut off, too
        used = jax.tree.map(lambda leaf: jnp.where(is_canary, jax.lax.stop_gradient(leaf), leaf), parameters)
        return jnp.where(is_canary, mine, loss(used, *record))

    return either


def showing(privatizer: Any, recorder: CanaryRecorder) -> Any:
    """A privatizer of JAX-Privacy, or any optax transformation, whose results the recorder sees, also under `jit`.

    Before `recorder.checkpoint`, call `jax.effects_barrier()` if updates are jitted.

    Args:
        privatizer: an `optax.GradientTransformation` that adds noise to the sum of clipped gradients.
        recorder: of gradient canaries.

    Returns:
        The same transformation; its results are unchanged.

    Raises:
        MissingExtraError: if JAX or optax is not installed.
    """
    extras.require_module("Canaries in JAX-Privacy", "optax")
    import jax
    import optax

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        noisy, after = privatizer.update(updates, state, params)
        jax.debug.callback(lambda leaves: recorder.see(list(leaves)), jax.tree.leaves(noisy), ordered=True)
        return noisy, after

    return optax.GradientTransformation(privatizer.init, update)
