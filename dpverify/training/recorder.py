"""The recorder of one training: it flips the canaries' coins, gives the training what is in, and keeps the scores.

The coins are the auditor's alone. The training gets the data set with the canaries that are in; the coins are written
to a file only at the end, beside the scores and a record of what was given when.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.errors import InvalidArgumentError, InvalidDataError, reason_of
from dpverify.files import write_whole
from dpverify.running import Randomness
from dpverify.running.randomness import SEED_BITS
from dpverify.training.arrays import Array, as_numpy, flattened, like, namespace, put_together
from dpverify.training.canaries import GradientCanaries, RecordCanaries
from dpverify.training.scoring import StepScore, inner_products
from dpverify.versions import library_versions, versions_of

FORMAT = 1
"""Of `canaries.json`; it grows with every change of what a field means."""

_COINS, _ORDER = 1, 2
"""Labels of the recorder's own streams."""

_TRAINING_LIBRARIES = ("torch", "opacus", "jax", "jax-privacy", "optax")


class TrainingSet(NamedTuple):
    """What a training gets: its records, and the canaries that are in, in random order.

    Attributes:
        features: (n + k, ...) with k canaries.
        labels: (n + k,).
        canary: (n + k,), for gradient canaries: each record's canary, -1 for none. None for record canaries, which
            the training cannot tell from other records.
    """

    features: Array
    labels: Array
    canary: Array | None


@dataclass(frozen=True)
class RecordedScores:
    """The scores of all canaries, and which of them were in.

    Attributes:
        scores: (m, checkpoints), higher for canaries that look as if they were in.
        steps: of the checkpoints; None for the end of a training without others.
        members: (m,), whether each canary was in.
    """

    scores: NDArray[np.float64]
    steps: tuple[int | None, ...]
    members: NDArray[np.bool_]


