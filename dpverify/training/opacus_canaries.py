"""Gradient canaries in a training with Opacus.

`DPOptimizer.step` clips per-example gradients, sums them up, adds noise, and scales the result. The canaries take the
place of their records' gradients before the first of these, and are scored by what there is after the third.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify import extras
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.training.arrays import Array, as_numpy
from dpverify.training.canaries import GradientCanaries, canary_numbers
from dpverify.training.recorder import CanaryRecorder


class OpacusCanaries:
    """Puts gradient canaries into the per-example gradients of an Opacus optimizer, and shows its noisy sums.

    The optimizer is changed in place, once it is made private; its own clipping and noise are what is audited. Before
    each `step`, call `batch` with the canaries of the batch. Train in one process: of several, each sees a part.

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
        self._batches: list[Array] = []
        self._clip, self._add_noise = optimizer.clip_and_accumulate, optimizer.add_noise
        optimizer.clip_and_accumulate, optimizer.add_noise = self._put_in, self._look

    def batch(self, canary: Array) -> None:
        """Say which canary each record of a batch is, (batch size,), -1 for none: once for each backward pass."""
        self._batches.append(canary)

    def _put_in(self) -> None:
        """Clip, with the canaries in the place of their records' gradients."""
        batches, self._batches = self._batches, []
        start = 0
        for parameter in self._optimizer.params:
            found = parameter.grad_sample
            samples = found if isinstance(found, list) else [] if found is None else [found]
            if len(samples) != len(batches):
                raise InvalidDataError(
                    f"A step has {len(samples)} backward passes and was told the canaries of {len(batches)}; allowed: "
                    "batch(canary) once for each."
                )
            for sample, canary in zip(samples, batches, strict=True):
                self._replace(sample, as_numpy("canary", canary).reshape(-1), start)
            start += parameter.numel()
        self._clip()

    def _replace(self, sample: Any, canary: NDArray[Any], start: int) -> None:
        """Put the canaries' coordinates from `start` on into one parameter's per-example gradients."""
        if len(sample) != len(canary):
            raise InvalidArgumentError("canary", len(canary), f"one for each of the {len(sample)} gradients")
        rows = np.flatnonzero(canary >= 0)
        chosen = canary_numbers(canary[rows], self._canaries.count)
        if len(rows):
            size = sample[0].numel()
            part = self._canaries.vectors(chosen, first=start, size=size)
            sample[rows] = sample.new_tensor(part.reshape(len(rows), *sample.shape[1:]))

    def _look(self) -> None:
        """Add noise, and show the recorder the noisy sum."""
        self._add_noise()
        self._recorder.see([parameter.grad for parameter in self._optimizer.params])
