"""Gradient canaries in a training with Opacus.

`DPOptimizer.step` clips per-example gradients, sums them up, adds noise, and scales the result. The canaries take the
place of their records' gradients before the first of these, and are scored by what there is after the third.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpverify import extras
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.training.arrays import Array, as_numpy
from dpverify.training.canaries import GradientCanaries, canary_numbers
from dpverify.training.recorder import CanaryRecorder


class OpacusCanaries:
    """Puts gradient canaries into the per-example gradients of an Opacus optimizer, and shows its noisy sums.

    The optimizer is changed in place, once it is made private; its own clipping and noise are what is audited. Before
    each `step`, call `batch` with the canaries of the batch.

    Args:
        optimizer: a `DPOptimizer`, as `PrivacyEngine.make_private` returns it, with flat clipping and per-example
            gradients (`grad_sample_mode` hooks, functorch or ew).
        recorder: of gradient canaries with as many coordinates as there are parameters.

    Raises:
        MissingExtraError: if Opacus is not installed.
        InvalidArgumentError: if the optimizer is none of Opacus, or keeps no per-example gradients, or the canaries
            do not fit its parameters.

    Examples:
        Needs Opacus; `docs/examples/one_run_opacus.py` is a whole training::

            model, optimizer, loader = PrivacyEngine().make_private(...)
            canaries = OpacusCanaries(optimizer, recorder)
            for features, labels, canary in loader:
                optimizer.zero_grad()
                loss(model(features), labels).backward()
                canaries.batch(canary)
                optimizer.step()
            recorder.checkpoint()
            recorder.write("scores")
    """

    def __init__(self, optimizer: Any, recorder: CanaryRecorder) -> None:
        extras.require_module("Canaries in Opacus", "opacus")
        from opacus.optimizers import DPOptimizer
        from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping

        if not isinstance(optimizer, DPOptimizer) or isinstance(optimizer, DPOptimizerFastGradientClipping):
            raise InvalidArgumentError(
                "optimizer",
                optimizer,
                "a DPOptimizer of Opacus with per-example gradients (no ghost clipping)",
            )
        if not isinstance(recorder.canaries, GradientCanaries):
            raise InvalidArgumentError("canaries", recorder.canaries.kind, "gradient canaries")
        count = sum(parameter.numel() for parameter in optimizer.params)
        if count != recorder.canaries.dimension:
            raise InvalidArgumentError(
                "canaries", recorder.canaries.dimension, f"a dimension of {count}, the number of parameters"
            )
        self._optimizer, self._recorder, self._canaries = optimizer, recorder, recorder.canaries
        self._batch: Array | None = None
        self._clip, self._add_noise = optimizer.clip_and_accumulate, optimizer.add_noise
        optimizer.clip_and_accumulate, optimizer.add_noise = self._put_in, self._look

    def batch(self, canary: Array) -> None:
        """Say which canary each record of the coming step is, (batch size,); -1 for none."""
        self._batch = canary

    def _put_in(self) -> None:
        """Clip, with the canaries in the place of their records' gradients."""
        if self._batch is None:
            raise InvalidDataError(
                "A step began without its canaries; allowed: batch(canary) before each step."
            )
        canary = as_numpy("canary", self._batch).reshape(-1)
        self._batch = None
        rows = np.flatnonzero(canary >= 0)
        vectors = self._canaries.vectors(canary_numbers(canary[rows], self._canaries.count))
        start = 0
        for parameter in self._optimizer.params:
            # of physical batches that are accumulated, the last is this one
            samples = parameter.grad_sample
            sample = samples[-1] if isinstance(samples, list) else samples
            if sample is None or len(sample) != len(canary):
                found = "none" if sample is None else len(sample)
                raise InvalidArgumentError(
                    "canary", len(canary), f"one for each per-example gradient, of which there are {found}"
                )
            size = parameter.numel()
            part = vectors[:, start : start + size].reshape(len(rows), *parameter.shape)
            sample[rows] = sample.new_tensor(part)
            start += size
        self._clip()

    def _look(self) -> None:
        """Add noise, and show the recorder the noisy sum."""
        self._add_noise()
        self._recorder.see([parameter.grad for parameter in self._optimizer.params])