class CanaryRecorder:
    """Flips the coins of an audit of one training, and collects the scores of its canaries.

    Each canary is in by a fair coin of its own. Nothing tells the coins before `finish` or `write`, after which
    nothing more is taken.

    Args:
        canaries: gradients or records; see `spread_gradients`, `mislabeled_records` and others.
        seed: of the coins, an integer in [0, 2^128), so that all can be repeated: it must be one that the training
            does not use. None for coins of the operating system.
        step_score: what an update adds to the scores of gradient canaries: its inner products with their directions,
            or a `LikelihoodRatio`.

    Raises:
        InvalidArgumentError: if there are no canaries, or the seed is none.

    Examples:
        >>> import numpy as np
        >>> from dpverify.training import CanaryRecorder, spread_gradients
        >>> recorder = CanaryRecorder(spread_gradients(4, 100, norm=1.0, seed=1), seed=2)
        >>> features, labels, canary = recorder.training_set(np.ones((10, 3)), np.zeros(10))
        >>> len(features) == len(labels) == 10 + int((canary >= 0).sum())
        True
        >>> recorder.see(np.zeros(100))  # a noisy update, once each step
        >>> recorder.checkpoint()
        >>> recorder.finish().scores.shape
        (4, 1)
    """

    def __init__(
        self,
        canaries: GradientCanaries | RecordCanaries,
        *,
        seed: int | None = None,
        step_score: StepScore = inner_products,
    ) -> None:
        checks.of_kind(
            "canaries", canaries, (GradientCanaries, RecordCanaries), "GradientCanaries or RecordCanaries"
        )
        self.canaries = canaries
        self._from_system = seed is None
        self._seed = secrets.randbits(SEED_BITS) if seed is None else seed
        coins = Randomness((self._seed, _COINS)).integers(0, 2, (canaries.count,), "coins")
        self._members: NDArray[np.bool_] = coins.astype(np.bool_)
        self._step_score = step_score
        self._scores: NDArray[np.float64] = np.zeros(canaries.count)
        self._updates = 0
        self._columns: dict[int | None, NDArray[np.float64]] = {}
        self._given: list[dict[str, object]] = []
        self._finished: RecordedScores | None = None

    @property
    def commitment(self) -> str:
        """SHA-256 of the coins and their seed, to be made known before the training; it does not tell them.

        A seed that can be guessed is no secret: the commitment hides coins of the operating system alone.
        """
        text = f"dpverify coins {self._seed} {''.join('01'[coin] for coin in self._members.astype(int))}"
        return hashlib.sha256(text.encode()).hexdigest()

    def training_set(self, features: Array, labels: Array) -> TrainingSet:
        """The data set with the canaries that are in, for the training; the same at every call.

        Gradient canaries take the place of the gradients of blank records (features and label 0).

        Args:
            features: (n, ...), the training's own records; NumPy, PyTorch or JAX, as the canaries.
            labels: (n,), of the same library.

        Returns:
            The records of both in a random order, which depends on the seed and the number of records alone.

        Raises:
            InvalidArgumentError: if the records' shapes are not the canaries', or all is written already.
        """
        self._check_open()
        xp = namespace("features", features)
        namespace("labels", labels)
        if features.ndim < 1 or labels.ndim < 1 or labels.shape[0] != features.shape[0]:
            raise InvalidArgumentError(
                "labels", tuple(labels.shape), "as many labels as there are records of features"
            )
        chosen = np.flatnonzero(self._members)
        more_features, more_labels = self._records(chosen, features, labels)
        n, k = int(features.shape[0]), len(chosen)
        order = Randomness((self._seed, _ORDER)).permutation(n + k, "order")
        canary = None
        if isinstance(self.canaries, GradientCanaries):
            numbers = np.concatenate([np.full(n, -1, dtype=np.int64), chosen])[order]
            canary = like(features, numbers, dtype=xp.int32)
        self._note("training set", records=n, canaries=k)
        return TrainingSet(
            put_together(features, more_features, order), put_together(labels, more_labels, order), canary
        )

    def see(self, update: Any) -> None:
        """Take one noisy update of the training: the sum of clipped gradients and noise, before any scaling.

        Args:
            update: the gradients of all parameters in their order, flattened, (d,), or a list of arrays. One that is
                scaled the same at every step, as by the batch size, only scales the scores.

        Raises:
            InvalidArgumentError: if the canaries are records, or the update is not of d finite numbers, or the score
                of a step is not of m.
        """
        self._check_open()
        if not isinstance(self.canaries, GradientCanaries):
            raise InvalidArgumentError(
                "canaries", self.canaries.kind, "gradient canaries; records have a loss"
            )
        vector = flattened("update", update)
        if vector.shape != (self.canaries.dimension,) or not np.all(np.isfinite(vector)):
            raise InvalidArgumentError(
                "update", update, f"{self.canaries.dimension} finite numbers, one for each parameter"
            )
        added = np.asarray(self._step_score(self.canaries.scores(vector)))
        if added.shape != self._scores.shape or not np.all(np.isfinite(added)):
            raise InvalidArgumentError("step_score", added, "a function that gives a finite number a canary")
        self._scores += added
        self._updates += 1

    def checkpoint(self, step: int | None = None) -> None:
        """Score gradient canaries by the updates seen so far.

        Args:
            step: the number of steps so far; may be left out if there is one checkpoint, at the end.

        Raises:
            InvalidArgumentError: if no update was seen, or the step is not after that of the last checkpoint.
        """
        checks.require(self._updates, "updates", self._updates, "at least one, of gradient canaries")
        self.record_scores(self._scores, step=step)

    def record_scores(self, scores: ArrayLike | Array, *, step: int | None = None) -> None:
        """Take the scores of all canaries, in and out, in their order; higher means more likely in.

        Args:
            scores: (m,), of NumPy, PyTorch or JAX.
            step: the number of steps so far; may be left out if there is one checkpoint, at the end.

        Raises:
            InvalidArgumentError: if there is not one finite score for each canary, or the step is not after the last.
        """
        self._check_open()
        found = as_numpy("scores", scores)
        if found.shape != (self.canaries.count,):
            raise InvalidArgumentError(
                "scores", found.shape, f"one score for each of the {self.canaries.count} canaries"
            )
        values = checks.numbers("scores", found, allowed="finite numbers, one for each canary")
        if step is not None:
            checks.whole_number("step", step, at_least=0)
        last = next(reversed(self._columns), -1)
        if self._columns and (step is None or last is None or not step > last):
            raise InvalidArgumentError(
                "step", step, f"an integer above {last}" if last is not None else "one checkpoint alone"
            )
        self._columns[step] = values
        self._note("scores", step=step)

    def record_losses(
        self,
        losses: ArrayLike | Array,
        *,
        reference: ArrayLike | Array | None = None,
        step: int | None = None,
    ) -> None:
        """Score canaries by minus their losses, or by how far these are below those of a reference model.

        Args:
            losses: (m,), of all canaries, in and out.
            reference: (m,), the same of a model that was trained on none of them.
            step: as for `record_scores`.

        Raises:
            InvalidArgumentError: as `record_scores`.
        """
        found = as_numpy("losses", losses)
        if reference is None:
            self.record_scores(-checks.numbers("losses", found, allowed="finite numbers"), step=step)
            return
        other = as_numpy("reference", reference)
        if other.shape != found.shape:
            raise InvalidArgumentError(
                "reference", other.shape, f"one loss for each of {len(found)} canaries"
            )
        self.record_scores(checks.numbers("losses", other - found, allowed="finite numbers"), step=step)

    def finish(self) -> RecordedScores:
        """The scores and the coins; from here on nothing more is taken.

        Raises:
            InvalidDataError: if there are no scores.
        """
        if self._finished is None:
            if not self._columns:
                raise InvalidDataError(
                    "There are no scores; allowed: a checkpoint, or scores of all canaries."
                )
            table = np.column_stack(list(self._columns.values()))
            self._finished = RecordedScores(table, tuple(self._columns), self._members.copy())
        return self._finished

    def write(self, folder: str | Path) -> None:
        """Write `scores.csv`, `members.csv` and `canaries.json` into a folder, each completely or not at all.

        The last has the hashes of the others, and is written last: with it, all are there. A row of the tables is a
        canary; the columns are `score`, or `score_STEP` for each checkpoint, and `member`, 1 or 0.

        Raises:
            InvalidArgumentError: if the folder cannot be written to.
            InvalidDataError: if there are no scores.
        """
        found = self.finish()
        place = Path(folder)
        names = ["score" if step is None else f"score_{step}" for step in found.steps]
        rows = [",".join(repr(float(value)) for value in row) for row in found.scores]
        files = {
            "scores.csv": _table(names, rows),
            "members.csv": _table(["member"], [str(int(member)) for member in found.members]),
        }
        record = self._record({name: hashlib.sha256(content).hexdigest() for name, content in files.items()})
        try:
            place.mkdir(parents=True, exist_ok=True)
            (place / "canaries.json").unlink(missing_ok=True)  # of another training
            for name, content in files.items():
                write_whole(place / name, content)
            write_whole(place / "canaries.json", (json.dumps(record, indent=1) + "\n").encode())
        except (OSError, ValueError) as error:
            said = f"a folder that can be written to ({reason_of(error)})"
            raise InvalidArgumentError("folder", str(folder), said) from error

    def _records(self, chosen: NDArray[np.int64], features: Array, labels: Array) -> tuple[Array, Array]:
        """The records of the canaries that are in, in the library of the data set."""
        if isinstance(self.canaries, GradientCanaries):
            blank = [np.zeros((len(chosen), *array.shape[1:])) for array in (features, labels)]
            return like(features, blank[0]), like(labels, blank[1])
        mine, theirs = tuple(self.canaries.features.shape[1:]), tuple(features.shape[1:])
        if mine != theirs or type(self.canaries.features) is not type(features):
            raise InvalidArgumentError(
                "features", theirs, f"records of the shape {mine} in the library of the canaries"
            )
        xp = namespace("features", features)
        rows = like(features, chosen, dtype=xp.int32)
        return xp.take(self.canaries.features, rows, axis=0), xp.take(self.canaries.labels, rows, axis=0)

    def _record(self, files: dict[str, str]) -> dict[str, object]:
        """What was done, as JSON."""
        return {
            "format": FORMAT,
            "canaries": self.canaries.description(),
            "coins": {
                "from": "operating system" if self._from_system else "seed",
                "seed": str(self._seed),
                "commitment": self.commitment,
            },
            "step_score": getattr(self._step_score, "__name__", repr(self._step_score)),
            "updates": self._updates,
            "given": self._given,
            "files": files,
            "versions": {**library_versions(), **versions_of(_TRAINING_LIBRARIES)},
        }

    def _note(self, what: str, **details: object) -> None:
        self._given.append({"what": what, "after_updates": self._updates, **details})

    def _check_open(self) -> None:
        checks.require(self._finished is None, "recorder", "finished", "one whose coins are not told yet")


def _table(names: list[str], rows: list[str]) -> bytes:
    return "\n".join([",".join(names), *rows, ""]).encode()
