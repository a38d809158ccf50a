"""What is known of one training run: a score for each canary, at each checkpoint, and whether it was a member."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr
from scipy.stats import rankdata

from dpverify.auditing.outputs.sample_files import read_samples
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.quoting import quoted

FEWEST_CANARIES = 100
_UNFAIR = 1e-9
"""Probability with which fair coins may be refused, for how many are heads."""
_HELD_OUT = 20
"""Canaries, at least, of which the coins choose among checkpoints; a tenth of many."""
_WORDS = {"true": True, "false": False, "1": True, "0": False}
_SCORES = "a finite number for each canary, or a row of them, one for each checkpoint"
_MEMBERS = "0 or 1 for each canary, or true or false"


@dataclass(frozen=True, eq=False)
class CanaryScores:
    """Scores of the canaries of one training run, and their coins.

    Attributes:
        scores: (canaries, checkpoints), in the order of training.
        members: (canaries,), whether each was in the training set.
        name: what they are called in messages.
    """

    scores: FloatArray
    members: NDArray[np.bool_]
    name: str = "the scores"

    @classmethod
    def read(cls, scores: Any, members: Any) -> CanaryScores:
        """Take both from files, or from arrays.

        Raises `InvalidDataError` for missing scores, other lengths, members that are not 0 or 1, fewer than 100
        canaries, and members so few or so many that no fair coins chose them.
        """
        name, said = _name(scores, "the scores"), _name(members, "the members")
        values = _scores(scores, name)
        flags = _flags(members, said)
        if len(values) != len(flags):
            raise InvalidDataError(
                f"{name} has {len(values)} canaries and {said} {len(flags)}; allowed: as many, in the same order."
            )
        count, heads = len(flags), int(flags.sum())
        if count < FEWEST_CANARIES:
            raise InvalidDataError(f"{name} has {count} canaries; allowed: at least {FEWEST_CANARIES}.")
        if 2 * float(bdtr(min(heads, count - heads), count, 0.5)) < _UNFAIR:
            raise InvalidDataError(
                f"{said} has {heads} members of {count} canaries; allowed: a fair coin for each canary, which gives "
                "about half."
            )
        return cls(values, flags, name)

    def single(self, rng: np.random.Generator) -> tuple[CanaryScores, str, int]:
        """One score a canary, which one it is, and how many canaries were set aside to choose it.

        Of several checkpoints, or the sum of all, scaled alike, the one that tells members from others best among the
        canaries set aside is taken. The coins of these are used for nothing else.
        """
        count, checkpoints = self.scores.shape
        if checkpoints == 1:
            return self, "the score", 0
        held = rng.permutation(count)[: max(_HELD_OUT, count // 10)]
        largest = np.abs(self.scores).max(axis=0)
        scaled = self.scores / np.where(largest > 0, largest, 1.0)
        scaled = scaled - scaled.mean(axis=0)
        spread = scaled.std(axis=0)
        scaled = scaled / np.where(spread > 0, spread, 1.0)
        choices = np.column_stack([self.scores, scaled.sum(axis=1)])
        gains = [_rank_gap(column[held], self.members[held]) for column in choices.T]
        # of equals the latest: the last checkpoint before an earlier one, and the sum before all
        best = checkpoints - int(np.argmax(gains[::-1]))
        names = [f"checkpoint {i + 1} of {checkpoints}" for i in range(checkpoints)]
        names.append(f"the sum over all {checkpoints} checkpoints")
        kept = np.setdiff1d(np.arange(count), held)
        return (
            CanaryScores(choices[kept, best][:, None], self.members[kept], self.name),
            names[best],
            len(held),
        )

    def ranked(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """The coins in the order of falling scores; equal scores in an order that is drawn."""
        shuffled = rng.permutation(len(self.members))
        order = np.argsort(-self.scores[shuffled, 0], kind="stable")
        return self.members[shuffled][order]


def _rank_gap(scores: FloatArray, members: NDArray[np.bool_]) -> float:
    """By how much the mean rank of members is off that of all."""
    if not 0 < members.sum() < members.size:
        return 0.0
    ranks = rankdata(scores)
    return abs(float(ranks[members].mean() - ranks.mean()))


def _name(given: Any, otherwise: str) -> str:
    return str(given) if isinstance(given, str | PathLike) else otherwise


def _read(given: Any, name: str) -> NDArray[Any]:
    if isinstance(given, str | PathLike):
        return read_samples(given)
    try:
        found = np.asarray(given)
    except ValueError as error:
        raise InvalidDataError(f"{name} has rows of different lengths; allowed: an array.") from error
    if found.ndim == 0:
        raise InvalidDataError(
            f"{name} was {quoted(given)}; allowed: a file, or an array with an entry a canary."
        )
    return found


def _scores(given: Any, name: str) -> FloatArray:
    found = _read(given, name)
    if found.dtype.kind == "T":
        found = _cells(found)
    if found.dtype.kind not in "biuf" or found.ndim not in (1, 2) or found.size == 0:
        raise InvalidDataError(f"{name} has no table of numbers; allowed: {_SCORES}.")
    values = found.astype(np.float64).reshape(len(found), -1)
    unusable = ~np.isfinite(values).all(axis=1)
    if unusable.any():
        row = int(np.flatnonzero(unusable)[0]) + 1
        raise InvalidDataError(
            f"{name} has a score that is missing or no finite number, of canary {row} first; allowed: {_SCORES}."
        )
    return values


def _cells(texts: NDArray[Any]) -> NDArray[Any]:
    """Rows of several columns, which a file's reader gives as JSON; what is no number is NaN."""
    rows = [json.loads(text) for text in texts.tolist()]
    rows = [list(row.values()) if isinstance(row, dict) else row for row in rows]
    if not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        return texts
    return np.array([[c if isinstance(c, int | float) else np.nan for c in row] for row in rows], dtype=float)


def _flags(given: Any, name: str) -> NDArray[np.bool_]:
    found = _read(given, name)
    values = found.reshape(-1) if 0 < found.size == len(found) else found
    words = [_WORDS.get(_word(value)) for value in values.tolist()] if values.ndim == 1 else [None]
    if None in words:
        place = f", first of canary {words.index(None) + 1}" if values.ndim == 1 else ""
        raise InvalidDataError(f"{name} has something other than 0 and 1{place}; allowed: {_MEMBERS}.")
    return np.array(words, dtype=np.bool_)


def _word(value: Any) -> str:
    """A cell as text: outputs that are texts stand in quotation marks."""
    text = str(value).strip().strip('"').strip().lower()
    return text.removesuffix(".0")
