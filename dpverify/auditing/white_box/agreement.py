"""Whether outputs follow the structure or the law that is stated for them, as far as numbers of a run can show.

Outputs of the mechanism are compared with as many of the structure, or with the stated law, by the largest distance
between distribution functions. Under one law each is within sqrt(ln(2 / level) / (2 runs)) of the true one but with
probability `level` (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990), also where numbers repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify.auditing.black_box.scores import kolmogorov
from dpverify.auditing.confidence import band_width
from dpverify.auditing.white_box.simulation import blocks, released
from dpverify.auditing.white_box.stated_laws import StatedLaw
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.running import StatedStructure

_STAGE = 30
_ROUNDED = 1e-9
"""By how much a number may be off, relative to itself where it is above 1: no law is told from another by less."""


@dataclass(frozen=True)
class Agreement:
    """How outputs differ from what is stated of them, in words, empty where they do not; on so many of each data set.

    A distance of `width` between distribution functions is always found; smaller ones may not be.
    """

    contradiction: str
    width: float
    runs: int
    stated: str = "structure"


def compare(
    outputs: tuple[ArrayLike, ArrayLike],
    structures: tuple[StatedStructure, StatedStructure],
    direction: FloatArray,
    level: float,
    seed: int,
) -> Agreement:
    """Compare outputs on both data sets, (runs, d), with what is stated of them.

    Looks at the component along `direction` and, in more than one dimension, at the distance from the start.
    """
    start = np.asarray(structures[0].start)
    looks: dict[str, Callable[[FloatArray], FloatArray]] = {
        "the component in which the data sets differ most": lambda x: x @ direction
    }
    if start.size > 1:
        looks["the distance from the start"] = lambda x: np.linalg.norm(x - start, axis=1)
    each = level / (4 * len(looks))
    worst, width, runs = "", 0.0, 0
    for side, (given, structure, name) in enumerate(zip(outputs, structures, ("left", "right"), strict=True)):
        real = _numbers(given, structure.dimension, name)
        runs = len(real)
        width = 2 * band_width(runs, each)
        found = blocks(structure, runs, seed=seed, stage=_STAGE + side, direction=0 * direction)
        stated = np.concatenate([released(structure, before) for before in found])
        for what, look in looks.items():
            distance = kolmogorov(look(real), look(stated))
            if distance > width and not worst:
                worst = (
                    f"{what} on the {name} data set has a distribution function that is {distance:.3g} away from "
                    f"that of the stated structure; chance explains {width:.3g}"
                )
    return Agreement(worst, width, runs)


def compare_with_laws(
    outputs: tuple[ArrayLike, ArrayLike], laws: tuple[StatedLaw, StatedLaw], level: float
) -> Agreement:
    """Compare outputs on both data sets, (runs, d), with the law that is stated of a number of theirs."""
    worst, width, runs = "", 0.0, 0
    for given, law, name in zip(outputs, laws, ("left", "right"), strict=True):
        numbers = np.sort(np.asarray(law.statistic(_numbers(given, None, name)), dtype=np.float64))
        runs = len(numbers)
        width = band_width(runs, level / 2) + law.distance
        jumps, counts = np.unique(numbers, return_counts=True)
        seen = np.concatenate([[0.0], np.cumsum(counts) / runs])
        # numbers with a probability of their own may be rounded, also where the law has them
        aside = _ROUNDED * np.maximum(np.abs(jumps), 1.0)
        off = np.maximum(seen[1:] - law.at(jumps + aside), law.at(jumps - aside) - seen[:-1])
        distance = float(off.max())
        if distance > width and not worst:
            worst = (
                f"the number on the {name} data set has a distribution function that is {distance:.3g} away from the "
                f"stated one; chance explains {width:.3g}"
            )
    return Agreement(worst, width, runs, "law")


def _numbers(outputs: ArrayLike, dimension: int | None, name: str) -> FloatArray:
    rows = np.asarray(outputs)
    if rows.ndim == 1:
        rows = rows[:, None]
    wanted = dimension or (rows.shape[1] if rows.ndim == 2 else 1)
    if rows.ndim != 2 or rows.shape[1] != wanted or rows.dtype.kind not in "iuf" or not len(rows):
        raise InvalidDataError(
            f"The outputs on the {name} data set have shape {rows.shape} and type {rows.dtype}; allowed: numbers, "
            f"(runs, {wanted}), as is stated of them."
        )
    numbers = rows.astype(np.float64)
    if not np.all(np.isfinite(numbers)):
        raise InvalidDataError(
            f"The outputs on the {name} data set contain NaN or infinity; allowed: finite numbers."
        )
    return np.asarray(numbers)
